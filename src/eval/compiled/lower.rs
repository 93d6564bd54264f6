//! Lowering: makes programs of expressions.

use crate::ad::{
    BinaryOperator, ByteString, Dialect, Expression, ExpressionKind, Name, OperatorGroup, ScopeAd, Span, UnaryOperator,
    Value,
};

use super::super::builtin::{self, FunctionKind, string_lists};
use super::super::operators;
use super::super::pattern::{CompiledPattern, PatternOptions};
use super::super::scope::CURRENT_TIME;
use super::operand::{ComputedStrings, Operand};
use super::program::{
    CallOperation, Comparison, IntegerTest, ListOperation, Operation, PatternOperation, Place, Program,
};
use super::relation::Relation;
use super::slots::{NameTable, is_scope_name};

/// Maximum number of operations that are nested in one another. Deeper expressions are left to the tree walker, whose
/// stack grows.
pub(super) const MAX_HEIGHT: u32 = 100;

/// Maker of a program.
pub(super) struct Lowering<'l> {
    names: &'l mut NameTable,
    dialect: Dialect,
    /// Whether the program runs in a match of two ads.
    is_match: bool,
    steps: u32,
}

/// Operation with the number of operations that are nested in it, including itself.
struct Lowered {
    operation: Operation,
    height: u32,
}

impl Lowered {
    fn leaf(operation: Operation) -> Self {
        Lowered { operation, height: 1 }
    }

    fn constant(value: Value) -> Self {
        Lowered::leaf(Operation::Constant(value))
    }

    fn unsupported() -> Self {
        Lowered::leaf(Operation::Unsupported)
    }

    /// Returns an operation whose operands are nested at most `height` deep.
    fn above(height: u32, operation: Operation) -> Self {
        if height >= MAX_HEIGHT { Lowered::unsupported() } else { Lowered { operation, height: height + 1 } }
    }
}

/// Makes a program of an expression, for single ads or for matches of two ads.
pub(super) fn lower(expression: &Expression, names: &mut NameTable, dialect: Dialect, is_match: bool) -> Program {
    let mut lowering = Lowering { names, dialect, is_match, steps: 0 };
    let Lowered { operation, height } = lowering.lower(expression, 0);
    Program::new(operation, lowering.steps, height)
}

impl Lowering<'_> {
    /// `level` is the number of expressions around this one.
    fn lower(&mut self, expression: &Expression, level: u32) -> Lowered {
        self.steps = self.steps.saturating_add(1);
        if level >= MAX_HEIGHT {
            return Lowered::unsupported();
        }
        let below = level + 1;
        match expression.kind() {
            ExpressionKind::Literal(value) => self.literal(value),
            ExpressionKind::Attribute(name) => Lowered::leaf(self.attribute(name)),
            ExpressionKind::RootAttribute(name) => Lowered::leaf(self.root_attribute(name)),
            ExpressionKind::Select(inner, name) => self.select(inner, name, below),
            ExpressionKind::Unary(operator, operand) => {
                let Lowered { operation, height } = self.lower(operand, below);
                match self.folded_unary(*operator, &operation) {
                    Some(value) => Lowered { operation: Operation::Constant(value), height: height + 1 },
                    None => Lowered::above(height, Operation::Unary(*operator, Box::new(operation))),
                }
            }
            ExpressionKind::Binary(operator, left, right) => self.chain(*operator, left, right, below),
            ExpressionKind::Conditional(condition, consequent, alternative) => {
                let parts = [condition, consequent, alternative].map(|part| self.lower(part, below));
                conditional(parts)
            }
            ExpressionKind::Elvis(left, right) => {
                let [left, right] = [left, right].map(|part| self.lower(part, below));
                let height = left.height.max(right.height);
                Lowered::above(height, Operation::Elvis(Box::new([left.operation, right.operation])))
            }
            ExpressionKind::Parentheses(inner) => {
                // Parentheses nest the walker no deeper, but they are a step.
                self.lower(inner, below)
            }
            ExpressionKind::Call(name, arguments) => self.call(expression, name, arguments, below),
            ExpressionKind::Subscript(..) | ExpressionKind::List(_) | ExpressionKind::Ad(_) => Lowered::unsupported(),
        }
    }

    fn literal(&self, value: &Value) -> Lowered {
        match Operand::of_literal(value, self.dialect) {
            Ok(Operand::Error) => Lowered::constant(ComputedStrings::default().value(Operand::Error)),
            Ok(_) => Lowered::constant(value.clone()),
            Err(_) => Lowered::unsupported(),
        }
    }

    fn attribute(&mut self, name: &Name) -> Operation {
        let place = if self.is_match { Place::Anywhere } else { Place::Own };
        if !is_scope_name(name) {
            return Operation::Attribute(self.names.number(name), place);
        }
        if self.dialect.is_condor() && name.is_known(CURRENT_TIME) {
            return Operation::Now;
        }
        match self.named_ad(name) {
            // Without a partner the name is undefined.
            Some(NamedScope::Nothing) => Operation::Constant(Value::Undefined),
            _ => Operation::Unsupported,
        }
    }

    fn root_attribute(&mut self, name: &Name) -> Operation {
        match (self.dialect.is_condor(), self.is_match) {
            // The outermost ad is then HTCondor's match ad, which has no attributes.
            (true, true) => Operation::Constant(Value::Undefined),
            _ if is_scope_name(name) => Operation::Unsupported,
            _ => Operation::Attribute(self.names.number(name), Place::Own),
        }
    }

    /// Returns what a name denotes in an ad that has no attribute of that name; `None` if it is left to the walker.
    fn named_ad(&self, name: &Name) -> Option<NamedScope> {
        if let Some(ad) = ScopeAd::built_in(name, self.dialect) {
            return (ad == ScopeAd::Own).then_some(NamedScope::At(Place::Own));
        }
        match ScopeAd::of(name)? {
            ScopeAd::Other if self.is_match => Some(NamedScope::At(Place::Partner)),
            // In the papers' dialect `my` exists only in a match.
            ScopeAd::Own if self.is_match => Some(NamedScope::At(Place::Own)),
            ScopeAd::Own | ScopeAd::Other => Some(NamedScope::Nothing),
            ScopeAd::Parent | ScopeAd::Root => None,
        }
    }

    fn select(&mut self, inner: &Expression, name: &Name, level: u32) -> Lowered {
        if let ExpressionKind::Attribute(subject) = inner.kind()
            && is_scope_name(subject)
        {
            self.steps = self.steps.saturating_add(1);
            let operation = match self.named_ad(subject) {
                Some(NamedScope::Nothing) => Operation::Constant(Value::Undefined),
                Some(NamedScope::At(place)) if !is_scope_name(name) => {
                    Operation::Attribute(self.names.number(name), place)
                }
                _ => Operation::Unsupported,
            };
            // The walker nests the selection one deeper than its operand.
            return Lowered::above(1, operation);
        }
        let inner = self.lower(inner, level);
        Lowered::above(inner.height + 1, Operation::Select(Box::new(inner.operation)))
    }

    /// Lowers a chain such as `a + b + c`, which leans to the left and may be long.
    fn chain(&mut self, operator: BinaryOperator, left: &Expression, right: &Expression, level: u32) -> Lowered {
        let mut spine = vec![(operator, right)];
        let mut first = left;
        while let ExpressionKind::Binary(operator, left, right) = first.kind() {
            self.steps = self.steps.saturating_add(1);
            spine.push((*operator, right));
            first = left;
        }
        let mut whole = self.lower(first, level);
        let mut is_chain = false;
        while let Some((operator, right)) = spine.pop() {
            let right = self.lower(right, level);
            whole = self.binary(operator, whole, right, is_chain);
            is_chain = true;
        }
        whole
    }

    /// `is_chain` says whether the left operand is the beginning of the same chain, without parentheses around it.
    fn binary(&self, operator: BinaryOperator, left: Lowered, right: Lowered, is_chain: bool) -> Lowered {
        if operator.group() == OperatorGroup::Logic {
            return logic(operator, left, right, is_chain);
        }
        let height = left.height.max(right.height);
        let operands = [left, right].map(|operand| operand.operation);
        if let Some(value) = self.folded_binary(operator, &operands) {
            return Lowered { operation: Operation::Constant(value), height: height + 1 };
        }
        let operation = match (Relation::of(operator), operands) {
            (Some(relation), [Operation::Attribute(name, place), Operation::Constant(Value::Integer(bound))]) => {
                Operation::IntegerTest(IntegerTest { relation, place, name, bound })
            }
            (Some(relation), operands) if relation.ignores_case() => {
                Operation::Comparison(Box::new(Comparison { relation, operands: operands.map(without_case) }))
            }
            (Some(relation), operands) => Operation::Comparison(Box::new(Comparison { relation, operands })),
            (None, operands) => Operation::Binary(operator, Box::new(operands)),
        };
        Lowered::above(height, operation)
    }

    /// Returns the value of an operator on constants; `None` if an operand is none, or for a time, a list or an ad.
    fn folded_binary(&self, operator: BinaryOperator, operands: &[Operation; 2]) -> Option<Value> {
        let [left, right] = [operands[0].as_constant()?, operands[1].as_constant()?];
        self.checked(operators::binary(operator, left, right, self.dialect, Span::default()))
    }

    fn folded_unary(&self, operator: UnaryOperator, operand: &Operation) -> Option<Value> {
        let operand = operand.as_constant()?.clone();
        self.checked(operators::unary(operator, operand, self.dialect, Span::default()))
    }

    fn checked(&self, value: Value) -> Option<Value> {
        Operand::of_literal(&value, self.dialect).is_ok().then_some(value)
    }

    fn call(&mut self, expression: &Expression, name: &Name, arguments: &[Expression], level: u32) -> Lowered {
        let error = || Lowered::constant(ComputedStrings::default().value(Operand::Error));
        let Some(function) = builtin::find_function_in(name, self.dialect) else { return error() };
        if !function.accepts_count(arguments.len()) {
            return error();
        }
        if !matches!(function.kind, FunctionKind::Strict | FunctionKind::Lazy) {
            return Lowered::unsupported();
        }
        let lowered: Vec<Lowered> = arguments.iter().map(|argument| self.lower(argument, level)).collect();
        let lowered = match <[Lowered; 3]>::try_from(lowered) {
            Ok(parts) if function.name == "ifThenElse" => return conditional(parts),
            Ok(parts) => Vec::from(parts),
            Err(lowered) => lowered,
        };
        let height = lowered.iter().map(|argument| argument.height).max().unwrap_or(0);
        let arguments = lowered.into_iter().map(|argument| argument.operation).collect();
        let call = CallOperation { function, expression: expression.clone(), arguments };
        Lowered::above(height, special_call(call))
    }
}

/// Ad that a name such as `MY` denotes.
enum NamedScope {
    At(Place),
    /// None: the name is undefined.
    Nothing,
}

fn conditional(parts: [Lowered; 3]) -> Lowered {
    let height = parts.iter().map(|part| part.height).max().unwrap_or(0);
    Lowered::above(height, Operation::Conditional(Box::new(parts.map(|part| part.operation))))
}

/// Joins `&&` or `||` with the chain of the same operator to its left. Within a chain the walker does not nest deeper,
/// but it does within parentheses.
fn logic(operator: BinaryOperator, left: Lowered, right: Lowered, is_chain: bool) -> Lowered {
    let height = left.height.max(right.height);
    let (mut operands, is_joined) = match (operator, left.operation) {
        (BinaryOperator::And, Operation::Conjunction(operands))
        | (BinaryOperator::Or, Operation::Disjunction(operands)) => (operands, true),
        (_, left) => (vec![left], false),
    };
    operands.push(right.operation);
    let operation = match operator {
        BinaryOperator::And => Operation::Conjunction(operands),
        _ => Operation::Disjunction(operands),
    };
    if is_joined && is_chain && right.height < left.height {
        return Lowered { operation, height: left.height };
    }
    Lowered::above(height, operation)
}

/// Returns the operand of a comparison, which ignores case, without a change of its case.
fn without_case(operand: Operation) -> Operation {
    match operand {
        Operation::Call(call) if matches!(call.function.name, "toLower" | "toUpper") => Operation::CaseChange(call),
        operand => operand,
    }
}

/// Returns the operation for a call: one of its own for some functions, else the call itself.
fn special_call(mut call: CallOperation) -> Operation {
    let name = call.function.name;
    let text = |index: usize| match call.arguments.get(index).map(Operation::as_constant) {
        None => Some(None),
        Some(Some(Value::String(text))) => Some(Some(text.clone())),
        Some(_) => None,
    };
    match name {
        "time" => return Operation::Now,
        "regexp" => {
            if let (Some(Some(pattern)), Some(options)) = (text(0), text(2)) {
                let options = PatternOptions::of(options.as_ref().map_or(b"", ByteString::as_bytes));
                if let Ok(compiled) = CompiledPattern::get(&pattern, options) {
                    let prefix = compiled.literal_prefix();
                    return Operation::PatternTest(Box::new(PatternOperation { pattern: compiled, prefix, call }));
                }
            }
        }
        "stringListMember" | "stringListIMember" => {
            if let Some(delimiters) = text(2) {
                let delimiters = delimiters.unwrap_or_else(|| string_lists::SEARCH_DELIMITERS.into());
                let ignores_case = name == "stringListIMember";
                return Operation::ListSearch(Box::new(ListOperation { delimiters, ignores_case, call }));
            }
        }
        _ => {
            if let Some(sought) = builtin::tested_type(call.function)
                && let Some(operand) = call.arguments.pop()
            {
                return Operation::TypeTest(sought, Box::new(operand));
            }
        }
    }
    Operation::Call(Box::new(call))
}
