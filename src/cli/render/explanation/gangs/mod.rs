//! Explanations of gangs: why requests with ports get no gang.

mod json;
mod text;

use std::io::Write;

use classad::ad::{Ad, Expression, Name};
use classad::eval::{FreeNames, transitive_closure};
use classad::explain::{GangReport, GangVerdict};
use classad::matching::gang::{Gang, GangFault, Gangmatcher};
use classad::protocol::{PORTS, Protocol};
use classad::syntax::{Style, print_ad};
use indexmap::{IndexMap, IndexSet};
use serde_json::{Value as Json, json};

use crate::cli::Failure;
use crate::cli::args::policy::LoadedPolicy;
use crate::cli::io::input::NamedAd;
use crate::cli::io::parties::Parties;
use crate::cli::render::diagnostics::single_line;
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::progress;
use crate::cli::session::Session;

pub use crate::cli::render::explanation::writer::MAX_CLAUSE_CHARS;
pub use json::{gang_report_json, port_fields};
pub use text::{gang_report_text, summary_writer};

impl GangQueue {
    /// Indexes of the requests whose gangs contain the offer, or parts of the offer.
    pub fn holders(&self, offer: usize) -> &[usize] {
        &self.holders[offer]
    }
}

/// Whether some of these ads have ports. Ads that were read in part have none: ads with ports are read whole.
pub fn any_ports(ads: &[NamedAd]) -> bool {
    ads.iter().any(|ad| !ad.is_projected() && has_ports(&ad.ad))
}

/// Whether an ad has the attribute `Ports`, well-formed or not.
pub fn has_ports(ad: &Ad) -> bool {
    ad.get(&PORTS).is_some()
}

/// Explains why requests get the gangs that they get, or none.
pub struct GangExplainer<'g> {
    parties: &'g Parties,
    given: &'g LoadedPolicy,
    protocol: &'g Protocol,
    matcher: Gangmatcher,
}

/// The outcome of marshalling gangs for requests one after the other.
pub struct GangQueue {
    /// For each request whether it gets a gang.
    pub is_matched: Vec<bool>,
    /// For each offer the indexes of the requests whose gangs contain the offer, or parts of the offer.
    holders: Vec<Vec<usize>>,
}

impl<'g> GangExplainer<'g> {
    /// Makes an explainer for the offers of `parties`. Reports the offers whose ports are malformed.
    pub fn new(
        session: &mut Session,
        parties: &'g Parties,
        given: &'g LoadedPolicy,
        protocol: &'g Protocol,
    ) -> Result<Self, Failure> {
        let offers: Vec<Ad> = parties.offers.iter().map(|ad| ad.ad.clone()).collect();
        let (matcher, bad) = Gangmatcher::new(&offers, protocol.clone(), session.context());
        for bad in bad {
            parties.offers[bad.index].report_bad_ports(session, &bad.fault)?;
        }
        Ok(GangExplainer {
            parties,
            given,
            protocol,
            matcher: matcher.with_docking_vector(given.policy.docking.clone()),
        })
    }

    /// Marshals gangs for these requests, one after the other, as `gangmatch` does.
    pub fn marshal_queue(&self, session: &mut Session, requests: &[usize]) -> Result<GangQueue, Failure> {
        let offers: Vec<Ad> = self.parties.offers.iter().map(|ad| ad.ad.clone()).collect();
        let (matcher, _) = Gangmatcher::new(&offers, self.protocol.clone(), session.context());
        let policy = &self.given.policy;
        let mut matcher = matcher.with_docking_vector(policy.docking.clone()).with_residual(policy.residual.clone());
        let mut queue =
            GangQueue { is_matched: vec![false; self.parties.requests.len()], holders: vec![Vec::new(); offers.len()] };
        for (done, &request) in requests.iter().enumerate() {
            progress::report_step("matching", done, Some(requests.len()));
            match matcher.marshal(request, &self.parties.requests[request].ad) {
                Ok(gang) => {
                    queue.is_matched[request] = gang.is_some();
                    for docked in gang.iter().flat_map(Gang::members) {
                        queue.holders[docked.offer].push(request);
                    }
                }
                // Malformed ports are reported when the request is explained.
                Err(GangFault::Ports(_)) => {}
                Err(GangFault::Policy(fault)) => return Err(self.given.report_fault(session, fault)),
            }
        }
        session.report_budget_failures(matcher.statistics().failures);
        Ok(queue)
    }

    /// Explains why a request gets its gang, or none. `None` if the ports of the request are malformed, which is
    /// reported.
    pub fn explain(
        &mut self,
        session: &mut Session,
        request: usize,
        queue: Option<&GangQueue>,
    ) -> Result<Option<GangReport>, Failure> {
        let found = classad::explain::explain_gang(&mut self.matcher, request, &self.parties.requests[request].ad);
        let mut report = match found {
            Ok(report) => report,
            Err(fault) => return self.report_fault(session, request, fault).map(|()| None),
        };
        if let (Some(queue), Some(gang)) = (queue, &report.gang) {
            let mut by: IndexSet<usize> =
                gang.members().iter().flat_map(|docked| queue.holders[docked.offer].iter().copied()).collect();
            by.sort_unstable();
            report.verdict = GangVerdict::Taken(by.into_iter().collect());
        }
        Ok(Some(report))
    }

    /// Explains at which ports of a request an offer docks, and what keeps the offer from the other ports. Prints the
    /// explanation as text, or returns it as JSON, together with whether the offer docks anywhere. `None` if the
    /// request's ports are malformed.
    pub fn explain_pair(
        &mut self,
        session: &mut Session,
        (request, offer): (usize, usize),
        form: Option<OutputForm>,
    ) -> Result<Option<(Json, bool)>, Failure> {
        let [asking, offered] = [&self.parties.requests[request], &self.parties.offers[offer]];
        let meetings = match self.matcher.trial_dockings(&asking.ad, offer) {
            Ok(meetings) => meetings,
            Err(fault) => return self.report_fault(session, request, fault).map(|()| None),
        };
        let docks = meetings.iter().any(|meeting| meeting.condition.is_none());
        let summary = single_line(&text::docking_summary(&meetings, asking.id(), offered.id()));
        if form.is_none_or(|form| form == OutputForm::Table) {
            let text = text::docking_text(&summary, &meetings, self.parties, session.dialect());
            out().write_all(text.as_bytes())?;
        }
        let ports = meetings.iter().map(|meeting| json::meeting_json(meeting, self.parties)).collect::<Json>();
        let document = json!({
            "requests": [asking.id()], "offer": offered.id(), "match": docks, "summary": summary, "ports": ports,
        });
        Ok(Some((document, docks)))
    }

    /// Reports malformed ports of a request. A policy that cannot be followed is a failure of the whole run.
    fn report_fault(&self, session: &mut Session, request: usize, fault: GangFault) -> Result<(), Failure> {
        match fault {
            GangFault::Ports(fault) => self.parties.requests[request].report_bad_ports(session, &fault),
            GangFault::Policy(fault) => Err(self.given.report_fault(session, fault)),
        }
    }

    /// Number of evaluations that exceeded their budget.
    pub fn budget_failures(&self) -> u64 {
        self.matcher.statistics().failures
    }

    /// Groups requests that the offers and the policy cannot tell apart.
    pub fn group_equivalent(&self, session: &Session, requests: &[usize]) -> Vec<Vec<usize>> {
        let mut names = self.given.policy.free_names(session.dialect());
        let everyone = self.parties.offers.iter().flat_map(|offer| offer.ad.iter());
        everyone.for_each(|attribute| names.add(attribute.expression, session.dialect()));
        let mut groups: IndexMap<Vec<u8>, Vec<usize>> = IndexMap::new();
        for &request in requests {
            let ad = self.significant_attributes(&self.parties.requests[request].ad, &names, session);
            let mut sorted: Vec<(Name, Expression)> =
                ad.iter().map(|attribute| (attribute.name.clone(), attribute.expression.clone())).collect();
            sorted.sort_by(|(a, _), (b, _)| a.cmp(b));
            let text = print_ad(&sorted.into_iter().collect(), Style::New);
            groups.entry(text).or_default().push(request);
        }
        groups.into_values().collect()
    }

    /// Returns the attributes of a request that its gang can depend on: those reachable from its ports, its constraint
    /// and its rank, and those that offers and the policy may look up, `sought`. All if any attribute may be read.
    fn significant_attributes(&self, request: &Ad, sought: &FreeNames, session: &Session) -> Ad {
        let reached = sought.all_names().cloned().and_then(|mut names| {
            names.extend(self.protocol.attribute_names().chain([&*PORTS]).cloned());
            transitive_closure(&mut names, |name, names| {
                let Some(bound) = request.get(name) else { return Some(()) };
                names.extend(FreeNames::of(bound, session.dialect()).all_names()?.iter().cloned());
                Some(())
            })?;
            Some(names)
        });
        let Some(names) = reached else { return request.clone() };
        let attributes = request.iter().filter(|attribute| names.contains(attribute.name));
        attributes.map(|attribute| (attribute.name.clone(), attribute.expression.clone())).collect()
    }
}
