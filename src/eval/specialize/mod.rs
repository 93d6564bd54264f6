//! Specialization: evaluation as far as an ad is known (thesis §2.6.1).
//!
//! What does not depend on anything unknown is computed by the evaluator itself, so that its value is the
//! value that any completion of the ad gives it.  Around the rest only such operators go as provably
//! change nothing: which shapes of values an unknown part can have is tracked in [`Shapes`].

mod partial_result;
mod specializer;
mod sum_folding;
mod type_set;

use std::sync::Arc;

use crate::ad::{Ad, Expression, Frame, Kind, Name, Span, Value};

use super::references::{References, references};
use super::{Context, Environment, builtin};

use partial_result::Part;
use specializer::Walk;
pub(super) use type_set::Shapes;

/// What specialization may assume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Liberties {
    /// That no unknown is an error, and that sums may be added up in another order: what the thesis
    /// prints in §2.6.1.  Without it the value is the same in every completion.
    pub loose: bool,
    /// That no unknown refers back in a circle, so that an attribute of which a part is unknown may be
    /// replaced by what is left of it.
    pub inline: bool,
}

/// Whether a constraint can be true (thesis §2.6.1: the owner state).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is not true in any completion.
    Never,
    /// It is true in every completion.
    Always,
    /// It depends on what is not known.
    Depends,
}

impl Verdict {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Never => "never",
            Verdict::Always => "always",
            Verdict::Depends => "depends",
        }
    }
}

/// What is left of an expression.
#[derive(Clone, Debug)]
pub struct Specialized {
    /// An expression of the same value; where nothing changed it is shared with the original.
    pub expression: Expression,
    /// The value, if it is known.
    pub value: Option<Value>,
    /// Whether it is true as a constraint.
    pub verdict: Verdict,
}

/// Specializes an expression in a scope.  What is not known, the environment says: the extent of its ads
/// and whom they meet; and the context, which may have no clock.
#[must_use]
pub fn specialize(
    expression: &Expression,
    frame: &Arc<Frame>,
    environment: &Environment,
    context: &Context,
    liberties: Liberties,
) -> Specialized {
    let mut walk = Walk::new(environment, context, liberties);
    let part = walk.part(expression, frame);
    walk.finish(part)
}

/// Specializes what an attribute of the ad of a scope is bound to.  One that an ad known in part lacks is
/// unknown itself; otherwise it is undefined.
#[must_use]
pub fn specialize_attribute(
    name: &Name,
    frame: &Arc<Frame>,
    environment: &Environment,
    context: &Context,
    liberties: Liberties,
) -> Specialized {
    let mut walk = Walk::new(environment, context, liberties);
    let part = match frame.ad.get(name) {
        Some(expression) => walk.bound(expression, frame),
        None if environment.is_open(frame) => {
            Some(Part::unknown(&Expression::new(Kind::Attribute(name.clone()), Span::default())))
        }
        None => None,
    };
    walk.finish(part.unwrap_or_else(|| Part::of_value(Span::default(), Value::Undefined)))
}

/// The names that the value of an expression depends on, once all that is known has been put in: the
/// unknowns of a verdict.  None if it depends on the clock or on chance only.
#[must_use]
pub fn unknowns(
    expression: &Expression,
    frame: &Arc<Frame>,
    environment: &Environment,
    context: &Context,
) -> References {
    let inline = Liberties { inline: true, ..Liberties::default() };
    let left = specialize(expression, frame, environment, context, inline);
    references(&left.expression, frame, environment, context)
}

/// Specializes every attribute of the ad of a scope.  An attribute whose value depends on a circle stays
/// as it is, and so does one whose text is read: by `unparse()` and its kin, in this ad.
#[must_use]
pub fn specialize_ad(frame: &Arc<Frame>, environment: &Environment, context: &Context, liberties: Liberties) -> Ad {
    let read = builtin::read_as_text(&frame.ad);
    let mut walk = Walk::new(environment, context, liberties);
    let mut specialized = |name: &Name, expression: &Expression| {
        // A circle is another one when it is entered at another attribute.
        let part = if read.contains(name) { None } else { walk.attribute(expression, frame) };
        part.map_or_else(|| expression.clone(), |part| part.expression)
    };
    frame.ad.iter().map(|a| (a.name.clone(), specialized(a.name, a.expression))).collect()
}

#[cfg(test)]
mod tests {
    use super::{Liberties, Verdict, specialize};
    use crate::ad::Dialect;
    use crate::eval::{Context, Environment, Extent};
    use crate::syntax::{Rules, Style, parse_ad, parse_expression, print};

    fn special(text: &str, known: &str, dialect: Dialect, liberties: Liberties) -> (String, Verdict) {
        let rules = Rules::new(dialect);
        let ad = parse_ad(known.as_bytes(), rules).unwrap();
        let expression = parse_expression(text.as_bytes(), rules).unwrap();
        let context = Context { now: None, chance: None, ..Context::new(dialect) };
        let (environment, frame) = Environment::unmet(ad, Extent::Open);
        let left = specialize(&expression, &frame, &environment, &context, liberties);
        (String::from_utf8(print(&left.expression, Style::New)).unwrap(), left.verdict)
    }

    fn check(dialect: Dialect, liberties: Liberties, known: &str, cases: &[(&str, &str)]) {
        for (text, expected) in cases {
            assert_eq!(special(text, known, dialect, liberties).0, *expected, "{text} in {dialect}");
        }
    }

    #[test]
    fn what_is_the_same_in_both_dialects() {
        for dialect in [Dialect::Classad, Dialect::Condor] {
            check(
                dialect,
                Liberties::default(),
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
        let exact = Liberties::default();
        check(Dialect::Classad, exact, "[ ]", &[("false && other.x > 10", "false && other.x > 10")]);
        check(Dialect::Condor, exact, "[ ]", &[("false && other.x > 10", "false")]);
        assert_eq!(special("false && other.x > 10", "[ ]", Dialect::Classad, exact).1, Verdict::Never);
    }

    #[test]
    fn as_the_thesis_prints_it() {
        for dialect in [Dialect::Classad, Dialect::Condor] {
            let loose = Liberties { loose: true, ..Liberties::default() };
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
                    ("1 + 2 + a < 3 + 4", "3 + a < 7"),
                ],
            );
        }
    }

    #[test]
    fn attributes_are_replaced_by_what_is_left_of_them() {
        let inline = Liberties { inline: true, ..Liberties::default() };
        check(
            Dialect::Condor,
            inline,
            "[ START = Idle > Wait; Wait = 15 * 60; Requirements = START && true; n = [ k = j ] ]",
            &[
                ("Requirements", "Idle > 900"),
                ("MY.Requirements && TARGET.x", "Idle > 900 && TARGET.x"),
                // A name in a nested ad is not looked up on the other side of a match.
                ("n.k", "n.k"),
            ],
        );
    }

    #[test]
    fn verdicts() {
        for (text, verdict) in [
            ("1 == 1", Verdict::Always),
            ("\"yes\"", Verdict::Never),
            ("undefined", Verdict::Never),
            ("other.x", Verdict::Depends),
            ("other.x && error", Verdict::Never),
            ("isUndefined(other.x)", Verdict::Depends),
            ("(other.x > 1) + 1 == \"a\"", Verdict::Never),
        ] {
            assert_eq!(special(text, "[ ]", Dialect::Classad, Liberties::default()).1, verdict, "{text}");
        }
    }
}
