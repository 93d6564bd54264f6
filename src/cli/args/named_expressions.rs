//! Lists of expressions of the command line, some with names: `Name,Share=Cpus/8.0`.

use classad::ad::Expression;
use rustc_hash::FxHashSet;

use crate::cli::io::argument_text;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::session::Session;

/// Parses lists of expressions, each with its name if it has one (`NAME=EXPR`) and its text.
pub fn named_expressions(
    session: &mut Session,
    option: &str,
    lists: &[String],
) -> Result<Vec<(Option<String>, String, Expression)>, Failure> {
    let parts = lists.iter().flat_map(|list| split_expressions(list));
    let named = parts.map(|part| {
        let (name, text) = split_name(part);
        Ok((name.map(str::to_owned), text.to_owned(), argument_text::parse_argument_expression(session, option, text)?))
    });
    named.collect()
}

/// Splits `NAME=EXPR` into the name, if there is one, and the expression. `A == B`, `A =?= B` and `A =!= B` have none.
fn split_name(text: &str) -> (Option<&str>, &str) {
    let Some((name, expression)) = text.split_once('=') else { return (None, text) };
    let is_name = name.trim().starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.trim().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_operator = expression.starts_with('=') || expression.starts_with("?=") || expression.starts_with("!=");
    if is_name && !is_operator { (Some(name.trim()), expression.trim()) } else { (None, text) }
}

/// Splits a list of expressions at commas, except commas in brackets or in strings.
pub fn split_expressions(list: &str) -> Vec<&str> {
    let (mut depth, mut quote, mut is_escaped) = (0_i32, None, false);
    let parts = list.split(|c: char| {
        match (c, quote) {
            _ if std::mem::take(&mut is_escaped) => {}
            ('\\', Some(_)) => is_escaped = true,
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('(' | '[' | '{', None) => depth += 1,
            (')' | ']' | '}', None) => depth -= 1,
            _ => {}
        }
        c == ',' && quote.is_none() && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// Refuses columns of equal names: in JSON, one would replace the other, and `--sort` could mean both.
pub fn refuse_equal_names<'n>(names: impl IntoIterator<Item = &'n String>) -> Result<(), Failure> {
    let mut known = FxHashSet::default();
    match names.into_iter().find(|name| !known.insert(*name)) {
        Some(name) => refuse(format!("two columns have the name `{name}`: rename one with NAME=EXPR")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{split_expressions, split_name};

    #[test]
    fn a_name_stands_before_the_first_equals_sign() {
        for (text, name, expression) in [
            ("Name", None, "Name"),
            ("Share=Cpus/8.0", Some("Share"), "Cpus/8.0"),
            (" _a1 = b == c", Some("_a1"), "b == c"),
            ("a b=c", None, "a b=c"),
            ("1a=c", None, "1a=c"),
            ("=c", None, "=c"),
            ("\u{e4}=c", None, "\u{e4}=c"),
            ("a\u{e4}=c", None, "a\u{e4}=c"),
            ("a.b=c", None, "a.b=c"),
            ("a==c", None, "a==c"),
            ("a=?=c", None, "a=?=c"),
            ("a=!=c", None, "a=!=c"),
            ("a=!c", Some("a"), "!c"),
            ("a=?c", Some("a"), "?c"),
            ("a<=c", None, "a<=c"),
        ] {
            assert_eq!(split_name(text), (name, expression), "{text}");
        }
    }

    #[test]
    fn commas_in_brackets_and_strings_separate_nothing() {
        for (list, expected) in [
            ("", &[][..]),
            (" a , b ,", &["a", "b"]),
            ("f(a, b), c", &["f(a, b)", "c"]),
            ("{ a, [ b = 1, 2 ] }, c", &["{ a, [ b = 1, 2 ] }", "c"]),
            ("\"a, b\", c", &["\"a, b\"", "c"]),
            ("'a, \"b', c", &["'a, \"b'", "c"]),
            ("\"a \\\", b\", c", &["\"a \\\", b\"", "c"]),
            ("\"a \\\\\", c", &["\"a \\\\\"", "c"]),
            ("\"(\", c", &["\"(\"", "c"]),
            ("\"a)\", (b, c)", &["\"a)\"", "(b, c)"]),
            ("a\\, b", &["a\\", "b"]),
        ] {
            assert_eq!(split_expressions(list), expected, "{list}");
        }
    }
}
