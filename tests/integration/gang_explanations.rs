//! Explanations of nested gangs against a naive search over all ways to fill the ports of random trees of ads.
//!
//! The model has its own evaluation and its own search, and shares nothing with the program.

use std::fmt::Write;

use classad::ad::{Ad, Dialect};
use classad::eval::Context;
use classad::explain::{AdReference, EmptyPortCause, GangReport, GangVerdict, SummaryWriter, explain_gang};
use classad::matching::gang::{DockedOffer, GangFailure, Gangmatcher, MemberCause, MemberFailure};
use classad::protocol::Protocol;
use classad::syntax::{ParseOptions, parse_ad};
use serde_json::Value as Json;

use crate::binary::{classad, file};

/// A port of the request or of a service. It wants an ad of a kind whose value is large enough.
#[derive(Clone)]
struct Port {
    kind: usize,
    ask: i64,
    /// Whether a service asks its offers for what it is asked itself, too. Its link comes first then.
    passes_on: bool,
    least: i64,
    /// Whether the value must differ from that of the port before.
    differs: bool,
}

/// An offer: a leaf if it has no ports. Its value is its base and the sum of the values at its ports.
#[derive(Clone)]
struct Offer {
    kind: usize,
    base: i64,
    ports: Vec<Port>,
    /// Whether the link is the first port, and shows the base alone.
    link_first: bool,
    /// What the offer allows beyond its value to be asked.
    slack: i64,
    odd_only: bool,
}

impl Port {
    fn clauses(&self, label: &str, before: Option<&str>) -> Vec<String> {
        let mut clauses = vec![format!("{label}.Kind == {}", self.kind), format!("{label}.V >= {}", self.least)];
        clauses.extend(before.filter(|_| self.differs).map(|before| format!("{label}.V != {before}.V")));
        clauses
    }

    fn text(&self, label: &str, before: Option<&str>) -> String {
        let ask = if self.passes_on { format!("up.Ask + {}", self.ask) } else { self.ask.to_string() };
        format!("[ Label = {label}; Ask = {ask}; Constraint = {} ]", self.clauses(label, before).join(" && "))
    }

    fn ask(&self, asked: i64) -> i64 {
        self.ask + if self.passes_on { asked } else { 0 }
    }

    /// Whether a clause of the port is true of an ad with this kind and value.
    fn is_met(&self, clause: usize, (kind, value): (usize, i64), before: Option<i64>) -> bool {
        match clause {
            0 => kind == self.kind,
            1 => value >= self.least,
            _ => before.is_none_or(|before| value != before),
        }
    }

    fn accepts(&self, found: (usize, i64), before: Option<i64>) -> bool {
        (0..if self.differs { 3 } else { 2 }).all(|clause| self.is_met(clause, found, before))
    }
}

impl Offer {
    fn clauses(&self) -> Vec<String> {
        let partner = if self.ports.is_empty() { "other" } else { "up" };
        let mut clauses = vec![format!("{partner}.Ask <= V + {}", self.slack)];
        clauses.extend(self.odd_only.then(|| "V % 2 == 1".to_owned()));
        clauses
    }

    fn is_met(&self, clause: usize, asked: i64, value: i64) -> bool {
        if clause == 0 { asked <= value + self.slack } else { value % 2 == 1 }
    }

    fn accepts(&self, asked: i64, value: i64) -> bool {
        self.is_met(0, asked, value) && (!self.odd_only || self.is_met(1, asked, value))
    }

    fn text(&self, name: usize) -> String {
        let constraint = self.clauses().join(" && ");
        if self.ports.is_empty() {
            return format!(
                "[ Name = \"o{name}\"; Kind = {}; V = {}; Constraint = {constraint} ]",
                self.kind, self.base
            );
        }
        let mut value = self.base.to_string();
        let mut own = Vec::new();
        for (index, port) in self.ports.iter().enumerate() {
            if !self.link_first {
                write!(value, " + q{index}.V").unwrap();
            }
            let before = index.checked_sub(1).map(|before| format!("q{before}"));
            own.push(port.text(&format!("q{index}"), before.as_deref()));
        }
        let link = format!("[ Label = up; Kind = {}; V = {value}; Constraint = {constraint} ]", self.kind);
        own.insert(if self.link_first { 0 } else { own.len() }, link);
        format!("[ Name = \"o{name}\"; Ports = {{ {} }} ]", own.join(", "))
    }
}

/// What is still to be done when a port is filled.
type Then<'t> = &'t mut dyn FnMut(&mut Vec<bool>, &[i64]);

struct Model {
    offers: Vec<Offer>,
}

impl Model {
    /// Calls `then` for every way to fill `ports` after those with the values `values`, with the values at all ports.
    fn fill(&self, ports: &[Port], asked: i64, values: &mut Vec<i64>, used: &mut Vec<bool>, then: Then<'_>) {
        let Some(port) = ports.get(values.len()) else { return then(used, values) };
        let before = values.last().copied();
        for offer in 0..self.offers.len() {
            if used[offer] || self.offers[offer].kind != port.kind {
                continue;
            }
            let ask = port.ask(asked);
            self.serve(offer, ask, used, &mut |used, value| {
                if port.accepts((self.offers[offer].kind, value), before) && self.offers[offer].accepts(ask, value) {
                    values.push(value);
                    self.fill(ports, asked, values, used, then);
                    values.pop();
                }
            });
        }
    }

    /// Calls `then` for every way in which an offer can fill its own ports, with its value. Its constraint does not count.
    fn serve(&self, offer: usize, ask: i64, used: &mut Vec<bool>, then: &mut dyn FnMut(&mut Vec<bool>, i64)) {
        used[offer] = true;
        let Offer { base, ports, link_first, .. } = &self.offers[offer];
        self.fill(ports, ask, &mut Vec::new(), used, &mut |used, values| {
            then(used, base + if *link_first { 0 } else { values.iter().sum::<i64>() });
        });
        used[offer] = false;
    }

    fn can_fill(&self, ports: &[Port], asked: i64, used: &[bool]) -> bool {
        let mut found = false;
        self.fill(ports, asked, &mut Vec::new(), &mut used.to_vec(), &mut |_, _| found = true);
        found
    }

    /// Number of offers of those that are `used` or not that can serve a port as the only one.
    fn serving(&self, port: &Port, asked: i64, used: &[bool], of_used: bool) -> usize {
        let alone = Port { differs: false, ..port.clone() };
        let is_serving = |offer: &usize| {
            let mut others = if of_used { vec![false; used.len()] } else { used.to_vec() };
            let mut found = false;
            self.serve(*offer, alone.ask(asked), &mut others, &mut |_, value| {
                let ask = alone.ask(asked);
                found |=
                    alone.accepts((self.offers[*offer].kind, value), None) && self.offers[*offer].accepts(ask, value);
            });
            found
        };
        (0..used.len()).filter(|offer| used[*offer] == of_used).filter(is_serving).count()
    }

    /// Returns the values at the ports of docked offers, and marks the offers as used. Every constraint must be met.
    fn values(&self, ports: &[Port], asked: i64, docked: &[DockedOffer], used: &mut Vec<bool>) -> Vec<i64> {
        let mut values: Vec<i64> = Vec::new();
        for (port, docked) in ports.iter().zip(docked) {
            let offer = &self.offers[docked.offer];
            assert!(!std::mem::replace(&mut used[docked.offer], true), "{} is used twice", docked.offer);
            let own = self.values(&offer.ports, port.ask(asked), &docked.ports, used);
            assert_eq!(own.len(), offer.ports.len());
            let value = offer.base + if offer.link_first { 0 } else { own.iter().sum::<i64>() };
            assert!(port.accepts((offer.kind, value), values.last().copied()), "port of {}", docked.label);
            assert!(offer.accepts(port.ask(asked), value), "constraint of {}", docked.offer);
            values.push(value);
        }
        values
    }
}

/// What was stated, to see that the cases are of all kinds.
#[derive(Default, Debug)]
struct Counts {
    matches: usize,
    empty: usize,
    taken: usize,
    own_ports: usize,
    deep: usize,
    refused: usize,
    of_port: usize,
    together: usize,
    beside: usize,
}

/// The explained ports: of the request or of an offer, with what they are asked for and what is used elsewhere.
struct Level<'m> {
    model: &'m Model,
    ports: &'m [Port],
    labels: &'m dyn Fn(usize) -> String,
    asked: i64,
    used: Vec<bool>,
    depth: usize,
}

impl Level<'_> {
    /// Checks every statement of an analysis of these ports.
    fn check(&self, failure: &GangFailure, counts: &mut Counts) {
        let own = |label: &str| (0..self.ports.len()).find(|port| (self.labels)(*port) == label);
        for of_port in &failure.ports {
            let Some(port) = own(&of_port.label) else { continue };
            let serving = self.model.serving(&self.ports[port], self.asked, &self.used, false);
            assert!(of_port.independent >= serving, "{} has {serving} candidates", of_port.label);
            assert!(of_port.consistent <= of_port.independent);
            assert!(of_port.used_up >= self.model.serving(&self.ports[port], self.asked, &self.used, true));
            let ruled_out: usize = of_port.ruled_out.iter().map(|condition| condition.offers.len()).sum();
            assert!(of_port.independent == 0 || ruled_out == 0);
        }
        let mut used = self.used.clone();
        let values = self.model.values(self.ports, self.asked, &failure.deepest.ports, &mut used);
        let next = values.len();
        assert!(!self.model.can_fill(&self.ports[..=next], self.asked, &self.used), "port {next} can be filled");
        for blocked in &failure.blocked {
            assert_eq!(own(&failure.ports[blocked.port].label), Some(next));
            let port = &self.ports[next];
            for condition in &blocked.conditions {
                for offer in &condition.offers {
                    assert!(!used[*offer]);
                    self.assert_no_service(*offer, port, &values, &used);
                }
            }
            for offer in &blocked.unserved {
                self.assert_no_service(*offer, port, &values, &used);
            }
            assert_eq!((blocked.fitting, blocked.unacceptable), (0, 0));
            assert_eq!(blocked.member.is_some(), !blocked.unserved.is_empty());
            if let Some(member) = &blocked.member {
                counts.beside += usize::from(next > 0);
                self.check_member(member, port, next, &values, &used, counts);
            }
        }
    }

    fn assert_no_service(&self, offer: usize, port: &Port, values: &[i64], used: &[bool]) {
        let (ask, of) = (port.ask(self.asked), &self.model.offers[offer]);
        self.model.serve(offer, ask, &mut used.to_vec(), &mut |_, value| {
            let is_met = port.accepts((of.kind, value), values.last().copied()) && of.accepts(ask, value);
            assert!(!is_met, "{offer} serves with {value}");
        });
    }

    fn check_member(
        &self,
        member: &MemberFailure,
        port: &Port,
        at: usize,
        values: &[i64],
        used: &[bool],
        counts: &mut Counts,
    ) {
        let (model, ask) = (self.model, port.ask(self.asked));
        let of = &model.offers[member.offer];
        assert_eq!(member.link, "up");
        let mut with = used.to_vec();
        assert!(!std::mem::replace(&mut with[member.offer], true));
        match &member.cause {
            MemberCause::OwnPorts(failure) => {
                counts.own_ports += 1;
                counts.deep += usize::from(self.depth > 0);
                assert!(!model.can_fill(&of.ports, ask, &with), "{} fills its own ports", member.offer);
                let labels = |port: usize| format!("q{port}");
                let depth = self.depth + 1;
                let level = Level { model, ports: &of.ports, labels: &labels, asked: ask, used: with, depth };
                level.check(failure, counts);
            }
            MemberCause::Refused { own_ports, clauses, fail_alone } => {
                counts.refused += 1;
                let own = model.values(&of.ports, ask, own_ports, &mut with.clone());
                assert_eq!(own.len(), of.ports.len());
                let label = (self.labels)(at);
                let before = at.checked_sub(1).map(|before| (self.labels)(before));
                let of_port = port.clauses(&label, before.as_deref());
                let of_offer = of.clauses();
                let is_met = |text: &str, is_of_port: bool, value: i64| {
                    let texts = if is_of_port { &of_port } else { &of_offer };
                    let clause = texts.iter().position(|known| known == text).unwrap_or_else(|| panic!("{text}"));
                    if is_of_port {
                        port.is_met(clause, (of.kind, value), values.last().copied())
                    } else {
                        of.is_met(clause, ask, value)
                    }
                };
                assert!(!clauses.is_empty());
                counts.of_port += clauses.iter().filter(|clause| clause.condition.is_of_port).count();
                counts.together += usize::from(!fail_alone);
                model.serve(member.offer, ask, &mut used.to_vec(), &mut |_, value| {
                    let met = clauses
                        .iter()
                        .filter(|clause| is_met(&clause.condition.text, clause.condition.is_of_port, value));
                    let met = met.count();
                    assert!(if *fail_alone { met == 0 } else { met < clauses.len() }, "{value} meets {met}");
                });
            }
            MemberCause::Unknown => panic!("{} was not examined", member.offer),
        }
    }
}

fn port(random: &mut fastrand::Rng, kinds: std::ops::Range<usize>, least: i64, may_pass_on: bool) -> Port {
    Port {
        kind: random.usize(kinds),
        ask: random.i64(0..5),
        passes_on: may_pass_on && random.u8(..3) == 0,
        least: random.i64(0..least),
        differs: random.u8(..4) == 0,
    }
}

/// Returns a random offer. One of kind 0 is a leaf; a service of a kind has offers of lesser kinds at its ports.
fn offer(random: &mut fastrand::Rng) -> Offer {
    let kind: usize = [0, 0, 0, 0, 1, 1, 2, 3][random.usize(..8)];
    let link_first = random.u8(..4) == 0;
    let count = if kind == 0 { 0 } else { random.usize(1..3) };
    let ports = (0..count).map(|_| port(random, kind.saturating_sub(2)..kind, 3, link_first)).collect();
    let base = random.i64(0..if kind == 0 { 6 } else { 2 });
    Offer { kind, base, ports, link_first, slack: random.i64(0..5), odd_only: random.u8(..3) == 0 }
}

fn request_text(ports: &[Port]) -> String {
    let text = |(index, port): (usize, &Port)| {
        let before = index.checked_sub(1).map(|before| format!("r{before}"));
        port.text(&format!("r{index}"), before.as_deref())
    };
    format!("[ Name = \"root\"; Ports = {{ {} }} ]", ports.iter().enumerate().map(text).collect::<Vec<_>>().join(", "))
}

fn ad(text: &str) -> Ad {
    parse_ad(text.as_bytes(), ParseOptions::default()).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

/// The outcomes of the offers that are followed from port to port, as the report has them.
fn followed(failure: &GangFailure) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    let mut next = failure.blocked.iter().find_map(|blocked| blocked.member.as_ref());
    while let Some(member) = next.take() {
        let outcome = match &member.cause {
            MemberCause::OwnPorts(failure) => {
                next = failure.blocked.iter().find_map(|blocked| blocked.member.as_ref());
                "own-ports"
            }
            MemberCause::Refused { .. } => "refused",
            MemberCause::Unknown => "unknown",
        };
        found.push((format!("o{}", member.offer), outcome));
    }
    found
}

/// Checks what the sentence says against the facts, which were checked against the model.
fn check_text(report: &GangReport, failure: &GangFailure) {
    let names = |ad: AdReference| match ad {
        AdReference::Request(_) => "root".to_owned(),
        AdReference::Offer { offer, .. } => format!("o{offer}"),
    };
    let writer = SummaryWriter {
        subject: "root",
        is_plural: false,
        nouns: ["offer", "offers"],
        names: &names,
        dialect: Dialect::Classad,
        max_clause_chars: 1000,
        brevity: 0,
    };
    let text = writer.gang_summary(report);
    let GangVerdict::Incompatible(empty) = &report.verdict else {
        assert!(!text.contains("cannot fill") && !text.contains("and fills"), "{text}");
        return;
    };
    let follows = matches!(empty.cause, EmptyPortCause::OwnPorts);
    let chain = if follows { followed(failure) } else { Vec::new() };
    let unfilled = chain.iter().filter(|(_, outcome)| *outcome == "own-ports").count();
    // An offer whose own ports have no candidate ends the sentence.
    assert!(text.matches("cannot fill its own").count() <= unfilled, "{text}");
    assert_eq!(text.contains("cannot fill its own"), unfilled > 0, "{text}");
    if let Some((name, _)) = chain.first() {
        assert!(text.contains(&format!("{name} fits ")), "{text}");
    }
    if text.contains("and fills") {
        assert_eq!(chain.last().map(|(_, outcome)| *outcome), Some("refused"), "{text}");
        assert!(text.contains("fails") || text.contains("no way to fill its own ports meets"), "{text}");
    }
}

/// Runs the program on a case, and checks that its JSON has the facts that were checked.
fn check_json(case: u64, offers: &[String], request: &str, failure: &GangFailure) {
    let pool = file(&format!("explained-{case}-pool.ad"), offers.join("\n"));
    let request = file(&format!("explained-{case}-request.ad"), request);
    let (_, text, errors) = classad(&["gangmatch", &request, "--pool", &pool, "--explain", "-o", "json"]);
    let report: Json = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}{errors}{error}"));
    let report = &report[0];
    for (port, json) in failure.ports.iter().zip(report["ports"].as_array().unwrap()) {
        assert_eq!(json["label"], port.label);
        let counts = ["alone", "given", "used"].map(|key| json[key].as_u64().unwrap());
        assert_eq!(counts, [port.independent as u64, port.consistent as u64, port.used_up as u64], "{text}");
    }
    let mut found = Vec::new();
    let mut stuck = &report["stuck"];
    while let Some(member) = stuck.as_array().into_iter().flatten().map(|port| &port["member"]).find(|of| !of.is_null())
    {
        found.push((member["offer"].as_str().unwrap(), member["outcome"].as_str().unwrap()));
        stuck = &member["stuck"];
    }
    let expected = followed(failure);
    let expected: Vec<(&str, &str)> = expected.iter().map(|(name, outcome)| (name.as_str(), *outcome)).collect();
    assert_eq!(found, expected, "{text}");
}

/// `CLASSAD_CASES` sets the number of random trees.
#[test]
fn no_explanation_of_a_nested_gang_contradicts_a_search_of_everything() {
    const PRINTED: usize = 12;
    let cases = std::env::var("CLASSAD_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(400);
    let (mut counts, mut printed) = (Counts::default(), 0);
    for case in 0..cases {
        let mut random = fastrand::Rng::with_seed(case);
        let model = Model { offers: (0..random.usize(5..10)).map(|_| offer(&mut random)).collect() };
        let roots: Vec<Vec<Port>> =
            (0..2).map(|_| (0..random.usize(1..3)).map(|_| port(&mut random, 0..4, 9, false)).collect()).collect();
        let texts: Vec<String> = model.offers.iter().enumerate().map(|(index, offer)| offer.text(index)).collect();
        let offers: Vec<Ad> = texts.iter().map(|text| ad(text)).collect();
        let context = Context::new(Dialect::Classad);
        let (mut matcher, bad) = Gangmatcher::new(&offers, Protocol::new(Dialect::Classad), context);
        assert_eq!(bad, []);
        let mut used = vec![false; offers.len()];
        // In every other case another request is served first.
        if case % 2 == 1 {
            let gang = matcher.marshal(0, &ad(&request_text(&roots[1]))).unwrap();
            assert_eq!(gang.is_some(), model.can_fill(&roots[1], 0, &used));
            gang.iter().flat_map(|gang| gang.members()).for_each(|docked| used[docked.offer] = true);
        }
        let request = request_text(&roots[0]);
        let report = explain_gang(&mut matcher, 1, &ad(&request)).unwrap();
        let shown = || format!("case {case}\n{request}\n{}", texts.join("\n"));
        assert_eq!(report.gang.is_some(), model.can_fill(&roots[0], 0, &used), "{}", shown());
        let Some(failure) = &report.failure else {
            counts.matches += 1;
            continue;
        };
        println!("{}", shown());
        if let GangVerdict::EmptyPort(empty) = &report.verdict {
            counts.empty += 1;
            assert_eq!(model.serving(&roots[0][empty.port], 0, &used, false), 0);
            if failure.ports[empty.port].used_up > 0 {
                assert_eq!(report.is_taken, model.can_fill(&roots[0], 0, &vec![false; used.len()]));
                counts.taken += usize::from(report.is_taken);
            }
        }
        let labels = |port: usize| format!("r{port}");
        let level = Level { model: &model, ports: &roots[0], labels: &labels, asked: 0, used: used.clone(), depth: 0 };
        level.check(failure, &mut counts);
        check_text(&report, failure);
        if case % 2 == 0 && printed < PRINTED && failure.blocked.iter().any(|blocked| blocked.member.is_some()) {
            printed += 1;
            check_json(case, &texts, &request, failure);
        }
    }
    let Counts { matches, empty, taken, own_ports, deep, refused, of_port, together, beside } = counts;
    let all = [matches, empty, own_ports, deep, refused, of_port, beside];
    assert!(all.iter().all(|count| *count >= 5) && taken > 0 && together > 0, "{counts:?}");
    println!("{counts:?}");
}
