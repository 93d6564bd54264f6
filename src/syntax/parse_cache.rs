//! Texts seen before: the ads of a pool repeat each other, and each text is parsed once.

use rustc_hash::FxHashMap;

use crate::ad::{Expression, Kind};

use super::{Rules, parse_prefix, plain_literal};

/// So many bytes of texts are remembered; then all are forgotten.
const MOST: usize = 2 << 20;

/// A longer text is not remembered: what repeats is not that long.
const LONGEST: usize = 16 * 1024;

/// The same of a plain literal, which is soon read again.
const LONGEST_LITERAL: usize = 24;

/// The values of lines of the long form, their expressions, and a note about each.
pub struct Seen<Note> {
    rules: Rules,
    expressions: FxHashMap<Box<[u8]>, (Expression, Note)>,
    /// The bytes of the texts.
    length: usize,
}

/// What a text is.
pub enum Sight<Note> {
    /// A plain literal, which refers to nothing, or a text that was seen before; and what was noted about it.
    Known(Expression, Note),
    /// A text that was not seen before.
    New(Expression),
    /// No expression, or one with something behind it.
    Bad,
}

impl<Note: Copy + Default> Seen<Note> {
    /// Nothing has been seen yet.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Seen { rules, expressions: FxHashMap::default(), length: 0 }
    }

    /// The expression that a text writes.  Of a text that was seen before the tree is shared below its root;
    /// the root is another one, as two attributes with one text are two attributes, unless it is a literal.
    pub fn expression(&mut self, text: &[u8]) -> Sight<Note> {
        if let Some((seen, note)) = self.expressions.get(text) {
            let expression = match seen.kind() {
                Kind::Literal(_) => seen.clone(),
                kind => Expression::new(kind.clone(), seen.span()),
            };
            return Sight::Known(expression, *note);
        }
        if let Some(literal) = plain_literal(text) {
            if text.len() <= LONGEST_LITERAL {
                self.remember(text, &literal);
            }
            return Sight::Known(literal, Note::default());
        }
        match parse_prefix(text, self.rules) {
            Ok((expression, rest)) if rest.is_none_or(|rest| text[rest.range()].trim_ascii().is_empty()) => {
                if text.len() <= LONGEST && !has_lists(&expression) {
                    self.remember(text, &expression);
                }
                Sight::New(expression)
            }
            _ => Sight::Bad,
        }
    }

    fn remember(&mut self, text: &[u8], expression: &Expression) {
        self.length += text.len();
        if self.length > MOST {
            self.expressions.clear();
            self.length = text.len();
        }
        self.expressions.insert(text.into(), (expression.clone(), Note::default()));
    }

    /// Notes something about a text, if it is remembered.
    pub fn note(&mut self, text: &[u8], note: Note) {
        if let Some((_, noted)) = self.expressions.get_mut(text) {
            *noted = note;
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

#[cfg(test)]
mod tests {
    use super::{Seen, Sight};
    use crate::ad::{Dialect, Kind};
    use crate::syntax::Rules;

    #[test]
    fn trees_are_shared_but_for_lists() {
        let mut seen: Seen<()> = Seen::new(Rules::long(Dialect::Condor));
        let mut is_new = |text: &[u8]| matches!(seen.expression(text), Sight::New(_));
        assert_eq!(["a + 1", "a + 1", " a + 1", "5"].map(|text| is_new(text.as_bytes())), [true, false, true, false]);
        let mut list = || match seen.expression(b"{ a, b }") {
            Sight::New(expression) | Sight::Known(expression, ()) => match expression.kind() {
                Kind::List(elements) => elements.clone(),
                _ => panic!("a list"),
            },
            Sight::Bad => panic!("a list"),
        };
        let (first, second) = (list(), list());
        assert!(!std::sync::Arc::ptr_eq(&first, &second));
    }

    #[test]
    fn literals_are_one_and_other_roots_are_two() {
        let mut seen: Seen<u8> = Seen::new(Rules::long(Dialect::Condor));
        let mut is_one = |text: &[u8]| {
            let mut sight = || match seen.expression(text) {
                Sight::New(expression) | Sight::Known(expression, _) => expression,
                Sight::Bad => panic!("an expression"),
            };
            sight().same(&sight())
        };
        assert_eq!(["5", " \"a\"", "1K", "a + 1"].map(|text| is_one(text.as_bytes())), [true, true, true, false]);
        seen.note(b"a + 1", 7);
        assert!(matches!(seen.expression(b"a + 1"), Sight::Known(_, 7)));
        assert!(matches!(seen.expression(b"5"), Sight::Known(_, 0)));
    }
}
