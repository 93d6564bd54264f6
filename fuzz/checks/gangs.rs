//! The search for gangs beside a search that tries every assignment of offers to ports.

use std::sync::Arc;

use classad::ad::{Ad, Dialect, Participant, ScopeFrame, Truth, Value};
use classad::eval::{Context, Environment, EnvironmentMember, Evaluator, NameBinding};
use classad::matching::gang::{Algorithm, Gangmatcher};
use classad::matching::policy::PolicyVector;
use classad::protocol::{Protocol, is_typed_rank, rank_value, read_ports};
use classad::syntax::{ParseOptions, parse_ad};

use super::random::{Choices, print_text};

/// The best gang is the best of all, every algorithm finds one if there is one, and the list of gangs is all of them.
pub fn gangs(data: &[u8]) {
    let mut choices = Choices::Bytes(Vec::from(data).into_iter());
    let offers: Vec<Ad> = (0..choices.usize(1..6)).map(|_| offer(&mut choices)).collect();
    let request = request(&mut choices);
    let shown = || [&request].into_iter().chain(&offers).map(print_text).collect::<Vec<_>>().join("\n");
    let all = every_gang(&request, &offers);
    let new = || Gangmatcher::new(&offers, Protocol::new(Dialect::Classad), Context::new(Dialect::Classad)).0;
    for (algorithm, seed) in Algorithm::ALL.into_iter().zip(1..) {
        let found =
            new().with_algorithm(algorithm, seed).marshal(0, &request).expect("the ports are those of the grammar");
        let found = found.map(|gang| gang.members().iter().map(|docked| docked.offer).collect::<Vec<_>>());
        match &found {
            None => assert!(all.is_empty(), "{} finds none of\n{}", algorithm.name(), shown()),
            Some(found) if algorithm == Algorithm::Best => assert_eq!(Some(found), all.first(), "{}", shown()),
            Some(found) => assert!(all.contains(found), "{} finds {found:?} in\n{}", algorithm.name(), shown()),
        }
    }
    let mut matcher = new();
    let listed = matcher.gangs(0, &request).expect("the ports are those of the grammar");
    let listed: Vec<Vec<_>> = listed.map(|gang| gang.members().iter().map(|docked| docked.offer).collect()).collect();
    assert_eq!(listed, all, "{}", shown());
}

/// The offers of every gang in the order of the request's ports, best gang first.
fn every_gang(request: &Ad, offers: &[Ad]) -> Vec<Vec<usize>> {
    let mut environment = Environment::for_match();
    for (position, ad) in std::iter::once(request).chain(offers).enumerate() {
        environment.add_member(member(ad, Participant::at(position)));
    }
    let mut search = Exhaustive { environment, context: Context::new(Dialect::Classad), gangs: Vec::new() };
    search.fill(&mut Vec::new());
    search.gangs.sort_by(|one, other| one.0.cmp_greatest_first(&other.0).then_with(|| one.1.cmp(&other.1)));
    search.gangs.into_iter().map(|(_, offers)| offers).collect()
}

/// A participant whose ports are open.
fn member(ad: &Ad, participant: Participant) -> EnvironmentMember {
    let frame = ScopeFrame::root(ad.clone(), participant);
    let mut member = EnvironmentMember::new(Arc::clone(&frame), Vec::new());
    for (index, port) in (0..).zip(read_ports(ad).expect("the ports are those of the grammar").list) {
        if let Some(record) = port.record {
            member.ports.push(frame.dock(record, Some(index)));
            member.bindings.push(NameBinding { name: port.label, first_port: Some(index), to: None });
        } else {
            member.ports.push(Arc::clone(&frame));
        }
    }
    member
}

struct Exhaustive {
    environment: Environment,
    context: Context,
    /// The scores of each gang and its offers.
    gangs: Vec<(PolicyVector, Vec<usize>)>,
}

impl Exhaustive {
    /// Docks offers at the ports behind those of `docked`. Each offer has one port.
    fn fill(&mut self, docked: &mut Vec<usize>) {
        let port = docked.len();
        if port == self.environment.members()[0].ports.len() {
            return self.judge(docked);
        }
        for offer in 0..self.environment.members().len() - 1 {
            if docked.contains(&offer) {
                continue;
            }
            let candidate = Participant::of_offer(offer);
            self.bind(Participant::REQUEST, port, Some((candidate, 0)));
            self.bind(candidate, 0, Some((Participant::REQUEST, port)));
            docked.push(offer);
            self.fill(docked);
            docked.pop();
            self.bind(candidate, 0, None);
            self.bind(Participant::REQUEST, port, None);
        }
    }

    fn bind(&mut self, participant: Participant, port: usize, to: Option<(Participant, usize)>) {
        let member = self.environment.member_mut(participant).expect("it is a participant");
        match (member.bindings.get_mut(port), to) {
            (Some(binding), _) if member.frame.ad.get(&classad::protocol::PORTS).is_some() => binding.to = to,
            (_, Some(to)) => self.environment.bind_other(participant, to),
            (_, None) => self.environment.unbind_other(participant),
        }
    }

    fn judge(&mut self, docked: &[usize]) {
        let protocol = Protocol::new(Dialect::Classad);
        let mut scores = Vec::new();
        for (port, offer) in docked.iter().enumerate() {
            for (participant, port) in [(Participant::REQUEST, port), (Participant::of_offer(*offer), 0)] {
                let frame = &self.environment.members()[participant.position()].ports[port];
                let evaluator = || Evaluator::new(&self.environment, &self.context);
                let Some(name) = protocol.constraint_name(&frame.ad) else { return };
                if !evaluator().attribute(frame, name).is_ok_and(|value| Truth::of(&value, Dialect::Classad).is_true())
                {
                    return;
                }
                let rank = evaluator().attribute(frame, protocol.rank_name()).unwrap_or(Value::Undefined);
                let is_typed = is_typed_rank(&rank, Dialect::Classad);
                scores.push(if is_typed { rank } else { Value::Real(rank_value(&rank)) });
            }
        }
        self.gangs.push((PolicyVector::new(scores, Dialect::Classad), docked.to_vec()));
    }
}

fn parsed(text: &str) -> Ad {
    parse_ad(text.as_bytes(), ParseOptions::default()).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

/// A function of an attribute. The index inverts some of them.
fn function(choices: &mut Choices, of: &str) -> String {
    let number = choices.u8(0..4);
    match choices.u8(0..9) {
        0..=2 => of.to_owned(),
        3 => format!("{of} + {number}"),
        4 => format!("2 * {of} - {number}"),
        5 => format!("-{of}"),
        6 => format!("{of} / 2"),
        7 => format!("ifThenElse({of} is undefined, {number}, {of})"),
        _ => format!("{of} % 2"),
    }
}

fn comparison(choices: &mut Choices, of: &str, with: &str) -> String {
    let operator = choices.pick(&["==", "!=", "<", ">=", "is", "isnt", "<=", ">"]);
    match choices.u8(0..12) {
        0 => format!("!({of} {operator} {with})"),
        1 => format!("member({of}, {{ {with}, 2 }})"),
        2 => format!("!member({of}, {{ {with}, 1, \"s\" }})"),
        3 => format!("({of} {operator} {with} || {of} is undefined)"),
        _ => format!("{of} {operator} {with}"),
    }
}

fn attributes(choices: &mut Choices) -> String {
    let values =
        ["0", "1", "2", "3", "\"s\"", "\"S\"", "1.5", "true", "1 + 1", "A", "B", "undefined", "-0.0", "{ 1, 2 }"];
    let mut text = String::new();
    for name in ["A", "B"] {
        if !choices.chance(10) {
            text += &[name, " = ", choices.pick(&values), "; "].concat();
        }
    }
    text
}

fn offer(choices: &mut Choices) -> Ad {
    let attributes = attributes(choices);
    let label = if choices.chance(20) { "other" } else { "job" };
    let of = [label, choices.pick(&[".X", ".Y"])].concat();
    let of = function(choices, &of);
    let with = choices.pick(&["A", "B", "0", "1", "2"]);
    let demand = match choices.u8(0..4) {
        0 | 1 => "true".to_owned(),
        2 => comparison(choices, &of, with),
        _ => format!("{} && {label}.X isnt 3", comparison(choices, &of, with)),
    };
    let rank = match choices.u8(0..5) {
        0 => format!("Rank = {label}.X;"),
        1 => "Rank = A;".to_owned(),
        2 => format!("Rank = {label}.Y - B;"),
        _ => String::new(),
    };
    parsed(&if label == "other" {
        format!("[ {attributes} Constraint = {demand}; {rank} ]")
    } else {
        format!("[ {attributes} Ports = {{ [ Label = job; Y = B; Constraint = {demand}; {rank} ] }} ]")
    })
}

fn request(choices: &mut Choices) -> Ad {
    let ports: Vec<String> = (0..choices.usize(1..5)).map(|position| port(choices, position)).collect();
    parsed(&format!("[ {} Ports = {{ {} }} ]", attributes(choices), ports.join(", ")))
}

fn port(choices: &mut Choices, position: usize) -> String {
    let own = format!("p{position}");
    let earlier = (position > 0).then(|| format!("p{}", choices.usize(0..position)));
    let attribute = choices.pick(&["A", "B"]);
    let shown = match &earlier {
        Some(earlier) if choices.chance(50) => function(choices, &format!("{earlier}.{attribute}")),
        _ if choices.chance(30) => function(choices, &format!("{own}.A")),
        _ => choices.u8(0..4).to_string(),
    };
    let with = match &earlier {
        Some(earlier) if choices.chance(60) => function(choices, &format!("{earlier}.A")),
        _ => choices.u8(0..4).to_string(),
    };
    let of = function(choices, &format!("{own}.{attribute}"));
    let mut constraint = if choices.chance(20) { "true".to_owned() } else { comparison(choices, &of, &with) };
    if choices.chance(30) {
        let more = comparison(choices, &with, &of);
        constraint = format!("{constraint} && {more}");
    }
    let rank = match (&earlier, choices.u8(0..5)) {
        (_, 0) => format!("Rank = {own}.B;"),
        (_, 1) => format!("Rank = -{own}.A;"),
        (Some(earlier), 2) => format!("Rank = {own}.A - {earlier}.B;"),
        _ => String::new(),
    };
    let y = if choices.chance(30) { "Y = X + 1; " } else { "" };
    format!("[ Label = {own}; X = {shown}; {y}Constraint = {constraint}; {rank} ]")
}
