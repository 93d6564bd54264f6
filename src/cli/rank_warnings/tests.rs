use classad::ad::{Ad, Dialect, Value};
use classad::eval::Context;
use classad::matching::BilateralMatch;
use classad::matching::negotiate::NegotiationSettings;
use classad::matching::policy::Policy;
use classad::protocol::Protocol;

use super::{MAX_PAIRS_PER_RANK, MixedRank, RankWarnings, ZeroRank, ranked_sides, wrong_rank};
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::parties::Parties;
use crate::cli::io::source_text::SourceText;
use crate::cli::session::Session;

/// Ads with these attributes, called `j0`, `j1` and so on.
fn ads(letter: char, texts: &[&str]) -> Vec<NamedAd> {
    let ad = |(number, text): (usize, &&str)| {
        let text = SourceText::from_argument("ad", &format!("[ {text} ]"));
        let ad: Ad = text.first_ad(Dialect::Classad).unwrap();
        NamedAd::unnamed(ad).with_name(format!("{letter}{number}"))
    };
    texts.iter().enumerate().map(ad).collect()
}

fn settings(policy: &str, dialect: Dialect) -> NegotiationSettings {
    let policy = Policy::parse(policy.as_bytes(), dialect).unwrap_or_else(|problems| panic!("{problems:?}"));
    NegotiationSettings::new(policy, Protocol::new(dialect), Context::new(dialect))
}

/// What is told of all pairs, whose ranks are given.
fn of_pairs(parties: &Parties, settings: &NegotiationSettings, ranks: [f64; 2]) -> Vec<String> {
    let [request_rank, offer_rank] = ranks;
    let pairs = (0..parties.requests.len()).flat_map(|request| {
        let pair = move |offer| BilateralMatch { request, offer, request_rank, offer_rank };
        (0..parties.offers.len()).map(pair)
    });
    let mut warnings = RankWarnings::default();
    warnings.add_pairs(parties, settings, pairs);
    told(&warnings)
}

fn told(warnings: &RankWarnings) -> Vec<String> {
    let session = Session::keeping("");
    warnings.report(&session);
    session.told()
}

#[test]
fn a_rank_is_a_number_or_in_the_papers_a_string_or_a_time() {
    for (value, of_condor, of_papers) in [
        (Value::Undefined, None, None),
        (Value::Integer(0), None, None),
        (Value::Real(-0.0), None, None),
        (Value::Boolean(false), None, None),
        (Value::Real(f64::NAN), Some("NaN"), Some("NaN")),
        (Value::string("x"), Some("a string"), None),
        (Value::Error(classad::ad::ErrorCause::default()), Some("an error"), Some("an error")),
    ] {
        assert_eq!(wrong_rank(&value, Dialect::Condor), of_condor, "{value:?}");
        assert_eq!(wrong_rank(&value, Dialect::Classad), of_papers, "{value:?}");
    }
}

#[test]
fn ranks_of_one_kind_share_a_warning() {
    let session = Session::keeping("");
    let mut warnings = RankWarnings::default();
    let mut add = |is_of_offer, port: Option<&str>, kind: &str, index, id| {
        warnings.add(is_of_offer, port.map(str::to_owned), kind.to_owned(), (index, id));
    };
    add(false, None, "a string", 3, "j3");
    add(false, None, "a string", 3, "j3");
    add(true, None, "a string", 1, "s1");
    add(true, None, "a string", 2, "s2");
    add(false, None, "a list", 4, "j4");
    add(false, None, "a list", 5, "j5");
    add(false, None, "a list", 6, "j6");
    add(false, Some("cpu"), "a list", 4, "j4");
    warnings.report(&session);
    let expected = [
        "the rank of j3 is a string",
        "the rank of s1 and of 1 other offer is a string",
        "the rank of j4 and of 2 other requests is a list",
        "the rank of the port cpu of j4 is a list",
    ];
    assert_eq!(session.told(), expected.map(|text| format!("warning: {text} and counts as 0")));
}

#[test]
fn ranks_that_decide_are_evaluated_once_more() {
    let requests = ads('j', &["Rank = \"x\"", "Rank = other.Name", "Rank = 0", "Rank = undefined", "A = 1"]);
    let offers = ads('s', &["Name = \"y\"; Rank = { 1 }"]);
    let parties = Parties::new([requests, offers]);
    let [of_requests, of_offers] = [
        "warning: the rank of j0 and of 1 other request is a string and counts as 0",
        "warning: the rank of s0 is a list and counts as 0",
    ];
    let usual = settings("{}", Dialect::Condor);
    assert_eq!(of_pairs(&parties, &usual, [0.0, 0.0]), [of_requests, of_offers]);
    assert_eq!(of_pairs(&parties, &usual, [0.0, 1.0]), [of_requests]);
    assert_eq!(of_pairs(&parties, &usual, [1.0, 0.0]), [of_offers]);
    assert!(of_pairs(&parties, &usual, [1.0, 1.0]).is_empty());
    // With a docking vector, the rank of requests decides if it is a component.
    let of_policy = |policy| of_pairs(&parties, &settings(policy, Dialect::Condor), [0.0, 0.0]);
    assert!(of_policy("docking: [label.Memory]").is_empty());
    assert!(of_policy("docking: [label.Memory, other.Rank + 1]").is_empty());
    for (policy, count) in [("{}", 2), ("docking: [label.Memory]", 0)] {
        assert_eq!(ranked_sides(&settings(policy, Dialect::Condor)).len(), count);
    }
    let wanted = |is_wanted: &dyn Fn(&NamedAd) -> bool| {
        let constrained = ads('j', &["Requirements = true; Rank = \"x\"", "Requirements = true; Rank = \"x\""]);
        let parties = Parties::new([constrained, ads('s', &["Requirements = true", "Requirements = false"])]);
        told(&RankWarnings::of_requests(&parties, &settings("{}", Dialect::Condor), is_wanted))
    };
    assert!(wanted(&|_| false).is_empty());
    assert_eq!(wanted(&|ad| ad.id() == "j1"), ["warning: the rank of j1 is a string and counts as 0"]);
}

#[test]
fn the_first_pairs_of_an_expression_count() {
    let rank = |place, is_of_offer, expression, wrong: Option<(&str, usize)>| ZeroRank {
        place: (place, 0),
        is_of_offer,
        expression,
        wrong: wrong.map(|(id, index)| ("a list".to_owned(), index, id.to_owned())),
    };
    let mut ranks: Vec<ZeroRank> = (1..MAX_PAIRS_PER_RANK).map(|place| rank(place, false, 1, None)).collect();
    ranks.push(rank(98, false, 1, Some(("j98", 98))));
    ranks.push(rank(97, false, 1, Some(("j97", 97))));
    ranks.push(rank(99, false, 2, Some(("j99", 99))));
    ranks.push(rank(99, true, 1, Some(("s99", 99))));
    let mut warnings = RankWarnings::default();
    warnings.add_zero_ranks(ranks);
    assert_eq!(
        told(&warnings),
        [
            "warning: the rank of j97 and of 1 other request is a list and counts as 0",
            "warning: the rank of s99 is a list and counts as 0"
        ]
    );
    let mixed = |request, id: &str| MixedRank {
        request,
        is_of_offer: false,
        kind: "a time".to_owned(),
        index: request,
        id: id.to_owned(),
    };
    let mut warnings = RankWarnings::default();
    warnings.add_mixed(vec![mixed(5, "j5"), mixed(2, "j2")]);
    assert_eq!(told(&warnings), ["warning: the rank of j2 and of 1 other request is a time and counts as 0"]);
}

#[test]
fn a_typed_rank_counts_as_0_among_numbers() {
    let text = "Requirements = true; Rank = other.R";
    let requests = || ads('j', &[text, text, "Requirements = true; Rank = 1"]);
    let offers = |ranks: [&str; 3]| {
        let texts = ranks.map(|rank| format!("Requirements = true; Rank = 1; R = {rank}"));
        ads('s', &texts.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let of = |ranks| {
        let parties = Parties::new([requests(), offers(ranks)]);
        let settings = parties.with_typed_ranks(settings("{}", Dialect::Classad));
        let found = MixedRank::of_requests(&parties, &settings, 0..3);
        let mut warnings = RankWarnings::default();
        let count = found.len();
        warnings.add_mixed(found);
        (count, told(&warnings))
    };
    let expected = "warning: the rank of j0 and of 1 other request is a string and counts as 0";
    assert_eq!(of(["1", "2", "3"]), (0, Vec::new()));
    assert_eq!(of(["\"a\"", "\"b\"", "\"c\""]), (0, Vec::new()));
    assert_eq!(of(["\"a\"", "1", "\"c\""]), (4, vec![expected.to_owned()]));
}
