//! Dictionary columns: the expressions that the offers bind to each attribute, encoded as codes.

use std::cell::OnceCell;
use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::ad::{Ad, Dialect, Distinct, Expression, Kind, Name, Value};
use crate::eval::Mentions;
use crate::pool::Key;

/// The code of rows without the attribute.
const ABSENT: u32 = 0;

/// One attribute of all offers, as a dictionary column.
#[derive(Default)]
pub struct Attribute {
    /// For each row [`ABSENT`], or 1 + the index into `expressions`. Rows beyond the end lack the attribute.
    codes: Vec<u32>,
    /// The distinct expressions, in order of first occurrence.
    pub expressions: Vec<Expression>,
    mentions: OnceCell<Mentions>,
}

/// Builds an [`Attribute`] ad by ad.
#[derive(Default)]
struct Growing {
    attribute: Attribute,
    literals: FxHashMap<Key, u32>,
    others: Distinct,
    codes_of_others: Vec<u32>,
    /// The latest expression and its code. Consecutive ads often bind equal expressions.
    last: Option<(Expression, u32)>,
}

/// Builds the columns of all attributes of some ads. Iterates over each ad once, which is faster than looking up every
/// name in every ad.
pub fn attributes(ads: &[Ad]) -> IndexMap<Name, Rc<Attribute>, FxBuildHasher> {
    let mut growing: IndexMap<Name, Growing, FxBuildHasher> = IndexMap::default();
    // Ads tend to have the same attributes in the same order: try the column found at this position in the previous ad.
    let mut places: Vec<usize> = Vec::new();
    for (row, ad) in ads.iter().enumerate() {
        for (position, bound) in ad.iter().enumerate() {
            let expected = places.get(position).copied();
            let is_it = |place: &usize| growing.get_index(*place).is_some_and(|(name, _)| name == bound.name);
            let place = expected.filter(is_it).unwrap_or_else(|| match growing.get_index_of(bound.name) {
                Some(place) => place,
                None => growing.insert_full(bound.name.clone(), Growing::default()).0,
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

impl Growing {
    fn add(&mut self, row: usize, expression: &Expression) {
        let code = match &self.last {
            Some((last, code)) if last.same(expression) || is_same_literal(last, expression) => *code,
            _ => self.code(expression),
        };
        self.attribute.codes.resize(row, ABSENT);
        self.attribute.codes.push(code);
        if self.last.as_ref().is_none_or(|(_, last)| *last != code) {
            self.last = Some((expression.clone(), code));
        }
    }

    fn code(&mut self, expression: &Expression) -> u32 {
        let next = u32::try_from(self.attribute.expressions.len() + 1).unwrap_or(u32::MAX);
        let code = match expression.kind() {
            Kind::Literal(value) if is_scalar(value) => *self.literals.entry(Key::of(value)).or_insert(next),
            _ => {
                let (number, is_new) = self.others.number(expression);
                if is_new {
                    self.codes_of_others.push(next);
                }
                self.codes_of_others[number]
            }
        };
        if code == next {
            self.attribute.expressions.push(expression.clone());
        }
        code
    }
}

impl Attribute {
    /// The code of a row: two rows have equal codes if and only if they bind equal expressions, or both lack the
    /// attribute.
    pub fn code(&self, row: usize) -> u32 {
        self.codes.get(row).copied().unwrap_or(ABSENT)
    }

    /// The number of codes, with [`ABSENT`].
    pub fn codes(&self) -> usize {
        self.expressions.len() + 1
    }

    /// Whether a row has the attribute.
    pub fn has(&self, row: usize) -> bool {
        self.code(row) != ABSENT
    }

    /// The names that the non-literal expressions mention; computed once.
    pub fn mentions(&self, dialect: Dialect) -> &Mentions {
        self.mentions.get_or_init(|| {
            let mut mentions = Mentions::default();
            let others = self.expressions.iter().filter(|expression| !matches!(expression.kind(), Kind::Literal(_)));
            others.for_each(|expression| mentions.add(expression, dialect));
            mentions
        })
    }
}

/// Whether the value's [`Key`] identifies it. Lists and ads are interned as expressions instead.
fn is_scalar(value: &Value) -> bool {
    !matches!(value, Value::List(_) | Value::Ad(_))
}

/// Whether both are literals with the same integer, boolean or string: a fast check before interning.
fn is_same_literal(left: &Expression, right: &Expression) -> bool {
    match (left.kind(), right.kind()) {
        (Kind::Literal(Value::Integer(left)), Kind::Literal(Value::Integer(right))) => left == right,
        (Kind::Literal(Value::Boolean(left)), Kind::Literal(Value::Boolean(right))) => left == right,
        (Kind::Literal(Value::String(left)), Kind::Literal(Value::String(right))) => left == right,
        _ => false,
    }
}
