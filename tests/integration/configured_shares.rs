//! Shares of the built-in policy `htcondor`: factors of priorities, and numbers that cannot be.

use super::binary::{classad, file};
use super::htcondor_policy::{FREE, Slot, accounts, cycle, jobs, slot, slots};

/// `GetPriorityFactor`: a submitter without an account has the factor of its group, or else the default.
#[test]
fn submitters_without_accounts_have_the_factors_of_the_configuration() {
    let asking: Vec<(u32, &str, &str)> =
        (1..=8).map(|number| (number, if number % 2 == 0 { "a.ann" } else { "a.bob" }, "")).collect();
    let names: Vec<String> = (1..=4).map(|number| format!("s{number}")).collect();
    let offered: Vec<Slot<'_>> = names.iter().map(|name| slot(name, 1, FREE)).collect();
    let accounts = accounts("htc-factors.long", &[("a.bob@x", 500.0)]);
    for (factors, expected) in [
        ("", ["2 s1", "4 s2", "1 s3", "3 s4"]),
        ("DEFAULT_PRIO_FACTOR = 3000\n", ["1 s1", "3 s2", "5 s3", "2 s4"]),
        ("GROUP_PRIO_FACTOR_A = 3000\n", ["1 s1", "3 s2", "5 s3", "2 s4"]),
        ("GROUP_PRIO_FACTOR_a = 250\nDEFAULT_PRIO_FACTOR = 9000\n", ["2 s1", "4 s2", "6 s3", "1 s4"]),
    ] {
        let config = format!("GROUP_NAMES = a\nGROUP_QUOTA_a = 4\n{factors}");
        assert_eq!(cycle("factors", &asking, &offered, &config, &["--userprio", &accounts]), expected, "{factors}");
    }
}

/// What cannot be is ignored, and a note says so.
#[test]
fn impossible_numbers_are_named() {
    let accounts = file("htc-impossible.long", "Name1 = \"ann@x\"\nPriority1 = -3\nCeiling1 = \"one\"\n");
    let config = file("htc-impossible.dump", "SLOT_WEIGHT = \"heavy\"\n");
    let requests = jobs("htc-impossible-jobs.long", &[(1, "ann", ""), (2, "ann", "")]);
    let weights = ["SlotWeight = undefined", "SlotWeight = -2", "SlotWeight = 1"];
    let offered: Vec<Slot<'_>> = weights.iter().map(|weight| slot("s", 1, weight)).collect();
    let mut offers = String::new();
    for (number, slot) in offered.iter().enumerate() {
        let text = std::fs::read_to_string(slots("htc-impossible-slot.long", std::slice::from_ref(slot)));
        offers += &text.expect("it was written").replace("Name = \"s\"", &format!("Name = \"s{number}\""));
    }
    let offers = file("htc-impossible-slots.long", offers);
    let given = ["--userprio", &accounts, "--config", &config, "--by-submitter"];
    let (status, out, told) =
        classad(&[&["negotiate", &requests, "--pool", &offers, "--policy", "htcondor"], &given[..]].concat());
    assert_eq!(status, Some(0), "{told}");
    // Two of three slots of weight 1.
    assert!(out.lines().nth(1).is_some_and(|row| row.ends_with("\t2")), "{out}");
    for text in [
        "Priority1 is -3, but must be a number of at least 0 (2 such values); the default counts",
        "2 offers have no weight of at least 0; such a weight counts as 1",
    ] {
        assert!(told.contains(text), "{told}");
    }
    for (config, text) in [
        ("GROUP_NAMES = a\nGROUP_QUOTA_a = $(GROUP_QUOTA_a)x\n", "GROUP_QUOTA_a must be a number of at least 0"),
        ("GROUP_NAMES = a\nGROUP_QUOTA_a = $(B)\nB = $(C)\nC = $(B)\n", "GROUP_QUOTA_a must be a number of at least 0"),
        ("GROUP_NAMES = $(A)\nA = $(GROUP_NAMES)\n", "GROUP_NAMES"),
        ("GROUP_NAMES = a\nGROUP_QUOTA_a = -1\n", "GROUP_QUOTA_a must be a number of at least 0"),
        ("GROUP_PRIO_FACTOR_a = many\n", "GROUP_PRIO_FACTOR_a must be a number of at least 0"),
    ] {
        let config = file("htc-circle.dump", config);
        let arguments = ["negotiate", &requests, "--pool", &offers, "--policy", "htcondor", "--config", &config];
        let (status, _, told) = classad(&arguments);
        assert!(status == Some(2) && told.contains(text), "{status:?} {told}");
    }
}
