//! The functions of `PRINTAS`: a table of HTCondor's names and what each makes of a value and the rest of its ad.

mod jobs;
mod slots;
mod values;

use classad::ad::Value;
use classad::syntax::{Style, print_value};
use classad::text::closest_names;

use classad::query::{AdLookup, to_integer, to_real};

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
        classad::query::to_text(&self.value).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use classad::ad::{Dialect, Value};
    use classad::eval::Context;
    use classad::syntax::{ParseOptions, parse_ad};

    use super::{PRINT_FUNCTIONS, PrintCall, find_function};
    use classad::query::AdLookup;

    /// Calls a function for the attribute `V` of an ad, in a column of ten characters; `-` if it has no result.
    fn call(function: &str, ad: &str) -> String {
        let ad = parse_ad(format!("[ {ad} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        let context = Context::new(Dialect::Condor);
        let mut lookup = AdLookup::new(&ad, &context);
        let value = lookup.attribute("V");
        let function = find_function(function).unwrap();
        let result = (function.run)(&mut PrintCall { value, lookup: &mut lookup, width: 10, has_narrow_width: false });
        result.map_or_else(
            || "-".to_owned(),
            |value| match value {
                Value::String(text) => text.to_str().into_owned(),
                value => value.to_string(),
            },
        )
    }

    #[test]
    fn functions_of_jobs() {
        let running = "JobStatus = 2; ShadowBday = 100; RemoteUserCpu = 5.0";
        for (function, ad, expected) in [
            ("JOB_ID", "ClusterId = 7; ProcId = 2", "7.2"),
            ("JOB_ID", "ClusterId = 7", "7.0"),
            ("JOB_ID", "ProcId = 2", "-"),
            ("OWNER", "Owner = \"ann\"", "ann"),
            ("OWNER", "Owner = 1", "-"),
            ("DAG_OWNER", "Owner = \"ann\"; DAGNodeName = \"n\"", "ann"),
            ("DAG_OWNER", "Owner = \"ann\"; DAGNodeName = \"n\"; DAGManJobId = 1", "n"),
            ("DAG_OWNER", "Owner = \"ann\"; DAGManJobId = 1", "ann"),
            ("BATCH_NAME", "JobBatchName = \"b\"; JobUniverse = 7", "b"),
            ("BATCH_NAME", "JobUniverse = 7; ClusterId = 3", "DAG: 3"),
            ("BATCH_NAME", "DAGManJobId = 1; DAGNodeName = \"n\"", "NODE: n"),
            ("BATCH_NAME", "DAGNodeName = \"n\"; JobUniverse = 5", "-"),
            (
                "BUFFER_IO_MISC",
                "TransferringInput = true; TransferringOutput = 0; TransferQueued = 1",
                " transfer=in,queued",
            ),
            ("BUFFER_IO_MISC", "TransferringOutput = true", " transfer=out"),
            ("BUFFER_IO_MISC", "x = 1", ""),
            ("CPU_TIME", "ServerTime = 160", "-"),
            ("CPU_TIME", &format!("{running}; ServerTime = 160"), "60"),
            ("CPU_TIME", running, "-1"),
            ("CPU_TIME", &format!("{running}; ServerTime = 0"), "-1"),
            ("CPU_TIME", "JobStatus = 1; RemoteUserCpu = 0; ServerTime = 160; LastRemoteWallClockTime = 9", "9"),
            ("CPU_TIME", "JobStatus = 5; RemoteUserCpu = 0; ServerTime = 160", "0"),
            ("CPU_TIME", "JobStatus = 2; RemoteUserCpu = 0; ServerTime = 160; ShadowBday = 0", "0"),
            ("CPU_TIME", "JobStatus = 6; RemoteUserCpu = 0; ServerTime = 160; ShadowBday = 100", "60"),
            ("CPU_TIME", "JobStatus = 7; RemoteUserCpu = 0; ServerTime = 160; ShadowBday = 100", "60"),
            ("CPU_TIME", "JobStatus = 3; RemoteUserCpu = 0; ServerTime = 160; ShadowBday = 100", "0"),
            ("CPU_TIME", "RemoteUserCpu = 0; ServerTime = 160; ShadowBday = 100; LastRemoteWallClockTime = 9", "0"),
            (
                "CPU_TIME",
                "JobStatus = 9; RemoteUserCpu = 0; ServerTime = 160; ShadowBday = 100; LastRemoteWallClockTime = 9",
                "9",
            ),
            ("CPU_TIME", "JobStatus = 5; RemoteUserCpu = 0; ServerTime = 160; LastRemoteWallClockTime = 8", "8"),
            ("CPU_UTIL", "RemoteUserCpu = 5; CommittedTime = 1.9", "100.0"),
            ("CPU_UTIL", "RemoteUserCpu = 0.5; CommittedTime = 1.9", "50.0"),
            ("CPU_UTIL", "CommittedTime = 10", "-"),
            ("CPU_UTIL", "RemoteUserCpu = 5", "-"),
            ("CPU_UTIL", "RemoteUserCpu = 5; CommittedTime = 10", "50.0"),
            ("CPU_UTIL", "RemoteUserCpu = 50; CommittedTime = 10", "100.0"),
            ("CPU_UTIL", "RemoteUserCpu = 0; CommittedTime = 10", "0.0"),
            ("CPU_UTIL", "RemoteUserCpu = -1; CommittedTime = 10", "-"),
            ("CPU_UTIL", "RemoteUserCpu = 5; CommittedTime = 0.5", "-"),
        ] {
            assert_eq!(call(function, ad), expected, "{function} {ad}");
        }
    }

    #[test]
    fn functions_of_goodput_and_commands() {
        for (function, ad, expected) in [
            ("STDU_GOODPUT", "JobStatus = 1; RemoteWallClockTime = 100; CommittedTime = 25", "25.0"),
            (
                "STDU_GOODPUT",
                "JobStatus = 2; RemoteWallClockTime = 50; CommittedTime = 25; ShadowBday = 10; LastCkptTime = 60",
                "25.0",
            ),
            (
                "STDU_GOODPUT",
                "JobStatus = 2; RemoteWallClockTime = 50; CommittedTime = 25; ShadowBday = 10; LastCkptTime = 10",
                "50.0",
            ),
            (
                "STDU_GOODPUT",
                "JobStatus = 1; RemoteWallClockTime = 50; CommittedTime = 25; ShadowBday = 10; LastCkptTime = 60",
                "50.0",
            ),
            ("STDU_GOODPUT", "JobStatus = 2; RemoteWallClockTime = 50; CommittedTime = 25; LastCkptTime = 60", "50.0"),
            (
                "STDU_GOODPUT",
                "JobStatus = 6; RemoteWallClockTime = 40; CommittedTime = 25; ShadowBday = 10; LastCkptTime = 20",
                "50.0",
            ),
            (
                "STDU_GOODPUT",
                "JobStatus = 7; RemoteWallClockTime = 50; CommittedTime = 25; ShadowBday = 20; LastCkptTime = 10",
                "50.0",
            ),
            ("STDU_GOODPUT", "JobStatus = 1; RemoteWallClockTime = 9; CommittedTime = 99", "100.0"),
            ("STDU_GOODPUT", "JobStatus = 1; RemoteWallClockTime = 9", "0.0"),
            ("STDU_GOODPUT", "JobStatus = 1; RemoteWallClockTime = 9; CommittedTime = -1", "-"),
            ("STDU_GOODPUT", "JobStatus = 1; CommittedTime = 9", "-"),
            ("STDU_GOODPUT", "JobStatus = 1; RemoteWallClockTime = 0", "-"),
            ("STDU_GOODPUT", "RemoteWallClockTime = 9", "-"),
            ("STDU_MPBS", "JobStatus = 1; RemoteWallClockTime = 4; BytesSent = 1048576; BytesRecvd = 1048576", "4.0"),
            ("STDU_MPBS", "JobStatus = 1; RemoteWallClockTime = 4; BytesSent = 0", "-"),
            ("STDU_MPBS", "JobStatus = 1; RemoteWallClockTime = 4; BytesSent = 1048576", "2.0"),
            ("STDU_MPBS", "JobStatus = 1; RemoteWallClockTime = 4; BytesRecvd = 1048576", "-"),
            ("MEMORY_USAGE", "MemoryUsage = 0; ImageSize = 1024", "0.0"),
            ("REMOTE_HOST", "JobUniverse = 9; RemoteHost = \"h\"", "-"),
            ("REMOTE_HOST", "JobUniverse = 5; GridResource = \"g\"", "-"),
            ("MEMORY_USAGE", "MemoryUsage = 5; ImageSize = 1024", "5.0"),
            ("MEMORY_USAGE", "ImageSize = 1536", "1.5"),
            ("MEMORY_USAGE", "x = 1", "-"),
            ("REMOTE_HOST", "RemoteHost = \"h\"; GridResource = \"g\"", "h"),
            ("REMOTE_HOST", "JobUniverse = 9; RemoteHost = \"h\"; GridResource = \"g\"", "g"),
            ("REMOTE_HOST", "JobUniverse = 9; EC2RemoteVirtualMachineName = \"e\"; GridResource = \"g\"", "e"),
            ("JOB_COMMAND", "Cmd = \"/bin/x\"; Args = \"1 2\"; Arguments = \"3\"", "/bin/x 1 2"),
            ("JOB_COMMAND", "Cmd = \"/bin/x\"; Arguments = \"3\"", "/bin/x 3"),
            ("JOB_COMMAND", "Cmd = \"/bin/x\"", "/bin/x"),
            ("JOB_COMMAND", "Args = \"3\"", "-"),
            ("JOB_DESCRIPTION", "Cmd = \"/bin/x\"; Args = \"1\"; Arguments = \"3\"", "x 3"),
            ("JOB_DESCRIPTION", "Cmd = \"x\"; Args = \"1\"; JobDescription = \"\"", "x 1"),
            ("JOB_DESCRIPTION", "Cmd = \"x\"", "x"),
            ("JOB_DESCRIPTION", "Cmd = \"x\"; JobDescription = \"d\"", "(d)"),
            ("JOB_DESCRIPTION", "Cmd = \"x\"; JobDescription = \"d\"; MATCH_EXP_JobDescription = \"e\"", "(e)"),
        ] {
            assert_eq!(call(function, ad), expected, "{function} {ad}");
        }
    }

    #[test]
    fn functions_of_states_and_grids() {
        for (function, ad, expected) in [
            ("JOB_STATUS", "JobStatus = 1", "I "),
            ("JOB_STATUS", "JobStatus = 9", "B "),
            ("JOB_STATUS", "JobStatus = 10", "  "),
            ("JOB_STATUS", "JobStatus = 0", "  "),
            ("JOB_STATUS", "JobStatus = 2; TransferringInput = true", "< "),
            ("JOB_STATUS", "JobStatus = 2; TransferringInput = true; TransferQueued = true", "<q"),
            ("JOB_STATUS", "JobStatus = 2; TransferringOutput = true; TransferQueued = true", "q>"),
            ("JOB_STATUS", "JobStatus = 6", " >"),
            ("JOB_STATUS", "JobStatus = 6; TransferQueued = true", "q>"),
            ("JOB_STATUS", "JobStatus = 2; TransferQueued = true", "R "),
            ("JOB_STATUS", "JobStatus = 2; TransferringInput = true; TransferringOutput = true", " >"),
            ("JOB_STATUS", "JobStatus = -1", "  "),
            ("JOB_STATUS", "x = 1", "-"),
            ("JOB_STATUS_RAW", "V = 1", "Idle   "),
            ("JOB_STATUS_RAW", "V = 9", "Blocked"),
            ("JOB_STATUS_RAW", "V = 0", "Unk    "),
            ("JOB_STATUS_RAW", "V = 10", "Unk    "),
            ("JOB_STATUS_RAW", "V = \"a\"", "-"),
            ("JOB_UNIVERSE", "V = 5", "Vanilla"),
            ("JOB_UNIVERSE", "V = 13", "VM"),
            ("JOB_UNIVERSE", "V = 14", "Unknown"),
            ("JOB_UNIVERSE", "V = -1", "Unknown"),
            ("JOB_FACTORY_MODE", "x = 1", ""),
            ("JOB_FACTORY_MODE", "V = -1", "Errs"),
            ("JOB_FACTORY_MODE", "V = 0", "Norm"),
            ("JOB_FACTORY_MODE", "V = 1", "Held"),
            ("JOB_FACTORY_MODE", "V = 2", "Done"),
            ("JOB_FACTORY_MODE", "V = 3", "Gone"),
            ("JOB_FACTORY_MODE", "V = 4", "Unk"),
            ("JOB_FACTORY_MODE", "V = \"a\"", "????"),
            ("GRID_STATUS", "GridJobStatus = \"ACTIVE\"", "ACTIVE"),
            ("GRID_STATUS", "GridJobStatus = 1", "IDLE"),
            ("GRID_STATUS", "GridJobStatus = 9", "BLOCKED"),
            ("GRID_STATUS", "GridJobStatus = -1", "-1"),
            ("GRID_STATUS", "x = 1", "-"),
            ("GRID_STATUS", "GridJobStatus = 10", "10"),
            ("GRID_STATUS", "GridJobStatus = 0", "0"),
            ("GRID_JOB_ID", "GridJobId = \"batch slurm host/12/3\"", "/12/3"),
            ("GRID_JOB_ID", "GridJobId = \"arc https://h:443/rest/12\"", "/rest/12"),
            ("GRID_JOB_ID", "GridJobId = \"arc https://h\"", "h"),
            ("GRID_JOB_ID", "GridJobId = \"12\"", "12"),
            ("GRID_RESOURCE", "GridResource = \"condor schedd pool\"", "condor->pool schedd"),
            ("GRID_RESOURCE", "GridResource = \"batch slurm a b\"", "batch->a/b slurm"),
            ("GRID_RESOURCE", "GridResource = \"gt2 https://h:1/jobmanager-pbs\"", "gt2->pbs h"),
            ("GRID_RESOURCE", "GridResource = \"arc host\"", "arc->[?] host"),
            ("GRID_RESOURCE", "GridResource = \"host\"", "globus->[?] host"),
            ("GRID_RESOURCE", "GridResource = \"gt2 host/jobmanager-pbs\"", "gt2->pbs host"),
            ("GRID_RESOURCE", "GridResource = \"nordugrid http://h:8000\"", "nordugrid->[?] h"),
            ("GRID_RESOURCE", "x = 1", "-"),
            ("GRID_RESOURCE", "GridResource = \"ec2 https://e/\"", "ec2 e"),
            ("GRID_RESOURCE", "GridResource = \"ec2 https://e/\"; EC2RemoteVirtualMachineName = \"m\"", "ec2 m"),
        ] {
            assert_eq!(call(function, ad), expected, "{function} {ad}");
        }
    }

    #[test]
    fn functions_of_slots_and_values() {
        for (function, ad, expected) in [
            ("ACTIVITY_CODE", "V = \"Busy\"; State = \"Claimed\"", "Cb"),
            ("ACTIVITY_CODE", "V = \"Unclaimed\"; Activity = \"Idle\"", "Ui"),
            ("ACTIVITY_CODE", "V = \"Busy\"", " b"),
            ("ACTIVITY_CODE", "V = \"Owner\"; Activity = \"Nothing\"", "O "),
            ("ACTIVITY_CODE", "V = \"None\"", "-"),
            ("ACTIVITY_TIME", "V = 10; MyCurrentTime = 30; LastHeardFrom = 50", "20"),
            ("ACTIVITY_TIME", "V = 10; LastHeardFrom = 50", "40"),
            ("ACTIVITY_TIME", "V = 60; LastHeardFrom = 50", "0"),
            ("ACTIVITY_TIME", "V = 49; LastHeardFrom = 50", "1"),
            ("ACTIVITY_TIME", "LastHeardFrom = 50", "50"),
            ("ELAPSED_TIME", "V = 60", "-"),
            ("ELAPSED_TIME", "LastHeardFrom = 50", "50"),
            ("DUE_DATE", "V = 60", "-"),
            ("DUE_DATE", "LastHeardFrom = 50", "50"),
            ("ACTIVITY_CODE", "V = \"Busy\"; State = \"None\"", " b"),
            ("ACTIVITY_CODE", "V = \"Odd\"", "-"),
            ("ACTIVITY_CODE", "V = \"Drained\"", "D "),
            ("ACTIVITY_TIME", "V = 60", "-"),
            ("ELAPSED_TIME", "V = 60; LastHeardFrom = 50", "-10"),
            ("DUE_DATE", "V = 60; LastHeardFrom = 50", "110"),
            (
                "PLATFORM",
                "Arch = \"X86_64\"; OpSys = \"LINUX\"; OpSysAndVer = \"Debian13\"; OpSysShortName = \"Debian\"",
                "x64/Debian13",
            ),
            (
                "PLATFORM",
                "Arch = \"X86\"; OpSys = \"WINDOWS\"; OpSysAndVer = \"W10\"; OpSysShortName = \"Win\"",
                "x86/Win",
            ),
            ("PLATFORM", "Arch = \"ppc\"; OpSysAndVer = \"A\"", "ppc/A"),
            ("PLATFORM", "Arch = \"ppc\"; OpSys = \"WINDOWS\"; OpSysAndVer = \"A\"", "-"),
            ("CONDOR_PLATFORM", "V = \"$CondorPlatform: X86_64-Debian_13.1 $\"", "x86_64_Debian_13"),
            ("CONDOR_PLATFORM", "V = \"$CondorPlatform: x86_64_Windows10$\"", "x86_64_Windows10"),
            ("CONDOR_PLATFORM", "V = \"$CondorPlatform: X86_64-WINDOWS_10 $\"", "x86_64_WINDOWS"),
            ("CONDOR_PLATFORM", "V = \"\"", "-"),
            ("CONDOR_VERSION", "V = \"$CondorVersion: 23.9.6 2024-08-08 BuildID: 746105 $\"", "23.9.6.746105"),
            ("CONDOR_VERSION", "V = \"$CondorVersion: 8.5.2 Feb 12 2016 BuildID: 357-1 $\"", "8.5.2.357"),
            ("CONDOR_VERSION", "V = \"$CondorVersion: 8.5.2 Feb 12 2016 $\"", "8.5.2"),
            ("CONDOR_VERSION", "V = \"\"", "-"),
            ("SLOT_COUNT_TAG", "V = \"Static\"", "S"),
            ("SLOT_COUNT_TAG", "V = \"Partitionable\"", " "),
            ("SLOT_COUNT_TAG", "V = \"Dynamic\"", "D"),
            ("SLOT_TYPE_LETTER", "V = \"Static\"", "s"),
            ("SLOT_TYPE_LETTER", "V = \"Dynamic\"", "d"),
            ("SLOT_TYPE_LETTER", "V = \"Partitionable\"", " "),
            ("SLOT_TYPE_LETTER", "V = \"Other\"", "O"),
            ("NUM_DSLOTS", "x = 1", "1"),
            ("NUM_DSLOTS", "DynamicSlot = true", "undefined"),
            ("NUM_DSLOTS", "V = 3", "3"),
            ("TOTAL_GPUS", "AssignedGPUs = \"G1, G2 G3\"", "   3      "),
            ("TOTAL_GPUS", "AssignedGPUs = \"G1,G2\"; OfflineGPUs = \"g2,G9\"", "   2-1    "),
            ("TOTAL_GPUS", "OfflineGPUs = \"g2\"", "-"),
            ("DATE", "V = -1", "    ???    "),
            ("QDATE", "V = \"a\"", "-"),
            ("TIME", "V = 61", "  0+00:01:01"),
            ("RUNTIME", "V = -1", "[?????]"),
            ("LOAD_AVG", "V = 0.12345", "0.123"),
            ("LOAD_AVG", "V = \"a\"", "-"),
            ("READABLE_BYTES", "V = 1536", "1.5 KB"),
            ("READABLE_KB", "V = 1536", "1.5 MB"),
            ("READABLE_MB", "V = 1536.0", "1.5 GB"),
            ("READABLE_MB", "V = true", "        "),
            ("MEMBER_COUNT", "V = { 1, 2 }", "2"),
            ("MEMBER_COUNT", "V = \"a, b c\"", "3"),
            ("MEMBER_COUNT", "V = 1", "-"),
            ("STRINGS_FROM_LIST", "V = { \"b\", 1, \"a\" }", "b, a"),
            ("STRINGS_FROM_LIST", "V = \"b\"", "-"),
            ("UNIQUE", "V = { \"b\", 1, \"a\", \"b\" }", "1, a, b"),
            ("UNIQUE", "V = \"b, b\"", "-"),
            ("GPUS_PROPERTIES", "V = { \"b\", \"a\", \"b\" }", "a, b"),
            ("GPUS_PROPERTIES", "V = \"b, a, b\"", "a, b"),
            ("GPUS_PROPERTIES", "V = 7", "7"),
        ] {
            assert_eq!(call(function, ad), expected, "{function} {ad}");
        }
    }

    #[test]
    fn names_are_sorted_and_unique() {
        let names: Vec<&str> = PRINT_FUNCTIONS.iter().map(|function| function.name).collect();
        let sorted: Vec<&str> = names.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        assert_eq!(names, sorted);
    }
}
