//! Cost of a negotiation cycle with each further acceleration: figure 3 of the 2006 paper.

use std::time::Instant;

use classad::ad::Ad;
use classad::matching::negotiate::{NegotiationSettings, negotiate};
use classad::matching::policy::PolicyFault;
use classad::matching::{Accelerations, Statistics};
use classad::pool::RequestClusters;

use crate::cli::render::rows::{ResultTable, TableCell};

const UNACCELERATED: Accelerations = Accelerations::NONE;
const WITH_AUTOCLUSTERS: Accelerations = Accelerations { autoclusters: true, ..UNACCELERATED };
const WITH_MATCH_LISTS: Accelerations = Accelerations { match_lists: true, ..WITH_AUTOCLUSTERS };

/// Runs a negotiation cycle in each configuration and returns one row of costs per configuration. Each configuration
/// adds one acceleration to the previous one. Priorities come from the policy alone, not from recorded usage.
pub fn comparison_table(
    settings: &NegotiationSettings,
    [requests, offers]: &[Vec<Ad>; 2],
) -> Result<ResultTable, PolicyFault> {
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
    let mut rows = ResultTable::new(&header);
    let mut run = |name: &str, requests: &[Ad], accelerations| -> Result<(), PolicyFault> {
        let settings = NegotiationSettings { accelerations, ..settings.clone() };
        let start = Instant::now();
        let outcome = negotiate(&settings, requests, offers, &|_| None, &mut |_| ())?;
        rows.rows.push(configuration_row(name, &outcome.statistics, start.elapsed().as_secs_f64()));
        Ok(())
    };
    run("baseline", requests, UNACCELERATED)?;
    run("autoclusters", requests, WITH_AUTOCLUSTERS)?;
    run("match lists", requests, WITH_MATCH_LISTS)?;
    // The agents of submitters build resource requests before the cycle, so the time to build them is not measured.
    let NegotiationSettings { policy, protocol, context, .. } = settings;
    let clusters = RequestClusters::new(requests, offers, &policy.request_policies(), protocol, context);
    let numbered = clusters.clusters.iter().enumerate();
    let requests: Vec<Ad> = numbered.map(|(id, cluster)| cluster.resource_request(id + 1, cluster.members)).collect();
    run("resource requests", &requests, WITH_MATCH_LISTS)?;
    run("index", &requests, Accelerations::ALL)?;
    Ok(rows)
}

fn configuration_row(name: &str, counted: &Statistics, seconds: f64) -> Vec<TableCell> {
    #[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
    let percent = 100.0 * counted.matched as f64 / counted.roots.max(1) as f64;
    let count = |count: u64| TableCell::from(usize::try_from(count).unwrap_or(usize::MAX));
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
