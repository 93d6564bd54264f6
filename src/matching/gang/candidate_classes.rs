//! Equivalence classes of candidates that no request can tell apart (thesis 5.8.1: summarization).

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{Ad, Expression, Kind, Name};
use crate::constraint::stands_for_an_ad;
use crate::eval::Mentions;
use crate::matching::policy::label;
use crate::pool::Partition;

use super::decisions::first_from;
use super::participants::Table;
use super::port_index::{Links, Rows};

/// Builds and caches the classes of rows that all requests so far cannot tell apart.
#[derive(Default)]
pub struct Buckets {
    /// Every attribute name that the requests, offers with ports of their own and the policy mention. Rows with equal
    /// values of these attributes and equal demands are equivalent.
    looked_at: FxHashSet<Name>,
    /// Whether some expression may read attributes that it does not name. There are no classes then.
    is_opaque: bool,
    /// Whether the names that offers and the policy mention have been added.
    has_read_offers: bool,
    /// Classes of equivalent rows.
    alike: Option<Rc<Alike>>,
    /// Classes of rows with equal demands.
    demanding: Option<Rc<Alike>>,
}

/// A partition of rows into classes.
pub struct Alike {
    buckets: Partition,
    /// Rows sorted by class, followed by the position at which each class starts.
    rows: Vec<usize>,
    starts: Vec<usize>,
    /// Bitmaps of the large classes, by class.
    sets: FxHashMap<usize, Rows>,
}

/// A class is large if it holds more than one row in this many. Its rows are then cleared faster with a bitmap, word by
/// word, than one by one.
const LARGE: usize = 64;

impl Buckets {
    /// Returns the classes of rows that neither the seated request nor an earlier one can tell apart.
    pub fn alike(&mut self, links: &mut Links, table: &mut Table) -> Rc<Alike> {
        let (known, was_opaque) = (self.looked_at.len(), self.is_opaque);
        self.read(&table.ad(0), table, 0);
        if !self.has_read_offers {
            self.has_read_offers = true;
            for participant in table.offers_with_ports() {
                self.read(&table.ad(participant), table, participant);
            }
            let vector: Vec<Expression> = table.vector().iter().map(|rule| rule.expression.clone()).collect();
            for expression in &vector {
                self.look(expression, &[label()], table);
            }
        }
        if let Some(alike) = &self.alike
            && (known, was_opaque) == (self.looked_at.len(), self.is_opaque)
        {
            return Rc::clone(alike);
        }
        let buckets = if self.is_opaque { None } else { Some(self.looked_at.iter()) };
        let alike = Rc::new(Alike::new(links.alike(buckets, table)));
        self.alike = Some(Rc::clone(&alike));
        alike
    }

    /// Drops the cached classes, as needed after rows have changed.
    pub fn forget(&mut self) {
        self.alike = None;
        self.demanding = None;
    }

    /// Returns the classes of rows with equal demands on the port at which they dock.
    pub fn demanding(&mut self, links: &Links) -> Rc<Alike> {
        Rc::clone(self.demanding.get_or_insert_with(|| Rc::new(Alike::new(links.demanding()))))
    }

    /// Adds the names that an ad mentions.
    fn read(&mut self, ad: &Ad, table: &Table, participant: u32) {
        let labels = table.labels(participant);
        ad.iter().for_each(|attribute| self.look(attribute.expression, &labels, table));
    }

    /// Adds the names that an expression mentions. A label used as a whole may be read in full, so it makes the
    /// classifier opaque.
    fn look(&mut self, expression: &Expression, labels: &[Name], table: &Table) {
        let mut calls = false;
        let mut pending = vec![(expression, false)];
        while let Some((expression, is_selected_from)) = pending.pop() {
            match expression.kind() {
                Kind::Attribute(name) => {
                    let is_an_ad = stands_for_an_ad(name);
                    self.is_opaque |= !is_selected_from && (is_an_ad || labels.contains(name));
                    if !is_an_ad {
                        self.mention(name);
                    }
                }
                Kind::RootAttribute(name) => self.mention(name),
                Kind::Select(inner, name) => {
                    self.mention(name);
                    pending.push((inner, true));
                }
                Kind::Parentheses(inner) => pending.push((inner, is_selected_from)),
                // The `Label` attribute of a port names the label without reading it.
                Kind::Ad(ad) => {
                    let attributes = ad.iter().filter(|attribute| !attribute.name.is("Label"));
                    attributes.for_each(|attribute| pending.push((attribute.expression, false)));
                }
                kind => {
                    calls |= matches!(kind, Kind::Call(..));
                    kind.for_each_child(|child| pending.push((child, false)));
                }
            }
        }
        if calls {
            let mentions = Mentions::of(expression, table.context.dialect);
            self.is_opaque |= mentions.is_opaque();
            mentions.names.iter().for_each(|name| self.mention(name));
        }
    }

    fn mention(&mut self, name: &Name) {
        if !self.looked_at.contains(name) {
            self.looked_at.insert(name.clone());
        }
    }
}

impl Alike {
    fn new(buckets: Partition) -> Self {
        let mut starts = vec![0; buckets.first().len() + 1];
        let of: Vec<(usize, usize)> =
            (0..buckets.rows()).filter_map(|row| buckets.group(row).map(|bucket| (bucket, row))).collect();
        for (bucket, _) in &of {
            starts[bucket + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let (mut rows, mut next) = (vec![0; of.len()], starts.clone());
        for (bucket, row) in of {
            rows[next[bucket]] = row;
            next[bucket] += 1;
        }
        let mut sets = FxHashMap::default();
        for (bucket, bounds) in starts.windows(2).enumerate() {
            if (bounds[1] - bounds[0]) * LARGE > buckets.rows() {
                let mut set = Rows::with_capacity(buckets.rows());
                set.extend(rows[bounds[0]..bounds[1]].iter().copied());
                sets.insert(bucket, set);
            }
        }
        Alike { buckets, rows, starts, sets }
    }

    /// Returns the class of a row. `None` if the row is equivalent to no other.
    pub fn bucket(&self, row: usize) -> Option<usize> {
        self.buckets.group(row)
    }

    /// Returns the first row of each class in `rows`, and every row without a class; at most `most` rows.
    pub fn representatives(&self, rows: &Rows, most: usize) -> Vec<usize> {
        let (mut left, mut found, mut from) = (rows.clone(), Vec::new(), 0);
        while let Some(row) = first_from(&left, from).filter(|_| found.len() < most) {
            found.push(row);
            from = row + 1;
            let Some(bucket) = self.bucket(row) else { continue };
            if let Some(set) = self.sets.get(&bucket) {
                left.difference_with(set);
                continue;
            }
            for row in &self.rows[self.starts[bucket]..self.starts[bucket + 1]] {
                left.set(*row, false);
            }
        }
        found
    }
}
