//! Failed clauses: for each offer rejected at a port, the clauses of the port's constraint that it fails and the clause
//! of its own constraint that the request fails.

use crate::ad::{BinaryOperator, Expression, ExpressionKind, Name, Value};
use crate::matching::gang::participants::{DockingVerdict, ParticipantTable, PortPlace, ScopedClause, as_comparison};
use crate::protocol::is_met;

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

/// Maximum number of clauses per constraint that are told apart: the bits of a mask. Further ones are ignored.
pub const MAX_CLAUSES: usize = u128::BITS as usize;

impl RejectedOffer {
    /// Describes why a docked candidate is rejected by `clauses` of the port, and by its own.
    pub(super) fn of<'c>(
        table: &mut ParticipantTable,
        link: PortPlace,
        clauses: impl Iterator<Item = (&'c ScopedClause, &'c PortClause)>,
    ) -> Self {
        let is_refused = table.accepts(link) == DockingVerdict::Refused;
        let analysis = RefusalAnalysis::new(table);
        let (mut failed_mask, mut actual_values) = (0, Vec::new());
        for (position, (scoped, clause)) in clauses.enumerate() {
            if analysis.is_refused(scoped) {
                failed_mask |= 1 << position;
                let operand = clause.bound.as_ref().map(|bound| &bound.operand);
                let value = operand.and_then(|operand| table.evaluate(operand, &scoped.1).ok());
                actual_values.extend(value.map(|value| (position, value)));
            }
        }
        let demand = is_refused.then(|| {
            let clause = analysis.refusing_clause(link);
            OfferDemand {
                bound: clause.as_ref().and_then(|clause| analysis.demand_bound(clause)),
                clause: clause.map(|(clause, _)| clause),
            }
        });
        RejectedOffer { offer: link.participant.offer(), failed_mask, actual_values, demand }
    }

    /// Returns how far the offer is from docking: the number of clauses that it fails, then whether it refuses.
    pub(super) fn distance(&self) -> (u32, bool) {
        (self.failed_mask.count_ones(), self.demand.is_some())
    }
}

/// Takes clauses apart, with what is docked now.
#[derive(Clone, Copy)]
pub struct RefusalAnalysis<'t> {
    table: &'t ParticipantTable,
}

impl<'t> RefusalAnalysis<'t> {
    /// Analyses clauses of the participants of `table`.
    pub fn new(table: &'t ParticipantTable) -> Self {
        RefusalAnalysis { table }
    }

    /// Whether a clause is known not to be met.
    fn is_refused(self, (clause, frame): &ScopedClause) -> bool {
        let value = self.table.evaluate(clause, frame);
        value.is_ok_and(|value| !is_met(&value, self.table.context().dialect))
    }

    /// Returns the first clause by which a port refuses, or its first one if no single clause does. `None` if the port
    /// has no constraint.
    pub fn refusing_clause(self, port: PortPlace) -> Option<ScopedClause> {
        let clauses = self.table.clauses(port)?;
        clauses.iter().find(|clause| self.is_refused(clause)).or_else(|| clauses.first()).cloned()
    }

    /// Describes a clause of the port `place` of the request, with nothing docked there.
    pub fn port_clause(self, scoped: &ScopedClause, place: PortPlace) -> PortClause {
        let label = Name::new(&self.table.label(place));
        let mut candidate_attributes = Vec::new();
        let mut pending = vec![&scoped.0];
        while let Some(expression) = pending.pop() {
            if let ExpressionKind::Select(base, name) = expression.kind()
                && matches!(base.without_parentheses().kind(), ExpressionKind::Attribute(of) if *of == label)
            {
                candidate_attributes.push(name.clone());
            }
            expression.kind().for_each_child(|child| pending.push(child));
        }
        PortClause { expression: scoped.0.clone(), bound: self.port_bound(scoped), candidate_attributes }
    }

    /// Returns a clause as a comparison of an operand that is unknown, with nothing docked, with a known one.
    fn port_bound(self, scoped: &ScopedClause) -> Option<ClauseBound> {
        clause_bound(&scoped.0, |operand, known| {
            let value = self.table.evaluate(known, &scoped.1).ok()?;
            let is_open = self.table.evaluate(operand, &scoped.1).is_err();
            is_open.then(|| (value, self.request_literal(known, scoped)))
        })
    }

    /// Returns a clause of an offer's constraint as a comparison of a literal of the request with a value.
    fn demand_bound(self, scoped: &ScopedClause) -> Option<ClauseBound> {
        clause_bound(&scoped.0, |operand, known| {
            let literal = self.request_literal(operand, scoped)?;
            Some((self.table.evaluate(known, &scoped.1).ok()?, Some(literal)))
        })
    }

    /// Returns the literal of the request that an operand of a clause is or names. `None` if it is no such literal.
    fn request_literal(self, operand: &Expression, (_, frame): &ScopedClause) -> Option<RequestLiteral> {
        let operand = operand.without_parentheses();
        let is_literal = |of: &Expression| matches!(of.kind(), ExpressionKind::Literal(_));
        if is_literal(operand) {
            return frame.participant.is_request().then(|| RequestLiteral { name: None, literal: operand.clone() });
        }
        let (ExpressionKind::Attribute(name) | ExpressionKind::Select(_, name)) = operand.kind() else {
            return None;
        };
        let (bound, found) = self.table.resolve_attribute(operand, frame)?;
        let bound = bound.without_parentheses();
        let is_own = found.participant.is_request() && is_literal(bound);
        is_own.then(|| RequestLiteral { name: Some(name.clone()), literal: bound.clone() })
    }
}

/// Returns a clause as a comparison of an operand with a value. `read` gets the operand and the other side, and returns
/// the value and the literal of the request. `None` if it returns none either way round.
fn clause_bound(
    clause: &Expression,
    read: impl Fn(&Expression, &Expression) -> Option<(Value, Option<RequestLiteral>)>,
) -> Option<ClauseBound> {
    let (operator, left, right) = as_comparison(clause)?;
    let bound = |operator, operand: &Expression, known, is_value_on_left| {
        let (value, literal) = read(operand, known)?;
        Some(ClauseBound { operand: operand.clone(), operator, value, literal, is_value_on_left })
    };
    bound(operator, left, right, false).or_else(|| bound(operator.converse()?, right, left, true))
}
