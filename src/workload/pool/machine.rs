//! The machines of the pool workload: partitionable, dynamic or static slots on nodes of a dozen models.

use crate::ad::{Ad, Expression};

use super::super::rng::{SeededRng, round_to_parts};
use super::super::template::TemplateAd;
use super::user::{GROUPS, LABS, NOW_SECONDS, PoolUser, SITES};

/// The attributes that all machines share, in the long form.
pub const COMMON: &str = include_str!("machine.long");

/// The hardware of a node.
struct NodeModel {
    cpus: i64,
    /// Memory in megabytes.
    memory: i64,
    /// Disk space in kilobytes.
    disk: i64,
    gpus: i64,
    /// Microarchitecture level of x86-64, 1 to 4.
    level: i64,
}

/// Models of nodes with their weights in the random choice.
const MODELS: [(NodeModel, f64); 12] = [
    (NodeModel { cpus: 8, memory: 16_000, disk: 200_000_000, gpus: 0, level: 2 }, 10.0),
    (NodeModel { cpus: 16, memory: 64_000, disk: 400_000_000, gpus: 0, level: 3 }, 14.0),
    (NodeModel { cpus: 24, memory: 96_000, disk: 700_000_000, gpus: 0, level: 3 }, 12.0),
    (NodeModel { cpus: 40, memory: 192_000, disk: 900_000_000, gpus: 0, level: 4 }, 18.0),
    (NodeModel { cpus: 64, memory: 256_000, disk: 1_500_000_000, gpus: 0, level: 4 }, 16.0),
    (NodeModel { cpus: 96, memory: 384_000, disk: 1_800_000_000, gpus: 0, level: 4 }, 8.0),
    (NodeModel { cpus: 128, memory: 515_000, disk: 3_500_000_000, gpus: 0, level: 4 }, 6.0),
    (NodeModel { cpus: 128, memory: 1_031_000, disk: 7_000_000_000, gpus: 0, level: 4 }, 2.0),
    (NodeModel { cpus: 192, memory: 2_063_000, disk: 7_000_000_000, gpus: 0, level: 4 }, 1.0),
    (NodeModel { cpus: 32, memory: 128_000, disk: 900_000_000, gpus: 2, level: 3 }, 3.0),
    (NodeModel { cpus: 48, memory: 256_000, disk: 1_800_000_000, gpus: 4, level: 4 }, 3.0),
    (NodeModel { cpus: 64, memory: 515_000, disk: 3_500_000_000, gpus: 8, level: 4 }, 2.0),
];

/// Operating systems with their weights in the random choice. A system is its name, its major version, and a version
/// number that is 100 times the major plus the minor version.
const SYSTEMS: [((&str, i64, i64), f64); 6] = [
    (("AlmaLinux", 9, 904), 46.0),
    (("AlmaLinux", 8, 810), 17.0),
    (("Rocky", 9, 905), 12.0),
    (("CentOS", 7, 709), 9.0),
    (("Ubuntu", 22, 2204), 8.0),
    (("Debian", 12, 1200), 5.0),
];

/// GPU models: name, compute capability, memory in megabytes, number of compute units.
const GPUS: [(&str, f64, i64, i64); 7] = [
    ("NVIDIA GeForce GTX 1080 Ti", 6.1, 11172, 28),
    ("NVIDIA GeForce RTX 2080 Ti", 7.5, 11019, 68),
    ("Tesla V100-SXM2-32GB", 7.0, 32510, 80),
    ("NVIDIA A40", 8.6, 45403, 84),
    ("NVIDIA A100-SXM4-80GB", 8.0, 81051, 108),
    ("NVIDIA L40S", 8.9, 45589, 142),
    ("NVIDIA H100 80GB HBM3", 9.0, 81090, 132),
];

/// What the START expression of a machine accepts.
#[derive(Clone, Copy, PartialEq)]
enum StartPolicy {
    /// Jobs of two of the accounting groups.
    Groups,
    /// Jobs of six of the users.
    Owners,
    /// Jobs for which an expression with this text is true.
    Fixed(&'static str),
}

const GLIDEIN: &str = "(time() < GLIDEIN_ToRetire) && (isUndefined(TARGET.ProjectName) == false) && \
    ((DESIRED_Sites =?= undefined) || stringListMember(GLIDEIN_Site, DESIRED_Sites, \",\")) && \
    ((UNDESIRED_Sites =?= undefined) || !stringListMember(GLIDEIN_Site, UNDESIRED_Sites, \",\"))";
const DESKTOP: &str = "(KeyboardIdle > 15 * 60) && ((LoadAvg - CondorLoadAvg) <= 0.3)";
const SHORT_JOBS: &str = "(TARGET.AllowedJobDuration ?: 259200) <= 14400 && TARGET.JobUniverse == 5";
const NO_WASTE_OF_GPUS: &str = "((MY.GPUs ?: 0) == 0 || (TARGET.RequestGPUs ?: 0) > 0) && \
    ifThenElse(isUndefined(TARGET.JobPrio), true, TARGET.JobPrio >= -10)";
const MAINTENANCE: &str = "TARGET.IsAdminTest =?= true && regexp(\"^(root|admin)\", TARGET.Owner)";
const GPUS_ONLY: &str = "TARGET.RequestGPUs =!= undefined && TARGET.RequestGPUs >= 1";

const STARTS: [(StartPolicy, f64); 8] = [
    (StartPolicy::Fixed("true"), 34.0),
    (StartPolicy::Fixed(DESKTOP), 12.0),
    (StartPolicy::Groups, 14.0),
    (StartPolicy::Owners, 8.0),
    (StartPolicy::Fixed(SHORT_JOBS), 7.0),
    (StartPolicy::Fixed(GLIDEIN), 15.0),
    (StartPolicy::Fixed(NO_WASTE_OF_GPUS), 6.0),
    (StartPolicy::Fixed(MAINTENANCE), 4.0),
];

#[derive(Clone, Copy, PartialEq)]
enum SlotKind {
    Partitionable,
    Dynamic,
    Static,
}

const SLOTS: [(SlotKind, f64); 3] =
    [(SlotKind::Partitionable, 70.0), (SlotKind::Dynamic, 24.0), (SlotKind::Static, 6.0)];

/// Shares of a partitionable slot that dynamic slots have taken. Each partitionable slot draws one of these shares.
const USED_SHARES: [f64; 8] = [0.0, 0.0, 0.0, 0.25, 0.5, 0.75, 0.9, 0.97];

/// Attributes that hold a random integer: name, least value, and exclusive upper bound.
const NUMBERS: [(&str, i64, i64); 29] = [
    ("ClockMin", 0, 1440),
    ("ConsoleIdle", 0, 900_000),
    ("DockerCachedImageSizeMb", 0, 90_000),
    ("JobBusyTimeCount", 0, 300),
    ("JobBusyTimeMax", 0, 90_000),
    ("JobBusyTimeMin", 0, 90),
    ("JobDurationCount", 0, 300),
    ("JobDurationMax", 0, 90_000),
    ("JobDurationMin", 0, 90),
    ("JobStarts", 0, 400),
    ("KFlops", 900_000, 3_000_000),
    ("Mips", 9000, 60_000),
    ("MonitorSelfAge", 0, 99_999),
    ("MonitorSelfImageSize", 0, 90_000),
    ("MonitorSelfResidentSetSize", 0, 30_000),
    ("MonitorSelfSecuritySessions", 0, 90),
    ("RecentJobBusyTimeCount", 0, 300),
    ("RecentJobBusyTimeMax", 0, 90_000),
    ("RecentJobBusyTimeMin", 0, 90),
    ("RecentJobDurationCount", 0, 300),
    ("RecentJobDurationMax", 0, 90_000),
    ("RecentJobDurationMin", 0, 90),
    ("RecentJobStarts", 0, 400),
    ("TotalSlots", 1, 40),
    ("TotalTimeClaimedBusy", 0, 999_999),
    ("TotalTimeOwnerIdle", 0, 9999),
    ("TotalTimeUnclaimedIdle", 0, 999_999),
    ("UpdateSequenceNumber", 0, 99_999),
    ("UpdatesTotal", 0, 99_999),
];

/// Attributes that hold a random real: name, upper bound, and precision. The precision `1e3` means that the real is
/// rounded to a multiple of 0.001.
const REALS: [(&str, f64, f64); 9] = [
    ("AvgTransferInputMB", 90.0, 1e4),
    ("AvgTransferOutputMB", 900.0, 1e4),
    ("DaemonCoreDutyCycle", 0.05, 1e17),
    ("JobBusyTimeAvg", 9000.0, 1e3),
    ("JobDurationAvg", 9000.0, 1e3),
    ("MonitorSelfCPUUsage", 1.0, 1e15),
    ("RecentDaemonCoreDutyCycle", 0.05, 1e17),
    ("RecentJobBusyTimeAvg", 9000.0, 1e3),
    ("RecentJobDurationAvg", 9000.0, 1e3),
];

/// Attributes that hold one of several integers, by a random choice.
const CHOICES: [(&str, &[i64]); 4] = [
    ("CpuCacheSize", &[16384, 25600, 32768, 39424]),
    ("CpuFamily", &[6, 23, 25]),
    ("CpuModelNumber", &[79, 85, 106, 49, 1]),
    ("KeyboardIdle", &[30, 400, 5000, 90_000, 900_000]),
];

/// Boolean attributes with their probability of being true.
const SHARES: [(&str, f64); 4] =
    [("HasDocker", 0.4), ("HasRotationalScratch", 0.3), ("HasSIF", 0.8), ("HasSingularity", 0.85)];

/// Attributes that hold a random time after the start of the daemon: name, and exclusive upper bound in seconds.
const MOMENTS: [(&str, i64); 5] = [
    ("EnteredCurrentActivity", 90),
    ("ExpectedMachineGracefulDrainingBadput", 999_999),
    ("ExpectedMachineGracefulDrainingCompletion", 999_999),
    ("ExpectedMachineQuickDrainingBadput", 999_999),
    ("ExpectedMachineQuickDrainingCompletion", 999_999),
];

/// Generates one machine. Its 0-based number becomes part of its host name.
pub fn machine(rng: &mut SeededRng, ad: &mut TemplateAd, number: i64, users: &[PoolUser]) -> Ad {
    let model = rng.choose_weighted(&MODELS);
    let lab = *rng.choose(&LABS);
    let host = format!("{}{number:04}.{lab}.example.org", if model.gpus > 0 { "gpu" } else { "node" });
    ad.put("Machine", host.as_str()).put("FileSystemDomain", format!("{lab}.example.org"));
    resources(rng, ad, model, &host, users);
    software(rng, ad, model);
    policy(rng, ad, model, users);
    addresses(rng, ad, number, &host);
    statistics(rng, ad, model);
    ad.finish()
}

/// Adds the attributes of the slot and of its share of the node's CPUs, memory, disk and GPUs.
fn resources(rng: &mut SeededRng, ad: &mut TemplateAd, model: &NodeModel, host: &str, users: &[PoolUser]) {
    let slot = *rng.choose_weighted(&SLOTS);
    let (cpus, memory, disk, gpus) = match slot {
        SlotKind::Partitionable => {
            let used = *rng.choose(&USED_SHARES);
            let gpus = if rng.with_probability(0.6) { model.gpus } else { rng.below(model.gpus + 1) };
            let memory = share_of(model.memory, 1.0 - used * rng.real(0.6, 1.0));
            ad.put("Name", format!("slot1@{host}")).put("SlotType", "Partitionable");
            ad.put("State", "Unclaimed").put("Activity", "Idle");
            (share_of(model.cpus, 1.0 - used), memory, share_of(model.disk, 1.0 - used / 2.0), gpus)
        }
        SlotKind::Dynamic => {
            let cpus = *rng.choose(&[1, 1, 1, 2, 4, 8]);
            let memory = *rng.choose(&[1024, 2048, 4096, 8192, 16384]);
            let gpus = i64::from(model.gpus > 0 && rng.with_probability(0.5));
            let disk = *rng.choose(&[1_000_000, 5_000_000, 20_000_000]);
            ad.put("Name", format!("slot1_{}@{host}", rng.between(1, 40))).put("SlotType", "Dynamic");
            let activity = *rng.choose(&["Busy", "Busy", "Busy", "Idle", "Retiring"]);
            ad.put("State", "Claimed").put("Activity", activity);
            (cpus.min(model.cpus), memory, disk, gpus)
        }
        SlotKind::Static => {
            ad.put("Name", format!("slot{}@{host}", rng.between(1, model.cpus + 1))).put("SlotType", "Static");
            ad.put("State", *rng.choose(&["Unclaimed", "Owner"])).put("Activity", "Idle");
            (1, model.memory / model.cpus, model.disk / model.cpus, 0)
        }
    };
    ad.put("PartitionableSlot", slot == SlotKind::Partitionable).put("DynamicSlot", slot == SlotKind::Dynamic);
    ad.put("Cpus", cpus).put("Memory", memory).put("Disk", disk).put("VirtualMemory", memory * 2048);
    ad.put("DetectedCpus", model.cpus).put("DetectedMemory", model.memory).put("DetectedGPUs", model.gpus);
    ad.put("TotalMemory", model.memory).put("TotalDisk", model.disk).put("TotalVirtualMemory", model.memory * 2048);
    #[allow(clippy::cast_precision_loss)] // all far below 2^53
    ad.put("TotalCpus", model.cpus as f64).put("TotalSlotCpus", cpus as f64).put("TotalSlotDisk", disk as f64);
    ad.put("TotalSlotMemory", memory);
    ad.put("MachineResources", if model.gpus > 0 { "Cpus Memory Disk Swap GPUs" } else { "Cpus Memory Disk Swap" });
    match slot {
        SlotKind::Partitionable => {
            ad.put("NumDynamicSlots", 2).put_text("ChildCpus", "{ 1, 2 }").put_text("ChildMemory", "{ 2048, 4096 }");
            ad.put_text("ChildState", "{ \"Claimed\", \"Claimed\" }");
        }
        SlotKind::Dynamic => {
            let owner = format!("{}@example.org", rng.choose(users).name);
            ad.put("RemoteOwner", owner.as_str()).put("RemoteUser", owner);
            ad.put("JobId", format!("{}.{}", rng.below(99_999), rng.below(9)));
            ad.put("TotalJobRunTime", rng.below(99_999));
            ad.put("ClientMachine", format!("ap{}.example.org", rng.below(4)));
        }
        SlotKind::Static => {}
    }
    if model.gpus > 0 {
        graphics(rng, ad, gpus);
    }
}

/// Returns `whole` times `share`, rounded down. `share` is from 0 to 1.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // all far below 2^53
fn share_of(whole: i64, share: f64) -> i64 {
    (whole as f64 * share) as i64
}

/// Adds the attributes for the slot's GPUs. The node of the slot must have GPUs.
fn graphics(rng: &mut SeededRng, ad: &mut TemplateAd, gpus: i64) {
    let (name, capability, memory, units) = *rng.choose(&GPUS);
    let mut numbers = || -> Vec<i64> { (0..gpus.max(1)).map(|_| rng.below(1 << 32)).collect() };
    let assigned: Vec<String> = numbers().iter().map(|number| format!("GPU-{number:08x}")).collect();
    let available = numbers().into_iter().map(|number| Expression::attribute(&*format!("GPUs_GPU_{number:08x}")));
    ad.put("GPUs", gpus).put("AssignedGPUs", assigned.join(","));
    ad.put_expression("AvailableGPUs", Expression::list(available));
    ad.put("GPUs_Capability", capability).put("GPUs_ComputeUnits", units).put("GPUs_CoresPerCU", 64);
    ad.put("GPUs_DeviceName", name).put("GPUs_DriverVersion", *rng.choose(&[11.8, 12.2, 12.4, 13.0]));
    ad.put("GPUs_ECCEnabled", capability >= 7.0).put("GPUs_GlobalMemoryMb", memory);
    ad.put("GPUs_MaxSupportedVersion", 12040);
}

/// Adds the operating system and the installed software.
fn software(rng: &mut SeededRng, ad: &mut TemplateAd, model: &NodeModel) {
    let (name, major, version) = *rng.choose_weighted(&SYSTEMS);
    ad.put("OpSysAndVer", format!("{name}{major}")).put("OpSysMajorVer", major).put("OpSysVer", version);
    ad.put("OpSysName", name).put("OpSysShortName", name);
    ad.put("OpSysLongName", format!("{name} Linux release {major}.{}", version % 100));
    ad.put("CondorPlatform", format!("$CondorPlatform: x86_64_{name}{major} $"));
    let release = [*rng.choose(&[23, 24, 24, 25, 25]), *rng.choose(&[0, 12]), rng.below(20)];
    let release = release.map(|number: i64| number.to_string()).join(".");
    let build = 800_000 + rng.below(9);
    ad.put("CondorVersion", format!("$CondorVersion: {release} 2026-06-25 BuildID: {build} PackageID: 25.0.1-1 $"));
    ad.put("SingularityVersion", format!("apptainer version 1.{}.{}", rng.between(1, 5), rng.below(5)));
    ad.put("HasUserNamespaces", major != 7);
    let has_cvmfs = rng.with_probability(0.75).then(|| rng.with_probability(0.9));
    ad.put_some("HAS_CVMFS_oasis_opensciencegrid_org", has_cvmfs);
    ad.put("Microarch", format!("x86_64-v{}", model.level));
    ad.put("has_avx2", model.level >= 3).put("has_avx512f", model.level >= 4).put("has_avx512dq", model.level >= 4);
    for (name, share) in SHARES {
        ad.put(name, rng.with_probability(share));
    }
}

/// Adds START, Requirements and Rank.
fn policy(rng: &mut SeededRng, ad: &mut TemplateAd, model: &NodeModel, users: &[PoolUser]) {
    let groups = rng.sample(&GROUPS, 2);
    let usual_start = *rng.choose_weighted(&STARTS);
    let is_gpus_only = model.gpus > 0 && rng.with_probability(0.7);
    let start = if is_gpus_only { StartPolicy::Fixed(GPUS_ONLY) } else { usual_start };
    let text = match start {
        StartPolicy::Groups => {
            let of = |group| format!("TARGET.AcctGroup =?= \"group_{group}\"");
            groups.iter().map(of).collect::<Vec<_>>().join(" || ")
        }
        StartPolicy::Owners => {
            let owners: Vec<String> = rng.sample(users, 6).into_iter().map(|user| user.name).collect();
            format!("stringListMember(TARGET.Owner, \"{}\")", owners.join(","))
        }
        StartPolicy::Fixed(text) => text.to_owned(),
    };
    ad.put_text("START", &text);
    if start == StartPolicy::Fixed(GLIDEIN) {
        ad.put("GLIDEIN_Site", *rng.choose(&SITES)).put("GLIDEIN_ToRetire", 4_102_444_800);
        ad.put("GLIDEIN_ToDie", 4_102_531_200).put("GLIDEIN_Country", "US");
    }
    let requirements = ["START && WithinResourceLimits", "(START) && (WithinResourceLimits) && (MY.Draining =!= true)"];
    ad.put_text("Requirements", requirements[usize::from(!rng.with_probability(0.8))]);
    let group = format!("(TARGET.AcctGroup =?= \"group_{}\") * 10", groups[0]);
    let size = "TARGET.RequestCpus * 10 + (TARGET.RequestMemory / 1024)";
    ad.put_text("Rank", rng.choose::<&str>(&["0.0", "0.0", "0.0", "(TARGET.RequestGPUs ?: 0)", &group, size]));
    let retirement = if rng.with_probability(0.3) { "MY.Rank > 0 ? 86400 : 3600" } else { "0" };
    ad.put_text("MaxJobRetirementTime", retirement);
}

/// Adds the network addresses.
fn addresses(rng: &mut SeededRng, ad: &mut TemplateAd, number: i64, host: &str) {
    let address = format!("10.{}.{}.{}", rng.below(256), rng.below(256), rng.between(1, 255));
    let (port, daemon) = (rng.between(9618, 60_000), format!("startd_{}_{:04x}", 1000 + number, number & 0xffff));
    let way = |kind: &str| {
        format!(
            "[ p=\"{kind}\"; a=\"{address}\"; port={port}; n=\"Internet\"; alias=\"{host}\"; spid=\"{daemon}\"; \
             noUDP=true; ]"
        )
    };
    ad.put("AddressV1", format!("{{{}, {}}}", way("primary"), way("IPv4")));
    let parameters = format!("addrs={address}-{port}&alias={host}&noUDP&sock={daemon}");
    ad.put("MyAddress", format!("<{address}:{port}?{parameters}>"));
    ad.put("StartdIpAddr", format!("<{address}:{port}>"));
}

/// Adds load and statistics.
fn statistics(rng: &mut SeededRng, ad: &mut TemplateAd, model: &NodeModel) {
    #[allow(clippy::cast_precision_loss)] // far below 2^53
    let load = round_to_parts(rng.real(0.0, model.cpus as f64 * 0.8), 100.0);
    ad.put("LoadAvg", load).put("TotalLoadAvg", load).put("TotalCondorLoadAvg", load);
    ad.put("CondorLoadAvg", round_to_parts(load * rng.fraction(), 100.0));
    for (name, from, to) in NUMBERS {
        ad.put(name, rng.between(from, to));
    }
    for (name, bound, parts) in REALS {
        ad.put(name, round_to_parts(rng.real(0.0, bound), parts));
    }
    for (name, several) in CHOICES {
        ad.put(name, *rng.choose(several));
    }
    let start = NOW_SECONDS - rng.between(100, 2_000_000);
    for name in ["DaemonStartTime", "DaemonLastReconfigTime", "LastBenchmark", "LastUpdate"] {
        ad.put(name, start);
    }
    ad.put("EnteredCurrentState", start + 90).put("LastHeardFrom", NOW_SECONDS - rng.below(300));
    for (name, seconds) in MOMENTS {
        ad.put(name, start + rng.below(seconds));
    }
}
