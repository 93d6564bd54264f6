//! HTCondor's print formats: files that describe a table, for `-print-format`.
//!
//! The tables of HTCondor's tools are such texts, too: [`super::tables`].

mod column_words;
mod reader;
mod words;

use classad::ad::Expression;

use super::print_mask::PrintMask;
use super::sort::SortKey;

pub use reader::read_print_format;

/// A print format: the columns, the ads that are chosen, their order, and the headings and totals around them.
#[derive(Clone, Default)]
pub struct PrintFormat {
    pub mask: PrintMask,
    pub has_title: bool,
    pub summary: FormatSummary,
    /// The constraint of `WHERE`.
    pub constraint: Option<Expression>,
    /// The keys of `GROUP BY`.
    pub order: Vec<SortKey>,
}

/// What is printed after the rows.
#[derive(Clone, Default)]
pub enum FormatSummary {
    #[default]
    Nothing,
    /// The totals that HTCondor's tool prints.
    Standard,
    /// Columns of the totals of jobs.
    Columns(Box<PrintMask>),
}
