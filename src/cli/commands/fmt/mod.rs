//! `classad fmt`: the formatter for ads, which keeps their comments.

mod long_stream;

use std::io::{self, Write};

use clap::Args;
use classad::format::{self, FileFormat, FormattedText};

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::io::atomic_write::{FileRewriter, RewriteArgs};
use crate::cli::io::input;
use crate::cli::io::source_text::SourceText;
use crate::cli::outcome::{Failure, Status};
use crate::cli::render::output::out;
use crate::cli::render::text_diff::write_diff;
use crate::cli::session::Session;
use long_stream::{LongStream, OpenedText, open_text};

const EXAMPLES: &str = "\
Examples:
  classad fmt samples/papers/thesis-figure-4-machine.ad
  classad fmt --check samples/*/*.ad
  classad fmt --write=.bak policy.ad

Exit status: 2 if a file cannot be formatted or, without --lenient, an ad does not parse; else 1 if --check or --diff
found a file that would change; else 0. An ad that does not parse is printed unchanged.";

const FILES_HELP: &str = "Files of ads, bracketed or in the long form; without files, read standard input";

/// Format files of ads; comments are kept
#[derive(Args)]
#[command(after_help = EXAMPLES, mut_arg("files", |arg| arg.help(FILES_HELP)))]
pub struct Fmt {
    #[command(flatten)]
    input: AdFilesArgs,
    /// Print only the names of the files that would change
    #[arg(long, conflicts_with_all = ["diff", "write"])]
    check: bool,
    /// Print what would change
    #[arg(short, long, conflicts_with = "write")]
    diff: bool,
    #[command(flatten)]
    rewrite: RewriteArgs,
    /// In bracketed ads, break expressions that are wider than N columns
    // 80 columns fit a terminal and each side of a code review. A constraint of more than three or four clauses
    // is wider, and reads better with one clause a line.
    #[arg(long, value_name = "N", default_value = "80", value_parser = width)]
    width: usize,
}

fn width(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(width @ 20..=1_000_000) => Ok(width),
        _ => Err("a width is a number from 20 to 1,000,000".to_owned()),
    }
}

/// A text to format.
enum FormatSource {
    Whole(SourceText),
    Stream(LongStream),
}

impl FormatSource {
    /// Returns the name and the form.
    fn name_and_form(&self) -> (&str, FileFormat) {
        match self {
            FormatSource::Whole(text) => (&text.name, text.block.form),
            FormatSource::Stream(stream) => (&stream.name, FileFormat::Long),
        }
    }
}

impl Fmt {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let paths = self.input.paths()?;
        let rewriter = self.rewrite.prepare(&paths)?;
        let sources = self.read_files(session, &paths)?;
        session.decide_dialect_by_forms(sources.iter().map(FormatSource::name_and_form));
        let mut out = out();
        let mut changed = 0;
        for source in sources {
            let has_changed = match source {
                FormatSource::Whole(text) => self.format_whole(session, rewriter.as_ref(), &text, &mut out)?,
                FormatSource::Stream(stream) => self.format_stream(session, rewriter.as_ref(), stream, &mut out)?,
            };
            changed += usize::from(has_changed);
        }
        Ok(Status::of(changed == 0 || !self.check && !self.diff))
    }

    /// Formats a text as a whole. Returns whether the text changes.
    fn format_whole(
        &self,
        session: &mut Session,
        rewriter: Option<&FileRewriter>,
        source: &SourceText,
        out: &mut dyn Write,
    ) -> Result<bool, Failure> {
        let layout = match format::format_ads(&source.block.text, source.block.form, session.dialect(), self.width) {
            Ok(layout) => layout,
            Err(problem) => {
                // An excerpt of compressed bytes would show nothing useful.
                if format::is_compressed(&source.block.text) {
                    session.error(&format!("{}: {}", source.name, problem.message));
                } else {
                    session.report_problem(source, &problem)?;
                }
                return Ok(false);
            }
        };
        for problem in &layout.problems {
            session.report_problem(source, problem)?;
        }
        if let Some(rewriter) = rewriter {
            let has_changed = layout.text != source.block.text;
            rewrite(session, rewriter, &source.name, layout.is_valid(), has_changed.then_some(&layout.text));
        } else {
            self.print(out, source, &layout)?;
        }
        Ok(layout.text != source.block.text)
    }

    /// Formats a stream. Returns whether the text changes, with `--check`.
    fn format_stream(
        &self,
        session: &mut Session,
        rewriter: Option<&FileRewriter>,
        stream: LongStream,
        out: &mut dyn Write,
    ) -> Result<bool, Failure> {
        let name = stream.name.clone();
        if self.check {
            let formatted = stream.format(session, true, &mut |_| Ok(()))?;
            let has_changed = formatted.is_some_and(|formatted| formatted.has_changed);
            if has_changed {
                writeln!(out, "{name}")?;
            }
            return Ok(has_changed);
        }
        let Some(rewriter) = rewriter else {
            stream.format(session, false, &mut |piece| out.write_all(piece))?;
            return Ok(false);
        };
        let (errors, mut text) = (session.error_count(), Vec::new());
        let formatted = stream.format(session, true, &mut |piece| text.write_all(piece))?;
        if let Some(formatted) = formatted {
            // A file that could not be read to its end stays as it is. The error has been reported.
            let is_whole = !formatted.is_valid || session.error_count() == errors;
            let text = Some(&text).filter(|_| formatted.has_changed && is_whole);
            rewrite(session, rewriter, &name, formatted.is_valid, text);
        }
        Ok(false)
    }

    /// Opens the files. Those that cannot be formatted block by block are read whole and unchanged, because formatting
    /// keeps comments and `--write` replaces files.
    fn read_files(&self, session: &mut Session, paths: &[String]) -> Result<Vec<FormatSource>, Failure> {
        // The differences of a text are found in the whole text. With `--fail-fast`, nothing of a bad text is printed.
        let may_stream = !self.diff && !session.options.fail_fast;
        let given_form = session.options.from;
        let mut sources = Vec::new();
        for path in &input::or_stdin(paths) {
            let name = if path == "-" { "standard input" } else { path };
            match open_text(path, name, given_form, may_stream) {
                Ok(OpenedText::Stream(stream)) => sources.push(FormatSource::Stream(stream)),
                Ok(OpenedText::Whole(bytes)) => {
                    let form = given_form.or_else(|| format::detect(&bytes));
                    let form = form.unwrap_or_else(|| format::format_of_comments(&bytes));
                    sources.push(FormatSource::Whole(SourceText::from_file(name, bytes, form)));
                }
                Err(error) => input::report_unreadable(session, name, &error)?,
            }
        }
        Ok(sources)
    }

    /// Prints the formatted text, its diff or, with `--check`, the name of a file that would change.
    fn print(&self, out: &mut dyn Write, source: &SourceText, layout: &FormattedText) -> io::Result<()> {
        match (self.check, self.diff) {
            (true, _) if layout.text != source.block.text => writeln!(out, "{}", source.name),
            (_, true) => write_diff(out, &source.name, &source.block.text, &layout.text),
            (false, false) => out.write_all(&layout.text),
            _ => Ok(()),
        }
    }
}

/// Rewrites a file if its text changes. `text` is the new text, `None` if it is that of before. A file in which some
/// ad does not parse stays as it is.
fn rewrite(session: &mut Session, rewriter: &FileRewriter, name: &str, is_valid: bool, text: Option<&Vec<u8>>) {
    if !is_valid {
        session.note(&format!("{name} is left as it is: not every ad in it parses"));
    } else if let Some(text) = text {
        rewriter.replace(session, name, text);
    }
}

#[cfg(test)]
mod tests {
    use super::width;

    #[test]
    fn a_width_has_bounds() {
        for (text, expected) in [
            ("19", None),
            ("20", Some(20)),
            ("80", Some(80)),
            ("1000000", Some(1_000_000)),
            ("1000001", None),
            ("-20", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(width(text).ok(), expected, "{text}");
        }
    }
}
