//! C's `printf` conversions for one value.

use std::fmt::Write;

/// Value that `$INT()`, `$REAL()` or `$STRING()` prints.
pub(super) enum PrintfArgument<'a> {
    Integer(i64),
    Real(f64),
    Text(&'a str),
}

/// Maximum width and precision of a conversion, in characters; larger ones are refused.
const MAX_FIELD_WIDTH: usize = 500;

/// Formats a real as C's `%.16G` does.
pub(super) fn format_shortest(real: f64) -> String {
    general(real, 16, false, true)
}

/// Formats a value as C's `printf` does, with one conversion and text around it. `None` if the format is invalid or
/// not for this type of value.
pub(super) fn printf(format: &str, value: &PrintfArgument<'_>) -> Option<String> {
    let start = format.find('%')?;
    let mut rest = &format[start + 1..];
    let flags = rest.len() - rest.trim_start_matches(['-', '+', ' ', '0', '#']).len();
    let (flags, behind) = rest.split_at(flags);
    rest = behind;
    let mut number = || {
        let (digits, behind) = rest.split_at(rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len());
        rest = behind;
        if digits.is_empty() { Some(None) } else { digits.parse().ok().filter(|n| *n <= MAX_FIELD_WIDTH).map(Some) }
    };
    let width: usize = number()?.unwrap_or(0);
    let mut precision = None;
    if let Some(behind) = rest.strip_prefix('.') {
        rest = behind;
        let (digits, behind) = rest.split_at(rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len());
        rest = behind;
        precision = Some(if digits.is_empty() { 0 } else { digits.parse().ok().filter(|n| *n <= MAX_FIELD_WIDTH)? });
    }
    rest = rest.trim_start_matches(['l', 'h', 'j', 'z', 'q']);
    let conversion = rest.chars().next()?;
    let behind = &rest[conversion.len_utf8()..];
    if behind.contains('%') {
        return None;
    }
    let (negative, digits) = digits(conversion, precision, flags.contains('#'), value)?;
    let sign = match negative {
        _ if matches!(value, PrintfArgument::Text(_)) => "",
        true => "-",
        false if flags.contains('+') => "+",
        false if flags.contains(' ') => " ",
        false => "",
    };
    let room = width.saturating_sub(sign.len() + digits.chars().count());
    let finite = !digits.contains(['n', 'N']);
    let zeros = flags.contains('0') && !flags.contains('-') && finite && !matches!(value, PrintfArgument::Text(_));
    let field = match (zeros, flags.contains('-')) {
        (true, _) => format!("{sign}{}{digits}", "0".repeat(room)),
        (false, true) => format!("{sign}{digits}{}", " ".repeat(room)),
        (false, false) => format!("{}{sign}{digits}", " ".repeat(room)),
    };
    Some(format!("{}{field}{behind}", &format[..start]))
}

/// Returns whether the value is negative, and its text without a sign. `None` if the conversion is not for this type.
/// `all` keeps trailing zeros in `%g`.
fn digits(conversion: char, precision: Option<usize>, all: bool, value: &PrintfArgument<'_>) -> Option<(bool, String)> {
    let upper = conversion.is_ascii_uppercase();
    Some(match (value, conversion) {
        (PrintfArgument::Integer(integer), 'd' | 'i') => {
            let least = precision.unwrap_or(1);
            (*integer < 0, format!("{:0>least$}", integer.unsigned_abs().to_string()))
        }
        (PrintfArgument::Integer(integer), 'u') => (false, integer.cast_unsigned().to_string()),
        (PrintfArgument::Integer(integer), 'x') => (false, format!("{integer:x}")),
        (PrintfArgument::Integer(integer), 'X') => (false, format!("{integer:X}")),
        (PrintfArgument::Integer(integer), 'o') => (false, format!("{integer:o}")),
        (PrintfArgument::Real(real), _) if !real.is_finite() => {
            let text = if real.is_nan() { "nan" } else { "inf" };
            (real.is_sign_negative(), if upper { text.to_uppercase() } else { text.to_owned() })
        }
        (PrintfArgument::Real(real), 'f' | 'F') => {
            let places = precision.unwrap_or(6);
            (real.is_sign_negative(), format!("{:.places$}", real.abs()))
        }
        (PrintfArgument::Real(real), 'e' | 'E') => {
            (real.is_sign_negative(), exponential(real.abs(), precision.unwrap_or(6), upper))
        }
        (PrintfArgument::Real(real), 'g' | 'G') => {
            let text = general(real.abs(), precision.unwrap_or(6), all, upper);
            (real.is_sign_negative(), text)
        }
        (PrintfArgument::Text(text), 's') => (false, text.chars().take(precision.unwrap_or(usize::MAX)).collect()),
        _ => return None,
    })
}

/// Formats a real as C's `%e` does: the exponent has a sign and at least two digits.
fn exponential(real: f64, places: usize, upper: bool) -> String {
    let text = format!("{real:.places$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    let mut all = digits.to_owned();
    // Writing to a string does not fail.
    let _ = write!(all, "{}{sign}{exponent:0>2}", if upper { 'E' } else { 'e' });
    all
}

/// Formats a real as C's `%g` does, with `digits` significant digits; trailing zeros are kept only if `all` is set.
fn general(real: f64, digits: usize, all: bool, upper: bool) -> String {
    if !real.is_finite() {
        let text = if real.is_nan() { "NAN" } else { "INF" };
        return format!("{}{text}", if real < 0.0 { "-" } else { "" });
    }
    let digits = digits.max(1);
    let rounded = format!("{real:.*e}", digits - 1);
    let exponent: i32 = rounded.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let most = i32::try_from(digits).unwrap_or(i32::MAX);
    let trimmed = |text: &str| {
        if all || !text.contains('.') { text } else { text.trim_end_matches('0').trim_end_matches('.') }.to_owned()
    };
    if exponent < -4 || exponent >= most {
        let text = exponential(real, digits - 1, upper);
        let (mantissa, exponent) = text.split_at(text.find(['e', 'E']).unwrap_or(text.len()));
        return trimmed(mantissa) + exponent;
    }
    let places = usize::try_from(most - 1 - exponent).unwrap_or(0);
    trimmed(&format!("{real:.places$}"))
}

#[cfg(test)]
mod tests {
    use super::{PrintfArgument, format_shortest, printf};

    #[test]
    fn as_c_prints() {
        use PrintfArgument::{Integer, Real, Text};
        for (format, value, expected) in [
            ("%d", Integer(2), "2"),
            ("%5d|", Integer(-7), "   -7|"),
            ("%-5d|", Integer(7), "7    |"),
            ("%05d", Integer(-7), "-0007"),
            ("%+i", Integer(7), "+7"),
            ("%.3d", Integer(7), "007"),
            ("%lld", Integer(i64::MIN), "-9223372036854775808"),
            ("0x%x", Integer(255), "0xff"),
            ("%.2f", Real(2.5), "2.50"),
            ("%e", Real(2.5), "2.500000e+00"),
            ("%.3E", Real(-1e-10), "-1.000E-10"),
            ("%g", Real(3.0), "3"),
            ("%g", Real(1e10), "1e+10"),
            ("%#g", Real(1.0), "1.00000"),
            ("%g", Real(0.0001), "0.0001"),
            ("%08.3f", Real(-1.5), "-001.500"),
            ("%5s|", Text("ab"), "   ab|"),
            ("%-5.1s|", Text("ab"), "a    |"),
        ] {
            assert_eq!(printf(format, &value).as_deref(), Some(expected), "{format}");
        }
        for (format, value) in [
            ("%s", Integer(1)),
            ("%d", Real(1.0)),
            ("%d", Text("1")),
            ("5", Integer(1)),
            ("%d%d", Integer(1)),
            ("%", Integer(1)),
            ("%999999999999d", Integer(1)),
            ("%.", Real(1.0)),
        ] {
            assert_eq!(printf(format, &value), None, "{format}");
        }
        for (real, expected) in [
            (6.0, "6"),
            (1.0 / 3.0, "0.3333333333333333"),
            (0.1 + 0.2, "0.3"),
            (1e300, "1E+300"),
            (-0.0, "-0"),
            (12_345_678.9, "12345678.9"),
        ] {
            assert_eq!(format_shortest(real), expected);
        }
    }
}
