//! Naive gangmatching (thesis §5.3): ports from left to right, candidates in input order, chronological
//! backtracking.  Its counts are the yardstick for every other algorithm.

use std::rc::Rc;

use crate::ad::{Ad, Participant};
use crate::constraint::{PortFault, Protocol};
use crate::eval::Context;

use super::super::Statistics;
use super::table::{PortPlace, Table, Verdict};
use super::{BadPorts, Docked, Gang};

/// Marshals gangs from a set of offers, which are used up by them.
pub struct Gangmatcher {
    table: Table,
    /// Offers that are in a gang, made or in the making.
    used: Vec<bool>,
    statistics: Statistics,
}

/// What is left to do for a gang, first one first.  Shared between the branches of the search.
type Agenda = Option<Rc<Step>>;

struct Step {
    goal: Goal,
    next: Agenda,
}

#[derive(Clone, Copy)]
enum Goal {
    /// Dock a candidate at a port.
    Fill(PortPlace),
    /// Test a link again that was tentative, now that the ports before it are docked.
    Confirm { above: PortPlace, link: PortPlace },
}

/// A port that is being filled: where among the candidates the search is, and what comes after.
struct Choice {
    place: PortPlace,
    next: Agenda,
    /// The candidate to be tried next, and which of its ports as its link.
    candidate: Participant,
    link: usize,
    docked: Option<PortPlace>,
}

impl Gangmatcher {
    /// A matchmaker with these offers; those whose ports cannot be used are reported and left out.
    #[must_use]
    pub fn new(offers: &[Ad], protocol: Protocol, context: Context) -> (Self, Vec<BadPorts>) {
        let (table, bad) = Table::new(offers, protocol, context);
        let used = vec![false; offers.len()];
        let bad = bad.into_iter().map(|(index, fault)| BadPorts { index, fault }).collect();
        (Gangmatcher { table, used, statistics: Statistics::default() }, bad)
    }

    /// What has been counted so far.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        Statistics { evaluations: self.table.evaluations, failures: self.table.failures, ..self.statistics }
    }

    /// Marshals the gang of a request.  Either all its ports are filled, and the offers are used up, or
    /// none is, and everything is given back (thesis §5.1.3).
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used.
    pub fn marshal(&mut self, index: usize, request: &Ad) -> Result<Option<Gang>, PortFault> {
        self.table.seat(request)?;
        self.statistics.roots += 1;
        let Some(choices) = self.search() else { return Ok(None) };
        self.statistics.matched += 1;
        let gang = Gang { request: index, ports: self.tree(0, &choices) };
        for choice in &choices {
            if let Some(link) = choice.docked {
                self.table.undock(choice.place, link);
            }
        }
        Ok(Some(gang))
    }

    /// Goes forward as long as goals can be reached, back to the last choice when one cannot.
    fn search(&mut self) -> Option<Vec<Choice>> {
        let mut choices: Vec<Choice> = Vec::new();
        let mut agenda = goals(0, 0..self.table.ports(0), None);
        loop {
            let reached = match agenda.take() {
                None => return Some(choices),
                Some(step) => match step.goal {
                    Goal::Confirm { above, link } => {
                        agenda.clone_from(&step.next);
                        self.table.accept_each_other(above, link) == Verdict::Met
                    }
                    Goal::Fill(place) => {
                        choices.push(Choice { place, next: step.next.clone(), candidate: 1, link: 0, docked: None });
                        false
                    }
                },
            };
            if !reached {
                agenda = self.advance(&mut choices)?;
            }
        }
    }

    /// Docks the next candidate at the last port that has one left; gives back the ports behind it.
    /// What is to be done then; nothing when no port has a candidate left.
    fn advance(&mut self, choices: &mut Vec<Choice>) -> Option<Agenda> {
        while let Some(choice) = choices.last_mut() {
            if let Some(link) = choice.docked.take() {
                self.table.undock(choice.place, link);
                self.used[link.participant as usize - 1] = false;
                self.statistics.backtracks += 1;
            }
            if let Some((link, verdict)) = self.next_candidate(choice) {
                let choice = choices.last()?;
                return Some(self.follow(choice.place, link, verdict, choice.next.clone()));
            }
            choices.pop();
        }
        None
    }

    /// Tries the candidates that are left for a port until one docks.
    fn next_candidate(&mut self, choice: &mut Choice) -> Option<(PortPlace, Verdict)> {
        let last = Participant::try_from(self.table.offers()).unwrap_or(Participant::MAX);
        while choice.candidate <= last {
            let participant = choice.candidate;
            if choice.link >= self.table.ports(participant) || self.used[participant as usize - 1] {
                choice.candidate += 1;
                choice.link = 0;
                continue;
            }
            let link = PortPlace { participant, port: choice.link };
            choice.link += 1;
            self.statistics.tests += 1;
            self.table.dock(choice.place, link);
            let verdict = self.table.accept_each_other(choice.place, link);
            if verdict != Verdict::Refused {
                choice.docked = Some(link);
                self.used[participant as usize - 1] = true;
                return Some((link, verdict));
            }
            self.table.undock(choice.place, link);
        }
        None
    }

    /// What is to be done once a candidate is docked: its ports before the link, the link once more if
    /// it was tentative, its ports behind, then the rest.
    fn follow(&self, above: PortPlace, link: PortPlace, verdict: Verdict, rest: Agenda) -> Agenda {
        let participant = link.participant;
        let behind = goals(participant, link.port + 1..self.table.ports(participant), rest);
        let confirmed = match verdict {
            Verdict::Tentative => Some(Rc::new(Step { goal: Goal::Confirm { above, link }, next: behind })),
            _ => behind,
        };
        goals(participant, 0..link.port, confirmed)
    }

    /// What is docked at the ports of a participant, with all below it.  The ads of a gang may be
    /// chained a long way down, so that the tree is built from the last choice upwards.
    fn tree(&mut self, participant: Participant, choices: &[Choice]) -> Vec<Docked> {
        let mut below: Vec<Vec<(usize, Docked)>> = choices.iter().map(|_| Vec::new()).collect();
        let mut top = Vec::new();
        for (index, choice) in choices.iter().enumerate().rev() {
            let Some(link) = choice.docked else { continue };
            let mut ports = std::mem::take(&mut below[index]);
            ports.sort_by_key(|(port, _)| *port);
            let docked = Docked {
                label: self.table.label(choice.place),
                offer: link.participant as usize - 1,
                link: link.port,
                rank: self.table.rank(choice.place),
                offer_rank: self.table.rank(link),
                ports: ports.into_iter().map(|(_, docked)| docked).collect(),
            };
            let owner = choice.place.participant;
            if owner == participant {
                top.push((choice.place.port, docked));
            } else if let Some(parent) =
                choices.iter().position(|c| c.docked.is_some_and(|link| link.participant == owner))
            {
                below[parent].push((choice.place.port, docked));
            }
        }
        top.sort_by_key(|(port, _)| *port);
        top.into_iter().map(|(_, docked)| docked).collect()
    }
}

/// The goals of filling these ports, then the rest.
fn goals(participant: Participant, ports: std::ops::Range<usize>, rest: Agenda) -> Agenda {
    ports.rev().fold(rest, |next, port| Some(Rc::new(Step { goal: Goal::Fill(PortPlace { participant, port }), next })))
}

impl Drop for Step {
    /// A long agenda is taken apart step by step.
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(step) = next {
            next = Rc::into_inner(step).and_then(|mut step| step.next.take());
        }
    }
}
