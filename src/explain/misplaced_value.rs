//! Finds a value in another attribute of the offers than the one that a clause compares: a site that is the name of its
//! resource, not of its institution.

use crate::ad::{BinaryOperator, ByteString, Expression, ExpressionKind, Name, Value};

use super::clause_analysis::ClauseAnalysis;
use super::clauses::ExplainedClause;
use super::evaluation::{OfferTable, RequestContext};
use crate::ad::replace_kinds;

/// An attribute that has the string for which a clause asks, where the attribute that the clause compares never has it.
#[derive(Clone, Debug, PartialEq)]
pub struct MisplacedValue {
    /// The attribute that has the string.
    pub name: Name,
    /// How the offers spell the string, if otherwise than the clause; `None` if they spell it so, but for case.
    pub value: Option<ByteString>,
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
        let places = table.string_places();
        let (name, text) = places.most_frequent(wanted).filter(|_| !places.has(compared, wanted))?;
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
        let value = (!is_spelt_so).then(|| text.clone());
        (offers > 0).then(|| MisplacedValue { name: name.clone(), value, renamed, offers })
    }
}
