//! Entries of causes, from reports and from documents.

use serde_json::{Value as Json, json};

use super::{CauseEntry, CauseTable};

/// Returns an entry of a cause. `more` has what differs from a request that matches nothing.
fn entry(names: &[&str], more: &Json) -> CauseEntry {
    let mut entry = json!({
        "cause_id": "size:Memory", "verdict": "unmet", "matches": false, "text": "no slot has Memory >= 8",
        "subjects": names.len(), "told": names.len(), "names": names, "owners": [["ann", names.len()]], "changes": [],
    });
    for (name, value) in more.as_object().unwrap() {
        entry[name] = value.clone();
    }
    serde_json::from_value(entry).unwrap()
}

fn change(text: &str, matches: usize, free: Option<usize>) -> Json {
    json!({ "text": text, "matches": matches, "free": free })
}

fn table(entries: Vec<CauseEntry>) -> CauseTable {
    let mut table = CauseTable::new("job".to_owned(), None);
    for (place, entry) in entries.into_iter().enumerate() {
        table.add(entry, format!("report {place}\n"));
    }
    table
}

/// The largest group of a cause has its report; the others are named.
#[test]
fn reports_of_largest_groups() {
    let with = |text: &str| json!({ "changes": [change(text, 1, None)] });
    let (none, first) = (json!({}), json!({ "told": 1 }));
    let others = ["g", "h", "i", "j", "k", "l", "m", "n", "o"];
    for (entries, expected) in [
        (vec![entry(&["a"], &none)], "\nreport 0\n"),
        (vec![entry(&["a", "b"], &none), entry(&["c"], &none)], "\nreport 0\nthe same cause: c\n"),
        (vec![entry(&["c"], &none), entry(&["a", "b"], &none)], "\nreport 1\nthe same cause: c\n"),
        // Of groups of one size, the first one counts.
        (vec![entry(&["a"], &none), entry(&["c"], &none)], "\nreport 0\nthe same cause: c\n"),
        (
            vec![entry(&["a", "b"], &none), entry(&["c"], &none), entry(&["d", "e", "f"], &first)],
            "\nreport 2\nthe same cause: c, e, f, a and b\n",
        ),
        (
            vec![entry(&["a", "b"], &none), entry(&["c"], &none), entry(&["d"], &none), entry(&others, &first)],
            "\nreport 3\nthe same cause: c, d, h, i, j, k, l, m, n, o and 2 more\n",
        ),
        (
            vec![entry(&["a", "b"], &with("RequestMemory 8 -> 4")), entry(&["c"], &with("RequestMemory 9 -> 4"))],
            "\nreport 0\nthe same cause: c\n",
        ),
        (
            vec![entry(&["a", "b"], &with("RequestMemory 8 -> 4")), entry(&["c"], &with("RequestCpus 2 -> 1"))],
            "\nreport 0\nthe same cause: c\n  with another change: RequestCpus 2 -> 1 (helps 1)\n",
        ),
    ] {
        assert_eq!(table(entries).causes[0].report_section(), expected);
    }
}

/// What helps most comes first: what serves most subjects by free partners, then by any, then what helps most.
#[test]
fn what_would_help() {
    let names: Vec<&str> = "a b c d e f".split(' ').collect();
    let of = |count: usize, more: Json| entry(&names[..count], &more);
    let changes = |changes: Vec<Json>| json!({ "changes": changes });
    let less = json!({ "text": "x = 1", "matches": 1, "free": 1, "is_far_less": true });
    let claimed = |more: &Json| {
        let mut all = json!({ "verdict": "claimed", "cause_id": "full" });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    for (entries, expected) in [
        (vec![of(1, json!({}))], "no change found"),
        (vec![of(1, json!({ "text": "no slot has Arch 5" }))], "no change found that keeps Arch and OpSys"),
        (vec![of(1, json!({ "remedy": "ask" }))], "ask"),
        (vec![of(1, json!({ "remedy": "ask", "verdict": "limited" }))], "ask"),
        (vec![of(1, json!({ "remedy": "ask", "verdict": "not-waiting" }))], "ask"),
        (vec![of(1, json!({ "verdict": "not-waiting", "changes": [change("x = 1", 1, None)] }))], ""),
        (vec![of(1, json!({ "remedy": "ask", "changes": [change("x = 1", 1, None)] }))], "x = 1"),
        (vec![of(1, changes(vec![change("x = 1", 1, None), change("y = 1", 1, None)]))], "x = 1"),
        (vec![of(2, changes(vec![change("x = 1", 1, None), change("y = 1", 2, None)]))], "y = 1"),
        (vec![of(2, changes(vec![change("x = 1", 9, None), change("y = 1", 2, None)]))], "x = 1"),
        (vec![of(2, changes(vec![change("x = 1", 2, Some(1)), change("y = 1", 1, Some(2))]))], "y = 1"),
        (vec![of(2, changes(vec![change("x = 1", 2, Some(0))]))], "x = 1 (nothing that matches is free)"),
        (vec![of(2, changes(vec![change("x = 1", 2, None)])), of(1, json!({}))], "x = 1 (for at least 2 of 3)"),
        // A change counts once for each group.
        (vec![of(2, changes(vec![change("x = 1", 1, None), change("x = 2", 1, None)]))], "x = 1"),
        (vec![of(1, json!({ "changes": [less.clone()] }))], "x = 1 (much less than requested)"),
        (
            vec![of(2, json!({ "changes": [less] })), of(1, changes(vec![change("x = 1", 1, Some(1))]))],
            "x = 1 (much less than requested for 2)",
        ),
        // Jobs that can wait need no change that helps few of them.
        (vec![of(1, claimed(&json!({})))], "wait"),
        (
            vec![of(2, claimed(&json!({ "scarce": ["Memory"] })))],
            "wait, or test smaller requests with --what-if: Memory runs out",
        ),
        (
            vec![of(2, claimed(&json!({ "scarce": ["Memory", "Cpus"] })))],
            "wait, or test smaller requests with --what-if: Memory and Cpus run out",
        ),
        (vec![of(1, claimed(&changes(vec![change("x = 1", 1, Some(1))]))), of(2, claimed(&json!({})))], "wait"),
        (
            vec![of(1, claimed(&changes(vec![change("x = 1", 1, Some(1))]))), of(1, claimed(&json!({})))],
            "wait, or x = 1 (for at least 1 of 2)",
        ),
        (
            vec![of(
                1,
                json!({ "verdict": "claimed", "cause_id": "mistake:x", "changes": [change("x = 1", 1, None)] }),
            )],
            "x = 1",
        ),
    ] {
        let table = table(entries);
        assert_eq!(table.causes[0].help_phrase(), expected);
    }
}

/// The causes with the most subjects come first; what matches is no cause, unless a policy does something to it.
#[test]
fn causes_by_their_numbers_of_subjects() {
    let other = |id: &str| json!({ "cause_id": id });
    let entries = vec![
        entry(&["a"], &other("one")),
        entry(&["b", "c"], &other("two")),
        entry(&["d"], &json!({ "matches": true, "cause_id": "matches", "verdict": "matches" })),
        entry(&["e"], &json!({ "matches": true, "cause_id": "policy", "verdict": "matches", "has_policy": true })),
        entry(&["f"], &json!({ "cause_id": "one", "owners": [["bob", 1]] })),
        entry(&["g"], &json!({ "cause_id": "two", "changes": [change("x = 1", 1, None)] })),
    ];
    let told = table(entries).into_json();
    assert_eq!((&told["requests"], &told["matching"]), (&json!(7), &json!(2)));
    let causes = told["causes"].as_array().unwrap().iter().map(|cause| {
        let owners = cause["owner_names"].as_array().unwrap().len();
        assert_eq!(cause["owners"], owners);
        format!("{} {} {owners} {} {}", cause["cause_id"], cause["requests"], cause["example"], cause["helps"])
    });
    assert_eq!(
        causes.collect::<Vec<_>>(),
        ["\"two\" 3 1 \"b\" 1", "\"one\" 2 2 \"a\" null", "\"policy\" 1 1 \"e\" null"]
    );
    assert_eq!(told.get("served"), None);
    assert_eq!(CauseTable::new("job".to_owned(), Some(3)).into_json()["served"], 3);
}

#[test]
fn a_picture_has_a_bar_for_each_of_the_first_causes() {
    let entries = |causes: usize| -> Vec<CauseEntry> {
        let names: Vec<String> = (0..causes).map(|cause| format!("cause {}", "x".repeat(cause + 1))).collect();
        names.iter().map(|name| entry(&["a"], &json!({ "cause_id": name, "text": name }))).collect()
    };
    for (causes, expected) in [(1, None), (12, None), (13, Some("1 other cause")), (15, Some("3 other causes"))] {
        let picture = table(entries(causes)).into_picture("");
        assert_eq!(picture.contains("other cause"), expected.is_some(), "{causes}");
        assert!(expected.is_none_or(|text| picture.contains(text)), "{causes}");
        assert!(!picture.contains(">match"), "{causes}");
    }
    let matching = |count: usize| {
        let names = vec!["a"; count];
        table(vec![entry(&names, &json!({ "matches": true })), entry(&["b"], &json!({}))]).into_picture("")
    };
    assert!(matching(1).contains(">matches<") && matching(2).contains(">match<"));
}
