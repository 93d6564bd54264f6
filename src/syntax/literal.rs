//! Parsers of the texts of literals: numbers, strings, quoted names and times.

use crate::ad::time::RelativeTime;
use crate::ad::{AbsoluteTime, ByteString, Dialect, Span, Value};

use super::{StringSyntax, SyntaxError};

/// Parses a number literal; `negative` puts a minus before the number.
///
/// # Errors
///
/// If an integer exceeds 64 bits, or is octal or hexadecimal in HTCondor's dialect.
pub fn number(text: &str, negative: bool, dialect: Dialect, span: Span) -> Result<Value, SyntaxError> {
    let sign = if negative { "-" } else { "" };
    let scale = match text.as_bytes().last().map(u8::to_ascii_lowercase) {
        _ if text.starts_with("0x") || text.starts_with("0X") => None,
        Some(b'b') => Some(0),
        Some(b'k') => Some(10),
        Some(b'm') => Some(20),
        Some(b'g') => Some(30),
        Some(b't') => Some(40),
        _ => None,
    };
    if let Some(exponent) = scale {
        let value: f64 = format!("{sign}{}", &text[..text.len() - 1]).parse().unwrap_or(f64::NAN);
        return Ok(Value::Real(value * f64::powi(2.0, exponent)));
    }
    if text.bytes().any(|b| matches!(b, b'.' | b'e' | b'E')) && !text.starts_with("0x") && !text.starts_with("0X") {
        return Ok(Value::Real(format!("{sign}{text}").parse().unwrap_or(f64::NAN)));
    }
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    let parsed = i64::from_str_radix(&format!("{sign}{digits}"), radix);
    if radix != 10 && dialect.is_condor() {
        let error = SyntaxError::new(span, format!("HTCondor reads no octal or hexadecimal integers: `{text}`"));
        return Err(match (parsed, text.trim_start_matches('0')) {
            (_, decimal) if radix == 8 && text.contains(['8', '9']) => error.with_help(format!("write {decimal}")),
            (Ok(value), "") => error.with_help(format!("write {value}")),
            (Ok(value), decimal) if radix == 8 => {
                error.with_help(format!("write {decimal}, or {value} if an octal number is meant"))
            }
            (Ok(value), _) => error.with_help(format!("write {value}")),
            (Err(_), _) => error,
        });
    }
    match parsed {
        Ok(value) => Ok(Value::Integer(value)),
        Err(_) if radix == 8 && text.contains(['8', '9']) => Err(SyntaxError::new(
            span,
            format!("`{text}` is no octal number"),
        )
        .with_help(format!("a leading 0 means octal; write {} for the decimal number", text.trim_start_matches('0')))),
        Err(_) => Err(SyntaxError::new(span, format!("`{sign}{text}` does not fit into 64 bits"))
            .with_help(format!("write {sign}{text}.0 for a real"))),
    }
}

/// Returns the value of a string literal, given the text between its quotes.
///
/// # Errors
///
/// If an escape means a byte of value 0 or above 255.
pub fn string(inside: &[u8], strings: StringSyntax, dialect: Dialect, span: Span) -> Result<Vec<u8>, SyntaxError> {
    match strings {
        StringSyntax::Escaped => unescape(inside, dialect, span),
        StringSyntax::Long => {
            let mut value = Vec::with_capacity(inside.len());
            let mut rest = inside;
            while let Some(at) = memchr::memmem::find(rest, b"\\\"") {
                value.extend_from_slice(&rest[..at]);
                value.push(b'"');
                rest = &rest[at + 2..];
            }
            value.extend_from_slice(rest);
            Ok(value)
        }
    }
}

/// Resolves C's escapes as HTCondor does; `\x41` is a hexadecimal escape in the papers' dialect only.
fn unescape(inside: &[u8], dialect: Dialect, span: Span) -> Result<Vec<u8>, SyntaxError> {
    if memchr::memchr(b'\\', inside).is_none() {
        return Ok(inside.to_vec());
    }
    let mut value = Vec::with_capacity(inside.len());
    let mut at = 0;
    while at < inside.len() {
        let byte = inside[at];
        at += 1;
        if byte != b'\\' || at == inside.len() {
            value.push(byte);
            continue;
        }
        let escape = inside[at];
        let escape_at = at - 1;
        at += 1;
        let byte = match escape {
            b'a' => Some(0x07),
            b'b' => Some(0x08),
            b'f' => Some(0x0c),
            b'n' => Some(b'\n'),
            b'r' => Some(b'\r'),
            b't' => Some(b'\t'),
            b'v' => Some(0x0b),
            b'x' if dialect == Dialect::Classad && inside.get(at).is_some_and(u8::is_ascii_hexdigit) => {
                read_escape_digits(inside, &mut at, 16, 2)
            }
            b'0'..=b'7' => {
                at -= 1;
                read_escape_digits(inside, &mut at, 8, 3)
            }
            other => Some(other),
        };
        let Some(byte) = byte else {
            let start = span.start + 1 + u32::try_from(escape_at).unwrap_or(0);
            let length = u32::try_from(at - escape_at).unwrap_or(1);
            return Err(SyntaxError::new(
                Span::new(start, start + length),
                "an escape in a string stands for a byte from 1 to 255",
            ));
        };
        value.push(byte);
    }
    Ok(value)
}

/// Reads up to `most` digits at `at` as a byte; `None` if the number is 0 or above 255.
fn read_escape_digits(text: &[u8], at: &mut usize, radix: u32, most: usize) -> Option<u8> {
    let mut value = 0_u32;
    for _ in 0..most {
        let Some(digit) = text.get(*at).and_then(|b| char::from(*b).to_digit(radix)) else { break };
        value = value * radix + digit;
        *at += 1;
    }
    u8::try_from(value).ok().filter(|byte| *byte != 0)
}

/// The meaning of `'...'`: a time if the text is one, otherwise a name.
pub enum QuotedLiteral {
    Time(Value),
    Name(String),
}

/// Parses the text between single quotes.
///
/// # Errors
///
/// If an escape means a byte of value 0 or above 255, or the name is not UTF-8.
pub fn quoted(inside: &[u8], dialect: Dialect, span: Span) -> Result<QuotedLiteral, SyntaxError> {
    if let Ok(text) = std::str::from_utf8(inside) {
        if let Some(time) = RelativeTime::parse_clock(text) {
            return Ok(QuotedLiteral::Time(Value::RelativeTime(time)));
        }
        if let Some(time) = AbsoluteTime::parse_asctime(text) {
            return Ok(QuotedLiteral::Time(Value::AbsoluteTime(time)));
        }
    }
    name(inside, dialect, span).map(QuotedLiteral::Name)
}

/// Parses the text between single quotes as a name.
///
/// # Errors
///
/// As for [`quoted`].
pub fn name(inside: &[u8], dialect: Dialect, span: Span) -> Result<String, SyntaxError> {
    String::from_utf8(unescape(inside, dialect, span)?).map_err(|_| SyntaxError::new(span, "a name must be UTF-8"))
}

/// Returns the name that a text means: the text itself, or the contents of its single quotes with the escapes
/// resolved.  `None` if the quoted name is malformed.
#[must_use]
pub fn read_name(text: &str, dialect: Dialect) -> Option<String> {
    match text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')) {
        Some(inside) => name(inside.as_bytes(), dialect, Span::default()).ok(),
        None => Some(text.to_owned()),
    }
}

/// Returns the value of a call that stands for a literal: a time, or `real("INF")`, `real("-INF")`, `real("NaN")`;
/// `None` for any other call.  `argument` is the only argument of the call, a constant string.
///
/// # Errors
///
/// If the string of `absTime` or `relTime` is no time.
pub fn literal_of_call(
    function: &str,
    argument: &ByteString,
    dialect: Dialect,
    span: Span,
) -> Result<Option<Value>, SyntaxError> {
    let text = argument.to_str();
    if function.eq_ignore_ascii_case("abstime") {
        return match AbsoluteTime::parse(&text).or_else(|| AbsoluteTime::parse_asctime(&text)) {
            Some(time) => Ok(Some(Value::AbsoluteTime(time))),
            None => Err(SyntaxError::new(span, format!("\"{text}\" is no absolute time"))
                .with_help("write it as absTime(\"2001-02-03T04:05:06-06:00\")")),
        };
    }
    if function.eq_ignore_ascii_case("reltime") {
        let time = match dialect {
            Dialect::Classad => RelativeTime::parse_classad(&text),
            Dialect::Condor => RelativeTime::parse_condor(&text),
        };
        return match time {
            Some(time) => Ok(Some(Value::RelativeTime(time))),
            None => Err(SyntaxError::new(span, format!("\"{text}\" is no relative time"))
                .with_help("write it as relTime(\"1+02:03:04\"): days, hours, minutes, seconds")),
        };
    }
    if function.eq_ignore_ascii_case("real") {
        for (name, value) in [("inf", f64::INFINITY), ("-inf", f64::NEG_INFINITY), ("nan", f64::NAN)] {
            if text.eq_ignore_ascii_case(name) {
                return Ok(Some(Value::Real(value)));
            }
        }
    }
    Ok(None)
}

/// Parses the longest prefix that C's `strtod` accepts, after leading blanks; `None` if there is no such prefix.
#[must_use]
pub fn number_prefix(text: &str) -> Option<f64> {
    let text = text.trim_start_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
    let (negative, body) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = body.to_ascii_lowercase();
    let magnitude = if lower.starts_with("inf") {
        f64::INFINITY
    } else if lower.starts_with("nan") {
        f64::NAN
    } else if let Some(digits) = lower.strip_prefix("0x") {
        hexadecimal(digits)
    } else {
        let digits = |s: &str| s.bytes().take_while(u8::is_ascii_digit).count();
        let whole = digits(body);
        let mut end = whole;
        let mut fraction = 0;
        if body[end..].starts_with('.') {
            fraction = digits(&body[end + 1..]);
            end += 1 + fraction;
        }
        if whole + fraction == 0 {
            return None;
        }
        if body[end..].starts_with(['e', 'E']) {
            let signed = usize::from(body[end + 1..].starts_with(['+', '-']));
            let exponent = digits(&body[end + 1 + signed..]);
            if exponent > 0 {
                end += 1 + signed + exponent;
            }
        }
        body[..end].parse().ok()?
    };
    Some(if negative { -magnitude } else { magnitude })
}

/// Parses a hexadecimal number after the `0x`, with fraction and binary exponent; zero if the number has no digit.
fn hexadecimal(text: &str) -> f64 {
    let mut value = 0.0;
    let mut scale = 0_i64;
    let mut point = false;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(digit) = c.to_digit(16) {
            value = value * 16.0 + f64::from(digit);
            scale -= if point { 4 } else { 0 };
        } else if c == '.' && !point {
            point = true;
        } else {
            break;
        }
        rest = &rest[1..];
    }
    if let Some(exponent) = rest.strip_prefix('p') {
        let signed = usize::from(exponent.starts_with(['+', '-']));
        let digits = exponent[signed..].bytes().take_while(u8::is_ascii_digit).count();
        // An exponent of more than nine digits is beyond any real.
        let size: i64 = exponent[signed..signed + digits.min(9)].parse().unwrap_or(0);
        scale += if exponent.starts_with('-') { -size } else { size };
    }
    // Scale in two steps: 2 to the whole scale may underflow although the result is a subnormal real.
    let half = i32::try_from((scale / 2).clamp(-4000, 4000)).unwrap_or(0);
    let other = i32::try_from((scale - scale / 2).clamp(-4000, 4000)).unwrap_or(0);
    value * 2_f64.powi(half) * 2_f64.powi(other)
}
