//! Compares the costs of a negotiation cycle without accelerations, with one acceleration, with two, and so on: figure
//! 3 of the 2006 paper, with the measures of its section 6.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::time::Instant;

use classad::ad::{Ad, Expression};
use classad::matching::negotiate::{NegotiationSettings, negotiate};
use classad::matching::policy::PolicyFault;
use classad::matching::{Accelerations, Statistics};
use classad::pool::RequestClusters;
use classad::protocol::identity;

use crate::cli::render::rows::{ResultTable, TableCell};

const UNACCELERATED: Accelerations = Accelerations::NONE;
const WITH_AUTOCLUSTERS: Accelerations = Accelerations { autoclusters: true, ..UNACCELERATED };
const WITH_MATCH_LISTS: Accelerations = Accelerations { match_lists: true, ..WITH_AUTOCLUSTERS };

/// Runs a negotiation cycle in each configuration and returns one row of costs per configuration. Each configuration
/// adds one acceleration to the previous one. Priorities come from the policy alone, not from recorded usage.
/// `reading_seconds` is the time that reading of the ads took.
pub fn comparison_table(
    settings: &NegotiationSettings,
    [requests, offers]: &[Vec<Ad>; 2],
    reading_seconds: f64,
) -> Result<ResultTable, PolicyFault> {
    let mut table = ResultTable::new(&[]);
    let NegotiationSettings { policy, protocol, context, .. } = settings;
    let start = Instant::now();
    let clusters = RequestClusters::new(requests, offers, &policy.request_policies(), protocol, context);
    let clustering_seconds = start.elapsed().as_secs_f64();
    let submitters = submitter_count(settings, requests);
    let (jobs, machines) = (requests.len(), offers.len());
    let mut run = |name: &str, requests: &[Ad], accelerations| -> Result<(), PolicyFault> {
        let settings = NegotiationSettings { accelerations, ..settings.clone() };
        let start = Instant::now();
        let outcome = negotiate(&settings, requests, offers, &|_| None, &mut |_| ControlFlow::Continue(()))?;
        let costs = configuration_costs(name, &outcome.statistics, start.elapsed().as_secs_f64());
        let memory = peak_megabytes().map_or_else(|| String::new().into(), TableCell::from);
        let of_pool: [(&str, TableCell); 7] = [
            ("requests", jobs.into()),
            ("offers", machines.into()),
            ("submitters", submitters.into()),
            ("autoclusters", clusters.clusters.len().into()),
            ("clustering_seconds", rounded_seconds(clustering_seconds).into()),
            ("reading_seconds", rounded_seconds(reading_seconds).into()),
            ("memory_mb", memory),
        ];
        table.header = costs.iter().chain(&of_pool).map(|(column, _)| (*column).to_owned()).collect();
        table.rows.push(costs.into_iter().chain(of_pool).map(|(_, cell)| cell).collect());
        Ok(())
    };
    run("baseline", requests, UNACCELERATED)?;
    run("autoclusters", requests, WITH_AUTOCLUSTERS)?;
    run("match lists", requests, WITH_MATCH_LISTS)?;
    // Build the resource requests outside the measured time, because in a pool the agents of the submitters build them
    // before the cycle.
    let numbered = clusters.clusters.iter().zip(1..);
    let requests: Vec<Ad> = numbered.map(|(cluster, id)| cluster.resource_request(id, cluster.members)).collect();
    run("resource requests", &requests, WITH_MATCH_LISTS)?;
    run("index", &requests, Accelerations::ALL)?;
    Ok(table)
}

fn rounded_seconds(seconds: f64) -> f64 {
    (seconds * 10000.0).round() / 10000.0
}

/// Counts the submitters of the requests, by the policy's `share` or else by `Owner`. Requests without one are one
/// submitter's.
fn submitter_count(settings: &NegotiationSettings, requests: &[Ad]) -> usize {
    let share = settings.policy.share.as_ref();
    let by = share.map_or_else(|| Expression::attribute("Owner"), |share| share.by.expression.clone());
    let name = |request: &Ad| identity(request, Some(&by), &settings.context);
    requests.iter().map(name).collect::<HashSet<_>>().len()
}

/// Returns the most memory that the process has used so far, in megabytes, as `/bin/ps` would tell it. `None` where the
/// system does not tell.
fn peak_megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some((kilobytes / 102.4).round() / 10.0)
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
        ("seconds", rounded_seconds(seconds).into()),
    ]
}
