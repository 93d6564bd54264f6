//! Detection of the format and of the compression of a text from its first bytes.

use std::io::{self, Read};

use super::dag::begins_dag;
use super::decoders;
use super::event_log::begins_event;
use super::json::JsonGrammar;
use super::nested_boundaries::is_single_ad;

/// A file format for ads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileFormat {
    /// HTCondor's `Name = value` lines, ads separated by blank lines.
    Long,
    /// Bracketed ads: `[ Name = value; ... ]`.
    Bracketed,
    /// JSON as HTCondor writes it: objects back to back or in an array.
    Json,
    /// JSON Lines: one object per line.
    JsonLines,
    /// XML according to HTCondor's DTD.
    Xml,
    /// YAML, one document per ad.
    Yaml,
    /// The text event log of jobs. It is only read: its events become ads.
    EventLog,
    /// The schedd's `job_queue.log`. It is only read, up to its end: it says how ads change.
    JobQueueLog,
    /// A submit file of `condor_submit`. It is only read: it describes jobs.
    Submit,
    /// A DAG file of `condor_submit_dag`. It is only read: its nodes become ads.
    Dag,
}

/// A function that takes a reader of compressed data and returns a reader of the decompressed data.
pub(super) type Decoder = fn(Box<dyn Read>) -> io::Result<Box<dyn Read>>;

/// Returns the decoder for compressed data. The first bytes decide; `None` if the data is not compressed.
pub(super) fn decoder(data: &[u8]) -> Option<Decoder> {
    match data {
        [0x1f, 0x8b, ..] => Some(decoders::gzip),
        // A frame of zstd, or one to be skipped, as pzstd writes before it.
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(decoders::zstd),
        [0xfd, b'7', b'z', b'X', ..] => Some(decoders::xz),
        // The mark of a block, or of the end, tells bzip2 from an attribute that is called so.
        [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..]
            if rest.starts_with(b"1AY&SY") || rest.starts_with(b"\x17\x72\x45\x38\x50\x90") =>
        {
            Some(decoders::bzip2)
        }
        _ => None,
    }
}

/// Returns the number of bytes at the beginning of `data` that show whether it is compressed.
pub(super) fn signature_length(data: &[u8]) -> usize {
    if data.starts_with(b"BZh") { 10 } else { 4 }
}

/// Whether data begins like a gzip, zstd, xz or bzip2 file.
#[must_use]
pub fn is_compressed(data: &[u8]) -> bool {
    decoder(data).is_some()
}

/// An error for data that cannot be read. `reason` is a phrase.
pub(super) fn invalid_data(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// Refuses data that is still compressed after it was decompressed, and UTF-16.
pub(super) fn refuse_packed(data: &[u8]) -> io::Result<()> {
    if is_compressed(data) {
        return Err(invalid_data("it is compressed twice: unpack it once".to_owned()));
    }
    if is_utf16(data) {
        return Err(invalid_data(format!("it is UTF-16; {UTF16_HELP}")));
    }
    Ok(())
}

/// Refuses data that is not text.
pub(super) fn refuse_binary(data: &[u8]) -> io::Result<()> {
    binary_reason(data).map_or(Ok(()), |reason| Err(invalid_data(reason)))
}

/// Packings that are not read: the first bytes, the name, and a command that unpacks a file.
const OTHER_PACKINGS: [(&[u8], &str, &str); 7] = [
    (b"PK\x03\x04", "zip", "unzip -p"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip", "7z x -so"),
    (b"\x04\x22\x4d\x18", "lz4", "lz4 -dc"),
    (b"\x1f\x9d", "compress", "uncompress -c"),
    (b"LZIP\x01", "lzip", "lzip -dc"),
    (b"\x89LZO\0", "lzop", "lzop -dc"),
    (b"Rar!\x1a\x07", "RAR", "unrar p -inul"),
];

/// Number of bytes at the beginning of data that show whether it is binary.
const BINARY_SAMPLE_BYTES: usize = 1024;

/// Returns the reason, as a phrase, why data is not text: it is packed in a way that is not read, or binary. `None` if
/// it may be text.
///
/// Binary data has control characters throughout. Zeros do not count: a crash can leave a block of zeros in a text.
pub(super) fn binary_reason(data: &[u8]) -> Option<String> {
    if let Some((_, name, command)) = OTHER_PACKINGS.iter().find(|(signature, ..)| data.starts_with(signature)) {
        return Some(format!("it is packed with {name}; `{command} FILE` unpacks it"));
    }
    let sample = &data[..data.len().min(BINARY_SAMPLE_BYTES)];
    let is_control = |byte: &u8| byte.is_ascii_control() && !matches!(byte, 0 | 7..=13 | 27);
    let (controls, zeros) =
        (sample.iter().filter(|byte| is_control(byte)).count(), memchr::memchr_iter(0, sample).count());
    let is_binary = controls >= 4 && controls * 25 > sample.len() - zeros && str::from_utf8(sample).is_err();
    is_binary.then(|| "it is binary data, not text".to_owned())
}

/// Whether data is UTF-16, judged by its byte order mark. Some shells on Windows write UTF-16 files.
pub(super) fn is_utf16(data: &[u8]) -> bool {
    data.starts_with(b"\xff\xfe") || data.starts_with(b"\xfe\xff")
}

/// Help text for UTF-16 input.
pub(super) const UTF16_HELP: &str = "`iconv -f UTF-16 -t UTF-8 FILE` converts it";

/// Returns the format of a text; `None` if it contains only white space and comments.
#[must_use]
pub fn detect(text: &[u8]) -> Option<FileFormat> {
    let rest = skip_blank(without_byte_order_mark(text));
    let (first, behind) = rest.split_first()?;
    Some(match first {
        b'<' => FileFormat::Xml,
        // A bracketed ad begins with a name. So a `[` before `{`, `"` or a digit begins a JSON array. `[]` is an empty
        // ad.
        b'[' if skip_brackets(behind).first().is_some_and(|b| matches!(b, b'{' | b'"' | b'0'..=b'9')) => {
            FileFormat::Json
        }
        // `{ [a=1], [b=2] }` is a list of bracketed ads. If a JSON object begins and ends on the first line, the text
        // is JSON Lines, otherwise JSON.
        b'{' if skip_blank(behind).first() != Some(&b'[') => {
            let line = memchr::memchr(b'\n', rest).map_or(rest, |end| &rest[..end]);
            if is_single_ad::<JsonGrammar>(line) { FileFormat::JsonLines } else { FileFormat::Json }
        }
        b'[' | b'{' => FileFormat::Bracketed,
        b'-' if rest.starts_with(b"---") && rest.get(3).is_none_or(u8::is_ascii_whitespace) => FileFormat::Yaml,
        b'%' if rest.starts_with(b"%YAML") || rest.starts_with(b"%TAG") => FileFormat::Yaml,
        b'0'..=b'9' if begins_event(rest) => FileFormat::EventLog,
        b'1' if begins_log_operation(rest) => FileFormat::JobQueueLog,
        _ if begins_dag(&rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())]) => FileFormat::Dag,
        _ if begins_mapping(rest) => FileFormat::Yaml,
        _ => FileFormat::Long,
    })
}

/// Returns the format of a text of which only the beginning is known; `None` if more text is needed.
pub(super) fn detect_from_prefix(beginning: &[u8]) -> Option<FileFormat> {
    let rest = skip_brackets(without_byte_order_mark(beginning));
    let rest = rest.strip_prefix(b"{").map_or(rest, skip_blank);
    // The first line behind comments and brackets shows the format. So no more text is needed once this line is
    // complete.
    memchr::memchr(b'\n', rest).and_then(|_| detect(beginning))
}

/// Returns the format to assume for a text that contains only comments. It is the long form if the text begins with
/// `#`, otherwise bracketed ads.
#[must_use]
pub fn format_of_comments(text: &[u8]) -> FileFormat {
    if without_byte_order_mark(text).trim_ascii_start().starts_with(b"#") {
        FileFormat::Long
    } else {
        FileFormat::Bracketed
    }
}

/// Whether the beginning of a text shows that it is in the long form, though its file has the name of another: an attribute
/// of ads, which a submit file sets otherwise, or an assignment, which is no command of a DAG file.
pub(super) fn shows_long_form(text: &[u8], of_name: FileFormat) -> bool {
    const OF_ADS: [&str; 5] = ["MyType", "TargetType", "ClusterId", "JobStatus", "GlobalJobId"];
    let mut names = assigned_names(text);
    match of_name {
        FileFormat::Submit => names.flatten().any(|name| OF_ADS.iter().any(|of_ads| name.eq_ignore_ascii_case(of_ads))),
        _ => names.next().flatten().is_some(),
    }
}

/// Returns the form of a text that has ads, where `NAME = VALUE` lines were expected; `None` if it may have such lines.
#[must_use]
pub fn form_of_ads(text: &[u8]) -> Option<FileFormat> {
    use FileFormat::{Bracketed, EventLog, JobQueueLog, Json, JsonLines, Long, Xml};
    match detect(text)? {
        form @ (Bracketed | EventLog | JobQueueLog | Json | JsonLines | Xml) => Some(form),
        Long if shows_long_form(text, FileFormat::Submit) => Some(Long),
        _ => None,
    }
}

/// Returns the names that the lines at the beginning of a text assign values to; `None` for a line that is no assignment.
fn assigned_names(text: &[u8]) -> impl Iterator<Item = Option<&str>> {
    const SEARCHED_BYTES: usize = 1 << 16;
    let text = &text[..text.len().min(SEARCHED_BYTES)];
    text[blank_length(text)..].split(|byte| *byte == b'\n').map(|line| {
        let (name, _) = line.split_at(memchr::memchr(b'=', line)?);
        str::from_utf8(name.trim_ascii()).ok().filter(|name| !name.contains(|c: char| c.is_ascii_whitespace()))
    })
}

/// Returns the length in bytes of the byte order mark at the beginning of a text; 0 if it has none.
pub(crate) fn byte_order_mark_length(text: &[u8]) -> usize {
    if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 }
}

/// Returns a text without its byte order mark, if it has one.
fn without_byte_order_mark(text: &[u8]) -> &[u8] {
    &text[byte_order_mark_length(text)..]
}

/// Whether a text begins with an operation of a `job_queue.log`.
fn begins_log_operation(text: &[u8]) -> bool {
    let line = &text[..memchr::memchr(b'\n', text).unwrap_or(text.len())];
    matches!(line, [b'1', b'0', b'1'..=b'7', b' ', rest @ ..] if !rest.trim_ascii_start().starts_with(b"="))
}

/// Whether a text begins with `name: value` or `- name: value`, as YAML without `---` does.
///
/// A line such as `a = b: c` does not count, because it may be in the long form.
fn begins_mapping(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"- ").map_or(text, <[u8]>::trim_ascii_start);
    let name = match text {
        [quote @ (b'"' | b'\''), rest @ ..] => memchr::memchr2(*quote, b'\n', rest).map_or(0, |end| end + 2),
        _ => text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')).count(),
    };
    let behind = text.get(name..).unwrap_or_default();
    name > 0 && behind.starts_with(b":") && behind.get(1).is_none_or(u8::is_ascii_whitespace)
}

/// Returns the text behind leading white space and comments (`#`, `//`, `/* */`). The result is empty if a comment does
/// not end.
fn skip_blank(text: &[u8]) -> &[u8] {
    let rest = &text[blank_length(text)..];
    let is_comment = matches!(rest, [b'#', ..] | [b'/', b'/' | b'*', ..]);
    if is_comment { &[] } else { rest }
}

/// Returns the number of bytes of white space and comments at the beginning of a text. A comment that does not end in
/// the text is not counted.
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

/// Returns the text behind leading opening brackets, white space and comments.
fn skip_brackets(mut text: &[u8]) -> &[u8] {
    loop {
        text = skip_blank(text);
        let Some(behind) = text.strip_prefix(b"[") else { return text };
        text = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::{FileFormat, detect};

    #[test]
    fn forms() {
        for (text, form) in [
            ("", None),
            (" \n# c\n", None),
            ("a = 1\n", Some(FileFormat::Long)),
            ("# c\na = 1\n", Some(FileFormat::Long)),
            ("[a = 1]", Some(FileFormat::Bracketed)),
            ("// c\n/* d */ [a = 1]", Some(FileFormat::Bracketed)),
            ("[]", Some(FileFormat::Bracketed)),
            ("[ ; a = 1 ]", Some(FileFormat::Bracketed)),
            ("{ [a = 1], [b = 2] }", Some(FileFormat::Bracketed)),
            ("{\"a\": 1}", Some(FileFormat::JsonLines)),
            ("{\"a\": 1}\n{\"a\": {", Some(FileFormat::JsonLines)),
            ("{\"a\": 1}{\"a\": 2}", Some(FileFormat::Json)),
            ("{\n \"a\": 1}", Some(FileFormat::Json)),
            ("{}", Some(FileFormat::JsonLines)),
            ("[{\"a\": 1}]", Some(FileFormat::Json)),
            ("\u{feff} // c\n[\n  {\n \"a\": 1}]", Some(FileFormat::Json)),
            ("[[{\"a\": 1}]]", Some(FileFormat::Json)),
            ("[1]", Some(FileFormat::Json)),
            ("{,\"a\": 1}", Some(FileFormat::JsonLines)),
            ("{ /* c */ a: 1}", Some(FileFormat::JsonLines)),
            ("{", Some(FileFormat::Json)),
            ("<c></c>", Some(FileFormat::Xml)),
            ("\u{feff}<?xml version=\"1.0\"?>", Some(FileFormat::Xml)),
            ("\n <!-- c --><classads>", Some(FileFormat::Xml)),
            ("---\na: 1", Some(FileFormat::Yaml)),
            ("--- {}", Some(FileFormat::Yaml)),
            ("---a = 1", Some(FileFormat::Long)),
            ("%YAML 1.2\n---\na: 1", Some(FileFormat::Yaml)),
            ("# c\nName: x = y", Some(FileFormat::Yaml)),
            ("'a b':\n  - 1", Some(FileFormat::Yaml)),
            ("- \"a\": 1", Some(FileFormat::Yaml)),
            // A text that could be YAML or the long form is taken for the long form.
            ("a = b: c", Some(FileFormat::Long)),
            ("a:b = 1", Some(FileFormat::Long)),
            ("a b: c = 1", Some(FileFormat::Long)),
            ("'a: b' = 1", Some(FileFormat::Long)),
            ("'a\n': 1", Some(FileFormat::Long)),
            ("- a = 1", Some(FileFormat::Long)),
            ("a", Some(FileFormat::Long)),
            (":", Some(FileFormat::Long)),
            ("\x1f", Some(FileFormat::Long)),
            ("000 (001.000.000) 2026-11-22 23:35:27 Job submitted from host: <a>\n...\n", Some(FileFormat::EventLog)),
            ("000 (a = 1", Some(FileFormat::Long)),
            ("107 1 CreationTimestamp 1795390524\n", Some(FileFormat::JobQueueLog)),
            ("105 \n101 1.0 Job Machine\n", Some(FileFormat::JobQueueLog)),
            ("101 = 1\n", Some(FileFormat::Long)),
            ("# c\nJOB A a.sub\n", Some(FileFormat::Dag)),
            ("Job = \"A\"\n", Some(FileFormat::Long)),
        ] {
            assert_eq!(detect(text.as_bytes()), form, "{text}");
        }
    }
}
