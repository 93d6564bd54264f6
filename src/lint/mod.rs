//! The linter behind `classad check`: finds probable mistakes in ads, optionally against a pool.

mod ad_class;
mod ads;
mod constants;
mod expressions;
mod find_slips;
mod finding;
mod finding_register;
mod logic;
mod names;
mod operand_types;
mod patterns;
mod policy_names;
mod pool;
mod pool_range;
mod pool_statistics;
mod pool_strings;
mod rules;
mod scale_suffix;
mod shared_expressions;
mod slip;
mod slips;
mod standard_attributes;
mod subexpressions;
mod text_check;
mod undefined_names;
mod units;

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet, FxHasher};

use crate::ad::{Ad, Attribute, Expression, Name, Span};
use crate::eval::{Context, Knowledge};
use crate::pool::{AdMemo, AdTextMemo, is_constant};
use crate::protocol::{PORTS, Protocol};

use ad_class::{AdClass, OutcomeHash};
use ads::{AdCheck, ClauseResidue};
use constants::ConstantWatch;
use finding_register::{FindingOrigin, FindingSet};
use shared_expressions::SharedExpressions;
use text_check::TextAdClass;

pub use find_slips::find_slips;
pub use finding::{FindingLabel, LintFinding};
pub use finding_register::{AdFindings, FindingRegister};
pub use policy_names::check_policy_names;
pub use pool_statistics::PoolStatistics;
pub use rules::{LintLevel, LintRule, RULES, RuleScope, find_rule};
pub use slip::{PoolColumns, Slip};
pub use slips::{ChainedComparison, differs_in_case, similar_names, unknown_function};
pub use standard_attributes::{SizeUnit, StandardType, is_usual_value};

/// Maximum number of entries in the caches of findings. More clear the caches.
const MAX_CACHED: usize = 64 * 1024;

/// Checks ads one after the other. A finding is reported once, for the first ad that has it. Later ads with the same
/// finding are only counted.
pub struct Checker {
    ads: AdChecker,
    register: FindingRegister,
}

impl Checker {
    /// Creates a checker. `protocol` names the attributes that are the constraint and the rank of an ad.
    #[must_use]
    pub fn new(protocol: Protocol, context: &Context) -> Self {
        Checker { ads: AdChecker::new(protocol, context), register: FindingRegister::default() }
    }

    /// Also checks the ads against the pool in which they are to match.
    #[must_use]
    pub fn with_pool(self, pool: PoolStatistics) -> Self {
        Checker { ads: self.ads.with_pool(Arc::new(pool)), ..self }
    }

    /// Checks an ad. Returns the findings that no earlier ad had, each with its identifying number. A finding that an
    /// earlier ad had is only counted.
    pub fn check(&mut self, ad: &Ad) -> Vec<(usize, LintFinding)> {
        let found = self.ads.check(ad);
        let new = self.register.register(&found);
        self.register.count_ads(&found, 1);
        new
    }

    /// Returns the number of ads that have a finding. `number` identifies the finding.
    #[must_use]
    pub fn count(&self, number: usize) -> usize {
        self.register.count(number)
    }
}

/// Finds what is wrong with ads. Several threads may check the ads of one run, each with its own checker.
///
/// The findings of each expression, of each ad, and of each class of ads are cached. The memory of the caches is
/// bounded.
pub struct AdChecker {
    protocol: Protocol,
    context: Context,
    /// How completely the checked ads are known.
    knowledge: Knowledge,
    pool: Option<Arc<PoolStatistics>>,
    shared: SharedExpressions,
    /// Results of checking each expression.
    expressions: FxHashMap<ExpressionKey, CheckedExpression>,
    /// What specialization leaves of clauses and ranks. The key is a hash of the expression and of what it reads.
    outcomes: FxHashMap<u64, OutcomeHash>,
    /// The names that clauses mention, by the hash of the clause and of what it reads. `None` if a clause may read any
    /// attribute.
    mentioned: FxHashMap<u64, Option<Arc<[Name]>>>,
    /// Findings about ads as a whole. The key is a hash of everything on which they depend.
    ads: FxHashMap<u64, Arc<FindingSet>>,
    constants: ConstantWatch,
    classes: AdMemo<AdClass>,
    /// The classes of ads that are checked by their texts. `None` before the first of them.
    text_classes: Option<AdTextMemo<TextAdClass>>,
    /// Number of entries that the classes remember.
    class_entries: usize,
}

/// What the findings of an expression depend on: the attribute, the fingerprint of the expression, whether it is the
/// constraint of the ad, and a hash of the words in it that are attributes of the ad, or 0 if there are none.
type ExpressionKey = (Name, u64, bool, u64);

/// The cached results of checking one expression.
#[derive(Clone)]
struct CheckedExpression {
    fingerprint: u64,
    findings: Arc<FindingSet>,
    /// The attributes of the containing ad that the expression reads itself.
    names: Arc<[Name]>,
    /// `names`, and those that nested ads in the expression and texts for `eval()` read.
    reads: Arc<[Name]>,
    /// Whether the expression may read any attribute.
    reads_anything: bool,
    /// Names that were told to be words without quotes. If the ad has one of them as an attribute, it is none.
    words: Arc<[Name]>,
}

/// The cached results of an ad's attributes, in the order of the ad. Attributes that are constants are left out.
type CheckedAttributes = IndexMap<Name, CheckedExpression, FxBuildHasher>;

impl AdChecker {
    /// Creates a checker. `protocol` names the attributes that are the constraint and the rank of an ad.
    #[must_use]
    pub fn new(protocol: Protocol, context: &Context) -> Self {
        // Remove clock and random seed, so that an expression that depends on them does not seem to be constant.
        let context = Context { now: None, random: None, ..context.clone() };
        AdChecker {
            protocol,
            context,
            knowledge: Knowledge::Complete,
            pool: None,
            shared: SharedExpressions::default(),
            expressions: FxHashMap::default(),
            outcomes: FxHashMap::default(),
            mentioned: FxHashMap::default(),
            ads: FxHashMap::default(),
            constants: ConstantWatch::default(),
            classes: AdMemo::default(),
            text_classes: None,
            class_entries: 0,
        }
    }

    /// Also checks the ads against the pool in which they are to match.
    #[must_use]
    pub fn with_pool(self, pool: Arc<PoolStatistics>) -> Self {
        AdChecker { pool: Some(pool), ..self }
    }

    /// Takes the ads for parts of ads: an attribute that an ad lacks is unknown, not undefined. An expression alone can
    /// be checked as the constraint of such an ad.
    #[must_use]
    pub fn of_partial_ads(self) -> Self {
        AdChecker { knowledge: Knowledge::Partial, ..self }
    }

    /// Returns the findings of an ad.
    pub fn check(&mut self, ad: &Ad) -> Arc<AdFindings> {
        self.forget_if_many();
        // The memo is taken out, so that the rest of the checker can be used with a class of it.
        let mut classes = std::mem::take(&mut self.classes);
        let class = classes.class(ad, || {
            let class = AdClass::new(ad, self);
            self.class_entries += class.entries();
            class
        });
        let entries = class.entries();
        let of_ad = self.check_whole(ad, class);
        let constants = constants::check(ad, &*class.watched, &self.context);
        let found = class.all_findings(ad, &of_ad, constants);
        self.class_entries += class.entries() - entries;
        self.classes = classes;
        found
    }

    /// Clears the caches if they have too many entries.
    fn forget_if_many(&mut self) {
        let entries = [self.expressions.len(), self.outcomes.len(), self.mentioned.len(), self.ads.len()];
        if self.class_entries + entries.iter().sum::<usize>() > MAX_CACHED {
            (self.classes, self.text_classes, self.class_entries) = (AdMemo::default(), None, 0);
            self.expressions.clear();
            self.outcomes.clear();
            self.mentioned.clear();
            self.ads.clear();
        }
    }

    /// Returns the findings about an ad as a whole. The results are cached.
    fn check_whole(&mut self, ad: &Ad, class: &AdClass) -> Arc<FindingSet> {
        let by_outcome = class.outcome(ad, self);
        let hash = by_outcome.unwrap_or_else(|| ad_hash(ad, &class.decisive, &class.attributes, &self.protocol));
        if let Some(known) = self.ads.get(&hash) {
            return Arc::clone(known);
        }
        let residues = by_outcome.and_then(|_| class.residues(ad, self));
        let found = self.check_ad(ad, class, residues);
        let found = FindingSet::new(FindingOrigin::Ad(hash), ad, found);
        self.ads.insert(hash, Arc::clone(&found));
        found
    }

    /// Checks each attribute that is not a constant. The results are cached.
    fn check_expressions(&mut self, ad: &Ad) -> CheckedAttributes {
        let mut checked = CheckedAttributes::default();
        let constraint = self.protocol.constraint_name(ad).cloned();
        for attribute in ad.iter().filter(|attribute| !is_constant(attribute.expression)) {
            let seen = self.check_expression(ad, attribute, constraint.as_ref() == Some(attribute.name));
            checked.insert(attribute.name.clone(), seen);
        }
        checked
    }

    /// Checks an expression without using the other attributes of its ad. The results are cached.
    fn check_expression(
        &mut self,
        ad: &Ad,
        Attribute { name, expression }: Attribute<'_>,
        is_constraint: bool,
    ) -> CheckedExpression {
        let key = (name.clone(), self.shared.get(expression, self.context.dialect).fingerprint, is_constraint, 0);
        let seen = match self.expressions.get(&key) {
            Some(seen) => seen.clone(),
            None => self.check_anew(ad, expression, key.clone(), &[]),
        };
        // A word that looks like a value is an attribute if the ad has it: `Owner == alice`.
        let defined: Vec<Name> = seen.words.iter().filter(|word| ad.get(word).is_some()).cloned().collect();
        if defined.is_empty() {
            return seen;
        }
        let key = (key.0, key.1, key.2, FxBuildHasher.hash_one(&defined));
        match self.expressions.get(&key) {
            Some(seen) => seen.clone(),
            None => self.check_anew(ad, expression, key, &defined),
        }
    }

    /// Checks an expression, and caches the results. `defined` names the words in it that are attributes of the ad.
    fn check_anew(
        &mut self,
        ad: &Ad,
        expression: &Expression,
        key: ExpressionKey,
        defined: &[Name],
    ) -> CheckedExpression {
        let (name, fingerprint, is_constraint, _) = &key;
        let pool = self.pool.as_deref().map(|pool| pool as &dyn PoolColumns);
        let mut slips = find_slips(expression, self.context.dialect, pool);
        slips.retain(|slip| slip.word().is_none_or(|word| !defined.contains(word)));
        let words: Vec<Name> = slips.iter().filter_map(Slip::word).cloned().collect();
        let mut found: Vec<LintFinding> = slips.into_iter().map(|slip| LintFinding::of_slip(name, slip)).collect();
        logic::check(name, expression, !is_constraint, &self.context, &mut found);
        remove_consequences(&mut found);
        if self.pool.is_some() {
            // Drop the notes of the rule `case-sensitive`, which concern `=?=` with any string. The rule `wrong-case`
            // knows the pool, and reports only strings whose case is wrong: `"linux"` if the pool has `"LINUX"`.
            found.retain(|finding| finding.rule != &rules::CASE);
        }
        let findings = FindingSet::new(FindingOrigin::Expression(key.clone()), ad, found);
        let known = self.shared.get(expression, self.context.dialect);
        let seen = CheckedExpression {
            fingerprint: *fingerprint,
            findings,
            names: Arc::clone(&known.names),
            reads: Arc::clone(&known.reads),
            reads_anything: known.reads_anything,
            words: words.into(),
        };
        self.expressions.insert(key, seen.clone());
        seen
    }

    /// Returns the names of the constraint, the rank and the ports of an ad, and of all attributes to which `names` leads
    /// from these three.
    fn reachable_attributes<'c>(
        &self,
        ad: &Ad,
        checked: &'c CheckedAttributes,
        names: impl Fn(&'c CheckedExpression) -> &'c [Name],
    ) -> Arc<[Name]> {
        let mut reached: Vec<Name> = Vec::new();
        let mut seen: FxHashSet<Name> = FxHashSet::default();
        let mut pending: Vec<Name> = vec![self.protocol.rank_name().clone(), PORTS.clone()];
        pending.extend(self.protocol.constraint_name(ad).cloned());
        while let Some(name) = pending.pop() {
            if seen.insert(name.clone()) {
                pending.extend(checked.get(&name).into_iter().flat_map(&names).cloned());
                reached.push(name);
            }
        }
        reached.into()
    }

    /// Finds mistakes that concern several attributes of an ad. `residues` are the specialized clauses of the ad's
    /// constraint. `None` if they are unknown.
    fn check_ad(&self, ad: &Ad, class: &AdClass, residues: Option<Vec<ClauseResidue>>) -> Vec<LintFinding> {
        let (checked, mut found) = (&class.attributes, Vec::new());
        for cycle in &class.cycles {
            let path: Vec<&str> = cycle.iter().chain(cycle.first()).map(Name::as_str).collect();
            let message = format!("this refers to itself: {}", path.join(" -> "));
            found.push(LintFinding::new(&rules::CIRCLE, message).at_span(&cycle[0], None, ""));
        }
        let check = AdCheck::new(ad, &self.protocol, &self.context, self.knowledge);
        check.check(!class.cycles.is_empty(), residues, &mut found);
        if ad.get(&PORTS).is_none() {
            pool::check_references(
                ad,
                check.is_kind("Machine"),
                &class.reached,
                &|name| checked.get(name).map_or_else(|| Arc::from([]), |seen| Arc::clone(&seen.words)),
                self.pool.as_deref(),
                &self.context,
                &mut found,
            );
        } else {
            pool::check_port_references(ad, self.pool.as_deref(), &self.context, &mut found);
        }
        found.retain(|finding| !is_told(finding, checked));
        found
    }
}

/// Whether a finding about an ad as a whole only repeats a mistake for which the expression has a finding: a part that
/// is never true because of the mistake, or an attribute that no ad has because it is none.
fn is_told(finding: &LintFinding, checked: &CheckedAttributes) -> bool {
    let [label] = &finding.labels[..] else { return false };
    let Some((span, of_expression)) = label.span.zip(checked.get(&label.attribute)) else { return false };
    let is_cause = |cause: &LintFinding| {
        let span_of_cause = cause.labels.first().and_then(|label| label.span);
        cause.rule.level > LintLevel::Note
            && span_of_cause.is_some_and(|cause| span.start <= cause.start && cause.end <= span.end)
    };
    [&rules::CONTRADICTION, &rules::UNKNOWN].contains(&finding.rule) && of_expression.findings.iter().any(is_cause)
}

/// The names of attributes that may tell the kind of an ad.
const KIND_NAMES: [&str; 2] = ["MyType", "Type"];

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

/// Hashes everything that decides the findings about an ad as a whole.
fn ad_hash(ad: &Ad, decisive: &[Name], checked: &CheckedAttributes, protocol: &Protocol) -> u64 {
    let mut hasher = FxHasher::default();
    (protocol.constraint_name(ad), ad.get(protocol.rank_name()).is_some()).hash(&mut hasher);
    for name in KIND_NAMES {
        ad.get_str(name).map(Expression::fingerprint).hash(&mut hasher);
    }
    for name in decisive {
        let of_literal = || ad.get(name).map(Expression::fingerprint);
        (name, checked.get(name).map(|seen| seen.fingerprint).or_else(of_literal)).hash(&mut hasher);
    }
    // Hash all attributes that are not constants, because any of them may be part of a circular reference. The sum of
    // the hashes does not depend on the order of the attributes.
    let one_hash = |(name, seen): (&Name, &CheckedExpression)| FxBuildHasher.hash_one((name, seen.fingerprint));
    checked.iter().map(one_hash).fold(0, u64::wrapping_add).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod slip_tests;
#[cfg(test)]
mod tests;
