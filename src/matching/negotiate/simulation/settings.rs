//! What is simulated, and how.

use crate::configuration::JobPolicies;
use crate::protocol::COOL_DOWN;

use super::RunTime;

/// The attributes that a simulation reads besides those of a cycle and of the run time.
pub const SIMULATION_ATTRIBUTES: [&str; 38] = [
    "AccountingGroup",
    "Activity",
    "AssignedGPUs",
    "ClusterId",
    "ConcurrencyLimits",
    "Cpus",
    "Disk",
    "DynamicSlot",
    "EnteredCurrentActivity",
    "EnteredCurrentState",
    "EnteredCurrentStatus",
    "GPUs",
    "GlobalJobId",
    COOL_DOWN,
    "JobCurrentStartDate",
    "JobId",
    "JobStart",
    "JobStartDate",
    "JobStatus",
    "KeepClaimIdle",
    "LastHeardFrom",
    "MachineResources",
    "MaxJobRetirementTime",
    "Memory",
    "MyCurrentTime",
    "MyType",
    "Name",
    "Owner",
    "PartitionableSlot",
    "ProcId",
    "QDate",
    "RemoteHost",
    "ShadowBday",
    "SlotID",
    "SlotType",
    "State",
    "Type",
    "User",
];

/// The part of the time since the beginning by which two cycles may lie apart, as a divisor: a start in a week is known to an hour
/// at best, and a simulation of 10,080 cycles has 1,200 of them.
pub const SPACING: u64 = 240;

/// What is simulated besides the cycles themselves.
#[derive(Clone, Debug)]
pub struct SimulationSettings {
    /// Number of cycles.
    pub cycles: u64,
    /// Time between two cycles in seconds, at least 1.
    pub interval: i64,
    /// Time of the first cycle in seconds since 1970.
    pub begin: i64,
    /// How long requests run. Without it, they run until the end.
    pub run_time: Option<RunTime>,
    /// Whether all offers are free and all requests wait in the beginning, whatever their ads say.
    pub begins_idle: bool,
    /// The policies that hold, release, remove and vacate requests.
    pub policies: JobPolicies,
    /// Time between two evaluations of the policies in seconds. They are never evaluated if it is not greater than 0.
    pub policy_interval: i64,
    /// Time between two looks of the access point at its claims without requests, in seconds. Otherwise it sees at once what comes.
    pub claim_interval: Option<i64>,
    /// Whether to leave out cycles before which nothing ended or arrived, after a cycle without matches, unless a match may read the
    /// clock; and cycles that are close together for how late they are (a 240th of the time since the beginning). Then what only
    /// waits for a cycle or a priority comes later.
    pub skips_quiet: bool,
}
