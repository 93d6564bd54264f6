//! The ads that follow claims (thesis 3.8): rests of divided offers, dynamic slots of HTCondor, sequence numbers.

use super::binary::{classad, file};

/// The slots of a pool of HTCondor, as the collector had them.
const SLOTS: &str = "tests/pool/dumps/machines.long";

/// Returns the job of user `user` and process `process` that asks for resources.
fn job(user: &str, process: u32, requests: &str) -> String {
    let requests = requests.replace("; ", "\n");
    format!(
        "MyType = \"Job\"\nClusterId = 77\nProcId = {process}\nOwner = \"{user}\"\nUser = \"{user}@pool.example\"\n\
         GlobalJobId = \"ap#77.{process}#1\"\nJobStatus = 1\nRequestMemory = 1000\nRequestDisk = 5000\n{requests}\n\n"
    )
}

/// Returns the values of attributes of the ads in a file, by lines of tab-separated values.
fn values(path: &str, attributes: &str) -> String {
    classad(&["query", "true", path, "--af", attributes]).1
}

/// Makes the matches that `arguments` describe, claims them, and returns the files of notices and of the ads that follow.
fn follow(test: &str, arguments: &[&str], requests: &str, offers: &str) -> (String, String, String) {
    let [notices, ads] = ["jsonl", "ads"].map(|form| file(&format!("following-{test}.{form}"), ""));
    let (_, rows, told) = classad(&[arguments, &[requests, "--pool", offers, "--notify", &notices]].concat());
    assert!(!rows.is_empty(), "{told}");
    let common = ["claim", &notices, "--ads", requests, "--ads", offers, "--now", "2000000000", "--as-given"];
    let (_, outcome, told) = classad(&[&common[..], &["--no-header", "-o", "tsv", "--follow", &ads]].concat());
    assert!(told.is_empty(), "{told}");
    (notices, ads, outcome)
}

/// As in the ads of 25.14.1, the dynamic slot has the GPU that the job can use, and the lists of its slot name it.
#[test]
fn a_partitionable_slot_advertises_its_rest_and_a_dynamic_slot() {
    let requests = "RequestCpus = 2; RequestGPUs = 1; RequireGPUs = Capability >= 8; \
                    Requirements = countMatches(RequireGPUs, TARGET.AvailableGPUs) >= 1";
    let jobs = file("following-gpu.long", job("zoe", 0, requests));
    let (notices, ads, outcome) = follow("gpu", &["negotiate", "--policy", "htcondor"], &jobs, SLOTS);
    assert!(outcome.contains("committed"), "{outcome}");
    assert_eq!(
        values(&ads, "Name,Cpus,Memory,Disk,GPUs,AssignedGPUs,State,RemoteOwner,UpdateSequenceNumber"),
        "slot1@node3.pool.example\t12\t60416\t27160936\t1\tGPU-a0223334,GPU-b1223334,GPU-c2223334\tUnclaimed\tundefined\t19\n\
         slot1_2@node3.pool.example\t2\t1024\t5120\t1\tGPU-c2223334\tClaimed\tzoe\t19\n"
    );
    assert_eq!(
        values(&ads, "NumDynamicSlots,ChildCpus,ChildName,ChildDSlotId,PartitionableSlot,TotalSlotCpus"),
        "2\t{ 2, 2 }\t{ \"slot1_1@node3.pool.example\", \"slot1_2@node3.pool.example\" }\t{ 1, 2 }\ttrue\t16\n\
         undefined\tundefined\tundefined\tundefined\tundefined\t2\n"
    );
    assert_eq!(
        values(&ads, "DynamicSlot,SlotType,ParentSlotId,DSlotId,AvailableGPUs[0].Id,GPUs_DeviceName,JobId"),
        "undefined\tPartitionable\tundefined\tundefined\tGPU-a0223334\tundefined\tundefined\n\
         true\tDynamic\t1\t2\tGPU-c2223334\tNVIDIA A100-SXM4-40GB\t77.0\n"
    );
    // After the release the slot is as it was.
    let freed = file("following-gpu-freed.ads", "");
    let common = ["claim", "--release", &notices, "--ads", &jobs, "--ads", &ads, "--as-given", "--follow", &freed];
    assert_eq!(classad(&common).0, Some(0));
    let attributes = "Name,Cpus,Memory,Disk,GPUs,size(AvailableGPUs),State,NumDynamicSlots,ChildCpus,ChildDSlotId";
    let before = values(SLOTS, attributes);
    let before = before.lines().find(|line| line.starts_with("slot1@node3")).unwrap();
    assert_eq!(values(&freed, attributes).trim_end(), before);
}

/// A match that knows no policy gives a partitionable slot as a whole; the claim makes the dynamic slot.
#[test]
fn a_job_takes_of_a_partitionable_slot_what_it_requests() {
    let slot = "MyType = \"Machine\"\nName = \"slot1@h\"\nSlotID = 1\nPartitionableSlot = true\nState = \"Unclaimed\"\n\
                MachineResources = \"Cpus Memory Disk Tapes\"\nCpus = 8\nMemory = 8000\nDisk = 100000\nTapes = 3\n\
                UpdateSequenceNumber = 5\nNumDynamicSlots = 1\nChildDSlotId = { 1 }\nRequirements = TARGET.RequestCpus <= Cpus\n";
    let slots = file("following-whole-slots.long", slot);
    // The first job has one Cpu and 128 MB in steps, the second cannot have the rest of the tapes.
    let jobs = [
        job("a", 0, "RequestTapes = 2; Requirements = true; RequestCpus = 3"),
        job("b", 1, "RequestTapes = 2; Requirements = true; RequestCpus = 1"),
    ];
    let files = [0, 1].map(|place| file(&format!("following-whole-{place}.long"), &jobs[place]));
    let both = file("following-whole-jobs.long", jobs.concat());
    let notices = files.map(|jobs| classad(&["match", &jobs, "--pool", &slots, "--notify", "-"]).1);
    let notices = file("following-whole.jsonl", notices.concat());
    let ads = file("following-whole.ads", "");
    let (status, rows, _) =
        classad(&["claim", &notices, "--ads", &both, "--ads", &slots, "--follow", &ads, "-o", "tsv"]);
    assert!(status == Some(0) && rows.contains("slot1@h: it has too little Tapes left"), "{rows}");
    assert_eq!(
        values(&ads, "Name,Cpus,Memory,Disk,Tapes,State,UpdateSequenceNumber"),
        "slot1@h\t5\t6976\t94880\t1\tUnclaimed\t6\nslot1_2@h\t3\t1024\t5120\t2\tClaimed\t6\n"
    );
}

/// The startd gives a job none of what it does not request, and divides also the resources that an administrator defines.
#[test]
fn a_dynamic_slot_has_no_resource_that_its_job_does_not_request() {
    let slot = "MyType = \"Machine\"\nName = \"slot1@h\"\nSlotID = 1\nPartitionableSlot = true\nState = \"Unclaimed\"\n\
                MachineResources = \"Cpus Memory Disk Swap GPUs Tapes\"\nCpus = 8\nMemory = 8000\nDisk = 100000\n\
                GPUs = 2\nTotalSlotGPUs = 2\nAssignedGPUs = \"GPU-a,GPU-b\"\nAvailableGPUs = { GPUs_GPU_a,GPUs_GPU_b }\n\
                GPUs_GPU_a = [ Id = \"GPU-a\" ]\nGPUs_GPU_b = [ Id = \"GPU-b\" ]\nTapes = 4\nTotalSlotTapes = 4\n\
                UpdateSequenceNumber = 5\nChildGPUs = { }\nRequirements = TARGET.RequestCpus <= Cpus\n";
    let slots = file("following-others-slots.long", slot);
    let requests = ["RequestGPUs = 1; RequestTapes = 1", "Rank = 0", "RequestTapes = undefined"];
    let jobs = (0..)
        .zip(requests)
        .map(|(process, requests)| job("a", process, &format!("{requests}; RequestCpus = 1; Requirements = true")));
    let jobs = file("following-others-jobs.long", jobs.collect::<String>());
    let command = ["negotiate", "--policy", "htcondor", "--starts"];
    let (notices, ads, outcome) = follow("others", &command, &jobs, &slots);
    assert_eq!(outcome.matches("committed").count(), 3, "{outcome}");
    assert_eq!(
        values(&ads, "Name,GPUs,TotalSlotGPUs,size(AvailableGPUs),AssignedGPUs,Tapes,TotalSlotTapes,ChildGPUs"),
        "slot1@h\t1\t2\t1\tGPU-a,GPU-b\t3\t4\t{ 1, 0, 0 }\nslot1_1@h\t1\t1\t1\tGPU-a\t1\t1\tundefined\n\
             slot1_2@h\t0\t0\t0\tundefined\t0\t0\tundefined\nslot1_3@h\t0\t0\t0\tundefined\t0\t0\tundefined\n"
    );
    let freed = file("following-others-freed.ads", "");
    classad(&["claim", "--release", &notices, "--ads", &jobs, "--ads", &ads, "--as-given", "--follow", &freed]);
    let whole = "Name,Cpus,Memory,Disk,GPUs,size(AvailableGPUs),Tapes";
    assert_eq!(values(&freed, whole), values(&slots, whole));
}

/// Two notices of one slot, and a policy of the papers' kind: the ad that follows has what both leave.
#[test]
fn an_offer_that_a_policy_divides_advertises_its_rest() {
    let machine = |kind: &str| {
        format!(
            "[ {kind} = \"Machine\"; Name = \"ps1\"; Cpus = 8; Seats = {{ \"a\", \"b\", \"c\" }}; State = \"Unclaimed\"; \
             UpdateSequenceNumber = 5; Constraint = other.Cpus <= Cpus ]"
        )
    };
    let jobs = "[ Name = \"j1\"; Owner = \"x\"; Cpus = 2; Constraint = true ] [ Name = \"j2\"; Owner = \"y\"; Cpus = 3; Constraint = true ]";
    let policy = "residual: { set: { Cpus: Cpus - other.Cpus, Note: '\"divided\"' }, take: { Seats: { count: \"1\" } }, while: Cpus > 0 }\n";
    let (jobs, policy) = (file("following-policy-jobs.ad", jobs), file("following-policy.yaml", policy));
    for (kind, expected) in [
        ("Type", "ps1\t3\t{ \"c\" }\tdivided\tUnclaimed\tundefined\t6\n"),
        (
            "MyType",
            "ps1\t3\t{ \"c\" }\tdivided\tUnclaimed\tundefined\t6\n\
             ps1_1\t2\t{ \"a\" }\tdivided\tClaimed\tx\t6\nps1_2\t3\t{ \"b\" }\tdivided\tClaimed\ty\t6\n",
        ),
    ] {
        let machines = file(&format!("following-policy-{kind}.ad"), machine(kind));
        for command in ["match", "negotiate", "gangmatch"] {
            let (notices, ads, outcome) = follow("policy", &[command, "--policy", &policy], &jobs, &machines);
            assert_eq!(outcome.matches("committed").count(), 2, "{outcome}");
            let attributes = "Name,Cpus,Seats,Note,State,RemoteUser,UpdateSequenceNumber";
            assert_eq!(values(&ads, attributes), expected, "{command} {kind}");
            // The rest takes part in the next cycle, and the first match can be released by itself.
            let next = ["match", &jobs, "--pool", &ads, "--matched", &notices, "--no-header", "-o", "tsv"];
            assert_eq!(classad(&next).1, "", "the jobs are matched");
            let other =
                file("following-policy-next.ad", "[ Name = \"j3\"; Owner = \"z\"; Cpus = 3; Constraint = true ]");
            let next = ["match", &other, "--pool", &ads, "--matched", &notices, "--no-header", "-o", "tsv"];
            assert_eq!(classad(&next).1, "j3\tps1\t0\t0\n");
            let one = std::fs::read_to_string(&notices).unwrap();
            let one = file("following-policy-one.jsonl", one.lines().next().unwrap());
            let freed = file("following-policy-freed.ads", "");
            classad(&["claim", "--release", &one, "--ads", &jobs, "--ads", &ads, "--follow", &freed]);
            assert_eq!(
                values(&freed, "Name,Cpus,Seats,UpdateSequenceNumber"),
                "ps1\t5\t{ \"c\", \"a\" }\t7\n",
                "{command} {kind}"
            );
        }
    }
}

/// Thesis 3.8: a busy machine goes on to advertise itself, as it is "still interested in higher priority customers".
#[test]
fn a_busy_machine_of_the_papers_gets_a_preempting_job() {
    let job = |name: &str, owner: &str| {
        format!(
            "[ Type = \"Job\"; Name = \"{name}\"; Owner = \"{owner}\"; Memory = 31; Constraint = other.Type == \"Machine\" ]"
        )
    };
    let jobs = ["raman", "solomon"].map(|owner| file(&format!("following-{owner}.ad"), job(owner, owner)));
    for (figure, numbers) in [("thesis-figure-4", [5, 6]), ("1998-figure-1", [5, 6]), ("2000-figure-1", [0, 1])] {
        let printed = std::fs::read_to_string(format!("samples/papers/{figure}-machine.ad")).unwrap();
        // An ad without a number becomes number 1.
        let number = if numbers[0] > 0 { "; UpdateSequenceNumber = 5\n]" } else { "]" };
        let text = format!("{}{number}", printed.trim_end().trim_end_matches(']').trim_end().trim_end_matches(';'));
        let machine = file("following-figure.ad", text);
        let (notices, ads, _) = follow("figure", &["match"], &jobs[0], &machine);
        assert_eq!(values(&ads, "UpdateSequenceNumber,State"), format!("{}\tClaimed\n", numbers[1]), "{figure}");
        let cycle = ["negotiate", &jobs[1], "--pool", &ads, "--matched", &notices, "--no-header", "-o", "tsv"];
        let (_, rows, told) = classad(&cycle);
        assert!(rows.starts_with("solomon\t") && rows.trim_end().ends_with("\traman"), "{figure}: {rows}{told}");
        // The old ad stays matched.
        let cycle = ["negotiate", &jobs[1], "--pool", &machine, "--matched", &notices, "--no-header", "-o", "tsv"];
        assert_eq!(classad(&cycle).1, "", "{figure}");
    }
}
