//! Live sources: HTCondor's tools are scripts that print recorded dumps, or hang, or fail.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::binary::{classad, file, temporary};

const JOBS: &str = "tests/pool/dumps/queue.long";
const SLOTS: &str = "tests/pool/dumps/machines.long";
const CONFIGURATION: &str = "tests/pool/policies/first/config.dump";
/// A file that `condor_userprio -long -allusers` could print.
fn priorities() -> String {
    file(
        "live-userprio.long",
        "LastUpdate = 1764402000\nName1 = \"alice@pool.example\"\nPriority1 = 750.0\nPriorityFactor1 = 1000.0\n",
    )
}

/// A folder of tools, and a folder of caches.
struct Tools {
    folder: PathBuf,
}

impl Tools {
    /// Makes tools that print dumps. Each run of one adds a line with its arguments to a log.
    fn new(name: &str) -> Self {
        let tools = Tools { folder: temporary().join(format!("live-{name}")) };
        std::fs::create_dir_all(&tools.folder).expect("a folder can be made");
        for (tool, dump) in [
            ("condor_q", JOBS),
            ("condor_status", SLOTS),
            ("condor_userprio", &priorities()),
            ("condor_config_val", CONFIGURATION),
        ] {
            tools.set(tool, &format!("cat {dump}"));
        }
        tools
    }

    /// Makes a tool that does this.
    fn set(&self, tool: &str, does: &str) {
        let path = self.folder.join(tool);
        let log = self.folder.join("log");
        std::fs::write(&path, format!("#!/bin/sh\necho {tool} \"$@\" >> {}\n{does}\n", log.display())).expect("a file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it can be executed");
    }

    /// The runs of tools so far, in order of their names.
    fn runs(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        let mut runs: Vec<String> = log.lines().map(str::to_owned).collect();
        runs.sort_unstable();
        runs
    }

    /// The command, with nothing on its standard input.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_classad"));
        command
            .args(arguments)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("PATH", format!("{}:/usr/bin:/bin", self.folder.display()))
            .env("XDG_CACHE_HOME", self.folder.join("cache"))
            .env("TZ", "UTC")
            .env("COLUMNS", "80")
            .stdin(Stdio::null());
        command
    }

    /// Exit status, standard output and standard error of `classad`.
    fn classad(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let output = self.command(arguments).output().expect("the binary runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }
}

#[test]
fn a_job_is_explained_as_from_dumps() {
    let tools = Tools::new("job");
    let (job, priorities) = ("16.0", priorities());
    let live = tools.classad(&["explain", job, "--request", job]);
    let dumps = ["--pool", SLOTS, "--userprio", &priorities, "--config", CONFIGURATION];
    let dumped = classad(&[&["explain", JOBS, "--request", job], &dumps[..]].concat());
    assert_eq!((live.0, &live.1), (dumped.0, &dumped.1), "{}", live.2);
    assert!(!live.1.is_empty());
    let running = "note: running `condor_config_val -dump`, `condor_q -allusers -long 16.0`, `condor_userprio -long -allusers` \
                   and `condor_status -long`\n";
    assert!(live.2.starts_with(running), "{}", live.2);
    let runs = [
        "condor_config_val -dump",
        "condor_q -allusers -long 16.0",
        "condor_status -long",
        "condor_userprio -long -allusers",
    ];
    assert_eq!(tools.runs(), runs);
    // The slots are kept for a while.
    let again = tools.classad(&["explain", job, "--request", job]);
    assert_eq!(again.1, live.1);
    assert!(again.2.contains("note: live:slots is ") && again.2.contains("(--live-age 0 asks again)"), "{}", again.2);
    assert_eq!(tools.runs().len(), 7);
    tools.classad(&["explain", job, "--live-age", "0"]);
    assert_eq!(tools.runs().len(), 11);
    let cache = tools.folder.join("cache/classad");
    assert_eq!(std::fs::metadata(&cache).expect("there is a cache").permissions().mode() & 0o777, 0o700);
    let kept: Vec<_> = std::fs::read_dir(&cache).expect("it is a folder").flatten().collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].metadata().expect("it is a file").permissions().mode() & 0o777, 0o600);
    // What others could have written is not read.
    std::fs::set_permissions(&cache, std::fs::Permissions::from_mode(0o777)).expect("it is ours");
    tools.classad(&["query", "true", "live:slots", "--count"]);
    assert_eq!(tools.runs().len(), 12);
}

#[test]
fn other_commands_read_the_same_sources() {
    let (tools, priorities) = (Tools::new("commands"), priorities());
    for (live, dumped) in [
        (
            &["query", "Memory > 8000", "live:slots", "--af", "Name"][..],
            &["query", "Memory > 8000", SLOTS, "--af", "Name"][..],
        ),
        (&["match", "live:jobs", "--pool", "live:slots", "--count"], &["match", JOBS, "--pool", SLOTS, "--count"]),
        (&["check", "live:jobs", "-o", "csv"], &["check", JOBS, "-o", "csv"]),
        (
            &[
                "negotiate",
                "live:jobs",
                "--pool",
                "live:slots",
                "--policy",
                "htcondor",
                "--userprio",
                "live:priorities",
            ],
            &["negotiate", JOBS, "--pool", SLOTS, "--policy", "htcondor", "--userprio", &priorities],
        ),
    ] {
        let (live, dumped) = (tools.classad(live), classad(dumped));
        let dumped_text = dumped.1.replace(JOBS, "live:jobs").replace(SLOTS, "live:slots");
        assert_eq!((live.0, live.1), (dumped.0, dumped_text), "{}", live.2);
    }
    let (_, _, errors) =
        tools.classad(&["query", "true", "live:jobs", "--name", "ap1", "--pool-name", "cm", "--count"]);
    assert!(errors.contains("note: running `condor_q -allusers -long -name ap1 -pool cm`\n"), "{errors}");
    assert!(tools.runs().contains(&"condor_q -allusers -long -name ap1 -pool cm".to_owned()));
    let owner = tools.classad(&["explain", "alice", "--unmatched", "--summary"]);
    assert!(tools.runs().contains(&"condor_q -allusers -long".to_owned()), "{}", owner.2);
}

#[test]
fn what_gives_no_answer_is_one_error() {
    let tools = Tools::new("errors");
    let error = |arguments: &[&str]| {
        let (status, out, errors) = tools.classad(arguments);
        assert_eq!((status, &*out), (Some(2), ""), "{errors}");
        let errors: Vec<&str> = errors.lines().filter(|line| !line.starts_with("note: ")).collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors[0].to_owned()
    };
    tools.set("condor_status", "echo 'Error: communication error' >&2; exit 1");
    assert_eq!(
        error(&["explain", "7.0"]),
        "error: cannot read live:slots: `condor_status -long` failed: Error: communication error (see `classad help live`)"
    );
    tools.set("condor_status", "sleep 30 & sleep 30");
    let start = Instant::now();
    assert_eq!(
        error(&["explain", "7.0", "--live-timeout", "1"]),
        "error: cannot read live:slots: `condor_status -long` did not end within 1 second; --live-timeout gives it longer"
    );
    assert!(start.elapsed() < Duration::from_secs(10));
    tools.set("condor_status", "exit 0");
    tools.set("condor_q", "exit 0");
    assert_eq!(
        error(&["explain", "7.0"]),
        "error: the queue has no job 7.0: it may have left, see `condor_history 7.0`"
    );
    assert_eq!(error(&["explain", "zoe"]), "error: the queue has no job zoe");
    assert!(error(&["query", "true", "live:slot"]).contains("did you mean live:slots?"));
    for tool in ["condor_q", "condor_userprio"] {
        std::fs::remove_file(tools.folder.join(tool)).expect("it is there");
    }
    let missing = "error: condor_q and condor_userprio are not on the PATH: run this on a machine of the pool, or give files \
                   (see `classad help live`)";
    assert_eq!(error(&["explain", "7.0"]), missing);
    // Standard input is a pipe: nothing is run.
    let before = tools.runs();
    let (_, _, errors) = classad(&["explain", "7.0"]);
    assert_eq!(errors, "error: there is no file 7.0; to explain job 7.0, use `--request 7.0`\n");
    assert_eq!(tools.runs(), before);
}

/// As at a terminal, Ctrl-C signals the whole group.
#[test]
fn an_interrupt_ends_the_tools() {
    let tools = Tools::new("interrupt");
    let begun = tools.folder.join("begun");
    tools.set("condor_status", &format!("echo $$ > {}.new; mv {0}.new {0}; sleep 60", begun.display()));
    let mut command = tools.command(&["query", "true", "live:slots"]);
    let mut run = command.process_group(0).stderr(Stdio::null()).spawn().expect("the binary runs");
    let within = |is: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !is() && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
        }
        is()
    };
    assert!(within(&|| begun.exists()));
    let tool = std::fs::read_to_string(&begun).expect("it has a number");
    let kill = Command::new("kill").args(["-INT", "--", &format!("-{}", run.id())]).status();
    assert!(kill.expect("there is kill").success());
    assert!(!run.wait().expect("it ends").success());
    assert!(within(&|| !PathBuf::from("/proc").join(tool.trim()).exists()), "{tool}");
}
