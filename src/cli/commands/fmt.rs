//! `classad fmt`: the formatter for ads, which keeps their comments.

use std::io::{self, Write};

use clap::Args;
use classad::format::{self, FileFormat, FormattedText};
use similar::TextDiff;

use crate::cli::io::atomic_write::RewriteArgs;
use crate::cli::io::input;
use crate::cli::io::source::{SourceText, read_whole};
use crate::cli::render::output::out;
use crate::cli::session::Session;
use crate::cli::{Failure, Status};

const EXAMPLES: &str = "\
Examples:
  classad fmt samples/papers/thesis-figure-4-machine.ad
  classad fmt --check samples/*/*.ad
  classad fmt --write=.bak policy.ad

Exit status: 1 if --check or --diff found a file that would change; 2 if an ad does not parse: it is
left as it is.";

/// Format ads and keep their comments
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Fmt {
    /// Files of ads, bracketed or in the long form; standard input if there are none
    files: Vec<String>,
    /// Print only the names of the files that would change
    #[arg(long, conflicts_with_all = ["diff", "write"])]
    check: bool,
    /// Print what would change
    #[arg(short, long, conflicts_with = "write")]
    diff: bool,
    #[command(flatten)]
    rewrite: RewriteArgs,
    /// Break lines that are wider than N columns
    // 80 columns fit a terminal and each side of a code review. A constraint of more than three or four clauses
    // is wider, and reads better with one clause a line.
    #[arg(long, value_name = "N", default_value = "80", value_parser = width)]
    width: usize,
}

fn width(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(width @ 20..=1_000_000) => Ok(width),
        _ => Err("a width is a number from 20 on".to_owned()),
    }
}

impl Fmt {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        self.rewrite.check_files(&self.files)?;
        let sources = self.read_files(session)?;
        session.decide_dialect_by_forms(sources.iter().map(|text| (text.name.as_ref(), text.block.form)));
        let mut out = out();
        let mut changed = 0;
        for source in &sources {
            let layout = match format::format_ads(&source.block.text, source.block.form, session.dialect(), self.width)
            {
                Ok(layout) => layout,
                Err(problem) => {
                    // An excerpt of compressed bytes would show nothing useful.
                    if format::is_compressed(&source.block.text) {
                        session.error(&format!("{}: {}", source.name, problem.message));
                    } else {
                        session.report_problem(source, &problem)?;
                    }
                    continue;
                }
            };
            for problem in &layout.problems {
                session.report_problem(source, problem)?;
            }
            changed += usize::from(layout.text != source.block.text);
            if self.rewrite.write.is_some() {
                self.rewrite(session, source, &layout);
            } else {
                self.print(&mut out, source, &layout)?;
            }
        }
        Ok(Status::of(changed == 0 || !self.check && !self.diff))
    }

    /// Reads the files whole and unchanged, because formatting keeps comments and `--write` replaces files.
    fn read_files(&self, session: &mut Session) -> Result<Vec<SourceText>, Failure> {
        let mut sources = Vec::new();
        for path in &input::or_stdin(&self.files) {
            let name = if path == "-" { "standard input" } else { path };
            match read_whole(path) {
                Ok(bytes) => {
                    let form = session.options.from.map(FileFormat::from).or_else(|| format::detect(&bytes));
                    let form = form.unwrap_or_else(|| format::format_of_comments(&bytes));
                    sources.push(SourceText::from_file(name, bytes, form));
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
            (_, true) => write_diff(out, source, &layout.text),
            (false, false) => out.write_all(&layout.text),
            _ => Ok(()),
        }
    }

    /// Rewrites a file if its text changes. A file in which some ad does not parse stays as it is.
    fn rewrite(&self, session: &mut Session, source: &SourceText, layout: &FormattedText) {
        if !layout.is_valid() {
            session.note(&format!("{} is left as it is: not every ad of it parses", source.name));
        } else if layout.text != source.block.text {
            self.rewrite.replace(session, &source.name, &layout.text);
        }
    }
}

/// Prints the changes as a unified diff.
fn write_diff(out: &mut dyn Write, source: &SourceText, text: &[u8]) -> io::Result<()> {
    let lines = |text| <[u8]>::split_inclusive(text, |byte| *byte == b'\n').collect::<Vec<_>>();
    let (old, new) = (lines(&source.block.text), lines(text));
    let diff = TextDiff::configure().newline_terminated(true).diff_slices(&old, &new);
    for (number, hunk) in diff.unified_diff().iter_hunks().enumerate() {
        if number == 0 {
            writeln!(out, "--- {0}\n+++ {0}", source.name)?;
        }
        hunk.to_writer(&mut *out)?;
    }
    Ok(())
}
