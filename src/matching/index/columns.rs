//! Columns of the offers' attributes, and classes of offers or requests that agree in some attributes.

use std::cell::RefCell;
use std::rc::Rc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use crate::ad::{Ad, Name};
use crate::constraint::{has_scope_attribute, is_side_name};
use crate::eval::{Context, FreeNames};
use crate::pool::{AttributeColumn, ColumnCell, Partition, ValueKey};

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
    columns: FxHashMap<Name, Rc<AttributeColumn>>,
    classes: FxHashMap<Vec<Name>, Rc<RefCell<AttributeClasses>>>,
}

impl OfferColumns {
    /// Keeps the offers; columns are built on first use.
    pub fn new(offers: Vec<Ad>, context: Context) -> Self {
        OfferColumns {
            offers,
            context: Rc::new(context),
            followed: Vec::new(),
            columns: FxHashMap::default(),
            classes: FxHashMap::default(),
        }
    }

    /// Returns the offers that cannot be indexed, because they redefine a scope name such as `target`.
    pub fn unindexable(&self) -> FixedBitSet {
        let mut unindexable = FixedBitSet::with_capacity(self.offers.len());
        let rows = self.offers.iter().enumerate().filter(|(_, ad)| has_scope_attribute(ad));
        unindexable.extend(rows.map(|(row, _)| row));
        unindexable
    }

    /// Returns the column of an attribute of the offers, and builds the column on first use.
    pub fn column(&mut self, name: &Name) -> Rc<AttributeColumn> {
        if let Some(column) = self.columns.get(name) {
            return Rc::clone(column);
        }
        let expressions = self.offers.iter().map(|ad| ad.get(name));
        let column = AttributeColumn::of_expressions(expressions, self.context.dialect, |offer, expression| {
            one_sided_cell(&self.offers[offer], name, expression, &self.followed, &self.context)
        });
        Rc::clone(self.columns.entry(name.clone()).or_insert(Rc::new(column)))
    }

    /// Returns the classes of offers that agree in all attributes that an expression mentions. The classes are built on
    /// first use.
    pub fn classes(&mut self, mentions: &FreeNames) -> Rc<RefCell<AttributeClasses>> {
        let mut names: Vec<Name> = mentions.names.iter().filter(|name| !is_side_name(name)).cloned().collect();
        names.sort();
        if let Some(classes) = self.classes.get(&names) {
            return Rc::clone(classes);
        }
        let mut offers = Partition::new(self.offers.len());
        for name in &names {
            self.column(name).split(&mut offers);
        }
        let id = self.classes.len();
        let classes = AttributeClasses { id, names: names.clone(), offers, request_classes: FxHashMap::default() };
        Rc::clone(self.classes.entry(names).or_insert(Rc::new(RefCell::new(classes))))
    }
}

/// Classes of offers, and classes of requests, that have equal values in some attributes. A request gets its class when
/// it is probed.
pub struct AttributeClasses {
    /// Identifier of this set of classes, unique in the index of the offers.
    id: usize,
    /// Names of the attributes in which the ads of a class agree, sorted.
    names: Vec<Name>,
    /// The classes of offers. An offer is in no class if one of the attributes is deviant in the offer.
    pub offers: Partition,
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
