//! Runs of programs.

mod calls;

use std::sync::Arc;

use crate::ad::{ByIdentity, Dialect, Expression, ExpressionKind, ScopeFrame, Truth, UnaryOperator, Value};

use super::super::{Context, Environment};
use super::CompiledSubject;
use super::budget::ProgramBudget;
use super::operand::{Bail, ComputedStrings, Operand};
use super::program::{Comparison, IntegerTest, Operation, Place, Program};
use super::slots::{AdView, NameNumber};

/// Run of a program, with the programs of the attributes that it reads.
pub(super) struct Run<'a> {
    programs: &'a ByIdentity<Expression, Program>,
    context: &'a Context,
    dialect: Dialect,
    /// An environment without ads and its scope, in which functions run.
    nowhere: &'a (Environment, Arc<ScopeFrame>),
    /// The ad that holds the running program.
    own: AdView<'a>,
    /// The other ad of a match; without a match, the only ad again.
    partner: AdView<'a>,
    pub strings: ComputedStrings,
    budget: ProgramBudget,
    /// Expression of an attribute that has no program yet. The run ends with [`Bail`] and can be repeated with one.
    pub missing: Option<&'a Expression>,
    /// The program with which the run began last.
    first: Option<(&'a Expression, &'a Program)>,
}

static UNDEFINED: Value = Value::Undefined;

impl<'a> Run<'a> {
    pub(super) fn new(
        programs: &'a ByIdentity<Expression, Program>,
        context: &'a Context,
        nowhere: &'a (Environment, Arc<ScopeFrame>),
        [own, partner]: [AdView<'a>; 2],
    ) -> Self {
        Run {
            programs,
            context,
            dialect: context.dialect,
            nowhere,
            own,
            partner,
            strings: ComputedStrings::default(),
            budget: ProgramBudget::new(context),
            missing: None,
            first: None,
        }
    }

    /// Begins anew in other ads.
    #[inline]
    pub(super) fn begin(&mut self, [own, partner]: [AdView<'a>; 2]) {
        (self.own, self.partner) = (own, partner);
        self.strings.forget();
        self.budget.begin_anew();
    }

    /// Returns the expression to evaluate; `None` if the ad has none of the attributes.
    #[inline]
    pub(super) fn subject(&self, subject: CompiledSubject<'a>) -> Option<&'a Expression> {
        match subject {
            CompiledSubject::Expression(expression) => Some(expression),
            CompiledSubject::FirstAttribute(names) => names.iter().find_map(|name| self.own.get(name.0)),
        }
    }

    /// Number of steps that the tree walker takes at most for the programs begun so far.
    pub(super) fn steps(&self) -> u32 {
        self.budget.steps()
    }

    /// Returns the value of an expression in the ad of the current side.
    pub(super) fn expression(&mut self, expression: &'a Expression) -> Result<Operand<'a>, Bail> {
        match expression.kind() {
            ExpressionKind::Literal(value) => Operand::of_literal(value, self.dialect),
            _ => self.in_program(expression, false, |run, program| run.operand(&program.root)),
        }
    }

    /// Returns the truth value of an expression in the ad of the current side.
    pub(super) fn expression_condition(&mut self, expression: &'a Expression) -> Result<Truth, Bail> {
        match expression.kind() {
            ExpressionKind::Literal(value) => Ok(Operand::of_literal(value, self.dialect)?.truth(self.dialect)),
            _ => self.in_program(expression, false, |run, program| run.condition(&program.root)),
        }
    }

    /// Works with the program of an expression in the ad of this side or of the partner. The budgets are those of the
    /// walker, which takes no more steps and nests no deeper than is counted here. A circular reference nests without
    /// end, so it bails out, too.
    #[inline]
    fn in_program<T>(
        &mut self,
        expression: &'a Expression,
        is_partners: bool,
        work: impl FnOnce(&mut Self, &'a Program) -> Result<T, Bail>,
    ) -> Result<T, Bail> {
        let program = match self.first {
            Some((first, program)) if first.ptr_eq(expression) => program,
            _ => {
                let Some(program) = self.programs.get(expression) else {
                    self.missing = Some(expression);
                    return Err(Bail);
                };
                self.first = self.first.or(Some((expression, program)));
                program
            }
        };
        let depth = self.budget.begin(program)?;
        if program.is_hopeless() {
            return Err(Bail);
        }
        if is_partners {
            std::mem::swap(&mut self.own, &mut self.partner);
        }
        let value = work(self, program);
        if is_partners {
            std::mem::swap(&mut self.own, &mut self.partner);
        }
        self.budget.end(depth);
        if depth == 0 {
            program.count_run(value.is_err() && self.missing.is_none());
        }
        value
    }

    /// Returns the expression to which a name refers, and whether it is the partner's.
    #[inline]
    fn find(&self, name: NameNumber, place: Place) -> (Option<&'a Expression>, bool) {
        match place {
            Place::Own => (self.own.get(name), false),
            Place::Partner => (self.partner.get(name), true),
            Place::Anywhere => match self.own.get(name) {
                None => (self.partner.get(name), true),
                found => (found, false),
            },
        }
    }

    /// Returns the value of a constant, or of an attribute that is a literal; `None` for other operations.
    #[inline]
    fn stored(&self, operation: &'a Operation) -> Option<&'a Value> {
        match operation {
            Operation::Constant(value) => Some(value),
            Operation::Attribute(name, place) => match self.find(*name, *place).0.map(Expression::kind) {
                None => Some(&UNDEFINED),
                Some(ExpressionKind::Literal(Value::Integer(integer)))
                    if self.dialect == Dialect::Classad && i32::try_from(*integer).is_err() =>
                {
                    // In the papers' dialect an integer beyond 32 bits is an error.
                    None
                }
                Some(ExpressionKind::Literal(value)) => Some(value),
                Some(_) => None,
            },
            _ => None,
        }
    }

    /// Returns the truth value of an operation without computing its value. Rare operations stand in another function,
    /// because this one is recursive and its stack frame must stay small.
    fn condition(&mut self, operation: &'a Operation) -> Result<Truth, Bail> {
        match operation {
            Operation::IntegerTest(test) => self.integer_test(test),
            Operation::Comparison(comparison) => self.comparison(comparison),
            Operation::Conjunction(operands) => self.logic(operands, Truth::False),
            Operation::Disjunction(operands) => self.logic(operands, Truth::True),
            Operation::PatternTest(test) => self.pattern_test(test),
            Operation::Attribute(name, place) => {
                let (found, is_partners) = self.find(*name, *place);
                let Some(expression) = found else { return Ok(Truth::Undefined) };
                match expression.kind() {
                    ExpressionKind::Literal(Value::Boolean(is)) => Ok((*is).into()),
                    ExpressionKind::Literal(value) => Ok(Operand::of_literal(value, self.dialect)?.truth(self.dialect)),
                    _ => self.attribute_condition(expression, is_partners),
                }
            }
            operation => self.other_condition(operation),
        }
    }

    #[inline(never)]
    fn attribute_condition(&mut self, expression: &'a Expression, is_partners: bool) -> Result<Truth, Bail> {
        self.in_program(expression, is_partners, |run, program| run.condition(&program.root))
    }

    #[inline]
    fn integer_test(&mut self, test: &'a IntegerTest) -> Result<Truth, Bail> {
        match self.find(test.name, test.place).0.map(Expression::kind) {
            // In the papers' dialect an integer beyond 32 bits is an error.
            Some(ExpressionKind::Literal(Value::Integer(integer)))
                if self.dialect.is_condor() || i32::try_from(*integer).is_ok() =>
            {
                Ok(test.relation.compare_integers(*integer, test.bound))
            }
            _ => self.other_integer_test(test),
        }
    }

    #[inline(never)]
    fn other_integer_test(&mut self, test: &'a IntegerTest) -> Result<Truth, Bail> {
        let (found, is_partners) = self.find(test.name, test.place);
        let operand = match found.map(|expression| (expression, expression.kind())) {
            None => Operand::Undefined,
            Some((_, ExpressionKind::Literal(value))) => Operand::of_literal(value, self.dialect)?,
            Some((expression, _)) => self.attribute(expression, is_partners)?,
        };
        match operand {
            Operand::Integer(integer) => Ok(test.relation.compare_integers(integer, test.bound)),
            operand => test.relation.compare(&self.strings.value(operand), &Value::Integer(test.bound), self.dialect),
        }
    }

    #[inline]
    fn comparison(&mut self, comparison: &'a Comparison) -> Result<Truth, Bail> {
        let Comparison { relation, operands: [left, right] } = comparison;
        match (self.stored(left), self.stored(right)) {
            (Some(Value::Integer(left)), Some(Value::Integer(right))) => Ok(relation.compare_integers(*left, *right)),
            (Some(left), Some(right)) => relation.compare(left, right, self.dialect),
            _ => self.computed_comparison(comparison),
        }
    }

    #[inline(never)]
    fn other_condition(&mut self, operation: &'a Operation) -> Result<Truth, Bail> {
        match operation {
            Operation::Unary(UnaryOperator::Not, operand) => Ok(match self.condition(operand)? {
                Truth::True => Truth::False,
                Truth::False => Truth::True,
                other => other,
            }),
            Operation::Conditional(parts) => match self.condition(&parts[0])? {
                Truth::True => self.condition(&parts[1]),
                Truth::False => self.condition(&parts[2]),
                other => Ok(other),
            },
            Operation::TypeTest(sought, operand) => {
                let found = match self.stored(operand) {
                    Some(value) => value.value_type(),
                    None => self.operand(operand)?.value_type(),
                };
                Ok((found == *sought).into())
            }
            operation => {
                let value = self.compute(operation)?;
                Ok(value.truth(self.dialect))
            }
        }
    }

    #[inline(never)]
    fn computed_comparison(&mut self, comparison: &'a Comparison) -> Result<Truth, Bail> {
        let Comparison { relation, operands: [left, right] } = comparison;
        let left = self.operand(left)?;
        let right = self.operand(right)?;
        if let (Operand::Integer(left), Operand::Integer(right)) = (left, right) {
            return Ok(relation.compare_integers(left, right));
        }
        if let (Some(left), Some(right)) = (self.strings.text(left), self.strings.text(right)) {
            return Ok(relation.compare_strings(left, right));
        }
        relation.compare(&self.strings.value(left), &self.strings.value(right), self.dialect)
    }

    /// Returns the truth value of `&&` or `||`, which one operand decides alone. In the papers' dialect an error behind
    /// that operand still counts.
    fn logic(&mut self, operands: &'a [Operation], decisive: Truth) -> Result<Truth, Bail> {
        let is_condor = self.dialect.is_condor();
        let mut value = if decisive == Truth::True { Truth::False } else { Truth::True };
        for operand in operands {
            let condition = match operand {
                Operation::IntegerTest(test) => self.integer_test(test),
                Operation::Comparison(comparison) => self.comparison(comparison),
                Operation::PatternTest(test) => self.pattern_test(test),
                operand => self.condition(operand),
            };
            match condition? {
                Truth::Error => return Ok(Truth::Error),
                Truth::Undefined if value != decisive => value = Truth::Undefined,
                condition if condition == decisive && is_condor => return Ok(decisive),
                condition if condition == decisive => value = decisive,
                _ => {}
            }
        }
        Ok(value)
    }

    /// Returns the value of an operation. Constants and attributes need no call.
    #[inline]
    fn operand(&mut self, operation: &'a Operation) -> Result<Operand<'a>, Bail> {
        match operation {
            // Constants were checked when the program was made.
            Operation::Constant(value) => Operand::of_literal(value, Dialect::Condor),
            Operation::Attribute(name, place) => {
                let (found, is_partners) = self.find(*name, *place);
                let Some(expression) = found else { return Ok(Operand::Undefined) };
                match expression.kind() {
                    ExpressionKind::Literal(value) => Operand::of_literal(value, self.dialect),
                    _ => self.attribute(expression, is_partners),
                }
            }
            operation => self.compute(operation),
        }
    }

    #[inline(never)]
    fn attribute(&mut self, expression: &'a Expression, is_partners: bool) -> Result<Operand<'a>, Bail> {
        self.in_program(expression, is_partners, |run, program| run.compute(&program.root))
    }

    #[inline(never)]
    fn compute(&mut self, operation: &'a Operation) -> Result<Operand<'a>, Bail> {
        match operation {
            Operation::Constant(_) | Operation::Attribute(..) => self.operand(operation),
            Operation::Now => {
                let now = self.context.now.ok_or(Bail)?;
                Ok(Operand::of_integer(now, self.dialect))
            }
            Operation::IntegerTest(_)
            | Operation::Comparison(_)
            | Operation::Conjunction(_)
            | Operation::Disjunction(_)
            | Operation::TypeTest(..)
            | Operation::PatternTest(_)
            | Operation::Unary(UnaryOperator::Not, _) => Ok(match self.condition(operation)? {
                Truth::True => Operand::Boolean(true),
                Truth::False => Operand::Boolean(false),
                Truth::Undefined => Operand::Undefined,
                Truth::Error => Operand::Error,
            }),
            Operation::Binary(operator, operands) => {
                let left = self.operand(&operands[0])?;
                let right = self.operand(&operands[1])?;
                self.strings.binary(*operator, left, right, self.dialect)
            }
            Operation::Unary(operator, operand) => {
                let operand = self.operand(operand)?;
                self.strings.unary(*operator, operand, self.dialect)
            }
            Operation::Conditional(parts) => match self.condition(&parts[0])? {
                Truth::True => self.operand(&parts[1]),
                Truth::False => self.operand(&parts[2]),
                Truth::Undefined => Ok(Operand::Undefined),
                Truth::Error => Ok(Operand::Error),
            },
            Operation::Elvis(operands) => match self.operand(&operands[0])? {
                Operand::Undefined => self.operand(&operands[1]),
                value => Ok(value),
            },
            Operation::Select(subject) => match self.operand(subject)? {
                Operand::Undefined => Ok(Operand::Undefined),
                // A value that is not an ad has no attributes.
                _ => Ok(Operand::Error),
            },
            Operation::CaseChange(call) => match self.operand(&call.arguments[0])? {
                text @ (Operand::Undefined | Operand::Error | Operand::String(_) | Operand::Computed(_)) => Ok(text),
                other => self.call_with(call, &[other]),
            },
            Operation::ListSearch(search) => self.list_search(search),
            Operation::Call(call) => {
                let mut values = Vec::with_capacity(call.arguments.len());
                for argument in &call.arguments {
                    values.push(self.operand(argument)?);
                }
                self.call_with(call, &values)
            }
            Operation::Unsupported => Err(Bail),
        }
    }
}
