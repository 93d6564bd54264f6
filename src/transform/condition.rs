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
