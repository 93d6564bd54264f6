//! Byte ranges of the attributes of an ad in its file.

use std::ops::Range;

use crate::ad::{Name, Span};

use super::source_map::DecodedText;

/// The name of one attribute and the place of its expression in a file.
#[derive(Clone, Debug)]
pub struct AttributeSpan {
    /// The name of the attribute, without quotes and escapes.
    pub name: Name,
    /// Byte range of the name in the file, with its quotes.
    pub name_range: Range<usize>,
    /// Where the text of the attribute's expression stands in the file.
    pub(super) source: ExpressionSource,
}

/// Where the text of an expression stands in a file.
#[derive(Clone, Debug)]
pub(super) enum ExpressionSource {
    /// The text stands in the file unchanged. Spans of the expression count from this byte offset of the file.
    Verbatim(usize),
    /// The text was decoded from escapes. The expression begins at this byte offset of the decoded text.
    Escaped(DecodedText, usize),
    /// Byte range of the whole value in the file. It is used for values of the format itself, such as a JSON number,
    /// and for expressions whose exact place is unknown.
    Opaque(Range<usize>),
    /// The text was put together from these pieces of the file.
    Composed(Vec<SourcePiece>),
}

/// A piece of the text of an expression that was put together from several places of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourcePiece {
    /// Byte offset of the end of the piece in the text.
    pub end: usize,
    /// Byte range of the file that the piece is from.
    pub source: Range<usize>,
    /// Whether the piece was copied unchanged.
    pub is_verbatim: bool,
}

impl AttributeSpan {
    /// Creates the span of an attribute whose expression was put together from pieces of the file.
    pub(crate) fn composed(name: Name, name_range: Range<usize>, pieces: Vec<SourcePiece>) -> Self {
        AttributeSpan { name, name_range, source: ExpressionSource::Composed(pieces) }
    }

    /// Converts a span in the attribute's expression to a byte range in the file. Returns the range of the whole value
    /// if the exact place of the expression is unknown.
    #[must_use]
    pub fn file_range(&self, span: Span) -> Range<usize> {
        let span = span.range();
        match &self.source {
            ExpressionSource::Verbatim(start) => start + span.start..start + span.end,
            ExpressionSource::Escaped(decoded, start) => {
                decoded.source_offset(start + span.start)..decoded.source_offset(start + span.end)
            }
            ExpressionSource::Opaque(range) => range.clone(),
            ExpressionSource::Composed(pieces) => composed_range(pieces, &span),
        }
    }
}

/// Returns the byte range in the file of a range of a composed text. A range within a copied piece is exact; that of any
/// other is the place of its first piece, or of the first copied piece in it.
fn composed_range(pieces: &[SourcePiece], span: &Range<usize>) -> Range<usize> {
    let first = pieces.partition_point(|piece| piece.end <= span.start);
    let start_of = |index: usize| if index == 0 { 0 } else { pieces[index - 1].end };
    let touched = || (first..pieces.len()).take_while(|index| start_of(*index) < span.end.max(span.start + 1));
    let Some(index) = touched().find(|index| pieces[*index].is_verbatim).or_else(|| touched().next()) else {
        return pieces.last().map_or(0..0, |piece| piece.source.clone());
    };
    let piece = &pieces[index];
    if !piece.is_verbatim {
        return piece.source.clone();
    }
    let offset = |at: usize| piece.source.start + at.clamp(start_of(index), piece.end) - start_of(index);
    offset(span.start)..offset(span.end)
}

#[cfg(test)]
mod tests {
    use crate::ad::{Dialect, Expression, ExpressionKind};
    use crate::format::{FileFormat, attribute_spans, read};

    /// Returns a text for each attribute of the first ad: the name as written and, if the expression has one, the right
    /// operand.
    fn attributes_and_right_operands(text: &str, form: FileFormat) -> Vec<String> {
        let entry = read(text.as_bytes(), form, Dialect::Condor).next().unwrap().unwrap();
        attribute_spans(text.as_bytes(), form, entry.offset, Dialect::Condor)
            .iter()
            .map(|place| {
                let name = &text[place.name_range.clone()];
                match entry.ad.get(&place.name).map(Expression::kind) {
                    Some(ExpressionKind::Binary(_, _, right)) => {
                        format!("{name}: {}", &text[place.file_range(right.span())])
                    }
                    _ => name.to_owned(),
                }
            })
            .collect()
    }

    #[test]
    fn in_every_form() {
        for (form, text, expected) in [
            (FileFormat::Long, "# c\na = 1\n 'b c' = x + y\nA = 2\n\nd = 1", vec!["a", "'b c': y", "A"]),
            (
                FileFormat::Bracketed,
                "// c\n[ a = 1; 'b c' = x + y; A = [ n = 1; ] ] [ d = 1 ]",
                vec!["a", "'b c': y", "A"],
            ),
            (
                FileFormat::Json,
                r#"[ {"a": 1, "l": [1, {"i": 2}], "b c": "\/Expr(\"x\" + \"y\")\/", "A": {"n": 1}}, {"d": 1} ]"#,
                vec!["\"a\"", "\"l\"", "\"b c\": \\\"y\\\"", "\"A\""],
            ),
            (
                FileFormat::Xml,
                "<classads><c><a n=\"a\"><i>1</i></a><a n=\"l\"><l><c><a n=\"i\"><i>2</i></a></c></l></a>\
                 <a n=\"b\"><e>x &amp;&amp; y</e></a></c><c><a n=\"d\"><i>1</i></a></c></classads>",
                vec!["<a n=\"a\">", "<a n=\"l\">", "<a n=\"b\">: y"],
            ),
            (FileFormat::Yaml, "a: 1\nb: !expr x + y\nc: !expr 'x + y'\n", vec!["a", "b: y", "c: y"]),
            // The attributes of the ad begin in column 1. Names that are indented belong to nested values.
            (FileFormat::Yaml, "# c\na: 1\nn:\n  a: 2\n  b: 3\nt: |\n  a: 4\nA: 5\n", vec!["a", "n", "t", "A"]),
            // `a` is a name in both ads of the sequence, so its place is uncertain.
            (FileFormat::Yaml, "- a: 1\n  b: 2\n- a: 2\n", vec!["b"]),
        ] {
            assert_eq!(attributes_and_right_operands(text, form), expected, "{text}");
        }
    }
}
