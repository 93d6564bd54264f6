//! What the findings about ads as a whole depend on. Ads of one class have the same constraint, the same rank, and the
//! same expressions that these read, but other constants.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet, FxHasher};

use crate::ad::{Ad, Dialect, Expression, Name, ScopeAd, Value};
use crate::constraint::{ClauseForm, ClauseOperand, contradicts_itself};
use crate::eval::{FreeNames, NameSet};
use crate::pool::is_constant;
use crate::protocol::{PORTS, Protocol};

use super::AdChecker;
use super::ads::{AdCheck, ClauseResidue, constraint_clauses};
use super::checked_expression::CheckedExpression;
use super::linked_shape::{Closure, LinkedShape};
use super::shared_expressions::SharedExpression;

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
/// rank and of each clause of its constraint. What is left of a clause does not matter either if it does not contradict
/// itself and no other clause mentions a name in it. A comparison such as `TARGET.RequestMemory <= MY.Memory` never
/// contradicts itself if `Memory` is a number.
struct ClassClauses {
    clauses: Vec<ClassClause>,
    rank: Option<ClassPart>,
}

/// A clause of the constraint.
struct ClassClause {
    part: ClassPart,
    /// The constant with which the clause compares an attribute of the other side that no other clause mentions, as an
    /// index in [`Closure::constants`].
    compared: Option<usize>,
    /// Whether no other clause mentions a name that this clause mentions.
    is_alone: bool,
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

/// What specialization leaves of a clause or of a rank.
pub(super) struct PartOutcome {
    /// What is left of a clause; `None` for a rank.
    residue: Option<ClauseResidue>,
    hash: u64,
    /// Whether the clause depends on the other side and does not contradict itself.
    is_consistent: bool,
}

impl AdClass {
    /// Creates the class of an ad, which is the last of its shape.
    pub(super) fn new(ad: &Ad, linked: &LinkedShape, checker: &mut AdChecker) -> Self {
        let reached = reachable_attributes(linked, &checker.protocol, |seen| &seen.names);
        let mut decisive = Arc::clone(&reached);
        if linked.checked().any(|seen| seen.reads.len() > seen.names.len()) {
            decisive = reachable_attributes(linked, &checker.protocol, |seen| &seen.reads);
        }
        let reads_anything =
            linked.shadows_ads() || decisive.iter().filter_map(|name| linked.get(name)).any(|seen| seen.reads_anything);
        if reads_anything {
            decisive = ad.shape().names().into();
        }
        let has_cycles = !linked.closure.cycles.is_empty();
        let is_predictable = checker.pool.is_none()
            && linked.has_constant_kind()
            && !linked.has_ports()
            && !has_cycles
            && !reads_anything;
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
        let mut outcome = |part: &ClassPart, is_clause: bool| {
            let outcome = checker.known.outcomes.entry(part.key(ad, closure, is_clause)).or_insert_with(|| {
                let check = check
                    .get_or_insert_with(|| AdCheck::new(ad, &checker.protocol, &checker.context, checker.knowledge));
                if is_clause {
                    PartOutcome::new(check.clause_residue(&part.expression, false), checker.context.dialect)
                } else {
                    PartOutcome::of(check.rank_type(&part.expression))
                }
            });
            (outcome.hash, outcome.is_consistent)
        };
        // Clauses that contradict nothing do not matter.
        for clause in parts.clauses.iter().filter(|clause| !clause.is_comparison(ad, closure)) {
            let (hash, is_consistent) = outcome(&clause.part, true);
            (!(clause.is_alone && is_consistent)).then_some(hash).hash(&mut hasher);
        }
        parts.rank.as_ref().map(|rank| outcome(rank, false)).hash(&mut hasher);
        Some(hasher.finish())
    }

    /// Returns what specialization leaves of each clause of an ad's constraint, after [`AdClass::outcome`].
    pub(super) fn residues(&self, ad: &Ad, closure: &Closure, checker: &AdChecker) -> Option<Vec<ClauseResidue>> {
        let residue = |clause: &ClassClause| {
            if clause.is_comparison(ad, closure) {
                return Some(ClauseResidue::Consistent);
            }
            let outcome = checker.known.outcomes.get(&clause.part.key(ad, closure, true))?;
            if clause.is_alone && outcome.is_consistent {
                Some(ClauseResidue::Consistent)
            } else {
                outcome.residue.clone()
            }
        };
        self.clauses.as_ref()?.clauses.iter().map(residue).collect()
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
        let places = linked.closure.constants.iter().enumerate().map(|(place, position)| (*position, place)).collect();
        let mut part = |expression: &Expression| {
            ClassPart::new((ad, linked, &places), checker.shared.get(expression, dialect), expression)
        };
        let clauses: Vec<ClassPart> = clauses.iter().map(|(_, clause)| part(clause)).collect::<Option<_>>()?;
        let rank = match rank {
            Some(rank) => Some(part(rank)?),
            None => None,
        };
        let mut mentions: Vec<Arc<[Name]>> = Vec::new();
        for clause in &clauses {
            let mentioned = checker.known.mentioned.entry(clause.hash);
            mentions.push(mentioned.or_insert_with(|| clause.mentioned_names(ad, linked, dialect)).clone()?);
        }
        let (mut names, mut shared_names) = (FxHashSet::default(), FxHashSet::default());
        shared_names.extend(mentions.iter().flat_map(|mentioned| mentioned.iter()).filter(|name| !names.insert(*name)));
        let clause = |(part, mentioned): (ClassPart, &Arc<[Name]>)| ClassClause {
            compared: compared_constant(&part.expression, ad, &linked.closure, &shared_names),
            is_alone: !mentioned.is_empty() && !mentioned.iter().any(|name| shared_names.contains(name)),
            part,
        };
        Some(ClassClauses { clauses: clauses.into_iter().zip(&mentions).map(clause).collect(), rank })
    }
}

impl ClassClause {
    /// Whether the clause compares an attribute of the other side, which no other clause mentions, with a number.
    fn is_comparison(&self, ad: &Ad, closure: &Closure) -> bool {
        self.compared.is_some_and(|constant| {
            let value = ad.expressions()[closure.constants[constant]].as_literal();
            value.is_some_and(is_exact_number)
        })
    }
}

impl ClassPart {
    /// `places` are the indices of the constants of the ad's closure, by position. `None` if the expression reads
    /// constants that are not among them, which cannot be.
    fn new(
        (ad, linked, places): (&Ad, &LinkedShape, &FxHashMap<usize, usize>),
        known: &SharedExpression,
        expression: &Expression,
    ) -> Option<Self> {
        let mut names: NameSet = known.reads.iter().cloned().collect();
        let mut constants = Vec::new();
        let mut hasher = FxHasher::default();
        known.fingerprint.hash(&mut hasher);
        let mut next = 0;
        while let Some(name) = names.get_index(next).cloned() {
            next += 1;
            let attribute = linked.get(&name);
            let position = ad.shape().position(&name);
            (&name, position.is_some(), attribute.map(|attribute| attribute.fingerprint)).hash(&mut hasher);
            if let Some(attribute) = attribute {
                names.extend(attribute.reads.iter().cloned());
            } else if let Some(position) = position {
                constants.push(*places.get(&position)?);
            }
        }
        Some(ClassPart { expression: expression.clone(), hash: hasher.finish(), constants: constants.into() })
    }

    /// Returns a hash of everything on which the result of specialization in an ad depends.
    fn key(&self, ad: &Ad, closure: &Closure, is_clause: bool) -> u64 {
        let positions = self.constants.iter().map(|constant| closure.constants[*constant]);
        FxBuildHasher.hash_one((self.hash, constants_hash(ad, positions), is_clause))
    }

    /// Returns the names in the expression and in the attributes that it reads, except for names of ads and for those
    /// that only denote constants of the ad, which specialization replaces. `None` if it may read any attribute.
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
        if mentioned.reads_anything {
            return None;
        }
        let is_constant = |name: &Name| ad.get(name).is_some() && linked.get(name).is_none();
        let is_replaced = |name: &Name| pending.contains(name) && is_constant(name) && !mentioned.theirs.contains(name);
        let names = mentioned.names.iter().filter(|name| ScopeAd::of(name).is_none() && !is_replaced(name));
        Some(names.cloned().collect())
    }
}

impl PartOutcome {
    fn of(outcome: impl Hash) -> Self {
        let mut hasher = FxHasher::default();
        outcome.hash(&mut hasher);
        PartOutcome { residue: None, hash: hasher.finish(), is_consistent: false }
    }

    fn new(residue: ClauseResidue, dialect: Dialect) -> Self {
        let outcome = match &residue {
            ClauseResidue::Met => PartOutcome::of("met"),
            ClauseResidue::Unsteady => PartOutcome::of("unsteady"),
            ClauseResidue::Consistent => PartOutcome::of("consistent"),
            ClauseResidue::NeverMet(value) => {
                PartOutcome::of(("never met", Expression::literal(value.clone()).fingerprint()))
            }
            ClauseResidue::Open { residue, is_changed } => PartOutcome {
                is_consistent: !contradicts_itself(residue, dialect),
                ..PartOutcome::of((!is_changed, residue.fingerprint()))
            },
        };
        PartOutcome { residue: Some(residue), ..outcome }
    }
}

/// Returns the constant of the ad with which a clause compares an attribute of the other side, as an index in
/// [`Closure::constants`]. `None` for other clauses, and if the attribute is one of `shared_names`.
fn compared_constant(
    clause: &Expression,
    ad: &Ad,
    closure: &Closure,
    shared_names: &FxHashSet<&Name>,
) -> Option<usize> {
    let ClauseForm::Comparison(_, left, right) = ClauseForm::of(clause) else { return None };
    let is_other = |operand: &ClauseOperand<'_>| match operand {
        ClauseOperand::Other(name) => !shared_names.contains(name),
        ClauseOperand::Unqualified(name) => ad.get(name).is_none() && !shared_names.contains(name),
        ClauseOperand::Own(_) | ClauseOperand::Literal(_) => false,
    };
    let (ClauseOperand::Own(name) | ClauseOperand::Unqualified(name)) = (match (is_other(&left), is_other(&right)) {
        (true, false) => right,
        (false, true) => left,
        _ => return None,
    }) else {
        return None;
    };
    let position = ad.shape().position(name)?;
    closure.constants.iter().position(|constant| *constant == position)
}

/// Whether a value is a number that is exact as a real.
fn is_exact_number(value: &Value) -> bool {
    match value {
        Value::Integer(number) => number.unsigned_abs() < MAX_EXACT_INTEGER,
        Value::Real(number) => number.abs() < MAX_EXACT_REAL,
        _ => false,
    }
}

fn constants_hash(ad: &Ad, positions: impl IntoIterator<Item = usize>) -> u64 {
    let mut hasher = FxHasher::default();
    for position in positions {
        ad.expressions()[position].fingerprint().hash(&mut hasher);
    }
    hasher.finish()
}
