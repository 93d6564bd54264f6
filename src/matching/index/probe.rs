//! Probes the index with a request (thesis 4.5: the query).

use std::rc::Rc;
use std::sync::Arc;

use fixedbitset::FixedBitSet;

use crate::ad::{Ad, BinaryOperator, Expression, Name, ScopeFrame, Span, Value};
use crate::constraint::{ClauseForm, ClauseOperand, is_self_evaluating};
use crate::eval::{FreeNames, binary, string_list_items};
use crate::pool::{AttributeColumn, ColumnCell, SparseRows};
use crate::protocol::{is_met, rank_value};

use super::super::{Candidate, Pair, PairSide};
use super::one_sided::{has_scope_attribute, needs_pair_evaluation};
use super::ranks::{OfferRanks, RankForm};
use super::request::ProbedRequest;
use super::residue::Residue;
use super::{ImportedOfferBounds, OfferBoundColumn, OfferIndex, known_value};

/// The result of a probe.
pub struct ProbeResult {
    /// Offers that certainly match, with their ranks.
    pub sure: Vec<Candidate>,
    /// Offers that may match; the caller must evaluate the pair.
    pub unsure: Vec<usize>,
}

/// Evaluates expressions in pairs of one request, which is already in `pair`, and varying offers.
pub struct PairEvaluator<'m> {
    /// The pair.
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
    /// Offers with something that only evaluation of the pair can tell. May include offers that no longer remain.
    unsure: FixedBitSet,
}

/// An operand of a request's clause, resolved on the request's side.
enum ProbeOperand<'e> {
    /// An attribute of the offers.
    Attribute(&'e Name),
    /// A value of the request, or an open cell.
    Known(ColumnCell),
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

    /// Drops the offers that are neither selected nor open in the column; open ones become unsure. The open rows are
    /// added to `selected`.
    fn retain_selected(&mut self, selected: &mut FixedBitSet, column: &AttributeColumn) {
        if column.has_deviant_rows() {
            selected.union_with(column.deviant_rows());
            self.unsure.union_with(column.deviant_rows());
        }
        self.all.intersect_with(selected);
    }
}

impl OfferIndex {
    /// Finds the offers that may match a request. The request must already be in the meeting's pair.
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
        // All clauses are classified before any is looked up. Their nodes are not in the CPU cache, so that several
        // cache misses overlap.
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
        let dialect = self.context.dialect;
        let mut side = |operand| match operand {
            ClauseOperand::Literal(value) if is_self_evaluating(value, dialect) => {
                Some(ProbeOperand::Known(ColumnCell::Constant(value.clone())))
            }
            ClauseOperand::Literal(_) => None,
            ClauseOperand::Own(name) => Some(ProbeOperand::Known(request.cell(name))),
            ClauseOperand::Unqualified(name) if request.ad.get(name).is_some() => {
                Some(ProbeOperand::Known(request.cell(name)))
            }
            ClauseOperand::Unqualified(name) | ClauseOperand::Other(name) => Some(ProbeOperand::Attribute(name)),
        };
        let known = match condition {
            ClauseForm::Comparison(operator, first, second) => match (side(first), side(second)) {
                (Some(ProbeOperand::Attribute(name)), Some(ProbeOperand::Known(cell))) => {
                    self.apply_comparison(name, operator, cell, left);
                    return true;
                }
                (Some(ProbeOperand::Known(cell)), Some(ProbeOperand::Attribute(name))) => {
                    let Some(operator) = operator.converse() else { return false };
                    self.apply_comparison(name, operator, cell, left);
                    return true;
                }
                (Some(ProbeOperand::Known(first)), Some(ProbeOperand::Known(second))) => {
                    let (Some(first), Some(second)) = (known_value(first), known_value(second)) else { return false };
                    binary(operator, &first, &second, dialect, Span::default())
                }
                _ => return false,
            },
            ClauseForm::Truth(operand) => match side(operand) {
                Some(ProbeOperand::Attribute(name)) => {
                    let column = self.column(name);
                    self.scratch.clear();
                    column.select_where(|value| is_met(value, dialect), &mut self.scratch);
                    left.retain_selected(&mut self.scratch, &column);
                    return true;
                }
                Some(ProbeOperand::Known(cell)) => match known_value(cell) {
                    Some(value) => value,
                    None => return false,
                },
                None => return false,
            },
            ClauseForm::StringListMember(operand, list) => {
                let Some(ProbeOperand::Attribute(name)) = side(operand) else { return false };
                let column = self.column(name);
                self.scratch.clear();
                for item in string_list_items(list) {
                    column.select(BinaryOperator::Is, &Value::String(item), dialect, &mut self.scratch);
                }
                left.retain_selected(&mut self.scratch, &column);
                return true;
            }
            ClauseForm::Residue => return false,
        };
        if !is_met(&known, dialect) {
            left.all.clear();
        }
        true
    }

    /// Keeps the offers for which `name operator value` is true, or may be.
    fn apply_comparison(
        &mut self,
        name: &Name,
        operator: BinaryOperator,
        value: ColumnCell,
        left: &mut RemainingOffers,
    ) {
        let Some(value) = known_value(value) else {
            left.unsure.union_with(&left.all);
            return;
        };
        let column = self.column(name);
        self.scratch.clear();
        column.select(operator, &value, self.context.dialect, &mut self.scratch);
        left.retain_selected(&mut self.scratch, &column);
    }

    /// Keeps the offers whose bounds and string lists admit the request.
    fn apply_imported_bounds(&mut self, request: &mut ProbedRequest<'_>, left: &mut RemainingOffers) {
        for ImportedOfferBounds { attribute, bounds } in &self.imported_bounds {
            let value = known_value(request.cell(attribute));
            for OfferBoundColumn { operator, offers, column } in bounds {
                if left.all.is_clear() {
                    return;
                }
                let Some(value) = &value else {
                    left.unsure.union_with(offers);
                    continue;
                };
                // The column holds the bounds, the right operands: the operator is exchanged.
                let Some(operator) = operator.converse() else { continue };
                self.scratch.clear();
                column.select(operator, value, self.context.dialect, &mut self.scratch);
                if column.has_deviant_rows() {
                    self.scratch.union_with(column.deviant_rows());
                    left.unsure.union_with(column.deviant_rows());
                }
                left.retain_admitted(&self.scratch, offers);
            }
        }
        for listed in &self.item_postings {
            let Some(value) = known_value(request.cell(&listed.attribute)) else {
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
            meeting.evaluate(side, expression, offer).map(|value| rank_value(&value) + 0.0)
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
