//! Reads what is explained: the policy, the requests and the offers.

use classad::ad::{Expression, Name};
use classad::constraint::CLOCK_TIMES;
use classad::eval::FreeNames;
use classad::explain::{
    CRON_ATTRIBUTES, DRAINING_ATTRIBUTES, LastRejections, PILOT_ENDS, feature_settings, measured_attributes,
};
use classad::matching::Query;
use classad::matching::negotiate::negotiation_names;
use classad::protocol::SLOT_KIND_ATTRIBUTES;

use super::selection::{accepts, named_subjects, reads_slot_kinds, select_offers, with_policy_attributes};
use super::when_start::has_left_queue;
use super::{ExplainCommand, suggestions};
use crate::cli::args::advertising::{self, SlotSelection};
use crate::cli::args::matching::ReadMode;
use crate::cli::args::policy::LoadedPolicy;
use crate::cli::io::accounts;
use crate::cli::io::argument_text;
use crate::cli::io::configuration::LoadedConfiguration;
use crate::cli::io::counted_offers::CountedOffers;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::parties::{Parties, any_ports};
use crate::cli::io::source::AdSource;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::render::diagnostics::single_line;
use crate::cli::render::explanation::{AccessPoint, START_ATTRIBUTES};
use crate::cli::session::Session;

/// The ads that take part.
pub struct ReadParties {
    pub parties: Parties,
    /// Which of the offers count.
    pub counted: CountedOffers,
    /// Why the negotiator found no slots last, for all jobs that were read.
    pub rejections: LastRejections,
    /// The constraint that selects requests.
    pub filter: Option<Query>,
    /// The jobs that have left the queue, for a forecast of starts.
    pub history: Vec<NamedAd>,
}

/// Reads the policy, with the accounts of submitters.
pub fn read_policy(
    command: &ExplainCommand,
    session: &mut Session,
    configuration: Option<&LoadedConfiguration>,
) -> Result<LoadedPolicy, Failure> {
    let default = command.starts.when_start.then_some("htcondor");
    let Some(path) = &command.userprio else { return command.policy.read_or(session, configuration, default) };
    let accounts = accounts::read_userprio(session, path)?;
    let mut policy = command.policy.read_or(session, configuration, Some("htcondor"))?;
    policy.set_bounds(session, &accounts);
    policy.accounts = Some(accounts);
    Ok(policy)
}

/// Reads the ads that take part.
pub fn read_parties(
    command: &ExplainCommand,
    session: &mut Session,
    sources: [Vec<AdSource>; 2],
    (policy, access_point): (&LoadedPolicy, &mut AccessPoint),
) -> Result<ReadParties, Failure> {
    let constraint = argument_text::parse_constraints(session, &command.constraint)?;
    let offer_constraint = argument_text::parse_constraints(session, &command.offer_constraint)?;
    let constraints = [constraint.as_ref(), offer_constraint.as_ref()];
    let also = names_to_read(command, session, (&sources, constraints), (policy, access_point))?;
    // The expressions of --what-if and of a configuration may refer to any attribute.
    let reads_whole = !command.what_if.is_empty() || command.config.is_some() || command.fix;
    let reading = if reads_whole { ReadMode::Whole } else { ReadMode::SelectiveForReports };
    let ([requests, offers], schedds) =
        command.ads.read_with_schedds(session, sources, reading, &also, SlotSelection::All)?;
    let (history, requests): (Vec<NamedAd>, Vec<NamedAd>) = if command.starts.when_start {
        requests.into_iter().partition(|job| has_left_queue(job.state(&session.context())))
    } else {
        (Vec::new(), requests)
    };
    let context = session.context();
    let identified = |job: &NamedAd| job.header(&context).identity.clone();
    let jobs = requests.iter().map(|job| (job.advertisement(), identified(job)));
    let rejections = LastRejections::new(jobs, &context);
    let mut requests = with_policy_attributes(requests, &policy.policy.request_attributes);
    let mut offers = with_policy_attributes(offers, &policy.policy.offer_attributes);
    let filter = constraint.map(|constraint| Query::new(constraint, session.context()));
    if !command.unmatched {
        retain_selected(command, session, policy, filter.as_ref(), &mut requests)?;
    }
    let context = session.context();
    if !command.reverse {
        access_point.take_ads([&requests, &offers], schedds, &context);
    }
    offers.retain(|offer| policy.policy.is_offer(&offer.ad, &context));
    let reads_kinds = offer_constraint.as_ref().is_some_and(|constraint| reads_slot_kinds(session, constraint));
    select_offers(session, offer_constraint, &mut offers)?;
    let respects_states = !command.ads.states.all_states;
    // Jobs that do not wait are not partners of slots.
    if respects_states && command.reverse && !command.starts.when_start {
        requests = advertising::retain_waiting(session, requests);
    }
    let has_gangs = any_ports(&requests) || any_ports(&offers);
    if respects_states && has_gangs {
        offers = advertising::retain_available(session, offers, SlotSelection::of_policy(&policy.policy));
    }
    let counted =
        if reads_kinds { CountedOffers::all(offers.len()) } else { count_offers(command, session, &mut offers) };
    if has_gangs {
        offers.truncate(counted.number);
    }
    Ok(ReadParties { parties: Parties::new([requests, offers]), counted, rejections, filter, history })
}

/// Retains the requests that a constraint selects, unless the others compete with them. Refuses a constraint that selects none.
fn retain_selected(
    command: &ExplainCommand,
    session: &mut Session,
    policy: &LoadedPolicy,
    filter: Option<&Query>,
    requests: &mut Vec<NamedAd>,
) -> Result<(), Failure> {
    let is_empty = if command.competes(policy) {
        !requests.iter().any(|request| accepts(session, filter, request))
    } else {
        requests.retain(|request| accepts(session, filter, request));
        requests.is_empty()
    };
    if filter.is_some() && is_empty {
        let constraint = single_line(&command.constraint.join(" && "));
        return refuse(format!("the constraint `{constraint}` is true for no request"));
    }
    Ok(())
}

/// Returns the names of the attributes that are read of all ads, beside those that the ads themselves need. `constraints` are
/// those of requests and of offers.
fn names_to_read(
    command: &ExplainCommand,
    session: &mut Session,
    (sources, constraints): (&[Vec<AdSource>; 2], [Option<&Expression>; 2]),
    (policy, access_point): (&LoadedPolicy, &AccessPoint),
) -> Result<FreeNames, Failure> {
    let protocol = command.ads.common.protocol(session);
    let [constraint, offer_constraint] = constraints;
    let mut also = negotiation_names(&policy.policy, session.dialect());
    if let Some(constraint) = offer_constraint {
        also.add(constraint, session.dialect());
    }
    // A machine is not advised to have more of a resource.
    also.names.insert(Name::new("MyType"));
    let also_read =
        SLOT_KIND_ATTRIBUTES.into_iter().chain(DRAINING_ATTRIBUTES).chain(CRON_ATTRIBUTES).chain(PILOT_ENDS);
    also.names.extend(also_read.chain(CLOCK_TIMES).map(Name::new));
    command.starts.add_names(session, &mut also)?;
    if !command.reverse {
        access_point.policies.add_queue_names(&mut also, session.dialect());
        also.names.extend(START_ATTRIBUTES.into_iter().chain(["DedicatedScheduler", "Name"]).map(Name::new));
        // What a job needs is not given up.
        also.names.extend(feature_settings().chain(measured_attributes()).map(Name::new));
    }
    also.names.extend(suggestions::similar_names(session, sources, &protocol, &also, command.reverse));
    if let Some(constraint) = constraint {
        also.add(constraint, session.dialect());
    }
    Ok(also)
}

/// Finds out which offers count, and moves the others behind them.
fn count_offers(command: &ExplainCommand, session: &Session, offers: &mut Vec<NamedAd>) -> CountedOffers {
    // A pair is explained whatever its offer is.
    if command.all_slots || (command.offer.is_some() && !command.reverse) {
        return CountedOffers::all(offers.len());
    }
    let named = if command.reverse { named_subjects(command) } else { Vec::new() };
    let is_named = |name: &str| named.iter().flat_map(|names| names.split(',')).any(|word| word.trim() == name);
    let (counted, note) = CountedOffers::move_dynamic_last(offers, is_named, &session.context());
    if let Some(note) = note {
        session.note(&note);
    }
    counted
}
