//! The linter behind `classad check`: finds probable mistakes in ads, optionally against a pool.

mod ad_class;
mod ads;
mod checked_expression;
mod checker;
mod constants;
mod expressions;
mod find_slips;
mod finding;
mod finding_register;
mod firing_policies;
mod fix;
mod job_life;
mod job_policies;
mod job_requests;
mod linked_shape;
mod logic;
mod missing_names;
mod names;
mod operand_types;
mod patterns;
mod policy_names;
mod policy_trial;
mod pool;
mod pool_comparisons;
mod pool_range;
mod pool_statistics;
mod pool_strings;
mod precedence;
mod rules;
mod scale_suffix;
mod shared_expressions;
mod short_text;
mod slip;
mod slips;
mod standard_attributes;
mod subexpressions;
mod text_check;
mod undefined_names;
mod units;
mod versions;

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHasher};

use crate::ad::{Ad, AdShape, Bounded, ByIdentity, Expression, Name, Value};
use crate::eval::{Context, Knowledge};
use crate::pool::{AdTextModels, is_constant};
use crate::protocol::{Advertisement, Protocol};

use ad_class::{AdClass, PartOutcome};
use ads::{AdCheck, ClauseResidue};
use checked_expression::CheckedExpression;
use constants::ConstantFindings;
use finding_register::{ExpressionKey, FindingOrigin, FindingSet};
use linked_shape::LinkedShape;
use shared_expressions::SharedExpressions;

pub use checker::Checker;
pub use constants::find_setting_slip;
pub use expressions::unquoted;
pub use find_slips::find_slips;
pub use finding::{FindingLabel, LintFinding};
pub use finding_register::{AdFindings, FindingRegister};
pub use firing_policies::check_system_policy;
pub use fix::LintFix;
pub use names::{find_unquoted_setting, is_mistaken_clock_name};
pub use patterns::with_arguments_exchanged;
pub use policy_names::{PolicyPlace, PolicyPool, check_policy_names};
pub use pool_statistics::PoolStatistics;
pub use rules::{LintLevel, LintRule, RULES, RuleScope, find_rule};
pub use slip::{PoolColumns, Slip};
pub use slips::{
    ChainedComparison, GreedyConditional, differs_in_case, is_comparison, similar_names, unknown_function,
};
pub use standard_attributes::{SizeUnit, StandardType, is_of_one_side, is_usual_value};
pub use text_check::CheckedText;
pub use units::{find_bytes, find_kibibytes, find_undivided};

/// Finds what is wrong with ads. Several threads may check the ads of one run, each with its own checker.
///
/// The findings of each expression and of each class of ads are cached. The memory of the caches is
/// bounded.
pub struct AdChecker {
    protocol: Protocol,
    context: Context,
    /// How completely the checked ads are known.
    knowledge: Knowledge,
    pool: Option<Arc<PoolStatistics>>,
    shared: SharedExpressions,
    known: Bounded<KnownFindings>,
    /// The ads that are checked by their texts. `None` before the first of them.
    models: Option<AdTextModels>,
}

/// What is remembered of the ads that were checked.
#[derive(Default)]
struct KnownFindings {
    /// Results of checking each expression.
    expressions: FxHashMap<ExpressionKey, CheckedExpression>,
    /// What specialization leaves of clauses and ranks. The key is a hash of the expression and of what it reads.
    outcomes: FxHashMap<u64, PartOutcome>,
    /// The names that clauses mention, by the hash of the clause and of what it reads. `None` if a clause may read any
    /// attribute.
    mentioned: FxHashMap<u64, Option<Arc<[Name]>>>,
    /// Findings about policies and requests of jobs. The key is a hash of everything on which they depend.
    policies: FxHashMap<u64, Arc<FindingSet>>,
    /// Findings about ads as a whole. The key is a hash of everything on which they depend.
    ads: FxHashMap<u64, Arc<FindingSet>>,
    /// All findings of ads. The key is a hash of the addresses of the sets of findings, which the findings keep.
    findings: FxHashMap<u64, Arc<AdFindings>>,
    shapes: ByIdentity<Arc<AdShape>, LinkedShape>,
    /// Number of expressions that the shapes remember.
    linked: usize,
    /// The classes of ads, by the hash of the attributes on which findings about such an ad depend.
    classes: FxHashMap<u64, AdClass>,
}

impl KnownFindings {
    /// Number of entries.
    fn count(&self) -> usize {
        let of_expressions = self.expressions.len() + self.outcomes.len() + self.mentioned.len() + self.linked;
        let of_ads = self.policies.len() + self.ads.len() + self.findings.len() + self.classes.len();
        of_expressions + of_ads + self.shapes.len()
    }
}

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
            known: Bounded::default(),
            models: None,
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
        self.with_shape(ad.shape(), |checker, linked| {
            let attributes = ad.expressions().iter().enumerate();
            let expressions = attributes.filter(|(_, expression)| !is_constant(expression));
            let expressions: Vec<usize> = expressions.map(|(position, _)| position).collect();
            linked.link(ad, &expressions, checker);
            let of_ad = checker.check_whole(ad, linked);
            let of_policies = checker.check_policies(ad, linked);
            let of_constants = constants::check(ad, &*linked.watched, &checker.context);
            checker.all_findings(ad, linked, &[Some(of_ad), of_policies], of_constants)
        })
    }

    /// Calls `check` with what is remembered of a shape.
    fn with_shape<T>(&mut self, shape: &Arc<AdShape>, check: impl FnOnce(&mut AdChecker, &mut LinkedShape) -> T) -> T {
        self.known.set_entries(self.known.count());
        // A shape that nothing else refers to will not come again.
        if Arc::strong_count(shape) == 1 {
            return check(self, &mut LinkedShape::new(shape, self));
        }
        // The shapes are taken out, so that the rest of the checker can be used with one of them.
        let mut shapes = std::mem::take(&mut self.known.shapes);
        let linked = shapes.get_or_insert_with(shape, || LinkedShape::new(shape, self));
        let found = check(self, linked);
        self.known.shapes = shapes;
        found
    }

    /// Returns the class of an ad, which is the last of its shape.
    fn class(&mut self, ad: &Ad, linked: &LinkedShape) -> &AdClass {
        let hash = linked.closure.hash;
        if !self.known.classes.contains_key(&hash) {
            let class = AdClass::new(ad, linked, self);
            self.known.classes.insert(hash, class);
        }
        &self.known.classes[&hash]
    }

    /// Returns the findings about an ad as a whole, which is the last of its shape. The results are cached.
    fn check_whole(&mut self, ad: &Ad, linked: &LinkedShape) -> Arc<FindingSet> {
        self.class(ad, linked);
        // The classes are taken out, so that the rest of the checker can be used with one of them.
        let classes = std::mem::take(&mut self.known.classes);
        let class = &classes[&linked.closure.hash];
        let by_outcome = class.outcome(ad, linked, self);
        let hash = by_outcome.unwrap_or_else(|| self.ad_hash(ad, class, linked));
        let found = self.known.ads.get(&hash).cloned().unwrap_or_else(|| {
            let residues = by_outcome.and_then(|_| class.residues(ad, &linked.closure, self));
            let found = self.check_ad(ad, class, linked, residues);
            let found = FindingSet::new(FindingOrigin::Ad(hash), ad, found);
            self.known.ads.insert(hash, Arc::clone(&found));
            found
        });
        self.known.classes = classes;
        found
    }

    /// Returns the findings about the policies and requests of a job, which is the last of its shape. `None` if it has none
    /// of these. The results are cached.
    fn check_policies(&mut self, ad: &Ad, linked: &LinkedShape) -> Option<Arc<FindingSet>> {
        /// A number from which an integer is probably a time: an hour of 2001.
        const LEAST_TIME: i64 = 1_000_000_000;
        let closure = linked.policy_closure.as_ref()?;
        if self.knowledge == Knowledge::Partial {
            return None;
        }
        let is_job = Advertisement::new(ad, &self.context).kind().is_none_or(|kind| kind.eq_ignore_ascii_case("Job"));
        let integer = |position: usize| match ad.expressions()[position].as_literal() {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        };
        // A job's own times are compared with the time at which it was submitted.
        let has_times = closure.constants.iter().any(|position| integer(*position) >= Some(LEAST_TIME));
        let submitted = linked.submitted.filter(|_| has_times).and_then(integer);
        let mut hasher = FxHasher::default();
        (closure.hash, submitted, is_job).hash(&mut hasher);
        for position in &closure.constants {
            ad.expressions()[*position].fingerprint().hash(&mut hasher);
        }
        let hash = hasher.finish();
        let found = self.known.policies.entry(hash).or_insert_with(|| {
            let mut found = Vec::new();
            if is_job {
                found = job_policies::check(ad, submitted, &self.context);
                found.extend(job_requests::check(ad, &self.context));
            }
            FindingSet::new(FindingOrigin::Policies(hash), ad, found)
        });
        Some(Arc::clone(found))
    }

    /// Returns all findings of an ad, which is the last of its shape. `of_ad` are the findings about the ad as a whole.
    fn all_findings(
        &mut self,
        ad: &Ad,
        linked: &LinkedShape,
        of_ad: &[Option<Arc<FindingSet>>; 2],
        of_constants: Option<ConstantFindings>,
    ) -> Arc<AdFindings> {
        let of_ad = || of_ad.iter().flatten();
        let sets = || linked.checked().map(|checked| &checked.findings).chain(of_ad()).filter(|set| !set.is_empty());
        let mut hasher = FxHasher::default();
        sets().for_each(|set| Arc::as_ptr(set).hash(&mut hasher));
        of_constants.as_ref().map(|found| found.hash).hash(&mut hasher);
        let all = self.known.findings.entry(hasher.finish()).or_insert_with(|| {
            let of_constants =
                of_constants.map(|found| FindingSet::new(FindingOrigin::Constants(found.hash), ad, found.findings));
            AdFindings::new(sets().cloned().chain(of_constants))
        });
        Arc::clone(all)
    }

    /// Checks an expression without using the other attributes of its ad. The results are cached.
    fn check_expression(
        &mut self,
        ad: &Ad,
        name: &Name,
        expression: &Expression,
        is_constraint: bool,
    ) -> CheckedExpression {
        self.known.linked += 1;
        let key = (name.clone(), self.shared.get(expression, self.context.dialect).fingerprint, is_constraint, 0);
        let seen = match self.known.expressions.get(&key) {
            Some(seen) => seen.clone(),
            None => self.check_anew(ad, expression, key.clone(), &[]),
        };
        // A word that looks like a value is an attribute if the ad has it: `Owner == alice`.
        let defined: Vec<Name> = seen.words.iter().filter(|word| ad.get(word).is_some()).cloned().collect();
        if defined.is_empty() {
            return seen;
        }
        let key = (key.0, key.1, key.2, FxBuildHasher.hash_one(&defined));
        match self.known.expressions.get(&key) {
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
        let known = self.shared.get(expression, self.context.dialect);
        let pool = (self.pool.as_deref(), self.knowledge);
        let seen = CheckedExpression::new(ad, expression, known, key.clone(), defined, pool, &self.context);
        self.known.expressions.insert(key, seen.clone());
        seen
    }

    /// Finds mistakes that concern several attributes of an ad. `residues` are the specialized clauses of the ad's
    /// constraint. `None` if they are unknown.
    fn check_ad(
        &self,
        ad: &Ad,
        class: &AdClass,
        linked: &LinkedShape,
        residues: Option<Vec<ClauseResidue>>,
    ) -> Vec<LintFinding> {
        let (cycles, mut found) = (&linked.closure.cycles, Vec::new());
        for cycle in cycles {
            let path: Vec<&str> = cycle.iter().chain(cycle.first()).map(Name::as_str).collect();
            let message = format!("this refers to itself: {}", path.join(" -> "));
            found.push(LintFinding::new(&rules::CIRCLE, message).at_span(&cycle[0], None, ""));
        }
        let check = AdCheck::new(ad, &self.protocol, &self.context, self.knowledge);
        check.check(!cycles.is_empty(), residues, &mut found);
        if linked.has_ports() {
            pool::check_port_references(ad, self.pool.as_deref(), &self.context, &mut found);
        } else {
            pool::check_references(
                ad,
                check.is_kind("Machine"),
                &class.reached,
                &|name| linked.get(name).map_or_else(|| Arc::from([]), |seen| Arc::clone(&seen.words)),
                self.pool.as_deref(),
                &self.context,
                &mut found,
            );
        }
        found.retain(|finding| !linked.tells(finding, ad));
        found
    }

    /// Hashes everything that decides the findings about an ad as a whole.
    fn ad_hash(&self, ad: &Ad, class: &AdClass, linked: &LinkedShape) -> u64 {
        let mut hasher = FxHasher::default();
        (&linked.constraint, ad.get(self.protocol.rank_name()).is_some()).hash(&mut hasher);
        for name in KIND_NAMES {
            ad.get_str(name).map(Expression::fingerprint).hash(&mut hasher);
        }
        for name in class.decisive.iter() {
            let of_literal = || ad.get(name).map(Expression::fingerprint);
            (name, linked.get(name).map(|seen| seen.fingerprint).or_else(of_literal)).hash(&mut hasher);
        }
        if !linked.has_constant_kind() {
            Advertisement::new(ad, &self.context).kind().hash(&mut hasher);
        }
        linked.closure.hash.hash(&mut hasher);
        hasher.finish()
    }
}

/// The names of attributes that may tell the kind of an ad.
const KIND_NAMES: [&str; 2] = ["MyType", "Type"];

#[cfg(test)]
mod job_policies_tests;
#[cfg(test)]
mod slip_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod told_ad_tests;
#[cfg(test)]
mod told_tests;
