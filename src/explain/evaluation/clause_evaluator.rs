//! Evaluates one clause for a request in many offers.

use std::sync::atomic::Ordering;

use crate::ad::{Ad, BinaryOperator, ByteString, Dialect, Expression, Name, OperatorGroup, Truth, Value};
use crate::constraint::{ClauseForm, ClauseOperand, is_self_evaluating, literal_value, orient_comparison};
use crate::eval::{Work, string_list_items};
use crate::explain::clauses::ExplainedClause;
use crate::matching::{Pair, PairSide};
use crate::pool::{ExpressionColumn, exact_number};

use super::{OfferTable, RequestContext};

/// Evaluates one clause for a request, row by row.
pub struct ClauseEvaluator<'e> {
    table: &'e OfferTable,
    request: &'e RequestContext,
    side: PairSide,
    clause: &'e ExplainedClause,
    /// The clause with what the request contributes to it; `None` if only the evaluator can compute its value.
    form: Option<BoundForm<'e>>,
    /// The pair for the evaluator; `None` until first needed.
    pair: Option<Pair>,
    /// Number of values computed.
    evaluations: u64,
}

/// The form of a clause once the request is known.
enum BoundForm<'e> {
    /// A comparison, or an operand that must be true.
    Test(ClauseForm<'static, BoundOperand<'e>>),
    /// An operand that must be one of these items of a string list.
    StringListMember(BoundOperand<'e>, Vec<ByteString>),
}

/// An operand of a clause once the request is known.
enum BoundOperand<'e> {
    /// The operand has this value for each offer.
    Constant(Value),
    /// The operand is an attribute of the offer.
    Offer {
        /// The column of the attribute; `None` if no offer has it.
        column: Option<&'e ExpressionColumn>,
        /// The value for an offer that lacks the attribute; `None` if only the evaluator can compute it.
        default: Option<Value>,
    },
}

/// A comparison of an attribute of the offers with a number, once the request is known.
struct NumberTest<'e> {
    column: &'e ExpressionColumn,
    /// The result of [`ExpressionColumn::numbers`].
    numbers: &'e [f64],
    operator: BinaryOperator,
    bound: f64,
}

impl NumberTest<'_> {
    /// Returns the number that a row binds to the attribute; `None` if only the evaluator can compute the clause.
    fn number(&self, row: usize) -> Option<f64> {
        self.numbers.get(self.column.code(row) as usize).copied().filter(|number| !number.is_nan())
    }

    /// Whether a number meets the comparison.
    #[allow(clippy::float_cmp)] // so the language compares
    fn is_met(&self, number: f64) -> bool {
        match self.operator {
            BinaryOperator::Less => number < self.bound,
            BinaryOperator::LessEqual => number <= self.bound,
            BinaryOperator::Greater => number > self.bound,
            BinaryOperator::GreaterEqual => number >= self.bound,
            BinaryOperator::Equal => number == self.bound,
            _ => number != self.bound,
        }
    }
}

impl<'e> ClauseEvaluator<'e> {
    /// Prepares the evaluation of a clause that belongs to `side`.
    pub fn new(
        table: &'e OfferTable,
        request: &'e RequestContext,
        side: PairSide,
        clause: &'e ExplainedClause,
    ) -> Self {
        let can_decide = !clause.is_whole && !table.has_scope_attribute && !request.has_scope_attribute;
        let operand = |operand| bound_operand(table, request, side, operand);
        let form = can_decide.then(|| ClauseForm::of(&clause.expression)).and_then(|form| match form {
            ClauseForm::StringListMember(member, list) => {
                Some(BoundForm::StringListMember(operand(member)?, string_list_items(list)))
            }
            form => form.map_operands(operand).map(BoundForm::Test),
        });
        ClauseEvaluator { table, request, side, clause, form, pair: None, evaluations: 0 }
    }

    /// Evaluates the clause for the pair of the request and a row.
    pub fn value(&mut self, row: usize) -> Value {
        self.evaluations += 1;
        if let Some(value) = self.decide(row) {
            return value;
        }
        let table = self.table;
        let new_pair = || {
            let (protocol, context) = (table.protocol.clone(), table.context.clone());
            Pair::new(Ad::default(), Ad::default(), protocol, context)
        };
        let pair = self.pair.get_or_insert_with(new_pair);
        pair.replace(PairSide::Request, &self.request.frame);
        pair.replace(PairSide::Offer, &Pair::make_scope(table.ads[row].clone(), PairSide::Offer));
        let value = match self.clause.path.first().filter(|_| self.clause.is_whole) {
            Some(name) => pair.evaluate_attribute(self.side, name),
            None => pair.evaluate(self.side, &self.clause.expression),
        };
        // A clause that exceeds its budget counts as an error, and so does not match.
        value.unwrap_or_else(|halt| Value::error(self.clause.expression.span(), halt.to_string()))
    }

    /// Evaluates the clause for the pairs of the request and each of some rows, and returns the outcomes.
    pub fn outcomes(&mut self, rows: &[u32]) -> Vec<Truth> {
        let Some(test) = self.number_test() else {
            return rows.iter().map(|row| self.outcome(*row as usize)).collect();
        };
        let outcome = |row: &u32| match test.number(*row as usize) {
            Some(number) => {
                self.evaluations += 1;
                if test.is_met(number) { Truth::True } else { Truth::False }
            }
            None => self.outcome(*row as usize),
        };
        rows.iter().map(outcome).collect()
    }

    /// Returns the clause as a comparison of an attribute of the offers with a number; `None` if it is not one.
    fn number_test(&self) -> Option<NumberTest<'e>> {
        let BoundForm::Test(ClauseForm::Comparison(operator, left, right)) = self.form.as_ref()? else { return None };
        let column = |operand: &BoundOperand<'e>| match operand {
            BoundOperand::Offer { column, .. } => *column,
            BoundOperand::Constant(_) => None,
        };
        let bound = |operand: &BoundOperand<'e>| match operand {
            BoundOperand::Constant(value) => exact_number(value),
            BoundOperand::Offer { .. } => None,
        };
        let (column, operator, bound) = orient_comparison(*operator, left, right, column, bound)?;
        let numbers = column.numbers(self.table.context.dialect);
        (operator.group() == OperatorGroup::Comparison).then_some(NumberTest { column, numbers, operator, bound })
    }

    /// Evaluates the clause for the pair of the request and a row, and returns its outcome.
    pub fn outcome(&mut self, row: usize) -> Truth {
        Truth::of(&self.value(row), self.table.context.dialect)
    }

    /// Computes a value without the evaluator, which is faster. This works for a literal, a reference to a literal, a
    /// comparison of two of these, or a search for such a string in a literal string list; `None` for anything else.
    /// Also `None` for an error, because only the evaluator determines the source position in an error.
    fn decide(&self, row: usize) -> Option<Value> {
        let dialect = self.table.context.dialect;
        let value = match self.form.as_ref()? {
            BoundForm::Test(form) => form.decide(dialect, |operand| operand.value(row, dialect))?,
            BoundForm::StringListMember(member, items) => match member.value(row, dialect)? {
                Value::String(member) => Value::Boolean(items.contains(member)),
                _ => return None,
            },
        };
        Some(value).filter(|value| !matches!(value, Value::Error(_)))
    }
}

impl BoundOperand<'_> {
    /// Returns the value of the operand for a row; `None` if only the evaluator can compute it.
    fn value(&self, row: usize, dialect: Dialect) -> Option<&Value> {
        match self {
            BoundOperand::Constant(value) => Some(value),
            BoundOperand::Offer { column, default } => match column.and_then(|column| column.expression(row)) {
                Some(expression) => literal_value(expression, dialect),
                None => default.as_ref(),
            },
        }
    }
}

impl Drop for ClauseEvaluator<'_> {
    fn drop(&mut self) {
        self.table.evaluations.fetch_add(self.evaluations, Ordering::Relaxed);
        self.table.context.charge(Work::Clause, self.evaluations);
    }
}

/// Returns what an operand is for a request. `side` is the side to which the clause belongs. `None` if only the
/// evaluator can compute the operand.
fn bound_operand<'e>(
    table: &'e OfferTable,
    request: &RequestContext,
    side: PairSide,
    operand: ClauseOperand<'_>,
) -> Option<BoundOperand<'e>> {
    let dialect = table.context.dialect;
    let bound = |expression: Option<&Expression>| match expression {
        Some(expression) => literal_value(expression, dialect).cloned(),
        None => Some(Value::Undefined),
    };
    let of_request = |name: &Name| bound(request.ad.get(name)).map(BoundOperand::Constant);
    let of_offer = |name: &Name, default| {
        let column = table.columns.get(name).map(|(column, _)| &**column);
        Some(BoundOperand::Offer { column, default })
    };
    match (operand, side) {
        (ClauseOperand::Literal(value), _) => {
            Some(BoundOperand::Constant(value.clone())).filter(|_| is_self_evaluating(value, dialect))
        }
        (ClauseOperand::Own(name), PairSide::Request) | (ClauseOperand::Other(name), PairSide::Offer) => {
            of_request(name)
        }
        (ClauseOperand::Own(name), PairSide::Offer) | (ClauseOperand::Other(name), PairSide::Request) => {
            of_offer(name, Some(Value::Undefined))
        }
        (ClauseOperand::Unqualified(name), PairSide::Request) => match request.ad.get(name) {
            Some(_) => of_request(name),
            None => of_offer(name, Some(Value::Undefined)),
        },
        (ClauseOperand::Unqualified(name), PairSide::Offer) => of_offer(name, bound(request.ad.get(name))),
    }
}
