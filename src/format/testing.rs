//! Test helpers of all readers.

use proptest::prelude::*;

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

/// Texts in the long form of lines with these values, with names that are equal in other case, quoted names, line ends of
/// both kinds, comments, banners, bad lines, and a last line without a line end.
pub fn long_text(values: Vec<&'static str>) -> impl Strategy<Value = String> {
    let line = (
        prop::sample::select(vec!["a", "b", "A", "c d", "'q'", "  e ", "true", ""]),
        prop::sample::select(vec!["=", " = ", " =", "= "]),
        prop::sample::select(values),
        prop::sample::select(vec!["\n", "\n", "\r\n"]),
    );
    let other = vec!["# c\n", "-- Schedd: a\n", "*** Offset = 1 ClusterId = 2\n", "*** x\n", "\r\n", "x\n", "a = 1"];
    let piece = prop_oneof![
        12 => line.prop_map(|(name, equals, value, end)| format!("{name}{equals}{value}{end}")),
        3 => Just("\n".to_owned()),
        1 => prop::sample::select(other).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}
