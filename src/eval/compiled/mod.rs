//! Compiled evaluation: an expression that is evaluated often is prepared once, as a program.
//!
//! A program knows the slots of its names in the shapes of the ads, the table rows of its functions and the values of
//! its constants. Its operators allocate nothing. A program gives the value that the tree walker [`Evaluator`] gives,
//! or none: whatever is unusual is left to the walker, which evaluates the same expression from the beginning. Such are
//! lists, nested ads, times, circular references, random numbers, and evaluations that come near a budget. An error has
//! no cause here, since only a value that is shown needs one.
//!
//! [`Evaluator`]: super::Evaluator

mod budget;
mod lower;
mod operand;
mod program;
mod relation;
mod run;
mod slots;

use std::iter;
use std::sync::Arc;

use crate::ad::{Ad, AdShape, Bounded, ByIdentity, Dialect, Expression, Name, ScopeFrame, Truth, Value};

use super::{Abort, Context, Environment, Evaluator};
use lower::lower;
use operand::{Bail, Operand};
use program::Program;
use run::Run;
use slots::{AdView, NameNumber, NameTable, ShapeNumber, SlotTable};

/// Estimated size of a program with its expression, in bytes.
const PROGRAM_BYTES: usize = 256;

/// Evaluator of expressions in many ads. It makes programs of the expressions and remembers them.
pub struct CompiledEvaluator {
    dialect: Dialect,
    /// Whether the programs run in matches of two ads.
    is_match: bool,
    names: NameTable,
    shapes: Bounded<SlotTable>,
    /// The program of each expression that was met. Ads that share an expression share its program.
    programs: Bounded<ByIdentity<Expression, Program>>,
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

/// What a [`CompiledEvaluator`] evaluates.
#[derive(Clone, Copy)]
pub enum CompiledSubject<'s> {
    /// An expression.
    Expression(&'s Expression),
    /// The first of these attributes that the ad has. Without any of them the value is undefined.
    FirstAttribute(&'s [CompiledName]),
}

/// Ad in which a program runs, or as much of one as the program reads.
#[derive(Clone, Copy)]
pub struct CompiledAd<'s> {
    /// The names of the attributes.
    pub shape: &'s Arc<AdShape>,
    /// The expressions in the order of the names.
    pub expressions: &'s [Expression],
}

impl<'s> From<&'s Ad> for CompiledAd<'s> {
    fn from(ad: &'s Ad) -> Self {
        CompiledAd { shape: ad.shape(), expressions: ad.expressions() }
    }
}

/// Ads in which a program runs.
#[derive(Clone, Copy)]
pub struct CompiledScene<'s> {
    /// The ads of a match, or one ad twice.
    pub ads: [CompiledAd<'s>; 2],
    /// Index of the ad that holds the expression.
    pub side: usize,
}

impl<'s> CompiledScene<'s> {
    /// Returns the scene of two ads that are matched. `side` is the index of the ad that holds the expression.
    #[must_use]
    pub fn of_match(ads: [&'s Ad; 2], side: usize) -> Self {
        CompiledScene { ads: ads.map(CompiledAd::from), side }
    }

    /// Returns the ad that holds the expression, and its partner.
    #[inline]
    fn sides(self) -> [CompiledAd<'s>; 2] {
        [self.ads[self.side], self.ads[1 - self.side]]
    }
}

impl<'s> From<CompiledAd<'s>> for CompiledScene<'s> {
    fn from(ad: CompiledAd<'s>) -> Self {
        CompiledScene { ads: [ad, ad], side: 0 }
    }
}

impl<'s> From<&'s Ad> for CompiledScene<'s> {
    fn from(ad: &'s Ad) -> Self {
        CompiledAd::from(ad).into()
    }
}

impl CompiledEvaluator {
    /// Creates an evaluator for single ads, which may be dropped after their evaluation. It keeps what it remembers in
    /// memory.
    #[must_use]
    pub fn for_passing_ads(dialect: Dialect) -> Self {
        Self::new(dialect, false, Bounded::default())
    }

    /// Creates an evaluator for single ads that stay in memory.
    #[must_use]
    pub fn for_ads(dialect: Dialect) -> Self {
        Self::new(dialect, false, Bounded::large())
    }

    /// Creates an evaluator for matches of two ads that stay in memory.
    #[must_use]
    pub fn for_pairs(dialect: Dialect) -> Self {
        Self::new(dialect, true, Bounded::large())
    }

    fn new(dialect: Dialect, is_match: bool, programs: Bounded<ByIdentity<Expression, Program>>) -> Self {
        CompiledEvaluator {
            dialect,
            is_match,
            names: NameTable::default(),
            shapes: Bounded::default(),
            programs,
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
        if let Some(CompiledValue::Value(value)) =
            self.value(CompiledSubject::Expression(expression), ad.into(), context)
        {
            return Ok(value);
        }
        let (environment, frame) = Environment::single(ad.clone());
        Evaluator::new(&environment, context).evaluate(expression, &frame)
    }

    /// Returns the value of `subject`; `None` if only the tree walker can tell it.
    pub fn value(
        &mut self,
        subject: CompiledSubject<'_>,
        scene: CompiledScene<'_>,
        context: &Context,
    ) -> Option<CompiledValue> {
        let mut found = None;
        with_stack(|| self.run(subject, iter::once(scene), context, value, |value| found = value));
        found
    }

    /// Returns the truth value of `subject`; `None` if only the tree walker can tell it.
    pub fn truth(
        &mut self,
        subject: CompiledSubject<'_>,
        scene: CompiledScene<'_>,
        context: &Context,
    ) -> Option<Truth> {
        let mut found = None;
        with_stack(|| self.run(subject, iter::once(scene), context, condition, |truth| found = truth));
        found
    }

    /// Returns the truth values of `subject` in some scenes, as [`CompiledEvaluator::truth`] does.
    pub fn truths<'s>(
        &mut self,
        subject: CompiledSubject<'_>,
        scenes: impl Iterator<Item = CompiledScene<'s>>,
        context: &Context,
    ) -> Vec<Option<Truth>> {
        let mut truths = Vec::with_capacity(scenes.size_hint().0);
        with_stack(|| self.run(subject, scenes, context, condition, |truth| truths.push(truth)));
        truths
    }

    /// Number of nodes of the expressions that the last evaluation began, with the steps of functions.
    #[must_use]
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Returns the name of an attribute for [`CompiledSubject::FirstAttribute`].
    pub fn name(&mut self, name: &Name) -> CompiledName {
        CompiledName(self.names.number(name))
    }

    /// Runs the program of `subject` in one scene after the other. `found` takes what `work` returns in each: `None` if
    /// only the tree walker can tell it. If the program of an attribute is missing, makes it and starts again.
    #[inline]
    fn run<'s, T>(
        &mut self,
        subject: CompiledSubject<'_>,
        mut scenes: impl Iterator<Item = CompiledScene<'s>>,
        context: &Context,
        work: impl for<'a> Fn(&mut Run<'a>, Option<&'a Expression>) -> Result<T, Bail>,
        mut found: impl FnMut(Option<T>),
    ) {
        let mut next = scenes.next();
        while let Some(first) = next {
            let shapes = if context.dialect == self.dialect { self.prepare(first) } else { None };
            let Some(mut shapes) = shapes else {
                found(None);
                next = scenes.next();
                continue;
            };
            let mut run = Run::new(&self.programs, context, &self.nowhere, self.views(first, shapes));
            // The next ads mostly have known shapes, too, so that the run goes on with them.
            while let Some(scene) = next
                && let Some(known) = self.shapes.known(scene.sides(), shapes, &self.names)
            {
                shapes = known;
                run.begin(self.views(scene, shapes));
                let expression = run.subject(subject);
                let done = if context.is_interrupted() { Err(Bail) } else { work(&mut run, expression) };
                if run.missing.is_some() {
                    break;
                }
                found(done.ok());
                next = scenes.next();
            }
            let (steps, missing) = (run.steps(), run.missing.cloned());
            self.steps = steps;
            if let Some(missing) = missing {
                self.add(&missing);
            }
        }
    }

    /// Prepares the shapes of the ads of a scene: of the ad that holds the expression, and of its partner. `None` if an
    /// attribute has a name to which the language itself gives a meaning.
    #[inline]
    fn prepare(&mut self, scene: CompiledScene<'_>) -> Option<[ShapeNumber; 2]> {
        self.shapes.set_entries(self.shapes.len());
        let [own, partner] = scene.sides();
        let [own_guess, partner_guess] = self.guesses[scene.side];
        let own_shape = self.shapes.prepare(own.shape, own_guess, &self.names)?;
        let partner_shape = if Arc::ptr_eq(own.shape, partner.shape) {
            own_shape
        } else {
            self.shapes.prepare(partner.shape, partner_guess, &self.names)?
        };
        self.guesses[scene.side] = [own_shape, partner_shape];
        Some([own_shape, partner_shape])
    }

    /// Returns the views of the ads of a scene whose shapes were prepared.
    #[inline]
    fn views<'a>(&'a self, scene: CompiledScene<'a>, [own_shape, partner_shape]: [ShapeNumber; 2]) -> [AdView<'a>; 2] {
        let [own, partner] = scene.sides();
        [self.shapes.view(own_shape, own, &self.names), self.shapes.view(partner_shape, partner, &self.names)]
    }

    /// Makes the program of an expression. Forgets all programs first if there are too many.
    #[cold]
    fn add(&mut self, expression: &Expression) {
        self.programs.make_room(PROGRAM_BYTES);
        let program = lower(expression, &mut self.names, self.dialect, self.is_match);
        self.programs.insert(expression.clone(), program);
    }
}

/// Returns the value of an expression; undefined without one.
fn value<'a>(run: &mut Run<'a>, expression: Option<&'a Expression>) -> Result<CompiledValue, Bail> {
    let Some(expression) = expression else { return Ok(CompiledValue::Value(Value::Undefined)) };
    Ok(match run.expression(expression)? {
        Operand::Error => CompiledValue::Error,
        operand => CompiledValue::Value(run.strings.value(operand)),
    })
}

/// Returns the truth value of an expression; undefined without one.
fn condition<'a>(run: &mut Run<'a>, expression: Option<&'a Expression>) -> Result<Truth, Bail> {
    expression.map_or(Ok(Truth::Undefined), |expression| run.expression_condition(expression))
}

/// Works with the stack that a run of a program needs.
#[inline]
fn with_stack<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(256 * 1024, 1024 * 1024, work)
}
