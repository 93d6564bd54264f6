//! Failed clauses: for each offer rejected at a port, the clauses of the port's constraint that the offer fails and the
//! clause of the offer's constraint that the request fails.

use std::sync::Arc;

use crate::ad::{BinaryOperator, Expression, ExpressionKind, Name, ScopeFrame, Truth, Value};
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
    /// The clause as a comparison of an operand with a known value, as in `cpu.Memory >= 1024`. `None` if the clause
    /// has another form.
    pub bound: Option<ClauseBound>,
    /// Attributes that the clause selects from the label of the port: `Memory` for `cpu.Memory`.
    pub candidate_attributes: Vec<Name>,
}

/// A clause as a comparison of an operand with a known value.
#[derive(Clone, Debug)]
pub struct ClauseBound {
    /// The operand of the comparison. In a [`PortClause`] it reads the candidate, as `cpu.Memory` does. In an
    /// [`OfferDemand`] it reads the request: a literal, or a reference to an attribute whose value is a literal.
    pub operand: Expression,
    /// The operator, written with the operand on the left: `>` for the clause `5 < x`.
    pub operator: BinaryOperator,
    /// The known value that the operand is compared with.
    pub value: Value,
    /// The literal of the request that can be changed so that the comparison holds. `None` if the comparison uses no
    /// literal of the request.
    pub literal: Option<RequestLiteral>,
    /// Whether the clause is written with the value on the left, as in `5 < x`.
    pub is_value_on_left: bool,
}

/// A literal of a request that a comparison uses, directly or through an attribute.
#[derive(Clone, Debug)]
pub struct RequestLiteral {
    /// Name of the attribute that is bound to the literal. `None` if the literal stands in the comparison itself.
    pub name: Option<Name>,
    /// The literal as an expression.
    pub literal: Expression,
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
    /// The clause as a comparison of a literal of the request with a value of the offer. `None` if the clause has
    /// another form.
    pub bound: Option<ClauseBound>,
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
    let mut pending = vec![clause];
    while let Some(expression) = pending.pop() {
        if let ExpressionKind::Select(base, name) = expression.kind()
            && matches!(base.without_parentheses().kind(), ExpressionKind::Attribute(of) if *of == label)
        {
            candidate_attributes.push(name.clone());
        }
        expression.kind().for_each_child(|child| pending.push(child));
    }
    let bound = clause_bound(clause, |operand, known| {
        let value = table.evaluate(known, frame).ok()?;
        let is_open = table.evaluate(operand, frame).is_err();
        is_open.then(|| (value, request_literal(table, known, frame)))
    });
    PortClause { expression: clause.clone(), bound, candidate_attributes }
}

/// Describes the clause of an offer's constraint that the request fails.
fn offer_demand(table: &ParticipantTable, (clause, frame): ScopedClause) -> OfferDemand {
    let bound = clause_bound(&clause, |operand, known| {
        let literal = request_literal(table, operand, &frame)?;
        Some((table.evaluate(known, &frame).ok()?, Some(literal)))
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

/// Returns the literal of the request that gives an operand its value: `1024` for the operand `1024`, and `45` for
/// the operand `Size` if the request binds `Size = 45`. `None` for any other operand.
fn request_literal(table: &ParticipantTable, operand: &Expression, frame: &Arc<ScopeFrame>) -> Option<RequestLiteral> {
    let operand = operand.without_parentheses();
    let is_literal = |of: &Expression| matches!(of.kind(), ExpressionKind::Literal(_));
    if is_literal(operand) {
        return frame.participant.is_request().then(|| RequestLiteral { name: None, literal: operand.clone() });
    }
    let (ExpressionKind::Attribute(name) | ExpressionKind::Select(_, name)) = operand.kind() else {
        return None;
    };
    let (bound, found) = table.resolve_attribute(operand, frame)?;
    let bound = bound.without_parentheses();
    let is_own = found.participant.is_request() && is_literal(bound);
    is_own.then(|| RequestLiteral { name: Some(name.clone()), literal: bound.clone() })
}

/// Returns a clause as a comparison of an operand with a known value. Tries the left side as the operand first, then
/// the right side. `None` if the clause is not a comparison or `read` returns `None` for both sides.
///
/// `read` gets the operand and the opposite side. It returns the value of the opposite side, and the literal of the
/// request that the comparison uses.
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
