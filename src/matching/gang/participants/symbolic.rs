//! Symbolic values (thesis 5.5.1: constraint shunting): an expression as a function of one attribute of the candidate
//! at an open port.
//!
//! The thesis inverts such a function to get a condition on the attribute. Here a function is kept as a sequence of
//! steps, such as `x + 1`. The index applies the steps to the whole column of the attribute and tests the results. The
//! test then agrees with evaluation, while an inverted function could round differently.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::ad::{
    BinaryOperator, Expression, ExpressionKind, Name, OperatorGroup, ScopeFrame, Span, UnaryOperator, Value,
};
use crate::constraint::{is_scope_name, is_self_evaluating};
use crate::eval::{Context, NameFallback, NameResolution, binary, unary};
use crate::pool::ValueKey;

use super::{ParticipantTable, PortPlace};

/// The value of an expression, as far as it is known while some ports are open.
#[derive(Clone, Debug)]
pub enum SymbolicValue {
    /// A constant, which does not depend on open ports.
    Known(Value),
    /// A function of one attribute of the candidate at this open port.
    Function(PortPlace, AttributeTranslation),
    /// Any other expression: it depends on open ports in another way, or cannot be evaluated.
    Opaque,
}

/// A clause as a condition on the candidate at an open port.
pub enum SymbolicClause {
    /// The clause has this value, whatever docks.
    Known(Value),
    /// The clause is true if the candidate meets the condition.
    Condition(WindowCondition),
    /// The clause has another form, or depends on other ports.
    Opaque,
}

/// A condition on one attribute of a candidate.
#[derive(PartialEq, Eq, Hash)]
pub struct WindowCondition {
    /// The tested value: an attribute of the candidate, and steps applied to it.
    pub translation: AttributeTranslation,
    /// The test that the value must pass.
    pub test: ValueTest,
}

/// A test that a value passes or fails.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum ValueTest {
    /// The comparison is true. Its left operand is the tested value, its right operand is this constant.
    Compares(BinaryOperator, HashableValue),
    /// The tested value is true.
    IsMet,
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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum TranslationStep {
    /// Unary minus, as in `-x`.
    Negate,
    /// An operation with the constant on the right: `x - 1`.
    ConstantRight(BinaryOperator, HashableValue),
    /// An operation with the constant on the left: `1 - x`.
    ConstantLeft(BinaryOperator, HashableValue),
}

/// A value that is compared and hashed by its [`ValueKey`], so that only indistinguishable values are equal.
#[derive(Clone, Debug)]
pub struct HashableValue(pub Value);

impl PartialEq for HashableValue {
    fn eq(&self, other: &Self) -> bool {
        ValueKey::of(&self.0) == ValueKey::of(&other.0)
    }
}

impl Eq for HashableValue {}

impl Hash for HashableValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        ValueKey::of(&self.0).hash(state);
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
            TranslationStep::ConstantRight(operator, constant) => binary(*operator, &value, &constant.0, dialect, span),
            TranslationStep::ConstantLeft(operator, constant) => binary(*operator, &constant.0, &value, dialect, span),
        })
    }

    /// Returns the composition: the steps of `self`, then the steps of `other` applied to the result.
    pub fn then(mut self, other: &AttributeTranslation) -> Self {
        self.steps.extend(other.steps.iter().cloned());
        self
    }

    /// Returns the translation with one more step, which is applied last.
    fn with_step(mut self, step: TranslationStep) -> Self {
        self.steps.push(step);
        self
    }
}

/// Maximum depth to which nested references and operators are followed. A deeper expression is only evaluated: it is
/// either a constant or opaque, and no longer becomes a function of an attribute.
const MAX_DEPTH: u32 = 32;

/// The symbolic evaluation of expressions, given the current dockings of a table.
pub struct SymbolicEvaluator<'t> {
    table: &'t ParticipantTable,
}

impl<'t> SymbolicEvaluator<'t> {
    pub fn new(table: &'t ParticipantTable) -> Self {
        SymbolicEvaluator { table }
    }

    /// Returns the symbolic value of an expression in a scope.
    pub fn value(&self, expression: &Expression, frame: &Arc<ScopeFrame>) -> SymbolicValue {
        self.value_within(expression, frame, MAX_DEPTH)
    }

    /// Returns a clause as a condition on the candidate at the open port `place`.
    pub fn clause(&self, place: PortPlace, clause: &Expression, frame: &Arc<ScopeFrame>) -> SymbolicClause {
        let Some((operator, left, right)) = as_comparison(clause) else {
            return match self.value(clause, frame) {
                SymbolicValue::Known(value) => SymbolicClause::Known(value),
                SymbolicValue::Function(of, translation) if of == place => {
                    SymbolicClause::Condition(WindowCondition { translation, test: ValueTest::IsMet })
                }
                _ => SymbolicClause::Opaque,
            };
        };
        let (of, translation, operator, bound) = match (self.value(left, frame), self.value(right, frame)) {
            (SymbolicValue::Known(left), SymbolicValue::Known(right)) => {
                return SymbolicClause::Known(self.binary(operator, &left, &right, clause));
            }
            (SymbolicValue::Function(of, left), SymbolicValue::Known(bound)) => (of, left, Some(operator), bound),
            (SymbolicValue::Known(bound), SymbolicValue::Function(of, right)) => {
                (of, right, operator.converse(), bound)
            }
            _ => return SymbolicClause::Opaque,
        };
        let Some(operator) = operator.filter(|_| of == place) else { return SymbolicClause::Opaque };
        let test = ValueTest::Compares(operator, HashableValue(bound));
        SymbolicClause::Condition(WindowCondition { translation, test })
    }

    /// Returns the symbolic value of an attribute that a port shows to its partner.
    pub fn attribute(&self, place: PortPlace, name: &Name) -> SymbolicValue {
        let ParticipantTable { environment, context, .. } = self.table;
        self.resolved_value(environment.resolve_selected(self.table.frame(place), name, context), MAX_DEPTH)
    }

    /// Returns the rank of a port. `None` if the port has no rank.
    pub fn rank(&self, place: PortPlace) -> Option<SymbolicValue> {
        let frame = self.table.frame(place);
        frame.ad.get(self.table.protocol.rank_name()).map(|rank| self.value(rank, frame))
    }

    fn value_within(&self, expression: &Expression, frame: &Arc<ScopeFrame>, depth: u32) -> SymbolicValue {
        let table = self.table;
        table.symbolic_visits.set(table.symbolic_visits.get() + 1);
        let evaluated = || table.evaluate_fixed(expression, frame).map_or(SymbolicValue::Opaque, SymbolicValue::Known);
        if depth == 0 {
            return evaluated();
        }
        match expression.without_parentheses().kind() {
            ExpressionKind::Literal(value) if is_self_evaluating(value, table.context.dialect) => {
                SymbolicValue::Known(value.clone())
            }
            ExpressionKind::Attribute(name) if !is_scope_name(name) => {
                match table.environment.resolve(frame, name, &table.context) {
                    NameResolution::Unknown => self.partner_attribute(frame, name),
                    resolution => self.resolved_value(resolution, depth),
                }
            }
            ExpressionKind::Select(ad, name) if !is_scope_name(name) => {
                let ExpressionKind::Attribute(label) = ad.without_parentheses().kind() else { return evaluated() };
                match table.environment.resolve_own(frame, label, &table.context) {
                    NameResolution::Unknown => self.open_port(frame, label).map_or(SymbolicValue::Opaque, |place| {
                        SymbolicValue::Function(place, AttributeTranslation::identity(name))
                    }),
                    NameResolution::Value(Value::Ad(nested)) => {
                        let selected = table.environment.resolve_selected(&nested.frame, name, &table.context);
                        self.resolved_value(selected, depth)
                    }
                    _ => evaluated(),
                }
            }
            ExpressionKind::Unary(UnaryOperator::Minus, operand) => {
                match self.value_within(operand, frame, depth - 1) {
                    SymbolicValue::Function(place, translation) => {
                        SymbolicValue::Function(place, translation.with_step(TranslationStep::Negate))
                    }
                    _ => evaluated(),
                }
            }
            ExpressionKind::Binary(operator, left, right) if operator.group() == OperatorGroup::Arithmetic => {
                use TranslationStep::{ConstantLeft, ConstantRight};
                match (self.value_within(left, frame, depth - 1), self.value_within(right, frame, depth - 1)) {
                    (SymbolicValue::Known(left), SymbolicValue::Known(right)) => {
                        SymbolicValue::Known(self.binary(*operator, &left, &right, expression))
                    }
                    _ if *operator == BinaryOperator::Remainder => evaluated(),
                    (SymbolicValue::Function(place, left), SymbolicValue::Known(right)) => {
                        SymbolicValue::Function(place, left.with_step(ConstantRight(*operator, HashableValue(right))))
                    }
                    (SymbolicValue::Known(left), SymbolicValue::Function(place, right)) => {
                        SymbolicValue::Function(place, right.with_step(ConstantLeft(*operator, HashableValue(left))))
                    }
                    _ => SymbolicValue::Opaque,
                }
            }
            _ => evaluated(),
        }
    }

    /// Returns the value of a binary operation. `expression` is the whole operation: an error value records its
    /// position.
    fn binary(&self, operator: BinaryOperator, left: &Value, right: &Value, expression: &Expression) -> Value {
        binary(operator, left, right, self.table.context.dialect, expression.span())
    }

    /// Returns the symbolic value of a resolved name. `depth` is the number of nested levels that may still be followed
    /// and must be positive.
    fn resolved_value(&self, resolution: NameResolution, depth: u32) -> SymbolicValue {
        match resolution {
            NameResolution::Expression(bound, frame) => self.value_within(&bound, &frame, depth - 1),
            NameResolution::Value(value) => SymbolicValue::Known(value),
            NameResolution::Missing => SymbolicValue::Known(Value::Undefined),
            NameResolution::Unknown => SymbolicValue::Opaque,
        }
    }

    /// Returns the open port that has the label `label`. Searches the ports of the participant that owns the scope.
    /// `None` if the participant has no such open port.
    fn open_port(&self, frame: &ScopeFrame, label: &Name) -> Option<PortPlace> {
        let participant = frame.participant;
        let member = self.table.environment.members().get(participant.position())?;
        let port = member.bindings.iter().position(|binding| binding.name == *label && binding.to.is_none())?;
        Some(PortPlace { participant, port: if self.table.is_implicit(participant) { 0 } else { port } })
    }

    /// Returns the symbolic value of a name that resolves to [`NameResolution::Unknown`]. In an ad with an open
    /// implicit port, such a name refers to the partner. In any other ad the result is [`SymbolicValue::Opaque`].
    fn partner_attribute(&self, frame: &ScopeFrame, name: &Name) -> SymbolicValue {
        let participant = frame.participant;
        let member = self.table.environment.members().get(participant.position());
        let falls_through = member.is_some_and(|member| member.fallback == NameFallback::Unknown);
        if falls_through && self.open_port(frame, name).is_none() {
            let place = PortPlace { participant, port: 0 };
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
