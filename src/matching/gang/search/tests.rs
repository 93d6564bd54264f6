//! Compares the search with an exhaustive search where candidates of several ports must differ.

use super::Algorithm;
use crate::ad::{Ad, Dialect};
use crate::eval::Context;
use crate::matching::Statistics;
use crate::matching::gang::Gangmatcher;
use crate::matching::gang::tests::{ExhaustiveSearch, GangAdGenerator, members, number, text};
use crate::protocol::Protocol;
use crate::syntax::{ParseOptions, parse_ad};

/// Generates requests whose ports demand candidates of different colours, and offers of few colours.
struct ColourGenerator(GangAdGenerator);

impl ColourGenerator {
    fn below(&mut self, end: usize) -> usize {
        self.0.0.usize(..end)
    }

    fn one_of<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.below(from.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn offer(&mut self, colours: usize) -> Ad {
        if self.chance(8) {
            return self.0.offer();
        }
        // Values that some operators tell apart and others do not.
        let values = ["1", "2", "1.0", "\"r\"", "\"R\"", "3", "true", "0.0", "-0.0", "X + 1"];
        let colour = if self.chance(75) { self.below(colours).to_string() } else { self.one_of(&values).to_owned() };
        let colour = if self.chance(5) { String::new() } else { format!("C = {colour}; ") };
        let (key, size) = (self.below(6), self.below(3));
        let rank = self.one_of(&["", "", "", "", "Rank = K; ", "Rank = job.X; ", "Rank = job.Y - K; "]);
        let demand = match self.below(12) {
            0 => "job.X != C",
            1 => "job.X < 3",
            2 => "job.Y isnt C",
            3 => "job.Rank is undefined || job.Rank != 2",
            4 => "job.X + S >= 1",
            _ => "true",
        };
        let link = format!("[ Label = job; Constraint = {demand}; {rank}]");
        let ports = if self.chance(8) {
            let own = self.one_of(&["job2.C != C", "true", "job2.K > 1"]);
            format!("{link}, [ Label = job2; X = {}; Y = 1; Constraint = {own} ]", self.below(3))
        } else {
            link
        };
        parsed(&format!("[ {colour}K = {key}; S = {size}; X = 1; Ports = {{ {ports} }} ]"))
    }

    /// Returns a clause that the candidates of the ports `one` and `other` must meet.
    fn difference(&mut self, one: usize, other: usize) -> String {
        let (one, other) = (format!("p{one}.C"), format!("p{other}.C"));
        match self.below(18) {
            0 => format!("{one} < {other}"),
            1 => format!("{one} > {other}"),
            2 => format!("{one} isnt {other}"),
            3 => format!("!({one} == {other})"),
            4 => format!("!(({other}) is {one})"),
            5 => format!("{one} + 1 != {other}"),
            6 => format!("({one} != {other} || {one} is 1)"),
            7 => format!("{one} != Seen"),
            8 => format!("Inner.Of != {one}"),
            9 => format!("!member({one}, {{ {other}, Seen }})"),
            10 => format!("!member({other}, {{ {one} }})"),
            _ => format!("{one} != {other}"),
        }
    }

    /// Returns a request whose ports are alike, but for a few conditions and ranks.
    fn request_of_like_ports(&mut self, count: usize) -> Ad {
        let difference = self.one_of(&["#.C != $.C", "#.C != $.C && #.S != $.S", "#.C != $.C && !(#.K == $.K)"]);
        let shared = self.one_of(&["#.K >= 0", "#.K >= 1", "#.S != 2", "true"]);
        let (oddity, rarely_ranked) = (self.below(25), self.chance(50));
        let mut ports = Vec::with_capacity(count);
        for port in 0..count {
            let label = format!("p{port}");
            let clauses = (0..port).map(|other| difference.replace('#', &label).replace('$', &format!("p{other}")));
            let mut clauses: Vec<String> = clauses.chain([shared.replace('#', &label)]).collect();
            if self.chance(oddity) {
                let other = self.below(port + 1);
                let clause = self.one_of(&["#.S > 0", "#.K + $.K >= 4", "#.C > $.C", "#.S != $.S"]);
                clauses.push(clause.replace('#', &label).replace('$', &format!("p{other}")));
            }
            let rank =
                if rarely_ranked && self.chance(70) { "" } else { self.one_of(&["Rank = #.K; ", "Rank = -#.S; "]) };
            let shown = if self.chance(oddity) { self.one_of(&["X = 1; ", "X = 2; ", "Y = 1; "]) } else { "" };
            ports.push(format!(
                "[ Label = {label}; {shown}{}Constraint = {} ]",
                rank.replace('#', &label),
                clauses.join(" && ")
            ));
        }
        let shown = self.one_of(&["", "", "X = 1; ", "X = 0; Y = 2; "]);
        parsed(&format!("[ {shown}Ports = {{ {} }} ]", ports.join(", ")))
    }

    fn request(&mut self, count: usize) -> Ad {
        if self.chance(40) {
            return self.request_of_like_ports(count);
        }
        let (density, ranked) = (if self.chance(60) { 100 } else { 60 }, self.chance(75));
        let mut ports = Vec::with_capacity(count);
        for port in 0..count {
            let mut clauses = Vec::new();
            for other in 0..port {
                if self.chance(density) {
                    clauses.push(self.difference(port, other));
                }
            }
            if clauses.is_empty() || self.chance(25) {
                let number = self.below(4);
                let clause = self.one_of(&["p.S >= ", "p.K != ", "p.C != ", "p.C is ", "0 * p.K <= "]);
                clauses.push(clause.replace("p.", &format!("p{port}.")) + &number.to_string());
            }
            let earlier = if port > 0 { self.below(port) } else { port };
            let rank = match self.below(9) {
                _ if !ranked => String::new(),
                0..=2 => format!("Rank = p{port}.K; "),
                3 => format!("Rank = -p{port}.K; "),
                4 => format!("Rank = p{port}.S; "),
                5 => format!("Rank = p{port}.K - p{earlier}.K; "),
                6 => format!("Rank = p{port}.C; "),
                _ => String::new(),
            };
            let shown = match self.below(4) {
                0 => format!("X = p{earlier}.C; "),
                1 => format!("X = {}; ", self.below(4)),
                2 => format!("X = 1; Y = p{earlier}.S; "),
                _ => String::new(),
            };
            ports.push(format!(
                "[ Label = p{port}; Seen = p{earlier}.C; Inner = [ Of = p{earlier}.C ]; {shown}{rank}Constraint = {} ]",
                clauses.join(" && ")
            ));
        }
        if self.chance(15) {
            let from = self.below(count);
            let (min, group) = (self.below(count - from + 1), ports.split_off(from).join(", "));
            ports.push(format!("[ Min = {min}; Ports = {{ {group} }} ]"));
        }
        parsed(&format!("[ Ports = {{ {} }} ]", ports.join(", ")))
    }
}

fn parsed(text: &str) -> Ad {
    parse_ad(text.as_bytes(), ParseOptions::default()).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

/// Compares the best gang, and the first gangs of an enumeration, with those of the exhaustive search. The environment
/// variables `CLASSAD_CASES`, `CLASSAD_SEED` and `CLASSAD_FIRST` select other cases.
#[test]
fn best_is_the_greatest_where_candidates_must_differ() {
    let (cases, seed) = (number("CLASSAD_CASES", 800), number("CLASSAD_SEED", 1));
    let (mut matched, mut unmatched, mut with_choice) = (0_u64, 0_u64, 0_u64);
    for case in number("CLASSAD_FIRST", 0)..cases {
        let mut writer = ColourGenerator(GangAdGenerator(fastrand::Rng::with_seed(seed * 1_000_000 + case)));
        let colours = 1 + writer.below(4);
        let mut offers: Vec<Ad> = (0..2 + writer.below(5)).map(|_| writer.offer(colours)).collect();
        if writer.chance(30) {
            // Make some offers equal.
            let kinds = 1 + writer.below(offers.len().min(3));
            (kinds..offers.len()).for_each(|offer| offers[offer] = offers[writer.below(kinds)].clone());
        }
        let count = 2 + writer.below(4.min(offers.len()));
        let roots: Vec<Ad> = (0..2).map(|_| writer.request(count)).collect();
        let shown = || text(&roots.iter().chain(&offers).collect::<Vec<_>>());
        // Offers with several ports make some searches longer than their budget.
        let context = Context { max_search_tests: u64::MAX, ..Context::new(Dialect::Classad) };
        let new = || Gangmatcher::new(&offers, Protocol::new(Dialect::Classad), context.clone()).0;
        let mut exhaustive = ExhaustiveSearch::new(&offers);
        let mut best = new();
        for (index, root) in roots.iter().enumerate() {
            let all = exhaustive.gangs(root);
            let all: Vec<_> = all.iter().map(|score| (score.offers.clone(), score.links.clone())).collect();
            with_choice += u64::from(all.len() > 1);
            let found = best.marshal(index, root).unwrap();
            assert_eq!(found.as_ref().map(members), all.first().cloned(), "case {case}, root {index}\n{}", shown());
            if index == 0 {
                let mut enumerating = new();
                let listed: Vec<_> = enumerating.gangs(0, root).unwrap().take(20).map(|gang| members(&gang)).collect();
                assert_eq!(listed, all[..all.len().min(20)], "case {case}, all gangs\n{}", shown());
                let mut first = new().with_algorithm(Algorithm::Dyns, case);
                assert_eq!(first.marshal(0, root).unwrap().is_some(), !all.is_empty(), "case {case}\n{}", shown());
            }
            match found {
                Some(gang) => {
                    matched += 1;
                    gang.members().iter().for_each(|docked| exhaustive.unused[docked.offer] = false);
                }
                None => unmatched += 1,
            }
        }
    }
    // Require enough cases with gangs and without: otherwise the comparison would prove little.
    let enough = cases / 4;
    assert!(matched > enough && unmatched > enough && with_choice > enough, "{matched} {unmatched} {with_choice}");
}

/// The numbers are exact: what tells that a search is in vain is there to save work.
#[test]
fn searches_for_what_must_differ_do_what_they_do() {
    for (algorithm, cases, most, expected) in [
        (
            Algorithm::Best,
            60,
            7,
            "22 gangs 132; 232 tests, 276 evaluations, 788 probes, 62 backtracks, 34426 visits, 0 cut off",
        ),
        (
            Algorithm::Dyns,
            60,
            7,
            "22 gangs 137; 723 tests, 1425 evaluations, 1343 probes, 534 backtracks, 16829 visits, 0 cut off",
        ),
        (
            Algorithm::Best,
            3,
            150,
            "9 gangs 403; 131 tests, 513 evaluations, 93 probes, 5 backtracks, 2690 visits, 0 cut off",
        ),
    ] {
        let (mut counted, mut visits, mut gangs, mut places) = (Statistics::default(), 0, 0, 0);
        for case in 0..cases {
            let mut writer = ColourGenerator(GangAdGenerator(fastrand::Rng::with_seed(case)));
            let colours = 1 + writer.below(5);
            let mut offers: Vec<Ad> = (0..2 + writer.below(most - 2)).map(|_| writer.offer(colours)).collect();
            if writer.chance(40) {
                let kinds = 1 + writer.below(offers.len().min(6));
                (kinds..offers.len()).for_each(|offer| offers[offer] = offers[writer.below(kinds)].clone());
            }
            let count = 2 + writer.below(4.min(offers.len()));
            let context = Context::new(Dialect::Classad);
            let matcher = Gangmatcher::new(&offers, Protocol::new(Dialect::Classad), context).0;
            let mut matcher = matcher.with_algorithm(algorithm, case);
            for request in 0..3 {
                let request = if request == 1 { writer.request_of_like_ports(count) } else { writer.request(count) };
                if let Some(gang) = matcher.marshal(0, &request).unwrap() {
                    let of = gang
                        .members()
                        .iter()
                        .enumerate()
                        .map(|(place, docked)| (place + 1) * docked.offer)
                        .sum::<usize>();
                    (gangs, places) = (gangs + 1, places + of);
                }
            }
            let listed = matcher.gangs(0, &writer.request(count)).unwrap().take(5);
            for gang in listed {
                members(&gang);
                gangs += 1;
            }
            counted.add(&matcher.statistics());
            visits += matcher.symbolic_visits();
        }
        let Statistics { tests, evaluations, probes, backtracks, cut_off_searches: cut_off, .. } = counted;
        let told = format!(
            "{gangs} gangs {places}; {tests} tests, {evaluations} evaluations, {probes} probes, {backtracks} backtracks, \
             {visits} visits, {cut_off} cut off"
        );
        assert_eq!(told, expected, "{algorithm:?} {most}");
    }
}

/// Returns a request for machines of colours that differ pairwise. `rank` is the rank of each port, where `#` stands for
/// its label.
fn all_different(ports: usize, difference: &str, rank: impl Fn(usize) -> &'static str) -> Ad {
    let port = |port: usize| {
        let label = format!("p{port}");
        let clauses = (0..port).map(|other| difference.replace('#', &label).replace('$', &format!("p{other}")));
        let clauses: Vec<String> = std::iter::once(format!("{label}.K >= 0")).chain(clauses).collect();
        let rank = rank(port).replace('#', &label);
        format!("[ Label = {label}; {rank}Constraint = {} ]", clauses.join(" && "))
    };
    let ports: Vec<String> = (0..ports).map(port).collect();
    parsed(&format!("[ Ports = {{ {} }} ]", ports.join(", ")))
}

#[test]
fn no_order_of_colours_is_tried_after_another() {
    let unranked = |_| "";
    let ranked = |_| "Rank = #.K; ";
    let last_ranked = |port| if port == 8 { "Rank = #.K; " } else { "" };
    let differ = "#.C != $.C";
    // Ports, colours, machines, whether there is a gang, and the greatest number of candidates to be docked.
    for (request, colours, machines, is_matched, most) in [
        (all_different(9, differ, unranked), 8, 80, false, 0),
        (all_different(9, "!member(#.C, { $.C })", unranked), 8, 80, false, 0),
        (all_different(9, differ, unranked), 9, 80, true, 9),
        (all_different(6, differ, ranked), 5, 50, false, 0),
        (all_different(6, differ, ranked), 6, 50, true, 6),
        (all_different(9, differ, last_ranked), 9, 80, true, 40),
        // As many colours and racks as ports, but two of the racks have one and the same colour.
        (all_different(6, "#.C != $.C && #.R != $.R", unranked), 6, 48, false, 3000),
    ] {
        let machine = |key: usize| {
            let colour = key % colours;
            let rack = if colour == 0 { key / colours % 6 } else { key / colours % 4 };
            parsed(&format!("[ K = {}; C = {colour}; R = {rack}; Constraint = true ]", key * 37 % 1009))
        };
        let offers: Vec<Ad> = (0..machines).map(machine).collect();
        let (protocol, context) = (Protocol::new(Dialect::Classad), Context::new(Dialect::Classad));
        let mut matcher = Gangmatcher::new(&offers, protocol, context).0;
        let found = matcher.marshal(0, &request).unwrap();
        let tests = matcher.statistics().tests;
        assert_eq!((found.is_some(), tests <= most), (is_matched, true), "{tests}: {}", text(&[&request]));
    }
}

/// Candidates that differ only in what the rank of a port reads are not alike for offers that read this rank.
#[test]
fn a_rank_that_offers_read_tells_candidates_apart() {
    let machine = |key: u32| parsed(&format!("[ K = {key}; M = 1; Constraint = other.Rank < 2 ]"));
    let spare = || parsed("[ K = 0; M = 2; Constraint = true ]");
    let offers = [machine(1), machine(3), spare(), spare()];
    let request = parsed(
        "[ Ports = { [ Label = a; Rank = 4 - a.K; Constraint = a.M == 1 ],
                     [ Label = b; Constraint = b.M == 2 ], [ Label = c; Constraint = c.M == 2 ] } ]",
    );
    let mut matcher = Gangmatcher::new(&offers, Protocol::new(Dialect::Classad), Context::new(Dialect::Classad)).0;
    let found = matcher.marshal(0, &request).unwrap().map(|gang| gang.ports[0].offer);
    assert_eq!(found, Some(1));
}

/// Ports that depend on the port before narrow each other, however many there are.
#[test]
fn more_ports_than_usual_classes_narrow_each_other() {
    const PORTS: usize = 70;
    let port = |index: usize| {
        let before = index.checked_sub(1).map(|before| format!("p{index}.K > p{before}.K"));
        format!("[ Label = p{index}; Constraint = {} ]", before.unwrap_or_else(|| "p0.K >= 0".to_owned()))
    };
    let ports: Vec<String> = (0..PORTS).map(port).collect();
    let offer = |index: usize| format!("[ K = {}; Constraint = true ]", (index * 37 + 11) % PORTS);
    let ad = |text: String| parse_ad(text.as_bytes(), ParseOptions::default()).unwrap();
    let offers: Vec<Ad> = (0..PORTS).map(|index| ad(offer(index))).collect();
    let context = Context::new(Dialect::Classad);
    let (mut matcher, _) = Gangmatcher::new(&offers, Protocol::new(Dialect::Classad), context);
    let request = ad(format!("[ Ports = {{ {} }} ]", ports.join(", ")));
    let gang = matcher.find_gang(0, &request).unwrap().expect("there is a gang");
    let keys: Vec<usize> = gang.ports.iter().map(|docked| (docked.offer * 37 + 11) % PORTS).collect();
    assert_eq!((keys, matcher.was_cut_off()), ((0..PORTS).collect(), false));
}
