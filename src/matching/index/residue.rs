//! Residues: expressions that need evaluation, with results cached for classes of offers and requests.

use std::cell::RefCell;
use std::rc::Rc;

use crate::ad::{Expression, Name};
use crate::constraint::stands_for_a_side;
use crate::eval::Mentions;

use super::super::Side;
use super::classes::Groups;
use super::request::Request;

/// Cached results by class of offers. The outer `None` means not evaluated yet, the inner one that evaluation failed.
pub type Answers<T> = Vec<Option<Option<T>>>;

/// An expression of one side, evaluated for many pairs.
pub struct Residue<T> {
    expression: Expression,
    side: Side,
    /// Classes of offers and requests under the attributes that the expression mentions; `None` if it depends on more
    /// than these.
    groups: Option<Rc<RefCell<Groups>>>,
    /// Cached results by class of requests.
    answers: Vec<Answers<T>>,
}

impl<T: Copy> Residue<T> {
    /// Creates a residue that is evaluated on one side.
    pub fn new(expression: Expression, side: Side, groups: Option<Rc<RefCell<Groups>>>) -> Self {
        Residue { expression, side, groups, answers: Vec::new() }
    }

    /// Evaluates the expression for a request and each of the offers, at most once for each pair of classes. `answer`
    /// gets each offer and the result, `None` where only evaluation of the pair can tell.
    pub fn ask(
        &mut self,
        request: &mut Request<'_>,
        offers: impl Iterator<Item = usize>,
        evaluate: &mut dyn FnMut(Side, &Expression, usize) -> Option<T>,
        mut answer: impl FnMut(usize, Option<T>),
    ) {
        let mut offers = offers.peekable();
        if offers.peek().is_none() {
            return;
        }
        let number = self.groups.as_ref().and_then(|groups| groups.borrow_mut().request(request));
        let (Some(groups), Some(number)) = (&self.groups, number) else {
            return offers.for_each(|offer| answer(offer, None));
        };
        let groups = groups.borrow();
        self.answers.resize_with(self.answers.len().max(number + 1), Vec::new);
        let answers = &mut self.answers[number];
        answers.resize(groups.offers.first().len(), None);
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
pub fn key(mentions: &Mentions) -> Vec<Name> {
    let mut names: Vec<Name> = mentions.names.iter().filter(|name| !stands_for_a_side(name)).cloned().collect();
    names.sort();
    names
}
