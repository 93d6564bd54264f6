//! What someone sees who waits at a terminal.

use std::path::PathBuf;
use std::process::Command;

/// A pipe that is slow: some ads, and after more than a second some more.
fn slow(arguments: &str, environment: &[(&str, &str)]) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("progress");
    std::fs::create_dir_all(&folder).unwrap();
    let ads = folder.join("ads.long");
    std::fs::write(&ads, "Name = \"a\"\nCpus = 4\n\n".repeat(100_000)).unwrap();
    let script = format!(
        "(cat {ads}; sleep 1.3; cat {ads}; sleep 0.2; cat {ads}) | {} {arguments}",
        env!("CARGO_BIN_EXE_classad"),
        ads = ads.display()
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
    assert!(before.contains("reading") && answer.trim() == "300000", "{shown:?}");
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
