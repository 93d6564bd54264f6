//! Type aliases for the chumsky parsers. The parsers read tokens with spans, and their errors can carry a
//! [`SyntaxError`].

use chumsky::Parser;
use chumsky::error::{LabelError, Rich};
use chumsky::input::{InputRef, MappedInput};

use crate::ad::Span;

use super::SyntaxError;
use super::token::{SpannedToken, Token};

pub(super) type TokenInput<'t> = MappedInput<'t, Token, Span, &'t [SpannedToken]>;
pub(super) type ChumskyError<'t> = Rich<'t, Token, Span, SyntaxError>;
pub(super) type ChumskyExtra<'t> = chumsky::extra::Err<ChumskyError<'t>>;

/// The input of the parsers that are written as functions rather than combinators: the tokens not yet read.
pub(super) type TokenInputRef<'t, 'p> = InputRef<'t, 'p, TokenInput<'t>, ChumskyExtra<'t>>;

pub(super) trait TokenParser<'t, T>: Parser<'t, TokenInput<'t>, T, ChumskyExtra<'t>> + Clone {}
impl<'t, T, P: Parser<'t, TokenInput<'t>, T, ChumskyExtra<'t>> + Clone> TokenParser<'t, T> for P {}

impl chumsky::span::Span for Span {
    type Context = ();
    type Offset = u32;

    fn new((): (), range: std::ops::Range<u32>) -> Self {
        Span { start: range.start, end: range.end }
    }

    fn context(&self) {}

    fn start(&self) -> u32 {
        self.start
    }

    fn end(&self) -> u32 {
        self.end
    }
}

/// Returns the text of a token, with U+FFFD in place of bytes that are not UTF-8.
pub(super) fn token_text(text: &[u8], span: Span) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(&text[span.range()])
}

/// Skips the next token and returns its span.
pub(super) fn skip_token(input: &mut TokenInputRef<'_, '_>) -> Span {
    let before = input.cursor();
    input.skip();
    input.span_since(&before)
}

/// Consumes the next token. Returns an error: the token was found, but one of `labels` was expected.
pub(super) fn expected_error<'t>(input: &mut TokenInputRef<'t, '_>, labels: &[&'static str]) -> ChumskyError<'t> {
    let before = input.cursor();
    let found = input.next();
    let span = input.span_since(&before);
    LabelError::<TokenInput<'t>, _>::expected_found(labels.iter().copied(), found.map(Into::into), span)
}
