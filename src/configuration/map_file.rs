//! Map files: lines of a method, a key and a result, for `userMap()`.
//!
//! A key is a word, a text in quotes, or a regular expression between slashes, which `i` and `U` can follow.
//! `@include` names further files. HTCondor logs a bad line and goes on; here it is a [`Problem`] as well.

use std::ops::Range;

use crate::eval::UserMap;
use crate::format::Problem;

/// Reader of one map file.
pub struct MapFileReader<'t> {
    text: &'t [u8],
    /// Byte offset of the next line.
    at: usize,
    /// Whether the keys are beginnings of texts. Then a slash begins no regular expression.
    has_prefixes: bool,
}

/// What a line of a map file asks for beyond an entry.
#[derive(Debug)]
pub enum MapFileItem {
    /// `@include path`: read this file, or all files of this folder. The range is that of the path.
    Include(String, Range<usize>),
    /// Something is wrong with the line.
    Problem(Problem),
}

/// Whether HTCondor reads a file of this name when a folder is included.
#[must_use]
pub fn includes_file(name: &str) -> bool {
    !(name.starts_with(['.', '#']) || [".rpmsave", ".rpmnew", "~"].iter().any(|end| name.ends_with(end)))
}

/// Field of a line.
struct MapField {
    text: Vec<u8>,
    /// Byte range in the file, with quotes, slashes and options.
    range: Range<usize>,
    /// The option letters of a regular expression; `None` for any other field.
    options: Option<String>,
    /// Whether the closing quote or slash is missing.
    is_open: bool,
}

impl<'t> MapFileReader<'t> {
    /// Creates a reader of a file's text. `has_prefixes` says that the keys are beginnings of texts.
    #[must_use]
    pub fn new(text: &'t [u8], has_prefixes: bool) -> Self {
        MapFileReader { text, at: 0, has_prefixes }
    }

    /// Adds entries to the map up to a line that asks for more. `None` at the end of the file.
    pub fn read(&mut self, map: &mut UserMap) -> Option<MapFileItem> {
        while self.at < self.text.len() {
            let start = self.at;
            let end = memchr::memchr(b'\n', &self.text[start..]).map_or(self.text.len(), |length| start + length);
            self.at = end + 1;
            match self.line(start..end, map) {
                Ok(None) => {}
                Ok(found) => return found,
                Err(problem) => return Some(MapFileItem::Problem(problem)),
            }
        }
        None
    }

    /// Reads a line and adds its entry. Returns an `@include`.
    fn line(&self, line: Range<usize>, map: &mut UserMap) -> Result<Option<MapFileItem>, Problem> {
        let error = |range: Range<usize>, message: &str| Problem::error_at(range, 0, message);
        let method = self.field(line.start, line.end, false);
        if method.text.is_empty() || method.text.starts_with(b"#") || method.text == b"\r" {
            return Ok(None);
        }
        if method.text == b"@include" {
            let path = self.field(method.range.end, line.end, false);
            let text = String::from_utf8_lossy(&path.text).trim_end_matches('\r').to_owned();
            if text.is_empty() {
                return Err(error(method.range, "the name of the file to include is missing"));
            }
            return Ok(Some(MapFileItem::Include(text, path.range)));
        }
        let key = self.field(method.range.end, line.end, !self.has_prefixes);
        let result = self.field(key.range.end, line.end, false);
        for field in [&method, &key, &result] {
            if field.is_open {
                let what = if field.options.is_some() { "slash" } else { "quote" };
                return Err(error(field.range.clone(), &format!("the second {what} is missing")));
            }
        }
        if key.text.is_empty() || result.text.is_empty() {
            let message = match (key.text.is_empty(), key.range.is_empty()) {
                (true, true) => "a key and a result are missing",
                (true, false) => "the key is empty",
                (false, _) => "a result is missing or empty",
            };
            let help = "each line needs a method, a key and a result: `* alice physics,biology`";
            return Err(error(method.range.start..line.end, message).with_help(help));
        }
        let name = String::from_utf8_lossy(&method.text);
        match &key.options {
            Some(options) => map
                .add_pattern(&name, &key.text, options, &result.text)
                .map_err(|reason| error(key.range.clone(), &reason).with_help("HTCondor ignores this line"))?,
            None if self.has_prefixes => map.add_prefix(&name, &key.text, &result.text),
            None => map.add_literal(&name, &key.text, &result.text),
        }
        self.ignored_text(&key, &result, line.end)
    }

    /// Warns of what stands behind the result, or directly behind a regular expression.
    fn ignored_text(&self, key: &MapField, result: &MapField, end: usize) -> Result<Option<MapFileItem>, Problem> {
        let warn = |range: Range<usize>, message: &str, help: &str| {
            Err(Problem::error_at(range, 0, message).with_help(help).as_warning())
        };
        if key.options.is_some() && result.range.start == key.range.end {
            let help = "put a blank after a regular expression and its options i and U";
            return warn(
                result.range.clone(),
                "a blank is missing before this text, which is read as the result",
                help,
            );
        }
        let rest = self.field(result.range.end, end, false);
        if rest.text == b"\r" || (rest.text.is_empty() && result.text.ends_with(b"\r")) {
            let help = "convert the file to Unix line ends";
            return warn(
                result.range.clone(),
                "this line ends in a carriage return, which may become part of the result",
                help,
            );
        }
        if !rest.text.is_empty() && !rest.text.starts_with(b"#") {
            let help = "put quotes around a result that has blanks";
            return warn(rest.range.start..end, "the text after the result is ignored", help);
        }
        Ok(None)
    }

    /// Reads the next field of a line that ends at `end`. The field is empty if nothing is left.
    fn field(&self, from: usize, end: usize, takes_pattern: bool) -> MapField {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let start = from + self.text[from..end].iter().take_while(|byte| is_blank(byte)).count();
        let mut at = start;
        let mut text = Vec::new();
        let closing = match self.text[start..end].first() {
            Some(quote @ b'"') => *quote,
            Some(slash @ b'/') if takes_pattern => *slash,
            _ => {
                let length = self.text[start..end].iter().take_while(|byte| !is_blank(byte)).count();
                text.extend_from_slice(&self.text[start..start + length]);
                return MapField { text, range: start..start + length, options: None, is_open: false };
            }
        };
        at += 1;
        let mut is_open = true;
        while at < end {
            match (self.text[at], self.text[at + 1..end].first()) {
                (byte, _) if byte == closing => {
                    at += 1;
                    is_open = false;
                    break;
                }
                (b'\\', Some(next)) => {
                    if *next != closing && *next != b'\\' {
                        text.push(b'\\');
                    }
                    text.push(*next);
                    at += 2;
                }
                (byte, _) => {
                    text.push(byte);
                    at += 1;
                }
            }
        }
        let mut options = None;
        if closing == b'/' {
            let letters: String = self.text[at..end]
                .iter()
                .take_while(|byte| matches!(byte, b'i' | b'U'))
                .map(|byte| *byte as char)
                .collect();
            at += letters.len();
            options = Some(letters);
        }
        MapField { text, range: start..at, options, is_open }
    }
}

#[cfg(test)]
mod tests {
    use super::{MapFileItem, MapFileReader};
    use crate::eval::{UserMap, UserMaps};

    /// Reads a text. Returns the maps, and the problems with their ranges.
    fn read(text: &str, has_prefixes: bool) -> (UserMaps, Vec<String>) {
        let mut map = UserMap::default();
        let mut reader = MapFileReader::new(text.as_bytes(), has_prefixes);
        let mut found = Vec::new();
        while let Some(line) = reader.read(&mut map) {
            found.push(match line {
                MapFileItem::Include(path, range) => format!("include {path} {range:?}"),
                MapFileItem::Problem(problem) => format!("{:?} {}", problem.range, problem.message),
            });
        }
        let mut maps = UserMaps::default();
        maps.insert("m", map);
        (maps, found)
    }

    #[test]
    fn keys_and_results_as_htcondor_reads_them() {
        let text =
            "# c\n\n* alice a,b\n* \"bob s\" \"c \\\"d\"\n\t* /^(x+)\\/\\d$/iU \\1!\n* /y/ z # c\ngsi alice g\n* zoe r";
        let (maps, problems) = read(text, false);
        assert!(problems.is_empty(), "{problems:?}");
        for (name, user, expected) in [
            ("m", "alice", Some("a,b")),
            ("m", "bob s", Some("c \"d")),
            ("m", "XX/1", Some("XX!")),
            ("m", "any", Some("z")),
            ("m.gsi", "alice", Some("g")),
            ("m.gsi", "zoe", None),
            ("m", "zoe", Some("r")),
            ("m", "Alice", None),
        ] {
            assert_eq!(maps.look_up(name, user.as_bytes()).as_deref(), expected.map(str::as_bytes), "{name} {user}");
        }
        let (maps, problems) = read("* /a x\n* /a/b y\n", true);
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(maps.look_up("m", b"/a/b/c").unwrap(), b"y");
    }

    #[test]
    fn bad_lines_are_told_and_the_others_count() {
        let text = "* a\n* \"b c\n* /d e\n* /(/ f\n@include\n@include x y\n* g h i\n* /k/x l\n* m n\r\n*\n* o p\n";
        let (maps, problems) = read(text, false);
        assert_eq!(
            problems,
            [
                "0..3 a result is missing or empty",
                "6..10 the second quote is missing",
                "13..17 the second slash is missing",
                "20..23 `(` is not a valid regular expression: missing closing parenthesis",
                "26..34 the name of the file to include is missing",
                "include x 44..45",
                "54..55 the text after the result is ignored",
                "61..62 a blank is missing before this text, which is read as the result",
                "69..71 this line ends in a carriage return, which may become part of the result",
                "72..73 a key and a result are missing",
            ]
        );
        assert_eq!(maps.look_up("m", b"o").unwrap(), b"p");
        assert_eq!(maps.look_up("m", b"g").unwrap(), b"h");
    }
}
