//! A gang's report as data: what `classad.explain/1` has of requests with ports.
//!
//! ```text
//! "ports": [{"label", "alone", "given", "used"}...], "optional": [LABEL...],
//! "empty": [{"label", "conditions": [CONDITION...]}...], "deepest": [PORT...], "stuck": [{"label", "held", "discarded", "fitting", "conditions": [CONDITION...],
//!  "unserved": [ID...], "needs": [{"label", "offers"}...]}...], "gang": [PORT...] or null
//! CONDITION: {"text", "by": "request" or "offers", "reads": [{"name", "text", "value"}...], "theirs": the same,
//!  "labels": [LABEL...], "offers": [ID...]}
//! ```
//!
//! `alone` offers would do for a port by themselves; `given` of them have a partner at each other port; `used` would do,
//! but are used up. Of a port that none would have alone, `empty` says what keeps each offer from it; a group may do
//! without `optional` ones.  `deepest` is the best gang of as
//! many first ports as can be filled together, with ports as in the trees of gangs.  `stuck` is the next port, or those
//! of the next group: of the offers that it could get alone so many are `held` by that gang, ruled out by `conditions`,
//! `discarded` by the docking vector, or `unserved`, since their own ports cannot be filled: `needs` says how many
//! offers each port of the first of these could get.  A condition `reads` attributes of the request, and `theirs`
//! of the first of the offers and of those that are docked already.

use classad::explain::GangReport;
use classad::matching::gang::{Condition, Definition, Gang, Impasse, Meeting, Stuck};
use serde_json::{Value as Json, json};

use super::text::Words;
use crate::cli::io::parties::Parties;
use crate::cli::render::explanation::json::NOT_EXAMINED;
use crate::cli::render::gang::Told;

/// A report about the requests of a group.
pub fn report(report: &GangReport, requests: &[&str], summary: &str, parties: &Parties) -> Json {
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
        document.extend(parts(report, parties));
    }
    document
}

/// What is known of the ports, and what would help.
pub fn parts(report: &GangReport, parties: &Parties) -> serde_json::Map<String, Json> {
    let docked = |gang: &Gang| docked(gang, parties);
    let changes = report.changes.iter().map(|change| {
        json!({ "change": Words::change(change, parties).join(", "), "matches": 1, "gang": docked(&change.gang) })
    });
    let mut found = serde_json::Map::new();
    found.insert("changes".to_owned(), changes.collect());
    found.insert("gang".to_owned(), report.gang.as_ref().map_or(Json::Null, docked));
    let (ports, deepest, stuck) = report.impasse.as_ref().map_or_else(
        || (json!([]), json!([]), json!([])),
        |impasse| (ports(impasse), docked(&impasse.deepest), stuck(impasse, parties)),
    );
    let of_impasse = report.impasse.iter().flat_map(|impasse| &impasse.ports);
    let optional = of_impasse.clone().filter(|port| !port.is_needed).map(|port| json!(port.label)).collect();
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

/// What becomes of an offer at a port.
pub fn meeting(meeting: &Meeting, parties: &Parties) -> Json {
    let condition = meeting.condition.as_ref().map(|found| condition(found, parties));
    json!({ "label": meeting.label, "docks": condition.is_none(), "condition": condition })
}

fn docked(gang: &Gang, parties: &Parties) -> Json {
    serde_json::from_str(&Told::new(gang, String::new(), parties).ports_json()).unwrap_or_default()
}

fn ports(impasse: &Impasse) -> Json {
    let ports = impasse
        .ports
        .iter()
        .map(|port| json!({"label": port.label, "alone": port.alone, "given": port.given, "used": port.used}));
    ports.collect()
}

fn stuck(impasse: &Impasse, parties: &Parties) -> Json {
    let stuck = |stuck: &Stuck| {
        let needs: Vec<Json> =
            stuck.needs.iter().map(|(label, offers)| json!({ "label": label, "offers": offers })).collect();
        let conditions: Vec<Json> = stuck.conditions.iter().map(|found| condition(found, parties)).collect();
        json!({
            "label": impasse.ports[stuck.port].label, "held": stuck.held.len(), "discarded": stuck.discarded,
            "fitting": stuck.fitting, "conditions": conditions, "unserved": names(&stuck.unserved, parties),
            "needs": needs,
        })
    };
    impasse.stuck.iter().map(stuck).collect()
}

fn condition(condition: &Condition, parties: &Parties) -> Json {
    let definitions = |definitions: &[Definition]| -> Json {
        definitions.iter().map(|read| json!({ "name": read.name, "text": read.text, "value": read.value })).collect()
    };
    json!({
        "text": condition.text, "by": if condition.of_request { "request" } else { "offers" },
        "reads": definitions(&condition.reads), "theirs": definitions(&condition.theirs), "labels": condition.labels,
        "offers": names(&condition.offers, parties),
    })
}

fn names(offers: &[usize], parties: &Parties) -> Vec<String> {
    offers.iter().map(|offer| parties.offers[*offer].id().to_owned()).collect()
}
