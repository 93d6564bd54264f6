use std::sync::Arc;

use classad::ad::{Ad, Dialect};
use classad::matching::negotiate::{
    AccountingLimit, Grant, GrantedOffer, GroupBalance, GroupUse, NegotiationEvent, NegotiationOutcome, ReachedLimit,
    RefusalReasons, RemainingAllowance, RequestStarts, SubmitterOutcome, SubmitterUse, TurnLimit,
};
use classad::matching::policy::{Policy, ROOT_GROUP};

use super::Transcript;
use crate::cli::args::output::TableOutputArgs;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::parties::Parties;

/// Requests `j0`, `j1` and so on, and offers `s0`, `s1` and so on.
fn parties() -> Parties {
    let ads = |letter: char| {
        (0..9).map(|number| NamedAd::unnamed(Ad::default()).with_name(format!("{letter}{number}"))).collect()
    };
    Parties::new([ads('j'), ads('s')])
}

fn policy(text: &str) -> Policy {
    Policy::parse(text.as_bytes(), Dialect::Condor).unwrap_or_else(|problems| panic!("{problems:?}"))
}

const BY_NUMBER: &str = "share: { by: User }";
const BY_WEIGHT: &str = "share: { by: User, weight: Weight, in-use-by: UsedBy, groups: { physics: 2, bio: 1 } }";

/// A grant of these offers, each with the user who loses it.
fn grant(request: usize, unit: Option<usize>, offers: &[(usize, Option<&str>)]) -> Grant {
    let granted = |(offer, user): &(usize, Option<&str>)| GrantedOffer {
        offer: *offer,
        part: 1,
        request_rank: 2.5,
        offer_rank: 0.0,
        vector: None,
        preempted: user.map(str::to_owned),
        is_beyond: user.is_some(),
        portion: None,
    };
    Grant { request, unit, offers: offers.iter().map(granted).collect(), gang: None, choice: None }
}

/// The lines of a transcript.
fn lines(transcript: &Transcript<'_>) -> String {
    let mut text = Vec::new();
    transcript.write(&mut text, TableOutputArgs::default()).unwrap();
    String::from_utf8(text).unwrap()
}

fn records(transcript: &Transcript<'_>) -> Vec<String> {
    let rows = transcript.records.rows.iter();
    rows.map(|row| row.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join("|")).collect()
}

#[test]
fn requests_that_get_nothing_share_a_line() {
    let (parties, policy) = (parties(), Policy::default());
    let mut transcript = Transcript::new(&parties, &policy);
    let none = RefusalReasons::default();
    let heavy = |over_share| RefusalReasons { over_share, lightest_over_share: Some(2.004), ..none.clone() };
    let (one, two) = (heavy(1), heavy(2));
    let passed = RefusalReasons { not_beyond: 1, ..none.clone() };
    let limit = ReachedLimit { name: "sw".to_owned(), used: 1.0, given: 0.0, maximum: 1.0, needed: 1.0 };
    let limited = RefusalReasons { limit: Some(limit.clone()), over_share: 1, ..none.clone() };
    let rejected = |request, cluster, [compatible, discarded]: [usize; 2], refusals| NegotiationEvent::Rejected {
        request,
        cluster,
        submitter: "ann",
        compatible,
        discarded,
        refusals,
    };
    let skipped =
        |request, cluster, requests| NegotiationEvent::Skipped { request, cluster, submitter: "ann", requests };
    let deferred =
        |request, left| NegotiationEvent::Deferred { request, submitter: "ann", offers: 2, weight: 4.5, left };
    for event in [
        NegotiationEvent::Round { number: 1, offers: 1 },
        NegotiationEvent::Turn { submitter: "", priority: 1.0, slice: None, requests: 2 },
        rejected(0, 0, [0, 0], &none),
        skipped(1, 0, 1),
        rejected(2, 1, [1, 0], &none),
        rejected(3, 2, [1, 0], &none),
        rejected(4, 3, [2, 0], &none),
        skipped(5, 3, 3),
        skipped(6, 3, 1),
        skipped(7, 4, 1),
        NegotiationEvent::Round { number: 2, offers: 2 },
        NegotiationEvent::Turn { submitter: "bob", priority: 0.5, slice: Some(1), requests: 1 },
        skipped(5, 3, 2),
        rejected(2, 1, [3, 1], &none),
        rejected(2, 1, [3, 3], &none),
        rejected(2, 1, [3, 0], &one),
        rejected(2, 1, [3, 0], &two),
        rejected(2, 1, [0, 0], &passed),
        rejected(2, 1, [3, 0], &limited),
        deferred(3, RemainingAllowance::Offers(1)),
        deferred(4, RemainingAllowance::Offers(1)),
        deferred(4, RemainingAllowance::Weight(1.001)),
    ] {
        transcript.record(&event);
    }
    let limit = limit.to_string();
    let expected = format!(
        "round 1: 1 offer
all submitters: 2 requests
  j2 and 1 more are rejected: no offer that is left is compatible (1 compatible offer is given already)
  j4 is rejected: no offer that is left is compatible (2 compatible offers are given already)
  j5 and 2 more are skipped: an equivalent request was rejected
round 2: 2 offers
bob: priority 0.5, up to 1 offer for 1 request
  j5 is skipped, 2 requests of it: an equivalent request was rejected
  j2 is rejected: 3 compatible offers (2 already given, 1 discarded by the policy)
  j2 is rejected: 3 compatible offers, discarded by the policy
  j2 waits: the share is too small; the compatible offer that is left weighs 2
  j2 waits: the share is too small; each of 2 compatible offers weighs at least 2
  j2 is rejected: no offer is compatible
  j2 is rejected: {limit}
  j3 and 1 more wait for the next round: its gang needs 2 offers, but ann can get only 1 more in this round
  j4 waits for the next round: its gang needs weight 4.5, but ann can get only 1 more in this round
"
    );
    assert_eq!(lines(&transcript), expected);
    let told = records(&transcript);
    assert_eq!(
        told[..4],
        [
            "1||round||||1 offer",
            "1||turn||||2 requests",
            "1|ann|rejected|j0|||no offer is compatible",
            "1|ann|skipped|j1|||an equivalent request was rejected",
        ]
    );
    assert_eq!(told[10..12], ["2||round||||2 offers", "2|bob|turn||||priority 0.5, up to 1 offer for 1 request"]);
    assert_eq!(told[15], "2|ann|deferred|j2|||the share is too small; the compatible offer that is left weighs 2");
    transcript.end(&NegotiationOutcome::default());
    let end = "j0 and 1 more match no offer at all (`classad explain --request j0` says why)\n";
    assert_eq!(lines(&transcript), expected + end);
}

#[test]
fn a_divided_offer_may_have_been_compatible_before() {
    let (parties, policy) = (parties(), Policy::default());
    let mut transcript = Transcript::new(&parties, &policy);
    let mut divided = grant(0, None, &[(0, None), (1, None)]);
    divided.offers[1].portion = Some(Ad::default());
    let none = RefusalReasons::default();
    let rejected = |compatible, discarded| NegotiationEvent::Rejected {
        request: 1,
        cluster: 0,
        submitter: "",
        compatible,
        discarded,
        refusals: &none,
    };
    transcript.record(&NegotiationEvent::Matched { grant: &divided, submitter: "", weight: None });
    transcript.record(&rejected(0, 0));
    transcript.record(&rejected(1, 1));
    transcript.end(&NegotiationOutcome::default());
    assert_eq!(
        lines(&transcript),
        "  j0 gets s0; s1\n  j1 is rejected: no offer that is left is compatible\n  j1 is rejected: the policy discards the \
         only 1 compatible offer left\n"
    );
    // Of one request alone.
    let mut transcript = Transcript::new(&parties, &policy);
    transcript.record(&rejected(0, 0));
    transcript.end(&NegotiationOutcome::default());
    assert_eq!(lines(&transcript), "j1 matches no offer at all (`classad explain --request j1` says why)\n");
}

#[test]
fn matches_tell_weights_and_who_loses_an_offer() {
    let parties = parties();
    let beyond = "share: { by: User, weight: Weight, in-use-by: UsedBy, beyond: Better }";
    for (text, weight, expected) in [
        (BY_NUMBER, None, "  j0#2 gets s3; s4, preempts bob"),
        (BY_WEIGHT, Some(1.0), "  j0#2 gets s3; s4, preempts bob"),
        (BY_WEIGHT, Some(1.004), "  j0#2 gets s3; s4, preempts bob"),
        (BY_WEIGHT, Some(2.346), "  j0#2 gets s3; s4, preempts bob (weight 2.35)"),
        (beyond, Some(0.5), "  j0#2 gets s3; s4, preempts bob: `Better`, so it may exceed the share (weight 0.5)"),
    ] {
        let policy = policy(text);
        let mut transcript = Transcript::new(&parties, &policy);
        let grant = grant(0, Some(2), &[(3, None), (4, Some("bob"))]);
        transcript.record(&NegotiationEvent::Matched { grant: &grant, submitter: "ann", weight });
        let all = lines(&transcript);
        assert_eq!(all.lines().last(), Some(expected), "{text} {weight:?}");
        assert_eq!(all.starts_with("shares and quotas are sums of weights of offers\n"), text != BY_NUMBER);
        assert_eq!(
            records(&transcript),
            [
                "0|ann|matched|j0#2|s3||(request rank 2.5, offer rank 0)",
                "0|ann|matched|j0#2|s4|bob|(request rank 2.5, offer rank 0)",
            ]
        );
    }
}

/// An outcome in which each submitter has some requests.
fn outcome(submitters: &[(&str, usize)]) -> NegotiationOutcome {
    let of = |(name, requests): &(&str, usize)| SubmitterOutcome {
        name: (*name).to_owned(),
        priority: 1.0,
        requests: *requests,
        matches: 0,
        offers: 0,
    };
    NegotiationOutcome { submitters: submitters.iter().map(of).collect(), ..NegotiationOutcome::default() }
}

#[test]
fn requests_without_a_turn_are_counted() {
    let parties = parties();
    let grants = [grant(0, None, &[(0, None)]), grant(3, None, &[(1, None)])];
    let policy_of_all = Policy::default();
    let mut transcript = Transcript::new(&parties, &policy_of_all);
    transcript.record(&NegotiationEvent::Matched { grant: &grants[0], submitter: "", weight: None });
    transcript.record(&NegotiationEvent::Matched { grant: &grants[0], submitter: "", weight: None });
    transcript.end(&outcome(&[("", 1234)]));
    assert!(lines(&transcript).ends_with("\nall submitters: 1,233 of 1,234 requests had no turn: no offer was left\n"));
    let share = policy(BY_NUMBER);
    let mut transcript = Transcript::new(&parties, &share);
    transcript.record(&NegotiationEvent::Matched { grant: &grants[0], submitter: "ann", weight: None });
    transcript.record(&NegotiationEvent::Matched { grant: &grants[1], submitter: "bob", weight: None });
    let use_of = |maximum, usage| SubmitterUse {
        submitter: String::new(),
        priority: 1.0,
        maximum,
        usage,
        given: 0.0,
        smallest: 1.0,
    };
    let group = |is_skipped, maximum| {
        let group = "bio".to_owned();
        let (quota, usage, given, accepts_surplus) = (1.0, 1.0, 0.0, false);
        AccountingLimit::Group(GroupUse { group, quota, maximum, usage, given, accepts_surplus, is_skipped })
    };
    let limit = ReachedLimit { name: "sw".to_owned(), used: 1.0, given: 0.0, maximum: 1.0, needed: 1.0 };
    // The limit of the first request that waits counts, and j0 does not wait.
    let limits = [
        (0, 0, group(true, 1.0)),
        (1, 0, AccountingLimit::Ceiling(use_of(1.0, 1.0))),
        (2, 0, group(false, 1.0)),
        (4, 2, group(true, 1.0)),
        (5, 3, group(false, 0.0)),
        (6, 4, group(false, 1.0)),
        (7, 5, AccountingLimit::Share(use_of(2.0, 1.0))),
        (8, 6, AccountingLimit::Share(use_of(2.0, 2.0))),
        (9, 7, AccountingLimit::Concurrency(limit)),
    ];
    let mut outcome =
        outcome(&[("ann", 3), ("bob", 1), ("c", 1), ("d", 2), ("e", 1), ("f", 1), ("g", 1), ("h", 1), ("", 1)]);
    for (request, submitter, limit) in limits {
        outcome.limits.insert(request, TurnLimit { limit: Arc::new(limit), decides: true });
        outcome.submitter_of.insert(request, submitter);
    }
    transcript.end(&outcome);
    assert_eq!(
        lines(&transcript),
        "  j0 gets s0
  j3 gets s1
ann: 2 of 3 requests had no turn: the ceiling of the submitter was reached
c: 1 of 1 request had no turn: the group bio is skipped
d: 2 of 2 requests had no turn: the group bio may use no more
e: 1 of 1 request had no turn: the maximum of the group bio was reached
f: 1 of 1 request had no turn: the share was too small for another turn
g: 1 of 1 request had no turn: the share was used up
h: 1 of 1 request had no turn: an equivalent request reached a concurrency limit
submitters without a name: 1 of 1 request had no turn: no share or no offer was left
"
    );
    let told = records(&transcript);
    assert_eq!(told[2], "0|ann|no turn||||2 of 3 requests had no turn: the ceiling of the submitter was reached");
    assert_eq!(told.last().unwrap(), "0||no turn||||1 of 1 request had no turn: no share or no offer was left");
}

#[test]
fn shares_by_weight_are_told() {
    let (parties, policy) = (parties(), policy(BY_WEIGHT));
    let mut transcript = Transcript::new(&parties, &policy);
    let balance = |name, quota, usage, requests| GroupBalance { name, quota, usage, requests };
    let groups =
        [balance(ROOT_GROUP, 0.0, 0.0, 1), balance("physics", 2.3456, 10.0, 1234), balance("bio", 1.0, 0.5, 0)];
    for event in [
        NegotiationEvent::Quotas { groups: &groups },
        NegotiationEvent::Allocation { number: 2 },
        NegotiationEvent::Group { name: "bio", own: 1.0, quota: 2.0, usage: 0.5 },
        NegotiationEvent::QuotaReached { quota: 0.0, usage: 1.0 },
        NegotiationEvent::QuotaReached { quota: 0.5, usage: 0.5 },
        NegotiationEvent::QuotaReached { quota: 2.0, usage: 2.001 },
        NegotiationEvent::GroupSkipped { name: "physics", quota: 2.0, usage: 2.0 },
        NegotiationEvent::Spin { number: 3, weight: 1.004 },
        NegotiationEvent::WeightedTurn { submitter: "ann", priority: 0.5, limit: 1.504, usage: 1.0, requests: 2 },
        NegotiationEvent::WeightedTurn { submitter: "ann", priority: 0.5, limit: 0.0, usage: 1.0, requests: 1 },
        NegotiationEvent::CeilingReached { submitter: "ann", ceiling: 2.0 },
        NegotiationEvent::ShareTooSmall { submitter: "bob", limit: 0.25, smallest: 1.0 },
    ] {
        transcript.record(&event);
    }
    let expected = "\
shares and quotas are sums of weights of offers
group                                   quota  in use  requests
<none>, for submitters without a group      0       0         1
physics                                  2.35      10     1,234
bio                                         1     0.5         0
allocation 2: groups may use what others could not use
group bio: 0.5 in use, at most 2, 1 of it surplus
group bio: the maximum is reached (0.5 of 0.5 in use)
group bio: the maximum is reached (2 of 2 in use)
group physics is skipped: its quota is used up (2 of 2 in use)
round 3: up to 1 more for all submitters together
ann: priority 0.5, 1 in use, up to 1.5 more for 2 requests
ann: priority 0.5, 1 in use, share used up, nothing for 1 request
ann: no further turn: its ceiling is 2
bob: no further turn: its share, 0.25, is less than the smallest weight of a whole offer, 1
";
    assert_eq!(lines(&transcript), expected);
    let told = records(&transcript);
    assert_eq!(
        told[..5],
        [
            "0|<none>|quota||||quota 0, 0 in use, 1 request",
            "0|physics|quota||||quota 2.35, 10 in use, 1,234 requests",
            "0|bio|quota||||quota 1, 0.5 in use, 0 requests",
            "0||allocation||||groups may use what others could not use",
            "0|bio|group||||0.5 in use, at most 2, 1 of it surplus",
        ]
    );
    assert_eq!(told[5], "0|bio|quota reached||||the maximum is reached (0.5 of 0.5 in use)");
    assert_eq!(told[8], "3||round||||up to 1 more for all submitters together");
    // What is about all and about groups remains.
    assert!(!transcript.retain_submitter("carl"));
    let kept: Vec<&str> =
        expected.lines().filter(|line| !line.starts_with("ann:") && !line.starts_with("bob:")).collect();
    assert_eq!(lines(&transcript).lines().collect::<Vec<_>>(), kept);
    assert_eq!(records(&transcript), told[..9]);
}

#[test]
fn starts_are_in_matches_and_in_rests() {
    let (parties, policy) = (parties(), policy(BY_NUMBER));
    let mut transcript = Transcript::new(&parties, &policy);
    transcript.record_starts(&RequestStarts::default(), &|_| None);
    assert_eq!(lines(&transcript), "");
    let grants =
        vec![grant(0, None, &[(0, None)]), grant(1, Some(2), &[(1, None), (2, None)]), grant(2, None, &[(3, None)])];
    let starts = RequestStarts { grants, in_rests: 1, ..RequestStarts::default() };
    transcript.record_starts(&starts, &|request| (request < 2).then_some("ann"));
    let expected = "starts after the cycle
  j0 starts in s0, in its match
  j1#2 starts in s1, in its match
  j1#2 starts in s2, in its match
  j2 starts in s3, in the rest of a slot that its submitter got
";
    assert_eq!(lines(&transcript), expected);
    assert_eq!(
        records(&transcript),
        [
            "0|ann|start|j0|s0||in its match",
            "0|ann|start|j1#2|s1||in its match",
            "0|ann|start|j1#2|s2||in its match",
            "0||start|j2|s3||in the rest of a slot that its submitter got",
        ]
    );
    assert!(transcript.retain_submitter("ann"));
    assert_eq!(lines(&transcript), expected);
    assert_eq!(records(&transcript).len(), 4);
    assert!(!transcript.retain_submitter("bob"));
    assert_eq!(
        lines(&transcript),
        "starts after the cycle\n  j2 starts in s3, in the rest of a slot that its submitter got\n"
    );
    assert_eq!(records(&transcript).len(), 1);
}
