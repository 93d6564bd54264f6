//! A cache of parsed expressions by their text, because the ads of a pool repeat the same expressions.

use rustc_hash::FxHashMap;

use crate::ad::{Expression, ExpressionKind};

use super::{ParseOptions, parse_prefix, simple_literal};

/// Maximum total length of the cached texts, in bytes; a longer total clears the cache.
const MAX_CACHED_BYTES: usize = 2 << 20;

/// Maximum length of a cached text, in bytes; longer ones hardly repeat.
const MAX_TEXT_BYTES: usize = 16 * 1024;

/// Maximum length of a cached simple literal, in bytes.  Longer literals are rare and parse quickly without the cache.
const MAX_LITERAL_BYTES: usize = 24;

/// Maps texts of values in the long form to their expressions.  The caller may attach a note of any type to each text.
pub struct ParseCache<Note> {
    rules: ParseOptions,
    expressions: FxHashMap<Box<[u8]>, (Expression, Note)>,
    /// Total length of the cached texts, in bytes.
    text_bytes: usize,
}

/// Result of parsing a text through the cache.
pub enum CachedParse<Note> {
    /// The expression and the note of a cached text.  Also a simple literal that was not cached, with the default note.
    Cached(Expression, Note),
    /// The expression of a text that was not cached and is no simple literal.
    Parsed(Expression),
    /// The text is no expression, or more text follows the expression.
    Invalid,
}

impl<Note: Copy + Default> ParseCache<Note> {
    /// Creates an empty cache.
    #[must_use]
    pub fn new(rules: ParseOptions) -> Self {
        ParseCache { rules, expressions: FxHashMap::default(), text_bytes: 0 }
    }

    /// Parses a text, or returns a copy of the cached expression.  Two attributes with the same text get different root
    /// nodes, because the evaluator detects circular references by the root's address; they share all other nodes.
    /// Literals share the root, too.
    pub fn parse(&mut self, text: &[u8]) -> CachedParse<Note> {
        if let Some((seen, note)) = self.expressions.get(text) {
            let expression = match seen.kind() {
                ExpressionKind::Literal(_) => seen.clone(),
                kind => Expression::new(kind.clone(), seen.span()),
            };
            return CachedParse::Cached(expression, *note);
        }
        if let Some(literal) = simple_literal(text) {
            if text.len() <= MAX_LITERAL_BYTES {
                self.insert(text, &literal);
            }
            return CachedParse::Cached(literal, Note::default());
        }
        match parse_prefix(text, self.rules) {
            Ok((expression, rest)) if rest.is_none_or(|rest| text[rest.range()].trim_ascii().is_empty()) => {
                if text.len() <= MAX_TEXT_BYTES && !contains_list(&expression) {
                    self.insert(text, &expression);
                }
                CachedParse::Parsed(expression)
            }
            _ => CachedParse::Invalid,
        }
    }

    fn insert(&mut self, text: &[u8], expression: &Expression) {
        self.text_bytes += text.len();
        if self.text_bytes > MAX_CACHED_BYTES {
            self.expressions.clear();
            self.text_bytes = text.len();
        }
        self.expressions.insert(text.into(), (expression.clone(), Note::default()));
    }

    /// Sets the note of a text.  Does nothing if the text is not cached.
    pub fn set_note(&mut self, text: &[u8], note: Note) {
        if let Some((_, noted)) = self.expressions.get_mut(text) {
            *noted = note;
        }
    }

    /// Removes a text, with its expression and note, from the cache.
    pub fn remove(&mut self, text: &[u8]) {
        self.expressions.remove(text);
    }
}

/// Whether an expression contains a list.  The evaluator identifies lists by their address, so two attributes must
/// not share one.
fn contains_list(expression: &Expression) -> bool {
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        if matches!(expression.kind(), ExpressionKind::List(_)) {
            return true;
        }
        expression.kind().for_each_child(|child| pending.push(child));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{CachedParse, ParseCache};
    use crate::ad::{Dialect, ExpressionKind};
    use crate::syntax::ParseOptions;

    #[test]
    fn trees_are_shared_but_for_lists() {
        let mut seen: ParseCache<()> = ParseCache::new(ParseOptions::long(Dialect::Condor));
        let mut is_new = |text: &[u8]| matches!(seen.parse(text), CachedParse::Parsed(_));
        assert_eq!(["a + 1", "a + 1", " a + 1", "5"].map(|text| is_new(text.as_bytes())), [true, false, true, false]);
        let mut list = || match seen.parse(b"{ a, b }") {
            CachedParse::Parsed(expression) | CachedParse::Cached(expression, ()) => match expression.kind() {
                ExpressionKind::List(elements) => elements.clone(),
                _ => panic!("a list"),
            },
            CachedParse::Invalid => panic!("a list"),
        };
        let (first, second) = (list(), list());
        assert!(!std::sync::Arc::ptr_eq(&first, &second));
    }

    #[test]
    fn literals_are_one_and_other_roots_are_two() {
        let mut seen: ParseCache<u8> = ParseCache::new(ParseOptions::long(Dialect::Condor));
        let mut is_one = |text: &[u8]| {
            let mut sight = || match seen.parse(text) {
                CachedParse::Parsed(expression) | CachedParse::Cached(expression, _) => expression,
                CachedParse::Invalid => panic!("an expression"),
            };
            sight().ptr_eq(&sight())
        };
        assert_eq!(["5", " \"a\"", "1K", "a + 1"].map(|text| is_one(text.as_bytes())), [true, true, true, false]);
        seen.set_note(b"a + 1", 7);
        assert!(matches!(seen.parse(b"a + 1"), CachedParse::Cached(_, 7)));
        assert!(matches!(seen.parse(b"5"), CachedParse::Cached(_, 0)));
    }
}
