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
    /// Whether each expression of a class reads the clock or draws random numbers.
    volatile: ByIdentity<Expression, bool>,
    /// Whether some class has such an expression. Then nothing is known for later cycles.
    is_volatile: bool,
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
            is_volatile: false,
        }
    }

    /// Finds the classes of the offers of a cycle. `offers` has of each offer what constraints and ranks read; those that agree in
    /// it are clones of one ad. `None` if some of it changes with the clock.
    pub fn begin_cycle(table: &Rc<RefCell<MatchTable>>, offers: &[Ad]) -> Option<KnownMatches> {
        let mut known = table.borrow_mut();
        if known.classes.len() > MAX_CLASSES_PER_OFFER * offers.len() {
            *known = MatchTable::new(known.protocol.clone(), known.context.clone());
        }
        let first = known.classes.len();
        let mut found = Vec::new();
        let mut class_of = Vec::with_capacity(offers.len());
        for offer in offers {
            let next = code(known.classes.len());
            let class = *known.classes.get_or_insert_with(offer, || next);
            if class == next {
                found.push(offer.clone());
            }
            class_of.push(Some(class));
        }
        if found.iter().any(|ad| known.is_volatile(ad)) {
            known.is_volatile = true;
        }
        if known.is_volatile {
            return None;
        }
        if !found.is_empty() {
            let accelerations = Accelerations { match_lists: false, ..Accelerations::ALL };
            let matchmaker = Matchmaker::new(&found, known.protocol.clone(), known.context.clone(), accelerations);
            known.batches.push((first, matchmaker));
        }
        let offers = RowLists::new(known.classes.len(), class_of.into_iter());
        Some(KnownMatches { table: Rc::clone(table), offers })
    }

    fn is_volatile(&mut self, ad: &Ad) -> bool {
        let mut expressions = ad.expressions().iter().filter(|expression| expression.as_literal().is_none());
        expressions.any(|expression| {
            *self
                .volatile
                .get_or_insert_with(expression, || VolatileInputs::of(expression) != VolatileInputs::default())
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
        let mut candidates: Vec<Candidate> = list.candidates.iter().flat_map(of_class).collect();
        candidates.sort_unstable_by(Candidate::cmp_best_first);
        Some(candidates.into())
    }
}
