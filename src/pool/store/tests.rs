use super::Store;
use crate::ad::{Ad, Dialect, Value};
use crate::eval::{Context, Environment, Evaluator};
use crate::format::{FileFormat, read};
use crate::syntax::{ParseOptions, Style, parse_expression, print_value};

const VALUES: [&str; 18] = [
    "1",
    "1",
    "2",
    "2",
    "3",
    "3",
    "2.0",
    "true",
    "FALSE",
    "\"x\"",
    "\"X\"",
    "undefined",
    "error",
    "-0.0",
    "4294967296",
    "9007199254740993",
    "{ 1 }",
    "[ a = 5 ]",
];

const REFERENCES: [&str; 6] = ["a + 1", "b", "MY.c > 1", "TARGET.a", "START", "d"];

fn shown(value: &Value) -> String {
    String::from_utf8_lossy(&print_value(value, Style::New)).into_owned()
}

/// Returns a random line of an ad. Few names and values are possible, so that many ads agree. Without `has_references`
/// no value depends on other attributes.
fn line(random: &mut fastrand::Rng, has_references: bool) -> String {
    // `target` is the name of a scope. A single ad with such an attribute disables the columns, so that it must be
    // rare.
    let names = ["a", "A", "b", "c", "d", "START", "a", "b", "c", "d", "A", "START", "target"];
    let may_be_scope = has_references && random.bool();
    let name = names[random.usize(..names.len() - usize::from(!may_be_scope))];
    let value = match random.usize(..VALUES.len() + REFERENCES.len()) {
        choice if choice >= VALUES.len() && has_references => REFERENCES[choice - VALUES.len()],
        choice => VALUES[choice % VALUES.len()],
    };
    format!("{name} = {value}\n")
}

#[test]
fn values_are_those_of_every_ad_alone() {
    let constraints = [
        "a > 1",
        "2 >= b",
        "MY.a == \"x\"",
        "a",
        "a && b < 3",
        "a > 1 && b < 3 && c isnt 2",
        "a is 1 && (b isnt 2 && ((c || true))) && isUndefined(unknown)",
        "b && c && a",
        "c < 3 && error && a",
        "strcat(a, b) != \"12\" && strcat(b, c) != \"23\"",
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
    let mut met = 0;
    for dialect in [Dialect::Classad, Dialect::Condor] {
        for seed in 0..40 {
            // Every other time the budgets are so small that some evaluations exceed them.
            let mut context = Context::new(dialect);
            if seed % 2 == 1 {
                (context.max_steps, context.max_depth, context.max_value_bytes) = (4 + seed / 2, 12, 4 + seed / 4);
            }
            let mut random = fastrand::Rng::with_seed(seed);
            let mut text = String::new();
            // Without references, a clause of one attribute runs over the values of its column.
            let has_references = seed % 4 < 2;
            for _ in 0..if has_references { random.usize(1..80) } else { 150 } {
                (0..random.usize(1..6)).for_each(|_| text.push_str(&line(&mut random, has_references)));
                text.push('\n');
            }
            let ads: Vec<Ad> =
                read(text.as_bytes(), FileFormat::Long, dialect).flatten().map(|entry| entry.ad).collect();
            let stores = [Store::new(ads.clone(), dialect), Store::with_all_columns(ads.clone(), dialect)];
            for mut store in stores {
                for constraint in constraints {
                    let tree = parse_expression(constraint.as_bytes(), ParseOptions::new(dialect)).unwrap();
                    let found = store.evaluate(&tree, &context);
                    for (row, ad) in ads.iter().enumerate() {
                        let (environment, frame) = Environment::single(ad.clone());
                        let expected = Evaluator::new(&environment, &context).evaluate(&tree, &frame);
                        let [found, expected] = [found.value(row), expected.as_ref()].map(|value| value.map(shown));
                        assert_eq!(found.ok(), expected.as_ref().ok().cloned(), "{constraint}, {dialect}, seed {seed}");
                        met += usize::from(expected.is_ok_and(|value| value == "true"));
                    }
                }
            }
        }
    }
    assert!(met > 500, "{met}");
}

#[test]
fn one_attribute_with_the_name_of_a_scope_is_enough() {
    for (text, expected) in [
        ("", false),
        ("a = 1\n\nb = 2\n", false),
        ("a = 1\nmine = 2\n", false),
        ("a = 1\n\nb = 2\nTarget = 3\n", true),
        ("my = 1\n", true),
    ] {
        let ads = || read(text.as_bytes(), FileFormat::Long, Dialect::Condor).map(|entry| entry.unwrap().ad).collect();
        for store in [Store::new(ads(), Dialect::Condor), Store::with_all_columns(ads(), Dialect::Condor)] {
            assert_eq!(store.has_scope_attribute(), expected, "{text}");
        }
    }
}
