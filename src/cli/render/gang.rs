//! A gang for the output, as an indented tree, as JSON, or as an ad.

use classad::ad::{Ad, Expression, Name, Value};
use classad::matching::gang::{DockedOffer, Gang};
use classad::protocol::read_ports;

use super::super::io::match_records::{DockedRecord, GangRecord, PortRecord, RECORD_VERSION};
use super::super::io::parties::Parties;
use super::diagnostics;
use super::svg::gang_trees::{GangTree, GangTreePort};

/// A gang as a list of ports in depth-first order: each port is followed by the ports of the offer docked at it.
pub struct GangView {
    /// The identifier of the match.
    pub id: String,
    request: String,
    ports: Vec<GangViewPort>,
}

/// A port of the request or of a docked offer, whether it is filled or not.
struct GangViewPort {
    /// Depth in the tree: 1 for a port of the request.
    depth: usize,
    label: String,
    /// The offer docked at the port. `None` if the port is left unfilled.
    docked: Option<DockedRecord>,
}

impl GangView {
    /// Makes the view of a gang, of one unit of its request if the request stands for several units. `id` is the
    /// identifier of the match.
    pub fn new(gang: &Gang, unit: Option<usize>, id: String, parties: &Parties) -> Self {
        let mut ports = Vec::new();
        let mut pending = Vec::new();
        push_ports(&parties.requests[gang.request].ad, None, &gang.ports, 1, &mut pending);
        while let Some((depth, label, docked)) = pending.pop() {
            let occupant = docked.map(|docked| DockedRecord {
                offer: parties.offer_name(docked.offer, docked.part),
                of: (docked.part > 1).then(|| parties.offers[docked.offer].id().to_owned()),
                link: docked.link,
                ranks: Some([docked.rank, docked.offer_rank]),
            });
            ports.push(GangViewPort { depth, label, docked: occupant });
            if let Some(docked) = docked {
                push_ports(&parties.offers[docked.offer].ad, Some(docked.link), &docked.ports, depth + 1, &mut pending);
            }
        }
        GangView { id, request: parties.request_name(gang.request, unit), ports }
    }

    /// The number of offers on the longest path from the request to an offer.
    pub fn depth(&self) -> usize {
        self.ports.iter().filter(|port| port.docked.is_some()).map(|port| port.depth).max().unwrap_or(0)
    }

    /// Returns the unfilled ports, each as the path of port labels from the request, such as `cpu.license`.
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
            // A deep port has no room for its indentation: write its depth as a number instead.
            let (steps, most) = (place.depth * 2, width / 2);
            let indent = if steps <= most { " ".repeat(steps) } else { format!("{:most$}{} ", "", place.depth) };
            let mut words = vec![format!("{}:", place.label)];
            match &place.docked {
                None => words.push("(unfilled)".to_owned()),
                Some(docked) => {
                    words.push(docked.offer.clone());
                    if let Some([rank, offer_rank]) = docked.ranks.filter(|ranks| *ranks != [0.0, 0.0]) {
                        words.push(format!("(ranks {rank}, {offer_rank})"));
                    }
                }
            }
            diagnostics::push_words(&mut text, &indent, words, width);
        }
        text
    }

    /// Returns the gang as a tree to draw.
    pub fn drawn(self) -> GangTree {
        let port = |port: GangViewPort| {
            let ranks = port.docked.as_ref().and_then(|docked| docked.ranks).filter(|ranks| *ranks != [0.0, 0.0]);
            let ranks = ranks.map_or(String::new(), |[rank, offer_rank]| format!(" (ranks {rank}, {offer_rank})"));
            GangTreePort {
                depth: port.depth,
                label: port.label + &ranks,
                offer: port.docked.map(|docked| docked.offer),
            }
        };
        GangTree { request: self.request, id: self.id, ports: self.ports.into_iter().map(port).collect() }
    }

    /// Returns the gang as a record, for JSON.
    pub fn record(&self) -> GangRecord {
        let (ports, unfilled) = self.fold(|label, docked, ports, unfilled| PortRecord {
            label: label.to_owned(),
            docked: docked.clone(),
            ports,
            unfilled,
        });
        let (id, request) = (Some(self.id.clone()), self.request.clone());
        GangRecord { version: RECORD_VERSION, id, request, ports, unfilled }
    }

    /// Returns the gang as an ad. Its attributes are named as the fields of the JSON record of a gang.
    pub fn ad(&self) -> Ad {
        let text = |text: &str| Expression::literal(Value::string(text));
        let ad = |mut attributes: Vec<(&str, Expression)>, ports, unfilled: Vec<String>| -> Ad {
            attributes.push(("Ports", Expression::list(ports)));
            if !unfilled.is_empty() {
                attributes.push(("Unfilled", Expression::list(unfilled.iter().map(|label| text(label)))));
            }
            attributes.into_iter().map(|(name, value)| (Name::new(name), value)).collect()
        };
        let (ports, unfilled) = self.fold(|label, docked, ports, unfilled| {
            let link = i64::try_from(docked.link).unwrap_or(i64::MAX);
            let ranks = docked.ranks.unwrap_or_default().map(|rank| Expression::literal(Value::Real(rank)));
            let mut attributes = vec![
                ("Label", text(label)),
                ("Offer", text(&docked.offer)),
                ("Link", Expression::literal(Value::Integer(link))),
                ("Ranks", Expression::list(ranks)),
            ];
            attributes.extend(docked.of.as_ref().map(|of| ("Of", text(of))));
            Expression::ad(ad(attributes, ports, unfilled))
        });
        let own = vec![("MyType", text("Gang")), ("Match", text(&self.id)), ("Request", text(&self.request))];
        ad(own, ports, unfilled)
    }

    /// Converts the filled ports of the gang with `fold`, from the leaves up. Returns the converted ports of the
    /// request, and the labels of its unfilled ports.
    ///
    /// `fold` gets the label of a filled port, the offer docked there, the converted ports of this offer, and the
    /// labels of its unfilled ports.
    fn fold<T>(&self, fold: impl Fn(&str, &DockedRecord, Vec<T>, Vec<String>) -> T) -> (Vec<T>, Vec<String>) {
        let ended = |(mut ports, mut unfilled): (Vec<T>, Vec<String>)| {
            ports.reverse();
            unfilled.reverse();
            (ports, unfilled)
        };
        // For each depth, the converted ports of an ad and the labels of its unfilled ports, in reverse order. The loop
        // goes backwards: it reaches the ports of an offer before the port at which the offer is docked.
        let mut levels: Vec<(Vec<T>, Vec<String>)> = Vec::new();
        for port in self.ports.iter().rev() {
            let below = if levels.len() > port.depth { levels.pop().map(ended) } else { None };
            levels.resize_with(port.depth, Default::default);
            let (ports, unfilled) = &mut levels[port.depth - 1];
            match &port.docked {
                None => unfilled.push(port.label.clone()),
                Some(docked) => {
                    let (ports_below, unfilled_below) = below.unwrap_or_default();
                    ports.push(fold(&port.label, docked, ports_below, unfilled_below));
                }
            }
        }
        levels.pop().map(ended).unwrap_or_default()
    }
}

/// Pushes the ports of an ad in reverse order, so that the first port is popped first. Leaves out the port `link`, at
/// which the ad itself is docked.
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
        // A filled port is printed with the gang's label, whose capitals may differ from those in the ad.
        pending.push((depth, found.map_or_else(|| port.label.to_string(), |docked| docked.label.clone()), found));
    }
    pending[first..].reverse();
}
