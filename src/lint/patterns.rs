//! Checks patterns and lists in strings: the arguments of functions that take them, and comparisons with patterns.

use crate::ad::{BinaryOperator, ByteString, Dialect, Expression, ExpressionKind, Name, UnaryOperator, Value};
use crate::constraint::ClauseOperand;
use crate::eval::{BuiltinFunction, CompiledPattern, PatternOptions, find_function_in};
use crate::syntax::{Style, expression_text};

use super::rules;
use super::short_text::short_text;
use super::slip::Slip;
use super::slips::is_comparison;
use super::subexpressions::subexpressions;
use super::versions;

/// Checks the patterns, the lists and the versions in an expression.
pub(super) fn check(expression: &Expression, dialect: Dialect, found: &mut Vec<Slip>) {
    for part in subexpressions(expression) {
        if let ExpressionKind::Binary(operator, left, right) = part.kind() {
            let found_in = |operand, other| check_compared_glob(part, *operator, operand, other, dialect);
            found.extend(found_in(left, right).or_else(|| found_in(right, left)));
            if is_comparison(*operator) {
                found.extend(versions::check_comparison(part, *operator, [left, right], dialect));
            }
        }
        if let ExpressionKind::Call(name, arguments) = part.kind()
            && let Some(function) =
                find_function_in(name, dialect).filter(|function| function.accepts_count(arguments.len()))
        {
            found.extend(check_pattern(part, function, arguments, dialect));
            found.extend(check_substitute(function, arguments));
            found.extend(versions::check_call(function, arguments, dialect));
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
    let [pattern, string, ..] = arguments else { return None };
    if function.parameters().take(2).ne(["pattern", "string"]) || !matches!(function.name, "regexp" | "regexps") {
        return None;
    }
    let Some(Value::String(text)) = string.as_literal() else { return None };
    let is_attribute = ClauseOperand::of(pattern).is_some_and(|operand| !matches!(operand, ClauseOperand::Literal(_)));
    if !is_attribute || !has_pattern_signs(text) {
        return None;
    }
    let rewrite = with_arguments_exchanged(call)?;
    let message = format!("{} takes the pattern first, then the string", function.name);
    let help = format!("write `{}`", short_text(&rewrite, dialect));
    Some(Slip::new(&rules::ARGUMENT_ORDER, call, message).with_help(help).with_rewrite(rewrite))
}

/// Reports a list with `;`, and a call of `stringListMember()` with the arguments in the wrong order.
fn check_word_list(
    call: &Expression,
    function: &BuiltinFunction,
    arguments: &[Expression],
    dialect: Dialect,
) -> Option<Slip> {
    let is_member = matches!(function.name, "stringListMember" | "stringListIMember");
    if let Some(slip) = check_item_and_list(call, function, arguments, dialect).filter(|_| is_member) {
        return Some(slip);
    }
    let place = usize::from(is_member);
    if let Some(slip) = check_separator(call, function, arguments, place).filter(|_| is_member) {
        return Some(slip);
    }
    // Without a last argument, commas and spaces separate.
    if !(is_member || function.name.starts_with("stringList")) || arguments.len() != place + 1 {
        return None;
    }
    let list = &arguments[place];
    let rewrite = with_commas(list)?;
    let message = "commas and spaces separate the items of a list, not `;`: this is one item";
    let help = format!("write {}", short_text(&rewrite, dialect));
    Some(Slip::new(&rules::LIST_SEPARATOR, list, message).with_help(help).with_rewrite(rewrite))
}

/// Reports a call such as `stringListMember(Site, "CHTC,UNL", ";")`, whose list at `place` has commas and none of the separators.
fn check_separator(
    call: &Expression,
    function: &BuiltinFunction,
    arguments: &[Expression],
    place: usize,
) -> Option<Slip> {
    let string = |argument: &Expression| match argument.as_literal() {
        Some(Value::String(text)) => Some(text.to_str().into_owned()),
        _ => None,
    };
    let (list, separators) = (string(arguments.get(place)?)?, string(arguments.get(place + 1)?)?);
    if separators.is_empty()
        || separators.contains(',')
        || !list.contains(',')
        || list.contains(|c| separators.contains(c))
    {
        return None;
    }
    let rewrite = Expression::call(function.name, arguments[..=place].iter().cloned());
    let message = format!("`{separators}` separates the items here, but the list has commas: this is one item");
    let help = format!("write `{}`", short_text(&rewrite, Dialect::Condor));
    Some(Slip::new(&rules::LIST_SEPARATOR, call, message).with_help(help).with_rewrite(rewrite))
}

/// Reports a call such as `stringListMember("CHTC, UNL", Site)` or `stringListMember(DESIRED_Sites, "UNL")`, whose first
/// arguments are exchanged, and one that seeks several items at once, such as `stringListMember("a;b", SiteList)`.
fn check_item_and_list(
    call: &Expression,
    function: &BuiltinFunction,
    arguments: &[Expression],
    dialect: Dialect,
) -> Option<Slip> {
    let attribute = |operand: &Expression| match ClauseOperand::of(operand)? {
        ClauseOperand::Other(name) | ClauseOperand::Own(name) | ClauseOperand::Unqualified(name) => Some(name.clone()),
        ClauseOperand::Literal(_) => None,
    };
    let string = |operand: &Expression| match operand.as_literal() {
        Some(Value::String(text)) => Some(text.to_str().into_owned()),
        _ => None,
    };
    let [first, second, rest @ ..] = arguments else { return None };
    let items = string(first).filter(|text| text.contains([',', ';']));
    let is_item = |text: String| !text.contains([',', ' ', ';']);
    let (message, rewrite) = match (items, attribute(first), attribute(second)) {
        (Some(items), _, Some(list)) if is_list_attribute(&list) && rest.is_empty() => {
            let items = items.split([',', ';']).map(str::trim).filter(|item| !item.is_empty());
            let sought =
                |item| Expression::call(function.name, [Expression::literal(Value::string(item)), second.clone()]);
            let rewrite = items.map(sought).reduce(|one, next| Expression::binary(BinaryOperator::And, one, next))?;
            ("seeks one item, not several", rewrite)
        }
        (Some(_), _, Some(_)) => {
            let list = with_commas(first).filter(|_| rest.is_empty()).unwrap_or_else(|| first.clone());
            let exchanged = [second.clone(), list].into_iter().chain(rest.iter().cloned());
            ("takes the item first, then the list", Expression::call(function.name, exchanged))
        }
        (_, Some(name), _) if is_list_attribute(&name) && string(second).is_some_and(is_item) => {
            ("takes the item first, then the list", with_arguments_exchanged(call)?)
        }
        _ => return None,
    };
    let help = format!("write `{}`", short_text(&rewrite, dialect));
    let message = format!("{} {message}", function.name);
    Some(Slip::new(&rules::ARGUMENT_ORDER, call, message).with_help(help).with_rewrite(rewrite))
}

/// Returns a list in a string with commas in place of `;`. `None` for any other expression.
pub(super) fn with_commas(list: &Expression) -> Option<Expression> {
    let Some(Value::String(text)) = list.as_literal() else { return None };
    let text = text.to_str();
    let is_separated = text.contains(';') && !text.contains(',');
    is_separated
        .then(|| Expression::literal(Value::string(text.split(';').map(str::trim).collect::<Vec<_>>().join(","))))
}

/// Returns the call of a function that takes an item or a pattern first with its first two arguments exchanged. `None`
/// for any other expression.
#[must_use]
pub fn with_arguments_exchanged(call: &Expression) -> Option<Expression> {
    let ExpressionKind::Call(function, arguments) = call.kind() else { return None };
    let [first, second, rest @ ..] = &**arguments else { return None };
    let is_ordered = ["stringListMember", "stringListIMember", "regexp", "member", "identicalMember"]
        .iter()
        .any(|known| function.is(known));
    is_ordered.then(|| Expression::call(function.as_str(), [second, first].into_iter().chain(rest).cloned()))
}

/// Whether an attribute is a list in a string, as far as its name tells.
pub(super) fn is_list_attribute(name: &Name) -> bool {
    let name = name.as_str().to_ascii_lowercase();
    ["methods", "list", "desired_sites", "undesired_sites"].iter().any(|ending| name.ends_with(ending))
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
