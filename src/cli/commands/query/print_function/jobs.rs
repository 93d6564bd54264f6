//! Functions of the tables of `condor_q`.

use classad::ad::Value;

use super::PrintCall;
use crate::cli::commands::query::ad_lookup::AdLookup;

const RUNNING: i64 = 2;
const TRANSFERRING_OUTPUT: i64 = 6;
const SUSPENDED: i64 = 7;

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

pub fn transfers(call: &mut PrintCall) -> Option<Value> {
    let parts = [("TransferringInput", "in"), ("TransferringOutput", "out"), ("TransferQueued", "queued")];
    let under_way = parts.into_iter().filter(|(name, _)| call.lookup.is_true(name)).map(|(_, word)| word);
    let under_way: Vec<&str> = under_way.collect();
    text(if under_way.is_empty() { String::new() } else { format!(" transfer={}", under_way.join(",")) })
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
