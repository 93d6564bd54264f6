//! Macro functions about paths: `$F()` with letters, `$BASENAME()` and `$DIRNAME()`.

/// Parts of a path that a function keeps, and how it writes them.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a letter
struct PathParts {
    has_folder: bool,
    /// Number of folders before the name that are kept.
    last_folders: usize,
    has_name: bool,
    has_extension: bool,
    /// Whether the slash behind folders, or the dot before an extension, is left out.
    is_bare: bool,
    /// The quote around the result.
    quote: Option<u8>,
    /// The character that all slashes become.
    slash: Option<u8>,
    /// End of the name that is left out.
    suffix: Option<Vec<u8>>,
}

/// Whether this is the name of a function about paths.
pub(super) fn is_path_function(name: &[u8]) -> bool {
    matches!(name, b"BASENAME" | b"DIRNAME")
        || name
            .strip_prefix(b"F")
            .is_some_and(|letters| letters.iter().all(|b| b"pnxdqabfwu".contains(&b.to_ascii_lowercase())))
}

/// Returns the path that the argument of a function names, and the suffix behind its comma, which only `$BASENAME()`
/// has.
pub(super) fn split_suffix<'b>(name: &[u8], body: &'b [u8]) -> (&'b [u8], Option<&'b [u8]>) {
    match memchr::memrchr(b',', body).filter(|_| name == b"BASENAME") {
        Some(comma) => (&body[..comma], Some(body[comma + 1..].trim_ascii_start())),
        None => (body, None),
    }
}

/// Whether a function makes a full path of its argument.
pub(super) fn needs_folder(name: &[u8]) -> bool {
    is_path_function(name)
        && name.starts_with(b"F")
        && name[1..].iter().any(|letter| letter.eq_ignore_ascii_case(&b'f'))
}

/// Returns what the function called `name` makes of a path. `folder` is that below which `f` makes a full path; without it
/// `f` changes nothing.
pub(super) fn path_part(name: &[u8], path: &[u8], suffix: Option<&[u8]>, folder: Option<&str>) -> Vec<u8> {
    let mut parts = PathParts { suffix: suffix.map(<[u8]>::to_vec), ..PathParts::default() };
    match name {
        b"BASENAME" => (parts.has_name, parts.has_extension) = (true, true),
        b"DIRNAME" => parts.has_folder = true,
        letters => {
            let has = |letter: u8| letters[1..].iter().any(|found| found.to_ascii_lowercase() == letter);
            parts.has_folder = has(b'p');
            parts.last_folders = letters[1..].iter().filter(|letter| letter.eq_ignore_ascii_case(&b'd')).count();
            (parts.has_name, parts.has_extension, parts.is_bare) = (has(b'n'), has(b'x'), has(b'b'));
            parts.quote = has(b'q').then_some(if has(b'a') { b'\'' } else { b'"' });
            parts.slash = if has(b'u') { Some(b'/') } else { has(b'w').then_some(b'\\') };
        }
    }
    let path = match path {
        [first @ (b'"' | b'\''), inner @ .., last] if first == last => inner,
        path => path,
    };
    let is_slash = |byte: &u8| matches!(byte, b'/' | b'\\');
    let converted = |byte: &u8| if is_slash(byte) { parts.slash.unwrap_or(*byte) } else { *byte };
    let path = match folder.filter(|_| needs_folder(name) && !path.starts_with(b"/")) {
        Some(folder) => {
            let below = path.strip_prefix(b"./").filter(|below| !below.is_empty()).unwrap_or(path);
            [folder.strip_suffix('/').unwrap_or(folder).as_bytes(), b"/", below].concat()
        }
        None => path.to_vec(),
    };
    let path: Vec<u8> = path.iter().map(converted).collect();
    let mut kept = parts.of(&path).to_vec();
    if let Some(quote) = parts.quote {
        kept.insert(0, quote);
        kept.push(quote);
    }
    kept
}

impl PathParts {
    fn of<'p>(&self, path: &'p [u8]) -> &'p [u8] {
        let is_slash = |byte: &u8| matches!(byte, b'/' | b'\\');
        let name = path.iter().rposition(is_slash).map_or(0, |slash| slash + 1);
        // A dot at the beginning of a name begins no extension.
        let dot = path[name..].iter().skip(1).rposition(|byte| *byte == b'.');
        let mut extension = dot.map_or(path.len(), |dot| name + 1 + dot);
        let mut has_extension = self.has_extension;
        if let Some(suffix) = &self.suffix {
            let start = path.len().saturating_sub(suffix.len());
            if start >= name && path[start..].eq_ignore_ascii_case(suffix) {
                (extension, has_extension) = (start, false);
            }
        }
        // Of a name without folders only the name is kept, unless only folders are asked for.
        let wants_name = self.has_name || has_extension;
        let (has_folder, last_folders) =
            if name == 0 && wants_name { (false, 0) } else { (self.has_folder, self.last_folders) };
        let folders_end = if self.is_bare { name.saturating_sub(1) } else { name };
        let (start, end) = match (has_folder, last_folders, self.has_name, has_extension) {
            (false, 0, false, true) => (extension + usize::from(self.is_bare && extension < path.len()), path.len()),
            (false, 0, true, true) => (name, path.len()),
            (false, 0, true, false) => (name, extension),
            (false, 0, false, false) | (true, 0, _, true) => (0, path.len()),
            (true, 0, false, false) => (0, folders_end),
            (true, 0, true, false) => (0, extension),
            (_, count, has_name, has_extension) => {
                let starts = path.iter().enumerate().filter(|(_, byte)| is_slash(byte)).map(|(slash, _)| slash + 1);
                let starts: Vec<usize> = starts.collect();
                let start = starts.len().checked_sub(count + 1).map_or(0, |index| starts[index]);
                match (has_name, has_extension) {
                    (true, false) => (start, extension),
                    (false, false) => (start, folders_end),
                    _ => (start, path.len()),
                }
            }
        };
        &path[start..end]
    }
}

#[cfg(test)]
mod tests {
    use super::{is_path_function, needs_folder, path_part, split_suffix};

    /// Expected results are those of HTCondor's `condor_config_val`.
    #[test]
    fn parts_of_paths() {
        for (function, path, expected) in [
            ("F", "/a/b/c.tar.gz", "/a/b/c.tar.gz"),
            ("Fn", "/a/b/c.tar.gz", "c.tar"),
            ("Fx", "/a/b/c.tar.gz", ".gz"),
            ("Fbx", "/a/b/c.tar.gz", "gz"),
            ("Fnx", "/a/b/c.tar.gz", "c.tar.gz"),
            ("Fp", "/a/b/c", "/a/b/"),
            ("Fpb", "/a/b/c", "/a/b"),
            ("Fpn", "/a/b/c.tar.gz", "/a/b/c.tar"),
            ("Fpx", "/a/b/c.gz", "/a/b/c.gz"),
            ("Fpnx", "/a/b/c.gz", "/a/b/c.gz"),
            ("Fd", "/a/b/c", "b/"),
            ("Fdb", "/a/b/c", "b"),
            ("Fdd", "/a/b/c", "a/b/"),
            ("Fdn", "/a/b/c.x", "b/c"),
            ("Fdnx", "c.x", "c.x"),
            ("Fp", "c.x", ""),
            ("Fq", "a b", "\"a b\""),
            ("Fqa", "a b", "'a b'"),
            ("Fqn", "\"/x/a b.c\"", "\"a b\""),
            ("Fw", "/a/b", "\\a\\b"),
            ("Fu", "\\a\\b", "/a/b"),
            ("Fn", "/a/.profile", ".profile"),
            ("BASENAME", "/a/b.tar.gz", "b.tar.gz"),
            ("BASENAME", "/a/b.tar.gz, .tar.gz", "b"),
            ("DIRNAME", "/a/b.tar.gz", "/a/"),
        ] {
            let (path, suffix) = split_suffix(function.as_bytes(), path.as_bytes());
            let found = String::from_utf8(path_part(function.as_bytes(), path, suffix, None)).unwrap();
            assert_eq!(found, expected, "${function}({})", String::from_utf8_lossy(path));
        }
    }

    #[test]
    fn parts_of_paths_without_folders_names_or_extensions() {
        for (function, path, expected) in [
            ("F", "", ""),
            ("Fn", "", ""),
            ("Fx", "/a/b", ""),
            ("Fbx", "/a/b", ""),
            ("Fbx", "/a/b.", ""),
            ("Fx", "/a/.b", ""),
            ("Fx", "/a.b/c", ""),
            ("Fn", "/a.b/c", "c"),
            ("Fpx", "c.gz", ".gz"),
            ("Fpn", "c.gz", "c"),
            ("Fp", "/c", "/"),
            ("Fpb", "/c", ""),
            ("Fd", "/c", "/"),
            ("Fd", "a/c", "a/"),
            ("Fd", "x/a/c", "a/"),
            ("Fdb", "c", ""),
            ("Fdddd", "/a/b/c", "/a/b/"),
            ("Fddd", "/a/b/c", "/a/b/"),
            ("Fdx", "/a/b/c.x", "b/c.x"),
            ("Fpd", "/a/b/c", "b/"),
            ("Fpdn", "/a/b/c.x", "b/c"),
            ("FNX", "/a/c.x", "c.x"),
            ("Fq", "\"", "\"\"\""),
            ("Fq", "\"a'", "\"\"a'\""),
            ("F", "'a'", "a"),
            ("F", "'", "'"),
            ("F", "''", ""),
            ("Fa", "a", "a"),
            ("Fuw", "\\a", "/a"),
            ("Fwn", "/a/b.c", "b"),
            ("BASENAME", "/a/b.tar.gz,.GZ", "b.tar"),
            ("BASENAME", "/a/b.gz,b.gz", ""),
            ("BASENAME", "/a/b.gz,a/b.gz", "b.gz"),
            ("BASENAME", "/a/b.gz,.x", "b.gz"),
            ("BASENAME", "gz,a.gz", "gz"),
            ("BASENAME", "a,b.gz,.gz", "a,b"),
            ("DIRNAME", "b", ""),
            ("Fdb", "a//b", ""),
            ("Fdb", "/b", ""),
            ("Fdb", "//b", ""),
            ("Fddb", "x//b", "x/"),
            ("Fdn", "/", "/"),
            ("Fpb", "/", ""),
            ("DIRNAME", "/a/b,c", "/a/"),
        ] {
            let (path, suffix) = split_suffix(function.as_bytes(), path.as_bytes());
            let found = String::from_utf8(path_part(function.as_bytes(), path, suffix, None)).unwrap();
            assert_eq!(found, expected, "${function}({})", String::from_utf8_lossy(path));
        }
    }

    #[test]
    fn the_letters_of_a_function_are_known() {
        for (name, is_known, needs) in [
            ("F", true, false),
            ("Fpnxdqabfwu", true, true),
            ("FPF", true, true),
            ("Fz", false, false),
            ("f", false, false),
            ("BASENAME", true, false),
            ("DIRNAME", true, false),
            ("NAME", false, false),
            ("", false, false),
        ] {
            assert_eq!((is_path_function(name.as_bytes()), needs_folder(name.as_bytes())), (is_known, needs), "{name}");
        }
        let folder = |folder| path_part(b"Ff", b"c", None, folder);
        assert_eq!([folder(Some("/t/")), folder(Some("/")), folder(None)], [&b"/t/c"[..], b"/c", b"c"]);
    }

    /// Expected results are those of `condor_submit -dry-run`.
    #[test]
    fn full_paths() {
        for (function, path, expected) in [
            ("Ff", "c.txt", "/t/c.txt"),
            ("Ff", "/a/c.txt", "/a/c.txt"),
            ("Ff", "./y.z", "/t/y.z"),
            ("Ff", "../y.z", "/t/../y.z"),
            ("Ffdb", "c.txt", "t"),
            ("Ffnx", "x/y.z", "y.z"),
            ("Ffa", "\"a b.txt\"", "/t/a b.txt"),
            ("Fn", "c.txt", "c"),
            ("FF", "c.txt", "/t/c.txt"),
            ("Ff", "./", "/t/./"),
            ("Ff", "", "/t/"),
            ("Ffp", "c", "/t/"),
            ("BASENAME", "c", "c"),
        ] {
            let found = path_part(function.as_bytes(), path.as_bytes(), None, Some("/t"));
            assert_eq!(String::from_utf8(found).unwrap(), expected, "${function}({path})");
        }
    }
}
