//! Columns of the offers' attributes, and classes of offers or requests that agree in some attributes.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{Ad, Expression, Name};
use crate::constraint::{has_scope_attribute, is_side_name};
use crate::eval::{Context, FreeNames};
use crate::pool::{
    AttributeColumn, CodedExpressions, ColumnCell, Partition, SparseRows, ValueKey, code, code_expressions,
};

use super::one_sided::one_sided_cell;
use super::request::ProbedRequest;

/// The columns of the offers' attributes, and the classes of equivalent offers. A column is built on first use, and so
/// are the classes for a set of attributes.
pub struct OfferColumns {
    pub offers: Vec<Ad>,
    pub context: Rc<Context>,
    /// Attributes whose evaluation may be circular: attributes through which the offers' clauses were found, such as
    /// `Requirements`, and the rank. If an offer binds anything but a literal to such an attribute, the cell of the
    /// offer is deviant.
    pub followed: Vec<Name>,
    /// Codes of the expressions of those attributes that have no column yet. They are found with the first column. `None`
    /// if each column is built from the ads.
    codes: OnceCell<Option<FxHashMap<Name, CodedExpressions>>>,
    columns: FxHashMap<Name, Rc<AttributeColumn>>,
    /// The column of each attribute that no offer has.
    absent: OnceCell<Rc<AttributeColumn>>,
    classes: FxHashMap<Vec<Name>, Rc<RefCell<AttributeClasses>>>,
    /// The classes of offers, by those of the attributes that an offer has.
    offer_classes: FxHashMap<Vec<Name>, Rc<OfferClasses>>,
    unindexable: OnceCell<FixedBitSet>,
}

impl OfferColumns {
    /// Keeps the offers; columns are built on first use.
    pub fn new(offers: Vec<Ad>, context: Context) -> Self {
        OfferColumns {
            offers,
            context: Rc::new(context),
            followed: Vec::new(),
            codes: OnceCell::new(),
            columns: FxHashMap::default(),
            absent: OnceCell::new(),
            classes: FxHashMap::default(),
            offer_classes: FxHashMap::default(),
            unindexable: OnceCell::new(),
        }
    }

    /// Returns the offers that cannot be indexed, because they redefine a scope name such as `target`.
    pub fn unindexable(&self) -> &FixedBitSet {
        self.unindexable.get_or_init(|| {
            let mut unindexable = FixedBitSet::with_capacity(self.offers.len());
            let rows = self.offers.iter().enumerate().filter(|(_, ad)| has_scope_attribute(ad));
            unindexable.extend(rows.map(|(row, _)| row));
            unindexable
        })
    }

    /// Returns the column of an attribute of the offers, and builds the column on first use.
    pub fn column(&mut self, name: &Name) -> Rc<AttributeColumn> {
        if let Some(column) = self.columns.get(name) {
            return Rc::clone(column);
        }
        let (offers, dialect) = (&self.offers, self.context.dialect);
        let cell = |offer: usize, expression: &Expression| {
            one_sided_cell(&offers[offer], name, expression, &self.followed, &self.context)
        };
        self.codes.get_or_init(|| code_small_ads(offers));
        let codes = match self.codes.get_mut() {
            Some(Some(codes)) => codes.remove(name).unwrap_or_default(),
            _ => CodedExpressions::of_attribute(offers, name),
        };
        if codes.expressions.is_empty() {
            let absent = || Rc::new(AttributeColumn::of_codes(codes, offers.len(), dialect, cell));
            let absent = Rc::clone(self.absent.get_or_init(absent));
            return Rc::clone(self.columns.entry(name.clone()).or_insert(absent));
        }
        self.context.count_held_bytes(offers.len() * BYTES_PER_CELL);
        self.context.count_comparisons(offers.len() as u64);
        let column = AttributeColumn::of_codes(codes, offers.len(), dialect, cell);
        Rc::clone(self.columns.entry(name.clone()).or_insert(Rc::new(column)))
    }

    /// Returns the classes of indexable offers that agree in all attributes that an expression mentions. The classes are
    /// built on first use.
    pub fn classes(&mut self, mentions: &FreeNames) -> Rc<RefCell<AttributeClasses>> {
        let mut names: Vec<Name> = mentions.names.iter().filter(|name| !is_side_name(name)).cloned().collect();
        names.sort();
        if let Some(classes) = self.classes.get(&names) {
            return Rc::clone(classes);
        }
        let id = self.classes.len();
        let offers = self.offer_classes(&names);
        let classes = AttributeClasses { id, names: names.clone(), offers, request_classes: FxHashMap::default() };
        Rc::clone(self.classes.entry(names).or_insert(Rc::new(RefCell::new(classes))))
    }

    /// Returns the classes of indexable offers that agree in some attributes. Attributes that no offer has separate none,
    /// so that thousands of expressions about such attributes share their classes.
    fn offer_classes(&mut self, names: &[Name]) -> Rc<OfferClasses> {
        let mut columns: Vec<(Name, Rc<AttributeColumn>)> =
            names.iter().map(|name| (name.clone(), self.column(name))).collect();
        let absent = self.absent.get();
        columns.retain(|(_, column)| absent.is_none_or(|absent| !Rc::ptr_eq(absent, column)));
        let present: Vec<Name> = columns.iter().map(|(name, _)| name.clone()).collect();
        if let Some(classes) = self.offer_classes.get(&present) {
            return Rc::clone(classes);
        }
        self.context.count_held_bytes(self.offers.len() * BYTES_PER_CELL);
        self.context.count_comparisons(self.offers.len() as u64);
        let mut offers = Partition::new(self.offers.len());
        let unindexable = self.unindexable();
        if !unindexable.is_clear() {
            offers.split(1, |row| (!unindexable.contains(row)).then_some(0));
        }
        for (_, column) in columns {
            column.split(&mut offers);
        }
        let classes = Rc::new(OfferClasses::new(offers));
        Rc::clone(self.offer_classes.entry(present).or_insert(classes))
    }
}

/// Number of bytes that an offer takes in a column, and in the classes of offers.
const BYTES_PER_CELL: usize = 32;

/// Maximum number of attributes per ad, on average, for which the codes of all attributes are found at once. Such ads
/// were read selectively, so that most of their attributes get a column.
const MAX_CODED_ATTRIBUTES: usize = 80;

/// Maximum number of codes for each attribute of an ad. There are more if each ad has other attributes.
const MAX_CODES_PER_ATTRIBUTE: usize = 32;

/// Finds the codes of all attributes, if the ads have few, and mostly the same.
fn code_small_ads(ads: &[Ad]) -> Option<FxHashMap<Name, CodedExpressions>> {
    let attributes: usize = ads.iter().map(Ad::len).sum();
    let (mut names, mut shapes) = (FxHashSet::default(), FxHashSet::default());
    for shape in ads.iter().map(Ad::shape).filter(|shape| shapes.insert(Arc::as_ptr(shape))) {
        names.extend(shape.names());
    }
    let are_small = attributes <= ads.len().saturating_mul(MAX_CODED_ATTRIBUTES);
    let are_alike = names.len().saturating_mul(ads.len()) <= attributes.saturating_mul(MAX_CODES_PER_ATTRIBUTE);
    (are_small && are_alike).then(|| code_expressions(ads).collect())
}

/// Classes of offers that have equal values in some attributes.
pub struct OfferClasses {
    /// The classes. An offer is in no class if one of the attributes is deviant in the offer, or if the offer cannot be
    /// indexed: an expression that is evaluated in it, for the whole class, has another value.
    pub partition: Partition,
    rows: OnceCell<ClassRows>,
    /// The offer of each class in which expressions are evaluated, [`NO_OFFER`] before the first evaluation.
    representatives: Vec<Cell<u32>>,
}

/// Stands for the representative of a class that has none yet.
const NO_OFFER: u32 = u32::MAX;

/// The offers of each class.
pub struct ClassRows {
    /// The offers of each class, in the order of [`Partition::first_rows`].
    pub of_class: Vec<SparseRows>,
    /// The offers that are in no class.
    pub without_class: SparseRows,
    /// Number of words in all the sets.
    pub word_count: usize,
}

impl OfferClasses {
    fn new(partition: Partition) -> Self {
        let representatives = vec![Cell::new(NO_OFFER); partition.first_rows().len()];
        OfferClasses { partition, rows: OnceCell::new(), representatives }
    }

    /// Returns the offer of a class in which expressions are evaluated: `offer` for the first call. One offer stands for
    /// all, so that few ads have to be in the processor's cache.
    pub fn representative(&self, class: usize, offer: usize) -> usize {
        let representative = &self.representatives[class];
        if representative.get() == NO_OFFER {
            representative.set(code(offer));
        }
        representative.get() as usize
    }

    /// Returns the offers of each class. They are found on first use.
    pub fn rows(&self) -> &ClassRows {
        self.rows.get_or_init(|| {
            let mut of_class = vec![SparseRows::default(); self.partition.first_rows().len()];
            let mut without_class = SparseRows::default();
            for row in 0..self.partition.row_count() {
                self.partition.group(row).map_or(&mut without_class, |class| &mut of_class[class]).push(row);
            }
            let word_count = of_class.iter().chain([&without_class]).map(SparseRows::word_count).sum();
            ClassRows { of_class, without_class, word_count }
        })
    }
}

/// Classes of offers, and classes of requests, that have equal values in some attributes. A request gets its class when
/// it is probed.
pub struct AttributeClasses {
    /// Identifier of this set of classes, unique in the index of the offers.
    id: usize,
    /// Names of the attributes in which the ads of a class agree, sorted.
    names: Vec<Name>,
    pub offers: Rc<OfferClasses>,
    request_classes: FxHashMap<Box<[ValueKey]>, usize>,
}

impl AttributeClasses {
    /// Returns the class of a request. `None` if the request has an attribute in `names` that is deviant, a list or an
    /// ad.
    pub fn request_class(&mut self, request: &mut ProbedRequest<'_, '_>) -> Option<usize> {
        if let Some(Some(class)) = request.classes.get(self.id) {
            return *class;
        }
        let keys: Option<Box<[ValueKey]>> = self
            .names
            .iter()
            .map(|name| match request.cell(name) {
                ColumnCell::Absent => Some(ValueKey::Absent),
                // A list or an ad gets no key. The key would be the address in memory, which another list or ad may
                // have later.
                ColumnCell::Constant(value) => {
                    Some(ValueKey::of(&value)).filter(|key| !matches!(key, ValueKey::Structure(_)))
                }
                ColumnCell::Deviant => None,
            })
            .collect();
        let next = self.request_classes.len();
        let class = keys.map(|keys| *self.request_classes.entry(keys).or_insert(next));
        request.classes.resize(request.classes.len().max(self.id + 1), None);
        request.classes[self.id] = Some(class);
        class
    }
}
