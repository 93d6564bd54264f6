//! Reports about gangs as JSON: the fields of `classad.explain/2` for requests with ports.
//!
//! ```text
//! "ports": [{"label", "alone", "given", "used"}...], "optional": [LABEL...],
//! "empty": [{"label", "conditions": [CONDITION...]}...], "deepest": [PORT...],
//! "stuck": [{"label", "held", "discarded", "fitting", "conditions": [CONDITION...],
//!  "unserved": [ID...], "unserved_count", "needs": [{"label", "offers", "conditions": [CONDITION...]}...]}...],
//! "gang": [PORT...] or null
//! CONDITION: {"text", "by": "request", "port" (of an offer) or "offers", "reads": [{"name", "text", "value"}...], "theirs": as "reads",
//!  "labels": [LABEL...], "offers": [ID...], "offer_count"}
//! ```
//!
//! `ports` has three numbers of offers for each port:
//!
//! - `alone`: unused offers that could fill the port if it were the only port
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
//! - `unserved`: the first offers whose own ports cannot be filled; `unserved_count`: the number of all of them
//! - `needs`: for each own port of the first `unserved` offer, the number of offers that fit this port. The port at
//!   which the unserved offer itself would be docked is left out.
//!
//! A condition `reads` attributes of the request. `theirs` are attributes of the first offer that the condition rules
//! out, and of the offers that are docked already. `offers` are the first offers that the condition rules out, and
//! `offer_count` is the number of all of them. `labels` are the labels of other ports that the condition mentions.

use classad::explain::GangReport;
use classad::matching::gang::{BlockedPort, FailedCondition, Gang, GangFailure, TrialDocking};
use serde_json::{Value as Json, json};

use super::text::change_steps;
use crate::cli::io::parties::Parties;
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
    let docked = |gang: &Gang| {
        let view = GangView::new(gang, None, String::new(), parties);
        (view.depth() <= MAX_GANG_DEPTH).then(|| view.record().ports)
    };
    let changes = report.changes.iter().map(|change| {
        let steps = change_steps(change, parties);
        json!({ "change": steps.join(", "), "steps": steps, "matches": 1, "gang": docked(&change.matched) })
    });
    let failure = report.failure.as_ref();
    let ports = failure.map_or(&[][..], |failure| &failure.ports);
    let optional: Vec<&str> = ports.iter().filter(|port| !port.is_required).map(|port| port.label.as_str()).collect();
    let empty = ports.iter().filter(|port| !port.ruled_out.is_empty()).map(|port| {
        let conditions = port.ruled_out.iter().map(|found| condition(found, "request", listed));
        json!({ "label": port.label, "conditions": conditions.collect::<Json>() })
    });
    let counts = ports.iter().map(
        |port| json!({ "label": port.label, "alone": port.independent, "given": port.consistent, "used": port.used_up }),
    );
    json!({
        "changes": changes.collect::<Json>(),
        "gang": report.gang.as_ref().map(docked),
        "optional": optional,
        "empty": empty.collect::<Json>(),
        "ports": counts.collect::<Json>(),
        "deepest": failure.map_or(Some(Vec::new()), |failure| docked(&failure.deepest)),
        "stuck": failure.map(|failure| blocked_ports(failure, listed)).unwrap_or_default(),
    })
}

/// Returns as JSON whether an offer docks at a port, and if not, the condition that keeps the offer away.
pub fn docking_json(docking: &TrialDocking, listed: ListedParties<'_>) -> Json {
    let condition = docking.condition.as_ref().map(|found| condition(found, "request", listed));
    json!({ "label": docking.label, "docks": condition.is_none(), "condition": condition })
}

fn blocked_ports(failure: &GangFailure, listed: ListedParties<'_>) -> Vec<Json> {
    let port_json = |port: &BlockedPort| {
        let needs = port.unserved_ports.iter().map(|port| {
            let conditions = port.ruled_out.iter().map(|found| condition(found, "port", listed));
            json!({ "label": port.label, "offers": port.candidates, "conditions": conditions.collect::<Json>() })
        });
        let conditions = port.conditions.iter().map(|found| condition(found, "request", listed));
        json!({
            "label": failure.ports[port.port].label, "held": port.held.len(), "discarded": port.unacceptable,
            "fitting": port.fitting, "conditions": conditions.collect::<Json>(),
            "unserved": listed.names(&port.unserved), "unserved_count": port.unserved.len(),
            "needs": needs.collect::<Json>(),
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
