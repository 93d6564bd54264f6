//! What a simulation tells of its cycles.

use std::collections::BTreeMap;

use crate::configuration::PolicyEffect;

use super::super::event::Grant;
use super::super::{NegotiationOutcome, SubmitterOutcome};

/// A request that gets a match, or starts.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedGrant {
    /// Index of the request.
    pub request: usize,
    /// The time in seconds since 1970. In the claim of an earlier request, one starts as soon as that ends.
    pub time: i64,
    /// Whether it starts in the claim of an earlier request, without a match.
    pub reuses_claim: bool,
    /// Names of the offers. A request that starts in a part of a partitionable slot has a dynamic slot.
    pub offers: Vec<String>,
    /// The ranks that the request gives the first offer, and the first offer the request.
    pub ranks: [f64; 2],
    /// The user who loses an offer to the request.
    pub preempted: Option<String>,
    /// Index of the request that loses an offer to it, and waits again. `None` for a match.
    pub evicted: Option<usize>,
    /// The time at which the request ends if nothing evicts it, in seconds since 1970. `None` for a match, and for a request
    /// that runs until the end of the simulation.
    pub end: Option<i64>,
}

impl SimulatedGrant {
    pub(super) fn new(time: i64, request: usize, grant: &Grant, offers: Vec<String>) -> Self {
        let ranks = grant.offers.first().map_or([0.0; 2], |granted| [granted.request_rank, granted.offer_rank]);
        let preempted = grant.offers.iter().find_map(|granted| granted.preempted.clone());
        SimulatedGrant { ranks, preempted, ..SimulatedGrant::at(time, request, offers) }
    }

    pub(super) fn at(time: i64, request: usize, offers: Vec<String>) -> Self {
        SimulatedGrant {
            request,
            time,
            reuses_claim: false,
            offers,
            ranks: [0.0; 2],
            preempted: None,
            evicted: None,
            end: None,
        }
    }
}

/// What a policy did to a request since the cycle before.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedEffect {
    /// Index of the request.
    pub request: usize,
    /// The time in seconds since 1970.
    pub time: i64,
    /// The policy, and what it did.
    pub effect: PolicyEffect,
}

/// What a submitter has after a cycle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubmitterState {
    /// The effective priority in the cycle; larger is worse.
    pub priority: f64,
    /// Number of requests that waited before the cycle.
    pub waiting: usize,
    /// Number of matches.
    pub matches: usize,
    /// Number of requests that started.
    pub started: usize,
    /// Number of requests that ended since the cycle before.
    pub ended: usize,
    /// Number of requests that lost their offers in the cycle. They wait again.
    pub evicted: usize,
    /// Number of requests that run.
    pub running: usize,
    /// Weight of the offers in use, or their number if submitters do not share by weight.
    pub used: f64,
}

/// What happened in a cycle, and what is in use after it.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedCycle {
    /// 1-based number.
    pub number: u64,
    /// Time in seconds since 1970.
    pub time: i64,
    /// The matches.
    pub matches: Vec<SimulatedGrant>,
    /// The requests that start.
    pub starts: Vec<SimulatedGrant>,
    /// What policies did since the cycle before.
    pub effects: Vec<SimulatedEffect>,
    /// The submitters whose requests waited, ended or run, by name.
    pub submitters: BTreeMap<String, SubmitterState>,
}

impl SimulatedCycle {
    pub(super) fn new(number: u64, time: i64) -> Self {
        SimulatedCycle {
            number,
            time,
            matches: Vec::new(),
            starts: Vec::new(),
            effects: Vec::new(),
            submitters: BTreeMap::new(),
        }
    }

    /// Returns the state of a submitter.
    pub(super) fn submitter(&mut self, name: &str) -> &mut SubmitterState {
        self.submitters.entry(name.to_owned()).or_default()
    }

    pub(super) fn add_submitters(&mut self, outcome: &NegotiationOutcome) {
        for SubmitterOutcome { name, priority, requests, matches, .. } in &outcome.submitters {
            let state = self.submitter(name);
            (state.priority, state.waiting, state.matches) = (*priority, *requests, *matches);
        }
    }
}

/// What happened in all cycles, in numbers of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimulationTotals {
    /// Number of matches.
    pub matches: usize,
    /// Requests that started. A request that is evicted can start several times.
    pub started: usize,
    /// Requests that started in claims of earlier ones.
    pub reused: usize,
    /// Requests that ended.
    pub ended: usize,
    /// Requests that lost their offers, each as often as it lost them.
    pub evicted: usize,
    /// Requests that run in the end.
    pub running: usize,
    /// Requests that are held in the end.
    pub held: usize,
    /// Requests that wait in the end.
    pub waiting: usize,
    /// Requests whose `QDate` is after the last cycle.
    pub future: usize,
    /// Runs whose time is no number of at least 0.
    pub without_run_time: usize,
}
