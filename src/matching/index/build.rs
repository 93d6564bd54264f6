//! Builds the index: splits the offers' constraints into bounds, string lists and residues.

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::ad::{Ad, BinaryOperator, Distinct, Expression, Name, Text, Value};
use crate::constraint::{Condition, Operand, Parts, is_plain};
use crate::eval::{Context, Mentions, listed_items};
use crate::pool::{Cell, Column};

use super::super::Side;
use super::one_sided;
use super::residue::Residue;
use super::{Bounds, Imported, Index, Listed};

/// The bound in one clause of an offer.
pub enum Bound {
    /// A literal.
    Value(Value),
    /// The value of an attribute of the offer.
    Own(Name),
}

/// Clauses collected from all offers; offers are given by position.
#[derive(Default)]
pub struct Collected {
    /// Bounds by attribute of the request and operator.
    pub bounds: FxHashMap<(Name, BinaryOperator), Vec<(u32, Bound)>>,
    /// String lists by the attribute of the request that must occur in them.
    pub items: FxHashMap<Name, Vec<(u32, Text)>>,
    distinct: Distinct,
    /// Residues, their free names, and the offers whose constraints have them.
    pub demands: Vec<(Expression, Mentions, Vec<u32>)>,
}

impl Index {
    /// Splits the constraint of one offer into clauses and collects them.
    pub fn collect(&mut self, offer: usize, collected: &mut Collected) {
        let ad = &self.offers[offer];
        let Some(constraint) = self.protocol.constraint(ad) else { return };
        self.willing.insert(offer);
        if self.odd.contains(offer) {
            return;
        }
        let parts = Parts::of(ad, constraint);
        for part in &parts.parts {
            if !collected.add(offer, ad, part.expression, &parts, &self.context) {
                self.opaque.insert(offer);
            }
        }
        for name in parts.through() {
            if !self.through.contains(name) {
                self.through.push(name.clone());
            }
        }
    }

    /// Builds the columns of bounds, one for each attribute and operator.
    pub fn import(&mut self, collected: FxHashMap<(Name, BinaryOperator), Vec<(u32, Bound)>>) {
        let mut imported: FxHashMap<Name, Vec<Bounds>> = FxHashMap::default();
        for ((attribute, operator), bounds) in collected {
            imported.entry(attribute).or_default().push(self.bounds(operator, bounds));
        }
        self.imported.extend(imported.into_iter().map(|(attribute, bounds)| Imported { attribute, bounds }));
    }

    fn bounds(&mut self, operator: BinaryOperator, bounds: Vec<(u32, Bound)>) -> Bounds {
        let mut offers = FixedBitSet::with_capacity(self.offers.len());
        let mut cells = vec![Cell::Absent; self.offers.len()];
        for (offer, bound) in bounds {
            let offer = offer as usize;
            offers.insert(offer);
            cells[offer] = match bound {
                Bound::Value(value) => Cell::Constant(value),
                Bound::Own(name) => self.column(&name).cell(offer),
            };
        }
        Bounds { operator, offers, column: Column::new(cells) }
    }

    /// Builds the posting lists of the string lists.
    pub fn list(&mut self, items: FxHashMap<Name, Vec<(u32, Text)>>) {
        for (attribute, lists) in items {
            let mut offers = FixedBitSet::with_capacity(self.offers.len());
            let mut by_item: FxHashMap<Text, Vec<u32>> = FxHashMap::default();
            for (offer, list) in lists {
                offers.insert(offer as usize);
                for item in listed_items(&list) {
                    by_item.entry(item).or_default().push(offer);
                }
            }
            self.listed.push(Listed { attribute, offers, by_item });
        }
    }

    /// Adds a residue of these offers' constraints. If it does not depend on the request, it is evaluated now, once
    /// for each class of offers: offers that fail it are removed, and only undecided ones keep the residue.
    pub fn demand(&mut self, expression: Expression, mentions: &Mentions, mut offers: Vec<u32>) {
        let groups = (!mentions.is_opaque()).then(|| self.groups(mentions));
        if let Some(groups) = &groups {
            let groups = groups.borrow();
            let mut settled: FxHashMap<usize, Option<bool>> = FxHashMap::default();
            offers.retain(|offer| {
                let Some(group) = groups.offers.group(*offer as usize) else { return true };
                let ad = &self.offers[*offer as usize];
                let met = settled.entry(group).or_insert_with(|| one_sided::settled(ad, &expression, &self.context));
                if *met == Some(false) {
                    self.willing.set(*offer as usize, false);
                }
                met.is_none()
            });
        }
        if !offers.is_empty() {
            let offers = offers.into_iter().map(|offer| offer as usize).collect();
            self.demands.push((Residue::new(expression, Side::Right, groups), offers));
        }
    }
}

impl Collected {
    /// Adds one clause of an offer. Returns false if only evaluation of the pair can decide it.
    fn add(&mut self, offer: usize, ad: &Ad, part: &Expression, parts: &Parts<'_>, context: &Context) -> bool {
        let condition = Condition::of(part);
        let row = u32::try_from(offer).unwrap_or(u32::MAX);
        if let Some((name, operator, bound)) = bound(ad, condition, context) {
            let own_is_odd = matches!(&bound, Bound::Own(name) if parts.through().any(|through| through == name));
            let bounds = self.bounds.entry((name.clone(), operator)).or_default();
            // A column has one bound for each offer. A second bound on the same attribute with the same operator is
            // rare, and becomes a residue.
            if !own_is_odd && bounds.last().is_none_or(|(last, _)| *last != row) {
                bounds.push((row, bound));
                return true;
            }
        }
        if let Condition::Listed(operand, list) = condition
            && let Some(name) = other(ad, operand)
        {
            let lists = self.items.entry(name.clone()).or_default();
            if lists.last().is_none_or(|(last, _)| *last != row) {
                lists.push((row, list.clone()));
                return true;
            }
        }
        let (number, is_new) = self.distinct.number(part);
        if is_new {
            self.demands.push((part.clone(), Mentions::of(part, context.dialect), Vec::new()));
        }
        let (_, mentions, offers) = &mut self.demands[number];
        if one_sided::is_opaque(parts, mentions) {
            return false;
        }
        if offers.last() != Some(&row) {
            offers.push(row);
        }
        true
    }
}

/// Returns the attribute of the other side that an operand in an ad refers to; `None` for other operands.
fn other<'e>(ad: &Ad, operand: Operand<'e>) -> Option<&'e Name> {
    match operand {
        Operand::Other(name) => Some(name),
        Operand::Free(name) if ad.get(name).is_none() => Some(name),
        _ => None,
    }
}

/// Interprets a clause of an ad as a bound on an attribute of the other side: attribute, operator, bound. `None` for
/// other forms.
fn bound<'e>(ad: &Ad, condition: Condition<'e>, context: &Context) -> Option<(&'e Name, BinaryOperator, Bound)> {
    let Condition::Comparison(operator, left, right) = condition else { return None };
    let own = |operand| match operand {
        Operand::Literal(value) if is_plain(value, context.dialect) => Some(Bound::Value(value.clone())),
        Operand::Own(name) => Some(Bound::Own(name.clone())),
        Operand::Free(name) if ad.get(name).is_some() => Some(Bound::Own(name.clone())),
        _ => None,
    };
    match (other(ad, left), own(right)) {
        (Some(name), Some(bound)) => Some((name, operator, bound)),
        _ => Some((other(ad, right)?, operator.exchanged()?, own(left)?)),
    }
}
