//! Remarks on the names and types in a constraint.

use crate::ad::{BinaryOperator, Name, Value};
use crate::eval::FreeNames;
use crate::text::suggestion;

use super::clauses::text;
use super::evaluation::{OfferTable, RequestContext};
use super::explainer::near;
use super::failure_reason::{FailureReason, offers_per_value, parsed_grouping, type_phrase};
use super::report::{ClauseRemark, RequestReport};

/// Maximum number of names per clause that are looked up in the offers.
const MAX_NAMES_PER_CLAUSE: usize = 20;

/// Returns the remarks on the names and types in the clauses of a report.
pub fn clause_remarks(
    report: &RequestReport,
    survey: &mut OfferTable,
    names: &[Name],
    asking: &RequestContext,
) -> Vec<ClauseRemark> {
    let mut found = Vec::new();
    for (place, clause) in report.clauses.iter().enumerate() {
        let mut add = |kind, text: String| found.push(ClauseRemark { kind, clause: place, text });
        let examined = &clause.analysis;
        if let Some(FailureReason::UnknownFunction(name, near)) = &clause.failure {
            let near: Vec<String> = near.iter().map(|name| format!("{name}()")).collect();
            add("function", format!("there is no function {name}(){}", suggestion(&near)));
        }
        if let Some(reading) = parsed_grouping(&examined.clause.expression) {
            let reading = text(&reading, survey.context.dialect);
            add("precedence", format!("`{}` is read as `{reading}`", clause.text));
        }
        for name in &examined.missing_own {
            let near = match &clause.failure {
                Some(FailureReason::MissingOwnAttribute(_, near)) => near.iter().map(Name::to_string).collect(),
                _ => Vec::new(),
            };
            add("lacking", format!("MY.{name} is not there{}", suggestion(&near)));
        }
        for name in examined.offer_attributes.iter().take(MAX_NAMES_PER_CLAUSE) {
            // A clause that some offer meets does not need the attribute.
            if report.offers > 0 && clause.counts.is_true == 0 && survey.offers_with(name) == 0 {
                let near: Vec<String> =
                    near(name, survey, names).iter().map(|(name, offers)| format!("{name} ({offers})")).collect();
                add("missing", format!("the other side has no {name}{}", suggestion(&near)));
            }
        }
        if let Some(FailureReason::Shadowed(name)) = &clause.failure {
            add("shadowed", format!("{name} is read on its own side, though the other side has one, too"));
        }
        if let Some(FailureReason::TypeMismatch { theirs, bound, offers }) = &clause.failure {
            let (theirs, bound) = (type_phrase(*theirs), type_phrase(*bound));
            add("types", format!("`{}` compares {theirs} with {bound}, in {offers}", clause.text));
        }
        if let Some(asked) = examined.comparison.as_ref().filter(|asked| asked.operator == BinaryOperator::Is)
            && let Value::String(bound) = &asked.bound
        {
            let answers = survey.expression_results(asking, &asked.operand);
            for (value, offers) in answers.values.iter().zip(offers_per_value(&answers, survey)) {
                if let Value::String(theirs) = value
                    && theirs.eq_ignore_case(bound)
                    && theirs != bound
                {
                    add("case", format!("`=?=` tells {} from {value}, which {offers} have", asked.bound));
                }
            }
        }
        let mentions = FreeNames::of(&examined.clause.expression, survey.context.dialect);
        let mut fallen: Vec<&Name> = Vec::new();
        for name in mentions.unqualified.iter().filter(|name| asking.ad.get(name).is_none()) {
            if !fallen.contains(&name) && survey.offers_with(name) > 0 {
                fallen.push(name);
            }
        }
        for name in fallen {
            add("fall-through", format!("{name} is not there itself: it is read on the other side"));
        }
    }
    found
}
