//! Which form a text is in, from its first bytes.

use std::fmt;

/// A form of writing ads down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// HTCondor's `Name = value` lines, ads separated by blank lines.
    Long,
    /// Bracketed ads: `[ Name = value; ... ]`.
    New,
    /// JSON, as HTCondor writes it.
    Json,
    /// XML, by HTCondor's DTD.
    Xml,
    /// YAML.
    Yaml,
    /// Compressed data, which must be unpacked first; see [`unpack`](super::unpack).
    Compressed,
}

impl Form {
    /// Whether this is one of HTCondor's own forms, which decides the dialect of a run.
    #[must_use]
    pub fn is_condors(self) -> bool {
        matches!(self, Form::Long | Form::Json | Form::Xml)
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Form::Long => "the long form",
            Form::New => "the bracketed form",
            Form::Json => "JSON",
            Form::Xml => "XML",
            Form::Yaml => "YAML",
            Form::Compressed => "compressed data",
        })
    }
}

/// The first bytes of gzip and of zstd.
pub(super) const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// The form of a text; none if there is nothing in it but space and comments.
#[must_use]
pub fn detect(text: &[u8]) -> Option<Form> {
    if text.starts_with(GZIP) || text.starts_with(ZSTD) {
        return Some(Form::Compressed);
    }
    let rest = skip_blank(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text));
    let (first, behind) = rest.split_first()?;
    let next = skip_blank(behind).first();
    Some(match first {
        b'<' => Form::Xml,
        // `[]` is an empty ad; a JSON array holds objects, and an ad begins with a name.
        b'[' if next.is_some_and(|b| matches!(b, b'{' | b'"' | b'0'..=b'9')) => Form::Json,
        // `{ [a=1], [b=2] }` is a list of ads.
        b'{' if next.is_none_or(|b| matches!(b, b'"' | b'}')) => Form::Json,
        b'[' | b'{' => Form::New,
        b'-' if rest.starts_with(b"---") && rest.get(3).is_none_or(u8::is_ascii_whitespace) => Form::Yaml,
        b'%' if rest.starts_with(b"%YAML") || rest.starts_with(b"%TAG") => Form::Yaml,
        _ if begins_mapping(rest) => Form::Yaml,
        _ => Form::Long,
    })
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
fn skip_blank(mut text: &[u8]) -> &[u8] {
    loop {
        text = text.trim_ascii_start();
        let skipped = match text {
            [b'#', ..] | [b'/', b'/', ..] => memchr::memchr(b'\n', text),
            [b'/', b'*', ..] => memchr::memmem::find(text, b"*/").map(|at| at + 1),
            _ => return text,
        };
        text = skipped.map_or(&[], |at| &text[at + 1..]);
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
            ("{\"a\": 1}", Some(Form::Json)),
            ("{}", Some(Form::Json)),
            ("[{\"a\": 1}]", Some(Form::Json)),
            ("<c></c>", Some(Form::Xml)),
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
