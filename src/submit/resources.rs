//! What a job requests: processors, memory, disk, GPUs and resources that a pool names itself.

use crate::ad::{Dialect, Name, closest_names};
use crate::eval::FreeNames;
use crate::format::Problem;
use crate::syntax::{Style, expression_text};

use super::job_builder::{ComposedText, JobBuilder, read_expression};
use super::sizes::{ByteSize, byte_size};
use super::variables::CommandValue;

/// Sets a request that the command `name` makes.
pub(super) fn set_request(job: &mut JobBuilder<'_>, name: &Name) -> Result<(), Problem> {
    let text = name.as_str();
    match text.to_ascii_lowercase().as_str() {
        "request_cpus" => set_plain(job, "request_cpus", "RequestCpus", "JOB_DEFAULT_REQUESTCPUS"),
        "request_gpus" => set_gpus(job),
        "request_memory" => set_memory(job),
        "request_disk" => set_disk(job),
        "request_cpu" | "request_gpu" => {
            if let Some(value) = job.value(&[text])? {
                let place = value.place.name.clone();
                let problem = Problem::error_at(place, 0, format!("{text} is not a command"));
                job.variables.warn(problem.with_help(format!("did you mean {text}s?")));
            }
            Ok(())
        }
        "request_gpu_memory" | "request_gpus_memory" => Ok(()),
        _ => {
            let resource = &text["request_".len()..];
            if resource.len() < 2 || resource.starts_with('_') {
                return Ok(());
            }
            let Some(value) = job.value(&[text])? else { return Ok(()) };
            let usual = ["request_cpus", "request_gpus", "request_disk", "request_memory"];
            if let Some(near) = closest_names(text, usual).first()
                && job.is_first()
            {
                let message = format!("this requests a resource `{resource}`, which a pool must offer");
                let problem = Problem::error_at(value.place.name.clone(), 0, message);
                job.variables.warn(problem.with_help(format!("did you mean {near}?")));
            }
            job.assign_expression(&format!("Request{resource}"), &value)
        }
    }
}

/// Sets a request that is an expression. The configuration has its default.
fn set_plain(job: &mut JobBuilder<'_>, command: &str, attribute: &str, default: &str) -> Result<(), Problem> {
    match job.value(&[command, attribute])? {
        Some(value) if value.text.eq_ignore_ascii_case("undefined") => Ok(()),
        Some(value) => job.assign_expression(attribute, &value),
        None => set_default(job, attribute, default),
    }
}

/// Sets a request to its default in the configuration, if the job has none.
fn set_default(job: &mut JobBuilder<'_>, attribute: &str, setting: &str) -> Result<(), Problem> {
    let default = job.setting(setting).filter(|_| job.kind.grid_type != "batch");
    match default {
        _ if job.has(attribute) => Ok(()),
        Some(text) if text.eq_ignore_ascii_case("undefined") => Ok(()),
        Some(text) => job.assign_text(attribute, &text),
        None => Ok(()),
    }
}

/// Refuses or warns of a size without a unit, if the configuration asks for units.
fn check_unit(job: &mut JobBuilder<'_>, value: &CommandValue, size: &ByteSize<'_>, usual: &str) -> Result<(), Problem> {
    let Some(action) = job.setting("SUBMIT_REQUEST_MISSING_UNITS").filter(|_| !size.has_unit) else { return Ok(()) };
    let problem = value.fault(format!("{} has no unit: {usual} are meant", value.name));
    let problem = problem.with_help("write a number with K, M, G or T");
    if action.eq_ignore_ascii_case("error") {
        return Err(problem);
    }
    job.variables.warn(problem);
    Ok(())
}

fn set_memory(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    const MEGABYTE: i64 = 1 << 20;
    let Some(value) = job.value(&["request_memory", "RequestMemory"])? else {
        if job.has("RequestMemory") {
            return Ok(());
        }
        if job.has("JobVMMemory") {
            return job.assign_text("RequestMemory", "MY.JobVMMemory");
        }
        return set_default_size(job, "RequestMemory", "JOB_DEFAULT_REQUESTMEMORY", MEGABYTE);
    };
    let Some(size) = byte_size(&value.text, MEGABYTE, true) else {
        return set_size_expression(job, "RequestMemory", &value);
    };
    check_unit(job, &value, &size, "megabytes")?;
    job.assign_value("RequestMemory", size.number, &value);
    let (max, increase) = ("retry_request_memory_max", "retry_request_memory_increase");
    if !size.rest.trim().is_empty() {
        return set_retries(job, "RequestMemory", MEGABYTE, Some((size.rest, &value)), None);
    }
    let (retry, most, step) = (job.value(&["retry_request_memory"])?, job.value(&[max])?, job.value(&[increase])?);
    match (retry, most, step) {
        (Some(retry), ..) => set_retries(job, "RequestMemory", MEGABYTE, Some((&retry.text, &retry)), None),
        (None, None, None) => Ok(()),
        (None, most, step) => {
            let most = most.as_ref().map(|most| (most.text.as_str(), most));
            set_retries(job, "RequestMemory", MEGABYTE, most, step.as_ref())
        }
    }
}

fn set_disk(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    const KILOBYTE: i64 = 1 << 10;
    let Some(value) = job.value(&["request_disk", "RequestDisk"])? else {
        return set_default_size(job, "RequestDisk", "JOB_DEFAULT_REQUESTDISK", KILOBYTE);
    };
    let Some(size) = byte_size(&value.text, KILOBYTE, true) else {
        return set_size_expression(job, "RequestDisk", &value);
    };
    check_unit(job, &value, &size, "kilobytes")?;
    job.assign_value("RequestDisk", size.number, &value);
    if !size.rest.trim().is_empty() {
        return set_retries(job, "RequestDisk", KILOBYTE, Some((size.rest, &value)), None);
    }
    match job.value(&["retry_request_disk"])? {
        Some(retry) => set_retries(job, "RequestDisk", KILOBYTE, Some((&retry.text, &retry)), None),
        None => Ok(()),
    }
}

/// Sets a size that is no number: an expression.
fn set_size_expression(job: &mut JobBuilder<'_>, attribute: &str, value: &CommandValue) -> Result<(), Problem> {
    if value.text.eq_ignore_ascii_case("undefined") {
        return Ok(());
    }
    job.assign_expression(attribute, value).map_err(|problem| {
        let is_size = value.text.trim_start().starts_with(|c: char| c.is_ascii_digit());
        if is_size && problem.help.is_none() {
            problem.with_help("write a number with K, M, G or T, such as 2GB, or an expression")
        } else {
            problem
        }
    })
}

/// Sets a size to its default in the configuration, if the job has none.
fn set_default_size(job: &mut JobBuilder<'_>, attribute: &str, setting: &str, base: i64) -> Result<(), Problem> {
    let default = job.setting(setting).filter(|_| job.kind.grid_type != "batch");
    let size = default.as_deref().and_then(|text| byte_size(text, base, true));
    match size {
        Some(size) if !job.has(attribute) => {
            job.assign(attribute, size.number);
            Ok(())
        }
        Some(_) => Ok(()),
        None => set_default(job, attribute, setting),
    }
}

/// Sets what a job requests after it was evicted: the next of a list of sizes, or more by an increment.
fn set_retries(
    job: &mut JobBuilder<'_>,
    attribute: &str,
    base: i64,
    further: Option<(&str, &CommandValue)>,
    increment: Option<&CommandValue>,
) -> Result<(), Problem> {
    let sizes = further
        .map_or_else(|| Ok(RetrySizes::default()), |(rest, command)| RetrySizes::read(job, base, rest, command))?;
    let command = further.map(|(_, command)| command).or(increment);
    let place = command.map_or_else(|| job.statement.clone(), |command| command.place.name.clone());
    let source = command.map_or_else(|| place.clone(), |command| command.place.value.clone());
    let expression = |job: &mut JobBuilder<'_>, name: &str, text: &str| {
        let mut composed = ComposedText::default();
        composed.push(text, &source);
        job.assign_composed(name, composed, &place)
    };
    let body = match (sizes, increment) {
        (RetrySizes { first, last: Some(last), .. }, _) if !first.is_empty() => {
            let listed: Vec<String> = first.iter().map(i64::to_string).chain([last]).collect();
            expression(job, &format!("Retry{attribute}"), &format!("{{{}}}", listed.join(",")))?;
            format!(
                "EVALSET {attribute} Retry{attribute}[Retry{attribute}Index?:0]\u{1e}EVALSET Retry{attribute}Index \
                 MIN({{size(Retry{attribute})-1, (Retry{attribute}Index?:0)+1}})"
            )
        }
        (RetrySizes { last, .. }, Some(step)) => {
            let size = byte_size(&step.text, base, false).map(|size| format!("{attribute} + {}", size.number));
            let step_text = size.unwrap_or_else(|| step.text.clone());
            if let Some(most) = last {
                expression(job, &format!("Max{attribute}"), &most)?;
                expression(job, &format!("Next{attribute}"), &step_text)?;
                format!("EVALSET {attribute} MIN({{Next{attribute}, Max{attribute}}})")
            } else {
                let now = job.attribute(attribute).and_then(|now| now.as_literal()?.as_integer()).unwrap_or(0);
                let more = step_text.strip_prefix(&format!("{attribute} + ")).and_then(|step| step.parse::<i64>().ok());
                let more = more.ok_or_else(|| step.fault("without a maximum this must be a size"))?;
                format!("SET {attribute} {}", now + more)
            }
        }
        (RetrySizes { last: Some(last), is_expression: true, .. }, None) => format!("EVALSET {attribute} {last}"),
        (RetrySizes { last: Some(last), .. }, None) => format!("SET {attribute} {last}"),
        (RetrySizes { last: None, .. }, None) => return Ok(()),
    };
    transform_on_evict(job, attribute, &body);
    Ok(())
}

/// The sizes that a job requests after evictions, one after the other.
#[derive(Default)]
struct RetrySizes {
    /// All but the last one.
    first: Vec<i64>,
    /// The last one, a number or an expression; `None` if there are none.
    last: Option<String>,
    is_expression: bool,
}

impl RetrySizes {
    /// Reads the sizes that follow the first one in the value of a command.
    fn read(job: &mut JobBuilder<'_>, base: i64, mut rest: &str, command: &CommandValue) -> Result<Self, Problem> {
        let mut sizes = Vec::new();
        while let Some(size) = byte_size(rest, base, true) {
            check_unit(job, command, &size, "units of the request")?;
            sizes.push(size.number);
            rest = size.rest;
            if rest.trim().is_empty() {
                break;
            }
        }
        if sizes.len() > 1 && !sizes.is_sorted_by(|one, other| one < other) {
            return Err(command.fault("these sizes must increase"));
        }
        let last = Some(rest.trim()).filter(|rest| !rest.is_empty()).map(|rest| {
            read_expression(rest)
                .map_or_else(|_| rest.to_owned(), |expression| expression_text(&expression, Style::Long))
        });
        let is_expression = last.is_some();
        let last = last.or_else(|| sizes.pop().map(|size| size.to_string()));
        Ok(RetrySizes { first: sizes, last, is_expression })
    }
}

/// Sets what becomes of a request if the job is evicted because it used more.
fn transform_on_evict(job: &mut JobBuilder<'_>, attribute: &str, body: &str) {
    let code = if attribute == "RequestMemory" { 102 } else { 104 };
    let setting = job.setting(&format!("ON_EVICT_CHECK_{attribute}_REQUIREMENTS"));
    let condition = setting.unwrap_or_else(|| {
        format!("(VacateReasonCode==21 || VacateReasonCode == 34) && VacateReasonSubCode == {code}")
    });
    job.assign(&format!("TransformBody_{attribute}"), format!("REQUIREMENTS {condition}\u{1e}{body}"));
    let known = job.text("TransformOnEvict").unwrap_or_default();
    if !super::queue::words(&known).iter().any(|word| word.eq_ignore_ascii_case(attribute)) {
        job.assign("TransformOnEvict", format!("{known} {attribute}").trim_start());
    }
}

fn set_gpus(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    set_plain(job, "request_gpus", "RequestGPUs", "JOB_DEFAULT_REQUESTGPUS")?;
    if !job.has("RequestGPUs") {
        return Ok(());
    }
    for (command, attribute) in [
        ("require_gpus", "RequireGPUs"),
        ("gpus_minimum_capability", "GPUsMinCapability"),
        ("gpus_maximum_capability", "GPUsMaxCapability"),
    ] {
        if let Some(value) = job.value(&[command, attribute])? {
            job.assign_expression(attribute, &value)?;
        }
    }
    if let Some(value) = job.value(&["gpus_minimum_memory", "GPUsMinMemory"])? {
        match byte_size(&value.text, 1 << 20, false) {
            Some(size) => {
                check_unit(job, &value, &size, "megabytes")?;
                job.assign_value("GPUsMinMemory", size.number, &value);
            }
            None => job.assign_expression("GPUsMinMemory", &value)?,
        }
    } else if let Some(value) = job.value(&["request_gpu_memory", "request_gpus_memory"])? {
        let problem = Problem::error_at(value.place.name.clone(), 0, format!("{} is not a command", value.name));
        job.variables.warn(problem.with_help("did you mean gpus_minimum_memory?"));
    }
    if let Some(value) = job.value(&["gpus_minimum_runtime", "GPUsMinRuntime"])? {
        match runtime_version(&value.text) {
            Some(version) => job.assign_value("GPUsMinRuntime", version, &value),
            None => job.assign_expression("GPUsMinRuntime", &value)?,
        }
    }
    Ok(())
}

/// Returns the number of a version such as 12.4, as slots advertise it: 12040. `None` if it is no version.
fn runtime_version(text: &str) -> Option<i64> {
    let (major, minor) = text.trim().split_once('.').map_or((text.trim(), None), |(major, minor)| (major, Some(minor)));
    let major: i64 = major.parse().ok().filter(|major: &i64| *major >= 0)?;
    let minor: Option<i64> = minor.map(str::parse).transpose().ok()?;
    match minor {
        None if major > 1000 => Some(major),
        None => Some(major * 1000),
        Some(minor @ 0..100) => Some(major * 1000 + minor * 10),
        Some(_) => None,
    }
}

/// Adds the limits on GPUs to what is required of them.
pub(super) fn set_gpu_requirements(job: &mut JobBuilder<'_>) -> Result<(), Problem> {
    if !job.has("RequestGPUs") {
        return Ok(());
    }
    let required = job.attribute("RequireGPUs");
    let mentioned =
        required.as_ref().map(|required| FreeNames::of(required, Dialect::Condor).names).unwrap_or_default();
    let mut added = ComposedText::default();
    for (limit, property, operator) in [
        ("GPUsMinCapability", "Capability", ">="),
        ("GPUsMaxCapability", "Capability", "<="),
        ("GPUsMinMemory", "GlobalMemoryMb", ">="),
        ("GPUsMinRuntime", "MaxSupportedVersion", ">="),
    ] {
        if job.has(limit) && !mentioned.contains(&Name::new(property)) {
            let source = job.source_of(limit);
            if !added.text.is_empty() {
                added.push(" && ", &source);
            }
            added.push(&format!("{property} {operator} {limit}"), &source);
        }
    }
    if added.text.is_empty() {
        return Ok(());
    }
    let place = job.source_of("RequestGPUs");
    let Some(value) = job.value(&["require_gpus", "RequireGPUs"])? else {
        return job.assign_composed("RequireGPUs", added, &place);
    };
    let is_weak = super::requirements::is_weaker_than_and(required.as_ref());
    let mut composed = ComposedText::default();
    composed.push(if is_weak { "(" } else { "" }, &value.place.value);
    composed.push_value(&value);
    composed.push(if is_weak { ") && " } else { " && " }, &value.place.value);
    composed.append(added);
    job.assign_composed("RequireGPUs", composed, &value.place.name)
}
