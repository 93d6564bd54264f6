//! Names and values of ads in XML, read from elements.

use std::ops::Range;

use quick_xml::events::BytesStart;

use crate::ad::{ByteString, ErrorCause, Expression, Name, Span, Value};
use crate::format::Problem;
use crate::format::ad_builder::{AdBuilder, AdOrigin};
use crate::format::attribute_name::attribute_name;
use crate::format::attribute_span::ExpressionSource;
use crate::format::source_map::DecodedText;
use crate::syntax::{
    ParseOptions, StringSyntax, SyntaxError, literal_of_call, parse_expression, parse_prefix, read_string,
};

use super::content;
use super::markup::{XmlMarkup, XmlTag};

/// Processes the opening tag of an element; `range` is the byte range of this tag. A value without text, such as
/// `<un/>`, is added to the ad at once.
pub fn begin_element(ad: &mut AdBuilder, tag: XmlTag, start: &BytesStart, range: Range<usize>) {
    // A problem in a tag gets the byte range of the whole tag.
    let in_tag = |problem| Problem { range: range.clone(), ..problem };
    match tag {
        XmlTag::Ad => ad.open_ad(),
        XmlTag::List => ad.open_list(),
        XmlTag::Attribute => ad.push_name(&range, name(&ad.origin, start).map_err(in_tag)),
        XmlTag::Boolean => ad.push_value(boolean(&ad.origin, start).map_err(in_tag)),
        XmlTag::Undefined => ad.push_value(Ok(Expression::literal(Value::Undefined))),
        XmlTag::Error => ad.push_value(Ok(Expression::literal(Value::Error(ErrorCause::default())))),
        _ => ad.content = DecodedText::starting_at(range.end),
    }
}

/// Processes the closing tag of an element. If the element contains text, parses the text and adds the value to the ad.
pub fn end_element(ad: &mut AdBuilder, tag: XmlTag) {
    match tag {
        XmlTag::Ad | XmlTag::List => ad.close(),
        tag if tag.holds_text() => {
            let content = std::mem::take(&mut ad.content);
            ad.push_value(parse_text(&ad.origin, tag, &content));
            if tag == XmlTag::Expression {
                ad.note_source(|| ExpressionSource::Escaped(content, 0));
            }
        }
        _ => {}
    }
}

/// Decodes a piece of text and appends the result to the content of the current element.
pub fn append_text(ad: &mut AdBuilder, markup: &XmlMarkup, range: Range<usize>) {
    let text = &ad.origin.text[range.clone()];
    let read = match markup {
        XmlMarkup::CData => content::decode_cdata(text, range.start, &mut ad.content, ad.origin.number),
        XmlMarkup::Text => content::decode_references(text, range.start, &mut ad.content, ad.origin.number),
        _ => Err(invalid_utf8(&ad.origin, &range)),
    };
    ad.value_or_report(read);
}

/// Returns the problem of a range with bytes that are not UTF-8. The problem covers the first of these bytes.
pub fn invalid_utf8(origin: &AdOrigin, range: &Range<usize>) -> Problem {
    let text = &origin.text[range.clone()];
    let valid = std::str::from_utf8(text).err().map_or(0, |error| error.valid_up_to());
    let place = range.start + valid;
    origin
        .problem_at(place..(place + 1).min(range.end), "these bytes are not UTF-8")
        .with_help("in a string, write each of these bytes as an octal escape, for example \\377")
}

/// Parses the text of an element. The element decides the type of the value.
fn parse_text(origin: &AdOrigin, tag: XmlTag, decoded: &DecodedText) -> Result<Expression, Problem> {
    let bytes = &decoded.bytes;
    let text = String::from_utf8_lossy(bytes);
    let trimmed = text.trim_ascii();
    let range = || decoded.source_offset(0)..decoded.source_offset(bytes.len());
    let in_file = |error| decoded.problem(error, 0, origin.number);
    // HTCondor reads the expression or the number at the beginning of a text, or an error.
    let keeps_ad = origin.dialect.is_condor() && !trimmed.is_empty();
    let lost = |problem: Problem| if keeps_ad { problem.losing_its_value() } else { problem };
    let begins_with_expression =
        |options| keeps_ad && parse_prefix(bytes, options).map_or_else(|error| error.keeps_ad, |_| true);
    let time = |function| {
        let span = Span::new(0, u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        let read = literal_of_call(function, &ByteString::from(trimmed), origin.dialect, span);
        read.map(|value| value.unwrap_or(Value::Undefined)).map_err(in_file)
    };
    Ok(Expression::literal(match tag {
        XmlTag::Expression => {
            let options = ParseOptions::new(origin.dialect);
            return parse_expression(bytes, options).map_err(|error| {
                let is_read = [options, ParseOptions::long(origin.dialect)].into_iter().any(begins_with_expression);
                if is_read && !error.keeps_ad { lost(in_file(error)) } else { in_file(error) }
            });
        }
        XmlTag::String => Value::string(unescaped(origin, decoded)?),
        XmlTag::Integer => {
            Value::Integer(trimmed.parse().map_err(|_| lost(invalid_integer(origin, trimmed, range())))?)
        }
        XmlTag::Real => {
            let invalid = |_| lost(origin.problem_at(range(), format!("`{trimmed}` is not a real")));
            Value::Real(trimmed.parse().map_err(invalid)?)
        }
        XmlTag::AbsoluteTime => time("absTime")?,
        _ => time("relTime")?,
    }))
}

fn invalid_integer(origin: &AdOrigin, text: &str, range: Range<usize>) -> Problem {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let problem = origin.problem_at(range, format!("`{text}` does not fit into a signed 64-bit integer"));
        return problem.with_help(format!("write <r>{text}</r> for a real"));
    }
    origin.problem_at(
        range,
        if text.is_empty() { "an integer is missing".to_owned() } else { format!("`{text}` is not an integer") },
    )
}

/// Decodes the escapes of C in a text.
fn unescaped(origin: &AdOrigin, decoded: &DecodedText) -> Result<Vec<u8>, Problem> {
    read_string(&decoded.bytes, StringSyntax::Escaped, origin.dialect, Span::default()).map_err(|error| {
        // The span counts from an opening quote. The text has no quotes, so the span is moved back by one byte.
        let span = Span::new(error.span.start.saturating_sub(1), error.span.end.saturating_sub(1));
        decoded.problem(SyntaxError { span, ..error }, 0, origin.number)
    })
}

/// Returns the value of the attribute `key` of a tag, with references decoded; `None` if the tag has no such attribute.
fn tag_attribute(origin: &AdOrigin, start: &BytesStart, key: &str) -> Result<Option<DecodedText>, Problem> {
    let attribute = start.try_get_attribute(key).map_err(|_| {
        let problem = origin.problem_at(0..0, "the attributes of this tag cannot be read");
        problem.with_help("they are written name=\"value\"")
    })?;
    let Some(attribute) = attribute else { return Ok(None) };
    let mut decoded = DecodedText::default();
    content::decode_references(attribute.value.as_bytes(), 0, &mut decoded, origin.number)?;
    Ok(Some(decoded))
}

/// Reads the name of an attribute of the ad, as in `<a n="Name">`. The caller sets the byte range of a problem.
fn name(origin: &AdOrigin, start: &BytesStart) -> Result<Name, Problem> {
    let decoded = tag_attribute(origin, start, "n")?
        .ok_or_else(|| origin.problem_at(0..0, "an attribute has no name").with_help("it is written <a n=\"Name\">"))?;
    attribute_name(&unescaped(origin, &decoded)?, origin.dialect, 0..0, origin.number)
}

/// Reads a Boolean, as in `<b v="t"/>`. The caller sets the byte range of a problem.
fn boolean(origin: &AdOrigin, start: &BytesStart) -> Result<Expression, Problem> {
    let text = tag_attribute(origin, start, "v")?.map(|decoded| decoded.bytes.to_ascii_lowercase());
    match text.as_deref() {
        Some(b"t" | b"true") => Ok(Expression::literal(Value::Boolean(true))),
        Some(b"f" | b"false") => Ok(Expression::literal(Value::Boolean(false))),
        _ => {
            let problem = origin.problem_at(0..0, "expected true or false");
            let problem = if origin.dialect.is_condor() { problem.losing_its_value() } else { problem };
            Err(problem.with_help("write <b v=\"t\"/> or <b v=\"f\"/>"))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ad::Dialect;
    use crate::format::testing::printed_items;
    use crate::format::{FileFormat, read};

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
            ("<i></i>", "!1:16: an integer is missing"),
            ("<b v=\"t\">t</b>", "!1:22: expected `</b>`, found text"),
            ("<e>1 +</e>", "!1:19: expected an expression, found the end"),
            ("<e>a &lt;&lt; &amp; b</e>", "!1:27: expected an expression, found `&`"),
            ("<at>x</at>", "!1:17: \"x\" is not an absolute time"),
            ("<rt>x</rt>", "!1:17: \"x\" is not a relative time"),
            ("<s>a &foo; b</s>", "!1:18: `&foo;` is not defined"),
            ("<s>a & b</s>", "!1:18: `&` is not defined"),
            ("<s>a\\0</s>", "!1:17: an escape must be a byte from 1 to 255"),
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

    /// HTCondor reads a number, an error or the beginning of an expression here.
    #[test]
    fn a_value_that_htcondor_reads_otherwise_costs_only_itself() {
        for (xml, problem) in [
            ("<i>x</i>", "!1:16: `x` is not an integer"),
            ("<i>1.5</i>", "!1:16: `1.5` is not an integer"),
            ("<i>9223372036854775808</i>", "!1:16: `9223372036854775808` does not fit into a signed 64-bit integer"),
            ("<r>1,5</r>", "!1:16: `1,5` is not a real"),
            ("<b v=\"1\"/>", "!1:13: expected true or false"),
            ("<e>a b</e>", "!1:18: expected the end, found a name `b`"),
            ("<e>12abc</e>", "!1:16: `12abc` is not a number"),
        ] {
            let expected = ["[ A = error; b = 1 ]".to_owned(), format!("{problem}: the value is error")];
            assert_eq!(items(&format!("<c><a n=\"A\">{xml}</a><a n=\"b\"><i>1</i></a></c>")), expected, "{xml}");
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
            ("<!DOCTYPE classads SYSTEM \"a>", "!1:1: this tag has no closing `>`"),
            ("<!DOCTYPE classads [a>", "!1:1: this tag has no closing `>`"),
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
            assert_eq!(items_in(text, Dialect::Condor), [format!("{place}these bytes are not UTF-8").as_str(), "[ ]"]);
        }
    }

    #[test]
    fn the_papers_reserve_names() {
        let text = b"<c><a n=\"self\"><i>1</i></a></c>";
        assert_eq!(items_in(text, Dialect::Condor), ["[ self = 1 ]"]);
        let problem = "!1:4: `self` is a reserved word, not an attribute name";
        assert_eq!(items_in(text, Dialect::Classad), [problem]);
    }

    #[test]
    fn no_depth_and_no_number_of_faults_harms() {
        for (open, close) in [("<l>", "</l>"), ("<c><a n=\"x\">", "</a></c>")] {
            let text = format!("<c><a n=\"x\">{}<i>1</i>{}</a></c>", open.repeat(50_000), close.repeat(50_000));
            assert_eq!(read(text.as_bytes(), FileFormat::Xml, Dialect::Condor).flatten().count(), 1);
        }
        // A reader that searches the rest of the text for each error would take quadratic time on these texts.
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
            let text = line.repeat(30_000);
            assert_eq!(read(text.as_bytes(), FileFormat::Xml, Dialect::Condor).flatten().count(), 0, "{line}");
        }
    }
}
