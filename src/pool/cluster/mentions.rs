//! Which names an expression mentions, and on which side of a match they are looked up, whatever ad it
//! stands in.

use std::sync::Arc;

use crate::ad::{Expression, Frame, Kind, Name, Value};
use crate::eval::{Context, Environment, Reference, references};

use super::distinct::Number;

/// The names that an expression mentions.
#[derive(Clone, Debug)]
pub struct Mentions<N = Number> {
    /// Whether it may read anything.
    pub everything: bool,
    /// Looked up in its own ad: `my.x`.
    pub own: Vec<N>,
    /// Looked up in the ad of the other side: `other.x`.
    pub other: Vec<N>,
    /// Looked up in its own ad, and where that lacks it in the other: `x`.
    pub either: Vec<N>,
}

/// The names of the other side in every ad.
pub const OTHERS: &[&str] = &["other", "target"];

/// Those in the expressions of a policy that are evaluated in requests.
pub const OTHERS_OF_POLICIES: &[&str] = &["other", "target", "label"];

impl Mentions<Name> {
    /// What an expression mentions; the scope is that of an empty ad that has not met anyone, and `others` are the
    /// names that stand for whom it will meet.
    pub fn of(
        expression: &Expression,
        others: &[&str],
        frame: &Arc<Frame>,
        environment: &Environment,
        context: &Context,
    ) -> Self {
        let found = references(expression, frame, environment, context);
        let mut mentions =
            Mentions { everything: found.everything, own: Vec::new(), other: Vec::new(), either: Vec::new() };
        found.external.iter().for_each(|reference| mentions.refer(reference, others));
        mentions.both(&names_that_travel(expression));
        mentions
    }

    /// The same with numbers for names.
    pub fn numbered(self, mut number: impl FnMut(&Name) -> Number) -> Mentions {
        let mut numbered = |names: Vec<Name>| {
            let mut numbers: Vec<Number> = names.iter().map(&mut number).collect();
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        };
        Mentions {
            everything: self.everything,
            own: numbered(self.own),
            other: numbered(self.other),
            either: numbered(self.either),
        }
    }

    fn refer(&mut self, reference: &Reference, others: &[&str]) {
        let is_one_of = |name: &Name, words: &[&str]| words.iter().any(|word| name.is(word));
        let Some((first, rest)) = reference.path.split_first() else { return };
        if is_one_of(first, others) {
            // The whole ad may be looked into anywhere.
            self.everything |= rest.is_empty();
            // Nested ads look outwards, into the ad they stand in.
            self.other.extend_from_slice(rest);
        } else if is_one_of(first, &["my", "self"]) {
            self.own.extend_from_slice(rest);
        } else if is_one_of(first, &["parent", "root", "toplevel"]) {
            self.both(rest);
        } else {
            self.either.push(first.clone());
            self.both(rest);
        }
    }

    fn both(&mut self, names: &[Name]) {
        self.own.extend_from_slice(names);
        self.other.extend_from_slice(names);
    }
}

/// The names in an expression of which a part may be evaluated elsewhere than where it stands, or that looks
/// into an ad that has to be computed: lists, ads, and what is selected from neither a name nor a path.
fn names_that_travel(expression: &Expression) -> Vec<Name> {
    let mut names = Vec::new();
    let mut travels = false;
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        match expression.kind() {
            Kind::Attribute(name) | Kind::RootAttribute(name) => names.push(name.clone()),
            Kind::Select(inner, name) => {
                names.push(name.clone());
                let is_path = matches!(inner.bare().kind(), Kind::Attribute(_) | Kind::Select(..));
                travels |= !is_path;
            }
            Kind::Literal(value) => travels |= matches!(value, Value::List(_) | Value::Ad(_)),
            Kind::List(_) | Kind::Ad(_) | Kind::Subscript(..) => travels = true,
            _ => {}
        }
        expression.kind().for_each_child(|child| pending.push(child));
    }
    if travels { names } else { Vec::new() }
}
