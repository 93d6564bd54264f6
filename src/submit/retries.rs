//! What becomes of a job whose run ends: whether it leaves the queue, is held, or is tried again.

use std::ops::Range;

use crate::ad::Dialect;
use crate::format::Problem;

use super::job_builder::{ComposedText, JobBuilder, integer_of, read_expression};
use super::variables::CommandValue;

/// Sets what becomes of a job that exits, and how often it is tried again.
pub(super) fn set_retries(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    let remove = job.value(&["on_exit_remove", "OnExitRemove"])?;
    let hold = job.value(&["on_exit_hold", "OnExitHold"])?;
    let retries = job.integer(&["max_retries", "JobMaxRetries"])?;
    let success = job.integer(&["success_exit_code", "JobSuccessExitCode"])?;
    let until = job.value(&["retry_until"])?;
    let is_retried = retries.is_some() || success.is_some() || until.is_some();
    match &hold {
        Some(hold) => job.assign_expression("OnExitHold", hold)?,
        None if (is_retried || job.settings.truth("SUBMIT_INSERT_DEFAULT_POLICY_EXPRS", false))
            && !job.has("OnExitHold") =>
        {
            job.assign("OnExitHold", false);
        }
        None => {}
    }
    if !is_retried {
        return match &remove {
            Some(remove) => job.assign_expression("OnExitRemove", remove),
            None => Ok(()),
        };
    }
    match &retries {
        Some((number, value)) => job.assign_value("JobMaxRetries", *number, value),
        None if !job.has("JobMaxRetries") => {
            let usual = job.setting("DEFAULT_JOB_MAX_RETRIES").and_then(|text| integer_of(&text, job.context()));
            job.assign("JobMaxRetries", usual.unwrap_or(2));
        }
        None => {}
    }
    if job.has("OnExitRemove") && success.is_none() && until.is_none() && remove.is_none() {
        return Ok(());
    }
    let given = RetryCommands { retries, success, until, remove };
    let (condition, name) = given.exit_condition(job)?;
    job.assign_composed("OnExitRemove", condition, &name)
}

/// The commands that say when a job is not run again.
struct RetryCommands {
    retries: Option<(i64, CommandValue)>,
    success: Option<(i64, CommandValue)>,
    until: Option<CommandValue>,
    remove: Option<CommandValue>,
}

impl RetryCommands {
    /// Returns the condition under which the job leaves the queue, and the place of the first command.
    fn exit_condition(self, job: &mut JobBuilder<'_>) -> Result<(ComposedText, Range<usize>), Problem> {
        let RetryCommands { retries, success, until, remove } = self;
        let place = |value: Option<&CommandValue>| value.map(|value| value.place.clone());
        let first = place(retries.as_ref().map(|(_, value)| value)).or(place(success.as_ref().map(|(_, value)| value)));
        let first = first.or(place(until.as_ref())).map_or((0..0, 0..0), |place| (place.name, place.value));
        let mut condition = ComposedText::default();
        condition.push("NumJobCompletions > JobMaxRetries || ExitCode =?= ", &first.1);
        match &success {
            Some((code, value)) => {
                job.assign_value("JobSuccessExitCode", *code, value);
                condition.push("JobSuccessExitCode", &value.place.value);
            }
            None => condition.push("0", &first.1),
        }
        if let Some(until) = &until {
            condition.push(" || ", &until.place.value);
            match integer_of(&until.text, job.context()).filter(|_| is_constant(&until.text)) {
                Some(code) if i32::try_from(code).is_ok() => {
                    condition.push(&format!("ExitCode =?= {code}"), &until.place.value);
                }
                Some(_) => return Err(until.fault("this is not an exit code")),
                None => push_operand(&mut condition, until)?,
            }
        }
        if let Some(remove) = &remove {
            condition.push(" || ", &remove.place.value);
            push_operand(&mut condition, remove)?;
        }
        Ok((condition, first.0))
    }
}

/// Whether a text names no attribute.
fn is_constant(text: &str) -> bool {
    read_expression(text)
        .is_ok_and(|expression| crate::eval::FreeNames::of(&expression, Dialect::Condor).names.is_empty())
}

/// Appends the value of a command as an operand of `||`.
fn push_operand(condition: &mut ComposedText, value: &CommandValue) -> Result<(), Problem> {
    let expression = read_expression(&value.text).map_err(|error| {
        let problem = value.fault(error.message);
        Problem { help: error.help, ..problem }
    })?;
    let is_weak = expression.conditional().is_some();
    condition.push(if is_weak { "(" } else { "" }, &value.place.value);
    condition.push_value(value);
    condition.push(if is_weak { ")" } else { "" }, &value.place.value);
    Ok(())
}
