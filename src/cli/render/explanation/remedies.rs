//! What to do about a report: waiting, the changes that help, and the commands that make them.

use classad::ad::{Ad, Dialect, Expression, Name};
use classad::explain::{
    FactoryMode, HoldReason, MatchingOffers, RefusalGroup, Remedies, RequestChange, RequestEdit, RequestReport,
    RequestVerdict, SlotTally,
};
use classad::syntax::{Style, expression_text};
use classad::text::{counted, with_commas};

use crate::cli::io::named_ad::is_job_number;
use crate::cli::render::diagnostics::single_line;
use crate::cli::session::Session;

use super::case::ExplanationInput;
use super::limits::{DEFAULT_MAX_ITEMS, MAX_CLAUSE_CHARS};
use super::listing::{push_rest, push_wrapped, two_column_rows, wrapped};
use super::site_reasons::SiteReasons;
use super::verdict_codes::{needs_change, no_change_phrase};

/// Maximum number of jobs that a command names.
pub const MAX_COMMANDED_JOBS: usize = 10;

/// The commands of submit files for attributes of jobs. Any other attribute is set as `My.Name`.
const SUBMIT_COMMANDS: [(&str, &str); 6] = [
    ("RequestCpus", "request_cpus"),
    ("RequestMemory", "request_memory"),
    ("RequestDisk", "request_disk"),
    ("RequestGPUs", "request_gpus"),
    ("RequireGPUs", "require_gpus"),
    ("DeferralTime", "deferral_time"),
];

/// Returns what can be done for a group: phrases, changes with what makes them, or that no change was found.
pub fn what_to_do(session: &Session, case: &ExplanationInput<'_>, group: &[usize], report: &RequestReport) -> String {
    let phrases = phrases(session, case, group, report);
    let hold = report.job.as_ref().and_then(|job| job.hold.as_ref());
    let factory = report.job.as_ref().and_then(|job| job.factory.as_ref());
    let is_held = factory.is_some_and(|factory| factory.mode == FactoryMode::Held);
    let release = match hold {
        Some(hold) => release_commands(case, group, hold),
        // A factory has the name of its cluster.
        None if is_held => vec![format!("condor_release {}", case.subjects[group[0]].id())],
        None => Vec::new(),
    };
    // A job that runs or has ended needs no change.
    let is_over = hold.is_none() && matches!(report.verdict, RequestVerdict::NotWaiting(_));
    let has_all = case.evidence_level > 0;
    // One can wait rather than do with much less, unless that has a free slot at once.
    let has_remedy = has_remedy(&phrases, report);
    let gains_free = |change: &&RequestChange| change.matched.free().is_some_and(|free| free > 0);
    let at_once = report.changes.iter().find(gains_free).filter(|change| change.is_worth_free);
    let is_at_once = |change: &RequestChange| at_once.is_some_and(|first| std::ptr::eq(first, change));
    let is_told =
        |change: &&RequestChange| !is_over && (has_all || !has_remedy || !change.is_far_less || is_at_once(change));
    let changes: Vec<&RequestChange> = report.changes.iter().filter(is_told).collect();
    if let ([phrase], [], []) = (phrases.as_slice(), release.as_slice(), changes.as_slice()) {
        return wrapped(&single_line(&format!("what to do: {phrase}")));
    }
    if phrases.is_empty() && changes.is_empty() {
        return String::new();
    }
    let commanded = |commands: Vec<String>| commands.into_iter().map(|command| format!("    {command}\n"));
    let mut first = String::new();
    for phrase in &phrases {
        push_wrapped(&mut first, "  ", &single_line(phrase));
    }
    first.extend(commanded(release));
    // What is changed is changed before the release.
    let (first, last) = if hold.is_some() { (String::new(), first) } else { (first, String::new()) };
    let mut text = format!("what to do:\n{first}");
    let most = if has_all { usize::MAX } else { DEFAULT_MAX_ITEMS };
    let rows: Vec<(Vec<String>, String)> =
        changes.iter().take(most).map(|change| change_row(change, report, case.nouns)).collect();
    for (row, change) in two_column_rows(&rows).into_iter().zip(&changes) {
        text.push_str(&row);
        text.extend(commanded(change_command(session, case, group, change).into_iter().collect()));
        text.extend(commanded(submit_changes(session, case, group, change)));
    }
    push_rest(&mut text, changes.len(), most, "change");
    text + &last
}

/// Whether phrases say what can be done. What the slot closest to a conflict has is no remedy.
fn has_remedy(phrases: &[String], report: &RequestReport) -> bool {
    phrases.len() > usize::from(report.conflict_example.is_some())
}

/// Says what can be done without a change, or that no change was found.
pub fn phrases(session: &Session, case: &ExplanationInput<'_>, group: &[usize], report: &RequestReport) -> Vec<String> {
    let writer = case.summary_writer(session, if group.len() == 1 { "it" } else { "them" }, group, MAX_CLAUSE_CHARS);
    let mut phrases: Vec<String> = if case.is_reverse { Vec::new() } else { Remedies(&writer).phrases(report) };
    if matches!(report.verdict, RequestVerdict::IfDrained(_)) {
        phrases.extend(case.access_point.and_then(|access_point| access_point.draining.clone()));
    }
    let is_open = !has_remedy(&phrases, report) && report.changes.is_empty();
    if report.sought_changes && is_open && needs_change(report.verdict.as_str()) {
        let is_slip = |refusal: &RefusalGroup| refusal.demand.missing.iter().any(|missing| !missing.near.is_empty());
        let slip = if report.refusals.iter().any(is_slip) {
            format!("; the requirements of the {} may misspell attributes", case.nouns[1])
        } else {
            String::new()
        };
        phrases.push(format!("{}{slip}", no_change_phrase(report.attributes.iter().map(Name::as_str))));
    }
    let of_site = |reasons: &SiteReasons| reasons.phrase(report.cause(), &case.short_cause(session, report).id);
    phrases.extend(case.reasons.and_then(of_site));
    phrases
}

/// Returns the steps of a change, and what then matches. `ads` is the noun of the matched ads, singular and plural.
fn change_row(change: &RequestChange, report: &RequestReport, ads: [&str; 2]) -> (Vec<String>, String) {
    let MatchingOffers { count, states, if_drained } = change.matched;
    let mut steps = change.steps.clone();
    if let Some(last) = steps.last_mut().filter(|_| change.is_far_less) {
        last.push_str(" (much less, if it can do with that)");
    }
    if count == 0 {
        let their = if if_drained == 1 { "its" } else { "their" };
        return (
            steps,
            format!("{} {} once {their} jobs end", with_commas(if_drained), ads[usize::from(if_drained != 1)]),
        );
    }
    let matches = format!("{} {}", with_commas(count), ads[usize::from(count != 1)]);
    let states = states.map_or(String::new(), |states| format!(", {}", states_phrase(&states)));
    let refusing = match refusing_after(change, report) {
        0 => String::new(),
        1 => "; 1 refuses".to_owned(),
        refusing => format!("; {} refuse", with_commas(refusing)),
    };
    (steps, matches + &states + &refusing)
}

/// Returns the identifiers of the jobs of a group, as HTCondor's tools take them: `12.0 12.1`. Of many jobs the first, with a
/// remark that counts the others. `None` unless all are jobs.
fn job_ids(case: &ExplanationInput<'_>, group: &[usize]) -> Option<[String; 2]> {
    let id = |job: &usize| Some(case.subjects[*job].id()).filter(|id| is_job_number(id)).map(str::to_owned);
    let ids: Vec<String> = group.iter().take(MAX_COMMANDED_JOBS).map(id).collect::<Option<_>>()?;
    let others = group.len() - ids.len();
    let remark = if others > 0 { format!("  # and {} more", counted(others, "job")) } else { String::new() };
    Some([ids.join(" "), remark])
}

/// Returns the command that makes a change of jobs, with the lines of a submit file that do the same as a comment. `None` for
/// requests that are no jobs of HTCondor, and for jobs of a submit file, which are in no queue.
pub fn change_command(
    session: &Session,
    case: &ExplanationInput<'_>,
    group: &[usize],
    change: &RequestChange,
) -> Option<String> {
    let [ids, remark] = job_ids(case, group).filter(|_| !case.is_reverse && session.dialect().is_condor())?;
    if case.subjects[group[0]].is_of_submit_file() {
        return None;
    }
    let assignments = assignments(change, &case.subjects[group[0]].ad);
    let pairs: Vec<String> =
        assignments.iter().map(|(name, value)| format!("{} {}", shell_word(name), shell_word(value))).collect();
    // A submit file has only a part of Requirements: the step tells which.
    let in_file = assignments.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("Requirements")).map(submit_line);
    let in_file: Vec<String> = in_file.collect();
    let comment = if in_file.is_empty() || !remark.is_empty() {
        remark
    } else {
        format!("  # submit file: {}", in_file.join(", "))
    };
    Some(single_line(&format!("condor_qedit {ids} {}{comment}", pairs.join(" "))))
}

/// Returns the line of a submit file that sets an attribute to a text.
fn submit_line((name, value): &(String, String)) -> String {
    let known = SUBMIT_COMMANDS.iter().find(|(attribute, _)| name.eq_ignore_ascii_case(attribute));
    known.map_or_else(|| format!("My.{name} = {value}"), |(_, command)| format!("{command} = {value}"))
}

/// Returns what to write in the submit file of a job to make a change, with the places. Empty for a job in a queue.
fn submit_changes(
    session: &Session,
    case: &ExplanationInput<'_>,
    group: &[usize],
    change: &RequestChange,
) -> Vec<String> {
    let job = &case.subjects[group[0]];
    let line = |assignment: &(String, String)| {
        let place = job.submit_place(session, &assignment.0)?;
        // The submit file has only a part of Requirements: the step tells which.
        let is_part = assignment.0.eq_ignore_ascii_case("Requirements");
        let line = if is_part { "change `requirements`".to_owned() } else { submit_line(assignment) };
        Some(single_line(&format!("{place}: {line}")))
    };
    assignments(change, &job.ad).iter().filter_map(line).collect()
}

/// Returns the attributes that a change sets in `request`, and the texts of their new expressions. A removed attribute is set
/// to `undefined`.
pub fn assignments(change: &RequestChange, request: &Ad) -> Vec<(String, String)> {
    let text = |value: &Expression| expression_text(value.without_parentheses(), Style::of(Dialect::Condor));
    let assigned = change.assignments(request).into_iter();
    assigned
        .map(|(name, value)| (name.to_string(), value.as_ref().map_or_else(|| "undefined".to_owned(), text)))
        .collect()
}

/// Returns the commands that release held jobs, after the change of a request that was too small.
pub fn release_commands(case: &ExplanationInput<'_>, group: &[usize], hold: &HoldReason) -> Vec<String> {
    let Some([ids, remark]) = job_ids(case, group).filter(|_| !hold.is_spooling() && hold.held_by.is_none()) else {
        return Vec::new();
    };
    let raise = hold
        .exceeded
        .as_ref()
        .filter(|of| !of.asks_for_more && !of.is_most)
        .and_then(|exceeded| Some(format!("condor_qedit {ids} {} {}{remark}", exceeded.request, exceeded.enough?)));
    raise.into_iter().chain([format!("condor_release {ids}{remark}")]).collect()
}

/// Quotes a text for a shell where it needs quotes.
fn shell_word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_./:-+".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Says in which states slots are: `all free`, `none free: 2 claimed, 1 offline`, `2 free`.
fn states_phrase(states: &SlotTally) -> String {
    let (all, free) = (states.all(), states.available());
    match free {
        0 => {
            // Who claimed them does not matter, and is not known.
            let words = states.words().into_iter().map(|(number, words)| match words.strip_prefix("claimed") {
                Some(_) => (number, "claimed"),
                None => (number, words),
            });
            match words.collect::<Vec<_>>().as_slice() {
                [(_, state)] => (*state).to_owned(),
                several => {
                    let several = several.iter().map(|(number, state)| format!("{} {state}", with_commas(*number)));
                    format!("none free: {}", several.collect::<Vec<_>>().join(", "))
                }
            }
        }
        1 if all == 1 => "free".to_owned(),
        free if free == all => "all free".to_owned(),
        free => format!("{} free", with_commas(free)),
    }
}

/// Returns the number of offers that meet all clauses after a change which drops one clause, but whose own constraints
/// refuse the request; 0 for other changes.
fn refusing_after(change: &RequestChange, report: &RequestReport) -> usize {
    let [RequestEdit::Drop { clause }] = change.edits.as_slice() else { return 0 };
    let dropped = report.clauses.iter().find(|known| known.analysis.clause.expression.ptr_eq(clause));
    dropped.map_or(0, |dropped| (report.suitable + dropped.sole_blocker).saturating_sub(change.matched.count))
}

#[cfg(test)]
mod tests {
    use super::{SlotTally, shell_word, states_phrase, submit_line};

    #[test]
    fn words_of_commands_are_quoted() {
        for (word, expected) in [
            ("a", "a"),
            ("aZ09_./:-+", "aZ09_./:-+"),
            ("", "''"),
            ("a b", "'a b'"),
            ("a=b", "'a=b'"),
            ("\u{e4}", "'\u{e4}'"),
            ("it's", "'it'\\''s'"),
        ] {
            assert_eq!(shell_word(word), expected);
        }
    }

    #[test]
    fn lines_of_submit_files_have_their_commands() {
        for (name, expected) in [
            ("RequestCpus", "request_cpus = 4"),
            ("REQUESTMEMORY", "request_memory = 4"),
            ("DeferralTime", "deferral_time = 4"),
            ("Request", "My.Request = 4"),
        ] {
            assert_eq!(submit_line(&(name.to_owned(), "4".to_owned())), expected);
        }
    }

    #[test]
    fn states_of_slots_are_counted() {
        let none = SlotTally::default();
        for (states, expected) in [
            (SlotTally { free: 1, ..none }, "free"),
            (SlotTally { free: 2, ..none }, "all free"),
            (SlotTally { free: 1, backfill: 1, ..none }, "all free"),
            (SlotTally { free: 1, owner: 1, ..none }, "1 free"),
            (SlotTally { free: 1200, owner: 1, ..none }, "1,200 free"),
            (SlotTally { claimed_by_others: 1, ..none }, "claimed"),
            (SlotTally { claimed_by_user: 3, ..none }, "claimed"),
            (SlotTally { claimed_by_others: 1200, offline: 2, ..none }, "none free: 1,200 claimed, 2 offline"),
        ] {
            assert_eq!(states_phrase(&states), expected);
        }
    }
}
