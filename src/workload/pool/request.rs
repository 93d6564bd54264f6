//! The distinct job requests of the pool workload.

use indexmap::IndexSet;

use super::super::rng::{SeededRng, Zipf};
use super::user::{LABS, PoolUser, SITES};

/// What a job asks for. Many jobs make the same request.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct JobRequest {
    pub user: PoolUser,
    pub cpus: i64,
    /// Requested memory in megabytes.
    pub memory: i64,
    /// Requested disk space in kilobytes.
    pub disk: i64,
    pub gpus: i64,
    pub requirements: String,
    pub rank: &'static str,
    pub priority: i64,
    pub has_project: bool,
    pub has_group: bool,
    /// Maximum duration of the job in seconds; `None` if the job states none.
    pub duration: Option<i64>,
    pub desired_sites: Option<String>,
    pub undesired_sites: Option<&'static str>,
    pub class: JobRequestClass,
}

/// Proportions of the kinds of requests that are generated.
pub struct JobRequestMix {
    /// Share of requests that no machine can ever meet, from 0 to 1.
    pub never: f64,
    /// Share of requests that at most a few machines meet, from 0 to 1.
    pub few: f64,
    /// Number of machines in the pool. Some requests name one of them.
    pub machines: i64,
}

/// Class of a request: many machines meet it, a few, or none. There is one class for each reason why no machine meets
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JobRequestClass {
    Ordinary,
    Few,
    Contradiction,
    Typo,
    Memory,
    OldSystem,
    Arch,
}

impl JobRequestClass {
    pub fn phrase(self) -> &'static str {
        match self {
            JobRequestClass::Ordinary => "ordinary",
            JobRequestClass::Few => "that few machines suit",
            JobRequestClass::Contradiction => "with a contradiction",
            JobRequestClass::Typo => "with a misspelt attribute",
            JobRequestClass::Memory => "for more memory than any machine has",
            JobRequestClass::OldSystem => "for an operating system that no machine has any more",
            JobRequestClass::Arch => "for another architecture",
        }
    }
}

/// Classes of requests that no machine meets.
const UNMATCHABLE_CLASSES: [JobRequestClass; 5] = [
    JobRequestClass::Contradiction,
    JobRequestClass::Typo,
    JobRequestClass::Memory,
    JobRequestClass::OldSystem,
    JobRequestClass::Arch,
];

const CPUS: [(i64, f64); 7] = [(1, 62.0), (2, 12.0), (4, 12.0), (8, 8.0), (16, 4.0), (32, 1.5), (64, 0.5)];

/// Requested memory in megabytes, with weights for the random choice. A random amount of [`EXTRA_MEMORY_MB`] is added.
const MEMORY: [(i64, f64); 10] = [
    (512, 6.0),
    (1024, 18.0),
    (2048, 26.0),
    (4096, 20.0),
    (8192, 12.0),
    (16384, 8.0),
    (32768, 5.0),
    (65536, 3.0),
    (131_072, 1.5),
    (262_144, 0.5),
];
const EXTRA_MEMORY_MB: [i64; 5] = [0, 0, 0, 100, 500];

/// Requested disk space in kilobytes, for a random choice.
const DISK: [i64; 6] = [1_000_000, 2_000_000, 5_000_000, 10_485_760, 20_971_520, 104_857_600];

/// Clauses about file transfer; every request has one of them.
const FILES: [&str; 2] =
    ["(TARGET.HasFileTransfer)", "((TARGET.FileSystemDomain == MY.FileSystemDomain) || (TARGET.HasFileTransfer))"];

const TYPOS: [&str; 4] = [
    "(TARGET.HasSingularty == true)",
    "(TARGET.OpSysMajorVersion >= 8)",
    "(TARGET.HasCVMFS)",
    "(Target.GpuCapability > 7)",
];

const OLD_SYSTEMS: [&str; 4] = [
    "(TARGET.OpSysMajorVer == 6)",
    "(TARGET.OpSysAndVer == \"CentOS6\")",
    "(TARGET.OpSysAndVer =?= \"SL6\")",
    "(OpSysAndVer == \"RedHat7\")",
];

/// Further clauses that users write, each met by many machines.
const COMMON_CLAUSES: [&str; 13] = [
    "(TARGET.OpSysMajorVer == 9)",
    "(TARGET.OpSysMajorVer >= 8)",
    "(OpSysAndVer == \"AlmaLinux9\" || OpSysAndVer == \"Rocky9\")",
    "(TARGET.HasSingularity == true)",
    "(TARGET.has_avx2 =?= true)",
    "(TARGET.Microarch >= \"x86_64-v3\")",
    "(TARGET.HasSingularity) && (TARGET.HAS_CVMFS_oasis_opensciencegrid_org =?= true)",
    "(stringListMember(TARGET.Machine, \"node0003.chtc.example.org,node0017.hep.example.org\") == false)",
    "(TARGET.Mips > 15000)",
    "(TARGET.TotalMemory / TARGET.TotalCpus > 2000)",
    "(TARGET.HasDocker)",
    "(toLower(TARGET.OpSysName) != \"centos\")",
    "(TARGET.PartitionableSlot || TARGET.Cpus == MY.RequestCpus)",
];

const RANKS: [(&str, f64); 7] = [
    ("0.0", 66.0),
    ("TARGET.Memory", 8.0),
    ("TARGET.KFlops", 6.0),
    ("TARGET.Mips + 1000 * (TARGET.has_avx512f =?= true)", 6.0),
    ("-TARGET.Memory", 4.0),
    ("(TARGET.GLIDEIN_Site =?= \"Wisc\") * 100 + (TARGET.OpSysMajorVer == 9) * 10", 6.0),
    ("ifThenElse(TARGET.Cpus > 32, 10, TARGET.Cpus / 4.0)", 4.0),
];

const PRIORITIES: [(i64, f64); 3] = [(0, 85.0), (5, 8.0), (-20, 7.0)];

/// Threshold of the random number that selects the class of a request, from 0 to 1. If the random number of an
/// ordinary request is below the threshold, the request also gets one of [`COMMON_CLAUSES`].
const WISH_THRESHOLD: f64 = 0.75;

/// Maximum number of duplicate requests generated one after another. After these the search for further distinct
/// requests is given up.
const MAX_CONSECUTIVE_DUPLICATES: usize = 1000;

impl JobRequestMix {
    /// Generates up to `most` distinct requests. The users at the front of `users` make most of them.
    pub fn requests(&self, users: &[PoolUser], most: usize, rng: &mut SeededRng) -> Vec<JobRequest> {
        let activity = Zipf::new(users.len(), 9);
        let mut requests = IndexSet::new();
        let mut attempts = 0;
        while requests.len() < most && attempts < MAX_CONSECUTIVE_DUPLICATES {
            let user = &users[activity.draw(rng)];
            attempts = if requests.insert(self.request(user, rng)) { 0 } else { attempts + 1 };
        }
        requests.into_iter().collect()
    }

    fn request(&self, user: &PoolUser, rng: &mut SeededRng) -> JobRequest {
        let cpus = *rng.choose_weighted(&CPUS);
        let memory = rng.choose_weighted(&MEMORY) + rng.choose(&EXTRA_MEMORY_MB);
        let disk = *rng.choose(&DISK);
        let gpus = i64::from(rng.with_probability(0.08));
        let mut clauses: Vec<String> = Vec::new();
        if cpus > 1 {
            clauses.push("(TARGET.Cpus >= RequestCpus)".to_owned());
        }
        if gpus > 0 {
            clauses.push("(TARGET.GPUs >= RequestGPUs)".to_owned());
        }
        clauses.push((*rng.choose(&FILES)).to_owned());
        let kind = rng.fraction();
        let class = match kind {
            _ if kind < self.never => *rng.choose(&UNMATCHABLE_CLASSES),
            _ if kind < self.never + self.few => JobRequestClass::Few,
            _ => JobRequestClass::Ordinary,
        };
        let mut demands = MachineDemands { memory, gpus, arch: "X86_64", clauses };
        self.add_demands(&mut demands, class, kind, rng);
        let MachineDemands { memory, gpus, arch, clauses } = demands;
        let requirements = format!(
            "(TARGET.Arch == \"{arch}\") && (TARGET.OpSys == \"LINUX\") && (TARGET.Disk >= RequestDisk) && \
         (TARGET.Memory >= RequestMemory) && {}",
            clauses.join(" && ")
        );
        JobRequest {
            user: user.clone(),
            cpus,
            memory,
            disk,
            gpus,
            requirements,
            rank: rng.choose_weighted::<&str>(&RANKS),
            priority: *rng.choose_weighted(&PRIORITIES),
            has_project: rng.with_probability(0.45),
            has_group: rng.with_probability(0.6),
            duration: rng.with_probability(0.2).then(|| *rng.choose(&[3600, 7200, 14400, 72000])),
            desired_sites: rng.with_probability(0.12).then(|| rng.sample(&SITES, 2).join(",")),
            undesired_sites: rng.with_probability(0.06).then(|| *rng.choose(&SITES)),
            class,
        }
    }

    /// Adds what a request of a class demands beyond the usual. `kind` is the number in 0..1 that decided the class.
    fn add_demands(&self, demands: &mut MachineDemands, class: JobRequestClass, kind: f64, rng: &mut SeededRng) {
        let MachineDemands { memory, gpus, arch, clauses } = demands;
        match class {
            JobRequestClass::Contradiction => {
                let (above, below) = (rng.choose(&[8000, 16000, 64000]), rng.choose(&[1000, 2000, 4000]));
                clauses.push(format!("(TARGET.Memory > {above} && TARGET.Memory < {below})"));
            }
            JobRequestClass::Typo => clauses.push((*rng.choose(&TYPOS)).to_owned()),
            JobRequestClass::Memory => *memory = *rng.choose(&[4_000_000, 8_000_000, 16_777_216]),
            JobRequestClass::OldSystem => clauses.push((*rng.choose(&OLD_SYSTEMS)).to_owned()),
            JobRequestClass::Arch => *arch = rng.choose::<&str>(&["INTEL", "aarch64", "ppc64le"]),
            JobRequestClass::Few => match rng.fraction() {
                ..0.5 => {
                    *gpus = *rng.choose(&[1, 2, 4]);
                    let (capability, memory) = (rng.choose(&["8.0", "8.6", "9.0"]), rng.choose(&[40000, 80000]));
                    clauses.push("(TARGET.GPUs >= RequestGPUs)".to_owned());
                    clauses.push(format!(
                        "(TARGET.GPUs_Capability >= {capability} && TARGET.GPUs_GlobalMemoryMb >= {memory})"
                    ));
                }
                ..0.8 => *memory = *rng.choose(&[600_000, 900_000, 1_500_000]),
                _ => clauses.push(one_machine(rng, self.machines)),
            },
            JobRequestClass::Ordinary if kind < WISH_THRESHOLD => {
                clauses.push((*rng.choose(&COMMON_CLAUSES)).to_owned());
            }
            JobRequestClass::Ordinary => {}
        }
    }
}

/// What a request demands of machines.
struct MachineDemands {
    memory: i64,
    gpus: i64,
    arch: &'static str,
    clauses: Vec<String>,
}

/// Returns a clause that at most one machine meets, since it demands a random machine name. The clause contains either
/// the full name or a pattern for the number in it, such as `^node0*17[.]`.
fn one_machine(rng: &mut SeededRng, machines: i64) -> String {
    let number = rng.below(machines);
    if rng.with_probability(0.5) {
        format!("(regexp(\"^node0*{number}[.]\", TARGET.Machine))")
    } else {
        format!("(TARGET.Machine == \"node{number:04}.{}.example.org\")", rng.choose(&LABS))
    }
}
