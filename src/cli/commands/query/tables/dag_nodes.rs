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
