//! Compares the search with an exhaustive search over all assignments of offers to ports, on small random instances.

mod work;

use std::cmp::Ordering;

use super::participants::{DockingVerdict, ParticipantTable, PortPlace};
use super::{Algorithm, DockedOffer, Gang, Gangmatcher};
use crate::ad::{Ad, Dialect, Participant, Value};
use crate::eval::{Context, RandomStream};
use crate::matching::Statistics;
use crate::matching::policy::PolicyVector;
use crate::protocol::{PortPattern, Protocol};
use crate::syntax::{ParseOptions, parse_ad};

/// The score of a gang, computed without the code under test. `offers` and `links` list the docked offers in the order
/// of scoring.
///
/// `steps` has two parts for each ad in preorder. The first part is the number and the indices of its unfilled ports,
/// if it has optional ports. The second part is the ranks at its filled ports.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReferenceScore {
    steps: Vec<PolicyVector>,
    pub(crate) offers: Vec<Participant>,
    pub(crate) links: Vec<usize>,
}

impl ReferenceScore {
    /// Compares two scores. `Less` means that `self` is better.
    fn compare(&self, other: &ReferenceScore) -> Ordering {
        let steps = self.steps.len().max(other.steps.len());
        let zero = || PolicyVector::of_numbers([0.0, 0.0]);
        let of = |key: &ReferenceScore, step: usize| key.steps.get(step).cloned().unwrap_or_else(zero);
        let worths = (0..steps).map(|step| of(self, step).cmp_greatest_first(&of(other, step)));
        let worths = worths.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal);
        worths.then_with(|| (&self.offers, &self.links).cmp(&(&other.offers, &other.links)))
    }
}

/// Finds all gangs of a request by trying every assignment of offers to ports.
pub(crate) struct ExhaustiveSearch {
    table: ParticipantTable,
    pub(crate) unused: Vec<bool>,
    /// The filled ports with their links, in the order of scoring.
    filled: Vec<(PortPlace, PortPlace)>,
    /// The scores so far. `None` stands for the ranks at a port, which are computed at the end.
    steps: Vec<Option<f64>>,
    found: Vec<ReferenceScore>,
}

/// The ports that are still to be filled: open ports of the current ad, and then the ports of later ads.
#[derive(Clone, Default)]
struct RemainingPorts {
    ports: Vec<PortPlace>,
    /// Ads docked at the current ad, as triples: the index of the port at which the ad is docked, the ad, and the index
    /// of the ad's link.
    docked: Vec<(usize, Participant, Option<usize>)>,
    later: Vec<(usize, Participant, Option<usize>)>,
}

impl ExhaustiveSearch {
    pub(crate) fn new(offers: &[Ad]) -> Self {
        let context = Context::new(Dialect::Classad);
        let (table, bad) = ParticipantTable::new(offers, Protocol::new(Dialect::Classad), context);
        assert_eq!(bad, []);
        let unused = vec![true; offers.len()];
        ExhaustiveSearch { table, unused, filled: Vec::new(), steps: Vec::new(), found: Vec::new() }
    }

    /// Returns all gangs of a request, best first.
    pub(crate) fn gangs(&mut self, request: &Ad) -> Vec<ReferenceScore> {
        self.table.replace(Participant::REQUEST, request).unwrap();
        self.found.clear();
        self.go(RemainingPorts { later: vec![(0, Participant::REQUEST, None)], ..RemainingPorts::default() });
        let mut sorted = std::mem::take(&mut self.found);
        sorted.sort_by(ReferenceScore::compare);
        sorted
    }

    fn go(&mut self, mut left: RemainingPorts) {
        if !left.ports.is_empty() {
            let place = left.ports.remove(0);
            return self.fill(place, &left);
        }
        left.docked.sort_unstable();
        let mut later = std::mem::take(&mut left.docked);
        later.append(&mut left.later);
        if later.is_empty() {
            return self.judge();
        }
        let (_, participant, link) = later.remove(0);
        let all = self.table.port_count(participant);
        let mandatory: PortPattern = (0..all).collect();
        let patterns = self.table.patterns(participant).map(|patterns| patterns.to_vec());
        let optional = patterns.is_some();
        for pattern in patterns.unwrap_or_else(|| vec![mandatory]) {
            if link.is_some_and(|link| !pattern.contains(link)) {
                continue;
            }
            self.table.mark_unfilled(participant, &pattern);
            let depth = self.steps.len();
            if optional {
                let unfilled: Vec<usize> = (0..all).filter(|port| !pattern.contains(*port)).collect();
                let step = |number: usize| f64::from(u32::try_from(number).unwrap());
                self.steps.push(Some(-step(unfilled.len())));
                self.steps.extend(unfilled.into_iter().map(|port| Some(step(port))));
            }
            let ports = pattern.ones().filter(|port| Some(*port) != link);
            let ports = ports.map(|port| PortPlace { participant, port }).collect();
            self.go(RemainingPorts { ports, docked: Vec::new(), later: later.clone() });
            self.steps.truncate(depth);
            self.table.reopen_unfilled(participant, &pattern);
        }
    }

    fn fill(&mut self, place: PortPlace, left: &RemainingPorts) {
        for participant in (0..self.table.offer_count()).map(Participant::of_offer) {
            if !self.unused[participant.offer()] {
                continue;
            }
            self.unused[participant.offer()] = false;
            for port in 0..self.table.port_count(participant) {
                let link = PortPlace { participant, port };
                self.table.dock(place, link);
                self.filled.push((place, link));
                self.steps.push(None);
                let mut left = left.clone();
                if self.table.port_count(participant) > 1 {
                    left.docked.push((place.port, participant, Some(port)));
                }
                self.go(left);
                self.steps.pop();
                self.filled.pop();
                self.table.undock(place, link);
            }
            self.unused[participant.offer()] = true;
        }
    }

    fn judge(&mut self) {
        for (place, link) in self.filled.clone() {
            if self.table.accepts(place) != DockingVerdict::Met || self.table.accepts(link) != DockingVerdict::Met {
                return;
            }
        }
        let mut filled = self.filled.clone().into_iter();
        let steps = self.steps.clone().into_iter().map(|step| {
            step.map_or_else(
                || {
                    let (place, link) = filled.next().unwrap();
                    let ranks = [place, link].map(|place| self.table.ordered_rank(place).unwrap_or(Value::Real(0.0)));
                    PolicyVector::new(ranks.to_vec(), Dialect::Classad)
                },
                |step| PolicyVector::of_numbers([step, 0.0]),
            )
        });
        let steps = steps.collect();
        let offers = self.filled.iter().map(|(_, link)| link.participant).collect();
        let links = self.filled.iter().map(|(_, link)| link.port).collect();
        self.found.push(ReferenceScore { steps, offers, links });
    }
}

/// Returns the offers and links of a gang in the order of [`ReferenceScore`].
pub(crate) fn members(gang: &Gang) -> (Vec<Participant>, Vec<usize>) {
    let (mut offers, mut links) = (Vec::new(), Vec::new());
    let mut pending: Vec<&[DockedOffer]> = vec![&gang.ports];
    while let Some(ports) = pending.pop() {
        for docked in ports {
            offers.push(Participant::of_offer(docked.offer));
            links.push(docked.link);
        }
        pending.extend(ports.iter().rev().map(|docked| docked.ports.as_slice()).filter(|ports| !ports.is_empty()));
    }
    (offers, links)
}

/// Generates random requests and offers with ports, ranks and small numbers, so that many of them match.
pub(crate) struct GangAdGenerator(pub(crate) fastrand::Rng);

impl GangAdGenerator {
    fn pick(&mut self, from: &[&str]) -> String {
        from[self.0.usize(..from.len())].to_owned()
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.0.u32(..100) < percent
    }

    fn number(&mut self) -> i32 {
        self.0.i32(0..4)
    }

    /// Returns a random function of the attribute reference `of`, such as `2 * cpu.A - 1`. Some of the functions cannot
    /// be inverted.
    fn function(&mut self, of: &str) -> String {
        let number = self.number();
        match self.0.u32(..8) {
            0..=2 => of.to_owned(),
            3 => format!("{of} + {number}"),
            4 => format!("2 * {of} - {number}"),
            5 => format!("-{of}"),
            6 => format!("{of} / 2"),
            _ => format!("{of} % 2"),
        }
    }

    fn comparison(&mut self, of: &str, with: &str) -> String {
        let operator = self.pick(&["==", "==", "!=", "<", ">=", "is", "isnt"]);
        format!("{of} {operator} {with}")
    }

    /// Returns a random constraint of an offer's port. `label` is the label for the port at which the offer docks.
    fn demand(&mut self, label: &str) -> String {
        let (number, attribute) = (self.number().to_string(), self.pick(&["X", "Y"]));
        let of = self.function(&format!("{label}.{attribute}"));
        let first = match self.0.u32(..10) {
            0..=3 => "true".to_owned(),
            4 => self.comparison(&of, "A"),
            5 => format!("{label}.{attribute} is undefined || {label}.{attribute} > {number}"),
            _ => self.comparison(&of, &number),
        };
        if self.chance(25) { format!("{first} && {label}.X isnt 3") } else { first }
    }

    fn attributes(&mut self) -> String {
        let mut text = String::new();
        for name in ["A", "B"] {
            let value = match self.0.u32(..10) {
                0 => continue,
                1 => "\"s\"".to_owned(),
                2 => "1 + 1".to_owned(),
                3 if name == "B" => "A".to_owned(),
                _ => self.number().to_string(),
            };
            text += &[name, " = ", &value, "; "].concat();
        }
        text
    }

    pub(crate) fn offer(&mut self) -> Ad {
        let attributes = self.attributes();
        let rank = |writer: &mut Self, label: &str| match writer.0.u32(..6) {
            0 => format!("; Rank = {label}.X"),
            1 => "; Rank = A".to_owned(),
            _ => String::new(),
        };
        let text = match self.0.u32(..10) {
            0 => format!("[ {attributes} Constraint = {} ]", self.demand("other")),
            1 | 2 => {
                let (first, second) = (self.demand("job"), self.demand("sub"));
                let ranks = [rank(self, "job"), rank(self, "sub")];
                let shown = self.function("job.X");
                let shown = if self.chance(50) { format!("X = {shown}; ") } else { self.number_shown() };
                let swapped = self.chance(40);
                let link = format!("[ Label = job; Y = B; Constraint = {first}{} ]", ranks[0]);
                // A port that is listed before the link cannot read what is docked at the link, so it shows a number.
                let shown = if swapped { self.number_shown() } else { shown };
                let own = self.pick(&["sub.A == 1", "sub.B isnt 2", "true", "sub.A < sub.B"]);
                let sub = format!("[ Label = sub; {shown} Constraint = {own} && ({second}){} ]", ranks[1]);
                let sub = sub.replace("sub.X", "sub.A");
                let sub = if self.chance(20) { format!("[ Min = 0; Ports = {{ {sub} }} ]") } else { sub };
                let ports = if swapped { format!("{sub}, {link}") } else { format!("{link}, {sub}") };
                format!("[ {attributes} Ports = {{ {ports} }} ]")
            }
            _ => {
                let (demand, rank) = (self.demand("job"), rank(self, "job"));
                format!("[ {attributes} Ports = {{ [ Label = job; Constraint = {demand}{rank} ] }} ]")
            }
        };
        parse_ad(text.as_bytes(), ParseOptions::default()).unwrap_or_else(|error| panic!("{text}: {error:?}"))
    }

    fn number_shown(&mut self) -> String {
        format!("X = {}; ", self.number())
    }

    fn port(&mut self, position: usize, ranked: bool) -> String {
        let own = format!("p{position}");
        let earlier = (position > 0).then(|| format!("p{}", self.0.usize(..position)));
        let attribute = self.pick(&["A", "B"]);
        let shown = match &earlier {
            Some(earlier) if self.chance(60) => self.function(&format!("{earlier}.{attribute}")),
            _ if self.chance(30) => self.function(&format!("{own}.A")),
            _ => self.number().to_string(),
        };
        let with = match &earlier {
            Some(earlier) if self.chance(60) => self.function(&format!("{earlier}.A")),
            _ => self.number().to_string(),
        };
        let of = self.function(&format!("{own}.{attribute}"));
        let constraint = match self.0.u32(..6) {
            0 => "true".to_owned(),
            1 => format!("{} || {own}.B is undefined", self.comparison(&of, &with)),
            _ => self.comparison(&of, &with),
        };
        let rank = match (&earlier, self.0.u32(..4)) {
            _ if !ranked => String::new(),
            (_, 0) => format!("; Rank = {own}.B"),
            (_, 1) => format!("; Rank = -{own}.A"),
            (Some(earlier), 2) => format!("; Rank = {own}.A - {earlier}.B"),
            _ => String::new(),
        };
        let y = if self.chance(30) { "Y = X + 1; " } else { "" };
        format!("[ Label = {own}; X = {shown}; {y}Constraint = {constraint}{rank} ]")
    }

    pub(crate) fn request(&mut self, most: usize) -> Ad {
        let (count, ranked) = (self.0.usize(1..=most), self.chance(60));
        let ports: Vec<String> = (0..count).map(|position| self.port(position, ranked)).collect();
        let text = if self.chance(30) {
            let from = self.0.usize(..count);
            let (min, max) = (self.0.usize(..2), self.0.usize(1..=count - from));
            let group = format!("[ Min = {min}; Max = {max}; Ports = {{ {} }} ]", ports[from..].join(", "));
            let before: String = ports[..from].iter().flat_map(|port| [port.as_str(), ", "]).collect();
            format!("[ Ports = {{ {before}{group} }} ]")
        } else {
            format!("[ Ports = {{ {} }} ]", ports.join(", "))
        };
        parse_ad(text.as_bytes(), ParseOptions::default()).unwrap_or_else(|error| panic!("{text}: {error:?}"))
    }
}

pub(crate) fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(otherwise)
}

pub(crate) fn text(ads: &[&Ad]) -> String {
    let texts = ads.iter().map(|ad| {
        let tree = crate::ad::Expression::new(crate::ad::ExpressionKind::Ad((*ad).clone()), crate::ad::Span::default());
        String::from_utf8(crate::syntax::print(&tree, crate::syntax::Style::New)).unwrap()
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Compares the gangs that each algorithm finds with those of the exhaustive search. The environment variables
/// `CLASSAD_CASES`, `CLASSAD_SEED` and `CLASSAD_FIRST` select other cases.
#[test]
fn best_is_the_greatest_of_all_gangs() {
    let (cases, seed) = (number("CLASSAD_CASES", 200), number("CLASSAD_SEED", 1));
    let (mut matched, mut with_choice) = (0_u64, 0_u64);
    for case in number("CLASSAD_FIRST", 0)..cases {
        let mut writer = GangAdGenerator(fastrand::Rng::with_seed(seed * 1_000_000 + case));
        let mut offers: Vec<Ad> = (0..writer.0.usize(2..7)).map(|_| writer.offer()).collect();
        if writer.chance(40) {
            // Make some offers equal.
            let kinds = writer.0.usize(1..=offers.len().min(3));
            (kinds..offers.len()).for_each(|offer| offers[offer] = offers[writer.0.usize(..kinds)].clone());
        }
        let roots: Vec<Ad> = (0..2).map(|_| writer.request(4)).collect();
        let shown = || text(&roots.iter().chain(&offers).collect::<Vec<_>>());
        let new = || {
            let context = Context { max_search_tests: u64::MAX, ..Context::new(Dialect::Classad) };
            Gangmatcher::new(&offers, Protocol::new(Dialect::Classad), context).0
        };
        let mut exhaustive = ExhaustiveSearch::new(&offers);
        let mut best = new();
        for (index, root) in roots.iter().enumerate() {
            let all = exhaustive.gangs(root);
            with_choice += u64::from(all.len() > 1);
            let found = best.marshal(index, root).unwrap();
            let expected = all.first().map(|key| (key.offers.clone(), key.links.clone()));
            assert_eq!(found.as_ref().map(members), expected, "case {case}, root {index}\n{}", shown());
            if index == 0 {
                let mut enumerating = new();
                let listed: Vec<_> = enumerating.gangs(0, root).unwrap().take(20).map(|gang| members(&gang)).collect();
                let expected: Vec<_> = all.iter().take(20).map(|key| (key.offers.clone(), key.links.clone())).collect();
                assert_eq!(listed, expected, "case {case}, all gangs\n{}", shown());
                for algorithm in &Algorithm::ALL[1..] {
                    let mut preset = new().with_algorithm(*algorithm, case);
                    let found = preset.marshal(0, root).unwrap();
                    let is_valid = found.as_ref().is_none_or(|gang| {
                        let (offers, links) = members(gang);
                        all.iter().any(|key| {
                            let mut pairs: Vec<_> = key.offers.iter().zip(&key.links).collect();
                            let mut made: Vec<_> = offers.iter().zip(&links).collect();
                            pairs.sort();
                            made.sort();
                            pairs == made
                        })
                    });
                    assert!(is_valid, "case {case}, {}: {found:?}\n{}", algorithm.name(), shown());
                    assert_eq!(found.is_some(), !all.is_empty(), "case {case}, {}\n{}", algorithm.name(), shown());
                }
            }
            if let Some(gang) = found {
                matched += 1;
                for docked in gang.members() {
                    exhaustive.unused[docked.offer] = false;
                }
            }
        }
    }
    // Require enough cases with gangs: otherwise the comparison would prove little.
    assert!(matched > cases / 4 && with_choice > cases / 4, "{matched} {with_choice} of {cases}");
}

/// Returns machines with consecutive keys, and licences that each accept a range of keys.
fn machines_and_licences(machines: i64, licences: &[(i64, i64)]) -> Vec<Ad> {
    let machine = |key| {
        format!("[ Key = {key}; Memory = 10 * {key}; Ports = {{ [ Label = job; Constraint = job.Size <= Memory ] }} ]")
    };
    let licence = |(from, to): &(i64, i64)| {
        format!(
            "[ App = \"sim\"; Ports = {{ [ Label = site; Constraint = site.Host >= {from} && site.Host < {to} ] }} ]"
        )
    };
    let texts = (0..machines).map(machine).chain(licences.iter().map(licence));
    texts.map(|text| parse_ad(text.as_bytes(), ParseOptions::default()).unwrap()).collect()
}

/// Returns the offers of the gang that an algorithm finds for a request with `ports`, and the statistics of the search.
/// The offers are `None` if there is no gang.
fn marshalled(offers: &[Ad], ports: &str, algorithm: Algorithm) -> (Option<Vec<usize>>, Statistics) {
    let request = parse_ad(format!("[ Ports = {{ {ports} }} ]").as_bytes(), ParseOptions::default()).unwrap();
    let context = Context::new(Dialect::Classad);
    let mut matcher = Gangmatcher::new(offers, Protocol::new(Dialect::Classad), context).0.with_algorithm(algorithm, 1);
    let found = matcher.marshal(0, &request).unwrap();
    (found.map(|gang| gang.members().iter().map(|docked| docked.offer).collect()), matcher.statistics())
}

#[test]
fn what_the_index_tells_is_not_evaluated() {
    let offers = machines_and_licences(8, &[(0, 4), (4, 8)]);
    let ports = |of_cpu: &str| {
        format!(
            "[ Label = cpu; Size = 45; Constraint = {of_cpu} ], \
             [ Label = licence; Host = cpu.Key; Constraint = licence.App == \"SIM\" ]"
        )
    };
    // The index cannot apply `%`, so a constraint with `%` is evaluated.
    for (of_cpu, expected, evaluations) in
        [("cpu.Key > 3", [5, 9], 0), ("cpu.Key > 5 && 2 * cpu.Key < 14", [6, 9], 0), ("cpu.Key % 2 == 0", [6, 9], 2)]
    {
        let (found, counted) = marshalled(&offers, &ports(of_cpu), Algorithm::Best);
        assert_eq!(found.as_deref(), Some(&expected[..]), "{of_cpu}");
        assert_eq!(counted.evaluations, evaluations, "{of_cpu}");
        let (found, counted) = marshalled(&offers, &ports(of_cpu), Algorithm::Lr);
        assert_eq!(found.as_deref(), Some(&expected[..]), "{of_cpu}");
        // The thesis's algorithms evaluate the constraints of both ports for each candidate tried.
        assert!(counted.evaluations > counted.tests, "{of_cpu}: {counted:?}");
    }
}

#[test]
fn what_licences_demand_narrows_machines() {
    let ports = "[ Label = cpu; Size = 0; Constraint = cpu.Key >= 0 ], \
                 [ Label = licence; Host = cpu.Key + 1; Constraint = licence.App == \"sim\" ], \
                 [ Label = spare; Size = 0; Constraint = spare.Key < 2 ]";
    for (licences, expected) in [
        (vec![(7, 8), (5, 6), (5, 6)], Some([4, 11, 0])),
        (vec![(20, 30), (10, 11)], Some([9, 11, 0])),
        (vec![(20, 30), (0, 1)], None),
    ] {
        let offers = machines_and_licences(10, &licences);
        let (found, counted) = marshalled(&offers, ports, Algorithm::Best);
        assert_eq!(found.as_deref(), expected.as_ref().map(|gang| &gang[..]), "{licences:?}");
        // Only machines that some licence accepts are tried.
        assert_eq!(counted.tests, if expected.is_some() { 3 } else { 0 }, "{licences:?}");
    }
}

#[test]
fn what_is_drawn_is_drawn_each_time() {
    let offer = "[ Ports = { [ Label = job; Constraint = job.X == 1 && random() < 0.5 ] } ]";
    let offers = vec![parse_ad(offer.as_bytes(), ParseOptions::default()).unwrap(); 3];
    let request = "[ Ports = { [ Label = a; X = 1; Constraint = random() < 0.9 ] } ]";
    let request = parse_ad(request.as_bytes(), ParseOptions::default()).unwrap();
    let context = Context { random: Some(RandomStream::new(1)), ..Context::new(Dialect::Classad) };
    let mut matcher = Gangmatcher::new(&offers, Protocol::new(Dialect::Classad), context).0;
    let found: Vec<Option<usize>> =
        (0..40).map(|_| matcher.gangs(0, &request).unwrap().next().map(|gang| gang.ports[0].offer)).collect();
    for offer in [Some(0), Some(1), Some(2), None] {
        assert!(found.contains(&offer), "{found:?}");
    }
}

fn ads(texts: &[&str]) -> Vec<Ad> {
    texts.iter().map(|text| parse_ad(text.as_bytes(), ParseOptions::default()).unwrap()).collect()
}

fn matcher_of(offers: &[&str]) -> Gangmatcher {
    Gangmatcher::new(&ads(offers), Protocol::new(Dialect::Classad), Context::new(Dialect::Classad)).0
}

#[test]
fn listing_gangs_counts_one_match_and_ends_for_good() {
    let mut matcher = matcher_of(&["[ X = 1; Constraint = true ]"; 3]);
    let requests = ads(&[
        "[ Ports = { [ Label = a; Constraint = a.X == 2 ] } ]",
        "[ Ports = { [ Label = a; Constraint = a.X == 1 ] } ]",
    ]);
    for _ in 0..2 {
        assert_eq!(matcher.marshal(0, &requests[0]).unwrap(), None);
    }
    let mut gangs = matcher.gangs(0, &requests[1]).unwrap();
    assert_eq!(gangs.by_ref().map(|gang| gang.ports[0].offer).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!((gangs.next(), gangs.fault()), (None, None));
    assert_eq!((matcher.statistics().roots, matcher.statistics().matched), (3, 1));
}

#[test]
fn listing_gangs_keeps_the_algorithm() {
    let mut matcher = matcher_of(&["[ X = 1; Constraint = true ]", "[ X = 2; Constraint = true ]"]);
    matcher = matcher.with_algorithm(Algorithm::Lr, 0);
    let request = &ads(&["[ Ports = { [ Label = a; Constraint = a.X > 0; Rank = a.X ] } ]"])[0];
    assert_eq!(matcher.gangs(0, request).unwrap().next().unwrap().ports[0].offer, 1);
    assert_eq!(matcher.preview_gang(0, request).unwrap().unwrap().ports[0].offer, 1);
    // The algorithm `Lr` takes the first candidate and ignores ranks.
    assert_eq!(matcher.marshal(0, request).unwrap().unwrap().ports[0].offer, 0);
}

#[test]
fn attributes_and_offers_left_are_those_of_remainders() {
    let mut matcher = matcher_of(&["[ X = 1; Constraint = true ]", "[ Y = 2; Constraint = true ]"]);
    let names = |matcher: &Gangmatcher| {
        let mut names: Vec<String> = matcher.attribute_names().map(ToString::to_string).collect();
        names.sort();
        names
    };
    assert_eq!(names(&matcher), ["Constraint", "X", "Y"]);
    let request = &ads(&["[ Ports = { [ Label = a; Constraint = a.X == 1 ] } ]"])[0];
    assert!(matcher.marshal(0, request).unwrap().is_some());
    assert_eq!((matcher.unused_offers(), matcher.with_extra_copy(0).1), (1, vec![1, 0]));
    matcher.offer_remainder(0, &ads(&["[ Z = 3; Constraint = true ]"])[0]).unwrap();
    assert_eq!(names(&matcher), ["Constraint", "Y", "Z"]);
    assert_eq!((matcher.unused_offers(), matcher.with_extra_copy(0).1), (2, vec![0, 1, 0]));
}

/// Ranks that are no numbers are told of the request that is seated, and of offers.
#[test]
fn ranks_of_a_former_request_are_told_no_more() {
    let port = |rank: &str| format!("[ Ports = {{ [ Label = a; Constraint = a.X > 0; Rank = {rank} ] }} ]");
    let texts = ["{ a.X }", "a.X"].map(port);
    let requests = ads(&texts.each_ref().map(String::as_str));
    for (seated, of_request) in [(&[0][..], 1), (&[0, 0], 1), (&[1], 0), (&[0, 1], 0), (&[1, 0], 1)] {
        let mut matcher = matcher_of(&["[ X = 1; Constraint = true ]", "[ X = 2; Constraint = true ]"]);
        for request in seated {
            assert!(matcher.preview_gang(0, &requests[*request]).unwrap().is_some());
        }
        let found = matcher.take_non_numeric_ranks();
        assert_eq!(found.iter().filter(|rank| rank.offer.is_none()).count(), of_request, "{seated:?} {found:?}");
        assert_eq!(matcher.take_non_numeric_ranks(), []);
    }
}

/// Where an ad has no port list, its partner is `other`: an ad, and no attribute of itself.
#[test]
fn ads_without_ports_dock_at_each_other() {
    for (request, offer, expected) in [
        ("other.X == 1", "true", true),
        ("other.X == 2", "true", false),
        ("X == 1", "true", true),
        ("target.X == 1", "true", true),
        ("other isnt undefined", "true", true),
        ("other is undefined", "true", false),
        ("isClassAd(other)", "true", true),
        ("isUndefined(other.Y)", "true", true),
        ("other.Y == 1", "true", false),
        ("true", "other isnt undefined", true),
        ("true", "other is undefined", false),
        ("true", "other.A + X == 4", true),
        ("true", "A == 3 && other.X is undefined", true),
        ("true", "target.A == 4", false),
        ("true", "other.A is 3.0", false),
        ("[ Y = 1 ].Y == 1 && { 1, other.X }[1] == 1", "true", true),
    ] {
        let offers = [format!("[ X = 1; Constraint = {offer} ]"), "[ Y = 5; Constraint = false ]".to_owned()];
        let mut matcher = matcher_of(&offers.each_ref().map(String::as_str));
        let request = &ads(&[&format!("[ A = 3; Constraint = {request} ]")])[0];
        let found = matcher.find_gang(0, request).unwrap();
        let found = found.map(|gang| (gang.ports[0].label.clone(), gang.ports[0].offer));
        assert_eq!(found, expected.then(|| ("other".to_owned(), 0)), "{request:?} {offer}");
    }
}
