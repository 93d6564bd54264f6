//! The same bytes whatever the threads, the locale, the time zone, the home and the seeds of hash tables; and files that
//! are whole whenever a command that rewrites them is killed.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use fastrand::Rng;

use super::binary::file;
use super::random::seeds;

const JOBS: &str = "samples/pool/jobs.long";
const MACHINES: &str = "samples/pool/machines.long";

/// Commands that between them use every reader, index, matcher and printer.
const COMMANDS: [&[&str]; 26] = [
    &["query", "Cpus > 1", MACHINES],
    &["query", "true", MACHINES, "--af", "Name, Memory", "-o", "csv"],
    &["query", "true", JOBS, "--group-by", "Owner", "--sum", "RequestMemory", "--mean", "RequestMemory", "--totals"],
    &["query", "true", JOBS, "--sort", "Owner", "--desc", "--limit", "3"],
    &["query", "true", JOBS, "--distinct", "--af", "Owner"],
    &["census", MACHINES, JOBS],
    &["census", MACHINES, "-o", "json"],
    &["check", JOBS, MACHINES],
    &["check", JOBS, "--pool", MACHINES],
    &["refs", JOBS],
    &["refs", MACHINES, "--dot"],
    &["convert", JOBS, "--to", "jsonl"],
    &["convert", MACHINES, "--to", "xml"],
    &["transform", "--set", "X=Cpus*2", MACHINES],
    &["fmt", "samples/license/jobs.ad"],
    &["diff", JOBS, MACHINES],
    &["eval", "--each", "Memory * 2 + Cpus", MACHINES],
    &["eval", "random(1000) + random()", "--seed", "7"],
    &["match", JOBS, "--pool", MACHINES, "--why"],
    &["match", JOBS, "--pool", MACHINES, "--all", "-o", "json"],
    &["match", JOBS, "--pool", MACHINES, "--strategy", "stable"],
    &["negotiate", JOBS, "--pool", MACHINES, "--policy", "htcondor", "--transcript"],
    &["gangmatch", "samples/gangs/jobs.ad", "--pool", "samples/gangs/offers.ad", "--algorithm", "dynsr", "--seed", "3"],
    &["autocluster", JOBS, "--pool", MACHINES],
    &["explain", JOBS, "--pool", MACHINES],
    &["explain", JOBS, "--pool", MACHINES, "--unmatched", "-o", "json"],
];

/// Runs a command with these variables. Variables without a value are unset.
fn run(arguments: &[&str], variables: &[(&str, Option<&str>)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_classad"));
    command.args(arguments).args(["--now", "1762000000"]).current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
    // In a locale without UTF-8 pictures are drawn in ASCII.
    command.env("COLUMNS", "80").env("TZ", "UTC").env("LC_ALL", "C.UTF-8");
    for (name, value) in variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.output().expect("the binary runs")
}

#[test]
fn the_output_does_not_depend_on_the_environment() {
    let expected: Vec<Output> = COMMANDS.iter().map(|command| run(command, &[])).collect();
    let is_refused = |(_, output): &(&&[&str], &Output)| output.status.code() == Some(2);
    let refused: Vec<_> = COMMANDS.iter().zip(&expected).filter(is_refused).collect();
    assert!(refused.is_empty(), "{refused:?}");
    let runs = seeds().count().div_ceil(10);
    let mut random = Rng::with_seed(1);
    for _ in 0..runs {
        let chosen = random.usize(0..COMMANDS.len());
        let locale = ["C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8"][random.usize(0..3)];
        let zone = ["UTC", "America/Chicago", "Asia/Kolkata"][random.usize(0..3)];
        let threads = ["1", "2", "8"][random.usize(0..3)];
        let home = if random.bool() { None } else { Some("/nonexistent") };
        let arguments = [COMMANDS[chosen], &["--threads", threads]].concat();
        let variables = [
            ("LC_ALL", Some(locale)),
            ("LANG", Some(locale)),
            ("TZ", Some(zone)),
            ("HOME", home),
            ("XDG_CONFIG_HOME", None),
        ];
        let found = run(&arguments, &variables);
        let expected = &expected[chosen];
        assert_eq!(found.status, expected.status, "{arguments:?} {variables:?}");
        assert!(found.stdout == expected.stdout, "{arguments:?} {variables:?}: the output differs");
        assert!(found.stderr == expected.stderr, "{arguments:?} {variables:?}: the messages differ");
    }
}

/// Commands that write partial results, of a file of the samples.
const PARTIAL_COMMANDS: [(&[&str], &str); 7] = [
    (&["query", "Cpus > 1", "--af", "Name, Memory"], MACHINES),
    (&["query", "true", "--group-by", "Owner", "--sum", "RequestMemory / 7.0", "--totals"], JOBS),
    (&["query", "true", "--sort", "Owner", "--desc", "--limit", "3"], JOBS),
    (&["census"], MACHINES),
    (&["census", "-o", "json"], JOBS),
    (&["refs"], JOBS),
    (&["check"], JOBS),
];

/// Parts that are cut at random places and merged in random order print what one run prints; each run and the merge have
/// other threads, another locale, time zone and home. The bytes of a partial result do not depend on these either.
#[test]
fn parts_and_merges_do_not_depend_on_the_environment() {
    let mut random = Rng::with_seed(5);
    let environment = |random: &mut Rng| {
        let locale = ["C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8"][random.usize(0..3)];
        let zone = ["UTC", "America/Chicago", "Asia/Kolkata"][random.usize(0..3)];
        let home = if random.bool() { None } else { Some("/nonexistent") };
        let threads = ["1", "2", "8"][random.usize(0..3)];
        ([("LC_ALL", Some(locale)), ("TZ", Some(zone)), ("HOME", home)], ["--threads", threads])
    };
    for _ in 0..seeds().count().div_ceil(40) {
        let (command, file_name) = PARTIAL_COMMANDS[random.usize(0..PARTIAL_COMMANDS.len())];
        let whole = run(&[command, &[file_name]].concat(), &[]);
        let size = usize::try_from(
            std::fs::metadata(Path::new(env!("CARGO_MANIFEST_DIR")).join(file_name)).expect("it is there").len(),
        )
        .expect("it is short");
        let mut cuts: Vec<usize> = (0..random.usize(1..4)).map(|_| random.usize(0..=size)).collect();
        cuts.extend([0, size]);
        cuts.sort_unstable();
        let mut partials = Vec::new();
        for (number, cut) in cuts.windows(2).enumerate() {
            let part = format!("{file_name}@{}-{}", cut[0], cut[1]);
            let arguments = [command, &["--partial", &part]].concat();
            let expected = run(&arguments, &[]);
            let (variables, threads) = environment(&mut random);
            let found = run(&[&arguments[..], &threads].concat(), &variables);
            assert_eq!(found.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&found.stderr));
            assert!(
                found.stdout == expected.stdout,
                "{arguments:?} {variables:?} {threads:?}: the partial result differs"
            );
            partials.push(file(&format!("determined-{number}.part"), &found.stdout));
        }
        random.shuffle(&mut partials);
        let (variables, threads) = environment(&mut random);
        let partials: Vec<&str> = partials.iter().map(String::as_str).collect();
        let merged = run(&[&["merge"], &partials[..], &threads].concat(), &variables);
        assert_eq!(merged.status, whole.status, "{command:?} {cuts:?} {variables:?}");
        assert!(merged.stdout == whole.stdout, "{command:?} {cuts:?} {variables:?}: the output differs");
        assert!(merged.stderr == whole.stderr, "{command:?} {cuts:?} {variables:?}: the messages differ");
    }
}

/// A command that rewrites a file is killed at a random moment: the file is the old one or the new one, whole.
#[test]
fn a_killed_command_leaves_a_whole_file() {
    let ads: Vec<String> =
        (0..4000).map(|number| format!("[ Name=\"m{number}\";Size={number}; List={{1,2,3}} ]\n")).collect();
    let old = ads.concat();
    let formatted = {
        let path = file("killed-expected.ad", &old);
        assert!(run_without_time(&["fmt", "-w", &path]).status.success());
        std::fs::read(&path).expect("it is there")
    };
    assert_ne!(formatted, old.as_bytes());
    let (mut olds, mut news) = (0, 0);
    let mut random = Rng::with_seed(2);
    let target = file("killed.ad", &old);
    let link = format!("{target}.link");
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o640)).expect("the mode can be set");
        if !Path::new(&link).exists() {
            symlink(&target, &link).expect("a link can be made");
        }
    }
    for _ in 0..seeds().count().div_ceil(15) {
        std::fs::write(&target, &old).expect("it can be written");
        let mut child = Command::new(env!("CARGO_BIN_EXE_classad"))
            .args(["fmt", "-w", &link])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs");
        std::thread::sleep(Duration::from_micros(random.u64(0..80_000)));
        // It may have ended.
        let _ = child.kill();
        child.wait().expect("it ends");
        let found = std::fs::read(&target).expect("it is there");
        if found == old.as_bytes() {
            olds += 1;
        } else {
            assert!(found == formatted, "{} bytes are neither the old file nor the new one", found.len());
            news += 1;
        }
        assert!(std::fs::symlink_metadata(&link).expect("it is there").is_symlink());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&target).expect("it is there").permissions().mode() & 0o777, 0o640);
        }
    }
    assert!(olds > 0 && olds + news >= 40, "{olds} {news}");
}

fn run_without_time(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_classad")).args(arguments).stdin(Stdio::null()).output().expect("the binary runs")
}
