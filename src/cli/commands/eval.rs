//! `classad eval`: evaluates an expression, alone or in ads.

use std::io::Write;

use clap::Args;
use classad::ad::{Ad, Expression, Value};
use classad::eval::{CompiledEvaluator, Environment, Evaluator};
use classad::format::Problem;

use crate::cli::io::cases;
use crate::cli::io::input;
use crate::cli::io::source::SourceText;
use crate::cli::render::output::out;
use crate::cli::render::rows::value_text;
use crate::cli::render::{diagnostics, expression_tree};
use crate::cli::session::Session;
use crate::cli::{Failure, Status, refuse};

const EXAMPLES: &str = "\
Examples:
  classad eval '3 + 4 * 2'
  classad eval --each 'Memory / Cpus' samples/pool/machines.long
  classad eval --my samples/papers/1998-figure-2-job.ad \\
      --target samples/papers/1998-figure-1-machine.ad Constraint";

/// Evaluate an expression, alone or in each ad of files
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct Eval {
    /// The expression to evaluate; with --attr, the first file of ads instead
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    expression: Option<String>,
    /// Files of ads to evaluate the expression in
    files: Vec<String>,
    /// Evaluate this attribute of each ad
    #[arg(long, value_name = "NAME")]
    attr: Option<String>,
    /// The ad to evaluate in: the first ad of this file
    #[arg(long, value_name = "FILE")]
    my: Option<String>,
    /// The ad on the other side of a match: the first ad of this file
    #[arg(long, value_name = "FILE")]
    target: Option<String>,
    /// Define an attribute of the ad to evaluate in
    #[arg(short = 'D', long = "define", value_name = "NAME=EXPR")]
    define: Vec<String>,
    /// Put the identity of each ad before its value
    #[arg(long)]
    each: bool,
    /// Put the type behind the value
    #[arg(long = "type")]
    with_type: bool,
    /// Print the expression as a tree, with the value of every part
    #[arg(long)]
    trace: bool,
    /// Exit with 1 for false, 4 for undefined, 5 for error
    #[arg(short = 'e')]
    exit_by_value: bool,
    /// Print strings without quotes
    #[arg(short, long)]
    raw: bool,
    /// Read cases {"id","ad","target","expr"} from a file of JSON lines
    #[arg(long, value_name = "FILE")]
    cases: Option<String>,
}

impl Eval {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        if let Some(file) = &self.cases {
            return cases::run(session, file, cases::eval);
        }
        let (text, files) = match (&self.attr, &self.expression) {
            (Some(_), first) => (None, first.iter().chain(&self.files).cloned().collect()),
            (None, Some(expression)) => {
                input::refuse_misspelt_option("eval", expression, false)?;
                (Some(expression), self.files.clone())
            }
            (None, None) => return refuse("there is no expression to evaluate"),
        };
        let alone = files.is_empty() && (self.attr.is_none() || self.my.is_some());
        let mut sources = if alone { Vec::new() } else { input::open_sources(session, &files)? };
        let my = input::open_optional(session, self.my.as_ref())?;
        let target = input::open_optional(session, self.target.as_ref())?;
        session.decide_dialect(sources.iter().chain(&my).chain(&target));

        let expression = match (text, &self.attr) {
            (Some(text), _) => input::parse_argument_expression(session, "expression", text)?,
            (None, attr) => Expression::attribute(attr.as_deref().unwrap_or_default()),
        };
        let shown = SourceText::from_argument("expression", text.map_or("", String::as_str));
        let target = input::read_first_ad(session, target)?;
        let mut evaluator = CompiledEvaluator::for_passing_ads(session.dialect());
        let mut status = Status::Yes;
        if alone {
            let ad = input::read_first_ad(session, my)?;
            let has_scope = ad.is_some() || target.is_some() || !self.define.is_empty();
            let mut ad = ad.unwrap_or_default();
            input::add_definitions(session, &mut ad, &self.define)?;
            return self.evaluate_in(
                session,
                "",
                has_scope.then_some(ad),
                target.as_ref(),
                &expression,
                &shown,
                &mut evaluator,
            );
        }
        input::for_each_ad(session, &mut sources, |session, text, entry| {
            let named = input::name_ad(session, text, entry, None);
            let mut ad = named.ad.clone();
            input::add_definitions(session, &mut ad, &self.define)?;
            let (id, target) = (named.id(), target.as_ref());
            let each = self.evaluate_in(session, id, Some(ad), target, &expression, &shown, &mut evaluator)?;
            if status == Status::Yes {
                status = each;
            }
            Ok(true)
        })?;
        Ok(status)
    }

    /// Evaluates the expression in one ad and prints the value. `shown` is the text of the expression, for diagnostics.
    /// `evaluator` remembers the program of the expression from one ad to the next.
    #[allow(clippy::too_many_arguments)]
    fn evaluate_in(
        &self,
        session: &mut Session,
        id: &str,
        ad: Option<Ad>,
        target: Option<&Ad>,
        expression: &Expression,
        shown: &SourceText,
        evaluator: &mut CompiledEvaluator,
    ) -> Result<Status, Failure> {
        let (environment, frame) = Environment::known(ad, target.cloned());
        let value = match target {
            None if !frame.ad.is_empty() => evaluator.evaluate(expression, &frame.ad, &session.context()),
            _ => Evaluator::new(&environment, &session.context()).evaluate(expression, &frame),
        };
        let value = match value {
            Ok(value) => value,
            Err(halt) => {
                session.report_abort(&halt, if id.is_empty() { "the expression" } else { id });
                return Ok(Status::Budget);
            }
        };
        let mut out = out();
        if self.each {
            write!(out, "{id}\t")?;
        }
        out.write_all(&value_text(&value, self.raw))?;
        if self.with_type {
            write!(out, "\t{}", value.value_type().as_str())?;
        }
        writeln!(out)?;
        if self.trace && !session.options.quiet {
            let context = session.context();
            let mut evaluator = Evaluator::new(&environment, &context);
            expression_tree::write_value_tree(&mut out, expression, &frame, &mut evaluator)?;
        }
        out.flush()?;
        if let (Some(fault), true) = (value.error_origin(), id.is_empty()) {
            self.report_error_value(session, shown, fault);
        }
        Ok(match value {
            Value::Boolean(false) if self.exit_by_value => Status::No,
            Value::Undefined if self.exit_by_value => Status::Undefined,
            Value::Error(_) if self.exit_by_value => Status::Error,
            _ => Status::Yes,
        })
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
