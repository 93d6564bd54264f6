//! A gang for the output, as an indented tree, as JSON, or as an ad.
//!
//! As JSON it is one object:
//!
//! ```text
//! {"version": 1, "match": ID, "request": ID, "ports": [PORT...], "unfilled": [LABEL...]}
//! PORT: {"label", "offer", "of", "link", "ranks": [OF THE PORT, OF THE OFFER], "ports": [PORT...], "unfilled"}
//! ```
//!
//! `match` is the identifier of the match, as in the records of `--notify`. `link` is the position of the port by which
//! the offer docks, `ports` are its other ports. `unfilled` has the labels of the ports that a group leaves unfilled;
//! `of` is the name of the whole offer if the docked one is its residual. Both are left out if empty. The ad has
//! attributes of the same names.

use classad::ad::{Ad, Expression, Name, Value};
use classad::matching::gang::{DockedOffer, Gang};
use classad::protocol::{PORTS, read_ports};
use serde_json::json;

use super::super::io::parties::Parties;
use super::diagnostics;

/// The version of the JSON objects.
pub const GANG_VERSION: u64 = 1;

/// A gang as the list of its ports in depth-first order: each is followed by those of the offer docked there.
pub struct GangView {
    id: String,
    request: String,
    ports: Vec<GangViewPort>,
}

/// A port in a gang.
struct GangViewPort {
    /// Depth in the tree: 1 for a port of the request.
    depth: usize,
    label: String,
    /// `None` if the port is left unfilled.
    docked: Option<GangViewOffer>,
}

/// An offer that is docked at a port.
struct GangViewOffer {
    offer: String,
    part_of: Option<String>,
    link: usize,
    ranks: [f64; 2],
}

impl GangView {
    /// Makes the view of a gang; `id` is the identifier of its match.
    pub fn new(gang: &Gang, id: String, parties: &Parties) -> Self {
        let mut ports = Vec::new();
        let mut pending = Vec::new();
        push_ports(&parties.requests[gang.request].ad, None, &gang.ports, 1, &mut pending);
        while let Some((depth, label, docked)) = pending.pop() {
            let occupant = docked.map(|docked| GangViewOffer {
                offer: parties.offer_name(docked.offer, docked.part),
                part_of: (docked.part > 1).then(|| parties.offers[docked.offer].id().to_owned()),
                link: docked.link,
                ranks: [docked.rank, docked.offer_rank],
            });
            ports.push(GangViewPort { depth, label, docked: occupant });
            if let Some(docked) = docked {
                push_ports(&parties.offers[docked.offer].ad, Some(docked.link), &docked.ports, depth + 1, &mut pending);
            }
        }
        GangView { id, request: parties.requests[gang.request].id().to_owned(), ports }
    }

    /// The identifier of the match.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the unfilled ports, each as the path of labels that leads to it, such as `cpu.license`.
    pub fn unfilled(&self) -> Vec<String> {
        let mut path: Vec<&str> = Vec::new();
        let mut unfilled = Vec::new();
        for place in &self.ports {
            path.truncate(place.depth - 1);
            path.push(&place.label);
            if place.docked.is_none() {
                unfilled.push(path.join("."));
            }
        }
        unfilled
    }

    /// Returns the gang as an indented tree of at most `width` characters a line, unless a word is longer.
    pub fn tree(&self, width: usize) -> String {
        let mut text = String::new();
        diagnostics::push_words(&mut text, "", [self.request.clone(), format!("(match {})", self.id)], width);
        for place in &self.ports {
            // At great depth there is no room for indentation: write the depth as a number.
            let (steps, most) = (place.depth * 2, width / 2);
            let indent = if steps <= most { " ".repeat(steps) } else { format!("{:most$}{} ", "", place.depth) };
            let mut words = vec![format!("{}:", place.label)];
            match &place.docked {
                None => words.push("(unfilled)".to_owned()),
                Some(docked) => {
                    words.push(docked.offer.clone());
                    let [rank, offer_rank] = docked.ranks;
                    if docked.ranks != [0.0, 0.0] {
                        words.push(format!("(ranks {rank}, {offer_rank})"));
                    }
                }
            }
            diagnostics::push_words(&mut text, &indent, words, width);
        }
        text
    }

    /// Returns the gang as one JSON object.
    pub fn json(&self) -> String {
        let (id, request, (ports, unfilled)) = (json!(self.id), json!(self.request), self.ports_and_unfilled_json());
        format!("{{\"version\":{GANG_VERSION},\"match\":{id},\"request\":{request},\"ports\":{ports}{unfilled}}}")
    }

    /// Returns the ports of the request as a JSON array.
    pub fn ports_json(&self) -> String {
        self.ports_and_unfilled_json().0
    }

    /// Returns the ports of the request as a JSON array, and the JSON field for its unfilled ones.
    fn ports_and_unfilled_json(&self) -> (String, String) {
        let mut text = String::from("[");
        // A stack: for each object that is not closed yet, the labels of its unfilled ports.
        let mut begun: Vec<Vec<&str>> = vec![Vec::new()];
        for place in &self.ports {
            close_json_objects(&mut text, &mut begun, place.depth);
            let Some(docked) = &place.docked else {
                begun.last_mut().into_iter().for_each(|unfilled| unfilled.push(&place.label));
                continue;
            };
            if !text.ends_with('[') {
                text.push(',');
            }
            let of = docked.part_of.as_ref().map(|of| format!("\"of\":{},", json!(of))).unwrap_or_default();
            let (label, offer, ranks) = (json!(place.label), json!(docked.offer), json!(docked.ranks));
            let link = docked.link;
            text.extend([format!(
                "{{\"label\":{label},\"offer\":{offer},{of}\"link\":{link},\"ranks\":{ranks},\"ports\":["
            )]);
            begun.push(Vec::new());
        }
        close_json_objects(&mut text, &mut begun, 1);
        text.push(']');
        let unfilled = begun.pop().map(|unfilled| unfilled_json(&unfilled)).unwrap_or_default();
        (text, unfilled)
    }

    /// Returns the gang as an ad.
    pub fn ad(&self) -> Ad {
        let text = |text: &str| Expression::literal(Value::string(text));
        let mut begun = vec![UnfinishedAd { attributes: Vec::new(), ports: Vec::new(), unfilled: Vec::new() }];
        let own = &mut begun[0].attributes;
        own.push((Name::new("MyType"), text("Gang")));
        own.push((Name::new("Match"), text(&self.id)));
        own.push((Name::new("Request"), text(&self.request)));
        for place in &self.ports {
            close_ads(&mut begun, place.depth);
            let Some(docked) = &place.docked else {
                begun.last_mut().into_iter().for_each(|ad| ad.unfilled.push(text(&place.label)));
                continue;
            };
            let ranks = docked.ranks.map(|rank| Expression::literal(Value::Real(rank)));
            let mut attributes = vec![
                (Name::new("Label"), text(&place.label)),
                (Name::new("Offer"), text(&docked.offer)),
                (
                    Name::new("Link"),
                    Expression::literal(Value::Integer(i64::try_from(docked.link).unwrap_or(i64::MAX))),
                ),
                (Name::new("Ranks"), Expression::list(ranks)),
            ];
            attributes.extend(docked.part_of.as_ref().map(|of| (Name::new("Of"), text(of))));
            begun.push(UnfinishedAd { attributes, ports: Vec::new(), unfilled: Vec::new() });
        }
        close_ads(&mut begun, 1);
        begun.pop().map(UnfinishedAd::into_ad).unwrap_or_default()
    }
}

/// Pushes the ports of an ad except its link, so that the first one is popped first.
fn push_ports<'g>(
    ad: &Ad,
    link: Option<usize>,
    docked: &'g [DockedOffer],
    depth: usize,
    pending: &mut Vec<(usize, String, Option<&'g DockedOffer>)>,
) {
    let list = read_ports(ad).map(|ports| ports.list).unwrap_or_default();
    let others = list.iter().enumerate().filter(|(position, _)| Some(*position) != link);
    let first = pending.len();
    for (_, port) in others {
        let found = docked.iter().find(|docked| port.label.is(&docked.label));
        // Docked ports keep the capitals of the gang's label.
        pending.push((depth, found.map_or_else(|| port.label.to_string(), |docked| docked.label.clone()), found));
    }
    pending[first..].reverse();
}

/// Closes the JSON objects of all ads that cannot contain a port at this depth.
fn close_json_objects(text: &mut String, begun: &mut Vec<Vec<&str>>, depth: usize) {
    while begun.len() > depth
        && let Some(unfilled) = begun.pop()
    {
        text.push(']');
        *text += &unfilled_json(&unfilled);
        text.push('}');
    }
}

/// Returns the JSON field for unfilled ports, with the comma before it; empty without any.
fn unfilled_json(labels: &[&str]) -> String {
    if labels.is_empty() { String::new() } else { format!(",\"unfilled\":{}", json!(labels)) }
}

/// An ad under construction, to which ports may still be added.
struct UnfinishedAd {
    attributes: Vec<(Name, Expression)>,
    ports: Vec<Expression>,
    unfilled: Vec<Expression>,
}

impl UnfinishedAd {
    fn into_ad(mut self) -> Ad {
        self.attributes.push((PORTS.clone(), Expression::list(self.ports)));
        if !self.unfilled.is_empty() {
            self.attributes.push((Name::new("Unfilled"), Expression::list(self.unfilled)));
        }
        self.attributes.into_iter().collect()
    }
}

/// Finishes all ads that cannot contain a port at this depth, and adds them to their parents.
fn close_ads(begun: &mut Vec<UnfinishedAd>, depth: usize) {
    while begun.len() > depth
        && let Some(ended) = begun.pop()
        && let Some(above) = begun.last_mut()
    {
        above.ports.push(Expression::ad(ended.into_ad()));
    }
}
