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

#[cfg(test)]
mod tests {
    use classad::ad::Dialect;
    use classad::eval::Context;
    use classad::syntax::{ParseOptions, parse_ad};

    use super::*;

    fn facts(attributes: &str) -> JobFacts {
        let context = Context::new(Dialect::Condor);
        let ad = parse_ad(format!("[ {attributes} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        JobFacts::new(&mut AdLookup::new(&ad, &context))
    }

    #[test]
    fn a_job_has_its_dag_its_batch_and_its_place() {
        for (attributes, dag, batch) in [
            ("x = 1", None, None),
            ("DAGManJobId = 5", Some(5), None),
            ("DAGManJobId = \"5.0\"", Some(5), None),
            ("DAGManJobId = \" 5\"", Some(5), None),
            ("DAGManJobId = 0", None, None),
            ("DAGManJobId = -1", None, None),
            ("DAGManJobId = \"x\"", None, None),
            ("JobBatchName = \"b\"", None, Some("b\n")),
            ("JobBatchName = \"b\"; Owner = \"o\"; DAGNodeName = \"n\"; DAGManJobId = 1", Some(1), Some("b\no")),
            ("Owner = \"o\"; DAGNodeName = \"n\"; DAGManJobId = 1", Some(1), Some("NODE: n\no")),
            ("Owner = \"o\"; DAGNodeName = \"n\"", None, None),
        ] {
            let found = facts(attributes);
            assert_eq!((found.dag, found.batch.as_deref()), (dag, batch), "{attributes}");
        }
        for (attributes, id, next) in [
            ("ClusterId = 1; ProcId = 0; JobMaterializeNextProcId = 0", (1, 0), Some(0)),
            ("ClusterId = 1; JobMaterializeNextProcId = -1", (1, i64::MAX), None),
            ("ProcId = 2", (i64::MAX, 2), None),
        ] {
            let found = facts(attributes);
            assert_eq!((found.id(), found.next_process), (id, next), "{attributes}");
        }
    }

    /// The numbers of all, idle, running, removed, completed, held and suspended jobs, of both kinds.
    #[test]
    fn jobs_are_counted_by_status() {
        for (attributes, index, expected) in [
            ("ProcId = 0; JobStatus = -1", 0, "0 0 0 0 0 0 0, 0 0 0 0 0 0"),
            ("ProcId = 0; JobStatus = 0", 0, "0 0 0 0 0 0 0, 0 0 0 0 0 0"),
            ("ProcId = 0; JobStatus = 1", 1, "1 1 0 0 0 0 0, 0 0 0 0 0 0"),
            ("ProcId = 0; JobStatus = 2", 2, "1 0 1 0 0 0 0, 0 0 0 0 0 0"),
            ("ProcId = 0; JobStatus = 3", 3, "1 0 0 1 0 0 0, 0 0 0 0 0 0"),
            ("ProcId = 0; JobStatus = 4", 4, "1 0 0 0 1 0 0, 0 0 0 0 0 0"),
            ("ProcId = 0; JobStatus = 5", 5, "1 0 0 0 0 1 0, 0 0 0 0 0 0"),
            ("ProcId = 0; JobStatus = 6", 6, "1 0 1 0 0 0 0, 0 0 0 0 0 0"),
            ("ProcId = 0; JobStatus = 7", 7, "1 0 0 0 0 0 1, 0 0 0 0 0 0"),
            ("ProcId = 0; JobStatus = 9", 9, "0 0 0 0 0 0 0, 0 0 0 0 0 0"),
            ("ProcId = 0; JobStatus = 10", 0, "0 0 0 0 0 0 0, 0 0 0 0 0 0"),
            ("JobStatus = 1", 1, "0 0 0 0 0 0 0, 0 0 0 0 0 0"),
            ("ProcId = 0; JobStatus = 2; JobUniverse = 7", 2, "0 0 0 0 0 0 0, 1 0 1 0 0 0"),
            ("ProcId = 0; JobStatus = 7; JobUniverse = 7", 7, "0 0 0 0 0 0 0, 0 0 0 0 0 0"),
        ] {
            let (job, mut counts) = (facts(attributes), JobCounts::default());
            counts.add(&job);
            let ad = counts.to_ad();
            let number = |name: String| ad.get_str(&name).map(ToString::to_string).unwrap();
            let names = ["Jobs", "Idle", "Running", "Removed", "Completed", "Held", "Suspended"];
            let numbers = |prefix: &str, names: &[&str]| {
                names.iter().map(|name| number(format!("{prefix}{name}"))).collect::<Vec<_>>().join(" ")
            };
            let found = format!("{}, {}", numbers("", &names), numbers("Scheduler", &names[..6]));
            assert_eq!((job.status_index(), found.as_str()), (index, expected), "{attributes}");
        }
    }
}
