//! Ads whose values are read on demand. The texts of values that do not change are copied.
//!
//! Bench row `transform --set A=1 machines.long`: 1.05 times as many instructions without the ads of placeholders.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::ad::{Ad, AdShape, Bounded, ByIdentity, Dialect, Expression, Value};

use super::FileFormat;
use super::ad_syntax::AdSyntax;
use super::ad_text::syntax_of;
use super::attribute_form::AdText;
use super::attribute_text_reader::AttributeTextReader;
use super::transcriber::AttributeTranscriber;

/// Reader of ads whose values are read on demand.
pub(crate) struct LazyAdReader {
    /// How the form of the output writes ads. `None` if nothing is written.
    syntax: Option<&'static AdSyntax>,
    attributes: AttributeTextReader<AttributeTranscriber>,
    /// The text of the last ad in the form of the output.
    text: Vec<u8>,
    /// Expressions that stand for the values of an ad, by the position of the attribute.
    placeholders: Vec<Expression>,
    /// The position of each placeholder.
    positions: ByIdentity<Expression, usize>,
    /// The ads of placeholders, by the shape.
    ads: Bounded<ByIdentity<Arc<AdShape>, Ad>>,
}

/// An ad whose values are read on demand.
pub(crate) struct LazyAd<'r> {
    reader: &'r LazyAdReader,
    /// The ad, with a placeholder for each value.
    pub ad: Ad,
    /// The text of the ad.
    source: &'r [u8],
    /// The values that were read, by the position of the attribute. Empty as long as none was.
    values: RefCell<Vec<Option<Expression>>>,
    depends_on_values: Cell<bool>,
}

/// How to write an ad that was made of an [`LazyAd`]. It also serves other ads of the same shape.
pub(crate) struct AdTextPlan(Vec<TextPiece>);

/// A part of the text of an ad.
enum TextPiece {
    /// A text of its own.
    New(Vec<u8>),
    /// Copied texts of successive attributes: the positions of the first and the last one, and the number of bytes that
    /// are left out at the beginning.
    Copied { first: usize, last: usize, skipped: usize },
}

impl LazyAdReader {
    /// Creates a reader of ads of a dialect, which are written in a form. Without a form, nothing is written.
    pub fn new(dialect: Dialect, form: Option<FileFormat>) -> Self {
        LazyAdReader {
            syntax: form.map(syntax_of),
            attributes: AttributeTranscriber::reader(dialect, form),
            text: Vec::new(),
            placeholders: Vec::new(),
            positions: ByIdentity::default(),
            ads: Bounded::default(),
        }
    }

    /// Reads the first ad of a text. Returns it with its length, as [`AttributeTextReader::push_ad`] does. `None` if the
    /// ad cannot be read attribute by attribute, or if the form cannot represent one of its values.
    pub fn read<'r>(&'r mut self, text: AdText<'r>) -> Option<(LazyAd<'r>, usize)> {
        self.attributes.clear_if_large();
        self.text.clear();
        let (length, shape) = self.attributes.push_ad(text, &mut self.text)?;
        let count = shape.names().len();
        while self.placeholders.len() < count {
            let placeholder = Expression::literal(false);
            self.positions.insert(placeholder.clone(), self.placeholders.len());
            self.placeholders.push(placeholder);
        }
        let new = || Ad::from_shape(Arc::clone(&shape), self.placeholders[..count].to_vec());
        let ad = self.ads.get_or_insert_with(&shape, count * size_of::<Expression>(), new).clone();
        let values = RefCell::default();
        Some((
            LazyAd { reader: self, ad, source: &text.bytes[..length], values, depends_on_values: Cell::new(false) },
            length,
        ))
    }
}

impl LazyAd<'_> {
    /// Whether an expression stands for a value of the ad.
    pub fn is_placeholder(&self, expression: &Expression) -> bool {
        self.position(expression).is_some()
    }

    /// Returns the value that an expression stands for. Any other expression stands for itself.
    pub fn value(&self, expression: &Expression) -> Expression {
        let Some(position) = self.position(expression) else { return expression.clone() };
        self.depends_on_values.set(true);
        let mut values = self.values.borrow_mut();
        values.resize(self.ad.len(), None);
        values[position].get_or_insert_with(|| self.read_value(position)).clone()
    }

    /// Returns the value that an expression stands for, if that value was read. Any other expression stands for itself.
    pub fn known_value(&self, expression: &Expression) -> Expression {
        let known = self.position(expression).and_then(|position| self.values.borrow().get(position)?.clone());
        known.unwrap_or_else(|| expression.clone())
    }

    /// Records that the result for this ad depends on more than its shape. Another ad of the shape may have another result.
    pub fn set_depends_on_values(&self) {
        self.depends_on_values.set(true);
    }

    /// Whether the result for this ad depends on more than its shape.
    pub fn depends_on_values(&self) -> bool {
        self.depends_on_values.get()
    }

    fn position(&self, expression: &Expression) -> Option<usize> {
        self.reader.positions.get(expression).copied()
    }

    fn read_value(&self, position: usize) -> Expression {
        let value = self.reader.attributes.value(self.source, position);
        // The attribute was read without an error before.
        value.unwrap_or_else(|| Expression::literal(Value::Undefined))
    }

    /// Plans the text of an ad that was made of this ad, in the form of the output. `None` if the form cannot represent
    /// one of the new values, or if an attribute is private.
    pub fn plan_text(&self, ad: &Ad) -> Option<AdTextPlan> {
        let mut plan = AdTextPlan(Vec::new());
        let Some(syntax) = self.reader.syntax else { return Some(plan) };
        if ad.is_empty() {
            plan.push_new(syntax.empty.as_bytes());
            return Some(plan);
        }
        let names = self.ad.shape().names();
        if ad.identity() == self.ad.identity() {
            let whole = TextPiece::Copied { first: 0, last: names.len() - 1, skipped: 0 };
            plan.0.extend([whole, TextPiece::New(syntax.end.as_bytes().to_vec())]);
            return Some(plan);
        }
        let beginning = |at: usize| if at == 0 { syntax.begin } else { syntax.separator };
        let mut text = Vec::new();
        for (at, attribute) in ad.iter().enumerate() {
            if attribute.name.is_private() {
                return None;
            }
            let position = self.position(attribute.expression);
            if let Some(position) = position
                && names[position].as_str() == attribute.name.as_str()
            {
                if (at == 0) == (position == 0) {
                    plan.push_copied(position, 0);
                } else {
                    plan.push_new(beginning(at).as_bytes());
                    plan.push_copied(position, beginning(position).len());
                }
                continue;
            }
            text.clear();
            text.extend_from_slice(beginning(at).as_bytes());
            (syntax.push_name)(attribute.name, &mut text);
            let Some(position) = position else {
                if !(syntax.push_value)(attribute.expression, &mut text).is_empty() {
                    return None;
                }
                plan.push_new(&text);
                continue;
            };
            plan.push_new(&text);
            text.clear();
            (syntax.push_name)(&names[position], &mut text);
            plan.push_copied(position, beginning(position).len() + text.len());
        }
        plan.push_new(syntax.end.as_bytes());
        Some(plan)
    }

    /// Returns the length of what [`LazyAd::push_text`] appends.
    pub fn text_length(&self, plan: &AdTextPlan) -> usize {
        plan.0.iter().map(|piece| self.piece(piece).len()).sum()
    }

    fn piece<'p>(&'p self, piece: &'p TextPiece) -> &'p [u8] {
        match piece {
            TextPiece::New(text) => text,
            TextPiece::Copied { first, last, skipped } => {
                let attributes = &self.reader.attributes;
                let start = first.checked_sub(1).map_or(0, |before| attributes.end(before)) + skipped;
                &self.reader.text[start..attributes.end(*last)]
            }
        }
    }

    /// Appends the text of an ad that was made of this ad, or of an ad of the same shape.
    pub fn push_text(&self, plan: &AdTextPlan, out: &mut Vec<u8>) {
        plan.0.iter().for_each(|piece| out.extend_from_slice(self.piece(piece)));
    }
}

impl AdTextPlan {
    fn push_new(&mut self, text: &[u8]) {
        match self.0.last_mut() {
            Some(TextPiece::New(before)) => before.extend_from_slice(text),
            _ => self.0.push(TextPiece::New(text.to_vec())),
        }
    }

    /// Adds the text of the attribute at a position, without its first `skipped` bytes.
    fn push_copied(&mut self, position: usize, skipped: usize) {
        match self.0.last_mut() {
            Some(TextPiece::Copied { last, .. }) if skipped == 0 && *last + 1 == position => *last = position,
            _ => self.0.push(TextPiece::Copied { first: position, last: position, skipped }),
        }
    }
}
