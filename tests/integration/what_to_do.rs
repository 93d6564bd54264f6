//! What a report says to do: to wait, to change the job and by which command, to release it.

use crate::binary::{classad, file};

/// A slot; `more` are further lines.
fn slot(name: &str, more: &str) -> String {
    format!(
        "MyType = \"Machine\"\nName = \"{name}\"\nArch = \"X86_64\"\nCpus = 4\nMemory = 4000\nHasGpu = true\n\
         Requirements = TARGET.RequestCpus <= MY.Cpus\n{more}\n\n"
    )
}

/// A job of cluster 1; `more` are further lines.
fn job(process: usize, more: &str) -> String {
    format!(
        "MyType = \"Job\"\nClusterId = 1\nProcId = {process}\nJobStatus = 1\nOwner = \"ann\"\nRequestCpus = 1\n\
         RequestMemory = 100\nRequirements = TARGET.Memory >= RequestMemory\n{more}\n\n"
    )
}

/// Returns the part of a report that says what to do.
fn what_to_do(name: &str, jobs: &str, slots: &str) -> String {
    let [jobs, slots] =
        [("jobs", jobs), ("slots", slots)].map(|(kind, text)| file(&format!("what-to-do-{name}.{kind}"), text));
    let (_, text, errors) = classad(&["explain", &jobs, "--pool", &slots, "--now", "1"]);
    let lines = text.lines().skip_while(|line| !line.starts_with("what to do:"));
    let part: Vec<&str> =
        lines.enumerate().take_while(|(at, line)| *at == 0 || line.starts_with("  ")).map(|(_, line)| line).collect();
    assert!(!part.is_empty(), "{name}: {text}{errors}");
    // A frame is indented, too.
    part.into_iter().filter(|line| !line.contains('\u{256d}')).take(6).collect::<Vec<_>>().join("\n")
}

#[test]
fn one_waits_or_changes_the_job_by_a_command() {
    let free = slot("free", "State = \"Unclaimed\"\nActivity = \"Idle\"");
    let claimed = slot("used", "State = \"Claimed\"\nRemoteUser = \"bob@x\"");
    let offline = slot("asleep", "State = \"Unclaimed\"\nOffline = true");
    let drained = slot("drained", "State = \"Drained\"\nDraining = true");
    let full = slot(
        "full",
        "State = \"Unclaimed\"\nActivity = \"Idle\"\nPartitionableSlot = true\nTotalSlotCpus = 8\nTotalSlotMemory = 8000",
    )
    .replace("Cpus = 4\n", "Cpus = 0\n");
    let asks = |requirements: &str| job(0, &format!("Requirements = {requirements}"));
    for (name, jobs, slots, expected) in [
        ("free", job(0, ""), free.clone(), "what to do: wait for the next negotiation cycle"),
        ("claimed", job(0, ""), claimed.clone(), "what to do: wait until the slot in use is free"),
        (
            "several",
            job(0, ""),
            claimed.clone() + &claimed.replace("used", "other"),
            "what to do: wait until one of the 2 slots in use is free",
        ),
        (
            "offline",
            job(0, ""),
            offline,
            "what to do: wait until the slot that is offline is woken (condor_power,\n    condor_rooster)",
        ),
        ("drained", job(0, ""), drained, "what to do: wait until the slot that drains starts jobs again"),
        (
            "closed",
            job(0, ""),
            slot("closed", "State = \"Drained\"\nDraining = true\nDrainReason = \"update\"\nStart = false")
                .replace("Requirements = ", "Requirements = START && "),
            "what to do: wait until closed starts jobs again (drained (update))",
        ),
        ("full", job(0, ""), full, "what to do: wait until jobs end on full"),
        (
            "smaller",
            job(0, "RequestMemory = 5000"),
            free.clone(),
            "what to do:\n  RequestMemory 5000 -> 4000  1 slot, free\n    \
             condor_qedit 1.0 RequestMemory 4000  # submit file: request_memory = 4000",
        ),
        (
            "several-jobs",
            job(0, "RequestMemory = 5000") + &job(1, "RequestMemory = 5000"),
            free.clone(),
            "what to do:\n  RequestMemory 5000 -> 4000  1 slot, free\n    \
             condor_qedit 1.0 1.1 RequestMemory 4000  # submit file: request_memory = 4000",
        ),
        (
            "requirements",
            asks("TARGET.HasGpus && TARGET.Arch == \"X86_64\""),
            free.clone(),
            "what to do:\n  `TARGET.HasGpus` -> `TARGET.HasGpu`  1 slot, free\n    \
             condor_qedit 1.0 Requirements '(TARGET.HasGpu) && TARGET.Arch == \"X86_64\"'",
        ),
        (
            "dropped",
            asks("TARGET.Colour == \"red\" && TARGET.Arch == \"X86_64\""),
            free.clone(),
            "what to do: do without `TARGET.Colour == \"red\"` (1 slot, free), if it may run\n    without",
        ),
        (
            "exclusion",
            asks("TARGET.State != \"Unclaimed\" && TARGET.Arch == \"X86_64\""),
            free.clone(),
            "what to do:\n  drop `TARGET.State != \"Unclaimed\"`  1 slot, free\n    \
             condor_qedit 1.0 Requirements 'TARGET.Arch == \"X86_64\"'",
        ),
        (
            "string",
            job(0, "Project = \"it's\""),
            free.replace("TARGET.RequestCpus <= MY.Cpus", "TARGET.Project == \"that's\""),
            "what to do:\n  Project \"it's\" -> \"that's\"  1 slot, free\n    \
             condor_qedit 1.0 Project '\"that'\\''s\"'  # submit file: My.Project = \"that's\"",
        ),
        (
            "held-by-hand",
            job(0, "JobStatus = 5\nHoldReasonCode = 1").replace("JobStatus = 1\n", ""),
            free.clone(),
            "what to do:\n  release it\n    condor_release 1.0",
        ),
        (
            "held-for-memory",
            job(0, "JobStatus = 5\nHoldReasonCode = 34\nHoldReasonSubCode = 102\nMemoryProvisioned = 100")
                .replace("JobStatus = 1\n", ""),
            free.clone(),
            "what to do:\n  raise RequestMemory above 100, then release it\n    \
             condor_qedit 1.0 RequestMemory 200\n    condor_release 1.0",
        ),
        (
            "held-for-input",
            job(0, "JobStatus = 5\nHoldReasonCode = 16").replace("JobStatus = 1\n", ""),
            free.clone(),
            "what to do: wait until the input files of it are spooled",
        ),
    ] {
        assert_eq!(what_to_do(name, &jobs, &slots), expected, "{name}");
    }
}

#[test]
fn mistakes_are_corrected_and_what_a_job_needs_is_kept() {
    let free = slot("free", "State = \"Unclaimed\"\nActivity = \"Idle\"");
    let asks = |requirements: &str| job(0, &format!("Requirements = {requirements}"));
    for (name, jobs, slots, expected) in [
        (
            "first-run",
            asks("TARGET.Name != LastRemoteHost && TARGET.Arch == \"X86_64\""),
            free.clone(),
            "what to do:\n  `TARGET.Name != LastRemoteHost`\n    -> `TARGET.Name =!= LastRemoteHost`  1 slot, free\n    \
             condor_qedit 1.0 Requirements '(TARGET.Name =!= LastRemoteHost) && TARGET.Arch == \"X86_64\"'",
        ),
        (
            "guard",
            asks("!(TARGET.Colour > 0) && TARGET.Arch == \"X86_64\""),
            free.clone() + &slot("coloured", "Colour = 2\nState = \"Unclaimed\"\nActivity = \"Idle\""),
            "what to do:\n  `!(TARGET.Colour > 0)` -> `(TARGET.Colour > 0) =!= true`  1 slot, free\n    \
             condor_qedit 1.0 Requirements '((TARGET.Colour > 0) =!= true) && TARGET.Arch == \"X86_64\"'",
        ),
        (
            "pattern",
            asks("regexp(\"^REE$\", TARGET.Name)"),
            free.clone(),
            "what to do:\n  `regexp(\"^REE$\", TARGET.Name)`\n    -> `regexp(\"REE$\", TARGET.Name, \"i\")`  1 slot, free\n    \
             condor_qedit 1.0 Requirements 'regexp(\"REE$\", TARGET.Name, \"i\")'",
        ),
        (
            "request",
            asks("TARGET.RequestCpus >= 1"),
            free.clone(),
            "what to do:\n  `TARGET.RequestCpus >= 1` -> `TARGET.Cpus >= 1`  1 slot, free\n    \
             condor_qedit 1.0 Requirements 'TARGET.Cpus >= 1'",
        ),
        (
            "system-and-version",
            asks("TARGET.OpSysName == \"RedHat 8\" && TARGET.OpSysAndVer != \"x\""),
            slot(
                "free",
                "OpSysName = \"RedHat\"\nOpSysAndVer = \"RedHat8\"\nState = \"Unclaimed\"\nActivity = \"Idle\"",
            ),
            "what to do:\n  `TARGET.OpSysName == \"RedHat 8\"`\n    -> `TARGET.OpSysAndVer == \"RedHat8\"`  1 slot, free\n    \
             condor_qedit 1.0 Requirements '(TARGET.OpSysAndVer == \"RedHat8\") && TARGET.OpSysAndVer != \"x\"'",
        ),
        (
            "architecture",
            asks("TARGET.Arch == \"INTEL\""),
            free.clone(),
            "what to do:\n  `TARGET.Arch == \"INTEL\"` -> `TARGET.Arch == \"X86_64\"`  1 slot, free\n    \
             condor_qedit 1.0 Requirements 'TARGET.Arch == \"X86_64\"'",
        ),
        (
            "unit",
            job(0, "RequestMemory = 4194304"),
            free.replace("4000", "8000"),
            "what to do:\n  RequestMemory 4194304 -> 4096  1 slot, free\n    \
             condor_qedit 1.0 RequestMemory 4096  # submit file: request_memory = 4096",
        ),
        (
            "system",
            asks("TARGET.OpSysLongName == \"Solaris\" && TARGET.Arch == \"X86_64\""),
            free.clone(),
            "what to do: no change found that keeps Arch and OpSys",
        ),
        ("own", asks("TARGET.Memory >= MY.MinMem"), free.clone(), "what to do: give it an attribute MinMem"),
        (
            "measured",
            job(0, "RequestMemory = 5000\nMemoryUsage = 4500"),
            free.clone(),
            "what to do: ask for less of RequestMemory, in smaller jobs, or ask the admin for\n    slots with more Memory",
        ),
        (
            "turned-off",
            asks("false && TARGET.Arch == \"X86_64\""),
            free.clone(),
            "what to do: take `false` out of the requirements when it may run",
        ),
    ] {
        assert_eq!(what_to_do(name, &jobs, &slots), expected, "{name}");
    }
}

#[test]
fn no_command_changes_what_is_no_job() {
    let free = slot("free", "");
    let request = job(0, "RequestMemory = 5000").replace("ClusterId = 1\nProcId = 0\n", "Name = \"a\"\n");
    assert_eq!(what_to_do("no-job", &request, &free), "what to do:\n  RequestMemory 5000 -> 4000  1 slot");
}

/// Returns the files of a queue with three jobs and of a slot.
fn queue(name: &str) -> [String; 2] {
    let jobs = [
        job(0, "RequestMemory = 5000").replace("RequestMemory = 100\n", ""),
        job(1, "").replace("TARGET.Memory >= RequestMemory", "TARGET.HasGpus"),
        job(2, "JobStatus = 5\nHoldReasonCode = 1\nOwner = \"bo/b\"")
            .replace("JobStatus = 1\nOwner = \"ann\"\n", "# a comment stays\n"),
        job(3, "RequestMemory = 9000").replace("RequestMemory = 100\n", ""),
    ];
    let slots = slot("free", "State = \"Unclaimed\"\nActivity = \"Idle\"");
    [("jobs", jobs.concat()), ("slots", slots)].map(|(kind, text)| file(&format!("{name}.{kind}"), text))
}

#[test]
fn a_diff_changes_the_jobs_so_that_they_match() {
    let [jobs, slots] = queue("fixed-queue");
    let (_, diff, errors) = classad(&["explain", &jobs, "--pool", &slots, "--now", "1", "--fix"]);
    let changed = "-RequestMemory = 5000\n+RequestMemory = 4000\n";
    assert!(diff.contains(changed) && diff.contains("+Requirements = TARGET.HasGpu\n"), "{diff}{errors}");
    // Less than half is for the owner to decide, and a held job is released by a command.
    assert!(!diff.contains("9000") && !diff.contains("1.2"), "{diff}");
    let patch =
        std::process::Command::new("patch").args(["-p0", "-s", &jobs]).stdin(std::process::Stdio::piped()).spawn();
    let mut patch = patch.expect("patch runs");
    std::io::Write::write_all(&mut patch.stdin.take().unwrap(), diff.as_bytes()).unwrap();
    assert!(patch.wait().unwrap().success());
    let (_, rest, _) = classad(&["explain", &jobs, "--pool", &slots, "--now", "1", "--fix"]);
    assert_eq!(rest, "");
    let (_, text, _) =
        classad(&["explain", &jobs, "--pool", &slots, "--now", "1", "--request", "1.0,1.1", "--summary"]);
    assert!(text.starts_with("2 jobs: all match"), "{text}");
}

/// Of several changes, a diff makes the first one that wins a free slot.
#[test]
fn a_diff_prefers_a_free_slot() {
    let of = |name: &str, memory: u32, state: &str| {
        slot(name, &format!("State = \"{state}\"")).replace("Memory = 4000", &format!("Memory = {memory}"))
    };
    for (states, expected) in [
        (["Unclaimed", "Unclaimed", "Unclaimed"], "900"),
        (["Claimed", "Claimed", "Unclaimed"], "800"),
        (["Claimed", "Unclaimed", "Unclaimed"], "900"),
        (["Claimed", "Claimed", "Claimed"], "900"),
        (["Unclaimed", "Claimed", "Claimed"], "900"),
    ] {
        let slots = [("slot1@m", 900), ("slot2@m", 900), ("slot3@m", 800)].iter().zip(states);
        let slots: Vec<String> = slots.map(|((name, memory), state)| of(name, *memory, state)).collect();
        let job = job(0, "").replace("RequestMemory = 100", "RequestMemory = 1000");
        let (jobs, slots) = (file("preferred.jobs", job), file("preferred.slots", slots.concat()));
        let (_, diff, errors) = classad(&["explain", &jobs, "--pool", &slots, "--now", "1", "--fix"]);
        assert!(diff.contains(&format!("+RequestMemory = {expected}")), "{states:?}: {diff}{errors}");
    }
}

#[test]
fn scripts_have_the_commands_of_each_cause_and_owner() {
    let [jobs, slots] = queue("scripted-queue");
    let directory = format!("{}/scripts-of-queue", env!("CARGO_TARGET_TMPDIR"));
    let _ = std::fs::remove_dir_all(&directory);
    let arguments = ["explain", &jobs, "--pool", &slots, "--now", "1", "--fix-scripts", &directory];
    let (_, names, errors) = classad(&arguments);
    let scripts: Vec<String> = names.lines().map(|name| std::fs::read_to_string(name).expect(name)).collect();
    let has = |owner: &str, command: &str| {
        scripts.iter().any(|script| script.contains(&format!("# Jobs of {owner},")) && script.contains(command))
    };
    assert_eq!(scripts.len(), 3, "{names}{errors}");
    assert!(has("ann", "\ncondor_qedit 1.0 RequestMemory 4000"), "{scripts:?}");
    assert!(has("ann", "\ncondor_qedit 1.1 Requirements TARGET.HasGpu\n"), "{scripts:?}");
    assert!(has("bo/b", "\ncondor_release 1.2\n") && names.contains("-bo_b.sh"), "{names}{scripts:?}");
    // What someone may have changed is not replaced.
    let (status, _, errors) = classad(&arguments);
    assert!(status == Some(2) && errors.contains("exists, and may have been changed: remove it"), "{errors}");
}

/// A diff is of a file, and nothing is printed before it is sure.
#[test]
fn no_diff_is_of_a_pipe() {
    let [_, slots] = queue("piped-queue");
    let jobs = job(0, "RequestMemory = 5000").replace("RequestMemory = 100\n", "");
    let output = crate::binary::run(&["explain", "--pool", &slots, "--now", "1", "--fix"], jobs.as_bytes());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.stdout.is_empty() && errors.contains("standard input is compressed or no file"), "{errors}");
    assert_eq!(output.status.code(), Some(2));
}

/// What a slot asks for may have any name.
#[test]
fn no_name_becomes_a_command_of_the_shell() {
    let slots = slot("a", "").replace("TARGET.RequestCpus <= MY.Cpus", "TARGET.'$(touch x); y' == 5");
    let jobs = job(0, "'$(touch x); y' = 4");
    let told = what_to_do("quoted-name", &jobs, &slots);
    assert!(told.contains("condor_qedit 1.0 '$(touch x); y' 5"), "{told}");
}
