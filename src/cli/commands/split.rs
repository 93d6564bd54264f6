//! `classad split`: writes ads into several files.

use std::io::Write;

use clap::Args;
use classad::ad::{Ad, Expression, Value};
use classad::eval::{Context, Environment, Evaluator};
use classad::format::{AdBatch, AdBatchWriter, AdDocumentWriter, AdEntry, FileFormat};
use classad::protocol::display_name;
use classad::syntax::{Style, print_value};

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::io::ad_map::{AdTask, map_ads};
use crate::cli::io::input;
use crate::cli::io::new_files::NewFiles;
use crate::cli::io::part_plan::byte_count;
use crate::cli::io::unseen_names::{UnseenNames, first_names};
use crate::cli::render::output::{OutputForm, out};
use crate::cli::session::Session;
use crate::cli::{Failure, Status, refuse};

const EXAMPLES: &str = "\
Examples:
  classad split --ads 3 --into \"$(mktemp -d)/jobs-{}.long\" samples/pool/jobs.long
  classad split --by Owner --into \"$(mktemp -d)/{}.long\" samples/pool/jobs.long
  condor_status -long | classad split --bytes 100M --into 'slots-{}.long'

The names of the written files are printed, each on a line. If a file exists already, the run stops with status 2.
Files written before it remain; their names are not printed.

With --by, {} is the value of the expression, without quotes. Characters such as `/` are written as `%` with two
hexadecimal digits. The result is cut if it has more than 200 bytes.

Exit status: 0 if the input has ads, 1 if it has none, 2 for bad input.";

/// Write ads to several files: by number, by size, or by the value of an expression
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct SplitCommand {
    #[command(flatten)]
    input: AdFilesArgs,
    #[command(flatten)]
    cut: CutArgs,
    /// Names of the written files: {} becomes the number of the file, from 0001, or the value of --by. Folders must exist
    #[arg(long, value_name = "NAME")]
    into: String,
    /// Format of the output
    #[arg(short, long, value_name = "FORM")]
    output: Option<OutputForm>,
}

/// Where a file ends.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct CutArgs {
    /// Maximum number of ads in each file
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    ads: Option<u64>,
    /// Maximum number of bytes of each written file; K, M, G and T are powers of 1024. A longer ad gets its own file
    #[arg(long, value_name = "BYTES", value_parser = byte_count)]
    bytes: Option<u64>,
    /// Write a file for each value of this expression
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    by: Option<String>,
}

/// Evaluates the expression of `--by` in each ad.
struct SplitTask {
    expression: Option<Expression>,
    names: UnseenNames,
    context: Context,
}

/// The result of [`SplitTask`].
struct SplitEntry {
    ad: Ad,
    name: Option<String>,
    /// The value as a text. `None` without `--by`.
    key: Option<Vec<u8>>,
    has_exceeded_budget: bool,
}

/// One of the written files.
struct SplitFile {
    document: AdDocumentWriter,
    ads: u64,
    bytes: u64,
}

impl SplitCommand {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let Some((before, after)) = self.into.split_once("{}").filter(|(_, after)| !after.contains("{}")) else {
            return refuse("--into needs {} exactly once, as in 'part-{}.long'");
        };
        let mut sources = input::open_decided(session, &self.input.paths()?)?;
        let own_form = sources.first().map_or(FileFormat::Bracketed, |source| source.form);
        let form = self.output.and_then(OutputForm::ad_form).unwrap_or(own_form);
        let expression = input::parse_optional_expression(session, "--by", self.cut.by.as_deref())?;
        let names = UnseenNames::of_expressions(&expression);
        let task = SplitTask { expression, names, context: session.context() };
        let (mut texts, mut failures) = (AdBatchWriter::new(form), 0_u64);
        let mut files: NewFiles<SplitFile> = NewFiles::default();
        let overhead = overhead(form)?;
        map_ads(session, &mut sources, None, &task, |session, mapped| {
            let SplitEntry { ad, name, key, has_exceeded_budget } = &mapped.output;
            failures += u64::from(*has_exceeded_budget);
            let mut batch = AdBatch::default();
            texts.push(&mut batch, &ad.printed(task.context.dialect), |changes| {
                changes.is_empty()
                    || session.report_lossy_values(&name.clone().unwrap_or_else(|| mapped.location()), changes)
            });
            let length = batch.text().len();
            if length == 0 {
                return Ok(true); // the ad is left out, which was reported
            }
            let size = length as u64 + SEPARATOR_BYTES;
            let number = files.len();
            let name = if let Some(key) = key {
                let name = file_name(key);
                if name.len() > MAX_NAME_BYTES { files.short_name(key, &name, SHORT_NAME_BYTES) } else { name }
            } else {
                let is_full = files.last().is_none_or(|file| match self.cut.bytes {
                    Some(most) => file.bytes + size + overhead > most,
                    None => Some(file.ads) == self.cut.ads,
                });
                if is_full && number > 0 {
                    files.finish_last(|file, out| file.document.finish(out))?;
                }
                format!("{:04}", number + usize::from(is_full))
            };
            let new = || SplitFile { document: AdDocumentWriter::new(form), ads: 0, bytes: 0 };
            files.write(&format!("{before}{name}{after}"), new, |file, out| {
                file.ads += 1;
                file.bytes += size;
                file.document.write_batch(out, &mut batch, length)
            })?;
            Ok(true)
        })?;
        files.finish(|file, out| file.document.finish(out))?;
        session.report_budget_failures(failures);
        if files.len() > 0 {
            task.names.report_among(session, &first_names(session, &sources).unwrap_or_default());
        }
        let mut out = out();
        files.paths().try_for_each(|path| writeln!(out, "{path}"))?;
        Ok(Status::of(files.len() > 0))
    }
}

/// Maximum number of bytes that a document has between two ads.
const SEPARATOR_BYTES: u64 = 2;

/// Maximum number of bytes of a value in the name of a file. Most file systems allow 255 for the whole name.
const MAX_NAME_BYTES: usize = 200;

/// Number of bytes that are kept of longer values.
const SHORT_NAME_BYTES: usize = 180;

/// Returns the maximum number of bytes of a document before its first ad and after its last.
fn overhead(form: FileFormat) -> Result<u64, Failure> {
    let mut empty = Vec::new();
    AdDocumentWriter::new(form).finish(&mut empty)?;
    Ok(empty.len() as u64 + SEPARATOR_BYTES)
}

/// Returns a character or byte as `%` and two hexadecimal digits.
fn escaped(code: u32) -> impl Iterator<Item = char> {
    let digit = move |shift: u32| char::from_digit(code >> shift & 0xf, 16).unwrap_or('0').to_ascii_uppercase();
    ['%', digit(4), digit(0)].into_iter()
}

/// Returns the text of a value for the name of a file. Different texts have different names.
fn file_name(value: &[u8]) -> String {
    if value.is_empty() {
        return "%".to_owned();
    }
    let mut name = String::new();
    for chunk in value.utf8_chunks() {
        for character in chunk.valid().chars() {
            let is_first_dot = character == '.' && name.is_empty();
            if character.is_ascii_control() || matches!(character, '/' | '%') || is_first_dot {
                name.extend(escaped(u32::from(character)));
            } else {
                name.push(character);
            }
        }
        for byte in chunk.invalid() {
            name.extend(escaped(u32::from(*byte)));
        }
    }
    name
}

impl AdTask for SplitTask {
    type State = ();
    type Output = SplitEntry;

    fn new_state(&self) {}

    fn run(&self, (): &mut (), AdEntry { ad, .. }: AdEntry) -> SplitEntry {
        let name = display_name(&ad, None, &self.context);
        let mut has_exceeded_budget = false;
        self.names.mark_present(|name| ad.get(name).is_some());
        let key = self.expression.as_ref().map(|expression| {
            let (environment, frame) = Environment::single(ad.clone());
            match Evaluator::new(&environment, &self.context).evaluate(expression, &frame) {
                Ok(Value::String(text)) => text.as_bytes().to_vec(),
                Ok(value) => print_value(&value, Style::New),
                Err(_) => {
                    has_exceeded_budget = true;
                    b"error".to_vec()
                }
            }
        });
        SplitEntry { ad, name, key, has_exceeded_budget }
    }
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn names_of_files_are_single_components() {
        for (value, name) in [
            (&b"alice@cs.wisc.edu"[..], "alice@cs.wisc.edu"),
            (b"a/b", "a%2Fb"),
            (b"..", "%2E."),
            (b"", "%"),
            (b"5%", "5%25"),
            (b"a\nb\xff", "a%0Ab%FF"),
            ("\u{e9}t\u{e9}".as_bytes(), "\u{e9}t\u{e9}"),
        ] {
            assert_eq!(file_name(value), name);
        }
    }
}
