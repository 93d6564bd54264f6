//! A table of ads: its print format, and what is counted of each ad beside its row.

use classad::ad::{Ad, Expression};
use classad::eval::Context;

use super::job_facts::{JOB_ATTRIBUTES, JobFacts};
use super::machine_slots::{MACHINE_ATTRIBUTES, SlotFacts};
use super::slot_totals::TotalsEntry;
use super::{RowGrouping, StandardTable, TableSubject};
use crate::cli::commands::query::print_format::PrintFormat;
use crate::cli::commands::query::print_mask::MaskValues;
use classad::query::AdLookup;
use classad::query::{SortKey, SortValues, sort_values};

/// A table of the ads that a query selects.
#[allow(clippy::struct_excessive_bools)] // each is a choice of the command line
pub struct AdTable {
    pub format: PrintFormat,
    pub subject: TableSubject,
    pub grouping: RowGrouping,
    pub standard: &'static StandardTable,
    /// Whether HTCondor's totals follow. Those of slots need a style, which not every table has.
    pub has_totals: bool,
    /// Whether only the totals are printed.
    pub is_totals_only: bool,
    /// Whether some jobs of a cluster may be left out, so that nothing tells how many of them are done.
    pub is_partial: bool,
    /// Whether the format is the user's instead of HTCondor's own.
    pub is_custom: bool,
    /// The keys by which the rows are sorted.
    pub order: Vec<SortKey>,
    /// What stands before the names of the files in the title.
    pub title: String,
}

/// What a table needs of an ad.
pub struct TableRecord {
    pub values: MaskValues,
    pub order: SortValues,
    pub job: Option<JobFacts>,
    pub slot: Option<SlotFacts>,
    pub totals: Vec<TotalsEntry>,
    /// Whether the ad says which GPUs there are.
    pub has_gpus: bool,
    /// Number of evaluations that exceeded a budget.
    pub failures: u64,
}

#[cfg(test)]
impl TableRecord {
    /// Makes a record of a row alone.
    pub fn of_row(values: MaskValues) -> Self {
        let (order, totals) = (Vec::new(), Vec::new());
        TableRecord { values, order, job: None, slot: None, totals, has_gpus: false, failures: 0 }
    }
}

impl AdTable {
    /// Returns the expressions that are evaluated in each ad.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.format.mask.expressions().chain(self.order.iter().map(|key| &key.expression))
    }

    /// Returns the attributes that are read beside those of the expressions.
    pub fn attributes(&self) -> impl Iterator<Item = &'static str> {
        let subject: &[&str] = match self.subject {
            TableSubject::Jobs => &JOB_ATTRIBUTES,
            TableSubject::Slots => &MACHINE_ATTRIBUTES,
        };
        let totals = self.standard.totals.iter().flat_map(|style| style.attributes.iter().copied());
        self.format.mask.function_attributes().chain(subject.iter().copied()).chain(totals)
    }

    /// Evaluates what the table needs of an ad.
    pub fn record(&self, ad: &Ad, context: &Context) -> TableRecord {
        let mut lookup = AdLookup::new(ad, context);
        let lookup = &mut lookup;
        let mut record = TableRecord {
            values: self.format.mask.values(lookup),
            order: sort_values(&self.order, lookup),
            job: None,
            slot: None,
            totals: Vec::new(),
            has_gpus: false,
            failures: 0,
        };
        match self.subject {
            TableSubject::Jobs => record.job = Some(JobFacts::new(lookup)),
            TableSubject::Slots => {
                let slot = SlotFacts::new(lookup);
                if let Some(style) = self.standard.totals.filter(|_| self.has_totals) {
                    record.totals = match self.grouping {
                        RowGrouping::Machines => slot.totals(style, lookup),
                        _ => vec![style.entry(lookup)],
                    };
                }
                record.slot = Some(slot);
                record.has_gpus = self.standard.name == "gpus" && lookup.has("AvailableGPUs");
            }
        }
        record.failures = lookup.failures;
        record
    }
}
