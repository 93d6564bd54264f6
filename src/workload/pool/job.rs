//! The jobs of the pool workload.

use crate::ad::Ad;

use super::super::rng::SeededRng;
use super::super::template::TemplateAd;
use super::request::JobRequest;
use super::user::NOW_SECONDS;

/// The attributes that all jobs share, in the long form.
pub const COMMON: &str = include_str!("job.long");

/// The id of a job: its cluster, and its number in the cluster.
pub struct JobId {
    pub cluster: i64,
    pub proc: i64,
}

/// Attributes with a random integer below a bound.
const NUMBERS: [(&str, i64); 6] = [
    ("DiskUsage", 90_000),
    ("DiskUsage_RAW", 90_000),
    ("ExecutableSize", 9000),
    ("ImageSize", 9_000_000),
    ("ResidentSetSize", 90_000),
    ("TransferInputSizeMB", 4000),
];

/// Generates the job with a 0-based number in the queue.
pub fn job(chance: &mut SeededRng, job: &mut TemplateAd, number: i64, id: &JobId, request: &JobRequest) -> Ad {
    let JobId { cluster, proc } = id;
    let submitted = NOW_SECONDS - chance.between(10, 500_000);
    describe(chance, job, number, id, request);
    for (name, bound) in NUMBERS {
        job.put(name, chance.below(bound));
    }
    let access_point = format!("ap{}.example.org", request.user.number % 4);
    job.put("ClusterId", *cluster).put("ProcId", *proc).put("QDate", submitted);
    job.put("EnteredCurrentStatus", submitted);
    job.put("GlobalJobId", format!("{access_point}#{cluster}.{proc}#{submitted}"));
    job.put("FileSystemDomain", access_point);
    put_condition(
        job,
        "PeriodicHold",
        chance.with_probability(0.2),
        "(JobStatus == 2) && (time() - JobCurrentStartDate > 259200)",
    );
    put_condition(job, "PeriodicRemove", chance.with_probability(0.2), "NumJobStarts > 5");
    put_resources(job, request);
    job.finish()
}

/// Adds the owner, the program and the files.
fn describe(chance: &mut SeededRng, job: &mut TemplateAd, number: i64, id: &JobId, request: &JobRequest) {
    let (JobId { cluster, proc }, user) = (id, &request.user.name);
    let folder = format!("/home/{user}/run/{cluster}");
    let program = chance.choose(&["sim", "train", "fit", "reco"]);
    let arguments = format!("--seed {} --in part_{proc:05}.dat --label \"run {cluster}\"", chance.below(1 << 30));
    job.put("Owner", user.as_str()).put("OsUser", user.as_str()).put("User", format!("{user}@example.org"));
    job.put("AccountingGroup", format!("group_{}.{user}", request.user.group));
    job.put("Cmd", format!("/home/{user}/run/{program}.sh")).put("Args", arguments);
    job.put("Environment", format!("OMP_NUM_THREADS={} PATH=/usr/bin:/bin TAG=job{number}", request.cpus));
    job.put("JobBatchName", format!("batch_{cluster}")).put("SubmitEventNotes", format!("DAG Node: N{proc}"));
    job.put("Out", format!("out.{cluster}.{proc}")).put("Err", format!("err.{cluster}.{proc}"));
    let model = format!("osdf:///ospool/{user}/model_{cluster}.tar.gz");
    job.put("TransferInput", format!("data/part_{proc:05}.dat,{model}"));
    job.put("TransferOutput", format!("result_{proc}.root")).put("UserLog", format!("{folder}/job.log"));
    job.put("Iwd", folder.as_str()).put("SUBMIT_Iwd", folder);
}

/// Adds the requested resources, the constraint and the rank.
fn put_resources(job: &mut TemplateAd, request: &JobRequest) {
    job.put("RequestCpus", request.cpus).put("RequestMemory", request.memory).put("RequestDisk", request.disk);
    if request.gpus > 0 {
        job.put("RequestGPUs", request.gpus);
    }
    job.put_text("Requirements", &request.requirements).put_text("Rank", request.rank).put("JobPrio", request.priority);
    if request.has_project {
        job.put("ProjectName", format!("Proj_{}", request.user.group));
    }
    if request.has_group {
        job.put("AcctGroup", format!("group_{}", request.user.group));
    }
    if let Some(duration) = request.duration {
        job.put("AllowedJobDuration", duration);
    }
    if let Some(sites) = &request.desired_sites {
        job.put("DESIRED_Sites", sites.as_str());
    }
    if let Some(site) = request.undesired_sites {
        job.put("UNDESIRED_Sites", site);
    }
}

/// Adds an expression, or `false` if `has` is false.
fn put_condition(job: &mut TemplateAd, name: &'static str, has: bool, text: &str) {
    if has {
        job.put_text(name, text);
    } else {
        job.put(name, false);
    }
}
