//! Analyses what one clause of a request requires of the offers.

use std::sync::Arc;

use indexmap::IndexSet;

use crate::ad::{Ad, Expression, ExpressionKind, Name, ScopeAd, ScopeFrame, Value};
use crate::constraint::{ClauseComparison, is_clock_attribute, own_attribute_name};
use crate::eval::{
    ConstraintVerdict, Context, Environment, Knowledge, References, SpecializeOptions, SpecializedExpression,
    references, specialize, unknowns,
};
use crate::protocol::evaluate_attribute;

use super::clause_time::{ClauseTime, next_interval, true_until};
use super::clauses::ExplainedClause;
use super::evaluation::{OfferTable, RequestContext};

/// The attributes of a job that HTCondor starts at times of a table, as `cron` does.
pub const CRON_ATTRIBUTES: [&str; 5] = ["CronMinute", "CronHour", "CronDayOfMonth", "CronMonth", "CronDayOfWeek"];

/// The time at which a deferred job starts, in seconds since 1970.
const DEFERRAL_TIME: &str = "DeferralTime";

/// Maximum number of offers for which the next time of a clause is sought.
const MAX_TRIED_OFFERS: usize = 8;

/// The analysis of a clause while the offer is unknown: what the clause reads, and what the request's attributes leave
/// of it.
#[derive(Clone, Debug)]
pub struct ClauseAnalysis {
    /// The analysed clause.
    pub clause: ExplainedClause,
    /// The residue: the clause specialized with the request's attributes.
    pub residue: Expression,
    /// Whether the residue can be true.
    pub verdict: ConstraintVerdict,
    /// The clause as a comparison with a constant. `None` if the clause is anything else.
    pub comparison: Option<ClauseComparison>,
    /// The offer's attributes that the clause reads, directly or through attributes of the request.
    pub offer_attributes: IndexSet<Name>,
    /// The request's attributes that the clause reads. The attributes through which the clause was found, such as
    /// `Requirements`, are left out.
    pub request_attributes: IndexSet<Name>,
    /// The attributes that the clause reads as the request's own, such as `MY.Prio`, and that the request lacks.
    pub missing_own: IndexSet<Name>,
    /// Whether its truth may change with the clock alone.
    pub reads_clock: bool,
}

impl ClauseAnalysis {
    /// Finds the next time at which the clause is true, and all other clauses of the request with it if there is such a time.
    /// `None` if the clause does not read the clock, or if no time makes it true because of something else.
    pub(super) fn next_time(&self, table: &OfferTable, request: &RequestContext) -> Option<ClauseTime> {
        let now = table.context.now.filter(|_| self.reads_clock && self.missing_own.is_empty())?;
        let results = table.clause_results(request, &self.clause);
        let offers =
            || results.first_rows().iter().take(MAX_TRIED_OFFERS).filter_map(|row| table.ads.get(*row as usize));
        let first = |expression: &Expression| {
            let times = offers().filter_map(|offer| next_interval([&request.ad, offer], expression, &table.context));
            times.min_by_key(|next| next.seconds.start)
        };
        let whole = table.protocol.constraint_name(&request.ad).cloned().map(Expression::attribute);
        let next = whole.as_ref().and_then(first).or_else(|| first(&self.clause.expression));
        if next.is_none() && !self.offer_attributes.is_empty() {
            return None;
        }
        let number = |name: &str| match evaluate_attribute(&request.ad, &name.into(), &table.context) {
            Some(Value::Integer(number)) => Some(number),
            _ => None,
        };
        let is_deferral = self.request_attributes.iter().any(|name| name.is(DEFERRAL_TIME));
        let is_cron = CRON_ATTRIBUTES.iter().any(|name| request.ad.get_str(name).is_some());
        let kind = if is_cron { "cron job" } else { "deferral_time" };
        let start = number(DEFERRAL_TIME).filter(|_| is_deferral).map(|start| (kind, start));
        let since = if next.is_none() {
            let nothing = Ad::default();
            true_until([&request.ad, &nothing], &self.clause.expression, &table.context)
        } else {
            None
        };
        Some(ClauseTime { since, start, ..ClauseTime::of(now, next) })
    }
}

/// Analyses the clauses of one request while the offer is unknown.
pub struct ClauseAnalyzer {
    environment: Environment,
    frame: Arc<ScopeFrame>,
    context: Context,
}

impl ClauseAnalyzer {
    pub fn new(ad: &Ad, context: &Context) -> Self {
        let (environment, frame) = Environment::partner_unknown(ad.clone(), Knowledge::Complete);
        // Without a source of random numbers, a call of `random()` is not folded to a constant.
        ClauseAnalyzer { environment, frame, context: Context { random: None, ..context.clone() } }
    }

    /// Analyses a clause of the request's constraint.
    pub fn analyze(&self, clause: &ExplainedClause) -> ClauseAnalysis {
        let SpecializedExpression { expression: residue, verdict, .. } = self.specialize(&clause.expression);
        let references = references(&clause.expression, &self.frame, &self.environment, &self.context);
        let (offer_attributes, missing_own) = split_by_side(&references);
        let request_attributes: IndexSet<Name> =
            references.internal.into_iter().filter(|name| !clause.path.contains(name)).collect();
        // The residue and the bound would tell the value of a private attribute.
        let reads_private = request_attributes.iter().chain(&offer_attributes).any(Name::is_secret);
        ClauseAnalysis {
            clause: clause.clone(),
            residue: if reads_private { clause.expression.clone() } else { residue },
            verdict,
            comparison: self.comparison(&clause.expression).filter(|_| !reads_private),
            request_attributes,
            reads_clock: offer_attributes.iter().any(is_clock_attribute) || self.is_timed(&clause.expression),
            offer_attributes,
            missing_own,
        }
    }

    /// Whether an expression depends on the clock after specialization.
    fn is_timed(&self, expression: &Expression) -> bool {
        let timeless = Context { now: None, ..self.context.clone() };
        unknowns(expression, &self.frame, &self.environment, &timeless).volatile.clock
    }

    fn specialize(&self, expression: &Expression) -> SpecializedExpression {
        specialize(expression, &self.frame, &self.environment, &self.context, SpecializeOptions::default())
    }

    /// Returns an expression as a comparison with a constant, such as `TARGET.Memory >= 8`. `None` if the expression
    /// has another form, or if the constant is a list or an ad.
    fn comparison(&self, expression: &Expression) -> Option<ClauseComparison> {
        let ExpressionKind::Binary(operator, left, right) = expression.without_parentheses().kind() else {
            return None;
        };
        let converse = operator.converse()?;
        let values = [left, right].map(|operand| self.specialize(operand).value);
        let (operand, operator, constant, bound, is_reversed) = match values {
            [None, Some(bound)] => (left, *operator, right, bound, false),
            [Some(bound), None] => (right, converse, left, bound, true),
            _ => return None,
        };
        if matches!(bound, Value::List(_) | Value::Ad(_)) {
            return None;
        }
        let holder = own_attribute_name(constant).and_then(|name| self.frame.ad.attribute(name));
        let bound_holder = holder.map(|own| (own.name.clone(), own.expression.clone()));
        Some(ClauseComparison { operand: operand.clone(), operator, bound, bound_holder, is_reversed })
    }
}

/// Splits the references that the request does not resolve. The first set has the names that an offer may define; the
/// second has the names that only the request itself could define, such as `Prio` of `MY.Prio`.
fn split_by_side(references: &References) -> (IndexSet<Name>, IndexSet<Name>) {
    let (mut offer_attributes, mut missing_own) = (IndexSet::new(), IndexSet::new());
    for reference in &references.external {
        match reference.path.as_slice() {
            [side, name, ..] if ScopeAd::of(side) == Some(ScopeAd::Other) => offer_attributes.insert(name.clone()),
            [side, name, ..] if ScopeAd::of(side) == Some(ScopeAd::Own) => missing_own.insert(name.clone()),
            [name, ..] if reference.resolved == 0 => offer_attributes.insert(name.clone()),
            _ => false,
        };
    }
    (offer_attributes, missing_own)
}

#[cfg(test)]
mod tests {
    use super::ClauseAnalyzer;
    use crate::ad::{Dialect, Name};
    use crate::eval::Context;
    use crate::explain::clauses::{split_constraint, text};
    use crate::syntax::{ParseOptions, parse_ad};

    #[test]
    fn what_is_asked_of_whom() {
        let ad = "[ Requirements = TARGET.Memory >= RequestMemory && MY.Prio > 1 && 5 < Cpus && Half \
                  && TARGET.Disk / 2 > 10 && TARGET.x == y; RequestMemory = 2 * 4; Half = TARGET.Disk > MY.Lost ]";
        let ad = parse_ad(ad.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        let unmet = ClauseAnalyzer::new(&ad, &Context::new(Dialect::Condor));
        let clauses = split_constraint(&ad, &Name::new("Requirements"));
        let shown = clauses.iter().map(|clause| {
            let found = unmet.analyze(clause);
            let names = |names: &indexmap::IndexSet<Name>| names.iter().map(Name::as_str).collect::<Vec<_>>().join(" ");
            let asked = found.comparison.as_ref().map(|asked| {
                format!("{} {} {}", text(&asked.operand, Dialect::Condor), asked.operator.symbol(), asked.bound)
            });
            format!(
                "{} | {} | {} | {} | {}",
                text(&found.residue, Dialect::Condor),
                names(&found.offer_attributes),
                names(&found.request_attributes),
                names(&found.missing_own),
                asked.unwrap_or_default()
            )
        });
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                "TARGET.Memory >= 8 | Memory | RequestMemory |  | TARGET.Memory >= 8",
                "undefined |  |  | Prio | ",
                "5 < Cpus | Cpus |  |  | Cpus > 5",
                "TARGET.Disk > undefined | Disk |  | Lost | TARGET.Disk > undefined",
                "TARGET.Disk / 2 > 10 | Disk |  |  | TARGET.Disk / 2 > 10",
                "TARGET.x == y | x y |  |  | ",
            ]
        );
    }
}
