//! Explanations of whole queues and pools: totals, causes, rows, and who gains by a change.

use serde_json::Value as Json;

use crate::binary::{classad, file, run, words};

/// Jobs of two owners: one matches, three ask for too much memory, one names an attribute that no slot has, one is held.
fn queue() -> String {
    let job = |(number, (owner, memory, more)): (usize, (&str, u32, &str))| {
        format!(
            "MyType = \"Job\"\nClusterId = 7\nProcId = {number}\nOwner = \"{owner}\"\nRequestMemory = {memory}\n{more}\n\
             Requirements = TARGET.Memory >= RequestMemory{}\n\n",
            if more.contains("Odd") { " && TARGET.Odd" } else { "" }
        )
    };
    let jobs = [
        ("ann", 1000, "JobStatus = 1"),
        ("ann", 9_000, "JobStatus = 1"),
        ("bob", 10_000, "JobStatus = 1"),
        ("ann", 9_000, "JobStatus = 1"),
        ("bob", 1000, "JobStatus = 1\nWantsOdd = true"),
        ("bob", 1000, "JobStatus = 5\nHoldReason = \"by hand\""),
    ];
    jobs.into_iter().enumerate().map(job).collect()
}

fn pool(name: &str) -> String {
    let slot = |(name, memory): (&str, u32)| {
        format!(
            "MyType = \"Machine\"\nState = \"Unclaimed\"\nName = \"{name}\"\nMachine = \"m\"\nMemory = {memory}\nRequirements = true\n\n"
        )
    };
    file(&format!("queue-{name}"), [("slot1@m", 4000), ("slot2@m", 2000)].map(slot).concat())
}

fn explained(name: &str, options: &[&str]) -> (String, i32) {
    let output = run(&[&["explain", "--pool", &pool(name)], options].concat(), queue().as_bytes());
    let note = "note: the dialect is condor: standard input is in the long form\n";
    let counted = "note: several requests can match one offer here; in `match --what-if`, requests compete\n";
    let has_sentence = options.contains(&"--what-if") && !options.iter().any(|form| ["json", "csv"].contains(form));
    let expected = [(options.contains(&"-v"), note), (has_sentence, counted)];
    let expected: String = expected.into_iter().filter_map(|(is_there, note)| is_there.then_some(note)).collect();
    assert_eq!(String::from_utf8_lossy(&output.stderr), expected, "{name}");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code().unwrap())
}

#[test]
fn a_queue_begins_with_its_causes_the_biggest_first() {
    let (text, status) = explained("summary", &["--summary"]);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    assert_eq!((lines[0], status), ("6 jobs: 1 matches, 4 match nothing; 1 is held", 1));
    // The numbers differ.
    assert!(words(lines[2]).starts_with("3 ann and bob no slot has Memory >= RequestMemory 9000..10000 ->"), "{text}");
    let causes = ["no slot has Memory", "no slot defines Odd", "held: by hand"];
    let places: Vec<Option<usize>> = causes.iter().map(|cause| text.find(cause)).collect();
    assert!(places.is_sorted() && places[0].is_some(), "{text}");
    // Without --summary a report of each cause follows, of its largest group.
    let (text, _) = explained("blocks", &[]);
    assert!(text.starts_with("6 jobs: 1 matches, 4 match nothing; 1 is held\n"), "{text}");
    assert!(text.contains("\n7.1 and 7.3 match none of 2 slots") && !text.contains("7.2 matches"), "{text}");
    assert!(!text.contains("7.0 matches"), "{text}");
    // With -v, every report is there, and no table.
    let (text, _) = explained("evidence", &["-v"]);
    assert!(text.contains("7.2 matches none") && text.contains("7.0 matches 2 of 2 slots"), "{text}");
}

/// Held jobs are told by their reasons, jobs that do not wait in one line at the end, and small causes of a long table are
/// counted.
#[test]
fn a_queue_of_many_causes_has_a_short_table() {
    let job = |at: usize, more: String| format!("MyType = \"Job\"\nClusterId = {at}\nProcId = 0\n{more}\n\n");
    let names = (0..30).map(|at| format!("Requirements = TARGET.Odd{}\nOwner = \"ann\"", (b'a' + at % 26) as char));
    let held = (0..3).map(|host| {
        let reason = format!("Error from slot1@h{host}: Ran for more than {host}5 seconds");
        format!(
            "JobStatus = 5\nHoldReasonCode = 3\nHoldReasonSubCode = 42\nHoldReason = \"{reason}\"\nOwner = \"o{host}\""
        )
    });
    let running = (0..2).map(|_| "JobStatus = 2\nOwner = \"eve\"".to_owned());
    let jobs: String = names.chain(held).chain(running).enumerate().map(|(at, more)| job(at, more)).collect();
    let arguments = ["explain", "--pool", &pool("short"), "--unmatched", &file("queue-many", jobs)];
    let (_, text, _) = classad(&arguments);
    let lines: Vec<&str> = text.split("\n\n").next().unwrap().lines().collect();
    assert_eq!(lines[0], "30 of 35 jobs get no slot: none matches; 3 are held, 2 do not wait");
    assert!(lines.len() <= 25 && lines.iter().all(|line| line.chars().count() <= 100), "{text}");
    assert!(lines[2].starts_with("   3  o0, o1 and o2  held (3.42): Ran for more"), "{text}");
    assert_eq!(lines[lines.len() - 2].trim_end(), "   2  eve            does not wait: it runs", "{text}");
    let rest = "9 more causes with 1 job each, 9 jobs in all (--list-all lists them)";
    assert_eq!(lines[lines.len() - 1], rest, "{text}");
    let (_, text, _) = classad(&[&arguments[..], &["--list-all"]].concat());
    assert!(text.contains("no slot defines Oddz") && !text.contains("--list-all"), "{text}");
}

/// What nobody can wait for is told before a full pool: a mistake of the job, and more slots at once than there are.
#[test]
fn mistakes_and_jobs_that_are_kept_back_are_causes_of_their_own() {
    let slot = |number: u32, more: &str| {
        format!(
            "MyType = \"Machine\"\nName = \"slot{number}@m\"\nMachine = \"m\"\nCpus = 4\nMemory = 4096\nDisk = 9000000\n\
             TotalMemory = 9000\nRequirements = true\n{more}\n\n"
        )
    };
    let claimed = "State = \"Claimed\"\nActivity = \"Busy\"\nRemoteUser = \"zoe@x\"\nTotalMemory = 99999999";
    let slots = [slot(1, claimed), slot(2, "State = \"Unclaimed\""), slot(3, "State = \"Unclaimed\"")].concat();
    let job = |(id, more): (u32, &str)| {
        format!("MyType = \"Job\"\nClusterId = {id}\nProcId = 0\nJobStatus = 1\nOwner = \"ann\"\n{more}\n\n")
    };
    let jobs = [
        (1, "RequestMemory = 4194304\nRequirements = TARGET.TotalMemory >= RequestMemory"),
        (2, "Requirements = TARGET.Cpus >= 1\nJobUniverse = 11\nMinHosts = 4"),
        (3, "Requirements = TARGET.Cpus >= 1\nJobCoolDownExpiration = 2000"),
        (4, "Requirements = TARGET.Cpus >= 1"),
        (5, "Requirements = TARGET.TotalMemory >= 99999999"),
    ];
    let (pool, queue) = (file("queue-kept-pool", slots), file("queue-kept", jobs.map(job).concat()));
    let arguments = ["explain", "--pool", &pool, "--unmatched", "--summary", "--now", "1000", &queue];
    let (_, text, _) = classad(&arguments);
    let words = words(&text);
    let counts = "2 match only slots in use, 1 is kept back by a limit or a quota, 1 gets too few";
    assert!(words.contains(counts), "{text}");
    let (_, text, _) = classad(&[&arguments[..], &["-o", "json"]].concat());
    let document: Json = serde_json::from_str(&text).unwrap();
    let causes = document["totals"]["causes"].as_array().unwrap().iter();
    let ids: Vec<&str> = causes.map(|cause| cause["cause_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["mistake:RequestMemory", "too-few-slots", "cool-down", "full"], "{text}");
}

#[test]
fn totals_are_in_json_too() {
    let document: Json = serde_json::from_str(&explained("json", &["-o", "json"]).0).unwrap();
    let totals = &document["totals"];
    assert_eq!((totals["requests"].as_u64(), totals["matching"].as_u64()), (Some(6), Some(1)));
    let first = &totals["causes"][0];
    assert_eq!(
        (&first["verdict"], &first["requests"], &first["owners"]),
        (&"unsatisfied-clause".into(), &3.into(), &2.into())
    );
    assert_eq!(first["helps"], 3);
    // Under a policy, the jobs that get a slot are told.
    let served = run(&["explain", "--pool", &pool("served"), "--unmatched", "-o", "json"], queue().as_bytes());
    let served: Json = serde_json::from_slice(&served.stdout).unwrap();
    assert_eq!(served["totals"]["served"], 1, "{served:#}");
    // With --summary, the totals are all.
    let short: Json = serde_json::from_str(&explained("json-summary", &["--summary", "-o", "json"]).0).unwrap();
    assert_eq!((&short["totals"], &short["reports"]), (totals, &Json::Array(Vec::new())));
    for refused in [&["--summary", "-o", "jsonl"][..], &["--offer-constraint", "Memory > 9000"]] {
        let output = run(&[&["explain", "--pool", &pool("refused")], refused].concat(), queue().as_bytes());
        assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(2), true), "{refused:?}");
    }
}

#[test]
fn a_row_for_each_job() {
    let (text, _) = explained("rows", &["-o", "csv"]);
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(rows.len(), 7, "{text}");
    assert_eq!(rows[0], "request,verdict,matches,free,summary,change");
    let row = |job: &str| rows.iter().find(|row| row.starts_with(job)).unwrap_or_else(|| panic!("{text}"));
    assert!(row("7.0,").starts_with("7.0,matches,2,2,"), "{text}");
    assert!(row("7.3,").starts_with("7.3,unsatisfied-clause,0,0,7.3 matches none") && row("7.3,").ends_with("-> 4000"));
    assert!(row("7.5,").starts_with("7.5,not-waiting,2,2,\"7.5 is held: by hand."), "{text}");
    // A reader of rows finds as many in the other form.
    assert_eq!(explained("tabs", &["-o", "tsv"]).0.lines().count(), 7);
}

/// A misspelt attribute changes nothing: that is told, and that of another new one is not.
/// What a site says of causes stands beside what would help, and in the reports.
#[test]
fn a_site_says_something_of_the_causes_of_a_queue() {
    let reasons = file(
        "queue-reasons.yaml",
        "size: { advice: use the big queue, contact: big@a.org }\nmissing-attribute: { link: 'https://a.org/odd' }\n",
    );
    for options in [&["--summary"][..], &[]] {
        let (text, _) = explained("reasons", &[&["--reasons", &reasons], options].concat());
        let begins_row = |line: &str| line.chars().take("jobs".len()).any(|c| c.is_ascii_digit());
        let rows = text.lines().skip(2).take_while(|line| !line.is_empty());
        // The cells of the last column, of which a row can take several lines.
        let column = text.lines().nth(1).and_then(|heading| heading.find("what would help")).unwrap();
        let mut helps: Vec<String> = Vec::new();
        for row in rows {
            let help: String = row.chars().skip(column).collect();
            match helps.last_mut().filter(|_| !begins_row(row)) {
                Some(last) => last.extend([" ", &help]),
                None => helps.push(help),
            }
        }
        let helps: Vec<String> = helps.iter().map(|help| words(help)).collect();
        assert!(helps[0].ends_with("; use the big queue; contact: big@a.org"), "{text}");
        assert!(helps[1].ends_with("see https://a.org/odd") && !helps[2].contains("a.org"), "{text}");
        let told = words(&text).matches("contact: big@a.org").count();
        assert_eq!(told, if options.is_empty() { 2 } else { 1 }, "{text}");
    }
}

#[test]
fn a_misspelt_change_is_noted() {
    let errors = |command: &str, side: &str, change: &str| {
        let pool = pool(&format!("misspelt-{command}-{}", change.len()));
        let output = run(&[command, side, &pool, "--what-if", change], queue().as_bytes());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    for (command, side) in [("explain", "--pool"), ("match", "--pool")] {
        let found = errors(command, side, "RequsetMemory=1");
        assert!(found.contains("no request has the attribute RequsetMemory; did you mean RequestMemory?"), "{found}");
        let found = errors(command, side, "offer.Memroy=1");
        assert!(found.contains("no offer has the attribute Memroy; did you mean Memory?"), "{found}");
        let found = errors(command, side, "WantGlidein=true");
        assert!(!found.contains("WantGlidein"), "{found}");
    }
}

#[test]
fn who_gains_and_who_loses_by_a_change() {
    let (text, _) = explained("gain", &["--what-if", "RequestMemory=RequestMemory/20", "--summary"]);
    assert!(
        text.starts_with(
            "3 jobs gain a match: 7.1, 7.2 and 7.3; no job loses one\n\n6 jobs: 4 match, 1 matches nothing; 1 is held\n"
        ),
        "{text}"
    );
    let (text, _) = explained("lose", &["--what-if", "offer.Memory=500", "--summary"]);
    assert!(
        text.starts_with("no job gains a match; 1 job loses a match: 7.0\n\n6 jobs: none matches; 1 is held\n"),
        "{text}"
    );
    let document: Json =
        serde_json::from_str(&explained("gain-json", &["--what-if", "RequestMemory=1", "-o", "json"]).0).unwrap();
    assert_eq!(document["totals"]["what_if"]["gaining"], Json::from(vec!["7.1", "7.2", "7.3"]));
}

#[test]
fn slots_are_grouped_by_cause_and_chosen_by_htcondors_words() {
    let pool = pool("words");
    let jobs = file("queue-jobs", queue());
    let words = |more: &[&str]| {
        let arguments = [&["query", "-better-analyze:summary", "-jobads", &jobs, "-slotads", &pool], more].concat();
        let output = run(&arguments, b"");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(errors.lines().all(|line| line.starts_with("note: ")), "{more:?}: {errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(words(&[]).starts_with("6 jobs: 1 matches, 4 match nothing; 1 is held\n"));
    for (chosen, largest) in
        [(&["-machine", "slot2@m"][..], "2"), (&["-mconstraint", "Memory < 3000"], "2"), (&["-machine", "m"], "3.9")]
    {
        let text = words(chosen);
        let text: Vec<&str> = text.split_whitespace().collect();
        let text = text.join(" ");
        assert!(text.contains(&format!("(at most {largest} ")), "{chosen:?}: {text}");
    }
    let unmatchable = run(&["explain", "-unmatchable", "-jobads", &jobs, "-slotads", &pool], b"");
    let text = String::from_utf8_lossy(&unmatchable.stdout).into_owned();
    assert!(text.starts_with("4 jobs: none matches\n") && !text.contains("held"), "{text}");
    let reverse = words(&["-reverse"]);
    assert!(reverse.starts_with("2 slots: all match\n"), "{reverse}");
}
