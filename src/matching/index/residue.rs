//! Residues: expressions that must be evaluated. Their values are cached for pairs of a class of requests and a class
//! of offers.

use std::cell::RefCell;
use std::rc::Rc;

use crate::ad::{Bounded, Dialect, Expression, ExpressionInterner, Value};
use crate::eval::FreeNames;

use super::super::PairSide;
use super::columns::{AttributeClasses, OfferClasses, OfferColumns};
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
    /// Bound of the cached results of all residues of the table.
    bound: Rc<RefCell<Bounded<()>>>,
}

/// Drops the cached results of the residues of a table if they take too much memory.
pub fn limit_cached<'r, T: 'r>(residues: impl IntoIterator<Item = &'r mut Residue<T>>) {
    let mut residues = residues.into_iter().peekable();
    if residues.peek().is_none_or(|first| !first.bound.borrow().is_full()) {
        return;
    }
    for residue in residues {
        residue.cached = Vec::new();
        residue.bound.borrow_mut().forget();
    }
}

impl<T: Copy> Residue<T> {
    /// Finds the classes of ads that the expression cannot distinguish. There are no classes if the value may depend on
    /// more than the mentioned names, as with `eval(Text)`.
    pub fn classify(&mut self, columns: &mut OfferColumns) {
        self.classes = self.mentions.all_names().map(|_| columns.classes(&self.mentions));
    }

    /// Returns the classes of the offers, and whether the request has a class. `None` if only evaluation of each pair can
    /// tell the value of the expression for this request.
    pub fn offer_classes(&self, request: &mut ProbedRequest<'_, '_>) -> Option<Rc<OfferClasses>> {
        let mut classes = self.classes.as_ref()?.borrow_mut();
        classes.request_class(request)?;
        Some(Rc::clone(&classes.offers))
    }

    /// Returns the value of the expression for a request and a class of offers. It is evaluated in one pair of the
    /// classes, converted and cached. `offer` is an offer of the class, and must be indexable. `None` if only evaluation
    /// of the pair can tell the value.
    pub fn class_value(
        &mut self,
        request: &mut ProbedRequest<'_, '_>,
        (offer, offer_class): (usize, usize),
        convert: impl Fn(&Value) -> T,
    ) -> Option<T> {
        let classes = Rc::clone(self.classes.as_ref()?);
        let mut classes = classes.borrow_mut();
        let class = classes.request_class(request)?;
        let (known, needed) = (self.cached.len(), classes.offers.partition.first_rows().len());
        self.cached.resize_with(known.max(class + 1), Vec::new);
        let results = &mut self.cached[class];
        let more = (class + 1).saturating_sub(known) * size_of::<CachedResults<T>>()
            + needed.saturating_sub(results.len()) * size_of::<Option<Option<T>>>();
        if more > 0 {
            self.bound.borrow_mut().grow(more);
            results.resize(needed, None);
        }
        *results[offer_class].get_or_insert_with(|| {
            let offer = classes.offers.representative(offer_class, offer);
            let value = request.evaluator.evaluate(self.side, &self.expression, offer);
            value.as_ref().map(&convert)
        })
    }
}

/// The distinct residues of the offers, or those of the requests.
pub struct ResidueTable<T> {
    side: PairSide,
    interner: ExpressionInterner,
    /// The residues, by the index that [`ResidueTable::intern`] returns.
    pub residues: Vec<Residue<T>>,
    bound: Rc<RefCell<Bounded<()>>>,
}

impl<T> ResidueTable<T> {
    /// Creates an empty table for expressions of this side.
    pub fn new(side: PairSide) -> Self {
        ResidueTable {
            side,
            interner: ExpressionInterner::default(),
            residues: Vec::new(),
            bound: Rc::new(RefCell::new(Bounded::large())),
        }
    }

    /// Returns the index of the residue of an expression, and whether the residue is new. A new residue has no classes
    /// before [`Residue::classify`].
    pub fn intern(&mut self, expression: &Expression, dialect: Dialect) -> (usize, bool) {
        let (number, is_new) = self.interner.intern(expression);
        if is_new {
            let mentions = FreeNames::of(expression, dialect);
            let expression = expression.clone();
            self.residues.push(Residue {
                expression,
                side: self.side,
                mentions,
                classes: None,
                cached: Vec::new(),
                bound: Rc::clone(&self.bound),
            });
        }
        (number, is_new)
    }
}
