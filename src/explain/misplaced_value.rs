//! Finds a value in another attribute of the offers than the one that a clause compares: a site that is the name of its
//! resource, not of its institution.

use rustc_hash::FxHashMap;

use crate::ad::{BinaryOperator, ByteString, Expression, ExpressionKind, Name, Value};

use super::clause_analysis::ClauseAnalysis;
use super::clauses::ExplainedClause;
use super::evaluation::{OfferTable, RequestContext};
use crate::ad::replace_kinds;

/// Maximum number of rows in whose attributes the value is sought.
const MAX_ROWS: usize = 500;

/// An attribute that has the string for which a clause asks, where the attribute that the clause compares never has it.
#[derive(Clone, Debug, PartialEq)]
pub struct MisplacedValue {
    /// The attribute that has the string.
    pub name: Name,
    /// The clause with this attribute.
    pub renamed: Expression,
    /// Number of offers that meet the renamed clause.
    pub offers: usize,
}

impl MisplacedValue {
    /// Finds the attribute that has the string, but for blanks and case, in the most offers; `None` if none has, or if the clause does not compare
    /// an attribute for equality with a string.
    pub fn find(analysis: &ClauseAnalysis, table: &OfferTable, request: &RequestContext) -> Option<Self> {
        let comparison = analysis.comparison.as_ref()?;
        let (BinaryOperator::Equal | BinaryOperator::Is, Value::String(wanted)) =
            (comparison.operator, &comparison.bound)
        else {
            return None;
        };
        let compared = comparison.attribute()?;
        let plain = |text: &ByteString| text.to_str().replace([' ', '\t'], "").to_ascii_lowercase();
        let wanted_plain = plain(wanted);
        if wanted_plain.is_empty() {
            return None;
        }
        // Most strings differ in their first letter already.
        let starts_alike = |text: &ByteString| {
            let text = text.to_str();
            let first = text.trim_start().chars().next();
            first.is_some_and(|letter| wanted_plain.starts_with(letter.to_ascii_lowercase()))
        };
        let mut rows_with: FxHashMap<(&Name, &ByteString), usize> = FxHashMap::default();
        for ad in table.ads.iter().take(MAX_ROWS) {
            for attribute in ad.iter() {
                if let Some(Value::String(text)) = attribute.expression.as_literal()
                    && starts_alike(text)
                    && plain(text) == wanted_plain
                {
                    *rows_with.entry((attribute.name, text)).or_default() += 1;
                }
            }
        }
        // Of several names the first by the alphabet, so that the answer is always the same.
        let most = rows_with.into_iter().max_by(|(one, rows), (other, others)| {
            rows.cmp(others).then_with(|| (other.0.as_str(), other.1).cmp(&(one.0.as_str(), one.1)))
        });
        let ((name, text), _) = most.filter(|((name, _), _)| *name != compared)?;
        let is_spelt_so = text.eq_ignore_case(wanted);
        let renamed = replace_kinds(&analysis.clause.expression, |kind| match kind {
            ExpressionKind::Literal(Value::String(found)) if found == wanted && !is_spelt_so => {
                Some(ExpressionKind::Literal(Value::String(text.clone())))
            }
            ExpressionKind::Attribute(found) if found == compared => Some(ExpressionKind::Attribute(name.clone())),
            ExpressionKind::Select(of, found) if found == compared => {
                Some(ExpressionKind::Select(of.clone(), name.clone()))
            }
            _ => None,
        })?;
        let tried = ExplainedClause { expression: renamed.clone(), ..analysis.clause.clone() };
        let offers = table.clause_results(request, &tried).counts.is_true;
        (offers > 0).then(|| MisplacedValue { name: name.clone(), renamed, offers })
    }
}
