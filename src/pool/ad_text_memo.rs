//! Memo by class of ads, which is found from the texts of attributes without expression trees.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, AdShape, ByIdentity, Dialect};
use crate::format::AdText;

use super::value_codes::CodeReader;

/// Maximum total length of the keys of the classes, in bytes. More make the memo forget all.
const MAX_KEY_BYTES: usize = 4 << 20;

/// Remembers something for each class of ads that depends only on the references of ads.
///
/// Ads of one class have the same names and the same expressions, but other constants. In calls such as
/// `stringListMember(Owner, "a,b")`, they may have other strings. The class of an ad is found from the shape and the
/// texts of its attributes: each value has a code. Constants are not
/// read.
pub struct AdTextMemo<R> {
    reader: CodeReader,
    /// The generation of the codes in `classes`.
    generation: usize,
    /// What is remembered for the classes of each shape, by the codes of the values, as [`CodeReader::words`] returns them.
    classes: ByIdentity<Arc<AdShape>, FxHashMap<Box<[u64]>, R>>,
    /// The codes of the values of the last ad.
    words: Vec<u64>,
    /// Total length of the codes of `classes`, in bytes.
    key_bytes: usize,
}

impl<R> AdTextMemo<R> {
    /// Creates an empty memo for ads of a dialect.
    #[must_use]
    pub fn for_references(dialect: Dialect) -> Self {
        AdTextMemo {
            reader: CodeReader::new(dialect, true),
            generation: 0,
            classes: ByIdentity::default(),
            words: Vec::new(),
            key_bytes: 0,
        }
    }

    /// Returns the length of the first ad of a text, and what is remembered for its class. In the long form, the blank
    /// line after the ad counts. `None` if the ad cannot be read attribute by attribute.
    ///
    /// Calls `make` for the first ad of a class. Its argument is an ad of the class, with other constants.
    pub fn class(&mut self, text: AdText, make: impl FnOnce(&Ad) -> R) -> Option<(usize, &mut R)> {
        let (length, shape) = self.reader.read(text)?;
        if self.reader.generation() != self.generation || self.key_bytes > MAX_KEY_BYTES {
            self.generation = self.reader.generation();
            self.classes = ByIdentity::default();
            self.key_bytes = 0;
        }
        let AdTextMemo { reader, classes, words, key_bytes, .. } = self;
        words.clear();
        words.extend(reader.words());
        let known = classes.get_or_insert_with(&shape, FxHashMap::default);
        if !known.contains_key(words.as_slice()) {
            let expressions = (0..shape.names().len()).map(|position| reader.expression(position).clone()).collect();
            let remembered = make(&Ad::from_shape(Arc::clone(&shape), expressions));
            *key_bytes += size_of_val(words.as_slice());
            known.insert(words.as_slice().into(), remembered);
        }
        Some((length, known.get_mut(words.as_slice())?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::AdTextMemo;
    use crate::ad::{Ad, Dialect};
    use crate::eval::{Context, Environment, references_of_all};
    use crate::format::testing::attribute_block;
    use crate::format::{AdText, BlockAds, BlockItem, FileFormat, ReadCache, StreamBlock};

    /// The references of an ad, as a text.
    fn references(ad: &Ad) -> String {
        let (environment, frame) = Environment::single(ad.clone());
        let expressions = ad.iter().map(|attribute| attribute.expression);
        format!("{:?}", references_of_all(expressions, &frame, &environment, &Context::new(Dialect::Condor)))
    }

    /// The references of each ad of a text or its problem, and the number of ads for which references were made.
    fn remembered(memo: &mut AdTextMemo<String>, block: &StreamBlock) -> (Vec<String>, usize) {
        let mut cache = ReadCache::new(Dialect::Condor);
        let mut ads = BlockAds::new(block, &mut cache);
        let (mut found, mut made, mut class) = (Vec::new(), 0, String::new());
        loop {
            let take = |text: AdText| {
                let (length, found) = memo.class(text, |ad| {
                    made += 1;
                    references(ad)
                })?;
                class.clone_from(found);
                Some(length)
            };
            let Some(item) = ads.next(take) else { return (found, made) };
            found.push(match item {
                BlockItem::Taken(_) => class.clone(),
                BlockItem::Read(Ok(entry)) => references(&entry.ad),
                BlockItem::Read(Err(problem)) => format!("{problem:?}"),
            });
        }
    }

    #[test]
    fn the_class_does_not_depend_on_constants() {
        let ad = |constant: &str, list: &str, owners: &str| {
            format!("a = {constant}\nb = {list}\nc = stringListMember(TARGET.Owner, \"{owners}\") && a > 1\n\n")
        };
        let long = |text: String| StreamBlock::from_complete_text(text, FileFormat::Long);
        let same = [ad("1", "{ 1 }", "x"), ad("\"y\"", "{ 2, \"z\" }", "y,z"), ad("undefined", "{}", "")];
        let mut memo = AdTextMemo::for_references(Dialect::Condor);
        assert_eq!(remembered(&mut memo, &long(same.concat())).1, 1);
        assert_eq!(remembered(&mut memo, &long(same.concat())).1, 0);
        for other in ["1 + 2", "eval(\"x\")", "eval(\"y\")", "a[\"x\"]", "a[\"y\"]", "real(\"INF\")", "real(\"1\")"] {
            assert_eq!(
                remembered(&mut memo, &long(ad(other, "{ 1 }", "x"))).1,
                usize::from(!other.contains("INF")),
                "{other}"
            );
        }
    }

    proptest! {
        #[test]
        fn ads_of_one_class_have_the_same_references(
            blocks in prop::collection::vec(
                attribute_block(&[
                    "1", "2.50", "\"x\"", "TRUE", "undefined", "a + 1", "A+2", "{ 1, 2 }", "{ 1, a }", "[ x = b ]", "1 +",
                    "stringListMember(TARGET.b, \"x\")", "stringListMember(TARGET.b, \"y\")", "member(TARGET.b, \"x\")", "member(TARGET.b, \"y\")", "strcat(\"b\", a)", "strcat(\"b,\\\"\", a)",
                    "eval(\"a\")", "eval(\"b\")", "a[\"x\"]", "a[\"b\"]", "TARGET[\"b\"]", "real(\"INF\")", "real(\"1\")",
                    "size(\"b\")", "f(\"x\", b)", "'a\"b' + c(1, \"x\")", "strcat(a, \"x\") /* \" */", "MY.b",
                ]),
                1..4,
            ),
        ) {
            let mut memo = AdTextMemo::for_references(Dialect::Condor);
            for block in &blocks {
                let expected = block.ads(Dialect::Condor).map(|item| match item {
                    Ok(entry) => references(&entry.ad),
                    Err(problem) => format!("{problem:?}"),
                });
                prop_assert_eq!(remembered(&mut memo, block).0, expected.collect::<Vec<_>>());
            }
        }
    }
}
