//! Banners: the lines behind the records of HTCondor's history files.
//!
//! The schedd and the startd write `*** Offset = 0 ClusterId = 1 ...`, the shadow writes `*** EPOCH ClusterId=1 ...`
//! and other kinds, and other daemons write `*** MASTER CurrentTime=1`. A line `***` alone is a banner, too: in the log
//! of file transfers it stands before each record.

use std::ops::Range;

use crate::ad::{Expression, Value};
use crate::format::Problem;
use crate::syntax::{is_simple_literal, long_string_length};

use super::line_kind::without_carriage_return;

/// Name of the attribute that has the kind of a banner.
pub const RECORD_TYPE: &str = "RecordType";

/// The attributes that every banner of the schedd and of the startd has. The middle three are in every banner of the
/// shadow, and all but the first repeat an attribute of the record.
const JOB_NAMES: [&str; 5] = ["Offset", "ClusterId", "ProcId", "Owner", "CompletionDate"];

const TORN: &str = "this banner is broken";

const UNKNOWN: &str = "HTCondor does not write banners of this form";

/// The kinds of banners that the shadow writes.
const RUN_KINDS: [&[u8]; 8] =
    [b"EPOCH", b"TRANSFER", b"INPUT", b"OUTPUT", b"CHECKPOINT", b"COMMON", b"SPAWN", b"STARTER"];

/// A banner. Places are byte ranges in the text.
pub struct Banner {
    /// The place of the kind. `None` if the banner names none.
    pub kind: Option<Range<usize>>,
    pub attributes: Vec<BannerAttribute>,
    /// Whether the line is `***` alone.
    is_bare: bool,
}

/// An attribute of a banner.
pub struct BannerAttribute {
    pub name: Range<usize>,
    pub value: Range<usize>,
}

/// A mistake in a banner.
pub struct BannerFault {
    range: Range<usize>,
    message: &'static str,
    /// Whether something that looks like an attribute follows the place of the mistake, so that the first line of the
    /// next record may stand in the same line.
    pub hides_attribute: bool,
}

impl Banner {
    /// Parses the line at the byte offsets `line` of a text. The line begins with `***`, possibly behind white space.
    ///
    /// An attribute whose value says that the daemon did not know it (-1 or `?`) is left out. So is a number at the end
    /// of the text, because the file may be cut there.
    ///
    /// # Errors
    ///
    /// The line is not a banner that a daemon writes.
    pub fn parse(text: &[u8], line: Range<usize>) -> Result<Banner, BannerFault> {
        let content = without_carriage_return(&text[line.clone()]);
        let fault = |at: usize, message| {
            let end = content.trim_ascii_end().len();
            let range = line.start + at.min(end)..line.start + end.max(at + 1).min(content.len().max(1));
            BannerFault { range, message, hides_attribute: hides_attribute(&content[at.min(end)..]) }
        };
        if !content.starts_with(b"***") {
            return Err(fault(0, "a banner must be at the beginning of its line"));
        }
        let mut at = 3 + blank_length(&content[3..]);
        let mut banner = Banner { kind: None, attributes: Vec::new(), is_bare: content[3..].trim_ascii().is_empty() };
        let word = word_length(&content[at..]);
        let behind = at + word + blank_length(&content[at + word..]);
        if word > 0 && content.get(behind) != Some(&b'=') {
            let is_capital = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
            if !content[at..at + word].iter().all(is_capital) {
                let is_cut = JOB_NAMES[0].as_bytes().starts_with(&content[at..at + word]);
                return Err(if is_cut { fault(at, TORN) } else { fault(0, UNKNOWN) });
            }
            banner.kind = Some(line.start + at..line.start + at + word);
            at = behind;
        }
        let mut names: Vec<Range<usize>> = Vec::new();
        let is_ended = text[line.start + content.len()..].iter().take(2).any(|byte| *byte == b'\n');
        while at < content.len() {
            let Some((name, value)) = attribute_places(content, at) else { return Err(fault(at, TORN)) };
            at = value.end + blank_length(&content[value.end..]);
            let written = &content[value.clone()];
            let is_text = written.starts_with(b"\"");
            let is_literal = is_simple_literal(written);
            if !is_literal && !is_text {
                return Err(fault(name.start, TORN));
            }
            let is_cut = !is_text && at == content.len() && !is_ended;
            if is_literal && !is_cut && !matches!(written, b"-1" | b"\"?\"") {
                let place = |range: Range<usize>| line.start + range.start..line.start + range.end;
                banner.attributes.push(BannerAttribute { name: place(name.clone()), value: place(value) });
            }
            names.push(name);
        }
        let is_of_run = banner.kind.as_ref().is_some_and(|kind| RUN_KINDS.contains(&&text[kind.clone()]));
        let required: &[&str] = match (&banner.kind, names.first()) {
            (None, Some(first)) if &content[first.clone()] == b"Offset" => &JOB_NAMES,
            (Some(_), _) if is_of_run => &JOB_NAMES[1..4],
            // The line is `***` alone, or of a daemon.
            (None, None) | (Some(_), Some(_)) => &[],
            _ => return Err(fault(0, UNKNOWN)),
        };
        let is_known = |name: &Range<usize>| JOB_NAMES.iter().any(|known| known.as_bytes() == &content[name.clone()]);
        if names.iter().filter(|name| is_known(name)).count() < required.len() {
            // The place behind the last attribute that is as it should be.
            let torn = names.iter().find(|name| !is_known(name)).map_or(content.len(), |name| name.start);
            return Err(fault(torn, TORN));
        }
        Ok(banner)
    }

    /// Whether a banner of this kind stands behind each record of its file, so that a record without one is unfinished.
    pub fn is_end(&self) -> bool {
        !self.is_bare
    }
}

impl BannerFault {
    /// Returns the fault as a problem of the ad with this number.
    pub fn into_problem(self, ad_number: usize) -> Problem {
        let help = "after each record a daemon writes `*** Offset = 0 ClusterId = 1 ProcId = 0 Owner = \"a\" \
                    CompletionDate = 0`, or `*** EPOCH ClusterId=1 ProcId=0 RunInstanceId=0 Owner=\"a\" CurrentTime=0`";
        Problem::error_at(self.range, ad_number, self.message).with_help(help)
    }
}

/// Returns the mistake in the banner at the byte offsets `line` of a text. `None` if there is none.
pub fn banner_problem(text: &[u8], line: Range<usize>, ad_number: usize) -> Option<Problem> {
    Banner::parse(text, line).err().map(|fault| fault.into_problem(ad_number))
}

/// Whether a banner repeats the attribute of this name.
pub fn is_repeated(name: &[u8]) -> bool {
    JOB_NAMES[1..].iter().any(|repeated| name.eq_ignore_ascii_case(repeated.as_bytes()))
}

/// Whether the value in a record contradicts that in its banner. Values that are not literals contradict nothing.
pub fn contradicts(of_record: &Expression, of_banner: &Value) -> bool {
    match (of_record.as_literal(), of_banner) {
        (Some(Value::Integer(one)), Value::Integer(other)) => one != other,
        (Some(Value::String(one)), Value::String(other)) => one != other,
        _ => false,
    }
}

/// Whether the part of a banner that is torn may have the first attribute of the next record behind it. `rest` begins
/// with an attribute of the banner or with what takes its place.
fn hides_attribute(rest: &[u8]) -> bool {
    let name = &rest[..word_length(rest)];
    let is_of_banner = JOB_NAMES.iter().chain(&["RunInstanceId", "CurrentTime"]).any(|known| known.as_bytes() == name);
    memchr::memchr_iter(b'=', rest).count() > usize::from(is_of_banner)
}

/// Returns the places of the name and of the value of the attribute that begins at byte `at`; `None` if it is torn.
fn attribute_places(content: &[u8], at: usize) -> Option<(Range<usize>, Range<usize>)> {
    let name = at..at + word_length(&content[at..]);
    let equals = name.end + blank_length(&content[name.end..]);
    if name.is_empty() || content.get(equals) != Some(&b'=') {
        return None;
    }
    let start = equals + 1 + blank_length(&content[equals + 1..]);
    let length = value_length(&content[start..])?;
    Some((name, start..start + length))
}

/// Returns the number of bytes of white space at the beginning of a text.
fn blank_length(text: &[u8]) -> usize {
    text.len() - text.trim_ascii_start().len()
}

/// Returns the length of the name at the beginning of a text, in bytes.
fn word_length(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
}

/// Returns the length of the value at the beginning of a text, in bytes; `None` if a string is not closed or followed
/// by something else, or if there is no value.
fn value_length(text: &[u8]) -> Option<usize> {
    let length = match text.strip_prefix(b"\"") {
        Some(rest) => 1 + long_string_length(rest)?,
        None => text.iter().take_while(|byte| !byte.is_ascii_whitespace()).count(),
    };
    (length > 0 && text.get(length).is_none_or(u8::is_ascii_whitespace)).then_some(length)
}
