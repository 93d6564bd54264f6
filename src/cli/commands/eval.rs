//! `classad eval`: evaluates an expression, alone or in ads.

use std::io::Write;

use clap::Args;
use classad::ad::{Ad, Expression, Kind, Name, Span, Value};
use classad::eval::Evaluator;
use classad::format::Problem;

use crate::cli::args::partial_scope::meeting;
use crate::cli::io::cases;
use crate::cli::io::input;
use crate::cli::io::source::Text;
use crate::cli::render::output::out;
use crate::cli::render::rows::value_text;
use crate::cli::render::{diagnostics, expression_tree};
use crate::cli::session::Session;
use crate::cli::{Failure, Status};

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
    /// The expression; with --attr the first file
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    expression: Option<String>,
    /// Files of ads to evaluate it in
    files: Vec<String>,
    /// Evaluate this attribute of each ad
    #[arg(long, value_name = "NAME")]
    attr: Option<String>,
    /// The ad to evaluate in: the first of a file
    #[arg(long, value_name = "FILE")]
    my: Option<String>,
    /// The ad on the other side: the first of a file
    #[arg(long, value_name = "FILE")]
    target: Option<String>,
    /// An attribute of the ad to evaluate in
    #[arg(short = 'D', long = "define", value_name = "NAME=EXPR")]
    define: Vec<String>,
    /// Put the identity of each ad before its value
    #[arg(long)]
    each: bool,
    /// Put the type behind the value
    #[arg(long = "type")]
    with_type: bool,
    /// Print the value of every part as a tree
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
                input::not_an_option("eval", expression, false)?;
                (Some(expression), self.files.clone())
            }
            (None, None) => return Err(Failure::Refused(Some("there is no expression to evaluate".to_owned()))),
        };
        let alone = files.is_empty() && (self.attr.is_none() || self.my.is_some());
        let mut sources = if alone { Vec::new() } else { input::open(session, &files)? };
        let my = input::one_source(session, self.my.as_ref())?;
        let target = input::one_source(session, self.target.as_ref())?;
        session.decide_dialect(sources.iter().chain(&my).chain(&target));

        let expression = match (text, &self.attr) {
            (Some(text), _) => input::expression(session, "expression", text)?,
            (None, attr) => {
                let name = Name::new(attr.as_deref().unwrap_or_default());
                Expression::new(Kind::Attribute(name), Span::default())
            }
        };
        let shown = Text::of_argument("expression", text.map_or("", String::as_str));
        let target = input::first_ad(session, target)?;
        let mut status = Status::Yes;
        if alone {
            let ad = input::first_ad(session, my)?;
            let nowhere = ad.is_none() && self.define.is_empty();
            let ad = input::define(session, ad.unwrap_or_default(), &self.define)?;
            let ad = Some(ad).filter(|_| !nowhere || target.is_some());
            return self.one(session, "", ad, target.as_ref(), &expression, &shown);
        }
        for source in &mut sources {
            input::each_ad(session, source, |session, entry| {
                let found = input::identify(session, entry, None);
                let ad = input::define(session, found.ad.clone(), &self.define)?;
                let each = self.one(session, found.id(), Some(ad), target.as_ref(), &expression, &shown)?;
                if status == Status::Yes {
                    status = each;
                }
                Ok(true)
            })?;
        }
        Ok(status)
    }

    /// Evaluates the expression in one ad and prints the value. `shown` is the text of the expression, for diagnostics.
    fn one(
        &self,
        session: &mut Session,
        id: &str,
        ad: Option<Ad>,
        target: Option<&Ad>,
        expression: &Expression,
        shown: &Text,
    ) -> Result<Status, Failure> {
        let (environment, frame) = meeting(ad, target);
        let value = match Evaluator::new(&environment, &session.context()).evaluate(expression, &frame) {
            Ok(value) => value,
            Err(halt) => {
                session.halted(&halt, if id.is_empty() { "the expression" } else { id });
                return Ok(Status::Budget);
            }
        };
        let mut out = out();
        if !session.options.quiet {
            if self.each {
                write!(out, "{id}\t")?;
            }
            out.write_all(&value_text(&value, self.raw))?;
            if self.with_type {
                write!(out, "\t{}", value.kind().as_str())?;
            }
            writeln!(out)?;
            if self.trace {
                expression_tree::values(
                    &mut out,
                    expression,
                    &frame,
                    &mut Evaluator::new(&environment, &session.context()),
                )?;
            }
        }
        out.flush()?;
        if let (Some(fault), true) = (value.fault(), id.is_empty()) {
            self.tell(session, shown, fault);
        }
        Ok(if self.exit_by_value { by_value(&value) } else { Status::Yes })
    }

    /// Reports why the value is an error: with a mark in the expression if the error arose there.
    fn tell(&self, session: &Session, shown: &Text, fault: &classad::ad::Fault) {
        let range = fault.span.range();
        if fault.reason.starts_with("written as") {
            return;
        }
        if self.my.is_none()
            && self.target.is_none()
            && self.define.is_empty()
            && range.end <= shown.block.text.len()
            && !range.is_empty()
        {
            let problem = Problem::at(range, 0, format!("the value is error: {fault}")).as_warning();
            diagnostics::problem(&session.options, shown, &problem);
        } else {
            session.note(&format!("the value is error: {fault}"));
        }
    }
}

/// Returns the exit status of `-e`.
fn by_value(value: &Value) -> Status {
    match value {
        Value::Boolean(false) => Status::No,
        Value::Undefined => Status::Undefined,
        Value::Error(_) => Status::Error,
        _ => Status::Yes,
    }
}
