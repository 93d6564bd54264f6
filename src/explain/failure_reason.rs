//! Finds out why a clause is true of no offer.

use indexmap::IndexSet;

use crate::ad::{ByteString, Dialect, Expression, ExpressionKind, Name, OperatorGroup, Type, Value, rename_attribute};
use crate::constraint::conjuncts;
use crate::eval::{CURRENT_TIME, ConstraintVerdict, FreeNames};
use crate::lint::{self, ChainedComparison};
use crate::matching::PairSide;
use crate::protocol::{evaluate_attribute, requested_resource};

use super::alternatives::alternatives;
use super::clause_analysis::{ClauseAnalysis, ClauseAnalyzer};
use super::clause_report::ClauseReport;
use super::clause_slips::{find_slip, renamed, unquoted_string};
use super::clause_time::ClauseTime;
use super::clauses::{ExplainedClause, parenthesized, text};
use super::decisive_part::ClauseInPair;
use super::distance::{closest_offered_value, other_spellings};
use super::evaluation::{OfferTable, RequestContext};
use super::misplaced_value::MisplacedValue;
use super::nested_constraint::NestedFailure;
use super::offered_values::OfferedValues;
use super::own_expression::RequestExpression;
use super::unmet_offer_clause::ReadValue;
use crate::constraint::ClauseComparison;

/// The reason why a clause is true of no offer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FailureReason {
    /// The clause calls an unknown function. Holds its name and the names of similar functions.
    UnknownFunction(Name, Vec<&'static str>),
    /// The clause reads an attribute of the request itself, such as `MY.Prio`, but the request lacks this attribute.
    /// Holds the attribute's name and the similar names that the request has.
    MissingOwnAttribute(Name, Vec<Name>),
    /// Operator precedence differs from what the text suggests, as in `a > b is c ? d : e`; holds the text with
    /// explicit parentheses.
    Precedence(String),
    /// The clause reads the request's own attribute where the offers' attribute of the same name was meant.
    Shadowed(Name),
    /// The clause reads the clock, and is not true now.
    NotNow(ClauseTime),
    /// The clause is never true, whatever the offer is. Holds the attributes of the request itself that the clause
    /// reads.
    NeverTrue(Vec<ReadValue>),
    /// The clause reads an attribute that no offer has.
    MissingAttribute {
        /// Its name.
        name: Name,
        /// The offers' attributes with similar names, each with the number of offers that have it.
        near: Vec<(Name, usize)>,
        /// Number of offers that meet the clause with the first of these names in place of the missing one.
        meeting: usize,
    },
    /// The clause compares an attribute of the offers with a name that no ad defines, and the attribute of some offers
    /// has the name as its value: quotation marks are missing.
    Unquoted {
        /// The name without quotation marks.
        name: Name,
        /// The value of the offers that was meant.
        value: ByteString,
        /// Number of offers with this value.
        offers: usize,
        /// The clause with the value in place of the name.
        quoted: Expression,
    },
    /// The clause has a mistake that the linter knows, and with the mistake corrected some offers meet it.
    Slip {
        /// The kind of mistake in a word: the name of a rule of the linter, or such as `pattern`.
        kind: &'static str,
        /// What the linter says of the mistake.
        message: String,
        /// The corrected clause.
        corrected: Expression,
        /// Number of offers that meet the corrected clause.
        offers: usize,
        /// The part of the corrected clause that no offer meets either; `None` if some do, or will.
        then: Option<Box<ClauseReport>>,
        /// When offers meet the corrected clause, which reads the clock and is not met now; `None` for any other.
        opens: Option<ClauseTime>,
    },
    /// An attribute of the request that the clause reads has a wrong value, and with the right one some offers meet the
    /// clause.
    Setting {
        /// The attribute.
        name: Name,
        /// What the linter says of its value.
        message: String,
        /// The corrected value.
        to: Expression,
        /// Number of offers that meet the clause with it.
        offers: usize,
        /// When offers meet the clause with it, which reads the clock and is not met now; `None` for any other.
        opens: Option<ClauseTime>,
    },
    /// The clause is a disjunction, and no offer meets any of its operands. Holds the operands, or the first
    /// part of each that no offer meets.
    Alternatives(Vec<ClauseReport>),
    /// No ad in a list of the offers, such as `AvailableGPUs`, meets a constraint of the request on these ads.
    Nested(Box<NestedFailure>),
    /// The clause compares an operand with a bound of another type than the offers' values.
    TypeMismatch {
        /// The type of the offers' values. If the values have several types, the type of the first value.
        theirs: Type,
        /// The type of the bound.
        bound: Type,
        /// Number of offers whose values have the type `theirs` or a type comparable with it.
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
    /// Another attribute of some offers has the string for which the clause asks.
    Misplaced(Box<MisplacedValue>),
    /// A request for a resource that the clause reads has no value. Holds the expression behind it.
    NoValue(RequestExpression),
    /// The offers have other values than the clause asks for.
    NoSuchValue,
}

impl FailureReason {
    /// When the clause, or the corrected one, comes true by itself; `None` if time does not make it true.
    #[must_use]
    pub fn awaited(&self) -> Option<&ClauseTime> {
        match self {
            FailureReason::NotNow(time) => Some(time).filter(|time| time.from.is_some()),
            FailureReason::Slip { opens, .. } | FailureReason::Setting { opens, .. } => {
                opens.as_ref().filter(|time| time.from.is_some())
            }
            _ => None,
        }
    }

    /// The request lacks an attribute of its own. Finds the similar names that it has.
    fn missing_own(name: Name, table: &OfferTable, request: &RequestContext) -> Self {
        let near = table.near_names.of(&request.ad, &name);
        FailureReason::MissingOwnAttribute(name, near)
    }

    /// No offer has an attribute that a clause reads. Finds the similar names that offers have.
    fn missing(name: Name, clause: &ExplainedClause, table: &OfferTable, request: &RequestContext) -> Self {
        let near = table.similar_attributes(&name);
        let corrected = near.first().and_then(|(near, _)| rename_attribute(&clause.expression, &name, near));
        let meeting = corrected.map_or(0, |expression| {
            table.clause_results(request, &ExplainedClause { expression, ..clause.clone() }).counts.is_true
        });
        FailureReason::MissingAttribute { name, near, meeting }
    }

    /// Finds the reason why a clause is true of no offer. The caller must have found that the clause is true of no
    /// offer.
    pub(super) fn find(analysis: &ClauseAnalysis, table: &OfferTable, request: &RequestContext) -> Self {
        Self::of_mistake(analysis, table, request)
            .unwrap_or_else(|| Self::find_beside_mistakes(analysis, table, request))
    }

    /// Finds the reason as [`FailureReason::find`] does, whatever mistakes the clause has.
    pub(super) fn find_beside_mistakes(
        analysis: &ClauseAnalysis,
        table: &OfferTable,
        request: &RequestContext,
    ) -> Self {
        let is_never = analysis.verdict == ConstraintVerdict::Never;
        let time = analysis.next_time(table, request).map(FailureReason::NotNow);
        time.or_else(|| is_never.then(|| Self::of_own_ad(analysis, table, request)))
            .unwrap_or_else(|| Self::of_offers(analysis, table, request))
    }

    /// The reason of a clause with a mistake: an unknown function, an unexpected grouping, an old name, or one that the
    /// linter knows. `None` if there is none.
    fn of_mistake(analysis: &ClauseAnalysis, table: &OfferTable, request: &RequestContext) -> Option<Self> {
        let expression = &analysis.clause.expression;
        if let Some(reason) = unknown_function(expression, table.context.dialect) {
            return Some(reason);
        }
        if let Some(grouping) = parsed_grouping(expression) {
            return Some(FailureReason::Precedence(text(&grouping, table.context.dialect)));
        }
        // An old name that no offer has is told as such, however the clause guards it.
        if let Some((name, ..)) = renamed(analysis, table)
            && table.offers_with(&name) == 0
        {
            return Some(FailureReason::missing(name, &analysis.clause, table, request));
        }
        // A clause that can never be true has a mistake, whether its correction helps or not.
        let least = usize::from(analysis.verdict != ConstraintVerdict::Never);
        find_slip(analysis, table, request, least)
    }

    /// The reason of a clause that is never true, whatever the offers have.
    fn of_own_ad(analysis: &ClauseAnalysis, table: &OfferTable, request: &RequestContext) -> Self {
        if let Some(name) = analysis.missing_own.first() {
            return FailureReason::missing_own(name.clone(), table, request);
        }
        match shadowing_attribute(analysis, table, request) {
            Some(name) => FailureReason::Shadowed(name),
            None => FailureReason::NeverTrue(own_values([&analysis.clause.expression], table, request)),
        }
    }

    /// The reason of a clause that some offer could meet, and none does.
    fn of_offers(analysis: &ClauseAnalysis, table: &OfferTable, request: &RequestContext) -> Self {
        let expression = &analysis.clause.expression;
        if let Some(unquoted) = unquoted_string(analysis, table, request) {
            return unquoted;
        }
        if let Some(alternatives) = unmet_alternatives(analysis, table, request) {
            return FailureReason::Alternatives(alternatives);
        }
        if let Some(nested) = NestedFailure::find(expression, table, request) {
            return FailureReason::Nested(Box::new(nested));
        }
        if let Some(name) = missing_offer_attribute(analysis, table, request) {
            // `RequestDisk` without a qualifier is what the job asks for, and no attribute of slots.
            let is_unqualified = FreeNames::of(expression, table.context.dialect).unqualified.contains(&name);
            let own = FailureReason::missing_own(name.clone(), table, request);
            let of_slots = FailureReason::missing(name.clone(), &analysis.clause, table, request);
            // What only the job has in a similar spelling is meant.
            let is_near = matches!(&own, FailureReason::MissingOwnAttribute(_, near) if !near.is_empty())
                && matches!(&of_slots, FailureReason::MissingAttribute { near, .. } if near.is_empty());
            return if is_unqualified && (requested_resource(&name).is_some() || is_near) { own } else { of_slots };
        }
        let reason = analysis.comparison.as_ref().map(|comparison| comparison_reason(comparison, table, request));
        if let Some(behind) = RequestExpression::without_value(&analysis.clause, table, request) {
            return FailureReason::NoValue(behind);
        }
        match reason {
            Some(FailureReason::NoSuchValue) => MisplacedValue::find(analysis, table, request)
                .map_or(FailureReason::NoSuchValue, |found| FailureReason::Misplaced(Box::new(found))),
            reason => reason.unwrap_or(FailureReason::NoSuchValue),
        }
    }
}

/// Returns the attributes of the request itself that expressions read.
pub(super) fn own_values<'e>(
    expressions: impl IntoIterator<Item = &'e Expression>,
    table: &OfferTable,
    request: &RequestContext,
) -> Vec<ReadValue> {
    let mut mentions = FreeNames::default();
    expressions.into_iter().for_each(|expression| mentions.add(expression, table.context.dialect));
    let own: IndexSet<&Name> = mentions.mine.iter().chain(&mentions.unqualified).collect();
    let read = own.into_iter().filter_map(|name| {
        let value = evaluate_attribute(&request.ad, name, &table.context)?;
        Some(ReadValue::of(name, value, false))
    });
    read.collect()
}

/// Analyses the alternatives of a clause, each by its first part that no offer meets. `None` if the clause has none.
fn unmet_alternatives(
    analysis: &ClauseAnalysis,
    table: &OfferTable,
    request: &RequestContext,
) -> Option<Vec<ClauseReport>> {
    let alternatives = alternatives(&analysis.clause.expression)?;
    // A branch that counts for no offer is not the reason.
    let counts = |guard: &Expression| {
        let guard = ExplainedClause { expression: guard.clone(), ..analysis.clause.clone() };
        table.clause_results(request, &guard).counts.is_true > 0
    };
    let counting = alternatives.iter().filter(|alternative| alternative.guard.as_ref().is_none_or(counts));
    let report = |operand: &Expression| first_unmet(operand, (&analysis.clause, table, request), FailureReason::find);
    let found: Vec<ClauseReport> = counting.map(|counting| report(&counting.expression)).collect();
    (!found.is_empty()).then_some(found)
}

/// Analyses the first part of a condition that no offer meets, or all of it if some offers meet each part. `clause` is the one of
/// which it is a part.
pub(super) fn first_unmet(
    operand: &Expression,
    (clause, table, request): (&ExplainedClause, &OfferTable, &RequestContext),
    reason: fn(&ClauseAnalysis, &OfferTable, &RequestContext) -> FailureReason,
) -> ClauseReport {
    let analyzer = ClauseAnalyzer::new(&request.ad, &table.context);
    let analyse = |part: &Expression| {
        let clause = ExplainedClause { expression: part.clone(), ..clause.clone() };
        let counts = table.clause_results(request, &clause).counts;
        (analyzer.analyze(&clause), counts)
    };
    let parts = conjuncts(operand);
    let first_unmet = parts.iter().map(|part| analyse(part)).find(|(_, counts)| counts.is_true == 0);
    let (analysis, counts) = first_unmet.unwrap_or_else(|| analyse(operand));
    let comparison = analysis.comparison.as_ref();
    ClauseReport {
        offered: OfferedValues::find(&analysis, table, request),
        own_expression: None,
        text: text(&analysis.clause.expression, table.context.dialect),
        residue: Some(text(&analysis.residue, table.context.dialect)),
        counts,
        remaining: 0,
        sole_blocker: 0,
        closest_value: comparison.and_then(|comparison| closest_offered_value(comparison, request, table)),
        closest_if_drained: None,
        failure: Some(reason(&analysis, table, request)),
        analysis,
    }
}

/// Maximum number of offers in which a missing attribute is tried.
const MAX_TRIED_OFFERS: usize = 8;

/// Returns an attribute that no offer has and to which the clause owes that it is not true. `None` if the clause
/// provides for the absence by another attribute, or would not be true with any value of the attribute.
pub fn missing_offer_attribute(
    analysis: &ClauseAnalysis,
    table: &OfferTable,
    request: &RequestContext,
) -> Option<Name> {
    let names =
        || analysis.offer_attributes.iter().filter(|name| table.offers_with(name) == 0 && !name.is_known(CURRENT_TIME));
    names().next()?;
    let results = table.clause_results(request, &analysis.clause);
    let rows = results.first_rows().iter().take(MAX_TRIED_OFFERS);
    let mut blamed = rows.flat_map(|row| {
        let pair = ClauseInPair { table, request, side: PairSide::Request, row: *row as usize };
        pair.blamed_names(&analysis.clause.expression, names().cloned())
    });
    // A clause that reads nothing that offers have owes it to what they lack, even with a default: `HasCVMFS ?: false`.
    let reads_nothing_else = || analysis.offer_attributes.iter().all(|name| table.offers_with(name) == 0);
    blamed.next().or_else(|| names().next().filter(|_| reads_nothing_else()).cloned())
}

/// Returns the attribute that the clause reads without a qualifier and that both the request and some offers have.
/// `None` if there is no such attribute, or if the clause is the whole constraint.
fn shadowing_attribute(analysis: &ClauseAnalysis, table: &OfferTable, request: &RequestContext) -> Option<Name> {
    if analysis.clause.is_whole {
        return None;
    }
    let mentions = FreeNames::of(&analysis.clause.expression, table.context.dialect);
    let mut own = mentions.unqualified.into_iter().filter(|name| request.ad.get(name).is_some());
    own.find(|name| table.offers_with(name) > 0)
}

/// Returns [`FailureReason::UnknownFunction`] if the expression calls an unknown function, else `None`.
fn unknown_function(expression: &Expression, dialect: Dialect) -> Option<FailureReason> {
    expression.parts().find_map(|part| match part.kind() {
        ExpressionKind::Call(name, _) => {
            lint::unknown_function(name, dialect).map(|near| FailureReason::UnknownFunction(name.clone(), near))
        }
        _ => None,
    })
}

/// Returns `a > b is c ? d : e` with the parentheses that show how it is parsed. `None` if the clause has another form.
pub fn parsed_grouping(clause: &Expression) -> Option<Expression> {
    let ExpressionKind::Conditional(condition, yes, no) = clause.without_parentheses().kind() else { return None };
    let chain = ChainedComparison::of(condition)?;
    if chain.outer.group() != OperatorGroup::Identity || chain.inner.group() != OperatorGroup::Comparison {
        return None;
    }
    let compared = Expression::binary(chain.inner, chain.first.clone(), chain.second.clone());
    let condition = Expression::binary(chain.outer, parenthesized(&compared), chain.last.clone());
    Some(ExpressionKind::Conditional(parenthesized(&condition), yes.clone(), no.clone()).into())
}

fn comparison_reason(comparison: &ClauseComparison, table: &OfferTable, request: &RequestContext) -> FailureReason {
    let bound = &comparison.bound;
    let values = table.expression_values(request, &comparison.operand);
    let present: Vec<_> = values.weighted_values().filter(|(value, _)| !value.is_exceptional()).collect();
    let class = |value: &Value| comparable_class(value, table.context.dialect);
    if let Some((first, _)) = present.first()
        && !bound.is_exceptional()
        && present.iter().all(|(value, _)| class(value) != class(bound))
    {
        let offers = present.iter().filter(|(value, _)| class(value) == class(first)).map(|(_, offers)| offers).sum();
        return FailureReason::TypeMismatch { theirs: first.value_type(), bound: bound.value_type(), offers };
    }
    let most_frequent = other_spellings(comparison, table, request).into_iter().max_by_key(|(_, offers)| *offers);
    most_frequent.map_or(FailureReason::NoSuchValue, |(theirs, offers)| FailureReason::CaseMismatch { theirs, offers })
}

/// Returns one type for all types whose values can be compared with each other: `Real` for integers and reals, and in
/// HTCondor's dialect also for booleans.
fn comparable_class(value: &Value, dialect: Dialect) -> Type {
    match value.value_type() {
        Type::Integer => Type::Real,
        Type::Boolean if dialect.is_condor() => Type::Real,
        other => other,
    }
}
