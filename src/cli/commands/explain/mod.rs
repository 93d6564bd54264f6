//! `classad explain`: explains why requests match nothing.

mod configured_policies;
mod groups;
mod help_text;
mod match_difference;
mod matched;
mod selection;
mod suggestions;

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::Args;
use classad::ad::Ad;
use classad::explain::{Explainer, GangVerdict, RequestReport, RequestVerdict};
use classad::matching::Query;
use classad::matching::negotiate::negotiation_names;

use crate::cli::args::advertising::{self, AdvertisingArgs, SlotSelection};
use crate::cli::args::matching::ReadMode;
use crate::cli::args::policy::PolicyArgs;
use crate::cli::io::configuration::LoadedConfiguration;
use crate::cli::io::input;
use crate::cli::io::parties::Parties;
use crate::cli::io::wanted_ads::WantedAds;
use crate::cli::io::what_if::WhatIf;
use crate::cli::parallel::do_in_order;
use crate::cli::render::explanation::{
    CauseEntry, CauseTable, ExplanationInput, ExplanationWriter, GangExplainer, ReportRenderer, gangs, pair,
};
use crate::cli::render::output::{self, OutputForm, out};
use crate::cli::render::progress;
use crate::cli::render::rows::{ResultTable, TableCell};
use crate::cli::session::Session;
use crate::cli::{Failure, Status, refuse};
use configured_policies::JobEffects;
use groups::{allocate, explain_bilateral, group_requests};
use help_text::EXAMPLES;
use match_difference::{MatchDifference, matching_subjects};
use matched::{matched_requests, note_whole_slots, print_matched};
use selection::accepts;

/// Explain why requests match nothing
///
/// The first line is the reason: a contradiction, a misspelt attribute, a clause that no offer meets and by how much,
/// clauses that no offer meets together, offers whose constraints refuse the request, or offers that other requests
/// have taken. Then come the evidence and the changes that would help. Each change has been tried.
#[derive(Args)]
#[command(after_help = EXAMPLES, visible_alias = "why")]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct Explain {
    /// Files of requests; standard input if there are none
    requests: Vec<String>,
    /// Files of offers
    #[arg(long, value_name = "FILE", required = true, alias = "offers")]
    pool: Vec<String>,
    /// Explain the requests that greedy matching leaves without an offer
    #[arg(long, conflicts_with_all = ["reverse", "offer"])]
    unmatched: bool,
    /// Explain why offers match no request
    #[arg(long)]
    reverse: bool,
    /// Explain only requests for which this expression is true; of several expressions, all must be true
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    constraint: Vec<String>,
    /// Explain only these requests; of jobs: by `ClusterId.ProcId` or `GlobalJobId`, or all of a `ClusterId`, of a range
    /// of them such as 105-110, or of an `Owner`
    #[arg(long, value_name = "ID,...")]
    request: Vec<String>,
    /// Explain why this offer and a request do not match; with --reverse, explain only this offer, or all slots of a
    /// machine
    #[arg(long, value_name = "ID", visible_alias = "slot")]
    offer: Option<String>,
    /// Print only the totals and the causes, each with the number of requests and the change that helps most of them
    #[arg(long, conflicts_with = "verbose")]
    summary: bool,
    /// Leave out the requests that match some offer, free or not
    #[arg(long)]
    unmatchable: bool,
    /// Explain against only those offers for which this expression is true; of several expressions, all must be true
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    offer_constraint: Vec<String>,
    /// Add this attribute to every request, or with offer.NAME to every offer, before explaining, and report who gains
    /// or loses a match; in EXPR, NAME is the old value
    #[arg(long, value_name = "NAME=EXPR", allow_hyphen_values = true, conflicts_with = "unmatched")]
    what_if: Vec<String>,
    /// Apply START and RANK of a configuration to all machines and its transforms to all jobs, and report which jobs its
    /// policies refuse, change, hold, release or remove. DUMP is a file of what `condor_config_val -dump` prints
    #[arg(long, value_name = "DUMP", conflicts_with = "unmatched")]
    config: Option<String>,
    /// List all offers and all their refusals in JSON, not only the first 10 of each list
    #[arg(long)]
    all_offers: bool,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    ads: AdvertisingArgs,
}

impl Explain {
    /// Refuses a form in which the explanation cannot be written.
    fn check_form(&self) -> Result<(), Failure> {
        let form = self.ads.common.output.form;
        let is_listed = form.is_some_and(OutputForm::has_lines_of_cells);
        if !is_listed
            && !matches!(form, None | Some(OutputForm::Table | OutputForm::Json | OutputForm::Jsonl | OutputForm::Svg))
        {
            return refuse("explanations are written as text, json, jsonl, csv, tsv or svg");
        }
        if self.summary && !matches!(form, None | Some(OutputForm::Table | OutputForm::Json | OutputForm::Svg)) {
            return refuse("--summary is written as text, json or svg");
        }
        if (is_listed || form == Some(OutputForm::Svg)) && self.offer.is_some() && !self.reverse {
            return refuse("the explanation of a pair is written as text, json or jsonl");
        }
        Ok(())
    }

    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let common = &self.ads.common;
        let form = common.output.form;
        self.check_form()?;
        let sources = input::open_sides(session, &self.requests, &self.pool)?;
        if sources.iter().any(Vec::is_empty) {
            // Unreadable files have been reported. An explanation without them would be false.
            return Err(Failure::Refused(None));
        }
        let configuration = self.config.as_ref().map(|path| LoadedConfiguration::read(session, path)).transpose()?;
        let start = Instant::now();
        let policy = self.policy.read(session, self.config.as_deref())?.without_share(session);
        let protocol = common.protocol(session);
        let constraint = input::parse_constraints(session, &self.constraint)?;
        let offer_constraint = input::parse_constraints(session, &self.offer_constraint)?;
        let mut also = negotiation_names(&policy.policy, session.dialect());
        if let Some(constraint) = &offer_constraint {
            also.add(constraint, session.dialect());
        }
        also.names.extend(suggestions::similar_names(session, &sources, &protocol, &also, self.reverse));
        if let Some(constraint) = &constraint {
            also.add(constraint, session.dialect());
        }
        // The expressions of --what-if and of a configuration may refer to any attribute.
        let reads_whole = !self.what_if.is_empty() || configuration.is_some();
        let reading = if reads_whole { ReadMode::Whole } else { ReadMode::SelectiveForReports };
        let ads = self.ads.read_current(session, sources, reading, &also, SlotSelection::All)?;
        let [mut requests, mut offers] = ads;
        let filter = constraint.map(|constraint| Query::new(constraint, session.context()));
        if !self.unmatched {
            requests.retain(|request| accepts(session, filter.as_ref(), request));
            if filter.is_some() && requests.is_empty() {
                return refuse("the constraint is true of no request");
            }
        }
        let context = session.context();
        offers.retain(|offer| policy.policy.is_offer(&offer.ad, &context));
        if let Some(constraint) = offer_constraint {
            let filter = Query::new(constraint, session.context());
            offers.retain(|offer| accepts(session, Some(&filter), offer));
            if offers.is_empty() {
                return refuse("the constraint of --offer-constraint is true of no offer");
            }
        }
        let tells_states = !self.ads.states.all_states;
        // Jobs that do not wait are not partners of slots, and they take no slots.
        if tells_states && (self.reverse || self.unmatched) {
            requests = advertising::retain_waiting(session, requests);
        }
        let has_gangs = gangs::any_ports(&requests) || gangs::any_ports(&offers);
        if tells_states && has_gangs {
            offers = advertising::retain_available(session, offers, SlotSelection::of_policy(&policy.policy));
        }
        let mut parties = Parties::new([requests, offers]);
        let mut what_if = WhatIf::new(session, &self.what_if)?;
        what_if.note_misspelt(session, &parties);
        let (effects, transformed) = match &configuration {
            Some(configuration) => configured_policies::apply(session, configuration, &mut what_if, &parties)?,
            None => (None, None),
        };
        let mut difference = None;
        if !what_if.is_empty() || transformed.is_some() {
            let changed = what_if.apply_to_parties(transformed.as_ref().unwrap_or(&parties), &context);
            let [before, after] = [&parties, &changed].map(|parties| {
                let case = ExplanationInput::new(session, parties, self.reverse, protocol.clone(), &policy, 0);
                matching_subjects(session, &if tells_states { case.with_states() } else { case })
            });
            let wanted = WantedAds::new(&self.request, &changed.requests, &context).filter(|_| !self.reverse);
            difference = Some(MatchDifference::new([&before, &after], wanted.as_ref(), (&changed.requests, &context)));
            parties = changed;
        }
        let mut case =
            ExplanationInput::new(session, &parties, self.reverse, protocol, &policy, session.options.verbose);
        if tells_states {
            case = case.with_states();
        }
        if self.reverse && gangs::any_ports(&parties.requests) {
            session.note("some requests have Ports, which only gangs fill: see explain without --reverse");
        }
        let explainer = case.explainer(session, self.all_offers);
        let status = match &self.offer {
            Some(offer) if !self.reverse => {
                let wanted = WantedAds::new(&self.request, case.subjects, &context);
                pair::explain_pair(session, &case, &explainer, (offer, wanted.as_ref()), form)?
            }
            _ => {
                self.explain_each(session, &case, &explainer, filter.as_ref(), (difference.as_ref(), effects.as_ref()))?
            }
        };
        if common.stats {
            let counters = serde_json::json!({ "evaluations": explainer.evaluations() });
            output::print_counters(counters, start.elapsed().as_secs_f64());
        }
        output::leak_on_exit((explainer, parties));
        Ok(status)
    }

    #[allow(clippy::too_many_lines)] // a step for each form of the output
    fn explain_each(
        &self,
        session: &mut Session,
        case: &ExplanationInput<'_>,
        explainer: &Explainer,
        filter: Option<&Query>,
        (difference, effects): (Option<&MatchDifference>, Option<&JobEffects>),
    ) -> Result<Status, Failure> {
        let (roots, unserved) = self.served_and_unserved(session, case)?;
        let has_gangs = roots.iter().any(|request| case.needs_gang(*request));
        let mut gangs = if has_gangs { Some(GangExplainer::new(session, case)?) } else { None };
        let allocation = if self.unmatched { Some(allocate(session, case, has_gangs)?) } else { None };
        let is_left = |request: &usize| allocation.as_ref().is_none_or(|allocation| !allocation.is_matched[*request]);
        let left = roots.into_iter().filter(is_left).collect();
        let wanted = WantedAds::new(&self.named_subjects(), case.subjects, &session.context());
        let wanted = wanted.as_ref();
        let served = matched_requests(session, case, allocation.as_ref(), wanted);
        let [left, unserved] =
            self.select_wanted(session, case, filter, [left, unserved], (wanted, !served.is_empty()))?;
        let form = self.ads.common.output.form;
        let renderer = ReportRenderer::new(case, form, self.all_offers);
        let mut page = ExplanationWriter::new(renderer);
        let mut rows: Vec<(usize, Vec<TableCell>)> = Vec::new();
        let is_listed = form.is_some_and(OutputForm::has_lines_of_cells);
        let is_drawn = form == Some(OutputForm::Svg);
        let mut matches_all = unserved.is_empty();
        // Without a job that waits there is nothing that matches.
        let waits = |subject: &usize| !case.is_not_waiting(session, *subject);
        matches_all &= left.is_empty() || left.iter().any(waits);
        let groups = group_requests(session, case, gangs.as_ref(), &left);
        let total = groups.len();
        let has_text = !renderer.is_data() && !is_listed && !is_drawn && !session.options.quiet;
        if has_text {
            print_beginning(session, case, (difference, effects))?;
        }
        if has_text && total == 0 && unserved.is_empty() {
            print_matched(case, allocation.as_ref(), &served)?;
        }
        let is_queue = self.summary || (total > 1 && session.options.verbose == 0 && !has_gangs);
        let mut causes = CauseTable::new(case.subject_noun(session));
        let is_pair = |group: &Vec<usize>| !case.needs_gang(group[0]);
        // The search for a gang needs the matcher for itself. Reports about gangs therefore come from this thread.
        let has_taken = AtomicBool::new(false);
        let mut next = 0;
        while next < total {
            if let Some(gangs) = gangs.as_mut().filter(|_| !is_pair(&groups[next])) {
                progress::report_step("explaining", next, Some(total));
                if let Some(report) = gangs.explain(session, groups[next][0], allocation.as_ref())? {
                    matches_all &= matches!(report.verdict, GangVerdict::Matches);
                    if is_drawn {
                        causes.add(CauseEntry::of_gang(session, case, &groups[next], &report), String::new());
                    } else if !session.options.quiet {
                        page.add(renderer.gang(session, &groups[next], &report))?;
                    }
                }
                next += 1;
                continue;
            }
            let pairs = &groups[next..][..groups[next..].iter().take_while(|group| is_pair(group)).count()];
            let explain = |place: usize| {
                let group = &pairs[place];
                let report = explain_bilateral(session, case, group, explainer, allocation.as_ref());
                let matches = matches!(report.verdict, RequestVerdict::Matches | RequestVerdict::NotWaiting(_));
                has_taken.fetch_or(matches!(report.verdict, RequestVerdict::Taken(_)), Ordering::Relaxed);
                if session.options.quiet || (self.unmatchable && report.matches > 0) {
                    return Ok((None, matches));
                }
                if is_listed {
                    return Ok((Some(Explained::Rows(case.rows(session, group, &report))), matches));
                }
                let text = if is_drawn { String::new() } else { renderer.report(session, group, &report)? };
                Ok((Some(Explained::Report(CauseEntry::new(session, case, group, &report), text)), matches))
            };
            do_in_order(session.options.threads(), pairs.len(), explain, |place, explained: Result<_, Failure>| {
                progress::report_step("explaining", next + place, Some(total));
                let (content, matches) = explained?;
                matches_all &= matches;
                match content {
                    None => Ok(()),
                    Some(Explained::Rows(more)) => {
                        rows.extend(more);
                        Ok(())
                    }
                    Some(Explained::Report(entry, text)) if renderer.is_data() => {
                        causes.add(entry, String::new());
                        if self.summary { Ok(()) } else { page.add(text) }
                    }
                    Some(Explained::Report(entry, text)) if is_queue || is_drawn => {
                        causes.add(entry, text);
                        Ok(())
                    }
                    Some(Explained::Report(_, text)) => page.add(text),
                }
            })?;
            next += pairs.len();
        }
        if !unserved.is_empty() && !session.options.quiet {
            let report = RequestReport { verdict: RequestVerdict::NotServed, ..explainer.explain(&Ad::default()) };
            if is_drawn {
                causes.add(CauseEntry::new(session, case, &unserved, &report), String::new());
            } else {
                page.add(renderer.report(session, &unserved, &report)?)?;
            }
        }
        if is_listed {
            // The groups are in the order of their first members.
            rows.sort_by_key(|(subject, _)| *subject);
            let mut table = ResultTable::new(&["request", "verdict", "matches", "free", "summary", "change"]);
            table.rows.extend(rows.into_iter().map(|(_, row)| row));
            self.ads.common.output.write(&table)?;
        } else if is_drawn {
            let noun = case.subject_noun(session);
            let line = difference.map_or(String::new(), |difference| difference.sentence(case, noun));
            out().write_all(causes.into_picture(&line).as_bytes())?;
        } else if is_queue && !renderer.is_data() && !session.options.quiet {
            page.add(causes.into_text(self.summary))?;
            page.finish(None)?;
        } else {
            let what_if = difference.map(|difference| difference.to_json(case));
            let document = merge_json(causes.into_json(), "what_if", what_if);
            page.finish(Some(merge_json(document, "policies", effects.map(JobEffects::to_json))))?;
        }
        note_whole_slots(session, case, allocation.as_ref().filter(|_| has_taken.into_inner()));
        session.report_budget_failures(gangs.map_or(0, |gangs| gangs.budget_failures()));
        Ok(Status::of(matches_all))
    }
}

/// What a match means in the sentence about hypothetical attributes.
const WHAT_IS_COUNTED: &str = "a match is counted even if another request takes the offer; `match --what-if` gives each offer to one request only";

/// Prints what the hypothetical attributes and the policies of a configuration change, if anything.
fn print_beginning(
    session: &Session,
    case: &ExplanationInput<'_>,
    (difference, effects): (Option<&MatchDifference>, Option<&JobEffects>),
) -> Result<(), Failure> {
    if let Some(difference) = difference {
        writeln!(out(), "{}\n", difference.sentence(case, case.subject_noun(session)))?;
        out().flush()?;
        session.note(WHAT_IS_COUNTED);
    }
    if let Some(policies) = effects.and_then(JobEffects::text) {
        writeln!(out(), "{policies}")?;
    }
    Ok(())
}

/// Adds a member to a JSON object, if there is a value.
fn merge_json(mut object: serde_json::Value, name: &str, value: Option<serde_json::Value>) -> serde_json::Value {
    if let (Some(object), Some(value)) = (object.as_object_mut(), value) {
        object.insert(name.to_owned(), value);
    }
    object
}

/// The explanation of a group, ready to be printed.
enum Explained {
    /// The report, and what it contributes to the table of causes.
    Report(CauseEntry, String),
    /// A row for each member of the group, with the index of the member.
    Rows(Vec<(usize, Vec<TableCell>)>),
}
