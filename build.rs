//! Tells a release which build it is: the commit, its date and the target. A build for development has no commit, because
//! each commit would compile all of it again.
//!
//! `CLASSAD_COMMIT` and `CLASSAD_DATE` set what a clone or a package would tell.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for name in ["CLASSAD_COMMIT", "CLASSAD_DATE"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = env::var("CLASSAD_COMMIT").ok().or_else(|| if is_release { commit() } else { None });
    let date =
        env::var("CLASSAD_DATE").ok().or_else(|| if is_release { git(&["show", "-s", "--format=%cs"]) } else { None });
    let build = match (commit, date) {
        (Some(commit), Some(date)) => format!("commit {commit} of {date}"),
        (Some(commit), None) => format!("commit {commit}"),
        (None, _) => "a build for development".to_owned(),
    };
    println!("cargo::rustc-env=CLASSAD_BUILD={build}");
    println!("cargo::rustc-env=CLASSAD_TARGET={}", env::var("TARGET").unwrap_or_default());
}

/// Returns the commit of the clone, or of the package of crates.io.
fn commit() -> Option<String> {
    if let Ok(package) = fs::read_to_string(".cargo_vcs_info.json") {
        let (_, after) = package.split_once("\"sha1\": \"")?;
        return after.get(..12).map(str::to_owned);
    }
    // The log of HEAD changes with each commit and each checkout.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists());
    if let Some(log) = log {
        println!("cargo::rerun-if-changed={log}");
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}

/// Returns what Git prints in the folder of the package; `None` if that is no clone of this project.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (!text.is_empty() && Path::new(".git").exists()).then_some(text)
}
