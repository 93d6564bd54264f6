//! Markup tokens of XML with their byte ranges, built on quick-xml.

use std::fmt;
use std::ops::Range;

use quick_xml::Reader;
use quick_xml::errors::{Error, SyntaxError};
use quick_xml::events::{BytesStart, Event};

/// The elements of HTCondor's DTD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// The root element, which contains the ads.
    Ads,
    Ad,
    Attribute,
    List,
    Integer,
    Real,
    String,
    Boolean,
    Undefined,
    Error,
    Expression,
    AbsoluteTime,
    RelativeTime,
    /// Any other element.
    Unknown,
}

/// The elements by their names.
const TAGS: [(&str, Tag); 13] = [
    ("classads", Tag::Ads),
    ("c", Tag::Ad),
    ("a", Tag::Attribute),
    ("l", Tag::List),
    ("i", Tag::Integer),
    ("r", Tag::Real),
    ("s", Tag::String),
    ("b", Tag::Boolean),
    ("un", Tag::Undefined),
    ("er", Tag::Error),
    ("e", Tag::Expression),
    ("at", Tag::AbsoluteTime),
    ("rt", Tag::RelativeTime),
];

impl Tag {
    fn of(name: &str) -> Tag {
        TAGS.iter().find(|(text, _)| *text == name).map_or(Tag::Unknown, |(_, tag)| *tag)
    }

    /// Whether the element is a value.
    pub fn is_value(self) -> bool {
        !matches!(self, Tag::Ads | Tag::Attribute | Tag::Unknown)
    }

    /// Whether the element contains text.
    pub fn holds_text(self) -> bool {
        matches!(self, Tag::Integer | Tag::Real | Tag::String | Tag::Expression | Tag::AbsoluteTime | Tag::RelativeTime)
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(TAGS.iter().find(|(_, tag)| tag == self).map_or("?", |(name, _)| name))
    }
}

/// A tag, or text between tags.
#[derive(Debug)]
pub enum Markup<'t> {
    /// `<name ...>`
    Open(Tag, BytesStart<'t>),
    /// `</name>`
    Close(Tag),
    /// `<name .../>`
    Empty(Tag, BytesStart<'t>),
    /// Text with references.
    Text,
    /// `<![CDATA[...]]>`
    Data,
    /// Text that is not UTF-8; reading continues behind it.
    BadText,
    /// A tag that is not UTF-8; reading continues behind it.
    BadTag,
    /// A tag without its `>`: another tag begins first.
    Torn,
    /// Markup without its closing delimiter; it extends to the end of the text.
    Unclosed(SyntaxError),
}

/// The opening and the closing bytes of [`Markup::Data`].
pub const DATA: [&[u8]; 2] = [b"<![CDATA[", b"]]>"];

/// Maximum number of unclosed constructs before the reader gives up: for each one the text is searched to its end, so
/// the total time would be quadratic.
const MOST_FAILURES: usize = 100;

/// A piece of markup with its byte range.
pub type Placed<'t> = (Markup<'t>, Range<usize>);

/// Iterator over the markup of a text. Comments and prologues are left out.
pub struct Markups<'t> {
    pub text: &'t [u8],
    /// Offset at which the inner reader began; its positions are relative to it.
    base: usize,
    reader: Reader<&'t [u8]>,
    /// The piece that was put back.
    returned: Option<Placed<'t>>,
    /// Number of [`Markup::Torn`] and [`Markup::Unclosed`] found so far.
    failures: usize,
}

impl<'t> Markups<'t> {
    pub fn new(text: &'t [u8]) -> Self {
        let mut markups = Markups { text, base: 0, reader: Reader::from_reader(text), returned: None, failures: 0 };
        markups.restart(0);
        markups
    }

    /// Continues at this offset.
    pub fn restart(&mut self, offset: usize) {
        let mut rest = &self.text[offset..];
        // quick-xml skips a byte order mark without counting its bytes.
        while let Some(behind) = rest.strip_prefix(b"\xef\xbb\xbf") {
            rest = behind;
        }
        self.base = self.text.len() - rest.len();
        self.reader = Reader::from_reader(rest);
        let config = self.reader.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        self.returned = None;
    }

    /// Puts a piece back; it is returned next.
    pub fn put_back(&mut self, piece: Placed<'t>) {
        self.returned = Some(piece);
    }

    /// Whether the reader has given up because too much is not closed.
    pub fn gave_up(&self) -> bool {
        self.failures > MOST_FAILURES
    }

    fn offset(&self) -> usize {
        self.base + usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX)
    }

    /// Returns the tag at `start` as [`Markup::Torn`] if another one begins before `end`, and continues there. A tag
    /// cannot contain `<`.
    fn torn(&mut self, start: usize, end: usize) -> Option<Placed<'t>> {
        if self.gave_up() {
            return None;
        }
        let at = start + 1 + memchr::memchr(b'<', &self.text[start + 1..end])?;
        self.failures += 1;
        self.restart(at);
        Some((Markup::Torn, start..at))
    }

    /// Converts an error of quick-xml into markup and continues behind it; after an error quick-xml itself stops.
    fn error(&mut self, error: &Error, start: usize) -> Placed<'t> {
        let end = self.offset().clamp(start, self.text.len());
        if let Error::Syntax(error) = error {
            let is_tag = matches!(
                error,
                SyntaxError::UnclosedTag
                    | SyntaxError::UnclosedSingleQuotedAttributeValue
                    | SyntaxError::UnclosedDoubleQuotedAttributeValue
            );
            if is_tag && let Some(torn) = self.torn(start, self.text.len()) {
                return torn;
            }
            self.failures += 1;
            return (Markup::Unclosed(*error), start..self.text.len());
        }
        // All other errors are bytes that are not UTF-8.
        if !self.text[start..].starts_with(b"<") {
            self.restart(end);
            return (Markup::BadText, start..end);
        }
        self.torn(start, end).unwrap_or_else(|| {
            self.restart(end);
            (Markup::BadTag, start..end)
        })
    }
}

impl<'t> Iterator for Markups<'t> {
    type Item = Placed<'t>;

    fn next(&mut self) -> Option<Placed<'t>> {
        if let Some(piece) = self.returned.take() {
            return Some(piece);
        }
        loop {
            let start = self.offset();
            let markup = match self.reader.read_event() {
                Ok(Event::Start(start)) => Markup::Open(Tag::of(start.name().as_ref()), start),
                Ok(Event::End(end)) => Markup::Close(Tag::of(end.name().as_ref())),
                Ok(Event::Empty(start)) => Markup::Empty(Tag::of(start.name().as_ref()), start),
                Ok(Event::Text(_) | Event::GeneralRef(_)) => Markup::Text,
                Ok(Event::CData(_)) => Markup::Data,
                Ok(Event::Comment(_) | Event::PI(_) | Event::Decl(_) | Event::DocType(_)) => continue,
                Ok(Event::Eof) => return None,
                Err(error) => {
                    if start >= self.text.len() {
                        return None;
                    }
                    return Some(self.error(&error, start));
                }
            };
            if matches!(markup, Markup::Open(..) | Markup::Close(_) | Markup::Empty(..))
                && let Some(torn) = self.torn(start, self.offset())
            {
                return Some(torn);
            }
            return Some((markup, start..self.offset()));
        }
    }
}
