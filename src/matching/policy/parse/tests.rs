use crate::ad::Dialect;
use crate::format::Position;
use crate::matching::policy::Policy;

/// Returns line, column and message of each problem.
fn problems(text: &str) -> Vec<(usize, usize, String)> {
    let problems = Policy::parse(text.as_bytes(), Dialect::Classad).expect_err(text);
    let place = |at| Position::of_offset(text.as_bytes(), at);
    problems
        .into_iter()
        .map(|problem| (place(problem.range.start).line, place(problem.range.start).column, problem.message))
        .collect()
}

#[test]
fn everything_is_read() {
    let text = "roots: Type == \"Job\"\norder: -UserPrio\ndocking:\n  - self.Rank\n  - 1\nresidual:\n  when: true\n  \
                set: { Cpus: Cpus - 1, Memory: 0 }\n  while: Cpus > 0\nshare:\n  by: Owner\n  priorities: { alice: 1, 007: 2.5 }\n";
    let policy = Policy::parse(text.as_bytes(), Dialect::Classad).unwrap();
    assert!(policy.roots.is_some());
    assert_eq!((policy.order.len(), policy.docking.len()), (1, 2));
    let residual = policy.residual.unwrap();
    assert!(residual.when.is_some() && residual.while_true.is_some());
    assert_eq!(residual.set.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["Cpus", "Memory"]);
    let share = policy.share.unwrap();
    assert_eq!((share.priority("alice"), share.priority("007"), share.priority("bob")), (Some(1.0), Some(2.5), None));
    assert_eq!(&text[policy.docking[0].range.clone().unwrap()], "self.Rank");
}

#[test]
fn rests_of_slots_have_rules() {
    let text = "residual: { when: a, keep: b, after-worse: yes }\nleftovers:\n  use: 1 > 2\n  if: label.Rank > 0\n  \
                same-limits: false\n  divide: { when: true, set: { Cpus: 0 }, while: Cpus > 0 }\n\
                start: SLOT.Cpus > 1 && JOB.A + SLOT.B == C\nshare: { by: Owner, covers: 2, group-order: GroupQuota, \
                oversubscribe: true, groups: { a: 1 } }\n";
    let policy = Policy::parse(text.as_bytes(), Dialect::Condor).unwrap();
    let residual = policy.residual.unwrap();
    assert!(residual.keep.is_some() && residual.after_worse);
    let leftovers = policy.leftovers.unwrap();
    assert!(!leftovers.are_used && !leftovers.considers_limits && leftovers.permits.is_some());
    assert_eq!(leftovers.division.set.len(), 1);
    assert_eq!(policy.start.unwrap().expression.to_string(), "label.Cpus > 1 && MY.A + label.B == C");
    let weighted = policy.share.unwrap().weighted.unwrap();
    assert!(weighted.covers.is_some() && weighted.group_order.is_some() && weighted.groups.oversubscribes);
    let read = |text: &str| Policy::parse(text.as_bytes(), Dialect::Condor).unwrap();
    // The defaults, and a rule that everything meets.
    let plain = read("residual: { when: a }\nleftovers: { divide: { when: a } }\nstart: true\n");
    let (residual, leftovers) = (plain.residual.unwrap(), plain.leftovers.unwrap());
    assert!(residual.keep.is_none() && !residual.after_worse && plain.start.is_none());
    assert!(leftovers.are_used && leftovers.considers_limits && leftovers.permits.is_none());
}

#[test]
fn components_can_have_names() {
    let text = "docking:\n  - job rank: MY.Rank\n  - -label.Cpus\n";
    let docking = Policy::parse(text.as_bytes(), Dialect::Condor).unwrap().docking;
    let names: Vec<Option<&str>> = docking.iter().map(|rule| rule.name.as_deref()).collect();
    assert_eq!(names, [Some("job rank"), None]);
    assert_eq!(&text[docking[0].range.clone().unwrap()], "MY.Rank");
}

#[test]
fn mistakes_have_places() {
    for (text, line, column, words) in [
        ("", 1, 1, "a policy must be a mapping"),
        ("roots", 1, 1, "a policy must be a mapping"),
        ("roots: Type = 1", 1, 13, "="),
        ("# é\nordre: [ a ]", 2, 1, "a policy has no key `ordre`"),
        ("roots: a\nroots: b", 2, 1, "given twice"),
        ("roots:", 1, 7, "expected an expression, not an empty value"),
        ("order: []", 1, 8, "no components"),
        ("order:\n  - a\n  - b +", 3, 8, ""),
        ("order:\n  - 'a'\n  - 'it''s'", 3, 8, ""),
        ("docking:\n  - \"\\u00e9é ++ b c\"", 2, 6, ""),
        ("docking:\n  - >-\n    a +\n    b c\n", 4, 7, ""),
        ("docking: { a: b }", 1, 10, "not a mapping"),
        ("docking:\n  - a ? b: c", 2, 5, "not a mapping"),
        ("residual: 1", 1, 11, "residual must be a mapping"),
        ("residual:\n  set:\n    Cpus: Cpus -* 1", 3, 17, ""),
        ("residual: { set: { parent: 1 } }", 1, 20, "cannot name an attribute"),
        ("residual: { wile: 1 }", 1, 13, "residual has no key `wile`"),
        ("residual: { after-worse: 3x }", 1, 26, "expected true or false"),
        ("leftovers: { divide: { keep: 1 } }", 1, 24, "divide has no key `keep`"),
        ("leftovers: { uses: 1 }", 1, 14, "leftovers has no key `uses`"),
        ("share: { priorities: { a: 1 } }", 1, 8, "`by` is missing"),
        ("share: { by: Owner, priorities: { a: 0 } }", 1, 38, "greater than 0"),
        ("share: { by: Owner, priorities: { a: 1e999 } }", 1, 38, "greater than 0"),
        ("roots: a: b", 1, 9, "YAML"),
        ("roots: !x a", 1, 8, "no tag"),
        ("roots: a\n---\norder: b", 2, 1, "a second document"),
    ] {
        let found = problems(text);
        assert!(found[0].2.contains(words), "{text}: {found:?}");
        assert_eq!((found[0].0, found[0].1), (line, column), "{text}: {found:?}");
    }
    // All problems are reported at once, in textual order.
    let lines: Vec<usize> = problems("roots: 1 +\nordre: 1\ndocking: [ '*' ]\n").iter().map(|found| found.0).collect();
    assert_eq!(lines, [1, 2, 3]);
}
