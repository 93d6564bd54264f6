//! The workload of a modern pool: slots of HTCondor 25 with about 170 attributes each, and a queue of jobs of many
//! users.

mod job;
mod machine;
mod request;
mod user;

use std::collections::BTreeMap;

use super::generator::{AdGenerator, AdKind, GeneratedAds};
use super::rng::{SeededRng, Zipf};
use super::template::AdTemplate;
use request::{JobRequest, JobRequestClass, JobRequestMix};
use user::users;

/// Machines of a modern HTCondor pool, and jobs of many users.
#[derive(Clone, Debug)]
pub struct PoolWorkload {
    /// Number of machines.
    pub machines: u32,
    /// Number of jobs.
    pub jobs: u32,
    /// Number of users, at least 1.
    pub users: u32,
    /// Maximum number of distinct requests, at least 1. Every job makes one of these requests.
    pub shapes: u32,
    /// Share of the distinct requests that no machine can ever meet, from 0 to 1.
    pub never: f64,
    /// Share of the distinct requests that at most a few machines meet, from 0 to 1.
    pub few: f64,
}

impl Default for PoolWorkload {
    fn default() -> Self {
        PoolWorkload { machines: 1236, jobs: 5831, users: 85, shapes: 372, never: 0.14, few: 0.1 }
    }
}

/// Probability that a cluster gets one more job. It is exp(-1/40), which makes clusters of about 40 jobs on average.
const FOLLOW_UP_PROBABILITY: f64 = 0.975_309_912_028_332_7;

/// A job cluster: jobs submitted together, with the same request.
struct JobCluster {
    request: usize,
    jobs: u32,
}

impl AdGenerator for PoolWorkload {
    fn kinds(&self) -> &'static [AdKind] {
        &[AdKind::Machines, AdKind::Jobs]
    }

    fn ads(&self, kind: AdKind, seed: u64) -> GeneratedAds<'_> {
        match kind {
            AdKind::Machines => {
                let users = users(self.users, seed);
                let mut rng = SeededRng::new(seed, "pool machines");
                let mut template = AdTemplate::new(machine::COMMON);
                let numbers = 0..i64::from(self.machines);
                Box::new(numbers.map(move |number| machine::machine(&mut rng, &mut template.start(), number, &users)))
            }
            AdKind::Jobs => {
                let (requests, clusters) = self.queue(seed);
                let mut rng = SeededRng::new(seed, "pool jobs");
                let mut template = AdTemplate::new(job::COMMON);
                let procs = (1000_i64..).zip(clusters).flat_map(|(id, cluster)| {
                    (0..i64::from(cluster.jobs)).map(move |proc| (cluster.request, job::JobId { cluster: id, proc }))
                });
                Box::new(procs.zip(0..).map(move |((request, id), number)| {
                    job::job(&mut rng, &mut template.start(), number, &id, &requests[request])
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
    /// Generates the distinct requests, and the job clusters in the order of submission. The number of jobs for a
    /// request varies widely. Every request has at least one cluster.
    fn queue(&self, seed: u64) -> (Vec<JobRequest>, Vec<JobCluster>) {
        let mix = JobRequestMix { never: self.never, few: self.few, machines: i64::from(self.machines) };
        let most = self.shapes.max(1).min(self.jobs) as usize;
        let requests = mix.requests(&users(self.users, seed), most, &mut SeededRng::new(seed, "pool requests"));
        let mut rng = SeededRng::new(seed, "pool queue");
        let mut order: Vec<usize> = (0..requests.len()).collect();
        rng.shuffle(&mut order);
        let mut jobs: Vec<u32> = vec![1; requests.len()];
        let popularity = Zipf::new(requests.len(), 11);
        for _ in requests.len()..self.jobs as usize {
            jobs[popularity.draw(&mut rng)] += 1;
        }
        let mut clusters = Vec::new();
        for (request, mut left) in order.into_iter().zip(jobs) {
            while left > 0 {
                let mut jobs = 1;
                while jobs < left && rng.with_probability(FOLLOW_UP_PROBABILITY) {
                    jobs += 1;
                }
                clusters.push(JobCluster { request, jobs });
                left -= jobs;
            }
        }
        rng.shuffle(&mut clusters);
        (requests, clusters)
    }
}

#[cfg(test)]
mod tests {
    use super::PoolWorkload;

    #[test]
    fn users_submit_clusters_of_one_request_in_between_others() {
        let (requests, clusters) = PoolWorkload::default().queue(7);
        assert_eq!(clusters.iter().map(|cluster| cluster.jobs).sum::<u32>(), PoolWorkload::default().jobs);
        let has_cluster = |request: usize| clusters.iter().any(|cluster| cluster.request == request);
        assert!((0..requests.len()).all(has_cluster));
        // If each request had all its clusters at once, there were as many changes as requests.
        let changes = clusters.windows(2).filter(|pair| pair[0].request != pair[1].request).count();
        assert!(changes > requests.len(), "{changes} {}", requests.len());
    }
}
