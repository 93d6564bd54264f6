//! `classad gangmatch`: multilateral batch matching.

use std::io::Write;
use std::time::Instant;

use clap::{Args, ValueEnum};
use classad::matching::gang::{Docked, Gang, Gangmatcher};
use serde_json::{Value as Json, json};

use super::input::Identified;
use super::matches::Common;
use super::output::{self, Cell, OutputForm, Rows, out};
use super::session::Session;
use super::{Failure, Status};

const EXAMPLES: &str = "\
Examples:
  classad gangmatch samples/license/jobs.ad --offers samples/license/machines.ad --offers samples/license/licenses.ad";

/// Match requests with all the offers that their ports need
///
/// Each request in turn gets a gang: an offer docked at each of its ports, and at theirs.  The offers
/// of a gang are used up; a request that cannot have all of them gets none.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Gangmatch {
    /// Files of requests; standard input if there are none
    requests: Vec<String>,
    /// Files of offers
    #[arg(long, value_name = "FILE", required = true)]
    offers: Vec<String>,
    /// How gangs are searched for
    #[arg(long, default_value = "naive")]
    algorithm: Algorithm,
    #[command(flatten)]
    common: Common,
}

/// How gangs are searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Algorithm {
    /// Ports from left to right, candidates in input order
    Naive,
}

impl Gangmatch {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let [requests, offers] = self.common.ads(session, &self.requests, &self.offers)?;
        let start = Instant::now();
        let ads: Vec<_> = offers.iter().map(|offer| offer.ad.clone()).collect();
        let Algorithm::Naive = self.algorithm;
        let (mut matcher, bad) = Gangmatcher::new(&ads, self.common.protocol(session), session.context());
        for bad in bad {
            session.trouble(&format!("offer {} is left out: {}", offers[bad.index].id, bad.fault));
        }
        let mut gangs = Vec::new();
        for (index, request) in requests.iter().enumerate() {
            match matcher.marshal(index, &request.ad) {
                Ok(gang) => gangs.extend(gang),
                Err(fault) => session.trouble(&format!("request {} is left out: {fault}", request.id)),
            }
            if session.options.quiet && !gangs.is_empty() {
                break;
            }
        }
        let mut out = out();
        if !session.options.quiet {
            self.print(&mut out, &gangs, &requests, &offers)?;
        }
        out.flush()?;
        let statistics = matcher.statistics();
        session.failures(statistics.failures);
        if self.common.stats {
            output::statistics(&statistics, start.elapsed().as_secs_f64());
        }
        Ok(Status::of(!gangs.is_empty()))
    }

    fn print(
        &self,
        out: &mut dyn Write,
        gangs: &[Gang],
        requests: &[Identified],
        offers: &[Identified],
    ) -> Result<(), Failure> {
        if let Some(form @ (OutputForm::Json | OutputForm::Jsonl)) = self.common.output {
            let objects = gangs.iter().map(|gang| {
                let ports: Vec<Json> = gang.ports.iter().map(|docked| tree(docked, offers)).collect();
                json!({"request": requests[gang.request].id, "ports": ports})
            });
            return Ok(output::json_array(out, form, objects)?);
        }
        let mut rows = Rows::new(&["request", "offers", "ranks"]);
        for gang in gangs {
            let members = gang.members();
            let ids: Vec<&str> = members.iter().map(|docked| offers[docked.offer].id.as_str()).collect();
            let ranks: Vec<String> = members.iter().map(|d| format!("{}/{}", d.rank, d.offer_rank)).collect();
            let cells = [requests[gang.request].id.clone(), ids.join(","), ranks.join(",")];
            rows.rows.push(cells.map(Cell::from).into());
        }
        rows.write(out, self.common.output, !self.common.no_header)
    }
}

/// A docked offer with its own subgang.
fn tree(docked: &Docked, offers: &[Identified]) -> Json {
    let ports: Vec<Json> = docked.ports.iter().map(|below| tree(below, offers)).collect();
    json!({
        "label": docked.label,
        "offer": offers[docked.offer].id,
        "link": docked.link,
        "ranks": [docked.rank, docked.offer_rank],
        "ports": ports,
    })
}
