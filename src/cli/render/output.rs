//! Standard output: its buffer, the forms of output, and writers of ads and counters.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use clap::ValueEnum;
use classad::format::{self, FileFormat};
use serde::Serialize;
use serde_json::json;

use super::progress;
use super::terminal_text::TerminalFilter;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::standard_streams::check_stdout;
use crate::cli::outcome::Failure;
use crate::cli::session::Session;

use crate::cli::render::rows::tsv_cell;

/// A form of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputForm {
    /// A table with aligned columns
    Table,
    /// Trees of gangs, indented
    Tree,
    /// Ads in HTCondor's long form
    Long,
    /// Bracketed ads
    New,
    /// One JSON document
    Json,
    /// A JSON object on each line
    Jsonl,
    /// HTCondor's XML
    Xml,
    /// A YAML document for each ad
    Yaml,
    /// Comma-separated values
    Csv,
    /// Tab-separated values
    Tsv,
    /// A Markdown table
    Markdown,
    /// The first column of the table, or the names of the ads, one on each line
    Names,
    /// Apache Parquet: columns with types, for other programs
    Parquet,
    /// A picture in SVG
    Svg,
}

/// Size of the buffer of standard output, in bytes.
const BUFFER_BYTES: usize = 1 << 16;

/// The buffer of standard output.
static WRITTEN: LazyLock<Mutex<BufWriter<Stdout>>> =
    LazyLock::new(|| Mutex::new(BufWriter::with_capacity(BUFFER_BYTES, io::stdout())));

/// Whether standard output is a terminal, which would obey control characters.
static IS_TERMINAL: LazyLock<bool> = LazyLock::new(|| io::stdout().is_terminal());

/// The filter of what a terminal gets.
static FILTER: LazyLock<Mutex<TerminalFilter>> = LazyLock::new(Mutex::default);

/// Whether nothing is written to standard output, as with `--quiet`.
static IS_SILENT: AtomicBool = AtomicBool::new(false);

/// Whether something was to be written to standard output, but standard output is closed.
static IS_LOST: AtomicBool = AtomicBool::new(false);

/// Sets whether all that is written to standard output is dropped.
pub fn silence_stdout(is_silent: bool) {
    IS_SILENT.store(is_silent, Ordering::Relaxed);
}

fn stdout_buffer() -> MutexGuard<'static, BufWriter<Stdout>> {
    WRITTEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Flushes standard output. Called before waiting for more input, as the program that writes the input may wait for the
/// output.
pub fn flush_stdout() {
    // On an error the text stays in the buffer, and the last flush of the run reports the error.
    let _ = stdout_buffer().flush();
}

/// Ends standard output: writes what is left in the buffer.
///
/// # Errors
///
/// Something that was printed could not be written.
pub fn finish_stdout() -> io::Result<()> {
    let mut safe = Vec::new();
    FILTER.lock().unwrap_or_else(PoisonError::into_inner).finish(&mut safe);
    let mut buffer = stdout_buffer();
    buffer.write_all(&safe)?;
    buffer.flush()?;
    if IS_LOST.load(Ordering::Relaxed) { check_stdout() } else { Ok(()) }
}

/// Writes a text to standard error. If that is a terminal, hidden characters are spelt out.
pub fn print_to_stderr(text: &[u8]) {
    let mut err = io::stderr().lock();
    let mut safe = Vec::new();
    if err.is_terminal() {
        let mut filter = TerminalFilter::default();
        filter.push(text, &mut safe);
        filter.finish(&mut safe);
    }
    // Ignore errors: if standard error is closed, they cannot be reported anyway.
    let _ = err.write_all(if safe.is_empty() { text } else { &safe });
}

/// Leaks a large value on purpose. The process is about to exit, and dropping all parts of the value would take as long
/// as building it.
pub fn leak_on_exit<T>(it: T) {
    std::mem::forget(it);
}

/// A handle to the shared, buffered standard output. Dropping the handle flushes the buffer. With `--quiet`, what is
/// written is discarded.
pub struct BufferedStdout(());

/// Returns a handle to the shared, buffered standard output.
pub fn out() -> BufferedStdout {
    BufferedStdout(())
}

impl Write for BufferedStdout {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        if IS_SILENT.load(Ordering::Relaxed) || text.is_empty() {
            return Ok(text.len());
        }
        check_stdout().inspect_err(|_| IS_LOST.store(true, Ordering::Relaxed))?;
        progress::end_for_results();
        if !*IS_TERMINAL {
            return stdout_buffer().write(text);
        }
        let mut safe = Vec::with_capacity(text.len());
        FILTER.lock().unwrap_or_else(PoisonError::into_inner).push(text, &mut safe);
        stdout_buffer().write_all(&safe).map(|()| text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        stdout_buffer().flush()
    }
}

impl Drop for BufferedStdout {
    /// Flushes, so that output before an error is not lost.
    fn drop(&mut self) {
        flush_stdout();
    }
}

impl OutputForm {
    /// Whether each row is a line of cells.
    pub fn has_lines_of_cells(self) -> bool {
        matches!(self, OutputForm::Csv | OutputForm::Tsv | OutputForm::Markdown)
    }

    /// Returns the file format of a form for whole ads. `None` for the forms that are rows or trees.
    pub fn ad_form(self) -> Option<FileFormat> {
        match self {
            OutputForm::Long => Some(FileFormat::Long),
            OutputForm::New => Some(FileFormat::Bracketed),
            OutputForm::Json => Some(FileFormat::Json),
            OutputForm::Jsonl => Some(FileFormat::JsonLines),
            OutputForm::Xml => Some(FileFormat::Xml),
            OutputForm::Yaml => Some(FileFormat::Yaml),
            OutputForm::Table
            | OutputForm::Tree
            | OutputForm::Names
            | OutputForm::Csv
            | OutputForm::Tsv
            | OutputForm::Markdown
            | OutputForm::Parquet
            | OutputForm::Svg => None,
        }
    }
}

/// Writes ads one after the other, as one document or only their names.
pub struct AdWriter {
    document: Option<format::AdDocumentWriter>,
    /// Whether private attributes are written, too.
    keeps_private: bool,
}

impl AdWriter {
    /// Makes a writer of a document in this form.
    pub fn with_form(form: FileFormat) -> Self {
        AdWriter { document: Some(format::AdDocumentWriter::new(form)), keeps_private: false }
    }

    /// Makes the writer write private attributes, too: those of ads that are input of another run, or that the user names.
    pub fn keeping_private(self) -> Self {
        AdWriter { keeps_private: true, ..self }
    }

    /// Makes a writer in the form `form`, or in the form of the input if `form` is `None`.
    ///
    /// # Errors
    ///
    /// The form is for rows or trees, not for whole ads.
    pub fn new(form: Option<OutputForm>, input: FileFormat) -> Result<Self, Failure> {
        let form = match form {
            None => Some(input),
            Some(OutputForm::Names) => None,
            Some(form) => {
                let message = "whole ads can be printed as long, new, json, jsonl, xml, yaml or names";
                Some(form.ad_form().ok_or_else(|| Failure::refused(message))?)
            }
        };
        Ok(AdWriter { document: form.map(format::AdDocumentWriter::new), keeps_private: false })
    }

    /// Returns the document that is written. `None` if only names are written.
    pub fn document(&mut self) -> Option<&mut format::AdDocumentWriter> {
        self.document.as_mut()
    }

    pub fn write(&mut self, session: &mut Session, out: &mut dyn Write, ad: &NamedAd) -> Result<(), Failure> {
        match &mut self.document {
            Some(document) => {
                let printed = if self.keeps_private { Cow::Borrowed(&ad.ad) } else { ad.ad.printed(session.dialect()) };
                document.write(out, &printed, |changes| session.report_lossy_values(ad.id(), changes))?;
            }
            None => writeln!(out, "{}", tsv_cell(ad.id()))?,
        }
        Ok(())
    }

    /// Writes the end of the document.
    pub fn finish(&self, out: &mut dyn Write) -> io::Result<()> {
        self.document.iter().try_for_each(|document| document.finish(out))?;
        out.flush()
    }
}

/// Writes the ads of several files: as one document if `--output` names a form, else as one document for each file in
/// that file's own form.
pub struct DocumentWriter {
    form: Option<OutputForm>,
    current: Option<AdWriter>,
}

impl DocumentWriter {
    pub fn new(form: Option<OutputForm>) -> Self {
        DocumentWriter { form, current: None }
    }

    /// Begins the ads of the next file, whose form is `input`.
    pub fn begin_file(&mut self, out: &mut dyn Write, input: FileFormat) -> Result<(), Failure> {
        if self.form.is_none() {
            self.finish(out)?;
        }
        if self.current.is_none() {
            self.current = Some(AdWriter::new(self.form, input)?);
        }
        Ok(())
    }

    /// Returns the document of the current file. `None` if only names are written.
    pub fn document(&mut self) -> Option<&mut format::AdDocumentWriter> {
        self.current.as_mut().and_then(AdWriter::document)
    }

    /// Writes an ad. With `--quiet` the ad is not even converted to text.
    pub fn write(&mut self, session: &mut Session, out: &mut dyn Write, ad: &NamedAd) -> Result<(), Failure> {
        match &mut self.current {
            Some(writer) if !session.options.quiet => writer.write(session, out, ad),
            _ => Ok(()),
        }
    }

    /// Writes the end of the current document.
    pub fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.current.take().map_or(Ok(()), |writer| writer.finish(out))
    }
}

/// Prints the counters of a run on standard error: a table on a terminal, else one line of JSON.
pub fn print_counters(counters: impl Serialize, seconds: f64) {
    use std::io::IsTerminal;
    let mut err = io::stderr().lock();
    let mut counters = json!(counters);
    // Ignore errors: if standard error is closed, they cannot be reported anyway.
    let _ = if err.is_terminal() {
        let mut counters = counters.as_object().into_iter().flatten();
        counters
            .try_for_each(|(name, count)| writeln!(err, "{name:>12}  {count}"))
            .and_then(|()| writeln!(err, "{:>12}  {seconds:.3}", "seconds"))
    } else {
        counters["seconds"] = seconds.into();
        writeln!(err, "{counters}")
    };
}

#[cfg(test)]
mod tests {
    use classad::syntax::{ParseOptions, parse_ad};

    use super::*;
    use crate::cli::program::session_of;

    fn ad(text: &str) -> NamedAd {
        let ad = parse_ad(text.as_bytes(), ParseOptions::new(classad::ad::Dialect::Condor)).unwrap();
        NamedAd::unnamed(ad).with_name("a\tb".to_owned())
    }

    /// Writes one ad of each file.
    fn written(options: &[&str], form: Option<OutputForm>, files: &[FileFormat]) -> String {
        let (mut session, mut out) = (session_of(options), Vec::new());
        let mut documents = DocumentWriter::new(form);
        for file in files {
            documents.begin_file(&mut out, *file).ok().unwrap();
            documents.write(&mut session, &mut out, &ad("[ A = 1 ]")).ok().unwrap();
        }
        documents.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn files_have_documents_of_their_form_or_one_of_all() {
        use FileFormat::{Json, Long};
        for (form, files, expected) in [
            (None, &[][..], ""),
            (None, &[Long], "A = 1\n\n"),
            (None, &[Json, Json], "[\n{\"A\": 1}\n]\n[\n{\"A\": 1}\n]\n"),
            (None, &[Json, Long], "[\n{\"A\": 1}\n]\nA = 1\n\n"),
            (Some(OutputForm::Json), &[Json, Long], "[\n{\"A\": 1},\n{\"A\": 1}\n]\n"),
            (Some(OutputForm::Jsonl), &[Long, Long], "{\"A\": 1}\n{\"A\": 1}\n"),
            (Some(OutputForm::Names), &[Long, Json], "a\\tb\na\\tb\n"),
        ] {
            assert_eq!(written(&["repl", "--dialect", "condor"], form, files), expected, "{form:?} {files:?}");
        }
        assert_eq!(written(&["repl", "--quiet"], None, &[Long, Long]), "");
    }

    #[test]
    fn some_forms_are_those_of_ads() {
        for (form, expected) in [
            (OutputForm::Long, Some(FileFormat::Long)),
            (OutputForm::New, Some(FileFormat::Bracketed)),
            (OutputForm::Json, Some(FileFormat::Json)),
            (OutputForm::Jsonl, Some(FileFormat::JsonLines)),
            (OutputForm::Xml, Some(FileFormat::Xml)),
            (OutputForm::Yaml, Some(FileFormat::Yaml)),
            (OutputForm::Table, None),
            (OutputForm::Csv, None),
            (OutputForm::Svg, None),
        ] {
            assert_eq!(form.ad_form(), expected);
            assert_eq!(AdWriter::new(Some(form), FileFormat::Long).is_ok(), expected.is_some());
        }
        assert!(
            AdWriter::new(Some(OutputForm::Names), FileFormat::Long)
                .is_ok_and(|mut writer| writer.document().is_none())
        );
        assert!(AdWriter::new(None, FileFormat::Long).is_ok_and(|mut writer| writer.document().is_some()));
        let lines = [OutputForm::Csv, OutputForm::Tsv, OutputForm::Markdown, OutputForm::Table, OutputForm::Json];
        assert_eq!(lines.map(OutputForm::has_lines_of_cells), [true, true, true, false, false]);
    }

    #[test]
    fn private_attributes_are_kept_if_they_are_meant_to() {
        let secret = ad("[ A = 1; ClaimId = \"secret\" ]");
        let shown = |writer: AdWriter| {
            let (mut writer, mut session, mut out) = (writer, session_of(&["repl", "--dialect", "condor"]), Vec::new());
            writer.write(&mut session, &mut out, &secret).ok().unwrap();
            writer.finish(&mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let writer = || AdWriter::with_form(FileFormat::JsonLines);
        assert_eq!(shown(writer()), "{\"A\": 1}\n");
        assert_eq!(shown(writer().keeping_private()), "{\"A\": 1, \"ClaimId\": \"secret\"}\n");
    }
}
