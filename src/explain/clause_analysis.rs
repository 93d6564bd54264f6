//! Analyses what one clause of a request requires of the offers.

use std::sync::Arc;

use indexmap::IndexSet;

use crate::ad::ScopeAd;
use crate::ad::{Ad, BinaryOperator, Expression, ExpressionKind, Name, OperatorGroup, ScopeFrame, Value};
use crate::constraint::ClauseOperand;
use crate::eval::{
    ConstraintVerdict, Context, Environment, Knowledge, References, SpecializeOptions, SpecializedExpression,
    references, specialize,
};

use super::clauses::ExplainedClause;

/// The analysis of a clause: its residue and its references, given the attributes of the request.
#[derive(Clone, Debug)]
pub struct ClauseAnalysis {
    /// The clause.
    pub clause: ExplainedClause,
    /// The residue: the clause specialized with the request's attributes.
    pub residue: Expression,
    /// Whether the residue can be true.
    pub verdict: ConstraintVerdict,
    /// The clause as a comparison with a constant. `None` if the clause is anything else.
    pub comparison: Option<ClauseComparison>,
    /// The offer's attributes that the clause reads, directly or through attributes of the request.
    pub offer_attributes: IndexSet<Name>,
    /// The request's attributes that the clause reads, without those on the path to the clause.
    pub request_attributes: IndexSet<Name>,
    /// The attributes that the clause reads as the request's own although the request lacks them.
    pub missing_own: IndexSet<Name>,
}

/// A comparison of an operand of the offer with a constant: `operand operator bound`.
#[derive(Clone, Debug)]
pub struct ClauseComparison {
    /// The operand that depends on the offer.
    pub operand: Expression,
    /// The offer's attribute, if `operand` is a plain reference to an attribute.
    pub attribute: Option<Name>,
    /// The operator, with `operand` on the left.
    pub operator: BinaryOperator,
    /// The constant: the value of the other operand given the request.
    pub bound: Value,
    /// The request's attribute that holds the bound. `None` unless the other operand is a plain reference to an
    /// attribute.
    pub bound_attribute: Option<Name>,
    /// Whether the source has the bound on the left: `bound operator operand`.
    pub is_reversed: bool,
}

/// Analyses the clauses of one request while the offer is unknown.
pub struct ClauseAnalyzer {
    ad: Ad,
    environment: Environment,
    frame: Arc<ScopeFrame>,
    context: Context,
}

impl ClauseAnalyzer {
    pub fn new(ad: &Ad, context: &Context) -> Self {
        let (environment, frame) = Environment::partner_unknown(ad.clone(), Knowledge::Complete);
        // Without a random seed, a call of `random()` is not folded to a constant.
        ClauseAnalyzer { ad: ad.clone(), environment, frame, context: Context { random: None, ..context.clone() } }
    }

    /// Analyses a clause of the request's constraint.
    pub fn analyze(&self, clause: &ExplainedClause) -> ClauseAnalysis {
        let left = self.specialize(&clause.expression);
        let (theirs, lacking) = split_by_side(&self.references(&clause.expression));
        let own = self.references(&clause.expression).internal;
        let own = own.into_iter().filter(|name| !clause.path.contains(name)).collect();
        let asked = self.comparison(&clause.expression);
        ClauseAnalysis {
            clause: clause.clone(),
            residue: left.expression,
            verdict: left.verdict,
            comparison: asked,
            offer_attributes: theirs,
            request_attributes: own,
            missing_own: lacking,
        }
    }

    fn specialize(&self, expression: &Expression) -> SpecializedExpression {
        specialize(expression, &self.frame, &self.environment, &self.context, SpecializeOptions::default())
    }

    fn references(&self, expression: &Expression) -> References {
        references(expression, &self.frame, &self.environment, &self.context)
    }

    /// Returns an expression as a comparison with a constant. `None` if the expression is no such comparison, or if the
    /// constant is a list or an ad.
    fn comparison(&self, expression: &Expression) -> Option<ClauseComparison> {
        let ExpressionKind::Binary(operator, left, right) = expression.without_parentheses().kind() else {
            return None;
        };
        if !matches!(operator.group(), OperatorGroup::Comparison | OperatorGroup::Identity) {
            return None;
        }
        let (operator, what, constant, is_exchanged) = match (self.specialize(left).value, self.specialize(right).value)
        {
            (None, Some(_)) => (*operator, left, right, false),
            (Some(_), None) => (operator.converse()?, right, left, true),
            _ => return None,
        };
        let bound = self.specialize(constant).value?;
        if matches!(bound, Value::List(_) | Value::Ad(_)) {
            return None;
        }
        let attribute = match ClauseOperand::of(what) {
            Some(ClauseOperand::Other(name) | ClauseOperand::Unqualified(name)) => Some(name.clone()),
            _ => None,
        };
        let own = match ClauseOperand::of(constant) {
            Some(ClauseOperand::Own(name) | ClauseOperand::Unqualified(name)) => {
                self.ad.attribute(name).map(|own| own.name.clone())
            }
            _ => None,
        };
        Some(ClauseComparison {
            operand: what.clone(),
            attribute,
            operator,
            bound,
            bound_attribute: own,
            is_reversed: is_exchanged,
        })
    }
}

/// Splits the references that an ad does not resolve into names that the other side may define and names that only the
/// ad itself could define.
fn split_by_side(references: &References) -> (IndexSet<Name>, IndexSet<Name>) {
    let (mut theirs, mut lacking) = (IndexSet::new(), IndexSet::new());
    for reference in &references.external {
        match reference.path.as_slice() {
            [side, name, ..] if ScopeAd::of(side) == Some(ScopeAd::Other) => theirs.insert(name.clone()),
            [side, name, ..] if ScopeAd::of(side) == Some(ScopeAd::Own) => lacking.insert(name.clone()),
            [name, ..] if reference.resolved == 0 => theirs.insert(name.clone()),
            _ => false,
        };
    }
    (theirs, lacking)
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
