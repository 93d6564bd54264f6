use classad::ad::Dialect;
use classad::matching::policy::Policy;
use classad::protocol::{AdvertisedState, JobState, SlotState};

use super::{LifetimeArgs, SlotSelection, is_schedd, note_wrong_side, retain_available, retain_queued, retain_waiting};
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::source_text::SourceText;
use crate::cli::session::Session;

/// An ad with these attributes.
fn ad(text: &str) -> NamedAd {
    let ad = SourceText::from_argument("ad", &format!("[ {text} ]")).first_ad(Dialect::Condor);
    NamedAd::unnamed(ad.unwrap()).with_name(text.to_owned())
}

fn ads(texts: &[&str]) -> Vec<NamedAd> {
    texts.iter().map(|text| ad(text)).collect()
}

fn ids(ads: &[NamedAd]) -> Vec<&str> {
    ads.iter().map(NamedAd::id).collect()
}

const JOB: &str = "MyType = \"Job\"; JobStatus = 1";
const SLOT: &str = "MyType = \"Machine\"; State = \"Unclaimed\"";

#[test]
fn slots_among_the_requests_are_told() {
    let [missing, swapped] =
        ["write --pool before each file of the pool", "and the pool has jobs; give the slots with --pool"];
    for (requests, offers, expected) in [
        (&[JOB][..], &[SLOT][..], String::new()),
        (&[SLOT], &[], String::new()),
        (&[SLOT], &[SLOT], String::new()),
        (&[SLOT, JOB], &[], String::new()),
        (&[SLOT, JOB], &["A = 1"], String::new()),
        (&[SLOT, JOB], &["A = 1", SLOT], format!("note: 1 of 2 requests is a slot; {missing}")),
        (&[SLOT, SLOT, JOB], &[SLOT, JOB], format!("note: 2 of 3 requests are slots; {missing}")),
        (&[SLOT], &["A = 1", JOB], format!("note: 1 of 1 request is a slot, {swapped}")),
        (&[SLOT, SLOT, JOB], &[JOB], format!("note: 2 of 3 requests are slots, {swapped}")),
    ] {
        let session = Session::keeping("");
        note_wrong_side(&session, [&ads(requests), &ads(offers)]);
        assert_eq!(session.told().concat(), expected, "{requests:?} {offers:?}");
    }
}

#[test]
fn what_is_left_out_is_counted_by_its_state() {
    let job = |status: i64| format!("MyType = \"Job\"; JobStatus = {status}");
    let jobs: Vec<String> = [1, 2, 4, 5, 5, 7].map(job).into();
    let mut texts: Vec<&str> = jobs.iter().map(String::as_str).collect();
    texts.extend(["A = 1", "MyType = \"Scheduler\""]);
    let session = Session::keeping("");
    assert_eq!(ids(&retain_waiting(&session, ads(&texts))), [texts[0], texts[6]]);
    let end = "(--all-states includes such ads)";
    let left = "2 held, 1 running, 1 completed, 1 suspended and 1 of daemons";
    assert_eq!(session.told(), [format!("note: 6 of 8 requests left out: {left} {end}")]);
    assert_eq!(ids(&retain_queued(&session, ads(&texts))).len(), 6);
    assert_eq!(session.told(), [format!("note: 2 of 8 requests left out: 1 completed and 1 of daemons {end}")]);
    assert_eq!(retain_waiting(&session, ads(&texts[..1])).len(), 1);
    assert!(session.told().is_empty());
    let cools = [
        "1; JobCoolDownExpiration = 9000000000",
        "1; JobCoolDownExpiration = 1",
        "5; JobCoolDownExpiration = 9000000000",
    ];
    let cools = cools.map(|status| format!("MyType = \"Job\"; JobStatus = {status}"));
    let texts = cools.each_ref().map(String::as_str);
    assert_eq!(ids(&retain_waiting(&session, ads(&texts))), [texts[1]]);
    assert_eq!(session.told(), [format!("note: 2 of 3 requests left out: 1 in cool-down and 1 held {end}")]);
    assert_eq!(ids(&retain_queued(&session, ads(&texts))), texts);
    let slot = |state: &str| format!("MyType = \"Machine\"; State = \"{state}\"");
    let slots: Vec<String> = ["Unclaimed", "Claimed", "Owner"].map(slot).into();
    let mut texts: Vec<&str> = slots.iter().map(String::as_str).collect();
    texts.push("A = 1");
    for (selection, kept, note) in [
        (SlotSelection::Free, 2, "2 of 4 offers left out: 1 claimed and 1 in use by the owner"),
        (SlotSelection::FreeAndClaimed, 3, "1 of 4 offers left out: 1 in use by the owner"),
        (SlotSelection::All, 4, ""),
    ] {
        assert_eq!(retain_available(&session, ads(&texts), selection).len(), kept);
        let expected = if note.is_empty() { String::new() } else { format!("note: {note} {end}") };
        assert_eq!(session.told().concat(), expected);
    }
    for (text, expected) in
        [("MyType = \"scheduler\"", true), ("MyType = \"Submitter\"", false), ("MyType = 1", false), ("A = 1", false)]
    {
        assert_eq!(is_schedd(&ad(text), &session.context()), expected, "{text}");
    }
}

#[test]
fn a_policy_that_ranks_offers_may_take_them_from_users() {
    let of = |text: &[u8]| SlotSelection::of_policy(&Policy::parse(text, Dialect::Condor).unwrap());
    assert_eq!(of(b"order: [Prio]"), SlotSelection::Free);
    assert_eq!(of(b"docking: [label.Memory]"), SlotSelection::FreeAndClaimed);
    for (state, expected) in [
        (AdvertisedState::Slot(SlotState::Free), [true, true, true]),
        (AdvertisedState::Slot(SlotState::Claimed), [false, true, true]),
        (AdvertisedState::Slot(SlotState::Owner), [false, false, true]),
        (AdvertisedState::Job(JobState::Held), [true, true, true]),
        (AdvertisedState::Daemon, [true, true, true]),
    ] {
        let all = [SlotSelection::Free, SlotSelection::FreeAndClaimed, SlotSelection::All];
        assert_eq!(all.map(|selection| selection.admits_ad(state)), expected, "{state:?}");
    }
}

#[test]
fn the_latest_ad_of_an_identity_counts_until_it_expires() {
    let texts = [
        "Name = \"a\"; LastHeardFrom = 10; ClassAdLifetime = 5; K = 1",
        "Name = \"a\"; LastHeardFrom = 20; ClassAdLifetime = 5; K = 2",
        "Name = \"b\"; LastHeardFrom = 20; ClassAdLifetime = 5; K = 2",
        "K = 1",
        "K = 1; L = 1",
    ];
    let numbers = |ads: &[NamedAd]| -> Vec<usize> {
        ads.iter().map(|ad| texts.iter().position(|text| ad.id().ends_with(text)).unwrap()).collect()
    };
    let args = |at, as_given| LifetimeArgs { at, as_given };
    let session = Session::keeping("--now 26");
    let latest = |args: &LifetimeArgs, ads, id: Option<&str>| numbers(&args.retain_latest(&session, ads, "ad", id));
    assert_eq!(latest(&args(None, false), ads(&texts), None), [1, 2, 3, 4]);
    let note = "note: 1 of 5 ads left out: a later ad has the same Name or GlobalJobId (--as-given includes such ads)";
    assert_eq!(session.told(), [note]);
    assert_eq!(latest(&args(None, true), ads(&texts), None), [0, 1, 2, 3, 4]);
    // With display names, ads of one identity and one name are one, and so are those of one name without an identity.
    assert_eq!(latest(&args(None, false), ads(&texts), Some("K")), [0, 1, 2, 3, 4]);
    let named = |name: &str| texts.map(|text| ad(text).with_name(format!("{name}{text}"))).into();
    assert_eq!(latest(&args(None, false), named(""), Some("K")), [0, 1, 2, 3, 4]);
    let one: Vec<NamedAd> = texts.map(|text| ad(text).with_name("x".to_owned())).into();
    assert_eq!(args(None, false).retain_latest(&session, one, "ad", Some("K")).len(), 3);
    session.told();
    for (args, expiry, kept) in [
        (args(None, false), Some(26), vec![3, 4]),
        (args(Some(25), false), Some(25), vec![1, 2, 3, 4]),
        (args(Some(15), false), Some(15), vec![0, 1, 2, 3, 4]),
        (args(None, true), None, vec![0, 1, 2, 3, 4]),
    ] {
        assert_eq!(args.expiry_time(&session), expiry);
        assert_eq!(numbers(&args.retain_unexpired(&session, ads(&texts), "ad")), kept, "{expiry:?}");
    }
    let end = "(--at sets another time, --as-given includes such ads)";
    assert_eq!(
        session.told(),
        [
            format!("note: 3 of 5 ads left out: expired by 1970-01-01T00:00:26Z {end}"),
            format!("note: 1 of 5 ads left out: expired by 1970-01-01T00:00:25Z {end}"),
        ]
    );
}
