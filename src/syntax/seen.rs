//! Texts seen before: the ads of a pool repeat each other, and each text is parsed once.

use rustc_hash::FxHashMap;

use crate::ad::{Expression, Kind};

use super::{Rules, parse_prefix, plain_literal};

/// So many bytes of texts are remembered; then all are forgotten.
const MOST: usize = 2 << 20;

/// A longer text is not remembered: what repeats is not that long.
const LONGEST: usize = 16 * 1024;

/// The values of lines of the long form, and their expressions.
pub struct Seen {
    rules: Rules,
    expressions: FxHashMap<Box<[u8]>, Expression>,
    /// The bytes of the texts.
    length: usize,
}

/// What a text is.
pub enum Sight {
    /// A plain literal, which refers to nothing, or a text that was seen before.
    Known(Expression),
    /// A text that was not seen before.
    New(Expression),
    /// No expression, or one with something behind it.
    Bad,
}

impl Seen {
    /// Nothing has been seen yet.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Seen { rules, expressions: FxHashMap::default(), length: 0 }
    }

    /// The expression that a text writes.  Of a text that was seen before the tree is shared below its root;
    /// the root is another one, as two attributes with one text are two attributes.
    pub fn expression(&mut self, text: &[u8]) -> Sight {
        if let Some(literal) = plain_literal(text) {
            return Sight::Known(literal);
        }
        if let Some(seen) = self.expressions.get(text) {
            return Sight::Known(Expression::new(seen.kind().clone(), seen.span()));
        }
        match parse_prefix(text, self.rules) {
            Ok((expression, rest)) if rest.is_none_or(|rest| text[rest.range()].trim_ascii().is_empty()) => {
                if text.len() <= LONGEST && !has_lists(&expression) {
                    self.length += text.len();
                    if self.length > MOST {
                        self.expressions.clear();
                        self.length = text.len();
                    }
                    self.expressions.insert(text.into(), expression.clone());
                }
                Sight::New(expression)
            }
            _ => Sight::Bad,
        }
    }

    /// Forgets a text.
    pub fn forget(&mut self, text: &[u8]) {
        self.expressions.remove(text);
    }
}

/// Whether there is a list in an expression.  The evaluator tells lists apart by where they are kept: two attributes
/// must not share one.
fn has_lists(expression: &Expression) -> bool {
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        if matches!(expression.kind(), Kind::List(_)) {
            return true;
        }
        expression.kind().for_each_child(|child| pending.push(child));
    }
    false
}
