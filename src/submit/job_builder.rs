//! The ad of a job while the commands of its submit file are considered.
//!
//! The first job of a cluster gets all attributes. The others begin with those, as in HTCondor, and get the attributes that
//! differ.

use std::ops::Range;

use indexmap::IndexMap;

use crate::ad::{Ad, Dialect, Expression, Name, Truth, Value};
use crate::configuration::constant_number;
use crate::eval::{Context, Environment, Evaluator, FreeNames};
use crate::format::{AttributeSpan, Problem, SourcePiece};
use crate::syntax::{ParseOptions, StringSyntax, SyntaxError, Token, lex, parse_expression};

use super::SubmitSettings;
use super::job_kind::JobKind;
use super::variables::{CommandValue, SubmitVariables};

/// An attribute of a job, and where it is from.
#[derive(Clone, Debug)]
pub(super) struct JobAttribute {
    pub expression: Expression,
    /// Byte range of the command's name, and the pieces of the expression's text; `None` for an attribute that no command
    /// sets.
    source: Option<(Range<usize>, Vec<SourcePiece>)>,
}

/// The attributes of a job in order.
pub(super) type JobAttributes = IndexMap<Name, JobAttribute>;

/// What a group of commands read and wrote.
#[derive(Debug, Default)]
pub(super) struct GroupTrace {
    /// Whether a value differs from job to job.
    pub is_live: bool,
    pub reads: Vec<Name>,
    pub writes: Vec<Name>,
}

/// Text of an expression that is put together from values of commands and from what HTCondor adds.
#[derive(Debug, Default)]
pub(super) struct ComposedText {
    pub text: String,
    pieces: Vec<SourcePiece>,
}

impl ComposedText {
    /// Returns the value of a command.
    pub fn of(command: &CommandValue) -> Self {
        let mut composed = ComposedText::default();
        composed.push_value(command);
        composed
    }

    /// Appends the value of a command.
    pub fn push_value(&mut self, command: &CommandValue) {
        self.text.push_str(&command.text);
        let is_verbatim = command.place.is_verbatim && command.place.value.len() == command.text.len();
        self.pieces.push(SourcePiece { end: self.text.len(), source: command.place.value.clone(), is_verbatim });
    }

    /// Appends another text.
    pub fn append(&mut self, other: ComposedText) {
        let before = self.text.len();
        self.text.push_str(&other.text);
        self.pieces.extend(other.pieces.into_iter().map(|piece| SourcePiece { end: piece.end + before, ..piece }));
    }

    /// Appends a text that HTCondor adds because of what stands in this range of the file.
    pub fn push(&mut self, text: &str, source: &Range<usize>) {
        self.text.push_str(text);
        self.pieces.push(SourcePiece { end: self.text.len(), source: source.clone(), is_verbatim: false });
    }
}

/// Builder of the ad of one job.
pub(super) struct JobBuilder<'a> {
    pub variables: &'a SubmitVariables,
    pub settings: &'a SubmitSettings,
    pub kind: &'a JobKind,
    /// The attributes of the cluster; empty for its first job.
    base: &'a JobAttributes,
    pub process: i64,
    /// Byte range of the queue statement.
    pub statement: Range<usize>,
    /// The attributes of this job.
    pub own: JobAttributes,
    pub trace: GroupTrace,
}

impl<'a> JobBuilder<'a> {
    pub fn new(
        (variables, settings, kind): (&'a SubmitVariables, &'a SubmitSettings, &'a JobKind),
        base: &'a JobAttributes,
        process: i64,
        statement: Range<usize>,
    ) -> Self {
        let (own, trace) = (JobAttributes::default(), GroupTrace::default());
        JobBuilder { variables, settings, kind, base, process, statement, own, trace }
    }

    pub fn context(&self) -> &Context {
        &self.settings.context
    }

    /// Whether the job is the first of its cluster.
    pub fn is_first(&self) -> bool {
        self.base.is_empty()
    }

    /// Returns the value of the first of these commands that has one.
    pub fn value(&mut self, names: &[&str]) -> Result<Option<CommandValue>, Problem> {
        let (found, is_live) = self.variables.value(names)?;
        self.trace.is_live |= is_live;
        Ok(found)
    }

    /// Returns the truth value of a command.
    pub fn truth(&mut self, names: &[&str]) -> Result<Option<bool>, Problem> {
        let Some(value) = self.value(names)? else { return Ok(None) };
        let truth = truth_of(&value.text, self.context());
        let fault = || value.fault(format!("{} must be true or false", value.name));
        truth.map(Some).ok_or_else(fault)
    }

    /// Returns the integer of a command.
    pub fn integer(&mut self, names: &[&str]) -> Result<Option<(i64, CommandValue)>, Problem> {
        let Some(value) = self.value(names)? else { return Ok(None) };
        match integer_of(&value.text, self.context()) {
            Some(number) => Ok(Some((number, value))),
            None => Err(value.fault(format!("{} must be an integer", value.name))),
        }
    }

    /// Returns the expanded value of a variable of the configuration, or its default in HTCondor. `None` if it is empty.
    pub fn setting(&self, name: &str) -> Option<String> {
        self.settings.setting(name)
    }

    /// Returns the expression of an attribute of the job or its cluster.
    pub fn attribute(&mut self, name: &str) -> Option<Expression> {
        let name = Name::new(name);
        let found = self.own.get(&name).or_else(|| self.base.get(&name)).map(|attribute| attribute.expression.clone());
        self.trace.reads.push(name);
        found
    }

    /// Returns a path below the initial directory of the job.
    pub fn full_path(&mut self, path: &str) -> String {
        let folder = self.text("Iwd").unwrap_or_default();
        path_in(&folder, path)
    }

    pub fn has(&mut self, name: &str) -> bool {
        self.attribute(name).is_some()
    }

    /// Returns the text of a string attribute.
    pub fn text(&mut self, name: &str) -> Option<String> {
        match self.attribute(name)?.as_literal()? {
            Value::String(text) => Some(text.to_str().into_owned()),
            _ => None,
        }
    }

    /// Returns the value of an attribute in the ad of the job so far; `None` if the job has no such attribute.
    pub fn evaluated(&mut self, name: &str) -> Option<Value> {
        let expression = self.attribute(name)?;
        if let Some(literal) = expression.as_literal() {
            return Some(literal.clone());
        }
        self.trace.reads.extend(FreeNames::of(&expression, Dialect::Condor).names);
        let mut all = self.base.clone();
        all.extend(self.own.clone());
        let ad: Ad = all.into_iter().map(|(name, attribute)| (name, attribute.expression)).collect();
        let (environment, frame) = Environment::single(ad);
        Evaluator::new(&environment, self.context()).evaluate(&expression, &frame).ok()
    }

    /// Returns the value of a boolean attribute.
    pub fn boolean(&mut self, name: &str) -> Option<bool> {
        Truth::of(self.attribute(name)?.as_literal()?, Dialect::Condor).known()
    }

    /// The names of all attributes of the job, sorted without regard to case.
    pub fn attribute_names(&self) -> Vec<Name> {
        let mut names: Vec<Name> = self.base.keys().chain(self.own.keys()).cloned().collect();
        names.sort_by_key(|name| name.as_str().to_ascii_lowercase());
        names.dedup();
        names
    }

    /// Returns the byte range of the command that set an attribute; that of the queue statement if none did.
    pub fn source_of(&self, name: &str) -> Range<usize> {
        let name = Name::new(name);
        let attribute = self.own.get(&name).or_else(|| self.base.get(&name));
        let pieces = attribute.and_then(|attribute| attribute.source.as_ref()).map(|(_, pieces)| pieces);
        let piece = pieces.and_then(|pieces| pieces.first()).map(|piece| piece.source.clone());
        piece.unwrap_or_else(|| self.statement.clone())
    }

    fn set(&mut self, name: &str, expression: Expression, source: Option<(Range<usize>, Vec<SourcePiece>)>) {
        let name = Name::new(name);
        self.trace.writes.push(name.clone());
        self.own.insert(name, JobAttribute { expression, source });
    }

    /// Sets an attribute to a value that no command gives.
    pub fn assign(&mut self, name: &str, value: impl Into<Value>) {
        self.set(name, Expression::literal(value), None);
    }

    /// Sets an attribute to a value that a command gives.
    pub fn assign_value(&mut self, name: &str, value: impl Into<Value>, command: &CommandValue) {
        let piece = SourcePiece { end: usize::MAX, source: command.place.value.clone(), is_verbatim: false };
        self.set(name, Expression::literal(value), Some((command.place.name.clone(), vec![piece])));
    }

    /// Sets an attribute to the expression that is the value of a command.
    pub fn assign_expression(&mut self, name: &str, command: &CommandValue) -> Result<(), Problem> {
        self.assign_composed(name, ComposedText::of(command), &command.place.name)
    }

    /// Sets an attribute to an expression of the configuration or of HTCondor.
    pub fn assign_text(&mut self, name: &str, text: &str) -> Result<(), Problem> {
        let expression = read_expression(text).map_err(|error| {
            let message = format!("{name} = {text}: {}", error.message);
            Problem::error_at(self.statement.clone(), 0, message)
        })?;
        self.set(name, expression, None);
        Ok(())
    }

    /// Sets an attribute to an expression that was put together. `place` is the byte range of the command's name.
    pub fn assign_composed(&mut self, name: &str, composed: ComposedText, place: &Range<usize>) -> Result<(), Problem> {
        let ComposedText { text, pieces } = composed;
        match read_expression(&text) {
            Ok(expression) => self.set(name, expression, Some((place.clone(), pieces))),
            Err(error) => return Err(composed_problem(name, &text, pieces, error)),
        }
        Ok(())
    }
}

/// Returns the problem of a text that was put together and is no expression. If the value of a command is none, the problem
/// is there.
fn composed_problem(name: &str, text: &str, pieces: Vec<SourcePiece>, error: SyntaxError) -> Problem {
    let mut start = 0;
    for piece in &pieces {
        let part = &text[start..piece.end];
        start = piece.end;
        if piece.is_verbatim
            && let Err(error) = read_expression(part)
        {
            return Problem::from_syntax(error, piece.source.start, 0);
        }
    }
    let range = AttributeSpan::composed(Name::new(name), 0..0, pieces).file_range(error.span);
    let problem = Problem::error_at(range, 0, error.message);
    Problem { help: error.help, ..problem }
}

impl JobAttribute {
    /// Returns the place of the attribute in the submit file; `None` if no command sets it.
    pub fn span(&self, name: &Name) -> Option<AttributeSpan> {
        let (place, pieces) = self.source.clone()?;
        Some(AttributeSpan::composed(name.clone(), place, pieces))
    }
}

/// Returns a path with single slashes.
pub(super) fn compressed(path: &str) -> String {
    let mut compressed = String::with_capacity(path.len());
    for c in path.chars() {
        if c != '/' || !compressed.ends_with('/') {
            compressed.push(c);
        }
    }
    compressed
}

/// Returns a path below a folder; an absolute path stays one.
pub(super) fn path_in(folder: &str, path: &str) -> String {
    if path.starts_with('/') { compressed(path) } else { compressed(&format!("/{folder}/{path}")) }
}

/// Reads an expression as `condor_submit` does, which knows no number with a unit, such as `2K`.
pub(super) fn read_expression(text: &str) -> Result<Expression, SyntaxError> {
    let may_scale = |pair: &[u8]| (pair[0].is_ascii_digit() || pair[0] == b'.') && pair[1].is_ascii_alphabetic();
    if text.as_bytes().windows(2).any(may_scale) {
        let tokens = lex(text.as_bytes(), StringSyntax::Long);
        if let Some((_, span)) = tokens.into_iter().find(|(token, _)| *token == Token::Scaled) {
            let error = SyntaxError::new(span, format!("`{}` is not a number", &text[span.range()]));
            return Err(error.with_help("write the number without a unit: only sizes of memory and disk have one"));
        }
    }
    parse_expression(text.as_bytes(), ParseOptions::long(Dialect::Condor))
}

/// Evaluates a text as an expression outside any ad; `None` if it is none.
fn value_of(text: &str, context: &Context) -> Option<Value> {
    let expression = read_expression(text).ok()?;
    let (environment, frame) = Environment::empty();
    Evaluator::new(&environment, context).evaluate(&expression, &frame).ok()
}

/// Returns the truth value that a text is, or evaluates to, as HTCondor's `string_is_boolean_param` does: `yes` is none.
pub(super) fn truth_of(text: &str, context: &Context) -> Option<bool> {
    Truth::of(&value_of(text, context)?, Dialect::Condor).known()
}

/// Returns the integer that a text is, or evaluates to, as HTCondor's `string_is_long_param` does.
pub(super) fn integer_of(text: &str, context: &Context) -> Option<i64> {
    if let Ok(number) = text.trim().parse() {
        return Some(number);
    }
    match value_of(text, context)? {
        Value::Integer(number) => Some(number),
        Value::Boolean(is) => Some(i64::from(is)),
        #[allow(clippy::cast_possible_truncation)] // the fraction is dropped
        Value::Real(number) if number.is_finite() => Some(number as i64),
        _ => None,
    }
}

/// Returns the number that an expression is, without evaluating it; `None` if it is no literal number.
pub(super) fn literal_number(expression: &Expression, context: &Context) -> Option<f64> {
    let text = crate::syntax::expression_text(expression, crate::syntax::Style::Long);
    expression.as_literal().and_then(|_| constant_number(&text, context))
}

#[cfg(test)]
mod tests {
    use super::{compressed, integer_of, path_in, read_expression, truth_of};
    use crate::ad::Dialect;
    use crate::eval::Context;

    #[test]
    fn paths_have_single_slashes() {
        for (path, expected) in [("", ""), ("/", "/"), ("//", "/"), ("a//b///c/", "a/b/c/"), ("///a", "/a")] {
            assert_eq!(compressed(path), expected, "{path}");
        }
        for (folder, path, expected) in [
            ("/f", "a", "/f/a"),
            ("f", "a", "/f/a"),
            ("/f/", "./a", "/f/./a"),
            ("/f", "/a//b", "/a/b"),
            ("", "a", "/a"),
        ] {
            assert_eq!(path_in(folder, path), expected, "{folder} {path}");
        }
    }

    #[test]
    fn values_are_evaluated_outside_any_ad() {
        let context = Context::new(Dialect::Condor);
        for (text, integer, truth) in [
            ("5", Some(5), Some(true)),
            (" -5 ", Some(-5), Some(true)),
            ("0", Some(0), Some(false)),
            ("1 + 1", Some(2), Some(true)),
            ("2.9", Some(2), Some(true)),
            ("-2.9", Some(-2), Some(true)),
            ("true", Some(1), Some(true)),
            ("FALSE", Some(0), Some(false)),
            ("yes", None, None),
            ("\"5\"", None, None),
            ("x", None, None),
            ("1 +", None, None),
            ("real(\"INF\")", None, Some(true)),
            ("2K", None, None),
            ("", None, None),
        ] {
            assert_eq!((integer_of(text, &context), truth_of(text, &context)), (integer, truth), "{text}");
        }
    }

    #[test]
    fn only_sizes_have_units() {
        for (text, expected) in [
            ("x + 2K", Some("`2K` is not a number")),
            ("1.5T", Some("`1.5T` is not a number")),
            ("2.M", Some("`2.M` is not a number")),
            ("\"2K\"", None),
            ("x2K", None),
            ("1e5", None),
            ("x.a", None),
        ] {
            let error = read_expression(text).err().map(|error| error.message);
            assert_eq!(error.as_deref(), expected, "{text}");
        }
    }
}
