//! `classad match`: bilateral batch matching.

mod share;

use std::io::Write;
use std::time::Instant;

use clap::Args;
use classad::matching::negotiate::{GangSettings, Grant, NegotiationSettings, PortUse, negotiation_names};
use classad::text::{counted, with_commas};
use indexmap::IndexSet;

use crate::cli::args::acceleration::AccelerationArgs;
use crate::cli::args::advertising::{AdvertisingArgs, SlotSelection};
use crate::cli::args::notify::NotifyArgs;
use crate::cli::args::policy::{LoadedPolicy, PolicyArgs, PolicyConfigArgs};
use crate::cli::args::share::ShareArgs;
use crate::cli::found_pairs::{FoundPairs, MatchStrategy};
use crate::cli::io::cases;
use crate::cli::io::input;
use crate::cli::io::partial::ShareInput;
use crate::cli::io::parties::Parties;
use crate::cli::io::source::AdSource;
use crate::cli::io::what_if::WhatIf;
use crate::cli::matching_run::{MatchingRun, PairSelection};
use crate::cli::outcome::{Failure, Status, refuse, refuse_contradictions};
use crate::cli::rank_warnings::{MixedRank, RankWarnings};
use crate::cli::render::explanation::cause_entry::MAX_NAMED;
use crate::cli::render::gains_and_losses::gains_and_losses;
use crate::cli::render::match_table::{MatchColumns, write_match_table, write_pair_table};
use crate::cli::render::output::{self, out};
use crate::cli::session::Session;

const EXAMPLES: &str = "\
Examples:
  classad match samples/pool/jobs.long --pool samples/pool/machines.long
  classad match --all samples/pool/jobs.long --pool samples/pool/machines.long --count
  classad match --strategy max samples/memory/jobs.long --pool samples/memory/machines.long
  classad match --what-if 'RequestMemory=RequestMemory/4' samples/pool/jobs.long \\
      --pool samples/pool/machines.long
  classad match samples/pool/jobs.long --pool samples/pool/machines.long \\
      --order JobPrio --dock -label.Memory";

/// Match requests with offers, one offer for each request
///
/// Requests are served in order. Each request gets the compatible offer that it ranks highest, of the offers that are
/// left. Ties go to the offer that ranks the request highest, then to the first offer. --strategy or a policy can
/// change this. `match` ignores the `share` of a policy.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct MatchCommand {
    /// Files of requests; without files, read standard input
    requests: Vec<String>,
    /// Files of offers
    #[arg(long, value_name = "FILE", required_unless_present = "cases", alias = "offers")]
    pool: Vec<String>,
    /// How to assign offers to requests
    #[arg(long, default_value = "greedy")]
    strategy: MatchStrategy,
    /// Print every compatible pair
    #[arg(long, conflicts_with = "best")]
    all: bool,
    /// Print the N best offers for each request; an offer can occur several times
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    best: Option<u64>,
    /// Let several requests match the same offer
    #[arg(long)]
    no_consume: bool,
    /// Also print the next best offer of each match, and why it was not chosen
    #[arg(long, conflicts_with_all = ["all", "best", "no_consume", "count", "cases"])]
    why: bool,
    /// Print only the number of matches; with --all or --best, of pairs
    #[arg(long)]
    count: bool,
    /// Set an attribute of every request before matching (offer.NAME: of every offer). In EXPR, NAME is the old value
    #[arg(long, value_name = "NAME=EXPR", allow_hyphen_values = true)]
    what_if: Vec<String>,
    /// Match the pairs of ads in FILE, and print a line of JSON for each. Each line of FILE looks like `{"id": 1, "left":
    /// "[A = 1]", "right": "[B = 2]"}`
    #[arg(long, value_name = "FILE")]
    cases: Option<String>,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    policy_config: PolicyConfigArgs,
    #[command(flatten)]
    accelerating: AccelerationArgs,
    #[command(flatten)]
    notify: NotifyArgs,
    #[command(flatten)]
    share: ShareArgs,
    #[command(flatten)]
    ads: AdvertisingArgs,
}

impl MatchCommand {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        self.share.begin(session, self.share_refusal())?;
        if let Some(file) = &self.cases {
            return cases::run(session, file, cases::match_pair);
        }
        self.check_options()?;
        let sources = input::open_sides(session, &self.requests, &self.pool)?;
        input::note_files_of_both_sides(session, &sources);
        let settings =
            self.policy.file().into_iter().chain(self.policy_config.config.iter()).chain(self.ads.matched.files());
        let share = self.share.input(session, &sources, settings)?;
        let policy = self.policy_config.read_policy(session, &self.policy)?.without_share(session);
        if self.strategy != MatchStrategy::Greedy && policy.policy.residual.is_some() {
            return refuse("`residual` of the policy needs --strategy greedy");
        }
        let parties = self.read_parties(session, sources, &policy)?;
        let start = Instant::now();
        let context = session.context();
        let run = self.matching_run(session, &parties, &policy, share.as_ref());
        let what_if = WhatIf::new(session, &self.what_if)?;
        what_if.note_misspelt(session, &parties);
        let find = |session: &mut Session, what_if: &WhatIf| {
            let found = run.find_pairs(&what_if.apply(&parties, &context));
            found.map_err(|fault| policy.report_fault(session, fault))
        };
        let found = find(session, &what_if)?;
        if let Some(input) = share {
            return self.write_share(session, input, (&parties, &policy), &run, &found);
        }
        if !self.what_if.is_empty() && !session.options.quiet {
            let actual = find(session, &WhatIf::default())?;
            note_difference(session, &parties, &run.selection, [&actual, &found]);
        }
        self.write_matches(session, &parties, &run, &found)?;
        warn_of_ranks(session, &parties, &run, &found);
        let outcome = &found.outcome;
        note_preempting(session, &outcome.grants);
        policy.note_discarding_components(session, &outcome.unordered_components);
        session.report_budget_failures(outcome.statistics.failures);
        if self.ads.common.stats {
            output::print_counters(outcome.statistics, start.elapsed().as_secs_f64());
        }
        output::leak_on_exit(parties);
        Ok(Status::of(found.count > 0))
    }

    /// Reads the ads that take part.
    fn read_parties(
        &self,
        session: &mut Session,
        sources: [Vec<AdSource>; 2],
        policy: &LoadedPolicy,
    ) -> Result<Parties, Failure> {
        let also = negotiation_names(&policy.policy, session.dialect());
        let reading = if self.what_if.is_empty() {
            self.ads.selective_mode(&self.notify)
        } else {
            // The expression of --what-if may refer to any attribute.
            AdvertisingArgs::whole_mode(&self.notify)
        };
        let slots = SlotSelection::of_policy(&policy.policy);
        Ok(Parties::new(self.ads.read_current(session, sources, reading, &also, slots)?))
    }

    /// Makes the run that finds the pairs. Notes requests whose ports are ignored.
    fn matching_run(
        &self,
        session: &Session,
        parties: &Parties,
        policy: &LoadedPolicy,
        share: Option<&ShareInput>,
    ) -> MatchingRun {
        let settings = NegotiationSettings {
            accelerations: self.accelerating.accelerations(),
            finds_runner_up: self.why,
            gangs: GangSettings { ports: PortUse::Ignored, ..GangSettings::default() },
            ..NegotiationSettings::new(policy.policy.clone(), self.ads.common.protocol(session), session.context())
        };
        let selection = PairSelection { share: share.map(|input| input.share), ..self.selection(session) };
        let mut run = MatchingRun::new(session, parties, selection, settings);
        run.follows_policy |= !self.what_if.is_empty() || self.why;
        if run.requests_with_ports > 0 {
            let requests = counted(run.requests_with_ports, "request");
            let verb = if run.requests_with_ports == 1 { "has" } else { "have" };
            session.note(&format!(
                "{requests} {verb} Ports, which `match` ignores; `negotiate` and `gangmatch` fill ports"
            ));
        }
        run
    }

    /// Writes the notices, and the matches, the pairs or their number.
    fn write_matches(
        &self,
        session: &Session,
        parties: &Parties,
        run: &MatchingRun,
        found: &FoundPairs,
    ) -> Result<(), Failure> {
        let (grants, context, at) = (&found.outcome.grants, session.context(), self.ads.match_time(session));
        let notice = |grant| parties.notice(grant, &context, at);
        self.notify.write_notices(session, || grants.iter().map(notice).collect())?;
        let output = self.ads.common.output;
        if self.notify.writes_to_stdout() {
            Ok(())
        } else if self.count {
            Ok(writeln!(out(), "{}", found.count)?)
        } else if run.selection.lists_candidates() {
            write_pair_table(parties, found.pairs(), &context, output)
        } else {
            let columns = MatchColumns { preempted: false, why: self.why.then_some(&run.settings.policy) };
            write_match_table(parties, grants, columns, output)
        }
    }

    /// Translates the options into a [`PairSelection`]. With `--quiet` the first pair ends the search, unless
    /// `--notify` needs all pairs.
    fn selection(&self, session: &Session) -> PairSelection {
        PairSelection {
            strategy: self.strategy,
            all_pairs: self.all,
            max_per_request: self.best.map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
            keeps_offers: self.no_consume,
            counts_only: self.count,
            stops_at_first: session.options.quiet && self.notify.notify.is_none(),
            share: None,
        }
    }

    fn check_options(&self) -> Result<(), Failure> {
        let is_greedy = self.strategy == MatchStrategy::Greedy;
        let lists_only = self.all || self.best.is_some();
        let takes_nothing = lists_only || self.no_consume || !self.what_if.is_empty();
        refuse_contradictions(&[
            (!is_greedy && lists_only, "--all and --best assign no offers: leave --strategy out"),
            (!is_greedy && self.no_consume, "--no-consume needs --strategy greedy"),
            (
                self.notify.notify.is_some() && takes_nothing,
                "--notify reports matches, which --all, --best, --no-consume and --what-if do not make",
            ),
            (!is_greedy && self.why, "--why needs --strategy greedy"),
            (self.notify.writes_to_stdout() && self.why, "--why and --notify - both need standard output"),
            (self.notify.writes_to_stdout() && self.count, "--count and --notify - both need standard output"),
        ])
    }
}

/// Warns of ranks that count as 0.
fn warn_of_ranks(session: &Session, parties: &Parties, run: &MatchingRun, found: &FoundPairs) {
    let mut ranks = RankWarnings::default();
    ranks.add_pairs(parties, &run.settings, found.pairs());
    let all = if run.selection.lists_candidates() { 0..0 } else { 0..parties.requests.len() };
    let requests = found.lists.iter().map(|(request, _)| *request).chain(all);
    ranks.add_mixed(MixedRank::of_requests(parties, &run.settings, requests));
    ranks.report(session);
}

/// Notes how many matches take an offer from a job.
fn note_preempting(session: &Session, grants: &[Grant]) {
    let preempts = |grant: &&Grant| grant.offers.iter().any(|offer| offer.preempted.is_some());
    let preempting = grants.iter().filter(preempts).count();
    if preempting > 0 {
        let all = with_commas(grants.len());
        session.note(&format!(
            "matches that preempt a job: {} of {all}; `negotiate` names the users of these jobs",
            with_commas(preempting)
        ));
    }
}

/// Notes how many pairs there are with the hypothetical attributes and without, and which requests gain or lose an offer.
fn note_difference(session: &Session, parties: &Parties, selection: &PairSelection, [before, after]: [&FoundPairs; 2]) {
    let (what, uses) = match selection.lists_candidates() {
        true => ("pairs", ""),
        false if selection.keeps_offers => ("matches", ""),
        false => ("matches", "; each offer, or each part of it, goes to one request"),
    };
    session.note(&format!("{what}: {} with the change, {} without it{uses}", after.count, before.count));
    if selection.lists_candidates() && selection.counts_only {
        return;
    }
    let served = |found: &FoundPairs| -> IndexSet<usize> {
        let granted = found.outcome.grants.iter().map(|grant| grant.request);
        granted.chain(found.lists.iter().map(|(request, _)| *request)).collect()
    };
    let [before, after] = [served(before), served(after)];
    let names = |one: &IndexSet<usize>, other: &IndexSet<usize>| -> Vec<&str> {
        let mut changed: Vec<usize> = one.difference(other).copied().collect();
        changed.sort_unstable();
        changed.into_iter().map(|request| parties.requests[request].id()).collect()
    };
    let most = if session.options.verbose == 0 { MAX_NAMED } else { usize::MAX };
    session.note(&gains_and_losses(&names(&after, &before), &names(&before, &after), ["request", "an offer"], most));
}
