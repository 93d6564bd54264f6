//! `classad specialize`: partial evaluation of ads that are known in part (thesis 2.6.1).

use std::io::Write;
use std::slice;

use clap::Args;
use classad::ad::{Ad, Expression, Name};
use classad::eval::{
    ConstraintVerdict, Context, SpecializeOptions, specialize, specialize_ad, specialize_attribute, unknowns,
};
use classad::format::FileFormat;
use classad::syntax::{Style, print};

use crate::cli::args::output::TableOutputArgs;
use crate::cli::args::partial_scope::{PartialKnowledge, dependency_names};
use crate::cli::io::input::NamedAd;
use crate::cli::io::{cases, input};
use crate::cli::render::output::{BufferedStdout, DocumentWriter, out};
use crate::cli::render::rows::ResultTable;
use crate::cli::session::Session;
use crate::cli::{Failure, Status, refuse};

const EXAMPLES: &str = "\
Examples:
  classad specialize --expr 'true && other.x > 10'
  classad specialize --loose --expr '3 + a + 7'
  classad specialize --attr Constraint samples/papers/thesis-figure-6-job.ad
  classad specialize --inline --verdict --attr Requirements samples/pool/machines.long

The result has the value of the original in every completion of the ad: whatever attributes are added to it,
and whomever it meets.  The clock is not known unless --now gives a time (`--now now` asks it).
With --verdict the exit status is 1 if no constraint can be true.
-o json: an array of {ad, value}, with --verdict of {ad, verdict, unknowns: [...]}; whole ads as `convert` has them.";

/// Evaluate expressions as far as the ad is known, and print the residues
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct Specialize {
    /// Files of ads that are known in part; without --expr and --attr, whole ads are specialized
    files: Vec<String>,
    /// The expression to specialize
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true, conflicts_with = "attr")]
    expr: Option<String>,
    /// The attribute to specialize
    #[arg(long, value_name = "NAME")]
    attr: Option<String>,
    /// The known ad: the first ad of this file
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    known: Option<String>,
    /// Define an attribute of the known ad
    #[arg(short = 'D', long = "define", value_name = "NAME=EXPR")]
    define: Vec<String>,
    /// Treat these attributes as unknown; target.NAME means an attribute of the ad of --target
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    unknown: Vec<String>,
    /// The ad on the other side of a match: the first ad of this file
    #[arg(long, value_name = "FILE")]
    target: Option<String>,
    /// Assume that the known ads have no other attributes than the given ones
    #[arg(long)]
    closed: bool,
    /// Assume that no unknown value is an error, and reorder sums, as the thesis does
    #[arg(long)]
    loose: bool,
    /// Replace attributes by their residues, and assume that no unknown value makes a circular reference
    #[arg(long)]
    inline: bool,
    /// Print whether the constraint can be true (never, always, depends), and on which unknowns it depends
    #[arg(long)]
    verdict: bool,
    /// Put the identity of each ad before its result
    #[arg(long)]
    each: bool,
    /// Read cases {"id","ad","expr"} from a file of JSON lines
    #[arg(long, value_name = "FILE")]
    cases: Option<String>,
    #[command(flatten)]
    output: TableOutputArgs,
}

/// The part of each ad to specialize.
enum SpecializeScope {
    Expression(Expression),
    Attribute(Name),
    WholeAd,
}

impl Specialize {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        if let Some(file) = &self.cases {
            return cases::run(session, file, cases::specialize);
        }
        if self.verdict && self.expr.is_none() && self.attr.is_none() {
            return refuse("--verdict wants --attr or --expr: which constraint?");
        }
        let alone = self.files.is_empty() && (self.expr.is_some() || self.known.is_some() || !self.define.is_empty());
        let mut sources = if alone { Vec::new() } else { input::open_sources(session, &self.files)? };
        let known = input::open_optional(session, self.known.as_ref())?;
        let target = input::open_optional(session, self.target.as_ref())?;
        session.decide_dialect(sources.iter().chain(&known).chain(&target));
        let form = known.as_ref().map_or(FileFormat::Bracketed, |known| known.form);
        let scope = match (&self.expr, &self.attr) {
            (Some(text), _) => {
                SpecializeScope::Expression(input::parse_argument_expression(session, "expression", text)?)
            }
            (None, Some(name)) => SpecializeScope::Attribute(input::parse_required_name(session, "--attr", name)?),
            (None, None) => SpecializeScope::WholeAd,
        };
        let mut run = SpecializeRun {
            command: self,
            scope,
            partial_scope: PartialKnowledge { unknown: self.unknown.clone(), is_complete: self.closed },
            target: input::read_first_ad(session, target)?,
            context: Context { random: None, now: session.options.now, ..session.context() },
            rows: ResultTable::new(if self.verdict { &["ad", "verdict", "unknowns"] } else { &["ad", "value"] }),
            documents: DocumentWriter::new(self.output.form),
            out: out(),
            any_possible: false,
        };
        if alone {
            let known = input::read_first_ad(session, known)?;
            run.begin_source(form)?;
            run.add_ad(session, known.map(NamedAd::unnamed))?;
        }
        let mut unknown_names = input::UnknownNames::new(match &run.scope {
            SpecializeScope::Attribute(name) => slice::from_ref(name),
            _ => &[],
        });
        for source in &mut sources {
            run.begin_source(source.form)?;
            input::for_each_ad(session, [source], |session, text, entry| {
                unknown_names.observe(&entry.ad);
                run.add_ad(session, Some(input::name_ad(session, text, entry, None)))?;
                Ok(true)
            })?;
        }
        unknown_names.note_missing(session);
        run.documents.finish(&mut run.out)?;
        if !matches!(run.scope, SpecializeScope::WholeAd) && (self.verdict || self.output.form.is_some()) {
            self.output.write(&run.rows)?;
        }
        Ok(Status::of(!self.verdict || run.any_possible))
    }
}

/// A run of `specialize`, which specializes one ad after the other and writes the results.
struct SpecializeRun<'c> {
    command: &'c Specialize,
    scope: SpecializeScope,
    partial_scope: PartialKnowledge,
    target: Option<Ad>,
    context: Context,
    rows: ResultTable,
    documents: DocumentWriter,
    out: BufferedStdout,
    /// Whether some constraint can be true, for `--verdict`.
    any_possible: bool,
}

impl SpecializeRun<'_> {
    /// Tells the writer of ads in which form the next source is, because the ads are written in this form by default.
    /// Does nothing if single expressions are written.
    fn begin_source(&mut self, form: FileFormat) -> Result<(), Failure> {
        match self.scope {
            SpecializeScope::WholeAd => self.documents.begin_file(&mut self.out, form),
            SpecializeScope::Expression(_) | SpecializeScope::Attribute(_) => Ok(()),
        }
    }

    /// Specializes an ad, or the selected part of the ad. Writes the result, or keeps it in `rows` for the end. `ad` is
    /// `None` if no ad is known.
    fn add_ad(&mut self, session: &mut Session, ad: Option<NamedAd>) -> Result<(), Failure> {
        let is_known = ad.is_some() || !self.command.define.is_empty();
        let mut ad = ad.unwrap_or_default();
        input::add_definitions(session, &mut ad.ad, &self.command.define)?;
        let (environment, frame) = self.partial_scope.environment(is_known.then_some(&ad.ad), self.target.as_ref());
        let options = SpecializeOptions { loose: self.command.loose, inline: self.command.inline };
        let context = &self.context;
        let residue = match &self.scope {
            SpecializeScope::WholeAd => {
                ad.ad = specialize_ad(&frame, &environment, context, options);
                return self.documents.write(session, &mut self.out, &ad);
            }
            SpecializeScope::Expression(expression) => specialize(expression, &frame, &environment, context, options),
            SpecializeScope::Attribute(name) => specialize_attribute(name, &frame, &environment, context, options),
        };
        let id = ad.id().to_owned();
        if self.command.verdict {
            self.any_possible |= residue.verdict != ConstraintVerdict::Never;
            let depends = residue.verdict == ConstraintVerdict::Depends;
            let unknowns = || unknowns(&residue.expression, &frame, &environment, context);
            let names = if depends { dependency_names(&unknowns()) } else { Vec::new() };
            self.rows.rows.push(vec![id.into(), residue.verdict.as_str().into(), names.into()]);
        } else if self.command.output.form.is_some() {
            self.rows.rows.push(vec![id.into(), residue.expression.to_string().into()]);
        } else if !session.options.quiet {
            let text = print(&residue.expression, Style::New);
            if self.command.each {
                write!(self.out, "{id}\t")?;
            }
            self.out.write_all(&text)?;
            writeln!(self.out)?;
        }
        Ok(())
    }
}
