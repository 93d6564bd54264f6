//! What commands print into a pipe, where no width is known: notes, sentences, the order and the columns of tables.

use std::process::Command;

use crate::binary::{classad, file};

const JOBS: &str = "samples/pool/jobs.long";
const MACHINES: &str = "samples/pool/machines.long";

/// Standard output and standard error of `classad` in a pipe, without `COLUMNS`.
fn piped(arguments: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_classad"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("COLUMNS").env("LC_ALL", "C.UTF-8");
    let output = command.output().expect("it runs");
    (String::from_utf8(output.stdout).expect("it is text"), String::from_utf8(output.stderr).expect("it is text"))
}

#[test]
fn a_pool_need_not_have_what_an_expression_reads_of_its_own_ad() {
    let expression = "MY.GPUs2 > 1 && GPUs3 > 1 && TARGET.GPUs4 > 1 && MY.Owner == \"a\"";
    let (_, missing, _) = classad(&["refs", "--expr", expression, "--pool", MACHINES, JOBS]);
    assert!(!missing.contains("GPUs2") && missing.contains("GPUs3\t8"), "{missing}");
    assert!(missing.contains("TARGET.GPUs4\t8"), "{missing}");
    // One job reads it of itself, another of the slot.
    let jobs = file("second-refs.ad", "[ Requirements = MY.Oddity > 1 ]\n[ Requirements = Oddity > 1 ]\n");
    let (status, missing, _) = classad(&["refs", "--pool", MACHINES, &jobs]);
    assert!(status == Some(1) && missing.contains("Oddity\t1"), "{missing}");
    // Without a pool all of them are listed.
    let (_, external, _) = classad(&["refs", "--expr", expression, "--union", JOBS]);
    assert!(external.contains("GPUs2"), "{external}");
}

#[test]
fn a_name_selected_from_a_value_is_no_attribute_of_an_ad() {
    let spec = "dialect: condor\nads:\n  slot: {Start: !expr 'splitTime(time()).Hours > 25 && MY.KeyboardIdle > TARGET.Hours', KeyboardIdle: 1}\n  \
                job: {Hours: 3}\ncases:\n- {name: one, my: slot, target: job, expression: Start, expect: true}\n";
    let (status, text, _) = classad(&["test", &file("second-values.yaml", spec)]);
    assert!(status == Some(1) && text.contains("`splitTime(time()).Hours > 25` is false\n"), "{text}");
    assert!(text.contains("(MY.KeyboardIdle is 1,\n      TARGET.Hours is 3)"), "{text}");
    let job = file("second-job.ad", "[ Name = \"j\"; Hours = 7; Requirements = splitTime(0).Hours > 25 ]");
    let slot = file("second-slot.ad", "[ Name = \"s\"; Hours = 7; Requirements = true ]");
    let (_, text, _) = classad(&["explain", &job, "--pool", &slot, "--offer", "s"]);
    assert!(text.contains("splitTime(0).Hours > 25") && !text.contains("is 7"), "{text}");
}

#[test]
fn a_change_names_who_gains_and_what_is_counted() {
    let change = ["--pool", MACHINES, "--what-if", "RequestMemory=1"];
    let (_, table, notes) = classad(&[&["match", JOBS], &change[..]].concat());
    assert!(table.contains("105.0"), "{table}");
    assert!(
        notes.contains(
            "note: matches: 6 with the change, 5 without it; each offer, or each part of it, goes to one request"
        ),
        "{notes}"
    );
    assert!(notes.contains("note: 1 request gains an offer: 105.0; no request loses one"), "{notes}");
    let (_, count, notes) = classad(&[&["match", JOBS, "--count"], &change[..]].concat());
    assert!(count == "6\n" && notes.contains("gains an offer: 105.0"), "{notes}");
    let (_, _, notes) = classad(&[&["match", JOBS, "--all", "--count"], &change[..]].concat());
    assert!(notes.contains("note: pairs: 24 with the change, 20 without it\n") && !notes.contains("gain"), "{notes}");
    // What others lose is named, too.
    let worse = ["match", JOBS, "--pool", MACHINES, "--what-if", "RequestMemory=1000000"];
    let (_, _, notes) = classad(&worse);
    assert!(notes.contains("no request gains an offer; 5 requests lose an offer: 101.0, 101.1"), "{notes}");
    let (_, _, notes) = classad(&[&["explain", JOBS], &change[..]].concat());
    assert!(notes.contains("several requests can match one offer here"), "{notes}");
}

#[test]
fn several_requests_are_explained() {
    let explained = |wanted: &[&str]| {
        let arguments = wanted.iter().flat_map(|wanted| ["--request", wanted]);
        let options: Vec<&str> =
            ["explain", JOBS, "--pool", MACHINES, "-o", "csv"].into_iter().chain(arguments).collect();
        let (_, text, errors) = classad(&options);
        assert!(!text.is_empty(), "{errors}");
        text.lines().skip(1).filter_map(|line| line.split(',').next()).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(explained(&["105.0,106.0"]), ["105.0", "106.0"]);
    assert_eq!(explained(&["106.0", "105"]), ["105.0", "106.0"]);
    assert_eq!(explained(&["101-102, 106"]), ["101.0", "101.1", "102.0", "106.0"]);
    assert_eq!(explained(&["alice"]), ["101.0", "101.1"]);
    let (status, _, errors) = classad(&["explain", JOBS, "--pool", MACHINES, "--request", "105.0,999"]);
    assert!(status == Some(2) && errors.contains("there is no ad 999"), "{errors}");
    // A name may have what separates names.
    let jobs =
        file("second-names.ad", "[ Name = \"a,b\"; Requirements = false ]\n[ Name = \"1-2\"; Requirements = false ]\n");
    for name in ["a,b", "1-2"] {
        let (_, text, errors) = classad(&["explain", &jobs, "--pool", MACHINES, "--request", name]);
        assert!(text.starts_with(name), "{text}{errors}");
    }
    let pair = ["explain", JOBS, "--pool", MACHINES, "--request", "105.0,106.0", "--offer", "slot1@node01.example.org"];
    let (_, text, _) = classad(&pair);
    assert!(text.contains("105.0 does not accept") && text.contains("106.0 does not accept"), "{text}");
}

#[test]
fn tables_in_a_pipe_keep_their_columns() {
    for arguments in [
        &["explain", JOBS, "--pool", MACHINES][..],
        &["match", JOBS, "--pool", MACHINES, "-o", "table"],
        &["autocluster", JOBS, "--pool", MACHINES, "-o", "table"],
        &["explain", "samples/license/jobs.ad", "--pool", "samples/license/machines.ad", "-v"],
    ] {
        let (text, _) = piped(arguments);
        assert!(!text.is_empty() && !text.contains("no room for"), "{text}");
    }
    let (text, _) = piped(&["explain", JOBS, "--pool", MACHINES, "--summary"]);
    let line = "   1  dave    no slot has Memory >= 512 GiB (at most 250  RequestMemory 524288 -> 221184 (much less";
    assert!(text.lines().any(|found| found == line) && text.lines().all(|line| line.len() <= 100), "{text}");
    let (text, _) = piped(&["census", MACHINES, "-o", "table"]);
    assert!(!text.contains('…'), "{text}");
}

#[test]
fn a_census_begins_with_what_people_want_first() {
    let names = |arguments: &[&str]| {
        let (_, text, _) = classad(&[&["census"], arguments, &["-o", "names"]].concat());
        text.lines().take(4).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(names(&[MACHINES]), ["Name", "Machine", "State", "Activity"]);
    assert_eq!(names(&[JOBS]), ["ClusterId", "ProcId", "Owner", "JobStatus"]);
    assert_eq!(names(&[MACHINES, "--sort", "count"])[0], "AcceptedWhileDraining");
    let (_, json, _) = classad(&["census", MACHINES, "-o", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(json["attributes"][0]["name"], "AcceptedWhileDraining");
}

#[test]
fn the_largest_autoclusters_come_first() {
    let job = |memory: &u32| format!("[ RequestMemory = {memory}; Requirements = TARGET.Memory > RequestMemory ]\n");
    let jobs = file("second-clusters.ad", [1, 2, 3, 2, 3, 3, 4].iter().map(job).collect::<String>());
    let (_, text, _) = classad(&["autocluster", &jobs, "--pool", MACHINES, "-o", "json"]);
    let rows: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let sizes: Vec<u64> = rows.as_array().unwrap().iter().map(|row| row["requests"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [3, 2, 1, 1], "{text}");
    assert_eq!([&rows[2]["RequestMemory"], &rows[3]["RequestMemory"]], ["1", "4"], "{text}");
}

#[test]
fn lists_are_evaluated_in_columns() {
    let (_, text, _) = classad(&["query", "true", MACHINES, "--af", "{OpSys, Cpus + 1, Nope}", "--limit", "1"]);
    assert_eq!(text, "{ \"LINUX\", 3, undefined }\n");
    // HTCondor's own word prints a list as HTCondor does.
    let (_, text, _) = classad(&["query", "-slotads", MACHINES, "-af", "{OpSys,Cpus}", "-limit", "1"]);
    assert_eq!(text, "{ OpSys, Cpus }\n");
}

#[test]
fn slips_in_the_names_of_options_and_topics_are_understood() {
    for (arguments, expected) in [
        (
            &["query", "--hlep"][..],
            "there is no option --hlep; did you mean --help? Put `--` before an expression that begins with `-`",
        ),
        (&["query", "--limt", "3", "true"], "did you mean --limit? Put `--` before an expression"),
        (&["help", "polcy"], "did you mean policy?"),
        (&["help", "commnds"], "did you mean commands?"),
        (&["help", "schem"], "did you mean schema?"),
        (&["query", "-version"], "-version is not supported: `classad --version` prints the version"),
        (&["query", "-jobads", JOBS, "-version"], "-version is not supported: `classad --version` prints the version"),
        (&["query", "-jobads", JOBS, "-verison"], "there is no option -verison"),
    ] {
        let (status, out, errors) = classad(arguments);
        assert!(status == Some(2) && out.is_empty() && errors.contains(expected), "{arguments:?}: {errors}");
    }
    for arguments in [&["query", "-help"][..], &["query", "-jobads", JOBS, "-help"], &["explain", "-help"]] {
        let (status, out, errors) = classad(arguments);
        assert!(status == Some(0) && out.contains("Usage: classad"), "{arguments:?}: {errors}");
    }
    // An option that a command lacks is not explained as a value.
    let (status, _, errors) = classad(&["eval", "1", "--json"]);
    assert!(
        status == Some(2) && errors.contains("unexpected argument '--json'") && !errors.contains("as a value"),
        "{errors}"
    );
    let (_, overview, _) = classad(&["help"]);
    assert!(overview.contains(env!("CARGO_PKG_REPOSITORY")), "{overview}");
}

#[test]
fn rewriting_the_usage_file_is_noted() {
    let usage = file("second-usage.yaml", "");
    std::fs::remove_file(&usage).expect("it is there");
    let (_, _, notes) = classad(&["negotiate", JOBS, "--pool", MACHINES, "--usage", &usage]);
    assert!(notes.contains(&format!("note: the usage file {usage} is written")), "{notes}");
}
