//! Texts of whole ads in any format, with a cache of the texts of their attributes.
//!
//! No bench row falls without the texts of operations: `convert` of the bracketed form takes 1.07 times as many
//! instructions, of JSON Lines 1.01 times.

use crate::ad::{Ad, Bounded, ByIdentity, Expression, Name, ShapeTable};
use crate::syntax::LossyChange;

use super::ad_syntax::{AdSyntax, LossyChanges};
use super::{FileFormat, bracketed, json, long, xml, yaml};

/// Returns how a format writes an ad.
pub fn syntax_of(form: FileFormat) -> &'static AdSyntax {
    match form {
        // Nothing writes logs. Ads that were read from one are written in the long form.
        FileFormat::Long | FileFormat::EventLog | FileFormat::JobQueueLog | FileFormat::Submit | FileFormat::Dag => {
            &long::SYNTAX
        }
        FileFormat::Bracketed => &bracketed::SYNTAX,
        FileFormat::Json | FileFormat::JsonLines => &json::SYNTAX,
        FileFormat::Xml => &xml::SYNTAX,
        FileFormat::Yaml => &yaml::SYNTAX,
    }
}

/// Writer of ads in one format, with the same result as [`AdSyntax::push_ad`].  It copies the text of an attribute that was written before.
///
/// Ads that were read from one source share most of their expressions.  So the identity of an expression tells that its
/// text is known.
pub struct AdTextWriter {
    syntax: &'static AdSyntax,
    /// The attributes that were written, by the spelling of the name.
    written: ShapeTable<Box<str>, WrittenAttribute>,
    /// Texts of operations.
    expressions: Bounded<ByIdentity<Expression, Box<[u8]>>>,
}

/// An attribute as it was written last.
struct WrittenAttribute {
    /// The name and the value.
    text: Vec<u8>,
    /// Length of the part of `text` before the value, in bytes.
    name_length: usize,
    /// The expression whose value is in `text`.  `None` if the text cannot be used again.
    expression: Option<Expression>,
}

impl AdTextWriter {
    /// Creates a writer of ads in the form `form`, which remembers texts from ad to ad.
    pub fn new(form: FileFormat) -> Self {
        AdTextWriter { syntax: syntax_of(form), written: ShapeTable::default(), expressions: Bounded::default() }
    }

    /// Appends the text of an ad.  Returns the changes to values that the format cannot represent, each with the name
    /// of the attribute.
    pub fn push_ad(&mut self, ad: &Ad, text: &mut Vec<u8>) -> LossyChanges {
        let mut changes = Vec::new();
        if ad.is_empty() {
            text.extend_from_slice(self.syntax.empty.as_bytes());
            return changes;
        }
        self.written.forget_if_large();
        let attributes = self.written.numbers(ad.shape(), |name| WrittenAttribute::new(name, self.syntax));
        text.extend_from_slice(self.syntax.begin.as_bytes());
        for (position, (attribute, expression)) in attributes.iter().zip(ad.expressions()).enumerate() {
            text.extend_from_slice(if position > 0 { self.syntax.separator } else { "" }.as_bytes());
            let is_written =
                self.written[*attribute].expression.as_ref().is_some_and(|written| written.ptr_eq(expression));
            if !is_written {
                let lost = self.write_attribute(*attribute, expression);
                changes.extend(lost.into_iter().map(|change| (ad.shape().names()[position].clone(), change)));
            }
            text.extend_from_slice(&self.written[*attribute].text);
        }
        text.extend_from_slice(self.syntax.end.as_bytes());
        changes
    }

    /// Writes an attribute with another expression than before.  Returns the changes to its value.
    fn write_attribute(&mut self, attribute: usize, expression: &Expression) -> Vec<LossyChange> {
        let written = &mut self.written[attribute];
        written.text.truncate(written.name_length);
        let is_operation = !expression.kind().is_scalar();
        if is_operation && let Some(known) = self.expressions.get(expression) {
            written.text.extend_from_slice(known);
            written.expression = Some(expression.clone());
            return Vec::new();
        }
        let changes = (self.syntax.push_value)(expression, &mut written.text);
        // A text with changes is written again for each ad, so that the changes are reported for each ad.
        written.expression = changes.is_empty().then(|| expression.clone());
        if is_operation && changes.is_empty() {
            let text = &written.text[written.name_length..];
            self.expressions.make_room(text.len());
            self.expressions.insert(expression.clone(), text.into());
        }
        changes
    }
}

impl WrittenAttribute {
    fn new(name: &Name, syntax: &AdSyntax) -> Self {
        let mut text = Vec::new();
        (syntax.push_name)(name, &mut text);
        WrittenAttribute { name_length: text.len(), text, expression: None }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{AdTextWriter, syntax_of};
    use crate::ad::{Ad, Dialect, Expression, Name};
    use crate::format::FileFormat;
    use crate::syntax::{ParseOptions, parse_expression};

    proptest! {
        #[test]
        fn copied_texts_are_those_that_would_be_written(
            ads in prop::collection::vec(prop::collection::vec((0_usize..5, 0_usize..9), 0..6), 0..12),
        ) {
            let names = ["a", "A", "b c", "true", "c"].map(Name::new);
            let values = [
                "1", "2.5", "\"x\"", "\"x\ny\"", "a + 1", "{ 1, [ a = 1 ] }", "a =?= \"\\\\\"", "undefined",
                "{ \"\\\\\", 1 }",
            ];
            let options = ParseOptions::new(Dialect::Condor);
            let values = values.map(|text| parse_expression(text.as_bytes(), options).expect(text));
            let attribute = |(name, value): &(usize, usize)| (names[*name].clone(), values[*value].clone());
            let ads: Vec<Ad> = ads.iter().map(|ad| ad.iter().map(attribute).collect()).collect();
            // Some ads share the shape of the ad before.
            let one = Expression::literal(1_i64);
            let ads: Vec<Ad> = ads.into_iter().flat_map(|ad| [ad.clone(), ad.with(names[0].clone(), one.clone())]).collect();
            for form in [
                FileFormat::Long, FileFormat::Bracketed, FileFormat::JsonLines, FileFormat::Xml, FileFormat::Yaml,
            ] {
                let mut writer = AdTextWriter::new(form);
                for ad in &ads {
                    let (mut copied, mut written) = (Vec::new(), Vec::new());
                    let changes = [writer.push_ad(ad, &mut copied), syntax_of(form).push_ad(ad, &mut written)];
                    prop_assert_eq!(&changes[0], &changes[1]);
                    prop_assert_eq!(copied, written);
                }
            }
        }
    }
}
