//! A gang as its readers are told of it: an indented tree, JSON, an ad, a row.
//!
//! As JSON it is one object:
//!
//! ```text
//! {"version": 1, "match": ID, "request": ID, "ports": [PORT...], "unfilled": [LABEL...]}
//! PORT: {"label", "offer", "of", "link", "ranks": [OF THE PORT, OF THE OFFER], "ports": [PORT...], "unfilled"}
//! ```
//!
//! `match` is what `--notify` calls it.  `link` is the position of the offer's own port, below `ports` are its others;
//! `unfilled` are the labels of the ports that a group leaves unfilled, and `of` is the whole of which the offer is what
//! remained: both are left out where there is none.  An ad has the same attributes, in which `Unfilled` is a list, too.

use classad::ad::{Ad, Expression, Kind, Name, Span, Value};
use classad::matching::gang::{Docked, Gang};
use classad::protocol::ports;
use serde_json::json;

use super::super::io::parties::Parties;
use super::diagnostics;

/// The version of the objects.
pub const VERSION: u64 = 1;

/// A gang: its ports and theirs, each followed by those of the offer that is docked there.
pub struct Told {
    id: String,
    request: String,
    places: Vec<Place>,
}

/// A port in a gang.
struct Place {
    /// 1 for a port of the request.
    depth: usize,
    label: String,
    /// Nobody if it is left unfilled.
    docked: Option<Occupant>,
}

/// An offer at a port.
struct Occupant {
    offer: String,
    part_of: Option<String>,
    link: usize,
    ranks: [f64; 2],
}

impl Told {
    /// A gang under the name of its match.
    pub fn new(gang: &Gang, id: String, parties: &Parties) -> Self {
        let mut places = Vec::new();
        let mut pending = Vec::new();
        below(&parties.requests[gang.request].ad, None, &gang.ports, 1, &mut pending);
        while let Some((depth, label, docked)) = pending.pop() {
            let occupant = docked.map(|docked| Occupant {
                offer: parties.offer(docked.offer, docked.part),
                part_of: (docked.part > 1).then(|| parties.offers[docked.offer].id().to_owned()),
                link: docked.link,
                ranks: [docked.rank, docked.offer_rank],
            });
            places.push(Place { depth, label, docked: occupant });
            if let Some(docked) = docked {
                below(&parties.offers[docked.offer].ad, Some(docked.link), &docked.ports, depth + 1, &mut pending);
            }
        }
        Told { id, request: parties.requests[gang.request].id().to_owned(), places }
    }

    /// The name of the match.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The paths of labels of the ports that are left unfilled.
    pub fn unfilled(&self) -> Vec<String> {
        let mut path: Vec<&str> = Vec::new();
        let mut unfilled = Vec::new();
        for place in &self.places {
            path.truncate(place.depth - 1);
            path.push(&place.label);
            if place.docked.is_none() {
                unfilled.push(path.join("."));
            }
        }
        unfilled
    }

    /// The lines of a tree that is no wider than this, if that is possible at all.
    pub fn tree(&self, width: usize) -> String {
        let mut text = String::new();
        diagnostics::wrap(&mut text, "", [self.request.clone(), format!("(match {})", self.id)], width);
        for place in &self.places {
            // Far down there is no room to go in any further.
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
            diagnostics::wrap(&mut text, &indent, words, width);
        }
        text
    }

    /// One object.
    pub fn json(&self) -> String {
        let (id, request, (ports, unfilled)) = (json!(self.id), json!(self.request), self.parts());
        format!("{{\"version\":{VERSION},\"match\":{id},\"request\":{request},\"ports\":{ports}{unfilled}}}")
    }

    /// Only what is docked at the ports of the request.
    pub fn ports_json(&self) -> String {
        self.parts().0
    }

    /// What is docked at the ports of the request, and the entry for those that are left unfilled.
    fn parts(&self) -> (String, String) {
        let mut text = String::from("[");
        // Of each ad that is begun the labels that it leaves unfilled.
        let mut begun: Vec<Vec<&str>> = vec![Vec::new()];
        for place in &self.places {
            end(&mut text, &mut begun, place.depth);
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
        end(&mut text, &mut begun, 1);
        text.push(']');
        let unfilled = begun.pop().map(|unfilled| unfilled_json(&unfilled)).unwrap_or_default();
        (text, unfilled)
    }

    /// One ad.
    pub fn ad(&self) -> Ad {
        let text = |text: &str| Expression::literal(Value::string(text));
        let mut begun = vec![Begun { attributes: Vec::new(), ports: Vec::new(), unfilled: Vec::new() }];
        let own = &mut begun[0].attributes;
        own.push((Name::new("MyType"), text("Gang")));
        own.push((Name::new("Match"), text(&self.id)));
        own.push((Name::new("Request"), text(&self.request)));
        for place in &self.places {
            close(&mut begun, place.depth);
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
                (Name::new("Ranks"), list(ranks.into())),
            ];
            attributes.extend(docked.part_of.as_ref().map(|of| (Name::new("Of"), text(of))));
            begun.push(Begun { attributes, ports: Vec::new(), unfilled: Vec::new() });
        }
        close(&mut begun, 1);
        begun.pop().map(Begun::end).unwrap_or_default()
    }
}

/// The ports of an ad but for its link, the first one on top.
fn below<'g>(
    ad: &Ad,
    link: Option<usize>,
    docked: &'g [Docked],
    depth: usize,
    pending: &mut Vec<(usize, String, Option<&'g Docked>)>,
) {
    let list = ports(ad).map(|ports| ports.list).unwrap_or_default();
    let others = list.iter().enumerate().filter(|(position, _)| Some(*position) != link);
    let first = pending.len();
    for (_, port) in others {
        let found = docked.iter().find(|docked| port.label.is(&docked.label));
        // As the ad calls it, with its own capitals.
        pending.push((depth, found.map_or_else(|| port.label.to_string(), |docked| docked.label.clone()), found));
    }
    pending[first..].reverse();
}

/// Ends the objects that are deeper than a port at this depth stands.
fn end(text: &mut String, begun: &mut Vec<Vec<&str>>, depth: usize) {
    while begun.len() > depth
        && let Some(unfilled) = begun.pop()
    {
        text.push(']');
        *text += &unfilled_json(&unfilled);
        text.push('}');
    }
}

/// The entry of an object for the labels that an ad leaves unfilled.
fn unfilled_json(labels: &[&str]) -> String {
    if labels.is_empty() { String::new() } else { format!(",\"unfilled\":{}", json!(labels)) }
}

/// An ad to which ports may be added.
struct Begun {
    attributes: Vec<(Name, Expression)>,
    ports: Vec<Expression>,
    unfilled: Vec<Expression>,
}

impl Begun {
    fn end(mut self) -> Ad {
        self.attributes.push((Name::new("Ports"), list(self.ports)));
        if !self.unfilled.is_empty() {
            self.attributes.push((Name::new("Unfilled"), list(self.unfilled)));
        }
        self.attributes.into_iter().collect()
    }
}

/// Ends the ads that are deeper than a port at this depth stands.
fn close(begun: &mut Vec<Begun>, depth: usize) {
    while begun.len() > depth
        && let Some(ended) = begun.pop()
        && let Some(above) = begun.last_mut()
    {
        above.ports.push(Expression::new(Kind::Ad(ended.end()), Span::default()));
    }
}

fn list(elements: Vec<Expression>) -> Expression {
    Expression::new(Kind::List(elements.into()), Span::default())
}
