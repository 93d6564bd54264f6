//! State machine over the markup of an ad: checks the order of tags, and finds where ads begin and end.

use super::markup::{LocatedMarkup, MarkupReader, XmlMarkup, XmlTag};

/// The effect of a piece of markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XmlStep {
    /// Begins an element.
    Open(XmlTag),
    /// Ends the innermost element.
    Close(XmlTag),
    /// Is an empty element.
    Empty(XmlTag),
    /// Is part of the text of an element.
    Content,
    /// Is white space between tags.
    WhiteSpace,
}

/// An open element.
#[derive(Clone, Copy, Debug)]
pub struct OpenElement {
    pub tag: XmlTag,
    /// Byte offset of its opening tag.
    pub offset: usize,
    /// Whether the element, if it is an attribute, has its value already.
    has_value: bool,
}

/// Position in the structure of an ad: the open elements.
#[derive(Debug)]
pub struct XmlNesting {
    open: Vec<OpenElement>,
    /// Number of blanks before the ad on its line.
    indent: usize,
}

impl XmlNesting {
    /// Creates the state behind the `<c>` that begins an ad at this offset.
    pub fn at_ad_start(text: &[u8], offset: usize) -> Self {
        XmlNesting {
            open: vec![OpenElement { tag: XmlTag::Ad, offset, has_value: false }],
            indent: blanks_before(text, offset),
        }
    }

    /// Whether the ad has ended.
    pub fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    /// The innermost element that is open.
    pub fn innermost(&self) -> Option<OpenElement> {
        self.open.last().copied()
    }

    /// Whether a value can stand here.
    fn wants_value(&self) -> bool {
        match self.open.last() {
            Some(OpenElement { tag: XmlTag::Attribute, has_value: filled, .. }) => !filled,
            innermost => innermost.is_some_and(|element| element.tag == XmlTag::List),
        }
    }

    /// Advances over a piece of markup and returns its effect; `None` if it cannot stand here.
    pub fn advance(&mut self, (markup, range): &LocatedMarkup, text: &[u8]) -> Option<XmlStep> {
        let innermost = *self.open.last()?;
        let step = match markup {
            XmlMarkup::Open(tag, _) if tag.is_value() && self.wants_value() => XmlStep::Open(*tag),
            XmlMarkup::Open(XmlTag::Attribute, _) if innermost.tag == XmlTag::Ad => XmlStep::Open(XmlTag::Attribute),
            XmlMarkup::Empty(tag, _) if tag.is_value() && self.wants_value() => XmlStep::Empty(*tag),
            XmlMarkup::Close(XmlTag::Attribute) if innermost.tag == XmlTag::Attribute && !innermost.has_value => {
                return None;
            }
            XmlMarkup::Close(tag) if innermost.tag == *tag => XmlStep::Close(*tag),
            XmlMarkup::Text | XmlMarkup::CData | XmlMarkup::BadText if innermost.tag.holds_text() => XmlStep::Content,
            XmlMarkup::Text if text[range.clone()].trim_ascii().is_empty() => XmlStep::WhiteSpace,
            _ => return None,
        };
        match step {
            XmlStep::Open(tag) => {
                self.mark_value();
                self.open.push(OpenElement { tag, offset: range.start, has_value: false });
            }
            XmlStep::Empty(_) => self.mark_value(),
            XmlStep::Close(_) => drop(self.open.pop()),
            XmlStep::Content | XmlStep::WhiteSpace => {}
        }
        Some(step)
    }

    fn mark_value(&mut self) {
        if let Some(innermost) = self.open.last_mut() {
            innermost.has_value = true;
        }
    }

    /// Describes the markup that can stand here, for messages.
    pub fn expected(&self) -> String {
        match self.open.last() {
            Some(OpenElement { tag: XmlTag::Ad, .. }) => "`<a n=\"...\">` or `</c>`".to_owned(),
            Some(OpenElement { tag: XmlTag::Attribute, has_value: false, .. }) => {
                "a value, such as `<i>` or `<s>`".to_owned()
            }
            Some(OpenElement { tag: XmlTag::List, .. }) => "a value or `</l>`".to_owned(),
            Some(OpenElement { tag, .. }) => format!("`</{tag}>`"),
            None => "`<c>`".to_owned(),
        }
    }

    /// Skips the rest of a bad ad, from its first bad piece on.
    ///
    /// The ad ends with its `</c>`, or before the markup that most likely begins the next ad. Returns the end of the
    /// ad; `None` if the ad may continue behind the end of the text.
    pub fn recover<'t>(&mut self, markups: &mut MarkupReader<'t>, first: LocatedMarkup<'t>) -> Option<usize> {
        let mut depth = self.open.iter().filter(|element| element.tag == XmlTag::Ad).count();
        let mut next = Some(first);
        while let Some(piece) = next {
            let range = piece.1.clone();
            match piece.0 {
                XmlMarkup::Open(XmlTag::Ad, _) if self.next_ad_begins_at(markups.text, range.start) => {
                    markups.put_back(piece);
                    return Some(range.start);
                }
                XmlMarkup::Open(XmlTag::Ads, _) | XmlMarkup::Close(XmlTag::Ads) => return Some(range.end),
                XmlMarkup::Open(XmlTag::Ad, _) => depth += 1,
                XmlMarkup::Close(XmlTag::Ad) => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(range.end);
                    }
                }
                XmlMarkup::Unclosed(_) => return skip_unclosed(markups, range.start, self.indent),
                _ => {}
            }
            // The position of the error matters only for the first piece.
            self.open.clear();
            next = markups.next();
        }
        None
    }

    /// Whether a bad ad ends before the `<c>` at this offset: an ad cannot stand directly in another one, and one at
    /// the beginning of a line that is indented no more is the next.
    pub fn next_ad_begins_at(&self, text: &[u8], offset: usize) -> bool {
        self.open.last().is_some_and(|element| element.tag == XmlTag::Ad) || begins_line(text, offset, self.indent)
    }
}

/// Continues at the next line that begins with `<c>` and is indented by at most `indent` blanks. Returns its offset;
/// `None` if there is no such line or the reader has given up.
pub fn skip_unclosed(markups: &mut MarkupReader, offset: usize, indent: usize) -> Option<usize> {
    let text = markups.text;
    if markups.has_given_up() {
        markups.restart(text.len());
        return None;
    }
    let next = memchr::memmem::find_iter(&text[offset + 1..], b"<c>")
        .map(|at| offset + 1 + at)
        .find(|at| begins_line(text, *at, indent));
    markups.restart(next.unwrap_or(text.len()));
    next
}

fn blanks_before(text: &[u8], offset: usize) -> usize {
    text[..offset].iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

fn begins_line(text: &[u8], offset: usize, most_indent: usize) -> bool {
    let blanks = blanks_before(text, offset);
    blanks <= most_indent && text[..offset - blanks].ends_with(b"\n")
}

/// Returns the length in bytes of the longest prefix of a text that contains only complete ads; the text may end
/// anywhere.
///
/// The rest must be read again with more text behind it.
pub fn complete_prefix_length(text: &[u8]) -> usize {
    let mut markups = MarkupReader::new(text);
    let mut end = 0;
    while let Some((markup, range)) = markups.next() {
        match markup {
            XmlMarkup::Open(XmlTag::Ad, _) => match ad_end(&mut markups, range.start) {
                Some(ad_end) => end = ad_end,
                None => break,
            },
            XmlMarkup::Empty(XmlTag::Ad, _) => end = range.end,
            XmlMarkup::Unclosed(_) => break,
            _ => {}
        }
    }
    end
}

/// Returns the end of the ad whose `<c>` at `start` has been read; `None` if it may continue behind the end of the
/// text.
fn ad_end(markups: &mut MarkupReader, start: usize) -> Option<usize> {
    let mut shape = XmlNesting::at_ad_start(markups.text, start);
    while let Some(piece) = markups.next() {
        if matches!(piece.0, XmlMarkup::Unclosed(_)) {
            return None;
        }
        match shape.advance(&piece, markups.text) {
            Some(XmlStep::Close(_)) if shape.is_done() => return Some(piece.1.end),
            Some(_) => {}
            None => return shape.recover(markups, piece),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::complete_prefix_length;

    #[test]
    fn whole_ads() {
        for (text, length) in [
            ("", 0),
            ("<c></c>", 7),
            ("<classads><c></c></classads>", 17),
            ("<c></c><c><a n=\"", 7),
            ("<c/><c><a n=\"/c>\">", 4),
            ("<c><a n='/c>'><i>1</i></a></c> ", 30),
            ("<c><a n=\"x\"><c></c></a></c>", 27),
            ("<c><a n=\"x\"><c></c></a></", 0),
            ("<c><!-- </c> --></c>", 20),
            ("<c><a n=\"x\"><s><![CDATA[</c>]]></s></a></c>", 43),
            ("<c><a n=\"x\"><s>&lt;/c&gt;</s></a></c><", 37),
            ("</classads></c><c></c>", 22),
            // A bad ad ends where the reader continues.
            ("<c><a n=\"x\"></c>\n<c></c>\n<c>", 24),
            ("<c><a n=\"x\"><i>1</i></a><c></c>", 31),
        ] {
            assert_eq!(complete_prefix_length(text.as_bytes()), length, "{text}");
        }
    }
}
