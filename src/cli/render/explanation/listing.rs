//! Text sections of a report: two-column listings, wrapped sentences.

use std::fmt::Write;

use classad::explain::MAX_FIRST_LINE_CHARS;
use classad::text::{break_sentence, counted};

use crate::cli::render::diagnostics::{self, single_line};

use super::limits::MAX_EVIDENCE_ITEMS;

/// Returns a heading with rows of two columns below it, or an empty text if there are no rows. The left column of a row
/// may have several lines.
pub fn two_column_listing(heading: &str, rows: &[(Vec<String>, String)]) -> String {
    if rows.is_empty() { String::new() } else { format!("{heading}\n{}", two_column_rows(rows).concat()) }
}

/// Returns the lines of each row of two columns, aligned. The left column of a row may have several lines.
pub fn two_column_rows(rows: &[(Vec<String>, String)]) -> Vec<String> {
    let width = diagnostics::terminal_width().saturating_sub(4);
    let length = |text: &str| text.chars().count();
    let right = rows.iter().map(|(_, right)| length(right)).max().unwrap_or_default();
    let room = width.saturating_sub(right + 2).max(20);
    // If an entry such as "`old` -> `new`" is wider than the left column, split the entry at its arrow.
    let lines = |(place, part): (usize, &String)| {
        let part = if place > 0 { format!("and {}", single_line(part)) } else { single_line(part) };
        match part.split_once("` -> `") {
            Some((from, to)) if length(&part) > room => vec![format!("{from}`"), format!("  -> `{to}")],
            _ => vec![part],
        }
    };
    let rows = rows.iter().map(|(left, right)| (left.iter().enumerate().flat_map(lines).collect(), right));
    let rows: Vec<(Vec<String>, &String)> = rows.collect();
    // If the left column is too long, the right column goes to the next line.
    let lengths = rows.iter().flat_map(|(left, _)| left).map(|line| length(line));
    let left = lengths.filter(|length| *length <= room).max().unwrap_or(2);
    let row = |(lines, right): (Vec<String>, &String)| {
        let left_column = lines.join("\n  ");
        let last = lines.last().map_or(0, |last| length(last));
        let (gap, pad) = if last > left { ("\n  ", left) } else { ("", left - last) };
        format!("  {left_column}{gap}{}  {}\n", " ".repeat(pad), single_line(right))
    };
    rows.into_iter().map(row).collect()
}

/// Appends a line such as `and 5 more changes` if not all items are printed. `all` is the number of items, `most` the
/// maximum number of printed items, `noun` what an item is.
pub fn push_rest(text: &mut String, all: usize, most: usize, noun: &str) {
    if all > most {
        let option = if most < MAX_EVIDENCE_ITEMS { " (-v)" } else { " (--all-offers -o json)" };
        let _ = writeln!(text, "  and {}{option}", counted(all - most, &format!("more {noun}")));
    }
}

/// Appends a sentence, wrapped at the width of the terminal.
pub fn push_wrapped(text: &mut String, indent: &str, sentence: &str) {
    diagnostics::push_words(text, indent, sentence.split(' ').map(str::to_owned), diagnostics::terminal_width());
}

/// Returns the first lines of a report: its summary sentence, in two lines if it is too long for one.
pub fn first_lines(summary: &str) -> String {
    let (first, rest) = break_sentence(summary, MAX_FIRST_LINE_CHARS);
    diagnostics::sentence_line(first) + &rest.map(diagnostics::sentence_line).unwrap_or_default()
}

/// Returns a sentence, wrapped at the width of the terminal.
pub fn wrapped(sentence: &str) -> String {
    let mut text = String::new();
    push_wrapped(&mut text, "", sentence);
    text
}

#[cfg(test)]
mod tests {
    use super::{push_rest, two_column_listing, two_column_rows};

    fn rows(rows: &[(&[&str], &str)]) -> Vec<(Vec<String>, String)> {
        let row =
            |(left, right): &(&[&str], &str)| (left.iter().map(|&part| part.to_owned()).collect(), (*right).to_owned());
        rows.iter().map(row).collect()
    }

    #[test]
    fn the_right_column_begins_behind_the_widest_left_one() {
        let shown = two_column_rows(&rows(&[(&["a"], "1"), (&["b", "c"], "22"), (&["d\te"], "3")]));
        assert_eq!(shown, ["  a      1\n", "  b\n  and c  22\n", "  d␉e    3\n"]);
        assert_eq!(two_column_listing("what:", &rows(&[(&["a"], "1")])), "what:\n  a  1\n");
        assert_eq!(two_column_listing("what:", &[]), "");
    }

    #[test]
    fn what_is_too_wide_has_lines_of_its_own() {
        let (long, other) = ("x".repeat(400), "y".repeat(400));
        assert_eq!(two_column_rows(&rows(&[(&[&long], "1")])), [format!("  {long}\n      1\n")]);
        assert_eq!(
            two_column_rows(&rows(&[(&["abc"], "2"), (&[&long], "1")])),
            ["  abc  2\n".to_owned(), format!("  {long}\n       1\n")]
        );
        // A change that is too wide is broken at its arrow.
        let change = format!("`{long}` -> `{other}`");
        assert_eq!(two_column_rows(&rows(&[(&[&change], "1")])), [format!("  `{long}`\n    -> `{other}`\n      1\n")]);
        assert_eq!(two_column_rows(&rows(&[(&["`a` -> `b`"], "1")])), ["  `a` -> `b`  1\n"]);
    }

    #[test]
    fn what_is_left_out_is_counted() {
        for (all, most, expected) in [
            (0, 3, ""),
            (3, 3, ""),
            (4, 3, "  and 1 more change (-v)\n"),
            (5, 3, "  and 2 more changes (-v)\n"),
            (10, 9, "  and 1 more change (-v)\n"),
            (11, 10, "  and 1 more change (--all-offers -o json)\n"),
        ] {
            let mut text = String::new();
            push_rest(&mut text, all, most, "change");
            assert_eq!(text, expected, "{most} of {all}");
        }
    }
}
