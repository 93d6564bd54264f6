//! Cost of a negotiation cycle with each further acceleration: figure 3 of the 2006 paper.

use std::time::Instant;

use classad::ad::Ad;
use classad::matching::Accelerations;
use classad::matching::negotiate::{Outcome, Settings, negotiate};
use classad::matching::policy::PolicyFault;
use classad::pool::Clusters;

use crate::cli::render::rows::{Cell, Rows};

const NONE: Accelerations = Accelerations::NONE;
const CLUSTERS: Accelerations = Accelerations { autoclusters: true, ..NONE };
const LISTS: Accelerations = Accelerations { match_lists: true, ..CLUSTERS };

/// Runs a cycle in each configuration and returns a row for each. A configuration adds one acceleration to the one
/// before it. Priorities come from the policy alone.
pub fn rows(settings: &Settings, [requests, offers]: &[Vec<Ad>; 2]) -> Result<Rows, PolicyFault> {
    let header = [
        "configuration",
        "considered",
        "matched",
        "matched_percent",
        "failed",
        "skipped",
        "tests",
        "evaluations",
        "seconds",
    ];
    let mut rows = Rows::new(&header);
    let mut run = |name: &str, requests: &[Ad], accelerations| -> Result<(), PolicyFault> {
        let settings = Settings { accelerations, ..settings.clone() };
        let start = Instant::now();
        let outcome = negotiate(&settings, requests, offers, &|_| None, &mut |_| ())?;
        rows.rows.push(row(name, &outcome, start.elapsed().as_secs_f64()));
        Ok(())
    };
    run("baseline", requests, NONE)?;
    run("autoclusters", requests, CLUSTERS)?;
    run("match lists", requests, LISTS)?;
    // Submitters' agents build resource requests before the cycle, so the time for it does not count.
    let Settings { policy, protocol, context, .. } = settings;
    let clusters = Clusters::new(requests, offers, &policy.of_requests(), protocol, context);
    let counted = clusters.clusters.iter().enumerate();
    let asked: Vec<Ad> = counted.map(|(id, cluster)| cluster.resource_request(id + 1, cluster.members)).collect();
    run("resource requests", &asked, LISTS)?;
    run("index", &asked, Accelerations::ALL)?;
    Ok(rows)
}

fn row(name: &str, outcome: &Outcome, seconds: f64) -> Vec<Cell> {
    let counted = &outcome.statistics;
    #[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
    let percent = 100.0 * counted.matched as f64 / counted.roots.max(1) as f64;
    let count = |count: u64| Cell::from(usize::try_from(count).unwrap_or(usize::MAX));
    vec![
        name.to_owned().into(),
        count(counted.roots),
        count(counted.matched),
        ((percent * 10.0).round() / 10.0).into(),
        count(counted.roots - counted.matched),
        count(counted.skipped),
        count(counted.tests),
        count(counted.evaluations),
        ((seconds * 10000.0).round() / 10000.0).into(),
    ]
}
