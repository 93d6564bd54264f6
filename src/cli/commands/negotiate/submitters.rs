//! The submitters of a cycle: their rows, and the one that a user means.

use classad::matching::negotiate::{NegotiationOutcome, SubmitterOutcome};
use classad::text::similar_ids;

use super::transcript::Transcript;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::render::rows::{ResultTable, TableCell};

/// Returns a row for each submitter: what it asked for, got and uses.
pub fn submitter_table(outcome: &NegotiationOutcome) -> ResultTable {
    let header = ["submitter", "priority", "requests", "matches", "offers", "used_weight"];
    let columns = if outcome.used_weight.is_some() { &header[..] } else { &header[..5] };
    let mut table = ResultTable::new(columns);
    for SubmitterOutcome { name, priority, requests, matches, offers } in &outcome.submitters {
        let mut row: Vec<TableCell> =
            vec![name.clone().into(), (*priority).into(), (*requests).into(), (*matches).into(), (*offers).into()];
        let used = outcome.used_weight.as_ref().map(|used| used.get(name).copied().unwrap_or_default());
        row.extend(used.map(TableCell::from));
        table.rows.push(row);
    }
    table
}

/// Leaves out of a transcript what is about other submitters than the one that a user means.
///
/// # Errors
///
/// Nothing is about it, or several submitters are called so.
pub fn retain_submitter(
    transcript: &mut Transcript<'_>,
    outcome: &NegotiationOutcome,
    submitter: &str,
) -> Result<(), Failure> {
    let names: Vec<&str> = outcome.submitters.iter().map(|of| of.name.as_str()).collect();
    let name = submitter_called(submitter, &names)?;
    if !transcript.retain_submitter(name) {
        let near = similar_ids(submitter, names.iter().copied());
        let hint = near.first().map_or(String::new(), |near| format!(" (did you mean {near}?)"));
        return refuse(format!("no request is of the submitter {submitter}{hint}"));
    }
    Ok(())
}

/// Returns the submitter that a user means: the one of this name, or the only one whose owner has it, as `ann` for
/// `group_a.ann@example.org`. Refuses a name of several owners.
fn submitter_called<'n>(wanted: &'n str, names: &[&'n str]) -> Result<&'n str, Failure> {
    let owner = |name: &str| {
        let user = name.split('@').next().unwrap_or_default();
        user.rsplit('.').next().unwrap_or_default() == wanted || user == wanted
    };
    let found: Vec<&str> = names.iter().copied().filter(|name| owner(name)).collect();
    match found.as_slice() {
        _ if names.contains(&wanted) => Ok(wanted),
        [only] => Ok(only),
        [] => Ok(wanted),
        [_, ..] => refuse(format!("several submitters are called {wanted}: {}", found.join(", "))),
    }
}
