//! Whole cycles: all events, and all that the outcome says.

use std::ops::ControlFlow;

use crate::ad::{Ad, Dialect};
use crate::eval::Context;
use crate::matching::Accelerations;
use crate::matching::negotiate::{
    Choice, Grant, NegotiationEvent, NegotiationOutcome, NegotiationSettings, RemainingAllowance, negotiate,
};
use crate::matching::policy::Policy;
use crate::protocol::Protocol;
use crate::syntax::{ParseOptions, parse_ad};

mod accelerated;
mod by_number;
mod by_weight;
mod divided;
mod gangs;

fn ads(dialect: Dialect, texts: &[&str]) -> Vec<Ad> {
    let constraint = if dialect.is_condor() { "Requirements" } else { "Constraint" };
    let ad = |text: &&str| {
        let has_own = text.contains("\"; Constraint =");
        let text = if has_own { format!("[ {text} ]") } else { format!("[ {constraint} = true; {text} ]") };
        parse_ad(text.as_bytes(), ParseOptions::new(dialect)).unwrap_or_else(|error| panic!("{text}: {error}"))
    };
    texts.iter().map(ad).collect()
}

/// Returns the events of a cycle and its outcome.
fn whole(policy: &str, requests: &[&str], offers: &[&str]) -> String {
    whole_in(Dialect::Condor, policy, requests, offers)
}

fn whole_in(dialect: Dialect, policy: &str, requests: &[&str], offers: &[&str]) -> String {
    cycle(dialect, policy, Accelerations::ALL, [&ads(dialect, requests), &ads(dialect, offers)], usize::MAX)
}

/// Returns a cycle that ends after a number of events.
fn cycle(dialect: Dialect, policy: &str, accelerations: Accelerations, ads: [&[Ad]; 2], most: usize) -> String {
    let policy = Policy::parse(policy.as_bytes(), dialect).unwrap_or_else(|problems| panic!("{policy}: {problems:?}"));
    let context = Context { now: Some(1000), ..Context::new(dialect) };
    let settings = NegotiationSettings {
        finds_runner_up: true,
        finds_starts: true,
        finds_limits: true,
        accelerations,
        ..NegotiationSettings::new(policy, Protocol::new(dialect), context)
    };
    let mut events = Vec::new();
    let mut tell = |event: NegotiationEvent<'_>| {
        events.push(text(&event));
        if events.len() >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let priority = |name: &str| name.strip_prefix("known").map(|_| 20.0);
    match negotiate(&settings, ads[0], ads[1], &priority, &mut tell) {
        Ok(outcome) => format!("{} | {}", events.join("; "), outcome_text(&outcome)),
        Err(fault) => format!("{} | {fault}", events.join("; ")),
    }
}

fn shown(ad: &Ad) -> String {
    let is_shown = |name: &str| ["Cpus", "Memory", "n", "A"].contains(&name);
    let attributes = ad.iter().filter(|of| is_shown(of.name.as_str()));
    attributes.map(|of| format!("{} {}", of.name, of.expression)).collect::<Vec<_>>().join(" ")
}

fn grant_text(grant: &Grant) -> String {
    let unit = grant.unit.map(|unit| format!(".{unit}")).unwrap_or_default();
    let offer = |of: &crate::matching::negotiate::GrantedOffer| {
        let part = if of.part > 1 { format!("/{}", of.part) } else { String::new() };
        let has_ranks = of.request_rank != 0.0 || of.offer_rank != 0.0;
        let ranks = if has_ranks { format!(" ({} {})", of.request_rank, of.offer_rank) } else { String::new() };
        let portion = of.portion.as_ref().map(|part| format!(" {{{}}}", shown(part))).unwrap_or_default();
        let preempted = of.preempted.as_ref().map(|user| format!(" of {user}")).unwrap_or_default();
        let beyond = if of.is_beyond { " beyond" } else { "" };
        format!("o{}{part}{ranks}{portion}{preempted}{beyond}", of.offer)
    };
    let offers: Vec<String> = grant.offers.iter().map(offer).collect();
    let paths = grant.gang.as_ref().map(|gang| format!(" at {}", gang.port_paths().join(" "))).unwrap_or_default();
    let choice = grant.choice.as_deref().map(choice_text).unwrap_or_default();
    format!("r{}{unit} {}{paths}{choice}", grant.request, offers.join(" + "))
}

fn choice_text(choice: &Choice) -> String {
    let port = choice.port.as_ref().map(|port| format!(" at {port}")).unwrap_or_default();
    let runner_up: Vec<String> = choice.runner_up.iter().map(|(offer, part)| format!("o{offer}/{part}")).collect();
    format!(" not {} by {:?}{port}", runner_up.join(" "), choice.difference)
}

fn text(event: &NegotiationEvent<'_>) -> String {
    match event {
        NegotiationEvent::Round { number, offers } => format!("round {number} of {offers}"),
        NegotiationEvent::Turn { submitter, priority, slice, requests } => {
            format!("turn of {submitter} {priority} {slice:?} for {requests}")
        }
        NegotiationEvent::Matched { grant, submitter, weight } => {
            let weight = weight.map(|weight| format!(" weighs {weight}")).unwrap_or_default();
            format!("{submitter} {}{weight}", grant_text(grant))
        }
        NegotiationEvent::NoGang { request, submitter, .. } => format!("{submitter} r{request} no gang"),
        NegotiationEvent::Deferred { request, submitter, offers, weight, left } => {
            let left = match left {
                RemainingAllowance::Offers(number) => format!("{number} offers"),
                RemainingAllowance::Weight(weight) => format!("weight {weight}"),
            };
            format!("{submitter} r{request} waits: {offers} of weight {weight}, {left} left")
        }
        NegotiationEvent::NonNumericRank { request, rank } => {
            format!("r{request} rank {:?} {} {:?}", rank.offer, rank.label, rank.value_type)
        }
        NegotiationEvent::BadPorts { request, submitter, fault } => format!("{submitter} r{request}: {}", fault.reason),
        NegotiationEvent::Rejected { request, cluster, submitter, compatible, discarded, refusals } => {
            let limit = refusals.limit.as_ref().map(|limit| format!(", {limit}")).unwrap_or_default();
            format!(
                "{submitter} r{request} in {cluster} none of {compatible}, {discarded} discarded, {} over {:?}, {} not \
                 beyond{limit}, keeps free {}",
                refusals.over_share, refusals.lightest_over_share, refusals.not_beyond, refusals.limit_keeps_free
            )
        }
        NegotiationEvent::Skipped { request, cluster, submitter, requests } => {
            format!("{submitter} r{request} in {cluster} skipped with {requests}")
        }
        NegotiationEvent::WeightedTurn { submitter, priority, limit, usage, requests } => {
            format!("turn of {submitter} {priority} to {limit} beside {usage} for {requests}")
        }
        other => super::text(other).unwrap_or_default(),
    }
}

fn outcome_text(outcome: &NegotiationOutcome) -> String {
    let mut told = Vec::new();
    let of = &outcome.statistics;
    told.push(format!("{} {} {} skipped {} failed {}", of.roots, of.matched, of.autoclusters, of.skipped, of.failures));
    let submitters = outcome.submitters.iter();
    told.extend(
        submitters.map(|of| format!("{} {} {} {} {}", of.name, of.priority, of.requests, of.matches, of.offers)),
    );
    if let Some(used) = &outcome.used_weight {
        told.extend(used.iter().map(|(name, weight)| format!("{name} uses {weight}")));
    }
    let mut more = |what: &str, text: String| {
        if !text.is_empty() && text != "0" && text != "[]" && text != "{}" {
            told.push(format!("{what} {text}"));
        }
    };
    more("unordered", format!("{:?}", outcome.unordered_components));
    more("bad ports", outcome.bad_ports.iter().map(|bad| bad.index.to_string()).collect::<Vec<_>>().join(" "));
    more("without weight", outcome.without_weight.to_string());
    more("ties", outcome.ties.to_string());
    more("tied", format!("{:?}", outcome.tied_submitters));
    let rests = |of: &std::collections::BTreeMap<usize, Ad>| {
        of.iter().map(|(offer, rest)| format!("o{offer} {}", shown(rest))).collect::<Vec<_>>().join(", ")
    };
    more("rests", rests(&outcome.rests));
    if let Some(starts) = &outcome.starts {
        let in_rests = starts.grants.len() - starts.in_rests;
        let grants: Vec<String> = starts.grants.iter().map(grant_text).collect();
        more("starts", grants[..in_rests].join(", "));
        more("in rests", grants[in_rests..].join(", "));
        more("preempting", starts.preempting.to_string());
        more("left", rests(&starts.rests));
        more("exceeded", format!("{:?}", starts.exceeded));
    }
    let mut limits: Vec<_> = outcome.limits.iter().collect();
    limits.sort_by_key(|(request, _)| **request);
    let limits = limits.into_iter().map(|(request, of)| {
        let decides = if of.decides { "" } else { " beside others" };
        format!("r{request} {}{decides}, {}", of.limit.waiting_phrase(false), of.limit.remedy())
    });
    more("limits", limits.collect::<Vec<_>>().join(", "));
    let mut of_requests: Vec<_> = outcome.submitter_of.iter().collect();
    of_requests.sort();
    more("of", of_requests.iter().map(|(request, of)| format!("r{request} {of}")).collect::<Vec<_>>().join(" "));
    told.join("; ")
}
