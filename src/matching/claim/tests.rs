//! Claims of pairs and of gangs whose ads have changed since the match.

mod trees;

use rustc_hash::FxHashSet;

use super::{ClaimMessageKind, ClaimResult, Claimer, Veto};
use crate::ad::{Ad, Dialect};
use crate::eval::Context;
use crate::matching::notification::Docking;
use crate::matching::{MatchKind, Notice, Party};
use crate::protocol::Protocol;
use crate::syntax::{ParseOptions, parse_ad};

fn ad(text: &str) -> Ad {
    parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Classad)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A party with an identity, docked by its port `link` to the port `label` of the party `parent`.
fn party(id: &str, docked: Option<(usize, &str, usize)>) -> Party {
    let docking = docked.map(|(parent, label, link)| Docking { parent, label: label.to_owned(), link, ranks: None });
    Party { id: id.to_owned(), docking, ..Party::default() }
}

/// A job with a box, which has a disk, and with a licence.
fn gang() -> Notice {
    let parties = [
        ("job", None),
        ("box", Some((0, "box", 0))),
        ("disk", Some((1, "disk", 0))),
        ("licence", Some((0, "licence", 0))),
    ];
    let parties = parties.map(|(id, docked)| party(id, docked)).to_vec();
    Notice::new(MatchKind::Gang, parties, None)
}

fn claimer(ads: &[Ad]) -> Claimer {
    Claimer::new(ads, Protocol::new(Dialect::Classad), Context::new(Dialect::Classad), Some(100))
}

/// Returns who is claimed, and the vetoes.
fn told(notice: &Notice, result: &ClaimResult) -> String {
    let name = |party: usize| notice.parties[party].id.as_str();
    let claimed: Vec<&str> = result.claimed.iter().map(|party| name(*party)).collect();
    let vetoes = result.vetoes.iter().map(|(party, veto)| format!("; {}: {veto}", name(*party)));
    assert_eq!(result.is_committed(), !claimed.is_empty());
    claimed.join(" ") + &vetoes.collect::<String>()
}

const JOB: &str = "[ Owner = \"ann\"; Ports = { [ Label = \"box\"; Constraint = box.Memory > 4 ], \
                   [ Label = \"licence\"; Constraint = true ] } ]";
const BOX: &str = "[ Memory = 8; Ports = { [ Label = \"user\"; Constraint = user.Owner == \"ann\" ], \
                   [ Label = \"disk\"; Constraint = disk.Size > 4 ] } ]";
const DISK: &str = "[ Size = 8; Constraint = other.Memory > 4 ]";
const LICENCE: &str = "[ Constraint = true ]";

/// Returns who is claimed, and the vetoes, with these current ads of a gang.
fn claimed(ads: [&str; 4]) -> String {
    let notice = gang();
    let result = claimer(&ads.map(ad)).claim(&notice, &[Ok(0), Ok(1), Ok(2), Ok(3)]);
    told(&notice, &result)
}

#[test]
fn each_party_of_a_gang_votes_with_its_current_ad() {
    let lenient = JOB.replace("[ Owner", "[ AcceptPartial = size(aborted) == 1 && member(\"licence\", aborted); Owner");
    let lenient_box = BOX.replace("[ Memory", "[ AcceptPartial = true; Memory");
    let all = "[ AcceptPartial = true; Owner";
    for (job, machine, disk, licence, expected) in [
        (JOB, BOX, DISK, LICENCE, "job box disk licence"),
        (
            JOB,
            &BOX.replace("= 8", "= 4"),
            DISK,
            LICENCE,
            "; job: it requires box; box: it requires disk; disk: it does not accept box",
        ),
        (
            JOB,
            &BOX.replace("= 8", "= 5").replace("Size > 4", "Size > 8"),
            DISK,
            LICENCE,
            "; job: it requires box; box: it requires disk; disk: the port `disk` of box does not accept it",
        ),
        (
            &JOB.replace("Memory > 4", "Memory > 8"),
            BOX,
            DISK,
            LICENCE,
            "; job: it requires box; box: the port `box` of job does not accept it",
        ),
        (&JOB.replace("ann", "bob"), BOX, DISK, LICENCE, "; job: it requires box; box: it does not accept job"),
        // The job accepts the loss of its licence, not that of its box.
        (&lenient, BOX, DISK, "[ Constraint = false ]", "job box disk; licence: it does not accept job"),
        (
            &lenient,
            &BOX.replace("= 8", "= 4"),
            "[ Size = 8; Constraint = true ]",
            LICENCE,
            "; job: it requires box; box: the port `box` of job does not accept it",
        ),
        (
            &lenient,
            &BOX.replace("= 8", "= 4"),
            "[ Size = 8; Constraint = true ]",
            "[ Constraint = false ]",
            "; job: it requires box, licence; box: the port `box` of job does not accept it; licence: it does not accept job",
        ),
        (
            JOB,
            &lenient_box,
            "[ Size = 8; Constraint = false ]",
            LICENCE,
            "job box licence; disk: it does not accept box",
        ),
        // What is below a party that is lost is not claimed, and needs no veto of its own.
        (
            &JOB.replace("[ Owner", all).replace("Memory > 4", "Memory > 8"),
            BOX,
            DISK,
            LICENCE,
            "job licence; box: the port `box` of job does not accept it",
        ),
    ] {
        assert_eq!(claimed([job, machine, disk, licence]), expected, "{job} {machine} {disk} {licence}");
    }
}

/// Ports that the match needs are missing, are of no use, or have become more.
#[test]
fn ports_that_have_changed() {
    for (job, machine, disk, expected) in [
        (
            JOB,
            "[ Memory = 8; Ports = { [ Label = 5 ] } ]",
            DISK,
            "; job: it requires box; box: a Label must be a name or a string",
        ),
        (
            JOB,
            "[ Memory = 8; Ports = 7 ]",
            DISK,
            "; job: it requires box; box: Ports must be a list of records, `{ [ Label = ...; Constraint = ... ], ... }`",
        ),
        (&JOB.replace("\"licence\"", "\"permit\""), BOX, DISK, "; job: its port `permit` has no offer"),
        (
            JOB,
            "[ Memory = 8; Ports = { [ Label = \"user\"; Constraint = true ] } ]",
            DISK,
            "; job: it requires box; box: it requires disk; disk: box has no port `disk`",
        ),
        (
            JOB,
            &BOX.replace("disk.Size > 4 ]", "true ], [ Label = \"gpu\"; Constraint = true ]"),
            DISK,
            "; job: it requires box; box: its port `gpu` has no offer",
        ),
        (
            JOB,
            &BOX.replace("Ports = {", "Ports = { [ Min = 1; Max = 1; Ports = {").replace("> 4 ] }", "> 4 ] } ] }"),
            DISK,
            "; job: it requires box; box: its groups of ports are not satisfied; filled ports: `user`, `disk`",
        ),
        (
            JOB,
            BOX,
            &DISK.replace("[ Size", "[ Ports = {}; Size"),
            "; job: it requires box; box: it requires disk; disk: it has no port 1",
        ),
    ] {
        assert_eq!(claimed([job, machine, disk, LICENCE]), expected, "{job} {machine} {disk}");
    }
}

#[test]
fn an_ad_that_is_gone_or_taken_votes_against_its_match() {
    let request = "[ Constraint = true ]";
    let offer = "[ ClaimId = \"t\"; ExpirationTime = 100; Constraint = true ]";
    let pair = |ticket: Option<&str>| {
        let offer = Party { ticket: ticket.map(str::to_owned), ..party("offer", Some((0, "other", 0))) };
        Notice::new(MatchKind::Pair, vec![party("job", None), offer], None)
    };
    for (request, offer, ticket, index, expected) in [
        (request, offer, Some("t"), Ok(1), "job offer"),
        (request, offer, None, Ok(1), "job offer"),
        (request, offer, Some("u"), Ok(1), "; job: it requires other; offer: its ClaimId has changed"),
        (
            request,
            "[ Constraint = true ]",
            Some("t"),
            Ok(1),
            "; job: it requires other; offer: it no longer has a ClaimId",
        ),
        (
            request,
            &offer.replace("100", "99"),
            None,
            Ok(1),
            "; job: it requires other; offer: it has expired: it was valid until 99 (in seconds since 1970)",
        ),
        (request, offer, None, Err(Veto::Gone), "; job: it requires other; offer: it is not among the current ads"),
        (request, offer, None, Ok(2), "; job: it requires other; offer: it is not among the current ads"),
        (request, offer, None, Err(Veto::Ambiguous(2)), "; job: it requires other; offer: 2 ads have this name"),
        ("[ Constraint = other.x ]", offer, None, Ok(1), "; job: it requires other; offer: job does not accept it"),
        (request, "[ Constraint = other.x ]", None, Ok(1), "; job: it requires other; offer: it does not accept job"),
        // An ad without a constraint accepts nothing.
        (request, "[ x = 1 ]", None, Ok(1), "; job: it requires other; offer: it does not accept job"),
    ] {
        let notice = pair(ticket);
        let result = claimer(&[request, offer].map(ad)).claim(&notice, &[Ok(0), index]);
        assert_eq!(told(&notice, &result), expected, "{request} {offer}");
    }
    let mut claimer = claimer(&[request, offer, request].map(ad));
    let (first, second) = (pair(None), Notice::new(MatchKind::Pair, pair(None).parties, Some(7)));
    assert_eq!(told(&first, &claimer.claim(&first, &[Ok(0), Ok(1)])), "job offer");
    assert_eq!(claimer.evaluations, 2);
    let expected = format!("; job: it requires other; offer: the match {} has already claimed it", first.id);
    assert_eq!(told(&second, &claimer.claim(&second, &[Ok(2), Ok(1)])), expected);
}

#[test]
fn matches_claim_of_what_is_left_of_a_divided_offer() {
    let offer = "[ Memory = 10; Constraint = true ]";
    let mut claimer = claimer(&["[ Constraint = true ]", offer].map(ad));
    let mut of = |taken: i64| {
        let offer = Party {
            portion: Some(ad(&format!("[ Memory = {taken} ]"))),
            ..party("offer", Some((0, "other", 0))).into_part(2)
        };
        let job = Party { whole_id: Some("job".to_owned()), ..party("job", None) };
        let notice = Notice::new(MatchKind::Pair, vec![job, offer], None);
        let result = claimer.claim(&notice, &[Ok(0), Ok(1)]);
        let portion = result.portions.get(&1).and_then(|ad| ad.get_str("Memory")).map(ToString::to_string);
        format!("{} {portion:?}", told(&notice, &result))
    };
    assert_eq!(of(6), "job offer#2 Some(\"6\")");
    assert_eq!(of(5), "; job: it requires other; offer#2: it has too little Memory left None");
    assert_eq!(of(4), "job offer#2 Some(\"4\")");
}

/// Each party is asked after what is docked at it, and what voted for a match that fails is told so.
#[test]
fn messages_follow_the_tree() {
    let messages = |ads: &[&str]| {
        let notice = gang();
        let ads: Vec<Ad> = ads.iter().map(|text| ad(text)).collect();
        let result = claimer(&ads).claim(&notice, &[Ok(0), Ok(1), Ok(2), Ok(3)]);
        let rounds: FxHashSet<usize> = result.transcript.iter().map(|message| message.round).collect();
        assert!(rounds.len() <= 2, "{rounds:?}");
        let word = |kind: &ClaimMessageKind| match kind {
            ClaimMessageKind::Abort => "abort",
            other => other.as_str(),
        };
        let shown = result
            .transcript
            .iter()
            .map(|message| format!("{}: {} {} {}", message.round, message.from, word(&message.kind), message.to));
        shown.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(
        messages(&[JOB, BOX, DISK, LICENCE]),
        "1: 0 VERIFY 1, 1: 1 VERIFY 2, 1: 2 OK 1, 1: 1 OK 0, 1: 0 VERIFY 3, 1: 3 OK 0, \
         1: 0 COMMIT 1, 1: 1 COMMIT 2, 1: 0 COMMIT 3"
    );
    assert_eq!(
        messages(&[JOB, &BOX.replace("ann", "bob"), DISK, LICENCE]),
        "1: 0 VERIFY 1, 1: 1 VERIFY 2, 1: 2 OK 1, 1: 1 ABORT 0, 1: 0 VERIFY 3, 1: 3 OK 0, \
         1: 1 abort 2, 1: 0 abort 3"
    );
    let lenient = JOB.replace("[ Owner", "[ AcceptPartial = true; Owner");
    assert_eq!(
        messages(&[&lenient, &BOX.replace("ann", "bob"), DISK, LICENCE]),
        "1: 0 VERIFY 1, 1: 1 VERIFY 2, 1: 2 OK 1, 1: 1 ABORT 0, 1: 0 VERIFY 3, 1: 3 OK 0, 1: 1 abort 2, \
         2: 0 VERIFY 3, 2: 3 OK 0, 2: 0 COMMIT 3"
    );
}
