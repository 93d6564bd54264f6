//! A cache of parsed expressions by their text: the ads of a pool repeat each other.

use rustc_hash::FxHashMap;

use crate::ad::{Expression, Kind};

use super::{Rules, parse_prefix, plain_literal};

/// Maximum size of the cached texts, in bytes; the cache is cleared when it is exceeded.
const MOST: usize = 2 << 20;

/// Maximum length of a cached text, in bytes; longer ones hardly repeat.
const LONGEST: usize = 16 * 1024;

/// Maximum length of a cached simple literal, in bytes; longer ones are rare, and all of them parse quickly.
const LONGEST_LITERAL: usize = 24;

/// Maps texts of values in the long form to their expressions, each with a note by the caller.
pub struct Seen<Note> {
    rules: Rules,
    expressions: FxHashMap<Box<[u8]>, (Expression, Note)>,
    /// Total length of the texts, in bytes.
    length: usize,
}

/// Result of parsing a text through the cache.
pub enum Sight<Note> {
    /// A cached text with its note, or a simple literal with the default note if it was not cached.
    Known(Expression, Note),
    /// A text that was not cached.
    New(Expression),
    /// A text that is no expression, or has anything after it.
    Bad,
}

impl<Note: Copy + Default> Seen<Note> {
    /// Creates an empty cache.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Seen { rules, expressions: FxHashMap::default(), length: 0 }
    }

    /// Parses a text, or returns its cached tree.  The tree shares all nodes below its root with the cached one.  The
    /// root is a new node, so that two attributes with the same text have different identities; literals share
    /// it too.
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

    /// Sets the note of a text, if it is cached.
    pub fn note(&mut self, text: &[u8], note: Note) {
        if let Some((_, noted)) = self.expressions.get_mut(text) {
            *noted = note;
        }
    }

    /// Removes a text.
    pub fn forget(&mut self, text: &[u8]) {
        self.expressions.remove(text);
    }
}

/// Whether an expression contains a list.  The evaluator identifies lists by their address, so two attributes must
/// not share one.
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
