use super::{
    AdChecker, AdFindings, CheckedText, Checker, FindingRegister, LintLevel, PoolStatistics, RULES, RuleScope,
    find_rule,
};
use crate::ad::{Ad, Dialect};
use crate::eval::Context;
use crate::format::{AdText, BlockAds, BlockItem, FileFormat, ReadCache, StreamBlock, read_cached};
use crate::protocol::Protocol;
use crate::syntax::{ParseOptions, parse_ad};

pub(super) fn ad(text: &str, dialect: Dialect) -> Ad {
    parse_ad(text.as_bytes(), ParseOptions::new(dialect)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(super) fn checker(dialect: Dialect) -> Checker {
    Checker::new(Protocol::new(dialect), &Context::new(dialect))
}

/// Returns the findings in an ad, each as `rule: message`.
fn found_in(text: &str, dialect: Dialect) -> Vec<String> {
    let found = checker(dialect).check(&ad(text, dialect));
    found.into_iter().map(|(_, finding)| format!("{}: {}", finding.rule.name, finding.message)).collect()
}

pub(super) fn found(text: &str) -> Vec<String> {
    found_in(text, Dialect::Condor)
}

pub(super) fn pool() -> PoolStatistics {
    let mut pool = PoolStatistics::default();
    pool.add(&ad("[ Memory = 2000; OpSys = \"LINUX\"; x = 1; HasDocker = true ]", Dialect::Condor));
    pool
}

#[test]
fn every_rule_finds_its_bad_example_and_not_its_good_one() {
    for rule in RULES {
        let breaks = |text: &str| {
            let text = match rule.scope {
                RuleScope::Expression => format!("[ e = {text} ]"),
                _ => text.to_owned(),
            };
            let mut checker = checker(Dialect::Condor);
            if rule.scope == RuleScope::Pool {
                checker = checker.with_pool(pool());
            }
            checker.check(&ad(&text, Dialect::Condor)).iter().any(|(_, finding)| finding.rule == *rule)
        };
        if !matches!(rule.scope, RuleScope::Text | RuleScope::Configuration) {
            assert!(breaks(rule.bad), "{}: {}", rule.name, rule.bad);
            assert!(!breaks(rule.good), "{}: {}", rule.name, rule.good);
        }
        assert!(!rule.doc.is_empty() && !rule.help.is_empty());
        assert_eq!(find_rule(rule.name).map(|rule| rule.name), Some(rule.name));
    }
    assert!(LintLevel::Error > LintLevel::Warning && LintLevel::Warning > LintLevel::Note);
}

#[test]
fn a_conditional_is_checked_in_both_spellings() {
    for (conditional, call) in [
        ("x > 5 ? false : x > 6", "ifThenElse(x > 5, false, x > 6)"),
        ("x > 5 ? true : x <= 5", "ifThenElse(x > 5, true, x <= 5)"),
        ("y && (x > 3 ? x < 2 : x > 5)", "y && ifThenElse(x > 3, x < 2, x > 5)"),
        ("y || (x > 5 ? false : x > 6)", "y || ifThenElse(x > 5, false, x > 6)"),
        ("(x > 5 ? \"a\" : \"b\") && y", "ifThenElse(x > 5, \"a\", \"b\") && y"),
        ("y && (x ? 1 == 2 && z : true)", "y && ifThenElse(x, 1 == 2 && z, true)"),
    ] {
        let [first, second] = [conditional, call].map(|text| {
            let strip = |finding: String| finding.split(": ").next().unwrap_or_default().to_owned();
            let found = |text: &str| found(text).into_iter().filter(|finding| !finding.starts_with("falls-through"));
            found(&format!("[ Requirements = {text} ]")).map(strip).collect::<Vec<_>>()
        });
        assert!(!first.is_empty(), "{conditional}");
        assert_eq!(first, second, "{call}");
    }
}

#[test]
fn what_is_true_for_every_number_is_found() {
    let every = "always-true: one of these is true for every value of `x`";
    for (text, expected) in [
        ("x > 5 || x <= 5", vec![every]),
        ("x >= 5 || y || x < 5", vec![every]),
        ("x < 3 || x == 3 || x > 3", vec![every]),
        ("y && (x > 5 || x < 6)", vec![every]),
        ("ifThenElse(x > 5, true, x <= 5)", vec!["always-true: this is true for every value of `x`"]),
        ("x == \"a\" ? true : x != \"a\"", vec!["always-true: this is true for every value of `x`"]),
        ("(x > 5) =?= true || x <= 5", vec![every]),
        ("x == \"a\" || x > 5 || x <= 5", vec![]),
        ("x > 5 || x < 5", vec![]),
        ("x > 5 || y <= 5", vec![]),
        ("x > 5 ? y : x <= 5", vec![]),
    ] {
        assert_eq!(found(&format!("[ e = {text} ]")), expected, "{text}");
    }
}

#[test]
fn what_is_undefined_or_an_error_is_not_always_true() {
    for text in [
        "ifThenElse(x != undefined, x > 4, false)",
        "x == undefined ? true : x > 4",
        "ifThenElse(x == undefined, x > 4, x <= 4)",
        "ifThenElse(true, x != undefined, x > 6)",
        "x < error ? true : x > 6",
        "y != undefined ? true : x > 4",
        "ifThenElse(x == \"a\", true, x > 4)",
        "ifThenElse(x == 5, x == \"a\", true)",
        "x == undefined || (x == undefined ? true : x > 4)",
    ] {
        let found = found(&format!("[ e = {text} ]"));
        assert!(!found.iter().any(|finding| finding.starts_with("always-true")), "{text}: {found:?}");
    }
    // Only the `||` within is true for every number.
    let found = found("[ e = ifThenElse(x == \"a\", true, x > 4 || x <= 4) ]");
    assert_eq!(found, ["always-true: one of these is true for every value of `x`"]);
}

#[test]
fn a_test_for_identity_with_a_truth_value_is_looked_into() {
    let both = "contradiction: no value of `x` can make both of these true";
    for (text, expected) in [
        ("(x > 5) =!= true && x > 6", both),
        ("(x > 5) isnt true && x > 6", both),
        ("(x < 3) =!= false && x >= 3", both),
        ("(x == 5) =!= true && x == 5", both),
        ("(x > 5) =?= false && x > 6", both),
        (
            "isUndefined(x > 5) == true && x > 6",
            "contradiction: `x` cannot be undefined and have a value at the same time",
        ),
        ("(x > 5 || y > 5) && x < 3 && y < 3", "contradiction: no value of `x` can make all of these true"),
        ("y || ifThenElse((x > 5) =!= true, x > 6, false)", "dead-condition: no value of `x` can make this true"),
    ] {
        assert_eq!(found(&format!("[ e = {text} ]")), [expected], "{text}");
    }
    for text in ["(x > 5) =!= true && x > 4", "(x > 5) =!= true && y > 6", "(x < 3) =!= false && x < 2"] {
        assert_eq!(found(&format!("[ e = {text} ]")), [] as [&str; 0], "{text}");
    }
}

#[test]
fn a_constant_that_decides_a_policy_is_found() {
    let context = Context::new(Dialect::Condor);
    for (text, expected) in [
        ("x > 1 || true", Some("`true`: the `||` around it is never false")),
        ("false && x > 1", Some("`false`: the `&&` around it is never true")),
        ("(x > 1 || (true)) && y", Some("`(true)`: the `||` around it is never false")),
        ("x == 1 || !false", Some("`!false` is always true: the `||` around it is never false")),
        ("x == 1 && (true && false)", Some("`false`: the `&&` around it is never true")),
        ("x > 1 || \"a\" == \"a\"", Some("`\"a\" == \"a\"` is always true: the `||` around it is never false")),
        // What macros that are not set leave changes nothing.
        ("x > 1 || false", None),
        ("true && x > 1", None),
        ("true || false", None),
        ("false", None),
    ] {
        let mut policies = AdChecker::new(Protocol::new(Dialect::Condor), &context).of_partial_ads();
        let mut register = FindingRegister::default();
        let found = register.register(&policies.check(&ad(&format!("[ e = {text} ]"), Dialect::Condor)));
        let found: Vec<String> = found.into_iter().map(|(_, finding)| finding.message).collect();
        assert_eq!(found.first().map(String::as_str), expected, "{text}: {found:?}");
    }
    // In ads, programs write such parts.
    assert_eq!(found("[ e = x > 1 || true ]"), [] as [&str; 0]);
}

#[test]
fn a_constraint_is_looked_at_as_it_is_in_its_ad() {
    for (text, expected) in [
        (
            "[ Requirements = START && other.x > 5; START = other.x < Limit; Limit = 3 ]",
            vec!["contradiction: no value of `TARGET.x` can make both of these true"],
        ),
        (
            "[ Requirements = MY.Foo > 3 && other.x > 5 ]",
            vec!["never-met: no ad can match: this part of the Requirements is undefined in this ad"],
        ),
        (
            "[ Requirements = START && x; START = false ]",
            vec!["never-met: no ad can match: this part of the Requirements is false in this ad"],
        ),
        // What a clause refers to is looked at once, wherever else it is named.
        (
            "[ Requirements = START && other.x > 5 && START; START = MY.Foo > 3 ]",
            vec!["never-met: no ad can match: this part of the Requirements is undefined in this ad"],
        ),
        ("[ Requirements = false ]", vec![]),
        // A contradiction with a machine's present attributes is a note, because these attributes change.
        (
            "[ MyType = \"Machine\"; GPUs = 0; Requirements = other.x > 0 && other.x <= MY.GPUs ]",
            vec!["never-met: no value of `other.x` can make both of these true"],
        ),
        (
            "[ MyType = \"Job\"; Least = 5; Requirements = other.x < 3 && other.x >= MY.Least ]",
            vec!["contradiction: no value of `other.x` can make both of these true"],
        ),
        (
            "[ Requirements = (START) && (WithinResourceLimits); START = true; WithinResourceLimits = other.x < 5 ]",
            vec![],
        ),
        // `Memory` of the ad and `TARGET.Memory` are different attributes.
        ("[ Memory = 5; Requirements = Memory >= 5 && TARGET.Memory < 5 ]", vec![]),
        ("[ START = Memory >= 5 && TARGET.Memory < 5 ]", vec![]),
        // Each reference draws another number, so that both clauses can be true.
        ("[ y = 1 + z; z = random(); Requirements = MY.y < 1.3 && MY.y > 1.6 ]", vec![]),
    ] {
        let expected: Vec<String> = expected.into_iter().map(|text| text.replace("TARGET.x", "other.x")).collect();
        let found: Vec<String> = found(text)
            .into_iter()
            .filter(|found| !found.starts_with("falls"))
            .map(|text| text.replace("TARGET.x", "other.x"))
            .collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn of_contradictions_about_one_attribute_that_of_the_nearest_parts_is_told() {
    for (clauses, expected) in [
        ("other.x > 10 && other.y && other.x < 5 && other.x > 8", "other.x < 5, other.x > 8"),
        ("other.x < 5 && other.x > 8 && other.y && other.x > 10", "other.x < 5, other.x > 8"),
        // Those that stand as they are written come before those that depend on a value of the ad.
        ("other.x > 10 && other.y && other.x < 5 && other.x > MY.Least", "other.x > 10, other.x < 5"),
    ] {
        let text = format!("[ Least = 8; Requirements = {clauses} ]");
        let found = checker(Dialect::Condor).check(&ad(&text, Dialect::Condor));
        let found = found.iter().find(|(_, finding)| finding.rule.name == "contradiction");
        let spans = found.unwrap().1.labels.iter().map(|label| label.span.unwrap().range());
        let places: Vec<&str> = spans.map(|range| &text[range]).collect();
        assert_eq!(places.join(", "), expected, "{text}");
    }
}

#[test]
fn what_programs_write_is_left_alone() {
    for text in [
        "[ START = (true) && (true) && x ]",
        "[ START = true && (true || false) && (isUndefined(y) || y == false) ]",
        "[ Requirements = true; PREEMPT = false || false; Rank = (1) + (1) ]",
        "[ Requirements = TARGET.Arch == \"X86_64\" && TARGET.HasDocker; Rank = TARGET.Mips > 5 ]",
        "[ START = time() < GLIDEIN_ToRetire && 5 < time() ]",
        "[ Requirements = true; Rank = TARGET.x ?: 0 ]",
    ] {
        assert_eq!(found(text), [] as [&str; 0], "{text}");
    }
}

#[test]
fn circles_are_told_once_each() {
    assert_eq!(
        found("[ a = b; b = c + 1; c = a; d = a; e = e; f = TARGET.f; g = 1 ]"),
        ["circular: this refers to itself: a -> b -> c -> a", "circular: this refers to itself: e -> e"]
    );
}

#[test]
fn what_ads_have_in_common_is_counted() {
    let mut checker = checker(Dialect::Condor);
    let text = |memory: usize| format!("[ Requirements = Memroy > RequestMemory; RequestMemory = {memory} ]");
    let first = checker.check(&ad(&text(1), Dialect::Condor));
    assert_eq!(first.len(), 1);
    assert!(checker.check(&ad(&text(2), Dialect::Condor)).is_empty());
    assert!(checker.check(&ad(&text(1), Dialect::Condor)).is_empty());
    assert_eq!(checker.count(first[0].0), 3);
}

#[test]
fn against_a_pool() {
    for (text, expected) in [
        (
            "[ Requirements = TARGET.Memroy > 5 && TARGET.Nothing ]",
            vec![
                "unknown-attribute: the only pool ad has no Memroy (did you mean Memory (1 ad)?)",
                "unknown-attribute: the only pool ad has no Nothing (`classad census POOL` lists the attributes of a pool)",
            ],
        ),
        ("[ Requirements = isUndefined(TARGET.Foo) || TARGET.Foo > 5 ]", vec![]),
        (
            "[ Requirements = TARGET.Memory >= Wanted; Wanted = \"2 GB\" ]",
            vec![
                "wrong-type: Memory is an integer in the pool, but is compared with a string: the result is an error (compare \
                with a value of the attribute's type in the pool)",
            ],
        ),
        ("[ Requirements = TARGET.Memory >= 2.5 && TARGET.HasDocker == 1 ]", vec![]),
    ] {
        let mut checker = checker(Dialect::Condor).with_pool(pool());
        let found = checker.check(&ad(text, Dialect::Condor));
        let found: Vec<String> = found
            .into_iter()
            .map(|(_, finding)| format!("{}: {} ({})", finding.rule.name, finding.message, finding.help))
            .collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn operators_are_told_as_the_dialect_writes_them() {
    for (operator, dialect) in
        [("=?=", Dialect::Condor), ("=!=", Dialect::Condor), ("is", Dialect::Classad), ("isnt", Dialect::Classad)]
    {
        let text = format!("[ Requirements = other.OpSys {operator} \"Linux\"; Constraint = Requirements ]");
        let found = checker(dialect).with_pool(pool()).check(&ad(&text, dialect));
        let expected = format!("the pool has \"LINUX\", and `{operator}` is case-sensitive");
        assert!(found.iter().any(|(_, finding)| finding.message == expected), "{found:?}");
    }
}

#[test]
fn no_depth_harms() {
    for (open, close) in [("(", ")"), ("!", ""), ("{", "}"), ("a && (b || ", ")"), ("-", ""), ("f(", ")")] {
        let text = format!("[ e = {}x{} ]", open.repeat(1500), close.repeat(1500));
        checker(Dialect::Condor).check(&ad(&text, Dialect::Condor));
    }
}

/// Ads of one class differ in constants only. What the checker remembers of one must not be told of another.
#[test]
fn ads_of_one_class_have_the_findings_that_each_has_alone() {
    let clauses = [
        "TARGET.RequestMemory <= MY.Memory",
        "TARGET.RequestMemory > 500",
        "TARGET.RequestDisk <= Disk",
        "MY.Memory > 300",
        "TARGET.Site == Site",
        "Site != \"a\"",
        "(TARGET.RequestGPUs =?= undefined || GPUs >= TARGET.RequestGPUs)",
        "TARGET.RequestGPUs >= 1",
        "START",
        "Load - 0.5 <= Disk",
        "Missing > 3",
        "random(10) > Memory",
        "TARGET.RequestDisk =?= Memory",
        "(RequestCpus < Memory || RequestCpus > Disk)",
        "eval(\"Memory\") > 300",
        "eval(Which) > 300",
        "[ x = Memory ].x > 300",
        "countMatches(x < Memory, { [ x = 300 ], [ x = Disk ] }) > 0",
        "Nested.x > 300",
    ];
    let starts = ["TARGET.RequestMemory >= Disk", "Memory > 100 && RequestDisk > 2.5", "true", "Requirements", "{ 1 }"];
    let ranks = [
        "Memory",
        "Site",
        "strcat(Site, \"x\")",
        "0",
        "\"b\"",
        "Cpus > 2 ? 1 : Site",
        "eval(\"Site\")",
        "[ x = Site ].x",
        ".Site",
        "eval(Which)",
    ];
    let (mut told, mut taken) = (0, 0);
    for seed in 0..60 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut pick = |from: &[&str]| from[random.usize(..from.len())].to_owned();
        let templates: Vec<(String, String, String)> = (0..2)
            .map(|_| {
                let parts: Vec<String> = (0..4).map(|_| pick(&clauses)).collect();
                (parts.join(" && "), pick(&starts), pick(&ranks))
            })
            .collect();
        let mut lines: Vec<String> = Vec::new();
        for _ in 0..30 {
            let (requirements, start, rank) = &templates[usize::from(pick(&["0", "1"]) == "1")];
            lines.push(format!("MyType = {}", pick(&["\"Machine\"", "\"Job\"", "\"Job\"", "Kind"])));
            lines.push(format!("Kind = {}", pick(&["\"Machine\"", "\"Job\""])));
            // Some ads have an attribute that shadows the name of an ad.
            lines.push(pick(&[
                "Cpus = 1",
                "Cpus = 1",
                "Cpus = 1",
                "other = 1",
                "other = { 1 }",
                "target = \"s\"",
                "my = 5",
            ]));
            for name in ["Memory", "Disk", "GPUs", "Load"] {
                let value = pick(&["100", "400", "1000", "2.5", "undefined", "9007199254740993"]);
                lines.push(format!("{name} = {value}"));
            }
            lines.push(format!("Site = {}", pick(&["\"a\"", "\"b\"", "1"])));
            lines.push(format!("Nested = [ x = {} ]", pick(&["Memory", "Disk"])));
            lines.push(format!("Which = {}", pick(&["\"Memory\"", "\"Disk\"", "\"Site\""])));
            lines.push(format!("Requirements = {requirements}\nSTART = {start}\nRank = {rank}\n"));
        }
        let text = lines.join("\n");
        let context = Context::new(Dialect::Condor);
        let new = || AdChecker::new(Protocol::new(Dialect::Condor), &context);
        let tell = |findings: &AdFindings| -> Vec<String> {
            let new = FindingRegister::default().register(findings);
            new.into_iter().map(|(_, finding)| format!("{finding:?}")).collect()
        };
        let mut shared = new();
        let mut cache = ReadCache::new(Dialect::Condor);
        let block = StreamBlock::from_complete_text(text.clone(), FileFormat::Long);
        let (mut by_text, mut text_cache) = (new(), ReadCache::new(Dialect::Condor));
        let mut texts = BlockAds::new(&block, &mut text_cache);
        for entry in read_cached(text.as_bytes(), FileFormat::Long, &mut cache).flatten() {
            let (found, expected) = (tell(&shared.check(&entry.ad)), tell(&new().check(&entry.ad)));
            assert_eq!(found, expected, "seed {seed}, ad {}\n{text}", entry.number);
            told += found.len();
            let mut found = Vec::new();
            let take = |text: AdText| {
                let CheckedText { length, findings, .. } = by_text.check_text(text)?;
                found = tell(&findings);
                Some(length)
            };
            if let Some(BlockItem::Taken(number)) = texts.next(take) {
                assert_eq!((number, found), (entry.number, expected), "seed {seed}\n{text}");
                taken += 1;
            }
        }
    }
    assert!(told > 1000 && taken > 300, "{told}, {taken}");
}

#[test]
fn an_attribute_that_most_ads_lack_is_noted() {
    for (having, lacking, is_noted) in
        [(1, 0, false), (2, 1, false), (2, 2, false), (2, 3, true), (1, 2, true), (0, 3, false)]
    {
        let mut pool = PoolStatistics::default();
        for number in 0..having + lacking {
            pool.add(&ad(if number < having { "[ Foo = 1; x = 1 ]" } else { "[ x = 1 ]" }, Dialect::Condor));
        }
        let found =
            checker(Dialect::Condor).with_pool(pool).check(&ad("[ Requirements = TARGET.Foo == 1 ]", Dialect::Condor));
        let is_found = found.iter().any(|(_, finding)| finding.message.contains("have no Foo"));
        assert_eq!(is_found, is_noted, "{having} of {}: {found:?}", having + lacking);
    }
}

/// The findings about an ad depend on circles anywhere in it, even where its constraint reads none of them.
#[test]
fn a_circle_is_told_of_one_ad_among_others_with_its_constraint() {
    let context = Context::new(Dialect::Condor);
    let pools = [None, Some(std::sync::Arc::new(pool()))];
    for pool in pools {
        let checker = AdChecker::new(Protocol::new(Dialect::Condor), &context);
        let mut checker = if let Some(pool) = pool { checker.with_pool(pool) } else { checker };
        let mut circles = |b: &str| {
            let text = format!("[ MyType = \"Job\"; Requirements = TARGET.Memory > 1; a = b + 1; b = {b} ]");
            let found = FindingRegister::default().register(&checker.check(&ad(&text, Dialect::Condor)));
            found.iter().filter(|(_, finding)| finding.message.contains("refers to itself")).count()
        };
        assert_eq!(["1", "a", "2", "c", "a + 1"].map(&mut circles), [0, 1, 0, 0, 1]);
    }
}
