//! `--follow`: files that are read on while a process writes, renames and cuts them.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::binary::temporary;

/// A run of `query --follow`, and the lines that it prints.
struct Follower {
    child: Child,
    lines: Receiver<String>,
}

impl Follower {
    fn new(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_classad"));
        command.args(["query", "--follow"]).args(arguments).env("TZ", "UTC");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let (sender, lines) = channel();
        let out = BufReader::new(child.stdout.take().expect("it is piped"));
        std::thread::spawn(move || out.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok()));
        Follower { child, lines }
    }

    /// Returns the next lines; fewer if they do not come in time.
    fn next(&self, count: usize) -> Vec<String> {
        (0..count).map_while(|_| self.lines.recv_timeout(Duration::from_secs(20)).ok()).collect()
    }

    /// Whether nothing more is printed for some time.
    fn is_quiet(&self) -> bool {
        self.lines.recv_timeout(Duration::from_millis(300)).is_err()
    }

    /// Ends the run as Ctrl-C does, and returns the signal that ended it; `None` if it goes on, as where the signal is ignored.
    fn interrupt(mut self) -> Option<i32> {
        use std::os::unix::process::ExitStatusExt;
        let killed = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().expect("it runs");
        assert!(killed.success());
        let mut looks = (0..400).map(|_| {
            std::thread::sleep(Duration::from_millis(50));
            self.child.try_wait().expect("it can be asked")
        });
        looks.find_map(|ended| ended)?.signal()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = temporary().join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("it can be made");
    folder
}

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).expect("it can be opened");
    file.write_all(text.as_bytes()).expect("it can be written");
}

fn event(number: u16, job: usize) -> String {
    let text = if number == 1 { "Job executing on host: <192.0.2.9:9618>" } else { "Job submitted from host: <a>" };
    format!("{number:03} ({job:03}.000.000) 2026-09-01 10:00:00 {text}\n...\n")
}

#[test]
fn an_event_log_is_followed_over_rotations_and_nothing_is_lost() {
    let folder = folder("follow-events");
    let log = folder.join("EventLog");
    let path = log.to_str().expect("it is UTF-8");
    let name = |ending: &str| folder.join(format!("EventLog{ending}"));
    // What was there before, in two files.
    append(&name(".old"), &event(0, 1));
    append(&log, &event(0, 2));
    let old = name(".old");
    let follower = Follower::new(&["true", old.to_str().expect("it is UTF-8"), path, "--af", "Cluster"]);
    assert_eq!(follower.next(2), ["1", "2"]);
    // An event comes in two pieces, as the file grows.
    let third = event(0, 3);
    append(&log, &third[..20]);
    assert!(follower.is_quiet());
    append(&log, &third[20..]);
    assert_eq!(follower.next(1), ["3"]);
    // The writer still writes to the file that it has renamed.
    let mut writer = OpenOptions::new().append(true).open(&log).expect("it can be opened");
    fs::rename(&log, name(".old")).expect("it can be renamed");
    writer.write_all(event(0, 4).as_bytes()).expect("it can be written");
    append(&log, &event(0, 5));
    assert_eq!(follower.next(2), ["4", "5"]);
    // The file is cut to nothing, in the middle of an event.
    append(&log, &third[..20]);
    std::thread::sleep(Duration::from_millis(300));
    File::create(&log).expect("it can be cut");
    std::thread::sleep(Duration::from_millis(300));
    append(&log, &event(0, 6));
    assert_eq!(follower.next(1), ["6"]);
    assert_eq!(follower.interrupt(), Some(2));
}

#[test]
fn a_fast_writer_that_keeps_several_old_files_loses_nothing() {
    const EVENTS: usize = 20_000;
    const PER_FILE: usize = 1500;
    let folder = folder("follow-fast");
    let log = folder.join("EventLog");
    append(&log, &event(1, 0));
    let follower = Follower::new(&["EventTypeNumber == 1", log.to_str().expect("it is UTF-8"), "--af", "Cluster"]);
    assert_eq!(follower.next(1), ["0"]);
    for first in (1..=EVENTS).step_by(PER_FILE) {
        let text: String =
            (first..(first + PER_FILE).min(EVENTS + 1)).map(|job| event(0, job) + &event(1, job)).collect();
        let pieces: Vec<&str> = text.split_inclusive("...\n").collect();
        pieces.chunks(500).for_each(|piece| append(&log, &piece.concat()));
        for number in (1..20).rev() {
            let _ =
                fs::rename(folder.join(format!("EventLog.{number}")), folder.join(format!("EventLog.{}", number + 1)));
        }
        fs::rename(&log, folder.join("EventLog.1")).expect("it can be renamed");
        append(&log, &event(0, 0));
    }
    let expected: Vec<String> = (1..=EVENTS).map(|job| job.to_string()).collect();
    assert!(follower.next(EVENTS) == expected);
    assert!(follower.is_quiet());
}

#[test]
fn a_history_and_attempts_are_followed_as_they_come() {
    let folder = folder("follow-history");
    let history = folder.join("history");
    let text = fs::read_to_string("tests/pool/dumps/history").expect("it is there");
    let banners: Vec<usize> =
        text.match_indices("\n*** ").map(|(at, _)| at + 2 + text[at + 1..].find('\n').unwrap()).collect();
    append(&history, &text[..banners[0]]);
    let follower = Follower::new(&["true", history.to_str().expect("it is UTF-8"), "--af", "ClusterId,ProcId"]);
    assert_eq!(follower.next(1), ["39\t1"]);
    append(&history, &text[banners[0]..banners[1]]);
    assert_eq!(follower.next(1), ["39\t2"]);
    fs::rename(&history, folder.join("history.20261129T075600")).expect("it can be renamed");
    append(&history, &text[banners[1]..banners[2]]);
    assert_eq!(follower.next(1), ["40\t0"]);
    drop(follower);
    let log = folder.join("job.log");
    let text = fs::read_to_string("samples/pool/job.log").expect("it is there");
    let cut = text.find("005 (").expect("it has the event");
    append(&log, &text[..cut]);
    let follower = Follower::new(&["--attempts", log.to_str().expect("it is UTF-8"), "--af", "Job,Outcome,Seconds"]);
    assert_eq!(follower.next(3), ["1001.0\theld\t420", "1001.1\theld\t410", "1001.1\tevicted\t3600"]);
    assert!(follower.is_quiet());
    append(&log, &text[cut..]);
    assert_eq!(follower.next(2), ["1001.1\tterminated\t15935", "1002.0\tremoved\t6890"]);
}

#[test]
fn a_queue_log_has_its_jobs_and_those_that_change() {
    let folder = folder("follow-queue");
    let log = folder.join("job_queue.log");
    let head = "107 1 CreationTimestamp 1\n101 01.-1 Job Machine\n103 01.-1 Owner \"ann\"\n101 1.0 Job Machine\n103 1.0 ProcId 0\n\
                103 1.0 ClusterId 1\n103 1.0 JobStatus 1\n";
    append(&log, head);
    let path = log.to_str().expect("it is UTF-8");
    let follower = Follower::new(&["true", path, "--af", "ClusterId,ProcId,JobStatus,Owner"]);
    assert_eq!(follower.next(1), ["1\t0\t1\tann"]);
    // Each transaction counts when it ends.
    append(&log, "105\n103 1.0 JobStatus 2\n");
    assert!(follower.is_quiet());
    append(&log, "106\n105\n103 1.0 JobStatus 4\n106\n");
    assert_eq!(follower.next(2), ["1\t0\t2\tann", "1\t0\t4\tann"]);
    append(
        &log,
        "105\n101 1.1 Job Machine\n103 1.1 ProcId 1\n103 1.1 ClusterId 1\n103 1.1 JobStatus 1\n102 1.0\n106\n",
    );
    assert_eq!(follower.next(1), ["1\t1\t1\tann"]);
    // The schedd writes the log anew. Only what differs is news.
    let again = head.replace("1.0", "1.1").replace("ProcId 0", "ProcId 1");
    let new = folder.join("job_queue.log.tmp");
    append(&new, &again);
    fs::rename(&new, &log).expect("it can be renamed");
    assert!(follower.is_quiet());
    append(&log, "105\n103 01.-1 Owner \"bob\"\n106\n");
    assert_eq!(follower.next(1), ["1\t1\t1\tbob"]);
}

#[test]
fn what_needs_the_end_is_refused_and_a_closed_pipe_ends_the_run() {
    let folder = folder("follow-end");
    let log = folder.join("job.log");
    append(&log, &event(0, 1).repeat(3));
    let path = log.to_str().expect("it is UTF-8");
    for (arguments, expected) in [
        (&["true", "-"][..], "--follow needs a file"),
        (&["true", path, "--group-by", "Cluster"], "they need the end"),
        (&["true", path, "--sort", "Cluster"], "cannot be used with"),
        (&["true", path, "-o", "table"], "they need the end"),
        (&["true", "no such file"], "there is no such file"),
    ] {
        let (status, _, errors) = crate::binary::classad(&[&["query", "--follow"], arguments].concat());
        assert!(status == Some(2) && errors.contains(expected), "{errors}");
    }
    // A limit ends the run, and so does a reader that goes away, though nothing more is written.
    let (status, rows, _) =
        crate::binary::classad(&["query", "--follow", "true", path, "--limit", "2", "--af", "Cluster"]);
    assert_eq!((status, &*rows), (Some(0), "1\n1\n"));
    let command = format!("'{}' query --follow true '{path}' --af Cluster | head -1", env!("CARGO_BIN_EXE_classad"));
    let output =
        Command::new("timeout").args(["20", "bash", "-c", &format!("{command}; exit ${{PIPESTATUS[0]}}")]).output();
    let output = output.expect("it runs");
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"1\n"[..]));
}
