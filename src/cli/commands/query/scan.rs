//! Scan of a block of a source for matching ads. The scan collects its findings and prints nothing, so that several
//! threads can scan blocks at once.

use std::sync::Arc;

use classad::ad::{Ad, Expression, Name, Truth, Type, Value};
use classad::constraint::LiteralFilter;
use classad::eval::{CompiledEvaluator, Context, Environment, Evaluator, FreeNames};
use classad::format::{AdEntry, FileFormat, PrefilterVerdict, Projection, ReadCache, ReadResult, StreamBlock};
use classad::matching;
use classad::protocol::{IDENTITY_ATTRIBUTES, display_name};

use super::ad_lookup::AdLookup;
use super::columns::{Columns, DEFAULT_COLUMNS};
use super::constraint_errors::ConstraintErrors;
use super::finding::{FoundAd, ScanFinding};
use super::groups::GroupedAds;
use super::sort::sort_values;
use crate::cli::io::source::SourceText;
use crate::cli::io::unseen_names::UnseenNames;
use crate::cli::outcome::Failure;

/// Value that the constraint must have in an ad for the query to select the ad.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TruthFilter {
    True,
    NotTrue,
    Undefined,
}

/// Part of a matching ad that the output needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum NeededPart {
    /// None of the ad: only the fact that it matches.
    Presence,
    /// All attributes.
    Whole,
    /// The attributes that the projection selects.
    Projected,
    /// The values of the row of `--af` or of the print mask.
    Row,
    /// What a table of HTCondor's tools needs.
    Record,
    /// The values of `--group-by`, `--sum` and so on.
    Group,
}

/// Scanner for the ads that a query selects. Shared by the threads.
pub struct AdScanner<'q> {
    pub constraint: &'q Expression,
    /// Expression whose truth in an ad ends a scan backwards; `None` if nothing does.
    pub stop: Option<&'q Expression>,
    pub query: matching::Query,
    pub columns: &'q Columns,
    pub context: Context,
    pub filter: TruthFilter,
    pub needed_part: NeededPart,
    /// Whether the output is the ads themselves.
    pub writes_ads: bool,
    /// Whether every ad is read whole, for `--strict-input`.
    pub is_strict: bool,
    /// Names that the constraint looks up, each with whether some ad has had it so far. Names that no ad has are
    /// reported after the scan.
    pub unseen_names: UnseenNames,
    /// The names of columns that have not occurred in any ad so far.
    pub unseen_columns: UnseenNames,
    /// What the values of the constraint have been so far.
    pub errors: Arc<ConstraintErrors>,
}

impl AdScanner<'_> {
    /// Scans a block and adds its findings to `findings`. `cache` is for ads that are read whole. With a projection,
    /// reads only the projected attributes of ads in the long form. Returns the number of ads in the block.
    pub fn scan(
        &self,
        block: &StreamBlock,
        projection: Option<&mut Projection>,
        cache: &mut ReadCache,
        findings: &mut Vec<ScanFinding>,
    ) -> usize {
        let Some(projection) = projection.filter(|_| block.form == FileFormat::Long) else {
            // These ads are whole, so that none is read again.
            let mut unused = ReadCache::new(self.context.dialect);
            return self.scan_items(block, block.ads_cached(cache), &mut unused, findings);
        };
        let mut projected = block.project(projection);
        self.scan_items(block, &mut projected, cache, findings);
        self.mark_present(|name| projected.has_occurred(name));
        // `scan_items` does not see the ads that the prefilter rejects. The reader counts these ads too.
        projected.number()
    }

    /// Whether names of columns may be misspelt, as far as the ads of the scan tell.
    pub fn has_misspelt_candidates(&self) -> bool {
        self.unseen_columns.has_unseen() || !self.columns.attributes.is_empty()
    }

    fn mark_present(&self, has: impl Fn(&Name) -> bool) {
        self.unseen_names.mark_present(&has);
        self.unseen_columns.mark_present(&has);
    }

    /// Scans the ads and problems read from a block. Returns the number of the last ad in `items`.
    fn scan_items(
        &self,
        block: &StreamBlock,
        items: impl Iterator<Item = ReadResult>,
        cache: &mut ReadCache,
        findings: &mut Vec<ScanFinding>,
    ) -> usize {
        let mut last = 0;
        let mut evaluator = self.query.evaluator();
        for item in items {
            last = last.max(item.as_ref().map_or_else(|problem| problem.ad_number, |entry| entry.number));
            match item {
                Ok(entry) => {
                    self.mark_present(|name| entry.ad.get(name).is_some());
                    self.scan_ad(block, entry, cache, &mut evaluator, findings);
                }
                Err(problem) => findings.push(ScanFinding::Problem(problem)),
            }
        }
        last
    }

    /// Scans ads that were read whole before, each with its text, until `consume` returns `false`.
    pub fn scan_read_ads(
        &self,
        ads: impl IntoIterator<Item = (SourceText, AdEntry)>,
        consume: &mut dyn FnMut(&SourceText, ScanFinding) -> Result<bool, Failure>,
    ) -> Result<(), Failure> {
        let (mut evaluator, mut cache) = (self.query.evaluator(), ReadCache::new(self.context.dialect));
        let mut findings = Vec::new();
        for (text, entry) in ads {
            self.mark_present(|name| entry.ad.get(name).is_some());
            self.scan_ad(&text.block, entry, &mut cache, &mut evaluator, &mut findings);
            for finding in findings.drain(..) {
                if !consume(&text, finding)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Tests an ad and adds the needed part of it to `findings`.
    fn scan_ad(
        &self,
        block: &StreamBlock,
        entry: AdEntry,
        cache: &mut ReadCache,
        evaluator: &mut CompiledEvaluator,
        findings: &mut Vec<ScanFinding>,
    ) {
        let number = entry.number;
        if let Some(stop) = self.stop {
            let (environment, frame) = Environment::single(entry.ad.clone());
            match Evaluator::new(&environment, &self.context).evaluate(stop, &frame) {
                Ok(value) if Truth::of(&value, self.context.dialect).is_true() => {
                    return findings.push(ScanFinding::Stop);
                }
                Ok(_) => {}
                Err(halt) => return findings.push(ScanFinding::Halted { halt, number }),
            }
        }
        match self.query.evaluate_with(evaluator, &entry.ad) {
            Ok(value) => {
                self.errors.record(&value);
                if !self.passes_filter(&value) {
                    return;
                }
            }
            Err(halt) => return findings.push(ScanFinding::Halted { halt, number }),
        }
        let context = &self.context;
        match self.needed_part {
            NeededPart::Presence => match findings.last_mut() {
                Some(ScanFinding::Present(count)) => *count += 1,
                _ => findings.push(ScanFinding::Present(1)),
            },
            NeededPart::Row => findings.push(ScanFinding::Row(self.columns.row(&entry.ad, context))),
            NeededPart::Record => {
                let record = self.columns.table.as_ref().map(|table| table.record(&entry.ad, context));
                findings.extend(record.map(|record| ScanFinding::Record(Box::new(record))));
            }
            NeededPart::Group => {
                if !matches!(findings.last(), Some(ScanFinding::Groups(_))) {
                    findings.push(ScanFinding::Groups(GroupedAds::default()));
                }
                if let (Some(ScanFinding::Groups(table)), Some(group)) = (findings.last_mut(), &self.columns.group) {
                    table.add(group, &entry.ad, context);
                }
            }
            NeededPart::Whole if !entry.is_whole => {
                let items = block.ad_at(entry.offset, number, cache);
                let finding = |item: ReadResult| {
                    item.map_or_else(ScanFinding::Problem, |entry| self.ad_finding(entry.ad, number))
                };
                findings.extend(items.map(finding));
            }
            // The attributes of the banner are not part of the record, and are printed only if they are named.
            NeededPart::Whole if self.columns.attributes.is_empty() && entry.banner_attributes > 0 => {
                let written = entry.ad.iter().take(entry.ad.len() - entry.banner_attributes);
                let ad = written.map(|attribute| (attribute.name.clone(), attribute.expression.clone())).collect();
                findings.push(self.ad_finding(ad, number));
            }
            NeededPart::Whole | NeededPart::Projected => findings.push(self.ad_finding(entry.ad, number)),
        }
    }

    fn ad_finding(&self, ad: Ad, number: usize) -> ScanFinding {
        let name = display_name(&ad, self.columns.id.as_ref(), &self.context);
        let mut lookup = AdLookup::new(&ad, &self.context);
        let order = sort_values(&self.columns.sort, &mut lookup);
        let failures = lookup.failures;
        let is_whole = self.needed_part == NeededPart::Whole;
        let ad = if is_whole { ad.printed(self.context.dialect).into_owned() } else { ad };
        ScanFinding::Ad { ad: FoundAd::Read(ad), name, number, order, failures }
    }

    fn passes_filter(&self, value: &Value) -> bool {
        match self.filter {
            TruthFilter::Undefined => value.value_type() == Type::Undefined,
            sought => Truth::of(value, self.context.dialect).is_true() == (sought == TruthFilter::True),
        }
    }

    /// Returns the attributes to read of each ad; `None` if ads have to be read whole. If there is a [`LiteralFilter`]
    /// for the constraint, the projection uses it to skip ads that the query cannot select. `--undefined` uses no such
    /// filter, because the filter does not tell undefined from false.
    pub fn projection(&self) -> Option<Projection> {
        let mut needed_names = FreeNames::default();
        for expression in self.columns.expressions().chain([self.constraint]).chain(self.stop) {
            needed_names.add(expression, self.context.dialect);
        }
        if self.is_strict || needed_names.reads_anything {
            return None;
        }
        needed_names.names.extend(self.columns.attributes_beside().map(Name::new));
        needed_names.names.extend(self.columns.attributes.iter().cloned());
        if !self.columns.prints_rows() {
            needed_names.names.extend(IDENTITY_ATTRIBUTES.iter().map(|name| Name::new(name)));
        }
        if !self.columns.prints_rows() && !self.writes_ads {
            needed_names.names.extend(DEFAULT_COLUMNS.map(Name::new));
        }
        let selection = Projection::new(needed_names.names, self.context.dialect);
        // Ads are printed as they are written.
        let selection = if self.columns.attributes.is_empty() { selection } else { selection.as_written() };
        let literals = LiteralFilter::new(self.constraint, &self.context);
        let is_usable = self.filter != TruthFilter::Undefined && self.stop.is_none();
        let Some(literals) = literals.filter(|_| is_usable) else { return Some(selection) };
        let (names, wanted) = (literals.names().to_vec(), self.filter == TruthFilter::True);
        let errors = Arc::clone(&self.errors);
        Some(selection.with_prefilter(&names, move |values| match literals.is_met(values) {
            Some(met) if met != wanted && errors.has_valid_value() => PrefilterVerdict::Rejected,
            // The constraint may be an error: it is evaluated.
            Some(met) if met != wanted => PrefilterVerdict::Doubtful,
            _ => PrefilterVerdict::Passed,
        }))
    }
}
