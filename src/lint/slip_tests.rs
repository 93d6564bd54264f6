//! Tests of slips and of what the linter makes of them.

use super::tests::{ad, checker, found, pool};
use super::{LintLevel, PoolColumns, PoolStatistics, find_bytes, find_slips};
use crate::ad::{Dialect, Expression, Name, Value};
use crate::syntax::{ParseOptions, Style, expression_text, parse_expression};

/// Returns the slips in an expression of HTCondor's dialect, each as `rule: corrected expression`. Notes are left out.
fn corrected(text: &str, pool: Option<&dyn PoolColumns>) -> Vec<String> {
    let dialect = Dialect::Condor;
    let expression = parse_expression(text.as_bytes(), ParseOptions::new(dialect)).expect(text);
    let slips = find_slips(&expression, dialect, pool).into_iter().filter(|slip| slip.rule.level > LintLevel::Note);
    let shown = slips.map(|slip| {
        let corrected = slip.corrected(&expression);
        let corrected = corrected.map_or_else(String::new, |corrected| expression_text(&corrected, Style::Long));
        format!("{}: {corrected}", slip.rule.name)
    });
    shown.collect()
}

/// What real policies had, and `check` did not tell.
#[test]
fn slips_of_real_policies_are_corrected() {
    for (text, expected) in [
        (
            "(Owner == \"coltrane\" * 1000000000000) + Imagesize",
            "operand-type: ((Owner == \"coltrane\") * 1000000000000) + Imagesize",
        ),
        ("RoutedBy is null", "null: RoutedBy =?= undefined"),
        ("GLIDEIN_Site isnt null", "null: GLIDEIN_Site =!= undefined"),
        ("DesiredOS =?= NULL", "null: DesiredOS =?= undefined"),
        ("x != null && y", "null: x =!= undefined && y"),
        ("regexp(\"*.cern.ch\", Machine)", "pattern: regexp(\"\\.cern\\.ch$\", Machine)"),
        ("regexp(\"(\", Machine)", "pattern: "),
        ("regexp(\"slot*@a\", Name)", "glob: regexp(\"^slot.*@a$\", Name)"),
        ("Machine == \"node*.a.org\"", "glob: regexp(\"^node.*\\.a\\.org$\", Machine, \"i\")"),
        ("regexp(Machine, \".*cern.ch\")", "argument-order: regexp(\".*cern.ch\", Machine)"),
        ("stringListMember(\"CHTC, UNL\", Site)", "argument-order: stringListMember(Site, \"CHTC, UNL\")"),
        ("member(\"x\", \"a,b,c\")", "argument-type: stringListIMember(\"x\", \"a,b,c\")"),
        ("stringListMember(\"a\", {\"a\",\"b\"})", "argument-type: identicalMember(\"a\", { \"a\", \"b\" })"),
        ("size(Owner) + \"5\"", "operand-type: "),
        ("size(Owner) == \"5\"", "operand-type: size(Owner) == 5"),
        ("JobStatus == \"Idle\"", "operand-type: JobStatus == 1"),
        ("\"transferring_output\" != TARGET.JobStatus", "operand-type: 6 != TARGET.JobStatus"),
        ("Machine == node01.example.org", "bare-word: Machine == \"node01.example.org\""),
        ("JobStatus == {1,2}", "operand-type: member(JobStatus, { 1, 2 })"),
        ("JobStatus != {1,2}", "operand-type: !member(JobStatus, { 1, 2 })"),
        (
            "versionGE(TARGET.CondorVersion, \"25.0\")",
            "whole-version: versionGE(split(TARGET.CondorVersion)[1], \"25.0\")",
        ),
        ("CondorVersion >= \"25.0\"", "whole-version: versionGE(split(CondorVersion)[1], \"25.0\")"),
        (
            "TARGET.CondorVersion >= \"$CondorVersion: 9.0.0\"",
            "version-order: versionGE(split(TARGET.CondorVersion)[1], \"9.0.0\")",
        ),
        (
            "split(TARGET.CondorVersion)[1] >= \"9.0.0\"",
            "version-order: versionGE(split(TARGET.CondorVersion)[1], \"9.0.0\")",
        ),
        ("\"3.10\" < SingularityVersion", "version-order: versionGT(SingularityVersion, \"3.10\")"),
        ("Capability >= \"7.0\"", "operand-type: Capability >= 7.0"),
        (
            "stringListMember(TARGET.HasFileTransferPluginMethods, \"osdf\")",
            "argument-order: stringListMember(\"osdf\", TARGET.HasFileTransferPluginMethods)",
        ),
        ("stringListIMember(Site, \"A; B;C\")", "list-separator: stringListIMember(Site, \"A,B,C\")"),
        ("stringListMember(Site, \"A,B\", \";\")", "list-separator: stringListMember(Site, \"A,B\")"),
        (
            "stringListMember(Site, \"A,B\", \"; \") && stringListMember(Site, \"A;B,C\", \";\")",
            "list-separator: \
         stringListMember(Site, \"A,B\") && stringListMember(Site, \"A;B,C\", \";\")",
        ),
        ("stringListSize(\"a;b\") > 1", "list-separator: stringListSize(\"a,b\") > 1"),
        ("stringListMember(\"A;B\", TARGET.Site)", "argument-order: stringListMember(TARGET.Site, \"A,B\")"),
        ("stringListIMember(\"A;B\", Site, \";\")", "argument-order: stringListIMember(Site, \"A;B\", \";\")"),
        (
            "stringListMember(\"osdf; https\", TARGET.HasFileTransferPluginMethods)",
            "argument-order: stringListMember(\"osdf\", TARGET.HasFileTransferPluginMethods) \
             && stringListMember(\"https\", TARGET.HasFileTransferPluginMethods)",
        ),
        ("TARGET.ClockHour >= 18", "clock-attribute: (TARGET.ClockMin / 60) >= 18"),
        ("x || clockminute < 60", "clock-attribute: x || ClockMin < 60"),
        ("a - b > m is undefined ? 1 : m", "precedence: a - b > (m =?= undefined ? 1 : m)"),
        ("c && a > m isnt undefined ? m : 2", "precedence: c && a > (m =!= undefined ? m : 2)"),
        ("a && b ? c > 1 : d > 2", "precedence: a && (b ? c > 1 : d > 2)"),
        ("a && isUndefined(b) ? true : b > 2", "precedence: a && (isUndefined(b) ? true : b > 2)"),
        ("a && \"b > 1\"", "not-boolean: a && b > 1"),
        ("time - EnteredCurrentStatus > 100", "bare-word: time() - EnteredCurrentStatus > 100"),
        ("JobStatus == \"5\"", "operand-type: JobStatus == 5"),
        ("TARGET.Memory >= \"4096\"", "operand-type: TARGET.Memory >= 4096"),
        ("HoldReasonCode =?= \"34\"", "operand-type: HoldReasonCode =?= 34"),
        ("Owner == alice", "bare-word: Owner == \"alice\""),
        ("OpSysAndVer == CentOS9", "bare-word: OpSysAndVer == \"CentOS9\""),
        ("OpSysAndVer == 'CentOS9'", "single-quotes: OpSysAndVer == \"CentOS9\""),
        (
            "OpSysAndVer == \"RedHat9\" || \"AlmaLinux9\"",
            "not-boolean: OpSysAndVer == \"RedHat9\" || OpSysAndVer == \"AlmaLinux9\"",
        ),
        ("HasSingularity == \"true\"", "operand-type: HasSingularity == true"),
        ("LastRemoteHost == undefined", "undefined-comparison: LastRemoteHost =?= undefined"),
        ("Memory > 5G", "wrong-unit: Memory > 5120"),
        ("regexps(\"a(.)\", x, \"<\\1>\")", "pattern: regexps(\"a(.)\", x, \"<\\1>\")"),
        ("TARGET.Disk >= 2G", "wrong-unit: TARGET.Disk >= 2097152"),
        ("RequestMemory > 4294967296", "wrong-unit: RequestMemory > 4096"),
        ("Machine && x", "not-boolean: "),
    ] {
        assert_eq!(corrected(text, None), [expected], "{text}");
    }
}

#[test]
fn what_resembles_a_slip_is_left_alone() {
    for text in [
        "MY.x < TARGET.x",
        "toLower(x) =?= \"linux\" && toUpper(x) =!= \"A1\"",
        "Machine == MY.Job.Host",
        "Name == cpu.Name",
        "My.JobPrio < Target.JobPrio",
        "Owner == RemoteOwner",
        "TARGET.Owner == SlotOwner",
        "HasDocker =?= 1",
        "JobStatus == 2.0",
        "regexp(\"^a.*b*$\", Name)",
        "regexp(Pattern, \"host.example.org\")",
        "CondorVersion == TARGET.CondorVersion",
        "x >= \"b.1\" && y == \"3.10\" && Machine > \"m1\"",
        "stringListMember(TARGET.Site, \"CHTC\") && stringListMember(x, \"a;b\", \";\")",
        "(a && b) ? c > 1 : d > 2",
        "a && b ? c > 1 : false",
        "a && b ? 1 : 2",
        "stringListMember(\"CHTC\", Sites)",
        "stringListMember(\"a,b\", \"a,b,c\")",
        "Memory > 1e6 && Disk > 1e10",
        "CurrentTime - QDate > 5",
        "countMatches(Memory == \"a\", Ads) > 0",
        "[ Memory = \"a\"; b = Memory == \"a\" ].b",
    ] {
        assert_eq!(corrected(text, None), [] as [&str; 0], "{text}");
    }
}

/// The help of findings names what to write.
#[test]
fn help_is_right_when_it_is_followed() {
    let dialect = Dialect::Condor;
    let mut slots = PoolStatistics::default();
    for text in ["[ Machine = \"a.org\"; Memory = 5 ]", "[ RemoteOwner = \"bob\" ]", "[ OpSys = \"LINUX\" ]"] {
        slots.add(&ad(text, dialect));
    }
    let mut checker = checker(dialect).with_pool(slots);
    for (requirements, expected) in [
        ("1000 < Memory < 8000", "write `1000 < Memory && Memory < 8000`"),
        ("1000 < Memory == true", "write `1000 < (Memory == true)`, or `(1000 < Memory) == true` if that is meant"),
        ("RemoteOwner != \"bob\"", "to include these ads, write `RemoteOwner =!= ...` or `(RemoteOwner ?: VALUE)`"),
        (
            "RemoteOwner == \"bob\"",
            "to include these ads, write `(RemoteOwner =?= undefined || ...)` or `(RemoteOwner ?: VALUE)`",
        ),
        ("Machine == node01.example.org", "quotes are missing: write \"node01.example.org\""),
        ("JobStatus == \"Idle\"", "1 is idle: write `JobStatus == 1`"),
    ] {
        let found = checker.check(&ad(&format!("[ Requirements = {requirements} ]"), dialect));
        let helps: Vec<String> = found.into_iter().map(|(_, finding)| finding.help).collect();
        assert!(helps.iter().any(|help| help == expected), "{requirements}: {helps:?}");
    }
    // A word without quotes is no name of the other ad.
    for (requirements, word) in [("OpSys == LINUX", "LINUX"), ("Machine == node01.example.org", "node01")] {
        let found = checker.check(&ad(&format!("[ Requirements = {requirements} && Memory > 1 ]"), dialect));
        let told = |word: &str| {
            found.iter().any(|(_, finding)| {
                finding.message.contains(&format!("{word}:")) || finding.message.contains(&format!("has {word}"))
            })
        };
        let names: Vec<&String> = found.iter().map(|(_, finding)| &finding.message).collect();
        assert!(!told(word), "{requirements}: {names:?}");
        assert!(names.iter().any(|message| message.contains("Memory")), "{names:?}");
    }
}

/// A word that is not a usual value is a slip only if the pool has it as a value, and not as an attribute.
#[test]
fn the_columns_of_a_pool_tell_words_from_attributes() {
    let mut pool = PoolStatistics::default();
    for text in ["[ Site = \"North\"; Tag = 1 ]", "[ Site = \"north\"; South = \"x\" ]", "[ Site = \"South\" ]"] {
        pool.add(&ad(text, Dialect::Condor));
    }
    for (text, expected) in [
        ("TARGET.Site == North", vec!["bare-word: TARGET.Site == \"North\""]),
        ("North == Site", vec!["bare-word: \"North\" == Site"]),
        ("Site == NORTH", vec!["bare-word: Site == \"North\""]),
        ("Site == South", vec![]),
        ("Site == East", vec![]),
    ] {
        assert_eq!(corrected(text, Some(&pool)), expected, "{text}");
        assert_eq!(corrected(text, None), [] as [&str; 0], "{text}");
    }
    assert_eq!(pool.ads_with_string(&"Site".into(), &"NORTH".into()), 2);
    // Slots have no hour of the clock, unless some have it.
    let hour = "TARGET.ClockHour < 8";
    assert_eq!(corrected(hour, Some(&pool)), ["clock-attribute: (TARGET.ClockMin / 60) < 8"]);
    pool.add(&ad("[ ClockHour = 7 ]", Dialect::Condor));
    assert_eq!(corrected(hour, Some(&pool)), [] as [&str; 0]);
}

#[test]
fn bits_of_numbers_are_no_conditions_and_powers_no_bits() {
    for (text, expected) in [
        ("TARGET.HasFileTransfer & TARGET.x", vec!["bitwise-logic: TARGET.HasFileTransfer && TARGET.x"]),
        ("TARGET.Cpus & 4", vec![]),
        ("TARGET.Memory <= 2 ^ 15", vec!["bitwise-logic: TARGET.Memory <= 32768", "operand-type: "]),
        ("TARGET.Memory > 10 ^ 4", vec!["bitwise-logic: TARGET.Memory > 10000", "operand-type: "]),
        ("x + 2 ^ 10", vec![]),
        ("2 ^ 10", vec!["bitwise-logic: 1024"]),
        ("2 ^ 64", vec![]),
        ("3 ^ 2", vec![]),
        ("x ^ 2", vec![]),
    ] {
        assert_eq!(corrected(text, None), expected, "{text}");
    }
}

#[test]
fn sizes_capabilities_and_hours_have_units() {
    for (text, expected) in [
        ("TARGET.TotalMemory >= 8388608", vec!["wrong-unit: TARGET.TotalMemory >= 8192"]),
        ("TARGET.Memory >= 4194304", vec![]),
        ("TARGET.Disk > 21474836480", vec!["wrong-unit: TARGET.Disk > 20971520"]),
        ("GlobalMemoryMb >= 24 * 1024 * 1024", vec!["wrong-unit: GlobalMemoryMb >= 24576"]),
        ("Capability >= 80", vec!["wrong-unit: Capability >= 8.0"]),
        ("Capability >= 8.0", vec![]),
        ("TARGET.ClockMin < 24", vec!["wrong-unit: TARGET.ClockMin < 1440"]),
        ("TARGET.ClockMin == 5", vec![]),
        ("TARGET.ClockMin < 8 * 60", vec![]),
        ("isUndefined(\"TARGET.GPUs\")", vec!["quoted-expression: isUndefined(TARGET.GPUs)"]),
        ("isUndefined(\"a b\")", vec![]),
    ] {
        assert_eq!(corrected(text, None), expected, "{text}");
    }
}

#[test]
fn disk_space_may_be_in_bytes() {
    for (name, amount, expected) in [
        ("RequestDisk", 3_000_000_000, Some(Value::Integer(2_929_688))),
        ("requestdisk", 1_000_000_000, Some(Value::Integer(976_563))),
        ("RequestDisk", 999_000_000, None),
        ("RequestDisk", 3_000_000_001, None),
        // 1,000,000 GiB, as HTCondor writes it.
        ("RequestDisk", 1_048_576_000_000, None),
        ("RequestMemory", 3_000_000_000, None),
    ] {
        let slip = find_bytes(&Name::new(name), &Expression::literal(Value::Integer(amount)));
        let rewrite = slip.and_then(|slip| slip.rewrite).and_then(|rewrite| rewrite.as_literal().cloned());
        assert_eq!(rewrite, expected, "{name} {amount}");
    }
}

#[test]
fn constants_of_jobs_and_machines_have_types_and_units() {
    for (text, expected) in [
        ("[ MyType = \"Job\"; JobStatus = \"5\" ]", vec!["JobStatus is a number in HTCondor, but this is a string"]),
        (
            "[ RequestMemory = 2G ]",
            vec!["this number is 2147483648 here, but HTCondor ignores or refuses its suffix `G`"],
        ),
        (
            "[ RequestMemory = \"2 GB\"; RequestDisk = \"4\" ]",
            vec![
                "RequestMemory is a number in HTCondor, but this is a string; it counts MiB",
                "RequestDisk is a number in HTCondor, but this is a string",
            ],
        ),
        ("[ RequestMemory = 4294967296 ]", vec!["RequestMemory is in MiB: this is 4 PiB"]),
        ("[ RequestMemory = 4194304 ]", vec!["RequestMemory is in MiB: this is 4 TiB"]),
        (
            "[ RequireGPUs = \"Capability >= 8.0\"; WantLargeMem = \"True\" ]",
            vec![
                "RequireGPUs is an expression in quotes: a string, and no condition",
                "WantLargeMem is probably a boolean, but this is a string",
            ],
        ),
        ("[ WantSite = \"CHTC\"; RequireGPUs = Capability >= 8.0; RequestDisk = 1000000000 ]", vec![]),
        ("[ MyType = \"Machine\"; Memory = 2048; HasDocker = 1; LoadAvg = 2; Cpus = undefined ]", vec![]),
        ("[ MyType = \"Scheduler\"; JobStatus = \"5\" ]", vec![]),
    ] {
        let text = text.replace(" ]", "; Requirements = true ]");
        let found = checker(Dialect::Condor).check(&ad(&text, Dialect::Condor));
        let messages: Vec<String> = found.into_iter().map(|(_, finding)| finding.message).collect();
        assert_eq!(messages, expected, "{text}");
    }
    // Ads of one class: a wrong constant is told of the ads that have it, whatever its value is.
    let mut checker = checker(Dialect::Condor);
    let text = |value: &str| format!("[ Requirements = true; RequestMemory = {value} ]");
    let first = checker.check(&ad(&text("\"1 GB\""), Dialect::Condor));
    assert_eq!(first.len(), 1);
    for value in ["1024", "\"2 GB\"", "2048"] {
        assert!(checker.check(&ad(&text(value), Dialect::Condor)).is_empty(), "{value}");
    }
    assert_eq!(checker.count(first[0].0), 2);
}

#[test]
fn a_word_that_the_ad_defines_is_an_attribute() {
    let text = |rest: &str| format!("[ MyType = \"Job\"; Requirements = true; x = Owner == alice{rest} ]");
    let mut checker = checker(Dialect::Condor);
    assert!(checker.check(&ad(&text("; alice = \"a\""), Dialect::Condor)).is_empty());
    assert_eq!(checker.check(&ad(&text(""), Dialect::Condor)).len(), 1);
}

#[test]
fn names_that_undefined_makes_unsafe_are_noted() {
    let unsafe_in = |text: &str| -> Vec<String> {
        found(text).into_iter().filter_map(|text| Some(text.strip_prefix("undefined-unsafe: ")?.to_owned())).collect()
    };
    for (text, expected) in [
        (
            "[ MyType = \"Machine\"; Requirements = START; START = TARGET.Good && TARGET.Owner == \"a\" && Own; Own = true ]",
            vec!["START can be undefined for a job without Good"],
        ),
        ("[ MyType = \"Machine\"; Requirements = START; START = TARGET.Good =?= true ]", vec![]),
        ("[ MyType = \"Job\"; Requirements = TARGET.Good ]", vec![]),
        ("[ Requirements = TARGET.Bad != 1 ]", vec!["this is undefined instead of true for an ad without Bad"]),
        (
            "[ Requirements = !TARGET.Bad && TARGET.Memory != 1 ]",
            vec!["this is undefined instead of true for an ad without Bad"],
        ),
        ("[ Requirements = isUndefined(TARGET.Bad) || TARGET.Bad != 1 ]", vec![]),
    ] {
        assert_eq!(unsafe_in(text), expected, "{text}");
    }
    let mut pool = PoolStatistics::default();
    for number in 0..5 {
        pool.add(&ad(if number == 0 { "[ Good = true; x = 1 ]" } else { "[ x = 1 ]" }, Dialect::Condor));
    }
    let mut checker = checker(Dialect::Condor).with_pool(pool);
    let found = checker.check(&ad("[ Requirements = TARGET.Good && TARGET.x == 1 ]", Dialect::Condor));
    let messages: Vec<&str> = found.iter().map(|(_, finding)| finding.message.as_str()).collect();
    assert_eq!(messages, ["4 of 5 pool ads have no Good: this is undefined for them"]);
    // An ad without the attribute is not meant.
    let found = checker.check(&ad("[ Requirements = TARGET.Good >= MY.y && 2 < TARGET.Good; y = 1 ]", Dialect::Condor));
    assert!(found.is_empty(), "{:?}", found.iter().map(|(_, finding)| &finding.message).collect::<Vec<_>>());
}

/// What only follows from a mistake is not told again.
#[test]
fn a_mistake_is_told_once() {
    for (text, rules) in [
        ("[ Requirements = TARGET.x == undefined ]", vec!["undefined-comparison"]),
        ("[ Requirements = TARGET.OpSys == LINUX ]", vec!["bare-word"]),
        ("[ Requirements = TARGET.Memory > \"5\" ]", vec!["operand-type"]),
    ] {
        let mut checker = checker(Dialect::Condor).with_pool(pool());
        let found = checker.check(&ad(text, Dialect::Condor));
        let found: Vec<&str> =
            found.iter().map(|(_, finding)| finding.rule.name).filter(|rule| *rule != "falls-through").collect();
        assert_eq!(found, rules, "{text}");
    }
}
