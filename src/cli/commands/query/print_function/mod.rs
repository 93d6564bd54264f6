//! The functions of `PRINTAS`: a table of HTCondor's names and what each makes of a value and the rest of its ad.

mod jobs;
mod slots;
mod values;

use classad::ad::Value;
use classad::syntax::{Style, print_value};
use classad::text::closest_names;

use super::ad_lookup::{AdLookup, to_integer, to_real};

pub use slots::{ACTIVITIES, STATES, letter_of};

/// The call of a function for an ad.
pub struct PrintCall<'c, 'a> {
    /// The value of the column's expression.
    pub value: Value,
    /// The ad.
    pub lookup: &'c mut AdLookup<'a>,
    /// Width of the column, in characters.
    pub width: usize,
    /// Whether the column has a fixed width of less than ten characters.
    pub has_narrow_width: bool,
}

/// A function of `PRINTAS`.
pub struct PrintFunction {
    pub name: &'static str,
    /// The format of the result, unless `RENDERAS` and `PRINTF` give one; empty for a result that is text.
    pub format: &'static str,
    /// Attributes that the function reads beside the column's expression.
    pub attributes: &'static [&'static str],
    /// Whether the result is the cell's text whatever the format.
    pub is_formatter: bool,
    pub run: fn(&mut PrintCall<'_, '_>) -> Option<Value>,
}

impl PrintCall<'_, '_> {
    /// Returns the value as text; empty if it is not a string.
    fn text(&self) -> String {
        super::ad_lookup::to_text(&self.value).unwrap_or_default()
    }

    fn integer(&self) -> Option<i64> {
        to_integer(&self.value)
    }

    fn real(&self) -> Option<f64> {
        to_real(&self.value)
    }

    /// Returns the value as HTCondor prints it.
    fn printed(&self) -> String {
        match &self.value {
            Value::String(text) => text.to_str().into_owned(),
            value => String::from_utf8_lossy(&print_value(value, Style::Long)).into_owned(),
        }
    }
}

/// Makes a row of the table: a function whose result is printed by a format, or is text.
const fn renders(
    name: &'static str,
    format: &'static str,
    attributes: &'static [&'static str],
    run: fn(&mut PrintCall<'_, '_>) -> Option<Value>,
) -> PrintFunction {
    PrintFunction { name, format, attributes, is_formatter: false, run }
}

/// Makes a row of the table: a function whose result is text whatever the format.
const fn formats(name: &'static str, run: fn(&mut PrintCall<'_, '_>) -> Option<Value>) -> PrintFunction {
    PrintFunction { name, format: "", attributes: &[], is_formatter: true, run }
}

const TRANSFERS: &[&str] = &["TransferringInput", "TransferringOutput", "TransferQueued"];
const RUN_TIMES: &[&str] = &["RemoteUserCpu", "JobStatus", "ServerTime", "ShadowBday", "LastRemoteWallClockTime"];
const CURRENT_RUN: &[&str] =
    &["JobStatus", "CommittedTime", "ShadowBday", "LastCkptTime", "RemoteWallClockTime", "BytesSent", "BytesRecvd"];

/// The table of functions, by name.
static PRINT_FUNCTIONS: [PrintFunction; 43] = [
    renders("ACTIVITY_CODE", "", &["State", "Activity"], slots::activity_code),
    renders("ACTIVITY_TIME", "%T", &["MyCurrentTime", "LastHeardFrom"], slots::activity_time),
    renders(
        "BATCH_NAME",
        "",
        &["JobBatchName", "JobUniverse", "ClusterId", "DAGManJobId", "DAGNodeName"],
        jobs::batch_name,
    ),
    renders("BUFFER_IO_MISC", "", TRANSFERS, jobs::transfers),
    renders("CONDOR_PLATFORM", "", &[], slots::condor_platform),
    renders("CONDOR_VERSION", "", &[], slots::condor_version),
    renders("CPU_TIME", "%T", RUN_TIMES, jobs::run_time),
    renders("CPU_UTIL", "%.1f", &["RemoteUserCpu", "CommittedTime"], jobs::cpu_utilisation),
    renders("DAG_OWNER", "", &["Owner", "DAGManJobId", "DAGNodeName"], jobs::dag_owner),
    formats("DATE", values::date),
    renders("DUE_DATE", "%Y", &["LastHeardFrom"], slots::due_date),
    renders("ELAPSED_TIME", "%T", &["LastHeardFrom"], slots::elapsed_time),
    renders("GPUS_PROPERTIES", "", &[], values::unique_or_all),
    renders("GRID_JOB_ID", "", &["GridJobId", "GridResource"], jobs::grid_job_id),
    renders("GRID_RESOURCE", "", &["GridResource", "EC2RemoteVirtualMachineName"], jobs::grid_resource),
    renders("GRID_STATUS", "", &["GridJobStatus"], jobs::grid_status),
    renders("JOB_COMMAND", "", &["Cmd", "Args", "Arguments"], jobs::command),
    renders(
        "JOB_DESCRIPTION",
        "",
        &["Cmd", "Args", "Arguments", "JobDescription", "MATCH_EXP_JobDescription"],
        jobs::description,
    ),
    formats("JOB_FACTORY_MODE", jobs::factory_mode),
    renders("JOB_ID", "", &["ClusterId", "ProcId"], jobs::id),
    renders(
        "JOB_STATUS",
        "",
        &["JobStatus", "TransferringInput", "TransferringOutput", "TransferQueued"],
        jobs::status,
    ),
    formats("JOB_STATUS_RAW", jobs::raw_status),
    formats("JOB_UNIVERSE", jobs::universe),
    formats("LOAD_AVG", values::load_average),
    renders("MEMBER_COUNT", "%d", &[], values::member_count),
    renders("MEMORY_USAGE", "%.1f", &["MemoryUsage", "ImageSize"], jobs::memory_usage),
    renders("NUM_DSLOTS", "%4d", &["DynamicSlot"], slots::dynamic_slot_count),
    renders("OWNER", "", &["Owner"], jobs::owner),
    renders("PLATFORM", "", &["Arch", "OpSys", "OpSysAndVer", "OpSysShortName"], slots::platform),
    formats("QDATE", values::date),
    formats("READABLE_BYTES", values::readable::<0>),
    formats("READABLE_KB", values::readable::<1>),
    formats("READABLE_MB", values::readable::<2>),
    renders(
        "REMOTE_HOST",
        "",
        &["JobUniverse", "RemoteHost", "EC2RemoteVirtualMachineName", "GridResource"],
        jobs::remote_host,
    ),
    formats("RUNTIME", values::time),
    renders("SLOT_COUNT_TAG", "", &[], slots::count_tag),
    renders("SLOT_TYPE_LETTER", "", &[], slots::type_letter),
    renders("STDU_GOODPUT", "%.1f", CURRENT_RUN, jobs::goodput),
    renders("STDU_MPBS", "%.2f", CURRENT_RUN, jobs::megabits_per_second),
    renders("STRINGS_FROM_LIST", "", &[], values::strings_of_list),
    formats("TIME", values::time),
    renders("TOTAL_GPUS", "", &["AssignedGPUs", "OfflineGPUs"], slots::total_gpus),
    renders("UNIQUE", "", &[], values::unique),
];

/// Finds a function by its name.
pub fn find_function(name: &str) -> Option<&'static PrintFunction> {
    PRINT_FUNCTIONS.iter().find(|function| function.name == name)
}

/// Returns the names that are similar to one that no function has.
pub fn similar_names(name: &str) -> Vec<&'static str> {
    closest_names(name, PRINT_FUNCTIONS.iter().map(|function| function.name))
}
