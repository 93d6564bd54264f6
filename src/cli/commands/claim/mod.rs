//! `classad claim`: claims earlier matches in two phases, checking them against the current ads.

mod current_ads;
mod followers;
mod tables;

use std::time::Instant;

use clap::Args;
use classad::ad::Ad;
use classad::format::FileFormat;
use classad::matching::claim::{ClaimResult, Claimer, Veto};
use classad::matching::policy::AccountedClaim;
use classad::matching::{Notice, Party, Statistics};
use classad::protocol::identity;

use crate::cli::args::advertising::LifetimeArgs;
use crate::cli::args::matching::{MatchArgs, with_nested_requests};
use crate::cli::io::accounts;
use crate::cli::io::argument_text;
use crate::cli::io::atomic_write::FileRevision;
use crate::cli::io::input;
use crate::cli::io::match_records::{RecordedMatch, read_match_records};
use crate::cli::io::parties::assign_content_ids;
use crate::cli::outcome::{Failure, Status};
use crate::cli::render::output;
use crate::cli::session::Session;
use current_ads::CurrentAds;
use followers::{Followers, write_ads};
use tables::{match_table, message_table, outcome_table};

const EXAMPLES: &str = "\
Examples:
  classad match samples/memory/jobs.long --pool samples/memory/machines.long --notify - \\
      | classad claim --ads samples/memory/jobs.long --ads samples/memory/machines.long
  classad gangmatch samples/license/jobs.ad --pool samples/license/machines.ad \\
      --pool samples/license/licenses.ad -o jsonl \\
      | classad claim - --ads samples/license/jobs.ad --ads samples/license/machines.ad \\
      --ads samples/license/licenses.ad --transcript
  classad match samples/memory/jobs.long --pool samples/memory/machines.long --notify - \\
      | classad claim --release --ads samples/memory/jobs.long --ads samples/memory/machines.long
  classad match samples/memory/jobs.long --pool samples/memory/machines.long --notify - \\
      | classad claim --list";

const AT_HELP: &str = "Abort matches with ads that expired before TIME [default: the time of evaluations]";

const AS_GIVEN_HELP: &str = "Also use expired ads; abort matches with ads that share their name with another";

/// Check matches against the current ads, and claim those that are still valid
///
/// Each party of a match votes. A party votes ABORT if its ad is missing or expired, or if its `ClaimId` has changed.
/// It also votes ABORT if another match has claimed it, or if a constraint of the match is not true. If a party
/// votes ABORT, the match is aborted; else all parties commit. Exception: `AcceptPartial`, see `classad help claims`.
///
/// Rows of earlier runs of `claim -o jsonl` can follow the matches. A row that aborts or releases a match ends the
/// match.
///
/// Exit status: 0 if a match was claimed, released or listed; 1 if none was; 2 after an error.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("at", |arg| arg.help(AT_HELP)))]
#[command(mut_arg("as_given", |arg| arg.help(AS_GIVEN_HELP)))]
pub struct ClaimCommand {
    /// Files of matches, such as the output of `match --notify -` or `gangmatch -o jsonl`; without files, read standard
    /// input
    matches: Vec<String>,
    /// Files of the current ads of requests and offers
    #[arg(long, value_name = "FILE", required_unless_present = "list")]
    ads: Vec<String>,
    /// List the recorded matches that are neither aborted nor released; claim nothing. With --ads, leave out offers
    /// that have a newer ad there
    #[arg(long, conflicts_with_all = ["transcript", "release", "usage", "follow"])]
    list: bool,
    /// Print each message between the parties instead of the outcome of each match
    #[arg(long)]
    transcript: bool,
    /// Release the matches instead of claiming them
    #[arg(long, conflicts_with = "transcript")]
    release: bool,
    /// Record the claims in this file, for `negotiate --usage`
    #[arg(long, value_name = "FILE")]
    usage: Option<String>,
    /// Expression that gives the submitter of a request, for --usage
    #[arg(long, value_name = "EXPR", default_value = "Owner", requires = "usage")]
    by: String,
    /// Write new ads of the claimed or released offers to this file, with the new `State`. An offer that is claimed in part
    /// has an ad of the rest. A slot also has one of the new dynamic slot
    #[arg(long, value_name = "FILE")]
    follow: Option<String>,
    #[command(flatten)]
    lifetime: LifetimeArgs,
    #[command(flatten)]
    common: MatchArgs,
}

impl ClaimCommand {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let files = input::or_stdin(&self.matches);
        input::check_stdin(files.iter().chain(&self.ads))?;
        let (current, form) = self.read_current(session)?;
        let matches = read_match_records(session, &files)?;
        if self.list {
            return self.list_matches(session, &current, matches);
        }

        let start = Instant::now();
        let ads: Vec<Ad> = current.ads.iter().map(|ad| ad.ad.clone()).collect();
        let at = self.lifetime.expiry_time(session);
        let context = session.context();
        let mut claimer = Claimer::new(&ads, self.common.protocol(session), context.clone(), at);
        let mut claims: Vec<ClaimResult> = Vec::new();
        let mut followers = Followers::new(&current, at.or(context.now).unwrap_or_default(), &context);
        for one in &matches {
            let notice = &one.notice;
            let parties: Vec<Result<usize, Veto>> = notice.parties.iter().map(|party| current.find(party)).collect();
            if self.release {
                claims.push(followers.release(one, &parties));
                continue;
            }
            let claim = claimer.claim(notice, &parties);
            followers.claim(notice, &parties, &claim);
            claims.push(claim);
            // Without files to write, one claim decides the exit status.
            let only_decides = session.options.quiet && self.usage.is_none() && self.follow.is_none();
            if only_decides && claims.last().is_some_and(ClaimResult::is_committed) {
                break;
            }
        }
        let notices: Vec<Notice> = matches.into_iter().map(|one| one.notice).collect();
        let committed = claims.iter().filter(|claim| claim.is_committed()).count();
        self.tell_accountant(session, &notices, &claims, &current)?;
        if let Some(path) = &self.follow {
            write_ads(session, path, form, &followers.into_ads())?;
        }
        let rows = if self.transcript {
            message_table(&notices, &claims)
        } else {
            outcome_table(&notices, &claims, self.release)
        };
        self.common.output.write(&rows)?;
        session.report_budget_failures(claimer.failures);
        if self.common.stats {
            let counted = Statistics {
                roots: claims.len() as u64,
                matched: committed as u64,
                evaluations: claimer.evaluations,
                ..Statistics::default()
            };
            output::print_counters(counted, start.elapsed().as_secs_f64());
        }
        Ok(Status::of(committed > 0))
    }

    /// Reads the ads of `--ads`: the latest of each name. Also returns the form of the first file.
    fn read_current(&self, session: &mut Session) -> Result<(CurrentAds, FileFormat), Failure> {
        let sources = if self.ads.is_empty() { Vec::new() } else { input::open_sources(session, &self.ads)? };
        if sources.len() < self.ads.len() {
            // The ads of an unreadable file would seem to have disappeared, and would veto their matches.
            return Err(Failure::Refused(None));
        }
        input::decide_dialect_and_time(session, &sources);
        let form = sources.first().map_or(FileFormat::Bracketed, |source| source.form);
        let id = argument_text::parse_optional_expression(session, "--id", self.common.id.as_deref())?;
        let ads = input::read_named_ads(session, sources, id.as_ref())?;
        let ads = self.lifetime.retain_latest(session, ads, "ad", self.common.id.as_deref());
        let mut ads = with_nested_requests(ads);
        assign_content_ids([&mut ads]);
        Ok((CurrentAds::new(ads, &session.context()), form))
    }

    /// Prints the matches in force, without the offers that were advertised afresh.
    fn list_matches(
        &self,
        session: &Session,
        current: &CurrentAds,
        matches: Vec<RecordedMatch>,
    ) -> Result<Status, Failure> {
        let context = session.context();
        let party_now = |party: &Party| {
            let index = current.find(party).ok()?;
            Some(Party::new(&current.ads[index].ad, party.advertised_id(), &context))
        };
        let matches: Vec<RecordedMatch> = matches.into_iter().filter_map(|one| one.without_fresh(&party_now)).collect();
        self.common.output.write(&match_table(&matches))?;
        Ok(Status::of(!matches.is_empty()))
    }

    /// Tells the accountant of `--usage` which claims began, or with `--release` which ended.
    fn tell_accountant(
        &self,
        session: &mut Session,
        notices: &[Notice],
        claims: &[ClaimResult],
        current: &CurrentAds,
    ) -> Result<(), Failure> {
        let Some(path) = &self.usage else { return Ok(()) };
        let by = argument_text::parse_argument_expression(session, "--by", &self.by)?;
        let revision = FileRevision::of(path);
        let mut accountant = accounts::read_accounts(session, path)?;
        let context = session.context();
        accountant.advance(context.now.unwrap_or_default());
        let committed = || notices.iter().zip(claims).filter(|(_, claim)| claim.is_committed());
        if self.release {
            accountant.settle([], committed().map(|(notice, _)| notice.id.as_str()));
        } else {
            let claimed = committed().map(|(notice, claim)| {
                let request = notice.parties.first().and_then(|party| current.find(party).ok());
                let submitter = request.and_then(|index| identity(&current.ads[index].ad, Some(&by), &context));
                let offers = claim.claimed.iter().filter(|party| **party > 0).count();
                (notice.id.clone(), AccountedClaim { submitter: submitter.unwrap_or_default(), offers })
            });
            accountant.settle(claimed, []);
        }
        accounts::write_accounts(session, path, &accountant, &revision)?;
        accounts::note_rewriting(session, path);
        Ok(())
    }
}
