//! `classad match`: bilateral batch matching.

use std::io::Write;
use std::time::Instant;

use clap::{Args, ValueEnum};
use classad::constraint::Protocol;
use classad::matching::{Greedy, Match as Pairing};

use super::input::{self, Identified};
use super::output::{self, OutputForm, Rows, out};
use super::session::Session;
use super::{Failure, Status, cases, rows};

const EXAMPLES: &str = "\
Examples:
  classad match samples/pool/jobs.long --offers samples/pool/machines.long
  classad match --all samples/pool/jobs.long --offers samples/pool/machines.long --count";

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
    #[arg(long)]
    all: bool,
    /// A matched offer stays for later requests
    #[arg(long)]
    no_consume: bool,
    /// Print only how many there are
    #[arg(long)]
    count: bool,
    /// Read cases {"id","left","right"} from a file of JSON lines
    #[arg(long, value_name = "FILE")]
    cases: Option<String>,
    #[command(flatten)]
    common: Common,
}

/// How offers are given to requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Strategy {
    /// Requests in order, each takes its best offer
    Greedy,
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

    /// Reads requests and offers, in one dialect; only what bilateral matching reads, if it selects.
    pub fn ads(
        &self,
        session: &mut Session,
        requests: &[String],
        offers: &[String],
        selects: bool,
    ) -> Result<[Vec<Identified>; 2], Failure> {
        let stdin = |paths: &[String]| paths.is_empty() || paths.iter().any(|path| path == "-");
        if stdin(requests) && stdin(offers) {
            return Err(Failure::Refused(Some("standard input can be read only once".to_owned())));
        }
        let requests = input::open(session, requests)?;
        let offers = input::open(session, offers)?;
        session.decide_dialect(requests.iter().chain(&offers));
        let id = input::optional(session, "--id", self.id.as_deref())?;
        if selects
            && !self.strict_input
            && let Some(ads) = rows::selected(session, [&requests, &offers], &self.protocol(session), id.as_ref())?
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
        let [requests, offers] = self.common.ads(session, &self.requests, &self.offers, true)?;
        let with_ports = requests.iter().filter(|request| request.ad.get_str("Ports").is_some()).count();
        if with_ports > 0 {
            session.note(&format!("{with_ports} requests have Ports, which only gangmatch fills"));
        }
        let start = Instant::now();
        let ads: Vec<_> = offers.iter().map(|offer| offer.ad.clone()).collect();
        let Strategy::Greedy = self.strategy;
        let mut matcher = Greedy::new(&ads, self.common.protocol(session), session.context());
        matcher.consume = !self.no_consume;
        let mut found: Vec<Pairing> = Vec::new();
        for (index, request) in requests.iter().enumerate() {
            if self.all {
                matcher.each_compatible(index, &request.ad, |pairing| found.push(pairing));
            } else {
                found.extend(matcher.best(index, &request.ad));
            }
            if session.options.quiet && !found.is_empty() {
                break;
            }
        }
        let mut out = out();
        if self.count && !session.options.quiet {
            writeln!(out, "{}", found.len())?;
        } else if !session.options.quiet {
            self.print(&mut out, &found, &requests, &offers)?;
        }
        out.flush()?;
        session.failures(matcher.statistics().failures);
        if self.common.stats {
            output::statistics(&matcher.statistics(), start.elapsed().as_secs_f64());
        }
        Ok(Status::of(!found.is_empty()))
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
