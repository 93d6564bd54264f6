//! Reader of ads in JSON.

use std::collections::VecDeque;
use std::ops::Range;

use crate::ad::{Ad, ByteString, Dialect, Expression, ExpressionKind, Name, Span, Value};
use crate::syntax::{ParseOptions, parse_expression, read_number};

use super::super::attribute_name::attribute_name;
use super::super::{AdEntry, Problem, ReadResult};
use super::nesting::{JsonNesting, JsonStep, OpenBracket};
use super::string::decode_string;
use super::token::{JsonLexeme, JsonToken, JsonTokenError, JsonTokens};
use super::{OPEN, expression_inside};

/// Iterator over the ads of a text: objects back to back, one per line, or in arrays. Every bad value is reported; its
/// ad is left out.
pub struct JsonReader<'t> {
    tokens: JsonTokens<'t>,
    dialect: Dialect,
    /// Number of ads begun so far.
    number: usize,
    /// The last token outside all ads.
    previous_outer_token: Option<JsonToken>,
    /// Items to be yielded next: the problems of an ad, then the ad.
    pending: VecDeque<ReadResult>,
}

/// An ad or a list under construction. An ad has its attributes so far, and the name of the next one.
enum JsonFrame {
    Ad(Vec<(Name, Expression)>, Name),
    List(Vec<Expression>),
}

impl<'t> JsonReader<'t> {
    /// Creates a reader at the beginning of a text.
    pub fn new(text: &'t [u8], dialect: Dialect) -> Self {
        JsonReader {
            tokens: JsonTokens::new(text),
            dialect,
            number: 0,
            previous_outer_token: None,
            pending: VecDeque::new(),
        }
    }

    fn text(&self) -> &'t [u8] {
        self.tokens.text
    }

    fn problem_at(&self, range: Range<usize>, message: impl Into<String>) -> Problem {
        Problem::error_at(range, self.number, message)
    }

    /// Reads the ad whose `{` at `start` has been read, and queues its items.
    fn read_ad(&mut self, start: usize) {
        self.number += 1;
        let mut shape = JsonNesting::at_ad_start(self.text(), start);
        let mut partials = vec![JsonFrame::Ad(Vec::new(), Name::new(""))];
        let problems = self.pending.len();
        while let Some(lexeme) = self.tokens.next() {
            let (token, range) = lexeme.clone();
            let step = token.ok().and_then(|token| shape.advance(token, range.start));
            let Some(step) = step else {
                let problem = match token {
                    Ok(JsonToken::BraceOpen) if shape.next_ad_begins_at(self.text(), range.start) => {
                        self.premature_end(&shape, range.start)
                    }
                    _ => self.unexpected_token(&shape, &lexeme),
                };
                self.pending.push_back(Err(problem));
                shape.recover(&mut self.tokens, lexeme);
                return;
            };
            if let Some(ad) = self.apply_token(step, token, range, &mut partials) {
                if self.pending.len() == problems {
                    self.pending.push_back(Ok(AdEntry { ad, number: self.number, offset: start, is_whole: true }));
                }
                return;
            }
        }
        let problem = self.premature_end(&shape, self.text().len());
        self.pending.push_back(Err(problem));
    }

    /// Returns the problem of an ad that ends too early: at the end of the text, or where the next ad begins.
    fn premature_end(&self, shape: &JsonNesting, before: usize) -> Problem {
        let end = self.text()[..before].trim_ascii_end().len();
        with_open_bracket(self.problem_at(end..end, format!("expected {}, found the end", shape.expected())), shape)
    }

    /// Adds the value of a token to the innermost ad or list. Returns the ad if it ends with this token.
    fn apply_token(
        &mut self,
        step: JsonStep,
        token: Result<JsonToken, JsonTokenError>,
        range: Range<usize>,
        partials: &mut Vec<JsonFrame>,
    ) -> Option<Ad> {
        let expression = match step {
            JsonStep::Separator => return None,
            JsonStep::OpenAd => {
                partials.push(JsonFrame::Ad(Vec::new(), Name::new("")));
                return None;
            }
            JsonStep::OpenList => {
                partials.push(JsonFrame::List(Vec::new()));
                return None;
            }
            JsonStep::Name => {
                let read = self.parse_name(range);
                if let Some(JsonFrame::Ad(_, name)) = partials.last_mut() {
                    *name = self.value_or_report(read, Name::new(""));
                }
                return None;
            }
            JsonStep::Scalar => {
                let value =
                    if token == Ok(JsonToken::String) { self.parse_string(range) } else { self.parse_word(range) };
                self.value_or_report(value, Expression::literal(Value::Undefined))
            }
            JsonStep::Close => match partials.pop()? {
                JsonFrame::Ad(attributes, _) if partials.is_empty() => return Some(attributes.into_iter().collect()),
                JsonFrame::Ad(attributes, _) => node(ExpressionKind::Ad(attributes.into_iter().collect())),
                JsonFrame::List(elements) => node(ExpressionKind::List(elements.into())),
            },
        };
        match partials.last_mut()? {
            JsonFrame::Ad(attributes, name) => attributes.push((name.clone(), expression)),
            JsonFrame::List(elements) => elements.push(expression),
        }
        None
    }

    /// Returns the value; if there is a problem instead, queues the problem and returns `otherwise`, so that reading
    /// continues.
    fn value_or_report<T>(&mut self, read: Result<T, Problem>, otherwise: T) -> T {
        read.unwrap_or_else(|problem| {
            self.pending.push_back(Err(problem));
            otherwise
        })
    }

    /// Returns the problem of a token that cannot stand here.
    fn unexpected_token(&self, shape: &JsonNesting, (token, range): &JsonLexeme) -> Problem {
        let text = &self.text()[range.clone()];
        let token = match token {
            Ok(token) => token,
            Err(flaw) => return self.lexical_error(*flaw, range),
        };
        let found = token.describe(text);
        let problem = self.problem_at(range.clone(), format!("expected {}, found {found}", shape.expected()));
        match token {
            JsonToken::String if shape.expected().contains("`,`") => problem.with_help("is a `,` missing before this?"),
            JsonToken::Colon if shape.expected().contains("`]`") => {
                problem.with_help("is a `]` missing before this name?")
            }
            JsonToken::Word => problem.with_help("in JSON names and strings stand in double quotes"),
            _ => problem,
        }
    }

    fn lexical_error(&self, flaw: JsonTokenError, range: &Range<usize>) -> Problem {
        match flaw {
            JsonTokenError::UnclosedString => self
                .problem_at(range.start..range.start + 1, "this string has no closing quote")
                .with_help("a quote in a string is written \\\", a line break \\n"),
            JsonTokenError::UnclosedComment => self.problem_at(range.clone(), "this comment has no closing `*/`"),
        }
    }

    fn parse_name(&self, range: Range<usize>) -> Result<Name, Problem> {
        let decoded = decode_string(&self.text()[inside(&range)], range.start + 1, self.number)?;
        attribute_name(&decoded.bytes, self.dialect, range, self.number)
    }

    /// Reads a string, or the expression that it stands for.
    fn parse_string(&self, range: Range<usize>) -> Result<Expression, Problem> {
        let text = &self.text()[inside(&range)];
        if memchr::memchr2(b'\\', 0, text).is_none() && !text.starts_with(&OPEN[..1]) {
            return Ok(Expression::literal(Value::String(ByteString::from(text))));
        }
        let decoded = decode_string(text, range.start + 1, self.number)?;
        match expression_inside(&decoded.bytes) {
            Some(inside) => parse_expression(inside, ParseOptions::new(self.dialect))
                .map_err(|error| decoded.problem(error, OPEN.len(), self.number)),
            None => Ok(Expression::literal(Value::string(decoded.bytes))),
        }
    }

    /// Reads a number, `true`, `false` or `null`.
    fn parse_word(&self, range: Range<usize>) -> Result<Expression, Problem> {
        let text = String::from_utf8_lossy(&self.text()[range.clone()]);
        let value = match text.to_ascii_lowercase().as_str() {
            "null" => Value::Undefined,
            "true" => Value::Boolean(true),
            "false" => Value::Boolean(false),
            // Python writes these.
            "nan" => Value::Real(f64::NAN),
            "infinity" => Value::Real(f64::INFINITY),
            "-infinity" => Value::Real(f64::NEG_INFINITY),
            _ => return self.parse_number(&text, range),
        };
        Ok(Expression::literal(value))
    }

    fn parse_number(&self, text: &str, range: Range<usize>) -> Result<Expression, Problem> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let Some(is_whole) = classify_number(digits) else {
            let what = if digits.starts_with(|c: char| c.is_ascii_digit() || c == '+') { "number" } else { "value" };
            return Err(self
                .problem_at(range, format!("`{text}` is no JSON {what}"))
                .with_help("undefined is written null, any other expression \"\\/Expr(...)\\/\""));
        };
        if is_whole {
            return read_number(digits, text.len() > digits.len(), self.dialect, Span::default())
                .map(Expression::literal)
                .map_err(|error| Problem { help: error.help, ..self.problem_at(range, error.message) });
        }
        Ok(Expression::literal(Value::Real(text.parse().unwrap_or(f64::NAN))))
    }

    /// Reports text outside all ads, up to the next ad or the end of the line.
    fn report_stray(&mut self, (token, mut range): JsonLexeme) {
        let problem = match token {
            Err(flaw) => self.lexical_error(flaw, &range),
            Ok(JsonToken::BracketOpen) => self.problem_at(range, "an array of ads cannot hold another array"),
            Ok(_) => {
                while let Some((token, next)) = self.tokens.next() {
                    let same_line = memchr::memchr(b'\n', &self.text()[range.end..next.start]).is_none();
                    if !same_line || matches!(token, Ok(JsonToken::BraceOpen | JsonToken::BracketOpen) | Err(_)) {
                        self.tokens.put_back((token, next));
                        break;
                    }
                    range.end = next.end;
                }
                self.problem_at(range, "expected an ad, which begins with `{`")
            }
        };
        self.pending.push_back(Err(Problem { ad_number: self.number + 1, ..problem }));
    }
}

impl Iterator for JsonReader<'_> {
    type Item = ReadResult;

    fn next(&mut self) -> Option<ReadResult> {
        loop {
            if let Some(item) = self.pending.pop_front() {
                return Some(item);
            }
            let (token, range) = self.tokens.next()?;
            let before = std::mem::replace(&mut self.previous_outer_token, token.ok());
            match token {
                Ok(JsonToken::BraceOpen) => self.read_ad(range.start),
                Ok(JsonToken::BracketOpen) if matches!(before, Some(JsonToken::BracketOpen | JsonToken::Comma)) => {
                    self.report_stray((token, range));
                }
                // Brackets and commas around ads. They need not balance, because a text may begin in the middle of an
                // array.
                Ok(JsonToken::BracketOpen | JsonToken::BracketClose | JsonToken::Comma) => {}
                _ => self.report_stray((token, range)),
            }
        }
    }
}

fn node(kind: ExpressionKind) -> Expression {
    Expression::new(kind, Span::default())
}

/// Returns the range between the quotes of a string.
fn inside(range: &Range<usize>) -> Range<usize> {
    range.start + 1..range.end - 1
}

/// Adds the place of the innermost open bracket to a problem.
fn with_open_bracket(mut problem: Problem, shape: &JsonNesting) -> Problem {
    problem.related = shape.innermost().map(|open| match open {
        OpenBracket::Brace(at) => (at..at + 1, "this `{` is not closed".to_owned()),
        OpenBracket::Bracket(at) => (at..at + 1, "this `[` is not closed".to_owned()),
    });
    problem
}

/// Whether an unsigned number is an integer; `None` if it is not a number in JSON. `.5` is accepted, as in HTCondor.
fn classify_number(text: &str) -> Option<bool> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, mut rest) = text.split_at(digits(text));
    if (whole.len() > 1 && whole.starts_with('0')) || (whole.is_empty() && !rest.starts_with('.')) {
        return None;
    }
    let is_whole = rest.is_empty();
    if let Some(fraction) = rest.strip_prefix('.') {
        let length = digits(fraction);
        rest = fraction.get(length..).filter(|_| length > 0)?;
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let length = digits(exponent);
        rest = exponent.get(length..).filter(|_| length > 0)?;
    }
    rest.is_empty().then_some(is_whole)
}

#[cfg(test)]
mod tests {
    use super::JsonReader;
    use crate::ad::Dialect;
    use crate::format::FileFormat;
    use crate::format::testing::printed_items;

    fn items_in(text: &[u8], dialect: Dialect) -> Vec<String> {
        printed_items(text, FileFormat::Json, dialect)
    }

    fn items(text: &str) -> Vec<String> {
        items_in(text.as_bytes(), Dialect::Condor)
    }

    #[test]
    fn as_htcondor_reads_it() {
        for (text, ad) in [
            (r#"{"a": null, "b": TRUE, "c": False}"#, "[ a = undefined; b = true; c = false ]"),
            (r#"{"a": 1, "b": -2.5, "c": 1e3, "d": .5, "e": -0, "f": -0.0}"#, {
                "[ a = 1; b = -2.5; c = 1000.0; d = 0.5; e = 0; f = -0.0 ]"
            }),
            (
                r#"{"a": 9223372036854775807, "b": -9223372036854775808}"#,
                "[ a = 9223372036854775807; b = -9223372036854775808 ]",
            ),
            (r#"{"a": 1e999, "b": -1e999, "c": NaN}"#, r#"[ a = real("INF"); b = real("-INF"); c = real("NaN") ]"#),
            (r#"{"a": "\/Expr(1 + 1)\/", "b": "/expr(x && \"y\")/"}"#, r#"[ a = 1 + 1; b = x && "y" ]"#),
            (r#"{"a": "\/Expr(\"\\377\\n\")\/"}"#, r#"[ a = "\377\n" ]"#),
            (r#"{"a": "/Expr", "b": "/usr/", "c": "/Expr(1)/ ", "d": "/Expr()"}"#, {
                r#"[ a = "/Expr"; b = "/usr/"; c = "/Expr(1)/ "; d = "/Expr()" ]"#
            }),
            (r#"{"a": [1, "x", null, {"b": [], "c": {}}]}"#, r#"[ a = { 1, "x", undefined, [ b = { }; c = [ ] ] } ]"#),
            (r#"{,"a": 1,,"b": 2,}"#, "[ a = 1; b = 2 ]"),
            ("{\"a\": 1 // c\n /* } */}", "[ a = 1 ]"),
            (r#"{"a": 1, "A": 2}"#, "[ a = 2 ]"),
            (r#"{"true": 1, "a b": "\u00e9\ud83d\ude00"}"#, "[ 'true' = 1; 'a b' = \"é😀\" ]"),
            ("{}", "[ ]"),
            ("\u{feff}{}", "[ ]"),
        ] {
            assert_eq!(items(text), [ad], "{text}");
        }
        // HTCondor's C++ tools write the bytes of strings as they are.
        assert_eq!(items_in(b"{\"a\": \"x\xff\"}", Dialect::Condor), [r#"[ a = "x\377" ]"#]);
    }

    #[test]
    fn ads_in_a_row() {
        for text in [
            r#"{"a": 1}{"b": 2}"#,
            "{\"a\": 1}\n{\"b\": 2}\n",
            r#"[{"a": 1}, {"b": 2}]"#,
            "[\n{\"a\": 1}\n]\n[\n{\"b\": 2}\n]",
            r#", {"a": 1}] [{"b": 2}"#,
            r#"[{"a": 1},] [{"b": 2},,]"#,
        ] {
            assert_eq!(items(text), ["[ a = 1 ]", "[ b = 2 ]"], "{text}");
        }
        assert!(items("[] // nothing").is_empty());
    }

    #[test]
    fn a_bad_ad_is_reported_and_the_rest_read() {
        for (text, problem) in [
            ("{\"a\": 1\n{\"b\": 2}", "!1:8: expected `,` or `}`, found the end"),
            ("{\"a\": \"x}\n{\"b\": 2}", "!1:7: this string has no closing quote"),
            ("{\"a\": \"x\\\n{\"b\": 2}", "!1:7: this string has no closing quote"),
            (r#"[{"a": [1, 2}, {"b": 2}]"#, "!1:13: expected `,` or `]`, found `}`"),
            (r#"[{"a": [1, 2, ]}, {"b": 2}]"#, "!1:15: expected a value, found `]`"),
            (r#"[{"a": 1], {"b": 2}"#, "!1:9: expected `,` or `}`, found `]`"),
            (r#"{a: 1} {"b": 2}"#, "!1:2: expected a name in double quotes or `}`, found `a`"),
            (r#"{"a" 1} {"b": 2}"#, "!1:6: expected `:`, found `1`"),
            (r#"{"a": "x" "y"} {"b": 2}"#, "!1:11: expected `,` or `}`, found a string"),
            (r#"{"a": undefined} {"b": 2}"#, "!1:7: `undefined` is no JSON value"),
            (r#"{"a": 01} {"b": 2}"#, "!1:7: `01` is no JSON number"),
            (r#"{"a": +1} {"b": 2}"#, "!1:7: `+1` is no JSON number"),
            (r#"{"a": 1.} {"b": 2}"#, "!1:7: `1.` is no JSON number"),
            (r#"{"a": 1e} {"b": 2}"#, "!1:7: `1e` is no JSON number"),
            (r#"{"a": -9223372036854775809} {"b": 2}"#, "!1:7: `-9223372036854775809` does not fit into 64 bits"),
            (r#"{"a": "\ud800"} {"b": 2}"#, "!1:8: this is half of a surrogate pair"),
            (r#"{"": 1} {"b": 2}"#, "!1:2: a name cannot be empty"),
            (r#"{"a": "\/Expr(1 +)\/"} {"b": 2}"#, "!1:18: expected an expression, found the end"),
            (r#"{"a": "\/Expr(\"é\" == 4GB)\/"} {"b": 2}"#, "!1:24: `4GB` is no number"),
            (r#"{"a": "/Expr(x\ty)/"} {"b": 2}"#, "!1:17: expected the end, found a name `y`"),
            ("{\"a\": 1 /* x }\n{\"b\": 2}", "!1:9: this comment has no closing `*/`"),
            ("1, \"x\"\n{\"b\": 2}", "!1:1: expected an ad, which begins with `{`"),
            ("[[{\"b\": 2}]]", "!1:2: an array of ads cannot hold another array"),
        ] {
            assert_eq!(items(text), [problem, "[ b = 2 ]"], "{text}");
        }
        assert_eq!(items("[{\"a\": {"), ["!1:9: expected a name in double quotes or `}`, found the end"]);
        // Each bad value is reported.
        assert_eq!(items(r#"{"a": 01, "b": [x]}"#), ["!1:7: `01` is no JSON number", "!1:17: `x` is no JSON value"]);
    }

    #[test]
    fn the_papers_reserve_names() {
        assert_eq!(items(r#"{"parent": 1}"#), ["[ parent = 1 ]"]);
        let problems = items_in(br#"{"a": {"Self": 1}}"#, Dialect::Classad);
        assert_eq!(problems, ["!1:8: `Self` is reserved and cannot name an attribute"]);
    }

    #[test]
    fn no_depth_harms() {
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
            let text = format!(r#"{{"a":{}1{}}}"#, open.repeat(300_000), close.repeat(300_000));
            assert_eq!(JsonReader::new(text.as_bytes(), Dialect::Condor).flatten().count(), 1);
        }
    }

    #[test]
    fn no_number_of_faults_harms() {
        // Without a limit each of these would take quadratic time.
        for text in ["{\"a\n", "{\"a\" 1}", "{\"a\":", "{/*", "{\"a\":\"/Expr(\"", "[", "{\"a\"[\n", "\"", " x"] {
            let text = text.repeat(1_000_000);
            assert_eq!(JsonReader::new(text.as_bytes(), Dialect::Condor).flatten().count(), 0);
        }
    }
}
