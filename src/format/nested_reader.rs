//! Reader for JSON and XML, in which ads nest in brackets or elements. It continues behind bad ads.
//!
//! Each format implements [`AdGrammar`]: which token can stand where, what a token adds to the ad, and where a bad ad
//! most likely ends. This module has the loops over the tokens, which read ads, report problems and find the next ad.

use std::borrow::BorrowMut;
use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};

use crate::ad::{Ad, Dialect};

use super::ad_builder::{AdBuilder, AdOrigin};
use super::attribute_cache::{AttributeBuffer, AttributeCache};
use super::attribute_span::AttributeSpan;
use super::{AdEntry, Problem, ReadResult, Severity};

/// A token with its byte range.
pub type Located<T> = (T, Range<usize>);

/// Iterator over the tokens of a text. One token can be put back.
pub struct TokenStream<'t, L: Iterator> {
    pub text: &'t [u8],
    pub lexer: L,
    /// The token that was put back; `None` if there is none.
    returned: Option<L::Item>,
}

impl<'t, L: Iterator> TokenStream<'t, L> {
    pub fn new(text: &'t [u8], lexer: L) -> Self {
        TokenStream { text, lexer, returned: None }
    }

    /// Puts a token back, so that `next` returns it again.
    pub fn put_back(&mut self, token: L::Item) {
        self.returned = Some(token);
    }
}

impl<L: Iterator> Iterator for TokenStream<'_, L> {
    type Item = L::Item;

    fn next(&mut self) -> Option<L::Item> {
        self.returned.take().or_else(|| self.lexer.next())
    }
}

/// State machine over the tokens of an ad. It checks the order of the tokens and knows which brackets or elements are
/// open.
pub trait AdGrammar<'t>: Sized {
    type Token;
    type Lexer: Iterator<Item = Located<Self::Token>>;
    /// What [`AdGrammar::outside`] remembers from one token to the next. It is reset when an ad begins.
    type Outer: Default;

    /// Returns an iterator over the tokens from byte `offset` on.
    fn lexer(text: &'t [u8], offset: usize) -> Self::Lexer;

    /// Whether a token begins an ad.
    fn begins_ad(token: &Self::Token) -> bool;

    /// Whether a token alone is an ad without attributes, such as `<c/>` in XML.
    fn is_empty_ad(_: &Self::Token) -> bool {
        false
    }

    /// Whether a token outside ads begins (`Some(true)`) or ends (`Some(false)`) what stands around the ads of a document.
    fn nesting(token: &Self::Token) -> Option<bool>;

    /// Whether a bad ad has taken the end of the document around it. `text` ends where the ad ends.
    fn takes_end(text: &[u8]) -> bool;

    /// Whether a token may be incomplete because the text ends.
    fn is_unclosed(text: &[u8], token: &Located<Self::Token>) -> bool;

    /// Creates the state directly behind the token that begins an ad. `offset` is the byte offset of this token.
    fn at_ad_start(text: &[u8], offset: usize) -> Self;

    /// Whether the ad has ended.
    fn is_done(&self) -> bool;

    /// Advances the state over a token. Returns false if the token cannot stand in this state.
    fn advance(&mut self, text: &[u8], token: &Located<Self::Token>) -> bool;

    /// Adds the effect of a token to `ad`. [`AdGrammar::advance`] has accepted this token just before.
    fn apply(&self, token: Located<Self::Token>, ad: &mut AdBuilder<'t>);

    /// Describes the tokens that can stand next, for messages.
    fn expected(&self) -> String;

    /// Returns the byte range of the innermost open bracket or element, with a message about it; `None` if nothing is
    /// open.
    fn innermost(&self) -> Option<(Range<usize>, String)>;

    /// Returns the problem of a token that [`AdGrammar::advance`] has not accepted.
    fn unexpected(&self, origin: &AdOrigin, token: &Located<Self::Token>) -> Problem;

    /// Whether the token at byte `offset` most likely begins the next ad, so that a bad ad ends before this token.
    fn next_ad_begins_at(&self, text: &[u8], offset: usize) -> bool;

    /// Skips a token of a bad ad. Breaks with the byte offset of the end of the ad once this end is found. Breaks with
    /// `None` if the ad may continue behind the end of the text.
    fn skip(
        &mut self,
        tokens: &mut TokenStream<'t, Self::Lexer>,
        token: Located<Self::Token>,
    ) -> ControlFlow<Option<usize>>;

    /// Processes a token outside all ads. If the token is an error, returns the problem, which may extend over the
    /// following tokens. Otherwise returns `None`. `origin` has the number of the next ad.
    fn outside(
        outer: &mut Self::Outer,
        origin: &AdOrigin,
        tokens: &mut TokenStream<'t, Self::Lexer>,
        token: Located<Self::Token>,
    ) -> Option<Problem>;

    /// Reads an ad that resembles those in `cache` without the grammar, and advances `tokens` behind it. `start` is the
    /// byte offset of the token that begins the ad, which was read last. `None` if only the grammar can tell what the ad
    /// is. The default is to use the grammar always.
    fn read_similar_ad(
        _tokens: &mut TokenStream<'t, Self::Lexer>,
        _origin: &AdOrigin,
        _start: usize,
        _cache: &mut AttributeCache,
        _buffer: &mut AttributeBuffer,
    ) -> Option<Ad> {
        None
    }

    /// Advances `tokens` to the end of an ad without the grammar, and returns the byte offset of this end. `start` is the
    /// byte offset of the token that begins the ad, which was read last. `None` if only the grammar can tell where the ad
    /// ends. The default is to use the grammar always.
    fn skip_plain_ad(_tokens: &mut TokenStream<'t, Self::Lexer>, _start: usize) -> Option<usize> {
        None
    }

    /// Returns a problem to report at the end of the text. The method is called again until it returns `None`, so each
    /// problem must be returned only once.
    fn at_end(_: &AdOrigin, _: &mut TokenStream<'t, Self::Lexer>) -> Option<Problem> {
        None
    }
}

/// Grammar of a form in which an ad can be skipped if its length is known.
pub trait SkippingGrammar<'t>: AdGrammar<'t> {
    /// Advances `tokens` to the end of an ad of `length` bytes, whose first token was read last.
    fn skip_ad(tokens: &mut TokenStream<'t, Self::Lexer>, length: usize);
}

/// What [`RecoveringReader::next_or_skip`] returns.
pub enum ReadItem {
    /// An ad was skipped. This is its 1-based number in the text.
    Skipped(usize),
    /// An ad that was read, or a problem.
    Read(ReadResult),
}

/// Maximum number of ads of a text that the cache does not help to read. After more of them, all ads are read by the
/// grammar, because an ad with an unclosed bracket is searched to the end of the text.
pub const MAX_DISSIMILAR_ADS: usize = 32;

/// Iterator over the ads of a text in the format `G`. Every bad value is reported, and its ad is left out.
pub struct RecoveringReader<'t, G: AdGrammar<'t>, C = AttributeCache> {
    tokens: TokenStream<'t, G::Lexer>,
    dialect: Dialect,
    /// Number of ads begun so far.
    number: usize,
    outer: G::Outer,
    /// The cache of [`AdGrammar::read_similar_ad`]: an [`AttributeCache`] or a mutable reference to one. `None` if all ads
    /// are read by the grammar.
    cache: Option<C>,
    buffer: AttributeBuffer,
    /// Number of ads of this text that the grammar had to read.
    dissimilar_ads: usize,
    /// What is still to be yielded: an ad, or the problems of a bad ad.
    pending: VecDeque<ReadResult>,
}

impl<'t, G: AdGrammar<'t>> RecoveringReader<'t, G> {
    /// Creates a reader at the beginning of a text. All ads are read by the grammar.
    pub fn new(text: &'t [u8], dialect: Dialect) -> Self {
        RecoveringReader::with_optional_cache(text, dialect, None)
    }
}

impl<'t, G: AdGrammar<'t>, C: BorrowMut<AttributeCache>> RecoveringReader<'t, G, C> {
    /// Creates a reader at the beginning of a text. `cache` has what was read before.
    pub fn with_cache(text: &'t [u8], cache: C) -> Self {
        let dialect = cache.borrow().dialect();
        RecoveringReader::with_optional_cache(text, dialect, Some(cache))
    }

    fn with_optional_cache(text: &'t [u8], dialect: Dialect, cache: Option<C>) -> Self {
        RecoveringReader {
            tokens: TokenStream::new(text, G::lexer(text, 0)),
            dialect,
            number: 0,
            outer: G::Outer::default(),
            cache,
            buffer: AttributeBuffer::default(),
            dissimilar_ads: 0,
            pending: VecDeque::new(),
        }
    }

    /// Returns the text, dialect and number of the next ad.
    fn next_origin(&self) -> AdOrigin<'t> {
        AdOrigin { text: self.tokens.text, dialect: self.dialect, number: self.number + 1 }
    }

    fn queue_ad(&mut self, ad: Ad, offset: usize) {
        self.pending.push_back(Ok(AdEntry { ad, number: self.number, offset, is_whole: true, banner_attributes: 0 }));
    }

    /// Reads up to and including the first token of the next ad. Returns the byte offset of this token. `None` if
    /// something else is to be yielded before, or at the end of the text.
    fn next_ad_start(&mut self) -> Option<usize> {
        while self.pending.is_empty() {
            let origin = self.next_origin();
            let Some(token) = self.tokens.next() else {
                self.pending.extend(G::at_end(&origin, &mut self.tokens).map(Err));
                return None;
            };
            if G::begins_ad(&token.0) {
                self.outer = G::Outer::default();
                return Some(token.1.start);
            }
            if G::is_empty_ad(&token.0) {
                self.number += 1;
                self.queue_ad(Ad::default(), token.1.start);
            } else {
                self.pending.extend(G::outside(&mut self.outer, &origin, &mut self.tokens, token).map(Err));
            }
        }
        None
    }

    /// Reads the ad that begins at byte `start` and appends the ad, or its problems, to `pending`. The first token of
    /// the ad has been read.
    fn read_ad(&mut self, start: usize) {
        let origin = self.next_origin();
        self.number += 1;
        if let Some(cache) = &mut self.cache {
            let cache = cache.borrow_mut();
            if let Some(ad) = G::read_similar_ad(&mut self.tokens, &origin, start, cache, &mut self.buffer) {
                return self.queue_ad(ad, start);
            }
            self.dissimilar_ads += 1;
            if self.dissimilar_ads > MAX_DISSIMILAR_ADS {
                self.cache = None;
            }
        }
        let mut ad = AdBuilder::new(origin);
        build_ad::<G>(&mut self.tokens, start, &mut ad);
        if let Some(whole) = ad.whole.filter(|_| ad.problems.iter().all(|one| one.severity == Severity::Warning)) {
            self.queue_ad(whole, start);
        }
        self.pending.extend(ad.problems.into_iter().map(Err));
    }
}

impl<'t, G: SkippingGrammar<'t>, C: BorrowMut<AttributeCache>> RecoveringReader<'t, G, C> {
    /// Returns the next ad or problem. `skip` is called with the text of an ad and all that follows. It returns the length
    /// of the ad if the ad is to be skipped. `None` at the end of the text.
    pub fn next_or_skip(&mut self, skip: &mut dyn FnMut(&'t [u8]) -> Option<usize>) -> Option<ReadItem> {
        while let Some(start) = self.next_ad_start() {
            if let Some(length) = skip(&self.tokens.text[start..]) {
                G::skip_ad(&mut self.tokens, length);
                self.number += 1;
                return Some(ReadItem::Skipped(self.number));
            }
            self.read_ad(start);
        }
        self.pending.pop_front().map(ReadItem::Read)
    }
}

impl<'t, G: AdGrammar<'t>, C: BorrowMut<AttributeCache>> Iterator for RecoveringReader<'t, G, C> {
    type Item = ReadResult;

    fn next(&mut self) -> Option<ReadResult> {
        while let Some(start) = self.next_ad_start() {
            self.read_ad(start);
        }
        self.pending.pop_front()
    }
}

/// Reads the ad that begins at byte `start`, except for its first token, and adds everything to `ad`.
fn build_ad<'t, G: AdGrammar<'t>>(tokens: &mut TokenStream<'t, G::Lexer>, start: usize, ad: &mut AdBuilder<'t>) {
    let origin = ad.origin;
    let mut grammar = G::at_ad_start(origin.text, start);
    while !grammar.is_done() {
        let Some(token) = tokens.next() else {
            return ad.problems.push(premature_end(&grammar, &origin, origin.text.len()));
        };
        if !grammar.advance(origin.text, &token) {
            let at = token.1.start;
            ad.problems.push(if G::begins_ad(&token.0) && grammar.next_ad_begins_at(origin.text, at) {
                premature_end(&grammar, &origin, at)
            } else {
                grammar.unexpected(&origin, &token)
            });
            recover(&mut grammar, tokens, token);
            return;
        }
        grammar.apply(token, ad);
    }
}

/// Returns the places of the attributes of the ad that begins at byte `offset`.
pub fn attribute_spans<'t, G: AdGrammar<'t>>(text: &'t [u8], offset: usize, dialect: Dialect) -> Vec<AttributeSpan> {
    let mut tokens = TokenStream::new(text, G::lexer(text, offset));
    let mut ad = AdBuilder::new(AdOrigin { text, dialect, number: 0 });
    ad.places = Some(Vec::new());
    if tokens.next().is_some_and(|(token, _)| G::begins_ad(&token)) {
        build_ad::<G>(&mut tokens, offset, &mut ad);
    }
    ad.places.unwrap_or_default()
}

/// Returns the problem of an ad that ends too early. `before` is the byte offset of the end of the text, or of the next
/// ad.
fn premature_end<'t>(grammar: &impl AdGrammar<'t>, origin: &AdOrigin, before: usize) -> Problem {
    let end = origin.text[..before].trim_ascii_end().len();
    let problem = origin.problem_at(end..end, format!("expected {}, found the end", grammar.expected()));
    Problem { related: grammar.innermost(), ..problem }
}

/// Skips the rest of a bad ad. `first` is its first bad token. Returns the byte offset of the end of the ad; `None` if
/// the ad may continue behind the end of the text.
pub fn recover<'t, G: AdGrammar<'t>>(
    grammar: &mut G,
    tokens: &mut TokenStream<'t, G::Lexer>,
    first: Located<G::Token>,
) -> Option<usize> {
    let mut next = Some(first);
    while let Some(token) = next {
        let at = token.1.start;
        if G::begins_ad(&token.0) && grammar.next_ad_begins_at(tokens.text, at) {
            tokens.put_back(token);
            return Some(at);
        }
        if let ControlFlow::Break(end) = grammar.skip(tokens, token) {
            return end;
        }
        next = tokens.next();
    }
    None
}

/// Returns the number of blanks directly before a byte offset.
pub fn blanks_before(text: &[u8], offset: usize) -> usize {
    text[..offset].iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Whether a line end and at most `most_indent` blanks directly precede an offset. So the result is false on the first
/// line.
pub fn begins_line(text: &[u8], offset: usize, most_indent: usize) -> bool {
    let blanks = blanks_before(text, offset);
    blanks <= most_indent && text[..offset - blanks].ends_with(b"\n")
}

#[cfg(test)]
mod tests {
    use super::begins_line;

    #[test]
    fn a_line_begins_behind_its_end_with_few_blanks() {
        for (text, most_indent, expected) in [
            ("a\n<", 0, true),
            ("a\n  <", 2, true),
            ("a\n\t<", 1, true),
            ("a\n  <", 1, false),
            ("a <", 1, false),
            ("a<", 1, false),
            // The first line has no line end before it.
            ("<", 1, false),
            (" <", 1, false),
        ] {
            assert_eq!(begins_line(text.as_bytes(), text.len() - 1, most_indent), expected, "{text:?} {most_indent}");
        }
    }
}
