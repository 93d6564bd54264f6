//! `classad match`: bilateral batch matching.

pub mod what_if;

use std::io::Write;
use std::time::Instant;

use clap::Args;
use classad::matching::negotiate::{Settings, mentions};
use classad::matching::policy::PolicyFault;

use crate::cli::args::acceleration::Accelerating;
use crate::cli::args::advertising::Advertising;
use crate::cli::args::matching::{Common, Reading};
use crate::cli::args::notify::Notify;
use crate::cli::args::policy::PolicyOptions;
use crate::cli::io::cases;
use crate::cli::io::input::{self, Identified};
use crate::cli::io::parties::Parties;
use crate::cli::matching_run::{Found, Strategy, Task, Wanted};
use crate::cli::render::output::{self, out};
use crate::cli::render::rows::Rows;
use crate::cli::session::Session;
use crate::cli::{Failure, Status};
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
pub struct Match {
    /// Files of requests; standard input if there are none
    requests: Vec<String>,
    /// Files of offers
    #[arg(long, value_name = "FILE", required_unless_present = "cases")]
    offers: Vec<String>,
    /// How offers are given to requests
    #[arg(long, default_value = "greedy")]
    strategy: Strategy,
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
    policy: PolicyOptions,
    #[command(flatten)]
    accelerating: Accelerating,
    #[command(flatten)]
    notify: Notify,
    #[command(flatten)]
    advertising: Advertising,
    #[command(flatten)]
    common: Common,
}

impl Match {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        if let Some(file) = &self.cases {
            return cases::run(session, file, cases::matching);
        }
        self.check()?;
        let sources = input::sides(session, &self.requests, &self.offers)?;
        let given = self.policy.read(session)?.without_share(session);
        if self.strategy != Strategy::Greedy && given.policy.residual.is_some() {
            let message = "what remains of an offer goes to later requests: `residual` needs --strategy greedy";
            return Err(Failure::Refused(Some(message.to_owned())));
        }
        let also = mentions(&given.policy, session.dialect());
        let ads = self.common.ads(session, sources, self.reading(), &also)?;
        let parties = Parties::new(self.advertising.current(session, ads, self.common.id.as_deref())?);
        let overview = parties.overview(session);
        let start = Instant::now();
        let context = session.context();
        let what_if = WhatIf::new(session, &self.what_if)?;
        let task = Task {
            wanted: self.wanted(session),
            settings: Settings {
                policy: given.policy.clone(),
                protocol: self.common.protocol(session),
                context: context.clone(),
                accelerations: self.accelerating.accelerations(),
            },
            has_rules: given.decides() || overview.counts || !what_if.is_empty(),
            is_clustered: parties.requests.first().is_none_or(Identified::is_selected),
            distinct: overview.distinct as u64,
        };
        let found = |what_if: &WhatIf| {
            let changed = what_if::changed;
            let requests = changed(&parties.requests, &what_if.requests, &context);
            task.find(&[requests, changed(&parties.offers, &what_if.offers, &context)])
        };
        let refuse = |session: &mut Session, fault: PolicyFault| given.refuse(session, fault);
        let here = found(&what_if).map_err(|fault| refuse(session, fault))?;
        if !what_if.is_empty() && !session.options.quiet {
            let before = found(&WhatIf::default()).map_err(|fault| refuse(session, fault))?;
            let what = if task.wanted.takes_nothing() { "pairs" } else { "matches" };
            session.note(&format!("{} {what}; as the ads are: {}", here.pairings.len(), before.pairings.len()));
        }
        let at = self.advertising.lifetime.at(session).or(context.now);
        self.notify.write(session, || {
            let pairings = here.pairings.iter().enumerate();
            pairings.map(|(at_pair, pairing)| parties.notice(pairing, here.part(at_pair), &context, at)).collect()
        })?;
        let mut out = out();
        if session.options.quiet || self.notify.takes_the_output() {
        } else if self.count {
            writeln!(out, "{}", here.pairings.len())?;
        } else {
            self.print(&mut out, &here, &parties)?;
        }
        out.flush()?;
        given.tell_unplaced(session, &here.unplaced);
        session.failures(here.statistics.failures);
        if self.common.stats {
            output::statistics(&here.statistics, start.elapsed().as_secs_f64());
        }
        output::leave(parties);
        Ok(Status::of(!here.pairings.is_empty()))
    }

    /// Returns which pairs to find.
    fn wanted(&self, session: &Session) -> Wanted {
        Wanted {
            strategy: self.strategy,
            all: self.all,
            best: self.best.map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
            consume: !self.no_consume,
            one_will_do: session.options.quiet && self.notify.notify.is_none(),
        }
    }

    /// Returns how much of the ads to read.
    fn reading(&self) -> Reading {
        match (self.what_if.is_empty(), self.notify.notify.is_some() || self.advertising.remembers()) {
            // A --what-if expression may refer to any attribute.
            (false, _) => Reading::Whole,
            (true, true) => Reading::NeededAndAdvertisements,
            (true, false) => Reading::Needed,
        }
    }

    /// Refuses options that contradict each other.
    fn check(&self) -> Result<(), Failure> {
        let refuse = |message: &str| Err(Failure::Refused(Some(message.to_owned())));
        let takes_nothing = self.all || self.best.is_some();
        if self.strategy != Strategy::Greedy && takes_nothing {
            return refuse("--all and --best give nothing to anybody: --strategy has no use there");
        }
        if self.strategy != Strategy::Greedy && self.no_consume {
            return refuse("if offers are not used up, each request has its best one: --strategy greedy --no-consume");
        }
        if self.notify.notify.is_some() && (takes_nothing || self.no_consume || !self.what_if.is_empty()) {
            return refuse("--notify tells of matches; with --all, --best, --no-consume or --what-if there are none");
        }
        if self.notify.takes_the_output() && self.count {
            return refuse("--count and --notify - both want standard output");
        }
        Ok(())
    }

    fn print(&self, out: &mut dyn Write, found: &Found, parties: &Parties) -> Result<(), Failure> {
        let mut rows = Rows::new(&["request", "offer", "request_rank", "offer_rank"]);
        rows.rows.extend(found.pairings.iter().enumerate().map(|(at, pairing)| {
            let (unit, part) = found.part(at);
            vec![
                parties.request(pairing.request, unit).into(),
                parties.offer(pairing.offer, part).into(),
                pairing.request_rank.into(),
                pairing.offer_rank.into(),
            ]
        }));
        rows.write(out, self.common.output, !self.common.no_header)
    }
}
