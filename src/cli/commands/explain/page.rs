//! What `explain` prints: the reports of groups, one after the other, and the tables of all of them.

use std::io::Write;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::cli::args::output::TableOutputArgs;
use crate::cli::outcome::Failure;
use crate::cli::render::explanation::{CauseEntry, CauseTable, ExplanationWriter};
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::rows::{ResultTable, TableCell};

/// What a run says beside the reports on groups. It is the same in all shares of the work.
#[derive(Serialize, Deserialize)]
pub struct ExplanationFrame {
    /// The noun for what is explained, singular.
    pub noun: String,
    /// Number of groups.
    pub groups: usize,
    /// Number of requests that get an offer; `None` without `--unmatched`.
    pub served: Option<usize>,
    /// Whether the reports are a table of causes, with the report of the largest group of each.
    pub has_cause_table: bool,
    /// The text before the reports.
    pub opening: String,
    /// The report on the requests that the policy does not serve, and what it contributes to the table of causes.
    pub unserved: Option<(Box<CauseEntry>, String)>,
    /// The sentence on what hypothetical attributes change, for a picture.
    pub caption: String,
    /// The members `what_if` and `policies` of the totals.
    pub totals: Vec<(String, Json)>,
    /// Whether all is well as far as no group has a say in it.
    pub all_served: bool,
    /// Format of the output. The user's settings can differ between shares.
    pub form: String,
}

/// What is said of a group of requests.
#[derive(Serialize, Deserialize)]
pub enum ExplainedGroup {
    /// The report on a gang, and what it contributes to the totals. It is not part of the table of causes.
    Gang(Box<CauseEntry>, String),
    /// The report, and what it contributes to the table of causes.
    Report(Box<CauseEntry>, String),
    /// A row for each member of the group, with the index of the member.
    Rows(Vec<(usize, Vec<TableCell>)>),
}

/// What the table of causes shows.
#[derive(Clone, Copy)]
pub struct CauseTableChoice {
    /// Whether the table is printed without reports.
    pub is_summary: bool,
    /// Whether causes with few subjects are listed, too.
    pub lists_all: bool,
}

/// Prints explanations.
pub struct ExplanationPage {
    frame: ExplanationFrame,
    output: TableOutputArgs,
    choice: CauseTableChoice,
    is_quiet: bool,
    writer: ExplanationWriter,
    causes: CauseTable,
    rows: Vec<(usize, Vec<TableCell>)>,
}

impl ExplanationPage {
    /// Begins the output.
    pub fn begin(
        frame: ExplanationFrame,
        output: TableOutputArgs,
        choice: CauseTableChoice,
        is_quiet: bool,
    ) -> Result<Self, Failure> {
        write!(out(), "{}", frame.opening)?;
        Ok(ExplanationPage {
            output,
            choice,
            is_quiet,
            writer: ExplanationWriter::new(output.form),
            causes: CauseTable::new(frame.noun.clone(), frame.served),
            rows: Vec::new(),
            frame,
        })
    }

    /// Adds what is said of the next group.
    pub fn add(&mut self, group: ExplainedGroup) -> Result<(), Failure> {
        match group {
            ExplainedGroup::Rows(rows) => {
                self.rows.extend(rows);
                Ok(())
            }
            ExplainedGroup::Report(entry, text) | ExplainedGroup::Gang(entry, text) if self.writer.is_data() => {
                self.causes.add(*entry, String::new());
                if self.choice.is_summary { Ok(()) } else { self.writer.add(text) }
            }
            ExplainedGroup::Report(entry, text) if self.frame.has_cause_table || self.has_only_causes() => {
                self.causes.add(*entry, text);
                Ok(())
            }
            ExplainedGroup::Report(_, text) | ExplainedGroup::Gang(_, text) => self.writer.add(text),
        }
    }

    /// Whether the causes are drawn.
    fn is_drawn(&self) -> bool {
        self.output.form == Some(OutputForm::Svg) && !self.is_quiet
    }

    /// Whether the output has a row for each cause or request.
    fn has_rows(&self) -> bool {
        self.output.form.is_some_and(OutputForm::has_lines_of_cells)
    }

    /// Whether the causes are printed without the reports.
    fn has_only_causes(&self) -> bool {
        self.is_drawn() || (self.has_rows() && self.choice.is_summary)
    }

    /// Ends the output.
    pub fn finish(mut self) -> Result<(), Failure> {
        if let Some((entry, text)) = self.frame.unserved.take() {
            if self.has_only_causes() {
                self.causes.add(*entry, text);
            } else {
                self.writer.add(text)?;
            }
        }
        if self.is_drawn() {
            out().write_all(self.causes.into_picture(&self.frame.caption).as_bytes())?;
            return Ok(());
        }
        if self.has_rows() && self.choice.is_summary {
            return self.output.write(&self.causes.into_table());
        }
        if self.has_rows() {
            // The groups are in the order of their first members.
            self.rows.sort_by_key(|(subject, _)| *subject);
            // With --reverse, the rows are of offers.
            let subject = if matches!(self.frame.noun.as_str(), "slot" | "offer") { "offer" } else { "request" };
            let mut table = ResultTable::new(&[subject, "verdict", "matches", "free", "summary", "change"]);
            table.rows.extend(self.rows.into_iter().map(|(_, row)| row));
            return self.output.write(&table);
        }
        if self.frame.has_cause_table && !self.writer.is_data() && !self.is_quiet {
            self.writer.add(self.causes.into_text(self.choice.is_summary, self.choice.lists_all))?;
            return self.writer.finish(None);
        }
        let mut totals = self.causes.into_json();
        if let Some(members) = totals.as_object_mut() {
            members.extend(self.frame.totals);
        }
        self.writer.finish(Some(totals))
    }
}
