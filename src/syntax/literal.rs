//! Parsers of the texts of literals: numbers, strings, quoted names and times.

use crate::ad::time::RelativeTime;
use crate::ad::{AbsoluteTime, ByteString, Dialect, Span, Value};

use super::token::to_offset;
use super::{StringSyntax, SyntaxError};

/// The papers' scale suffixes, with their factors.
const SCALE_SUFFIXES: [([char; 2], f64); 5] = [
    (['b', 'B'], 1.0),
    (['k', 'K'], 1024.0),
    (['m', 'M'], 1_048_576.0),
    (['g', 'G'], 1_073_741_824.0),
    (['t', 'T'], 1_099_511_627_776.0),
];

/// Parses a number literal; `negative` puts a minus before the number.
///
/// # Errors
///
/// If an integer exceeds 64 bits, or has a leading 0 but a digit that is not octal.  HTCondor's dialect also refuses
/// octal and hexadecimal integers. Behind a minus it reads `-017` as -17, and what it would refuse as 0.  Only HTCondor's
/// dialect reads a hexadecimal real such as `0x1.8`, as C's `strtod` does.
pub fn number(text: &str, negative: bool, dialect: Dialect, span: Span) -> Result<Value, SyntaxError> {
    let sign = if negative { "-" } else { "" };
    let is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let real = |text: &str| format!("{sign}{text}").parse().unwrap_or(f64::NAN);
    if text.starts_with("..") {
        return Err(SyntaxError::new(span, format!("HTCondor reads `{text}` as 0")).keeping_ad());
    }
    if is_hexadecimal && text.contains('.') {
        let real = number_prefix(&format!("{sign}{text}")).filter(|_| dialect.is_condor());
        return real.map(Value::Real).ok_or_else(|| SyntaxError::new(span, format!("`{text}` is not a number")));
    }
    let scale = SCALE_SUFFIXES.into_iter().find(|(suffix, _)| !is_hexadecimal && text.ends_with(*suffix));
    if let Some((_, factor)) = scale {
        return Ok(Value::Real(real(&text[..text.len() - 1]) * factor));
    }
    if !is_hexadecimal && text.contains(['.', 'e', 'E']) {
        return Ok(Value::Real(real(text)));
    }
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    let parsed = i64::from_str_radix(&format!("{sign}{digits}"), radix);
    let decimal = text.trim_start_matches('0');
    let is_decimal = radix == 8 && text.contains(['8', '9']);
    let is_read_by_htcondor = dialect.is_condor() && negative && !is_decimal;
    if is_read_by_htcondor
        && radix == 8
        && let Ok(value) = format!("-{digits}").parse()
    {
        return Ok(Value::Integer(value));
    }
    if radix != 10 && dialect.is_condor() {
        let error = if is_read_by_htcondor {
            SyntaxError::new(span, format!("HTCondor reads `-{text}` as 0")).keeping_ad()
        } else {
            SyntaxError::new(span, format!("HTCondor does not accept octal or hexadecimal integers: `{text}`"))
        };
        return Err(match parsed {
            _ if is_decimal => error.with_help(format!("write {decimal}")),
            Ok(value) if radix == 8 && !decimal.is_empty() => {
                error.with_help(format!("write {decimal}, or {value} for the octal number"))
            }
            Ok(value) => error.with_help(format!("write {value}")),
            Err(_) => error,
        });
    }
    parsed.map(Value::Integer).map_err(|_| {
        if is_decimal {
            SyntaxError::new(span, format!("`{text}` is not an octal number"))
                .with_help(format!("a leading 0 makes a number octal; write {decimal} for the decimal number"))
        } else {
            let error = SyntaxError::new(span, format!("`{sign}{text}` does not fit into a signed 64-bit integer"));
            let error = if dialect.is_condor() { error.keeping_ad() } else { error };
            if radix == 10 { error.with_help(format!("write {sign}{text}.0 for a real")) } else { error }
        }
    })
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
            while let Some(at) = memchr::memchr(b'\\', rest) {
                // Only a quote can be escaped. Any other backslash stands for itself.
                let kept = if rest[at + 1..].starts_with(b"\"") { at } else { at + 1 };
                value.extend_from_slice(&rest[..kept]);
                rest = &rest[at + 1..];
            }
            value.extend_from_slice(rest);
            Ok(value)
        }
    }
}

/// The letters of C's escapes for the bytes from 0x07 to 0x0d, such as `n` for a newline.
pub const ESCAPE_LETTERS: [u8; 7] = *b"abtnvfr";

/// Resolves C's escapes as HTCondor does; `\x41` is a hexadecimal escape in the papers' dialect only. In HTCondor's, an
/// octal escape above 255 ends before its third digit.
fn unescape(inside: &[u8], dialect: Dialect, span: Span) -> Result<Vec<u8>, SyntaxError> {
    if memchr::memchr(b'\\', inside).is_none() {
        return Ok(inside.to_vec());
    }
    let mut value = Vec::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        value.extend_from_slice(&rest[..at]);
        let (byte, length) = match &rest[at + 1..] {
            // A backslash at the end stands for itself.
            [] => (Some(b'\\'), 0),
            [b'x', digits @ ..] if dialect == Dialect::Classad && digits.first().is_some_and(u8::is_ascii_hexdigit) => {
                let (byte, length) = read_escape_digits(digits, 16, 2);
                (byte, 1 + length)
            }
            digits @ [b'4'..=b'7', ..] if dialect.is_condor() => read_escape_digits(digits, 8, 2),
            digits @ [b'0'..=b'7', ..] => read_escape_digits(digits, 8, 3),
            [letter, ..] => {
                let control = (0x07..).zip(ESCAPE_LETTERS).find(|(_, known)| known == letter);
                (Some(control.map_or(*letter, |(byte, _)| byte)), 1)
            }
        };
        let end = at + 1 + length;
        let Some(byte) = byte else {
            let escape_at = inside.len() - rest.len() + at;
            let start = span.start + 1 + to_offset(escape_at);
            return Err(SyntaxError::new(
                Span::new(start, start + to_offset(end - at)),
                "an escape must be a byte from 1 to 255",
            ));
        };
        value.push(byte);
        rest = &rest[end..];
    }
    value.extend_from_slice(rest);
    Ok(value)
}

/// Reads up to `most` digits at the start of a text.  Returns the number as a byte, `None` if it is 0 or above 255, and
/// the number of digits read.
fn read_escape_digits(text: &[u8], radix: u32, most: usize) -> (Option<u8>, usize) {
    let digits = text.iter().take(most).map_while(|byte| char::from(*byte).to_digit(radix));
    let (value, length) = digits.fold((0, 0), |(value, length), digit| (value * radix + digit, length + 1));
    (u8::try_from(value).ok().filter(|byte| *byte != 0), length)
}

/// Parses the text between single quotes as a time; `None` if it is none, so that it is the name of an attribute.
pub fn quoted_time(inside: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(inside).ok()?;
    let relative = RelativeTime::parse_clock(text).map(|time| Value::RelativeTime(time.written()));
    relative.or_else(|| AbsoluteTime::parse_asctime(text).map(Value::AbsoluteTime))
}

/// Parses the text between single quotes as a name.
///
/// # Errors
///
/// If an escape means a byte of value 0 or above 255, or the name is not UTF-8.
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
/// If the string of `absTime` or `relTime` is not a time.
pub fn literal_of_call(
    function: &str,
    argument: &ByteString,
    dialect: Dialect,
    span: Span,
) -> Result<Option<Value>, SyntaxError> {
    let text = argument.to_str();
    let is = |name| function.eq_ignore_ascii_case(name);
    let (time, kind, example) = if is("abstime") {
        let time = AbsoluteTime::parse(&text).or_else(|| AbsoluteTime::parse_asctime(&text));
        (time.map(Value::AbsoluteTime), "an absolute", "2001-02-03T04:05:06-06:00")
    } else if is("reltime") {
        let time = match dialect {
            Dialect::Classad => RelativeTime::parse_classad(&text),
            Dialect::Condor => RelativeTime::parse_condor(&text),
        };
        let example = "1+02:03:04 (days, hours, minutes, seconds)";
        (time.map(|time| Value::RelativeTime(time.written())), "a relative", example)
    } else {
        let special = [("inf", f64::INFINITY), ("-inf", f64::NEG_INFINITY), ("nan", f64::NAN)];
        let real = special.into_iter().find(|(name, _)| is("real") && text.eq_ignore_ascii_case(name));
        return Ok(real.map(|(_, real)| Value::Real(real)));
    };
    time.map(Some).ok_or_else(|| {
        SyntaxError::new(span, format!("\"{text}\" is not {kind} time")).with_help(format!("write it as {example}"))
    })
}

/// Parses the longest prefix that C's `strtod` accepts, after leading blanks; `None` if there is no such prefix.
#[must_use]
pub fn number_prefix(text: &str) -> Option<f64> {
    let text = text.trim_start_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    let lower = body.to_ascii_lowercase();
    let magnitude = if lower.starts_with("inf") {
        f64::INFINITY
    } else if lower.starts_with("nan") {
        f64::NAN
    } else if let Some(digits) = lower.strip_prefix("0x") {
        hexadecimal(digits)
    } else {
        let count_digits = |from: usize| body[from..].bytes().take_while(u8::is_ascii_digit).count();
        let mut end = count_digits(0);
        let mut digits = end;
        if body[end..].starts_with('.') {
            let fraction = count_digits(end + 1);
            digits += fraction;
            end += 1 + fraction;
        }
        if digits == 0 {
            return None;
        }
        if body[end..].starts_with(['e', 'E']) {
            let start = end + 1 + usize::from(body[end + 1..].starts_with(['+', '-']));
            let exponent = count_digits(start);
            if exponent > 0 {
                end = start + exponent;
            }
        }
        body[..end].parse().ok()?
    };
    Some(if text.starts_with('-') { -magnitude } else { magnitude })
}

/// Parses a hexadecimal number after the `0x`, with fraction and binary exponent; zero if the number has no digit.
fn hexadecimal(text: &str) -> f64 {
    let digits_end = |text: &str| text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len());
    let (whole, mut rest) = text.split_at(digits_end(text));
    let mut fraction = "";
    if let Some(behind) = rest.strip_prefix('.') {
        (fraction, rest) = behind.split_at(digits_end(behind));
    }
    let digits = whole.chars().chain(fraction.chars()).filter_map(|c| c.to_digit(16));
    let value = digits.fold(0.0, |value, digit| value * 16.0 + f64::from(digit));
    let mut scale = -4 * i64::try_from(fraction.len()).unwrap_or(0);
    if let Some(exponent) = rest.strip_prefix('p') {
        let signed = usize::from(exponent.starts_with(['+', '-']));
        let digits = exponent[signed..].bytes().take_while(u8::is_ascii_digit).count();
        // An exponent of more than nine digits exceeds that of any real, so that nine digits suffice.
        let size: i64 = exponent[signed..signed + digits.min(9)].parse().unwrap_or(0);
        scale += if exponent.starts_with('-') { -size } else { size };
    }
    // Scale by two powers of 2, because a single power may underflow even if the result is a subnormal real.
    let half = i32::try_from((scale / 2).clamp(-4000, 4000)).unwrap_or(0);
    let other = i32::try_from((scale - scale / 2).clamp(-4000, 4000)).unwrap_or(0);
    value * 2_f64.powi(half) * 2_f64.powi(other)
}
