//! Sizes of memory and disk with units.

/// A size with a unit, and what stands behind it.
#[derive(Debug, PartialEq)]
pub(super) struct ByteSize<'t> {
    /// The size in units of the base.
    pub number: i64,
    /// Whether a unit is written.
    pub has_unit: bool,
    /// The text behind the separator.
    pub rest: &'t str,
}

/// Reads a size such as `2.5 GB` in units of `base` bytes, rounded up; without a unit it is in units of the base. A comma
/// ends it if `is_list`. `None` if the text is something else, such as an expression.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // as HTCondor rounds
pub(super) fn byte_size(text: &str, base: i64, is_list: bool) -> Option<ByteSize<'_>> {
    let text = text.trim_start();
    let sign = text.len() - text.trim_start_matches(['-', '+']).len();
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    let whole: i64 = if sign + digits > 0 { text[..sign + digits].trim_start_matches('+').parse().ok()? } else { 0 };
    let mut rest = &text[sign + digits..];
    let mut fraction = 0.0;
    if let Some(behind) = rest.strip_prefix('.') {
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        let scales = [0.1, 0.01, 0.001];
        fraction = behind.bytes().take(digits).zip(scales).map(|(digit, scale)| f64::from(digit - b'0') * scale).sum();
        rest = &behind[digits..];
    }
    if rest.len() == text.len() {
        return None;
    }
    rest = rest.trim_start();
    let ends = |rest: &str| rest.is_empty() || is_list && rest.starts_with(',');
    let unit = match rest.bytes().next().map(|byte| byte.to_ascii_uppercase()) {
        _ if ends(rest) => None,
        Some(b'K') => Some(1_i64 << 10),
        Some(b'M') => Some(1 << 20),
        Some(b'G') => Some(1 << 30),
        Some(b'T') => Some(1 << 40),
        _ => return None,
    };
    if unit.is_some() {
        rest = &rest[1..];
        rest = rest.strip_prefix(['b', 'B']).unwrap_or(rest).trim_start();
    }
    let scale = unit.unwrap_or(base);
    let bytes = (whole as f64 + fraction) * scale as f64 + (base - 1) as f64;
    ends(rest).then(|| ByteSize {
        number: bytes as i64 / base,
        has_unit: unit.is_some(),
        rest: rest.strip_prefix(',').unwrap_or(rest),
    })
}

#[cfg(test)]
mod tests {
    use super::byte_size;

    #[test]
    fn sizes() {
        for (text, expected) in [
            ("512", Some((512, false, ""))),
            ("2 GB", Some((2048, true, ""))),
            ("1.5g", Some((1536, true, ""))),
            ("100KB", Some((1, true, ""))),
            ("-5", Some((-4, false, ""))),
            ("1.5", Some((2, false, ""))),
            (".5G", Some((512, true, ""))),
            ("2 GB, 4GB", Some((2048, true, " 4GB"))),
            ("1e3", None),
            ("2 bananas", None),
            ("x", None),
            ("", None),
            ("2 * 3", None),
        ] {
            let found = byte_size(text, 1 << 20, true).map(|size| (size.number, size.has_unit, size.rest));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn sizes_are_rounded_up_to_the_base() {
        for (text, base, is_list, expected) in [
            ("0", 1024, false, Some((0, false, ""))),
            ("1", 1024, false, Some((1, false, ""))),
            ("+3", 1024, false, Some((3, false, ""))),
            ("1K", 1024, false, Some((1, true, ""))),
            ("1k", 1 << 20, false, Some((1, true, ""))),
            ("1024K", 1 << 20, false, Some((1, true, ""))),
            ("1025K", 1 << 20, false, Some((2, true, ""))),
            ("1M", 1024, false, Some((1024, true, ""))),
            ("1mb", 1024, false, Some((1024, true, ""))),
            ("1T", 1 << 20, false, Some((1 << 20, true, ""))),
            ("1.0", 1024, false, Some((1, false, ""))),
            ("1.001", 1024, false, Some((2, false, ""))),
            ("1.0009", 1024, false, Some((1, false, ""))),
            ("1.25", 1024, false, Some((2, false, ""))),
            ("0.999", 1024, false, Some((1, false, ""))),
            (" 5 ", 1024, false, Some((5, false, ""))),
            ("5 K ", 1024, false, Some((5, true, ""))),
            ("5 KB", 1024, false, Some((5, true, ""))),
            ("5 KBB", 1024, false, None),
            ("5 B", 1024, false, None),
            ("5 P", 1024, false, None),
            ("-", 1024, false, None),
            (".", 1024, false, Some((0, false, ""))),
            ("5,6", 1024, false, None),
            ("5,6", 1024, true, Some((5, false, "6"))),
            ("5K,", 1024, true, Some((5, true, ""))),
            ("99999999999999999999", 1024, false, None),
        ] {
            let found = byte_size(text, base, is_list).map(|size| (size.number, size.has_unit, size.rest));
            assert_eq!(found, expected, "{text}");
        }
    }
}
