//! Probes the index with a request (thesis 4.5: the query).

use std::rc::Rc;
use std::sync::Arc;

use fixedbitset::FixedBitSet;

use crate::ad::{Ad, BinaryOperator, Expression, Name, ScopeFrame, Value};
use crate::constraint::{ClauseForm, ClauseOperand, has_scope_attribute, is_self_evaluating, orient_comparison};
use crate::eval::{FreeNames, string_list_items};
use crate::pool::{AttributeColumn, ColumnCell, SparseRows};
use crate::protocol::{is_met, rank_value};

use super::super::{Candidate, Pair, PairSide};
use super::OfferIndex;
use super::build::other_side_attribute;
use super::one_sided::needs_pair_evaluation;
use super::ranks::{OfferRanks, RankForm};
use super::request::ProbedRequest;
use super::residue::Residue;

/// The offers that a probe leaves.
pub struct ProbeResult {
    /// Offers that certainly match, with their ranks.
    pub sure: Vec<Candidate>,
    /// Offers that may match; the caller must evaluate the pair.
    pub unsure: Vec<usize>,
}

/// Evaluates expressions in pairs of one request, which is already in `pair`, and varying offers.
pub struct PairEvaluator<'m> {
    /// The pair; holds the request and the offer evaluated last.
    pub pair: &'m mut Pair,
    /// The scopes of the offers, by position.
    pub offers: &'m [Arc<ScopeFrame>],
    /// Number of expressions evaluated.
    pub evaluations: u64,
}

/// The offers that remain while clauses are applied.
struct RemainingOffers {
    /// All remaining offers.
    all: FixedBitSet,
    /// Offers of which only evaluation of the pair can tell a clause or a rank. May include offers that no longer
    /// remain.
    unsure: FixedBitSet,
}

impl PairEvaluator<'_> {
    /// Evaluates an expression of one side after putting an offer into the pair; `None` if a budget is exceeded.
    fn evaluate(&mut self, side: PairSide, expression: &Expression, offer: usize) -> Option<Value> {
        self.evaluations += 1;
        self.pair.replace(PairSide::Offer, &self.offers[offer]);
        self.pair.evaluate(side, expression).ok()
    }
}

impl RemainingOffers {
    /// Evaluates a residue for `offers`, or for all remaining offers. Drops the offers for which it is not met, and
    /// marks undecided ones as unsure.
    fn apply_residue(
        &mut self,
        residue: &mut Residue<bool>,
        request: &mut ProbedRequest<'_>,
        offers: Option<&SparseRows>,
        met: &mut dyn FnMut(PairSide, &Expression, usize) -> Option<bool>,
    ) {
        let RemainingOffers { all, unsure } = self;
        let mut dropped = Vec::new();
        let answer = |offer, met| match met {
            Some(true) => {}
            Some(false) => dropped.push(offer),
            None => unsure.insert(offer),
        };
        match offers {
            Some(offers) => residue.evaluate_each(request, offers.intersection(all), met, answer),
            None => residue.evaluate_each(request, all.ones(), met, answer),
        }
        for offer in dropped {
            all.remove(offer);
        }
    }

    /// Drops the offers that are in `asked` but not in `admit`.
    fn retain_admitted(&mut self, admit: &FixedBitSet, asked: &FixedBitSet) {
        let admit = admit.as_slice().iter().zip(asked.as_slice());
        for (left, (admit, asked)) in self.all.as_mut_slice().iter_mut().zip(admit) {
            *left &= admit | !asked;
        }
    }
}

impl OfferIndex {
    /// Finds the offers that may match a request. The request must already be in the pair of `meeting`.
    pub fn probe(&mut self, ad: &Ad, meeting: &mut PairEvaluator<'_>) -> ProbeResult {
        let (protocol, context) = (Rc::clone(&self.protocol), Rc::clone(&self.context));
        let Some(constraint) = protocol.constraint_name(ad) else {
            return ProbeResult { sure: Vec::new(), unsure: Vec::new() };
        };
        if self.eligible.is_clear() {
            return ProbeResult { sure: Vec::new(), unsure: Vec::new() };
        }
        if has_scope_attribute(ad) {
            return ProbeResult { sure: Vec::new(), unsure: self.eligible.ones().collect() };
        }
        let mut request = ProbedRequest::new(ad, constraint, &protocol, &context);
        let mut left = RemainingOffers { all: self.eligible.clone(), unsure: self.needs_evaluation.clone() };
        // All clauses are classified before any is looked up, so that the CPU cache misses on their nodes overlap.
        let parts = request.clauses.items.iter().map(|part| (part.expression, ClauseForm::of(part.expression)));
        let parts: Vec<(&Expression, ClauseForm<'_>)> = parts.collect();
        let mut wishes = Vec::new();
        for (part, condition) in parts {
            if !self.apply_clause(&mut request, condition, &mut left) {
                wishes.push(part);
            } else if left.all.is_clear() {
                break;
            }
        }
        self.apply_imported_bounds(&mut request, &mut left);
        self.apply_offer_residues(&mut request, &mut left, meeting);
        for wish in wishes {
            self.apply_request_residue(wish, &mut request, &mut left, meeting);
        }
        left.all.union_with(&self.unindexable);
        left.unsure.union_with(&self.unindexable);
        self.rank_remaining(&mut request, left, meeting)
    }

    /// Applies a clause of the request to the columns of the offers. Returns false if the clause cannot be looked up.
    fn apply_clause(
        &mut self,
        request: &mut ProbedRequest<'_>,
        condition: ClauseForm<'_>,
        left: &mut RemainingOffers,
    ) -> bool {
        let (ad, dialect) = (request.ad, self.context.dialect);
        let theirs = |operand| other_side_attribute(ad, operand);
        let mut mine = |operand| match operand {
            ClauseOperand::Literal(value) if is_self_evaluating(value, dialect) => {
                Some(ColumnCell::Constant(value.clone()))
            }
            ClauseOperand::Own(name) => Some(request.cell(name)),
            ClauseOperand::Unqualified(name) if ad.get(name).is_some() => Some(request.cell(name)),
            _ => None,
        };
        match condition {
            ClauseForm::Comparison(operator, first, second) => {
                if let Some((name, operator, cell)) = orient_comparison(operator, first, second, theirs, &mut mine) {
                    match cell.value() {
                        Some(value) => {
                            self.retain_where(name, left, |column, rows| column.select(operator, &value, rows));
                        }
                        None => left.unsure.union_with(&left.all),
                    }
                    return true;
                }
            }
            ClauseForm::Truth(operand) => {
                if let Some(name) = theirs(operand) {
                    self.retain_where(name, left, |column, rows| {
                        column.select_where(|value| is_met(value, dialect), rows);
                    });
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
        if !is_met(&known, dialect) {
            left.all.clear();
        }
        true
    }

    /// Keeps the offers that `select` selects in the column of an attribute, and those that are deviant there, which
    /// become unsure.
    fn retain_where(
        &mut self,
        name: &Name,
        left: &mut RemainingOffers,
        select: impl FnOnce(&AttributeColumn, &mut FixedBitSet),
    ) {
        let column = self.column(name);
        self.scratch.clear();
        select(&column, &mut self.scratch);
        if column.has_deviant_rows() {
            self.scratch.union_with(column.deviant_rows());
            left.unsure.union_with(column.deviant_rows());
        }
        left.all.intersect_with(&self.scratch);
    }

    /// Keeps the offers whose bounds and string lists admit the request.
    fn apply_imported_bounds(&mut self, request: &mut ProbedRequest<'_>, left: &mut RemainingOffers) {
        for bounds in self.imported_bounds.chunk_by(|left, right| left.subject() == right.subject()) {
            let value = request.cell(bounds[0].subject()).value();
            for column in bounds {
                if left.all.is_clear() {
                    return;
                }
                if let Some(value) = &value {
                    column.admitting(value, &mut self.scratch);
                    left.all.intersect_with(&self.scratch);
                } else {
                    self.scratch.clone_from(&left.all);
                    self.scratch.difference_with(column.always_admitted());
                    left.unsure.union_with(&self.scratch);
                }
                if column.bounds().has_deviant_rows() {
                    left.unsure.union_with(column.bounds().deviant_rows());
                }
            }
        }
        for listed in &self.item_postings {
            let Some(value) = request.cell(&listed.attribute).value() else {
                left.unsure.union_with(&listed.offers);
                continue;
            };
            self.scratch.clear();
            if let Value::String(item) = &value
                && let Some(offers) = listed.postings.get(item)
            {
                self.scratch.extend(offers.iter().map(|offer| *offer as usize));
            }
            left.retain_admitted(&self.scratch, &listed.offers);
        }
    }

    /// Drops the offers with a residue that is not met.
    fn apply_offer_residues(
        &mut self,
        request: &mut ProbedRequest<'_>,
        left: &mut RemainingOffers,
        meeting: &mut PairEvaluator<'_>,
    ) {
        let dialect = self.context.dialect;
        for (residue, offers) in &mut self.offer_residues {
            left.apply_residue(residue, request, Some(offers), &mut |side, expression, offer| {
                meeting.evaluate(side, expression, offer).map(|value| is_met(&value, dialect))
            });
        }
    }

    /// Drops the offers for which a residue of the request's constraint is not met.
    fn apply_request_residue(
        &mut self,
        wish: &Expression,
        request: &mut ProbedRequest<'_>,
        left: &mut RemainingOffers,
        meeting: &mut PairEvaluator<'_>,
    ) {
        let (number, is_new) = self.request_residue_interner.intern(wish);
        if is_new {
            let mentions = FreeNames::of(wish, self.context.dialect);
            let groups = (!mentions.reads_unknown()).then(|| self.classes(&mentions));
            self.request_residues.push((mentions, Residue::new(wish.clone(), PairSide::Request, groups)));
        }
        let (mentions, residue) = &mut self.request_residues[number];
        if needs_pair_evaluation(&request.clauses, mentions) {
            left.unsure.union_with(&left.all);
            return;
        }
        let dialect = self.context.dialect;
        left.apply_residue(residue, request, None, &mut |side, expression, offer| {
            meeting.evaluate(side, expression, offer).map(|value| is_met(&value, dialect))
        });
    }

    /// Computes the ranks of the remaining offers. Offers whose ranks are not certain become unsure.
    fn rank_remaining(
        &mut self,
        request: &mut ProbedRequest<'_>,
        mut left: RemainingOffers,
        meeting: &mut PairEvaluator<'_>,
    ) -> ProbeResult {
        let rank = self.classify_request_rank(request.ad);
        let OfferRanks { expressions: ranks, offers_by_expression: computed, values, needs_evaluation: opaque } =
            &mut self.offer_ranks;
        let RemainingOffers { all, unsure } = &mut left;
        unsure.union_with(opaque);
        unsure.intersect_with(all);
        all.difference_with(unsure);
        let mut evaluate = |side: PairSide, expression: &Expression, offer: usize| {
            meeting.evaluate(side, expression, offer).map(|value| rank_value(&value))
        };
        match rank {
            RankForm::Constant(_) => {}
            RankForm::NeedsEvaluation => unsure.union_with(all),
            RankForm::Computed(number) => {
                self.request_ranks.evaluate_each(
                    number,
                    request,
                    all.ones(),
                    &mut evaluate,
                    |offer, rank| match rank {
                        Some(rank) => self.request_rank_values[offer] = rank,
                        None => unsure.insert(offer),
                    },
                );
            }
        }
        all.difference_with(unsure);
        for (number, offers) in computed.iter().enumerate() {
            ranks.evaluate_each(number, request, offers.intersection(all), &mut evaluate, |offer, rank| match rank {
                Some(rank) => values[offer] = rank,
                None => unsure.insert(offer),
            });
        }
        all.difference_with(unsure);
        let of_request = |offer: usize| match rank {
            RankForm::Constant(rank) => rank,
            _ => self.request_rank_values[offer],
        };
        let mut sure = Vec::with_capacity(all.count_ones(..));
        sure.extend(all.ones().map(|offer| Candidate {
            offer,
            request_rank: of_request(offer),
            offer_rank: values[offer],
        }));
        ProbeResult { sure, unsure: unsure.ones().collect() }
    }
}
