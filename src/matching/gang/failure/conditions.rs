//! Failed conditions as text. A failed condition is the clause that keeps an offer from docking, with the attributes
//! that the clause reads in the request and in offers.

use std::cmp::Reverse;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::ad::{Expression, Name, ScopeFrame, Value};
use crate::eval::FreeNames;
use crate::matching::gang::participants::{DockingVerdict, ParticipantTable, PortPlace, ScopedClause};

use super::clauses::refusing_clause;

/// A clause that keeps offers from docking at a port. It belongs to the constraint of the port or to the constraints of
/// the offers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FailedCondition {
    /// The clause, in the classad syntax. Empty if the refusing side has no constraint and therefore accepts nobody.
    pub text: String,
    /// Whether the clause belongs to the port. Otherwise the clause belongs to the offers that it rules out.
    pub is_of_port: bool,
    /// Attributes that the clause reads of the ad that has the port, the request or an offer.
    pub request_attributes: Vec<ReadAttribute>,
    /// Attributes of other ads that the clause itself names. Each belongs to an offer docked at another port, or to the
    /// first offer in the list `offers`.
    pub offer_attributes: Vec<ReadAttribute>,
    /// Labels of other ports of the request that the clause mentions, itself or through attributes of the request.
    pub labels: Vec<String>,
    /// 0-based indices of the offers that the clause rules out.
    pub offers: Vec<usize>,
}

/// An attribute that a failed clause reads, and its value.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ReadAttribute {
    /// The reference to the attribute as written, such as `cpu.Memory`.
    pub name: String,
    /// The expression bound to the attribute, as text.
    pub text: String,
    /// The value of the expression, or the reason why the expression cannot be evaluated.
    pub value: String,
}

/// Groups offers by the condition that rules them out. Returns each distinct condition once, with all offers that it
/// rules out. The condition with the most offers comes first.
pub fn grouped_by_condition(ruled_out: impl IntoIterator<Item = (usize, FailedCondition)>) -> Vec<FailedCondition> {
    let mut groups: IndexMap<(String, bool, Vec<String>), FailedCondition> = IndexMap::new();
    for (offer, condition) in ruled_out {
        let reads = condition.request_attributes.iter().map(|read| format!("{}={}", read.name, read.text)).collect();
        let key = (condition.text.clone(), condition.is_of_port, reads);
        groups.entry(key).or_insert(condition).offers.push(offer);
    }
    let mut conditions: Vec<FailedCondition> = groups.into_values().collect();
    conditions.sort_by_key(|condition| Reverse(condition.offers.len()));
    conditions
}

impl FailedCondition {
    /// Returns the condition that rejects a docked candidate. The candidate's port `link` is docked at the port
    /// `place`. Examines the constraint of `place` first, then the constraint of `link`. `None` if neither constraint
    /// is certain to fail.
    pub(super) fn of(table: &mut ParticipantTable, place: PortPlace, link: PortPlace) -> Option<Self> {
        let port = [place, link].into_iter().find(|port| table.accepts(*port) == DockingVerdict::Refused)?;
        let is_of_port = port == place;
        let condition = refusing_clause(table, port).map(|clause| Self::of_clause(table, place, is_of_port, &clause));
        Some(condition.unwrap_or(FailedCondition { is_of_port, ..FailedCondition::default() }))
    }

    /// Returns the condition that a clause of the port `place`, or of the offer docked there, is.
    pub(super) fn of_clause(
        table: &ParticipantTable,
        place: PortPlace,
        is_of_port: bool,
        scoped: &ScopedClause,
    ) -> Self {
        let text = scoped.0.without_parentheses().to_string();
        let mut condition = FailedCondition { text, is_of_port, ..FailedCondition::default() };
        condition.record_attributes(table, place, scoped);
        condition
    }

    /// Records the attributes that a clause reads in the request and in offers, and the labels of other ports that it
    /// mentions.
    ///
    /// If the clause reads an attribute of the request, also records what the expression bound to that attribute reads.
    fn record_attributes(&mut self, table: &ParticipantTable, place: PortPlace, (clause, frame): &ScopedClause) {
        /// Maximum number of expressions visited, including the clause. What further expressions read is not recorded.
        const MAX_EXPRESSIONS: usize = 64;
        let mut pending = vec![(clause.clone(), Arc::clone(frame), true)];
        for _ in 0..MAX_EXPRESSIONS {
            let Some((expression, frame, is_clause)) = pending.pop() else { return };
            if frame.participant.is_request() {
                self.record_labels(table, place, &expression);
            }
            for (name, bound, found) in attributes_read(table, &expression, &frame) {
                let is_own = found.participant == place.participant;
                let reads = if is_own { &mut self.request_attributes } else { &mut self.offer_attributes };
                // Skip an attribute of an offer that is read only through an attribute of the request: the value of the
                // request's attribute is recorded instead. Also skip an attribute that is recorded already.
                if !(is_own || is_clause) || reads.iter().any(|read| read.name == name) {
                    continue;
                }
                let value = table.evaluate(&bound, &found);
                let value = value.map_or_else(|halt| halt.to_string(), |value| display_value(&value));
                reads.push(ReadAttribute { name, text: bound.without_parentheses().to_string(), value });
                if is_own {
                    pending.push((bound, found, false));
                }
            }
        }
    }

    /// Records the labels of other ports that an expression of the request mentions.
    fn record_labels(&mut self, table: &ParticipantTable, place: PortPlace, expression: &Expression) {
        let mentions = FreeNames::of(expression, table.context.dialect);
        for other in table.request_ports().filter(|other| *other != place && !table.is_implicit(other.participant)) {
            let label = table.label(other);
            if mentions.names.contains(&Name::new(&label)) && !self.labels.contains(&label) {
                self.labels.push(label);
            }
        }
    }
}

/// Returns the attributes that an expression reads. Each is a triple of the reference as text, the expression bound to
/// the attribute, which is `undefined` if the ad lacks it, and the scope of the bound expression.
fn attributes_read(
    table: &ParticipantTable,
    expression: &Expression,
    frame: &Arc<ScopeFrame>,
) -> Vec<(String, Expression, Arc<ScopeFrame>)> {
    let (mut read, mut pending) = (Vec::new(), vec![expression]);
    while let Some(expression) = pending.pop() {
        if let Some((bound, found)) = table.find_attribute(expression, frame) {
            let bound = bound.unwrap_or_else(|| Expression::literal(Value::Undefined));
            read.push((expression.to_string(), bound, found));
        } else {
            let first = pending.len();
            expression.kind().for_each_child(|child| pending.push(child));
            pending[first..].reverse();
        }
    }
    read
}

/// Formats a value for display. A list or an ad is shown as the name of its type.
fn display_value(value: &Value) -> String {
    match value {
        Value::List(_) | Value::Ad(_) => value.value_type().phrase().to_owned(),
        value => value.to_string(),
    }
}
