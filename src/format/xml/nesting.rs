//! State machine over the markup of an ad: checks the order of tags, and finds where ads begin and end.

use super::markup::{Markup, Markups, Placed, Tag};

/// The effect of a piece of markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Begins an element.
    Open(Tag),
    /// Ends the innermost element.
    Close(Tag),
    /// Is an empty element.
    Empty(Tag),
    /// Is part of the text of an element.
    Content,
    /// Is white space between tags.
    Nothing,
}

/// An open element.
#[derive(Clone, Copy, Debug)]
pub struct Element {
    pub tag: Tag,
    /// Byte offset of its opening tag.
    pub offset: usize,
    /// Whether the element, if it is an attribute, has its value already.
    filled: bool,
}

/// Position in the structure of an ad: the open elements.
#[derive(Debug)]
pub struct Shape {
    open: Vec<Element>,
    /// Number of blanks before the ad on its line.
    indent: usize,
}

impl Shape {
    /// Creates the state behind the `<c>` that begins an ad at this offset.
    pub fn begin(text: &[u8], offset: usize) -> Self {
        Shape { open: vec![Element { tag: Tag::Ad, offset, filled: false }], indent: blanks_before(text, offset) }
    }

    /// Whether the ad has ended.
    pub fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    /// The innermost element that is open.
    pub fn innermost(&self) -> Option<Element> {
        self.open.last().copied()
    }

    /// Whether a value can stand here.
    fn wants_value(&self) -> bool {
        match self.open.last() {
            Some(Element { tag: Tag::Attribute, filled, .. }) => !filled,
            innermost => innermost.is_some_and(|element| element.tag == Tag::List),
        }
    }

    /// Advances over a piece of markup and returns its effect; `None` if it cannot stand here.
    pub fn step(&mut self, (markup, range): &Placed, text: &[u8]) -> Option<Step> {
        let innermost = *self.open.last()?;
        let step = match markup {
            Markup::Open(tag, _) if tag.is_value() && self.wants_value() => Step::Open(*tag),
            Markup::Open(Tag::Attribute, _) if innermost.tag == Tag::Ad => Step::Open(Tag::Attribute),
            Markup::Empty(tag, _) if tag.is_value() && self.wants_value() => Step::Empty(*tag),
            Markup::Close(Tag::Attribute) if innermost.tag == Tag::Attribute && !innermost.filled => return None,
            Markup::Close(tag) if innermost.tag == *tag => Step::Close(*tag),
            Markup::Text | Markup::Data | Markup::BadText if innermost.tag.holds_text() => Step::Content,
            Markup::Text if text[range.clone()].trim_ascii().is_empty() => Step::Nothing,
            _ => return None,
        };
        match step {
            Step::Open(tag) => {
                self.fill();
                self.open.push(Element { tag, offset: range.start, filled: false });
            }
            Step::Empty(_) => self.fill(),
            Step::Close(_) => drop(self.open.pop()),
            Step::Content | Step::Nothing => {}
        }
        Some(step)
    }

    fn fill(&mut self) {
        if let Some(innermost) = self.open.last_mut() {
            innermost.filled = true;
        }
    }

    /// Describes the markup that can stand here, for messages.
    pub fn expected(&self) -> String {
        match self.open.last() {
            Some(Element { tag: Tag::Ad, .. }) => "`<a n=\"...\">` or `</c>`".to_owned(),
            Some(Element { tag: Tag::Attribute, filled: false, .. }) => "a value, such as `<i>` or `<s>`".to_owned(),
            Some(Element { tag: Tag::List, .. }) => "a value or `</l>`".to_owned(),
            Some(Element { tag, .. }) => format!("`</{tag}>`"),
            None => "`<c>`".to_owned(),
        }
    }

    /// Skips the rest of a bad ad, from its first bad piece on.
    ///
    /// The ad ends with its `</c>`, or before the markup that most likely begins the next ad. Returns the end of the
    /// ad; `None` if the ad may continue behind the end of the text.
    pub fn recover<'t>(&mut self, markups: &mut Markups<'t>, first: Placed<'t>) -> Option<usize> {
        let mut depth = self.open.iter().filter(|element| element.tag == Tag::Ad).count();
        let mut next = Some(first);
        while let Some(piece) = next {
            let range = piece.1.clone();
            match piece.0 {
                Markup::Open(Tag::Ad, _) if self.ends_before(markups.text, range.start) => {
                    markups.put_back(piece);
                    return Some(range.start);
                }
                Markup::Open(Tag::Ads, _) | Markup::Close(Tag::Ads) => return Some(range.end),
                Markup::Open(Tag::Ad, _) => depth += 1,
                Markup::Close(Tag::Ad) => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(range.end);
                    }
                }
                Markup::Unclosed(_) => return skip_unclosed(markups, range.start, self.indent),
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
    pub fn ends_before(&self, text: &[u8], offset: usize) -> bool {
        self.open.last().is_some_and(|element| element.tag == Tag::Ad) || begins_line(text, offset, self.indent)
    }
}

/// Continues at the next line that begins with `<c>` and is indented by at most `indent` blanks. Returns its offset;
/// `None` if there is no such line or the reader has given up.
pub fn skip_unclosed(markups: &mut Markups, offset: usize, indent: usize) -> Option<usize> {
    let text = markups.text;
    if markups.gave_up() {
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
pub fn whole(text: &[u8]) -> usize {
    let mut markups = Markups::new(text);
    let mut end = 0;
    while let Some((markup, range)) = markups.next() {
        match markup {
            Markup::Open(Tag::Ad, _) => match ad_end(&mut markups, range.start) {
                Some(ad_end) => end = ad_end,
                None => break,
            },
            Markup::Empty(Tag::Ad, _) => end = range.end,
            Markup::Unclosed(_) => break,
            _ => {}
        }
    }
    end
}

/// Returns the end of the ad whose `<c>` at `start` has been read; `None` if it may continue behind the end of the
/// text.
fn ad_end(markups: &mut Markups, start: usize) -> Option<usize> {
    let mut shape = Shape::begin(markups.text, start);
    while let Some(piece) = markups.next() {
        if matches!(piece.0, Markup::Unclosed(_)) {
            return None;
        }
        match shape.step(&piece, markups.text) {
            Some(Step::Close(_)) if shape.is_done() => return Some(piece.1.end),
            Some(_) => {}
            None => return shape.recover(markups, piece),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::whole;

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
            assert_eq!(whole(text.as_bytes()), length, "{text}");
        }
    }
}
