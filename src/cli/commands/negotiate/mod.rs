//! `classad negotiate`: a complete negotiation cycle.

mod compare;
mod course;
mod cycle_document;
mod cycles;
mod statistics;
mod submitters;
mod summary;
mod transcript;
mod usage;

use std::ops::ControlFlow;
use std::time::Instant;

use clap::Args;
use classad::ad::Name;
use classad::matching::negotiate::{
    NegotiationEvent, NegotiationOutcome, NegotiationSettings, negotiate, negotiation_names,
};
use classad::matching::policy::{Accountant, Share};
use classad::syntax::{ParseOptions, parse_expression};

use crate::cli::args::acceleration::AccelerationArgs;
use crate::cli::args::advertising::{AdvertisingArgs, SlotSelection, retain_available};
use crate::cli::args::notify::NotifyArgs;
use crate::cli::args::policy::{LoadedPolicy, PolicyArgs, PolicyConfigArgs};
use crate::cli::found_pairs::matches_of;
use crate::cli::io::accounts;
use crate::cli::io::atomic_write::FileRevision;
use crate::cli::io::input;
use crate::cli::io::parties::Parties;
use crate::cli::io::source::AdSource;
use crate::cli::matching_run::cycle_progress;
use crate::cli::outcome::{Failure, Status, refuse, refuse_contradictions};
use crate::cli::rank_warnings::{MixedRank, RankWarnings};
use crate::cli::render::match_table::{MatchColumns, write_match_table};
use crate::cli::render::output::out;
use crate::cli::session::Session;
use cycles::{CycleRows, CyclesArgs};
use statistics::print_statistics;
use submitters::{retain_submitter, submitter_table};
use transcript::Transcript;
use usage::{add_accounts, save_usage};

const EXAMPLES: &str = "\
Examples:
  classad negotiate samples/pool/jobs.long --pool samples/pool/machines.long
  classad negotiate samples/pool/jobs.long --pool samples/pool/machines.long \\
      --policy samples/policy.yaml --transcript
  classad negotiate samples/pool/jobs.long --pool samples/pool/machines.long \\
      --order JobPrio --dock label.Memory
  classad negotiate samples/pool/jobs.long --pool samples/pool/machines.long \\
      --policy htcondor --by-submitter -o table
  classad negotiate samples/pool/jobs.long --pool samples/pool/machines.long \\
      --policy htcondor --starts
  classad negotiate samples/pool/jobs.long --pool samples/pool/machines.long --compare";

/// Simulate a negotiation cycle: a policy decides which request gets which offer
///
/// Each request gets the compatible offer with the greatest docking vector: the values by which the policy ranks
/// offers. If the policy divides offers, later requests can get the rest of an offer.
///
/// If the policy has a `share`, or with --usage or --userprio, submitters take turns; the submitter with the best
/// priority is first. In each round, a submitter gets at most its share of the offers. Without a policy, without shares
/// and without `Ports`, the matches are those of `match`.
///
/// A request with `Ports` gets a gang, as in `gangmatch`. All offers of a gang count against the share of the
/// submitter.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct Negotiate {
    /// Files of requests; without files, read standard input
    requests: Vec<String>,
    /// Files of offers
    #[arg(long, value_name = "FILE", required = true, alias = "offers")]
    pool: Vec<String>,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    policy_config: PolicyConfigArgs,
    /// Compute priorities from the usage in this file, and add the usage of this cycle to the file
    #[arg(long, value_name = "FILE")]
    usage: Option<String>,
    /// Compute priorities from this file: the output of `condor_userprio -long`, with lines such as `Name1 = "ann@cs"`
    /// and `Priority1 = 500`, or the negotiator's `Accountantnew.log`. With --usage, the new usage file begins with these
    /// accounts
    #[arg(long, value_name = "FILE")]
    userprio: Option<String>,
    #[command(flatten)]
    accelerating: AccelerationArgs,
    /// Print the events of the cycle: quotas, rounds, turns of submitters, and the outcome of each request. With -o, also
    /// print the values by which the policy ranked each match
    #[arg(long)]
    transcript: bool,
    /// Leave what is about other submitters out of the transcript
    #[arg(long, value_name = "NAME", requires = "transcript")]
    submitter: Option<String>,
    /// Also print the next best offer of each match, and why it was not chosen
    #[arg(long, conflicts_with = "compare")]
    why: bool,
    /// Print a row for each submitter instead of the matches: its priority, and its numbers of requests, matches and
    /// offers
    ///
    /// With shares by weight, `used_weight` is the weight of the offers that the submitter uses after the cycle: of those
    /// that it used before and still has, and of its matches.
    #[arg(long, conflicts_with_all = ["transcript", "why", "compare"])]
    by_submitter: bool,
    /// Print the requests that start after the cycle instead of the matches
    ///
    /// A partitionable slot has one match in a cycle. The access point then fills it with further jobs of the submitter
    /// that got it. A job that takes a slot from another one is left out: it starts when the other has left. With
    /// --transcript, the starts follow the events of the cycle.
    #[arg(long, conflicts_with_all = ["why", "compare", "by_submitter"])]
    starts: bool,
    /// Run the cycle without accelerations, then four times with one more each, and compare the cost
    ///
    /// The accelerations are autoclusters, match lists, resource requests (one request for several equal jobs) and an
    /// index. Times are in seconds; the peak memory is in megabytes.
    #[arg(long, conflicts_with_all = ["transcript", "usage", "userprio", "no_index", "no_autocluster", "no_matchlist"])]
    compare: bool,
    #[command(flatten)]
    cycles: CyclesArgs,
    #[command(flatten)]
    notify: NotifyArgs,
    #[command(flatten)]
    ads: AdvertisingArgs,
}

impl Negotiate {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        self.check_options()?;
        let requests = self.cycles.from_history.as_ref().map_or(&self.requests[..], std::slice::from_ref);
        let sources = input::open_sides(session, requests, &self.pool)?;
        input::note_files_of_both_sides(session, &sources);
        let mut policy = self.policy_config.read_policy(session, &self.policy)?;
        if self.by_submitter && policy.policy.share.is_none() && self.usage.is_none() && self.userprio.is_none() {
            return refuse(
                "--by-submitter needs shares: --policy htcondor, a policy with `share`, --usage or --userprio",
            );
        }
        let usage_revision = self.usage.as_ref().map(FileRevision::of);
        let mut accountant = self.load_usage(session, &mut policy)?;
        let start = Instant::now();
        let parties = self.read_parties(session, sources, &policy)?;
        let reading_seconds = start.elapsed().as_secs_f64();
        parties.summarize_requests(session);
        // The ads decide the time of the cycle.
        if let Some(accountant) = &mut accountant {
            accountant.advance(session.context().now.unwrap_or_default());
        }
        let settings = NegotiationSettings {
            accelerations: self.accelerating.accelerations(),
            finds_runner_up: self.why || self.transcript,
            finds_starts: self.starts,
            finds_limits: self.transcript,
            ..NegotiationSettings::new(policy.policy.clone(), self.ads.common.protocol(session), session.context())
        };
        let settings = parties.with_typed_ranks(settings);
        if self.cycles.cycles.is_some() {
            return self.run_cycles(session, &parties, &settings, &policy, accountant);
        }
        if self.compare {
            let rows = compare::comparison_table(&settings, &parties.ads(), reading_seconds);
            self.ads.common.output.write(&rows.map_err(|fault| policy.report_fault(session, fault))?)?;
            return Ok(Status::Yes);
        }
        let start = Instant::now();
        let mut transcript = Transcript::new(&parties, &settings.policy);
        let outcome = self.run_cycle(session, (&parties, &policy), &settings, accountant.as_ref(), &mut transcript)?;
        let seconds = start.elapsed().as_secs_f64();
        // Save the usage before notifying anyone, because matches without saved usage must not become known.
        if let (Some(path), Some(revision), Some(accountant)) = (&self.usage, &usage_revision, &mut accountant) {
            add_accounts(&settings.policy, accountant, &outcome);
            save_usage(session, path, revision, accountant, &outcome)?;
            accounts::note_rewriting(session, path);
        }
        self.write_outcome(session, &parties, &settings, &outcome, transcript)?;
        policy.note_discarding_components(session, &outcome.unordered_components);
        summary::note_outcome(session, &settings.policy, &outcome);
        if let (Some(path), Some(accountant)) = (&self.userprio, &accountant) {
            let names: Vec<&str> = outcome.submitters.iter().map(|of| of.name.as_str()).collect();
            accounts::note_unknown_submitters(session, path, accountant, &names);
        }
        session.report_budget_failures(outcome.statistics.failures);
        if self.ads.common.stats {
            print_statistics(&outcome, seconds);
        }
        Ok(Status::of(!outcome.grants.is_empty()))
    }

    /// Runs several cycles, with the time that passes between them.
    fn run_cycles(
        &self,
        session: &mut Session,
        parties: &Parties,
        settings: &NegotiationSettings,
        policy: &LoadedPolicy,
        accountant: Option<Accountant>,
    ) -> Result<Status, Failure> {
        let rows = match (self.by_submitter, self.starts) {
            (true, _) => CycleRows::Submitters,
            (_, true) => CycleRows::Starts,
            _ => CycleRows::Matches,
        };
        let output = (rows, self.ads.common.output, !self.ads.states.all_states);
        let (policies, problems) = policy.job_policies(&session.context());
        policy.report_settings(session, &problems)?;
        let accounts = (accountant, policy.cycle_times(session)?, policies);
        self.cycles.run(session, parties, settings, accounts, output)
    }

    /// Reads the ads that take part.
    fn read_parties(
        &self,
        session: &mut Session,
        sources: [Vec<AdSource>; 2],
        policy: &LoadedPolicy,
    ) -> Result<Parties, Failure> {
        let mut also = negotiation_names(&policy.policy, session.dialect());
        self.cycles.add_names(session, policy, &mut also)?;
        if self.compare {
            // The comparison counts the submitters.
            also.names.insert(Name::new("Owner"));
        }
        let slots = SlotSelection::of_policy(&policy.policy);
        // In later cycles, what is in use now is free, and the jobs of a history have ended.
        let is_moving = self.cycles.cycles.is_some();
        let admitted = if is_moving { SlotSelection::All } else { slots };
        let reading = self.ads.selective_mode(&self.notify);
        let [requests, offers] = self.ads.read_current(session, sources, reading, &also, admitted)?;
        let has_states = is_moving && !self.ads.states.all_states;
        let offers = if has_states { retain_available(session, offers, SlotSelection::FreeAndClaimed) } else { offers };
        let is_told = has_states || self.cycles.from_history.is_some();
        let requests = if is_told { self.cycles.retain_jobs(session, requests) } else { requests };
        Ok(Parties::new([requests, offers]))
    }

    /// Runs the cycle. Reports ports that cannot be used, and warns of ranks that count as 0.
    fn run_cycle(
        &self,
        session: &mut Session,
        (parties, policy): (&Parties, &LoadedPolicy),
        settings: &NegotiationSettings,
        accountant: Option<&Accountant>,
        transcript: &mut Transcript<'_>,
    ) -> Result<NegotiationOutcome, Failure> {
        let [requests, offers] = parties.ads();
        let share = settings.policy.weighted_share();
        let priority = |submitter: &str| accountant?.priority(submitter, share);
        let mut count_request = cycle_progress(requests.len());
        let (mut ranks, mut bad_requests) = (RankWarnings::default(), Vec::new());
        let mut observe = |event: NegotiationEvent<'_>| {
            count_request(&event);
            if self.transcript {
                transcript.record(&event);
            }
            match event {
                NegotiationEvent::NonNumericRank { request, rank } => ranks.add_ports(parties, request, [rank]),
                NegotiationEvent::BadPorts { request, fault, .. } => bad_requests.push((request, fault.clone())),
                _ => {}
            }
            ControlFlow::Continue(())
        };
        let outcome = negotiate(settings, &requests, &offers, &priority, &mut observe);
        let outcome = outcome.map_err(|fault| policy.report_fault(session, fault))?;
        for bad in &outcome.bad_ports {
            parties.offers[bad.index].report_bad_ports(session, &bad.fault)?;
        }
        for (request, fault) in bad_requests {
            parties.requests[request].report_bad_ports(session, &fault)?;
        }
        ranks.add_pairs(parties, settings, matches_of(&outcome.grants));
        ranks.add_mixed(MixedRank::of_requests(parties, settings, 0..parties.requests.len()));
        ranks.report(session);
        Ok(outcome)
    }

    /// Writes the notices, and the matches, the submitters or the transcript.
    fn write_outcome(
        &self,
        session: &Session,
        parties: &Parties,
        settings: &NegotiationSettings,
        outcome: &NegotiationOutcome,
        mut transcript: Transcript<'_>,
    ) -> Result<(), Failure> {
        let (at, output) = (self.ads.match_time(session), self.ads.common.output);
        let grants = outcome.starts.as_ref().map_or(&outcome.grants, |starts| &starts.grants);
        let notice = |grant| parties.notice(grant, &settings.context, at);
        self.notify.write_notices(session, || grants.iter().map(notice).collect())?;
        if self.notify.writes_to_stdout() {
            Ok(())
        } else if self.by_submitter {
            output.write(&submitter_table(outcome))
        } else if self.transcript {
            transcript.end(outcome);
            if let Some(starts) = &outcome.starts {
                let name =
                    |at: usize| outcome.submitters.get(*outcome.submitter_of.get(&at)?).map(|of| of.name.as_str());
                transcript.record_starts(starts, &name);
            }
            if let Some(submitter) = &self.submitter {
                retain_submitter(&mut transcript, outcome, submitter)?;
            }
            transcript.write(&mut out(), output)
        } else {
            let columns = MatchColumns { preempted: true, why: self.why.then_some(&settings.policy) };
            write_match_table(parties, grants, columns, output)
        }
    }

    fn check_options(&self) -> Result<(), Failure> {
        let (notifies, to_stdout) = (self.notify.notify.is_some(), self.notify.writes_to_stdout());
        let stats = self.ads.common.stats;
        refuse_contradictions(&[
            (notifies && self.compare, "--notify reports matches, which --compare does not make"),
            (stats && self.compare, "--compare prints the counters itself: leave --stats out"),
            (to_stdout && self.why, "--why and --notify - both need standard output"),
            (to_stdout && self.transcript, "--transcript and --notify - both need standard output"),
        ])
    }

    /// Reads the accounts of `--usage` or `--userprio`. Returns `None` without both options. If the policy defines no
    /// shares, sets shares by submitter.
    fn load_usage(&self, session: &mut Session, policy: &mut LoadedPolicy) -> Result<Option<Accountant>, Failure> {
        let accountant = match (&self.usage, &self.userprio) {
            (None, None) => return Ok(None),
            (Some(usage), Some(_)) if !accounts::is_new(usage) => {
                return refuse(format!("{usage} exists already: give --userprio only with a new usage file"));
            }
            (_, Some(userprio)) => accounts::read_userprio(session, userprio)?,
            (Some(usage), None) => accounts::read_accounts(session, usage)?,
        };
        if policy.policy.share.is_none() {
            let submitter = if self.userprio.is_some() { HTCONDOR_SUBMITTER } else { "Owner" };
            let submitter = parse_expression(submitter.as_bytes(), ParseOptions::new(session.dialect()));
            policy.policy.share =
                submitter.ok().map(|by| Share { by: by.into(), priorities: Vec::new(), weighted: None });
        }
        policy.set_bounds(session, &accountant);
        Ok(Some(accountant))
    }
}

/// The submitter of a job in HTCondor: its user, or its accounting group with the user's domain.
const HTCONDOR_SUBMITTER: &str =
    "isUndefined(AccountingGroup) ? User : strcat(AccountingGroup, \"@\", split(User, \"@\")[1])";
