//! The attempts that the ad of a job tells, in a history, a history of epochs or a queue.

use crate::ad::Ad;

use super::job_event::{integer, text};
use super::{AttemptOutcome, JobAttempt, JobNumber};

/// Maximum number of attempts of a job whose times nothing tells that get rows of their own.
const MAX_UNTOLD_ATTEMPTS: i64 = 1000;

/// The numbers of `JobStatus`.
mod status {
    pub const IDLE: i64 = 1;
    pub const RUNNING: i64 = 2;
    pub const REMOVED: i64 = 3;
    pub const COMPLETED: i64 = 4;
    pub const HELD: i64 = 5;
    pub const TRANSFERRING_OUTPUT: i64 = 6;
    pub const SUSPENDED: i64 = 7;
}

/// Returns the attempts of the job of an ad, as ads: its own attributes, then those of the job.
///
/// The ad knows the last attempt and the first start. `RemoteWallClockTime` has the wall time of all. Of two attempts
/// that gives the first one's, too; of more, only the sum of the earlier ones.
#[must_use]
pub fn attempts_of_job(ad: &Ad) -> Vec<Ad> {
    let others = || ad.iter().map(|attribute| (attribute.name, attribute.expression));
    attempts(ad).into_iter().flatten().map(|attempt| attempt.to_ad(others())).collect()
}

fn attempts(ad: &Ad) -> Option<Vec<JobAttempt>> {
    let job = JobNumber { cluster: integer(ad, "ClusterId")?, process: integer(ad, "ProcId")? };
    let kind = text(ad, "EpochAdType").or_else(|| text(ad, "RecordType"));
    if let Some(kind) = kind.filter(|_| integer(ad, "RunInstanceId").is_some()) {
        // The other kinds tell parts of the same run.
        return (kind == "EPOCH").then(|| vec![epoch(ad, job)]);
    }
    let count = integer(ad, "NumShadowStarts").or_else(|| integer(ad, "NumJobStarts")).unwrap_or(0);
    let last = last_attempt(ad, job, count).filter(|_| count > 0)?;
    let seconds = last.seconds.unwrap_or(0);
    let earlier = integer(ad, "RemoteWallClockTime").map(|all| all - seconds).filter(|earlier| *earlier >= 0);
    let mut attempts: Vec<JobAttempt> = (1..count)
        .take(usize::try_from(MAX_UNTOLD_ATTEMPTS).unwrap_or_default())
        .map(|number| JobAttempt::new(job, number, AttemptOutcome::Unknown))
        .collect();
    if let Some(before) = attempts.last_mut().filter(|before| before.number > 1 && before.number == count - 1) {
        before.start = integer(ad, "JobLastStartDate");
    }
    if let [first, ..] = &mut attempts[..] {
        first.start = integer(ad, "JobStartDate");
        first.queue_seconds = queue_seconds(ad, first.start);
    }
    let mut last = last;
    match &mut attempts[..] {
        [] => last.queue_seconds = queue_seconds(ad, last.start),
        [only] => set_length(only, earlier),
        _ => last.earlier_seconds = earlier,
    }
    attempts.push(last);
    Some(attempts)
}

/// Returns the attempt of a record of a history of epochs.
fn epoch(ad: &Ad, job: JobNumber) -> JobAttempt {
    let number = integer(ad, "NumShadowStarts").or_else(|| Some(integer(ad, "RunInstanceId")? + 1));
    let is_evicted = text(ad, "VacateReason").is_some();
    let outcome = if is_evicted { AttemptOutcome::Evicted } else { AttemptOutcome::Unknown };
    let mut attempt = JobAttempt::new(job, number.unwrap_or(1), outcome);
    attempt.start = integer(ad, "JobCurrentStartDate").or_else(|| integer(ad, "ShadowBday"));
    let end = integer(ad, "EpochWriteDate").or_else(|| integer(ad, "CurrentTime"));
    attempt.set_slot(text(ad, "RemoteHost").or_else(|| text(ad, "LastRemoteHost")));
    let length = end.zip(attempt.start).map(|(end, start)| end - start).filter(|length| *length >= 0);
    set_length(&mut attempt, length);
    attempt
}

/// Returns the last attempt of a job.
fn last_attempt(ad: &Ad, job: JobNumber, count: i64) -> Option<JobAttempt> {
    let now = integer(ad, "JobStatus")?;
    let before = integer(ad, "LastJobStatus");
    let was_running = matches!(before, Some(status::RUNNING | status::TRANSFERRING_OUTPUT | status::SUSPENDED));
    let outcome = match now {
        status::COMPLETED => AttemptOutcome::Terminated,
        status::RUNNING | status::TRANSFERRING_OUTPUT | status::SUSPENDED => AttemptOutcome::Running,
        status::REMOVED if was_running => AttemptOutcome::Removed,
        status::REMOVED if before == Some(status::HELD) => AttemptOutcome::Held,
        status::HELD => AttemptOutcome::Held,
        status::IDLE | status::REMOVED => AttemptOutcome::Evicted,
        _ => AttemptOutcome::Unknown,
    };
    let is_running = outcome == AttemptOutcome::Running;
    let mut attempt = JobAttempt::new(job, count, outcome);
    attempt.start = integer(ad, "JobCurrentStartDate").or_else(|| integer(ad, "JobStartDate").filter(|_| count == 1));
    attempt.set_slot(text(ad, if is_running { "RemoteHost" } else { "LastRemoteHost" }));
    if is_running {
        return Some(attempt);
    }
    // Older versions have the wall time of all attempts only.
    let only = || integer(ad, "RemoteWallClockTime").filter(|length| count == 1 && *length >= 0);
    let completed = || integer(ad, "CompletionDate").filter(|time| *time > 0).zip(attempt.start);
    let length = integer(ad, "LastRemoteWallClockTime").or_else(only);
    let length = length.or_else(|| completed().map(|(end, start)| end - start)).filter(|length| *length >= 0);
    set_length(&mut attempt, length);
    if count == 1 {
        attempt.cpu_seconds =
            integer(ad, "RemoteUserCpu").zip(integer(ad, "RemoteSysCpu")).map(|(user, system)| user + system);
        attempt.good_cpu_seconds = attempt.cpu_seconds.filter(|_| outcome == AttemptOutcome::Terminated).or(Some(0));
    }
    Some(attempt)
}

/// Sets the length of an attempt, and what follows from it.
fn set_length(attempt: &mut JobAttempt, length: Option<i64>) {
    attempt.seconds = length;
    attempt.end = attempt.start.zip(length).and_then(|(start, length)| start.checked_add(length));
    let is_good = attempt.outcome == AttemptOutcome::Terminated;
    attempt.good_seconds = length.map(|length| if is_good { length } else { 0 });
}

/// Returns how long a job waited from its submission to its first start.
fn queue_seconds(ad: &Ad, start: Option<i64>) -> Option<i64> {
    Some(start? - integer(ad, "QDate")?).filter(|length| *length >= 0)
}

#[cfg(test)]
mod tests {
    use crate::ad::Dialect;
    use crate::format::{FileFormat, read};

    use super::attempts;

    #[test]
    fn the_ad_of_a_job_tells_its_last_attempt_and_what_follows_of_the_others() {
        let once = "NumShadowStarts = 1\nQDate = 90\nJobStartDate = 100\nJobCurrentStartDate = 100\n\
                    RemoteWallClockTime = 20.0\nLastRemoteHost = \"slot1@a\"\n";
        for (ad, expected) in [
            (format!("{once}JobStatus = 4"), "1 100..120 a terminated 20 0 wait 10"),
            (format!("{once}JobStatus = 3\nLastJobStatus = 2"), "1 100..120 a removed 20 20 wait 10"),
            (format!("{once}JobStatus = 3\nLastJobStatus = 1"), "1 100..120 a evicted 20 20 wait 10"),
            (format!("{once}JobStatus = 5\nLastJobStatus = 2"), "1 100..120 a held 20 20 wait 10"),
            // Of two attempts, the first is what the last has left.
            (
                format!("{once}JobStatus = 4\nNumShadowStarts = 2\nJobCurrentStartDate = 130\nLastRemoteWallClockTime = 5.0"),
                "1 100..115 - unknown 15 15 wait 10, 2 130..135 a terminated 5 0",
            ),
            // Of three, only the sum is known.
            (
                format!("{once}JobStatus = 4\nNumShadowStarts = 3\nJobLastStartDate = 120\nJobCurrentStartDate = 130\nLastRemoteWallClockTime = 5.0"),
                "1 100..- - unknown - - wait 10, 2 120..- - unknown - -, 3 130..135 a terminated 5 0 before 15",
            ),
            (format!("{once}JobStatus = 2\nRemoteHost = \"slot2@b\""), "1 100..- b running - - wait 10"),
            (format!("{once}JobStatus = 4\nRemoteWallClockTime = -1\nCompletionDate = 108"), "1 100..108 a terminated 8 0 wait 10"),
            (format!("{once}JobStatus = 3\nLastJobStatus = 6"), "1 100..120 a removed 20 20 wait 10"),
            (format!("{once}JobStatus = 3\nLastJobStatus = 7"), "1 100..120 a removed 20 20 wait 10"),
            (format!("{once}JobStatus = 3\nLastJobStatus = 5"), "1 100..120 a held 20 20 wait 10"),
            (format!("{once}JobStatus = 3"), "1 100..120 a evicted 20 20 wait 10"),
            (format!("{once}JobStatus = 1"), "1 100..120 a evicted 20 20 wait 10"),
            (format!("{once}JobStatus = 6\nRemoteHost = \"slot2@b\""), "1 100..- b running - - wait 10"),
            (format!("{once}JobStatus = 7\nRemoteHost = \"slot2@b\""), "1 100..- b running - - wait 10"),
            (format!("{once}JobStatus = 8"), "1 100..120 a unknown 20 20 wait 10"),
            (format!("{once}JobStatus = 4\nQDate = 100"), "1 100..120 a terminated 20 0 wait 0"),
            (format!("{once}JobStatus = 4\nQDate = 101"), "1 100..120 a terminated 20 0"),
            (format!("{once}JobStatus = 4\nRemoteWallClockTime = 0"), "1 100..100 a terminated 0 0 wait 10"),
            (format!("{once}JobStatus = 4\nRemoteWallClockTime = -1\nCompletionDate = 0"), "1 100..- a terminated - - \
            wait 10"),
            (format!("{once}JobStatus = 4\nRemoteWallClockTime = -1\nCompletionDate = 99"), "1 100..- a terminated - \
            - wait 10"),
            (format!("{once}JobStatus = 4\nRemoteWallClockTime = -1\nCompletionDate = 100"), "1 100..100 a terminated \
            0 0 wait 10"),
            (format!("{once}JobStatus = 4\nLastRemoteWallClockTime = 5"), "1 100..105 a terminated 5 0 wait 10"),
            (format!("{once}JobStatus = 4\nLastRemoteWallClockTime = -5"), "1 100..- a terminated - - wait 10"),
            // The wall time of two attempts is less than that of the last one.
            (
                format!("{once}JobStatus = 4\nNumShadowStarts = 2\nLastRemoteWallClockTime = 20"),
                "1 100..100 - unknown 0 0 wait 10, 2 100..120 a terminated 20 0",
            ),
            (
                format!("{once}JobStatus = 4\nNumShadowStarts = 2\nLastRemoteWallClockTime = 21"),
                "1 100..- - unknown - - wait 10, 2 100..121 a terminated 21 0",
            ),
            (
                format!("{once}JobStatus = 1\nNumShadowStarts = 4\nJobLastStartDate = 120"),
                "1 100..- - unknown - - wait 10, 2 -..- - unknown - -, 3 120..- - unknown - -, 4 100..- a evicted - - \
                 before 20",
            ),
            ("NumJobStarts = 1\nJobStatus = 4\nJobStartDate = 7".to_owned(), "1 7..- - terminated - -"),
            ("NumJobStarts = 1\nNumShadowStarts = 0\nJobStatus = 4\nJobStartDate = 7".to_owned(), ""),
            ("NumJobStarts = 1".to_owned(), ""),
            ("NumShadowStarts = 0\nJobStatus = 1".to_owned(), ""),
            ("JobStatus = 1".to_owned(), ""),
            // A record of a history of epochs is one attempt.
            (
                "RunInstanceID = 2\nEpochAdType = \"EPOCH\"\nJobStatus = 2\nNumShadowStarts = 3\nJobCurrentStartDate = 7\nEpochWriteDate = 9\nRemoteHost = \"slot1@c\"".to_owned(),
                "3 7..9 c unknown 2 2",
            ),
            ("RunInstanceID = 2\nEpochAdType = \"SPAWN\"\nNumShadowStarts = 3".to_owned(), ""),
            ("RunInstanceID = 2\nRecordType = \"EPOCH\"".to_owned(), "3 -..- - unknown - -"),
            ("RunInstanceID = 0\nEpochAdType = \"EPOCH\"\nShadowBday = 7\nCurrentTime = 7\nLastRemoteHost = \
            \"s@d\"".to_owned(), "1 7..7 d unknown 0 0"),
            ("RunInstanceID = 0\nEpochAdType = \"EPOCH\"\nShadowBday = 7\nCurrentTime = 6\nVacateReason = \
            \"x\"".to_owned(), "1 7..- - evicted - -"),
            ("EpochAdType = \"EPOCH\"\nNumShadowStarts = 1\nJobStatus = 2\nJobStartDate = 7".to_owned(), "1 7..- - \
            running - -"),
        ] {
            let text = format!("ClusterId = 1\nProcId = 0\n{ad}\n");
            let ad = read(text.as_bytes(), FileFormat::Long, Dialect::Condor).next().expect("it has an ad").expect("it is good").ad;
            let told: Vec<String> = attempts(&ad)
                .into_iter()
                .flatten()
                .map(|attempt| {
                    let number = |number: Option<i64>| number.map_or("-".to_owned(), |number| number.to_string());
                    let (start, end) = (number(attempt.start), number(attempt.end));
                    let (seconds, wasted) = (number(attempt.seconds), number(attempt.wasted_seconds()));
                    let (host, outcome) = (attempt.host.unwrap_or("-".to_owned()), attempt.outcome.word());
                    let wait = attempt.queue_seconds.map_or(String::new(), |wait| format!(" wait {wait}"));
                    let before = attempt.earlier_seconds.map_or(String::new(), |before| format!(" before {before}"));
                    format!("{} {start}..{end} {host} {outcome} {seconds} {wasted}{wait}{before}", attempt.number)
                })
                .collect();
            assert_eq!(told.join(", "), expected, "{text}");
        }
    }
    #[test]
    fn only_a_single_attempt_has_the_times_of_the_processors() {
        for (ad, expected) in [
            ("NumShadowStarts = 1\nJobStatus = 4\nRemoteUserCpu = 5.0\nRemoteSysCpu = 2.0", (Some(7), Some(7))),
            ("NumShadowStarts = 1\nJobStatus = 1\nRemoteUserCpu = 5.0\nRemoteSysCpu = 2.0", (Some(7), Some(0))),
            ("NumShadowStarts = 1\nJobStatus = 4\nRemoteUserCpu = 5.0", (None, Some(0))),
            ("NumShadowStarts = 2\nJobStatus = 4\nRemoteUserCpu = 5.0\nRemoteSysCpu = 2.0", (None, None)),
            ("NumShadowStarts = 1\nJobStatus = 2\nRemoteUserCpu = 5.0\nRemoteSysCpu = 2.0", (None, None)),
        ] {
            let text = format!("ClusterId = 1\nProcId = 0\n{ad}\n");
            let ad = read(text.as_bytes(), FileFormat::Long, Dialect::Condor).next().unwrap().unwrap().ad;
            let last = attempts(&ad).unwrap().pop().unwrap();
            assert_eq!((last.cpu_seconds, last.good_cpu_seconds), expected, "{text}");
        }
        // At most 1000 attempts of which nothing is known have ads of their own.
        for (count, expected) in [(1000, 1000), (1001, 1001), (1002, 1001)] {
            let text = format!(
                "ClusterId = 1\nProcId = 0\nOwner = \"ann\"\nNumShadowStarts = {count}\nJobStatus = 4\n\
                 JobLastStartDate = 7\n"
            );
            let ad = read(text.as_bytes(), FileFormat::Long, Dialect::Condor).next().unwrap().unwrap().ad;
            let ads = super::attempts_of_job(&ad);
            assert_eq!(ads.len(), expected, "{count}");
            assert!(ads.iter().all(|ad| ad.get_str("Owner").is_some()));
            // The start before the last one is not that of an attempt in between.
            assert_eq!(ads.iter().filter(|ad| ad.get_str("Start").is_some()).count(), usize::from(count < 1002));
        }
    }
}
