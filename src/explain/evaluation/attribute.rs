//! Dictionary columns: the expressions that the offers bind to each attribute, encoded as codes.

use std::cell::OnceCell;
use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::ad::{Ad, Dialect, Expression, ExpressionInterner, ExpressionKind, Name, Value};
use crate::eval::FreeNames;
use crate::pool::ValueKey;

/// The code of rows without the attribute.
const ABSENT: u32 = 0;

/// One attribute of all offers, as a dictionary column.
#[derive(Default)]
pub struct OfferColumn {
    /// For each row [`ABSENT`], or 1 + the index into `expressions`. Rows beyond the end lack the attribute.
    codes: Vec<u32>,
    /// The distinct expressions, in order of first occurrence.
    pub expressions: Vec<Expression>,
    mentions: OnceCell<FreeNames>,
}

/// Builds an [`OfferColumn`] ad by ad.
#[derive(Default)]
struct OfferColumnBuilder {
    attribute: OfferColumn,
    literals: FxHashMap<ValueKey, u32>,
    interner: ExpressionInterner,
    codes_by_id: Vec<u32>,
    /// The latest expression and its code. Consecutive ads often bind equal expressions.
    last: Option<(Expression, u32)>,
}

/// Builds the columns of all attributes of some ads. Iterates over each ad once, which is faster than looking up every
/// name in every ad.
pub fn build_columns(ads: &[Ad]) -> IndexMap<Name, Rc<OfferColumn>, FxBuildHasher> {
    let mut growing: IndexMap<Name, OfferColumnBuilder, FxBuildHasher> = IndexMap::default();
    // Ads tend to have the same attributes in the same order: try the column found at this position in the previous ad.
    let mut places: Vec<usize> = Vec::new();
    for (row, ad) in ads.iter().enumerate() {
        for (position, bound) in ad.iter().enumerate() {
            let expected = places.get(position).copied();
            let is_it = |place: &usize| growing.get_index(*place).is_some_and(|(name, _)| name == bound.name);
            let place = expected.filter(is_it).unwrap_or_else(|| match growing.get_index_of(bound.name) {
                Some(place) => place,
                None => growing.insert_full(bound.name.clone(), OfferColumnBuilder::default()).0,
            });
            match places.get_mut(position) {
                Some(expected) => *expected = place,
                None => places.push(place),
            }
            growing[place].add(row, bound.expression);
        }
    }
    growing.into_iter().map(|(name, growing)| (name, Rc::new(growing.attribute))).collect()
}

impl OfferColumnBuilder {
    fn add(&mut self, row: usize, expression: &Expression) {
        let code = match &self.last {
            Some((last, code)) if last.ptr_eq(expression) || is_same_literal(last, expression) => *code,
            _ => self.intern(expression),
        };
        self.attribute.codes.resize(row, ABSENT);
        self.attribute.codes.push(code);
        if self.last.as_ref().is_none_or(|(_, last)| *last != code) {
            self.last = Some((expression.clone(), code));
        }
    }

    fn intern(&mut self, expression: &Expression) -> u32 {
        let next = u32::try_from(self.attribute.expressions.len() + 1).unwrap_or(u32::MAX);
        let code = match expression.kind() {
            ExpressionKind::Literal(value) if has_key(value) => {
                *self.literals.entry(ValueKey::of(value)).or_insert(next)
            }
            _ => {
                let (number, is_new) = self.interner.intern(expression);
                if is_new {
                    self.codes_by_id.push(next);
                }
                self.codes_by_id[number]
            }
        };
        if code == next {
            self.attribute.expressions.push(expression.clone());
        }
        code
    }
}

impl OfferColumn {
    /// The code of a row: two rows have equal codes if and only if they bind equal expressions, or both lack the
    /// attribute.
    pub fn code(&self, row: usize) -> u32 {
        self.codes.get(row).copied().unwrap_or(ABSENT)
    }

    /// The number of codes, with [`ABSENT`].
    pub fn code_count(&self) -> usize {
        self.expressions.len() + 1
    }

    /// Whether a row has the attribute.
    pub fn has(&self, row: usize) -> bool {
        self.code(row) != ABSENT
    }

    /// The names that the non-literal expressions mention; computed once.
    pub fn free_names(&self, dialect: Dialect) -> &FreeNames {
        self.mentions.get_or_init(|| {
            let mut mentions = FreeNames::default();
            let others =
                self.expressions.iter().filter(|expression| !matches!(expression.kind(), ExpressionKind::Literal(_)));
            others.for_each(|expression| mentions.add(expression, dialect));
            mentions
        })
    }
}

/// Whether the value's [`ValueKey`] identifies it. Lists and ads are interned as expressions instead.
fn has_key(value: &Value) -> bool {
    !matches!(value, Value::List(_) | Value::Ad(_))
}

/// Whether both are literals with the same integer, boolean or string: a fast check before interning.
fn is_same_literal(left: &Expression, right: &Expression) -> bool {
    match (left.kind(), right.kind()) {
        (ExpressionKind::Literal(Value::Integer(left)), ExpressionKind::Literal(Value::Integer(right))) => {
            left == right
        }
        (ExpressionKind::Literal(Value::Boolean(left)), ExpressionKind::Literal(Value::Boolean(right))) => {
            left == right
        }
        (ExpressionKind::Literal(Value::String(left)), ExpressionKind::Literal(Value::String(right))) => left == right,
        _ => false,
    }
}
