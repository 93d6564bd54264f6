//! Counting of ads for a census. A counter runs in one thread; the parts that it counts are merged.
//!
//! No bench row falls without the cache of texts: `census` of the bracketed form takes 1.02 times as many instructions.

use std::collections::VecDeque;
use std::hash::BuildHasherDefault;
use std::mem::take;

use indexmap::IndexSet;
use rustc_hash::FxHasher;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ad::{Ad, Bounded, ByIdentity, ByteString, Expression, ExpressionKind, Name, ShapeTable};
use crate::syntax::{Style, print_into, print_name};

use super::summary::{AttributeSummary, ValueMeasures};
use super::value_sample::{MAX_TEXT_BYTES, ValueSample, text_hash};

/// Maximum depth of nested ads whose attributes are counted.
pub(super) const MAX_NESTED_LEVELS: usize = 8;

/// Maximum length in bytes of the path of a nested ad whose attributes are counted. The name of each attribute repeats
/// the path, so that longer paths would take too much memory.
const MAX_PATH_BYTES: usize = 256;

/// The attributes that a census counts, and those whose values it records.
#[derive(Clone, Debug)]
pub(super) struct CensusScope {
    /// The attributes whose values are recorded; `None` if those of all attributes that are not private are.
    names: Option<IndexSet<Name, BuildHasherDefault<FxHasher>>>,
    /// Whether the attributes of nested ads are counted.
    pub has_nested: bool,
}

impl CensusScope {
    pub(super) fn of_all_values() -> Self {
        CensusScope { names: None, has_nested: false }
    }

    pub(super) fn of_values(names: impl IntoIterator<Item = Name>) -> Self {
        CensusScope { names: Some(names.into_iter().collect()), has_nested: false }
    }

    /// Whether the values of an attribute are recorded.
    pub(super) fn has_values_of(&self, name: &Name) -> bool {
        self.names.as_ref().map_or(!name.is_private(), |names| names.contains(name))
    }
}

/// Counts ads for a [`super::Census`].
///
/// Ads that follow each other share most of their expressions. An expression that is the last one of its name
/// increments a number; it is measured and printed once for all ads that follow each other with it.
#[derive(Clone, Debug)]
pub struct CensusCounter {
    pub(super) scope: CensusScope,
    ads: usize,
    attributes: ShapeTable<Name, CountedAttribute>,
    /// Indices in `attributes` of those that the part counted so far has, in the order of first appearance.
    touched: Vec<usize>,
    /// Texts of operations, lists and ads with their hashes.
    texts: TextCache,
    /// Number of times that the names got new indices.
    generation: usize,
}

/// What a [`CensusCounter`] or a [`super::Census`] has counted: a number of ads that follow each other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CensusPart {
    pub(super) ads: usize,
    /// The attributes in the order of first appearance.
    pub(super) attributes: Vec<PartAttribute>,
}

/// One attribute of the ads of a [`CensusPart`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PartAttribute {
    pub(super) name: Name,
    /// Number of ads that have it.
    pub(super) ads: usize,
    pub(super) measures: ValueMeasures,
    /// The values in the order of the ads. Values that are equal may be listed several times.
    pub(super) values: Vec<PartValue>,
    /// The texts of the values, one after the other.
    #[serde(serialize_with = "write_bytes", deserialize_with = "read_bytes")]
    pub(super) texts: Vec<u8>,
}

/// A value of one or more ads that follow each other.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct PartValue {
    pub(super) hash: u64,
    /// The end of the text of the value, as a byte offset in [`PartAttribute::texts`].
    pub(super) end: usize,
    /// Number of ads that have the value.
    pub(super) ads: usize,
}

#[derive(Clone, Debug)]
struct CountedAttribute {
    has_values: bool,
    /// The expression of the last ad with the attribute.
    last: Option<Expression>,
    /// Offset in the texts of `part` at which the value of the last ad with the attribute begins, if that is a plain
    /// literal. The text goes to the end.
    last_literal: Option<usize>,
    /// Number of ads that have `last` or `last_literal` and are not in `part` yet.
    run: usize,
    part: PartAttribute,
}

/// Texts of expressions with their hashes.
type TextCache = Bounded<ByIdentity<Expression, (u64, Box<[u8]>)>>;

impl CensusCounter {
    pub(super) fn new(scope: CensusScope) -> Self {
        CensusCounter {
            scope,
            ads: 0,
            attributes: ShapeTable::default(),
            touched: Vec::new(),
            texts: TextCache::default(),
            generation: 0,
        }
    }

    /// Counts an ad.
    pub fn add(&mut self, ad: &Ad) {
        self.ads += 1;
        if self.scope.has_nested {
            return self.add_nested(ad);
        }
        let attributes = self.attributes.numbers(ad.shape(), |name| CountedAttribute::new(name, &self.scope));
        for (attribute, expression) in attributes.iter().zip(ad.expressions()) {
            self.count(*attribute, expression);
        }
    }

    fn add_nested(&mut self, ad: &Ad) {
        let mut pending = VecDeque::from([(String::new(), ad, 0)]);
        while let Some((path, ad, depth)) = pending.pop_front() {
            for attribute in ad.iter() {
                let path = format!("{path}{}", print_name(attribute.name));
                let index = self.attribute_of(&Name::new(&path));
                self.count(index, attribute.expression);
                if depth < MAX_NESTED_LEVELS
                    && path.len() <= MAX_PATH_BYTES
                    && let ExpressionKind::Ad(inner) = attribute.expression.without_parentheses().kind()
                {
                    pending.push_back((path + ".", inner, depth + 1));
                }
            }
        }
    }

    /// Counts the expression that one more ad binds to an attribute.
    #[inline]
    pub(super) fn count(&mut self, index: usize, expression: &Expression) {
        let attribute = &mut self.attributes[index];
        if attribute.run > 0 {
            let is_same = attribute.last.as_ref().is_some_and(|last| last.ptr_eq(expression));
            if is_same || !attribute.has_values {
                attribute.run += 1;
                return;
            }
            attribute.end_run(&mut self.texts);
        } else if attribute.part.ads == 0 {
            self.touched.push(index);
        }
        attribute.run = 1;
        if attribute.has_values {
            attribute.last = Some(expression.clone());
        }
    }

    /// Counts the value that one more ad gives to an attribute, as [`CensusCounter::count`] does. The value is a
    /// [plain literal](crate::syntax::LiteralText::is_plain).
    #[inline]
    pub(super) fn count_literal(&mut self, index: usize, literal: &[u8]) {
        let attribute = &mut self.attributes[index];
        if attribute.run > 0 {
            let texts = &attribute.part.texts;
            if attribute.last_literal.is_some_and(|start| texts[start..] == *literal) || !attribute.has_values {
                attribute.run += 1;
                return;
            }
            attribute.end_run(&mut self.texts);
        } else if attribute.part.ads == 0 {
            self.touched.push(index);
        }
        attribute.run = 1;
        if attribute.has_values {
            attribute.last_literal = Some(attribute.part.texts.len());
            attribute.part.texts.extend_from_slice(literal);
        }
    }

    /// Counts one more ad with the value that an attribute had in the last ad with it. Returns whether this value is known.
    #[inline]
    pub(super) fn repeat(&mut self, index: usize) -> bool {
        let run = &mut self.attributes[index].run;
        let is_known = *run > 0;
        *run += usize::from(is_known);
        is_known
    }

    /// Counts an ad whose attributes are counted one by one.
    pub(super) fn count_ad(&mut self) {
        self.ads += 1;
    }

    /// Returns the number of times that the names got new indices.
    pub(super) fn generation(&self) -> usize {
        self.generation
    }

    /// Returns what was counted since the last call.
    pub fn take(&mut self) -> CensusPart {
        let mut attributes = Vec::with_capacity(self.touched.len());
        for index in take(&mut self.touched) {
            let attribute = &mut self.attributes[index];
            attribute.end_run(&mut self.texts);
            // The next part most likely has as many values.
            let mut empty = PartAttribute::new(attribute.part.name.clone());
            empty.values.reserve_exact(attribute.part.values.len());
            empty.texts.reserve_exact(attribute.part.texts.len());
            attributes.push(std::mem::replace(&mut attribute.part, empty));
        }
        self.generation += usize::from(self.attributes.forget_if_large());
        CensusPart { ads: take(&mut self.ads), attributes }
    }

    /// Returns the index in `attributes` of a name.
    pub(super) fn attribute_of(&mut self, name: &Name) -> usize {
        self.attributes.number(name, || CountedAttribute::new(name, &self.scope))
    }
}

impl CensusPart {
    /// Number of ads counted.
    #[must_use]
    pub fn ads(&self) -> usize {
        self.ads
    }
}

/// Writes bytes as a text if they are UTF-8.
fn write_bytes<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    ByteString::from(bytes).serialize(serializer)
}

fn read_bytes<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    Ok(ByteString::deserialize(deserializer)?.as_bytes().to_vec())
}

impl PartAttribute {
    fn new(name: Name) -> Self {
        PartAttribute { name, ads: 0, measures: ValueMeasures::default(), values: Vec::new(), texts: Vec::new() }
    }

    /// Returns all values of a summary.
    pub(super) fn of_summary(name: &Name, summary: &AttributeSummary) -> Self {
        let (ads, measures) = (summary.ads(), summary.measures());
        let mut attribute = PartAttribute { ads, measures, ..PartAttribute::new(name.clone()) };
        for (hash, text, ads) in summary.sample().into_iter().flat_map(ValueSample::iter) {
            attribute.texts.extend_from_slice(text);
            attribute.values.push(PartValue { hash, end: attribute.texts.len(), ads });
        }
        attribute
    }
}

impl CountedAttribute {
    fn new(name: &Name, scope: &CensusScope) -> Self {
        let (has_values, part) = (scope.has_values_of(name), PartAttribute::new(name.clone()));
        CountedAttribute { has_values, last: None, last_literal: None, run: 0, part }
    }

    /// Adds the ads that follow each other with one expression to the part.
    fn end_run(&mut self, texts: &mut TextCache) {
        let ads = take(&mut self.run);
        self.part.ads += ads;
        let last = self.last.take();
        let part = &mut self.part;
        let hash = if let Some(start) = self.last_literal.take() {
            part.measures.add_plain_literal(&part.texts[start..], ads);
            hash_and_cut(&mut part.texts, start)
        } else if let Some(expression) = last {
            let expression = expression.without_parentheses();
            part.measures.add(expression, ads);
            push_text(expression, texts, &mut part.texts)
        } else {
            return;
        };
        part.values.push(PartValue { hash, end: part.texts.len(), ads });
    }
}

/// Appends the text of an expression. Returns the hash of the text.
fn push_text(expression: &Expression, known: &mut TextCache, texts: &mut Vec<u8>) -> u64 {
    if matches!(expression.kind(), ExpressionKind::Literal(_)) {
        return push_value_text(expression, texts);
    }
    if let Some((hash, text)) = known.get(expression) {
        texts.extend_from_slice(text);
        return *hash;
    }
    let start = texts.len();
    let hash = push_value_text(expression, texts);
    let text = &texts[start..];
    known.get_or_insert_with(expression, text.len(), || (hash, text.into()));
    hash
}

/// Appends the text of an expression, cut if it is long. Returns the hash of the whole text.
fn push_value_text(expression: &Expression, texts: &mut Vec<u8>) -> u64 {
    let start = texts.len();
    print_into(expression, Style::New, texts);
    if str::from_utf8(&texts[start..]).is_err() {
        let text = String::from_utf8_lossy(&texts[start..]).into_owned();
        texts.truncate(start);
        texts.extend_from_slice(text.as_bytes());
    }
    hash_and_cut(texts, start)
}

/// Cuts the text that begins at `start` if it is long. Returns the hash of the whole text.
fn hash_and_cut(texts: &mut Vec<u8>, start: usize) -> u64 {
    let hash = text_hash(&texts[start..]);
    if texts.len() - start > MAX_TEXT_BYTES {
        let is_boundary = |at: &usize| texts[start + at] & 0b1100_0000 != 0b1000_0000;
        let length = (0..=MAX_TEXT_BYTES).rev().find(is_boundary).unwrap_or_default();
        texts.truncate(start + length);
        texts.extend_from_slice("…".as_bytes());
    }
    hash
}
