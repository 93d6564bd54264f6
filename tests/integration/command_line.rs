//! What commands answer to words, options, files and expressions that a user types, and to mistakes in them.

use std::process::{Command, Stdio};

use crate::binary::{classad, file, run};

const JOBS: &str = "samples/pool/jobs.long";
const MACHINES: &str = "samples/pool/machines.long";

/// `classad query FILE` takes all ads of the file.
#[test]
fn a_file_in_the_place_of_the_constraint_is_a_file() {
    let (status, count, told) = classad(&["query", MACHINES, "--count"]);
    assert_eq!((status, count.as_str()), (Some(0), "12\n"));
    assert!(told.contains("no constraint: samples/pool/machines.long is a file"), "{told}");
    assert_eq!(classad(&["query", JOBS, MACHINES, "--count"]).1, "20\n");
    assert_eq!(classad(&["query", "Cpus > 2", MACHINES, "--count"]).1, "3\n");
    assert_eq!(classad(&["query", "--constraint", "Cpus > 2", MACHINES, "--count"]).1, "3\n");
}

/// An option that another one would silently ignore is refused.
#[test]
fn ignored_options_are_refused() {
    for (options, reason) in [
        (&["--group-by", "OpSys", "--af", "Name"][..], "--af and --attributes cannot be used with --group-by"),
        (&["--group-by", "OpSys", "--attributes", "Name"], "--af and --attributes cannot be used with --group-by"),
        (&["--sum", "Cpus", "--af", "Name"], "--af and --attributes cannot be used with --group-by"),
        (&["--count", "--af", "Name"], "--count cannot be used with --af or --attributes"),
    ] {
        let (status, rows, told) = classad(&[&["query", "true", MACHINES], options].concat());
        assert!(status == Some(2) && rows.is_empty() && told.contains(reason), "{options:?} {told}");
    }
}

/// An empty queue is not an error, whether it is a file or a pipe.
#[test]
fn an_empty_file_is_an_empty_queue() {
    let empty = file("first-empty.long", "");
    for arguments in [
        &["query", "true", &empty, "--count"][..],
        &["match", &empty, "--pool", MACHINES, "--count"],
        &["match", JOBS, "--pool", &empty, "--count"],
    ] {
        let (status, count, told) = classad(arguments);
        assert!(status == Some(1) && count == "0\n" && told.contains("has no ads"), "{arguments:?} {status:?} {told}");
    }
    let (status, ads, _) = classad(&["convert", "--to", "jsonl", &empty]);
    assert_eq!((status, ads.as_str()), (Some(1), ""));
    let (status, _, told) = classad(&["diff", &empty, JOBS]);
    assert!(status == Some(1) && told.contains("8 added"), "{told}");
}

/// A configuration file with a mistake does not keep anybody from the help.
#[test]
fn help_works_with_a_broken_configuration() {
    let folder = std::path::PathBuf::from(file("first-config", "")).with_file_name("first-config-home");
    std::fs::create_dir_all(folder.join("classad")).unwrap();
    let config = folder.join("classad/config.yaml");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_classad"));
        let output = command.args(arguments).env("XDG_CONFIG_HOME", &folder).stdin(Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    std::fs::write(&config, "{bad: [").unwrap();
    for arguments in
        [&["--help"][..], &["--version"], &["help"], &["help", "policy"], &["completions", "bash"], &["man"]]
    {
        let (status, text, told) = run(arguments);
        assert!(status == Some(0) && !text.is_empty() && told.is_empty(), "{arguments:?} {status:?} {told}");
    }
    let (status, _, told) = run(&["eval", "1"]);
    assert!(status == Some(2) && told.contains("classad/config.yaml: this is not YAML"), "{told}");
    // The file in its new place counts, then the one in the old place.
    std::fs::write(folder.join("classad.yaml"), "dialect: classad\n").unwrap();
    std::fs::write(&config, "dialect: condor\n").unwrap();
    assert_eq!(run(&["eval", "2147483647 + 1"]).1, "2147483648\n");
    std::fs::remove_file(&config).unwrap();
    assert_eq!(run(&["eval", "2147483647 + 1"]).1, "-2147483648\n");
}

/// `eval` reads ads from a pipe if the expression has a name that nothing defines.
#[test]
fn eval_reads_a_pipe() {
    let ads = b"[ Memory = 64 ] [ Memory = 32 ]";
    let printed = |arguments: &[&str], input: &[u8]| String::from_utf8(run(arguments, input).stdout).unwrap();
    assert_eq!(printed(&["eval", "Memory * 2"], ads), "128\n64\n");
    assert_eq!(printed(&["eval", "1 + 1"], ads), "2\n");
    assert_eq!(printed(&["eval", "-D", "Memory=1", "Memory * 2"], ads), "2\n");
    assert_eq!(printed(&["eval", "Memory * 2"], b""), "undefined\n");
}

/// With `-e` the value is the exit status. Of several ads, the first one with a status other than 0 counts.
#[test]
fn the_value_of_eval_is_its_status() {
    for (ads, expected) in [
        ("[ a = true ]", 0),
        ("[ a = false ]", 1),
        ("[ b = 1 ]", 4),
        ("[ a = 1 / 0 ]", 5),
        ("[ a = 7 ] [ a = false ] [ b = 1 ]", 1),
        ("[ a = true ] [ b = 1 ] [ a = false ]", 4),
        ("[ a = true ] [ a = 1 / 0 ] [ a = true ]", 5),
        ("[ a = true ] [ a = true ]", 0),
    ] {
        let path = file("valued.ads", ads);
        assert_eq!(classad(&["eval", "-e", "--each", "a", &path]).0, Some(expected), "{ads}");
        assert_eq!(classad(&["eval", "--each", "a", &path]).0, Some(0), "{ads}");
    }
}

/// `--` makes an expression of what looks like an option.
#[test]
fn what_looks_like_an_option_is_refused_without_two_dashes() {
    let (status, printed, errors) = classad(&["eval", "--xyz"]);
    assert_eq!((status, printed.as_str()), (Some(2), ""), "{errors}");
    let (status, printed, _) = classad(&["eval", "-D", "xyz=3", "--", "--xyz"]);
    assert_eq!((status, printed.as_str()), (Some(0), "3\n"));
}

/// `parse --count` counts the ads of each file, and `census --sort types` begins with the attributes of most types.
#[test]
fn ads_and_types_are_counted() {
    let [one, two] = ["Zone = 1\nAlpha = 1\n", "Zone = \"a\"\nAlpha = 2\n\nZone = 1.5\nAlpha = 3\n"]
        .iter()
        .enumerate()
        .map(|(place, text)| file(&format!("first-counted-{place}.long"), *text))
        .collect::<Vec<_>>()
        .try_into()
        .unwrap();
    let (status, printed, _) = classad(&["parse", "--count", &one, &two]);
    assert_eq!((status, printed), (Some(0), format!("{one}\t1\n{two}\t2\n")));
    let (_, sorted, errors) = classad(&["census", &one, &two, "--sort", "types"]);
    let names: Vec<&str> = sorted.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names[..3], ["attribute", "Zone", "Alpha"], "{sorted}{errors}");
}

/// Binary input and unknown packings are one error, not a page of carets. A text with zeros in it is still read.
#[test]
fn binary_input_is_one_error() {
    let mut random = fastrand::Rng::with_seed(1);
    let noise: Vec<u8> = (0..10_000).map(|_| random.u8(..)).collect();
    let zip = [b"PK\x03\x04".as_slice(), &noise].concat();
    for (name, bytes, reason) in [
        ("first-noise", &noise, "it is binary data, not text"),
        ("first.zip", &zip, "it is packed with zip; `unzip -p FILE` unpacks it"),
    ] {
        let (status, rows, told) = classad(&["query", "true", &file(name, bytes)]);
        assert_eq!((status, rows.as_str(), told.lines().count()), (Some(2), "", 1), "{told}");
        assert!(told.contains(reason), "{told}");
    }
    let torn = [vec![0; 3000], b"\n\nName = \"a\"\n\nName = \"b\xff\"\n".to_vec()].concat();
    let (status, rows, _) = classad(&["query", "Name == \"a\"", "--af", "Name", &file("first-torn.long", torn)]);
    assert_eq!((status, rows.as_str()), (Some(2), "a\n"));
}

/// A number in the wrong unit and a string without quotes are noted, where they would quietly find nothing.
#[test]
fn slips_of_an_expression_are_noted() {
    for (constraint, note) in [
        (
            "Memory > 5G",
            "note: this number is 5368709120 here, but HTCondor ignores or refuses its suffix `G`; Memory is in MiB: write 5120",
        ),
        ("OpSys == LINUX", "write \"LINUX\" for the string"),
        ("OpSys == 'LINUX'", "write \"LINUX\" for the string"),
    ] {
        let (status, count, told) = classad(&["query", constraint, MACHINES, "--count"]);
        assert!(status == Some(1) && count == "0\n" && told.contains(note), "{constraint} {told}");
    }
    for (value, note) in [("4G", "RequestMemory is in MiB: write 4096"), ("4GB", "write 4096 for memory in MiB")] {
        let told = classad(&["match", JOBS, "--pool", MACHINES, "--what-if", &format!("RequestMemory={value}")]).2;
        assert!(told.contains(note), "{value} {told}");
    }
    let (_, _, told) = classad(&["match", JOBS, "--pool", MACHINES, "--what-if", "RequestMemory=4096"]);
    assert!(!told.contains("MiB"), "{told}");
}

/// The short name of a machine leads to its slots.
#[test]
fn the_beginning_of_a_name_is_enough_for_a_suggestion() {
    for (option, id, near) in [
        (
            "--offer",
            "slot1@node01",
            "there is no offer slot1@node01 to explain; did you mean slot1@node01.example.org?",
        ),
        ("--request", "105.", "there is no ad 105. to explain; did you mean 105.0?"),
    ] {
        let (status, _, told) = classad(&["explain", JOBS, "--pool", MACHINES, option, id]);
        assert!(status == Some(2) && told.contains(near), "{told}");
    }
}

/// Every topic of the help has a page of its name.
#[test]
fn every_topic_has_a_page() {
    let list = classad(&["help", "topics"]).1;
    let topics: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(topics.contains(&"from-condor") && topics.contains(&"exit-codes"), "{topics:?}");
    for topic in topics {
        let (status, page, told) = classad(&["man", topic]);
        assert!(status == Some(0) && page.contains(".SH") && told.is_empty(), "{topic} {told}");
        assert_eq!(classad(&["man", &format!("{topic}.7")]).0, Some(0), "{topic}");
    }
    assert!(classad(&["man", "format"]).2.contains("did you mean formats"));
}

/// The examples and the text below the options are wrapped once: no line is wider than the terminal, and none is broken
/// again.
#[test]
fn help_is_wrapped_once() {
    let help = |command: &str, width: &str| {
        let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_classad"));
        let output = run.args([command, "--help"]).env("COLUMNS", width).output().expect("it runs");
        String::from_utf8(output.stdout).expect("it is text")
    };
    let commands = "anonymize autocluster census check claim collect completions convert diff eval explain fmt functions \
        gangmatch join man match merge negotiate parse query refs repl route sample scatter specialize split test transform \
        workload";
    for command in commands.split_whitespace() {
        for width in [60, 80, 120, 200] {
            let text = help(command, &width.to_string());
            let (_, examples) = text.split_once("Examples:").expect("it has examples");
            let examples = examples.lines().take_while(|line| line.is_empty() || line.starts_with("  "));
            // --color is the last option.
            let (_, notes) = text.rsplit_once("always, never]").expect("it has options");
            let lines: Vec<&str> = examples.chain(notes.lines()).collect();
            for pair in lines.windows(2) {
                let [line, next] = [pair[0], pair[1]];
                assert!(line.chars().count() <= width.min(100), "{command} {width}: {line}");
                // What would have had room in the line before begins something new.
                let word = next.split(' ').next().unwrap_or_default();
                let has_room = line.chars().count() + 1 + word.chars().count() <= width.min(100);
                let begins =
                    next.is_empty() || next.starts_with([' ', '-', '`']) || word.starts_with(char::is_uppercase);
                assert!(
                    line.is_empty() || line.starts_with(' ') || !has_room || begins,
                    "{command} {width}:\n{line}\n{next}"
                );
            }
        }
    }
}

#[test]
fn diff_compares_some_attributes_and_numbers_by_value() {
    let before =
        file("numeric-before.long", "Name = \"a\"\nDisk = 64.0\nLoad = -0.0\nState = \"Owner\"\nX = 1 + 2.0\n");
    let after = file("numeric-after.long", "Name = \"a\"\nDisk = 64\nLoad = 0\nState = \"Busy\"\nX = 1.0 + 2\n");
    let names = |options: &[&str]| {
        let (status, out, _) = classad(&[&["diff", &before, &after, "-o", "jsonl"], options].concat());
        let names = out.split("{\"name\":\"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()));
        (status, names.collect::<Vec<_>>())
    };
    assert_eq!(names(&[]).1, ["Disk", "Load", "State", "X"]);
    assert_eq!(names(&["--numeric"]), (Some(1), vec!["State".to_owned()]));
    assert_eq!(names(&["--numeric", "--ignore", "State"]), (Some(0), Vec::new()));
    let note = "only the type of numbers changed";
    assert!(classad(&["diff", &before, &after, "--ignore", "State"]).2.contains(note));
    assert!(!classad(&["diff", &before, &after]).2.contains("type of numbers"));
    assert_eq!(names(&["--only", "st*,disk"]).1, ["Disk", "State"]);
    let (large, real) = ("Name = \"a\"\nB = 9007199254740993\n", "Name = \"a\"\nB = 9007199254740992.0\n");
    let [large, real] = [file("numeric-large.long", large), file("numeric-real.long", real)];
    assert_eq!(classad(&["diff", &large, &real, "--numeric"]).0, Some(1), "2^53 + 1 is not a real");
}

/// Whatever the width of the terminal, the columns that were asked for are shown.
#[test]
fn columns_that_were_asked_for_are_shown() {
    let shown = |arguments: &[&str]| {
        let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_classad"));
        let output = run.args(arguments).args(["-o", "table"]).env("COLUMNS", "60").output().expect("it runs");
        String::from_utf8(output.stdout).expect("it is text")
    };
    let (jobs, machines) = ("samples/pool/jobs.long", "samples/pool/machines.long");
    let columns = ["Name", "OpSysAndVer", "Start", "Rank", "Requirements", "Machine", "MyAddress"];
    let rows = shown(&["query", "true", machines, "--limit", "2", "--af", &columns.join(",")]);
    let why = shown(&["match", "--why", jobs, "--pool", machines]);
    for (text, columns) in [(rows, &columns[..]), (why, &["request", "offer", "runner_up", "decided_by"])] {
        assert!(columns.iter().all(|column| text.contains(column)) && !text.contains("no room"), "{text}");
    }
}

#[test]
fn slips_of_rules_and_constraints_are_noted() {
    let jobs = "samples/pool/jobs.long";
    let rules = |name: &str, text: &str| {
        let (status, _, told) = classad(&["transform", "-n", "--rules", &file(name, text), jobs]);
        (status, told)
    };
    let (status, told) = rules("slip-itself.rules", "SET RequestMemory max({RequestMemory,2048})\n");
    assert!(status == Some(0) && told.contains("refers to itself") && told.contains("EVALSET RequestMemory"), "{told}");
    for text in ["EVALSET RequestMemory RequestMemory * 2\n", "SET Requirements TARGET.Requirements\n"] {
        assert_eq!(rules("slip-none.rules", text), (Some(0), "note: 8 of 8 ads would change\n".to_owned()));
    }
    let (status, told) = rules("slip-block.rules", "JOB_TRANSFORM_X @=end\n SET A 1\n@end\n");
    assert!(status == Some(1) && told.contains("changes nothing") && told.contains("--config"), "{told}");
    for (constraint, phrase) in [("Name", "a string"), ("{ 1 }", "a list")] {
        let (status, _, told) = classad(&["query", constraint, "samples/pool/machines.long"]);
        assert_eq!(status, Some(1));
        assert!(told.contains(&format!("the constraint is true in no ad: in some it is {phrase}")), "{told}");
    }
    let (status, _, told) = classad(&["query", "Name == \"x\" ? Name : false", "samples/pool/machines.long"]);
    assert_eq!((status, told.as_str()), (Some(1), ""));
}

/// What is asked for comes first.
#[test]
fn a_topic_comes_before_the_command_of_its_name() {
    let (_, text, _) = classad(&["help", "explain"]);
    let (topic, command) = (text.find("explain: "), text.find("Usage: classad explain"));
    assert!(topic == Some(0) && command > topic, "{text}");
}

/// The former names of options mean what the names of today mean.
#[test]
fn former_names_are_understood() {
    let refs = ["refs", JOBS];
    for (name, former, arguments) in [
        ("--pool", "--offers", &["match", JOBS][..]),
        ("--pool", "--offers", &["negotiate", JOBS]),
        ("--pool", "--offers", &["explain", JOBS]),
        ("--pool", "--offers", &["autocluster", JOBS]),
        ("--pool", "--offers", &["gangmatch", JOBS]),
        ("--pool", "--against", &["check", JOBS]),
        ("--pool", "--missing-in", &refs),
    ] {
        let with = |option: &str| classad(&[arguments, &[option, MACHINES]].concat());
        let today = with(name);
        assert!(!today.1.is_empty() && today == with(former), "{arguments:?}");
        let help = classad(&[arguments[0], "--help"]).1;
        assert!(help.contains(name) && !help.contains(former), "{help}");
    }
    let with = |option: &str| classad(&["transform", "--set", "A=1", option, "ProcId == 1", "--count", JOBS]);
    assert_eq!(with("--constraint"), with("--where"));
}

/// `-v` is `--verbose` in each command but `query`, which refuses it: it was `--invert` there.
#[test]
fn v_reports_more() {
    let with = |arguments: &[&str]| classad(&[arguments, &[JOBS]].concat());
    let note = "note: the dialect is condor: samples/pool/jobs.long is in the long form";
    for arguments in
        [&["refs", "-v"][..], &["refs", "--verbose"], &["query", "--verbose", "true"], &["-v", "query", "true"]]
    {
        let (status, rows, told) = with(arguments);
        assert!(status == Some(0) && !rows.is_empty() && told.contains(note), "{arguments:?} {told}");
    }
    for cluster in ["-v", "-qv", "-vv"] {
        let (status, rows, told) = with(&["query", cluster, "true"]);
        assert!(status == Some(2) && rows.is_empty() && told.contains("--invert prints"), "{cluster} {told}");
    }
    let evidence =
        |option: &[&str]| classad(&[&["explain", JOBS, "--pool", MACHINES, "--request", "106.0"], option].concat()).1;
    assert_eq!(evidence(&["-v"]), evidence(&["--verbose"]));
    assert!(evidence(&["-vv"]).len() > evidence(&["-v"]).len() && evidence(&["-v"]).len() > evidence(&[]).len());
}

/// `--json` is `-o json`, and `--csv` is `-o csv`, where a command takes these forms.
#[test]
fn forms_have_shortcuts() {
    for arguments in [
        &["query", "true", JOBS, "--af", "ClusterId,Owner"][..],
        &["match", JOBS, "--pool", MACHINES],
        &["explain", JOBS, "--pool", MACHINES],
        &["census", JOBS],
        &["functions"],
        &["diff", JOBS, MACHINES],
    ] {
        for form in ["json", "csv"] {
            let short = classad(&[arguments, &[&format!("--{form}")]].concat());
            assert!(
                !short.1.is_empty() && short == classad(&[arguments, &["-o", form]].concat()),
                "{arguments:?} {form}"
            );
        }
    }
    for arguments in [&["check", JOBS][..], &["parse", JOBS], &["convert", JOBS], &["parts", JOBS, "--now", "5"]] {
        let short = classad(&[arguments, &["--json"]].concat());
        assert!(!short.1.is_empty() && short == classad(&[arguments, &["-o", "json"]].concat()), "{arguments:?}");
        let (status, rows, told) = classad(&[arguments, &["--csv"]].concat());
        assert!(status == Some(2) && rows.is_empty() && told.contains("unexpected argument '--csv'"), "{told}");
    }
    for both in [&["--json", "--csv"][..], &["--json", "-o", "json"]] {
        let (status, rows, _) = classad(&[&["query", "true", JOBS], both].concat());
        assert!(status == Some(2) && rows.is_empty(), "{both:?}");
    }
    let (status, _, told) = classad(&["convert", JOBS]);
    assert!(status == Some(2) && told.contains("--to <FORM>"), "{told}");
    // What refuses -o refuses its short forms.
    let (status, rows, _) = classad(&["join", JOBS, "--with", JOBS, "--on", "ClusterId", "--count", "--json"]);
    assert!(status == Some(2) && rows.is_empty(), "{rows}");
}

/// `output` of the configuration file is the form of all commands that take it.
#[test]
fn the_configuration_file_sets_the_form() {
    let folder = std::path::PathBuf::from(file("first-form", "")).with_file_name("first-form-home");
    std::fs::create_dir_all(folder.join("classad")).unwrap();
    let with = |config: &str, arguments: &[&str]| {
        std::fs::write(folder.join("classad/config.yaml"), config).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_classad"));
        command.args(arguments).env("XDG_CONFIG_HOME", &folder).current_dir(env!("CARGO_MANIFEST_DIR"));
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let query = ["query", "true", JOBS, "--af", "ClusterId,Owner"];
    assert_eq!(with("output: csv\n", &query).1, classad(&[&query[..], &["-o", "csv"]].concat()).1);
    let json = classad(&[&query[..], &["-o", "json"]].concat()).1;
    assert_eq!(with("output: csv\n", &[&query[..], &["-o", "json"]].concat()).1, json);
    assert_eq!(with("output: csv\n", &[&query[..], &["--json"]].concat()).1, json);
    // `parse` has no rows, so that it does what it does without the file.
    assert_eq!(with("output: csv\n", &["parse", JOBS]).1, classad(&["parse", JOBS]).1);
    let (status, rows, told) = with("output: pdf\n", &query);
    assert!(status == Some(2) && rows.is_empty(), "{rows}");
    assert!(told.contains("config.yaml: there is no output format pdf"), "{told}");
    for (config, is_noted) in [("verbose: true\n", true), ("verbose: false\n", false)] {
        let (status, _, told) = with(config, &["refs", JOBS]);
        assert!(status == Some(0) && told.contains("the dialect is condor") == is_noted, "{config} {told}");
    }
}

/// `-o markdown` writes a table whose cells a reader of Markdown shows as they are.
#[test]
fn rows_become_a_markdown_table() {
    let ads = file("first-markdown.ad", "[A = \"a|b*c\"; B_1 = \"x_y _z_\\nend & &lt; <b>\"]");
    let (status, table, _) = classad(&["query", "true", &ads, "--af", "A,B_1", "-o", "markdown"]);
    let expected = "| A | B_1 |\n| --- | --- |\n| a\\|b\\*c | x_y \\_z\\_<br>end & \\&lt; \\<b> |\n";
    assert_eq!((status, table.as_str()), (Some(0), expected));
    let (_, rows, _) = classad(&["query", "true", &ads, "--af", "A", "-o", "markdown", "--no-header"]);
    assert_eq!(rows, "| a\\|b\\*c |\n");
    for arguments in [
        &["match", JOBS, "--pool", MACHINES][..],
        &["explain", JOBS, "--pool", MACHINES],
        &["census", JOBS],
        &["functions"],
        &["diff", JOBS, MACHINES],
        &["refs", JOBS],
        &["query", "true", JOBS, "--group-by", "Owner"],
        &["autocluster", JOBS],
    ] {
        let table = classad(&[arguments, &["-o", "markdown"]].concat()).1;
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        let widths: Vec<usize> = table.lines().map(cells).collect();
        assert!(widths.len() > 2 && widths.iter().all(|width| *width == widths[0]), "{arguments:?} {table}");
    }
}

/// A name in a column, key or group that no selected ad has is noted if another one is similar; parts and merge note
/// it, too.
#[test]
fn misspelt_columns_are_noted() {
    for options in [&["--af", "Nmae,Memory"][..], &["--af", "Memory", "--sort", "Nmae"], &["--group-by", "Nmae"]] {
        let query = [&["query", "true", MACHINES][..], options].concat();
        let (status, rows, told) = classad(&query);
        assert!(status == Some(0) && !rows.is_empty(), "{options:?} {told}");
        assert!(told.contains("no selected ad has the attribute Nmae; did you mean Name"), "{options:?} {told}");
        let (_, partial, _) = classad(&[&query[..], &["--partial"]].concat());
        let partial = file("first-misspelt.part", &partial);
        assert_eq!(classad(&["merge", &partial]), (status, rows, told), "{options:?}");
    }
    // An attribute of HTCondor's may be missing, and so may one that is like no other.
    for name in ["RemoteOwner", "Zzyzx"] {
        let (_, _, told) = classad(&["query", "true", MACHINES, "--af", name]);
        assert!(!told.contains("no selected ad"), "{told}");
    }
}

/// `explain --unmatched` of a job that gets a slot says which one. Slots that are given whole are noted.
#[test]
fn jobs_that_get_a_slot_are_no_mistake() {
    let explain = ["explain", JOBS, "--pool", MACHINES, "--unmatched"];
    let (status, text, told) = classad(&[&explain[..], &["--request", "101.0"]].concat());
    assert!(status == Some(0) && text.starts_with("101.0 gets slot"), "{text}{told}");
    let (status, _, told) = classad(&[&explain[..], &["--request", "1.7"]].concat());
    assert!(status == Some(2) && told.contains("there is no ad 1.7"), "{told}");
    let (_, text, told) = classad(&explain);
    assert!(text.starts_with("3 of 8 jobs get no slot: 2 match nothing, 1 matches only what others take\n"), "{text}");
    assert!(told.contains("each job takes a whole slot"), "{told}");
    let (_, _, told) = classad(&[&explain[..], &["--policy", "htcondor"]].concat());
    assert!(!told.contains("takes a whole slot") && !told.contains("`share`"), "{told}");
}

/// Slips whose message misled a first reader.
#[test]
fn slips_are_named_as_what_they_are() {
    let (status, _, told) = classad(&["transform", "--set", "Cpus=max({Cpus, 2})", MACHINES]);
    assert!(status == Some(0) && told.contains("Cpus refers to itself") && told.contains("--eval-set"), "{told}");
    assert!(!classad(&["transform", "--set", "Cpus=2", MACHINES]).2.contains("refers"));
    let (status, _, told) = classad(&["test", "samples/policy.yaml"]);
    assert!(status == Some(2) && told.contains("this is a policy, not a spec"), "{told}");
    let rules = file("first-plus.rules", "SET +ProjectName \"x\"\n");
    let (_, _, told) = classad(&["transform", "--rules", &rules, JOBS]);
    assert!(told.contains("leave out the `+`"), "{told}");
    let (status, _, told) = classad(&["split", "--ads", "2", "--into", "no/such/{}.long", JOBS]);
    assert!(status == Some(2) && told.contains("its folder does not exist"), "{told}");
}

#[test]
fn a_date_that_does_not_exist_is_refused() {
    for (time, expected) in [("2026-02-28", 0), ("2026-02-30", 2), ("2026-13-01", 2), ("2026-01-31T25:00:00Z", 2)] {
        let (status, _, errors) = classad(&["eval", "--now", time, "1"]);
        assert_eq!(status, Some(expected), "{time}: {errors}");
    }
}

#[test]
fn a_word_of_a_topic_leads_to_the_topic() {
    let (status, _, errors) = classad(&["help", "transcript"]);
    assert!(status == Some(2) && errors.contains("these topics mention it: policy"), "{errors}");
}

#[test]
fn a_query_of_files_that_cannot_be_read_prints_no_count() {
    let missing = file("first-hour-missing", "") + ".absent";
    let (status, text, _) = classad(&["query", "true", &missing, "--count"]);
    assert_eq!((status, text.as_str()), (Some(2), ""));
    let (status, text, _) = classad(&["query", "true", &missing, "samples/pool/jobs.long", "--count"]);
    assert_eq!((status, text.as_str()), (Some(2), "8\n"));
}

#[test]
fn of_equal_warnings_the_first_is_shown() {
    let record = |cluster: usize| {
        format!(
            "ClusterId = {cluster}\nProcId = 0\n*** Offset = 0 ClusterId = 9{cluster} ProcId = 0 Owner = \"a\" CompletionDate = 1\n"
        )
    };
    let history = file("first-hour-history", (1..=4).map(record).collect::<String>());
    let (_, _, errors) = classad(&["query", "true", &history, "--af", "ClusterId"]);
    assert_eq!(errors.matches("differ in ClusterId").count(), 1, "{errors}");
    assert!(errors.contains("3 more warnings not shown"), "{errors}");
}

#[test]
fn diff_has_its_status_also_if_nobody_reads_on() {
    let ads = |value: usize| {
        let ads: Vec<String> = (0..20_000).map(|at| format!("Name = \"a{at}\"\nX = {value}\n")).collect();
        ads.join("\n")
    };
    let [before, after] = [1, 2].map(|value| file(&format!("first-hour-pipe-{value}"), ads(value)));
    let command =
        format!("{} diff {before} {after} 2>&1 | head -1; echo ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_classad"));
    let output = std::process::Command::new("bash").args(["-c", &command]).output().expect("there is a shell");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.lines().last(), Some("1"), "{text}");
}
