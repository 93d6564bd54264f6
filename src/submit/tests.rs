//! Tests of whole submit files.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value as Json;

use super::{SubmitSettings, describe_jobs};
use crate::ad::{Ad, Dialect};
use crate::configuration::Configuration;
use crate::eval::Context;
use crate::format::{Position, Severity};
use crate::syntax::{ParseOptions, Style, expression_text, parse_expression};

/// The folder of the recorded cases, in which `condor_submit` ran as `/t`.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/submit");

/// Attributes of clocks, versions, owners and sizes of files.
const IGNORED: [&str; 11] = [
    "QDate",
    "EnteredCurrentStatus",
    "CondorVersion",
    "SubmitVersion",
    "CondorPlatform",
    "Owner",
    "DiskUsage",
    "ImageSize",
    "ExecutableSize",
    "TransferInputSizeMB",
    "JobSubmitFile",
];

fn settings(configuration: &str) -> SubmitSettings {
    let configuration = format!("FILESYSTEM_DOMAIN = live.test\n{configuration}");
    SubmitSettings {
        configuration: Configuration::read(configuration.as_bytes()).0,
        context: Context { now: Some(1_795_817_032), ..Context::new(Dialect::Condor) },
        working_directory: format!("{FOLDER}/files"),
        file_name: "x.sub".to_owned(),
        user: "root".to_owned(),
        ..SubmitSettings::default()
    }
}

/// Returns the attributes of an ad in one spelling.
fn attributes(ad: &Ad) -> BTreeMap<String, String> {
    let shown = |text: String| text.replace(&format!("{FOLDER}/files"), "/t").replace("x.sub", "SUBMIT");
    ad.iter()
        .filter(|attribute| !IGNORED.iter().any(|name| attribute.name.as_str() == *name))
        .map(|attribute| {
            (attribute.name.as_str().to_ascii_lowercase(), shown(expression_text(attribute.expression, Style::Long)))
        })
        .collect()
}

/// Returns recorded attributes in the same spelling.
fn recorded(attributes: &BTreeMap<String, Json>, name: &str) -> BTreeMap<String, String> {
    let text = |value: &Json| {
        let text = value.as_str().unwrap_or_default();
        let parsed = parse_expression(text.as_bytes(), ParseOptions::long(Dialect::Condor));
        let shown = parsed.map_or_else(|_| text.to_owned(), |expression| expression_text(&expression, Style::Long));
        shown.replace(&format!("{name}.sub"), "SUBMIT")
    };
    attributes.iter().map(|(name, value)| (name.to_ascii_lowercase(), text(value))).collect()
}

fn object(value: &Json) -> BTreeMap<String, Json> {
    value.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The jobs of each recorded submit file are those that `condor_submit` 25.14.1 made of it. It refuses those without jobs.
#[test]
fn jobs_are_those_of_condor_submit() {
    let cases = std::fs::read_to_string(format!("{FOLDER}/cases.jsonl")).unwrap();
    let mut lines = cases.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let common = object(&lines.next().unwrap()["common"]);
    let (mut differences, mut count) = (String::new(), 0);
    for case in lines {
        count += 1;
        let name = case["name"].as_str().unwrap();
        let described = describe_jobs(
            case["submit"].as_str().unwrap().as_bytes(),
            &settings(case["config"].as_str().unwrap_or("")),
        );
        let ours: Vec<_> = described.items.iter().flatten().map(|entry| attributes(&entry.ad)).collect();
        let Some(jobs) = case["jobs"].as_array() else {
            // A second queue statement is refused by default only; the jobs are made.
            let is_second_queue = case["message"].as_str().unwrap().contains("Extra data found");
            if ours.is_empty() == is_second_queue {
                writeln!(differences, "{name}: {} jobs, but {}", ours.len(), case["message"]).unwrap();
            }
            continue;
        };
        let mut first = common.clone();
        first.extend(object(&jobs[0]));
        let theirs: Vec<_> = jobs
            .iter()
            .map(|job| {
                let mut all = first.clone();
                all.extend(object(job));
                recorded(&all, name)
            })
            .collect();
        if theirs.len() != ours.len() {
            writeln!(differences, "{name}: {} jobs instead of {}", ours.len(), theirs.len()).unwrap();
        }
        for (theirs, ours) in theirs.iter().zip(&ours) {
            for attribute in theirs.keys().chain(ours.keys().filter(|attribute| !theirs.contains_key(*attribute))) {
                if theirs.get(attribute) != ours.get(attribute) {
                    let (theirs, ours) = (theirs.get(attribute), ours.get(attribute));
                    writeln!(differences, "{name}: {attribute}\n  theirs {theirs:?}\n  ours   {ours:?}").unwrap();
                }
            }
        }
    }
    assert!(count > 200, "{count}");
    assert!(differences.is_empty(), "{differences}");
}

/// Returns the problems with their lines, columns and marked texts.
fn problems(text: &str) -> Vec<String> {
    problems_under("", text)
}

/// The same under a configuration.
fn problems_under(configuration: &str, text: &str) -> Vec<String> {
    let described = describe_jobs(text.as_bytes(), &settings(configuration));
    let problems = described.items.iter().filter_map(|item| item.as_ref().err());
    problems
        .map(|problem| {
            let Position { line, column } = Position::of_offset(text.as_bytes(), problem.range.start);
            assert_eq!(problem.ad_number, 0, "it is of no ad: {}", problem.message);
            let kind = if problem.severity == Severity::Error { "" } else { "warning: " };
            let help = problem.help.as_deref().unwrap_or("-");
            format!("{line}:{column} `{}` {kind}{} ({help})", &text[problem.range.clone()], problem.message)
        })
        .collect()
}

#[test]
fn problems_have_their_places() {
    let mut others = String::new();
    for (text, expected) in [
        (
            "executable = a\nrequest_memory = 2 bananas\nqueue\n",
            "2:20 `bananas` expected the end, found a name `bananas` (write a number with K, M, G or T, such as 2GB, or an \
             expression)",
        ),
        (
            "executable = a\nrequirements = Memory >\nqueue\n",
            "2:24 `` expected an expression, found the end (`>` needs something after it)",
        ),
        (
            "universe = vanila\nexecutable = a\nqueue\n",
            "1:12 `vanila` there is no universe `vanila` (did you mean vanilla?)",
        ),
        (
            "a = $(b)\nb = $(a)\nexecutable = $(a)\nqueue\n",
            "3:14 `$(a)` the macros form a circle, are nested too deeply, or give too long a text (-)",
        ),
        (
            "executable = a\nqueue 1000000000\n",
            "2:1 `queue 1000000000` this makes more than 1000000 jobs (queue fewer jobs: all have the same attributes but for their numbers)",
        ),
        (
            "executable = a\ninclude command : ls\nqueue\n",
            "2:1 `include command : ls` no program is run to include what it prints (run it, and include a file with its output)",
        ),
        (
            "executable = a\ninclude : /dev/zero\nqueue\n",
            "2:1 `include : /dev/zero` cannot read /dev/zero: it is not a regular file (-)",
        ),
        (
            "executable = a\nqueue x from ls |\n",
            "2:1 `queue x from ls |` no program is run for items: write them to a file (-)",
        ),
        (
            "executable = a\nqueue file matching *.none\n",
            "2:1 `queue file matching *.none` warning: no name matches `*.none` (-)",
        ),
        (
            "executable = a\nqueue file matching (a.* *.txt)\n",
            "2:1 `queue file matching (a.* *.txt)` warning: `a.txt` matches twice: it is one item (-)",
        ),
        (
            "executable = a\nrequest_memry = 2\nqueue\n",
            "2:1 `request_memry` warning: this requests a resource `memry`, which a pool must offer (did you mean request_memory?)",
        ),
        (
            "executable = a\narguments = $(nmae)\nname = 1\nqueue\n",
            "2:13 `$(nmae)` warning: the variable nmae has no value: nothing takes its place (did you mean $(name)?)",
        ),
    ] {
        let found = problems(text);
        if !found.contains(&expected.to_owned()) {
            writeln!(others, "{text}{found:#?}").unwrap();
        }
    }
    assert!(others.is_empty(), "{others}");
}

/// Returns attributes of the only job that some commands make under a configuration, `-` for one that it lacks.
fn values(configuration: &str, commands: &str, names: &[&str]) -> Vec<String> {
    let described = describe_jobs(format!("executable = a\n{commands}\nqueue\n").as_bytes(), &settings(configuration));
    let [Ok(entry)] = &described.items[..] else { panic!("{commands}: {:?}", described.items) };
    let shown =
        |name: &&str| entry.ad.get_str(name).map_or("-".to_owned(), |value| expression_text(value, Style::Long));
    names.iter().map(shown).collect()
}

/// What a job of a universe needs is missing at the queue statement, or at the command that is wrong.
#[test]
fn what_universes_need() {
    let vm = "universe = vm\nvm_memory = 512\n";
    let xen = "universe = vm\nvm_type = xen\nvm_memory = 512\nvm_disk = d:vda:w\n";
    let service = "universe = docker\ndocker_image = i\ncontainer_service_names = web\n";
    let no_port = "the service web has no port (write web_container_port = PORT, with a port up to 65535)";
    for (commands, expected) in [
        ("universe = vm", "a job of the vm universe needs vm_memory (-)"),
        ("universe = vm\nvm_memory = 0", "this is not a size (write vm_memory = 128 for 128 MB)"),
        ("universe = vm\nvm_memory = 1", ""),
        (&format!("{vm}vm_type = kvm"), "a virtual machine needs vm_disk (-)"),
        (&format!("{vm}vm_type = kvm\nvm_disk = d:vda:w"), ""),
        (&format!("{vm}vm_type = vmware"), ""),
        (xen, "a virtual machine of Xen needs xen_kernel (write xen_kernel = included, vmx or a file)"),
        (&format!("{xen}xen_kernel = vmx"), ""),
        (&format!("{xen}xen_kernel = Included"), ""),
        (&format!("{xen}xen_kernel = included\nxen_initrd = i"), "xen_initrd needs a file as xen_kernel (-)"),
        (&format!("{xen}xen_kernel = k"), "a virtual machine with a kernel of its own needs xen_root (-)"),
        (&format!("{xen}xen_kernel = k\nxen_root = r\nxen_initrd = i"), ""),
        ("universe = parallel", "a parallel job needs machine_count (write machine_count = N)"),
        ("universe = parallel\nmachine_count = 2", ""),
        ("universe = docker", "a job of the docker universe needs docker_image (-)"),
        ("universe = docker\ndocker_image = \"\"", "this is not an image (-)"),
        ("universe = docker\ndocker_image = \"i\"", ""),
        ("universe = container", "a job of the container universe needs container_image or docker_image (-)"),
        ("universe = container\ndocker_image = i", ""),
        ("universe = container\ncontainer_image = i", ""),
        ("universe = container\ncontainer_image = library://i", "this is not an image of a container (-)"),
        (service, no_port),
        (&format!("{service}web_container_port = 65536"), no_port),
        (&format!("{service}web_container_port = 65535"), ""),
        (&format!("{service}web_container_port = 0"), ""),
        ("container_service_names = web", ""),
        ("universe = java", "a job of the java universe needs the name of its class (write arguments = CLASS)"),
        ("universe = java\narguments = Main", ""),
        (
            "universe = grid\ngrid_resource = gce s\ngce_image = i",
            "a grid job of the type gce needs gce_machine_type (-)",
        ),
        ("universe = grid\ngrid_resource = gce s\ngce_image = i\ngce_machine_type = m", ""),
    ] {
        let found = problems(&format!("executable = a\n{commands}\nqueue\n"));
        let errors = found.iter().filter(|problem| !problem.contains("` warning: "));
        let told: Vec<&str> = errors.map(|problem| problem.split_once("` ").unwrap().1).collect();
        assert_eq!(told.join("\n"), expected, "{commands}");
    }
}

#[test]
fn attributes_of_universes() {
    let docker = "universe = docker\ndocker_image = \"alma:9\"";
    let shell = "shell = echo 'a'\narguments = b c";
    let xen = "universe = vm\nvm_type = XEN\nvm_memory = 2\nvm_disk = d:vda:w\n";
    let cloud =
        "universe = grid\ngrid_resource = ec2 s\nec2_access_key_id = a\nec2_secret_access_key = b\nec2_ami_id = c\n";
    for (commands, expected) in [
        (docker, "WantDocker = true, DockerImage = \"alma:9\", JobUniverse = 5"),
        // The shell has arguments of its own.
        (shell, r#"Cmd = "/bin/sh", Arguments = "-c echo' '''a''''", Args = -, TransferExecutable = false"#),
        ("machine_count = 3", "MinHosts = 1, MaxHosts = 1, WantIOProxy = -"),
        (
            "universe = parallel\nmachine_count = 3 or so",
            "MinHosts = 3, MaxHosts = 3, RequestCpus = 1, WantIOProxy = true",
        ),
        (
            "WantParallelScheduling = true\nmachine_count = 2",
            "MinHosts = 2, MaxHosts = 2, WantIOProxy = -, WantParallelScheduling = true",
        ),
        ("WantParallelScheduling = false", "MinHosts = 1, WantParallelScheduling = -"),
        (
            &format!("{xen}xen_kernel = vmx\nvm_vcpus = 0"),
            "JobVMType = \"xen\", JobVMMemory = 2, JobVM_VCPUS = 1, JobVMHardwareVT = true, JobVMCheckpoint = false",
        ),
        (
            &format!("{xen}xen_kernel = included\nvm_vcpus = 2\nvm_networking_type = nat\nvm_checkpoint = true"),
            "JobVM_VCPUS = 2, JobVMHardwareVT = -, JobVMNetworkingType = -, JobVMCheckpoint = true",
        ),
        (
            &format!("{xen}xen_kernel = k\nxen_root = r\nxen_kernel_params = \"p\"\nvm_no_output_vm = true"),
            r#"VMPARAM_Xen_Root = "r", VMPARAM_Xen_Kernel_Params = "p", VMPARAM_Xen_Initrd = -, VMPARAM_No_Output_VM = true"#,
        ),
        (&format!("{cloud}ec2_tag_x = 1"), r#"EC2TagNames = "x", EC2Tagx = "1", EC2TagName = "a""#),
        (&format!("{cloud}ec2_tag_name = 1"), r#"EC2TagNames = "name", EC2TagName = "1""#),
        (&format!("{cloud}ec2_tag_names = x\nec2_tag_X = 1"), r#"EC2TagNames = "x", EC2TagX = "1""#),
        (&format!("{cloud}WantNameTag = false"), "EC2TagNames = -, EC2TagName = -"),
    ] {
        assert_eq!(told("", commands, expected), expected, "{commands}");
    }
}

/// A later queue statement has the attributes of the earlier ones until its commands replace them.
#[test]
fn a_later_statement_changes_what_an_earlier_one_sets() {
    let text = "executable = a\noutput = o\ntransfer_output = false\nqueue\ntransfer_output = true\nqueue\n";
    let described = describe_jobs(text.as_bytes(), &settings(""));
    let shown = |name: &str| {
        described
            .items
            .iter()
            .flatten()
            .map(|entry| entry.ad.get_str(name).map(|value| expression_text(value, Style::Long)))
            .collect::<Vec<_>>()
    };
    assert_eq!(shown("TransferOut"), [Some("false".to_owned()), Some("true".to_owned())]);
    assert_eq!(shown("StreamOut"), [None, Some("false".to_owned())]);
}

/// Returns the attributes that `expected` names, in the form `A = 1, B = -`.
fn told(configuration: &str, commands: &str, expected: &str) -> String {
    let described = describe_jobs(format!("executable = a\n{commands}\nqueue\n").as_bytes(), &settings(configuration));
    let entry = described.items.iter().flatten().next().expect(commands);
    let value = |name: &str| entry.ad.get_str(name).map_or("-".to_owned(), |value| expression_text(value, Style::Long));
    let names = expected.split(", ").filter_map(|entry| Some(entry.split_once(" = ")?.0));
    let found: Vec<String> = names.map(|name| format!("{name} = {}", value(name))).collect();
    found.join(", ")
}

#[test]
fn what_is_requested() {
    let units = "SUBMIT_REQUEST_MISSING_UNITS = warn";
    let defaults = "JOB_DEFAULT_REQUESTCPUS = 3\nJOB_DEFAULT_REQUESTMEMORY = 2GB\nJOB_DEFAULT_REQUESTDISK = undefined";
    for (configuration, commands, expected) in [
        ("", "request_cpus = 2", "RequestCpus = 2"),
        ("", "request_cpus = undefined", "RequestCpus = -"),
        (defaults, "", "RequestCpus = 3, RequestMemory = 2048, RequestDisk = -"),
        (
            defaults,
            "request_cpus = 1\nrequest_memory = 1\nrequest_disk = 1",
            "RequestCpus = 1, RequestMemory = 1, RequestDisk = 1",
        ),
        (defaults, "request_cpus = undefined\nrequest_memory = undefined", "RequestCpus = -, RequestMemory = -"),
        (defaults, "MY.RequestMemory = 5\nMY.RequestCpus = 6", "RequestMemory = 5, RequestCpus = 6"),
        ("", "request_memory = 1024K\nrequest_disk = 1024", "RequestMemory = 1, RequestDisk = 1024"),
        (units, "request_memory = 1", "RequestMemory = 1"),
        ("", "request_memory = ifThenElse(x, 1, 2)", "RequestMemory = ifThenElse(x, 1, 2)"),
        ("", "request_fpga = 2\nrequest__x = 3\nrequest_y = 4", "Requestfpga = 2, Request_x = -, Requesty = -"),
        (
            "",
            "request_memory = 1GB, 2GB",
            "RequestMemory = 1024, TransformOnEvict = \"RequestMemory\", RetryRequestMemory = -",
        ),
        ("", "request_memory = 1GB, 2GB, 3GB", "RequestMemory = 1024, RetryRequestMemory = { 2048, 3072 }"),
        (
            "",
            "request_memory = 1GB\nretry_request_memory = 2GB",
            "RequestMemory = 1024, TransformOnEvict = \"RequestMemory\"",
        ),
        ("", "request_disk = 1MB\nretry_request_disk = 2MB", "RequestDisk = 1024, TransformOnEvict = \"RequestDisk\""),
        (
            "",
            "request_memory = 1GB\nretry_request_memory_max = 4GB\nretry_request_memory_increase = 1GB",
            "MaxRequestMemory = 4096, NextRequestMemory = RequestMemory + 1024",
        ),
        (
            "",
            "request_gpus = 1\ngpus_minimum_memory = 2GB",
            "GPUsMinMemory = 2048, RequireGPUs = GlobalMemoryMb >= GPUsMinMemory",
        ),
        ("", "gpus_minimum_memory = 2GB", "GPUsMinMemory = -, RequireGPUs = -"),
        ("", "request_gpus = 1\ngpus_minimum_runtime = 12.4", "GPUsMinRuntime = 12040"),
        ("", "request_gpus = 1\ngpus_minimum_runtime = 1000", "GPUsMinRuntime = 1000000"),
        ("", "request_gpus = 1\ngpus_minimum_runtime = 1001", "GPUsMinRuntime = 1001"),
        ("", "request_gpus = 1\ngpus_minimum_runtime = 12.100", "GPUsMinRuntime = 12.1"),
        (
            "",
            "request_gpus = 1\nrequire_gpus = a || b\ngpus_minimum_capability = 8",
            "RequireGPUs = (a || b) && Capability >= GPUsMinCapability",
        ),
        (
            "",
            "request_gpus = 1\nrequire_gpus = Capability > 7\ngpus_minimum_capability = 8",
            "RequireGPUs = Capability > 7",
        ),
        ("", "MY.GPUsMinMemory = 5", "GPUsMinMemory = 5, RequireGPUs = -"),
        ("", "cuda_version = 12.4", "CUDAVersion = 12004"),
        ("", "cuda_version = 999", "CUDAVersion = 999000"),
        ("", "cuda_version = 1000", "CUDAVersion = 1000"),
    ] {
        assert_eq!(told(configuration, commands, expected), expected, "{configuration}\n{commands}");
    }
}

#[test]
fn policies_accounts_and_files() {
    let inserts = "SUBMIT_INSERT_DEFAULT_POLICY_EXPRS = true";
    let nice = "NICE_USER_ACCOUNTING_GROUP_NAME = nice";
    for (configuration, commands, expected) in [
        ("", "initial_dir = /x", "Iwd = \"/x\""),
        ("", "initialdir = /y\ninitial_dir = /x", "Iwd = \"/y\""),
        ("", "hold = true", "JobStatus = 5, HoldReasonCode = 15"),
        ("", "hold = false", "JobStatus = 1, HoldReasonCode = -"),
        ("", "notification = Start", "JobNotification = 4"),
        ("JOB_DEFAULT_NOTIFICATION = error", "", "JobNotification = 3"),
        ("JOB_DEFAULT_NOTIFICATION = error", "notification = always", "JobNotification = 1"),
        ("", "use_oauth_services = b, A b", "OAuthServicesNeeded = \"A,b\""),
        ("", "use_oauth_services = b, A, a A", "OAuthServicesNeeded = \"A,b\""),
        ("", "use_oauth_services = b, a\nA_oauth_permissions = x", "OAuthServicesNeeded = \"A,b\""),
        (
            "",
            "use_oauth_services = b, a\na_OAuth_Permissions_x = 1\na_oauth_resource_Y = 1\nc_oauth_options_z = 1",
            "OAuthServicesNeeded = \"a*x,a*Y,b\"",
        ),
        ("", "use_oauth_services = a\na_oauth_options =\na_oauth_options_h =", "OAuthServicesNeeded = \"a,a*h\""),
        ("", "scitokens_file = /t\nuse_scitokens = true", "ScitokensFile = \"/t\""),
        ("", "", "Rank = 0.0, PeriodicHold = -, OnExitHold = -, JobPrio = 0"),
        (inserts, "periodic_hold = x", "PeriodicHold = x, PeriodicRelease = false, OnExitHold = false"),
        ("DEFAULT_RANK = a", "", "Rank = a"),
        ("DEFAULT_RANK = a\nDEFAULT_RANK_VANILLA = b", "", "Rank = b"),
        ("DEFAULT_RANK = a\nAPPEND_RANK = c", "rank = d", "Rank = (d) + (c)"),
        ("APPEND_RANK = c", "", "Rank = c"),
        ("", "kill_sig = 15\nremove_kill_sig = sigint", "KillSig = \"SIGTERM\", RemoveKillSig = \"SIGINT\""),
        ("", "", "KillSig = -"),
        ("", "universe = local", "KillSig = \"SIGTERM\", JobLeaseDuration = -"),
        ("", "concurrency_limits = B, a:2", "ConcurrencyLimits = \"a:2,b\""),
        (
            "",
            "accounting_group = g\naccounting_group_user = u",
            "AcctGroup = \"g\", AcctGroupUser = \"u\", AccountingGroup = \"g.u\"",
        ),
        ("", "accounting_group_user = u", "AcctGroup = -, AcctGroupUser = \"u\", AccountingGroup = \"u\""),
        (nice, "nice_user = true", "AccountingGroup = \"nice.root\", MaxJobRetirementTime = 0"),
        (nice, "nice_user = false", "AccountingGroup = -, MaxJobRetirementTime = -"),
        ("", "deferral_time = 5", "DeferralTime = 5, DeferralWindow = 0, DeferralPrepTime = 300, ScheddInterval = 300"),
        ("", "deferral_window = 5", "DeferralTime = -, DeferralWindow = -, DeferralPrepTime = -"),
        ("", "max_retries = 3", "JobMaxRetries = 3, OnExitHold = false, JobSuccessExitCode = -"),
        ("", "success_exit_code = 7", "JobMaxRetries = 2, JobSuccessExitCode = 7"),
        ("DEFAULT_JOB_MAX_RETRIES = 9", "success_exit_code = 7", "JobMaxRetries = 9"),
        ("", "on_exit_remove = x", "OnExitRemove = x, OnExitHold = -, JobMaxRetries = -"),
        (
            "",
            "max_retries = 1\nretry_until = 5\non_exit_remove = a ? b : c",
            "OnExitRemove = NumJobCompletions > JobMaxRetries || ExitCode =?= 0 || ExitCode =?= 5 || (a ? b : c)",
        ),
        ("JOB_DEFAULT_LEASE_DURATION = 19", "", "JobLeaseDuration = 20"),
        ("", "job_lease_duration = 20", "JobLeaseDuration = 20"),
        ("", "job_lease_duration = 1", "JobLeaseDuration = 20"),
        ("", "job_lease_duration = 0", "JobLeaseDuration = 0"),
        ("", "output = o\nstream_output = true", "Out = \"o\", StreamOut = true, TransferOut = -"),
        ("", "output = o\ntransfer_output = false", "Out = \"o\", StreamOut = -, TransferOut = false"),
        ("", "output = /dev/null\nstream_output = true", "Out = \"/dev/null\", StreamOut = -, TransferOut = false"),
        ("", "transfer_executable = false", "TransferExecutable = false, Cmd = \"a\""),
        (
            "",
            "should_transfer_files = always",
            "ShouldTransferFiles = \"YES\", WhenToTransferOutput = \"ON_EXIT\", FileSystemDomain = -",
        ),
        (
            "",
            "should_transfer_files = never",
            "ShouldTransferFiles = \"NO\", WhenToTransferOutput = -, FileSystemDomain = \"live.test\"",
        ),
        (
            "",
            "when_to_transfer_output = always",
            "ShouldTransferFiles = \"YES\", WhenToTransferOutput = \"ON_EXIT_OR_EVICT\"",
        ),
        ("", "disk_usage = 1\nimage_size = 1", "DiskUsage = 1, ImageSize = 1"),
        (
            "",
            "transfer_input_files = \"a , b,,\"\ntransfer_output_files = c",
            "TransferInput = \"a,b\", TransferOutput = \"c\"",
        ),
        ("", "environment = \"A=1 B='x y'\"", "Environment = \"A=1 B=x' 'y\""),
        ("", "environment = |A=1|B=2;3", "Environment = \"A=1 B=2;3\""),
        ("", "environment = A=1;;B=2", "Environment = \"A=1 B=2\""),
        ("", "arguments = a \\\"b\\\"", "Args = \"a \\\"b\\\"\", Arguments = -"),
        ("", "arguments = \"a 'b c' \"\"d\"\"\"", "Arguments = \"a b' 'c \\\"d\\\"\", Args = -"),
        ("", "arguments2 = \"\"", "Arguments = \"\", Args = -"),
    ] {
        assert_eq!(told(configuration, commands, expected), expected, "{configuration}\n{commands}");
    }
}

/// Tests what is told of commands under a configuration.
fn assert_told(cases: &[(&str, &str, &str)]) {
    for (configuration, commands, expected) in cases {
        let told = problems_under(configuration, &format!("executable = a\n{commands}\nqueue\n")).join("\n");
        assert_eq!(told, *expected, "{configuration}\n{commands}");
    }
}

#[test]
fn requests_and_policies_that_are_refused() {
    let units = "SUBMIT_REQUEST_MISSING_UNITS = error";
    assert_told(&[
        (
            units,
            "request_memory = 1",
            "2:18 `1` request_memory has no unit: megabytes are meant (write a number with K, M, G or T)",
        ),
        (units, "request_memory = 1M", ""),
        (
            &units.replace("error", "warn"),
            "request_disk = 1",
            "2:16 `1` warning: request_disk has no unit: kilobytes are meant (write a number with K, M, G or T)",
        ),
        ("", "request_memory = 1GB, 3GB, 2GB", "2:18 `1GB, 3GB, 2GB` these sizes must increase (-)"),
        ("", "request_memory = 1GB, 2GB, 2GB", "2:18 `1GB, 2GB, 2GB` these sizes must increase (-)"),
        ("", "request_cpu = 1", "2:1 `request_cpu` warning: request_cpu is not a command (did you mean request_cpus?)"),
        (
            "",
            "request_gpus = 1\nrequest_gpu_memory = 1",
            "3:1 `request_gpu_memory` warning: request_gpu_memory is not a command (did you mean gpus_minimum_memory?)",
        ),
        ("", "cuda_version = x", "2:16 `x` cuda_version must be a version such as 12 or 12.4 (-)"),
        (
            "",
            "notification = often",
            "2:16 `often` there is no notification `often` (write never, always, complete, start or error)",
        ),
        ("", "kill_sig = 16", "2:12 `16` there is no signal `16` (write a name such as SIGTERM, or a number)"),
        ("", "kill_sig = TERM", "2:12 `TERM` there is no signal `TERM` (write a name such as SIGTERM, or a number)"),
        (
            "",
            "concurrency_limits = 2a",
            "2:22 `2a` `2a` is not a concurrency limit (write NAME or NAME:COUNT, with commas between limits)",
        ),
        (
            "",
            "concurrency_limits = a.",
            "2:22 `a.` `a.` is not a concurrency limit (write NAME or NAME:COUNT, with commas between limits)",
        ),
        ("", "concurrency_limits = a.b, c:3", ""),
        (
            "",
            "concurrency_limits = a\nconcurrency_limits_expr = b",
            "3:27 `b` concurrency_limits and concurrency_limits_expr exclude each other (-)",
        ),
        ("", "accounting_group = a b", "2:20 `a b` accounting_group has no blanks (-)"),
        ("", "nice_user = true\naccounting_group = g", "3:20 `g` warning: accounting_group replaces nice_user (-)"),
        ("", "deferral_time = -1", "2:17 `-1` deferral_time must be a number of seconds that is not negative (-)"),
        ("", "deferral_time = 0", ""),
        (
            "",
            "deferral_time = \"x\"",
            "2:17 `\"x\"` deferral_time must be a number of seconds that is not negative (-)",
        ),
        (
            "",
            "universe = scheduler\ndeferral_time = 5",
            "3:17 `5` a job of the scheduler universe starts at no given time (write universe = local)",
        ),
        ("", "max_retries = 1\nretry_until = 2147483648", "3:15 `2147483648` this is not an exit code (-)"),
        ("", "max_retries = 1\nretry_until = 2147483647", ""),
        ("", "job_lease_duration = 19", "2:22 `19` warning: a lease has at least 20 seconds (-)"),
        (
            "",
            "notify_user = Never",
            "2:15 `Never` warning: emails go to the user `Never` (notification = never sends no emails)",
        ),
        (
            "",
            "notify_user = false",
            "2:15 `false` warning: emails go to the user `false` (notification = never sends no emails)",
        ),
        ("", "notify_user = ann", ""),
    ]);
}

#[test]
fn transfers_that_are_refused() {
    let s3 = "transfer_input_files = s3://a/b\nshould_transfer_files = yes";
    assert_told(&[
        (
            "",
            "should_transfer_files = maybe",
            "2:25 `maybe` should_transfer_files cannot be `maybe` (write IF_NEEDED or NO or YES)",
        ),
        (
            "",
            "should_transfer_files = no\ntransfer_input_files = x",
            "3:24 `x` should_transfer_files = NO transfers no files (write should_transfer_files = YES, or leave out the list)",
        ),
        (
            "",
            "should_transfer_files = no\nwhen_to_transfer_output = on_exit",
            "3:27 `on_exit` when_to_transfer_output = ON_EXIT contradicts should_transfer_files = NO (leave out one of the two commands)",
        ),
        (
            "",
            "should_transfer_files = auto\nwhen_to_transfer_output = always",
            "3:27 `always` ON_EXIT_OR_EVICT and should_transfer_files = IF_NEEDED exclude each other (write should_transfer_files = YES, or ON_EXIT)",
        ),
        (
            "",
            "should_transfer_files = no\ntransfer_executable = true",
            "3:23 `true` should_transfer_files = NO does not transfer the executable (write should_transfer_files = YES, or transfer_executable = false)",
        ),
        ("", "disk_usage = 0", "2:14 `0` disk_usage must be a size of at least 1 KB (-)"),
        ("", "image_size = 0", "2:14 `0` image_size must be a size of at least 1 KB (-)"),
        (
            "",
            s3,
            "2:24 `s3://a/b` s3:// needs the files with its keys (write s3_access_key_id_file and s3_secret_access_key_file)",
        ),
        ("SIGN_S3_URLS = false", s3, ""),
    ]);
}

#[test]
fn words_that_are_refused() {
    assert_told(&[
        (
            "",
            "arguments = a\narguments2 = \"b\"",
            "3:14 `\"b\"` arguments and arguments2 exclude each other (leave out one of them, or write allow_arguments_v1 = true)",
        ),
        ("", "arguments = a\narguments2 = \"b\"\nallow_arguments_v1 = true", ""),
        ("", "arguments2 = b", "2:14 `b` double quotes must stand around this (-)"),
        ("", "arguments = \"a", "2:13 `\"a` the double quote is not closed (-)"),
        (
            "",
            "arguments = \"a\" b",
            "2:13 `\"a\" b` something follows the closing double quote (write a double quote twice within double quotes)",
        ),
        ("", "arguments = \"a 'b\"", "2:13 `\"a 'b\"` a single quote is not closed (-)"),
        (
            "",
            "arguments = a \"b\"",
            "2:13 `a \"b\"` a double quote stands within arguments of the old syntax (write double quotes around all arguments, and a double quote within them twice)",
        ),
        ("", "environment = A", "2:15 `A` `=` is missing after the variable A (write A=VALUE)"),
        ("", "environment = =A", "2:15 `=A` a variable in `=A` has no name (-)"),
        ("", "environment = A=1;$$(B)", ""),
        (
            "",
            "environment = A=1\nenvironment2 = \"B=1\"",
            "3:16 `\"B=1\"` environment and environment2 exclude each other (leave out one of them, or write allow_environment_v1 = true)",
        ),
        (
            "",
            "getenv = true",
            "2:10 `true` warning: the environment is not read: the job gets no variable of it (with --allow-env the environment of this program counts)",
        ),
        ("", "getenv = false", ""),
        (
            "SUBMIT_ALLOW_GETENV = false",
            "getenv = true",
            "2:10 `true` the configuration forbids getenv = true (list the variables that the job needs)",
        ),
        (
            "",
            "output_destination = https://a/b\noutput_directory = c",
            "3:20 `c` output_destination and output_directory exclude each other (-)",
        ),
        ("", "hold = maybe", "2:8 `maybe` hold must be true or false (-)"),
        ("", "max_retries = x", "2:15 `x` max_retries must be an integer (-)"),
    ]);
}

#[test]
fn statements_that_are_refused() {
    assert_told(&[
        (
            "",
            "nonsense",
            "2:1 `nonsense` this line is neither a command nor a queue statement (write `name = value`, or `queue`)",
        ),
        (
            "",
            "use template : x",
            "2:1 `use template : x` there is no template:x to use (--config gives the templates of a configuration)",
        ),
        ("SUBMIT_TEMPLATE_x = request_cpus=2", "use template : x", ""),
        ("", "error : no $(X:good)", "2:1 `error : no $(X:good)` no good (-)"),
        ("", "warning : so so", "2:1 `warning : so so` warning: so so (-)"),
        ("", "if true", "2:1 `if true` warning: this `if` has no `endif` (-)"),
        ("", "if false", "2:1 `if false` this `if` has no `endif` (-)"),
        ("", "x @=end\n 1", "2:1 `x @=end` there is no line `@end` (-)"),
        (
            "",
            "requirements = Requirements && x",
            "2:16 `Requirements && x` the requirements name themselves (did you mean $(requirements)?)",
        ),
    ]);
    assert_eq!(
        problems("executable = a\nqueue\nqueue\n"),
        [
            "3:1 `queue` warning: condor_submit of HTCondor 25 refuses a second queue statement (condor_submit takes several only where SUBMIT_PREVENT_MULTI_QUEUE is false)"
        ]
    );
    assert_eq!(problems_under("SUBMIT_PREVENT_MULTI_QUEUE = false", "executable = a\nqueue\nqueue\n"), [""; 0]);
    assert_eq!(
        problems("executable = a\n\n"),
        [
            "1:1 `executable = a` warning: this submit file has no queue statement: it is one job (write `queue` at its end)"
        ]
    );
    assert_eq!(
        problems("executable = a\nqueue x in (1\n"),
        ["2:1 `queue x in (1` there is no line with the `)` that ends these items (-)"]
    );
}

#[test]
fn commands_that_nothing_uses() {
    for (commands, expected) in [
        ("grid_resource = x", "2:1 `grid_resource` warning: the command grid_resource has no effect on these jobs (-)"),
        ("argumets = 1", "2:1 `argumets` warning: nothing uses argumets (did you mean arguments?)"),
        ("qqxzw = 1", "2:1 `qqxzw` warning: nothing uses qqxzw (`+qqxzw = ...` sets an attribute of the job)"),
        ("job = 1", ""),
        ("a.b = 1", ""),
        ("qqxzw = 1\narguments = $(qqxzw)", ""),
        ("on_evict_checks = qqxzw\ntransform_body_qqxzw = SET A 1", ""),
        (
            "transform_body_qqxzw = SET A 1",
            "2:1 `transform_body_qqxzw` warning: nothing uses transform_body_qqxzw (`+transform_body_qqxzw = ...` sets an attribute of the job)",
        ),
    ] {
        assert_eq!(problems(&format!("executable = a\n{commands}\nqueue\n")).join("\n"), expected, "{commands}");
    }
    let of_table = problems("executable = a\nqueue x from table(odd) (\nX\n1\n)\n");
    assert!(of_table[0].contains("`odd` is not an option of a table"), "{of_table:?}");
    assert_eq!(
        problems("executable = a\nqueue x in (1 2)\n"),
        [
            "2:1 `queue x in (1 2)` warning: nothing uses the variable x of this queue statement (write $(x) in a command)"
        ]
    );
}

#[test]
fn a_history_of_attributes_has_a_length_of_32_bits() {
    let refused = |length: &str| {
        let text = format!("executable = a\njob_machine_attrs_history_length = {length}\nqueue\n");
        problems(&text).iter().any(|problem| problem.contains("this is not a number of attributes"))
    };
    for (length, is_refused) in [("-1", true), ("0", false), ("3", false), ("2147483647", false), ("2147483648", true)]
    {
        assert_eq!(refused(length), is_refused, "{length}");
    }
}

#[test]
fn what_a_transfer_of_files_needs_of_a_slot_is_a_clause() {
    for (commands, expected) in [
        ("", "(TARGET.HasFileTransfer)"),
        ("MY.RequireCommonFilesTransfer = false", "(TARGET.HasFileTransfer)"),
        ("MY.RequireCommonFilesTransfer = true", "(TARGET.HasFileTransfer && TARGET.HasCommonFilesTransfer >= 2)"),
        ("encrypt_input_files = b", "(TARGET.HasFileTransfer && TARGET.HasPerFileEncryption)"),
        ("encrypt_input_files = b\nrequirements = HasPerFileEncryption", "(TARGET.HasFileTransfer)"),
        (
            "transfer_input_files = http://a/b",
            "(TARGET.HasFileTransfer && stringListIMember(\"http\", TARGET.HasFileTransferPluginMethods))",
        ),
        (
            "transfer_input_files = http://a/b, HTTP://c/d",
            "(TARGET.HasFileTransfer && stringListIMember(\"http\", TARGET.HasFileTransferPluginMethods))",
        ),
        (
            "output_destination = https://a/b",
            "(TARGET.HasFileTransfer && stringListIMember(\"https\", TARGET.HasFileTransferPluginMethods))",
        ),
        (
            "transfer_output_remaps = \"a = osdf:///b; c = d\"",
            "(TARGET.HasFileTransfer && stringListIMember(\"osdf\", TARGET.HasFileTransferPluginMethods))",
        ),
        ("requirements = HasFileTransfer", ""),
    ] {
        let requirements = values("", &format!("should_transfer_files = yes\n{commands}"), &["Requirements"]).remove(0);
        let clause = requirements.split(" && ").skip_while(|part| !part.contains("(TARGET.HasFileTransfer"));
        assert_eq!(clause.collect::<Vec<_>>().join(" && "), expected, "{commands}: {requirements}");
    }
}

#[test]
fn an_environment_of_the_configuration_stays_without_commands() {
    let names = ["Environment", "Env", "EnvDelim"];
    let new = "SUBMIT_ATTRS = Environment\nEnvironment = \"A=1\"";
    let old = "SUBMIT_ATTRS = Env\nEnv = \"A=1\"";
    for (configuration, commands, expected) in [
        ("", "", ["\"\"", "-", "-"]),
        ("", "environment = \"A=1 B=2\"", ["\"A=1 B=2\"", "-", "-"]),
        ("", "environment = A=1;B=2", ["\"A=1 B=2\"", "-", "-"]),
        ("", "env = A=1;B=2", ["-", "\"A=1;B=2\"", "\";\""]),
        (new, "", ["\"A=1\"", "-", "-"]),
        (old, "", ["-", "\"A=1\"", "-"]),
        (new, "environment = B=2", ["\"B=2\"", "-", "-"]),
        (old, "environment = B=2", ["\"B=2\"", "\"B=2\"", "\";\""]),
    ] {
        assert_eq!(values(configuration, commands, &names), expected, "{configuration}\n{commands}");
    }
}

#[test]
fn an_included_file_that_includes_itself_ends() {
    let folder = std::env::temp_dir().join(format!("classad-submit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("self.inc"), "include : self.inc\n").unwrap();
    let settings =
        SubmitSettings { working_directory: folder.to_string_lossy().into_owned(), ..SubmitSettings::default() };
    let described = describe_jobs(b"executable = a\ninclude : self.inc\nqueue\n", &settings);
    std::fs::remove_dir_all(&folder).unwrap();
    let problem = described.items[0].as_ref().unwrap_err();
    assert!(problem.message.ends_with("files include each other, or are nested too deeply"), "{}", problem.message);
}

#[test]
fn attributes_know_their_commands() {
    let text = "executable = a\nrequirements = Memory > 4 && Arch == \"x\"\nrequest_memory = 512GB\nqueue 2\n";
    let described = describe_jobs(text.as_bytes(), &settings(""));
    let entry = described.items[1].as_ref().unwrap();
    let spans = described.attribute_spans(entry.offset);
    let marked = |attribute: &str, part: &str| {
        let span = spans.iter().find(|span| span.name.as_str() == attribute).unwrap();
        let expression = entry.ad.get_str(attribute).unwrap();
        let parts = expression.parts().find(|expression| expression_text(expression, Style::Long) == part);
        text[span.file_range(parts.unwrap().span())].to_owned()
    };
    assert_eq!(marked("RequestMemory", "524288"), "512GB");
    assert_eq!(marked("Requirements", "Memory > 4"), "Memory > 4");
    assert_eq!(marked("Requirements", "TARGET.Memory >= RequestMemory"), "512GB");
}

/// The expressions that do not differ from job to job are shared.
#[test]
fn jobs_share_expressions() {
    let text = b"executable = a\narguments = $(Process)\nlog = $(x).log\nqueue 3 x in (a b)\n";
    let described = describe_jobs(text, &settings(""));
    let ads: Vec<Ad> = described.items.iter().flatten().map(|entry| entry.ad.clone()).collect();
    let shown = |name: &str| ads.iter().map(|ad| ad.get_str(name).unwrap().to_string()).collect::<Vec<_>>().join(" ");
    assert_eq!(shown("Args"), r#""0" "1" "2" "3" "4" "5""#);
    assert_eq!(shown("ProcId"), "0 1 2 3 4 5");
    let requirements = |ad: &Ad| ad.get_str("Requirements").unwrap().identity();
    assert!(ads.iter().all(|ad| requirements(ad) == requirements(&ads[0])));
    assert!(shown("UserLog").ends_with("/b.log\""));
}
