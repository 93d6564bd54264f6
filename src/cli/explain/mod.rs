//! `classad explain`: why requests match nothing.

mod json;
mod listing;
mod names;
mod page;
pub mod pair;
mod picture;
mod queue;

use std::io::Write;
use std::time::Instant;

use clap::Args;
use classad::constraint::Protocol;
use classad::explain::{Explainer, Report, Verdict, Wording};
use classad::matching::Query;
use classad::pool::{Clusters, Policies};
use indexmap::IndexMap;

use super::advertising::Advertising;
use super::input::{self, Identified};
use super::matches::{Common, Reading};
use super::output::{self, OutputForm, out};
use super::parties::Parties;
use super::session::Session;
use super::{Failure, Status};

pub use page::Page;

const EXAMPLES: &str = "\
Examples:
  classad explain samples/pool/jobs.long --pool samples/pool/machines.long --unmatched
  classad explain samples/papers/thesis-figure-2-job.ad \\
      --pool samples/papers/thesis-figure-1-machine.ad -v
  classad explain samples/pool/jobs.long --id 'Name ?: ClusterId' --request 106 \\
      --offer slot1@node01.example.org --pool samples/pool/machines.long
  classad explain samples/pool/jobs.long --pool samples/pool/machines.long --reverse
  classad explain samples/pool/jobs.long --pool samples/pool/machines.long -o json
  classad explain -better-analyze 105.0 -jobads samples/pool/jobs.long \\
      -slotads samples/pool/machines.long

Requests that nothing tells apart are explained together.  Exit status: 0 if every request matches something, 1 if
some do not; --exit-zero makes it 0.
-o json: {\"schema\": \"classad.explain/1\", \"reports\": [...]}, of each report:
  requests, verdict, attributes, summary   who; matches, taken, contradiction, type-clash, missing-attribute,
      unsatisfied-clause, conflict, refused or ports; the attributes that decide; the sentence
  clauses   {text, span, true, false, undefined, error, remaining, sole_blocker, best}: in how many offers the clause
      is what, how many meet it and those before it, how many meet all others, what comes nearest to what it asks for;
      the span is in the text of its attribute, in bracketed ads in that of the ad
  conflicts, changes, nearest   positions in `clauses`; {change, matches}; {offer, fails, refuses}
  refusals   {clause, offers, example}: the first clause of an offer's constraint that is not met, null if it has none
  names, not_examined   {kind, clause, text}; what the ads cannot tell";

/// Explain why requests match nothing
///
/// The first line says what decides: a contradiction, a misspelt attribute, a clause that no offer meets and by how
/// much, clauses that none meets together, offers that refuse, others that were faster. Then evidence, and changes
/// that would help; each of them has been tried.
#[derive(Args)]
#[command(after_help = EXAMPLES, visible_alias = "why")]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct Explain {
    /// Files of requests; standard input if there are none
    requests: Vec<String>,
    /// Files of offers
    #[arg(long, value_name = "FILE", required = true, visible_alias = "offers")]
    pool: Vec<String>,
    /// Explain the requests that greedy matching leaves without an offer
    #[arg(long, conflicts_with_all = ["reverse", "offer"])]
    unmatched: bool,
    /// Explain why offers serve no request
    #[arg(long)]
    reverse: bool,
    /// Explain only requests for which this is true; several have to be true together
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    constraint: Vec<String>,
    /// Explain only the request of this name
    #[arg(long, value_name = "ID")]
    request: Option<String>,
    /// Explain why an offer and a request do not match: the offer of this name; with --reverse, explain only that one
    #[arg(long, value_name = "ID", visible_alias = "slot")]
    offer: Option<String>,
    /// Show the evidence: every clause with its counts; twice: also what every part of it is in the nearest offer
    #[arg(short = 'v', action = clap::ArgAction::Count)]
    evidence: u8,
    #[command(flatten)]
    advertising: Advertising,
    #[command(flatten)]
    common: Common,
}

/// What is to be explained, and to whom it could be matched.
pub struct Case<'c> {
    pub asking: &'c [Identified],
    pub offered: &'c [Identified],
    /// What one of those offered is called, and several.
    pub ads: [&'static str; 2],
    pub protocol: Protocol,
    pub evidence: u8,
}

impl Explain {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        if !matches!(self.common.output, None | Some(OutputForm::Table | OutputForm::Json | OutputForm::Jsonl)) {
            let message = "explanations are written as text, json or jsonl";
            return Err(Failure::Refused(Some(message.to_owned())));
        }
        let sources = input::sides(session, &self.requests, &self.pool)?;
        let start = Instant::now();
        let protocol = self.common.protocol(session);
        let constraint = input::constraint(session, &self.constraint)?;
        let mut found = names::near(session, &sources, &protocol, self.reverse);
        if let Some(constraint) = &constraint {
            found.also.add(constraint, session.dialect());
        }
        let ads = self.common.ads(session, sources, Reading::Needed, &found.also)?;
        let [mut requests, offers] = self.advertising.current(session, ads, self.common.id.as_deref())?;
        let chosen = Chosen(constraint.map(|constraint| Query::new(constraint, session.context())));
        if !self.unmatched {
            requests.retain(|request| chosen.includes(session, request));
            chosen.is_some_of(&requests)?;
        }
        let parties = Parties::new([requests, offers]);
        let taken = if self.unmatched { Some(queue::taken(session, &parties, &protocol)?) } else { None };
        let (asking, offered, ads) = if self.reverse {
            (&parties.offers, &parties.requests, ["request", "requests"])
        } else {
            (&parties.requests, &parties.offers, ["offer", "offers"])
        };
        let case = Case { asking, offered, ads, protocol, evidence: self.evidence };
        let mut explainer = case.explainer(session).with_names(found.names);
        let status = match &self.offer {
            Some(id) if !self.reverse => {
                pair::explain(session, &case, &mut explainer, (id, self.request.as_deref()), self.common.output)?
            }
            _ => self.explain_each(session, &case, &mut explainer, (taken.as_ref(), &chosen))?,
        };
        if self.common.stats {
            output::counters(&[("evaluations", explainer.evaluations())], start.elapsed().as_secs_f64());
        }
        output::leave((explainer, parties));
        Ok(status)
    }

    fn explain_each(
        &self,
        session: &mut Session,
        case: &Case<'_>,
        explainer: &mut Explainer,
        (taken, chosen): (Option<&queue::Taken>, &Chosen),
    ) -> Result<Status, Failure> {
        let wanted = if self.reverse { self.offer.as_ref().or(self.request.as_ref()) } else { self.request.as_ref() };
        // Who takes what is decided among all; only then those that were asked for are looked at.
        let is_chosen = |request: &usize| taken.is_none() || chosen.includes(session, &case.asking[*request]);
        let left: Vec<usize> = (0..case.asking.len())
            .filter(|request| taken.is_none_or(|taken| !taken.is_matched[*request]))
            .filter(|request| wanted.is_none_or(|wanted| case.asking[*request].id == **wanted))
            .filter(is_chosen)
            .collect();
        if let Some(wanted) = wanted.filter(|_| left.is_empty()) {
            return Err(Failure::Refused(Some(format!("there is no ad called {wanted} to explain"))));
        }
        let mut page = Page::new(case, self.common.output);
        let mut matches_all = true;
        for group in case.alike(session, &left) {
            let mut report = explainer.explain(&case.asking[group[0]].ad);
            if let (Some(taken), Verdict::Matches) = (taken, &report.verdict) {
                let could = explainer.matching(&case.asking[group[0]].ad);
                report.verdict = Verdict::Taken(taken.by(&could));
            }
            matches_all &= report.verdict == Verdict::Matches;
            if !session.options.quiet {
                page.add(session, &group, &report)?;
            }
        }
        if !session.options.quiet {
            page.finish()?;
        }
        Ok(Status::of(matches_all))
    }
}

/// The requests that `--constraint` is true of.
struct Chosen(Option<Query>);

impl Chosen {
    /// Whether this is one; it is none if the constraint exceeds its budget.
    fn includes(&self, session: &mut Session, request: &Identified) -> bool {
        let accepts = |query: &Query| query.accepts(&request.ad);
        self.0.as_ref().map_or(Ok(true), accepts).unwrap_or_else(|halt| {
            session.halted(&halt, &request.id);
            false
        })
    }

    /// Refuses to explain nothing.
    fn is_some_of(&self, requests: &[Identified]) -> Result<(), Failure> {
        match self.0 {
            Some(_) if requests.is_empty() => {
                Err(Failure::Refused(Some("the constraint is true of no request".to_owned())))
            }
            _ => Ok(()),
        }
    }
}

impl Case<'_> {
    pub fn explainer(&self, session: &Session) -> Explainer {
        let ads: Vec<_> = self.offered.iter().map(|ad| ad.ad.clone()).collect();
        Explainer::new(&ads, self.protocol.clone(), session.context())
    }

    /// Requests in groups of those that nothing tells apart, each in the order of the input.
    fn alike(&self, session: &Session, left: &[usize]) -> Vec<Vec<usize>> {
        if let [only] = left {
            return vec![vec![*only]];
        }
        if left.iter().all(|request| self.asking[*request].is_selected()) {
            // Those that were read as one ad.
            let mut groups: IndexMap<usize, Vec<usize>> = IndexMap::new();
            for request in left {
                groups.entry(self.asking[*request].ad.identity()).or_default().push(*request);
            }
            return groups.into_values().collect();
        }
        let ads = |ads: &mut dyn Iterator<Item = &Identified>| ads.map(|ad| ad.ad.clone()).collect::<Vec<_>>();
        let asking = ads(&mut left.iter().map(|request| &self.asking[*request]));
        let offered = ads(&mut self.offered.iter());
        let clusters = Clusters::new(&asking, &offered, &Policies::default(), &self.protocol, &session.context());
        let mut groups = vec![Vec::new(); clusters.clusters.len()];
        for (request, cluster) in left.iter().zip(clusters.of) {
            groups[cluster].push(*request);
        }
        groups
    }

    /// What a group is called, and the sentence about it.
    fn summary(&self, session: &Session, group: &[usize], report: &Report, longest: usize) -> String {
        let first = &self.asking[group[0]].id;
        let subject = match group.len() {
            1 => first.clone(),
            2 => format!("{first} and {}", self.asking[group[1]].id),
            many => format!("{first} and {} more", many - 1),
        };
        let wording = Wording {
            subject: &super::report::line(&subject),
            is_plural: group.len() > 1,
            ads: self.ads,
            names: &|request| self.asking[request].id.clone(),
            dialect: session.dialect(),
            longest,
        };
        super::report::line(&wording.summary(report))
    }
}

/// What the ads cannot tell.
const NOT_EXAMINED: [&str; 4] =
    ["claims made since the ads were read", "quotas and shares", "user priorities", "preemption by rank"];

/// Writes the JSON of all reports.
fn write_json(reports: &[serde_json::Value]) -> Result<(), Failure> {
    let document = serde_json::json!({ "schema": "classad.explain/1", "reports": reports });
    let mut out = out();
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    writeln!(out, "{text}")?;
    out.flush()?;
    Ok(())
}
