//! Selects the requests that are explained, and the offers that count.

use classad::ad::{Ad, Expression, Name};
use classad::eval::FreeNames;
use classad::matching::Query;
use classad::matching::policy::{PolicyRule, with_attributes};
use classad::protocol::SLOT_KIND_ATTRIBUTES;
use classad::text::{similar_ids, suggestion};
use rustc_hash::FxHashSet;

use super::ExplainCommand;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::wanted_ads::WantedAds;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::render::explanation::{Allocation, ExplanationInput};
use crate::cli::session::Session;

/// The subjects that are explained, by index.
pub struct SelectedSubjects {
    /// Those that the policy serves and that have got no offer, or that a policy of jobs holds or removes all the same.
    pub left: Vec<usize>,
    /// Those that the policy does not serve.
    pub unserved: Vec<usize>,
    /// Those that have got an offer, and are not explained.
    pub served: Vec<usize>,
    /// Whether the options name them.
    pub are_named: bool,
}

/// Selects the requests that the options name, of those that the policy serves and the others. With `--unmatched` the
/// caller must allocate the offers first, because requests that are not selected take offers, too.
pub fn select_subjects(
    command: &ExplainCommand,
    session: &mut Session,
    case: &ExplanationInput<'_>,
    filter: Option<&Query>,
    [mut roots, unserved]: [Vec<usize>; 2],
    allocation: Option<&Allocation>,
) -> Result<SelectedSubjects, Failure> {
    let context = session.context();
    let mut served = allocation.map_or(Vec::new(), Allocation::served);
    if let Some(allocation) = allocation {
        // A slot is of no use to a job that a policy holds or removes.
        let is_ended = |request: &usize| !case.needs_gang(*request) && case.is_ended_by_policy(session, *request);
        roots.retain(|request| !allocation.is_served(*request) || is_ended(request));
        let asked: FxHashSet<usize> = roots.iter().copied().collect();
        served.retain(|request| !asked.contains(request));
    }
    let wanted = WantedAds::new(&named_subjects(command), case.subjects, &context);
    let [left, unserved, served] =
        [roots, unserved, served].map(|requests| selected(command, session, case, filter, wanted.as_ref(), requests));
    if let Some(wanted) = &wanted {
        let unknown = wanted.unknown(case.subjects, &context);
        if unknown.is_some() || [&left, &unserved, &served].into_iter().all(Vec::is_empty) {
            let text = unknown.map_or_else(|| named_subjects(command).join(","), str::to_owned);
            let near = similar_ids(&text, case.subjects.iter().map(NamedAd::id));
            return refuse(format!("there is no ad {text} to explain{}", suggestion(&near)));
        }
    }
    Ok(SelectedSubjects { left, unserved, served, are_named: wanted.is_some() })
}

/// Returns those of the requests that `wanted` names and that the constraint accepts.
fn selected(
    command: &ExplainCommand,
    session: &mut Session,
    case: &ExplanationInput<'_>,
    filter: Option<&Query>,
    wanted: Option<&WantedAds>,
    mut requests: Vec<usize>,
) -> Vec<usize> {
    let context = session.context();
    requests.retain(|request| {
        let request = &case.subjects[*request];
        wanted.is_none_or(|wanted| wanted.selects(request, &context))
            && (!command.competes(case.policy) || accepts(session, filter, request))
    });
    requests
}

/// Returns the names of the ads to explain, as the user gave them. It is empty if all are to be explained.
pub fn named_subjects(command: &ExplainCommand) -> Vec<String> {
    match &command.offer {
        Some(offer) if command.reverse => vec![offer.clone()],
        _ => command.request.clone(),
    }
}

/// Returns the indexes of the requests that the policy serves, and the indexes of the unserved requests. With
/// `--unmatched`, served requests are in the order of the policy, else in the order of the input.
///
/// With `--reverse` offers are explained. The first list then has the indexes of all offers, and the second list is
/// empty.
pub fn served_and_unserved(
    command: &ExplainCommand,
    session: &mut Session,
    case: &ExplanationInput<'_>,
) -> Result<(Vec<usize>, Vec<usize>), Failure> {
    if command.reverse {
        return Ok(((0..case.subjects.len()).collect(), Vec::new()));
    }
    let [requests, _] = case.parties.ads();
    let roots = case.policy.policy.roots(&requests, &session.context());
    let (mut roots, failures) = roots.map_err(|fault| case.policy.report_fault(session, fault))?;
    session.report_budget_failures(failures);
    let served: FxHashSet<usize> = roots.iter().copied().collect();
    let unserved = (0..requests.len()).filter(|request| !served.contains(request));
    // A policy has no say in jobs that do not wait.
    let (past, unserved): (Vec<usize>, Vec<usize>) =
        unserved.partition(|request| command.unmatched && case.is_not_waiting(session, *request));
    roots.extend(past);
    // Without `--unmatched` no request takes an offer, so the order of the policy does not matter. Report in the
    // order of the input.
    if !command.unmatched {
        roots.sort_unstable();
    }
    Ok((roots, unserved))
}

/// Whether the constraint of `--constraint` accepts a request; true without a constraint. If the evaluation exceeds a
/// budget, reports the budget and returns false.
pub fn accepts(session: &mut Session, constraint: Option<&Query>, request: &NamedAd) -> bool {
    constraint.map_or(Ok(true), |constraint| constraint.accepts(&request.ad)).unwrap_or_else(|halt| {
        session.report_abort(&halt, request.id());
        false
    })
}

/// Whether a constraint on offers tells dynamic slots from others: it then says itself which slots count, as for
/// `condor_q`.
pub fn reads_slot_kinds(session: &Session, constraint: &Expression) -> bool {
    let read = FreeNames::of(constraint, session.dialect()).names;
    SLOT_KIND_ATTRIBUTES.into_iter().chain(["DSlotID"]).any(|kind| read.contains(&Name::new(kind)))
}

/// Keeps the offers for which a constraint is true.
pub fn select_offers(
    session: &mut Session,
    constraint: Option<Expression>,
    offers: &mut Vec<NamedAd>,
) -> Result<(), Failure> {
    let Some(constraint) = constraint else { return Ok(()) };
    let filter = Query::new(constraint, session.context());
    offers.retain(|offer| accepts(session, Some(&filter), offer));
    if offers.is_empty() {
        return refuse("--offer-constraint (or -machine, -mconstraint) selects none of the offers");
    }
    Ok(())
}

/// Returns ads with the attributes that a policy adds, as a negotiation cycle does.
pub fn with_policy_attributes(named: Vec<NamedAd>, attributes: &[(Name, PolicyRule)]) -> Vec<NamedAd> {
    if attributes.is_empty() {
        return named;
    }
    let ads: Vec<Ad> = named.iter().map(|named| named.ad.clone()).collect();
    named.into_iter().zip(with_attributes(&ads, attributes)).map(|(named, ad)| named.with_ad(ad)).collect()
}
