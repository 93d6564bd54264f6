//! An ad under construction, of the tokens of JSON or XML.

use std::ops::Range;

use crate::ad::{Ad, Dialect, Expression, ExpressionKind, Name, Span};

use super::attribute_span::{AttributeSpan, ExpressionSource};
use super::diagnostic::lost_value;
use super::source_map::DecodedText;
use super::{Problem, Severity};

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

/// An ad under construction, with the problems found in it.
pub struct AdBuilder<'t> {
    pub origin: AdOrigin<'t>,
    /// The text of the current scalar as far as it was read. It is used by formats in which a scalar consists of
    /// several tokens.
    pub content: DecodedText,
    open: Vec<OpenValue>,
    /// The complete ad; `None` before its end.
    pub whole: Option<Ad>,
    pub problems: Vec<Problem>,
    /// Places of the attributes of the outermost ad. `None` if the places are not needed.
    pub places: Option<Vec<AttributeSpan>>,
}

/// An ad or a list that is not complete yet. An ad has the attributes read so far, and the name of the attribute that
/// is read next.
enum OpenValue {
    Ad(Vec<(Name, Expression)>, Option<Name>),
    List(Vec<Expression>),
}

impl<'t> AdBuilder<'t> {
    pub fn new(origin: AdOrigin<'t>) -> Self {
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
