//! What `explain` says and proposes where a job asks for what no slot has, or asks in the wrong way.

use crate::binary::{assert_recorded, classad, classad_on, file, words};

/// 2026-07-05 21:19:48 UTC, a Sunday.
const NOW: &str = "1783286388";

/// Two slots with Enterprise Linux 9, of which one is in use, and one with a GPU whose owner admits few.
const SLOTS: &str = r#"MyType = "Machine"
Name = "slot1@a"
Machine = "a.example.org"
HAS_CVMFS_a_example_org = true
Disk = 30000000
State = "Unclaimed"
Activity = "Idle"
Arch = "X86_64"
OpSys = "LINUX"
OpSysAndVer = "CentOS9"
OpSysMajorVer = 9
OpSysVer = 900
Site = "Madison"
Memory = 4100
TotalMemory = 8200
Cpus = 4
ClockDay = 0
ClockMin = 1279
HasVM = false
Methods = "ftp,https"
PythonVersion = "3.9.25"
MaxJobRetirementTime = 0
Requirements = true

MyType = "Machine"
Name = "slot1@b"
Machine = "b"
CUDADeviceName = "NVIDIA V100"
Disk = 30000000
GPUs = 1
AvailableGPUs = { [ Id = "GPU-2"; DeviceName = "NVIDIA V100"; Capability = 7.0; GlobalMemoryMb = 16000 ] }
State = "Claimed"
Activity = "Busy"
RemoteUser = "zoe@x"
Arch = "X86_64"
OpSys = "LINUX"
OpSysAndVer = "AlmaLinux9"
OpSysMajorVer = 9
OpSysVer = 905
Site = "Madison"
Memory = 4100
Cpus = 4
ClockDay = 0
ClockMin = 1279
HasVM = false
Requirements = true

MyType = "Machine"
Name = "slot1@gpu"
Machine = "gpu"
IsDesktop = true
Disk = 30000000000
MemoryUsage = 100
State = "Unclaimed"
Activity = "Idle"
Arch = "X86_64"
OpSys = "LINUX"
OpSysAndVer = "Debian12"
OpSysMajorVer = 12
OpSysVer = 1200
Site = "Chicago"
Memory = 64000
Cpus = 4
ClockDay = 0
ClockMin = 1279
HasVM = false
GPUs = 1
AvailableGPUs = { GPUs_1 }
GPUs_1 = [ Id = "GPU-1"; DeviceName = "NVIDIA A100"; Capability = 8.0; GlobalMemoryMb = 40000 ]
MaxJobRetirementTime = 0
Requirements = TARGET.Owner == "bob" && (ClockMin < 480 || ClockMin >= 1320)

"#;

const JOB: &str = r#"MyType = "Job"
ClusterId = 7
ProcId = 0
JobStatus = 1
Owner = "ann"
RequestCpus = 1
"#;

const GPUS: &str =
    "RequestGPUs = 1\nRequirements = countMatches(MY.RequireGPUs, TARGET.AvailableGPUs) >= RequestGPUs\n";

/// A job: what it is about, its attributes, and texts that the report has, in this order.
type Case = (&'static str, String, &'static [&'static str]);

fn requirements(condition: &str) -> String {
    format!("Requirements = {condition}\n")
}

/// Jobs that ask for an operating system.
fn names_of_systems() -> Vec<Case> {
    vec![
        (
            "system",
            requirements("TARGET.OpSysAndVer == \"RHEL9\""),
            &[
                "OpSysAndVer of Enterprise Linux 9 is \"CentOS9\" or \"AlmaLinux9\" here",
                "-> `TARGET.OpSysMajorVer == 9`",
            ],
        ),
        (
            "system-list",
            requirements("stringListMember(TARGET.OpSysAndVer, \"RHEL9,Rocky9\")"),
            &["-> `TARGET.OpSysMajorVer == 9`"],
        ),
        (
            "system-in-use",
            requirements("TARGET.OpSysAndVer == \"AlmaLinux9\""),
            &["matches 1 of 3 slots, which is claimed by zoe@x", "-> `TARGET.OpSysMajorVer == 9`"],
        ),
        (
            "system-case",
            requirements("TARGET.OpSysAndVer =?= \"centos9\""),
            &["=?= is case-sensitive, and 1 slot has \"CentOS9\"", "-> `TARGET.OpSysAndVer == \"centos9\"`"],
        ),
        (
            "system-spelling",
            requirements("TARGET.OpSysAndVer == \"Centos-9\""),
            &["the most similar is \"CentOS9\"", "-> `TARGET.OpSysAndVer == \"CentOS9\"`"],
        ),
        (
            "system-blank",
            requirements("TARGET.OpSysAndVer == \"CentOS9 \""),
            &["the most similar is \"CentOS9\"", "-> `TARGET.OpSysAndVer == \"CentOS9\"`"],
        ),
        (
            "system-number",
            requirements("TARGET.OpSysVer < 10"),
            &["OpSysVer has the minor version, too", "-> `TARGET.OpSysMajorVer < 10`"],
        ),
        // Another version is for the author to choose.
        (
            "system-version",
            requirements("TARGET.OpSysMajorVer == 8"),
            &["what to do: ask for `TARGET.OpSysMajorVer == 9` (2 slots, 1 free), if it may run there"],
        ),
        (
            "system-arch",
            requirements("TARGET.Arch == \"ppc64le\""),
            &["what to do: give it a program for Arch \"X86_64\""],
        ),
    ]
}

/// Jobs with conditions that are wrong, or that little is missing.
fn wrong_conditions() -> Vec<Case> {
    vec![
        (
            "list-first",
            requirements("stringListMember(\"Boston,Paris\", TARGET.Site)"),
            &[
                "write `stringListMember(TARGET.Site, \"Boston,Paris\")`, but no slot has Site \"Boston\" or \"Paris\"",
                "what to do: write `stringListMember(TARGET.Site, \"Boston,Paris\")` with a value",
                "values of Site",
            ],
        ),
        (
            "alternatives",
            requirements("TARGET.OpSysMajorVer == (8 || 12)"),
            &[
                "`TARGET.OpSysMajorVer == 8 || TARGET.OpSysMajorVer == 12` would be true for 1 slot",
                "admits only jobs with Owner bob",
            ],
        ),
        (
            "exact-amount",
            requirements("TARGET.Cpus == 3"),
            &["a slot with more Cpus does as well", "-> `TARGET.Cpus >= 3`"],
        ),
        (
            "image",
            "SingularityImage = \"a.sif\"\nRequirements = TARGET.Site == \"Boston\"\n".to_owned(),
            &["what to do: do without `TARGET.Site == \"Boston\"` (2 slots, 1 free), if it may run elsewhere"],
        ),
        (
            "alternatives-of-text",
            requirements("TARGET.Site == (\"Madison\" || \"Boston\")"),
            &[
                "`||` makes one condition of the constants",
                "-> `TARGET.Site == \"Madison\" || TARGET.Site == \"Boston\"`",
            ],
        ),
        (
            "pattern",
            requirements("regexp(\"^chi\", TARGET.Site)"),
            &[
                "regexp is case-sensitive",
                "with `regexp(\"^chi\", TARGET.Site, \"i\")`, slot1@gpu comes",
                "its owner admits only",
            ],
        ),
        (
            "pattern-of-gpus",
            format!("Owner = \"bob\"\nRequireGPUs = regexp(\"a100\", DeviceName)\n{GPUS}"),
            &["regexp is case-sensitive: write `regexp(\"a100\", DeviceName, \"i\")`", "values of DeviceName"],
        ),
        (
            "memory-of-gpus",
            format!("RequireGPUs = GlobalMemoryMb >= 40960\n{GPUS}"),
            &["the largest is 40000 (39.1 GiB of 40 GiB)", "with `GlobalMemoryMb >= 40000`, slot1@gpu comes closest"],
        ),
        (
            "other-gpus",
            format!("RequireGPUs = Capability >= 30\n{GPUS}"),
            &[
                "the largest is 8.0",
                "ask for `RequireGPUs = Capability >= 7.0` (1 slot, none free), if it can do with that",
            ],
        ),
        (
            "gibibytes-of-gpus",
            format!("RequireGPUs = GlobalMemoryMb <= 48\n{GPUS}"),
            &[
                "GlobalMemoryMb is in MiB: this is 48 MiB: with `RequireGPUs = GlobalMemoryMb <= 49152` the clause is true for 2 slots",
            ],
        ),
    ]
}

/// Jobs with names and units that mean something else.
fn names_and_units() -> Vec<Case> {
    vec![
        (
            "name-with-dots",
            requirements("TARGET.HAS_CVMFS_a.example.org == true"),
            &[
                "HAS_CVMFS_a.example.org is read as an attribute of an ad, not as HAS_CVMFS_a_example_org",
                "-> `TARGET.HAS_CVMFS_a_example_org == true` 1 slot, free",
            ],
        ),
        (
            "before-first-run",
            requirements("TARGET.Machine != split(LastRemoteHost, \"@\")[1]"),
            &[
                "LastRemoteHost is not there before the first run",
                "-> `TARGET.Machine =!= split(LastRemoteHost, \"@\")[1]` 2 slots, 1 free",
            ],
        ),
        (
            "dynamic-slot",
            requirements("TARGET.Name == \"slot1_3@a\""),
            &["asks for parts of slots that other jobs have", "-> `TARGET.Name == \"slot1@a\"` 1 slot, free"],
        ),
        (
            "milliseconds",
            "DeferralTime = 1783310400000\nRequirements = (time() + 60) >= DeferralTime\n".to_owned(),
            &[
                "DeferralTime is in seconds since 1970",
                "with `DeferralTime = 1783310400` the clause is true from 2026-07-06 03:59:00 UTC on",
                "DeferralTime = 1783310400 2 slots, 1 free",
            ],
        ),
        (
            "none-of-gpus",
            requirements("TARGET.GPUs == 0"),
            &["undefined where GPUs is missing", "-> `(TARGET.GPUs ?: 0) == 0` 1 slot, free"],
        ),
        (
            "size-in-a-string",
            "RequestMemory = \"4 GB\"\nRequirements = TARGET.Memory >= RequestMemory\n".to_owned(),
            &["this is a string", "RequestMemory \"4 GB\" -> 4096 2 slots, 1 free"],
        ),
        // A feature that the job asks for is not given up by a command.
        (
            "feature",
            requirements("TARGET.HAS_R == true"),
            &[
                "no slot defines HAS_R",
                "ask the admin for slots with HAS_R, or bring it along in an image",
                "do without `TARGET.HAS_R == true` (2 slots, 1 free), if it may run",
            ],
        ),
        // Without it, the job could not run.
        (
            "feature-of-universe",
            format!("JobUniverse = 10\n{}", requirements("TARGET.HasJava")),
            &[
                "no slot defines HasJava",
                "what to do: ask the admin for Java on the slots, or bring it along in an image",
            ],
        ),
        // One slot is large enough for the wrong unit, and refuses.
        (
            "unit-of-a-few",
            "RequestDisk = 21474836480\nRequirements = TARGET.Disk >= RequestDisk\n".to_owned(),
            &[
                "3 slots: RequestDisk is in KiB: this is 20 TiB: with `RequestDisk = 20971520` the clause is true for 3 slots",
                "RequestDisk 21474836480 -> 20971520 2 slots, 1 free",
            ],
        ),
    ]
}

/// Jobs with names that mean others, or that are not the only mistake.
fn meant_names() -> Vec<Case> {
    vec![
        (
            "former-host",
            requirements("TARGET.Machine != LastRemoteHost"),
            &[
                "LastRemoteHost is not there before the first run",
                "-> `TARGET.Name =!= LastRemoteHost` 2 slots, 1 free",
            ],
        ),
        (
            "rank",
            "Rank = (TARGET.OpSysVer >= \"9\") * 10\nRequirements = TARGET.Disk > 5\n".to_owned(),
            &[
                "7.0 has a Rank that is an error and counts as 0: `TARGET.OpSysVer >= \"9\"` is an error",
                "correct Rank: it is to be a number",
            ],
        ),
        (
            "property-of-gpus",
            format!("RequireGPUs = GPUMemoryMb >= 30000\n{GPUS}"),
            &["GPUs have no GPUMemoryMb, but GlobalMemoryMb", "admits only jobs with Owner bob"],
        ),
        (
            "feature-name",
            requirements("TARGET.CVMFS_a_example_org"),
            &[
                "did you mean HAS_CVMFS_a_example_org? 1 slot has it",
                "-> `TARGET.HAS_CVMFS_a_example_org` 1 slot, free",
            ],
        ),
        (
            "name-with-another-value",
            requirements("TARGET.HAS_CVMFS_a_example_orgg == false"),
            &["did you mean HAS_CVMFS_a_example_org? 1 slot has it, but none meets the clause with it"],
        ),
        (
            "never-undefined",
            requirements("isUndefined(TARGET.HasVM)"),
            &["HasVM is true or false in all slots, and never undefined", "-> `TARGET.HasVM =!= true` 2 slots, 1 free"],
        ),
        (
            "two-mistakes",
            requirements("TARGET.HAS_CVMFS_a_example_orgg && TARGET.Site == \"Boston\""),
            &[
                "what to do: write HAS_CVMFS_a_example_org for HAS_CVMFS_a_example_orgg, and mend",
                "`TARGET.Site == \"Boston\"`, too",
            ],
        ),
        (
            "quoted-and-misspelt",
            "Requirements = \"TARGET.OpSysMajorVerr == 9\"\n".to_owned(),
            &["this is a string, and no condition", "-> `TARGET.OpSysMajorVer == 9` 2 slots, 1 free"],
        ),
    ]
}

/// Jobs that ask for what no slot has or admits, or at another time.
fn missing_features() -> Vec<Case> {
    vec![
        (
            "domain",
            requirements("TARGET.Machine == \"example.org\""),
            &["Machine has the host before the domain", "`regexp(\"\\.example\\.org$\", TARGET.Machine, \"i\")`"],
        ),
        (
            "vm",
            requirements("TARGET.HasVM && TARGET.VM_Type == \"kvm\""),
            &["`TARGET.HasVM` is false for all 3 slots", "what to do: ask the admin for slots with virtual machines"],
        ),
        ("java", requirements("TARGET.HasJava"), &["no slot defines HasJava", "what to do: ask the admin for Java"]),
        (
            "expression",
            "RequestMemory = MemoryUsage * 3 / 2\nMemoryUsage = 40000\nRequirements = TARGET.Memory >= RequestMemory\n"
                .to_owned(),
            &["slot1@gpu would do", "RequestMemory is MemoryUsage * 3 / 2, and MemoryUsage is 40000 (39.1 GiB)"],
        ),
        // What the job needs is unknown: no number is proposed.
        (
            "expression-undefined",
            "RequestMemory = MemoryPerCore * 4\nRequirements = TARGET.Memory >= RequestMemory\n".to_owned(),
            &[
                "of 3 slots: RequestMemory has no value: it is MemoryPerCore * 4, and MemoryPerCore is not defined",
                "what to do: define MemoryPerCore, or set RequestMemory to a number",
            ],
        ),
        // A slot that has the missing attribute by chance is no way out.
        (
            "expression-of-a-few",
            "RequestMemory = MemoryUsage * 3 / 2\nRequirements = TARGET.Memory >= RequestMemory && TARGET.Disk > 5\n"
                .to_owned(),
            &[
                "of 3 slots: RequestMemory has no value: it is MemoryUsage * 3 / 2, and MemoryUsage is not defined",
                "what to do: set RequestMemory to a number: MemoryUsage is not defined before the first run",
            ],
        ),
        // The expression has grown beyond what the job was measured to use.
        (
            "expression-grown",
            "RequestMemory = MemoryUsage * NumJobStarts\nNumJobStarts = 40\nMemoryUsage = 3000\n\
             Requirements = TARGET.Memory >= RequestMemory\n"
                .to_owned(),
            &["RequestMemory MemoryUsage * NumJobStarts -> 4096"],
        ),
        (
            "condition",
            requirements("TARGET.Arch == \"X86_64\" && TARGET.Site == \"Madison\" ? TARGET.Cpus > 98 : TARGET.Cpus > 99"),
            &["all before the `?` is its condition", "but `TARGET.Site == \"Madison\" ? ", "what to do: write `TARGET.Arch"],
        ),
        (
            "day",
            requirements("TARGET.ClockDay >= 6"),
            &["not before 2026-07-11 00:00:00 UTC", "ClockDay is 0 on Sunday and 6 on Saturday"],
        ),
        (
            "two-refusals",
            requirements("TARGET.Machine == \"gpu\""),
            &["its owner admits only jobs with Owner bob", "ask to admit more", "is false (ClockMin is 1279, 21:19)"],
        ),
        (
            "grid",
            "JobUniverse = 9\nGridResource = \"condor ce ce:9619\"\nGridResourceUnavailableTime = 1783280500\nRequirements = true\n"
                .to_owned(),
            &["7.0 waits: ce (condor) has not answered since", "what to do: see what became of it there"],
        ),
        (
            "local",
            "JobUniverse = 12\nRequirements = TARGET.Memory > 1000\n".to_owned(),
            &["asks with `TARGET.Memory > 1000` for what only slots have", "what to do: drop what only slots have"],
        ),
    ]
}

/// Jobs with numbers, scopes and strings that are written wrongly.
fn wrong_writing() -> Vec<Case> {
    vec![
        (
            "first-letter",
            requirements("substr(TARGET.Site, 1, 4) == \"Madi\""),
            &["substr counts the letters from 0", "-> `substr(TARGET.Site, 0, 4) == \"Madi\"` 2 slots, 1 free"],
        ),
        (
            "first-entry",
            requirements("split(TARGET.Machine, \".\")[1] == \"a\""),
            &["the entries of a list are counted from 0", "-> `split(TARGET.Machine, \".\")[0] == \"a\"` 1 slot, free"],
        ),
        (
            "real",
            requirements("TARGET.OpSysMajorVer =?= 9.0"),
            &["=?= compares types, too, and OpSysMajorVer is an integer", "-> `TARGET.OpSysMajorVer == 9` 2 slots"],
        ),
        (
            "power",
            requirements("TARGET.Memory >= 2^12"),
            &["`^` is the exclusive or of bits, and no power", "-> `TARGET.Memory >= 4096` 2 slots, 1 free"],
        ),
        (
            "own-request",
            "RequestMemory = 4000\nRequirements = TARGET.Memory >= TARGET.RequestMemory\n".to_owned(),
            &["-> `TARGET.Memory >= MY.RequestMemory` 2 slots, 1 free"],
        ),
        (
            "undefined-condition",
            requirements("ifThenElse(TARGET.GPUs > 0, TARGET.Cpus > 99, true)"),
            &["a clause is undefined where GPUs is missing", "-> `ifThenElse((TARGET.GPUs ?: 0) > 0, ", "1 slot, free"],
        ),
        (
            "upper-bound",
            "MaxDisk = 5\nRequirements = TARGET.Disk < MaxDisk\n".to_owned(),
            &["no slot has Disk < 5 (MaxDisk); the smallest is 30000000", "MaxDisk 5 -> 30000001"],
        ),
        (
            "macro",
            requirements("TARGET.Machine == \"$(HOST)\""),
            &[
                "no slot has Machine == \"$(HOST)\", a macro that nothing expands here what to do: write the value that is meant",
            ],
        ),
        (
            "blank",
            requirements("TARGET.Machine == \"a.example.org \""),
            &["\"a.example.org \", with a blank at its end", "-> `TARGET.Machine == \"a.example.org\"` 1 slot, free"],
        ),
        // What a slot has of the job that runs in it is no attribute to ask for.
        (
            "of-a-run",
            requirements("TARGET.Memory - TARGET.MemoryUsed >= 2000"),
            &["no slot defines MemoryUsed what to do: do without"],
        ),
        (
            "midnight",
            requirements("TARGET.ClockMin >= 1320 && TARGET.ClockMin < 360"),
            &[
                "can never be true together",
                "write `(TARGET.ClockMin >= 1320 || TARGET.ClockMin < 360)` for a time across",
            ],
        ),
    ]
}

/// Jobs with lists and times that are written wrongly, and with clauses that the submit file makes.
fn lists_and_names() -> Vec<Case> {
    vec![
        (
            "no-desktop",
            requirements("TARGET.IsDesktop == false"),
            &["a clause is undefined where IsDesktop is missing", "-> `TARGET.IsDesktop =!= true` 2 slots, 1 free"],
        ),
        (
            "no-such-system",
            requirements("TARGET.OpSys == \"macOS\""),
            &["no slot has OpSys == \"macOS\"", "give it a program for OpSys \"LINUX\", which most slots have"],
        ),
        (
            "list-of-methods",
            requirements("TARGET.Methods == \"https\""),
            &["Methods is a list of several", "-> `stringListIMember(\"https\", TARGET.Methods)` 1 slot, free"],
        ),
        (
            "separator",
            requirements("stringListMember(TARGET.Site, \"Boston Madison\", \",\")"),
            &[
                "the third argument is the separator, and the list has another one",
                "-> `stringListMember(TARGET.Site, \"Boston Madison\")` 2 slots, 1 free",
            ],
        ),
        (
            "quoted-name",
            requirements("isUndefined(\"TARGET.GPUs\")"),
            &["isUndefined of a string is the same for all ads", "-> `isUndefined(TARGET.GPUs)` 1 slot, free"],
        ),
        (
            "encryption",
            requirements("TARGET.HasEncryptExecuteDirectory"),
            &[
                "no slot defines HasEncryptExecuteDirectory",
                "what to do: take encrypt_execute_directory out of the submit file",
            ],
        ),
        // More than any slot has, and a whole number of GiB in KiB.
        (
            "version-prefix",
            requirements("TARGET.PythonVersion == \"3.9\""),
            &["PythonVersion has more than \"3.9\", such as \"3.9.25\"", "TARGET.PythonVersion)` 1 slot, free"],
        ),
        (
            "architecture",
            format!("Owner = \"bob\"\nRequireGPUs = Capability >= 75\n{GPUS}"),
            &["Capability of sm_75 is 7.5: with `RequireGPUs = Capability >= 7.5` the clause is true for 1"],
        ),
        (
            "two-mistakes",
            "RequestDisk = 21474836480\nRequirements = TARGET.HasMV =?= false && TARGET.Disk >= RequestDisk\n"
                .to_owned(),
            &[
                "did you mean HasVM?",
                "-> `TARGET.HasVM =?= false` and RequestDisk 21474836480 -> 20971520 2 slots, 1 free",
            ],
        ),
        // Two names of features are not alike because they begin alike.
        (
            "other-feature",
            requirements("TARGET.HasVTG"),
            &["no slot defines HasVTG what to do: ask the admin for slots with HasVTG"],
        ),
        // A bound of nothing asks for nothing.
        (
            "near-own-name",
            "InputSize_KB = 5\nRequestDisk = InputSizeKB * 3\nRequirements = TARGET.Disk >= RequestDisk\n".to_owned(),
            &[
                "InputSizeKB is not defined; did you mean InputSize_KB?",
                "what to do: write InputSize_KB in RequestDisk",
            ],
        ),
    ]
}

fn times_and_sizes() -> Vec<Case> {
    vec![
        (
            "day-seven",
            requirements("TARGET.ClockDay == 6 || TARGET.ClockDay == 7"),
            &[
                "ClockDay is 0 on Sunday and 6 on Saturday, never 7",
                "-> `TARGET.ClockDay == 6 || TARGET.ClockDay == 0` 2 slots",
            ],
        ),
        ("no-gpus", requirements("TARGET.GPUs < 1"), &["-> `(TARGET.GPUs ?: 0) < 1`"]),
        ("no-gpus-at-most", requirements("TARGET.GPUs <= 0"), &["-> `(TARGET.GPUs ?: 0) <= 0`"]),
        ("less-than-no-gpus", requirements("TARGET.GPUs < 0"), &["no slot has GPUs < 0; the smallest is 1"]),
        (
            "own-amount",
            "RequestMemory = 4000\nRequirements = TARGET.TotalMemory >= TARGET.RequestMemory * 2\n".to_owned(),
            &[
                "RequestMemory is what a job asks for, Memory what a slot has",
                "-> `TARGET.TotalMemory >= MY.RequestMemory * 2` 1 slot, free",
            ],
        ),
        (
            "no-own-amount",
            requirements("TARGET.TotalMemory >= TARGET.RequestMemory * 2"),
            &["no slot defines RequestMemory"],
        ),
        (
            "two-amounts",
            "RequestMemory = 131072\nRequirements = TARGET.Memory >= RequestMemory && TARGET.Cpus >= 96\n".to_owned(),
            &["no slot has Memory >= 131072 (RequestMemory); the largest is 64000; no slot has Cpus >= 96 (at most 4)"],
        ),
        (
            "hours",
            requirements("TARGET.ClockMin >= 20 && TARGET.ClockMin < 24"),
            &["ClockMin counts minutes from midnight: this is 0:24", "-> `TARGET.ClockMin < 1440` 2 slots, 1 free"],
        ),
        (
            "kibibytes",
            requirements("TARGET.Memory >= 4194304"),
            &["Memory is in MiB: this is 4 TiB", "-> `TARGET.Memory >= 4096` 2 slots, 1 free"],
        ),
        (
            "gibibytes-in-kib",
            "RequestMemory = 2097152\nRequirements = TARGET.Memory >= RequestMemory\n".to_owned(),
            &["RequestMemory is in MiB: this is 2 TiB", "RequestMemory 2097152 -> 2048 2 slots, 1 free"],
        ),
        (
            "product",
            format!("Owner = \"bob\"\nRequireGPUs = GlobalMemoryMb >= 16 * 1024 * 1024\n{GPUS}"),
            &[
                "GlobalMemoryMb is in MiB: this is 16 TiB: with `RequireGPUs = GlobalMemoryMb >= 16384` the clause is true for 1",
            ],
        ),
        (
            "bytes-of-disk",
            requirements("TARGET.Disk >= 21474836480"),
            &["Disk is in KiB: this is 20 TiB", "-> `TARGET.Disk >= 20971520` 2 slots, 1 free"],
        ),
        (
            "undivided",
            "ImageSize = 3145728\nRequestMemory = ImageSize * 1.1\nRequirements = TARGET.Memory >= RequestMemory\n"
                .to_owned(),
            &[
                "RequestMemory is in MiB, and ImageSize in KiB",
                "RequestMemory ImageSize * 1.1 -> (ImageSize * 1.1) / 1024 2 slots, 1 free",
            ],
        ),
        // After one correction, another mistake keeps the slots away.
        (
            "bound-of-nothing",
            requirements("TARGET.MaxJobRetirementTime >= 604800"),
            &["the largest is 0", "what to do: do without `TARGET.MaxJobRetirementTime >= 604800`"],
        ),
    ]
}

fn runs() -> Vec<Case> {
    vec![
        (
            "evicted",
            "NumJobStarts = 8\nNumShadowStarts = 8\nRemoteWallClockTime = 28800.0\nRequirements = true\n".to_owned(),
            &["7.0 has run 8 times, about 1 h each, and never to its end", "see in its log what ends its runs"],
        ),
        (
            "hung",
            "JobStatus = 2\nJobCurrentStartDate = 1783077588\nRemoteUserCpu = 14.0\nRequirements = true\n".to_owned(),
            &["7.0 has used 14 s of CPU time in 2 days 10 h: its program may hang", "condor_ssh_to_job 7.0"],
        ),
        (
            "suspended",
            "JobStatus = 7\nLastSuspensionTime = 1783286328\nTotalSuspensions = 7\nRequirements = true\n".to_owned(),
            &["7.0 has been suspended since 2026-07-05 21:18:48 UTC, for 1 min, 7 times in all", "condor_vacate_job 7.0"],
        ),
        (
            "not-gone",
            "JobStatus = 3\nEnteredCurrentStatus = 1783192788\nRemoteHost = \"slot1@w\"\nRequirements = true\n".to_owned(),
            &["7.0 is still in the queue 1 day 2 h after it was removed: slot1@w does not answer", "condor_rm -forcex 7.0"],
        ),
        (
            "in-slurm",
            "JobUniverse = 9\nGridResource = \"batch slurm ann@hpc\"\nGridJobStatus = \"IDLE\"\nGridJobId = \"batch slurm x \
             slurm/20260705/884213\"\nRequirements = true\n"
                .to_owned(),
            &["7.0 is IDLE at ann@hpc (slurm)", "see what became of it there: squeue -j 884213"],
        ),
        (
            "held-processors",
            "JobStatus = 5\nHoldReasonCode = 21\nHoldReasonSubCode = 101\nRequestCpus = 1\nHoldReason = \"The job used more \
             cpus (7.6) than it requested (1): CPU usage exceeded request_cpus\"\nCpusUsage = 7.6\nRequirements = true\n"
                .to_owned(),
            &["condor_qedit 7.0 RequestCpus 8"],
        ),
    ]
}

fn holds() -> Vec<Case> {
    vec![
        (
            "held-by-the-access-point",
            "JobStatus = 5\nHoldReasonCode = 26\nNumJobStarts = 11\nRequirements = true\nHoldReason = \"The system macro \
             SYSTEM_PERIODIC_HOLD expression 'NumJobStarts > 10' evaluated to TRUE\"\n"
                .to_owned(),
            &[
                "7.0 has run 11 times, and never to its end",
                "see in its log what ends its runs",
                "change what `NumJobStarts > 10` reads, which would hold it again, then release it, or submit it anew",
            ],
        ),
        (
            "held-late",
            "JobStatus = 5\nHoldReasonCode = 47\nJobDurationCategory = \"Medium\"\nRequirements = true\nHoldReason = \"The job \
             exceeded allowed execute duration of 10:00:00\"\n"
                .to_owned(),
            &["set JobDurationCategory to \"Long\", let the program save its state (checkpoint)"],
        ),
        (
            "held-output",
            "JobStatus = 5\nHoldReasonCode = 12\nHoldReasonSubCode = 2\nRequirements = true\nHoldReason = \"Transfer output \
             files failure at execution point slot1@a. Details: reading from file /srv/a.csv: (errno 2) No such file\"\n"
                .to_owned(),
            &["see from its output and its errors why the program did not write the file", "condor_release 7.0"],
        ),
        (
            "released-later",
            "JobStatus = 5\nHoldReasonCode = 13\nHoldReason = \"https://e.org/a: Connection timed out\"\n\
             EnteredCurrentStatus = 1783286088\nPeriodicRelease = time() - EnteredCurrentStatus > 600\nRequirements = true\n"
                .to_owned(),
            &["wait until 2026-07-05 21:24:49 UTC, in 5 min 1 s, when PeriodicRelease releases it", "see that the server"],
        ),
        (
            "held-again",
            "JobStatus = 5\nNumJobStarts = 6\nPeriodicHold = NumJobStarts > 5\nHoldReasonCode = 3\nRequirements = true\n"
                .to_owned(),
            &["change PeriodicHold, which would hold it again, then release it condor_release 7.0"],
        ),
        (
            "held-file",
            "JobStatus = 5\nHoldReasonCode = 13\nHoldReasonSubCode = 2\nRequirements = true\nHoldReason = \"Transfer input files \
             failure at access point ap.example.org while sending files to execution point slot1@a.example.org. Details: reading \
             from file /home/ann/params.json: (errno 2) No such file or directory\"\n"
                .to_owned(),
            &[
                "is held: Transfer input files failure",
                "... ",
                "/home/ann/params.json: (errno 2) No such file or directory (code 13, subcode 2)",
                "create the file at the access point, or correct transfer_input_files, then release it",
            ],
        ),
        (
            "held-by-another",
            "JobStatus = 5\nHoldReasonCode = 1\nHoldReason = \"via condor_hold (by user root)\"\nRequirements = true\n"
                .to_owned(),
            &["is held: via condor_hold (by user root)", "what to do: ask root, who held it, before anyone releases it"],
        ),
        (
            "held-by-the-site",
            "JobStatus = 5\nHoldReasonCode = 26\nHoldReason = \"too long\"\nRequirements = true\n".to_owned(),
            &["keep within what the access point allows (SYSTEM_PERIODIC_HOLD), or ask its admin, then release it"],
        ),
        (
            "log-without-directory",
            "JobStatus = 5\nHoldReasonCode = 22\nHoldReason = \"Failed to initialize user log to /s/a.log: No such file or \
             directory\"\nRequirements = true\n"
                .to_owned(),
            &["create the directory of log at the access point, or set another log, then release it"],
        ),
        (
            "held-at-exit",
            "JobStatus = 5\nHoldReasonCode = 3\nHoldReason = \"The job attribute OnExitHold expression 'ExitCode =!= 0' evaluated \
             to TRUE\"\nRequirements = true\n"
                .to_owned(),
            &["see from its output why the program ended so, which on_exit_hold holds, then release it"],
        ),
        (
            "held-at-most",
            "JobStatus = 5\nHoldReasonCode = 34\nHoldReasonSubCode = 102\nMemoryProvisioned = 64000\nRequestMemory = 64000\n\
             Owner = \"bob\"\nRequirements = TARGET.Memory >= RequestMemory && TARGET.OpSysMajorVer == 9\n"
                .to_owned(),
            &["It needs a larger RequestMemory first, above 64000", "condor_qedit 7.0 RequestMemory 128000"],
        ),
        (
            "held-by-the-largest",
            "JobStatus = 5\nHoldReasonCode = 34\nHoldReasonSubCode = 102\nMemoryProvisioned = 4100\nRequestMemory = 4100\n\
             Requirements = TARGET.Memory >= RequestMemory && TARGET.OpSysMajorVer == 9\n"
                .to_owned(),
            &["No slot that it matches has more", "what to do: let it use less, or widen the requirements"],
        ),
    ]
}

/// Jobs of other universes, of GPUs, and of much that was measured.
fn kinds() -> Vec<Case> {
    vec![
        (
            "parallel",
            "JobUniverse = 11\nMinHosts = 4\nScheduler = \"DedicatedScheduler@x\"\nRequirements = true\n".to_owned(),
            &[
                "7.0 needs 4 slots of DedicatedScheduler@x at once (parallel universe): the pool has none of these what to do: \
                 ask the admin for slots of this scheduler, or run it on one machine: universe = vanilla with request_cpus",
            ],
        ),
        (
            "model-of-gpu",
            "RequestGPUs = 1\nRequirements = TARGET.GPUs >= RequestGPUs && TARGET.CUDADeviceName == \"NVIDIA A100\"\n"
                .to_owned(),
            &[
                "do without `TARGET.CUDADeviceName == \"NVIDIA A100\"` (1 slot, none free), if it can do with another GPU",
            ],
        ),
        // The name is of the GPU, although the job has it, too.
        (
            "own-capability",
            format!("Capability = 9.0\nRequireGPUs = Capability >= 8.5\n{GPUS}"),
            &["no slot has a GPU with Capability >= 8.5 (RequireGPUs)", "the largest is 8.0"],
        ),
        // Without a request for GPUs, the model is all that asks for one.
        (
            "model-alone",
            requirements("TARGET.CUDADeviceName == \"NVIDIA A100\""),
            &["no slot has CUDADeviceName == \"NVIDIA A100\"", "no change found"],
        ),
        (
            "halted",
            "JobStatus = 2\nJobUniverse = 7\nDAG_Status = 6\nDAG_NodesTotal = 40\nDAG_NodesDone = 12\nDAG_NodesReady = 28\n\
             Requirements = true\n"
                .to_owned(),
            &[
                "7.0 is DAGMan: of 40 nodes 12 done and 28 ready; it is halted, and submits no node",
                "remove its halt file (.dag.halt)",
            ],
        ),
        // It waits for no slot: what slots would match is of no interest.
        (
            "held-scheduler",
            "JobStatus = 5\nJobUniverse = 7\nHoldReasonCode = 1\nHoldReason = \"via condor_hold (by user ann)\"\n\
             Requirements = TARGET.Memory >= RequestMemory\n"
                .to_owned(),
            &["what to do: release it condor_release 7.0"],
        ),
        (
            "grown",
            "RequestMemory = 4096 * (NumJobStarts + 1)\nNumJobStarts = 19\nMemoryUsage = 3000\n\
             Requirements = TARGET.Memory >= RequestMemory\n"
                .to_owned(),
            &["RequestMemory 4096 * (NumJobStarts + 1) -> 4096", "2 slots, 1 free"],
        ),
        (
            "nice-user",
            "NiceUser = true\nRequirements = true\n".to_owned(),
            &["7.0 is of a nice user", "take nice_user out of the submit file"],
        ),
    ]
}

/// Jobs of which something beside their constraint tells what to do.
fn circumstances() -> Vec<Case> {
    vec![
        (
            "universe",
            "JobUniverse = 1\nRequirements = true\n".to_owned(),
            &["7.0 is of the standard universe, which HTCondor has no more", "what to do: submit it anew"],
        ),
        (
            "removed-later",
            "QDate = 1783286000\nPeriodicRemove = (time() - QDate) > 86400\nRequirements = TARGET.Disk < 5\n".to_owned(),
            &["no slot has Disk < 5", "policies:", "PeriodicRemove"],
        ),
        (
            "proxy",
            "x509UserProxyExpiration = 1783282788\nRequirements = true\n".to_owned(),
            &["7.0 has a proxy that expired at 2026-07-05 20:19:48 UTC, 1 h ago", "renew the proxy"],
        ),
        (
            "put-back",
            "OnExitRemove = ExitCode == 0\nExitBySignal = false\nExitCode = 1\nNumJobCompletions = 14\nRequirements = true\n"
                .to_owned(),
            &[
                "7.0 has ended 14 times, last with exit code 1, and was put back: OnExitRemove is false",
                "what to do: see from its output and error why its program ends so",
            ],
        ),
        (
            "routed",
            "Managed = \"External\"\nRoutedToJobId = \"48211.0\"\nRequirements = true\n".to_owned(),
            &["7.0 is managed elsewhere", "7.0 has become 48211.0", "explain 48211.0 instead"],
        ),
        (
            "in-the-transfer-queue",
            "JobStatus = 2\nTransferQueued = true\nTransferringInput = true\nTransferInQueued = 1783279188\n\
             TransferInputSizeMB = 41210\nRequirements = true\n"
                .to_owned(),
            &["7.0 has waited since 2026-07-05 19:19:48 UTC, for 2 h, for its access point to transfer its input (41,210 MB)"],
        ),
        (
            "kept",
            "JobStatus = 4\nExitCode = 0\nStageInFinish = 1783279188\nLeaveJobInQueue = JobStatus == 4\nRequirements = true\n"
                .to_owned(),
            &["7.0 stays in the queue", "fetch its output (condor_transfer_data 7.0), then remove it (condor_rm 7.0)"],
        ),
        (
            "at-its-share",
            "LastRejMatchReason = \"submitter limit exceeded\"\nLastRejMatchTime = 1783286268\nRequirements = true\n".to_owned(),
            &["what to do: wait until jobs of its submitter or group end"],
        ),
        (
            "held-large",
            "JobStatus = 5\nHoldReasonCode = 1\nRequestMemory = 5000\nRequirements = TARGET.Memory >= RequestMemory && \
             TARGET.Site == \"Madison\"\n"
                .to_owned(),
            &["RequestMemory 5000 -> 4100", "release it condor_release 7.0"],
        ),
        // Of two conditions that no slot meets together, the slot that meets the rarer one is told with what it has.
        (
            "conflict",
            requirements("TARGET.Site == \"Chicago\" && TARGET.OpSysMajorVer == 9"),
            &["slot1@gpu alone meets `TARGET.Site == \"Chicago\"`, and has OpSysMajorVer 12"],
        ),
        (
            "unquoted",
            "Project = Physics\nRequirements = TARGET.Site == \"Madison\" && MY.Project == \"Physics\"\n".to_owned(),
            &["Physics without quotes is an attribute, which nothing defines"],
        ),
    ]
}

#[test]
fn reports_lead_to_what_is_meant() {
    let pool = file("corrections.pool", SLOTS);
    let mut told = String::new();
    for (name, attributes, expected) in [
        names_of_systems(),
        wrong_conditions(),
        names_and_units(),
        meant_names(),
        missing_features(),
        wrong_writing(),
        lists_and_names(),
        times_and_sizes(),
        circumstances(),
        kinds(),
        holds(),
        runs(),
    ]
    .concat()
    {
        let job = file(&format!("corrections-{name}.job"), format!("{JOB}{attributes}"));
        let (_, text, errors) = classad(&["explain", &job, "--pool", &pool, "--now", NOW]);
        // Of a pipe, ads are read whole.
        let whole =
            classad_on(&["explain", "-", "--pool", &pool, "--now", NOW], (JOB.to_owned() + &attributes).as_bytes()).1;
        assert_eq!(whole, text, "{name}");
        let words = words(&text);
        let mut rest = words.as_str();
        for part in expected {
            let Some((_, after)) = rest.split_once(part) else { panic!("{name}: no {part} in {text}{errors}") };
            rest = after;
        }
        told.extend(["== ", name, "\n", &text]);
    }
    assert_recorded("tests/explanations/corrections.txt", &told);
}

/// When a slot takes a job does not depend on the jobs before it, of which the rest of its constraint refuses one.
#[test]
fn a_time_is_that_of_the_job() {
    let slot = "MyType = \"Machine\"\nName = \"night\"\nMemory = 4000\nState = \"Unclaimed\"\nActivity = \"Idle\"\nClockMin = \
                1279\nRequirements = (ClockMin >= 1320 || ClockMin < 480) && TARGET.Owner != \"ann\"\n";
    let job = |number: u32, owner: &str| {
        format!(
            "MyType = \"Job\"\nClusterId = {number}\nProcId = 0\nJobStatus = 1\nOwner = \"{owner}\"\nJobPrio = {number}\n\
             Requirements = TARGET.Memory >= 2000 && TARGET.Name == \"night\"\n\n"
        )
    };
    let slots = file("corrections-night.pool", slot);
    let jobs = file("corrections-night.jobs", job(1, "ann") + &job(2, "bob"));
    let (_, out, errors) = classad(&["explain", &jobs, "--pool", &slots, "--now", NOW, "-o", "jsonl"]);
    let waits = |report: &str| report.contains("wait until");
    assert_eq!(out.lines().map(waits).collect::<Vec<_>>(), [false, true], "{out}{errors}");
}

/// Slots at the places that a job wants decide why none takes it; only its author can do without such a place.
#[test]
fn slots_at_wanted_places_decide() {
    let slot = SLOTS.split("\n\n").next().expect("there is a first slot");
    let slot_at = |name: &str, site: &str, rule: &str| {
        let slot = slot.replace("slot1@a", name).replace("\"Madison\"", &format!("\"{site}\""));
        let rules = format!("Requirements = stringListMember(Site, TARGET.DESIRED_Sites) && {rule}");
        slot.replace("Requirements = true", &rules) + "\n\n"
    };
    let pool = ["p1", "p2", "p3"].map(|name| slot_at(name, "Paris", "true")).concat();
    let pool = pool + &slot_at("m1", "Madison", "TARGET.JobDurationCategory =!= \"Long\"");
    let pool = file("corrections-wanted.pool", pool);
    let attributes = "DESIRED_Sites = \"Madison\"\nJobDurationCategory = \"Long\"\nRequirements = TARGET.Memory > 1\n";
    let job = file("corrections-wanted.job", format!("{JOB}{attributes}"));
    let (_, text, errors) = classad(&["explain", &job, "--pool", &pool, "--now", NOW]);
    let words = words(&text);
    assert!(
        words.contains("all of them refuse: 1 because `TARGET.JobDurationCategory =!= \"Long\"` is false"),
        "{text}{errors}"
    );
    assert!(words.contains("do without `JobDurationCategory = \"Long\"` (1 slot, free), if it ends sooner"), "{text}");
}

/// A job that avoids several places gives up one of them.
#[test]
fn one_of_several_avoided_places_is_given_up() {
    let slot = SLOTS.split("\n\n").next().expect("there is a first slot");
    let slot = slot.replace("Requirements = true", "Requirements = !stringListMember(Site, TARGET.UNDESIRED_Sites)");
    let pool = file("corrections-avoided.pool", slot);
    for (sites, change) in [
        ("Paris,Madison,Rome", "UNDESIRED_Sites \"Paris,Madison,Rome\" -> \"Paris,Rome\" 1 slot, free"),
        ("Madison", "delete UNDESIRED_Sites 1 slot, free"),
    ] {
        let job = file("corrections-avoided.job", format!("{JOB}UNDESIRED_Sites = \"{sites}\"\nRequirements = true\n"));
        let (_, text, errors) = classad(&["explain", &job, "--pool", &pool, "--now", NOW]);
        let words = words(&text);
        assert!(words.contains(change), "{sites}: {text}{errors}");
    }
}

/// Dynamic slots do not count, but where nothing stands for them, they are told of.
#[test]
fn dynamic_slots_without_their_partitionable_ones_are_told() {
    let slot = SLOTS.split("\n\n").next().expect("there is a first slot");
    let partitionable = format!("{slot}\nPartitionableSlot = true\nSlotType = \"Partitionable\"\n\n");
    let dynamic = |name: &str| {
        let slot = slot.replace("slot1@a", name).replace("\"Madison\"", "\"Paris\"").replace("Unclaimed", "Claimed");
        format!("{slot}\nDynamicSlot = true\nSlotType = \"Dynamic\"\n\n")
    };
    let pool = file("corrections-orphans.pool", partitionable + &dynamic("slot1_1@p") + &dynamic("slot1_1@a"));
    let job = file("corrections-orphans.job", format!("{JOB}Requirements = TARGET.Site == \"Paris\"\n"));
    let (_, text, errors) = classad(&["explain", &job, "--pool", &pool, "--now", NOW]);
    let first = "7.0 matches none of 1 slot (1 dynamic slot would do: --all-slots): no slot has Site == \"Paris\"";
    assert!(text.contains(first), "{text}{errors}");
    let job = file("corrections-spelt.job", format!("{JOB}Requirements = TARGET.Site =?= \"paris\"\n"));
    let (_, text, errors) = classad(&["explain", &job, "--pool", &pool, "--now", NOW]);
    let first =
        "7.0 matches none of 1 slot (1 dynamic slot has \"Paris\": --all-slots): no slot has Site =?= \"paris\"";
    assert!(text.contains(first), "{text}{errors}");
    assert!(text.contains("what to do: write \"Paris\", as dynamic slots do"), "{text}{errors}");
}

/// The list of sites that a job has is respelt where a slot seeks its site in it, and no entry is taken away.
#[test]
fn an_entry_of_a_list_is_respelt() {
    let slot = SLOTS.split("\n\n").next().expect("there is a first slot");
    let slot = slot.replace("Requirements = true", "Requirements = stringListMember(Site, TARGET.DESIRED_Sites)");
    let pool = file("corrections-sites.pool", slot.replace("\"Madison\"", "\"Wisconsin-Madison\""));
    for (sites, change) in [
        ("\"Paris,Madison\"", Some("DESIRED_Sites \"Paris,Madison\" -> \"Paris,Wisconsin-Madison\"")),
        ("\"Wisconsin-Madson\"", Some("DESIRED_Sites \"Wisconsin-Madson\" -> \"Wisconsin-Madison\"")),
        ("\"Paris\"", None),
        // The functions of lists in strings read no lists.
        (
            "{ \"Paris\", \"Wisconsin-Madison\" }",
            Some("DESIRED_Sites { \"Paris\", \"Wisconsin-Madison\" } -> \"Paris,Wisconsin-Madison\""),
        ),
    ] {
        let job = file("corrections-sites.job", format!("{JOB}DESIRED_Sites = {sites}\nRequirements = true\n"));
        let (_, text, errors) = classad(&["explain", &job, "--pool", &pool, "--now", NOW]);
        let words = words(&text);
        assert_eq!(words.contains("-> \""), change.is_some(), "{sites}: {text}{errors}");
        assert!(change.is_none_or(|change| words.contains(change)), "{sites}: {text}");
    }
}
