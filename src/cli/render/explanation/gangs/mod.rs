//! Explanations of gangs: why requests with ports get no gang.

mod json;
mod text;

use std::io::Write;

use classad::ad::{Ad, Expression, Name};
use classad::eval::{FreeNames, transitive_closure};
use classad::explain::{GangReport, GangVerdict};
use classad::matching::gang::Gangmatcher;
use classad::protocol::PORTS;
use classad::syntax::{Style, print_ad};
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use crate::cli::io::parties::Parties;
use crate::cli::outcome::Failure;
use crate::cli::render::diagnostics::single_line;
use crate::cli::render::output::{OutputForm, out};
use crate::cli::session::Session;

use super::{Accounting, Allocation, ExplanationInput};

pub use crate::cli::render::explanation::limits::MAX_CLAUSE_CHARS;
pub use json::{ListedParties, gang_report_json, port_fields};
pub use text::{change_steps, gang_report_text, summary_writer};

/// Explains why each request gets its gang, or why it gets none.
pub struct GangExplainer<'g> {
    case: &'g ExplanationInput<'g>,
    matcher: Gangmatcher,
}

impl<'g> GangExplainer<'g> {
    /// Makes an explainer for the offers of `case`. Reports the offers whose ports are malformed.
    pub fn new(session: &mut Session, case: &'g ExplanationInput<'g>) -> Result<Self, Failure> {
        let [_, offers] = case.parties.ads();
        let (matcher, bad) = Gangmatcher::new(&offers, case.protocol.clone(), session.context());
        for bad in bad {
            case.parties.offers[bad.index].report_bad_ports(session, &bad.fault)?;
        }
        Ok(GangExplainer { case, matcher: matcher.with_docking_vector(case.policy.policy.docking.clone()) })
    }

    /// Explains why a request gets its gang, or why it gets none. Reports malformed ports of the request, and returns
    /// `None` then.
    pub fn explain(
        &mut self,
        session: &mut Session,
        request: usize,
        allocation: Option<(&Allocation, &Accounting)>,
    ) -> Result<Option<GangReport>, Failure> {
        let subject = &self.case.parties.requests[request];
        let mut report = match classad::explain::explain_gang(&mut self.matcher, request, &subject.ad) {
            Ok(report) => report,
            Err(fault) => return self.case.policy.report_gang_fault(session, subject, fault).map(|()| None),
        };
        if let (Some((allocation, accounting)), Some(gang)) = (allocation, &report.gang) {
            let members = gang.members().into_iter().map(|docked| docked.offer);
            report.verdict = match accounting.limit(&[request]) {
                Some(limit) => GangVerdict::Limited(limit.clone()),
                None => GangVerdict::Taken(allocation.holders_of(members)),
            };
        }
        Ok(Some(report))
    }

    /// Explains at which ports of a request an offer docks, and what keeps the offer from the other ports. Prints the
    /// explanation as text, or returns it as JSON. The returned flag tells whether the offer docks at any port. `None`
    /// if the request's ports are malformed.
    pub fn explain_pair(
        &mut self,
        session: &mut Session,
        (request, offer): (usize, usize),
        form: Option<OutputForm>,
    ) -> Result<Option<(Json, bool)>, Failure> {
        let parties = self.case.parties;
        let [asking, offered] = [&parties.requests[request], &parties.offers[offer]];
        let dockings = match self.matcher.trial_dockings(&asking.ad, offer) {
            Ok(dockings) => dockings,
            Err(fault) => return self.case.policy.report_gang_fault(session, asking, fault).map(|()| None),
        };
        let docks = dockings.iter().any(|docking| docking.condition.is_none());
        let summary = single_line(&text::docking_summary(&dockings, asking.id(), offered.id()));
        if form.is_none_or(|form| form == OutputForm::Table) {
            let text = text::docking_text(&summary, &dockings, parties, session.dialect());
            out().write_all(text.as_bytes())?;
        }
        let ports = dockings
            .iter()
            .map(|docking| json::docking_json(docking, ListedParties::with_all_offers(parties)))
            .collect::<Json>();
        let document = json!({
            "requests": [asking.id()], "offer": offered.id(), "match": docks, "summary": summary, "ports": ports,
        });
        Ok(Some((document, docks)))
    }

    /// Number of evaluations that exceeded their budget of steps or depth.
    pub fn budget_failures(&self) -> u64 {
        self.matcher.statistics().failures
    }

    /// Groups requests that the offers and the policy cannot tell apart.
    pub fn group_equivalent(&self, session: &Session, requests: &[usize]) -> Vec<Vec<usize>> {
        let Parties { requests: subjects, offers } = self.case.parties;
        let mut names = self.case.policy.policy.free_names(session.dialect());
        for attribute in offers.iter().flat_map(|offer| offer.ad.iter()) {
            names.add(attribute.expression, session.dialect());
        }
        let mut groups: IndexMap<Vec<u8>, Vec<usize>> = IndexMap::new();
        for &request in requests {
            let mut attributes = self.significant_attributes(&subjects[request].ad, &names, session);
            attributes.sort_by(|(a, _), (b, _)| a.cmp(b));
            let text = print_ad(&attributes.into_iter().collect(), Style::New);
            groups.entry(text).or_default().push(request);
        }
        groups.into_values().collect()
    }

    /// Returns the attributes of a request that its gang can depend on: the ports, the constraint, the rank, the
    /// attributes named in `sought`, and all attributes that these read. `sought` has the names that offers and the
    /// policy look up. Returns all attributes of the request if an expression may read any attribute.
    fn significant_attributes(&self, request: &Ad, sought: &FreeNames, session: &Session) -> Vec<(Name, Expression)> {
        let reached = sought.all_names().cloned().and_then(|mut names| {
            names.extend(self.case.protocol.attribute_names().chain([&*PORTS]).cloned());
            transitive_closure(&mut names, |name, names| {
                let Some(bound) = request.get(name) else { return Some(()) };
                names.extend(FreeNames::of(bound, session.dialect()).all_names()?.iter().cloned());
                Some(())
            })?;
            Some(names)
        });
        let is_significant = |name: &Name| reached.as_ref().is_none_or(|names| names.contains(name));
        let attributes = request.iter().filter(|attribute| is_significant(attribute.name));
        attributes.map(|attribute| (attribute.name.clone(), attribute.expression.clone())).collect()
    }
}
