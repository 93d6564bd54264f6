//! Partial results of `match --best` and `match --all`: the candidates of a share of the requests, and merging them.

use std::io::Write;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::MatchCommand;
use crate::cli::args::policy::{LoadedPolicy, note_discarding_component};
use crate::cli::found_pairs::FoundPairs;
use crate::cli::io::partial::{ShareInput, ShareSet, ShareWriter};
use crate::cli::io::parties::Parties;
use crate::cli::matching_run::MatchingRun;
use crate::cli::outcome::{Failure, Status};
use crate::cli::rank_warnings::{MixedRank, RankWarnings, ZeroRank};
use crate::cli::render::match_table::{PAIR_HEADER, pair_row};
use crate::cli::render::output::out;
use crate::cli::render::rows::TableWriter;
use crate::cli::session::Session;

/// What all shares have in common.
#[derive(Serialize, Deserialize)]
struct MatchFrame {
    /// Numbers of requests and of offers that take part.
    requests: usize,
    offers: usize,
    /// The time at which expired ads are left out. `None` if they take part.
    expiry: Option<i64>,
    /// The expressions of the docking vector.
    docking: Vec<String>,
    /// Number of evaluations that exceeded their budgets before the candidates were searched.
    failures: u64,
}

/// Requests with the same candidates. Requests are given by their places in the order in which one run lists them.
#[derive(Serialize, Deserialize)]
struct ListedCandidates {
    requests: Vec<(usize, String)>,
    /// The names of the offers, each with the bits of the two ranks.
    offers: Vec<(String, u64, u64)>,
}

/// What a share says beside the candidates.
#[derive(Serialize, Deserialize)]
struct MatchNotes {
    /// Number of pairs.
    count: usize,
    /// Number of evaluations that exceeded their budgets.
    failures: u64,
    /// How often each component of the docking vector was evaluated, and how often its value could be ordered.
    components: Vec<(usize, usize)>,
    ranks: Vec<ZeroRank>,
    mixed_ranks: Vec<MixedRank>,
}

impl MatchCommand {
    /// Writes the partial result of a share.
    pub(super) fn write_share(
        &self,
        session: &mut Session,
        input: ShareInput,
        (parties, policy): (&Parties, &LoadedPolicy),
        run: &MatchingRun,
        found: &FoundPairs,
    ) -> Result<Status, Failure> {
        let frame = MatchFrame {
            requests: parties.requests.len(),
            offers: parties.offers.len(),
            expiry: self.ads.match_time(session),
            docking: policy.policy.docking.iter().map(|rule| rule.expression.to_string()).collect(),
            failures: found.early_failures,
        };
        let mut writer = ShareWriter::begin(session, input, &frame)?;
        let mut place_of: Vec<usize> = (0..parties.requests.len()).collect();
        for (place, request) in found.order.iter().flatten().enumerate() {
            place_of[*request] = place;
        }
        let mut places = Vec::with_capacity(found.count);
        let mut lists: IndexMap<Vec<(usize, u64, u64)>, Vec<usize>> = IndexMap::new();
        for (request, list) in &found.lists {
            places.extend((0..list.len()).map(|position| (place_of[*request], position)));
            let list = list.iter().map(|of| (of.offer, of.request_rank.to_bits(), of.offer_rank.to_bits())).collect();
            lists.entry(list).or_default().push(*request);
        }
        for (list, requests) in lists.iter().filter(|_| !self.count) {
            let named = |request: &usize| (place_of[*request], parties.request_name(*request, None));
            let offer = |(offer, request_rank, offer_rank): &(usize, u64, u64)| {
                (parties.offer_name(*offer, 1), *request_rank, *offer_rank)
            };
            let requests = requests.iter().map(named).collect();
            let listed = ListedCandidates { requests, offers: list.iter().map(offer).collect() };
            writer.add_finding(session, &listed)?;
        }
        let ranks = ZeroRank::of_share(parties, &run.settings, found.pairs(), &places);
        let notes = MatchNotes {
            count: found.count,
            failures: found.outcome.statistics.failures - found.early_failures,
            components: found.component_counts.clone(),
            ranks,
            mixed_ranks: MixedRank::of_requests(
                parties,
                &run.settings,
                found.lists.iter().map(|(request, _)| *request),
            ),
        };
        writer.finish(session, &notes)?;
        Ok(Status::Yes)
    }

    /// Prints what one run prints whose shares these are.
    pub fn merge(&self, session: &mut Session, shares: &ShareSet) -> Result<Status, Failure> {
        let frame: MatchFrame = shares.begin(session)?;
        let mut requests = Vec::new();
        shares.replay(session, &mut |_, ListedCandidates { requests: listed, offers }| {
            let offers = Arc::new(offers);
            requests.extend(listed.into_iter().map(|(place, name)| (place, name, Arc::clone(&offers))));
            Ok(())
        })?;
        requests.sort_by_key(|(place, ..)| *place);
        let notes: Vec<MatchNotes> = shares.notes()?;
        let count: usize = notes.iter().map(|notes| notes.count).sum();
        if self.count {
            writeln!(out(), "{count}")?;
        } else {
            let output = &self.ads.common.output;
            let mut table = TableWriter::new(PAIR_HEADER.map(str::to_owned).into(), output.form, !output.no_header)?;
            let mut out = out();
            for (_, name, offers) in requests {
                for (offer, request_rank, offer_rank) in offers.iter() {
                    let ranks = [f64::from_bits(*request_rank), f64::from_bits(*offer_rank)];
                    table.write(&mut out, pair_row(name.clone(), offer.clone(), ranks))?;
                }
            }
            table.finish(&mut out)?;
        }
        let discards = |component: &usize| {
            let counts = notes.iter().filter_map(|notes| notes.components.get(*component));
            let (values, ordered) = counts.fold((0, 0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1));
            values > 0 && ordered == 0
        };
        let discarding: Vec<usize> = (0..frame.docking.len()).filter(discards).collect();
        let failures = frame.failures + notes.iter().map(|notes| notes.failures).sum::<u64>();
        let (ranks, mixed): (Vec<_>, Vec<_>) = notes.into_iter().map(|notes| (notes.ranks, notes.mixed_ranks)).unzip();
        let mut warnings = RankWarnings::default();
        warnings.add_zero_ranks(ranks.into_iter().flatten().collect());
        warnings.add_mixed(mixed.into_iter().flatten().collect());
        warnings.report(session);
        for component in discarding {
            note_discarding_component(session, &frame.docking[component]);
        }
        session.report_budget_failures(failures);
        Ok(Status::of(count > 0))
    }

    /// Why the run has no shares, as it is.
    pub(super) fn share_refusal(&self) -> Option<&'static str> {
        let lists_candidates = self.all || self.best.is_some();
        let refusals = [
            (self.cases.is_some(), "--share does not work with --cases: split the file of cases by lines"),
            (!lists_candidates, "shares need --best N or --all; without them, one run must make all matches"),
            (!self.what_if.is_empty(), "--share does not work with --what-if"),
            (self.ads.common.stats, "--stats and --share cannot be combined"),
        ];
        refusals.into_iter().find(|(is_true, _)| *is_true).map(|(_, reason)| reason)
    }

    /// Returns the files that each share reads, or why the run has no shares.
    pub fn input_of_shares(&self) -> Result<[&[String]; 2], Failure> {
        self.check_options()?;
        match self.share_refusal() {
            Some(reason) => crate::cli::outcome::refuse(format!("match: {reason}")),
            None => Ok([&self.requests, &self.pool]),
        }
    }
}
