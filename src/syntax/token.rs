//! Tokens: what the grammar sees of a text.

use std::fmt;

use logos::{FilterResult, Lexer, Logos};

use crate::ad::{BinaryOperator, Span, UnaryOperator};

/// How strings are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strings {
    /// With C's escapes: bracketed ads, expressions, JSON and XML.
    #[default]
    Escaped,
    /// HTCondor's long form: a backslash is a backslash, except that `\"` is a quote unless it ends
    /// the line.
    Long,
}

/// How strings are written, and what the rest of the text is known not to have.  A text in which
/// something is not closed has an error anyway; it must not be searched to its end again and again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rule {
    strings: Strings,
    /// A quote has not been closed: from here on quotes are closed on their line or not at all.
    quotes_on_line: bool,
    /// No comment ends from here on.
    no_comment_end: bool,
}

impl From<Strings> for Rule {
    fn from(strings: Strings) -> Self {
        Rule { strings, ..Rule::default() }
    }
}

/// What can be wrong with a token by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flaw {
    /// A character that begins nothing.
    #[default]
    Character,
    /// A string without its closing quote.
    UnterminatedString,
    /// A quoted name or time without its closing quote.
    UnterminatedQuote,
    /// A comment without its `*/`.
    UnterminatedComment,
    /// Letters or digits that run into a number: `12abc`, `4GB`.
    Number,
    /// A byte of value 0.
    Nul,
    /// Bytes that are not UTF-8.
    Utf8,
}

macro_rules! tokens {
    ($($name:ident $text:literal,)*) => {
        /// A token, without its text; the span beside it says where that is.
        #[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
        #[logos(utf8 = false, extras = Rule, error = Flaw)]
        #[logos(skip(r"[ \t\r\n\x0b\x0c]+"))]
        pub enum Token {
            $(#[token($text)] #[doc = concat!("`", $text, "`")] $name,)*
            /// `is` or `=?=`
            #[token("=?=")]
            #[token("is", ignore(case))]
            Is,
            /// `isnt` or `=!=`
            #[token("=!=")]
            #[token("isnt", ignore(case))]
            Isnt,
            /// `true`
            #[token("true", ignore(case))]
            True,
            /// `false`
            #[token("false", ignore(case))]
            False,
            /// `undefined`
            #[token("undefined", ignore(case))]
            Undefined,
            /// `error`
            #[token("error", ignore(case))]
            Error,
            /// A name without quotes.
            #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
            Name,
            /// `'...'`: a time, or a name that needs quotes.
            #[token("'", quoted)]
            Quoted,
            /// `"..."`
            #[token("\"", string)]
            String,
            /// Digits, also hexadecimal and octal.
            #[regex(r"[0-9]+")]
            #[regex(r"0[xX][0-9A-Fa-f]+")]
            Integer,
            /// A number with a point or an exponent.
            #[regex(r"[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?")]
            #[regex(r"\.[0-9]+([eE][+-]?[0-9]+)?")]
            #[regex(r"[0-9]+[eE][+-]?[0-9]+")]
            Real,
            /// A number with one of the papers' scale suffixes, `B K M G T`.
            #[regex(r"([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?[bBkKmMgGtT]")]
            Scaled,
            /// Something that is no token: the grammar says what is wrong with it.
            #[token("//", line_comment)]
            #[token("/*", comment)]
            #[regex(r"([0-9]+(\.[0-9]*)?|\.[0-9]+)[A-Za-z_][A-Za-z0-9_]*", bad_number, priority = 1)]
            #[regex(r"\x00", nul)]
            Flawed(Flaw),
        }

        impl Token {
            /// The token as it is written, if it is always written alike.
            #[must_use]
            pub fn text(self) -> Option<&'static str> {
                match self { $(Token::$name => Some($text),)* _ => None }
            }
        }
    };
}

tokens! {
    ParenthesisOpen "(",
    ParenthesisClose ")",
    BracketOpen "[",
    BracketClose "]",
    BraceOpen "{",
    BraceClose "}",
    Comma ",",
    Semicolon ";",
    Dot ".",
    Assign "=",
    Question "?",
    Colon ":",
    Elvis "?:",
    Or "||",
    And "&&",
    BitOr "|",
    BitXor "^",
    BitAnd "&",
    Equal "==",
    NotEqual "!=",
    Less "<",
    LessEqual "<=",
    Greater ">",
    GreaterEqual ">=",
    ShiftLeft "<<",
    ShiftRight ">>",
    ShiftRightUnsigned ">>>",
    Plus "+",
    Minus "-",
    Multiply "*",
    Divide "/",
    Remainder "%",
    Not "!",
    Complement "~",
}

impl Token {
    /// The operator between two operands that this token writes.
    #[must_use]
    pub fn binary(self) -> Option<BinaryOperator> {
        Some(match self {
            Token::Or => BinaryOperator::Or,
            Token::And => BinaryOperator::And,
            Token::BitOr => BinaryOperator::BitOr,
            Token::BitXor => BinaryOperator::BitXor,
            Token::BitAnd => BinaryOperator::BitAnd,
            Token::Equal => BinaryOperator::Equal,
            Token::NotEqual => BinaryOperator::NotEqual,
            Token::Is => BinaryOperator::Is,
            Token::Isnt => BinaryOperator::Isnt,
            Token::Less => BinaryOperator::Less,
            Token::LessEqual => BinaryOperator::LessEqual,
            Token::Greater => BinaryOperator::Greater,
            Token::GreaterEqual => BinaryOperator::GreaterEqual,
            Token::ShiftLeft => BinaryOperator::ShiftLeft,
            Token::ShiftRight => BinaryOperator::ShiftRight,
            Token::ShiftRightUnsigned => BinaryOperator::ShiftRightUnsigned,
            Token::Plus => BinaryOperator::Add,
            Token::Minus => BinaryOperator::Subtract,
            Token::Multiply => BinaryOperator::Multiply,
            Token::Divide => BinaryOperator::Divide,
            Token::Remainder => BinaryOperator::Remainder,
            _ => return None,
        })
    }

    /// The operator before one operand that this token writes.
    #[must_use]
    pub fn unary(self) -> Option<UnaryOperator> {
        Some(match self {
            Token::Minus => UnaryOperator::Minus,
            Token::Plus => UnaryOperator::Plus,
            Token::Not => UnaryOperator::Not,
            Token::Complement => UnaryOperator::Complement,
            _ => return None,
        })
    }

    /// Whether this is a number.
    #[must_use]
    pub fn is_number(self) -> bool {
        matches!(self, Token::Integer | Token::Real | Token::Scaled)
    }

    /// The bracket that closes what this one opens.
    #[must_use]
    pub fn closing(self) -> Option<Token> {
        Some(match self {
            Token::ParenthesisOpen => Token::ParenthesisClose,
            Token::BracketOpen => Token::BracketClose,
            Token::BraceOpen => Token::BraceClose,
            _ => return None,
        })
    }

    /// Whether this closes a bracket.
    #[must_use]
    pub fn is_closing(self) -> bool {
        matches!(self, Token::ParenthesisClose | Token::BracketClose | Token::BraceClose)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = self.text() {
            return write!(f, "`{text}`");
        }
        f.write_str(match self {
            Token::Is => "`is`",
            Token::Isnt => "`isnt`",
            Token::True => "`true`",
            Token::False => "`false`",
            Token::Undefined => "`undefined`",
            Token::Error => "`error`",
            Token::Name => "a name",
            Token::Quoted => "a quoted name or time",
            Token::String => "a string",
            Token::Integer | Token::Real | Token::Scaled => "a number",
            _ => "something that is no token",
        })
    }
}

/// Bytes up to and with the closing quote, which a backslash can escape; lines may end in between.
fn quoted_length(rest: &[u8], quote: u8) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = memchr::memchr2(quote, b'\\', rest.get(at..)?) {
        at += found;
        if rest[at] == quote {
            return Some(at + 1);
        }
        at += 2;
    }
    None
}

/// As [`quoted_length`] by the long form's rule.
pub(crate) fn long_string_length(rest: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'"', b'\n', &rest[at..]) {
        at += found;
        if rest[at] == b'\n' {
            return None;
        }
        let escaped = at > 0 && rest[at - 1] == b'\\';
        at += 1;
        let line_ends = matches!(&rest[at..], [] | [b'\n', ..] | [b'\r', b'\n', ..] | [b'\r']);
        if !escaped || line_ends {
            return Some(at);
        }
    }
    None
}

/// Takes what is left of the line as the flawed token, so that the next line is read afresh.
fn flawed(lexer: &mut Lexer<'_, Token>, flaw: Flaw) -> FilterResult<(), Flaw> {
    let rest = lexer.remainder();
    lexer.extras.quotes_on_line = true;
    lexer.bump(memchr::memchr(b'\n', rest).unwrap_or(rest.len()));
    FilterResult::Error(flaw)
}

/// What may hold the closing quote.
fn reachable<'t>(lexer: &Lexer<'t, Token>) -> &'t [u8] {
    let rest = lexer.remainder();
    let line = memchr::memchr(b'\n', rest).filter(|_| lexer.extras.quotes_on_line);
    &rest[..line.unwrap_or(rest.len())]
}

fn string(lexer: &mut Lexer<'_, Token>) -> FilterResult<(), Flaw> {
    let rest = reachable(lexer);
    let length = match lexer.extras.strings {
        Strings::Escaped => quoted_length(rest, b'"'),
        Strings::Long => long_string_length(rest),
    };
    let Some(length) = length else { return flawed(lexer, Flaw::UnterminatedString) };
    let inside = &rest[..length - 1];
    lexer.bump(length);
    if memchr::memchr(0, inside).is_some() {
        FilterResult::Error(Flaw::Nul)
    } else if lexer.extras.strings == Strings::Escaped && std::str::from_utf8(inside).is_err() {
        // The long form has no escapes, so that HTCondor writes any byte as it is; here there are.
        FilterResult::Error(Flaw::Utf8)
    } else {
        FilterResult::Emit(())
    }
}

fn quoted(lexer: &mut Lexer<'_, Token>) -> FilterResult<(), Flaw> {
    let rest = reachable(lexer);
    let Some(length) = quoted_length(rest, b'\'') else { return flawed(lexer, Flaw::UnterminatedQuote) };
    let inside = &rest[..length - 1];
    lexer.bump(length);
    if memchr::memchr(0, inside).is_some() {
        FilterResult::Error(Flaw::Nul)
    } else if std::str::from_utf8(inside).is_err() {
        FilterResult::Error(Flaw::Utf8)
    } else {
        FilterResult::Emit(())
    }
}

fn bad_number(_: &mut Lexer<'_, Token>) -> Flaw {
    Flaw::Number
}

fn nul(_: &mut Lexer<'_, Token>) -> Flaw {
    Flaw::Nul
}

fn comment(lexer: &mut Lexer<'_, Token>) -> FilterResult<Flaw, Flaw> {
    if lexer.extras.no_comment_end {
        return FilterResult::Error(Flaw::UnterminatedComment);
    }
    if let Some(at) = memchr::memmem::find(lexer.remainder(), b"*/") {
        lexer.bump(at + 2);
        skip_comments(lexer);
        return FilterResult::Skip;
    }
    lexer.extras.no_comment_end = true;
    FilterResult::Error(Flaw::UnterminatedComment)
}

fn line_comment(lexer: &mut Lexer<'_, Token>) -> FilterResult<Flaw, Flaw> {
    let rest = lexer.remainder();
    lexer.bump(memchr::memchr(b'\n', rest).unwrap_or(rest.len()));
    skip_comments(lexer);
    FilterResult::Skip
}

/// Skips the comments that follow a comment: logos calls itself for what comes after something skipped,
/// and there may be a million of them.
fn skip_comments(lexer: &mut Lexer<'_, Token>) {
    loop {
        let rest = lexer.remainder();
        let blank = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t'..=b'\r')).count();
        let length = match &rest[blank..] {
            [b'/', b'/', comment @ ..] => Some(2 + memchr::memchr(b'\n', comment).unwrap_or(comment.len())),
            [b'/', b'*', comment @ ..] if !lexer.extras.no_comment_end => {
                let end = memchr::memmem::find(comment, b"*/");
                lexer.extras.no_comment_end = end.is_none();
                end.map(|end| end + 4)
            }
            _ => None,
        };
        let Some(length) = length else { return };
        lexer.bump(blank + length);
    }
}

/// A token and where it stands.
pub type Spanned = (Token, Span);

fn spanned(text: &[u8], result: Result<Token, Flaw>, range: &std::ops::Range<usize>) -> Spanned {
    let mut end = range.end;
    let token = result.unwrap_or_else(|flaw| match flaw {
        Flaw::Character if !text[range.start].is_ascii() => {
            let rest = &text[range.start..text.len().min(range.start + 4)];
            let valid = match std::str::from_utf8(rest) {
                Ok(valid) => valid,
                Err(error) => std::str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or_default(),
            };
            // A character is shown whole, though only its first byte is the token.
            let length = valid.chars().next().map(char::len_utf8);
            end = end.max(range.start + length.unwrap_or(0));
            Token::Flawed(if length.is_some() { Flaw::Character } else { Flaw::Utf8 })
        }
        flaw => Token::Flawed(flaw),
    });
    (token, Span::new(offset(range.start), offset(end)))
}

/// Readers refuse texts of more than 4 GiB before they come here.
pub(super) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// The tokens of a text.
#[must_use]
pub fn lex(text: &[u8], strings: Strings) -> Vec<Spanned> {
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let lexer = Token::lexer_with_extras(text, strings.into());
    tokens.extend(lexer.spanned().map(|(result, range)| spanned(text, result, &range)));
    tokens
}

#[cfg(test)]
mod tests {
    use super::{Flaw, Strings, Token, lex};

    fn kinds(text: &str) -> Vec<Token> {
        lex(text.as_bytes(), Strings::Escaped).into_iter().map(|(token, _)| token).collect()
    }

    #[test]
    fn numbers() {
        for (text, kind) in [
            ("0", Token::Integer),
            ("0xff", Token::Integer),
            ("0600", Token::Integer),
            (".5", Token::Real),
            ("5.", Token::Real),
            ("1e5", Token::Real),
            ("1.E+5", Token::Real),
            ("2K", Token::Scaled),
            ("0.5g", Token::Scaled),
            ("3B", Token::Scaled),
            ("4GB", Token::Flawed(Flaw::Number)),
            ("12abc", Token::Flawed(Flaw::Number)),
        ] {
            assert_eq!(kinds(text), [kind], "{text}");
        }
        assert_eq!(kinds("1 .b"), [Token::Integer, Token::Dot, Token::Name]);
        assert_eq!(kinds("a.b"), [Token::Name, Token::Dot, Token::Name]);
        assert_eq!(kinds("a-1"), [Token::Name, Token::Minus, Token::Integer]);
    }

    #[test]
    fn longest_operator_wins() {
        assert_eq!(kinds("a=?=b"), [Token::Name, Token::Is, Token::Name]);
        assert_eq!(kinds("a?:b"), [Token::Name, Token::Elvis, Token::Name]);
        assert_eq!(kinds(">>>>"), [Token::ShiftRightUnsigned, Token::Greater]);
        assert_eq!(kinds("ISNT isntx"), [Token::Isnt, Token::Name]);
    }

    #[test]
    fn comments_vanish_and_unterminated_ones_do_not() {
        assert_eq!(kinds("1 /* x */ // y"), [Token::Integer]);
        assert_eq!(kinds("1 /* x"), [Token::Integer, Token::Flawed(Flaw::UnterminatedComment), Token::Name]);
        assert_eq!(kinds("\"x"), [Token::Flawed(Flaw::UnterminatedString)]);
        assert_eq!(kinds("\"x\\"), [Token::Flawed(Flaw::UnterminatedString)]);
        assert_eq!(kinds("// a\n /* b *//**/\r\n// c\n2 //"), [Token::Integer]);
        for comment in ["/* x */", "// x\n", "/**/ //\n"] {
            assert_eq!(kinds(&(comment.repeat(1_000_000) + "1")), [Token::Integer], "{comment}");
        }
    }

    #[test]
    fn the_long_form_has_its_own_rule_for_strings() {
        let count = |text: &str| lex(text.as_bytes(), Strings::Long).len();
        assert_eq!(count(r#""C:\dir\""#), 1);
        assert_eq!(count(r#""x\"y" "z""#), 2);
        assert_eq!(lex(br#""x\" "#, Strings::Long)[0].0, Token::Flawed(Flaw::UnterminatedString));
    }
}
