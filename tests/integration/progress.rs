//! What someone sees who waits at a terminal.

use std::process::Command;
use std::sync::LazyLock;

/// A pipe that is slow: some ads, and after more than a second some more.
fn slow(arguments: &str, environment: &[(&str, &str)]) -> String {
    // Written once: another test may be reading it.
    static ADS: LazyLock<String> =
        LazyLock::new(|| crate::binary::file("progress.long", "Name = \"a\"\nCpus = 4\n\n".repeat(20_000)));
    let ads = &*ADS;
    let script = format!(
        "(cat {ads}; sleep 1.3; cat {ads}; sleep 0.2; cat {ads}) | {} {arguments}",
        env!("CARGO_BIN_EXE_classad")
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).env("TERM", "xterm").env_remove("NO_COLOR").envs(environment.iter().copied());
    let mut session = rexpect::session::spawn_command(command, Some(60_000)).unwrap();
    session.exp_eof().unwrap()
}

#[test]
fn progress_is_shown_after_a_second_and_gone_when_done() {
    let shown = slow("query --count 'Cpus > 2'", &[]);
    assert!(shown.contains("reading standard input"), "{shown:?}");
    // The line is cleared before the answer is written.
    let (before, answer) = shown.rsplit_once("\u{1b}[2K").unwrap_or_else(|| panic!("{shown:?}"));
    assert!(before.contains("reading") && answer.trim() == "60000", "{shown:?}");
}

#[test]
fn nothing_is_shown_where_nobody_wants_it() {
    for (arguments, environment) in [
        ("query -q --count 'Cpus > 2'", &[][..]),
        ("query --count 'Cpus > 2'", &[("TERM", "dumb")]),
        ("query --count 'Cpus > 2' 2>/dev/null", &[]),
    ] {
        let shown = slow(arguments, environment);
        assert!(!shown.contains("reading") && !shown.contains('\u{1b}'), "{arguments}: {shown:?}");
    }
}

#[test]
fn what_a_cycle_comes_to_is_drawn() {
    let shown = |locale: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_classad"));
        command.current_dir(env!("CARGO_MANIFEST_DIR")).env("LC_ALL", locale).env("COLUMNS", "60");
        command.args(["negotiate", "tests/cases/negotiate/jobs.ad", "--pool", "tests/cases/negotiate/machines.ad"]);
        command.args(["--policy", "tests/cases/negotiate/share.yaml", "--stats", "-q"]);
        let mut session = rexpect::session::spawn_command(command, Some(60_000)).unwrap();
        session.exp_eof().unwrap().replace('\r', "")
    };
    let drawn = shown("C");
    let (_, bars) = drawn.split_once("requests\n").unwrap_or_else(|| panic!("{drawn}"));
    let of = |name: &str| {
        let line = bars.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_else(|| panic!("{drawn}"));
        (line.split_whitespace().nth(1).unwrap().to_owned(), line.matches('#').count())
    };
    let expected =
        [("matched", "6", 24), ("failed", "1", 4), ("skipped", "1", 4), ("alice", "3", 24), ("bob", "3", 24)];
    for (name, number, length) in expected {
        assert_eq!(of(name), (number.to_owned(), length), "{drawn}");
    }
    assert!(drawn.is_ascii() && bars.contains("offers by submitter\n"), "{drawn}");
    assert!(!shown("C.UTF-8").is_ascii());
}
