//! Syntax highlighting of the line that is being edited, by the lexer of the language.

use classad::ad::{Name, ScopeAd};
use classad::eval::find_function;
use classad::syntax::{SpannedToken, StringSyntax, Token, lex};

use crate::cli::commands::repl::argument::EntryPart;
use crate::cli::commands::repl::commands::ArgumentKind;
use crate::cli::commands::repl::entry::ReplEntry;

const KEYWORD: &str = "35";
const FUNCTION: &str = "36";
const STRING: &str = "32";
const NUMBER: &str = "33";
const SIDE: &str = "34";
const COMMAND: &str = "1";
const COMMENT: &str = "2";
const WRONG: &str = "31";

/// Adds colours to an entry. Apart from escape sequences the text stays the same.
pub fn highlighted(text: &str) -> String {
    let mut out = String::with_capacity(2 * text.len());
    let is_expression = match ReplEntry::parse(text) {
        ReplEntry::Blank => {
            paint(&mut out, COMMENT, text);
            return out;
        }
        ReplEntry::Command(command, _) => matches!(
            command.argument_kind,
            ArgumentKind::Expression | ArgumentKind::Ad | ArgumentKind::Pool | ArgumentKind::Definition
        ),
        ReplEntry::UnknownCommand(_) => false,
        ReplEntry::Definition(_) | ReplEntry::Expression(_) => true,
    };
    let (first, _) = EntryPart::whole(text).trim().split_first_word();
    let (command, rest) = text.split_at(if first.text.starts_with(':') { first.range().end } else { 0 });
    paint(&mut out, COMMAND, command);
    if is_expression {
        highlight_expression(&mut out, rest);
    } else {
        out.push_str(rest);
    }
    out
}

fn highlight_expression(out: &mut String, text: &str) {
    let tokens = lex(text.as_bytes(), StringSyntax::Escaped);
    let mut at = 0;
    for (place, (token, span)) in tokens.iter().enumerate() {
        // Spans of malformed tokens may overlap the next token.
        let range = span.range().start.max(at)..span.range().end.max(at);
        let (Some(between), Some(written)) = (text.get(at..range.start), text.get(range.clone())) else { continue };
        paint(out, if between.trim().is_empty() { "" } else { COMMENT }, between);
        paint(out, token_color(*token, written, tokens.get(place + 1)), written);
        at = range.end;
    }
    let end = &text[at..];
    paint(out, if end.trim().is_empty() { "" } else { COMMENT }, end);
}

fn token_color(token: Token, written: &str, next: Option<&SpannedToken>) -> &'static str {
    match token {
        Token::Name if next.is_some_and(|(next, _)| *next == Token::ParenthesisOpen) => {
            if find_function(&Name::new(written)).is_some() { FUNCTION } else { WRONG }
        }
        Token::Name if ScopeAd::of(&Name::new(written)).is_some() => SIDE,
        Token::True | Token::False | Token::Undefined | Token::Error | Token::Is | Token::Isnt => KEYWORD,
        Token::String | Token::Quoted => STRING,
        Token::Flawed(_) if written.starts_with('"') => STRING,
        Token::Flawed(_) => WRONG,
        token if token.is_number() => NUMBER,
        _ => "",
    }
}

fn paint(out: &mut String, color: &str, text: &str) {
    if color.is_empty() || text.is_empty() {
        out.push_str(text);
    } else {
        out.extend(["\x1b[", color, "m", text, "\x1b[0m"]);
    }
}

#[cfg(test)]
mod tests {
    use super::highlighted;

    fn bare(painted: &str) -> String {
        let mut text = String::new();
        let mut rest = painted;
        while let Some(at) = rest.find('\x1b') {
            text.push_str(&rest[..at]);
            rest = &rest[at..];
            rest = &rest[rest.find('m').expect("an escape ends") + 1..];
        }
        text + rest
    }

    #[test]
    fn colours_add_nothing_to_the_text() {
        let texts = [
            "",
            " ",
            "1 + strcat(\"a\", my.b) // c",
            ":my [ a = 'b c'; ]",
            ":pool a b",
            ":nothing here",
            "\"open",
            "é ü",
            "a /* open",
            "12abc \u{0} #",
            "# x",
            "a = \"ü\" \u{2028}",
            ":trace (1",
            "\u{fffd}\u{fffd}",
        ];
        for text in texts {
            assert_eq!(bare(&highlighted(text)), text);
        }
    }

    #[test]
    fn tokens_have_their_colours() {
        let all = highlighted(":type strcat(\"a\", 1) is nothing(my.b)");
        for part in [
            "\x1b[1m:type\x1b[0m",
            "\x1b[36mstrcat\x1b[0m(",
            "\x1b[32m\"a\"\x1b[0m",
            "\x1b[33m1\x1b[0m",
            "\x1b[35mis\x1b[0m",
            "\x1b[31mnothing\x1b[0m(",
            "\x1b[34mmy\x1b[0m.b",
        ] {
            assert!(all.contains(part), "{part:?} in {all:?}");
        }
    }

    #[test]
    fn a_line_has_its_colours_in_their_places() {
        let paint = |code: u8, text: &str| format!("\x1b[{code}m{text}\x1b[0m");
        for (text, expected) in [
            ("", String::new()),
            (" # x", paint(2, " # x")),
            ("1 + a", format!("{} + a", paint(33, "1"))),
            ("a = 2K ", format!("a = {} ", paint(33, "2K"))),
            ("a /* c */ b // d", format!("a{}b{}", paint(2, " /* c */ "), paint(2, " // d"))),
            ("true && my.x", format!("{} && {}.x", paint(35, "true"), paint(34, "my"))),
            ("'a b' is \"c\"", format!("{} {} {}", paint(32, "'a b'"), paint(35, "is"), paint(32, "\"c\""))),
            ("\"open", paint(32, "\"open")),
            ("strcat(a)", format!("{}(a)", paint(36, "strcat"))),
            ("nothing(a)", format!("{}(a)", paint(31, "nothing"))),
            ("strcat (a)", format!("{} (a)", paint(36, "strcat"))),
            (":quit", paint(1, ":quit")),
            (" :nothing 1", format!("{} 1", paint(1, " :nothing"))),
            (":set max-steps 5", format!("{} max-steps 5", paint(1, ":set"))),
            (":my [ a = 1 ]", format!("{} [ a = {} ]", paint(1, ":my"), paint(33, "1"))),
            (":type error", format!("{} {}", paint(1, ":type"), paint(35, "error"))),
        ] {
            assert_eq!(highlighted(text), expected, "{text}");
        }
    }
}
