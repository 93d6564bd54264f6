//! Evaluates one clause for a request in many offers.

use std::sync::PoisonError;

use crate::ad::{Ad, Truth, Value};
use crate::eval::{CompiledEvaluator, CompiledScene, CompiledSubject, CompiledValue, Context};
use crate::explain::clauses::ExplainedClause;
use crate::matching::{Pair, PairSide};

use super::{OfferTable, RequestContext};

/// Evaluates one clause for a request, row by row.
pub struct ClauseEvaluator<'e> {
    table: &'e OfferTable,
    request: &'e RequestContext,
    side: PairSide,
    clause: &'e ExplainedClause,
    /// Only while the evaluator is dropped, `None`.
    programs: Option<CompiledEvaluator>,
    /// The pair for the tree walker; `None` until first needed.
    pair: Option<Pair>,
    /// Number of values computed.
    evaluations: u64,
}

impl<'e> ClauseEvaluator<'e> {
    /// Prepares the evaluation of a clause that belongs to `side`.
    pub fn new(
        table: &'e OfferTable,
        request: &'e RequestContext,
        side: PairSide,
        clause: &'e ExplainedClause,
    ) -> Self {
        ClauseEvaluator { table, request, side, clause, programs: Some(table.programs()), pair: None, evaluations: 0 }
    }

    /// Evaluates the clause for the pair of the request and a row.
    pub fn value(&mut self, row: usize) -> Value {
        self.evaluations += 1;
        match self.by_program(row, CompiledEvaluator::value) {
            Some(CompiledValue::Value(value)) => value,
            // Only the tree walker knows the cause of an error.
            Some(CompiledValue::Error) | None => self.walk(row),
        }
    }

    /// Evaluates the clause for the pair of the request and a row, and returns its outcome.
    pub fn outcome(&mut self, row: usize) -> Truth {
        self.evaluations += 1;
        let truth = self.by_program(row, CompiledEvaluator::truth);
        truth.unwrap_or_else(|| Truth::of(&self.walk(row), self.table.context.dialect))
    }

    /// Evaluates the clause for the pairs of the request and each of some rows, and returns the outcomes.
    pub fn outcomes(&mut self, rows: &[u32]) -> Vec<Truth> {
        rows.iter().map(|row| self.outcome(*row as usize)).collect()
    }

    /// Evaluates the program of the clause. `None` if only the tree walker can tell the value.
    fn by_program<T>(
        &mut self,
        row: usize,
        evaluate: impl FnOnce(&mut CompiledEvaluator, CompiledSubject<'_>, CompiledScene<'_>, &Context) -> Option<T>,
    ) -> Option<T> {
        if self.clause.is_whole {
            return None;
        }
        let scene = CompiledScene::of_match([&self.request.ad, &self.table.ads[row]], self.side as usize);
        evaluate(
            self.programs.as_mut()?,
            CompiledSubject::Expression(&self.clause.expression),
            scene,
            &self.table.context,
        )
    }

    fn walk(&mut self, row: usize) -> Value {
        let table = self.table;
        let new_pair = || {
            let (protocol, context) = (table.protocol.clone(), table.context.clone());
            Pair::new(Ad::default(), Ad::default(), protocol, context)
        };
        let pair = self.pair.get_or_insert_with(new_pair);
        pair.replace(PairSide::Request, &self.request.frame);
        pair.replace(PairSide::Offer, &Pair::make_scope(table.ads[row].clone(), PairSide::Offer));
        let value = match self.clause.path.first().filter(|_| self.clause.is_whole) {
            Some(name) => pair.evaluate_attribute(self.side, name),
            None => pair.evaluate(self.side, &self.clause.expression),
        };
        // A clause that exceeds its budget counts as an error, and so does not match.
        value.unwrap_or_else(|halt| Value::error(self.clause.expression.span(), halt.to_string()))
    }
}

impl Drop for ClauseEvaluator<'_> {
    fn drop(&mut self) {
        self.table.count_evaluations(self.evaluations);
        if let Some(programs) = self.programs.take() {
            self.table.programs.lock().unwrap_or_else(PoisonError::into_inner).push(programs);
        }
    }
}
