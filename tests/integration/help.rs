//! The examples of the help texts: each is run as it stands there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

/// Other programs, which may not be there, and files of the reader's own.
const NOT_HERE: [&str; 5] = ["condor_status", "dot -Tsvg", "policy.ad", "yesterday.long", "machines.json"];

/// Runs something in the shell, from the root of the project, with the binary on the path.
fn shell(line: &str) -> Output {
    let folder = Path::new(env!("CARGO_BIN_EXE_classad")).parent().expect("it is in a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path)));
    Command::new("sh")
        .args(["-c", line])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("PATH", path.expect("folders can be joined"))
        .output()
        .expect("there is a shell")
}

fn help(arguments: &str) -> String {
    String::from_utf8(shell(&format!("classad {arguments} --help")).stdout).expect("help is text")
}

/// The names in the list of commands.
fn commands() -> Vec<String> {
    let list = String::from_utf8(shell("classad help commands").stdout).expect("help is text");
    let list = list.lines().take_while(|line| !line.is_empty());
    // A name stands two columns in; what is further in goes on with a description.
    let names = list.filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')));
    names.filter_map(|line| line.split(' ').next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn every_example_runs() {
    let commands = commands();
    assert!(commands.len() > 10, "{commands:?}");
    let mut skipped = [false; NOT_HERE.len()];
    for command in &commands {
        // A long example goes on in the next line, as the shell has it.
        let help = help(command).replace(" \\\n", " ");
        let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
        let examples: Vec<&str> = lines.take_while(|line| line.starts_with("  ")).map(str::trim).collect();
        assert!(!examples.is_empty(), "`classad {command} --help` has no examples");
        let [first, options] = ["\nExamples:\n", "\nOptions:\n"].map(|heading| help.find(heading));
        assert!(options.is_none_or(|options| first < Some(options)), "{command}: the examples come after the options");
        for example in examples {
            assert!(example.contains(&format!("classad {command}")), "{example}: an example of another command");
            if let Some(place) = NOT_HERE.iter().position(|other| example.contains(other)) {
                skipped[place] = true;
                continue;
            }
            let output = shell(example);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(output.status.code(), Some(0 | 1)), "{example}: {:?}: {errors}", output.status);
            assert!(!output.stdout.is_empty(), "{example}: nothing is printed");
            assert!(!errors.contains("error:") && !errors.contains('×'), "{example}: {errors}");
        }
    }
    assert_eq!(skipped, [true; NOT_HERE.len()], "{NOT_HERE:?}: what no example names need not be left out");
}

/// Options that several commands have are described in the same words, but for what a command adds.
#[test]
fn options_are_described_alike() {
    const SHARED: [&str; 4] = ["-o, --output ", "--no-header", "--id ", "-w, --write"];
    let mut described = BTreeMap::<&str, BTreeSet<String>>::new();
    for help in commands().iter().map(|command| help(command)) {
        let lines: Vec<&str> = help.lines().map(str::trim).collect();
        for pair in lines.windows(2) {
            if let Some(option) = SHARED.iter().find(|option| pair[0].starts_with(**option)) {
                let words = pair[1].split([',', ';']).next().unwrap_or_default().to_owned();
                described.entry(option).or_default().insert(words);
            }
        }
    }
    assert_eq!(described.len(), SHARED.len());
    assert!(described.values().all(|words| words.len() == 1), "{described:?}");
}
