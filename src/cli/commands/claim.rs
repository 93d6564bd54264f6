//! `classad claim`: claims earlier matches in two phases, checking them against the current ads.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use clap::Args;
use classad::ad::{Ad, Expression};
use classad::eval::Context;
use classad::format::FileFormat;
use classad::matching::claim::{ClaimMessageKind, ClaimResult, Claimer, Veto};
use classad::matching::policy::AccountedClaim;
use classad::matching::{Notice, Party, Statistics};
use classad::protocol::{Advertisement, claimed_offer, identity, released_offer};

use crate::cli::args::advertising::LifetimeArgs;
use crate::cli::args::matching::MatchArgs;
use crate::cli::io::atomic_write::FileRevision;
use crate::cli::io::input;
use crate::cli::io::match_records;
use crate::cli::io::named_ad::NamedAd;
use crate::cli::io::parties::assign_content_ids;
use crate::cli::io::{accounts, atomic_write};
use crate::cli::render::output::{self, AdWriter};
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
      --ads samples/license/licenses.ad --transcript
  classad match samples/memory/jobs.long --offers samples/memory/machines.long --notify - \\
      | classad claim --release --ads samples/memory/jobs.long --ads samples/memory/machines.long";

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
    /// Release the matches, which were claimed before, instead of claiming them
    #[arg(long, conflicts_with = "transcript")]
    release: bool,
    /// Tell the accountant: in this file of `negotiate --usage`, the offers of a claim count as used until its release
    #[arg(long, value_name = "FILE")]
    usage: Option<String>,
    /// Expression whose value in a request names its submitter, for --usage
    #[arg(long, value_name = "EXPR", default_value = "Owner", requires = "usage")]
    by: String,
    /// Write the ads that follow: of the offers, claimed or with --release free again, with no `ClaimId`
    #[arg(long, value_name = "FILE")]
    follow: Option<String>,
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
        let form = sources.first().map_or(FileFormat::Bracketed, |source| source.form);
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
        let mut followers =
            Followers { ads: Vec::new(), at: at.or(context.now).unwrap_or_default(), context: &context };
        for notice in &notices {
            let parties: Vec<Result<usize, Veto>> =
                notice.parties.iter().map(|party| find_current(&by_name, party)).collect();
            let found: Vec<Option<&NamedAd>> =
                parties.iter().map(|index| index.as_ref().ok().map(|index| &current[*index])).collect();
            if self.release {
                claims.push(followers.release(notice, &found, parties));
                continue;
            }
            claims.push(claimer.claim(notice, &parties));
            followers.claim(notice, &found, claims.last());
            if session.options.quiet && claims.last().is_some_and(ClaimResult::is_committed) {
                break;
            }
        }
        let committed = claims.iter().filter(|claim| claim.is_committed()).count();
        let followers = followers.ads;
        self.tell_accountant(session, &notices, &claims, &|party| {
            find_current(&by_name, party).ok().map(|index| &ads[index])
        })?;
        if let Some(path) = &self.follow {
            write_ads(session, path, form, &followers)?;
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
}

impl ClaimCommand {
    /// Tells the accountant of `--usage` which claims began, or with `--release` which ended. `ad_of` returns the current
    /// ad of a party.
    fn tell_accountant<'a>(
        &self,
        session: &mut Session,
        notices: &[Notice],
        claims: &[ClaimResult],
        ad_of: &dyn Fn(&Party) -> Option<&'a Ad>,
    ) -> Result<(), Failure> {
        let Some(path) = &self.usage else { return Ok(()) };
        let by = input::parse_argument_expression(session, "--by", &self.by)?;
        let revision = FileRevision::of(path);
        let mut accountant = accounts::read_accounts(session, path)?;
        let context = session.context();
        accountant.advance(context.now.unwrap_or_default());
        let committed = || notices.iter().zip(claims).filter(|(_, claim)| claim.is_committed());
        if self.release {
            accountant.settle([], committed().map(|(notice, _)| notice.id.as_str()));
        } else {
            let claimed = committed().map(|(notice, claim)| {
                let request = notice.parties.first().and_then(ad_of);
                let submitter = request.and_then(|ad| identity(ad, Some(&by), &context)).unwrap_or_default();
                let offers = claim.claimed.iter().filter(|party| **party > 0).count();
                (notice.id.clone(), AccountedClaim { submitter, offers })
            });
            accountant.settle(claimed, []);
        }
        accounts::write_accounts(path, &accountant, &revision)
    }
}

/// The ads that the agents of offers advertise after claims and releases.
struct Followers<'c> {
    ads: Vec<Ad>,
    /// Time of the claims in seconds since 1970.
    at: i64,
    context: &'c Context,
}

impl Followers<'_> {
    /// Adds the ads of the offers that a match claimed. A part of an offer has none, because its agent knows the rest.
    fn claim(&mut self, notice: &Notice, found: &[Option<&NamedAd>], claim: Option<&ClaimResult>) {
        let claimed = claim.map(|claim| claim.claimed.as_slice()).unwrap_or_default();
        let Some(Some(request)) = found.first() else { return };
        for party in claimed.iter().copied().filter(|party| *party > 0) {
            let Party { docking, whole_id, .. } = &notice.parties[party];
            if let (Some(offer), None) = (found[party], whole_id) {
                let ranks = docking.as_ref().and_then(|docking| docking.ranks);
                let rank = ranks.map_or(0.0, |[_, rank]| rank);
                self.ads.push(claimed_offer(&offer.ad, &request.ad, rank, self.at, self.context));
            }
        }
    }

    /// Releases the offers of a match, and adds their ads. An offer is not released if its ad is gone or tells another
    /// user than that of the request.
    fn release(
        &mut self,
        notice: &Notice,
        found: &[Option<&NamedAd>],
        indexes: Vec<Result<usize, Veto>>,
    ) -> ClaimResult {
        let name = |name| {
            let request = found.first().copied().flatten()?;
            identity(&request.ad, Some(&Expression::attribute(name)), self.context)
        };
        let users: Vec<String> = [name("User"), name("Owner")].into_iter().flatten().collect();
        let mut result = ClaimResult { claimed: Vec::new(), vetoes: Vec::new(), transcript: Vec::new() };
        for (party, index) in indexes.into_iter().enumerate().skip(1) {
            if let Err(veto) = index {
                result.vetoes.push((party, veto));
                continue;
            }
            let Some(offer) = found[party] else { continue };
            let user = Advertisement::new(&offer.ad, self.context).user();
            if let Some(other) = user.filter(|user| !users.is_empty() && !users.contains(user)) {
                result.vetoes.push((party, Veto::AlreadyClaimed(format!("of {other}"))));
                continue;
            }
            result.claimed.push(party);
            if notice.parties[party].whole_id.is_none() {
                self.ads.push(released_offer(&offer.ad, self.at, self.context));
            }
        }
        result
    }
}

/// Writes ads to a file, in the form of the input. Replaces the file atomically.
fn write_ads(session: &mut Session, path: &str, form: FileFormat, ads: &[Ad]) -> Result<(), Failure> {
    let (mut text, mut writer) = (Vec::new(), AdWriter::with_form(form));
    for ad in ads {
        writer.write(session, &mut text, &NamedAd::unnamed(ad.clone()))?;
    }
    writer.finish(&mut text)?;
    atomic_write::create_or_replace(Path::new(path), &text, None).map_err(|error| Failure::unwritable(path, &error))
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
fn outcome_table(notices: &[Notice], claims: &[ClaimResult], is_release: bool) -> ResultTable {
    let mut rows = ResultTable::new(&["match", "outcome", "claimed", "reason"]);
    for (notice, claim) in notices.iter().zip(claims) {
        let name = |party: usize| notice.parties[party].id.as_str();
        let claimed: Vec<String> = claim.claimed.iter().map(|&party| name(party).to_owned()).collect();
        // `LostPartners` only follows from the veto of another party, so it is no reason of its own.
        let own = claim.vetoes.iter().filter(|(_, veto)| !matches!(veto, Veto::LostPartners(_)));
        let reasons: Vec<String> = own.map(|(party, veto)| format!("{}: {veto}", name(*party))).collect();
        let outcome = if is_release && claim.is_committed() { "released" } else { outcome_name(claim) };
        let (outcome, reason) = (outcome.to_owned(), reasons.join("; "));
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
