//! Texts whose ads are wrapped in something that no reader of ads knows: JDL without brackets, the lists that Python
//! prints, headings of HTCondor's tools before JSON or XML, and what Elasticsearch finds. They are unwrapped in place, so
//! that an ad keeps its lines and columns.

use super::detect::blank_length;
use super::long::{LineKind, Statements};
use super::{FileFormat, detect};

/// What is around the ads of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextWrapping {
    /// Attributes end in `;`, without brackets around them.
    MissingBrackets,
    /// Lines of an ad in brackets begin with `#`.
    HashComments,
    /// Brackets around ads in brackets.
    PythonList,
    /// Lines such as `-- Schedd: a@b`.
    Headings,
    /// Objects with an ad as `_source`.
    Hits,
}

/// Number of bytes at the beginning of a text that show how its ads are wrapped.
const BEGINNING_BYTES: usize = 4096;

impl TextWrapping {
    /// Whether more of a text may show that its ads are wrapped.
    pub fn is_in_doubt(text: &[u8], form: Option<FileFormat>) -> bool {
        match form {
            _ if is_heading(text.trim_ascii_start()) => form_behind_headings(text).is_none(),
            Some(FileFormat::Long | FileFormat::Bracketed) => Statements::of_beginning(text).may_be_jdl(),
            Some(FileFormat::Json | FileFormat::JsonLines) => {
                has_part(text, b"\"hits\"") || has_part(text, b"\"_index\"")
            }
            _ => false,
        }
    }

    /// Returns how the ads of a text are wrapped, by its beginning in the form that was detected. `None` if they are not.
    pub fn of_beginning(text: &[u8], form: Option<FileFormat>) -> Option<Self> {
        let beginning = &text[..text.len().min(BEGINNING_BYTES)];
        let trimmed = beginning.trim_ascii_start();
        if is_heading(trimmed) {
            return (form_behind_headings(beginning)? != FileFormat::Long).then_some(TextWrapping::Headings);
        }
        match form? {
            FileFormat::Long | FileFormat::Bracketed if Statements::of_beginning(beginning).are_jdl() => {
                Some(TextWrapping::MissingBrackets)
            }
            FileFormat::Bracketed => {
                let behind = trimmed.strip_prefix(b"[")?;
                let is_list = behind[blank_length(behind)..].starts_with(b"[");
                let has_hash = || lines(behind).any(|line| line.trim_ascii_start().starts_with(b"#"));
                is_list.then_some(TextWrapping::PythonList).or_else(|| has_hash().then_some(TextWrapping::HashComments))
            }
            FileFormat::Json | FileFormat::JsonLines => {
                let is_of_index = || has_part(beginning, b"\"hits\"") || has_part(beginning, b"\"_index\"");
                (has_part(beginning, b"\"_source\"") && is_of_index()).then_some(TextWrapping::Hits)
            }
            _ => None,
        }
    }

    /// Unwraps a whole text. Returns it and its form, and whether it has a line more before its first.
    pub fn unwrap(self, mut text: Vec<u8>) -> (Vec<u8>, FileFormat, bool) {
        match self {
            TextWrapping::MissingBrackets => {
                slash_comments(&mut text);
                text.splice(..0, *b"[\n");
                text.extend_from_slice(b"\n]\n");
                (text, FileFormat::Bracketed, true)
            }
            TextWrapping::HashComments => {
                slash_comments(&mut text);
                (text, FileFormat::Bracketed, false)
            }
            TextWrapping::PythonList => {
                if let Some(open) = text.iter_mut().find(|byte| **byte == b'[') {
                    *open = b'{';
                }
                if let Some(close) = text.iter_mut().rfind(|byte| !byte.is_ascii_whitespace()).filter(|b| **b == b']') {
                    *close = b'}';
                }
                (text, FileFormat::Bracketed, false)
            }
            TextWrapping::Headings => {
                for line in text.split_mut(|byte| *byte == b'\n').filter(|line| is_heading(line)) {
                    line.fill(b' ');
                }
                let form = detect(&text).unwrap_or(FileFormat::Json);
                (text, if form == FileFormat::JsonLines { FileFormat::Json } else { form }, false)
            }
            TextWrapping::Hits => {
                keep_sources(&mut text);
                (text, FileFormat::Json, false)
            }
        }
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
}

fn has_part(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}

fn is_heading(line: &[u8]) -> bool {
    line.starts_with(b"-- ") && LineKind::of(lines(line).next().unwrap_or_default()) == LineKind::Heading
}

/// Returns the form of what follows the headings at the beginning of a text.
fn form_behind_headings(text: &[u8]) -> Option<FileFormat> {
    let is_blank = |line: &&[u8]| is_heading(line) || line.trim_ascii().is_empty();
    let length: usize = lines(text).take_while(is_blank).map(|line| line.len() + 1).sum();
    detect(text.get(length..).unwrap_or_default())
}

/// Makes comments that begin with `#` begin with `//`. Strings keep their text.
fn slash_comments(text: &mut [u8]) {
    let mut quote = None;
    let mut at = 0;
    while at < text.len() {
        let is_end_of_line = text.get(at + 1).is_none_or(|next| matches!(next, b'\n' | b'\r'));
        match (text[at], quote) {
            (b'\\', Some(_)) => at += 1,
            (byte, Some(open)) if byte == open => quote = None,
            (b'"' | b'\'', None) => quote = Some(text[at]),
            (b'/', None) if text.get(at + 1) == Some(&b'/') => at = end_of_line(text, at),
            (b'#', None) if is_end_of_line => text[at] = b' ',
            (b'#', None) => {
                text[at..at + 2].copy_from_slice(b"//");
                at = end_of_line(text, at);
            }
            _ => {}
        }
        at += 1;
    }
}

fn end_of_line(text: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length)
}

/// Blanks out everything but the objects that are the values of `_source`.
fn keep_sources(text: &mut [u8]) {
    /// Where the scan is.
    enum SourceScan {
        /// Outside of the objects.
        Outside,
        /// Behind the key `_source`.
        BehindKey,
        /// In an object, at this depth.
        Within(usize),
    }
    let mut place = SourceScan::Outside;
    let mut at = 0;
    while at < text.len() {
        let length = if text[at] == b'"' { string_length(&text[at..]) } else { 1 };
        let token = &text[at..at + length];
        let is_kept = match (&mut place, token) {
            (SourceScan::Within(depth), b"{") => {
                *depth += 1;
                true
            }
            (SourceScan::Within(depth), b"}") => {
                *depth -= 1;
                if *depth == 0 {
                    place = SourceScan::Outside;
                }
                true
            }
            (SourceScan::Within(_), _) => true,
            (_, b"\"_source\"") => {
                place = SourceScan::BehindKey;
                false
            }
            (SourceScan::BehindKey, b"{") => {
                place = SourceScan::Within(1);
                true
            }
            (SourceScan::BehindKey, [b':']) => false,
            (SourceScan::BehindKey, [byte]) if byte.is_ascii_whitespace() => false,
            _ => {
                place = SourceScan::Outside;
                false
            }
        };
        if !is_kept {
            text[at..at + length].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        }
        at += length;
    }
}

/// Returns the length of the string in JSON that begins a text.
fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(found) = text.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if text[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{FileFormat, TextWrapping, detect};

    #[test]
    fn texts_are_unwrapped_in_place() {
        let hits = "{\"hits\":{\"hits\":[{\"_id\":\"}\",\"_source\":{\"a\":{\"b\":1}}},{\"_source\" : {\"a\":2}}]}}";
        let plain_hits = "                                      {\"a\":{\"b\":1}}               {\"a\":2}    ";
        for (text, expected) in [
            ("a = 1;\nb = \"#;\"; # c\n#\nd = 2", Some("[\na = 1;\nb = \"#;\"; //c\n \nd = 2\n]\n")),
            ("[\n # the CE\n a = \"\\\"#\"; // # d\n]\n", Some("[\n //the CE\n a = \"\\\"#\"; // # d\n]\n")),
            ("[[ a = 1 ], [ a = [ b = 2 ] ]]\n", Some("{[ a = 1 ], [ a = [ b = 2 ] ]}\n")),
            ("-- Schedd: a@b\n[\n{\"a\": 1}]\n", Some("              \n[\n{\"a\": 1}]\n")),
            ("-- Schedd: a@b\n\n<c></c>", Some("              \n\n<c></c>")),
            (hits, Some(plain_hits)),
            ("-- Schedd: a@b\na = 1\n", None),
            ("a = 1\n", None),
            ("[ a = {1}; ]", None),
            ("[[{\"a\": 1}]]", None),
            ("{\"_source\": 1}", None),
            ("", None),
        ] {
            let wrapping = TextWrapping::of_beginning(text.as_bytes(), detect(text.as_bytes()));
            let unwrapped = wrapping.map(|wrapping| wrapping.unwrap(text.as_bytes().to_vec()));
            let found = unwrapped.as_ref().map(|(text, ..)| String::from_utf8_lossy(text));
            assert_eq!(found.as_deref(), expected, "{text}");
            assert!(
                unwrapped.is_none_or(|(text, form, _)| form != FileFormat::Long && detect(&text) == Some(form)
                    || form == FileFormat::Json)
            );
        }
    }
}
