//! `classad gangmatch`: multilateral batch matching.

use std::io::Write;
use std::time::Instant;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use classad::eval::{Context, FreeNames};
use classad::explain::GangReport;
use classad::matching::gang::{Algorithm, Gang, GangFault, Gangmatcher};
use classad::matching::policy::PolicyFault;
use serde_json::json;

use crate::cli::args::advertising::AdvertisingArgs;
use crate::cli::args::matching::{MatchArgs, ReadMode};
use crate::cli::args::notify::NotifyArgs;
use crate::cli::args::policy::{LoadedPolicy, PolicyArgs};
use crate::cli::io::input;
use crate::cli::io::match_records::RECORD_VERSION;
use crate::cli::io::parties::Parties;
use crate::cli::render::diagnostics::single_line;
use crate::cli::render::explanation::gangs;
use crate::cli::render::gang_writer::GangWriter;
use crate::cli::render::json::{JoinedRecord, JsonValueWriter};
use crate::cli::render::output::{self, OutputForm, out};
use crate::cli::render::progress;
use crate::cli::session::Session;
use crate::cli::{Failure, Status, refuse};

const EXAMPLES: &str = "\
Examples:
  classad gangmatch samples/license/jobs.ad --offers samples/license/machines.ad \\
      --offers samples/license/licenses.ad
  classad gangmatch samples/gangs/jobs.ad --offers samples/gangs/offers.ad \\
      --policy samples/gangs/policy.yaml -o tree
  classad gangmatch samples/multiprocessor/client.ad --offers samples/multiprocessor/service.ad \\
      --offers samples/multiprocessor/nodes.ad --all
  classad gangmatch samples/papers/thesis-figure-8-two-hosts.ad \\
      --offers samples/gangs/hosts.ad --limit 2 -o json
  classad gangmatch samples/license/jobs.ad --offers samples/license/machines.ad \\
      --offers samples/license/licenses.ad --explain";

/// Match requests with all the offers that their ports need
///
/// Each request in turn gets a gang: an offer docked at each of its ports, and at theirs. The gang is the one that the
/// request prefers: the best offer at its first port with which all the others can be filled, then at its second.
/// The offers of a gang are used up; a request that cannot have all of them gets none. Which ports of a group,
/// `[ Ports = {...}; Min = 1; Max = 1 ]`, are filled is up to the matchmaker: as many as can be, the first ones first.
///
/// On a terminal gangs are printed as trees: each port with the offer docked there, and below it the ports of that.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Gangmatch {
    /// Files of requests; standard input if there are none
    requests: Vec<String>,
    /// Files of offers
    #[arg(long, value_name = "FILE", required = true)]
    offers: Vec<String>,
    /// How gangs are searched for: by `best`, as ranks or a docking vector have it; the others, of the thesis, take the
    /// first gang that they find
    #[arg(long, default_value = "best", hide_default_value = true, value_parser = algorithm_parser())]
    algorithm: Algorithm,
    /// Print every gang that each request could have, the best first; nothing is taken
    #[arg(long, conflicts_with = "algorithm")]
    all: bool,
    /// Print the N best gangs that each request could have; nothing is taken
    #[arg(long, value_name = "N", conflicts_with_all = ["all", "algorithm"], value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
    /// Print for each request without a gang what keeps it from one, instead of the gangs
    #[arg(long, conflicts_with_all = ["all", "limit"])]
    explain: bool,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    notify: NotifyArgs,
    #[command(flatten)]
    advertising: AdvertisingArgs,
    #[command(flatten)]
    common: MatchArgs,
}

/// Returns the parser of `--algorithm`, which accepts the names of [`Algorithm::ALL`].
fn algorithm_parser() -> impl TypedValueParser<Value = Algorithm> {
    PossibleValuesParser::new(Algorithm::ALL.map(Algorithm::name))
        .map(|name| Algorithm::ALL.into_iter().find(|algorithm| algorithm.name() == name).unwrap_or_default())
}

impl Gangmatch {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let sources = input::open_sides(session, &self.requests, &self.offers)?;
        let given = self.policy.read(session)?.without_share(session);
        self.check_options(&given)?;
        let ads = self.common.read_ads(session, sources, ReadMode::Whole, &FreeNames::default())?;
        let [requests, mut offers] = self.advertising.select_current(session, ads, self.common.id.as_deref())?;
        let start = Instant::now();
        let context = session.context();
        offers.retain(|offer| given.policy.is_offer(&offer.ad, &context));
        let parties = Parties::new([requests, offers]);
        let [requests, offers] = parties.ads();
        let (roots, failures) =
            given.policy.roots(&requests, &context).map_err(|fault| given.report_fault(session, fault))?;
        let (matcher, bad) = Gangmatcher::new(&offers, self.common.protocol(session), session.context());
        let matcher = matcher.with_algorithm(self.algorithm, session.options.seed.unwrap_or_default());
        let mut matcher =
            matcher.with_docking_vector(given.policy.docking.clone()).with_residual(given.policy.residual.clone());
        for bad in bad {
            parties.offers[bad.index].report_bad_ports(session, &bad.fault)?;
        }
        let mut run = GangmatchRun { command: self, session, given: &given, parties: &parties, context, roots: &roots };
        let found = if self.lists_only() { run.enumerate(&mut matcher)? } else { run.marshal(&mut matcher)? };
        let statistics = matcher.statistics();
        session.report_budget_failures(statistics.failures + failures);
        if self.common.stats {
            output::print_counters(statistics, start.elapsed().as_secs_f64());
        }
        Ok(Status::of(found))
    }

    /// Whether the command lists possible gangs without allocating offers.
    fn lists_only(&self) -> bool {
        self.all || self.limit.is_some()
    }

    /// Refuses options that contradict each other.
    fn check_options(&self, given: &LoadedPolicy) -> Result<(), Failure> {
        if self.notify.notify.is_some() && self.lists_only() {
            return refuse("--notify tells of matches; with --all or --limit there are none");
        }
        if self.notify.writes_to_stdout() && self.explain {
            return refuse("--explain and --notify - both want standard output");
        }
        if self.explain && !matches!(self.common.output.form, None | Some(OutputForm::Json | OutputForm::Jsonl)) {
            return refuse("--explain prints lines to read, or json or jsonl");
        }
        if self.algorithm != Algorithm::Best && !given.policy.docking.is_empty() {
            return refuse("the algorithms of the thesis have no preferences: a docking vector needs --algorithm best");
        }
        Ok(())
    }
}

/// What a run of `gangmatch` works on. `roots` are the indexes of the requests that the policy serves, in the order of
/// the policy.
struct GangmatchRun<'r> {
    command: &'r Gangmatch,
    session: &'r mut Session,
    given: &'r LoadedPolicy,
    parties: &'r Parties,
    context: Context,
    roots: &'r [usize],
}

impl GangmatchRun<'_> {
    /// Allocates a gang to each request in turn. Prints the gangs, or with `--explain` why requests got none. Returns
    /// whether any request got a gang.
    fn marshal(&mut self, matcher: &mut Gangmatcher) -> Result<bool, Failure> {
        let command = self.command;
        let mut gangs: Vec<Gang> = Vec::new();
        let mut impasses = Vec::new();
        for (place, &index) in self.roots.iter().enumerate() {
            progress::report_step("matching", place, Some(self.roots.len()));
            let request = &self.parties.requests[index];
            let gang = matcher.marshal(index, &request.ad).or_else(|fault| self.report_fault(index, fault))?;
            if gang.is_none() && command.explain {
                let report = classad::explain::explain_gang(matcher, index, &request.ad).map(Some);
                impasses.extend(report.or_else(|fault| self.skip_reported_fault(fault))?.map(|report| (index, report)));
            }
            gangs.extend(gang);
            // With --quiet only the exit status matters, and one gang decides the status.
            if self.session.options.quiet && command.notify.notify.is_none() && !gangs.is_empty() {
                break;
            }
        }
        let at = command.advertising.lifetime.expiry_time(self.session).or(self.context.now);
        command
            .notify
            .write_notices(|| gangs.iter().map(|gang| self.parties.gang_notice(gang, &self.context, at)).collect())?;
        if command.notify.writes_to_stdout() {
        } else if command.explain {
            self.explain(&mut out(), &impasses)?;
        } else {
            let mut writer = self.gang_writer();
            for gang in &gangs {
                self.write_gang(&mut writer, &mut out(), gang)?;
            }
            writer.finish(&mut out())?;
        }
        Ok(!gangs.is_empty())
    }

    /// Writes the reports on requests without a gang.
    fn explain(&self, out: &mut dyn Write, reports: &[(usize, GangReport)]) -> Result<(), Failure> {
        let mut writer = self.command.common.output.form.map(JsonValueWriter::new);
        for (place, (request, report)) in reports.iter().enumerate() {
            let subject = self.parties.requests[*request].id();
            let longest = if writer.is_some() { usize::MAX } else { gangs::MAX_CLAUSE_CHARS };
            let sentences = gangs::summary_writer(self.parties, subject, self.context.dialect, longest);
            if let Some(writer) = &mut writer {
                let summary = single_line(&sentences.gang_summary(report));
                let tail = json!({ "version": RECORD_VERSION, "request": subject, "summary": summary });
                writer.write(out, &JoinedRecord { head: gangs::port_fields(report, self.parties), tail })?;
                continue;
            }
            let gap = if place > 0 { "\n" } else { "" };
            write!(out, "{gap}{}", gangs::gang_report_text(report, &sentences, false))?;
        }
        if let Some(writer) = writer {
            writer.finish(out)?;
        }
        Ok(())
    }

    /// Writes the possible gangs of each request as they are found, at most `--limit` for each. Returns whether any
    /// gang is possible.
    fn enumerate(&mut self, matcher: &mut Gangmatcher) -> Result<bool, Failure> {
        let most = self.command.limit.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let mut out = out();
        let mut writer = self.gang_writer();
        let mut any = false;
        for (place, &index) in self.roots.iter().enumerate() {
            progress::report_step("matching", place, Some(self.roots.len()));
            let mut gangs = match matcher.gangs(index, &self.parties.requests[index].ad) {
                Ok(gangs) => gangs,
                Err(fault) => {
                    self.report_fault(index, fault)?;
                    continue;
                }
            };
            for gang in gangs.by_ref().take(most) {
                any = true;
                self.write_gang(&mut writer, &mut out, &gang)?;
                // Show this gang now, because the search for the next one may take long.
                out.flush()?;
                if self.session.options.quiet {
                    return Ok(true);
                }
            }
            if let Some(fault) = gangs.fault() {
                return Err(self.given.report_fault(self.session, fault));
            }
        }
        writer.finish(&mut out)?;
        Ok(any)
    }

    /// Reports unusable ports of a request and returns `None`.
    ///
    /// # Errors
    ///
    /// Fails if the policy cannot be applied, which ends the run.
    fn report_fault(&mut self, index: usize, fault: GangFault) -> Result<Option<Gang>, Failure> {
        match fault {
            GangFault::Ports(fault) => {
                self.parties.requests[index].report_bad_ports(self.session, &fault).map(|()| None)
            }
            GangFault::Policy(fault) => Err(self.refuse(fault)),
        }
    }

    /// Returns `None` for unusable ports of a request, which were reported already.
    ///
    /// # Errors
    ///
    /// Fails if the policy cannot be applied.
    fn skip_reported_fault<T>(&mut self, fault: GangFault) -> Result<Option<T>, Failure> {
        match fault {
            GangFault::Ports(_) => Ok(None),
            GangFault::Policy(fault) => Err(self.refuse(fault)),
        }
    }

    fn refuse(&mut self, fault: PolicyFault) -> Failure {
        self.given.report_fault(self.session, fault)
    }

    fn gang_writer(&self) -> GangWriter {
        GangWriter::new(self.command.common.output)
    }

    fn write_gang(&mut self, writer: &mut GangWriter, out: &mut dyn Write, gang: &Gang) -> Result<(), Failure> {
        let (parties, context) = (self.parties, &self.context);
        writer.write(self.session, out, gang, parties, || parties.gang_notice(gang, context, None))
    }
}
