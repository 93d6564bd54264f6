use super::Store;
use crate::ad::{Ad, Dialect};
use crate::eval::{Context, Environment, Evaluator};
use crate::format::{FileFormat, StreamBlock, read};
use crate::protocol::is_met;
use crate::syntax::{ParseOptions, parse_ad, parse_expression};

/// Reads ads without a store; returns them, and the problems as messages.
fn ads(text: &str, dialect: Dialect) -> (Vec<Ad>, Vec<String>) {
    let (mut ads, mut problems) = (Vec::new(), Vec::new());
    for item in read(text.as_bytes(), FileFormat::Long, dialect) {
        match item {
            Ok(entry) => ads.push(entry.ad),
            Err(problem) => problems.push(format!("{:?} {} {}", problem.range, problem.ad_number, problem.message)),
        }
    }
    (ads, problems)
}

const TEXT: &str = "\u{feff}# a pool\nName = \"a\"\nCpus = 4\nSTART = Cpus > Load\nLoad=0.5\n\n\
    name = \"b\"\r\nCPUS = 8\r\nLoad = Cpus * 0.25\n  START = Cpus > Load\n\n\n\
    Cpus = 1\nCpus = 16\nBad = (\n\nCpus = 2\ncpus = 32\n'odd name' = 1 # ignored\n \n\
    // nothing\n\nText = \"C:\\\\dir\\\"\nCpus = \"many\"\nNames = { \"x\", \"y\" }";

#[test]
fn an_ad_comes_out_as_it_went_in() {
    for dialect in [Dialect::Classad, Dialect::Condor] {
        let (expected, problems) = ads(TEXT, dialect);
        let (mut store, mut found) = (Store::new(dialect), Vec::new());
        store.read(&StreamBlock::from_complete_text(TEXT, FileFormat::Long), |problem| {
            found.push(format!("{:?} {} {}", problem.range, problem.ad_number, problem.message));
        });
        assert_eq!(found, problems);
        assert_eq!(problems.len(), 2);
        assert_eq!((store.len(), expected.len()), (4, 4));
        for (row, ad) in expected.iter().enumerate() {
            let kept = store.ad(row).unwrap();
            assert!(kept == *ad, "{row}");
            let names = |ad: &Ad| ad.iter().map(|attribute| attribute.name.to_string()).collect::<Vec<_>>();
            assert_eq!(names(&kept), names(ad));
        }
        assert_eq!(store.ad(4).map(|ad| ad.len()), None);
    }
}

#[test]
fn what_a_line_cannot_carry_is_kept() {
    let mut store = Store::new(Dialect::Condor);
    let ad =
        parse_ad(b"[ a = \"two\\nlines\"; b = { \"x\\\\\" }; c = [ d = 1; e = d ] ]", ParseOptions::default()).unwrap();
    store.add(&ad);
    store.add(&ad);
    store.shrink();
    assert!(store.ad(0).unwrap() == ad && store.ad(1).unwrap() == ad);
    assert_eq!(store.shapes(), 1);
}

/// A random line; few names and values, so that they repeat.
fn line(random: &mut fastrand::Rng) -> String {
    let mut pick = |among: &[&str]| among[random.usize(..among.len())].to_owned();
    let name = pick(&["a", "A", "b", "c", "d", "START", "target"]);
    // Rare: a name of a scope disables every column.
    let name = if name == "target" { pick(&["a", "b", "c", "d", "a", "b", "c", "target"]) } else { name };
    let value = pick(&[
        "1",
        "2",
        "3",
        "2.0",
        "true",
        "FALSE",
        "\"x\"",
        "\"X\"",
        "undefined",
        "error",
        "a + 1",
        "b",
        "MY.c > 1",
        "-0.0",
        "4294967296",
        "9007199254740993",
        "{ 1 }",
        "[ a = 5 ]",
        "TARGET.a",
        "START",
        "d",
        "1",
        "2",
        "3",
    ]);
    format!("{name} = {value}\n")
}

#[test]
fn a_selection_is_evaluation() {
    let constraints = [
        "a > 1",
        "2 >= b",
        "MY.a == \"x\"",
        "a",
        "a && b < 3",
        "(a is 2) && c isnt undefined",
        "b isnt 2",
        "a is \"X\"",
        "a != b",
        "START",
        "START && c",
        "a + b > 3",
        "isUndefined(a) && b",
        "d is undefined",
        "a is error",
        "b == 2.0",
        "eval(\"a > 1\")",
        "size(unparse(a)) > 1",
        "TARGET.a is 1",
        "other.a > 1",
        "MY.d",
        "a < 9007199254740992.0",
        "member(2, { a, b })",
        "c > true",
        "[ a = 7 ].a > a",
        "true",
        "error",
        "a < \"y\"",
        "unknown is undefined",
        "size(MY) > 2",
    ];
    let mut selected = 0;
    for dialect in [Dialect::Classad, Dialect::Condor] {
        let context = Context::new(dialect);
        for seed in 0..150 {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut text = String::new();
            for _ in 0..random.usize(1..80) {
                (0..random.usize(1..6)).for_each(|_| text.push_str(&line(&mut random)));
                text.push('\n');
            }
            let (ads, _) = ads(&text, dialect);
            let mut store = Store::new(dialect);
            store.read(&StreamBlock::from_complete_text(text, FileFormat::Long), |_| {});
            for constraint in constraints {
                let tree = parse_expression(constraint.as_bytes(), ParseOptions::new(dialect)).unwrap();
                let accepts = |ad: &Ad| {
                    let (environment, frame) = Environment::single(ad.clone());
                    let value = Evaluator::new(&environment, &context).evaluate(&tree, &frame);
                    value.is_ok_and(|value| is_met(&value, dialect))
                };
                let expected: Vec<usize> = (0..ads.len()).filter(|row| accepts(&ads[*row])).collect();
                let found = store.select(&tree, &context);
                assert_eq!(found.ads.ones().collect::<Vec<_>>(), expected, "{constraint}, {dialect}, seed {seed}");
                selected += expected.len();
            }
        }
    }
    assert!(selected > 1000, "{selected}");
}

/// Many ads, most with distinct texts: none is lost when deduplication is given up.
#[test]
fn attributes_that_hardly_repeat() {
    use std::fmt::Write;
    let mut text = String::new();
    for number in 0..3000 {
        let _ = write!(text, "Name = \"slot{number}\"\nKind = {}\nTwice = {}\n\n", number % 3, number / 2);
    }
    let mut store = Store::new(Dialect::Condor);
    store.read(&StreamBlock::from_complete_text(text.clone(), FileFormat::Long), |problem| {
        panic!("{}", problem.message)
    });
    store.shrink();
    let (expected, _) = ads(&text, Dialect::Condor);
    assert!(expected.iter().enumerate().all(|(row, ad)| store.ad(row).as_ref() == Some(ad)));
    for (constraint, count) in
        [("Name == \"SLOT17\"", 1), ("Kind == 1", 1000), ("Twice < 10 && Kind != 2", 14), ("size(Name) == 5", 10)]
    {
        let tree = parse_expression(constraint.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        let found = store.select(&tree, &Context::new(Dialect::Condor));
        assert_eq!((found.ads.count_ones(..), found.failures), (count, 0), "{constraint}");
    }
}
