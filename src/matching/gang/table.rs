//! The ads that may meet in a gang, as scopes that can be docked and undocked.
//!
//! The request is participant 0, each offer the one after its index.  Nothing is ever written into an
//! ad: docking binds a label on either side, undocking forgets it.

use std::sync::Arc;

use crate::ad::{Ad, Frame, Participant};
use crate::constraint::{PortFault, Protocol, conjuncts, is_met, ports, rank_of};
use crate::eval::{Binding, Context, Environment, Evaluator, Halt, Member};

/// A port of a participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortPlace {
    pub participant: Participant,
    pub port: usize,
}

/// What is known of a constraint while some labels are not docked yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Met,
    Refused,
    /// It may still be met, depending on ports that are not docked (thesis §5.3.1).
    Tentative,
}

/// The participants, and what is docked where.
pub struct Table {
    environment: Environment,
    /// The labels of each participant's ports; one implicit port has none.
    implicit: Vec<bool>,
    protocol: Protocol,
    context: Context,
    /// Constraints and ranks evaluated.
    pub evaluations: u64,
    /// Evaluations that exceeded a budget.
    pub failures: u64,
}

impl Table {
    /// The offers, and an empty seat for the request.  Offers whose ports cannot be used take part in
    /// no gang and are reported.
    pub fn new(offers: &[Ad], protocol: Protocol, context: Context) -> (Self, Vec<(usize, PortFault)>) {
        let mut table = Table {
            environment: Environment::meeting(),
            implicit: Vec::with_capacity(offers.len() + 1),
            protocol,
            context,
            evaluations: 0,
            failures: 0,
        };
        let mut bad = Vec::new();
        let seat = std::iter::once(Ad::default());
        for (index, ad) in seat.chain(offers.iter().cloned()).enumerate() {
            let participant = Participant::try_from(index).unwrap_or(Participant::MAX);
            match member(&ad, participant) {
                Ok((member, implicit)) => {
                    table.environment.join(member);
                    table.implicit.push(implicit);
                }
                Err(fault) => {
                    bad.push((index - 1, fault));
                    table.environment.join(Member::new(Frame::root(Ad::default(), participant), Vec::new()));
                    table.implicit.push(false);
                }
            }
        }
        (table, bad)
    }

    /// Seats a request.
    pub fn seat(&mut self, request: &Ad) -> Result<(), PortFault> {
        let (new, implicit) = member(request, 0)?;
        if let Some(seat) = self.environment.member_mut(0) {
            *seat = new;
        }
        self.implicit[0] = implicit;
        Ok(())
    }

    /// How many offers there are.
    pub fn offers(&self) -> usize {
        self.implicit.len() - 1
    }

    /// How many ports a participant has.
    pub fn ports(&self, participant: Participant) -> usize {
        self.environment.members().get(participant as usize).map_or(0, |member| member.ports.len())
    }

    /// The label of a port.
    pub fn label(&self, place: PortPlace) -> String {
        let member = self.environment.members().get(place.participant as usize);
        member.and_then(|m| m.bindings.get(place.port)).map_or_else(|| "other".to_owned(), |b| b.name.to_string())
    }

    /// Binds the labels of two ports to each other's ads.
    pub fn dock(&mut self, a: PortPlace, b: PortPlace) {
        self.bind(a, Some((b.participant, b.port)));
        self.bind(b, Some((a.participant, a.port)));
    }

    /// Forgets what is docked at a port.
    pub fn undock(&mut self, a: PortPlace, b: PortPlace) {
        self.bind(a, None);
        self.bind(b, None);
    }

    fn bind(&mut self, place: PortPlace, to: Option<(Participant, usize)>) {
        let implicit = self.implicit[place.participant as usize];
        match to {
            Some(to) if implicit => self.environment.bind_other(place.participant, to),
            _ => {
                let Some(member) = self.environment.member_mut(place.participant) else { return };
                if implicit {
                    member.bindings.clear();
                    member.fallback = None;
                } else if let Some(binding) = member.bindings.get_mut(place.port) {
                    binding.to = to;
                }
            }
        }
    }

    /// Whether two docked ports accept each other, as far as it is known.
    pub fn accept_each_other(&mut self, a: PortPlace, b: PortPlace) -> Verdict {
        match self.accepts(a) {
            Verdict::Refused => Verdict::Refused,
            Verdict::Met => self.accepts(b),
            Verdict::Tentative => match self.accepts(b) {
                Verdict::Refused => Verdict::Refused,
                _ => Verdict::Tentative,
            },
        }
    }

    /// Whether the constraint of a port is met by what is docked there.
    fn accepts(&mut self, place: PortPlace) -> Verdict {
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

    /// A constraint that depends on labels not docked yet is refused all the same when one of its
    /// conjuncts does not, and is not met.
    fn could_be_met(&mut self, frame: &Arc<Frame>, name: &crate::ad::Name) -> Verdict {
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

    /// How a port ranks what is docked there.
    pub fn rank(&mut self, place: PortPlace) -> f64 {
        let Some(frame) = self.frame(place) else { return 0.0 };
        self.evaluations += 1;
        let value = Evaluator::new(&self.environment, &self.context).attribute(&frame, self.protocol.rank());
        self.failures += u64::from(value.is_err());
        // Zero and minus zero are one rank.
        value.map_or(0.0, |value| rank_of(&value)) + 0.0
    }

    fn frame(&self, place: PortPlace) -> Option<Arc<Frame>> {
        self.environment.members().get(place.participant as usize)?.ports.get(place.port).cloned()
    }
}

/// An ad and its ports as scopes; whether its one port is the implicit one.
pub fn member(ad: &Ad, participant: Participant) -> Result<(Member, bool), PortFault> {
    let list = ports(ad)?;
    let frame = Frame::root(ad.clone(), participant);
    let mut member = Member::new(Arc::clone(&frame), Vec::with_capacity(list.len()));
    let implicit = matches!(list.as_slice(), [port] if port.record.is_none());
    for (position, port) in list.into_iter().enumerate() {
        let since = u32::try_from(position).ok();
        member.ports.push(match port.record {
            Some(record) => frame.dock(record, since),
            None => Arc::clone(&frame),
        });
        if !implicit {
            member.bindings.push(Binding { name: port.label, since, to: None });
        }
    }
    Ok((member, implicit))
}
