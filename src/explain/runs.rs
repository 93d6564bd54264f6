//! What the ad of a job tells of its runs, past and present.

use crate::ad::Value;
use crate::ad::time::local_moment;
use crate::protocol::evaluate_attribute;
use crate::text::{duration, shorten, with_commas};

use super::clauses::text;
use super::hold_reason::{POLICIES, SPOOLING_INPUT};
use super::job_circumstance::JobCircumstance;
use super::job_reader::JobReader;

/// Number of starts from which it is told that they fail.
const MIN_FAILED_STARTS: i64 = 3;

/// Maximum number of characters of a policy in a sentence.
const MAX_POLICY_CHARS: usize = 60;

/// The job got slots, and its program did not begin there.
pub fn failed_starts(job: &JobReader) -> Option<JobCircumstance> {
    let (shadows, starts) = (job.number("NumShadowStarts")?, job.number("NumJobStarts").unwrap_or(0));
    if shadows < MIN_FAILED_STARTS || starts.saturating_mul(2) > shadows {
        return None;
    }
    let began = if starts == 0 { "never began".to_owned() } else { format!("began only {}", counted_times(starts)) };
    let host = job.text("LastRemoteHost").map_or_else(String::new, |host| format!(", last on {host}"));
    let reason = job.text("VacateReason").map_or_else(String::new, |reason| format!(": {reason}"));
    Some(JobCircumstance {
        kind: "failed-starts",
        predicate: format!("got a slot {}{host}, and its program {began}{reason}", counted_times(shadows)),
        remedy: Some(
            "see why its starts fail: the log of the job, ShadowLog of the access point, StarterLog of the slot"
                .to_owned(),
        ),
        is_decisive: false,
    })
}

/// What the exit codes of shells mean.
const EXIT_CODES: [(i64, &str); 5] = [
    (126, "a shell may not run its command"),
    (127, "a shell finds no such command"),
    (134, "its program aborted"),
    (137, "its program was killed, perhaps for lack of memory"),
    (139, "its program read or wrote memory that is not its own"),
];

/// The job ended, and its policy put it back into the queue.
pub fn put_back(job: &JobReader) -> Option<JobCircumstance> {
    let end = match (job.number("ExitSignal"), job.number("ExitCode")) {
        (Some(signal), _) if job.is_true("ExitBySignal") => format!("signal {signal}"),
        (_, Some(code)) => {
            let meaning = EXIT_CODES.iter().find(|(known, _)| *known == code);
            format!("exit code {code}{}", meaning.map_or_else(String::new, |(_, meaning)| format!(" ({meaning})")))
        }
        _ => return None,
    };
    let remove = job.ad.get_str("OnExitRemove")?;
    let is_put_back = evaluate_attribute(job.ad, &"OnExitRemove".into(), job.context) == Some(Value::Boolean(false));
    is_put_back.then(|| {
        let ends = job.number("NumJobCompletions").filter(|ends| *ends > 1);
        let ends = ends.map_or_else(String::new, |ends| format!(" {}", counted_times(ends)));
        let last = if ends.is_empty() { "" } else { " last" };
        let rule = shorten(&text(remove, job.context.dialect), MAX_POLICY_CHARS);
        JobCircumstance {
            kind: "put-back",
            predicate: format!("has ended{ends},{last} with {end}, and was put back: OnExitRemove is false (`{rule}`)"),
            remedy: Some("see from its output and error why its program ends so".to_owned()),
            is_decisive: false,
        }
    })
}

/// The job has a slot, and waits until the access point transfers its files.
pub fn transfer_queue(job: &JobReader) -> Option<JobCircumstance> {
    if !job.is_true("TransferQueued") {
        return None;
    }
    let (files, since, limit) = if job.is_true("TransferringOutput") {
        ("output", "TransferOutQueued", "MAX_CONCURRENT_DOWNLOADS")
    } else {
        ("input", "TransferInQueued", "MAX_CONCURRENT_UPLOADS")
    };
    let since = job.number(since).zip(job.context.now).map_or_else(String::new, |(since, now)| {
        format!(" since {}, for {},", local_moment(since), duration(now.saturating_sub(since)))
    });
    let size = job.number("TransferInputSizeMB").filter(|size| files == "input" && *size > 0);
    let size = size
        .map_or_else(String::new, |size| format!(" ({} MB)", with_commas(usize::try_from(size).unwrap_or_default())));
    Some(JobCircumstance {
        kind: "transfer-queue",
        predicate: format!("has waited{since} for its access point to transfer its {files}{size}"),
        remedy: Some(format!(
            "wait, transfer less, or let other servers transfer it (URLs); the admin can raise {limit}"
        )),
        is_decisive: false,
    })
}

/// The access point has lost the slot of the job.
pub fn lease(job: &JobReader) -> Option<JobCircumstance> {
    let (renewed, length) = (job.number("LastJobLeaseRenewal")?, job.number("JobLeaseDuration")?);
    let (end, now) = (renewed.checked_add(length)?, job.context.now?);
    (end < now).then(|| JobCircumstance {
        kind: "lease",
        predicate: format!(
            "has a lease that ended {} ago, at {}: its slot may run it no more",
            duration(now.saturating_sub(end)),
            local_moment(end)
        ),
        remedy: Some("see whether its slot and its shadow are there; without them it runs again".to_owned()),
        is_decisive: false,
    })
}

/// The job has ended, and stays in the queue.
pub fn kept(job: &JobReader) -> Option<JobCircumstance> {
    let is_kept = evaluate_attribute(job.ad, &"LeaveJobInQueue".into(), job.context) == Some(Value::Boolean(true));
    let id = job.id();
    let fetch = if job.number("StageInFinish").is_some() {
        format!("fetch its output (condor_transfer_data{id}), then remove it")
    } else {
        "remove it if it need not stay".to_owned()
    };
    is_kept.then(|| JobCircumstance {
        kind: "kept",
        predicate: "stays in the queue as long as LeaveJobInQueue is true".to_owned(),
        remedy: Some(format!("{fetch} (condor_rm{id})")),
        is_decisive: false,
    })
}

/// The job ran several times, and each time something else than its program ended the run.
pub fn evicted(job: &JobReader) -> Option<JobCircumstance> {
    let (shadows, runs) = (job.number("NumShadowStarts").unwrap_or(0), job.number("NumJobStarts")?);
    let has_ended = job.number("NumJobCompletions").is_some_and(|ends| ends > 0) || job.number("ExitCode").is_some();
    // Fewer runs than starts are failed starts.
    if runs < MIN_FAILED_STARTS || has_ended || runs.saturating_mul(2) <= shadows {
        return None;
    }
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "seconds of runs are far below 2^53"
    )]
    let each = job.amount("RemoteWallClockTime").map(|seconds| (seconds / runs as f64) as i64).filter(|each| *each > 0);
    let each = each.map_or_else(String::new, |each| format!(", about {} each", duration(each)));
    let reason = job.text("VacateReason").map_or_else(String::new, |reason| format!(": {reason}"));
    Some(JobCircumstance {
        kind: "evicted",
        predicate: format!("has run {}{each}, and never to its end{reason}", counted_times(runs)),
        remedy: Some(
            "see in its log what ends its runs; let it save its state (checkpoint), do less in one run, or ask for slots that \
             live longer"
                .to_owned(),
        ),
        is_decisive: false,
    })
}

/// A policy held the job because it started several times: what ends its runs is to be found.
pub fn held_for_runs(job: &JobReader) -> Option<JobCircumstance> {
    let is_of_policy = job.number("HoldReasonCode").is_some_and(|code| POLICIES.contains(&code));
    let is_of_starts = job.text("HoldReason")?.to_ascii_lowercase().contains("start");
    if is_of_policy && is_of_starts { evicted(job) } else { None }
}

/// The input files of the job have not come for long.
pub fn spooling(job: &JobReader) -> Option<JobCircumstance> {
    job.number("HoldReasonCode").filter(|code| *code == SPOOLING_INPUT)?;
    let (since, now) = (job.number("EnteredCurrentStatus")?, job.context.now?);
    (now.saturating_sub(since) >= LONG / 2).then(|| JobCircumstance {
        kind: "spooling",
        predicate: format!(
            "has waited for its input files since {}, for {}",
            local_moment(since),
            duration(now.saturating_sub(since))
        ),
        remedy: Some(format!("remove it, and submit it anew, if they do not come any more (condor_rm{})", job.id())),
        is_decisive: false,
    })
}

/// Seconds from which a run without CPU time, and a removal without an end, are told.
const LONG: i64 = 3600;

/// The universes whose programs no slot runs, so that none measures them: scheduler, grid and local.
const UNMEASURED_UNIVERSES: [i64; 3] = [7, 9, 12];

/// The job runs, and its program does next to nothing.
pub fn without_cpu(job: &JobReader) -> Option<JobCircumstance> {
    if job.number("JobUniverse").is_some_and(|universe| UNMEASURED_UNIVERSES.contains(&universe)) {
        return None;
    }
    let (start, now) = (job.number("JobCurrentStartDate")?, job.context.now?);
    let used = job.amount("RemoteUserCpu")? + job.amount("RemoteSysCpu").unwrap_or(0.0);
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "seconds of runs are far below 2^53"
    )]
    let (seconds, is_little) = (used as i64, used < now.saturating_sub(start) as f64 / 100.0);
    (now.saturating_sub(start) >= 6 * LONG && is_little).then(|| JobCircumstance {
        kind: "without-cpu",
        predicate: format!("has used {} of CPU time in {}: its program may hang", duration(seconds), duration(now.saturating_sub(start))),
        remedy: Some(format!(
            "look at it (condor_ssh_to_job{id}, condor_tail{id}); run it elsewhere (condor_vacate_job{id}) or remove it",
            id = job.id()
        )),
        is_decisive: false,
    })
}

/// The slot of the job has suspended it.
pub fn suspended(job: &JobReader) -> Option<JobCircumstance> {
    let since = job.number("LastSuspensionTime").or_else(|| job.number("EnteredCurrentStatus"))?;
    let now = job.context.now?;
    let number = job.number("TotalSuspensions").filter(|number| *number > 1);
    let number = number.map_or_else(String::new, |number| format!(", {number} times in all"));
    let lost = job.number("CumulativeSuspensionTime").filter(|lost| *lost > 0);
    let lost = lost.map_or_else(String::new, |lost| format!(", and lost {} so", duration(lost)));
    Some(JobCircumstance {
        kind: "suspended",
        predicate: format!(
            "has been suspended since {}, for {}{number}{lost}",
            local_moment(since),
            duration(now.saturating_sub(since))
        ),
        remedy: Some(format!("wait until its slot resumes it, or run it elsewhere (condor_vacate_job{})", job.id())),
        is_decisive: false,
    })
}

/// The job was removed long ago, and is still there.
pub fn not_gone(job: &JobReader) -> Option<JobCircumstance> {
    let (since, now) = (job.number("EnteredCurrentStatus")?, job.context.now?);
    let place = job.text("RemoteHost").or_else(|| job.text("GridResource"));
    (now.saturating_sub(since) >= LONG).then(|| JobCircumstance {
        kind: "not-gone",
        predicate: {
            let answers = place.map_or_else(String::new, |place| format!(": {place} does not answer"));
            format!("is still in the queue {} after it was removed{answers}", duration(now.saturating_sub(since)))
        },
        remedy: Some(format!("see that nothing of it runs any more, then condor_rm -forcex{}", job.id())),
        is_decisive: false,
    })
}

/// Writes `once`, or `12 times`.
fn counted_times(number: i64) -> String {
    if number == 1 { "once".to_owned() } else { format!("{number} times") }
}

#[cfg(test)]
mod tests;
