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

/// An operand of a clause: a literal, or an attribute of the ad that contains the clause. Example: `1024` in
/// `TARGET.Memory >= 1024`.
#[derive(Clone, Copy)]
pub enum OwnOperand<'e> {
    /// A literal.
    Value(&'e Value),
    /// An attribute of the ad that contains the clause.
    Attribute(&'e Name),
}

/// The clauses of all offers, sorted by kind. An offer is given by its position in the list of offers.
pub struct CollectedClauses<'a> {
    dialect: Dialect,
    /// Attributes through which clauses were found, such as `Requirements` and the attributes that `Requirements`
    /// names.
    pub followed: Vec<Name>,
    /// Offers that have a constraint.
    pub eligible: FixedBitSet,
    /// Offers with a clause that only evaluation of the pair can decide.
    pub needs_evaluation: FixedBitSet,
    /// Offers that cannot be indexed, because they redefine a scope name such as `target`.
    pub unindexable: FixedBitSet,
    /// Bounds on attributes of requests.
    pub bounds: BoundCollector<Name, OwnOperand<'a>>,
    /// String lists of the offers, by attribute of the request. The list in `stringListMember(TARGET.Owner, "ann,bob")`
    /// is found under `Owner`.
    pub item_postings: FxHashMap<Name, ItemPostings>,
    /// Clauses that are neither bounds nor string lists.
    pub residues: ResidueTable<bool>,
    /// For each residue, by index: the offers whose constraints contain the residue. An offer for which only evaluation
    /// of the pair can decide the residue is in `needs_evaluation` instead.
    pub residue_offers: Vec<Vec<u32>>,
}

impl<'a> CollectedClauses<'a> {
    /// Creates an empty collection for the offers in `columns`.
    pub fn new(columns: &OfferColumns) -> Self {
        let none = FixedBitSet::with_capacity(columns.offers.len());
        CollectedClauses {
            dialect: columns.context.dialect,
            followed: Vec::new(),
            eligible: none.clone(),
            needs_evaluation: none,
            unindexable: columns.unindexable().clone(),
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

    /// Adds one clause of an offer to the bounds, the string lists or the residues. Returns false if only evaluation of
    /// the pair can decide the clause.
    fn add_clause(&mut self, offer: usize, ad: &Ad, clause: &'a Expression, clauses: &ConstraintClauses<'a>) -> bool {
        let condition = ClauseForm::of(clause);
        let theirs = |operand| other_side_attribute(ad, operand);
        let mine = |operand| match own_operand(ad, operand, self.dialect) {
            // The clause was found through this attribute, so that using the attribute as a bound would be circular.
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
            // An offer may have several string lists for one attribute of requests. Only the first is indexed; the
            // others become residues.
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

/// Evaluates a residue without a request, once for each class of offers. Removes from `eligible` the offers that do not
/// meet the residue, whatever the request is. Returns the residue with the offers for which the residue depends on the
/// request; `None` if there are no such offers.
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
            let Some(class) = classes.offers.partition.group(offer) else { return true };
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

/// Returns the attribute of the other side to which an operand of a clause refers; `None` if it refers to no such
/// attribute. A name without a scope refers to the other side if `ad` lacks the attribute.
pub fn other_side_attribute<'e>(ad: &Ad, operand: ClauseOperand<'e>) -> Option<&'e Name> {
    match operand {
        ClauseOperand::Other(name) => Some(name),
        ClauseOperand::Unqualified(name) if ad.get(name).is_none() => Some(name),
        _ => None,
    }
}

/// Returns an operand of a clause that is a literal or an attribute of `ad`; `None` for any other operand.
pub fn own_operand<'e>(ad: &Ad, operand: ClauseOperand<'e>, dialect: Dialect) -> Option<OwnOperand<'e>> {
    match operand {
        ClauseOperand::Literal(value) if is_self_evaluating(value, dialect) => Some(OwnOperand::Value(value)),
        ClauseOperand::Own(name) => Some(OwnOperand::Attribute(name)),
        ClauseOperand::Unqualified(name) if ad.get(name).is_some() => Some(OwnOperand::Attribute(name)),
        _ => None,
    }
}
