#![allow(clippy::float_cmp)] // the sums are exact

use super::GroupQuota::{Dynamic, Static};
use super::{AccountingGroup, GroupQuota, GroupTree};

fn group(name: &str, quota: GroupQuota, accepts_surplus: bool) -> AccountingGroup {
    AccountingGroup { name: name.to_owned(), quota, accepts_surplus, regroups: false }
}

fn tree(groups: &[(&str, GroupQuota, bool)]) -> GroupTree {
    let (tree, left_out) =
        GroupTree::new(groups.iter().map(|(name, quota, surplus)| group(name, *quota, *surplus)).collect());
    assert_eq!(left_out, [""; 0]);
    tree
}

/// Returns what the groups are allocated, by the order of the tree.
fn allocated(tree: &GroupTree, total: f64, requested: &[f64]) -> Vec<f64> {
    let mut allocation = tree.allocation(total, requested.to_vec());
    tree.allocate(&mut allocation);
    allocation.allocated.iter().map(|weight| (weight * 1e6).round() / 1e6).collect()
}

#[test]
fn submitters_are_in_the_group_of_their_name() {
    let tree = tree(&[("b", Dynamic(0.1), false), ("a", Static(1.0), false), ("a.x", Static(1.0), false)]);
    let names: Vec<&str> = tree.groups().iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["<none>", "a", "a.x", "b"]);
    for (submitter, group) in [
        ("alice@local", 0),
        ("a.alice@local", 1),
        ("A.alice@local", 1),
        ("a.x.alice@local", 2),
        ("a.y.alice@local", 1),
        ("c.alice@local", 0),
        ("a.alice", 0),
        ("alice.smith@local", 0),
        ("b.alice@cs.wisc.edu", 3),
    ] {
        assert_eq!(tree.group_of(submitter), group, "{submitter}");
    }
}

#[test]
fn groups_without_parents_are_left_out() {
    let names = ["a", "A", "b.c", "d"];
    let (tree, left_out) = GroupTree::new(names.iter().map(|name| group(name, Static(1.0), false)).collect());
    assert_eq!(left_out, ["A occurs twice", "b.c has no parent group"]);
    assert_eq!(tree.groups().len(), 3);
}

/// The example of HTCondor's manual: 100 slots, physics with 20 and chemistry with 10, `physics.strings` with a
/// fraction.
#[test]
fn quotas_are_assigned_from_the_top() {
    let tree = tree(&[
        ("physics", Static(20.0), false),
        ("physics.strings", Static(5.0), false),
        ("physics.weak", Dynamic(0.4), false),
        ("chemistry", Dynamic(0.25), false),
        ("biology", Dynamic(1.5), false),
    ]);
    let allocation = tree.allocation(100.0, vec![0.0; 6]);
    let quota = |name: &str| allocation.quotas[tree.groups().iter().position(|group| group.name == name).unwrap()];
    // Of 20, 5 are for strings; 40 % of the other 15 are for weak.
    assert_eq!((quota("physics.strings"), quota("physics.weak"), quota("physics")), (5.0, 6.0, 9.0));
    // Of the other 80, the fractions 0.25 and 1.5 are scaled by 1.75.
    assert!((quota("chemistry") - 80.0 * 0.25 / 1.75).abs() < 1e-9);
    assert!((quota("biology") - 80.0 * 1.5 / 1.75).abs() < 1e-9);
    assert!(quota("<none>").abs() < 1e-9);
    // Static quotas beyond the pool are scaled.
    let small = tree.allocation(10.0, vec![0.0; 6]);
    assert_eq!(small.subtree_quotas, [10.0, 0.0, 0.0, 10.0, 5.0, 2.0]);
}

#[test]
fn surplus_goes_to_those_that_accept_it() {
    // <none>, a, b, c
    let greedy = tree(&[("a", Static(4.0), true), ("b", Static(2.0), true), ("c", Static(4.0), false)]);
    // Nobody asks for more than its quota.
    assert_eq!(allocated(&greedy, 10.0, &[0.0, 3.0, 2.0, 1.0]), [0.0, 3.0, 2.0, 1.0]);
    // What `a` leaves goes to `b`; `c` accepts nothing.
    assert_eq!(allocated(&greedy, 10.0, &[0.0, 1.0, 9.0, 9.0]), [0.0, 1.0, 5.0, 4.0]);
    // The 4 of `c` are shared in proportion to the quotas, 4 to 2.
    let shared = allocated(&greedy, 10.0, &[0.0, 20.0, 20.0, 0.0]);
    assert_eq!(shared, [0.0, 6.666_667, 3.333_333, 0.0]);
    // `a` needs less than its part of the surplus: the rest is for `b`.
    assert_eq!(allocated(&greedy, 10.0, &[0.0, 5.0, 20.0, 0.0]), [0.0, 5.0, 5.0, 0.0]);
    // The root competes by its own quota, 2 here, with 4 and 2; the surplus of `c` is 4.
    let shared = allocated(&greedy, 12.0, &[20.0, 20.0, 20.0, 0.0]);
    assert_eq!(shared, [3.0, 6.0, 3.0, 0.0]);
    // Groups without quota share what is left.
    let zero = tree(&[("a", Static(0.0), true), ("b", Dynamic(0.0), true), ("c", Static(4.0), true)]);
    assert_eq!(allocated(&zero, 10.0, &[0.0, 8.0, 8.0, 1.0]), [0.0, 4.5, 4.5, 1.0]);
}

#[test]
fn surplus_of_children_stays_in_the_family_first() {
    let tree = tree(&[
        ("a", Static(6.0), false),
        ("a.x", Static(3.0), true),
        ("a.y", Static(3.0), true),
        ("b", Static(4.0), true),
    ]);
    // <none>, a, a.x, a.y, b: what a.y leaves goes to a.x, not to b; what b leaves goes to nobody.
    assert_eq!(allocated(&tree, 10.0, &[0.0, 0.0, 9.0, 1.0, 9.0]), [0.0, 0.0, 5.0, 1.0, 4.0]);
    assert_eq!(allocated(&tree, 10.0, &[0.0, 0.0, 9.0, 1.0, 1.0]), [0.0, 0.0, 5.0, 1.0, 1.0]);
}

#[test]
fn parents_enforce_their_quotas() {
    let tree = tree(&[("a", Static(6.0), false), ("a.x", Static(3.0), true), ("a.y", Static(3.0), true)]);
    let allocation = tree.allocation(10.0, vec![0.0; 4]);
    // a.x uses 1 and a.y 4: of the 6 of `a` one is left.
    assert_eq!(tree.enforced(2, 5.0, &allocation, &[0.0, 0.0, 1.0, 4.0]), 2.0);
    assert_eq!(tree.enforced(2, 1.5, &allocation, &[0.0, 0.0, 1.0, 4.0]), 1.5);
    assert_eq!(tree.enforced(0, 9.0, &allocation, &[0.0, 0.0, 1.0, 4.0]), 9.0);
}

/// `hgq_assign_quotas` with and without `NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION`: `a` keeps the quotas of its children.
#[test]
fn a_group_may_keep_the_quotas_of_its_children() {
    let groups = [
        ("a", Static(20.0), false),
        ("a.x", Static(12.0), false),
        ("a.y", Dynamic(0.5), false),
        ("b", Static(6.0), false),
    ];
    let quotas = |oversubscribes, total| {
        tree(&groups).with_oversubscription(oversubscribes).allocation(total, vec![0.0; 5]).quotas
    };
    // <none>, a, a.x, a.y, b
    assert_eq!(quotas(false, 34.0), [8.0, 4.0, 12.0, 4.0, 6.0]);
    assert_eq!(quotas(true, 34.0), [8.0, 20.0, 12.0, 4.0, 6.0]);
    // In a pool that is too small, static quotas stay only if they may be oversubscribed.
    assert_eq!(quotas(false, 13.0), [0.0, 0.0, 10.0, 0.0, 3.0]);
    assert_eq!(quotas(true, 13.0), [0.0, 20.0, 12.0, 4.0, 6.0]);
    // What is no number has no part.
    let huge = tree(&[("a", Static(f64::MAX), false), ("b", Static(f64::MAX), false)]);
    assert_eq!(huge.with_oversubscription(true).allocation(8.0, vec![0.0; 3]).quotas, [8.0, 0.0, 0.0]);
}

#[test]
fn groups_are_listed_level_by_level() {
    let tree = tree(&[
        ("b", Static(1.0), false),
        ("a", Static(1.0), false),
        ("a.x", Static(1.0), false),
        ("a.x.u", Static(1.0), false),
        ("b.w", Static(1.0), false),
    ]);
    let names: Vec<&str> = tree.breadth_first().iter().map(|group| tree.groups()[*group].name.as_str()).collect();
    assert_eq!(names, ["<none>", "a", "b", "a.x", "b.w", "a.x.u"]);
}
