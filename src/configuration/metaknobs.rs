//! HTCondor's metaknobs: what `use CATEGORY:NAME(arguments)` stands for.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::ad::closest_names;

/// The texts of the metaknobs, each below a line `[CATEGORY:NAME]`.
const METAKNOBS: &str = include_str!("metaknobs.config");

/// Maximum number of times that arguments are put in. What is put in may name arguments, too, as in a default.
const MAX_PASSES: usize = 10;

/// The metaknobs: names and texts.
static TABLE: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let parts = METAKNOBS.split("\n[").skip(1);
    parts.filter_map(|part| part.split_once("]\n")).collect()
});

/// Returns the text of a metaknob with its arguments, as the statements that it stands for.
///
/// # Errors
///
/// The most similar name, if there is one: there is no such metaknob.
pub(super) fn metaknob(category: &str, name: &str, arguments: &str) -> Result<String, Option<&'static str>> {
    let wanted = format!("{}:{}", category.trim(), name);
    match TABLE.iter().find(|(name, _)| name.eq_ignore_ascii_case(&wanted)) {
        Some((_, text)) => Ok(with_arguments(text, arguments)),
        None => Err(closest_names(&wanted, TABLE.iter().map(|(name, _)| *name)).first().copied()),
    }
}

/// Returns a line with `true` or `false` in place of `defined use CATEGORY:NAME`, which no macro scope knows.
pub(super) fn with_known_use(line: &str) -> Cow<'_, str> {
    let (word, rest) = line.split_at(line.find(|c: char| c.is_ascii_whitespace()).unwrap_or(line.len()));
    if !["if", "elif"].iter().any(|known| word.eq_ignore_ascii_case(known)) {
        return Cow::Borrowed(line);
    }
    let condition = rest.trim_ascii();
    let (sign, condition) = condition.strip_prefix('!').map_or(("", condition), |rest| ("!", rest.trim_ascii()));
    let mut words = condition.splitn(3, |c: char| c.is_ascii_whitespace());
    let is_use =
        ["defined", "use"].iter().all(|known| words.next().is_some_and(|word| word.eq_ignore_ascii_case(known)));
    if !is_use {
        return Cow::Borrowed(line);
    }
    let is_known = is_metaknob(words.next().unwrap_or_default());
    Cow::Owned(format!("{word} {sign}{is_known}"))
}

/// Whether there is a metaknob `CATEGORY:NAME`, or a category of this name.
fn is_metaknob(named: &str) -> bool {
    let (category, name) = named.split_once(':').map_or((named.trim(), ""), |(category, name)| (category, name.trim()));
    let fits = |known: &str| match known.split_once(':') {
        Some((known, _)) if name.is_empty() => known.eq_ignore_ascii_case(category),
        Some((known, of_category)) => {
            known.eq_ignore_ascii_case(category.trim()) && of_category.eq_ignore_ascii_case(name)
        }
        None => false,
    };
    TABLE.iter().any(|(known, _)| fits(known))
}

/// Returns the metaknobs that a list names, with their arguments: `A, B(1, 2) C`.
pub(super) fn named_knobs(list: &str) -> Vec<(&str, &str)> {
    let mut named = Vec::new();
    let mut rest = list;
    loop {
        rest = rest.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
        let end = rest.find(|c: char| c == ',' || c == '(' || c.is_whitespace()).unwrap_or(rest.len());
        if end == 0 && !rest.starts_with('(') {
            return named;
        }
        let (name, behind) = rest.split_at(end);
        let (arguments, after) = match behind.trim_start().strip_prefix('(') {
            Some(opened) => {
                let close = closing_brace(opened);
                (&opened[..close], opened.get(close + 1..).unwrap_or_default())
            }
            None => ("", behind),
        };
        named.push((name, arguments));
        rest = after;
    }
}

/// Returns the offset of the `)` or `]` that closes what was opened before a text.
fn closing_brace(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' if depth == 0 => return at,
            ')' | ']' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// Replaces `$(1)`, `$(1:default)`, `$(1?)`, `$(1+)`, `$(0)` and `$(0#)` in a text.
fn with_arguments(text: &str, arguments: &str) -> String {
    let arguments = arguments.trim();
    let list: Vec<&str> = if arguments.is_empty() { Vec::new() } else { arguments.split(',').map(str::trim).collect() };
    let mut text = Cow::Borrowed(text);
    for _ in 0..MAX_PASSES {
        match replaced_once(&text, arguments, &list) {
            Some(next) => text = Cow::Owned(next),
            None => break,
        }
    }
    text.into_owned()
}

fn replaced_once(text: &str, whole: &str, list: &[&str]) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    let mut is_changed = false;
    while let Some(at) = rest.find("$(") {
        let body = &rest[at + 2..];
        let digits = body.bytes().take_while(u8::is_ascii_digit).count();
        let behind = &body[digits..];
        let number = body[..digits].parse::<usize>().ok().filter(|_| behind.starts_with([')', ':', '?', '+', '#']));
        let Some(number) = number else {
            out.push_str(&rest[..at + 2]);
            rest = body;
            continue;
        };
        let close = closing_brace(behind);
        let (sign, default) = match behind[..close].split_once(':') {
            Some((sign, default)) => (sign, default),
            None => (&behind[..close], ""),
        };
        let from = number.saturating_sub(1);
        let value = match (number, sign) {
            (0, "#") => list.len().to_string(),
            (0, _) => whole.to_owned(),
            (_, "+" | "#") => list.get(from..).unwrap_or_default().join(", "),
            _ => list.get(from).copied().unwrap_or(default).to_owned(),
        };
        let value = if sign.contains('?') { u8::from(!value.trim().is_empty()).to_string() } else { value };
        out.push_str(&rest[..at]);
        out.push_str(if value.is_empty() && sign == "+" { default } else { &value });
        rest = behind.get(close + 1..).unwrap_or_default();
        is_changed = true;
    }
    out.push_str(rest);
    is_changed.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::{is_metaknob, metaknob, named_knobs, with_arguments};

    #[test]
    fn metaknobs_have_arguments() {
        assert_eq!(named_knobs("A, B(1, (2, 3)) C"), [("A", ""), ("B", "1, (2, 3)"), ("C", "")]);
        let text = "$(0)|$(0?)|$(0#)|$(1)|$(1?)|$(1+)|$(2)|$(2?)|$(2+)|$(3:x)|$(4:y)|$(X)";
        assert_eq!(with_arguments(text, "arg1, , arg3"), "arg1, , arg3|1|3|arg1|1|arg1, , arg3||0|, arg3|arg3|y|$(X)");
        assert_eq!(with_arguments(text, ""), "|0|0||0|||0||x|y|$(X)");
        assert!(metaknob("role", "execute", "").unwrap().contains("DAEMON_LIST=$(DAEMON_LIST) STARTD"));
        assert_eq!(metaknob("ROLE", "Exekute", ""), Err(Some("ROLE:Execute")));
        let named = ["ROLE:Execute", "role : execute", "FEATURE", "ROLE:Exekute", "nocat:x", "", "ROLE:Execut"];
        assert_eq!(named.map(is_metaknob), [true, true, true, false, false, false, false]);
    }
}
