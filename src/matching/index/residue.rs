//! Parts of constraints that only evaluation can tell: each is evaluated once for offers and requests that it
//! cannot tell apart.

use std::cell::RefCell;
use std::rc::Rc;

use crate::ad::{Expression, Name};
use crate::constraint::stands_for_a_side;
use crate::eval::Mentions;

use super::super::Side;
use super::classes::Groups;
use super::request::Request;

/// What is known of a part, or of a number that is computed from an expression.
pub type Answers<T> = Vec<Option<Option<T>>>;

/// An expression of one side, which is asked of many pairs.
pub struct Residue<T> {
    expression: Expression,
    side: Side,
    /// Offers and requests by the attributes that it mentions; none if it is more than their values.
    groups: Option<Rc<RefCell<Groups>>>,
    /// For each kind of request, by groups of offers: what was found; inside, none where evaluation failed.
    answers: Vec<Answers<T>>,
}

impl<T: Copy> Residue<T> {
    /// An expression that stands on one side.
    pub fn new(expression: Expression, side: Side, groups: Option<Rc<RefCell<Groups>>>) -> Self {
        Residue { expression, side, groups, answers: Vec::new() }
    }

    /// Asks it of a request and some offers: `answer` gets each with what was found, none where only the
    /// evaluation of the pair can tell.
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

/// The attributes that an expression mentions, in one order however it is written.
pub fn key(mentions: &Mentions) -> Vec<Name> {
    let mut names: Vec<Name> = mentions.names.iter().filter(|name| !stands_for_a_side(name)).cloned().collect();
    names.sort();
    names
}
