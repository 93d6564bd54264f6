//! The window query of an open port (thesis 5.4.2): conditions on what may dock there, to be answered by the index.
//!
//! Its three steps in the thesis:
//! * Identification collects the constraint of the port, the attributes that it shows to candidates, and the
//!   constraints of docked ports that wait for this one.
//! * Translation turns clauses into conditions on one attribute: [`super::symbolic`].
//! * Collation intersects the answers: all conditions must be met.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::ad::{BinaryOperator, Expression, Frame, Group, Kind, Name, Span, Value};
use crate::eval::binary;
use crate::pool::Key;
use crate::protocol::is_met;

use super::participants::{PortPlace, Table};
use super::port_index::Links;
use super::symbolic::{Form, Translation};

/// Conditions on the candidates of a port, as far as the index can test them. Queries of different ports with the same
/// conditions are equal.
#[derive(Default)]
pub struct Window {
    /// Whether nothing can dock at the port.
    pub never: bool,
    /// Conditions on the candidates' attributes.
    pub conditions: Vec<Condition>,
    /// Tests of the bounds that candidates demand of attributes the port shows, each with the index of the column of
    /// bounds.
    pub offered: Vec<(usize, Test)>,
    /// Further attributes that the port shows, computed from what docks at another port: the index of the column of
    /// bounds, the other port, and the function of its candidate's attribute.
    pub passed_on: Vec<(usize, PortPlace, Translation)>,
    /// Whether `conditions` cover the whole constraint of the port.
    pub is_complete: bool,
}

/// Hash key of a test: operator and bound, or `None` for "is true".
pub type Asked = Option<(BinaryOperator, Key)>;

/// A condition on one attribute of a candidate.
#[derive(PartialEq, Eq, Hash)]
pub struct Condition {
    /// The attribute, and the steps computed from it.
    pub translation: Translation,
    /// The test of the result.
    pub test: Test,
}

/// A test of one value.
pub enum Test {
    /// Whether the value compares like this with another.
    Compares(BinaryOperator, Value),
    /// Whether the value is true.
    IsMet,
}

impl Window {
    /// Builds the window query of an open port with what is docked now. `waiting` are docked ports whose constraints
    /// could not be decided yet.
    pub fn of(place: PortPlace, waiting: &[PortPlace], table: &Table, links: &Links) -> Self {
        let mut window = Window { offered: Vec::with_capacity(links.imported().len()), ..Window::default() };
        match table.parts(place) {
            Some(parts) => {
                window.conditions = Vec::with_capacity(parts.len());
                window.is_complete = true;
                for (part, frame) in parts.iter() {
                    window.is_complete &= window.add(place, part, frame, table);
                }
            }
            None => window.never = true,
        }
        window.wait(place, waiting, table);
        let mut last: Option<(&Name, Form)> = None;
        for (number, imported) in links.imported().iter().enumerate() {
            let Translation { attribute, .. } = &imported.translation;
            // Bounds on one attribute are adjacent: compute what the port shows once for all of them.
            if last.as_ref().is_none_or(|(name, _)| *name != attribute) {
                last = Some((attribute, table.shown(place, attribute)));
            }
            match &last {
                Some((_, Form::Known(value))) => {
                    let value = imported.translation.apply(value.clone(), &table.context);
                    window.offered.push((number, imported.test(value)));
                }
                Some((_, Form::Of(of, shown))) if *of != place => {
                    window.passed_on.push((number, *of, shown.clone().then(&imported.translation)));
                }
                _ => {}
            }
        }
        window
    }

    /// Returns the key for equality and hashing.
    fn asked(&self) -> (bool, &[Condition], &[(usize, Test)]) {
        (self.never, &self.conditions, &self.offered)
    }

    /// Whether the query knows, for every column of bounds, the attribute that the port shows or the function that
    /// computes it.
    pub fn shows_all(&self, links: &Links) -> bool {
        self.offered.len() + self.passed_on.len() == links.imported().len()
    }

    /// Builds a query from the constraints of undecided docked ports only.
    pub fn of_waiting(place: PortPlace, waiting: &[PortPlace], table: &Table) -> Self {
        let mut window = Window::default();
        window.wait(place, waiting, table);
        window
    }

    /// Adds the constraints of undecided docked ports.
    fn wait(&mut self, place: PortPlace, waiting: &[PortPlace], table: &Table) {
        for waiting in waiting {
            let Some(parts) = table.parts(*waiting) else { continue };
            for (part, frame) in parts.iter() {
                self.add(place, part, frame, table);
            }
        }
    }

    /// Adds a clause if it is a condition on what docks at the port. Returns whether the query now covers the clause
    /// completely.
    fn add(&mut self, place: PortPlace, part: &Expression, frame: &Arc<Frame>, table: &Table) -> bool {
        let dialect = table.context.dialect;
        let (translation, test) = match part.bare().kind() {
            Kind::Binary(operator, left, right) if matches!(operator.group(), Group::Comparison | Group::Identity) => {
                match (table.form(left, frame), table.form(right, frame)) {
                    (Form::Of(of, translation), Form::Known(value)) if of == place => {
                        (translation, Test::Compares(*operator, value))
                    }
                    (Form::Known(value), Form::Of(of, translation)) if of == place => {
                        let Some(operator) = operator.exchanged() else { return false };
                        (translation, Test::Compares(operator, value))
                    }
                    (Form::Known(left), Form::Known(right)) => {
                        self.never |= !is_met(&binary(*operator, &left, &right, dialect, Span::default()), dialect);
                        return true;
                    }
                    _ => return false,
                }
            }
            _ => match table.form(part, frame) {
                Form::Of(of, translation) if of == place => (translation, Test::IsMet),
                Form::Known(value) => {
                    self.never |= !is_met(&value, dialect);
                    return true;
                }
                _ => return false,
            },
        };
        self.conditions.push(Condition { translation, test });
        true
    }
}

impl PartialEq for Window {
    fn eq(&self, other: &Self) -> bool {
        self.asked() == other.asked()
    }
}

impl Eq for Window {}

impl Hash for Window {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.asked().hash(state);
    }
}

impl PartialEq for Test {
    fn eq(&self, other: &Self) -> bool {
        self.asked() == other.asked()
    }
}

impl Eq for Test {}

impl Hash for Test {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.asked().hash(state);
    }
}

impl Test {
    /// Returns the hash key of the test.
    pub fn asked(&self) -> Asked {
        match self {
            Test::Compares(operator, value) => Some((*operator, Key::of(value))),
            Test::IsMet => None,
        }
    }
}
