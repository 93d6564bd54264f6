//! Manual pages, completions and topics: what is committed is what the commands are, and other programs read it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SHELLS: [(&str, &str); 5] = [
    ("bash", "classad.bash"),
    ("zsh", "_classad"),
    ("fish", "classad.fish"),
    ("elvish", "classad.elv"),
    ("powershell", "_classad.ps1"),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn classad(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_classad"));
    command.args(arguments).current_dir(root()).env("COLUMNS", "80");
    command
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).expect("it is text")
}

fn run(command: &mut Command) -> String {
    text(&command.output().unwrap_or_else(|error| panic!("{command:?}: {error}")))
}

/// A folder of this test's own.
fn scratch(name: &str) -> PathBuf {
    let folder = crate::binary::temporary().join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("it can be made");
    folder
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).map(|entries| entries.map(|entry| entry.expect("it can be read").path()));
    let file = |path: PathBuf| {
        let name = path.file_name().expect("it has a name").to_string_lossy().into_owned();
        (name, fs::read_to_string(path).expect("it is text"))
    };
    entries.map(|paths| paths.map(file).collect()).unwrap_or_default()
}

/// What is committed, and what is generated: the same, or rewritten with `BLESS=1`.
fn compare(folder: &str, generated: &BTreeMap<String, String>) {
    let committed = root().join(folder);
    if std::env::var_os("BLESS").is_some() {
        let _ = fs::remove_dir_all(&committed);
        fs::create_dir_all(&committed).expect("it can be made");
        for (name, text) in generated {
            fs::write(committed.join(name), text).expect("it can be written");
        }
    }
    let found = files(&committed);
    let names: Vec<_> = generated.keys().filter(|name| found.get(*name) != generated.get(*name)).collect();
    let gone: Vec<_> = found.keys().filter(|name| !generated.contains_key(*name)).collect();
    let hint = "BLESS=1 cargo test rewrites them";
    assert!(names.is_empty() && gone.is_empty(), "{folder}/ is not as generated: {names:?} {gone:?}; {hint}");
}

#[test]
fn manual_pages_are_fresh() {
    let folder = scratch("man");
    run(classad(&["man", "--out"]).arg(&folder));
    let generated = files(&folder);
    for page in ["classad.1", "classad-query.1", "classad-language.7", "classad-gangs.7", "classad-explain.7"] {
        assert!(generated.contains_key(page), "{page}");
    }
    compare("man", &generated);
    // One at a time they are the same.
    for (words, file) in [
        (&["man"][..], "classad.1"),
        (&["man", "explain"], "classad-explain.1"),
        (&["man", "explain.7"], "classad-explain.7"),
    ] {
        assert_eq!(run(&mut classad(words)), generated[file]);
    }
}

#[test]
fn completions_are_fresh() {
    let script = |(shell, file): &(&str, &str)| ((*file).to_owned(), run(&mut classad(&["completions", shell])));
    compare("completions", &SHELLS.iter().map(script).collect());
}

#[test]
fn every_topic_is_read_in_a_narrow_terminal() {
    let list = run(&mut classad(&["help", "topics"]));
    let list = list.lines();
    let topics: Vec<&str> = list.filter_map(|line| line.split_whitespace().next()).collect();
    for wanted in ["formats", "dialects", "functions", "exit-codes", "policy", "gangs", "from-condor", "explain"] {
        assert!(topics.contains(&wanted), "{wanted} is not among {topics:?}");
    }
    for topic in topics {
        let text = run(classad(&["help", topic]).env("COLUMNS", "60"));
        assert!(text.contains(&format!("{topic}: ")), "{text}");
        // What is indented stays as it is.
        let prose =
            text.lines().skip_while(|line| !line.starts_with(topic)).skip(1).filter(|line| !line.starts_with(' '));
        assert!(prose.clone().count() > 1 && prose.clone().all(|line| line.chars().count() <= 60), "{text}");
    }
    let query = run(&mut classad(&["help", "query"]));
    assert_eq!(query, run(&mut classad(&["query", "--help"])));
    let wrong = classad(&["help", "formast"]).output().expect("it runs");
    assert_eq!(
        String::from_utf8_lossy(&wrong.stderr),
        "error: there is no command and no topic formast; did you mean formats?\n"
    );
    assert_eq!(wrong.status.code(), Some(2));
    let unknown = classad(&["help", "zzzzzz"]).output().expect("it runs");
    let errors = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(
        errors.contains("topics are language, ") && errors.ends_with("`classad help` lists the commands\n"),
        "{errors}"
    );
    assert_eq!(errors.lines().count(), 1);
}

/// What the table of HTCondor's tools says to say here, said of the samples.
#[test]
fn the_cheat_sheet_is_true() {
    let priorities = scratch("cheat-sheet").join("userprio").display().to_string();
    let text = "Name1 = \"alice@example.org\"\nPriority1 = 500.0\n";
    std::fs::write(&priorities, text).expect("the file can be written");
    let stands_for = [
        ("F", "samples/pool/jobs.long"),
        ("S", "samples/pool/machines.long"),
        ("E", "true"),
        ("R", "samples/transform/site.rules"),
        ("P", "samples/policy.yaml"),
        ("U", &priorities),
        ("A", "tests/cases/diff/before.long"),
        ("B", "tests/cases/diff/after.long"),
        ("7'", "106'"),
    ];
    let word = |word: &str| {
        stands_for.iter().find(|(name, _)| *name == word).map_or(word.to_owned(), |(_, is)| (*is).to_owned())
    };
    let sheet = run(&mut classad(&["help", "from-condor"]));
    let ours: Vec<&str> = sheet
        .lines()
        .filter(|line| !line.trim_start().starts_with('$'))
        .filter_map(|line| line.split_once("  classad ").map(|(_, ours)| ours))
        .collect();
    assert!(ours.len() > 10, "{sheet}");
    for line in ours {
        let words: Vec<String> = line.split(' ').map(word).collect();
        let script = format!("\"$CLASSAD\" {}", words.join(" "));
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).env("CLASSAD", env!("CARGO_BIN_EXE_classad")).current_dir(root());
        let output = shell.output().expect("there is a shell");
        assert!(matches!(output.status.code(), Some(0 | 1)) && !output.stdout.is_empty(), "{line}: {output:?}");
    }
}

/// `classad.yaml` in the user's configuration directory, below the environment and the command line.
#[test]
fn defaults_come_from_a_file() {
    let folder = scratch("configuration");
    let write = |text: &str| fs::write(folder.join("classad.yaml"), text).expect("it can be written");
    let eval = |more: &[&str], environment: &str| {
        let mut command = classad(&["eval", "2147483647 + 1"]);
        command.args(more).env("XDG_CONFIG_HOME", &folder).env("CLASSAD_DIALECT", environment);
        command.output().expect("it runs")
    };
    assert_eq!(text(&eval(&[], "")), "-2147483648\n");
    write("dialect: condor\nmax_steps: 1000\nlenient: true\n");
    assert_eq!(text(&eval(&[], "")), "2147483648\n");
    assert_eq!(text(&eval(&[], "classad")), "-2147483648\n");
    assert_eq!(text(&eval(&["--dialect", "classad"], "condor")), "-2147483648\n");
    // What names ads is not a global option, and yet has one default for all commands.
    write("id: strcat(\"job \", ClusterId, \".\", ProcId)\n");
    let mut query = classad(&["query", "true", "samples/pool/jobs.long", "-o", "names", "--limit", "1"]);
    let named = query.env("XDG_CONFIG_HOME", &folder).output().expect("it runs");
    assert_eq!(text(&named), "job 101.0\n");
    let path = folder.join("classad.yaml").display().to_string();
    for (text, told) in [
        ("dialekt: condor\n", "dialekt is not `id`, `output` or an option of every command; did you mean dialect?"),
        ("dialect: latin\n", "invalid value 'latin' for '--dialect <classad|condor>'"),
        ("threads: [1]\n", "threads must be text, a whole number, true or false"),
        ("lenient: perhaps\n", "lenient must be true or false, not perhaps"),
        ("max-steps: -1\n", "invalid value '-1' for '--max-steps <N>'"),
    ] {
        write(text);
        let output = eval(&[], "");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(errors.starts_with(&format!("error: {path}: {told}")), "{errors}");
        assert_eq!(output.status.code(), Some(2));
    }
    let wrong = classad(&["eval", "1"]).env("CLASSAD_DIALECT", "latin").output().expect("it runs");
    assert!(String::from_utf8_lossy(&wrong.stderr).starts_with("error: CLASSAD_DIALECT: invalid value 'latin'"));
}

/// Those who read manual pages have nothing to say of ours.
#[test]
#[ignore = "needs mandoc, groff and man, which .ci/run installs"]
fn manual_pages_render_without_warnings() {
    let pages = files(&root().join("man"));
    assert!(pages.len() > 20);
    for page in pages.keys().map(|name| root().join("man").join(name)) {
        let lint =
            Command::new("mandoc").args(["-T", "lint", "-W", "warning"]).arg(&page).output().expect("mandoc runs");
        assert_eq!((String::from_utf8_lossy(&lint.stdout).as_ref(), lint.status.code()), ("", Some(0)));
        let groff = Command::new("groff").args(["-ww", "-man", "-Tutf8", "-rLL=100n", "-z"]).arg(&page).output();
        let groff = groff.expect("groff runs");
        assert_eq!((String::from_utf8_lossy(&groff.stderr).as_ref(), groff.status.code()), ("", Some(0)), "{page:?}");
        let mut man = Command::new("man");
        let man = man.args(["--warnings", "-l"]).arg(&page).env("MANWIDTH", "100").env("LC_ALL", "C.UTF-8").output();
        let man = man.expect("man runs");
        let shown = String::from_utf8_lossy(&man.stdout);
        assert!(man.stderr.is_empty() && shown.contains("NAME") && shown.contains("SEE ALSO"), "{page:?}: {man:?}");
    }
}

/// Lines to complete, and a word that each must offer.
const COMPLETED: [(&str, &str); 17] = [
    ("classad que", "query"),
    ("classad negot", "negotiate"),
    ("classad query --no-h", "--no-header"),
    ("classad explain --unmatche", "--unmatched"),
    ("classad query -o jsonl --af Name --sor", "--sort"),
    ("classad help from-c", "from-condor"),
    ("classad man negot", "negotiate"),
    ("classad functions splitU", "splitUserName"),
    ("classad check --only circu", "circular"),
    ("classad query --dialect con", "condor"),
    ("classad -q query -o markd", "markdown"),
    ("classad query -slotads samples/pool/machines.long -constr", "-constraint"),
    ("classad query -slotads samples/pool/machines.long -af Name Partitionable", "PartitionableSlot"),
    ("classad query --ads samples/pool/machines.long --sort TotalSlotC", "TotalSlotCpus"),
    ("classad match --pool samples/pool/machi", "samples/pool/machines.long"),
    ("classad match --policy htc", "htcondor"),
    ("classad workload po", "pool"),
];

/// The search path of programs, with the folder of the binary first.
fn search_path() -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_classad")).parent().expect("it is in a folder");
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default())
}

/// Returns the completions of the last word of a line, or of the word that ends with `|`.
fn candidates(line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    let at = words.iter().position(|word| word.ends_with('|')).unwrap_or(words.len() - 1);
    let words: Vec<&str> = words.iter().map(|word| word.trim_end_matches('|')).collect();
    let at = at.to_string();
    let lines = run(&mut classad(&[&["completions", "--at", &at, "--"], &words[..]].concat()));
    lines.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn words_are_completed_where_they_fit() {
    for (line, expected) in [
        ("classad che", &["check"][..]),
        ("classad --dialect condor che", &["check"]),
        ("classad --dialect=co", &["--dialect=condor"]),
        // As bash splits it.
        ("classad query --dialect = co", &["condor"]),
        ("classad query --dialect =| true", &["classad", "condor"]),
        ("classad check --only circular,undefined-u", &["circular,undefined-unsafe"]),
        ("classad query --af Name,TotalSlotC samples/pool/machines.long|", &[":files"]),
        ("classad query --af Name,TotalSlotC| samples/pool/machines.long", &["Name,TotalSlotCpus"]),
        ("classad query TOTALSLOTC| samples/pool/machines.long", &["TotalSlotCpus", ":files"]),
        ("classad match samples/pool/jo", &[":files"]),
        ("classad explain -better", &["-better-analyze"]),
        // Neither a word of `match`, nor one that only a daemon answers.
        ("classad match -better", &[]),
        ("classad query -schedd-c", &[]),
        ("classad match -- --po", &[":files"]),
        ("classad workload pool --machi", &["--machines"]),
        ("classad query none.long --sort Mem", &[]),
        ("classad transform --wher", &[]),
        ("classad help schema che", &["check"]),
        ("classad nothing --wher", &[]),
    ] {
        assert_eq!(candidates(line), expected, "{line}");
    }
    let topics = candidates("classad help ");
    let commands = candidates("classad ");
    assert!(commands.len() > 25 && commands.iter().all(|command| topics.contains(command)), "{commands:?}");
    // The names of a packed file and of another form; a file that is none is passed over.
    let folder = scratch("completed");
    let json = folder.join("one.json");
    fs::write(&json, "[{\"Alpha\": 1, \"odd name\": 2}]").expect("it can be written");
    let binary = folder.join("other");
    fs::write(&binary, [0xff, 0, 7]).expect("it can be written");
    let line = format!("classad query --sort | {} {}", json.display(), binary.display());
    assert_eq!(candidates(&line), ["'odd name'", "Alpha"]);
}

#[test]
#[ignore = "needs bash, which .ci/run installs"]
fn bash_completes() {
    for (line, offered) in COMPLETED {
        let script = format!(
            "set -eu; source completions/classad.bash; complete -p classad >&2; COMP_WORDS=({line}); \
             COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )); \
             _classad classad \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let found =
            run(Command::new("bash").args(["--norc", "-c", &script]).env("PATH", search_path()).current_dir(root()));
        assert!(found.lines().any(|word| word.trim() == offered), "{line}: {found}");
    }
}

#[test]
#[ignore = "needs fish, which .ci/run installs"]
fn fish_completes() {
    for (line, offered) in COMPLETED {
        let script = format!("source completions/classad.fish; complete -C '{line}'");
        let output = Command::new("fish")
            .args(["--no-config", "-c", &script])
            .env("PATH", search_path())
            .current_dir(root())
            .output();
        let output = output.expect("fish runs");
        assert!(output.stderr.is_empty(), "{output:?}");
        // A word and what it is about, with a tab between.
        let found = text(&output);
        assert!(found.lines().any(|word| word.split('\t').next() == Some(offered)), "{line}: {found}");
    }
}

/// A real zsh in a terminal of zsh's own making: keys go in, and a key of ours tells what stands in the line.
#[test]
#[ignore = "needs zsh, which .ci/run installs"]
fn zsh_completes() {
    let folder = scratch("zsh");
    let told = folder.join("told");
    let set_up = format!(
        "PS1=; PS2=; fpath=({}/completions $fpath); autoload -U compinit; compinit -u -D; \
         tell() {{ print -r -- \"$BUFFER\" >> {}; BUFFER=; }}; zle -N tell; bindkey '^Xt' tell; bindkey '^I' complete-word",
        root().display(),
        told.display()
    );
    let setup_file = folder.join("setup");
    fs::write(&setup_file, set_up).expect("it can be written");
    let keys: Vec<String> =
        COMPLETED.iter().map(|(line, _)| format!("zpty -n -w z $'{line}\\t\\x18t'; seen; ")).collect();
    let keys = keys.concat();
    let script = format!(
        "set -e; zmodload zsh/zpty; seen() {{ zpty -r -t z >/dev/null || true; sleep 0.1; }}; \
         zpty z env TERM=dumb zsh -f -i; zpty -w z 'source {}'; sleep 1; {keys} \
         for i in {{1..200}}; do zpty -r -t z > /dev/null || true; \
         [[ -f {told} && $(wc -l < {told}) -ge {count} ]] && break; sleep 0.1; done; zpty -d z",
        setup_file.display(),
        told = told.display(),
        count = COMPLETED.len()
    );
    let output = Command::new("zsh")
        .args(["-f", "-c", &script])
        .env("PATH", search_path())
        .current_dir(root())
        .output()
        .expect("zsh runs");
    let found = fs::read_to_string(&told).unwrap_or_default();
    // Where a value has to follow, `=` does.
    let word = |line: &'_ str| line.split_whitespace().last().map(|word| word.trim_end_matches('=').to_owned());
    let words: Vec<Option<String>> = found.lines().map(word).collect();
    let offered: Vec<Option<String>> = COMPLETED.iter().map(|(_, offered)| Some((*offered).to_owned())).collect();
    assert_eq!(words, offered, "{found} {output:?}");
}

/// On a terminal a reader of manual pages shows the page: the first that there is. A pipe gets the page itself.
#[test]
fn a_terminal_gets_a_readable_page() {
    use std::os::unix::fs::PermissionsExt;
    let folder = scratch("readers");
    let shown = |path: &Path| {
        let mut command = classad(&["man", "query"]);
        command.env("PATH", path).env("TERM", "xterm");
        let mut session = rexpect::session::spawn_command(command, Some(60_000)).expect("it starts");
        session.exp_eof().expect("it ends")
    };
    // Without a reader, the plain help is printed.
    let plain = shown(&folder);
    assert!(plain.contains("Usage:") && !plain.contains(".SH"), "{plain}");
    let reader = folder.join("groff");
    std::fs::write(&reader, "#!/bin/sh\nread line\necho \"read $* $line\"\n").expect("it can be written");
    std::fs::set_permissions(&reader, std::fs::Permissions::from_mode(0o755)).expect("it can be set");
    let page = shown(&folder);
    assert!(page.contains("read -man -Tutf8 ") && !page.contains("Usage:"), "{page}");
    assert!(run(&mut classad(&["man", "query"])).contains(".SH"));
}
