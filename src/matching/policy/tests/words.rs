//! Which names and expressions a policy has.

use crate::ad::{Ad, Dialect};
use crate::eval::Context;
use crate::matching::policy::{Policy, PolicyRule, ROOT_GROUP};
use crate::pool::PolicyExpressions;
use crate::syntax::{ParseOptions, parse_ad};

const ALL: &str = "roots: Root\norder: [ Order ]\ndocking: [ label.Dock, r: { rank: Rank2, otherwise: 3 } ]\n\
    start: JOB.Start1 < SLOT.Start2\n\
    residual: { when: When, keep: Keep, set: { Set1: Set2 }, take: { Take1: { count: Take2, if: Take3 }, Take4: 1 }, while: While }\n\
    leftovers: { if: If, worklife: Work, divide: { when: When9, set: { Set8: Set9 }, take: { Take8: Take9 }, while: While9 } }\n\
    share: { by: By, weight: Weight, demand: Demand, in-use-by: Used, beyond: Beyond, covers: Covers }\n\
    limits: { needs: Needs, in-use: InUse }\nrequests: { R1: R2 }\noffers: { O1: O2 }\n";

fn read(text: &str) -> Policy {
    Policy::parse(text.as_bytes(), Dialect::Condor).unwrap()
}

#[test]
fn each_rule_has_its_names() {
    let mut names: Vec<String> = read(ALL).free_names(Dialect::Condor).names.iter().map(ToString::to_string).collect();
    names.sort();
    assert_eq!(
        names.join(" "),
        "Beyond By Covers Demand Dock If InUse Keep MY Needs O2 Order R2 Rank2 Root Set2 Set9 Start1 Start2 Take1 Take2 Take3 Take4 Take8 Take9 Used Weight When When9 While While9 Work label",
        "names"
    );
    let listed = |policies: PolicyExpressions| {
        let texts = |of: Vec<crate::ad::Expression>| of.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        format!("{} | {}", texts(policies.in_requests), texts(policies.in_offers))
    };
    assert_eq!(
        listed(read(ALL).match_policies()),
        "label.Dock, Rank2, MY.Start1 < label.Start2, Needs, Beyond, Covers, If | When, Set2, Take2, Take3, 1, When9, Set9, Take9",
        "matches"
    );
    assert_eq!(
        listed(read(ALL).request_policies()),
        "label.Dock, Rank2, MY.Start1 < label.Start2, Needs, Beyond, Covers, If, Root, Order, By | When, Set2, Take2, Take3, 1, When9, Set9, Take9",
        "requests"
    );
    assert_eq!(listed(Policy::default().request_policies()), " | ");
}

#[test]
fn requests_are_served_in_the_order_of_their_vectors() {
    let parsed = |text: &str| parse_ad(format!("[ {text} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
    let texts =
        ["P = 1; D = 5", "P = 2; D = 7", "D = 1", "P = 2; D = 6", "P = true; D = 5", "P = 1.5", "P = \"x\"; D = 2"];
    let ads: Vec<Ad> = texts.into_iter().map(parsed).collect();
    for (policy, expected) in [
        (
            "order: [ 'P is \"x\" ? 0 : P' ]",
            "Ok(([1, 3, 5, 0, 4, 6, 2], 0)) [true, true, true, true, true, true, true]",
        ),
        (
            "order: [ 'P is \"x\" ? 0 : P', -D ]",
            "Ok(([3, 1, 5, 0, 4, 6, 2], 0)) [true, true, true, true, true, true, true]",
        ),
        ("order: [ -D ]", "Ok(([2, 6, 0, 4, 3, 1, 5], 0)) [true, true, true, true, true, true, true]"),
        (
            "order: [ r: { rank: P, otherwise: 1.7 }, -D ]",
            "Ok(([3, 1, 2, 6, 5, 0, 4], 0)) [true, true, true, true, true, true, true]",
        ),
        (
            "order: [ P ]",
            "Err(\"component 1 of `order` is an integer for some ads, but a string for others\") [true, true, true, true, true, true, true]",
        ),
        ("roots: D > 4", "Ok(([0, 1, 3, 4], 0)) [false, false, true, false, false, true, true]"),
        ("roots: P\norder: [ -D ]", "Ok(([0, 4, 3, 1, 5], 0)) [false, false, true, false, false, false, true]"),
        ("roots: nothing", "Ok(([], 0)) [true, true, true, true, true, true, true]"),
        ("docking: [ 1 ]", "Ok(([0, 1, 2, 3, 4, 5, 6], 0)) [true, true, true, true, true, true, true]"),
    ] {
        let policy = read(policy);
        let context = Context::new(Dialect::Condor);
        let found = policy.roots(&ads, &context).map_err(|fault| fault.to_string());
        let offers: Vec<bool> = ads.iter().map(|ad| policy.is_offer(ad, &context)).collect();
        assert_eq!(format!("{found:?} {offers:?}"), expected, "{policy:?}");
    }
    let long = ["P"; 200].join(" + ");
    let context = Context { max_steps: 100, ..Context::new(Dialect::Condor) };
    let policy = read(&format!("roots: {long} > 0"));
    assert_eq!(policy.roots(&ads, &context).unwrap(), (vec![], 7));
    assert!(policy.is_offer(&ads[0], &context));
}

/// A list of components is one vector; ranks have numbers.
#[test]
fn components_and_ranks_are_read() {
    for (dialect, text, expected) in [
        (Dialect::Classad, "docking: '{ a, (b), -c }'", "None a None, None (b) None, None -c None false 3"),
        (Dialect::Classad, "docking: '({ a, b })'", "None a None, None b None false 2"),
        (Dialect::Classad, "docking: '{}'", "None { } None false 1"),
        (Dialect::Classad, "docking: [ '{ a, b }' ]", "None { a, b } None false 1"),
        (
            Dialect::Classad,
            "docking: [ a: b, 'x-1_2': { rank: c }, d ]",
            "Some(\"a\") b None, Some(\"x-1_2\") c Some(Number(0.0)), None d None false 3",
        ),
        (
            Dialect::Condor,
            "docking: [ r: { otherwise: -3e5, rank: c } ]",
            "Some(\"r\") c Some(Number(-300000.0)) false 1",
        ),
        (Dialect::Classad, "start: JOB.a && self.b", "None self.a && self.b None false 0"),
        (Dialect::Condor, "start: JOB && (SLOT.b || true)", "None MY && (label.b || true) None false 0"),
        (Dialect::Condor, "start: 'true'", " false 0"),
        (Dialect::Condor, "start: 'false'", "None false None false 0"),
    ] {
        let policy = Policy::parse(text.as_bytes(), dialect).unwrap();
        let told = |rule: &PolicyRule| format!("{:?} {} {:?}", rule.name, rule.expression, rule.rank);
        let rules: Vec<String> = policy.docking.iter().chain(&policy.start).map(told).collect();
        let has_ranks = policy.has_typed_ranks();
        assert_eq!(format!("{} {has_ranks} {}", rules.join(", "), policy.docking_of_gangs().len()), expected, "{text}");
    }
}

#[test]
fn ranks_that_are_no_numbers_count_as_one() {
    use crate::ad::Value;
    use crate::matching::policy::RankOrder;
    let rule = |rank| PolicyRule { rank, ..PolicyRule::from(crate::ad::Expression::attribute("x")) };
    let values = || [Value::Integer(2), Value::Real(-0.0), Value::Boolean(true), Value::string("a"), Value::Undefined];
    for (rank, dialect, expected) in [
        (None, Dialect::Classad, "2 -0.0 true \"a\" undefined"),
        (Some(RankOrder::Typed), Dialect::Classad, "2.0 0.0 1.0 \"a\" 0.0"),
        (Some(RankOrder::Typed), Dialect::Condor, "2.0 0.0 1.0 0.0 0.0"),
        (Some(RankOrder::Number(-7.5)), Dialect::Classad, "2.0 0.0 1.0 -7.5 -7.5"),
    ] {
        let found: Vec<String> =
            values().into_iter().map(|value| rule(rank).ordered_value(value, dialect).to_string()).collect();
        assert_eq!(found.join(" "), expected, "{rank:?} {dialect}");
    }
}

/// Returns the share and the limits of a policy.
fn told(policy: &Policy) -> String {
    let mut text = Vec::new();
    if let Some(share) = &policy.share {
        text.push(format!("by {} {:?}", share.by.expression, share.priorities));
    }
    if let Some(share) = policy.weighted_share() {
        let groups = share.groups.groups().iter().filter(|group| group.name != ROOT_GROUP);
        let groups: Vec<String> = groups
            .map(|group| format!("{} {:?} {} {}", group.name, group.quota, group.accepts_surplus, group.regroups))
            .collect();
        let of = |rule: &Option<PolicyRule>| rule.as_ref().map_or("-".to_owned(), |rule| rule.expression.to_string());
        text.push(format!(
            "weight {}, demand {}, used {}, beyond {}, covers {}, preempts {}, groups [{}], over {}, order {}, rounds {}, \
             rate {}, floors {:?}, ceilings {:?}",
            share.weight.expression,
            of(&share.demand),
            of(&share.in_use_by),
            of(&share.beyond),
            of(&share.covers),
            share.preempts,
            groups.join(", "),
            share.groups.oversubscribes,
            of(&share.group_order),
            share.allocation_rounds,
            share.round_robin_rate,
            share.floors,
            share.ceilings
        ));
    }
    if let Some(limits) = &policy.limits {
        let has = [limits.needs.is_some(), limits.in_use.is_some()];
        let most = (&limits.maxima, &limits.prefix_maxima, limits.default_maximum);
        text.push(format!("limits {has:?} {most:?}"));
    }
    text.join("; ")
}

#[test]
fn shares_and_limits_are_read() {
    for (text, expected) in [
        ("share: { by: Owner }", "by Owner []"),
        ("share: { by: Owner, priorities: { a: 2, b: 0.5 } }", "by Owner [(\"a\", 2.0), (\"b\", 0.5)]"),
        (
            "share: { by: Owner, weight: Cpus, demand: RequestCpus, in-use-by: User, beyond: x, covers: y }",
            "by Owner []; weight Cpus, demand RequestCpus, used User, beyond x, covers y, preempts true, groups [], over false, order -, rounds 3, rate inf, floors {}, ceilings {}",
        ),
        (
            "share: { by: Owner, preempts: no, oversubscribe: 2 > 1, rounds: 7.9, group-order: GroupQuota }",
            "by Owner []; weight 1, demand -, used -, beyond -, covers -, preempts false, groups [], over true, order GroupQuota, rounds 7, rate inf, floors {}, ceilings {}",
        ),
        (
            "share: { by: Owner, rounds: 0, floors: { a: 3, b: 2 * 2 }, ceilings: { a: 0, c: 1.5 } }",
            "by Owner []; weight 1, demand -, used -, beyond -, covers -, preempts true, groups [], over false, order -, rounds 1, rate inf, floors {\"a\": 3.0, \"b\": 4.0}, ceilings {\"a\": 0.0, \"c\": 1.5}",
        ),
        (
            "share: { by: Owner, oversubscribe: true, groups: { a: 20, a.b: 25%, c: ' 5 ' } }",
            "by Owner []; weight 1, demand -, used -, beyond -, covers -, preempts true, groups [a Static(20.0) false false, a.b Dynamic(0.25) false false, c Static(5.0) false false], over true, order -, rounds 3, rate inf, floors {}, ceilings {}",
        ),
        (
            "share: { by: Owner, groups: { a: { quota: 7.5 %, surplus: yes, regroup: true }, b: { surplus: 0 } } }",
            "by Owner []; weight 1, demand -, used -, beyond -, covers -, preempts true, groups [a Dynamic(0.075) true true, b Dynamic(0.0) false false], over false, order -, rounds 3, rate inf, floors {}, ceilings {}",
        ),
        (
            "limits: { needs: L, in-use: U, max: { SW: 2, db.*: 3, T.b: 4 }, default: 10 / 4 }",
            "limits [true, true] ({\"sw\": 2.0, \"t.b\": 4.0}, {\"db\": 3.0}, Some(2.0))",
        ),
        ("limits: {}", "limits [false, false] ({}, {}, None)"),
    ] {
        assert_eq!(told(&read(text)), expected, "{text}");
    }
}

#[test]
fn mistakes_of_shares_and_limits_are_told() {
    for (text, expected) in [
        (
            "share: { weight: 1 }",
            "7..20: `by` is missing (`by` names the submitter of a request, for example `by: Owner`)",
        ),
        ("share: 5", "7..8: share must be a mapping (write `key: value` on a line for each key)"),
        (
            "share: { by: 'a +' }",
            "18..18: expected an expression, found the end (column 4 of the expression) (`+` needs something after it)",
        ),
        (
            "share: { by: a, priorities: { x: -1, y: ten, z: 0.1 } }",
            "33..35: expected a number greater than 0 (write a number such as `10`); 40..43: expected a number greater than 0 (write a number such as `10`)",
        ),
        (
            "share: { by: a, preempts: maybe, rounds: -1, oversubscribe: 'x' }",
            "26..31: expected true or false (write `true` or `false`); 41..43: expected a number of at least 0 (write a number such as `10`); 60..63: expected true or false (write `true` or `false`)",
        ),
        (
            "share: { by: a, groups: { g: ten, h: -1, i: -1%, j: 1e999, k: { quota: x% } } }",
            "29..32: this is not a quota (write a weight of slots (`20`) or a percentage (`25%`)); 37..39: this is not a quota (write a weight of slots (`20`) or a percentage (`25%`)); 44..47: this is not a quota (write a weight of slots (`20`) or a percentage (`25%`)); 52..57: this is not a quota (write a weight of slots (`20`) or a percentage (`25%`)); 71..73: this is not a quota (write a weight of slots (`20`) or a percentage (`25%`))",
        ),
        (
            "share: { by: a, groups: { g: { quotas: 1 } } }",
            "31..37: a group has no key `quotas` (did you mean `quota`?)",
        ),
        (
            "share: { by: a, groups: { g: 1, G: 2, x.y: 3 } }",
            "7..48: the group G occurs twice (write each group once, for `a.b` also `a`, and at most 32 levels); 7..48: the group x.y has no parent group (write each group once, for `a.b` also `a`, and at most 32 levels)",
        ),
        (
            "share: { by: a, floors: { x: -1 }, ceilings: { y: z } }",
            "29..31: expected a number of at least 0 (write a number such as `10`); 50..51: expected a number of at least 0 (write a number such as `10`)",
        ),
        (
            "limits: { max: { a: b }, default: -1, need: 1 }",
            "20..21: expected a number of at least 0 (write a number such as `10`); 34..36: expected a number of at least 0 (write a number such as `10`); 38..42: limits has no key `need` (did you mean `needs`?)",
        ),
        (
            "requests: { '': 1 }\noffers: { my: 2 }",
            "12..14: `` cannot name an attribute (`requests` holds attributes: `Cpus: ...`)",
        ),
        (
            "docking: [ r: { rank: a, otherwise: NaN }, s: { otherwise: 1 }, t: { ranks: 1 } ]",
            "36..39: expected a number (write a number such as `0`); 46..81: `rank` is missing (write the expression of the rank, such as `rank: MY.Rank`); 67..81: `rank` is missing (write the expression of the rank, such as `rank: MY.Rank`); 69..74: a rank has no key `ranks` (did you mean `rank`?)",
        ),
        (
            "residual: { take: { L: { counts: 1 }, M: { if: 1 } } }",
            "23..54: `count` is missing (write how many elements a request gets: `count: 1`); 25..31: take has no key `counts` (did you mean `count`?); 41..54: `count` is missing (write how many elements a request gets: `count: 1`)",
        ),
        (
            "leftovers: { use: maybe, same-limits: perhaps }",
            "18..23: expected true or false (write `true` or `false`); 38..45: expected true or false (write `true` or `false`)",
        ),
    ] {
        let problems = Policy::parse(text.as_bytes(), Dialect::Classad).err().unwrap_or_default();
        let told: Vec<String> = problems
            .iter()
            .map(|problem| {
                let help = problem.help.as_deref().unwrap_or_default();
                format!("{}..{}: {} ({help})", problem.range.start, problem.range.end, problem.message)
            })
            .collect();
        assert_eq!(told.join("; "), expected, "{text}");
    }
    let components = |count: usize| format!("docking: [{}]", vec!["a"; count].join(", "));
    let problems = |count: usize| {
        Policy::parse(components(count).as_bytes(), Dialect::Classad).err().map_or(0, |found| found.len())
    };
    assert_eq!([1, 256, 257].map(problems), [0, 0, 1]);
}
