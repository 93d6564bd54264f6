//! Cycles that follow each other: `negotiate --cycles`.

use super::binary::{classad, file};

const SLOTS: &str = "MyType = \"Machine\"\nName = \"slot1@a\"\nSlotID = 1\nCpus = 2\nMemory = 4000\nDisk = 100000\n\
    SlotWeight = Cpus\nPartitionableSlot = true\nSlotType = \"Partitionable\"\nState = \"Unclaimed\"\nActivity = \"Idle\"\n\
    Rank = 0.0\nCurrentRank = 0.0\nRequirements = START\nSTART = true\n";

/// Returns the text of a job.
fn job(number: usize, user: &str, more: &str) -> String {
    format!(
        "MyType = \"Job\"\nClusterId = {number}\nProcId = 0\nJobStatus = 1\nJobUniverse = 5\nOwner = \"{user}\"\n\
         User = \"{user}@x\"\nRequirements = TARGET.Cpus >= RequestCpus\nRequestCpus = 1\nRequestMemory = 128\n\
         RequestDisk = 1024\n{more}\n"
    )
}

fn run(jobs: &str, more: &[&str]) -> (Option<i32>, String, String) {
    // Tests run at the same time, each with jobs of its own.
    let test = std::thread::current().name().unwrap_or_default().replace("::", "-");
    let (jobs, slots) = (file(&format!("{test}.long"), jobs), file("cycles-slots.long", SLOTS));
    let arguments = ["negotiate", &jobs, "--pool", &slots, "--policy", "htcondor"];
    classad(&[&arguments[..], more].concat())
}

#[test]
fn the_configuration_sets_the_times() {
    let config = |text: &str| file("cycles.dump", text);
    let jobs = [job(1, "ann", ""), job(2, "ann", "RequestCpus = 2")].join("\n");
    let of_cycles =
        ["--cycles", "2", "--run-time", "90", "--now", "1000", "--starts", "-o", "tsv", "--no-header", "--config"];
    let times =
        |out: &str| out.lines().map(|line| line.split('\t').nth(1).unwrap_or_default().to_owned()).collect::<Vec<_>>();
    for (text, expected) in [
        ("NEGOTIATOR_INTERVAL = 300\n", &["1000", "1300"][..]),
        ("NEGOTIATOR_INTERVAL = 1 * 90\n", &["1000", "1090"]),
        ("PRIORITY_HALFLIFE = 60\n", &["1000"]),
    ] {
        let (_, out, errors) = run(&jobs, &[&of_cycles[..], &[&config(text)]].concat());
        assert_eq!(times(&out), expected, "{text}: {errors}");
    }
    for text in [
        "NEGOTIATOR_INTERVAL = 0\n",
        "NEGOTIATOR_INTERVAL = -5\n",
        "NEGOTIATOR_INTERVAL = often\n",
        "PRIORITY_HALFLIFE = 0\n",
    ] {
        let (status, out, errors) = run(&jobs, &[&of_cycles[..], &[&config(text)]].concat());
        let name = text.split(' ').next().unwrap_or_default();
        assert!(status == Some(2) && out.is_empty() && errors.contains(&format!("{name} must be")), "{text}: {errors}");
    }
}

/// Of the 20 jobs of this pool, 12 run in the beginning. Each of them ends, also that of a submitter of whom nothing waits.
#[test]
fn jobs_that_run_in_a_real_pool_end_and_others_follow() {
    let folder = "tests/pool/cycles/R11b";
    let [jobs, slots] = ["jobs", "slots"].map(|name| format!("{folder}/{name}.long.gz"));
    let pool = ["negotiate", "--pool", &slots, "--policy", "htcondor", "--now", "1795815814", "--cycles", "60"];
    let rows = ["--starts", "-o", "tsv", "--no-header", "--run-time", "600"];
    for (more, expected) in [
        (&[jobs.as_str()][..], "8 starts, 3 of them in claims of ended jobs, 20 ended; in the end, 0 run and 0 wait"),
        // Without the jobs, the slots tell what runs.
        (&["/dev/null"], "0 starts, 12 ended; in the end, 0 run"),
        (&[&jobs, "--all-states"], "20 ended; in the end, 0 run and 0 wait"),
    ] {
        let (_, _, errors) = classad(&[&pool[..], &rows, more].concat());
        assert!(errors.contains(expected), "{more:?}: {errors}");
    }
}

/// Simulates two cycles of a pool in which jobs start in claims whose jobs have ended, with the run times that they had. Compares
/// where and when jobs start: a real job starts some seconds late. Returns the numbers of starts, and of those in such claims.
fn compare_claims(kind: &str) -> [usize; 2] {
    let (folder, history) =
        (format!("tests/pool/starts/claims-{kind}"), format!("tests/pool/starts/claims-{kind}-history.gz"));
    let (_, jobs, errors) = classad(&["query", "true", &history, "-o", "long"]);
    assert!(errors.is_empty(), "{errors}");
    let waiting = jobs
        .replace("JobStatus = 4\n", "JobStatus = 1\n")
        .replace("JobStatus = 3\n", "JobStatus = 1\nWasRemoved = true\n");
    let waiting = file(&format!("claims-{kind}.long"), waiting);
    let now = std::fs::read_to_string(format!("{folder}/now")).expect("it is there");
    let [slots, accounts, config] =
        ["slots.long.gz", "userprio.long", "config.dump"].map(|name| format!("{folder}/{name}"));
    let pool =
        ["negotiate", &waiting, "--pool", &slots, "--userprio", &accounts, "--config", &config, "--now", now.trim()];
    let run_time = "(WasRemoved ?: false) ? 100 : RemoteWallClockTime";
    let cycles = ["--policy", "htcondor", "--cycles", "2", "--interval", "60", "--run-time", run_time];
    let rows = ["--starts", "-o", "tsv", "--no-header"];
    let (_, out, errors) = classad(&[&pool[..], &cycles, &rows].concat());
    let predicted: Vec<Vec<&str>> = out.lines().map(|line| line.split('\t').collect()).collect();
    let columns = "strcat(ClusterId, \".\", ProcId),JobStartDate ?: 0,LastRemoteHost ?: RemoteHost ?: \"\"";
    let (_, real, _) = classad(&["query", "JobStartDate > 0", &history, "--af", columns, "-o", "tsv", "--no-header"]);
    let seconds = |text: &str| text.parse::<i64>().expect("a time");
    for line in real.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let row = predicted.iter().find(|row| row[2] == cells[0]);
        let row = row.unwrap_or_else(|| panic!("{line}: no start in\n{out}{errors}"));
        let late = seconds(cells[1]) - seconds(row[1]);
        assert!(row[3] == cells[2] && (-2..=6).contains(&late), "{line}: {row:?}");
    }
    assert_eq!(real.lines().count(), predicted.len(), "{real}{out}");
    [predicted.len(), predicted.iter().filter(|row| row.contains(&"reused")).count()]
}

#[test]
fn kept_claims_are_those_of_a_real_pool() {
    assert_eq!(compare_claims("static"), [30, 11]);
    assert_eq!(compare_claims("partitionable"), [7, 2]);
}

#[test]
fn a_history_is_negotiated_again() {
    let old = |number, more: &str| job(number, "ann", more).replace("JobStatus = 1", "JobStatus = 4");
    let history = [
        old(1, "QDate = 1000\nJobStartDate = 1500\nCompletionDate = 1590\nRemoteWallClockTime = 90.0"),
        old(2, "QDate = 1200\nJobStartDate = 1500\nCompletionDate = 1530\nRequestCpus = 2"),
        old(3, "QDate = 1100\nEnteredCurrentStatus = 1190").replace("JobStatus = 4", "JobStatus = 3"),
        old(4, "QDate = 1000\nJobUniverse = 7\nJobStartDate = 1000\nRemoteWallClockTime = 5.0"),
    ];
    let (history, slots) = (file("cycles.history", history.join("\n")), file("cycles-history-slots.long", SLOTS));
    let arguments =
        ["negotiate", "--from-history", &history, "--pool", &slots, "--policy", "htcondor", "--cycles", "6"];
    let (status, out, errors) = classad(&[&arguments[..], &["--starts", "-o", "tsv", "--no-header"]].concat());
    assert_eq!(status, Some(0), "{errors}");
    let started = |out: &str| {
        let cells = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<_>>();
        out.lines().map(cells).map(|cells| format!("{} {} {}", cells[1], cells[2], cells[8])).collect::<Vec<_>>()
    };
    assert_eq!(started(&out), ["1000 1.0 1090", "1240 2.0 1270"]);
    assert!(errors.contains("of a universe that needs no slot") && errors.contains("never ran"), "{errors}");
    // With a run time, the job that never ran takes part.
    let more = ["--starts", "-o", "tsv", "--no-header", "--run-time", "30"];
    let (_, out, errors) = classad(&[&arguments[..], &more].concat());
    assert_eq!(started(&out), ["1000 1.0 1030", "1120 3.0 1150", "1240 2.0 1270"], "{errors}");
}

#[test]
fn policies_of_jobs_and_of_the_configuration_are_told() {
    let jobs = [
        job(1, "ann", "PeriodicHold = Bad + NumJobStarts > 1\nPeriodicHoldReason = strcat(\"bad \", Bad)\nBad = 2"),
        job(2, "ann", "OnExitRemove = Final\nFinal = false"),
        job(3, "ann", "RequestCpus = 64\nNumJobMatches = 7"),
        job(4, "ann", "HoldReasonCode = 13\nPeriodicRelease = HoldReasonCode == 13")
            .replace("Status = 1", "Status = 5"),
    ];
    let text = "X = 1\nSYSTEM_PERIODIC_REMOVE = NumJobMatches > 5\nSYSTEM_PERIODIC_REMOVE_REASON = \"often\"\n";
    let config = file("cycles-policies.dump", text);
    let of_cycles = ["--cycles", "4", "--run-time", "90", "--now", "1000", "--config", &config];
    let (status, _, errors) = run(&jobs.join("\n"), &of_cycles);
    for expected in [
        "PeriodicHold holds 1.0 at 1970-01-01T00:17:40Z: bad 2\n",
        "SYSTEM_PERIODIC_REMOVE (line 2) removes 3.0 at 1970-01-01T00:17:40Z: often\n",
        "PeriodicRelease releases 4.0 at 1970-01-01T00:17:40Z\n",
        "OnExitRemove requeues 2.0 at 1970-01-01T00:18:10Z\n",
        ", 1 held",
    ] {
        assert!(status == Some(0) && errors.contains(expected), "{expected}: {errors}");
    }
    // Without an interval, policies count only when a run ends.
    let config = file("cycles-no-policies.dump", format!("{text}PERIODIC_EXPR_INTERVAL = 0\n"));
    let of_cycles = ["--cycles", "4", "--run-time", "90", "--now", "1000", "--config", &config];
    let (_, _, errors) = run(&jobs.join("\n"), &of_cycles);
    assert!(
        !errors.contains("SYSTEM_PERIODIC_REMOVE (")
            && errors.contains("PeriodicHold holds 1.0 at 1970-01-01T00:18:10Z"),
        "{errors}"
    );
}

#[test]
fn what_makes_no_sense_is_refused_or_told() {
    let jobs = job(1, "ann", "QDate = 900");
    for (options, expected) in [
        (&["--cycles", "0"][..], "0 is not in 1.."),
        (&["--cycles", "-1"], "-1"),
        (&["--cycles", "9999999999"], "is not in 1.."),
        (&["--cycles", "2", "--interval", "0"], "0 is not in 1.."),
        (&["--cycles", "2", "--interval=-60"], "-60 is not in 1.."),
        (&["--interval", "60"], "--cycles"),
        (&["--cycles", "2", "--run-time", "1 +"], "--run-time"),
        (&["--cycles", "2", "--from-history", "x"], "cannot be used with"),
    ] {
        let (status, out, errors) = run(&jobs, options);
        assert!(status == Some(2) && out.is_empty() && errors.contains(expected), "{options:?}: {errors}");
    }
    for run_time in ["0 - 5", "Nothing", "\"long\"", "real(\"NaN\")"] {
        let (status, _, errors) = run(&jobs, &["--cycles", "2", "--run-time", run_time]);
        let told = errors.contains(&format!("1 run: `{run_time}` is not a number of at least 0"));
        assert!(status == Some(0) && told, "{run_time}: {errors}");
    }
    // A job that comes later than all cycles never starts.
    let (status, _, errors) = run(&jobs, &["--cycles", "2", "--now", "100"]);
    assert!(status == Some(1) && errors.contains("0 starts") && errors.contains("1 come later"), "{errors}");
}
