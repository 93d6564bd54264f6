//! What a configuration sets.

use crate::ad::Dialect;
use crate::configuration::Configuration;
use crate::eval::Context;
use crate::format::Problem;
use crate::matching::policy::{
    AccountingGroup, CycleTimes, GroupQuota, GroupTree, Policy, configure, negotiator_problems,
};

fn listed(problems: &[Problem]) -> String {
    let told = |of: &Problem| format!("{:?} {}..{}: {}", of.severity, of.range.start, of.range.end, of.message);
    problems.iter().map(told).collect::<Vec<_>>().join("; ")
}

#[test]
fn problems_of_the_negotiator_are_told() {
    let context = Context::new(Dialect::Condor);
    for (dump, expected) in [
        ("", ""),
        (
            "NEGOTIATOR_CONSIDER_PREEMPTION = perhaps\nNEGOTIATOR_CONSIDER_EARLY_PREEMPTION = 3 +\n",
            "Error 33..40: NEGOTIATOR_CONSIDER_PREEMPTION must be true or false; Error 80..83: NEGOTIATOR_CONSIDER_EARLY_PREEMPTION must be true or false",
        ),
        (
            "NEGOTIATOR_USE_SLOT_WEIGHTS = maybe\nGROUP_QUOTA_MAX_ALLOCATION_ROUNDS = -1\nCONCURRENCY_LIMIT_DEFAULT = ten\n",
            "Error 30..35: NEGOTIATOR_USE_SLOT_WEIGHTS must be true or false; Error 72..74: GROUP_QUOTA_MAX_ALLOCATION_ROUNDS must be a number of at least 0; Error 103..106: CONCURRENCY_LIMIT_DEFAULT must be a number of at least 0",
        ),
        ("GROUP_NAMES = a, b\nGROUP_QUOTA_a = 0\n", "Warning 14..18: GROUP_NAMES: b has no quota, so its quota is 0"),
        (
            "GROUP_NAMES = a, b\nGROUP_QUOTA_a = 0.5\nGROUP_QUOTA_DYNAMIC_b = 0\n",
            "Warning 14..18: GROUP_NAMES: the quota 0.5 of a is less than 1 and counts as 0; did you mean GROUP_QUOTA_DYNAMIC_a?",
        ),
        (
            "GROUP_NAMES = a, b\nGROUP_QUOTA_a = 1\nGROUP_QUOTA_b = x\n",
            "Error 53..54: GROUP_QUOTA_b must be a number of at least 0",
        ),
        ("GROUP_NAMES = a, b\nGROUP_QUOTA_DYNAMIC_a = 0.5\nGROUP_QUOTA_DYNAMIC_b = 0.5\n", ""),
        (
            "GROUP_NAMES = a, b\nGROUP_QUOTA_DYNAMIC_a = 0.75\nGROUP_QUOTA_DYNAMIC_b = 0.5\n",
            "Warning 14..18: GROUP_NAMES: the dynamic quotas add up to 1.25: each is divided by 1.25",
        ),
        ("GROUP_NAMES = a, a.x, A.y\nGROUP_QUOTA_a = 3\nGROUP_QUOTA_a.x = 2\nGROUP_QUOTA_A.y = 1\n", ""),
        (
            "GROUP_NAMES = a, a.x, A.y\nGROUP_QUOTA_a = 3\nGROUP_QUOTA_a.x = 2\nGROUP_QUOTA_A.y = 1.5\n",
            "Warning 14..25: GROUP_NAMES: the quotas of the subgroups of a add up to 3.5, more than its quota of 3",
        ),
        (
            "GROUP_NAMES = a, a.x, A.y\nGROUP_QUOTA_a = 3\nGROUP_QUOTA_DYNAMIC_a.x = 1\nGROUP_QUOTA_DYNAMIC_A.y = 1.3\n",
            "Warning 14..25: GROUP_NAMES: the dynamic quotas of the groups in a add up to 2.3: each is divided by 2.3",
        ),
        (
            "GROUP_NAMES = a, A, b.c\nGROUP_QUOTA_a = 3\n",
            "Warning 14..23: GROUP_NAMES: A occurs twice, so this entry is ignored; Warning 14..23: GROUP_NAMES: b.c has no parent group, so this entry is ignored",
        ),
        (
            "GROUP_NAMES = a\nGROUP_QUOTA_a = 3\nGROUP_ACCEPT_SURPLUS = hm\nGROUP_AUTOREGROUP_a = hm\n",
            "Error 57..59: GROUP_ACCEPT_SURPLUS must be true or false; Error 82..84: GROUP_AUTOREGROUP_a must be true or false",
        ),
        ("GROUP_NAMES = a\nGROUP_QUOTA_a = 3\nGROUP_QUOTA_DYNAMIC_a = 0.25\n", ""),
    ] {
        let configuration = Configuration::read(dump.as_bytes()).0;
        assert_eq!(listed(&negotiator_problems(&configuration, &context)), expected, "{dump}");
    }
}

#[test]
fn a_configuration_sets_shares_and_limits() {
    let context = Context::new(Dialect::Condor);
    let text = "share: { by: Owner, oversubscribe: true, groups: { z: 1 } }\nlimits: { max: { sw: 1 } }\n\
        leftovers: { use: true, divide: { when: true } }\n";
    for (dump, expected) in [
        (
            "",
            "[] [z Static(1.0) false false] true inf PriorityFactors { default: None, nice: None, remote: None, of_groups: {} } | {\"sw\": 1.0} {} | true",
        ),
        (
            "GROUP_NAMES = a, b.c\nGROUP_QUOTA_a = 3\nGROUP_ACCEPT_SURPLUS = True\nGROUP_AUTOREGROUP_a = True\n",
            "[\"b.c has no parent group\"] [a Static(3.0) true true] true inf PriorityFactors { default: None, nice: None, remote: None, of_groups: {} } | {\"sw\": 1.0} {} | true",
        ),
        (
            "GROUP_NAMES = a, b\nGROUP_QUOTA_DYNAMIC_a = 0.25\nGROUP_ACCEPT_SURPLUS_b = True\nGROUP_AUTOREGROUP = True\nGROUP_AUTOREGROUP_a = False\n",
            "[] [a Dynamic(0.25) false false, b Dynamic(0.0) true true] true inf PriorityFactors { default: None, nice: None, remote: None, of_groups: {} } | {\"sw\": 1.0} {} | true",
        ),
        (
            "GROUP_QUOTA_ROUND_ROBIN_RATE = 2\nHFS_ROUND_ROBIN_RATE = 5\n",
            "[] [z Static(1.0) false false] true 2 PriorityFactors { default: None, nice: None, remote: None, of_groups: {} } | {\"sw\": 1.0} {} | true",
        ),
        (
            "HFS_ROUND_ROBIN_RATE = 0.5\n",
            "[] [z Static(1.0) false false] true 1 PriorityFactors { default: None, nice: None, remote: None, of_groups: {} } | {\"sw\": 1.0} {} | true",
        ),
        (
            "SW_LIMIT = 4\nT.B_LIMIT = 2 + 3\nOTHER_LIMIT = x\nCONCURRENCY_LIMIT_DEFAULT_db = 7\nMAX_LIMITS = 3\n",
            "[] [z Static(1.0) false false] true inf PriorityFactors { default: None, nice: None, remote: None, of_groups: {} } | {\"sw\": 4.0, \"t.b\": 5.0} {\"db\": 7.0} | true",
        ),
        (
            "CONCURRENCY_LIMIT_DEFAULT_db = x\n",
            "Error 31..32: CONCURRENCY_LIMIT_DEFAULT_db must be a number of at least 0",
        ),
        (
            "SCHEDD.CLAIM_PARTITIONABLE_LEFTOVERS = False\n",
            "[] [z Static(1.0) false false] true inf PriorityFactors { default: None, nice: None, remote: None, of_groups: {} } | {\"sw\": 1.0} {} | false",
        ),
        (
            "STARTD.CLAIM_PARTITIONABLE_LEFTOVERS = False\nSCHEDD.CLAIM_PARTITIONABLE_LEFTOVERS = True\n",
            "[] [z Static(1.0) false false] true inf PriorityFactors { default: None, nice: None, remote: None, of_groups: {} } | {\"sw\": 1.0} {} | false",
        ),
        (
            "DEFAULT_PRIO_FACTOR = 0.5\nNICE_USER_PRIO_FACTOR = 1\nREMOTE_PRIO_FACTOR = 3\nACCOUNTANT_LOCAL_DOMAIN = \n",
            "[] [z Static(1.0) false false] true inf PriorityFactors { default: None, nice: Some(1.0), remote: None, of_groups: {} } | {\"sw\": 1.0} {} | true",
        ),
        (
            "DEFAULT_PRIO_FACTOR = 1\nNICE_USER_PRIO_FACTOR = 0.9\nACCOUNTANT_LOCAL_DOMAIN =  cs \n",
            "[] [z Static(1.0) false false] true inf PriorityFactors { default: Some(1.0), nice: None, remote: Some((\"cs\", 10000000.0)), of_groups: {} } | {\"sw\": 1.0} {} | true",
        ),
        (
            "REMOTE_PRIO_FACTOR = 3\nACCOUNTANT_LOCAL_DOMAIN = cs\nGROUP_PRIO_FACTOR_a = 2\ngroup_prio_factor_B = 0.5\nGROUP_PRIO_FACTO = 3\n",
            "[] [z Static(1.0) false false] true inf PriorityFactors { default: None, nice: None, remote: Some((\"cs\", 3.0)), of_groups: {\"a\": 2.0} } | {\"sw\": 1.0} {} | true",
        ),
        ("GROUP_PRIO_FACTOR_a = x\n", "Error 22..23: GROUP_PRIO_FACTOR_a must be a number of at least 0"),
    ] {
        let mut policy = Policy::parse(text.as_bytes(), Dialect::Condor).unwrap();
        let configuration = Configuration::read(dump.as_bytes()).0;
        let found = match configure(&mut policy, &configuration, &context) {
            Ok(left_out) => {
                let weighted = policy.weighted_share().unwrap();
                let groups: Vec<String> = weighted.groups.groups()[1..]
                    .iter()
                    .map(|of| format!("{} {:?} {} {}", of.name, of.quota, of.accepts_surplus, of.regroups))
                    .collect();
                let limits = policy.limits.as_ref().unwrap();
                format!(
                    "{left_out:?} [{}] {} {} {:?} | {:?} {:?} | {}",
                    groups.join(", "),
                    weighted.groups.oversubscribes,
                    weighted.round_robin_rate,
                    weighted.factors,
                    limits.maxima,
                    limits.prefix_maxima,
                    policy.leftovers.as_ref().unwrap().are_used
                )
            }
            Err(problems) => listed(&problems),
        };
        assert_eq!(found, expected, "{dump}");
    }
}

#[test]
fn times_are_read() {
    let context = Context::new(Dialect::Condor);
    for (dump, expected) in [
        ("", "CycleTimes { interval: 60, half_life: 86400.0, policies: 60, claims: None }"),
        (
            "NEGOTIATOR_INTERVAL = 20\nPRIORITY_HALFLIFE = 100.5\nPERIODIC_EXPR_INTERVAL = 30\nSCHEDD_INTERVAL = 9\n",
            "CycleTimes { interval: 20, half_life: 100.5, policies: 30, claims: Some(9) }",
        ),
        (
            "NEGOTIATOR_INTERVAL = 1\nPRIORITY_HALFLIFE = 1\nPERIODIC_EXPR_INTERVAL = 0\nSCHEDD_INTERVAL = 0\n",
            "CycleTimes { interval: 1, half_life: 1.0, policies: 0, claims: None }",
        ),
        (
            "NEGOTIATOR_INTERVAL = 0.9\nPRIORITY_HALFLIFE = 0\nSCHEDD_INTERVAL = 1\n",
            "Error 22..25: NEGOTIATOR_INTERVAL must be at least 1 second; Error 46..47: PRIORITY_HALFLIFE must be at least 1 second",
        ),
        (
            "NEGOTIATOR_INTERVAL = x\nPERIODIC_EXPR_INTERVAL = -1\n",
            "Error 22..23: NEGOTIATOR_INTERVAL must be a number of at least 0; Error 49..51: PERIODIC_EXPR_INTERVAL must be a number of at least 0",
        ),
        (
            "NEGOTIATOR_INTERVAL = 2 * 30\nPERIODIC_EXPR_INTERVAL = 1e30\n",
            "CycleTimes { interval: 60, half_life: 86400.0, policies: 9223372036854775807, claims: None }",
        ),
    ] {
        let configuration = Configuration::read(dump.as_bytes()).0;
        let found = match CycleTimes::read(&configuration, &context) {
            Ok(times) => format!("{times:?}"),
            Err(problems) => listed(&problems),
        };
        assert_eq!(found, expected, "{dump}");
    }
}

/// The name of a group, its quota and whether it accepts surplus.
type Group = (&'static str, GroupQuota, bool);

const FLAT: &[Group] = &[
    ("a", GroupQuota::Static(4.0), true),
    ("b", GroupQuota::Dynamic(0.5), true),
    ("c", GroupQuota::Dynamic(0.25), false),
];
const DEEP: &[Group] = &[
    ("a", GroupQuota::Static(6.0), true),
    ("a.x", GroupQuota::Dynamic(0.5), true),
    ("a.y", GroupQuota::Static(2.0), false),
    ("b", GroupQuota::Static(3.0), true),
];
const NONE: &[Group] = &[("a", GroupQuota::Static(0.0), true), ("b", GroupQuota::Dynamic(0.0), true)];
const OVER: &[Group] = &[
    ("a", GroupQuota::Static(8.0), true),
    ("b", GroupQuota::Static(4.0), false),
    ("c", GroupQuota::Dynamic(2.0), true),
    ("d", GroupQuota::Dynamic(1.0), true),
];

/// Groups, the weight of the pool and what each group asks for, and how it is divided.
const DIVIDED_POOLS: &[(&[Group], f64, &[f64], &str)] = &[
    (
        FLAT,
        12.0,
        &[3.0, 9.0, 1.0, 9.0],
        "[2.0, 4.0, 4.0, 2.0]; [3.0, 6.0, 1.0, 2.0] left [0.0, 3.0, 0.0, 7.0]; [0.0, 3.0, 0.0, 2.0] left [0.0, 0.0, 0.0, 5.0]; at most [7.0, 7.0, 7.0, 2.0]",
    ),
    (
        FLAT,
        12.0,
        &[0.0, 0.0, 0.0, 0.0],
        "[2.0, 4.0, 4.0, 2.0]; [0.0, 0.0, 0.0, 0.0] left [0.0, 0.0, 0.0, 0.0]; [0.0, 0.0, 0.0, 0.0] left [0.0, 0.0, 0.0, 0.0]; at most [7.0, 7.0, 7.0, 2.0]",
    ),
    (
        FLAT,
        2.0,
        &[3.0, 9.0, 1.0, 9.0],
        "[0.0, 2.0, 0.0, 0.0]; [0.0, 2.0, 0.0, 0.0] left [3.0, 7.0, 1.0, 9.0]; [0.0, 2.0, 0.0, 0.0] left [3.0, 5.0, 1.0, 9.0]; at most [7.0, 7.0, 7.0, 2.0]",
    ),
    (
        FLAT,
        0.0,
        &[3.0, 9.0, 1.0, 9.0],
        "[0.0, 0.0, 0.0, 0.0]; [0.0, 0.0, 0.0, 0.0] left [3.0, 9.0, 1.0, 9.0]; [0.0, 0.0, 0.0, 0.0] left [3.0, 9.0, 1.0, 9.0]; at most [7.0, 7.0, 7.0, 2.0]",
    ),
    (
        FLAT,
        -1.0,
        &[3.0, 9.0, 1.0, 9.0],
        "[0.0, 0.0, 0.0, 0.0]; [0.0, 0.0, 0.0, 0.0] left [3.0, 9.0, 1.0, 9.0]; [0.0, 0.0, 0.0, 0.0] left [3.0, 9.0, 1.0, 9.0]; at most [7.0, 7.0, 7.0, 2.0]",
    ),
    (
        DEEP,
        12.0,
        &[9.0, 9.0, 9.0, 9.0, 9.0],
        "[3.0, 2.0, 2.0, 2.0, 3.0]; [3.0, 2.0, 2.0, 2.0, 3.0] left [6.0, 7.0, 7.0, 7.0, 6.0]; [3.0, 2.0, 2.0, 2.0, 3.0] left [3.0, 5.0, 5.0, 5.0, 3.0]; at most [7.0, 7.0, 7.0, 2.0, 7.0]",
    ),
    (
        DEEP,
        12.0,
        &[0.0, 9.0, 0.0, 9.0, 1.0],
        "[3.0, 2.0, 2.0, 2.0, 3.0]; [0.0, 9.0, 0.0, 2.0, 1.0] left [0.0, 0.0, 0.0, 7.0, 0.0]; [0.0, 0.0, 0.0, 2.0, 0.0] left [0.0, 0.0, 0.0, 5.0, 0.0]; at most [7.0, 7.0, 7.0, 2.0, 7.0]",
    ),
    (
        DEEP,
        12.0,
        &[0.0, 0.0, 1.0, 0.0, 90.0],
        "[3.0, 2.0, 2.0, 2.0, 3.0]; [0.0, 0.0, 1.0, 0.0, 11.0] left [0.0, 0.0, 0.0, 0.0, 79.0]; [0.0, 0.0, 0.0, 0.0, 12.0] left [0.0, 0.0, 0.0, 0.0, 67.0]; at most [7.0, 7.0, 7.0, 2.0, 7.0]",
    ),
    (
        DEEP,
        5.0,
        &[5.0, 5.0, 5.0, 5.0, 5.0],
        "[0.0, 0.667, 0.667, 2.0, 1.667]; [0.0, 0.667, 0.667, 2.0, 1.667] left [5.0, 4.333, 4.333, 3.0, 3.333]; [0.0, 0.667, 0.667, 2.0, 1.667] left [5.0, 3.667, 3.667, 1.0, 1.667]; at most [7.0, 7.0, 7.0, 2.0, 7.0]",
    ),
    (
        NONE,
        10.0,
        &[1.0, 2.0, 30.0],
        "[10.0, 0.0, 0.0]; [1.0, 2.0, 7.0] left [0.0, 0.0, 23.0]; [0.0, 0.0, 10.0] left [0.0, 0.0, 13.0]; at most [7.0, 7.0, 7.0]",
    ),
    (
        NONE,
        10.0,
        &[0.0, 2.0, 3.0],
        "[10.0, 0.0, 0.0]; [0.0, 2.0, 3.0] left [0.0, 0.0, 0.0]; [0.0, 0.0, 0.0] left [0.0, 0.0, 0.0]; at most [7.0, 7.0, 7.0]",
    ),
    (
        OVER,
        10.0,
        &[0.0, 9.0, 9.0, 9.0, 9.0],
        "[0.0, 6.667, 3.333, 0.0, 0.0]; [0.0, 6.667, 3.333, 0.0, 0.0] left [0.0, 2.333, 5.667, 9.0, 9.0]; [0.0, 2.333, 3.333, 2.167, 2.167] left [0.0, 0.0, 2.333, 6.833, 6.833]; at most [7.0, 7.0, 4.0, 7.0, 7.0]",
    ),
    (
        OVER,
        16.0,
        &[1.0, 1.0, 1.0, 1.0, 9.0],
        "[0.0, 8.0, 4.0, 2.667, 1.333]; [1.0, 1.0, 1.0, 1.0, 9.0] left [0.0, 0.0, 0.0, 0.0, 0.0]; [0.0, 0.0, 0.0, 0.0, 0.0] left [0.0, 0.0, 0.0, 0.0, 0.0]; at most [7.0, 7.0, 4.0, 7.0, 7.0]",
    ),
];

/// Quotas, allocations and what is still asked for, in two rounds.
#[test]
fn pools_are_divided_among_groups() {
    for &(groups, total, requested, expected) in DIVIDED_POOLS {
        let group = |(name, quota, accepts_surplus): &Group| AccountingGroup {
            name: (*name).to_owned(),
            quota: *quota,
            accepts_surplus: *accepts_surplus,
            regroups: false,
        };
        let (tree, left_out) = GroupTree::new(groups.iter().map(group).collect());
        assert!(left_out.is_empty());
        let rounded = |of: &[f64]| of.iter().map(|one| (one * 1000.0).round() / 1000.0).collect::<Vec<_>>();
        let mut allocation = tree.allocation(total, requested.to_vec());
        let mut told = vec![format!("{:?}", rounded(&allocation.quotas))];
        for _ in 0..2 {
            tree.allocate(&mut allocation);
            told.push(format!("{:?} left {:?}", rounded(&allocation.allocated), rounded(&allocation.requested)));
        }
        let usage: Vec<f64> = (0..requested.len()).map(|group| [1.0, 0.0, 3.0, 2.0, 1.0][group]).collect();
        let enforced: Vec<f64> =
            (0..requested.len()).map(|group| tree.enforced(group, 7.0, &allocation, &usage)).collect();
        told.push(format!("at most {:?}", rounded(&enforced)));
        assert_eq!(told.join("; "), expected, "{groups:?} {total} {requested:?}");
    }
}

#[test]
fn names_of_groups_have_a_depth() {
    let name = |depth: usize| vec!["g"; depth].join(".");
    let groups = (1..=34).map(|depth| AccountingGroup {
        name: name(depth),
        quota: GroupQuota::Static(1.0),
        accepts_surplus: false,
        regroups: depth == 3,
    });
    let (tree, left_out) = GroupTree::new(groups.collect());
    assert_eq!((tree.groups().len(), tree.groups()[0].regroups, tree.oversubscribes), (33, true, false));
    assert_eq!(
        left_out,
        [format!("{} has more than 32 levels", name(33)), format!("{} has more than 32 levels", name(34))]
    );
    for (submitter, group) in [
        (format!("{}.ann@x", name(2)), 2),
        (format!("{}.ann@x", name(32)), 32),
        (format!("{}.ann@x", name(40)), 32),
        ("h.g.ann@x".to_owned(), 0),
        (".ann@x".to_owned(), 0),
        ("g..ann@x".to_owned(), 1),
        ("g.ann@x@y".to_owned(), 1),
    ] {
        assert_eq!(tree.group_of(&submitter), group, "{submitter}");
    }
}
