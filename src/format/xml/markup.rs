//! Tags and what stands between them, as quick-xml finds them, with their places.

use std::fmt;
use std::ops::Range;

use quick_xml::Reader;
use quick_xml::errors::{Error, SyntaxError};
use quick_xml::events::{BytesStart, Event};

/// The elements of HTCondor's DTD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// What holds the ads.
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
    /// Any other.
    Unknown,
}

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

    /// Whether it is a value.
    pub fn is_value(self) -> bool {
        !matches!(self, Tag::Ads | Tag::Attribute | Tag::Unknown)
    }

    /// Whether it holds text.
    pub fn holds_text(self) -> bool {
        matches!(self, Tag::Integer | Tag::Real | Tag::String | Tag::Expression | Tag::AbsoluteTime | Tag::RelativeTime)
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(TAGS.iter().find(|(_, tag)| tag == self).map_or("?", |(name, _)| name))
    }
}

/// A piece of markup, or of what stands between.
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
    /// Text that cannot be read; what stands behind it can.
    BadText,
    /// A tag that cannot be read; what stands behind it can.
    BadTag,
    /// A tag in which another one begins.
    Torn,
    /// Something that nothing closes, to the end of the text.
    Unclosed(SyntaxError),
}

/// The opening and the closing bytes of [`Markup::Data`].
pub const DATA: [&[u8]; 2] = [b"<![CDATA[", b"]]>"];

/// For each thing that nothing closes the text is searched to its end; that many are enough.
const MOST_FAILURES: usize = 100;

/// A piece and where it stands.
pub type Placed<'t> = (Markup<'t>, Range<usize>);

/// The pieces of a text, one after the other; comments and prologues are left out.
pub struct Markups<'t> {
    pub text: &'t [u8],
    /// Where the inner reader began, which counts from there.
    base: usize,
    reader: Reader<&'t [u8]>,
    returned: Option<Placed<'t>>,
    /// How much was found that is torn or not closed.
    failures: usize,
}

impl<'t> Markups<'t> {
    pub fn new(text: &'t [u8]) -> Self {
        let mut markups = Markups { text, base: 0, reader: Reader::from_reader(text), returned: None, failures: 0 };
        markups.restart(0);
        markups
    }

    /// Reads on from this offset.
    pub fn restart(&mut self, offset: usize) {
        let mut rest = &self.text[offset..];
        // The inner reader would pass over it without counting.
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

    /// Puts a piece back that is to be read again.
    pub fn put_back(&mut self, piece: Placed<'t>) {
        self.returned = Some(piece);
    }

    /// Whether so much is not closed that the rest is not read.
    pub fn gave_up(&self) -> bool {
        self.failures > MOST_FAILURES
    }

    fn offset(&self) -> usize {
        self.base + usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX)
    }

    /// Where a tag is torn: nothing can begin in it.
    fn tear(&mut self, markup: &Markup, start: usize) -> Option<usize> {
        if !matches!(markup, Markup::Open(..) | Markup::Close(_) | Markup::Empty(..)) || self.gave_up() {
            return None;
        }
        let at = start + 1 + memchr::memchr(b'<', &self.text[start + 1..self.offset()])?;
        self.failures += 1;
        self.restart(at);
        Some(at)
    }

    /// What an error of the inner reader, which stops it, is about.
    fn error(&mut self, error: &Error, start: usize) -> Placed<'t> {
        let end = self.offset().clamp(start, self.text.len());
        if let Error::Syntax(error) = error {
            self.failures += 1;
            return (Markup::Unclosed(*error), start..self.text.len());
        }
        self.restart(end);
        let markup = if self.text[start..].starts_with(b"<") { Markup::BadTag } else { Markup::BadText };
        (markup, start..end)
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
            if let Some(at) = self.tear(&markup, start) {
                return Some((Markup::Torn, start..at));
            }
            return Some((markup, start..self.offset()));
        }
    }
}
