//! The sample pool inside the program.

use crate::binary::{file, run};

#[test]
fn the_sample_pool_is_explained_without_files() {
    let output = run(&["demo"], "".as_bytes());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (command, explanation) = text.split_once('\n').unwrap();
    assert_eq!(command, "$ classad explain demo:jobs --pool demo:slots --unmatched --policy htcondor --exit-zero");
    let arguments = ["explain", "samples/pool/jobs.long", "--pool", "samples/pool/machines.long", "--unmatched"];
    let of_files = run(&[&arguments[..], &["--policy", "htcondor", "--exit-zero"]].concat(), "".as_bytes());
    assert!(output.status.success() && explanation == String::from_utf8_lossy(&of_files.stdout), "{text}");
}

#[test]
fn the_sample_pool_is_an_input_of_every_command() {
    let output = run(&["query", "Memory > 100000", "demo:slots", "--af", "Name"], "".as_bytes());
    assert!(output.status.success() && !output.stdout.is_empty());
    let output = run(&["query", "true", "demo:slot"], "".as_bytes());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(told.contains("cannot read demo:slot: the sample pool has demo:jobs and demo:slots"), "{told}");
}

#[test]
fn the_sample_pool_is_written_once() {
    let folder = std::path::PathBuf::from(file("demo-anchor", "")).with_file_name("demo-pool");
    let _ = std::fs::remove_dir_all(&folder);
    let write = || run(&["demo", "--write", &folder.display().to_string()], "".as_bytes());
    assert!(write().status.success());
    let written = std::fs::read(folder.join("slots.long")).unwrap();
    assert_eq!(written, std::fs::read("samples/pool/machines.long").unwrap());
    assert_eq!(write().status.code(), Some(2));
}
