//! Expressions that are written alike, each numbered and looked at once.

use std::hash::{Hash, Hasher};
use std::mem::discriminant;
use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHasher};

use crate::ad::{Ad, Expression, Frame, Kind, Name, Value};
use crate::eval::{Context, Environment, Extent};

use super::mentions::{Mentions, OTHERS, OTHERS_OF_POLICIES};

/// The number of a name or of an expression.
pub type Number = u32;

/// The expressions and names of a set of ads, numbered.  The ads must outlive it: a tree is known again by its
/// place in memory.
pub struct Distinct<'c> {
    context: &'c Context,
    environment: Environment,
    frame: Arc<Frame>,
    pub names: IndexSet<Name, FxBuildHasher>,
    by_tree: FxHashMap<usize, Number>,
    by_hash: FxHashMap<u64, Vec<Number>>,
    known: Vec<(Expression, Option<Arc<Mentions>>)>,
}

impl<'c> Distinct<'c> {
    pub fn new(context: &'c Context) -> Self {
        let (environment, frame) = Environment::unmet(Ad::default(), Extent::Closed);
        Distinct {
            context,
            environment,
            frame,
            names: IndexSet::default(),
            by_tree: FxHashMap::default(),
            by_hash: FxHashMap::default(),
            known: Vec::new(),
        }
    }

    /// The number of a name.
    #[allow(clippy::cast_possible_truncation)] // there is no memory for so many
    pub fn name(&mut self, name: &Name) -> Number {
        match self.names.get_index_of(name) {
            Some(known) => known as Number,
            None => self.names.insert_full(name.clone()).0 as Number,
        }
    }

    /// The number of an expression: the same for those that are written alike.
    #[allow(clippy::cast_possible_truncation)] // as above
    pub fn expression(&mut self, expression: &Expression) -> Number {
        let shared = !matches!(expression.kind(), Kind::Literal(_));
        if shared && let Some(known) = self.by_tree.get(&expression.identity()) {
            return *known;
        }
        let alike = self.by_hash.entry(hash(expression)).or_default();
        let found = alike.iter().copied().find(|number| self.known[*number as usize].0 == *expression);
        let number = found.unwrap_or(self.known.len() as Number);
        if found.is_none() {
            alike.push(number);
            self.known.push((expression.clone(), None));
        }
        if shared {
            self.by_tree.insert(expression.identity(), number);
        }
        number
    }

    /// What the expression of a number mentions.
    pub fn mentions(&mut self, number: Number) -> Arc<Mentions> {
        let (expression, known) = &self.known[number as usize];
        if let Some(known) = known {
            return Arc::clone(known);
        }
        let expression = expression.clone();
        let found = Arc::new(self.look(&expression, OTHERS));
        self.known[number as usize].1 = Some(Arc::clone(&found));
        found
    }

    /// What an expression of a policy mentions; `label` is one of the other side's names there.
    pub fn mentions_of_policy(&mut self, expression: &Expression) -> Mentions {
        self.look(expression, OTHERS_OF_POLICIES)
    }

    fn look(&mut self, expression: &Expression, others: &[&str]) -> Mentions {
        let found = Mentions::of(expression, others, &self.frame, &self.environment, self.context);
        found.numbered(|name| self.name(name))
    }
}

/// Equal for expressions that are written alike.
fn hash(expression: &Expression) -> u64 {
    let mut hasher = FxHasher::default();
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        let kind = expression.kind();
        discriminant(kind).hash(&mut hasher);
        match kind {
            Kind::Literal(value) => hash_literal(value, &mut hasher),
            Kind::Attribute(name) | Kind::RootAttribute(name) | Kind::Select(_, name) | Kind::Call(name, _) => {
                name.hash(&mut hasher);
            }
            Kind::Unary(operator, _) => discriminant(operator).hash(&mut hasher),
            Kind::Binary(operator, ..) => discriminant(operator).hash(&mut hasher),
            Kind::Ad(ad) => ad.iter().for_each(|attribute| attribute.name.hash(&mut hasher)),
            _ => {}
        }
        kind.for_each_child(|child| pending.push(child));
    }
    hasher.finish()
}

fn hash_literal(value: &Value, hasher: &mut FxHasher) {
    discriminant(value).hash(hasher);
    match value {
        Value::Boolean(is) => is.hash(hasher),
        Value::Integer(integer) => integer.hash(hasher),
        Value::Real(real) => real.to_bits().hash(hasher),
        Value::String(text) => text.as_bytes().hash(hasher),
        // Rare: the comparison tells them apart.
        _ => {}
    }
}
