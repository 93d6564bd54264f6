//! Tables in a narrow window: no word is cut, and nothing is wider than the window that could be narrower.

use std::collections::HashSet;
use std::process::Command;

fn run(arguments: &[&str], columns: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_classad"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments);
    command.env("COLUMNS", columns).env("LC_ALL", "C.UTF-8").env_remove("NO_COLOR");
    let output = command.output().unwrap();
    assert!(output.status.code() < Some(2), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A pool with names as they are in real ones.
fn pool() -> [String; 2] {
    let folder = crate::binary::temporary().join("tables");
    std::fs::create_dir_all(&folder).unwrap();
    ["machines", "jobs"].map(|kind| {
        let path = folder.join(kind);
        let text =
            run(&["workload", "pool", "--machines", "30", "--jobs", "40", "--form", "long", "--kind", kind], "80");
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    })
}

/// The words of an output; what frames pictures and what is cut off on purpose are none.
fn words(text: &str) -> Vec<&str> {
    let is_word = |word: &&str| !word.ends_with("...") && word.chars().any(char::is_alphanumeric);
    text.split_whitespace().filter(is_word).collect()
}

#[test]
fn no_word_is_cut_in_sixty_columns() {
    let [machines, jobs] = pool();
    let (machines, jobs) = (machines.as_str(), jobs.as_str());
    let commands: Vec<Vec<&str>> = vec![
        vec!["query", "true", machines, "--af", "Name,Arch,OpSysAndVer,Memory,Machine,State", "-o", "table"],
        vec!["query", "true", machines, "--group-by", "OpSysAndVer", "-o", "table"],
        vec!["match", jobs, "--pool", machines, "-o", "table"],
        vec!["match", jobs, "--pool", machines, "--best", "2", "-o", "table"],
        vec!["negotiate", jobs, "--pool", machines, "-o", "table"],
        vec!["census", machines, "-o", "table"],
        vec!["functions", "-o", "table"],
        vec!["autocluster", jobs, "--pool", machines, "-o", "table"],
        vec!["gangmatch", "samples/gangs/jobs.ad", "--pool", "samples/gangs/offers.ad", "-o", "table"],
        vec!["gangmatch", jobs, "--pool", machines, "-o", "table"],
        vec!["explain", jobs, "--pool", machines, "--unmatched", "-v"],
        vec!["explain", "samples/license/jobs.ad", "--pool", "samples/license/machines.ad", "-v"],
    ];
    for arguments in commands {
        let [narrow, wide] = ["60", "1000"].map(|columns| run(&arguments, columns));
        let known: HashSet<&str> = words(&wide).into_iter().collect();
        // What has no room is named, in as many lines as that takes.
        let mut in_note = false;
        let is_shown = |line: &&str| {
            in_note |= line.starts_with("(no room for: ");
            let is_shown = !in_note;
            in_note &= !line.ends_with(')');
            is_shown
        };
        let shown: Vec<&str> = narrow.lines().filter(is_shown).collect();
        for line in shown {
            for word in words(line) {
                assert!(known.contains(word), "{arguments:?}: {word} in {line}");
            }
        }
        if arguments[0] != "explain" {
            for line in narrow.lines().filter(|line| line.split_whitespace().count() > 2) {
                assert!(line.chars().count() <= 60, "{arguments:?}: {line}");
            }
        }
    }
}
