//! Notes of `query` on what is most likely a mistake.

use std::path::Path;

use classad::ad::{Expression, ExpressionKind};
use classad::eval::{Environment, VolatileInputs, references};
use classad::query::TruthFilter;
use classad::text::join_and;

use super::QueryCommand;
use super::columns::Columns;
use super::groups::GroupColumns;
use super::plan::QueryPlan;
use super::scan::QueryScanner;
use super::tables::{TableChoice, TableSubject};
use crate::cli::io::slip_notes::{note_certain_slips, note_slips};
use crate::cli::io::source_text::SourceText;
use crate::cli::io::unseen_names::{ReportUnseen, UnseenNames, note_misspelt_names};
use crate::cli::outcome::Status;
use crate::cli::session::Session;

/// Notes what is most likely a mistake in the query, as nothing was found, or in what was found. `names` returns the
/// attribute names of the first ads.
pub fn note_mistakes(
    query: &QueryCommand,
    session: &mut Session,
    status: Status,
    plan: &QueryPlan,
    scanner: &QueryScanner<'_>,
    names: &mut dyn FnMut(&Session) -> Vec<String>,
) {
    if status == Status::No && scanner.filter == TruthFilter::True {
        if scanner.constraint_names.has_unseen() {
            scanner.constraint_names.report_among(session, &names(session));
        }
        if let Some(reason) = scanner.errors.reason() {
            session.note(&format!("the constraint is {reason}"));
        }
        note_slips(session, &plan.constraint);
        note_names(query, session, &plan.choice);
    } else if status == Status::Yes {
        note_certain_slips(session, &plan.constraint);
        let names = if plan.has_misspelt_candidates(scanner) { names(session) } else { Vec::new() };
        note_columns(session, &plan.columns, &scanner.selected_names, &names);
        // The attribute Start of an attempt is a time.
        if !scanner.selected_names.has_unseen() && !query.attempts {
            note_constraint_column(session, &plan.columns);
        }
    }
}

/// Notes that `--af` takes one list, if a name of an attribute stands in the place of a file that does not exist.
pub fn note_missing_comma(query: &QueryCommand, session: &Session, files: &[String]) {
    let is_name = |file: &str| file.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !Path::new(file).exists();
    if let (Some(list), Some(file)) = (query.af.last(), files.iter().find(|file| is_name(file))) {
        session.note(&format!("--af takes a list with commas, such as --af {list},{file}"));
    }
}

/// Notes columns that are most likely misspelt, or not what the user expects. `names` are those of the first ads.
fn note_columns(session: &Session, columns: &Columns, unseen: &UnseenNames, names: &[String]) {
    if unseen.has_unseen() {
        let keys = columns.sort.iter().filter_map(|key| match key.expression.kind() {
            ExpressionKind::Attribute(name) => Some(name),
            _ => None,
        });
        unseen.report_columns(session, names, &keys.collect::<Vec<_>>());
    }
    note_misspelt_names(session, &columns.attributes, names);
}

/// Notes how names on the command line were understood, as nothing was found.
fn note_names(query: &QueryCommand, session: &Session, choice: &TableChoice) {
    let names: Vec<String> = query.called.iter().map(|name| format!("`{name}`")).collect();
    let kind = match choice.subject {
        _ if names.is_empty() => return,
        Some(TableSubject::Jobs) => "the number or the owner of jobs",
        Some(TableSubject::Slots) if choice.is_about_users() => "the user of slots",
        Some(TableSubject::Slots) => "the name of slots or machines",
        None => "the number or the owner of jobs, or the name of slots or machines",
    };
    let verb = if names.len() == 1 { "is" } else { "are" };
    let names = join_and(&names);
    session
        .note(&format!("{names} {verb} taken for {kind}; write -constraint before an expression, -ads before a file"));
}

/// Notes that a column of constraints is evaluated without the other ad of a match.
fn note_constraint_column(session: &Session, columns: &Columns) {
    let keys = columns.group.iter().flat_map(GroupColumns::expressions);
    let mut names = columns.af().chain(keys).filter_map(|expression| match expression.kind() {
        ExpressionKind::Attribute(name) => Some(name),
        _ => None,
    });
    if let Some(name) = names.find(|name| name.is("Requirements") || name.is("START")) {
        session.note(&format!("{name} is evaluated without TARGET; unparse({name}) gives its text"));
    }
}

/// Whether an expression reads the clock, itself or in an attribute that it reads of the first ad of a text.
pub fn reads_clock(session: &mut Session, expression: &Expression, text: &SourceText) -> bool {
    let ad = text.first_ad(session.dialect()).unwrap_or_default();
    let (environment, frame) = Environment::single(ad);
    let read = references(expression, &frame, &environment, &session.context()).internal;
    let of_attributes = read.iter().filter_map(|name| frame.ad.get(name));
    [expression].into_iter().chain(of_attributes).any(|expression| VolatileInputs::of(expression).clock)
}
