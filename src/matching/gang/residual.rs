//! Offers the remainders of the offers in a gang again (left open in thesis 6.2.1).

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Participant};
use crate::eval::{Abort, NameBinding};
use crate::matching::policy::Residual;
use crate::protocol::{PortFault, PortPattern};

use super::matcher::{Gangmatcher, participant_of};
use super::participants::{ParticipantTable, PortPlace};
use super::{DockedOffer, Gang};

/// The rule that computes remainders, and the part numbers of offers that were replaced by one.
#[derive(Default)]
pub struct ResidualOffers {
    /// The rule of the policy. `None` if offers are used up whole.
    residual: Option<Residual>,
    /// 1-based part number of each offer replaced by a remainder.
    part_numbers: FxHashMap<Participant, usize>,
}

impl ResidualOffers {
    /// Returns the 1-based part number of an offer: 1 is the whole.
    pub fn part_number(&self, participant: Participant) -> usize {
        self.part_numbers.get(&participant).copied().unwrap_or(1)
    }
}

impl Gangmatcher {
    /// Offers what `residual` leaves of the offers of each gang again. In its expressions `other` is the port at which
    /// the offer is docked.
    #[must_use]
    pub fn with_residual(mut self, residual: Option<Residual>) -> Self {
        self.residuals.residual = residual;
        self
    }

    /// Replaces a used-up offer by its remainder, as its next part.
    ///
    /// # Errors
    ///
    /// When the ports of the remainder cannot be used; the offer stays as it was.
    pub fn offer_remainder(&mut self, offer: usize, remainder: &Ad) -> Result<(), PortFault> {
        let participant = participant_of(offer);
        self.table.replace(participant, remainder)?;
        self.port_index.reinsert(participant, &self.table);
        self.classifier.invalidate();
        self.exhausted_queries.clear();
        *self.residuals.part_numbers.entry(participant).or_insert(1) += 1;
        Ok(())
    }

    /// Offers the remainders of all offers of the seated request's gang again. An offer is used up whole if its
    /// remainder cannot be computed or has invalid ports.
    pub(super) fn offer_remainders(&mut self, gang: &Gang) {
        let Some(residual) = self.residuals.residual.take() else { return };
        let docked = self.table.dock_gang(gang);
        let mut remainders = Vec::new();
        for (above, link) in &docked {
            let remainder = self.table.remainder(&residual, *above, *link);
            self.table.failures += u64::from(remainder.is_err());
            let offer = link.participant as usize - 1;
            remainders.extend(remainder.ok().flatten().map(|remainder| (offer, remainder)));
        }
        self.table.undock_gang(&docked);
        for (offer, remainder) in remainders {
            // An offer whose remainder has invalid ports stays used up.
            let _ = self.offer_remainder(offer, &remainder);
        }
        self.residuals.residual = Some(residual);
    }
}

impl ParticipantTable {
    /// Docks a whole gang and marks the other ports of its ads as unfilled. Returns pairs of a filled port and the link
    /// docked there.
    pub fn dock_gang(&mut self, gang: &Gang) -> Vec<(PortPlace, PortPlace)> {
        let mut filled = Vec::new();
        let mut pending: Vec<(Participant, Option<usize>, &[DockedOffer])> = vec![(0, None, &gang.ports)];
        while let Some((above, link, ports)) = pending.pop() {
            let mut pattern = PortPattern::with_capacity(self.port_count(above));
            pattern.extend(link);
            for docked in ports {
                let Some(place) = self.labelled(above, &docked.label) else { continue };
                let link = PortPlace { participant: participant_of(docked.offer), port: docked.link };
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

    /// Undocks a gang that was docked as a whole and reopens the unfilled ports.
    pub fn undock_gang(&mut self, docked: &[(PortPlace, PortPlace)]) {
        let none = PortPattern::new();
        for (_, link) in docked {
            self.reopen_unfilled(link.participant, &none);
        }
        self.reopen_unfilled(0, &none);
    }

    /// Returns the remainder of a docked offer. `None` if nothing remains.
    fn remainder(&mut self, residual: &Residual, above: PortPlace, link: PortPlace) -> Result<Option<Ad>, Abort> {
        let Some(member) = self.environment.member_mut(link.participant) else { return Ok(None) };
        let (frame, own) = (member.frame.clone(), member.bindings.len());
        // An ad with a port list does not bind `other` itself, so the name is free for the port above.
        let to = Some((above.participant, above.port));
        member.bindings.extend(NameBinding::of_other(to));
        self.evaluations += residual.set.len() as u64;
        let remainder = residual.remainder(&frame, &self.environment, &self.context);
        if let Some(member) = self.environment.member_mut(link.participant) {
            member.bindings.truncate(own);
        }
        remainder
    }
}
