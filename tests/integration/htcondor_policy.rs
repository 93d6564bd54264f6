//! The built-in policy `htcondor`: scenarios worked by hand from HTCondor's manual and its negotiator's source.

use std::fmt::Write;

use classad::matching::policy::ready_policy;

use super::binary::{classad, file};

/// A slot of a pool. Without a user it is unclaimed.
pub struct Slot<'s> {
    name: &'s str,
    cpus: u32,
    more: &'s str,
}

pub fn slot<'s>(name: &'s str, cpus: u32, more: &'s str) -> Slot<'s> {
    Slot { name, cpus, more }
}

/// The ads of slots of 1,000 MB a core. `SlotID` counts them.
pub fn slots(name: &str, slots: &[Slot<'_>]) -> String {
    let mut text = String::new();
    for (Slot { name, cpus, more }, id) in slots.iter().zip(1..) {
        let state = if more.contains("RemoteUser") { "Claimed" } else { "Unclaimed" };
        writeln!(
            text,
            "Name = \"{name}\"\nMyType = \"Machine\"\nSlotID = {id}\nState = \"{state}\"\nCpus = {cpus}\nMemory = {}\n\
             Disk = 100000\nSlotWeight = Cpus\nRequirements = TARGET.RequestCpus <= Cpus && TARGET.RequestMemory <= Memory\n\
             Rank = TARGET.Favoured =?= true\n{more}\n",
            cpus * 1000
        )
        .expect("text grows");
    }
    file(name, text)
}

/// The ads of jobs: number, user, and more lines. The number is the time of submission, too.
pub fn jobs(name: &str, jobs: &[(u32, &str, &str)]) -> String {
    let mut text = String::new();
    for (number, user, more) in jobs {
        let (group, owner) = match user.rsplit_once('.') {
            Some((_, owner)) => (format!("AccountingGroup = \"{user}\"\n"), owner),
            None => (String::new(), *user),
        };
        let default = |attribute: &str, value: &str| {
            if more.contains(attribute) { String::new() } else { format!("{attribute} = {value}\n") }
        };
        writeln!(
            text,
            "ClusterId = {number}\nProcId = 0\nMyType = \"Job\"\nOwner = \"{owner}\"\nUser = \"{owner}@x\"\n{group}QDate = {number}\n\
             JobStatus = 1\n{}{}{}RequestDisk = 1\n{}\n",
            default("Requirements", "true"),
            default("RequestCpus", "1"),
            default("RequestMemory", "100"),
            more.replace(';', "\n"),
        )
        .expect("text grows");
    }
    file(name, text)
}

/// Runs a cycle. Returns the matches as `job slot`, in their order, with the users who lose their slots.
pub fn cycle(
    name: &str,
    asking: &[(u32, &str, &str)],
    offered: &[Slot<'_>],
    config: &str,
    more: &[&str],
) -> Vec<String> {
    let (requests, offers) =
        (jobs(&format!("htc-{name}-jobs.long"), asking), slots(&format!("htc-{name}-slots.long"), offered));
    let config = file(&format!("htc-{name}.dump"), config);
    let arguments = ["negotiate", &requests, "--pool", &offers, "--policy", "htcondor", "--config", &config];
    let (status, out, errors) = classad(&[&arguments, more].concat());
    assert!(matches!(status, Some(0 | 1)), "{name}: {errors}");
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let loser = if cells[4].is_empty() { String::new() } else { format!(" -{}", cells[4]) };
        format!("{} {}{loser}", cells[0].trim_end_matches(".0"), cells[1])
    };
    out.lines().skip(1).map(row).collect()
}

/// The accounts of these users with these priorities, as `condor_userprio -long` prints them.
pub fn accounts(name: &str, users: &[(&str, f64)]) -> String {
    let mut text = String::new();
    for (number, (user, priority)) in users.iter().enumerate() {
        let number = number + 1;
        writeln!(text, "Name{number} = \"{user}\"\nPriority{number} = {priority}\nPriorityFactor{number} = 1000.0\nIsAccountingGroup{number} = false")
            .expect("text grows");
    }
    file(name, text)
}

pub const FREE: &str = "";

/// Manual, "Negotiation Cycle": a submitter's jobs by `JobPrio`, then by the time of submission. The default
/// `NEGOTIATOR_PRE_JOB_RANK` prefers small slots; the job's own rank comes next.
#[test]
fn jobs_by_priority_and_slots_by_the_ranks() {
    let asking = [
        (1, "ann", ""),
        (2, "ann", "JobPrio = 5"),
        (3, "ann", "RequestMemory = 3000"),
        (4, "ann", "JobPrio = -1"),
        (5, "ann", "Rank = SlotID;JobPrio = 9"),
    ];
    let offered = [
        slot("big", 4, FREE),
        slot("one", 1, FREE),
        slot("two", 1, FREE),
        slot("three", 1, FREE),
        slot("mid", 2, FREE),
    ];
    // 5 ranks the small slots by their numbers; 2 takes the first small one: the default post-job rank prefers small
    // numbers of slots. Job 3 fits the big slot only.
    assert_eq!(cycle("order", &asking, &offered, "", &[]), ["5 three", "2 one", "1 two", "3 big", "4 mid"]);
}

/// Manual, "User Priorities and Negotiation": the share of a submitter is in proportion to 1/priority.
/// `calculateSubmitterLimit`: the share of the weight of the pool, less what the submitter uses.
#[test]
fn submitters_share_by_priority_and_weight() {
    let asking: Vec<(u32, &str, &str)> =
        (1..=12).map(|number| (number, if number % 2 == 0 { "ann" } else { "bob" }, "")).collect();
    let names: Vec<String> = (1..=6).map(|number| format!("s{number}")).collect();
    let offered: Vec<Slot<'_>> = names.iter().map(|name| slot(name, 1, FREE)).collect();
    let accounts = accounts("htc-accounts.long", &[("ann@x", 1000.0), ("bob@x", 500.0)]);
    // bob has the better priority: 4 of 6 slots, ann 2.
    let found = cycle("share", &asking, &offered, "", &["--userprio", &accounts]);
    assert_eq!(found, ["1 s1", "3 s2", "5 s3", "7 s4", "2 s5", "4 s6"]);
    // bob uses 3 slots of 9: of his share of 6 he gets 3, and ann her 3.
    let used = "RemoteOwner = \"bob\"\nRemoteUser = \"bob@x\"";
    let claimed = [slot("c1", 1, used), slot("c2", 1, used), slot("c3", 1, used)];
    let offered: Vec<Slot<'_>> = claimed.into_iter().chain(names.iter().map(|name| slot(name, 1, FREE))).collect();
    let found = cycle("usage", &asking, &offered, "", &["--userprio", &accounts]);
    assert_eq!(found, ["1 s1", "3 s2", "5 s3", "2 s4", "4 s5", "6 s6"]);
}

/// `condor_userprio -setceiling`: a submitter uses at most the weight of its ceiling.
#[test]
fn ceilings_of_the_accountant_are_applied() {
    let asking = [(1, "ann", ""), (2, "ann", ""), (3, "bob", "")];
    let offered = [slot("s1", 1, FREE), slot("s2", 1, FREE), slot("s3", 1, FREE)];
    let text = "Name1 = \"ann@x\"\nPriority1 = 500.0\nPriorityFactor1 = 1000.0\nCeiling1 = 1\n\
                Name2 = \"bob@x\"\nPriority2 = 600.0\nPriorityFactor2 = 1000.0\nCeiling2 = -1\n";
    let accounts = file("htc-ceilings.long", text);
    assert_eq!(cycle("ceilings", &asking, &offered, "", &["--userprio", &accounts]), ["1 s1", "3 s2"]);
    let without = file("htc-no-ceilings.long", text.replace("Ceiling1 = 1\n", ""));
    assert_eq!(cycle("no-ceilings", &asking, &offered, "", &["--userprio", &without]), ["1 s1", "3 s2", "2 s3"]);
}

/// `SubmitterLimitPermits`: a slot counts by its `SlotWeight`, and the first slot of a turn may be heavier than the
/// share.
#[test]
fn slots_count_by_their_weight() {
    let asking: Vec<(u32, &str, &str)> =
        (1..=8).map(|number| (number, if number % 2 == 0 { "ann" } else { "bob" }, "")).collect();
    let offered = [slot("a", 1, FREE), slot("b", 1, FREE), slot("c", 2, FREE), slot("d", 4, FREE)];
    // Of a weight of 8 each may use 4: ann a, b and c; bob d.
    assert_eq!(cycle("weight", &asking, &offered, "", &[]), ["2 a", "4 b", "6 c", "1 d"]);
    // Without weights each may use two slots.
    let unweighted = "NEGOTIATOR_USE_SLOT_WEIGHTS = false\n";
    assert_eq!(cycle("unweighted", &asking, &offered, unweighted, &[]), ["2 a", "4 b", "1 c", "3 d"]);
}

/// Manual, "Group Accounting": a group gets what it asks for within its quota; what is left goes to groups that accept
/// surplus. `GROUP_SORT_EXPR`: the group that uses the smallest part of its quota negotiates first, the others last.
#[test]
fn groups_have_quotas() {
    let names: Vec<String> = (1..=8).map(|number| format!("s{number}")).collect();
    let offered: Vec<Slot<'_>> = names.iter().map(|name| slot(name, 1, FREE)).collect();
    let mut asking: Vec<(u32, &str, &str)> = Vec::new();
    for (user, first) in [("phys.ann", 10), ("chem.bob", 20), ("carol", 30)] {
        asking.extend((first..first + 6).map(|number| (number, user, "")));
    }
    let quotas = "GROUP_NAMES = phys, chem\nGROUP_QUOTA_phys = 3\nGROUP_QUOTA_DYNAMIC_chem = 0.2\n";
    // chem has a fifth of the other 5, 1; the 4 that are left are for users in no group.
    let found = cycle("quotas", &asking, &offered, quotas, &[]);
    assert_eq!(found, ["20 s1", "10 s2", "11 s3", "12 s4", "30 s5", "31 s6", "32 s7", "33 s8"]);
    // Nobody but the groups asks: the 4 of the root are surplus. chem accepts it, phys does not.
    let groups: Vec<(u32, &str, &str)> = asking[..12].to_vec();
    let surplus = format!("{quotas}GROUP_ACCEPT_SURPLUS_chem = true\n");
    let found = cycle("surplus", &groups, &offered, &surplus, &[]);
    assert_eq!(found, ["20 s1", "21 s2", "22 s3", "23 s4", "24 s5", "10 s6", "11 s7", "12 s8"]);
    // Both accept: the surplus of 4 is shared as 3 to 1. 3 + 3 and 1 + 1.
    let both = format!("{quotas}GROUP_ACCEPT_SURPLUS = true\n");
    let found = cycle("both", &groups, &offered, &both, &[]);
    assert_eq!(found, ["20 s1", "21 s2", "10 s3", "11 s4", "12 s5", "13 s6", "14 s7", "15 s8"]);
    // With autoregroup the submitters of phys negotiate again as if in no group.
    let regroup = format!("{quotas}GROUP_AUTOREGROUP_phys = true\n");
    let found = cycle("regroup", &groups, &offered, &regroup, &[]);
    assert_eq!(found, ["20 s1", "10 s2", "11 s3", "12 s4", "13 s5", "14 s6", "15 s7"]);
    // phys uses 2 of its 3 already: it gets one more.
    let used = "RemoteOwner = \"ann\"\nRemoteUser = \"ann@x\"\nAccountingGroup = \"phys.ann@x\"";
    let mut claimed = vec![slot("c1", 1, used), slot("c2", 1, used)];
    claimed.extend(names.iter().map(|name| slot(name, 1, FREE)));
    let found = cycle("group-usage", &asking[..6], &claimed, quotas, &[]);
    assert_eq!(found, ["10 s1"]);
}

/// Manual, "Concurrency Limits": a job starts only if all of its limits have units left; claimed slots use theirs.
#[test]
fn concurrency_limits_hold() {
    let asking = [
        (1, "ann", "ConcurrencyLimits = \"sw:2\""),
        (2, "ann", "ConcurrencyLimits = \"SW\""),
        (3, "ann", "ConcurrencyLimits = \"sw, db.x\""),
        (4, "ann", "ConcurrencyLimits = \"db.y\""),
        (5, "ann", "ConcurrencyLimits = \"other\""),
        (6, "ann", ""),
    ];
    let used = "RemoteOwner = \"bob\"\nRemoteUser = \"bob@x\"\nConcurrencyLimits = \"sw\"";
    let names: Vec<String> = (1..=6).map(|number| format!("s{number}")).collect();
    let mut offered = vec![slot("c", 1, used)];
    offered.extend(names.iter().map(|name| slot(name, 1, FREE)));
    let limits = "SW_LIMIT = 3\nCONCURRENCY_LIMIT_DEFAULT = 1\nCONCURRENCY_LIMIT_DEFAULT_db = 0\n";
    // bob's job uses one of 3 units of sw, job 1 the others. db.y may not be used at all, `other` once.
    assert_eq!(cycle("limits", &asking, &offered, limits, &[]), ["1 s1", "5 s2", "6 s3"]);
    let (requests, offers) = (jobs("htc-limits-jobs.long", &asking), slots("htc-limits-slots.long", &offered));
    let config = file("htc-limits.dump", limits);
    let arguments =
        ["negotiate", &requests, "--pool", &offers, "--policy", "htcondor", "--config", &config, "--transcript"];
    let (_, out, _) = classad(&arguments);
    assert!(
        out.contains(
            "2.0 and 1 more are rejected: concurrency limit sw: 3 of 3 in use, 2 of them by requests served before; "
        ),
        "{out}"
    );
}

/// `matchmakingAlgorithm`: a slot that strictly prefers a job may leave its user for it, whatever the submitter's
/// share; another claimed slot only with `PREEMPTION_REQUIREMENTS`, and only if it likes the job no less.
#[test]
fn claimed_slots_are_preempted_by_rank_and_by_priority() {
    let used = "RemoteOwner = \"bob\"\nRemoteUser = \"bob@x\"\nCurrentRank = 0.0";
    let loved = "RemoteOwner = \"bob\"\nRemoteUser = \"bob@x\"\nCurrentRank = 1.0";
    let offered = [slot("c1", 1, used), slot("c2", 1, loved), slot("free", 1, FREE)];
    let asking = [(1, "ann", ""), (2, "ann", "Favoured = true"), (3, "ann", ""), (4, "bob", "Favoured = true")];
    let accounts = accounts("htc-preempt-accounts.long", &[("ann@x", 100.0), ("bob@x", 1000.0)]);
    let with = ["--userprio", accounts.as_str()];
    // The machine's rank counts ten millions: c1 prefers job 2. PREEMPTION_REQUIREMENTS is false.
    assert_eq!(cycle("rank", &asking, &offered, "", &with), ["1 free", "2 c1 -bob@x"]);
    // bob's own job may take his slot if the slot prefers it.
    assert_eq!(cycle("own", &asking[3..], &offered[..2], "", &with), ["4 c1 -bob@x"]);
    // A worse priority by more than a fifth: job 3 may take c1. c2 likes its job better.
    let by_priority = "PREEMPTION_REQUIREMENTS = RemoteUserPrio > SubmitterUserPrio * 1.2\n";
    let plain = [(1, "ann", ""), (3, "ann", ""), (5, "ann", "")];
    assert_eq!(cycle("priority", &plain, &offered, by_priority, &with), ["1 free", "3 c1 -bob@x"]);
    // The transcript says why bob loses c1 whatever the share is.
    let (requests, offers) = (jobs("htc-rank-jobs.long", &asking), slots("htc-rank-slots.long", &offered));
    let (_, told, _) = classad(&["negotiate", &requests, "--pool", &offers, "--policy", "htcondor", "--transcript"]);
    assert!(
        told.contains("2.0 gets c1, preempts bob@x: `label.PrefersJob is true`, so it may exceed the share"),
        "{told}"
    );
    let never = format!("{by_priority}NEGOTIATOR_CONSIDER_PREEMPTION = false\n");
    assert_eq!(cycle("never", &asking, &offered, &never, &with), ["1 free"]);
}

/// `findBelowFloorSubmitters`, `GetCeiling`: a submitter gets its floor before the others share, and never more than
/// its ceiling.
#[test]
fn floors_come_first_and_ceilings_last() {
    let text = ready_policy("htcondor").expect("it is there");
    let bounds = "share:\n  floors: { bob@x: 2 }\n  ceilings: { ann@x: 1 }\n";
    let policy = file("htc-bounds.yaml", text.replace("share:\n", bounds));
    let asking: Vec<(u32, &str, &str)> =
        (1..=8).map(|number| (number, if number % 2 == 0 { "ann" } else { "bob" }, "")).collect();
    let names: Vec<String> = (1..=4).map(|number| format!("s{number}")).collect();
    let offered: Vec<Slot<'_>> = names.iter().map(|name| slot(name, 1, FREE)).collect();
    let (requests, offers) = (jobs("htc-bounds-jobs.long", &asking), slots("htc-bounds-slots.long", &offered));
    let (_, out, errors) = classad(&["negotiate", &requests, "--pool", &offers, "--policy", &policy]);
    let rows: Vec<String> =
        out.lines().skip(1).map(|line| line.split('\t').take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(rows, ["1.0 s1", "3.0 s2", "2.0 s3", "5.0 s4"], "{errors}");
}

/// The topic prints the policy as it is, so that it can be copied and changed.
#[test]
fn the_topic_has_the_policy() {
    let topic = std::fs::read_to_string("src/cli/commands/help/topics/policy.md").expect("the topic is there");
    let text = ready_policy("htcondor").expect("it is there");
    assert!(topic.contains(&format!("```yaml\n{text}```\n")));
    let (status, out, _) = classad(&["help", "policy"]);
    assert_eq!(status, Some(0));
    let printed: Vec<&str> = out.lines().map(str::trim).collect();
    for line in text.lines().map(str::trim) {
        assert!(printed.contains(&line), "{line}");
    }
}

#[test]
fn names_of_policies_and_their_variables() {
    let (requests, offers) =
        (jobs("htc-names-jobs.long", &[(1, "ann", "")]), slots("htc-names-slots.long", &[slot("s", 1, FREE)]));
    let run = |policy: &str, more: &[&str]| {
        classad(&[&["negotiate", &requests, "--pool", &offers, "--policy", policy], more].concat())
    };
    let (status, _, errors) = run("htcondr", &[]);
    assert_eq!(status, Some(2));
    assert!(errors.contains("there is no file `htcondr`, and the only built-in policy is htcondor"), "{errors}");
    let unknown = file("htc-unknown.yaml", "order: $(NOTHING_LIKE_IT)\n");
    let (status, _, errors) = run(&unknown, &[]);
    assert_eq!(status, Some(2));
    assert!(errors.contains("the variable NOTHING_LIKE_IT has no value"), "{errors}");
    let known = file("htc-known.yaml", "variables: { LIKE_IT: JobPrio }\norder: $(LIKE_IT)\n");
    assert_eq!(run(&known, &[]).0, Some(0));
    let orphan = file("htc-orphan.dump", "GROUP_NAMES = a, b.c\nGROUP_QUOTA_a = 1\n");
    let (status, _, errors) = run("htcondor", &["--config", &orphan]);
    assert_eq!(status, Some(0));
    assert!(errors.contains("GROUP_NAMES: b.c has no parent group: this entry is ignored"), "{errors}");
    let wrong = file("htc-wrong.dump", "GROUP_NAMES = a\nGROUP_QUOTA_a = many\n");
    let (status, _, errors) = run("htcondor", &["--config", &wrong]);
    assert_eq!(status, Some(2));
    assert!(errors.contains("GROUP_QUOTA_a must be a number") && errors.contains("htc-wrong.dump:2:"), "{errors}");
}

/// Values of a configuration are expressions of HTCondor, also over several lines, and not YAML.
#[test]
fn every_command_reads_the_dump_of_25_14_1() {
    let requests = jobs("htc-dump-jobs.long", &[(1, "ann", "RequestDisk = 2000"), (2, "bob", "")]);
    let offers = slots(
        "htc-dump-slots.long",
        &[slot("p", 2, "PartitionableSlot = true\nDiskQuantum = 512"), slot("s", 1, FREE)],
    );
    let dump = std::fs::read_to_string("tests/cases/negotiate/condor-25.14.1.dump").expect("the dump is there");
    // Neither another variable nor its value matters.
    let hostile =
        ["{ a: 'b", "- # x", "| > & * ! % @ \\", "$(LOOP)", "$(NO_SUCH)", "\"", "\t---\t", &"(".repeat(100_000)];
    let hostile: Vec<String> = (0..).zip(hostile).map(|(number, value)| format!("MINE_{number} = {value}\n")).collect();
    let hostile = hostile.concat();
    let lines = "MINE @=end\n---\n- { a\n\n@end\nLOOP = $(LOOP)\n";
    let dumps = [file("htc-25.dump", &dump), file("htc-25-more.dump", format!("{hostile}{dump}{lines}"))];
    for command in [&["negotiate"][..], &["match"], &["autocluster"], &["explain", "--unmatched"], &["explain"]] {
        let without = [command, &[&requests, "--pool", &offers, "--policy", "htcondor"]].concat();
        let expected = classad(&without);
        for dump in &dumps {
            let (status, out, errors) = classad(&[&without[..], &["--config", dump]].concat());
            // Before the same text, `explain` tells what the transforms do.
            assert!(status == expected.0 && out.ends_with(&expected.1), "{command:?} {out} {errors}");
            assert!(!errors.contains('×'), "{command:?} {errors}");
        }
    }
}

#[test]
fn each_problem_of_a_configuration_is_told_once() {
    let (requests, offers) =
        (jobs("htc-once-jobs.long", &[(1, "ann", "")]), slots("htc-once-slots.long", &[slot("s", 1, FREE)]));
    for (dump, message) in [
        ("MODIFY_REQUEST_EXPR_REQUESTDISK = quantize(RequestDisk, {1024)\n", "REQUESTDISK: expected"),
        ("NEGOTIATOR_CONSIDER_PREEMPTION = maybe\n", "expected true or false"),
        ("A = 1\nno variable\n", "this line does not define a variable"),
        ("GROUP_NAMES = a\nGROUP_QUOTA_a = many\n", "GROUP_QUOTA_a must be a number"),
        ("STARTD_CLASSAD_USER_MAP_NAMES = $(NO)\n", "the variable NO is not defined"),
    ] {
        let dump = file("htc-once.dump", dump);
        for command in [&["negotiate"][..], &["match"], &["autocluster"], &["explain", "--unmatched"], &["explain"]] {
            let arguments = [command, &[&requests, "--pool", &offers, "--policy", "htcondor", "--config", &dump]];
            let (_, _, errors) = classad(&arguments.concat());
            assert_eq!(errors.matches(message).count(), 1, "{command:?}: {errors}");
        }
    }
}

/// Without `PREEMPTION_REQUIREMENTS`, priority alone decides; an empty setting of another kind has HTCondor's default.
#[test]
fn an_empty_value_is_none() {
    let in_use = "RemoteOwner = \"bob\"\nRemoteUser = \"bob@x\"\nCurrentRank = 0.0";
    let accounts = accounts("htc-empty-accounts.long", &[("ann@x", 100.0), ("bob@x", 1000.0)]);
    let offered = [slot("s", 1, in_use)];
    for (config, expected) in [
        ("", &[][..]),
        ("PREEMPTION_REQUIREMENTS = \n", &["1 s -bob@x"]),
        ("PREEMPTION_REQUIREMENTS = NoSuch\n", &[]),
        ("PREEMPTION_REQUIREMENTS =\nNEGOTIATOR_CONSIDER_PREEMPTION =\n", &["1 s -bob@x"]),
        ("PREEMPTION_REQUIREMENTS =\nNEGOTIATOR_CONSIDER_PREEMPTION = no\n", &[]),
        ("PREEMPTION_REQUIREMENTS = MY.A ?: true\nGROUP_QUOTA_MAX_ALLOCATION_ROUNDS =\n", &["1 s -bob@x"]),
        ("PREEMPTION_REQUIREMENTS = true ? false : true\n", &[]),
    ] {
        assert_eq!(
            cycle("empty-value", &[(1, "ann", "")], &offered, config, &["--userprio", &accounts]),
            expected,
            "{config}"
        );
    }
}

#[test]
fn a_variable_that_makes_the_policy_unusable_is_shown_in_the_configuration() {
    let jobs = file("variable-jobs", "[ Requirements = true ]\n");
    for (dump, message, place) in [
        ("A = 1\nNEGOTIATOR_CONSIDER_PREEMPTION = maybe\n", "PREEMPTION: expected true or false", ":2:34]"),
        ("GROUP_QUOTA_MAX_ALLOCATION_ROUNDS = x\n", "ROUNDS: expected a number of at least 0", ":1:37]"),
        ("PREEMPTION_REQUIREMENTS = a ==\n", "REQUIREMENTS: expected an expression, found the end", ":1:31]"),
        ("X = 3 +\nPREEMPTION_REQUIREMENTS = a == $(X)\n", "its macros expand to `a == 3 +`: expected an", ":2:27]"),
    ] {
        let dump = file("variable-dump", dump);
        let (status, _, errors) =
            classad(&["negotiate", &jobs, "--pool", &jobs, "--policy", "htcondor", "--config", &dump]);
        assert_eq!(status, Some(2), "{errors}");
        assert!(errors.contains(message) && errors.contains(&format!("{dump}{place}")), "{errors}");
    }
    // Like HTCondor, numbers and truth values may be expressions.
    let dump = file(
        "variable-expressions",
        "GROUP_QUOTA_MAX_ALLOCATION_ROUNDS = 1 + 2\nNEGOTIATOR_CONSIDER_PREEMPTION = 1 < 2\n",
    );
    let (status, _, errors) = classad(&["match", &jobs, "--pool", &jobs, "--policy", "htcondor", "--config", &dump]);
    assert_eq!(status, Some(0), "{errors}");
}

/// `calculateRanks`: what `EvalFloat` cannot read as a number counts as 0, and a job without Rank has that of the slot.
#[test]
fn a_rank_that_is_an_error_counts_as_0() {
    let offers = slots("htc-ranks-slots.long", &[slot("a", 1, FREE), slot("b", 1, FREE)]);
    for (rank, told) in [
        ("error", Some("an error")),
        ("\"5\"", Some("a string")),
        ("TARGET.Name + 1", Some("an error")),
        ("time() / 0", Some("an error")),
        ("{ 1 }", Some("a list")),
        ("real(\"NaN\")", Some("NaN")),
        ("relTime(\"00:10:00\")", Some("a relative time")),
        ("TARGET.Nothing", None),
        ("true", None),
        ("real(\"INF\")", None),
    ] {
        let requests = jobs("htc-ranks-jobs.long", &[(1, "ann", &format!("Rank = {rank}")), (2, "ann", "Rank = 0.5")]);
        for more in [&["negotiate"][..], &["negotiate", "--no-index"], &["match"], &["explain", "--unmatched"]] {
            let arguments = [more, &[&requests, "--pool", &offers, "--policy", "htcondor"]].concat();
            let (status, out, errors) = classad(&arguments);
            assert_eq!(status, Some(0), "{rank} {more:?}: {out}{errors}");
            let warning = told.map(|told| format!("warning: the rank of 1.0 is {told} and counts as 0"));
            let warnings: Vec<&str> = errors.lines().filter(|line| line.starts_with("warning")).collect();
            assert_eq!(warnings, Vec::from_iter(warning.as_deref()), "{rank} {more:?}");
        }
    }
    // The slot with the greater number wins over those whose rank is none.
    let rank = "Rank = TARGET.Name == \"b\" ? 0.1 : error";
    let requests = jobs("htc-rank-one.long", &[(1, "ann", rank)]);
    let (_, out, errors) = classad(&["negotiate", &requests, "--pool", &offers, "--policy", "htcondor"]);
    assert!(out.contains("1.0\tb\t"), "{out}{errors}");
    // A slot whose RANK is an error is the last one by NEGOTIATOR_PRE_JOB_RANK, but it matches.
    let offers =
        slots("htc-ranks-bad.long", &[slot("a", 1, "State = \"Unclaimed\"\nRank = error"), slot("b", 1, FREE)]);
    let requests = jobs("htc-rank-two.long", &[(1, "ann", ""), (2, "ann", "")]);
    let (_, out, errors) = classad(&["negotiate", &requests, "--pool", &offers, "--policy", "htcondor"]);
    assert!(out.contains("1.0\tb\t") && out.contains("2.0\ta\t"), "{out}{errors}");
}
