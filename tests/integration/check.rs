//! `check`: its outputs, its exit status, and where it points in each form.

use std::process::Output;

use serde_json::Value;

use super::binary::{self, classad, file};

fn run(arguments: &[&str], input: &str) -> Output {
    binary::run(&[&["check"], arguments].concat(), input.as_bytes())
}

fn json(arguments: &[&str], input: &str) -> Value {
    let output = run(&[&["-o", "json"], arguments].concat(), input);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Each finding as `rule line:column-line:column ads`.
fn found(arguments: &[&str], input: &str) -> Vec<String> {
    let report = json(arguments, input);
    assert_eq!(report["schema"], "classad.check/1");
    let place = |finding: &Value, line: &str, column: &str| format!("{}:{}", finding[line], finding[column]);
    let finding = |finding: &Value| {
        let (start, end) = (place(finding, "line", "column"), place(finding, "end_line", "end_column"));
        format!("{} {start}-{end} {}", finding["rule"].as_str().unwrap(), finding["ads"])
    };
    report["findings"].as_array().unwrap().iter().map(finding).collect()
}

#[test]
fn every_form_has_its_places() {
    for (form, text, expected) in [
        ("long", "a = 1\né = x == undefined\nA = 2\n", ["undefined-comparison 2:5-2:19 1", "duplicate 3:1-3:2 1"]),
        ("new", "[ a = 1;\n é1 = 1 ]", ["syntax 2:2-2:3 1", ""]),
        ("new", "[ a = 1;\n b = x == undefined; A = 2 ]", ["undefined-comparison 2:6-2:20 1", "duplicate 2:22-2:23 1"]),
        (
            "json",
            r#"{"a": 1, "b": "\/Expr(\"é\" == undefined)\/", "A": 2}"#,
            ["undefined-comparison 1:23-1:41 1", "duplicate 1:47-1:50 1"],
        ),
        (
            "xml",
            "<c><a n=\"a\"><i>1</i></a>\n<a n=\"b\"><e>x &amp;&amp; y == undefined</e></a><a n=\"A\"><i>1</i></a></c>",
            ["undefined-comparison 2:26-2:40 1", "duplicate 2:48-2:57 1"],
        ),
        ("yaml", "a: 1\nb: !expr x == undefined\n", ["undefined-comparison 2:10-2:24 1", ""]),
    ] {
        let expected: Vec<&str> = expected.into_iter().filter(|finding| !finding.is_empty()).collect();
        assert_eq!(found(&["--from", form], text), expected, "{text}");
    }
}

#[test]
fn the_exit_status_follows_the_level() {
    let note = "[ Requirements = OpSys =?= \"a\" && true ]";
    let warning = "[ a = x == undefined ]";
    let error = "[ a = x < 1 && x > 2 ]";
    for (arguments, input, status) in [
        (&[][..], "[ a = 1 ]", 0),
        (&[], note, 0),
        (&["--fail-level", "note"], note, 1),
        (&[], warning, 1),
        (&["--fail-level", "error"], warning, 0),
        (&["--allow", "undefined-comparison"], warning, 0),
        (&["--only", "syntax"], warning, 0),
        (&["--fail-level", "error"], error, 1),
        (&["--exit-zero"], error, 0),
        (&[], "[ a = ]", 2),
        (&["--lenient"], "[ a = ]", 1),
        (&["--only", "sintax"], "", 2),
        (&["--fail-level", "bad"], "", 2),
        (&["-e", "a || b && c"], "", 1),
        (&["-e", "a || (b && c)"], "", 0),
        (&["-e", "a ||"], "", 2),
        (&["-e", "MY.x < TARGET.x"], "", 0),
        (&["--dialect", "condor", "-e", "My.JobPrio < Target.JobPrio"], "", 0),
        (&["--dialect", "condor", "-e", "Target.PoolName == My.Totem"], "", 0),
    ] {
        let output = run(arguments, input);
        assert_eq!(output.status.code(), Some(status), "{arguments:?} {input}: {output:?}");
    }
    assert!(run(&["-q"], error).stdout.is_empty());
    assert!(String::from_utf8_lossy(&run(&["--only", "sintax"], "").stderr).contains("did you mean syntax"));
}

#[test]
fn what_ads_have_in_common_is_told_once() {
    let ad = "a = x == undefined\nRequirements = TARGET.y\n\n";
    assert_eq!(found(&[], &ad.repeat(1000)), ["undefined-comparison 1:5-1:19 1000"]);
    let text = String::from_utf8(run(&["--color", "never"], &ad.repeat(3)).stdout).unwrap();
    assert!(text.contains("(ad 1 and 2 more ads)"), "{text}");
    assert!(text.ends_with("1 warning in 3 ads\n"), "{text}");
}

/// A queue of jobs with findings: a table of rules, and one finding of each kind.
#[test]
fn a_queue_has_a_table_of_rules() {
    let job = |number: usize| {
        let owner = ["ann", "bob"][number % 2];
        let odd = if number == 7 { "Odd = 1 + \"a\"\n" } else { "" };
        format!(
            "ClusterId = {number}\nProcId = 0\nOwner = \"{owner}\"\n{odd}Requirements = TARGET.Memory > {number}G && a || b\n\n"
        )
    };
    let jobs: String = (1..=300).map(job).collect();
    let text = |arguments: &[&str]| {
        let output = run(&[&["--color", "never", "--level", "warning"], arguments].concat(), &jobs);
        String::from_utf8(output.stdout).unwrap()
    };
    let table = "\
ads  owners       rule          example
300  bob and ann  mixed-logic   standard input:4:16 (1.0)
300  bob and ann  wrong-unit    standard input:4:32 (1.0)
  1  bob          operand-type  standard input:34:7 (7.0)
";
    let shown = text(&[]);
    assert!(shown.starts_with(table), "{shown}");
    assert!(shown.lines().count() < 40 && shown.matches("299 findings like").count() == 2, "{shown}");
    assert!(shown.ends_with("1 error, 600 warnings in 300 ads\n"), "{shown}");
    let all = text(&["--list-all"]);
    assert!(all.starts_with(table) && all.matches("binds more tightly").count() == 300, "{all}");
    let annotations = text(&["-o", "github"]);
    assert_eq!(annotations.lines().count(), 3, "{annotations}");
    let rules = json(&["--level", "warning"], &jobs)["summary"]["rules"].clone();
    assert_eq!(rules[0]["owner_names"], serde_json::json!(["bob", "ann"]));
    let counts =
        |rule: &Value| format!("{} {} {} {}", rule["rule"], rule["ads"], rule["findings"], rule["example"]["id"]);
    let counts: Vec<String> = rules.as_array().unwrap().iter().map(counts).collect();
    assert_eq!(
        counts,
        ["\"mixed-logic\" 300 300 \"1.0\"", "\"wrong-unit\" 300 300 \"1.0\"", "\"operand-type\" 1 1 \"7.0\"",]
    );
    // An ad counts once for each rule, and what differs in names is another finding.
    let two = "Owner = \"a\"\nx = a || b && c\ny = a || b && c\na = 1\nA = 2\nB = 1\nb = 2\n\nx = a || b && d\n";
    let rules = json(&["--level", "warning"], two)["summary"]["rules"].clone();
    let rows: Vec<String> =
        rules.as_array().unwrap().iter().map(|rule| format!("{} {}", rule["ads"], rule["findings"])).collect();
    assert_eq!(rows, ["2 3", "1 2"], "{rules}");
    let shown = String::from_utf8(run(&["--color", "never"], two).stdout).unwrap();
    assert_eq!(shown.matches("binds more tightly").count(), 3, "{shown}");
    // One ad, or findings in one ad only, need no table.
    let one = String::from_utf8(run(&["--color", "never"], "x = a || b && c\n\ny = 1\n").stdout).unwrap();
    assert!(one.starts_with("mixed-logic\n"), "{one}");
}

/// Of each rule, 20 findings are drawn; `--list-all` draws all.
#[test]
fn further_findings_of_a_rule_are_counted() {
    for count in [1, 20, 21, 23] {
        let line = |number: usize| format!("x{number} = \"s{number}\" && y\n");
        let ad: String = (0..count).map(line).collect();
        let drawn = |arguments: &[&str]| {
            let output = run(&[&["--color", "never", "--level", "warning"], arguments].concat(), &ad);
            let text = String::from_utf8(output.stdout).unwrap();
            let more = text.lines().find(|line| line.contains("of the rule")).map(str::to_owned);
            (text.matches("× `&&` needs").count(), more.unwrap_or_default(), text)
        };
        let (pictures, more, text) = drawn(&[]);
        let expected = match count {
            21 => "1 more finding of the rule",
            23 => "3 more findings of the rule",
            _ => "",
        };
        assert_eq!(pictures, count.min(20), "{text}");
        assert!(more.starts_with(expected) && more.is_empty() == expected.is_empty(), "{text}");
        let (pictures, more, text) = drawn(&["--list-all"]);
        assert_eq!((pictures, more.as_str()), (count, ""), "{text}");
    }
}

/// Corrections in JSON are those that `--fix` makes.
#[test]
fn findings_carry_their_corrections() {
    for (form, text, expected) in [
        ("long", "é = 1\na = \"é\" == x || y && z\n", vec!["mixed-logic true 2:17-2:17 ( 2:23-2:23 )"]),
        ("new", "[ a = x ==\n undefined ]", vec!["undefined-comparison false 1:7-2:11 x is undefined"]),
        ("long", "a = 1\nb = 2\nA = 3\n", vec!["duplicate true 1:1-2:1 "]),
        ("new", "[ a = 1; b = 2; A = 3 ]", vec!["duplicate true 1:3-1:10 "]),
        // What is written in another form has no edits.
        ("json", r#"{"a": 1, "b": "\/Expr(x == undefined)\/"}"#, vec!["undefined-comparison"]),
        ("new", "[ a = x < 1 && x > 2 ]", vec!["contradiction"]),
    ] {
        let report = json(&["--from", form], text);
        let line = |finding: &Value| {
            let mut line = finding["rule"].as_str().unwrap().to_owned();
            if !finding["fix"].is_null() {
                line = format!("{line} {}", finding["fix"]["safe"]);
            }
            for edit in finding["fix"]["replacements"].as_array().into_iter().flatten() {
                let [from, to] = [["line", "column"], ["end_line", "end_column"]]
                    .map(|at| format!("{}:{}", edit[at[0]], edit[at[1]]));
                line = format!("{line} {from}-{to} {}", edit["text"].as_str().unwrap());
            }
            line
        };
        let lines: Vec<String> = report["findings"].as_array().unwrap().iter().map(line).collect();
        assert_eq!(lines, expected, "{text}");
    }
    let fix = json(&["-e", "a || b && c"], "")["findings"][0]["fix"].clone();
    assert_eq!(fix["replacements"][0]["column"], 6, "{fix}");
}

/// What the schema of SARIF 2.1.0 requires, of the parts that are written.
#[test]
fn sarif_has_what_its_schema_requires() {
    let input = "[ a = x < 1 &&\n x > 2; b = ; c = 1; C = 2 ]\n[ d = x == 1 &&\n x == 2; e = 1; E = 2; f = x ||\n y && z; g = x == undefined ]";
    let output = run(&["-o", "sarif"], input);
    let log: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().contains("sarif-2.1.0"));
    let run = &log["runs"].as_array().unwrap()[0];
    let driver = &run["tool"]["driver"];
    assert!(!driver["name"].as_str().unwrap().is_empty());
    assert!(["utf16CodeUnits", "unicodeCodePoints"].contains(&run["columnKind"].as_str().unwrap()));
    let rules = driver["rules"].as_array().unwrap();
    let mut ids = std::collections::BTreeSet::new();
    for rule in rules {
        assert!(ids.insert(rule["id"].as_str().unwrap()), "{rule}");
        assert!(!rule["shortDescription"]["text"].as_str().unwrap().is_empty());
        assert!(!rule["help"]["text"].as_str().unwrap().is_empty());
        level(&rule["defaultConfiguration"]["level"]);
    }
    let results = run["results"].as_array().unwrap();
    assert!(results.len() >= 3, "{results:?}");
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        level(&result["level"]);
        assert!(result["occurrenceCount"].as_u64().unwrap() >= 1);
        let related = result["relatedLocations"].as_array().unwrap();
        for location in result["locations"].as_array().unwrap().iter().chain(related) {
            let place = &location["physicalLocation"];
            assert_eq!(place["artifactLocation"]["uri"], "standard%20input");
            let number = |field: &str| place["region"][field].as_u64().filter(|number| *number >= 1).unwrap();
            let (start, end) = ((number("startLine"), number("startColumn")), (number("endLine"), number("endColumn")));
            assert!(start <= end, "{place}");
        }
        assert!(related.iter().all(|location| location["message"]["text"].is_string()));
        for fix in result["fixes"].as_array().into_iter().flatten() {
            assert!(!fix["description"]["text"].as_str().unwrap().is_empty());
            for change in fix["artifactChanges"].as_array().unwrap() {
                assert_eq!(change["artifactLocation"]["uri"], "standard%20input");
                let replacements = change["replacements"].as_array().unwrap();
                assert!(!replacements.is_empty());
                for replacement in replacements {
                    let number =
                        |field: &str| replacement["deletedRegion"][field].as_u64().filter(|number| *number >= 1);
                    let place = |line: &str, column: &str| (number(line).unwrap(), number(column).unwrap());
                    assert!(place("startLine", "startColumn") <= place("endLine", "endColumn"), "{replacement}");
                    assert!(replacement["insertedContent"]["text"].is_string());
                }
            }
        }
    }
    assert_eq!(results.iter().filter(|result| result["fixes"].is_array()).count(), 3, "{results:?}");
}

fn level(level: &Value) {
    assert!(["none", "note", "warning", "error"].contains(&level.as_str().unwrap()), "{level}");
}

#[test]
fn annotations_are_one_line_each() {
    let output = run(&["-o", "github"], "[ a = x < 1 &&\n x > 2; b = y == undefined; p = z =?= \"100%\" ]");
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "::error file=standard input,line=1,endLine=1,col=7,endColumn=12,title=contradiction::no value of `x` can make both of these true%0Adrop one of the parts, or write `||` between them\n\
         ::warning file=standard input,line=2,endLine=2,col=13,endColumn=27,title=undefined-comparison::\
         `== undefined` is never true%0Awrite `y is undefined`\n"
    );
    let many = run(&["-o", "github"], "a = \"100%\" =?= x1\nb = y =?= \"x\"\n\nb = y =?= \"x\"\n");
    let many = String::from_utf8(many.stdout).unwrap();
    assert_eq!(many.lines().count(), 1, "{many}");
    assert!(many.contains("::notice ") && many.contains("(in 2 ads)"), "{many}");
}

#[test]
fn against_a_pool_of_any_size() {
    let pool =
        file("check-pool", "Memory = 1000\nScores = 1\nOpSys = \"LINUX\"\n\nMemory = 2000\nHasDocker = true\n\n");
    let jobs = "Requirements = TARGET.Memroy > 5 && TARGET.OpSys =?= \"linux\" && TARGET.Scores > \"5\"\n";

    assert_eq!(
        found(&["--pool", &pool, "--level", "warning"], jobs),
        ["unknown-attribute 1:16-1:29 1", "wrong-case 1:37-1:61 1", "wrong-type 1:65-1:84 1"]
    );
    let report = json(&["--pool", &pool, "--only", "unknown-attribute"], jobs);
    assert_eq!(report["findings"][0]["help"], "did you mean Memory (2 ads)?");
    assert_eq!(report["findings"][0]["message"], "none of the 2 pool ads has Memroy");
    // Without a pool there is nothing to compare with.
    assert!(found(&["--level", "warning"], jobs).is_empty());
    let empty = file("check-empty", "");
    let output = run(&["--pool", &empty], jobs);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

/// Numbers beyond those of the pool, and sizes in the wrong unit.
/// The times of a cron job are strings, as `condor_submit` writes them.
#[test]
fn times_of_cron_jobs_are_strings() {
    let found = |attributes: &str| {
        let job = format!("MyType = \"Job\"\nRequirements = TARGET.Memory > 1\n{attributes}\n");
        let report = json(&["--level", "warning"], &job);
        report["findings"].as_array().unwrap().len()
    };
    for (attributes, expected) in [
        ("CronMinute = \"0\"\nCronHour = \"*/2\"\nCronDayOfMonth = \"1-7\"", 0),
        ("CronMonth = \"*\"\nCronDayOfWeek = \"1,3\"", 0),
        ("RequestCpus = \"2\"", 1),
    ] {
        assert_eq!(found(attributes), expected, "{attributes}");
    }
}

#[test]
fn numbers_are_compared_with_those_of_a_pool() {
    let pool = file(
        "check-range-pool",
        "Memory = 1000\nDisk = 30000000\nCpus = 4\nClockMin = 600\nKeyboardIdle = 12\nMips = 7\n\n\
         Memory = 2000.0\nDisk = 90000000\nCpus = TotalCpus / 2\nClockMin = 600\nKeyboardIdle = 13\nMips = 8\n\n",
    );
    let findings = |constraint: &str| {
        let job = format!("RequestMemory = 1024 * 1024\nRequirements = {constraint}\n");
        let report = json(&["--pool", &pool, "--level", "warning"], &job);
        let findings = report["findings"].as_array().unwrap().clone();
        let text = |finding: &Value, key: &str| finding[key].as_str().unwrap().to_owned();
        let line = |finding: &Value| format!("{}; {}", text(finding, "message"), text(finding, "help"));
        findings.iter().map(line).collect::<Vec<_>>()
    };
    for (constraint, expected) in [
        (
            "TARGET.Memory >= RequestMemory",
            "Memory is at most 2000 (2 GiB) in the pool: the comparison with 1048576 (1 TiB) is never true; \
             if 1048576 KiB is meant, write 1024",
        ),
        (
            "900000 <= TARGET.Memory",
            "Memory is at most 2000 (2 GiB) in the pool: this is never true; \
             `classad census POOL --attr Memory` shows the most frequent values",
        ),
        (
            "TARGET.Memory < 100",
            "Memory is at least 1000 (1000 MiB) in the pool: this is never true; \
             `classad census POOL --attr Memory` shows the most frequent values",
        ),
        (
            "TARGET.Memory == 3000 - 1",
            "Memory is between 1000 (1000 MiB) and 2000 (2 GiB) in the pool: this is never true; \
             `classad census POOL --attr Memory` shows the most frequent values",
        ),
        (
            "TARGET.Mips > 1300",
            "Mips is at most 8 in the pool: this is never true; \
             `classad census POOL --attr Mips` shows the most frequent values",
        ),
        (
            "TARGET.Disk > 40",
            "Disk is in KiB, at least 30000000 (28.6 GiB) in the pool: this is never false; \
             if 40 GiB is meant, write 41943040",
        ),
    ] {
        assert_eq!(findings(constraint), [expected], "{constraint}");
    }
    // Numbers that some ad satisfies, an attribute that is not a number in each ad, what changes by itself, and guards.
    for constraint in ["TARGET.ClockMin > 1300", "TARGET.ClockMin == 5", "TARGET.KeyboardIdle > 99999"] {
        assert_eq!(findings(constraint), [""; 0], "{constraint}");
    }
    for constraint in ["TARGET.Memory >= 2000", "TARGET.Cpus > 64", "TARGET.Disk > 0", "TARGET.Memory != 5"] {
        assert_eq!(findings(constraint), [""; 0], "{constraint}");
    }
}

/// A partitionable slot has any part of a resource up to what `TotalSlot*` tells, whatever its dynamic slots use.
#[test]
fn the_range_of_a_partitionable_slot_is_all_that_it_has() {
    let slot =
        |left: &str| format!("MyType = \"Machine\"\nName = \"s{left}\"\nMemory = {left}\nTotalSlotMemory = 65536\n");
    let divided = slot("36864") + "PartitionableSlot = true\n\n" + &slot("2048") + "DynamicSlot = true\n\n";
    let messages_of = |pool: &str, constraint: &str| {
        let job = format!("MyType = \"Job\"\nRequirements = {constraint}\n");
        let report = json(&["--pool", pool, "--only", "out-of-range"], &job);
        let findings = report["findings"].as_array().unwrap();
        findings.iter().map(|finding| finding["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let messages = |pool: &str, wanted: u32| messages_of(pool, &format!("TARGET.Memory >= {wanted}"));
    let pool = file("check-divided-pool", divided);
    assert_eq!(messages(&pool, 50000), [""; 0]);
    assert_eq!(messages(&pool, 70000), ["Memory is at most 65536 (64 GiB) in the pool: this is never true"]);
    let whole = file("check-static-pool", slot("36864"));
    assert_eq!(messages(&whole, 50000).len(), 1);
    for (constraint, of_divided) in [("TARGET.Memory <= 500", 0), ("TARGET.Memory == 500", 0), ("TARGET.Memory < 0", 1)]
    {
        let counts = [&pool, &whole].map(|pool| messages_of(pool, constraint).len());
        assert_eq!(counts, [of_divided, 1], "{constraint}");
    }
}

/// `TARGET.` is proposed for names that the other side can have.
#[test]
fn the_other_ad_is_named_for_its_own_attributes_only() {
    let slots = file("check-sides-pool", "MyType = \"Machine\"\nMemory = 1000\nSiteName = \"a\"\n\n");
    for (job, options, expected) in [
        (
            "Requirements = Memory > 5 && LastHoldReasonCode =!= 34",
            &[][..],
            vec!["this ad has no Memory: the name is looked up in the other ad"],
        ),
        ("Requirements = LastHoldReasonCode =!= 34 && NumHolds < 3", &[], vec![]),
        (
            "Requirements = Memory > 5 && MachineAttrSite1 =!= TARGET.SiteName",
            &[],
            vec!["this ad has no Memory: the name is looked up in the other ad"],
        ),
        (
            "Requirements = SiteName =!= \"b\"",
            &[],
            vec!["this ad has no SiteName: the name is looked up in the other ad"],
        ),
        (
            "Requirements = SiteName =!= \"b\" && Own =!= 1",
            &["--pool", &slots],
            vec!["this ad has no SiteName: the name is looked up in the other ad"],
        ),
    ] {
        let report = json(&[options, &["--only", "falls-through"]].concat(), &format!("MyType = \"Job\"\n{job}\n"));
        let findings = report["findings"].as_array().unwrap();
        let messages: Vec<&str> = findings.iter().map(|finding| finding["message"].as_str().unwrap()).collect();
        assert_eq!(messages, expected, "{job}");
    }
}

/// HTCondor's history has ads with attributes that are set twice. Nobody can correct these.
#[test]
fn ads_that_htcondor_wrote_may_set_attributes_twice() {
    let ad = "MyType = \"Job\"\nRequirements = true\nA = 1\nB = 2\nC = 3\nA = 2\nB = 3\n";
    let written = format!("{ad}GlobalJobId = \"ap#1.0#5\"\n");
    let output = run(&[], &written);
    let note = "note: HTCondor itself wrote attributes twice; the last value counts: A and B in the first such ad";
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains(note), "{output:?}");
    assert_eq!(json(&["--only", "duplicate"], ad)["warnings"], 2);
}

/// Strings that no ad of the pool has.
#[test]
fn strings_are_compared_with_those_of_a_pool() {
    let pool = file("check-string-pool", "Arch = \"X86_64\"\nOpSys = \"LINUX\"\n\nArch = \"arm\"\nOpSys = Base\n\n");
    let findings = |constraint: &str| {
        let report = json(&["--pool", &pool, "--level", "warning"], &format!("Requirements = {constraint}\n"));
        let findings = report["findings"].as_array().unwrap().clone();
        findings.iter().map(|finding| finding["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for constraint in ["TARGET.Arch == \"INTEL\" && TARGET.OpSys != \"\"", "(\"INTEL\" =?= TARGET.Arch)"] {
        assert_eq!(findings(constraint), ["no ad of the pool has Arch \"INTEL\": this is never true"], "{constraint}");
    }
    // An alternative, a negation, a string in other case, and an attribute that is not a string in each ad.
    for constraint in
        ["Arch == \"INTEL\" || Arch == \"ARM\"", "Arch != \"INTEL\"", "Arch == \"Arm\"", "OpSys == \"OSX\""]
    {
        assert_eq!(findings(constraint), [""; 0], "{constraint}");
    }
}

#[test]
fn long_and_deep_input_is_looked_at_quickly() {
    let sum = format!("[ a = {}1; Requirements = {}true ]", "x + ".repeat(20_000), "y == 1 || ".repeat(2000));
    let chain = format!("[ Requirements = {}true ]", "(x > 1 && z) || ".repeat(2000));
    let nest = format!("[ Requirements = {}x{} ]", "(a && (b || ".repeat(2000), "))".repeat(2000));
    for text in [sum, chain, nest] {
        let output = run(&["-q"], &text);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    }
}

#[test]
fn the_rules_are_listed() {
    let text = String::from_utf8(run(&["--rules"], "").stdout).unwrap();
    for rule in ["contradiction", "type-clash", "precedence", "duplicate", "unknown-attribute"] {
        assert!(text.contains(rule), "{text}");
    }
    let output = run(&["--rules", "-o", "json"], "");
    let rules: Value = serde_json::from_slice(&output.stdout).unwrap();
    // The examples of the rules about text are run here, those of the others in the library.
    let rules = rules.as_array().unwrap();
    for rule in
        rules.iter().filter(|rule| ["syntax", "ignored-text", "duplicate"].contains(&rule["rule"].as_str().unwrap()))
    {
        let name = rule["rule"].as_str().unwrap();
        assert!(found(&["--only", name], rule["bad"].as_str().unwrap()).len() == 1, "{rule}");
        assert!(found(&["--only", name], rule["good"].as_str().unwrap()).is_empty(), "{rule}");
    }
    let setting = |text: &Value| {
        let dump = file("rule-setting.dump", text.as_str().unwrap());
        run(&["--config", &dump, "--only", "doubtful-setting"], "").status.code()
    };
    let rule = rules.iter().find(|rule| rule["rule"] == "doubtful-setting").expect("there is such a rule");
    assert_eq!([setting(&rule["bad"]), setting(&rule["good"])], [Some(1), Some(0)]);
    assert!(rules.len() > 20);
}

/// HTCondor 25 does not have these functions, so that such a job never matches.
#[test]
fn functions_of_the_papers_are_errors_for_htcondor() {
    let requirements = "inDays(relTime(86400)) > 0.5 && isMember(1, { 1 })";
    let job = file("papers_functions.long", format!("MyType = \"Job\"\nRequirements = {requirements}\n"));
    let (status, out, _) = classad(&["check", &job]);
    assert_eq!(status, Some(1));
    for text in ["HTCondor has no function inDays", "real(time) / 86400", "identicalMember(scalar, list)"] {
        assert!(out.contains(text), "{out}");
    }
    assert!(!out.contains("always true"), "{out}");
    let pool = file("papers_functions_pool.long", "MyType = \"Machine\"\nRequirements = true\n");
    let matches = |dialect: &str| classad(&["match", &job, "--pool", &pool, "--count", "--dialect", dialect]).1;
    assert_eq!([matches("condor"), matches("classad")], ["0\n", "1\n"]);
}

/// Draws an ad in the long form with mistakes.
fn mistaken_ad(random: &mut fastrand::Rng) -> String {
    const PARTS: [&str; 14] = [
        "x && y || z",
        "Foo > 1",
        "OpSys == 'LINUX'",
        "a & b == 1",
        "Foo is null",
        "x == undefined",
        "regexp(\"slot*@n\", Name)",
        "Memory > 5G",
        "OpSys =?= \"linux\"",
        "Site != \"a\"",
        "stringListMember(Site, \"A;B\")",
        "c && d > 2 ? 1 : x < 3",
        "JobStatus == \"5\"",
        "OpSys == \"LINUX\" || \"OSX\"",
    ];
    let mut part = |depth: usize| {
        let parts: Vec<String> = (0..=depth).map(|_| PARTS[random.usize(..PARTS.len())].to_owned()).collect();
        parts.join(["&&", " || ", "  &&  "][random.usize(..3)])
    };
    let (first, second, third) = (part(0), part(2), part(1));
    format!("MyType = \"Job\"\nz = {first}\nRequirements = ({second}) && z || !({third})\nRank=x\nZ = {third}\n")
}

#[test]
fn fixes_are_made_once() {
    let mut random = fastrand::Rng::with_seed(5);
    for round in 0..3 {
        let ads: Vec<String> = (0..40).map(|_| mistaken_ad(&mut random)).collect();
        let path = file(&format!("fixed-{round}.ads"), ads.join("\n"));
        for arguments in [&["--fix", "-w"][..], &["--fix", "-w", "--unsafe"]] {
            let fix = || {
                run(&[arguments, &["--fail-level", "error", &path]].concat(), "");
                std::fs::read_to_string(&path).unwrap()
            };
            let [once, twice] = [fix(), fix()];
            assert!(once == twice, "{arguments:?} {round}");
            assert_eq!(once.matches("MyType").count(), 40);
            assert!(!once.contains("\nz = ") && once.contains("TARGET."));
        }
    }
}

#[test]
fn fixes_are_a_diff_or_written() {
    let text = "MyType = \"Job\"\nOwner = \"a\"\n# kept\nRequirements = a||b && c || OpSys == 'LINUX'\nowner = \"b\"\n";
    let path = file("to-fix.ads", text);
    let name = path.as_str();
    let fix = |arguments: &[&str]| {
        let output = run(&[&["--fix"], arguments, &[name]].concat(), "");
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (status, diff, note) = fix(&[]);
    let safe = "Requirements = TARGET.a||(TARGET.b && TARGET.c) || TARGET.OpSys == 'LINUX'";
    assert!(diff.starts_with(&format!("--- {name}\n+++ {name}\n@@ ")), "{diff}");
    assert!(diff.contains("\n-Owner = \"a\"\n") && diff.contains(&format!("\n+{safe}\n")), "{diff}");
    // The name in single quotes is probably a string, and this finding remains.
    assert_eq!(status, Some(1));
    assert!(note.contains("3 fixes in 1 file") && note.contains("--unsafe also applies 1 fix "), "{note}");
    assert_eq!(fix(&["--unsafe"]).0, Some(0));
    assert_eq!(fix(&["--only", "duplicate"]).1.matches("\n+").count(), 1);
    assert_eq!(std::fs::read_to_string(name).unwrap(), text);
    let (status, report, _) = fix(&["--write=.bak", "-o", "json"]);
    assert_eq!((status, report.matches("\"message\"").count()), (Some(1), 2), "{report}");
    assert_eq!(std::fs::read_to_string(name).unwrap(), format!("MyType = \"Job\"\n# kept\n{safe}\nowner = \"b\"\n"));
    assert_eq!(std::fs::read_to_string(format!("{name}.bak")).unwrap(), text);
    assert_eq!(fix(&["-w", "--unsafe"]).0, Some(0));
    assert_eq!(fix(&["-w"]).2, "note: no fixes\n");
}

/// Text without effect goes, unless it was meant to have one.
#[test]
fn ignored_text_is_deleted() {
    let text = "a = 1  # one \nb = 2 ;\nc = x > 1 && 1 == 1\nd = x y\ne = !x == y\n";
    let path = file("to-strip.ads", text);
    let fix = |arguments: &[&str]| {
        let output = run(&[&["--fix", "-w"], arguments, &[&path]].concat(), "");
        let note = String::from_utf8(output.stderr).unwrap();
        (std::fs::read_to_string(&path).unwrap(), note.lines().last().unwrap_or_default().to_owned())
    };
    // A comment would be lost.
    let safe = "a = 1  # one \nb = 2\nc = x > 1\nd = x y\ne = !x == y\n";
    let note = "note: 2 fixes in 1 file: ignored-text 1, constant-part 1; --unsafe also applies 3 fixes that can change values";
    assert_eq!(fix(&[]), (safe.to_owned(), note.to_owned()));
    assert_eq!(fix(&["--unsafe"]).0, "a = 1 \nb = 2\nc = x > 1\nd = x\ne = (isUndefined(x) || !(x == y))\n");
    let report = json(&[], "b = 2  ;\nd = x y\n");
    let fixes: Vec<&Value> = report["findings"].as_array().unwrap().iter().map(|finding| &finding["fix"]).collect();
    assert_eq!((&fixes[0]["safe"], &fixes[1]["safe"]), (&Value::Bool(true), &Value::Bool(false)), "{fixes:?}");
    assert_eq!(fixes[0]["replacements"][0]["column"], 6);
}

#[test]
fn what_cannot_be_read_is_not_fixed() {
    let torn = "[ a = x || y && z ]\n[ a = (1; ]\n";
    let path = file("torn.ads", torn);
    let output = run(&["--fix", "-w", &path], "");
    assert!(String::from_utf8_lossy(&output.stderr).contains("is left as it is: not every ad in it parses"));
    assert_eq!((output.status.code(), std::fs::read_to_string(&path).unwrap()), (Some(2), torn.to_owned()));
    // The first lines of a diff say where the error is.
    let told = String::from_utf8(run(&["--fix", &path], "").stderr).unwrap();
    assert!(told.lines().nth(1).is_some_and(|line| line.contains(&format!("[{path}:2:"))), "{told}");
    let json = file("fixed.json", "{\"a\": 1}");
    for (arguments, message) in [
        (&["--fix"][..], "standard input is compressed or no file"),
        (&["--fix", "-"], "standard input is compressed or no file"),
        (&["--fix", "-w"], "-w rewrites files: name them"),
        (&["--fix", &json], "corrects files in the long form or in brackets"),
        (&["--fix", "-o", "json", &path], "--fix prints a diff"),
        (&["-w", &path], "required arguments"),
        (&["--unsafe", &path], "required arguments"),
        (&["--fix", "-e", "a"], "cannot be used with"),
    ] {
        let output = run(arguments, "[ a = x || y && z ]");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && error.contains(message), "{arguments:?}: {error}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_told_as_it_is() {
    let text = "[ a = x || y && z ]\n";
    let path = file("read-only.ads", text);
    let mut permissions = std::fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).unwrap();
    let output = run(&["--fix", "-w", &path], "");
    let [report, told] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(told, format!("error: cannot write {path}: it is read-only\nnote: no fixes\n"));
    assert!(report.starts_with("mixed-logic"), "{report}");
    assert_eq!((output.status.code(), std::fs::read_to_string(&path).unwrap()), (Some(2), text.to_owned()));
}
