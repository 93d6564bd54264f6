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

#[cfg(test)]
mod tests {
    use classad::ad::{Dialect, Value};
    use classad::eval::Context;
    use classad::query::AdLookup;
    use classad::syntax::{ParseOptions, parse_ad};

    use super::*;

    /// Returns the rows of jobs as name, numbers of done, running, idle and held jobs and of all, and ids; then whether
    /// a job is held. `T` is the number of jobs that there are or were, `D` the number of nodes that a DAG has done.
    fn rows(jobs: &[&str], is_partial: bool) -> Vec<String> {
        let context = Context::new(Dialect::Condor);
        let record = |text: &&str| {
            let ad = parse_ad(format!("[ {text} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let mut lookup = AdLookup::new(&ad, &context);
            let mut values = vec![None; JOB_IDS + 1];
            values[BATCH_NAME] = lookup.string("JobBatchName").map(Value::string);
            values[HELD] = lookup.integer("D").map(Value::Integer);
            values[TOTAL] = lookup.integer("T").map(Value::Integer);
            TableRecord { job: Some(JobFacts::new(&mut lookup)), ..TableRecord::of_row(values) }
        };
        let records: Vec<TableRecord> = jobs.iter().map(record).collect();
        let (rows, is_any_held) = batch_rows(&records, is_partial);
        let text = |value: &Option<Value>| match value {
            Some(Value::String(text)) => text.to_str().into_owned(),
            Some(value) => value.to_string(),
            None => "_".to_owned(),
        };
        let shown = |row: &MaskValues| [BATCH_NAME, 3, 4, 5, 6, 7, 8].map(|column| text(&row[column])).join(" ");
        rows.iter().map(shown).chain(is_any_held.then(|| "held".to_owned())).collect()
    }

    #[test]
    fn jobs_of_a_cluster_are_one_row() {
        for (jobs, expected) in [
            (&[][..], &[][..]),
            (&["ClusterId = 1; ProcId = 0; JobStatus = 1; T = 1"], &["ID: 1 _ _ 1 _ 1 1.0"]),
            (&["ClusterId = 1; ProcId = 2; JobStatus = 2; T = 5"], &["ID: 1 4 1 _ _ 5 1.2"]),
            (
                &["ClusterId = 1; ProcId = 1; JobStatus = 5; T = 2", "ClusterId = 1; ProcId = 3; JobStatus = 7; T = 2"],
                &["ID: 1 _ _ 1 1 2 1.1-3", "held"],
            ),
            // Each status: a transfer is a run, what is suspended is idle, the others are in no column.
            (
                &[
                    "ClusterId = 1; ProcId = 0; JobStatus = 1; T = 12",
                    "ClusterId = 1; ProcId = 1; JobStatus = 2",
                    "ClusterId = 1; ProcId = 2; JobStatus = 3",
                    "ClusterId = 1; ProcId = 3; JobStatus = 4",
                    "ClusterId = 1; ProcId = 4; JobStatus = 5",
                    "ClusterId = 1; ProcId = 5; JobStatus = 6",
                    "ClusterId = 1; ProcId = 6; JobStatus = 7",
                    "ClusterId = 1; ProcId = 7; JobStatus = 8",
                    "ClusterId = 1; ProcId = 8; JobStatus = 9",
                    "ClusterId = 1; ProcId = 9; JobStatus = 10",
                    "ClusterId = 1; ProcId = 10",
                ],
                &["ID: 1 1 2 2 1 12 1.0-10", "held"],
            ),
            // Without the number of all jobs, nothing is known of those that are done.
            (&["ClusterId = 1; ProcId = 5; JobStatus = 1"], &["ID: 1 _ _ 1 _ _ 1.5"]),
            (&["ClusterId = 1; ProcId = 5; JobStatus = 1; T = 0"], &["ID: 1 _ _ 1 _ _ 1.5"]),
            // A cluster that still makes jobs has made those before the next one.
            (
                &[
                    "ClusterId = 1; ProcId = 4; JobStatus = 1; T = 10; JobMaterializeNextProcId = 5",
                    "ClusterId = 1; T = 10; JobMaterializeNextProcId = 6",
                ],
                &["ID: 1 5 _ 1 _ 10 1.4"],
            ),
            (&["ClusterId = 1; T = 10; JobMaterializeNextProcId = 0"], &["ID: 1 _ _ _ _ 10 1.0"]),
            // What has no number is no cluster with others.
            (
                &["ProcId = 0; JobStatus = 1; T = 1", "ProcId = 1; JobStatus = 2; T = 1"],
                &[
                    "ID: 9223372036854775807 _ _ 1 _ 1 9223372036854775807.0",
                    "ID: 9223372036854775807 _ 1 _ _ 1 9223372036854775807.1",
                ],
            ),
        ] {
            assert_eq!(rows(jobs, false), expected, "{jobs:?}");
        }
        let part = ["ClusterId = 1; ProcId = 2; JobStatus = 2; T = 5"];
        assert_eq!(rows(&part, true), ["ID: 1 _ 1 _ _ 5 1.2"]);
    }

    #[test]
    fn clusters_of_a_batch_or_a_dag_are_one_row() {
        let dag = "ClusterId = 1; ProcId = 0; JobStatus = 2; JobUniverse = 7; JobBatchName = \"d\"; T = 4; D = 1";
        let batch = |cluster: u32, more: &str| {
            format!("ClusterId = {cluster}; ProcId = 0; JobStatus = 1; JobBatchName = \"b\"; T = 2{more}")
        };
        let [first, second, third, other, scheduler] = [
            batch(2, ""),
            batch(3, ""),
            batch(4, "; JobStatus = 2"),
            batch(5, "; Owner = \"o\""),
            batch(6, "; JobUniverse = 7; D = 1"),
        ];
        for (jobs, expected) in [
            (&[first.as_str(), &second][..], &["b 2 _ 2 _ 4 2.0 ... 3.0"][..]),
            (&[&first, &other, &third], &["b 2 1 1 _ 4 2.0 ... 4.0", "b 1 _ 1 _ 2 5.0"]),
            (
                &[&first, &scheduler, "ClusterId = 7; ProcId = 0"],
                &["b 1 _ 1 _ 2 2.0", "b 1 _ _ _ 2 0.0", "ID: 7 _ _ _ _ _ 7.0"],
            ),
            // The DAG itself is in no column; its nodes have no number of all jobs.
            (&[dag], &["d 1 _ _ _ 4 0.0"]),
            (&[dag, "ClusterId = 2; ProcId = 0; JobStatus = 1; DAGManJobId = 1; T = 1"], &["d 1 _ 1 _ 4 2.0"]),
            (
                &[
                    dag,
                    "ClusterId = 2; ProcId = 0; JobStatus = 5; DAGManJobId = 1; T = 9",
                    "ClusterId = 2; ProcId = 1; JobStatus = 2; DAGManJobId = 1; T = 9",
                    "ClusterId = 3; ProcId = 0; JobStatus = 2; DAGManJobId = 1; T = 9",
                ],
                &["d 1 2 _ 1 4 2.0 ... 3.0", "held"],
            ),
            // A DAG that is a node of another one: its nodes are counted, too.
            (
                &[
                    dag,
                    "ClusterId = 2; ProcId = 0; JobStatus = 2; JobUniverse = 7; DAGManJobId = 1; T = 3; D = 2",
                    "ClusterId = 3; ProcId = 0; JobStatus = 1; DAGManJobId = 2",
                    "ClusterId = 4; ProcId = 0; JobStatus = 2; DAGManJobId = 1",
                ],
                &["d 3 1 1 _ 7 3.0 ... 4.0"],
            ),
            // A node whose DAG is not there, comes later or is itself, stands alone.
            (&["ClusterId = 2; ProcId = 0; JobStatus = 1; DAGManJobId = 1"], &["ID: 2 _ _ 1 _ _ 2.0"]),
            (&["ClusterId = 2; ProcId = 0; JobStatus = 1; DAGManJobId = 2"], &["ID: 2 _ _ 1 _ _ 2.0"]),
            (
                &[
                    "ClusterId = 1; ProcId = 0; JobStatus = 1; DAGManJobId = 2",
                    "ClusterId = 2; ProcId = 0; JobStatus = 1",
                ],
                &["ID: 1 _ _ 1 _ _ 1.0", "ID: 2 _ _ 1 _ _ 2.0"],
            ),
            // The first job of the DAG's cluster is its DAGMan.
            (
                &[
                    "ClusterId = 1; ProcId = 1; JobStatus = 1",
                    "ClusterId = 2; ProcId = 0; JobStatus = 1; DAGManJobId = 1",
                ],
                &["ID: 1 _ _ 1 _ _ 1.1", "ID: 2 _ _ 1 _ _ 2.0"],
            ),
        ] {
            assert_eq!(rows(jobs, false), expected, "{jobs:?}");
        }
    }
}
