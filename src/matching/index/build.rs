//! Builds the index: splits the offers' constraints into bounds, string lists and residues.

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::ad::{Ad, BinaryOperator, ByteString, Expression, ExpressionInterner, Name, Value};
use crate::constraint::{ClauseForm, ClauseOperand, ConstraintClauses, is_self_evaluating, orient_comparison};
use crate::eval::{Context, FreeNames, string_list_items};
use crate::pool::{BoundCollector, ColumnCell};

use super::super::PairSide;
use super::one_sided;
use super::residue::Residue;
use super::{ItemPostings, OfferIndex};

/// The value with which one clause of an offer compares an attribute of requests.
pub enum ImportedBound {
    /// A literal.
    Value(Value),
    /// The value of an attribute of the offer.
    Attribute(Name),
}

/// Clauses collected from all offers; offers are given by position.
#[derive(Default)]
pub struct CollectedClauses {
    /// Bounds on attributes of requests.
    pub bounds: BoundCollector<Name, ImportedBound>,
    /// String lists that must contain the value of an attribute of the request, by that attribute. Each list has the
    /// position of its offer.
    pub item_lists: FxHashMap<Name, Vec<(u32, ByteString)>>,
    interner: ExpressionInterner,
    /// Residues, their free names, and the offers whose constraints have them.
    pub residues: Vec<(Expression, FreeNames, Vec<u32>)>,
}

impl OfferIndex {
    /// Splits the constraint of one offer into clauses and collects them.
    pub fn collect_clauses(&mut self, offer: usize, collected: &mut CollectedClauses) {
        let ad = &self.offers[offer];
        let Some(constraint) = self.protocol.constraint_name(ad) else { return };
        self.eligible.insert(offer);
        if self.unindexable.contains(offer) {
            return;
        }
        let parts = ConstraintClauses::of(ad, constraint);
        for part in &parts.items {
            if !collected.add_clause(offer, ad, part.expression, &parts, &self.context) {
                self.needs_evaluation.insert(offer);
            }
        }
        for name in parts.followed() {
            if !self.followed.contains(name) {
                self.followed.push(name.clone());
            }
        }
    }

    /// Builds the columns of bounds, one for each attribute and operator.
    pub fn build_bound_columns(&mut self, collected: BoundCollector<Name, ImportedBound>) {
        let mut columns = collected.build(self.offers.len(), self.context.dialect, |offer, bound| match bound {
            ImportedBound::Value(value) => ColumnCell::Constant(value),
            ImportedBound::Attribute(name) => self.column(&name).cell(offer),
        });
        columns.sort_by(|left, right| left.subject().cmp(right.subject()));
        self.imported_bounds = columns;
    }

    /// Builds the posting lists, which lead from an item to the offers whose string list has it.
    pub fn build_postings(&mut self, items: FxHashMap<Name, Vec<(u32, ByteString)>>) {
        for (attribute, lists) in items {
            let mut offers = FixedBitSet::with_capacity(self.offers.len());
            let mut by_item: FxHashMap<ByteString, Vec<u32>> = FxHashMap::default();
            for (offer, list) in lists {
                offers.insert(offer as usize);
                for item in string_list_items(&list) {
                    by_item.entry(item).or_default().push(offer);
                }
            }
            self.item_postings.push(ItemPostings { attribute, offers, postings: by_item });
        }
    }

    /// Adds a residue of these offers' constraints. The residue is evaluated now, once for each class of offers, where
    /// it does not depend on the request: offers that fail it are removed, and only undecided ones keep the residue.
    pub fn add_offer_residue(&mut self, expression: Expression, mentions: &FreeNames, mut offers: Vec<u32>) {
        let groups = (!mentions.reads_unknown()).then(|| self.classes(mentions));
        if let Some(groups) = &groups {
            let groups = groups.borrow();
            let mut settled: FxHashMap<usize, Option<bool>> = FxHashMap::default();
            offers.retain(|offer| {
                let Some(group) = groups.offers.group(*offer as usize) else { return true };
                let ad = &self.offers[*offer as usize];
                let met = settled
                    .entry(group)
                    .or_insert_with(|| one_sided::one_sided_verdict(ad, &expression, &self.context));
                if *met == Some(false) {
                    self.eligible.set(*offer as usize, false);
                }
                met.is_none()
            });
        }
        if !offers.is_empty() {
            let offers = offers.into_iter().map(|offer| offer as usize).collect();
            self.offer_residues.push((Residue::new(expression, PairSide::Offer, groups), offers));
        }
    }
}

impl CollectedClauses {
    /// Adds one clause of an offer. Returns false if only evaluation of the pair can decide the clause.
    fn add_clause(
        &mut self,
        offer: usize,
        ad: &Ad,
        part: &Expression,
        parts: &ConstraintClauses<'_>,
        context: &Context,
    ) -> bool {
        let condition = ClauseForm::of(part);
        let row = u32::try_from(offer).unwrap_or(u32::MAX);
        if let Some((name, operator, bound)) = imported_bound(ad, condition, context) {
            let own_is_odd =
                matches!(&bound, ImportedBound::Attribute(name) if parts.followed().any(|through| through == name));
            // A bound that the columns do not take becomes a residue.
            if !own_is_odd && self.bounds.add(offer, name, operator, bound).is_some() {
                return true;
            }
        }
        if let ClauseForm::StringListMember(operand, list) = condition
            && let Some(name) = other_side_attribute(ad, operand)
        {
            let lists = self.item_lists.entry(name.clone()).or_default();
            if lists.last().is_none_or(|(last, _)| *last != row) {
                lists.push((row, list.clone()));
                return true;
            }
        }
        let (number, is_new) = self.interner.intern(part);
        if is_new {
            self.residues.push((part.clone(), FreeNames::of(part, context.dialect), Vec::new()));
        }
        let (_, mentions, offers) = &mut self.residues[number];
        if one_sided::needs_pair_evaluation(parts, mentions) {
            return false;
        }
        if offers.last() != Some(&row) {
            offers.push(row);
        }
        true
    }
}

/// Returns the attribute of the other side that an operand in an ad refers to; `None` for other operands.
pub fn other_side_attribute<'e>(ad: &Ad, operand: ClauseOperand<'e>) -> Option<&'e Name> {
    match operand {
        ClauseOperand::Other(name) => Some(name),
        ClauseOperand::Unqualified(name) if ad.get(name).is_none() => Some(name),
        _ => None,
    }
}

/// Interprets a clause of an ad as a bound on an attribute of the other side: attribute, operator, bound. `None` for
/// other clauses.
fn imported_bound<'e>(
    ad: &Ad,
    condition: ClauseForm<'e>,
    context: &Context,
) -> Option<(&'e Name, BinaryOperator, ImportedBound)> {
    let ClauseForm::Comparison(operator, left, right) = condition else { return None };
    let own = |operand| match operand {
        ClauseOperand::Literal(value) if is_self_evaluating(value, context.dialect) => {
            Some(ImportedBound::Value(value.clone()))
        }
        ClauseOperand::Own(name) => Some(ImportedBound::Attribute(name.clone())),
        ClauseOperand::Unqualified(name) if ad.get(name).is_some() => Some(ImportedBound::Attribute(name.clone())),
        _ => None,
    };
    orient_comparison(operator, left, right, |operand| other_side_attribute(ad, operand), own)
}
