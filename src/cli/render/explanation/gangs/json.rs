//! Reports about gangs as JSON: the fields of `classad.explain/1` for requests with ports.
//!
//! ```text
//! "ports": [{"label", "alone", "given", "used"}...], "optional": [LABEL...],
//! "empty": [{"label", "conditions": [CONDITION...]}...], "deepest": [PORT...],
//! "stuck": [{"label", "held", "discarded", "fitting", "conditions": [CONDITION...],
//!  "unserved": [ID...], "needs": [{"label", "offers"}...]}...], "gang": [PORT...] or null
//! CONDITION: {"text", "by": "request" or "offers", "reads": [{"name", "text", "value"}...], "theirs": as "reads",
//!  "labels": [LABEL...], "offers": [ID...]}
//! ```
//!
//! Numbers of offers per port: `alone` could fill it by themselves; `given` of these have a partner at each other port;
//! `used` could fill it but are used up. For each port that no offer could fill alone, `empty` has the conditions that
//! rule offers out. `optional` are the ports that a group may leave unfilled.
//!
//! `deepest` is the best gang for the longest prefix of the ports that can be filled together; its ports are as in the
//! JSON of gangs. `stuck` is the next port, or the ports of the next group. Of the offers that could fill it alone,
//! `held` are in that gang, `conditions` rule others out, `discarded` fail the docking vector, `fitting` would do, but
//! their group needs more, and `unserved` cannot fill their own ports: `needs` is the number of offers for each port of
//! the first of them. A condition `reads` attributes of the request; `theirs` are those of the first offer and of the
//! offers that are docked already.

use classad::explain::GangReport;
use classad::matching::gang::{BlockedPort, FailedCondition, Gang, GangFailure, ReadAttribute, TrialDocking};
use serde_json::{Value as Json, json};

use super::text::change_steps;
use crate::cli::io::parties::Parties;
use crate::cli::render::explanation::json::NOT_EXAMINED;
use crate::cli::render::gang::GangView;

/// Returns the report about a group of requests.
pub fn gang_report_json(report: &GangReport, requests: &[&str], summary: &str, parties: &Parties) -> Json {
    let attributes: Vec<&str> = report.attributes.iter().map(classad::ad::Name::as_str).collect();
    let mut document = json!({
        "requests": requests,
        "verdict": report.verdict.as_str(),
        "attributes": attributes,
        "summary": summary,
        "clauses": [],
        "conflicts": [],
        "nearest": [],
        "refusals": [],
        "names": [],
        "not_examined": NOT_EXAMINED,
    });
    if let Json::Object(document) = &mut document {
        document.extend(port_fields(report, parties));
    }
    document
}

/// Returns the fields about ports, gang and changes.
pub fn port_fields(report: &GangReport, parties: &Parties) -> serde_json::Map<String, Json> {
    let docked = |gang: &Gang| docked(gang, parties);
    let changes = report.changes.iter().map(|change| {
        json!({ "change": change_steps(change, parties).join(", "), "matches": 1, "gang": docked(&change.gang) })
    });
    let mut found = serde_json::Map::new();
    found.insert("changes".to_owned(), changes.collect());
    found.insert("gang".to_owned(), report.gang.as_ref().map_or(Json::Null, docked));
    let (ports, deepest, stuck) = report.failure.as_ref().map_or_else(
        || (json!([]), json!([]), json!([])),
        |impasse| (ports(impasse), docked(&impasse.deepest), stuck(impasse, parties)),
    );
    let of_impasse = report.failure.iter().flat_map(|impasse| &impasse.ports);
    let optional = of_impasse.clone().filter(|port| !port.is_required).map(|port| json!(port.label)).collect();
    let empty = of_impasse.filter(|port| !port.ruled_out.is_empty()).map(|port| {
        let conditions: Vec<Json> = port.ruled_out.iter().map(|found| condition(found, parties)).collect();
        json!({ "label": port.label, "conditions": conditions })
    });
    found.insert("optional".to_owned(), optional);
    found.insert("empty".to_owned(), empty.collect());
    found.insert("ports".to_owned(), ports);
    found.insert("deepest".to_owned(), deepest);
    found.insert("stuck".to_owned(), stuck);
    found
}

/// Returns whether an offer docks at a port, and the condition that keeps it away.
pub fn meeting_json(meeting: &TrialDocking, parties: &Parties) -> Json {
    let condition = meeting.condition.as_ref().map(|found| condition(found, parties));
    json!({ "label": meeting.label, "docks": condition.is_none(), "condition": condition })
}

fn docked(gang: &Gang, parties: &Parties) -> Json {
    serde_json::from_str(&GangView::new(gang, String::new(), parties).ports_json()).unwrap_or_default()
}

fn ports(impasse: &GangFailure) -> Json {
    let ports = impasse.ports.iter().map(
        |port| json!({"label": port.label, "alone": port.independent, "given": port.consistent, "used": port.used_up}),
    );
    ports.collect()
}

fn stuck(impasse: &GangFailure, parties: &Parties) -> Json {
    let stuck = |stuck: &BlockedPort| {
        let needs: Vec<Json> =
            stuck.unserved_ports.iter().map(|(label, offers)| json!({ "label": label, "offers": offers })).collect();
        let conditions: Vec<Json> = stuck.conditions.iter().map(|found| condition(found, parties)).collect();
        json!({
            "label": impasse.ports[stuck.port].label, "held": stuck.held.len(), "discarded": stuck.unacceptable,
            "fitting": stuck.fitting, "conditions": conditions, "unserved": names(&stuck.unserved, parties),
            "needs": needs,
        })
    };
    impasse.blocked.iter().map(stuck).collect()
}

fn condition(condition: &FailedCondition, parties: &Parties) -> Json {
    let definitions = |definitions: &[ReadAttribute]| -> Json {
        definitions.iter().map(|read| json!({ "name": read.name, "text": read.text, "value": read.value })).collect()
    };
    json!({
        "text": condition.text, "by": if condition.is_of_request { "request" } else { "offers" },
        "reads": definitions(&condition.request_attributes), "theirs": definitions(&condition.offer_attributes), "labels": condition.labels,
        "offers": names(&condition.offers, parties),
    })
}

fn names(offers: &[usize], parties: &Parties) -> Vec<String> {
    offers.iter().map(|offer| parties.offers[*offer].id().to_owned()).collect()
}
