//! Rounds of a cycle in which submitters share the number of offers that are left (thesis 3.8).

use crate::matching::policy::PolicyFault;

use super::Submitter;
use super::allowance::Allowance;
use super::cycle::{Consideration, NegotiationCycle};
use super::event::NegotiationEvent;

/// Runs rounds until a round makes no match, no offer is left, or no request asks for an offer.
pub fn run_rounds(cycle: &mut NegotiationCycle<'_>, submitters: &mut [Submitter]) -> Result<(), PolicyFault> {
    for round in 1.. {
        let before = cycle.outcome.grants.len();
        let asking: Vec<usize> = submitters.iter().map(|submitter| cycle.open_demand(submitter)).collect();
        let free = cycle.offers.free_count;
        if cycle.is_over() || asking.iter().all(|left| *left == 0) {
            break;
        }
        cycle.report(NegotiationEvent::Round { number: round, offers: free });
        let waiting = submitters.iter().zip(&asking).filter(|(_, left)| **left > 0);
        let whole: f64 = waiting.map(|(submitter, _)| 1.0 / submitter.priority).sum();
        for (submitter, left) in submitters.iter_mut().zip(asking) {
            if left == 0 || cycle.is_over() {
                continue;
            }
            let slice =
                cycle.settings.policy.share.as_ref().map(|_| slice_size(free, 1.0 / submitter.priority / whole));
            let (name, priority) = (&submitter.name, submitter.priority);
            cycle.report(NegotiationEvent::Turn { submitter: name, priority, slice, requests: left });
            submitter.granted += run_turn(cycle, submitter, slice.unwrap_or(usize::MAX))?;
        }
        if cycle.outcome.grants.len() == before {
            break;
        }
    }
    Ok(())
}

/// Tries to match the requests of a submitter until the submitter has got `slice` offers. Returns the number of
/// offers that it got.
fn run_turn(cycle: &mut NegotiationCycle<'_>, submitter: &Submitter, slice: usize) -> Result<usize, PolicyFault> {
    let mut allowance = Allowance::Offers { slice, granted: 0 };
    for request in submitter.requests.iter().copied() {
        while !allowance.is_used_up() && cycle.is_open(request) && !cycle.is_over() {
            match cycle.consider(request, &submitter.name, &mut allowance)? {
                Consideration::Granted | Consideration::Failed => {}
                Consideration::Deferred => break,
            }
        }
    }
    Ok(allowance.granted())
}

/// Returns the maximum number of offers that a submitter may get in a round: its share of `offers`, rounded down. The
/// number is at least one, so that no submitter starves. Offers left over by rounding are given away in the next round.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // of a count
fn slice_size(offers: usize, share: f64) -> usize {
    // Adding 1e-9 compensates rounding errors just below a whole number. If the share is NaN, there is no limit.
    if share.is_nan() { offers } else { (offers as f64 * share + 1e-9).floor().max(1.0) as usize }
}

#[cfg(test)]
mod tests {
    use super::slice_size;

    #[test]
    fn slices_are_whole_and_starve_no_one() {
        for (offers, share, expected) in
            [(6, 2.0 / 3.0, 4), (6, 1.0 / 3.0, 2), (1, 0.1, 1), (10, 0.26, 2), (3, 1.0, 3), (4, f64::NAN, 4)]
        {
            assert_eq!(slice_size(offers, share), expected, "{share} of {offers}");
        }
    }
}
