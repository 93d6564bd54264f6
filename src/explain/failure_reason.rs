//! Finds out why a clause is true of no offer.

use crate::ad::{BinaryOperator, ByteString, Expression, ExpressionKind, Name, OperatorGroup, Type, Value};
use crate::eval::{ConstraintVerdict, FreeNames};
use crate::lint::{self, ChainedComparison};

use super::clause_analysis::{ClauseAnalysis, ClauseComparison};
use super::clauses::text;
use super::evaluation::{ClauseResults, OfferTable, RequestContext};

/// The reason why a clause is true of no offer.
#[derive(Clone, Debug, PartialEq)]
pub enum FailureReason {
    /// The clause calls an unknown function; holds the names of similar functions, too.
    UnknownFunction(Name, Vec<&'static str>),
    /// The clause reads an attribute as the request's own that the request lacks; holds similar names of the request,
    /// too.
    MissingOwnAttribute(Name, Vec<Name>),
    /// Operator precedence differs from what the text suggests, as in `a > b is c ? d : e`; holds the text with
    /// explicit parentheses.
    Precedence(String),
    /// The clause reads the request's own attribute where the offers' attribute of the same name was meant.
    Shadowed(Name),
    /// The clause is never true, whatever the offer is.
    NeverTrue,
    /// The clause reads an attribute that no offer has.
    MissingAttribute(Name),
    /// The clause compares an operand with a bound of another type than the offers' values.
    TypeMismatch {
        /// The type of the offers' values, taken from the first of them.
        theirs: Type,
        /// The type of the bound.
        bound: Type,
        /// Number of offers with a value that is comparable with `theirs`.
        offers: usize,
    },
    /// The clause compares strings with `=?=`, which is case-sensitive, and some offers' strings differ from the bound
    /// in case only.
    CaseMismatch {
        /// The most frequent string of the offers that differs from the bound in case only.
        theirs: ByteString,
        /// Number of offers with this string.
        offers: usize,
    },
    /// The offers have other values than the clause asks for.
    NoSuchValue,
}

impl FailureReason {
    /// The priority of the reason; lower is more decisive. Mistakes in the request come before properties of the pool.
    fn priority(&self) -> u8 {
        match self {
            FailureReason::UnknownFunction(..) => 0,
            FailureReason::Precedence(_) => 1,
            FailureReason::MissingOwnAttribute(..) => 2,
            FailureReason::Shadowed(_) | FailureReason::NeverTrue => 3,
            FailureReason::MissingAttribute(_) => 4,
            FailureReason::TypeMismatch { .. } => 5,
            FailureReason::CaseMismatch { .. } => 6,
            FailureReason::NoSuchValue => 7,
        }
    }

    /// Finds the reason why a clause is true of no offer. The caller must have found that the clause is true of no
    /// offer.
    pub(super) fn find(examined: &ClauseAnalysis, survey: &mut OfferTable, asking: &RequestContext) -> Self {
        if let Some(fault) = unknown_function(&examined.clause.expression) {
            return fault;
        }
        if let Some(reading) = parsed_grouping(&examined.clause.expression) {
            return FailureReason::Precedence(text(&reading, survey.context.dialect));
        }
        if examined.verdict == ConstraintVerdict::Never {
            return match examined.missing_own.first() {
                Some(name) => FailureReason::MissingOwnAttribute(name.clone(), similar_own_attributes(name, asking)),
                None => shadowing_attribute(examined, survey, asking)
                    .map_or(FailureReason::NeverTrue, FailureReason::Shadowed),
            };
        }
        let missing = examined.offer_attributes.iter().find(|name| survey.offers_with(name) == 0);
        if let Some(name) = missing {
            return FailureReason::MissingAttribute(name.clone());
        }
        match &examined.comparison {
            Some(asked) => comparison_failure(asked, survey, asking),
            None => FailureReason::NoSuchValue,
        }
    }

    /// Returns the most decisive reason; the first of equally decisive ones. `None` if `faults` is empty.
    pub(super) fn most_decisive<T>(faults: Vec<(T, FailureReason)>) -> Option<(T, FailureReason)> {
        faults.into_iter().min_by_key(|(_, fault)| fault.priority())
    }
}

fn similar_own_attributes(name: &Name, asking: &RequestContext) -> Vec<Name> {
    let names = asking.ad.iter().map(|attribute| attribute.name.as_str());
    crate::ad::closest_names(name.as_str(), names).into_iter().map(Name::new).collect()
}

/// Returns the attribute that the clause reads without a qualifier and that both the request and some offers have.
/// `None` if there is no such attribute, or if the clause is the whole constraint.
fn shadowing_attribute(examined: &ClauseAnalysis, survey: &OfferTable, asking: &RequestContext) -> Option<Name> {
    if examined.clause.is_whole {
        return None;
    }
    let mentions = FreeNames::of(&examined.clause.expression, survey.context.dialect);
    let mut own = mentions.unqualified.into_iter().filter(|name| asking.ad.get(name).is_some());
    own.find(|name| survey.offers_with(name) > 0)
}

/// Returns [`FailureReason::UnknownFunction`] if the expression calls an unknown function, else `None`.
fn unknown_function(expression: &Expression) -> Option<FailureReason> {
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        if let ExpressionKind::Call(name, _) = expression.kind()
            && let Some(near) = lint::unknown_function(name)
        {
            return Some(FailureReason::UnknownFunction(name.clone(), near));
        }
        expression.kind().for_each_child(|child| pending.push(child));
    }
    None
}

/// Returns `a > b is c ? d : e` with the parentheses that show how it is parsed. `None` if the clause has another form.
pub fn parsed_grouping(clause: &Expression) -> Option<Expression> {
    let parenthesized = |inner: &Expression| Expression::new(ExpressionKind::Parentheses(inner.clone()), inner.span());
    let ExpressionKind::Conditional(condition, yes, no) = clause.without_parentheses().kind() else { return None };
    let chain = ChainedComparison::of(condition)?;
    if chain.outer.group() != OperatorGroup::Identity || chain.inner.group() != OperatorGroup::Comparison {
        return None;
    }
    let compared = Expression::new(
        ExpressionKind::Binary(chain.inner, chain.first.clone(), chain.second.clone()),
        chain.first.span().to(chain.second.span()),
    );
    let condition = ExpressionKind::Binary(chain.outer, parenthesized(&compared), chain.last.clone());
    let condition = parenthesized(&Expression::new(condition, clause.span()));
    Some(Expression::new(ExpressionKind::Conditional(condition, yes.clone(), no.clone()), clause.span()))
}

fn comparison_failure(asked: &ClauseComparison, survey: &mut OfferTable, asking: &RequestContext) -> FailureReason {
    let answers = survey.expression_results(asking, &asked.operand);
    let groups = offers_per_value(&answers, survey);
    let present = answers.values.iter().zip(&groups).filter(|(value, _)| !value.is_exceptional());
    let is_other = |value: &Value| comparable_class(value, survey) != comparable_class(&asked.bound, survey);
    if let Some((first, _)) = present.clone().next()
        && !asked.bound.is_exceptional()
        && present.clone().all(|(value, _)| is_other(value))
    {
        let alike = present.filter(|(value, _)| comparable_class(value, survey) == comparable_class(first, survey));
        let offers = alike.map(|(_, weight)| weight).sum();
        return FailureReason::TypeMismatch { theirs: first.value_type(), bound: asked.bound.value_type(), offers };
    }
    let most = other_spellings(asked, survey, asking).into_iter().max_by_key(|(_, offers)| *offers);
    most.map_or(FailureReason::NoSuchValue, |(theirs, offers)| FailureReason::CaseMismatch { theirs, offers })
}

/// Returns the offers' strings that differ from the bound in case only, each with the number of offers. Empty unless
/// the comparison is a case-sensitive one with a string.
pub fn other_spellings(
    asked: &ClauseComparison,
    survey: &mut OfferTable,
    asking: &RequestContext,
) -> Vec<(ByteString, usize)> {
    let (BinaryOperator::Is, Value::String(bound)) = (asked.operator, &asked.bound) else { return Vec::new() };
    let answers = survey.expression_results(asking, &asked.operand);
    let weighted = answers.values.iter().zip(offers_per_value(&answers, survey));
    let other = weighted.filter_map(|(value, offers)| match value {
        Value::String(theirs) if lint::differs_in_case(theirs, bound) => Some((theirs.clone(), offers)),
        _ => None,
    });
    other.collect()
}

/// Returns the number of offers with each of the values.
fn offers_per_value(answers: &ClauseResults, survey: &OfferTable) -> Vec<usize> {
    let mut groups = vec![0; answers.values.len()];
    for (row, weight) in survey.weights.iter().enumerate() {
        groups[answers.group_of(row)] += weight;
    }
    groups
}

/// The phrase for a type, with integers and reals both called a number.
pub fn type_phrase(kind: Type) -> &'static str {
    match kind {
        Type::Integer | Type::Real => "a number",
        other => other.phrase(),
    }
}

/// A class of types whose values can be compared with each other.
#[derive(PartialEq)]
enum ComparableClass {
    Number,
    Boolean,
    Other(Type),
}

fn comparable_class(value: &Value, survey: &OfferTable) -> ComparableClass {
    match value {
        Value::Integer(_) | Value::Real(_) => ComparableClass::Number,
        Value::Boolean(_) if survey.context.dialect.is_condor() => ComparableClass::Number,
        Value::Boolean(_) => ComparableClass::Boolean,
        other => ComparableClass::Other(other.value_type()),
    }
}
