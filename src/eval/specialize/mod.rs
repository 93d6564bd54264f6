//! Specialization: partial evaluation in an ad that is known in part (thesis 2.6.1).
//!
//! A completion of the ad gives a value to every unknown. The evaluator computes the subexpressions that contain no
//! unknowns, so their values hold in every completion. An operator on an unknown operand is dropped only if it provably
//! changes nothing. [`TypeSet`] tracks which types the operand can have.

mod chain_folding;
mod chained_operator;
mod partial_result;
mod specializer;
mod type_set;

use std::sync::Arc;

use crate::ad::{Ad, Expression, ExpressionKind, Name, ScopeFrame, Span, Value};

use super::reference_walk::references;
use super::references::References;
use super::{Context, Environment, Evaluator, VolatileInputs, builtin};

use partial_result::PartialResult;
use specializer::Specializer;
pub(crate) use type_set::TypeSet;

/// Maximum number of steps of an evaluation that may turn out to need something unknown.
const MAX_STEPS_IN_VAIN: u64 = 64;

/// Options of specialization: which assumptions it may make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpecializeOptions {
    /// Whether to assume that no unknown is an error and that sums and products may be reordered, as in thesis 2.6.1. If false, the
    /// specialized expression has the same value as the original, whatever the unknowns are.
    pub loose: bool,
    /// Whether to replace a reference to a partly unknown attribute by the attribute's specialized expression. This
    /// assumes that no unknown makes a circular reference.
    pub inline: bool,
}

/// Whether a constraint can be true, depending on the unknowns (thesis 2.6.1, the owner state).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstraintVerdict {
    /// The constraint is not true, whatever the unknowns are.
    Never,
    /// The constraint is true, whatever the unknowns are.
    Always,
    /// The constraint may be true or not, depending on the unknowns.
    Depends,
}

impl ConstraintVerdict {
    /// Returns the verdict as a lower-case word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ConstraintVerdict::Never => "never",
            ConstraintVerdict::Always => "always",
            ConstraintVerdict::Depends => "depends",
        }
    }
}

/// Result of specializing an expression.
#[derive(Clone, Debug)]
#[must_use]
pub struct SpecializedExpression {
    /// Expression with the same value as the original; unchanged subtrees are shared with the original.
    pub expression: Expression,
    /// Value of the expression; `None` if it is unknown.
    pub value: Option<Value>,
    /// Whether the expression can be true if it is a constraint.
    pub verdict: ConstraintVerdict,
}

/// Specializes an expression in a scope. `environment` says which ads and partners are unknown. If `context` lacks a
/// clock or random numbers, these are unknown, too.
pub fn specialize(
    expression: &Expression,
    frame: &Arc<ScopeFrame>,
    environment: &Environment,
    context: &Context,
    options: SpecializeOptions,
) -> SpecializedExpression {
    let mut specializer = Specializer::new(environment, context, options);
    // Evaluation takes a fraction of the time, as it makes no expressions of the operands.
    let known = evaluated_operator(expression, frame, environment, context, options);
    let part = known.unwrap_or_else(|| specializer.specialize(expression, frame));
    specializer.finish(part)
}

/// Returns the result for a binary operator that takes few steps to evaluate. `None` if its value is unknown or an
/// error, whose cause may depend on the order of steps, or if `loose` reorders it.
fn evaluated_operator(
    expression: &Expression,
    frame: &Arc<ScopeFrame>,
    environment: &Environment,
    context: &Context,
    options: SpecializeOptions,
) -> Option<PartialResult> {
    let is_operator = matches!(expression.kind(), ExpressionKind::Binary(..));
    // A random number that is drawn in vain would change the next one.
    if !is_operator || options.loose || context.random.is_some() {
        return None;
    }
    let mut evaluator = Evaluator::new(environment, context).limited_to(MAX_STEPS_IN_VAIN);
    let value = evaluator.evaluate(expression, frame).ok()?;
    let is_plain = !matches!(value, Value::Error(_) | Value::List(_) | Value::Ad(_));
    is_plain.then(|| PartialResult::known(expression, value))
}

/// Specializes the expression of an attribute of the scope's ad. If the ad lacks the attribute, the result is unknown
/// for an ad that is known only in part, else undefined.
pub fn specialize_attribute(
    name: &Name,
    frame: &Arc<ScopeFrame>,
    environment: &Environment,
    context: &Context,
    options: SpecializeOptions,
) -> SpecializedExpression {
    let mut specializer = Specializer::new(environment, context, options);
    let part = match frame.ad.get(name) {
        Some(expression) => specializer.specialize_bound(expression, frame),
        None if environment.is_partly_known(frame) => {
            Some(PartialResult::unknown(&Expression::attribute(name.clone())))
        }
        None => None,
    };
    specializer.finish(part.unwrap_or_else(|| PartialResult::of_value(Span::default(), Value::Undefined)))
}

/// What the value of an expression still depends on after specialization.
pub struct Unknowns {
    /// References to attributes that are unknown.
    pub references: References,
    /// Whether it reads the clock or draws random numbers.
    pub volatile: VolatileInputs,
}

/// Returns what the value of an expression still depends on after specialization.
#[must_use]
pub fn unknowns(
    expression: &Expression,
    frame: &Arc<ScopeFrame>,
    environment: &Environment,
    context: &Context,
) -> Unknowns {
    let inline = SpecializeOptions { inline: true, ..SpecializeOptions::default() };
    let left = specialize(expression, frame, environment, context, inline).expression;
    Unknowns { references: references(&left, frame, environment, context), volatile: VolatileInputs::of(&left) }
}

/// Specializes every attribute of the scope's ad. An attribute stays unchanged if it depends on a circular reference,
/// or if the ad reads its text, as with `unparse(name)`.
#[must_use]
pub fn specialize_ad(
    frame: &Arc<ScopeFrame>,
    environment: &Environment,
    context: &Context,
    options: SpecializeOptions,
) -> Ad {
    let read = builtin::names_read_as_text(&frame.ad);
    let mut specializer = Specializer::new(environment, context, options);
    let mut residue = |name: &Name, expression: &Expression| {
        // The value of a circular reference depends on the attribute where evaluation begins, so such an attribute is
        // left as it is.
        let part = if read.contains(name) { None } else { specializer.specialize_attribute(expression, frame) };
        part.map_or_else(|| expression.clone(), |part| part.expression)
    };
    frame.ad.iter().map(|a| (a.name.clone(), residue(a.name, a.expression))).collect()
}

#[cfg(test)]
mod tests {
    use super::specializer::Specializer;
    use super::{ConstraintVerdict, SpecializeOptions, evaluated_operator, specialize};
    use crate::ad::{Ad, Dialect};
    use crate::eval::{Context, Environment, Knowledge, RandomStream};
    use crate::syntax::{ParseOptions, Style, parse_ad, parse_expression, print};

    fn special(text: &str, known: &str, dialect: Dialect, options: SpecializeOptions) -> (String, ConstraintVerdict) {
        let rules = ParseOptions::new(dialect);
        let ad = parse_ad(known.as_bytes(), rules).unwrap();
        let expression = parse_expression(text.as_bytes(), rules).unwrap();
        let context = Context { now: None, random: None, ..Context::new(dialect) };
        let (environment, frame) = Environment::partner_unknown(ad, Knowledge::Partial);
        let left = specialize(&expression, &frame, &environment, &context, options);
        (String::from_utf8(print(&left.expression, Style::New)).unwrap(), left.verdict)
    }

    fn check(dialect: Dialect, options: SpecializeOptions, known: &str, cases: &[(&str, &str)]) {
        for (text, expected) in cases {
            assert_eq!(special(text, known, dialect, options).0, *expected, "{text} in {dialect}");
        }
    }

    #[test]
    fn what_is_the_same_in_both_dialects() {
        for dialect in [Dialect::Classad, Dialect::Condor] {
            check(
                dialect,
                SpecializeOptions::default(),
                "[ a = 1; b = a + 1; n = [ c = 5; d = z ]; s = { 1, 2, a }; w = other.x > b ]",
                &[
                    ("b * 3", "6"),
                    ("true && other.x > 10", "other.x > 10"),
                    ("true && other.x", "true && other.x"),
                    ("other.x > 10 || false", "other.x > 10"),
                    ("x && true", "x && true"),
                    ("(a < b && other.x > a) && x.y == b", "(other.x > 1) && x.y == 2"),
                    ("3 + z + 7", "3 + z + 7"),
                    ("n.c + n.d", "5 + n.d"),
                    ("s[1] + s[2]", "3"),
                    ("{ u, a }[0]", "u"),
                    ("a == 1 ? u : v", "u"),
                    ("u ? a : b", "u ? 1 : 2"),
                    ("ifThenElse(a == 1, u, v)", "u"),
                    ("u ?: a", "u ?: 1"),
                    ("(u is 3) ?: a", "(u is 3)"),
                    ("undefined ?: u", "u"),
                    ("error + u", "error"),
                    ("strcat(\"a\", string(b), u)", "strcat(\"a\", \"2\", u)"),
                    ("time() > a", "time() > 1"),
                    ("random(2) + b", "random(2) + 2"),
                    ("w && true", "w"),
                    ("a is \"1\"", "false"),
                    ("(other.x > 10) is \"a\"", "false"),
                    ("(x is 1 || true) && y > 1", "y > 1"),
                    ("eval(\"b\" )", "2"),
                    ("eval(\"u + b\" )", "eval(\"u + b\")"),
                    ("{ a, b }", "{ a, b }"),
                    ("split(\"a b\")", "{ \"a\", \"b\" }"),
                ],
            );
        }
    }

    #[test]
    fn an_error_on_the_right_shows_in_the_papers() {
        let exact = SpecializeOptions::default();
        check(Dialect::Classad, exact, "[ ]", &[("false && other.x > 10", "false && other.x > 10")]);
        check(Dialect::Condor, exact, "[ ]", &[("false && other.x > 10", "false")]);
        assert_eq!(special("false && other.x > 10", "[ ]", Dialect::Classad, exact).1, ConstraintVerdict::Never);
    }

    #[test]
    fn as_the_thesis_prints_it() {
        for dialect in [Dialect::Classad, Dialect::Condor] {
            let loose = SpecializeOptions { loose: true, ..SpecializeOptions::default() };
            check(
                dialect,
                loose,
                "[ ]",
                &[
                    ("false && other.x > 10", "false"),
                    ("true && other.x > 10", "other.x > 10"),
                    ("3 + a + 7", "10 + a"),
                    ("a + 3 + 7", "a + 10"),
                    ("a - 3 - 7 + b", "a - 10 + b"),
                    ("a - 3 + 10", "a + 7"),
                    ("3 * a + 7", "3 * a + 7"),
                    ("3 * a * 7", "21 * a"),
                    ("a * 3 * 7 + b", "a * 21 + b"),
                    ("3 * a / 7 * 2", "3 * a / 7 * 2"),
                    ("1 + 2 + a < 3 + 4", "3 + a < 7"),
                ],
            );
        }
    }

    #[test]
    fn attributes_are_replaced_by_what_is_left_of_them() {
        let inline = SpecializeOptions { inline: true, ..SpecializeOptions::default() };
        check(
            Dialect::Condor,
            inline,
            "[ START = Idle > Wait; Wait = 15 * 60; Requirements = START && true; n = [ k = j ] ]",
            &[
                ("Requirements", "Idle > 900"),
                ("MY.Requirements && TARGET.x", "Idle > 900 && TARGET.x"),
                // In HTCondor's dialect the name `j` in the nested ad `n` is not looked up on the other side of a
                // match. A name `j` outside `n` is looked up there, so `j` must not replace `n.k`.
                ("n.k", "n.k"),
            ],
        );
    }

    #[test]
    fn evaluation_gives_the_results_of_the_walk() {
        let operands = [
            "1",
            "2.5",
            "1.0e16",
            "true",
            "false",
            "undefined",
            "error",
            "\"a\"",
            "{ 1, u }",
            "[ x = 1 ]",
            "a",
            "s",
            "u",
            "w",
            "c",
            "n.d",
            "MY.b",
            "other.x",
            "(a > 1 || u)",
            "time()",
            "eval(\"b\")",
            "unparse(w)",
            "(u ?: 2)",
            "(a ? u : s)",
        ];
        let operators = ["+", "/", "<", "==", "is", "isnt", "&&", "||", "&", "<<"];
        let known = "[ a = 1; b = a + 1; s = \"A\"; c = d; d = c; n = [ d = z; e = a ]; w = other.x > b ]";
        let mut evaluated = 0;
        for dialect in [Dialect::Classad, Dialect::Condor] {
            let rules = ParseOptions::new(dialect);
            let context = Context { now: None, random: None, ..Context::new(dialect) };
            let ad = parse_ad(known.as_bytes(), rules).unwrap();
            let (environment, frame) = Environment::partner_unknown(ad, Knowledge::Partial);
            let all = operators.iter().flat_map(|operator| {
                let right = move |left: &'static str| operands.map(|right| format!("{left} {operator} {right}"));
                operands.into_iter().flat_map(right)
            });
            for text in all {
                let expression = parse_expression(text.as_bytes(), rules).unwrap();
                let options = SpecializeOptions::default();
                let part = evaluated_operator(&expression, &frame, &environment, &context, options);
                let Some(part) = part else { continue };
                let mut specializer = Specializer::new(&environment, &context, options);
                let expected = specializer.specialize(&expression, &frame);
                assert_eq!((&part.expression, &part.value), (&expected.expression, &expected.value), "{text}");
                assert_eq!(part.expression.span(), expected.expression.span(), "{text}");
                evaluated += 1;
            }
        }
        assert!(evaluated > 2000, "{evaluated}");
    }

    #[test]
    fn no_random_number_is_drawn_in_vain() {
        let specialized = |text: &str| {
            let expression = parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let context = Context { random: Some(RandomStream::new(7)), ..Context::new(Dialect::Condor) };
            let (environment, frame) = Environment::partner_unknown(Ad::default(), Knowledge::Partial);
            let left = specialize(&expression, &frame, &environment, &context, SpecializeOptions::default());
            String::from_utf8(print(&left.expression, Style::New)).unwrap()
        };
        let drawn = specialized("random(1000000)");
        assert!(drawn.bytes().all(|byte| byte.is_ascii_digit()), "{drawn}");
        assert_eq!(specialized("random(1000000) < TARGET.x"), format!("{drawn} < TARGET.x"));
    }

    #[test]
    fn verdicts() {
        for (text, verdict) in [
            ("1 == 1", ConstraintVerdict::Always),
            ("\"yes\"", ConstraintVerdict::Never),
            ("undefined", ConstraintVerdict::Never),
            ("other.x", ConstraintVerdict::Depends),
            ("other.x && error", ConstraintVerdict::Never),
            ("isUndefined(other.x)", ConstraintVerdict::Depends),
            ("(other.x > 1) + 1 == \"a\"", ConstraintVerdict::Never),
        ] {
            assert_eq!(special(text, "[ ]", Dialect::Classad, SpecializeOptions::default()).1, verdict, "{text}");
        }
    }
}
