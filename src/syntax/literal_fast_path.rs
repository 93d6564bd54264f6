//! Fast path for simple literals, which most values of a pool are: parses them without the lexer.

use crate::ad::{Expression, ExpressionKind, Span, Type, Value};

/// Parses the value of a line of the long form if it is a simple literal: a boolean, a decimal number, or a string
/// without backslashes.  The parser would return an equal expression.  `None` for any other text, including more
/// complicated literals.
#[must_use]
pub fn simple_literal(text: &[u8]) -> Option<Expression> {
    let (literal, span) = SimpleLiteral::scan(text)?;
    Some(Expression::new(ExpressionKind::Literal(literal.into_value(None)), span))
}

/// Parses a simple literal to its value; `None` for any other text.  A string that is equal to `before` shares the
/// memory of `before`, which may be the attribute's value in the previous ad.
#[must_use]
pub fn simple_literal_value(text: &[u8], before: Option<Value>) -> Option<Value> {
    Some(SimpleLiteral::scan(text)?.0.into_value(before))
}

/// Parses a simple literal into `expression`, as [`simple_literal`] does.  Uses the memory of `expression` again if
/// nothing else refers to it.  Returns false and leaves `expression` as it is for any other text.
#[must_use]
pub fn read_simple_literal(text: &[u8], expression: &mut Expression) -> bool {
    let Some((literal, span)) = SimpleLiteral::scan(text) else { return false };
    expression.replace_literal(|before| literal.into_value(before), span);
    true
}

/// Whether [`simple_literal`] parses a text.
#[must_use]
pub fn is_simple_literal(text: &[u8]) -> bool {
    simple_literal_type(text).is_some()
}

/// Returns the type of the literal that [`simple_literal`] parses; `None` if it does not parse the text.
#[must_use]
pub fn simple_literal_type(text: &[u8]) -> Option<Type> {
    match text.trim_ascii() {
        [b'"', inside @ .., b'"'] => is_plain_string(inside).then_some(Type::String),
        [b'-', digits @ ..] | digits @ [b'0'..=b'9', ..] => simple_number_type(digits),
        word if word.eq_ignore_ascii_case(b"true") || word.eq_ignore_ascii_case(b"false") => Some(Type::Boolean),
        _ => None,
    }
}

/// Returns the text of a simple literal without the white space around it, if every way to print its value results in
/// this text: an integer, a real with its fewest digits, a boolean in lower case, or a string of printable ASCII
/// characters.  `None` for other texts, and for strings that may be marked as expressions in JSON.
#[must_use]
pub fn plain_literal(text: &[u8]) -> Option<&[u8]> {
    let literal = text.trim_ascii();
    let is_plain = match literal {
        [b'"', b'/', ..] => false,
        [b'"', inside @ .., b'"'] => is_printed_as_it_is(inside),
        b"true" | b"false" => true,
        [b'-', digits @ ..] if *digits != *b"0" => is_plain_number(digits),
        digits => is_plain_number(digits),
    };
    is_plain.then_some(literal)
}

/// Returns the text of a string without the white space around it, if it has escaped quotes (`\"`) and otherwise only
/// printable ASCII characters. The language and JSON print its value as this text. `None` for other texts, and for
/// strings that may be marked as expressions in JSON.
///
/// HTCondor writes nested ads into such strings, as in `AddressV1`.
#[must_use]
pub fn quoted_literal(text: &[u8]) -> Option<&[u8]> {
    let literal = text.trim_ascii();
    let [b'"', inside @ .., b'"'] = literal else { return None };
    if inside.starts_with(b"/") || !is_printable(inside) {
        return None;
    }
    let mut rest = inside;
    while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
        rest = rest[at..].strip_prefix(b"\\\"")?;
    }
    Some(literal)
}

/// Whether a string of these bytes is printed without escapes.
fn is_printed_as_it_is(inside: &[u8]) -> bool {
    // Without an early end, the compiler vectorizes the test.
    let is_special = |byte: u8| !matches!(byte, b' ' | b'!' | b'#'..=b'[' | b']'..=b'~');
    !inside.iter().fold(false, |found, byte| found | is_special(*byte))
}

fn is_printable(text: &[u8]) -> bool {
    !text.iter().fold(false, |found, byte| found | !matches!(byte, b' '..=b'~'))
}

/// Whether a text without a sign is a number that is printed with the same digits.
fn is_plain_number(digits: &[u8]) -> bool {
    // Different decimal numbers with this many digits are different reals.
    const MAX_DIGITS: usize = 15;
    match simple_number_type(digits) {
        Some(Type::Integer) => true,
        Some(_) => {
            let whole = digits.iter().take_while(|byte| **byte != b'.').count();
            let fraction = &digits[whole + 1..];
            // Smaller numbers are printed with an exponent.
            let is_large = digits[0] != b'0' || (fraction.iter().take(4).any(|byte| *byte != b'0'));
            digits.len() <= MAX_DIGITS + 1
                && (digits[0] != b'0' || whole == 1)
                && (fraction.last() != Some(&b'0') || fraction.len() == 1)
                && (is_large || *digits == *b"0.0")
        }
        None => false,
    }
}

/// Whether the text between two quotes is a string without escapes.
fn is_plain_string(inside: &[u8]) -> bool {
    memchr::memchr3(b'"', b'\\', 0, inside).is_none() && memchr::memchr(b'\n', inside).is_none()
}

/// The value of a simple literal, which borrows its text.
enum SimpleLiteral<'t> {
    Boolean(bool),
    Integer(i64),
    Real(f64),
    String(&'t [u8]),
}

impl<'t> SimpleLiteral<'t> {
    /// Parses a simple literal; `None` for any other text.  Returns its place, too.
    fn scan(text: &'t [u8]) -> Option<(Self, Span)> {
        let behind = text.trim_ascii_start();
        let start = text.len() - behind.len();
        let literal = behind.trim_ascii_end();
        let span = Span::new(u32::try_from(start).ok()?, u32::try_from(start + literal.len()).ok()?);
        let value = match literal {
            [b'"', inside @ .., b'"'] if is_plain_string(inside) => SimpleLiteral::String(inside),
            [b'-', digits @ ..] => SimpleLiteral::number(literal, digits)?,
            [b'0'..=b'9', ..] => SimpleLiteral::number(literal, literal)?,
            _ if literal.eq_ignore_ascii_case(b"true") => SimpleLiteral::Boolean(true),
            _ if literal.eq_ignore_ascii_case(b"false") => SimpleLiteral::Boolean(false),
            _ => return None,
        };
        Some((value, span))
    }

    /// Parses a decimal integer or fixed-point number that both dialects read alike; `None` for any other number.
    /// `digits` is `text` without its sign.
    fn number(text: &[u8], digits: &[u8]) -> Option<Self> {
        match simple_number_type(digits)? {
            Type::Integer => {
                let size = digits.iter().fold(0_i64, |sum, digit| sum * 10 + i64::from(digit - b'0'));
                Some(SimpleLiteral::Integer(if text.len() > digits.len() { -size } else { size }))
            }
            _ => str::from_utf8(text).ok()?.parse().ok().map(SimpleLiteral::Real),
        }
    }

    /// Converts the literal to a value.  A string uses the memory of `before`, if it can.
    fn into_value(self, before: Option<Value>) -> Value {
        match (self, before) {
            (SimpleLiteral::Boolean(value), _) => Value::Boolean(value),
            (SimpleLiteral::Integer(value), _) => Value::Integer(value),
            (SimpleLiteral::Real(value), _) => Value::Real(value),
            (SimpleLiteral::String(bytes), Some(Value::String(before))) => Value::String(before.replaced_by(bytes)),
            (SimpleLiteral::String(bytes), _) => Value::string(bytes),
        }
    }
}

/// Returns whether a text without a sign is a decimal integer or a fixed-point number that both dialects read alike.
/// `None` for any other text.
fn simple_number_type(digits: &[u8]) -> Option<Type> {
    // Every decimal number with this many digits fits into 64 bits.
    const MAX_DIGITS: usize = 18;
    let whole = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match &digits[whole..] {
        // A leading 0 makes a longer integer octal in the papers' dialect and an error in HTCondor's.
        [] if (1..=MAX_DIGITS).contains(&whole) && (digits[0] != b'0' || whole == 1) => Some(Type::Integer),
        [b'.', fraction @ ..] if whole > 0 && !fraction.is_empty() && fraction.iter().all(u8::is_ascii_digit) => {
            Some(Type::Real)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        SimpleLiteral, is_simple_literal, plain_literal, quoted_literal, read_simple_literal, simple_literal,
        simple_literal_type,
    };
    use crate::ad::{Dialect, ExpressionKind, Value};
    use crate::syntax::{ParseOptions, Style, parse_prefix, print_value};

    /// Whether the text is a simple literal; if so, checks that the parser agrees.
    fn agrees(text: &[u8]) -> bool {
        assert_eq!(is_simple_literal(text), SimpleLiteral::scan(text).is_some(), "{}", text.escape_ascii());
        let Some((literal, span)) = SimpleLiteral::scan(text) else { return false };
        let value = literal.into_value(None);
        assert_eq!(simple_literal_type(text), Some(value.value_type()), "{}", text.escape_ascii());
        if let Some(plain) = plain_literal(text) {
            assert_eq!(print_value(&value, Style::New), plain);
            assert_eq!(print_value(&value, Style::Long), plain);
        }
        for dialect in [Dialect::Classad, Dialect::Condor] {
            let (expression, rest) = parse_prefix(text, ParseOptions::long(dialect)).expect("what is plain is read");
            assert!(rest.is_none(), "{}", text.escape_ascii());
            assert_eq!(expression.span(), span, "{}", text.escape_ascii());
            let ExpressionKind::Literal(read) = expression.kind() else {
                panic!("{} is a literal", text.escape_ascii())
            };
            match (read, &value) {
                (Value::Real(a), Value::Real(b)) => assert_eq!(a.to_bits(), b.to_bits(), "{}", text.escape_ascii()),
                (read, value) => assert_eq!(read, value, "{}", text.escape_ascii()),
            }
        }
        true
    }

    #[test]
    fn memory_is_used_again_where_nothing_else_refers_to_it() {
        let mut expression = simple_literal(b"\"abc\"").unwrap();
        let address = expression.identity();
        for text in [" \"xyz\"", "\"longer\"", "7", "\"\"", "true", "-1.5"] {
            assert!(read_simple_literal(text.as_bytes(), &mut expression), "{text}");
            assert_eq!(expression.identity(), address, "{text}");
            let expected = simple_literal(text.as_bytes()).unwrap();
            assert!(expression == expected && expression.span() == expected.span(), "{text}");
        }
        assert!(!read_simple_literal(b"a + 1", &mut expression));
        assert!(expression == simple_literal(b"-1.5").unwrap());
        let before = expression.clone();
        assert!(read_simple_literal(b"8", &mut expression));
        assert!(before == simple_literal(b"-1.5").unwrap() && expression == simple_literal(b"8").unwrap());
    }

    #[test]
    fn what_is_plain() {
        for (text, is_plain) in [
            (" true", true),
            ("FALSE\r", true),
            (" 0 ", true),
            ("-0", true),
            ("-0.0", true),
            ("999999999999999999", true),
            ("9223372036854775807", false),
            ("1.50", true),
            ("\t\"a b\" ", true),
            ("\"\"", true),
            ("\"\u{e9}\"", true),
            ("010", false),
            ("- 1", false),
            ("--1", false),
            ("1.", false),
            (".5", false),
            ("1e5", false),
            ("1K", false),
            ("1 2", false),
            ("\"", false),
            ("\"a\" \"b\"", false),
            ("\"a\\\"b\"", false),
            ("trueish", false),
            ("undefined", false),
            ("", false),
        ] {
            assert_eq!(agrees(text.as_bytes()), is_plain, "{text}");
        }
    }

    #[test]
    fn what_is_printed_as_it_is() {
        for text in [
            " 0",
            "-7",
            "123456789012345678",
            "1.5",
            "-0.25",
            "0.0001",
            "0.0",
            "100.0",
            "12345678901234.5",
            "true",
            "\"a b\"",
        ] {
            assert!(
                agrees(text.as_bytes()) && plain_literal(text.as_bytes()) == Some(text.trim().as_bytes()),
                "{text}"
            );
        }
        for text in [
            "-0",
            "1.50",
            "00.5",
            "0.00001",
            "1234567890123456.5",
            "TRUE",
            "\"/Expr(a)/\"",
            "\"\u{e9}\"",
            "\"\t\"",
            "a",
            "",
            "\"",
        ] {
            assert_eq!(plain_literal(text.as_bytes()), None, "{text}");
        }
    }

    /// Whether the text is a string with escaped quotes; if so, checks that its value is printed like that.
    fn is_quoted(text: &[u8]) -> bool {
        let Some(quoted) = quoted_literal(text) else { return false };
        for dialect in [Dialect::Classad, Dialect::Condor] {
            let (expression, rest) = parse_prefix(text, ParseOptions::long(dialect)).expect("what is quoted is read");
            assert!(rest.is_none(), "{}", text.escape_ascii());
            let value = expression.as_literal().expect("a string");
            for style in [Style::New, Style::Long] {
                assert_eq!(print_value(value, style), quoted, "{}", text.escape_ascii());
            }
        }
        true
    }

    #[test]
    fn escaped_quotes_are_printed_as_they_are() {
        for (text, expected) in [
            (r#" "{[ p=\"primary\"; a=\"10.0.0.1\"; ]}" "#, true),
            (r#""\"""#, true),
            (r#""x""#, true),
            (r#""/Expr(\"a\")/""#, false),
            (r#""x\\"y""#, false),
            (r#""x\t""#, false),
            (r#""x\""#, false),
            (r#""x" y""#, false),
        ] {
            assert_eq!(is_quoted(text.as_bytes()), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn quoted_texts_are_read_and_printed(text in " ?\"([a-z/ ]|\\\\\"|\\\\|\"){0,6}\" ?") {
            is_quoted(text.as_bytes());
        }

        #[test]
        fn the_parser_says_the_same(text in prop_oneof![
            "[ \t]{0,2}-?[0-9]{0,20}(\\.[0-9]{0,20})?[ \r]{0,2}",
            "-?(0|[1-9][0-9]{0,3})\\.0{0,6}[0-9]{0,14}",
            "[-+0-9.eEKx tTrRuUfFaAlLsS\"\\\\x'/]{0,8}",
            " ?\"[ -~\u{e9}]{0,6}\" ?",
        ]) {
            agrees(text.as_bytes());
        }
    }
}
