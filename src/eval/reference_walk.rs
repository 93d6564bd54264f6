//! The walk over an expression, and all that it reads, that finds the names to which it refers (thesis 2.6.2).

use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::FxHashSet;

use crate::ad::{AdValue, Dialect, Expression, ExpressionKind, Name, ScopeAd, ScopeFrame, Value};
use crate::syntax::{ParseOptions, parse_expression};

use super::Context;
use super::builtin::FunctionKind;
use super::dotted_path::{DottedPath, PathStart};
use super::references::{Reference, References};
use super::relocatable_expressions::RelocatableExpressions;
use super::scope::{Environment, NameResolution};

/// Returns the references of an expression. References in the attributes that it reads from its own ad and in constant
/// texts passed to `eval()` are included.
pub fn references(
    expression: &Expression,
    frame: &Arc<ScopeFrame>,
    environment: &Environment,
    context: &Context,
) -> References {
    references_of_all([expression], frame, environment, context)
}

/// Returns the references of several expressions of one ad, as one result.
pub fn references_of_all<'a>(
    expressions: impl IntoIterator<Item = &'a Expression>,
    frame: &Arc<ScopeFrame>,
    environment: &Environment,
    context: &Context,
) -> References {
    let mut walk = ReferenceWalk::new(frame, environment, context);
    expressions.into_iter().for_each(|expression| walk.visit_expression(expression, frame));
    walk.visit_relocatable();
    walk.found
}

/// Returns the references that are written in an expression itself. References in the attributes that it reads are left
/// out.
pub fn direct_references(
    expression: &Expression,
    frame: &Arc<ScopeFrame>,
    environment: &Environment,
    context: &Context,
) -> References {
    let mut walk = ReferenceWalk::new(frame, environment, context);
    walk.through_attributes = false;
    walk.references(expression)
}

/// Returns the external references of an expression as HTCondor's `unresolved()` reports them. A name that only the
/// partner of a match defines is external. Texts passed to `eval()` are not read.
#[must_use]
pub fn external_references(
    expression: &Expression,
    frame: &Arc<ScopeFrame>,
    environment: &Environment,
    context: &Context,
) -> IndexSet<Reference> {
    let mut walk = ReferenceWalk::new(frame, environment, context);
    walk.reads_texts = false;
    walk.references(expression).external
}

/// Maximum number of aliases that are followed one after the other: 2 from `a` to `c` with `a = b; b = c`. A longer
/// chain is most likely circular.
const MAX_ALIAS_CHAIN: usize = 64;

/// Maximum number of visits to nodes of expressions that may be evaluated in any scope, such as elements of lists. Each
/// of these nodes is visited in every scope, so there could otherwise be as many visits as nodes times scopes.
const MAX_RELOCATED_VISITS: u64 = 1_000_000;

/// Number of visits to nodes that do not count for the run.
const FREE_VISITS: u64 = 4096;

/// The walk over expressions that collects the names to which they refer.
struct ReferenceWalk<'w> {
    environment: &'w Environment,
    context: &'w Context,
    /// Scope of the analysed expression.
    home: Arc<ScopeFrame>,
    reads_texts: bool,
    through_attributes: bool,
    found: References,
    /// Expressions that are still to be visited, and their scopes.
    pending: Vec<(Expression, Arc<ScopeFrame>)>,
    /// Visited expressions with their ads, both by identity. None is visited twice, so that circular references end.
    seen: FxHashSet<(usize, usize)>,
    /// Expressions parsed from texts of `eval()`. They must stay alive, because an identity is an address.
    texts: Vec<Expression>,
    relocatable: RelocatableExpressions,
}

impl<'w> ReferenceWalk<'w> {
    fn new(home: &Arc<ScopeFrame>, environment: &'w Environment, context: &'w Context) -> Self {
        ReferenceWalk {
            environment,
            context,
            home: Arc::clone(home),
            reads_texts: true,
            through_attributes: true,
            found: References::default(),
            pending: Vec::new(),
            seen: FxHashSet::default(),
            texts: Vec::new(),
            relocatable: RelocatableExpressions::default(),
        }
    }

    /// Returns the references of an expression in the scope `home`.
    fn references(mut self, expression: &Expression) -> References {
        let home = Arc::clone(&self.home);
        self.visit_expression(expression, &home);
        self.visit_relocatable();
        self.found
    }

    fn visit_expression(&mut self, expression: &Expression, frame: &Arc<ScopeFrame>) {
        // Most expressions of an ad are scalars, which refer to nothing.
        if !expression.kind().is_scalar() && self.seen.insert((expression.identity(), frame.ad.identity())) {
            self.push(expression, frame);
            self.visit(u64::MAX);
        }
    }

    fn push(&mut self, expression: &Expression, frame: &Arc<ScopeFrame>) {
        self.pending.push((expression.clone(), Arc::clone(frame)));
    }

    /// Visits the pending expressions and their children, at most `steps` nodes. Returns the number of steps left. The
    /// stack is explicit, so that deep nesting cannot overflow the call stack.
    fn visit(&mut self, mut steps: u64) -> u64 {
        let granted = steps;
        while let Some((expression, frame)) = self.pending.pop() {
            if steps == 0 {
                self.pending.clear();
                break;
            }
            steps -= 1;
            let start = self.pending.len();
            self.visit_node(&expression, &frame);
            self.pending[start..].reverse();
        }
        self.context.count_steps((granted - steps).saturating_sub(FREE_VISITS));
        steps
    }

    /// Visits the relocatable expressions in every scope until nothing new is found. After
    /// [`MAX_RELOCATED_VISITS`] steps it gives up and sets `reads_anything`.
    fn visit_relocatable(&mut self) {
        let mut steps = MAX_RELOCATED_VISITS;
        let mut before = None;
        while before.replace(self.relocatable.size()) != Some(self.relocatable.size()) {
            let names = self.relocatable.names();
            if !self.found.external.is_empty() {
                // The ad from which a name is selected may belong to the other side, so the name must become external.
                // The name is therefore visited in a scope outside all ads, where no name resolves.
                let nowhere = ScopeFrame::outside_ads();
                self.pending.extend(names.iter().map(|name| (name.clone(), Arc::clone(&nowhere))));
                steps = self.visit(steps);
            }
            for position in 0..self.relocatable.scope_count() {
                let scope = self.relocatable.scope(position);
                let expressions = names.iter().chain(self.relocatable.written_elsewhere(&scope));
                self.pending.extend(expressions.map(|expression| (expression.clone(), Arc::clone(&scope))));
                self.seen.clear();
                steps = self.visit(steps);
            }
            if steps == 0 {
                self.found.reads_anything = true;
                return;
            }
        }
    }

    fn visit_node(&mut self, expression: &Expression, frame: &Arc<ScopeFrame>) {
        match expression.kind() {
            kind if kind.is_reference() => match self.resolve_reference(expression, frame) {
                NameResolution::Expression(expression, frame) => self.push_bound(expression, frame),
                NameResolution::Value(value) => self.found.reads_anything |= matches!(value, Value::Ad(_)),
                NameResolution::Missing | NameResolution::Unknown => {}
            },
            ExpressionKind::Ad(ad) => {
                let inner = frame.enter(ad.clone());
                self.add_scope(&inner);
                ad.iter().for_each(|attribute| self.push(attribute.expression, &inner));
            }
            ExpressionKind::Call(name, arguments) => {
                self.add_scope(frame);
                match (FunctionKind::of(name), arguments.as_ref()) {
                    (Some(FunctionKind::ParsesText), [text]) if self.reads_texts => self.visit_eval_text(text, frame),
                    (Some(FunctionKind::EvaluatesElsewhere), [each, list]) => {
                        self.push_children(expression, frame);
                        self.visit_each_context(each, list, frame);
                    }
                    _ => self.push_children(expression, frame),
                }
            }
            ExpressionKind::Subscript(inner, index) => {
                // A computed index may select any attribute of an ad. From a list it selects an element, and all
                // elements are visited anyway.
                let is_list =
                    matches!(inner.without_parentheses().kind(), ExpressionKind::List(_) | ExpressionKind::Call(..));
                self.found.reads_anything |= index.as_literal().is_none() && !is_list;
                self.push_children(expression, frame);
            }
            ExpressionKind::List(elements) => {
                self.push_children(expression, frame);
                if self.context.dialect.is_condor() {
                    elements.iter().for_each(|element| self.relocatable.add(element, frame));
                }
            }
            _ => self.push_children(expression, frame),
        }
    }

    /// Adds a scope in which expressions from other scopes may be evaluated, such as elements of lists.
    fn add_scope(&mut self, frame: &Arc<ScopeFrame>) {
        // Only one scope of an ad is kept. If there is another, any attribute counts as read.
        self.found.reads_anything |= !self.relocatable.add_scope(frame);
    }

    /// Adds the expression that `evalInEachContext()` evaluates in each ad of a list: its first argument, or the
    /// attribute's expression if the argument names an attribute.
    fn visit_each_context(&mut self, each: &Expression, list: &Expression, frame: &Arc<ScopeFrame>) {
        let found =
            if each.kind().is_reference() { self.resolve_reference(each, frame) } else { NameResolution::Missing };
        match found {
            NameResolution::Expression(bound, scope) => self.relocatable.add(&bound, &scope),
            NameResolution::Unknown => self.found.reads_anything = true,
            NameResolution::Missing | NameResolution::Value(_) => self.relocatable.add(each, frame),
        }
        if !matches!(list.without_parentheses().kind(), ExpressionKind::List(_)) {
            // The ads of a computed list are unknown, so a scope outside all ads stands for them.
            self.add_scope(&ScopeFrame::outside_ads());
        }
    }

    /// Visits the argument of `eval()`. A constant text is parsed and visited as an expression; with any other
    /// argument, any attribute may be read.
    fn visit_eval_text(&mut self, text: &Expression, frame: &Arc<ScopeFrame>) {
        match text.as_literal() {
            Some(Value::String(text)) => {
                if let Ok(inside) = parse_expression(text.as_bytes(), ParseOptions::new(self.context.dialect)) {
                    self.push(&inside, frame);
                    self.texts.push(inside);
                }
            }
            Some(_) => {}
            None => {
                self.found.reads_anything = true;
                self.push(text, frame);
            }
        }
    }

    /// Resolves a name or a dotted path. Returns `Unknown` for names selected from a computed value, such as `b` in
    /// `f(a).b`.
    fn resolve_reference(&mut self, expression: &Expression, frame: &Arc<ScopeFrame>) -> NameResolution {
        match DottedPath::of(expression) {
            Ok(path) => self.follow_path(path, frame),
            Err((computed, names)) => {
                self.push(&computed, frame);
                self.resolve_outward(names, frame)
            }
        }
    }

    /// Follows a dotted path through nested ads and aliases. An alias is an attribute whose expression is a dotted
    /// path.
    fn follow_path(&mut self, mut path: DottedPath, frame: &Arc<ScopeFrame>) -> NameResolution {
        // Scope of the path, then the scope of each alias that was followed.
        let mut scopes = vec![Arc::clone(frame)];
        'path: loop {
            let mut resolved = 0;
            let mut found = self.resolve_first(&path, &scopes[scopes.len() - 1]);
            for at in path.first_selected()..path.names.len() {
                let ad = match found {
                    NameResolution::Value(Value::Ad(ad)) => ad.frame,
                    NameResolution::Value(_) => return found,
                    NameResolution::Missing | NameResolution::Unknown => {
                        return self.add_external(path.names, resolved);
                    }
                    NameResolution::Expression(bound, scope) => {
                        match (bound.without_parentheses().kind(), DottedPath::of(&bound)) {
                            (ExpressionKind::Ad(ad), _) => scope.enter(ad.clone()),
                            // Nothing can be selected from a scalar.
                            (kind, _) if kind.is_scalar() => return NameResolution::Value(Value::Undefined),
                            (_, Ok(mut alias)) if self.through_attributes && scopes.len() <= MAX_ALIAS_CHAIN => {
                                alias.names.extend(path.names.drain(at..));
                                path = alias;
                                scopes.push(scope);
                                continue 'path;
                            }
                            _ => {
                                for scope in &scopes {
                                    self.add_scope(scope);
                                }
                                let found = self.resolve_outward(path.names.split_off(at), &scope);
                                self.push_bound(bound, scope);
                                return found;
                            }
                        }
                    }
                };
                resolved = at;
                let selected = self.environment.resolve_selected(&ad, &path.names[at], self.context);
                found = self.record(&path.names[at], selected);
            }
            return match found {
                NameResolution::Missing | NameResolution::Unknown => self.add_external(path.names, resolved),
                found => found,
            };
        }
    }

    /// Resolves the first name of a dotted path.
    fn resolve_first(&mut self, path: &DottedPath, frame: &Arc<ScopeFrame>) -> NameResolution {
        let found = match &path.start {
            PathStart::Ad(ad) => return NameResolution::Expression(ad.clone(), Arc::clone(frame)),
            PathStart::Root => self.environment.resolve_root(frame, &path.names[0], self.context),
            PathStart::Here => self.environment.resolve_own(frame, &path.names[0], self.context),
        };
        match (self.record(&path.names[0], found), &path.start) {
            // In a match `my` denotes the ad itself.
            (NameResolution::Missing | NameResolution::Unknown, PathStart::Here)
                if self.context.dialect == Dialect::Classad && path.names[0].is("my") =>
            {
                NameResolution::Value(Value::Ad(AdValue { frame: Arc::clone(frame) }))
            }
            (found, _) => found,
        }
    }

    /// Records a name as internal if it resolved to an attribute of the expression's own ad. Returns `found` unchanged.
    fn record(&mut self, name: &Name, found: NameResolution) -> NameResolution {
        if let NameResolution::Expression(_, frame) = &found
            && frame.enclosing.is_none()
            && frame.participant == self.home.participant
        {
            self.found.internal.insert(name.clone());
        }
        found
    }

    /// Resolves names that are selected from an ad which the analysis cannot determine. The ad may be nested in the ad
    /// of `frame`, so the names are looked up in the ad of `frame`, too.
    fn resolve_outward(&mut self, names: Vec<Name>, frame: &Arc<ScopeFrame>) -> NameResolution {
        self.add_scope(frame);
        for name in names {
            let found = self.record(&name, self.environment.resolve_own(frame, &name, self.context));
            self.relocatable.add_name(name.clone());
            match found {
                NameResolution::Expression(expression, frame) => self.push_bound(expression, frame),
                NameResolution::Value(_) => {}
                NameResolution::Missing | NameResolution::Unknown => drop(self.add_external(vec![name], 0)),
            }
        }
        NameResolution::Unknown
    }

    fn add_external(&mut self, path: Vec<Name>, resolved: usize) -> NameResolution {
        self.found.reads_anything |= path.len() == 1 && ScopeAd::of(&path[0]) == Some(ScopeAd::Other);
        self.found.external.insert(Reference { path, resolved });
        NameResolution::Missing
    }

    fn push_bound(&mut self, expression: Expression, frame: Arc<ScopeFrame>) {
        if self.through_attributes && self.seen.insert((expression.identity(), frame.ad.identity())) {
            self.pending.push((expression, frame));
        }
    }

    fn push_children(&mut self, expression: &Expression, frame: &Arc<ScopeFrame>) {
        expression.kind().for_each_child(|child| self.push(child, frame));
    }
}

#[cfg(test)]
mod tests {
    use super::references;
    use crate::ad::{Dialect, Name};
    use crate::eval::{Context, Environment};
    use crate::syntax::{ParseOptions, parse_ad, parse_expression};

    /// Formats references as `external | internal`, both sorted. A `*` among the external ones means that any attribute
    /// may be read.
    fn found(text: &str, ad: &str, dialect: Dialect) -> String {
        let rules = ParseOptions::new(dialect);
        let (environment, frame) = Environment::single(parse_ad(ad.as_bytes(), rules).unwrap());
        let expression = parse_expression(text.as_bytes(), rules).unwrap();
        let found = references(&expression, &frame, &environment, &Context::new(dialect));
        let mut names: Vec<String> = found.external.iter().map(ToString::to_string).collect();
        names.extend(found.reads_anything.then(|| "*".to_owned()));
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
                // `k` is selected from the nested ad `m` and found in the ad around `m`.
                ("[ g = d > 1 ? [ m = [ ]; k = v ].m : 0; h = g.k ].h", "d k v | "),
                ("countMatches(e > a, [ a = h; g = { [ i = 1 ] } ].g)", "a e h | a"),
            ] {
                assert_eq!(found(text, ad, dialect), expected, "{text} in {dialect}");
            }
        }
        // HTCondor's functions evaluate elements of lists in the scope of the call.
        let ad = "[ x = [ y = sum(l.e); q = z ]; l = [ e = { q }; q = 5 ] ]";
        assert_eq!(found("x.y", ad, Dialect::Classad), " | l x");
        assert_eq!(found("x.y", ad, Dialect::Condor), "z | l x");
    }
}
