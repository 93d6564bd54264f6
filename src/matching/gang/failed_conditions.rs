//! What keeps an offer from a port: the part of a constraint that is not met, and what it reads on either side.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ad::{Expression, Frame, Kind, Name, Value};
use crate::eval::{Evaluator, Mentions, Resolution};
use crate::syntax::{Style, print, print_value};

use super::participants::{PortPlace, Table, Verdict};

/// A part of a constraint that is not met, as the deepest gang is docked or with nothing docked.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The part, in the classad syntax; nothing if the offers have no constraint, and so accept nobody.
    pub text: String,
    /// Whether the request demands it; else the offers do.
    pub of_request: bool,
    /// What it reads in the request.
    pub reads: Vec<Definition>,
    /// What it reads itself in the first of the offers, and in offers that are docked already.
    pub theirs: Vec<Definition>,
    /// The labels of the ports that it has to do with besides.
    pub labels: Vec<String>,
    /// The offers that it rules out.
    pub offers: Vec<usize>,
}

/// An attribute, as a condition reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// How the condition calls it.
    pub name: String,
    /// What is bound to it.
    pub text: String,
    /// What that comes to.
    pub value: String,
}

/// Conditions, each once for all offers that it rules out.
#[derive(Default)]
pub struct Conditions {
    found: Vec<Condition>,
    by_text: FxHashMap<(String, bool, Vec<String>), usize>,
}

impl Conditions {
    /// Adds what rules an offer out.
    pub fn add(&mut self, condition: Condition, offer: usize) {
        let reads = condition.reads.iter().map(|read| format!("{}={}", read.name, read.text)).collect();
        let key = (condition.text.clone(), condition.of_request, reads);
        let at = *self.by_text.entry(key).or_insert(self.found.len());
        if at == self.found.len() {
            self.found.push(condition);
        }
        self.found[at].offers.push(offer);
    }

    /// Those first that rule most offers out.
    pub fn by_number(mut self) -> Vec<Condition> {
        self.found.sort_by_key(|condition| std::cmp::Reverse(condition.offers.len()));
        self.found
    }
}

impl Table {
    /// What a candidate fails by that is docked; nothing if none of the two refuses.
    pub(super) fn keeping(&mut self, place: PortPlace, link: PortPlace) -> Option<Condition> {
        let refusing = [place, link].into_iter().find(|port| self.accepts(*port) == Verdict::Refused)?;
        self.condition(place, refusing)
    }

    /// What a port refuses by.
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

    /// Whether a part of a constraint is known not to be met.
    pub(super) fn refuses(&self, part: &Expression, frame: &Arc<Frame>) -> bool {
        let value = Evaluator::new(&self.environment, &self.context).evaluate(part, frame);
        value.is_ok_and(|value| !crate::protocol::is_met(&value, self.context.dialect))
    }

    /// Notes what a part of a constraint reads in the request and in the offer, and to which ports of the request that
    /// refers.
    fn read(&self, part: &Expression, frame: &Arc<Frame>, place: PortPlace, condition: &mut Condition) {
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
                // What an attribute of the request reads further on is told as that attribute's value.
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

    /// Notes the labels of other ports of the request that an expression of it mentions.
    fn refer(&self, expression: &Expression, place: PortPlace, condition: &mut Condition) {
        let mentions = Mentions::of(expression, self.context.dialect);
        for port in (0..self.ports(0)).filter(|port| *port != place.port && !self.is_implicit(0)) {
            let label = self.label(PortPlace { participant: 0, port });
            if mentions.names.contains(&Name::new(&label)) && !condition.labels.contains(&label) {
                condition.labels.push(label);
            }
        }
    }

    /// What is bound to the attribute that an expression is, `name` or `label.name`, and where.
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

    /// The attributes that an expression reads: how it calls each, what is bound to it, and where.
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

/// A value as text; what is no scalar by its type.
fn shown(value: &Value) -> String {
    match value {
        Value::List(_) | Value::Ad(_) => value.kind().phrase().to_owned(),
        value => text(&print_value(value, Style::New)),
    }
}
