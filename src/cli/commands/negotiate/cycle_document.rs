//! The JSON document of `negotiate --cycles`, which is written as the cycles end.

use std::io::Write as _;

use classad::matching::negotiate::{
    SimulatedCycle, SimulatedEffect, SimulatedGrant, SimulationSettings, SimulationTotals, SubmitterState,
};
use serde_json::{Value as Json, json};

use super::course::Course;
use crate::cli::io::parties::Parties;
use crate::cli::outcome::Failure;
use crate::cli::render::output::out;

/// Name and version of the document's format.
const SCHEMA: &str = "classad.cycles/1";

/// Writes the document.
#[derive(Default)]
pub struct CycleDocument {
    has_cycles: bool,
}

impl CycleDocument {
    /// Begins the document.
    pub fn begin(of: &SimulationSettings) -> Result<Self, Failure> {
        let (begin, interval) = (of.begin, of.interval);
        write!(
            out(),
            "{{\n  \"schema\": \"{SCHEMA}\",\n  \"begin\": {begin},\n  \"interval\": {interval},\n  \"cycles\": ["
        )?;
        Ok(CycleDocument::default())
    }

    /// Writes a cycle.
    pub fn write(&mut self, cycle: &SimulatedCycle, parties: &Parties, course: &Course<'_>) -> Result<(), Failure> {
        let grants = |grants: &[SimulatedGrant], is_start| -> Vec<Json> {
            grants.iter().map(|grant| grant_json(grant, parties, is_start)).collect()
        };
        let effects: Vec<Json> = cycle.effects.iter().map(|effect| effect_json(effect, parties)).collect();
        let submitters: Vec<Json> =
            course.states(cycle).into_iter().map(|(name, state)| state_json(name, &state)).collect();
        let cycle = json!({
            "number": cycle.number,
            "time": cycle.time,
            "matches": grants(&cycle.matches, false),
            "starts": grants(&cycle.starts, true),
            "effects": effects,
            "submitters": submitters,
        });
        write!(out(), "{}\n    {cycle}", if self.has_cycles { "," } else { "" })?;
        self.has_cycles = true;
        Ok(())
    }

    /// Ends the document.
    pub fn finish(self, totals: &SimulationTotals) -> Result<(), Failure> {
        let SimulationTotals { matches, started, reused, ended, evicted, running, held, waiting, future, .. } = *totals;
        let totals = json!({
            "matches": matches,
            "started": started,
            "reused": reused,
            "ended": ended,
            "evicted": evicted,
            "running": running,
            "held": held,
            "waiting": waiting,
            "future": future,
        });
        writeln!(out(), "{}],\n  \"totals\": {totals}\n}}", if self.has_cycles { "\n  " } else { "" })?;
        out().flush()?;
        Ok(())
    }
}

fn grant_json(grant: &SimulatedGrant, parties: &Parties, is_start: bool) -> Json {
    let SimulatedGrant { request, time, reuses_claim, offers, ranks, preempted, evicted, end } = grant;
    let mut object = json!({
        "request": parties.request_name(*request, None),
        "offers": offers,
        "request_rank": ranks[0],
        "offer_rank": ranks[1],
        "preempted": preempted,
    });
    if is_start {
        object["time"] = json!(time);
        object["claim"] = json!(if *reuses_claim { "reused" } else { "new" });
        object["evicted"] = json!(evicted.map(|request| parties.request_name(request, None)));
        object["ends"] = json!(end);
    }
    object
}

fn effect_json(SimulatedEffect { request, time, effect }: &SimulatedEffect, parties: &Parties) -> Json {
    json!({
        "request": parties.request_name(*request, None),
        "time": time,
        "effect": effect.kind.as_str(),
        "policy": effect.knob,
        "line": effect.line,
        "reason": effect.reason,
        "subcode": effect.subcode,
    })
}

fn state_json((group, submitter): (String, String), state: &SubmitterState) -> Json {
    let SubmitterState { priority, waiting, matches, started, ended, evicted, running, used } = *state;
    json!({
        "group": group,
        "submitter": submitter,
        "priority": priority,
        "waiting": waiting,
        "matches": matches,
        "started": started,
        "ended": ended,
        "evicted": evicted,
        "running": running,
        "used": used,
    })
}
