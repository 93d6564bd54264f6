//! What a file has beside its contents: owner, permissions, access control lists and other extended attributes.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use crate::cli::outcome::io_reason;

/// Gives the open file `to` the owner, the permissions, the access control lists and the extended attributes of the file
/// at `from`.
///
/// # Errors
///
/// One of them cannot be kept: the reason names it.
pub fn copy_attributes(from: &Path, to: &File) -> io::Result<()> {
    let like = fs::metadata(from)?;
    #[cfg(unix)]
    copy_owner(&like, to)?;
    #[cfg(target_os = "linux")]
    extended::copy(from, to)?;
    // These come last: a change of the owner takes away the bits of set-user-ID and set-group-ID.
    if to.metadata()?.permissions() != like.permissions() {
        to.set_permissions(like.permissions())?;
    }
    if to.metadata()?.permissions() == like.permissions() { Ok(()) } else { Err(unkept("permissions", None)) }
}

/// Returns the error that something of a file cannot be kept.
fn unkept(what: &str, error: Option<&io::Error>) -> io::Error {
    let reason = error.map_or_else(String::new, |error| format!(": {}", io_reason(error)));
    io::Error::other(format!("its {what} cannot be kept{reason}"))
}

#[cfg(unix)]
fn copy_owner(like: &fs::Metadata, to: &File) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let now = to.metadata()?;
    if (now.uid(), now.gid()) == (like.uid(), like.gid()) {
        return Ok(());
    }
    // Only an administrator can give a file away.
    let what = if now.uid() == like.uid() { "group" } else { "owner" };
    fchown(to, Some(like.uid()), Some(like.gid())).map_err(|error| unkept(what, Some(&error)))
}

/// Extended attributes, among which are the access control lists of POSIX.
#[cfg(target_os = "linux")]
mod extended {
    use std::collections::BTreeMap;
    use std::ffi::CString;
    use std::fs::File;
    use std::io;
    use std::path::Path;

    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr, getxattr, listxattr};
    use rustix::io::Errno;

    use super::unkept;

    /// Makes the extended attributes of `to` those of `from`. A new file may have some of its own: it inherits the default
    /// access control list of its folder.
    pub fn copy(from: &Path, to: &File) -> io::Result<()> {
        let wanted = attributes(|into| listxattr(from, into), |name, into| getxattr(from, name, into))?;
        let own = attributes(|into| flistxattr(to, into), |name, into| fgetxattr(to, name, into))?;
        for name in own.keys().filter(|name| !wanted.contains_key(*name)) {
            fremovexattr(to, name).map_err(|error| unkept_attribute(name, error))?;
        }
        for (name, value) in wanted.iter().filter(|(name, value)| own.get(*name) != Some(value)) {
            fsetxattr(to, name, value, XattrFlags::empty()).map_err(|error| unkept_attribute(name, error))?;
        }
        Ok(())
    }

    fn unkept_attribute(name: &CString, error: Errno) -> io::Error {
        let what = match name.to_string_lossy() {
            name if name.starts_with("system.posix_acl_") => "access control list".to_owned(),
            name => format!("extended attribute {name}"),
        };
        unkept(&what, Some(&error.into()))
    }

    /// Returns the attributes of a file with their values. None on a file system without such attributes.
    fn attributes(
        list: impl Fn(&mut [u8]) -> Result<usize, Errno>,
        get: impl Fn(&CString, &mut [u8]) -> Result<usize, Errno>,
    ) -> io::Result<BTreeMap<CString, Vec<u8>>> {
        let names = match written(list) {
            Err(Errno::NOTSUP) => Vec::new(),
            names => names?,
        };
        let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let attribute = |name: &[u8]| {
            let name = CString::new(name).map_err(io::Error::from)?;
            let value = written(|into| get(&name, into)).map_err(|error| unkept_attribute(&name, error))?;
            Ok((name, value))
        };
        names.map(attribute).collect()
    }

    /// Maximum number of bytes of the names of a file's attributes, and of a value, in Linux.
    const MAX_BYTES: usize = 1 << 16;

    /// Returns what `read` writes.
    fn written(read: impl Fn(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
        let mut bytes = vec![0; MAX_BYTES];
        let length = read(&mut bytes)?;
        bytes.truncate(length);
        Ok(bytes)
    }
}
