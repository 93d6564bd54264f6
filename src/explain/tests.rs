//! Explanations of small pools: the summary, the counts of clauses, the changes.

use super::{AdReference, Explainer, Remedies, RequestReport, ShortCauseWriter, SummaryWriter};
use crate::ad::{Ad, ByteString, Dialect};
use crate::eval::Context;
use crate::protocol::{Advertisement, Protocol};
use crate::syntax::{ParseOptions, parse_ad};

pub(super) fn ad(text: &str) -> Ad {
    parse_ad(format!("[ {text} ]").as_bytes(), ParseOptions::new(Dialect::Condor))
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Explains a job of `ann` against slots, whose states count.
pub(super) fn report(request: &str, offers: &[&str]) -> RequestReport {
    let context = Context { now: Some(1_783_286_388), ..Context::new(Dialect::Condor) };
    let offers: Vec<Ad> = offers.iter().map(|text| ad(text)).collect();
    let standing = |offer: &Ad| {
        let told = Advertisement::new(offer, &context);
        (told.state(), told.user().map(Into::into))
    };
    let standings: Vec<_> = offers.iter().map(standing).collect();
    let explainer = Explainer::new(&offers, Protocol::new(Dialect::Condor), context.clone());
    explainer.with_slots(&offers, &standings).explain_for(&ad(request), Some(&ByteString::from("ann")))
}

/// Returns what a writer says of a job and slots.
fn told<T>(tell: impl FnOnce(&SummaryWriter<'_>) -> T) -> T {
    let names = |ad: AdReference| format!("{ad:?}");
    let writer = SummaryWriter {
        subject: "job",
        is_plural: false,
        nouns: ["slot", "slots"],
        names: &names,
        dialect: Dialect::Condor,
        max_clause_chars: 60,
        brevity: 0,
    };
    tell(&writer)
}

fn summary(report: &RequestReport) -> String {
    told(|writer| writer.summary(report))
}

pub(super) const SMALL: &str =
    "MyType = \"Machine\"; Arch = \"X86_64\"; Memory = 100; Cpus = 1; KFlops = 50; Requirements = true";
pub(super) const LARGE: &str =
    "MyType = \"Machine\"; Arch = \"X86_64\"; Memory = 900; Cpus = 4; KFlops = 105; Requirements = true";
const ARM: &str = "MyType = \"Machine\"; Arch = \"aarch64\"; Memory = 999; Cpus = 9; KFlops = 99; Requirements = true";
const PICKY: &str = "MyType = \"Machine\"; Arch = \"X86_64\"; Memory = 999; Cpus = 2; Requirements = TARGET.Prio > 5";

/// The summary and the changes of a job's constraint.
#[test]
fn verdicts_and_changes() {
    for (request, offers, expected, changes) in [
        ("Requirements = true", &[][..], "job matches nothing: there are no slots", ""),
        ("x = 1", &[SMALL], "job matches none of 1 slot: it has no constraint, so it accepts nothing", ""),
        ("Requirements = TARGET.Memory >= 100", &[SMALL, LARGE, ARM], "job matches 3 of 3 slots", ""),
        ("Requirements = TARGET.Memory > 100", &[SMALL, LARGE, ARM], "job matches 2 of 3 slots", ""),
        (
            "Requirements = TARGET.Memory >= 5000",
            &[SMALL, LARGE, ARM],
            "job matches none of 3 slots: no slot has Memory >= 5000; the largest is 999",
            "`TARGET.Memory >= 5000` -> `TARGET.Memory >= 999`",
        ),
        (
            "Requirements = TARGET.Memory >= RequestMemory; RequestMemory = 1000",
            &[SMALL, LARGE],
            "job matches none of 2 slots: no slot has Memory >= 1000 (RequestMemory); the largest is 900",
            "RequestMemory 1000 -> 900",
        ),
        (
            "Requirements = TARGET.Memory >= RequestMemory; RequestMemory = 2000",
            &[SMALL, LARGE],
            "job matches none of 2 slots: no slot has Memory >= 2000 (RequestMemory); the largest is 900",
            "RequestMemory 2000 -> 900",
        ),
        (
            "Requirements = TARGET.Arch =?= \"x86_64\"",
            &[SMALL, LARGE, ARM],
            "job matches none of 3 slots: `TARGET.Arch =?= \"x86_64\"` is never true: =?= is case-sensitive, and 2 slots have \"X86_64\"",
            "`TARGET.Arch =?= \"x86_64\"` -> `TARGET.Arch == \"x86_64\"`",
        ),
        (
            "Requirements = TARGET.Arch =?= Wanted; Wanted = \"x86_64\"",
            &[SMALL, LARGE, ARM],
            "job matches none of 3 slots: `TARGET.Arch =?= Wanted` is never true: =?= is case-sensitive, and 2 slots have \"X86_64\"",
            "`TARGET.Arch =?= Wanted` -> `TARGET.Arch == Wanted`",
        ),
        (
            "Requirements = TARGET.KFlops >= 1000",
            &[SMALL, LARGE, ARM],
            "job matches none of 3 slots: no slot has KFlops >= 1000; the largest is 105",
            "`TARGET.KFlops >= 1000` -> `TARGET.KFlops >= 105`",
        ),
        (
            "Requirements = TARGET.Memroy >= 100",
            &[SMALL, LARGE],
            "job matches none of 2 slots: no slot defines Memroy (did you mean Memory? 2 slots have it)",
            "`TARGET.Memroy >= 100` -> `TARGET.Memory >= 100`",
        ),
        (
            "Requirements = TARGET.Arch == \"x86_65\"",
            &[SMALL, LARGE, ARM],
            "job matches none of 3 slots: no slot has Arch == \"x86_65\"; the most similar is \"X86_64\"",
            "`TARGET.Arch == \"x86_65\"` -> `TARGET.Arch == \"X86_64\"`",
        ),
        (
            "Requirements = TARGET.Memory == \"100\"",
            &[SMALL, LARGE],
            "job matches none of 2 slots: `==` of a number and a string is an error: `TARGET.Memory == 100` would be true for 1 slot",
            "`TARGET.Memory == \"100\"` -> `TARGET.Memory == 100`",
        ),
        ("Requirements = TARGET.Memory >= Want", &[SMALL], "job matches none of 1 slot: no slot defines Want", ""),
        (
            "Requirements = TARGET.Memory > 5 && TARGET.Memory < 5",
            &[SMALL],
            "job matches none of 1 slot: `TARGET.Memory > 5` and `TARGET.Memory < 5` can never be true together",
            "`TARGET.Memory < 5` -> `TARGET.Memory <= 100`",
        ),
        (
            "Requirements = TARGET.Arch == \"aarch64\" && TARGET.Memory < 500",
            &[SMALL, LARGE, ARM],
            "job matches none of 3 slots: none meets `TARGET.Arch == \"aarch64\"` and `TARGET.Memory < 500` together, but some meet each alone",
            "`TARGET.Memory < 500` -> `TARGET.Memory <= 999`",
        ),
        (
            "Requirements = TARGET.Cpus >= 2",
            &[SMALL, PICKY],
            "job matches none of 2 slots: 1 slot would do, but it refuses: job has no Prio",
            "Prio = 6, or `TARGET.Cpus >= 2` -> `TARGET.Cpus >= 1`",
        ),
        (
            "Requirements = TARGET.Cpus >= 2; Prio = 5",
            &[SMALL, PICKY],
            "job matches none of 2 slots: 1 slot would do, but it refuses: `TARGET.Prio > 5` is false (Prio is 5)",
            "Prio 5 -> 6, or `TARGET.Cpus >= 2` -> `TARGET.Cpus >= 1`",
        ),
        ("Requirements = TARGET.Cpus >= 2; Prio = 6", &[SMALL, PICKY], "job matches 1 of 2 slots", ""),
    ] {
        let report = report(request, offers);
        let found: Vec<String> = report.changes.iter().map(super::RequestChange::text).collect();
        let (summary, found) = (summary(&report), found.join(", or "));
        assert_eq!((summary.as_str(), found.as_str()), (expected, changes), "{request}");
    }
}

/// The outcomes of clauses, and of the constraints of the slots.
#[test]
fn counts_of_clauses() {
    for (request, expected) in [
        (
            "Requirements = TARGET.Cpus >= 2 && TARGET.KFlops > 60",
            "4 2 3 2 [] | TARGET.Cpus >= 2: 3 1 0 0, 3 0 9 | TARGET.KFlops > 60: 2 1 1 0, 2 1 105",
        ),
        (
            "Requirements = TARGET.Arch == \"X86_64\" && TARGET.Memory > 500 && TARGET.Cpus < 3; Prio = 7",
            "4 1 4 1 [] | TARGET.Arch == \"X86_64\": 3 1 0 0, 3 0 \"X86_64\" | TARGET.Memory > 500: 3 1 0 0, 2 1 999 | TARGET.Cpus < 3: 2 2 0 0, 1 1 1",
        ),
        (
            "Requirements = TARGET.Memory == \"a\" || TARGET.Cpus == 1",
            "4 0 3 0 [[0]] | TARGET.Memory == \"a\" || TARGET.Cpus == 1: 0 0 0 4, 0 4 -",
        ),
        (
            "Requirements = TARGET.Memory + \"a\" > 1 && Prio > 1; Prio = 7",
            "4 0 4 0 [[0]] | TARGET.Memory + \"a\" > 1: 0 0 0 4, 0 4 - | Prio > 1: 4 0 0 0, 0 0 -",
        ),
        (
            "Requirements = Ok && TARGET.Lost > 1; Ok = TARGET.Cpus > 1",
            "4 0 3 0 [[1]] | TARGET.Cpus > 1: 3 1 0 0, 3 0 9 | TARGET.Lost > 1: 0 0 4 0, 0 3 -",
        ),
    ] {
        let report = report(request, &[SMALL, LARGE, ARM, PICKY]);
        let clauses = report.clauses.iter().map(|clause| {
            let counts = clause.counts;
            format!(
                "{}: {} {} {} {}, {} {} {}",
                clause.text,
                counts.is_true,
                counts.is_false,
                counts.undefined,
                counts.error,
                clause.remaining,
                clause.sole_blocker,
                clause.closest_value.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string)
            )
        });
        let clauses: Vec<String> = clauses.collect();
        let RequestReport { offers, suitable, accepting, matches, conflicts, .. } = &report;
        let text = format!("{offers} {suitable} {accepting} {matches} {:?} | {}", conflicts.sets, clauses.join(" | "));
        assert_eq!(text, expected, "{request}");
    }
}

/// What the states of slots have to do with a job of `ann` that matches all.
#[test]
fn slots_by_state() {
    for (states, expected, counts) in [
        (
            &["State = \"Unclaimed\""][..],
            "job matches 1 of 1 slot, which is free",
            "Some([1, 0, 0, 1, 0, 0, 0, 0, 0, 0])",
        ),
        (
            &["State = \"Claimed\"; RemoteUser = \"bob\"", "State = \"Unclaimed\""],
            "job matches 2 of 2 slots: 1 is free and 1 is claimed by bob",
            "Some([2, 0, 0, 1, 0, 1, 0, 0, 0, 0])",
        ),
        (
            &["State = \"Claimed\"; RemoteUser = \"bob\"", "State = \"Claimed\"; RemoteUser = \"ann\""],
            "job matches 2 of 2 slots, but none is free: 1 is claimed by bob and 1 is claimed by the same user",
            "Some([2, 0, 0, 0, 1, 1, 0, 0, 0, 0])",
        ),
        (
            &["State = \"Owner\"", "State = \"Unclaimed\"; Offline = true", "State = \"Drained\""],
            "job matches 3 of 3 slots, but none is free: 1 is in use by the owner, 1 is drained and 1 is offline",
            "Some([3, 0, 0, 0, 0, 0, 1, 0, 1, 0])",
        ),
        (
            &[
                "State = \"Matched\"",
                "State = \"Preempting\"",
                "State = \"Claimed\"; Draining = true",
                "State = \"Backfill\"",
            ],
            "job matches 4 of 4 slots: 1 is in backfill, 1 is matched, 1 is preempting and 1 is draining",
            "Some([4, 0, 0, 0, 0, 0, 0, 1, 0, 0])",
        ),
        (
            &["State = \"Claimed\"; RemoteUser = \"bob\"", "State = \"Claimed\"; RemoteUser = \"cy\""],
            "job matches 2 of 2 slots, but none is free: 2 are claimed by others",
            "Some([2, 0, 0, 0, 0, 2, 0, 0, 0, 0])",
        ),
        (
            &["State = \"Unclaimed\"; Memory = 10"],
            "job matches none of 1 slot: no slot has Memory >= 50; the largest is 10",
            "Some([1, 1, 0, 0, 0, 0, 0, 0, 0, 0])",
        ),
        (
            &[
                "State = \"Unclaimed\"; PartitionableSlot = true; TotalSlotMemory = 500; Memory = 10",
                "State = \"Owner\"; Cpus = 0",
            ],
            "job matches none of 2 slots: none meets `TARGET.Memory >= 50` and `TARGET.Cpus >= 1` together, but some meet each alone; 1 full slot would match once its jobs end",
            "Some([2, 1, 0, 0, 0, 0, 0, 0, 0, 1])",
        ),
        (
            &[
                "State = \"Unclaimed\"; PartitionableSlot = true; TotalSlotMemory = 500; Memory = 60; Requirements = MY.Memory >= 70",
            ],
            "job matches none of 1 slot as they are; 1 full slot would match once its jobs end",
            "Some([1, 0, 0, 0, 0, 0, 0, 0, 0, 1])",
        ),
        (
            &[
                "State = \"Unclaimed\"; PartitionableSlot = true; TotalSlotMemory = 500; Memory = 60; Requirements = MY.Memory >= 70",
                "State = \"Unclaimed\"; Requirements = false",
            ],
            "job matches none of 2 slots: 1 slot would do, but it refuses: its constraint is `false`; 1 full slot would match once its jobs end",
            "Some([2, 0, 1, 0, 0, 0, 0, 0, 0, 1])",
        ),
        (
            &["State = \"Unclaimed\"; Requirements = TARGET.Prio > 3", "State = \"Unclaimed\"; Requirements = false"],
            "job matches none of 2 slots: 2 slots would do (1 free), but all of them refuse: 1 because job has no Prio",
            "Some([2, 0, 2, 0, 0, 0, 0, 0, 0, 0])",
        ),
    ] {
        let slots: Vec<String> = states
            .iter()
            .map(|state| {
                let lacks = |name: &str| !state.contains(name);
                let cpus = if lacks(" Cpus =") { "Cpus = 1;" } else { "" };
                let memory = if lacks(" Memory =") { "Memory = 100;" } else { "" };
                let requirements = if lacks("Requirements") { "Requirements = true;" } else { "" };
                format!("MyType = \"Machine\"; {cpus} {memory} {requirements} {state}")
            })
            .collect();
        let slots: Vec<&str> = slots.iter().map(String::as_str).collect();
        let job = "MyType = \"Job\"; ClusterId = 1; ProcId = 0; JobStatus = 1; Requirements = TARGET.Memory >= 50 && TARGET.Cpus >= 1";
        let report = report(job, &slots);
        let found = report.slots.map(|slots| {
            [
                slots.slots,
                slots.rejected_by_request,
                slots.rejecting_request,
                slots.matching.free,
                slots.matching.claimed_by_user,
                slots.matching.claimed_by_others,
                slots.matching.owner,
                slots.matching.draining,
                slots.matching.offline,
                slots.if_drained,
            ]
        });
        let (summary, found) = (summary(&report), format!("{found:?}"));
        assert_eq!((summary.as_str(), found.as_str()), (expected, counts), "{states:?}");
    }
}

/// Rules of owners, names that stand for conditions, values with free slots, and what hibernates.
#[test]
fn whose_rule_it_is_and_which_values_there_are() {
    let slot = |more: &str| format!("MyType = \"Machine\"; Arch = \"X86_64\"; Cpus = 4; {more}");
    let listed = slot("State = \"Unclaimed\"; Requirements = stringListMember(TARGET.Owner, \"ann,bob\")");
    let flagged = slot("State = \"Unclaimed\"; Requirements = TARGET.WantBig =?= true");
    let named = slot(
        "State = \"Claimed\"; Requirements = IsBig || TARGET.IsOurs; IsBig = TARGET.RequestCpus >= MY.Least; Least = 2",
    );
    let asleep = slot("State = \"Unclaimed\"; Offline = true; Memory = 900; Requirements = true");
    let clocked = slot("State = \"Unclaimed\"; ClockMin = 600; Requirements = true");
    let unmeasured = slot("State = \"Unclaimed\"; Speed = undefined; Memory = undefined; Requirements = true");
    let awake = slot("State = \"Unclaimed\"; Memory = 100; Requirements = true");
    let full = slot(
        "State = \"Drained\"; Activity = \"Retiring\"; PartitionableSlot = true; TotalSlotCpus = 8; Requirements = true",
    );
    for (request, offers, expected) in [
        (
            "Requirements = TARGET.Cpus > 0; Owner = \"eve\"",
            vec![&listed],
            "Offer { offer: 0, part: 1 } would do, but its owner admits only jobs with Owner ann or bob (Owner is \"eve\")",
        ),
        (
            "Requirements = TARGET.Cpus > 0; WantBig = \"True\"",
            vec![&flagged],
            "Offer { offer: 0, part: 1 } would do, but its owner admits only jobs with WantBig = true, not the string \"true\"",
        ),
        (
            "Requirements = TARGET.Cpus > 0; RequestCpus = 1; IsOurs = TARGET.Cpus > 9",
            vec![&named],
            "1 slot would do (claimed by another user), but it refuses: `TARGET.RequestCpus >= MY.Least || MY.Cpus > 9` is \
            false (Cpus is 4, Least is 2, RequestCpus is 1)",
        ),
        (
            "Requirements = TARGET.Memory >= 2000",
            vec![&asleep, &awake],
            "no slot has Memory >= 2000; the largest is 100 (900 in 1 offline slot)",
        ),
        (
            "Requirements = TARGET.Arch == \"sparc\"",
            vec![&asleep, &awake, &named],
            "no slot has Arch == \"sparc\"; the only value is \"X86_64\" (3, 1 free)",
        ),
        (
            "Requirements = TARGET.Cpus == TARGET.Memory",
            vec![&asleep, &awake, &listed],
            "`TARGET.Cpus == TARGET.Memory` is never true: false for 2 and undefined for 1; \
             the values are 4 and 100 (1, free) and 4 and 900 (1)",
        ),
        (
            "Requirements = TARGET.Speed == TARGET.Memory",
            vec![&unmeasured],
            "`TARGET.Speed == TARGET.Memory` is undefined for the only slot",
        ),
        (
            "Requirements = TARGET.ClockHour >= 25",
            vec![&clocked],
            "slots have no ClockHour, but ClockMin: write `(TARGET.ClockMin / 60) >= 25`, but no slot has TARGET.ClockMin / 60 \
             >= 25; the largest is 10",
        ),
        (
            "Requirements = TARGET.Cpus == \"cpus 4\"",
            vec![&awake],
            "\"cpus 4\" is a string, and Cpus a number: `TARGET.Cpus == 4` would be true for 1 slot",
        ),
        (
            "Requirements = TARGET.Cpus >= 8; RequestCpus = 8",
            vec![&full],
            "no slot has Cpus >= 8; the largest is 4 (8 if drained); 1 full slot would match once its jobs end",
        ),
    ] {
        let offers: Vec<&str> = offers.into_iter().map(String::as_str).collect();
        let found = summary(&report(request, &offers));
        assert_eq!(found.split_once(": ").unwrap().1, expected, "{request}");
    }
}

/// Reports of one cause have one identifier, whatever the numbers and values are.
#[test]
fn causes_in_a_few_words() {
    let writer = ShortCauseWriter { subject: "job", nouns: ["slot", "slots"], dialect: Dialect::Condor };
    let busy = "MyType = \"Machine\"; State = \"Claimed\"; RemoteUser = \"bob\"; Memory = 100; Requirements = true";
    let offline = "MyType = \"Machine\"; Offline = true; Memory = 100; Requirements = true";
    for (request, offers, id, text) in [
        ("x = 1", &[SMALL][..], "no-requirements", "it has no constraint, so it accepts nothing"),
        (
            "Requirements = TARGET.Memory >= 5000",
            &[SMALL, LARGE],
            "size:Memory",
            "no slot has Memory >= 4.9 GiB (at most 900 MiB)",
        ),
        (
            "Requirements = TARGET.Memory < 50",
            &[SMALL, LARGE],
            "size:Memory",
            "no slot has Memory < 50 MiB (at least 100 MiB)",
        ),
        ("Requirements = TARGET.Cpus >= 64", &[SMALL, LARGE], "size:Cpus", "no slot has Cpus >= 64 (at most 4)"),
        ("Requirements = TARGET.Arch == \"INTEL\"", &[SMALL, ARM], "value:Arch", "no slot has Arch \"INTEL\""),
        (
            "Requirements = TARGET.Archh == \"ARM\"",
            &[SMALL],
            "missing-attribute:Archh",
            "no slot defines Archh (did you mean Arch?)",
        ),
        ("Requirements = MY.Prio > 5", &[SMALL], "own-attribute:Prio", "the job has no Prio"),
        ("Requirements = foo(TARGET.Memory)", &[SMALL], "unknown-function:foo", "there is no function foo()"),
        (
            "Requirements = TARGET.Memory > 8 && TARGET.Memory < 4",
            &[SMALL],
            "contradiction:Memory",
            "its clauses on Memory contradict each other",
        ),
        (
            "Requirements = TARGET.Memory > 500 && TARGET.Cpus < 2",
            &[SMALL, LARGE],
            "conflict:Memory+Cpus",
            "no slot meets Memory and Cpus at once",
        ),
        (
            "Requirements = TARGET.Memory > 500 && (TARGET.Memory < 200 || TARGET.Cpus == 7)",
            &[SMALL, LARGE],
            "conflict:Memory+Cpus",
            "no slot meets Memory and Cpus at once",
        ),
        (
            "Requirements = TARGET.Memory > 500 && TARGET.Memory % 20 == 10",
            &["Memory = 10", LARGE],
            "conflict:Memory",
            "no slot meets `TARGET.Memory > 500` and `TARGET.Memory % 20 == 10` at once",
        ),
        (
            "Requirements = TARGET.Memory > 500; Prio = 1",
            &[PICKY],
            "refused:Prio",
            "the slots refuse by Prio: `TARGET.Prio > 5`",
        ),
        (
            "Requirements = TARGET.Memory > 5",
            &[busy],
            "full",
            "the pool is full: others have or get all matching slots",
        ),
        ("Requirements = TARGET.Memory > 5", &[offline], "in-use:offline", "the slots that match are offline"),
        ("Requirements = true", &[], "no-slots", "there are no slots"),
        ("Requirements = TARGET.Memory > 5", &[SMALL], "matches", "matches"),
    ] {
        let cause = writer.cause(&report(request, offers));
        assert_eq!((cause.id.as_str(), cause.text.as_str()), (id, text), "{request}");
    }
}

/// What a job can wait for, and which slot has the value that it means.
#[test]
fn what_there_is_to_wait_for_and_whom_to_ask() {
    let slot = |more: &str| format!("MyType = \"Machine\"; Cpus = 4; {more}");
    let claimed = slot("State = \"Claimed\"; RemoteUser = \"bob\"; Requirements = true");
    let later = slot("State = \"Unclaimed\"; Requirements = time() >= 1783290000");
    let never = slot("State = \"Unclaimed\"; Requirements = false");
    let stern = slot("State = \"Unclaimed\"; Flavor = \"omega\"; Requirements = MY.Cpus > 9");
    let job = "MyType = \"Job\"; ClusterId = 1; ProcId = 0; JobStatus = 1";
    let time = "wait until 2026-07-05 22:20:00 UTC, in 1 h, when";
    for (requirements, offers, expected) in [
        ("TARGET.Cpus > 1", vec![&claimed], "wait until the slot in use is free".to_owned()),
        ("TARGET.Cpus > 1", vec![&claimed, &never], "wait until the slot in use is free".to_owned()),
        (
            "TARGET.Cpus > 1",
            vec![&claimed, &later],
            format!("{time} Offer {{ offer: 1, part: 1 }} takes jobs, or until the slot in use is free"),
        ),
        ("TARGET.Cpus > 1", vec![&later], format!("{time} Offer {{ offer: 0, part: 1 }} takes jobs")),
        (
            "TARGET.Cpus > 1",
            vec![&never],
            "ask the owner of Offer { offer: 0, part: 1 } when it takes jobs again, or do without it".to_owned(),
        ),
        // The slot is told of if its value is close to what the job asks for.
        (
            "TARGET.Flavor == \"omegaa\"",
            vec![&stern],
            "Offer { offer: 0, part: 1 } has Flavor \"omega\", but it refuses: `MY.Cpus > 9` is false (Cpus is 4)"
                .to_owned(),
        ),
        ("TARGET.Flavor == \"alpha\"", vec![&stern], String::new()),
    ] {
        let offers: Vec<&str> = offers.into_iter().map(String::as_str).collect();
        let report = report(&format!("{job}; Requirements = {requirements}"), &offers);
        let phrases = told(|writer| Remedies(writer).phrases(&report));
        assert_eq!(phrases.join("; "), expected, "{requirements} {offers:?}");
    }
}

/// A slot is sought that meets a corrected clause and refuses, unless a change is known.
#[test]
fn a_slot_that_meets_the_corrected_clause_is_told_where_no_change_helps() {
    let slot = |more: &str| format!("MyType = \"Machine\"; State = \"Unclaimed\"; {more}");
    let stern = slot("Cpus = 4; Requirements = MY.Cpus > 9");
    let other = slot("Cpus = 4; Disk = 1; Requirements = true");
    let easy = slot("Cpus = 8; Requirements = true");
    for (requirements, offers, changes, expected) in [
        ("TARGET.Cpus == \"4\"", vec![&stern], 0, "TARGET.Cpus == 4: 0 [] 1"),
        ("TARGET.Cpus == \"4\"", vec![&stern, &easy], 1, "-"),
        ("TARGET.Cpus == \"4\"", vec![&other], 1, "-"),
        (
            "TARGET.Cpus == \"4\" && TARGET.Disk > 5 && TARGET.Lost",
            vec![&other],
            0,
            "TARGET.Cpus == 4: 0 [\"TARGET.Disk > 5\", \"TARGET.Lost\"] 0",
        ),
        ("TARGET.Cpus == \"4\" && TARGET.Lost", vec![&stern, &other], 0, "TARGET.Cpus == 4: 0 [\"TARGET.Lost\"] 1"),
        ("TARGET.Cpus > 9", vec![&stern, &other], 1, "-"),
    ] {
        let offers: Vec<&str> = offers.into_iter().map(String::as_str).collect();
        let report = report(&format!("Requirements = {requirements}"), &offers);
        let found = report.corrected_slot.as_ref().map_or("-".to_owned(), |slot| {
            format!("{}: {} {:?} {}", slot.correction, slot.offer, slot.unmet, slot.demands.len())
        });
        assert_eq!((report.changes.len(), found.as_str()), (changes, expected), "{requirements} {offers:?}");
    }
}

/// As many absent attributes as are tried at most are told as the cause of a refusal, and none of one more.
#[test]
fn attributes_that_slots_miss_are_told() {
    let refusal = |demand: &str| {
        let slot = format!("MyType = \"Machine\"; State = \"Unclaimed\"; Requirements = {demand}");
        let told = summary(&report("Requirements = true; Have = 1; Void = undefined", &[&slot]));
        told.rsplit_once("refuses: ").map_or(told.clone(), |(_, cause)| cause.to_owned())
    };
    for (demand, expected) in [
        ("TARGET.Lost > 1", "job has no Lost"),
        ("TARGET.Void > 1", "`TARGET.Void > 1` is undefined (Void is undefined)"),
        ("TARGET.Have > 1 && TARGET.Lost > 1", "`TARGET.Have > 1` is false (Have is 1)"),
        ("TARGET.Have > 0 && TARGET.Lost > 1", "job has no Lost"),
        // What provides for its absence is not to blame.
        ("(TARGET.Lost ?: 0) > 1", "`(TARGET.Lost ?: 0) > 1` is false"),
        ("TARGET.Lost =!= undefined && TARGET.Lost > 1", "job has no Lost"),
        ("isUndefined(TARGET.Lost) == false", "job has no Lost"),
        ("TARGET.Lost > 1 || TARGET.Gone > 1", "job has no Gone"),
        ("TARGET.Lost > 1 && TARGET.Gone > 1", "job has no Lost"),
        ("TARGET.Lost > 1 && false", "its constraint is `false`"),
        ("TARGET.Lost", "job has no Lost"),
        ("Lost > 1", "`Lost > 1` is undefined (neither ad defines Lost)"),
    ] {
        assert_eq!(refusal(demand), expected, "{demand}");
    }
    let many = |count: usize| {
        let names: Vec<String> = (0..count).map(|number| format!("TARGET.Lost{number} > 1")).collect();
        refusal(&names.join(" || "))
    };
    assert!(many(64).starts_with("job has no Lost"), "{}", many(64));
    assert!(!many(65).contains("job has"), "{}", many(65));
}
