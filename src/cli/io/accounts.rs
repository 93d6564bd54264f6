//! Files with the accounts of submitters: those of `--usage`, and what HTCondor prints of its own.

use std::io;
use std::path::Path;

use classad::ad::Dialect;
use classad::format::{FileFormat, detect};
use classad::matching::policy::{Accountant, impossible_numbers, time_of_accounts};
use classad::text::similar_ids;

use super::atomic_write::{self, FileRevision};
use super::live::LiveSource;
use super::source_text::SourceText;
use super::whole_file::read_text;
use crate::cli::args::policy::read_settings;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::session::Session;

/// Whether there is no file of accounts yet. That is not an error: the first cycle or claim creates it.
pub fn is_new(path: &str) -> bool {
    matches!(std::fs::metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound)
}

/// Reads the accounts of a file; none if there is no file yet.
pub fn read_accounts(session: &mut Session, path: &str) -> Result<Accountant, Failure> {
    if is_new(path) {
        return Ok(Accountant::default());
    }
    atomic_write::refuse_special(path)?;
    Ok(read_settings(session, path, Accountant::parse)?.0)
}

/// Writes accounts to a file. Replaces the file atomically, unless it changed after `revision` was read.
pub fn write_accounts(
    session: &Session,
    path: &str,
    accountant: &Accountant,
    revision: &FileRevision,
) -> Result<(), Failure> {
    let text = accountant.to_yaml();
    let written =
        atomic_write::create_or_replace(Path::new(path), Some(revision), |file| file.write_all(text.as_bytes()));
    let other_names = written.map_err(|error| Failure::unwritable(path, &error))?;
    atomic_write::warn_of_other_names(session, path, other_names);
    Ok(())
}

/// Notes that a file of accounts was rewritten.
pub fn note_rewriting(session: &Session, path: &str) {
    session.note(&format!("the usage file {path} is written"));
}

/// Notes that a file of priorities names none of the submitters of the requests, if there are any.
pub fn note_unknown_submitters(session: &Session, path: &str, accountant: &Accountant, submitters: &[&str]) {
    let Some(first) = submitters.first().filter(|first| !first.is_empty()) else { return };
    if submitters.iter().any(|name| accountant.submitters.contains_key(*name)) {
        return;
    }
    let near = similar_ids(first, accountant.submitters.keys().map(String::as_str));
    let of_file = near.first().map_or(String::new(), |near| format!("; the file has {near}"));
    session.note(&format!("{path} names none of the submitters of these requests, such as {first}{of_file}"));
}

/// Reads the accounts that `condor_userprio -long` prints, those of several ads, or those of `Accountantnew.log`. Reports its problems only if there are accounts in it:
/// another text has as many as lines.
pub fn read_userprio(session: &mut Session, path: &str) -> Result<Accountant, Failure> {
    session.ask_live([&path.to_owned()])?;
    let bytes = read_text(path).map_err(|error| Failure::unreadable(path, &error))?;
    let form = detect(&bytes).unwrap_or(FileFormat::Long);
    let text = SourceText::from_file(path, bytes, form);
    let (context, mut accounts) = (session.context(), Accountant::default());
    let (mut problems, mut impossible, mut has_entries) = (Vec::new(), Vec::new(), false);
    for item in text.block.ads(Dialect::Condor) {
        match item {
            Ok(entry) => {
                accounts.accounted_until = accounts.accounted_until.or(time_of_accounts(&entry.ad, &context));
                let Some(read) = Accountant::from_userprio(&entry.ad, &context) else { continue };
                has_entries = true;
                impossible.extend(impossible_numbers(&entry.ad, &context));
                accounts.submitters.extend(read.submitters);
                accounts.floors.extend(read.floors);
                accounts.ceilings.extend(read.ceilings);
            }
            Err(problem) => problems.push(problem),
        }
    }
    // A new pool has no submitters.
    if !has_entries && LiveSource::of_argument(path).is_none() {
        return refuse(format!(
            "{path} names no submitter: write `Name1 = \"alice@cs\"` and `Priority1 = 500.0`, as `condor_userprio -long` does, or \
             give the negotiator's Accountantnew.log"
        ));
    }
    for problem in problems {
        session.report_problem(&text, &problem)?;
    }
    if let Some(first) = impossible.first() {
        let more = if impossible.len() == 1 { String::new() } else { format!(" ({} such values)", impossible.len()) };
        session.warning(&format!("{path}: {first}, but must be a number of at least 0{more}; the default counts"));
    }
    Ok(accounts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::program::session_of;

    #[test]
    fn submitters_that_a_file_does_not_name_are_noted() {
        let accounts = Accountant::parse(b"submitters:\n  alice@cs: { usage: 1 }\n  bob@cs: { usage: 1 }\n");
        let accounts = accounts.unwrap_or_else(|problems| panic!("{problems:?}"));
        let note = |first: &str, near: &str| {
            vec![format!("note: file names none of the submitters of these requests, such as {first}{near}")]
        };
        for (submitters, expected) in [
            (&[][..], vec![]),
            (&[""], vec![]),
            (&["alice@cs"], vec![]),
            (&["zoe@phys", "bob@cs"], vec![]),
            (&["zoe@phys", "yan@phys"], note("zoe@phys", "")),
            (&["alice@c"], note("alice@c", "; the file has alice@cs")),
        ] {
            let mut session = session_of(&["repl", "--quiet"]);
            session.keep_messages();
            note_unknown_submitters(&session, "file", &accounts, submitters);
            assert_eq!(session.told(), expected, "{submitters:?}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_new() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("usage").display().to_string();
        let mut session = session_of(&["repl", "--quiet"]);
        assert!(is_new(&path) && !is_new(folder.path().to_str().unwrap()));
        let none = FileRevision::of(&path);
        let accounts = read_accounts(&mut session, &path).ok().unwrap();
        assert!(accounts.submitters.is_empty());
        write_accounts(&session, &path, &accounts, &none).ok().unwrap();
        assert!(!is_new(&path) && read_accounts(&mut session, &path).is_ok_and(|read| read.submitters.is_empty()));
        assert!(write_accounts(&session, &path, &accounts, &none).is_err());
    }
}
