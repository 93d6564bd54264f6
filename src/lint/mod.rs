//! The linter behind `classad check`: finds probable mistakes in ads, optionally against a pool.

mod ads;
mod expressions;
mod finding;
mod logic;
mod pool;
mod rules;
mod slips;

use std::hash::{BuildHasher, Hash, Hasher};

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet, FxHasher};

use crate::ad::{Ad, Attribute, Expression, ExpressionKind, Name, Span};
use crate::constraint::ClauseOperand;
use crate::eval::{Context, FunctionKind};
use crate::protocol::{PORTS, Protocol};

pub use finding::{FindingLabel, LintFinding};
pub use pool::PoolStatistics;
pub use rules::{LintLevel, LintRule, RULES, RuleScope, find_rule};
pub use slips::{ChainedComparison, differs_in_case, similar_names, unknown_function};

/// Checks ads one after the other. A finding is reported once, for the first ad that has it. Later ads with the same
/// finding are only counted. The findings of each expression and of each ad are cached.
pub struct Checker {
    protocol: Protocol,
    context: Context,
    pool: Option<PoolStatistics>,
    /// Number of ads that have each finding. The index is the identifying number of the finding.
    counts: Vec<usize>,
    /// Results of checking each expression, cached by attribute and fingerprint.
    expressions: FxHashMap<(Name, u64), CheckedExpression>,
    /// Identifying numbers of the findings about an ad as a whole. The key is the result of [`ad_hash`]: ads with the
    /// same key have the same findings.
    ads: FxHashMap<u64, Vec<usize>>,
    /// Identifying number of each reported finding, by a hash of the finding's content.
    numbers_by_content: FxHashMap<u64, usize>,
}

/// The cached results of checking one expression.
#[derive(Clone)]
struct CheckedExpression {
    fingerprint: u64,
    findings: Vec<usize>,
    /// The attributes of the containing ad that the expression may read.
    names: Vec<Name>,
}

/// The cached results of an ad's attributes, in the order of the ad. Attributes that are literals are left out.
type CheckedAttributes = IndexMap<Name, CheckedExpression, FxBuildHasher>;

impl Checker {
    /// Creates a checker. `protocol` names the attributes that are the constraint and the rank of an ad.
    #[must_use]
    pub fn new(protocol: Protocol, context: &Context) -> Self {
        // Remove clock and random seed, so that an expression that depends on them does not seem to be constant.
        let context = Context { now: None, random: None, ..context.clone() };
        let (counts, expressions, ads, numbers_by_content) = <_>::default();
        Checker { protocol, context, pool: None, counts, expressions, ads, numbers_by_content }
    }

    /// Also checks the ads against the pool in which they are to match.
    #[must_use]
    pub fn with_pool(self, pool: PoolStatistics) -> Self {
        Checker { pool: Some(pool), ..self }
    }

    /// Checks an ad. Returns the findings that no earlier ad had, each with its identifying number. A finding that an
    /// earlier ad had is only counted.
    pub fn check(&mut self, ad: &Ad) -> Vec<(usize, LintFinding)> {
        let mut new = Vec::new();
        let mut checked = CheckedAttributes::default();
        let constraint = self.protocol.constraint_name(ad).cloned();
        for attribute in
            ad.iter().filter(|attribute| !matches!(attribute.expression.kind(), ExpressionKind::Literal(_)))
        {
            let is_constraint = constraint.as_ref() == Some(attribute.name);
            let seen = self.check_expression(ad, attribute, is_constraint, &mut new);
            checked.insert(attribute.name.clone(), seen);
        }
        let mut numbers: Vec<usize> = checked.values().flat_map(|seen| &seen.findings).copied().collect();
        let reached = self.reachable_attributes(ad, &checked);
        let key = ad_hash(ad, &reached, &checked, constraint.as_ref(), self.protocol.rank_name());
        if let Some(known) = self.ads.get(&key) {
            numbers.extend(known);
        } else {
            let findings = self.check_ad(ad, &checked, &reached).into_iter();
            let of_ad: Vec<usize> = findings.map(|finding| self.register(ad, finding, &mut new)).collect();
            numbers.extend(&of_ad);
            self.ads.insert(key, of_ad);
        }
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers {
            self.counts[number] += 1;
        }
        new
    }

    /// Returns the number of ads that have a finding. `number` identifies the finding.
    #[must_use]
    pub fn count(&self, number: usize) -> usize {
        self.counts.get(number).copied().unwrap_or(0)
    }

    /// Registers a new finding of the parser, with a count of one ad. Returns the identifying number of the finding.
    pub fn register_external(&mut self) -> usize {
        self.counts.push(1);
        self.counts.len() - 1
    }

    /// Returns the identifying number of a finding. Adds the finding to `new` if no earlier finding has the same
    /// content.
    fn register(&mut self, ad: &Ad, finding: LintFinding, new: &mut Vec<(usize, LintFinding)>) -> usize {
        *self.numbers_by_content.entry(content_hash(ad, &finding)).or_insert_with(|| {
            self.counts.push(0);
            new.push((self.counts.len() - 1, finding));
            self.counts.len() - 1
        })
    }

    /// Checks an expression without using the other attributes of its ad. The results are cached.
    fn check_expression(
        &mut self,
        ad: &Ad,
        Attribute { name, expression }: Attribute<'_>,
        is_constraint: bool,
        new: &mut Vec<(usize, LintFinding)>,
    ) -> CheckedExpression {
        let fingerprint = expression.fingerprint();
        let key = (name.clone(), fingerprint);
        if let Some(seen) = self.expressions.get(&key) {
            return seen.clone();
        }
        let mut found = Vec::new();
        expressions::check(name, expression, self.context.dialect, &mut found);
        logic::check(name, expression, !is_constraint, &self.context, &mut found);
        remove_consequences(&mut found);
        if self.pool.is_some() {
            // Drop the notes of the rule `case-sensitive`, which concern `=?=` with any string. The rule `wrong-case`
            // knows the pool, and reports only strings whose case is wrong: `"linux"` if the pool has `"LINUX"`.
            found.retain(|finding| finding.rule != &rules::CASE);
        }
        let findings = found.into_iter().map(|finding| self.register(ad, finding, new)).collect();
        let seen = CheckedExpression { fingerprint, findings, names: own_names(expression) };
        self.expressions.insert(key, seen.clone());
        seen
    }

    /// Returns the names of the constraint, the rank and the ports of an ad, and of all attributes that these three
    /// depend on.
    fn reachable_attributes(&self, ad: &Ad, checked: &CheckedAttributes) -> Vec<Name> {
        let mut reached: Vec<Name> = Vec::new();
        let mut seen: FxHashSet<Name> = FxHashSet::default();
        let mut pending: Vec<Name> = vec![self.protocol.rank_name().clone(), PORTS.clone()];
        pending.extend(self.protocol.constraint_name(ad).cloned());
        while let Some(name) = pending.pop() {
            if seen.insert(name.clone()) {
                pending.extend(checked.get(&name).into_iter().flat_map(|seen| &seen.names).cloned());
                reached.push(name);
            }
        }
        reached
    }

    fn check_ad(&self, ad: &Ad, checked: &CheckedAttributes, reached: &[Name]) -> Vec<LintFinding> {
        let mut found = Vec::new();
        let cycles = ads::reference_cycles(checked);
        for cycle in &cycles {
            let path: Vec<&str> = cycle.iter().chain(cycle.first()).map(|name| name.as_str()).collect();
            let message = format!("this refers to itself: {}", path.join(" -> "));
            found.push(LintFinding::new(&rules::CIRCLE, message).at_span(cycle[0], None, ""));
        }
        ads::check(ad, &self.protocol, &self.context, !cycles.is_empty(), &mut found);
        if ad.get(&PORTS).is_none() {
            pool::check_references(ad, reached, self.pool.as_ref(), self.context.dialect, &mut found);
        }
        found
    }
}

/// Returns an expression and all that it contains.
fn subexpressions(expression: &Expression) -> impl Iterator<Item = &Expression> {
    let mut pending = vec![expression];
    std::iter::from_fn(move || {
        let next = pending.pop()?;
        next.kind().for_each_child(|child| pending.push(child));
        Some(next)
    })
}

/// Returns the names of the attributes that an expression may read from its own ad. These are unqualified names, and
/// names qualified as the ad's own, such as `MY.Memory`.
fn own_names(expression: &Expression) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        match (expression.kind(), ClauseOperand::of(expression)) {
            (ExpressionKind::Ad(_), _) => {}
            (ExpressionKind::Parentheses(inner), _) => pending.push(inner),
            (_, Some(ClauseOperand::Own(name) | ClauseOperand::Unqualified(name))) => {
                if !names.contains(name) {
                    names.push(name.clone());
                }
            }
            (kind, _) => for_each_in_scope(kind, |child| pending.push(child)),
        }
    }
    names
}

/// Visits the direct subexpressions whose names are resolved in the scope of the expression. Skips the first argument
/// of functions such as `countMatches`, which evaluate this argument in each ad of a list.
fn for_each_in_scope<'e>(kind: &'e ExpressionKind, mut visit: impl FnMut(&'e Expression)) {
    match kind {
        ExpressionKind::Call(name, arguments) if FunctionKind::of(name) == Some(FunctionKind::EvaluatesElsewhere) => {
            arguments.iter().skip(1).for_each(visit);
        }
        kind => kind.for_each_child(&mut visit),
    }
}

/// Removes findings that are only consequences: a part is constant or never true because of a mistake within this part,
/// which has a finding of its own.
fn remove_consequences(found: &mut Vec<LintFinding>) {
    let is_consequence = |finding: &LintFinding| {
        let is_alone = finding.labels.len() == 1 && finding.rule == &rules::CONTRADICTION;
        is_alone || [&rules::CONSTANT, &rules::DEAD].contains(&finding.rule)
    };
    let span = |finding: &LintFinding| finding.labels.first().and_then(|label| label.span);
    let causes = found.iter().filter(|finding| !is_consequence(finding) && finding.rule.level > LintLevel::Note);
    let causes: Vec<Span> = causes.filter_map(span).collect();
    let has_cause = |whole: Span| causes.iter().any(|cause| whole.start <= cause.start && cause.end <= whole.end);
    found.retain(|finding| !is_consequence(finding) || !span(finding).is_some_and(has_cause));
}

/// Hashes the content of a finding: its rule, its message and the expressions it marks. The position in the ad is left
/// out, so that the same finding in other ads has the same hash.
fn content_hash(ad: &Ad, finding: &LintFinding) -> u64 {
    let mut hasher = FxHasher::default();
    (finding.rule.name, &finding.message).hash(&mut hasher);
    // Two notes of one of these rules count as the same finding if their messages are equal, whatever they mark.
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

/// Hashes everything that decides the findings about an ad as a whole.
fn ad_hash(ad: &Ad, reached: &[Name], checked: &CheckedAttributes, constraint: Option<&Name>, rank: &Name) -> u64 {
    let mut hasher = FxHasher::default();
    (constraint, ad.get(rank).is_some()).hash(&mut hasher);
    for name in ["MyType", "Type"] {
        ad.get_str(name).map(Expression::fingerprint).hash(&mut hasher);
    }
    for name in reached {
        let of_literal = || ad.get(name).map(Expression::fingerprint);
        (name, checked.get(name).map(|seen| seen.fingerprint).or_else(of_literal)).hash(&mut hasher);
    }
    // Hash all attributes that are not literals, because any of them may be part of a circular reference. The sum of
    // the hashes does not depend on the order of the attributes.
    let one_hash = |(name, seen): (&Name, &CheckedExpression)| FxBuildHasher.hash_one((name, seen.fingerprint));
    checked.iter().map(one_hash).fold(0, u64::wrapping_add).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
