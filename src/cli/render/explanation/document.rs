//! The document of the reports: one after the other as text, or a document of JSON.

use std::io::Write as _;

use serde_json::Value as Json;

use super::json::SCHEMA;
use super::writer::is_data;
use crate::cli::outcome::Failure;
use crate::cli::render::output::{OutputForm, out};

/// Writes reports one after the other. A JSON document is only written by [`ExplanationWriter::finish`].
pub struct ExplanationWriter {
    form: OutputForm,
    /// The reports of a JSON document, which is written at the end.
    reports: Vec<String>,
    /// Whether the previous report was a single line of text. `None` before the first report.
    was_brief: Option<bool>,
}

impl ExplanationWriter {
    /// Makes the writer of reports that a renderer of this form renders.
    pub fn new(form: Option<OutputForm>) -> Self {
        ExplanationWriter { form: form.unwrap_or(OutputForm::Table), reports: Vec::new(), was_brief: None }
    }

    /// Whether reports are written for programs.
    pub fn is_data(&self) -> bool {
        is_data(self.form)
    }

    /// Adds a report that was rendered in the writer's form. A report of more than two lines of text has a blank line
    /// between itself and each neighbour.
    pub fn add(&mut self, report: String) -> Result<(), Failure> {
        match self.form {
            OutputForm::Json => self.reports.push(report),
            OutputForm::Jsonl => out().write_all(report.as_bytes())?,
            _ => {
                let is_brief = report.lines().count() <= 2;
                let gap = if self.was_brief.is_some_and(|was_brief| !was_brief || !is_brief) { "\n" } else { "" };
                self.was_brief = Some(is_brief);
                write!(out(), "{gap}{report}")?;
            }
        }
        Ok(())
    }

    /// Ends the output. A JSON document gets the table of causes, `causes`, if it is given.
    pub fn finish(self, causes: Option<Json>) -> Result<(), Failure> {
        let mut out = out();
        if self.form == OutputForm::Json {
            write!(out, "{{\n  \"schema\": \"{SCHEMA}\",")?;
            if let Some(causes) = causes {
                write!(out, "\n  \"totals\": {},", format!("{causes:#}").replace('\n', "\n  "))?;
            }
            write!(out, "\n  \"reports\": [")?;
            for (place, report) in self.reports.iter().enumerate() {
                write!(out, "{}\n    {report}", if place > 0 { "," } else { "" })?;
            }
            out.write_all(if self.reports.is_empty() { b"]\n}\n" } else { b"\n  ]\n}\n" })?;
        }
        out.flush()?;
        Ok(())
    }
}
