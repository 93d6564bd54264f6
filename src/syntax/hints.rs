//! Hints for common syntax mistakes.

use crate::ad::Span;

use super::chumsky_types::token_text;
use super::token::{SpannedToken, Token};

/// The tokens of a text that has a syntax error.
struct ErrorContext<'t> {
    tokens: &'t [SpannedToken],
    text: &'t [u8],
    /// Index of the token at the error; `tokens.len()` at the end of the text.
    at: usize,
}

/// Returns a hint for an unexpected token at the span `error`; `None` if the mistake is not a known one.
pub(super) fn syntax_hint(error: Span, tokens: &[SpannedToken], text: &[u8]) -> Option<String> {
    let at = tokens.iter().position(|(_, span)| span.start >= error.start).unwrap_or(tokens.len());
    let around = ErrorContext { tokens, text, at };
    around
        .conditional_hint()
        .or_else(|| around.operator_hint())
        .or_else(|| around.word_hint())
        .or_else(|| around.bracket_hint())
        .or_else(|| around.name_hint())
}

impl ErrorContext<'_> {
    /// Returns the token at the distance `by` from the token at the error: 1 is the next token, -1 the previous token.
    /// `None` if there is no such token.
    fn token(&self, by: isize) -> Option<Token> {
        self.spanned(by).map(|(token, _)| *token)
    }

    fn spanned(&self, by: isize) -> Option<&SpannedToken> {
        self.tokens.get(self.at.checked_add_signed(by)?)
    }

    fn word(&self, by: isize) -> String {
        self.spanned(by).map(|(_, span)| token_text(self.text, *span).into_owned()).unwrap_or_default()
    }

    /// Whether no space separates the token that is `by` tokens after the error from the next token.
    fn adjacent(&self, by: isize) -> bool {
        let tokens = self.spanned(by).zip(self.spanned(by + 1));
        tokens.is_some_and(|((_, left), (_, right))| left.end == right.start)
    }

    /// Returns a hint for a `?` without its `:`.
    fn conditional_hint(&self) -> Option<String> {
        let count = |wanted: Token| self.tokens[..self.at].iter().filter(|(token, _)| *token == wanted).count();
        let ends = self.token(0).is_none_or(|token| token.is_closing() || token == Token::Semicolon);
        let complete = self.token(-1).is_some_and(|token| token.binary().is_none() && token != Token::Question);
        (ends && complete && count(Token::Question) > count(Token::Colon) && self.innermost_open().is_none())
            .then(|| "a `?` needs a `:` after it: `condition ? value : otherwise`".to_owned())
    }

    /// Returns a hint for an operator of another language, or for a misplaced separator.
    fn operator_hint(&self) -> Option<String> {
        use Token::{And, Assign, Colon, Comma, Equal, Greater, Less, Not, NotEqual, Question};
        let advice = match (self.token(-1), self.token(0)?, self.token(1)) {
            (_, Assign, Some(Greater)) if self.adjacent(0) => "write `>=`",
            (_, Assign, Some(Less)) if self.adjacent(0) => "write `<=`",
            (Some(Less), Greater, _) if self.adjacent(-1) => "write `!=` for \"not equal\"",
            (Some(Equal), Assign, _) if self.adjacent(-1) => "write `==`, or `is` to compare types, too",
            (Some(NotEqual), Assign, _) if self.adjacent(-1) => "write `!=`, or `isnt` to compare types, too",
            (_, Assign, Some(Not)) if self.adjacent(0) => {
                "write `!=` for \"not equal\", or `=!=` to compare types, too"
            }
            (_, Colon, Some(Assign)) if self.adjacent(0) => "write `=` alone",
            (Some(And), Token::BitAnd, _) if self.adjacent(-1) => "write `&&`",
            (Some(Token::Or), Token::BitOr, _) if self.adjacent(-1) => "write `||`",
            (Some(Token::BracketOpen | Token::Semicolon), Assign, _) => "a name is missing before this `=`",
            (None, Assign, _) => "write one `=` to set an attribute: `name = expression`",
            (_, Assign, _) => "write `==` to compare; `=` only sets an attribute of an ad",
            (_, Comma, _) => {
                "`,` is only allowed between the elements of a list and between the arguments of a function"
            }
            (_, Colon, _) => "each `:` needs its own `?` before it: `condition ? value : otherwise`",
            (_, Question, _) => "a `?` needs a condition before it: `condition ? value : otherwise`",
            _ => return None,
        };
        Some(advice.to_owned())
    }

    /// Returns a hint for a word that is an operator in other languages, for a unit, or for a missing `;` before an
    /// attribute.
    fn word_hint(&self) -> Option<String> {
        let word = self.word(0).to_ascii_lowercase();
        let before = self.word(-1).to_ascii_lowercase();
        let is_name = self.token(0) == Some(Token::Name);
        let advice = match word.as_str() {
            _ if is_name && self.token(1) == Some(Token::Assign) => {
                return Some(match self.innermost_open() {
                    Some(open) if open != Token::BracketOpen => format!("close the {open} before this attribute"),
                    _ => "is something missing before this name: an operator such as `&&`, or between attributes a `;` or \
                          (in the long form) a line break? `=` sets an attribute, `==` compares"
                        .to_owned(),
                });
            }
            "and" => "write `&&`",
            "or" => "write `||`",
            "not" => "write `!` for \"not\", as in `!x`, and `!=` for \"not equal\"",
            "in" => "write `member(x, { ... })`",
            "like" | "matches" => "write `regexp(\"pattern\", x)`",
            "eq" | "equals" => "write `==`",
            "ne" => "write `!=`",
            "lt" => "write `<`",
            "gt" => "write `>`",
            "then" | "else" | "elif" | "elseif" | "elsif" => "write `condition ? value : otherwise`",
            unit if self.token(-1).is_some_and(Token::is_number) && size_hint(&self.word(-1), unit).is_some() => {
                return size_hint(&self.word(-1), unit);
            }
            "null" if before == "not" => "write `isnt undefined` for `is not null`",
            _ if before == "not" => "write `!` for `not`, and `isnt` for `is not`",
            _ if before == "if" => "write `condition ? value : otherwise`",
            _ if is_name && self.token(-1) == Some(Token::String) => "write a quote in a string as `\\\"`",
            _ if self.token(0) == Some(Token::String) && self.token(-1) == Some(Token::Name) && self.adjacent(-1) => {
                "is an operator missing before this string, or a quote before the name?"
            }
            _ if is_name && self.token(-1) == Some(Token::Name) => "is an operator missing between these names?",
            _ => return None,
        };
        Some(advice.to_owned())
    }

    /// Returns a hint for an unmatched bracket, or for an expression that ends too early.
    fn bracket_hint(&self) -> Option<String> {
        let before = self.token(-1);
        let ends = self.token(0).is_none_or(|token| token.is_closing() || matches!(token, Token::Semicolon));
        if ends && let Some(operator) = before.filter(|token| token.binary().is_some() || *token == Token::Not) {
            return Some(format!("{operator} needs something after it"));
        }
        let is_operand = |token: Token| token.is_number() || matches!(token, Token::String | Token::Name);
        match (before, self.token(0)) {
            (Some(Token::Comma), Some(token)) if token.is_closing() => Some("leave the last `,` out".to_owned()),
            (Some(Token::Assign), _) if ends => Some("this name has no expression".to_owned()),
            // The tokens begin with `name =`: they are an attribute that is parsed alone, without the `[` of its ad.
            // The `]` closes the `[` of the ad, so it needs no hint.
            (_, Some(Token::BracketClose)) if self.tokens.get(1).is_some_and(|(token, _)| *token == Token::Assign) => {
                None
            }
            (Some(before), Some(token))
                if is_operand(token)
                    && is_operand(before)
                    && matches!(self.innermost_open(), Some(Token::ParenthesisOpen | Token::BraceOpen)) =>
            {
                Some("is a `,` or an operator missing before this?".to_owned())
            }
            (_, Some(token)) if token.is_closing() && self.innermost_open().is_none() => {
                Some(format!("this {token} closes nothing: there is no open bracket before it"))
            }
            _ => None,
        }
    }

    /// Returns a hint for an attribute name that needs quotes, such as `a-b`.
    fn name_hint(&self) -> Option<String> {
        let (name, second) = (self.token(-1)?, self.token(1)?);
        let joins = matches!(self.token(0)?, Token::Minus | Token::Dot);
        let bound = second == Token::Name && self.token(2) == Some(Token::Assign);
        let begins = matches!(self.token(-2), None | Some(Token::Semicolon | Token::BracketOpen));
        (name == Token::Name && joins && bound && begins).then(|| {
            let written = [-1, 0, 1].map(|by| self.word(by)).concat();
            format!("a name with characters other than letters, digits and `_` needs single quotes: '{written}'")
        })
    }

    /// Returns the innermost bracket that is open before the error; `None` if no bracket is open.
    fn innermost_open(&self) -> Option<Token> {
        innermost_open(&self.tokens[..self.at]).map(|(token, _)| token)
    }
}

/// Returns the innermost bracket that the tokens leave open; `None` if no bracket is open.
pub(super) fn innermost_open(tokens: &[SpannedToken]) -> Option<SpannedToken> {
    let mut open = Vec::new();
    for (token, span) in tokens {
        if token.closing().is_some() {
            open.push((*token, *span));
        } else if token.is_closing() {
            open.pop();
        }
    }
    open.pop()
}

/// Returns a hint for a character that begins no token; `rest` is the text from the character on.
pub(super) fn character_hint(character: char, rest: &str) -> &'static str {
    match character {
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{ab}' | '\u{bb}' => "put strings in straight quotes: \"...\"",
        '\u{2018}' | '\u{2019}' | '\u{201a}' => "use straight quotes: \"...\" for strings, '...' for names and times",
        '\u{2010}'..='\u{2015}' | '\u{2212}' => "a minus is written `-`",
        '\u{2264}' => "write `<=`",
        '\u{2265}' => "write `>=`",
        '\u{2260}' => "write `!=`",
        '\u{2227}' => "write `&&`",
        '\u{2228}' => "write `||`",
        '\u{ac}' => "write `!`",
        '\u{a0}' | '\u{2000}'..='\u{200b}' | '\u{feff}' => "this is a special space character: write an ordinary space",
        '#' => "a comment begins with `//`",
        '$' if rest.starts_with("$$(") || rest.starts_with("$(") => {
            "macros such as $(NAME) work in configuration files, submit files and rules, not in ads"
        }
        '`' => "put strings in double quotes: \"...\"",
        '\\' => "leave the `\\` out: an expression continues on the next line, except in the long form",
        '@' => "put text with an `@` in double quotes: \"user@host\"",
        _ => "a name has only ASCII letters, digits and underscores; put any other name in single quotes",
    }
}

/// Returns the hint for an amount with a unit, such as `4GB`. HTCondor counts memory and disk space in units of its own
/// and refuses suffixes. `None` if this is no unit of bytes.
fn size_hint(digits: &str, unit: &str) -> Option<String> {
    const UNITS: [&str; 4] = ["k", "m", "g", "t"];
    let prefix = unit.strip_suffix("ib").or_else(|| unit.strip_suffix('b')).unwrap_or(unit);
    let power = i32::try_from(UNITS.iter().position(|known| *known == prefix)?).ok()?;
    let amount: f64 = digits.parse().ok()?;
    let kibibytes = (amount * 1024_f64.powi(power)).ceil();
    let mebibytes = kibibytes / 1024.0;
    Some(if mebibytes < 1.0 {
        format!("write {kibibytes} for disk space, which HTCondor counts in KiB")
    } else {
        format!("write {} for memory in MiB, or {kibibytes} for disk space in KiB", mebibytes.ceil())
    })
}

/// Returns a hint for a malformed number: the amount in HTCondor's units for `4GB`, else the rule for numbers.
pub(super) fn number_hint(shown: &str) -> String {
    let digits = shown.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = shown.get(digits.len()..).unwrap_or_default().to_ascii_lowercase();
    size_hint(digits, &unit).unwrap_or_else(|| {
        "a number can end in B, K, M, G or T (not in HTCondor); a name cannot begin with a digit".to_owned()
    })
}
