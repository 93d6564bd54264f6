//! Tables of matches, and what decided between the winner and the runner-up.

use classad::eval::Context;
use classad::matching::BilateralMatch;
use classad::matching::gang::Gang;
use classad::matching::negotiate::{Choice, DecidingDifference, Grant};
use classad::matching::policy::Policy;
use classad::syntax::{Style, print};
use classad::text::join_and;

use super::output::out;
use super::rows::{TableCell, TableWriter, steps_of_text, value_text};
use crate::cli::args::output::TableOutputArgs;
use crate::cli::io::parties::Parties;
use crate::cli::outcome::Failure;

/// Maximum length of a component of the docking vector that is printed, in bytes.
const MAX_RULE_LENGTH: usize = 60;

/// The columns of a table of matches beside request, offer and ranks.
#[derive(Clone, Copy)]
pub struct MatchColumns<'p> {
    /// Whether there is a column of the users who lose their offers.
    pub preempted: bool,
    /// The policy of the matches, if there are columns of the runner-up and of what decided against it.
    pub why: Option<&'p Policy>,
}

/// The columns of every table of matches.
pub const PAIR_HEADER: [&str; 4] = ["request", "offer", "request_rank", "offer_rank"];

/// Returns the cells of the columns of [`PAIR_HEADER`]. `ranks` are that of the request and that of the offer.
pub fn pair_row(request: String, offer: String, ranks: [f64; 2]) -> Vec<TableCell> {
    let [request_rank, offer_rank] = ranks.map(TableCell::from);
    vec![request.into(), offer.into(), request_rank, offer_rank]
}

/// Writes a row for each offer of each match to standard output. If there are gangs, the column `port` has the port at
/// which the offer is docked. Only a table for people is held in memory.
///
/// # Errors
///
/// The form is not one of rows, or writing fails.
pub fn write_match_table(
    parties: &Parties,
    grants: &[Grant],
    columns: MatchColumns<'_>,
    form: TableOutputArgs,
) -> Result<(), Failure> {
    let mut header = PAIR_HEADER.map(str::to_owned).to_vec();
    let has_gangs = grants.iter().any(|grant| grant.gang.is_some());
    let further = [
        (columns.preempted, &["preempted"][..]),
        (has_gangs, &["port"]),
        (columns.why.is_some(), &["runner_up", "decided_by"]),
    ];
    let further = further.into_iter().filter(|(is_shown, _)| *is_shown).flat_map(|(_, names)| names);
    header.extend(further.map(|name| (*name).to_owned()));
    let mut writer = TableWriter::new(header, form.form, !form.no_header)?;
    if columns.why.is_some() {
        writer = writer.keeping_columns();
    }
    let mut out = out();
    for grant in grants {
        let request = parties.request_name(grant.request, grant.unit);
        let paths = grant.gang.as_ref().map(Gang::port_paths).unwrap_or_default();
        for (place, granted) in grant.offers.iter().enumerate() {
            let offer = parties.offer_name(granted.offer, granted.part);
            let mut row = pair_row(request.clone(), offer, [granted.request_rank, granted.offer_rank]);
            row.extend(columns.preempted.then(|| granted.preempted.clone().unwrap_or_default().into()));
            row.extend(has_gangs.then(|| paths.get(place).cloned().unwrap_or_default().into()));
            if let Some(policy) = columns.why {
                // The offers of a gang are chosen together: its first row says why.
                let texts = match &grant.choice {
                    _ if place > 0 => [String::new(), String::new()],
                    Some(choice) => [runner_up_names(parties, choice), choice_text(choice, policy)],
                    None => [String::new(), "only candidate".to_owned()],
                };
                row.extend(texts.map(TableCell::from));
            }
            writer.write(&mut out, row)?;
        }
    }
    writer.finish(&mut out)
}

/// Writes a row for each pair of a request and an offer to standard output. Rows that a table holds count as held bytes.
///
/// # Errors
///
/// The form is not one of rows, or writing fails.
pub fn write_pair_table(
    parties: &Parties,
    pairs: impl Iterator<Item = BilateralMatch>,
    context: &Context,
    form: TableOutputArgs,
) -> Result<(), Failure> {
    let mut writer = TableWriter::new(PAIR_HEADER.map(str::to_owned).to_vec(), form.form, !form.no_header)?;
    let mut out = out();
    // The rows count already, also if the search for later requests spent the budget; long texts do not.
    let mut text_steps = context.run_budgets.as_ref().map_or(u64::MAX, |run| run.comparisons.granted());
    for BilateralMatch { request, offer, request_rank, offer_rank } in pairs {
        let names = [parties.request_name(request, None), parties.offer_name(offer, 1)];
        let [request, offer] = names;
        let row = pair_row(request, offer, [request_rank, offer_rank]);
        let held = writer.held_bytes(&row);
        context.count_held_bytes(held);
        let steps = steps_of_text(&row);
        context.count_comparisons(steps);
        match text_steps.checked_sub(steps) {
            Some(left) if held == 0 || !context.has_spent_held_bytes() => text_steps = left,
            _ => break,
        }
        writer.write(&mut out, row)?;
    }
    writer.finish(&mut out)
}

/// Returns the names of the next best offer, or of the offers of the next best gang.
pub fn runner_up_names(parties: &Parties, choice: &Choice) -> String {
    let names = choice.runner_up.iter().map(|(offer, part)| parties.offer_name(*offer, *part));
    names.collect::<Vec<_>>().join(",")
}

/// Returns what decided between the winner and the runner-up: `request_rank 5 > 3`, for example.
pub fn choice_text(choice: &Choice, policy: &Policy) -> String {
    let port = choice.port.as_ref().map(|port| format!("{port}: ")).unwrap_or_default();
    let text = match &choice.difference {
        DecidingDifference::Component(index, values) => {
            let [winner, runner_up] = values.each_ref().map(|value| value_text(value, false));
            let [winner, runner_up] = [winner, runner_up].map(|text| String::from_utf8_lossy(&text).into_owned());
            let rule = policy.docking.get(*index);
            let component = rule.and_then(|rule| rule.name.clone()).map_or_else(
                || {
                    let text = rule.map(|rule| print(&rule.expression, Style::New)).unwrap_or_default();
                    let text = String::from_utf8_lossy(&text);
                    let text = if text.len() <= MAX_RULE_LENGTH { format!(" ({text})") } else { String::new() };
                    format!("docking {}{text}", index + 1)
                },
                String::from,
            );
            format!("{component}: {winner} > {runner_up}")
        }
        DecidingDifference::RequestRank([winner, runner_up]) => format!("request_rank {winner} > {runner_up}"),
        DecidingDifference::OfferRank([winner, runner_up]) => format!("offer_rank {winner} > {runner_up}"),
        DecidingDifference::FilledPorts(labels) => {
            let listed = |labels: &Vec<String>| if labels.is_empty() { "none".to_owned() } else { join_and(labels) };
            let [winner, runner_up] = labels.each_ref().map(listed);
            format!("filled ports: {winner} > {runner_up}")
        }
        DecidingDifference::InputOrder => "input order".to_owned(),
    };
    format!("{port}{text}")
}
