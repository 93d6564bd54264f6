//! A log or a history that is read on while it is written and rotated (`--follow`).

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::time::{Duration, SystemTime};

use super::history_files::rotated_files;

/// Time between two looks at the end of a file, in milliseconds.
const POLL_MILLISECONDS: u64 = 50;

/// Maximum number of times in a row that the files of a log are listed until none is renamed meanwhile.
const MAX_LOOKS: usize = 100;

/// Reader of a file that never ends. What is renamed is read to its end, then the files that follow it, in their order.
pub struct FollowedFile {
    path: String,
    file: File,
    /// Number of bytes read of the file.
    bytes_read: u64,
    /// Whether the last byte that was read ends a line.
    is_at_line_end: bool,
    /// The file that takes the place of the present one, seen at the last look. It is opened then, so that it cannot be
    /// lost to a further rotation.
    successor: Option<File>,
}

impl FollowedFile {
    /// Opens a file, which is read from its beginning.
    pub fn open(path: &str) -> io::Result<Self> {
        let file = File::open(path)?;
        Ok(FollowedFile { path: path.to_owned(), file, bytes_read: 0, is_at_line_end: true, successor: None })
    }

    /// Reads what is there; `None` if there is nothing new.
    pub fn read_available(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        let count = self.file.read(into)?;
        if count > 0 {
            self.bytes_read += count as u64;
            self.is_at_line_end = into[count - 1] == b'\n';
            return Ok(Some(count));
        }
        if self.file.metadata()?.len() < self.bytes_read {
            self.file.seek(SeekFrom::Start(0))?;
            self.bytes_read = 0;
            return Ok(self.end_line(into));
        }
        // A writer may have added something before it saw the new file: a file is left at the second look.
        if let Some(next) = self.successor.take() {
            self.file = next;
            self.bytes_read = 0;
            return Ok(self.end_line(into));
        }
        self.successor = self.find_successor()?;
        Ok(None)
    }

    /// Waits for more. Returns false if nobody reads the output any more.
    pub fn wait() -> bool {
        std::thread::sleep(Duration::from_millis(POLL_MILLISECONDS));
        is_output_read()
    }

    /// Ends the line that a cut file has left open.
    fn end_line(&mut self, into: &mut [u8]) -> Option<usize> {
        if std::mem::replace(&mut self.is_at_line_end, true) {
            return self.read_available(into).ok().flatten();
        }
        into[0] = b'\n';
        Some(1)
    }

    /// Returns the file that was begun after the present one; `None` if the present one is still written.
    fn find_successor(&self) -> io::Result<Option<File>> {
        let own = self.file.metadata()?;
        let is_own = |file: &Metadata| identity(file) == identity(&own);
        // Until the new file is there, nothing is known.
        let Ok(present) = File::open(&self.path) else { return Ok(None) };
        if is_own(&present.metadata()?) {
            return Ok(None);
        }
        // Without a moment of rest, the next look may find one.
        let Some(files) = self.rotated() else { return Ok(None) };
        let later = match files.iter().position(|(file, _)| is_own(file)) {
            Some(place) => files.into_iter().nth(place + 1),
            // The present file was deleted since: what was written later is newer.
            None => files.into_iter().find(|(file, _)| modified(file) >= modified(&own)),
        };
        Ok(later.map(|(_, file)| file))
    }

    /// Opens the files of the log, from the oldest to the newest. `None` if they were always being renamed meanwhile.
    fn rotated(&self) -> Option<Vec<(Metadata, File)>> {
        let open = |path: &String| {
            let file = File::open(path).ok()?;
            Some((file.metadata().ok()?, file))
        };
        (0..MAX_LOOKS).find_map(|_| {
            let paths = rotated_files(&self.path);
            let files: Vec<_> = paths.iter().map(open).collect::<Option<_>>()?;
            let is_same = |(path, (file, _)): (&String, &(Metadata, File))| {
                fs::metadata(path).is_ok_and(|now| identity(&now) == identity(file))
            };
            (paths == rotated_files(&self.path) && paths.iter().zip(&files).all(is_same)).then_some(files)
        })
    }
}

/// What tells a file from others, whatever it is called: its number on its device, elsewhere when it was made.
fn identity(file: &Metadata) -> (u64, u64) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (file.dev(), file.ino())
    }
    #[cfg(not(unix))]
    {
        let made = file.created().ok().and_then(|made| made.duration_since(std::time::UNIX_EPOCH).ok());
        made.map_or((0, 0), |made| (made.as_secs(), u64::from(made.subsec_nanos())))
    }
}

fn modified(file: &Metadata) -> Option<SystemTime> {
    file.modified().ok()
}

/// Whether somebody still reads the output. Where that cannot be asked, the next write finds out.
fn is_output_read() -> bool {
    #[cfg(unix)]
    {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut outputs = [PollFd::from_borrowed_fd(rustix::stdio::stdout(), PollFlags::empty())];
        let is_polled = poll(&mut outputs, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok();
        !is_polled || !outputs[0].revents().contains(PollFlags::ERR)
    }
    #[cfg(not(unix))]
    true
}

impl Read for FollowedFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.read_available(into)? {
                Some(count) => return Ok(count),
                None if into.is_empty() || !Self::wait() => return Ok(0),
                None => {}
            }
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Returns what can be read now.
    fn next(file: &mut FollowedFile) -> Option<String> {
        let mut bytes = [0; 64];
        let count = file.read_available(&mut bytes).unwrap()?;
        Some(String::from_utf8(bytes[..count].to_vec()).unwrap())
    }

    /// Returns what can be read until there is nothing twice.
    fn all(file: &mut FollowedFile) -> String {
        let (mut text, mut nothing) = (String::new(), 0);
        while nothing < 2 {
            match next(file) {
                Some(more) => text.push_str(&more),
                None => nothing += 1,
            }
        }
        text
    }

    #[test]
    fn what_is_added_or_written_anew_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "a\nb").unwrap();
        let mut file = FollowedFile::open(path.to_str().unwrap()).unwrap();
        assert_eq!([next(&mut file), next(&mut file)], [Some("a\nb".to_owned()), None]);
        File::options().append(true).open(&path).unwrap().write_all(b"c\n").unwrap();
        assert_eq!([next(&mut file), next(&mut file)], [Some("c\n".to_owned()), None]);
        // A file that became shorter is read from its start.
        fs::write(&path, "d\n").unwrap();
        assert_eq!([next(&mut file), next(&mut file)], [Some("d\n".to_owned()), None]);
        fs::write(&path, "d\nopen").unwrap();
        assert_eq!(next(&mut file), Some("open".to_owned()));
        // The line that was not whole ends.
        fs::write(&path, "e").unwrap();
        assert_eq!(
            [next(&mut file), next(&mut file), next(&mut file)],
            [Some("\n".to_owned()), Some("e".to_owned()), None]
        );
    }

    #[test]
    fn files_that_are_rotated_are_read_to_their_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let rotated = |ending: &str| folder.path().join(format!("log.{ending}"));
        fs::write(&path, "a\n").unwrap();
        let mut file = FollowedFile::open(path.to_str().unwrap()).unwrap();
        assert_eq!(all(&mut file), "a\n");
        fs::rename(&path, rotated("20260101T000000")).unwrap();
        assert_eq!(all(&mut file), "");
        fs::write(&path, "b").unwrap();
        assert_eq!((next(&mut file), file.successor.is_some()), (None, true));
        // A writer may not have seen the new file yet.
        File::options().append(true).open(rotated("20260101T000000")).unwrap().write_all(b"late\n").unwrap();
        assert_eq!(all(&mut file), "late\nb");
        fs::rename(&path, rotated("20260102T000000")).unwrap();
        fs::write(&path, "c\n").unwrap();
        fs::rename(&path, rotated("20260103T000000")).unwrap();
        fs::write(&path, "d\n").unwrap();
        assert_eq!(all(&mut file), "\nc\n");
        assert_eq!(all(&mut file), "d\n");
        // Where the file itself is gone, what is newer is read.
        for ending in ["20260101T000000", "20260102T000000", "20260103T000000"] {
            fs::remove_file(rotated(ending)).unwrap();
        }
        fs::remove_file(&path).unwrap();
        fs::write(&path, "e\n").unwrap();
        assert_eq!(all(&mut file), "e\n");
    }
}
