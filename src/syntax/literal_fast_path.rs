//! Fast path for simple literals, which most values of a pool are: parses them without the lexer.

use crate::ad::{Expression, ExpressionKind, Span, Type, Value};

use super::literal_text::LiteralText;

/// Parses the value of a line of the long form if it is a simple literal: a boolean, a decimal number, or a string
/// without backslashes.  The parser would return an equal expression.  `None` for any other text, including more
/// complicated literals.
#[must_use]
pub fn simple_literal(text: &[u8]) -> Option<Expression> {
    LiteralText::of(text)?.expression()
}

/// Parses a simple literal to its value; `None` for any other text.  A string that is equal to `before` shares the
/// memory of `before`, which may be the attribute's value in the previous ad.
#[must_use]
pub fn simple_literal_value(text: &[u8], before: Option<Value>) -> Option<Value> {
    Some(SimpleLiteral::of(LiteralText::of(text)?)?.0.into_value(before))
}

/// Parses a simple literal into `expression`, as [`simple_literal`] does.  Uses the memory of `expression` again if
/// nothing else refers to it.  Returns false and leaves `expression` as it is for any other text.
#[must_use]
pub fn read_simple_literal(text: &[u8], expression: &mut Expression) -> bool {
    let Some((literal, span)) = LiteralText::of(text).and_then(SimpleLiteral::of) else { return false };
    expression.replace_literal(|before| literal.into_value(before), span);
    true
}

/// Whether [`simple_literal`] parses a text.
#[must_use]
pub fn is_simple_literal(text: &[u8]) -> bool {
    LiteralText::of(text).is_some_and(|literal| literal.is_simple())
}

impl LiteralText<'_> {
    /// Returns the expression of a simple literal; `None` for a string with escapes.
    #[must_use]
    pub fn expression(self) -> Option<Expression> {
        let (literal, span) = SimpleLiteral::of(self)?;
        Some(Expression::new(ExpressionKind::Literal(literal.into_value(None)), span))
    }
}

/// Returns the decimal integer that a text is. `None` for any other text. The text must not have more digits than a
/// [`LiteralText`].
#[must_use]
pub fn decimal_integer(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let add = |sum: i64, digit: &u8| digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0'));
    let size = digits.iter().try_fold(0, add)?;
    Some(if text.len() > digits.len() { -size } else { size })
}

/// The value of a simple literal, which borrows its text.
enum SimpleLiteral<'t> {
    Boolean(bool),
    Integer(i64),
    Real(f64),
    String(&'t [u8]),
}

impl<'t> SimpleLiteral<'t> {
    /// Reads a simple literal; `None` for a string with escapes.  Returns its place, too.
    fn of(literal: LiteralText<'t>) -> Option<(Self, Span)> {
        if !literal.is_simple() {
            return None;
        }
        let LiteralText { start, text, value_type, .. } = literal;
        let span = Span::new(u32::try_from(start).ok()?, u32::try_from(start + text.len()).ok()?);
        let value = match value_type {
            Type::String => SimpleLiteral::String(&text[1..text.len() - 1]),
            Type::Integer => SimpleLiteral::Integer(decimal_integer(text)?),
            Type::Real => SimpleLiteral::Real(str::from_utf8(text).ok()?.parse().ok()?),
            _ => SimpleLiteral::Boolean(text.len() == b"true".len()),
        };
        Some((value, span))
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{LiteralText, SimpleLiteral, is_simple_literal, read_simple_literal, simple_literal};
    use crate::ad::{Dialect, ExpressionKind, Value};
    use crate::syntax::{ParseOptions, Style, parse_prefix, print_value};

    /// The text of a value that is printed as it is.
    fn plain_literal(text: &[u8]) -> Option<&[u8]> {
        LiteralText::of(text).filter(LiteralText::is_plain).map(|literal| literal.text)
    }

    /// Whether the text is a simple literal; if so, checks that the parser agrees.
    fn agrees(text: &[u8]) -> bool {
        let simple = LiteralText::of(text).and_then(SimpleLiteral::of);
        assert_eq!(is_simple_literal(text), simple.is_some(), "{}", text.escape_ascii());
        let Some((literal, span)) = simple else { return false };
        let value = literal.into_value(None);
        let found = LiteralText::of(text).expect("what is simple is a literal");
        assert_eq!(found.value_type, value.value_type(), "{}", text.escape_ascii());
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
        let Some(quoted) = plain_literal(text) else { return false };
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
