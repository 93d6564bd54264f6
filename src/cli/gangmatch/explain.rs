//! `gangmatch --explain`: why a request gets no gang, for people and as JSON.
//!
//! ```text
//! {"version": 1, "request": ID, "ports": [{"label", "alone", "given", "used"}...],
//!  "deepest": [PORT...], "stuck": [{"label", "held", "discarded", "fitting", "conditions": [CONDITION...],
//!  "unserved": [ID...], "needs": [{"label", "offers"}...]}...]}
//! CONDITION: {"text", "by": "request" or "offers", "reads": [{"name", "text", "value"}...], "labels": [LABEL...],
//!  "offers": [ID...]}
//! ```
//!
//! `alone` offers would do for a port by themselves; `given` of them have a partner at each other port; `used` would do,
//! but are used up.  `deepest` is the best gang of as many first ports as can be filled together, with ports as in the
//! trees of gangs.  `stuck` is the next port, or those of the next group: of the offers that it could get alone so many
//! are `held` by that gang, ruled out by `conditions`, `discarded` by the docking vector, or `unserved`, since their own
//! ports cannot be filled: `needs` says how many offers each port of the first of these could get.

use classad::matching::gang::{Condition, Impasse, Stuck};
use serde_json::{Value as Json, json};

use super::super::parties::Parties;
use super::super::report;
use super::told::{Told, VERSION};

/// So many conditions are shown to people.
const MOST_SHOWN: usize = 5;

/// So many names are shown to people.
const MOST_NAMES: usize = 3;

/// One object.
pub fn json(impasse: &Impasse, request: &str, parties: &Parties) -> String {
    let names = |offers: &[usize]| -> Vec<String> { offers.iter().map(|offer| name(parties, *offer)).collect() };
    let ports = impasse.ports.iter();
    let ports: Vec<Json> = ports
        .map(|port| json!({"label": port.label, "alone": port.alone, "given": port.given, "used": port.used}))
        .collect();
    let condition = |condition: &Condition| {
        let reads = condition.reads.iter();
        let reads: Vec<Json> =
            reads.map(|read| json!({"name": read.name, "text": read.text, "value": read.value})).collect();
        json!({
            "text": condition.text, "by": by(condition), "reads": reads, "labels": condition.labels,
            "offers": names(&condition.offers),
        })
    };
    let stuck = |stuck: &Stuck| {
        let needs = stuck.needs.iter().map(|(label, offers)| json!({"label": label, "offers": offers}));
        json!({
            "label": impasse.ports[stuck.port].label, "held": stuck.held, "discarded": stuck.discarded,
            "fitting": stuck.fitting, "conditions": stuck.conditions.iter().map(condition).collect::<Vec<_>>(),
            "unserved": names(&stuck.unserved), "needs": needs.collect::<Vec<_>>(),
        })
    };
    let stuck: Vec<Json> = impasse.stuck.iter().map(stuck).collect();
    let deepest = Told::new(&impasse.deepest, String::new(), parties).ports_json();
    let (request, ports, stuck) = (json!(request), json!(ports), json!(stuck));
    format!("{{\"version\":{VERSION},\"request\":{request},\"ports\":{ports},\"deepest\":{deepest},\"stuck\":{stuck}}}")
}

/// Whose condition it is.
fn by(condition: &Condition) -> &'static str {
    if condition.of_request { "request" } else { "offers" }
}

/// What an offer is called; what remained of one by the name of the whole.
fn name(parties: &Parties, offer: usize) -> String {
    parties.offers[offer].id.clone()
}

/// Lines to read, no wider than this if that is possible.
pub fn text(impasse: &Impasse, request: &str, parties: &Parties, width: usize) -> String {
    let mut text = String::new();
    let mut tell = |indent: &str, sentence: String| {
        report::wrap(&mut text, indent, sentence.split(' ').map(str::to_owned), width);
    };
    tell("", format!("{request} gets no gang"));
    for port in &impasse.ports {
        let used = if port.used > 0 { format!("; {} more are used up", port.used) } else { String::new() };
        let beside = if impasse.ports.len() == 1 || port.alone == 0 {
            String::new()
        } else {
            format!(", {} with a partner at each other port", port.given)
        };
        tell("  ", format!("{}: {}{beside}{used}", port.label, counted(port.alone, "candidate")));
    }
    let held: Vec<String> = impasse
        .deepest
        .ports
        .iter()
        .map(|docked| format!("{} at {}", parties.offer(docked.offer, docked.part), docked.label))
        .collect();
    if !held.is_empty() {
        tell("  ", format!("as far as it gets: {}", held.join(", ")));
    }
    for stuck in &impasse.stuck {
        let label = &impasse.ports[stuck.port].label;
        let all = impasse.ports[stuck.port].alone;
        if all == 0 {
            tell("  ", format!("{label} stays empty: no offer that is left and it accept each other"));
            continue;
        }
        tell("  ", format!("{label} stays empty, of its {}", counted(all, "candidate")));
        if stuck.held > 0 {
            tell("    ", format!("{} in the gang already", are(stuck.held)));
        }
        for condition in stuck.conditions.iter().take(MOST_SHOWN) {
            let mut sentence = format!("{} ruled out by {}", are(condition.offers.len()), condition.text);
            for read in &condition.reads {
                sentence.extend([", where ", &read.name, " = ", &read.text]);
                if read.text != read.value {
                    sentence.extend([" is ", &read.value]);
                }
            }
            let names = condition.offers.iter().take(MOST_NAMES).map(|offer| name(parties, *offer));
            let names: Vec<String> = names.collect();
            let more = if condition.offers.len() > MOST_NAMES { ", ..." } else { "" };
            tell("    ", format!("{sentence} ({}{more})", names.join(", ")));
        }
        let further: usize = stuck.conditions.iter().skip(MOST_SHOWN).map(|condition| condition.offers.len()).sum();
        if further > 0 {
            tell("    ", format!("{} ruled out by others", are(further)));
        }
        if stuck.discarded > 0 {
            tell("    ", format!("{} discarded by the docking vector", are(stuck.discarded)));
        }
        if let Some(first) = stuck.unserved.first() {
            let needs = stuck.needs.iter().map(|(label, offers)| format!("{label} {offers}"));
            let needs: Vec<String> = needs.collect();
            let count = stuck.unserved.len();
            let their = if count == 1 { "its" } else { "their" };
            let candidates = format!("candidates at those of {}: {}", name(parties, *first), needs.join(", "));
            tell("    ", format!("{count} cannot fill {their} own ports; {candidates}"));
        }
        if stuck.fitting > 0 {
            tell("    ", format!("{} would do, but the group needs more", stuck.fitting));
        }
    }
    text
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn are(count: usize) -> String {
    format!("{count} {}", if count == 1 { "is" } else { "are" })
}
