//! Writer of ads in XML.

use crate::ad::{Expression, ExpressionKind, Name, Value};
use crate::format::ad_syntax::AdSyntax;
use crate::format::nested_writer::{NestedSyntax, push_value};
use crate::syntax::{Style, print, print_string};

/// How XML writes an ad: with one attribute per line.
pub const SYNTAX: AdSyntax = AdSyntax {
    begin: "<c>\n",
    separator: "",
    end: "</c>\n",
    empty: "<c>\n</c>\n",
    plain_literal_end: None,
    push_name: |name, text| {
        text.extend_from_slice(b"    ");
        XmlSyntax::push_name(name, text);
    },
    push_value: |expression, text| {
        push_value::<XmlSyntax>(expression, text);
        text.extend_from_slice(b"</a>\n");
        Vec::new()
    },
};

/// How attributes, ads and lists are written in XML. Empty ads and lists have two tags, because HTCondor does not read
/// `<c/>` and `<l/>`.
struct XmlSyntax;

impl NestedSyntax for XmlSyntax {
    const AD: [&'static str; 2] = ["<c>", "</c>"];
    const LIST: [&'static str; 2] = ["<l>", "</l>"];
    const SEPARATOR: &'static str = "";
    const ATTRIBUTE_END: &'static str = "</a>";

    fn push_name(name: &Name, text: &mut Vec<u8>) {
        text.extend_from_slice(b"<a n=\"");
        // A quote would end the XML attribute `n`, so it is written in octal.
        push_text(&c_escaped(name.as_str().as_bytes(), b"\\042"), text);
        text.extend_from_slice(b"\">");
    }

    fn push_scalar(expression: &Expression, text: &mut Vec<u8>) {
        let ExpressionKind::Literal(value) = expression.kind() else {
            return push_element("e", &print(expression, Style::New), text);
        };
        match value {
            Value::Undefined => text.extend_from_slice(b"<un/>"),
            Value::Error(_) => text.extend_from_slice(b"<er/>"),
            Value::Boolean(is) => text.extend_from_slice(if *is { b"<b v=\"t\"/>" } else { b"<b v=\"f\"/>" }),
            Value::Integer(integer) => push_element("i", integer.to_string().as_bytes(), text),
            Value::Real(real) => push_element("r", print_real(*real).as_bytes(), text),
            Value::String(string) => push_element("s", &c_escaped(string.as_bytes(), b"\""), text),
            Value::AbsoluteTime(time) => push_element("at", time.to_string().as_bytes(), text),
            Value::RelativeTime(time) => push_element("rt", time.to_string().as_bytes(), text),
            Value::List(_) | Value::Ad(_) => {}
        }
    }
}

fn push_element(tag: &str, content: &[u8], text: &mut Vec<u8>) {
    text.extend_from_slice(format!("<{tag}>").as_bytes());
    push_text(content, text);
    text.extend_from_slice(format!("</{tag}>").as_bytes());
}

/// Returns the fewest digits that are read as the same number, or HTCondor's words for infinities and NaN.
fn print_real(real: f64) -> String {
    if real.is_nan() {
        "NaN".to_owned()
    } else if real.is_infinite() {
        if real > 0.0 { "INF" } else { "-INF" }.to_owned()
    } else {
        format!("{real:?}")
    }
}

/// Returns a text with the escapes of C. Each double quote becomes `quote`.
fn c_escaped(bytes: &[u8], quote: &[u8]) -> Vec<u8> {
    let printed = print_string(bytes, Style::New);
    let mut text = Vec::with_capacity(printed.len());
    let mut rest = &printed[1..printed.len() - 1];
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (before, behind) = rest.split_at(at);
        let (escape, behind) = behind.split_at(2);
        text.extend_from_slice(before);
        text.extend_from_slice(if escape == b"\\\"" { quote } else { escape });
        rest = behind;
    }
    text.extend_from_slice(rest);
    text
}

/// Appends a text with references for `&`, `<` and `>`. HTCondor knows no other references.
///
/// XML forbids some characters, of which only U+FFFE and U+FFFF can occur in `content`. They are written as octal
/// escapes.
fn push_text(content: &[u8], text: &mut Vec<u8>) {
    for (position, byte) in content.iter().enumerate() {
        match byte {
            b'&' => text.extend_from_slice(b"&amp;"),
            b'<' => text.extend_from_slice(b"&lt;"),
            b'>' => text.extend_from_slice(b"&gt;"),
            0xbe | 0xbf if content[..position].ends_with(b"\xef\xbf") => {
                text.truncate(text.len() - 2);
                text.extend_from_slice(format!("\\357\\277\\{byte:03o}").as_bytes());
            }
            other => text.push(*other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SYNTAX;
    use crate::ad::Dialect;
    use crate::syntax::{ParseOptions, parse_ad};

    #[test]
    fn as_htcondor_writes_it() {
        for (value, xml) in [
            ("1", "<i>1</i>"),
            ("1.0", "<r>1.0</r>"),
            ("1e100", "<r>1e100</r>"),
            ("-0.0", "<r>-0.0</r>"),
            ("real(\"-INF\")", "<r>-INF</r>"),
            ("true", "<b v=\"t\"/>"),
            ("undefined", "<un/>"),
            ("error", "<er/>"),
            ("\"x < y & \\\"z\\\" ' > \"", "<s>x &lt; y &amp; \"z\" ' &gt; </s>"),
            ("\"C:\\\\n\\n\\r\\001\\177\\377é\"", "<s>C:\\\\n\\n\\r\\001\\177\\377é</s>"),
            ("\"\u{ffff}\u{fffe}\u{fffd}\"", "<s>\\357\\277\\277\\357\\277\\276\u{fffd}</s>"),
            ("a < b && \"\\\"\u{ffff}\"", "<e>a &lt; b &amp;&amp; \"\\\"\\357\\277\\277\"</e>"),
            ("absTime(\"2000-01-01T00:00:00-06:00\")", "<at>2000-01-01T00:00:00-06:00</at>"),
            ("relTime(\"1+02:03:04.5\")", "<rt>1+02:03:04.5</rt>"),
            ("{ 1, { }, [ ] }", "<l><i>1</i><l></l><c></c></l>"),
            ("[ a = 1; b = { } ]", "<c><a n=\"a\"><i>1</i></a><a n=\"b\"><l></l></a></c>"),
        ] {
            let ad =
                parse_ad(format!("['a \"<\\\\' = {value}]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let mut out = Vec::new();
            SYNTAX.push_ad(&ad, &mut out);
            let expected = format!("<c>\n    <a n=\"a \\042&lt;\\\\\">{xml}</a>\n</c>\n");
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{value}");
        }
    }
}
