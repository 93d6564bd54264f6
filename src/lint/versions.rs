//! Checks versions of HTCondor: whole version strings where a number is meant, and versions that are compared as strings.

use crate::ad::{BinaryOperator, Dialect, Expression, ExpressionKind, Name, Value};
use crate::constraint::ClauseOperand;
use crate::eval::BuiltinFunction;

use super::rules;
use super::short_text::short_text;
use super::slip::Slip;
use super::standard_attributes::StandardType;

/// Reports the comparison of a version with a whole `CondorVersion`, whose text begins with `$CondorVersion:`.
pub(super) fn check_call(function: &BuiltinFunction, arguments: &[Expression], dialect: Dialect) -> Option<Slip> {
    if !function.name.starts_with("version") {
        return None;
    }
    let is_whole = |argument: &&Expression| match ClauseOperand::of(argument) {
        Some(ClauseOperand::Other(name) | ClauseOperand::Own(name) | ClauseOperand::Unqualified(name)) => {
            is_version_attribute(name)
        }
        Some(ClauseOperand::Literal(Value::String(text))) => text.as_bytes().starts_with(b"$CondorVersion:"),
        _ => false,
    };
    let (whole, others): (Vec<&Expression>, Vec<&Expression>) = arguments.iter().partition(is_whole);
    let [place] = whole[..] else { return None };
    // Another attribute may be a whole version, too.
    if !others.iter().all(|other| other.as_literal().is_some()) {
        return None;
    }
    Some(whole_version(place, dialect))
}

/// Reports the comparison of a whole `CondorVersion` with a string such as `25.0`, and an order of versions by `<` or
/// `>=`, which compares letter by letter.
pub(super) fn check_comparison(
    comparison: &Expression,
    operator: BinaryOperator,
    operands: [&Expression; 2],
    dialect: Dialect,
) -> Option<Slip> {
    let version = |operand: &Expression| match operand.as_literal()? {
        Value::String(text) => Some(text.to_str().into_owned()),
        _ => None,
    };
    let (operator, subject, written) = match operands.map(version) {
        [None, Some(written)] => (operator, operands[0], written),
        [Some(written), None] => (operator.converse()?, operands[1], written),
        _ => return None,
    };
    let attribute = |operand: &Expression| match ClauseOperand::of(operand)? {
        ClauseOperand::Other(name) | ClauseOperand::Own(name) | ClauseOperand::Unqualified(name) => Some(name.clone()),
        ClauseOperand::Literal(_) => None,
    };
    let of_number = number_of_version(subject);
    let name = attribute(of_number.unwrap_or(subject))?;
    let is_whole = of_number.is_none() && is_version_attribute(&name);
    let number = written.strip_prefix("$CondorVersion:").unwrap_or(&written);
    let number = number.split_whitespace().next().filter(|number| number.starts_with(|c: char| c.is_ascii_digit()))?;
    let function = match operator {
        BinaryOperator::Less => "versionLT",
        BinaryOperator::LessEqual => "versionLE",
        BinaryOperator::Greater => "versionGT",
        BinaryOperator::GreaterEqual => "versionGE",
        _ if is_whole && number == written => return Some(whole_version(subject, dialect)),
        _ => return None,
    };
    let is_ordered =
        is_whole || (is_version(number) && matches!(StandardType::of(&name), None | Some(StandardType::String)));
    if !is_ordered || !dialect.is_condor() {
        return None;
    }
    let of_subject = if is_whole { version_number(subject) } else { subject.clone() };
    let rewrite = Expression::call(function, [of_subject, Expression::literal(Value::string(number))]);
    let rule = if is_whole && number == written { &rules::WHOLE_VERSION } else { &rules::VERSION_ORDER };
    let message = if is_whole && number == written {
        WHOLE
    } else {
        "strings compare letter by letter, so that \"10.0\" comes before \"9.0\""
    };
    let help = format!("write `{}`", short_text(&rewrite, dialect));
    Some(Slip::new(rule, comparison, message).with_help(help).with_rewrite(rewrite))
}

/// Whether a text is a version such as `3.10.0`: numbers with points between them.
fn is_version(text: &str) -> bool {
    text.contains('.') && text.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// What a whole version is.
const WHOLE: &str = "a whole version string begins with `$CondorVersion:`, and not with a number";

/// Returns the expression for the number in a whole version.
fn version_number(whole: &Expression) -> Expression {
    let one = Expression::literal(Value::Integer(1));
    ExpressionKind::Subscript(Expression::call("split", [whole.clone()]), one).into()
}

/// Returns the whole version of which an expression takes the number: `CondorVersion` of `split(CondorVersion)[1]`. `None` for
/// any other expression.
fn number_of_version(expression: &Expression) -> Option<&Expression> {
    let ExpressionKind::Subscript(list, place) = expression.without_parentheses().kind() else { return None };
    match list.without_parentheses().kind() {
        ExpressionKind::Call(function, arguments) if function.is("split") => {
            arguments.first().filter(|_| place.as_literal() == Some(&Value::Integer(1)))
        }
        _ => None,
    }
}

/// Returns the slip about a whole version where the number in it was meant.
fn whole_version(place: &Expression, dialect: Dialect) -> Slip {
    let rewrite = version_number(place);
    let help = format!(
        "write `{}` for its version number, and compare versions with functions such as versionGE()",
        short_text(&rewrite, dialect)
    );
    Slip::new(&rules::WHOLE_VERSION, place, WHOLE).with_help(help).with_rewrite(rewrite)
}

/// Whether an attribute has the whole version of an HTCondor daemon or tool.
fn is_version_attribute(name: &Name) -> bool {
    ["CondorVersion", "StarterVersion", "SubmitVersion"].into_iter().any(|known| name.is(known))
}
