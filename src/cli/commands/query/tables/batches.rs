//! The rows of `condor_q -batch`: the jobs of a cluster, of a batch with a name, or of a DAG are one row.

use std::collections::{BTreeMap, HashMap};

use classad::ad::Value;

use super::ad_table::TableRecord;
use super::job_facts::{JobFacts, STATUSES};
use crate::cli::commands::query::print_mask::MaskValues;
use classad::query::to_integer;

/// The columns whose values are counted, in the print format of batches.
const BATCH_NAME: usize = 1;
const DONE: usize = 3;
const HELD: usize = 6;
const TOTAL: usize = 7;
const JOB_IDS: usize = 8;

/// A cluster: the records of its jobs, which are neighbours.
struct QueuedCluster {
    jobs: std::ops::Range<usize>,
    /// Clusters that are counted with this one, in order.
    members: Vec<usize>,
    is_member: bool,
}

/// What is counted of the jobs in a row.
#[derive(Default)]
struct BatchCounts {
    jobs: i64,
    /// Number of jobs that there are or were.
    total: i64,
    done: i64,
    is_total_unknown: bool,
    statuses: [i64; STATUSES],
    first: Option<(i64, i64)>,
    last: (i64, i64),
}

/// Makes the rows of batches of records that are sorted by the numbers of the jobs. If some jobs of a cluster may be
/// left out, the row does not say how many are done. Also returns whether a job is held.
pub fn batch_rows(records: &[TableRecord], is_partial: bool) -> (Vec<MaskValues>, bool) {
    let jobs: Vec<&JobFacts> = records.iter().filter_map(|record| record.job.as_ref()).collect();
    let mut clusters = clusters_of(&jobs);
    link(&jobs, &mut clusters);
    let mut is_any_held = false;
    let mut rows = Vec::new();
    for cluster in clusters.iter().filter(|cluster| !cluster.is_member) {
        let mut counts = BatchCounts::default();
        // The members of members, too, with a stack of their own.
        let mut waiting = vec![cluster];
        while let Some(next) = waiting.pop() {
            counts.add(records, &jobs, next, is_partial);
            waiting.extend(next.members.iter().rev().map(|index| &clusters[*index]));
        }
        is_any_held |= counts.statuses[5] > 0;
        rows.push(counts.row(&records[cluster.jobs.start], jobs[cluster.jobs.start]));
    }
    (rows, is_any_held)
}

fn clusters_of(jobs: &[&JobFacts]) -> Vec<QueuedCluster> {
    let mut clusters: Vec<QueuedCluster> = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        match clusters.last_mut() {
            Some(last) if jobs[last.jobs.start].cluster == job.cluster && job.cluster != i64::MAX => {
                last.jobs.end = index + 1;
            }
            _ => clusters.push(QueuedCluster { jobs: index..index + 1, members: Vec::new(), is_member: false }),
        }
    }
    clusters
}

/// Makes clusters members of their DAG, or of the first cluster of their batch.
fn link(jobs: &[&JobFacts], clusters: &mut [QueuedCluster]) {
    let firsts = clusters.iter().map(|cluster| jobs[cluster.jobs.start]).enumerate();
    let dags: BTreeMap<i64, usize> =
        firsts.filter(|(_, job)| job.process == Some(0)).map(|(index, job)| (job.cluster, index)).collect();
    let mut batches: HashMap<&str, usize> = HashMap::new();
    for index in 0..clusters.len() {
        let job = jobs[clusters[index].jobs.start];
        let leader = match (job.dag, job.batch.as_deref()) {
            // A DAG comes before its nodes, so that there is no circle.
            (Some(dag), _) => dags.get(&dag).copied().filter(|parent| *parent < index),
            (None, Some(batch)) => {
                let first = *batches.entry(batch).or_insert(index);
                Some(first).filter(|first| *first < index && !job.is_scheduler_universe)
            }
            (None, None) => None,
        };
        if let Some(leader) = leader {
            clusters[leader].members.push(index);
            clusters[index].is_member = true;
        }
    }
}

impl BatchCounts {
    fn add(&mut self, records: &[TableRecord], jobs: &[&JobFacts], cluster: &QueuedCluster, is_partial: bool) {
        let first = jobs[cluster.jobs.start];
        let told = |index: usize, column: usize| records[index].values[column].as_ref().and_then(to_integer);
        if first.is_scheduler_universe {
            self.total += told(cluster.jobs.start, TOTAL).unwrap_or(0);
            self.done += told(cluster.jobs.start, HELD).unwrap_or(0);
        }
        let counted = cluster.jobs.clone().filter(|index| *index > cluster.jobs.start || !first.is_scheduler_universe);
        for job in counted.map(|index| jobs[index]).filter(|job| job.process.is_some()) {
            self.jobs += 1;
            self.statuses[job.status_index()] += 1;
        }
        if !first.is_scheduler_universe {
            let ids = cluster.jobs.clone().filter_map(|index| jobs[index].process);
            let ends = ids.clone().min().zip(ids.max()).unwrap_or((0, 0));
            self.first = Some(self.first.unwrap_or((first.cluster, ends.0)).min((first.cluster, ends.0)));
            self.last = self.last.max((first.cluster, ends.1));
        }
        if first.is_scheduler_universe || first.dag.is_some() {
            return;
        }
        let present = i64::try_from(cluster.jobs.len()).unwrap_or(i64::MAX);
        let next_process = cluster.jobs.clone().filter_map(|index| jobs[index].next_process).next_back();
        match told(cluster.jobs.start, TOTAL).filter(|total| *total != 0) {
            Some(total) => {
                self.total += total;
                if !is_partial {
                    self.done += next_process.map_or(total - present, |made| made - self.jobs);
                }
            }
            None => self.is_total_unknown = true,
        }
    }

    /// Returns the row: the values of the first job, with the numbers of all.
    fn row(&self, first: &TableRecord, job: &JobFacts) -> MaskValues {
        let mut values = first.values.clone();
        let known = |count: i64| if self.is_total_unknown { 0 } else { count };
        let [_, idle, running, _, _, held, transferring, suspended, ..] = self.statuses;
        let numbers = [known(self.done), running + transferring, idle + suspended, held, known(self.total)];
        for (column, number) in (DONE..).zip(numbers) {
            values[column] = Some(Value::Integer(number)).filter(|_| number > 0);
        }
        if values[BATCH_NAME].is_none() {
            values[BATCH_NAME] = Some(Value::string(format!("ID: {}", job.cluster)));
        }
        let ((cluster, process), (last_cluster, last)) = (self.first.unwrap_or((0, 0)), self.last);
        let ids = match () {
            () if (cluster, process) == (last_cluster, last) => format!("{cluster}.{process}"),
            () if cluster == last_cluster => format!("{cluster}.{process}-{last}"),
            () => format!("{cluster}.{process} ... {last_cluster}.{last}"),
        };
        values[JOB_IDS] = Some(Value::string(ids));
        values
    }
}

/// The column of held jobs, which is left out if there is none.
pub const HELD_COLUMN: usize = HELD;
