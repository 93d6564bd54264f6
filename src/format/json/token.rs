//! Tokens of JSON, and the comments that HTCondor allows between them.

use std::ops::Range;

use logos::{FilterResult, Lexer, Logos};

/// What can be wrong with a token by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flaw {
    /// A string that its line does not close.
    #[default]
    String,
    /// A comment without its `*/`.
    Comment,
}

/// What the rest of the text is known not to have, so that it is searched only once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    no_comment_end: bool,
}

/// A token, without its text.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(utf8 = false, extras = Known, error = Flaw)]
#[logos(skip(r"[ \t\r\n\x0b\x0c]+"))]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
pub enum Token {
    /// `{`
    #[token("{")]
    BraceOpen,
    /// `}`
    #[token("}")]
    BraceClose,
    /// `[`
    #[token("[")]
    BracketOpen,
    /// `]`
    #[token("]")]
    BracketClose,
    /// `,`
    #[token(",")]
    Comma,
    /// `:`
    #[token(":")]
    Colon,
    /// `"..."`, on one line
    #[token("\"", string)]
    String,
    /// A number, `true`, `false`, `null`, or something that is none of JSON's.
    #[regex(r#"[^ \t\r\n\x0b\x0c{}\[\],:"/]+"#)]
    #[token("/")]
    #[token("/*", comment)]
    Word,
}

impl Token {
    /// The token as messages name it.
    pub fn describe(self, text: &[u8]) -> String {
        match self {
            Token::BraceOpen => "`{`".to_owned(),
            Token::BraceClose => "`}`".to_owned(),
            Token::BracketOpen => "`[`".to_owned(),
            Token::BracketClose => "`]`".to_owned(),
            Token::Comma => "`,`".to_owned(),
            Token::Colon => "`:`".to_owned(),
            Token::String => "a string".to_owned(),
            Token::Word => format!("`{}`", String::from_utf8_lossy(text)),
        }
    }

    /// Whether the next byte could not have belonged to it.
    pub fn is_complete(self) -> bool {
        self != Token::Word
    }
}

/// Up to the closing quote, which must stand on the same line: a line break in a string is written `\n`.
fn string(lexer: &mut Lexer<'_, Token>) -> FilterResult<(), Flaw> {
    let rest = lexer.remainder();
    let mut at = 0;
    while let Some(found) = rest.get(at..).and_then(|rest| memchr::memchr3(b'"', b'\\', b'\n', rest)) {
        at += found;
        match rest[at] {
            b'"' => {
                lexer.bump(at + 1);
                return FilterResult::Emit(());
            }
            b'\\' if rest.get(at + 1) != Some(&b'\n') => at += 2,
            b'\\' => at += 1,
            _ => {
                lexer.bump(at);
                return FilterResult::Error(Flaw::String);
            }
        }
    }
    lexer.bump(rest.len());
    FilterResult::Error(Flaw::String)
}

fn comment(lexer: &mut Lexer<'_, Token>) -> FilterResult<(), Flaw> {
    if !lexer.extras.no_comment_end {
        if let Some(at) = memchr::memmem::find(lexer.remainder(), b"*/") {
            lexer.bump(at + 2);
            return FilterResult::Skip;
        }
        lexer.extras.no_comment_end = true;
    }
    FilterResult::Error(Flaw::Comment)
}

/// A token or what is wrong with it, and where it stands.
pub type Lexeme = (Result<Token, Flaw>, Range<usize>);

/// The tokens of a text, one after the other.
pub struct Tokens<'t> {
    pub text: &'t [u8],
    lexer: Lexer<'t, Token>,
    returned: Option<Lexeme>,
}

impl<'t> Tokens<'t> {
    pub fn new(text: &'t [u8]) -> Self {
        let mut lexer = Token::lexer(text);
        if text.starts_with(b"\xef\xbb\xbf") {
            lexer.bump(3);
        }
        Tokens { text, lexer, returned: None }
    }

    /// Puts a token back that is to be read again.
    pub fn put_back(&mut self, lexeme: Lexeme) {
        self.returned = Some(lexeme);
    }
}

impl Iterator for Tokens<'_> {
    type Item = Lexeme;

    fn next(&mut self) -> Option<Lexeme> {
        self.returned.take().or_else(|| {
            let token = self.lexer.next()?;
            Some((token, self.lexer.span()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Flaw, Token, Tokens};

    fn kinds(text: &str) -> Vec<Result<Token, Flaw>> {
        Tokens::new(text.as_bytes()).map(|(token, _)| token).collect()
    }

    #[test]
    fn tokens() {
        use Token::{BraceClose, BraceOpen, Colon, String, Word};
        assert_eq!(kinds(r#"{"a\"}": -1.5e+3}"#), [BraceOpen, String, Colon, Word, BraceClose].map(Ok));
        assert_eq!(kinds("// c\n/* d */ 1//e"), [Ok(Word)]);
        assert_eq!(kinds("\u{feff}nan / \u{1}é"), [Ok(Word), Ok(Word), Ok(Word)]);
        assert_eq!(kinds("\"a\n1"), [Err(Flaw::String), Ok(Word)]);
        assert_eq!(kinds("\"a\\\n1"), [Err(Flaw::String), Ok(Word)]);
        assert_eq!(kinds("\"a\\"), [Err(Flaw::String)]);
        assert_eq!(kinds("/* 1 /* 2"), [Err(Flaw::Comment), Ok(Word), Err(Flaw::Comment), Ok(Word)]);
    }
}
