//! The suffix of a number, such as `G`, which the parser drops.

use crate::ad::{Expression, Value};

/// Returns the suffix with which a literal number was written, such as `G`.
pub(super) fn written_suffix(literal: &Expression) -> Option<char> {
    match literal.as_literal()? {
        Value::Real(real) if real.is_finite() => suffix(*real, literal.without_parentheses().span().range().len()),
        _ => None,
    }
}

/// Returns the suffix with which a number was written in `length` characters. `None` if it was written without one. The
/// parser drops the suffix, but `2G` is shorter than the digits of its value.
fn suffix(number: f64, length: usize) -> Option<char> {
    // The usual case, without printing the number: 10^16 and less are exact.
    let limit: f64 = (1..length.min(17)).map(|_| 10.0).product();
    if number.abs() < limit {
        return None;
    }
    let digits = format!("{}.", number.abs().trunc()).len();
    if digits <= length {
        return None;
    }
    let mut factor = 1.0;
    let mut best = None;
    for suffix in ['K', 'M', 'G', 'T'] {
        factor *= 1024.0;
        let text = format!("{}{suffix}", number.abs() / factor);
        if text.len() <= length && number.abs() >= factor / 1024.0 {
            best = best.or(Some(suffix));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::suffix;

    #[test]
    fn numbers_that_were_written_with_a_suffix_are_told_by_their_length() {
        for (text, number, expected) in [
            ("2G", 2_147_483_648.0, Some('G')),
            ("4096M", 4_294_967_296.0, Some('M')),
            ("1.5K", 1536.0, Some('K')),
            ("2.0g", 2_147_483_648.0, Some('G')),
            ("2147483648G", 2_147_483_648.0 * 1_073_741_824.0, Some('G')),
            // As long as the digits of the number.
            ("9765625.00K", 1e10, Some('K')),
            ("1.0K", 1024.0, Some('K')),
            // It could be `512.` as well.
            ("0.5K", 512.0, None),
            ("1e9", 1e9, None),
            ("1e10", 1e10, None),
            ("4.0E9", 4e9, None),
            ("1.0e10", 1e10, None),
            ("3.40282e+38", 3.40282e38, None),
            ("2147483648.0", 2_147_483_648.0, None),
            ("1024.0", 1024.0, None),
            ("0.5", 0.5, None),
            ("", 5.0, None),
            ("", 0.5, None),
            ("1T", 1_099_511_627_776.0, Some('T')),
            ("1K", 1024.0, Some('K')),
            ("1023K", 1_047_552.0, Some('K')),
            ("-2G", -2_147_483_648.0, Some('G')),
            ("1e20", 1e20, None),
            ("10000000000000000.0", 1e16, None),
        ] {
            assert_eq!(suffix(number, text.len()), expected, "{text}");
        }
    }
}
