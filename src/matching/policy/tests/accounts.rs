//! Accounts: those that files hold, and those of HTCondor.

use crate::ad::{Ad, Dialect};
use crate::configuration::Configuration;
use crate::eval::Context;
use crate::format::{FileFormat, read};
use crate::matching::policy::{Account, Accountant, AccountedClaim, Policy, configure};

fn told(accountant: &Accountant) -> String {
    let accounts: Vec<String> = accountant
        .submitters
        .iter()
        .map(|(name, of)| format!("{name} {} {} {} {}", of.real_priority, of.factor, of.resources, of.usage))
        .collect();
    let claims: Vec<String> =
        accountant.claims.iter().map(|(id, of)| format!("{id} {} {}", of.submitter, of.offers)).collect();
    format!(
        "{} {:?} [{}] [{}] {:?} {:?}",
        accountant.half_life_seconds,
        accountant.accounted_until,
        accounts.join(", "),
        claims.join(", "),
        accountant.floors,
        accountant.ceilings
    )
}

#[test]
fn files_of_accounts_are_read() {
    for (text, expected) in [
        ("", "86400 None [] [] {} {}"),
        ("{}", "86400 None [] [] {} {}"),
        ("half-life: 3600\nat: 7", "3600 Some(7) [] [] {} {}"),
        (
            "submitters: { a: {}, b: { priority: 0.1, factor: 2, resources: 3, usage: 4 }, c: { priority: 9 } }",
            "86400 None [a 0.5 1000 0 0, b 0.5 2 3 4, c 9 1000 0 0] [] {} {}",
        ),
        ("claims: { m: { submitter: a, offers: 2 }, n: {} }", "86400 None [] [m a 2, n  0] {} {}"),
        ("[ 1 ]", "0..5: a usage file must be a mapping (write `key: value` on a line for each key)"),
        (
            "half-life: -1\nat: soon\nhalflife: 3",
            "11..13: expected a number greater than 0 (write a number such as `10`); 18..22: this is not a time (write seconds since 1970); 23..31: a usage file has no key `halflife` (did you mean `half-life`?)",
        ),
        (
            "submitters: { a: { priority: -1, factor: 0, resources: .inf, usage: x } }",
            "29..31: expected a number of at least 0 (write a number such as `10`); 41..42: a factor cannot be zero (a larger factor gives a smaller share); 55..56: expected a number of at least 0 (write a number such as `10`); 68..69: expected a number of at least 0 (write a number such as `10`)",
        ),
        (
            "submitters: { a: 5 }\nclaims: 3",
            "17..18: an account must be a mapping (write `key: value` on a line for each key); 29..30: claims must be a mapping (write `key: value` on a line for each key)",
        ),
        (
            "claims: { m: { submitter: [ a ], offers: 1.5, of: 1 }, n: { offers: -1 } }",
            "26..74: this is not a name (write `submitter: alice`); 41..44: expected a number of offers (write `offers: 2`); 46..48: a claim has no key `of` (the keys are `submitter`, `offers`); 68..70: expected a number of offers (write `offers: 2`)",
        ),
        (
            "a: b: c",
            "4..5: this is not YAML: mapping values are not allowed in this context (an expression needs single quotes if it has `: ` or ` #`, or begins with a sign such as `!` or `[`)",
        ),
    ] {
        let found = match Accountant::parse(text.as_bytes()) {
            Ok(accountant) => told(&accountant),
            Err(problems) => problems
                .iter()
                .map(|problem| {
                    let help = problem.help.as_deref().unwrap_or_default();
                    format!("{}..{}: {} ({help})", problem.range.start, problem.range.end, problem.message)
                })
                .collect::<Vec<_>>()
                .join("; "),
        };
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn accounts_are_written() {
    let mut accountant = Accountant::default();
    assert_eq!(accountant.to_yaml(), "half-life: 86400\nsubmitters: {}\n", "none");
    accountant.accounted_until = Some(12);
    accountant.half_life_seconds = 1.5;
    let account = Account { real_priority: 2.0, factor: 10.0, resources: 3.0, usage: 4.5 };
    accountant.submitters.insert("ann@x".to_owned(), account);
    accountant.submitters.insert("true".to_owned(), Account::default());
    accountant.claims.insert("m 1".to_owned(), AccountedClaim { submitter: "ann@x".to_owned(), offers: 2 });
    assert_eq!(
        accountant.to_yaml(),
        "half-life: 1.5\nat: 12\nsubmitters:\n  ann@x: { priority: 2, factor: 10, resources: 3, usage: 4.5 }\n  \"true\": { priority: 0.5, factor: 1000, resources: 0, usage: 0 }\nclaims:\n  m 1: { submitter: ann@x, offers: 2 }\n",
        "two"
    );
}

#[test]
fn usage_counts_from_one_time_to_the_next() {
    let account = |real_priority, resources| Account { real_priority, factor: 1.0, resources, usage: 1.0 };
    for (from, to, account, expected) in [
        (None, 100, account(8.0, 2.0), "100 Some(100) [a 8 1 2 1] [] {} {}"),
        (Some(100), 100, account(8.0, 2.0), "100 Some(100) [a 8 1 2 1] [] {} {}"),
        (Some(100), 90, account(8.0, 2.0), "100 Some(90) [a 8 1 2 1] [] {} {}"),
        (Some(100), 110, account(8.0, 2.0), "100 Some(110) [a 7.598197949220845 1 2 21] [] {} {}"),
        (Some(100), 200, account(8.0, 2.0), "100 Some(200) [a 5 1 2 201] [] {} {}"),
        (Some(0), 1_000_000, account(8.0, 0.0), "100 Some(1000000) [a 0.5 1 0 1] [] {} {}"),
        (Some(0), 1_000_000, account(0.1, 64.0), "100 Some(1000000) [a 64 1 64 64000001] [] {} {}"),
        (
            Some(0),
            10,
            account(f64::MAX, f64::MAX),
            "100 Some(10) [a 179769313486231570000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000 1 179769313486231570000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000 179769313486231570000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000] [] {} {}",
        ),
    ] {
        let mut accountant = Accountant { half_life_seconds: 100.0, accounted_until: from, ..Accountant::default() };
        accountant.submitters.insert("a".to_owned(), account);
        accountant.advance(to);
        assert_eq!(told(&accountant), expected, "{from:?} {to} {account:?}");
    }
}

#[test]
fn what_is_used_is_that_of_claims_and_of_matches() {
    let mut accountant = Accountant::default();
    let claim = |submitter: &str, offers| AccountedClaim { submitter: submitter.to_owned(), offers };
    accountant.settle([("m".to_owned(), claim("a", 2)), ("n".to_owned(), claim("a", 3))], ["none"]);
    assert_eq!(told(&accountant), "86400 None [a 0.5 1000 5 0] [m a 2, n a 3] {} {}", "claims");
    accountant.assign([("b", 1.5), ("a", 1.0)]);
    assert_eq!(
        told(&accountant),
        "86400 None [a 0.5 1000 6 0, b 0.5 1000 1.5 0] [m a 2, n a 3] {} {}",
        "claims and matches"
    );
    accountant.assign_all([("b", 0.5)]);
    assert_eq!(
        told(&accountant),
        "86400 None [a 0.5 1000 0 0, b 0.5 1000 0.5 0] [m a 2, n a 3] {} {}",
        "matches alone"
    );
    accountant.settle([], ["m", "n"]);
    assert_eq!(told(&accountant), "86400 None [a 0.5 1000 0 0, b 0.5 1000 0 0] [] {} {}", "none");
    assert!(accountant.knows("a") && !accountant.knows("c"));
}

/// A submitter without an account has the factor that the configuration sets, if there is one.
#[test]
fn priorities_of_those_without_accounts() {
    let policy = |dump: &str| {
        let mut policy = Policy::parse(b"share: { by: Owner, weight: 1 }", Dialect::Condor).unwrap();
        let configuration = Configuration::read(dump.as_bytes()).0;
        configure(&mut policy, &configuration, &Context::new(Dialect::Condor)).unwrap();
        policy
    };
    let mut accountant = Accountant::default();
    accountant.submitters.insert("a@x".to_owned(), Account { real_priority: 0.1, factor: 4.0, ..Account::default() });
    let (with, without) = (policy("DEFAULT_PRIO_FACTOR = 10\n"), policy(""));
    for (submitter, share, expected) in [
        ("a@x", with.weighted_share(), Some(2.0)),
        ("a@x", None, Some(2.0)),
        ("b@x", with.weighted_share(), None),
        ("b@x", without.weighted_share(), Some(500.0)),
        ("b@x", None, Some(500.0)),
    ] {
        assert_eq!(accountant.priority(submitter, share), expected, "{submitter} {}", share.is_some());
    }
    assert_eq!(with.weighted_share().unwrap().new_priority("b@x"), Some(5.0));
    assert_eq!(without.weighted_share().unwrap().new_priority("b@x"), None);
}

#[test]
fn accounts_of_htcondor_are_imported() {
    for (text, expected) in [
        ("Name1 = \"a@x\"\n", "86400 None [a@x 0.5 1000 0 0] [] {} {}"),
        (
            "NAME1 = \"a@x\"\nPriority1 = 6\nPriorityFactor1 = 2\nResourcesUsed1 = 3\nAccumulatedUsage1 = 4\n",
            "86400 None [a@x 3 2 3 4] [] {} {}",
        ),
        (
            "Name1 = \"a@x\"\nResourcesUsed1 = 3\nWeightedResourcesUsed1 = 5\nWeightedAccumulatedUsage1 = 7.5\n",
            "86400 None [a@x 0.5 1000 5 7.5] [] {} {}",
        ),
        ("Name1 = \"a@x\"\nPriority1 = 6\nPriorityFactor1 = 0\n", "86400 None [a@x 6 1 0 0] [] {} {}"),
        ("Name1 = \"a@x\"\nPriorityFactor1 = 20\n", "86400 None [a@x 0.5 20 0 0] [] {} {}"),
        (
            "Name1 = \"a@x\"\nPriorityFactor1 = -20\nPriority1 = -1\nResourcesUsed1 = -1\n",
            "86400 None [a@x 0.5 1000 0 0] [] {} {}",
        ),
        (
            "Name1 = \"a@x\"\nCeiling1 = 0\nFloor1 = 0\nName2 = \"b@x\"\nCeiling2 = 4\nFloor2 = 2.5\n",
            "86400 None [a@x 0.5 1000 0 0, b@x 0.5 1000 0 0] [] {\"b@x\": 2.5} {\"a@x\": 0.0, \"b@x\": 4.0}",
        ),
        ("Name1 = \"a@x\"\nIsAccountingGroup1 = true\nLastUpdate = 5\n", "86400 Some(5) [] [] {} {}"),
        ("Name1 = \"a@x\"\nIsAccountingGroup1 = 1\nLastUpdateTime = 6\n", "86400 Some(6) [a@x 0.5 1000 0 0] [] {} {}"),
        ("Name1 = \"a@x\"\nLastUpdate = 5.5\nLastUpdateTime = 6\n", "86400 Some(6) [a@x 0.5 1000 0 0] [] {} {}"),
        (
            "Name1 = \"a@x\"\nName1x = \"b@x\"\nNames2 = \"c@x\"\nNam3 = \"d@x\"\n",
            "86400 None [a@x 0.5 1000 0 0] [] {} {}",
        ),
        ("Name1 = 5\nName2 = undefined\n", "none"),
        ("Name = \"a@x\"\n", "none"),
        ("Name = \"a@x\"\nPriority = 4\n", "86400 None [a@x 4 1 0 0] [] {} {}"),
        ("MyType = \"Customer\"\nName = \"a@x\"\n", "86400 None [a@x 0.5 1000 0 0] [] {} {}"),
        (
            "MyType = \"Customer\"\nName = \"a@x\"\nPriority = 0.1\nPriorityFactor = 5\n",
            "86400 None [a@x 0.5 5 0 0] [] {} {}",
        ),
        ("MyType = \"Customer\"\nName = \"bio\"\nPriority = 4\n", "86400 None [] [] {} {}"),
        ("LastUpdate = 5\n", "none"),
    ] {
        let ad: Ad = read(text.as_bytes(), FileFormat::Long, Dialect::Condor).next().unwrap().unwrap().ad;
        let found = Accountant::from_userprio(&ad, &Context::new(Dialect::Condor));
        assert_eq!(found.map_or("none".to_owned(), |accounts| told(&accounts)), expected, "{text}");
    }
}
