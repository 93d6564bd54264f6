//! Compares the costs of a negotiation cycle without accelerations, with one acceleration, with two, and so on: figure
//! 3 of the 2006 paper.

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
    let mut table = ResultTable::new(&[]);
    let mut run = |name: &str, requests: &[Ad], accelerations| -> Result<(), PolicyFault> {
        let settings = NegotiationSettings { accelerations, ..settings.clone() };
        let start = Instant::now();
        let outcome = negotiate(&settings, requests, offers, &|_| None, &mut |_| ())?;
        let costs = configuration_costs(name, &outcome.statistics, start.elapsed().as_secs_f64());
        table.header = costs.iter().map(|(column, _)| (*column).to_owned()).collect();
        table.rows.push(costs.map(|(_, cell)| cell).into());
        Ok(())
    };
    run("baseline", requests, UNACCELERATED)?;
    run("autoclusters", requests, WITH_AUTOCLUSTERS)?;
    run("match lists", requests, WITH_MATCH_LISTS)?;
    // Build the resource requests outside the measured time, because in a pool the agents of the submitters build them
    // before the cycle.
    let NegotiationSettings { policy, protocol, context, .. } = settings;
    let clusters = RequestClusters::new(requests, offers, &policy.request_policies(), protocol, context);
    let numbered = clusters.clusters.iter().enumerate();
    let requests: Vec<Ad> = numbered.map(|(id, cluster)| cluster.resource_request(id + 1, cluster.members)).collect();
    run("resource requests", &requests, WITH_MATCH_LISTS)?;
    run("index", &requests, Accelerations::ALL)?;
    Ok(table)
}

/// Returns the row of a configuration: the heading of each column, and its cell.
fn configuration_costs(name: &str, counted: &Statistics, seconds: f64) -> [(&'static str, TableCell); 9] {
    #[allow(clippy::cast_precision_loss)] // counts stay far below 2^53
    let percent = 100.0 * counted.matched as f64 / counted.roots.max(1) as f64;
    let count = |count: u64| TableCell::from(usize::try_from(count).unwrap_or(usize::MAX));
    [
        ("configuration", name.to_owned().into()),
        ("considered", count(counted.roots)),
        ("matched", count(counted.matched)),
        ("matched_percent", ((percent * 10.0).round() / 10.0).into()),
        ("failed", count(counted.roots - counted.matched)),
        ("skipped", count(counted.skipped)),
        ("tests", count(counted.tests)),
        ("evaluations", count(counted.evaluations)),
        ("seconds", ((seconds * 10000.0).round() / 10000.0).into()),
    ]
}
