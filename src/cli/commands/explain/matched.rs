//! What `--unmatched` says of requests that get an offer, and of offers that are given whole.

use std::io::Write;

use classad::ad::{Expression, Value};
use classad::text::with_commas;

use crate::cli::Failure;
use crate::cli::io::wanted_ads::WantedAds;
use crate::cli::render::diagnostics::single_line;
use crate::cli::render::explanation::causes::MAX_NAMED;
use crate::cli::render::explanation::{Allocation, ExplanationInput};
use crate::cli::render::output::out;
use crate::cli::session::Session;

/// Returns the requests of `wanted` that get an offer; none without an allocation.
pub fn matched_requests(
    session: &Session,
    case: &ExplanationInput<'_>,
    allocation: Option<&Allocation>,
    wanted: Option<&WantedAds>,
) -> Vec<usize> {
    let (Some(allocation), Some(wanted)) = (allocation, wanted) else { return Vec::new() };
    let context = session.context();
    let is_called = |request: &usize| wanted.has(&case.subjects[*request], &context);
    (0..case.subjects.len()).filter(|request| allocation.is_matched[*request]).filter(is_called).collect()
}

/// Prints a line for each of the first of these requests: which offers it gets.
pub fn print_matched(
    case: &ExplanationInput<'_>,
    allocation: Option<&Allocation>,
    requests: &[usize],
) -> Result<(), Failure> {
    let Some(allocation) = allocation else { return Ok(()) };
    for request in requests.iter().take(MAX_NAMED) {
        let offers: Vec<&str> =
            allocation.offers_of(*request).into_iter().map(|offer| case.partners[offer].id()).collect();
        let line = format!("{} gets {}", case.subjects[*request].id(), offers.join(" and "));
        writeln!(out(), "{}", single_line(&line))?;
    }
    match requests.len().saturating_sub(MAX_NAMED) {
        0 => {}
        1 => writeln!(out(), "1 more gets one")?,
        more => writeln!(out(), "{} more get one", with_commas(more))?,
    }
    Ok(())
}

/// Notes that slots are given whole, if a request holds a partitionable one and the policy says nothing of what
/// remains.
pub fn note_whole_slots(session: &mut Session, case: &ExplanationInput<'_>, allocation: Option<&Allocation>) {
    let Some(allocation) = allocation else { return };
    let is_partitionable = |offer: &usize| {
        case.partners[*offer].ad.get_str("PartitionableSlot").and_then(Expression::as_literal)
            == Some(&Value::Boolean(true))
    };
    let mut held = (0..case.partners.len()).filter(|offer| allocation.is_held(*offer));
    if case.policy.policy.residual.is_none() && held.any(|offer| is_partitionable(&offer)) {
        session.note("each job takes its slot whole, a partitionable one, too; `--policy htcondor` divides slots as the negotiator does");
    }
}
