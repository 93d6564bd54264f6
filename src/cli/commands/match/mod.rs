//! `classad match`: bilateral batch matching.

pub mod what_if;

use std::io::Write;
use std::time::Instant;

use clap::Args;
use classad::matching::negotiate::{NegotiationSettings, negotiation_names};
use classad::matching::policy::PolicyFault;

use crate::cli::args::acceleration::AccelerationArgs;
use crate::cli::args::advertising::AdvertisingArgs;
use crate::cli::args::matching::{MatchArgs, ReadMode};
use crate::cli::args::notify::NotifyArgs;
use crate::cli::args::policy::PolicyArgs;
use crate::cli::io::cases;
use crate::cli::io::input::{self, NamedAd};
use crate::cli::io::parties::Parties;
use crate::cli::matching_run::{MatchStrategy, MatchingRun, PairSelection, PairingResult};
use crate::cli::render::output::{self, out};
use crate::cli::render::rows::ResultTable;
use crate::cli::session::Session;
use crate::cli::{Failure, Status, refuse};
use what_if::WhatIf;

const EXAMPLES: &str = "\
Examples:
  classad match samples/pool/jobs.long --offers samples/pool/machines.long
  classad match --all samples/pool/jobs.long --offers samples/pool/machines.long --count
  classad match --strategy max samples/memory/jobs.long --offers samples/memory/machines.long
  classad match --what-if 'RequestMemory=RequestMemory/4' samples/pool/jobs.long \\
      --offers samples/pool/machines.long
  classad match samples/pool/jobs.long --offers samples/pool/machines.long \\
      --order JobPrio --dock -label.Memory";

/// Match requests with offers, one offer for each request
///
/// Each request in turn takes the offer that it ranks highest among those it is compatible with; of
/// several the one that ranks the request highest, then the first. A policy may have it otherwise: its roots,
/// order, docking and residual count here, its share in `negotiate`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct MatchCommand {
    /// Files of requests; standard input if there are none
    requests: Vec<String>,
    /// Files of offers
    #[arg(long, value_name = "FILE", required_unless_present = "cases")]
    offers: Vec<String>,
    /// How offers are given to requests
    #[arg(long, default_value = "greedy")]
    strategy: MatchStrategy,
    /// Print every compatible pair; nothing is taken
    #[arg(long, conflicts_with = "best")]
    all: bool,
    /// Print the N best offers for each request, best first; nothing is taken
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    best: Option<u64>,
    /// A matched offer stays for later requests
    #[arg(long)]
    no_consume: bool,
    /// Print only how many there are
    #[arg(long)]
    count: bool,
    /// Match as if every request had this attribute, or, for offer.NAME, every offer; NAME in EXPR is what an ad has
    #[arg(long, value_name = "NAME=EXPR", allow_hyphen_values = true)]
    what_if: Vec<String>,
    /// Read cases {"id","left","right"} from a file of JSON lines
    #[arg(long, value_name = "FILE")]
    cases: Option<String>,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    accelerating: AccelerationArgs,
    #[command(flatten)]
    notify: NotifyArgs,
    #[command(flatten)]
    advertising: AdvertisingArgs,
    #[command(flatten)]
    common: MatchArgs,
}

impl MatchCommand {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        if let Some(file) = &self.cases {
            return cases::run(session, file, cases::match_pair);
        }
        self.check_options()?;
        let sources = input::open_sides(session, &self.requests, &self.offers)?;
        let given = self.policy.read(session)?.without_share(session);
        if self.strategy != MatchStrategy::Greedy && given.policy.residual.is_some() {
            let message = "what remains of an offer goes to later requests: `residual` needs --strategy greedy";
            return refuse(message);
        }
        let also = negotiation_names(&given.policy, session.dialect());
        let ads = self.common.read_ads(session, sources, self.read_mode(), &also)?;
        let parties = Parties::new(self.advertising.select_current(session, ads, self.common.id.as_deref())?);
        let overview = parties.summarize_requests(session);
        let start = Instant::now();
        let context = session.context();
        let what_if = WhatIf::new(session, &self.what_if)?;
        let task = MatchingRun {
            selection: self.pairing_options(session),
            settings: NegotiationSettings {
                policy: given.policy.clone(),
                protocol: self.common.protocol(session),
                context: context.clone(),
                accelerations: self.accelerating.accelerations(),
            },
            follows_policy: given.affects_matching() || overview.has_resource_counts || !what_if.is_empty(),
            has_shared_ads: parties.requests.first().is_none_or(NamedAd::is_projected),
            distinct_requests: overview.distinct_ads as u64,
        };
        let found = |what_if: &WhatIf| {
            let changed = what_if::with_definitions;
            let requests = changed(&parties.requests, &what_if.requests, &context);
            task.find_pairs(&[requests, changed(&parties.offers, &what_if.offers, &context)])
        };
        let refuse = |session: &mut Session, fault: PolicyFault| given.report_fault(session, fault);
        let here = found(&what_if).map_err(|fault| refuse(session, fault))?;
        if !what_if.is_empty() && !session.options.quiet {
            let before = found(&WhatIf::default()).map_err(|fault| refuse(session, fault))?;
            let what = if task.selection.lists_candidates() { "pairs" } else { "matches" };
            session.note(&format!("{} {what}; as the ads are: {}", here.pairings.len(), before.pairings.len()));
        }
        let at = self.advertising.lifetime.expiry_time(session).or(context.now);
        self.notify.write_notices(|| {
            let pairings = here.pairings.iter().enumerate();
            pairings
                .map(|(at_pair, pairing)| parties.pair_notice(pairing, here.unit_and_part(at_pair), &context, at))
                .collect()
        })?;
        if self.notify.writes_to_stdout() {
        } else if self.count {
            writeln!(out(), "{}", here.pairings.len())?;
        } else {
            self.print(&here, &parties)?;
        }
        given.note_discarding_components(session, &here.discarding_components);
        session.report_budget_failures(here.statistics.failures);
        if self.common.stats {
            output::print_counters(here.statistics, start.elapsed().as_secs_f64());
        }
        output::leak_on_exit(parties);
        Ok(Status::of(!here.pairings.is_empty()))
    }

    /// Translates the options into a [`PairSelection`]. With `--quiet` the first pair ends the search, unless
    /// `--notify` needs all pairs.
    fn pairing_options(&self, session: &Session) -> PairSelection {
        PairSelection {
            strategy: self.strategy,
            all_pairs: self.all,
            max_per_request: self.best.map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
            consume: !self.no_consume,
            stops_at_first: session.options.quiet && self.notify.notify.is_none(),
        }
    }

    /// Returns which attributes of the ads to read.
    fn read_mode(&self) -> ReadMode {
        match (self.what_if.is_empty(), self.notify.notify.is_some() || self.advertising.reads_match_records()) {
            // A --what-if expression may refer to any attribute.
            (false, _) => ReadMode::Whole,
            (true, true) => ReadMode::SelectiveWithAdvertisements,
            (true, false) => ReadMode::Selective,
        }
    }

    /// Refuses options that contradict each other.
    fn check_options(&self) -> Result<(), Failure> {
        let takes_nothing = self.all || self.best.is_some();
        if self.strategy != MatchStrategy::Greedy && takes_nothing {
            return refuse("--all and --best give nothing to anybody: --strategy has no use there");
        }
        if self.strategy != MatchStrategy::Greedy && self.no_consume {
            return refuse("if offers are not used up, each request has its best one: --strategy greedy --no-consume");
        }
        if self.notify.notify.is_some() && (takes_nothing || self.no_consume || !self.what_if.is_empty()) {
            return refuse("--notify tells of matches; with --all, --best, --no-consume or --what-if there are none");
        }
        if self.notify.writes_to_stdout() && self.count {
            return refuse("--count and --notify - both want standard output");
        }
        Ok(())
    }

    fn print(&self, found: &PairingResult, parties: &Parties) -> Result<(), Failure> {
        let mut rows = ResultTable::new(&["request", "offer", "request_rank", "offer_rank"]);
        rows.rows.extend(found.pairings.iter().enumerate().map(|(at, pairing)| {
            let (unit, part) = found.unit_and_part(at);
            vec![
                parties.request_name(pairing.request, unit).into(),
                parties.offer_name(pairing.offer, part).into(),
                pairing.request_rank.into(),
                pairing.offer_rank.into(),
            ]
        }));
        self.common.output.write(&rows)
    }
}
