//! Failed clauses: for each offer rejected at a port, the clauses of the port's constraint that the offer fails and the
//! clause of the offer's constraint that the request fails.

use std::sync::Arc;

use crate::ad::{Expression, ExpressionKind, Name, ScopeFrame, Truth, Value};
use crate::constraint::ClauseComparison;
use crate::matching::gang::participants::{DockingVerdict, ParticipantTable, PortPlace, ScopedClause, as_comparison};

/// Why offers cannot dock at a port of a request.
#[derive(Clone, Debug)]
pub struct FailedClauses {
    /// Clauses of the port's constraint. Empty if the port has no constraint and therefore accepts nobody.
    pub clauses: Vec<PortClause>,
    /// The offers that cannot dock at the port. An offer with several ports is described by its port that fails the
    /// fewest clauses.
    pub offers: Vec<RejectedOffer>,
}

/// A clause of a port's constraint, and the attributes of the candidate that the clause reads.
#[derive(Clone, Debug)]
pub struct PortClause {
    /// The clause as written in the constraint or in an attribute that the constraint names.
    pub expression: Expression,
    /// The clause as a comparison of an operand of the candidate with a known value, as in `cpu.Memory >= 1024`. `None` if
    /// the clause has another form.
    pub bound: Option<ClauseComparison>,
    /// Attributes that the clause selects from the label of the port: `Memory` for `cpu.Memory`.
    pub candidate_attributes: Vec<Name>,
}

/// An offer that cannot dock at a port, and the reasons.
#[derive(Clone, Debug)]
pub struct RejectedOffer {
    /// 0-based index of the offer.
    pub offer: usize,
    /// Bit mask of the clauses that the offer fails. Bit `i` stands for clause `i` of [`FailedClauses::clauses`].
    pub failed_mask: u128,
    /// Values that the offer gives to the operands of failed comparisons. Each value comes with the index of its clause
    /// in [`FailedClauses::clauses`].
    pub actual_values: Vec<(usize, Value)>,
    /// The demand of the offer that the request fails. `None` if the offer accepts the request.
    pub demand: Option<OfferDemand>,
}

/// A clause of an offer's constraint that the request fails.
#[derive(Clone, Debug)]
pub struct OfferDemand {
    /// The clause itself. `None` if the offer has no constraint and therefore accepts nobody.
    pub clause: Option<Expression>,
    /// The clause as a comparison of a literal of the request with a value of the offer. The operand may be an attribute of
    /// the request, which holds the literal. `None` if the clause has another form.
    pub bound: Option<ClauseComparison>,
    /// The attribute that `bound` reads and that the request lacks. `None` if it lacks none.
    pub missing: Option<Name>,
}

/// Maximum number of clauses of a port's constraint that are analysed. Each clause needs one bit of
/// [`RejectedOffer::failed_mask`]. Further clauses are ignored.
pub const MAX_CLAUSES: usize = u128::BITS as usize;

impl RejectedOffer {
    /// Describes why a docked candidate is rejected: which `clauses` of the port the candidate fails, and which clause
    /// of the candidate's constraint the request fails. `link` is the candidate's docked port.
    pub(super) fn of<'c>(
        table: &mut ParticipantTable,
        link: PortPlace,
        clauses: impl Iterator<Item = (&'c ScopedClause, &'c PortClause)>,
    ) -> Self {
        let is_refused = table.accepts(link) == DockingVerdict::Refused;
        let (mut failed_mask, mut actual_values) = (0, Vec::new());
        for (position, (scoped, clause)) in clauses.enumerate() {
            if is_clause_refused(table, scoped) {
                failed_mask |= 1 << position;
                let operand = clause.bound.as_ref().map(|bound| &bound.operand);
                let value = operand.and_then(|operand| table.evaluate(operand, &scoped.1).ok());
                actual_values.extend(value.map(|value| (position, value)));
            }
        }
        let demand = is_refused.then(|| match refusing_clause(table, link) {
            Some(clause) => offer_demand(table, clause),
            None => OfferDemand { clause: None, bound: None, missing: None },
        });
        RejectedOffer { offer: link.participant.offer(), failed_mask, actual_values, demand }
    }
}

/// Whether a clause is certain to fail. False if the value of the clause depends on open ports or cannot be
/// computed.
fn is_clause_refused(table: &ParticipantTable, (clause, frame): &ScopedClause) -> bool {
    let value = table.evaluate(clause, frame);
    value.is_ok_and(|value| !Truth::of(&value, table.context.dialect).is_true())
}

/// Returns the first clause that is certain to fail in the constraint of a port. If there is no such clause,
/// returns the first clause of the constraint. `None` if the port has no constraint.
pub fn refusing_clause(table: &ParticipantTable, port: PortPlace) -> Option<ScopedClause> {
    let clauses = table.clauses(port)?;
    clauses.iter().find(|clause| is_clause_refused(table, clause)).or_else(|| clauses.first()).cloned()
}

/// Describes a clause of the port `place` of the request. Precondition: nothing is docked at the port. An operand
/// without a value then counts as an operand that reads the candidate.
pub fn port_clause(table: &ParticipantTable, scoped: &ScopedClause, place: PortPlace) -> PortClause {
    let (clause, frame) = scoped;
    let label = Name::new(&table.label(place));
    let mut candidate_attributes = Vec::new();
    for expression in clause.parts() {
        if let ExpressionKind::Select(base, name) = expression.kind()
            && matches!(base.without_parentheses().kind(), ExpressionKind::Attribute(of) if *of == label)
        {
            candidate_attributes.push(name.clone());
        }
    }
    let bound = clause_bound(clause, |operand, known| {
        let value = table.evaluate(known, frame).ok()?;
        let is_open = table.evaluate(operand, frame).is_err();
        is_open.then(|| (value, request_literal(table, known, frame).and_then(named)))
    });
    PortClause { expression: clause.clone(), bound, candidate_attributes }
}

/// Describes the clause of an offer's constraint that the request fails.
fn offer_demand(table: &ParticipantTable, (clause, frame): ScopedClause) -> OfferDemand {
    let bound = clause_bound(&clause, |operand, known| {
        let literal = request_literal(table, operand, &frame)?;
        Some((table.evaluate(known, &frame).ok()?, named(literal)))
    });
    if bound.is_some() {
        return OfferDemand { clause: Some(clause), bound, missing: None };
    }
    let bound = clause_bound(&clause, |operand, known| {
        selected_name(operand)
            .filter(|_| table.evaluate(operand, &frame).is_ok_and(|value| matches!(value, Value::Undefined)))?;
        Some((table.evaluate(known, &frame).ok().filter(|value| !value.is_exceptional())?, None))
    });
    let missing = bound.as_ref().and_then(|bound| selected_name(&bound.operand)).cloned();
    OfferDemand { clause: Some(clause), bound, missing }
}

/// Returns the name of an attribute that an operand selects, as `TARGET.RequestCpus` does.
fn selected_name(operand: &Expression) -> Option<&Name> {
    match operand.without_parentheses().kind() {
        ExpressionKind::Select(_, name) => Some(name),
        _ => None,
    }
}

/// Returns the literal of the request that gives an operand its value, with the name of its attribute: `Size` and `45` if the
/// request binds `Size = 45`. There is no name for an operand that is a literal itself. `None` for any other operand.
fn request_literal(
    table: &ParticipantTable,
    operand: &Expression,
    frame: &Arc<ScopeFrame>,
) -> Option<(Option<Name>, Expression)> {
    let operand = operand.without_parentheses();
    let is_literal = |of: &Expression| matches!(of.kind(), ExpressionKind::Literal(_));
    if is_literal(operand) {
        return frame.participant.is_request().then(|| (None, operand.clone()));
    }
    let (ExpressionKind::Attribute(name) | ExpressionKind::Select(_, name)) = operand.kind() else {
        return None;
    };
    let (bound, found) = table.resolve_attribute(operand, frame)?;
    let bound = bound.without_parentheses();
    let is_own = found.participant.is_request() && is_literal(bound);
    is_own.then(|| (Some(name.clone()), bound.clone()))
}

/// Returns a literal that has a name, as a comparison holds it.
fn named((name, literal): (Option<Name>, Expression)) -> Option<(Name, Expression)> {
    Some((name?, literal))
}

/// Returns a clause as a comparison of an operand with a known value. Tries the left side as the operand first, then
/// the right side. `None` if the clause is not a comparison or `read` returns `None` for both sides.
///
/// `read` gets the operand and the opposite side. It returns the value of the opposite side, and the attribute
/// of the request that holds a literal of the comparison.
fn clause_bound(
    clause: &Expression,
    read: impl Fn(&Expression, &Expression) -> Option<(Value, Option<(Name, Expression)>)>,
) -> Option<ClauseComparison> {
    let (operator, left, right) = as_comparison(clause)?;
    let comparison = |operator, operand: &Expression, known, is_reversed| {
        let (bound, bound_holder) = read(operand, known)?;
        Some(ClauseComparison { operand: operand.clone(), operator, bound, bound_holder, is_reversed })
    };
    comparison(operator, left, right, false).or_else(|| comparison(operator.converse()?, right, left, true))
}
