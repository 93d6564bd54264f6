//! `classad specialize`: partial evaluation of ads that are known in part (thesis 2.6.1).

mod output;
mod task;

use clap::Args;
use classad::ad::time::local_moment;
use classad::ad::{Ad, Expression, Name};
use classad::constraint::MAX_SPAN_SECONDS;
use classad::eval::Context;
use classad::format::FileFormat;
use classad::protocol::Protocol;

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::args::global;
use crate::cli::args::output::TableOutputArgs;
use crate::cli::args::partial_scope::PartialKnowledge;
use crate::cli::io::ad_map::map_ads;
use crate::cli::io::unseen_names::{ReportUnseen, UnseenNames};
use crate::cli::io::{argument_text, cases, input};
use crate::cli::outcome::{Failure, Status};
use crate::cli::session::Session;

use output::SpecializeOutput;
use task::SpecializeTask;

const EXAMPLES: &str = "\
Examples:
  classad specialize --expr 'true && other.x > 10'
  classad specialize --loose --expr '3 + a + 7'
  classad specialize --attr Constraint samples/papers/thesis-figure-6-job.ad
  classad specialize --inline --verdict --attr Requirements samples/pool/machines.long
  classad specialize --verdict samples/papers/thesis-figure-30-job.ad
  classad specialize --verdict --over 24h samples/papers/thesis-figure-4-machine.ad

Without --closed and --loose, the result has the same value as the original, whatever attributes are added to the ads.
Without --target, the other ad can be any ad. The time is unknown unless --now sets it.

With --verdict, a contradiction such as `x > 5 && x < 3` counts as `depends` if x is unknown. The exit status is 1 if
every verdict is `never`.

With --expr or --attr, -o json prints an array of {ad, value}. With --verdict, it prints an array of {ad, verdict,
unknowns: [NAME, ...]}, without --expr and --attr also with port.

With --over, each line has the time from which and up to which the verdict holds, and what is left of the expression
then. JSON has seconds since 1970 (from, to) and ISO times (from_time, to_time).";

const FILES_HELP: &str = "Files of ads with the known attributes; without --expr and --attr, whole ads are specialized";

/// Evaluate expressions as far as the known attributes allow, and print the rest as expressions
#[derive(Args)]
#[command(after_help = EXAMPLES, mut_arg("files", |arg| arg.help(FILES_HELP)))]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct Specialize {
    #[command(flatten)]
    input: AdFilesArgs,
    /// The expression to specialize
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true, conflicts_with = "attr")]
    expr: Option<String>,
    /// The attribute to specialize
    #[arg(long, value_name = "NAME")]
    attr: Option<String>,
    /// Take the known attributes from the first ad of this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["files", "files_from"])]
    known: Option<String>,
    /// Set a known attribute in each ad
    #[arg(short = 'D', long = "define", value_name = "NAME=EXPR")]
    define: Vec<String>,
    /// Treat these attributes as unknown; target.NAME is an attribute of the ad in --target
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    unknown: Vec<String>,
    /// Use the first ad of this file as TARGET, the other ad of a match
    #[arg(long, value_name = "FILE")]
    target: Option<String>,
    /// Assume that the ads have no other attributes than those in the files
    #[arg(long)]
    closed: bool,
    /// Simplify more, as the thesis does: assume that no unknown value is an error, and reorder sums and products
    #[arg(long)]
    loose: bool,
    /// Also replace an attribute whose value depends on unknown attributes by the rest of its expression
    #[arg(long)]
    inline: bool,
    /// Print whether the expression is always true, never true, or depends on unknown attributes. Without --expr and
    /// --attr, judge the constraint of each port, or of an ad without ports
    #[arg(long)]
    verdict: bool,
    /// Judge each time from now (see --now) up to so much later, such as 24h or 7d. The intervals with the same verdict and
    /// rest are printed. The clock attributes of slots go with the clock
    #[arg(long, value_name = "DURATION", requires = "verdict", value_parser = global::duration)]
    over: Option<i64>,
    /// With --expr or --attr, print the name of each ad before its result
    #[arg(long)]
    each: bool,
    /// Specialize the expressions in FILE, and print a line of JSON for each. Each line of FILE looks like `{"id": 1,
    /// "expr": "A + TARGET.B", "ad": "[A = 1]"}`
    #[arg(long, value_name = "FILE")]
    cases: Option<String>,
    #[command(flatten)]
    output: TableOutputArgs,
}

/// The part of each ad to specialize.
enum SpecializeScope {
    Expression(Expression),
    Attribute(Name),
    /// The constraint of each port. An ad without a port list has one port, `other`.
    Ports(Protocol),
    WholeAd,
}

impl Specialize {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        if let Some(file) = &self.cases {
            return cases::run(session, file, cases::specialize);
        }
        let alone = self.input.is_empty() && (self.expr.is_some() || self.known.is_some() || !self.define.is_empty());
        let mut sources = if alone { Vec::new() } else { input::open_sources(session, &self.input.paths()?)? };
        let known = input::open_optional(session, self.known.as_ref())?;
        let target = input::open_optional(session, self.target.as_ref())?;
        input::decide_dialect_and_time(session, sources.iter().chain(&known).chain(&target));
        let form = known.as_ref().map_or(FileFormat::Bracketed, |known| known.form);
        let scope = self.scope(session)?;
        let mut definitions = Ad::default();
        argument_text::add_definitions(session, &mut definitions, &self.define)?;
        let target = input::read_first_ad(session, target)?;
        let task = self.task(session, scope, definitions, target);
        let is_whole = matches!(task.scope, SpecializeScope::WholeAd);
        let mut output = SpecializeOutput::new(self, &task.scope)?;
        if self.over.is_some_and(|over| over > MAX_SPAN_SECONDS) {
            session.note(&format!("--over looks {} days ahead at most", MAX_SPAN_SECONDS / 86_400));
        }
        if alone {
            if is_whole {
                output.begin_source(form)?;
            }
            let known = input::read_first_ad(session, known)?;
            output.add(session, "", task.specialize(known))?;
        }
        let (needed, mut first_text) = (task.needed_names(), None);
        for source in &mut sources {
            if is_whole {
                output.begin_source(source.form)?;
            }
            map_ads(session, [source], needed.as_ref(), &task, |session, mut mapped| {
                first_text.get_or_insert_with(|| mapped.text.clone());
                let id = mapped.output.0.take().unwrap_or_else(|| mapped.location());
                output.add(session, &id, mapped.output.1)?;
                Ok(true)
            })?;
        }
        if let Some(first) = first_text {
            task.unseen_names.report(session, &first);
        }
        self.finish(session, output)
    }

    /// Returns what is done with each ad.
    fn task(
        &self,
        session: &Session,
        scope: SpecializeScope,
        definitions: Ad,
        target: Option<Ad>,
    ) -> SpecializeTask<'_> {
        SpecializeTask {
            command: self,
            partial_scope: PartialKnowledge { unknown: self.unknown.clone(), is_complete: self.closed },
            definitions,
            target,
            context: Context {
                random: None,
                now: session.context().now.filter(|_| session.options.now.is_some() || self.over.is_some()),
                ..session.context()
            },
            unseen_names: UnseenNames::new(match &scope {
                SpecializeScope::Attribute(name) => Some(name.clone()),
                _ => None,
            }),
            scope,
        }
    }

    /// Says how exact the output is, and ends it.
    fn finish(&self, session: &mut Session, mut output: SpecializeOutput) -> Result<Status, Failure> {
        if let Some(seconds) = output.sampling {
            session.note(&format!("some bounds are seen in samples every {seconds} s"));
        }
        if let Some(end) = output.end {
            session
                .note(&format!("some expressions take too many steps: the search looked up to {}", local_moment(end)));
        }
        output.documents.finish(&mut output.out)?;
        if let Some(mut rows) = output.rows {
            rows.finish(&mut output.out)?;
        }
        Ok(Status::of(!self.verdict || output.any_possible))
    }

    /// Returns what of each ad is specialized.
    fn scope(&self, session: &mut Session) -> Result<SpecializeScope, Failure> {
        Ok(match (&self.expr, &self.attr) {
            (Some(text), _) => {
                SpecializeScope::Expression(argument_text::parse_argument_expression(session, "expression", text)?)
            }
            (None, Some(name)) => {
                SpecializeScope::Attribute(argument_text::parse_required_name(session, "--attr", name)?)
            }
            (None, None) if self.verdict => SpecializeScope::Ports(Protocol::new(session.dialect())),
            (None, None) => SpecializeScope::WholeAd,
        })
    }
}
