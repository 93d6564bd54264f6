//! What `--unmatched` says of requests that get an offer.

use classad::protocol::{AdvertisedState, SlotState};
use classad::text::with_commas;

use crate::cli::render::diagnostics::single_line;
use crate::cli::render::explanation::cause_entry::MAX_NAMED;
use crate::cli::render::explanation::{Allocation, ExplanationInput};
use crate::cli::session::Session;

/// Returns a line for each of the first of these requests: which offers it gets.
pub fn matched_text(
    session: &Session,
    case: &ExplanationInput<'_>,
    allocation: Option<&Allocation>,
    requests: &[usize],
) -> String {
    let Some(allocation) = allocation else { return String::new() };
    let context = session.context();
    let offer_phrase = |offer: usize| {
        let offer = &case.parties.offers[offer];
        let runs_job = |state: SlotState| matches!(state, SlotState::Claimed | SlotState::Preempting);
        let is_claimed = matches!(offer.state(&context), AdvertisedState::Slot(state) if runs_job(state));
        format!("{}{}", offer.id(), if is_claimed { ", whose job is preempted" } else { "" })
    };
    let line = |request: &usize| {
        let offers: Vec<String> = allocation.offers_of(*request).into_iter().map(offer_phrase).collect();
        single_line(&format!("{} gets {}", case.subjects[*request].id(), offers.join(" and "))) + "\n"
    };
    let mut text: String = requests.iter().take(MAX_NAMED).map(line).collect();
    match requests.len().saturating_sub(MAX_NAMED) {
        0 => {}
        1 => text.push_str("1 more is matched\n"),
        more => text.extend([with_commas(more).as_str(), " more are matched\n"]),
    }
    text
}
