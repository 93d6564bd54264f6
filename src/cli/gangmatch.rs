//! `classad gangmatch`: multilateral batch matching.

use std::io::Write;
use std::time::Instant;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use classad::eval::Mentions;
use classad::matching::gang::{Algorithm, Docked, Gang, GangFault, Gangmatcher};
use classad::matching::{Notice, Party};
use serde_json::json;

use super::advertising::Advertising;
use super::input::{self, Identified};
use super::matches::{Common, Reading};
use super::notify::Notify;
use super::output::{self, Cell, OutputForm, Rows, out};
use super::policy::PolicyOptions;
use super::session::Session;
use super::{Failure, Status};

const EXAMPLES: &str = "\
Examples:
  classad gangmatch samples/license/jobs.ad --offers samples/license/machines.ad \\
      --offers samples/license/licenses.ad";

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
    #[arg(long, default_value = "best", value_parser = algorithms())]
    algorithm: Algorithm,
    #[command(flatten)]
    policy: PolicyOptions,
    #[command(flatten)]
    notify: Notify,
    #[command(flatten)]
    advertising: Advertising,
    #[command(flatten)]
    common: Common,
}

/// The names of the algorithms.
fn algorithms() -> impl TypedValueParser<Value = Algorithm> {
    PossibleValuesParser::new(Algorithm::ALL.map(Algorithm::name))
        .map(|name| Algorithm::ALL.into_iter().find(|algorithm| algorithm.name() == name).unwrap_or_default())
}

impl Gangmatch {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let sources = input::sides(session, &self.requests, &self.offers)?;
        let given = self.policy.read(session)?.without_share(session);
        if !given.policy.docking.is_empty() || given.policy.residual.is_some() {
            let message = "gangmatch follows the roots and the order of a policy, not its docking and residual";
            return Err(Failure::Refused(Some(message.to_owned())));
        }
        let ads = self.common.ads(session, sources, Reading::Whole, &Mentions::default())?;
        let [requests, mut offers] = self.advertising.current(session, ads, self.common.id.as_deref())?;
        let start = Instant::now();
        let context = session.context();
        offers.retain(|offer| given.policy.is_offer(&offer.ad, &context));
        let ads: Vec<_> = requests.iter().map(|request| request.ad.clone()).collect();
        let (roots, failures) = given.policy.roots(&ads, &context).map_err(|fault| given.refuse(session, fault))?;
        let ads: Vec<_> = offers.iter().map(|offer| offer.ad.clone()).collect();
        let (matcher, bad) = Gangmatcher::new(&ads, self.common.protocol(session), session.context());
        let mut matcher = matcher.by(self.algorithm, session.options.seed.unwrap_or_default());
        for bad in bad {
            offers[bad.index].bad_ports(session, &bad.fault)?;
        }
        let mut gangs = Vec::new();
        for index in roots {
            let request = &requests[index];
            match matcher.marshal(index, &request.ad) {
                Ok(gang) => gangs.extend(gang),
                Err(GangFault::Ports(fault)) => request.bad_ports(session, &fault)?,
                Err(GangFault::Policy(fault)) => return Err(given.refuse(session, fault)),
            }
            // The first gang will do, if nobody is told of any.
            if session.options.quiet && self.notify.notify.is_none() && !gangs.is_empty() {
                break;
            }
        }
        let at = self.advertising.lifetime.at(session).or(context.now);
        self.notify.write(session, || {
            let offer = |index: usize| Party::of_offer(&offers[index].ad, &offers[index].id, &context);
            let request = |index: usize| Party::new(&requests[index].ad, &requests[index].id, &context);
            gangs.iter().map(|gang| Notice::of_gang(gang, request(gang.request), offer, at)).collect()
        })?;
        let mut out = out();
        if !session.options.quiet && !self.notify.takes_the_output() {
            self.print(&mut out, &gangs, &requests, &offers)?;
        }
        out.flush()?;
        let statistics = matcher.statistics();
        session.failures(statistics.failures + failures);
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
            let objects = gangs.iter().map(|gang| tree(gang, &requests[gang.request].id, offers));
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

/// The tree of a gang as JSON.  Its own list of what is left to write: gangs may be chained a long way.
fn tree(gang: &Gang, request: &str, offers: &[Identified]) -> String {
    enum Task<'a> {
        Text(&'static str),
        Docked(&'a Docked),
    }
    fn below<'a>(ports: &'a [Docked], tasks: &mut Vec<Task<'a>>) {
        for (position, docked) in ports.iter().enumerate().rev() {
            tasks.push(Task::Docked(docked));
            if position > 0 {
                tasks.push(Task::Text(","));
            }
        }
    }
    let mut text = format!("{{\"request\":{},\"ports\":[", json!(request));
    let mut tasks = vec![Task::Text("]}")];
    below(&gang.ports, &mut tasks);
    while let Some(task) = tasks.pop() {
        match task {
            Task::Text(fixed) => text.push_str(fixed),
            Task::Docked(docked) => {
                text.extend([format!(
                    "{{\"label\":{},\"offer\":{},\"link\":{},\"ranks\":{},\"ports\":[",
                    json!(docked.label),
                    json!(offers[docked.offer].id),
                    docked.link,
                    json!([docked.rank, docked.offer_rank]),
                )]);
                tasks.push(Task::Text("]}"));
                below(&docked.ports, &mut tasks);
            }
        }
    }
    text
}
