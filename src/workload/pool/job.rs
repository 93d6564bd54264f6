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

/// Attributes that hold a random integer: name and exclusive upper bound. The least value is 0.
const NUMBERS: [(&str, i64); 6] = [
    ("DiskUsage", 90_000),
    ("DiskUsage_RAW", 90_000),
    ("ExecutableSize", 9000),
    ("ImageSize", 9_000_000),
    ("ResidentSetSize", 90_000),
    ("TransferInputSizeMB", 4000),
];

/// Attributes that hold a boolean expression: name and expression. One job in five has the expression; in the others
/// the attribute is `false`.
const CONDITIONS: [(&str, &str); 2] = [
    ("PeriodicHold", "(JobStatus == 2) && (time() - JobCurrentStartDate > 259200)"),
    ("PeriodicRemove", "NumJobStarts > 5"),
];

/// Generates one job. `number` is its 0-based position in the queue.
pub fn job(rng: &mut SeededRng, job: &mut TemplateAd, number: i64, id: &JobId, request: &JobRequest) -> Ad {
    let JobId { cluster, proc } = id;
    let submitted = NOW_SECONDS - rng.between(10, 500_000);
    describe(rng, job, number, id, request);
    for (name, bound) in NUMBERS {
        job.put(name, rng.below(bound));
    }
    let access_point = format!("ap{}.example.org", request.user.number % 4);
    job.put("ClusterId", *cluster).put("ProcId", *proc).put("QDate", submitted);
    job.put("EnteredCurrentStatus", submitted);
    job.put("GlobalJobId", format!("{access_point}#{cluster}.{proc}#{submitted}"));
    job.put("FileSystemDomain", access_point);
    for (name, condition) in CONDITIONS {
        job.put_text(name, if rng.with_probability(0.2) { condition } else { "false" });
    }
    put_resources(job, request);
    job.finish()
}

/// Adds the attributes for the owner, the program and the files.
fn describe(rng: &mut SeededRng, job: &mut TemplateAd, number: i64, id: &JobId, request: &JobRequest) {
    let (JobId { cluster, proc }, user) = (id, &request.user.name);
    let folder = format!("/home/{user}/run/{cluster}");
    let program = rng.choose(&["sim", "train", "fit", "reco"]);
    let arguments = format!("--seed {} --in part_{proc:05}.dat --label \"run {cluster}\"", rng.below(1 << 30));
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
    let group = request.user.group;
    job.put("RequestCpus", request.cpus).put("RequestMemory", request.memory).put("RequestDisk", request.disk);
    job.put_some("RequestGPUs", Some(request.gpus).filter(|gpus| *gpus > 0));
    job.put_text("Requirements", &request.requirements).put_text("Rank", request.rank).put("JobPrio", request.priority);
    job.put_some("ProjectName", request.has_project.then(|| format!("Proj_{group}")));
    job.put_some("AcctGroup", request.has_group.then(|| format!("group_{group}")));
    job.put_some("AllowedJobDuration", request.duration);
    job.put_some("DESIRED_Sites", request.desired_sites.as_deref())
        .put_some("UNDESIRED_Sites", request.undesired_sites);
}
