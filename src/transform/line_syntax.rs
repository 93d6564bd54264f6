//! Parts of a line that many statements have, and the errors of lines that are not statements.

use crate::format::Problem;

use super::keywords::{Keyword, error, skip_blank};

/// Returns the byte offset of the second operand. Skips a `=` or a comma before it if a blank follows, as in
/// `SET a = 1`.
pub(super) fn operand_start(text: &str, at: usize) -> usize {
    let start = skip_blank(text, at);
    let behind = text[start..].strip_prefix(['=', ',']);
    let is_alone = behind.is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_whitespace()));
    if is_alone { skip_blank(text, start + 1) } else { start }
}

/// Returns the problem of a line that does not begin with a keyword.
pub(super) fn unknown_line(text: &str, word: usize, behind: usize) -> Problem {
    let first = &text[..word];
    let problem = |message: String| error(0..word.max(1), message);
    if first.is_empty() {
        return problem("a line cannot begin with this".to_owned());
    }
    let is_directive = ["include", "use", "error", "warning"].iter().any(|word| first.eq_ignore_ascii_case(word));
    if is_directive && text[behind..].contains(':') {
        return problem(format!("`{first} :` is not supported in rules"));
    }
    let problem = problem(format!("`{first}` is not a keyword"));
    if text[word..].starts_with(':') {
        return problem.with_help("write `=` to set a variable");
    }
    match Keyword::most_similar(first) {
        Some(near) => problem.with_help(format!("did you mean {near}?")),
        None => problem.with_help("a line begins with a keyword such as SET, or reads `variable = text`"),
    }
}

/// Reads `+=`, or `+,=` and its kin, at the beginning of a text. Returns what stands between the appended texts, and the
/// byte offset behind the sign; `None` for other texts.
pub(crate) fn appending(text: &str) -> Option<(String, usize)> {
    let rest = text.strip_prefix('+')?;
    let sign = rest.chars().next().filter(|c| ",;|&*".contains(*c));
    let count = sign.map_or(0, |sign| rest.chars().take(2).take_while(|c| *c == sign).count());
    rest[count..].strip_prefix('=')?;
    let between = match count {
        0 => " ".to_owned(),
        1 => rest[..1].to_owned(),
        _ => format!(" {} ", &rest[..2]),
    };
    Some((between, 1 + count + 1))
}

#[cfg(test)]
mod tests {
    use super::{appending, operand_start, unknown_line};

    #[test]
    fn an_equals_sign_or_a_comma_may_stand_before_the_second_operand() {
        for (text, expected) in [
            ("A 1", "1"),
            ("A   1", "1"),
            ("A = 1", "1"),
            ("A , 1", "1"),
            ("A =1", "=1"),
            ("A = = 1", "= 1"),
            ("A =", ""),
            ("A", ""),
            ("A == 1", "== 1"),
        ] {
            assert_eq!(&text[operand_start(text, 1)..], expected, "{text}");
        }
    }

    #[test]
    fn what_is_appended_stands_behind_what_the_sign_says() {
        for (text, expected) in [
            ("+= a", Some((" ", 2))),
            ("+,= a", Some((",", 3))),
            ("+;=", Some((";", 3))),
            ("+|=", Some(("|", 3))),
            ("+&=", Some(("&", 3))),
            ("+*=", Some(("*", 3))),
            ("+&&= a", Some((" && ", 4))),
            ("+||= a", Some((" || ", 4))),
            ("+,,= a", Some((" ,, ", 4))),
            ("+,;= a", None),
            ("+&&&= a", None),
            ("+-= a", None),
            ("+ = a", None),
            ("+", None),
            ("= a", None),
            ("", None),
        ] {
            assert_eq!(appending(text), expected.map(|(between, end): (&str, _)| (between.to_owned(), end)), "{text}");
        }
    }

    #[test]
    fn a_line_that_is_none_is_told_with_what_is_meant() {
        for (text, word, expected) in [
            ("= 1", 0, "0..1 a line cannot begin with this"),
            ("include : x", 7, "0..7 `include :` is not supported in rules"),
            ("USE x : y", 3, "0..3 `USE :` is not supported in rules"),
            ("error : x", 5, "0..5 `error :` is not supported in rules"),
            ("warning x:", 7, "0..7 `warning :` is not supported in rules"),
            (
                "include x",
                7,
                "0..7 `include` is not a keyword; a line begins with a keyword such as SET, or reads `variable = text`",
            ),
            ("a: 1", 1, "0..1 `a` is not a keyword; write `=` to set a variable"),
            ("sett a 1", 4, "0..4 `sett` is not a keyword; did you mean SET?"),
            (
                "a : 1",
                1,
                "0..1 `a` is not a keyword; a line begins with a keyword such as SET, or reads `variable = text`",
            ),
        ] {
            let behind = super::skip_blank(text, word);
            let problem = unknown_line(text, word, behind);
            let help = problem.help.map_or(String::new(), |help| format!("; {help}"));
            assert_eq!(format!("{:?} {}{help}", problem.range, problem.message), expected, "{text}");
        }
    }
}
