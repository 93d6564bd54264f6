//! The participants of a gang: request and offers as scopes that can be docked and undocked.
//!
//! The request is participant 0, the offer with index `i` is participant `i + 1`. Ads are never modified: docking binds
//! a label on either side, undocking removes the bindings.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use fixedbitset::FixedBitSet;

use crate::ad::{Ad, Dialect, Expression, Frame, Kind, Name, Nested, Participant, Value};
use crate::constraint::{conjuncts, stands_for_an_ad};
use crate::eval::{Binding, Context, Environment, Evaluator, Fallback, Halt, Member, Mentions, Resolution, UNFILLED};
use crate::matching::policy::{Rule, Vector, label};
use crate::protocol::{MOST_PATTERNS, Pattern, PortFault, Protocol, is_met, ports, rank_of};

use super::score::Worth;
use super::symbolic::Form;

/// A port of a participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PortPlace {
    /// The participant.
    pub participant: Participant,
    /// 0-based index of its port.
    pub port: usize,
}

/// A clause of a constraint, and the scope in which it is evaluated.
pub type Part = (Expression, Arc<Frame>);

/// Result of a constraint while some labels may be unbound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The constraint is met.
    Met,
    /// The constraint is not met.
    Refused,
    /// It depends on ports that are not docked yet (thesis 5.3.1).
    Tentative,
}

/// The participants and what is docked at their ports.
pub struct Table {
    pub environment: Environment,
    /// Ports of each participant.
    seats: Vec<Seat>,
    protocol: Protocol,
    pub context: Context,
    /// The docking vector of the policy. Empty if candidates are scored by rank.
    docking: Vec<Rule>,
    /// Whether some offer has other ports than its link.
    offers_have_ports: bool,
    /// Whether some offer may choose which of its ports are filled.
    offers_choose: bool,
    /// Number of constraints and ranks evaluated.
    pub evaluations: u64,
    /// Number of evaluations that exceeded a budget.
    pub failures: u64,
}

/// What is known about a participant's ports.
struct Seat {
    /// Whether its only port is the implicit one.
    implicit: bool,
    /// Clauses of each port's constraint, computed on first use. The inner `None` means no constraint.
    parts: Vec<OnceCell<Option<Rc<[Part]>>>>,
    /// Allowed patterns of filled ports, best first. `None` if all ports are mandatory.
    patterns: Option<Rc<[Pattern]>>,
}

impl Table {
    /// Returns a table of the offers with an empty seat for the request, and the faults of offers whose ports cannot be
    /// used, with their indices. Such offers take part in no gang.
    pub fn new(offers: &[Ad], protocol: Protocol, context: Context) -> (Self, Vec<(usize, PortFault)>) {
        let mut table = Table {
            environment: Environment::meeting(),
            seats: Vec::with_capacity(offers.len() + 1),
            protocol,
            context,
            docking: Vec::new(),
            offers_have_ports: false,
            offers_choose: false,
            evaluations: 0,
            failures: 0,
        };
        let mut bad = Vec::new();
        let seat = std::iter::once(Ad::default());
        for (index, ad) in seat.chain(offers.iter().cloned()).enumerate() {
            let participant = Participant::try_from(index).unwrap_or(Participant::MAX);
            let (member, seat) = seated(&ad, participant).unwrap_or_else(|fault| {
                bad.push((index - 1, fault));
                let nobody = Member::new(Frame::root(Ad::default(), participant), Vec::new());
                (nobody, Seat { implicit: false, parts: Vec::new(), patterns: None })
            });
            table.note(participant, &member, &seat);
            table.environment.join(member);
            table.seats.push(seat);
            table.release(participant);
        }
        (table, bad)
    }

    /// Scores candidates by the docking vector of a policy instead of by rank.
    pub fn follow(&mut self, docking: Vec<Rule>) {
        self.docking = docking;
    }

    /// Returns the protocol, which says which attributes are constraints and ranks.
    pub fn protocol(&self) -> &Protocol {
        &self.protocol
    }

    /// Seats a request as participant 0.
    ///
    /// # Errors
    ///
    /// When its ports cannot be used; the former request stays.
    pub fn seat(&mut self, request: &Ad) -> Result<(), PortFault> {
        self.replace(0, request)
    }

    /// Replaces the ad of a participant.
    ///
    /// # Errors
    ///
    /// When the ports of `ad` cannot be used; the former ad stays.
    pub fn replace(&mut self, participant: Participant, ad: &Ad) -> Result<(), PortFault> {
        let (new, seat) = seated(ad, participant)?;
        self.note(participant, &new, &seat);
        if let Some(member) = self.environment.member_mut(participant) {
            *member = new;
        }
        self.seats[participant as usize] = seat;
        self.release(participant);
        Ok(())
    }

    /// Records whether offers have ports of their own and whether these are optional.
    fn note(&mut self, participant: Participant, member: &Member, seat: &Seat) {
        if participant > 0 {
            self.offers_have_ports |= member.ports.len() > 1;
            self.offers_choose |= seat.patterns.is_some();
        }
    }

    /// Returns the number of offers.
    pub fn offers(&self) -> usize {
        self.seats.len() - 1
    }

    /// Returns the number of ports of a participant.
    pub fn ports(&self, participant: Participant) -> usize {
        self.environment.members().get(participant as usize).map_or(0, |member| member.ports.len())
    }

    /// Returns the allowed patterns of a participant's filled ports, best first. `None` if all ports are mandatory.
    pub fn patterns(&self, participant: Participant) -> Option<&Rc<[Pattern]>> {
        self.seats[participant as usize].patterns.as_ref()
    }

    /// Whether the only port of a participant is the implicit one.
    pub fn is_implicit(&self, participant: Participant) -> bool {
        self.seats[participant as usize].implicit
    }

    /// Returns the label of a port: `other` for an implicit one.
    pub fn label(&self, place: PortPlace) -> String {
        let member = self.environment.members().get(place.participant as usize);
        let binding = member.filter(|_| !self.is_implicit(place.participant)).and_then(|m| m.bindings.get(place.port));
        binding.map_or_else(|| "other".to_owned(), |binding| binding.name.to_string())
    }

    /// Returns the port of a participant with a label. `None` if it has no such port.
    pub fn labelled(&self, participant: Participant, label: &str) -> Option<PortPlace> {
        let member = self.environment.members().get(participant as usize)?;
        let port = if self.is_implicit(participant) {
            label.eq_ignore_ascii_case("other").then_some(0)
        } else {
            member.bindings.iter().position(|binding| binding.name.is(label))
        };
        port.map(|port| PortPlace { participant, port })
    }

    /// Docks two ports: binds the label of each to the ad of the other.
    pub fn dock(&mut self, a: PortPlace, b: PortPlace) {
        self.bind(a, Some((b.participant, b.port)));
        self.bind(b, Some((a.participant, a.port)));
    }

    /// Undocks two ports.
    pub fn undock(&mut self, a: PortPlace, b: PortPlace) {
        self.bind(a, None);
        self.bind(b, None);
    }

    /// Runs `work` with two ports docked, then restores what was docked there before.
    pub fn suppose<T>(&mut self, a: PortPlace, b: PortPlace, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = [a, b].map(|place| (place, self.bound(place)));
        self.dock(a, b);
        let found = work(self);
        for (place, to) in before {
            self.bind(place, to);
        }
        found
    }

    /// Runs `work` with nothing docked at a participant, then restores its docked ports. Ports marked as unfilled stay
    /// so.
    pub fn alone<T>(&mut self, participant: Participant, work: impl FnOnce(&mut Self) -> T) -> T {
        let places = (0..self.ports(participant)).map(|port| PortPlace { participant, port });
        let docked = places.map(|place| (place, self.bound(place)));
        let docked: Vec<_> = docked.filter(|(_, to)| to.is_some_and(|to| to != UNFILLED)).collect();
        for (place, _) in &docked {
            self.bind(*place, None);
        }
        let found = work(self);
        for (place, to) in docked {
            self.bind(place, to);
        }
        found
    }

    /// Returns the participant and port docked at a port. `None` if it is open.
    fn bound(&self, place: PortPlace) -> Option<(Participant, usize)> {
        let member = self.environment.members().get(place.participant as usize)?;
        match member.fallback {
            Fallback::Partner(participant, port) => Some((participant, port)),
            _ => member.bindings.get(place.port)?.to,
        }
    }

    /// Marks the ports of a participant that a pattern does not fill as unfilled.
    pub fn leave(&mut self, participant: Participant, filled: &Pattern) {
        for port in (0..self.ports(participant)).filter(|port| !filled.contains(*port)) {
            self.bind(PortPlace { participant, port }, Some(UNFILLED));
        }
    }

    /// Reopens the ports of a participant that a pattern does not fill.
    pub fn open(&mut self, participant: Participant, filled: &Pattern) {
        for port in (0..self.ports(participant)).filter(|port| !filled.contains(*port)) {
            self.bind(PortPlace { participant, port }, None);
        }
    }

    /// Unbinds an implicit port, whose partner is unknown at first.
    fn release(&mut self, participant: Participant) {
        if self.is_implicit(participant) {
            self.environment.unbind_other(participant);
        }
    }

    /// Binds a port to a partner, or unbinds it.
    fn bind(&mut self, place: PortPlace, to: Option<(Participant, usize)>) {
        if !self.is_implicit(place.participant) {
            let Some(member) = self.environment.member_mut(place.participant) else { return };
            if let Some(binding) = member.bindings.get_mut(place.port) {
                binding.to = to;
            }
        } else if let Some(to) = to {
            self.environment.bind_other(place.participant, to);
        } else {
            self.environment.unbind_other(place.participant);
        }
    }

    /// Whether the evaluation context was interrupted, so that the search should stop.
    pub fn is_interrupted(&self) -> bool {
        self.context.is_interrupted()
    }

    /// Evaluates the constraint of a port against what is docked there.
    pub fn accepts(&mut self, place: PortPlace) -> Verdict {
        let Some(frame) = self.frame(place) else { return Verdict::Refused };
        let Some(name) = self.protocol.constraint(&frame.ad).cloned() else { return Verdict::Refused };
        self.evaluations += 1;
        let value = Evaluator::new(&self.environment, &self.context).attribute(&frame, &name);
        match value {
            Ok(value) if is_met(&value, self.context.dialect) => Verdict::Met,
            Ok(_) => Verdict::Refused,
            Err(Halt::Unknown) => self.could_be_met(&frame, &name),
            Err(_) => {
                self.failures += 1;
                Verdict::Refused
            }
        }
    }

    /// Decides a constraint that depends on unbound labels: a single conjunct that is known not to be met refuses.
    fn could_be_met(&mut self, frame: &Arc<Frame>, name: &Name) -> Verdict {
        let Some(constraint) = frame.ad.get(name) else { return Verdict::Refused };
        for conjunct in conjuncts(constraint) {
            match Evaluator::new(&self.environment, &self.context).evaluate(conjunct, frame) {
                Err(Halt::Unknown) => {}
                Ok(value) if is_met(&value, self.context.dialect) => {}
                Ok(_) => return Verdict::Refused,
                Err(_) => {
                    self.failures += 1;
                    return Verdict::Refused;
                }
            }
        }
        Verdict::Tentative
    }

    /// Returns the clauses of the constraint of a port, all of which must be true, each with its scope. `None` if the
    /// port has no constraint.
    ///
    /// A clause that is an attribute name is replaced by the clauses of that attribute.
    pub fn parts(&self, place: PortPlace) -> Option<Rc<[Part]>> {
        self.seats[place.participant as usize].parts.get(place.port)?.get_or_init(|| self.taken_apart(place)).clone()
    }

    /// Splits the constraint of a port into clauses.
    fn taken_apart(&self, place: PortPlace) -> Option<Rc<[Part]>> {
        let frame = self.frame_of(place)?;
        let constraint = self.protocol.constraint_of(&frame.ad)?;
        let (mut parts, mut followed) = (Vec::new(), 0);
        let (mut next, mut pending) = (Some((constraint.clone(), Arc::clone(frame))), Vec::new());
        while let Some((expression, frame)) = next {
            for part in conjuncts(&expression) {
                match part.bare().kind() {
                    Kind::Attribute(name) if followed < MOST_FOLLOWED => {
                        match self.environment.resolve_own(&frame, name, &self.context) {
                            Resolution::Expression(bound, frame) => {
                                followed += 1;
                                pending.push((bound, frame));
                            }
                            _ => parts.push((part.clone(), Arc::clone(&frame))),
                        }
                    }
                    _ => parts.push((part.clone(), Arc::clone(&frame))),
                }
            }
            next = pending.pop();
        }
        Some(parts.into())
    }

    /// Whether a port has a rank.
    pub fn ranks(&self, place: PortPlace) -> bool {
        self.frame_of(place).is_some_and(|frame| frame.ad.get(self.protocol.rank()).is_some())
    }

    /// Returns the rank of a port as a symbolic value with what is docked now. `None` if it has no rank.
    pub fn rank_form(&self, place: PortPlace) -> Option<Form> {
        let frame = self.frame_of(place)?;
        frame.ad.get(self.protocol.rank()).map(|rank| self.form(rank, frame))
    }

    /// Whether the policy has a docking vector.
    pub fn has_vector(&self) -> bool {
        !self.docking.is_empty()
    }

    /// Returns the docking vector of the policy. Empty if candidates are scored by rank.
    pub fn vector(&self) -> &[Rule] {
        &self.docking
    }

    /// Whether some offer has ports besides its link, which must be filled before it can serve.
    pub fn offers_have_ports(&self) -> bool {
        self.offers_have_ports
    }

    /// Whether some offer may choose which of its ports are filled.
    pub fn offers_choose(&self) -> bool {
        self.offers_choose
    }

    /// Returns the ad of a participant.
    pub fn ad(&self, participant: Participant) -> Ad {
        self.environment.members()[participant as usize].frame.ad.clone()
    }

    /// Returns the offers that have ports besides their link.
    pub fn offers_with_ports(&self) -> Vec<Participant> {
        let members = self.environment.members().iter().skip(1).filter(|member| member.ports.len() > 1);
        members.map(|member| member.frame.participant).collect()
    }

    /// Returns the labels of a participant's ports.
    pub fn labels(&self, participant: Participant) -> Vec<Name> {
        let member = self.environment.members().get(participant as usize);
        member.iter().flat_map(|member| &member.bindings).map(|binding| binding.name.clone()).collect()
    }

    /// Returns the indices of the other ports whose labels are mentioned in the record of a port or in the groups
    /// around it.
    pub fn labels_mentioned(&self, place: PortPlace) -> Vec<usize> {
        let Some(member) = self.environment.members().get(place.participant as usize) else { return Vec::new() };
        let mut mentioned = FixedBitSet::with_capacity(member.bindings.len());
        let mut frame = member.ports.get(place.port);
        while let Some(record) = frame.filter(|frame| frame.enclosing.is_some()) {
            let expressions = record.ad.iter().map(|attribute| attribute.expression);
            for expression in expressions.filter(|expression| !matches!(expression.kind(), Kind::Literal(_))) {
                mention(expression, &member.bindings, self.context.dialect, &mut mentioned);
            }
            frame = record.enclosing.as_ref();
        }
        mentioned.ones().filter(|port| *port != place.port).collect()
    }

    /// Returns the rank that a port gives to what is docked there. 0 if it has none or it is unknown.
    pub fn rank(&mut self, place: PortPlace) -> f64 {
        self.rank_if_known(place).unwrap_or(0.0)
    }

    /// Returns the rank. `None` if it depends on a port that is not docked yet.
    fn rank_if_known(&mut self, place: PortPlace) -> Option<f64> {
        if !self.ranks(place) {
            return Some(0.0);
        }
        let Some(frame) = self.frame(place) else { return Some(0.0) };
        self.evaluations += 1;
        match Evaluator::new(&self.environment, &self.context).attribute(&frame, self.protocol.rank()) {
            // Adding 0.0 turns minus zero into zero, so that both are one rank.
            Ok(value) => Some(rank_of(&value) + 0.0),
            Err(Halt::Unknown) => None,
            Err(_) => {
                self.failures += 1;
                Some(0.0)
            }
        }
    }

    /// Returns the score of the candidate `link` at the port `place`, docking it for the evaluation.
    pub fn worth_of(&mut self, place: PortPlace, link: PortPlace) -> Worth {
        self.suppose(place, link, |table| table.worth(place, link))
    }

    /// Returns the score of a docked candidate (thesis 3.2.4): its docking vector, or the two ranks.
    pub fn worth(&mut self, above: PortPlace, link: PortPlace) -> Worth {
        if self.docking.is_empty() {
            let (Some(rank), Some(offer_rank)) = (self.rank_if_known(above), self.rank_if_known(link)) else {
                return Worth::Unknown;
            };
            return Worth::Ranks(rank, offer_rank);
        }
        let (Some(port), Some(candidate)) = (self.frame(above), self.frame(link)) else { return Worth::Unknown };
        // A scope inside the port's scope, so that no attribute of the port hides the label.
        let bound: Ad = [(label(), Expression::literal(Value::Ad(Nested { frame: candidate })))].into_iter().collect();
        let falls_through = port.falls_through;
        let scope = Arc::new(Frame {
            ad: bound,
            participant: port.participant,
            port: port.port,
            enclosing: Some(port),
            falls_through,
        });
        let mut values = Vec::with_capacity(self.docking.len());
        for rule in &self.docking {
            self.evaluations += 1;
            match Evaluator::new(&self.environment, &self.context).evaluate(&rule.expression, &scope) {
                Ok(value) => values.push(value),
                Err(Halt::Unknown) => return Worth::Unknown,
                Err(_) => {
                    self.failures += 1;
                    values.push(Value::Undefined);
                }
            }
        }
        Worth::Vector(Vector::new(values, self.context.dialect))
    }

    /// Iterates over the scope of a port and its enclosing scopes, innermost first.
    pub fn frames(&self, place: PortPlace) -> impl Iterator<Item = &Frame> {
        std::iter::successors(self.frame_of(place), |frame| frame.enclosing.as_ref()).map(|frame| &**frame)
    }

    /// Returns the expression of an attribute of a port, as seen from the other side. The innermost scope wins.
    pub fn attribute(&self, place: PortPlace, name: &Name) -> Option<&Expression> {
        self.frames(place).find_map(|frame| frame.ad.get(name))
    }

    /// Returns the scope of a port. `None` if there is no such port.
    pub fn frame(&self, place: PortPlace) -> Option<Arc<Frame>> {
        self.frame_of(place).cloned()
    }

    fn frame_of(&self, place: PortPlace) -> Option<&Arc<Frame>> {
        self.environment.members().get(place.participant as usize)?.ports.get(place.port)
    }
}

/// Adds to `mentioned` the ports whose labels an expression mentions.
fn mention(expression: &Expression, bindings: &[Binding], dialect: Dialect, mentioned: &mut FixedBitSet) {
    let mut pending = vec![expression];
    while let Some(part) = pending.pop() {
        match part.kind() {
            Kind::Attribute(name) if !stands_for_an_ad(name) => {
                mentioned.extend(bindings.iter().position(|binding| binding.name == *name));
            }
            // A call, or an ad used as a whole, may read more than it names.
            Kind::Attribute(_) | Kind::RootAttribute(_) | Kind::Call(..) => {
                let mentions = Mentions::of(expression, dialect);
                let is_mentioned = |binding: &Binding| mentions.everything || mentions.names.contains(&binding.name);
                mentioned.extend((0..bindings.len()).filter(|port| is_mentioned(&bindings[*port])));
                return;
            }
            kind => kind.for_each_child(|child| pending.push(child)),
        }
    }
}

/// Maximum number of attribute references that are followed when a constraint is split into clauses.
const MOST_FOLLOWED: usize = 64;

/// Builds the scopes of an ad and its ports, and the description of its ports.
fn seated(ad: &Ad, participant: Participant) -> Result<(Member, Seat), PortFault> {
    let ports = ports(ad)?;
    let frame = Frame::root(ad.clone(), participant);
    let mut member = Member::new(Arc::clone(&frame), Vec::with_capacity(ports.list.len()));
    member.bindings = Vec::with_capacity(ports.list.len());
    let implicit = matches!(ports.list.as_slice(), [port] if port.record.is_none());
    let patterns = if ports.group.is_mandatory() {
        None
    } else {
        let patterns = ports.group.patterns(ports.list.len()).ok_or_else(|| PortFault {
            span: ad.get_str("Ports").map(Expression::span).unwrap_or_default(),
            reason: format!("its groups of ports can be filled in more than {MOST_PATTERNS} ways"),
        })?;
        Some(patterns.into())
    };
    for (position, port) in ports.list.into_iter().enumerate() {
        let since = u32::try_from(position).ok();
        let around = port.groups.into_iter().fold(Arc::clone(&frame), |frame, group| frame.dock(group, since));
        member.ports.push(match port.record {
            Some(record) => around.dock(record, since),
            None => around,
        });
        if !implicit {
            member.bindings.push(Binding { name: port.label, since, to: None });
        }
    }
    let seat = Seat { implicit, parts: vec![OnceCell::new(); member.ports.len()], patterns };
    Ok((member, seat))
}

/// Builds the scopes of an ad and its ports. The boolean says whether its only port is the implicit one.
///
/// # Errors
///
/// When its ports cannot be used.
pub fn member(ad: &Ad, participant: Participant) -> Result<(Member, bool), PortFault> {
    seated(ad, participant).map(|(member, seat)| (member, seat.implicit))
}
