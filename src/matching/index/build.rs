//! Builds the index: splits the offers' constraints into bounds, string lists and residues.

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::ad::{Ad, Dialect, Expression, Name, Value};
use crate::constraint::{ClauseForm, ClauseOperand, ConstraintClauses, is_self_evaluating, orient_comparison};
use crate::eval::string_list_items;
use crate::pool::{BoundCollector, SparseRows, code};
use crate::protocol::Protocol;

use super::super::PairSide;
use super::ItemPostings;
use super::columns::OfferColumns;
use super::one_sided::{needs_pair_evaluation, one_sided_verdict};
use super::residue::{Residue, ResidueTable};

/// An operand that does not refer to the other side.
#[derive(Clone, Copy)]
pub enum OwnOperand<'e> {
    /// A literal.
    Value(&'e Value),
    /// The value of an attribute of the ad.
    Attribute(&'e Name),
}

/// Clauses collected from all offers; offers are given by position.
pub struct CollectedClauses<'a> {
    dialect: Dialect,
    /// Attributes that were followed while the constraints were split into clauses.
    pub followed: Vec<Name>,
    /// Offers that have a constraint.
    pub eligible: FixedBitSet,
    /// Offers with a clause that only evaluation of the pair can decide.
    pub needs_evaluation: FixedBitSet,
    /// Offers that cannot be indexed.
    pub unindexable: FixedBitSet,
    /// Bounds on attributes of requests.
    pub bounds: BoundCollector<Name, OwnOperand<'a>>,
    /// String lists that must contain the value of an attribute of the request, by that attribute.
    pub item_postings: FxHashMap<Name, ItemPostings>,
    /// All other clauses.
    pub residues: ResidueTable<bool>,
    /// For each residue the offers whose constraints have it.
    pub residue_offers: Vec<Vec<u32>>,
}

impl<'a> CollectedClauses<'a> {
    /// Prepares to collect the clauses of the offers of these columns.
    pub fn new(columns: &OfferColumns) -> Self {
        let none = FixedBitSet::with_capacity(columns.offers.len());
        CollectedClauses {
            dialect: columns.context.dialect,
            followed: Vec::new(),
            eligible: none.clone(),
            needs_evaluation: none,
            unindexable: columns.unindexable(),
            bounds: BoundCollector::default(),
            item_postings: FxHashMap::default(),
            residues: ResidueTable::new(PairSide::Offer),
            residue_offers: Vec::new(),
        }
    }

    /// Splits the constraint of one offer into clauses and collects them.
    pub fn add_offer(&mut self, offer: usize, ad: &'a Ad, protocol: &'a Protocol) {
        let Some(constraint) = protocol.constraint_name(ad) else { return };
        self.eligible.insert(offer);
        if self.unindexable.contains(offer) {
            return;
        }
        let clauses = ConstraintClauses::of(ad, constraint);
        for clause in &clauses.items {
            if !self.add_clause(offer, ad, clause.expression, &clauses) {
                self.needs_evaluation.insert(offer);
            }
        }
        for name in clauses.followed() {
            if !self.followed.contains(name) {
                self.followed.push(name.clone());
            }
        }
    }

    /// Adds one clause of an offer. Returns false if only evaluation of the pair can decide the clause.
    fn add_clause(&mut self, offer: usize, ad: &Ad, clause: &'a Expression, clauses: &ConstraintClauses<'a>) -> bool {
        let condition = ClauseForm::of(clause);
        let theirs = |operand| other_side_attribute(ad, operand);
        let mine = |operand| match own_operand(ad, operand, self.dialect) {
            // An attribute through which the constraint was followed is circular when it is evaluated as a bound.
            Some(OwnOperand::Attribute(name)) if clauses.followed().any(|followed| followed == name) => None,
            own => own,
        };
        if let ClauseForm::Comparison(operator, left, right) = condition
            && let Some((name, operator, bound)) = orient_comparison(operator, left, right, theirs, mine)
            && self.bounds.add(offer, name.clone(), operator, bound).is_some()
        {
            return true;
        }
        if let ClauseForm::StringListMember(operand, list) = condition
            && let Some(name) = theirs(operand)
        {
            let lists = self.item_postings.entry(name.clone()).or_insert_with(|| ItemPostings {
                offers: FixedBitSet::with_capacity(self.eligible.len()),
                postings: FxHashMap::default(),
            });
            // A second list of the same offer becomes a residue.
            if !lists.offers.put(offer) {
                for item in string_list_items(list) {
                    lists.postings.entry(item).or_default().push(code(offer));
                }
                return true;
            }
        }
        let (number, is_new) = self.residues.intern(clause, self.dialect);
        if is_new {
            self.residue_offers.push(Vec::new());
        }
        if needs_pair_evaluation(clauses, &self.residues.residues[number].mentions) {
            return false;
        }
        let offers = &mut self.residue_offers[number];
        if offers.last() != Some(&code(offer)) {
            offers.push(code(offer));
        }
        true
    }
}

/// Evaluates a residue of these offers' constraints now, once for each class of offers, where it does not depend on the
/// request: offers that fail it are not eligible, and only undecided ones keep it. `None` if all are decided.
pub fn settle_residue(
    mut residue: Residue<bool>,
    mut offers: Vec<u32>,
    columns: &mut OfferColumns,
    eligible: &mut FixedBitSet,
) -> Option<(Residue<bool>, SparseRows)> {
    residue.classify(columns);
    if let Some(classes) = &residue.classes {
        let classes = classes.borrow();
        let mut verdicts: FxHashMap<usize, Option<bool>> = FxHashMap::default();
        offers.retain(|offer| {
            let offer = *offer as usize;
            let Some(class) = classes.offers.group(offer) else { return true };
            let met = *verdicts
                .entry(class)
                .or_insert_with(|| one_sided_verdict(&columns.offers[offer], &residue.expression, &columns.context));
            if met == Some(false) {
                eligible.set(offer, false);
            }
            met.is_none()
        });
    }
    (!offers.is_empty()).then(|| (residue, offers.into_iter().map(|offer| offer as usize).collect()))
}

/// Returns the attribute of the other side that an operand in an ad refers to; `None` for other operands.
pub fn other_side_attribute<'e>(ad: &Ad, operand: ClauseOperand<'e>) -> Option<&'e Name> {
    match operand {
        ClauseOperand::Other(name) => Some(name),
        ClauseOperand::Unqualified(name) if ad.get(name).is_none() => Some(name),
        _ => None,
    }
}

/// Returns an operand in an ad that does not refer to the other side; `None` for other operands.
pub fn own_operand<'e>(ad: &Ad, operand: ClauseOperand<'e>, dialect: Dialect) -> Option<OwnOperand<'e>> {
    match operand {
        ClauseOperand::Literal(value) if is_self_evaluating(value, dialect) => Some(OwnOperand::Value(value)),
        ClauseOperand::Own(name) => Some(OwnOperand::Attribute(name)),
        ClauseOperand::Unqualified(name) if ad.get(name).is_some() => Some(OwnOperand::Attribute(name)),
        _ => None,
    }
}
