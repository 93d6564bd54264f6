//! External references (thesis §2.6.2): the names that an expression needs and its ad does not have.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::ad::{Expression, Frame, Kind, Name};

use super::Context;
use super::scope::{Environment, Resolution};

/// A name that an expression refers to, dotted as it is written: `TARGET.x.y`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The parts of the path, first one first.
    pub path: Vec<Name>,
    /// How many of the first parts lead to an ad; the next one is missing there.
    pub known: usize,
}

/// The references of an expression that its own ad does not answer, in the order of first use,
/// through the ad's own attributes.
///
/// A name that only falls through to the partner of a match is external, too.  What a computed `eval(...)` or `ad[expression]` refers to is not among them.
#[must_use]
pub fn external_references(
    expression: &Expression,
    frame: &Arc<Frame>,
    environment: &Environment,
    context: &Context,
) -> Vec<Reference> {
    let mut walk = Walk { environment, context, found: Vec::new(), seen: FxHashSet::default() };
    walk.all(expression, frame);
    walk.found
}

struct Walk<'w> {
    environment: &'w Environment,
    context: &'w Context,
    found: Vec<Reference>,
    /// Expressions of ads that have been walked, so that circular references end.
    seen: FxHashSet<(usize, usize)>,
}

impl Walk<'_> {
    /// Keeps its own list of what is left, first one first, so that no depth can harm it.
    fn all(&mut self, expression: &Expression, frame: &Arc<Frame>) {
        let mut pending = vec![(expression.clone(), Arc::clone(frame))];
        while let Some((expression, frame)) = pending.pop() {
            let start = pending.len();
            self.one(&expression, &frame, &mut pending);
            pending[start..].reverse();
        }
    }

    fn one(&mut self, expression: &Expression, frame: &Arc<Frame>, pending: &mut Vec<(Expression, Arc<Frame>)>) {
        match expression.kind() {
            Kind::Attribute(_) | Kind::RootAttribute(_) | Kind::Select(..) => match path(expression) {
                Some(path) => self.reference(path, expression, frame, pending),
                None => expression.kind().for_each_child(|child| pending.push((child.clone(), Arc::clone(frame)))),
            },
            Kind::Ad(ad) => {
                let inner = frame.enter(ad.clone());
                pending.extend(ad.iter().map(|a| (a.expression.clone(), Arc::clone(&inner))));
            }
            kind => kind.for_each_child(|child| pending.push((child.clone(), Arc::clone(frame)))),
        }
    }

    /// Follows a dotted path through ads as far as it leads.
    fn reference(
        &mut self,
        path: Vec<Name>,
        expression: &Expression,
        frame: &Arc<Frame>,
        pending: &mut Vec<(Expression, Arc<Frame>)>,
    ) {
        let mut innermost = expression;
        while let Kind::Select(inner, _) = innermost.kind() {
            innermost = inner.bare();
        }
        let first = &path[0];
        let mut found = match innermost.kind() {
            Kind::RootAttribute(_) => self.environment.resolve_root(frame, first, self.context),
            _ => self.environment.resolve_own(frame, first, self.context),
        };
        let mut known = 0;
        for name in &path[1..] {
            let ad = matches!(&found, Resolution::Value(crate::ad::Value::Ad(_)) | Resolution::Expression(..));
            known += usize::from(ad);
            found = match found {
                Resolution::Value(crate::ad::Value::Ad(ad)) => {
                    self.environment.resolve_in(&ad.frame, name, self.context)
                }
                Resolution::Expression(expression, frame) => match expression.bare().kind() {
                    Kind::Ad(ad) => self.environment.resolve_in(&frame.enter(ad.clone()), name, self.context),
                    // What is selected from is computed: all that it needs is needed.
                    _ => return self.walk_into(expression, frame, pending),
                },
                other => other,
            };
        }
        match found {
            Resolution::Expression(expression, frame) => self.walk_into(expression, frame, pending),
            Resolution::Value(_) => {}
            Resolution::Missing | Resolution::Unknown => {
                let reference = Reference { path, known };
                if !self.found.contains(&reference) {
                    self.found.push(reference);
                }
            }
        }
    }

    fn walk_into(&mut self, expression: Expression, frame: Arc<Frame>, pending: &mut Vec<(Expression, Arc<Frame>)>) {
        if self.seen.insert((expression.identity(), frame.ad.identity())) {
            pending.push((expression, frame));
        }
    }
}

/// The names of a dotted path, if the expression is one.
fn path(expression: &Expression) -> Option<Vec<Name>> {
    let mut names = Vec::new();
    let mut expression = expression;
    loop {
        match expression.bare().kind() {
            Kind::Attribute(name) | Kind::RootAttribute(name) => {
                names.push(name.clone());
                names.reverse();
                return Some(names);
            }
            Kind::Select(inner, name) => {
                names.push(name.clone());
                expression = inner;
            }
            _ => return None,
        }
    }
}
