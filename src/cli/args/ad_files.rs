//! The files of ads that a command reads: those named as arguments, and those that `--files-from` lists.

use clap::Args;

use crate::cli::io::whole_file::read_whole;
use crate::cli::outcome::{Failure, refuse};

/// The arguments of commands that read any number of files of ads.
#[derive(Args, Clone, Default)]
pub struct AdFilesArgs {
    /// Files of ads, or parts of files (`FILE@START-END`, in bytes) [default: standard input]
    pub files: Vec<String>,
    /// Also read the files whose names are in the file LIST. Each name has its own line, or ends with a NUL byte. If
    /// LIST is `-`, read the names from standard input
    #[arg(long, value_name = "LIST")]
    pub files_from: Vec<String>,
}

impl AdFilesArgs {
    /// Whether neither a file nor a list is named.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.files_from.is_empty()
    }

    /// Returns the named files, then those of the lists.
    ///
    /// # Errors
    ///
    /// A list cannot be read, or names no file; standard input is both a list and a file.
    pub fn paths(&self) -> Result<Vec<String>, Failure> {
        let mut paths = self.files.clone();
        for list in &self.files_from {
            paths.extend(read_list(list)?);
        }
        let lists_from_stdin = self.files_from.iter().filter(|list| *list == "-").count();
        if lists_from_stdin > 0 && lists_from_stdin + paths.iter().filter(|path| *path == "-").count() > 1 {
            return refuse("standard input can be read only once");
        }
        Ok(paths)
    }
}

/// Reads the names of a list. With a NUL anywhere in it, names end there, otherwise at the ends of lines.
fn read_list(list: &str) -> Result<Vec<String>, Failure> {
    let name = if list == "-" { "standard input" } else { list };
    let bytes = read_whole(list).map_err(|error| Failure::unreadable(name, &error))?;
    let Ok(text) = String::from_utf8(bytes) else {
        return refuse(format!("{name}: the names of files must be UTF-8"));
    };
    let separator = if text.contains('\0') { '\0' } else { '\n' };
    let line = |line: &str| if separator == '\n' { line.trim_end_matches('\r').to_owned() } else { line.to_owned() };
    let names: Vec<String> = text.split(separator).map(line).filter(|name| !name.is_empty()).collect();
    if names.is_empty() { refuse(format!("{name} names no file")) } else { Ok(names) }
}

#[cfg(test)]
mod tests {
    use super::AdFilesArgs;
    use crate::cli::outcome::Failure;

    #[test]
    fn lists_name_files_with_lines_or_nuls() {
        let folder = std::env::temp_dir().join(format!("classad-lists-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let list = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            std::fs::write(&path, bytes).unwrap();
            path.to_string_lossy().into_owned()
        };
        let lines = list("lines", b"b c\r\n\n d\ne");
        let nuls = list("nuls", b"f\n\0g\r\0\0");
        let [empty, damaged, input] = [list("empty", b"\n\n"), list("damaged", b"a\xff\n"), list("input", b"-\n")];
        let paths = |files: &[&str], lists: &[&String]| {
            let [files, files_from] =
                [files.iter().map(|file| (*file).to_owned()).collect(), lists.iter().copied().cloned().collect()];
            let args = AdFilesArgs { files, files_from };
            assert_eq!(args.is_empty(), args.files.is_empty() && args.files_from.is_empty());
            args.paths().map_err(|failure| match failure {
                Failure::Refused(Some(message)) => message.replace(&*folder.to_string_lossy(), "."),
                failure => panic!("{failure:?}"),
            })
        };
        assert_eq!(paths(&[], &[]).unwrap(), Vec::<String>::new());
        assert_eq!(paths(&["a", "-", "-"], &[]).unwrap(), ["a", "-", "-"]);
        assert_eq!(paths(&["a"], &[&lines, &nuls]).unwrap(), ["a", "b c", " d", "e", "f\n", "g\r"]);
        assert_eq!(paths(&["-"], &[&input]).unwrap(), ["-", "-"]);
        assert_eq!(paths(&[], &[&empty]), Err("./empty names no file".to_owned()));
        assert_eq!(paths(&[], &[&damaged]), Err("./damaged: the names of files must be UTF-8".to_owned()));
        let missing = folder.join("missing").to_string_lossy().into_owned();
        assert_eq!(paths(&[], &[&missing]), Err("cannot read ./missing: there is no such file".to_owned()));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
