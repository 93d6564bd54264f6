//! The question that an open port puts to the index (thesis §5.4.2): what is known of whatever may dock there.
//!
//! Identification: the constraint of the port itself, what it shows to candidates, and the constraints of ports
//! already docked that wait for this one.  Translation: [`super::symbolic`].  Collation: all conditions of a window
//! must be met.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::ad::{BinaryOperator, Expression, Frame, Group, Kind, Name, Span, Value};
use crate::eval::binary;
use crate::pool::Key;
use crate::protocol::is_met;

use super::participants::{PortPlace, Table};
use super::port_index::Links;
use super::symbolic::{Form, Translation};

/// What candidates must be like, as far as an index can tell.  Two are equal that ask for the same, whoever asks.
#[derive(Default)]
pub struct Window {
    /// Nothing can dock here.
    pub never: bool,
    /// What they must be.
    pub conditions: Vec<Condition>,
    /// What the port shows them: for each kind of bounds that they may have, by its number, what these must be.
    pub offered: Vec<(usize, Test)>,
    /// For other kinds of bounds, what the port shows is computed from what docks at another port.
    pub passed_on: Vec<(usize, PortPlace, Translation)>,
    /// Whether the constraint of the port asks for nothing but these conditions.
    pub is_complete: bool,
}

/// What a test asks for; nothing but the truth without an operator.
pub type Asked = Option<(BinaryOperator, Key)>;

/// A condition on one attribute of a candidate.
#[derive(PartialEq, Eq, Hash)]
pub struct Condition {
    pub translation: Translation,
    pub test: Test,
}

/// What must be true of a value.
pub enum Test {
    /// That it compares with another like this.
    Compares(BinaryOperator, Value),
    /// That it is true.
    IsMet,
}

impl Window {
    /// The window of an open port, with what is docked now; `waiting` are docked ports whose constraints could not
    /// be decided yet.
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
            // Bounds on one attribute are next to each other.
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

    /// What it asks for.
    fn asked(&self) -> (bool, &[Condition], &[(usize, Test)]) {
        (self.never, &self.conditions, &self.offered)
    }

    /// Whether it is known of all kinds of bounds what the port shows, or from what it is computed.
    pub fn shows_all(&self, links: &Links) -> bool {
        self.offered.len() + self.passed_on.len() == links.imported().len()
    }

    /// Only what docked ports demand whose constraints could not be decided yet.
    pub fn of_waiting(place: PortPlace, waiting: &[PortPlace], table: &Table) -> Self {
        let mut window = Window::default();
        window.wait(place, waiting, table);
        window
    }

    fn wait(&mut self, place: PortPlace, waiting: &[PortPlace], table: &Table) {
        for waiting in waiting {
            let Some(parts) = table.parts(*waiting) else { continue };
            for (part, frame) in parts.iter() {
                self.add(place, part, frame, table);
            }
        }
    }

    /// Adds a part of a constraint, if it is a condition on what docks at this port; whether nothing else is to be
    /// asked for its sake.
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
    /// What it asks for.
    pub fn asked(&self) -> Asked {
        match self {
            Test::Compares(operator, value) => Some((*operator, Key::of(value))),
            Test::IsMet => None,
        }
    }
}
