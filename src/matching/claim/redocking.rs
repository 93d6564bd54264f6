//! Docks the parties of a match again with their current ads, to see whether the parties still accept each other.

use std::sync::Arc;

use crate::ad::{Ad, Dialect, Expression, Name, Participant, ScopeFrame, Truth, Value};
use crate::eval::{Abort, Context, Environment, EnvironmentMember, Evaluator, NameBinding, UNFILLED_PORT};
use crate::protocol::{PortPattern, Protocol, check_port_list, read_ports};

use super::super::gang;
use super::super::notification::{Docking, MatchKind};
use super::{ClaimState, Veto};

/// The environment in which the current ads of the parties are docked to each other.
pub struct RedockedMatch<'a> {
    environment: Environment,
    protocol: &'a Protocol,
    context: &'a Context,
    bond: MatchKind,
    /// Number of constraints and `AcceptPartial` expressions evaluated.
    pub evaluations: u64,
    /// Number of evaluations that exceeded a budget.
    pub failures: u64,
}

impl<'a> RedockedMatch<'a> {
    /// Docks the present parties: those with a current ad that are not excluded and have not voted ABORT. Also returns
    /// the index of each party whose ports cannot be used, with the reason.
    pub fn new(vote: &ClaimState, protocol: &'a Protocol, context: &'a Context) -> (Self, Vec<(usize, String)>) {
        let bond = vote.notice.kind;
        let environment = Environment::for_match();
        let mut meeting = RedockedMatch { environment, protocol, context, bond, evaluations: 0, failures: 0 };
        let mut faults = Vec::new();
        for (party, ad) in vote.ads.iter().enumerate() {
            let ad = ad.as_ref().filter(|_| vote.is_present(party)).cloned();
            let member = member(ad, party, bond, context.dialect).unwrap_or_else(|reason| {
                faults.push((party, reason));
                empty_member(party)
            });
            meeting.environment.add_member(member);
        }
        for (party, told) in vote.notice.parties.iter().enumerate() {
            // Below a party that is not present, none is.
            if let Some(docking) = told.docking.as_ref().filter(|_| vote.is_present(party)) {
                meeting.dock(party, docking);
            }
        }
        faults.extend(meeting.unsatisfied_ports(vote));
        (meeting, faults)
    }

    fn member_of(&self, party: usize) -> Option<&EnvironmentMember> {
        self.environment.members().get(party)
    }

    /// Returns the index of the port with this label in the party's ad; `None` if the ad has no such port.
    fn port_index(&self, party: usize, label: &str) -> Option<usize> {
        let member = self.member_of(party)?;
        if has_implicit_port(member) {
            return Some(0).filter(|_| label.eq_ignore_ascii_case("other"));
        }
        member.bindings.iter().position(|binding| binding.name.is(label))
    }

    fn dock(&mut self, party: usize, docking: &Docking) {
        let Some(port) = self.port_index(docking.parent, &docking.label) else { return };
        if self.member_of(party).is_none_or(|member| docking.link >= member.ports.len()) {
            return;
        }
        self.bind(docking.parent, port, (Participant::at(party), docking.link));
        self.bind(party, docking.link, (Participant::at(docking.parent), port));
    }

    fn bind(&mut self, party: usize, port: usize, to: (Participant, usize)) {
        let participant = Participant::at(party);
        let Some(member) = self.environment.member_mut(participant) else { return };
        if has_implicit_port(member) {
            self.environment.bind_other(participant, to);
        } else if let Some(binding) = member.bindings.get_mut(port) {
            binding.to = Some(to);
        }
    }

    /// Returns each party whose filled ports do not satisfy its port groups, with the reason. This happens if the ad
    /// changed after the match, for example if the ad got another port.
    fn unsatisfied_ports(&self, vote: &ClaimState) -> Vec<(usize, String)> {
        let mut matched = vec![PortPattern::new(); vote.ads.len()];
        for (party, told) in vote.notice.parties.iter().enumerate() {
            if let Some(docking) = &told.docking {
                // A missing port is not reported here, but by `docking_veto`.
                if self.member_of(party).is_some_and(|member| docking.link < member.ports.len()) {
                    matched[party].grow_and_insert(docking.link);
                }
                if let Some(port) = self.port_index(docking.parent, &docking.label) {
                    matched[docking.parent].grow_and_insert(port);
                }
            }
        }
        let unmatched = |(party, matched): (usize, PortPattern)| {
            let member = self.member_of(party).filter(|member| vote.is_present(party) && !has_implicit_port(member))?;
            let group = read_ports(&member.frame.ad).ok()?.group;
            if group.is_satisfied_by(&matched) {
                return None;
            }
            let ports = member.bindings.iter().enumerate();
            let (filled, empty): (Vec<_>, Vec<_>) = ports.partition(|(port, _)| matched.contains(*port));
            let label = |(_, binding): &(usize, &NameBinding)| format!("`{}`", binding.name);
            let reason = match empty.first() {
                Some(port) if group.is_mandatory() => format!("its port {} has no offer", label(port)),
                _ => {
                    let filled: Vec<String> = filled.iter().map(label).collect();
                    let filled = if filled.is_empty() { "none".to_owned() } else { filled.join(", ") };
                    format!("its groups of ports are not satisfied; filled ports: {filled}")
                }
            };
            Some((party, reason))
        };
        matched.into_iter().enumerate().filter_map(unmatched).collect()
    }

    /// Returns the reason why a party and its parent do not accept each other any more; `None` if they accept each
    /// other.
    pub fn docking_veto(&mut self, vote: &ClaimState, party: usize) -> Option<Veto> {
        let docking = vote.notice.parties[party].docking.as_ref()?;
        let above = &vote.notice.parties[docking.parent].id;
        // If the parent is not present, the party is excluded with it and needs no veto of its own.
        if !vote.is_present(docking.parent) {
            return None;
        }
        let frame = |party: usize, port: usize| self.member_of(party)?.ports.get(port).cloned();
        let port = self.port_index(docking.parent, &docking.label).and_then(|port| frame(docking.parent, port));
        let Some(port) = port else { return Some(Veto::Ports(format!("{above} has no port `{}`", docking.label))) };
        let Some(link) = frame(party, docking.link) else {
            return Some(Veto::Ports(format!("it has no port {}", docking.link + 1)));
        };
        if !self.accepts(&port) {
            return Some(Veto::RejectedByParent(match self.bond {
                MatchKind::Pair => above.clone(),
                MatchKind::Gang => format!("the port `{}` of {above}", docking.label),
            }));
        }
        (!self.accepts(&link)).then(|| Veto::RejectsParent(above.clone()))
    }

    /// Whether an ad accepts that the ports with the labels `aborted` became empty. It does if `aborted` has no labels,
    /// or if `AcceptPartial` of the ad is true.
    pub fn accepts_partial(&mut self, ad: Option<&Ad>, aborted: &[String]) -> bool {
        let name = Name::new("AcceptPartial");
        let Some(ad) = ad.filter(|_| !aborted.is_empty()) else { return true };
        if ad.get(&name).is_none() {
            return false;
        }
        let labels = aborted.iter().map(|label| Expression::literal(Value::string(label.as_str())));
        let labels = Expression::list(labels);
        let (environment, frame) = Environment::single(ad.with(Name::new("aborted"), labels));
        let value = Evaluator::new(&environment, self.context).attribute(&frame, &name);
        self.count_met(value)
    }

    fn accepts(&mut self, frame: &Arc<ScopeFrame>) -> bool {
        let Some(name) = self.protocol.constraint_name(&frame.ad) else { return false };
        let value = Evaluator::new(&self.environment, self.context).attribute(frame, name);
        self.count_met(value)
    }

    /// Counts an evaluation, and returns whether its value is true. An evaluation that exceeded a budget counts as not
    /// true.
    fn count_met(&mut self, value: Result<Value, Abort>) -> bool {
        self.evaluations += 1;
        self.failures += u64::from(value.is_err());
        value.is_ok_and(|value| Truth::of(&value, self.context.dialect).is_true())
    }
}

/// Whether the ad has only the implicit port, at which the partner is called `other`.
fn has_implicit_port(member: &EnvironmentMember) -> bool {
    matches!(member.ports.as_slice(), [port] if port.port.is_none() && Arc::ptr_eq(port, &member.frame))
}

fn empty_member(party: usize) -> EnvironmentMember {
    EnvironmentMember::new(ScopeFrame::root(Ad::default(), Participant::at(party)), Vec::new())
}

/// Creates the member of the environment for the ad of a party. No port is filled yet. In a pair, every ad has only the
/// implicit port. Without an ad, the member has no attributes and no ports.
fn member(ad: Option<Ad>, party: usize, bond: MatchKind, dialect: Dialect) -> Result<EnvironmentMember, String> {
    let Some(ad) = ad else { return Ok(empty_member(party)) };
    if bond == MatchKind::Pair {
        let frame = ScopeFrame::root(ad, Participant::at(party));
        return Ok(EnvironmentMember::new(Arc::clone(&frame), vec![frame]));
    }
    let checked = check_port_list(&ad, dialect);
    let built = checked.and_then(|()| gang::build_member(&ad, Participant::at(party)));
    let mut member = built.map_err(|fault| fault.reason)?;
    for binding in &mut member.bindings {
        binding.to = Some(UNFILLED_PORT);
    }
    Ok(member)
}
