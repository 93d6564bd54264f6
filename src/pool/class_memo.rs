//! Memo by class of ads: ads of one class have the same names and the same expressions, but other constants.
//!
//! Bench row `refs --count machines.long`: without the memo of ads read by their texts, it takes 2.8 times as long;
//! without that of ads read as trees, `refs` of the bracketed form takes 1.23 times as many instructions.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, AdShape, Bounded, ByIdentity, Dialect, Expression};
use crate::format::AdText;
use crate::syntax::{Style, print};

use super::constants::{FIRST_CODE, constant_code};
use super::text_models::AdTextModels;

/// Memory that an entry takes beside its key, in bytes.
const ENTRY_BYTES: usize = 64;

/// Remembers something for each class of ads that depends only on the references of ads.
///
/// An ad is looked up by its shape and by the codes of its expressions. It is compared with the last ad of its shape, so
/// that what both share costs almost nothing. Constants are not read from a text. In calls such as
/// `stringListMember(Owner, "a,b")` of a text, the ads of a class may have other strings.
pub struct ClassMemo<R> {
    /// The classes of ads that were read by their texts.
    texts: AdTextModels<ShapeClasses<R>>,
    codes: Bounded<ExpressionCodes>,
    /// The last ad of each shape, and its classes.
    trees: Bounded<ByIdentity<Arc<AdShape>, CodedAd<R>>>,
}

/// What is remembered of the ads of one shape, by the codes of their expressions.
struct ShapeClasses<R> {
    classes: FxHashMap<Box<[u64]>, R>,
    /// What is remembered for the class of the last ad. `None` if there is no last ad.
    last: Option<R>,
}

/// The last ad of a shape.
struct CodedAd<R> {
    expressions: Vec<Expression>,
    /// The codes of `expressions`, two in each word. All constants of one kind have the same code.
    words: Vec<u64>,
    of_shape: ShapeClasses<R>,
}

impl<R: Clone> ClassMemo<R> {
    /// Creates an empty memo for ads of a dialect.
    #[must_use]
    pub fn for_references(dialect: Dialect) -> Self {
        let texts = AdTextModels::new(dialect, true);
        ClassMemo { texts, codes: Bounded::default(), trees: Bounded::default() }
    }

    /// Returns what is remembered for the class of an ad. Calls `make` for the first ad of a class.
    pub fn class(&mut self, ad: &Ad, make: impl FnOnce() -> R) -> R {
        // A shape that nothing else refers to will not come again.
        if Arc::strong_count(ad.shape()) == 1 {
            return make();
        }
        if self.codes.is_full() || self.trees.is_full() {
            self.codes.forget();
            self.trees.forget();
        }
        let bytes = ad.len() * size_of::<Expression>();
        let last = self.trees.get_or_insert_with(ad.shape(), bytes, CodedAd::default);
        let is_changed = last.update(ad, &mut self.codes);
        let (found, bytes) = last.of_shape.class(&last.words, is_changed, make);
        self.trees.grow(bytes);
        found
    }

    /// Returns the length of the first ad of a text, and what is remembered for its class. In the long form, the blank
    /// line after the ad counts. `None` if the ad cannot be read attribute by attribute.
    ///
    /// Calls `make` for the first ad of a class. Its argument is an ad of the class, with other constants.
    pub fn class_of_text(&mut self, text: AdText, make: impl FnOnce(&Ad) -> R) -> Option<(usize, R)> {
        let read = self.texts.read(text)?;
        let (length, model) = (read.length, read.model);
        let (found, bytes) = model.of_shape.class(&model.words, read.is_changed, || make(&model.ad));
        self.texts.grow(bytes);
        Some((length, found))
    }
}

impl<R> Default for ShapeClasses<R> {
    fn default() -> Self {
        ShapeClasses { classes: FxHashMap::default(), last: None }
    }
}

impl<R: Clone> ShapeClasses<R> {
    /// Returns what is remembered for the class with these codes, and the number of bytes by which the memory has grown.
    /// `is_changed` says whether the codes may differ from those of the last call.
    fn class(&mut self, words: &[u64], is_changed: bool, make: impl FnOnce() -> R) -> (R, usize) {
        if let Some(last) = self.last.as_ref().filter(|_| !is_changed) {
            return (last.clone(), 0);
        }
        let (found, bytes) = if let Some(known) = self.classes.get(words) {
            (known.clone(), 0)
        } else {
            let new = make();
            self.classes.insert(words.into(), new.clone());
            (new, size_of_val(words) + ENTRY_BYTES)
        };
        self.last = Some(found.clone());
        (found, bytes)
    }
}

impl<R> Default for CodedAd<R> {
    fn default() -> Self {
        CodedAd { expressions: Vec::new(), words: Vec::new(), of_shape: ShapeClasses::default() }
    }
}

impl<R> CodedAd<R> {
    /// Takes over the expressions of an ad. Returns whether their codes have changed.
    fn update(&mut self, ad: &Ad, codes: &mut Bounded<ExpressionCodes>) -> bool {
        let mut is_changed = false;
        if self.expressions.is_empty() {
            self.expressions = vec![Expression::literal(false); ad.len()];
            self.words = vec![0; ad.len().div_ceil(2)];
        }
        for (position, (last, expression)) in self.expressions.iter_mut().zip(ad.expressions()).enumerate() {
            if last.ptr_eq(expression) {
                continue;
            }
            last.clone_from(expression);
            let code = constant_code(expression).unwrap_or_else(|| codes.code(expression));
            let (word, shift) = (&mut self.words[position / 2], position % 2 * 32);
            let new = *word & !(u64::from(u32::MAX) << shift) | u64::from(code) << shift;
            is_changed |= *word != new;
            *word = new;
        }
        is_changed
    }
}

/// Numbers for expressions. Expressions with the same text have the same number.
#[derive(Default)]
struct ExpressionCodes {
    by_text: FxHashMap<Box<[u8]>, u32>,
    by_identity: ByIdentity<Expression, u32>,
}

impl Bounded<ExpressionCodes> {
    /// Returns the code of an expression.
    fn code(&mut self, expression: &Expression) -> u32 {
        if let Some(code) = self.by_identity.get(expression) {
            return *code;
        }
        let text = print(expression, Style::New);
        let code = if let Some(code) = self.by_text.get(text.as_slice()) {
            *code
        } else {
            let code = FIRST_CODE + u32::try_from(self.by_text.len()).unwrap_or(u32::MAX - FIRST_CODE);
            self.grow(text.len() + ENTRY_BYTES);
            self.by_text.insert(text.into(), code);
            code
        };
        self.grow(ENTRY_BYTES);
        self.by_identity.insert(expression.clone(), code);
        code
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::ClassMemo;
    use crate::ad::{Ad, AdShape, Dialect, Name};
    use crate::eval::{Context, Environment, references_of_all};
    use crate::format::testing::attribute_block;
    use crate::format::{AdText, BlockAds, BlockItem, FileFormat, ReadCache, StreamBlock};
    use crate::pool::constants::constant_code;
    use crate::syntax::{ParseOptions, Style, parse_expression, print};

    /// The class of an ad: the names, the texts of the expressions that are not constants, and the kinds of constants.
    fn class(ad: &Ad) -> String {
        let parts = ad.iter().map(|attribute| {
            let value = match constant_code(attribute.expression) {
                Some(code) => ["a scalar", "a list"][code as usize].to_owned(),
                None => String::from_utf8(print(attribute.expression, Style::New)).unwrap(),
            };
            format!("{} = {value}", attribute.name)
        });
        parts.collect::<Vec<_>>().join("; ")
    }

    proptest! {
        #[test]
        fn ads_of_one_class_share_what_is_remembered(
            ads in prop::collection::vec((0_usize..3, prop::collection::vec((0_usize..8, any::<bool>()), 3)), 0..60),
        ) {
            let names = ["a", "b", "c"].map(Name::new);
            let options = ParseOptions::new(Dialect::Condor);
            let texts = ["1", "2", "{ 1 }", "{ 2 }", "a + 1", "A + 1", "{ a }", "undefined"];
            let parse = |text: &str| parse_expression(text.as_bytes(), options).expect(text);
            let shared = texts.map(parse);
            let shapes = [[0, 1, 2], [2, 1, 0], [1, 0, 2]]
                .map(|order| Arc::new(order.map(|at| names[at].clone()).into_iter().collect::<AdShape>()));
            let mut memo = ClassMemo::for_references(Dialect::Condor);
            let (mut calls, mut classes) = (0, Vec::new());
            for (shape, values) in &ads {
                // Some expressions are the same as before, others have the same text only.
                let value = |(text, is_shared): &(usize, bool)| {
                    if *is_shared { shared[*text].clone() } else { parse(texts[*text]) }
                };
                let ad = Ad::from_shape(Arc::clone(&shapes[*shape]), values.iter().map(value).collect());
                let found = memo.class(&ad, || {
                    calls += 1;
                    class(&ad)
                });
                prop_assert_eq!(&found, &class(&ad));
                classes.push(class(&ad));
            }
            classes.sort();
            classes.dedup();
            prop_assert_eq!(calls, classes.len());
        }
    }

    /// The references of an ad, as a text.
    fn references(ad: &Ad) -> String {
        let (environment, frame) = Environment::single(ad.clone());
        let expressions = ad.iter().map(|attribute| attribute.expression);
        format!("{:?}", references_of_all(expressions, &frame, &environment, &Context::new(Dialect::Condor)))
    }

    /// The references of each ad of a text or its problem, and the number of ads for which references were made.
    fn remembered(memo: &mut ClassMemo<String>, block: &StreamBlock) -> (Vec<String>, usize) {
        let mut cache = ReadCache::new(Dialect::Condor);
        let mut ads = BlockAds::new(block, &mut cache);
        let (mut found, mut made, mut class) = (Vec::new(), 0, String::new());
        loop {
            let take = |text: AdText| {
                let (length, found) = memo.class_of_text(text, |ad| {
                    made += 1;
                    references(ad)
                })?;
                class = found;
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
        let mut memo = ClassMemo::for_references(Dialect::Condor);
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
            let mut memo = ClassMemo::for_references(Dialect::Condor);
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
