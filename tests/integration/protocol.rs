//! Strategies, notices, the registrar and claims: against their definitions, and through the binary.

use std::fs;
use std::process::Output;

use classad::ad::{Ad, Dialect};
use classad::eval::Context;
use classad::matching::claim::{ClaimMessageKind, Claimer, Veto};
use classad::matching::gang::Gangmatcher;
use classad::matching::{
    Accelerations, BilateralMatch, Docking, MatchKind, Matchmaker, Notice, Pair, PairSide, Party, maximum_matching,
    stable_matching,
};
use classad::protocol::Protocol;
use classad::syntax::{ParseOptions, parse_ad};

use super::binary::{file, run};

fn ad(text: &str, dialect: Dialect) -> Ad {
    parse_ad(text.as_bytes(), ParseOptions::new(dialect)).expect("it parses")
}

fn printed(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("it is text")
}

/// Ads whose constraints and ranks look at each other, some of which have none or compare what is missing.
fn random_ads(random: &mut fastrand::Rng, count: usize, dialect: Dialect) -> Vec<Ad> {
    let names = ["Memory", "Cpus", "Disk"];
    let mut one = || {
        let mut text = String::from("[ ");
        for name in names {
            if random.u8(0..6) > 0 {
                text += &[name, " = ", &random.u8(0..4).to_string(), "; "].concat();
            }
        }
        let other = |random: &mut fastrand::Rng| format!("other.{}", names[random.usize(0..3)]);
        let rank = match random.u8(0..4) {
            0 => "Rank = undefined; ".to_owned(),
            1 => String::new(),
            2 => format!("Rank = {} > 1; ", other(random)),
            _ => format!("Rank = {}; ", other(random)),
        };
        let constraint = match random.u8(0..6) {
            0 => "Constraint = true".to_owned(),
            1 => format!("Constraint = {} - 1", other(random)),
            2 => String::new(),
            _ => format!("Constraint = {} >= {}", other(random), names[random.usize(0..3)]),
        };
        ad(&(text + &rank + &constraint + " ]"), dialect)
    };
    (0..count).map(|_| one()).collect()
}

/// Whether two ads match, and how they rank each other, by evaluating the pair.
fn meet(request: &Ad, offer: &Ad, dialect: Dialect) -> Option<(f64, f64)> {
    let pair = Pair::new(request.clone(), offer.clone(), Protocol::new(dialect), Context::new(dialect));
    let accepts = |side| pair.accepts(side).expect("it ends");
    (accepts(PairSide::Request) && accepts(PairSide::Offer))
        .then(|| (pair.rank(PairSide::Request).expect("it ends"), pair.rank(PairSide::Offer).expect("it ends")))
}

/// The largest number of requests that can get an offer, by trying everything.
fn largest(compatible: &[Vec<usize>], taken: u32) -> usize {
    let Some((first, rest)) = compatible.split_first() else { return 0 };
    let free = first.iter().filter(|offer| taken & 1 << **offer == 0);
    free.map(|offer| 1 + largest(rest, taken | 1 << offer)).fold(largest(rest, taken), usize::max)
}

#[test]
fn stable_and_max_are_what_they_say_in_both_dialects() {
    let mut random = fastrand::Rng::with_seed(41);
    let (mut matched, mut more) = (0, 0);
    for round in 0..600 {
        let dialect = if round % 2 == 0 { Dialect::Classad } else { Dialect::Condor };
        let (r, o) = (random.usize(1..7), random.usize(1..7));
        let requests = random_ads(&mut random, r, dialect);
        let offers = random_ads(&mut random, o, dialect);
        let mut maker = Matchmaker::new(&offers, Protocol::new(dialect), Context::new(dialect), Accelerations::ALL);
        let lists: Vec<_> = requests.iter().map(|request| maker.candidates(request)).collect();
        let (stable, maximum) = (stable_matching(&lists), maximum_matching(&lists));

        for pairing in stable.iter().chain(&maximum) {
            let ranks = meet(&requests[pairing.request], &offers[pairing.offer], dialect);
            assert_eq!(ranks, Some((pairing.request_rank, pairing.offer_rank)));
        }
        for set in [&stable, &maximum] {
            let mut taken: Vec<usize> = set.iter().map(|pairing| pairing.offer).collect();
            taken.sort_unstable();
            taken.dedup();
            assert_eq!(taken.len(), set.len());
            assert!(set.is_sorted_by_key(|pairing| pairing.request));
        }
        let mut compatible = vec![Vec::new(); r];
        for (request, offer) in (0..r).flat_map(|request| (0..o).map(move |offer| (request, offer))) {
            let Some((request_rank, offer_rank)) = meet(&requests[request], &offers[offer], dialect) else { continue };
            compatible[request].push(offer);
            let of_request = stable.iter().find(|pairing| pairing.request == request);
            let of_offer = stable.iter().find(|pairing| pairing.offer == offer);
            let both = of_request.is_none_or(|got| request_rank > got.request_rank)
                && of_offer.is_none_or(|got| offer_rank > got.offer_rank);
            assert!(!both, "{request} and {offer} prefer each other");
        }
        assert_eq!(maximum.len(), largest(&compatible, 0));
        matched += stable.len();
        more += usize::from(maximum.len() > stable.len());
    }
    assert!(matched > 400 && more > 10, "{matched}, {more}: the pools put it to no test");
}

fn party(id: usize, ad: &Ad) -> Party {
    Party::new(ad, &id.to_string(), &Context::new(Dialect::Classad))
}

#[test]
fn a_pair_commits_exactly_when_it_still_matches() {
    let mut random = fastrand::Rng::with_seed(42);
    let mut outcomes = [0, 0];
    for round in 0..400 {
        let dialect = if round % 2 == 0 { Dialect::Classad } else { Dialect::Condor };
        let ads = random_ads(&mut random, 2, dialect);
        let pairing = BilateralMatch { request: 0, offer: 1, request_rank: 0.0, offer_rank: 0.0 };
        let notice = Notice::for_pair(&pairing, party(0, &ads[0]), |offer| party(offer, &ads[offer]), None);
        let mut claimer = Claimer::new(&ads, Protocol::new(dialect), Context::new(dialect), None);
        let claim = claimer.claim(&notice, &[Ok(0), Ok(1)]);
        let still = meet(&ads[0], &ads[1], dialect).is_some();
        assert_eq!(claim.is_committed(), still, "{:?}", claim.vetoes);
        assert_eq!(claim.transcript.last().map(|message| message.kind == ClaimMessageKind::Commit), Some(still));
        outcomes[usize::from(still)] += 1;
        // What is claimed is not claimed again.
        let again = claimer.claim(&notice, &[Ok(0), Ok(1)]);
        assert!(!again.is_committed());
    }
    assert!(outcomes.iter().all(|count| *count > 50), "{outcomes:?}");
}

/// Gangs that were just made can be claimed whole; without one of their ads, or with one that has changed so
/// that the search would not choose it, they cannot.
#[test]
fn gangs_commit_whole_or_not_at_all() {
    let mut random = fastrand::Rng::with_seed(43);
    let dialect = Dialect::Classad;
    let mut made = 0;
    for _ in 0..200 {
        let machine = |random: &mut fastrand::Rng| {
            format!(
                "[ Type = \"Machine\"; Key = {}; Ports = {{ [ Label = job; Constraint = job.Size < {} ] }} ]",
                random.u8(0..4),
                random.u8(0..4)
            )
        };
        let licence = |random: &mut fastrand::Rng| {
            format!("[ Type = \"License\"; Constraint = other.HostKey == {} ]", random.u8(0..4))
        };
        let mut offers: Vec<Ad> = (0..4).map(|_| ad(&machine(&mut random), dialect)).collect();
        offers.extend((0..3).map(|_| ad(&licence(&mut random), dialect)));
        let request = ad(
            "[ Ports = {
                [ Label = cpu; Size = 1; Constraint = cpu.Type == \"Machine\" ],
                [ Label = licence; HostKey = cpu.Key; Constraint = licence.Type == \"License\" ] } ]",
            dialect,
        );
        let (mut matcher, _) = Gangmatcher::new(&offers, Protocol::new(dialect), Context::new(dialect));
        let Some(gang) = matcher.marshal(0, &request).expect("the ports are sound") else { continue };
        made += 1;
        let members: Vec<usize> = gang.members().iter().map(|docked| docked.offer).collect();
        let notice = Notice::for_gang(&gang, party(99, &request), |offer| party(offer, &offers[offer]), None);
        let indexes = [Ok(7), Ok(members[0]), Ok(members[1])];
        let claim = |ads: Vec<Ad>, indexes: &[Result<usize, Veto>]| {
            let all: Vec<Ad> = ads.into_iter().chain([request.clone()]).collect();
            Claimer::new(&all, Protocol::new(dialect), Context::new(dialect), None).claim(&notice, indexes)
        };
        assert_eq!(claim(offers.clone(), &indexes).claimed, [0, 1, 2]);
        for gone in 0..3 {
            let mut indexes = indexes.clone();
            indexes[gone] = Err(Veto::Gone);
            assert_eq!(claim(offers.clone(), &indexes).claimed, [] as [usize; 0]);
        }
        // Any other machine in its place commits exactly if the two constraints that look at it are met.
        for other in 0..4 {
            let alone = [other, members[1]].map(|offer| offers[offer].clone());
            let (mut matcher, _) = Gangmatcher::new(&alone, Protocol::new(dialect), Context::new(dialect));
            let valid = matcher.marshal(0, &request).expect("the ports are sound").is_some();
            let mut indexes = indexes.clone();
            indexes[1] = Ok(other);
            assert_eq!(claim(offers.clone(), &indexes).is_committed(), valid);
        }
    }
    assert!(made > 50, "{made}");
}

/// A tree: the root accepts to go on without `b`, the service at `a` without nothing, unless it says so.
fn tree(service: &str) -> (Vec<Ad>, Notice) {
    let dialect = Dialect::Classad;
    let leaf = "[ Ports = { [ Label = up; Constraint = true ] } ]";
    let ads = [
        "[ AcceptPartial = !member(\"a\", aborted);
           Ports = { [ Label = a; Constraint = a.Disks >= 1 ], [ Label = b; Constraint = true ] } ]",
        service,
        leaf,
        leaf,
        leaf,
    ];
    let ads: Vec<Ad> = ads.iter().map(|text| ad(text, dialect)).collect();
    // The service has its link behind its other ports.
    let docked = |id: usize, parent, label: &str| Party {
        docking: Some(Docking { parent, label: label.to_owned(), link: if id == 1 { 2 } else { 0 }, ranks: None }),
        ..party(id, &ads[id])
    };
    let parties =
        vec![party(0, &ads[0]), docked(1, 0, "a"), docked(2, 1, "disk"), docked(3, 1, "spare"), docked(4, 0, "b")];
    (ads.clone(), Notice::new(MatchKind::Gang, parties, None))
}

fn outcome(service: &str, gone: &[usize]) -> (Vec<usize>, Vec<(usize, String)>, String) {
    let (ads, notice) = tree(service);
    let indexes: Vec<_> = (0..5).map(|index| if gone.contains(&index) { Err(Veto::Gone) } else { Ok(index) }).collect();
    let mut claimer = Claimer::new(&ads, Protocol::new(Dialect::Classad), Context::new(Dialect::Classad), Some(1));
    let claim = claimer.claim(&notice, &indexes);
    let said =
        claim.transcript.iter().map(|m| format!("{}{}{}", m.from, m.kind.as_str().chars().next().unwrap(), m.to));
    let vetoes = claim.vetoes.iter().map(|(party, veto)| (*party, veto.to_string())).collect();
    (claim.claimed.clone(), vetoes, said.collect::<Vec<_>>().join(" "))
}

#[test]
fn accept_partial_is_asked_at_every_level() {
    let ports = "Ports = { [ Label = disk; Constraint = true ], [ Label = spare; Constraint = true ],
                           [ Label = up; Constraint = true ] }";
    let strict = format!("[ Disks = 1; {ports} ]");
    let lenient = format!("[ AcceptPartial = size(aborted) < 2; Disks = 1; {ports} ]");
    // It would go on without its disk, but then it is of no use to the root.
    let useless = "[ AcceptPartial = true;
                     Ports = { [ Label = disk; Constraint = true ], [ Label = spare; Constraint = true ],
                               [ Label = up; Disks = disk is undefined ? 0 : 1; Constraint = true ] } ]";

    let (claimed, vetoes, said) = outcome(&strict, &[]);
    assert_eq!((claimed, vetoes), (vec![0, 1, 2, 3, 4], vec![]));
    assert_eq!(said, "0V1 1V2 2O1 1V3 3O1 1O0 0V4 4O0 0C1 1C2 1C3 0C4");

    let (claimed, vetoes, said) = outcome(&strict, &[4]);
    assert_eq!((claimed, vetoes[0].0), (vec![0, 1, 2, 3], 4));
    assert!(said.starts_with("0V1 1V2 2O1 1V3 3O1 1O0 0V4 4A0 0V1"), "{said}");
    assert!(said.ends_with("1O0 0C1 1C2 1C3"), "{said}");

    let (claimed, vetoes, said) = outcome(&strict, &[2]);
    assert_eq!(claimed, [] as [usize; 0]);
    assert_eq!(vetoes[0], (0, "it requires a".to_owned()));
    assert_eq!(vetoes[1], (1, "it requires disk".to_owned()));
    assert_eq!(said, "0V1 1V2 2A1 1V3 3O1 1A0 0V4 4O0 1A3 0A4");

    assert_eq!(outcome(&lenient, &[2]).0, [0, 1, 3, 4]);
    assert_eq!(outcome(&lenient, &[2, 4]).0, [0, 1, 3]);
    let (claimed, vetoes, _) = outcome(&lenient, &[2, 3]);
    assert_eq!((claimed, vetoes[1].1.as_str()), (vec![], "it requires disk, spare"));

    assert_eq!(outcome(useless, &[3]).0, [0, 1, 2, 4]);
    let (claimed, vetoes, said) = outcome(useless, &[2]);
    assert_eq!(claimed, [] as [usize; 0]);
    assert!(vetoes.contains(&(1, "the port `a` of 0 does not accept it".to_owned())), "{vetoes:?} {said}");
    // Nobody below one that is gone is asked.
    assert_eq!(outcome(&strict, &[1]).2, "0V1 1A0 0V4 4O0 0A4");
    assert_eq!(outcome(&strict, &[0]).2, "");
}

#[test]
fn ports_that_have_changed_since_are_no_docks() {
    let says = |service: &str| outcome(service, &[]).1.iter().map(|(_, veto)| veto.clone()).collect::<Vec<_>>();
    let ports = |labels: &[&str]| {
        let ports = labels.iter().map(|label| format!("[ Label = {label}; Constraint = true ]"));
        format!("[ AcceptPartial = true; Disks = 1; Ports = {{ {} }} ]", ports.collect::<Vec<_>>().join(", "))
    };
    assert!(says(&ports(&["disk", "spare", "up", "extra"])).contains(&"its port `extra` has no offer".to_owned()));
    assert!(says(&ports(&["disk", "other", "up"])).contains(&"its port `other` has no offer".to_owned()));
    assert!(says(&ports(&["disk"])).contains(&"1 has no port `spare`".to_owned()));
    assert!(says(&ports(&["disk"])).contains(&"it has no port 3".to_owned()));
    assert!(says("[ Disks = 1; Ports = 5 ]")[1].contains("must be a list of records"));
}

/// A chain in which each ad has marshalled the next.
#[test]
fn a_gang_may_be_a_long_chain() {
    let dialect = Dialect::Classad;
    let count = 20_000;
    let link = ad("[ Ports = { [ Label = up; Constraint = true ], [ Label = down; Constraint = true ] } ]", dialect);
    let last = ad("[ Constraint = true ]", dialect);
    let first = ad("[ Ports = { [ Label = down; Constraint = true ] } ]", dialect);
    let ads: Vec<Ad> = std::iter::once(first).chain(std::iter::repeat_n(link, count)).chain([last]).collect();
    let docked = |parent| Some(Docking { parent, label: "down".to_owned(), link: 0, ranks: None });
    let parties =
        (0..ads.len()).map(|index| Party { docking: index.checked_sub(1).and_then(docked), ..Party::default() });
    let notice = Notice::new(MatchKind::Gang, parties.collect(), None);
    let mut claimer = Claimer::new(&ads, Protocol::new(dialect), Context::new(dialect), None);
    let claim = claimer.claim(&notice, &(0..ads.len()).map(Ok).collect::<Vec<_>>());
    assert_eq!(claim.claimed.len(), ads.len());
    assert_eq!(claim.transcript.len(), 3 * (ads.len() - 1));
}

const OFFERS: &str = "[ Name = \"m\"; ClaimId = \"one\"; UpdateSequenceNumber = 1; Constraint = true ]";

#[test]
fn from_match_to_claim_and_back() {
    let [jobs, machines, notices] =
        [("jobs", "[ Name = \"j\"; Constraint = true ]"), ("machines", OFFERS), ("notices", "")]
            .map(|(name, text)| file(&format!("protocol-{name}"), text));
    let made = run(&["match", "-q", &jobs, "--pool", &machines, "--notify", &notices], b"");
    assert_eq!((made.status.code(), printed(&made).as_str()), (Some(0), ""));
    let told = fs::read_to_string(&notices).expect("it is written");
    assert_eq!(told.lines().count(), 2);
    assert!(told.lines().all(|line| line.contains("\"claim_id\":\"one\"")), "{told}");

    let claim = |input: &str, ads: &str| {
        let ads = file("protocol-ads", ads);
        let output = run(&["claim", "-", "--ads", &jobs, "--ads", &ads, "--no-header"], input.as_bytes());
        (output.status.code(), printed(&output))
    };
    assert!(claim(&told, OFFERS).1.contains("\tcommitted\tj, m\t"));
    // The offer's own record does not tell everything; together they do, in any order, and as an array.
    let lines: Vec<&str> = told.lines().rev().collect();
    let array = format!("[{}]", lines.join(",\n"));
    assert!(claim(&array, OFFERS).1.contains("\tcommitted\tj, m\t"));
    let (code, row) = claim(&told, &OFFERS.replace("one", "two"));
    assert!(code == Some(1) && row.contains("m: its ClaimId has changed"), "{row}");
    let (code, row) = claim(&told, "[ Name = \"m\"; Constraint = true ]");
    assert!(code == Some(1) && row.contains("m: it no longer has a ClaimId"), "{row}");

    // Matched advertisements are used up, until there is a later one.
    let again = run(&["match", &jobs, "--pool", &machines, "--matched", &notices, "--as-given"], b"");
    assert_eq!(again.status.code(), Some(1));
    let fresh = file("protocol-fresh", OFFERS.replace("Number = 1", "Number = 2"));
    let other = file("protocol-other", "[ Name = \"k\"; Constraint = true ]");
    let later = run(&["match", &other, "--pool", &fresh, "--matched", &notices, "-o", "jsonl"], b"");
    assert_eq!(printed(&later), "{\"request\":\"k\",\"offer\":\"m\",\"request_rank\":0.0,\"offer_rank\":0.0}\n");
    // Ads in the long form are read in part.
    let fresh = file("protocol-fresh-long", "Name = \"m\"\nUpdateSequenceNumber = 2\nRequirements = true\n");
    let other = file("protocol-other-long", "Name = \"k\"\nRequirements = true\n");
    let explained = run(&["explain", &other, "--pool", &fresh, "--matched", &notices], b"");
    assert_eq!((explained.status.code(), printed(&explained).as_str()), (Some(0), "k matches 1 of 1 offer\n"));
    let (_, row) = claim(&printed(&later), OFFERS);
    assert!(row.contains("k: it is not among the current ads"), "{row}");
    // Nothing is told of nothing.
    let none = run(&["match", &jobs, "--pool", &machines, "--matched", &notices, "--notify", &notices], b"");
    assert_eq!((none.status.code(), fs::read_to_string(&notices).expect("it is there").as_str()), (Some(1), ""));
}

#[test]
fn ads_that_say_nothing_of_time_count_at_any_time() {
    let long = "Requirements = true\n\nRequirements = true\n\nName = \"a\"\nLastHeardFrom = 1\nRequirements = true\n";
    let offers = file("protocol-timeless", long);
    for time in ["0", "4000000000", "2030-01-01T00:00:00Z"] {
        let output = run(&["match", "--pool", &offers, "--all", "--count", "--at", time], b"Requirements = true\n");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(printed(&output).as_str(), "3\n", "{time}: {errors}");
        assert!(errors.lines().all(|line| line.starts_with("note: the newest ad is ")), "{time}: {errors}");
    }
    let expiring = file("protocol-expiring", "Name = \"a\"\nExpirationTime = 1000\nRequirements = true\n");
    for (time, code) in [("1000", 0), ("1001", 1)] {
        let output = run(&["match", "--pool", &expiring, "--at", time], b"Requirements = true\n");
        assert_eq!(output.status.code(), Some(code), "{time}");
    }
    // Time is that of --now, if no other is given.
    let output = run(&["match", "--pool", &expiring, "--now", "900"], b"Requirements = true\n");
    assert_eq!(output.status.code(), Some(0));
    let output = run(&["match", "--pool", &expiring], b"Requirements = true\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("1 of 1 offer left out: expired"));
    assert_eq!(run(&["match", "--pool", &expiring, "--as-given"], b"Requirements = true\n").status.code(), Some(0));
}

#[test]
fn whatever_comes_as_matches() {
    let ads = file("protocol-any", OFFERS);
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let odd = [
        "",
        "null",
        "{}",
        "[[]]",
        "{\"members\":[]}",
        "{\"version\":1,\"bond\":\"pair\",\"match\":\"x\",\"members\":[]}",
        "{\"request\":1,\"offer\":2}",
        "{\"request\":\"a\",\"ports\":[{}]}",
        "\u{0}",
        "{\"request\":\"a\"",
        &deep,
        "{\"version\":1,\"bond\":\"gang\",\"match\":\"x\",\"members\":[{\"id\":\"m\"},{\"id\":\"m\",\"above\":0,\"label\":\"\",\"link\":18446744073709551615}]}",
    ];
    for text in odd {
        let output = run(&["claim", "--ads", &ads], text.as_bytes());
        assert!(matches!(output.status.code(), Some(1 | 2)), "{text:.80}: {:?}", output.status);
    }
    let lines =
        "{\"request\":\"m\",\n{\"request\":\"m\",\"offer\":\"n\"}\nnonsense\n{\"request\":\"m\",\"offer\":\"o\"}\n";
    let output = run(&["claim", "--ads", &ads, "--no-header"], lines.as_bytes());
    assert_eq!(printed(&output).lines().count(), 2, "{}", String::from_utf8_lossy(&output.stderr));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("-:1: this is not JSON") && errors.contains("-:3: this is not JSON"), "{errors}");
}
