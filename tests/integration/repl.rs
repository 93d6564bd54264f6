//! The prompt: at a terminal, which is a real one as far as the program can see, and from a pipe.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use classad::ad::Dialect;
use classad::eval::{Context, Interrupt};
use classad::matching::gang::Gangmatcher;
use classad::matching::{Accelerations, Matchmaker};
use classad::protocol::Protocol;
use classad::syntax::{ParseOptions, parse_ad};
use rexpect::reader::Options;
use rexpect::session::{PtySession, spawn_with_options};

use crate::binary;

/// A terminal brackets what is pasted while a line is written: where that begins, and where it ends.
const WRITING: &str = "\x1b[?2004h";
const WRITTEN: &str = "\x1b[?2004l\r\n";

/// What is waited for comes at once, unless the machine is very busy.
const PATIENCE: u64 = 120_000;

const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const UP: &str = "\x1b[A";

/// A file of this test's own that is not there yet.
fn scratch(name: &str) -> PathBuf {
    let folder = crate::binary::temporary().join(format!("repl-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    folder.join("folder").join("history")
}

/// Someone at a terminal.
struct Terminal(PtySession);

impl Terminal {
    /// Starts a session, and reads what it begins with.  Errors go to another place if they are not to be seen.
    fn start(history: &Path, arguments: &str, shows_errors: bool) -> (Self, String) {
        let errors = if shows_errors { "" } else { "2>/dev/null" };
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("exec {} repl {arguments} {errors}", env!("CARGO_BIN_EXE_classad"))])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("CLASSAD_HISTORY", history)
            .env("COLUMNS", "80")
            .env("TZ", "UTC")
            .env("TERM", "xterm")
            .env_remove("NO_COLOR");
        let session = spawn_with_options(command, Options::new().timeout_ms(Some(PATIENCE)));
        let mut terminal = Terminal(session.expect("there is a terminal"));
        let first = terminal.until(WRITING);
        (terminal, first)
    }

    /// What is printed up to this, which is waited for.
    fn until(&mut self, text: &str) -> String {
        let shown = self.0.exp_string(text).unwrap_or_else(|error| panic!("{text:?} does not come: {error}"));
        // It takes each byte for a character.
        let bytes: Vec<u8> = shown.chars().filter_map(|character| u8::try_from(character).ok()).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn send(&mut self, keys: &str) {
        self.0.send(keys).and_then(|_| self.0.flush()).expect("keys can be pressed");
    }

    /// Writes an entry, and reads what it gives.
    fn enter(&mut self, keys: &str) -> String {
        self.send(keys);
        self.send("\r");
        self.until(WRITTEN);
        without_colours(&self.until(WRITING).replace("\r\n", "\n"))
    }

    /// Leaves, and waits until the program has ended, which it must do well.
    fn leave(mut self, keys: &str) {
        self.send(keys);
        self.0.exp_eof().expect("the session ends");
        let status = format!("{:?}", self.0.process().wait().expect("it can be waited for"));
        assert!(status.starts_with("Exited") && status.ends_with(", 0)"), "{status}");
    }
}

fn without_colours(text: &str) -> String {
    let mut pieces = text.split("\x1b[");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| text + piece.split_once('m').map_or("", |(_, rest)| rest))
}

/// Runs a script from a pipe.
fn piped(arguments: &[&str], script: &str) -> Output {
    binary::run(&[&["repl"], arguments].concat(), script.as_bytes())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("it is text")
}

/// An ad inside of which each attribute takes twice as long as the one before it: `chain.d59` takes for ever.
fn endless() -> [String; 3] {
    let doubled = (1..60).map(|n| format!("d{n} = d{0} + d{0}", n - 1));
    let attributes: Vec<String> = std::iter::once("d0 = random(10)".to_owned()).chain(doubled).collect();
    let ports = "Ports = { [ Label = a; Constraint = chain.d59 < a.Memory ] }";
    [
        ":set max-steps 1000000000000000".to_owned(),
        format!(":let chain = [ {} ]", attributes.join("; ")),
        format!(":my [ Constraint = chain.d59 < other.Memory; {ports} ]"),
    ]
}

#[test]
fn a_session_at_a_terminal() {
    let history = scratch("session");
    let (mut terminal, first) = Terminal::start(&history, "samples/pool/machines.long", true);
    assert!(first.contains("12 ads of samples/pool/machines.long") && first.contains(":help"), "{first}");
    assert_eq!(terminal.enter("1 + 2.5"), "3.5 : real\n");

    // An entry goes on while something is open.
    terminal.send("(1 +\r");
    assert_eq!(terminal.enter("2) * 3"), "9 : int\n");

    // The attributes of the ads are known.
    let shown = terminal.enter(":my samples/pool/jobs\t 4");
    assert!(shown.contains("MY is 103.0"), "{shown}");
    assert_eq!(terminal.enter("my.requestmem\t"), "16384 : int\n");
    assert_eq!(terminal.enter("si\t\"abc\")"), "3 : int\n");

    // What is wrong is shown where it is.
    let shown = terminal.enter("1 + (2 * )");
    assert!(shown.contains("[entry:1:10]") && shown.contains("╰── here"), "{shown}");

    // What is pasted may be several entries.
    assert_eq!(terminal.enter("\x1b[200~1 + 1\r# nothing\r2 + 2\x1b[201~"), "2 : int\n4 : int\n");

    // Ctrl-C drops what has been written.
    terminal.send("1 + 1");
    terminal.send(CTRL_C);
    terminal.until(WRITING);
    assert_eq!(terminal.enter("5"), "5 : int\n");

    assert_eq!(terminal.enter(":let RequestMemory = 1000000"), "RequestMemory = 1000000 : int\n");
    let explained = terminal.enter(":expl\t");
    assert!(explained.contains("matches none of 10 slots"), "{explained}");
    assert!(explained.contains(" (much less, "), "{explained}");
    terminal.leave(CTRL_D);
}

/// What an ad holds never reaches the terminal raw, whatever prints it.
#[test]
fn control_characters_of_ads_are_spelt_out_at_a_terminal() {
    // The title of the window, a bell, a cleared screen, a control character of two bytes, text that is not to be seen.
    let hostile = "\u{1b}]0;pwned\u{7}\u{1b}[2J\u{9b}2J\u{1b}[8mhidden\u{8}\u{202e}";
    let ad = format!(
        "[ Name = \"m\"; s = \"{hostile}\"; l = {{ s, [ t = \"{hostile}\" ] }}; '{hostile}' = 1; e = strcat(s, x) ]\n"
    );
    let ads = binary::file("repl-hostile.ad", &ad);
    let history = scratch("hostile");
    let (mut terminal, first) = Terminal::start(&history, &ads, true);
    assert!(first.contains("1 ad of"), "{first}");
    let mut shown = String::new();
    for entry in [
        &format!(":my {ads}") as &str,
        "my.s",
        "my",
        "my.l",
        "my.l[1].t",
        "unparse(my.l)",
        "printf(\"%s\", my.s)",
        "error(my.s)",
        "my.nothing",
        ":my",
        ":pool",
        ":pool s != 1",
        ":let",
        ":type my.l",
        ":trace my.e",
        ":specialize my.e",
        ":refs my.e",
        ":match",
        ":explain",
        ":history",
    ] {
        terminal.send(entry);
        terminal.send("\r");
        terminal.until(WRITTEN);
        shown += &terminal.until(WRITING);
    }
    for raw in ["\u{1b}]", "\u{7}", "\u{1b}[2J", "\u{9b}", "\u{1b}[8m", "\u{8}", "\u{202e}"] {
        let at = shown
            .find(raw)
            .map(|at| shown[..at].chars().rev().take(200).collect::<String>().chars().rev().collect::<String>());
        assert_eq!(at, None, "{raw:?} reaches the terminal");
    }
    assert!(shown.contains("pwned") && shown.contains("hidden"), "{shown}");
    terminal.leave(CTRL_D);
}

/// The prompt keeps the lines that are typed while an entry runs.
#[test]
fn lines_that_are_typed_ahead_are_run() {
    let (mut terminal, _) = Terminal::start(&scratch("ahead"), "", true);
    terminal.send("1 + 1\r2 + 2\r3 + 3\r");
    let shown: Vec<String> = (0..3)
        .map(|_| {
            terminal.until(WRITTEN);
            without_colours(&terminal.until(WRITING).replace("\r\n", "\n"))
        })
        .collect();
    assert_eq!(shown, ["2 : int\n", "4 : int\n", "6 : int\n"]);
    // Half of a match says what it lacks.
    assert!(terminal.enter(":my samples/pool/jobs.long").ends_with("MY is 101.0: 59 attributes\n"));
    let shown = terminal.enter("Requirements");
    assert!(shown.starts_with("undefined\n") && shown.contains("TARGET is not set"), "{shown}");
    let shown = terminal.enter("NoSuchAttribute");
    assert!(!shown.contains("TARGET") && shown.contains("MY has no NoSuchAttribute"), "{shown}");
    let shown = terminal.enter("RequestMemry > 5");
    assert!(shown.contains("MY has no RequestMemry; did you mean RequestMemory?"), "{shown}");
    terminal.leave(CTRL_D);
}

#[test]
fn entries_are_remembered_by_the_next_session() {
    let history = scratch("history");
    let (mut terminal, _) = Terminal::start(&history, "", true);
    terminal.send("[ a =\r");
    assert_eq!(terminal.enter("3 ].a"), "3 : int\n");
    assert_eq!(terminal.enter("40 + 2"), "42 : int\n");
    terminal.leave(":quit\r");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode(&history), 0o600, "only its owner reads it");
        assert_eq!(mode(history.parent().expect("it is in a folder")), 0o700);
    }
    let (mut terminal, _) = Terminal::start(&history, "", true);
    assert_eq!(terminal.enter(&format!("{UP}{UP}")), "42 : int\n");
    let listed = terminal.enter(":history");
    assert!(listed.contains("   1  [ a = 3 ].a\n"), "{listed}");
    terminal.leave(CTRL_D);
}

#[test]
fn what_cannot_be_remembered_hinders_nobody() {
    for path in ["", "/dev/null/folder/history"] {
        let (mut terminal, _) = Terminal::start(Path::new(path), "", true);
        assert_eq!(terminal.enter("1"), "1 : int\n");
        terminal.leave(CTRL_D);
    }
}

#[test]
fn what_takes_too_long_is_interrupted() {
    let (mut terminal, _) = Terminal::start(&scratch("interrupt"), "samples/papers/thesis-figure-16-offers.ad", true);
    for entry in endless() {
        let shown = terminal.enter(&entry);
        assert!(!shown.contains('×'), "{shown}");
    }
    let entries = ["d59", ":trace d59", ":let y = d59", ":pool d59 > 0", ":match", ":explain -vv", ":gang"];
    for entry in entries {
        terminal.send(&entry.replace("d59", "chain.d59"));
        terminal.send("\r");
        // From here on Ctrl-C is a signal.
        terminal.until(WRITTEN);
        // What goes on is shown after a second, at every entry.
        match entry {
            ":match" => terminal.until("matching; Ctrl-C stops it"),
            ":pool d59 > 0" => terminal.until("evaluating; Ctrl-C stops it"),
            _ => String::new(),
        };
        terminal.send(CTRL_C);
        let shown = terminal.until(WRITING);
        assert!(shown.contains("interrupted"), "{entry}: {shown}");
        assert_eq!(terminal.enter("1 + 1"), "2 : int\n", "it goes on");
    }
    terminal.leave(CTRL_D);
}

#[test]
fn a_pipe_gives_what_a_terminal_gives() {
    let script = [
        "1 + 2.5",
        "\"a\" + 1",
        "x = 3",
        "(x +\n4)",
        "[ a = 1; b = {1, 2} ]",
        ":trace x > 2 && undefined",
        "(1 + )",
        ":nothing",
        ":pool samples/pool/machines.long",
        ":pool Memory >= 65536",
        ":my samples/pool/jobs.long 4",
        ":my",
        ":match 2",
        ":let RequestMemory = 1000000",
        ":explain -vv",
        ":explain slot1@node02.example.org",
        ":specialize",
        ":refs",
        ":pool samples/license/machines.ad samples/license/licenses.ad",
        ":my samples/license/jobs.ad",
        ":dialect classad",
        ":gang 2",
        ":help",
        ":help substr",
        ":set",
        ":history",
    ];
    let now = "--now 1795285123";
    let (mut terminal, _) = Terminal::start(Path::new(""), &format!("{now} --color never"), false);
    let shown: Vec<String> = script.iter().map(|entry| terminal.enter(&entry.replace('\n', "\r"))).collect();
    terminal.leave(CTRL_D);
    let mut arguments: Vec<&str> = now.split(' ').collect();
    arguments.extend(["--color", "never"]);
    let output = piped(&arguments, &(script.join("\n") + "\n"));
    assert_eq!(output.status.code(), Some(2), "two entries are bad");
    // Sentences that are too long for the terminal are broken there.
    let (shown_text, piped_text) = (shown.concat(), text(&output.stdout));
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&shown_text), words(&piped_text));
    assert!(shown_text.lines().count() > piped_text.lines().count() && shown_text.contains("\nexternal: "));
    assert!(shown[0] == "3.5 : real\n" && shown[14].contains("never true"), "{shown:?}");
}

/// The time of old ads, and of `--now dump`, is the newest of all ads that were loaded.
#[test]
fn time_is_that_of_all_loaded_ads() {
    let [pool, target, my] = [("pool", 1_000_000), ("target", 2_000_000), ("my", 1_500_000)].map(|(name, time)| {
        binary::file(&format!("repl-time-{name}.long"), format!("Name = \"{name}\"\nLastHeardFrom = {time}\n"))
    });
    for now in [&[][..], &["--now", "dump"]] {
        let output = piped(&[now, &["--my", &my, "--target", &target, &pool]].concat(), "time()\n");
        assert!(text(&output.stdout).starts_with("2000000 "), "{now:?}: {output:?}");
        let output = piped(
            &[now, &["--my", &my]].concat(),
            &format!("time()\n:pool \"{target}\"\ntime()\n:set now 7\n:pool \"{pool}\"\ntime()\n"),
        );
        let printed = text(&output.stdout);
        let times: Vec<&str> = printed.lines().filter(|line| line.ends_with(": int")).collect();
        assert_eq!(times, ["1500000 : int", "2000000 : int", "7 : int"], "{now:?}: {output:?}");
    }
    let fresh = binary::file("repl-time-fresh.long", "Name = \"fresh\"\nLastHeardFrom = 9999999999\n");
    let output = piped(&["--my", &my], &format!(":pool \"{fresh}\"\ntime() > 1700000000\n"));
    assert!(text(&output.stdout).contains("true : bool"), "{output:?}");
    let output = piped(&["--now", "5", "--my", &my], "time()\n");
    assert!(text(&output.stdout).starts_with("5 "), "{output:?}");
}

#[test]
fn a_terminal_without_colours_gets_none() {
    for (variable, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_classad"));
        command.arg("repl").env("CLASSAD_HISTORY", "").env("TERM", "xterm").env("COLUMNS", "80").env(variable, value);
        let session = spawn_with_options(command, Options::new().timeout_ms(Some(PATIENCE)));
        let mut terminal = Terminal(session.expect("there is a terminal"));
        terminal.until("classad> ");
        terminal.send("strcat(1, \"a\")\r");
        let shown = terminal.until("\"1a\" : string");
        assert!(!shown.contains("[1m") && !shown.contains("[32m") && !shown.contains("[2m"), "{shown:?}");
        assert!(variable != "TERM" || !shown.contains('\x1b'), "{shown:?}");
        // What is pressed before the next prompt may be discarded with it.
        terminal.until("classad> ");
        terminal.leave(CTRL_D);
    }
}

#[test]
fn a_script_says_by_its_status_what_went_wrong() {
    let status = |arguments: &[&str], script: &str| piped(arguments, script).status.code();
    assert_eq!(status(&[], "1 + 1\n"), Some(0));
    assert_eq!(status(&[], ""), Some(0));
    assert_eq!(status(&[], "error\nundefined\n"), Some(0), "these are values");
    assert_eq!(status(&[], "1 +\n"), Some(2));
    assert_eq!(status(&[], ":nothing\n1\n"), Some(2));
    assert_eq!(status(&["--max-steps", "3"], "1 + 1 + 1 + 1 + 1\n"), Some(3));
    assert_eq!(status(&["--max-steps", "3"], "1 + 1 + 1 + 1 + 1\n(\n"), Some(2));
    assert_eq!(status(&["no-such-file.ad"], "1\n"), Some(2));
    assert_eq!(status(&["--file", "no-such-file.repl"], ""), Some(2));
    assert_eq!(text(&piped(&["--fail-fast"], "1\n)\n2\n").stdout), "1 : int\n");
    assert_eq!(text(&piped(&[], "1\n)\n2\n:quit\n3\n").stdout), "1 : int\n2 : int\n");
    let script = ":pool 1 + 1 + 1 + 1 + 1 > 4\n1\n";
    let counts =
        |arguments: &[&str]| piped(&[&["samples/license/machines.ad", "--max-steps", "3"], arguments].concat(), script);
    assert!(text(&counts(&[]).stdout).ends_with("1 : int\n"));
    assert!(!text(&counts(&["--fail-fast"]).stdout).contains("1 : int"), "evaluations beyond their budget count, too");
}

#[test]
fn what_is_wrong_in_a_script_has_its_line() {
    let script = "# a comment\n\n1\n(2 +\n 3))\n:my nothing.ad\n:explain\n\"a\" +\n1\n[ a = 1;\n\n\n4\n";
    let output = piped(&[], script);
    let errors = text(&output.stderr);
    assert!(!errors.contains('\x1b') && !text(&output.stdout).contains("classad>"));
    for place in ["[standard input:5:4]", "standard input:6: cannot read nothing.ad", "[standard input:7:1]"] {
        assert!(errors.contains(place), "{place}: {errors}");
    }
    assert!(errors.contains("[standard input:8:1]"), "the error of a value: {errors}");
    assert!(errors.contains("[standard input:10:"), "two blank lines end what is open: {errors}");
    assert_eq!(text(&output.stdout), "1 : int\nerror\n4 : int\n");
}

#[test]
fn files_are_entered_line_by_line() {
    let folder = scratch("load").parent().expect("it is in a folder").to_owned();
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let (own, other) = (folder.join("own file.repl"), folder.join("other.repl"));
    std::fs::write(&own, format!("1\n:load {}\n2\n", other.display())).expect("it can be written");
    std::fs::write(&other, ")\n3\n").expect("it can be written");
    let output = piped(&[], &format!(":load \"{}\"\n4\n", own.display()));
    assert_eq!(text(&output.stdout), "1 : int\n3 : int\n2 : int\n4 : int\n");
    assert!(text(&output.stderr).contains("other.repl:1:1]"));
    // A file that loads itself ends.
    std::fs::write(&other, format!(":load {}\n", other.display())).expect("it can be written");
    let output = piped(&["--file", &other.display().to_string()], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("more than 20 levels deep"), "{}", text(&output.stderr));
}

#[test]
fn whoever_searches_gives_up() {
    let ad = |text: &[u8]| parse_ad(text, ParseOptions::default()).expect("it parses");
    let offers = [ad(b"[ Memory = 5; Constraint = true ]")];
    let request = ad(b"[ Constraint = other.Memory > 3 ]");
    let gang = ad(b"[ Ports = { [ Label = a; Constraint = a.Memory > 3 ] } ]");
    for is_raised in [false, true] {
        let interrupt = Interrupt::default();
        let context = Context { interrupt: Some(interrupt.clone()), ..Context::new(Dialect::Classad) };
        let protocol = Protocol::new(Dialect::Classad);
        let (mut gangs, _) = Gangmatcher::new(&offers, protocol.clone(), context.clone());
        let none = Accelerations { index: false, ..Accelerations::ALL };
        let mut matcher = Matchmaker::new(&offers, protocol, context, none);
        if is_raised {
            interrupt.raise();
        }
        assert_eq!(gangs.marshal(0, &gang).expect("its ports are in order").is_none(), is_raised);
        assert_eq!(matcher.candidates(&request).is_empty(), is_raised);
    }
}

/// Whatever comes in, every entry is answered or refused, and the last one is reached.
#[test]
fn nothing_that_is_entered_ends_the_session() {
    const PARTS: [&str; 44] = [
        ":my",
        ":target",
        ":pool",
        ":let",
        ":type",
        ":trace",
        ":specialize",
        ":refs",
        ":match",
        ":gang",
        ":explain",
        ":set",
        ":history",
        ":help",
        ":",
        "samples/pool/jobs.long",
        "samples/license/jobs.ad",
        "none",
        "target",
        "-v",
        "-",
        "3",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        "\"",
        "'",
        "a",
        "b",
        "=",
        "==",
        "+",
        "?",
        "my.",
        "é",
        "\u{3000}",
        "eval(\"é + \")",
        "/*",
        "//",
        ";",
        "\u{0}",
    ];
    for seed in 0..6 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut script = ":pool samples/license/machines.ad\n".to_owned();
        for _ in 0..300 {
            for _ in 0..random.usize(1..7) {
                script.push_str(PARTS[random.usize(..PARTS.len())]);
                script.push_str(if random.bool() { " " } else { "" });
            }
            // Two blank lines end what is open.
            script.push_str(if random.u8(..8) == 0 { "\n\n\n" } else { "\n" });
        }
        script.push_str("\n\n\n\"the\" + 0\nstrcat(\"the \", \"end\")\n");
        let output = piped(&["--now", "1795285123"], &script);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        assert!(text(&output.stdout).ends_with("\"the end\" : string\n"), "seed {seed}");
    }
}
