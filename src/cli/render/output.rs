//! Results: tables for people, lines for scripts.

use std::io::{self, BufWriter, Stdout, Write};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use clap::ValueEnum;
use classad::format::{self, Form};
use classad::matching::Statistics;

use super::progress;
use crate::cli::Failure;
use crate::cli::io::input::Identified;
use crate::cli::session::Session;

use crate::cli::render::rows::tsv;

/// A form of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputForm {
    /// A table for people
    Table,
    /// Indented trees, of gangs
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
    /// Only the identities, one a line
    Names,
}

/// What is written to standard output and not yet handed on.
static WRITTEN: LazyLock<Mutex<BufWriter<Stdout>>> = LazyLock::new(|| Mutex::new(BufWriter::new(io::stdout())));

fn written() -> MutexGuard<'static, BufWriter<Stdout>> {
    WRITTEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hands on what is written, before more input is waited for: whoever reads the output may wait for it, too.
pub fn hand_on() {
    // What cannot be written now stays here, and is told when the run ends.
    let _ = written().flush();
}

/// Leaves the memory of something big to the system, which takes it back at once when the command ends; piece by
/// piece it would take as long as to make it.
pub fn leave<T>(it: T) {
    std::mem::forget(it);
}

/// Standard output, buffered.
pub struct Out(());

/// Standard output, buffered.
pub fn out() -> Out {
    Out(())
}

impl Write for Out {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        progress::make_way_for_results();
        written().write(text)
    }

    fn flush(&mut self) -> io::Result<()> {
        written().flush()
    }
}

impl Drop for Out {
    /// What was written before an error is handed on, too.
    fn drop(&mut self) {
        hand_on();
    }
}

impl OutputForm {
    /// The form of the ads themselves; none for rows.
    fn of_ads(self) -> Option<Form> {
        match self {
            OutputForm::Long => Some(Form::Long),
            OutputForm::New => Some(Form::New),
            OutputForm::Json => Some(Form::Json),
            OutputForm::Jsonl => Some(Form::JsonLines),
            OutputForm::Xml => Some(Form::Xml),
            OutputForm::Yaml => Some(Form::Yaml),
            OutputForm::Table | OutputForm::Tree | OutputForm::Csv | OutputForm::Tsv | OutputForm::Names => None,
        }
    }
}

/// Writes ads one after the other: as a document, or only what they are called.
pub struct AdWriter {
    document: Option<format::Writer>,
}

impl AdWriter {
    /// In this form.
    pub fn of(form: Form) -> Self {
        AdWriter { document: Some(format::Writer::new(form)) }
    }

    /// In the form asked for, else in the form of the input.
    pub fn new(form: Option<OutputForm>, input: Form) -> Result<Self, Failure> {
        let form = match form {
            None => Some(input),
            Some(OutputForm::Names) => None,
            Some(form) => {
                let message = "whole ads are written as long, new, json, jsonl, xml, yaml or names";
                Some(form.of_ads().ok_or_else(|| Failure::Refused(Some(message.to_owned())))?)
            }
        };
        Ok(AdWriter { document: form.map(format::Writer::new) })
    }

    pub fn write(&mut self, session: &mut Session, out: &mut dyn Write, ad: &Identified) -> Result<(), Failure> {
        match &mut self.document {
            Some(document) => document.write(out, &ad.ad, |changes| session.changed(ad.id(), changes))?,
            None => writeln!(out, "{}", tsv(ad.id()))?,
        }
        Ok(())
    }

    /// Writes what ends the output.
    pub fn finish(&self, out: &mut dyn Write) -> Result<(), Failure> {
        if let Some(document) = &self.document {
            document.finish(out)?;
        }
        out.flush()?;
        Ok(())
    }
}

/// Writes the ads of several files: one document in a form that is asked for; otherwise a document for each
/// file, in the file's own form.
pub struct Documents {
    form: Option<OutputForm>,
    is_silent: bool,
    current: Option<AdWriter>,
}

impl Documents {
    pub fn new(form: Option<OutputForm>, is_silent: bool) -> Self {
        Documents { form, is_silent, current: None }
    }

    /// Goes on to the ads of a file in this form.
    pub fn begin_file(&mut self, out: &mut dyn Write, input: Form) -> Result<(), Failure> {
        if self.form.is_none() {
            self.finish(out)?;
        }
        if self.current.is_none() {
            self.current = Some(AdWriter::new(self.form, input)?);
        }
        Ok(())
    }

    pub fn write(&mut self, session: &mut Session, out: &mut dyn Write, ad: &Identified) -> Result<(), Failure> {
        match &mut self.current {
            Some(writer) if !self.is_silent => writer.write(session, out, ad),
            _ => Ok(()),
        }
    }

    /// Writes what ends the document.
    pub fn finish(&mut self, out: &mut dyn Write) -> Result<(), Failure> {
        match self.current.take() {
            Some(writer) if !self.is_silent => writer.finish(out),
            _ => Ok(()),
        }
    }
}

/// Prints the counters of a run on standard error: a table on a terminal, else one line of JSON.
pub fn statistics(statistics: &Statistics, seconds: f64) {
    let counted = [
        ("roots", statistics.roots),
        ("matched", statistics.matched),
        ("tests", statistics.tests),
        ("evaluations", statistics.evaluations),
        ("probes", statistics.probes),
        ("backtracks", statistics.backtracks),
        ("autoclusters", statistics.autoclusters),
    ];
    counters(&counted, seconds);
}

/// The same for any counters.
pub fn counters(counters: &[(&str, u64)], seconds: f64) {
    use std::io::IsTerminal;
    let mut err = io::stderr().lock();
    // If standard error is closed there is no one to tell.
    let _ = if err.is_terminal() {
        counters
            .iter()
            .try_for_each(|(name, count)| writeln!(err, "{name:>12}  {count}"))
            .and_then(|()| writeln!(err, "{:>12}  {seconds:.3}", "seconds"))
    } else {
        let mut object = serde_json::Map::new();
        for (name, count) in counters {
            object.insert((*name).to_owned(), (*count).into());
        }
        object.insert("seconds".to_owned(), seconds.into());
        writeln!(err, "{}", serde_json::Value::Object(object))
    };
}
