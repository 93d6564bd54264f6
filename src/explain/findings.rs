//! Remarks on the names and types in a constraint.

use indexmap::IndexSet;

use crate::ad::{BinaryOperator, Name, Value};
use crate::eval::FreeNames;
use crate::text::{counted, suggestion};

use super::clause_report::ClauseReport;
use super::clauses::text;
use super::distance::other_spellings;
use super::evaluation::{OfferTable, RequestContext};
use super::failure_reason::{FailureReason, missing_offer_attribute, parsed_grouping};
use super::report::ClauseRemark;
use super::value_phrase::type_phrase;

/// Returns the remarks on the names and types in the clauses of a request.
pub fn clause_remarks(clauses: &[ClauseReport], table: &OfferTable, request: &RequestContext) -> Vec<ClauseRemark> {
    let mut remarks = Vec::new();
    for (place, clause) in clauses.iter().enumerate() {
        let mut add = |kind, text| remarks.push(ClauseRemark { kind, clause: place, text });
        add_name_remarks(clause, table, request, &mut add);
        add_value_remarks(clause, table, request, &mut add);
    }
    remarks
}

/// Adds remarks on unknown functions, on precedence, on attributes that a side lacks, and on attributes that are read
/// from the wrong side. `add` takes the kind and the text of a remark.
fn add_name_remarks(
    clause: &ClauseReport,
    table: &OfferTable,
    request: &RequestContext,
    add: &mut impl FnMut(&'static str, String),
) {
    let dialect = table.context.dialect;
    if let Some(FailureReason::UnknownFunction(name, near)) = &clause.failure {
        let near: Vec<String> = near.iter().map(|name| format!("{name}()")).collect();
        add("function", format!("there is no function {name}(){}", suggestion(&near)));
    }
    if let Some(grouping) = parsed_grouping(&clause.analysis.clause.expression) {
        add("precedence", format!("`{}` is read as `{}`", clause.text, text(&grouping, dialect)));
    }
    let [my, _] = dialect.side_names();
    for name in &clause.analysis.missing_own {
        let near = match &clause.failure {
            Some(FailureReason::MissingOwnAttribute(_, near)) => near.as_slice(),
            _ => &[],
        };
        add("lacking", format!("this ad has no {name}, which {my}.{name} reads{}", suggestion(near)));
    }
    // Remark on a missing attribute only if no offer meets the clause. Otherwise the clause can do without the
    // attribute.
    let is_unmet = table.offer_count() > 0 && clause.counts.is_true == 0;
    let blamed = if is_unmet { missing_offer_attribute(&clause.analysis, table, request) } else { None };
    if let Some(name) = &blamed {
        let near = table.similar_attributes(name).into_iter().map(|(name, offers)| format!("{name} ({offers})"));
        let near: Vec<String> = near.collect();
        add("missing", format!("none of the compared ads has {name}{}", suggestion(&near)));
    }
    if let Some(FailureReason::Shadowed(name)) = &clause.failure {
        add("shadowed", format!("this ad has {name}, which hides the {name} of the other ad"));
    }
}

/// Adds remarks on values that have another type than the bound, and on strings that differ from the bound in case
/// only. Also adds a remark on each unqualified name that the request lacks and an offer has, because such a name is
/// read from the offer. `add` takes the kind and the text of a remark.
fn add_value_remarks(
    clause: &ClauseReport,
    table: &OfferTable,
    request: &RequestContext,
    add: &mut impl FnMut(&'static str, String),
) {
    let dialect = table.context.dialect;
    if let Some(FailureReason::TypeMismatch { theirs, bound, offers }) = &clause.failure {
        let (theirs, bound) = (type_phrase(*theirs), type_phrase(*bound));
        let offers = counted(*offers, "offer");
        add("types", format!("`{}` compares {theirs} with {bound}, in {offers}", clause.text));
    }
    if let Some(comparison) = &clause.analysis.comparison {
        let is = BinaryOperator::Is.symbol_in(dialect);
        for (theirs, offers) in other_spellings(comparison, table, request) {
            let theirs = Value::String(theirs);
            let have = if offers == 1 { "has" } else { "have" };
            let offers = counted(offers, "offer");
            let remark =
                format!("`{is}` is case-sensitive: {} is not {theirs}, which {offers} {have}", comparison.bound);
            add("case", remark);
        }
    }
    let mentions = FreeNames::of(&clause.analysis.clause.expression, dialect);
    let is_theirs = |name: &&Name| request.ad.get(name).is_none() && table.offers_with(name) > 0;
    for name in mentions.unqualified.iter().filter(is_theirs).collect::<IndexSet<_>>() {
        add("fall-through", format!("this ad has no {name}: the name is looked up in the other ad"));
    }
}
