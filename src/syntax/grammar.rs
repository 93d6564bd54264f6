//! The grammar: parses tokens to trees (thesis 2.4, with HTCondor's extensions).
//!
//! Brackets, lists, ads, calls and subscripts are chumsky combinators.  Operators are parsed by a loop with an
//! explicit stack (`precedence`), so that a chain of a million operators cannot overflow the call stack, and
//! chumsky's rich errors stay cheap.

use chumsky::error::Rich;
use chumsky::input::InputRef;
use chumsky::prelude::*;

use crate::ad::{Ad, Dialect, Expression, ExpressionKind, Name, Span, Value};

use super::SyntaxError;
use super::chumsky_types::{ChumskyExtra, TokenInput, TokenParser, expected_error, token_text};
use super::error_messages::to_syntax_error;
use super::literal::{self, QuotedLiteral};
use super::precedence::{negative_number_follows, operators};
use super::token::{SpannedToken, StringSyntax, Token, lex, to_offset};

/// Parser options: the dialect and the syntax of strings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParseOptions {
    /// The dialect of the language.
    pub dialect: Dialect,
    /// The syntax of string literals.
    pub strings: StringSyntax,
}

impl ParseOptions {
    /// Returns the options for expressions and bracketed ads: strings have C's escapes.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        ParseOptions { dialect, strings: StringSyntax::Escaped }
    }

    /// Returns the options for the values of HTCondor's long form: in strings only quotes are escaped.
    #[must_use]
    pub fn long(dialect: Dialect) -> Self {
        ParseOptions { dialect, strings: StringSyntax::Long }
    }
}

/// Maximum nesting depth of brackets.
const MAX_NESTING: usize = 200_000;

/// Parses a text that is one expression.
///
/// # Errors
///
/// The first syntax error, if the text is no expression, is longer than 4 GiB or nested too deeply.
pub fn parse_expression(text: &[u8], rules: ParseOptions) -> Result<Expression, SyntaxError> {
    let tokens = lex_checked(text, rules)?;
    run(expression(text, rules).then_ignore(end()), &tokens, text)
}

/// Parses the longest expression at the start of a text, as HTCondor reads the value of a line.  Returns it with
/// the span of the unparsed rest; `None` if there is no rest.
///
/// # Errors
///
/// The first syntax error, if the text begins with no expression, is longer than 4 GiB or nested too deeply.
pub fn parse_prefix(text: &[u8], rules: ParseOptions) -> Result<(Expression, Option<Span>), SyntaxError> {
    let tokens = lex_checked(text, rules)?;
    let rest = any().repeated().to_slice().map(<[_]>::len);
    let both = expression(text, rules).then(rest);
    run(both, &tokens, text).map(|(expression, rest)| {
        let first = tokens.get(tokens.len() - rest).filter(|_| rest > 0);
        (expression, first.map(|(_, span)| Span::new(span.start, to_offset(text.len()))))
    })
}

/// Parses a text that is one bracketed ad.
///
/// # Errors
///
/// The first syntax error, if the text is no ad, is longer than 4 GiB or nested too deeply.
pub fn parse_ad(text: &[u8], rules: ParseOptions) -> Result<Ad, SyntaxError> {
    let tokens = lex_checked(text, rules)?;
    run(bracketed_ad(text, rules, expression(text, rules)).then_ignore(end()), &tokens, text).map(build_ad)
}

/// Returns the tokens of a text, or an error if it is longer than 4 GiB or nested too deeply.
pub(super) fn lex_checked(text: &[u8], rules: ParseOptions) -> Result<Vec<SpannedToken>, SyntaxError> {
    if u32::try_from(text.len()).is_err() {
        return Err(SyntaxError::new(Span::new(0, 1), "this text is longer than 4 GiB"));
    }
    let tokens = lex(text, rules.strings);
    let mut depth = 0_usize;
    for (token, span) in &tokens {
        if token.closing().is_some() {
            depth += 1;
            if depth > MAX_NESTING {
                return Err(SyntaxError::new(*span, format!("brackets are nested more than {MAX_NESTING} deep")));
            }
        } else if token.is_closing() {
            depth = depth.saturating_sub(1);
        }
    }
    Ok(tokens)
}

/// Runs a parser over all tokens of a text and converts chumsky's first error to a [`SyntaxError`].
fn run<'t, T>(
    parser: impl Parser<'t, TokenInput<'t>, T, ChumskyExtra<'t>>,
    tokens: &'t [SpannedToken],
    text: &[u8],
) -> Result<T, SyntaxError> {
    run_within(parser, tokens, Span::new(to_offset(text.len()), to_offset(text.len())), tokens, text)
}

/// Runs a parser over a part of the tokens, which ends at the span `end`, and converts chumsky's first error to a
/// [`SyntaxError`].  Hints take the tokens `around` into account.
pub(super) fn run_within<'t, T>(
    parser: impl Parser<'t, TokenInput<'t>, T, ChumskyExtra<'t>>,
    tokens: &'t [SpannedToken],
    end: Span,
    around: &[SpannedToken],
    text: &[u8],
) -> Result<T, SyntaxError> {
    let input = tokens.map(end, (|(token, span)| (token, span)) as fn(&SpannedToken) -> (&Token, &Span));
    parser.parse(input).into_result().map_err(|errors| {
        let first = errors.into_iter().min_by_key(|error| error.span().start);
        first.map_or_else(
            || SyntaxError::new(end, "this is no expression"),
            |error| to_syntax_error(error, around, text),
        )
    })
}

type ParsedAttribute = ((Name, Span), Expression);

/// Returns the parser of `name = expression`.
pub(super) fn attribute(text: &[u8], rules: ParseOptions) -> impl TokenParser<'_, ParsedAttribute> {
    attribute_of(text, rules, expression(text, rules))
}

fn attribute_of<'t>(
    text: &'t [u8],
    rules: ParseOptions,
    expression: impl TokenParser<'t, Expression>,
) -> impl TokenParser<'t, ParsedAttribute> {
    attribute_name(text, rules).then_ignore(just(Token::Assign)).then(expression)
}

/// Returns the parser of `[ name = expression; ... ]`, with any number of semicolons between, before and after the
/// attributes.
fn bracketed_ad<'t>(
    text: &'t [u8],
    rules: ParseOptions,
    expression: impl TokenParser<'t, Expression>,
) -> impl TokenParser<'t, Vec<ParsedAttribute>> {
    let semicolons = just(Token::Semicolon).repeated();
    attribute_of(text, rules, expression)
        .separated_by(just(Token::Semicolon).then(semicolons))
        .allow_trailing()
        .collect()
        .delimited_by(just(Token::BracketOpen).then(semicolons), just(Token::BracketClose))
}

/// Builds the ad of parsed attributes.
fn build_ad(attributes: Vec<ParsedAttribute>) -> Ad {
    attributes.into_iter().map(|((name, _), expression)| (name, expression)).collect()
}

/// Returns the parser of the name before a `=`, which is not empty and, in the papers' dialect, not reserved.
fn attribute_name(text: &[u8], rules: ParseOptions) -> impl TokenParser<'_, (Name, Span)> {
    name(text, rules).try_map(move |name: Name, span| {
        if rules.dialect == Dialect::Classad && name.is_reserved() {
            let error = SyntaxError::new(span, format!("`{name}` is reserved and cannot name an attribute"))
                .with_help("HTCondor allows it: --dialect condor");
            return Err(Rich::custom(span, error));
        }
        if name.as_str().is_empty() {
            return Err(Rich::custom(span, SyntaxError::new(span, "a name cannot be empty")));
        }
        Ok((name, span))
    })
}

/// Returns the parser of a name, quoted or not.
fn name(text: &[u8], rules: ParseOptions) -> impl TokenParser<'_, Name> {
    select! { token @ (Token::Name | Token::Quoted) = e => (token, e.span()) }.labelled("a name").try_map(
        move |(token, span): (Token, Span), _| match token {
            Token::Name => Ok(Name::new(&token_text(text, span))),
            _ => literal::name(between_quotes(text, span), rules.dialect, span)
                .map(|name| Name::new(&name))
                .map_err(|error| Rich::custom(error.span, error)),
        },
    )
}

/// Returns the text between the quotes of a token.
fn between_quotes(text: &[u8], span: Span) -> &[u8] {
    &text[span.start as usize + 1..span.end as usize - 1]
}

/// Returns the parser of an expression: operands with operators between them.
fn expression(text: &[u8], rules: ParseOptions) -> impl TokenParser<'_, Expression> {
    recursive(move |expression| operators(operand(text, rules, expression), text))
}

/// Returns the parser of a primary expression, followed by any number of subscripts and selections.
fn operand<'t>(
    text: &'t [u8],
    rules: ParseOptions,
    expression: impl TokenParser<'t, Expression> + 't,
) -> impl TokenParser<'t, Expression> {
    enum Suffix {
        Index(Expression, Span),
        Name(Name, Span),
    }
    let index = expression
        .clone()
        .delimited_by(just(Token::BracketOpen), just(Token::BracketClose))
        .map_with(|index, e| Suffix::Index(index, e.span()));
    let select = just(Token::Dot).ignore_then(name(text, rules)).map_with(|name, e| Suffix::Name(name, e.span()));
    let suffix = choice((index, select));
    let primary = primary(text, rules, expression);
    custom(move |input: &mut InputRef<'t, '_, TokenInput<'t>, ChumskyExtra<'t>>| {
        let mut expression = input.parse(&primary)?;
        while matches!(input.peek(), Some(Token::BracketOpen | Token::Dot)) {
            let start = expression.span();
            expression = match input.parse(&suffix)? {
                Suffix::Index(index, end) => {
                    Expression::new(ExpressionKind::Subscript(expression, index), start.to(end))
                }
                Suffix::Name(name, end) => Expression::new(ExpressionKind::Select(expression, name), start.to(end)),
            };
        }
        Ok(expression)
    })
}

/// Returns the parser of literals, names, calls and bracketed expressions.  The next token decides which of them is
/// parsed, without backtracking.
fn primary<'t>(
    text: &'t [u8],
    rules: ParseOptions,
    expression: impl TokenParser<'t, Expression> + 't,
) -> impl TokenParser<'t, Expression> {
    let separator = if rules.dialect.is_condor() {
        one_of([Token::Comma, Token::Semicolon].as_slice()).boxed()
    } else {
        just(Token::Comma).boxed()
    };
    let parentheses = expression
        .clone()
        .delimited_by(just(Token::ParenthesisOpen), just(Token::ParenthesisClose))
        .map_with(|inner, e| Expression::new(ExpressionKind::Parentheses(inner), e.span()));
    let list = expression
        .clone()
        .separated_by(just(Token::Comma))
        .collect::<Vec<_>>()
        .delimited_by(just(Token::BraceOpen), just(Token::BraceClose))
        .map_with(|elements, e| Expression::new(ExpressionKind::List(elements.into()), e.span()));
    let arguments = expression
        .clone()
        .separated_by(separator)
        .collect::<Vec<_>>()
        .delimited_by(just(Token::ParenthesisOpen), just(Token::ParenthesisClose));
    let root = just(Token::Dot)
        .ignore_then(name(text, rules))
        .map_with(|name, e| Expression::new(ExpressionKind::RootAttribute(name), e.span()));
    let nested = bracketed_ad(text, rules, expression)
        .map_with(|attributes, e| Expression::new(ExpressionKind::Ad(build_ad(attributes)), e.span()));

    custom(move |input: &mut InputRef<'t, '_, TokenInput<'t>, ChumskyExtra<'t>>| {
        let before = input.cursor();
        match input.peek() {
            Some(Token::ParenthesisOpen) => input.parse(&parentheses),
            Some(Token::BraceOpen) => input.parse(&list),
            Some(Token::BracketOpen) => input.parse(&nested),
            Some(Token::Dot) => input.parse(&root),
            Some(Token::Name) => {
                input.skip();
                let span = input.span_since(&before);
                let name = Name::new(&token_text(text, span));
                if input.peek() != Some(Token::ParenthesisOpen) {
                    return Ok(Expression::new(ExpressionKind::Attribute(name), span));
                }
                let arguments = input.parse(&arguments)?;
                let span = input.span_since(&before);
                let kind = or_emit_error(input, call(name, arguments, rules));
                Ok(Expression::new(kind, span))
            }
            Some(Token::Quoted) => {
                input.skip();
                let span = input.span_since(&before);
                let quoted = literal::quoted(between_quotes(text, span), rules.dialect, span);
                let mut kind = or_emit_error(
                    input,
                    quoted.map(|quoted| match quoted {
                        QuotedLiteral::Time(value) => ExpressionKind::Literal(value),
                        QuotedLiteral::Name(name) => ExpressionKind::Attribute(Name::new(&name)),
                    }),
                );
                if let ExpressionKind::Attribute(name) = &kind
                    && input.peek() == Some(Token::ParenthesisOpen)
                {
                    let arguments = input.parse(&arguments)?;
                    kind = or_emit_error(input, call(name.clone(), arguments, rules));
                }
                Ok(Expression::new(kind, input.span_since(&before)))
            }
            Some(Token::String) => {
                let kind = strings(input, text, rules);
                Ok(Expression::new(kind, input.span_since(&before)))
            }
            Some(token) if token.is_number() => {
                let kind = number(input, false, text, rules);
                Ok(Expression::new(kind, input.span_since(&before)))
            }
            Some(Token::Minus) if negative_number_follows(input, text) => {
                input.skip();
                let kind = number(input, true, text, rules);
                Ok(Expression::new(kind, input.span_since(&before)))
            }
            Some(token) => {
                let value = match token {
                    Token::True => Value::Boolean(true),
                    Token::False => Value::Boolean(false),
                    Token::Undefined => Value::Undefined,
                    Token::Error => Value::Error(crate::ad::ErrorCause::default()),
                    _ => return Err(expected_error(input, &["an expression"])),
                };
                input.skip();
                Ok(Expression::new(ExpressionKind::Literal(value), input.span_since(&before)))
            }
            None => Err(expected_error(input, &["an expression"])),
        }
    })
}

/// Parses a string literal.  Adjacent strings are joined, as in HTCondor, except in the long form.
fn strings<'t>(
    input: &mut InputRef<'t, '_, TokenInput<'t>, ChumskyExtra<'t>>,
    text: &[u8],
    rules: ParseOptions,
) -> ExpressionKind {
    let mut value = Vec::new();
    while input.peek() == Some(Token::String) {
        let start = input.cursor();
        input.skip();
        let span = input.span_since(&start);
        match literal::string(between_quotes(text, span), rules.strings, rules.dialect, span) {
            Ok(part) => value.extend(part),
            Err(error) => input.emit(Rich::custom(error.span, error)),
        }
        if rules.strings == StringSyntax::Long {
            break;
        }
    }
    ExpressionKind::Literal(Value::String(value.into()))
}

/// Returns a call, or a literal if the call writes one: `absTime("...")`, `relTime("...")`, `real("INF")`.
fn call(name: Name, arguments: Vec<Expression>, rules: ParseOptions) -> Result<ExpressionKind, SyntaxError> {
    if let [argument] = arguments.as_slice()
        && let ExpressionKind::Literal(Value::String(text)) = argument.kind()
        && let Some(value) = literal::literal_of_call(name.as_str(), text, rules.dialect, argument.span())?
    {
        return Ok(ExpressionKind::Literal(value));
    }
    Ok(ExpressionKind::Call(name, arguments.into()))
}

/// Returns the result of `read`, or records its error and returns `undefined`, so that parsing continues.
fn or_emit_error<'t>(
    input: &mut InputRef<'t, '_, TokenInput<'t>, ChumskyExtra<'t>>,
    read: Result<ExpressionKind, SyntaxError>,
) -> ExpressionKind {
    read.unwrap_or_else(|error| {
        input.emit(Rich::custom(error.span, error));
        ExpressionKind::Literal(Value::Undefined)
    })
}

/// Parses a number token as a literal; `negative` puts a minus before the number.
fn number<'t>(
    input: &mut InputRef<'t, '_, TokenInput<'t>, ChumskyExtra<'t>>,
    negative: bool,
    text: &[u8],
    rules: ParseOptions,
) -> ExpressionKind {
    let before = input.cursor();
    input.skip();
    let span = input.span_since(&before);
    let value = literal::number(&token_text(text, span), negative, rules.dialect, span);
    or_emit_error(input, value.map(ExpressionKind::Literal))
}

#[cfg(test)]
mod tests {
    use super::{ParseOptions, parse_ad, parse_expression, parse_prefix};
    use crate::ad::Dialect;
    use crate::syntax::{Style, print};

    fn round(text: &str) -> String {
        round_in(text, Dialect::Classad)
    }

    fn round_in(text: &str, dialect: Dialect) -> String {
        let rules = ParseOptions::new(dialect);
        match parse_expression(text.as_bytes(), rules) {
            Ok(tree) => {
                let printed = print(&tree, Style::New);
                let again = parse_expression(&printed, rules).expect("what is printed reads back");
                assert!(tree == again, "{text} prints as {}", String::from_utf8_lossy(&printed));
                String::from_utf8_lossy(&printed).into_owned()
            }
            Err(error) => format!("{}..{}: {error}", error.span.start, error.span.end),
        }
    }

    #[test]
    fn what_is_printed_reads_back() {
        for text in [
            "1 + 2 * 3",
            "(1 + 2) * 3",
            "a ? b : c ? d : e",
            "a ?: b ?: c",
            "-5",
            "- 5",
            "--5",
            "!-x",
            "a.b[0].c",
            ".a",
            "f(a, b)",
            "{ 1, 2 }",
            "{ }",
            "[ a = 1; b = a ]",
            "[ ]",
            "'a b' + 1",
            "a.'true'",
            "\"q\\\"\\n\\001é\\377\"",
            "1.5",
            "1e100",
            "real(\"INF\")",
            "1 .b",
            "-5 .b",
            "relTime(\"0+00:15:00\")",
            "absTime(\"1999-01-11T10:53:31-06:00\")",
            "'\\0618:00'",
            "a is undefined",
            "x << 1 >>> 2",
            "-9223372036854775808",
            "undefined ?: -2",
        ] {
            assert_eq!(round(text), text);
        }
        assert_eq!(round("'18:21'"), "relTime(\"0+18:21:00\")");
        assert_eq!(round("a =?= 2K"), "a is 2048.0");
        assert_eq!(round("0xff + 0600"), "255 + 384");
        assert_eq!(round("a?b:c"), "a ? b : c");
        assert_eq!(round("\"a\" \"b\" // c"), "\"ab\"");
        assert_eq!(round("a ? : b"), "a ?: b");
    }

    #[test]
    fn errors_say_where_and_what() {
        for (text, error) in [
            ("", "0..0: expected an expression, found the end"),
            ("1 +", "3..3: expected an expression, found the end"),
            ("(1", "2..2: expected `)`, found the end"),
            ("a = 1", "2..3: expected the end, found `=`"),
            ("a ? b", "5..5: expected `:` or an operator, found the end"),
            ("{1,}", "3..4: expected an expression, found `}`"),
            ("\"abc", "0..1: this string has no closing quote"),
            ("1 /* x", "2..4: this comment has no closing `*/`"),
            ("4GB", "0..3: `4GB` is no number"),
            ("9223372036854775808", "0..19: `9223372036854775808` does not fit into 64 bits"),
            ("08", "0..2: `08` is no octal number"),
            ("a $ b", "2..3: `$` begins nothing in this language"),
            ("relTime(\"x\")", "8..11: \"x\" is no relative time"),
            ("a b", "2..3: expected the end, found a name `b`"),
        ] {
            assert_eq!(round(text), error, "{text}");
        }
        assert!(round_in("010", Dialect::Condor).contains("no octal"));
        assert!(round_in("undefined ?: -a", Dialect::Condor).contains("expected an expression"));
    }

    #[test]
    fn no_depth_harms() {
        let rules = ParseOptions::default();
        let sum = "1+".repeat(1_000_000) + "1";
        assert_eq!(print(&parse_expression(sum.as_bytes(), rules).unwrap(), Style::New).len(), 4_000_001);
        for (open, close) in
            [("(", ")"), ("{", "}"), ("[a=", "]"), ("-", ""), ("a?:", ""), ("a?b:", ""), ("a[", "]"), ("f(", ")")]
        {
            let text = open.repeat(100_000) + "1" + &close.repeat(100_000);
            let tree = parse_expression(text.as_bytes(), rules).unwrap();
            let printed = print(&tree, Style::New);
            assert!(parse_expression(&printed, rules).unwrap() == tree, "{open}");
            assert!(parse_expression(open.repeat(100_000).as_bytes(), rules).is_err());
        }
        assert!(parse_expression("(".repeat(300_000).as_bytes(), rules).is_err());
    }

    #[test]
    fn ads_and_lines() {
        let ad = parse_ad(b"[;; A = 1; b = A + 1; a = 2;;]", ParseOptions::default()).unwrap();
        assert_eq!((ad.len(), ad.iter().next().unwrap().name.as_str()), (2, "A"));
        assert!(parse_ad(b"[ parent = 1 ]", ParseOptions::default()).is_err());
        assert!(parse_ad(b"[ parent = 1 ]", ParseOptions::new(Dialect::Condor)).is_ok());
        let (tree, rest) = parse_prefix(b"1 2 # x", ParseOptions::long(Dialect::Condor)).unwrap();
        assert_eq!((print(&tree, Style::Long), rest.map(|r| r.start)), (b"1".to_vec(), Some(2)));
        let (_, rest) = parse_prefix(b"f(1;2) ", ParseOptions::long(Dialect::Condor)).unwrap();
        assert_eq!(rest, None);
    }
}
