//! Explains why a request with ports gets no gang: the port where no offer docks, the conditions that rule out its
//! candidates, and changes that would help.

mod cause;
mod changes;
mod summary;
#[cfg(test)]
mod tests;

use indexmap::IndexSet;

use crate::ad::{Ad, Name};
use crate::constraint::is_side_name;
use crate::eval::FreeNames;
use crate::explain::RequestChange;
use crate::explain::cause::Cause;
use crate::explain::short_cause::{identifier_about, limited_by};
use crate::matching::gang::{FailedClauses, Gang, GangFailure, GangFault, Gangmatcher};
use crate::matching::negotiate::AccountingLimit;
use crate::protocol::read_ports;

pub use cause::{EmptyPort, EmptyPortCause};
use changes::{GangChanges, count_search};
pub use summary::unranking_rule;

/// The explanation of one request with ports.
#[derive(Clone, Debug, Default)]
pub struct GangReport {
    /// Number of offers that no earlier gang has used up.
    pub offers: usize,
    /// The gang; `None` if the request gets none.
    pub gang: Option<Gang>,
    /// The analysis of the ports; `None` if there is a gang.
    pub failure: Option<GangFailure>,
    /// Whether the request would get a gang if the offers that are used up were left.
    pub is_taken: bool,
    /// The decisive reason for the result.
    pub verdict: GangVerdict,
    /// The attributes that the decisive reason involves.
    pub attributes: IndexSet<Name>,
    /// The changes with which the request would get a gang. Changes with fewer edits come first.
    pub changes: Vec<RequestChange<Gang>>,
}

impl GangReport {
    /// The identifier of the cause, as [`ShortCause::id`](crate::explain::ShortCause::id) has it.
    #[must_use]
    pub fn cause_id(&self) -> String {
        let label =
            |port: usize| self.failure.as_ref().map_or(String::new(), |failure| failure.ports[port].label.clone());
        let (cause, about) = match &self.verdict {
            GangVerdict::Matches => (Cause::Matches, String::new()),
            GangVerdict::Taken(_) => (Cause::Full, String::new()),
            GangVerdict::Limited(limit) => (limit.into(), limited_by(limit)),
            GangVerdict::NoOffers => (Cause::NoOffers, String::new()),
            GangVerdict::Undecided(_) => (Cause::Gang, "undecided".to_owned()),
            GangVerdict::EmptyPort(empty) => match &empty.cause {
                EmptyPortCause::Missing { name, .. } => (Cause::MissingAttribute, name.to_string()),
                cause => (cause.cause(), label(empty.port)),
            },
            GangVerdict::Incompatible(empty) => match &empty.cause {
                EmptyPortCause::Discarded => (Cause::Unranked, label(empty.port)),
                _ => (Cause::Conflict, label(empty.port)),
            },
        };
        identifier_about(cause, &about)
    }
}

/// The decisive reason why a request gets a gang or gets none.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum GangVerdict {
    /// The request gets a gang.
    #[default]
    Matches,
    /// The request would get a gang, but other requests hold some of the offers; holds the indices of these requests.
    Taken(Vec<usize>),
    /// The request would get a gang, but a concurrency limit of the policy keeps it from the gang; holds the limit.
    Limited(AccountingLimit),
    /// There are no offers.
    NoOffers,
    /// The search for a gang ended at its limit; holds the maximum number of tests.
    Undecided(u64),
    /// No offer docks at this port, whatever docks at the other ports.
    EmptyPort(EmptyPort),
    /// Each port has candidates, but the ports cannot be filled together; holds the port that stays empty.
    Incompatible(EmptyPort),
}

impl GangVerdict {
    /// The verdict's code in the JSON schema `classad.explain/2`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        use EmptyPortCause::{Conflict, Discarded, Missing, NoConstraint, Refused};
        match self {
            GangVerdict::Matches => "matches",
            GangVerdict::Taken(_) => "taken",
            GangVerdict::Limited(_) => "limited",
            GangVerdict::Incompatible(EmptyPort { cause: Discarded, .. })
            | GangVerdict::EmptyPort(EmptyPort { cause: Refused { .. }, .. }) => "refused",
            GangVerdict::Undecided(_) => "undecided",
            GangVerdict::Incompatible(_) | GangVerdict::EmptyPort(EmptyPort { cause: Conflict(_), .. }) => "conflict",
            GangVerdict::EmptyPort(EmptyPort { cause: NoConstraint | Missing { .. }, .. }) => "missing-attribute",
            GangVerdict::NoOffers | GangVerdict::EmptyPort(_) => "unsatisfied-clause",
        }
    }
}

/// Explains which gang a request gets from the remaining offers, or why it gets none. Uses up no offers. `index` is the
/// index of the request.
///
/// # Errors
///
/// If the ports of the request are invalid, or values of docking vectors are not comparable.
pub fn explain_gang(matcher: &mut Gangmatcher, index: usize, request: &Ad) -> Result<GangReport, GangFault> {
    let mut report = GangReport {
        offers: matcher.unused_offers(),
        gang: count_search(matcher, |matcher| matcher.preview_gang(index, request))?,
        ..GangReport::default()
    };
    let mut is_cut_off = matcher.was_cut_off();
    if report.gang.is_none() && !is_cut_off {
        report.failure = count_search(matcher, |matcher| matcher.gang_failure(index, request))?;
        is_cut_off = report.failure.as_ref().is_some_and(|failure| failure.is_cut_off);
    }
    if report.gang.is_none() && is_cut_off {
        report.failure = None;
        report.verdict = GangVerdict::Undecided(matcher.context().max_search_tests);
        return Ok(report);
    }
    let Some(failure) = &report.failure else { return Ok(report) };
    if report.offers == 0 {
        report.verdict = GangVerdict::NoOffers;
        return Ok(report);
    }
    let (empty_port, failed) = cause::find_cause(matcher, request, failure)?;
    report.attributes = decisive_attributes(matcher, request, &empty_port, &failed);
    let is_empty = failure.ports.get(empty_port.port).is_some_and(|port| port.independent == 0);
    if failure.ports.get(empty_port.port).is_some_and(|port| port.used_up > 0) {
        let mut all = matcher.with_all_offers();
        report.is_taken = count_search(&mut all, |all| all.preview_gang(index, request))?.is_some();
    }
    report.verdict = if is_empty { GangVerdict::EmptyPort(empty_port) } else { GangVerdict::Incompatible(empty_port) };
    report.changes = GangChanges { matcher, index }.find(request, failure)?;
    Ok(report)
}

/// The attributes that the decisive clauses of the port read, and the attributes that the clauses of refusing offers
/// read. Labels of ports are left out.
fn decisive_attributes(
    matcher: &Gangmatcher,
    request: &Ad,
    empty: &EmptyPort,
    failed: &FailedClauses,
) -> IndexSet<Name> {
    let labels: Vec<Name> =
        read_ports(request).map(|ports| ports.list.into_iter().map(|port| port.label).collect()).unwrap_or_default();
    let decisive = empty.cause.parts().into_iter().filter_map(|part| failed.clauses.get(part));
    let is_refused = matches!(empty.cause, EmptyPortCause::Refused { .. });
    let refusing = failed.offers.iter().filter(|offer| is_refused && offer.failed_mask == 0);
    let refusing = refusing.filter_map(|offer| offer.demand.as_ref()?.clause.as_ref());
    let mut mentions = FreeNames::default();
    for clause in decisive.map(|part| &part.expression).chain(refusing) {
        mentions.add(clause, matcher.dialect());
    }
    let is_attribute = |name: &Name| !labels.contains(name) && !is_side_name(name);
    mentions.names.into_iter().filter(is_attribute).collect()
}
