//! External references (thesis 2.6.2): names that an expression needs and its own ad lacks.

use std::fmt;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashSet;

use crate::ad::{Dialect, Expression, Frame, Kind, Name, Nested, Span, Value};
use crate::syntax::{Rules, parse_expression, print_name};

use super::Context;
use super::scope::{Environment, Resolution};

/// Dotted path that an expression refers to, as it is written: `TARGET.x.y`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// Names of the path, in order.
    pub path: Vec<Name>,
    /// Number of leading names that resolve to an ad; the next name is missing in that ad.
    pub known: usize,
}

impl Reference {
    /// Returns the names that do not resolve: `z` of `MY.z`, since `MY` resolves to the ad itself.
    #[must_use]
    pub fn missing(&self) -> &[Name] {
        &self.path[self.known.min(self.path.len() - 1)..]
    }
}

impl fmt::Display for Reference {
    /// Writes the missing names as a dotted path.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, name) in self.missing().iter().enumerate() {
            let dot = if position > 0 { "." } else { "" };
            write!(f, "{dot}{}", print_name(name))?;
        }
        Ok(())
    }
}

/// References of an expression.
#[derive(Clone, Debug, Default)]
pub struct References {
    /// References that its own ad does not resolve, in order of first use, also those of attributes it reads.
    pub external: Vec<Reference>,
    /// Attributes of its own ad that it reads, in order of first use.
    pub internal: IndexSet<Name>,
    /// Whether it may read any attribute: a name is computed, or a whole ad is used as a value.
    pub everything: bool,
}

/// Returns the references of an expression, also through attributes of its ad and constant texts passed to `eval()`.
#[must_use]
pub fn references(
    expression: &Expression,
    frame: &Arc<Frame>,
    environment: &Environment,
    context: &Context,
) -> References {
    references_of_all([expression], frame, environment, context)
}

/// Returns the references of several expressions of one ad together.
#[must_use]
pub fn references_of_all<'a>(
    expressions: impl IntoIterator<Item = &'a Expression>,
    frame: &Arc<Frame>,
    environment: &Environment,
    context: &Context,
) -> References {
    let mut walk = Walk::new(frame, environment, context);
    expressions.into_iter().for_each(|expression| walk.visit_all(expression, frame));
    walk.travel();
    walk.finish()
}

/// Returns the references of an expression itself, without following the attributes of its ad.
#[must_use]
pub fn direct_references(
    expression: &Expression,
    frame: &Arc<Frame>,
    environment: &Environment,
    context: &Context,
) -> References {
    let mut walk = Walk::new(frame, environment, context);
    walk.through_attributes = false;
    walk.visit_all(expression, frame);
    walk.travel();
    walk.finish()
}

/// Returns the references that its own ad does not resolve, as HTCondor's `unresolved()` reports them: a name found
/// only in the partner of a match is external, and texts passed to `eval()` are not read.
#[must_use]
pub fn external_references(
    expression: &Expression,
    frame: &Arc<Frame>,
    environment: &Environment,
    context: &Context,
) -> Vec<Reference> {
    let mut walk = Walk::new(frame, environment, context);
    walk.reads_texts = false;
    walk.visit_all(expression, frame);
    walk.travel();
    walk.finish().external
}

/// Maximum length of a chain of attributes that are aliases of one another; a longer one is most likely circular.
const MOST_ALIASES: usize = 64;

/// Maximum number of nodes visited while relocatable expressions are tried in every scope; the work is their product.
const MOST_LOOKED_UP_ELSEWHERE: u64 = 1_000_000;

struct Walk<'w> {
    environment: &'w Environment,
    context: &'w Context,
    /// Scope of the analysed expression.
    home: Arc<Frame>,
    reads_texts: bool,
    through_attributes: bool,
    external: IndexSet<Reference>,
    internal: IndexSet<Name>,
    everything: bool,
    /// Identities of the expressions walked and of their ads, so that circular references end.
    seen: FxHashSet<(usize, usize)>,
    /// Expressions parsed for `eval()`, kept alive because identities are addresses.
    texts: Vec<Expression>,
    /// Relocatable expressions by identity, with the identity of their ad: they may be evaluated in another scope
    /// than the one they are written in. These are elements of lists, which HTCondor's functions evaluate in the
    /// scope of the call, and arguments that are evaluated in each ad of a list.
    travellers: IndexMap<usize, (Expression, usize)>,
    /// Names that are selected from ads which the analysis cannot determine.
    selected: IndexSet<Name>,
    /// Scopes in which relocatable expressions may be evaluated: the ads that were met and the scopes of calls.
    places: IndexMap<usize, Arc<Frame>>,
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
            texts: Vec::new(),
            travellers: IndexMap::new(),
            selected: IndexSet::new(),
            places: IndexMap::new(),
        }
    }

    fn finish(self) -> References {
        References {
            external: self.external.into_iter().collect(),
            internal: self.internal,
            everything: self.everything,
        }
    }

    fn visit_all(&mut self, expression: &Expression, frame: &Arc<Frame>) {
        if self.seen.insert((expression.identity(), frame.ad.identity())) {
            self.visit(vec![(expression.clone(), Arc::clone(frame))], u64::MAX);
        }
    }

    /// Visits the pending expressions and their children, with an explicit stack so that no depth overflows it.
    /// Visits at most `steps` nodes and returns the number of steps left.
    fn visit(&mut self, mut pending: Pending, mut steps: u64) -> u64 {
        while let Some((expression, frame)) = pending.pop()
            && steps > 0
        {
            steps -= 1;
            let start = pending.len();
            self.one(&expression, &frame, &mut pending);
            pending[start..].reverse();
        }
        steps
    }

    /// Visits relocatable expressions in every scope until nothing new is found. If the step budget is exhausted, the
    /// expression may read everything.
    fn travel(&mut self) {
        let mut steps = MOST_LOOKED_UP_ELSEWHERE;
        let mut before = None;
        let size = |walk: &Self| (walk.travellers.len(), walk.selected.len(), walk.places.len());
        while before.replace(size(self)) != Some(size(self)) {
            let names = self.selected.iter().map(|name| Kind::Attribute(name.clone()));
            let names: Vec<_> = names.map(|name| Expression::new(name, Span::default())).collect();
            if !self.external.is_empty() {
                // The names may be selected from an ad of the other side.
                let nowhere = Frame::nowhere();
                steps = self.visit(names.iter().map(|name| (name.clone(), Arc::clone(&nowhere))).collect(), steps);
            }
            for position in 0..self.places.len() {
                let place = Arc::clone(&self.places[position]);
                let names = names.iter().cloned();
                let from_elsewhere = self.travellers.values().filter(|(_, ad)| *ad != place.ad.identity());
                let travellers = from_elsewhere.map(|(expression, _)| expression.clone());
                let pending = names.chain(travellers).map(|expression| (expression, Arc::clone(&place))).collect();
                self.seen.clear();
                steps = self.visit(pending, steps);
            }
            if steps == 0 {
                self.everything = true;
                return;
            }
        }
    }

    fn one(&mut self, expression: &Expression, frame: &Arc<Frame>, pending: &mut Pending) {
        match expression.kind() {
            Kind::Attribute(_) | Kind::RootAttribute(_) | Kind::Select(..) => {
                let found = self.referred(expression, frame, pending);
                match found {
                    Resolution::Expression(expression, frame) => self.walk_into(expression, frame, pending),
                    Resolution::Value(value) => self.everything |= matches!(value, Value::Ad(_)),
                    Resolution::Missing | Resolution::Unknown => {}
                }
            }
            Kind::Ad(ad) => {
                let inner = frame.enter(ad.clone());
                self.place(&inner);
                pending.extend(ad.iter().map(|a| (a.expression.clone(), Arc::clone(&inner))));
            }
            Kind::Call(name, arguments) => {
                self.place(frame);
                match arguments.as_ref() {
                    [text] if name.is("eval") && self.reads_texts => self.text(text, frame, pending),
                    [each, list] if name.is("evalInEachContext") || name.is("countMatches") => {
                        children(expression, frame, pending);
                        self.in_each(each, list, frame, pending);
                    }
                    _ => children(expression, frame, pending),
                }
            }
            Kind::Subscript(inner, index) => {
                // A computed index selects one of the elements of a list, but any attribute of an ad.
                let place = matches!(index.bare().kind(), Kind::Literal(_));
                self.everything |= !place && !matches!(inner.bare().kind(), Kind::List(_) | Kind::Call(..));
                children(expression, frame, pending);
            }
            Kind::List(elements) => {
                children(expression, frame, pending);
                if self.context.dialect.is_condor() {
                    elements.iter().for_each(|element| self.traveller(element, frame));
                }
            }
            _ => children(expression, frame, pending),
        }
    }

    /// Adds a relocatable expression. Literals, lists and ads are skipped: they keep the scope in which they were
    /// written.
    fn traveller(&mut self, expression: &Expression, frame: &Arc<Frame>) {
        if !matches!(expression.bare().kind(), Kind::Literal(_) | Kind::List(_) | Kind::Ad(_)) {
            self.travellers.entry(expression.identity()).or_insert((expression.clone(), frame.ad.identity()));
        }
    }

    /// Adds a scope in which relocatable expressions may be evaluated.
    fn place(&mut self, frame: &Arc<Frame>) {
        let around = |frame: &Frame| frame.enclosing.as_ref().map(|enclosing| enclosing.ad.identity());
        let known = self.places.entry(frame.ad.identity()).or_insert_with(|| Arc::clone(frame));
        // An ad in a list element that is evaluated in two scopes is two different ads.
        self.everything |= around(known) != around(frame);
    }

    /// Adds the expression that `evalInEachContext()` evaluates in each ad of a list. If the argument is a name, that
    /// is the expression bound to it.
    fn in_each(&mut self, each: &Expression, list: &Expression, frame: &Arc<Frame>, pending: &mut Pending) {
        if matches!(each.kind(), Kind::Attribute(_) | Kind::RootAttribute(_) | Kind::Select(..)) {
            match self.referred(each, frame, pending) {
                Resolution::Expression(bound, scope) => self.traveller(&bound, &scope),
                Resolution::Unknown => self.everything = true,
                Resolution::Missing | Resolution::Value(_) => self.traveller(each, frame),
            }
        } else {
            self.traveller(each, frame);
        }
        if !matches!(list.bare().kind(), Kind::List(_)) {
            // The ads of the list are not known.
            self.place(&Frame::nowhere());
        }
    }

    /// Visits the argument of `eval()`: the parsed expression if the text is constant.
    fn text(&mut self, text: &Expression, frame: &Arc<Frame>, pending: &mut Pending) {
        match text.bare().kind() {
            Kind::Literal(Value::String(text)) => {
                if let Ok(inside) = parse_expression(text.as_bytes(), Rules::new(self.context.dialect)) {
                    self.texts.push(inside.clone());
                    pending.push((inside, Arc::clone(frame)));
                }
            }
            Kind::Literal(_) => {}
            _ => {
                self.everything = true;
                pending.push((text.clone(), Arc::clone(frame)));
            }
        }
    }

    /// Resolves a name or a dotted path. `Unknown` if it is selected from a computed value.
    fn referred(&mut self, expression: &Expression, frame: &Arc<Frame>, pending: &mut Pending) -> Resolution {
        match Path::of(expression) {
            Ok(path) => self.follow(path, frame, pending),
            Err((computed, names)) => {
                pending.push((computed, Arc::clone(frame)));
                self.outward(names, frame, pending)
            }
        }
    }

    /// Follows a dotted path through ads, and through aliases: attributes that are dotted paths themselves.
    fn follow(&mut self, mut path: Path, frame: &Arc<Frame>, pending: &mut Pending) -> Resolution {
        let mut frame = Arc::clone(frame);
        // Scopes of the path and of the aliases followed.
        let mut stands = vec![Arc::clone(&frame)];
        'path: loop {
            let mut known = 0;
            let mut found = self.first(&path, &frame);
            for at in path.first()..path.names.len() {
                let ad = match found {
                    Resolution::Value(Value::Ad(ad)) => ad.frame,
                    Resolution::Value(_) => return found,
                    Resolution::Missing | Resolution::Unknown => return self.missing(path.names, known),
                    Resolution::Expression(bound, scope) => match (bound.bare().kind(), Path::of(&bound)) {
                        (Kind::Ad(ad), _) => scope.enter(ad.clone()),
                        // Nothing can be selected from a scalar.
                        (Kind::Literal(value), _) if !matches!(value, Value::List(_) | Value::Ad(_)) => {
                            return Resolution::Value(Value::Undefined);
                        }
                        (_, Ok(mut alias)) if self.through_attributes && stands.len() <= MOST_ALIASES => {
                            alias.names.extend(path.names.drain(at..));
                            (path, frame) = (alias, scope);
                            stands.push(Arc::clone(&frame));
                            continue 'path;
                        }
                        _ => {
                            for stand in &stands {
                                self.place(stand);
                            }
                            let found = self.outward(path.names.split_off(at), &scope, pending);
                            self.walk_into(bound, scope, pending);
                            return found;
                        }
                    },
                };
                known = at;
                found = self
                    .noted(&path.names[at], |environment, name, context| environment.resolve_in(&ad, name, context));
            }
            return match found {
                Resolution::Missing | Resolution::Unknown => self.missing(path.names, known),
                found => found,
            };
        }
    }

    /// Resolves the first name of a path.
    fn first(&mut self, path: &Path, frame: &Arc<Frame>) -> Resolution {
        if let Start::Ad(ad) = &path.start {
            return Resolution::Expression(ad.clone(), Arc::clone(frame));
        }
        let rooted = matches!(path.start, Start::Root);
        let found = self.noted(&path.names[0], |environment, name, context| {
            if rooted {
                environment.resolve_root(frame, name, context)
            } else {
                environment.resolve_own(frame, name, context)
            }
        });
        match found {
            // In a match `my` is the ad itself.
            Resolution::Missing | Resolution::Unknown
                if self.context.dialect == Dialect::Classad && path.names[0].is("my") && !rooted =>
            {
                Resolution::Value(Value::Ad(Nested { frame: Arc::clone(frame) }))
            }
            found => found,
        }
    }

    /// Looks a name up, and records it as internal if it is an attribute of the expression's own ad.
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

    /// Resolves names that are selected from an unknown ad, which may find them in the ads around it.
    fn outward(&mut self, names: Vec<Name>, frame: &Arc<Frame>, pending: &mut Pending) -> Resolution {
        self.place(frame);
        for name in names {
            let scope = Arc::clone(frame);
            let found = self.noted(&name, |environment, name, context| environment.resolve_own(&scope, name, context));
            self.selected.insert(name.clone());
            match found {
                Resolution::Expression(expression, frame) => self.walk_into(expression, frame, pending),
                Resolution::Value(_) => {}
                Resolution::Missing | Resolution::Unknown => drop(self.missing(vec![name], 0)),
            }
        }
        Resolution::Unknown
    }

    fn missing(&mut self, path: Vec<Name>, known: usize) -> Resolution {
        self.everything |= path.len() == 1 && ["target", "other"].iter().any(|name| path[0].is(name));
        self.external.insert(Reference { path, known });
        Resolution::Missing
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

/// Dotted path: its start and the names that follow.
struct Path {
    start: Start,
    names: Vec<Name>,
}

/// Where the first name of a dotted path is looked up.
enum Start {
    Here,
    /// In the outermost ad: the path begins with a dot.
    Root,
    /// In a literal ad with which the path begins.
    Ad(Expression),
}

impl Path {
    /// Splits an expression into a dotted path. `Err` holds the computed expression that names are selected from, and
    /// the names in order.
    fn of(expression: &Expression) -> Result<Path, (Expression, Vec<Name>)> {
        let mut names = Vec::new();
        let mut expression = expression;
        let start = loop {
            match expression.bare().kind() {
                Kind::Select(inner, name) => {
                    names.push(name.clone());
                    expression = inner;
                }
                Kind::Attribute(name) => {
                    names.push(name.clone());
                    break Some(Start::Here);
                }
                Kind::RootAttribute(name) => {
                    names.push(name.clone());
                    break Some(Start::Root);
                }
                Kind::Ad(_) => break Some(Start::Ad(expression.clone())),
                _ => break None,
            }
        };
        names.reverse();
        match start {
            Some(start) => Ok(Path { start, names }),
            None => Err((expression.clone(), names)),
        }
    }

    /// Index of the first name that is selected from something.
    fn first(&self) -> usize {
        usize::from(!matches!(self.start, Start::Ad(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::references;
    use crate::ad::{Dialect, Name};
    use crate::eval::{Context, Environment};
    use crate::syntax::{Rules, parse_ad, parse_expression};

    /// Formats the external references, with `*` if everything may be read, and after a bar the internal ones; both
    /// sorted.
    fn found(text: &str, ad: &str, dialect: Dialect) -> String {
        let rules = Rules::new(dialect);
        let (environment, frame) = Environment::alone(parse_ad(ad.as_bytes(), rules).unwrap());
        let expression = parse_expression(text.as_bytes(), rules).unwrap();
        let found = references(&expression, &frame, &environment, &Context::new(dialect));
        let mut names: Vec<String> = found.external.iter().map(ToString::to_string).collect();
        names.extend(found.everything.then(|| "*".to_owned()));
        names.sort();
        let mut internal: Vec<&str> = found.internal.iter().map(Name::as_str).collect();
        internal.sort_unstable();
        format!("{} | {}", names.join(" "), internal.join(" "))
    }

    #[test]
    fn what_is_referred_to() {
        let ad = "[ a = 1; b = c + a; n = [ p = q; r = p; b = a ]; z = y; u = undefined; s = self; l = { a, m } ]";
        for dialect in [Dialect::Classad, Dialect::Condor] {
            for (text, expected) in [
                ("b + d", "c d | a b"),
                ("other.x.y && TARGET.x", "TARGET.x other.x.y | "),
                ("n.r", "q | n"),
                ("n.b", " | a n"),
                ("n", "q | a n"),
                ("z.x.y", "y.x.y | z"),
                ("n.k", "k | n"),
                ("u.x", " | u"),
                ("a.x", " | a"),
                ("[ p = q; r = p ].r", "q | "),
                ("[ p = q ].b", "c | a b"),
                ("eval(\"b\")", "c | a b"),
                ("eval(e)", "* e | "),
                ("n[e]", "* e q | a n"),
                ("l[0]", "m | a l"),
                ("s", "* | s"),
                ("MY.x", "x | "),
                (".x", "x | "),
                ("(a > 1 ? n : f).k", "f k q | a n"),
                // Selected from a nested ad and found in the ad around it.
                ("[ g = d > 1 ? [ m = [ ]; k = v ].m : 0; h = g.k ].h", "d k v | "),
                ("countMatches(e > a, [ a = h; g = { [ i = 1 ] } ].g)", "a e h | a"),
            ] {
                assert_eq!(found(text, ad, dialect), expected, "{text} in {dialect}");
            }
        }
        // HTCondor's functions evaluate elements in the scope of the call.
        let ad = "[ x = [ y = sum(l.e); q = z ]; l = [ e = { q }; q = 5 ] ]";
        assert_eq!(found("x.y", ad, Dialect::Classad), " | l x");
        assert_eq!(found("x.y", ad, Dialect::Condor), "z | l x");
    }
}
