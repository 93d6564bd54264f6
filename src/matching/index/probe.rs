//! Probes the index with a request (thesis 4.5: the query).

use std::rc::Rc;

use fixedbitset::FixedBitSet;

use crate::ad::{Ad, BinaryOperator, Expression, Name, Truth, Value};
use crate::constraint::{ClauseForm, has_scope_attribute, orient_comparison};
use crate::eval::string_list_items;
use crate::pool::{AttributeColumn, ColumnCell, PositionRange};

use super::super::{BestCandidates, Candidate};
use super::build::{OwnOperand, other_side_attribute, own_operand};
use super::one_sided::needs_pair_evaluation;
use super::ranks::RankForm;
use super::remaining::RemainingOffers;
use super::request::{PairEvaluator, ProbedRequest};
use super::residue::limit_cached;
use super::{ItemPostings, OfferIndex};

/// A comparison of an attribute of the offers with a constant, which selects a range of a column.
struct RangeComparison {
    column: Rc<AttributeColumn>,
    range: PositionRange,
}

/// The offers that may match the probed request.
#[derive(Default)]
pub struct ProbeResult {
    /// Offers that certainly match, with their ranks.
    pub sure: Vec<Candidate>,
    /// Indexes of offers that may match. The caller must evaluate their pairs with the request.
    pub unsure: Vec<usize>,
}

impl OfferIndex {
    /// Finds the offers that may match a request, with the ranks of those that certainly match. The pair of `evaluator`
    /// must already contain the request.
    pub fn probe(&mut self, ad: &Ad, evaluator: &mut PairEvaluator<'_>) -> ProbeResult {
        let left = self.compatible(ad, evaluator);
        self.rank(ad, left, evaluator)
    }

    /// Finds the offers that may match a request. The pair of `evaluator` must already contain the request.
    pub fn compatible(&mut self, ad: &Ad, evaluator: &mut PairEvaluator<'_>) -> RemainingOffers {
        let (protocol, context) = (Rc::clone(&self.protocol), Rc::clone(&self.columns.context));
        let Some(constraint) = protocol.constraint_name(ad).filter(|_| !self.eligible.is_clear()) else {
            return RemainingOffers::default();
        };
        if has_scope_attribute(ad) {
            return RemainingOffers::new(self.eligible.clone(), self.eligible.clone());
        }
        limit_cached(self.offer_residues.iter_mut().map(|(residue, _)| residue));
        limit_cached(&mut self.request_residues.residues);
        let mut request = ProbedRequest::new(ad, constraint, &protocol, &context, evaluator);
        let mut left = RemainingOffers::new(self.eligible.clone(), self.needs_evaluation.clone());
        // All clauses are classified before the first one is looked up. The CPU can then load the expressions of
        // several clauses from memory at the same time.
        let clauses = request.clauses.items.iter().map(|clause| (clause.expression, ClauseForm::of(clause.expression)));
        let clauses: Vec<(&Expression, ClauseForm<'_>)> = clauses.collect();
        let (mut residues, mut comparisons) = (Vec::new(), Vec::with_capacity(clauses.len()));
        for (clause, condition) in clauses {
            if !self.apply_clause(&mut request, condition, &mut left, &mut comparisons) {
                residues.push(clause);
            } else if left.is_clear() {
                break;
            }
        }
        // The comparison that fewest offers meet comes first, so that soon only few offers remain.
        comparisons.sort_unstable_by_key(|comparison| comparison.range.row_count());
        for comparison in comparisons {
            self.retain_in_range(comparison, &mut left);
        }
        self.apply_imported_bounds(&mut request, &mut left);
        for (residue, offers) in &mut self.offer_residues {
            left.apply_residue(residue, &mut request, Some(offers));
        }
        for residue in residues {
            if left.is_clear() {
                break;
            }
            self.apply_request_residue(residue, &mut request, &mut left);
        }
        if !self.unindexable.is_clear() {
            left.bitmap().union_with(&self.unindexable);
            left.unsure.union_with(&self.unindexable);
        }
        left
    }

    /// Returns the best of the offers `offers`, best first: all of them, or `most`. The offers must certainly match the
    /// request. `None` if only evaluation of a pair can tell a rank. The pair of `evaluator` must already contain the
    /// request.
    pub fn best(
        &mut self,
        ad: &Ad,
        offers: &FixedBitSet,
        most: usize,
        evaluator: &mut PairEvaluator<'_>,
    ) -> Option<Vec<Candidate>> {
        let mut best = BestCandidates::new(most);
        let mut unsure = FixedBitSet::with_capacity(offers.len());
        self.visit_ranks(ad, offers, &mut unsure, evaluator, |candidate| best.add(candidate));
        unsure.is_clear().then(|| best.into_sorted())
    }

    /// Computes the ranks of the remaining offers. An offer becomes unsure if only evaluation of the pair can tell the
    /// rank of the request or of the offer. The pair of `evaluator` must already contain the request.
    pub fn rank(&mut self, ad: &Ad, left: RemainingOffers, evaluator: &mut PairEvaluator<'_>) -> ProbeResult {
        if let Some(offers) = left.certain_few()
            && self.offer_ranks.are_constant()
            && let RankForm::Constant(request_rank) =
                self.request_ranks.classify_rank(ad, &self.protocol, &mut self.columns, true)
        {
            let candidate = |offer: &u32| {
                let offer = *offer as usize;
                Candidate { offer, request_rank, offer_rank: self.offer_ranks.constant(offer) }
            };
            return ProbeResult { sure: offers.iter().map(candidate).collect(), unsure: Vec::new() };
        }
        let (mut all, mut unsure) = left.into_bitmaps();
        unsure.grow(all.len());
        unsure.intersect_with(&all);
        all.difference_with(&unsure);
        let mut sure = Vec::with_capacity(all.count_ones(..));
        self.visit_ranks(ad, &all, &mut unsure, evaluator, |candidate| sure.push(candidate));
        ProbeResult { sure, unsure: unsure.ones().collect() }
    }

    fn visit_ranks(
        &mut self,
        ad: &Ad,
        all: &FixedBitSet,
        unsure: &mut FixedBitSet,
        evaluator: &mut PairEvaluator<'_>,
        visit: impl FnMut(Candidate),
    ) {
        let (protocol, context) = (Rc::clone(&self.protocol), Rc::clone(&self.columns.context));
        let Some(constraint) = protocol.constraint_name(ad).filter(|_| !all.is_clear()) else { return };
        limit_cached(&mut self.request_ranks.residues);
        self.offer_ranks.limit_cached();
        let mut request = ProbedRequest::new(ad, constraint, &protocol, &context, evaluator);
        let form = self.request_ranks.classify_rank(ad, &protocol, &mut self.columns, true);
        let mut settled = all.clone();
        settled.difference_with(&self.offer_ranks.needs_evaluation);
        let ranks = (form, &mut self.request_ranks);
        self.class_ranks.visit(&mut request, ranks, &mut self.offer_ranks, &settled, unsure, visit);
        settled.toggle_range(..);
        settled.intersect_with(all);
        unsure.union_with(&settled);
    }

    /// Looks a clause of the request up in the columns of the offers, and excludes the offers that do not meet it.
    /// Returns false if the clause cannot be looked up.
    fn apply_clause(
        &mut self,
        request: &mut ProbedRequest<'_, '_>,
        condition: ClauseForm<'_>,
        left: &mut RemainingOffers,
        comparisons: &mut Vec<RangeComparison>,
    ) -> bool {
        let (ad, dialect) = (request.ad, request.context.dialect);
        let theirs = |operand| other_side_attribute(ad, operand);
        let mut mine = |operand| match own_operand(ad, operand, dialect)? {
            OwnOperand::Value(value) => Some(ColumnCell::Constant(value.clone())),
            OwnOperand::Attribute(name) => Some(request.cell(name)),
        };
        match condition {
            ClauseForm::Comparison(operator, first, second) => {
                if let Some((name, operator, cell)) = orient_comparison(operator, first, second, theirs, &mut mine) {
                    match cell.value() {
                        Some(value) => {
                            let column = self.columns.column(name);
                            match column.matching_range(operator, &value).filter(|_| !column.has_deviant_rows()) {
                                Some(range) => comparisons.push(RangeComparison { column, range }),
                                None => self.retain_where(name, left, |column, rows| {
                                    column.select(operator, &value, rows);
                                }),
                            }
                        }
                        None => left.doubt_all(),
                    }
                    return true;
                }
            }
            ClauseForm::Truth(operand) => {
                if let Some(name) = theirs(operand) {
                    let met = |value: &Value| Truth::of(value, dialect).is_true();
                    self.retain_where(name, left, |column, rows| column.select_where(met, rows));
                    return true;
                }
            }
            ClauseForm::StringListMember(operand, list) => {
                let Some(name) = theirs(operand) else { return false };
                self.retain_where(name, left, |column, rows| {
                    for item in string_list_items(list) {
                        column.select(BinaryOperator::Is, &Value::String(item), rows);
                    }
                });
                return true;
            }
            ClauseForm::Residue => return false,
        }
        let Some(known) = condition.decide(dialect, |operand| mine(*operand)?.value()) else { return false };
        if !Truth::of(&known, dialect).is_true() {
            left.bitmap().clear();
        }
        true
    }

    /// Excludes the offers that do not meet a comparison.
    fn retain_in_range(&mut self, comparison: RangeComparison, left: &mut RemainingOffers) {
        let RangeComparison { column, range } = comparison;
        if left.are_few() {
            let test = column.row_test(range);
            return left.retain_if(|offer| test.is_met(offer));
        }
        self.scratch.clear();
        column.add_range_rows(range, &mut self.scratch);
        left.intersect_with(&self.scratch);
    }

    /// Excludes the offers that `select` does not select in the column of an attribute. Deviant offers are kept and
    /// become unsure.
    fn retain_where(
        &mut self,
        name: &Name,
        left: &mut RemainingOffers,
        select: impl FnOnce(&AttributeColumn, &mut FixedBitSet),
    ) {
        let column = self.columns.column(name);
        if column.has_deviant_rows() {
            left.unsure.union_with(column.deviant_rows());
        }
        self.scratch.clear();
        select(&column, &mut self.scratch);
        if column.has_deviant_rows() {
            self.scratch.union_with(column.deviant_rows());
        }
        left.intersect_with(&self.scratch);
    }

    /// Excludes the offers whose bounds or string lists do not admit the request.
    fn apply_imported_bounds(&mut self, request: &mut ProbedRequest<'_, '_>, left: &mut RemainingOffers) {
        for bounds in self.imported_bounds.chunk_by(|left, right| left.subject == right.subject) {
            let value = request.cell(&bounds[0].subject).value();
            for column in bounds {
                if left.is_clear() {
                    return;
                }
                let test = value.as_ref().filter(|_| left.are_few()).and_then(|value| column.row_test(value));
                if let Some(test) = test {
                    left.retain_if(|offer| test.is_met_or_void(offer));
                } else if let Some(value) = &value {
                    column.admitting(value, &mut self.scratch);
                    left.intersect_with(&self.scratch);
                } else {
                    self.scratch.clone_from(left.bitmap());
                    self.scratch.difference_with(&column.always_admitted);
                    left.unsure.union_with(&self.scratch);
                }
                if column.bounds.has_deviant_rows() {
                    left.unsure.union_with(column.bounds.deviant_rows());
                }
            }
        }
        for (attribute, ItemPostings { offers, postings }) in &self.item_postings {
            let Some(value) = request.cell(attribute).value() else {
                left.unsure.union_with(offers);
                continue;
            };
            // `scratch` becomes the set of offers to exclude: offers whose string list lacks the value of the request's
            // attribute.
            self.scratch.clone_from(offers);
            if let Value::String(item) = &value
                && let Some(offers) = postings.get(item)
            {
                for offer in offers {
                    self.scratch.remove(*offer as usize);
                }
            }
            left.difference_with(&self.scratch);
        }
    }

    /// Excludes the offers that do not meet a residue of the request's constraint.
    fn apply_request_residue(
        &mut self,
        clause: &Expression,
        request: &mut ProbedRequest<'_, '_>,
        left: &mut RemainingOffers,
    ) {
        let (number, is_new) = self.request_residues.intern(clause, request.context.dialect);
        let residue = &mut self.request_residues.residues[number];
        if is_new {
            residue.classify(&mut self.columns);
        }
        if needs_pair_evaluation(&request.clauses, &residue.mentions) {
            left.doubt_all();
        } else {
            left.apply_residue(residue, request, None);
        }
    }
}
