//! Configuration dumps, map files and routes on the command line.

use crate::binary::{classad, file};

/// The answers of HTCondor's library 25.14 with this map.
#[test]
fn user_map_answers_as_htcondors_does() {
    let other = file("users-other.map", "* zoe fromOther\n@include again.map\n");
    let text = "# groups\n* alice physics,Biology\n* \"bob smith\" chem\n* /^(.*)@CERN\\.ch$/i cern-\\1,x\\2\ngsi carol g1\n\
                * /u(x)?y/ [\\1]\n* \"a\\\"b\" \"q\\\"r \\1\"\n* zed  \" , a , b \"\n* alice second\n* /a\\/b/ slash\n\
                @include users-other.map\n";
    let map = format!("g={}", file("users.map", text));
    for (call, expected) in [
        (r#"userMap("g", "alice")"#, r#""physics,Biology""#),
        (r#"userMap("G", "alice", "biology")"#, r#""Biology""#),
        (r#"userMap("g", "bob smith")"#, r#""chem""#),
        (r#"userMap("g", "me@cern.ch")"#, r#""cern-me,x\\2""#),
        (r#"userMap("g", "carol")"#, "undefined"),
        (r#"userMap("g.GSI", "carol")"#, r#""g1""#),
        (r#"userMap("g", "uy")"#, r#""[\\1]""#),
        (r#"userMap("g", "a\"b")"#, r#""q\"r \\1""#),
        (r#"userMap("g", "zed")"#, r#"" , a , b ""#),
        (r#"userMap("g", "zed", "B")"#, r#""b""#),
        (r#"userMap("g", "zed", "q", "d")"#, r#""a""#),
        (r#"userMap("g", "xa/b")"#, r#""slash""#),
        (r#"userMap("g", "zoe")"#, r#""fromOther""#),
        (r#"userMap("g", undefined, 1, 2)"#, "2"),
        (r#"userMap("none", "alice", 1, 2)"#, "2"),
    ] {
        let (_, out, err) = classad(&["eval", "--dialect", "condor", "--map", &map, "-e", call]);
        assert_eq!(out.trim_end(), expected, "{call}: {err}");
        assert!(err.contains(&format!("{other}:2:10")) && err.contains("cannot include another file"), "{err}");
    }
    // The line that is wrong is told with its place, and is an error.
    let (status, out, err) = classad(&["eval", "--map", &format!("g={}", file("bad.map", "* a\n* b c\n")), "-e", "1"]);
    assert!(
        status == Some(2) && out == "1\n" && err.contains("bad.map:1:1") && err.contains("a result is missing"),
        "{err}"
    );
    for (option, expected) in
        [("g", "NAME=FILE"), ("a.b=x", "cannot contain a dot"), ("g=/nowhere", "cannot read /nowhere")]
    {
        let (status, _, err) = classad(&["eval", "--map", option, "-e", "1"]);
        assert!(status == Some(2) && err.contains(expected), "{err}");
    }
}

const DUMP: &str = "# Configuration from machine: x\nSTART = TARGET.RequestMemory <= $(MOST)\n # at: /etc/condor, line 3\n\
    MOST = 100\nSUSPEND = $(NO_SUCH)\nPREEMPT = (Owner ==\nSYSTEM_PERIODIC_HOLD = JobStatus == \"5\"\nRANK = 1\n\
    JOB_TRANSFORM_NAMES = A, B\nJOB_TRANSFORM_A @=end\n  REQUIREMENTS Owner == \"ann\"\n  SET Site \"$(SITE)\"\n@end\n\
    JOB_TRANSFORM_B = [ set_B = 1; eval_set_C = RequestMemory * 2; delete_X = true ]\nSITE = here\n";

const JOBS: &str = "ClusterId = 1\nProcId = 0\nOwner = \"ann\"\nJobStatus = 1\nRequestMemory = 50\nX = 1\n\n\
    ClusterId = 2\nProcId = 0\nOwner = \"bob\"\nJobStatus = 1\nRequestMemory = 500\n\n\
    ClusterId = 3\nProcId = 0\nOwner = \"ann\"\nJobStatus = 2\nRequestMemory = 50\n";

#[test]
fn policies_are_checked_where_they_live() {
    let dump = file("check-config.dump", DUMP);
    let (status, out, _) = classad(&["check", "--config", &dump, "-o", "json"]);
    assert_eq!(status, Some(2));
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    let found: Vec<String> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| {
            format!(
                "{} {}: {}",
                finding["line"],
                finding["rule"].as_str().unwrap(),
                finding["message"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            "5 syntax: SUSPEND: the variable NO_SUCH is not defined",
            "6 syntax: PREEMPT: expected an expression, found the end",
            "7 operand-type: SYSTEM_PERIODIC_HOLD: `==` of a number and a string is an error",
            "14 doubtful-setting: JOB_TRANSFORM_B has no effect: HTCondor 25.8 and later do not read rules in the form of old job routes",
        ]
    );
    assert_eq!(report["policies"], 5);
    // What a file cannot use is reported with its line.
    let (status, out, _) = classad(&["check", "--config", &file("no.dump", "use POLICY : X\nSTART = true\n")]);
    assert!(status == Some(2) && out.contains("no.dump:1:1") && out.contains("there is no POLICY:X to use"), "{out}");
}

#[test]
fn transforms_of_a_configuration_are_applied_in_order() {
    let (dump, jobs) = (file("transform-config.dump", DUMP), file("transform-config.long", JOBS));
    let (status, out, err) = classad(&["transform", "--config", &dump, &jobs]);
    assert_eq!(status, Some(0), "{err}");
    assert!(out.starts_with("ClusterId = 1\nProcId = 0\nOwner = \"ann\"\nJobStatus = 1\nRequestMemory = 50\nSite = \"here\"\nB = 1\nC = 100\n\n"), "{out}");
    let (_, out, _) = classad(&["transform", "--config", &dump, "-n", &jobs]);
    assert!(out.contains("A, ") && out.contains("transform-config.dump:12: SET"), "{out}");
    assert!(out.contains("transform-config.dump:14: EVALSET"), "{out}");
    let (status, out, _) = classad(&["transform", "--config", &dump, "--print-rules"]);
    let expected = "NAME A\nREQUIREMENTS Owner == \"ann\"\nSET Site \"$(SITE)\"\n\n\
                    NAME B\nDELETE X\nSET B 1\nEVALSET C RequestMemory * 2\n\n";
    assert_eq!((status, out.as_str()), (Some(0), expected));
    let (status, _, err) = classad(&["transform", "--config", &dump, "--route", "x", &jobs]);
    assert!(status == Some(2) && err.contains("has no route x"), "{err}");
}

#[test]
fn routes_take_jobs_in_order_or_in_turn() {
    let routes = "JOB_ROUTER_ROUTE_NAMES = One Two Three\nJOB_ROUTER_ROUTE_One @=end\nREQUIREMENTS Owner == \"ann\"\nUNIVERSE VANILLA\n\
        SET One true\n@end\nJOB_ROUTER_ENTRIES = [ Name = \"Two\"; TargetUniverse = 5; Requirements = TARGET.RequestMemory < 100; MaxJobs = 5 ]\n\
        JOB_ROUTER_ROUTE_Three @=end\nREQUIREMENTS Owner == \"zoe\"\nUNIVERSE VANILLA\n@end\nJOB_ROUTER_ROUTE_Off @=end\nREQUIREMENTS true\n@end\n";
    let (dump, jobs) = (
        file("routes.dump", routes),
        file(
            "routes.long",
            format!("{JOBS}\nClusterId = 4\nProcId = 0\nOwner = \"ann\"\nJobStatus = 1\nRequestMemory = 5\n"),
        ),
    );
    let (status, out, err) = classad(&["route", &jobs, "--config", &dump]);
    assert_eq!(status, Some(1), "{err}");
    let expected = "job\troute\talso\twhy none\n1.0\tOne\tTwo\t\n\
        2.0\t\t\tOne: `Owner == \"ann\"` is false; Two: `RequestMemory < 100` is false; Three: `Owner == \"zoe\"` is false\n\
        3.0\t\t\tthe job is not idle (JobStatus is not 1)\n4.0\tOne\tTwo\t\n\n\
        route\ttakes\tmatches\tMaxJobs\tMaxIdleJobs\twhy none\nOne\t2\t2\t\t\t\nTwo\t0\t2\t5\t\tit comes after One\n\
        Three\t0\t0\t\t\tit matches no job that can be routed\n\nnot in JOB_ROUTER_ROUTE_NAMES: Off\n";
    assert_eq!(out, expected);
    assert!(err.contains("does not read routes that are written as ads: Two"), "{err}");
    let (_, out, _) = classad(&[
        "route",
        &jobs,
        "--config",
        &file("turns.dump", format!("{routes}JOB_ROUTER_ROUND_ROBIN_SELECTION = true\n")),
        "-o",
        "json",
    ]);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    let taken: Vec<_> = report["jobs"].as_array().unwrap().iter().map(|job| job["route"].clone()).collect();
    assert_eq!(
        taken,
        [serde_json::json!("One"), serde_json::Value::Null, serde_json::Value::Null, serde_json::json!("Two")]
    );
    assert_eq!(report["schema"], "classad.route/1");
    assert_eq!(report["routes"][1]["max_jobs"], "5");
    // The running job is routed, too, if all states count.
    let (_, out, _) = classad(&["route", &jobs, "--config", &dump, "--all-states", "-o", "tsv"]);
    assert!(out.contains("3.0\tOne\tTwo\t\n"), "{out}");
    // Only the jobs that a route accepts are changed by it.
    let (_, out, _) = classad(&["transform", &jobs, "--config", &dump, "--route", "one", "-n", "-o", "json"]);
    assert_eq!(out.matches("\"id\"").count(), 3, "{out}");
    let (status, _, err) = classad(&["route", &jobs, "--config", &file("none.dump", "A = 1\n")]);
    assert!(status == Some(2) && err.contains("has no routes"), "{err}");
}

#[test]
fn explain_tells_what_policies_would_do() {
    let jobs = JOBS.replace("Owner", "Requirements = true\nOwner");
    let slots = "MyType = \"Machine\"\nName = \"s\"\nState = \"Unclaimed\"\nMemory = 1000\nStart = true\nRequirements = START\n";
    let (jobs, slots) = (file("explain-config.long", jobs), file("explain-config.slots", slots));
    let config = "START = TARGET.RequestMemory <= $(MOST)\nMOST = 100\nSUBMIT_REQUIREMENT_NAMES = Site Queue\n\
        SUBMIT_REQUIREMENT_Queue = MY.TotalJobs < 5\nSUBMIT_REQUIREMENT_Site = Owner != \"bob\"\nSUBMIT_REQUIREMENT_Site_REASON = \"not bob\"\nSYSTEM_PERIODIC_HOLD = JobStatus == 2\n";
    let dump = file("explain-config.dump", config);
    let arguments = ["explain", &jobs, "--pool", &slots, "--config", &dump];
    let (status, out, err) = classad(&[&arguments[..], &["--what-if-config"]].concat());
    assert_eq!(status, Some(1), "{err}");
    let heading = format!("if every slot had START of {dump}: no job gains a match; 1 job loses a match: 2.0\n");
    assert!(out.starts_with(&heading), "{out}");
    assert!(err.contains("not evaluated without the ad of the schedd: SUBMIT_REQUIREMENT_Queue"), "{err}");
    assert!(
        out.contains("SUBMIT_REQUIREMENT_Site refuses 1 job: 2.0 (not bob)\nSYSTEM_PERIODIC_HOLD holds 1 job: 3.0\n"),
        "{out}"
    );
    assert!(out.contains("`TARGET.RequestMemory <= 100` is false"), "{out}");
    let (_, out, _) = classad(&["explain", &jobs, "--pool", &slots, "--config", &dump, "-o", "json"]);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["totals"]["policies"][0]["effect"], "refuses");
    assert_eq!(report["totals"]["policies"][0]["line"], 5);
}

/// The schedd tries policies by the status of a job: a removed job is not held, and one that its user holds not released.
#[test]
fn policies_apply_to_jobs_by_their_status() {
    let of_job = |proc: u32, lines: &str| {
        format!("MyType = \"Job\"\nClusterId = 13\nProcId = {proc}\nRequirements = true\n{lines}\n\n")
    };
    let jobs = [
        "JobStatus = 3",
        "JobStatus = 2\nx509userproxysubject = \"p\"",
        "JobStatus = 2",
        "JobStatus = 5\nHoldReasonCode = 1\nNumJobStarts = 1",
        "JobStatus = 5\nHoldReasonCode = 26\nNumJobStarts = 1",
        "JobStatus = 1\nPeriodicHold = true\nPeriodicHoldReason = \"mine\"",
    ];
    let jobs: String = jobs.iter().zip(0..).map(|(lines, proc)| of_job(proc, lines)).collect();
    let slots =
        file("by-status.slots", "MyType = \"Machine\"\nName = \"s\"\nState = \"Unclaimed\"\nRequirements = true\n");
    let config = "SYSTEM_PERIODIC_HOLD = x509userproxysubject =?= undefined\nSYSTEM_PERIODIC_HOLD_REASON = \"proxy gone\"\n\
        SYSTEM_PERIODIC_HOLD_SUBCODE = 7\nSYSTEM_PERIODIC_RELEASE = NumJobStarts < 3\nSYSTEM_PERIODIC_VACATE = true\n";
    let (jobs, dump) = (file("by-status.jobs", jobs), file("by-status.dump", config));
    let (_, out, err) = classad(&["explain", &jobs, "--pool", &slots, "--config", &dump]);
    let expected = "SYSTEM_PERIODIC_HOLD holds 1 job: 13.2 (proxy gone, subcode 7)\nSYSTEM_PERIODIC_RELEASE releases 1 job: 13.4\n\
        PeriodicHold holds 1 job: 13.5 (mine)\n";
    assert!(out.contains(expected), "{out}{err}");
    assert!(err.contains("HTCondor does not evaluate SYSTEM_PERIODIC_VACATE"), "{err}");
    // Only a job that waits is counted as waiting although it is held.
    for (job, counts) in [("13.2", false), ("13.5", true)] {
        let (_, out, _) = classad(&["explain", &jobs, "--pool", &slots, "--config", &dump, "--request", job]);
        assert_eq!(out.contains("are counted as waiting"), counts, "{job}: {out}");
    }
    let (_, out, _) = classad(&["explain", &jobs, "--pool", &slots, "--config", &dump, "-o", "json"]);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    let policies = &report["totals"]["policies"];
    assert_eq!((&policies[0]["subcode"], &policies[2]["line"]), (&7.into(), &serde_json::Value::Null), "{policies}");
}

/// A part of a policy is shown where it stands, be it in the value of a macro, or else named.
#[test]
fn a_constant_part_of_a_policy_is_shown_where_it_stands() {
    let config = "CLAUSE_1 = (JobStatus == 5 && NumHolds > 3)\nCLAUSE_2 = False =!= True\n\
        SYSTEM_PERIODIC_REMOVE = $(CLAUSE_1) || $(CLAUSE_2)\nTWO = 2\nSYSTEM_PERIODIC_HOLD = NumHolds > 2 || 1 == $(TWO)\n\
        PREEMPT = x > 5 || $(TWO) == 2 || x <= 5\n";
    let dump = file("constant-part.dump", config);
    let (_, out, err) = classad(&["check", "--config", &dump, "-o", "json"]);
    let findings: serde_json::Value = serde_json::from_str(&out).unwrap();
    let shown: Vec<String> = findings["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| format!("{}: {}", finding["line"], finding["message"].as_str().unwrap()))
        .collect();
    assert_eq!(
        shown,
        [
            "2: SYSTEM_PERIODIC_REMOVE: `false =!= true` is always true: the `||` around it is never false",
            "5: SYSTEM_PERIODIC_HOLD: `1 == 2` is always false: it adds nothing",
            "6: PREEMPT: `2 == 2` is always true: the `||` around it is never false",
            "6: PREEMPT: one of these is true for every value of `x`",
        ],
        "{out}{err}"
    );
}

#[test]
fn cases_name_the_variables_of_a_configuration() {
    file("cases-config.dump", "START = TARGET.RequestMemory <= $(MOST)\nMOST = 100\nBAD = $(NO)\n");
    let case = |knob: &str| {
        format!(
            "config: cases-config.dump\ncases:\n  - name: a\n    knob: {knob}\n    target: {{ RequestMemory: 50 }}\n    expect: true\n"
        )
    };
    let (status, _, err) = classad(&["test", &file("cases-config.yaml", case("START"))]);
    assert_eq!(status, Some(0), "{err}");
    let (status, _, err) = classad(&["test", &file("cases-unknown.yaml", case("STRAT"))]);
    assert!(status == Some(2) && err.contains("has no value for STRAT; did you mean START?"), "{err}");
    let (status, _, err) = classad(&["test", &file("cases-bad.yaml", case("BAD"))]);
    assert!(status == Some(2) && err.contains("cases-config.dump:3:7: BAD: the variable NO is not defined"), "{err}");
    let (status, _, err) =
        classad(&["test", &file("cases-none.yaml", "cases:\n  - name: a\n    knob: START\n    expect: true\n")]);
    assert!(status == Some(2) && err.contains("this spec names no configuration"), "{err}");
}

/// The slots' own START counts, whatever the configuration of another machine says.
#[test]
fn a_configuration_leaves_the_slots_alone() {
    let jobs = JOBS.replace("Owner", "Requirements = true\nOwner");
    let slot = |name: &str, start: &str| {
        format!(
            "MyType = \"Machine\"\nName = \"{name}\"\nState = \"Unclaimed\"\nMemory = 1000\nStart = {start}\n\
             Rank = 7\nRequirements = START\n\n"
        )
    };
    let slots = slot("s", "TARGET.Owner == \"ann\"") + &slot("t", "false");
    let (jobs, slots) = (file("alone.long", jobs), file("alone.slots", slots));
    let dump = file("alone.dump", "START = True\nRANK = 1 +\n");
    let arguments = ["explain", &jobs, "--pool", &slots, "--config", &dump];
    // Nothing reads RANK, so that its value does no harm.
    for more in [&[][..], &["--unmatched"], &["--policy", "htcondor", "--unmatched"]] {
        let with = classad(&[&arguments[..], more].concat());
        let without = classad(&[&arguments[..4], more].concat());
        assert_eq!(with, without, "{more:?}");
        assert_eq!(with.0, Some(1));
    }
    let (_, _, err) = classad(&[&arguments[..], &["--what-if-config"]].concat());
    assert!(err.contains("RANK: expected an expression"), "{err}");
    let dump = file("alone.dump", "START = True\nRANK = 0\n");
    let (_, out, _) = classad(&[&arguments[..4], &["--config", &dump, "--what-if-config"]].concat());
    let heading = format!("if every slot had START and RANK of {dump}: 1 job gains a match: 2.0; no job loses one\n");
    assert!(out.starts_with(&heading), "{out}");
    let none = file("alone-none.dump", "A = 1\n");
    let (status, _, err) = classad(&[&arguments[..4], &["--config", &none, "--what-if-config"]].concat());
    assert!(status == Some(2) && err.contains("has neither START nor RANK"), "{err}");
    let (status, _, _) = classad(&[&arguments[..4], &["--what-if-config"]].concat());
    assert_eq!(status, Some(2));
}

/// A job is matched as the transforms leave it, and another command says that it applies none.
#[test]
fn explain_matches_what_transforms_leave() {
    let jobs = "MyType = \"Job\"\nClusterId = 1\nProcId = 0\nRequestMemory = 9000\n\
        Requirements = TARGET.Memory >= RequestMemory\n\nMyType = \"Job\"\nClusterId = 2\nProcId = 0\n\
        RequestMemory = 100\nRequirements = TARGET.Memory >= RequestMemory\n";
    let slots = "MyType = \"Machine\"\nName = \"s\"\nState = \"Unclaimed\"\nMemory = 8192\nStart = true\n\
        Requirements = START\n";
    let (jobs, slots) = (file("explain-transform.long", jobs), file("explain-transform.slots", slots));
    let config = "JOB_TRANSFORM_NAMES = Cap\nJOB_TRANSFORM_Cap @=end\nREQUIREMENTS RequestMemory > 8192\n\
        SET RequestMemory 8192\n@end\nSTART = TARGET.RequestMemory <= 8192\n";
    let dump = file("explain-transform.dump", config);
    let (status, out, err) = classad(&["explain", &jobs, "--pool", &slots, "--config", &dump]);
    assert_eq!(status, Some(0), "{out}{err}");
    assert!(out.contains("1 job gains a match: 1.0; no job loses one"), "{out}");
    assert!(out.contains("JOB_TRANSFORM_Cap changes 1 job: 1.0 (RequestMemory)"), "{out}");
    let (_, _, err) = classad(&["negotiate", &jobs, "--pool", &slots, "--policy", "htcondor", "--config", &dump]);
    let note = "note: this command does not apply JOB_TRANSFORM_NAMES of the configuration; `classad explain --config CONFIG` does";
    assert!(err.contains(note), "{err}");
}

/// MY and TARGET are different ads, and a name that is tested for being undefined may be missing.
#[test]
fn names_of_policies_are_checked_in_their_own_ads() {
    let machines = "samples/pool/machines.long";
    for (start, unknown) in [
        ("MY.Foo =?= undefined || isUndefined(MY.Bar)", 0),
        ("TARGET.Foo > 1 && MY.Foo > 1", 1),
        ("MY.Foo > 1 && MY.Foo < 5 && MY.Memory > 1", 1),
        ("MY.Memroy =!= 5", 1),
    ] {
        let dump = file("policy-names.dump", format!("START = {start}\n"));
        let arguments = ["check", "--config", &dump, "--pool", machines, "--only", "unknown-attribute", "-o", "json"];
        let (_, out, errors) = classad(&arguments);
        let report: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{errors}"));
        assert_eq!(report["findings"].as_array().map(Vec::len), Some(unknown), "{start}: {out}");
    }
}

#[test]
fn a_compressed_configuration_is_one_and_binary_data_is_none() {
    let cycle = "tests/pool/cycles/Y1";
    let plain = std::fs::read(format!("{cycle}/config.dump")).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, &plain).unwrap();
    let packed = file("config.dump.gz", encoder.finish().unwrap());
    let binary = file("config.bin", b"\x7fELF\x02\x01\x01\x03\x04\xff");
    let run = |config: &str| {
        let [jobs, slots] = ["jobs", "slots"].map(|name| format!("{cycle}/{name}.long.gz"));
        let accounts = format!("{cycle}/userprio.long");
        let inputs = ["negotiate", &jobs, "--pool", &slots, "--userprio", &accounts, "--config", config];
        classad(&[&inputs[..], &["--policy", "htcondor", "--now", "1795815820", "-o", "csv"]].concat())
    };
    let expected = run(&format!("{cycle}/config.dump"));
    assert!(expected.0 == Some(0) && expected.1.lines().count() > 5, "{expected:?}");
    assert_eq!(run(&packed).1, expected.1);
    let (status, out, errors) = run(&binary);
    assert_eq!((status, out.as_str()), (Some(2), ""));
    assert!(errors.lines().next().is_some_and(|line| line.contains("it is binary data, not text")), "{errors}");
}
