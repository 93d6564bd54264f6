//! The ports of a participant: their scopes, their allowed patterns, and the clauses of their constraints.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::ad::{Ad, Expression, Name, Participant, ScopeFrame};
use crate::eval::{Environment, EnvironmentMember, NameBinding};
use crate::protocol::{MAX_PORT_PATTERNS, PORTS, PortFault, PortPattern, read_ports};

use super::evaluation::ScopedClause;

/// The allowed patterns of filled ports of a participant, and the clauses of the ports' constraints.
#[derive(Default)]
pub struct ParticipantPorts {
    /// Whether the participant has only the implicit port `other`, because its ad has no port list.
    pub is_implicit: bool,
    /// Clauses of each port's constraint, computed on first use. The inner `None` means that the port has no
    /// constraint.
    pub clauses: Vec<OnceCell<Option<Rc<[ScopedClause]>>>>,
    /// Allowed patterns, best first. A pattern is a set of ports that may be filled together. `None` if all ports are
    /// mandatory.
    pub patterns: Option<Rc<[PortPattern]>>,
}

impl ParticipantPorts {
    /// Builds the scopes of an ad and its ports, and the patterns of the ports. Clauses are computed later.
    ///
    /// # Errors
    ///
    /// When the ports of the ad cannot be used.
    pub fn of(ad: &Ad, participant: Participant) -> Result<(EnvironmentMember, Self), PortFault> {
        let ports = read_ports(ad)?;
        let frame = ScopeFrame::root(ad.clone(), participant);
        let mut member = EnvironmentMember::new(Arc::clone(&frame), Vec::with_capacity(ports.list.len()));
        member.bindings.reserve_exact(ports.list.len());
        let is_implicit = matches!(ports.list.as_slice(), [port] if port.record.is_none());
        let patterns = if ports.group.is_mandatory() {
            None
        } else {
            let patterns = ports.group.patterns(ports.list.len()).ok_or_else(|| PortFault {
                span: ad.get(&PORTS).map(Expression::span).unwrap_or_default(),
                reason: format!("the search for ways to fill groups of ports exceeds {MAX_PORT_PATTERNS} combinations"),
            })?;
            Some(patterns.into())
        };
        for (position, port) in ports.list.into_iter().enumerate() {
            let index = u32::try_from(position).ok();
            let enclosing = port.groups.into_iter().fold(Arc::clone(&frame), |frame, group| frame.dock(group, index));
            member.ports.push(match port.record {
                Some(record) => enclosing.dock(record, index),
                None => enclosing,
            });
            if !is_implicit {
                member.bindings.push(NameBinding { name: port.label, first_port: index, to: None });
            }
        }
        let ports = ParticipantPorts { is_implicit, clauses: vec![OnceCell::new(); member.ports.len()], patterns };
        Ok((member, ports))
    }
}

/// Builds the scopes of an ad and its ports.
///
/// # Errors
///
/// When the ports of the ad cannot be used.
pub fn build_member(ad: &Ad, participant: Participant) -> Result<EnvironmentMember, PortFault> {
    ParticipantPorts::of(ad, participant).map(|(member, _)| member)
}

/// An ad at whose ports nothing is docked: what docks there is unknown.
pub struct OpenPorts {
    /// The environment of the ad.
    pub environment: Environment,
    /// The label and the scope of each port, in the order of the port list. Empty if the ad has only the implicit port.
    pub ports: Vec<(Name, Arc<ScopeFrame>)>,
}

impl OpenPorts {
    /// Builds the scopes of the ports of an ad.
    ///
    /// # Errors
    ///
    /// When the ports of the ad cannot be used.
    pub fn of(ad: &Ad) -> Result<Self, PortFault> {
        let member = build_member(ad, Participant::REQUEST)?;
        let labels = member.bindings.iter().map(|binding| binding.name.clone());
        let ports = labels.zip(member.ports.iter().cloned()).collect();
        let mut environment = Environment::for_match();
        environment.add_member(member);
        Ok(OpenPorts { environment, ports })
    }
}
