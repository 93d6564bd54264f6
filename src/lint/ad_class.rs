//! What the findings about ads as a whole depend on. Ads of one class have the same constraint, the same rank, and the
//! same expressions that these read, but other constants.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashSet, FxHasher};

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, Name, Value};
use crate::constraint::{ClauseForm, ClauseOperand};
use crate::eval::{FreeNames, NameSet};
use crate::pool::is_constant;
use crate::protocol::{PORTS, Protocol};

use super::ads::{AdCheck, ClauseResidue, constraint_clauses};
use super::linked_shape::{Closure, LinkedShape};
use super::shared_expressions::SharedExpression;
use super::{AdChecker, CheckedExpression};

/// Integers up to this magnitude are exact as reals: 2^53.
const MAX_EXACT_INTEGER: u64 = 9_007_199_254_740_992;
const MAX_EXACT_REAL: f64 = 9_007_199_254_740_992.0;

/// What the ads have in common that are of one class: whose findings about an ad as a whole depend on the same
/// attributes.
pub(super) struct AdClass {
    /// The constraint, the rank and the ports, and all attributes that these depend on.
    pub reached: Arc<[Name]>,
    /// `reached`, and all attributes on which the values of these depend in other ways. All attributes, if any may be
    /// read.
    pub decisive: Arc<[Name]>,
    /// `None` if the findings about an ad as a whole depend on more than the outcomes of its clauses: on a pool, on
    /// ports, on a clause that is itself a constant, or on circular references.
    clauses: Option<ClassClauses>,
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
    /// The names that more than one clause mentions.
    shared_names: FxHashSet<Name>,
}

/// A clause of the constraint, or the rank.
struct ClassPart {
    expression: Expression,
    /// Hash of the expression and of the attributes that it reads, without the values of constants.
    hash: u64,
    /// The constants that the expression reads, directly or through other attributes, as indices in
    /// [`Closure::constants`].
    constants: Box<[usize]>,
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
    /// Creates the class of an ad, which is the last of its shape.
    pub(super) fn new(ad: &Ad, linked: &LinkedShape, checker: &mut AdChecker) -> Self {
        let reached = reachable_attributes(linked, &checker.protocol, |seen| &seen.names);
        let mut decisive = Arc::clone(&reached);
        if linked.checked().any(|seen| seen.reads.len() > seen.names.len()) {
            decisive = reachable_attributes(linked, &checker.protocol, |seen| &seen.reads);
        }
        let reads_anything = decisive.iter().filter_map(|name| linked.get(name)).any(|seen| seen.reads_anything);
        if reads_anything {
            decisive = ad.shape().names().into();
        }
        let has_cycles = !linked.closure.cycles.is_empty();
        let is_predictable = checker.pool.is_none() && !linked.has_ports() && !has_cycles && !reads_anything;
        let clauses = is_predictable.then(|| ClassClauses::new(ad, linked, checker)).flatten();
        AdClass { reached, decisive, clauses }
    }

    /// Whether the findings about an ad as a whole depend on its kind and on [`Closure::constants`] alone.
    pub(super) fn is_predictable(&self) -> bool {
        self.clauses.is_some()
    }

    /// Returns the hash of everything on which the findings about an ad as a whole depend. `None` if they depend on
    /// more than the outcomes of clauses.
    pub(super) fn outcome(&self, ad: &Ad, linked: &LinkedShape, checker: &mut AdChecker) -> Option<u64> {
        let parts = self.clauses.as_ref()?;
        let closure = &linked.closure;
        let mut hasher = FxHasher::default();
        closure.hash.hash(&mut hasher);
        constants_hash(ad, linked.kinds.iter().copied().chain(linked.constant_rank())).hash(&mut hasher);
        let mut check = None;
        let clauses = parts.clauses.iter().map(|part| (part, true));
        for (part, is_clause) in clauses.chain(parts.rank.as_ref().map(|part| (part, false))) {
            let outcome = &*checker.outcomes.entry(part.key(ad, closure, is_clause)).or_insert_with(|| {
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
    pub(super) fn residues(&self, ad: &Ad, closure: &Closure, checker: &AdChecker) -> Option<Vec<ClauseResidue>> {
        let clauses = self.clauses.as_ref()?.clauses.iter();
        clauses.map(|part| checker.outcomes.get(&part.key(ad, closure, true))?.residue.clone()).collect()
    }
}

/// Returns the names of the constraint, the rank and the ports of an ad, and of all attributes to which `names` leads
/// from these three.
fn reachable_attributes<'c>(
    linked: &'c LinkedShape,
    protocol: &Protocol,
    names: impl Fn(&'c CheckedExpression) -> &'c [Name],
) -> Arc<[Name]> {
    let mut reached: Vec<Name> = Vec::new();
    let mut seen: FxHashSet<Name> = FxHashSet::default();
    let mut pending: Vec<Name> = vec![protocol.rank_name().clone(), PORTS.clone()];
    pending.extend(linked.constraint.clone());
    while let Some(name) = pending.pop() {
        if seen.insert(name.clone()) {
            pending.extend(linked.get(&name).into_iter().flat_map(&names).cloned());
            reached.push(name);
        }
    }
    reached.into()
}

impl ClassClauses {
    /// Returns the parts of an ad. `None` if a clause is itself a constant, or may read any attribute.
    fn new(ad: &Ad, linked: &LinkedShape, checker: &mut AdChecker) -> Option<Self> {
        let dialect = checker.context.dialect;
        let constraint = linked.constraint.as_ref();
        let clauses: Vec<(Name, Expression)> = constraint.map_or_else(Vec::new, |name| constraint_clauses(ad, name));
        if clauses.iter().any(|(_, clause)| is_constant(clause)) {
            return None;
        }
        let rank = ad.get(checker.protocol.rank_name());
        let mut part =
            |expression: &Expression| ClassPart::new(ad, linked, checker.shared.get(expression, dialect), expression);
        let clauses: Vec<ClassPart> = clauses.iter().map(|(_, clause)| part(clause)).collect::<Option<_>>()?;
        let rank = match rank {
            Some(rank) => Some(part(rank)?),
            None => None,
        };
        let (mut names, mut shared_names) = (FxHashSet::default(), FxHashSet::default());
        for clause in &clauses {
            let mentioned = checker.mentioned.entry(clause.hash);
            for name in mentioned.or_insert_with(|| clause.mentioned_names(ad, linked, dialect)).as_ref()?.iter() {
                if !names.insert(name.clone()) {
                    shared_names.insert(name.clone());
                }
            }
        }
        Some(ClassClauses { clauses, rank, shared_names })
    }
}

impl ClassPart {
    /// `None` if the expression reads constants that are not among those of the ad's closure, which cannot be.
    fn new(ad: &Ad, linked: &LinkedShape, known: &SharedExpression, expression: &Expression) -> Option<Self> {
        let mut names = known.reads.to_vec();
        let mut constants = Vec::new();
        let mut hasher = FxHasher::default();
        known.fingerprint.hash(&mut hasher);
        let mut next = 0;
        while let Some(name) = names.get(next).cloned() {
            next += 1;
            let attribute = linked.get(&name);
            let position = ad.shape().position(&name);
            (&name, position.is_some(), attribute.map(|attribute| attribute.fingerprint)).hash(&mut hasher);
            if let Some(attribute) = attribute {
                for name in attribute.reads.iter() {
                    if !names.contains(name) {
                        names.push(name.clone());
                    }
                }
            } else if let Some(position) = position {
                constants.push(linked.closure.constants.iter().position(|constant| *constant == position)?);
            }
        }
        Some(ClassPart { expression: expression.clone(), hash: hasher.finish(), constants: constants.into() })
    }

    /// Returns a hash of everything on which the result of specialization in an ad depends.
    fn key(&self, ad: &Ad, closure: &Closure, is_clause: bool) -> u64 {
        let positions = self.constants.iter().map(|constant| closure.constants[*constant]);
        FxBuildHasher.hash_one((self.hash, constants_hash(ad, positions), is_clause))
    }

    /// Returns the names in the expression and in the attributes that it reads. `None` if it may read any attribute.
    fn mentioned_names(&self, ad: &Ad, linked: &LinkedShape, dialect: Dialect) -> Option<Arc<[Name]>> {
        let mut mentioned = FreeNames::of(&self.expression, dialect);
        let mut next = 0;
        let mut pending: NameSet = mentioned.mine.iter().chain(&mentioned.unqualified).cloned().collect();
        while let Some(name) = pending.get_index(next).cloned() {
            next += 1;
            if let Some((attribute, expression)) = linked.get(&name).zip(ad.get(&name)) {
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

fn constants_hash(ad: &Ad, positions: impl IntoIterator<Item = usize>) -> u64 {
    let mut hasher = FxHasher::default();
    for position in positions {
        ad.expressions()[position].fingerprint().hash(&mut hasher);
    }
    hasher.finish()
}
