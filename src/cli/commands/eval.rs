//! `classad eval`: evaluates an expression, alone or in ads.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

use clap::Args;
use classad::ad::{Ad, Expression, Name, ScopeFrame, Value};
use classad::eval::{Abort, CompiledEvaluator, Context, Environment, Evaluator, FreeNames};
use classad::format::{AdEntry, Problem};
use classad::protocol::display_name;
use classad::syntax::{ParseOptions, parse_expression};

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::io::ad_map::{AdTask, map_ads};
use crate::cli::io::argument_text;
use crate::cli::io::cases;
use crate::cli::io::input;
use crate::cli::io::source::AdSource;
use crate::cli::io::source_text::SourceText;
use crate::cli::io::unseen_names::{ReportUnseen, UnseenNames};
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::render::output::out;
use crate::cli::render::rows::value_text;
use crate::cli::render::{diagnostics, expression_tree};
use crate::cli::session::Session;

const EXAMPLES: &str = "\
Examples:
  classad eval '3 + 4 * 2'
  classad eval --each 'Memory / Cpus' samples/pool/machines.long
  classad eval --my samples/papers/1998-figure-2-job.ad \\
      --target samples/papers/1998-figure-1-machine.ad Constraint

In FILES, a syntax error of an attribute that the expression does not use is not always reported.";

/// Evaluate an expression, alone or in each ad of files
#[derive(Args)]
#[command(after_help = EXAMPLES, mut_arg("files", |arg| arg.help("Files of ads to evaluate the expression in")))]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct Eval {
    /// The expression to evaluate. With --attr, all arguments are files
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    expression: Option<String>,
    #[command(flatten)]
    input: AdFilesArgs,
    /// Evaluate this attribute of each ad
    #[arg(long, value_name = "NAME")]
    attr: Option<String>,
    /// Evaluate in the first ad of this file
    #[arg(long, value_name = "FILE")]
    my: Option<String>,
    /// Use the first ad of this file as TARGET, the other ad of a match
    #[arg(long, value_name = "FILE")]
    target: Option<String>,
    /// Set an attribute of the ad to evaluate in
    #[arg(short = 'D', long = "define", value_name = "NAME=EXPR")]
    define: Vec<String>,
    /// Print the name of each ad before its value
    #[arg(long)]
    each: bool,
    /// Print the type after the value
    #[arg(long = "type")]
    with_type: bool,
    /// Print the expression as a tree, with the value of each part
    #[arg(long)]
    trace: bool,
    /// Exit with status 1 for false, 4 for undefined, 5 for error, and 0 for other values. Of several ads, the first one
    /// with a status other than 0 counts
    #[arg(short = 'e')]
    exit_by_value: bool,
    /// If the value is a string, print it without quotes
    #[arg(short, long)]
    raw: bool,
    /// Evaluate the expressions in FILE, and print a line of JSON for each. Each line of FILE looks like `{"id": 1,
    /// "expr": "A + TARGET.B", "ad": "[A = 1]", "target": "[B = 2]"}`
    #[arg(long, value_name = "FILE")]
    cases: Option<String>,
}

impl Eval {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        if let Some(file) = &self.cases {
            return cases::run(session, file, cases::eval);
        }
        let (text, first) = match (&self.attr, &self.expression) {
            (Some(_), first) => (None, first.as_ref()),
            (None, Some(expression)) => {
                argument_text::refuse_misspelt_option(session, "eval", (expression, false))?;
                (Some(expression), None)
            }
            (None, None) => return refuse("there is no expression to evaluate"),
        };
        let files: Vec<String> = first.into_iter().cloned().chain(self.input.paths()?).collect();
        if self.my.is_some() && !files.is_empty() {
            return refuse("--my and FILES cannot be combined: both name ads to evaluate in");
        }
        let mut alone = files.is_empty() && (self.attr.is_none() || self.my.is_some());
        let mut sources = Vec::new();
        if !alone || self.wants_ads(session, text) {
            sources = input::open_sources(session, &files)?;
            alone &= !sources.iter().any(AdSource::has_content);
        }
        let my = input::open_optional(session, self.my.as_ref())?;
        let target = input::open_optional(session, self.target.as_ref())?;
        input::decide_dialect_and_time(session, sources.iter().chain(&my).chain(&target));

        let expression = match (text, &self.attr) {
            (Some(text), _) => argument_text::parse_argument_expression(session, "expression", text)?,
            (None, attr) => Expression::attribute(attr.as_deref().unwrap_or_default()),
        };
        let shown = SourceText::from_argument("expression", text.map_or("", String::as_str));
        let target = input::read_first_ad(session, target)?;
        if alone {
            let ad = input::read_first_ad(session, my)?;
            let has_scope = ad.is_some() || target.is_some() || !self.define.is_empty();
            let mut ad = ad.unwrap_or_default();
            argument_text::add_definitions(session, &mut ad, &self.define)?;
            return self.evaluate_alone(session, has_scope.then_some(ad), target.as_ref(), &expression, &shown);
        }
        let mut definitions = Ad::default();
        argument_text::add_definitions(session, &mut definitions, &self.define)?;
        // A name may also be an attribute of the target or of --define.
        let is_known = |name: &Name| definitions.get(name).is_some() || target.is_some();
        let unseen_names = UnseenNames::of_expressions([&expression]).without(is_known);
        let context = session.context();
        let task = EvalTask { command: self, expression: &expression, definitions, target, context, unseen_names };
        self.evaluate_each(session, &mut sources, &task)
    }

    /// Prints the value in each ad.
    fn evaluate_each(
        &self,
        session: &mut Session,
        sources: &mut [AdSource],
        task: &EvalTask<'_>,
    ) -> Result<Status, Failure> {
        let (mut status, mut first_text) = (Status::Yes, None);
        let mut out = out();
        map_ads(session, sources, task.needed_names().as_ref(), task, |session, mut mapped| {
            first_text.get_or_insert_with(|| mapped.text.clone());
            let id = mapped.output.name.take().unwrap_or_else(|| mapped.location());
            let each = match mapped.output.value {
                Ok(value) => {
                    if self.each {
                        write!(out, "{id}\t")?;
                    }
                    out.write_all(&value.text)?;
                    value.status
                }
                Err(abort) => {
                    session.report_abort(&abort, &id);
                    Status::Budget
                }
            };
            if status == Status::Yes {
                status = each;
            }
            Ok(true)
        })?;
        if let Some(first) = first_text {
            task.unseen_names.report(session, &first);
        }
        Ok(status)
    }

    /// Whether ads are read from standard input although no file is given: it is not a terminal, and the expression
    /// `text` has a name that nothing on the command line defines.
    fn wants_ads(&self, session: &Session, text: Option<&String>) -> bool {
        let is_defined = self.my.is_some() || self.target.is_some() || !self.define.is_empty();
        let has_names = |text: &String| {
            let parsed = parse_expression(text.as_bytes(), ParseOptions::new(session.dialect()));
            parsed.is_ok_and(|expression| !UnseenNames::of_expressions([&expression]).is_empty())
        };
        !is_defined && !io::stdin().is_terminal() && text.is_some_and(has_names)
    }

    /// Evaluates the expression once and prints the value. `shown` is the text of the expression, for diagnostics.
    fn evaluate_alone(
        &self,
        session: &mut Session,
        ad: Option<Ad>,
        target: Option<&Ad>,
        expression: &Expression,
        shown: &SourceText,
    ) -> Result<Status, Failure> {
        let name = ad.as_ref().and_then(|ad| display_name(ad, None, &session.context())).unwrap_or_default();
        let (environment, frame) = Environment::known(ad, target.cloned());
        let value = match Evaluator::new(&environment, &session.context()).evaluate(expression, &frame) {
            Ok(value) => value,
            Err(abort) => {
                session.report_abort(&abort, "the expression");
                return Ok(Status::Budget);
            }
        };
        let mut out = out();
        if self.each {
            write!(out, "{name}\t")?;
        }
        self.write_value(&mut out, &value)?;
        self.write_trace(&mut out, expression, &environment, &frame, &session.context())?;
        out.flush()?;
        if let Some(fault) = value.error_origin() {
            self.report_error_value(session, shown, fault);
        }
        Ok(self.status_of(&value))
    }

    /// Writes a value as a line, with its type if that is wanted.
    fn write_value(&self, out: &mut dyn Write, value: &Value) -> io::Result<()> {
        out.write_all(&value_text(value, self.raw))?;
        if self.with_type {
            write!(out, "\t{}", value.value_type().as_str())?;
        }
        writeln!(out)
    }

    /// Writes the expression as a tree, with the value of every part, if that is wanted.
    fn write_trace(
        &self,
        out: &mut dyn Write,
        expression: &Expression,
        environment: &Environment,
        frame: &Arc<ScopeFrame>,
        context: &Context,
    ) -> io::Result<()> {
        if !self.trace {
            return Ok(());
        }
        expression_tree::write_value_tree(out, expression, frame, &mut Evaluator::new(environment, context))
    }

    /// Returns the exit status for a value, which counts only with `-e`.
    fn status_of(&self, value: &Value) -> Status {
        match value {
            Value::Boolean(false) if self.exit_by_value => Status::No,
            Value::Undefined if self.exit_by_value => Status::Undefined,
            Value::Error(_) if self.exit_by_value => Status::Error,
            _ => Status::Yes,
        }
    }

    /// Reports why the value is an error. If the expression is evaluated without any ad, marks the part of the
    /// expression that is the error's origin. Reports nothing for an `error` literal.
    fn report_error_value(&self, session: &Session, shown: &SourceText, fault: &classad::ad::ErrorOrigin) {
        let range = fault.span.range();
        if fault.reason.starts_with("written as") {
            return;
        }
        let message = format!("the value is error: {fault}");
        let is_alone = self.my.is_none() && self.target.is_none() && self.define.is_empty();
        if is_alone && range.end <= shown.block.text.len() && !range.is_empty() {
            diagnostics::print_problem(&session.options, shown, &Problem::error_at(range, 0, message).as_warning());
        } else {
            session.note(&message);
        }
    }
}

/// Evaluates the expression in each ad.
struct EvalTask<'c> {
    command: &'c Eval,
    expression: &'c Expression,
    /// The attributes of `--define`.
    definitions: Ad,
    target: Option<Ad>,
    context: Context,
    /// The names that the expression looks up in each ad, each marked once an ad has it.
    unseen_names: UnseenNames,
}

/// The result for one ad.
struct EvaluatedAd {
    /// The identity of the ad in the advertising protocol.
    name: Option<String>,
    value: Result<EvaluatedValue, Abort>,
}

struct EvaluatedValue {
    /// The line of the value, and the trace.
    text: Vec<u8>,
    status: Status,
}

impl EvalTask<'_> {
    /// Returns the names that are looked up in each ad. `None` if the target may look up any name.
    fn needed_names(&self) -> Option<FreeNames> {
        if self.target.is_some() {
            return None;
        }
        let mut needed = input::identity_names();
        for expression in self.definitions.expressions().iter().chain([self.expression]) {
            needed.add(expression, self.context.dialect);
        }
        Some(needed)
    }

    fn evaluate(&self, evaluator: &mut CompiledEvaluator, ad: Ad) -> Result<EvaluatedValue, Abort> {
        let mut text = Vec::new();
        let value = if self.target.is_some() || self.command.trace || ad.is_empty() {
            let (environment, frame) = Environment::known(Some(ad), self.target.clone());
            let value = Evaluator::new(&environment, &self.context).evaluate(self.expression, &frame)?;
            // Writing to memory cannot fail.
            let _ = self.command.write_value(&mut text, &value);
            let _ = self.command.write_trace(&mut text, self.expression, &environment, &frame, &self.context);
            value
        } else {
            let value = evaluator.evaluate(self.expression, &ad, &self.context)?;
            let _ = self.command.write_value(&mut text, &value);
            value
        };
        Ok(EvaluatedValue { text, status: self.command.status_of(&value) })
    }
}

impl AdTask for EvalTask<'_> {
    type State = CompiledEvaluator;
    type Output = EvaluatedAd;

    fn new_state(&self) -> CompiledEvaluator {
        CompiledEvaluator::for_passing_ads(self.context.dialect)
    }

    fn run(&self, evaluator: &mut CompiledEvaluator, entry: AdEntry) -> EvaluatedAd {
        self.unseen_names.mark_present(|name| entry.ad.get(name).is_some());
        let name = display_name(&entry.ad, None, &self.context);
        let ad = argument_text::with_definitions(entry.ad, &self.definitions);
        EvaluatedAd { name, value: self.evaluate(evaluator, ad) }
    }
}
