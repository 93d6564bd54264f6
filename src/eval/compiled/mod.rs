//! Compiled evaluation: an expression that is evaluated often is prepared once, as a program.
//!
//! A program knows the slots of its names in the shapes of the ads, the table rows of its functions and the values of
//! its constants. Its operators allocate nothing. A program gives the value that the tree walker [`Evaluator`] gives,
//! or none: whatever is unusual is left to the walker, which evaluates the same expression from the beginning. Such are
//! lists, nested ads, times, circular references, random numbers, and evaluations that come near a budget. An error has
//! no cause here, since only a value that is shown needs one.
//!
//! [`Evaluator`]: super::Evaluator

mod lower;
mod memory;
mod operand;
mod program;
mod relation;
mod run;
mod slots;

use std::sync::Arc;

use crate::ad::{Ad, Dialect, Expression, Name, ScopeFrame, Truth, Value};

use super::{Abort, Context, Environment, Evaluator};
use memory::ProgramMemory;
use operand::{Bail, Operand};
use run::Run;
use slots::{AdView, NameNumber, NameTable, ShapeNumber, SlotTable};

/// Evaluator of expressions in many ads. It makes programs of the expressions and remembers them.
pub struct CompiledEvaluator {
    dialect: Dialect,
    /// Whether the programs run in matches of two ads.
    is_match: bool,
    /// Maximum number of expressions and of shapes that are remembered.
    capacity: usize,
    names: NameTable,
    shapes: SlotTable,
    programs: ProgramMemory,
    /// Shapes of the ads of the last runs, by the side that held the expression.
    guesses: [[ShapeNumber; 2]; 2],
    nowhere: (Environment, Arc<ScopeFrame>),
    /// Number of steps of the last run.
    steps: u32,
}

/// Value that a program gave.
#[derive(Clone, Debug, PartialEq)]
pub enum CompiledValue {
    /// A value that is not an error.
    Value(Value),
    /// An error. The tree walker tells its cause.
    Error,
}

/// Attribute that a [`CompiledEvaluator`] looks up, for repeated evaluation.
#[derive(Clone, Copy, Debug)]
pub struct CompiledName(NameNumber);

/// What is evaluated.
#[derive(Clone, Copy)]
enum Subject<'s> {
    Expression(&'s Expression),
    /// The first of these attributes that the ad has.
    FirstAttribute(&'s [CompiledName]),
}

/// Ads in which a program runs, and the index of the one that holds the expression.
#[derive(Clone, Copy)]
struct Scene<'s> {
    ads: [&'s Ad; 2],
    side: usize,
}

impl CompiledEvaluator {
    /// Maximum number of expressions and shapes that an evaluator for passing ads remembers. It keeps them in memory.
    const MAX_PASSING: usize = 1024;

    /// Maximum number of expressions and shapes that an evaluator for ads in memory remembers.
    const MAX_STAYING: usize = 1 << 18;

    /// Creates an evaluator for single ads, which may be dropped after their evaluation.
    #[must_use]
    pub fn for_passing_ads(dialect: Dialect) -> Self {
        Self::new(dialect, false, Self::MAX_PASSING)
    }

    /// Creates an evaluator for single ads that stay in memory.
    #[must_use]
    pub fn for_ads(dialect: Dialect) -> Self {
        Self::new(dialect, false, Self::MAX_STAYING)
    }

    /// Creates an evaluator for matches of two ads that stay in memory.
    #[must_use]
    pub fn for_pairs(dialect: Dialect) -> Self {
        Self::new(dialect, true, Self::MAX_STAYING)
    }

    fn new(dialect: Dialect, is_match: bool, capacity: usize) -> Self {
        CompiledEvaluator {
            dialect,
            is_match,
            capacity,
            names: NameTable::default(),
            shapes: SlotTable::default(),
            programs: ProgramMemory::default(),
            steps: 0,
            guesses: Default::default(),
            nowhere: Environment::empty(),
        }
    }

    /// Returns the value of an expression in an ad, as [`Evaluator`] gives it in [`Environment::single`].
    ///
    /// # Errors
    ///
    /// The same as those of [`Evaluator::evaluate`].
    pub fn evaluate(&mut self, expression: &Expression, ad: &Ad, context: &Context) -> Result<Value, Abort> {
        if let Some(CompiledValue::Value(value)) = self.value(expression, ad, context) {
            return Ok(value);
        }
        let (environment, frame) = Environment::single(ad.clone());
        Evaluator::new(&environment, context).evaluate(expression, &frame)
    }

    /// Returns the value of an expression in an ad; `None` if only the tree walker can tell it.
    pub fn value(&mut self, expression: &Expression, ad: &Ad, context: &Context) -> Option<CompiledValue> {
        self.value_of(Subject::Expression(expression), Scene { ads: [ad, ad], side: 0 }, context)
    }

    /// Whether an expression is true in an ad: the boolean, or in HTCondor's dialect a number that is not zero. `None`
    /// if only the tree walker can tell it.
    pub fn holds(&mut self, expression: &Expression, ad: &Ad, context: &Context) -> Option<bool> {
        self.holds_for(Subject::Expression(expression), Scene { ads: [ad, ad], side: 0 }, context)
    }

    /// Returns the value of an expression in one ad of a match, whose index is `side`; `None` if only the tree walker
    /// can tell it.
    pub fn value_in_pair(
        &mut self,
        expression: &Expression,
        ads: [&Ad; 2],
        side: usize,
        context: &Context,
    ) -> Option<CompiledValue> {
        self.value_of(Subject::Expression(expression), Scene { ads, side }, context)
    }

    /// Number of nodes of the expressions that the last evaluation began, with the steps of functions.
    #[must_use]
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Returns the name of an attribute for [`CompiledEvaluator::attribute_in_pair`].
    pub fn name(&mut self, name: &Name) -> CompiledName {
        CompiledName(self.names.number(name))
    }

    /// Returns the value of an attribute of one ad of a match; undefined if the ad lacks it. `None` if only the tree
    /// walker can tell the value.
    pub fn attribute_in_pair(
        &mut self,
        name: CompiledName,
        ads: [&Ad; 2],
        side: usize,
        context: &Context,
    ) -> Option<CompiledValue> {
        self.value_of(Subject::FirstAttribute(&[name]), Scene { ads, side }, context)
    }

    /// Whether the first of some attributes that one ad of a match has is true, as [`CompiledEvaluator::holds`] means
    /// it. Without any of them it is not. `None` if only the tree walker can tell it.
    pub fn first_attribute_holds(
        &mut self,
        names: &[CompiledName],
        ads: [&Ad; 2],
        side: usize,
        context: &Context,
    ) -> Option<bool> {
        self.holds_for(Subject::FirstAttribute(names), Scene { ads, side }, context)
    }

    fn value_of(&mut self, subject: Subject<'_>, scene: Scene<'_>, context: &Context) -> Option<CompiledValue> {
        self.run(subject, scene, context, |run, expression| {
            let Some(expression) = expression else { return Ok(CompiledValue::Value(Value::Undefined)) };
            Ok(match run.expression(expression)? {
                Operand::Error => CompiledValue::Error,
                operand => CompiledValue::Value(run.strings.value(operand)),
            })
        })
    }

    fn holds_for(&mut self, subject: Subject<'_>, scene: Scene<'_>, context: &Context) -> Option<bool> {
        self.run(subject, scene, context, |run, expression| {
            let Some(expression) = expression else { return Ok(false) };
            run.expression_condition(expression).map(|condition| condition == Truth::True)
        })
    }

    /// Runs the program of `subject`. If the program of an attribute is missing, makes it and starts again.
    #[inline]
    fn run<T>(
        &mut self,
        subject: Subject<'_>,
        scene: Scene<'_>,
        context: &Context,
        work: impl for<'a> Fn(&mut Run<'a>, Option<&'a Expression>) -> Result<T, Bail>,
    ) -> Option<T> {
        if context.dialect != self.dialect || context.is_interrupted() {
            return None;
        }
        stacker::maybe_grow(256 * 1024, 1024 * 1024, || {
            loop {
                let missing = match self.attempt(subject, scene, context, &work)? {
                    Attempt::Done(value) => return Some(value),
                    Attempt::Missing(missing) => missing,
                };
                self.add(&missing);
            }
        })
    }

    /// Makes the program of an expression. Forgets all programs first if there are too many.
    #[cold]
    fn add(&mut self, expression: &Expression) {
        if self.programs.len() >= self.capacity {
            self.programs = ProgramMemory::default();
        }
        self.programs.add(expression, &mut self.names, self.dialect, self.is_match);
    }

    #[inline]
    fn attempt<T>(
        &mut self,
        subject: Subject<'_>,
        scene: Scene<'_>,
        context: &Context,
        work: impl for<'a> Fn(&mut Run<'a>, Option<&'a Expression>) -> Result<T, Bail>,
    ) -> Option<Attempt<T>> {
        if self.shapes.len() > self.capacity {
            self.shapes = SlotTable::default();
        }
        let [own, partner] = if scene.side == 0 { scene.ads } else { [scene.ads[1], scene.ads[0]] };
        let [own_guess, partner_guess] = self.guesses[scene.side];
        let own_shape = self.shapes.prepare(own.shape(), own_guess, &self.names)?;
        let partner_shape = if std::ptr::eq(own, partner) {
            own_shape
        } else {
            self.shapes.prepare(partner.shape(), partner_guess, &self.names)?
        };
        self.guesses[scene.side] = [own_shape, partner_shape];
        let views: [AdView<'_>; 2] =
            [self.shapes.view(own_shape, own, &self.names), self.shapes.view(partner_shape, partner, &self.names)];
        let expression = match subject {
            Subject::Expression(expression) => Some(expression),
            Subject::FirstAttribute(names) => names.iter().find_map(|name| views[0].get(name.0)),
        };
        let mut run = Run::new(&self.programs, context, &self.nowhere, views);
        let (done, steps) = (work(&mut run, expression), run.steps);
        let attempt = match done {
            Ok(value) => Some(Attempt::Done(value)),
            Err(Bail) => run.missing.map(|missing| Attempt::Missing(missing.clone())),
        };
        self.steps = steps;
        attempt
    }
}

/// Outcome of a run.
enum Attempt<T> {
    Done(T),
    /// The expression of this attribute has no program yet.
    Missing(Expression),
}
