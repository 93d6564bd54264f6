//! Text for people: counts, lists, shortened texts and suggestions for misspelt names.

mod edits;
mod short_numbers;
mod suggestions;

use std::fmt;

pub use edits::{TextEdit, apply_edits};
pub use short_numbers::{short_number, with_short_numbers};
pub use suggestions::{closest_name, closest_names, did_you_mean, similar_ids, suggestion};

/// Formats a number with commas between thousands.
#[must_use]
pub fn with_commas(number: usize) -> String {
    let digits = number.to_string();
    let thousands: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    thousands.join(",")
}

/// Formats a number of things: `1 offer`, `5,979 offers`.
#[must_use]
pub fn counted(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", with_commas(count), if count == 1 { "" } else { "s" })
}

/// Rounds a weight for people: to two decimals, below 1 to six.
#[must_use]
pub fn rounded(weight: f64) -> f64 {
    let scale = if weight.abs() < 1.0 { 1e6 } else { 1e2 };
    (weight * scale).round() / scale
}

/// Joins items in the manner of a sentence: `a, b and c`.
#[must_use]
pub fn join_and<S: fmt::Display>(items: &[S]) -> String {
    join_with(items, "and")
}

/// Joins items in the manner of a sentence, with `word` before the last one: `a, b or c`.
#[must_use]
pub fn join_with<S: fmt::Display>(items: &[S], word: &str) -> String {
    let items: Vec<String> = items.iter().map(S::to_string).collect();
    match items.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} {word} {last}", first.join(", ")),
        items => items.concat(),
    }
}

/// Joins the first `most` of `all` items in the manner of a sentence, and counts the others: `a, b and 3 more`.
#[must_use]
pub fn join_first<S: fmt::Display>(items: impl IntoIterator<Item = S>, all: usize, most: usize) -> String {
    let mut shown: Vec<String> = items.into_iter().take(most).map(|item| item.to_string()).collect();
    if all > shown.len() {
        shown.push(format!("{} more", with_commas(all - shown.len())));
    }
    join_and(&shown)
}

/// Cuts a text to at most `most` characters. A cut text ends with three dots, which count as characters.
#[must_use]
pub fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(3)).chain("...".chars()).collect()
}

/// Cuts a text between words to at most `most` characters. A cut text ends with three dots, which count as characters. A word
/// that takes more than half of the room is cut itself.
#[must_use]
pub fn shorten_words(text: &str, most: usize) -> String {
    let shortened = shorten(text, most);
    if shortened == text {
        return shortened;
    }
    let kept = &shortened[..shortened.len() - 3];
    let is_between = text[kept.len()..].starts_with(' ');
    match kept.rfind(' ').filter(|end| !is_between && end * 2 > kept.len()) {
        Some(end) => format!("{}...", kept[..end].trim_end_matches([' ', ',', ';', ':', '.'])),
        None => format!("{}...", kept.trim_end_matches([' ', ',', ';', ':', '.'])),
    }
}

/// Cuts a text to at most `most` characters in its middle, where three dots stand then. Of the end, which says most, twice as much
/// is kept as of the beginning.
#[must_use]
pub fn shorten_middle(text: &str, most: usize) -> String {
    let all = text.chars().count();
    if all <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(5);
    let behind: String = text.chars().skip(all - room * 2 / 3).collect();
    // Of a path, the name of the file is kept. A word that takes more than half of the room is cut itself.
    let behind = match behind.split_once(' ') {
        Some((cut, words)) if words.len() * 2 > behind.len() || cut.contains('/') => {
            cut.rsplit_once('/').map_or(words, |(folders, _)| &behind[folders.len() + 1..])
        }
        _ => &behind,
    };
    let before: String = text.chars().take(room.saturating_sub(behind.chars().count())).collect();
    let before = before.rsplit_once(' ').map_or(before.as_str(), |(words, _)| words);
    format!("{before} ... {behind}")
}

/// Breaks a sentence that is longer than `most` characters into two lines, the first of at most `most` characters: at the last
/// full stop or semicolon, if it is in the second half of the line, else at the last colon, full stop or semicolon. The first
/// colon does not count, nor one behind `refuses`: there is no answer before them. The sentence is broken in no quoted text and
/// in no parentheses. The second line is `None` if there is no place to break it, and if the sentence is not longer.
#[must_use]
pub fn break_sentence(sentence: &str, most: usize) -> (&str, Option<&str>) {
    if sentence.chars().count() <= most {
        return (sentence, None);
    }
    let is_before_reason = |before: &str| ["refuse:", "refuses:"].iter().any(|verb| before.ends_with(verb));
    let (mut quote, mut depth, mut colons, mut last) = (None, 0_usize, 0, ' ');
    let (mut end, mut colon) = (None, None);
    for (place, letter) in sentence.char_indices().take(most + 1) {
        match (quote, letter) {
            (Some(open), letter) => quote = Some(open).filter(|open| *open != letter),
            (None, '`' | '"') => quote = Some(letter),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, ' ') if depth == 0 => {
                let begins_sentence =
                    sentence[place + 1..].starts_with(|next: char| next.is_uppercase() || next == '`');
                colons += usize::from(last == ':');
                match last {
                    ';' => end = Some(place - 1),
                    '.' if begins_sentence => end = Some(place),
                    ':' if colons > 1 && !is_before_reason(&sentence[..place]) => colon = Some(place),
                    _ => {}
                }
            }
            _ => {}
        }
        last = letter;
    }
    let is_late = end.is_some_and(|end| sentence[..end].chars().count() * 2 > most);
    match if is_late { end } else { end.max(colon) } {
        Some(end) => (&sentence[..end], Some(sentence[end..].trim_start_matches([';', ' ']))),
        None => (sentence, None),
    }
}

/// Units of time in seconds, each with the number of seconds from which it is used.
const TIME_UNITS: [(&str, i64, i64); 4] =
    [("day", 86_400, 2 * 86_400), ("hour", 3600, 2 * 3600), ("minute", 60, 120), ("second", 1, i64::MIN)];

/// Says how long something takes, from and to a number of seconds: `15 to 50 minutes`, `50 minutes to 2 hours`, `7 days`.
#[must_use]
pub fn duration_range(from: i64, to: i64) -> String {
    let parts = |seconds: i64| {
        let unit = TIME_UNITS.iter().find(|(_, _, least)| seconds >= *least).unwrap_or(&TIME_UNITS[3]);
        (usize::try_from((seconds + unit.1 / 2) / unit.1).unwrap_or_default(), unit.0)
    };
    let (from, to) = (parts(from), parts(to));
    let end = counted(to.0, to.1);
    match from {
        from if from == to => end,
        (number, unit) if unit == to.1 => format!("{} to {end}", with_commas(number)),
        (number, unit) => format!("{} to {end}", counted(number, unit)),
    }
}

/// Units in which a length of time is written, each with its number of seconds.
const SHORT_UNITS: [(&str, i64); 4] = [("days", 86_400), ("h", 3600), ("min", 60), ("s", 1)];

/// Says how long a number of seconds is, in its two largest units: `23 h 54 min`, `2 days 3 h`, `45 s`.
#[must_use]
pub fn duration(seconds: i64) -> String {
    let mut rest = seconds.max(0);
    let parts: Vec<(i64, &str)> = SHORT_UNITS
        .into_iter()
        .map(|(unit, length)| {
            let count = rest / length;
            rest %= length;
            (count, if unit == "days" && count == 1 { "day" } else { unit })
        })
        .collect();
    let first = parts.iter().position(|(count, _)| *count > 0).unwrap_or(parts.len() - 1);
    let shown = parts.iter().skip(first).take(2).enumerate().filter(|(place, (count, _))| *place == 0 || *count > 0);
    shown.map(|(_, (count, unit))| format!("{count} {unit}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{
        break_sentence, counted, duration, duration_range, join_and, join_first, join_with, rounded, shorten,
        shorten_middle, shorten_words, with_commas,
    };

    #[test]
    fn the_middle_is_cut_and_the_end_stays() {
        let path = "Transfer failed at slot1@a.example.org while reading from /var/lib/condor/dir_1/result.root: (errno 2) none";
        for (text, most, expected) in [
            ("short", 10, "short"),
            ("one two three four five six (errno 2)", 26, "one two ... six (errno 2)"),
            (path, 60, "Transfer failed at ... result.root: (errno 2) none"),
        ] {
            assert_eq!(shorten_middle(text, most), expected, "{text}");
        }
        let word = "é".repeat(300) + " errno";
        let cut = shorten_middle(&word, 60);
        assert!(cut.starts_with("éé") && cut.ends_with("é errno") && cut.chars().count() <= 60, "{cut}");
    }

    #[test]
    fn how_long_something_takes() {
        for (from, to, expected) in [
            (900, 3000, "15 to 50 minutes"),
            (3000, 7200, "50 minutes to 2 hours"),
            (604_800, 604_800, "7 days"),
            (0, 1, "0 to 1 second"),
            (119, 120, "119 seconds to 2 minutes"),
            (149, 150, "2 to 3 minutes"),
            (7199, 7200, "120 minutes to 2 hours"),
            (172_799, 172_800, "48 hours to 2 days"),
            (86_400 * 3000, 86_400 * 4000, "3,000 to 4,000 days"),
        ] {
            assert_eq!(duration_range(from, to), expected, "{from} to {to}");
        }
    }

    #[test]
    fn lengths_of_time() {
        for (seconds, expected) in [
            (0, "0 s"),
            (-5, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (3599, "59 min 59 s"),
            (3600, "1 h"),
            (7110, "1 h 58 min"),
            (86_040, "23 h 54 min"),
            (86_400, "1 day"),
            (86_460, "1 day"),
            (2 * 86_400 + 3 * 3600 + 59, "2 days 3 h"),
        ] {
            assert_eq!(duration(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn how_things_are_written() {
        assert_eq!([0, 12, 999, 1000, 1_234_567].map(with_commas), ["0", "12", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 1, 2000].map(|count| counted(count, "ad")), ["0 ads", "1 ad", "2,000 ads"]);
        let lists: [&[&str]; 4] = [&[], &["a"], &["a", "b"], &["a", "b", "c"]];
        assert_eq!(lists.map(join_and), ["", "a", "a and b", "a, b and c"]);
        assert_eq!([shorten("abcdef", 6), shorten("abcdefg", 6)], ["abcdef", "abc..."]);
    }

    #[test]
    fn texts_are_cut_between_words() {
        for (text, expected) in [
            ("one two three", "one two three"),
            ("one two three four", "one two..."),
            ("one two, three four", "one two..."),
            ("one twothree four", "one twothr..."),
            ("one two th four", "one two th..."),
            ("a bcdefghijklmnopq", "a bcdefghi..."),
            ("abcdefghijklmnopq", "abcdefghij..."),
        ] {
            assert_eq!(shorten_words(text, 13), expected, "{text}");
        }
    }

    #[test]
    fn sentences_are_broken_at_their_parts() {
        for (sentence, first, rest) in [
            ("1.0 matches 2; 3 are full", "1.0 matches 2; 3 are full", ""),
            ("1.0 matches 2 of 9 slots; 3 are full", "1.0 matches 2 of 9 slots", "3 are full"),
            ("1.0 is held: no file. Once released, it matches", "1.0 is held: no file.", "Once released, it matches"),
            ("1.0 matches none: 3 are full: no Cpus left", "1.0 matches none: 3 are full:", "no Cpus left"),
            // The answer stands in the first line, behind the first colon.
            ("1.0 matches none of 1: three slots are full", "", ""),
            ("1.0 matches none: `a; b; c` is false for 1", "", ""),
            ("1.0 matches none: \"a; b. C; d\" is no site", "", ""),
            ("1.0 matches none (a; b; c; d) of all of them", "", ""),
            ("1.0 matches none: 1 refuses: `a` is false", "", ""),
            ("1.0 is held: e.g. a file of nine bytes there", "", ""),
            ("1.0; 2 of 3 slots in use are full: 1; 4 more", "1.0", "2 of 3 slots in use are full: 1; 4 more"),
            ("1.0: 2 of 3 are full; 1: no Cpus left", "1.0: 2 of 3 are full", "1: no Cpus left"),
            ("1.0: full; 2 slots have: no Cpus left", "1.0: full; 2 slots have:", "no Cpus left"),
        ] {
            let (first, rest) = if first.is_empty() { (sentence, None) } else { (first, Some(rest)) };
            assert_eq!(break_sentence(sentence, 31), (first, rest.filter(|rest| !rest.is_empty())));
        }
    }

    #[test]
    fn weights_are_rounded() {
        for (weight, expected) in [
            (0.0, "0"),
            (0.123_456_7, "0.123457"),
            (-0.123_456_7, "-0.123457"),
            (0.999_999_4, "0.999999"),
            (1.0, "1"),
            (1.005_1, "1.01"),
            (-1.004_9, "-1"),
            (123.456, "123.46"),
        ] {
            assert_eq!(rounded(weight).to_string(), expected, "{weight}");
        }
    }

    #[test]
    fn the_first_items_are_joined_and_the_others_counted() {
        for (items, all, most, expected) in [
            (&[][..], 0, 2, ""),
            (&["a"], 1, 2, "a"),
            (&["a", "b"], 2, 2, "a and b"),
            (&["a", "b", "c"], 3, 2, "a, b and 1 more"),
            (&["a", "b"], 2002, 2, "a, b and 2,000 more"),
            (&["a"], 3, 2, "a and 2 more"),
            (&["a", "b"], 2, 0, "2 more"),
        ] {
            assert_eq!(join_first(items.iter(), all, most), expected, "{items:?} {all} {most}");
        }
        assert_eq!(["or", "nor"].map(|word| join_with(&["a", "b", "c"], word)), ["a, b or c", "a, b nor c"]);
        assert_eq!(join_with(&["a"], "or"), "a");
    }

    #[test]
    fn short_rooms_cut_much() {
        let at =
            |cut: fn(&str, usize) -> String| [0, 2, 3, 4, 5, 8, 12, 15, 16].map(|most| cut("ab cd, ef gh-ij k", most));
        assert_eq!(
            at(shorten),
            ["...", "...", "...", "a...", "ab...", "ab cd...", "ab cd, ef...", "ab cd, ef gh...", "ab cd, ef gh-..."]
        );
        assert_eq!(
            at(shorten_words),
            ["...", "...", "...", "a...", "ab...", "ab cd...", "ab cd, ef...", "ab cd, ef...", "ab cd, ef..."]
        );
        assert_eq!(
            at(shorten_middle),
            [" ... ", " ... ", " ... ", " ... ", " ... ", "a ...  k", "ab ... ij k", "ab ... h-ij k", "ab ... gh-ij k"]
        );
        assert_eq!(shorten("ab cd, ef gh-ij k", 17), "ab cd, ef gh-ij k");
        assert_eq!(shorten_middle("ab cd, ef gh-ij k", 17), "ab cd, ef gh-ij k");
    }

    #[test]
    fn lengths_have_their_nearest_units() {
        for (from, to, expected) in [
            (1, 1, "1 second"),
            (1, 2, "1 to 2 seconds"),
            (-5, 0, "0 seconds"),
            (120, 179, "2 to 3 minutes"),
            (7169, 7170, "119 to 120 minutes"),
            (7200, 8999, "2 hours"),
            (8999, 9000, "2 to 3 hours"),
            (3600, 90_000, "60 minutes to 25 hours"),
            (100_000, 200_000, "28 hours to 2 days"),
            (216_000 - 1, 216_000, "2 to 3 days"),
        ] {
            assert_eq!(duration_range(from, to), expected, "{from} to {to}");
        }
        for (seconds, expected) in [
            (1, "1 s"),
            (61, "1 min 1 s"),
            (3601, "1 h"),
            (3660, "1 h 1 min"),
            (86_399, "23 h 59 min"),
            (90_000, "1 day 1 h"),
            (172_800, "2 days"),
            (172_860, "2 days"),
        ] {
            assert_eq!(duration(seconds), expected, "{seconds}");
        }
    }
}
