//! The entry point: computes the [`Report`] of a request.

use indexmap::IndexSet;
use rustc_hash::FxHashMap;

use crate::ad::{Ad, Name, nearest as nearest_names};
use crate::constraint::inconsistencies;
use crate::eval::{Context, Mentions};
use crate::matching::policy::Rule;
use crate::protocol::Protocol;

use super::changes::changes;
use super::clause_analysis::{Examined, Unmet};
use super::clauses::text;
use super::closest_offers::nearest;
use super::conflicts::{Conflicts, minimal};
use super::distance;
use super::evaluation::{Asking, Refusing, Survey};
use super::failure_reason::Fault;
use super::findings::findings;
use super::pair::Paired;
use super::refusals::refusals;
use super::report::{ClauseReport, Report, Verdict};

/// Explains requests against a fixed set of offers. Evaluation results are cached across requests.
pub struct Explainer {
    survey: Survey,
    names: Vec<Name>,
}

/// The raw analysis of one request: results per clause and per row, before a verdict is drawn. A row is a distinct ad
/// of the offers; see [`Survey`].
pub struct Situation {
    pub asking: Asking,
    pub clauses: Vec<ClauseReport>,
    /// For each row the clauses that it does not meet, as a bit mask over `clauses`.
    pub failing: Vec<u128>,
    /// The minimal masks of `failing`: no other row's mask is a proper subset.
    pub least: Vec<u128>,
    /// For each row why it refuses the request; `None` if it accepts it.
    pub refusing: Vec<Option<Refusing>>,
}

impl Situation {
    /// Analyses a request against all rows.
    pub fn of(request: &Ad, survey: &mut Survey) -> Self {
        let asking = Asking::new(request);
        let unmet = Unmet::new(request, &survey.context);
        let examined: Vec<Examined> = survey.clauses(&asking).iter().map(|clause| unmet.examine(clause)).collect();
        let mut failing = vec![0_u128; survey.rows()];
        let mut clauses = Vec::with_capacity(examined.len());
        for (place, examined) in examined.into_iter().enumerate() {
            let answers = survey.answers(&asking, &examined.clause);
            for (row, failing) in failing.iter_mut().enumerate() {
                *failing |= u128::from(!answers.truth.contains(row)) << place;
            }
            let counts = answers.counts;
            let fault = (counts.is_true == 0).then(|| Fault::of(&examined, survey, &asking));
            let best = examined.asked.as_ref().and_then(|asked| {
                let answers = survey.answers_of(&asking, &asked.what);
                distance::best(asked, &answers, 0..survey.rows(), survey)
            });
            let dialect = survey.context.dialect;
            let [written, left] = [&examined.clause.expression, &examined.left].map(|what| text(what, dialect));
            clauses.push(ClauseReport {
                left: (left != written).then_some(left),
                text: written,
                counts,
                remaining: 0,
                sole_blocker: 0,
                best,
                fault,
                examined,
            });
        }
        let mut patterns: FxHashMap<u128, usize> = FxHashMap::default();
        for (row, failing) in failing.iter().enumerate() {
            *patterns.entry(*failing).or_default() += survey.weights[row];
        }
        for (failing, offers) in &patterns {
            let first = failing.trailing_zeros() as usize;
            clauses.iter_mut().take(first).for_each(|clause| clause.remaining += offers);
            if failing.is_power_of_two() {
                clauses[first].sole_blocker += offers;
            }
        }
        let refusing = (0..survey.rows()).map(|row| survey.refusal(&asking, row)).collect();
        Situation { asking, clauses, failing, least: minimal(patterns.into_keys()), refusing }
    }

    /// The rows that match: they meet every clause and do not refuse. Empty if the request has no constraint.
    pub fn matching(&self) -> impl Iterator<Item = usize> {
        let suits = |row: &usize| self.failing[*row] == 0 && self.refusing[*row].is_none();
        (0..self.failing.len()).filter(suits).filter(|_| !self.clauses.is_empty())
    }
}

impl Explainer {
    /// Prepares the explanation of requests against `offers`.
    #[must_use]
    pub fn new(offers: &[Ad], protocol: Protocol, context: Context) -> Self {
        let survey = Survey::new(offers, protocol, context);
        Explainer { names: survey.names().cloned().collect(), survey }
    }

    /// Adds attribute names that offers are known to have though they were not read. Use it when the offers were read
    /// in part: suggestions for a misspelt attribute draw on these names, too.
    #[must_use]
    pub fn with_names(mut self, names: impl IntoIterator<Item = Name>) -> Self {
        let known: IndexSet<Name> = self.names.into_iter().chain(names).collect();
        self.names = known.into_iter().collect();
        self
    }

    /// Sets the docking vector of the policy, which discards candidates without a comparable value.
    #[must_use]
    pub fn with_docking(mut self, docking: Vec<Rule>) -> Self {
        self.survey.docking = docking;
        self
    }

    /// Returns the number of offers that match a request.
    pub fn matches(&mut self, request: &Ad) -> usize {
        let rows = self.survey.matching(&Asking::new(request));
        self.survey.weight(rows.ones())
    }

    /// Returns the indices of the offers that match a request.
    pub fn matching(&mut self, request: &Ad) -> Vec<usize> {
        let rows = self.survey.matching(&Asking::new(request));
        let offers = self.survey.row_of.iter().enumerate();
        offers.filter(|(_, row)| rows.contains(**row as usize)).map(|(offer, _)| offer).collect()
    }

    /// The number of expressions evaluated so far.
    #[must_use]
    pub fn evaluations(&self) -> u64 {
        self.survey.evaluations
    }

    /// Explains why a request and one offer match or do not match. `offer` is an index into the offers.
    pub fn pair(&mut self, request: &Ad, offer: usize) -> Paired {
        Paired::new(&mut self.survey, request, offer)
    }

    /// Explains why a request matches some offers or none.
    pub fn explain(&mut self, request: &Ad) -> Report {
        let situation = Situation::of(request, &mut self.survey);
        let survey = &self.survey;
        let suitable: Vec<usize> = (0..survey.rows()).filter(|row| situation.failing[*row] == 0).collect();
        let mut report = Report {
            offers: survey.offers(),
            matches: 0,
            discarded: 0,
            suitable: if situation.clauses.is_empty() { 0 } else { survey.weight(suitable) },
            verdict: Verdict::Matches,
            attributes: IndexSet::new(),
            clauses: Vec::new(),
            conflicts: Conflicts { sets: Vec::new(), is_complete: true },
            changes: Vec::new(),
            nearest: Vec::new(),
            refusals: Vec::new(),
            findings: Vec::new(),
        };
        if request.get_str("Ports").is_some() {
            report.verdict = Verdict::Ports;
            return report;
        }
        let matching: Vec<usize> = situation.matching().collect();
        let discarded: Vec<(usize, usize)> =
            matching.iter().filter_map(|row| Some((*row, self.survey.discarding(&situation.asking, *row)?))).collect();
        let survey = &self.survey;
        report.discarded = survey.weight(discarded.iter().map(|(row, _)| *row));
        report.matches = survey.weight(matching) - report.discarded;
        report.refusals = refusals(survey, &situation);
        report.conflicts = match situation.least.as_slice() {
            [] | [0] => report.conflicts,
            least => Conflicts::of(least),
        };
        report.clauses.clone_from(&situation.clauses);
        report.verdict = match self.discarded(&report, &discarded) {
            Some(verdict) => verdict,
            None => self.verdict(&report, &situation),
        };
        report.attributes = attributes(&report);
        report.findings = findings(&report, &mut self.survey, &self.names, &situation.asking);
        if report.matches == 0 && report.discarded == 0 && report.offers > 0 && !report.clauses.is_empty() {
            report.nearest = nearest(&mut self.survey, &situation);
            report.changes = changes(&mut self.survey, &situation, &self.names);
        }
        report
    }

    /// Returns [`Verdict::Discarded`] if the docking vector discards every offer that would match, else `None`.
    fn discarded(&mut self, report: &Report, discarded: &[(usize, usize)]) -> Option<Verdict> {
        if report.matches > 0 || discarded.is_empty() {
            return None;
        }
        let mut counts = vec![0; self.survey.docking.len()];
        for (row, component) in discarded {
            counts[*component] += self.survey.weights[*row];
        }
        let most = counts.iter().enumerate().max_by_key(|(place, count)| (**count, std::cmp::Reverse(*place)));
        let component = most.map(|(place, _)| place)?;
        let expression = self.survey.docking[component].expression.clone();
        let mut mentions = Mentions::default();
        mentions.add_rule(&expression, self.survey.context.dialect);
        let missing = mentions.other.into_iter().find(|name| self.survey.having(name) == 0);
        let missing = missing.map(|name| {
            let near = self.near(&name);
            (name, near)
        });
        Some(Verdict::Discarded { component, text: text(&expression, self.survey.context.dialect), missing })
    }

    fn verdict(&mut self, report: &Report, situation: &Situation) -> Verdict {
        if report.matches > 0 {
            return Verdict::Matches;
        }
        if report.clauses.is_empty() {
            return Verdict::NoConstraint;
        }
        let left: Vec<_> = report.clauses.iter().map(|clause| &clause.examined.left).collect();
        let contradictions = inconsistencies(&left, self.survey.context.dialect);
        // Skip a clause that contradicts itself if it has a more specific fault or a comparison to report.
        let is_by_itself = |place: usize| matches!(report.clauses[place].fault, Some(Fault::Value | Fault::ByItself));
        let found = contradictions.into_iter().find(|found| match found.parts.as_slice() {
            [only] => report.clauses[*only].examined.asked.is_none() && is_by_itself(*only),
            _ => true,
        });
        if let Some(found) = found {
            return Verdict::Contradiction { clauses: found.parts, subject: found.subject, clash: found.clash };
        }
        if report.offers == 0 {
            return Verdict::NoOffers;
        }
        let faults = report.clauses.iter().enumerate();
        let faults = faults.filter_map(|(place, clause)| Some((place, clause.fault.clone()?))).collect();
        if let Some((clause, fault)) = Fault::decisive(faults) {
            let near = match &fault {
                Fault::Missing(name) => self.near(name),
                _ => Vec::new(),
            };
            return Verdict::Unmet { clause, fault, near };
        }
        match report.conflicts.sets.first() {
            Some(conflict) if situation.least.first() != Some(&0) => Verdict::Conflict(conflict.clone()),
            _ => Verdict::Refused,
        }
    }

    /// Returns the offers' attributes with names similar to `name`, each with the number of offers that have it.
    fn near(&mut self, name: &Name) -> Vec<(Name, usize)> {
        near(name, &mut self.survey, &self.names)
    }
}

/// Returns the offers' attributes with names similar to `name`, each with the number of offers that have it. `names`
/// are the candidates.
pub fn near(name: &Name, survey: &mut Survey, names: &[Name]) -> Vec<(Name, usize)> {
    let near = nearest_names(name.as_str(), names.iter().map(Name::as_str)).into_iter().map(Name::new);
    near.map(|name| (survey.having(&name), name)).filter(|(having, _)| *having > 0).map(|(n, name)| (name, n)).collect()
}

/// The attributes that the decisive clauses and refusals read.
fn attributes(report: &Report) -> IndexSet<Name> {
    let mut places = report.verdict.clauses();
    // Every clause that no offer meets contributes to these verdicts.
    if matches!(report.verdict, Verdict::Unmet { .. } | Verdict::Contradiction { .. }) {
        let never = report.clauses.iter().enumerate().filter(|(_, clause)| clause.fault.is_some());
        places.extend(never.map(|(place, _)| place));
    }
    let mut names = IndexSet::new();
    match &report.verdict {
        Verdict::Unmet { fault: Fault::Missing(name) | Fault::Lacking(name, _), .. } => names.extend([name.clone()]),
        Verdict::Refused => {
            let suitable = report.refusals.iter().filter(|refusal| refusal.suitable > 0);
            names.extend(suitable.flat_map(|refusal| refusal.attributes.iter().cloned()));
        }
        _ => {}
    }
    for place in places {
        let examined = &report.clauses[place].examined;
        names.extend(examined.theirs.iter().chain(&examined.lacking).chain(&examined.own).cloned());
    }
    names
}
