//! The forms in which ads are read attribute by attribute, without expression trees.

use std::borrow::Cow;

use crate::ad::Expression;
use crate::syntax::{LiteralText, ParseCache, ParseOptions, ParsedValue, Style, print};

use super::attribute_text::{AttributeText, ParsedAttribute};
use super::long::{LineKind, LineParser, has_quoted_name, without_carriage_return};
use super::{FileFormat, Problem, json};

/// A form in which ads are read attribute by attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeForm {
    /// A line `name = value` for each attribute. A blank line ends the ad.
    Long,
    /// `"name": value` for each attribute, in braces. Commas separate the attributes.
    Json,
}

/// The text that begins with an ad, and has all that follows.
#[derive(Clone, Copy)]
pub struct AdText<'t> {
    /// The text.
    pub bytes: &'t [u8],
    /// The form of the ad.
    pub form: AttributeForm,
}

/// What a text between two attributes begins with.
pub enum NextText<'t> {
    /// The next attribute.
    Attribute(AttributeText<'t>),
    /// A blank line with this length, in bytes. It ends the ad, unless it is before the ad.
    BlankLine(usize),
}

impl AttributeForm {
    /// Returns the form in which the ads of a file are read. `None` if they can only be read whole.
    pub(super) fn of(form: FileFormat) -> Option<Self> {
        match form {
            FileFormat::Long => Some(AttributeForm::Long),
            FileFormat::Json | FileFormat::JsonLines => Some(AttributeForm::Json),
            _ => None,
        }
    }

    /// Returns the offset of the first attribute in the text of an ad. `None` if the text begins with no ad.
    #[inline]
    pub(super) fn first_attribute(self, text: &[u8]) -> Option<usize> {
        match self {
            AttributeForm::Long => Some(0),
            AttributeForm::Json => text.starts_with(b"{").then_some(1),
        }
    }

    /// Reads to the end of the next attribute. `name_length` returns the length of the text before the value, in bytes,
    /// if it is known. `None` if only the reader of whole ads can tell what follows.
    #[inline]
    pub(super) fn next_text(self, text: &[u8], name_length: impl FnOnce() -> Option<usize>) -> Option<NextText<'_>> {
        match self {
            AttributeForm::Long => {
                // A line that begins with a letter and has an `=` after a name can only be an attribute.
                let known = name_length().filter(|_| text[0].is_ascii_alphabetic());
                let known_length = known.unwrap_or(0);
                let length = known_length + memchr::memchr(b'\n', &text[known_length..])? + 1;
                let content = without_carriage_return(&text[..length - 1]);
                if known.is_some() {
                    return Some(NextText::Attribute(AttributeText { whole: &text[..length], content }));
                }
                match LineKind::of(content.trim_ascii_start()) {
                    LineKind::Blank => Some(NextText::BlankLine(length)),
                    LineKind::Attribute if !has_quoted_name(content) => {
                        Some(NextText::Attribute(AttributeText { whole: &text[..length], content }))
                    }
                    _ => None,
                }
            }
            AttributeForm::Json => json::next_member(text, name_length()).map(NextText::Attribute),
        }
    }

    /// Whether the ad ends with an attribute. `whole` is the text of the attribute.
    #[inline]
    pub(super) fn ends_ad(self, whole: &[u8]) -> bool {
        self == AttributeForm::Json && whole.ends_with(b"}")
    }

    /// Whether a text of an attribute ends with what separates it from the next one. Otherwise it may be only the
    /// beginning of another text.
    #[inline]
    pub(super) fn is_separated(self, whole: &[u8]) -> bool {
        self == AttributeForm::Json || whole.ends_with(b"\n")
    }

    /// Returns the length of the content of an attribute before its value, in bytes. `None` if it does not show the
    /// name: a quoted name in the long form may contain `=`.
    #[inline]
    pub(super) fn value_start(self, content: &[u8]) -> Option<usize> {
        match self {
            AttributeForm::Long => {
                let equals = memchr::memchr(b'=', content).filter(|_| !has_quoted_name(content))?;
                Some(equals + 1)
            }
            AttributeForm::Json => json::member_value_start(content),
        }
    }

    /// Returns the literal that a value is. `None` for another value, and if the language reads the text otherwise.
    #[inline]
    pub(super) fn literal(self, value: &[u8]) -> Option<LiteralText<'_>> {
        LiteralText::of(value).filter(|literal| self == AttributeForm::Long || json::is_literal(literal))
    }

    /// Returns the literal with which a text begins, if the literal is all of a value. Returns the length of the value with
    /// what separates it from the next attribute, too. `None` also if blanks stand behind the value.
    #[inline]
    pub(super) fn literal_at_start(self, text: &[u8]) -> Option<(LiteralText<'_>, usize)> {
        let (literal, rest) = LiteralText::at_start(text)?;
        let value_end = text.len() - rest.len();
        let end = match (self, rest) {
            (AttributeForm::Long, [b'\n', ..]) => value_end + 1,
            (AttributeForm::Long, [b'\r', b'\n', ..]) => value_end + 2,
            (AttributeForm::Json, _) if json::is_literal(&literal) => json::member_end(text, value_end)?,
            _ => return None,
        };
        Some((literal, end))
    }

    /// Parses an attribute. `offset` and `ad_number` are the place of the content, for problems.
    ///
    /// # Errors
    ///
    /// The content does not parse.
    pub(super) fn parse(
        self,
        content: &[u8],
        options: ParseOptions,
        (offset, ad_number): (usize, usize),
    ) -> Result<ParsedAttribute, Problem> {
        match self {
            AttributeForm::Long => LineParser { options, ad_number }.parse_line(offset, content),
            AttributeForm::Json => json::parse_member(content, options.dialect).ok_or_else(|| {
                Problem::error_at(offset..offset + content.len(), ad_number, "this attribute does not parse")
            }),
        }
    }

    /// Parses a value, or returns the cached expression. `owner` is a number for the name. `None`
    /// if the text is not a value.
    pub(super) fn parse_value(
        self,
        value: &[u8],
        owner: usize,
        values: &mut ParseCache<()>,
    ) -> Option<ParsedValue<()>> {
        match self {
            AttributeForm::Long => values.parse(value, owner),
            AttributeForm::Json => {
                let dialect = values.options().dialect;
                values.parse_with(value, owner, || json::parse_value(value, dialect))
            }
        }
    }

    /// Returns the text of a value in the language. `value` is its text in this form.
    pub(super) fn text_in_language<'v>(self, value: &'v [u8], expression: &Expression) -> Cow<'v, [u8]> {
        match self {
            AttributeForm::Long => Cow::Borrowed(value),
            AttributeForm::Json => Cow::Owned(print(expression, Style::Long)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::AttributeForm::{Json, Long};

    #[test]
    fn a_literal_must_be_all_of_a_value() {
        for (form, text, expected) in [
            (Long, " 1\nb = 2\n", Some(("1", 3))),
            (Long, "\"x\"\r\n", Some(("\"x\"", 5))),
            (Long, " 1 \n", None),
            (Long, " 1", None),
            (Long, " 1 + 2\n", None),
            (Json, " 1, \"b\": 2}", Some(("1", 4))),
            (Json, "true}\n", Some(("true", 5))),
            (Json, "TRUE}", None),
            (Json, "-0.5,", None),
            (Json, "\"/Expr(1)/\",", None),
            (Json, "\"\\\"\" ,", Some(("\"\\\"\"", 6))),
            (Json, "1e3,", None),
            (Json, "1", None),
        ] {
            let found = form.literal_at_start(text.as_bytes()).map(|(literal, length)| (literal.text, length));
            assert_eq!(found, expected.map(|(text, length)| (text.as_bytes(), length)), "{form:?} {text}");
        }
    }

    #[test]
    fn a_text_of_an_attribute_may_end_the_ad_or_be_only_a_beginning() {
        for (form, whole, ends_ad, is_separated) in [
            (Long, "a = 1\n", false, true),
            (Long, "a = 1\r\n", false, true),
            (Long, "a = 1", false, false),
            (Long, "a = }", false, false),
            (Json, "\"a\": 1,", false, true),
            (Json, "\"a\": 1}", true, true),
        ] {
            let whole = whole.as_bytes();
            assert_eq!((form.ends_ad(whole), form.is_separated(whole)), (ends_ad, is_separated), "{form:?} {whole:?}");
        }
    }
}
