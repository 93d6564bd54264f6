//! Failed conditions as text: the clause that keeps an offer from a port, and the attributes that it reads on either
//! side.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{Expression, Frame, Kind, Name, Value};
use crate::eval::{Evaluator, Mentions, Resolution};
use crate::syntax::{Style, print, print_value};

use super::participants::{PortPlace, Table, Verdict};

/// A clause that is not met, either with the deepest gang docked or with nothing docked.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The clause, in the classad syntax. Empty if the offers have no constraint and therefore accept nobody.
    pub text: String,
    /// Whether the clause belongs to the request. It belongs to the offers otherwise.
    pub of_request: bool,
    /// Attributes of the request that it reads.
    pub reads: Vec<Definition>,
    /// Attributes that it reads directly in the first of the offers, and in offers docked already.
    pub theirs: Vec<Definition>,
    /// Labels of the other ports of the request that it refers to.
    pub labels: Vec<String>,
    /// 0-based indices of the offers that it rules out.
    pub offers: Vec<usize>,
}

/// An attribute that a condition reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Name of the attribute as the condition writes it.
    pub name: String,
    /// The expression bound to it.
    pub text: String,
    /// The value of that expression.
    pub value: String,
}

/// Collects conditions. Equal ones are merged, together with the offers that they rule out.
#[derive(Default)]
pub struct Conditions {
    /// The conditions, in the order in which they were added.
    found: Vec<Condition>,
    /// Index of each condition by text, side, and the attributes read in the request.
    by_text: FxHashMap<(String, bool, Vec<String>), usize>,
}

impl Conditions {
    /// Adds a condition that rules an offer out.
    pub fn add(&mut self, condition: Condition, offer: usize) {
        let reads = condition.reads.iter().map(|read| format!("{}={}", read.name, read.text)).collect();
        let key = (condition.text.clone(), condition.of_request, reads);
        let at = *self.by_text.entry(key).or_insert(self.found.len());
        if at == self.found.len() {
            self.found.push(condition);
        }
        self.found[at].offers.push(offer);
    }

    /// Returns the conditions, those first that rule out most offers.
    pub fn by_number(mut self) -> Vec<Condition> {
        self.found.sort_by_key(|condition| std::cmp::Reverse(condition.offers.len()));
        self.found
    }
}

impl Table {
    /// Returns the condition by which a docked candidate fails. `None` if neither port refuses.
    pub(super) fn keeping(&mut self, place: PortPlace, link: PortPlace) -> Option<Condition> {
        let refusing = [place, link].into_iter().find(|port| self.accepts(*port) == Verdict::Refused)?;
        self.condition(place, refusing)
    }

    /// Returns the first clause by which `port` refuses. `place` is the port of the request that is examined.
    fn condition(&self, place: PortPlace, port: PortPlace) -> Option<Condition> {
        let of_request = port.participant == 0;
        let mut condition = Condition {
            text: String::new(),
            of_request,
            reads: Vec::new(),
            theirs: Vec::new(),
            labels: Vec::new(),
            offers: Vec::new(),
        };
        let Some(parts) = self.parts(port) else { return Some(condition) };
        let refuses = |(part, frame): &&(Expression, Arc<Frame>)| self.refuses(part, frame);
        let (refusing, frame) = parts.iter().find(refuses).or_else(|| parts.first())?;
        condition.text = text(&print(refusing.bare(), Style::New));
        self.read(refusing, frame, place, &mut condition);
        Some(condition)
    }

    /// Whether a clause is known not to be met.
    pub(super) fn refuses(&self, part: &Expression, frame: &Arc<Frame>) -> bool {
        let value = Evaluator::new(&self.environment, &self.context).evaluate(part, frame);
        value.is_ok_and(|value| !crate::protocol::is_met(&value, self.context.dialect))
    }

    /// Records the attributes that a clause reads in the request and in offers, and the labels that it refers to.
    ///
    /// Follows attributes of the request to their definitions, up to a maximum number of expressions.
    fn read(&self, part: &Expression, frame: &Arc<Frame>, place: PortPlace, condition: &mut Condition) {
        /// Maximum number of expressions visited.
        const MOST: usize = 64;
        let mut pending = vec![(part.clone(), Arc::clone(frame), true)];
        let mut looked = 0;
        while let Some((expression, frame, is_part)) = pending.pop() {
            looked += 1;
            if looked > MOST {
                return;
            }
            if frame.participant == 0 {
                self.refer(&expression, place, condition);
            }
            for (name, bound, found) in self.read_by(&expression, &frame) {
                let is_own = found.participant == 0;
                let reads = if is_own { &mut condition.reads } else { &mut condition.theirs };
                // Indirect reads in offers are left out: the value of the request's attribute already shows them.
                if !(is_own || is_part) || reads.iter().any(|read| read.name == name) {
                    continue;
                }
                let value = Evaluator::new(&self.environment, &self.context).evaluate(&bound, &found);
                let value = value.map_or_else(|halt| halt.to_string(), |value| shown(&value));
                reads.push(Definition { name, text: text(&print(bound.bare(), Style::New)), value });
                if is_own {
                    pending.push((bound, found, false));
                }
            }
        }
    }

    /// Records the labels of other ports that an expression of the request mentions.
    fn refer(&self, expression: &Expression, place: PortPlace, condition: &mut Condition) {
        let mentions = Mentions::of(expression, self.context.dialect);
        for port in (0..self.ports(0)).filter(|port| *port != place.port && !self.is_implicit(0)) {
            let label = self.label(PortPlace { participant: 0, port });
            if mentions.names.contains(&Name::new(&label)) && !condition.labels.contains(&label) {
                condition.labels.push(label);
            }
        }
    }

    /// Resolves an expression `name` or `label.name` to the expression bound to it, with its scope. `None` if the
    /// expression has another form or the attribute is not bound to an expression.
    pub(super) fn bound_by(&self, expression: &Expression, frame: &Arc<Frame>) -> Option<(Expression, Arc<Frame>)> {
        let found = match expression.kind() {
            Kind::Attribute(name) => self.environment.resolve(frame, name, &self.context),
            Kind::Select(base, name) => match base.bare().kind() {
                Kind::Attribute(label) => match self.environment.resolve(frame, label, &self.context) {
                    Resolution::Value(Value::Ad(ad)) => self.environment.resolve_in(&ad.frame, name, &self.context),
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        };
        match found {
            Resolution::Expression(bound, frame) => Some((bound, frame)),
            _ => None,
        }
    }

    /// Returns the attributes that an expression reads: how it writes each, the expression bound to it, and its scope.
    fn read_by(&self, expression: &Expression, frame: &Arc<Frame>) -> Vec<(String, Expression, Arc<Frame>)> {
        let (mut read, mut pending) = (Vec::new(), vec![expression]);
        while let Some(expression) = pending.pop() {
            if let Some((bound, found)) = self.bound_by(expression, frame) {
                read.push((text(&print(expression, Style::New)), bound, found));
            } else {
                let first = pending.len();
                expression.kind().for_each_child(|child| pending.push(child));
                pending[first..].reverse();
            }
        }
        read
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Formats a value for display. A list or an ad is shown as the name of its type.
fn shown(value: &Value) -> String {
    match value {
        Value::List(_) | Value::Ad(_) => value.kind().phrase().to_owned(),
        value => text(&print_value(value, Style::New)),
    }
}
