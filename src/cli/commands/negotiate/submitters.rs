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

#[cfg(test)]
mod tests {
    use classad::matching::negotiate::{NegotiationOutcome, SubmitterOutcome};

    use super::{submitter_called, submitter_table};
    use crate::cli::outcome::Failure;

    #[test]
    fn a_submitter_is_called_by_its_name_its_user_or_its_owner() {
        let names = ["bio.ann@x", "phys.ann@x", "bob@x", "bob", "a.b.carl@x", ""];
        for (wanted, expected) in [
            ("bob@x", Ok("bob@x")),
            // The whole name of one is the user of another.
            ("bob", Ok("bob")),
            ("bio.ann", Ok("bio.ann@x")),
            ("carl", Ok("a.b.carl@x")),
            ("b.carl", Ok("b.carl")),
            ("dave", Ok("dave")),
            ("ann", Err("several submitters are called ann: bio.ann@x, phys.ann@x")),
        ] {
            let called = submitter_called(wanted, &names).map_err(|failure| match failure {
                Failure::Refused(Some(message)) => message,
                _ => String::new(),
            });
            assert_eq!(called, expected.map_err(str::to_owned), "{wanted}");
        }
    }

    #[test]
    fn weights_have_a_column_if_they_are_known() {
        let of = |name: &str, priority, requests, matches, offers| SubmitterOutcome {
            name: name.to_owned(),
            priority,
            requests,
            matches,
            offers,
        };
        let submitters = vec![of("ann", 0.5, 3, 2, 1), of("bob", 1.0, 4, 0, 0)];
        let mut outcome = NegotiationOutcome { submitters, ..NegotiationOutcome::default() };
        let rows = |outcome: &NegotiationOutcome| {
            let table = submitter_table(outcome);
            let cells =
                table.rows.iter().map(|row| row.iter().map(|cell| cell.text.clone()).collect::<Vec<_>>().join(" "));
            [table.header.join(" ")].into_iter().chain(cells).collect::<Vec<_>>()
        };
        assert_eq!(rows(&outcome), ["submitter priority requests matches offers", "ann 0.5 3 2 1", "bob 1 4 0 0"]);
        outcome.used_weight = Some([("ann".to_owned(), 2.5)].into());
        let expected = ["submitter priority requests matches offers used_weight", "ann 0.5 3 2 1 2.5", "bob 1 4 0 0 0"];
        assert_eq!(rows(&outcome), expected);
    }
}
