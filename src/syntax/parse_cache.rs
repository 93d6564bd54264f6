//! A cache of parsed expressions by their text, because the ads of a pool repeat the same expressions.
//!
//! Bench row `parse the bracketed form`: 1.11 times as many instructions without the cache.

use rustc_hash::FxHashMap;

use crate::ad::{Bounded, Expression, ExpressionKind};

use super::{ParseOptions, parse_prefix, simple_literal};

/// Maximum length of a cached text, in bytes; longer ones hardly repeat.
const MAX_TEXT_BYTES: usize = 16 * 1024;

/// Maximum length of a cached simple literal, in bytes.  Longer literals are rare and parse quickly without the cache.
const MAX_LITERAL_BYTES: usize = 24;

/// Maximum nesting depth of a cached expression with lists, which each use copies recursively.
const MAX_LIST_DEPTH: usize = 100;

/// Maps texts of values to their expressions.  The caller may attach a note of any type to each text.
///
/// Each expression belongs to the attribute that had it first.  The attributes of one name, each in its own ad, share
/// the expression.  The evaluator detects circular references by the address of the root, so an attribute of another
/// name gets its own root node, which shares all other nodes.  Only literals are shared by all.  No two attributes
/// share a list, because the evaluator identifies lists by their address.
pub struct ParseCache<Note> {
    rules: ParseOptions,
    expressions: Bounded<FxHashMap<Box<[u8]>, CachedExpression<Note>>>,
}

struct CachedExpression<Note> {
    expression: Expression,
    note: Note,
    /// Number of the attribute that had the text first.
    owner: usize,
    reuse: ExpressionReuse,
}

/// An expression that was parsed through the cache.
pub struct ParsedValue<Note> {
    /// The expression.
    pub expression: Expression,
    /// The note of a text that was cached. The default note if the text was not cached but is a simple literal. `None`
    /// for any other text that was not cached.
    pub note: Option<Note>,
    /// How further attributes of the same name may use the expression.
    pub reuse: ExpressionReuse,
}

impl<Note> ParsedValue<Note> {
    /// Wraps a literal that was parsed without the cache.
    #[must_use]
    pub fn literal(literal: Expression) -> Self {
        ParsedValue { expression: literal, note: None, reuse: ExpressionReuse::Shared }
    }

    /// Wraps an expression that was parsed without the cache.
    #[must_use]
    pub fn unshared(expression: Expression) -> Self {
        let reuse = ExpressionReuse::of(&expression);
        ParsedValue { expression, note: None, reuse }
    }
}

/// How several attributes of one name, each in its own ad, may use one expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpressionReuse {
    /// They share the expression.
    Shared,
    /// Each one needs a copy with its own lists.
    OwnLists,
    /// The expression has lists and is too deep to be copied.  Each one parses the text.
    Never,
}

impl ExpressionReuse {
    fn of(expression: &Expression) -> Self {
        match !expression.kind().is_scalar() && expression.contains_list() {
            false => ExpressionReuse::Shared,
            true if expression.is_deeper_than(MAX_LIST_DEPTH) => ExpressionReuse::Never,
            true => ExpressionReuse::OwnLists,
        }
    }

    /// Returns the expression for another attribute of the same name.  Must not be called for
    /// [`ExpressionReuse::Never`].
    pub fn reused(self, expression: &Expression) -> Expression {
        if self == ExpressionReuse::Shared { expression.clone() } else { expression.with_own_lists() }
    }
}

impl<Note: Copy + Default> ParseCache<Note> {
    /// Creates an empty cache.
    #[must_use]
    pub fn new(rules: ParseOptions) -> Self {
        ParseCache { rules, expressions: Bounded::default() }
    }

    /// Returns the options with which texts are parsed.
    #[must_use]
    pub fn options(&self) -> ParseOptions {
        self.rules
    }

    /// Parses a text, or returns the cached expression.  `owner` is a number for the name of the attribute that has the
    /// text.  `None` if the text is not an expression, or more text follows the expression.
    pub fn parse(&mut self, text: &[u8], owner: usize) -> Option<ParsedValue<Note>> {
        if let Some(cached) = self.cached(text, owner) {
            return Some(cached);
        }
        if let Some(literal) = simple_literal(text) {
            if text.len() <= MAX_LITERAL_BYTES {
                self.insert(text, &literal, owner, ExpressionReuse::Shared);
            }
            let reuse = ExpressionReuse::Shared;
            return Some(ParsedValue { expression: literal, note: Some(Note::default()), reuse });
        }
        let (expression, rest) = parse_prefix(text, self.rules).ok()?;
        if rest.is_some_and(|rest| !text[rest.range()].trim_ascii().is_empty()) {
            return None;
        }
        Some(self.add(text, owner, expression))
    }

    /// Returns the expression of a text as [`ParseCache::parse`] does, for texts of another syntax: `parse` returns the
    /// expression of a text that is not cached, or `None` if there is an error.
    pub fn parse_with(
        &mut self,
        text: &[u8],
        owner: usize,
        parse: impl FnOnce() -> Option<Expression>,
    ) -> Option<ParsedValue<Note>> {
        match self.cached(text, owner) {
            Some(cached) => Some(cached),
            None => Some(self.add(text, owner, parse()?)),
        }
    }

    fn cached(&self, text: &[u8], owner: usize) -> Option<ParsedValue<Note>> {
        let cached = self.expressions.get(text)?;
        let CachedExpression { note, reuse, .. } = *cached;
        Some(ParsedValue { expression: cached.expression_for(owner), note: Some(note), reuse })
    }

    /// Adds an expression that was parsed, unless its text is too long or the expression cannot be copied.
    fn add(&mut self, text: &[u8], owner: usize, expression: Expression) -> ParsedValue<Note> {
        let reuse = ExpressionReuse::of(&expression);
        if text.len() <= MAX_TEXT_BYTES && reuse != ExpressionReuse::Never {
            self.insert(text, &expression, owner, reuse);
        }
        ParsedValue { expression, note: None, reuse }
    }

    fn insert(&mut self, text: &[u8], expression: &Expression, owner: usize, reuse: ExpressionReuse) {
        self.expressions.make_room(text.len());
        let cached = CachedExpression { expression: expression.clone(), note: Note::default(), owner, reuse };
        self.expressions.insert(text.into(), cached);
    }

    /// Sets the note of a text.  Does nothing if the text is not cached.
    pub fn set_note(&mut self, text: &[u8], note: Note) {
        if let Some(cached) = self.expressions.get_mut(text) {
            cached.note = note;
        }
    }

    /// Removes a text, with its expression and note, from the cache.
    pub fn remove(&mut self, text: &[u8]) {
        self.expressions.remove(text);
    }
}

impl<Note> CachedExpression<Note> {
    /// Returns the expression for an attribute of the name with the number `owner`.
    fn expression_for(&self, owner: usize) -> Expression {
        match self.expression.kind() {
            ExpressionKind::Literal(_) => self.expression.clone(),
            _ if owner == self.owner || self.reuse == ExpressionReuse::OwnLists => self.reuse.reused(&self.expression),
            kind => Expression::new(kind.clone(), self.expression.span()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ParseCache;
    use crate::ad::{Dialect, Expression, ExpressionKind};
    use crate::syntax::ParseOptions;

    fn expression(cache: &mut ParseCache<u8>, text: &str, owner: usize) -> Expression {
        cache.parse(text.as_bytes(), owner).expect(text).expression
    }

    #[test]
    fn a_text_is_parsed_once() {
        let mut cache: ParseCache<()> = ParseCache::new(ParseOptions::long(Dialect::Condor));
        let mut is_new = |text: &[u8]| cache.parse(text, 0).is_some_and(|parsed| parsed.note.is_none());
        assert_eq!(["a + 1", "a + 1", " a + 1", "5"].map(|text| is_new(text.as_bytes())), [true, false, true, false]);
    }

    #[test]
    fn no_list_is_shared() {
        let mut cache = ParseCache::new(ParseOptions::long(Dialect::Condor));
        for text in ["{ a, b }", "size(({ 1 })) + 1", "[ a = { 1, { 2 } } ].a", "x ? { } : { 1 }[0]"] {
            let mut lists = Vec::new();
            let trees: Vec<Expression> = (0..3).map(|_| expression(&mut cache, text, 0)).collect();
            for tree in &trees {
                assert!(*tree == trees[0] && tree.span() == trees[0].span(), "{text}");
                for part in tree.parts() {
                    if let ExpressionKind::List(elements) = part.kind() {
                        lists.push(elements.as_ptr() as usize + usize::from(elements.is_empty()) * part.identity());
                    }
                }
            }
            let count = lists.len();
            lists.sort_unstable();
            lists.dedup();
            assert!(count >= 3 && lists.len() == count, "{text}");
        }
    }

    #[test]
    fn roots_are_shared_by_attributes_of_one_name() {
        let mut cache = ParseCache::new(ParseOptions::long(Dialect::Condor));
        let mut is_one = |text: &str, owners: [usize; 2]| {
            let [one, other] = owners.map(|owner| expression(&mut cache, text, owner));
            one.ptr_eq(&other)
        };
        for (text, shared) in [("5", true), (" \"a\"", true), ("1K", true), ("a + 1", false), ("a", false)] {
            assert!(is_one(text, [3, 3]), "{text}");
            assert_eq!(is_one(text, [3, 4]), shared, "{text}");
        }
        cache.set_note(b"a + 1", 7);
        let mut note = |text: &[u8]| cache.parse(text, 0).and_then(|parsed| parsed.note);
        assert_eq!([note(b"a + 1"), note(b"5"), note(b"a +")], [Some(7), Some(0), None]);
    }
}
