use super::{job, run, run_configured};

/// Bob's job and its slot are free again after 30 seconds, between two cycles. What starts then is of the claim's submitter.
#[test]
fn the_next_job_of_a_submitter_starts_in_the_claim() {
    let first = "QDate = 1; Seconds = 30";
    for (slot, jobs, expected) in [
        ("", vec![("bob", first), ("bob", "QDate = 2")], vec!["1000 0 new", "1030 1 reused"]),
        // The negotiator gives nothing of the claim to eve, who comes first.
        (
            "",
            vec![("bob", first), ("eve", "QDate = 1010"), ("bob", "QDate = 1020")],
            vec!["1000 0 new", "1030 2 reused"],
        ),
        ("", vec![("bob", first), ("eve", "QDate = 2")], vec!["1000 0 new", "1060 1 new"]),
        ("", vec![("bob", first), ("bob", "QDate = 1030")], vec!["1000 0 new", "1030 1 reused"]),
        ("", vec![("bob", first), ("bob", "QDate = 1031")], vec!["1000 0 new", "1060 1 new"]),
        // The order is that of the submitter's jobs.
        ("", vec![("bob", first), ("bob", "QDate = 3"), ("bob", "QDate = 4; JobPrio = 5")], vec!["1000 2 new"]),
        (
            "",
            vec![("bob", first), ("bob", "QDate = 3; RequestCpus = 8"), ("bob", "QDate = 4")],
            vec!["1000 0 new", "1030 2 reused"],
        ),
        // A claim is for the limits of its first job.
        (
            "",
            vec![
                ("bob", "QDate = 1; Seconds = 30; ConcurrencyLimits = \"SW\""),
                ("bob", "QDate = 2"),
                ("bob", "QDate = 3; ConcurrencyLimits = \"sw\""),
            ],
            vec!["1000 0 new", "1030 2 reused"],
        ),
        ("", vec![("bob", first), ("bob", "QDate = 2; ConcurrencyLimits = \"sw\"")], vec!["1000 0 new", "1060 1 new"]),
        // No job that the slot ranks below the first.
        (
            "Rank = TARGET.JobPrio;",
            vec![("bob", "JobPrio = 3; Seconds = 30"), ("bob", "JobPrio = 2")],
            vec!["1000 0 new", "1060 1 new"],
        ),
        (
            "Rank = TARGET.Prio;",
            vec![("bob", "Prio = 2; QDate = 1; Seconds = 30"), ("bob", "Prio = 2; QDate = 2")],
            vec!["1000 0 new", "1030 1 reused"],
        ),
        (
            "Requirements = TARGET.ClusterId =!= 2;",
            vec![("bob", first), ("bob", "QDate = 2; ClusterId = 2")],
            vec!["1000 0 new"],
        ),
        // The slot starts jobs only until 1020.
        ("Requirements = time() < 1020;", vec![("bob", first), ("bob", "QDate = 2")], vec!["1000 0 new"]),
        ("", vec![("bob", first), ("bob", "QDate = 2; JobUniverse = 11")], vec!["1000 0 new", "1060 1 new"]),
        (
            "",
            vec![("bob", "QDate = 1; Seconds = 30; JobUniverse = 11"), ("bob", "QDate = 2")],
            vec!["1000 0 new", "1060 1 new"],
        ),
    ] {
        let slot = format!("[ {slot} Cpus = 1; Memory = 1024; Requirements = TARGET.RequestCpus <= MY.Cpus ]");
        let slot = if slot.matches("Requirements").count() > 1 {
            slot.replace("; Requirements = TARGET.RequestCpus <= MY.Cpus ]", " ]")
        } else {
            slot
        };
        let jobs: Vec<String> = jobs.into_iter().map(|(user, more)| job(user, more)).collect();
        let jobs: Vec<&str> = jobs.iter().map(String::as_str).collect();
        let outcome = run(&jobs, &[&slot], (2, 60), Some("Seconds ?: 100000"));
        let starts = outcome.cycles.iter().flat_map(|cycle| &cycle.starts);
        let word = |reuses| if reuses { "reused" } else { "new" };
        let starts: Vec<String> =
            starts.map(|start| format!("{} {} {}", start.time, start.request, word(start.reuses_claim))).collect();
        assert_eq!(starts, expected, "{slot} {jobs:?}");
        assert_eq!(outcome.totals.reused, expected.iter().filter(|start| start.ends_with("reused")).count());
    }
}

/// The claim is 610 and 1220 seconds old when the first two jobs end, and 1830 when the third does.
#[test]
fn a_claim_serves_until_it_is_too_old() {
    let jobs: Vec<String> = (0..6).map(|number| job("bob", &format!("QDate = {number}"))).collect();
    let jobs: Vec<&str> = jobs.iter().map(String::as_str).collect();
    for (slot, worklife, expected) in [
        ("", "1220", vec![1000, 1610, 2220, 2860, 3470]),
        ("", "1219", vec![1000, 1610, 2260, 2870, 3520]),
        ("", "610", vec![1000, 1610, 2260, 2870, 3520]),
        ("", "0", vec![1000, 1660, 2320, 2980, 3640]),
        ("", "-1", vec![1000, 1610, 2220, 2830, 3440]),
        ("", "undefined", vec![1000, 1610, 2220, 2830, 3440]),
        ("Kind = 7;", "Kind == 7 ? 609 : 99999", vec![1000, 1660, 2320, 2980, 3640]),
    ] {
        let slot = format!("[ {slot} Cpus = 1; Memory = 1024; Requirements = true ]");
        let configuration = format!("CLAIM_WORKLIFE = {worklife}\n");
        let outcome = run_configured(&configuration, (&jobs, &[("s0", &slot)]), (51, 60), Some("610"));
        let starts = outcome.cycles.iter().flat_map(|cycle| &cycle.starts);
        assert_eq!(starts.map(|start| start.time).collect::<Vec<_>>(), expected, "{worklife}");
    }
}
