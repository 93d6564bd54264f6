//! The grammar: parses tokens to trees (thesis 2.4, with HTCondor's extensions).
//!
//! Brackets, lists, ads, calls and subscripts are chumsky combinators.  Operators are parsed by a loop with an
//! explicit stack (`precedence`), so that a chain of a million operators cannot overflow the call stack, and
//! chumsky's rich errors stay cheap.

use chumsky::error::Rich;
use chumsky::prelude::*;

use crate::ad::{Ad, Dialect, ErrorCause, Expression, ExpressionKind, Name, Span, Value};

use super::chumsky_types::{TokenInputRef, TokenParser, expected_error, skip_token, token_text};
use super::dialect_tokens::tokens_of;
use super::error_messages::to_syntax_error;
use super::literal;
use super::number_tokens::divide_scaled_numbers;
use super::precedence::{negative_number_follows, operators};
use super::token::{LexicalError, SpannedToken, StringSyntax, Token, to_offset};
use super::{ParseOptions, SyntaxError};

/// Parses a text that is one expression.
///
/// # Errors
///
/// The first syntax error, if the text is not an expression, is longer than 4 GiB or nested too deeply.
pub fn parse_expression(text: &[u8], rules: ParseOptions) -> Result<Expression, SyntaxError> {
    let grammar = Grammar { text, rules };
    let tokens = tokens_of(text, rules)?;
    grammar.whole_expression(&tokens).map_err(|error| grammar.kept_for_open_comment(error, &tokens))
}

/// Parses the longest expression at the start of a text, as HTCondor reads the value of a line in the long form.
/// Returns the expression with the span of the unparsed rest of the text; `None` if there is no rest.
///
/// # Errors
///
/// The first syntax error, if the text begins with no expression, is longer than 4 GiB or nested too deeply.
pub fn parse_prefix(text: &[u8], rules: ParseOptions) -> Result<(Expression, Option<Span>), SyntaxError> {
    let grammar = Grammar { text, rules };
    let tokens = tokens_of(text, rules)?;
    let read = grammar.prefix(&tokens);
    let has_suffix = || tokens.iter().any(|(token, _)| *token == Token::Scaled);
    if read.is_err() && rules.strings == StringSyntax::Long && has_suffix() {
        // HTCondor knows no scale suffixes: it ignores the text from the suffix on.
        let divided = divide_scaled_numbers(text, &tokens);
        if let Ok(read) = grammar.prefix(&divided) {
            return Ok(read);
        }
    }
    read.map_err(|error| grammar.kept_for_open_comment(error, &tokens))
}

/// Parses a text that is one bracketed ad.
///
/// # Errors
///
/// The first syntax error, if the text is not an ad, is longer than 4 GiB or nested too deeply.
pub fn parse_ad(text: &[u8], rules: ParseOptions) -> Result<Ad, SyntaxError> {
    let grammar = Grammar { text, rules };
    let tokens = tokens_of(text, rules)?;
    let ad = grammar.bracketed_ad(grammar.expression());
    grammar.run(ad.then_ignore(end()), &tokens).map(Ad::from_iter)
}

type GrammarAttribute = (Name, Expression);

/// A text and the options for parsing it.  The methods return the parsers of the parts of the grammar.
#[derive(Clone, Copy)]
pub(super) struct Grammar<'t> {
    pub text: &'t [u8],
    pub rules: ParseOptions,
}

impl<'t> Grammar<'t> {
    /// Parses tokens that are one expression.
    fn whole_expression(self, tokens: &'t [SpannedToken]) -> Result<Expression, SyntaxError> {
        self.run(self.expression().then_ignore(end()), tokens)
    }

    /// Parses the longest expression at the start of `tokens`, as [`parse_prefix`] does.
    fn prefix(self, tokens: &'t [SpannedToken]) -> Result<(Expression, Option<Span>), SyntaxError> {
        let rest = any().repeated().to_slice().map(<[_]>::len);
        let (expression, rest) = self.run(self.expression().then(rest), tokens)?;
        let first = tokens.get(tokens.len() - rest);
        Ok((expression, first.map(|(_, span)| Span::new(span.start, to_offset(self.text.len())))))
    }

    /// Marks `error` as one for which an ad is kept, if HTCondor reads an expression nevertheless: it takes a comment
    /// without its end for the closing bracket before it once more, as in `((1) /* x`.
    fn kept_for_open_comment(self, error: SyntaxError, tokens: &[SpannedToken]) -> SyntaxError {
        let is_open_comment = |(token, _): &SpannedToken| *token == Token::Flawed(LexicalError::UnterminatedComment);
        let comment = tokens.iter().position(is_open_comment).filter(|_| self.rules.dialect.is_condor());
        let Some(comment) = comment else { return error };
        let mut repeated = tokens[..=comment].to_vec();
        match comment.checked_sub(1).map(|before| repeated[before].0) {
            Some(bracket) if bracket.is_closing() => repeated[comment].0 = bracket,
            _ => return error,
        }
        let grammar = Grammar { text: self.text, rules: self.rules };
        if grammar.whole_expression(&repeated).is_ok() { error.keeping_ad() } else { error }
    }

    /// Returns the empty span at the end of the text.
    pub fn end(self) -> Span {
        Span::new(to_offset(self.text.len()), to_offset(self.text.len()))
    }

    /// Runs a parser over all tokens of the text and converts chumsky's first error to a [`SyntaxError`].
    fn run<T>(self, parser: impl TokenParser<'t, T>, tokens: &'t [SpannedToken]) -> Result<T, SyntaxError> {
        self.run_within(parser, tokens, self.end(), tokens)
    }

    /// Runs a parser over `tokens`, which may be a part of the text's tokens, and converts chumsky's first error to a
    /// [`SyntaxError`].  The error has the span `end` if `tokens` end too early.  `around` holds the tokens in which
    /// the hint for the error is found: `tokens`, and perhaps the tokens after them.
    pub fn run_within<T>(
        self,
        parser: impl TokenParser<'t, T>,
        tokens: &'t [SpannedToken],
        end: Span,
        around: &[SpannedToken],
    ) -> Result<T, SyntaxError> {
        let input = tokens.map(end, (|(token, span)| (token, span)) as fn(&SpannedToken) -> (&Token, &Span));
        parser.parse(input).into_result().map_err(|errors| {
            // An error that keeps its ad counts only if there is no other.
            let errors =
                errors.into_iter().map(|error| (error.span().start, to_syntax_error(error, around, self.text)));
            let first = errors.min_by_key(|(start, error)| (error.keeps_ad, *start));
            first.map_or_else(|| SyntaxError::new(end, "this is not an expression"), |(_, error)| error)
        })
    }

    /// Returns the parser of `name = expression`.
    pub fn attribute(self, expression: impl TokenParser<'t, Expression>) -> impl TokenParser<'t, GrammarAttribute> {
        self.attribute_name().then_ignore(just(Token::Assign)).then(expression)
    }

    /// Returns the parser of `[ name = expression; ... ]`, with any number of semicolons between, before and after the
    /// attributes.
    fn bracketed_ad(self, expression: impl TokenParser<'t, Expression>) -> impl TokenParser<'t, Vec<GrammarAttribute>> {
        let semicolons = just(Token::Semicolon).repeated();
        self.attribute(expression)
            .separated_by(just(Token::Semicolon).then(semicolons))
            .allow_trailing()
            .collect()
            .delimited_by(just(Token::BracketOpen).then(semicolons), just(Token::BracketClose))
    }

    /// Returns the parser of the name before a `=`.  The parser refuses an empty name and, in the papers' dialect, a
    /// reserved name.
    fn attribute_name(self) -> impl TokenParser<'t, Name> {
        self.name().try_map(move |name, span| {
            let error = if self.rules.dialect == Dialect::Classad && name.is_reserved() {
                SyntaxError::new(span, format!("`{name}` is a reserved word, not an attribute name"))
                    .with_help("HTCondor allows it: --dialect condor")
            } else if name.as_str().is_empty() {
                SyntaxError::new(span, "a name cannot be empty")
            } else {
                return Ok(name);
            };
            Err(Rich::custom(span, error))
        })
    }

    /// Returns the parser of a name, quoted or not.
    fn name(self) -> impl TokenParser<'t, Name> {
        let most_joined = if self.joins_quoted() { usize::MAX } else { 0 };
        let joined = select! { Token::Quoted = e => e.span() }.repeated().at_most(most_joined).collect::<Vec<Span>>();
        let plain = select! { Token::Name = e => Name::new(&token_text(self.text, e.span())) };
        let quoted = select! { Token::Quoted = e => e.span() }.then(joined).try_map(move |(first, joined), _| {
            self.quoted_name(first, &joined).map_err(|error| Rich::custom(error.span, error))
        });
        plain.or(quoted).labelled("a name")
    }

    /// Whether quoted names that follow one another are one name, as HTCondor reads them.
    fn joins_quoted(self) -> bool {
        self.rules.dialect.is_condor() && self.rules.strings == StringSyntax::Escaped
    }

    /// Returns the name in the quotes at `first`, joined with those in the quotes at `others`. In the long form an
    /// escape that means no byte stands for itself.
    fn quoted_name(self, first: Span, others: &[Span]) -> Result<Name, SyntaxError> {
        let mut whole = String::new();
        for span in [first].iter().chain(others) {
            let inside = self.between_quotes(*span);
            match literal::name(inside, self.rules.dialect, *span) {
                Err(_) if self.rules.strings == StringSyntax::Long => whole += &String::from_utf8_lossy(inside),
                name => whole += &name?,
            }
        }
        Ok(Name::new(&whole))
    }

    /// Returns the text between the quotes of the token at `span`.
    fn between_quotes(self, span: Span) -> &'t [u8] {
        &self.text[span.start as usize + 1..span.end as usize - 1]
    }

    /// Returns the parser of an expression: operands with operators between them.
    pub fn expression(self) -> impl TokenParser<'t, Expression> {
        recursive(move |expression| operators(self.operand(expression), self.text))
    }

    /// Returns the parser of a primary expression, followed by any number of subscripts and selections.
    fn operand(self, expression: impl TokenParser<'t, Expression> + 't) -> impl TokenParser<'t, Expression> {
        let index = expression.clone().delimited_by(just(Token::BracketOpen), just(Token::BracketClose));
        let select = just(Token::Dot).ignore_then(self.name());
        let primary = self.primary(expression);
        custom(move |input: &mut TokenInputRef<'t, '_>| {
            let before = input.cursor();
            let mut expression = input.parse(&primary)?;
            loop {
                let kind = match input.peek() {
                    Some(Token::BracketOpen) => ExpressionKind::Subscript(expression, input.parse(&index)?),
                    Some(Token::Dot) => ExpressionKind::Select(expression, input.parse(&select)?),
                    _ => return Ok(expression),
                };
                expression = Expression::new(kind, input.span_since(&before));
            }
        })
    }

    /// Returns the parser of literals, names, calls and bracketed expressions.  The next token decides which of them is
    /// parsed, without backtracking.
    fn primary(self, expression: impl TokenParser<'t, Expression> + 't) -> impl TokenParser<'t, Expression> {
        let parentheses = expression.clone().delimited_by(just(Token::ParenthesisOpen), just(Token::ParenthesisClose));
        let list = expression
            .clone()
            .separated_by(just(Token::Comma))
            .collect::<Vec<_>>()
            .delimited_by(just(Token::BraceOpen), just(Token::BraceClose));
        let separators =
            if self.rules.dialect.is_condor() { &[Token::Comma, Token::Semicolon][..] } else { &[Token::Comma] };
        let arguments = expression
            .clone()
            .separated_by(one_of(separators))
            .collect::<Vec<_>>()
            .delimited_by(just(Token::ParenthesisOpen), just(Token::ParenthesisClose));
        let root = just(Token::Dot).ignore_then(self.name());
        let nested = self.bracketed_ad(expression);
        custom(move |input: &mut TokenInputRef<'t, '_>| {
            let before = input.cursor();
            let kind = match input.peek() {
                Some(Token::ParenthesisOpen) => ExpressionKind::Parentheses(input.parse(&parentheses)?),
                Some(Token::BraceOpen) => ExpressionKind::List(input.parse(&list)?.into()),
                Some(Token::BracketOpen) => ExpressionKind::Ad(Ad::from_iter(input.parse(&nested)?)),
                Some(Token::Dot) => ExpressionKind::RootAttribute(input.parse(&root)?),
                Some(token @ (Token::Name | Token::Quoted)) => match self.name_or_time(input, token) {
                    ExpressionKind::Attribute(name) if input.peek() == Some(Token::ParenthesisOpen) => {
                        let arguments = input.parse(&arguments)?;
                        or_emit_error(input, call(name, arguments, self.rules))
                    }
                    kind => kind,
                },
                Some(Token::String) => self.strings(input),
                Some(token) if token.is_number() => self.number(input, false),
                Some(Token::Minus) if negative_number_follows(input, self.text) => {
                    input.skip();
                    self.number(input, true)
                }
                token => {
                    let value = match token {
                        Some(Token::True) => Value::Boolean(true),
                        Some(Token::False) => Value::Boolean(false),
                        Some(Token::Undefined) => Value::Undefined,
                        Some(Token::Error) => Value::Error(ErrorCause::default()),
                        _ => return Err(expected_error(input, &["an expression"])),
                    };
                    input.skip();
                    // JClassAd prints `UNDEFINED()` and `ERROR()`.
                    let is_call = matches!(token, Some(Token::Undefined | Token::Error));
                    if is_call && !self.rules.dialect.is_condor() && input.peek() == Some(Token::ParenthesisOpen) {
                        input.skip();
                        let _: Token = input.parse(just(Token::ParenthesisClose))?;
                    }
                    ExpressionKind::Literal(value)
                }
            };
            Ok(Expression::new(kind, input.span_since(&before)))
        })
    }

    /// Parses a token that is a name, quoted or not, or a quoted time.
    fn name_or_time(self, input: &mut TokenInputRef<'t, '_>, token: Token) -> ExpressionKind {
        let span = skip_token(input);
        if token == Token::Name {
            return ExpressionKind::Attribute(Name::new(&token_text(self.text, span)));
        }
        if let Some(time) = literal::quoted_time(self.between_quotes(span)) {
            return ExpressionKind::Literal(time);
        }
        let mut others = Vec::new();
        while self.joins_quoted() && input.peek() == Some(Token::Quoted) {
            others.push(skip_token(input));
        }
        or_emit_error(input, self.quoted_name(span, &others).map(ExpressionKind::Attribute))
    }

    /// Parses a string literal.  Adjacent strings are joined, as in HTCondor, except in the long form.
    fn strings(self, input: &mut TokenInputRef<'t, '_>) -> ExpressionKind {
        let ParseOptions { dialect, strings } = self.rules;
        let mut value = Vec::new();
        while input.peek() == Some(Token::String) {
            let span = skip_token(input);
            match literal::string(self.between_quotes(span), strings, dialect, span) {
                Ok(part) => value.extend(part),
                Err(error) => input.emit(Rich::custom(error.span, error)),
            }
            if strings == StringSyntax::Long {
                break;
            }
        }
        ExpressionKind::Literal(Value::String(value.into()))
    }

    /// Parses a number token as a literal; `negative` puts a minus before the number.
    fn number(self, input: &mut TokenInputRef<'t, '_>, negative: bool) -> ExpressionKind {
        let span = skip_token(input);
        let value = literal::number(&token_text(self.text, span), negative, self.rules.dialect, span);
        or_emit_error(input, value.map(ExpressionKind::Literal))
    }
}

/// Returns a call, or a literal if the call denotes one: `absTime("...")`, `relTime("...")`, `real("INF")`.
fn call(name: Name, arguments: Vec<Expression>, rules: ParseOptions) -> Result<ExpressionKind, SyntaxError> {
    if let [argument] = arguments.as_slice()
        && let ExpressionKind::Literal(Value::String(text)) = argument.kind()
        && let Some(value) = literal::literal_of_call(name.as_str(), text, rules.dialect, argument.span())?
    {
        return Ok(ExpressionKind::Literal(value));
    }
    Ok(ExpressionKind::Call(name, arguments.into()))
}

/// Returns the expression in `read`.  If `read` is an error, records the error in `input` and returns `undefined`, so
/// that parsing continues.
fn or_emit_error(input: &mut TokenInputRef<'_, '_>, read: Result<ExpressionKind, SyntaxError>) -> ExpressionKind {
    read.unwrap_or_else(|error| {
        input.emit(Rich::custom(error.span, error));
        ExpressionKind::Literal(Value::Undefined)
    })
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
            ("4GB", "0..3: `4GB` is not a number"),
            ("9223372036854775808", "0..19: `9223372036854775808` does not fit into a signed 64-bit integer"),
            ("08", "0..2: `08` is not an octal number"),
            ("a $ b", "2..3: `$` is not part of the language"),
            ("relTime(\"x\")", "8..11: \"x\" is not a relative time"),
            ("a b", "2..3: expected the end, found a name `b`"),
        ] {
            assert_eq!(round(text), error, "{text}");
        }
        assert!(round_in("010", Dialect::Condor).contains("octal"));
        assert!(round_in("undefined ?: -a", Dialect::Condor).contains("expected an expression"));
    }

    #[test]
    fn what_htcondor_reads_is_read() {
        for (text, printed) in [
            ("-017", "-17"),
            ("3 * -00", "3 * 0"),
            ("\"\\700\\4001\"", "\"80 01\""),
            ("'\\700'", "'80'"),
            ("a..b + ..c", "a.b + .c"),
            ("'a' 'b c'.'d''e'", "'ab c'.de"),
            ("absTime(\"99-01-01T00:00:00Z\")", "absTime(\"0099-01-01T00:00:00-00:00\")"),
            ("absTime(\"12abc Z\")", "absTime(\"0012-01-01T00:00:00-00:00\")"),
            // These are still errors.
            ("-08", "1..3: HTCondor does not accept octal or hexadecimal integers: `08`"),
            ("- 017", "2..5: HTCondor does not accept octal or hexadecimal integers: `017`"),
            ("a...b", "3..4: expected a name, found `.`"),
            ("-0x1f", "1..5: HTCondor reads `-0x1f` as 0"),
            ("1 + ..5", "4..7: HTCondor reads `..5` as 0"),
            ("--..5b", "2..6: HTCondor reads `..5b` as 0"),
            // The error for which an ad is kept hides no other.
            ("99999999999999999999 + (", "24..24: expected an expression, found the end"),
        ] {
            assert_eq!(round_in(text, Dialect::Condor), printed, "{text}");
        }
        assert_eq!(round("\"\\700\""), "1..5: an escape must be a byte from 1 to 255");
        for text in ["((1) /* x", "f(f(1) /*/", "{1, {2}/*", "a[a[1] /* x", "1 + ((a) /* \"x"] {
            for rules in [ParseOptions::new(Dialect::Condor), ParseOptions::long(Dialect::Condor)] {
                let error = parse_prefix(text.as_bytes(), rules).unwrap_err();
                assert_eq!((error.keeps_ad, &*error.message), (true, "this comment has no closing `*/`"), "{text}");
                assert!(parse_expression(text.as_bytes(), rules).unwrap_err().keeps_ad, "{text}");
            }
            assert!(!parse_expression(text.as_bytes(), ParseOptions::default()).unwrap_err().keeps_ad, "{text}");
        }
        for text in ["(1 /*/", "((({1}) /*/", "{(1) /*/", "(1 ? (2) /*/", "f( /*/", "1 + /*/", "((1) /*/ */"] {
            let error = parse_prefix(text.as_bytes(), ParseOptions::long(Dialect::Condor)).unwrap_err();
            assert!(!error.keeps_ad, "{text}");
        }
    }

    #[test]
    fn no_depth_harms() {
        let rules = ParseOptions::default();
        let sum = "1+".repeat(300_000) + "1";
        assert_eq!(print(&parse_expression(sum.as_bytes(), rules).unwrap(), Style::New).len(), 1_200_001);
        for (open, close) in
            [("(", ")"), ("{", "}"), ("[a=", "]"), ("-", ""), ("a?:", ""), ("a?b:", ""), ("a[", "]"), ("f(", ")")]
        {
            let text = open.repeat(30_000) + "1" + &close.repeat(30_000);
            let tree = parse_expression(text.as_bytes(), rules).unwrap();
            let printed = print(&tree, Style::New);
            assert!(parse_expression(&printed, rules).unwrap() == tree, "{open}");
            assert!(parse_expression(open.repeat(30_000).as_bytes(), rules).is_err());
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
