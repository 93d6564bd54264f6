//! The tables of HTCondor's tools, print formats, and names among HTCondor's words.

use std::fs;
use std::process::Command;

/// Writes a file of the test `name`.
fn file(name: &str, text: &str) -> String {
    let path = crate::binary::temporary().join(format!("condor-tables-{name}"));
    fs::write(&path, text).expect("it can be written");
    path.to_str().expect("it is text").to_owned()
}

/// What is printed, what is said of it, and the exit status.
fn run(arguments: &[&str]) -> (String, String, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_classad"));
    let command = command.arg("query").args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).env("TZ", "UTC");
    let output = command.output().expect("classad runs");
    let text = |bytes| String::from_utf8(bytes).expect("it is text");
    (text(output.stdout), text(output.stderr), output.status.code().expect("it ends by itself"))
}

fn printed(arguments: &[&str]) -> String {
    let (out, errors, status) = run(arguments);
    assert_eq!((errors.as_str(), status), ("", 0), "{arguments:?}");
    out
}

fn lines(arguments: &[&str]) -> Vec<String> {
    printed(arguments).lines().map(|line| line.trim_end().to_owned()).collect()
}

/// Jobs with large numbers and sizes; the second cluster has two jobs, of which one is done.
fn jobs() -> String {
    let job = |cluster: u32, process: u32, owner: &str, more: &str| {
        format!(
            "MyType = \"Job\"\nClusterId = {cluster}\nProcId = {process}\nOwner = \"{owner}\"\n\
             User = \"{owner}@example.org\"\nJobUniverse = 5\nQDate = 1795392000\nServerTime = 1795392299\n\
             Cmd = \"/bin/run\"\nRemoteUserCpu = 0.0\nJobPrio = 0\n{more}\n"
        )
    };
    [
        job(9, 0, "alice", "JobStatus = 2\nShadowBday = 1795392200\nImageSize = 126418944\nTotalSubmitProcs = 1\n"),
        job(123_456, 0, "bob", "JobStatus = 1\nImageSize = 10\nTotalSubmitProcs = 3\n"),
        job(123_456, 1000, "bob", "JobStatus = 5\nImageSize = 10\nTotalSubmitProcs = 3\n"),
    ]
    .concat()
}

#[test]
fn numbers_of_jobs_and_sizes_have_all_digits() {
    let jobs = file("digits", &jobs());
    assert_eq!(
        lines(&["-jobads", &jobs, "-nobatch"])[3..7],
        [
            " ID         OWNER            SUBMITTED     RUN_TIME ST PRI SIZE     CMD",
            "     9.0    alice          11/23 00:00   0+00:01:39 R  0   123456.0 run",
            "123456.0    bob            11/23 00:00   0+00:00:00 I  0        0.0 run",
            "123456.1000 bob            11/23 00:00   0+00:00:00 H  0        0.0 run",
        ]
    );
    assert_eq!(
        lines(&["-jobads", &jobs])[4..6],
        [
            "alice ID: 9       11/23 00:00      _      1      _      _      1 9.0",
            "bob   ID: 123456  11/23 00:00      1      _      1      1      3 123456.0-1000",
        ]
    );
    // Jobs that are left out are not done.
    let held = lines(&["-jobads", &jobs, "-batch", "-hold"]);
    assert_eq!(held[4], "bob      ID: 123456  11/23 00:00      _      _      _      1      3 123456.1000");
}

/// The nodes of a DAG are in its row, and jobs with the same name of a batch in one.
#[test]
fn rows_are_dags_and_batches() {
    let job = |cluster: u32, more: &str| {
        format!("MyType = \"Job\"\nClusterId = {cluster}\nProcId = 0\nOwner = \"ann\"\nQDate = 1795392000\n{more}\n\n")
    };
    let dag = "JobUniverse = 7\nJobStatus = 2\nJobBatchName = \"d.dag+5\"\nDAG_NodesTotal = 4\nDAG_NodesDone = 1";
    let jobs = [
        job(5, dag),
        job(6, "JobStatus = 1\nDAGManJobId = 5\nJobBatchName = \"d.dag+5\""),
        job(7, "JobStatus = 2\nJobBatchName = \"mine\""),
        job(8, "JobStatus = 1\nJobBatchName = \"mine\""),
    ];
    let jobs = file("dags", &jobs.concat());
    assert_eq!(
        lines(&["-jobads", &jobs])[4..6],
        [
            "ann      d.dag+5     11/23 00:00      1      _      1      4 6.0",
            "ann      mine        11/23 00:00      _      1      1      _ 7.0 ... 8.0",
        ]
    );
}

/// `-hold` begins as `-h` does, and is not a file either.
#[test]
fn held_jobs_alone_are_printed_for_hold() {
    let jobs = file("hold", &jobs());
    assert_eq!(lines(&["-jobads", &jobs, "-hold", "-af", "ProcId", "JobStatus"]), ["1000 5"]);
    assert_eq!(lines(&["-jobads", &jobs, "-held", "-af", "ProcId", "JobStatus"]), ["1000 5"]);
    // Neither is it an error that leaves a result behind, wherever it stands.
    for arguments in [["-jobads", &jobs, "-hold", "--count"], ["-hold", "-jobads", &jobs, "--count"]] {
        assert_eq!(run(&arguments), ("1\n".to_owned(), String::new(), 0), "{arguments:?}");
    }
}

#[test]
fn names_choose_jobs_and_slots() {
    let jobs = file("names", &jobs());
    let chosen = |names: &[&str]| lines(&[&["-jobads", &jobs][..], names, &["-af", "ClusterId"]].concat());
    assert_eq!(chosen(&["alice"]), ["9"]);
    assert_eq!(chosen(&["bob@example.org"]), ["123456", "123456"]);
    assert_eq!(chosen(&["alice", "123456.1000"]), ["9", "123456"]);
    assert_eq!(chosen(&["alice", "bob", "-constraint", "JobStatus == 1"]), ["123456"]);
    let (out, errors, status) = run(&["-jobads", &jobs, "eve", "-af", "Owner"]);
    assert_eq!((out.as_str(), status), ("", 1));
    assert!(errors.contains("`eve` is taken for the number or the owner of jobs"), "{errors}");
    let slots = "tests/pool/dumps/machines.long";
    let chosen = |names: &[&str]| lines(&[&["-ads", slots][..], names, &["-af", "Name"]].concat());
    assert_eq!(chosen(&["slot1@node2.pool.example"]), ["slot1@node2.pool.example"]);
    assert_eq!(chosen(&["slot1@node2"]), ["slot1@node2.pool.example"]);
    assert_eq!(chosen(&["node2"]).len(), 3);
    assert_eq!(chosen(&["node2.pool.example", "slot1@node4"]).len(), 4);
    assert_eq!(chosen(&["-claimed", "bob@pool.example"]), ["slot1_1@node3.pool.example"]);
    // A file that is there is a file, and an expression is one.
    assert_eq!(chosen(&[slots]).len(), 18);
    assert_eq!(chosen(&["Cpus > 8"]), ["slot1@node3.pool.example"]);
}

#[test]
fn words_that_exclude_each_other_are_refused() {
    let slots = "tests/pool/dumps/machines.long";
    for (arguments, told) in [
        (&["-jobads", slots, "-hold", "-run"][..], "give only one of -hold, -run and -idle"),
        (&["-ads", slots, "-state", "-schedd"], "-state and -schedd select different tables: give only one of them"),
        (&["-ads", slots, "-compact", "-state"], "-compact works only with the table of all slots"),
        (&["-ads", slots, "-hold", "-avail"], "-hold is for jobs and -avail is for slots: give only one of them"),
        (&["-ads", slots, "-pool", "cm.example.org"], "-pool asks a daemon"),
        (&["-jobads", slots, "-autocluster"], "`classad autocluster` groups jobs"),
        (
            &["-ads", slots, "-aaf", "Disk", "-af", "Name"],
            "-print-format and -aaf cannot be combined with -af, -format, -o",
        ),
        (&["-ads", slots, "-compact", "-aaf", "Disk"], "-aaf needs a table with a row for each ad"),
        (&["-ads", slots, "-stote"], "there is no option -stote; did you mean -state"),
        (&["-ads", slots, "-x"], "there is no option -x"),
        (&["-ads", slots, "-af", "Name", "-bogus"], "there is no option -bogus"),
        (&["-ads", slots, "-af:q", "Name"], "does not support the letter `q`"),
    ] {
        let (out, errors, status) = run(arguments);
        assert!(errors.contains(told), "{arguments:?}: {errors}");
        assert_eq!((out.as_str(), status), ("", 2), "{arguments:?}");
    }
}

#[test]
fn tables_need_no_file_and_no_type() {
    let jobs = jobs();
    let path = file("type", &jobs);
    // The ads say what they are.
    assert_eq!(printed(&["-ads", &path]), printed(&["-jobads", &path]));
    let totals = lines(&[&path, "-totals"]);
    let summary = "Total for query: 3 jobs; 0 completed, 0 removed, 1 idle, 1 running, 1 held, 0 suspended";
    assert_eq!(totals[3], summary);
    let slots = "tests/pool/dumps/machines.long";
    assert!(printed(&[slots, "-total"]).contains("X86_64/LINUX     9     1"));
    // Other forms of output print no table.
    assert_eq!(printed(&["-jobads", &path, "-long"]), printed(&["true", &path]));
    assert_eq!(printed(&["-jobads", &path, "-hold", "--count"]), "1\n");
    for threads in ["1", "4"] {
        let table = printed(&["-ads", slots, "-state", "--threads", threads]);
        assert_eq!(table, printed(&["-ads", slots, "-state"]));
    }
}

#[test]
fn orders_are_descending_and_natural() {
    let ads = file(
        "order",
        "Name = \"slot1_10@a\"\nMemory = 5\n\nName = \"slot1_2@a\"\nMemory = 5\n\nName = \"slot1_1@b\"\nMemory = 7\n\nMemory = 9\n",
    );
    let names = |arguments: &[&str]| lines(&[&["-ads", &ads][..], arguments, &["-af", "Name"]].concat());
    assert_eq!(names(&["-sort", "Name"]), ["slot1_1@b", "slot1_2@a", "slot1_10@a"]);
    assert_eq!(names(&["-sort", "-Name"]), ["slot1_10@a", "slot1_2@a", "slot1_1@b"]);
    assert_eq!(names(&["-sort", "Memory", "-sort", "-Name"]), ["slot1_10@a", "slot1_2@a", "slot1_1@b"]);
    assert_eq!(names(&["--sort", "-Memory", "--sort", "Name"]), ["undefined", "slot1_1@b", "slot1_2@a", "slot1_10@a"]);
    assert_eq!(names(&["-sort", "no"]), ["slot1_10@a", "slot1_2@a", "slot1_1@b", "undefined"]);
    // `true` in front of the file is the constraint, not another file.
    assert_eq!(lines(&["true", &ads, "-sort", "Name", "-af", "Name"]), ["slot1_1@b", "slot1_2@a", "slot1_10@a"]);
    // Nobody has written the name State, which -run reads in slots.
    let notes = run(&["-jobads", "samples/pool/jobs.long", "-run", "-af", "Owner"]).1;
    assert!(!notes.contains("attribute State"), "{notes}");
    // Only -sort leaves out what has no value.
    assert_eq!(names(&["--sort", "Name"]).len(), 4);
}

#[test]
fn times_and_appended_columns_are_printed() {
    let jobs = file("times", &jobs());
    assert_eq!(lines(&["-jobads", &jobs, "9", "-af:T", "3661", "ServerTime-QDate"]), ["  0+01:01:01   0+00:04:59"]);
    assert_eq!(lines(&["-jobads", &jobs, "9", "-af:lY", "QDate"]), ["QDate = 11/23 00:00"]);
    assert_eq!(lines(&["-jobads", &jobs, "9", "-format", "%T\\n", "90000"]), ["  1+01:00:00"]);
    let table = lines(&["-jobads", &jobs, "-hold", "-aaf:V", "Owner", "-aaf:Y", "QDate"]);
    assert!(table[3].ends_with("HOLD_REASON Owner QDate"), "{table:?}");
    assert!(table[4].ends_with("undefined   \"bob\" 11/23 00:00"), "{table:?}");
}

#[test]
fn print_formats_describe_tables() {
    let jobs = file("format-jobs", &jobs());
    let format = |name: &str, text: &str| file(&format!("format-{name}"), text);
    let table = |name: &str, text: &str| lines(&["-jobads", &jobs, "-print-format", &format(name, text)]);
    let text = "# sizes\nSELECT NOTITLE\n  strcat(Owner, \
                \"!\") AS 'Who is it' WIDTH -6 TRUNCATE\n  ClusterId AS N WIDTH 8\n  RequestMemory AS MB \\\n    PRINTF %d OR ??\n\
                WHERE ProcId == 0\nGROUP BY ClusterId DESCENDING\nSUMMARY NONE\n";
    assert_eq!(table("columns", text), ["Who is it N        MB", "bob!     123456 ?", "alice!        9 ?"]);
    let text = "SELECT BARE LABEL SEPARATOR ': ' FIELDSUFFIX ';' RECORDPREFIX '- '\nOwner\nJobStatus AS st PRINTAS JOB_STATUS\n\
                GROUP BY\n Owner DESCENDING\n ProcId\n";
    assert_eq!(table("labels", text), ["- Owner: bob  ; st: I", "- Owner: bob  ; st: H", "- Owner: alice; st: R"]);
    let wide = file(
        "format-wide-jobs",
        &format!("MyType = \"Job\"\nClusterId = 1\nProcId = 0\nWide = \"{}\"\n", "w".repeat(70_000)),
    );
    let text = "SELECT NOTITLE\nWide WIDTH AUTO\nClusterId AS N\nSUMMARY NONE\n";
    let rows = lines(&["-jobads", &wide, "-print-format", &format("wide", text)]);
    assert!(rows.len() == 2 && rows[1].starts_with("wwww") && rows[1].len() > 70_000, "{}", rows.len());
    let text = "SELECT NOTITLE NOHEADER\nSUMMARY\n Jobs AS Jobs PRINTF '%d in all,'\n Held PRINTF '%d held'\n";
    assert_eq!(table("summary", text), ["", "3 in all, 1 held", ""]);
}

#[test]
fn mistakes_in_print_formats_have_places_and_hints() {
    for (text, told) in [
        ("Owner\n", &["a print format begins with SELECT", ":1:1"][..]),
        ("SELECT\n Owner PRINTAS JOB_STAT\n", &["there is no function JOB_STAT", ":2:16", "JOB_STATUS"]),
        ("SELECT\n\n Owner AS X WIDHT 8\n", &["unknown keyword `WIDHT` in a column", ":3:13", "WIDTH"]),
        ("SELECT\n Owner as X\n", &["write keywords in capitals: AS", ":2:"]),
        ("SELECT\n Owner AS 'X WIDTH 3\n", &["the closing quote is missing", ":2:11"]),
        ("SELECT\n Owner WIDTH wide\n", &["the width `wide` is not valid", ":2:14"]),
        ("SELECT\n Owner WIDTH 99999\n", &["the width `99999` is not valid", "up to 4096"]),
        ("SELECT\n Owner PRINTF '%k'\n", &["the conversion `%k` is not supported", ":2:15"]),
        ("SELECT\n Owner OR !\n", &["OR does not support `!`", ":2:11"]),
        ("SELECT\n Owner AS\n", &["AS needs a heading", ":2:8"]),
        ("SELECT NOTITEL\n Owner\n", &["unknown keyword `NOTITEL` after SELECT", ":1:8", "NOTITLE"]),
        ("SELECT FROM AUTOCLUSTER\n Owner\n", &["only an access point can group jobs", "classad autocluster"]),
        ("SELECT\n 1 +\nWHERE a ==\nGROUP BY )\nSUMMARY ALL\n", &[":2:", ":3:", ":4:", ":5:9", "STANDARD"]),
        ("", &["the print format has no SELECT"]),
    ] {
        let path = file("mistake", text);
        let (out, errors, status) = run(&["-jobads", "samples/pool/jobs.long", "-print-format", &path]);
        assert!(told.iter().all(|part| errors.contains(part)), "{text}: {errors}");
        assert_eq!((out.as_str(), status), ("", 2), "{text}");
    }
    let (_, errors, status) = run(&["-jobads", "samples/pool/jobs.long", "-pr", "no-such-file"]);
    assert!(errors.contains("no-such-file") && status == 2, "{errors}");
}

/// Ads of daemons are no machines, and have no rows in the table of machines.
#[test]
fn the_table_of_machines_has_no_daemons() {
    let slot = |kind: &str, name: &str| {
        format!(
            "{kind}Name = \"slot1@{name}\"\nMachine = \"{name}\"\nPartitionableSlot = true\nCpus = 1\nMemory = 1\n\n"
        )
    };
    let daemon = "MyType = \"Scheduler\"\nName = \"sched\"\nOpSysAndVer = \"CentOS9\"\n\n";
    let ads = file("daemons.ads", &(slot("MyType = \"Machine\"\n", "m1") + daemon + &slot("", "m2")));
    let rows = lines(&["-ads", &ads, "-compact"]);
    let first_words: Vec<&str> = rows.iter().filter_map(|row| row.split_whitespace().next()).take(3).collect();
    assert_eq!(first_words, ["Machine", "m1", "m2"], "{rows:?}");
    assert!(!rows.iter().any(|row| row.contains("undefined") || row.contains("CentOS9")), "{rows:?}");
}

/// What `condor_status` and `condor_q` of HTCondor 25.14.1 print with print formats: `tests/pool/print-formats/run` asks them. Left
/// out are columns without a width for values whose widths differ on purpose: see `print_mask`.
#[test]
fn print_formats_are_those_of_htcondor() {
    let folder = "tests/pool/print-formats";
    let answers = fs::read_to_string(format!("{folder}/answers")).expect("it is there");
    let mut count = 0;
    for block in answers.split("== format\n").skip(1) {
        let (text, rest) = block.split_once("== condor_status\n").expect("an answer of condor_status");
        let (of_slots, of_jobs) = rest.split_once("== condor_q\n").expect("an answer of condor_q");
        let path = file("recorded-format", text);
        for (option, ads, expected) in [("-ads", "slots", of_slots), ("-jobads", "jobs", of_jobs)] {
            let out = printed(&[option, &format!("{folder}/{ads}.long"), "-print-format", &path]);
            assert_eq!(out, expected, "{option}: {text}");
        }
        count += 1;
    }
    assert!(count >= 60, "{count}");
}
