//! Byte ranges of the attributes of an ad in its file.

use std::ops::Range;

use crate::ad::{Dialect, Name, Span};
use crate::syntax::{Group, Rules, bindings, first_group, read_name};

use super::source_map::Decoded;
use super::{Form, json, long, xml, yaml};

/// The place of one attribute in a file: its name, and the source of its expression.
#[derive(Debug)]
pub struct Place {
    /// The name, decoded.
    pub name: Name,
    /// Byte range of the name as written.
    pub range: Range<usize>,
    /// Where its expression was read from.
    pub(super) source: Source,
}

/// Maps the text of an expression to the bytes of the file.
#[derive(Debug)]
pub(super) enum Source {
    /// The text stands in the file unchanged, from this offset on.
    Text(usize),
    /// The text was decoded from escapes. The expression begins at this byte of the decoded text.
    Escaped(Decoded, usize),
    /// The value is not the text of an expression but a value of the format itself, or its exact place is unknown. The
    /// range covers the whole value.
    Whole(Range<usize>),
}

impl Place {
    /// Returns the bytes of the file that a part of the attribute's expression was read from.
    #[must_use]
    pub fn part(&self, span: Span) -> Range<usize> {
        let span = span.range();
        match &self.source {
            Source::Text(start) => start + span.start..start + span.end,
            Source::Escaped(decoded, start) => decoded.origin(start + span.start)..decoded.origin(start + span.end),
            Source::Whole(range) => range.clone(),
        }
    }
}

/// Returns the places of the attributes of the ad that begins at `offset`, in the order of the text.
///
/// An attribute that is written several times appears as often. In YAML, attributes whose place is uncertain are left
/// out.
#[must_use]
pub fn places(text: &[u8], form: Form, offset: usize, dialect: Dialect) -> Vec<Place> {
    match form {
        Form::Long => long_places(text, offset, dialect),
        Form::New => new_places(text, offset, dialect),
        Form::Json | Form::JsonLines => json::places(text, offset),
        Form::Xml => xml::places(text, offset),
        Form::Yaml => yaml::places(text, offset),
    }
}

fn new_places(text: &[u8], offset: usize, dialect: Dialect) -> Vec<Place> {
    let rest = text.get(offset..).unwrap_or_default();
    let (Group::Closed(span) | Group::Open(span)) = first_group(rest) else { return Vec::new() };
    let start = offset + span.range().start;
    let ad = &rest[span.range()];
    let place = |binding: &crate::syntax::Binding| {
        let name = read_name(&String::from_utf8_lossy(&ad[binding.name.range()]), dialect)?;
        let range = start + binding.name.range().start..start + binding.name.range().end;
        Some(Place { name: Name::new(&name), range, source: Source::Text(start) })
    };
    bindings(ad, Rules::new(dialect)).iter().filter_map(place).collect()
}

fn long_places(text: &[u8], offset: usize, dialect: Dialect) -> Vec<Place> {
    let mut places = Vec::new();
    let mut at = offset;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let (start, line) = (at, &rest[..length]);
        at += length + 1;
        let content = line.trim_ascii_start();
        if content.is_empty() {
            break;
        }
        if content.starts_with(b"#") || content.starts_with(b"//") {
            continue;
        }
        let Some(equals) = long::separator(line) else { continue };
        let written = line[..equals].trim_ascii();
        let indent = line.len() - content.len();
        if let Some(name) = read_name(&String::from_utf8_lossy(written), dialect) {
            let range = start + indent..start + indent + written.len();
            places.push(Place { name: Name::new(&name), range, source: Source::Text(start + equals + 1) });
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::places;
    use crate::ad::{Dialect, Expression, Kind};
    use crate::format::{Form, read};

    /// For each attribute of the first ad: its name as written, and the right operand of its expression.
    fn found(text: &str, form: Form) -> Vec<String> {
        let entry = read(text.as_bytes(), form, Dialect::Condor).next().unwrap().unwrap();
        places(text.as_bytes(), form, entry.offset, Dialect::Condor)
            .iter()
            .map(|place| {
                let name = &text[place.range.clone()];
                match entry.ad.get(&place.name).map(Expression::kind) {
                    Some(Kind::Binary(_, _, right)) => format!("{name}: {}", &text[place.part(right.span())]),
                    _ => name.to_owned(),
                }
            })
            .collect()
    }

    #[test]
    fn in_every_form() {
        for (form, text, expected) in [
            (Form::Long, "# c\na = 1\n 'b c' = x + y\nA = 2\n\nd = 1", vec!["a", "'b c': y", "A"]),
            (Form::New, "// c\n[ a = 1; 'b c' = x + y; A = [ n = 1; ] ] [ d = 1 ]", vec!["a", "'b c': y", "A"]),
            (
                Form::Json,
                r#"[ {"a": 1, "l": [1, {"i": 2}], "b c": "\/Expr(\"x\" + \"y\")\/", "A": {"n": 1}}, {"d": 1} ]"#,
                vec!["\"a\"", "\"l\"", "\"b c\": \\\"y\\\"", "\"A\""],
            ),
            (
                Form::Xml,
                "<classads><c><a n=\"a\"><i>1</i></a><a n=\"l\"><l><c><a n=\"i\"><i>2</i></a></c></l></a>\
                 <a n=\"b\"><e>x &amp;&amp; y</e></a></c><c><a n=\"d\"><i>1</i></a></c></classads>",
                vec!["<a n=\"a\">", "<a n=\"l\">", "<a n=\"b\">: y"],
            ),
            (Form::Yaml, "a: 1\nb: !expr x + y\nc: !expr 'x + y'\n", vec!["a", "b: y", "c: y"]),
            // A name may appear twice; lines that are indented further belong to a nested value.
            (Form::Yaml, "# c\na: 1\nn:\n  a: 2\n  b: 3\nt: |\n  a: 4\nA: 5\n", vec!["a", "n", "t", "A"]),
            // `a` stands in both elements, so it is uncertain which one is meant.
            (Form::Yaml, "- a: 1\n  b: 2\n- a: 2\n", vec!["b"]),
        ] {
            assert_eq!(found(text, form), expected, "{text}");
        }
    }
}
