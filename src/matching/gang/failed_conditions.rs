//! Failed conditions as text: the clause that keeps an offer from a port, and the attributes that it reads on either
//! side.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{Expression, ExpressionKind, Name, ScopeFrame, Value};
use crate::eval::{Evaluator, FreeNames, NameResolution};

use super::participants::{DockingVerdict, ParticipantTable, PortPlace};

/// A clause that is not met, either with the deepest gang docked or with nothing docked.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedCondition {
    /// The clause, in the classad syntax. Empty if the offers have no constraint and therefore accept nobody.
    pub text: String,
    /// Whether the clause belongs to the request. It belongs to the offers otherwise.
    pub is_of_request: bool,
    /// Attributes of the request that it reads.
    pub request_attributes: Vec<ReadAttribute>,
    /// Attributes that it reads directly in the first of the offers, and in offers docked already.
    pub offer_attributes: Vec<ReadAttribute>,
    /// Labels of the other ports of the request that it refers to.
    pub labels: Vec<String>,
    /// 0-based indices of the offers that it rules out.
    pub offers: Vec<usize>,
}

/// An attribute that a condition reads.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ReadAttribute {
    /// Name of the attribute as the condition writes it.
    pub name: String,
    /// The expression bound to it.
    pub text: String,
    /// The value of that expression.
    pub value: String,
}

/// Collects conditions. Equal ones are merged, together with the offers that they rule out.
#[derive(Default)]
pub struct FailedConditions {
    /// The conditions, in the order in which they were added.
    found: Vec<FailedCondition>,
    /// Index of each condition by text, side, and the attributes read in the request.
    by_text: FxHashMap<(String, bool, Vec<String>), usize>,
}

impl FailedConditions {
    /// Adds a condition that rules an offer out.
    pub fn add(&mut self, condition: FailedCondition, offer: usize) {
        let reads = condition.request_attributes.iter().map(|read| format!("{}={}", read.name, read.text)).collect();
        let key = (condition.text.clone(), condition.is_of_request, reads);
        let at = *self.by_text.entry(key).or_insert(self.found.len());
        if at == self.found.len() {
            self.found.push(condition);
        }
        self.found[at].offers.push(offer);
    }

    /// Returns the conditions, those first that rule out most offers.
    pub fn most_frequent_first(mut self) -> Vec<FailedCondition> {
        self.found.sort_by_key(|condition| std::cmp::Reverse(condition.offers.len()));
        self.found
    }
}

impl ParticipantTable {
    /// Returns the condition by which a docked candidate fails. `None` if neither port refuses.
    pub(super) fn failed_condition(&mut self, place: PortPlace, link: PortPlace) -> Option<FailedCondition> {
        let refusing = [place, link].into_iter().find(|port| self.accepts(*port) == DockingVerdict::Refused)?;
        self.refusing_condition(place, refusing)
    }

    /// Returns the first clause by which `port` refuses. `place` is the port of the request that is examined.
    fn refusing_condition(&self, place: PortPlace, port: PortPlace) -> Option<FailedCondition> {
        let of_request = port.participant == 0;
        let mut condition = FailedCondition {
            text: String::new(),
            is_of_request: of_request,
            request_attributes: Vec::new(),
            offer_attributes: Vec::new(),
            labels: Vec::new(),
            offers: Vec::new(),
        };
        let Some(parts) = self.clauses(port) else { return Some(condition) };
        let refuses = |(part, frame): &&(Expression, Arc<ScopeFrame>)| self.is_refused_by(part, frame);
        let (refusing, frame) = parts.iter().find(refuses).or_else(|| parts.first())?;
        condition.text = refusing.without_parentheses().to_string();
        self.record_attributes(refusing, frame, place, &mut condition);
        Some(condition)
    }

    /// Whether a clause is known not to be met.
    pub(super) fn is_refused_by(&self, part: &Expression, frame: &Arc<ScopeFrame>) -> bool {
        let value = Evaluator::new(&self.environment, &self.context).evaluate(part, frame);
        value.is_ok_and(|value| !crate::protocol::is_met(&value, self.context.dialect))
    }

    /// Records the attributes that a clause reads in the request and in offers, and the labels that it refers to.
    ///
    /// Follows attributes of the request to their definitions, up to a maximum number of expressions.
    fn record_attributes(
        &self,
        part: &Expression,
        frame: &Arc<ScopeFrame>,
        place: PortPlace,
        condition: &mut FailedCondition,
    ) {
        /// Maximum number of expressions visited.
        const MAX_EXPRESSIONS: usize = 64;
        let mut pending = vec![(part.clone(), Arc::clone(frame), true)];
        let mut looked = 0;
        while let Some((expression, frame, is_part)) = pending.pop() {
            looked += 1;
            if looked > MAX_EXPRESSIONS {
                return;
            }
            if frame.participant == 0 {
                self.record_labels(&expression, place, condition);
            }
            for (name, bound, found) in self.attributes_read(&expression, &frame) {
                let is_own = found.participant == 0;
                let reads = if is_own { &mut condition.request_attributes } else { &mut condition.offer_attributes };
                // Indirect reads in offers are left out: the value of the request's attribute already shows them.
                if !(is_own || is_part) || reads.iter().any(|read| read.name == name) {
                    continue;
                }
                let value = Evaluator::new(&self.environment, &self.context).evaluate(&bound, &found);
                let value = value.map_or_else(|halt| halt.to_string(), |value| display_value(&value));
                reads.push(ReadAttribute { name, text: bound.without_parentheses().to_string(), value });
                if is_own {
                    pending.push((bound, found, false));
                }
            }
        }
    }

    /// Records the labels of other ports that an expression of the request mentions.
    fn record_labels(&self, expression: &Expression, place: PortPlace, condition: &mut FailedCondition) {
        let mentions = FreeNames::of(expression, self.context.dialect);
        for port in (0..self.port_count(0)).filter(|port| *port != place.port && !self.is_implicit(0)) {
            let label = self.label(PortPlace { participant: 0, port });
            if mentions.names.contains(&Name::new(&label)) && !condition.labels.contains(&label) {
                condition.labels.push(label);
            }
        }
    }

    /// Resolves an expression `name` or `label.name` to the expression bound to it, with its scope. `None` if the
    /// expression has another form or the attribute is not bound to an expression.
    pub(super) fn resolve_attribute(
        &self,
        expression: &Expression,
        frame: &Arc<ScopeFrame>,
    ) -> Option<(Expression, Arc<ScopeFrame>)> {
        let found = match expression.kind() {
            ExpressionKind::Attribute(name) => self.environment.resolve(frame, name, &self.context),
            ExpressionKind::Select(base, name) => match base.without_parentheses().kind() {
                ExpressionKind::Attribute(label) => match self.environment.resolve(frame, label, &self.context) {
                    NameResolution::Value(Value::Ad(ad)) => {
                        self.environment.resolve_selected(&ad.frame, name, &self.context)
                    }
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        };
        match found {
            NameResolution::Expression(bound, frame) => Some((bound, frame)),
            _ => None,
        }
    }

    /// Returns the attributes that an expression reads: how it writes each, the expression bound to it, and its scope.
    fn attributes_read(
        &self,
        expression: &Expression,
        frame: &Arc<ScopeFrame>,
    ) -> Vec<(String, Expression, Arc<ScopeFrame>)> {
        let (mut read, mut pending) = (Vec::new(), vec![expression]);
        while let Some(expression) = pending.pop() {
            if let Some((bound, found)) = self.resolve_attribute(expression, frame) {
                read.push((expression.to_string(), bound, found));
            } else {
                let first = pending.len();
                expression.kind().for_each_child(|child| pending.push(child));
                pending[first..].reverse();
            }
        }
        read
    }
}

/// Formats a value for display. A list or an ad is shown as the name of its type.
fn display_value(value: &Value) -> String {
    match value {
        Value::List(_) | Value::Ad(_) => value.value_type().phrase().to_owned(),
        value => value.to_string(),
    }
}
