//! Configuration files, as `condor_config_val` of HTCondor reads them. tests/configurations/run asks it.

use classad::ad::Dialect;
use classad::configuration::{Configuration, ConfigurationSettings};
use classad::eval::Context;

use crate::binary::{classad, file, temporary, words};

const FOLDER: &str = "tests/configurations";

/// Values that depend on the machine of the tool: its cores, and whose account it runs in.
const DIFFERING: [&str; 3] = ["NUM_SLOTS_TYPE_2", "ALLOW_", "authuser"];

/// Reads a file, whose includes are in the folder `/cases` of a root.
fn read(name: &str) -> Configuration {
    let root = temporary().join("configuration-root");
    let copies = root.join("cases/parts.d");
    std::fs::create_dir_all(&copies).expect("a folder can be made");
    for part in std::fs::read_dir(format!("{FOLDER}/parts.d")).expect("there are parts").flatten() {
        std::fs::copy(part.path(), copies.join(part.file_name())).expect("it can be copied");
    }
    std::fs::copy(format!("{FOLDER}/append.config"), root.join("cases/append.config")).expect("it can be copied");
    let path = format!("{FOLDER}/{name}.config");
    let bytes = std::fs::read(&path).expect("there is such a file");
    let settings = ConfigurationSettings { root: Some(root), ..ConfigurationSettings::default() };
    Configuration::read_files(&[(path, bytes)], &settings).0
}

/// The words of each line, as HTCondor's tool joins the lines of a value.
fn lines(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n  ", "");
    let lines = joined.lines().map(|line| line.trim().to_owned());
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

#[test]
fn values_are_those_of_condor_config_val() {
    let context = Context::new(Dialect::Condor);
    let (mut values, mut differing) = (0, Vec::new());
    for answer in std::fs::read_dir(format!("{FOLDER}/answers")).expect("there are answers").flatten() {
        let name = answer.file_name().into_string().expect("it is UTF-8");
        if name == "version" {
            continue;
        }
        let configuration = read(&name);
        let answers = std::fs::read_to_string(answer.path()).expect("it is UTF-8");
        let mut rest = answers.as_str();
        while let Some((heading, behind)) = rest.split_once('\n') {
            let end = behind.match_indices('\n').map(|(at, _)| at + 1).chain([0]);
            let is_end = |at: &usize| !behind[*at..].starts_with("    ");
            let mut ends: Vec<usize> = end.filter(is_end).collect();
            ends.sort_unstable();
            let end = ends.first().copied().unwrap_or(behind.len());
            let (kind, variable) = heading.split_once(' ').expect("a heading");
            let entry = configuration.entries().iter().find(|entry| entry.name.eq_ignore_ascii_case(variable));
            let value = entry.map(|entry| match kind {
                "raw" => configuration.raw_value(entry).to_owned(),
                _ => configuration
                    .expand_leniently(entry, &context)
                    .map_or_else(|problem| problem.message, |(value, _)| value.text),
            });
            values += 1;
            let answer = if behind[..end].contains("Not defined: ") { "" } else { &behind[..end] };
            let is_of_machine = name != "prefix" && DIFFERING.iter().any(|start| variable.starts_with(start));
            if !is_of_machine && value.as_deref().map(lines) != Some(lines(answer)) {
                differing.push(format!("{name}: {heading}: {value:?}, not {:?}", &behind[..end]));
            }
            rest = &behind[end..];
        }
    }
    assert!(differing.is_empty(), "{} of {values} values differ:\n{}", differing.len(), differing.join("\n"));
    assert!(values > 300, "{values}");
}

#[test]
fn findings_point_into_files_and_name_what_was_replaced() {
    let first = file("first.config", "START = False\nuse POLICY : ALWAYS_RUN_JOBS\n");
    let second = file("second.config", "START = Memory > 10 && \\\n  Memory < 5\n");
    let (status, out, errors) = classad(&["check", "--config", &format!("{first},{second}"), "samples/pool/jobs.long"]);
    assert_eq!(status, Some(1), "{errors}");
    assert!(out.contains(&format!("{second}:1:9")), "{out}{errors}");
    assert!(out.contains("it replaces `False`") && out.contains("first.config:2"), "{out}");
    let missing = file("missing.config", "include : none.config\nSTART = $(X) && $(MINUTE) > 1\n");
    let (_, out, _) = classad(&["check", "--config", &missing, "samples/pool/jobs.long"]);
    assert!(words(&out).contains("there is no such file") && out.contains("--config-root"), "{out}");
    let circle = file("circle.config", "include : circle.config\nuse FEATURE : Nothing\n");
    let (status, out, errors) = classad(&["check", "--config", &circle, "samples/pool/jobs.long"]);
    assert!(status == Some(2) && out.contains("include each other"), "{out}{errors}");
    assert!(out.contains("circle.config:2:1") && out.contains("there is no FEATURE:Nothing"), "{out}");
    let default = file("default.config", "START = $(StateTimer) > 5 && Memory > 5 && Memory < 3\n");
    let (_, out, errors) = classad(&["check", "--config", &default, "samples/pool/jobs.long"]);
    assert!(out.replace("\n        ", " ").contains("HTCondor's default of $(StateTimer) is"), "{out}{errors}");
}

/// `LOCALNAME.X` counts before `DAEMON.X`, and that before `X`, in the daemon that reads a setting.
#[test]
fn settings_of_a_daemon_count_before_those_of_all() {
    let text = "START = 1\nSTARTD.START = $(X)\nX = 2\nSTARTD.X = 3\nSCHEDD.X = 4\nfoo.START = 5\n\
                SYSTEM_PERIODIC_HOLD = $(X)\nNEGOTIATOR.RANK = 6\nRANK = 7\n";
    let context = Context::new(Dialect::Condor);
    let values = |local_name: Option<&str>| {
        let settings =
            ConfigurationSettings { local_name: local_name.map(str::to_owned), ..ConfigurationSettings::default() };
        let files = [("a".to_owned(), text.as_bytes().to_vec())];
        let (configuration, problems) = Configuration::read_files(&files, &settings);
        assert!(problems.is_empty(), "{problems:?}");
        ["START", "SYSTEM_PERIODIC_HOLD", "RANK"].map(|name| {
            let entry = configuration.entry(name).expect("it is set");
            configuration.expand(entry, &context).expect("it expands").text
        })
    };
    assert_eq!(values(None), ["3", "4", "7"]);
    assert_eq!(values(Some("foo")), ["5", "4", "7"]);
}

/// A policy that no file sets has HTCondor's default, and what is printed says so. The ad of the access point counts before it.
#[test]
fn policies_that_no_file_sets_have_defaults() {
    let job = "ClusterId = 1\nProcId = 0\nMyType = \"Job\"\nJobStatus = 1\nJobUniverse = 12\nRequirements = true\n\n";
    let job = file("local.job", job);
    let schedd = "Name = \"a\"\nMyType = \"Scheduler\"\nTotalLocalJobsRunning = 300\n";
    let empty = file("empty.config", "PRIORITY_HALFLIFE = 86400\n");
    for (settings, of_ad, expected) in [
        ("", "", "StartLocalUniverse (HTCondor's default): `TotalLocalJobsRunning < 200` is false"),
        ("START_LOCAL_UNIVERSE = TotalLocalJobsRunning < 100", "", "StartLocalUniverse: `TotalLocalJobsRunning < 100`"),
        ("", "StartLocalUniverse = TotalLocalJobsRunning < 50\n", "StartLocalUniverse: `TotalLocalJobsRunning < 50`"),
        // To HTCondor an empty value is none, not the default.
        ("START_LOCAL_UNIVERSE =", "", "the access point runs it"),
    ] {
        let configuration = file("local.config", settings);
        let pool = file("local.slots", format!("{schedd}{of_ad}\n"));
        let (_, out, errors) = classad(&["explain", &job, "--pool", &pool, "--config", &configuration]);
        let told = words(&out);
        assert!(told.contains(expected), "{settings} {of_ad}: {told}{errors}");
    }
    let pool = ["samples/pool/jobs.long", "--pool", "samples/pool/machines.long", "--what-if-config", "--config"];
    let (status, _, errors) = classad(&[&["explain"], &pool[..], &[&empty]].concat());
    assert!(status == Some(2) && errors.contains("neither START nor RANK"), "{errors}");
    let rank = file("rank.config", "RANK = 1\n");
    let (_, out, errors) = classad(&[&["explain"], &pool[..], &[&rank]].concat());
    assert!(format!("{out}{errors}").contains("START (HTCondor's default)"), "{out}{errors}");
}
