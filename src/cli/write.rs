//! Files rewritten in place: all of it or nothing.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Puts other bytes into a file, so that whoever looks finds the old ones or the new ones and never a part.
/// Links are followed, permissions kept; with a suffix, the old bytes stay in a file called so.
pub fn replace_file(path: &str, bytes: &[u8], backup_suffix: Option<&str>) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let (temporary, mut file) = beside(&path)?;
    let written = (|| {
        file.write_all(bytes)?;
        file.set_permissions(fs::metadata(&path)?.permissions())?;
        file.sync_all()?;
        if let Some(suffix) = backup_suffix {
            let mut name = path.clone().into_os_string();
            name.push(suffix);
            fs::copy(&path, name)?;
        }
        fs::rename(&temporary, &path)
    })();
    if written.is_err() {
        // What matters is why it could not be written.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// A new file in the same folder.
fn beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut attempt = 0_u32;
    loop {
        let temporary = path.with_file_name(format!(".{name}.{}.{attempt}", std::process::id()));
        match File::create_new(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 100 => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}
