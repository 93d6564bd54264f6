//! What keeps each offer from a port: the parts of the port's constraint that it does not meet, and what it wants
//! itself.

use std::sync::Arc;

use crate::ad::{Ad, BinaryOperator, Dialect, Expression, Frame, Group, Kind, Name, Participant, Value};
use crate::eval::Evaluator;

use super::failed_conditions::Condition;
use super::failure::Impasse;
use super::matcher::{GangFault, Gangmatcher, participant};
use super::participants::{PortPlace, Table, Verdict};
use super::port_index::Rows;

/// What keeps each offer that is left from a port of a request.
#[derive(Clone, Debug)]
pub struct Obstacles {
    /// The parts of the constraint of the port; nothing if it has none, so that nobody docks there.
    pub parts: Vec<Part>,
    /// The offers that do not dock, each as the port of it that comes nearest.
    pub offers: Vec<Hindered>,
}

/// A part of the constraint of a port.
#[derive(Clone, Debug)]
pub struct Part {
    /// The part.
    pub expression: Expression,
    /// The comparison that it is of something of the candidate with what is known without it.
    pub asked: Option<Bound>,
    /// The attributes of the candidate that it mentions.
    pub theirs: Vec<Name>,
}

/// `what operator value`
#[derive(Clone, Debug)]
pub struct Bound {
    /// What is compared.
    pub what: Expression,
    /// How.
    pub operator: BinaryOperator,
    /// With what.
    pub value: Value,
    /// Where the request has that as a literal.
    pub written: Option<Written>,
    /// Whether the value is written on the left.
    pub is_exchanged: bool,
}

/// A literal of the request.
#[derive(Clone, Debug)]
pub struct Written {
    /// The attribute that it is bound to, unless it stands in the comparison itself.
    pub name: Option<Name>,
    /// The literal.
    pub literal: Expression,
}

/// An offer that does not dock.
#[derive(Clone, Debug)]
pub struct Hindered {
    /// Which one.
    pub offer: usize,
    /// The parts that it does not meet, as the bits of a mask.
    pub failing: u128,
    /// Of those of these parts that compare, what it has there.
    pub has: Vec<(usize, Value)>,
    /// What it wants itself and does not get, if that is so.
    pub wish: Option<Wish>,
}

/// What an offer wants of the request.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The part of its constraint; none if it has no constraint.
    pub part: Option<Expression>,
    /// The comparison that this is of a literal of the request with a value of the offer.
    pub asked: Option<Bound>,
}

/// What becomes of an offer at a port at which nothing else is docked.
#[derive(Clone, Debug)]
pub struct Meeting {
    /// The label of the port.
    pub label: String,
    /// What keeps the offer from it; nothing if it docks there by itself.
    pub condition: Option<Condition>,
}

/// So many parts are told apart.
const MOST_PARTS: usize = u128::BITS as usize;

impl Gangmatcher {
    /// What keeps each offer that is left from a port of a request: with nothing docked if no offer could have the port
    /// alone, else as the deepest gang is docked, and of those that could have it alone.
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

    /// What becomes of an offer at each port of a request.
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
                    // One of its ports that refuses is nearer than one that is not wanted.
                    if condition.as_ref().is_none_or(|known| known.of_request && !found.of_request) {
                        condition = Some(found);
                    }
                }
                Meeting { label: matcher.table.label(place), condition }
            };
            Ok(places.collect::<Vec<_>>().into_iter().map(meet).collect())
        })
    }

    /// The names of all attributes that offers show to whoever docks there.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.links.names(&self.table).iter()
    }

    /// How many offers show an attribute of this name.
    #[must_use]
    pub fn showing(&self, name: &Name) -> usize {
        self.links.showing(name, &self.table)
    }

    /// The dialect in which constraints are evaluated.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.table.context.dialect
    }

    /// How many offers are left.
    #[must_use]
    pub fn left(&self) -> usize {
        (1..=self.table.offers()).filter(|offer| self.is_left(*offer)).count()
    }

    fn is_left(&self, offer: usize) -> bool {
        let mut rows = self.links.rows_of(participant(offer - 1));
        rows.any(|row| self.links.unused().contains(row))
    }

    /// A matchmaker of the offers that are left and another one like this; and which of these each of its offers is.
    #[must_use]
    pub fn with_another(&self, offer: usize) -> (Gangmatcher, Vec<usize>) {
        let left = (1..=self.table.offers()).filter(|offer| self.is_left(*offer)).map(|offer| offer - 1);
        let of: Vec<usize> = left.chain([offer]).collect();
        let ads: Vec<Ad> = of.iter().map(|offer| self.table.ad(participant(*offer))).collect();
        let (matcher, _) = Gangmatcher::new(&ads, self.table.protocol().clone(), self.table.context.clone());
        (matcher.docking(self.table.vector().to_vec()), of)
    }

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
    /// A part of the constraint of a port at which nothing is docked.
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

    /// The comparison of something unknown with something known that a part is while nothing is docked.
    fn bound_of_part(&self, part: &Expression, frame: &Arc<Frame>) -> Option<Bound> {
        let (operator, left, right) = comparison(part)?;
        let (operator, what, known, value, is_exchanged) = match (self.known(left, frame), self.known(right, frame)) {
            (None, Some(value)) => (operator, left, right, value, false),
            (Some(value), None) => (operator.exchanged()?, right, left, value, true),
            _ => return None,
        };
        Some(Bound { what: what.clone(), operator, value, written: self.written(known, frame), is_exchanged })
    }

    /// What an expression is, if that does not depend on ports at which nothing is docked.
    fn known(&self, expression: &Expression, frame: &Arc<Frame>) -> Option<Value> {
        Evaluator::new(&self.environment, &self.context).evaluate(expression, frame).ok()
    }

    /// The literal of the request that an expression stands for.
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

    /// Why a candidate does not dock that is docked.
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

    /// What a candidate wants that refuses.
    fn wish(&self, link: PortPlace) -> Wish {
        let parts = self.parts(link);
        let parts = parts.as_deref().unwrap_or_default();
        let refusing = parts.iter().find(|(part, frame)| self.refuses(part, frame)).or_else(|| parts.first());
        let asked = refusing.and_then(|(part, frame)| self.bound_of_wish(part, frame));
        Wish { part: refusing.map(|(part, _)| part.clone()), asked }
    }

    /// The comparison of a literal of the request with a value of the offer that a part of the offer's constraint is.
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

/// The sides of a comparison.
fn comparison(part: &Expression) -> Option<(BinaryOperator, &Expression, &Expression)> {
    match part.bare().kind() {
        Kind::Binary(operator, left, right) if matches!(operator.group(), Group::Comparison | Group::Identity) => {
            Some((*operator, left, right))
        }
        _ => None,
    }
}
