//! Fast path for ads in XML that resemble those before: reads them without the XML parser and the grammar.

use crate::ad::{Ad, Expression, Value};
use crate::format::ad_builder::AdOrigin;
use crate::format::attribute_cache::{AttributeBuffer, AttributeCache};
use crate::format::attribute_name::attribute_name;
use crate::syntax::{ParsedValue, blank_length};

const ATTRIBUTE_BEGIN: &[u8] = b"<a n=\"";
const NAME_END: &[u8] = b"\">";
const ATTRIBUTE_END: &[u8] = b"</a>";

/// Reads the ad that begins at byte `start`, with `<c>`.  Returns the ad and the byte offset of its end.  `None` if only
/// the grammar can tell what the ad is: it has an error, a comment, a section of CDATA, or tags that are written
/// otherwise than HTCondor writes them.
///
/// The text of an attribute ends with `</a>` and the white space that follows.  `read_value` reads the text of a value by
/// the grammar, and returns `None` if it has an error.
pub fn read_ad(
    origin: &AdOrigin,
    start: usize,
    cache: &mut AttributeCache,
    buffer: &mut AttributeBuffer,
    read_value: impl Fn(&[u8]) -> Option<Expression>,
) -> Option<(Ad, usize)> {
    let text = origin.text;
    cache.begin_ad(buffer);
    let mut at = start + text[start..].strip_prefix(b"<c>").map(|behind| 3 + blank_length(behind))?;
    loop {
        while let Some(length) = cache.read_same(&text[at..], buffer) {
            at += length;
        }
        if text[at..].starts_with(b"</c>") {
            return Some((cache.build_ad(buffer), at + 4));
        }
        let (index, value_start) = match cache.attributes.predicted_name(&text[at..]) {
            Some((index, length)) => (index, at + length),
            None => find_name(origin, at, cache)?,
        };
        let value_end = value_start + value_length(&text[value_start..])?;
        let behind = text[value_end..].strip_prefix(ATTRIBUTE_END)?;
        let end = text.len() - behind.len() + blank_length(behind);
        let value = &text[value_start..value_end];
        let parsed = match plain_value(value) {
            Some(value) => ParsedValue::literal(Expression::literal(value)),
            None => cache.values.parse_with(value, index, || read_value(value))?,
        };
        cache.add(index, Some(&text[at..end]), parsed, buffer);
        at = end;
    }
}

/// Reads the tag `<a n="Name">` at byte `at`.  Returns the index of the name in the cache, and the byte offset of the
/// value.  `None` if no such tag with a plain name stands there.
fn find_name(origin: &AdOrigin, at: usize, cache: &mut AttributeCache) -> Option<(usize, usize)> {
    let value = at + name_tag_length(&origin.text[at..])?;
    let tag = &origin.text[at..value];
    let name = &tag[ATTRIBUTE_BEGIN.len()..tag.len() - NAME_END.len()];
    let index = match cache.attributes.number_of(tag) {
        Some(index) => index,
        None => cache.insert_name(tag, true, attribute_name(name, origin.dialect, 0..0, 0).ok()?),
    };
    Some((index, value))
}

/// Returns the length of the tag `<a n="Name">` at the start of a text.  `None` if no such tag stands there, or if its
/// name is not of ASCII characters without escapes.
fn name_tag_length(text: &[u8]) -> Option<usize> {
    let behind = text.strip_prefix(ATTRIBUTE_BEGIN)?;
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'&' | b'<' | b'>' | b'\\');
    let name_length = behind.iter().take_while(|byte| is_plain(byte)).count();
    behind[name_length..].starts_with(NAME_END).then_some(ATTRIBUTE_BEGIN.len() + name_length + NAME_END.len())
}

/// Returns the length of the scalar at the start of a text, as HTCondor writes it.  `None` if no such element stands
/// there.
fn scalar_length(text: &[u8]) -> Option<usize> {
    const EMPTY: [&[u8]; 4] = [b"<b v=\"t\"/>", b"<b v=\"f\"/>", b"<un/>", b"<er/>"];
    const WITH_TEXT: [(&[u8], &[u8]); 6] = [
        (b"<s>", b"</s>"),
        (b"<i>", b"</i>"),
        (b"<e>", b"</e>"),
        (b"<r>", b"</r>"),
        (b"<at>", b"</at>"),
        (b"<rt>", b"</rt>"),
    ];
    if let Some(element) = EMPTY.iter().find(|element| text.starts_with(element)) {
        return Some(element.len());
    }
    let (open, close) = WITH_TEXT.iter().find(|(open, _)| text.starts_with(open))?;
    let end = open.len() + memchr::memchr(b'<', &text[open.len()..])?;
    text[end..].starts_with(close).then_some(end + close.len())
}

/// An element whose closing tag has not been read yet.
#[derive(Clone, Copy)]
enum UnclosedElement {
    Ad,
    List,
    /// An attribute, with or without its value.
    Attribute,
}

/// Returns the length of the value at the start of a text: a scalar, a list or an ad.  `None` if no value stands there, or
/// only the grammar can tell where it ends, as [`read_ad`] says.
pub fn value_length(text: &[u8]) -> Option<usize> {
    let (mut open, mut rest) = (Vec::new(), text);
    loop {
        let (length, has_ended) = match (open.last(), rest.get(..4)?) {
            (Some(UnclosedElement::Ad), b"</c>") | (Some(UnclosedElement::List), b"</l>") => {
                open.pop();
                (4, true)
            }
            (Some(UnclosedElement::Ad), _) => {
                open.push(UnclosedElement::Attribute);
                (name_tag_length(rest)?, false)
            }
            (_, [b'<', b'c', b'>', _]) => {
                open.push(UnclosedElement::Ad);
                (3, false)
            }
            (_, [b'<', b'l', b'>', _]) => {
                open.push(UnclosedElement::List);
                (3, false)
            }
            _ => (scalar_length(rest)?, true),
        };
        rest = &rest[length..];
        if has_ended {
            if let Some(UnclosedElement::Attribute) = open.last() {
                open.pop();
                rest = rest.strip_prefix(ATTRIBUTE_END)?;
            }
            if open.is_empty() {
                return Some(text.len() - rest.len());
            }
        }
        rest = &rest[blank_length(rest)..];
    }
}

/// Returns the value of an element that is a number, a string without escapes, or a Boolean.  `None` for any other text.
fn plain_value(element: &[u8]) -> Option<Value> {
    // The text between tags of three and four bytes.
    let inside = || {
        let text = &element[3..element.len() - 4];
        let is_plain = memchr::memchr3(b'&', b'\\', b'\r', text).is_none() && memchr::memchr(0, text).is_none();
        std::str::from_utf8(text).ok().filter(|_| is_plain)
    };
    match element {
        [b'<', b's', b'>', .., b'<', b'/', b's', b'>'] => inside().map(Value::string),
        [b'<', b'i', b'>', .., b'<', b'/', b'i', b'>'] => inside()?.trim_ascii().parse().ok().map(Value::Integer),
        [b'<', b'r', b'>', .., b'<', b'/', b'r', b'>'] => inside()?.trim_ascii().parse().ok().map(Value::Real),
        b"<b v=\"t\"/>" => Some(Value::Boolean(true)),
        b"<b v=\"f\"/>" => Some(Value::Boolean(false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::value_length;
    use crate::ad::Dialect;
    use crate::format::FileFormat;
    use crate::format::nested_boundaries::is_single_ad;
    use crate::format::nested_reader::RecoveringReader;
    use crate::format::testing::{assert_cached_as_by_grammar, attribute_texts, shown_with_spans};
    use crate::format::xml::XmlGrammar;

    fn by_grammar(text: &[u8], dialect: Dialect) -> Vec<String> {
        shown_with_spans(RecoveringReader::<XmlGrammar>::new(text, dialect))
    }

    proptest! {
        #[test]
        fn the_grammar_reads_the_same(texts in attribute_texts(
            ["<c>", "</c>"],
            &[
                "<a n=\"a\">", "<a n=\"b\">", "  <a n=\"A\">", "<a n='a'>", "<a n=\"c &lt;\">", "<a n=\"self\">",
                "<a n=\"\">", "<a n=\"a\" >", "<a n=\"c d\u{e9}\">", "<a n=\"\\n\">", "<a>", "<a n=\"x>y\">",
            ],
            &[
                "<i>1</i>", "<i> +07 </i>", "<i>x</i>", "<i>9223372036854775808</i>", "<r>1.5</r>", "<r>1</r>",
                "<r>nan</r>", "<r>INF</r>", "<r></r>", "<s>x</s>", "<s></s>", "<s/>", "<s>\"q</s>", "<s>a&lt;b</s>",
                "<s>a\\nb</s>", "<s>a\r\nb</s>", "<s>a &</s>", "<s>a<!-- </a> -->b</s>", "<s><![CDATA[</a>]]></s>",
                "<s>a > b</s>", "<s>x</i>", "<b v=\"t\"/>", "<b v=\"f\"></b>", "<b v='F'/>", "<un/>", "<er/>",
                "<e>a + 1</e>", "<e>a &amp;&amp; b</e>", "<e>1 +</e>", "<l></l>", "<l/>", "<l><i>1</i><s>x</s></l>",
                "<l><l><i>1</i></l></l>", "<c></c>", "<c><a n=\"a\"><i>1</i></a></c>", "<l><c><a n=\"<\"><un/></a></c></l>",
                "<l>", "<i>1</i><i>2</i>", "", "1", "<rt>5</rt>", "<at>x</at>", "<n>1</n>", "<i>1</i> ", " <i>1</i>",
                "<b v=\"/>\"/>", "<l>x</l>", "<s>\u{0}</s>",
            ],
            &[
                "</a>", "</a>\n", "</a>\n    ", "</a></c>\n<c>", "</a>\n</c>\n<c>\n", "</c>", "<!-- c --></a>",
                "</a><!-- <c> -->", "", "</a ></c><c>", "</a></c><c/>", "</a>x", "</a></classads>",
            ],
            &["<c>", "</c>", "\n<c>", "<c >", "</c>\n", "<!--", "<", "x", ">", "\0", "</", "<>"],
        )) {
            for text in &texts {
                let length = value_length(text.as_bytes()).unwrap_or(0);
                prop_assert!(length == 0 || is_single_ad::<XmlGrammar>(&text.as_bytes()[..length]), "{}", text);
            }
            assert_cached_as_by_grammar(&texts, FileFormat::Xml, by_grammar);
        }
    }

    #[test]
    fn values_end_where_their_elements_do() {
        for value in [
            "<i>1</i>",
            "<s></s>",
            "<b v=\"t\"/>",
            "<un/>",
            "<l></l>",
            "<l><i>1</i><l><s>x</s></l></l>",
            "<c></c>",
            "<c><a n=\"a\"><i>1</i></a></c>",
            "<c><a n=\"a\"><i>1</i></a><a n=\"b\"><s>x</s></a></c>",
            "<c><a n=\"a\"><l><c><a n=\"b\"><er/></a></c></l></a></c>",
        ] {
            assert_eq!(value_length(value.as_bytes()), Some(value.len()), "{value}");
            let longer = format!("{value}</a><i>2</i>");
            assert_eq!(value_length(longer.as_bytes()), Some(value.len()), "{longer}");
            assert_eq!(value_length(&value.as_bytes()[..value.len() - 1]), None, "{value}");
        }
        for text in ["", "x", "</a>", "<l>x</l>", "<i>1</s>", "<c><i>1</i></c>", "<c><a n=\"a\"></a></c>", "<c></l>"] {
            assert_eq!(value_length(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn bytes_that_are_no_utf8_are_refused() {
        let text =
            b"<c><a n=\"a\"><s>x</s></a></c>\n<c><a n=\"a\"><s>\xff</s></a></c>\n<c><a n=\"\xff\"><s>x</s></a></c>";
        assert_cached_as_by_grammar(&[text], FileFormat::Xml, by_grammar);
        let items = by_grammar(text, Dialect::Condor);
        assert_eq!(items.iter().filter(|item| item.contains("UTF-8")).count(), 2, "{items:?}");
    }
}
