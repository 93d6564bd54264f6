//! Prediction of attributes.
//!
//! Ads of one source follow each other with the same names in the same order and mostly the same values. So each
//! attribute is predicted from the one before.

use std::ops::{Index, IndexMut};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, AdShape, Expression, Name};

use super::shape_cache::ShapeCache;

/// Maximum length of a text that is kept, in bytes.
const MAX_TEXT_BYTES: usize = 16 * 1024;

/// Predicts each attribute from the one before: its name, and its text if the last attribute of this name was written in
/// the same way. With each name is kept what its reader made of the last attribute.
///
/// Names have numbers from 0 on, in the order of insertion.
pub struct AttributePredictor<P> {
    attributes: Vec<PredictedAttribute<P>>,
    /// Numbers of names, by the text of an attribute before its value.
    by_beginning: FxHashMap<Box<[u8]>, usize>,
    /// Number of the name that is predicted for the next attribute.
    predicted: usize,
    /// Number of the name of the last attribute.
    last: usize,
    /// Number of attributes that were not written as the last one of their name.
    revisions: usize,
    shapes: ShapeCache,
}

/// A name as attributes begin with it, and the attribute that had it last.
struct PredictedAttribute<P> {
    name: Name,
    /// Text of an attribute before its value. Empty if the text does not show where the name ends.
    beginning: Box<[u8]>,
    /// The text of the last attribute with this beginning. Empty if it cannot be used again.
    text: Vec<u8>,
    /// What was made of the last attribute.
    made: P,
    /// Number of the name that followed this name last.
    successor: usize,
    /// Value of `revisions` at the last attribute with this beginning that was written in another way than the one before.
    revision: usize,
}

/// An attribute that is written as the last one of its name.
pub struct RepeatedAttribute<'p, P> {
    /// Number of the name.
    pub number: usize,
    /// Length of the text of the attribute, in bytes.
    pub length: usize,
    /// What was made of the last attribute.
    pub made: &'p P,
}

impl<P> Default for AttributePredictor<P> {
    fn default() -> Self {
        AttributePredictor {
            attributes: Vec::new(),
            by_beginning: FxHashMap::default(),
            predicted: 0,
            last: 0,
            revisions: 0,
            shapes: ShapeCache::default(),
        }
    }
}

impl<P> AttributePredictor<P> {
    /// Reads the first attribute of a text, if it is written as the last one of the predicted name. `None` if the
    /// prediction fails.
    #[inline]
    pub fn read_same(&mut self, text: &[u8]) -> Option<RepeatedAttribute<'_, P>> {
        let number = self.predicted;
        let known = self.attributes.get(number)?;
        if known.text.is_empty() || !text.starts_with(&known.text) {
            return None;
        }
        self.last = number;
        self.predicted = known.successor;
        Some(RepeatedAttribute { number, length: known.text.len(), made: &known.made })
    }

    /// Returns the number of the predicted name, and the length of the text before the value. `None` if `text` does not
    /// begin with the predicted name.
    #[inline]
    pub fn predicted_name(&self, text: &[u8]) -> Option<(usize, usize)> {
        let beginning = &self.attributes.get(self.predicted)?.beginning;
        (!beginning.is_empty() && text.starts_with(beginning)).then_some((self.predicted, beginning.len()))
    }

    /// Returns the number of the name with which a text begins, and the length of the text before the value, which
    /// `length` returns. `None` for a new name.
    #[inline]
    pub fn find(&self, text: &[u8], length: impl FnOnce() -> Option<usize>) -> Option<(usize, usize)> {
        self.predicted_name(text).or_else(|| {
            let length = length()?;
            Some((self.number_of(&text[..length])?, length))
        })
    }

    /// Returns the number of the name with this text before the value. `None` for a new name.
    pub fn number_of(&self, beginning: &[u8]) -> Option<usize> {
        self.by_beginning.get(beginning).copied()
    }

    /// Adds a new name and returns its number. `beginning` is the text of the attribute before its value. `is_clear` says
    /// whether this text alone shows where the name ends.
    pub fn insert(&mut self, beginning: &[u8], is_clear: bool, name: Name, made: P) -> usize {
        let number = self.attributes.len();
        self.by_beginning.insert(beginning.into(), number);
        let beginning = if is_clear { beginning.into() } else { Box::default() };
        self.attributes.push(PredictedAttribute { name, beginning, text: Vec::new(), made, successor: 0, revision: 0 });
        number
    }

    /// Returns the text of an attribute from its value on. `None` if it does not begin with the name with this number, or if
    /// this does not show where the name ends.
    pub fn value_of<'t>(&self, number: usize, text: &'t [u8]) -> Option<&'t [u8]> {
        let beginning = &self.attributes[number].beginning;
        text.strip_prefix(&**beginning).filter(|_| !beginning.is_empty())
    }

    /// Returns the text of the last attribute of a name. Empty if it cannot be used again.
    pub fn text(&self, number: usize) -> &[u8] {
        &self.attributes[number].text
    }

    /// Sets the text of the last attribute of a name. An empty text cannot be used again, and a long one is not kept.
    /// Returns the number of bytes by which the memory has grown.
    pub fn set_text(&mut self, number: usize, text: &[u8]) -> usize {
        let kept = &mut self.attributes[number].text;
        let before = kept.capacity();
        kept.clear();
        if text.len() <= MAX_TEXT_BYTES {
            kept.extend_from_slice(text);
        }
        kept.capacity() - before
    }

    /// Records that the next attribute has the name with this number, and is not written as the last one of this name.
    #[inline]
    pub fn follow(&mut self, number: usize) {
        if let Some(last) = self.attributes.get_mut(self.last) {
            last.successor = number;
        }
        self.last = number;
        self.revisions += 1;
        let attribute = &mut self.attributes[number];
        attribute.revision = self.revisions;
        self.predicted = attribute.successor;
    }

    /// Returns a number for the last attribute of a name. No attribute has the same number that is written otherwise, as
    /// long as [`AttributePredictor::set_text`] is called for each one that is.
    pub fn revision(&self, number: usize) -> usize {
        self.attributes[number].revision
    }

    /// Returns the number of the name of the last attribute.
    pub fn last(&self) -> usize {
        self.last
    }

    /// Returns the name with a number.
    pub fn name(&self, number: usize) -> &Name {
        &self.attributes[number].name
    }

    /// Returns the names in the order of their numbers. A name that attributes begin with in several ways comes several
    /// times.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.attributes.iter().map(|attribute| &attribute.name)
    }

    /// Returns the shape of an ad whose names have these numbers. `None` if a name occurs twice.
    pub fn shape(&mut self, numbers: &[usize]) -> Option<Arc<AdShape>> {
        self.shapes.shape(numbers, |number| self.attributes[number].name.clone())
    }

    /// Returns the ad whose names have these numbers.
    pub fn build_ad(&mut self, numbers: &[usize], expressions: Vec<Expression>) -> Ad {
        match self.shape(numbers) {
            Some(shape) => Ad::from_shape(shape, expressions),
            // A name occurs twice, and its last value counts.
            None => numbers.iter().map(|number| self.name(*number).clone()).zip(expressions).collect(),
        }
    }
}

/// What was made of the last attribute of the name with a number.
impl<P> Index<usize> for AttributePredictor<P> {
    type Output = P;

    fn index(&self, number: usize) -> &P {
        &self.attributes[number].made
    }
}

impl<P> IndexMut<usize> for AttributePredictor<P> {
    fn index_mut(&mut self, number: usize) -> &mut P {
        &mut self.attributes[number].made
    }
}

#[cfg(test)]
mod tests {
    use super::{AttributePredictor, MAX_TEXT_BYTES};
    use crate::ad::Name;

    /// Reads attributes that end with a line end. Returns how each one was found.
    fn read(predictor: &mut AttributePredictor<usize>, text: &str) -> Vec<&'static str> {
        let mut found = Vec::new();
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            if let Some(same) = predictor.read_same(rest) {
                assert_eq!(*same.made, same.length);
                rest = &rest[same.length..];
                found.push("same");
                continue;
            }
            let length = rest.iter().position(|byte| *byte == b'\n').unwrap() + 1;
            let name_length = rest.iter().position(|byte| *byte == b'=').unwrap() + 1;
            let number = if let Some((number, known)) = predictor.predicted_name(rest) {
                assert_eq!(known, name_length);
                found.push("predicted");
                number
            } else if let Some((number, _)) = predictor.find(rest, || Some(name_length)) {
                found.push("known");
                number
            } else {
                found.push("new");
                let name = Name::new(str::from_utf8(&rest[..name_length - 1]).unwrap());
                predictor.insert(&rest[..name_length], true, name, 0)
            };
            predictor.set_text(number, &rest[..length]);
            predictor[number] = length;
            predictor.follow(number);
            rest = &rest[length..];
        }
        found
    }

    #[test]
    fn each_attribute_is_predicted_from_the_one_before() {
        let mut predictor = AttributePredictor::default();
        for (text, expected) in [
            ("a=1\nb=2\nc=3\n", vec!["new", "new", "new"]),
            ("a=1\nb=2\nc=3\n", vec!["same", "same", "same"]),
            ("a=1\nb=4\nc=3\n", vec!["same", "predicted", "same"]),
            ("a=1\nc=3\n", vec!["same", "known"]),
            ("a=1\nc=3\nb=4\n", vec!["same", "same", "known"]),
        ] {
            assert_eq!(read(&mut predictor, text), expected, "{text}");
        }
        assert!(predictor.names().map(Name::as_str).eq(["a", "b", "c"]));
    }

    #[test]
    fn long_texts_are_not_kept() {
        let mut predictor = AttributePredictor::default();
        let number = predictor.insert(b"a=", true, Name::new("a"), ());
        for (length, is_kept) in [(1, true), (MAX_TEXT_BYTES, true), (MAX_TEXT_BYTES + 1, false)] {
            let text = vec![b'x'; length];
            predictor.set_text(number, &text);
            assert_eq!(predictor.read_same(&text).is_some(), is_kept, "{length}");
        }
    }
}
