//! Type aliases of the chumsky parsers: over tokens with spans, with rich errors that can carry a
//! [`SyntaxError`].

use chumsky::Parser;
use chumsky::error::{LabelError, Rich};
use chumsky::input::{InputRef, MappedInput};

use crate::ad::Span;

use super::SyntaxError;
use super::token::{Spanned, Token};

pub(super) type Tokens<'t> = MappedInput<'t, Token, Span, &'t [Spanned]>;
pub(super) type Error<'t> = Rich<'t, Token, Span, SyntaxError>;
pub(super) type Extra<'t> = chumsky::extra::Err<Error<'t>>;

pub(super) trait Grammar<'t, T>: Parser<'t, Tokens<'t>, T, Extra<'t>> + Clone {}
impl<'t, T, P: Parser<'t, Tokens<'t>, T, Extra<'t>> + Clone> Grammar<'t, T> for P {}

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

/// Returns the text of a token that is ASCII by its definition.
pub(super) fn plain(text: &[u8], span: Span) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(&text[span.range()])
}

/// Consumes the next token and returns the error that one of the labels was expected in its place.
pub(super) fn expected<'t>(input: &mut InputRef<'t, '_, Tokens<'t>, Extra<'t>>, labels: &[&'static str]) -> Error<'t> {
    let before = input.cursor();
    let found = input.next();
    let span = input.span_since(&before);
    LabelError::<Tokens<'t>, _>::expected_found(labels.iter().copied(), found.map(Into::into), span)
}
