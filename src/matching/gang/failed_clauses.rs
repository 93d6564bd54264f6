//! Failed clauses: for each offer rejected at a port, the clauses of the port's constraint that it fails and the clause
//! of its own constraint that the request fails.

use std::sync::Arc;

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, Frame, Group, Kind, Name, Participant, Value};
use crate::eval::Evaluator;

use super::failed_conditions::Condition;
use super::failure::Impasse;
use super::matcher::{GangFault, Gangmatcher, participant};
use super::participants::{PortPlace, Table, Verdict};
use super::port_index::Rows;

/// For a port of a request, why each unused offer is rejected.
#[derive(Clone, Debug)]
pub struct Obstacles {
    /// Clauses of the port's constraint. Empty if the port has no constraint and therefore accepts nobody.
    pub parts: Vec<Part>,
    /// The rejected offers. An offer with several ports is described by the one that fails the fewest clauses.
    pub offers: Vec<Hindered>,
}

/// A clause of the constraint of a port.
#[derive(Clone, Debug)]
pub struct Part {
    /// The clause.
    pub expression: Expression,
    /// The comparison, if the clause compares a value of the candidate with a value known without it.
    pub asked: Option<Bound>,
    /// Attributes of the candidate that the clause mentions.
    pub theirs: Vec<Name>,
}

/// A comparison of an operand with a value.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The operand that is not fixed: of the candidate in a clause of the port, of the request in a demand.
    pub what: Expression,
    /// The operator, with the operand on the left and the value on the right.
    pub operator: BinaryOperator,
    /// The value that the operand is compared with.
    pub value: Value,
    /// The literal of the request to change. `None` if the comparison has none.
    pub written: Option<Written>,
    /// Whether the source has the value on the left.
    pub is_exchanged: bool,
}

/// A literal in a request.
#[derive(Clone, Debug)]
pub struct Written {
    /// Attribute bound to the literal. `None` if the literal stands in the comparison itself.
    pub name: Option<Name>,
    /// The literal.
    pub literal: Expression,
}

/// An offer that is rejected at a port.
#[derive(Clone, Debug)]
pub struct Hindered {
    /// 0-based index of the offer.
    pub offer: usize,
    /// Mask of the failed clauses. Bit `i` stands for clause `i` of the port.
    pub failing: u128,
    /// Actual values of the offer in failed comparisons, each with the index of the clause.
    pub has: Vec<(usize, Value)>,
    /// The offer's own demand that the request fails. `None` if it fails none.
    pub wish: Option<Wish>,
}

/// A demand of an offer on the request.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The clause of the offer's constraint. `None` if it has no constraint.
    pub part: Option<Expression>,
    /// The comparison, if the clause compares a literal of the request with a value of the offer.
    pub asked: Option<Bound>,
}

/// Result of docking one offer at one port with nothing else docked.
#[derive(Clone, Debug)]
pub struct Meeting {
    /// Label of the port.
    pub label: String,
    /// The condition that rejects the offer. `None` if it docks.
    pub condition: Option<Condition>,
}

/// Maximum number of clauses per constraint that are told apart: the bits of a mask. Further ones are ignored.
const MOST_PARTS: usize = u128::BITS as usize;

impl Gangmatcher {
    /// Returns why each unused offer is rejected at a port of a request.
    ///
    /// If no offer fits the port by itself, nothing else is docked and all unused offers are listed. Otherwise the
    /// deepest gang of `impasse` is docked, and only offers that fit the port by themselves are listed. `impasse` must
    /// be that of `request`.
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used.
    pub fn obstacles(&mut self, request: &Ad, impasse: &Impasse, port: usize) -> Result<Obstacles, GangFault> {
        self.aside(|matcher| {
            matcher.seat(request)?;
            let place = PortPlace { participant: 0, port };
            if impasse.ports[port].alone == 0 {
                let rows = matcher.links.unused().clone();
                return Ok(matcher.obstacles_at(place, &rows, &[]));
            }
            let mut alone = matcher.alone();
            let docked = matcher.table.assemble(&impasse.deepest);
            let first = impasse.stuck.first().map_or(0, |stuck| stuck.port);
            matcher.table.open(0, &(0..first).collect());
            let held: Vec<Participant> =
                impasse.deepest.members().iter().map(|docked| participant(docked.offer)).collect();
            let found = matcher.obstacles_at(place, &alone.swap_remove(port), &held);
            matcher.table.disband(&docked);
            Ok(found)
        })
    }

    /// Docks an offer at each port of a request in turn, with nothing else docked.
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used.
    pub fn meetings(&mut self, request: &Ad, offer: usize) -> Result<Vec<Meeting>, GangFault> {
        self.aside(|matcher| {
            matcher.seat(request)?;
            let links: Vec<PortPlace> =
                matcher.links.rows_of(participant(offer)).map(|row| matcher.links.place(row)).collect();
            let places = (0..matcher.table.ports(0)).map(|port| PortPlace { participant: 0, port });
            let meet = |place: PortPlace| {
                let mut condition: Option<Condition> = None;
                for link in &links {
                    let found = matcher.table.suppose(place, *link, |table| table.keeping(place, *link));
                    let Some(found) = found else {
                        return Meeting { label: matcher.table.label(place), condition: None };
                    };
                    // Report the port that the request accepts rather than one that the request rejects: it is closer
                    // to docking.
                    if condition.as_ref().is_none_or(|known| known.of_request && !found.of_request) {
                        condition = Some(found);
                    }
                }
                Meeting { label: matcher.table.label(place), condition }
            };
            Ok(places.collect::<Vec<_>>().into_iter().map(meet).collect())
        })
    }

    /// Iterates over the names of all attributes that offers show at their ports.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.links.names(&self.table).iter()
    }

    /// Returns the number of offers that show an attribute of this name.
    #[must_use]
    pub fn showing(&self, name: &Name) -> usize {
        self.links.showing(name, &self.table)
    }

    /// Returns the dialect in which constraints are evaluated.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.table.context.dialect
    }

    /// Returns the number of unused offers. O(n) in the number of ports of all offers.
    #[must_use]
    pub fn left(&self) -> usize {
        (1..=self.table.offers()).filter(|offer| self.is_left(*offer)).count()
    }

    /// Whether an offer is unused. `offer` is its 1-based number.
    fn is_left(&self, offer: usize) -> bool {
        let mut rows = self.links.rows_of(participant(offer - 1));
        rows.any(|row| self.links.unused().contains(row))
    }

    /// Returns a new matchmaker of the unused offers and a second copy of `offer`, and the index that each of its
    /// offers has in this one.
    #[must_use]
    pub fn with_another(&self, offer: usize) -> (Gangmatcher, Vec<usize>) {
        let left = (1..=self.table.offers()).filter(|offer| self.is_left(*offer)).map(|offer| offer - 1);
        let of: Vec<usize> = left.chain([offer]).collect();
        let ads: Vec<Ad> = of.iter().map(|offer| self.table.ad(participant(*offer))).collect();
        let (matcher, _) = Gangmatcher::new(&ads, self.table.protocol().clone(), self.table.context.clone());
        (matcher.docking(self.table.vector().to_vec()), of)
    }

    /// Returns why the offers of `rows` are rejected at a port, leaving out the offers in `held`.
    fn obstacles_at(&mut self, place: PortPlace, rows: &Rows, held: &[Participant]) -> Obstacles {
        let parts = self.table.parts(place);
        let parts = parts.as_deref().unwrap_or_default();
        let parts = &parts[..parts.len().min(MOST_PARTS)];
        let told: Vec<Part> = parts.iter().map(|(part, frame)| self.table.part(part, frame, place)).collect();
        let mut offers: Vec<(Participant, Hindered)> = Vec::new();
        for link in rows.ones().map(|row| self.links.place(row)).filter(|link| !held.contains(&link.participant)) {
            let found = self.table.suppose(place, link, |table| table.hindered(parts, &told, link));
            match offers.last_mut() {
                Some((offer, known)) if *offer == link.participant => {
                    let nearness = |of: &Hindered| (of.failing.count_ones(), of.wish.is_some());
                    if nearness(&found) < nearness(known) {
                        *known = found;
                    }
                }
                _ => offers.push((link.participant, found)),
            }
        }
        let offers = offers.into_iter().map(|(_, offer)| offer);
        let is_hindered = |offer: &Hindered| offer.failing != 0 || offer.wish.is_some();
        Obstacles { offers: offers.filter(is_hindered).collect(), parts: told }
    }
}

impl Table {
    /// Describes a clause of the constraint of a port at which nothing is docked.
    fn part(&self, part: &Expression, frame: &Arc<Frame>, place: PortPlace) -> Part {
        let label = Name::new(&self.label(place));
        let mut theirs = Vec::new();
        let mut pending = vec![part];
        while let Some(expression) = pending.pop() {
            if let Kind::Select(base, name) = expression.kind()
                && matches!(base.bare().kind(), Kind::Attribute(of) if *of == label)
            {
                theirs.push(name.clone());
            }
            expression.kind().for_each_child(|child| pending.push(child));
        }
        Part { expression: part.clone(), asked: self.bound_of_part(part, frame), theirs }
    }

    /// Returns a clause as a comparison of an unknown operand with a known one, with nothing docked. `None` if it is
    /// none.
    fn bound_of_part(&self, part: &Expression, frame: &Arc<Frame>) -> Option<Bound> {
        let (operator, left, right) = comparison(part)?;
        let (operator, what, known, value, is_exchanged) = match (self.known(left, frame), self.known(right, frame)) {
            (None, Some(value)) => (operator, left, right, value, false),
            (Some(value), None) => (operator.exchanged()?, right, left, value, true),
            _ => return None,
        };
        Some(Bound { what: what.clone(), operator, value, written: self.written(known, frame), is_exchanged })
    }

    /// Returns the value of an expression. `None` if it depends on ports at which nothing is docked.
    fn known(&self, expression: &Expression, frame: &Arc<Frame>) -> Option<Value> {
        Evaluator::new(&self.environment, &self.context).evaluate(expression, frame).ok()
    }

    /// Returns the literal of the request that an expression is or names. `None` if it is no such literal.
    fn written(&self, expression: &Expression, frame: &Arc<Frame>) -> Option<Written> {
        let expression = expression.bare();
        let is_literal = |of: &Expression| matches!(of.kind(), Kind::Literal(_));
        if is_literal(expression) {
            return (frame.participant == 0).then(|| Written { name: None, literal: expression.clone() });
        }
        let (Kind::Attribute(name) | Kind::Select(_, name)) = expression.kind() else { return None };
        let (bound, found) = self.bound_by(expression, frame)?;
        let bound = bound.bare();
        let is_own = found.participant == 0 && is_literal(bound);
        is_own.then(|| Written { name: Some(name.clone()), literal: bound.clone() })
    }

    /// Describes why a docked candidate is rejected.
    fn hindered(&mut self, parts: &[(Expression, Arc<Frame>)], told: &[Part], link: PortPlace) -> Hindered {
        let (mut failing, mut has) = (0, Vec::new());
        for (position, ((part, frame), told)) in parts.iter().zip(told).enumerate() {
            if self.refuses(part, frame) {
                failing |= 1 << position;
                let value = told.asked.as_ref().and_then(|asked| self.known(&asked.what, frame));
                has.extend(value.map(|value| (position, value)));
            }
        }
        let is_refused = self.accepts(link) == Verdict::Refused;
        let wish = is_refused.then(|| self.wish(link));
        Hindered { offer: link.participant as usize - 1, failing, has, wish }
    }

    /// Returns the demand by which a docked candidate rejects.
    fn wish(&self, link: PortPlace) -> Wish {
        let parts = self.parts(link);
        let parts = parts.as_deref().unwrap_or_default();
        let refusing = parts.iter().find(|(part, frame)| self.refuses(part, frame)).or_else(|| parts.first());
        let asked = refusing.and_then(|(part, frame)| self.bound_of_wish(part, frame));
        Wish { part: refusing.map(|(part, _)| part.clone()), asked }
    }

    /// Returns a clause of an offer's constraint as a comparison of a literal of the request with a value. `None` if it
    /// is none.
    fn bound_of_wish(&self, part: &Expression, frame: &Arc<Frame>) -> Option<Bound> {
        let (operator, left, right) = comparison(part)?;
        let bound = |operator, what: &Expression, value, is_exchanged| {
            let written = self.written(what, frame)?;
            let value = self.known(value, frame)?;
            Some(Bound { what: what.clone(), operator, value, written: Some(written), is_exchanged })
        };
        bound(operator, left, right, false).or_else(|| bound(operator.exchanged()?, right, left, true))
    }
}

/// Returns operator and operands of a comparison. `None` for any other expression.
fn comparison(part: &Expression) -> Option<(BinaryOperator, &Expression, &Expression)> {
    match part.bare().kind() {
        Kind::Binary(operator, left, right) if matches!(operator.group(), Group::Comparison | Group::Identity) => {
            Some((*operator, left, right))
        }
        _ => None,
    }
}
