//! The slots that were printed last, kept for a while in the user's folder of caches.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use super::LiveSource;

/// The file with the slots that a command printed.
pub struct SlotCache {
    folder: PathBuf,
    path: PathBuf,
    age: Duration,
}

impl SlotCache {
    /// Returns the place of the answer to a command; `None` if it is not to be kept: it is not the slots, its age is
    /// zero, or the user has no folder.
    pub fn of(source: &LiveSource, command: &[String], age: Duration) -> Option<Self> {
        if *source != LiveSource::Slots || age.is_zero() {
            return None;
        }
        let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let folder = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")))?.join("classad");
        let path = folder.join(format!("slots-{:016x}.long", identity(command)));
        Some(SlotCache { folder, path, age })
    }

    /// Returns the slots that were kept, and their age in seconds; `None` if there are none, or if they are too old.
    pub fn read(&self) -> Option<(Vec<u8>, u64)> {
        if !is_private(&self.folder) {
            return None;
        }
        let mut file = File::open(&self.path).ok()?;
        let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
        // A file of the future has no age.
        let age = metadata.modified().ok()?.elapsed().ok().filter(|age| *age < self.age)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        Some((bytes, age.as_secs()))
    }

    /// Keeps slots. The file appears whole, and only the user can read it. Where that is impossible, nothing is kept.
    pub fn write(&self, slots: &[u8]) {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        if builder.create(&self.folder).is_err() || !is_private(&self.folder) {
            return;
        }
        // Its permissions are those of a temporary file: the user's alone.
        if let Ok(mut file) = tempfile::NamedTempFile::new_in(&self.folder)
            && file.write_all(slots).is_ok()
        {
            let _ = file.persist(&self.path);
        }
    }
}

/// Returns a number for what decides the answer: the command, HTCondor's settings, the path of the tools and the machine.
fn identity(command: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    command.hash(&mut hasher);
    fs::read("/proc/sys/kernel/hostname").unwrap_or_default().hash(&mut hasher);
    let decides = |name: &str| {
        matches!(name, "CONDOR_CONFIG" | "PATH" | "HOME") || name.to_ascii_uppercase().starts_with("_CONDOR_")
    };
    let mut settings: Vec<_> = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(decides)).collect();
    settings.sort_unstable();
    settings.hash(&mut hasher);
    hasher.finish()
}

/// Whether a folder is the user's own, and nobody else can write to it or read it.
fn is_private(folder: &std::path::Path) -> bool {
    let Ok(metadata) = fs::symlink_metadata(folder) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // The owner of the program's own entry is the user.
        let own = fs::metadata("/proc/self").map(|process| process.uid());
        if metadata.mode() & 0o077 != 0 || own.is_ok_and(|own| own != metadata.uid()) {
            return false;
        }
    }
    metadata.is_dir()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn slots_are_kept_for_their_user_and_some_time() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("a").join("b");
        let cache =
            |age| SlotCache { folder: folder.clone(), path: folder.join("slots"), age: Duration::from_secs(age) };
        assert_eq!(cache(60).read(), None);
        cache(60).write(b"A = 1\n");
        assert_eq!(cache(60).read(), Some((b"A = 1\n".to_vec(), 0)));
        assert_eq!(cache(0).read(), None);
        cache(60).write(b"A = 2\n");
        assert_eq!(cache(60).read().unwrap().0, b"A = 2\n");
        // A folder that others can read keeps nothing.
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o750)).unwrap();
        cache(60).write(b"A = 3\n");
        assert_eq!(cache(60).read(), None);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(cache(60).read().unwrap().0, b"A = 2\n");
        assert!(is_private(&folder) && !is_private(&folder.join("slots")) && !is_private(&folder.join("none")));
    }

    #[test]
    fn only_slots_are_kept() {
        let command = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let minute = Duration::from_mins(1);
        assert!(SlotCache::of(&LiveSource::Jobs(None), &command(&["condor_q"]), minute).is_none());
        assert!(SlotCache::of(&LiveSource::Slots, &command(&["condor_status"]), Duration::ZERO).is_none());
        assert_eq!(identity(&command(&["a", "b"])), identity(&command(&["a", "b"])));
        assert_ne!(identity(&command(&["a", "b"])), identity(&command(&["a", "c"])));
    }
}
