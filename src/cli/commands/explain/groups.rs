//! Groups of requests that are explained together, and the offers that other requests have taken.

use classad::explain::{Explainer, RequestReport, RequestVerdict};
use classad::matching::negotiate::{GangSettings, NegotiationSettings, PortUse};
use classad::protocol::resource_count;
use rustc_hash::FxHashMap;

use crate::cli::args::advertising::SlotSelection;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::matching_run::{MatchingRun, PairSelection};
use crate::cli::outcome::Failure;
use crate::cli::render::explanation::group_report::{explain_group, with_job};
use crate::cli::render::explanation::{Accounting, Allocation, ExplanationInput, GangExplainer};
use crate::cli::session::Session;

/// Gives each request the best remaining offer, one request after the other, like `classad match`. With gangs, requests
/// that need them get them, as in `classad negotiate`; so do shares of the policy. Requests that do not wait get nothing, nor do
/// jobs that are kept back; without an explainer, jobs that need several slots at once count as others. Also returns how requests
/// stand in the accounting. Ports that cannot be used are not reported here.
pub fn allocate(
    session: &mut Session,
    (case, explainer): (&ExplanationInput<'_>, Option<&Explainer>),
    with_gangs: bool,
) -> Result<(Allocation, Accounting), Failure> {
    let ports = if with_gangs { PortUse::Needed } else { PortUse::Ignored };
    let settings = NegotiationSettings {
        gangs: GangSettings { ports, ..GangSettings::default() },
        finds_limits: true,
        finds_starts: case.policy.policy.leftovers.is_some(),
        ..NegotiationSettings::new(case.policy.policy.clone(), case.protocol.clone(), session.context())
    };
    let slots = if case.respects_states { SlotSelection::of_policy(&settings.policy) } else { SlotSelection::All };
    let context = session.context();
    let available = |offer: &usize| slots.admits_ad(case.parties.offers[*offer].state(&context));
    let in_order = case.counted.in_input_order(case.parties.offers.len()).into_iter();
    let available: Vec<usize> = in_order.filter(available).collect();
    let mut run = MatchingRun::new(session, case.parties, PairSelection::default(), settings);
    run.accounts.clone_from(&case.policy.accounts);
    let [requests, offers] = case.parties.ads();
    let takes_part =
        |request: &usize| !case.is_not_waiting(session, *request) && !case.is_kept_back(session, *request, explainer);
    let waiting: Vec<usize> = (0..requests.len()).filter(takes_part).collect();
    let requests = waiting.iter().map(|request| requests[*request].clone()).collect();
    let offers = available.iter().map(|offer| offers[*offer].clone()).collect();
    let mut found = run.find_pairs(&[requests, offers]).map_err(|fault| case.policy.report_fault(session, fault))?;
    // Of several gangs, one suffices.
    let wanted = |(index, request): (usize, &NamedAd)| match resource_count(&request.ad, &context) {
        Some(count) if count == 0 || !case.needs_gang(index) => count,
        _ => 1,
    };
    let wanted = case.parties.requests.iter().enumerate().map(wanted).collect();
    let accounting = Accounting::new(&mut found.outcome, &waiting);
    let mut allocation = Allocation::new(wanted, case.parties.offers.len());
    for grant in found.outcome.grants {
        allocation.add(waiting[grant.request], grant.offers.iter().map(|granted| available[granted.offer]));
    }
    // A request that starts in the rest of a slot needs no match.
    let starts = found.outcome.starts.unwrap_or_default();
    for grant in &starts.grants[starts.grants.len() - starts.in_rests..] {
        allocation.add(waiting[grant.request], grant.offers.iter().map(|granted| available[granted.offer]));
    }
    for (offer, rest) in found.outcome.rests.into_iter().chain(starts.rests) {
        allocation.add_rest(available[offer], rest);
    }
    session.report_budget_failures(found.outcome.statistics.failures);
    Ok((allocation, accounting))
}

/// Groups requests that get the same explanation. Requests that need a gang are grouped apart from bilateral ones. The
/// groups are in the order of `requests`. If requests compete for offers, jobs that do not wait are grouped apart, with
/// `by_kind` only by what they have in common: their state, or the kind of reason for which they are held.
pub fn group_requests(
    session: &Session,
    case: &ExplanationInput<'_>,
    gangs: Option<&GangExplainer<'_>>,
    (allocation, accounting): (Option<&Allocation>, &Accounting),
    (requests, by_kind): (&[usize], bool),
) -> Vec<Vec<usize>> {
    let is_past = |request: &usize| allocation.is_some() && case.is_not_waiting(session, *request);
    let (past, waiting): (Vec<usize>, Vec<usize>) = requests.iter().partition(|request| is_past(request));
    let (as_gangs, as_pairs): (Vec<usize>, Vec<usize>) = waiting.iter().partition(|request| case.needs_gang(**request));
    // A report about a request that got a part says how much it got.
    let is_partly_served = |request: &usize| allocation.is_some_and(|allocation| allocation.is_partly_served(*request));
    let (partly, unserved): (Vec<usize>, Vec<usize>) = as_pairs.into_iter().partition(is_partly_served);
    // Jobs that a policy ends are among them, with a slot or without one.
    let is_served = |request: &usize| allocation.is_some_and(|allocation| allocation.is_served(*request));
    let (served, unserved): (Vec<usize>, Vec<usize>) = unserved.into_iter().partition(is_served);
    let groups = case.group_equivalent(session, &unserved).into_iter();
    let mut groups: Vec<Vec<usize>> = groups.flat_map(|group| accounting.divide(group)).collect();
    groups.extend(case.group_equivalent(session, &served));
    groups.extend(partly.iter().map(|request| vec![*request]));
    if let Some(gangs) = gangs {
        groups.extend(gangs.group_equivalent(session, &as_gangs));
    }
    groups.extend(case.group_past(session, &past, by_kind));
    if gangs.is_some() || [&partly, &past, &served].into_iter().any(|requests| !requests.is_empty()) {
        let places: FxHashMap<usize, usize> = requests.iter().enumerate().map(|(at, request)| (*request, at)).collect();
        groups.sort_by_key(|group| places.get(&group[0]));
    }
    groups
}

/// Explains a group of equivalent requests by bilateral matching. If some offers match the requests, the verdict says which
/// limit of the accounting keeps the requests from them, and, if `allocation` is given, why they did not get them.
pub fn explain_bilateral(
    session: &Session,
    case: &ExplanationInput<'_>,
    group: &[usize],
    explainer: &Explainer,
    (allocation, accounting): (Option<&Allocation>, &Accounting),
) -> RequestReport {
    let request = &case.subjects[group[0]].ad;
    // Of a job that runs or has ended, only the state matters.
    if allocation.is_some() && case.is_not_waiting(session, group[0]) && !case.is_held(session, group[0]) {
        return with_job(session, case, group, RequestReport::default());
    }
    let mut report = explain_group(session, case, group, explainer);
    let limit = accounting.limit(group);
    let has_slot = allocation.is_some_and(|allocation| allocation.is_served(group[0]));
    let is_open = report.verdict == RequestVerdict::Matches && !has_slot && !report.is_kept_back();
    if let Some(allocation) = allocation.filter(|_| is_open) {
        let matching = explainer.matching_offers(request);
        report.verdict = allocation.verdict(group, &matching, limit.cloned());
        if let RequestVerdict::Taken(holders) = &report.verdict {
            report.precedence = accounting.precedence(group[0], holders);
        }
        if matches!(report.verdict, RequestVerdict::Taken(_) | RequestVerdict::PartlyServed { .. }) {
            report.scarce_in_divided = allocation.scarce_resources(request, &matching, &session.context());
        }
    } else if let Some(limit) = limit.filter(|limit| limit.holds_before_cycle())
        && let RequestVerdict::Matches | RequestVerdict::Claimed | RequestVerdict::IfDrained(_) = report.verdict
    {
        report.verdict = RequestVerdict::Limited(limit.clone());
    }
    if matches!(report.verdict, RequestVerdict::Limited(_)) {
        // With another request, the limit would stay.
        report.changes.clear();
        report.sought_changes = false;
    }
    report
}
