//! A request during one probe of the index: its attribute values and classes are computed once.

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Name};
use crate::constraint::{ConstraintClauses, literal_value};
use crate::eval::Context;
use crate::pool::ColumnCell;
use crate::protocol::Protocol;

use super::one_sided::one_sided_cell;

/// A request that is probed, with cached attribute values and classes.
pub struct ProbedRequest<'r> {
    /// The request's ad.
    pub ad: &'r Ad,
    /// The clauses of the request's constraint.
    pub clauses: ConstraintClauses<'r>,
    protocol: &'r Protocol,
    context: &'r Context,
    /// The class of the request in each classification, by the number of the classification.
    class_cache: Vec<CachedClass>,
    /// Cached cells of attributes that are not literals.
    cells: FxHashMap<Name, ColumnCell>,
}

/// The cached class of a request in one classification.
#[derive(Clone, Copy, Default)]
pub enum CachedClass {
    /// Not computed yet.
    #[default]
    Unknown,
    /// The class; `None` if the request is in none, because an attribute is deviant, a list or an ad.
    Known(Option<usize>),
}

impl<'r> ProbedRequest<'r> {
    /// Prepares a request for a probe; `constraint` is the attribute that holds its constraint.
    pub fn new(ad: &'r Ad, constraint: &'r Name, protocol: &'r Protocol, context: &'r Context) -> Self {
        let clauses = ConstraintClauses::of(ad, constraint);
        ProbedRequest { ad, clauses, protocol, context, class_cache: Vec::new(), cells: FxHashMap::default() }
    }

    /// Returns the class of the request in the classification `group`, [`CachedClass::Unknown`] if it is not cached.
    pub fn cached_class(&self, group: usize) -> CachedClass {
        self.class_cache.get(group).copied().unwrap_or_default()
    }

    /// Caches the class of the request in the classification `group`.
    pub fn cache_class(&mut self, group: usize, number: Option<usize>) {
        self.class_cache.resize(self.class_cache.len().max(group + 1), CachedClass::default());
        self.class_cache[group] = CachedClass::Known(number);
    }

    /// Returns the cell of an attribute of the request: its value, unless the value depends on the partner.
    pub fn cell(&mut self, name: &Name) -> ColumnCell {
        let Some(expression) = self.ad.get(name) else { return ColumnCell::Absent };
        if let Some(value) = literal_value(expression, self.context.dialect) {
            return ColumnCell::Constant(value.clone());
        }
        if let Some(known) = self.cells.get(name) {
            return known.clone();
        }
        // Attributes whose values may be circular when they are reached from the constraint or the rank.
        let through: Vec<Name> = self.clauses.followed().chain([self.protocol.rank_name()]).cloned().collect();
        let cell = one_sided_cell(self.ad, name, expression, &through, self.context);
        self.cells.insert(name.clone(), cell.clone());
        cell
    }
}
