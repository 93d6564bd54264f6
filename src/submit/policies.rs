//! What becomes of a job: rank, accounting, holding, removing, signals, when it starts.

use crate::ad::Value;
use crate::format::Problem;

use super::job_builder::{ComposedText, JobBuilder};
use super::job_kind::Universe;
use super::requirements::deferral_attribute;
use super::universe::leading_integer;

/// Sets whether the job is held at once.
pub(super) fn set_status(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    let is_held = job.truth(&["hold"])? == Some(true);
    job.assign("JobStatus", if is_held { 5 } else { 1 });
    if is_held {
        const SUBMITTED_ON_HOLD: i64 = 15;
        job.assign("HoldReasonCode", SUBMITTED_ON_HOLD);
        job.assign("HoldReason", "submitted on hold at user's request");
    }
    let now = job.context().now.unwrap_or_default();
    job.assign("EnteredCurrentStatus", now);
    Ok(())
}

/// Sets when an email is sent.
pub(super) fn set_notification(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    const KINDS: [(&str, i64); 5] = [("never", 0), ("always", 1), ("complete", 2), ("error", 3), ("start", 4)];
    let value = job.value(&["notification", "JobNotification"])?;
    let default = job.setting("JOB_DEFAULT_NOTIFICATION");
    let word = value.as_ref().map(|value| value.text.clone()).or(default).unwrap_or("never".to_owned());
    let kind = KINDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(&word)).map(|(_, kind)| *kind);
    match (kind, &value) {
        (Some(kind), Some(value)) => job.assign_value("JobNotification", kind, value),
        (Some(kind), None) => job.assign("JobNotification", kind),
        (None, value) => {
            let place = value.as_ref().map_or(job.statement.clone(), |value| value.place.value.clone());
            let problem = Problem::error_at(place, 0, format!("there is no notification `{word}`"));
            return Err(problem.with_help("write never, always, complete, start or error"));
        }
    }
    Ok(())
}

/// Sets which slots the job prefers.
pub(super) fn set_rank(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    let own = job.value(&["rank", "preferences"])?;
    let is_vanilla = job.kind.universe == Universe::Vanilla;
    let setting = |name: &str| {
        let of_universe = is_vanilla.then(|| job.setting(&format!("{name}_VANILLA"))).flatten();
        of_universe.or_else(|| job.setting(name))
    };
    let (default, appended) = (setting("DEFAULT_RANK"), setting("APPEND_RANK"));
    let statement = job.statement.clone();
    let mut rank = match (&own, &default) {
        (Some(own), _) => ComposedText::of(own),
        (None, Some(default)) => {
            let mut rank = ComposedText::default();
            rank.push(default, &statement);
            rank
        }
        (None, None) => ComposedText::default(),
    };
    if let Some(appended) = appended {
        let mut both = ComposedText::default();
        if rank.text.is_empty() {
            both.push(&appended, &statement);
        } else {
            both.push("(", &statement);
            both.append(rank);
            both.push(&format!(") + ({appended})"), &statement);
        }
        rank = both;
    }
    if rank.text.is_empty() {
        job.assign("Rank", 0.0);
        return Ok(());
    }
    job.assign_composed("Rank", rank, &own.map_or(statement, |own| own.place.name))
}

/// Commands whose values are expressions that the schedd or the shadow evaluates.
const PERIODIC: [(&str, &str); 8] = [
    ("periodic_hold", "PeriodicHold"),
    ("periodic_hold_reason", "PeriodicHoldReason"),
    ("periodic_hold_subcode", "PeriodicHoldSubCode"),
    ("periodic_release", "PeriodicRelease"),
    ("periodic_remove", "PeriodicRemove"),
    ("periodic_vacate", "PeriodicVacate"),
    ("on_exit_hold_reason", "OnExitHoldReason"),
    ("on_exit_hold_subcode", "OnExitHoldSubCode"),
];

/// Policies with their values in the configuration that asks for default policies.
const DEFAULT_POLICIES: [(&str, bool); 4] =
    [("PeriodicHold", false), ("PeriodicRelease", false), ("PeriodicRemove", false), ("PeriodicVacate", false)];

/// Sets the periodic policies, and whether the job stays in the queue.
pub(super) fn set_periodic(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    for (command, attribute) in PERIODIC {
        if let Some(value) = job.value(&[command, attribute])? {
            job.assign_expression(attribute, &value)?;
        }
    }
    if job.settings.truth("SUBMIT_INSERT_DEFAULT_POLICY_EXPRS", false) {
        for (attribute, usual) in DEFAULT_POLICIES {
            if !job.has(attribute) {
                job.assign(attribute, usual);
            }
        }
    }
    if let Some(value) = job.value(&["leave_in_queue", "LeaveJobInQueue"])? {
        job.assign_expression("LeaveJobInQueue", &value)
    } else {
        if !job.has("LeaveJobInQueue") {
            job.assign("LeaveJobInQueue", false);
        }
        Ok(())
    }
}

/// Sets the transforms that a job of several lines has after an eviction.
pub(super) fn set_eviction(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    let Some(tags) = job.value(&["on_evict_checks", "TransformOnEvict"])? else { return Ok(()) };
    let mut known = Vec::new();
    for tag in super::queue::words(&tags.text) {
        let names = [format!("transform_body_{tag}"), format!("TransformBody_{tag}")];
        let Some((name, body)) = names.iter().find_map(|name| Some((name, job.variables.raw(name)?))) else { continue };
        job.variables.mark_used(&crate::ad::Name::new(name));
        let mut lines = Vec::new();
        for line in body.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            lines.push(job.variables.expand(line, &tags.place.value)?.0);
        }
        job.assign_value(&names[1], lines.join("\u{1e}").as_str(), &tags);
        known.push(tag);
    }
    job.assign_value("TransformOnEvict", known.join(" ").as_str(), &tags);
    Ok(())
}

/// Signals by number, as HTCondor names them.
const SIGNALS: [(i64, &str); 25] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (10, "SIGUSR1"),
    (11, "SIGSEGV"),
    (12, "SIGUSR2"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
    (17, "SIGCHLD"),
    (18, "SIGCONT"),
    (19, "SIGSTOP"),
    (20, "SIGTSTP"),
    (21, "SIGTTIN"),
    (22, "SIGTTOU"),
    (24, "SIGXCPU"),
    (25, "SIGXFSZ"),
    (27, "SIGPROF"),
    (28, "SIGWINCH"),
];

/// Sets the signals that end the job.
pub(super) fn set_signals(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    for (command, attribute) in
        [("kill_sig", "KillSig"), ("remove_kill_sig", "RemoveKillSig"), ("hold_kill_sig", "HoldKillSig")]
    {
        match job.value(&[command, attribute])? {
            Some(value) => {
                let number = leading_integer(&value.text);
                let is_it = |signal: &&(i64, &str)| match number {
                    0 => signal.1.eq_ignore_ascii_case(&value.text),
                    number => signal.0 == number,
                };
                let signal = SIGNALS.iter().find(is_it);
                let signal = signal.ok_or_else(|| {
                    value
                        .fault(format!("there is no signal `{}`", value.text))
                        .with_help("write a name such as SIGTERM, or a number")
                })?;
                job.assign_value(attribute, signal.1, &value);
            }
            None if command == "kill_sig" && job.kind.universe != Universe::Vanilla => job.assign(attribute, "SIGTERM"),
            None => {}
        }
    }
    if let Some(value) = job.value(&["kill_sig_timeout", "KillSigTimeout"])? {
        job.assign_value("KillSigTimeout", leading_integer(&value.text), &value);
    }
    Ok(())
}

/// Sets the limits that jobs share.
pub(super) fn set_concurrency_limits(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    let (limits, expression) = (job.value(&["concurrency_limits"])?, job.value(&["concurrency_limits_expr"])?);
    match (limits, expression) {
        (Some(_), Some(expression)) => {
            Err(expression.fault("concurrency_limits and concurrency_limits_expr exclude each other"))
        }
        (Some(limits), None) => {
            let mut words = super::queue::words(&limits.text.to_ascii_lowercase());
            let is_name = |name: &str| {
                !name.is_empty()
                    && !name.starts_with(|c: char| c.is_ascii_digit())
                    && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            };
            let is_limit = |word: &str| {
                let name = word.split(':').next().unwrap_or_default();
                name.split_once('.').map_or_else(|| is_name(name), |(name, sub)| is_name(name) && is_name(sub))
            };
            if let Some(word) = words.iter().find(|word| !is_limit(word)) {
                let problem = limits.fault(format!("`{word}` is not a concurrency limit"));
                return Err(problem.with_help("write NAME or NAME:COUNT, with commas between limits"));
            }
            words.sort();
            if !words.is_empty() {
                job.assign_value("ConcurrencyLimits", words.join(",").as_str(), &limits);
            }
            Ok(())
        }
        (None, Some(expression)) => job.assign_expression("ConcurrencyLimits", &expression),
        (None, None) => Ok(()),
    }
}

/// Sets whose account the job uses.
pub(super) fn set_accounting(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    if let Some(project) = job.value(&["project_name", "ProjectName"])? {
        job.assign_value("ProjectName", project.text.as_str(), &project);
    }
    let group = job.value(&["accounting_group", "AccountingGroup"])?;
    let user = job.value(&["accounting_group_user", "AcctGroupUser"])?;
    let nice = job.truth(&["nice_user", "NiceUser"])? == Some(true);
    let nice_group = job.setting("NICE_USER_ACCOUNTING_GROUP_NAME").filter(|_| nice);
    if nice {
        if let Some(group) = group.as_ref().filter(|group| Some(&group.text) != nice_group.as_ref()) {
            job.variables.warn(group.fault("accounting_group replaces nice_user"));
        }
        job.assign("MaxJobRetirementTime", 0);
    }
    for value in [&group, &user].into_iter().flatten() {
        if value.text.contains(char::is_whitespace) {
            return Err(value.fault(format!("{} has no blanks", value.name)));
        }
    }
    let group_name = group.as_ref().map(|group| group.text.clone()).or(nice_group);
    if group_name.is_none() && user.is_none() {
        return Ok(());
    }
    let user_name = user.as_ref().map_or_else(|| job.settings.user.clone(), |user| user.text.clone());
    let source = group.as_ref().or(user.as_ref());
    let mut assign = |name: &str, text: &str| match source {
        Some(source) => job.assign_value(name, text, source),
        None => job.assign(name, text),
    };
    assign("AcctGroupUser", &user_name);
    match group_name {
        Some(group) => {
            assign("AcctGroup", &group);
            assign("AccountingGroup", &format!("{group}.{user_name}"));
        }
        None => assign("AccountingGroup", &user_name),
    }
    Ok(())
}

/// Sets at which time the job starts.
pub(super) fn set_deferral(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    set_time(job, &["deferral_time", "DeferralTime"], "DeferralTime", None)?;
    if deferral_attribute(job).is_none() {
        return Ok(());
    }
    let window = ["cron_window", "CronWindow", "deferral_window", "DeferralWindow"];
    set_time(job, &window, "DeferralWindow", Some(0))?;
    let preparation = ["cron_prep_time", "CronPrepTime", "deferral_prep_time", "DeferralPrepTime"];
    set_time(job, &preparation, "DeferralPrepTime", Some(300))
}

fn set_time(job: &mut JobBuilder<'_>, names: &[&str], attribute: &str, default: Option<i64>) -> Result<(), Problem> {
    let Some(value) = job.value(names)? else {
        if let Some(default) = default {
            job.assign(attribute, default);
        }
        return Ok(());
    };
    job.assign_expression(attribute, &value)?;
    let literal = job.attribute(attribute).and_then(|expression| expression.as_literal().cloned());
    match literal {
        None | Some(Value::Integer(0..)) => Ok(()),
        Some(_) => Err(value.fault(format!("{} must be a number of seconds that is not negative", names[0]))),
    }
}
