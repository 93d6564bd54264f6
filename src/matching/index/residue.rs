//! Residues: expressions that need evaluation, with results cached for classes of offers and requests.

use std::cell::RefCell;
use std::rc::Rc;

use crate::ad::{Dialect, Expression, ExpressionInterner, Value};
use crate::eval::FreeNames;

use super::super::PairSide;
use super::columns::{AttributeClasses, OfferColumns};
use super::request::{CachedResults, ProbedRequest};

/// An expression of one side, evaluated for many pairs.
pub struct Residue<T> {
    pub expression: Expression,
    side: PairSide,
    /// The names that the expression mentions.
    pub mentions: FreeNames,
    /// Classes of offers and requests under the attributes that the expression mentions; `None` if only evaluation of
    /// each pair can tell its value.
    pub classes: Option<Rc<RefCell<AttributeClasses>>>,
    /// Cached results by class of requests, then by class of offers.
    cached: Vec<CachedResults<T>>,
}

impl<T: Copy> Residue<T> {
    /// Finds the classes that determine the value of the expression, unless it depends on more than the attributes that
    /// it mentions.
    pub fn classify(&mut self, columns: &mut OfferColumns) {
        self.classes = self.mentions.all_names().map(|_| columns.classes(&self.mentions));
    }

    /// Evaluates the expression for a request and each of the offers, at most once for each pair of classes. `answer`
    /// gets each offer and the result as `convert` makes it, `None` where only evaluation of the pair can tell.
    pub fn evaluate_each(
        &mut self,
        request: &mut ProbedRequest<'_, '_>,
        offers: impl Iterator<Item = usize>,
        convert: impl Fn(&Value) -> T,
        mut answer: impl FnMut(usize, Option<T>),
    ) {
        let mut offers = offers.peekable();
        if offers.peek().is_none() {
            return;
        }
        let class = self.classes.as_ref().and_then(|classes| classes.borrow_mut().request_class(request));
        let (Some(classes), Some(class)) = (&self.classes, class) else {
            return offers.for_each(|offer| answer(offer, None));
        };
        let (classes, evaluator) = (classes.borrow(), &mut *request.evaluator);
        self.cached.resize_with(self.cached.len().max(class + 1), Vec::new);
        let results = &mut self.cached[class];
        results.resize(classes.offers.first_rows().len(), None);
        for offer in offers {
            let result = classes.offers.group(offer).and_then(|class| {
                *results[class].get_or_insert_with(|| {
                    evaluator.evaluations += 1;
                    evaluator.pair.replace(PairSide::Offer, &evaluator.offers[offer]);
                    evaluator.pair.evaluate(self.side, &self.expression).ok().map(|value| convert(&value))
                })
            });
            answer(offer, result);
        }
    }
}

/// The distinct residues of the ads of one side.
pub struct ResidueTable<T> {
    side: PairSide,
    interner: ExpressionInterner,
    /// The residues by the number of their expression.
    pub residues: Vec<Residue<T>>,
}

impl<T> ResidueTable<T> {
    /// Creates an empty table.
    pub fn new(side: PairSide) -> Self {
        ResidueTable { side, interner: ExpressionInterner::default(), residues: Vec::new() }
    }

    /// Returns the number of the residue of an expression, and whether the residue is new. A new one has no classes.
    pub fn intern(&mut self, expression: &Expression, dialect: Dialect) -> (usize, bool) {
        let (number, is_new) = self.interner.intern(expression);
        if is_new {
            let mentions = FreeNames::of(expression, dialect);
            let expression = expression.clone();
            self.residues.push(Residue { expression, side: self.side, mentions, classes: None, cached: Vec::new() });
        }
        (number, is_new)
    }
}
