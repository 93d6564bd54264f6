//! The participants of a gang: request and offers as scopes that can be docked and undocked.
//!
//! Ads are never modified. Docking two ports binds the label of each port to the ad of the other port. Undocking
//! removes both bindings. Only [`ParticipantTable`] binds labels. Every docking must be undone:
//!
//! * [`ParticipantTable::with_docked`] and [`ParticipantTable::with_undocked`] restore the former dockings themselves.
//! * [`ParticipantTable::dock`] and [`ParticipantTable::mark_unfilled`] are undone by the caller, with
//!   [`ParticipantTable::undock`] and [`ParticipantTable::reopen_unfilled`].
//! * Nothing is docked between two searches. [`ParticipantTable::replace`] relies on that.

mod evaluation;
mod ports;
mod symbolic;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::ad::{Ad, Expression, Name, Participant, ScopeFrame, Type};
use crate::eval::{Context, Environment, EnvironmentMember, UNFILLED_PORT};
use crate::matching::Statistics;
use crate::matching::policy::PolicyRule;
use crate::protocol::{PortFault, PortPattern, Protocol, check_port_list};

use super::{BadPorts, DockedOffer, Gang};
use ports::ParticipantPorts;

pub use evaluation::{DockingVerdict, ScopedClause};
pub use ports::{OpenPorts, build_member};
pub use symbolic::{
    AttributeTranslation, HashableValue, SymbolicClause, SymbolicEvaluator, SymbolicValue, ValueTest, WindowCondition,
    as_comparison,
};

/// Identifies a port by its participant and its position among the participant's ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PortPlace {
    /// The request or offer that has the port.
    pub participant: Participant,
    /// 0-based index of the port among the participant's ports.
    pub port: usize,
}

impl PortPlace {
    /// Returns the port of the request with the 0-based index `port`.
    pub fn of_request(port: usize) -> Self {
        PortPlace { participant: Participant::REQUEST, port }
    }
}

/// The participants and the current dockings of their ports.
pub struct ParticipantTable {
    environment: Environment,
    /// For each participant, the allowed patterns of filled ports and the clauses of the ports' constraints. Indexed by
    /// [`Participant::position`].
    port_info: Vec<ParticipantPorts>,
    /// The rules that tell which attributes are constraints and ranks.
    pub protocol: Protocol,
    /// The context in which constraints and ranks are evaluated.
    pub context: Context,
    /// The docking vector of the policy. Empty if candidates are scored by rank.
    pub docking_vector: Vec<PolicyRule>,
    /// Whether some offer now has, or once had, several ports. An offer docks with one port, its link. The gang must
    /// fill the other ports, too.
    pub offers_have_ports: bool,
    /// Whether some offer now has, or once had, optional ports. The search must choose which optional ports are filled.
    pub offers_have_patterns: bool,
    /// Counts of work done. The table counts evaluations and failures, its callers count everything else.
    pub statistics: Statistics,
    /// Ports whose ranks have had a value that is not a number and counts as 0, with the type of the first such value.
    pub non_numeric_ranks: IndexMap<PortPlace, Type, FxBuildHasher>,
    /// Number of expressions that were evaluated symbolically, each part counted.
    pub symbolic_visits: Cell<u64>,
}

impl ParticipantTable {
    /// Returns a table of the offers with an empty ad as the request, and the offers whose ports cannot be used. An
    /// offer whose ports cannot be used takes part in no gang.
    pub fn new(offers: &[Ad], protocol: Protocol, context: Context) -> (Self, Vec<BadPorts>) {
        let mut table = ParticipantTable {
            environment: Environment::for_match(),
            port_info: Vec::with_capacity(offers.len() + 1),
            protocol,
            context,
            docking_vector: Vec::new(),
            offers_have_ports: false,
            offers_have_patterns: false,
            statistics: Statistics::default(),
            non_numeric_ranks: IndexMap::default(),
            symbolic_visits: Cell::new(0),
        };
        let mut bad = Vec::new();
        for (position, ad) in std::iter::once(&Ad::default()).chain(offers).enumerate() {
            let participant = Participant::at(position);
            let checked = check_port_list(ad, table.context.dialect);
            let read = checked.and_then(|()| ParticipantPorts::of(ad, participant));
            let (member, ports) = read.unwrap_or_else(|fault| {
                bad.push(BadPorts { index: participant.offer(), fault });
                let empty = EnvironmentMember::new(ScopeFrame::root(Ad::default(), participant), Vec::new());
                (empty, ParticipantPorts::default())
            });
            table.environment.add_member(member);
            table.port_info.push(ports);
            table.note_ports(participant);
        }
        (table, bad)
    }

    /// Replaces the ad of a participant: the request by the next request, or an offer by its remainder.
    ///
    /// # Errors
    ///
    /// When the ports of `ad` cannot be used. The former ad then stays.
    pub fn replace(&mut self, participant: Participant, ad: &Ad) -> Result<(), PortFault> {
        check_port_list(ad, self.context.dialect)?;
        let (new, ports) = ParticipantPorts::of(ad, participant)?;
        if let Some(member) = self.environment.member_mut(participant) {
            *member = new;
        }
        self.port_info[participant.position()] = ports;
        self.note_ports(participant);
        Ok(())
    }

    /// Takes note of the ports of an ad that has just been added.
    fn note_ports(&mut self, participant: Participant) {
        let ports = &self.port_info[participant.position()];
        if !participant.is_request() {
            self.offers_have_ports |= self.port_count(participant) > 1;
            self.offers_have_patterns |= ports.patterns.is_some();
        }
        if self.is_implicit(participant) {
            // Leave the partner at an implicit port unknown, because nothing is docked yet.
            self.environment.unbind_other(participant);
        }
    }

    fn member(&self, participant: Participant) -> &EnvironmentMember {
        &self.environment.members()[participant.position()]
    }

    /// Returns the scopes of all participants with the current dockings.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Returns the number of ports of a participant.
    pub fn port_count(&self, participant: Participant) -> usize {
        self.environment.members().get(participant.position()).map_or(0, |member| member.ports.len())
    }

    /// Iterates over the ports of a participant in the order of its port list.
    pub fn ports(&self, participant: Participant) -> impl Iterator<Item = PortPlace> + Clone + use<> {
        (0..self.port_count(participant)).map(move |port| PortPlace { participant, port })
    }

    /// Iterates over the ports of the request in the order of its port list.
    pub fn request_ports(&self) -> impl Iterator<Item = PortPlace> + Clone + use<> {
        self.ports(Participant::REQUEST)
    }

    /// Returns the allowed patterns of a participant, best first. A pattern is a set of ports that may be filled
    /// together. `None` if all ports are mandatory.
    pub fn patterns(&self, participant: Participant) -> Option<&Rc<[PortPattern]>> {
        self.port_info[participant.position()].patterns.as_ref()
    }

    /// Whether a participant has only the implicit port `other`, because its ad has no port list.
    pub fn is_implicit(&self, participant: Participant) -> bool {
        self.port_info[participant.position()].is_implicit
    }

    /// Returns the labels of a participant's ports. An implicit port has two labels: `other` and `target`.
    pub fn labels(&self, participant: Participant) -> impl Iterator<Item = &Name> {
        self.member(participant).bindings.iter().map(|binding| &binding.name)
    }

    /// Returns the label of a port. The label of an implicit port is `other`.
    pub fn label(&self, place: PortPlace) -> String {
        self.member(place.participant).bindings[place.port].name.to_string()
    }

    /// Returns the number of offers, including used-up offers.
    pub fn offer_count(&self) -> usize {
        self.port_info.len() - 1
    }

    /// Docks two ports: binds the label of each port to the ad of the other port.
    pub fn dock(&mut self, a: PortPlace, b: PortPlace) {
        self.bind(a, Some((b.participant, b.port)));
        self.bind(b, Some((a.participant, a.port)));
    }

    /// Undocks two ports: unbinds their labels, so that both ports are open again.
    pub fn undock(&mut self, a: PortPlace, b: PortPlace) {
        self.bind(a, None);
        self.bind(b, None);
    }

    /// Runs `work` with two ports docked, then restores what was docked at each of them before.
    pub fn with_docked<T>(&mut self, a: PortPlace, b: PortPlace, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = [a, b].map(|place| (place, self.docked_at(place)));
        self.dock(a, b);
        let found = work(self);
        for (place, to) in before {
            self.bind(place, to);
        }
        found
    }

    /// Iterates over the scope of a port and the scopes that enclose it, innermost first.
    pub fn frames(&self, place: PortPlace) -> impl Iterator<Item = &ScopeFrame> {
        std::iter::successors(Some(self.frame(place)), |frame| frame.enclosing.as_ref()).map(|frame| &**frame)
    }

    /// Returns the expression of an attribute that a port shows to its partner. If several scopes have the attribute,
    /// the innermost scope counts.
    pub fn attribute(&self, place: PortPlace, name: &Name) -> Option<&Expression> {
        self.frames(place).find_map(|frame| frame.ad.get(name))
    }

    /// Returns the scope of a port.
    pub fn frame(&self, place: PortPlace) -> &Arc<ScopeFrame> {
        &self.member(place.participant).ports[place.port]
    }

    /// Runs `work` with all ports of a participant open, then restores what was docked and which ports were marked as
    /// unfilled.
    pub fn with_undocked<T>(&mut self, participant: Participant, work: impl FnOnce(&mut Self) -> T) -> T {
        let docked = self.ports(participant).map(|place| (place, self.docked_at(place)));
        let docked: Vec<_> = docked.filter(|(_, to)| to.is_some()).collect();
        for (place, _) in &docked {
            self.bind(*place, None);
        }
        let found = work(self);
        for (place, to) in docked {
            self.bind(place, to);
        }
        found
    }

    /// Returns the participant and the port index docked at a port. `None` if the port is open, [`UNFILLED_PORT`] if it
    /// is marked as unfilled.
    fn docked_at(&self, place: PortPlace) -> Option<(Participant, usize)> {
        self.member(place.participant).bindings[place.port].to
    }

    /// Marks as unfilled those ports of a participant that `filled` does not contain. The labels of these ports are
    /// undefined then.
    pub fn mark_unfilled(&mut self, participant: Participant, filled: &PortPattern) {
        self.bind_others(participant, filled, Some(UNFILLED_PORT));
    }

    /// Reopens those ports of a participant that `filled` does not contain. What their labels refer to is unknown
    /// again.
    pub fn reopen_unfilled(&mut self, participant: Participant, filled: &PortPattern) {
        self.bind_others(participant, filled, None);
    }

    /// Binds the labels of those ports of a participant that `filled` does not contain. The binding `UNFILLED_PORT`
    /// marks the ports as unfilled. The binding `None` reopens the ports.
    fn bind_others(&mut self, participant: Participant, filled: &PortPattern, to: Option<(Participant, usize)>) {
        for place in self.ports(participant).filter(|place| !filled.contains(place.port)) {
            self.bind(place, to);
        }
    }

    /// Binds the label of a port. `to` is the docked participant and the 0-based index of the participant's docked
    /// port. `None` unbinds the label.
    #[inline] // a search docks every candidate to compute its score
    fn bind(&mut self, place: PortPlace, to: Option<(Participant, usize)>) {
        match to {
            _ if !self.is_implicit(place.participant) => {
                let member = self.environment.member_mut(place.participant);
                if let Some(binding) = member.and_then(|member| member.bindings.get_mut(place.port)) {
                    binding.to = to;
                }
            }
            Some(to) => self.environment.bind_other(place.participant, to),
            None => self.environment.unbind_other(place.participant),
        }
    }

    /// Docks a whole gang. Marks all other ports of the docked ads as unfilled. Returns pairs of a filled port and the
    /// link docked there, for [`ParticipantTable::undock_gang`].
    pub fn dock_gang(&mut self, gang: &Gang) -> Vec<(PortPlace, PortPlace)> {
        let mut filled = Vec::new();
        let mut pending: Vec<(Participant, Option<usize>, &[DockedOffer])> =
            vec![(Participant::REQUEST, None, &gang.ports)];
        while let Some((above, link, ports)) = pending.pop() {
            let mut pattern = PortPattern::with_capacity(self.port_count(above));
            pattern.extend(link);
            for docked in ports {
                let Some(port) = self.labels(above).position(|label| label.is(&docked.label)) else { continue };
                let place = PortPlace { participant: above, port };
                let link = PortPlace { participant: Participant::of_offer(docked.offer), port: docked.link };
                pattern.grow_and_insert(place.port);
                filled.push((place, link));
                pending.push((link.participant, Some(link.port), &docked.ports));
            }
            self.mark_unfilled(above, &pattern);
        }
        for (above, link) in &filled {
            self.dock(*above, *link);
        }
        filled
    }

    /// Undocks a gang that [`ParticipantTable::dock_gang`] has docked and reopens the ports marked as unfilled.
    pub fn undock_gang(&mut self, docked: &[(PortPlace, PortPlace)]) {
        let none = PortPattern::new();
        for participant in docked.iter().map(|(_, link)| link.participant).chain([Participant::REQUEST]) {
            self.reopen_unfilled(participant, &none);
        }
    }

    /// Returns the ad of a participant.
    pub fn ad(&self, participant: Participant) -> &Ad {
        &self.member(participant).frame.ad
    }

    /// Returns the offers that have ports besides their link.
    pub fn offers_with_ports(&self) -> impl Iterator<Item = Participant> {
        let members = self.environment.members().iter().skip(1).filter(|member| member.ports.len() > 1);
        members.map(|member| member.frame.participant)
    }
}
