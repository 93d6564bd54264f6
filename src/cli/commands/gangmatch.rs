//! `classad gangmatch`: multilateral batch matching.

use std::collections::BTreeSet;
use std::io::Write;
use std::ops::ControlFlow;
use std::time::Instant;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use classad::eval::FreeNames;
use classad::explain::{GangReport, explain_gang};
use classad::matching::gang::{Algorithm, GangFailure, GangFault, Gangmatcher};
use classad::matching::negotiate::{GangSettings, Grant, NegotiationEvent, NegotiationSettings, PortUse, negotiate};
use classad::matching::{Accelerations, Statistics};
use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use serde_json::json;

use crate::cli::args::advertising::{AdvertisingArgs, SlotSelection};
use crate::cli::args::matching::ReadMode;
use crate::cli::args::notify::NotifyArgs;
use crate::cli::args::policy::{LoadedPolicy, PolicyArgs, PolicyConfigArgs};
use crate::cli::io::input;
use crate::cli::io::match_records::RECORD_VERSION;
use crate::cli::io::parties::Parties;
use crate::cli::matching_run::cycle_progress;
use crate::cli::outcome::{Failure, Status, refuse_contradictions};
use crate::cli::rank_warnings::RankWarnings;
use crate::cli::render::diagnostics::single_line;
use crate::cli::render::explanation::gangs;
use crate::cli::render::gang_writer::GangWriter;
use crate::cli::render::json::{JoinedRecord, JsonValueWriter};
use crate::cli::render::output::{self, OutputForm, out};
use crate::cli::render::progress;
use crate::cli::session::Session;

const EXAMPLES: &str = "\
Examples:
  classad gangmatch samples/license/jobs.ad --pool samples/license/machines.ad \\
      --pool samples/license/licenses.ad
  classad gangmatch samples/gangs/jobs.ad --pool samples/gangs/offers.ad \\
      --policy samples/gangs/policy.yaml -o tree
  classad gangmatch samples/gangs/jobs.ad --pool samples/gangs/offers.ad -o svg
  classad gangmatch samples/multiprocessor/client.ad --pool samples/multiprocessor/service.ad \\
      --pool samples/multiprocessor/nodes.ad --all
  classad gangmatch samples/papers/thesis-figure-8-two-hosts.ad \\
      --pool samples/gangs/hosts.ad --limit 2 -o json
  classad gangmatch samples/license/jobs.ad --pool samples/license/machines.ad \\
      --pool samples/license/licenses.ad --explain
  classad gangmatch samples/papers/2000-figure-2-job.ad --environment \\
      --pool samples/papers/2000-figure-1-machine.ad \\
      --pool samples/papers/2000-figure-3-license.ad \\
      | classad eval '_ctx_0._ad.Ports[1].Constraint'";

/// Match each request with offers for all of its ports
///
/// Each request in turn gets a gang, if there is one: an offer at each of its ports, and at each port of these offers.
/// A request without `Ports` has one port, `other`. Of the gangs with the most offers, the one with the best offer at
/// the first port wins. The second port decides ties, and so on. Later requests cannot get these offers, unless a
/// policy leaves a part of them.
///
/// All ports outside of groups must be filled. In a group such as `[ Ports = {...}; Min = 1; Max = 2 ]`, at least Min
/// and at most Max ports are filled, as many as possible.
///
/// With --environment, each gang is printed as one ad (thesis 5.3.1). `_ctx_0` is the context of the request; `_ctx_1`
/// and so on are those of the offers. `_ad` is the ad of a context. Each label of a filled port refers to the ad or the
/// port on the other side.
///
/// `-o svg` draws the first 12 gangs.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Gangmatch {
    /// Files of requests; without files, read standard input
    requests: Vec<String>,
    /// Files of offers
    #[arg(long, value_name = "FILE", required = true, alias = "offers")]
    pool: Vec<String>,
    /// Search with this algorithm. `best`, the default, finds the best gang; the others take the first gang that they
    /// find
    #[arg(long, default_value = "best", hide_default_value = true, value_parser = algorithm_parser())]
    algorithm: Algorithm,
    /// Print every gang that each request could have, the best first; an offer can be in several gangs
    #[arg(long, conflicts_with = "algorithm")]
    all: bool,
    /// Print the N best gangs that each request could have
    #[arg(long, value_name = "N", conflicts_with_all = ["all", "algorithm"], value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
    /// Explain why requests get no gang, instead of printing the gangs
    #[arg(long, conflicts_with_all = ["all", "limit"])]
    explain: bool,
    /// Print each gang as the nested ad in which its expressions are evaluated
    #[arg(long, conflicts_with = "explain")]
    environment: bool,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    policy_config: PolicyConfigArgs,
    #[command(flatten)]
    notify: NotifyArgs,
    #[command(flatten)]
    ads: AdvertisingArgs,
}

/// Returns the parser of `--algorithm`, which accepts the names of [`Algorithm::ALL`].
fn algorithm_parser() -> impl TypedValueParser<Value = Algorithm> {
    PossibleValuesParser::new(Algorithm::ALL.map(Algorithm::name))
        .map(|name| Algorithm::ALL.into_iter().find(|algorithm| algorithm.name() == name).unwrap_or_default())
}

impl Gangmatch {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let sources = input::open_sides(session, &self.requests, &self.pool)?;
        input::note_files_of_both_sides(session, &sources);
        let policy = &self.policy_config.read_policy(session, &self.policy)?.without_share(session);
        self.check_options(policy)?;
        let slots = SlotSelection::of_policy(&policy.policy);
        // All forms but the plain table print the identities of matches, which depend on those of the ads.
        let has_identities = self.ads.common.output.form.is_some();
        let reading =
            if has_identities { ReadMode::WholeForRecords } else { AdvertisingArgs::whole_mode(&self.notify) };
        let ads = self.ads.read_current(session, sources, reading, &FreeNames::default(), slots)?;
        let start = Instant::now();
        let parties = &Parties::new(ads);
        let settings = NegotiationSettings {
            accelerations: Accelerations::NONE,
            gangs: GangSettings {
                ports: PortUse::Always,
                algorithm: self.algorithm,
                seed: session.options.seed.unwrap_or_default(),
            },
            ..NegotiationSettings::new(policy.policy.clone(), self.ads.common.protocol(session), session.context())
        };
        let mut run =
            GangmatchRun { command: self, session, policy, parties, settings, ranks: RankWarnings::default() };
        let (found, statistics) = if self.lists_only() { run.enumerate()? } else { run.marshal()? };
        run.ranks.report(run.session);
        session.report_budget_failures(statistics.failures);
        note_cut_off_searches(session, statistics.cut_off_searches);
        if self.ads.common.stats {
            output::print_counters(statistics, start.elapsed().as_secs_f64());
        }
        Ok(Status::of(found))
    }

    /// Returns the writer of the gangs.
    fn gang_writer(&self) -> Result<GangWriter, Failure> {
        let output = self.ads.common.output;
        if self.environment { GangWriter::of_environments(output) } else { Ok(GangWriter::new(output)) }
    }

    /// Whether the command lists possible gangs without allocating offers.
    fn lists_only(&self) -> bool {
        self.all || self.limit.is_some()
    }

    fn check_options(&self, policy: &LoadedPolicy) -> Result<(), Failure> {
        let (notifies, to_stdout) = (self.notify.notify.is_some(), self.notify.writes_to_stdout());
        let is_text_or_json = matches!(self.ads.common.output.form, None | Some(OutputForm::Json | OutputForm::Jsonl));
        let docks = !policy.policy.docking.is_empty();
        refuse_contradictions(&[
            (notifies && self.lists_only(), "--notify reports matches, which --all and --limit do not make"),
            (to_stdout && self.explain, "--explain and --notify - both need standard output"),
            (self.explain && !is_text_or_json, "--explain prints text; -o can be json or jsonl"),
            (docks && self.algorithm != Algorithm::Best, "a docking vector needs --algorithm best"),
        ])
    }
}

/// Maximum number of requests without a gang that are examined for whether the policy discards their candidates.
const MAX_EXAMINED_FAILURES: usize = 16;

/// The reports on requests without a gang, by the index of the request.
type GangReports = IndexMap<usize, Result<GangReport, GangFault>>;

/// A run of `gangmatch`.
struct GangmatchRun<'r> {
    command: &'r Gangmatch,
    session: &'r mut Session,
    policy: &'r LoadedPolicy,
    parties: &'r Parties,
    settings: NegotiationSettings,
    /// The ranks that were no numbers.
    ranks: RankWarnings,
}

impl GangmatchRun<'_> {
    /// Runs a cycle in which all requests get gangs. Prints the gangs, or with `--explain` why requests got none.
    /// Returns whether any request got a gang.
    fn marshal(&mut self) -> Result<(bool, Statistics), Failure> {
        let GangmatchRun { command: Gangmatch { notify, explain, .. }, policy, parties, .. } = *self;
        let [requests, offers] = parties.ads();
        // With --quiet only the exit status matters, and one gang decides the status.
        let ends_early = self.session.options.quiet && notify.notify.is_none();
        let mut count = cycle_progress(requests.len());
        let mut bad_requests = Vec::new();
        let mut reports = GangReports::new();
        let (docks, mut examined, mut discarding) = (!policy.policy.docking.is_empty(), 0, BTreeSet::new());
        let mut observe = |event: NegotiationEvent<'_>| {
            count(&event);
            match event {
                NegotiationEvent::BadPorts { request, fault, .. } => bad_requests.push((request, fault.clone())),
                NegotiationEvent::NoGang { request, matchmaker, .. } if *explain => {
                    reports.insert(request, explain_gang(matchmaker, request, &requests[request]));
                }
                NegotiationEvent::NoGang { request, matchmaker, .. } if docks && examined < MAX_EXAMINED_FAILURES => {
                    examined += 1;
                    let failure = matchmaker.gang_failure(request, &requests[request]).ok().flatten();
                    discarding.extend(failure.iter().filter_map(GangFailure::discarding_component));
                }
                NegotiationEvent::NonNumericRank { request, rank } => self.ranks.add_ports(parties, request, [rank]),
                NegotiationEvent::Matched { grant, .. } => {
                    // A part of a divided offer may serve a request that failed before.
                    reports.shift_remove(&grant.request);
                    if ends_early {
                        return ControlFlow::Break(());
                    }
                }
                _ => {}
            }
            ControlFlow::Continue(())
        };
        let outcome = negotiate(&self.settings, &requests, &offers, &|_| None, &mut observe);
        let outcome = outcome.map_err(|fault| policy.report_fault(self.session, fault))?;
        for bad in &outcome.bad_ports {
            parties.offers[bad.index].report_bad_ports(self.session, &bad.fault)?;
        }
        if !outcome.grants.iter().any(|grant| grant.gang.is_some()) {
            policy.note_discarding_components(self.session, &discarding.into_iter().collect::<Vec<_>>());
        }
        let served: FxHashSet<usize> = outcome.grants.iter().map(|grant| grant.request).collect();
        if *explain && !requests.is_empty() && served.len() == requests.len() && !self.session.options.quiet {
            self.session.note("every request gets a gang; --explain reports only requests without one");
        }
        for (request, fault) in bad_requests {
            parties.requests[request].report_bad_ports(self.session, &fault)?;
        }
        self.write_outcome(&outcome.grants, reports)?;
        Ok((!outcome.grants.is_empty(), outcome.statistics))
    }

    /// Writes the notices, and the gangs or the reports on requests without one.
    fn write_outcome(&mut self, grants: &[Grant], reports: GangReports) -> Result<(), Failure> {
        let Gangmatch { ads, notify, explain, .. } = self.command;
        let (context, at) = (self.session.context(), ads.match_time(self.session));
        let notice = |grant| self.parties.notice(grant, &context, at);
        notify.write_notices(self.session, || grants.iter().map(notice).collect())?;
        if notify.writes_to_stdout() {
            return Ok(());
        }
        if *explain {
            return self.explain(&mut out(), reports);
        }
        let mut writer = self.command.gang_writer()?;
        for grant in grants {
            if let Some(gang) = &grant.gang {
                writer.write(self.session, gang, grant.unit, self.parties)?;
            }
        }
        writer.finish()
    }

    /// Writes the reports on requests without a gang.
    fn explain(&mut self, out: &mut dyn Write, reports: GangReports) -> Result<(), Failure> {
        let mut writer = self.command.ads.common.output.form.map(JsonValueWriter::new);
        for (place, (request, report)) in reports.into_iter().enumerate() {
            let request = &self.parties.requests[request];
            let report = match report {
                Ok(report) => report,
                Err(fault) => return self.policy.report_gang_fault(self.session, request, fault),
            };
            let subject = request.id();
            let longest = if writer.is_some() { usize::MAX } else { gangs::MAX_CLAUSE_CHARS };
            let sentences = gangs::summary_writer(self.parties, subject, self.session.dialect(), longest);
            let evidence = self.session.options.verbose > 0;
            if let Some(writer) = &mut writer {
                let summary = single_line(&sentences.gang_summary(&report));
                let tail = json!({ "version": RECORD_VERSION, "request": subject, "summary": summary });
                writer.write(
                    out,
                    &JoinedRecord {
                        head: gangs::port_fields(&report, gangs::ListedParties::with_all_offers(self.parties)),
                        tail,
                    },
                )?;
                continue;
            }
            let gap = if place > 0 { "\n" } else { "" };
            write!(out, "{gap}{}", gangs::gang_report_text(&report, &sentences, evidence))?;
        }
        writer.map_or(Ok(()), |writer| Ok(writer.finish(out)?))
    }

    /// Writes the possible gangs of each request as they are found, at most `--limit` for each. Returns whether any
    /// gang is possible.
    fn enumerate(&mut self) -> Result<(bool, Statistics), Failure> {
        let NegotiationSettings { policy, protocol, context, .. } = &self.settings;
        let [requests, offers] = self.parties.ads();
        let (matcher, bad) = Gangmatcher::new(&offers, protocol.clone(), context.clone());
        for bad in bad {
            self.parties.offers[bad.index].report_bad_ports(self.session, &bad.fault)?;
        }
        let mut matcher = matcher.with_docking_vector(policy.docking.clone());
        (0..offers.len())
            .filter(|offer| !policy.is_offer(&offers[*offer], context))
            .for_each(|offer| matcher.withdraw(offer));
        let roots = policy.roots(&requests, context);
        let (roots, failures) = roots.map_err(|fault| self.policy.report_fault(self.session, fault))?;
        let most = self.command.limit.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let mut writer = self.command.gang_writer()?;
        let mut any = false;
        'requests: for (place, &index) in roots.iter().enumerate() {
            progress::report_step("matching", place, Some(roots.len()));
            let request = &self.parties.requests[index];
            let mut gangs = match matcher.gangs(index, &request.ad) {
                Ok(gangs) => gangs,
                Err(fault) => {
                    self.policy.report_gang_fault(self.session, request, fault)?;
                    continue;
                }
            };
            for gang in gangs.by_ref().take(most) {
                any = true;
                writer.write(self.session, &gang, None, self.parties)?;
                // Show this gang now, because the search for the next one may take long.
                out().flush()?;
                if self.session.options.quiet {
                    break 'requests;
                }
            }
            if let Some(fault) = gangs.fault() {
                return Err(self.policy.report_fault(self.session, fault));
            }
            self.ranks.add_ports(self.parties, index, matcher.take_non_numeric_ranks());
        }
        writer.finish()?;
        let mut statistics = matcher.statistics();
        statistics.failures += failures;
        Ok((any, statistics))
    }
}

/// Notes how many searches for gangs ended at their limit, unless there are none. Names the option that raises it.
fn note_cut_off_searches(session: &Session, count: u64) {
    if count > 0 {
        let ended = if count == 1 { "1 search for a gang".to_owned() } else { format!("{count} searches for gangs") };
        session.note(&format!(
            "{ended} ended at a limit: a gang may be missing, or there may be a better one; --max-search-tests raises it"
        ));
    }
}
