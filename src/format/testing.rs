//! Test helpers of all readers.

use proptest::prelude::*;

use super::{FileFormat, Position, ReadCache, ReadResult, StreamBlock, read, read_cached};
use crate::ad::{Dialect, Expression, Span};
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

/// Returns a text for each item: a problem, or a printed ad with its number, its offset and the spans of its expressions.
pub fn shown_with_spans(items: impl Iterator<Item = ReadResult>) -> Vec<String> {
    let show = |item: ReadResult| match item {
        Ok(entry) => {
            let parts = entry.ad.expressions().iter().flat_map(Expression::parts);
            let spans: Vec<Span> = parts.map(Expression::span).collect();
            let text = print_ad(&entry.ad, Style::New);
            format!("{} at {}: {} {spans:?}", entry.number, entry.offset, text.escape_ascii())
        }
        Err(problem) => format!("{problem:?}"),
    };
    items.map(show).collect()
}

/// Series of texts, each of attributes between the two texts `around`. An attribute is a name, a value and an end. Few
/// pieces are others than attributes.
pub fn attribute_texts(
    [begin, end]: [&'static str; 2],
    names: &'static [&'static str],
    values: &'static [&'static str],
    ends: &'static [&'static str],
    others: &'static [&'static str],
) -> impl Strategy<Value = Vec<String>> {
    let [names, values, ends, others] = [names, values, ends, others].map(prop::sample::select);
    let piece = prop_oneof![
        8 => (names, values, ends).prop_map(|(name, value, end)| format!("{name}{value}{end}")),
        1 => others.prop_map(str::to_owned),
    ];
    let text = prop::collection::vec(piece, 0..12).prop_map(move |pieces| format!("{begin}{}{end}", pieces.concat()));
    prop::collection::vec(text, 1..4)
}

/// Checks that one cache for all texts does not change what is read. `by_grammar` returns the items that the grammar
/// reads, as [`shown_with_spans`] shows them.
pub fn assert_cached_as_by_grammar<T: AsRef<[u8]>>(
    texts: &[T],
    form: FileFormat,
    by_grammar: impl Fn(&[u8], Dialect) -> Vec<String>,
) {
    for dialect in [Dialect::Condor, Dialect::Classad] {
        let mut cache = ReadCache::new(dialect);
        for text in texts.iter().map(AsRef::as_ref) {
            let cached = shown_with_spans(read_cached(text, form, &mut cache));
            assert_eq!(cached, by_grammar(text, dialect), "{}", text.escape_ascii());
        }
    }
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

/// Texts in JSON of members with these values of the language, as they are or as expressions in strings, and with values
/// of JSON. Names repeat and are equal in other case. Some members are separated otherwise than by a comma.
fn json_text(values: &[&str]) -> impl Strategy<Value = String> + use<> {
    let of_json = [
        "01",
        "-0",
        "-0.0",
        "01.5",
        "1.50",
        "-7",
        "1e3",
        ".5",
        "null",
        "NaN",
        "True",
        "nope",
        "9223372036854775808",
        "\"a\\/b\"",
        "\"x\\ty\"",
        "\"\\u0041\"",
        "\"/Expr(b)/\"",
        "\"/expr(1 +)/\"",
        "\"/x\"",
        "\"q\\\"x\\\"\"",
        "\"\\\\\"",
        "\"z",
        "[1, \"]\"]",
        "{\"a\": [1]}",
        "{\"a\": \"\\/Expr(b)\\/\"}",
        "[1, /* c */ 2]",
        "[]",
        "{}",
        "[",
    ];
    let escaped =
        |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
    let expressions = values.iter().map(|value| format!("\"\\/Expr({})\\/\"", escaped(value)));
    let texts: Vec<String> =
        values.iter().chain(&of_json).map(|value| (*value).to_owned()).chain(expressions).collect();
    let member = (
        prop::sample::select(vec!["a", "b", "A", "c d", "e", "c\\n", "true"]),
        prop::sample::select(vec![": ", ":", " : ", ":  "]),
        prop::sample::select(texts),
        prop::sample::select(vec![", ", ", ", ",", " , ", ",\n", "}\n{", "}\n{", " }\n{", "}{", "", "// c\n,"]),
    );
    let piece = prop_oneof![
        12 => member.prop_map(|(name, colon, value, end)| format!("\"{name}\"{colon}{value}{end}")),
        1 => prop::sample::select(vec!["{", "}", "\n{", "}\n", ",", "[", "]\n", "{}\n"]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| format!("{{{}}}\n", pieces.concat()))
}

/// Blocks of ads with these values, in the long form or in JSON.
pub fn attribute_block(values: &[&'static str]) -> impl Strategy<Value = StreamBlock> + use<> {
    prop_oneof![
        long_text(values.to_vec()).prop_map(|text| StreamBlock::from_complete_text(text, FileFormat::Long)),
        json_text(values).prop_map(|text| StreamBlock::from_complete_text(text, FileFormat::JsonLines)),
    ]
}
