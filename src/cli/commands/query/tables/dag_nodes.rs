//! The order of `condor_q -dag`: jobs stand below the DAG that they are nodes of.

use std::collections::HashMap;

use classad::ad::Value;

use super::ad_table::TableRecord;
use classad::query::to_text;

/// The column of the owner or the node.
const NAME: usize = 2;

/// Sorts records, which are sorted by the numbers of the jobs, so that nodes stand below their DAG. Indents the names
/// of nodes.
pub fn sort_by_dag(mut records: Vec<TableRecord>) -> Vec<TableRecord> {
    let mut dags: HashMap<i64, usize> = HashMap::new();
    for (index, job) in records.iter().enumerate().filter_map(|(index, record)| Some((index, record.job.as_ref()?))) {
        if job.process == Some(0) {
            dags.insert(job.cluster, index);
        }
    }
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); records.len()];
    let mut generations = vec![0_usize; records.len()];
    let mut roots = Vec::new();
    for index in 0..records.len() {
        let dag = records[index].job.as_ref().and_then(|job| job.dag);
        // A DAG comes before its nodes, so that there is no circle.
        match dag.and_then(|dag| dags.get(&dag).copied()).filter(|parent| *parent < index) {
            Some(parent) => {
                generations[index] = generations[parent] + 1;
                // Of a node with several jobs, only the first one stands there, as in HTCondor.
                let cluster = |index: usize| records[index].job.as_ref().map(|job| job.cluster);
                let is_first = cluster(index - 1) != cluster(index);
                let siblings = &mut children[parent];
                if is_first || siblings.is_empty() { siblings.push(index) } else { roots.push(index) }
            }
            None => roots.push(index),
        }
        if dag.is_some() {
            let name = records[index].values[NAME].as_ref().and_then(to_text).unwrap_or_default();
            let indented = format!("{}|-{name}", " ".repeat(generations[index]));
            records[index].values[NAME] = Some(Value::string(indented));
        }
    }
    let mut order = Vec::with_capacity(records.len());
    let mut waiting: Vec<usize> = roots.into_iter().rev().collect();
    while let Some(index) = waiting.pop() {
        order.push(index);
        waiting.extend(children[index].iter().rev());
    }
    let mut places: Vec<Option<TableRecord>> = records.into_iter().map(Some).collect();
    order.into_iter().filter_map(|index| places[index].take()).collect()
}

#[cfg(test)]
mod tests {
    use classad::ad::{Dialect, Value};
    use classad::eval::Context;
    use classad::query::{AdLookup, to_text};
    use classad::syntax::{ParseOptions, parse_ad};

    use super::{NAME, TableRecord, sort_by_dag};
    use crate::cli::commands::query::tables::job_facts::JobFacts;

    /// Returns the names of jobs, sorted below their DAGs. A job is its numbers and the number of its DAG, 0 for none.
    fn sorted(jobs: &[(i64, i64, i64)]) -> Vec<String> {
        let context = Context::new(Dialect::Condor);
        let record = |(cluster, process, dag): &(i64, i64, i64)| {
            let text = format!("[ ClusterId = {cluster}; ProcId = {process}; DAGManJobId = {dag} ]");
            let ad = parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
            let mut values = vec![None; NAME + 1];
            values[NAME] = Some(Value::string(format!("{cluster}.{process}")));
            let job = Some(JobFacts::new(&mut AdLookup::new(&ad, &context)));
            TableRecord { job, ..TableRecord::of_row(values) }
        };
        let records = sort_by_dag(jobs.iter().map(record).collect());
        records.iter().map(|record| record.values[NAME].as_ref().and_then(to_text).unwrap()).collect()
    }

    #[test]
    fn nodes_stand_below_their_dag() {
        for (jobs, expected) in [
            (&[(1, 0, 0), (2, 0, 0)][..], &["1.0", "2.0"][..]),
            (&[(1, 0, 0), (2, 0, 0), (3, 0, 1)], &["1.0", " |-3.0", "2.0"]),
            // Of a node with several jobs, only the first one stands there.
            (&[(1, 0, 0), (2, 0, 1), (2, 1, 1), (3, 0, 1)], &["1.0", " |-2.0", " |-3.0", " |-2.1"]),
            (&[(1, 0, 0), (2, 0, 0), (2, 1, 1), (3, 0, 1)], &["1.0", " |-2.1", " |-3.0", "2.0"]),
            // A DAG is a node of another one, or is not there.
            (&[(1, 0, 0), (2, 0, 1), (3, 0, 2), (4, 0, 1)], &["1.0", " |-2.0", "  |-3.0", " |-4.0"]),
            (&[(2, 0, 1), (3, 0, 0)], &["|-2.0", "3.0"]),
            (&[(1, 0, 1)], &["|-1.0"]),
            (&[(1, 0, 2), (2, 0, 0)], &["|-1.0", "2.0"]),
        ] {
            assert_eq!(sorted(jobs), expected, "{jobs:?}");
        }
    }
}
