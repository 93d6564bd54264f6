//! Probes the index with a request (thesis 4.5: the query).

use std::rc::Rc;
use std::sync::Arc;

use fixedbitset::FixedBitSet;

use crate::ad::{Ad, BinaryOperator, Expression, Frame, Name, Span, Value};
use crate::constraint::{Condition, Operand, is_plain};
use crate::eval::{Mentions, binary, listed_items};
use crate::pool::{Cell, Column, Rows};
use crate::protocol::{is_met, rank_of};

use super::super::{Candidate, Pair, Side};
use super::one_sided::{is_odd, is_opaque};
use super::ranks::{OfferRanks, Rank};
use super::request::Request;
use super::residue::Residue;
use super::{Bounds, Imported, Index, constant};

/// The result of a probe.
pub struct Answer {
    /// Offers that certainly match, with their ranks.
    pub sure: Vec<Candidate>,
    /// Offers that may match; the caller must evaluate the pair.
    pub unsure: Vec<usize>,
}

/// Evaluates expressions in pairs of one request, which is already in `pair`, and varying offers.
pub struct Meeting<'m> {
    /// The pair.
    pub pair: &'m mut Pair,
    /// The scopes of the offers, by position.
    pub offers: &'m [Arc<Frame>],
    /// Number of expressions evaluated.
    pub evaluations: u64,
}

/// The offers that remain while clauses are applied.
struct Left {
    /// All remaining offers.
    all: FixedBitSet,
    /// Offers with something that only evaluation of the pair can tell. May include offers that no longer remain.
    unsure: FixedBitSet,
}

/// An operand of a request's clause, resolved on the request's side.
enum Asked<'e> {
    /// An attribute of the offers.
    Attribute(&'e Name),
    /// A value of the request, or an open cell.
    Known(Cell),
}

impl Meeting<'_> {
    /// Evaluates an expression of one side after putting an offer into the pair; `None` if a budget is exceeded.
    fn value(&mut self, side: Side, expression: &Expression, offer: usize) -> Option<Value> {
        self.evaluations += 1;
        self.pair.replace(Side::Right, &self.offers[offer]);
        self.pair.value(side, expression).ok()
    }
}

impl Left {
    /// Evaluates a residue for `offers`, or for all remaining offers. Drops the offers for which it is not met, and
    /// marks undecided ones as unsure.
    fn settle(
        &mut self,
        residue: &mut Residue<bool>,
        request: &mut Request<'_>,
        offers: Option<&Rows>,
        met: &mut dyn FnMut(Side, &Expression, usize) -> Option<bool>,
    ) {
        let Left { all, unsure } = self;
        let mut dropped = Vec::new();
        let answer = |offer, met| match met {
            Some(true) => {}
            Some(false) => dropped.push(offer),
            None => unsure.insert(offer),
        };
        match offers {
            Some(offers) => residue.ask(request, offers.within(all), met, answer),
            None => residue.ask(request, all.ones(), met, answer),
        }
        for offer in dropped {
            all.remove(offer);
        }
    }

    /// Drops the offers that are in `asked` but not in `admit`.
    fn keep_admitted(&mut self, admit: &FixedBitSet, asked: &FixedBitSet) {
        let admit = admit.as_slice().iter().zip(asked.as_slice());
        for (left, (admit, asked)) in self.all.as_mut_slice().iter_mut().zip(admit) {
            *left &= admit | !asked;
        }
    }

    /// Drops the offers that are neither selected nor open in the column; open ones become unsure. The open rows are
    /// added to `selected`.
    fn keep(&mut self, selected: &mut FixedBitSet, column: &Column) {
        if column.has_open() {
            selected.union_with(column.open());
            self.unsure.union_with(column.open());
        }
        self.all.intersect_with(selected);
    }
}

impl Index {
    /// Finds the offers that may match a request. The request must already be in the meeting's pair.
    pub fn probe(&mut self, ad: &Ad, meeting: &mut Meeting<'_>) -> Answer {
        let (protocol, context) = (Rc::clone(&self.protocol), Rc::clone(&self.context));
        let Some(constraint) = protocol.constraint(ad) else {
            return Answer { sure: Vec::new(), unsure: Vec::new() };
        };
        if self.willing.is_clear() {
            return Answer { sure: Vec::new(), unsure: Vec::new() };
        }
        if is_odd(ad) {
            return Answer { sure: Vec::new(), unsure: self.willing.ones().collect() };
        }
        let mut request = Request::new(ad, constraint, &protocol, &context);
        let mut left = Left { all: self.willing.clone(), unsure: self.opaque.clone() };
        // All clauses are classified before any is looked up. Their nodes are not in the CPU cache, so that several
        // cache misses overlap.
        let parts = request.parts.parts.iter().map(|part| (part.expression, Condition::of(part.expression)));
        let parts: Vec<(&Expression, Condition<'_>)> = parts.collect();
        let mut wishes = Vec::new();
        for (part, condition) in parts {
            if !self.export(&mut request, condition, &mut left) {
                wishes.push(part);
            } else if left.all.is_clear() {
                break;
            }
        }
        self.look_up_demands(&mut request, &mut left);
        self.ask_demands(&mut request, &mut left, meeting);
        for wish in wishes {
            self.ask_wish(wish, &mut request, &mut left, meeting);
        }
        left.all.union_with(&self.odd);
        left.unsure.union_with(&self.odd);
        self.ranked(&mut request, left, meeting)
    }

    /// Applies a clause of the request to the columns of the offers. Returns false if the clause cannot be looked up.
    fn export(&mut self, request: &mut Request<'_>, condition: Condition<'_>, left: &mut Left) -> bool {
        let dialect = self.context.dialect;
        let mut side = |operand| match operand {
            Operand::Literal(value) if is_plain(value, dialect) => Some(Asked::Known(Cell::Constant(value.clone()))),
            Operand::Literal(_) => None,
            Operand::Own(name) => Some(Asked::Known(request.cell(name))),
            Operand::Free(name) if request.ad.get(name).is_some() => Some(Asked::Known(request.cell(name))),
            Operand::Free(name) | Operand::Other(name) => Some(Asked::Attribute(name)),
        };
        let known = match condition {
            Condition::Comparison(operator, first, second) => match (side(first), side(second)) {
                (Some(Asked::Attribute(name)), Some(Asked::Known(cell))) => {
                    self.compare(name, operator, cell, left);
                    return true;
                }
                (Some(Asked::Known(cell)), Some(Asked::Attribute(name))) => {
                    let Some(operator) = operator.exchanged() else { return false };
                    self.compare(name, operator, cell, left);
                    return true;
                }
                (Some(Asked::Known(first)), Some(Asked::Known(second))) => {
                    let (Some(first), Some(second)) = (constant(first), constant(second)) else { return false };
                    binary(operator, &first, &second, dialect, Span::default())
                }
                _ => return false,
            },
            Condition::Truth(operand) => match side(operand) {
                Some(Asked::Attribute(name)) => {
                    let column = self.column(name);
                    self.scratch.clear();
                    column.select_met(|value| is_met(value, dialect), &mut self.scratch);
                    left.keep(&mut self.scratch, &column);
                    return true;
                }
                Some(Asked::Known(cell)) => match constant(cell) {
                    Some(value) => value,
                    None => return false,
                },
                None => return false,
            },
            Condition::Listed(operand, list) => {
                let Some(Asked::Attribute(name)) = side(operand) else { return false };
                let column = self.column(name);
                self.scratch.clear();
                for item in listed_items(list) {
                    column.select(BinaryOperator::Is, &Value::String(item), dialect, &mut self.scratch);
                }
                left.keep(&mut self.scratch, &column);
                return true;
            }
            Condition::Residue => return false,
        };
        if !is_met(&known, dialect) {
            left.all.clear();
        }
        true
    }

    /// Keeps the offers for which `name operator value` is true, or may be.
    fn compare(&mut self, name: &Name, operator: BinaryOperator, value: Cell, left: &mut Left) {
        let Some(value) = constant(value) else {
            left.unsure.union_with(&left.all);
            return;
        };
        let column = self.column(name);
        self.scratch.clear();
        column.select(operator, &value, self.context.dialect, &mut self.scratch);
        left.keep(&mut self.scratch, &column);
    }

    /// Keeps the offers whose bounds and string lists admit the request.
    fn look_up_demands(&mut self, request: &mut Request<'_>, left: &mut Left) {
        for Imported { attribute, bounds } in &self.imported {
            let value = constant(request.cell(attribute));
            for Bounds { operator, offers, column } in bounds {
                if left.all.is_clear() {
                    return;
                }
                let Some(value) = &value else {
                    left.unsure.union_with(offers);
                    continue;
                };
                // The column holds the bounds, the right operands: the operator is exchanged.
                let Some(operator) = operator.exchanged() else { continue };
                self.scratch.clear();
                column.select(operator, value, self.context.dialect, &mut self.scratch);
                if column.has_open() {
                    self.scratch.union_with(column.open());
                    left.unsure.union_with(column.open());
                }
                left.keep_admitted(&self.scratch, offers);
            }
        }
        for listed in &self.listed {
            let Some(value) = constant(request.cell(&listed.attribute)) else {
                left.unsure.union_with(&listed.offers);
                continue;
            };
            self.scratch.clear();
            if let Value::String(item) = &value
                && let Some(offers) = listed.by_item.get(item)
            {
                self.scratch.extend(offers.iter().map(|offer| *offer as usize));
            }
            left.keep_admitted(&self.scratch, &listed.offers);
        }
    }

    /// Drops the offers with a residue that is not met.
    fn ask_demands(&mut self, request: &mut Request<'_>, left: &mut Left, meeting: &mut Meeting<'_>) {
        let dialect = self.context.dialect;
        for (residue, offers) in &mut self.demands {
            left.settle(residue, request, Some(offers), &mut |side, expression, offer| {
                meeting.value(side, expression, offer).map(|value| is_met(&value, dialect))
            });
        }
    }

    /// Drops the offers for which a residue of the request's constraint is not met.
    fn ask_wish(&mut self, wish: &Expression, request: &mut Request<'_>, left: &mut Left, meeting: &mut Meeting<'_>) {
        let (number, is_new) = self.distinct_wishes.number(wish);
        if is_new {
            let mentions = Mentions::of(wish, self.context.dialect);
            let groups = (!mentions.is_opaque()).then(|| self.groups(&mentions));
            self.wishes.push((mentions, Residue::new(wish.clone(), Side::Left, groups)));
        }
        let (mentions, residue) = &mut self.wishes[number];
        if is_opaque(&request.parts, mentions) {
            left.unsure.union_with(&left.all);
            return;
        }
        let dialect = self.context.dialect;
        left.settle(residue, request, None, &mut |side, expression, offer| {
            meeting.value(side, expression, offer).map(|value| is_met(&value, dialect))
        });
    }

    /// Computes the ranks of the remaining offers. Offers whose ranks are not certain become unsure.
    fn ranked(&mut self, request: &mut Request<'_>, mut left: Left, meeting: &mut Meeting<'_>) -> Answer {
        let rank = self.rank_of_request(request.ad);
        let OfferRanks { ranks, computed, values, opaque } = &mut self.offer_ranks;
        let Left { all, unsure } = &mut left;
        unsure.union_with(opaque);
        unsure.intersect_with(all);
        all.difference_with(unsure);
        let mut evaluate = |side: Side, expression: &Expression, offer: usize| {
            meeting.value(side, expression, offer).map(|value| rank_of(&value) + 0.0)
        };
        match rank {
            Rank::Constant(_) => {}
            Rank::Opaque => unsure.union_with(all),
            Rank::Computed(number) => {
                self.request_ranks.ask(number, request, all.ones(), &mut evaluate, |offer, rank| match rank {
                    Some(rank) => self.ranks_by_request[offer] = rank,
                    None => unsure.insert(offer),
                });
            }
        }
        all.difference_with(unsure);
        for (number, offers) in computed.iter().enumerate() {
            ranks.ask(number, request, offers.within(all), &mut evaluate, |offer, rank| match rank {
                Some(rank) => values[offer] = rank,
                None => unsure.insert(offer),
            });
        }
        all.difference_with(unsure);
        let of_request = |offer: usize| match rank {
            Rank::Constant(rank) => rank,
            _ => self.ranks_by_request[offer],
        };
        let mut sure = Vec::with_capacity(all.count_ones(..));
        sure.extend(all.ones().map(|offer| Candidate {
            offer,
            request_rank: of_request(offer),
            offer_rank: values[offer],
        }));
        Answer { sure, unsure: unsure.ones().collect() }
    }
}
