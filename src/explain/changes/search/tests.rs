//! The search for changes, in requests whose attributes are to be large enough.

use super::{ChangeProblem, ObstacleCount, Proposal, RequestEdit, search_changes, verify_edits};
use crate::ad::{Ad, Dialect, Expression, Name, Value};
use crate::eval::Context;
use crate::protocol::evaluate_attribute;
use crate::syntax::{ParseOptions, parse_ad};

/// A request matches where its attribute `Fits` is true.
struct Fitting<const KEEPS_BEST_VALUE: bool>;

impl<const BEST: bool> ChangeProblem for Fitting<BEST> {
    const KEEPS_BEST_VALUE: bool = BEST;

    type Match = ();
    type Failure = ();
    type Fault = ();

    fn dialect(&self) -> Dialect {
        Dialect::Condor
    }

    fn find_match(&mut self, request: &Ad) -> Result<Option<()>, ()> {
        let fits = evaluate_attribute(request, &Name::new("Fits"), &Context::new(Dialect::Condor));
        Ok((fits == Some(Value::Boolean(true))).then_some(()))
    }

    fn failure(&mut self, _request: &Ad) -> Option<()> {
        None
    }

    fn obstacles(&mut self, _failure: &()) -> ObstacleCount {
        (0, 0)
    }

    fn propose(&mut self, _request: &Ad, _failure: &()) -> Result<Vec<Proposal>, ()> {
        Ok(Vec::new())
    }
}

/// Returns the changes that are left of some, each of which sets attributes.
fn left(changes: &[&[(&str, i64)]], keeps_best_value: bool) -> Vec<String> {
    let text = b"[ a = 0; b = 0; c = 0; Fits = a >= 9 || c >= 9 || a > 0 && b > 0 ]";
    let request = parse_ad(text, ParseOptions::new(Dialect::Condor)).unwrap();
    let edit = |(name, value): &(&str, i64)| RequestEdit::Set {
        name: Name::new(name),
        from: request.get_str(name).cloned(),
        to: Expression::literal(*value),
    };
    let edits = changes.iter().map(|change| change.iter().map(edit).collect()).collect();
    let found = if keeps_best_value {
        verify_edits(&mut Fitting::<true>, &request, edits)
    } else {
        verify_edits(&mut Fitting::<false>, &request, edits)
    };
    found.unwrap().iter().map(super::RequestChange::text).collect()
}

#[test]
fn of_changes_that_differ_in_values_only_the_first_is_kept() {
    for (changes, of_best_values, of_all_values) in [
        (&[&[("a", 9)][..], &[("a", 10)]][..], &["a 0 -> 9"][..], &["a 0 -> 9", "a 0 -> 10"][..]),
        (&[&[("a", 9)], &[("c", 9)]], &["a 0 -> 9", "c 0 -> 9"], &["a 0 -> 9", "c 0 -> 9"]),
        (&[&[("a", 1), ("b", 1)], &[("a", 1), ("b", 2)]], &["a 0 -> 1 and b 0 -> 1"], &["a 0 -> 1 and b 0 -> 1"]),
        (
            &[&[("a", 1), ("b", 1)], &[("b", 2), ("a", 1)]],
            &["a 0 -> 1 and b 0 -> 1", "b 0 -> 2 and a 0 -> 1"],
            &["a 0 -> 1 and b 0 -> 1", "b 0 -> 2 and a 0 -> 1"],
        ),
        // A part of the change suffices, or it does not suffice.
        (&[&[("a", 9)], &[("a", 9), ("b", 1)]], &["a 0 -> 9"], &["a 0 -> 9"]),
        (&[&[("a", 9), ("b", 0)]], &["a 0 -> 9"], &["a 0 -> 9"]),
        (&[&[("a", 8)], &[("b", 9)]], &[], &[]),
    ] {
        assert_eq!(left(changes, true), of_best_values, "{changes:?}");
        assert_eq!(left(changes, false), of_all_values, "{changes:?}");
    }
}

type Values<'v> = &'v [(&'v str, i64)];

/// A request matches where each attribute is at least what is needed. As many offers match as `a` is.
struct Needing<'n> {
    needs: Values<'n>,
    /// What is proposed for an attribute that is too small: values, and the size of the change.
    proposals: &'n [(Values<'n>, f64)],
    /// The largest value with which a request matches, if it is larger than that of an edit.
    largest: i64,
    /// Number of requests that are matched before the user interrupts the run.
    patience: usize,
}

fn value(request: &Ad, name: &str) -> Option<i64> {
    match evaluate_attribute(request, &Name::new(name), &Context::new(Dialect::Condor)) {
        Some(Value::Integer(value)) => Some(value),
        _ => None,
    }
}

impl Needing<'_> {
    fn unmet(&self, request: &Ad) -> usize {
        self.needs.iter().filter(|(name, least)| value(request, name).is_none_or(|value| value < *least)).count()
    }
}

impl ChangeProblem for Needing<'_> {
    const KEEPS_BEST_VALUE: bool = false;

    type Match = i64;
    type Failure = ();
    type Fault = ();

    fn dialect(&self) -> Dialect {
        Dialect::Condor
    }

    fn is_interrupted(&self) -> bool {
        self.patience == 0
    }

    fn find_match(&mut self, request: &Ad) -> Result<Option<i64>, ()> {
        self.patience = self.patience.saturating_sub(1);
        Ok((self.unmet(request) == 0).then(|| value(request, "a").unwrap_or_default()))
    }

    fn match_count(found: &i64) -> usize {
        usize::try_from(*found).unwrap()
    }

    fn is_worse(found: &i64, _than: &i64) -> bool {
        *found == 13
    }

    fn failure(&mut self, _request: &Ad) -> Option<()> {
        Some(())
    }

    fn obstacles(&mut self, _failure: &()) -> ObstacleCount {
        (1, 0)
    }

    fn propose(&mut self, request: &Ad, _failure: &()) -> Result<Vec<Proposal>, ()> {
        let is_short = |(name, to): &(&str, i64)| value(request, name).is_none_or(|value| value < *to);
        let of_use = self.proposals.iter().filter(|(values, _)| values.iter().all(is_short));
        let edit = |(name, to): &(&str, i64)| RequestEdit::Set {
            name: Name::new(name),
            from: request.get_str(name).cloned(),
            to: Expression::literal(*to),
        };
        Ok(of_use.map(|(values, size)| Proposal { edits: values.iter().map(edit).collect(), size: *size }).collect())
    }

    fn largest_matching_request(&mut self, _request: &Ad, edit: &RequestEdit) -> Option<RequestEdit> {
        let RequestEdit::Set { name, from, .. } = edit else { return None };
        let to = Expression::literal(self.largest);
        (self.largest > 0).then(|| RequestEdit::Set { name: name.clone(), from: from.clone(), to })
    }

    fn sort_edits(&self, edits: &mut [RequestEdit]) {
        edits.sort_by_key(|edit| edit.text(Dialect::Condor));
    }
}

const SINGLE: [(Values<'static>, f64); 5] =
    [(&[("a", 1)], 1.0), (&[("b", 1)], 1.0), (&[("c", 1)], 1.0), (&[("d", 1)], 1.0), (&[("e", 1)], 1.0)];

fn searched(mut problem: Needing<'_>, is_extended: bool) -> Vec<String> {
    let request = parse_ad(b"[ a = 0; b = 0; c = 0; d = 0; e = 0 ]", ParseOptions::new(Dialect::Condor)).unwrap();
    let found = search_changes(&mut problem, &request, &(), is_extended).unwrap();
    found.iter().map(|change| format!("{} ({})", change.text(), change.matched)).collect()
}

#[test]
fn edits_are_added_until_a_request_matches() {
    let needs: Values<'_> = &[("a", 1), ("b", 1), ("c", 1), ("d", 1), ("e", 1)];
    let single = SINGLE;
    let problem =
        |count: usize, patience: usize| Needing { needs: &needs[..count], proposals: &single, largest: 0, patience };
    for (count, patience, is_extended, expected) in [
        (1, 99, false, &["a 0 -> 1 (1)"][..]),
        (2, 99, true, &["a 0 -> 1 and b 0 -> 1 (1)"]),
        (2, 99, false, &[]),
        (3, 99, true, &["a 0 -> 1 and b 0 -> 1 and c 0 -> 1 (1)"]),
        (1, 1, true, &["a 0 -> 1 (1)"]),
        (1, 0, true, &[]),
        (2, 5, true, &[]),
        (2, 6, true, &["a 0 -> 1 and b 0 -> 1 (1)"]),
    ] {
        assert_eq!(searched(problem(count, patience), is_extended), expected, "{count} {patience} {is_extended}");
    }
    // More rounds than three are of no use.
    let of_three =
        |count: usize| Needing { needs: &needs[..count], proposals: &single[..count], largest: 0, patience: 999 };
    let all = "a 0 -> 1 and b 0 -> 1 and c 0 -> 1 and d 0 -> 1 (1)";
    assert_eq!(searched(of_three(4), true), [all]);
    assert_eq!(searched(of_three(5), true), [""; 0]);
}

#[test]
fn changes_with_fewer_and_smaller_edits_come_first() {
    for (needs, proposals, largest, expected) in [
        (
            &[("a", 1)][..],
            &[(&[("a", 2), ("b", 1)][..], 0.5), (&[("a", 5)], 2.0), (&[("a", 1)], 1.0), (&[("a", 7)], 1.0)][..],
            0,
            &["a 0 -> 2 (2)", "a 0 -> 7 (7)", "a 0 -> 1 (1)", "a 0 -> 5 (5)"][..],
        ),
        // What corrects a mistake is told alone.
        (&[("a", 1)], &[(&[("a", 3)], 0.0), (&[("a", 4)], 1.0)], 0, &["a 0 -> 3 (3)"]),
        (&[("x", 1)], &[(&[("x", 5)], 1.0), (&[("x", 2)], 1.0)], 0, &["x = 2 (0)", "x = 5 (0)"]),
        (&[("a", 1), ("b", 1)], &[(&[("a", 1), ("b", 1)], 1.0)], 9, &["a 0 -> 9 and b 0 -> 9 (9)"]),
        (&[("a", 1), ("b", 1)], &[(&[("a", 1), ("b", 1)], 1.0)], 13, &["a 0 -> 1 and b 0 -> 13 (1)"]),
        (&[("a", 1)], &[(&[("a", 1)], 1.0)], 9, &["a 0 -> 1 (1)"]),
        (
            &[("a", 1)],
            &[
                (&[("a", 1)], 1.0),
                (&[("a", 2)], 1.0),
                (&[("a", 3)], 1.0),
                (&[("a", 4)], 1.0),
                (&[("a", 5)], 1.0),
                (&[("a", 6)], 1.0),
                (&[("a", 7)], 1.0),
                (&[("a", 8)], 1.0),
                (&[("a", 9)], 1.0),
                (&[("a", 10)], 1.0),
                (&[("a", 11)], 1.0),
            ],
            0,
            &[
                "a 0 -> 11 (11)",
                "a 0 -> 10 (10)",
                "a 0 -> 9 (9)",
                "a 0 -> 8 (8)",
                "a 0 -> 7 (7)",
                "a 0 -> 6 (6)",
                "a 0 -> 5 (5)",
                "a 0 -> 4 (4)",
                "a 0 -> 3 (3)",
                "a 0 -> 2 (2)",
            ],
        ),
    ] {
        let found = searched(Needing { needs, proposals, largest, patience: 999 }, true);
        assert_eq!(found, expected, "{needs:?} {largest}");
    }
}
