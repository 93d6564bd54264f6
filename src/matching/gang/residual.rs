//! What remains of the offers of a gang is offered again (open in thesis §6.2.1).

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Name, Participant};
use crate::eval::{Binding, Halt};
use crate::matching::policy::Residual;
use crate::protocol::{Pattern, PortFault};

use super::matcher::{Gangmatcher, participant};
use super::participants::{PortPlace, Table};
use super::{Docked, Gang};

/// How offers are divided, and which part is left of those that were.
#[derive(Default)]
pub struct Divisions {
    residual: Option<Residual>,
    parts: FxHashMap<Participant, usize>,
}

impl Divisions {
    /// Which part of an offer is left: 1 is the whole.
    pub fn part(&self, participant: Participant) -> usize {
        self.parts.get(&participant).copied().unwrap_or(1)
    }
}

impl Gangmatcher {
    /// Offers again what this lets remain of the offers of a gang.  In its expressions `other` is the port that the
    /// offer is docked to.
    #[must_use]
    pub fn dividing(mut self, residual: Option<Residual>) -> Self {
        self.divisions.residual = residual;
        self
    }

    /// Offers what remains of an offer, in its place and as its next part.
    ///
    /// # Errors
    ///
    /// When the ports of the remainder cannot be used; the offer stays as it was.
    pub fn put_back(&mut self, offer: usize, remainder: &Ad) -> Result<(), PortFault> {
        let participant = participant(offer);
        self.table.replace(participant, remainder)?;
        self.links.put_back(participant, &self.table);
        self.buckets.forget();
        self.exhausted.clear();
        *self.divisions.parts.entry(participant).or_insert(1) += 1;
        Ok(())
    }

    /// Puts back what remains of the offers of the gang of the seated request.  A remainder that cannot be told, or
    /// whose ports cannot be used, is none.
    pub(super) fn divide(&mut self, gang: &Gang) {
        let Some(residual) = self.divisions.residual.take() else { return };
        let docked = self.table.assemble(gang);
        let mut remainders = Vec::new();
        for (above, link) in &docked {
            let remainder = self.table.remainder(&residual, *above, *link);
            self.table.failures += u64::from(remainder.is_err());
            let offer = link.participant as usize - 1;
            remainders.extend(remainder.ok().flatten().map(|remainder| (offer, remainder)));
        }
        self.table.disband(&docked);
        for (offer, remainder) in remainders {
            // What cannot be offered is used up.
            let _ = self.put_back(offer, &remainder);
        }
        self.divisions.residual = Some(residual);
    }
}

impl Table {
    /// Docks a whole gang: each port that is filled, and the link that is docked there.
    pub fn assemble(&mut self, gang: &Gang) -> Vec<(PortPlace, PortPlace)> {
        let mut filled = Vec::new();
        let mut pending: Vec<(Participant, Option<usize>, &[Docked])> = vec![(0, None, &gang.ports)];
        while let Some((above, link, ports)) = pending.pop() {
            let mut pattern = Pattern::with_capacity(self.ports(above));
            pattern.extend(link);
            for docked in ports {
                let Some(place) = self.labelled(above, &docked.label) else { continue };
                let link = PortPlace { participant: participant(docked.offer), port: docked.link };
                pattern.grow_and_insert(place.port);
                filled.push((place, link));
                pending.push((link.participant, Some(link.port), &docked.ports));
            }
            self.leave(above, &pattern);
        }
        for (above, link) in &filled {
            self.dock(*above, *link);
        }
        filled
    }

    /// Undocks what was docked, and opens the ports that were left unfilled.
    pub fn disband(&mut self, docked: &[(PortPlace, PortPlace)]) {
        let none = Pattern::new();
        for (_, link) in docked {
            self.open(link.participant, &none);
        }
        self.open(0, &none);
    }

    /// What remains of an offer that is docked.
    fn remainder(&mut self, residual: &Residual, above: PortPlace, link: PortPlace) -> Result<Option<Ad>, Halt> {
        let Some(member) = self.environment.member_mut(link.participant) else { return Ok(None) };
        let (frame, own) = (member.frame.clone(), member.bindings.len());
        // An ad with a list of ports calls nobody `other` itself.
        let to = Some((above.participant, above.port));
        member.bindings.extend(["other", "target"].map(|name| Binding { name: Name::new(name), since: None, to }));
        self.evaluations += residual.set.len() as u64;
        let remainder = residual.of(&frame, &self.environment, &self.context);
        if let Some(member) = self.environment.member_mut(link.participant) {
            member.bindings.truncate(own);
        }
        remainder
    }
}
