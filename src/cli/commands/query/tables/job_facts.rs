//! What the tables of jobs count: the jobs of each status.

use classad::ad::{Ad, Expression, Name, Value};

use classad::query::{AdLookup, to_text};

/// The attributes that [`JobFacts`] reads.
pub const JOB_ATTRIBUTES: [&str; 11] = [
    "ClusterId",
    "ProcId",
    "JobStatus",
    "JobUniverse",
    "ServerTime",
    "DAGManJobId",
    "DAGNodeName",
    "JobBatchName",
    "Owner",
    "JobMaterializeNextProcId",
    "DAG_NodesDone",
];

/// The number of the scheduler universe, in which DAGs run.
const SCHEDULER_UNIVERSE: i64 = 7;

/// Number of statuses of jobs, with 0 for none.
pub const STATUSES: usize = 10;

/// What a table reads of a job beside its row.
pub struct JobFacts {
    /// `ClusterId`; the largest number if there is none.
    pub cluster: i64,
    /// `ProcId`; `None` of the ad of a whole cluster.
    pub process: Option<i64>,
    pub status: i64,
    pub is_scheduler_universe: bool,
    /// The access point's time; 0 if the ad has none.
    pub server_time: i64,
    /// The `ClusterId` of the DAG that the job is a node of.
    pub dag: Option<i64>,
    /// The name of the batch and the owner; `None` if the job is in no named batch.
    pub batch: Option<String>,
    /// The next `ProcId` of a cluster that still makes jobs.
    pub next_process: Option<i64>,
}

impl JobFacts {
    pub fn new(lookup: &mut AdLookup) -> Self {
        let dag = match lookup.attribute("DAGManJobId") {
            Value::Integer(cluster) => Some(cluster),
            value => to_text(&value).and_then(|text| text.split('.').next()?.trim().parse().ok()),
        };
        let owner = lookup.string("Owner").unwrap_or_default();
        let node = if lookup.has("DAGManJobId") { lookup.string("DAGNodeName") } else { None };
        let batch = lookup.string("JobBatchName").or_else(|| node.map(|node| format!("NODE: {node}")));
        JobFacts {
            cluster: lookup.integer("ClusterId").unwrap_or(i64::MAX),
            process: lookup.integer("ProcId"),
            status: lookup.integer("JobStatus").unwrap_or(0),
            is_scheduler_universe: lookup.integer("JobUniverse") == Some(SCHEDULER_UNIVERSE),
            server_time: lookup.integer("ServerTime").unwrap_or(0),
            dag: dag.filter(|cluster| *cluster > 0),
            batch: batch.map(|name| format!("{name}\n{owner}")),
            next_process: lookup.integer("JobMaterializeNextProcId").filter(|next| *next >= 0),
        }
    }

    /// The number of the status: 0 for one that HTCondor does not use.
    pub fn status_index(&self) -> usize {
        usize::try_from(self.status).ok().filter(|status| *status < STATUSES).unwrap_or(0)
    }

    /// The key by which jobs are sorted: what has no `ProcId` comes last in its cluster.
    pub fn id(&self) -> (i64, i64) {
        (self.cluster, self.process.unwrap_or(i64::MAX))
    }
}

/// Numbers of jobs of each status, without and with the scheduler universe.
#[derive(Default)]
pub struct JobCounts {
    counts: [[i64; STATUSES]; 2],
}

/// The names of the statuses in the summary, with their numbers.
const COUNTED: [(&str, usize); 6] =
    [("Idle", 1), ("Running", 2), ("Removed", 3), ("Completed", 4), ("Held", 5), ("Suspended", 7)];

impl JobCounts {
    pub fn add(&mut self, job: &JobFacts) {
        if job.process.is_none() {
            return;
        }
        // A job whose output is on the way counts as running.
        let status = if job.status == 6 { 2 } else { job.status_index() };
        self.counts[usize::from(job.is_scheduler_universe)][status] += 1;
    }

    /// Returns the numbers as an ad, for the columns of the summary.
    pub fn to_ad(&self) -> Ad {
        let mut attributes = vec![("MyType".to_owned(), Value::string("Summary"))];
        for (counts, prefix) in self.counts.iter().zip(["", "Scheduler"]) {
            let counted = COUNTED.iter().filter(|(name, _)| prefix.is_empty() || *name != "Suspended");
            let rows: Vec<(String, i64)> =
                counted.map(|(name, status)| (format!("{prefix}{name}"), counts[*status])).collect();
            let sum = rows.iter().map(|(_, count)| count).sum();
            attributes.push((format!("{prefix}Jobs"), Value::Integer(sum)));
            attributes.extend(rows.into_iter().map(|(name, count)| (name, Value::Integer(count))));
        }
        attributes.into_iter().map(|(name, value)| (Name::new(&name), Expression::literal(value))).collect()
    }
}
