//! Functions of the tables of `condor_q`.

use classad::ad::Value;

use super::PrintCall;
use classad::query::AdLookup;

const RUNNING: i64 = 2;
const TRANSFERRING_OUTPUT: i64 = 6;
const SUSPENDED: i64 = 7;
pub const SCHEDULER_UNIVERSE: i64 = 7;
const GRID_UNIVERSE: i64 = 9;

/// HTCondor's names of the universes, by number.
const UNIVERSES: [&str; 14] = [
    "Unknown",
    "Standard",
    "Pipe",
    "Linda",
    "PVM",
    "Vanilla",
    "PVMD",
    "Scheduler",
    "MPI",
    "Grid",
    "Java",
    "Parallel",
    "Local",
    "VM",
];

#[allow(clippy::unnecessary_wraps)] // functions return it
fn text(text: impl Into<String>) -> Option<Value> {
    Some(Value::string(text.into()))
}

/// Returns the text after the last `/`.
fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

pub fn id(call: &mut PrintCall) -> Option<Value> {
    let cluster = call.lookup.integer("ClusterId")?;
    let process = call.lookup.integer("ProcId").unwrap_or(0);
    text(format!("{cluster}.{process}"))
}

pub fn owner(call: &mut PrintCall) -> Option<Value> {
    call.lookup.string("Owner").and_then(text)
}

/// The node of a DAG; the owner of any other job.
pub fn dag_owner(call: &mut PrintCall) -> Option<Value> {
    let node = if call.lookup.has("DAGManJobId") { call.lookup.string("DAGNodeName") } else { None };
    node.or_else(|| call.lookup.string("Owner")).and_then(text)
}

pub fn batch_name(call: &mut PrintCall) -> Option<Value> {
    let lookup = &mut *call.lookup;
    if let Some(name) = lookup.string("JobBatchName") {
        return text(name);
    }
    if lookup.integer("JobUniverse") == Some(SCHEDULER_UNIVERSE) {
        return text(format!("DAG: {}", lookup.integer("ClusterId").unwrap_or(0)));
    }
    let node = if lookup.has("DAGManJobId") { lookup.string("DAGNodeName") } else { None };
    node.and_then(|node| text(format!("NODE: {node}")))
}

pub fn transfers(call: &mut PrintCall) -> Option<Value> {
    let parts = [("TransferringInput", "in"), ("TransferringOutput", "out"), ("TransferQueued", "queued")];
    let under_way = parts.into_iter().filter(|(name, _)| call.lookup.is_true(name)).map(|(_, word)| word);
    let under_way: Vec<&str> = under_way.collect();
    text(if under_way.is_empty() { String::new() } else { format!(" transfer={}", under_way.join(",")) })
}

/// Seconds of the current run, by the access point's clock; those of the last run of a job that waits.
pub fn run_time(call: &mut PrintCall) -> Option<Value> {
    let lookup = &mut *call.lookup;
    lookup.real("RemoteUserCpu")?;
    let now = lookup.integer("ServerTime").filter(|time| *time != 0);
    let Some(now) = now else { return Some(Value::Integer(-1)) };
    let begin = lookup.integer("ShadowBday").filter(|time| *time != 0);
    let seconds = match (lookup.integer("JobStatus").unwrap_or(0), begin) {
        (RUNNING | TRANSFERRING_OUTPUT | SUSPENDED, Some(begin)) => now.saturating_sub(begin),
        (1 | 5 | 9, _) => lookup.integer("LastRemoteWallClockTime").unwrap_or(0),
        _ => 0,
    };
    Some(Value::Integer(seconds))
}

/// Percentage of the committed time that was spent on the processor.
pub fn cpu_utilisation(call: &mut PrintCall) -> Option<Value> {
    let used = call.lookup.real("RemoteUserCpu")?;
    let committed = call.lookup.real("CommittedTime").map(f64::trunc).filter(|time| *time != 0.0)?;
    let share = (used / committed * 100.0).min(100.0);
    (share >= 0.0).then_some(Value::Real(share))
}

/// Seconds that the job has run, with the time of the current run up to the last checkpoint.
fn wall_clock(lookup: &mut AdLookup) -> f64 {
    let is_running = matches!(lookup.integer("JobStatus"), Some(RUNNING | TRANSFERRING_OUTPUT | SUSPENDED));
    let [begin, last] = ["ShadowBday", "LastCkptTime"].map(|name| lookup.integer(name).unwrap_or(0));
    let current = if is_running && begin != 0 && last > begin { last - begin } else { 0 };
    #[allow(clippy::cast_precision_loss)] // seconds
    let current = current as f64;
    lookup.real("RemoteWallClockTime").unwrap_or(0.0) + current
}

/// Percentage of the time run whose work is kept.
pub fn goodput(call: &mut PrintCall) -> Option<Value> {
    call.lookup.integer("JobStatus")?;
    let clock = wall_clock(call.lookup);
    let committed = call.lookup.real("CommittedTime").unwrap_or(0.0).trunc();
    let share = (committed / clock * 100.0).min(100.0);
    (clock > 0.0 && share >= 0.0).then_some(Value::Real(share))
}

pub fn megabits_per_second(call: &mut PrintCall) -> Option<Value> {
    let sent = call.lookup.real("BytesSent")?;
    let received = call.lookup.real("BytesRecvd").unwrap_or(0.0);
    let megabits = (sent + received) * 8.0 / (1024.0 * 1024.0);
    (megabits > 0.0).then(|| Value::Real(megabits / wall_clock(call.lookup)))
}

pub fn memory_usage(call: &mut PrintCall) -> Option<Value> {
    #[allow(clippy::cast_precision_loss)] // megabytes
    let megabytes = |size: i64| Value::Real(size as f64);
    let usage = call.lookup.integer("MemoryUsage").map(megabytes);
    #[allow(clippy::cast_precision_loss)] // kilobytes
    let image = || call.lookup.integer("ImageSize").map(|size| Value::Real(size as f64 / 1024.0));
    usage.or_else(image)
}

pub fn remote_host(call: &mut PrintCall) -> Option<Value> {
    let lookup = &mut *call.lookup;
    if lookup.integer("JobUniverse") == Some(GRID_UNIVERSE) {
        let host = lookup.string("EC2RemoteVirtualMachineName");
        return host.or_else(|| lookup.string("GridResource")).and_then(text);
    }
    lookup.string("RemoteHost").and_then(text)
}

pub fn command(call: &mut PrintCall) -> Option<Value> {
    let program = call.lookup.string("Cmd")?;
    let arguments = call.lookup.string("Args").or_else(|| call.lookup.string("Arguments"));
    text(arguments.map_or(program.clone(), |arguments| format!("{program} {arguments}")))
}

pub fn description(call: &mut PrintCall) -> Option<Value> {
    let lookup = &mut *call.lookup;
    let program = lookup.string("Cmd")?;
    let told = lookup.string("MATCH_EXP_JobDescription").or_else(|| lookup.string("JobDescription"));
    if let Some(told) = told.filter(|told| !told.is_empty()) {
        return text(format!("({told})"));
    }
    let arguments = lookup.string("Arguments").or_else(|| lookup.string("Args")).unwrap_or_default();
    let space = if arguments.is_empty() { "" } else { " " };
    text(format!("{}{space}{arguments}", base_name(&program)))
}

/// A letter for the status, or what is transferred.
pub fn status(call: &mut PrintCall) -> Option<Value> {
    let lookup = &mut *call.lookup;
    let status = lookup.integer("JobStatus")?;
    let letter = match status {
        1..=9 => "IRXCH>SFB".chars().nth(usize::try_from(status - 1).ok()?)?,
        _ => ' ',
    };
    let queued = if lookup.is_true("TransferQueued") { 'q' } else { ' ' };
    let mut shown = [letter, ' '];
    if lookup.is_true("TransferringInput") {
        shown = ['<', queued];
    }
    if lookup.is_true("TransferringOutput") || status == TRANSFERRING_OUTPUT {
        shown = [queued, '>'];
    }
    text(shown.iter().collect::<String>())
}

pub fn raw_status(call: &mut PrintCall) -> Option<Value> {
    const NAMES: [&str; 9] =
        ["Idle   ", "Running", "Removed", "Complet", "Held   ", "XFerOut", "Suspend", "Failed ", "Blocked"];
    let index = usize::try_from(call.integer()?).ok().and_then(|number| number.checked_sub(1));
    text(index.and_then(|index| NAMES.get(index)).copied().unwrap_or("Unk    "))
}

pub fn universe(call: &mut PrintCall) -> Option<Value> {
    let number = usize::try_from(call.integer()?).unwrap_or(0);
    text(UNIVERSES.get(number).copied().unwrap_or("Unknown"))
}

pub fn factory_mode(call: &mut PrintCall) -> Option<Value> {
    if matches!(call.value, Value::Undefined) {
        return text("");
    }
    text(match call.integer() {
        Some(-1) => "Errs",
        Some(0) => "Norm",
        Some(1) => "Held",
        Some(2) => "Done",
        Some(3) => "Gone",
        Some(_) => "Unk",
        None => "????",
    })
}

pub fn grid_status(call: &mut PrintCall) -> Option<Value> {
    const NAMES: [&str; 9] =
        ["IDLE", "RUNNING", "REMOVED", "COMPLETED", "HELD", "XFER_OUT", "SUSPENDED", "FAILED", "BLOCKED"];
    if let Some(status) = call.lookup.string("GridJobStatus") {
        return text(status);
    }
    let status = call.lookup.integer("GridJobStatus")?;
    let index = usize::try_from(status).ok().and_then(|number| number.checked_sub(1));
    text(index.and_then(|index| NAMES.get(index)).map_or_else(|| status.to_string(), |name| (*name).to_owned()))
}

/// The last word of the job's id on the grid, from its first `/` after the host on.
pub fn grid_job_id(call: &mut PrintCall) -> Option<Value> {
    let id = call.lookup.string("GridJobId")?;
    let last = id.rsplit(' ').next().unwrap_or(&id);
    let host = last.find("://").map_or(0, |at| at + 3);
    let path = last[host..].find('/').map_or(host, |at| host + at);
    text(&last[path..])
}

/// Type, manager and host of a grid resource: `type host manager`, or `type host/jobmanager-manager`.
pub fn grid_resource(call: &mut PrintCall) -> Option<Value> {
    let resource = call.lookup.string("GridResource")?;
    let (grid_type, rest) = resource.split_once(' ').unwrap_or(("globus", &resource));
    let (host, manager) = match rest.split_once(' ') {
        Some((host, manager)) => (host, manager.to_owned()),
        None => match rest.find("jobmanager-") {
            Some(at) => (&rest[..at], rest[at + "jobmanager-".len()..].to_owned()),
            None => (rest, "[?]".to_owned()),
        },
    };
    let host = host.find("://").map_or(host, |at| &host[at + 3..]);
    let host = host.split([':', '/']).next().unwrap_or(host);
    if grid_type == "ec2" {
        let machine = call.lookup.string("EC2RemoteVirtualMachineName");
        return text(format!("ec2 {}", machine.as_deref().unwrap_or(host)));
    }
    text(format!("{grid_type}->{} {host}", manager.replace(' ', "/")))
}
