//! How many tests a search may make.

use crate::ad::Participant;

use crate::matching::gang::participants::ParticipantTable;

/// Number of parts of expressions that a test of the budget may look at, on average. Usual tests look at fewer.
const VISITS_PER_TEST: u64 = 256;

/// Number of ports for which a test counts once more.
const PORTS_PER_COST: usize = 8;

/// How many tests a search may make.
pub struct SearchBudget {
    /// Value of the counter of tests at which the search ends.
    max_tests: u64,
    /// Number of symbolic visits at which the search ends.
    max_visits: u64,
}

impl SearchBudget {
    /// The budget of a search that begins: [`Context::max_search_tests`], if it is limited, besides one test of each offer at each
    /// port. These are no hard search: a large pool does not spend the budget.
    ///
    /// [`Context::max_search_tests`]: crate::eval::Context::max_search_tests
    pub fn new(table: &ParticipantTable, is_limited: bool) -> Self {
        let ports = table.port_count(Participant::REQUEST);
        let one_scan = table.offer_count().saturating_mul(ports) as u64;
        // A test looks at the ports that are still open, so that it takes longer the more ports the request has.
        let cost_of_test = 1 + (ports / PORTS_PER_COST) as u64;
        let limit = if is_limited { table.context.max_search_tests / cost_of_test } else { u64::MAX };
        let tests = limit.saturating_add(one_scan);
        SearchBudget {
            max_tests: table.statistics.tests.saturating_add(tests),
            max_visits: tests.saturating_mul(VISITS_PER_TEST).saturating_add(table.symbolic_visits.get()),
        }
    }

    /// Whether the search has used up its budget.
    pub fn is_spent(&self, table: &ParticipantTable) -> bool {
        table.statistics.tests >= self.max_tests || table.symbolic_visits.get() >= self.max_visits
    }
}
