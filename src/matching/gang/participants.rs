//! The participants of a gang: request and offers as scopes that can be docked and undocked.
//!
//! The request is participant 0, the offer with index `i` is participant `i + 1`. Ads are never modified: docking binds
//! a label on either side, undocking removes the bindings.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use fixedbitset::FixedBitSet;

use crate::ad::{Ad, AdValue, Dialect, Expression, ExpressionKind, Name, Participant, ScopeFrame, Value};
use crate::constraint::{conjuncts, is_scope_name};
use crate::eval::{
    Abort, Context, Environment, EnvironmentMember, Evaluator, FreeNames, NameBinding, NameFallback, NameResolution,
    UNFILLED_PORT,
};
use crate::matching::policy::{PolicyRule, PolicyVector, candidate_label};
use crate::protocol::{MAX_PORT_PATTERNS, PORTS, PortFault, PortPattern, Protocol, is_met, rank_value, read_ports};

use super::score::CandidateScore;
use super::symbolic::SymbolicValue;

/// A port of a participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PortPlace {
    /// The participant.
    pub participant: Participant,
    /// 0-based index of its port.
    pub port: usize,
}

/// A clause of a constraint, and the scope in which it is evaluated.
pub type ScopedClause = (Expression, Arc<ScopeFrame>);

/// Result of a constraint while some labels may be unbound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DockingVerdict {
    /// The constraint is met.
    Met,
    /// The constraint is not met.
    Refused,
    /// It depends on ports that are not docked yet (thesis 5.3.1).
    Tentative,
}

/// The participants and what is docked at their ports.
pub struct ParticipantTable {
    pub environment: Environment,
    /// Ports of each participant.
    port_info: Vec<ParticipantPorts>,
    protocol: Protocol,
    pub context: Context,
    /// The docking vector of the policy. Empty if candidates are scored by rank.
    docking_vector: Vec<PolicyRule>,
    /// Whether some offer has other ports than its link.
    offers_have_ports: bool,
    /// Whether some offer may choose which of its ports are filled.
    offers_have_patterns: bool,
    /// Number of constraints and ranks evaluated.
    pub evaluations: u64,
    /// Number of evaluations that exceeded a budget.
    pub failures: u64,
}

/// What is known about a participant's ports.
struct ParticipantPorts {
    /// Whether its only port is the implicit one.
    implicit: bool,
    /// Clauses of each port's constraint, computed on first use. The inner `None` means no constraint.
    clauses: Vec<OnceCell<Option<Rc<[ScopedClause]>>>>,
    /// Allowed patterns of filled ports, best first. `None` if all ports are mandatory.
    patterns: Option<Rc<[PortPattern]>>,
}

impl ParticipantTable {
    /// Returns a table of the offers with an empty seat for the request, and the faults of offers whose ports cannot be
    /// used, with their indices. Such offers take part in no gang.
    pub fn new(offers: &[Ad], protocol: Protocol, context: Context) -> (Self, Vec<(usize, PortFault)>) {
        let mut table = ParticipantTable {
            environment: Environment::for_match(),
            port_info: Vec::with_capacity(offers.len() + 1),
            protocol,
            context,
            docking_vector: Vec::new(),
            offers_have_ports: false,
            offers_have_patterns: false,
            evaluations: 0,
            failures: 0,
        };
        let mut bad = Vec::new();
        let seat = std::iter::once(Ad::default());
        for (index, ad) in seat.chain(offers.iter().cloned()).enumerate() {
            let participant = Participant::try_from(index).unwrap_or(Participant::MAX);
            let (member, seat) = build_participant(&ad, participant).unwrap_or_else(|fault| {
                bad.push((index - 1, fault));
                let nobody = EnvironmentMember::new(ScopeFrame::root(Ad::default(), participant), Vec::new());
                (nobody, ParticipantPorts { implicit: false, clauses: Vec::new(), patterns: None })
            });
            table.record_port_kinds(participant, &member, &seat);
            table.environment.add_member(member);
            table.port_info.push(seat);
            table.unbind_implicit(participant);
        }
        (table, bad)
    }

    /// Scores candidates by the docking vector of a policy instead of by rank.
    pub fn set_docking_vector(&mut self, docking: Vec<PolicyRule>) {
        self.docking_vector = docking;
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
        let (new, seat) = build_participant(ad, participant)?;
        self.record_port_kinds(participant, &new, &seat);
        if let Some(member) = self.environment.member_mut(participant) {
            *member = new;
        }
        self.port_info[participant as usize] = seat;
        self.unbind_implicit(participant);
        Ok(())
    }

    /// Records whether offers have ports of their own and whether these are optional.
    fn record_port_kinds(&mut self, participant: Participant, member: &EnvironmentMember, seat: &ParticipantPorts) {
        if participant > 0 {
            self.offers_have_ports |= member.ports.len() > 1;
            self.offers_have_patterns |= seat.patterns.is_some();
        }
    }

    /// Returns the number of offers.
    pub fn offer_count(&self) -> usize {
        self.port_info.len() - 1
    }

    /// Returns the number of ports of a participant.
    pub fn port_count(&self, participant: Participant) -> usize {
        self.environment.members().get(participant as usize).map_or(0, |member| member.ports.len())
    }

    /// Returns the allowed patterns of a participant's filled ports, best first. `None` if all ports are mandatory.
    pub fn patterns(&self, participant: Participant) -> Option<&Rc<[PortPattern]>> {
        self.port_info[participant as usize].patterns.as_ref()
    }

    /// Whether the only port of a participant is the implicit one.
    pub fn is_implicit(&self, participant: Participant) -> bool {
        self.port_info[participant as usize].implicit
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
    pub fn with_docked<T>(&mut self, a: PortPlace, b: PortPlace, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = [a, b].map(|place| (place, self.docked_at(place)));
        self.dock(a, b);
        let found = work(self);
        for (place, to) in before {
            self.bind(place, to);
        }
        found
    }

    /// Runs `work` with nothing docked at a participant, then restores its docked ports. Ports marked as unfilled stay
    /// so.
    pub fn with_undocked<T>(&mut self, participant: Participant, work: impl FnOnce(&mut Self) -> T) -> T {
        let places = (0..self.port_count(participant)).map(|port| PortPlace { participant, port });
        let docked = places.map(|place| (place, self.docked_at(place)));
        let docked: Vec<_> = docked.filter(|(_, to)| to.is_some_and(|to| to != UNFILLED_PORT)).collect();
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
    fn docked_at(&self, place: PortPlace) -> Option<(Participant, usize)> {
        let member = self.environment.members().get(place.participant as usize)?;
        match member.fallback {
            NameFallback::Partner(participant, port) => Some((participant, port)),
            _ => member.bindings.get(place.port)?.to,
        }
    }

    /// Marks the ports of a participant that a pattern does not fill as unfilled.
    pub fn mark_unfilled(&mut self, participant: Participant, filled: &PortPattern) {
        for port in (0..self.port_count(participant)).filter(|port| !filled.contains(*port)) {
            self.bind(PortPlace { participant, port }, Some(UNFILLED_PORT));
        }
    }

    /// Reopens the ports of a participant that a pattern does not fill.
    pub fn reopen_unfilled(&mut self, participant: Participant, filled: &PortPattern) {
        for port in (0..self.port_count(participant)).filter(|port| !filled.contains(*port)) {
            self.bind(PortPlace { participant, port }, None);
        }
    }

    /// Unbinds an implicit port, whose partner is unknown at first.
    fn unbind_implicit(&mut self, participant: Participant) {
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
    pub fn accepts(&mut self, place: PortPlace) -> DockingVerdict {
        let Some(frame) = self.frame(place) else { return DockingVerdict::Refused };
        let Some(name) = self.protocol.constraint_name(&frame.ad).cloned() else { return DockingVerdict::Refused };
        self.evaluations += 1;
        let value = Evaluator::new(&self.environment, &self.context).attribute(&frame, &name);
        match value {
            Ok(value) if is_met(&value, self.context.dialect) => DockingVerdict::Met,
            Ok(_) => DockingVerdict::Refused,
            Err(Abort::Unknown) => self.check_conjuncts(&frame, &name),
            Err(_) => {
                self.failures += 1;
                DockingVerdict::Refused
            }
        }
    }

    /// Decides a constraint that depends on unbound labels: a single conjunct that is known not to be met refuses.
    fn check_conjuncts(&mut self, frame: &Arc<ScopeFrame>, name: &Name) -> DockingVerdict {
        let Some(constraint) = frame.ad.get(name) else { return DockingVerdict::Refused };
        for conjunct in conjuncts(constraint) {
            match Evaluator::new(&self.environment, &self.context).evaluate(conjunct, frame) {
                Err(Abort::Unknown) => {}
                Ok(value) if is_met(&value, self.context.dialect) => {}
                Ok(_) => return DockingVerdict::Refused,
                Err(_) => {
                    self.failures += 1;
                    return DockingVerdict::Refused;
                }
            }
        }
        DockingVerdict::Tentative
    }

    /// Returns the clauses of the constraint of a port, all of which must be true, each with its scope. `None` if the
    /// port has no constraint.
    ///
    /// A clause that is an attribute name is replaced by the clauses of that attribute.
    pub fn clauses(&self, place: PortPlace) -> Option<Rc<[ScopedClause]>> {
        self.port_info[place.participant as usize]
            .clauses
            .get(place.port)?
            .get_or_init(|| self.split_constraint(place))
            .clone()
    }

    /// Splits the constraint of a port into clauses.
    fn split_constraint(&self, place: PortPlace) -> Option<Rc<[ScopedClause]>> {
        let frame = self.frame_of(place)?;
        let constraint = self.protocol.constraint_expression(&frame.ad)?;
        let (mut parts, mut followed) = (Vec::new(), 0);
        let (mut next, mut pending) = (Some((constraint.clone(), Arc::clone(frame))), Vec::new());
        while let Some((expression, frame)) = next {
            for part in conjuncts(&expression) {
                match part.without_parentheses().kind() {
                    ExpressionKind::Attribute(name) if followed < MAX_FOLLOWED_ATTRIBUTES => {
                        match self.environment.resolve_own(&frame, name, &self.context) {
                            NameResolution::Expression(bound, frame) => {
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
    pub fn has_rank(&self, place: PortPlace) -> bool {
        self.frame_of(place).is_some_and(|frame| frame.ad.get(self.protocol.rank_name()).is_some())
    }

    /// Returns the rank of a port as a symbolic value with what is docked now. `None` if it has no rank.
    pub fn symbolic_rank(&self, place: PortPlace) -> Option<SymbolicValue> {
        let frame = self.frame_of(place)?;
        frame.ad.get(self.protocol.rank_name()).map(|rank| self.symbolic_value(rank, frame))
    }

    /// Whether the policy has a docking vector.
    pub fn has_docking_vector(&self) -> bool {
        !self.docking_vector.is_empty()
    }

    /// Returns the docking vector of the policy. Empty if candidates are scored by rank.
    pub fn docking_vector(&self) -> &[PolicyRule] {
        &self.docking_vector
    }

    /// Whether some offer has ports besides its link, which must be filled before it can serve.
    pub fn offers_have_ports(&self) -> bool {
        self.offers_have_ports
    }

    /// Whether some offer may choose which of its ports are filled.
    pub fn offers_have_patterns(&self) -> bool {
        self.offers_have_patterns
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
    pub fn mentioned_ports(&self, place: PortPlace) -> Vec<usize> {
        let Some(member) = self.environment.members().get(place.participant as usize) else { return Vec::new() };
        let mut mentioned = FixedBitSet::with_capacity(member.bindings.len());
        let mut frame = member.ports.get(place.port);
        while let Some(record) = frame.filter(|frame| frame.enclosing.is_some()) {
            let expressions = record.ad.iter().map(|attribute| attribute.expression);
            for expression in expressions.filter(|expression| !matches!(expression.kind(), ExpressionKind::Literal(_)))
            {
                add_mentioned_ports(expression, &member.bindings, self.context.dialect, &mut mentioned);
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
        if !self.has_rank(place) {
            return Some(0.0);
        }
        let Some(frame) = self.frame(place) else { return Some(0.0) };
        self.evaluations += 1;
        match Evaluator::new(&self.environment, &self.context).attribute(&frame, self.protocol.rank_name()) {
            // Adding 0.0 turns minus zero into zero, so that both are one rank.
            Ok(value) => Some(rank_value(&value) + 0.0),
            Err(Abort::Unknown) => None,
            Err(_) => {
                self.failures += 1;
                Some(0.0)
            }
        }
    }

    /// Returns the score of the candidate `link` at the port `place`, docking it for the evaluation.
    pub fn candidate_score(&mut self, place: PortPlace, link: PortPlace) -> CandidateScore {
        self.with_docked(place, link, |table| table.docked_score(place, link))
    }

    /// Returns the score of a docked candidate (thesis 3.2.4): its docking vector, or the two ranks.
    pub fn docked_score(&mut self, above: PortPlace, link: PortPlace) -> CandidateScore {
        if self.docking_vector.is_empty() {
            let (Some(rank), Some(offer_rank)) = (self.rank_if_known(above), self.rank_if_known(link)) else {
                return CandidateScore::Unknown;
            };
            return CandidateScore::Ranks(rank, offer_rank);
        }
        let (Some(port), Some(candidate)) = (self.frame(above), self.frame(link)) else {
            return CandidateScore::Unknown;
        };
        // A scope inside the port's scope, so that no attribute of the port hides the label.
        let bound: Ad =
            [(candidate_label(), Expression::literal(Value::Ad(AdValue { frame: candidate })))].into_iter().collect();
        let falls_through = port.falls_through;
        let scope = Arc::new(ScopeFrame {
            ad: bound,
            participant: port.participant,
            port: port.port,
            enclosing: Some(port),
            falls_through,
        });
        let mut values = Vec::with_capacity(self.docking_vector.len());
        for rule in &self.docking_vector {
            self.evaluations += 1;
            match Evaluator::new(&self.environment, &self.context).evaluate(&rule.expression, &scope) {
                Ok(value) => values.push(value),
                Err(Abort::Unknown) => return CandidateScore::Unknown,
                Err(_) => {
                    self.failures += 1;
                    values.push(Value::Undefined);
                }
            }
        }
        CandidateScore::Vector(PolicyVector::new(values, self.context.dialect))
    }

    /// Iterates over the scope of a port and its enclosing scopes, innermost first.
    pub fn frames(&self, place: PortPlace) -> impl Iterator<Item = &ScopeFrame> {
        std::iter::successors(self.frame_of(place), |frame| frame.enclosing.as_ref()).map(|frame| &**frame)
    }

    /// Returns the expression of an attribute of a port, as seen from the other side. The innermost scope wins.
    pub fn attribute(&self, place: PortPlace, name: &Name) -> Option<&Expression> {
        self.frames(place).find_map(|frame| frame.ad.get(name))
    }

    /// Returns the scope of a port. `None` if there is no such port.
    pub fn frame(&self, place: PortPlace) -> Option<Arc<ScopeFrame>> {
        self.frame_of(place).cloned()
    }

    fn frame_of(&self, place: PortPlace) -> Option<&Arc<ScopeFrame>> {
        self.environment.members().get(place.participant as usize)?.ports.get(place.port)
    }
}

/// Adds to `mentioned` the ports whose labels an expression mentions.
fn add_mentioned_ports(
    expression: &Expression,
    bindings: &[NameBinding],
    dialect: Dialect,
    mentioned: &mut FixedBitSet,
) {
    let mut pending = vec![expression];
    while let Some(part) = pending.pop() {
        match part.kind() {
            ExpressionKind::Attribute(name) if !is_scope_name(name) => {
                mentioned.extend(bindings.iter().position(|binding| binding.name == *name));
            }
            // A call, or an ad used as a whole, may read more than it names.
            ExpressionKind::Attribute(_) | ExpressionKind::RootAttribute(_) | ExpressionKind::Call(..) => {
                let mentions = FreeNames::of(expression, dialect);
                let is_mentioned =
                    |binding: &NameBinding| mentions.reads_anything || mentions.names.contains(&binding.name);
                mentioned.extend((0..bindings.len()).filter(|port| is_mentioned(&bindings[*port])));
                return;
            }
            kind => kind.for_each_child(|child| pending.push(child)),
        }
    }
}

/// Maximum number of attribute references that are followed when a constraint is split into clauses.
const MAX_FOLLOWED_ATTRIBUTES: usize = 64;

/// Builds the scopes of an ad and its ports, and the description of its ports.
fn build_participant(ad: &Ad, participant: Participant) -> Result<(EnvironmentMember, ParticipantPorts), PortFault> {
    let ports = read_ports(ad)?;
    let frame = ScopeFrame::root(ad.clone(), participant);
    let mut member = EnvironmentMember::new(Arc::clone(&frame), Vec::with_capacity(ports.list.len()));
    member.bindings = Vec::with_capacity(ports.list.len());
    let implicit = matches!(ports.list.as_slice(), [port] if port.record.is_none());
    let patterns = if ports.group.is_mandatory() {
        None
    } else {
        let patterns = ports.group.patterns(ports.list.len()).ok_or_else(|| PortFault {
            span: ad.get(&PORTS).map(Expression::span).unwrap_or_default(),
            reason: format!("its groups of ports can be filled in more than {MAX_PORT_PATTERNS} ways"),
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
            member.bindings.push(NameBinding { name: port.label, first_port: since, to: None });
        }
    }
    let seat = ParticipantPorts { implicit, clauses: vec![OnceCell::new(); member.ports.len()], patterns };
    Ok((member, seat))
}

/// Builds the scopes of an ad and its ports. The boolean says whether its only port is the implicit one.
///
/// # Errors
///
/// When its ports cannot be used.
pub fn build_member(ad: &Ad, participant: Participant) -> Result<(EnvironmentMember, bool), PortFault> {
    build_participant(ad, participant).map(|(member, seat)| (member, seat.implicit))
}
