//! The attributes that follow from others, and the mistakes that only the whole job shows.

use std::ops::Range;

use crate::format::Problem;

use super::job_builder::JobBuilder;
use super::job_kind::Universe;
use super::requirements::deferral_attribute;

/// Sets the attributes that follow from others.
pub(super) fn set_consequences(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    if !job.has("MaxHosts") {
        job.assign("MinHosts", 1);
        job.assign("MaxHosts", 1);
    }
    if !job.has("CurrentHosts") {
        job.assign("CurrentHosts", 0);
    }
    if job.has("SuccessCheckpointExitCode") {
        job.assign("WantFTOnCheckpoint", true);
    }
    if job.boolean("OCUWanted").is_some() {
        job.assign("MaxJobRetirementTime", i64::from(i32::MAX));
    }
    let reconnects =
        matches!(job.kind.universe, Universe::Vanilla | Universe::Java | Universe::Parallel | Universe::Vm);
    if reconnects
        && !job.has("JobLeaseDuration")
        && let Some(lease) = job.setting("JOB_DEFAULT_LEASE_DURATION")
    {
        job.assign_text("JobLeaseDuration", &lease)?;
    }
    if !job.has("JobPrio") {
        job.assign("JobPrio", 0);
    }
    if job.has("JobStarterLog") && !job.has("JobStarterDebug") {
        job.assign("JobStarterDebug", true);
    }
    check_mistakes(job)
}

/// Reports what `condor_submit` reports of the whole job.
fn check_mistakes(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    let place = |job: &JobBuilder<'_>, name: &str| -> Range<usize> { job.source_of(name) };
    if let Some(user) = job.text("NotifyUser")
        && ["false", "never"].iter().any(|word| user.eq_ignore_ascii_case(word))
    {
        let problem = Problem::error_at(place(job, "NotifyUser"), 0, format!("emails go to the user `{user}`"));
        job.variables.warn(problem.with_help("notification = never sends no emails"));
    }
    let history = job.attribute("JobMachineAttrsHistoryLength").and_then(|length| length.as_literal()?.as_integer());
    if history.is_some_and(|length| i32::try_from(length).map_or(true, |length| length < 0)) {
        return Err(Problem::error_at(
            place(job, "JobMachineAttrsHistoryLength"),
            0,
            "this is not a number of attributes",
        ));
    }
    let lease = job.attribute("JobLeaseDuration").and_then(|lease| lease.as_literal()?.as_integer());
    if lease.is_some_and(|lease| (1..20).contains(&lease)) {
        let problem = Problem::error_at(place(job, "JobLeaseDuration"), 0, "a lease has at least 20 seconds");
        job.variables.warn(problem);
        job.assign("JobLeaseDuration", 20);
    }
    if job.kind.universe == Universe::Scheduler
        && let Some(cause) = deferral_attribute(job)
    {
        let problem =
            Problem::error_at(place(job, cause), 0, "a job of the scheduler universe starts at no given time");
        return Err(problem.with_help("write universe = local"));
    }
    if job.has("OutputDestination") && job.has("OutputDirectory") {
        let message = "output_destination and output_directory exclude each other";
        return Err(Problem::error_at(place(job, "OutputDirectory"), 0, message));
    }
    Ok(())
}
