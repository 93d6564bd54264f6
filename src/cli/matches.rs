//! `classad match`: bilateral batch matching.

use std::io::Write;
use std::time::Instant;

use clap::{Args, ValueEnum};
use classad::ad::{Ad, Name};
use classad::constraint::Protocol;
use classad::matching::{
    Accelerations, Candidate, Greedy, Match as Pairing, Matchmaker, Notice, Party, Statistics, maximum, stable,
};

use super::advertising::Advertising;
use super::input::{self, Identified};
use super::notify::Notify;
use super::output::{self, OutputForm, Rows, out};
use super::rows::Labels;
use super::session::Session;
use super::what_if::{self, WhatIf};
use super::{Failure, Status, cases, rows};

const EXAMPLES: &str = "\
Examples:
  classad match samples/pool/jobs.long --offers samples/pool/machines.long
  classad match --all samples/pool/jobs.long --offers samples/pool/machines.long --count
  classad match --strategy max samples/memory/jobs.long --offers samples/memory/machines.long
  classad match --what-if 'RequestMemory=RequestMemory/4' samples/pool/jobs.long \\
      --offers samples/pool/machines.long";

/// Match requests with offers, one offer for each request
///
/// Each request in turn takes the offer that it ranks highest among those it is compatible with; of
/// several the one that ranks the request highest, then the first.
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
    notify: Notify,
    #[command(flatten)]
    advertising: Advertising,
    #[command(flatten)]
    common: Common,
}

/// How offers are given to requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Strategy {
    /// Requests in order, each takes its best offer
    Greedy,
    /// No request and offer rank each other higher than what they got
    Stable,
    /// As many requests as possible get an offer
    Max,
}

/// How much of the ads is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// All of them.
    Whole,
    /// What bilateral matching needs, if that can be told.
    Needed,
    /// That, and what the ads say of themselves as advertisements.
    NeededAndAdvertisements,
}

/// What bilateral and gang matching have in common.
#[derive(Args)]
pub struct Common {
    /// The attribute that is an ad's constraint
    #[arg(long, value_name = "NAME")]
    constraint_attr: Option<String>,
    /// The attribute that is an ad's rank
    #[arg(long, value_name = "NAME")]
    rank_attr: Option<String>,
    /// What an ad is called
    #[arg(long, value_name = "EXPR")]
    pub id: Option<String>,
    /// Print counters on standard error
    #[arg(long)]
    pub stats: bool,
    /// The form of the output
    #[arg(short, long, value_name = "FORM")]
    pub output: Option<OutputForm>,
    /// Leave the heading out
    #[arg(long)]
    pub no_header: bool,
    /// Parse all of every ad, and report whatever is bad in it
    #[arg(long)]
    strict_input: bool,
}

impl Common {
    pub fn protocol(&self, session: &Session) -> Protocol {
        Protocol::new(session.dialect()).with(self.constraint_attr.as_deref(), self.rank_attr.as_deref())
    }

    /// Reads requests and offers, in one dialect.
    pub fn ads(
        &self,
        session: &mut Session,
        requests: &[String],
        offers: &[String],
        reading: Reading,
    ) -> Result<[Vec<Identified>; 2], Failure> {
        let stdin = |paths: &[String]| paths.is_empty() || paths.iter().any(|path| path == "-");
        if stdin(requests) && stdin(offers) {
            return Err(Failure::Refused(Some("standard input can be read only once".to_owned())));
        }
        let requests = input::open(session, requests)?;
        let offers = input::open(session, offers)?;
        session.decide_dialect(requests.iter().chain(&offers));
        let id = input::optional(session, "--id", self.id.as_deref())?;
        let labels = Labels { id: id.as_ref(), keeps_advertisements: reading == Reading::NeededAndAdvertisements };
        if reading != Reading::Whole
            && !self.strict_input
            && let Some(ads) = rows::selected(session, [&requests, &offers], &labels, &self.protocol(session))?
        {
            return Ok(ads);
        }
        Ok([input::identified(session, requests, id.as_ref())?, input::identified(session, offers, id.as_ref())?])
    }
}

impl Match {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        if let Some(file) = &self.cases {
            return cases::run(session, file, cases::matching);
        }
        self.check()?;
        let ads = self.common.ads(session, &self.requests, &self.offers, self.reading())?;
        let [requests, offers] = self.advertising.current(session, ads, self.common.id.as_deref())?;
        let ports = Name::new("Ports");
        let with_ports = requests.iter().filter(|request| request.ad.get(&ports).is_some()).count();
        if with_ports > 0 {
            session.note(&format!("{with_ports} requests have Ports, which only gangmatch fills"));
        }
        let start = Instant::now();
        let context = session.context();
        let what_if = WhatIf::new(session, &self.what_if)?;
        let ads = |what_if: &WhatIf| {
            let changed = what_if::changed;
            [changed(&requests, &what_if.requests, &context), changed(&offers, &what_if.offers, &context)]
        };
        let (found, statistics) = self.find(session, &ads(&what_if));
        if !what_if.is_empty() && !session.options.quiet {
            let (before, _) = self.find(session, &ads(&WhatIf::default()));
            let what = if self.takes_nothing() { "pairs" } else { "matches" };
            session.note(&format!("{} {what}; as the ads are: {}", found.len(), before.len()));
        }
        let at = self.advertising.lifetime.at(session).or(context.now);
        self.notify.write(session, || {
            let offer = |index: usize| Party::of_offer(offers[index].advertisement(), &offers[index].id, &context);
            let request = |index: usize| Party::new(requests[index].advertisement(), &requests[index].id, &context);
            found.iter().map(|pairing| Notice::of_pair(pairing, request(pairing.request), offer, at)).collect()
        })?;
        let mut out = out();
        if session.options.quiet || self.notify.takes_the_output() {
        } else if self.count {
            writeln!(out, "{}", found.len())?;
        } else {
            self.print(&mut out, &found, &requests, &offers)?;
        }
        out.flush()?;
        session.failures(statistics.failures);
        if self.common.stats {
            output::statistics(&statistics, start.elapsed().as_secs_f64());
        }
        output::leave([requests, offers]);
        Ok(Status::of(!found.is_empty()))
    }

    /// What has to be read.
    fn reading(&self) -> Reading {
        match (self.what_if.is_empty(), self.notify.notify.is_some() || self.advertising.remembers()) {
            // What is set may refer to anything.
            (false, _) => Reading::Whole,
            (true, true) => Reading::NeededAndAdvertisements,
            (true, false) => Reading::Needed,
        }
    }

    /// Whether what is printed are offers that a request could have, rather than matches.
    fn takes_nothing(&self) -> bool {
        self.all || self.best.is_some()
    }

    /// Refuses what makes no sense together.
    fn check(&self) -> Result<(), Failure> {
        let refuse = |message: &str| Err(Failure::Refused(Some(message.to_owned())));
        if self.strategy != Strategy::Greedy && self.takes_nothing() {
            return refuse("--all and --best give nothing to anybody: --strategy has no use there");
        }
        if self.strategy != Strategy::Greedy && self.no_consume {
            return refuse("if offers are not used up, each request has its best one: --strategy greedy --no-consume");
        }
        if self.notify.notify.is_some() && (self.takes_nothing() || self.no_consume || !self.what_if.is_empty()) {
            return refuse("--notify tells of matches; with --all, --best, --no-consume or --what-if there are none");
        }
        if self.notify.takes_the_output() && self.count {
            return refuse("--count and --notify - both want standard output");
        }
        Ok(())
    }

    /// The pairs that are asked for.
    fn find(&self, session: &Session, [requests, offers]: &[Vec<Ad>; 2]) -> (Vec<Pairing>, Statistics) {
        // The first match will do, if nobody is told of any.
        let enough = |found: &[Pairing]| session.options.quiet && self.notify.notify.is_none() && !found.is_empty();
        let protocol = self.common.protocol(session);
        let mut found: Vec<Pairing> = Vec::new();
        if self.strategy == Strategy::Greedy && !self.takes_nothing() {
            let mut matcher = Greedy::new(offers, protocol, session.context());
            matcher.consume = !self.no_consume;
            for (index, request) in requests.iter().enumerate() {
                found.extend(matcher.best(index, request));
                if enough(&found) {
                    break;
                }
            }
            let statistics = matcher.statistics();
            output::leave(matcher);
            return (found, statistics);
        }
        let mut matcher = Matchmaker::new(offers, protocol, session.context(), Accelerations::ALL);
        let mut lists = Vec::new();
        for (index, request) in requests.iter().enumerate() {
            let list = matcher.candidates(request);
            matcher.statistics.roots += 1;
            if self.takes_nothing() {
                matcher.statistics.matched += u64::from(!list.is_empty());
                found.extend(self.shown(&list).into_iter().map(|candidate| candidate.of(index)));
            } else {
                lists.push(list);
            }
            if enough(&found) {
                break;
            }
        }
        if !self.takes_nothing() {
            found = if self.strategy == Strategy::Stable { stable(&lists) } else { maximum(&lists) };
            matcher.statistics.matched = found.len() as u64;
        }
        (found, matcher.statistics)
    }

    /// What is printed of the offers that a request could have: the best, or all, in the order of the offers.
    fn shown(&self, list: &[Candidate]) -> Vec<Candidate> {
        let most = self.best.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let mut candidates = list[..list.len().min(most)].to_vec();
        if self.all {
            candidates.sort_by_key(|candidate| candidate.offer);
        }
        candidates
    }

    fn print(
        &self,
        out: &mut dyn Write,
        found: &[Pairing],
        requests: &[Identified],
        offers: &[Identified],
    ) -> Result<(), Failure> {
        let mut rows = Rows::new(&["request", "offer", "request_rank", "offer_rank"]);
        rows.rows.extend(found.iter().map(|pairing| {
            vec![
                requests[pairing.request].id.clone().into(),
                offers[pairing.offer].id.clone().into(),
                pairing.request_rank.into(),
                pairing.offer_rank.into(),
            ]
        }));
        rows.write(out, self.common.output, !self.common.no_header)
    }
}
