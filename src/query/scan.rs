//! Scan of blocks for the ads that a query selects. The scan collects what is found and prints nothing, so that several
//! threads can scan blocks at once.

use std::cell::RefCell;
use std::sync::Arc;

use crate::ad::{Ad, Expression, Name, Truth, Type, Value};
use crate::constraint::{ClauseForm, conjuncts};
use crate::eval::{Abort, CompiledEvaluator, CompiledSubject, Context, Environment, Evaluator, FreeNames};
use crate::format::{AdEntry, FileFormat, PrefilterVerdict, Problem, Projection, ReadCache, ReadResult, StreamBlock};
use crate::matching::Query;

use super::blocks::BlockTask;
use super::constraint_errors::ConstraintErrors;
use super::unseen_names::UnseenNames;

/// Value that the constraint must have in an ad for the query to select the ad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TruthFilter {
    /// It is true.
    #[default]
    True,
    /// It is anything else.
    NotTrue,
    /// It is undefined.
    Undefined,
}

/// What is made of each ad that a scan selects. Shared by the threads.
pub trait AdSelection: Sync {
    /// What is found in an ad, or in several that follow each other.
    type Finding: Send;

    /// Adds what is found in an ad to the findings of its block.
    fn add(&self, ad: SelectedAd<'_>, findings: &mut Vec<ScanItem<Self::Finding>>);
}

impl<F: Send, S: Fn(&Ad) -> F + Sync> AdSelection for S {
    type Finding = F;

    fn add(&self, ad: SelectedAd<'_>, findings: &mut Vec<ScanItem<F>>) {
        findings.push(ScanItem::Found(self(&ad.entry.ad)));
    }
}

/// An ad that a scan selects.
pub struct SelectedAd<'b> {
    /// The ad, as far as it was read. The first ad of a block has the number 1.
    pub entry: AdEntry,
    block: &'b StreamBlock,
    cache: &'b mut ReadCache,
}

impl SelectedAd<'_> {
    /// Returns the whole ad, or the problems that reading all of it has.
    #[must_use]
    pub fn into_whole(self) -> Vec<ReadResult> {
        if self.entry.is_whole {
            return vec![Ok(self.entry)];
        }
        self.block.ad_at(self.entry.offset, self.entry.number, self.cache).collect()
    }
}

/// What a scan finds, in the order of the ads. Numbers of ads count from the beginning of the block.
pub enum ScanItem<F> {
    /// What is found in a selected ad, or in several.
    Found(F),
    /// A bad ad.
    Problem(Problem),
    /// An ad in which the constraint exceeded a budget, and its number.
    Halted(Abort, usize),
    /// An ad that ends a scan backwards.
    Stop,
}

/// Receives what a scan finds in an ad of a text. Returns false if no more is wanted.
pub type ItemConsumer<'c, B, F, E> = dyn FnMut(&B, ScanItem<F>) -> Result<bool, E> + 'c;

/// Scanner for the ads that a query selects. Shared by the threads.
///
/// ```
/// use classad::ad::{Dialect, Name};
/// use classad::eval::Context;
/// use classad::format::Stream;
/// use classad::query::{AdScanner, ScanItem, for_each_block_of};
/// use classad::syntax::{ParseOptions, parse_expression};
///
/// let constraint = parse_expression(b"Cpus >= 8", ParseOptions::new(Dialect::Condor))?;
/// let name = |ad: &classad::ad::Ad| ad.get_str("Name").map(ToString::to_string);
/// let mut scanner = AdScanner::new(constraint, Context::new(Dialect::Condor), name);
/// scanner.read_only([Name::new("Name")]);
/// let pool = b"Name = \"small\"\nCpus = 4\n\nName = \"large\"\nCpus = 16\n";
/// let mut found = Vec::new();
/// for_each_block_of(&mut Stream::new(Box::new(&pool[..]), None)?, 4, &scanner, |_, scanned| {
///     found.extend(scanned.items.into_iter().filter_map(|item| match item {
///         ScanItem::Found(name) => name,
///         _ => None,
///     }));
///     Ok(true)
/// })?;
/// assert_eq!(found, ["\"large\""]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AdScanner<S> {
    constraint: Expression,
    query: Query,
    context: Context,
    /// What is made of each selected ad.
    pub selection: S,
    /// Value that the constraint must have.
    pub filter: TruthFilter,
    /// Expression whose truth in an ad ends a scan backwards; `None` if nothing does.
    pub stop: Option<Expression>,
    /// The names that the selection looks up in each ad; `None` if ads are read whole.
    needed: Option<FreeNames>,
    /// Whether the attributes are read as they are written, to be printed.
    pub is_as_written: bool,
    /// Whether ads that are read again, whole, lack the attributes of their banners.
    pub drops_banners: bool,
    /// Names that the constraint looks up, each marked once an ad has it.
    pub constraint_names: UnseenNames,
    /// Other names that are looked up in selected ads, likewise.
    pub selected_names: UnseenNames,
    /// What the values of the constraint have been so far.
    pub errors: Arc<ConstraintErrors>,
}

/// What a thread keeps from block to block.
pub struct AdScanState {
    /// The attributes that are read of each ad; `None` if ads are read whole.
    projection: Option<Projection>,
    /// The cache for ads that are read whole.
    cache: ReadCache,
}

/// The result of scanning a block.
pub struct ScannedBlock<F> {
    /// What was found.
    pub items: Vec<ScanItem<F>>,
    /// Number of ads in the block.
    pub ads: usize,
}

impl<S: AdSelection> AdScanner<S> {
    /// Creates a scanner that reads ads whole, and selects those for which the constraint is true.
    pub fn new(constraint: Expression, context: Context, selection: S) -> Self {
        AdScanner {
            query: Query::new(constraint.clone(), context.clone()),
            constraint_names: UnseenNames::of_expressions([&constraint]),
            selected_names: UnseenNames::new([]),
            constraint,
            context,
            selection,
            filter: TruthFilter::True,
            stop: None,
            needed: None,
            is_as_written: false,
            drops_banners: false,
            errors: Arc::default(),
        }
    }

    /// Reads only the attributes of these names, those of the constraint, and those to which their values refer.
    pub fn read_only(&mut self, names: impl IntoIterator<Item = Name>) {
        let needed = FreeNames { names: names.into_iter().collect(), ..FreeNames::default() };
        self.read_needed(needed);
    }

    /// Reads only the attributes of the needed names, those of the constraint, and those to which their values refer.
    pub fn read_needed(&mut self, mut needed: FreeNames) {
        for expression in [&self.constraint].into_iter().chain(&self.stop) {
            needed.add(expression, self.context.dialect);
        }
        self.needed = Some(needed).filter(|needed| !needed.reads_anything);
    }

    /// Scans ads that were read whole before, until `consume` returns false.
    ///
    /// # Errors
    ///
    /// `consume` fails.
    pub fn scan_read_ads<B: AsRef<StreamBlock>, E>(
        &self,
        ads: impl IntoIterator<Item = (B, AdEntry)>,
        consume: &mut ItemConsumer<'_, B, S::Finding, E>,
    ) -> Result<(), E> {
        let (mut evaluator, mut cache) = (self.query.evaluator(), ReadCache::new(self.context.dialect));
        let mut items = Vec::new();
        for (text, entry) in ads {
            self.mark_present(|name| entry.ad.get(name).is_some());
            self.scan_ad(text.as_ref(), entry, &mut cache, &mut evaluator, &mut items);
            for item in items.drain(..) {
                if !consume(&text, item)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn mark_present(&self, has: impl Fn(&Name) -> bool) {
        self.constraint_names.mark_present(&has);
        self.selected_names.mark_present(&has);
    }

    /// Scans the ads and problems read from a block. Returns the number of the last ad in `ads`.
    fn scan_items(
        &self,
        block: &StreamBlock,
        ads: impl Iterator<Item = ReadResult>,
        cache: &mut ReadCache,
        items: &mut Vec<ScanItem<S::Finding>>,
    ) -> usize {
        let mut last = 0;
        let mut evaluator = self.query.evaluator();
        for item in ads {
            last = last.max(item.as_ref().map_or_else(|problem| problem.ad_number, |entry| entry.number));
            match item {
                Ok(entry) => {
                    self.mark_present(|name| entry.ad.get(name).is_some());
                    self.scan_ad(block, entry, cache, &mut evaluator, items);
                }
                Err(problem) => items.push(ScanItem::Problem(problem)),
            }
        }
        last
    }

    /// Tests an ad and adds what is found in it.
    fn scan_ad(
        &self,
        block: &StreamBlock,
        entry: AdEntry,
        cache: &mut ReadCache,
        evaluator: &mut CompiledEvaluator,
        items: &mut Vec<ScanItem<S::Finding>>,
    ) {
        let number = entry.number;
        if let Some(stop) = &self.stop {
            let (environment, frame) = Environment::single(entry.ad.clone());
            match Evaluator::new(&environment, &self.context).evaluate(stop, &frame) {
                Ok(value) if Truth::of(&value, self.context.dialect).is_true() => return items.push(ScanItem::Stop),
                Ok(_) => {}
                Err(halt) => return items.push(ScanItem::Halted(halt, number)),
            }
        }
        match self.query.evaluate_with(evaluator, &entry.ad) {
            Ok(value) => {
                self.errors.record(&value);
                if self.passes_filter(&value) {
                    self.selection.add(SelectedAd { entry, block, cache }, items);
                }
            }
            Err(halt) => items.push(ScanItem::Halted(halt, number)),
        }
    }

    fn passes_filter(&self, value: &Value) -> bool {
        match self.filter {
            TruthFilter::Undefined => value.value_type() == Type::Undefined,
            sought => Truth::of(value, self.context.dialect).is_true() == (sought == TruthFilter::True),
        }
    }

    /// Returns the attributes to read of each ad; `None` if ads have to be read whole. If the constraint is
    /// cheap to evaluate, the projection uses it to skip ads that the query cannot select. `--undefined` uses no such
    /// filter.
    fn new_projection(&self) -> Option<Projection> {
        let selection = Projection::new(self.needed.as_ref()?.names.iter().cloned(), self.context.dialect);
        let selection = if self.is_as_written { selection.as_written() } else { selection };
        let is_usable = self.filter != TruthFilter::Undefined && self.stop.is_none();
        let Some(names) = self.prefilter_names().filter(|_| is_usable) else { return Some(selection) };
        let (wanted, errors) = (self.filter == TruthFilter::True, Arc::clone(&self.errors));
        let (constraint, context) = (self.query.constraint().clone(), self.context.clone());
        let evaluator = RefCell::new(self.query.evaluator());
        Some(selection.with_prefilter(&names, move |ad| {
            let subject = CompiledSubject::Expression(&constraint);
            match evaluator.borrow_mut().truth(subject, ad.into(), &context) {
                Some(truth) if truth.is_true() != wanted && errors.has_valid_value() => PrefilterVerdict::Rejected,
                // The constraint may be an error: it is evaluated.
                Some(truth) if truth.is_true() != wanted => PrefilterVerdict::Doubtful,
                _ => PrefilterVerdict::Passed,
            }
        }))
    }

    /// Returns the names that the constraint reads. `None` unless it is made of comparisons and attributes: calls take as
    /// long as the reading that they may save.
    fn prefilter_names(&self) -> Option<Vec<Name>> {
        let is_cheap =
            |part: &Expression| matches!(ClauseForm::of(part), ClauseForm::Comparison(..) | ClauseForm::Truth(_));
        if !conjuncts(self.query.constraint()).into_iter().all(is_cheap) {
            return None;
        }
        let mentions = FreeNames::of(self.query.constraint(), self.context.dialect);
        Some(mentions.all_names()?.iter().cloned().collect())
    }
}

impl<S: AdSelection> BlockTask for AdScanner<S> {
    type State = AdScanState;
    type Output = ScannedBlock<S::Finding>;

    fn new_state(&self) -> AdScanState {
        let (projection, cache) = (self.new_projection(), ReadCache::new(self.context.dialect));
        // With a projection, the cache is only for ads that are read again.
        let drops_banners = self.drops_banners && projection.is_some();
        AdScanState { projection, cache: if drops_banners { cache.without_banner_attributes() } else { cache } }
    }

    fn projection<'s>(&self, state: &'s mut AdScanState) -> Option<&'s mut Projection> {
        state.projection.as_mut()
    }

    /// Scans a block. With a projection, reads only the projected attributes of ads in the long form.
    fn run(&self, AdScanState { projection, cache }: &mut AdScanState, block: &StreamBlock) -> Self::Output {
        let mut items = Vec::new();
        let Some(projection) = projection.as_mut().filter(|_| block.form == FileFormat::Long) else {
            // These ads are whole, so that none is read again.
            let mut unused = ReadCache::new(self.context.dialect);
            let ads = self.scan_items(block, block.ads_cached(cache), &mut unused, &mut items);
            return ScannedBlock { items, ads };
        };
        let mut projected = block.project(projection);
        self.scan_items(block, &mut projected, cache, &mut items);
        self.mark_present(|name| projected.has_occurred(name));
        // `scan_items` does not see the ads that the prefilter rejects. The reader counts these ads too.
        ScannedBlock { items, ads: projected.number() }
    }
}

#[cfg(test)]
mod tests;
