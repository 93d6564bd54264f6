//! Explanations of small ads of pools: what is blamed, and what is proposed.
//!
//! # Faults and their tests
//!
//! Real pools and the papers showed these faults. The tests without a module are in this file.
//!
//! | fault | test |
//! |---|---|
//! | a clause that is false was laid on an attribute that it provides for |
//! `an_absent_attribute_that_the_clause_provides_for_is_not_blamed` |
//! | the same in the limits of older slots, where the memory or the CPUs decide | the row `older` of the same test |
//! | the same in `--reverse`, and in clauses of the job |
//! `an_absent_attribute_that_a_clause_provides_for_is_not_blamed_in_reverse` |
//! | `CurrentTime` was called an absent attribute | `an_absent_attribute_without_which_nothing_can_be_true_is_blamed` |
//! | the properties of GPUs were sought in the slot and not in the GPUs' own ads |
//! `gpus_are_looked_for_in_their_own_ads` |
//! | of three GPUs asked for and two there, a property was blamed | `too_few_gpus_are_told_by_their_number` |
//! | two changes came where one suffices, and one size of several |
//! `one_attribute_is_changed_before_two_and_sizes_come_with_their_slots` |
//! | of a size that is a little less, the one that most slots have was left out |
//! `a_little_less_comes_with_its_slots_too` |
//! | nothing was proposed where only the slots refuse | `a_wish_of_slots_alone_is_met_by_a_change_of_the_job` |
//! | claimed and divided slots counted as free | `states::slots_that_match_and_are_not_free_are_no_match`,
//! `states::a_partitionable_slot_would_match_if_drained` |
//! | `match` gave held jobs and claimed slots away | `states::only_idle_jobs_get_only_free_slots` |
//! | slots that are offline counted as free | `states::a_report_says_which_slots_are_free` |
//! | held, running and local jobs were explained as if they waited | `states::a_job_that_does_not_wait_is_told_first` |
//! | old dumps refused everything, for they were taken as of today |
//! `states::old_ads_are_evaluated_as_of_their_newest_time` |
//! | ads of daemons counted as offers | `ads_of_daemons_are_no_slots` |
//! | text without quotation marks was called a missing attribute | `names_without_quotation_marks_are_quoted` |
//! | mistakes that `check` corrects were not corrected | `mistakes_that_the_linter_knows_are_corrected` |
//! | what the job itself lacks was laid on the slots | `what_the_job_lacks_is_not_laid_on_the_slots` |
//! | "most have" was said of few slots, and the version of one slot came before that of many |
//! `what_most_have_is_what_more_than_half_have` |
//! | the nearest version was the first of equally near ones | `of_versions_the_nearest_is_that_of_most_slots` |
//! | `RequestGPUs` was called a misspelling of `RequestCpus` | `a_standard_attribute_is_no_misspelling_of_another` |
//! | "`false` is false" was told of a slot that takes nothing | `a_slot_that_takes_nothing_says_so_plainly` |
//! | "an request" was told by `--reverse` | `requests_and_jobs_have_their_articles` |
//! | a long clause was cut, without the values that decide |
//! `the_part_of_a_long_clause_that_decides_comes_with_its_values` |
//! | a disjunction was one clause, and its parts were not counted | `each_part_of_a_disjunction_is_told` |
//! | `--request` did not know the numbers of jobs | `states::jobs_are_called_by_their_numbers_in_and_out` |
//! | `-machine` was refused, and `:summary` had no effect |
//! `queues::slots_are_grouped_by_cause_and_chosen_by_htcondors_words` |
//! | JSON counted the refusals of slots that do not suit |
//! `json_counts_the_refusals_of_suitable_slots_as_the_text_does` |
//! | the ads of a history file became one ad | `histories::records_are_read_as_condor_history_prints_them` |
//! | `-hold` was taken for a file, and all jobs were printed | `condor_tables::held_jobs_alone_are_printed_for_hold` |
//! | a usage error without a standard error was a panic |
//! `robustness::a_wrong_option_is_status_2_without_a_standard_error` |
//! | advice to a machine to have more GPUs, if it was read in part | `advice_is_the_same_for_ads_read_in_part` |
//! | a change was advised with more than it needs | `no_change_has_another_change_as_a_part` |
//! | the help said that slices are rounded up | `negotiation::a_slice_is_rounded_down` |

use serde_json::Value as Json;

use crate::binary::{file, run};

const JOB: &str = "MyType = \"Job\"\nClusterId = 1\nProcId = 0\nJobStatus = 1\nOwner = \"ann\"\n";
const SLOT: &str = "MyType = \"Machine\"\nState = \"Unclaimed\"\n";

/// What `explain` prints of a job in some slots, each given by the lines that matter, and the exit status.
fn explained(name: &str, job: &str, slots: &[&str], options: &[&str]) -> (String, i32) {
    let slot = |(number, lines): (usize, &&str)| format!("{SLOT}Name = \"slot{number}@host\"\n{lines}\n\n");
    let pool: String = slots.iter().enumerate().map(slot).collect();
    let pool = file(&format!("fault-{name}"), pool);
    let output = run(&[&["explain", "--pool", &pool], options].concat(), format!("{JOB}{job}\n").as_bytes());
    assert!(output.stderr.is_empty(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code().unwrap())
}

/// The first line alone.
fn first_line(name: &str, job: &str, slots: &[&str]) -> String {
    explained(name, job, slots, &[]).0.lines().next().unwrap_or_default().to_owned()
}

/// The first two lines, as the sentence that they are.
fn first_sentence(name: &str, job: &str, slots: &[&str]) -> String {
    explained(name, job, slots, &[]).0.lines().take(2).collect::<Vec<_>>().join("; ").replace(":; ", ": ")
}

/// The first line of the other direction: what the slot makes of the job.
fn first_line_in_reverse(name: &str, job: &str, slot: &str) -> String {
    explained(name, job, &[slot], &["--reverse"]).0.lines().next().unwrap_or_default().to_owned()
}

/// The changes, each with the number of slots that match then.
fn changes(name: &str, job: &str, slots: &[&str]) -> Vec<(String, u64)> {
    changes_of("changes", name, job, slots)
}

/// The changes in the field `key` of the report.
fn changes_of(key: &str, name: &str, job: &str, slots: &[&str]) -> Vec<(String, u64)> {
    let (text, _) = explained(name, job, slots, &["-o", "json"]);
    let document: Json = serde_json::from_str(&text).unwrap();
    let changes = document["reports"][0][key].as_array().unwrap().clone();
    let change = |change: &Json| (change["change"].as_str().unwrap().to_owned(), change["matches"].as_u64().unwrap());
    changes.iter().map(change).collect()
}

/// With `-v`, 10 conflicts of clauses are listed, and further ones are counted.
#[test]
fn many_conflicts_are_counted() {
    for (clauses, listed, rest) in [(4, 6, ""), (5, 10, ""), (6, 10, "and 5 more conflicts")] {
        let all: Vec<String> = (0..clauses).map(|number| format!("TARGET.Has{number}")).collect();
        let has = |own: usize| (0..clauses).map(move |number| format!("Has{number} = {}\n", number == own));
        let slots: Vec<String> = (0..clauses).map(|own| has(own).collect()).collect();
        let slots: Vec<String> = slots.iter().map(|lines| format!("{lines}Requirements = true\n")).collect();
        let pool = file("fault-conflicts", slots.join("\n"));
        let job = format!("{JOB}Requirements = {}\n", all.join(" && "));
        let output = run(&["explain", "-v", "--pool", &pool], job.as_bytes());
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(text.matches("are never met together").count(), listed, "{text}");
        assert!(text.contains(rest) && text.contains("more conflict") != rest.is_empty(), "{text}");
    }
}

/// HTCondor 25's own limits: what a slot provides for is not to blame.
#[test]
fn an_absent_attribute_that_the_clause_provides_for_is_not_blamed() {
    for (name, limit, asked, expected) in [
        (
            "default",
            "Requirements = TARGET.RequestDisk - (TARGET.Foo ?: 0) <= MY.Disk\nDisk = 100",
            "RequestDisk = 5000",
            "no slot has 4.9 MiB of disk (RequestDisk is 5000); the largest has 100 KiB",
        ),
        (
            "condition",
            "Requirements = TARGET.RequestDisk - ifthenelse(TARGET.CatalogSize =!= undefined, TARGET.CatalogSize, 0) <= \
             MY.Disk\nDisk = 100",
            "RequestDisk = 5000",
            "no slot has 4.9 MiB of disk (RequestDisk is 5000); the largest has 100 KiB",
        ),
        (
            "older",
            "Requirements = ifThenElse(TARGET._condor_RequestCpus =!= undefined, MY.Cpus > 0 && \
             TARGET._condor_RequestCpus <= MY.Cpus, ifThenElse(TARGET.RequestCpus =!= undefined, MY.Cpus > 0 && \
             TARGET.RequestCpus <= MY.Cpus, 1 <= MY.Cpus))\nCpus = 1",
            "RequestCpus = 4",
            "no slot has 4 Cpus (RequestCpus); the largest has 1",
        ),
    ] {
        let line = first_line(&format!("guard-{name}"), &format!("Requirements = true\n{asked}"), &[limit]);
        assert!(line.contains(expected) && !line.contains("1.0 has no"), "{name}: {line}");
    }
}

/// `MappingMethod` is read by limits of real slots: without the catalogs, it subtracts nothing.
#[test]
fn an_absent_attribute_that_a_clause_provides_for_is_not_blamed_in_reverse() {
    let catalogs = "Disk = 100\nRequirements = (TARGET.RequestDisk - ifthenelse(MappingMethod ?: \"\" != \"Copy\", \
                    ifthenelse(RequestedCatalogs =?= undefined || catalogs =?= undefined, 0, sum(catalogs)), 0)) <= \
                    MY.Disk";
    let older = "Cpus = 1\nRequirements = ifThenElse(TARGET._condor_RequestCpus =!= undefined, MY.Cpus > 0 && \
                 TARGET._condor_RequestCpus <= MY.Cpus, ifThenElse(TARGET.RequestCpus =!= undefined, MY.Cpus > 0 && \
                 TARGET.RequestCpus <= MY.Cpus, 1 <= MY.Cpus))";
    let job = "Requirements = true\nRequestDisk = 5000\nRequestCpus = 4";
    let line = first_line_in_reverse("reverse-catalogs", job, catalogs);
    assert!(line.ends_with(" (Disk); the smallest is 5000") && !line.contains("defines"), "{line}");
    let line = first_line_in_reverse("reverse-older", job, older);
    assert!(line.starts_with("slot0@host matches none of 1 job: ") && !line.contains("defines"), "{line}");
    // The job's own clause may provide for what slots lack, too.
    for clause in
        ["TARGET.Memory - (TARGET.Foo ?: 0) > 100", "(TARGET.Foo =!= undefined ? TARGET.Foo : TARGET.Memory) > 100"]
    {
        let line = first_line("own-guard", &format!("Requirements = {clause}"), &["Memory = 4\nRequirements = true"]);
        assert!(line.ends_with("; the largest is 4") && !line.contains("defines Foo"), "{line}");
    }
}

#[test]
fn an_absent_attribute_without_which_nothing_can_be_true_is_blamed() {
    let line = first_line("is", "Requirements = TARGET.HasX =?= true", &["Requirements = true"]);
    assert_eq!(line, "1.0 matches none of 1 slot: no slot defines HasX");
    let line =
        first_line("project", "Requirements = true", &["Requirements = isUndefined(TARGET.ProjectName) != true"]);
    assert!(line.ends_with("it refuses: 1.0 has no ProjectName"), "{line}");
    // The time is not an attribute that an ad lacks.
    let line = first_line("time", "Requirements = true", &["Requirements = CurrentTime < 5"]);
    assert!(!line.contains("has no"), "{line}");
}

#[test]
fn each_part_of_a_disjunction_is_told() {
    let slots = ["OpSysAndVer = \"CentOS9\"\nMemory = 4\nRequirements = true"; 3];
    let guarded =
        "Requirements = (TARGET.HasX =!= undefined && HasX =?= true) || (OpSysAndVer == \"CentOS9\" && Memory > 5)";
    let line = first_line("parts", guarded, &slots);
    assert!(line.contains("no slot has Memory > 5; the largest is 4"), "{line}");
    let line = first_line("choices", "Requirements = OpSysAndVer == \"RHEL8\" || OpSysAndVer == \"Debian12\"", &slots);
    assert!(
        line.contains("no slot has OpSysAndVer == \"RHEL8\" or \"Debian12\"; the most frequent is \"CentOS9\""),
        "{line}"
    );
    let sites = [
        "Site = \"a\"\nMemory = 4\nDisk = 9\nRequirements = true",
        "Site = \"b\"\nMemory = 9\nDisk = 3\nRequirements = true",
    ];
    let wanted =
        "Requirements = (TARGET.Site == \"a\" && TARGET.Memory > 5) || (TARGET.Site == \"c\" && TARGET.Disk > 5)";
    let line = first_sentence("sites-parts", wanted, &sites);
    let parts = "`TARGET.Site == \"a\" && TARGET.Memory > 5` is false for all 2 slots; no slot has Site == \"c\"; the values are \"a\" (1, free) and \"b\" (1, free)";
    assert!(line.ends_with(&format!(" is true for none: {parts}")), "{line}");
}

#[test]
fn each_branch_of_a_conditional_is_told() {
    let slots = ["HasX = true\nMemory = 4\nCpus = 2\nRequirements = true", "Memory = 9\nCpus = 3\nRequirements = true"];
    for clause in [
        "ifThenElse(TARGET.HasX =!= undefined, TARGET.Memory > 50, TARGET.Cpus > 5)",
        "(TARGET.HasX =!= undefined ? TARGET.Memory > 50 : TARGET.Cpus > 5)",
    ] {
        let line = first_sentence("conditional", &format!("Requirements = {clause}"), &slots);
        let expected = "no slot has Memory > 50; the largest is 9; no slot has Cpus > 5; the largest is 3";
        assert!(line.ends_with(expected), "{line}");
    }
}

#[test]
fn gpus_are_looked_for_in_their_own_ads() {
    let gpu = |capability: &str, name: &str| {
        format!(
            "Requirements = true\nGPUs = 1\nAvailableGPUs = {{ GPUs_a }}\nGPUs_a = [ Capability = {capability}; \
             DeviceName = \"{name}\" ]"
        )
    };
    let slots = [gpu("8.6", "A40"), gpu("7.5", "T4"), "Requirements = true\nGPUs = 0\nAvailableGPUs = {}".to_owned()];
    let slots = slots.each_ref().map(String::as_str);
    let wanted = |constraint: &str| {
        format!(
            "RequestGPUs = 1\nRequireGPUs = {constraint}\nRequirements = countMatches(MY.RequireGPUs, \
             TARGET.AvailableGPUs) >= RequestGPUs"
        )
    };
    let line = first_line("capability", &wanted("Capability >= 9.0"), &slots);
    assert_eq!(
        line,
        "1.0 matches none of 3 slots: no slot has a GPU with Capability >= 9.0 (RequireGPUs); the largest is 8.6"
    );
    // What the program needs of a GPU is for its author to choose.
    assert!(changes("capability-change", &wanted("Capability >= 9.0 && DeviceName != \"K80\""), &slots).is_empty());
    let line = first_line("unknown-property", &wanted("Foo >= 9.0"), &slots);
    assert!(
        line.ends_with(
            "no slot has a GPU with Foo >= 9.0 (RequireGPUs); GPUs have no Foo, but Capability and DeviceName"
        ),
        "{line}"
    );
    let found = changes("property", &wanted("ComputeCapability >= 8.0"), &slots);
    assert_eq!(found, [("RequireGPUs ComputeCapability >= 8.0 -> Capability >= 8.0".to_owned(), 1)]);
    let clash =
        "Capability >= GPUsMinCapability && DeviceName != \"K80\" && Capability <= 7.0\nGPUsMinCapability = 8.5";
    // That parts contradict each other is said also where there are no GPUs.
    for slots in [&slots[..], &slots[2..]] {
        let line = first_line("clash", &wanted(clash), slots);
        let parts = "`Capability >= GPUsMinCapability` and `Capability <= 7.0` together (GPUsMinCapability is 8.5)";
        assert!(line.ends_with(&format!("no GPU can meet {parts}")), "{line}");
    }
    let line = first_line("device", &wanted("DeviceName == \"H100\""), &slots);
    assert!(line.contains("no slot has a GPU with DeviceName == \"H100\" (RequireGPUs)"), "{line}");
    // The GPU of a full slot has the name that is meant: the change is to it, and no free GPU is taken for it.
    let full = "Requirements = true\nPartitionableSlot = true\nMachineResources = \"Cpus GPUs\"\nGPUs = 0\nTotalSlotGPUs = 1\nAssignedGPUs = \"b\"\n\
                AvailableGPUs = {}\nGPUs_b = [ Capability = 7.0; DeviceName = \"H100-SXM\" ]";
    let with_full: Vec<&str> = slots.iter().copied().chain([full]).collect();
    let line = first_line("device-in-use", &wanted("DeviceName == \"H100\""), &with_full);
    assert!(
        line.contains("no slot has a GPU with DeviceName == \"H100\" (RequireGPUs); the most similar of 3 values is \"H100-SXM\" (1)"),
        "{line}"
    );
    let line = first_line("device-of-full", &wanted("DeviceName == \"H100-SXM\""), &with_full);
    assert!(line.contains("no slot has a free GPU with DeviceName == \"H100-SXM\""), "{line}");
    // Two slots have one GPU each: none has two.
    let two = wanted("Capability >= 7.0").replace("RequestGPUs = 1", "RequestGPUs = 2");
    let line = first_line("gpu-count", &two, &slots);
    assert!(
        line.ends_with("2 AvailableGPUs that meet RequireGPUs (RequestGPUs); the largest is 1")
            && !line.contains("defines"),
        "{line}"
    );
    let line = first_line("none", &wanted("Capability >= 7.0"), &slots[2..]);
    assert!(line.ends_with("no slot has a free GPU"), "{line}");
    assert!(
        !changes("never", &wanted("Capability >= 7.0"), &slots[2..]).iter().any(|(change, _)| change.contains("GPUs"))
    );
}

#[test]
fn one_attribute_is_changed_before_two_and_sizes_come_with_their_slots() {
    let slot =
        |memory: u32, more: &str| format!("Memory = {memory}\nRequirements = TARGET.RequestMemory <= MY.Memory{more}");
    let with_gpu = " && TARGET.RequestGPUs >= 1";
    let slots = [slot(100_000, with_gpu), slot(24_576, ""), slot(4096, ""), slot(4096, ""), slot(8192, "")];
    let slots = slots.each_ref().map(String::as_str);
    let found = changes_of("far_less", "sizes", "RequestMemory = 60000\nRequirements = true", &slots);
    let steps: Vec<(&str, u64)> = found.iter().map(|(change, slots)| (change.as_str(), *slots)).collect();
    assert_eq!(steps, [("RequestMemory 60000 -> 24576", 1), ("RequestMemory 60000 -> 8192", 2)]);
    assert_eq!(changes("sizes-joint", "RequestMemory = 60000\nRequirements = true", &slots), []);
}

#[test]
fn a_little_less_comes_with_its_slots_too() {
    let limits = ["TARGET.RequestDisk <= MY.Disk", "TARGET.RequestDisk - (TARGET.CatalogSize ?: 0) <= MY.Disk"];
    for (number, limit) in limits.into_iter().enumerate() {
        let slots = [5000, 4000, 4000].map(|disk| format!("Disk = {disk}\nRequirements = {limit}"));
        let found = changes(
            &format!("disk-{number}"),
            "Requirements = true\nRequestDisk = 6000",
            &slots.each_ref().map(String::as_str),
        );
        let steps: Vec<(&str, u64)> = found.iter().map(|(change, slots)| (change.as_str(), *slots)).collect();
        assert_eq!(steps, [("RequestDisk 6000 -> 5000", 1), ("RequestDisk 6000 -> 4000", 3)], "{limit}");
    }
}

#[test]
fn no_job_is_advised_to_ask_for_nothing() {
    let job = "RequestCpus = 2\nRequirements = TARGET.Cpus >= RequestCpus";
    assert_eq!(changes("no-cpus", job, &["Cpus = 0\nRequirements = true"]), []);
    let found = changes("a-cpu", job, &["Cpus = 0\nRequirements = true", "Cpus = 1\nRequirements = true"]);
    assert!(found.iter().all(|(change, _)| !change.ends_with("-> 0")), "{found:?}");
    let less =
        changes_of("far_less", "a-cpu", job, &["Cpus = 0\nRequirements = true", "Cpus = 1\nRequirements = true"]);
    assert!(found.iter().chain(&less).any(|(change, slots)| change == "RequestCpus 2 -> 1" && *slots == 1), "{less:?}");
}

#[test]
fn a_wish_of_slots_alone_is_met_by_a_change_of_the_job() {
    let slot = "Requirements = isUndefined(TARGET.ProjectName) != true && (TARGET.Sites is undefined || TARGET.Sites == \"a\")";
    let found = changes("project-change", "Requirements = true", &[slot]);
    assert_eq!(found[0], ("set ProjectName to the name of your project".to_owned(), 1));
    let found = changes("sites", "Requirements = true\nProjectName = \"p\"\nSites = \"b\"", &[slot]);
    assert!(found.iter().any(|(change, slots)| change == "Sites \"b\" -> \"a\"" && *slots == 1), "{found:?}");
    let listed = "Site = \"a\"\nRequirements = TARGET.DESIRED_Sites is undefined || stringListMember(Site, \
                  TARGET.DESIRED_Sites)";
    // Only its author knows whether the job may run elsewhere.
    let job = "Requirements = true\nDESIRED_Sites = \"x\"";
    assert_eq!(changes("desired-sites", job, &[listed]), []);
    let found = changes_of("choices", "desired-sites", job, &[listed]);
    assert_eq!(found, [("delete DESIRED_Sites".to_owned(), 1)]);
    // Who submitted the job, and from where, is not a matter of choice.
    let fixed = "Requirements = TARGET.FileSystemDomain == \"other\" && TARGET.Owner == \"bob\"";
    assert_eq!(changes("fixed", "Requirements = true\nFileSystemDomain = \"here\"", &[fixed]), []);
}

#[test]
fn names_without_quotation_marks_are_quoted() {
    let slots = ["OpSysAndVer = \"CentOS9\"\nRequirements = true", "OpSysAndVer = \"RHEL9\"\nRequirements = true"];
    for (name, word) in [("bare", "CentOS9"), ("single", "'CentOS9'")] {
        let job = format!("Requirements = TARGET.OpSysAndVer == {word}");
        let line = first_line(name, &job, &slots);
        assert!(line.contains("CentOS9"), "{line}");
        assert!(
            line.contains("is an attribute, but OpSysAndVer is a string")
                || line.contains("is an attribute, not a string"),
            "{line}"
        );
        let found = changes(name, &job, &slots);
        assert!(found[0].0.ends_with("-> `TARGET.OpSysAndVer == \"CentOS9\"`") && found[0].1 == 1, "{found:?}");
    }
}

/// The mistakes that `check` knows are told here, too, with their corrections, if these help.
#[test]
fn mistakes_that_the_linter_knows_are_corrected() {
    let slots = ["HasSingularity = true\nOpSys = \"Alma9\"\nMemory = 4096\nRequirements = true"; 2];
    for (name, wrong, right) in [
        ("boolean", "TARGET.HasSingularity == \"true\"", "TARGET.HasSingularity == true"),
        ("undefined", "TARGET.LastRemoteHost == undefined", "TARGET.LastRemoteHost =?= undefined"),
        ("number", "TARGET.Memory >= \"4000\"", "TARGET.Memory >= 4000"),
        ("operand", "TARGET.OpSys == \"RH9\" || \"Alma9\"", "TARGET.OpSys == \"RH9\" || TARGET.OpSys == \"Alma9\""),
    ] {
        let job = format!("Requirements = {wrong}");
        let line = first_line(&format!("slip-{name}"), &job, &slots);
        let ends = [format!("`{right}` would be true for 2 slots"), format!("write `{right}`")];
        assert!(ends.iter().any(|end| line.ends_with(end)), "{name}: {line}");
        let found = changes(&format!("slip-change-{name}"), &job, &slots);
        assert_eq!(found[0], (format!("`{wrong}` -> `{right}`"), 2), "{name}: {found:?}");
    }
    // A correction that does not help either is not told.
    let line = first_line("slip-vain", "Requirements = TARGET.Memory >= \"9000\"", &slots);
    assert!(!line.contains("would be true"), "{line}");
}

#[test]
fn what_the_job_lacks_is_not_laid_on_the_slots() {
    let line = first_line("lacks", "Requirements = TARGET.Disk >= RequestDisk", &["Disk = 5\nRequirements = true"]);
    assert!(line.contains("reads RequestDisk, which its own ad does not have"), "{line}");
    let job = "RequestMemory = 10\nRequirements = TARGET.Memory >= RequestMemry";
    let line = first_line("lacks-misspelt", job, &["Memory = 5\nRequirements = true"]);
    assert!(line.contains("did you mean RequestMemory?"), "{line}");
}

#[test]
fn what_most_have_is_what_more_than_half_have() {
    let slots = ["a", "b", "c", "d", "d"].map(|host| format!("Machine = \"{host}.pool\"\nRequirements = true"));
    let slots = slots.each_ref().map(String::as_str);
    let line = first_line("most", "Requirements = TARGET.Machine == \"red-c5236\"", &slots);
    assert!(!line.contains("most have"), "{line}");
    let found = changes("host", "Requirements = TARGET.Machine == \"c\"", &slots);
    assert_eq!(found[0], ("`TARGET.Machine == \"c\"` -> `TARGET.Machine == \"c.pool\"`".to_owned(), 1));
    // Of versions, the one that most slots have comes first; another machine is not a substitute.
    let slots = ["v7", "v9", "v9"].map(|version| format!("Toolkit = \"{version}\"\nRequirements = true"));
    let slots = slots.each_ref().map(String::as_str);
    let found = changes("version", "Requirements = TARGET.Toolkit == \"v8\"", &slots);
    assert_eq!(found[0], ("`TARGET.Toolkit == \"v8\"` -> `TARGET.Toolkit == \"v9\"`".to_owned(), 2));
    // Another version of the system is for the author to choose.
    let slots = ["RHEL7", "RHEL9"].map(|system| format!("OpSysAndVer = \"{system}\"\nRequirements = true"));
    let found =
        changes("system", "Requirements = TARGET.OpSysAndVer == \"RHEL8\"", &slots.each_ref().map(String::as_str));
    assert_eq!(found, []);
}

/// Half of the slots have another system: RHEL 9 is not what most have.
#[test]
fn of_versions_the_nearest_is_that_of_most_slots() {
    let systems = ["RHEL 7", "RHEL 9", "RHEL 9", "Debian 12", "Debian 12", "Debian 12"];
    let slots = systems.map(|system| format!("OpSysAndVer = \"{system}\"\nRequirements = true"));
    let slots = slots.each_ref().map(String::as_str);
    let line = first_line("nearest", "Requirements = TARGET.OpSysAndVer == \"RHEL 8\"", &slots);
    assert!(line.ends_with("no slot has OpSysAndVer == \"RHEL 8\"; the most similar is \"RHEL 9\""), "{line}");
}

#[test]
fn a_standard_attribute_is_no_misspelling_of_another() {
    let slot = "Requirements = TARGET.RequestGPUs >= 1";
    let line = first_line_in_reverse("gpus-cpus", "Requirements = true\nRequestCpus = 1", slot);
    assert_eq!(line, "slot0@host matches none of 1 job: no job defines RequestGPUs");
    let line = first_line_in_reverse(
        "misspelt",
        "Requirements = true\nRequestGPUs = 1",
        "Requirements = TARGET.RequestGPU >= 1",
    );
    assert!(line.ends_with("no job defines RequestGPU (did you mean RequestGPUs? 1 job has it)"), "{line}");
}

#[test]
fn the_branch_that_a_slot_took_is_told_with_its_values() {
    let slot =
        "Cpus = 1\nRequirements = ifthenelse(TARGET.RequestCpus =!= undefined, Cpus =?= TARGET.RequestCpus, false)";
    let line = first_line("branch", "Requirements = true\nRequestCpus = 4", &[slot]);
    assert_eq!(
        line,
        "1.0 matches none of 1 slot: 1 slot would do, but it refuses: `Cpus =?= TARGET.RequestCpus` is false (Cpus is 1, \
         RequestCpus is 4)"
    );
}

#[test]
fn a_slot_that_takes_nothing_says_so_plainly() {
    let line = first_line("nothing", "Requirements = true", &["Requirements = false"]);
    assert_eq!(line, "1.0 matches none of 1 slot: 1 slot would do, but it refuses: its constraint is `false`");
    let line = first_line_in_reverse("nothing-reverse", "Requirements = true", "Requirements = false");
    assert_eq!(line, "slot0@host matches none of 1 job: its constraint is `false`");
    let line = first_line_in_reverse("itself", "Requirements = true", "Cpus = 1\nRequirements = MY.Cpus > 3");
    assert_eq!(line, "slot0@host matches none of 1 job: `MY.Cpus > 3` is false (Cpus is 1), whatever the job has");
}

#[test]
fn json_counts_the_refusals_of_suitable_slots_as_the_text_does() {
    let slots = ["Arch = \"a\"\nRequirements = TARGET.Go", "Arch = \"b\"\nRequirements = TARGET.Go"];
    let (text, _) = explained("suitable", "Requirements = TARGET.Arch == \"a\"", &slots, &["-o", "json"]);
    let document: Json = serde_json::from_str(&text).unwrap();
    let refusal = &document["reports"][0]["refusals"][0];
    assert_eq!((refusal["offers"].as_u64(), refusal["suitable"].as_u64()), (Some(2), Some(1)));
}

#[test]
fn too_few_gpus_are_told_by_their_number() {
    let slot = "Requirements = true\nGPUs = 2\nAvailableGPUs = { GPUs_a, GPUs_b }\nGPUs_a = [ Capability = 8.6 ]\n\
                GPUs_b = [ Capability = 8.0 ]";
    let job = "RequestGPUs = 3\nRequireGPUs = Capability >= 8.0\nRequirements = countMatches(MY.RequireGPUs, \
               TARGET.AvailableGPUs) >= RequestGPUs";
    let line = first_line("too-few", job, &[slot]);
    assert!(
        line.contains("3 AvailableGPUs that meet RequireGPUs (RequestGPUs); the largest is 2")
            && !line.contains("defines"),
        "{line}"
    );
    let found = changes("too-few-change", job, &[slot]);
    assert_eq!(found[0], ("RequestGPUs 3 -> 2".to_owned(), 1));
}

#[test]
fn ads_of_daemons_are_no_slots() {
    let pool = format!(
        "{SLOT}Name = \"slot1@host\"\nRequirements = true\n\nMyType = \"DaemonMaster\"\nName = \"host\"\n\
         Requirements = true\n"
    );
    let pool = file("fault-daemons", pool);
    let job = format!("{JOB}Requirements = true\n");
    let told = |options: &[&str]| {
        let output = run(&[&["explain", "--pool", &pool], options].concat(), job.as_bytes());
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned())
    };
    let [text, note] = told(&[]);
    assert_eq!(text.lines().next(), Some("1.0 matches 1 of 1 slot, which is free"));
    assert!(note.starts_with("note: 1 of 2 offers left out: 1 of daemons"), "{note}");
    assert!(told(&["--all-states"])[0].contains("matches 2 of 2 "));
}

/// Returns a job and a slot that do not match. `kind` is the line with the type of the slot.
fn ads_without_gpus(kind: &str) -> [String; 2] {
    let slot = "Name = \"slot1\"\nMemory = 4000\nCpus = 4\nGPUs = 0\nRequirements = START\n\
                START = TARGET.WantGPUs == true && TARGET.RequestGPUs > 1 + 0 * Cpus && GPUs > 0\n";
    let job = "WantGPU = true\nRequestMemory = 1000\nRequestGPUs = 1\n\
               Requirements = TARGET.Memory >= RequestMemory && TARGET.GPUs >= RequestGPUs\n";
    [format!("{JOB}{job}"), format!("{kind}{slot}")]
}

#[test]
fn no_change_has_another_change_as_a_part() {
    let [job, slot] = ads_without_gpus("");
    let pool = file("fault-parts", slot);
    let text = run(&["explain", "--pool", &pool, "--reverse", "-o", "json"], job.as_bytes()).stdout;
    let document: Json = serde_json::from_slice(&text).unwrap();
    let steps = |change: &Json| change["steps"].as_array().unwrap().iter().map(Json::to_string).collect::<Vec<_>>();
    let report = &document["reports"][0];
    let changes = ["changes", "choices"].into_iter().flat_map(|key| report[key].as_array().unwrap());
    let changes: Vec<Vec<String>> = changes.map(steps).collect();
    assert!(changes.len() > 1, "{document}");
    for (small, large) in changes.iter().flat_map(|one| changes.iter().map(move |other| (one, other))) {
        let is_part = small.len() < large.len() && small.iter().all(|edit| large.contains(edit));
        assert!(!is_part, "{small:?} is enough, and so is {large:?}");
    }
}

#[test]
fn advice_is_the_same_for_ads_read_in_part() {
    let [job, slot] = ads_without_gpus("MyType = \"Machine\"\n");
    let (pool, jobs) = (file("fault-kind", slot), file("fault-kind-job", &job));
    let whole = run(&["explain", "--pool", &pool, "--reverse"], job.as_bytes()).stdout;
    let in_part = run(&["explain", &jobs, "--pool", &pool, "--reverse"], b"").stdout;
    assert_eq!(String::from_utf8_lossy(&whole), String::from_utf8_lossy(&in_part));
    assert!(!String::from_utf8_lossy(&whole).contains("GPUs 0 ->"));
}

#[test]
fn requests_and_jobs_have_their_articles() {
    let slot = "Cpus = 4\nRequirements = MY.Cpus > 5";
    let (text, _) = explained("article", "Requirements = true", &[slot], &["--reverse"]);
    let first = text.lines().next();
    assert_eq!(
        first,
        Some("slot0@host matches none of 1 job: `MY.Cpus > 5` is false (Cpus is 4), whatever the job has")
    );
}

#[test]
fn the_part_of_a_long_clause_that_decides_comes_with_its_values() {
    let slot = "CPUs = 4\nRequirements = ifThenElse(TARGET.RequestCPUs =!= undefined, CPUs =?= TARGET.RequestCPUs, \
                CPUs =?= 1)";
    let job = "RequestCpus = 1\nRequirements = true";
    assert_eq!(
        first_line("long", job, &[slot; 2]),
        "1.0 matches none of 2 slots: 2 slots would do, but all of them refuse: `CPUs =?= TARGET.RequestCPUs` is \
         false (CPUs is 4, RequestCPUs is 1)"
    );
    assert_eq!(changes("long-change", job, &[slot; 2]), [("RequestCpus 1 -> 4".to_owned(), 2)]);
}
