//! `classad claim`: claims earlier matches in two phases, checking them against the current ads.

use std::collections::HashMap;
use std::time::Instant;

use clap::Args;
use classad::ad::Ad;
use classad::matching::claim::{ClaimMessageKind, ClaimResult, Claimer, Veto};
use classad::matching::{Notice, Party, Statistics};
use classad::protocol::Advertisement;

use crate::cli::args::advertising::LifetimeArgs;
use crate::cli::args::matching::MatchArgs;
use crate::cli::io::input;
use crate::cli::io::match_records;
use crate::cli::io::parties::assign_content_ids;
use crate::cli::render::output;
use crate::cli::render::rows::{ResultTable, TableCell};
use crate::cli::session::Session;
use crate::cli::{Failure, Status};

const EXAMPLES: &str = "\
Examples:
  classad match samples/memory/jobs.long --offers samples/memory/machines.long --notify - \\
      | classad claim --ads samples/memory/jobs.long --ads samples/memory/machines.long
  classad gangmatch samples/license/jobs.ad --offers samples/license/machines.ad \\
      --offers samples/license/licenses.ad -o jsonl \\
      | classad claim - --ads samples/license/jobs.ad --ads samples/license/machines.ad \\
      --ads samples/license/licenses.ad --transcript";

/// Claim matches, checked against the current ads
///
/// Claiming has two phases. First, each party of a match verifies that it is still there, has not expired and carries
/// the `ClaimId` that the match was made with, and that the constraints still hold. Then all parties commit; or, if a
/// party votes ABORT, the match is given up. If offers docked at some ports of an ad vote ABORT, the ad commits without
/// them if its `AcceptPartial` is true. In this expression, `aborted` is the list of the labels of these ports.
///
/// Exit status 0 if anything was claimed, 1 if nothing was.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ClaimCommand {
    /// Files of matches, written by --notify, or by `match` or `gangmatch` with -o json or jsonl; standard input if
    /// there are none
    matches: Vec<String>,
    /// Files of the ads as they are now, requests and offers
    #[arg(long, value_name = "FILE", required = true)]
    ads: Vec<String>,
    /// Print each message of the two phases instead of the outcomes of the matches
    #[arg(long)]
    transcript: bool,
    #[command(flatten)]
    lifetime: LifetimeArgs,
    #[command(flatten)]
    common: MatchArgs,
}

impl ClaimCommand {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let matches = input::or_stdin(&self.matches);
        input::check_stdin(matches.iter().chain(&self.ads))?;
        let sources = input::open_sources(session, &self.ads)?;
        if sources.len() < self.ads.len() {
            // The ads of an unreadable file would seem to have disappeared, and would veto their matches.
            return Err(Failure::Refused(None));
        }
        input::decide_dialect_and_time(session, &sources);
        let id = input::parse_optional_expression(session, "--id", self.common.id.as_deref())?;
        let current = input::read_named_ads(session, sources, id.as_ref())?;
        let current = self.lifetime.retain_latest(session, current, "ads", self.common.id.as_deref());
        let mut current = current;
        assign_content_ids([&mut current]);
        let notices = match_records::read_match_records(session, &matches)?;

        let start = Instant::now();
        let ads: Vec<Ad> = current.iter().map(|ad| ad.ad.clone()).collect();
        let at = self.lifetime.expiry_time(session);
        let context = session.context();
        let mut claimer = Claimer::new(&ads, self.common.protocol(session), context.clone(), at);
        let mut by_name = AdsByName::default();
        for (index, ad) in current.iter().enumerate() {
            let kind = Advertisement::new(&ad.ad, &context).kind();
            if ad.record_id() != ad.id() {
                by_name.entry(ad.record_id()).or_default().push((index, kind.clone()));
            }
            by_name.entry(ad.id()).or_default().push((index, kind));
        }
        let mut claims: Vec<ClaimResult> = Vec::new();
        for notice in &notices {
            let parties = notice.parties.iter().map(|party| find_current(&by_name, party));
            claims.push(claimer.claim(notice, &parties.collect::<Vec<_>>()));
            if session.options.quiet && claims.last().is_some_and(ClaimResult::is_committed) {
                break;
            }
        }
        let committed = claims.iter().filter(|claim| claim.is_committed()).count();
        let rows = if self.transcript { message_table(&notices, &claims) } else { outcome_table(&notices, &claims) };
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
}

/// For each identity, the current ads that have it. An ad is given by its index into all current ads and by its kind
/// (`MyType`).
type AdsByName<'a> = HashMap<&'a str, Vec<(usize, Option<String>)>>;

/// Returns the index of the current ad that a party of a match stands for.
///
/// # Errors
///
/// Fails if no current ad, or more than one, has the name and the kind of the party. A party without a kind fits ads of
/// every kind.
fn find_current(ads: &AdsByName<'_>, party: &Party) -> Result<usize, Veto> {
    let of_name = ads.get(party.advertised_id()).into_iter().flatten();
    let of_kind = of_name.filter(|(_, kind)| party.kind.is_none() || *kind == party.kind);
    match *of_kind.map(|(index, _)| *index).collect::<Vec<usize>>() {
        [] => Err(Veto::Gone),
        [only] => Ok(only),
        ref several => Err(Veto::Ambiguous(several.len())),
    }
}

/// Returns a row for each match: the outcome, the claimed parties, and the reasons of the parties that refused.
fn outcome_table(notices: &[Notice], claims: &[ClaimResult]) -> ResultTable {
    let mut rows = ResultTable::new(&["match", "outcome", "claimed", "reason"]);
    for (notice, claim) in notices.iter().zip(claims) {
        let name = |party: usize| notice.parties[party].id.as_str();
        let claimed: Vec<String> = claim.claimed.iter().map(|&party| name(party).to_owned()).collect();
        // `LostPartners` only follows from the veto of another party, so it is no reason of its own.
        let own = claim.vetoes.iter().filter(|(_, veto)| !matches!(veto, Veto::LostPartners(_)));
        let reasons: Vec<String> = own.map(|(party, veto)| format!("{}: {veto}", name(*party))).collect();
        let (outcome, reason) = (outcome_name(claim).to_owned(), reasons.join("; "));
        rows.rows.push(vec![notice.id.clone().into(), outcome.into(), claimed.into(), reason.into()]);
    }
    rows
}

fn outcome_name(claim: &ClaimResult) -> &'static str {
    match (claim.is_committed(), claim.vetoes.is_empty()) {
        (true, true) => "committed",
        (true, false) => "partial",
        (false, _) => "aborted",
    }
}

/// Returns the rows of all matches. A match has one row for each message, and a last row with the outcome.
fn message_table(notices: &[Notice], claims: &[ClaimResult]) -> ResultTable {
    let mut rows = ResultTable::new(&["match", "round", "message", "from", "to", "reason"]);
    for (notice, claim) in notices.iter().zip(claims) {
        let name = |party: usize| notice.parties[party].id.clone();
        let mut push = |round: usize, message: &str, from: String, to: String, reason: String| {
            let texts = [message.to_owned(), from, to, reason].map(TableCell::from);
            rows.rows.push([notice.id.clone().into(), round.into()].into_iter().chain(texts).collect());
        };
        for message in &claim.transcript {
            let reason = match &message.kind {
                ClaimMessageKind::Veto(veto) => veto.to_string(),
                _ => String::new(),
            };
            push(message.round, message.kind.as_str(), name(message.from), name(message.to), reason);
        }
        let rounds = claim.transcript.last().map_or(1, |message| message.round);
        let root = claim.vetoes.iter().find(|(party, _)| *party == 0);
        let reason = root.map(|(_, veto)| veto.to_string()).unwrap_or_default();
        push(rounds, outcome_name(claim), name(0), String::new(), reason);
    }
    rows
}
