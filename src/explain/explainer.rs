//! The entry point: computes the [`RequestReport`] of a request.

use indexmap::IndexSet;
use rustc_hash::FxHashMap;

use crate::ad::{Ad, Name};
use crate::constraint::inconsistencies;
use crate::eval::{Context, FreeNames};
use crate::lint::similar_names;
use crate::matching::policy::PolicyRule;
use crate::protocol::{PORTS, Protocol};

use super::changes::find_changes;
use super::clause_analysis::{ClauseAnalysis, ClauseAnalyzer};
use super::clauses::text;
use super::closest_offers::closest_offers;
use super::conflicts::{Conflicts, minimal_masks};
use super::distance;
use super::evaluation::{OfferTable, RefusalReason, RequestContext};
use super::failure_reason::FailureReason;
use super::findings::clause_remarks;
use super::pair::PairReport;
use super::refusals::group_refusals;
use super::report::{ClauseReport, RequestReport, RequestVerdict};

/// Explains requests against a fixed set of offers. Evaluation results are cached across requests.
pub struct Explainer {
    offers: OfferTable,
    known_names: Vec<Name>,
}

/// The raw analysis of one request: results per clause and per row, before a verdict is drawn. A row is a distinct ad
/// of the offers; see [`OfferTable`].
pub struct RequestAnalysis {
    pub request: RequestContext,
    pub clauses: Vec<ClauseReport>,
    /// For each row the clauses that the row does not meet, as a bit mask over `clauses`.
    pub failed_clauses: Vec<u128>,
    /// The minimal masks in `failed_clauses`: no other row's mask is a proper subset.
    pub minimal_failures: Vec<u128>,
    /// The reason why each row refuses the request; `None` for a row that accepts the request.
    pub refusals: Vec<Option<RefusalReason>>,
}

impl RequestAnalysis {
    /// Analyses a request against all rows.
    pub fn new(request: &Ad, survey: &mut OfferTable) -> Self {
        let unmet = ClauseAnalyzer::new(request, &survey.context);
        let request = RequestContext::new(request);
        let examined: Vec<ClauseAnalysis> =
            survey.request_clauses(&request).iter().map(|clause| unmet.analyze(clause)).collect();
        let mut failed_clauses = vec![0_u128; survey.row_count()];
        let mut clauses = Vec::with_capacity(examined.len());
        for (place, examined) in examined.into_iter().enumerate() {
            let answers = survey.clause_results(&request, &examined.clause);
            for (row, failing) in failed_clauses.iter_mut().enumerate() {
                *failing |= u128::from(!answers.true_rows.contains(row)) << place;
            }
            let counts = answers.counts;
            let fault = (counts.is_true == 0).then(|| FailureReason::find(&examined, survey, &request));
            let best = examined.comparison.as_ref().and_then(|asked| {
                let answers = survey.expression_results(&request, &asked.operand);
                distance::closest_row_value(asked, &answers, 0..survey.row_count(), survey)
            });
            let dialect = survey.context.dialect;
            let [written, left] = [&examined.clause.expression, &examined.residue].map(|what| text(what, dialect));
            clauses.push(ClauseReport {
                residue: (left != written).then_some(left),
                text: written,
                counts,
                remaining: 0,
                sole_blocker: 0,
                closest_value: best,
                failure: fault,
                analysis: examined,
            });
        }
        let mut patterns: FxHashMap<u128, usize> = FxHashMap::default();
        for (row, failing) in failed_clauses.iter().enumerate() {
            *patterns.entry(*failing).or_default() += survey.weights[row];
        }
        for (failing, offers) in &patterns {
            let first = failing.trailing_zeros() as usize;
            clauses.iter_mut().take(first).for_each(|clause| clause.remaining += offers);
            if failing.is_power_of_two() {
                clauses[first].sole_blocker += offers;
            }
        }
        let refusals = (0..survey.row_count()).map(|row| survey.refusal_reason(&request, row)).collect();
        RequestAnalysis {
            request,
            clauses,
            failed_clauses,
            minimal_failures: minimal_masks(patterns.into_keys()),
            refusals,
        }
    }

    /// The rows that match: they meet every clause and accept the request. Empty if the request has no constraint.
    pub fn matching_rows(&self) -> impl Iterator<Item = usize> {
        let suits = |row: &usize| self.failed_clauses[*row] == 0 && self.refusals[*row].is_none();
        (0..self.failed_clauses.len()).filter(suits).filter(|_| !self.clauses.is_empty())
    }
}

impl Explainer {
    /// Prepares the explanation of requests against `offers`.
    #[must_use]
    pub fn new(offers: &[Ad], protocol: Protocol, context: Context) -> Self {
        let offers = OfferTable::new(offers, protocol, context);
        Explainer { known_names: offers.attribute_names().cloned().collect(), offers }
    }

    /// Adds attribute names to the candidates for suggestions, which correct a misspelt attribute. A name that no offer
    /// has is still never suggested.
    #[must_use]
    pub fn with_names(mut self, names: impl IntoIterator<Item = Name>) -> Self {
        let known: IndexSet<Name> = self.known_names.into_iter().chain(names).collect();
        self.known_names = known.into_iter().collect();
        self
    }

    /// Sets the docking vector of the policy. The vector discards a candidate for which a component has no comparable
    /// value.
    #[must_use]
    pub fn with_docking(mut self, docking: Vec<PolicyRule>) -> Self {
        self.offers.docking = docking;
        self
    }

    /// Returns the number of offers that match a request.
    pub fn match_count(&mut self, request: &Ad) -> usize {
        let rows = self.offers.matching_rows(&RequestContext::new(request));
        self.offers.offers_in(rows.ones())
    }

    /// Returns the indices of the offers that match a request.
    pub fn matching_offers(&mut self, request: &Ad) -> Vec<usize> {
        let rows = self.offers.matching_rows(&RequestContext::new(request));
        let offers = self.offers.row_of.iter().enumerate();
        offers.filter(|(_, row)| rows.contains(**row as usize)).map(|(offer, _)| offer).collect()
    }

    /// The number of expressions evaluated so far.
    #[must_use]
    pub fn evaluations(&self) -> u64 {
        self.offers.evaluations
    }

    /// Explains why a request and one offer match or do not match. `offer` is an index into the offers.
    pub fn explain_pair(&mut self, request: &Ad, offer: usize) -> PairReport {
        PairReport::new(&mut self.offers, request, offer)
    }

    /// Explains why a request matches some offers or none.
    pub fn explain(&mut self, request: &Ad) -> RequestReport {
        let situation = RequestAnalysis::new(request, &mut self.offers);
        let survey = &self.offers;
        let suitable: Vec<usize> = (0..survey.row_count()).filter(|row| situation.failed_clauses[*row] == 0).collect();
        let mut report = RequestReport {
            offers: survey.offer_count(),
            matches: 0,
            discarded: 0,
            suitable: if situation.clauses.is_empty() { 0 } else { survey.offers_in(suitable) },
            verdict: RequestVerdict::Matches,
            attributes: IndexSet::new(),
            clauses: Vec::new(),
            conflicts: Conflicts { sets: Vec::new(), is_complete: true },
            changes: Vec::new(),
            closest: Vec::new(),
            refusals: Vec::new(),
            remarks: Vec::new(),
        };
        if request.get(&PORTS).is_some() {
            report.verdict = RequestVerdict::NeedsGang;
            return report;
        }
        let matching: Vec<usize> = situation.matching_rows().collect();
        let discarded: Vec<(usize, usize)> = matching
            .iter()
            .filter_map(|row| Some((*row, self.offers.discarding_component(&situation.request, *row)?)))
            .collect();
        let survey = &self.offers;
        report.discarded = survey.offers_in(discarded.iter().map(|(row, _)| *row));
        report.matches = survey.offers_in(matching) - report.discarded;
        report.refusals = group_refusals(survey, &situation);
        report.conflicts = match situation.minimal_failures.as_slice() {
            [] | [0] => report.conflicts,
            least => Conflicts::from_failures(least),
        };
        report.clauses.clone_from(&situation.clauses);
        report.verdict = match self.discarded_verdict(&report, &discarded) {
            Some(verdict) => verdict,
            None => self.verdict(&report, &situation),
        };
        report.attributes = decisive_attributes(&report);
        report.remarks = clause_remarks(&report, &mut self.offers, &self.known_names, &situation.request);
        if report.matches == 0 && report.discarded == 0 && report.offers > 0 && !report.clauses.is_empty() {
            report.closest = closest_offers(&mut self.offers, &situation);
            report.changes = find_changes(&mut self.offers, &situation, &self.known_names);
        }
        report
    }

    /// Returns [`RequestVerdict::Discarded`] if the docking vector discards every offer that would match, else `None`.
    fn discarded_verdict(&mut self, report: &RequestReport, discarded: &[(usize, usize)]) -> Option<RequestVerdict> {
        if report.matches > 0 || discarded.is_empty() {
            return None;
        }
        let mut counts = vec![0; self.offers.docking.len()];
        for (row, component) in discarded {
            counts[*component] += self.offers.weights[*row];
        }
        let most = counts.iter().enumerate().max_by_key(|(place, count)| (**count, std::cmp::Reverse(*place)));
        let component = most.map(|(place, _)| place)?;
        let expression = self.offers.docking[component].expression.clone();
        let mut mentions = FreeNames::default();
        mentions.add_policy_expression(&expression, self.offers.context.dialect);
        let missing = mentions.theirs.into_iter().find(|name| self.offers.offers_with(name) == 0);
        let missing = missing.map(|name| {
            let near = self.similar_attributes(&name);
            (name, near)
        });
        Some(RequestVerdict::Discarded { component, text: text(&expression, self.offers.context.dialect), missing })
    }

    fn verdict(&mut self, report: &RequestReport, situation: &RequestAnalysis) -> RequestVerdict {
        if report.matches > 0 {
            return RequestVerdict::Matches;
        }
        if report.clauses.is_empty() {
            return RequestVerdict::NoConstraint;
        }
        let left: Vec<_> = report.clauses.iter().map(|clause| &clause.analysis.residue).collect();
        let contradictions = inconsistencies(&left, self.offers.context.dialect);
        // Skip a clause that contradicts itself if a more specific reason or a comparison can be reported for the
        // clause.
        let is_by_itself = |place: usize| {
            matches!(report.clauses[place].failure, Some(FailureReason::NoSuchValue | FailureReason::NeverTrue))
        };
        let found = contradictions.into_iter().find(|found| {
            let is_telling = match found.clauses.as_slice() {
                [only] => report.clauses[*only].analysis.comparison.is_none() && is_by_itself(*only),
                _ => true,
            };
            is_telling && self.offers.is_steady(&situation.request, &found.subject)
        });
        if let Some(found) = found {
            return RequestVerdict::Contradiction { clauses: found.clauses, subject: found.subject, clash: found.kind };
        }
        if report.offers == 0 {
            return RequestVerdict::NoOffers;
        }
        let faults = report.clauses.iter().enumerate();
        let faults = faults.filter_map(|(place, clause)| Some((place, clause.failure.clone()?))).collect();
        if let Some((clause, fault)) = FailureReason::most_decisive(faults) {
            let near = match &fault {
                FailureReason::MissingAttribute(name) => self.similar_attributes(name),
                _ => Vec::new(),
            };
            return RequestVerdict::Unmet { clause, fault, near };
        }
        match report.conflicts.sets.first() {
            Some(conflict) if situation.minimal_failures.first() != Some(&0) => {
                RequestVerdict::Conflict(conflict.clone())
            }
            _ => RequestVerdict::Refused,
        }
    }

    /// Returns the offers' attributes with names similar to `name`, each with the number of offers that have it.
    fn similar_attributes(&self, name: &Name) -> Vec<(Name, usize)> {
        near(name, &self.offers, &self.known_names)
    }
}

/// Returns the offers' attributes with names similar to `name`, each with the number of offers that have it. `names`
/// are the candidates.
pub fn near(name: &Name, survey: &OfferTable, names: &[Name]) -> Vec<(Name, usize)> {
    similar_names(name, names.iter(), |name| survey.offers_with(name))
}

/// The attributes that the decisive clauses and refusals read.
fn decisive_attributes(report: &RequestReport) -> IndexSet<Name> {
    let mut places = report.verdict.clauses();
    // These two verdicts depend on every clause that no offer meets.
    if matches!(report.verdict, RequestVerdict::Unmet { .. } | RequestVerdict::Contradiction { .. }) {
        let never = report.clauses.iter().enumerate().filter(|(_, clause)| clause.failure.is_some());
        places.extend(never.map(|(place, _)| place));
    }
    let mut names = IndexSet::new();
    match &report.verdict {
        RequestVerdict::Unmet {
            fault: FailureReason::MissingAttribute(name) | FailureReason::MissingOwnAttribute(name, _),
            ..
        } => names.extend([name.clone()]),
        RequestVerdict::Refused => {
            let suitable = report.refusals.iter().filter(|refusal| refusal.suitable > 0);
            names.extend(suitable.flat_map(|refusal| refusal.attributes.iter().cloned()));
        }
        _ => {}
    }
    for place in places {
        let examined = &report.clauses[place].analysis;
        names.extend(
            examined.offer_attributes.iter().chain(&examined.missing_own).chain(&examined.request_attributes).cloned(),
        );
    }
    names
}
