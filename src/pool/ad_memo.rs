//! Memo of results by class of ads: ads of one class have the same names and the same expressions, but other constants.

use std::hash::BuildHasherDefault;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHasher};

use crate::ad::{Ad, AdShape, Expression, ExpressionKind};
use crate::syntax::{Style, print};

/// Maximum number of classes and shapes. More make the memo forget all.
const MAX_CLASSES: usize = 16 * 1024;

/// Maximum number of bytes of texts of expressions. More make the memo forget all.
const MAX_TEXT_BYTES: usize = 4 << 20;

/// Number in place of the code of a constant whose value does not matter: a scalar, or a list of scalars.
const SCALAR: u32 = 0;
const SCALAR_LIST: u32 = 1;
const FIRST_CODE: u32 = 2;

type MemoHasher = BuildHasherDefault<FxHasher>;

/// Remembers a result for each class of ads.
///
/// An ad is looked up by its shape, by its expressions and by those of its constants that the result depends on. It is
/// compared with the last ad of its shape, so that what both share costs almost nothing.
pub struct AdMemo<R> {
    codes: ExpressionCodes,
    /// The memos of shapes, by the address of the shape.
    shapes: FxHashMap<usize, ShapeMemo<R>>,
    /// Number of remembered results.
    results: usize,
}

/// A result, with the positions in the ad of the constants that it depends on.
pub struct MemoResult<R> {
    /// The result.
    pub result: R,
    /// Positions of attributes. A position of an attribute that is no constant has no effect.
    pub positions: Vec<usize>,
}

/// Whether an expression is a constant: a scalar literal, or a list of scalar literals. Constants refer to nothing.
#[must_use]
pub fn is_constant(expression: &Expression) -> bool {
    constant_code(expression).is_some()
}

/// Returns the number that stands for all constants of the same kind; `None` if an expression is no constant.
fn constant_code(expression: &Expression) -> Option<u32> {
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
    /// The shape. It is kept so that no other shape gets its address.
    shape: Arc<AdShape>,
    /// The expressions of the last ad.
    expressions: Vec<Expression>,
    /// The codes of `expressions`, where all constants of one kind have the same code.
    codes: Vec<u32>,
    /// The ads with the same codes.
    groups: IndexMap<Box<[u32]>, MemoGroup<R>, MemoHasher>,
    /// Index in `groups` of the last ad, and its result.
    last: Option<(usize, R)>,
}

/// The results of the ads that differ in constants only.
struct MemoGroup<R> {
    /// Positions of the constants that the results depend on.
    positions: Box<[usize]>,
    /// Results by the codes of these constants.
    results: FxHashMap<Box<[u32]>, R>,
}

impl<R: Clone> Default for AdMemo<R> {
    fn default() -> Self {
        AdMemo { codes: ExpressionCodes::default(), shapes: FxHashMap::default(), results: 0 }
    }
}

impl<R: Clone> AdMemo<R> {
    /// Returns the result of an ad. Calls `find` unless an ad of the same class was looked up before.
    ///
    /// All ads that have the same names in the same order, and the same expressions but for constants, must depend on
    /// the constants at the same positions.
    pub fn get(&mut self, ad: &Ad, find: impl FnOnce() -> MemoResult<R>) -> R {
        // A shape that nothing else refers to will not come again.
        if Arc::strong_count(ad.shape()) == 1 {
            return find().result;
        }
        if self.results + self.shapes.len() > MAX_CLASSES || self.codes.text_bytes > MAX_TEXT_BYTES {
            *self = AdMemo::default();
        }
        let address = Arc::as_ptr(ad.shape()) as usize;
        let memo = self.shapes.entry(address).or_insert_with(|| ShapeMemo::new(Arc::clone(ad.shape())));
        let (is_same_group, is_same_constant) = memo.update(ad, &mut self.codes);
        if let Some((_, result)) = memo.last.as_ref().filter(|_| is_same_group && is_same_constant) {
            return result.clone();
        }
        let group = memo.groups.get_index_of(memo.codes.as_slice());
        if let Some(index) = group {
            let group = &memo.groups[index];
            let key: Box<[u32]> = group.positions.iter().map(|at| self.codes.code(&memo.expressions[*at])).collect();
            if let Some(result) = group.results.get(&key) {
                memo.last = Some((index, result.clone()));
                return result.clone();
            }
        }
        let MemoResult { result, positions } = find();
        let index = group.unwrap_or_else(|| {
            let is_relevant = |at: &usize| constant_code(&memo.expressions[*at]).is_some();
            let positions = positions.into_iter().filter(is_relevant).collect();
            let group = MemoGroup { positions, results: FxHashMap::default() };
            memo.groups.insert_full(memo.codes.as_slice().into(), group).0
        });
        let group = &mut memo.groups[index];
        let key = group.positions.iter().map(|at| self.codes.code(&memo.expressions[*at])).collect();
        group.results.insert(key, result.clone());
        self.results += 1;
        memo.last = Some((index, result.clone()));
        result
    }
}

impl<R> ShapeMemo<R> {
    fn new(shape: Arc<AdShape>) -> Self {
        ShapeMemo { shape, expressions: Vec::new(), codes: Vec::new(), groups: IndexMap::default(), last: None }
    }

    /// Takes over the expressions of an ad. Returns whether the ad is in the group of the last ad, and whether it has
    /// the same relevant constants.
    fn update(&mut self, ad: &Ad, codes: &mut ExpressionCodes) -> (bool, bool) {
        debug_assert!(Arc::ptr_eq(&self.shape, ad.shape()));
        if self.expressions.is_empty() {
            self.expressions = ad.expressions().to_vec();
            self.codes = ad.expressions().iter().map(|expression| codes.class_code(expression)).collect();
            return (false, false);
        }
        let (mut is_same_group, mut is_same_constant) = (true, true);
        let relevant: &[usize] = self.last.as_ref().map_or(&[], |(group, _)| &self.groups[*group].positions);
        for (position, (last, expression)) in self.expressions.iter_mut().zip(ad.expressions()).enumerate() {
            if last.ptr_eq(expression) {
                continue;
            }
            last.clone_from(expression);
            let code = codes.class_code(expression);
            is_same_group &= self.codes[position] == code;
            self.codes[position] = code;
            is_same_constant &= code >= FIRST_CODE || !relevant.contains(&position);
        }
        (is_same_group, is_same_constant)
    }
}

/// Numbers for expressions. Expressions with the same text have the same number.
#[derive(Default)]
struct ExpressionCodes {
    by_text: FxHashMap<Box<[u8]>, u32>,
    /// Numbers by the identity of the expression, which is kept so that no other expression gets it.
    by_identity: FxHashMap<usize, (Expression, u32)>,
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
        if let Some((_, code)) = self.by_identity.get(&expression.identity()) {
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
        self.by_identity.insert(expression.identity(), (expression.clone(), code));
        code
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::{AdMemo, MemoResult, is_constant};
    use crate::ad::{Ad, AdShape, Dialect, Expression, Name};
    use crate::syntax::{ParseOptions, Style, parse_expression, print};

    /// The result of an ad: the texts of the expressions that are no constants, of the first constant if there is such
    /// an expression, and the kinds of constants.
    fn result(ad: &Ad) -> MemoResult<String> {
        let text = |expression: &Expression| String::from_utf8(print(expression, Style::New)).unwrap();
        let has_expression = ad.expressions().iter().any(|expression| !is_constant(expression));
        let positions: Vec<usize> = (0..ad.len()).filter(|_| has_expression).take(2).collect();
        let parts = ad.iter().enumerate().map(|(at, attribute)| {
            let is_told = positions.contains(&at) || !is_constant(attribute.expression);
            let value = if is_told { text(attribute.expression) } else { String::new() };
            format!("{} = {value}", attribute.name)
        });
        MemoResult { result: parts.collect::<Vec<_>>().join("; "), positions }
    }

    proptest! {
        #[test]
        fn a_memo_answers_as_the_function(
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
            let mut calls = 0;
            for (shape, values) in &ads {
                // Some expressions are the same as before, others have the same text only.
                let value = |(text, is_shared): &(usize, bool)| {
                    if *is_shared { shared[*text].clone() } else { parse(texts[*text]) }
                };
                let ad = Ad::from_shape(Arc::clone(&shapes[*shape]), values.iter().map(value).collect());
                let found = memo.get(&ad, || {
                    calls += 1;
                    result(&ad)
                });
                prop_assert_eq!(found, result(&ad).result);
            }
            let mut results: Vec<String> = Vec::new();
            for (shape, values) in &ads {
                let ad = Ad::from_shape(Arc::clone(&shapes[*shape]), values.iter().map(|(at, _)| shared[*at].clone()).collect());
                let kinds = ad.expressions().iter().map(|one| super::constant_code(one).map_or("x", |code| ["1", "{}"][code as usize]));
                results.push(format!("{} {}", result(&ad).result, kinds.collect::<String>()));
            }
            results.sort();
            results.dedup();
            prop_assert_eq!(calls, results.len());
        }
    }
}
