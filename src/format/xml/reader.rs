//! Reader of ads in XML.

use std::collections::VecDeque;
use std::ops::Range;

use quick_xml::errors::SyntaxError as Unclosed;
use quick_xml::events::BytesStart;

use crate::ad::{Ad, ByteString, Dialect, ErrorCause, Expression, ExpressionKind, Name, Span, Value};
use crate::syntax::{ParseOptions, StringSyntax, SyntaxError, literal_of_call, parse_expression, read_string};

use super::super::attribute_name::attribute_name;
use super::super::source_map::DecodedText;
use super::super::{AdEntry, Problem, ReadResult};
use super::content;
use super::markup::{LocatedMarkup, MarkupReader, XmlMarkup, XmlTag};
use super::nesting::{XmlNesting, XmlStep, skip_unclosed};

/// Iterator over the ads of a text. Every bad value is reported; its ad is left out.
pub struct XmlReader<'t> {
    markups: MarkupReader<'t>,
    dialect: Dialect,
    /// Number of ads begun so far.
    number: usize,
    /// Whether the problem that the rest is not read has been yielded.
    has_reported_giving_up: bool,
    /// Items to be yielded next: the problems of an ad, then the ad.
    pending: VecDeque<ReadResult>,
}

/// An element under construction.
enum XmlFrame {
    Ad(Vec<(Name, Expression)>),
    Attribute(Name, Expression),
    List(Vec<Expression>),
    /// The text so far of a value.
    Text(DecodedText),
    /// A value that has no text.
    Value(Expression),
}

impl<'t> XmlReader<'t> {
    /// Creates a reader at the beginning of a text.
    pub fn new(text: &'t [u8], dialect: Dialect) -> Self {
        XmlReader {
            markups: MarkupReader::new(text),
            dialect,
            number: 0,
            has_reported_giving_up: false,
            pending: VecDeque::new(),
        }
    }

    fn text(&self) -> &'t [u8] {
        self.markups.text
    }

    fn problem_at(&self, range: Range<usize>, message: impl Into<String>) -> Problem {
        Problem::error_at(range, self.number, message)
    }

    /// Reads the ad whose `<c>` at `start` has been read, and queues its items.
    fn read_ad(&mut self, start: usize) {
        self.number += 1;
        let mut shape = XmlNesting::at_ad_start(self.text(), start);
        let mut partials = vec![XmlFrame::Ad(Vec::new())];
        let problems = self.pending.len();
        while let Some(piece) = self.markups.next() {
            let Some(step) = shape.advance(&piece, self.markups.text) else {
                let problem = match &piece {
                    (XmlMarkup::Open(XmlTag::Ad, _), range) if shape.next_ad_begins_at(self.text(), range.start) => {
                        self.premature_end(&shape, range.start)
                    }
                    _ => self.unexpected_markup(&shape, &piece),
                };
                self.pending.push_back(Err(problem));
                shape.recover(&mut self.markups, piece);
                return;
            };
            if let Some(ad) = self.apply_markup(step, piece, &mut partials) {
                self.queue_ad(ad, start, problems);
                return;
            }
        }
        let problem = self.premature_end(&shape, self.text().len());
        self.pending.push_back(Err(problem));
    }

    /// Returns the problem of an ad that ends too early: at the end of the text, or where the next ad begins.
    fn premature_end(&self, shape: &XmlNesting, before: usize) -> Problem {
        let end = self.text()[..before].trim_ascii_end().len();
        with_open_element(self.problem_at(end..end, format!("expected {}, found the end", shape.expected())), shape)
    }

    /// Queues an ad, unless problems were queued since there were `problems` items.
    fn queue_ad(&mut self, ad: Ad, offset: usize, problems: usize) {
        if self.pending.len() == problems {
            self.pending.push_back(Ok(AdEntry { ad, number: self.number, offset, is_whole: true }));
        }
    }

    /// Adds the value of a piece of markup to the innermost element. Returns the ad if it ends with this piece.
    fn apply_markup(
        &mut self,
        step: XmlStep,
        (markup, range): LocatedMarkup<'t>,
        partials: &mut Vec<XmlFrame>,
    ) -> Option<Ad> {
        match step {
            XmlStep::WhiteSpace => {}
            XmlStep::Open(tag) => {
                let partial = self.begin_element(tag, &markup, &range);
                partials.push(partial);
            }
            XmlStep::Empty(tag) => {
                let partial = self.begin_element(tag, &markup, &range);
                let expression = self.end_element(tag, partial);
                add_value(partials, expression);
            }
            XmlStep::Content => {
                if let Some(XmlFrame::Text(decoded)) = partials.last_mut() {
                    let read = self.append_text(&markup, range, decoded);
                    self.value_or_report(read, ());
                }
            }
            XmlStep::Close(tag) => match partials.pop()? {
                XmlFrame::Ad(attributes) if partials.is_empty() => return Some(attributes.into_iter().collect()),
                XmlFrame::Attribute(name, expression) => {
                    if let Some(XmlFrame::Ad(attributes)) = partials.last_mut() {
                        attributes.push((name, expression));
                    }
                }
                partial => {
                    let expression = self.end_element(tag, partial);
                    add_value(partials, expression);
                }
            },
        }
        None
    }

    /// Begins an element.
    fn begin_element(&mut self, tag: XmlTag, markup: &XmlMarkup<'t>, range: &Range<usize>) -> XmlFrame {
        let (XmlMarkup::Open(_, start) | XmlMarkup::Empty(_, start)) = markup else {
            return XmlFrame::List(Vec::new());
        };
        match tag {
            XmlTag::Ad => XmlFrame::Ad(Vec::new()),
            XmlTag::Attribute => {
                let name = self.name(start, range);
                XmlFrame::Attribute(self.value_or_report(name, Name::new("")), undefined())
            }
            XmlTag::Boolean => {
                let value = self.boolean(start, range);
                XmlFrame::Value(self.value_or_report(value, undefined()))
            }
            XmlTag::Undefined => XmlFrame::Value(undefined()),
            XmlTag::Error => XmlFrame::Value(Expression::literal(Value::Error(ErrorCause::default()))),
            tag if tag.holds_text() => XmlFrame::Text(DecodedText::starting_at(range.end)),
            _ => XmlFrame::List(Vec::new()),
        }
    }

    /// Returns the value of an element that ends.
    fn end_element(&mut self, tag: XmlTag, partial: XmlFrame) -> Expression {
        let read = match partial {
            XmlFrame::Text(decoded) => self.parse_text(tag, &decoded),
            XmlFrame::Value(expression) | XmlFrame::Attribute(_, expression) => Ok(expression),
            XmlFrame::Ad(attributes) => {
                Ok(Expression::new(ExpressionKind::Ad(attributes.into_iter().collect()), Span::default()))
            }
            XmlFrame::List(elements) => Ok(Expression::new(ExpressionKind::List(elements.into()), Span::default())),
        };
        self.value_or_report(read, undefined())
    }

    /// Returns the value; if there is a problem instead, queues the problem and returns `otherwise`, so that reading
    /// continues.
    fn value_or_report<T>(&mut self, read: Result<T, Problem>, otherwise: T) -> T {
        read.unwrap_or_else(|problem| {
            self.pending.push_back(Err(problem));
            otherwise
        })
    }

    /// Decodes a piece of text and appends it to `decoded`.
    fn append_text(&self, markup: &XmlMarkup, range: Range<usize>, decoded: &mut DecodedText) -> Result<(), Problem> {
        let text = &self.text()[range.clone()];
        match markup {
            XmlMarkup::CData => content::decode_cdata(text, range.start, decoded, self.number),
            XmlMarkup::Text => content::decode_references(text, range.start, decoded, self.number),
            _ => Err(self.invalid_utf8(range)),
        }
    }

    fn invalid_utf8(&self, range: Range<usize>) -> Problem {
        let text = &self.text()[range.clone()];
        let valid = std::str::from_utf8(text).err().map_or(0, |error| error.valid_up_to());
        let place = range.start + valid;
        self.problem_at(place..(place + 1).min(range.end), "these bytes are no UTF-8")
            .with_help("in a string any byte can be written in octal, as in \\377")
    }

    /// Parses the text of an element.
    fn parse_text(&self, tag: XmlTag, decoded: &DecodedText) -> Result<Expression, Problem> {
        let bytes = &decoded.bytes;
        let range = decoded.source_offset(0)..decoded.source_offset(bytes.len());
        let text = String::from_utf8_lossy(bytes);
        let trimmed = text.trim_ascii();
        let time = |function| {
            let span = Span::new(0, u32::try_from(bytes.len()).unwrap_or(u32::MAX));
            let read = literal_of_call(function, &ByteString::from(trimmed), self.dialect, span);
            read.map(|value| value.unwrap_or(Value::Undefined)).map_err(|error| decoded.problem(error, 0, self.number))
        };
        let value = match tag {
            XmlTag::Expression => {
                return parse_expression(bytes, ParseOptions::new(self.dialect))
                    .map_err(|error| decoded.problem(error, 0, self.number));
            }
            XmlTag::String => Value::string(self.unescaped(decoded)?),
            XmlTag::Integer => Value::Integer(trimmed.parse().map_err(|_| self.invalid_integer(trimmed, range))?),
            XmlTag::Real => {
                Value::Real(trimmed.parse().map_err(|_| self.problem_at(range, format!("`{trimmed}` is no real")))?)
            }
            XmlTag::AbsoluteTime => time("absTime")?,
            _ => time("relTime")?,
        };
        Ok(Expression::literal(value))
    }

    fn invalid_integer(&self, text: &str, range: Range<usize>) -> Problem {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let problem = self.problem_at(range, format!("`{text}` does not fit into 64 bits"));
            return problem.with_help(format!("write <r>{text}</r> for a real"));
        }
        self.problem_at(range, format!("`{text}` is no integer"))
    }

    /// Resolves the escapes of C in a text.
    fn unescaped(&self, decoded: &DecodedText) -> Result<Vec<u8>, Problem> {
        read_string(&decoded.bytes, StringSyntax::Escaped, self.dialect, Span::default()).map_err(|error| {
            // The span counts from an opening quote that is not in the text.
            let span = Span::new(error.span.start.saturating_sub(1), error.span.end.saturating_sub(1));
            decoded.problem(SyntaxError { span, ..error }, 0, self.number)
        })
    }

    /// Returns the value of an attribute of a tag, references resolved; `None` if the tag does not have it.
    ///
    /// The ranges of problems are that of the whole tag.
    fn tag_attribute(
        &self,
        start: &BytesStart,
        key: &str,
        range: &Range<usize>,
    ) -> Result<Option<DecodedText>, Problem> {
        let here = |problem: Problem| Problem { range: range.clone(), ..problem };
        let attribute = start.try_get_attribute(key).map_err(|_| {
            self.problem_at(range.clone(), "the attributes of this tag cannot be read")
                .with_help("they are written name=\"value\"")
        })?;
        let Some(attribute) = attribute else { return Ok(None) };
        let mut decoded = DecodedText::starting_at(range.start);
        content::decode_references(attribute.value.as_bytes(), range.start, &mut decoded, self.number).map_err(here)?;
        Ok(Some(decoded))
    }

    /// Reads the name of an attribute of the ad.
    fn name(&self, start: &BytesStart, range: &Range<usize>) -> Result<Name, Problem> {
        let Some(decoded) = self.tag_attribute(start, "n", range)? else {
            return Err(self
                .problem_at(range.clone(), "an attribute has no name")
                .with_help("it is written <a n=\"Name\">"));
        };
        let name = self.unescaped(&decoded).map_err(|problem| Problem { range: range.clone(), ..problem })?;
        attribute_name(&name, self.dialect, range.clone(), self.number)
    }

    fn boolean(&self, start: &BytesStart, range: &Range<usize>) -> Result<Expression, Problem> {
        let text = self.tag_attribute(start, "v", range)?.map(|decoded| decoded.bytes.to_ascii_lowercase());
        let value = match text.as_deref() {
            Some(b"t" | b"true") => true,
            Some(b"f" | b"false") => false,
            _ => {
                let problem = self.problem_at(range.clone(), "this is neither true nor false");
                return Err(problem.with_help("write <b v=\"t\"/> or <b v=\"f\"/>"));
            }
        };
        Ok(Expression::literal(Value::Boolean(value)))
    }

    /// Returns the problem of a piece of markup that cannot stand here.
    fn unexpected_markup(&self, shape: &XmlNesting, (markup, range): &LocatedMarkup) -> Problem {
        let text = &self.text()[range.clone()];
        let found = match markup {
            XmlMarkup::Unclosed(what) => return self.unclosed_markup(*what, range.start),
            XmlMarkup::InterruptedTag => return self.interrupted_tag(range.clone()),
            XmlMarkup::BadTag | XmlMarkup::BadText => return self.invalid_utf8(range.clone()),
            XmlMarkup::Text => {
                let blank = text.len() - text.trim_ascii_start().len();
                let end = text.trim_ascii_end().len();
                let range = range.start + blank..range.start + end;
                return self.problem_at(range, format!("expected {}, found text", shape.expected()));
            }
            XmlMarkup::CData => "text".to_owned(),
            _ => format!("`{}`", String::from_utf8_lossy(text)),
        };
        let problem = self.problem_at(range.clone(), format!("expected {}, found {found}", shape.expected()));
        match markup {
            XmlMarkup::Close(_) => with_open_element(problem, shape),
            _ => problem,
        }
    }

    fn interrupted_tag(&self, range: Range<usize>) -> Problem {
        self.problem_at(range, "this tag has no closing `>`")
    }

    fn unclosed_markup(&self, what: Unclosed, start: usize) -> Problem {
        let what = match what {
            Unclosed::UnclosedComment => "this comment has no closing `-->`",
            Unclosed::UnclosedCData => "this CDATA has no closing `]]>`",
            Unclosed::UnclosedPI | Unclosed::UnclosedXmlDecl => "this has no closing `?>`",
            _ => "this tag has no closing `>`",
        };
        self.problem_at(start..start + 1, what)
    }

    /// Reports markup or text outside all ads, up to the next ad.
    fn report_stray(&mut self, piece: &LocatedMarkup<'t>) {
        let problem = match piece {
            (XmlMarkup::Unclosed(what), range) => {
                skip_unclosed(&mut self.markups, range.start, usize::MAX);
                self.unclosed_markup(*what, range.start)
            }
            (XmlMarkup::InterruptedTag, range) => self.interrupted_tag(range.clone()),
            (XmlMarkup::BadTag | XmlMarkup::BadText, range) => self.invalid_utf8(range.clone()),
            (_, range) => {
                let mut range = range.clone();
                range.start += self.text()[range.clone()].len() - self.text()[range.clone()].trim_ascii_start().len();
                while let Some((markup, next)) = self.markups.next() {
                    let begins = matches!(
                        markup,
                        XmlMarkup::Open(XmlTag::Ads | XmlTag::Ad, _) | XmlMarkup::Empty(XmlTag::Ad, _)
                    );
                    if begins
                        || matches!(
                            markup,
                            XmlMarkup::Unclosed(_) | XmlMarkup::InterruptedTag | XmlMarkup::BadTag | XmlMarkup::BadText
                        )
                    {
                        self.markups.put_back((markup, next));
                        break;
                    }
                    range.end = next.end;
                }
                // Only the first line is shown.
                let text = &self.text()[range.clone()];
                let line = &text[..memchr::memchr(b'\n', text).unwrap_or(text.len())];
                let end = range.start + line.trim_ascii_end().len();
                self.problem_at(range.start..end, "expected an ad, which begins with `<c>`")
            }
        };
        self.pending.push_back(Err(Problem { ad_number: self.number + 1, ..problem }));
    }
}

impl Iterator for XmlReader<'_> {
    type Item = ReadResult;

    fn next(&mut self) -> Option<ReadResult> {
        loop {
            if let Some(item) = self.pending.pop_front() {
                return Some(item);
            }
            let Some((markup, range)) = self.markups.next() else {
                if !self.markups.has_given_up() || std::mem::replace(&mut self.has_reported_giving_up, true) {
                    return None;
                }
                let end = self.text().len();
                let message = "too many tags and comments are not closed; the rest is not read";
                return Some(Err(Problem::error_at(end..end, self.number + 1, message)));
            };
            match &markup {
                XmlMarkup::Open(XmlTag::Ad, _) => self.read_ad(range.start),
                XmlMarkup::Empty(XmlTag::Ad, _) => {
                    self.number += 1;
                    self.queue_ad(Ad::default(), range.start, 0);
                }
                // Elements around ads. They need not balance, because a text may begin or end anywhere between ads.
                XmlMarkup::Open(XmlTag::Ads, _) | XmlMarkup::Close(XmlTag::Ads) | XmlMarkup::Empty(XmlTag::Ads, _) => {}
                XmlMarkup::Text if self.text()[range.clone()].trim_ascii().is_empty() => {}
                _ => self.report_stray(&(markup, range)),
            }
        }
    }
}

/// Adds a value to the innermost attribute or list.
fn add_value(partials: &mut [XmlFrame], expression: Expression) {
    match partials.last_mut() {
        Some(XmlFrame::Attribute(_, value)) => *value = expression,
        Some(XmlFrame::List(elements)) => elements.push(expression),
        _ => {}
    }
}

fn undefined() -> Expression {
    Expression::literal(Value::Undefined)
}

/// Adds the place of the innermost open element to a problem.
fn with_open_element(mut problem: Problem, shape: &XmlNesting) -> Problem {
    problem.related = shape
        .innermost()
        .map(|element| (element.offset..element.offset + 1, format!("this `<{}>` is not closed", element.tag)));
    problem
}

#[cfg(test)]
mod tests {
    use super::XmlReader;
    use crate::ad::Dialect;
    use crate::format::FileFormat;
    use crate::format::testing::printed_items;

    fn items_in(text: &[u8], dialect: Dialect) -> Vec<String> {
        printed_items(text, FileFormat::Xml, dialect)
    }

    fn items(text: &str) -> Vec<String> {
        items_in(text.as_bytes(), Dialect::Condor)
    }

    #[test]
    fn values() {
        for (xml, value) in [
            ("<i>1</i>", "1"),
            ("<i> -9223372036854775808\n</i>", "-9223372036854775808"),
            ("<i>010</i>", "10"),
            ("<r>1.5</r>", "1.5"),
            ("<r>1</r>", "1.0"),
            ("<r>-0.0</r>", "-0.0"),
            ("<r> -INF </r>", "real(\"-INF\")"),
            ("<r>1e400</r>", "real(\"INF\")"),
            ("<r>NaN</r>", "real(\"NaN\")"),
            ("<s> x&lt;y &amp; z </s>", "\" x<y & z \""),
            ("<s>C:\\\\n\\n\\377\"\\\"</s>", "\"C:\\\\n\\n\\377\\\"\\\"\""),
            ("<s></s>", "\"\""),
            ("<s/>", "\"\""),
            ("<s>a<!-- b -->c<![CDATA[<d>&lt;]]>&#65;&#x42;</s>", "\"ac<d>&lt;AB\""),
            ("<s>a\r\nb\tc</s>", "\"a\\nb\\tc\""),
            ("<b v=\"t\"/>", "true"),
            ("<b v='FALSE'></b>", "false"),
            ("<un/>", "undefined"),
            ("<er></er>", "error"),
            ("<e>A &lt; 1 &amp;&amp; \"\\001\" is B</e>", "A < 1 && \"\\001\" is B"),
            ("<l><i>1</i> <s>x</s><l/><c/></l>", "{ 1, \"x\", { }, [ ] }"),
            ("<c>\n<a n=\"B\"> <i>1</i> </a>\n</c>", "[ B = 1 ]"),
            ("<at>2000-01-01T00:00:00+01:00</at>", "absTime(\"2000-01-01T00:00:00+01:00\")"),
            ("<rt>1+02:03:04.5</rt>", "relTime(\"1+02:03:04.5\")"),
            ("<rt> 5 </rt>", "relTime(\"0+00:00:05\")"),
        ] {
            assert_eq!(items(&format!("<c><a n=\"A\">{xml}</a></c>")), [format!("[ A = {value} ]")], "{xml}");
        }
    }

    #[test]
    fn ads_in_a_row() {
        let prologue = "<?xml version=\"1.0\"?>\n<!DOCTYPE classads SYSTEM \"classads.dtd\">\n<classads>\n";
        let (first, second) = ("<c><a n=\"a\"><i>1</i></a></c>", "<c >\n <a n = 'b' x='y'><i>2</i></a >\n</c>");
        for text in [
            format!("{first}{second}"),
            format!("{prologue}{first}\n{second}\n</classads>\n"),
            format!("\u{feff}{prologue}{first}</classads>\u{a}{prologue}{second}</classads>"),
            format!("<!-- <c> -->{first}</classads><classads>{second}"),
        ] {
            assert_eq!(items(&text), ["[ a = 1 ]", "[ b = 2 ]"], "{text}");
        }
        assert_eq!(items("<c/><c></c><c>\n</c>"), ["[ ]", "[ ]", "[ ]"]);
        assert!(items("<classads></classads><classads/>").is_empty());
        assert_eq!(items("<c><a n=\"a\"><i>1</i></a><a n=\"A\"><i>2</i></a></c>"), ["[ a = 2 ]"]);
        assert_eq!(items("<c><a n=\"a\\042 &amp;'\"><i>1</i></a></c>"), ["[ 'a\" &\\'' = 1 ]"]);
    }

    #[test]
    fn a_bad_ad_is_reported_and_the_rest_read() {
        let next = "<c><a n=\"b\"><i>2</i></a></c>";
        for (xml, problem) in [
            ("<i>x</i>", "!1:16: `x` is no integer"),
            ("<i>1.5</i>", "!1:16: `1.5` is no integer"),
            ("<i></i>", "!1:16: `` is no integer"),
            ("<i>9223372036854775808</i>", "!1:16: `9223372036854775808` does not fit into 64 bits"),
            ("<r>x</r>", "!1:16: `x` is no real"),
            ("<b v=\"1\"/>", "!1:13: this is neither true nor false"),
            ("<b v=\"t\">t</b>", "!1:22: expected `</b>`, found text"),
            ("<e>1 +</e>", "!1:19: expected an expression, found the end"),
            ("<e>a &lt;&lt; &amp; b</e>", "!1:27: expected an expression, found `&`"),
            ("<at>x</at>", "!1:17: \"x\" is no absolute time"),
            ("<rt>x</rt>", "!1:17: \"x\" is no relative time"),
            ("<s>a &foo; b</s>", "!1:18: `&foo;` stands for nothing"),
            ("<s>a & b</s>", "!1:18: `&` stands for nothing"),
            ("<s>a\\0</s>", "!1:17: an escape in a string stands for a byte from 1 to 255"),
            ("<n>1</n>", "!1:13: expected a value, such as `<i>` or `<s>`, found `<n>`"),
            ("1", "!1:13: expected a value, such as `<i>` or `<s>`, found text"),
            ("", "!1:13: expected a value, such as `<i>` or `<s>`, found `</a>`"),
            ("<i>1</i><i>2</i>", "!1:21: expected `</a>`, found `<i>`"),
            ("<i>1</r>", "!1:17: expected `</i>`, found `</r>`"),
            ("<l><i>1</i>", "!1:24: expected a value or `</l>`, found `</a>`"),
        ] {
            let text = format!("<c><a n=\"A\">{xml}</a></c>{next}");
            assert_eq!(items(&text), [problem, "[ b = 2 ]"], "{xml}");
        }
    }

    #[test]
    fn whatever_is_not_closed_the_rest_is_read() {
        for (text, problem) in [
            ("<c><a n=\"a\"><i>1</i></a>", "!1:25: expected `<a n=\"...\">` or `</c>`, found the end"),
            ("<c><a n=\"a\"><i>1", "!1:17: expected `</i>`, found the end"),
            ("<c><a n=\"a\"><l><c>", "!1:19: expected `<a n=\"...\">` or `</c>`, found the end"),
            ("<c><a n=\"a><i>1</i></a></c>", "!1:4: this tag has no closing `>`"),
            ("<c><a \n</c", "!1:4: this tag has no closing `>`"),
            ("<c><a n=\"x\"><i>1</i</a></c>", "!1:17: this tag has no closing `>`"),
            ("<c><a n='a><i>1</i></a></c>", "!1:4: this tag has no closing `>`"),
            ("<c><a><i>1</i></a></c>", "!1:4: an attribute has no name"),
            ("<c><a n=\"\"><i>1</i></a></c>", "!1:4: a name cannot be empty"),
            ("<c><a n=x><i>1</i></a></c>", "!1:4: the attributes of this tag cannot be read"),
            ("<c><a n=\"a\"><s>x<!-- </s></a></c>", "!1:17: this comment has no closing `-->`"),
            ("<c><a n=\"a\"><s><![CDATA[</s></a></c>", "!1:16: this CDATA has no closing `]]>`"),
            ("<c>x</c>", "!1:4: expected `<a n=\"...\">` or `</c>`, found text"),
            ("<C><A n=\"a\"><I>1</I></A></C>", "!1:1: expected an ad, which begins with `<c>`"),
            ("<!DOCTYPE html><html>\n<body>", "!1:16: expected an ad, which begins with `<c>`"),
            ("<classads>x y", "!1:11: expected an ad, which begins with `<c>`"),
            ("<c></c></c>", "!1:8: expected an ad, which begins with `<c>`"),
        ] {
            let items = items(&format!("{text}\n<c><a n=\"b\"><i>2</i></a></c>"));
            assert_eq!([&items[items.len() - 2], &items[items.len() - 1]], [problem, "[ b = 2 ]"], "{text}");
            assert_eq!(items.len(), if text.starts_with("<c></c>") { 3 } else { 2 }, "{text}");
        }
        assert_eq!(items("<c>\n"), ["!1:4: expected `<a n=\"...\">` or `</c>`, found the end"]);
    }

    #[test]
    fn bytes_that_are_no_utf8_are_told() {
        for (text, place) in [
            (&b"<c><a n=\"a\"><s>x\xffy</s></a></c><c/>"[..], "!1:17: "),
            (b"<c><a n=\"\xff\"><s>x</s></a></c><c/>", "!1:10: "),
            (b"\xff<c/>", "!1:1: "),
        ] {
            assert_eq!(items_in(text, Dialect::Condor), [format!("{place}these bytes are no UTF-8").as_str(), "[ ]"]);
        }
    }

    #[test]
    fn the_papers_reserve_names() {
        let text = b"<c><a n=\"self\"><i>1</i></a></c>";
        assert_eq!(items_in(text, Dialect::Condor), ["[ self = 1 ]"]);
        let problem = "!1:4: `self` is reserved and cannot name an attribute";
        assert_eq!(items_in(text, Dialect::Classad), [problem]);
    }

    #[test]
    fn no_depth_and_no_number_of_faults_harms() {
        for (open, close) in [("<l>", "</l>"), ("<c><a n=\"x\">", "</a></c>")] {
            let text = format!("<c><a n=\"x\">{}<i>1</i>{}</a></c>", open.repeat(200_000), close.repeat(200_000));
            assert_eq!(XmlReader::new(text.as_bytes(), Dialect::Condor).flatten().count(), 1);
        }
        // Without a limit each of these would take quadratic time.
        for line in [
            "<c><!--\n",
            "<c><a n='\n",
            "<c>\n",
            "<c><a n=\"x\"><![CDATA[\n",
            "&",
            "<c><a n=\"x\"><s>&",
            "<c>x<!--\n",
            "<a ",
        ] {
            let text = line.repeat(300_000);
            assert_eq!(XmlReader::new(text.as_bytes(), Dialect::Condor).flatten().count(), 0, "{line}");
        }
    }
}
