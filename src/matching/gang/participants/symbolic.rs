//! Symbolic values (thesis 5.5.1: constraint shunting): an expression as a function of an attribute of what docks at an
//! open port.
//!
//! The thesis inverts the functions to get a condition on the attribute. Here each function is kept as steps from the
//! attribute to the value and applied to the whole column of the attribute. The index then tests the results, exactly
//! as evaluation would. Rounding, which an inverted function could get wrong, thus does no harm.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::ad::{
    BinaryOperator, Expression, ExpressionKind, Name, OperatorGroup, ScopeFrame, Span, UnaryOperator, Value,
};
use crate::constraint::{is_scope_name, is_self_evaluating};
use crate::eval::{Context, Evaluator, NameFallback, NameResolution, binary, unary};
use crate::pool::ValueKey;

use super::{ParticipantTable, PortPlace};

/// The symbolic value of an expression while some ports are open.
#[derive(Clone, Debug)]
pub enum SymbolicValue {
    /// A constant, which does not depend on open ports.
    Known(Value),
    /// A function of one attribute of what docks at the open port.
    Function(PortPlace, AttributeTranslation),
    /// Any other expression: it depends on open ports in another way, or cannot be evaluated.
    Opaque,
}

/// A clause as a condition on what docks at an open port.
pub enum SymbolicClause {
    /// The clause has this value, whatever docks.
    Known(Value),
    /// The clause compares a function of one attribute of the candidate, on the left, with a constant.
    Compares(AttributeTranslation, BinaryOperator, Value),
    /// The clause requires that a function of one attribute of the candidate is true.
    IsMet(AttributeTranslation),
    /// The clause has another form, or depends on other ports.
    Opaque,
}

/// A function of one attribute, as a sequence of steps: `+ - * /` with constants, and unary minus. A translation
/// without steps is the attribute itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AttributeTranslation {
    /// The attribute of the candidate.
    pub attribute: Name,
    steps: Vec<TranslationStep>,
}

/// One step of a translation.
#[derive(Clone, Debug)]
enum TranslationStep {
    /// Unary minus.
    Negate,
    /// An operation with the constant on the right: `x - 1`.
    ConstantRight(BinaryOperator, Value),
    /// An operation with the constant on the left: `1 - x`.
    ConstantLeft(BinaryOperator, Value),
}

impl TranslationStep {
    /// Returns a key for equality and hashing, because a [`Value`] cannot be hashed.
    fn key(&self) -> (u8, Option<BinaryOperator>, ValueKey) {
        match self {
            TranslationStep::Negate => (0, None, ValueKey::Absent),
            TranslationStep::ConstantRight(operator, constant) => (1, Some(*operator), ValueKey::of(constant)),
            TranslationStep::ConstantLeft(operator, constant) => (2, Some(*operator), ValueKey::of(constant)),
        }
    }
}

impl PartialEq for TranslationStep {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for TranslationStep {}

impl Hash for TranslationStep {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl AttributeTranslation {
    /// Returns the translation without steps: the attribute itself.
    pub fn identity(attribute: &Name) -> Self {
        AttributeTranslation { attribute: attribute.clone(), steps: Vec::new() }
    }

    /// Whether the translation has no steps.
    pub fn is_identity(&self) -> bool {
        self.steps.is_empty()
    }

    /// Applies the steps to a value of the attribute.
    pub fn apply(&self, value: Value, context: &Context) -> Value {
        let (dialect, span) = (context.dialect, Span::default());
        self.steps.iter().fold(value, |value, step| match step {
            TranslationStep::Negate => unary(UnaryOperator::Minus, value, dialect, span),
            TranslationStep::ConstantRight(operator, constant) => binary(*operator, &value, constant, dialect, span),
            TranslationStep::ConstantLeft(operator, constant) => binary(*operator, constant, &value, dialect, span),
        })
    }

    /// Returns the composition: the steps of `self`, then the steps of `other` applied to the result.
    pub fn then(mut self, other: &AttributeTranslation) -> Self {
        self.steps.extend(other.steps.iter().cloned());
        self
    }

    /// Appends a step.
    fn with_step(mut self, step: TranslationStep) -> Self {
        self.steps.push(step);
        self
    }
}

/// Maximum depth of nested references and operators that are followed. Deeper expressions are evaluated or opaque.
const MAX_DEPTH: u32 = 32;

/// Evaluates expressions of a table's participants symbolically, with what is docked now.
#[derive(Clone, Copy)]
pub struct SymbolicEvaluator<'t> {
    table: &'t ParticipantTable,
}

impl<'t> SymbolicEvaluator<'t> {
    /// Returns an evaluator for what is docked in `table`.
    pub fn new(table: &'t ParticipantTable) -> Self {
        SymbolicEvaluator { table }
    }

    /// Returns the symbolic value of an expression in a scope, with what is docked now.
    pub fn value(self, expression: &Expression, frame: &Arc<ScopeFrame>) -> SymbolicValue {
        self.value_within(expression, frame, MAX_DEPTH)
    }

    /// Returns a clause as a condition on what docks at the open port `place`.
    pub fn clause(self, place: PortPlace, clause: &Expression, frame: &Arc<ScopeFrame>) -> SymbolicClause {
        if let Some((operator, left, right)) = as_comparison(clause) {
            return match (self.value(left, frame), self.value(right, frame)) {
                (SymbolicValue::Function(of, translation), SymbolicValue::Known(bound)) if of == place => {
                    SymbolicClause::Compares(translation, operator, bound)
                }
                (SymbolicValue::Known(bound), SymbolicValue::Function(of, translation)) if of == place => {
                    let exchanged = operator.converse();
                    exchanged.map_or(SymbolicClause::Opaque, |operator| {
                        SymbolicClause::Compares(translation, operator, bound)
                    })
                }
                (SymbolicValue::Known(left), SymbolicValue::Known(right)) => {
                    let (dialect, span) = (self.table.context.dialect, Span::default());
                    SymbolicClause::Known(binary(operator, &left, &right, dialect, span))
                }
                _ => SymbolicClause::Opaque,
            };
        }
        match self.value(clause, frame) {
            SymbolicValue::Function(of, translation) if of == place => SymbolicClause::IsMet(translation),
            SymbolicValue::Known(value) => SymbolicClause::Known(value),
            _ => SymbolicClause::Opaque,
        }
    }

    /// Returns the symbolic value of an attribute that a port shows to what docks there.
    pub fn shown_value(self, place: PortPlace, name: &Name) -> SymbolicValue {
        let Some(frame) = self.table.frame(place) else { return SymbolicValue::Known(Value::Undefined) };
        self.selected_value(&frame, name, MAX_DEPTH)
    }

    fn value_within(self, expression: &Expression, frame: &Arc<ScopeFrame>, depth: u32) -> SymbolicValue {
        let bare = expression.without_parentheses();
        match bare.kind() {
            ExpressionKind::Literal(value) if is_self_evaluating(value, self.table.context.dialect) => {
                SymbolicValue::Known(value.clone())
            }
            ExpressionKind::Attribute(name) if depth > 0 && !is_scope_name(name) => {
                match self.table.environment.resolve(frame, name, &self.table.context) {
                    NameResolution::Expression(bound, frame) => self.value_within(&bound, &frame, depth - 1),
                    NameResolution::Value(value) => SymbolicValue::Known(value),
                    NameResolution::Missing => SymbolicValue::Known(Value::Undefined),
                    NameResolution::Unknown => self.partner_attribute(frame, name),
                }
            }
            ExpressionKind::Select(ad, name) if depth > 0 && !is_scope_name(name) => {
                match ad.without_parentheses().kind() {
                    ExpressionKind::Attribute(label) => {
                        match self.table.environment.resolve_own(frame, label, &self.table.context) {
                            NameResolution::Unknown => match self.open_port(frame, label) {
                                Some(place) => SymbolicValue::Function(place, AttributeTranslation::identity(name)),
                                None => SymbolicValue::Opaque,
                            },
                            NameResolution::Value(Value::Ad(nested)) => self.selected_value(&nested.frame, name, depth),
                            _ => self.evaluate_or_opaque(expression, frame),
                        }
                    }
                    _ => self.evaluate_or_opaque(expression, frame),
                }
            }
            ExpressionKind::Unary(UnaryOperator::Minus, operand) if depth > 0 => {
                match self.value_within(operand, frame, depth - 1) {
                    SymbolicValue::Function(place, translation) => {
                        SymbolicValue::Function(place, translation.with_step(TranslationStep::Negate))
                    }
                    _ => self.evaluate_or_opaque(expression, frame),
                }
            }
            ExpressionKind::Binary(operator, left, right)
                if depth > 0 && operator.group() == OperatorGroup::Arithmetic =>
            {
                match (self.value_within(left, frame, depth - 1), self.value_within(right, frame, depth - 1)) {
                    (SymbolicValue::Known(left), SymbolicValue::Known(right)) => SymbolicValue::Known(binary(
                        *operator,
                        &left,
                        &right,
                        self.table.context.dialect,
                        expression.span(),
                    )),
                    (_, _) if *operator == BinaryOperator::Remainder => self.evaluate_or_opaque(expression, frame),
                    (SymbolicValue::Function(place, left), SymbolicValue::Known(right)) => {
                        SymbolicValue::Function(place, left.with_step(TranslationStep::ConstantRight(*operator, right)))
                    }
                    (SymbolicValue::Known(left), SymbolicValue::Function(place, right)) => {
                        SymbolicValue::Function(place, right.with_step(TranslationStep::ConstantLeft(*operator, left)))
                    }
                    _ => SymbolicValue::Opaque,
                }
            }
            _ => self.evaluate_or_opaque(expression, frame),
        }
    }

    /// Returns the symbolic value of `ad.name`.
    fn selected_value(self, ad: &Arc<ScopeFrame>, name: &Name, depth: u32) -> SymbolicValue {
        match self.table.environment.resolve_selected(ad, name, &self.table.context) {
            NameResolution::Expression(bound, frame) if depth > 0 => self.value_within(&bound, &frame, depth - 1),
            NameResolution::Value(value) => SymbolicValue::Known(value),
            NameResolution::Missing => SymbolicValue::Known(Value::Undefined),
            NameResolution::Expression(..) | NameResolution::Unknown => SymbolicValue::Opaque,
        }
    }

    /// Evaluates an expression that has no symbolic form. The result is [`SymbolicValue::Opaque`] if the value is
    /// random or depends on open ports.
    fn evaluate_or_opaque(self, expression: &Expression, frame: &Arc<ScopeFrame>) -> SymbolicValue {
        let context = Context { random: None, ..self.table.context.clone() };
        Evaluator::new(&self.table.environment, &context)
            .evaluate(expression, frame)
            .map_or(SymbolicValue::Opaque, SymbolicValue::Known)
    }

    /// Returns the open port with this label, of the participant of a scope. `None` if the participant has no such open
    /// port.
    fn open_port(self, frame: &Arc<ScopeFrame>, label: &Name) -> Option<PortPlace> {
        let participant = frame.participant;
        let member = self.table.member(participant)?;
        let port = member.bindings.iter().position(|binding| binding.name == *label && binding.to.is_none())?;
        Some(PortPlace { participant, port: if self.table.is_implicit(participant) { 0 } else { port } })
    }

    /// Returns the symbolic value of a name that resolves to [`NameResolution::Unknown`]. In an ad with an open
    /// implicit port such a name refers to the partner; otherwise the result is [`SymbolicValue::Opaque`].
    fn partner_attribute(self, frame: &Arc<ScopeFrame>, name: &Name) -> SymbolicValue {
        let member = self.table.member(frame.participant);
        let falls_through = member.is_some_and(|member| member.fallback == NameFallback::Unknown);
        if falls_through && self.open_port(frame, name).is_none() {
            let place = PortPlace { participant: frame.participant, port: 0 };
            return SymbolicValue::Function(place, AttributeTranslation::identity(name));
        }
        SymbolicValue::Opaque
    }
}

/// Returns the operator and the left and right operands of a comparison. `None` for any other expression.
pub fn as_comparison(clause: &Expression) -> Option<(BinaryOperator, &Expression, &Expression)> {
    match clause.without_parentheses().kind() {
        ExpressionKind::Binary(operator, left, right)
            if matches!(operator.group(), OperatorGroup::Comparison | OperatorGroup::Identity) =>
        {
            Some((*operator, left, right))
        }
        _ => None,
    }
}
