//! `classad split`: writes ads into several files.

use std::io::Write;

use clap::Args;
use classad::ad::{Ad, Expression, Value};
use classad::eval::{Context, Environment, Evaluator};
use classad::format::{AdBatch, AdBatchWriter, AdDocumentWriter, AdEntry, FileFormat};
use classad::protocol::display_name;
use classad::syntax::{Style, print_value};

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::io::ad_map::map_ads;
use crate::cli::io::argument_text;
use crate::cli::io::input;
use crate::cli::io::new_files::NewFiles;
use crate::cli::io::part_plan::byte_count;
use crate::cli::io::unseen_names::{ReportUnseen, UnseenNames, first_names};
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::render::output::{OutputForm, out};
use crate::cli::session::Session;

const EXAMPLES: &str = "\
Examples:
  classad split --ads 3 --into \"$(mktemp -d)/jobs-{}.long\" samples/pool/jobs.long
  classad split --by Owner --into \"$(mktemp -d)/{}.long\" samples/pool/jobs.long
  condor_status -long | classad split --bytes 100M --into 'slots-{}.long'

The names of the written files are printed, each on a line. If a file exists already or cannot be written, the run stops
with status 2. A file appears when it is whole. Files finished before remain; their names are not printed.

With --by, {} is the value of the expression, without quotes. Characters such as `/` are written as `%` with two
hexadecimal digits, and so is the first character of a string that reads as another value: the string \"1\" is `%31`,
the number 1 is `1`. The result is cut if it has more than 200 bytes.

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
    /// The name of the value's file. `None` without `--by`.
    file: Option<String>,
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
        let expression = argument_text::parse_optional_expression(session, "--by", self.cut.by.as_deref())?;
        let names = UnseenNames::of_expressions(&expression);
        let task = SplitTask { expression, names, context: session.context() };
        let (mut texts, mut failures) = (AdBatchWriter::new(form), 0_u64);
        let mut files: NewFiles<SplitFile> = NewFiles::default();
        let overhead = overhead(form)?;
        map_ads(session, &mut sources, None, &|entry: AdEntry| task.entry(entry.ad), |session, mapped| {
            let SplitEntry { ad, name, file, has_exceeded_budget } = &mapped.output;
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
            let name = if let Some(name) = file {
                if name.len() > MAX_NAME_BYTES { files.short_name(name, SHORT_NAME_BYTES) } else { name.clone() }
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

/// Whether a string is the text of a value that is no string, such as `1`, `undefined` or `{ 2 }`.
fn is_text_of_other_value(text: &str) -> bool {
    const BEGINNINGS: [&str; 5] = ["{", "[", "real(", "absTime(", "relTime("];
    let is_real = |number: f64| print_value(&Value::Real(number), Style::New) == text.as_bytes();
    matches!(text, "undefined" | "error" | "true" | "false")
        || BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
        || text.parse().is_ok_and(|number: i64| number.to_string() == text)
        || text.parse().is_ok_and(is_real)
}

/// Returns the text of a value for the name of a file. Different values have different names.
fn file_name(value: &Value) -> String {
    let printed;
    let (text, mut is_escaped) = match value {
        Value::String(text) if text.as_bytes().is_empty() => return "%".to_owned(),
        Value::String(text) => (text.as_bytes(), str::from_utf8(text.as_bytes()).is_ok_and(is_text_of_other_value)),
        value => {
            printed = print_value(value, Style::New);
            (printed.as_slice(), false)
        }
    };
    let mut name = String::new();
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            let is_first_dot = character == '.' && name.is_empty();
            let is_of_other_value = std::mem::take(&mut is_escaped);
            if character.is_ascii_control() || matches!(character, '/' | '%') || is_first_dot || is_of_other_value {
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

impl SplitTask {
    fn entry(&self, ad: Ad) -> SplitEntry {
        let name = display_name(&ad, None, &self.context);
        let mut has_exceeded_budget = false;
        self.names.mark_present(|name| ad.get(name).is_some());
        let file = self.expression.as_ref().map(|expression| {
            let (environment, frame) = Environment::single(ad.clone());
            let value = Evaluator::new(&environment, &self.context).evaluate(expression, &frame);
            has_exceeded_budget = value.is_err();
            value.map_or_else(|_| "error".to_owned(), |value| file_name(&value))
        });
        SplitEntry { ad, name, file, has_exceeded_budget }
    }
}

#[cfg(test)]
mod tests {
    use classad::ad::Value;

    use super::file_name;

    #[test]
    fn names_of_files_are_single_components() {
        for (text, name) in [
            (&b"alice@cs.wisc.edu"[..], "alice@cs.wisc.edu"),
            (b"a/b", "a%2Fb"),
            (b"..", "%2E."),
            (b"", "%"),
            (b"5%", "5%25"),
            (b"a\nb\xff", "a%0Ab%FF"),
            ("\u{e9}t\u{e9}".as_bytes(), "\u{e9}t\u{e9}"),
        ] {
            assert_eq!(file_name(&Value::string(text)), name);
        }
    }

    #[test]
    fn a_string_and_another_value_of_its_text_have_different_names() {
        for (text, name) in [
            ("1", "%31"),
            ("-1", "%2D1"),
            ("1.0", "%31.0"),
            ("undefined", "%75ndefined"),
            ("error", "%65rror"),
            ("true", "%74rue"),
            ("{ 1 }", "%7B 1 }"),
            // These are no texts of other values.
            ("01", "01"),
            ("1.50", "1.50"),
            ("2026-01-31", "2026-01-31"),
            ("True", "True"),
        ] {
            assert_eq!(file_name(&Value::string(text.as_bytes())), name);
        }
        assert_eq!([Value::Integer(1), Value::Undefined].map(|value| file_name(&value)), ["1", "undefined"]);
    }
}
