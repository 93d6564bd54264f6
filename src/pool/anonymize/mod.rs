//! Anonymization: pseudonyms in place of the names, hosts, paths and addresses in ads, so that the ads can be given
//! away and still match as before.

mod pseudonyms;
mod text_uses;
mod vocabulary;
mod words;

use std::convert::Infallible;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{Ad, Expression, ExpressionKind, ListValue, Name, Value};

use pseudonyms::Pseudonyms;

pub use text_uses::TextUses;

/// Maximum number of expressions whose rewritten forms are cached.
const MAX_CACHED_EXPRESSIONS: usize = 1 << 14;

/// Replaces the words in all strings of ads by pseudonyms: those of values and those within expressions.
///
/// A pseudonym depends on the key and on the word alone, so that ads of several files agree. Booleans and the names of
/// attributes are kept, and so are numbers that belong to no name and no address, and words that say nothing of a site:
/// `true`, `LINUX`, `Claimed`, `slot1_2`.
/// Strings are equal, with or without regard to case, exactly if their pseudonyms are.
pub struct Anonymizer {
    pseudonyms: Pseudonyms,
    /// Rewritten expressions, by the identity of the old ones, which are kept so that no other gets their identity.
    expressions: FxHashMap<usize, (Expression, Expression)>,
    /// The attributes whose uses of strings were found, with the identity of a cached expression or the fact whether
    /// they are strings.
    known: FxHashSet<(Name, KnownExpression)>,
    uses: TextUses,
}

#[derive(PartialEq, Eq, Hash)]
enum KnownExpression {
    Scalar { is_text: bool },
    Operation(usize),
}

impl Anonymizer {
    /// Creates an anonymizer with a key of any length.
    #[must_use]
    pub fn new(key: &[u8]) -> Self {
        Anonymizer {
            pseudonyms: Pseudonyms::new(key),
            expressions: FxHashMap::default(),
            known: FxHashSet::default(),
            uses: TextUses::default(),
        }
    }

    /// Keeps the words of a text wherever they occur.
    pub fn keep(&mut self, text: &str) {
        self.pseudonyms.keep(text.as_bytes());
    }

    /// Returns the ad with pseudonyms. O(n) in the size of what was not rewritten before.
    pub fn anonymize(&mut self, ad: &Ad) -> Ad {
        if self.expressions.len() >= MAX_CACHED_EXPRESSIONS {
            self.expressions.clear();
            self.known.clear();
        }
        let attributes = ad.iter().map(|attribute| {
            let expression = attribute.expression;
            let known = match expression.kind() {
                kind if kind.is_scalar() => {
                    KnownExpression::Scalar { is_text: matches!(kind, ExpressionKind::Literal(Value::String(_))) }
                }
                _ => KnownExpression::Operation(expression.identity()),
            };
            let is_operation = matches!(known, KnownExpression::Operation(_));
            if self.known.insert((attribute.name.clone(), known)) {
                self.uses.add(attribute.name, expression);
            }
            let rewritten = if is_operation { self.rewrite_cached(expression) } else { self.rewrite(expression) };
            (attribute.name.clone(), rewritten)
        });
        attributes.collect()
    }

    /// Returns the uses of strings that were found since the last call.
    pub fn take_uses(&mut self) -> TextUses {
        std::mem::take(&mut self.uses)
    }

    /// Returns a value with pseudonyms.
    pub fn anonymize_value(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::string(self.pseudonyms.pseudonym(text.as_bytes())),
            Value::List(list) => {
                let elements = list.elements.iter().map(|element| self.rewrite(element)).collect();
                Value::List(ListValue { elements, scope: list.scope.clone() })
            }
            value => value.clone(),
        }
    }

    fn rewrite_cached(&mut self, expression: &Expression) -> Expression {
        if let Some((_, rewritten)) = self.expressions.get(&expression.identity()) {
            return rewritten.clone();
        }
        let rewritten = self.rewrite(expression);
        self.expressions.insert(expression.identity(), (expression.clone(), rewritten.clone()));
        rewritten
    }

    fn rewrite(&mut self, expression: &Expression) -> Expression {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || match expression.kind() {
            ExpressionKind::Literal(Value::Ad(value)) => {
                let attributes = value.ad().iter();
                let ad = attributes.map(|attribute| (attribute.name.clone(), self.rewrite(attribute.expression)));
                Expression::new(ExpressionKind::Ad(ad.collect()), expression.span())
            }
            ExpressionKind::Literal(value @ (Value::String(_) | Value::List(_))) => {
                Expression::new(ExpressionKind::Literal(self.anonymize_value(value)), expression.span())
            }
            kind => {
                let Ok(kind) = kind.map_children(|child| Ok::<_, Infallible>(self.rewrite(child)));
                kind.map_or_else(|| expression.clone(), |kind| Expression::new(kind, expression.span()))
            }
        })
    }
}
