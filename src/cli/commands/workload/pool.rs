//! The workload of a modern pool: slots of HTCondor 25 with about 170 attributes each, and a queue of jobs of many
//! users.

mod job;
mod machine;
mod request;

use std::collections::BTreeMap;

use clap::Args;

use super::rng::{SeededRng, Zipf};
use super::template::AdTemplate;
use super::{AdForm, AdGenerator, AdKind, GeneratedAds, WorkloadOutput, parse_share};
use request::{JobRequest, JobRequestClass};

/// Machines of a modern HTCondor pool, and the jobs of many users
#[derive(Args)]
pub struct PoolWorkload {
    /// How many machines
    #[arg(long, value_name = "N", default_value_t = 1236)]
    machines: u32,
    /// How many jobs
    #[arg(long, value_name = "N", default_value_t = 5831)]
    jobs: u32,
    /// How many users
    #[arg(long, value_name = "N", default_value_t = 85, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    users: u32,
    /// How many different requests there are; every job makes one of them
    #[arg(long, value_name = "N", default_value_t = 372, value_parser = clap::value_parser!(u32).range(1..))]
    shapes: u32,
    /// The share of them that no machine can ever meet
    #[arg(long, value_name = "SHARE", default_value_t = 0.14, value_parser = parse_share)]
    never: f64,
    /// The share of them that few machines meet
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, value_parser = parse_share)]
    few: f64,
    #[command(flatten)]
    pub(super) delivery: WorkloadOutput,
}

const GROUPS: [&str; 8] = ["physics", "chemistry", "biostat", "astro", "cs", "econ", "engr", "climate"];
const SITES: [&str; 7] = ["Wisc", "UCSD", "Purdue", "Nebraska", "MIT", "Caltech", "UChicago"];
const LABS: [&str; 5] = ["hep", "chtc", "stat", "bio", "lab"];

/// Current time of the generated pool, in seconds since 1970.
const NOW_SECONDS: i64 = 1_760_000_000;

/// Probability that a cluster gets one more job: exp(-1/40), so that clusters have about 40 jobs on average.
const FOLLOW_UP_PROBABILITY: f64 = 0.975_309_912_028_332_7;

/// A user with an accounting group.
#[derive(Clone, PartialEq, Eq, Hash)]
struct PoolUser {
    number: u32,
    name: String,
    group: &'static str,
}

/// A job cluster: jobs submitted together, with the same request.
struct JobCluster {
    request: usize,
    jobs: u32,
}

impl AdGenerator for PoolWorkload {
    fn kinds(&self) -> &'static [AdKind] {
        &[AdKind::Machines, AdKind::Jobs]
    }

    fn form(&self) -> AdForm {
        AdForm::Long
    }

    fn ads(&self, kind: AdKind, seed: u64) -> GeneratedAds<'_> {
        match kind {
            AdKind::Machines => {
                let users = self.users(seed);
                let mut chance = SeededRng::new(seed, "pool machines");
                let mut mould = AdTemplate::new(machine::COMMON);
                Box::new(
                    (0..self.machines).map(move |number| {
                        machine::machine(&mut chance, &mut mould.start(), i64::from(number), &users)
                    }),
                )
            }
            AdKind::Jobs => {
                let (requests, clusters) = self.queue(seed);
                let mut chance = SeededRng::new(seed, "pool jobs");
                let mut mould = AdTemplate::new(job::COMMON);
                let procs = (1000_i64..).zip(clusters).flat_map(|(id, cluster)| {
                    (0..i64::from(cluster.jobs)).map(move |proc| (cluster.request, job::JobId { cluster: id, proc }))
                });
                Box::new(procs.zip(0..).map(move |((request, id), number)| {
                    job::job(&mut chance, &mut mould.start(), number, &id, &requests[request])
                }))
            }
            _ => Box::new(std::iter::empty()),
        }
    }

    fn remark(&self, kind: AdKind, seed: u64) -> Option<String> {
        if kind != AdKind::Jobs {
            return None;
        }
        let (requests, clusters) = self.queue(seed);
        let mut jobs = BTreeMap::<JobRequestClass, u32>::new();
        for cluster in &clusters {
            *jobs.entry(requests[cluster.request].class).or_default() += cluster.jobs;
        }
        let jobs: Vec<String> = jobs.iter().map(|(class, count)| format!("{count} {}", class.phrase())).collect();
        (!jobs.is_empty()).then(|| format!("jobs: {}", jobs.join(", ")))
    }
}

impl PoolWorkload {
    fn users(&self, seed: u64) -> Vec<PoolUser> {
        let mut chance = SeededRng::new(seed, "pool users");
        let user =
            |number| PoolUser { number, name: format!("user{number:02}"), group: chance.choose::<&str>(&GROUPS) };
        (0..self.users).map(user).collect()
    }

    /// Generates the distinct requests, and the job clusters in the order of submission, with widely varying sizes.
    /// Every request occurs if there are enough jobs.
    fn queue(&self, seed: u64) -> (Vec<JobRequest>, Vec<JobCluster>) {
        let mut chance = SeededRng::new(seed, "pool requests");
        let most = self.shapes.min(self.jobs) as usize;
        let requests = request::requests(&mut chance, self, &self.users(seed), most);
        let mut chance = SeededRng::new(seed, "pool queue");
        let mut order: Vec<usize> = (0..requests.len()).collect();
        chance.shuffle(&mut order);
        let mut jobs: Vec<u32> = vec![1; requests.len()];
        let popularity = Zipf::new(requests.len(), 11);
        for _ in requests.len()..self.jobs as usize {
            jobs[popularity.draw(&mut chance)] += 1;
        }
        let mut clusters = Vec::new();
        for (request, mut left) in order.into_iter().zip(jobs) {
            while left > 0 {
                let mut jobs = 1;
                while jobs < left && chance.with_probability(FOLLOW_UP_PROBABILITY) {
                    jobs += 1;
                }
                clusters.push(JobCluster { request, jobs });
                left -= jobs;
            }
        }
        chance.shuffle(&mut clusters);
        (requests, clusters)
    }
}
