//! Residues: expressions that need evaluation, with results cached for classes of offers and requests.

use std::cell::RefCell;
use std::rc::Rc;

use crate::ad::{Expression, Name};
use crate::constraint::is_side_name;
use crate::eval::FreeNames;

use super::super::PairSide;
use super::classes::AttributeClasses;
use super::request::ProbedRequest;

/// Cached results by class of offers. The outer `None` means not evaluated yet, the inner one that evaluation failed.
pub type ResidueResults<T> = Vec<Option<Option<T>>>;

/// An expression of one side, evaluated for many pairs.
pub struct Residue<T> {
    expression: Expression,
    side: PairSide,
    /// Classes of offers and requests under the attributes that the expression mentions; `None` if the expression
    /// depends on more than these attributes.
    classes: Option<Rc<RefCell<AttributeClasses>>>,
    /// Cached results by class of requests.
    cached: Vec<ResidueResults<T>>,
}

impl<T: Copy> Residue<T> {
    /// Creates a residue that is evaluated in the ad of one side.
    pub fn new(expression: Expression, side: PairSide, classes: Option<Rc<RefCell<AttributeClasses>>>) -> Self {
        Residue { expression, side, classes, cached: Vec::new() }
    }

    /// Evaluates the expression for a request and each of the offers, at most once for each pair of classes. `answer`
    /// gets each offer and the result, `None` where only evaluation of the pair can tell.
    pub fn evaluate_each(
        &mut self,
        request: &mut ProbedRequest<'_>,
        offers: impl Iterator<Item = usize>,
        evaluate: &mut dyn FnMut(PairSide, &Expression, usize) -> Option<T>,
        mut answer: impl FnMut(usize, Option<T>),
    ) {
        let mut offers = offers.peekable();
        if offers.peek().is_none() {
            return;
        }
        let number = self.classes.as_ref().and_then(|groups| groups.borrow_mut().request_class(request));
        let (Some(groups), Some(number)) = (&self.classes, number) else {
            return offers.for_each(|offer| answer(offer, None));
        };
        let groups = groups.borrow();
        self.cached.resize_with(self.cached.len().max(number + 1), Vec::new);
        let answers = &mut self.cached[number];
        answers.resize(groups.offers.first_rows().len(), None);
        for offer in offers {
            let Some(group) = groups.offers.group(offer) else {
                answer(offer, None);
                continue;
            };
            let known = &mut answers[group];
            answer(offer, *known.get_or_insert_with(|| evaluate(self.side, &self.expression, offer)));
        }
    }
}

/// Returns the attributes that an expression mentions, sorted, as the key of a classification.
pub fn classification_key(mentions: &FreeNames) -> Vec<Name> {
    let mut names: Vec<Name> = mentions.names.iter().filter(|name| !is_side_name(name)).cloned().collect();
    names.sort();
    names
}
