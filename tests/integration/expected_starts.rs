//! `explain --when-start`: what it forecasts beside the starts in a real pool (`tests/pool/starts`), and its words.

use std::collections::BTreeMap;

use super::binary::{classad, file};

/// The number of a job, as rows name it.
const JOB_ID: &str = "strcat(ClusterId, \".\", ProcId)";

/// Starts that were forecast.
#[derive(Debug, Default)]
struct ForecastScore {
    starts: usize,
    inside: usize,
    /// Those without a latest time.
    open: usize,
}

/// Compares the forecast at a moment with what happened. The forecast knows nothing of what ended later.
fn compare(kind: &str, moment: usize, score: &mut ForecastScore) {
    let folder = format!("tests/pool/starts/{kind}-{moment}");
    let history = format!("tests/pool/starts/{kind}-history.gz");
    let now = std::fs::read_to_string(format!("{folder}/now")).expect("it is there");
    let now = now.trim();
    let (_, before, _) = classad(&["query", &format!("CompletionDate < {now}"), &history, "-o", "long"]);
    let before = file(&format!("starts-{kind}-{moment}.long"), before);
    let columns = format!("{JOB_ID},JobStartDate");
    let (_, real, _) = classad(&["query", "true", &history, "--af", &columns, "-o", "tsv", "--no-header"]);
    let real: BTreeMap<&str, i64> = real
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .filter_map(|(job, at)| Some((job, at.parse().ok()?)))
        .collect();
    let [jobs, slots] = ["jobs", "slots"].map(|name| format!("{folder}/{name}.long.gz"));
    let [accounts, config] = ["userprio.long", "config.dump"].map(|name| format!("{folder}/{name}"));
    let arguments = ["explain", &jobs, "--pool", &slots, "--userprio", &accounts, "--config", &config, "--now", now];
    let options = ["--when-start", "--from-history", &before, "-o", "tsv", "--no-header"];
    let (status, out, errors) = classad(&[&arguments[..], &options].concat());
    assert_eq!(status, Some(0), "{folder}: {errors}");
    let mut own = ForecastScore::default();
    for line in out.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let started = real[cells[0]];
        let [earliest, latest] = [cells[2], cells[3]].map(|cell| cell.parse::<i64>().ok());
        own.starts += 1;
        own.open += usize::from(latest.is_none());
        own.inside += usize::from(earliest.is_some_and(|at| at <= started) && latest.is_none_or(|at| started <= at));
    }
    println!("{folder}: {} of {} starts lie inside, {} without an end", own.inside, own.starts, own.open);
    *score = ForecastScore {
        starts: score.starts + own.starts,
        inside: score.inside + own.inside,
        open: score.open + own.open,
    };
}

#[test]
fn most_starts_of_a_real_pool_are_in_their_intervals() {
    let mut score = ForecastScore::default();
    for (kind, moment) in [("static", 1), ("static", 2), ("partitionable", 1), ("partitionable", 2)] {
        compare(kind, moment, &mut score);
    }
    println!("{score:?}");
    let ForecastScore { starts, inside, open } = score;
    assert!(starts >= 500 && inside * 100 >= starts * 80 && open * 100 <= starts * 5, "{score:?}");
}

/// Three slots, two of which are claimed for ann since the time 1000.
fn slots() -> String {
    let slot = |number: usize, more: &str| {
        format!(
            "MyType = \"Machine\"\nName = \"slot{number}@a\"\nSlotID = {number}\nCpus = 1\nMemory = 4000\nDisk = 100000\n\
             SlotWeight = Cpus\nSlotType = \"Static\"\nRank = 0.0\nCurrentRank = 0.0\nRequirements = START\n{more}\n"
        )
    };
    let claimed = |job: usize| {
        format!(
            "START = true\nState = \"Claimed\"\nActivity = \"Busy\"\nRemoteUser = \"ann@x\"\nRemoteOwner = \"ann@x\"\n\
             JobId = \"{job}.0\"\nJobStart = 1000\nEnteredCurrentState = 1000\nEnteredCurrentActivity = 1000\n"
        )
    };
    [slot(1, &claimed(1)), slot(2, &claimed(2))].join("\n")
}

fn job(number: usize, user: &str, more: &str) -> String {
    let given = ["JobStatus = 1", "RequestCpus = 1", "QDate = 900"];
    let is_missing = |line: &&str| !more.contains(line.split('=').next().unwrap_or_default());
    let defaults: Vec<&str> = given.into_iter().filter(is_missing).chain([more]).collect();
    let more = defaults.join("\n");
    format!(
        "MyType = \"Job\"\nClusterId = {number}\nProcId = 0\nJobUniverse = 5\nOwner = \"{user}\"\nUser = \"{user}@x\"\n\
         Cmd = \"/bin/{user}\"\nRequirements = TARGET.Cpus >= RequestCpus\nRequestMemory = 128\nRequestDisk = 1024\n\
         {more}\n"
    )
}

fn queue() -> String {
    let running = |slot: usize| format!("JobStatus = 2\nJobCurrentStartDate = 1000\nRemoteHost = \"slot{slot}@a\"");
    [
        job(1, "ann", &running(1)),
        job(2, "ann", &running(2)),
        job(3, "bob", "JobPrio = 5"),
        job(4, "bob", ""),
        job(5, "bob", ""),
        job(6, "bob", "JobStatus = 5\nHoldReason = \"by hand\""),
        job(7, "bob", "RequestCpus = 2"),
        job(8, "cid", "AcctGroup = \"none\"\nAccountingGroup = \"none.cid\""),
        job(9, "dan", "QDate = 700000"),
    ]
    .join("\n")
}

/// Runs at the time 1060, with cycles every 100 seconds.
fn run(more: &[&str]) -> (Option<i32>, String, String) {
    let (jobs, slots) = (file("when-jobs.long", queue()), file("when-slots.long", slots()));
    let config = "NEGOTIATOR_INTERVAL = 100\nGROUP_NAMES = none\nGROUP_QUOTA_none = 0\nGROUP_ACCEPT_SURPLUS = False\n";
    let config = file("when.dump", config);
    let arguments = ["explain", &jobs, "--pool", &slots, "--config", &config, "--now", "1060", "--when-start"];
    classad(&[&arguments[..], more].concat())
}

#[test]
fn each_waiting_job_has_an_interval_or_a_reason() {
    // The jobs of ann end at 1600, between the cycles at 1560 and 1660.
    for (job, expected) in [
        (
            "3.0",
            "3.0 is expected to start between 00:26:00 and 00:29:20 UTC (8 to 12 minutes from now); nothing starts before it\n",
        ),
        (
            "4.0",
            "4.0 is expected to start between 00:26:00 and 00:29:20 UTC (8 to 12 minutes from now); 1 job of bob (1 core) starts \
             before it\n",
        ),
        (
            "5.0",
            "5.0 is expected to start between 00:36:00 and 00:39:20 UTC (18 to 22 minutes from now); 2 jobs of bob (2 cores) start \
             before it\n",
        ),
        ("6.0", "6.0 is held: by hand"),
        ("7.0", "7.0 matches none of 2 slots"),
        ("8.0", "8.0 never starts: the group none has used 0 of its quota of 0"),
        ("1.0", "1.0 is running in slot1@a, and waits for no slot"),
    ] {
        let (status, out, errors) = run(&["--run-time", "600", "--request", job]);
        assert!(out.starts_with(expected), "{job}: {out}{errors}");
        assert_eq!(status, Some(i32::from(!out.contains("is expected to start"))), "{job}: {out}{errors}");
    }
    // A job that runs for ever keeps its slot.
    let (status, out, errors) = run(&["--run-time", "1000000", "--request", "3.0"]);
    assert!(
        status == Some(1)
            && out.starts_with(
                "3.0 is not expected to start within 7 days; nothing starts before it; the group <none> has used 2"
            ),
        "{out}"
    );
    assert!(errors.is_empty(), "{errors}");
    let (_, _, errors) = run(&["--run-time", "Nothing", "--request", "3.0"]);
    assert!(errors.contains("2 runs: `Nothing` is not a number of at least 0"), "{errors}");
}

#[test]
fn rows_are_of_jobs_and_the_history_is_told() {
    let (_, out, errors) = run(&["--run-time", "600", "-o", "tsv", "--no-header"]);
    let rows: Vec<Vec<&str>> = out.lines().map(|line| line.split('\t').take(6).collect()).collect();
    let expected = [
        ["3.0", "limited", "1560", "1760", "0", "0"],
        ["4.0", "limited", "1560", "1760", "1", "1"],
        ["5.0", "limited", "2160", "2360", "2", "2"],
        ["7.0", "unsatisfied-clause", "", "", "", ""],
    ];
    assert_eq!(rows[..4], expected.map(|row| row.to_vec()), "{errors}");
    let old = |number: usize, seconds: usize| {
        let more = format!("JobStatus = 4\nRemoteWallClockTime = {seconds}.0\nQDate = 100\nCompletionDate = 900");
        job(100 + number, "ann", &more)
    };
    let history: Vec<String> = (1..=10).map(|number| old(number, number * 100)).collect();
    let history = file("when.history", history.join("\n"));
    let (_, out, errors) = run(&["--from-history", &history, "--request", "3.0"]);
    // The runs of ann beyond 60 seconds end between 1100 and 1900. If her jobs come again, they have her claims for 1200 seconds:
    // those of 500 seconds, the median, until 2500, before the cycle at 2560.
    let expected =
        "3.0 is expected to start between 00:17 and 00:44 UTC (within 27 minutes); nothing starts before it\n";
    assert!(out.starts_with(expected), "{out}{errors}");
    let basis =
        "run times: of 2 jobs by 10 runs of the same owner and command and of 6 jobs by 10 runs of all owners\n";
    assert!(out.ends_with(basis), "{out}{errors}");
    let empty = file("when-empty.history", "MyType = \"Job\"\nJobStatus = 3\n");
    for (more, expected) in [
        (&[][..], "--when-start needs run times"),
        (&["--from-history", &empty], "there is no completed run in"),
        (&["--run-time", "1 +"], "--run-time"),
        (&["--run-time", "1", "--from-history", &history], "cannot be used with"),
        (&["--run-time", "1", "--reverse"], "cannot be used with"),
        (&["--run-time", "1", "--share", "1/2", "--partial", "x"], "--share and --when-start cannot be combined"),
    ] {
        let (status, out, errors) = run(more);
        assert!(status == Some(2) && out.is_empty() && errors.contains(expected), "{more:?}: {errors}");
    }
}

#[test]
fn a_file_of_priorities_without_the_submitters_is_told() {
    let (jobs, slots) = (file("when-jobs.long", queue()), file("when-slots.long", slots()));
    let arguments = ["explain", &jobs, "--pool", &slots, "--now", "1060"];
    for (name, expected) in [("bob@x", None), ("bob@y", Some("; the file has bob@y")), ("zoe@z", Some(""))] {
        let accounts =
            file("when.userprio", format!("Name1 = \"{name}\"\nPriority1 = 500.0\nPriorityFactor1 = 1000.0\n"));
        for options in [&["--unmatched"][..], &["--when-start", "--run-time", "60"]] {
            let (_, _, errors) = classad(&[&arguments[..], options, &["--userprio", &accounts]].concat());
            let note =
                expected.map(|more| format!("names none of the submitters of these requests, such as bob@x{more}\n"));
            assert_eq!(note.is_some(), errors.contains("names none of"), "{name} {options:?}: {errors}");
            assert!(note.is_none_or(|note| errors.contains(&note)), "{name} {options:?}: {errors}");
        }
    }
}
