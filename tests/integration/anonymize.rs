//! Anonymized ads beside the ads themselves: values, matches, and what is listed.

use classad::ad::{Ad, Dialect, Name, Value};
use classad::eval::{Context, Environment, Evaluator};
use classad::format::{FileFormat, read};
use classad::pool::anonymize::Anonymizer;
use classad::syntax::{ParseOptions, Style, parse_ad, print_value};
use fastrand::Rng;

use crate::binary::{classad, classad_on, file};
use crate::checks::random::{NAMES, Text, context, seeds};

const STRINGS: [&str; 10] = [
    "\"alice\"",
    "\"ALICE\"",
    "\"Alice@cs.wisc.edu\"",
    "\"slot1@cs.wisc.edu\"",
    "\"LINUX\"",
    "\"10.0.0.1\"",
    "\"/home/alice\"",
    "\"\"",
    "\"17\"",
    "\"10.0.0.2\"",
];

/// Returns a random expression that compares strings for equality, and seldom does more with them.
fn expression(random: &mut Rng, depth: u32) -> String {
    if depth == 0 || random.u8(..5) == 0 {
        return match random.u8(..8) {
            0..4 => STRINGS[random.usize(..STRINGS.len())].to_owned(),
            4 => random.i32(..3).to_string(),
            5 => format!("TARGET.{}", NAMES[random.usize(..NAMES.len())]),
            _ => NAMES[random.usize(..NAMES.len())].to_owned(),
        };
    }
    let [a, b, c] = [(); 3].map(|()| expression(random, depth - 1));
    match random.u8(..16) {
        0..4 => format!("({a} == {b})"),
        4 => format!("({a} =!= {b})"),
        5..7 => format!("({a} =?= {b})"),
        7 => format!("({a} && {b})"),
        8 => format!("({a} || {b})"),
        9 => format!("({a} ? {b} : {c})"),
        10 => format!("member({a}, {{ {b}, {c} }})"),
        11 => format!("ifThenElse({a}, {b}, {c})"),
        12 => format!("({a} ?: {b})"),
        13 => format!("[ n = {a} ].n"),
        14 => format!("({a} + {b} < 3)"),
        _ => {
            ["(MY.a < TARGET.b)", "regexp(\"^al\", a)", "size(b)", "(strcat(a, b) == c)"][random.usize(..4)].to_owned()
        }
    }
}

fn parsed(text: &str, dialect: Dialect) -> Ad {
    parse_ad(text.as_bytes(), ParseOptions::new(dialect)).expect(text)
}

/// Returns the values of the attributes of each of two ads, facing the other. `None` for a value that is not found within
/// the budgets.
fn values(ads: &[Ad; 2], context: &Context) -> Vec<Option<Value>> {
    let (environment, frames) = Environment::pair(ads[0].clone(), ads[1].clone());
    let sides = ads.iter().zip(&frames);
    let value = |expression, frame| Evaluator::new(&environment, context).evaluate(expression, frame).ok();
    sides.flat_map(|(ad, frame)| ad.expressions().iter().map(move |expression| value(expression, frame))).collect()
}

/// Checks that two ads of which nothing is listed keep their values. Returns whether nothing is listed.
fn check_values(ads: &[Ad; 2], dialect: Dialect, place: &str) -> bool {
    let mut anonymizer = Anonymizer::new(b"key");
    let anonymous = [&ads[0], &ads[1]].map(|ad| anonymizer.anonymize(ad));
    if !anonymizer.take_uses().beyond_equality().is_empty() {
        return false;
    }
    let context = context(dialect);
    for (before, after) in values(ads, &context).into_iter().zip(values(&anonymous, &context)) {
        let (Some(before), Some(after)) = (before, after) else { continue };
        assert_eq!(before.value_type(), after.value_type(), "{place}");
        if !matches!(before, Value::Ad(_)) {
            let [expected, found] = [&anonymizer.anonymize_value(&before), &after]
                .map(|value| String::from_utf8(print_value(value, Style::New)).unwrap());
            assert_eq!(expected, found, "{place}");
        }
    }
    true
}

#[test]
fn what_is_not_listed_keeps_its_value() {
    let (mut unlisted, mut of_any) = (0, 0);
    for seed in seeds().step_by(3) {
        for dialect in [Dialect::Classad, Dialect::Condor] {
            let mut random = Rng::with_seed(seed);
            let mut ad = || {
                let count = random.usize(6..=8);
                let attributes = NAMES[..count].iter().map(|name| {
                    let depth = random.u32(..3);
                    format!("{name} = {}", expression(&mut random, depth))
                });
                format!("[ {} ]", attributes.collect::<Vec<_>>().join("; "))
            };
            let texts = [ad(), ad()];
            let ads = [&texts[0], &texts[1]].map(|text| parsed(text, dialect));
            unlisted += usize::from(check_values(&ads, dialect, &format!("seed {seed}: {texts:?}")));
            // Expressions of any kind, most of which are listed.
            let mut random = Text::new(seed);
            let texts = [random.ad(1, 4), random.ad(1, 4)];
            let ads = [&texts[0], &texts[1]].map(|text| parsed(text, dialect));
            of_any += usize::from(check_values(&ads, dialect, &format!("seed {seed}: {texts:?}")));
        }
    }
    assert!(unlisted > 50 && of_any > 50, "{unlisted} {of_any}");
}

#[test]
fn pools_match_as_before() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let (mut matches, mut pairs, mut changed) = (0, 0, 0);
    for seed in ["1", "2"] {
        let [jobs, machines] = ["jobs", "machines"].map(|kind| {
            let size = ["--jobs", "60", "--machines", "60", "--seed", seed, "--form", "long"];
            classad(&[&["workload", "pool", "--kind", kind], &size[..]].concat()).1
        });
        let samples = ["jobs", "machines"]
            .map(|name| std::fs::read_to_string(format!("{folder}/samples/pool/{name}.long")).expect("it is there"));
        for [jobs, machines] in [[jobs, machines], samples] {
            let ads = |text: &str| -> Vec<Ad> {
                let entries = read(text.as_bytes(), FileFormat::Long, Dialect::Condor);
                entries.map(|entry| entry.expect("it is an ad").ad).collect()
            };
            let (jobs, machines) = (ads(&jobs), ads(&machines));
            let mut anonymizer = Anonymizer::new(seed.as_bytes());
            let [anonymous_jobs, anonymous_machines] =
                [&jobs, &machines].map(|ads| ads.iter().map(|ad| anonymizer.anonymize(ad)).collect::<Vec<Ad>>());
            let (context, name) = (context(Dialect::Condor), "Requirements".into());
            let both = |pair: [&Ad; 2]| {
                let (environment, frames) = Environment::pair(pair[0].clone(), pair[1].clone());
                let value = |side: usize| {
                    let expression = pair[side].get(&name)?;
                    Evaluator::new(&environment, &context).evaluate(expression, &frames[side]).ok()
                };
                [value(0), value(1)]
            };
            for (job, anonymous_job) in jobs.iter().zip(&anonymous_jobs) {
                for (machine, anonymous_machine) in machines.iter().zip(&anonymous_machines) {
                    let [before, after] = [both([job, machine]), both([anonymous_job, anonymous_machine])];
                    let is_match =
                        |values: &[Option<Value>; 2]| values.iter().all(|v| *v == Some(Value::Boolean(true)));
                    if is_match(&before) != is_match(&after) {
                        // A constraint that does more with strings than to compare them for equality is listed.
                        let mut anonymizer = Anonymizer::new(seed.as_bytes());
                        for ad in [job, machine] {
                            anonymizer.anonymize(ad);
                        }
                        let uses = anonymizer.take_uses();
                        let constraints = ["Requirements", "START", "WithinResourceLimits"].map(Name::new);
                        let listed = uses.beyond_equality();
                        assert!(listed.iter().any(|(name, _)| constraints.contains(name)), "{job:?} {machine:?}");
                        changed += 1;
                    }
                    matches += usize::from(is_match(&before));
                    pairs += 1;
                }
            }
        }
    }
    assert!(matches > 100 && pairs > matches && changed < matches / 2, "{matches} of {pairs}, {changed} changed");
}

#[test]
fn uses_beyond_equality_are_listed() {
    let text = "Owner = \"alice\"\nHost = \"h1\"\nMemory = 5\nSite = Host\n\
        A = Owner == \"bob\" && Memory < 7 && member(Owner, {\"x\"})\n\
        B = regexp(\"^al\", Owner) && Site < Owner\nC = stringListMember(Owner, \"alice,bob\")\n\
        D = TARGET.Disk >= Memory\nE = TARGET.Disk >= TARGET.Site\nF = [ x = substr(Host, 1) ]\nG = size({ 1, 2 })\n";
    let (status, out, told) = run_on(&["anonymize", "--key", "k", "--keep", "h1,x-y"], text);
    assert_eq!(status, Some(0));
    let line = |name: &str, uses: &str| {
        format!("warning: with pseudonyms, the value of {name} may differ, because {uses} may look into strings\n")
    };
    let expected = [
        line("B", "`<` and `regexp()`"),
        line("C", "`stringListMember()`"),
        line("E", "`>=`"),
        line("F", "`substr()`"),
    ];
    let note = "note: names of attributes are kept, but for identifiers; make sure that you may share them\n";
    assert_eq!(told, expected.concat() + note);
    assert!(out.contains("Host = \"h1\"\nMemory = 5\n"), "{out}");
    assert!(!out.contains("alice") && !out.contains("bob"), "{out}");
    // Equal texts have one pseudonym, in values and in expressions.
    let owner = out.lines().next().and_then(|line| line.split('"').nth(1)).expect("there is an owner");
    assert_eq!(out.matches(owner).count(), 2, "{out}");
}

fn run_on(arguments: &[&str], text: &str) -> (Option<i32>, String, String) {
    classad_on(arguments, text.as_bytes())
}

#[test]
fn the_key_alone_decides() {
    let key = file("anonymize.key", b"secret");
    let empty = file("anonymize-empty.key", b"");
    let one = |arguments: &[&str]| run_on(&[&["anonymize"], arguments].concat(), "Owner = \"alice\"\n");
    assert_eq!(one(&["--key", "secret"]).1, one(&["--key-file", &key]).1);
    assert_ne!(one(&["--key", "secret"]).1, one(&["--key", "secret2"]).1);
    assert_ne!(one(&[]).1, one(&[]).1);
    for wrong in [&["--key", ""][..], &["--key-file", &empty], &["--key-file", "/nonexistent"]] {
        let (status, out, told) = one(wrong);
        assert!(status == Some(2) && out.is_empty() && told.starts_with("error: "), "{told}");
    }
    let (status, out, told) = run_on(&["anonymize", "--key", "k"], "A = (\nB = \"x\"\n\nC = \"x\"\n");
    assert!(status == Some(2) && out.contains("C = ") && told.contains(":1:"), "{out}{told}");
}

#[test]
fn numbers_of_jobs_are_replaced_and_versions_kept() {
    let ad = "A = \"26704179.0\"\nB = \"12345678\"\nC = \"24.04\"\nD = \"2025.11.3\"\n";
    let (status, out, _) = run_on(&["anonymize", "--key", "k"], ad);
    assert_eq!(status, Some(0));
    for (text, is_kept) in [("26704179", false), ("12345678", false), ("\"24.04\"", true), ("\"2025.11.3\"", true)] {
        assert_eq!(out.contains(text), is_kept, "{out}");
    }
}

#[test]
fn deep_expressions_are_no_danger() {
    let deep = format!("A = {}\"x\"{}\n", "(".repeat(400), ")".repeat(400));
    assert_eq!(run_on(&["anonymize", "--key", "k"], &deep).0, Some(0));
    let long = format!("A = {}1\n", "\"x\" == \"y\" || ".repeat(20_000));
    assert_eq!(run_on(&["anonymize", "--key", "k"], &long).0, Some(0));
}

#[test]
fn what_says_how_to_compute_is_kept() {
    let mut anonymizer = Anonymizer::new(b"key");
    for (text, expected) in [
        ("int(\"13X\") + int(\"12GB\")", "int(\"13X\") + int(\"12GB\")"),
        ("real(\"1.5x\")", "real(\"1.5x\")"),
        ("stringListMember(\"LINUX\", \"LINUXxDebian\", \"x\")", ""),
        ("regexp(\"LINUX\", OpSys, \"i\")", "regexp(\"LINUX\", OpSys, \"i\")"),
        ("regexps(\"LINUX\", OpSys, \"Linux\", \"i\")", "regexps(\"LINUX\", OpSys, \"Linux\", \"i\")"),
        ("eval(\"TARGET.Cpus > 1 && Foo == 2\")", "eval(\"TARGET.Cpus > 1 && Foo == 2\")"),
    ] {
        let ad = anonymizer.anonymize(&parsed(&format!("[ a = {text} ]"), Dialect::Condor));
        let printed = String::from_utf8(classad::syntax::print_ad(&ad, Style::New)).unwrap();
        if expected.is_empty() {
            assert!(printed.contains(", \"x\")"), "{printed}");
        } else {
            assert_eq!(printed, format!("[ a = {expected} ]"));
        }
    }
    let ad = anonymizer.anonymize(&parsed("[ o = \"alice\"; a = eval(\"Owner == \\\"alice\\\"\") ]", Dialect::Condor));
    let printed = String::from_utf8(classad::syntax::print_ad(&ad, Style::New)).unwrap();
    let alice = printed.split('"').nth(1).unwrap();
    assert!(alice != "alice" && printed.contains(&format!("eval(\"Owner == \\\"{alice}\\\"\")")), "{printed}");
}
