//! Reports about gangs as JSON: the fields of `classad.explain/2` for requests with ports.
//!
//! ```text
//! "ports": [{"label", "alone", "given", "used"}...], "optional": [LABEL...],
//! "empty": [{"label", "conditions": [CONDITION...]}...], "deepest": [PORT...],
//! "stuck": [{"label", "held", "discarded", "fitting", "conditions": [CONDITION...],
//!  "unserved": [ID...], "unserved_count", "needs": [{"label", "offers", "conditions": [CONDITION...]}...],
//!  "discarding_component", "member": MEMBER or null}...],
//! "gang": [PORT...] or null
//! MEMBER: {"offer": ID, "port": LABEL, "outcome": "refused", "filled": [PORT...], "conditions": [CONDITION...], "fail_alone"},
//!  {"offer", "port", "outcome": "own-ports", "ports", "empty", "deepest", "stuck"} or {"offer", "port", "outcome": "unknown"}
//! CONDITION: {"text", "by": "request", "port" (of an offer) or "offers", "reads": [{"name", "text", "value"}...], "theirs": as "reads",
//!  "labels": [LABEL...], "offers": [ID...], "offer_count"}
//! ```
//!
//! `ports` has three numbers of offers for each port:
//!
//! - `alone`: unused offers that neither constraint rules out, by what is known while all other ports are open
//! - `given`: the offers of `alone`, except those that rule out every offer for another port once they are docked. Only
//!   ports that must be filled together with this port are examined.
//! - `used`: offers that could fill the port, but are used up
//!
//! `optional` lists the ports that may be left unfilled. `empty` lists the ports that no unused offer could fill even
//! if the port were the only one, with the conditions that rule the offers out.
//!
//! The search fills the ports in order. `deepest` is the best gang for as many ports as can be filled together. `stuck`
//! is the next port, or all ports of the next group. The fields of a stuck port describe the offers that could fill it
//! if it were the only port:
//!
//! - `held`: number of offers that the deepest gang holds already
//! - `discarded`: number of offers whose docking vector has an undefined or error component
//! - `fitting`: number of offers that could be docked, although the group as a whole cannot be filled
//! - `conditions`: the conditions that rule offers out
//! - `unserved`: the first offers that have ports of their own and cannot serve the port with them; `unserved_count`: the
//!   number of all of them
//! - `needs`: for each own port that `member` cannot fill with others, the number of offers that fit this port. The port
//!   at which the offer itself would be docked is left out.
//! - `discarding_component`: number of the component of the docking vector that discards the first of `discarded`
//! - `member`: why the nearest of the `unserved` offers cannot serve the port. `refused`: it can fill its own ports, as in
//!   `filled`, but each of the `conditions` fails however it does, or with `fail_alone` false all of them cannot be met
//!   together. `own-ports`: it cannot fill its own ports, whatever it and the port require of each other. `used` counts
//!   offers that are docked already, too. `unknown`: a limit ended the analysis.
//!
//! A condition `reads` attributes of the request. `theirs` are attributes of the first offer that the condition rules
//! out, and of the offers that are docked already. `offers` are the first offers that the condition rules out, and
//! `offer_count` is the number of all of them. `labels` are the labels of other ports that the condition mentions.

use classad::explain::{GangReport, GangVerdict};
use classad::matching::gang::{
    BlockedPort, DockedOffer, FailedCondition, Gang, GangFailure, MemberCause, MemberFailure, PortCandidates,
    TrialDocking,
};
use serde_json::{Value as Json, json};

use super::text::change_steps;
use crate::cli::io::match_records::PortRecord;
use crate::cli::io::parties::Parties;
use crate::cli::render::explanation::json::limit_json;
use crate::cli::render::gang::GangView;
use crate::cli::render::json::JoinedRecord;

/// Maximum depth of a gang in a report. A deeper gang is written as null, because the size of an indented document
/// grows with the square of the depth.
const MAX_GANG_DEPTH: usize = 63;

/// The ads that reports name, and how many offers their lists have.
#[derive(Clone, Copy)]
pub struct ListedParties<'p> {
    pub parties: &'p Parties,
    /// Maximum number of elements in a list of offers.
    pub max_offers: usize,
}

impl<'p> ListedParties<'p> {
    /// Lists all offers.
    pub fn with_all_offers(parties: &'p Parties) -> Self {
        ListedParties { parties, max_offers: usize::MAX }
    }

    /// Returns the names of the first of some offers.
    fn names(self, offers: &[usize]) -> Vec<&'p str> {
        offers.iter().take(self.max_offers).map(|offer| self.parties.offers[*offer].id()).collect()
    }
}

/// Returns the JSON report about a group of equivalent requests with ports.
///
/// `not_examined` has possible reasons for a missing gang that were not examined.
pub fn gang_report_json(
    report: &GangReport,
    requests: &[&str],
    summary: &str,
    listed: ListedParties<'_>,
    not_examined: &[&str],
) -> Json {
    let attributes: Vec<&str> = report.attributes.iter().map(classad::ad::Name::as_str).collect();
    let head = json!({
        "requests": requests,
        "verdict": report.verdict.as_str(),
        "limit": if let GangVerdict::Limited(limit) = &report.verdict { Some(limit_json(limit)) } else { None },
        "cause_id": report.cause_id(),
        "attributes": attributes,
        "summary": summary,
        "clauses": [],
        "conflicts": [],
        "nearest": [],
        "refusals": [],
        "refusal_count": 0,
        "names": [],
        "not_examined": not_examined,
    });
    json!(JoinedRecord { head, tail: port_fields(report, listed) })
}

/// Returns the JSON fields about ports, gang and changes.
pub fn port_fields(report: &GangReport, listed: ListedParties<'_>) -> Json {
    let parties = listed.parties;
    let docked = |gang: &Gang| docked(gang, parties);
    let changes = report.changes.iter().map(|change| {
        let steps = change_steps(change, parties);
        json!({ "change": steps.join(", "), "steps": steps, "matches": 1, "gang": docked(&change.matched) })
    });
    let failure = report.failure.as_ref();
    let ports = failure.map_or(&[][..], |failure| &failure.ports);
    let optional: Vec<&str> = ports.iter().filter(|port| !port.is_required).map(|port| port.label.as_str()).collect();
    json!({
        "changes": changes.collect::<Json>(),
        "gang": report.gang.as_ref().map(docked),
        "optional": optional,
        "empty": empty_ports(ports, "request", listed),
        "ports": port_counts(ports),
        "deepest": failure.map_or(Some(Vec::new()), |failure| docked(&failure.deepest)),
        "stuck": failure.map(|failure| blocked_ports(failure, "request", listed)).unwrap_or_default(),
    })
}

/// Returns the filled ports of a gang; `None` if it is too deep.
fn docked(gang: &Gang, parties: &Parties) -> Option<Vec<PortRecord>> {
    let view = GangView::new(gang, None, String::new(), parties);
    (view.depth() <= MAX_GANG_DEPTH).then(|| view.record().ports)
}

/// Returns as JSON whether an offer docks at a port, and if not, the condition that keeps the offer away.
pub fn docking_json(docking: &TrialDocking, listed: ListedParties<'_>) -> Json {
    let condition = docking.condition.as_ref().map(|found| condition(found, "request", listed));
    json!({ "label": docking.label, "docks": condition.is_none(), "condition": condition })
}

/// Returns the ports that no unused offer fits, each with what rules the offers out. `owner` says whose the ports are.
fn empty_ports(ports: &[PortCandidates], owner: &str, listed: ListedParties<'_>) -> Json {
    let empty = ports.iter().filter(|port| !port.ruled_out.is_empty()).map(|port| {
        let conditions = port.ruled_out.iter().map(|found| condition(found, owner, listed));
        json!({ "label": port.label, "conditions": conditions.collect::<Json>() })
    });
    empty.collect()
}

fn port_counts(ports: &[PortCandidates]) -> Json {
    let counts = ports.iter().map(
        |port| json!({ "label": port.label, "alone": port.independent, "given": port.consistent, "used": port.used_up }),
    );
    counts.collect()
}

/// Returns why an offer cannot serve a port with its own ports. `owner` says whose the port is.
fn member_json(member: &MemberFailure, owner: &str, listed: ListedParties<'_>) -> Json {
    let docked = |ports: &[DockedOffer]| docked(&Gang { request: 0, ports: ports.to_vec() }, listed.parties);
    let (offer, port) = (listed.parties.offers[member.offer].id(), &member.link);
    match &member.cause {
        MemberCause::Refused { own_ports, clauses, fail_alone } => {
            let conditions = clauses.iter().map(|clause| condition(&clause.condition, owner, listed)).collect::<Json>();
            json!({ "offer": offer, "port": port, "outcome": "refused", "filled": docked(own_ports),
                "conditions": conditions, "fail_alone": fail_alone })
        }
        MemberCause::OwnPorts(failure) => json!({
            "offer": offer, "port": port, "outcome": "own-ports", "ports": port_counts(&failure.ports),
            "empty": empty_ports(&failure.ports, "port", listed), "deepest": docked(&failure.deepest.ports),
            "stuck": blocked_ports(failure, "port", listed),
        }),
        MemberCause::Unknown => json!({ "offer": offer, "port": port, "outcome": "unknown" }),
    }
}

/// Returns the ports that cannot be filled beside the deepest gang. `owner` says whose the ports are.
fn blocked_ports(failure: &GangFailure, owner: &str, listed: ListedParties<'_>) -> Vec<Json> {
    let port_json = |port: &BlockedPort| {
        let own_ports = port.member.as_ref().and_then(|member| match &member.cause {
            MemberCause::OwnPorts(failure) => Some((&member.link, failure)),
            _ => None,
        });
        let needs = own_ports.into_iter().flat_map(|(link, failure)| {
            let ports = failure.ports.iter().filter(move |port| port.label != **link);
            ports.map(|port| {
                let conditions = port.ruled_out.iter().map(|found| condition(found, "port", listed));
                json!({ "label": port.label, "offers": port.independent, "conditions": conditions.collect::<Json>() })
            })
        });
        let conditions = port.conditions.iter().map(|found| condition(found, owner, listed));
        json!({
            "label": failure.ports[port.port].label, "held": port.held.len(), "discarded": port.unacceptable,
            "fitting": port.fitting, "conditions": conditions.collect::<Json>(),
            "unserved": listed.names(&port.unserved), "unserved_count": port.unserved.len(),
            "needs": needs.collect::<Json>(),
            "discarding_component": port.discarding.map(|component| component + 1),
            "member": port.member.as_ref().map(|member| member_json(member, owner, listed)),
        })
    };
    failure.blocked.iter().map(port_json).collect()
}

/// Returns a condition as JSON. `owner` says whose the port is.
fn condition(condition: &FailedCondition, owner: &str, listed: ListedParties<'_>) -> Json {
    json!({
        "text": condition.text, "by": if condition.is_of_port { owner } else { "offers" },
        "reads": condition.request_attributes, "theirs": condition.offer_attributes, "labels": condition.labels,
        "offers": listed.names(&condition.offers), "offer_count": condition.offers.len(),
    })
}
