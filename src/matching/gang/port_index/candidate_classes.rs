//! Equivalence classes of candidates that no request so far can tell apart (thesis 5.8.1: summarization).

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ad::{Dialect, Expression, ExpressionKind, Name, Participant};
use crate::constraint::is_scope_name;
use crate::eval::FreeNames;
use crate::matching::gang::participants::ParticipantTable;
use crate::matching::policy::candidate_label;
use crate::pool::{Partition, RowLists, code};

use super::{PortIndex, RowBitmap, first_row_from};

/// Builds and caches the classes of rows that no request so far can tell apart.
#[derive(Default)]
pub struct CandidateClassifier {
    /// The classes of rows that are equal for constraints and ranks.
    ranked: NamedClasses,
    /// The classes of rows that are equal for constraints.
    unranked: NamedClasses,
    /// Whether the constraint of some offer may read an attribute of the port at which it docks, by name.
    demanded: FxHashMap<Name, bool>,
    /// Classes of rows with equal demands. `None` until computed.
    demand_classes: Option<Rc<CandidateClasses>>,
}

/// Classes of rows with equal demands and equal values of some attributes.
#[derive(Default)]
struct NamedClasses {
    /// Attribute names mentioned by the requests so far, by the policy, or by offers with several ports. No two rows
    /// count as equivalent if they may mention more.
    names: MentionedNames,
    /// Whether the names that offers and the policy mention have been added.
    has_read_offers: bool,
    /// Classes of equivalent rows. `None` until computed.
    classes: Option<Rc<CandidateClasses>>,
}

/// A partition of rows into classes.
pub struct CandidateClasses {
    partition: Partition,
    /// The rows of each class.
    rows: RowLists,
    /// Bitmaps of the rows of large classes, by class: see [`LARGE_CLASS_DIVISOR`].
    large_classes: FxHashMap<u32, RowBitmap>,
}

/// Divisor that decides which classes are large. A class is large if it has more rows than the number of all rows
/// divided by this divisor. A large class is removed from a set of rows by a bitmap, which is faster than row by row.
const LARGE_CLASS_DIVISOR: usize = 64;

/// Attribute names that expressions mention, also as attributes of the ads docked at ports (thesis 3.3): rows with equal
/// values of these attributes are equal for the expressions.
#[derive(Default)]
struct MentionedNames {
    names: FxHashSet<Name>,
    /// Whether some expression may read attributes that it does not name, because a label is used as a whole ad.
    is_opaque: bool,
}

impl MentionedNames {
    /// Whether `name` may be read.
    fn mention(&self, name: &Name) -> bool {
        self.is_opaque || self.names.contains(name)
    }

    fn add(&mut self, expression: &Expression, dialect: Dialect, labels: &[Name]) {
        let mut mentions = FreeNames::default();
        mentions.add_with_labels(expression, dialect, labels);
        self.is_opaque |= mentions.reads_unknown();
        self.names.extend(mentions.names.into_iter().filter(|name| !is_scope_name(name)));
    }

    /// Adds the names that the ad of a participant mentions. Leaves out the expressions of attributes that are called
    /// `skipped`.
    fn add_participant(&mut self, participant: Participant, skipped: Option<&Name>, table: &ParticipantTable) {
        let labels: Vec<Name> = table.labels(participant).cloned().collect();
        let is_read = |name: &Name| !name.is("Label") && Some(name) != skipped;
        let own = table.ad(participant).iter().filter(|attribute| Some(attribute.name) != skipped);
        let mut pending: Vec<&Expression> = own.map(|attribute| attribute.expression).collect();
        while let Some(part) = pending.pop() {
            match part.kind() {
                // The `Label` of a port names the label, but does not read the ad docked there.
                ExpressionKind::Ad(ad) => {
                    let read = ad.iter().filter(|attribute| is_read(attribute.name));
                    pending.extend(read.map(|attribute| attribute.expression));
                }
                ExpressionKind::List(elements) => pending.extend(elements.iter()),
                _ => self.add(part, table.context.dialect, &labels),
            }
        }
    }
}

impl NamedClasses {
    /// Returns the classes, made anew if the current request mentions further names. Leaves out the names that only
    /// ranks mention unless `ranks_matter`.
    fn classes(
        &mut self,
        ranks_matter: bool,
        index: &mut PortIndex,
        table: &mut ParticipantTable,
    ) -> Rc<CandidateClasses> {
        let skipped = (!ranks_matter).then(|| table.protocol.rank_name().clone());
        let known = (self.names.names.len(), self.names.is_opaque);
        self.names.add_participant(Participant::REQUEST, skipped.as_ref(), table);
        if !self.has_read_offers {
            self.has_read_offers = true;
            for offer in table.offers_with_ports() {
                self.names.add_participant(offer, skipped.as_ref(), table);
            }
            for rule in &table.docking_vector {
                self.names.add(&rule.expression, table.context.dialect, &[candidate_label()]);
            }
        }
        if let Some(classes) = &self.classes
            && known == (self.names.names.len(), self.names.is_opaque)
        {
            return Rc::clone(classes);
        }
        let names = if self.names.is_opaque { None } else { Some(self.names.names.iter()) };
        let classes = CandidateClasses::new(index.candidate_partition(names, ranks_matter, table));
        Rc::clone(self.classes.insert(Rc::new(classes)))
    }

    /// Drops the cached classes, and reads the offers again for the next ones.
    fn invalidate(&mut self) {
        self.has_read_offers = false;
        self.classes = None;
    }
}

impl CandidateClassifier {
    /// Returns the classes of rows that neither the current request nor an earlier request can tell apart.
    pub fn candidate_classes(&mut self, index: &mut PortIndex, table: &mut ParticipantTable) -> Rc<CandidateClasses> {
        self.ranked.classes(true, index, table)
    }

    /// Returns the classes of rows that no constraint can tell apart: rows of a class may differ in rank. If one of
    /// them fits no gang, no other does. The same as [`CandidateClassifier::candidate_classes`] if a constraint may read
    /// a rank, or if candidates are chosen by docking vectors, which may forbid a candidate.
    pub fn feasibility_classes(&mut self, index: &mut PortIndex, table: &mut ParticipantTable) -> Rc<CandidateClasses> {
        let rank = table.protocol.rank_name().clone();
        if self.is_demanded(&rank, index, table) || !table.docking_vector.is_empty() {
            return self.candidate_classes(index, table);
        }
        let classes = self.unranked.classes(false, index, table);
        if self.unranked.names.mention(&rank) { self.candidate_classes(index, table) } else { classes }
    }

    /// Whether some offer may read the attribute `name` of the port at which it docks, in a constraint or in what it
    /// shows to others.
    pub fn is_demanded(&mut self, name: &Name, index: &PortIndex, table: &ParticipantTable) -> bool {
        *self.demanded.entry(name.clone()).or_insert_with(|| {
            let demands = &index.demands;
            let is_bounded = demands.bounds.iter().any(|bounds| bounds.subject.attribute == *name);
            let unknown = (0..index.places.len()).filter(|row| demands.unranked_class_of[*row].is_none());
            let mut offers: Vec<Participant> = unknown.map(|row| index.places[row].participant).collect();
            offers.dedup();
            let mut offers = offers.into_iter().chain(table.offers_with_ports());
            is_bounded
                || offers.any(|offer| {
                    let mut names = MentionedNames::default();
                    names.add_participant(offer, Some(name), table);
                    names.mention(name)
                })
        })
    }

    /// Drops the cached classes. Must be called after the ad of an offer has been replaced. The new ad may mention names
    /// that no offer mentioned before.
    pub fn invalidate(&mut self) {
        self.ranked.invalidate();
        self.unranked.invalidate();
        self.demanded.clear();
        self.demand_classes = None;
    }

    /// Returns the classes of rows with equal demands on the port at which they dock, from the cache if possible.
    pub fn demand_classes(&mut self, index: &PortIndex) -> Rc<CandidateClasses> {
        Rc::clone(
            self.demand_classes
                .get_or_insert_with(|| Rc::new(CandidateClasses::new(index.demands.partition(true, |_| true)))),
        )
    }
}

impl CandidateClasses {
    fn new(partition: Partition) -> Self {
        let count = partition.first_rows().len();
        let of_row = |row: usize| partition.group(row).map(code);
        let rows = RowLists::new(count, (0..partition.row_count()).map(of_row));
        let is_large = |class: &u32| rows.rows(*class).len() * LARGE_CLASS_DIVISOR > partition.row_count();
        let bitmap = |class: u32| {
            let mut set = RowBitmap::with_capacity(partition.row_count());
            set.extend(rows.rows(class).iter().map(|row| *row as usize));
            (class, set)
        };
        let large_classes = (0..code(count)).filter(is_large).map(bitmap).collect();
        CandidateClasses { partition, rows, large_classes }
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
            let Some(class) = self.class_of(row).map(code) else { continue };
            match self.large_classes.get(&class) {
                Some(large) => left.difference_with(large),
                None => self.rows.rows(class).iter().for_each(|row| left.set(*row as usize, false)),
            }
        }
        found
    }

    /// Adds to `rows` a row and all rows of its class. `rows` must have the capacity of all rows.
    pub fn add_equivalent_rows(&self, row: usize, rows: &mut RowBitmap) {
        rows.insert(row);
        let Some(class) = self.class_of(row).map(code) else { return };
        match self.large_classes.get(&class) {
            Some(large) => rows.union_with(large),
            None => rows.extend(self.rows.rows(class).iter().map(|row| *row as usize)),
        }
    }
}
