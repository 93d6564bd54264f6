//! Attributes that HTCondor's tools do not print: read, and printed only if they are named.

use super::binary::{classad, file};

/// Two jobs with private attributes, and with others whose names resemble them.
const LOG: &str = "101 0.0 Job Machine\n101 01.-1 Job Machine\n103 01.-1 Owner \"alice\"\n103 01.-1 ClaimIds \"s3cr3t-1\"\n\
                   101 1.-2 ClusterPvt (empty)\n103 1.-2 _condor_privX \"s3cr3t-2\"\n101 1.-100 JobSet (unknown)\n\
                   101 1.0 Job Machine\n103 1.0 ProcId 0\n103 1.0 ClusterId 1\n103 1.0 Requirements true\n103 1.0 claimid \"s3cr3t-3\"\n\
                   103 1.0 ClaimIdOf \"open\"\n101 1.1 Job Machine\n103 1.1 ProcId 1\n103 1.1 ClusterId 1\n103 1.1 Requirements true\n\
                   103 1.1 _CONDOR_PRIV \"s3cr3t-4\"\n103 1.1 n [ TransferKey = \"nested\"; ]\n";

/// The jobs in the other forms.
fn files() -> Vec<String> {
    let ads = "ClusterId = 1\nProcId = 0\nClaimId = \"s3cr3t-3\"\nClaimIdOf = \"open\"\nRequirements = true\n\n\
               Capability = \"s3cr3t-5\"\nClusterId = 1\nProcId = 1\nn = [ TransferKey = \"nested\" ]\nRequirements = true\n\n\
               _condor_privX = \"s3cr3t-2\"\nClusterId = 1\nProcId = 2\nChildClaimIds = { \"s3cr3t-6\" }\nRequirements = true\n\n\
               TransferKey = \"s3cr3t-7\"\nRequirements = true\n";
    let json = "{\"ClusterId\": 1, \"ClaimIdList\": \"s3cr3t-8\", \"ClaimIdOf\": \"open\", \"Requirements\": true}\n{\"ClaimId\": \"s3cr3t-3\", \"Requirements\": true}\n";
    vec![file("private-job_queue.log", LOG), file("private.long", ads), file("private.jsonl", json)]
}

#[test]
fn ads_of_all_forms_are_printed_without_private_attributes() {
    let rules = file("private.rules", "SET Owner \"bob\"\nSET TransferKey \"s3cr3t-9\"\nCOPY ClaimIdOf ClaimIds\n");
    let into = file("private-part-{}", "");
    for input in &files() {
        for form in ["long", "new", "json", "jsonl", "xml", "yaml"] {
            for command in [
                &["query", "true", input, "-o", form][..],
                &["query", "true", input, "-o", form, "--sort", "ProcId"],
                &["parse", input, "-o", form],
                &["convert", input, "--to", form],
                &["sample", "-n", "9", input, "-o", form],
                &["collect", input, "-o", form],
                &["transform", "--rules", &rules, input, "-o", form],
            ] {
                let (status, printed, told) = classad(command);
                assert_eq!(status, Some(0), "{command:?}: {told}");
                assert!(!printed.contains("s3cr3t") && printed.contains("open"), "{command:?}: {printed}");
            }
        }
        for command in [
            &["query", "true", input, "-o", "csv"][..],
            &["query", "true", input, "--partial"],
            &["census", input],
            &["parse", "--ast", input],
            &["census", input, "--partial"],
            &["diff", input, "samples/pool/jobs.long"],
        ] {
            let (_, printed, told) = classad(command);
            assert!(!printed.contains("s3cr3t") && !printed.is_empty(), "{command:?}: {printed}{told}");
        }
        let (status, names, _) = classad(&["split", "--ads", "99", "--into", &into, input]);
        assert_eq!(status, Some(0));
        let written = std::fs::read_to_string(names.trim()).expect("it is there");
        assert!(!written.contains("s3cr3t") && written.contains("open"), "{written}");
        std::fs::remove_file(names.trim()).expect("it can be removed");
    }
}

#[test]
fn private_attributes_are_printed_if_they_are_named() {
    let files = files();
    let query = |options: &[&str]| classad(&[&["query"], options].concat()).1;
    assert_eq!(query(&["ProcId == 0", &files[0], "--af", "ClaimId,ClaimIds"]), "s3cr3t-3\ts3cr3t-1\n");
    assert_eq!(query(&["ClaimId == \"s3cr3t-3\"", &files[1], "--count"]), "1\n");
    assert_eq!(query(&["ProcId == 0", &files[1], "--attributes", "claimid"]), "ClaimId = \"s3cr3t-3\"\n\n");
    assert!(query(&["true", &files[0], "-o", "new"]).contains("n = [ TransferKey = \"nested\" ]"));
    let census = classad(&["census", &files[1], "--attr", "ClaimId"]).1;
    assert!(census.contains("s3cr3t-3"), "{census}");
    let [before, after] = [1, 2].map(|number| {
        file(
            &format!("private-{number}.long"),
            format!("Name = \"a\"\nCpus = {number}\nClaimId = \"s3cr3t-{number}\"\n"),
        )
    });
    let changes = classad(&["diff", &before, &after, "--only", "Claim*"]).1;
    assert!(changes.contains("s3cr3t-2"), "{changes}");
    let changes = classad(&["diff", &before, &after]).1;
    assert!(changes.contains("Cpus") && !changes.contains("s3cr3t"), "{changes}");
}

#[test]
fn a_private_attribute_that_differs_is_a_change_without_its_values() {
    let path = |name: &str, secret: &str| file(name, format!("Name = \"a\"\nMyType = \"Machine\"\n{secret}Cpus = 1\n"));
    let before = path("private-before.long", "ClaimId = \"s3cr3t-1\"\n");
    let after = path("private-after.long", "ClaimId = \"s3cr3t-2\"\n");
    let open = path("private-open.long", "");
    let changed = "note: 1 ad changed, 0 added, 0 removed, 0 equal\n";
    for (files, form, printed) in [
        ([&before, &after], &[][..], "~ a\n  ~ ClaimId (private)\n"),
        ([&before, &open], &[], "~ a\n  - ClaimId (private)\n"),
        ([&open, &after], &[], "~ a\n  + ClaimId (private)\n"),
        ([&before, &after], &["-o", "tsv", "--no-header"], "a\tchanged\tClaimId\t(private)\t(private)\n"),
    ] {
        let found = classad(&[&["diff", files[0], files[1]], form].concat());
        assert_eq!(found, (Some(1), printed.to_owned(), changed.to_owned()));
    }
    let json = classad(&["diff", &before, &after, "-o", "json"]).1;
    assert!(json.contains(r#""attributes":[{"name":"ClaimId","before":null,"after":null}]"#), "{json}");
    assert_eq!(classad(&["diff", "-q", &before, &after]).0, Some(1));
    assert_eq!(classad(&["diff", &before, &after, "--ignore", "ClaimId"]).0, Some(0));
}

#[test]
fn a_file_that_is_rewritten_keeps_its_private_attributes() {
    let path = file("private-rewritten.long", "Owner = \"a\"\nClaimId = \"s3cr3t\"\n\nOwner = \"b\"\nCapability = 1\n");
    let rules = file("private-rewritten.rules", "SET Owner \"bob\"\n");
    assert_eq!(classad(&["transform", "--rules", &rules, "-w", &path]).0, Some(0));
    let rewritten = std::fs::read_to_string(&path).expect("it is there");
    assert_eq!(rewritten, "Owner = \"bob\"\nClaimId = \"s3cr3t\"\n\nOwner = \"bob\"\nCapability = 1\n\n");
}

#[test]
fn tickets_of_the_papers_are_no_secrets() {
    let path = file("private.ad", "[ Name = \"m\"; ClaimId = \"ticket\" ]");
    assert!(classad(&["query", "true", &path]).1.contains("ticket"));
    assert!(!classad(&["query", "true", &path, "--dialect", "condor"]).1.contains("ticket"));
}

#[test]
fn a_job_queue_log_has_no_ads_but_jobs() {
    let log = &files()[0];
    assert_eq!(classad(&["query", "true", log, "--count"]).1, "2\n");
    assert_eq!(classad(&["query", "true", log, "--group-by", "Owner"]).1, "Owner\tads\nalice\t2\n");
}

/// A machine and a job of HTCondor in brackets, whose requirements read private attributes.
const MACHINE: &str = "[ MyType = \"Machine\"; Name = \"m\"; Cpus = 1; ClaimId = \"s3cr3t-1\"; ClaimIdList = \"s3cr3t-2\"; \
                       Requirements = TARGET.ClaimId == MY.ClaimId; Rank = 0 ]";
const JOB: &str = "[ MyType = \"Job\"; ClusterId = 1; ProcId = 0; ClaimId = \"s3cr3t-3\"; _condor_privKey = \"s3cr3t-4\"; \
                   Capability = \"s3cr3t-5\"; Requirements = TARGET.ClaimId == MY.ClaimId && TARGET.Cpus > 0; Rank = 0 ]";

#[test]
fn ads_of_htcondors_types_hide_secrets_in_any_dialect() {
    let yaml = "MyType: Machine\nName: m\nClaimId: s3cr3t-1\nTransferKey: s3cr3t-2\nRequirements: true\n";
    let files = [file("typed.ad", MACHINE), file("typed-job.ad", JOB), file("typed.yaml", yaml)];
    let renamed = file("typed-renamed.ad", MACHINE.replace("s3cr3t-1", "s3cr3t-6"));
    for input in &files {
        for dialect in ["classad", "condor"] {
            for form in ["long", "new", "json", "jsonl", "xml", "yaml"] {
                for command in [
                    &["query", "true", input, "-o", form][..],
                    &["parse", input, "-o", form],
                    &["convert", input, "--to", form],
                    &["sample", "-n", "9", input, "-o", form],
                    &["collect", input, "-o", form],
                    &["specialize", input, "-o", form],
                ] {
                    let (_, printed, told) = classad(&[command, &["--dialect", dialect]].concat());
                    assert!(!printed.contains("s3cr3t") && printed.contains("MyType"), "{command:?}: {printed}{told}");
                }
            }
            for command in [&["diff", input, &renamed][..], &["census", input], &["parse", "--ast", input]] {
                let (_, printed, told) = classad(&[command, &["--dialect", dialect]].concat());
                assert!(!printed.contains("s3cr3t") && !printed.is_empty(), "{command:?}: {printed}{told}");
            }
        }
    }
    assert!(classad(&["query", "true", &files[0], "--af", "ClaimId"]).1.contains("s3cr3t-1"));
    assert!(classad(&["specialize", "--attr", "ClaimId", &files[0]]).1.contains("s3cr3t-1"));
}

#[test]
fn explain_and_specialize_name_a_secret_without_its_value() {
    let machine = file("explained-machine.ad", MACHINE);
    let job = file("explained-job.ad", JOB);
    for dialect in ["classad", "condor"] {
        let residue = &["specialize", "--attr", "Requirements", &job, "--target", &machine, "--dialect", dialect];
        let (_, printed, told) = classad(residue);
        assert!(printed.contains("ClaimId") && !printed.contains("s3cr3t"), "{printed}{told}");
        for form in [&[][..], &["-o", "json"], &["--all"]] {
            for ad in [
                JOB.to_owned(),
                JOB.replace("TARGET.ClaimId == MY.ClaimId && ", ""),
                JOB.replace("== MY.ClaimId", "is 7"),
            ] {
                let job = file("explained-other.ad", ad);
                let asks = MACHINE.replace("TARGET.ClaimId ==", "TARGET.Key ==");
                let machine = file("explained-asks.ad", [MACHINE, &asks].join("\n"));
                let command = [&["explain", "--pool", &machine, &job, "--dialect", dialect], form].concat();
                let (_, printed, told) = classad(&command);
                assert!(!printed.contains("s3cr3t") && !told.contains("s3cr3t"), "{command:?}: {printed}{told}");
            }
        }
    }
}
