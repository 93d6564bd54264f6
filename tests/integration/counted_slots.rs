//! Which slots `explain` counts: static and partitionable ones, as `condor_q -better-analyze` does.

use std::fs;

use serde_json::Value as Json;

use crate::binary::{classad, classad_on, file};

const JOBS: &str = "tests/pool/settled/jobs.long.xz";
const SLOTS: &str = "tests/pool/settled/slots.long.xz";
const NOW: &str = "1795813644";

/// The rows of `condor_q -better-analyze`'s summary: how its lines end, and which of our counts is the same.
const SUMMARY_ROWS: [(&str, &str); 6] = [
    ("slots are rejected by your job's requirements", "rejected_by_request"),
    ("slots reject your job because of their own requirements", "rejecting_request"),
    ("slots match and are already running your jobs", "claimed_by_user"),
    ("slots match but are serving other users", "claimed_by_others"),
    ("slots match and are willing to run your job", "free"),
    ("slots would match if drained", "if_drained"),
];

/// `explain` of the settled pool, as JSON.
fn settled(options: &[&str]) -> Json {
    let arguments = [&["explain", JOBS, "--pool", SLOTS, "-o", "json", "--now", NOW], options].concat();
    let (_, out, _) = classad(&arguments);
    serde_json::from_str(&out).expect("this is JSON")
}

/// The report on a job.
fn report_on<'r>(document: &'r Json, job: &str) -> &'r Json {
    let mut reports = document["reports"].as_array().expect("there are reports").iter();
    let names =
        |report: &&Json| report["requests"].as_array().is_some_and(|names| names.iter().any(|name| name == job));
    reports.find(names).unwrap_or_else(|| panic!("there is no report on {job}"))
}

/// The text of a clause as both tools write it: without blanks, and with short reals.
fn normalized(clause: &str) -> String {
    let words = clause.split_whitespace().map(|word| match word.parse::<f64>() {
        Ok(number) if word.contains("E+") => format!("{number:?}"),
        _ => word.to_owned(),
    });
    words.collect()
}

/// Compares the rows of HTCondor's clause table with our clauses. Returns how many there are.
fn compare_clauses(job: &str, table: &str, report: &Json) -> usize {
    let clauses = report["clauses"].as_array().expect("there are clauses");
    let mut compared = 0;
    for row in table.lines().filter(|line| line.starts_with('[')) {
        let words: Vec<&str> = row.split_whitespace().skip(1).collect();
        let numbers = words.iter().take_while(|word| word.parse::<usize>().is_ok()).count();
        let theirs = words[0];
        let condition = normalized(&words[numbers..].join(" "));
        // `[0] && [9]` is no clause. Of a disjunction HTCondor prints the operand that decides.
        if condition.starts_with('[') {
            continue;
        }
        let is_clause = |clause: &&Json| {
            let text = normalized(clause["text"].as_str().expect("a clause has a text"));
            text == condition || text.starts_with(&format!("{condition}||"))
        };
        let ours = clauses.iter().find(is_clause).unwrap_or_else(|| panic!("{job}: {row}"));
        assert_eq!(ours["true"].to_string(), theirs, "{job}: {row}");
        compared += 1;
    }
    compared
}

#[test]
fn slot_and_clause_figures_are_those_of_better_analyze() {
    let answers = fs::read_to_string("tests/pool/settled/better-analyze").expect("there are answers");
    let document = settled(&[]);
    let (mut kinds, mut elsewhere, mut clauses) = (0, 0, 0);
    for answer in answers.split("The Requirements expression for job ").skip(1) {
        let (job, _) = answer.split_once(' ').expect("a job comes first");
        let (cluster, process) = job.split_once('.').expect("a job has two numbers");
        let name = format!("{cluster}.{}", process.parse::<u32>().expect("a number"));
        let report = report_on(&document, &name);
        // HTCondor holds a job that the access point itself runs against one ad that is no slot.
        if answer.contains("Analysis is not complete for Scheduler or Local universe jobs") {
            assert_eq!(report["verdict"], "not-waiting", "{name}");
            elsewhere += 1;
            continue;
        }
        let total = answer.split_once("Of ").and_then(|(_, rest)| rest.split_once(' ')).expect("a total").0;
        assert_eq!(report["slots"]["slots"].to_string(), total, "{name}");
        for (ending, key) in SUMMARY_ROWS {
            // A row of zero slots can be left out.
            let line = answer.lines().find(|line| line.ends_with(ending));
            let theirs = line.map_or("0", |line| line.split_whitespace().next().expect("a number"));
            assert_eq!(report["slots"][key].to_string(), theirs, "{name}: {ending}");
        }
        clauses += compare_clauses(&name, answer, report);
        kinds += 1;
    }
    assert_eq!([kinds, elsewhere, clauses], [31, 2, 124]);
}

/// The largest number under a key of this name anywhere in a document.
fn largest(document: &Json, keys: &[&str]) -> u64 {
    match document {
        Json::Object(members) => {
            let own =
                members.iter().filter(|(key, _)| keys.contains(&key.as_str())).filter_map(|(_, value)| value.as_u64());
            own.chain(members.values().map(|value| largest(value, keys))).max().unwrap_or_default()
        }
        Json::Array(items) => items.iter().map(|item| largest(item, keys)).max().unwrap_or_default(),
        _ => 0,
    }
}

#[test]
fn no_figure_counts_a_dynamic_slot_unless_all_slots_are_asked_for() {
    const COUNTS: [&str; 7] = ["true", "matches", "free", "offers", "suitable", "slots", "remaining"];
    for options in [&[][..], &["--unmatched"], &["--unmatched", "--policy", "htcondor"], &["--summary"]] {
        let few = settled(options);
        assert_eq!(
            largest(&few["reports"], &COUNTS),
            if options.contains(&"--summary") { 0 } else { 8 },
            "{options:?}"
        );
        // A running job runs in a dynamic slot.
        let text = few["reports"].to_string().replace("\"slot\":\"slot1_", "");
        assert!(!text.contains("slot1_"), "{options:?}: a dynamic slot is named");
        let all = settled(&[options, &["--all-slots"]].concat());
        assert_eq!(
            largest(&all["reports"], &COUNTS),
            if options.contains(&"--summary") { 0 } else { 39 },
            "{options:?}"
        );
    }
    // Rows and the table of causes have the same figures.
    let (_, rows, note) = classad(&["explain", JOBS, "--pool", SLOTS, "-o", "csv", "--now", NOW]);
    let counts = rows.lines().skip(1).flat_map(|row| row.split(',').skip(2).take(2));
    let most = counts.filter_map(|count| count.parse::<usize>().ok()).max();
    assert!(most.is_some_and(|most| (1..=8).contains(&most)), "{rows}");
    let said = "note: 31 of 39 offers not counted: dynamic slots, which are parts of partitionable slots (--all-slots counts them)\n";
    assert_eq!(note, said);
    let (_, reverse, _) = classad(&["explain", JOBS, "--pool", SLOTS, "--reverse", "-o", "csv", "--now", NOW]);
    assert_eq!(reverse.lines().count(), 9, "{reverse}");
}

const JOB: &str = "MyType = \"Job\"\nClusterId = 1\nProcId = 0\nJobStatus = 1\nOwner = \"ann\"\nRequestMemory = 100\n\
    Requirements = TARGET.Memory >= RequestMemory\n";

/// A slot of a pool: its name, and further lines.
fn slot(name: &str, lines: &str) -> String {
    format!(
        "MyType = \"Machine\"\nName = \"{name}\"\nMachine = \"{}\"\nRequirements = true\n{lines}\n\n",
        &name[name.len() - 1..]
    )
}

/// The first line that `explain` prints of a job in a pool, and the notes.
fn told(name: &str, pool: &[String], options: &[&str]) -> (String, String) {
    let pool = file(&format!("counted-{name}"), pool.concat());
    let (_, out, notes) = classad_on(&[&["explain", "--pool", &pool], options].concat(), JOB.as_bytes());
    (out.lines().next().unwrap_or_default().to_owned(), notes)
}

#[test]
#[allow(clippy::too_many_lines)] // a table
fn a_dynamic_slot_counts_only_where_nothing_stands_for_it() {
    let whole =
        |name: &str| slot(name, "State = \"Unclaimed\"\nPartitionableSlot = true\nMemory = 500\nTotalSlotMemory = 900");
    let part = |name: &str| slot(name, "State = \"Claimed\"\nRemoteUser = \"bob@a\"\nDynamicSlot = true\nMemory = 200");
    let fixed = |name: &str| slot(name, "State = \"Unclaimed\"\nMemory = 300");
    let projected = |name: &str| slot(name, "State = \"Claimed\"\nSlotType = \"Dynamic\"\nMemory = 200");
    // An ad of both kinds is that of the partitionable slot, as for HTCondor.
    let both =
        |name: &str| slot(name, "State = \"Unclaimed\"\nPartitionableSlot = true\nDynamicSlot = true\nMemory = 500");
    let neither =
        |name: &str| slot(name, "State = \"Unclaimed\"\nPartitionableSlot = false\nDynamicSlot = false\nMemory = 300");
    let not_counted = |of: &str, rest: &str| {
        format!(
            "note: {of} not counted: dynamic slots, which are parts of partitionable slots (--all-slots counts them){rest}\n"
        )
    };
    for (name, pool, options, line, notes) in [
        (
            "parts",
            vec![whole("slot1@a"), part("slot1_1@a"), part("slot1_2@a"), fixed("slot1@b")],
            &[][..],
            "1.0 matches 2 of 2 slots, all of them free",
            not_counted("2 of 4 offers", ""),
        ),
        (
            "all",
            vec![whole("slot1@a"), part("slot1_1@a"), part("slot1_2@a"), fixed("slot1@b")],
            &["--all-slots"],
            "1.0 matches 4 of 4 slots: 2 are free and 2 are claimed by bob@a",
            String::new(),
        ),
        (
            "projected",
            vec![whole("slot1@a"), projected("slot1_1@a")],
            &[],
            "1.0 matches 1 of 1 slot, which is free",
            not_counted("1 of 2 offers", ""),
        ),
        (
            "both",
            vec![both("slot1@a"), neither("slot1@b")],
            &[],
            "1.0 matches 2 of 2 slots, all of them free",
            String::new(),
        ),
        // The partitionable slot of a part is missing: another one is there, so that parts do not count.
        (
            "orphan",
            vec![whole("slot1@a"), part("slot1_1@a"), part("slot1_1@b"), part("slot2_1@a")],
            &[],
            "1.0 matches 1 of 1 slot, which is free",
            not_counted("3 of 4 offers", "; the partitionable slots of 2 of them are not in the pool"),
        ),
        (
            "one orphan",
            vec![whole("slot1@a"), part("slot1_1@b")],
            &[],
            "1.0 matches 1 of 1 slot, which is free",
            not_counted("1 of 2 offers", "; the partitionable slot of 1 of them is not in the pool"),
        ),
        // Nothing but parts, as of `condor_status -claimed`: they count.
        (
            "claimed",
            vec![part("slot1_1@a"), part("slot1_1@b"), fixed("slot1@c")],
            &[],
            "1.0 matches 3 of 3 slots: 1 is free and 2 are claimed by bob@a",
            "note: 2 dynamic slots count as slots: the pool has no partitionable slots\n".to_owned(),
        ),
        (
            "one part",
            vec![part("slot1_1@a")],
            &[],
            "1.0 matches 1 of 1 slot, which is claimed by bob@a",
            "note: 1 dynamic slot counts as a slot: the pool has no partitionable slots\n".to_owned(),
        ),
        // As for `condor_q -mconstraint`, who names the kind of slots says which count.
        (
            "constraint",
            vec![whole("slot1@a"), part("slot1_1@a"), part("slot1_2@a")],
            &["--offer-constraint", "slottype =?= \"Dynamic\" || dynamicslot"],
            "1.0 matches 2 of 2 slots, but none is free: 2 are claimed by bob@a",
            String::new(),
        ),
        (
            "other constraint",
            vec![whole("slot1@a"), part("slot1_1@a"), part("slot1_2@a")],
            &["--offer-constraint", "Memory > 100"],
            "1.0 matches 1 of 1 slot, which is free",
            not_counted("2 of 3 offers", ""),
        ),
        // A pair is explained whatever its slot is.
        (
            "pair",
            vec![whole("slot1@a"), part("slot1_1@a")],
            &["--offer", "slot1_1@a"],
            "1.0 and slot1_1@a match",
            String::new(),
        ),
        (
            "reverse",
            vec![whole("slot1@a"), part("slot1_1@a"), part("slot1_2@a")],
            &["--reverse", "--request", "slot1_1@a"],
            "slot1_1@a is claimed by bob@a; it matches 1 of 1 job",
            not_counted("1 of 3 offers", ""),
        ),
    ] {
        let found = told(&name.replace(' ', "-"), &pool, options);
        assert_eq!(found, (line.to_owned(), notes), "{name}");
    }
}

/// What is given away is what `match` and `negotiate` give away, in the order of the input.
#[test]
fn slots_are_given_away_as_match_gives_them_away() {
    let free = |name: &str, kind: &str| slot(name, &format!("State = \"Unclaimed\"\n{kind} = true\nMemory = 500"));
    let pool = [free("slot1_1@a", "DynamicSlot"), free("slot1@a", "PartitionableSlot")].concat();
    let pool = file("counted-given-away", pool);
    let jobs: String = (0..3).map(|job| JOB.replace("ProcId = 0", &format!("ProcId = {job}")) + "\n").collect();
    let (_, pairs, _) = classad_on(&["match", "--pool", &pool, "-o", "csv"], jobs.as_bytes());
    assert_eq!(pairs.lines().count(), 3, "{pairs}");
    let told = classad_on(&["explain", "--pool", &pool, "--unmatched", "--request", "1.0,1.1"], jobs.as_bytes()).1;
    assert_eq!(told, "1.0 gets slot1_1@a\n1.1 gets slot1@a\n", "{pairs}");
    let (_, told, _) = classad_on(&["explain", "--pool", &pool, "--unmatched"], jobs.as_bytes());
    assert!(told.starts_with("1.2 matches 1 of 1 slot, which goes to 1.1"), "{told}");
}
