//! Symbolic values (thesis 5.5.1: constraint shunting): an expression as a function of an attribute of what docks at an
//! open port.
//!
//! The thesis inverts these functions. Here the function is kept, as steps from an attribute of the candidate to the
//! value, and applied to the whole column of that attribute. Rows whose result meets a condition are its inverse image,
//! so rounding in the arithmetic does no harm.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::ad::{BinaryOperator, Expression, Frame, Group, Kind, Name, Span, UnaryOperator, Value};
use crate::constraint::{is_plain, stands_for_an_ad};
use crate::eval::{Context, Evaluator, Fallback, Resolution, binary, unary};
use crate::pool::Key;

use super::participants::{PortPlace, Table};

/// The symbolic value of an expression while some ports are open.
#[derive(Clone, Debug)]
pub enum Form {
    /// A constant: it does not depend on open ports.
    Known(Value),
    /// A function of one attribute of what docks at the open port.
    Of(PortPlace, Translation),
    /// It depends on open ports in another way, or cannot be evaluated.
    Open,
}

/// A function of one attribute, as a sequence of steps: `+ - * /` with constants, and unary minus. No steps are the
/// identity.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Translation {
    /// The attribute of the candidate.
    pub attribute: Name,
    steps: Vec<Step>,
}

/// One step of a translation.
#[derive(Clone, Debug)]
enum Step {
    /// Unary minus.
    Negated,
    /// An operation with the constant on the right: `x - 1`.
    With(BinaryOperator, Value),
    /// An operation with the constant on the left: `1 - x`.
    Within(BinaryOperator, Value),
}

impl Step {
    /// Returns a key for equality and hashing.
    fn key(&self) -> (u8, Option<BinaryOperator>, Key) {
        match self {
            Step::Negated => (0, None, Key::Absent),
            Step::With(operator, constant) => (1, Some(*operator), Key::of(constant)),
            Step::Within(operator, constant) => (2, Some(*operator), Key::of(constant)),
        }
    }
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Step {}

impl Hash for Step {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl Translation {
    /// Returns the translation without steps.
    pub fn identity(attribute: &Name) -> Self {
        Translation { attribute: attribute.clone(), steps: Vec::new() }
    }

    /// Whether the translation has no steps.
    pub fn is_identity(&self) -> bool {
        self.steps.is_empty()
    }

    /// Applies the steps to a value of the attribute.
    pub fn apply(&self, value: Value, context: &Context) -> Value {
        let (dialect, span) = (context.dialect, Span::default());
        self.steps.iter().fold(value, |value, step| match step {
            Step::Negated => unary(UnaryOperator::Minus, value, dialect, span),
            Step::With(operator, constant) => binary(*operator, &value, constant, dialect, span),
            Step::Within(operator, constant) => binary(*operator, constant, &value, dialect, span),
        })
    }

    /// Appends the steps of another translation, which is applied to the result of this one.
    pub fn then(mut self, other: &Translation) -> Self {
        self.steps.extend(other.steps.iter().cloned());
        self
    }

    /// Appends a step.
    fn and(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

/// Maximum depth of nested references and operators that are followed.
const DEEPEST: u32 = 32;

impl Table {
    /// Returns the symbolic value of an expression in a scope, with what is docked now.
    pub fn form(&self, expression: &Expression, frame: &Arc<Frame>) -> Form {
        self.form_within(expression, frame, DEEPEST)
    }

    /// Returns the symbolic value of an attribute that a port shows to what docks there.
    pub fn shown(&self, place: PortPlace, name: &Name) -> Form {
        let Some(frame) = self.frame(place) else { return Form::Known(Value::Undefined) };
        self.selected(&frame, name, DEEPEST)
    }

    fn form_within(&self, expression: &Expression, frame: &Arc<Frame>, depth: u32) -> Form {
        let bare = expression.bare();
        match bare.kind() {
            Kind::Literal(value) if is_plain(value, self.context.dialect) => Form::Known(value.clone()),
            Kind::Attribute(name) if depth > 0 && !stands_for_an_ad(name) => {
                match self.environment.resolve(frame, name, &self.context) {
                    Resolution::Expression(bound, frame) => self.form_within(&bound, &frame, depth - 1),
                    Resolution::Value(value) => Form::Known(value),
                    Resolution::Missing => Form::Known(Value::Undefined),
                    Resolution::Unknown => self.fallen_through(frame, name),
                }
            }
            Kind::Select(ad, name) if depth > 0 && !stands_for_an_ad(name) => match ad.bare().kind() {
                Kind::Attribute(label) => match self.environment.resolve_own(frame, label, &self.context) {
                    Resolution::Unknown => match self.place_of(frame, label) {
                        Some(place) => Form::Of(place, Translation::identity(name)),
                        None => Form::Open,
                    },
                    Resolution::Value(Value::Ad(nested)) => self.selected(&nested.frame, name, depth),
                    _ => self.evaluated(expression, frame),
                },
                _ => self.evaluated(expression, frame),
            },
            Kind::Unary(UnaryOperator::Minus, operand) if depth > 0 => {
                match self.form_within(operand, frame, depth - 1) {
                    Form::Of(place, translation) => Form::Of(place, translation.and(Step::Negated)),
                    _ => self.evaluated(expression, frame),
                }
            }
            Kind::Binary(operator, left, right) if depth > 0 && operator.group() == Group::Arithmetic => {
                match (self.form_within(left, frame, depth - 1), self.form_within(right, frame, depth - 1)) {
                    (Form::Known(left), Form::Known(right)) => {
                        Form::Known(binary(*operator, &left, &right, self.context.dialect, expression.span()))
                    }
                    (_, _) if *operator == BinaryOperator::Remainder => self.evaluated(expression, frame),
                    (Form::Of(place, left), Form::Known(right)) => {
                        Form::Of(place, left.and(Step::With(*operator, right)))
                    }
                    (Form::Known(left), Form::Of(place, right)) => {
                        Form::Of(place, right.and(Step::Within(*operator, left)))
                    }
                    _ => Form::Open,
                }
            }
            _ => self.evaluated(expression, frame),
        }
    }

    /// Returns the symbolic value of `ad.name`.
    fn selected(&self, ad: &Arc<Frame>, name: &Name, depth: u32) -> Form {
        match self.environment.resolve_in(ad, name, &self.context) {
            Resolution::Expression(bound, frame) if depth > 0 => self.form_within(&bound, &frame, depth - 1),
            Resolution::Value(value) => Form::Known(value),
            Resolution::Missing => Form::Known(Value::Undefined),
            Resolution::Expression(..) | Resolution::Unknown => Form::Open,
        }
    }

    /// Evaluates any other expression. A random value, and one that depends on open ports, is [`Form::Open`].
    fn evaluated(&self, expression: &Expression, frame: &Arc<Frame>) -> Form {
        let context = Context { chance: None, ..self.context.clone() };
        Evaluator::new(&self.environment, &context).evaluate(expression, frame).map_or(Form::Open, Form::Known)
    }

    /// Returns the open port that a label stands for in a scope. `None` if the label is not that of an open port.
    fn place_of(&self, frame: &Arc<Frame>, label: &Name) -> Option<PortPlace> {
        let participant = frame.participant;
        let member = self.environment.members().get(participant as usize)?;
        let port = member.bindings.iter().position(|binding| binding.name == *label && binding.to.is_none())?;
        Some(PortPlace { participant, port: if self.is_implicit(participant) { 0 } else { port } })
    }

    /// Returns the symbolic value of a name not found in an ad with an implicit port: it refers to the partner.
    fn fallen_through(&self, frame: &Arc<Frame>, name: &Name) -> Form {
        let member = self.environment.members().get(frame.participant as usize);
        let falls_through = member.is_some_and(|member| member.fallback == Fallback::Unknown);
        if falls_through && self.place_of(frame, name).is_none() {
            let place = PortPlace { participant: frame.participant, port: 0 };
            return Form::Of(place, Translation::identity(name));
        }
        Form::Open
    }
}
