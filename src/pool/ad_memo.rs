//! Memo by class of ads: ads of one class have the same names and the same expressions, but other constants.

use std::hash::BuildHasherDefault;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHasher};

use crate::ad::{Ad, AdShape, ByIdentity, Expression, ExpressionKind};
use crate::syntax::{Style, print};

/// Maximum number of classes and shapes. More make the memo forget all.
const MAX_CLASSES: usize = 16 * 1024;

/// Maximum number of bytes of texts of expressions. More make the memo forget all.
const MAX_TEXT_BYTES: usize = 4 << 20;

/// Number in place of the code of a constant, whose value does not matter: a scalar, or a list of scalars.
pub(super) const SCALAR: u32 = 0;
pub(super) const SCALAR_LIST: u32 = 1;
pub(super) const FIRST_CODE: u32 = 2;

type MemoHasher = BuildHasherDefault<FxHasher>;

/// Remembers something for each class of ads.
///
/// An ad is looked up by its shape and by its expressions. It is compared with the last ad of its shape, so that what
/// both share costs almost nothing.
pub struct AdMemo<R> {
    codes: ExpressionCodes,
    shapes: ByIdentity<Arc<AdShape>, ShapeMemo<R>>,
    /// Number of classes.
    classes: usize,
    /// What was made for the last ad, if no other ad has its shape.
    single: Option<R>,
}

/// Whether an expression is a constant: a scalar literal, or a list of scalar literals. Constants refer to nothing.
#[must_use]
pub fn is_constant(expression: &Expression) -> bool {
    constant_code(expression).is_some()
}

/// Returns the number that stands for all constants of the same kind; `None` if an expression is not a constant.
pub(super) fn constant_code(expression: &Expression) -> Option<u32> {
    match expression.kind() {
        kind if kind.is_scalar() => Some(SCALAR),
        ExpressionKind::List(elements) if elements.iter().all(|element| element.kind().is_scalar()) => {
            Some(SCALAR_LIST)
        }
        _ => None,
    }
}

/// The memo of the ads of one shape.
struct ShapeMemo<R> {
    /// The expressions of the last ad.
    expressions: Vec<Expression>,
    /// The codes of `expressions`, where all constants of one kind have the same code.
    codes: Vec<u32>,
    /// What is remembered of the ads with the same codes.
    classes: IndexMap<Box<[u32]>, R, MemoHasher>,
    /// Index in `classes` of the last ad.
    last: Option<usize>,
}

impl<R> Default for AdMemo<R> {
    fn default() -> Self {
        AdMemo { codes: ExpressionCodes::default(), shapes: ByIdentity::default(), classes: 0, single: None }
    }
}

impl<R> AdMemo<R> {
    /// Returns what is remembered for the class of an ad. Calls `make` for the first ad of a class.
    pub fn class(&mut self, ad: &Ad, make: impl FnOnce() -> R) -> &mut R {
        // A shape that nothing else refers to will not come again.
        if Arc::strong_count(ad.shape()) == 1 {
            return self.single.insert(make());
        }
        if self.classes + self.shapes.len() > MAX_CLASSES || self.codes.text_bytes > MAX_TEXT_BYTES {
            *self = AdMemo::default();
        }
        let memo = self.shapes.get_or_insert_with(ad.shape(), ShapeMemo::new);
        let is_same_class = memo.update(ad, &mut self.codes);
        let last = memo.last.filter(|_| is_same_class);
        let index = last.or_else(|| memo.classes.get_index_of(memo.codes.as_slice())).unwrap_or_else(|| {
            self.classes += 1;
            memo.classes.insert_full(memo.codes.as_slice().into(), make()).0
        });
        memo.last = Some(index);
        &mut memo.classes[index]
    }
}

impl<R> ShapeMemo<R> {
    fn new() -> Self {
        ShapeMemo { expressions: Vec::new(), codes: Vec::new(), classes: IndexMap::default(), last: None }
    }

    /// Takes over the expressions of an ad. Returns whether the ad is of the class of the last ad.
    fn update(&mut self, ad: &Ad, codes: &mut ExpressionCodes) -> bool {
        if self.expressions.is_empty() {
            self.expressions = ad.expressions().to_vec();
            self.codes = ad.expressions().iter().map(|expression| codes.class_code(expression)).collect();
            return false;
        }
        let mut is_same_class = true;
        for (position, (last, expression)) in self.expressions.iter_mut().zip(ad.expressions()).enumerate() {
            if last.ptr_eq(expression) {
                continue;
            }
            last.clone_from(expression);
            let code = codes.class_code(expression);
            is_same_class &= self.codes[position] == code;
            self.codes[position] = code;
        }
        is_same_class
    }
}

/// Numbers for expressions. Expressions with the same text have the same number.
#[derive(Default)]
struct ExpressionCodes {
    by_text: FxHashMap<Box<[u8]>, u32>,
    by_identity: ByIdentity<Expression, u32>,
    /// Total length of the texts, and of the memory for identities, in bytes.
    text_bytes: usize,
}

impl ExpressionCodes {
    /// Returns the code of an expression; all constants of one kind have the same code.
    fn class_code(&mut self, expression: &Expression) -> u32 {
        constant_code(expression).unwrap_or_else(|| self.code(expression))
    }

    /// Returns the code of an expression.
    fn code(&mut self, expression: &Expression) -> u32 {
        const ENTRY_BYTES: usize = 64;
        if let Some(code) = self.by_identity.get(expression) {
            return *code;
        }
        let text = print(expression, Style::New);
        let code = if let Some(code) = self.by_text.get(text.as_slice()) {
            *code
        } else {
            let code = FIRST_CODE + u32::try_from(self.by_text.len()).unwrap_or(u32::MAX - FIRST_CODE);
            self.text_bytes += text.len() + ENTRY_BYTES;
            self.by_text.insert(text.into(), code);
            code
        };
        self.text_bytes += ENTRY_BYTES;
        self.by_identity.insert(expression.clone(), code);
        code
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::{AdMemo, constant_code};
    use crate::ad::{Ad, AdShape, Dialect, Name};
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
            let mut memo = AdMemo::default();
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
                prop_assert_eq!(&*found, &class(&ad));
                classes.push(class(&ad));
            }
            classes.sort();
            classes.dedup();
            prop_assert_eq!(calls, classes.len());
        }
    }
}
