//! Which arguments of `query` are the constraint, and which are files.

use std::path::Path;

use super::QueryCommand;
use crate::cli::io::argument_text;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::session::Session;

/// Splits the arguments into constraints and files. An existing file in the constraint's place is a file.
pub fn constraints_and_files(query: &QueryCommand, session: &Session) -> Result<(Vec<String>, Vec<String>), Failure> {
    let mut constraints = query.given.clone();
    let mut files = query.ads.clone();
    if let Some(first) = &query.first {
        // The first positional argument is the constraint, unless --constraint gives one, or it is a file. A
        // partial result is merged where the file may not be.
        if constraints.is_empty() && query.query.is_none() && !query.partial.is_given() && Path::new(first).is_file() {
            let misplaced = query.input.paths()?.into_iter().find(|file| is_comparison(file));
            if let Some(constraint) = misplaced.filter(|file| !Path::new(file).exists()) {
                return refuse(format!("there is no file {constraint}; the constraint comes before the files"));
            }
            if !query.attempts && !query.usage {
                session.note(&format!("no constraint: {first} is a file; all ads are selected"));
            }
            constraints.push("true".to_owned());
            files.push(first.clone());
        } else {
            if !Path::new(first).exists() {
                argument_text::refuse_misspelt_option(session, "query", (first, true))?;
            }
            if is_constraint(query, first) { &mut constraints } else { &mut files }.push(first.clone());
        }
    }
    files.extend(query.input.paths()?);
    Ok((constraints, files))
}

/// Whether the first argument is a constraint. Beside --constraint and HTCondor's words such as -hold it is one if it
/// compares or is `true` or `false`, and is no file.
pub fn is_constraint(query: &QueryCommand, first: &str) -> bool {
    let is_truth = ["true", "false"].iter().any(|word| first.eq_ignore_ascii_case(word));
    query.given.is_empty() && query.query.is_none() || (is_comparison(first) || is_truth) && !Path::new(first).exists()
}

/// Whether a text compares something, as most constraints do.
fn is_comparison(text: &str) -> bool {
    text.contains(['<', '>', '=', '!', '&', '|'])
}
