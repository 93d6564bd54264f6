//! The commands `:gang` and `:explain`.

use classad::matching::gang::{Gang, Gangmatcher};
use classad::protocol::Protocol;

use super::argument::EntryPart;
use super::background::wait_for;
use super::state::ReplState;
use crate::cli::args::output::TableOutputArgs;
use crate::cli::args::policy::LoadedPolicy;
use crate::cli::io::counted_offers::CountedOffers;
use crate::cli::io::parties::Parties;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::render::explanation::gangs::GangExplainer;
use crate::cli::render::explanation::group_report::with_job;
use crate::cli::render::explanation::pair;
use crate::cli::render::explanation::{ExplanationInput, OfferLists};
use crate::cli::render::explanation::{ExplanationWriter, ReportRenderer};
use crate::cli::render::gang_writer::GangWriter;
use crate::cli::render::output::OutputForm;
use crate::cli::session::Session;

/// `:gang`: prints the best gangs of the ad of `:my`, or why it has none.
pub fn gang(state: &mut ReplState<'_>, argument: EntryPart<'_>) -> Result<(), Failure> {
    let most = argument.number()?.unwrap_or(1);
    let request = state.request()?;
    state.require_pool("there are no offers for the ports: `:pool FILE` loads ads")?;
    state.pool.parties.requests = vec![request];
    let (protocol, context) = (state.protocol(), state.session.context());
    let parties = &state.pool.parties;
    let request = &parties.requests[0];
    let (mut matcher, bad) = Gangmatcher::new(&state.pool.ads(), protocol.clone(), context.clone());
    for bad in bad {
        parties.offers[bad.index].report_bad_ports(state.session, &bad.fault)?;
    }
    let mut found =
        matcher.gangs(0, &request.ad).map_err(|fault| Failure::refused(format!("{}: {fault}", request.id())))?;
    let gangs: Vec<Gang> = found.by_ref().take(most).collect();
    if let Some(fault) = found.fault() {
        return refuse(fault.to_string());
    }
    state.session.check_interrupt()?;
    if gangs.is_empty() {
        return explain_request(state.session, parties, protocol, 0, None);
    }
    state.session.report_budget_failures(matcher.statistics().failures);
    let mut writer = GangWriter::new(TableOutputArgs { form: Some(OutputForm::Tree), no_header: false });
    for gang in &gangs {
        writer.write(state.session, gang, None, parties)?;
    }
    writer.finish()
}

/// `:explain`: prints why the ad of `:my` matches nothing in the pool, or why it does not match a given ad.
pub fn explain(state: &mut ReplState<'_>, argument: EntryPart<'_>) -> Result<(), Failure> {
    let request = state.request()?;
    let (mut evidence, mut wanted) = (0, None);
    for word in argument.words() {
        match word.text.as_str() {
            "-v" => evidence += 1,
            "-vv" => evidence += 2,
            _ if wanted.is_none() => wanted = Some(word),
            _ => return Err(state.error_at(word.part, "give only one ad")),
        }
    }
    let is_target = match &wanted {
        Some(word) => word.text == "target",
        None => state.pool.files.is_empty() && state.target.is_some(),
    };
    let pair;
    let parties = if is_target {
        pair = Parties::new([vec![request], vec![state.other_side()?]]);
        &pair
    } else {
        state.require_pool("there are no offers: `:pool FILE` loads ads")?;
        if let Some(word) = &wanted
            && state.pool.offers().iter().all(|offer| offer.id() != word.text)
        {
            return Err(state.error_at(word.part, format!("the pool has no ad {}", word.text)));
        }
        state.pool.parties.requests = vec![request];
        &state.pool.parties
    };
    let protocol = state.protocol();
    let other = if is_target { Some(parties.offers[0].id()) } else { wanted.as_ref().map(|word| word.text.as_str()) };
    explain_request(state.session, parties, protocol, evidence, other)
}

/// Prints why the only request of `parties` matches nothing. If `other` names an offer, prints why the request does not
/// match this offer.
fn explain_request(
    session: &mut Session,
    parties: &Parties,
    protocol: Protocol,
    evidence: u8,
    other: Option<&str>,
) -> Result<(), Failure> {
    let policy = LoadedPolicy::default();
    let whole_slots;
    let (parties, counted) = if other.is_some() {
        (parties, CountedOffers::all(parties.offers.len()))
    } else {
        let mut offers = parties.offers.clone();
        let (counted, _) = CountedOffers::move_dynamic_last(&mut offers, |_| false, &session.context());
        whole_slots = Parties::new([parties.requests.clone(), offers]);
        (&whole_slots, counted)
    };
    let input = ExplanationInput::new(session, (parties, &counted), false, protocol, &policy, evidence, true);
    if let Some(other) = other {
        let build = input.explainer_builder(session, OfferLists::default());
        let explainer = wait_for(session, "explaining", build)?;
        pair::explain_pair(session, &input, &explainer, (other, None), None)?;
        return Ok(());
    }
    let renderer = ReportRenderer::new(&input, None, false);
    let mut writer = ExplanationWriter::new(None);
    if input.needs_gang(0) {
        let mut gangs = GangExplainer::new(session, &input)?;
        let report = gangs.explain(session, 0, None)?;
        session.check_interrupt()?;
        session.report_budget_failures(gangs.budget_failures());
        if let Some(report) = report {
            writer.add(renderer.gang(session, &[0], &report))?;
        }
    } else {
        let build = input.explainer_builder(session, OfferLists::default());
        let (request, user) = (parties.requests[0].ad.clone(), input.user_of(session, &[0]));
        let explain = move |context| build(context).explain_for(&request, user.as_ref());
        let report = wait_for(session, "explaining", explain)?;
        if report.is_incomplete {
            session.report_exceeded_budget("the request is not explained");
            return Ok(());
        }
        let report = with_job(session, &input, &[0], report);
        writer.add(renderer.report(session, &[0], &report)?)?;
    }
    writer.finish(None)
}
