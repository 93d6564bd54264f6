//! A request during one probe of the index: its attribute values and classes are computed once.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Expression, Name, ScopeFrame, Value};
use crate::constraint::{ConstraintClauses, literal_value};
use crate::eval::{Context, Work};
use crate::pool::ColumnCell;
use crate::protocol::Protocol;

use super::super::{Pair, PairSide};
use super::one_sided::one_sided_cell;

/// Cached results. The index is a class, or the identifier of a set of classes. An item is `None` before the result is
/// computed, and `Some(None)` if there is no result.
pub type CachedResults<T> = Vec<Option<Option<T>>>;

/// Evaluates expressions in pairs of one request and changing offers. `pair` must already contain the request.
pub struct PairEvaluator<'m> {
    /// The pair of the request and the offer that was evaluated last.
    pub pair: &'m mut Pair,
    /// The scopes of the offers, by offer index.
    pub offers: &'m [Arc<ScopeFrame>],
    /// Number of expressions evaluated.
    pub evaluations: u64,
    /// Identity of the expression that was evaluated last.
    pub last_expression: usize,
}

impl PairEvaluator<'_> {
    /// Evaluates an expression of one side in the pair of the request and an offer. `None` if a budget is exceeded.
    pub fn evaluate(&mut self, side: PairSide, expression: &Expression, offer: usize) -> Option<Value> {
        if self.pair.context().has_spent_comparisons() {
            return None;
        }
        self.evaluations += 1;
        if std::mem::replace(&mut self.last_expression, expression.identity()) != expression.identity() {
            self.pair.context().charge(Work::Switch, 1);
        }
        self.pair.replace(PairSide::Offer, &self.offers[offer]);
        let value = self.pair.evaluate(side, expression);
        self.pair.count_comparisons();
        value.ok()
    }

    /// Returns the number of evaluations so far, and begins to count anew.
    pub fn take_evaluations(&mut self) -> u64 {
        std::mem::take(&mut self.evaluations)
    }
}

/// A request during a probe of the index, with cached attribute values and classes.
pub struct ProbedRequest<'r, 'e> {
    /// The request's ad.
    pub ad: &'r Ad,
    /// The clauses of the request's constraint.
    pub clauses: ConstraintClauses<'r>,
    pub protocol: &'r Protocol,
    pub context: &'r Context,
    /// Evaluates expressions in pairs of this request and the offers.
    pub evaluator: &'r mut PairEvaluator<'e>,
    /// Class of the request for each set of attributes, by `AttributeClasses::id`. The request has no class if one of
    /// the attributes is deviant, a list or an ad.
    pub classes: CachedResults<usize>,
    /// Cached cells of those attributes of the request that are not literals.
    pub cells: FxHashMap<Name, ColumnCell>,
}

impl<'r, 'e> ProbedRequest<'r, 'e> {
    /// Prepares a request for a probe. `constraint` is the name of its constraint.
    pub fn new(
        ad: &'r Ad,
        constraint: &'r Name,
        protocol: &'r Protocol,
        context: &'r Context,
        evaluator: &'r mut PairEvaluator<'e>,
    ) -> Self {
        ProbedRequest {
            ad,
            clauses: ConstraintClauses::of(ad, constraint),
            protocol,
            context,
            evaluator,
            classes: Vec::new(),
            cells: FxHashMap::default(),
        }
    }

    /// Returns the value of an attribute of the request as a column cell. The cell is deviant if the value depends on
    /// the partner.
    pub fn cell(&mut self, name: &Name) -> ColumnCell {
        let Some(expression) = self.ad.get(name) else { return ColumnCell::Absent };
        if let Some(value) = literal_value(expression, self.context.dialect) {
            return ColumnCell::Constant(value.clone());
        }
        if let Some(known) = self.cells.get(name) {
            return known.clone();
        }
        // Attributes through which clauses were found, and the rank. An evaluation that comes back to one of these
        // attributes is circular.
        let through: Vec<Name> = self.clauses.followed().chain([self.protocol.rank_name()]).cloned().collect();
        let cell = one_sided_cell(self.ad, name, expression, &through, self.context);
        self.cells.insert(name.clone(), cell.clone());
        cell
    }
}
