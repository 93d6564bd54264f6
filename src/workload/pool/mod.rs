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

    #[test]
    fn jobs_wait_since_they_were_submitted() {
        use crate::workload::{AdGenerator, AdKind};
        let workload = PoolWorkload { jobs: 50, ..PoolWorkload::default() };
        let jobs: Vec<_> = workload.ads(AdKind::Jobs, 7).collect();
        assert_eq!(jobs.len(), 50);
        for job in &jobs {
            let text = |name: &str| job.get_str(name).map(ToString::to_string).unwrap_or_default();
            assert_eq!(text("EnteredCurrentStatus"), text("QDate"));
            let id = format!("#{}.{}#{}\"", text("ClusterId"), text("ProcId"), text("QDate"));
            assert!(text("GlobalJobId").ends_with(&id), "{}", text("GlobalJobId"));
        }
    }

    /// Each class has what keeps machines from its requests.
    #[test]
    fn requests_demand_what_their_classes_say() {
        use super::request::JobRequestClass as Class;
        let workload = PoolWorkload { shapes: 2000, ..PoolWorkload::default() };
        let (requests, _) = workload.queue(7);
        let number = |text: &str, before: &str| -> i64 {
            let (_, behind) = text.split_once(before).unwrap_or_else(|| panic!("{text}: no {before}"));
            behind.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
        };
        for request in &requests {
            let text = &request.requirements;
            let is_demanded = match request.class {
                Class::Contradiction => number(text, "TARGET.Memory > ") > number(text, "TARGET.Memory < "),
                Class::Memory => request.memory >= 4_000_000,
                Class::Arch => !text.contains("X86_64"),
                Class::Typo => {
                    ["Singularty", "MajorVersion", "HasCVMFS)", "GpuCapability"].iter().any(|typo| text.contains(typo))
                }
                Class::OldSystem => ["== 6)", "CentOS6", "SL6", "RedHat7"].iter().any(|old| text.contains(old)),
                Class::Few => {
                    text.contains("TARGET.GPUs_Capability")
                        || text.contains("TARGET.Machine")
                        || request.memory >= 600_000
                }
                Class::Ordinary => request.memory < 600_000 && text.contains("X86_64"),
            };
            assert!(is_demanded, "{:?}: {text}", request.class);
            assert_eq!(text.contains("(TARGET.GPUs >= RequestGPUs)"), request.gpus > 0, "{text}");
            assert_eq!(text.contains("(TARGET.Cpus >= RequestCpus)"), request.cpus > 1, "{text}");
            assert!(text.contains("(TARGET.HasFileTransfer)"), "{text}");
        }
        let share = |is_of: &dyn Fn(Class) -> bool| requests.iter().filter(|request| is_of(request.class)).count();
        let (few, ordinary) = (share(&|class| class == Class::Few), share(&|class| class == Class::Ordinary));
        let never = requests.len() - few - ordinary;
        assert!((150..250).contains(&few) && (230..330).contains(&never), "{few} {never} of {}", requests.len());
        assert_eq!(workload.queue(7).0.len(), requests.len());
        let ordinary = PoolWorkload { never: 0.0, few: 0.0, ..PoolWorkload::default() }.queue(7).0;
        assert!(ordinary.iter().all(|request| request.class == Class::Ordinary));
    }
}
