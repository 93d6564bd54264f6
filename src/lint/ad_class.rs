//! What the findings about the ads of one class depend on. Ads of one class have the same names and expressions, but
//! other constants.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet, FxHasher};

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, Name, Value};
use crate::constraint::{ClauseForm, ClauseOperand};
use crate::eval::{FreeNames, NameSet};
use crate::pool::is_constant;
use crate::protocol::PORTS;

use super::ads::{AdCheck, ClauseResidue, constraint_clauses, reference_cycles};
use super::constants::{ConstantFindings, WatchedConstant};
use super::finding_register::{AdFindings, FindingOrigin, FindingSet};
use super::shared_expressions::SharedExpression;
use super::{AdChecker, CheckedAttributes, KIND_NAMES};

/// Integers up to this magnitude are exact as reals: 2^53.
const MAX_EXACT_INTEGER: u64 = 9_007_199_254_740_992;
const MAX_EXACT_REAL: f64 = 9_007_199_254_740_992.0;

/// What the ads of one class have in common, as far as findings depend on it.
pub(super) struct AdClass {
    /// The attributes that are not constants.
    pub attributes: CheckedAttributes,
    /// The constraint, the rank and the ports, and all attributes that these depend on.
    pub reached: Arc<[Name]>,
    /// `reached`, and all attributes on which the values of these depend in other ways. All attributes, if any may be
    /// read.
    pub decisive: Arc<[Name]>,
    /// The circular references among `attributes`, each as the names in it.
    pub cycles: Vec<Vec<Name>>,
    /// `None` if the findings about an ad as a whole depend on more than the outcomes of its clauses: on a pool, on
    /// ports, on a clause that is itself a constant, or on circular references.
    clauses: Option<ClassClauses>,
    /// The constants whose values are checked.
    pub watched: Arc<[WatchedConstant]>,
    /// Findings about ads as a whole, by their addresses and by a hash of the findings about constants, each with all
    /// findings of such an ad.
    findings: FxHashMap<(usize, u64), (Arc<FindingSet>, Arc<AdFindings>)>,
}

/// The parts of an ad on whose outcomes the findings about the ad as a whole depend.
///
/// The findings depend on the constants of the ad only through its kind, and through what specialization leaves of its
/// rank and of each clause of its constraint. The number in a comparison such as `TARGET.RequestMemory <= 4096` does
/// not matter either if no other clause mentions `RequestMemory`, because a comparison with a number alone contradicts
/// nothing.
struct ClassClauses {
    clauses: Vec<ClassPart>,
    rank: Option<ClassPart>,
    /// Positions of the constants whose values matter as they are: the kind of the ad, and a constant rank.
    positions: Vec<usize>,
    /// `positions`, and those of the clauses and of the rank, ascending.
    all_positions: Box<[usize]>,
    /// The names that more than one clause mentions.
    shared_names: FxHashSet<Name>,
    /// Hash of the decisive attributes without the values of constants.
    hash: u64,
}

/// A clause of the constraint, or the rank.
struct ClassPart {
    expression: Expression,
    /// Hash of the expression and of the attributes that it reads, without the values of constants.
    hash: u64,
    /// Positions of the constants that the expression reads, directly or through other attributes.
    positions: Vec<usize>,
}

/// What specialization leaves of an expression, as a hash.
pub(super) struct OutcomeHash {
    /// What is left of a clause; `None` for a rank.
    residue: Option<ClauseResidue>,
    exact: u64,
    /// If an attribute is compared with a number: the attribute, and a hash without the number.
    comparison: Option<(Name, u64)>,
}

impl AdClass {
    /// Creates the class of an ad.
    pub(super) fn new(ad: &Ad, checker: &mut AdChecker) -> Self {
        let attributes = checker.check_expressions(ad);
        let reached = checker.reachable_attributes(ad, &attributes, |seen| &seen.names);
        let mut decisive = Arc::clone(&reached);
        if attributes.values().any(|seen| seen.reads.len() > seen.names.len()) {
            decisive = checker.reachable_attributes(ad, &attributes, |seen| &seen.reads);
        }
        let reads_anything = decisive.iter().filter_map(|name| attributes.get(name)).any(|seen| seen.reads_anything);
        if reads_anything {
            decisive = ad.shape().names().into();
        }
        let cycles = reference_cycles(&attributes);
        let is_predictable = checker.pool.is_none() && ad.get(&PORTS).is_none() && cycles.is_empty() && !reads_anything;
        let clauses = is_predictable.then(|| ClassClauses::new(ad, checker, &attributes, &decisive)).flatten();
        let watched = checker.constants.constants(ad, checker.context.dialect);
        AdClass { attributes, reached, decisive, cycles, clauses, watched, findings: FxHashMap::default() }
    }

    /// Returns all findings of an ad. `of_ad` are the findings about the ad as a whole.
    pub(super) fn all_findings(
        &mut self,
        ad: &Ad,
        of_ad: &Arc<FindingSet>,
        of_constants: Option<ConstantFindings>,
    ) -> Arc<AdFindings> {
        // The entry keeps the set, so that no other gets its address.
        let hash = of_constants.as_ref().map_or(0, |found| found.hash);
        let entry = self.findings.entry((Arc::as_ptr(of_ad) as usize, hash));
        let (_, all) = entry.or_insert_with(|| {
            let sets = self.attributes.values().map(|attribute| &attribute.findings).chain([of_ad]).cloned();
            let of_constants =
                of_constants.map(|found| FindingSet::new(FindingOrigin::Constants(found.hash), ad, found.findings));
            (Arc::clone(of_ad), AdFindings::new(sets.chain(of_constants)))
        });
        Arc::clone(all)
    }

    /// Returns the positions of all constants on whose values the findings about an ad as a whole depend, ascending.
    /// `None` if these findings depend on more.
    pub(super) fn positions(&self) -> Option<&[usize]> {
        self.clauses.as_ref().map(|clauses| &*clauses.all_positions)
    }

    /// Number of entries that the class remembers.
    pub(super) fn entries(&self) -> usize {
        self.attributes.len() + self.findings.len()
    }

    /// Returns the hash of everything on which the findings about an ad as a whole depend. `None` if they depend on
    /// more than the outcomes of clauses.
    pub(super) fn outcome(&self, ad: &Ad, checker: &mut AdChecker) -> Option<u64> {
        let parts = self.clauses.as_ref()?;
        let mut hasher = FxHasher::default();
        (parts.hash, constants_hash(ad, &parts.positions)).hash(&mut hasher);
        let mut check = None;
        let clauses = parts.clauses.iter().map(|part| (part, true));
        for (part, is_clause) in clauses.chain(parts.rank.as_ref().map(|part| (part, false))) {
            let outcome = &*checker.outcomes.entry(part.key(ad, is_clause)).or_insert_with(|| {
                let check = check
                    .get_or_insert_with(|| AdCheck::new(ad, &checker.protocol, &checker.context, checker.knowledge));
                if is_clause {
                    OutcomeHash::new(check.clause_residue(&part.expression, false))
                } else {
                    OutcomeHash::of(check.rank_type(&part.expression))
                }
            });
            match &outcome.comparison {
                Some((name, hash)) if !parts.shared_names.contains(name) => hash.hash(&mut hasher),
                _ => outcome.exact.hash(&mut hasher),
            }
        }
        Some(hasher.finish())
    }

    /// Returns what specialization leaves of each clause of an ad's constraint, after [`AdClass::outcome`].
    pub(super) fn residues(&self, ad: &Ad, checker: &AdChecker) -> Option<Vec<ClauseResidue>> {
        let clauses = self.clauses.as_ref()?.clauses.iter();
        clauses.map(|part| checker.outcomes.get(&part.key(ad, true))?.residue.clone()).collect()
    }
}

impl ClassClauses {
    /// Returns the parts of an ad. `None` if a clause is itself a constant, or may read any attribute.
    fn new(ad: &Ad, checker: &mut AdChecker, attributes: &CheckedAttributes, decisive: &[Name]) -> Option<Self> {
        let (protocol, dialect) = (&checker.protocol, checker.context.dialect);
        let position = |name: &Name| ad.shape().position(name);
        let constraint = protocol.constraint_name(ad);
        let clauses: Vec<(Name, Expression)> = constraint.map_or_else(Vec::new, |name| constraint_clauses(ad, name));
        if clauses.iter().any(|(_, clause)| is_constant(clause)) {
            return None;
        }
        let mut positions: Vec<usize> = KIND_NAMES.iter().filter_map(|name| position(&Name::new(name))).collect();
        let rank = ad.get(protocol.rank_name());
        positions.extend(position(protocol.rank_name()).filter(|_| rank.is_some_and(is_constant)));
        let mut part = |expression: &Expression| {
            ClassPart::new(ad, attributes, checker.shared.get(expression, dialect), expression)
        };
        let clauses: Vec<ClassPart> = clauses.iter().map(|(_, clause)| part(clause)).collect();
        let rank_part = rank.map(part);
        let (mut names, mut shared_names) = (FxHashSet::default(), FxHashSet::default());
        for clause in &clauses {
            let mentioned = checker.mentioned.entry(clause.hash);
            for name in mentioned.or_insert_with(|| clause.mentioned_names(ad, attributes, dialect)).as_ref()?.iter() {
                if !names.insert(name.clone()) {
                    shared_names.insert(name.clone());
                }
            }
        }
        let mut hasher = FxHasher::default();
        (constraint, rank.is_some()).hash(&mut hasher);
        for name in decisive {
            (name, position(name).is_some(), attributes.get(name).map(|seen| seen.fingerprint)).hash(&mut hasher);
        }
        let mut all_positions = positions.clone();
        all_positions.extend(clauses.iter().chain(&rank_part).flat_map(|part| &part.positions));
        all_positions.sort_unstable();
        all_positions.dedup();
        let all_positions = all_positions.into();
        let hash = hasher.finish();
        Some(ClassClauses { clauses, rank: rank_part, positions, all_positions, shared_names, hash })
    }
}

impl ClassPart {
    fn new(ad: &Ad, attributes: &CheckedAttributes, known: &SharedExpression, expression: &Expression) -> Self {
        let mut names = known.reads.to_vec();
        let mut positions = Vec::new();
        let mut hasher = FxHasher::default();
        known.fingerprint.hash(&mut hasher);
        let mut next = 0;
        while let Some(name) = names.get(next).cloned() {
            next += 1;
            let attribute = attributes.get(&name);
            (&name, ad.get(&name).is_some(), attribute.map(|attribute| attribute.fingerprint)).hash(&mut hasher);
            match attribute {
                Some(attribute) => {
                    for name in attribute.reads.iter() {
                        if !names.contains(name) {
                            names.push(name.clone());
                        }
                    }
                }
                None => positions.extend(ad.shape().position(&name)),
            }
        }
        ClassPart { expression: expression.clone(), hash: hasher.finish(), positions }
    }

    /// Returns a hash of everything on which the result of specialization in an ad depends.
    fn key(&self, ad: &Ad, is_clause: bool) -> u64 {
        FxBuildHasher.hash_one((self.hash, constants_hash(ad, &self.positions), is_clause))
    }

    /// Returns the names in the expression and in the attributes that it reads. `None` if it may read any attribute.
    fn mentioned_names(&self, ad: &Ad, attributes: &CheckedAttributes, dialect: Dialect) -> Option<Arc<[Name]>> {
        let mut mentioned = FreeNames::of(&self.expression, dialect);
        let mut next = 0;
        let mut pending: NameSet = mentioned.mine.iter().chain(&mentioned.unqualified).cloned().collect();
        while let Some(name) = pending.get_index(next).cloned() {
            next += 1;
            if let Some((attribute, expression)) = attributes.get(&name).zip(ad.get(&name)) {
                mentioned.add(expression, dialect);
                pending.extend(attribute.reads.iter().cloned());
            }
        }
        (!mentioned.reads_anything).then(|| mentioned.names.into_iter().collect())
    }
}

impl OutcomeHash {
    fn of(outcome: impl Hash) -> Self {
        let mut hasher = FxHasher::default();
        outcome.hash(&mut hasher);
        OutcomeHash { residue: None, exact: hasher.finish(), comparison: None }
    }

    fn new(residue: ClauseResidue) -> Self {
        let hash = match &residue {
            ClauseResidue::Met => OutcomeHash::of("met"),
            ClauseResidue::Unsteady => OutcomeHash::of("unsteady"),
            ClauseResidue::NeverMet(value) => {
                OutcomeHash::of(("never met", Expression::literal(value.clone()).fingerprint()))
            }
            ClauseResidue::Open { residue, is_changed } => {
                let comparison = number_comparison(residue);
                let named =
                    |comparison: NumberComparison<'_>| (comparison.1.clone(), FxBuildHasher.hash_one(comparison));
                let exact = OutcomeHash::of((!is_changed, residue.fingerprint()));
                OutcomeHash { comparison: comparison.map(named), ..exact }
            }
        };
        OutcomeHash { residue: Some(residue), ..hash }
    }
}

/// A comparison of an attribute with a number: the operator, the attribute, whether it is qualified as the other
/// side's, and whether it is the left operand.
type NumberComparison<'e> = (BinaryOperator, &'e Name, bool, bool);

/// Returns the comparison of an attribute of the other side with a number. `None` for other expressions, and for
/// numbers that may be inexact as reals.
fn number_comparison(residue: &Expression) -> Option<NumberComparison<'_>> {
    let is_number = |operand: ClauseOperand<'_>| match operand {
        ClauseOperand::Literal(Value::Integer(number)) => number.unsigned_abs() < MAX_EXACT_INTEGER,
        ClauseOperand::Literal(Value::Real(number)) => number.abs() < MAX_EXACT_REAL,
        _ => false,
    };
    let attribute = |operand| match operand {
        ClauseOperand::Other(name) => Some((name, true)),
        ClauseOperand::Unqualified(name) => Some((name, false)),
        ClauseOperand::Own(_) | ClauseOperand::Literal(_) => None,
    };
    let ClauseForm::Comparison(operator, left, right) = ClauseForm::of(residue) else { return None };
    let ((name, is_qualified), is_left) = match (attribute(left), attribute(right)) {
        (Some(name), None) if is_number(right) => (name, true),
        (None, Some(name)) if is_number(left) => (name, false),
        _ => return None,
    };
    Some((operator, name, is_qualified, is_left))
}

fn constants_hash(ad: &Ad, positions: &[usize]) -> u64 {
    let mut hasher = FxHasher::default();
    for position in positions {
        ad.expressions()[*position].fingerprint().hash(&mut hasher);
    }
    hasher.finish()
}
