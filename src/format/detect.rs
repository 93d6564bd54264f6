//! Which form a text is in, from its first bytes.

use std::fmt;
use std::io::{self, Read};

use super::json;

/// A form of writing ads down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// HTCondor's `Name = value` lines, ads separated by blank lines.
    Long,
    /// Bracketed ads: `[ Name = value; ... ]`.
    New,
    /// JSON, as HTCondor writes it: objects back to back or in an array.
    Json,
    /// JSON, an object on each line.
    JsonLines,
    /// XML, by HTCondor's DTD.
    Xml,
    /// YAML.
    Yaml,
}

impl Form {
    /// Whether this is one of HTCondor's own forms, which decides the dialect of a run.
    #[must_use]
    pub fn is_condors(self) -> bool {
        matches!(self, Form::Long | Form::Json | Form::JsonLines | Form::Xml)
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Form::Long => "the long form",
            Form::New => "the bracketed form",
            Form::Json => "JSON",
            Form::JsonLines => "JSON Lines",
            Form::Xml => "XML",
            Form::Yaml => "YAML",
        })
    }
}

/// A way of making data smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Gzip,
    Zstd,
}

/// Whether data is compressed, from its first bytes, in a way that is unpacked on reading.
#[must_use]
pub fn is_compressed(data: &[u8]) -> bool {
    packing(data).is_some()
}

/// How data is packed, from its first bytes; none if it is not.
pub(super) fn packing(data: &[u8]) -> Option<Packing> {
    match data {
        [0x1f, 0x8b, ..] => Some(Packing::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Packing::Zstd),
        _ => None,
    }
}

impl Packing {
    /// What unpacks a stream.
    pub(super) fn unpacked(self, packed: impl Read + 'static) -> io::Result<Box<dyn Read>> {
        Ok(match self {
            Packing::Gzip => Box::new(flate2::read::MultiGzDecoder::new(packed)),
            Packing::Zstd => Box::new(zstd::stream::Decoder::new(packed)?),
        })
    }
}

/// Whether data is UTF-16, as some shells write it, by its byte order mark.
pub(super) fn is_utf16(data: &[u8]) -> bool {
    data.starts_with(b"\xff\xfe") || data.starts_with(b"\xfe\xff")
}

/// What to do about UTF-16.
pub(super) const FROM_UTF16: &str = "`iconv -f UTF-16 -t UTF-8` makes UTF-8 of it";

/// The form of a text; none if there is nothing in it but space and comments.
#[must_use]
pub fn detect(text: &[u8]) -> Option<Form> {
    let rest = skip_blank(without_mark(text));
    let (first, behind) = rest.split_first()?;
    Some(match first {
        b'<' => Form::Xml,
        // `[]` is an empty ad; a JSON array holds objects, and an ad begins with a name.
        b'[' if skip_brackets(behind).first().is_some_and(|b| matches!(b, b'{' | b'"' | b'0'..=b'9')) => Form::Json,
        // `{ [a=1], [b=2] }` is a list of ads.
        // An object that fills its line is the first of JSON Lines.
        b'{' if skip_blank(behind).first() != Some(&b'[') => {
            let line = memchr::memchr(b'\n', rest).map_or(rest, |end| &rest[..end]);
            if json::is_one_ad(line) { Form::JsonLines } else { Form::Json }
        }
        b'[' | b'{' => Form::New,
        b'-' if rest.starts_with(b"---") && rest.get(3).is_none_or(u8::is_ascii_whitespace) => Form::Yaml,
        b'%' if rest.starts_with(b"%YAML") || rest.starts_with(b"%TAG") => Form::Yaml,
        _ if begins_mapping(rest) => Form::Yaml,
        _ => Form::Long,
    })
}

/// The form of a text, if it is the same whatever follows this beginning of it.
pub(super) fn certain(beginning: &[u8]) -> Option<Form> {
    let rest = skip_brackets(without_mark(beginning));
    let rest = rest.strip_prefix(b"{").map_or(rest, skip_blank);
    // All that tells forms apart stands in the first line behind comments and brackets.
    memchr::memchr(b'\n', rest).and_then(|_| detect(beginning))
}

/// The form in which a text of nothing but comments can be read.
#[must_use]
pub fn form_of_comments(text: &[u8]) -> Form {
    if without_mark(text).trim_ascii_start().starts_with(b"#") { Form::Long } else { Form::New }
}

/// A text without its byte order mark.
pub(super) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// Whether a text begins with `name: value`, or that as an element of a sequence, as YAML without its
/// `---` does.  Anything with a `=` where the long form has one is the long form.
fn begins_mapping(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"- ").map_or(text, <[u8]>::trim_ascii_start);
    let name = match text {
        [quote @ (b'"' | b'\''), rest @ ..] => memchr::memchr2(*quote, b'\n', rest).map_or(0, |end| end + 2),
        _ => text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')).count(),
    };
    let behind = text.get(name..).unwrap_or_default();
    name > 0 && behind.starts_with(b":") && behind.get(1).is_none_or(u8::is_ascii_whitespace)
}

/// Skips space and comments of either form.
fn skip_blank(text: &[u8]) -> &[u8] {
    let rest = &text[blank_length(text)..];
    let is_comment = matches!(rest, [b'#', ..] | [b'/', b'/' | b'*', ..]);
    if is_comment { &[] } else { rest }
}

/// The bytes of space and of comments of either form that a text begins with; not those of a comment that may
/// go on behind it.
pub(super) fn blank_length(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at = text.len() - text[at..].trim_ascii_start().len();
        let comment = match &text[at..] {
            line @ ([b'#', ..] | [b'/', b'/', ..]) => memchr::memchr(b'\n', line).map(|end| end + 1),
            [b'/', b'*', rest @ ..] => memchr::memmem::find(rest, b"*/").map(|end| end + 4),
            _ => None,
        };
        match comment {
            Some(length) => at += length,
            None => return at,
        }
    }
}

/// Skips opening brackets and what [`skip_blank`] skips.
fn skip_brackets(mut text: &[u8]) -> &[u8] {
    loop {
        text = skip_blank(text);
        let Some(behind) = text.strip_prefix(b"[") else { return text };
        text = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::{Form, detect};

    #[test]
    fn forms() {
        for (text, form) in [
            ("", None),
            (" \n# c\n", None),
            ("a = 1\n", Some(Form::Long)),
            ("# c\na = 1\n", Some(Form::Long)),
            ("[a = 1]", Some(Form::New)),
            ("// c\n/* d */ [a = 1]", Some(Form::New)),
            ("[]", Some(Form::New)),
            ("[ ; a = 1 ]", Some(Form::New)),
            ("{ [a = 1], [b = 2] }", Some(Form::New)),
            ("{\"a\": 1}", Some(Form::JsonLines)),
            ("{\"a\": 1}\n{\"a\": {", Some(Form::JsonLines)),
            ("{\"a\": 1}{\"a\": 2}", Some(Form::Json)),
            ("{\n \"a\": 1}", Some(Form::Json)),
            ("{}", Some(Form::JsonLines)),
            ("[{\"a\": 1}]", Some(Form::Json)),
            ("\u{feff} // c\n[\n  {\n \"a\": 1}]", Some(Form::Json)),
            ("[[{\"a\": 1}]]", Some(Form::Json)),
            ("[1]", Some(Form::Json)),
            ("{,\"a\": 1}", Some(Form::JsonLines)),
            ("{ /* c */ a: 1}", Some(Form::JsonLines)),
            ("{", Some(Form::Json)),
            ("<c></c>", Some(Form::Xml)),
            ("\u{feff}<?xml version=\"1.0\"?>", Some(Form::Xml)),
            ("\n <!-- c --><classads>", Some(Form::Xml)),
            ("---\na: 1", Some(Form::Yaml)),
            ("--- {}", Some(Form::Yaml)),
            ("---a = 1", Some(Form::Long)),
            ("%YAML 1.2\n---\na: 1", Some(Form::Yaml)),
            ("# c\nName: x = y", Some(Form::Yaml)),
            ("'a b':\n  - 1", Some(Form::Yaml)),
            ("- \"a\": 1", Some(Form::Yaml)),
            // Whatever may be the long form is.
            ("a = b: c", Some(Form::Long)),
            ("a:b = 1", Some(Form::Long)),
            ("a b: c = 1", Some(Form::Long)),
            ("'a: b' = 1", Some(Form::Long)),
            ("'a\n': 1", Some(Form::Long)),
            ("- a = 1", Some(Form::Long)),
            ("a", Some(Form::Long)),
            (":", Some(Form::Long)),
            ("\x1f", Some(Form::Long)),
        ] {
            assert_eq!(detect(text.as_bytes()), form, "{text}");
        }
    }
}
