//! Allocation of offers to requests when the whole queue is matched, for `--unmatched`.

use classad::matching::Accelerations;
use classad::matching::negotiate::NegotiationSettings;

use crate::cli::Failure;
use crate::cli::matching_run::{MatchingRun, PairSelection};
use crate::cli::render::explanation::{Allocation, ExplanationInput};
use crate::cli::session::Session;

/// Matches each request in turn with the best offer left, like `classad match`.
pub fn allocate_pairs(session: &mut Session, case: &ExplanationInput<'_>) -> Result<Allocation, Failure> {
    let settings = NegotiationSettings {
        policy: case.policy.policy.clone(),
        protocol: case.protocol.clone(),
        context: session.context(),
        accelerations: Accelerations::ALL,
    };
    let run = MatchingRun::new(session, case.parties, PairSelection::default(), settings);
    let found = run.find_pairs(&case.parties.ads()).map_err(|fault| case.policy.report_fault(session, fault))?;
    let mut allocation = Allocation::new(case.parties);
    for grant in found.grants {
        allocation.add(grant.request, [grant.offer]);
    }
    session.report_budget_failures(found.statistics.failures);
    Ok(allocation)
}
