//! Tree of a YAML document with settings, and the positions of its nodes.
//!
//! `serde_yaml` reports a position only with an error. So every scalar is rejected with an error, which yields its
//! position, and reading continues behind the scalar.
//!
//! Reading cannot continue behind a rejected sequence or mapping. So sequences and mappings are numbered. To find the
//! position of one of them, the document is read again, and the node with its number is rejected.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor};

use crate::ad::Value;
use crate::format::Problem;
use crate::syntax::SyntaxError;

use super::documents::DocumentExtents;
use super::visit::{YamlScalar, visit_scalars, with_parser_stack};
use super::{diagnostics, node_end, scalar_offset};

pub use super::config_reader::ConfigReader;
pub use super::scalar::string_scalar;
pub use super::writer::flow_style;

/// A YAML document as a tree.
#[derive(Clone, Debug)]
pub struct YamlTree<'t> {
    /// The text of the document.
    text: &'t [u8],
    /// The byte offset of each line.
    line_starts: Vec<usize>,
    /// The outermost node.
    pub root: YamlNode,
}

/// A node of a YAML document.
#[derive(Clone, Debug, PartialEq)]
pub struct YamlNode {
    place: YamlNodePlace,
    /// What the node contains: text, elements or entries.
    pub content: YamlContent,
    /// The value that a scalar has in an ad. `None` for the text of an expression, such as `!expr Memory / 2`, and for
    /// nodes that are not scalars.
    pub value: Option<Value>,
}

/// Where a node begins.
#[derive(Clone, Copy, Debug, PartialEq)]
enum YamlNodePlace {
    /// Line and column of a scalar, both counted from 1.
    Position(usize, usize),
    /// Number of a sequence or mapping, counted from 0 in the order of the text. To find its position, the document is
    /// read again.
    Collection(usize),
}

/// The content of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum YamlContent {
    /// Null: `~`, or no text at all.
    Null,
    /// A scalar: its text, without quotes and escapes.
    Scalar(String),
    /// A sequence. In block style an element is written `- element`.
    Sequence(Vec<YamlNode>),
    /// A mapping with its entries: `key: value`. The keys are scalars.
    Mapping(Vec<(YamlNode, YamlNode)>),
}

impl YamlNode {
    /// Returns the text of a scalar; `None` for other nodes.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            YamlContent::Scalar(text) => Some(text),
            _ => None,
        }
    }
}

/// Hint for malformed documents. The most frequent mistake is an expression without the quotes that YAML requires.
const QUOTING_HELP: &str = "an expression needs single quotes if it has `: ` or ` #`, or begins with a sign such as `!` or \
    `[`";

impl<'t> YamlTree<'t> {
    /// Parses a document.
    ///
    /// # Errors
    ///
    /// Malformed YAML, more than one document, keys that are not scalars, and tags other than `!expr`.
    pub fn parse(text: &'t [u8]) -> Result<Self, Problem> {
        if let Some((range, message)) = diagnostics::find_unreadable(text) {
            return Err(Problem::error_at(range, 0, message));
        }
        if let Some(second) = (DocumentExtents { text, at: 0 }).nth(1) {
            let begin = second.range.start..(second.range.start + 3).min(text.len());
            let problem = Problem::error_at(begin, 0, "a second document begins here");
            return Err(problem.with_help("write all settings in one document"));
        }
        let reading = YamlTreePass::default();
        let error = match reading.read(text) {
            Ok(root) => return Ok(YamlTree { text, line_starts: scalar_offset::line_starts(text), root }),
            Err(error) => error,
        };
        let at = error_offset(text, &error).unwrap_or(0);
        let range = at..(at + 1).min(text.len());
        let mut problem = match reading.rejection.take() {
            Some(rejection) => Problem::error_at(range, 0, rejection),
            // Only a key must have a certain type, so the node with the wrong type is a key.
            None if error.to_string().contains("invalid type") => {
                Problem::error_at(range, 0, "a key must be text").with_help("write `key: value`")
            }
            None => diagnostics::from_serde_yaml(text, at, &error),
        };
        problem.help.get_or_insert_with(|| QUOTING_HELP.to_owned());
        Err(problem)
    }

    /// Returns the byte offset at which a node begins.
    fn start(&self, node: &YamlNode) -> usize {
        let offset = match node.place {
            YamlNodePlace::Position(line, column) => {
                let start = self.line_starts.get(line.saturating_sub(1));
                start.and_then(|start| scalar_offset::column_offset(self.text, *start, column))
            }
            YamlNodePlace::Collection(number) => {
                let reading = YamlTreePass { rejected: Some(number), ..YamlTreePass::default() };
                reading.read(self.text).err().and_then(|error| error_offset(self.text, &error))
            }
        };
        offset.unwrap_or(0)
    }

    /// Returns the byte range of a node, without the lines behind the node's first line.
    #[must_use]
    pub fn range(&self, node: &YamlNode) -> Range<usize> {
        let start = self.start(node);
        let line = memchr::memchr2(b'\n', b'\r', &self.text[start..]).map_or(self.text.len(), |end| start + end);
        let end = match node.text() {
            // A scalar ends behind its closing quote or, without quotes, with its text.
            Some(text) => scalar_offset::source_offset(self.text, start, text, text.len()).clamp(start, line),
            None => line,
        };
        start..end.max((start + 1).min(self.text.len()))
    }

    /// Creates an error with the byte range of a node.
    #[must_use]
    pub fn problem(&self, node: &YamlNode, message: impl Into<String>) -> Problem {
        Problem::error_at(self.range(node), 0, message)
    }

    /// Returns the byte range of a whole node, which may have many lines. An anchor before the node is left out.
    #[must_use]
    pub fn full_range(&self, node: &YamlNode) -> Range<usize> {
        let begin = node_end::skip_anchor(self.text, self.range(node).start);
        let (mut last, mut start) = (node, begin);
        let end = loop {
            last = match &last.content {
                _ if matches!(self.text.get(start), Some(b'[' | b'{')) => {
                    break node_end::end_of_brackets(self.text, start);
                }
                // A sequence or mapping without brackets ends where its last element or value ends.
                YamlContent::Sequence(elements) if !elements.is_empty() => &elements[elements.len() - 1],
                YamlContent::Mapping(entries) if !entries.is_empty() => &entries[entries.len() - 1].1,
                YamlContent::Scalar(text) if !matches!(last.value, Some(Value::Integer(_) | Value::Real(_))) => {
                    break scalar_offset::source_offset(self.text, start, text, text.len());
                }
                _ => break node_end::end_of_word(self.text, start),
            };
            start = node_end::skip_anchor(self.text, self.range(last).start);
        };
        let blank = self.text[begin..end.max(begin)].iter().rev().take_while(|byte| byte.is_ascii_whitespace());
        begin..end.max(begin) - blank.count()
    }

    /// Converts a byte range in the text of a scalar to a byte range in the document. They differ because of quotes and
    /// escapes.
    #[must_use]
    pub fn scalar_part_range(&self, node: &YamlNode, part: Range<usize>) -> Range<usize> {
        let (start, text) = (self.range(node).start, node.text().unwrap_or_default());
        let from = scalar_offset::source_offset(self.text, start, text, part.start);
        from..scalar_offset::source_offset(self.text, start, text, part.end).max(from)
    }

    /// Converts a syntax error in the text of a scalar into a problem with byte ranges in the document.
    #[must_use]
    pub fn syntax_problem(&self, node: &YamlNode, error: SyntaxError) -> Problem {
        let text = node.text().unwrap_or_default();
        let before = text.get(..error.span.range().start).unwrap_or(text);
        let message = format!("{} (column {} of the expression)", error.message, before.chars().count() + 1);
        let problem = Problem::from_syntax(SyntaxError { message, ..error }, 0, 0);
        problem.map_ranges(|range| self.scalar_part_range(node, range))
    }
}

/// Returns the byte offset in a document at which an error occurred; `None` if it is unknown.
fn error_offset(text: &[u8], error: &serde_yaml::Error) -> Option<usize> {
    let at = error.location()?;
    scalar_offset::position_offset(text, at.line(), at.column())
}

/// One reading of a document: its options, state and results.
#[derive(Default)]
struct YamlTreePass {
    /// Number of sequences and mappings read so far.
    count: Cell<usize>,
    /// Number, counted from 0, of the sequence or mapping that is rejected to find its position. `None` if none is
    /// rejected.
    rejected: Option<usize>,
    /// The scalar that was just rejected to find its position.
    scalar: Cell<Option<YamlNode>>,
    /// Why this module ended the reading because of a mistake; `None` if it has not.
    rejection: Cell<Option<String>>,
}

/// Message of the errors that serve only to find the position of a node.
const REJECTED: &str = "rejected";

impl YamlTreePass {
    fn read(&self, text: &[u8]) -> Result<YamlNode, serde_yaml::Error> {
        let seed = YamlNodeSeed { pass: self, is_key: false };
        with_parser_stack(|| seed.deserialize(serde_yaml::Deserializer::from_slice(text)))
    }
}

/// Returns the position in an error message such as `rejected at line 3 column 7`. A message without a position is for
/// the beginning of the text.
fn location(error: &str) -> Option<YamlNodePlace> {
    let Some((_, place)) = error.rsplit_once(" at line ") else { return Some(YamlNodePlace::Position(1, 1)) };
    let (line, column) = place.split_once(" column ")?;
    Some(YamlNodePlace::Position(line.parse().ok()?, column.parse().ok()?))
}

/// Seed of serde for a node.
#[derive(Clone, Copy)]
struct YamlNodeSeed<'r> {
    pass: &'r YamlTreePass,
    /// Whether the node is a key of a mapping. A key is read as text, even if it is `1` or `true`.
    is_key: bool,
}

impl YamlNodeSeed<'_> {
    /// Returns the number of the current sequence or mapping as its place. Returns an error if this is the node whose
    /// position is to be found.
    fn collection<E: Error>(self) -> Result<YamlNodePlace, E> {
        let number = self.pass.count.replace(self.pass.count.get() + 1);
        if self.pass.rejected == Some(number) {
            Err(E::custom(REJECTED))
        } else {
            Ok(YamlNodePlace::Collection(number))
        }
    }

    /// Stores the scalar in `pass` and returns an error. `serde_yaml` adds the position of the scalar to this error.
    fn scalar<E: Error>(self, scalar: YamlScalar) -> Result<YamlNode, E> {
        let (text, value) = match scalar {
            YamlScalar::Null => (None, Some(Value::Undefined)),
            YamlScalar::Boolean(is) => (Some(is.to_string()), Some(Value::Boolean(is))),
            YamlScalar::Integer(integer) => (Some(integer.to_string()), Some(Value::Integer(integer))),
            // A too large integer is not an error here, because the setting may be an expression. In this case the
            // parser of expressions reports the integer.
            YamlScalar::LargeInteger(integer) => (Some(integer), None),
            YamlScalar::Real(real) => (Some(format!("{real:?}")), Some(Value::Real(real))),
            YamlScalar::Text(text) => (Some(text.to_owned()), Some(Value::string(text))),
        };
        let content = text.map_or(YamlContent::Null, YamlContent::Scalar);
        self.pass.scalar.set(Some(YamlNode { place: YamlNodePlace::Position(1, 1), content, value }));
        Err(E::custom(REJECTED))
    }
}

impl<'de> DeserializeSeed<'de> for YamlNodeSeed<'_> {
    type Value = YamlNode;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<YamlNode, D::Error> {
        let result = if self.is_key { deserializer.deserialize_str(self) } else { deserializer.deserialize_any(self) };
        match (result, self.pass.scalar.take()) {
            (Err(error), Some(scalar)) => {
                Ok(YamlNode { place: location(&error.to_string()).unwrap_or(scalar.place), ..scalar })
            }
            (result, _) => result,
        }
    }
}

impl<'de> Visitor<'de> for YamlNodeSeed<'_> {
    type Value = YamlNode;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a setting")
    }

    visit_scalars!();

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<YamlNode, A::Error> {
        let place = self.collection()?;
        let mut elements = Vec::new();
        while let Some(element) = sequence.next_element_seed(self)? {
            elements.push(element);
        }
        Ok(YamlNode { place, content: YamlContent::Sequence(elements), value: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut mapping: A) -> Result<YamlNode, A::Error> {
        let place = self.collection()?;
        let mut entries = Vec::new();
        while let Some(key) = mapping.next_key_seed(YamlNodeSeed { is_key: true, ..self })? {
            entries.push((key, mapping.next_value_seed(self)?));
        }
        Ok(YamlNode { place, content: YamlContent::Mapping(entries), value: None })
    }

    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<YamlNode, A::Error> {
        let (tag, content): (String, _) = tagged.variant()?;
        if tag == super::EXPRESSION {
            return content.newtype_variant_seed(self).map(|node| YamlNode { value: None, ..node });
        }
        self.pass.rejection.set(Some(format!("there is no tag `!{tag}`")));
        Err(A::Error::custom("a tag"))
    }
}

#[cfg(test)]
mod tests {
    use super::{YamlContent, YamlNode, YamlTree};

    fn all<'n>(node: &'n YamlNode, into: &mut Vec<&'n YamlNode>) {
        into.push(node);
        match &node.content {
            YamlContent::Sequence(elements) => elements.iter().for_each(|element| all(element, into)),
            YamlContent::Mapping(entries) => entries.iter().for_each(|(key, value)| {
                all(key, into);
                all(value, into);
            }),
            YamlContent::Null | YamlContent::Scalar(_) => {}
        }
    }

    #[test]
    fn every_scalar_stands_where_it_is_written() {
        let text = "# é\nroots: Type == \"Job\"\norder:\n  - -UserPrio\n  - 'it''s é'\nk: [ 1, true, ~, \"a\\tb\" ]\n\
                    é: { x: 1.5 }\n";
        let outline = YamlTree::parse(text.as_bytes()).unwrap();
        let mut nodes = Vec::new();
        all(&outline.root, &mut nodes);
        let shown: Vec<&str> =
            nodes.iter().filter(|node| node.text().is_some()).map(|node| &text[outline.range(node)]).collect();
        assert_eq!(
            shown,
            [
                "roots",
                "Type == \"Job\"",
                "order",
                "-UserPrio",
                "'it''s é'",
                "k",
                "1",
                "true",
                "\"a\\tb\"",
                "é",
                "x",
                "1.5"
            ]
        );
    }

    #[test]
    fn every_node_begins_where_it_is_written() {
        let text = "a: &x 1\nb: *x\nc: !expr 'x'\n? d\n: [ ~, '', \"e\", { f: , g: |\n    h\n  } ]\n"
            .replace("|\n    h\n  ", "h ");
        let text = text + "i:\nj:\n- k\n-\n- l: !expr m\n  1.5: -0x1\n  n: >-\n    o\n    p\n";
        let outline = YamlTree::parse(text.as_bytes()).unwrap();
        let mut nodes = Vec::new();
        all(&outline.root, &mut nodes);
        for node in nodes {
            let start = outline.start(node);
            let rest = &text[start..];
            assert!(match &node.content {
                YamlContent::Null => true,
                YamlContent::Scalar(scalar) =>
                    rest.starts_with(scalar) || rest.starts_with(['&', '!', '\'', '"', '>', '-']),
                YamlContent::Sequence(_) => rest.starts_with(['[', '-']),
                YamlContent::Mapping(entries) => rest.starts_with('{') || outline.start(&entries[0].0) == start,
            });
        }
    }

    #[test]
    fn what_is_no_yaml_has_a_place() {
        for (text, at, words) in [
            ("a: b: c", 4, "mapping values"),
            ("a: !x 1", 3, "there is no tag `!x`"),
            ("a: 1\n[ a ]: 1", 5, "a key must be text"),
            ("a: 1\n---\nb: 2", 5, "a second document"),
        ] {
            let problem = YamlTree::parse(text.as_bytes()).unwrap_err();
            assert!(problem.message.contains(words), "{text}: {}", problem.message);
            assert_eq!(problem.range.start, at, "{text}");
            assert!(problem.help.is_some(), "{text}");
        }
    }
}
