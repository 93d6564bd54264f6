//! Failures with other indices of their offers.

use rustc_hash::FxHashSet;

use crate::matching::gang::DockedOffer;

use super::{FailedCondition, GangFailure, MemberCause, MemberFailure};

/// Returns docked offers with other indices: `of` has the new index of each offer. Leaves out an offer that has none.
pub fn renumbered(ports: &[DockedOffer], of: &[Option<usize>]) -> Vec<DockedOffer> {
    let renumber = |docked: &DockedOffer| {
        let offer = of.get(docked.offer).copied().flatten()?;
        let mut docked = docked.clone();
        docked.offer = offer;
        docked.ports = renumbered(&docked.ports, of);
        Some(docked)
    };
    ports.iter().filter_map(renumber).collect()
}

impl GangFailure {
    /// Returns the failure with other indices of the offers: `of` has the new index of each. An offer that is there twice,
    /// or that has no new index, is docked already, and is left out of the lists.
    #[must_use]
    pub fn renumbered(mut self, of: &[Option<usize>]) -> Self {
        self.renumber(of);
        self
    }

    fn renumber(&mut self, of: &[Option<usize>]) {
        let mut seen = FxHashSet::default();
        let fresh: Vec<Option<usize>> = of.iter().map(|of| of.filter(|offer| seen.insert(*offer))).collect();
        let renumber = |offers: &mut Vec<usize>| {
            *offers = offers.iter().filter_map(|offer| fresh.get(*offer).copied().flatten()).collect();
        };
        let conditions = |conditions: &mut Vec<FailedCondition>| {
            conditions.retain_mut(|condition| {
                renumber(&mut condition.offers);
                !condition.offers.is_empty()
            });
        };
        self.deepest.ports = renumbered(&self.deepest.ports, of);
        self.ports.iter_mut().for_each(|port| conditions(&mut port.ruled_out));
        for blocked in &mut self.blocked {
            renumber(&mut blocked.held);
            renumber(&mut blocked.unserved);
            conditions(&mut blocked.conditions);
            blocked.member.take_if(|member| !member.renumber(of));
        }
    }
}

impl MemberFailure {
    /// Renumbers the failure. Returns whether its offer has a new index.
    fn renumber(&mut self, of: &[Option<usize>]) -> bool {
        let Some(offer) = of.get(self.offer).copied().flatten() else { return false };
        self.offer = offer;
        match &mut self.cause {
            MemberCause::OwnPorts(failure) => failure.renumber(of),
            MemberCause::Refused { own_ports, clauses, .. } => {
                *own_ports = renumbered(own_ports, of);
                for clause in clauses {
                    clause.condition.offers = vec![offer];
                }
            }
            MemberCause::Unknown => {}
        }
        true
    }
}
