//! Reader for JSON and XML, in which ads nest in brackets or elements. It continues behind bad ads.
//!
//! Each format implements [`AdGrammar`]: which token can stand where, what a token adds to the ad, and where a bad ad
//! most likely ends. This module has the loops over the tokens, which read ads, report problems and find the next ad.

use std::borrow::BorrowMut;
use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};

use crate::ad::{Ad, Dialect, Expression, ExpressionKind, Name, Span};

use super::attribute_cache::{AttributeBuffer, AttributeCache};
use super::attribute_span::{AttributeSpan, ExpressionSource};
use super::diagnostic::lost_value;
use super::document_nesting::{DocumentNesting, FollowedText};
use super::source_map::DecodedText;
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
    fn new(text: &'t [u8], lexer: L) -> Self {
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

/// The text, dialect and number of an ad. The values of the ad are read from the text, and messages name the number.
#[derive(Clone, Copy)]
pub struct AdOrigin<'t> {
    pub text: &'t [u8],
    pub dialect: Dialect,
    /// 1-based number of the ad in the text.
    pub number: usize,
}

impl AdOrigin<'_> {
    /// Creates an error with the number of the ad.
    pub fn problem_at(&self, range: Range<usize>, message: impl Into<String>) -> Problem {
        Problem::error_at(range, self.number, message)
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
fn recover<'t, G: AdGrammar<'t>>(
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

/// Returns the length in bytes of the longest prefix of a text that contains only complete ads.
///
/// The text may end anywhere. What follows the prefix must be read again together with more text.
pub fn complete_prefix_length<'t, G: AdGrammar<'t>>(text: &'t [u8]) -> usize {
    follow_document::<G>(text, DocumentNesting::default()).complete_length
}

/// Follows a text behind a complete ad to its end. The text may end anywhere.
pub fn follow_document<'t, G: AdGrammar<'t>>(text: &'t [u8], mut nesting: DocumentNesting) -> FollowedText {
    let mut tokens = TokenStream::new(text, G::lexer(text, 0));
    let mut followed = FollowedText { complete_length: 0, at_complete: nesting, at_end: None };
    while let Some(token) = tokens.next() {
        nesting.has_content |= !text[token.1.clone()].trim_ascii().is_empty();
        if G::begins_ad(&token.0) {
            let start = token.1.start;
            let end = G::skip_plain_ad(&mut tokens, start).or_else(|| ad_end::<G>(&mut tokens, start));
            let Some(end) = end else { return followed };
            if G::takes_end(&text[..end]) {
                nesting.close(end);
            }
            followed = FollowedText { complete_length: end, at_complete: nesting, ..followed };
        } else if G::is_empty_ad(&token.0) {
            followed = FollowedText { complete_length: token.1.end, at_complete: nesting, ..followed };
        } else if G::is_unclosed(text, &token) {
            return followed;
        } else {
            match G::nesting(&token.0) {
                Some(true) => nesting.open(token.1.start),
                Some(false) => nesting.close(token.1.start),
                None => {}
            }
        }
    }
    FollowedText { at_end: Some(nesting), ..followed }
}

/// Whether a text is exactly one complete ad, with only white space around it.
pub fn is_single_ad<'t, G: AdGrammar<'t>>(text: &'t [u8]) -> bool {
    let mut tokens = TokenStream::new(text, G::lexer(text, 0));
    tokens
        .next()
        .filter(|token| G::begins_ad(&token.0))
        .and_then(|token| ad_end::<G>(&mut tokens, token.1.start))
        .is_some_and(|end| text[end..].trim_ascii().is_empty())
}

/// Returns the byte offset of the end of the ad that begins at `start`. `None` if the ad may continue behind the end of
/// the text. The first token of the ad has been read.
fn ad_end<'t, G: AdGrammar<'t>>(tokens: &mut TokenStream<'t, G::Lexer>, start: usize) -> Option<usize> {
    let mut grammar = G::at_ad_start(tokens.text, start);
    while let Some(token) = tokens.next() {
        if G::is_unclosed(tokens.text, &token) {
            return None;
        }
        if !grammar.advance(tokens.text, &token) {
            return recover(&mut grammar, tokens, token);
        }
        if grammar.is_done() {
            return Some(token.1.end);
        }
    }
    None
}

/// An ad under construction, with the problems found in it.
pub struct AdBuilder<'t> {
    pub origin: AdOrigin<'t>,
    /// The text of the current scalar as far as it was read. It is used by formats in which a scalar consists of
    /// several tokens.
    pub content: DecodedText,
    open: Vec<OpenValue>,
    /// The complete ad; `None` before its end.
    whole: Option<Ad>,
    problems: Vec<Problem>,
    /// Places of the attributes of the outermost ad. `None` if the places are not needed.
    places: Option<Vec<AttributeSpan>>,
}

/// An ad or a list that is not complete yet. An ad has the attributes read so far, and the name of the attribute that
/// is read next.
enum OpenValue {
    Ad(Vec<(Name, Expression)>, Option<Name>),
    List(Vec<Expression>),
}

impl<'t> AdBuilder<'t> {
    fn new(origin: AdOrigin<'t>) -> Self {
        let open = vec![OpenValue::Ad(Vec::new(), None)];
        AdBuilder { origin, content: DecodedText::default(), open, whole: None, problems: Vec::new(), places: None }
    }

    /// Begins a nested ad, which becomes a value of the innermost open ad or list.
    pub fn open_ad(&mut self) {
        self.open.push(OpenValue::Ad(Vec::new(), None));
    }

    /// Begins a list, which becomes a value of the innermost open ad or list.
    pub fn open_list(&mut self) {
        self.open.push(OpenValue::List(Vec::new()));
    }

    /// Returns a value that was read. If reading failed, records the problem and returns `None`.
    pub fn value_or_report<T>(&mut self, read: Result<T, Problem>) -> Option<T> {
        read.map_err(|problem| self.problems.push(problem)).ok()
    }

    /// Sets the name of the next value of the innermost ad. `range` is the byte range of the name. If the name could
    /// not be read, records the problem and leaves the value out.
    pub fn push_name(&mut self, range: &Range<usize>, read: Result<Name, Problem>) {
        let named = self.value_or_report(read);
        if let ([_], Some(places), Some(name)) = (self.open.as_slice(), &mut self.places, &named) {
            let source = ExpressionSource::Opaque(range.clone());
            places.push(AttributeSpan { name: name.clone(), name_range: range.clone(), source });
        }
        if let Some(OpenValue::Ad(_, name)) = self.open.last_mut() {
            *name = named;
        }
    }

    /// Notes where the value of the newest attribute of the outermost ad stands in the file. Does nothing inside nested
    /// ads and lists, or if places are not needed.
    pub fn note_source(&mut self, source: impl FnOnce() -> ExpressionSource) -> &mut Self {
        if let ([OpenValue::Ad(..)], Some(places)) = (self.open.as_slice(), &mut self.places)
            && let Some(place) = places.last_mut()
        {
            place.source = source();
        }
        self
    }

    /// Adds a value to the innermost open ad or list. If the value could not be read, records the problem; if only the
    /// value is lost, an error takes its place.
    pub fn push_value(&mut self, read: Result<Expression, Problem>) {
        let lost = read.as_ref().err().filter(|problem| problem.severity == Severity::Warning).map(|_| lost_value());
        let Some(value) = self.value_or_report(read).or(lost) else { return };
        match self.open.last_mut() {
            Some(OpenValue::Ad(attributes, name)) => attributes.extend(name.take().map(|name| (name, value))),
            Some(OpenValue::List(elements)) => elements.push(value),
            None => {}
        }
    }

    /// Ends the innermost open ad or list.
    pub fn close(&mut self) {
        let kind = match self.open.pop() {
            Some(OpenValue::Ad(attributes, _)) if self.open.is_empty() => {
                self.whole = Some(attributes.into_iter().collect());
                return;
            }
            Some(OpenValue::Ad(attributes, _)) => ExpressionKind::Ad(attributes.into_iter().collect()),
            Some(OpenValue::List(elements)) => ExpressionKind::List(elements.into()),
            None => return,
        };
        self.push_value(Ok(Expression::new(kind, Span::default())));
    }
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
