//! Numbers with letters directly after them, as HTCondor's lexer divides them.

use super::token::{LexicalError, SpannedToken, StringSyntax, Token, lex, to_offset};

/// Divides each number with letters directly after it into the number and what follows: `12abc` into `12` and `abc`. With
/// C's escapes in strings, only a word that is an operator is taken off, as in `8isnt 1`: any other word is an error, which
/// shows the whole text. Numbers that HTCondor refuses, such as `0xg` and `5.x`, stay as they are.
pub(super) fn divide_numbers(text: &[u8], strings: StringSyntax, tokens: Vec<SpannedToken>) -> Vec<SpannedToken> {
    let is_flawed = |token: &SpannedToken| token.0 == Token::Flawed(LexicalError::Number);
    if !tokens.iter().any(is_flawed) {
        return tokens;
    }
    let mut divided = Vec::with_capacity(tokens.len() + 1);
    for token in tokens {
        match divide(text, token, strings).filter(|_| is_flawed(&token)) {
            Some(pieces) => divided.extend(pieces),
            None => divided.push(token),
        }
    }
    divided
}

/// Divides each number with a scale suffix into the number and the suffix, which HTCondor takes for a name.
pub(super) fn divide_scaled_numbers(text: &[u8], tokens: &[SpannedToken]) -> Vec<SpannedToken> {
    let pieces = |token: &SpannedToken| {
        let pieces = if token.0 == Token::Scaled { divide(text, *token, StringSyntax::Long) } else { None };
        pieces.unwrap_or_else(|| vec![*token])
    };
    tokens.iter().flat_map(pieces).collect()
}

/// Divides a number from the word after it; `None` if HTCondor refuses the number, or the word is no token that may follow.
fn divide(text: &[u8], (_, span): SpannedToken, strings: StringSyntax) -> Option<Vec<SpannedToken>> {
    let written = &text[span.range()];
    let (number, length) = number_at_start(written)?;
    let word = lex(&written[length..], strings);
    let may_follow = strings == StringSyntax::Long || matches!(word.first(), Some((Token::Is | Token::Isnt, _)));
    let (mut place, start) = (span, span.start + to_offset(length));
    place.end = start;
    let word = word.into_iter().map(|(token, at)| (token, at.shifted(start)));
    may_follow.then(|| [(number, place)].into_iter().chain(word).collect())
}

/// Returns the number at the start of a text, with the number of its bytes.  `None` if HTCondor's lexer refuses it.
fn number_at_start(text: &[u8]) -> Option<(Token, usize)> {
    let digits = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_hexadecimal = matches!(text, [b'0', b'x' | b'X', ..]);
    let mut end = digits(0);
    if is_hexadecimal {
        end = 2 + text[2..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        if end == 2 {
            return None;
        }
    }
    let mut number = Token::Integer;
    if text.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        if fraction == 0 {
            return None;
        }
        (number, end) = (Token::Real, end + 1 + fraction);
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let start = end + 1 + usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(start);
        if exponent == 0 {
            return None;
        }
        (number, end) = (Token::Real, start + exponent);
    }
    Some((number, end))
}

#[cfg(test)]
mod tests {
    use crate::ad::Dialect;
    use crate::syntax::{ParseOptions, Style, parse_expression, parse_prefix, print};

    #[test]
    fn a_word_after_a_number() {
        let long = ParseOptions::long(Dialect::Condor);
        for (text, value, rest) in [
            ("12abc", "12", 2),
            ("-4GB", "-4", 2),
            ("1.5e3x", "1500.0", 5),
            ("-017x", "-17", 4),
            ("1_0", "1", 1),
            ("--1_000", "--1", 3),
            ("~+02e8x", "~+200000000.0", 6),
            ("+017e1x", "+170.0", 6),
            ("+1f", "+1", 2),
            ("08.5x", "8.5", 4),
            ("0x1.8p3", "1.5", 5),
            ("-0x1.0e5x", "-1.0559", 8),
            // A scale suffix with text after it that is no expression.
            ("0b%", "0", 1),
            ("2K + $", "2", 1),
            ("5.5M *", "5.5", 3),
        ] {
            let (tree, ignored) = parse_prefix(text.as_bytes(), long).unwrap();
            let printed = String::from_utf8(print(&tree, Style::Long)).unwrap();
            assert!(printed.starts_with(value), "{text}: {printed}");
            assert_eq!(ignored.map(|ignored| ignored.start), Some(rest), "{text}");
        }
        for text in ["0x", "017x", "08x", "5.x", "1e", "1e+", "0x1.x", "0x1.0e", "{0b%}", "0x1K"] {
            assert!(parse_prefix(text.as_bytes(), long).is_err(), "{text}");
        }
    }

    #[test]
    fn an_operator_after_a_number() {
        for rules in [ParseOptions::new(Dialect::Condor), ParseOptions::long(Dialect::Condor)] {
            for (text, printed) in [
                ("8isnt 1", "8 isnt 1"),
                ("---8ISNT f(1)", "---8 isnt f(1)"),
                ("f(a, 9223372036854775807isnt -b)", "f(a, 9223372036854775807 isnt -b)"),
                ("1e5is a", "100000.0 is a"),
                (".5is a", "0.5 is a"),
                ("0x1.0is a", "1.0 is a"),
            ] {
                let tree = parse_expression(text.as_bytes(), rules).unwrap();
                assert_eq!(String::from_utf8(print(&tree, Style::New)).unwrap(), printed, "{text}");
            }
        }
        let error = |text: &str, dialect| {
            let error = parse_expression(text.as_bytes(), ParseOptions::new(dialect)).unwrap_err();
            (error.message, error.keeps_ad)
        };
        for (text, message, keeps_ad) in [
            ("12abc", "`12abc` is not a number", false),
            ("8isn 1", "`8isn` is not a number", false),
            ("017is 1", "HTCondor does not accept octal or hexadecimal integers: `017`", false),
            ("99999999999999999999is 1", "`99999999999999999999` does not fit into a signed 64-bit integer", true),
        ] {
            assert_eq!(error(text, Dialect::Condor), (message.to_owned(), keeps_ad));
        }
        assert_eq!(error("8isnt 1", Dialect::Classad).0, "`8isnt` is not a number");
        assert_eq!(error("0x1.0", Dialect::Classad).0, "`0x1.0` is not a number");
    }
}
