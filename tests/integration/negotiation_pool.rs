//! The ready policy `htcondor` beside a real negotiator: the same matches in the same order, in two cycles of a pool with
//! 20 slots, three users, two groups with quotas, a concurrency limit and preemption (`tests/pool/negotiation/run`).

use serde_json::Value as Json;

use super::binary::classad;

#[test]
fn the_matches_are_those_of_a_real_negotiator() {
    for (cycle, at_least, preemptions) in [("first", 19, 0), ("second", 4, 3)] {
        let folder = format!("tests/pool/negotiation/{cycle}");
        let expected = std::fs::read_to_string(format!("{folder}/matches")).expect("the pool was run");
        let [jobs, slots, accounts] =
            ["jobs.long.gz", "slots.long.gz", "accounts.long"].map(|name| format!("{folder}/{name}"));
        let (status, out, errors) = classad(&[
            "negotiate",
            &jobs,
            "--pool",
            &slots,
            "--policy",
            "htcondor",
            "--config",
            "tests/pool/negotiation/config.dump",
            "--userprio",
            &accounts,
            "--transcript",
            "-o",
            "jsonl",
        ]);
        assert_eq!(status, Some(0), "{errors}");
        let events = out.lines().map(|line| serde_json::from_str::<Json>(line).expect("it is JSON"));
        let matched: Vec<Json> = events.filter(|event| event["event"] == "matched").collect();
        let text = |event: &Json, field: &str| event[field].as_str().unwrap_or_default().to_owned();
        let found = matched.iter().map(|event| {
            let job = text(event, "request");
            let cluster = job.split('.').next().unwrap_or_default();
            format!("{cluster} {} {}", text(event, "submitter"), text(event, "offer"))
        });
        let found: Vec<String> = found.collect();
        let expected: Vec<&str> = expected.lines().collect();
        assert_eq!(found, expected, "the {cycle} cycle");
        assert!(expected.len() >= at_least, "{expected:?}");
        assert_eq!(matched.iter().filter(|event| !text(event, "preempted").is_empty()).count(), preemptions);
    }
}
