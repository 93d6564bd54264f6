//! The window query of an open port (thesis 5.4.2): conditions on the candidates, to be answered by the index.
//!
//! The thesis builds and answers the query in three steps:
//! * Identification collects the constraint of the port, the attributes that the port shows to candidates, and the
//!   constraints of docked ports that could not be decided while this port was open.
//! * Translation turns clauses into conditions on one attribute: [`SymbolicEvaluator::clause`].
//! * Collation intersects the answers: all conditions must be met.

use std::hash::{Hash, Hasher};

use crate::ad::{Name, Truth};
use crate::matching::gang::participants::{
    AttributeTranslation, HashableValue, ParticipantTable, PortPlace, ScopedClause, SymbolicClause, SymbolicEvaluator,
    SymbolicValue, WindowCondition,
};

use super::PortIndex;

/// Conditions on the candidates of a port, as far as the index can test them. Queries of different ports with the same
/// conditions are equal.
#[derive(Default)]
pub struct WindowQuery {
    /// Whether it is already known that nothing can dock at the port.
    pub(super) is_unsatisfiable: bool,
    /// Conditions on the candidates' attributes.
    pub(super) conditions: Vec<WindowCondition>,
    /// Values that the port shows to candidates. Each value comes with the index of the column of bounds on this value.
    pub(super) shown: Vec<(usize, HashableValue)>,
    /// Further values that the port shows, computed from the candidate at another port. Each entry holds the index of
    /// the column of bounds on the value, the other port, and the function that computes the value from an attribute of
    /// the candidate.
    pub computed: Vec<(usize, PortPlace, AttributeTranslation)>,
    /// Whether `conditions` cover the whole constraint of the port.
    pub is_complete: bool,
}

impl WindowQuery {
    /// Builds the window query of an open port, given the current dockings. `undecided` are docked ports whose
    /// constraints depend on open ports. Their clauses add conditions on the candidates.
    pub fn of(place: PortPlace, undecided: &[PortPlace], table: &ParticipantTable, index: &PortIndex) -> Self {
        let mut window = WindowQuery { shown: Vec::with_capacity(index.bound_count()), ..WindowQuery::default() };
        match table.clauses(place) {
            Some(clauses) => {
                window.conditions = Vec::with_capacity(clauses.len());
                window.is_complete = window.add_clauses(place, &clauses, table);
            }
            None => window.is_unsatisfiable = true,
        }
        window.add_undecided(place, undecided, table);
        let mut last: Option<(&Name, SymbolicValue)> = None;
        for (number, bounds) in index.demands.bounds.iter().enumerate() {
            let attribute = &bounds.subject.attribute;
            // Bounds on one attribute are adjacent, so the shown attribute is computed once for all of them.
            if last.as_ref().is_none_or(|(name, _)| *name != attribute) {
                last = Some((attribute, SymbolicEvaluator::new(table).attribute(place, attribute)));
            }
            match &last {
                Some((_, SymbolicValue::Known(value))) => {
                    let value = bounds.subject.apply(value.clone(), &table.context);
                    window.shown.push((number, HashableValue(value)));
                }
                Some((_, SymbolicValue::Function(of, shown))) if *of != place => {
                    window.computed.push((number, *of, shown.clone().then(&bounds.subject)));
                }
                _ => {}
            }
        }
        window
    }

    /// Returns the key for equality and hashing. Queries with equal keys select the same rows.
    fn key(&self) -> (bool, &[WindowCondition], &[(usize, HashableValue)]) {
        (self.is_unsatisfiable, &self.conditions, &self.shown)
    }

    /// Whether `shown` and `computed` together cover every column of bounds.
    pub fn shows_all(&self, index: &PortIndex) -> bool {
        self.shown.len() + self.computed.len() == index.bound_count()
    }

    /// Builds a query from the constraints of undecided docked ports only, without the constraint of the port itself.
    pub fn of_undecided(place: PortPlace, undecided: &[PortPlace], table: &ParticipantTable) -> Self {
        let mut window = WindowQuery::default();
        window.add_undecided(place, undecided, table);
        window
    }

    /// Adds conditions on the candidates at `place`, taken from the constraints of the docked ports `undecided`.
    fn add_undecided(&mut self, place: PortPlace, undecided: &[PortPlace], table: &ParticipantTable) {
        for clauses in undecided.iter().filter_map(|port| table.clauses(*port)) {
            self.add_clauses(place, &clauses, table);
        }
    }

    /// Adds the clauses that are conditions on the candidates at `place`. Returns whether the query covers all of
    /// `clauses`.
    fn add_clauses(&mut self, place: PortPlace, clauses: &[ScopedClause], table: &ParticipantTable) -> bool {
        let mut is_complete = true;
        for (clause, frame) in clauses {
            match SymbolicEvaluator::new(table).clause(place, clause, frame) {
                SymbolicClause::Condition(condition) => self.conditions.push(condition),
                SymbolicClause::Known(value) => {
                    self.is_unsatisfiable |= !Truth::of(&value, table.context.dialect).is_true();
                }
                SymbolicClause::Opaque => is_complete = false,
            }
        }
        is_complete
    }
}

impl PartialEq for WindowQuery {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for WindowQuery {}

impl Hash for WindowQuery {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}
