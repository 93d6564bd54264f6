//! The lexer: splits a text into tokens.

use std::fmt;

use logos::{FilterResult, Lexer, Logos};

use crate::ad::{BinaryOperator, Span, UnaryOperator};

use super::number_tokens::divide_numbers;

/// The syntax of string literals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StringSyntax {
    /// Strings with C's escapes: bracketed ads, expressions, JSON and XML.
    #[default]
    Escaped,
    /// HTCondor's long form: a backslash stands for itself.  Only `\"` within a line is an escaped quote.  `\"` at the
    /// end of a line is a backslash and the closing quote.
    Long,
}

/// State of the lexer: the syntax of strings, and the terminators known to be missing in the rest of the text.
/// Missing terminators are recorded to keep lexing linear: otherwise every unclosed quote or comment would be
/// searched for its end through the whole text.
#[derive(Clone, Copy, Debug, Default)]
pub struct LexerState {
    strings: StringSyntax,
    /// Whether an earlier quote had no closing quote.  If so, a closing quote is searched only up to the end of the
    /// line.
    quotes_on_line: bool,
    /// Whether no `*/` occurs in the rest of the text.
    no_comment_end: bool,
}

impl From<StringSyntax> for LexerState {
    fn from(strings: StringSyntax) -> Self {
        LexerState { strings, ..LexerState::default() }
    }
}

/// The reason why a piece of text is not a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LexicalError {
    /// A character that begins no token.
    #[default]
    Character,
    /// A string without its closing quote.
    UnterminatedString,
    /// A quoted name or time without its closing quote.
    UnterminatedQuote,
    /// A comment without its `*/`.
    UnterminatedComment,
    /// A number with letters or digits directly after it: `12abc`, `4GB`.
    Number,
    /// A byte of value 0.
    Nul,
    /// Bytes that are not UTF-8.
    Utf8,
}

impl LexicalError {
    /// Whether a closing quote or the end of a comment is missing.  Text appended later may contain it.
    #[must_use]
    pub fn is_unterminated(self) -> bool {
        use LexicalError::{UnterminatedComment, UnterminatedQuote, UnterminatedString};
        matches!(self, UnterminatedString | UnterminatedQuote | UnterminatedComment)
    }
}

macro_rules! tokens {
    (
        symbols { $($name:ident $text:literal $(binary $binary:ident)? $(unary $unary:ident)?,)* }
        words { $($word_name:ident $word:literal,)* }
    ) => {
        /// The kind of a token; the text of the token is found through its span.
        #[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
        #[logos(utf8 = false, extras = LexerState, error = LexicalError)]
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
            $(#[token($word, ignore(case))] #[doc = concat!("`", $word, "`")] $word_name,)*
            /// A name without quotes.
            #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
            Name,
            /// `'...'`: a time, or a name that needs quotes.
            #[token("'", quoted)]
            Quoted,
            /// `"..."`
            #[token("\"", string)]
            String,
            /// A whole number: decimal, octal or hexadecimal.
            #[regex(r"[0-9]+")]
            #[regex(r"0[xX][0-9A-Fa-f]+")]
            Integer,
            /// A number with a point or an exponent.  In HTCondor's dialect, the digits before the point may be hexadecimal.
            #[regex(r"[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?")]
            #[regex(r"\.[0-9]+([eE][+-]?[0-9]+)?")]
            #[regex(r"[0-9]+[eE][+-]?[0-9]+")]
            #[regex(r"0[xX][0-9A-Fa-f]+\.[0-9]+([eE][+-]?[0-9]+)?")]
            Real,
            /// A number with one of the papers' scale suffixes, `B K M G T`.
            #[regex(r"([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?[bBkKmMgGtT]")]
            Scaled,
            /// A piece of text that is not a token, with the reason.
            #[token("//", comments)]
            #[token("/*", comments)]
            #[regex(r"([0-9]+(\.[0-9]*)?|\.[0-9]+)[A-Za-z_][A-Za-z0-9_]*", |_| LexicalError::Number, priority = 1)]
            #[regex(r"0[xX][0-9A-Fa-f]+\.[0-9]+[A-Za-z_][A-Za-z0-9_]*", |_| LexicalError::Number, priority = 1)]
            #[regex(r"\x00", |_| LexicalError::Nul)]
            Flawed(LexicalError),
        }

        impl Token {
            /// Returns the text of the tokens of this kind; `None` if they have different texts, as names have.
            #[must_use]
            pub fn text(self) -> Option<&'static str> {
                match self { $(Token::$name => Some($text),)* _ => None }
            }

            /// Returns the infix operator that the token means; `None` for any other token.
            #[must_use]
            pub fn binary(self) -> Option<BinaryOperator> {
                match self {
                    $($(Token::$name => Some(BinaryOperator::$binary),)?)*
                    Token::Is => Some(BinaryOperator::Is),
                    Token::Isnt => Some(BinaryOperator::Isnt),
                    _ => None,
                }
            }

            /// Returns the prefix operator that the token means; `None` for any other token.
            #[must_use]
            pub fn unary(self) -> Option<UnaryOperator> {
                match self { $($(Token::$name => Some(UnaryOperator::$unary),)?)* _ => None }
            }
        }

        impl fmt::Display for Token {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Token::$name => concat!("`", $text, "`"),)*
                    $(Token::$word_name => concat!("`", $word, "`"),)*
                    Token::Is => "`is`",
                    Token::Isnt => "`isnt`",
                    Token::Name => "a name",
                    Token::Quoted => "a quoted name or time",
                    Token::String => "a string",
                    Token::Integer | Token::Real | Token::Scaled => "a number",
                    Token::Flawed(_) => "text that is not part of the language",
                })
            }
        }
    };
}

tokens! {
    symbols {
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
        Or "||" binary Or,
        And "&&" binary And,
        BitOr "|" binary BitOr,
        BitXor "^" binary BitXor,
        BitAnd "&" binary BitAnd,
        Equal "==" binary Equal,
        NotEqual "!=" binary NotEqual,
        Less "<" binary Less,
        LessEqual "<=" binary LessEqual,
        Greater ">" binary Greater,
        GreaterEqual ">=" binary GreaterEqual,
        ShiftLeft "<<" binary ShiftLeft,
        ShiftRight ">>" binary ShiftRight,
        ShiftRightUnsigned ">>>" binary ShiftRightUnsigned,
        Plus "+" binary Add unary Plus,
        Minus "-" binary Subtract unary Minus,
        Multiply "*" binary Multiply,
        Divide "/" binary Divide,
        Remainder "%" binary Remainder,
        Not "!" unary Not,
        Complement "~" unary Complement,
    }
    words {
        True "true",
        False "false",
        Undefined "undefined",
        Error "error",
    }
}

impl Token {
    /// Whether this is a number.
    #[must_use]
    pub fn is_number(self) -> bool {
        matches!(self, Token::Integer | Token::Real | Token::Scaled)
    }

    /// Returns the bracket that closes this bracket; `None` if this is not an opening bracket.
    #[must_use]
    pub fn closing(self) -> Option<Token> {
        Some(match self {
            Token::ParenthesisOpen => Token::ParenthesisClose,
            Token::BracketOpen => Token::BracketClose,
            Token::BraceOpen => Token::BraceClose,
            _ => return None,
        })
    }

    /// Whether this is a closing bracket.
    #[must_use]
    pub fn is_closing(self) -> bool {
        matches!(self, Token::ParenthesisClose | Token::BracketClose | Token::BraceClose)
    }
}

/// Returns the number of bytes up to and including the closing quote; `None` if the closing quote is missing.  `rest`
/// begins after the opening quote.  A backslash escapes the next byte, and the quoted text may have several lines.
pub(super) fn quoted_length(rest: &[u8], quote: u8) -> Option<usize> {
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

/// Returns the number of bytes up to and including the closing quote of a string in the long form; `None` if the line
/// has no closing quote.  `rest` begins after the opening quote.
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

/// Returns the number of bytes before the end of the line.
fn line_length(text: &[u8]) -> usize {
    memchr::memchr(b'\n', text).unwrap_or(text.len())
}

/// Returns the text in which to search for the closing quote: the rest of the text or, after an earlier unclosed quote,
/// only the rest of the line.
fn quote_search_range<'t>(lexer: &Lexer<'t, Token>) -> &'t [u8] {
    let rest = lexer.remainder();
    if lexer.extras.quotes_on_line { &rest[..line_length(rest)] } else { rest }
}

fn string(lexer: &mut Lexer<'_, Token>) -> FilterResult<(), LexicalError> {
    let rest = quote_search_range(lexer);
    match lexer.extras.strings {
        StringSyntax::Escaped => end_quoted(lexer, quoted_length(rest, b'"'), LexicalError::UnterminatedString, true),
        // A string of the long form may contain bytes that are not UTF-8, as HTCondor writes them.  Other strings must
        // write them as octal escapes.
        StringSyntax::Long => end_quoted(lexer, long_string_length(rest), LexicalError::UnterminatedString, false),
    }
}

fn quoted(lexer: &mut Lexer<'_, Token>) -> FilterResult<(), LexicalError> {
    let length = quoted_length(quote_search_range(lexer), b'\'');
    end_quoted(lexer, length, LexicalError::UnterminatedQuote, true)
}

/// Ends a quoted token, which has `length` bytes after its opening quote, and checks its text.  Reports an unclosed
/// quote, and skips the rest of its line, so that lexing resumes on the next line.
fn end_quoted(
    lexer: &mut Lexer<'_, Token>,
    length: Option<usize>,
    unterminated: LexicalError,
    must_be_utf8: bool,
) -> FilterResult<(), LexicalError> {
    let rest = lexer.remainder();
    let Some(length) = length else {
        lexer.extras.quotes_on_line = true;
        lexer.bump(line_length(rest));
        return FilterResult::Error(unterminated);
    };
    let inside = &rest[..length - 1];
    lexer.bump(length);
    if memchr::memchr(0, inside).is_some() {
        FilterResult::Error(LexicalError::Nul)
    } else if must_be_utf8 && std::str::from_utf8(inside).is_err() {
        FilterResult::Error(LexicalError::Utf8)
    } else {
        FilterResult::Emit(())
    }
}

/// Skips a comment whose `//` or `/*` was lexed, and all comments directly after it.  The loop is necessary because
/// logos recurses after each skip: a million comments in a row would overflow the call stack.
fn comments(lexer: &mut Lexer<'_, Token>) -> FilterResult<LexicalError, LexicalError> {
    let is_line = lexer.slice() == b"//";
    let Some(length) = comment_length(lexer, is_line, lexer.remainder()) else {
        return FilterResult::Error(LexicalError::UnterminatedComment);
    };
    lexer.bump(length);
    loop {
        let rest = lexer.remainder();
        let blank = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t'..=b'\r')).count();
        let [b'/', mark @ (b'/' | b'*'), comment @ ..] = &rest[blank..] else { break };
        let Some(length) = comment_length(lexer, *mark == b'/', comment) else { break };
        lexer.bump(blank + 2 + length);
    }
    FilterResult::Skip
}

/// Returns the number of bytes of a comment after its `//` or `/*`; `None` if the `*/` is missing.
fn comment_length(lexer: &mut Lexer<'_, Token>, is_line: bool, comment: &[u8]) -> Option<usize> {
    if is_line {
        return Some(line_length(comment));
    }
    let end = if lexer.extras.no_comment_end { None } else { memchr::memmem::find(comment, b"*/") };
    lexer.extras.no_comment_end = end.is_none();
    end.map(|end| end + 2)
}

/// A token with its span.
pub type SpannedToken = (Token, Span);

fn with_span(text: &[u8], result: Result<Token, LexicalError>, range: &std::ops::Range<usize>) -> SpannedToken {
    let mut end = range.end;
    let token = result.unwrap_or_else(|flaw| match flaw {
        LexicalError::Character if !text[range.start].is_ascii() => {
            let rest = &text[range.start..text.len().min(range.start + 4)];
            let character = rest.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
            // Extend the span to the whole character: only its first byte was lexed.
            end = end.max(range.start + character.map_or(0, char::len_utf8));
            Token::Flawed(if character.is_some() { LexicalError::Character } else { LexicalError::Utf8 })
        }
        flaw => Token::Flawed(flaw),
    });
    (token, Span::new(to_offset(range.start), to_offset(end)))
}

/// Converts a byte offset to 32 bits.  It fits, because readers refuse texts of more than 4 GiB before they are lexed.
pub(super) fn to_offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Splits a text into its tokens.  O(n) in the length of the text.
#[must_use]
pub fn lex(text: &[u8], strings: StringSyntax) -> Vec<SpannedToken> {
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let lexer = Token::lexer_with_extras(text, strings.into());
    tokens.extend(lexer.spanned().map(|(result, range)| with_span(text, result, &range)));
    if strings == StringSyntax::Long { divide_numbers(text, strings, tokens) } else { tokens }
}

#[cfg(test)]
mod tests {
    use super::{LexicalError, StringSyntax, Token, lex};

    fn kinds(text: &str) -> Vec<Token> {
        lex(text.as_bytes(), StringSyntax::Escaped).into_iter().map(|(token, _)| token).collect()
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
            ("4GB", Token::Flawed(LexicalError::Number)),
            ("12abc", Token::Flawed(LexicalError::Number)),
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
        assert_eq!(kinds("1 /* x"), [Token::Integer, Token::Flawed(LexicalError::UnterminatedComment), Token::Name]);
        assert_eq!(kinds("\"x"), [Token::Flawed(LexicalError::UnterminatedString)]);
        assert_eq!(kinds("\"x\\"), [Token::Flawed(LexicalError::UnterminatedString)]);
        assert_eq!(kinds("// a\n /* b *//**/\r\n// c\n2 //"), [Token::Integer]);
        for comment in ["/* x */", "// x\n", "/**/ //\n"] {
            assert_eq!(kinds(&(comment.repeat(1_000_000) + "1")), [Token::Integer], "{comment}");
        }
    }

    #[test]
    fn the_long_form_has_its_own_rule_for_strings() {
        let count = |text: &str| lex(text.as_bytes(), StringSyntax::Long).len();
        assert_eq!(count(r#""C:\dir\""#), 1);
        assert_eq!(count(r#""x\"y" "z""#), 2);
        assert_eq!(lex(br#""x\" "#, StringSyntax::Long)[0].0, Token::Flawed(LexicalError::UnterminatedString));
    }
}
