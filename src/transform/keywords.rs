//! Keywords of the transform language, and the tokenizer of its lines.

use std::ops::Range;

use crate::ad::{Dialect, Name, closest_names};
use crate::format::Problem;

use super::rule::{NamePattern, RuleTarget};

/// Defines the keywords: variant, spelling, operands.
macro_rules! keywords {
    ($($variant:ident $word:literal $operands:literal,)*) => {
        /// Word that begins a line of a rules file; case is ignored.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum Keyword { $($variant),* }

        /// The keywords in the order of the variants, with their usual spelling and the syntax of their operands.
        const KEYWORDS: &[(Keyword, &str, &str)] = &[$((Keyword::$variant, $word, $operands)),*];
    };
}

keywords! {
    Name "NAME" "name",
    Requirements "REQUIREMENTS" "expression",
    Universe "UNIVERSE" "name or number",
    Transform "TRANSFORM" "[count] [variables] [in (items) | from (lines) | from FILE]",
    Set "SET" "attribute expression",
    Default "DEFAULT" "attribute expression",
    EvalSet "EVALSET" "attribute expression",
    EvalMacro "EVALMACRO" "variable expression",
    Copy "COPY" "attribute new-name",
    Rename "RENAME" "attribute new-name",
    Delete "DELETE" "attribute",
    If "if" "condition",
    Elif "elif" "condition",
    Else "else" "",
    EndIf "endif" "",
}

impl Keyword {
    /// Returns the usual spelling of the keyword.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        KEYWORDS[self as usize].1
    }

    /// Returns the keyword with this spelling, ignoring case; `None` if there is none.
    pub(super) fn from_word(word: &str) -> Option<Keyword> {
        let known = KEYWORDS.iter().find(|(_, known, _)| known.eq_ignore_ascii_case(word));
        known.map(|(keyword, ..)| *keyword)
    }

    /// Returns the keyword with the most similar spelling; `None` if none is similar.
    pub(super) fn most_similar(word: &str) -> Option<&'static str> {
        closest_names(word, KEYWORDS.iter().map(|(_, known, _)| *known)).first().copied()
    }

    /// Whether the keyword belongs to a conditional: `if`, `elif`, `else` or `endif`.
    pub(super) fn is_branch(self) -> bool {
        matches!(self, Keyword::If | Keyword::Elif | Keyword::Else | Keyword::EndIf)
    }

    /// Returns a hint that shows the syntax of the keyword's line.
    pub(super) fn usage(self) -> String {
        let (_, word, operands) = KEYWORDS[self as usize];
        format!("write `{}`", format!("{word} {operands}").trim_end())
    }
}

/// Word of a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LineWord<'t> {
    /// Byte range in the line, including quotes or slashes.
    pub range: Range<usize>,
    pub kind: LineWordKind<'t>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum LineWordKind<'t> {
    Plain(&'t str),
    /// Text between quotes. A backslash in it is an ordinary character.
    Quoted(&'t str),
    /// Regular expression between slashes, with the option letters that follow it. A backslash does not escape a slash.
    Pattern(NamePattern),
}

/// Creates an error at `range`. The range is usually a byte range in the line, but some callers pass a byte range in
/// the file.
pub(super) fn error(range: Range<usize>, message: impl Into<String>) -> Problem {
    Problem::error_at(range, 0, message)
}

/// Returns the byte offset of the first non-blank byte at or after `at`.
pub(super) fn skip_blank(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_ascii_start().len()
}

/// Reads the next word or pattern at or after `at`; `None` at the end of the line. Problems have ranges in the line.
pub(super) fn next_word(text: &str, at: usize) -> Result<Option<LineWord<'_>>, Problem> {
    let start = skip_blank(text, at);
    let rest = &text[start..];
    let up_to_blank = |rest: &str| rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
    let (length, kind) = match rest.bytes().next() {
        None => return Ok(None),
        Some(quote @ (b'"' | b'\'')) => match rest[1..].find(char::from(quote)) {
            Some(inside) => (inside + 2, LineWordKind::Quoted(&rest[1..=inside])),
            None => return Err(error(start..text.len(), "this quote is not closed")),
        },
        Some(b'/') => {
            let Some(inside) = rest[1..].find('/') else {
                let help = "write a regular expression between two slashes, without a slash in it";
                return Err(error(start..text.len(), "the second slash is missing").with_help(help));
            };
            let behind = inside + 2;
            let options = &rest[behind..behind + up_to_blank(&rest[behind..])];
            if let Some(bad) = options.find(|c| !matches!(c, 'g' | 'i' | 'm' | 'U')) {
                let help = "the options are g, i, m and U; the expression cannot contain a slash";
                let place = start + behind + bad..start + behind + options.len();
                return Err(error(place, format!("`{}` is not an option of a regular expression", &options[bad..]))
                    .with_help(help));
            }
            let pattern = NamePattern { text: rest[1..=inside].to_owned(), options: options.to_owned() };
            (behind + options.len(), LineWordKind::Pattern(pattern))
        }
        Some(_) => (up_to_blank(rest), LineWordKind::Plain(&rest[..up_to_blank(rest)])),
    };
    Ok(Some(LineWord { range: start..start + length, kind }))
}

/// Returns the attributes that a word selects.
pub(super) fn word_target(word: &LineWord<'_>, dialect: Dialect) -> Result<RuleTarget, Problem> {
    if let LineWordKind::Pattern(pattern) = &word.kind {
        pattern.compiled().map_err(|reason| error(word.range.clone(), reason))?;
        return Ok(RuleTarget::Pattern(pattern.clone()));
    }
    word_attribute(word, dialect).map(RuleTarget::Name)
}

/// Returns the attribute that a word names.
pub(super) fn word_attribute(word: &LineWord<'_>, dialect: Dialect) -> Result<Name, Problem> {
    let (name, is_quoted) = match word.kind {
        LineWordKind::Plain(name) => (name, false),
        LineWordKind::Quoted(name) => (name, true),
        LineWordKind::Pattern(_) => {
            let message = "a regular expression can follow only COPY, RENAME and DELETE";
            return Err(error(word.range.clone(), message));
        }
    };
    let refuse = |message: &str| Err(error(word.range.clone(), message));
    if name.contains("$(") {
        return refuse("macros are not expanded in this name");
    }
    if !is_quoted && !is_name(name) {
        let help = match name.find(['=', ',']) {
            Some(at) if is_name(&name[..at]) && name[at..].starts_with('=') => {
                "write a blank instead of the `=`".to_owned()
            }
            Some(at) if is_name(&name[..at]) => "write one name, without a comma".to_owned(),
            None if name.strip_prefix('+').is_some_and(is_name) => {
                "leave out the `+`: `+Name` of a submit file is the attribute `Name`".to_owned()
            }
            _ if name.contains('\'') => format!("put the name in quotes: `\"{name}\"`"),
            _ => format!("put the name in quotes: `'{name}'`"),
        };
        return Err(error(word.range.clone(), format!("`{name}` is not an attribute name")).with_help(help));
    }
    if name.is_empty() || name.contains('\0') {
        return refuse("a name is missing");
    }
    let name = Name::new(name);
    if dialect == Dialect::Classad && name.is_reserved() {
        return refuse(&format!("`{name}` is a reserved word, not an attribute name"));
    }
    Ok(name)
}

/// Whether the text is an attribute name that needs no quotes.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Whether the text is a valid name of a variable.
pub(crate) fn is_variable(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_variable_byte)
}

pub(super) fn is_variable_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/')
}

/// Parses the target at the beginning of a text, in the syntax of rules: a name or `/pattern/`. Returns the target and
/// the rest of the text, which is empty or begins with `=`.
///
/// # Errors
///
/// The reason as a phrase, if the text does not begin with a target.
pub fn parse_target(text: &str, dialect: Dialect) -> Result<(RuleTarget, &str), String> {
    let mut from = 0;
    if text.trim_ascii_start().starts_with('/') {
        // Look for the `=` after the pattern, which may itself contain a `=`.
        let opened = skip_blank(text, 0) + 1;
        from = text[opened..].find('/').map_or(text.len(), |at| opened + at + 1);
    }
    let (word, rest) = text.split_at(text[from..].find('=').map_or(text.len(), |at| from + at));
    let word = word.trim_ascii();
    let target = next_word(word, 0)
        .and_then(|found| found.map(|found| Ok((word_target(&found, dialect)?, found.range.end))).transpose());
    match target {
        Ok(Some((target, end))) if end == word.len() => Ok((target, rest)),
        Ok(Some(_)) => Err(format!("`{word}` is not an attribute name")),
        Ok(None) => Err("a name is missing".to_owned()),
        Err(Problem { message, help: Some(help), .. }) => Err(format!("{message}; {help}")),
        Err(Problem { message, .. }) => Err(message),
    }
}

#[cfg(test)]
mod tests {
    use super::{Keyword, LineWordKind, is_name, is_variable, next_word, parse_target, word_attribute, word_target};
    use crate::ad::Dialect;
    use crate::transform::RuleTarget;

    #[test]
    fn a_word_is_plain_quoted_or_a_pattern() {
        for (text, at, expected) in [
            ("", 0, "nothing"),
            ("  ", 0, "nothing"),
            ("a", 0, "plain `a` of `a`"),
            ("a b", 1, "plain `b` of `b`"),
            (" a\tb", 0, "plain `a` of `a`"),
            ("'a b' c", 0, "quoted `a b` of `'a b'`"),
            ("\"\" c", 0, "quoted `` of `\"\"`"),
            ("\"a'b\"c", 0, "quoted `a'b` of `\"a'b\"`"),
            ("x 'a b", 1, "`'a b`: this quote is not closed"),
            ("\"a\\\"b", 0, "quoted `a\\` of `\"a\\\"`"),
            ("/a b/ c", 0, "pattern `a b` `` of `/a b/`"),
            ("//", 0, "pattern `` `` of `//`"),
            ("/a/gimU c", 0, "pattern `a` `gimU` of `/a/gimU`"),
            (" /a/gx c", 0, "`x`: `x` is not an option of a regular expression"),
            ("/a/b/", 0, "`b/`: `b/` is not an option of a regular expression"),
            ("x /a", 2, "`/a`: the second slash is missing"),
        ] {
            let shown = match next_word(text, at) {
                Ok(None) => "nothing".to_owned(),
                Ok(Some(word)) => {
                    let kind = match word.kind {
                        LineWordKind::Plain(text) => format!("plain `{text}`"),
                        LineWordKind::Quoted(text) => format!("quoted `{text}`"),
                        LineWordKind::Pattern(pattern) => format!("pattern `{}` `{}`", pattern.text, pattern.options),
                    };
                    format!("{kind} of `{}`", &text[word.range])
                }
                Err(problem) => format!("`{}`: {}", &text[problem.range], problem.message),
            };
            assert_eq!(shown, expected, "{text}");
        }
    }

    #[test]
    fn an_attribute_is_a_name_or_a_text_in_quotes() {
        for (text, expected) in [
            ("a", "a"),
            ("_1", "_1"),
            ("1a", "`1a` is not an attribute name; put the name in quotes: `'1a'`"),
            ("a.b", "`a.b` is not an attribute name; put the name in quotes: `'a.b'`"),
            ("a'b", "`a'b` is not an attribute name; put the name in quotes: `\"a'b\"`"),
            ("a=1", "`a=1` is not an attribute name; write a blank instead of the `=`"),
            ("a=", "`a=` is not an attribute name; write a blank instead of the `=`"),
            ("a,b", "`a,b` is not an attribute name; write one name, without a comma"),
            ("a.=", "`a.=` is not an attribute name; put the name in quotes: `'a.='`"),
            (
                "+a",
                "`+a` is not an attribute name; leave out the `+`: `+Name` of a submit file is the attribute `Name`",
            ),
            ("+", "`+` is not an attribute name; put the name in quotes: `'+'`"),
            ("'a b'", "a b"),
            ("''", "a name is missing"),
            ("'\0'", "a name is missing"),
            ("$(a)", "macros are not expanded in this name"),
            ("'$(a)'", "macros are not expanded in this name"),
            ("'true'", "true"),
            ("/a/", "only /a/"),
            (
                "/(/",
                "a regular expression can follow only COPY, RENAME and DELETE; `(` is not a valid regular expression: \
                 missing closing parenthesis",
            ),
        ] {
            let word = next_word(text, 0).unwrap().unwrap();
            let shown = |dialect| match (word_attribute(&word, dialect), word_target(&word, dialect)) {
                (Ok(name), Ok(RuleTarget::Name(target))) => {
                    assert_eq!(name, target);
                    name.to_string()
                }
                (Err(problem), Err(same)) if problem.message == same.message => {
                    format!("{}{}", problem.message, problem.help.map_or(String::new(), |help| format!("; {help}")))
                }
                (Err(_), Ok(target)) => format!("only {target}"),
                (Err(problem), Err(other)) => format!("{}; {}", problem.message, other.message),
                (found, target) => panic!("{found:?} {target:?}"),
            };
            let [condor, classad] = [Dialect::Condor, Dialect::Classad].map(shown);
            let shown = if condor == classad { condor } else { format!("{condor} / {classad}") };
            assert_eq!(shown, expected, "{text}");
        }
    }

    #[test]
    fn a_target_stands_before_the_rest() {
        for (text, expected) in [
            ("a", "a before ``"),
            (" a = 1", "a before `= 1`"),
            ("a=b=c", "a before `=b=c`"),
            ("'a b' = 1", "'a b' before `= 1`"),
            ("/a=b/i = 1", "/a=b/i before `= 1`"),
            (
                "/a=b",
                "the second slash is missing; write a regular expression between two slashes, without a slash in it",
            ),
            ("/(/", "`(` is not a valid regular expression: missing closing parenthesis"),
            (
                "/a/b = 1",
                "`b` is not an option of a regular expression; the options are g, i, m and U; the expression cannot \
                 contain a slash",
            ),
            ("a b = 1", "`a b` is not an attribute name"),
            ("'a' b", "`'a' b` is not an attribute name"),
            ("= 1", "a name is missing"),
            ("", "a name is missing"),
            ("1a", "`1a` is not an attribute name; put the name in quotes: `'1a'`"),
            ("'a", "this quote is not closed"),
        ] {
            let shown = match parse_target(text, Dialect::Condor) {
                Ok((target, rest)) => format!("{target} before `{rest}`"),
                Err(reason) => reason,
            };
            assert_eq!(shown, expected, "{text}");
        }
    }

    #[test]
    fn names_have_letters_digits_and_underscores() {
        for (text, name, variable) in [
            ("", false, false),
            ("a", true, true),
            ("_", true, true),
            ("a1_", true, true),
            ("1", false, true),
            ("a.b/c", false, true),
            ("a-b", false, false),
            ("\u{e9}", false, false),
        ] {
            assert_eq!((is_name(text), is_variable(text)), (name, variable), "{text}");
        }
    }

    #[test]
    fn a_keyword_is_known_by_its_word() {
        for (word, keyword, usage) in [
            ("NAME", Keyword::Name, "write `NAME name`"),
            ("requirements", Keyword::Requirements, "write `REQUIREMENTS expression`"),
            ("Universe", Keyword::Universe, "write `UNIVERSE name or number`"),
            (
                "TRANSFORM",
                Keyword::Transform,
                "write `TRANSFORM [count] [variables] [in (items) | from (lines) | from FILE]`",
            ),
            ("EVALMACRO", Keyword::EvalMacro, "write `EVALMACRO variable expression`"),
            ("copy", Keyword::Copy, "write `COPY attribute new-name`"),
            ("IF", Keyword::If, "write `if condition`"),
            ("elif", Keyword::Elif, "write `elif condition`"),
            ("Else", Keyword::Else, "write `else`"),
            ("endif", Keyword::EndIf, "write `endif`"),
        ] {
            assert_eq!(Keyword::from_word(word), Some(keyword));
            assert!(keyword.as_str().eq_ignore_ascii_case(word));
            assert_eq!(keyword.usage(), usage);
            let is_branch = ["if", "elif", "else", "endif"].contains(&keyword.as_str());
            assert_eq!(keyword.is_branch(), is_branch);
        }
        assert_eq!(Keyword::from_word("SETS"), None);
        assert_eq!(Keyword::most_similar("Detele"), Some("DELETE"));
        assert_eq!(Keyword::most_similar("xyz"), None);
    }
}
