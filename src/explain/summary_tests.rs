//! Sentences of verdicts that come of states, of other requests, and of how brief a sentence is.

use super::tests::{LARGE, SMALL, ad, report};
use super::{AdNames, AdReference, JobReport, Remedies, RequestReport, RequestVerdict, ScheddAnswer, SummaryWriter};
use crate::ad::{ByteString, Dialect};
use crate::eval::Context;

/// Names of ads, and the states of the first offers.
struct StatedNames<'a>(&'a [&'a str]);

impl AdNames for StatedNames<'_> {
    fn ad_name(&self, ad: AdReference) -> String {
        match ad {
            AdReference::Request(request) => format!("job{request}"),
            AdReference::Offer { offer, .. } => format!("slot{offer}"),
        }
    }

    fn slot_state(&self, offer: usize, _: Option<&ByteString>) -> Option<String> {
        self.0.get(offer).map(|state| (*state).to_owned())
    }
}

fn writer<'w>(names: &'w StatedNames<'w>, is_plural: bool, brevity: u8) -> SummaryWriter<'w> {
    SummaryWriter {
        subject: if is_plural { "jobs" } else { "job" },
        is_plural,
        nouns: ["slot", "slots"],
        names,
        dialect: Dialect::Condor,
        max_clause_chars: 60,
        brevity,
    }
}

const JOB: &str = "MyType = \"Job\"; ClusterId = 1; ProcId = 0; JobStatus = 1; Requirements = TARGET.Memory >= 50 && TARGET.Cpus >= 1";

/// A slot that takes jobs, in a state.
fn slot(more: &str) -> String {
    format!("MyType = \"Machine\"; Cpus = 1; Memory = 100; Requirements = true; {more}")
}

/// A partitionable slot that jobs fill.
fn full(more: &str) -> String {
    format!(
        "MyType = \"Machine\"; State = \"Unclaimed\"; PartitionableSlot = true; TotalSlotMemory = 500; Cpus = 1; \
         Requirements = true; Memory = 10; {more}"
    )
}

#[test]
fn slots_that_would_match_if_drained() {
    let refusing = slot("State = \"Unclaimed\"").replace("= true", "= false");
    for (offers, states, expected) in [
        (
            vec![full("")],
            &["draining"][..],
            "job matches none of 1 slot: slot0 (draining) would match once its jobs end",
        ),
        (
            vec![full("")],
            &["free"],
            "job matches none of 1 slot: no slot has Memory >= 50; the largest is 10 (500 if drained); 1 full slot would match once its jobs end",
        ),
        (
            vec![full("")],
            &[],
            "job matches none of 1 slot: no slot has Memory >= 50; the largest is 10 (500 if drained); 1 full slot would match once its jobs end",
        ),
        (
            vec![full(""), full("")],
            &["draining", "draining"],
            "job matches none of 2 slots: no slot has Memory >= 50; the largest is 10 (500 if drained); 2 full slots would match once their jobs end",
        ),
        (
            vec![full(""), refusing.clone()],
            &["free", "free"],
            "job matches none of 2 slots: 1 slot would do, but it refuses: its constraint is `false`; `TARGET.Memory >= 50` (50 MiB) alone rules out 1 slot; 1 full slot would match once its jobs end",
        ),
        (
            vec![full(""), full(""), refusing],
            &["free", "free", "free"],
            "job matches none of 3 slots: 1 slot would do, but it refuses: its constraint is `false`; `TARGET.Memory >= 50` (50 MiB) alone rules out 2 slots; 2 full slots would match once their jobs end",
        ),
        (
            vec![full(""), slot("Memory = 20").replace("Memory = 100; ", "")],
            &[],
            "job matches none of 2 slots: no slot has Memory >= 50; the largest is 20 (500 if drained); 1 full slot would match once its jobs end",
        ),
    ] {
        let offers: Vec<&str> = offers.iter().map(String::as_str).collect();
        let names = StatedNames(states);
        assert_eq!(writer(&names, false, 0).summary(&report(JOB, &offers)), expected, "{offers:?} {states:?}");
    }
}

/// What only a policy or other requests make of a request that matches.
#[test]
fn verdicts_of_competition() {
    let free = [slot("State = \"Unclaimed\""), slot("State = \"Unclaimed\"")];
    let mixed = [
        slot("State = \"Unclaimed\""),
        slot("State = \"Claimed\"; RemoteUser = \"bob\""),
        slot("State = \"Unclaimed\""),
    ];
    let [free, mixed] = [&free[..], &mixed[..]].map(|slots| slots.iter().map(String::as_str).collect::<Vec<_>>());
    let plain = vec![SMALL, LARGE];
    let partly = |limit, others_hold| RequestVerdict::PartlyServed { granted: 1, wanted: 3, limit, others_hold };
    let unranked = RequestVerdict::Unranked { rule: "other.Prio".to_owned(), missing: None };
    for (verdict, offers, is_plural, expected) in [
        (RequestVerdict::Taken(vec![4]), &free[..1], false, "job matches 1 of 1 slot, which goes to job4"),
        (RequestVerdict::Taken(vec![4]), &free, true, "jobs match 2 of 2 slots, and all of them go to job4"),
        (
            RequestVerdict::Taken(vec![4, 5]),
            &mixed[..2],
            false,
            "job matches 2 of 2 slots: 1 is free and 1 is claimed by bob; the free one goes to job4 and job5",
        ),
        (
            RequestVerdict::Taken(vec![4, 5, 6]),
            &mixed,
            false,
            "job matches 3 of 3 slots: 2 are free and 1 is claimed by bob; the free ones go to job4, job5 and job6",
        ),
        (
            RequestVerdict::Taken(vec![4, 5, 6, 7]),
            &plain,
            false,
            "job matches 2 of 2 slots, and all of them go to job4, job5, job6 and 1 more",
        ),
        (RequestVerdict::NeedsGang, &free, false, "job has Ports; leave out --reverse to explain gangs"),
        (RequestVerdict::NeedsGang, &free, true, "jobs have Ports; leave out --reverse to explain gangs"),
        (RequestVerdict::NotServed, &free, false, "job is not served: `roots` of the policy is not true for it"),
        (RequestVerdict::NotServed, &free, true, "jobs are not served: `roots` of the policy is not true for them"),
        (partly(None, true), &free, false, "job gets 1 of 3 slots; other requests take the other slots that match"),
        (partly(None, false), &free, true, "jobs get 1 of 3 slots; nothing else that matches is left"),
        (
            unranked.clone(),
            &free,
            false,
            "job matches 2 of 2 slots, all of them free; the policy gives it none: its rule `other.Prio` has no value",
        ),
        (
            unranked,
            &free,
            true,
            "jobs match 2 of 2 slots, all of them free; the policy gives them none: its rule `other.Prio` has no value",
        ),
        (RequestVerdict::NotWaiting(Box::new(RequestVerdict::Matches)), &free, true, "jobs wait for no slot"),
        (
            RequestVerdict::NoConstraint,
            &free,
            true,
            "jobs match none of 2 slots: they have no constraint, so they accept nothing",
        ),
    ] {
        let report = RequestReport { verdict: verdict.clone(), job: None, ..report(JOB, offers) };
        assert_eq!(writer(&StatedNames(&[]), is_plural, 0).summary(&report), expected, "{verdict:?}");
    }
}

/// How many slots are full is left out of a brief sentence on a job that free slots match.
#[test]
fn brief_sentences() {
    let free = slot("State = \"Unclaimed\"");
    let refusing =
        slot("State = \"Unclaimed\"; Requirements = TARGET.Prio > 3").replacen("Requirements = true; ", "", 1);
    let owned = slot("State = \"Owner\"; Requirements = TARGET.Prio > 3").replacen("Requirements = true; ", "", 1);
    let claimed = slot("State = \"Claimed\"; RemoteUser = \"bob\"");
    let (full, small) =
        (full(""), "MyType = \"Machine\"; State = \"Unclaimed\"; Cpus = 0; Memory = 10; Requirements = true");
    for (offers, all, brief, rest) in [
        (
            vec![free.as_str(), &full],
            "job matches 1 of 2 slots, which is free",
            ["; 1 full slot would match once its jobs end", "", "", ""],
            "",
        ),
        (
            vec![&claimed, &full],
            "job matches 1 of 2 slots, which is claimed by bob; 1 full slot would match once its jobs end",
            ["; `TARGET.Memory >= 50` (50 MiB) alone rules out 1 slot", "", "", ""],
            "",
        ),
        (
            vec![&refusing, &owned],
            "job matches none of 2 slots: 2 slots would do",
            [
                " (1 free, 1 in use by the owner)",
                " (1 free, 1 in use by the owner)",
                " (1 free, 1 in use by the owner)",
                "",
            ],
            ", but all of them refuse: job has no Prio",
        ),
        (
            vec![&refusing],
            "job matches none of 1 slot: 1 slot would do, but it refuses: job has no Prio",
            ["", "", "", ""],
            "",
        ),
        (
            vec![small],
            "job matches none of 1 slot: no slot has Memory >= 50; the largest is 10",
            ["; no slot has Cpus >= 1 (at most 0)", "; no slot has Cpus >= 1 (at most 0)", "", ""],
            "",
        ),
    ] {
        let report = report(JOB, &offers);
        for (brevity, part) in (0..).zip(brief) {
            let told = writer(&StatedNames(&[]), false, brevity).summary(&report);
            assert_eq!(told, format!("{all}{part}{rest}"), "{brevity} {offers:?}");
        }
    }
}

/// A time that must come is left out of the briefest sentence only.
#[test]
fn a_time_that_must_come_is_told_beside_a_cause() {
    let job = JOB.replace("TARGET.Memory >= 50", "TARGET.Memory >= 500 && time() >= 1783290000");
    let report = report(&job, &[&slot("State = \"Unclaimed\"")]);
    for brevity in 0..4 {
        let told = writer(&StatedNames(&[]), false, brevity).summary(&report);
        assert!(told.contains("no slot has Memory >= 500"), "{told}");
        assert_eq!(told.contains("; and "), brevity < 3, "{brevity}: {told}");
    }
}

/// A job at its access point that asks for what only slots have is told so once.
#[test]
fn what_only_slots_have_is_dropped_once() {
    let dropped = "drop what only slots have from its requirements";
    let failed = "see from the output of the failed nodes and from the file .dagman.out why they failed, and mend them; \
                  the rescue DAG goes on from there";
    let size = "Requirements = TARGET.Memory >= 5";
    for (job, is_refused, expected) in [
        (format!("JobUniverse = 12; {size}"), false, vec![dropped]),
        (format!("JobUniverse = 12; {size}"), true, vec![dropped]),
        ("JobUniverse = 12; Requirements = TARGET.HasX".to_owned(), true, vec![dropped]),
        ("JobUniverse = 12; Requirements = TARGET.HasX".to_owned(), false, vec![]),
        (format!("JobUniverse = 7; DAG_NodesTotal = 2; DAG_NodesFailed = 1; {size}"), true, vec![dropped, failed]),
    ] {
        let job = format!("MyType = \"Job\"; ClusterId = 1; ProcId = 0; JobStatus = 1; {job}");
        let answer = if is_refused { ScheddAnswer::RefusedByJob(String::new()) } else { ScheddAnswer::Accepts };
        let read = JobReport::new(&ad(&job), &Context::new(Dialect::Condor)).unwrap();
        let report = RequestReport {
            verdict: RequestVerdict::NotWaiting(Box::new(RequestVerdict::Matches)),
            job: Some(JobReport { schedd: Some(answer), ..read }),
            ..report(&job, &[])
        };
        let names = StatedNames(&[]);
        assert_eq!(Remedies(&writer(&names, false, 0)).phrases(&report), expected, "{job}");
    }
}
