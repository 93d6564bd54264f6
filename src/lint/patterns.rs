//! Checks patterns and versions: the arguments of functions that take them, and comparisons with patterns.

use crate::ad::{BinaryOperator, ByteString, Dialect, Expression, ExpressionKind, Name, UnaryOperator, Value};
use crate::constraint::ClauseOperand;
use crate::eval::{BuiltinFunction, CompiledPattern, PatternOptions, find_function_in};
use crate::syntax::{Style, expression_text};

use super::expressions::short_text;
use super::rules;
use super::slip::Slip;
use super::slips::is_comparison;
use super::subexpressions::subexpressions;

/// Checks the regular expressions and versions in the calls of an expression.
pub(super) fn check(expression: &Expression, dialect: Dialect, found: &mut Vec<Slip>) {
    for part in subexpressions(expression) {
        if let ExpressionKind::Binary(operator, left, right) = part.kind() {
            let found_in = |operand, other| check_compared_glob(part, *operator, operand, other, dialect);
            found.extend(found_in(left, right).or_else(|| found_in(right, left)));
            if is_comparison(*operator) {
                let found_in = |whole, other| check_compared_version(whole, other, dialect);
                found.extend(found_in(left, right).or_else(|| found_in(right, left)));
            }
        }
        if let ExpressionKind::Call(name, arguments) = part.kind()
            && let Some(function) =
                find_function_in(name, dialect).filter(|function| function.accepts_count(arguments.len()))
        {
            found.extend(check_pattern(part, function, arguments, dialect));
            found.extend(check_substitute(function, arguments));
            found.extend(check_versions(function, arguments, dialect));
            found.extend(check_word_list(part, function, arguments, dialect));
        }
    }
}

/// Reports a regular expression that does not compile, that looks like a pattern for file names, or that was exchanged
/// with the string.
fn check_pattern(
    call: &Expression,
    function: &BuiltinFunction,
    arguments: &[Expression],
    dialect: Dialect,
) -> Option<Slip> {
    let index = |name: &str| function.parameters().position(|parameter| parameter == name);
    let place = arguments.get(index("pattern")?)?;
    let letters = index("options").and_then(|index| arguments.get(index));
    let options = match letters.map(|letters| letters.as_literal()) {
        None => PatternOptions::of(b""),
        Some(Some(Value::String(letters))) => PatternOptions::of(letters.as_bytes()),
        Some(_) => return None,
    };
    let Some(Value::String(text)) = place.as_literal() else {
        return exchanged(call, function, arguments, dialect);
    };
    let glob = || glob_as_pattern(&text.to_str());
    let rewritten = |slip: Slip, pattern: String| {
        let literal = Expression::literal(Value::string(pattern));
        let help = format!("write {} for `{}`", short_text(&literal, dialect), text.to_str());
        slip.with_help(help).with_rewrite(literal)
    };
    let slip = match CompiledPattern::get(text, options) {
        Err(reason) => Slip::new(&rules::PATTERN, place, format!("{reason}; the result is an error")),
        Ok(_) if glob().is_some() => {
            let message = "this looks like a shell pattern; in a regular expression, `*` repeats what precedes it";
            Slip::new(&rules::GLOB, place, message)
        }
        Ok(_) => return None,
    };
    Some(match glob() {
        Some(pattern) => rewritten(slip, pattern),
        None => slip,
    })
}

/// Reports a substitute such as `"\1"`, where the escape is a character and not the text of a group.
fn check_substitute(function: &BuiltinFunction, arguments: &[Expression]) -> Option<Slip> {
    let index = function.parameters().position(|parameter| parameter == "substitute")?;
    let place = arguments.get(index)?;
    let Some(Value::String(text)) = place.as_literal() else { return None };
    let text = text.to_str();
    let is_escape = |c: char| ('\u{1}'..='\u{7}').contains(&c);
    let number = u32::from(text.chars().find(|c| is_escape(*c))?);
    let groups = text.chars().map(|c| if is_escape(c) { format!("\\{}", u32::from(c)) } else { c.to_string() });
    let rewrite = Expression::literal(Value::string(groups.collect::<String>()));
    let message = format!("`\\{number}` in a string is the character with code {number}, not a group");
    // Only strings with escapes can have such a character.
    let help = format!("write `{}`", expression_text(&rewrite, Style::New));
    Some(Slip::new(&rules::PATTERN, place, message).with_help(help).with_rewrite(rewrite))
}

/// Reports the comparison of an attribute with a pattern for file names, such as `Machine == "node*.cern.ch"`.
fn check_compared_glob(
    whole: &Expression,
    operator: BinaryOperator,
    literal: &Expression,
    other: &Expression,
    dialect: Dialect,
) -> Option<Slip> {
    let Some(Value::String(text)) = literal.as_literal() else { return None };
    let text = text.to_str();
    // A `*` between letters may be meant as it is.
    let is_name = text.starts_with('*') || text.ends_with('*') || text.contains(['.', '@', '-', '/']);
    let pattern = glob_as_pattern(&text).filter(|pattern| is_name && pattern.len() > 2)?;
    if matches!(ClauseOperand::of(other), None | Some(ClauseOperand::Literal(_))) {
        return None;
    }
    let options = Expression::literal(Value::string("i"));
    let call = Expression::call("regexp", [Expression::literal(Value::string(pattern)), other.clone(), options]);
    let rewrite = match operator {
        BinaryOperator::Equal | BinaryOperator::Is => call,
        BinaryOperator::NotEqual | BinaryOperator::Isnt => Expression::unary(UnaryOperator::Not, call),
        _ => return None,
    };
    let symbol = operator.symbol_in(dialect);
    let message = format!("`{symbol}` compares whole strings: `*` is not a wildcard");
    let help = format!("write `{}`", short_text(&rewrite, dialect));
    Some(Slip::new(&rules::GLOB, whole, message).with_help(help).with_rewrite(rewrite))
}

/// Reports a call such as `regexp(Machine, ".*cern.ch")`, whose first arguments are exchanged.
fn exchanged(
    call: &Expression,
    function: &BuiltinFunction,
    arguments: &[Expression],
    dialect: Dialect,
) -> Option<Slip> {
    let [pattern, string, rest @ ..] = arguments else { return None };
    if function.parameters().take(2).ne(["pattern", "string"]) || !matches!(function.name, "regexp" | "regexps") {
        return None;
    }
    let Some(Value::String(text)) = string.as_literal() else { return None };
    let is_attribute = ClauseOperand::of(pattern).is_some_and(|operand| !matches!(operand, ClauseOperand::Literal(_)));
    if !is_attribute || !has_pattern_signs(text) {
        return None;
    }
    let rewrite = Expression::call(function.name, [string, pattern].into_iter().chain(rest).cloned());
    let message = format!("{} takes the pattern first, then the string", function.name);
    let help = format!("write `{}`", short_text(&rewrite, dialect));
    Some(Slip::new(&rules::ARGUMENT_ORDER, call, message).with_help(help).with_rewrite(rewrite))
}

/// Reports a call such as `stringListMember("CHTC, UNL", Site)`, whose first arguments are exchanged: the text with
/// commas must be the list.
fn check_word_list(
    call: &Expression,
    function: &BuiltinFunction,
    arguments: &[Expression],
    dialect: Dialect,
) -> Option<Slip> {
    let [list, word, rest @ ..] = arguments else { return None };
    if !matches!(function.name, "stringListMember" | "stringListIMember") {
        return None;
    }
    let Some(Value::String(text)) = list.as_literal() else { return None };
    let is_attribute = ClauseOperand::of(word).is_some_and(|operand| !matches!(operand, ClauseOperand::Literal(_)));
    if !is_attribute || !text.as_bytes().contains(&b',') {
        return None;
    }
    let rewrite = Expression::call(function.name, [word, list].into_iter().chain(rest).cloned());
    let message = format!("{} takes the item first, then the list", function.name);
    let help = format!("write `{}`", short_text(&rewrite, dialect));
    Some(Slip::new(&rules::ARGUMENT_ORDER, call, message).with_help(help).with_rewrite(rewrite))
}

/// Whether a string has signs of a regular expression that usual strings have not.
fn has_pattern_signs(text: &ByteString) -> bool {
    let text = text.to_str();
    text.starts_with('^')
        || text.ends_with('$')
        || [".*", ".+", "[0-9", "[a-z", "\\.", "\\d", "|"].into_iter().any(|sign| text.contains(sign))
}

/// Returns the regular expression for a pattern for file names, such as `^slot.*@` for `slot*@`. `None` if the text
/// has signs of a regular expression, or no `*` for any text.
fn glob_as_pattern(text: &str) -> Option<String> {
    let has_other_signs = text.contains(['^', '$', '[', ']', '(', ')', '{', '}', '|', '\\', '+']);
    let stars: Vec<usize> = text.match_indices('*').map(|(place, _)| place).collect();
    let is_glob = |place: &usize| match text[..*place].chars().next_back() {
        None => true,
        // A repeated character, as in `ab*c`, is rare; a repeated sign such as `-*` or `_*` is not.
        Some(before) => before.is_alphanumeric() || matches!(before, '@' | '-' | '_' | '/' | ':'),
    };
    // `.*` at one place shows that regular expressions are known.
    if has_other_signs || stars.is_empty() || !stars.iter().all(is_glob) {
        return None;
    }
    let mut pattern = String::new();
    for character in text.chars() {
        match character {
            '*' => pattern.push_str(".*"),
            '.' => pattern.push_str("\\."),
            '?' => pattern.push('.'),
            other => pattern.push(other),
        }
    }
    let first_anchor = if text.starts_with('*') { "" } else { "^" };
    let last_anchor = if text.ends_with('*') { "" } else { "$" };
    let pattern = pattern.strip_prefix(".*").unwrap_or(&pattern);
    let pattern = pattern.strip_suffix(".*").unwrap_or(pattern);
    Some(format!("{first_anchor}{pattern}{last_anchor}"))
}

/// Reports the comparison of a version with a whole `CondorVersion`, whose text begins with `$CondorVersion:`.
fn check_versions(function: &BuiltinFunction, arguments: &[Expression], dialect: Dialect) -> Option<Slip> {
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

/// Reports the comparison of a whole `CondorVersion` with a string such as `25.0`.
fn check_compared_version(whole: &Expression, other: &Expression, dialect: Dialect) -> Option<Slip> {
    let is_number = match other.as_literal()? {
        Value::String(text) => text.as_bytes().first().is_some_and(u8::is_ascii_digit),
        _ => false,
    };
    match ClauseOperand::of(whole)? {
        ClauseOperand::Other(name) | ClauseOperand::Own(name) | ClauseOperand::Unqualified(name)
            if is_number && is_version_attribute(name) =>
        {
            Some(whole_version(whole, dialect))
        }
        _ => None,
    }
}

/// Returns the slip about a whole version where the number in it was meant.
fn whole_version(place: &Expression, dialect: Dialect) -> Slip {
    let one = Expression::literal(Value::Integer(1));
    let rewrite: Expression = ExpressionKind::Subscript(Expression::call("split", [place.clone()]), one).into();
    let message = "a string such as `$CondorVersion: 25.0.1 2025-09-01 $` does not begin with a number";
    let help = format!(
        "write `{}` for its version number, and compare versions with functions such as versionGE()",
        short_text(&rewrite, dialect)
    );
    Slip::new(&rules::WHOLE_VERSION, place, message).with_help(help).with_rewrite(rewrite)
}

/// Whether an attribute has the whole version of an HTCondor daemon or tool.
fn is_version_attribute(name: &Name) -> bool {
    ["CondorVersion", "StarterVersion", "SubmitVersion"].into_iter().any(|known| name.is(known))
}
