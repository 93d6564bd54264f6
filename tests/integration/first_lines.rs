//! The first lines of reports: the answer, on one line.

use crate::binary::{classad, from_root};

/// Maximum number of characters of the first line of a report.
const MAX_CHARS: usize = 160;

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
    let mut all = 0;
    for (jobs, pool) in [
        (own("jobs"), own("slots")),
        (own("more-jobs"), own("slots")),
        (own("jobs"), from_root("samples/pool/machines.long".to_owned())),
    ] {
        for report in reports(&jobs, &pool) {
            let first = report.lines().next().unwrap_or_default();
            assert!(!first.is_empty() && first.chars().count() <= MAX_CHARS, "{jobs}, {pool}: {report}");
            all += 1;
        }
    }
    assert_eq!(all, 2 * (60 + 20 + 60));
}
