//! Files that change while they are read, writers of one file at once, full disks, and commands that are killed.

#![cfg(unix)]

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fastrand::Rng;

use super::random::seeds;

/// A folder of its own, empty at first.
fn folder(name: &str) -> PathBuf {
    let path = crate::binary::temporary().join(format!("faults-{name}"));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder can be made");
    path
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_classad"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command
}

/// Exit status, output and messages of a command.
fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = command(folder, arguments).output().expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn start(folder: &Path, arguments: &[&str]) -> Child {
    command(folder, arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary runs")
}

/// Runs a command that reads the pipe `pipe`. Most of its ads come at once, the last one `delay` milliseconds later,
/// after `meanwhile`.
fn with_pipe(folder: &Path, arguments: &[&str], delay: u64, meanwhile: impl FnOnce()) -> (Option<i32>, String) {
    let pipe = folder.join("pipe");
    let _ = fs::remove_file(&pipe);
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let child =
        command(folder, arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary runs");
    // Opening blocks until the command opens the pipe.
    let mut writer = File::options().write(true).open(&pipe).expect("the command opens the pipe");
    let ad = "Name = \"late\"\nRequirements = true\n\n";
    writer.write_all(ad.repeat(3000).as_bytes()).expect("the command reads the pipe");
    std::thread::sleep(Duration::from_millis(delay));
    meanwhile();
    writer.write_all(ad.as_bytes()).expect("the command reads the pipe");
    drop(writer);
    let output = child.wait_with_output().expect("it ends");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// An ad of `bytes` bytes.
fn padded_ad(number: usize, bytes: usize) -> String {
    format!("Name = \"m{number}\"\nPadding = \"{}\"\n\n", "x".repeat(bytes))
}

#[test]
fn a_file_that_is_cut_short_while_it_is_read_is_an_error() {
    let folder = folder("cut");
    let path = folder.join("ads.long");
    // The first 400 KB are read while standard output is blocked.
    let text: String = (0..400).map(|number| padded_ad(number, 20_000)).collect();
    fs::write(&path, &text).expect("it can be written");
    let mut child = command(&folder, &["convert", "--threads", "1", "ads.long", "--to", "long"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    std::thread::sleep(Duration::from_millis(300));
    // The file ends with the last ad that was read, or at another boundary.
    let kept = text.len() / 2 / padded_ad(100, 20_000).len() * padded_ad(100, 20_000).len();
    File::options().write(true).open(&path).and_then(|file| file.set_len(kept as u64)).expect("it can be cut");
    let mut out = child.stdout.take().expect("it is piped");
    std::io::copy(&mut out, &mut std::io::sink()).expect("it can be read");
    let output = child.wait_with_output().expect("it ends");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("it became shorter while it was read"), "{told}");
}

#[test]
fn a_file_that_vanishes_or_grows_is_read_or_reported() {
    let folder = folder("vanishes");
    let ads = "Name = \"m\"\nCpus = 1\nRequirements = true\n\n".repeat(10);
    fs::write(folder.join("offers.long"), &ads).expect("it can be written");
    // The offers are opened after the requests, which are a pipe.
    let vanish = || fs::remove_file(folder.join("offers.long")).expect("it is there");
    let (status, told) = with_pipe(&folder, &["match", "pipe", "--pool", "offers.long"], 0, vanish);
    assert!(matches!(status, Some(0..=2)), "{status:?} {told}");
    assert!(status != Some(2) || told.contains("offers.long"), "{told}");
    fs::write(folder.join("growing.long"), &ads).expect("it can be written");
    let grow = || {
        let text = [ads.as_bytes(), b"Name = \"n\"\nCpus = 2\nRequirements = true\n\n"].concat();
        fs::write(folder.join("growing.long"), text).expect("it can be written");
    };
    let (status, told) = with_pipe(&folder, &["match", "pipe", "--pool", "growing.long"], 0, grow);
    assert_eq!(status, Some(0), "{told}");
}

#[test]
fn two_writers_of_one_file_notice_each_other() {
    let folder = folder("writers");
    fs::write(folder.join("offers.long"), "Name = \"m\"\nRequirements = true\n\n").expect("it can be written");
    let commands: [(&[&str], &str, &str); 3] = [
        // The large file takes a while.
        (&["fmt", "-w", "large", "one"], "[a=1]\n", "[b=2]\n"),
        (&["transform", "--set", "b=2", "-w", "large", "one"], "[a=1]\n", "[b=2]\n"),
        (&["negotiate", "pipe", "--pool", "offers.long", "--usage", "one"], "", "# of another cycle\n"),
    ];
    let large = (0..60_000).map(|number| format!("[Name=\"m{number}\";a={number}+1]\n")).collect::<Vec<_>>().concat();
    for (arguments, old, other) in commands {
        let path = folder.join("one");
        // The command may be slow to read the file.
        let is_refused = [50, 200, 500, 1500, 3000].into_iter().any(|delay| {
            fs::write(&path, old).expect("it can be written");
            fs::write(folder.join("large"), &large).expect("it can be written");
            let write = || fs::write(&path, other).expect("it can be written");
            let (status, told) = if arguments.contains(&"pipe") {
                with_pipe(&folder, arguments, delay, write)
            } else {
                let child = command(&folder, arguments).stderr(Stdio::piped()).spawn().expect("the binary runs");
                std::thread::sleep(Duration::from_millis(delay));
                write();
                let output = child.wait_with_output().expect("it ends");
                (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
            };
            let is_refused = told.contains("cannot write one: it changed after it was read");
            assert!(!is_refused || status == Some(2), "{arguments:?}: {status:?} {told}");
            is_refused && fs::read_to_string(&path).expect("it is there") == other
        });
        assert!(is_refused, "{arguments:?}");
    }
}

/// Commands that write files are killed at random moments: each file is the old one or the new one, whole, or missing as
/// before.
#[test]
fn killed_commands_leave_whole_files() {
    let folder = folder("killed");
    let jobs = (0..300)
        .map(|number| format!("JobId = \"j{number}\"\nOwner = \"u{}\"\nRequirements = true\n\n", number % 5))
        .collect::<Vec<_>>()
        .concat();
    fs::write(folder.join("jobs.long"), &jobs).expect("it can be written");
    fs::write(folder.join("offers.long"), jobs.replace("JobId = \"j", "Name = \"m")).expect("it can be written");
    let case = |number| format!("  - name: c{number}\n    expression: {number} + 1\n    expect: 0\n");
    let spec = format!("cases:\n{}", (0..300).map(case).collect::<Vec<_>>().concat());
    let negotiate = ["negotiate", "jobs.long", "--pool", "offers.long", "--now", "1000", "-q"];
    let commands: [(&[&str], &str, Option<&str>); 4] = [
        (&[&negotiate[..], &["--usage", "written"]].concat(), "written", None),
        (&[&negotiate[..], &["--notify", "written"]].concat(), "written", None),
        (
            &["match", "jobs.long", "--pool", "offers.long", "--now", "1000", "-q", "--notify", "written"],
            "written",
            Some("old\n"),
        ),
        (&["test", "--update", "spec.yaml"], "spec.yaml", Some(&spec)),
    ];
    let mut random = Rng::with_seed(4);
    for (arguments, name, old) in commands {
        let path = folder.join(name);
        let reset = || match old {
            Some(old) => fs::write(&path, old).expect("it can be written"),
            None => drop(fs::remove_file(&path)),
        };
        reset();
        let (status, _, told) = run(&folder, arguments);
        assert!(matches!(status, Some(0 | 1)), "{arguments:?}: {told}");
        let new = fs::read(&path).expect("it is written");
        assert_ne!(Some(new.as_slice()), old.map(str::as_bytes), "{arguments:?}");
        if old.is_none() {
            // The permissions are those of any new file.
            fs::write(folder.join("usual"), "").expect("it can be written");
            let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode();
            assert_eq!(mode(&path), mode(&folder.join("usual")), "{arguments:?}");
        }
        for _ in 0..seeds().count().div_ceil(30) {
            reset();
            let mut child = start(&folder, arguments);
            std::thread::sleep(Duration::from_micros(random.u64(0..60_000)));
            // It may have ended.
            let _ = child.kill();
            child.wait().expect("it ends");
            let found = fs::read(&path).ok();
            let is_old = found.as_deref() == old.map(str::as_bytes);
            assert!(is_old || found.as_ref() == Some(&new), "{arguments:?}: {found:?}");
        }
    }
}

/// `/dev/full` takes no byte. A limit of the size of files stands for a full disk.
#[test]
fn a_full_disk_leaves_files_as_they_are() {
    let folder = folder("full");
    let bracketed = |number| format!("[Name=\"m{number}\";Size={number}]\n");
    let ads = (0..2000).map(bracketed).collect::<Vec<_>>().concat();
    fs::write(folder.join("a.ad"), &ads).expect("it can be written");
    let named = |name: &str| -> String {
        let ad = |number| format!("{name} = \"{number}\"\nRequirements = true\n\n");
        (0..500).map(ad).collect::<Vec<_>>().concat()
    };
    fs::write(folder.join("j.long"), named("JobId")).expect("it can be written");
    fs::write(folder.join("m.long"), named("Name")).expect("it can be written");
    for (script, kept) in [
        ("ulimit -f 8; trap '' XFSZ; \"$0\" fmt -w a.ad", "a.ad"),
        ("ulimit -f 8; trap '' XFSZ; \"$0\" match j.long --pool m.long -q --notify new", "new"),
        ("\"$0\" convert a.ad --to json > /dev/full", "a.ad"),
        ("\"$0\" census a.ad > /dev/full", "a.ad"),
    ] {
        let before = fs::read(folder.join(kept)).ok();
        let output = Command::new("bash")
            .args(["-c", script, env!("CARGO_BIN_EXE_classad")])
            .current_dir(&folder)
            .stdin(Stdio::null())
            .output()
            .expect("bash runs");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{script}: {told}");
        assert!(told.contains("cannot write"), "{script}: {told}");
        assert_eq!(fs::read(folder.join(kept)).ok(), before, "{script}");
        let left: Vec<_> =
            fs::read_dir(&folder).expect("it is there").map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 3, "{script} leaves {left:?}");
    }
}

#[test]
fn many_files_and_odd_names_are_read() {
    let folder = folder("many");
    let mut list = Vec::new();
    for number in 0..3000 {
        let name = if number == 7 { "odd\nname \u{1b}[1m.long".to_owned() } else { format!("{number}.long") };
        fs::write(folder.join(&name), format!("Name = \"m{number}\"\n")).expect("it can be written");
        list.extend(name.bytes().chain([0]));
    }
    fs::write(folder.join("list"), list).expect("it can be written");
    // The files are read one after the other: a few descriptors are enough.
    let output = Command::new("bash")
        .args(["-c", "ulimit -n 32; \"$0\" query true --files-from list --count", env!("CARGO_BIN_EXE_classad")])
        .current_dir(&folder)
        .output()
        .expect("bash runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "3000\n", "{}", String::from_utf8_lossy(&output.stderr));
    // A bad ad in the file with the odd name is reported on one line, without escape sequences.
    fs::write(folder.join("odd\nname \u{1b}[1m.long"), "Name = (\n").expect("it can be written");
    let (status, _, told) = run(&folder, &["query", "true", "odd\nname \u{1b}[1m.long"]);
    assert_eq!(status, Some(2), "{told}");
    assert!(!told.contains('\u{1b}') && told.contains("name") && !told.contains("odd\nname"), "{told:?}");
}

/// Writes ads to a terminal that is closed behind them: who reads them gets the ads and then an error of input.
const BROKEN_TERMINAL: &str = r#"
import os, pty, subprocess, sys, tty
master, slave = pty.openpty()
tty.setraw(slave)
os.write(slave, b"".join(b'Name = "m%d"\nCpus = %d\nRequirements = true\n\n' % (n, n) for n in range(20)))
os.close(slave)
sys.exit(subprocess.run(sys.argv[1:], stdin=master).returncode)
"#;

#[test]
fn an_error_in_the_middle_of_the_input_is_reported_once() {
    let folder = folder("broken");
    fs::write(folder.join("offers.long"), "Name = \"m\"\nCpus = 3\nRequirements = true\n\n")
        .expect("it can be written");
    let commands: [(&[&str], &str); 10] = [
        (&["query", "true", "--count"], "20\n"),
        (&["query", "Cpus > 18", "--af", "Cpus"], "19\n"),
        (&["query", "true", "--af", "Cpus", "--sort", "Cpus", "--limit", "1"], "0\n"),
        (&["convert", "-", "--to", "jsonl"], "m19"),
        (&["eval", "--each", "Cpus + 1", "-"], "20"),
        (&["census"], "Cpus"),
        (&["transform", "--set", "x=1"], "x = 1"),
        (&["match", "-", "--pool", "offers.long"], "m0"),
        (&["diff", "-", "offers.long"], "- m19"),
        (&["explain", "-", "--pool", "offers.long", "-o", "json"], "m19"),
    ];
    for (arguments, expected) in commands {
        let output = Command::new("python3")
            .args(["-c", BROKEN_TERMINAL, env!("CARGO_BIN_EXE_classad")])
            .args(arguments)
            .current_dir(&folder)
            .output()
            .expect("python3 runs");
        let (shown, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert_eq!(told.matches("error:").count(), 1, "{arguments:?}: {told}");
        assert!(told.contains("cannot read standard input to its end: Input/output error"), "{arguments:?}: {told}");
        assert!(shown.contains(expected), "{arguments:?}: {shown}");
    }
}

#[test]
fn what_cannot_be_read_is_refused_wherever_a_file_is_named() {
    let folder = folder("unreadable");
    fs::create_dir(folder.join("a.dir")).expect("a folder can be made");
    fs::write(folder.join("ads.long"), "Name = \"m\"\nRequirements = true\n\n").expect("it can be written");
    // The first page of the memory of a process cannot be read.
    for (path, reason) in [("a.dir", "it is a directory, not a file"), ("/proc/self/mem", "Input/output error")] {
        let map = format!("m={path}");
        let commands: [&[&str]; 14] = [
            &["query", "true", path],
            &["query", "true", "ads.long", path],
            &["convert", path, "--to", "json"],
            &["fmt", path],
            &["check", path],
            &["merge", path],
            &["match", "ads.long", "--pool", path],
            &["negotiate", "ads.long", "--pool", "ads.long", "--policy", path],
            &["transform", "--rules", path, "ads.long"],
            &["query", "true", "--files-from", path],
            &["eval", "--map", &map, "1"],
            &["diff", "ads.long", path],
            &["eval", "--cases", path],
            &["parse", "--cases", path],
        ];
        for arguments in commands {
            let (status, shown, told) = run(&folder, arguments);
            assert_eq!(status, Some(2), "{arguments:?}: {told}");
            assert_eq!(told.matches(reason).count(), 1, "{arguments:?}: {told}");
            if arguments.starts_with(&["query", "true", "ads.long"]) {
                assert!(shown.contains('m'), "the other file is read: {shown}");
            }
        }
    }
}
