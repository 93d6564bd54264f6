//! Remarks on the names and types in a constraint.

use indexmap::IndexSet;

use crate::ad::{BinaryOperator, Dialect, Name, Value};
use crate::eval::FreeNames;
use crate::text::suggestion;

use super::clauses::text;
use super::evaluation::{OfferTable, RequestContext};
use super::explainer::near;
use super::failure_reason::{FailureReason, other_spellings, parsed_grouping, type_phrase};
use super::report::{ClauseRemark, ClauseReport, RequestReport};

/// Maximum number of names per clause that are looked up in the offers.
const MAX_NAMES_PER_CLAUSE: usize = 20;

/// The kind of a remark and its text.
type Remark = (&'static str, String);

/// Returns the remarks on the names and types in the clauses of a report.
pub fn clause_remarks(
    report: &RequestReport,
    survey: &mut OfferTable,
    names: &[Name],
    asking: &RequestContext,
) -> Vec<ClauseRemark> {
    let mut found = Vec::new();
    for (place, clause) in report.clauses.iter().enumerate() {
        let mut remarks = form_remarks(clause, survey.context.dialect);
        remarks.extend(missing_name_remarks(clause, survey, names));
        remarks.extend(value_remarks(clause, survey, asking));
        remarks.extend(fall_through_remarks(clause, survey, asking));
        found.extend(remarks.into_iter().map(|(kind, text)| ClauseRemark { kind, clause: place, text }));
    }
    found
}

/// Remarks on unknown functions and on precedence.
fn form_remarks(clause: &ClauseReport, dialect: Dialect) -> Vec<Remark> {
    let mut found = Vec::new();
    if let Some(FailureReason::UnknownFunction(name, near)) = &clause.failure {
        let near: Vec<String> = near.iter().map(|name| format!("{name}()")).collect();
        found.push(("function", format!("there is no function {name}(){}", suggestion(&near))));
    }
    if let Some(reading) = parsed_grouping(&clause.analysis.clause.expression) {
        found.push(("precedence", format!("`{}` is read as `{}`", clause.text, text(&reading, dialect))));
    }
    found
}

/// Remarks on attributes that a side lacks, and on attributes that are read from the wrong side.
fn missing_name_remarks(clause: &ClauseReport, survey: &OfferTable, names: &[Name]) -> Vec<Remark> {
    let mut found = Vec::new();
    let [my, _] = survey.context.dialect.side_names();
    for name in &clause.analysis.missing_own {
        let near = match &clause.failure {
            Some(FailureReason::MissingOwnAttribute(_, near)) => near.iter().map(Name::to_string).collect(),
            _ => Vec::new(),
        };
        found.push(("lacking", format!("{my}.{name} is not there{}", suggestion(&near))));
    }
    // A clause that some offer meets does not need the attribute, so that there is no remark.
    let is_unmet = survey.offer_count() > 0 && clause.counts.is_true == 0;
    let names_read = clause.analysis.offer_attributes.iter().take(MAX_NAMES_PER_CLAUSE);
    for name in names_read.filter(|name| is_unmet && survey.offers_with(name) == 0) {
        let near = near(name, survey, names);
        let near: Vec<String> = near.iter().map(|(name, offers)| format!("{name} ({offers})")).collect();
        found.push(("missing", format!("the other side has no {name}{}", suggestion(&near))));
    }
    if let Some(FailureReason::Shadowed(name)) = &clause.failure {
        found.push(("shadowed", format!("{name} is read on its own side, though the other side has one, too")));
    }
    found
}

/// Remarks on values that differ in type, or in case only.
fn value_remarks(clause: &ClauseReport, survey: &mut OfferTable, asking: &RequestContext) -> Vec<Remark> {
    let mut found = Vec::new();
    if let Some(FailureReason::TypeMismatch { theirs, bound, offers }) = &clause.failure {
        let (theirs, bound) = (type_phrase(*theirs), type_phrase(*bound));
        found.push(("types", format!("`{}` compares {theirs} with {bound}, in {offers}", clause.text)));
    }
    let Some(asked) = &clause.analysis.comparison else { return found };
    let is = BinaryOperator::Is.symbol_in(survey.context.dialect);
    for (theirs, offers) in other_spellings(asked, survey, asking) {
        let [theirs, bound] = [&Value::String(theirs), &asked.bound].map(ToString::to_string);
        found.push(("case", format!("`{is}` tells {bound} from {theirs}, which {offers} have")));
    }
    found
}

/// Remarks on unqualified names that only the other side defines, so that they are read there.
fn fall_through_remarks(clause: &ClauseReport, survey: &OfferTable, asking: &RequestContext) -> Vec<Remark> {
    let mentions = FreeNames::of(&clause.analysis.clause.expression, survey.context.dialect);
    let is_theirs = |name: &&Name| asking.ad.get(name).is_none() && survey.offers_with(name) > 0;
    let fallen: IndexSet<&Name> = mentions.unqualified.iter().filter(is_theirs).collect();
    fallen
        .into_iter()
        .map(|name| ("fall-through", format!("{name} is not there itself: it is read on the other side")))
        .collect()
}
