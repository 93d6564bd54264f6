//! What runs before the first cycle, as the ads of jobs and slots tell it.

use rustc_hash::FxHashMap;

use crate::ad::{Ad, Expression, Name, Value};
use crate::eval::Context;
use crate::protocol::{AdvertisedState, Advertisement, JobState, evaluate_attribute};

/// The attributes of a job that tell since when it runs. The first that is a time counts.
const JOB_BEGIN: [&str; 4] = ["JobCurrentStartDate", "ShadowBday", "EnteredCurrentStatus", "JobStartDate"];

/// The attributes of a slot that tell since when its job runs. The first that is a time counts.
const SLOT_BEGIN: [&str; 3] = ["JobStart", "EnteredCurrentActivity", "EnteredCurrentState"];

/// What runs in slots before the first cycle.
pub(super) struct EarlierRun {
    /// Index of the request; `None` if the queue has no ad of the job.
    pub request: Option<usize>,
    /// The ad of the job, or what the slot tells of it.
    pub job: Ad,
    /// The slots, by index.
    pub slots: Vec<usize>,
    /// The time since which it runs. `None` if no ad tells it.
    pub since: Option<i64>,
}

/// Whether a job has left the queue of those that wait for slots, because it runs.
pub(super) fn is_running(job: &Ad, context: &Context) -> bool {
    let state = Advertisement::new(job, context).state();
    matches!(state, AdvertisedState::Job(JobState::Running | JobState::Suspended | JobState::TransferringOutput))
}

/// Whether a job is held.
pub(super) fn is_held(job: &Ad, context: &Context) -> bool {
    Advertisement::new(job, context).state() == AdvertisedState::Job(JobState::Held)
}

/// Returns what runs: each job that does, and each slot in use of which no job is known. `slots` are indexes and ads of those in
/// use.
pub(super) fn earlier_runs<'a>(
    jobs: impl Iterator<Item = (usize, &'a Ad)>,
    slots: &[(usize, &Ad)],
    context: &Context,
) -> Vec<EarlierRun> {
    let mut by_key: FxHashMap<String, Vec<usize>> = FxHashMap::default();
    for (place, (_, slot)) in slots.iter().enumerate() {
        for key in slot_keys(slot, context) {
            by_key.entry(key).or_default().push(place);
        }
    }
    let mut is_known = vec![false; slots.len()];
    let mut runs: Vec<EarlierRun> = jobs
        .map(|(request, job)| {
            let of_job = job_keys(job, context).into_iter().find_map(|key| by_key.get(&key)).cloned();
            let places: Vec<usize> = of_job.unwrap_or_default().into_iter().filter(|place| !is_known[*place]).collect();
            for place in &places {
                is_known[*place] = true;
            }
            let of_slot = || places.iter().find_map(|place| first_time(slots[*place].1, &SLOT_BEGIN, context));
            let since = first_time(job, &JOB_BEGIN, context).or_else(of_slot);
            let slots = places.iter().map(|place| slots[*place].0).collect();
            EarlierRun { request: Some(request), job: job.clone(), slots, since }
        })
        .collect();
    let others = slots.iter().zip(is_known).filter(|(_, is_known)| !is_known);
    runs.extend(others.map(|((slot, ad), _)| EarlierRun {
        request: None,
        job: job_of_slot(ad, context),
        slots: vec![*slot],
        since: first_time(ad, &SLOT_BEGIN, context),
    }));
    runs
}

/// Whether a slot is claimed, and no job runs there.
pub(super) fn is_open_claim(slot: &Ad, context: &Context) -> bool {
    let is = |name: &str, word: &str| text(slot, name, context).is_some_and(|text| text.eq_ignore_ascii_case(word));
    let has_job = ["JobId", "GlobalJobId"].into_iter().any(|name| text(slot, name, context).is_some());
    is("State", "Claimed") && is("Activity", "Idle") && !has_job
}

/// Returns the time since which a slot is claimed.
pub(super) fn claimed_since(slot: &Ad, context: &Context) -> Option<i64> {
    let is_claimed = text(slot, "State", context).is_some_and(|state| state.eq_ignore_ascii_case("claimed"));
    first_time(slot, &["EnteredCurrentState"], context).filter(|_| is_claimed)
}

/// Returns what can name the job of a slot. A key of a job that equals one of a slot means that the job runs there.
fn slot_keys(slot: &Ad, context: &Context) -> Vec<String> {
    let number = text(slot, "JobId", context).zip(Advertisement::new(slot, context).user());
    let number = number.map(|(number, user)| format!("{number} {user}"));
    [text(slot, "GlobalJobId", context), text(slot, "Name", context), number].into_iter().flatten().collect()
}

fn job_keys(job: &Ad, context: &Context) -> Vec<String> {
    let number = Advertisement::new(job, context).job_name().zip(text(job, "User", context));
    let number = number.map(|(number, user)| format!("{number} {user}"));
    [text(job, "GlobalJobId", context), text(job, "RemoteHost", context), number].into_iter().flatten().collect()
}

/// Returns what a slot tells of the job in it, as an ad of a job. The slot has what the job asked for.
fn job_of_slot(slot: &Ad, context: &Context) -> Ad {
    let value = |name: &str| evaluate_attribute(slot, &Name::new(name), context);
    let user = Advertisement::new(slot, context).user();
    let owner = user.as_ref().map(|user| user.split('@').next().unwrap_or(user).to_owned());
    let number = text(slot, "JobId", context);
    let number = number.as_deref().and_then(|number| number.split_once('.'));
    let [cluster, process] =
        number.map_or([None; 2], |(cluster, process)| [cluster.parse().ok(), process.parse().ok()]);
    let attributes = [
        ("User", user.map(Value::string)),
        ("Owner", owner.map(Value::string)),
        ("ClusterId", cluster.map(Value::Integer)),
        ("ProcId", process.map(Value::Integer)),
        ("AccountingGroup", value("AccountingGroup")),
        ("GlobalJobId", value("GlobalJobId")),
        ("RequestCpus", value("Cpus")),
        ("RequestMemory", value("Memory")),
        ("RequestDisk", value("Disk")),
        ("RequestGPUs", value("GPUs")),
    ];
    let given = attributes.into_iter().filter_map(|(name, value)| Some((Name::new(name), Expression::literal(value?))));
    given.collect()
}

fn text(ad: &Ad, name: &str, context: &Context) -> Option<String> {
    match evaluate_attribute(ad, &Name::new(name), context)? {
        Value::String(text) => Some(text.to_str().into_owned()),
        _ => None,
    }
}

/// Returns the first of some attributes that is a time after the beginning of 1970.
fn first_time(ad: &Ad, names: &[&str], context: &Context) -> Option<i64> {
    let time = |name: &&str| match evaluate_attribute(ad, &Name::new(name), context) {
        Some(Value::Integer(at)) => Some(at).filter(|at| *at > 0),
        _ => None,
    };
    names.iter().find_map(time)
}

#[cfg(test)]
mod tests {
    use super::{claimed_since, earlier_runs, is_held, is_open_claim, is_running};
    use crate::ad::{Ad, Dialect};
    use crate::eval::Context;
    use crate::syntax::{ParseOptions, parse_ad};

    fn ad(text: &str) -> Ad {
        parse_ad(format!("[ {text} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap()
    }

    #[test]
    fn what_an_ad_says_of_its_state() {
        let context = Context::new(Dialect::Condor);
        for (text, expected) in [
            ("MyType = \"Job\"; JobStatus = 1", "false false false None"),
            ("MyType = \"Job\"; JobStatus = 2", "true false false None"),
            ("MyType = \"Job\"; JobStatus = 5", "false true false None"),
            ("MyType = \"Job\"; JobStatus = 6", "true false false None"),
            ("MyType = \"Job\"; JobStatus = 7", "true false false None"),
            ("State = \"Claimed\"; Activity = \"Idle\"; EnteredCurrentState = 5", "false false true Some(5)"),
            ("State = \"claimed\"; Activity = \"IDLE\"", "false false true None"),
            ("State = \"Claimed\"; Activity = \"Idle\"; JobId = \"1.0\"", "false false false None"),
            ("State = \"Claimed\"; Activity = \"Idle\"; GlobalJobId = \"1.0\"", "false false false None"),
            ("State = \"Claimed\"; Activity = \"Busy\"; EnteredCurrentState = 0", "false false false None"),
            ("State = \"Unclaimed\"; Activity = \"Idle\"; EnteredCurrentState = 5", "false false false None"),
            ("State = 3; Activity = 4; EnteredCurrentState = 5", "false false false None"),
        ] {
            let ad = ad(text);
            let found = format!(
                "{} {} {} {:?}",
                is_running(&ad, &context),
                is_held(&ad, &context),
                is_open_claim(&ad, &context),
                claimed_since(&ad, &context)
            );
            assert_eq!(found, expected, "{text}");
        }
    }

    /// A job and a slot are told to belong together by either of several names.
    #[test]
    fn jobs_run_in_their_slots() {
        let context = Context::new(Dialect::Condor);
        let slot = |more: &str| ad(&format!("RemoteUser = \"ann@d\"; Cpus = 2; Memory = 64; {more}"));
        for (jobs, slots, expected) in [
            (
                vec!["GlobalJobId = \"g\"; ShadowBday = 7"],
                vec![slot("GlobalJobId = \"g\""), slot("GlobalJobId = \"h\"; JobStart = 9")],
                "Some(5) [10] Some(7); None [11] Some(9) {User \"ann@d\", Owner \"ann\", GlobalJobId \"h\", RequestCpus 2, RequestMemory 64}",
            ),
            (
                vec!["RemoteHost = \"s1\""],
                vec![slot("Name = \"s1\"; JobStart = 3; EnteredCurrentState = 2")],
                "Some(5) [10] Some(3)",
            ),
            (
                vec!["ClusterId = 4; ProcId = 1; User = \"ann@d\""],
                vec![slot("JobId = \"4.1\"; EnteredCurrentState = 2")],
                "Some(5) [10] Some(2)",
            ),
            (
                vec!["ClusterId = 4; ProcId = 1; User = \"bob@d\""],
                vec![slot("JobId = \"4.1\"; EnteredCurrentState = 2")],
                "Some(5) [] None; None [10] Some(2) {User \"ann@d\", Owner \"ann\", ClusterId 4, ProcId 1, RequestCpus 2, RequestMemory 64}",
            ),
            (
                vec!["GlobalJobId = \"g\"; JobStartDate = 4; EnteredCurrentStatus = 0"],
                vec![slot("GlobalJobId = \"g\""), slot("GlobalJobId = \"g\"")],
                "Some(5) [10, 11] Some(4)",
            ),
            (
                vec![
                    "RemoteHost = \"s1\"; JobCurrentStartDate = 8; ShadowBday = 7",
                    "RemoteHost = \"s1\"; EnteredCurrentStatus = 6",
                ],
                vec![slot("Name = \"s1\"")],
                "Some(5) [10] Some(8); Some(6) [] Some(6)",
            ),
            (
                vec![],
                vec![
                    slot("JobId = \"4.1\"; AccountingGroup = \"g.ann\"; GPUs = 1; Disk = 9; GlobalJobId = \"x\""),
                    slot("JobId = \"41\"; EnteredCurrentActivity = 3"),
                    slot("JobId = \"a.b\""),
                ],
                "None [10] None {User \"ann@d\", Owner \"ann\", ClusterId 4, ProcId 1, AccountingGroup \"g.ann\", GlobalJobId \"x\", RequestCpus 2, RequestMemory 64, RequestDisk 9, RequestGPUs 1}; None [11] Some(3) {User \"ann@d\", Owner \"ann\", RequestCpus 2, RequestMemory 64}; None [12] None {User \"ann@d\", Owner \"ann\", RequestCpus 2, RequestMemory 64}",
            ),
            (
                vec![],
                vec![ad("Cpus = 1"), ad("RemoteUser = \"eve\"; Cpus = 1")],
                "None [10] None {RequestCpus 1}; None [11] None {User \"eve\", Owner \"eve\", RequestCpus 1}",
            ),
        ] {
            let jobs: Vec<Ad> = jobs.into_iter().map(ad).collect();
            let places: Vec<(usize, &Ad)> = slots.iter().enumerate().map(|(at, slot)| (at + 10, slot)).collect();
            let runs = earlier_runs(jobs.iter().enumerate().map(|(at, job)| (at + 5, job)), &places, &context);
            let told = runs.iter().map(|run| {
                let job =
                    run.job.iter().map(|of| format!("{} {}", of.name, of.expression)).collect::<Vec<_>>().join(", ");
                let job = if run.request.is_some() { String::new() } else { format!(" {{{job}}}") };
                format!("{:?} {:?} {:?}{job}", run.request, run.slots, run.since)
            });
            assert_eq!(told.collect::<Vec<_>>().join("; "), expected, "{jobs:?}");
        }
    }
}
