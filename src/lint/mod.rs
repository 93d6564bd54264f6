//! `check`: what is most likely not meant in ads, found without a pool, or against one.

mod ads;
mod expressions;
mod finding;
mod logic;
mod pool;
mod rules;

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::ad::{Ad, Expression, Kind, Name};
use crate::constraint::Operand;
use crate::eval::Context;
use crate::protocol::Protocol;

pub use finding::{Finding, Label};
pub use pool::Pool;
pub use rules::{Level, RULES, Reach, Rule, find_rule};

use ads::Whole;

/// Looks at ads one after the other.  What many ads have in common is told once and then only counted.
pub struct Checker {
    protocol: Protocol,
    context: Context,
    pool: Option<Pool>,
    /// In how many ads each finding was made.
    counts: Vec<usize>,
    /// The findings of expressions that were looked at.
    expressions: FxHashMap<(Name, u64), Seen>,
    /// The findings of ads that were looked at, by all that decides.
    wholes: FxHashMap<u64, Vec<usize>>,
    /// Findings of ads as a whole, by what they say of which texts.
    alike: FxHashMap<u64, usize>,
}

/// What is known of an expression that was seen before.
#[derive(Clone, Default)]
struct Seen {
    findings: Vec<usize>,
    /// The attributes of its own ad that it may name.
    names: Vec<Name>,
}

impl Checker {
    /// A checker of ads whose constraint and rank the protocol names.
    #[must_use]
    pub fn new(protocol: Protocol, context: &Context) -> Self {
        // What holds only at this moment is not worth telling.
        let context = Context { now: None, chance: None, ..context.clone() };
        let (expressions, wholes, alike) = <_>::default();
        Checker { protocol, context, pool: None, counts: Vec::new(), expressions, wholes, alike }
    }

    /// The same against a pool that the ads are to find their matches in.
    #[must_use]
    pub fn against(self, pool: Pool) -> Self {
        Checker { pool: Some(pool), ..self }
    }

    /// What is new in an ad, each with its number; what was found before is counted.
    pub fn check(&mut self, ad: &Ad) -> Vec<(usize, Finding)> {
        let mut new = Vec::new();
        let mut touched: Vec<usize> = Vec::new();
        let mut named: FxHashMap<Name, Vec<Name>> = FxHashMap::default();
        let mut order = Vec::new();
        let mut prints: FxHashMap<Name, u64> = FxHashMap::default();
        let constraint = self.protocol.constraint(ad).cloned();
        for attribute in ad.iter() {
            if matches!(attribute.expression.kind(), Kind::Literal(_)) {
                continue;
            }
            let print = attribute.expression.fingerprint();
            prints.insert(attribute.name.clone(), print);
            let is_constraint = constraint.as_ref() == Some(attribute.name);
            let seen = self.expression(ad, (attribute.name, attribute.expression), print, is_constraint, &mut new);
            touched.extend(&seen.findings);
            order.push(attribute.name.clone());
            named.insert(attribute.name.clone(), seen.names);
        }
        let reached = self.reached(ad, &named);
        let key = key(ad, &reached, &prints, constraint.as_ref(), self.protocol.rank());
        if let Some(findings) = self.wholes.get(&key) {
            touched.extend(findings);
        } else {
            let findings = self.whole(ad, &named, &order, &reached);
            let numbers: Vec<usize> = findings.into_iter().map(|finding| self.number(ad, finding, &mut new)).collect();
            touched.extend(&numbers);
            self.wholes.insert(key, numbers);
        }
        touched.sort_unstable();
        touched.dedup();
        for number in touched {
            self.counts[number] += 1;
        }
        new
    }

    /// In how many ads the finding of a number was made.
    #[must_use]
    pub fn count(&self, number: usize) -> usize {
        self.counts.get(number).copied().unwrap_or(0)
    }

    /// Counts a finding that the reader of the text made.
    pub fn count_one(&mut self) -> usize {
        self.counts.push(1);
        self.counts.len() - 1
    }

    /// The number of a finding; one that says the same of the same text as an earlier one has its number.
    fn number(&mut self, ad: &Ad, finding: Finding, new: &mut Vec<(usize, Finding)>) -> usize {
        let said = said(ad, &finding);
        if let Some(known) = self.alike.get(&said) {
            return *known;
        }
        self.counts.push(0);
        let number = self.counts.len() - 1;
        self.alike.insert(said, number);
        new.push((number, finding));
        number
    }

    /// Looks at an expression by itself, unless it was looked at before.
    fn expression(
        &mut self,
        ad: &Ad,
        (name, expression): (&Name, &Expression),
        print: u64,
        is_constraint: bool,
        new: &mut Vec<(usize, Finding)>,
    ) -> Seen {
        let key = (name.clone(), print);
        if let Some(seen) = self.expressions.get(&key) {
            return seen.clone();
        }
        let mut found = Vec::new();
        expressions::check(name, expression, self.context.dialect, &mut found);
        logic::check(name, expression, !is_constraint, &self.context, &mut found);
        leave_consequences_out(&mut found);
        if self.pool.is_some() {
            // The pool says whether the case is right.
            found.retain(|finding| finding.rule != &rules::CASE);
        }
        let findings = found.into_iter().map(|finding| self.number(ad, finding, new)).collect();
        let seen = Seen { findings, names: own_names(expression) };
        self.expressions.insert(key, seen.clone());
        seen
    }

    /// The attributes that the constraint and the rank of an ad reach, in its own order of use.
    fn reached(&self, ad: &Ad, named: &FxHashMap<Name, Vec<Name>>) -> Vec<Name> {
        let mut reached: Vec<Name> = Vec::new();
        let mut seen: FxHashSet<Name> = FxHashSet::default();
        let mut pending: Vec<Name> = vec![self.protocol.rank().clone(), Name::new("Ports")];
        pending.extend(self.protocol.constraint(ad).cloned());
        while let Some(name) = pending.pop() {
            if seen.insert(name.clone()) {
                pending.extend(named.get(&name).into_iter().flatten().cloned());
                reached.push(name);
            }
        }
        reached
    }

    fn whole(&self, ad: &Ad, named: &FxHashMap<Name, Vec<Name>>, order: &[Name], reached: &[Name]) -> Vec<Finding> {
        let mut found = Vec::new();
        let circles = ads::circles(named, order);
        for circle in &circles {
            let mut path: Vec<&str> = circle.iter().map(Name::as_str).collect();
            path.extend(circle.first().map(Name::as_str));
            let finding = Finding::new(&rules::CIRCLE, format!("this refers to itself: {}", path.join(" -> ")));
            found.extend(circle.first().map(|first| finding.at_name(first, "")));
        }
        Whole::new(ad, &self.protocol, &self.context).check(!circles.is_empty(), &mut found);
        if ad.get_str("Ports").is_none() {
            pool::references(ad, reached, self.pool.as_ref(), self.context.dialect, &mut found);
        }
        found
    }
}

/// The attributes of its own ad that an expression may name: unqualified or as its own.
fn own_names(expression: &Expression) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        match Operand::of(expression) {
            Some(Operand::Own(name) | Operand::Free(name)) if !matches!(expression.kind(), Kind::Parentheses(_)) => {
                if !names.contains(name) {
                    names.push(name.clone());
                }
                continue;
            }
            _ => {}
        }
        match expression.kind() {
            Kind::Ad(_) => {}
            kind => for_each_local(kind, |child| pending.push(child)),
        }
    }
    names
}

/// The expressions directly below, as far as their names are looked up where they stand: some functions evaluate
/// their first argument in each ad of a list.
fn for_each_local<'e>(kind: &'e Kind, mut visit: impl FnMut(&'e Expression)) {
    match kind {
        Kind::Call(name, arguments) if name.is("evalInEachContext") || name.is("countMatches") => {
            arguments.iter().skip(1).for_each(visit);
        }
        kind => kind.for_each_child(&mut visit),
    }
}

/// Leaves out that a part is never true where another finding says why.
fn leave_consequences_out(found: &mut Vec<Finding>) {
    let is_consequence = |finding: &Finding| {
        let is_alone = finding.labels.len() == 1 && finding.rule == &rules::CONTRADICTION;
        is_alone || [&rules::CONSTANT, &rules::DEAD].contains(&finding.rule)
    };
    let span = |finding: &Finding| finding.labels.first().and_then(|label| label.span);
    let causes = found.iter().filter(|finding| !is_consequence(finding) && finding.rule.level > Level::Note);
    let causes: Vec<_> = causes.filter_map(span).collect();
    found.retain(|finding| {
        let within =
            |whole: crate::ad::Span| causes.iter().any(|cause| whole.start <= cause.start && cause.end <= whole.end);
        !is_consequence(finding) || !span(finding).is_some_and(within)
    });
}

/// What a finding says of which texts; where these stand does not count.
fn said(ad: &Ad, finding: &Finding) -> u64 {
    let mut hasher = FxHasher::default();
    (finding.rule.name, &finding.message).hash(&mut hasher);
    // What is only worth knowing is told once of a name.
    if [&rules::CASE, &rules::FALLS].contains(&finding.rule) {
        return hasher.finish();
    }
    for label in &finding.labels {
        label.attribute.hash(&mut hasher);
        if let (Some(span), Some(expression)) = (label.span, ad.get(&label.attribute)) {
            let start = expression.span().start;
            (span.start.wrapping_sub(start), expression.fingerprint()).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// All that decides what is found in an ad as a whole.
fn key(ad: &Ad, reached: &[Name], prints: &FxHashMap<Name, u64>, constraint: Option<&Name>, rank: &Name) -> u64 {
    let mut hasher = FxHasher::default();
    (constraint, ad.get(rank).is_some()).hash(&mut hasher);
    for name in ["MyType", "Type"] {
        ad.get_str(name).map(Expression::fingerprint).hash(&mut hasher);
    }
    for name in reached {
        name.hash(&mut hasher);
        let print = || ad.get(name).map(Expression::fingerprint);
        prints.get(name).copied().or_else(print).hash(&mut hasher);
    }
    // Circles may be anywhere.
    let mut all = 0_u64;
    for (name, print) in prints {
        let mut one = FxHasher::default();
        (name, print).hash(&mut one);
        all = all.wrapping_add(one.finish());
    }
    all.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
