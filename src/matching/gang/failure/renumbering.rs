//! Failures with other indices of their offers.

use rustc_hash::FxHashSet;

use crate::matching::gang::DockedOffer;

use super::{FailedCondition, GangFailure, MemberCause, MemberFailure, UnmetClause};

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
        let mut seen = FxHashSet::default();
        let fresh: Vec<Option<usize>> = of.iter().map(|of| of.filter(|offer| seen.insert(*offer))).collect();
        let renumber = |offer: &usize| fresh.get(*offer).copied().flatten();
        let all = |offers: &[usize]| offers.iter().filter_map(renumber).collect::<Vec<usize>>();
        let conditions = |conditions: Vec<FailedCondition>| {
            let renumbered =
                conditions.into_iter().map(|condition| FailedCondition { offers: all(&condition.offers), ..condition });
            renumbered.filter(|condition| !condition.offers.is_empty()).collect::<Vec<_>>()
        };
        self.deepest.ports = renumbered(&self.deepest.ports, of);
        for port in &mut self.ports {
            port.ruled_out = conditions(std::mem::take(&mut port.ruled_out));
        }
        for blocked in &mut self.blocked {
            blocked.held = all(&blocked.held);
            blocked.unserved = all(&blocked.unserved);
            blocked.conditions = conditions(std::mem::take(&mut blocked.conditions));
            blocked.member = blocked.member.take().and_then(|member| member.renumbered(of));
        }
        self
    }
}

impl MemberFailure {
    fn renumbered(self, of: &[Option<usize>]) -> Option<Self> {
        let offer = of.get(self.offer).copied().flatten()?;
        let cause = match self.cause {
            MemberCause::OwnPorts(failure) => MemberCause::OwnPorts(Box::new(failure.renumbered(of))),
            MemberCause::Refused { own_ports, clauses, fail_alone } => {
                let clauses = clauses.into_iter().map(|clause| UnmetClause {
                    condition: FailedCondition { offers: vec![offer], ..clause.condition },
                    ..clause
                });
                MemberCause::Refused { own_ports: renumbered(&own_ports, of), clauses: clauses.collect(), fail_alone }
            }
            MemberCause::Unknown => MemberCause::Unknown,
        };
        Some(MemberFailure { offer, cause, ..self })
    }
}
