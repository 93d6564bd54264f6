//! The expressions of ads of one shape, each with the attributes that it reads in such an ad.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHasher};

use crate::ad::{Ad, AdShape, ByIdentity, Expression, Name, ScopeAd, Span};
use crate::configuration::policy_attributes;
use crate::protocol::PORTS;

use super::checked_expression::CheckedExpression;
use super::constants::{WatchedConstant, watched_constants};
use super::finding::LintFinding;
use super::job_life::JobPhase;
use super::job_requests::REQUESTS;
use super::rules::{self, LintLevel};
use super::{AdChecker, KIND_NAMES};

/// What ads of one shape have in common, and the expressions of the last of them.
pub(super) struct LinkedShape {
    shape: Arc<AdShape>,
    /// The name of the constraint.
    pub constraint: Option<Name>,
    /// The positions of the rank, of the ports and of the constraint.
    roots: [Option<usize>; 3],
    /// The positions of attributes with names such as `my` and `other`, which shadow the names of ads.
    shadows: Box<[usize]>,
    /// The positions of the attributes that may tell the kind of an ad.
    pub kinds: Box<[usize]>,
    /// The position of the attribute that tells whose the ad is.
    pub owner: Option<usize>,
    /// The constants whose values are checked.
    pub watched: Arc<[WatchedConstant]>,
    /// Expressions that were checked, by the positions of their attributes.
    known: FxHashMap<usize, ByIdentity<Expression, Arc<LinkedExpression>>>,
    /// The attributes of the last ad that are not constants, each with its position, in the order of the ad.
    attributes: Vec<(usize, Arc<LinkedExpression>)>,
    /// What the findings about the last ad as a whole depend on.
    pub closure: Closure,
    /// The positions of the policies of a job.
    policies: Box<[usize]>,
    /// The positions of the requests of a job.
    requests: Box<[usize]>,
    /// The position of the time at which a job was submitted.
    pub submitted: Option<usize>,
    /// What the findings about the policies and requests of the last ad depend on. `None` if they may read anything, and in an
    /// ad without any.
    pub policy_closure: Option<Closure>,
}

/// An expression in ads of one shape.
struct LinkedExpression {
    expression: Expression,
    checked: CheckedExpression,
    /// The attributes of the ad among [`CheckedExpression::names`], each with its position.
    names: Box<[(Name, usize)]>,
    /// The positions of the attributes of the ad among [`CheckedExpression::reads`].
    reads: Box<[usize]>,
    /// Hash of the name and the expression of the attribute. It also has a bit for each name that the expression reads:
    /// whether the ad has this attribute.
    hash: u64,
}

/// The attributes on which the findings about an ad as a whole depend: its constraint, its rank, its ports, and what
/// these read, directly or through other attributes.
#[derive(Default)]
pub(super) struct Closure {
    /// Hash of all that matters except for the values of `constants`.
    pub hash: u64,
    /// The positions of the attributes that are constants. Ads with the same hash have them in the same order.
    pub constants: Vec<usize>,
    /// The circular references among the attributes of the ad, each as the names in it.
    pub cycles: Vec<Vec<Name>>,
}

impl LinkedShape {
    pub(super) fn new(shape: &Arc<AdShape>, checker: &AdChecker) -> Self {
        let protocol = &checker.protocol;
        let position = |name: &Name| shape.position(name);
        let has_policies = checker.context.dialect.is_condor();
        let positions = |names: &mut dyn Iterator<Item = &str>| -> Box<[usize]> {
            names.filter(|_| has_policies).filter_map(|name| position(&Name::new(name))).collect()
        };
        let constraint = protocol.constraint_names().iter().find(|name| position(name).is_some());
        let mut linked = LinkedShape {
            shape: Arc::clone(shape),
            constraint: constraint.cloned(),
            roots: [position(protocol.rank_name()), position(&PORTS), constraint.and_then(position)],
            shadows: (0..shape.names().len()).filter(|at| ScopeAd::of(&shape.names()[*at]).is_some()).collect(),
            kinds: KIND_NAMES.iter().filter_map(|name| position(&Name::new(name))).collect(),
            owner: position(&Name::new("Owner")),
            watched: watched_constants(shape, checker.context.dialect),
            known: FxHashMap::default(),
            attributes: Vec::new(),
            closure: Closure::default(),
            policies: positions(&mut policy_attributes().map(|(name, ..)| name)),
            requests: positions(&mut REQUESTS.into_iter()),
            submitted: position(&Name::new("QDate")),
            policy_closure: None,
        };
        linked.closure = linked.find_closure();
        linked.policy_closure = linked.find_policy_closure();
        linked
    }

    /// Takes over the expressions of an ad of this shape. `expressions` are the positions of those that are not
    /// constants, ascending.
    pub(super) fn link(&mut self, ad: &Ad, expressions: &[usize], checker: &mut AdChecker) {
        let of_ad = ad.expressions();
        let is_known = |((known, linked), position): (&(usize, Arc<LinkedExpression>), &usize)| {
            known == position && linked.expression.ptr_eq(&of_ad[*position])
        };
        let is_same =
            self.attributes.len() == expressions.len() && self.attributes.iter().zip(expressions).all(is_known);
        if is_same {
            return;
        }
        self.attributes.clear();
        for position in expressions {
            let linked = self.known.entry(*position).or_default().get_or_insert_with(&of_ad[*position], || {
                let is_constraint = self.roots[2] == Some(*position);
                Arc::new(LinkedExpression::new(ad, *position, is_constraint, checker))
            });
            self.attributes.push((*position, Arc::clone(linked)));
        }
        self.closure = self.find_closure();
        self.policy_closure = self.find_policy_closure();
    }

    /// Returns the cached results of checking each attribute of the last ad that is not a constant, in the order of the
    /// ad.
    pub(super) fn checked(&self) -> impl Iterator<Item = &CheckedExpression> {
        self.attributes.iter().map(|(_, linked)| &linked.checked)
    }

    /// Returns the cached results of checking an attribute of the last ad. `None` if it is a constant, or if the ad does
    /// not have it.
    pub(super) fn get(&self, name: &Name) -> Option<&CheckedExpression> {
        self.at(self.shape.position(name)?).map(|linked| &linked.checked)
    }

    /// Whether a finding about the last ad as a whole only repeats a mistake for which the expression has a finding: a part
    /// that is never true because of the mistake, or an attribute that no ad has because it is none.
    pub(super) fn tells(&self, finding: &LintFinding, ad: &Ad) -> bool {
        let [label] = &finding.labels[..] else { return false };
        let Some((span, of_expression)) = label.span.zip(self.get(&label.attribute)) else { return false };
        let Some(expression) = ad.get(&label.attribute) else { return false };
        // The findings of the expression may be those of an equal one elsewhere.
        let within = |span: Span, whole: Span| {
            let distance = |at: u32| i64::from(at) - i64::from(whole.start);
            [distance(span.start), distance(span.end)]
        };
        let [start, end] = within(span, expression.span());
        let is_cause = |cause: &LintFinding| {
            let span_of_cause = cause.labels.first().and_then(|label| label.span);
            cause.rule.level > LintLevel::Note
                && span_of_cause
                    .map(|cause| within(cause, of_expression.span))
                    .is_some_and(|[first, last]| start <= first && last <= end)
        };
        [&rules::CONTRADICTION, &rules::UNKNOWN].contains(&finding.rule) && of_expression.findings.iter().any(is_cause)
    }

    /// Whether ads of this shape have ports.
    pub(super) fn has_ports(&self) -> bool {
        self.roots[1].is_some()
    }

    /// Whether the attributes that tell the kind of the last ad are constants.
    pub(super) fn has_constant_kind(&self) -> bool {
        self.kinds.iter().all(|position| self.at(*position).is_none())
    }

    /// Whether ads of this shape have an attribute that shadows the name of an ad. Any reference may read it.
    pub(super) fn shadows_ads(&self) -> bool {
        !self.shadows.is_empty()
    }

    /// Returns the position of the rank of the last ad if it is a constant.
    pub(super) fn constant_rank(&self) -> Option<usize> {
        self.roots[0].filter(|position| self.at(*position).is_none())
    }

    fn at(&self, position: usize) -> Option<&LinkedExpression> {
        Some(&self.attributes[self.index_of(position)?].1)
    }

    /// Returns the index in `attributes` of the attribute at a position. `None` if it is a constant.
    fn index_of(&self, position: usize) -> Option<usize> {
        self.attributes.binary_search_by_key(&position, |(position, _)| *position).ok()
    }

    /// Finds what the policies and requests of the last ad depend on. The values of attributes that HTCondor changes while a job
    /// lives do not count for a policy.
    fn find_policy_closure(&self) -> Option<Closure> {
        let is_expression = |request: &usize| self.at(*request).is_some();
        let requests: Vec<usize> = self.requests.iter().copied().filter(is_expression).collect();
        if self.policies.is_empty() && requests.is_empty() || !self.shadows.is_empty() {
            return None;
        }
        let names = self.shape.names();
        let mut hasher = FxHasher::default();
        names.hash(&mut hasher);
        let mut constants = Vec::new();
        let beside = |name: &str| self.shape.position(&Name::new(name));
        for (roots, other, is_of_policies) in
            [(&*self.policies, beside("JobSuccessExitCode"), true), (&*requests, beside("JobUniverse"), false)]
        {
            let mut pending: Vec<usize> = roots.iter().copied().chain(other).collect();
            let mut seen = vec![false; names.len()];
            while let Some(position) = pending.pop() {
                if std::mem::replace(&mut seen[position], true) {
                    continue;
                }
                if let Some(linked) = self.at(position) {
                    if linked.checked.reads_anything {
                        return None;
                    }
                    linked.hash.hash(&mut hasher);
                    pending.extend_from_slice(&linked.reads);
                } else if !(is_of_policies && JobPhase::of(&names[position]).is_some() || constants.contains(&position))
                {
                    constants.push(position);
                }
            }
        }
        Some(Closure { hash: hasher.finish(), constants, cycles: Vec::new() })
    }

    fn find_closure(&self) -> Closure {
        let names = self.shape.names();
        let mut hasher = FxHasher::default();
        (&self.constraint, self.roots.map(|root| root.is_some())).hash(&mut hasher);
        let (mut constants, mut reads_anything) = (Vec::new(), false);
        let mut seen = vec![false; names.len()];
        let has_constant_kind = self.has_constant_kind();
        has_constant_kind.hash(&mut hasher);
        let mut pending: Vec<usize> = self.roots.iter().flatten().chain(&self.shadows).copied().collect();
        pending.extend(self.kinds.iter().filter(|_| !has_constant_kind));
        while let Some(position) = pending.pop() {
            if std::mem::replace(&mut seen[position], true) {
                continue;
            }
            if let Some(linked) = self.at(position) {
                linked.hash.hash(&mut hasher);
                reads_anything |= linked.checked.reads_anything;
                pending.extend_from_slice(&linked.reads);
            } else {
                names[position].hash(&mut hasher);
                constants.push(position);
            }
        }
        let cycles = self.reference_cycles();
        // With ports, shadowed ads or circular references, the findings depend on all attributes.
        if reads_anything || self.has_ports() || self.shadows_ads() || !cycles.is_empty() {
            names.hash(&mut hasher);
            self.attributes.iter().for_each(|(_, linked)| linked.hash.hash(&mut hasher));
        }
        Closure { hash: hasher.finish(), constants, cycles }
    }

    /// Finds the circular references among the attributes by depth-first search. Returns each cycle once, as the names
    /// in it.
    fn reference_cycles(&self) -> Vec<Vec<Name>> {
        let names = self.shape.names();
        let mut found = Vec::new();
        // Whether all references from each of `attributes` were followed.
        let mut done = vec![false; self.attributes.len()];
        // The names on the path to an attribute, with their indexes in `attributes`, and with the number of references
        // followed.
        let mut path: Vec<(&Name, usize, usize)> = Vec::new();
        // The place of each of `attributes` on the path.
        let mut places: Vec<Option<usize>> = vec![None; self.attributes.len()];
        for (start, (position, _)) in self.attributes.iter().enumerate() {
            if done[start] {
                continue;
            }
            places[start] = Some(path.len());
            path.push((&names[*position], start, 0));
            while let Some((_, index, next)) = path.last_mut() {
                let Some((name, target)) = self.attributes[*index].1.names.get(*next) else {
                    done[*index] = true;
                    places[*index] = None;
                    path.pop();
                    continue;
                };
                *next += 1;
                let Some(target) = self.index_of(*target) else { continue };
                if let Some(at) = places[target] {
                    found.push(path[at..].iter().map(|(name, ..)| (*name).clone()).collect());
                } else if !done[target] {
                    places[target] = Some(path.len());
                    path.push((name, target, 0));
                }
            }
        }
        found
    }
}

impl LinkedExpression {
    fn new(ad: &Ad, position: usize, is_constraint: bool, checker: &mut AdChecker) -> Self {
        let shape = ad.shape();
        let (name, expression) = (&shape.names()[position], &ad.expressions()[position]);
        let seen = checker.check_expression(ad, name, expression, is_constraint);
        let mut hasher = FxHasher::default();
        (name, seen.fingerprint).hash(&mut hasher);
        let positions = seen.reads.iter().map(|name| shape.position(name));
        let reads = positions.inspect(|position| position.is_some().hash(&mut hasher)).flatten().collect();
        let names = seen.names.iter().filter_map(|name| Some((name.clone(), shape.position(name)?))).collect();
        LinkedExpression { expression: expression.clone(), checked: seen, names, reads, hash: hasher.finish() }
    }
}
