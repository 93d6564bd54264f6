//! Finds out why a clause is true of no offer.

use crate::ad::{BinaryOperator, Expression, Group, Kind, Name, Text, Type, Value};
use crate::eval::{Mentions, Verdict, find_function, near_functions};

use super::clause_analysis::{Asked, Examined};
use super::clauses::text;
use super::evaluation::{Answers, Asking, Survey};

/// The reason why a clause is true of no offer.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// It calls an unknown function; the names of similar functions.
    Function(Name, Vec<&'static str>),
    /// It reads an attribute as the request's own that the request lacks; similar names that the request has.
    Lacking(Name, Vec<Name>),
    /// Precedence differs from what the text suggests, as in `a > b is c ? d : e`; the text with explicit parentheses.
    Precedence(String),
    /// It reads the request's own attribute where the offers' attribute of the same name was meant.
    Shadowed(Name),
    /// It is never true, whatever the offer is.
    ByItself,
    /// It reads an attribute that no offer has.
    Missing(Name),
    /// It compares an attribute with a value of another type than the offers have.
    Types {
        /// The type that the offers have instead, taken from the first of their values.
        theirs: Type,
        /// The type of the bound.
        bound: Type,
        /// Number of offers with a value of this type.
        offers: usize,
    },
    /// It compares strings with `=?=`, which is case-sensitive, and they differ in case only.
    Case {
        /// The most frequent such string of the offers.
        theirs: Text,
        /// Number of offers with this string.
        offers: usize,
    },
    /// The offers have other values than it asks for.
    Value,
}

impl Fault {
    /// The priority of the reason; lower is more decisive. Mistakes in the request come before properties of the pool.
    fn weight(&self) -> u8 {
        match self {
            Fault::Function(..) => 0,
            Fault::Precedence(_) => 1,
            Fault::Lacking(..) => 2,
            Fault::Shadowed(_) | Fault::ByItself => 3,
            Fault::Missing(_) => 4,
            Fault::Types { .. } => 5,
            Fault::Case { .. } => 6,
            Fault::Value => 7,
        }
    }

    /// Finds the reason why a clause is true of no offer. The clause must be true of none.
    pub(super) fn of(examined: &Examined, survey: &mut Survey, asking: &Asking) -> Self {
        if let Some(fault) = unknown_function(&examined.clause.expression) {
            return fault;
        }
        if let Some(reading) = misread(&examined.clause.expression) {
            return Fault::Precedence(text(&reading, survey.context.dialect));
        }
        if examined.verdict == Verdict::Never {
            return match examined.lacking.first() {
                Some(name) => Fault::Lacking(name.clone(), near_own(name, asking)),
                None => shadowed(examined, survey, asking).map_or(Fault::ByItself, Fault::Shadowed),
            };
        }
        let missing = examined.theirs.iter().find(|name| survey.having(name) == 0);
        if let Some(name) = missing {
            return Fault::Missing(name.clone());
        }
        match &examined.asked {
            Some(asked) => of_comparison(asked, survey, asking),
            None => Fault::Value,
        }
    }

    /// Returns the most decisive reason; the first of equally decisive ones. `None` if `faults` is empty.
    pub(super) fn decisive<T>(faults: Vec<(T, Fault)>) -> Option<(T, Fault)> {
        faults.into_iter().min_by_key(|(_, fault)| fault.weight())
    }
}

fn near_own(name: &Name, asking: &Asking) -> Vec<Name> {
    let names = asking.ad.iter().map(|attribute| attribute.name.as_str());
    crate::ad::nearest(name.as_str(), names).into_iter().map(Name::new).collect()
}

/// Returns the attribute that the clause reads without a qualifier and that both the request and some offers have.
/// `None` if there is none, or if the clause is the whole constraint.
fn shadowed(examined: &Examined, survey: &Survey, asking: &Asking) -> Option<Name> {
    if examined.clause.is_whole {
        return None;
    }
    let mentions = Mentions::of(&examined.clause.expression, survey.context.dialect);
    let mut own = mentions.either.into_iter().filter(|name| asking.ad.get(name).is_some());
    own.find(|name| survey.having(name) > 0)
}

/// Returns [`Fault::Function`] if the expression calls an unknown function, else `None`.
fn unknown_function(expression: &Expression) -> Option<Fault> {
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        if let Kind::Call(name, _) = expression.kind()
            && find_function(name.as_str()).is_none()
        {
            return Some(Fault::Function(name.clone(), near_functions(name.as_str())));
        }
        expression.kind().for_each_child(|child| pending.push(child));
    }
    None
}

/// Returns `a > b is c ? d : e` with the parentheses that show how it is parsed. `None` if the clause has another form.
pub fn misread(clause: &Expression) -> Option<Expression> {
    let parenthesized = |inner: &Expression| Expression::new(Kind::Parentheses(inner.clone()), inner.span());
    let Kind::Conditional(condition, yes, no) = clause.bare().kind() else { return None };
    let Kind::Binary(operator, left, right) = condition.kind() else { return None };
    let Kind::Binary(inner, ..) = left.kind() else { return None };
    if operator.group() != Group::Identity || inner.group() != Group::Comparison {
        return None;
    }
    let condition = Kind::Binary(*operator, parenthesized(left), right.clone());
    let condition = parenthesized(&Expression::new(condition, left.span().to(right.span())));
    Some(Expression::new(Kind::Conditional(condition, yes.clone(), no.clone()), clause.span()))
}

fn of_comparison(asked: &Asked, survey: &mut Survey, asking: &Asking) -> Fault {
    let answers = survey.answers_of(asking, &asked.what);
    let groups = weights(&answers, survey);
    let present = answers.values.iter().zip(&groups).filter(|(value, _)| !value.is_exceptional());
    let is_other = |value: &Value| class(value, survey) != class(&asked.bound, survey);
    if let Some((first, _)) = present.clone().next()
        && !asked.bound.is_exceptional()
        && present.clone().all(|(value, _)| is_other(value))
    {
        let alike = present.filter(|(value, _)| class(value, survey) == class(first, survey));
        let offers = alike.map(|(_, weight)| weight).sum();
        return Fault::Types { theirs: first.kind(), bound: asked.bound.kind(), offers };
    }
    if let (BinaryOperator::Is, Value::String(bound)) = (asked.operator, &asked.bound) {
        let alike = present.filter_map(|(value, weight)| match value {
            Value::String(text) if text.eq_ignore_case(bound) => Some((text, *weight)),
            _ => None,
        });
        if let Some((theirs, offers)) = alike.max_by_key(|(_, weight)| *weight) {
            return Fault::Case { theirs: theirs.clone(), offers };
        }
    }
    Fault::Value
}

/// Returns the number of offers with each of the values.
pub fn weights(answers: &Answers, survey: &Survey) -> Vec<usize> {
    let mut groups = vec![0; answers.values.len()];
    for (row, weight) in survey.weights.iter().enumerate() {
        groups[answers.group(row)] += weight;
    }
    groups
}

/// The phrase for a type, with integers and reals both called a number.
pub fn phrase(kind: Type) -> &'static str {
    match kind {
        Type::Integer | Type::Real => "a number",
        other => other.phrase(),
    }
}

/// A class of types whose values can be compared with each other.
#[derive(PartialEq)]
enum Class {
    Number,
    Boolean,
    Other(Type),
}

fn class(value: &Value, survey: &Survey) -> Class {
    match value {
        Value::Integer(_) | Value::Real(_) => Class::Number,
        Value::Boolean(_) if survey.context.dialect.is_condor() => Class::Number,
        Value::Boolean(_) => Class::Boolean,
        other => Class::Other(other.kind()),
    }
}
