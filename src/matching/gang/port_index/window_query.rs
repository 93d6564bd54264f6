//! The window query of an open port (thesis 5.4.2): conditions on what may dock there, to be answered by the index.
//!
//! The thesis builds and answers the query in three steps:
//! * Identification collects the constraint of the port, the attributes that it shows to candidates, and the
//!   constraints of docked ports that could not be decided while this port was open.
//! * Translation turns clauses into conditions on one attribute: [`SymbolicEvaluator`].
//! * Collation intersects the answers: all conditions must be met.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::ad::{BinaryOperator, Expression, Name, ScopeFrame, Value};
use crate::matching::gang::participants::{
    AttributeTranslation, ParticipantTable, PortPlace, SymbolicClause, SymbolicEvaluator, SymbolicValue,
};
use crate::pool::ValueKey;
use crate::protocol::is_met;

use super::PortIndex;

/// Conditions on the candidates of a port, as far as the index can test them. Queries of different ports with the same
/// conditions are equal.
#[derive(Default)]
pub struct WindowQuery {
    /// Whether it is already known that nothing can dock at the port.
    pub(super) is_unsatisfiable: bool,
    /// Conditions on the candidates' attributes.
    pub(super) conditions: Vec<WindowCondition>,
    /// Attributes that the port shows with known values: for each column of bounds, its index and the test that the
    /// bounds of a candidate must pass.
    pub(super) shown: Vec<(usize, ValueTest)>,
    /// Further attributes that the port shows, computed from what docks at another port: the index of the column of
    /// bounds, the other port, and the function of its candidate's attribute.
    pub(super) computed: Vec<(usize, PortPlace, AttributeTranslation)>,
    /// Whether `conditions` cover the whole constraint of the port.
    pub(super) is_complete: bool,
}

/// Hash key of a test: the operator and the bound of a comparison, or `None` for [`ValueTest::IsMet`].
pub type ValueTestKey = Option<(BinaryOperator, ValueKey)>;

/// A condition on one attribute of a candidate.
#[derive(PartialEq, Eq, Hash)]
pub struct WindowCondition {
    /// The tested value: an attribute of the candidate, and steps applied to it.
    pub translation: AttributeTranslation,
    /// The test that the value must pass.
    pub test: ValueTest,
}

/// A test that a value passes or fails.
pub enum ValueTest {
    /// The operator, with the tested value on the left and this constant on the right, is true.
    Compares(BinaryOperator, Value),
    /// The tested value is true.
    IsMet,
}

impl WindowQuery {
    /// Builds the window query of an open port with what is docked now. `waiting` are docked ports whose constraints
    /// could not be decided yet. They add conditions on what docks at the open port.
    pub fn of(place: PortPlace, waiting: &[PortPlace], table: &ParticipantTable, links: &PortIndex) -> Self {
        let mut window = WindowQuery { shown: Vec::with_capacity(links.bound_count()), ..WindowQuery::default() };
        match table.clauses(place) {
            Some(parts) => {
                window.conditions = Vec::with_capacity(parts.len());
                window.is_complete = true;
                for (part, frame) in parts.iter() {
                    window.is_complete &= window.add_clause(place, part, frame, table);
                }
            }
            None => window.is_unsatisfiable = true,
        }
        window.add_undecided(place, waiting, table);
        let mut last: Option<(&Name, SymbolicValue)> = None;
        for (number, imported) in links.demands.bounds().iter().enumerate() {
            let AttributeTranslation { attribute, .. } = imported.translation();
            // Bounds on one attribute are adjacent: compute what the port shows once for all of them.
            if last.as_ref().is_none_or(|(name, _)| *name != attribute) {
                last = Some((attribute, SymbolicEvaluator::new(table).shown_value(place, attribute)));
            }
            match &last {
                Some((_, SymbolicValue::Known(value))) => {
                    let value = imported.translation().apply(value.clone(), table.context());
                    window.shown.push((number, imported.test(value)));
                }
                Some((_, SymbolicValue::Function(of, shown))) if *of != place => {
                    window.computed.push((number, *of, shown.clone().then(imported.translation())));
                }
                _ => {}
            }
        }
        window
    }

    /// Returns the key for equality and hashing. Queries with equal keys select the same rows.
    fn key(&self) -> (bool, &[WindowCondition], &[(usize, ValueTest)]) {
        (self.is_unsatisfiable, &self.conditions, &self.shown)
    }

    /// Whether the query knows, for every column of bounds, the attribute that the port shows or the function that
    /// computes it.
    pub fn shows_all(&self, links: &PortIndex) -> bool {
        self.shown.len() + self.computed.len() == links.bound_count()
    }

    /// Whether the query knows everything about the port that the index can test: the whole constraint of the port, and
    /// the attributes that the port shows to all columns of bounds.
    pub fn tells_all(&self, links: &PortIndex) -> bool {
        self.is_complete && self.shows_all(links)
    }

    /// Iterates over the other ports that the attributes shown by this port are computed from. May repeat a port.
    pub fn sources(&self) -> impl Iterator<Item = PortPlace> + '_ {
        self.computed.iter().map(|(_, of, _)| *of)
    }

    /// Builds a query from the constraints of undecided docked ports only, without the constraint of the port itself.
    pub fn of_undecided(place: PortPlace, waiting: &[PortPlace], table: &ParticipantTable) -> Self {
        let mut window = WindowQuery::default();
        window.add_undecided(place, waiting, table);
        window
    }

    /// Adds the clauses of undecided docked ports that are conditions on what docks at `place`.
    fn add_undecided(&mut self, place: PortPlace, waiting: &[PortPlace], table: &ParticipantTable) {
        for waiting in waiting {
            let Some(parts) = table.clauses(*waiting) else { continue };
            for (part, frame) in parts.iter() {
                self.add_clause(place, part, frame, table);
            }
        }
    }

    /// Adds a clause if it is a condition on what docks at the port. Returns whether the query now covers the clause
    /// completely.
    fn add_clause(
        &mut self,
        place: PortPlace,
        part: &Expression,
        frame: &Arc<ScopeFrame>,
        table: &ParticipantTable,
    ) -> bool {
        let (translation, test) = match SymbolicEvaluator::new(table).clause(place, part, frame) {
            SymbolicClause::Compares(translation, operator, value) => {
                (translation, ValueTest::Compares(operator, value))
            }
            SymbolicClause::IsMet(translation) => (translation, ValueTest::IsMet),
            SymbolicClause::Known(value) => {
                self.is_unsatisfiable |= !is_met(&value, table.context().dialect);
                return true;
            }
            SymbolicClause::Opaque => return false,
        };
        self.conditions.push(WindowCondition { translation, test });
        true
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

impl PartialEq for ValueTest {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for ValueTest {}

impl Hash for ValueTest {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl ValueTest {
    /// Returns the hash key of the test, which also decides equality.
    pub fn key(&self) -> ValueTestKey {
        match self {
            ValueTest::Compares(operator, value) => Some((*operator, ValueKey::of(value))),
            ValueTest::IsMet => None,
        }
    }
}
