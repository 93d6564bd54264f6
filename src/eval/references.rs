//! External references (thesis §2.6.2): the names that an expression needs and its ad does not have.

use std::fmt;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashSet;

use crate::ad::{Dialect, Expression, Frame, Kind, Name, Nested, Span, Value};
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
    references_of_all([expression], frame, environment, context)
}

/// What expressions of one ad refer to together.
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
    walk.visit_all(expression, frame);
    walk.travel();
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
    walk.visit_all(expression, frame);
    walk.travel();
    walk.finish().external
}

/// An alias may lead to an alias; a chain this long is most likely a circle.
const MOST_ALIASES: usize = 64;

/// So many steps may be taken for what is looked up elsewhere; that is as many elements times as many places.
const MOST_LOOKED_UP_ELSEWHERE: u64 = 1_000_000;

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
    /// What `eval()` reads, kept so that no other expression is taken for it.
    texts: Vec<Expression>,
    /// Expressions whose names may be looked up elsewhere than where they are written, and the ads in which
    /// they are: elements of lists, which HTCondor's functions evaluate where they are called, and what is
    /// evaluated in each ad of a list.
    travellers: IndexMap<usize, (Expression, usize)>,
    /// Names that are selected from ads which are not known.
    selected: IndexSet<Name>,
    /// Where they may be looked up: the ads that were met, and where calls stand.
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

    /// Keeps its own list of what is left, last one first, so that no depth can harm it.  Gives how many steps
    /// of so many are left.
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

    /// Looks up what may be looked up elsewhere; what would take too long may read everything.
    fn travel(&mut self) {
        let mut steps = MOST_LOOKED_UP_ELSEWHERE;
        let mut before = None;
        let size = |walk: &Self| (walk.travellers.len(), walk.selected.len(), walk.places.len());
        while before.replace(size(self)) != Some(size(self)) {
            let names = self.selected.iter().map(|name| Kind::Attribute(name.clone()));
            let names: Vec<_> = names.map(|name| Expression::new(name, Span::default())).collect();
            if !self.external.is_empty() {
                // They may be selected from an ad of the other side.
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
                // With a computed index a list gives one of its elements; an ad gives whatever it has.
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

    /// Notes an expression that may be evaluated elsewhere; lists and ads know where they were written.
    fn traveller(&mut self, expression: &Expression, frame: &Arc<Frame>) {
        if !matches!(expression.bare().kind(), Kind::Literal(_) | Kind::List(_) | Kind::Ad(_)) {
            self.travellers.entry(expression.identity()).or_insert((expression.clone(), frame.ad.identity()));
        }
    }

    /// Notes a scope in which travellers may be evaluated.
    fn place(&mut self, frame: &Arc<Frame>) {
        let around = |frame: &Frame| frame.enclosing.as_ref().map(|enclosing| enclosing.ad.identity());
        let known = self.places.entry(frame.ad.identity()).or_insert_with(|| Arc::clone(frame));
        // An ad in an element of a list that is evaluated here and there is two ads.
        self.everything |= around(known) != around(frame);
    }

    /// What `evalInEachContext()` evaluates in each ad of a list: what a name is bound to, not the name.
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
            // The ads may be anywhere.
            self.place(&Frame::nowhere());
        }
    }

    /// What `eval()` reads: the expression, if the text is constant.
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

    /// What a name, or a name selected from something, refers to; unknown if that has to be computed.
    fn referred(&mut self, expression: &Expression, frame: &Arc<Frame>, pending: &mut Pending) -> Resolution {
        match Path::of(expression) {
            Ok(path) => self.follow(path, frame, pending),
            Err((computed, names)) => {
                pending.push((computed, Arc::clone(frame)));
                self.outward(names, frame, pending)
            }
        }
    }

    /// Follows a dotted path through ads, and through attributes that are such paths themselves.
    fn follow(&mut self, mut path: Path, frame: &Arc<Frame>, pending: &mut Pending) -> Resolution {
        let mut frame = Arc::clone(frame);
        // Where it stands, and the aliases on its way.
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
                        // Nothing can be selected from it, and nothing looked for.
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

    /// What the first name of a path refers to.
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
            // In a match it is the ad itself.
            Resolution::Missing | Resolution::Unknown
                if self.context.dialect == Dialect::Classad && path.names[0].is("my") && !rooted =>
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

    /// Names that are looked up in an ad that is not known, and outwards from there.
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

/// The names of a dotted path.
struct Path {
    start: Start,
    names: Vec<Name>,
}

/// Where the first name of a path is looked up.
enum Start {
    Here,
    /// The path begins with a dot.
    Root,
    /// The names are selected from an ad that is written there.
    Ad(Expression),
}

impl Path {
    /// The path that an expression is; or what it selects from, and which names, first one first.
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

    /// The position of the first name that is selected from something.
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

    /// The external references, `*` among them if there may be any, and the internal ones after a bar; sorted.
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
                // Selected from an ad that stands in another, and found there.
                ("[ g = d > 1 ? [ m = [ ]; k = v ].m : 0; h = g.k ].h", "d k v | "),
                ("countMatches(e > a, [ a = h; g = { [ i = 1 ] } ].g)", "a e h | a"),
            ] {
                assert_eq!(found(text, ad, dialect), expected, "{text} in {dialect}");
            }
        }
        // Elements are evaluated where a function of HTCondor's is called.
        let ad = "[ x = [ y = sum(l.e); q = z ]; l = [ e = { q }; q = 5 ] ]";
        assert_eq!(found("x.y", ad, Dialect::Classad), " | l x");
        assert_eq!(found("x.y", ad, Dialect::Condor), "z | l x");
    }
}
