//! `query --usage`: what jobs asked for and used, and requests that later jobs keep.

use std::fmt::Write as _;

use fastrand::Rng;
use serde_json::Value;

use crate::binary::{classad, file};

/// A job of a generated history.
struct Job {
    owner: u32,
    /// Memory, processors and disk that were used.
    used: [f64; 3],
}

const RESOURCES: [&str; 3] = ["Memory", "Cpus", "Disk"];

/// A history of jobs of 12 users, whose use has different shapes: even, with a long tail, in clumps.
fn jobs(seed: u64) -> Vec<Job> {
    let mut random = Rng::with_seed(seed);
    (0..12_000)
        .map(|_| {
            let owner = random.u32(0..12);
            let mut shape = |scale: f64| match owner % 4 {
                0 => scale * (0.5 + random.f64()),
                1 => scale * 0.2 / (1.0 - random.f64()).powf(0.6),
                2 => scale * if random.f64() < 0.07 { 4.0 } else { 1.0 },
                _ => scale * (0.9 + 0.2 * random.f64()),
            };
            Job { owner, used: [shape(900.0).round(), shape(0.7), shape(300_000.0).round()] }
        })
        .collect()
}

fn history(jobs: &[Job]) -> String {
    let mut text = String::new();
    for (number, Job { owner, used: [memory, cpus, disk] }) in jobs.iter().enumerate() {
        let end = 1_780_000_000 + number * 10;
        let _ = write!(
            text,
            "MyType = \"Job\"\nClusterId = {number}\nProcId = 0\nOwner = \"user{owner}\"\nJobStatus = 4\nCompletionDate = {end}\n\
             RemoteWallClockTime = 3600.0\nRequestMemory = 2048\nMemoryUsage = {memory}\nRequestCpus = 2\nCpusUsage = {cpus:?}\n\
             RequestDisk = 1000000\nDiskUsage = {disk}\nRequirements = TARGET.Memory >= RequestMemory && TARGET.Cpus >= \
             RequestCpus && TARGET.Disk >= RequestDisk\n\n"
        );
    }
    text
}

fn usage(arguments: &[&str]) -> Vec<Value> {
    let (status, out, errors) = classad(&[&["query", "--usage", "-o", "json"], arguments].concat());
    assert_eq!((status, &*errors), (Some(0), ""));
    serde_json::from_str(&out).expect("it is JSON")
}

#[test]
fn later_jobs_of_a_group_keep_what_the_earlier_ones_suggest() {
    let (mut kept, mut later, mut groups) = (0_u32, 0_u32, 0);
    for seed in 1..=3 {
        let jobs = jobs(seed);
        let (_, second) = jobs.split_at(jobs.len() / 2);
        let path = file("usage-history.long", history(&jobs));
        let half = format!("CompletionDate < {}", 1_780_000_000 + jobs.len() / 2 * 10);
        for row in usage(&[&half, &path]) {
            let resource = RESOURCES.iter().position(|name| row["resource"] == *name).expect("it is one of them");
            let owner = |job: &&Job| row["Owner"] == format!("user{}", job.owner);
            let suggested = row["suggested"].as_f64().expect("there are enough jobs");
            let of_group: Vec<_> = second.iter().filter(owner).collect();
            let count = |count: usize| u32::try_from(count).expect("there are few");
            let of_kept = count(of_group.iter().filter(|job| job.used[resource] <= suggested).count());
            let of_group = count(of_group.len());
            (kept, later, groups) = (kept + of_kept, later + of_group, groups + 1);
            // No group falls far below, and none is asked for much more than it needs.
            assert!(of_kept * 100 >= of_group * 92, "{row}: {of_kept} of {of_group}");
        }
    }
    let percent = f64::from(kept) * 100.0 / f64::from(later);
    println!("{percent:.2} % of {later} later jobs keep their suggested requests, in {groups} groups");
    assert!(groups == 3 * 12 * 3 && percent >= 95.0);
}

#[test]
fn groups_have_what_was_asked_for_used_and_wasted() {
    let job = |number: usize, owner: &str, memory: &str| {
        format!(
            "MyType = \"Job\"\nClusterId = {number}\nProcId = 0\nOwner = \"{owner}\"\nCmd = \"/bin/a\"\nJobStatus = 4\n\
             RemoteWallClockTime = 7200.0\nRequestMemory = 4096\nMemoryUsage = {memory}\nRequestCpus = 4\n\
             RemoteUserCpu = 7000.0\nRemoteSysCpu = 200.0\nRequestDisk = 1048576\nDiskUsage = 524288\nRequirements = \
             TARGET.Memory >= RequestMemory && TARGET.Cpus >= RequestCpus\n\n"
        )
    };
    let mut text: String = (0..20).map(|number| job(number, "ann", "((1048576 + 1023) / 1024)")).collect();
    text += &(0..19).map(|number| job(number, "bob", "undefined")).collect::<String>();
    text +=
        "Owner = \"cat\"\nClusterId = 9\nProcId = 0\nRequestGPUs = 2\nRequestCpus = 1\nRemoteWallClockTime = 0.0\n\n";
    let path = file("usage-small.long", &text);
    let slot = |name: &str, memory: u32, cpus: u32| {
        format!("MyType = \"Machine\"\nName = \"{name}\"\nMemory = {memory}\nCpus = {cpus}\nRequirements = true\n\n")
    };
    let slots =
        file("usage-slots.long", slot("a", 8192, 8) + &slot("b", 2048, 4) + &slot("c", 2048, 2) + &slot("d", 99, 1));
    let (status, out, errors) =
        classad(&["query", "--usage", &path, "--by", "Owner,Cmd", "--pool", &slots, "-o", "csv"]);
    assert_eq!((status, &*errors), (Some(0), ""));
    assert_eq!(
        out,
        "Owner,Cmd,jobs,measured,resource,unit,requested,used,wasted,wasted_in,suggested,kept,slots,gained,gained_by_all\n\
         ann,/bin/a,20,20,Memory,MB,4096,1024,120,GB-hours,1152,100,1,1,2\n\
         ann,/bin/a,20,20,Cpus,cores,4,1,120,core-hours,2,100,1,0,2\n\
         ann,/bin/a,20,20,Disk,KB,1048576,524288,20,GB-hours,577536,100,1,0,2\n\
         bob,/bin/a,19,0,Memory,MB,4096,undefined,undefined,GB-hours,undefined,undefined,1,0,0\n\
         bob,/bin/a,19,19,Cpus,cores,4,1,114,core-hours,undefined,undefined,1,0,0\n\
         bob,/bin/a,19,19,Disk,KB,1048576,524288,19,GB-hours,undefined,undefined,1,0,0\n\
         cat,undefined,1,0,Cpus,cores,1,undefined,undefined,core-hours,undefined,undefined,0,0,0\n\
         cat,undefined,1,0,GPUs,GPUs,2,undefined,undefined,GPU-hours,undefined,undefined,0,0,0\n"
    );
    // The gain is what `match` says of the job with the suggested requests.
    let suggested = ["RequestMemory = 1152", "RequestCpus = 2"].iter().fold(job(0, "ann", "1"), |job, request| {
        let name = request.split(' ').next().expect("it has a name");
        job.lines()
            .filter(|line| !line.is_empty() && !line.starts_with(name))
            .chain([*request])
            .collect::<Vec<_>>()
            .join("\n")
    });
    let suggested = file("usage-suggested.long", suggested.replace("JobStatus = 4", "JobStatus = 1") + "\n");
    let counted = classad(&["match", "--all", "--all-states", "--count", &suggested, "--pool", &slots]).1;
    assert!(counted.trim().ends_with('3'), "{counted}");
    let rows = usage(&["Owner == \"ann\"", &path]);
    assert!(rows.len() == 3 && rows[0]["wasted"] == 120 && rows[0].get("slots").is_none(), "{rows:?}");
    // A real history, and what does not go together.
    let rows = usage(&["tests/pool/dumps/history.20261129T075504", "--by", "Owner"]);
    assert!(rows.iter().any(|row| row["resource"] == "Memory" && row["requested"] == 128), "{rows:?}");
    for arguments in [&["--usage", &path, "--group-by", "Owner"][..], &["true", &path, "--by", "Owner"]] {
        assert_eq!(classad(&[&["query"], arguments].concat()).0, Some(2));
    }
}
