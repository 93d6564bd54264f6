//! Failed clauses: for each offer rejected at a port, the clauses of the port's constraint that it fails and the clause
//! of its own constraint that the request fails.

use std::sync::Arc;

use crate::ad::{
    Ad, BinaryOperator, Dialect, Expression, ExpressionKind, Name, OperatorGroup, Participant, ScopeFrame, Value,
};
use crate::eval::Evaluator;

use super::failed_conditions::FailedCondition;
use super::failure::GangFailure;
use super::matcher::{GangFault, Gangmatcher, participant_of};
use super::participants::{DockingVerdict, ParticipantTable, PortPlace};
use super::port_index::RowBitmap;

/// For a port of a request, why each unused offer is rejected.
#[derive(Clone, Debug)]
pub struct FailedClauses {
    /// Clauses of the port's constraint. Empty if the port has no constraint and therefore accepts nobody.
    pub clauses: Vec<PortClause>,
    /// The rejected offers. An offer with several ports is described by the one that fails the fewest clauses.
    pub offers: Vec<RejectedOffer>,
}

/// A clause of the constraint of a port.
#[derive(Clone, Debug)]
pub struct PortClause {
    /// The clause.
    pub expression: Expression,
    /// The comparison, if the clause compares a value of the candidate with a value known without it.
    pub bound: Option<ClauseBound>,
    /// Attributes of the candidate that the clause mentions.
    pub candidate_attributes: Vec<Name>,
}

/// A comparison of an operand with a value.
#[derive(Clone, Debug)]
pub struct ClauseBound {
    /// The operand that is not fixed: of the candidate in a clause of the port, of the request in a demand.
    pub operand: Expression,
    /// The operator, with the operand on the left and the value on the right.
    pub operator: BinaryOperator,
    /// The value that the operand is compared with.
    pub value: Value,
    /// The literal of the request to change. `None` if the comparison has none.
    pub literal: Option<RequestLiteral>,
    /// Whether the source has the value on the left.
    pub is_value_on_left: bool,
}

/// A literal in a request.
#[derive(Clone, Debug)]
pub struct RequestLiteral {
    /// Attribute bound to the literal. `None` if the literal stands in the comparison itself.
    pub name: Option<Name>,
    /// The literal.
    pub literal: Expression,
}

/// An offer that is rejected at a port.
#[derive(Clone, Debug)]
pub struct RejectedOffer {
    /// 0-based index of the offer.
    pub offer: usize,
    /// Mask of the failed clauses. Bit `i` stands for clause `i` of the port.
    pub failed_mask: u128,
    /// Actual values of the offer in failed comparisons, each with the index of the clause.
    pub actual_values: Vec<(usize, Value)>,
    /// The offer's own demand that the request fails. `None` if it fails none.
    pub demand: Option<OfferDemand>,
}

/// A demand of an offer on the request.
#[derive(Clone, Debug)]
pub struct OfferDemand {
    /// The clause of the offer's constraint. `None` if it has no constraint.
    pub clause: Option<Expression>,
    /// The comparison, if the clause compares a literal of the request with a value of the offer.
    pub bound: Option<ClauseBound>,
}

/// Result of docking one offer at one port with nothing else docked.
#[derive(Clone, Debug)]
pub struct TrialDocking {
    /// Label of the port.
    pub label: String,
    /// The condition that rejects the offer. `None` if it docks.
    pub condition: Option<FailedCondition>,
}

/// Maximum number of clauses per constraint that are told apart: the bits of a mask. Further ones are ignored.
const MAX_CLAUSES: usize = u128::BITS as usize;

impl Gangmatcher {
    /// Returns why each unused offer is rejected at a port of a request.
    ///
    /// If no offer fits the port by itself, nothing else is docked and all unused offers are listed. Otherwise the
    /// deepest gang of `impasse` is docked, and only offers that fit the port by themselves are listed. `impasse` must
    /// be that of `request`.
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used.
    pub fn failed_clauses(
        &mut self,
        request: &Ad,
        impasse: &GangFailure,
        port: usize,
    ) -> Result<FailedClauses, GangFault> {
        self.without_side_effects(|matcher| {
            matcher.seat(request)?;
            let place = PortPlace { participant: 0, port };
            if impasse.ports[port].independent == 0 {
                let rows = matcher.port_index.unused().clone();
                return Ok(matcher.failed_clauses_at(place, &rows, &[]));
            }
            let mut alone = matcher.independent_candidates();
            let docked = matcher.table.dock_gang(&impasse.deepest);
            let first = impasse.blocked.first().map_or(0, |stuck| stuck.port);
            matcher.table.reopen_unfilled(0, &(0..first).collect());
            let held: Vec<Participant> =
                impasse.deepest.members().iter().map(|docked| participant_of(docked.offer)).collect();
            let found = matcher.failed_clauses_at(place, &alone.swap_remove(port), &held);
            matcher.table.undock_gang(&docked);
            Ok(found)
        })
    }

    /// Docks an offer at each port of a request in turn, with nothing else docked.
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used.
    pub fn trial_dockings(&mut self, request: &Ad, offer: usize) -> Result<Vec<TrialDocking>, GangFault> {
        self.without_side_effects(|matcher| {
            matcher.seat(request)?;
            let links: Vec<PortPlace> =
                matcher.port_index.rows_of(participant_of(offer)).map(|row| matcher.port_index.place(row)).collect();
            let places = (0..matcher.table.port_count(0)).map(|port| PortPlace { participant: 0, port });
            let meet = |place: PortPlace| {
                let mut condition: Option<FailedCondition> = None;
                for link in &links {
                    let found = matcher.table.with_docked(place, *link, |table| table.failed_condition(place, *link));
                    let Some(found) = found else {
                        return TrialDocking { label: matcher.table.label(place), condition: None };
                    };
                    // Report the port that the request accepts rather than one that the request rejects: it is closer
                    // to docking.
                    if condition.as_ref().is_none_or(|known| known.is_of_request && !found.is_of_request) {
                        condition = Some(found);
                    }
                }
                TrialDocking { label: matcher.table.label(place), condition }
            };
            Ok(places.collect::<Vec<_>>().into_iter().map(meet).collect())
        })
    }

    /// Iterates over the names of all attributes that offers show at their ports.
    pub fn attribute_names(&self) -> impl Iterator<Item = &Name> {
        self.port_index.attribute_names(&self.table).iter()
    }

    /// Returns the number of offers that show an attribute of this name.
    #[must_use]
    pub fn offers_with_attribute(&self, name: &Name) -> usize {
        self.port_index.offers_with_attribute(name, &self.table)
    }

    /// Returns the dialect in which constraints are evaluated.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.table.context.dialect
    }

    /// Returns the number of unused offers. O(n) in the number of ports of all offers.
    #[must_use]
    pub fn unused_offers(&self) -> usize {
        (1..=self.table.offer_count()).filter(|offer| self.is_unused(*offer)).count()
    }

    /// Whether an offer is unused. `offer` is its 1-based number.
    fn is_unused(&self, offer: usize) -> bool {
        let mut rows = self.port_index.rows_of(participant_of(offer - 1));
        rows.any(|row| self.port_index.unused().contains(row))
    }

    /// Returns a new matchmaker of the unused offers and a second copy of `offer`, and the index that each of its
    /// offers has in this one.
    #[must_use]
    pub fn with_extra_copy(&self, offer: usize) -> (Gangmatcher, Vec<usize>) {
        let left = (1..=self.table.offer_count()).filter(|offer| self.is_unused(*offer)).map(|offer| offer - 1);
        let of: Vec<usize> = left.chain([offer]).collect();
        let ads: Vec<Ad> = of.iter().map(|offer| self.table.ad(participant_of(*offer))).collect();
        let (matcher, _) = Gangmatcher::new(&ads, self.table.protocol().clone(), self.table.context.clone());
        (matcher.with_docking_vector(self.table.docking_vector().to_vec()), of)
    }

    /// Returns why the offers of `rows` are rejected at a port, leaving out the offers in `held`.
    fn failed_clauses_at(&mut self, place: PortPlace, rows: &RowBitmap, held: &[Participant]) -> FailedClauses {
        let parts = self.table.clauses(place);
        let parts = parts.as_deref().unwrap_or_default();
        let parts = &parts[..parts.len().min(MAX_CLAUSES)];
        let told: Vec<PortClause> =
            parts.iter().map(|(part, frame)| self.table.port_clause(part, frame, place)).collect();
        let mut offers: Vec<(Participant, RejectedOffer)> = Vec::new();
        for link in rows.ones().map(|row| self.port_index.place(row)).filter(|link| !held.contains(&link.participant)) {
            let found = self.table.with_docked(place, link, |table| table.rejected_offer(parts, &told, link));
            match offers.last_mut() {
                Some((offer, known)) if *offer == link.participant => {
                    let nearness = |of: &RejectedOffer| (of.failed_mask.count_ones(), of.demand.is_some());
                    if nearness(&found) < nearness(known) {
                        *known = found;
                    }
                }
                _ => offers.push((link.participant, found)),
            }
        }
        let offers = offers.into_iter().map(|(_, offer)| offer);
        let is_hindered = |offer: &RejectedOffer| offer.failed_mask != 0 || offer.demand.is_some();
        FailedClauses { offers: offers.filter(is_hindered).collect(), clauses: told }
    }
}

impl ParticipantTable {
    /// Describes a clause of the constraint of a port at which nothing is docked.
    fn port_clause(&self, part: &Expression, frame: &Arc<ScopeFrame>, place: PortPlace) -> PortClause {
        let label = Name::new(&self.label(place));
        let mut theirs = Vec::new();
        let mut pending = vec![part];
        while let Some(expression) = pending.pop() {
            if let ExpressionKind::Select(base, name) = expression.kind()
                && matches!(base.without_parentheses().kind(), ExpressionKind::Attribute(of) if *of == label)
            {
                theirs.push(name.clone());
            }
            expression.kind().for_each_child(|child| pending.push(child));
        }
        PortClause { expression: part.clone(), bound: self.clause_bound(part, frame), candidate_attributes: theirs }
    }

    /// Returns a clause as a comparison of an unknown operand with a known one, with nothing docked. `None` if it is
    /// none.
    fn clause_bound(&self, part: &Expression, frame: &Arc<ScopeFrame>) -> Option<ClauseBound> {
        let (operator, left, right) = as_comparison(part)?;
        let (operator, what, known, value, is_exchanged) =
            match (self.evaluate_if_known(left, frame), self.evaluate_if_known(right, frame)) {
                (None, Some(value)) => (operator, left, right, value, false),
                (Some(value), None) => (operator.converse()?, right, left, value, true),
                _ => return None,
            };
        Some(ClauseBound {
            operand: what.clone(),
            operator,
            value,
            literal: self.request_literal(known, frame),
            is_value_on_left: is_exchanged,
        })
    }

    /// Returns the value of an expression. `None` if it depends on ports at which nothing is docked.
    fn evaluate_if_known(&self, expression: &Expression, frame: &Arc<ScopeFrame>) -> Option<Value> {
        Evaluator::new(&self.environment, &self.context).evaluate(expression, frame).ok()
    }

    /// Returns the literal of the request that an expression is or names. `None` if it is no such literal.
    fn request_literal(&self, expression: &Expression, frame: &Arc<ScopeFrame>) -> Option<RequestLiteral> {
        let expression = expression.without_parentheses();
        let is_literal = |of: &Expression| matches!(of.kind(), ExpressionKind::Literal(_));
        if is_literal(expression) {
            return (frame.participant == 0).then(|| RequestLiteral { name: None, literal: expression.clone() });
        }
        let (ExpressionKind::Attribute(name) | ExpressionKind::Select(_, name)) = expression.kind() else {
            return None;
        };
        let (bound, found) = self.resolve_attribute(expression, frame)?;
        let bound = bound.without_parentheses();
        let is_own = found.participant == 0 && is_literal(bound);
        is_own.then(|| RequestLiteral { name: Some(name.clone()), literal: bound.clone() })
    }

    /// Describes why a docked candidate is rejected.
    fn rejected_offer(
        &mut self,
        parts: &[(Expression, Arc<ScopeFrame>)],
        told: &[PortClause],
        link: PortPlace,
    ) -> RejectedOffer {
        let (mut failing, mut has) = (0, Vec::new());
        for (position, ((part, frame), told)) in parts.iter().zip(told).enumerate() {
            if self.is_refused_by(part, frame) {
                failing |= 1 << position;
                let value = told.bound.as_ref().and_then(|asked| self.evaluate_if_known(&asked.operand, frame));
                has.extend(value.map(|value| (position, value)));
            }
        }
        let is_refused = self.accepts(link) == DockingVerdict::Refused;
        let wish = is_refused.then(|| self.offer_demand(link));
        RejectedOffer { offer: link.participant as usize - 1, failed_mask: failing, actual_values: has, demand: wish }
    }

    /// Returns the demand by which a docked candidate rejects.
    fn offer_demand(&self, link: PortPlace) -> OfferDemand {
        let parts = self.clauses(link);
        let parts = parts.as_deref().unwrap_or_default();
        let refusing = parts.iter().find(|(part, frame)| self.is_refused_by(part, frame)).or_else(|| parts.first());
        let asked = refusing.and_then(|(part, frame)| self.demand_bound(part, frame));
        OfferDemand { clause: refusing.map(|(part, _)| part.clone()), bound: asked }
    }

    /// Returns a clause of an offer's constraint as a comparison of a literal of the request with a value. `None` if it
    /// is none.
    fn demand_bound(&self, part: &Expression, frame: &Arc<ScopeFrame>) -> Option<ClauseBound> {
        let (operator, left, right) = as_comparison(part)?;
        let bound = |operator, what: &Expression, value, is_exchanged| {
            let written = self.request_literal(what, frame)?;
            let value = self.evaluate_if_known(value, frame)?;
            Some(ClauseBound {
                operand: what.clone(),
                operator,
                value,
                literal: Some(written),
                is_value_on_left: is_exchanged,
            })
        };
        bound(operator, left, right, false).or_else(|| bound(operator.converse()?, right, left, true))
    }
}

/// Returns operator and operands of a comparison. `None` for any other expression.
fn as_comparison(part: &Expression) -> Option<(BinaryOperator, &Expression, &Expression)> {
    match part.without_parentheses().kind() {
        ExpressionKind::Binary(operator, left, right)
            if matches!(operator.group(), OperatorGroup::Comparison | OperatorGroup::Identity) =>
        {
            Some((*operator, left, right))
        }
        _ => None,
    }
}
