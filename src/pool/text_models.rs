//! Models of ads that are read by their texts: their expressions without their constants.
//!
//! Bench row `refs --count machines.long`: without the models, it takes 2.8 times as long, and `check machines.long`
//! 1.4 times.

use std::sync::Arc;

use crate::ad::{Ad, AdShape, Bounded, ByIdentity, Dialect, Expression};
use crate::format::AdText;

use super::constants::is_constant;
use super::value_codes::{CodeReader, ScalarKind};

/// Reads ads by their texts. An ad differs from the last ad of its shape in few expressions, so that only these are
/// exchanged in a model of the ad. Constants are read on demand.
pub struct AdTextModels<S = ()> {
    reader: CodeReader,
    /// The generation of the codes in `models`.
    generation: usize,
    models: Bounded<ByIdentity<Arc<AdShape>, AdModel<S>>>,
}

/// The last ad of a shape, without its constants.
pub struct AdModel<S = ()> {
    /// The codes of the values, as [`CodeReader::words`] returns them.
    pub(super) words: Vec<u64>,
    /// The ad, with other constants.
    pub ad: Ad,
    /// The positions of the attributes that are not constants, ascending.
    pub expressions: Vec<usize>,
    /// What is kept for the shape.
    pub(super) of_shape: S,
}

/// An ad that was read by its text.
pub struct ModelledAd<'m, S = ()> {
    /// Length of the text of the ad, in bytes. In the long form, the blank line after the ad counts.
    pub length: usize,
    /// The model of the ad. A caller must undo its changes.
    pub model: &'m mut AdModel<S>,
    /// Whether the ad may have other expressions than the last ad of its shape.
    pub(super) is_changed: bool,
    text: &'m [u8],
    reader: &'m CodeReader,
}

impl<S: Default> AdTextModels<S> {
    /// Creates a reader of ads of a dialect. `ignores_strings` tells whether expressions count as the same that differ
    /// only in strings that have no influence on references.
    #[must_use]
    pub fn new(dialect: Dialect, ignores_strings: bool) -> Self {
        AdTextModels { reader: CodeReader::new(dialect, ignores_strings), generation: 0, models: Bounded::default() }
    }

    /// Counts bytes that were added to what is kept for shapes.
    pub(super) fn grow(&mut self, bytes: usize) {
        self.models.grow(bytes);
    }

    /// Reads the first ad of a text. `None` if the ad cannot be read attribute by attribute.
    pub fn read<'m>(&'m mut self, text: AdText<'m>) -> Option<ModelledAd<'m, S>> {
        let AdTextModels { reader, generation, models } = self;
        let (length, shape) = reader.read(text)?;
        if *generation != reader.generation() || models.is_full() {
            *generation = reader.generation();
            models.forget();
        }
        let bytes = shape.names().len() * (size_of::<Expression>() + size_of::<u32>());
        let model = models.get_or_insert_with(&shape, bytes, || AdModel::new(&shape, reader));
        let is_changed = model.update(reader);
        Some(ModelledAd { length, model, is_changed, text: text.bytes, reader })
    }
}

impl<S: Default> AdModel<S> {
    fn new(shape: &Arc<AdShape>, reader: &CodeReader) -> Self {
        let positions = 0..shape.names().len();
        let expressions: Vec<Expression> = positions.map(|position| reader.expression(position).clone()).collect();
        let is_expression = |(_, expression): &(usize, &Expression)| !is_constant(expression);
        let found = expressions.iter().enumerate().filter(is_expression).map(|(position, _)| position).collect();
        let ad = Ad::from_shape(Arc::clone(shape), expressions);
        AdModel { words: reader.words().collect(), ad, expressions: found, of_shape: S::default() }
    }

    /// Takes over the expressions of the last ad, which has this shape. Returns whether the model may have changed.
    fn update(&mut self, reader: &CodeReader) -> bool {
        let mut values: Vec<(usize, Expression)> = Vec::new();
        for (index, (known, word)) in self.words.iter_mut().zip(reader.words()).enumerate() {
            if *known != word {
                *known = word;
                let positions = (2 * index..2 * index + 2).take_while(|position| *position < self.ad.len());
                values.extend(positions.map(|position| (position, reader.expression(position).clone())));
            }
        }
        if values.is_empty() {
            return false;
        }
        self.ad.exchange(&mut values);
        for (position, _) in &values {
            match (self.expressions.binary_search(position), is_constant(&self.ad.expressions()[*position])) {
                (Ok(place), true) => {
                    self.expressions.remove(place);
                }
                (Err(place), false) => self.expressions.insert(place, *position),
                _ => {}
            }
        }
        true
    }
}

impl<S> ModelledAd<'_, S> {
    /// Returns the value of an attribute of the ad. `position` is its 0-based index. `None` if the value has an error,
    /// which cannot be.
    #[must_use]
    pub fn value(&self, position: usize) -> Option<Expression> {
        self.reader.value(self.text, position)
    }

    /// Returns the kind of the value of an attribute of the ad. `position` is its 0-based index.
    #[must_use]
    pub fn kind(&self, position: usize) -> ScalarKind {
        self.reader.kind(position)
    }
}
