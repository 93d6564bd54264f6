//! The gangs of a cycle: which requests get them, which offers only they can have, and what finds them.

use fixedbitset::FixedBitSet;

use crate::ad::Ad;
use crate::matching::gang::{BadPorts, Gang, GangFault, Gangmatcher};
use crate::matching::{Candidate, Statistics};
use crate::protocol::{PortFault, has_ports};

use super::{NegotiationSettings, PortUse};

/// The gangs of a cycle.
pub struct CycleGangs {
    /// The matchmaker of requests that get gangs. Its offers are divided and used up together with those of the cycle.
    /// `None` if no request gets a gang.
    pub matchmaker: Option<Gangmatcher>,
    /// The offers with ports, which only gangs can have. Empty if ports are ignored.
    pub with_ports: FixedBitSet,
    ports: PortUse,
}

impl CycleGangs {
    /// Prepares the gangs of a cycle of these requests. Gangs get no offer that is taken. Also returns the offers that
    /// are left out of gangs because their ports cannot be used.
    pub fn new(
        requests: &[Ad],
        ads: &[Ad],
        settings: &NegotiationSettings,
        taken: &FixedBitSet,
    ) -> (Self, Vec<BadPorts>) {
        let NegotiationSettings { policy, protocol, context, gangs: gang_settings, .. } = settings;
        let mut with_ports = FixedBitSet::with_capacity(ads.len());
        if gang_settings.ports != PortUse::Ignored {
            with_ports.extend((0..ads.len()).filter(|offer| has_ports(&ads[*offer])));
        }
        let needs_gangs = match gang_settings.ports {
            PortUse::Ignored => false,
            PortUse::Needed => !with_ports.is_clear() || requests.iter().any(has_ports),
            PortUse::Always => true,
        };
        let mut bad_ports = Vec::new();
        let matchmaker = needs_gangs.then(|| {
            let (mut gangs, bad) = Gangmatcher::new(ads, protocol.clone(), context.clone());
            taken.ones().for_each(|offer| gangs.withdraw(offer));
            bad_ports = bad;
            gangs
                .with_algorithm(gang_settings.algorithm, gang_settings.seed)
                .with_docking_vector(policy.docking_of_gangs())
                .with_residual(policy.residual.clone())
        });
        (CycleGangs { matchmaker, with_ports, ports: gang_settings.ports }, bad_ports)
    }

    /// Whether a request gets a gang, not a single offer: the request has ports, or an offer with ports may dock at it.
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used.
    pub fn are_needed_by(&mut self, request: &Ad) -> Result<bool, PortFault> {
        let Some(matchmaker) = &mut self.matchmaker else { return Ok(false) };
        match self.ports {
            PortUse::Ignored => Ok(false),
            PortUse::Always => Ok(true),
            PortUse::Needed if has_ports(request) => Ok(true),
            PortUse::Needed if self.with_ports.is_clear() => Ok(false),
            PortUse::Needed => matchmaker.may_dock(request, &self.with_ports),
        }
    }

    /// Searches for the gang of a request, without taking its offers. `None` if there is none.
    ///
    /// # Errors
    ///
    /// When the ports of the request cannot be used, or docking vectors cannot be compared.
    pub fn find(&mut self, index: usize, request: &Ad) -> Result<Option<Gang>, GangFault> {
        self.matchmaker.as_mut().map_or(Ok(None), |matchmaker| matchmaker.find_gang(index, request))
    }

    /// Leaves out the candidates that only gangs can have.
    pub fn retain_single(&self, candidates: &mut Vec<Candidate>) {
        candidates.retain(|candidate| !self.with_ports.contains(candidate.offer));
    }

    /// Takes an offer that a single request got out of the matchmaker, and offers its remainder.
    pub fn replace(&mut self, offer: usize, remainder: Option<&Ad>) {
        let Some(matchmaker) = &mut self.matchmaker else { return };
        matchmaker.withdraw(offer);
        if let Some(remainder) = remainder {
            // A remainder whose ports cannot be used has ports, so that no request can have it.
            let _ = matchmaker.offer_remainder(offer, remainder);
        }
    }

    /// Notes whether the remainder of an offer has ports.
    pub fn note_remainder(&mut self, offer: usize, remainder: &Ad) {
        if self.ports != PortUse::Ignored {
            self.with_ports.set(offer, has_ports(remainder));
        }
    }

    /// Returns the counters of the matchmaker, without those of requests: the cycle counts the requests, also those
    /// that get gangs.
    pub fn statistics(&self) -> Statistics {
        let counted = self.matchmaker.as_ref().map(Gangmatcher::statistics).unwrap_or_default();
        Statistics { roots: 0, matched: 0, ..counted }
    }
}
