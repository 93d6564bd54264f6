//! The window query of an open port (thesis 5.4.2): conditions on what may dock there, to be answered by the index.
//!
//! Its three steps in the thesis:
//! * Identification collects the constraint of the port, the attributes that it shows to candidates, and the
//!   constraints of docked ports that wait for this one.
//! * Translation turns clauses into conditions on one attribute: [`super::symbolic`].
//! * Collation intersects the answers: all conditions must be met.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::ad::{BinaryOperator, Expression, ExpressionKind, Name, OperatorGroup, ScopeFrame, Span, Value};
use crate::eval::binary;
use crate::pool::ValueKey;
use crate::protocol::is_met;

use super::participants::{ParticipantTable, PortPlace};
use super::port_index::PortIndex;
use super::symbolic::{AttributeTranslation, SymbolicValue};

/// Conditions on the candidates of a port, as far as the index can test them. Queries of different ports with the same
/// conditions are equal.
#[derive(Default)]
pub struct WindowQuery {
    /// Whether nothing can dock at the port.
    pub is_unsatisfiable: bool,
    /// Conditions on the candidates' attributes.
    pub conditions: Vec<WindowCondition>,
    /// Tests of the bounds that candidates demand of attributes the port shows, each with the index of the column of
    /// bounds.
    pub shown: Vec<(usize, ValueTest)>,
    /// Further attributes that the port shows, computed from what docks at another port: the index of the column of
    /// bounds, the other port, and the function of its candidate's attribute.
    pub computed: Vec<(usize, PortPlace, AttributeTranslation)>,
    /// Whether `conditions` cover the whole constraint of the port.
    pub is_complete: bool,
}

/// Hash key of a test: operator and bound, or `None` for "is true".
pub type ValueTestKey = Option<(BinaryOperator, ValueKey)>;

/// A condition on one attribute of a candidate.
#[derive(PartialEq, Eq, Hash)]
pub struct WindowCondition {
    /// The attribute, and the steps computed from it.
    pub translation: AttributeTranslation,
    /// The test of the result.
    pub test: ValueTest,
}

/// A test of one value.
pub enum ValueTest {
    /// Whether the value compares like this with another.
    Compares(BinaryOperator, Value),
    /// Whether the value is true.
    IsMet,
}

impl WindowQuery {
    /// Builds the window query of an open port with what is docked now. `waiting` are docked ports whose constraints
    /// could not be decided yet.
    pub fn of(place: PortPlace, waiting: &[PortPlace], table: &ParticipantTable, links: &PortIndex) -> Self {
        let mut window = WindowQuery { shown: Vec::with_capacity(links.bounds().len()), ..WindowQuery::default() };
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
        for (number, imported) in links.bounds().iter().enumerate() {
            let AttributeTranslation { attribute, .. } = &imported.translation;
            // Bounds on one attribute are adjacent: compute what the port shows once for all of them.
            if last.as_ref().is_none_or(|(name, _)| *name != attribute) {
                last = Some((attribute, table.shown_value(place, attribute)));
            }
            match &last {
                Some((_, SymbolicValue::Known(value))) => {
                    let value = imported.translation.apply(value.clone(), &table.context);
                    window.shown.push((number, imported.test(value)));
                }
                Some((_, SymbolicValue::Function(of, shown))) if *of != place => {
                    window.computed.push((number, *of, shown.clone().then(&imported.translation)));
                }
                _ => {}
            }
        }
        window
    }

    /// Returns the key for equality and hashing.
    fn key(&self) -> (bool, &[WindowCondition], &[(usize, ValueTest)]) {
        (self.is_unsatisfiable, &self.conditions, &self.shown)
    }

    /// Whether the query knows, for every column of bounds, the attribute that the port shows or the function that
    /// computes it.
    pub fn shows_all(&self, links: &PortIndex) -> bool {
        self.shown.len() + self.computed.len() == links.bounds().len()
    }

    /// Builds a query from the constraints of undecided docked ports only.
    pub fn of_undecided(place: PortPlace, waiting: &[PortPlace], table: &ParticipantTable) -> Self {
        let mut window = WindowQuery::default();
        window.add_undecided(place, waiting, table);
        window
    }

    /// Adds the constraints of undecided docked ports.
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
        let dialect = table.context.dialect;
        let (translation, test) = match part.without_parentheses().kind() {
            ExpressionKind::Binary(operator, left, right)
                if matches!(operator.group(), OperatorGroup::Comparison | OperatorGroup::Identity) =>
            {
                match (table.symbolic_value(left, frame), table.symbolic_value(right, frame)) {
                    (SymbolicValue::Function(of, translation), SymbolicValue::Known(value)) if of == place => {
                        (translation, ValueTest::Compares(*operator, value))
                    }
                    (SymbolicValue::Known(value), SymbolicValue::Function(of, translation)) if of == place => {
                        let Some(operator) = operator.converse() else { return false };
                        (translation, ValueTest::Compares(operator, value))
                    }
                    (SymbolicValue::Known(left), SymbolicValue::Known(right)) => {
                        self.is_unsatisfiable |=
                            !is_met(&binary(*operator, &left, &right, dialect, Span::default()), dialect);
                        return true;
                    }
                    _ => return false,
                }
            }
            _ => match table.symbolic_value(part, frame) {
                SymbolicValue::Function(of, translation) if of == place => (translation, ValueTest::IsMet),
                SymbolicValue::Known(value) => {
                    self.is_unsatisfiable |= !is_met(&value, dialect);
                    return true;
                }
                _ => return false,
            },
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
    /// Returns the hash key of the test.
    pub fn key(&self) -> ValueTestKey {
        match self {
            ValueTest::Compares(operator, value) => Some((*operator, ValueKey::of(value))),
            ValueTest::IsMet => None,
        }
    }
}
