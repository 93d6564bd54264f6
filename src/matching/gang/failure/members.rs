//! What keeps an offer with ports of its own from serving a port.

use std::sync::Arc;

use crate::ad::{Expression, Participant, Value};
use crate::matching::gang::offer_pool::OfferPool;
use crate::matching::gang::participants::{ParticipantTable, PortPlace, as_comparison};
use crate::matching::gang::search::CandidateScore;
use crate::matching::gang::{DockedOffer, Gang};

use super::{DockingProgress, FailedCondition, GangFailure, PortClause, RejectedOffer};

/// Why an offer with ports besides its link cannot serve a port.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberFailure {
    /// 0-based index of the offer.
    pub offer: usize,
    /// Label of the offer's port that would be docked.
    pub link: String,
    /// What keeps the offer away.
    pub cause: MemberCause,
}

/// What keeps an offer with ports of its own from serving a port.
#[derive(Clone, Debug, PartialEq)]
pub enum MemberCause {
    /// The offer cannot fill its own ports, even if the constraints of the port and of the link do not count. Holds the
    /// analysis of all its ports. There, used-up offers are those that are docked already, too.
    OwnPorts(Box<GangFailure>),
    /// The offer can fill its own ports, but never so that the constraints of the port and of the link are met.
    Refused {
        /// How the offer fills its own ports best.
        own_ports: Vec<DockedOffer>,
        /// The clauses that are not met.
        clauses: Vec<UnmetClause>,
        /// Whether each clause fails however the ports are filled. Otherwise no way to fill the ports meets all of them.
        fail_alone: bool,
    },
    /// A limit ended the analysis.
    Unknown,
}

/// A clause that is not met while an offer is docked with offers at all its ports.
#[derive(Clone, Debug, PartialEq)]
pub struct UnmetClause {
    /// The clause, with the attributes that it reads.
    pub condition: FailedCondition,
    /// The values of the two operands, if the clause is a comparison.
    pub operands: Option<[Value; 2]>,
}

/// Returns the links with which an offer may be docked at the port `place` while `deepest` is docked, each with the
/// values of its docking vector, or `None` if they depend on the offer's own ports.
pub fn unserved_links(
    pool: &mut OfferPool,
    place: PortPlace,
    offer: usize,
    deepest: &Gang,
) -> Vec<(PortPlace, Option<Vec<Value>>)> {
    pool.with_deepest(deepest, place.port, |pool| {
        let table = &mut pool.table;
        let links = table.ports(Participant::of_offer(offer));
        let unserved = |link: PortPlace| {
            table.with_docked(place, link, |table| {
                let (_, progress) = DockingProgress::of(table, place, link);
                let vector = match table.docked_score(place, link) {
                    CandidateScore::Ranks(..) | CandidateScore::TypedRanks(_) => Some(Vec::new()),
                    CandidateScore::Unknown => table.docking_vector.is_empty().then(Vec::new),
                    CandidateScore::Vector(vector) => {
                        vector.0.into_iter().map(|component| Some(component?.value)).collect()
                    }
                };
                matches!(progress, DockingProgress::Unserved).then_some((link, vector))
            })
        };
        links.filter_map(unserved).collect()
    })
}

/// Returns which `clauses` of a port an offer fails that fills its own ports. `None` if it does not fill them.
pub(super) fn rejected_member(
    table: &mut ParticipantTable,
    place: PortPlace,
    deepest: &Gang,
    member: &MemberFailure,
    clauses: &[PortClause],
) -> Option<RejectedOffer> {
    let MemberCause::Refused { own_ports, .. } = &member.cause else { return None };
    let offer = Participant::of_offer(member.offer);
    let port = table.labels(offer).position(|label| label.is(&member.link))?;
    let link = PortPlace { participant: offer, port };
    let docked = self::docked(table, [place, link], own_ports);
    let ports = deepest.ports.iter().cloned().chain([docked]).collect();
    let docked = table.dock_gang(&Gang { request: 0, ports });
    let scoped = table.clauses(place);
    let scoped = scoped.as_deref().unwrap_or_default();
    let rejected = RejectedOffer::of(table, link, scoped.iter().zip(clauses));
    table.undock_gang(&docked);
    (rejected.failed_mask != 0 || rejected.demand.is_some()).then_some(rejected)
}

/// Describes clauses of a port and of its link that are not met while the link is docked with `own_ports`.
pub fn describe_unmet(
    table: &mut ParticipantTable,
    deepest: &Gang,
    [place, link]: [PortPlace; 2],
    own_ports: &[DockedOffer],
    unmet: &[(PortPlace, Expression)],
) -> Vec<UnmetClause> {
    let docked = self::docked(table, [place, link], own_ports);
    let ports = deepest.ports.iter().cloned().chain([docked]).collect();
    let docked = table.dock_gang(&Gang { request: 0, ports });
    let describe = |(owner, clause): &(PortPlace, Expression)| {
        let frame = Arc::clone(table.frame(*owner));
        let operands = as_comparison(clause).and_then(|(_, left, right)| {
            Some([table.evaluate(left, &frame).ok()?, table.evaluate(right, &frame).ok()?])
        });
        let scoped = (clause.clone(), frame);
        let condition = FailedCondition::of_clause(table, place, *owner == place, &scoped);
        let offers = vec![link.participant.offer()];
        UnmetClause { condition: FailedCondition { offers, ..condition }, operands }
    };
    let described = unmet.iter().map(describe).collect();
    table.undock_gang(&docked);
    described
}

/// Returns the docking of a link at a port, with offers at the other ports.
fn docked(table: &ParticipantTable, [place, link]: [PortPlace; 2], own_ports: &[DockedOffer]) -> DockedOffer {
    DockedOffer {
        label: table.label(place),
        offer: link.participant.offer(),
        part: 1,
        link: link.port,
        rank: 0.0,
        offer_rank: 0.0,
        vector: None,
        ports: own_ports.to_vec(),
    }
}
