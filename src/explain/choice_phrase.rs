//! Phrases about choices: what only the author of a request can decide, such as another site, and what it gains.

use indexmap::IndexMap;

use crate::text::{join_with, with_commas};

use super::changes::{
    DURATION, MatchingOffers, RequestChange, RequestEdit, avoids_former_slots, names_device, names_system,
};
use super::clauses::text;
use super::places::{names_place, names_wanted_place};
use super::report::{RequestReport, RequestVerdict};
use super::summary::SummaryWriter;

/// Maximum number of choices of one kind that are named.
const MAX_CHOICES: usize = 3;

/// What is done with an attribute that slots want to be there.
const SET: &str = "set";

/// An edit of a choice in words: `do without`, a clause, and what the request may do then.
type EditPhrase = (&'static str, String, &'static str);

/// Says which choices a request has, those of one kind in one phrase: `do without A (2 slots, 1 free), if it may run elsewhere`.
/// Empty if it has none, or if a change helps.
pub(super) fn choice_phrases(writer: &SummaryWriter<'_>, report: &RequestReport) -> Vec<String> {
    if matches!(report.verdict, RequestVerdict::NotWaiting(_)) || report.has_plain_change() {
        return Vec::new();
    }
    if let Some((spelled, _)) = &report.orphan_spelling {
        return vec![format!("write {spelled}, as dynamic slots do, and wait until their jobs end")];
    }
    let mut kinds: IndexMap<(&str, &str), Vec<String>> = IndexMap::new();
    for choice in &report.choices {
        let parts: Vec<EditPhrase> = choice.edits.iter().map(|edit| edit_phrase(writer, report, edit)).collect();
        // The project is a condition of the slots, and no choice.
        let Some((verb, _, may)) = parts.iter().rev().find(|(verb, ..)| *verb != SET).or(parts.last()) else {
            continue;
        };
        let is_alike = parts.iter().all(|(of_part, ..)| of_part == verb);
        let part = |(of_part, what, _): &EditPhrase| {
            if is_alike { what.clone() } else { format!("{of_part} {what}") }
        };
        let what = join_with(&parts.iter().map(part).collect::<Vec<_>>(), "and");
        let kind = (if is_alike { *verb } else { "" }, *may);
        kinds.entry(kind).or_default().push(format!("{what} ({})", gained(writer, choice)));
    }
    let phrase = |((verb, may), choices): (&(&str, &str), &Vec<String>)| {
        let choices = join_with(&choices[..choices.len().min(MAX_CHOICES)], "or");
        format!("{verb} {choices}, if {} {may}", writer.verb("it", "they")).trim_start().to_owned()
    };
    kinds.iter().map(phrase).collect()
}

fn edit_phrase(writer: &SummaryWriter<'_>, report: &RequestReport, edit: &RequestEdit) -> EditPhrase {
    let quoted = |expression| writer.quoted(&text(expression, writer.dialect));
    match edit {
        RequestEdit::Drop { clause } => {
            let known = report.clauses.iter().find(|known| known.analysis.clause.expression.ptr_eq(clause));
            let is_place = known.is_some_and(|known| known.analysis.offer_attributes.iter().all(names_place));
            let may = match known {
                Some(known) if avoids_former_slots(&known.analysis) => "may run there again",
                _ if is_place => "may run elsewhere",
                Some(known) if known.analysis.offer_attributes.iter().all(names_device) => "can do with another GPU",
                _ => "may run without",
            };
            ("do without", quoted(clause), may)
        }
        RequestEdit::Rewrite { clause, to } => {
            let known = report.clauses.iter().find(|known| known.analysis.clause.expression.ptr_eq(clause));
            let is_system = known.is_some_and(|known| known.analysis.offer_attributes.iter().any(names_system));
            let may =
                if is_system { "may run there; else use an image that has its system" } else { "can do with that" };
            ("ask for", quoted(to), may)
        }
        RequestEdit::Set { name, to, .. } => {
            let setting = format!("{name} = {}", text(to, writer.dialect));
            ("ask for", writer.quoted(&setting), "can do with that")
        }
        RequestEdit::Remove { name, from } => {
            let setting = format!("{name} = {}", text(from, writer.dialect));
            let may = match name {
                name if name.is(DURATION) => "ends sooner",
                name if names_wanted_place(name) => "may run elsewhere",
                _ => "may run without",
            };
            ("do without", writer.quoted(&setting), may)
        }
        RequestEdit::Define { name } => (SET, format!("{name} to the name of your project"), "may run so"),
        other @ RequestEdit::DropPorts { .. } => ("", other.text(writer.dialect), "may run so"),
    }
}

/// Says how many offers match with a choice: `9 slots, 2 free`.
fn gained(writer: &SummaryWriter<'_>, choice: &RequestChange) -> String {
    let MatchingOffers { count, if_drained, .. } = choice.matched;
    match choice.matched.free() {
        _ if count == 0 => format!("{} once jobs end", writer.count(if_drained)),
        Some(free) if free == count => format!("{}, free", writer.count(count)),
        Some(free) if free > 0 => format!("{}, {} free", writer.count(count), with_commas(free)),
        Some(_) => format!("{}, none free", writer.count(count)),
        None => writer.count(count),
    }
}
