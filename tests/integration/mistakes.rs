//! Mistakes of types and arguments in jobs: `explain` and `check` find the same.

use crate::binary::{file, run};

const JOB: &str = "MyType = \"Job\"\nClusterId = 1\nProcId = 0\nJobStatus = 1\nOwner = \"ann\"\nRequestCpus = 1\n";

const SLOT: &str = r#"MyType = "Machine"
Name = "slot1@a"
State = "Unclaimed"
OpSysAndVer = "CentOS9"
Cpus = 8
Memory = 16000
GPUs = 1
AvailableGPUs = { [ Capability = 8.0 ] }
HasSingularity = true
HasFileTransferPluginMethods = "osdf,https"
Site = "Madison"
CondorVersion = "$CondorVersion: 25.12.0 2026-06-01 BuildID: 1 $"
HasCVMFS = true
Limit = 100
Requirements = stringListMember(MY.Site, TARGET.DESIRED_Sites ?: MY.Site) && TARGET.RequestMemory > 0
"#;

const GPUS: &str =
    "RequestGPUs = 1\nRequirements = countMatches(MY.RequireGPUs, TARGET.AvailableGPUs) >= RequestGPUs\n";

/// A mistake: its name, the attributes of a job with it, what the first line of `explain` says, and the rule of `check`.
type Mistake = (&'static str, String, &'static str, &'static str);

fn mistakes() -> Vec<Mistake> {
    let gpus = |wish: &str| format!("RequireGPUs = {wish}\n{GPUS}");
    let requirements = |condition: &str| format!("Requirements = {condition}\n");
    vec![
        ("quoted-gpus", gpus("\"Capability >= 8.0\""), "with `RequireGPUs = Capability >= 8.0`", "quoted-expression"),
        ("quoted", requirements("\"TARGET.Memory >= 100\""), "`TARGET.Memory >= 100`", "quoted-expression"),
        (
            "exchanged",
            requirements("stringListMember(TARGET.HasFileTransferPluginMethods, \"osdf\")"),
            "`stringListMember(\"osdf\", TARGET.HasFileTransferPluginMethods)`",
            "argument-order",
        ),
        (
            "list-first",
            requirements("stringListMember(\"Chicago, Boston\", TARGET.Site)"),
            "`stringListMember(TARGET.Site, \"Chicago, Boston\")`",
            "argument-order",
        ),
        (
            "semicolon",
            requirements("stringListMember(TARGET.Site, \"Madison;Chicago\")"),
            "`stringListMember(TARGET.Site, \"Madison,Chicago\")`",
            "list-separator",
        ),
        (
            "sites",
            "DESIRED_Sites = \"Madison;Chicago\"\nRequirements = true\n".to_owned(),
            "items of DESIRED_Sites, not `;`",
            "list-separator",
        ),
        (
            "version",
            requirements("TARGET.CondorVersion >= \"$CondorVersion: 9.0.0\""),
            "`versionGE(split(TARGET.CondorVersion)[1], \"9.0.0\")`",
            "version-order",
        ),
        (
            "boolean",
            requirements("TARGET.HasSingularity == \"true\""),
            "`TARGET.HasSingularity == true`",
            "operand-type",
        ),
        (
            "kib",
            "RequestMemory = 4194304\nRequirements = TARGET.Memory >= RequestMemory\n".to_owned(),
            "with `RequestMemory = 4096` the clause is true",
            "wrong-unit",
        ),
        (
            "bytes",
            "RequestMemory = 4294967296\nRequirements = TARGET.Memory >= RequestMemory\n".to_owned(),
            "with `RequestMemory = 4096` the clause is true",
            "wrong-unit",
        ),
        (
            "nothing",
            "RequestMemory = 0\nRequirements = true\n".to_owned(),
            "RequestMemory is 0: ask for as much",
            "zero-request",
        ),
        (
            "greedy",
            requirements("TARGET.Memory - 1024 > TARGET.Limit =?= undefined ? false : TARGET.Limit > 200"),
            "is read as",
            "precedence",
        ),
        (
            "greedy-or",
            requirements("TARGET.HasCVMFS || TARGET.Site == \"a\" ? TARGET.Memory > 99999 : TARGET.Cpus > 9"),
            "all before the `?` is its condition: the corrected clause would be true",
            "precedence",
        ),
        (
            "string-in-gpus",
            gpus("Capability >= \"7.0\""),
            "with `RequireGPUs = Capability >= 7.0` the clause is true",
            "operand-type",
        ),
        (
            "clash",
            gpus("Capability < 8.0 && Capability >= 9.0"),
            "no GPU can meet `Capability < 8.0` and `Capability >= 9.0` together",
            "contradiction",
        ),
        (
            "clash-of-own",
            gpus("Capability < 8.0 && Capability >= GPUsMinCapability\nGPUsMinCapability = 9.0"),
            "no GPU can meet `Capability < 8.0` and `Capability >= GPUsMinCapability` together (GPUsMinCapability is 9.0)",
            "contradiction",
        ),
        (
            "bits",
            requirements("TARGET.HasSingularity & TARGET.HasCVMFS"),
            "`TARGET.HasSingularity && TARGET.HasCVMFS`",
            "bitwise-logic",
        ),
        ("assigned", requirements("TARGET.Sites = \"Madison\""), "", "ignored-text"),
    ]
}

#[test]
fn both_commands_find_each_mistake() {
    let pool = file("mistakes.pool", SLOT);
    for (name, attributes, told, rule) in mistakes() {
        let memory = if attributes.contains("RequestMemory =") { "" } else { "RequestMemory = 100\n" };
        let job = file(&format!("mistakes-{name}.job"), format!("{JOB}{memory}{attributes}"));
        let explained = run(&["explain", &job, "--pool", &pool], b"");
        // A long sentence goes on in the second line.
        let line = String::from_utf8_lossy(&explained.stdout).lines().take(2).collect::<Vec<_>>().join(" ");
        assert!(line.contains(told), "{name}: {line}");
        let checked = run(&["check", &job], b"");
        let found = String::from_utf8_lossy(&checked.stdout).into_owned() + &String::from_utf8_lossy(&checked.stderr);
        assert!(found.lines().any(|line| line == rule), "{name}: {rule}: {found}");
    }
}
