//! Conditions of `if` and `elif`.

use std::borrow::Cow;

use crate::ad::{Dialect, Expression, Span, Truth, Value};
use crate::syntax::{ParseOptions, SyntaxError, parse_expression};

use super::expander::MacroExpander;
use super::keywords::{is_variable, skip_blank};
use super::macros::{self, StatementFailure, evaluate};

/// Condition of `if` or `elif`.
#[derive(Clone, Debug)]
pub struct IfCondition {
    text: String,
    rules: ParseOptions,
    /// The parsed condition. `None` if the text contains macros, because it must be parsed after each expansion.
    test: Option<ParsedCondition>,
}

/// Parsed condition without macros.
#[derive(Clone, Debug)]
struct ParsedCondition {
    negated: bool,
    kind: ParsedConditionKind,
}

#[derive(Clone, Debug)]
enum ParsedConditionKind {
    /// A word or a number, such as `true`, `yes` or `0`.
    Constant(bool),
    /// `defined name`: true if the variable or attribute has a text that is not empty.
    Defined(String),
    Expression(Expression),
    /// `version comparison number`: compares HTCondor's version with the number.
    Version(bool),
}

impl PartialEq for IfCondition {
    /// Compares the texts only.
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl IfCondition {
    /// Parses a condition. A text with macros is parsed later, when the macros are expanded.
    ///
    /// # Errors
    ///
    /// The syntax error, if the text has no macros and is not a condition.
    pub fn new(text: &str, rules: ParseOptions) -> Result<Self, SyntaxError> {
        let condition = if macros::has_macros(text) { None } else { Some(ParsedCondition::new(text, rules)?) };
        Ok(IfCondition { text: text.to_owned(), rules, test: condition })
    }

    /// The text as it is written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the condition is an expression, not only a word, `defined` or `version`. HTCondor does not support such a
    /// condition: a route with it is not used, and where it is not true, a transform fails.
    #[must_use]
    pub fn is_complex(&self) -> bool {
        let text = macros::with_placeholders(&self.text, "1");
        ParsedCondition::new(&text, self.rules)
            .is_ok_and(|condition| matches!(condition.kind, ParsedConditionKind::Expression(_)))
    }

    /// Whether the condition holds for the ad of `expander`.
    pub(super) fn holds(&self, expander: &mut MacroExpander<'_, '_>) -> Result<bool, StatementFailure> {
        self.expanded(expander)?.holds(expander)
    }

    /// Whether the condition holds where there is no ad, which `expander` must lack.
    ///
    /// # Errors
    ///
    /// The reason if HTCondor cannot tell: it evaluates no expression there.
    pub(super) fn holds_without_ad(&self, expander: &mut MacroExpander<'_, '_>) -> Result<bool, StatementFailure> {
        let condition = self.expanded(expander)?;
        if matches!(condition.kind, ParsedConditionKind::Expression(_)) {
            return Err("complex conditionals are not supported".to_owned().into());
        }
        condition.holds(expander)
    }

    /// Returns the condition with its macros expanded.
    fn expanded(&self, expander: &mut MacroExpander<'_, '_>) -> Result<Cow<'_, ParsedCondition>, StatementFailure> {
        if let Some(test) = &self.test {
            return Ok(Cow::Borrowed(test));
        }
        let bytes = expander.expand(self.text.as_bytes(), self.rules)?;
        let written = String::from_utf8_lossy(bytes.trim_ascii()).into_owned();
        // A text that expands to nothing is false, and `!` alone is true.
        let condition = written.strip_prefix('!').unwrap_or(&written);
        if condition.trim_ascii().is_empty() {
            let kind = ParsedConditionKind::Constant(written.starts_with('!'));
            return Ok(Cow::Owned(ParsedCondition { negated: false, kind }));
        }
        let condition = ParsedCondition::new(&written, self.rules);
        Ok(Cow::Owned(condition.map_err(|error| format!("`{written}`: {error}"))?))
    }
}

impl ParsedCondition {
    fn new(text: &str, rules: ParseOptions) -> Result<Self, SyntaxError> {
        let start = skip_blank(text, 0);
        let negated = text[start..].starts_with('!');
        let start = skip_blank(text, start + usize::from(negated));
        let rest = text[start..].trim_ascii_end();
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let span = Span::new(offset(start), offset(start + rest.len()));
        let error = |message: &str, help: &str| Err(SyntaxError::new(span, message).with_help(help));
        let (first, behind) = rest.split_at(rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len()));
        let kind = if let Some(is) = constant(rest) {
            ParsedConditionKind::Constant(is)
        } else if rest.is_empty() {
            return error("a condition is missing", "write `if defined MY.attribute` or `if expression`");
        } else if first.eq_ignore_ascii_case("defined") {
            let subject = behind.trim_ascii();
            if !subject.is_empty() && !is_variable(subject) && constant(subject).is_none() {
                return error(
                    "`defined` takes the name of one variable or attribute",
                    "write `if defined MY.attribute`",
                );
            }
            ParsedConditionKind::Defined(subject.to_owned())
        } else if first.eq_ignore_ascii_case("version") {
            match compare_version(behind.trim_ascii()) {
                Some(is) => ParsedConditionKind::Version(is),
                None => {
                    return error(
                        "expected a comparison with a version such as 23.0, at least 6.0",
                        "write `if version >= 23.0` or `if version < 10.0.0`",
                    );
                }
            }
        } else if is_variable(rest) {
            let help = match rest.get(..3) {
                Some(prefix) if prefix.eq_ignore_ascii_case("MY.") => {
                    format!("write `if $({rest})`, or compare the name with a value")
                }
                _ => format!(
                    "write `if $({rest})` for a variable, `if $(MY.{rest})` for an attribute, or compare the name with a value"
                ),
            };
            return error("this word alone is not a condition", &help);
        } else {
            let expression = parse_expression(rest.as_bytes(), rules).map_err(|error| error.shifted(offset(start)))?;
            ParsedConditionKind::Expression(expression)
        };
        Ok(ParsedCondition { negated, kind })
    }

    fn holds(&self, expander: &mut MacroExpander<'_, '_>) -> Result<bool, StatementFailure> {
        let holds = match &self.kind {
            ParsedConditionKind::Constant(is) | ParsedConditionKind::Version(is) => *is,
            ParsedConditionKind::Defined(subject) => {
                let text = expander.lookup(subject.as_bytes());
                text.map_or(constant(subject).is_some(), |text| !text.bytes.is_empty())
            }
            ParsedConditionKind::Expression(expression) => {
                let value = evaluate(expression, expander.ad, expander.context)?;
                boolean_of(&value).ok_or_else(|| {
                    let phrase = value.value_type().phrase();
                    let of_other = || format!("the condition is {phrase}, but it must be a boolean or a number");
                    value.error_origin().map_or_else(of_other, |fault| format!("the condition is an error: {fault}"))
                })?
            }
        };
        Ok(holds != self.negated)
    }
}

/// Returns whether a value counts as true or as false; `None` for other types. In rules a number counts in both
/// dialects.
pub(super) fn boolean_of(value: &Value) -> Option<bool> {
    match Truth::of(value, Dialect::Condor) {
        Truth::True => Some(true),
        Truth::False => Some(false),
        Truth::Undefined | Truth::Error => None,
    }
}

/// The version of HTCondor whose rules these are.
const HTCONDOR_VERSION: [u32; 3] = [25, 14, 1];

/// Compares HTCondor's version with that of a text such as `>= 8.9.7`. The last number can be left out; then it counts
/// as equal. `None` if the text has no version.
fn compare_version(text: &str) -> Option<bool> {
    let (negated, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
    let digits = text.trim_start_matches(['<', '=', '>']);
    let operator = &text[..text.len() - digits.len()];
    let mut numbers = digits.trim_ascii().trim_start_matches(['v', 'V']).split('.').map(str::parse::<u32>);
    let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    let last = numbers.next().map_or(Some(HTCONDOR_VERSION[2]), Result::ok)?;
    if major < 6 || numbers.next().is_some() {
        return None;
    }
    let ordering = HTCONDOR_VERSION.cmp(&[major, minor, last]);
    let is = match operator {
        "<" => ordering.is_lt(),
        "<=" => ordering.is_le(),
        ">" => ordering.is_gt(),
        ">=" => ordering.is_ge(),
        "" | "=" | "==" => ordering.is_eq(),
        _ => return None,
    };
    Some(is != negated)
}

/// Returns the truth value of a text that is a word such as `yes` or a number; `None` for other texts.
fn constant(text: &str) -> Option<bool> {
    if ["true", "yes", "t"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Some(true);
    }
    if ["false", "no", "f"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Some(false);
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    number.then(|| digits.parse::<f64>().ok()).flatten().map(|number| number != 0.0)
}

#[cfg(test)]
mod tests {
    use super::{IfCondition, boolean_of};
    use crate::ad::{Ad, Dialect, Expression, Value};
    use crate::eval::Context;
    use crate::syntax::{ParseOptions, parse_ad};
    use crate::transform::edited_ad::EditedAd;
    use crate::transform::edited_shapes::EditedShapes;
    use crate::transform::expander::MacroExpander;
    use crate::transform::macros::{MacroVariables, VariableTable};

    /// Returns whether a condition holds in an ad and without one, or why it cannot be told.
    fn holds(text: &str) -> String {
        let condition = match IfCondition::new(text, ParseOptions::new(Dialect::Condor)) {
            Ok(condition) => condition,
            Err(error) => return format!("{:?} {}", error.span.range(), error.message),
        };
        assert_eq!(condition.text(), text);
        let ad = b"[ a = 1; s = \"two\"; z = 0; no = false; t = \"\"; v = \"(1\" ]";
        let ads = [parse_ad(ad, ParseOptions::new(Dialect::Condor)).unwrap(), Ad::default()];
        let outer: VariableTable = [("x", "1"), ("nothing", "")].into_iter().collect();
        let (own, context) = (MacroVariables::default(), Context::new(Dialect::Condor));
        let [mut ad, mut none] = ads.map(|ad| EditedAd::new(&ad, &EditedShapes::default()));
        let within = condition.holds(&mut MacroExpander::new((&own, &outer), &mut ad, &context));
        let without = condition.holds_without_ad(&mut MacroExpander::new((&own, &outer), &mut none, &context));
        let shown = [within, without].map(|holds| holds.map_or_else(|failure| failure.message, |is| is.to_string()));
        let complex = if condition.is_complex() { ", complex" } else { "" };
        if shown[0] == shown[1] { format!("{}{complex}", shown[0]) } else { format!("{}{complex}", shown.join(", ")) }
    }

    #[test]
    fn a_condition_is_a_word_a_number_a_version_or_an_expression() {
        for (text, expected) in [
            ("true", "true"),
            (" Yes ", "true"),
            ("T", "true"),
            ("FALSE", "false"),
            ("no", "false"),
            ("f", "false"),
            ("!f", "true"),
            ("! f", "true"),
            (
                "!!f",
                "the condition is undefined, but it must be a boolean or a number, complex conditionals are not \
                 supported, complex",
            ),
            ("0", "false"),
            ("-0", "false"),
            ("0.0", "false"),
            ("-1", "true"),
            (".5", "true"),
            ("--1", "true, complex conditionals are not supported, complex"),
            ("3x", "0..2 this word alone is not a condition"),
            ("inf", "0..3 this word alone is not a condition"),
            ("", "0..0 a condition is missing"),
            ("  !  ", "5..5 a condition is missing"),
            ("defined", "false"),
            ("DEFINED x", "true"),
            ("defined nothing", "false"),
            ("defined y", "false"),
            ("!defined y", "true"),
            ("defined MY.a", "true, false"),
            ("defined MY.t", "false"),
            ("defined MY.b", "false"),
            ("defined true", "true"),
            ("defined 1.5", "true"),
            ("defined -5", "true"),
            ("defined x y", "0..11 `defined` takes the name of one variable or attribute"),
            ("defined -x", "0..10 `defined` takes the name of one variable or attribute"),
            ("definedx", "0..8 this word alone is not a condition"),
            ("  a", "2..3 this word alone is not a condition"),
            ("MY.a", "0..4 this word alone is not a condition"),
            ("my.a ", "0..4 this word alone is not a condition"),
            ("My", "0..2 this word alone is not a condition"),
            ("a == 1", "true, complex conditionals are not supported, complex"),
            ("! a == 1", "false, complex conditionals are not supported, complex"),
            ("a", "0..1 this word alone is not a condition"),
            ("(a)", "true, complex conditionals are not supported, complex"),
            ("(z)", "false, complex conditionals are not supported, complex"),
            (
                "(s)",
                "the condition is a string, but it must be a boolean or a number, complex conditionals are not \
                 supported, complex",
            ),
            ("(no)", "false, complex conditionals are not supported, complex"),
            ("a +", "3..3 expected an expression, found the end"),
            ("  ! a +", "7..7 expected an expression, found the end"),
            ("$(x)", "true"),
            ("! $(x)", "false"),
            ("!$(y)", "true"),
            ("$(y)", "false"),
            (" $(y) ", "false"),
            ("$(y)!", "true"),
            ("$(x) > 0", "true, complex conditionals are not supported, complex"),
            ("$(MY.v)", "`(1`: expected `)`, found the end, false"),
            ("$(MY.s)", "`two`: this word alone is not a condition, false"),
            ("defined $(y)", "false"),
            ("defined $(MY.s)", "false"),
            ("version > $(y:24.0)", "true"),
        ] {
            assert_eq!(holds(text), expected, "{text}");
        }
        for (text, expected) in [
            (
                "a",
                Some(
                    "write `if $(a)` for a variable, `if $(MY.a)` for an attribute, or compare \
            the name with a value",
                ),
            ),
            ("My.", Some("write `if $(My.)`, or compare the name with a value")),
            (
                "MY",
                Some(
                    "write `if $(MY)` for a variable, `if $(MY.MY)` for an attribute, or compare the name with a value",
                ),
            ),
            ("", Some("write `if defined MY.attribute` or `if expression`")),
            ("defined a b", Some("write `if defined MY.attribute`")),
        ] {
            let error = IfCondition::new(text, ParseOptions::new(Dialect::Condor)).unwrap_err();
            assert_eq!(error.help.as_deref(), expected, "{text}");
        }
    }

    /// These are rules of version 25.14.1.
    #[test]
    fn a_version_is_compared_by_its_numbers() {
        for (text, expected) in [
            ("< 25.14.0", Some(false)),
            ("< 25.14.1", Some(false)),
            ("< 25.14.2", Some(true)),
            ("<= 25.14.0", Some(false)),
            ("<= 25.14.1", Some(true)),
            ("> 25.14.1", Some(false)),
            ("> 25.14.0", Some(true)),
            (">= 25.14.2", Some(false)),
            (">= 25.14.1", Some(true)),
            ("== 25.14.1", Some(true)),
            ("= 25.14.1", Some(true)),
            ("25.14.1", Some(true)),
            ("== 25.14.2", Some(false)),
            ("!= 25.14.1", Some(false)),
            ("!= 25.14", Some(false)),
            ("!= 25.13", Some(true)),
            ("!>= 25.14.1", Some(false)),
            // Without its last number a version is equal to each of them.
            ("== 25.14", Some(true)),
            ("< 25.14", Some(false)),
            ("> 25.14", Some(false)),
            (">=v8.9", Some(true)),
            ("> 24.99", Some(true)),
            ("> 26.0", Some(false)),
            ("> 6.0", Some(true)),
            ("> 5.9", None),
            ("> 25", None),
            ("> 25.14.1.0", None),
            ("> 25.x", None),
            ("> 25.14.x", None),
            ("<> 25.14", None),
            ("", None),
        ] {
            let condition = IfCondition::new(&format!("version {text}"), ParseOptions::new(Dialect::Condor));
            assert_eq!(condition.is_ok(), expected.is_some(), "{text}");
            assert!(expected.is_none_or(|is| holds(&format!("version {text}")) == is.to_string()), "{text}");
        }
    }

    #[test]
    fn numbers_count_in_a_condition() {
        for (value, expected) in [
            (Value::Boolean(true), Some(true)),
            (Value::Boolean(false), Some(false)),
            (Value::Integer(0), Some(false)),
            (Value::Integer(-2), Some(true)),
            (Value::Real(0.0), Some(false)),
            (Value::Real(0.5), Some(true)),
            (Value::string("true"), None),
            (Value::Undefined, None),
        ] {
            assert_eq!(boolean_of(&value), expected, "{}", Expression::literal(value.clone()));
        }
    }
}
