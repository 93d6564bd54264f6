//! History files as HTCondor 23.9.6 wrote them, and what it prints of jobs when they are submitted.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use super::binary::{file, run};

/// Exit status, standard output and standard error of `classad` with these arguments and this standard input.
fn classad(arguments: &[&str], input: &str) -> (Option<i32>, String, String) {
    let output = run(arguments, input.as_bytes());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The files of one history, the newest first.
const FILES: [&str; 3] = [
    "tests/cases/history/history",
    "tests/cases/history/history.20261122T233537",
    "tests/cases/history/history.20261122T233539",
];

/// The jobs of the files, the oldest first.
const JOBS: [&str; 6] = ["34.0", "34.1", "38.6", "38.7", "40.7", "40.5"];

/// The lines of a history file without its banners, as `condor_history -long` prints the records: with a blank line
/// behind each.
fn as_condor_history_prints_it(file: &str) -> String {
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(|line| if line.starts_with("***") { "\n".to_owned() } else { format!("{line}\n") }).collect()
}

/// Removes white space. The printer of a newer HTCondor puts it at other places than 23.9.6 did.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() || *c == '\n').collect()
}

#[test]
fn records_are_read_as_condor_history_prints_them() {
    for file in FILES {
        let expected = squeezed(&as_condor_history_prints_it(file));
        for strict in [&[][..], &["--strict-input"]] {
            let (status, ads, errors) = classad(&[&["query", "true", file, "-o", "long"], strict].concat(), "");
            assert_eq!((status, &*squeezed(&ads), &*errors), (Some(0), &*expected, ""));
        }
    }
}

#[test]
fn a_set_of_files_is_in_the_order_of_time() {
    let jobs = |options: &[&str]| {
        let mut arguments = vec!["query", "true"];
        arguments.extend(FILES);
        arguments.extend(["--af", "strcat(ClusterId, \".\", ProcId)"]);
        arguments.extend(options);
        let (_, rows, errors) = classad(&arguments, "");
        assert_eq!(errors, "");
        rows.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let newest: Vec<&str> = JOBS.into_iter().rev().collect();
    assert_eq!(jobs(&[]), JOBS);
    assert_eq!(jobs(&["--newest"]), newest);
    assert_eq!(jobs(&["--newest", "--limit", "3"]), newest[..3]);
    assert_eq!(jobs(&["-backwards", "-limit", "3"]), newest[..3]);
    // The job itself is not printed.
    assert_eq!(jobs(&["--since", newest[4]]), newest[..4]);
    assert_eq!(jobs(&["-since", newest[4]]), newest[..4]);
    let cluster = newest[4].split('.').next().unwrap();
    let until = newest.iter().position(|job| job.split('.').next() == Some(cluster)).unwrap();
    assert_eq!(jobs(&["--since", cluster]), newest[..until]);
    assert_eq!(jobs(&["--since", "CompletionDate <= 1"]), newest);
    // For HTCondor, a backslash in a string is an ordinary character.
    assert_eq!(jobs(&["-since", r#"size("a\tb") != 4"#]), newest);
    assert_eq!(jobs(&["-since", r#"size("a\tb") == 4"#]), [""; 0]);
    assert_eq!(jobs(&["--completed-since", "9999999999"]), [""; 0]);
    assert_eq!(jobs(&["--completed-since", "1"]), newest);
    let (status, _, errors) = classad(&["query", "true", FILES[0], "--since", "1.x"], "");
    assert_eq!(status, Some(2), "{errors}");
}

#[test]
fn banners_give_what_the_records_lack() {
    let epochs = "tests/cases/history/epochs";
    let (_, rows, errors) =
        classad(&["query", "RecordType == \"EPOCH\"", epochs, "--af", "RunInstanceId,RecordType"], "");
    assert_eq!((&*rows, &*errors), ("0\tEPOCH\n1\tEPOCH\n", ""));
    let (_, counted, _) = classad(&["query", "Offset > 0", FILES[0], "--count"], "");
    assert_eq!(counted, "2\n");
    // The records themselves lack these attributes, and so do the records that are printed.
    let (_, ads, _) = classad(&["query", "Offset > 0", FILES[0]], "");
    assert!(!ads.contains("Offset"), "{ads}");
    let (_, ads, _) = classad(&["query", "true", FILES[0], "--attributes", "Offset,ProcId"], "");
    assert_eq!(ads.matches("Offset = ").count(), 2, "{ads}");
    let (_, counted, errors) = classad(&["query", "true", "tests/cases/history/transfers", "--count"], "");
    assert_eq!((&*counted, &*errors), ("6\n", ""), "here `***` stands before each record");
}

#[test]
fn a_file_that_is_cut_anywhere_loses_its_last_record_only() {
    let whole = fs::read_to_string(FILES[1]).unwrap();
    let first = whole.find("\n***").unwrap();
    let first = first + 1 + whole[first + 1..].find('\n').unwrap() + 1;
    let body_end = whole.rfind("\n***").unwrap() + 1;
    for cut in (first + 1..body_end).step_by(97) {
        for options in [&["--count"][..], &["--count", "--newest"], &["--count", "--strict-input"]] {
            let (status, counted, errors) = classad(&[&["query", "true", "-"], options].concat(), &whole[..cut]);
            assert_eq!((status, &*counted), (Some(0), "1\n"), "{cut}: {errors}");
            assert!(errors.starts_with("note: ") && errors.contains("no banner after it"), "{cut}: {errors}");
        }
    }
    // The banner is cut: this is an error, and the body before it is whole.
    let (status, counted, errors) = classad(&["query", "true", "-", "--count"], &whole[..body_end + 20]);
    assert_eq!((status, &*counted), (Some(2), "2\n"), "{errors}");
    assert!(errors.contains("this banner is broken") && errors.contains("standard input:"), "{errors}");
}

/// Writes a history of many records, some of them with a torn banner, and returns its path.
fn big_history() -> PathBuf {
    let mut text = String::new();
    for number in 0..6000 {
        let _ = writeln!(text, "ClusterId = {number}\nProcId = 0\nOwner = \"u{}\"", number % 7);
        let _ = writeln!(text, "Filler = \"{}\"\nCompletionDate = {}", "x".repeat(100 + number % 300), 1000 + number);
        let banner = format!(
            "*** Offset = {} ClusterId = {number} ProcId = 0 Owner = \"u{}\" CompletionDate = ",
            number * 7,
            number % 7
        );
        match number {
            1500 | 4100 => {
                let _ = writeln!(text, "{}", &banner[..25]);
            }
            3000 => text += "*** odd line\n",
            _ => {
                let _ = writeln!(text, "{banner}{}", 1000 + number);
            }
        }
    }
    text += "ClusterId = 6000\nProcId";
    let path = crate::binary::temporary().join("history");
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_big_history_is_the_same_forwards_and_backwards_with_any_number_of_threads() {
    let path = big_history();
    let path = path.to_str().unwrap();
    let query = |options: &[&str]| {
        classad(&[&["query", "ClusterId % 2 == 0", path, "--af", "ClusterId,Offset,Owner"], options].concat(), "")
    };
    let one = query(&["--threads", "1"]);
    assert_eq!((one.0, one.1.lines().count()), (Some(2), 3000), "{}", one.2);
    assert_eq!(one.2.matches("this banner is broken").count(), 2, "{}", one.2);
    for options in [&["--threads", "2"][..], &["--threads", "5"]] {
        assert_eq!(query(options), one);
    }
    let newest = query(&["--newest"]);
    assert!(newest.1.lines().eq(one.1.lines().rev()));
    // The places are the same, too.
    let places = |errors: &str| {
        let mut places: Vec<String> = errors
            .lines()
            .filter(|line| line.contains(path))
            .map(|line| line.trim_start_matches(|c| c != '/').to_owned())
            .collect();
        places.sort();
        places
    };
    assert_eq!(places(&newest.2), places(&one.2));
    // Whole ads, read in full, have the same attributes.
    let strict = query(&["--strict-input"]);
    assert_eq!(strict.1, one.1);
    fs::remove_file(path).unwrap();
}

/// Ads without names are called by their places, and what is wrong has a place. Both are the same from either end.
#[test]
fn ads_without_names_have_the_same_places_backwards() {
    let long = |number: usize| match number {
        1000 | 2500 => format!("Id = (\nFiller = \"{}\"\n\n", "x".repeat(100)),
        _ => format!("Id = {number}\nFiller = \"{}\"\n\n", "x".repeat(100 + number % 300)),
    };
    let json = |number: usize| match number {
        1000 | 2500 => format!("{{\"Id\": {number}, \"Filler\"}}\n{}", "\n".repeat(number % 2)),
        _ => format!("{{\"Id\": {number}, \"Filler\": \"{}\"}}\n", "x".repeat(100 + number % 300)),
    };
    let write = |name: &str, ads: &dyn Fn(usize) -> String| file(name, (0..3000).map(ads).collect::<String>());
    for path in [write("places.long", &long), write("places.jsonl", &json)] {
        let (status, forwards, told) = classad(&["query", "Id % 7 != 1", &path, "-o", "names"], "");
        assert_eq!(status, Some(2), "{told}");
        assert!(forwards.lines().count() > 2500 && forwards.lines().all(|line| line.starts_with(&path)));
        let (_, backwards, told_backwards) = classad(&["query", "Id % 7 != 1", &path, "-o", "names", "--newest"], "");
        assert!(backwards.lines().eq(forwards.lines().rev()), "{path}");
        let places = |told: &str| {
            let mut places: Vec<String> = told.lines().filter(|line| line.contains(&path)).map(str::to_owned).collect();
            places.sort();
            places
        };
        assert_eq!(places(&told_backwards), places(&told));
        assert_eq!(places(&told).len(), 2, "{told}");
        // What is left out is not read.
        for (limit, options) in [("3", &["--newest"][..]), ("3", &[]), ("900", &[]), ("400", &["--newest"])] {
            let arguments = [&["query", "true", &path, "-o", "names", "--limit", limit], options].concat();
            let (status, out, told) = classad(&arguments, "");
            assert_eq!((status, told.as_str()), (Some(0), ""), "{arguments:?}");
            assert_eq!(out.lines().count().to_string(), limit);
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_backwards_leaves_the_others() {
    let whole = fs::read("tests/explanations/jobs.long.gz").unwrap();
    let cut = file("backwards-cut.long.gz", &whole[..2500]);
    for (files, expected) in [
        (["tests/cases/query/ads.long", &cut], "undefined\nb\na\n"),
        ([&cut, "tests/cases/query/ads.long"], "undefined\nb\na\n"),
    ] {
        let (status, names, told) = classad(&[&["query", "true", "--newest", "--af", "Name"][..], &files].concat(), "");
        assert_eq!((status, names.as_str()), (Some(2), expected), "{told}");
        assert_eq!(told.matches(&format!("error: cannot read {cut} to its end")).count(), 1, "{told}");
    }
}

#[test]
fn more_files_than_may_be_open_are_read() {
    let folder = crate::binary::temporary().join("histories");
    fs::create_dir_all(&folder).unwrap();
    let mut command = "ulimit -n 40; exec \"$0\" query true --count".to_owned();
    for number in 0..100 {
        let path = folder.join(format!("{number}"));
        fs::copy(FILES[0], &path).unwrap();
        let _ = write!(command, " '{}'", path.display());
    }
    let output =
        std::process::Command::new("sh").args(["-c", &command, env!("CARGO_BIN_EXE_classad")]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.stdout, b"200\n");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_condor_submit_prints_is_read() {
    for file in ["submit.verbose", "submit.dry-run"] {
        let path = format!("tests/cases/history/{file}");
        let (status, rows, errors) = classad(&["query", "true", &path, "--af", "ProcId"], "");
        assert_eq!((status, &*rows, &*errors), (Some(0), "0\n1\n", ""), "{file}");
    }
    let queue = "\n\n-- Schedd: a@b : <127.0.0.1:9618?x=1> @ 11/22/26 20:00:00\nA = 1\n\nA = 2\n\n\n\n-- Schedd: c : <d>\nA = 3\n\n";
    let (status, rows, errors) = classad(&["query", "true", "--af", "A"], queue);
    assert_eq!((status, &*rows, &*errors), (Some(0), "1\n2\n3\n", ""));
}

#[test]
fn event_logs_are_read_in_all_their_forms() {
    let bob = "tests/cases/history/bob.log";
    let (status, rows, errors) = classad(&["query", "true", bob, "--group-by", "MyType"], "");
    assert_eq!((status, &*errors), (Some(0), ""));
    assert_eq!(rows, "MyType\tads\nSubmitEvent\t8\nExecuteEvent\t1\nClusterSubmitEvent\t1\nJobImageSizeEvent\t1\n");
    // The pieces of a pipe are those of the file.
    let text = fs::read_to_string(bob).unwrap().repeat(300);
    let (_, counted, errors) = classad(&["query", "Cluster > 0", "--count"], &text);
    assert_eq!((&*counted, &*errors), ("3300\n", ""));
    for (file, count) in [("dave-xml.log", "8\n"), ("EventLog.json", "6\n")] {
        let path = format!("tests/cases/history/{file}");
        let (status, counted, errors) = classad(&["query", "EventTypeNumber >= 0", &path, "--count"], "");
        assert_eq!((status, &*counted, &*errors), (Some(0), count, ""), "{file}");
    }
    let (status, rows, errors) = classad(&["query", "-userlog", bob, "-af", "ClusterId", "ProcId", "JobStatus"], "");
    assert_eq!(
        (status, &*rows, &*errors),
        (Some(0), "2 0 2\n20 0 1\n21 0 1\n22 0 1\n23 0 1\n24 0 1\n25 0 1\n25 1 1\n", "")
    );
}

#[test]
fn jobs_of_an_event_log_have_the_attributes_of_condor_q() {
    // What `condor_q -userlog` of HTCondor 25.14.1 prints of this log.
    let log = "samples/pool/job.log";
    let names = "ClusterId,ProcId,JobStatus,LastJobStatus,QDate,EnteredCurrentStatus,JobCurrentStartDate,NumJobStarts,\
                 CompletionDate,ExitCode,ExitBySignal,LastVacateTime,RemoteWallClockTime,RemoteUserCpu,NumSystemHolds";
    let (status, rows, errors) = classad(&["query", "--userlog", log, "true", "--af", names], "");
    assert_eq!((status, &*errors), (Some(0), ""));
    assert_eq!(
        rows,
        "1001\t0\t5\t2\t1788256800\t1788257520\t1788257100\t1\t0\tundefined\tundefined\t1788257520\t0.0\t0.0\t1\n\
         1001\t1\t4\t2\t1788256800\t1788278135\t1788262200\t3\t1788278135\t0\tfalse\t1788261660\t15935.0\t19080.0\t1\n\
         1002\t0\t3\t2\t1788256800\t1788264000\t1788257110\t1\t0\tundefined\tundefined\tundefined\t0.0\t0.0\t0\n"
    );
    let hosts = "RemoteHost,LastRemoteHost,WallSeconds,WastedSeconds,GlobalJobId";
    let rows = classad(&["query", "--userlog", log, "ProcId == 1", "--af", hosts], "").1;
    let host = "<192.0.2.11:9618?addrs=192.0.2.11-9618>";
    assert_eq!(rows, format!("undefined\t{host}\t19945\t4010\tlocalhost#1001.1#1788256800\n"));
    // A rotated log is read first, in whatever order the names stand.
    let text = fs::read_to_string(log).unwrap();
    let cut = text.find("013 (").unwrap();
    let (old, new) = (file("rotated.log.old", &text[..cut]), file("rotated.log", &text[cut..]));
    for logs in [[&new, &old], [&old, &new]] {
        let arguments =
            ["query", "--userlog", logs[0], "--userlog", logs[1], "JobStatus == 4", "--af", "QDate,WallSeconds"];
        assert_eq!(classad(&arguments, "").1, "1788256800\t19945\n");
        let attempts = classad(&["query", "--attempts", logs[0], logs[1], "--sum", "Seconds"], "").1;
        assert_eq!(attempts, "ads\tsum(Seconds)\n5\t27255\n");
    }
}

#[test]
fn attempts_are_rows_as_any_other() {
    let log = "samples/pool/job.log";
    let events = fs::read_to_string(log).unwrap();
    let query = |arguments: &[&str]| classad(&[&["query", "--attempts"], arguments].concat(), &events);
    let by_host = "Host\tads\tsum(WastedSeconds)\nwn2.example.org\t1\t3600\n";
    let evicted = "Outcome == \"evicted\"";
    for arguments in [&[evicted, log][..], &["--constraint", evicted, "--userlog", log], &[evicted, "-"]] {
        let grouped = [arguments, &["--group-by", "Host", "--sum", "WastedSeconds"]].concat();
        assert_eq!(query(&grouped), (Some(0), by_host.to_owned(), String::new()), "{arguments:?}");
    }
    let (status, rows, errors) = query(&[log, "-af:h", "Job", "Seconds", "-sort", "-Seconds", "-limit", "2"]);
    assert_eq!((status, &*rows, &*errors), (Some(0), "Job    Seconds\n1001.1 15935  \n1002.0 6890   \n", ""));
    assert_eq!(query(&[log, "--count"]).1, "5\n");
    let json = query(&["Attempt == 3", log, "-o", "json"]).1;
    assert!(json.contains("\"End\":1788278135,\"EndTime\":\"2026-09-01T15:55:35Z\""), "{json}");
    let ad = query(&["Attempt == 3", log, "-o", "long"]).1;
    assert!(ad.contains("ReturnValue = 0\n") && ad.contains("RequestMemory = 2048\n"), "{ad}");
    assert_eq!(
        query(&["Seconds > 99999", log]),
        (
            Some(1),
            "Job\tAttempt\tStartTime\tEndTime\tHost\tOutcome\tSeconds\tWastedSeconds\n".to_owned(),
            String::new()
        )
    );
    // A real pool: the wall time of its history is that of the attempts.
    let history = "tests/pool/dumps/history.20261129T075504";
    let (status, rows, errors) = query(&["ClusterId == 13", history, "--sum", "Seconds,EarlierSeconds,WastedSeconds"]);
    assert_eq!(
        (status, &*rows),
        (Some(0), "ads\tsum(Seconds)\tsum(EarlierSeconds)\tsum(WastedSeconds)\n3\t3\t16\t0\n")
    );
    assert!(errors.contains("2 attempts of jobs that started three times or more have no end"), "{errors}");
    let walls = classad(&["query", "true", history, "--sum", "RemoteWallClockTime"], "").1;
    assert_eq!(walls, "ads\tsum(RemoteWallClockTime)\n6\t59.0\n");
    assert_eq!(query(&[history, "--sum", "Seconds", "-o", "csv"]).1, "ads,sum(Seconds)\n8,43\n");
    for (arguments, expected) in [
        (&["-o", "parquet", "--af", "Job"][..], "--attempts and -o parquet cannot be combined"),
        (&["--partial"], "--partial does not work with --attempts"),
    ] {
        let (status, _, errors) = query(&[&["true", log], arguments].concat());
        assert!(status == Some(2) && errors.contains(expected), "{errors}");
    }
}

#[test]
fn a_job_queue_log_gives_the_jobs_at_its_end_or_at_a_time() {
    let log = "tests/cases/history/job_queue.log";
    let jobs = |options: &[&str], input: &str| {
        let file = if input.is_empty() { log } else { "-" };
        classad(&[&["query", "true", file, "--af", "ClusterId,ProcId,JobStatus,Owner"], options].concat(), input)
    };
    let all = "1\t0\t1\talice\n1\t1\t1\talice\n2\t0\t1\tbob\n";
    assert_eq!(jobs(&[], ""), (Some(0), all.to_owned(), String::new()));
    assert_eq!(jobs(&["--log-time", "1"], "").1, "");
    // The transaction that is cut does not count.
    let text = fs::read_to_string(log).unwrap();
    let last = text.rfind("\n105").unwrap();
    let (status, rows, errors) = jobs(&[], &text[..last + 200]);
    assert_eq!((status, &*rows), (Some(0), "1\t0\t1\talice\n1\t1\t1\talice\n"), "{errors}");
    assert!(errors.contains("this transaction has no end and is ignored"), "{errors}");
}

#[test]
fn an_event_keeps_its_own_type_and_time_beside_those_of_its_ad() {
    let log = "028 (7.0.0) 2025-11-15 17:05:57 Job ad information event triggered.\nProc = 3\nEventTime = \"2025\"\n\
               Size = 1\nmytype = \"SubmitEvent\"\nEventTypeNumber = 5\nSubproc = 9\nSize = 2\n...\n";
    let printed = classad(&["query", "true"], log).1;
    assert_eq!(
        printed,
        "MyType = \"JobAdInformationEvent\"\nEventTypeNumber = 28\nEventTime = \"2025-11-15T17:05:57\"\n\
         Cluster = 7\nProc = 0\nSubproc = 0\nSize = 2\n\n"
    );
}

/// A log over a New Year, with an event that is late, and one with parts of seconds.
const YEARLESS: &str = "000 (1.000.000) 12/31 23:59:58 Job submitted from host: <a>\n...\n\
                        001 (1.000.000) 01/01 00:00:01.250 Job executing on host: <b>\n...\n\
                        000 (2.000.000) 12/31 23:59:59 Job submitted from host: <a>\n...\n\
                        005 (1.000.000) 02/29 10:34:57 Job terminated.\n...\n";

#[test]
fn events_without_years_get_them_by_their_order_and_one_time() {
    let path = file("yearless.log", YEARLESS);
    let times =
        |options: &[&str], input: &str| classad(&[&["query", "true", "--af", "EventTime"], options].concat(), input);
    let expected = "2023-12-31T23:59:58\n2024-01-01T00:00:01.250\n2023-12-31T23:59:59\n2024-02-29T10:34:57\n";
    // The time of evaluation is 2026-07-06.
    let now = ["--now", "1783296000"];
    for options in [&[&path[..]][..], &["-"], &[&path, "--threads", "2"], &[&path, "--from", "events"]] {
        let (status, rows, told) = times(&[options, &now].concat(), if options == ["-"] { YEARLESS } else { "" });
        assert_eq!((status, &*rows), (Some(0), expected), "{options:?}");
        let told = told.replace("\n  ", " ");
        let note = "its events have no year; they get years by their order, the last ones by --now, 2026-07-06";
        assert!(told.matches("note:").count() == 1 && told.contains(note), "{options:?}: {told}");
    }
    let newest: Vec<&str> = expected.lines().rev().collect();
    assert_eq!(times(&[&[&path[..], "--newest"][..], &now].concat(), "").1.lines().collect::<Vec<_>>(), newest);
    let parsed = classad(&[&["parse", &path, "-o", "jsonl"], &now[..]].concat(), "").1;
    assert_eq!(parsed.matches("\"EventTime\": \"2024-").count(), 2, "{parsed}");
    let jobs = classad(&[&["query", "--userlog", &path, "true", "--af", "EventTime"], &now[..]].concat(), "").1;
    assert_eq!(jobs, "2024-02-29T10:34:57\n2023-12-31T23:59:59\n");
    assert_eq!(times(&[&path, "--now", "1741000000"], "").1, expected);
    assert_eq!(times(&[&path, "--now", "1700000000"], "").1, expected.replace("2023", "2019").replace("2024", "2020"));
    // Without a time on the command line, the time of the file counts.
    let late = fs::File::options().append(true).open(&path).expect("it can be opened");
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_600_000_000);
    late.set_modified(time).expect("it can be set");
    let (_, rows, told) = times(&[&path], "");
    assert_eq!(rows, expected.replace("2023", "2019").replace("2024", "2020"));
    assert!(told.replace("\n  ", " ").contains("by the time of the file, 2020-09-13"), "{told}");
    // A log is the same in pieces of any size.
    let long = YEARLESS.lines().take(2).collect::<Vec<_>>().join("\n") + "\n";
    let long = long.repeat(9000) + &YEARLESS[long.len()..];
    let (_, rows, _) = times(&now, &long);
    assert_eq!(rows.matches("2023-12-31").count(), 9001);
}

#[test]
fn an_event_with_a_year_tells_those_of_the_others() {
    let log = YEARLESS.replace("02/29 10:34:57", "2019-03-01 10:34:57");
    let (status, rows, _) = classad(&["query", "true", "--af", "EventTime", "--now", "1783296000"], &log);
    assert_eq!(status, Some(0));
    let years: Vec<&str> = rows.lines().map(|time| &time[..7]).collect();
    assert_eq!(years, ["2018-12", "2019-01", "2018-12", "2019-03"]);
}

#[test]
fn a_note_says_which_events_have_no_year() {
    let event = |time: &str| format!("000 (1.000.000) {time} Job submitted from host: <a>\n...\n");
    let last = "2019-03-01 10:34:57";
    // Several blocks with years before those without.
    let late = event(last).repeat(9000) + &event("03/02 10:00:00");
    let alternating = (event("12/31 00:00:00") + &event("01/01 12:00:00") + &event("06/01 00:00:00")).repeat(200);
    let unfitting = "some of its events have no year, and no years fit their order and --now";
    let some = "some of its events have no year; they get years by their order and the years of the others";
    for (log, now, expected, last) in [
        (event(last), "1783296000", None, "2019-03-01T10:34:57"),
        (late, "1783296000", Some(some), "2019-03-02T10:00:00"),
        (event("02/28 10:00:00") + &event(last), "1783296000", Some(some), "2019-03-01T10:34:57"),
        (event("02/29 10:00:00") + &event("01/01 10:00:00"), "40000000", Some(unfitting), "01/01 10:00:00"),
        (alternating, "1783296000", Some(unfitting), "06/01 00:00:00"),
    ] {
        let path = file("years.log", &log);
        for threads in ["1", "2"] {
            let arguments = ["query", "true", "--af", "EventTime", "--now", now, "--threads", threads, &path];
            let (_, rows, told) = classad(&arguments, "");
            let told = told.replace("\n  ", " ");
            assert_eq!(told.matches("note:").count(), usize::from(expected.is_some()), "{told}");
            assert!(expected.is_none_or(|note| told.contains(note)), "{told}");
            assert_eq!(rows.lines().last(), Some(last));
        }
    }
    let (status, rows, told) = classad(&["query", "true", "--af", "EventTime"], &event("13/45 10:00:00"));
    assert_eq!((status, &*rows), (Some(2), ""));
    assert!(told.contains("`13/45 10:00:00` is not a time") && !told.contains("note:"), "{told}");
}
