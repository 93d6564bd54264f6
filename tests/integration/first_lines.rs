//! The first lines of reports: the answer, on one line.

use crate::binary::{assert_recorded, classad, from_root};

/// Maximum number of characters of the first line of a report.
const MAX_CHARS: usize = 160;

/// Maximum number of lines of a report.
const MAX_LINES: usize = 30;

/// Returns the report of each job, by itself.
fn reports(jobs: &str, pool: &str) -> Vec<String> {
    let (_, ids, errors) = classad(&["query", jobs, "--af", "ClusterId"]);
    assert!(!ids.is_empty(), "{errors}");
    let explain = |id: &str| classad(&["explain", jobs, "--pool", pool, "--all-states", "--request", id]).1;
    let of_states = |id: &str| classad(&["explain", jobs, "--pool", pool, "--request", id]).1;
    ids.lines().flat_map(|id| [explain(id), of_states(id)]).collect()
}

#[test]
fn the_first_line_of_a_report_is_short() {
    let own = |name: &str| from_root(format!("tests/explanations/{name}.long.gz"));
    let mut lengths = Vec::new();
    for (jobs, pool) in [
        (own("jobs"), own("slots")),
        (own("more-jobs"), own("slots")),
        (own("further-jobs"), own("slots")),
        (own("jobs"), from_root("samples/pool/machines.long".to_owned())),
    ] {
        for report in reports(&jobs, &pool) {
            let first = report.lines().next().unwrap_or_default();
            assert!(!first.is_empty() && first.chars().count() <= MAX_CHARS, "{jobs}, {pool}: {report}");
            lengths.push(report.lines().count());
        }
    }
    assert_eq!(lengths.len(), 2 * (60 + 20 + 20 + 60));
    lengths.sort_unstable();
    let (median, longest) = (lengths[lengths.len() / 2], lengths[lengths.len() - 1]);
    assert!(median <= 14 && longest <= MAX_LINES, "{median}, {longest}");
}

/// What a hundred jobs are told in a pool of 35 slots, and the table of their causes. `tests/explanations/verify` compared each
/// figure with brute force.
#[test]
fn a_hundred_reports() {
    let path = |name: &str| from_root(format!("tests/explanations/{name}"));
    let slots = path("slots.long.gz");
    let settings = ["--pool", &slots, "--now", "1783286388", "--policy", "htcondor"];
    let files = ["jobs", "further-jobs", "more-jobs"].map(|name| path(&format!("{name}.long.gz")));
    let explain = |more: &[&str]| classad(&[&["explain"][..], more, &settings].concat()).1;
    let mut told = String::new();
    for jobs in &files {
        for id in classad(&["query", jobs, "--af", "ClusterId"]).1.lines() {
            told.extend([&explain(&[jobs, "--request", id]), "\n"]);
        }
    }
    told += &explain(&[&files[0], &files[1], &files[2], "--unmatched", "--summary"]);
    assert_recorded("tests/explanations/reports.txt", &told);
}

/// Changes are about what the ads accept: they are the same with the policy and without it, whether slots are free or not.
#[test]
fn a_policy_changes_no_proposal() {
    let [jobs, more, slots] =
        ["further-jobs", "more-jobs", "slots"].map(|name| from_root(format!("tests/explanations/{name}.long.gz")));
    for selection in [&[][..], &["--offer-constraint", "State != \"Unclaimed\""]] {
        let proposals = |policy: &[&str]| {
            let arguments = ["explain", &jobs, &more, "--pool", &slots, "--now", "1783286388", "-o", "json"];
            let (_, text, errors) = classad(&[&arguments[..], selection, policy].concat());
            let document: serde_json::Value = serde_json::from_str(&text).expect(&errors);
            let of = |report: &serde_json::Value| {
                ["requests", "summary", "changes", "far_less", "what_to_do"].map(|key| report[key].clone())
            };
            document["reports"].as_array().expect("reports").iter().map(of).collect::<Vec<_>>()
        };
        let without = proposals(&[]);
        assert_eq!(proposals(&["--policy", "htcondor"]), without, "{selection:?}");
        let changed = without.iter().filter(|report| report[2].as_array().is_some_and(|changes| !changes.is_empty()));
        assert!(changed.count() >= 5, "{selection:?}: {without:?}");
    }
}
