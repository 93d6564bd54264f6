//! Counting of ads for a census attribute by attribute, without expression trees.
//!
//! Bench row `census machines.long`: it takes 10 times as long if the expressions are forgotten at each new one.

use crate::ad::{Ad, Bounded, Dialect, Expression, Name};
use crate::format::{AdText, AttributeTextReader, AttributeWriter};
use crate::syntax::{LiteralText, read_simple_literal};

use super::census_counter::{CensusCounter, CensusPart};

/// Memory that a remembered value takes beside its text, in bytes.
const VALUE_OVERHEAD_BYTES: usize = 64;

/// Byte with which the number of a value begins. No plain literal begins with it.
const NUMBER_MARK: u8 = 0xff;

/// Counts ads for a [`super::Census`], most of them without expression trees.
///
/// A value that is a plain or a quoted literal is counted by its text. All attributes with the same text of another
/// value share one expression.
pub struct TextCensusCounter {
    counter: CensusCounter,
    reader: AttributeTextReader<ValueTexts>,
    /// The text of the ad that is counted.
    text: Vec<u8>,
    /// The index of the attribute in `counter` by the number of the name in `reader`.
    attributes: Vec<Option<usize>>,
    /// The revision of the text that was counted last, by the index of the attribute in `counter`.
    revisions: Vec<usize>,
    /// The generations of `reader` and `counter` for which `attributes` was made.
    generations: [usize; 2],
}

impl TextCensusCounter {
    /// Creates a counter of ads of a dialect.
    #[must_use]
    pub fn new(counter: CensusCounter, dialect: Dialect) -> Self {
        let writer = ValueTexts { expressions: Bounded::default() };
        TextCensusCounter {
            counter,
            reader: AttributeTextReader::new(dialect, writer, [""; 3]),
            text: Vec::new(),
            attributes: Vec::new(),
            revisions: Vec::new(),
            generations: [0; 2],
        }
    }

    /// Counts the first ad of a text. Returns its length, with the blank line behind it in the long form. `None` if the
    /// ad cannot be counted attribute by attribute; then nothing is counted.
    pub fn take_text(&mut self, text: AdText) -> Option<usize> {
        if self.counter.scope.has_nested {
            return None;
        }
        self.reader.clear_if_large();
        self.text.clear();
        let (length, _) = self.reader.push_ad(text, &mut self.text)?;
        let generations = [self.reader.generation(), self.counter.generation()];
        if self.generations != generations {
            self.generations = generations;
            self.attributes.clear();
            self.revisions.clear();
        }
        self.counter.count_ad();
        let mut start = 0;
        for (position, number) in self.reader.names().iter().enumerate() {
            let end = self.reader.end(position);
            let known = self.attributes.get(*number).copied().flatten();
            let attribute = known.unwrap_or_else(|| {
                let attribute = self.counter.attribute_of(self.reader.name(*number));
                set(&mut self.attributes, *number, Some(attribute));
                attribute
            });
            let revision = self.reader.revision(*number);
            // An attribute that is written as the last one needs no comparison.
            if self.revisions.get(attribute) != Some(&revision) || !self.counter.repeat(attribute) {
                set(&mut self.revisions, attribute, revision);
                match &self.text[start..end] {
                    [NUMBER_MARK, number @ ..] => {
                        let number = number.try_into().map(u32::from_le_bytes).unwrap_or_default();
                        self.counter.count(attribute, &self.reader.writer().expressions[number as usize]);
                    }
                    literal => self.counter.count_literal(attribute, literal),
                }
            }
            start = end;
        }
        Some(length)
    }

    /// Counts an ad.
    pub fn add(&mut self, ad: &Ad) {
        self.revisions.clear();
        self.counter.add(ad);
    }

    /// Returns what was counted since the last call.
    pub fn take(&mut self) -> CensusPart {
        self.counter.take()
    }
}

/// Sets an item of a list, which is extended to have the item.
fn set<T: Clone + Default>(items: &mut Vec<T>, index: usize, item: T) {
    if index >= items.len() {
        items.resize(index + 1, T::default());
    }
    items[index] = item;
}

/// Writes the value of each attribute: the text of a plain literal, and the number of any other value behind a mark.
struct ValueTexts {
    expressions: Bounded<Vec<Expression>>,
}

impl ValueTexts {
    /// Appends the number of a value.
    fn push_number(&mut self, value: &[u8], expression: Expression, out: &mut Vec<u8>) {
        out.push(NUMBER_MARK);
        out.extend_from_slice(&u32::try_from(self.expressions.len()).unwrap_or(u32::MAX).to_le_bytes());
        self.expressions.grow(value.len() + VALUE_OVERHEAD_BYTES);
        self.expressions.push(expression);
    }
}

impl AttributeWriter for ValueTexts {
    fn push_name(&mut self, _: &[u8], _: &Name, _: &mut Vec<u8>) {}

    #[inline]
    fn push_literal(&mut self, literal: &LiteralText, out: &mut Vec<u8>) -> bool {
        if literal.is_plain() {
            out.extend_from_slice(literal.text);
            return true;
        }
        let mut value = Expression::literal(false);
        let is_simple = read_simple_literal(literal.text, &mut value);
        if is_simple {
            self.push_number(literal.text, value, out);
        }
        is_simple
    }

    fn push_value(&mut self, value: &[u8], expression: &Expression, out: &mut Vec<u8>) {
        self.push_number(value, expression.clone(), out);
    }

    fn is_full(&self) -> bool {
        self.expressions.is_full()
    }

    fn forget(&mut self) {
        self.expressions.forget();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::TextCensusCounter;
    use crate::ad::{Dialect, Name, Value};
    use crate::format::testing::attribute_block;
    use crate::format::{BlockAds, BlockItem, FileFormat, ReadCache, StreamBlock};
    use crate::pool::Census;
    use crate::syntax::{Style, print_value};

    /// What a census tells of each attribute.
    fn described(census: &Census) -> Vec<String> {
        let text = |value: &Value| String::from_utf8(print_value(value, Style::New)).unwrap();
        let attributes = census.attributes().map(|(name, summary)| {
            let ranges = summary.ranges().map(|range| (text(&range.least), text(&range.greatest)));
            format!(
                "{name} {} {:?} {} {:?} {:?} {:?}",
                summary.ads(),
                summary.contents(),
                summary.distinct(),
                ranges.collect::<Vec<_>>(),
                summary.lengths(),
                summary.most_frequent(usize::MAX).collect::<Vec<_>>(),
            )
        });
        std::iter::once(census.ads().to_string()).chain(attributes).collect()
    }

    /// Counts the ads of texts, each text as a block. Returns the number of ads that were counted line by line.
    fn count(mut census: Census, blocks: &[StreamBlock]) -> (Vec<String>, usize) {
        let mut counter = TextCensusCounter::new(census.counter(), Dialect::Condor);
        let mut cache = ReadCache::new(Dialect::Condor);
        let mut by_lines = 0;
        for block in blocks {
            let mut ads = BlockAds::new(block, &mut cache);
            while let Some(item) = ads.next(|text| counter.take_text(text)) {
                match item {
                    BlockItem::Taken(_) => by_lines += 1,
                    BlockItem::Read(Ok(entry)) => counter.add(&entry.ad),
                    BlockItem::Read(Err(_)) => {}
                }
            }
            census.merge(counter.take());
        }
        (described(&census), by_lines)
    }

    /// The same by trees alone.
    fn count_trees(mut census: Census, blocks: &[StreamBlock]) -> Vec<String> {
        for block in blocks {
            block.ads(Dialect::Condor).flatten().for_each(|entry| census.add(&entry.ad));
        }
        described(&census)
    }

    #[test]
    fn plain_ads_are_counted_line_by_line() {
        let text = "a = 1\nb = \"x\"\nc = a + 1\n\na = 1\nb = \"y\"\nc = a + 1\n\n# x\na = 2\n\na = 2.50\nA = 2\n\n";
        let texts = [text, text].map(|text| StreamBlock::from_complete_text(text, FileFormat::Long));
        let (counted, by_lines) = count(Census::values(), &texts);
        assert_eq!(by_lines, 4);
        assert_eq!(counted, count_trees(Census::values(), &texts));
    }

    #[test]
    fn values_are_forgotten_without_harm() {
        let ad = |number: usize| format!("a = {number}.12345678901234567\nb = {{ {} }}\nc = a + 1\n\n", number / 3);
        let texts = [(0..50_000).map(ad).collect::<String>(), (0..9).map(ad).collect()]
            .map(|text| StreamBlock::from_complete_text(text, FileFormat::Long));
        let (counted, by_lines) = count(Census::values(), &texts);
        assert_eq!(by_lines, 50_009);
        assert_eq!(counted, count_trees(Census::values(), &texts));
    }

    proptest! {
        #[test]
        fn the_census_is_that_of_the_trees(
            blocks in prop::collection::vec(
                attribute_block(&[
                    "1", "1", " 2", "-0", "-7", "007", "9223372036854775807", "9223372036854775808", "2.5", "2.50", "-0.0", "1e3",
                    "0.12345678901234567", "\"x\"", "\"q=\\\"x\\\"\"", "\"q\\\"\"", "\"x\"", "\"\"", "\"x\\ty\"", "\"\t\u{e9}\"", "\"/Expr(a)/\"", "TRUE", " false ",
                    "a + 1", "A+1", "(1)", "{ 1, a }", "[ x = 1 ]", "1 +", "\"", "1 2", "undefined", "",
                ]),
                1..4,
            ),
        ) {
            let censuses = [Census::values(), Census::values_of([Name::new("B")]), Census::values().nested()];
            for census in censuses {
                prop_assert_eq!(count(census.clone(), &blocks).0, count_trees(census, &blocks));
            }
        }
    }
}
