//! Text sections of a report: two-column listings, wrapped sentences.

use std::fmt::Write;

use crate::cli::render::diagnostics::{self, single_line};

use super::writer::{MAX_EVIDENCE_ITEMS, with_commas};

/// Returns a heading with rows of two columns below it; no text if there are no rows. The left column of a row may have
/// several lines.
pub fn two_column_listing(heading: &str, rows: &[(Vec<String>, String)]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let width = diagnostics::terminal_width().saturating_sub(4);
    let length = |text: &str| text.chars().count();
    let right = rows.iter().map(|(_, right)| length(right)).max().unwrap_or_default();
    let room = width.saturating_sub(right + 2).max(20);
    // A rewriting ("`old` -> `new`") that is too long is split at the arrow.
    let lines = |parts: &Vec<String>| -> Vec<String> {
        let mut lines = Vec::new();
        for (place, part) in parts.iter().enumerate() {
            let part = if place > 0 { format!("and {}", single_line(part)) } else { single_line(part) };
            match part.split_once("` -> `") {
                Some((from, to)) if length(&part) > room => lines.extend([format!("{from}`"), format!("  -> `{to}")]),
                _ => lines.push(part),
            }
        }
        lines
    };
    let rows: Vec<(Vec<String>, &String)> = rows.iter().map(|(left, right)| (lines(left), right)).collect();
    // A line that is too long has its right column in the next line.
    let lengths = rows.iter().flat_map(|(left, _)| left).map(|line| length(line));
    let left = lengths.filter(|length| *length <= room).max().unwrap_or(2);
    let mut text = format!("{heading}\n");
    for (lines, count) in rows {
        let (last, before) = lines.split_last().map_or(("", &[][..]), |(last, before)| (last.as_str(), before));
        for line in before {
            let _ = writeln!(text, "  {line}");
        }
        if length(last) > left {
            let _ = writeln!(text, "  {last}\n  {:left$}  {}", "", single_line(count));
        } else {
            let _ = writeln!(text, "  {last}{:pad$}  {}", "", single_line(count), pad = left - length(last));
        }
    }
    text
}

/// Appends how many of `all` items exceed the limit `most`, if any.
pub fn push_rest(text: &mut String, all: usize, most: usize) {
    if all > most {
        let _ = writeln!(
            text,
            "  and {} more{}",
            with_commas(all - most),
            if most < MAX_EVIDENCE_ITEMS { " (-v)" } else { "" }
        );
    }
}

/// Appends a sentence, wrapped at the width of the terminal.
pub fn push_wrapped(text: &mut String, indent: &str, sentence: &str) {
    diagnostics::push_words(text, indent, sentence.split(' ').map(str::to_owned), diagnostics::terminal_width());
}

/// Appends a section unless it is empty.
pub fn push_section(text: &mut String, section: &str) {
    if !section.is_empty() {
        text.push_str(section.trim_end());
        text.push('\n');
    }
}
