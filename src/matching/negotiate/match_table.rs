//! Which offers requests are compatible with, kept from cycle to cycle. Offers that agree in all that constraints and ranks read
//! are one class, and a request is tested with each class once.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::ad::{Ad, ByIdentity, Expression};
use crate::eval::{Context, VolatileInputs};
use crate::matching::{Accelerations, Candidate, Matchmaker};
use crate::pool::{RowLists, code};
use crate::protocol::Protocol;

/// Maximum number of classes for each offer of a cycle. With more, most are of offers that are gone.
const MAX_CLASSES_PER_OFFER: usize = 4;

/// The classes of offers, and the requests that were tested with them.
pub struct MatchTable {
    protocol: Protocol,
    context: Context,
    classes: ByIdentity<Ad, u32>,
    /// The classes that were found in each cycle: the number of the first one, and the matchmaker that has them as offers.
    batches: Vec<(usize, Matchmaker)>,
    lists: ByIdentity<Ad, KnownList>,
    /// Whether each expression of an offer reads the clock or draws random numbers.
    volatile: ByIdentity<Expression, bool>,
}

/// The classes with which one request is compatible.
#[derive(Default)]
struct KnownList {
    /// The candidates, whose offers are numbers of classes.
    candidates: Vec<Candidate>,
    /// Number of batches with which the request was tested.
    tested: usize,
}

/// What a table knows of the offers of one cycle.
pub struct KnownMatches {
    table: Rc<RefCell<MatchTable>>,
    /// The offers of each class.
    offers: RowLists,
    /// The offers that are in no class, because the clock decides about them.
    moving: Vec<usize>,
    of_moving: RefCell<Matchmaker>,
}

impl MatchTable {
    /// Creates a table without classes.
    pub fn new(protocol: Protocol, context: Context) -> Self {
        MatchTable {
            protocol,
            context,
            classes: ByIdentity::default(),
            batches: Vec::new(),
            lists: ByIdentity::default(),
            volatile: ByIdentity::default(),
        }
    }

    /// Finds the classes of the offers of a cycle, whose time is that of `context`. `offers` has of each offer what constraints and
    /// ranks read; those that agree in it are clones of one ad. No request that is tested reads the clock.
    pub fn begin_cycle(table: &Rc<RefCell<MatchTable>>, offers: &[Ad], context: &Context) -> KnownMatches {
        let mut known = table.borrow_mut();
        if known.classes.len() > MAX_CLASSES_PER_OFFER * offers.len() {
            *known = MatchTable::new(known.protocol.clone(), known.context.clone());
        }
        let first = known.classes.len();
        let (mut found, mut moving) = (Vec::new(), Vec::new());
        let mut class_of = Vec::with_capacity(offers.len());
        for (index, offer) in offers.iter().enumerate() {
            if known.is_volatile(offer) {
                moving.push(index);
                class_of.push(None);
                continue;
            }
            let next = code(known.classes.len());
            let class = *known.classes.get_or_insert_with(offer, || next);
            if class == next {
                found.push(offer.clone());
            }
            class_of.push(Some(class));
        }
        let accelerations = Accelerations { match_lists: false, ..Accelerations::ALL };
        let protocol = known.protocol.clone();
        let matchmaker =
            |ads: &[Ad], context: &Context| Matchmaker::new(ads, protocol.clone(), context.clone(), accelerations);
        if !found.is_empty() {
            let batch = matchmaker(&found, &known.context);
            known.batches.push((first, batch));
        }
        let ads: Vec<Ad> = moving.iter().map(|offer| offers[*offer].clone()).collect();
        KnownMatches {
            table: Rc::clone(table),
            offers: RowLists::new(known.classes.len(), class_of.into_iter()),
            moving,
            of_moving: RefCell::new(matchmaker(&ads, context)),
        }
    }

    fn is_volatile(&mut self, ad: &Ad) -> bool {
        let dialect = self.context.dialect;
        let mut expressions = ad.expressions().iter().filter(|expression| expression.as_literal().is_none());
        expressions.any(|expression| {
            *self.volatile.get_or_insert_with(expression, || !VolatileInputs::are_none_in(expression, dialect))
        })
    }
}

impl KnownMatches {
    /// Returns the offers that a request is compatible with, best first. `None` if a budget is spent or an interrupt is raised.
    pub fn candidates(&self, request: &Ad) -> Option<Arc<[Candidate]>> {
        let mut table = self.table.borrow_mut();
        let MatchTable { lists, batches, context, .. } = &mut *table;
        let list = lists.get_or_insert_with(request, KnownList::default);
        for (first, matchmaker) in &mut batches[list.tested..] {
            let found = matchmaker.candidates(request);
            if context.is_interrupted() || context.has_spent_comparisons() {
                return None;
            }
            let of_class = found.iter().map(|found| Candidate { offer: *first + found.offer, ..*found });
            list.candidates.extend(of_class);
            list.tested += 1;
        }
        let of_class = |of: &Candidate| {
            let of = *of;
            self.offers.rows(code(of.offer)).iter().map(move |offer| Candidate { offer: *offer as usize, ..of })
        };
        let moving = self.of_moving.borrow_mut().candidates(request);
        if context.is_interrupted() || context.has_spent_comparisons() {
            return None;
        }
        let moving = moving.iter().map(|found| Candidate { offer: self.moving[found.offer], ..*found });
        let mut candidates: Vec<Candidate> = list.candidates.iter().flat_map(of_class).chain(moving).collect();
        candidates.sort_unstable_by(Candidate::cmp_best_first);
        Some(candidates.into())
    }
}
