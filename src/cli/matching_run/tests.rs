use classad::ad::Dialect;
use classad::eval::Context;
use classad::matching::Accelerations;
use classad::matching::negotiate::{NegotiationSettings, PortUse};
use classad::matching::policy::Policy;
use classad::protocol::Protocol;

use super::{MatchingRun, PairSelection};
use crate::cli::found_pairs::{FoundPairs, MatchStrategy};
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::parties::Parties;
use crate::cli::io::source_text::SourceText;
use crate::cli::session::Session;

fn ads(letter: char, texts: &[&str]) -> Vec<NamedAd> {
    let ad = |(number, text): (usize, &&str)| {
        let ad = SourceText::from_argument("ad", &format!("[ {text} ]")).first_ad(Dialect::Condor);
        NamedAd::unnamed(ad.unwrap()).with_name(format!("{letter}{number}"))
    };
    texts.iter().enumerate().map(ad).collect()
}

/// Four requests, of which two are equal and one matches nothing, and three offers. `count` is an attribute of the first.
fn parties(count: &str) -> Parties {
    let request = |need: usize, more: &str| {
        format!("Requirements = TARGET.Memory >= Need; Rank = TARGET.Memory; Need = {need}; {more}")
    };
    let requests = [request(2, count), request(2, ""), request(9, ""), request(4, "")];
    let requests: Vec<&str> = requests.iter().map(String::as_str).collect();
    let offers = ["Memory = 4", "Memory = 8", "Memory = 2"].map(|memory| format!("Requirements = true; {memory}"));
    let offers: Vec<&str> = offers.iter().map(String::as_str).collect();
    Parties::new([ads('j', &requests), ads('s', &offers)])
}

/// The run of a policy with all accelerations, or with none.
fn found(parties: &Parties, policy: &str, selection: PairSelection, is_accelerated: bool) -> FoundPairs {
    let dialect = Dialect::Condor;
    let policy = Policy::parse(policy.as_bytes(), dialect).unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut settings = NegotiationSettings::new(policy, Protocol::new(dialect), Context::new(dialect));
    settings.gangs.ports = PortUse::Ignored;
    if !is_accelerated {
        settings.accelerations = Accelerations::NONE;
    }
    let run = MatchingRun::new(&Session::keeping(""), parties, selection, settings);
    run.find_pairs(&parties.ads()).unwrap_or_else(|fault| panic!("{fault}"))
}

/// The pairs, with the numbers of pairs, of requests, and of those that match.
fn told(parties: &Parties, found: &FoundPairs) -> String {
    let pair = |request, offer| format!("{} {}", parties.request_name(request, None), parties.offer_name(offer, 1));
    let pairs: Vec<String> = found.pairs().map(|of| pair(of.request, of.offer)).collect();
    let statistics = &found.outcome.statistics;
    format!("{}: {} of {}/{}", pairs.join(", "), found.count, statistics.matched, statistics.roots)
}

/// What each selection finds, whatever is accelerated.
fn assert_found(parties: &Parties, policy: &str, rows: &[(PairSelection, &str)]) {
    for (selection, expected) in rows {
        for is_accelerated in [true, false] {
            let found = found(parties, policy, *selection, is_accelerated);
            assert_eq!(told(parties, &found), *expected, "{selection:?} {is_accelerated}");
        }
    }
}

#[test]
fn pairs_are_those_that_the_options_select() {
    let usual = PairSelection::default();
    let all = PairSelection { all_pairs: true, ..usual };
    let best = |most| PairSelection { max_per_request: Some(most), ..usual };
    let counted = |selection| PairSelection { counts_only: true, ..selection };
    let first = |selection| PairSelection { stops_at_first: true, ..selection };
    let kept = PairSelection { keeps_offers: true, ..usual };
    let strategy = |strategy| PairSelection { strategy, ..usual };
    assert_found(
        &parties(""),
        "{}",
        &[
            (usual, "j0 s1, j1 s0: 2 of 2/4"),
            (first(usual), "j0 s1: 1 of 1/1"),
            (kept, "j0 s1, j1 s1, j3 s1: 3 of 3/4"),
            (all, "j0 s0, j0 s1, j0 s2, j1 s0, j1 s1, j1 s2, j3 s0, j3 s1: 8 of 3/4"),
            (first(all), "j0 s0, j0 s1, j0 s2: 3 of 1/1"),
            (best(1), "j0 s1, j1 s1, j3 s1: 3 of 3/4"),
            (best(2), "j0 s1, j0 s0, j1 s1, j1 s0, j3 s1, j3 s0: 6 of 3/4"),
            (counted(usual), "j0 s1, j1 s0: 2 of 2/4"),
            (counted(all), ": 8 of 3/4"),
            (counted(best(2)), ": 6 of 3/4"),
            (counted(first(best(2))), ": 2 of 1/1"),
            (strategy(MatchStrategy::Stable), "j0 s1, j1 s0: 2 of 2/4"),
            (strategy(MatchStrategy::Max), "j0 s0, j1 s2, j3 s1: 3 of 3/4"),
        ],
    );
}

#[test]
fn a_share_has_some_of_the_distinct_requests() {
    let all = PairSelection { all_pairs: true, ..PairSelection::default() };
    let share = |text: &str, selection| PairSelection { share: Some(text.parse().unwrap()), ..selection };
    let best = PairSelection { max_per_request: Some(1), ..PairSelection::default() };
    let counted = PairSelection { counts_only: true, ..best };
    let parties = parties("");
    for (selection, expected) in [
        (share("1/3", best), "j0 s1, j1 s1: 2 of 2/2"),
        (share("2/3", best), ": 0 of 0/1"),
        (share("3/3", best), "j3 s1: 1 of 1/1"),
        (share("1/3", counted), ": 2 of 2/2"),
        (share("3/3", counted), ": 1 of 1/1"),
        (share("3/3", all), "j3 s0, j3 s1: 2 of 1/1"),
    ] {
        assert_eq!(told(&parties, &found(&parties, "{}", selection, true)), expected);
    }
    // Without lists, equal requests are divided like others.
    for (text, expected) in [("1/2", "j0 s1, j1 s1: 2 of 2/2"), ("2/2", "j3 s1: 1 of 1/2")] {
        assert_eq!(told(&parties, &found(&parties, "{}", share(text, best), false)), expected);
    }
}

#[test]
fn a_policy_orders_requests_and_candidates() {
    let usual = PairSelection::default();
    let all = PairSelection { all_pairs: true, ..usual };
    let best = PairSelection { max_per_request: Some(1), ..usual };
    let kept = PairSelection { keeps_offers: true, ..usual };
    let parties = parties("");
    let policy = "{ order: [Need], docking: [-label.Memory] }";
    assert_found(
        &parties,
        policy,
        &[
            (usual, "j3 s0, j0 s2, j1 s1: 3 of 3/4"),
            (PairSelection { stops_at_first: true, ..usual }, "j3 s0: 1 of 1/2"),
            (kept, "j3 s0, j0 s2, j1 s2: 3 of 3/4"),
            (best, "j3 s0, j0 s2, j1 s2: 3 of 3/4"),
            (all, "j3 s0, j3 s1, j0 s0, j0 s1, j0 s2, j1 s0, j1 s1, j1 s2: 8 of 3/4"),
        ],
    );
    assert_eq!(found(&parties, policy, best, true).order, Some(vec![2, 3, 0, 1]));
    assert_eq!(found(&parties, "{}", best, true).order, None);
    let of = |policy| {
        let found = found(&parties, policy, best, true);
        (found.outcome.statistics.autoclusters, found.component_counts.len())
    };
    assert_eq!(of("{}"), (3, 0));
    assert_eq!(of("{ docking: [label.Memory, 1] }"), (3, 2));
    assert_eq!(found(&parties, "{}", best, false).outcome.statistics.autoclusters, 0);
}

#[test]
fn a_request_for_several_offers_gets_as_many() {
    let usual = PairSelection::default();
    let max = PairSelection { strategy: MatchStrategy::Max, ..usual };
    let stable = PairSelection { strategy: MatchStrategy::Stable, ..usual };
    let best = PairSelection { max_per_request: Some(1), ..usual };
    for (count, rows) in [
        (
            "ResourceRequestCount = 2",
            [(usual, "j0#1 s1, j0#2 s0, j1 s2"), (max, "j0#1 s1, j0#2 s0, j1 s2"), (stable, "j0#1 s1, j0#2 s0, j1 s2")],
        ),
        ("ResourceRequestCount = 0", [(usual, "j1 s1, j3 s0"), (max, "j1 s1, j3 s0"), (stable, "j1 s1, j3 s0")]),
    ] {
        let parties = parties(count);
        for (selection, expected) in rows {
            for is_accelerated in [true, false] {
                let found = found(&parties, "{}", selection, is_accelerated);
                let grants = found.outcome.grants.iter();
                let name = |grant: &classad::matching::negotiate::Grant| {
                    let offer = parties.offer_name(grant.offers[0].offer, 1);
                    format!("{} {offer}", parties.request_name(grant.request, grant.unit))
                };
                assert_eq!(grants.map(name).collect::<Vec<_>>().join(", "), expected, "{selection:?}");
            }
        }
        // A list has each candidate once.
        assert_eq!(told(&parties, &found(&parties, "{}", best, true)), "j0 s1, j1 s1, j3 s1: 3 of 3/4");
    }
}
