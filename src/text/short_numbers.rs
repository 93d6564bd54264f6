//! Numbers with the suffixes of the papers' dialect, as in `300M`.

/// Returns a whole number of KiB, MiB and so on with its suffix, as in `300M`. `None` for another number.
#[must_use]
pub fn short_number(number: f64) -> Option<String> {
    let powers = ["T", "G", "M", "K"].into_iter().zip([4, 3, 2, 1]);
    let mut amounts = powers.map(|(suffix, power)| (suffix, number / 1024_f64.powi(power)));
    let (suffix, amount) = amounts.find(|(_, amount)| amount.fract() == 0.0 && amount.abs() >= 1.0)?;
    Some(format!("{amount}{suffix}"))
}

/// Writes the numbers of a clause with suffixes, as people do. Such a number is printed as a real, outside of strings.
#[must_use]
pub fn with_short_numbers(clause: &str) -> String {
    // A string with an escaped quote would end too early.
    if clause.contains('\\') {
        return clause.to_owned();
    }
    let is_of_number = |letter: char| letter.is_ascii_digit() || letter == '.';
    let (mut text, mut rest, mut before) = (String::new(), clause, ' ');
    while let Some(letter) = rest.chars().next() {
        let is_start = letter.is_ascii_digit() && !before.is_alphanumeric() && before != '_';
        let length = match letter {
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            _ if is_start => rest.find(|letter| !is_of_number(letter)).unwrap_or(rest.len()),
            letter => letter.len_utf8(),
        };
        let (part, after) = rest.split_at(length);
        let is_whole = is_start && part.ends_with(".0") && !after.starts_with(['e', 'E']);
        let short = if is_whole { part.parse().ok().and_then(short_number) } else { None };
        text.push_str(short.as_deref().unwrap_or(part));
        (rest, before) = (after, part.chars().next_back().unwrap_or(' '));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{short_number, with_short_numbers};

    #[test]
    fn whole_sizes_have_suffixes() {
        for (clause, expected) in [
            ("request.MemoryReqs < Memory - 15728640.0", "request.MemoryReqs < Memory - 15M"),
            ("x2048.0 == 2048.0 && y > 2048", "x2048.0 == 2K && y > 2048"),
            ("a == \"1024.0\" || b < 1536.5 || c > 1024.0e3", "a == \"1024.0\" || b < 1536.5 || c > 1024.0e3"),
            ("z > 1073741824.0 \u{e4}", "z > 1G \u{e4}"),
        ] {
            assert_eq!(with_short_numbers(clause), expected);
        }
    }

    #[test]
    fn numbers_have_the_largest_suffix_that_is_whole() {
        for (number, expected) in [
            (0.0, None),
            (1.0, None),
            (1023.0, None),
            (1024.0, Some("1K")),
            (-1024.0, Some("-1K")),
            (1536.0, None),
            (2048.0, Some("2K")),
            (1_048_576.0, Some("1M")),
            (1_049_600.0, Some("1025K")),
            (1_073_741_824.0, Some("1G")),
            (1_099_511_627_776.0, Some("1T")),
            (1_125_899_906_842_624.0, Some("1024T")),
            (0.5, None),
            (f64::INFINITY, None),
        ] {
            assert_eq!(short_number(number).as_deref(), expected, "{number}");
        }
        for (clause, expected) in [
            ("1024.0", "1K"),
            ("a1024.0 _1024.0 1024.0", "a1024.0 _1024.0 1K"),
            ("1024.0E2", "1024.0E2"),
            ("1024.00", "1024.00"),
            ("(1024.0)", "(1K)"),
            ("\"x\\n\" 1024.0", "\"x\\n\" 1024.0"),
            ("\"open 1024.0", "\"open 1024.0"),
            ("", ""),
        ] {
            assert_eq!(with_short_numbers(clause), expected, "{clause}");
        }
    }
}
