//! `classad transform`: changes ads by flags and rules, in the order of the command line.

mod flags;
mod preview;

use clap::Args;
use classad::ad::{Ad, Expression};
use classad::format::{FileFormat, Problem};
use classad::syntax::Style;
use classad::transform::{AppliedChange, FaultScope, TransformFault};

use crate::cli::io::atomic_write::RewriteArgs;
use crate::cli::io::input::{self, NamedAd};
use crate::cli::io::source::{AdSource, SourceText};
use crate::cli::render::diagnostics;
use crate::cli::render::output::{AdWriter, DocumentWriter, OutputForm, out};
use crate::cli::session::Session;
use crate::cli::{Failure, Status};
use flags::{Pipeline, RuleOrigin, TransformFlags};
use preview::PreviewWriter;

const EXAMPLES: &str = "\
Examples:
  classad transform --default RequestDisk=1048576 --delete /^Debug/ samples/transform/jobs.long
  classad transform --rules samples/transform/site.rules samples/transform/jobs.long
  classad transform -n --rules samples/transform/site.rules samples/transform/jobs.long
  classad transform --where 'ProcId > 0' --rename '/^Debug(.*)/=Old\\1' samples/transform/jobs.long

Names: --copy, --rename and --delete take /REGEX/ for names (any case); \\1 in the new name is its first group.
Exit status: 0 it ran (with -n: something would change); 1 with -n, nothing would; 2 bad input; 3 a budget was exceeded.
-n -o json: an array of {version, id, source, ad, copy, changes: [{attribute, old, new, by: [{rule, file, line,
keyword} | {flag}]}]}, one object for each ad that would change; old or new is null where there is no attribute.";

/// Change ads: set, copy, rename and delete attributes, or apply HTCondor's transform rules
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct TransformCommand {
    /// Files of ads; standard input if there are none
    files: Vec<String>,
    #[command(flatten)]
    steps: TransformFlags,
    /// Change only the ads for which this expression is true; the other ads stay as they are
    #[arg(long = "where", value_name = "EXPR", allow_hyphen_values = true)]
    only: Option<String>,
    /// Print what would change, and which rule or flag would change it
    #[arg(short = 'n', long = "diff", conflicts_with = "write")]
    diff: bool,
    #[command(flatten)]
    rewrite: RewriteArgs,
    /// Expression whose value is the identity of an ad
    #[arg(long, value_name = "EXPR")]
    id: Option<String>,
    /// The form of the output; with -n, only json or jsonl
    #[arg(short, long, value_name = "FORM", conflicts_with = "write")]
    output: Option<OutputForm>,
}

impl TransformCommand {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        self.rewrite.check_files(&self.files)?;
        let mut sources = input::open_sources(session, &self.files)?;
        let rules = self.steps.read_rule_files()?;
        // Files of rules help to decide the dialect, like the ads.
        let forms = sources.iter().map(|source| (source.name.as_ref(), source.form));
        session.decide_dialect_by_forms(forms.chain(rules.iter().map(|rules| (rules.name.as_ref(), rules.block.form))));
        let only = input::parse_optional_expression(session, "--where", self.only.as_deref())?;
        let id = input::parse_optional_expression(session, "--id", self.id.as_deref())?;
        let mut pipeline = self.steps.build_pipeline(session, rules)?;
        pipeline.transform.condition = only;
        if self.rewrite.write.is_some() {
            return self.rewrite(session, &mut sources, &pipeline);
        }
        let (mut out, id) = (out(), id.as_ref());
        if self.diff {
            let mut preview = PreviewWriter::new(self.output, &pipeline, diagnostics::colors_stdout(&session.options))?;
            each_result(session, &mut sources, &pipeline, id, |session, result| {
                Ok(preview.write(&mut out, session.options.quiet, result)?)
            })?;
            preview.finish(&mut out)?;
            return Ok(Status::of(preview.has_changes));
        }
        let mut documents = DocumentWriter::new(self.output);
        for source in &mut sources {
            documents.begin_file(&mut out, source.form)?;
            each_result(session, [source], &pipeline, id, |session, result| {
                documents.write(session, &mut out, result.ad)
            })?;
        }
        documents.finish(&mut out)?;
        Ok(Status::Yes)
    }

    /// Rewrites the files in place. A file in which an ad did not parse or a rule could not be applied stays as it is.
    fn rewrite(&self, session: &mut Session, sources: &mut [AdSource], pipeline: &Pipeline) -> Result<Status, Failure> {
        for source in sources {
            let before = session.error_count();
            let mut bytes = Vec::new();
            let mut writer = AdWriter::new(None, source.form)?;
            let mut changed = false;
            each_result(session, [&mut *source], pipeline, None, |session, result| {
                changed |= !result.changes.is_empty() || result.copy.is_some();
                writer.write(session, &mut bytes, result.ad)
            })?;
            writer.finish(&mut bytes)?;
            if session.error_count() > before {
                session.note(&format!("{} is left as it is", source.name));
            } else if source.is_compressed() {
                // Keep the file, because the new text would be uncompressed.
                session.error(&format!("{} is compressed and left as it is", source.name));
            } else if changed {
                self.rewrite.replace(session, &source.name, &bytes);
            }
        }
        Ok(Status::Yes)
    }
}

/// An ad that the rules made of an original ad, with the position of the original in the input.
pub struct PipelineResult<'a> {
    /// The ad before the changes.
    before: &'a Ad,
    /// The ad after the changes, with the name of the original.
    ad: &'a NamedAd,
    changes: &'a [AppliedChange],
    /// 1-based number of the original ad in its source.
    number: usize,
    /// Text that contains the original ad.
    text: &'a SourceText,
    /// 1-based number of this ad among those that resulted from the original; `None` if it is the only one.
    copy: Option<usize>,
}

impl PipelineResult<'_> {
    /// Returns the style in which expressions are printed: `New` if the input file has bracketed ads, else `Long`.
    fn style(&self) -> Style {
        if self.text.block.form == FileFormat::Bracketed { Style::New } else { Style::Long }
    }
}

/// Applies the rules to each ad of the sources and passes each resulting ad to `visit`. Reports each fault of a rule.
fn each_result<'s>(
    session: &mut Session,
    sources: impl IntoIterator<Item = &'s mut AdSource>,
    pipeline: &Pipeline,
    id: Option<&Expression>,
    mut visit: impl FnMut(&mut Session, &PipelineResult<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let context = session.context();
    input::for_each_ad(session, sources, |session, text, entry| {
        let number = entry.number;
        let mut named = input::name_ad(session, text, entry, id);
        let before = named.ad.clone();
        let results = pipeline.transform.apply(&before, &context);
        let several = results.len() > 1;
        for (position, result) in results.iter().enumerate() {
            for fault in &result.faults {
                pipeline.report_fault(session, named.id(), fault)?;
            }
            named.ad = result.ad.clone();
            let copy = several.then_some(position + 1);
            let (ad, changes) = (&named, result.changes.as_slice());
            visit(session, &PipelineResult { before: &before, ad, changes, number, text, copy })?;
        }
        Ok(true)
    })
}

impl Pipeline {
    /// Reports what a rule or a flag could not do with the ad named `id`.
    fn report_fault(&self, session: &mut Session, id: &str, fault: &TransformFault) -> Result<(), Failure> {
        let what = fault.position.map_or_else(|| "--where".to_owned(), |position| self.describe(position));
        if let Some(halt) = &fault.halt {
            session.report_abort(halt, &format!("{id}: {what}"));
            return Ok(());
        }
        let consequence = match &fault.scope {
            FaultScope::Ad => "the ad is left as it is".to_owned(),
            FaultScope::Statement => "this statement is left out".to_owned(),
            FaultScope::Attribute(name) => format!("{name} is left as it is"),
        };
        let message = format!("{id}: {}; {consequence}", fault.message);
        if let Some(position) = fault.position
            && let RuleOrigin::File(file, _) = &self.origins[position.rule]
            && let Some(statement) = self.statement(position)
        {
            let problem = Problem::error_at(statement.range.clone(), 0, message);
            return session.report_problem(&self.sources[*file], &problem);
        }
        session.error(&format!("{what}: {message}"));
        Ok(())
    }
}
