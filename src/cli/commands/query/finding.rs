//! What a scan finds, and the sink that puts the findings of blocks, files and parts in the order of the output.

use std::collections::HashSet;

use classad::ad::{Ad, ByteString, Dialect};
use classad::eval::Abort;
use classad::format::{FileFormat, read};
use classad::query::{SortKey, SortValues, SortedItems};
use classad::syntax::{Style, print_ad};
use serde::{Deserialize, Serialize};

use super::QueryCommand;
use super::columns::{Columns, Row};
use super::groups::{GroupColumns, GroupedAds};
use super::tables::TableRecord;
use crate::cli::io::partial::PartialFinding;
use crate::cli::outcome::Failure;
use crate::cli::render::rows::TableCell;

/// The needed part of a matching ad, or why an ad could not be tested. `number` identifies the ad: the first ad of a block
/// has the number 1, and in a partial result the first ad of the part.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryFinding {
    /// A number of matching ads. The command needs no part of them.
    Present(usize),
    /// A matching ad. `name` is `None` if it has no identity.
    Ad {
        ad: FoundAd,
        name: Option<String>,
        number: usize,
        /// The values of the keys of `--sort`.
        order: SortValues,
        /// Number of keys that are undefined because their evaluation exceeded a budget.
        failures: u64,
    },
    Row(Row),
    /// The groups of adjacent ads.
    Groups(GroupedAds),
    #[serde(skip)]
    Record(Box<TableRecord>),
    /// An ad in which the constraint exceeded a budget.
    Halted {
        halt: Abort,
        number: usize,
    },
}

/// A matching ad. A partial result has its text in the bracketed form.
#[derive(Clone, Serialize, Deserialize)]
#[serde(into = "ByteString", from = "ByteString")]
pub enum FoundAd {
    Read(Ad),
    Printed(ByteString),
}

impl FoundAd {
    /// Returns the ad; `None` if its text is damaged.
    pub fn into_ad(self, dialect: Dialect) -> Option<Ad> {
        match self {
            FoundAd::Read(ad) => Some(ad),
            FoundAd::Printed(text) => Some(read(text.as_bytes(), FileFormat::Bracketed, dialect).next()?.ok()?.ad),
        }
    }
}

impl From<FoundAd> for ByteString {
    fn from(ad: FoundAd) -> Self {
        match ad {
            FoundAd::Read(ad) => print_ad(&ad, Style::New).into(),
            FoundAd::Printed(text) => text,
        }
    }
}

impl From<ByteString> for FoundAd {
    fn from(text: ByteString) -> Self {
        FoundAd::Printed(text)
    }
}

impl PartialFinding for QueryFinding {
    fn ads(&self) -> usize {
        match self {
            QueryFinding::Present(count) => *count,
            QueryFinding::Ad { .. } | QueryFinding::Row(_) => 1,
            QueryFinding::Groups(groups) => groups.ads(),
            _ => 0,
        }
    }
}

impl QueryFinding {
    /// Returns the finding with the number of its ad behind other ads.
    pub fn after_ads(mut self, before: usize) -> Self {
        if let QueryFinding::Ad { number, .. } | QueryFinding::Halted { number, .. } = &mut self {
            *number = number.saturating_add(before);
        }
        self
    }

    /// Returns the values by which the finding is sorted, if it has its place in an order.
    fn order_mut(&mut self) -> Option<&mut SortValues> {
        match self {
            QueryFinding::Ad { order, .. } | QueryFinding::Row(Row { order, .. }) => Some(order),
            _ => None,
        }
    }

    /// Number of evaluations of the finding that exceeded a budget. Groups count theirs themselves.
    fn failures(&self) -> u64 {
        match self {
            QueryFinding::Ad { failures, .. } | QueryFinding::Row(Row { failures, .. }) => *failures,
            QueryFinding::Record(record) => record.failures,
            _ => 0,
        }
    }
}

/// Takes the findings of matching ads in the order of the ads, and passes them on in the order of the output: sorted, each
/// row once, up to the limit, and the groups at the end. The sinks of a run, of a file of a partial result and of a merge
/// are one.
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub struct FindingSink<'q> {
    keys: &'q [SortKey],
    group: Option<&'q GroupColumns>,
    /// Maximum number of ads, or of rows.
    limit: usize,
    /// Whether a row that is equal to an earlier one is left out.
    is_distinct: bool,
    /// Whether findings are only counted, so that their order does not matter.
    is_count: bool,
    /// Whether rows that are left out are passed on if their evaluation exceeded a budget, for a merge to count.
    keeps_failures: bool,
    /// Ads and rows that wait for the end, to be sorted.
    waiting: SortedItems<QueryFinding>,
    /// Rows passed on so far, for `--distinct`.
    rows: HashSet<Vec<TableCell>>,
    groups: GroupedAds,
    /// Number of ads, or of rows, that count toward the limit.
    pub count: usize,
    /// Whether anything was found.
    pub has_found: bool,
    /// Number of evaluations that exceeded a budget.
    pub failures: u64,
}

/// Receives findings in the order of the output.
pub type FindingConsumer<'c> = &'c mut dyn FnMut(QueryFinding) -> Result<(), Failure>;

impl<'q> FindingSink<'q> {
    /// Creates the sink of a run, or of a file of a partial result.
    pub fn new(query: &QueryCommand, columns: &'q Columns, is_partial: bool) -> Self {
        // All rows are needed to know which are equal.
        let held = query.limit.filter(|_| !query.distinct).unwrap_or(usize::MAX);
        FindingSink {
            keys: &columns.sort,
            group: columns.group.as_ref(),
            limit: query.limit.unwrap_or(usize::MAX),
            is_distinct: query.distinct,
            is_count: query.count && columns.group.is_none(),
            keeps_failures: is_partial,
            waiting: SortedItems::new(held),
            rows: HashSet::new(),
            groups: GroupedAds::default(),
            count: 0,
            has_found: false,
            failures: 0,
        }
    }

    /// Adds a finding. Returns false if no further findings are needed.
    pub fn add(&mut self, mut finding: QueryFinding, consume: FindingConsumer<'_>) -> Result<bool, Failure> {
        self.has_found |= finding.ads() > 0 || matches!(finding, QueryFinding::Record(_));
        self.failures = self.failures.saturating_add(finding.failures());
        match finding {
            QueryFinding::Groups(groups) => {
                if let Some(group) = self.group {
                    self.groups.merge(group, groups);
                }
                return Ok(true);
            }
            QueryFinding::Present(count) => self.count = self.count.saturating_add(count),
            QueryFinding::Record(_) => self.count += 1,
            _ if !self.is_count && !self.keys.is_empty() => {
                let order = finding.order_mut().map(std::mem::take).unwrap_or_default();
                self.waiting.add(self.keys, order, finding);
                return Ok(true);
            }
            _ => {
                self.pass(finding, consume)?;
                return Ok(self.needs_more());
            }
        }
        consume(finding)?;
        Ok(self.needs_more())
    }

    /// Whether further ads may change the output.
    fn needs_more(&self) -> bool {
        !self.keys.is_empty() || self.count < self.limit
    }

    /// Passes an ad or a row on, unless the limit is reached or the row is equal to an earlier one.
    fn pass(&mut self, finding: QueryFinding, consume: FindingConsumer<'_>) -> Result<(), Failure> {
        if self.count >= self.limit {
            return Ok(());
        }
        if let QueryFinding::Row(row) = &finding
            && self.is_distinct
            && !self.rows.insert(row.cells.clone())
        {
            return if self.keeps_failures && row.failures > 0 { consume(finding) } else { Ok(()) };
        }
        self.count += 1;
        consume(finding)
    }

    /// Passes on what waited for the end of the scan: the first ads or rows of the order, or the groups.
    pub fn finish(&mut self, consume: FindingConsumer<'_>) -> Result<(), Failure> {
        for (values, mut finding) in self.waiting.take(self.keys) {
            if let Some(order) = finding.order_mut() {
                *order = values;
            }
            self.pass(finding, consume)?;
        }
        if self.group.is_some() {
            self.failures = self.failures.saturating_add(self.groups.failures);
            consume(QueryFinding::Groups(std::mem::take(&mut self.groups)))?;
        }
        Ok(())
    }
}
