//! External references (thesis §2.6.2): the names that an expression needs and its ad does not have.

use std::fmt;
use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::FxHashSet;

use crate::ad::{Dialect, Expression, Frame, Kind, Name, Nested, Value};
use crate::syntax::{Rules, parse_expression, print_name};

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

impl Reference {
    /// The parts that are missing: `z` of `MY.z`, for the ad itself is there.
    #[must_use]
    pub fn missing(&self) -> &[Name] {
        &self.path[self.known.min(self.path.len() - 1)..]
    }
}

impl fmt::Display for Reference {
    /// What is missing, dotted, as it is written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, name) in self.missing().iter().enumerate() {
            let dot = if position > 0 { "." } else { "" };
            write!(f, "{dot}{}", print_name(name))?;
        }
        Ok(())
    }
}

/// What an expression refers to.
#[derive(Clone, Debug, Default)]
pub struct References {
    /// What its own ad does not answer, in the order of first use, through the ad's own attributes.
    pub external: Vec<Reference>,
    /// The attributes of its own ad that it reads, in the order of first use.
    pub internal: IndexSet<Name>,
    /// Whether it may read anything: the name is computed, or a whole ad is used as a value.
    pub everything: bool,
}

/// What an expression refers to, also through constant texts that `eval()` reads.
#[must_use]
pub fn references(
    expression: &Expression,
    frame: &Arc<Frame>,
    environment: &Environment,
    context: &Context,
) -> References {
    let mut walk = Walk::new(frame, environment, context);
    walk.all(expression, frame);
    walk.finish()
}

/// What an expression refers to itself, and not through the attributes of its ad.
#[must_use]
pub fn direct_references(
    expression: &Expression,
    frame: &Arc<Frame>,
    environment: &Environment,
    context: &Context,
) -> References {
    let mut walk = Walk::new(frame, environment, context);
    walk.through_attributes = false;
    walk.all(expression, frame);
    walk.finish()
}

/// The references that its own ad does not answer, as HTCondor's `unresolved()` sees them: a name that
/// only falls through to the partner of a match is external, too; texts are not looked into.
#[must_use]
pub fn external_references(
    expression: &Expression,
    frame: &Arc<Frame>,
    environment: &Environment,
    context: &Context,
) -> Vec<Reference> {
    let mut walk = Walk::new(frame, environment, context);
    walk.reads_texts = false;
    walk.all(expression, frame);
    walk.finish().external
}

/// An alias may lead to an alias; a chain this long is most likely a circle.
const MOST_ALIASES: usize = 64;

struct Walk<'w> {
    environment: &'w Environment,
    context: &'w Context,
    /// Where the expression stands.
    home: Arc<Frame>,
    reads_texts: bool,
    through_attributes: bool,
    external: IndexSet<Reference>,
    internal: IndexSet<Name>,
    everything: bool,
    /// Expressions of ads that have been walked, so that circular references end.
    seen: FxHashSet<(usize, usize)>,
}

type Pending = Vec<(Expression, Arc<Frame>)>;

impl<'w> Walk<'w> {
    fn new(home: &Arc<Frame>, environment: &'w Environment, context: &'w Context) -> Self {
        Walk {
            environment,
            context,
            home: Arc::clone(home),
            reads_texts: true,
            through_attributes: true,
            external: IndexSet::new(),
            internal: IndexSet::new(),
            everything: false,
            seen: FxHashSet::default(),
        }
    }

    fn finish(self) -> References {
        References {
            external: self.external.into_iter().collect(),
            internal: self.internal,
            everything: self.everything,
        }
    }

    /// Keeps its own list of what is left, first one first, so that no depth can harm it.
    fn all(&mut self, expression: &Expression, frame: &Arc<Frame>) {
        let mut pending = vec![(expression.clone(), Arc::clone(frame))];
        while let Some((expression, frame)) = pending.pop() {
            let start = pending.len();
            self.one(&expression, &frame, &mut pending);
            pending[start..].reverse();
        }
    }

    fn one(&mut self, expression: &Expression, frame: &Arc<Frame>, pending: &mut Pending) {
        match expression.kind() {
            Kind::Attribute(_) | Kind::RootAttribute(_) | Kind::Select(..) => match Path::of(expression) {
                Ok(path) => self.reference(path, frame, pending),
                Err((computed, names)) => {
                    pending.push((computed, Arc::clone(frame)));
                    self.outward(names, frame, pending);
                }
            },
            Kind::Ad(ad) => {
                let inner = frame.enter(ad.clone());
                pending.extend(ad.iter().map(|a| (a.expression.clone(), Arc::clone(&inner))));
            }
            Kind::Call(name, arguments) if name.is("eval") && self.reads_texts => match arguments.as_ref() {
                [text] => self.text(text, frame, pending),
                _ => children(expression, frame, pending),
            },
            Kind::Subscript(inner, index) => {
                // With a computed index a list gives one of its elements; an ad gives whatever it has.
                let place = matches!(index.bare().kind(), Kind::Literal(Value::Integer(_)));
                self.everything |= !place && !matches!(inner.bare().kind(), Kind::List(_) | Kind::Call(..));
                children(expression, frame, pending);
            }
            Kind::List(elements) => {
                children(expression, frame, pending);
                // HTCondor's functions evaluate elements where the call stands.
                if self.context.dialect.is_condor() && !Arc::ptr_eq(frame, &self.home) {
                    let home = &self.home;
                    pending.extend(elements.iter().map(|element| (element.clone(), Arc::clone(home))));
                }
            }
            _ => children(expression, frame, pending),
        }
    }

    /// What `eval()` reads: the expression, if the text is constant.
    fn text(&mut self, text: &Expression, frame: &Arc<Frame>, pending: &mut Pending) {
        match text.bare().kind() {
            Kind::Literal(Value::String(text)) => {
                let inside = parse_expression(text.as_bytes(), Rules::new(self.context.dialect));
                pending.extend(inside.ok().map(|expression| (expression, Arc::clone(frame))));
            }
            Kind::Literal(_) => {}
            _ => {
                self.everything = true;
                pending.push((text.clone(), Arc::clone(frame)));
            }
        }
    }

    /// Follows a dotted path through ads, and through attributes that are such paths themselves.
    fn reference(&mut self, mut path: Path, frame: &Arc<Frame>, pending: &mut Pending) {
        let mut frame = Arc::clone(frame);
        let mut aliases = 0;
        'path: loop {
            let mut known = 0;
            let mut found = self.first(&path, &frame);
            for at in 1..path.names.len() {
                let (bound, scope) = match found {
                    Resolution::Value(Value::Ad(ad)) => {
                        known = at;
                        found = self.noted(&path.names[at], |environment, name, context| {
                            environment.resolve_in(&ad.frame, name, context)
                        });
                        continue;
                    }
                    Resolution::Expression(bound, scope) => (bound, scope),
                    Resolution::Value(_) => return,
                    Resolution::Missing | Resolution::Unknown => return self.missing(path.names, known),
                };
                let rest = path.names.split_off(at);
                match bound.bare().kind() {
                    Kind::Ad(ad) => {
                        let inner = scope.enter(ad.clone());
                        found = self.noted(&rest[0], |environment, name, context| {
                            environment.resolve_in(&inner, name, context)
                        });
                        path.names.extend(rest);
                        known = at;
                    }
                    Kind::Attribute(_) | Kind::RootAttribute(_) | Kind::Select(..)
                        if self.through_attributes && aliases < MOST_ALIASES =>
                    {
                        let Ok(mut alias) = Path::of(&bound) else { return self.computed(bound, scope, rest, pending) };
                        alias.names.extend(rest);
                        (path, frame) = (alias, scope);
                        aliases += 1;
                        continue 'path;
                    }
                    _ => return self.computed(bound, scope, rest, pending),
                }
            }
            return match found {
                Resolution::Expression(expression, frame) => self.walk_into(expression, frame, pending),
                Resolution::Value(value) => self.everything |= matches!(value, Value::Ad(_)),
                Resolution::Missing | Resolution::Unknown => self.missing(path.names, known),
            };
        }
    }

    /// What the first name of a path refers to.
    fn first(&mut self, path: &Path, frame: &Arc<Frame>) -> Resolution {
        let found = self.noted(&path.names[0], |environment, name, context| {
            if path.rooted {
                environment.resolve_root(frame, name, context)
            } else {
                environment.resolve_own(frame, name, context)
            }
        });
        match found {
            // In a match it is the ad itself.
            Resolution::Missing | Resolution::Unknown
                if self.context.dialect == Dialect::Classad && path.names[0].is("my") && !path.rooted =>
            {
                Resolution::Value(Value::Ad(Nested { frame: Arc::clone(frame) }))
            }
            found => found,
        }
    }

    /// Looks a name up, and notes it if it is an attribute of the ad that the expression stands in.
    fn noted(&mut self, name: &Name, look: impl FnOnce(&Environment, &Name, &Context) -> Resolution) -> Resolution {
        let found = look(self.environment, name, self.context);
        if let Resolution::Expression(_, frame) = &found
            && frame.enclosing.is_none()
            && frame.participant == self.home.participant
        {
            self.internal.insert(name.clone());
        }
        found
    }

    /// All that a computed ad needs is needed, and what is selected from it may be found outwards.
    fn computed(&mut self, ad: Expression, frame: Arc<Frame>, names: Vec<Name>, pending: &mut Pending) {
        self.outward(names, &frame, pending);
        self.walk_into(ad, frame, pending);
    }

    /// Names that are looked up in an ad that is not known, and outwards from there.
    fn outward(&mut self, names: Vec<Name>, frame: &Arc<Frame>, pending: &mut Pending) {
        for name in names {
            let scope = Arc::clone(frame);
            let found = self.noted(&name, |environment, name, context| environment.resolve_own(&scope, name, context));
            match found {
                Resolution::Expression(expression, frame) => self.walk_into(expression, frame, pending),
                Resolution::Value(_) => {}
                Resolution::Missing | Resolution::Unknown => self.missing(vec![name], 0),
            }
        }
    }

    fn missing(&mut self, path: Vec<Name>, known: usize) {
        self.everything |= path.len() == 1 && ["target", "other"].iter().any(|name| path[0].is(name));
        self.external.insert(Reference { path, known });
    }

    fn walk_into(&mut self, expression: Expression, frame: Arc<Frame>, pending: &mut Pending) {
        if self.through_attributes && self.seen.insert((expression.identity(), frame.ad.identity())) {
            pending.push((expression, frame));
        }
    }
}

fn children(expression: &Expression, frame: &Arc<Frame>, pending: &mut Pending) {
    expression.kind().for_each_child(|child| pending.push((child.clone(), Arc::clone(frame))));
}

/// The names of a dotted path.
struct Path {
    names: Vec<Name>,
    /// Whether it begins with a dot, and so at the root.
    rooted: bool,
}

impl Path {
    /// The path that an expression is; or what it selects from, and which names, first one first.
    fn of(expression: &Expression) -> Result<Path, (Expression, Vec<Name>)> {
        let mut names = Vec::new();
        let mut expression = expression;
        loop {
            let rooted = matches!(expression.bare().kind(), Kind::RootAttribute(_));
            match expression.bare().kind() {
                Kind::Attribute(name) | Kind::RootAttribute(name) => {
                    names.push(name.clone());
                    names.reverse();
                    return Ok(Path { names, rooted });
                }
                Kind::Select(inner, name) => {
                    names.push(name.clone());
                    expression = inner;
                }
                _ => {
                    names.reverse();
                    return Err((expression.clone(), names));
                }
            }
        }
    }
}
