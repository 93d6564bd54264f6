//! Reader of XML markup with byte ranges, built on quick-xml.

use std::fmt;

use quick_xml::Reader;
use quick_xml::errors::{Error, SyntaxError};
use quick_xml::events::{BytesStart, Event};

use crate::format::nested_reader::Located;

/// The elements of HTCondor's DTD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XmlTag {
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
    /// An element that HTCondor's DTD does not have.
    Unknown,
}

/// The names of the elements.
const TAG_NAMES: [(&str, XmlTag); 13] = [
    ("classads", XmlTag::Ads),
    ("c", XmlTag::Ad),
    ("a", XmlTag::Attribute),
    ("l", XmlTag::List),
    ("i", XmlTag::Integer),
    ("r", XmlTag::Real),
    ("s", XmlTag::String),
    ("b", XmlTag::Boolean),
    ("un", XmlTag::Undefined),
    ("er", XmlTag::Error),
    ("e", XmlTag::Expression),
    ("at", XmlTag::AbsoluteTime),
    ("rt", XmlTag::RelativeTime),
];

impl XmlTag {
    fn of(name: &str) -> XmlTag {
        TAG_NAMES.iter().find(|(text, _)| *text == name).map_or(XmlTag::Unknown, |(_, tag)| *tag)
    }

    /// Whether the element is a value: an ad, a list or a scalar.
    pub fn is_value(self) -> bool {
        !matches!(self, XmlTag::Ads | XmlTag::Attribute | XmlTag::Unknown)
    }

    /// Whether the element contains text, as `<i>1</i>` does.
    pub fn holds_text(self) -> bool {
        matches!(
            self,
            XmlTag::Integer
                | XmlTag::Real
                | XmlTag::String
                | XmlTag::Expression
                | XmlTag::AbsoluteTime
                | XmlTag::RelativeTime
        )
    }
}

impl fmt::Display for XmlTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(TAG_NAMES.iter().find(|(_, tag)| tag == self).map_or("?", |(name, _)| name))
    }
}

/// A tag, or text between tags.
#[derive(Debug)]
pub enum XmlMarkup<'t> {
    /// `<name ...>`
    Open(XmlTag, BytesStart<'t>),
    /// `</name>`
    Close(XmlTag),
    /// `<name .../>`
    Empty(XmlTag, BytesStart<'t>),
    /// Text between tags, with references such as `&amp;`.
    Text,
    /// `<![CDATA[...]]>`
    CData,
    /// Text that is not UTF-8. Reading continues behind this text.
    BadText,
    /// A tag that is not UTF-8. Reading continues behind this tag.
    BadTag,
    /// A tag without its `>`, because another tag begins first.
    InterruptedTag,
    /// Markup without its closing delimiter. It extends to the end of the text.
    Unclosed(SyntaxError),
}

/// The opening and the closing bytes of [`XmlMarkup::CData`].
pub const CDATA_DELIMITERS: [&[u8]; 2] = [b"<![CDATA[", b"]]>"];

/// Maximum number of unclosed constructs before the reader gives up. For each unclosed construct the rest of the text
/// is searched, so without a limit the total time would be quadratic.
const MAX_UNCLOSED_MARKUP: usize = 100;

/// A piece of markup with its byte range.
pub type LocatedMarkup<'t> = Located<XmlMarkup<'t>>;

/// Iterator over the markup of a text, without comments and prologues.
pub struct MarkupReader<'t> {
    text: &'t [u8],
    /// Byte offset in the text at which `reader` begins. The positions that `reader` returns count from this offset.
    base: usize,
    reader: Reader<&'t [u8]>,
    /// Number of [`XmlMarkup::InterruptedTag`] and [`XmlMarkup::Unclosed`] found so far.
    failures: usize,
}

impl<'t> MarkupReader<'t> {
    /// Creates a reader that begins at byte `offset` of the text.
    pub fn new(text: &'t [u8], offset: usize) -> Self {
        let mut markups = MarkupReader { text, base: 0, reader: Reader::from_reader(text), failures: 0 };
        markups.restart(offset);
        markups
    }

    /// Continues at byte `offset` of the text with a new quick-xml reader.
    pub fn restart(&mut self, offset: usize) {
        let mut rest = &self.text[offset..];
        // quick-xml skips a byte order mark and does not count its bytes. So the mark is removed first.
        while let Some(behind) = rest.strip_prefix(b"\xef\xbb\xbf") {
            rest = behind;
        }
        self.base = self.text.len() - rest.len();
        self.reader = Reader::from_reader(rest);
        let config = self.reader.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
    }

    /// Whether the reader has given up because too many constructs are not closed.
    pub fn has_given_up(&self) -> bool {
        self.failures > MAX_UNCLOSED_MARKUP
    }

    /// Whether the reader has given up since the last call of this method. So the caller reports giving up only once.
    pub fn take_giving_up(&mut self) -> bool {
        let has_given_up = self.has_given_up();
        if has_given_up {
            self.failures = 0;
        }
        has_given_up
    }

    fn offset(&self) -> usize {
        self.base + usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX)
    }

    /// Checks whether another tag begins between `start` and `end`. If so, returns the tag at `start` as
    /// [`XmlMarkup::InterruptedTag`] and continues at the other tag. Otherwise returns `None`. A tag cannot contain
    /// `<`, so every `<` begins another tag.
    fn interrupted_tag(&mut self, start: usize, end: usize) -> Option<LocatedMarkup<'t>> {
        if self.has_given_up() {
            return None;
        }
        let at = start + 1 + memchr::memchr(b'<', &self.text[start + 1..end])?;
        self.failures += 1;
        self.restart(at);
        Some((XmlMarkup::InterruptedTag, start..at))
    }

    /// Does the same for a document type, in which only declarations in brackets begin with `<`. Otherwise a quote or a
    /// bracket that is not closed would take in all ads up to another one.
    fn interrupted_document_type(&mut self, start: usize, end: usize) -> Option<LocatedMarkup<'t>> {
        let at = start + 1 + memchr::memchr(b'<', &self.text[start + 1..end])?;
        let is_declaration = matches!(self.text.get(at + 1), Some(b'!' | b'?')) && self.text[start..at].contains(&b'[');
        if is_declaration { None } else { self.interrupted_tag(start, end) }
    }

    /// Converts an error of quick-xml into markup. Because quick-xml stops after an error, a new quick-xml reader
    /// continues.
    fn error(&mut self, error: &Error, start: usize) -> LocatedMarkup<'t> {
        let end = self.offset().clamp(start, self.text.len());
        if let Error::Syntax(error) = error {
            let is_tag = matches!(
                error,
                SyntaxError::UnclosedTag
                    | SyntaxError::UnclosedSingleQuotedAttributeValue
                    | SyntaxError::UnclosedDoubleQuotedAttributeValue
            );
            if is_tag && let Some(interrupted) = self.interrupted_tag(start, self.text.len()) {
                return interrupted;
            }
            if matches!(error, SyntaxError::UnclosedDoctype)
                && let Some(interrupted) = self.interrupted_document_type(start, self.text.len())
            {
                return interrupted;
            }
            self.failures += 1;
            return (XmlMarkup::Unclosed(*error), start..self.text.len());
        }
        // All other errors of quick-xml are about bytes that are not UTF-8.
        if !self.text[start..].starts_with(b"<") {
            self.restart(end);
            return (XmlMarkup::BadText, start..end);
        }
        self.interrupted_tag(start, end).unwrap_or_else(|| {
            self.restart(end);
            (XmlMarkup::BadTag, start..end)
        })
    }
}

impl<'t> Iterator for MarkupReader<'t> {
    type Item = LocatedMarkup<'t>;

    fn next(&mut self) -> Option<LocatedMarkup<'t>> {
        loop {
            let start = self.offset();
            let markup = match self.reader.read_event() {
                Ok(Event::Start(start)) => XmlMarkup::Open(XmlTag::of(start.name().as_ref()), start),
                Ok(Event::End(end)) => XmlMarkup::Close(XmlTag::of(end.name().as_ref())),
                Ok(Event::Empty(start)) => XmlMarkup::Empty(XmlTag::of(start.name().as_ref()), start),
                Ok(Event::Text(_) | Event::GeneralRef(_)) => XmlMarkup::Text,
                Ok(Event::CData(_)) => XmlMarkup::CData,
                Ok(Event::DocType(_)) => match self.interrupted_document_type(start, self.offset()) {
                    Some(interrupted) => return Some(interrupted),
                    None => continue,
                },
                Ok(Event::Comment(_) | Event::PI(_) | Event::Decl(_)) => continue,
                Ok(Event::Eof) => return None,
                Err(_) if start >= self.text.len() => return None,
                Err(error) => return Some(self.error(&error, start)),
            };
            if matches!(markup, XmlMarkup::Open(..) | XmlMarkup::Close(_) | XmlMarkup::Empty(..))
                && let Some(interrupted) = self.interrupted_tag(start, self.offset())
            {
                return Some(interrupted);
            }
            return Some((markup, start..self.offset()));
        }
    }
}
