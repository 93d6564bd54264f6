//! Tests of whole submit files.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value as Json;

use super::{SubmitSettings, describe_jobs};
use crate::ad::{Ad, Dialect};
use crate::configuration::Configuration;
use crate::eval::Context;
use crate::format::{Position, Severity};
use crate::syntax::{ParseOptions, Style, expression_text, parse_expression};

/// The folder of the recorded cases, in which `condor_submit` ran as `/t`.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/submit");

/// Attributes of clocks, versions, owners and sizes of files.
const IGNORED: [&str; 11] = [
    "QDate",
    "EnteredCurrentStatus",
    "CondorVersion",
    "SubmitVersion",
    "CondorPlatform",
    "Owner",
    "DiskUsage",
    "ImageSize",
    "ExecutableSize",
    "TransferInputSizeMB",
    "JobSubmitFile",
];

fn settings(configuration: &str) -> SubmitSettings {
    let configuration = format!("FILESYSTEM_DOMAIN = live.test\n{configuration}");
    SubmitSettings {
        configuration: Configuration::read(configuration.as_bytes()).0,
        context: Context { now: Some(1_795_817_032), ..Context::new(Dialect::Condor) },
        working_directory: format!("{FOLDER}/files"),
        file_name: "x.sub".to_owned(),
        user: "root".to_owned(),
        ..SubmitSettings::default()
    }
}

/// Returns the attributes of an ad in one spelling.
fn attributes(ad: &Ad) -> BTreeMap<String, String> {
    let shown = |text: String| text.replace(&format!("{FOLDER}/files"), "/t").replace("x.sub", "SUBMIT");
    ad.iter()
        .filter(|attribute| !IGNORED.iter().any(|name| attribute.name.as_str() == *name))
        .map(|attribute| {
            (attribute.name.as_str().to_ascii_lowercase(), shown(expression_text(attribute.expression, Style::Long)))
        })
        .collect()
}

/// Returns recorded attributes in the same spelling.
fn recorded(attributes: &BTreeMap<String, Json>, name: &str) -> BTreeMap<String, String> {
    let text = |value: &Json| {
        let text = value.as_str().unwrap_or_default();
        let parsed = parse_expression(text.as_bytes(), ParseOptions::long(Dialect::Condor));
        let shown = parsed.map_or_else(|_| text.to_owned(), |expression| expression_text(&expression, Style::Long));
        shown.replace(&format!("{name}.sub"), "SUBMIT")
    };
    attributes.iter().map(|(name, value)| (name.to_ascii_lowercase(), text(value))).collect()
}

fn object(value: &Json) -> BTreeMap<String, Json> {
    value.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The jobs of each recorded submit file are those that `condor_submit` 25.14.1 made of it. It refuses those without jobs.
#[test]
fn jobs_are_those_of_condor_submit() {
    let cases = std::fs::read_to_string(format!("{FOLDER}/cases.jsonl")).unwrap();
    let mut lines = cases.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let common = object(&lines.next().unwrap()["common"]);
    let (mut differences, mut count) = (String::new(), 0);
    for case in lines {
        count += 1;
        let name = case["name"].as_str().unwrap();
        let described = describe_jobs(
            case["submit"].as_str().unwrap().as_bytes(),
            &settings(case["config"].as_str().unwrap_or("")),
        );
        let ours: Vec<_> = described.items.iter().flatten().map(|entry| attributes(&entry.ad)).collect();
        let Some(jobs) = case["jobs"].as_array() else {
            // A second queue statement is refused by default only; the jobs are made.
            let is_second_queue = case["message"].as_str().unwrap().contains("Extra data found");
            if ours.is_empty() == is_second_queue {
                writeln!(differences, "{name}: {} jobs, but {}", ours.len(), case["message"]).unwrap();
            }
            continue;
        };
        let mut first = common.clone();
        first.extend(object(&jobs[0]));
        let theirs: Vec<_> = jobs
            .iter()
            .map(|job| {
                let mut all = first.clone();
                all.extend(object(job));
                recorded(&all, name)
            })
            .collect();
        if theirs.len() != ours.len() {
            writeln!(differences, "{name}: {} jobs instead of {}", ours.len(), theirs.len()).unwrap();
        }
        for (theirs, ours) in theirs.iter().zip(&ours) {
            for attribute in theirs.keys().chain(ours.keys().filter(|attribute| !theirs.contains_key(*attribute))) {
                if theirs.get(attribute) != ours.get(attribute) {
                    let (theirs, ours) = (theirs.get(attribute), ours.get(attribute));
                    writeln!(differences, "{name}: {attribute}\n  theirs {theirs:?}\n  ours   {ours:?}").unwrap();
                }
            }
        }
    }
    assert!(count > 200, "{count}");
    assert!(differences.is_empty(), "{differences}");
}

/// Returns the problems with their lines, columns and marked texts.
fn problems(text: &str) -> Vec<String> {
    let described = describe_jobs(text.as_bytes(), &settings(""));
    let problems = described.items.iter().filter_map(|item| item.as_ref().err());
    problems
        .map(|problem| {
            let Position { line, column } = Position::of_offset(text.as_bytes(), problem.range.start);
            let kind = if problem.severity == Severity::Error { "" } else { "warning: " };
            let help = problem.help.as_deref().unwrap_or("-");
            format!("{line}:{column} `{}` {kind}{} ({help})", &text[problem.range.clone()], problem.message)
        })
        .collect()
}

#[test]
fn problems_have_their_places() {
    let mut others = String::new();
    for (text, expected) in [
        (
            "executable = a\nrequest_memory = 2 bananas\nqueue\n",
            "2:20 `bananas` expected the end, found a name `bananas` (write a number with K, M, G or T, such as 2GB, or an \
             expression)",
        ),
        (
            "executable = a\nrequirements = Memory >\nqueue\n",
            "2:24 `` expected an expression, found the end (`>` needs something after it)",
        ),
        (
            "universe = vanila\nexecutable = a\nqueue\n",
            "1:12 `vanila` there is no universe `vanila` (did you mean vanilla?)",
        ),
        (
            "a = $(b)\nb = $(a)\nexecutable = $(a)\nqueue\n",
            "3:14 `$(a)` the macros form a circle, are nested too deeply, or give too long a text (-)",
        ),
        (
            "executable = a\nqueue 1000000000\n",
            "2:1 `queue 1000000000` this makes more than 1000000 jobs (queue fewer jobs: all have the same attributes but for their numbers)",
        ),
        (
            "executable = a\ninclude command : ls\nqueue\n",
            "2:1 `include command : ls` no program is run to include what it prints (run it, and include a file with its output)",
        ),
        (
            "executable = a\ninclude : /dev/zero\nqueue\n",
            "2:1 `include : /dev/zero` cannot read /dev/zero: it is not a regular file (-)",
        ),
        (
            "executable = a\nqueue x from ls |\n",
            "2:1 `queue x from ls |` no program is run for items: write them to a file (-)",
        ),
        (
            "executable = a\nqueue file matching *.none\n",
            "2:1 `queue file matching *.none` warning: no name matches `*.none` (-)",
        ),
        (
            "executable = a\nqueue file matching (a.* *.txt)\n",
            "2:1 `queue file matching (a.* *.txt)` warning: `a.txt` matches twice: it is one item (-)",
        ),
        (
            "executable = a\nrequest_memry = 2\nqueue\n",
            "2:1 `request_memry` warning: this requests a resource `memry`, which a pool must offer (did you mean request_memory?)",
        ),
        (
            "executable = a\narguments = $(nmae)\nname = 1\nqueue\n",
            "2:13 `$(nmae)` warning: the variable nmae has no value: nothing takes its place (did you mean $(name)?)",
        ),
    ] {
        let found = problems(text);
        if !found.contains(&expected.to_owned()) {
            writeln!(others, "{text}{found:#?}").unwrap();
        }
    }
    assert!(others.is_empty(), "{others}");
}

/// Returns attributes of the only job that some commands make under a configuration, `-` for one that it lacks.
fn values(configuration: &str, commands: &str, names: &[&str]) -> Vec<String> {
    let described = describe_jobs(format!("executable = a\n{commands}\nqueue\n").as_bytes(), &settings(configuration));
    let [Ok(entry)] = &described.items[..] else { panic!("{commands}: {:?}", described.items) };
    let shown =
        |name: &&str| entry.ad.get_str(name).map_or("-".to_owned(), |value| expression_text(value, Style::Long));
    names.iter().map(shown).collect()
}

#[test]
fn a_history_of_attributes_has_a_length_of_32_bits() {
    let refused = |length: &str| {
        let text = format!("executable = a\njob_machine_attrs_history_length = {length}\nqueue\n");
        problems(&text).iter().any(|problem| problem.contains("this is not a number of attributes"))
    };
    for (length, is_refused) in [("-1", true), ("0", false), ("3", false), ("2147483647", false), ("2147483648", true)]
    {
        assert_eq!(refused(length), is_refused, "{length}");
    }
}

#[test]
fn what_a_transfer_of_files_needs_of_a_slot_is_a_clause() {
    for (commands, expected) in [
        ("", "(TARGET.HasFileTransfer)"),
        ("MY.RequireCommonFilesTransfer = false", "(TARGET.HasFileTransfer)"),
        ("MY.RequireCommonFilesTransfer = true", "(TARGET.HasFileTransfer && TARGET.HasCommonFilesTransfer >= 2)"),
        ("encrypt_input_files = b", "(TARGET.HasFileTransfer && TARGET.HasPerFileEncryption)"),
        ("encrypt_input_files = b\nrequirements = HasPerFileEncryption", "(TARGET.HasFileTransfer)"),
        (
            "transfer_input_files = http://a/b",
            "(TARGET.HasFileTransfer && stringListIMember(\"http\", TARGET.HasFileTransferPluginMethods))",
        ),
        (
            "output_destination = https://a/b",
            "(TARGET.HasFileTransfer && stringListIMember(\"https\", TARGET.HasFileTransferPluginMethods))",
        ),
        (
            "transfer_output_remaps = \"a = osdf:///b; c = d\"",
            "(TARGET.HasFileTransfer && stringListIMember(\"osdf\", TARGET.HasFileTransferPluginMethods))",
        ),
        ("requirements = HasFileTransfer", ""),
    ] {
        let requirements = values("", &format!("should_transfer_files = yes\n{commands}"), &["Requirements"]).remove(0);
        let clause = requirements.split(" && ").skip_while(|part| !part.contains("(TARGET.HasFileTransfer"));
        assert_eq!(clause.collect::<Vec<_>>().join(" && "), expected, "{commands}: {requirements}");
    }
}

#[test]
fn an_environment_of_the_configuration_stays_without_commands() {
    let names = ["Environment", "Env", "EnvDelim"];
    let new = "SUBMIT_ATTRS = Environment\nEnvironment = \"A=1\"";
    let old = "SUBMIT_ATTRS = Env\nEnv = \"A=1\"";
    for (configuration, commands, expected) in [
        ("", "", ["\"\"", "-", "-"]),
        ("", "environment = \"A=1 B=2\"", ["\"A=1 B=2\"", "-", "-"]),
        ("", "environment = A=1;B=2", ["\"A=1 B=2\"", "-", "-"]),
        ("", "env = A=1;B=2", ["-", "\"A=1;B=2\"", "\";\""]),
        (new, "", ["\"A=1\"", "-", "-"]),
        (old, "", ["-", "\"A=1\"", "-"]),
        (new, "environment = B=2", ["\"B=2\"", "-", "-"]),
        (old, "environment = B=2", ["\"B=2\"", "\"B=2\"", "\";\""]),
    ] {
        assert_eq!(values(configuration, commands, &names), expected, "{configuration}\n{commands}");
    }
}

#[test]
fn an_included_file_that_includes_itself_ends() {
    let folder = std::env::temp_dir().join(format!("classad-submit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("self.inc"), "include : self.inc\n").unwrap();
    let settings =
        SubmitSettings { working_directory: folder.to_string_lossy().into_owned(), ..SubmitSettings::default() };
    let described = describe_jobs(b"executable = a\ninclude : self.inc\nqueue\n", &settings);
    std::fs::remove_dir_all(&folder).unwrap();
    let problem = described.items[0].as_ref().unwrap_err();
    assert!(problem.message.ends_with("files include each other, or are nested too deeply"), "{}", problem.message);
}

#[test]
fn attributes_know_their_commands() {
    let text = "executable = a\nrequirements = Memory > 4 && Arch == \"x\"\nrequest_memory = 512GB\nqueue 2\n";
    let described = describe_jobs(text.as_bytes(), &settings(""));
    let entry = described.items[1].as_ref().unwrap();
    let spans = described.attribute_spans(entry.offset);
    let marked = |attribute: &str, part: &str| {
        let span = spans.iter().find(|span| span.name.as_str() == attribute).unwrap();
        let expression = entry.ad.get_str(attribute).unwrap();
        let parts = expression.parts().find(|expression| expression_text(expression, Style::Long) == part);
        text[span.file_range(parts.unwrap().span())].to_owned()
    };
    assert_eq!(marked("RequestMemory", "524288"), "512GB");
    assert_eq!(marked("Requirements", "Memory > 4"), "Memory > 4");
    assert_eq!(marked("Requirements", "TARGET.Memory >= RequestMemory"), "512GB");
}

/// The expressions that do not differ from job to job are shared.
#[test]
fn jobs_share_expressions() {
    let text = b"executable = a\narguments = $(Process)\nlog = $(x).log\nqueue 3 x in (a b)\n";
    let described = describe_jobs(text, &settings(""));
    let ads: Vec<Ad> = described.items.iter().flatten().map(|entry| entry.ad.clone()).collect();
    let shown = |name: &str| ads.iter().map(|ad| ad.get_str(name).unwrap().to_string()).collect::<Vec<_>>().join(" ");
    assert_eq!(shown("Args"), r#""0" "1" "2" "3" "4" "5""#);
    assert_eq!(shown("ProcId"), "0 1 2 3 4 5");
    let requirements = |ad: &Ad| ad.get_str("Requirements").unwrap().identity();
    assert!(ads.iter().all(|ad| requirements(ad) == requirements(&ads[0])));
    assert!(shown("UserLog").ends_with("/b.log\""));
}
