//! One-way matching: the ads for which a constraint is true.

use std::sync::{Mutex, TryLockError};

use crate::ad::{Ad, Dialect, Expression, ExpressionKind, Name, ScopeAd, Truth, Value, rewrite_expression};
use crate::eval::{Abort, CompiledEvaluator, CompiledSubject, Context, Environment, Evaluator, FunctionKind};
use crate::syntax::{ParseOptions, Style, parse_expression, print};

/// A constraint that is tested against single ads.
pub struct Query {
    constraint: Expression,
    context: Context,
    /// Programs of the constraint and of what it reads, for the thread that tests an ad.
    compiled: Mutex<CompiledEvaluator>,
}

impl Query {
    /// Creates a query for the ads that meet a constraint. In the constraint `other` and `target` mean the ad, too.
    #[must_use]
    pub fn new(constraint: Expression, context: Context) -> Self {
        let constraint = about_one_ad(constraint, context.dialect);
        let compiled = Mutex::new(CompiledEvaluator::for_passing_ads(context.dialect));
        Query { constraint, context, compiled }
    }

    /// Returns the constraint.
    pub fn constraint(&self) -> &Expression {
        &self.constraint
    }

    /// Whether an ad meets the constraint.
    pub fn accepts(&self, ad: &Ad) -> Result<bool, Abort> {
        let subject = CompiledSubject::Expression(&self.constraint);
        match self.compiled(|compiled| compiled.truth(subject, ad.into(), &self.context)) {
            Some(truth) => Ok(truth.is_true()),
            None => self.walk(ad).map(|value| Truth::of(&value, self.context.dialect).is_true()),
        }
    }

    /// Returns the value of the constraint in an ad, which need not be a boolean.
    pub fn evaluate(&self, ad: &Ad) -> Result<Value, Abort> {
        self.compiled(|compiled| Some(self.evaluate_with(compiled, ad))).unwrap_or_else(|| self.walk(ad))
    }

    /// Returns the value of the constraint in an ad, like [`Query::evaluate`], with the programs of one thread. The
    /// evaluator must have been made by [`Query::evaluator`].
    pub fn evaluate_with(&self, evaluator: &mut CompiledEvaluator, ad: &Ad) -> Result<Value, Abort> {
        evaluator.evaluate(&self.constraint, ad, &self.context)
    }

    /// Creates an evaluator for [`Query::evaluate_with`].
    #[must_use]
    pub fn evaluator(&self) -> CompiledEvaluator {
        CompiledEvaluator::for_passing_ads(self.context.dialect)
    }

    /// Runs the compiled constraint; `None` if only the tree walker can tell the value, or if another thread runs it.
    fn compiled<T>(&self, run: impl FnOnce(&mut CompiledEvaluator) -> Option<T>) -> Option<T> {
        match self.compiled.try_lock() {
            Ok(mut compiled) => run(&mut compiled),
            // A panic leaves nothing behind but missing programs.
            Err(TryLockError::Poisoned(poisoned)) => run(&mut poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn walk(&self, ad: &Ad) -> Result<Value, Abort> {
        let (environment, frame) = Environment::single(ad.clone());
        Evaluator::new(&environment, &self.context).evaluate(&self.constraint, &frame)
    }
}

/// Returns an expression about a single ad in which no name needs a partner: `X` for the `other.X` and `TARGET.X` of a
/// one-way match (1998 paper 4). `other` alone is an attribute of this name, else the ad.
///
/// So do names in a text for `eval()`.
pub fn about_one_ad(expression: Expression, dialect: Dialect) -> Expression {
    without_partner(&expression, false, dialect).unwrap_or(expression)
}

/// Does the work of [`about_one_ad`]; `None` if nothing changes. `is_elsewhere` says that the expression is evaluated in
/// a nested ad, so that an attribute is one of the outermost ad.
fn without_partner(expression: &Expression, is_elsewhere: bool, dialect: Dialect) -> Option<Expression> {
    let is_other = |name: &Name| ScopeAd::of(name) == Some(ScopeAd::Other);
    rewrite_expression(expression, &mut |part| {
        let kind = match part.kind() {
            ExpressionKind::Select(subject, name) if matches!(subject.kind(), ExpressionKind::Attribute(subject) if is_other(subject)) => {
                if is_elsewhere {
                    ExpressionKind::RootAttribute(name.clone())
                } else {
                    ExpressionKind::Attribute(name.clone())
                }
            }
            ExpressionKind::Attribute(name) if is_other(name) => {
                ExpressionKind::Elvis(part.clone(), Expression::attribute("root"))
            }
            ExpressionKind::Ad(_) if !is_elsewhere => return without_partner(part, true, dialect),
            ExpressionKind::Call(function, _)
                if !is_elsewhere && FunctionKind::of(function) == Some(FunctionKind::EvaluatesElsewhere) =>
            {
                return without_partner(part, true, dialect);
            }
            ExpressionKind::Call(function, arguments)
                if FunctionKind::of(function) == Some(FunctionKind::ParsesText) =>
            {
                let [text] = &arguments[..] else { return None };
                let Some(Value::String(text)) = text.without_parentheses().as_literal() else { return None };
                let parsed = parse_expression(text.as_bytes(), ParseOptions::new(dialect)).ok()?;
                let text = print(&without_partner(&parsed, is_elsewhere, dialect)?, Style::New);
                ExpressionKind::Call(function.clone(), [Expression::literal(Value::string(text))].into())
            }
            _ => return None,
        };
        Some(Expression::new(kind, part.span()))
    })
}

#[cfg(test)]
mod tests {
    use super::{Query, about_one_ad};
    use crate::ad::Dialect;
    use crate::eval::Context;
    use crate::syntax::{ParseOptions, parse_ad, parse_expression};

    #[test]
    fn other_and_target_mean_the_ad() {
        let text = b"[ X = 5; Y = other.X; L = { [ X = 9 ] }; Constraint = TARGET.Z > 1 ]";
        for dialect in [Dialect::Classad, Dialect::Condor] {
            let options = ParseOptions::new(dialect);
            let ad = parse_ad(text, options).unwrap();
            for (constraint, expected) in [
                ("other.X > 1", true),
                ("TARGET.X > 1 && target.X < 9", true),
                ("isClassAd(other)", true),
                ("other[\"X\"] is 5", dialect == Dialect::Condor),
                ("[ X = 7; a = other.X ].a == 5", true),
                ("countMatches(X > TARGET.X, L) == 1", true),
                // What an ad says of its partner stays unknown.
                ("isUndefined(Y) && isUndefined(other.Constraint)", true),
                ("isUndefined(other.missing)", true),
                ("eval(\"other.X\") is 5 && eval(\"TARGET.X + 1\") is 6", true),
                ("eval(\"eval(\\\"other.X\\\")\") is 5", true),
                ("eval(\"X +\") is error || X == 5", true),
            ] {
                let expression = parse_expression(constraint.as_bytes(), options).unwrap();
                let query = Query::new(expression, Context::new(dialect));
                assert_eq!(query.accepts(&ad).unwrap(), expected, "{constraint} in {dialect}");
            }
        }
        let plain = parse_expression(b"MY.X > 1 && Y", ParseOptions::default()).unwrap();
        assert_eq!(about_one_ad(plain.clone(), Dialect::Condor).identity(), plain.identity());
    }

    #[test]
    fn an_attribute_called_target_is_no_partner() {
        let ad = parse_ad(b"[ Target = \"x86\"; X = 1 ]", ParseOptions::new(Dialect::Condor)).unwrap();
        let expression = parse_expression(b"Target == \"x86\" && TARGET.X == 1", ParseOptions::default()).unwrap();
        assert!(Query::new(expression, Context::new(Dialect::Condor)).accepts(&ad).unwrap());
    }
}
