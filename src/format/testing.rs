//! Test helper of all readers.

use super::{FileFormat, Position, read};
use crate::ad::Dialect;
use crate::syntax::{Style, print_ad};

/// Returns a text for each item: a printed ad, or a problem as `!line:column: message`.
pub fn printed_items(text: &[u8], form: FileFormat, dialect: Dialect) -> Vec<String> {
    read(text, form, dialect)
        .map(|item| match item {
            Ok(entry) => String::from_utf8(print_ad(&entry.ad, Style::New)).expect("what was read is UTF-8"),
            Err(problem) => {
                let at = Position::of_offset(text, problem.range.start);
                format!("!{}:{}: {}", at.line, at.column, problem.message)
            }
        })
        .collect()
}
