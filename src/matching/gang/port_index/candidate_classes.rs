//! Equivalence classes of candidates that no request so far can tell apart (thesis 5.8.1: summarization).

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{Expression, ExpressionKind, Name, Participant};
use crate::constraint::is_scope_name;
use crate::eval::FreeNames;
use crate::matching::gang::participants::ParticipantTable;
use crate::matching::policy::candidate_label;
use crate::pool::Partition;

use super::{PortIndex, RowBitmap, first_row_from};

/// Builds and caches the classes of rows that no request so far can tell apart.
#[derive(Default)]
pub struct CandidateClassifier {
    /// Attribute names mentioned by the requests so far, by the policy, or by offers with several ports. Rows with
    /// equal values of these attributes and equal demands are equivalent.
    significant_names: FxHashSet<Name>,
    /// Whether some expression may read attributes that it does not name. No two rows count as equivalent then.
    is_opaque: bool,
    /// Whether the names that offers and the policy mention have been added to `significant_names`.
    has_read_offers: bool,
    /// Classes of equivalent rows. `None` until computed.
    classes: Option<Rc<CandidateClasses>>,
    /// Classes of rows with equal demands. `None` until computed.
    demand_classes: Option<Rc<CandidateClasses>>,
}

/// A partition of rows into classes.
pub struct CandidateClasses {
    partition: Partition,
    /// Rows sorted by class, so that each class is a range of positions.
    rows: Vec<usize>,
    /// Position in `rows` at which each class starts, followed by the end of the last class.
    starts: Vec<usize>,
    /// Bitmaps of the rows of large classes, by class: see [`LARGE_CLASS_DIVISOR`].
    large_classes: FxHashMap<usize, RowBitmap>,
}

/// Divisor that decides which classes are large. A class is large if it has more rows than the number of all rows
/// divided by this divisor. A large class is removed from a set of rows by a bitmap, which is faster than row by row.
const LARGE_CLASS_DIVISOR: usize = 64;

impl CandidateClassifier {
    /// Returns the classes of rows that neither the current request nor an earlier request can tell apart.
    pub fn candidate_classes(&mut self, index: &mut PortIndex, table: &mut ParticipantTable) -> Rc<CandidateClasses> {
        let (known, was_opaque) = (self.significant_names.len(), self.is_opaque);
        self.add_names_of(Participant::REQUEST, table);
        if !self.has_read_offers {
            self.has_read_offers = true;
            table.offers_with_ports().for_each(|offer| self.add_names_of(offer, table));
            for rule in &table.docking_vector {
                self.add_names_in(&rule.expression, &[&candidate_label()], table);
            }
        }
        if let Some(classes) = &self.classes
            && (known, was_opaque) == (self.significant_names.len(), self.is_opaque)
        {
            return Rc::clone(classes);
        }
        let names = if self.is_opaque { None } else { Some(self.significant_names.iter()) };
        let classes = CandidateClasses::new(index.candidate_partition(names, table));
        Rc::clone(self.classes.insert(Rc::new(classes)))
    }

    /// Drops the cached classes. Must be called after the ad of an offer has been replaced. The new ad may mention names
    /// that no offer mentioned before.
    pub fn invalidate(&mut self) {
        self.has_read_offers = false;
        self.classes = None;
        self.demand_classes = None;
    }

    /// Returns the classes of rows with equal demands on the port at which they dock, from the cache if possible.
    pub fn demand_classes(&mut self, index: &PortIndex) -> Rc<CandidateClasses> {
        Rc::clone(
            self.demand_classes
                .get_or_insert_with(|| Rc::new(CandidateClasses::new(index.demands.partition(|_| true)))),
        )
    }

    /// Adds the names that the ad of a participant mentions to `significant_names`.
    fn add_names_of(&mut self, participant: Participant, table: &ParticipantTable) {
        let labels: Vec<&Name> = table.labels(participant).collect();
        let attributes = table.ad(participant).iter();
        attributes.for_each(|attribute| self.add_names_in(attribute.expression, &labels, table));
    }

    /// Adds the names that an expression mentions to `significant_names`. The classifier becomes opaque if a label is
    /// used as a whole ad, because the expression may then read any attribute of the candidate.
    fn add_names_in(&mut self, expression: &Expression, labels: &[&Name], table: &ParticipantTable) {
        let mut calls = false;
        let mut pending = vec![(expression, false)];
        while let Some((expression, is_selected_from)) = pending.pop() {
            match expression.kind() {
                ExpressionKind::Attribute(name) => {
                    let is_an_ad = is_scope_name(name);
                    self.is_opaque |= !is_selected_from && (is_an_ad || labels.contains(&name));
                    if !is_an_ad {
                        self.add_name(name);
                    }
                }
                ExpressionKind::RootAttribute(name) => self.add_name(name),
                ExpressionKind::Select(inner, name) => {
                    self.add_name(name);
                    pending.push((inner, true));
                }
                ExpressionKind::Parentheses(inner) => pending.push((inner, is_selected_from)),
                // Skip the `Label` attribute of a port, which names the label but does not read the ad docked there.
                ExpressionKind::Ad(ad) => {
                    let attributes = ad.iter().filter(|attribute| !attribute.name.is("Label"));
                    attributes.for_each(|attribute| pending.push((attribute.expression, false)));
                }
                kind => {
                    calls |= matches!(kind, ExpressionKind::Call(..));
                    kind.for_each_child(|child| pending.push((child, false)));
                }
            }
        }
        if calls {
            let mentions = FreeNames::of(expression, table.context.dialect);
            self.is_opaque |= mentions.reads_unknown();
            mentions.names.iter().for_each(|name| self.add_name(name));
        }
    }

    fn add_name(&mut self, name: &Name) {
        if !self.significant_names.contains(name) {
            self.significant_names.insert(name.clone());
        }
    }
}

impl CandidateClasses {
    fn new(partition: Partition) -> Self {
        let mut starts = vec![0; partition.first_rows().len() + 1];
        let of: Vec<(usize, usize)> =
            (0..partition.row_count()).filter_map(|row| partition.group(row).map(|class| (class, row))).collect();
        for (class, _) in &of {
            starts[class + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let (mut rows, mut next) = (vec![0; of.len()], starts.clone());
        for (class, row) in of {
            rows[next[class]] = row;
            next[class] += 1;
        }
        let mut large_classes = FxHashMap::default();
        for (class, bounds) in starts.windows(2).enumerate() {
            if (bounds[1] - bounds[0]) * LARGE_CLASS_DIVISOR > partition.row_count() {
                let mut set = RowBitmap::with_capacity(partition.row_count());
                set.extend(rows[bounds[0]..bounds[1]].iter().copied());
                large_classes.insert(class, set);
            }
        }
        CandidateClasses { partition, rows, starts, large_classes }
    }

    /// Returns the class of a row. `None` if no other row is known to be equivalent.
    pub fn class_of(&self, row: usize) -> Option<usize> {
        self.partition.group(row)
    }

    /// Returns the rows of `rows` that represent their classes: the first row of each class, and every row without a
    /// class. Stops after `most` rows.
    pub fn representatives(&self, rows: &RowBitmap, most: usize) -> Vec<usize> {
        let (mut left, mut found, mut from) = (rows.clone(), Vec::new(), 0);
        while let Some(row) = first_row_from(&left, from).filter(|_| found.len() < most) {
            found.push(row);
            from = row + 1;
            let Some(class) = self.class_of(row) else { continue };
            if let Some(large) = self.large_classes.get(&class) {
                left.difference_with(large);
            } else {
                self.rows[self.starts[class]..self.starts[class + 1]].iter().for_each(|row| left.set(*row, false));
            }
        }
        found
    }
}
