//! `classad transform`: changes ads by flags and rules, in the order of the command line.

mod flags;
mod preview;
mod transform_task;

use std::io::Write;

use clap::Args;
use classad::ad::Expression;
use classad::format::{AdDocumentWriter, FileFormat, Problem};
use classad::syntax::Style;
use classad::text::{counted, with_commas};
use classad::transform::{FaultScope, TransformFault};

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::io::argument_text;
use crate::cli::io::atomic_write::{FileRewriter, RewriteArgs};
use crate::cli::io::block_pipeline::for_each_block;
use crate::cli::io::input;
use crate::cli::io::source::AdSource;
use crate::cli::io::whole_file::read_whole;
use crate::cli::outcome::{Failure, Status};
use crate::cli::render::diagnostics;
use crate::cli::render::output::{DocumentWriter, OutputForm, out};
use crate::cli::render::rows::tsv_cell;
use crate::cli::session::Session;
use flags::{Pipeline, RuleOrigin, TransformFlags};
use preview::{PreviewPlace, PreviewWriter};
use transform_task::{ResultOutput, TransformEvent, TransformTask};

const EXAMPLES: &str = "\
Examples:
  classad transform --default RequestDisk=1048576 --delete /^Debug/ samples/transform/jobs.long
  classad transform --rules samples/transform/site.rules samples/transform/jobs.long
  classad transform -n --rules samples/transform/site.rules samples/transform/jobs.long
  classad transform --constraint 'ProcId > 0' --rename '/^Debug(.*)/=Old\\1' \\
      samples/transform/jobs.long

With -w, a file in which an ad changes loses its layout and its comments. --copy, --rename and --delete also take
/REGEX/, which ignores case. \\1 in the new name is the first group of the match.

Exit status: 0 after a run without errors; 1 with -n if nothing would change; 2 for bad input; 3 if a limit was
exceeded.

`classad help schema transform` describes the output of -n -o json.";

/// Change ads: set, copy, rename or delete attributes, or apply HTCondor's transform rules
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct TransformCommand {
    #[command(flatten)]
    input: AdFilesArgs,
    #[command(flatten)]
    steps: TransformFlags,
    /// Apply this route of the configuration, with the transforms before and after it, to the jobs that satisfy its
    /// requirements
    #[arg(long, value_name = "ROUTE", requires = "config")]
    route: Option<String>,
    /// Print the rules in HTCondor's transform language instead of applying them
    #[arg(long, conflicts_with_all = ["write", "diff", "files", "only"])]
    print_rules: bool,
    /// Change only the ads for which this expression is true
    #[arg(long = "constraint", alias = "where", value_name = "EXPR", allow_hyphen_values = true)]
    only: Option<String>,
    /// Print what would change, and which rule or flag would change it
    #[arg(short = 'n', long = "diff", visible_alias = "dry-run", conflicts_with = "write")]
    diff: bool,
    #[command(flatten)]
    rewrite: RewriteArgs,
    /// Expression for the names of ads
    #[arg(long, value_name = "EXPR")]
    id: Option<String>,
    /// Format of the output; with -n, only json or jsonl
    #[arg(short, long, value_name = "FORM", conflicts_with = "write")]
    output: Option<OutputForm>,
}

impl TransformCommand {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let files = self.input.paths()?;
        let rewriter = self.rewrite.prepare(&files)?;
        let mut sources = if self.print_rules { Vec::new() } else { input::open_sources(session, &files)? };
        let rules = self.steps.read_rule_files()?;
        let configurations = self.steps.read_configurations(session)?;
        // Files of rules help to decide the dialect, like the ads.
        let forms = sources.iter().map(|source| (source.name.as_ref(), source.form));
        let texts = rules.iter().chain(configurations.iter().map(|loaded| &loaded.text));
        session.decide_dialect_by_forms(forms.chain(texts.map(|rules| (rules.name.as_ref(), rules.block.form))));
        input::decide_time(session, &sources);
        let only = argument_text::parse_optional_expression(session, "--constraint", self.only.as_deref())?;
        let id = argument_text::parse_optional_expression(session, "--id", self.id.as_deref())?;
        let route = self.route.as_deref().map(|route| (route, !self.print_rules));
        let mut pipeline = self.steps.build_pipeline(session, rules, configurations, route)?;
        pipeline.transform.allows_environment = session.options.allow_env;
        if self.print_rules {
            for rule in &pipeline.transform.rules {
                writeln!(out(), "{rule}")?;
            }
            return Ok(Status::Yes);
        }
        let conditions = pipeline.transform.condition.take().into_iter().chain(only);
        pipeline.transform.condition = conditions.reduce(Expression::and);
        if let Some(rewriter) = &rewriter {
            return Self::rewrite(session, rewriter, &mut sources, &pipeline);
        }
        let (mut out, id) = (out(), id.as_ref());
        if self.diff {
            let mut preview = PreviewWriter::new(self.output, &pipeline, diagnostics::colors_stdout(&session.options))?;
            for source in &mut sources {
                let sink = ResultSink::Preview(&mut preview);
                write_results(session, source, (&pipeline, id), sink, false, &mut out)?;
            }
            preview.finish(&mut out)?;
            let ads: usize = sources.iter().map(|source| source.ads_read).sum();
            session.note(&format!("{} of {} would change", with_commas(preview.changed), counted(ads, "ad")));
            return Ok(Status::of(preview.changed > 0));
        }
        let mut documents = DocumentWriter::new(self.output);
        for source in &mut sources {
            documents.begin_file(&mut out, source.form)?;
            let sink = match documents.document() {
                _ if session.options.quiet => ResultSink::Nothing,
                Some(document) => ResultSink::Document(document),
                None => ResultSink::Names,
            };
            write_results(session, source, (&pipeline, id), sink, false, &mut out)?;
        }
        documents.finish(&mut out)?;
        Ok(Status::Yes)
    }

    /// Rewrites the files in place. A file in which an ad did not parse or a rule could not be applied stays as it is.
    fn rewrite(
        session: &mut Session,
        rewriter: &FileRewriter,
        sources: &mut [AdSource],
        pipeline: &Pipeline,
    ) -> Result<Status, Failure> {
        for source in sources {
            let before = session.error_count();
            let mut bytes = Vec::new();
            let mut document = AdDocumentWriter::new(source.form);
            let sink = ResultSink::Document(&mut document);
            let changed = write_results(session, source, (pipeline, None), sink, true, &mut bytes)?;
            document.finish(&mut bytes)?;
            if session.error_count() > before {
                session.note(&format!("{} is left as it is", source.name));
            } else if source.is_compressed() {
                // Keep the file, because the new text would be uncompressed.
                session.error(&format!("{} is compressed and left as it is", source.name));
            } else if source.is_rewritten() {
                session.error(&format!("{} has something around its ads and is left as it is", source.name));
            } else if changed {
                if has_comments(source) {
                    session.note(&format!("{}: its comments are dropped", source.name));
                }
                rewriter.replace(session, &source.name, &bytes);
            }
        }
        Ok(Status::Yes)
    }
}

/// Whether a file in the long form or in brackets has lines that are comments. A pipe cannot be read again.
fn has_comments(source: &AdSource) -> bool {
    if !source.is_file() {
        return false;
    }
    let text = read_whole(source.path()).unwrap_or_default();
    match source.form {
        FileFormat::Long => text.split(|byte| *byte == b'\n').any(|line| line.trim_ascii_start().starts_with(b"#")),
        FileFormat::Bracketed => has_comment_between_strings(&text),
        _ => false,
    }
}

/// Whether a text has `//` or `/*` outside of strings.
fn has_comment_between_strings(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'\'' | b'/')) {
        let (sign, mut behind) = (rest[at], &rest[at + 1..]);
        if sign == b'/' && matches!(behind.first(), Some(b'/' | b'*')) {
            return true;
        }
        while let Some(end) = behind.iter().position(|byte| *byte == sign || *byte == b'\\').filter(|_| sign != b'/') {
            let is_escape = behind[end] == b'\\';
            behind = behind.get(end + 1 + usize::from(is_escape)..).unwrap_or_default();
            if !is_escape {
                break;
            }
        }
        rest = behind;
    }
    false
}

/// What is done with the resulting ads.
enum ResultSink<'s, 'p> {
    /// Nothing, as with `--quiet`.
    Nothing,
    /// They are written to a document.
    Document(&'s mut AdDocumentWriter),
    /// Their names are listed.
    Names,
    /// Their changes are listed.
    Preview(&'s mut PreviewWriter<'p>),
}

impl ResultSink<'_, '_> {
    fn output(&self) -> ResultOutput {
        match self {
            ResultSink::Nothing => ResultOutput::Nothing,
            ResultSink::Document(document) => ResultOutput::Ads(document.form()),
            ResultSink::Names => ResultOutput::Names,
            ResultSink::Preview(_) => ResultOutput::Changes,
        }
    }
}

/// Applies the rules to each ad of a source and passes the resulting ads to `sink`. Reports each fault of a rule.
/// Returns whether any ad changed. Unless the file is rewritten, the result may be true although nothing changed.
fn write_results(
    session: &mut Session,
    source: &mut AdSource,
    (pipeline, id): (&Pipeline, Option<&Expression>),
    mut sink: ResultSink<'_, '_>,
    is_in_place: bool,
    out: &mut dyn Write,
) -> Result<bool, Failure> {
    let task = TransformTask {
        pipeline,
        id,
        context: session.context(),
        output: sink.output(),
        is_strict: session.options.strict,
        names_all: session.options.seed.is_some(),
        is_in_place,
    };
    // Expressions are printed in the style of the file.
    let style = if source.form == FileFormat::Bracketed { Style::New } else { Style::Long };
    let mut has_changes = false;
    for_each_block(session, [source], &task, &mut |session, source, text, mut block| {
        let before = source.ads_read;
        let end = block.ads.text().len();
        for (at, event) in block.events {
            if let ResultSink::Document(document) = &mut sink {
                document.write_batch(out, &mut block.ads, at)?;
            }
            match event {
                TransformEvent::Problem(problem) => session.report_problem(text, &problem.after_ads(before))?,
                TransformEvent::Fault(ad, fault) => {
                    pipeline.report_fault(session, &ad.name(&text.name, before), &fault)?;
                }
                TransformEvent::LossyValues(ad, changes) => {
                    session.report_lossy_values(&ad.name(&text.name, before), &changes);
                }
                TransformEvent::Name(ad) => writeln!(out, "{}", tsv_cell(&ad.name(&text.name, before)))?,
                TransformEvent::Changes(result) => {
                    if let ResultSink::Preview(preview) = &mut sink {
                        let place = PreviewPlace { source: &text.name, ads_before: before, style };
                        preview.write(out, session.options.quiet, &result, place)?;
                    }
                }
            }
        }
        if let ResultSink::Document(document) = &mut sink {
            document.write_batch(out, &mut block.ads, end)?;
        }
        has_changes |= block.has_changes;
        source.ads_read += block.last;
        Ok(true)
    })?;
    Ok(has_changes)
}

impl Pipeline {
    /// Reports what a rule or a flag could not do with the ad named `id`.
    fn report_fault(&self, session: &mut Session, id: &str, fault: &TransformFault) -> Result<(), Failure> {
        let what = fault.position.map_or_else(|| "--constraint".to_owned(), |position| self.describe(position));
        if let Some(halt) = &fault.halt {
            session.report_abort(halt, &format!("{id}: {what}"));
            return Ok(());
        }
        let consequence = match &fault.scope {
            FaultScope::Ad => "the ad is left as it is".to_owned(),
            FaultScope::Statement => "this statement is left out".to_owned(),
            FaultScope::Attribute(name) => format!("{name} is left as it is"),
            FaultScope::Macro | FaultScope::Environment => "it expands to nothing".to_owned(),
        };
        let message = format!("{id}: {}; {consequence}", fault.message);
        if let Some(position) = fault.position
            && let RuleOrigin::File(file, _) = &self.origins[position.rule]
            && let Some(statement) = self.statement(position)
        {
            let problem = Problem::error_at(statement.range.clone(), 0, message);
            let problem = match fault.scope {
                FaultScope::Environment => problem.with_help("--allow-env lets it read the environment").as_warning(),
                _ => problem,
            };
            return session.report_problem(&self.sources[*file], &problem);
        }
        session.error(&format!("{what}: {message}"));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::has_comment_between_strings;

    #[test]
    fn comments_are_outside_of_strings() {
        for (text, has_comment) in [
            ("", false),
            ("[ a = 1 ]", false),
            ("[ a = 1 / 2 ]", false),
            ("/", false),
            ("[ a = 1 ] // b", true),
            ("[ a = /* b */ 1 ]", true),
            ("[ a = 4 / 2 // b", true),
            ("[ a = \"//\" ]", false),
            ("[ a = \"//\" ] // b", true),
            ("[ '/*' = 1 ]", false),
            ("[ a = \"'\" ] // '", true),
            ("[ a = \"\\\"//\" ]", false),
            ("[ a = \"\\\\\" ] // b", true),
            ("[ a = \"\\\\\\\"//\" ]", false),
            ("[ a = \"x\\", false),
        ] {
            assert_eq!(has_comment_between_strings(text.as_bytes()), has_comment, "{text}");
        }
    }
}
