//! Grammar of ads in XML: which markup can stand where.

use std::ops::{ControlFlow, Range};

use quick_xml::errors::SyntaxError as Unclosed;

use crate::ad::{Ad, Dialect, Expression, Name};
use crate::format::Problem;
use crate::format::ad_builder::{AdBuilder, AdOrigin};
use crate::format::attribute_cache::{AttributeBuffer, AttributeCache};
use crate::format::nested_reader::{AdGrammar, RecoveringReader, TokenStream, begins_line, blanks_before};

use super::fast_path;
use super::markup::{LocatedMarkup, MarkupReader, XmlMarkup, XmlTag};
use super::value::{append_text, begin_element, end_element, invalid_utf8};

/// An element whose closing tag has not been read yet.
#[derive(Clone, Copy, Debug)]
struct OpenElement {
    tag: XmlTag,
    /// Byte offset of the element's opening tag.
    offset: usize,
    /// Whether the element has a child already. The child of an attribute is its value.
    has_value: bool,
}

/// State of reading an ad: the open elements, outermost first.
#[derive(Debug)]
pub struct XmlGrammar {
    open: Vec<OpenElement>,
    /// Number of blanks directly before the `<c>` that begins the ad.
    indent: usize,
    /// Number of `<c>` elements that are open. It is counted only while a bad ad is skipped.
    skipped_depth: usize,
}

impl OpenElement {
    fn new(tag: XmlTag, offset: usize) -> Self {
        OpenElement { tag, offset, has_value: false }
    }

    /// Whether the element can contain a value as its next child.
    fn takes_value(&self) -> bool {
        match self.tag {
            XmlTag::Attribute => !self.has_value,
            tag => tag == XmlTag::List,
        }
    }
}

impl<'t> AdGrammar<'t> for XmlGrammar {
    type Token = XmlMarkup<'t>;
    type Lexer = MarkupReader<'t>;
    type Outer = ();

    fn lexer(text: &'t [u8], offset: usize) -> MarkupReader<'t> {
        MarkupReader::new(text, offset)
    }

    fn begins_ad(markup: &XmlMarkup) -> bool {
        matches!(markup, XmlMarkup::Open(XmlTag::Ad, _))
    }

    fn is_empty_ad(markup: &XmlMarkup) -> bool {
        matches!(markup, XmlMarkup::Empty(XmlTag::Ad, _))
    }

    fn nesting(markup: &XmlMarkup) -> Option<bool> {
        match markup {
            XmlMarkup::Open(XmlTag::Ads, _) => Some(true),
            XmlMarkup::Close(XmlTag::Ads) => Some(false),
            _ => None,
        }
    }

    fn takes_end(text: &[u8]) -> bool {
        text.ends_with(b"</classads>")
    }

    fn is_unclosed(_: &[u8], (markup, _): &LocatedMarkup) -> bool {
        matches!(markup, XmlMarkup::Unclosed(_))
    }

    fn at_ad_start(text: &[u8], offset: usize) -> Self {
        XmlGrammar {
            open: vec![OpenElement::new(XmlTag::Ad, offset)],
            indent: blanks_before(text, offset),
            skipped_depth: 0,
        }
    }

    fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    fn advance(&mut self, text: &[u8], (markup, range): &LocatedMarkup) -> bool {
        let Some(innermost) = self.open.last_mut() else { return false };
        match markup {
            XmlMarkup::Open(tag, _)
                if tag.is_value() && innermost.takes_value()
                    || (*tag, innermost.tag) == (XmlTag::Attribute, XmlTag::Ad) =>
            {
                innermost.has_value = true;
                self.open.push(OpenElement::new(*tag, range.start));
            }
            XmlMarkup::Empty(tag, _) if tag.is_value() && innermost.takes_value() => innermost.has_value = true,
            // An attribute must have a value before its closing tag.
            XmlMarkup::Close(tag) if innermost.tag == *tag && (*tag != XmlTag::Attribute || innermost.has_value) => {
                self.open.pop();
            }
            XmlMarkup::Text | XmlMarkup::CData | XmlMarkup::BadText if innermost.tag.holds_text() => {}
            XmlMarkup::Text => return text[range.clone()].trim_ascii().is_empty(),
            _ => return false,
        }
        true
    }

    fn apply(&self, (markup, range): LocatedMarkup<'t>, ad: &mut AdBuilder<'t>) {
        match &markup {
            XmlMarkup::Open(tag, start) => begin_element(ad, *tag, start, range),
            XmlMarkup::Empty(tag, start) => {
                begin_element(ad, *tag, start, range);
                end_element(ad, *tag);
            }
            XmlMarkup::Close(tag) => end_element(ad, *tag),
            _ if self.open.last().is_some_and(|innermost| innermost.tag.holds_text()) => {
                append_text(ad, &markup, range);
            }
            _ => {}
        }
    }

    fn expected(&self) -> String {
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

    fn innermost(&self) -> Option<(Range<usize>, String)> {
        let OpenElement { tag, offset, .. } = *self.open.last()?;
        Some((offset..offset + 1, format!("this `<{tag}>` is not closed")))
    }

    fn unexpected(&self, origin: &AdOrigin, (markup, range): &LocatedMarkup) -> Problem {
        if let Some(problem) = markup_error(origin, markup, range) {
            return problem;
        }
        let text = &origin.text[range.clone()];
        let (found, range) = match markup {
            XmlMarkup::Text => {
                let blank = text.len() - text.trim_ascii_start().len();
                ("text".to_owned(), range.start + blank..range.start + text.trim_ascii_end().len())
            }
            XmlMarkup::CData => ("text".to_owned(), range.clone()),
            _ => (format!("`{}`", String::from_utf8_lossy(text)), range.clone()),
        };
        let problem = origin.problem_at(range, format!("expected {}, found {found}", self.expected()));
        match markup {
            XmlMarkup::Close(_) => Problem { related: self.innermost(), ..problem },
            _ => problem,
        }
    }

    /// Returns true for a `<c>` directly in another ad, because ads cannot stand there. Returns true, too, for a `<c>`
    /// that begins a line and is indented no more than the bad ad.
    fn next_ad_begins_at(&self, text: &[u8], offset: usize) -> bool {
        self.open.last().is_some_and(|element| element.tag == XmlTag::Ad) || begins_line(text, offset, self.indent)
    }

    /// Skips markup of a bad ad. The bad ad ends with its own `</c>`, or before that with `<classads>` or
    /// `</classads>`.
    fn skip(
        &mut self,
        tokens: &mut TokenStream<'t, MarkupReader<'t>>,
        (markup, range): LocatedMarkup<'t>,
    ) -> ControlFlow<Option<usize>> {
        // The first call counts the `<c>` in `open` and empties `open`. From then on only the number of open `<c>`
        // matters.
        self.skipped_depth += self.open.drain(..).filter(|element| element.tag == XmlTag::Ad).count();
        match markup {
            XmlMarkup::Open(XmlTag::Ads, _) | XmlMarkup::Close(XmlTag::Ads) => ControlFlow::Break(Some(range.end)),
            XmlMarkup::Open(XmlTag::Ad, _) => {
                self.skipped_depth += 1;
                ControlFlow::Continue(())
            }
            XmlMarkup::Close(XmlTag::Ad) => {
                self.skipped_depth -= 1;
                if self.skipped_depth == 0 { ControlFlow::Break(Some(range.end)) } else { ControlFlow::Continue(()) }
            }
            XmlMarkup::Unclosed(_) => ControlFlow::Break(skip_unclosed(tokens, range.start, self.indent)),
            _ => ControlFlow::Continue(()),
        }
    }

    fn read_similar_ad(
        tokens: &mut TokenStream<'t, MarkupReader<'t>>,
        origin: &AdOrigin,
        start: usize,
        cache: &mut AttributeCache,
        buffer: &mut AttributeBuffer,
    ) -> Option<Ad> {
        let read_value = |value: &[u8]| read_value(value, origin.dialect);
        let (ad, end) = fast_path::read_ad(origin, start, cache, buffer, read_value)?;
        tokens.lexer.restart(end);
        Some(ad)
    }

    fn skip_plain_ad(tokens: &mut TokenStream<'t, MarkupReader<'t>>, start: usize) -> Option<usize> {
        let end = start + fast_path::value_length(&tokens.text[start..])?;
        tokens.lexer.restart(end);
        Some(end)
    }

    fn outside(
        (): &mut (),
        origin: &AdOrigin,
        tokens: &mut TokenStream<'t, MarkupReader<'t>>,
        (markup, mut range): LocatedMarkup<'t>,
    ) -> Option<Problem> {
        if matches!(markup, XmlMarkup::Unclosed(_)) {
            skip_unclosed(tokens, range.start, usize::MAX);
        }
        if let Some(problem) = markup_error(origin, &markup, &range) {
            return Some(problem);
        }
        let text = &origin.text[range.clone()];
        match markup {
            // Tags around ads are skipped. They need not balance, because a text may begin or end anywhere between ads.
            XmlMarkup::Open(XmlTag::Ads, _) | XmlMarkup::Close(XmlTag::Ads) | XmlMarkup::Empty(XmlTag::Ads, _) => None,
            XmlMarkup::Text if text.trim_ascii().is_empty() => None,
            _ => {
                range.start += text.len() - text.trim_ascii_start().len();
                while let Some((markup, next)) = tokens.next() {
                    if matches!(markup, XmlMarkup::Open(XmlTag::Ads | XmlTag::Ad, _) | XmlMarkup::Empty(XmlTag::Ad, _))
                        || markup_error(origin, &markup, &next).is_some()
                    {
                        tokens.put_back((markup, next));
                        break;
                    }
                    range.end = next.end;
                }
                // The problem covers only the first of the skipped lines.
                let text = &origin.text[range.clone()];
                let line = &text[..memchr::memchr(b'\n', text).unwrap_or(text.len())];
                let end = range.start + line.trim_ascii_end().len();
                Some(origin.problem_at(range.start..end, "expected an ad, which begins with `<c>`"))
            }
        }
    }

    fn at_end(origin: &AdOrigin, tokens: &mut TokenStream<'t, MarkupReader<'t>>) -> Option<Problem> {
        let end = origin.text.len();
        let message = "too many tags and comments have no end: the rest of the file is not read";
        tokens.lexer.take_giving_up().then(|| origin.problem_at(end..end, message))
    }
}

/// Reads the value of an attribute.  `None` if the text is not one value, or has an error.
fn read_value(value: &[u8], dialect: Dialect) -> Option<Expression> {
    let text = [b"<c><a n=\"a\">", value, b"</a></c>"].concat();
    let mut items = RecoveringReader::<XmlGrammar>::new(&text, dialect);
    let ad = items.next()?.ok()?.ad;
    let value = ad.get(&Name::new("a"))?.clone();
    (ad.len() == 1 && items.next().is_none()).then_some(value)
}

/// Returns the problem of malformed markup. `None` if the markup itself is well-formed.
fn markup_error(origin: &AdOrigin, markup: &XmlMarkup, range: &Range<usize>) -> Option<Problem> {
    Some(match markup {
        XmlMarkup::Unclosed(what) => origin.problem_at(
            range.start..range.start + 1,
            match what {
                Unclosed::UnclosedComment => "this comment has no closing `-->`",
                Unclosed::UnclosedCData => "this CDATA has no closing `]]>`",
                Unclosed::UnclosedPI | Unclosed::UnclosedXmlDecl => "this has no closing `?>`",
                _ => "this tag has no closing `>`",
            },
        ),
        XmlMarkup::InterruptedTag => origin.problem_at(range.clone(), "this tag has no closing `>`"),
        XmlMarkup::BadTag | XmlMarkup::BadText => invalid_utf8(origin, range),
        _ => return None,
    })
}

/// Continues at the next `<c>` that begins a line and is indented by at most `indent` blanks. The search begins behind
/// `offset`, where the unclosed markup begins. Returns the byte offset of the `<c>`; `None` if there is none or the
/// reader has given up.
fn skip_unclosed(tokens: &mut TokenStream<MarkupReader>, offset: usize, indent: usize) -> Option<usize> {
    let text = tokens.text;
    if tokens.lexer.has_given_up() {
        tokens.lexer.restart(text.len());
        return None;
    }
    let next = memchr::memmem::find_iter(&text[offset + 1..], b"<c>")
        .map(|at| offset + 1 + at)
        .find(|at| begins_line(text, *at, indent));
    tokens.lexer.restart(next.unwrap_or(text.len()));
    next
}

#[cfg(test)]
mod tests {
    use super::read_value;
    use crate::ad::Dialect;
    use crate::format::nested_boundaries::complete_prefix_length;
    use crate::format::xml::XmlGrammar;

    #[test]
    fn a_text_is_one_value_or_none() {
        for (text, expected) in [
            ("<i>1</i>", Some("1")),
            (" <s>x</s> ", Some("\"x\"")),
            ("<e>a + 1</e>", Some("a + 1")),
            ("<l><i>1</i><i>2</i></l>", Some("{ 1, 2 }")),
            ("", None),
            ("<i>x</i>", None),
            ("<i>1</i><i>2</i>", None),
            ("<i>1</i></a><a n=\"b\"><i>2</i>", None),
            ("<i>1</i></a></c><c><a n=\"a\"><i>2</i>", None),
        ] {
            let found = read_value(text.as_bytes(), Dialect::Condor).map(|value| value.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

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
            // The first ad is bad. The bad ad ends before the next ad, so the bad ad counts as complete.
            ("<c><a n=\"x\"></c>\n<c></c>\n<c>", 24),
            ("<c><a n=\"x\"><i>1</i></a><c></c>", 31),
        ] {
            assert_eq!(complete_prefix_length::<XmlGrammar>(text.as_bytes()), length, "{text}");
        }
    }
}
