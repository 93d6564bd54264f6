//! Residues: expressions that must be evaluated. Their values are cached for pairs of a class of requests and a class
//! of offers.

use std::cell::RefCell;
use std::rc::Rc;

use crate::ad::{Dialect, Expression, ExpressionInterner, Value};
use crate::eval::FreeNames;

use super::super::PairSide;
use super::columns::{AttributeClasses, OfferColumns};
use super::request::{CachedResults, ProbedRequest};

/// An expression that is evaluated in the ads of one side, for many pairs.
pub struct Residue<T> {
    pub expression: Expression,
    side: PairSide,
    /// The names that the expression mentions.
    pub mentions: FreeNames,
    /// Classes of offers and requests that agree in all attributes that the expression mentions. `None` if only
    /// evaluation of each pair can tell the value of the expression.
    pub classes: Option<Rc<RefCell<AttributeClasses>>>,
    /// Cached results, by class of the request and then by class of the offer.
    cached: Vec<CachedResults<T>>,
}

impl<T: Copy> Residue<T> {
    /// Finds the classes of ads that the expression cannot distinguish. There are no classes if the value may depend on
    /// more than the mentioned names, as with `eval(Text)`.
    pub fn classify(&mut self, columns: &mut OfferColumns) {
        self.classes = self.mentions.all_names().map(|_| columns.classes(&self.mentions));
    }

    /// Evaluates the expression for a request and each of the offers, at most once for each pair of classes. Calls
    /// `answer` with each offer and the value that `convert` returns. The value is `None` if only evaluation of the
    /// pair can tell it.
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

/// The distinct residues of the offers, or those of the requests.
pub struct ResidueTable<T> {
    side: PairSide,
    interner: ExpressionInterner,
    /// The residues, by the index that [`ResidueTable::intern`] returns.
    pub residues: Vec<Residue<T>>,
}

impl<T> ResidueTable<T> {
    /// Creates an empty table for expressions of this side.
    pub fn new(side: PairSide) -> Self {
        ResidueTable { side, interner: ExpressionInterner::default(), residues: Vec::new() }
    }

    /// Returns the index of the residue of an expression, and whether the residue is new. A new residue has no classes
    /// before [`Residue::classify`].
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
