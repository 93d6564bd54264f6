//! Checks the types of operands and arguments, as far as literals, functions and HTCondor's standard attributes tell
//! them.

use rustc_hash::FxHashMap;

use crate::ad::{BinaryOperator, Dialect, Expression, ExpressionKind, Name, OperatorGroup, Type, UnaryOperator, Value};
use crate::constraint::ClauseOperand;
use crate::eval::{TypeSet, find_function_in};
use crate::protocol::JobState;

use super::rules;
use super::short_text::short_text;
use super::slip::Slip;
use super::slips::is_comparison;
use super::standard_attributes::StandardType;
use super::subexpressions::for_each_in_scope;

/// Checks the types of all operands and arguments in an expression.
pub(super) fn check(expression: &Expression, dialect: Dialect, found: &mut Vec<Slip>) {
    let mut check = TypeCheck { dialect, types: FxHashMap::default(), found };
    let mut pending = vec![(expression, false)];
    while let Some((expression, are_children_done)) = pending.pop() {
        if are_children_done {
            let types = check.infer(expression);
            check.types.insert(expression.identity(), types);
            continue;
        }
        pending.push((expression, true));
        match expression.kind() {
            // The names in a nested ad are found in that ad first.
            ExpressionKind::Ad(_) => {}
            kind => {
                let start = pending.len();
                for_each_in_scope(kind, |child| pending.push((child, false)));
                pending[start..].reverse();
            }
        }
    }
}

/// The check of the types in one expression.
struct TypeCheck<'f> {
    dialect: Dialect,
    /// The types that subexpressions can have, by identity.
    types: FxHashMap<usize, TypeSet>,
    found: &'f mut Vec<Slip>,
}

impl TypeCheck<'_> {
    /// Returns the types of a subexpression whose children have types already. Reports operands of wrong types. After a
    /// report any type is possible, so that nothing follows from it.
    fn infer(&mut self, expression: &Expression) -> TypeSet {
        match expression.kind() {
            ExpressionKind::Literal(Value::Boolean(_)) => TypeSet::of_type(Type::Boolean),
            ExpressionKind::Literal(value) => TypeSet::of(value),
            ExpressionKind::Parentheses(inner) => self.types_of(inner),
            ExpressionKind::Attribute(_) | ExpressionKind::Select(..) => {
                attribute_type(expression).map_or(TypeSet::ANY, |kind| kind.type_set(self.dialect))
            }
            ExpressionKind::Unary(UnaryOperator::Not, operand) => {
                self.check_condition("!", operand);
                TypeSet::LOGICAL
            }
            ExpressionKind::Unary(operator, operand) => self.infer_unary(expression, *operator, operand),
            ExpressionKind::Binary(operator, left, right) if operator.group() == OperatorGroup::Logic => {
                self.check_condition(operator.symbol(), left);
                self.check_condition(operator.symbol(), right);
                TypeSet::LOGICAL
            }
            ExpressionKind::Binary(operator, left, right) => self.infer_binary(expression, *operator, left, right),
            ExpressionKind::Conditional(condition, consequent, alternative) => {
                self.check_condition("?", condition);
                self.types_of(consequent).union(self.types_of(alternative))
            }
            ExpressionKind::Elvis(first, default) => self.types_of(first).union(self.types_of(default)),
            ExpressionKind::Call(name, arguments) => self.infer_call(expression, name, arguments),
            ExpressionKind::List(_) => TypeSet::of_type(Type::List),
            ExpressionKind::Ad(_) => TypeSet::of_type(Type::Ad),
            ExpressionKind::RootAttribute(_) | ExpressionKind::Subscript(..) => TypeSet::ANY,
        }
    }

    fn types_of(&self, expression: &Expression) -> TypeSet {
        self.types.get(&expression.identity()).copied().unwrap_or(TypeSet::ANY)
    }

    /// Returns the types of an operand other than undefined and error. `None` if there are no others.
    fn plain_types(&self, operand: &Expression) -> Option<TypeSet> {
        let types = self.types_of(operand).without(TypeSet::UNDEFINED).without(TypeSet::ERROR);
        (types != TypeSet::NONE).then_some(types)
    }

    /// Reports an operand that is never a condition. Strings, lists, ads and times that are written there are left out,
    /// because the check of operators reports them.
    fn check_condition(&mut self, operator: &str, operand: &Expression) {
        let is_written = matches!(
            operand.without_parentheses().kind(),
            ExpressionKind::Literal(_) | ExpressionKind::List(_) | ExpressionKind::Ad(_)
        );
        let logical = TypeSet::of_type(Type::Boolean).union(number_types());
        if let Some(types) = self.plain_types(operand).filter(|types| !is_written && !types.intersects(logical)) {
            let message = format!("`{operator}` needs a condition, but this is {}", phrase(types));
            self.found.push(Slip::new(&rules::NOT_BOOLEAN, operand, message));
        }
    }

    fn infer_unary(&mut self, whole: &Expression, operator: UnaryOperator, operand: &Expression) -> TypeSet {
        let Some(types) = self.plain_types(operand) else { return TypeSet::ANY };
        let result = TypeSet::unary(operator, types, self.dialect);
        if !result.is_subset_of(TypeSet::ERROR) {
            return result;
        }
        let message = format!("the operand of `{}` is {}, which `{0}` cannot take", operator.symbol(), phrase(types));
        self.found.push(Slip::new(&rules::OPERAND, whole, message));
        TypeSet::ANY
    }

    fn infer_binary(
        &mut self,
        whole: &Expression,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
    ) -> TypeSet {
        if let Some(slip) = self.regrouped(whole, operator, left, right) {
            self.found.pop();
            self.found.push(slip);
            return TypeSet::LOGICAL;
        }
        let Some((left_types, right_types)) = self.plain_types(left).zip(self.plain_types(right)) else {
            return TypeSet::ANY;
        };
        let is_identity = operator.group() == OperatorGroup::Identity;
        let result = TypeSet::binary(operator, left_types, right_types, self.dialect);
        let is_wrong = if is_identity {
            !with_numbers(left_types).intersects(with_numbers(right_types))
        } else {
            result.is_subset_of(TypeSet::ERROR)
        };
        if !is_wrong {
            return result;
        }
        let symbol = operator.symbol_in(self.dialect);
        let gives = match operator {
            BinaryOperator::Is => "always false",
            BinaryOperator::Isnt => "always true",
            _ => "an error",
        };
        let [left_phrase, right_phrase] = [(left, left_types), (right, right_types)]
            .map(|(operand, types)| attribute_type(operand).map_or_else(|| phrase(types), StandardType::phrase));
        let message = match (left_phrase, right_phrase) {
            // The type of one operand does not matter.
            (OTHER_TYPE, known) | (known, OTHER_TYPE) => format!("`{symbol}` with {known} is {gives}"),
            (left, right) => format!("`{symbol}` of {left} and {right} is {gives}"),
        };
        let mut slip = Slip::new(&rules::OPERAND, whole, message);
        if let Some((status, rewrite)) = with_status(operator, left, right) {
            let help = format!("{status}: write `{}`", short_text(&rewrite, self.dialect));
            slip = slip.with_help(help).with_rewrite(rewrite);
        } else if let Some(rewrite) = converted(operator, (left, left_types), (right, right_types)) {
            slip = slip.with_help(format!("write `{}`", short_text(&rewrite, self.dialect))).with_rewrite(rewrite);
        }
        self.found.push(slip);
        if is_comparison(operator) { TypeSet::LOGICAL } else { TypeSet::ANY }
    }

    /// Returns the slip about `x == "a" * 10`, which is read as `x == ("a" * 10)`. The last slip is then the one about
    /// the product. `None` for any other expression.
    fn regrouped(
        &self,
        whole: &Expression,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
    ) -> Option<Slip> {
        let ExpressionKind::Binary(inner, text, factor) = right.kind() else { return None };
        let reported = self.found.last().filter(|slip| slip.place.ptr_eq(right) && slip.rule == &rules::OPERAND)?;
        if !is_comparison(operator) || !matches!(text.as_literal(), Some(Value::String(_))) {
            return None;
        }
        let comparison = Expression::binary(operator, left.clone(), text.clone());
        let rewrite = Expression::binary(*inner, ExpressionKind::Parentheses(comparison).into(), factor.clone());
        let [inner, outer] = [*inner, operator].map(|operator| operator.symbol_in(self.dialect));
        let help =
            format!("`{inner}` binds more tightly than `{outer}`: write `{}`", short_text(&rewrite, self.dialect));
        let slip = Slip::new(&rules::OPERAND, whole, reported.message.clone()).with_help(help);
        Some(slip.with_rewrite(rewrite))
    }

    fn infer_call(&mut self, call: &Expression, name: &Name, arguments: &[Expression]) -> TypeSet {
        let Some(function) = find_function_in(name, self.dialect) else { return TypeSet::ANY };
        for (index, argument) in arguments.iter().enumerate() {
            let Some(types) = self.plain_types(argument) else { continue };
            let wanted = function.argument_types(index);
            if types.intersects(wanted) {
                continue;
            }
            let message = match (phrase(wanted), phrase(types)) {
                (OTHER_TYPE, OTHER_TYPE) => format!("{} does not take this", function.name),
                (OTHER_TYPE, given) => format!("{} does not take {given} here", function.name),
                (wanted, given) => format!("{} needs {wanted} here, but this is {given}", function.name),
            };
            let slip = Slip::new(&rules::ARGUMENT, argument, message);
            self.found.push(match other_function(function.name, types) {
                // The whole call is marked: what is written instead has another function.
                Some(other) if arguments.len() == 2 => {
                    let rewrite = Expression::call(other, arguments.iter().cloned());
                    let help = format!("write `{}`", short_text(&rewrite, self.dialect));
                    Slip { place: call.clone(), ..slip.with_help(help).with_rewrite(rewrite) }
                }
                _ => slip.with_help(function.signature),
            });
        }
        call.conditional().map_or_else(
            || function.result_types(),
            |[_, consequent, alternative]| self.types_of(consequent).union(self.types_of(alternative)),
        )
    }
}

/// Whether a value has another type than a standard attribute. Undefined and error may be the value of any.
pub(super) fn is_other_type(kind: StandardType, value: &Value, dialect: Dialect) -> bool {
    !value.is_exceptional() && !with_numbers(kind.type_set(dialect)).intersects(with_numbers(TypeSet::of(value)))
}

/// Returns the type of the standard attribute that an expression names. `None` for any other expression.
fn attribute_type(expression: &Expression) -> Option<StandardType> {
    match ClauseOperand::of(expression)? {
        ClauseOperand::Other(name) | ClauseOperand::Own(name) | ClauseOperand::Unqualified(name) => {
            StandardType::of(name)
        }
        ClauseOperand::Literal(_) => None,
    }
}

fn number_types() -> TypeSet {
    TypeSet::of_type(Type::Integer).union(TypeSet::of_type(Type::Real))
}

/// Returns the types, with all numbers and booleans if there is one of these: `is` tells integers, reals and booleans
/// apart, but programs advertise one as another.
fn with_numbers(types: TypeSet) -> TypeSet {
    let numbers = number_types().union(TypeSet::of_type(Type::Boolean));
    if types.intersects(numbers) { types.union(numbers) } else { types }
}

/// Returns the comparison of the number of a job's state with the number in place of the word: `JobStatus == 1` for
/// `JobStatus == "Idle"`, with what the number means. `None` for any other comparison.
fn with_status(operator: BinaryOperator, left: &Expression, right: &Expression) -> Option<(String, Expression)> {
    let is_status = |operand| match ClauseOperand::of(operand) {
        Some(ClauseOperand::Other(name) | ClauseOperand::Own(name) | ClauseOperand::Unqualified(name)) => {
            ["JobStatus", "LastJobStatus"].into_iter().any(|known| name.is(known))
        }
        _ => false,
    };
    let number = |operand: &Expression| match operand.as_literal() {
        Some(Value::String(word)) => {
            let word = word.to_str().into_owned();
            JobState::status_of_word(&word).map(|number| (number, word))
        }
        _ => None,
    };
    let literal = |number: i64| Expression::literal(Value::Integer(number));
    let (number, word, rewrite) = match (number(left), number(right)) {
        (None, Some((number, word))) if is_status(left) => {
            (number, word, Expression::binary(operator, left.clone(), literal(number)))
        }
        (Some((number, word)), None) if is_status(right) => {
            (number, word, Expression::binary(operator, literal(number), right.clone()))
        }
        _ => return None,
    };
    Some((format!("{number} is {}", word.to_ascii_lowercase()), rewrite))
}

/// Returns the comparison with its literal converted to the type of the other operand: `JobStatus == 5` instead of
/// `JobStatus == "5"`. A comparison with a list becomes a call of `member`. `None` if there is nothing to convert.
fn converted(
    operator: BinaryOperator,
    (left, left_types): (&Expression, TypeSet),
    (right, right_types): (&Expression, TypeSet),
) -> Option<Expression> {
    if !is_comparison(operator) {
        return None;
    }
    if let Some(literal) = converted_literal(right, left_types) {
        return Some(Expression::binary(operator, left.clone(), literal));
    }
    if let Some(literal) = converted_literal(left, right_types) {
        return Some(Expression::binary(operator, literal, right.clone()));
    }
    let is_list = |operand: &Expression| matches!(operand.without_parentheses().kind(), ExpressionKind::List(_));
    let (item, list) = match () {
        () if is_list(right) => (left, right),
        () if is_list(left) => (right, left),
        () => return None,
    };
    let call = Expression::call("member", [item.clone(), list.clone()]);
    match operator {
        BinaryOperator::Equal | BinaryOperator::Is => Some(call),
        BinaryOperator::NotEqual | BinaryOperator::Isnt => Some(Expression::unary(UnaryOperator::Not, call)),
        _ => None,
    }
}

/// Returns a literal string as a value of one of the wanted types. `None` if it cannot be one.
fn converted_literal(literal: &Expression, wanted: TypeSet) -> Option<Expression> {
    let Some(Value::String(text)) = literal.as_literal() else { return None };
    let text = text.to_str();
    let text = text.trim();
    let value = match text.parse::<i64>() {
        Ok(integer) if wanted.intersects(number_types()) => Value::Integer(integer),
        _ if wanted.intersects(TypeSet::of_type(Type::Boolean)) => {
            Value::Boolean(["true", "false"].into_iter().position(|word| word.eq_ignore_ascii_case(text))? == 0)
        }
        _ if wanted.intersects(number_types()) => Value::Real(text.parse().ok().filter(|real: &f64| real.is_finite())?),
        _ => return None,
    };
    Some(Expression::literal(value))
}

/// Returns the function that takes a string where `name` takes a list, or a list where it takes a string. `None` if
/// there is none.
fn other_function(name: &str, given: TypeSet) -> Option<&'static str> {
    let is = |kind: Type| given.is_subset_of(TypeSet::of_type(kind));
    match name {
        "member" | "isMember" if is(Type::String) => Some("stringListIMember"),
        "identicalMember" if is(Type::String) => Some("stringListMember"),
        "stringListMember" if is(Type::List) => Some("identicalMember"),
        "stringListIMember" if is(Type::List) => Some("member"),
        "stringListSize" if is(Type::List) => Some("size"),
        _ => None,
    }
}

/// The phrase for types that no other phrase describes.
const OTHER_TYPE: &str = "a value of another type";

/// The types with articles, such as `a number`.
fn phrase(types: TypeSet) -> &'static str {
    let is = |kinds: &[Type]| {
        let all = kinds.iter().map(|kind| TypeSet::of_type(*kind)).fold(TypeSet::NONE, TypeSet::union);
        types.without(TypeSet::UNDEFINED).without(TypeSet::ERROR).is_subset_of(all)
    };
    match () {
        () if is(&[Type::String]) => "a string",
        () if is(&[Type::Boolean]) => "a boolean",
        () if is(&[Type::Real]) => "a real",
        () if is(&[Type::Integer, Type::Real]) => "a number",
        () if is(&[Type::Boolean, Type::Integer, Type::Real]) => "a boolean or a number",
        () if is(&[Type::List]) => "a list",
        () if is(&[Type::Ad]) => "an ad",
        () if is(&[Type::AbsoluteTime, Type::RelativeTime]) => "a time",
        () => OTHER_TYPE,
    }
}
