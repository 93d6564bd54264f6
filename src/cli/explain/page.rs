//! Reports on standard output: text for people, JSON for scripts.

use std::io::Write;

use classad::explain::Report;

use crate::cli::Failure;
use crate::cli::output::{OutputForm, out};
use crate::cli::session::Session;

use super::{Case, json, write_json};

/// The reports of a run.
pub struct Page<'c> {
    case: &'c Case<'c>,
    form: OutputForm,
    /// Those of a document that is written when all are there.
    reports: Vec<serde_json::Value>,
}

impl<'c> Page<'c> {
    pub fn new(_session: &Session, case: &'c Case<'c>, form: Option<OutputForm>) -> Self {
        Page { case, form: form.unwrap_or(OutputForm::Table), reports: Vec::new() }
    }

    pub fn add(&mut self, session: &mut Session, group: &[usize], report: &Report) -> Result<(), Failure> {
        match self.form {
            OutputForm::Json | OutputForm::Jsonl => {
                let summary = self.case.summary(session, group, report, usize::MAX);
                let json = json::report(self.case, group, report, &summary);
                if self.form == OutputForm::Jsonl {
                    writeln!(out(), "{json}")?;
                } else {
                    self.reports.push(json);
                }
            }
            _ => {
                let summary = self.case.summary(session, group, report, 70);
                writeln!(out(), "{summary}")?;
            }
        }
        Ok(())
    }

    pub fn finish(self) -> Result<(), Failure> {
        if self.form == OutputForm::Json {
            write_json(self.reports)?;
        }
        out().flush()?;
        Ok(())
    }
}
