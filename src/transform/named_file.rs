//! Files that a text names, such as those that it includes.

use std::fs;
use std::path::Path;

/// Maximum number of bytes of a file that a text names.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Reads a regular file of bounded size.
///
/// # Errors
///
/// The reason, as a phrase.
pub(crate) fn read_named_file(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let cannot = |reason: &str| format!("cannot read {shown}: {reason}");
    let metadata = fs::metadata(path).map_err(|error| cannot(&reason(&error)))?;
    if !metadata.is_file() {
        return Err(cannot("it is not a regular file"));
    }
    if metadata.len() > MAX_FILE_BYTES {
        return Err(cannot("it has more than 64 MiB"));
    }
    let bytes = fs::read(path).map_err(|error| cannot(&reason(&error)))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the reason of an error without its number.
fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::read_named_file;
    use std::path::Path;

    #[test]
    fn only_a_regular_file_is_read() {
        let own = format!("{}/src/transform/named_file.rs", env!("CARGO_MANIFEST_DIR"));
        assert!(read_named_file(Path::new(&own)).unwrap().starts_with("//! Files that a text names"));
        for (path, expected) in [
            ("/no/such/file", "cannot read /no/such/file: there is no such file"),
            ("/", "cannot read /: it is not a regular file"),
        ] {
            assert_eq!(read_named_file(Path::new(path)), Err(expected.to_owned()));
        }
    }
}
