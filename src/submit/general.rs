//! What every job has, credentials, and the commands that set one attribute.

use crate::ad::{Name, Value};
use crate::format::Problem;

use super::command_table::{CommandKind, SimpleCommand};
use super::job_builder::JobBuilder;
use super::universe::unquoted;
use super::variables::CommandValue;

/// Version that the ads name.
const VERSION: &str = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1 $";

/// What stands between a service and a handle in the names of commands.
const OAUTH_COMMANDS: [&str; 3] = ["_oauth_permissions", "_oauth_resource", "_oauth_options"];

/// Attributes that begin at zero.
const COUNTERS: [&str; 12] = [
    "ExitStatus",
    "NumCkpts",
    "NumJobStarts",
    "NumJobCompletions",
    "NumRestarts",
    "NumSystemHolds",
    "CommittedTime",
    "CommittedSlotTime",
    "CumulativeSlotTime",
    "TotalSuspensions",
    "LastSuspensionTime",
    "CumulativeSuspensionTime",
];

/// Attributes that begin at zero seconds.
const TIMES: [&str; 5] =
    ["RemoteWallClockTime", "RemoteUserCpu", "RemoteSysCpu", "CumulativeRemoteUserCpu", "CumulativeRemoteSysCpu"];

/// Sets what every job has.
#[expect(clippy::unnecessary_wraps, reason = "a rule of the table")]
pub(super) fn set_header(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    if !job.is_first() {
        return Ok(());
    }
    job.assign("MyType", "Job");
    job.assign("TargetType", "Machine");
    job.assign("ClusterId", 1);
    let now = job.context().now.unwrap_or_default();
    job.assign("QDate", now);
    job.assign("JobSubmitMethod", 0);
    job.assign("Owner", Value::Undefined);
    for name in TIMES {
        job.assign(name, 0.0);
    }
    for name in COUNTERS {
        job.assign(name, 0);
    }
    job.assign("CommittedSuspensionTime", 0);
    job.assign("ExitBySignal", false);
    let attributes = submit_attributes(job);
    for name in attributes.iter().filter(|name| forced_attribute(name).is_none()) {
        // As in HTCondor, an expression that cannot be read is left out.
        if let Some(text) = job.setting(name)
            && let Err(problem) = job.assign_text(name, &text)
        {
            job.variables.warn(Problem { message: format!("SUBMIT_ATTRS: {}", problem.message), ..problem });
        }
    }
    job.assign("CondorVersion", VERSION);
    job.assign("SubmitVersion", VERSION);
    job.assign("CondorPlatform", "$CondorPlatform: X86_64 $");
    Ok(())
}

/// Returns the attributes that the configuration gives every job.
fn submit_attributes(job: &JobBuilder<'_>) -> Vec<String> {
    let lists = ["SUBMIT_ATTRS", "SUBMIT_EXPRS", "SYSTEM_SUBMIT_ATTRS"];
    lists.iter().filter_map(|list| job.setting(list)).flat_map(|list| super::queue::words(&list)).collect()
}

/// Returns the name of an attribute that a configuration forces upon jobs: `X` for `+X` and `MY.X`.
fn forced_attribute(name: &str) -> Option<&str> {
    let prefix = name.get(..3).filter(|prefix| prefix.eq_ignore_ascii_case("MY."));
    name.strip_prefix('+').or_else(|| prefix.map(|_| &name[3..]))
}

/// Sets the attributes that the configuration forces upon jobs.
pub(super) fn set_configured_attributes(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    for name in submit_attributes(job).iter().filter_map(|name| forced_attribute(name)) {
        if let Some(text) = job.setting(name) {
            job.assign_text(name, &text)?;
        }
    }
    Ok(())
}

/// Sets the files with credentials. None is looked at.
pub(super) fn set_credentials(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    for (command, attribute) in [("x509userproxy", "x509userproxy"), ("scitokens_file", "ScitokensFile")] {
        if let Some(value) = job.value(&[command, attribute])? {
            let path = job.full_path(&value.text);
            job.assign_value(attribute, path.as_str(), &value);
        }
    }
    for command in ["use_x509userproxy", "use_scitokens", "use_scitoken"] {
        job.value(&[command])?;
    }
    if let Some((lifetime, value)) = job.integer(&["DelegateJobGSICredentialsLifetime"])? {
        job.assign_value("DelegateJobGSICredentialsLifetime", lifetime, &value);
    }
    if let Some(services) = job.value(&["use_oauth_services", "UseOAuthServices"])? {
        let names = oauth_services(job, &super::queue::words(&services.text));
        job.assign_value("OAuthServicesNeeded", names.join(",").as_str(), &services);
    }
    Ok(())
}

/// Returns the tokens that a job needs of these services, each once. A command `SERVICE_oauth_permissions_HANDLE` asks for
/// `SERVICE*HANDLE` in place of the service (`SubmitHash::NeedsOAuthServices`).
fn oauth_services(job: &JobBuilder<'_>, enabled: &[String]) -> Vec<String> {
    let (mut tokens, mut with_handles): (Vec<String>, Vec<&str>) = Default::default();
    for command in job.variables.names().iter().filter(|command| !command.starts_with("MY.")) {
        let lower = command.as_str().to_ascii_lowercase();
        let parts = OAUTH_COMMANDS.iter().filter_map(|part| Some((lower.find(part)?, part.len())));
        let Some((start, length)) = parts.min() else { continue };
        let (service, handle) = (&command.as_str()[..start], &command.as_str()[start + length..]);
        if !enabled.iter().any(|enabled| enabled.eq_ignore_ascii_case(service)) {
            continue;
        }
        job.variables.mark_used(command);
        let mut letters = handle.chars();
        if letters.next().is_some() {
            with_handles.push(service);
            tokens.push(format!("{service}*{}", letters.as_str()));
        } else {
            tokens.push(service.to_owned());
        }
    }
    let has_handle = |service: &String| with_handles.iter().any(|known| known.eq_ignore_ascii_case(service));
    tokens.extend(enabled.iter().filter(|service| !has_handle(service)).cloned());
    tokens.sort_by_key(|token| token.to_ascii_lowercase());
    tokens.dedup_by(|one, other| one.eq_ignore_ascii_case(other));
    tokens
}

/// Considers the limits of late materialization, which are no attributes of jobs.
pub(super) fn set_max_materialize(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    job.integer(&["max_materialize", "JobMaterializeLimit"])?;
    Ok(())
}

/// Sets the attribute of a simple command.
pub(super) fn set_simple(job: &mut JobBuilder<'_>, command: &SimpleCommand) -> Result<(), Problem> {
    let Some(value) = job.value(command.names)? else { return Ok(()) };
    let text = match command.kind {
        CommandKind::Expression => return job.assign_expression(command.attribute, &value),
        CommandKind::Boolean => {
            let Some(is) = job.truth(command.names)? else { return Ok(()) };
            job.assign_value(command.attribute, is, &value);
            return Ok(());
        }
        CommandKind::Integer | CommandKind::Unsigned => {
            let Some((number, value)) = job.integer(command.names)? else { return Ok(()) };
            if number < 0 && command.kind == CommandKind::Unsigned {
                return Err(value.fault(format!("{} must not be negative", value.name)));
            }
            job.assign_value(command.attribute, number, &value);
            return Ok(());
        }
        CommandKind::Text => value.text.clone(),
        CommandKind::Unquoted => unquoted(&value.text).to_owned(),
        CommandKind::List => super::queue::words(&value.text).join(","),
        CommandKind::Path => job.full_path(unquoted_path(&value, command)),
    };
    job.assign_value(command.attribute, text.as_str(), &value);
    Ok(())
}

/// Returns the path of a command. The log of the starter may have quotes around it.
fn unquoted_path<'v>(value: &'v CommandValue, command: &SimpleCommand) -> &'v str {
    if command.attribute == "JobStarterLog" { unquoted(&value.text) } else { &value.text }
}

/// Sets the attribute of a command `+Name` or `MY.Name`.
pub(super) fn set_custom(job: &mut JobBuilder<'_>, name: &Name) -> Result<(), Problem> {
    let attribute = &name.as_str()["MY.".len()..];
    if let Some(value) = job.value(&[name.as_str()])? {
        job.assign_expression(attribute, &value)
    } else {
        job.assign(attribute, Value::Undefined);
        Ok(())
    }
}
