use proptest::prelude::*;
use rustc_hash::FxHashSet;

use super::grid::{Grid, subjects_of};
use super::{
    contradicts_itself, inconsistencies, inconsistencies_without, is_plainly_met, lone_clauses, possible_truths,
    tautologies,
};
use crate::ad::{Ad, Dialect, Expression, ExpressionKind, Truth, Value};
use crate::constraint::{conjuncts, disjuncts};
use crate::eval::{Context, Environment, Evaluator, FUNCTIONS, tested_type};
use crate::syntax::{ParseOptions, Style, parse_ad, parse_expression, print};

/// Returns each contradiction in a constraint as `indexes subject kind`, such as `0,1 x type`.
fn found(text: &str, dialect: Dialect) -> Vec<String> {
    let tree = parse_expression(text.as_bytes(), ParseOptions::new(dialect)).unwrap();
    inconsistencies(&conjuncts(&tree), dialect)
        .iter()
        .map(|one| {
            let parts: Vec<String> = one.clauses.iter().map(ToString::to_string).collect();
            let subject = String::from_utf8(print(&one.subject, Style::New)).unwrap();
            format!("{} {subject} {}", parts.join(","), format!("{:?}", one.kind).to_lowercase())
        })
        .collect()
}

#[test]
fn the_errors_of_the_thesis() {
    for dialect in [Dialect::Classad, Dialect::Condor] {
        for (text, expected) in [
            ("other.x < 10 && other.x > 12", "0,1 other.x value"),
            ("other.x < 10 && other.x == \"a\"", "0,1 other.x type"),
            ("x == \"a\" && y > 1 && x == \"B\"", "0,2 x value"),
            ("target.x < 10 && x >= 10", "0,1 target.x value"),
            ("10 > x && x > 8 && x != 9 && x is 9", "2,3 x value"),
            ("x && !x", "0,1 x value"),
            ("x is undefined && x > 5", "0,1 x presence"),
            ("isUndefined(x) && x", "0,1 x presence"),
            ("isString(x) && x > 5", "0,1 x type"),
            ("ifThenElse(x > 5, false, x > 6)", "0 x value"),
            ("(x > 5) == false && x > 6", "0,1 x value"),
            ("(x > 5) =!= true && x > 6", "0,1 x value"),
            ("(x < 3) isnt false && x == 4", "0,1 x value"),
            ("!((x == 5) =?= true) && 5 == x", "0,1 x value"),
            ("isUndefined(x > 5) && x == 3", "0,1 x presence"),
            ("isError(x > 5) && x > 7", "0,1 x type"),
            ("((x > 5) is true) is false && x > 6", "0,1 x value"),
            ("ifThenElse((x > 5) =!= true, x > 6, false)", "0 x value"),
            ("(y > 5 || x > 5) && x < 3 && y < 3", "0,1,2 y value"),
            ("((x > 5) ?: y) && x < 3 && y", "0,1 x value"),
            ("true is (x > 5) && x < 5", "0,1 x value"),
            ("(x > 5 ? 1 : 2) == 1 && x < 3", "0,1 x value"),
            ("ifThenElse(x > 5, \"a\", \"b\") == \"b\" && x > 6", "0,1 x value"),
            ("y == (x > 5 ? 1 : 20) && y > 20", "0,1 y value"),
            ("y == (x > 5 ? 20 : 1) && y > 20", "0,1 y value"),
            ("isString(x) != true && x == \"a\"", "0,1 x type"),
            ("member(x, {1, 2}) && (x == 3 || x == 4)", "0,1 x value"),
            ("stringListMember(x, \"a, b\") && x is \"A\"", "0,1 x value"),
            ("x is \"a\" && x is \"A\"", "0,1 x value"),
            ("x < 3 && x >= 3", "0,1 x value"),
            ("size(Name) > 10 && size(Name) < 5", "0,1 size(Name) value"),
            ("cpu.x > 10 && cpu.X < 5", "0,1 cpu.x value"),
            ("!(x >= 5) && x > 7", "0,1 x value"),
            ("(x < 1 && x > 2 || x == \"a\" && x == \"b\")", "0 x value"),
            ("(x < 1 || x > 8) && x >= 1 && x <= 8", "0,1,2 x value"),
            ("x is 5 && x is 5.0", "0,1 x value"),
            ("x <= \"a\" && x > \"b\"", "0,1 x value"),
            ("a + b > 3 && a + b < 2", "0,1 a + b value"),
            ("x < relTime(\"5\") && x > relTime(\"1:00\")", "0,1 x value"),
            ("x < absTime(\"2001-02-03T04:05:06Z\") && x > absTime(\"2001-02-03T05:05:05+01:00\")", "0,1 x value"),
            ("x is absTime(\"2001-02-03T04:05:06Z\") && x > absTime(\"2002-02-03T04:05:06Z\")", "0,1 x value"),
            ("x > relTime(\"5\") && x > absTime(\"2001-02-03T04:05:06Z\")", "0,1 x type"),
        ] {
            let found = found(text, dialect).join("; ");
            assert_eq!(found, expected, "{text} in {dialect}");
        }
    }
}

#[test]
fn what_can_be_is_not_reported() {
    for text in [
        "x < 10 && x > 8 && x != 9",
        "x == \"a\" && x == \"A\"",
        "x == \"a\" && x isnt \"a\"",
        // What is a text at best, beside a clause about other attributes.
        "!(x == 1 || x < 0) && (a < \"a\" || c < 3) && (x < \"a\" ? x : x < 0)",
        "x <= 3 && x >= 3",
        "isInteger(x) && x < 9007199254740992.0",
        "isInteger(x) && x > -3e9",
        "isInteger(x) && x > 9007199254740992.0",
        "isInteger(x) && x < -9007199254740992.0",
        "isInteger(x) && x != 1e300",
        "x isnt undefined && x < 3",
        "x < 3 && other.y > 5",
        "MY.x < 3 && other.x > 5",
        "random() < 0.1 && random() > 0.9",
        "(x < 1 && x > 2) || y",
        "(x > 5) isnt true && (x isnt 3 || x > 6)",
        "isString(x ? -y : true)",
        "(-x) == y && x > 0 && y < 0",
        "(!x) == y && x && !y",
        "isString(x ? y + z : true)",
        "(x > 5) == y && x < 3",
        "y == (x > 5 ? 1 : 20) && y > 10",
        "y == (x > 5 ? 20 : 1) && y > 10",
        "y == ifThenElse(x > 5, 1, z > 5 ? 2 : 20) && y > 10",
        "ifThenElse(x > 5, \"a\", \"b\") == y && y isnt \"a\"",
        "ifThenElse(x > 5, y, x > 6)",
        "x == 9007199254740993 && x == 9007199254740992.0",
        "member(x, {1, 2}) && x is 2",
        "x > 3 && x < 4",
        "x > relTime(\"5\") && x < relTime(\"6\")",
        "x >= absTime(\"2001-02-03T04:05:06Z\") && x <= absTime(\"2001-02-03T05:05:06+01:00\")",
        "x is absTime(\"2001-02-03T04:05:06Z\") && x isnt absTime(\"2001-02-03T05:05:06+01:00\")",
    ] {
        assert_eq!(found(text, Dialect::Condor), [] as [&str; 0], "{text}");
    }
    // The truth of an operand decides a comparison with it.
    for text in ["(!x) == y && x && y", "y == (x is 3) && x is 3 && !y"] {
        assert_ne!(found(text, Dialect::Condor), [] as [&str; 0], "{text}");
    }
    // Booleans compare with numbers only in HTCondor's dialect.
    assert_eq!(found("x < 5 && x", Dialect::Classad), ["0,1 x type"]);
    assert_eq!(found("x < 5 && x", Dialect::Condor), [] as [&str; 0]);
    assert_eq!(found("!x && x > 3", Dialect::Condor), ["0,1 x value"]);
}

#[test]
fn what_is_true_of_whole_types_is_a_tautology() {
    for (text, expected) in [
        ("x > 5 || x <= 5", Some(vec![0, 1])),
        ("(x > 5) =?= true || x <= 5", Some(vec![0, 1])),
        ("y || x < 3 || x == 3 || x > 3 || x == 7", Some(vec![1, 2, 3])),
        ("x == \"a\" || x != \"a\"", Some(vec![0, 1])),
        ("isUndefined(x) || isUndefined(x) == false", Some(vec![0, 1])),
        ("x < 3 || (x >= 3 && isUndefined(y)) || (x >= 3 && !isUndefined(y))", Some(vec![0, 1, 2])),
        // For `"b"` the comparisons with numbers are errors.
        ("x == \"a\" || x > 5 || x <= 5", None),
        ("(x > 5) =?= true || (x <= 5) =?= true", None),
        ("x > 5 || x < 5", None),
        ("x > 5 || (x <= 5 && y)", None),
        ("x == 1 || true", None),
    ] {
        for dialect in [Dialect::Classad, Dialect::Condor] {
            let tree = parse_expression(text.as_bytes(), ParseOptions::new(dialect)).unwrap();
            let found = tautologies(&disjuncts(&tree), dialect);
            assert_eq!(found.first().map(|one| one.operands.clone()), expected, "{text} in {dialect}");
        }
    }
}

#[test]
fn neither_depth_nor_length_harms() {
    let deep = format!("{}x && x < 5", "!".repeat(100_000));
    assert!(found(&deep, Dialect::Condor).is_empty());
    let long = |from: usize| (from..from + 2000).map(|n| format!("x == {n}")).collect::<Vec<_>>().join(" || ");
    assert!(found(&format!("({}) && ({})", long(0), long(1000)), Dialect::Condor).is_empty());
}

const VALUES: &[&str] = &[
    "undefined",
    "error",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "2",
    "3",
    "4",
    "9007199254740992",
    "9007199254740993",
    "-9007199254740993",
    "9223372036854775807",
    "0.0",
    "-0.0",
    "1.0",
    "0.5",
    "1.5",
    "2.5",
    "3.0",
    "9007199254740992.0",
    "1E300",
    "real(\"NaN\")",
    "real(\"INF\")",
    "-real(\"INF\")",
    "\"\"",
    "\"a\"",
    "\"A\"",
    "\"b\"",
    "\"aa\"",
    "\"B\"",
    "\"1\"",
    "\"undefined\"",
    "absTime(\"2001-02-03T04:05:06Z\")",
    "absTime(\"2001-02-03T05:05:06+01:00\")",
    "absTime(\"2001-02-03T04:05:07Z\")",
    "relTime(\"5\")",
    "relTime(\"5\") * 2",
    "relTime(\"5\") / 2",
    "relTime(\"5\") * real(\"NaN\")",
    "{}",
    "{ 1 }",
    "[]",
    "[ a = 1 ]",
];

fn condition() -> impl Strategy<Value = String> {
    let subject = || prop::sample::select(vec!["x", "other.x", "TARGET.x", "y"]).prop_map(str::to_owned);
    let constant = || {
        prop::sample::select(vec![
            "0",
            "1",
            "2",
            "3",
            "1.0",
            "1.5",
            "9007199254740992",
            "9007199254740993",
            "9007199254740992.0",
            "\"a\"",
            "\"A\"",
            "\"b\"",
            "true",
            "false",
            "undefined",
            "relTime(\"5\")",
            "relTime(\"7\")",
            "absTime(\"2001-02-03T04:05:06Z\")",
            "absTime(\"2001-02-03T06:05:06+02:00\")",
            "absTime(\"2001-02-03T04:05:07Z\")",
            "error",
        ])
        .prop_map(str::to_owned)
    };
    let operators = vec!["<", "<=", "==", "!=", ">=", ">", "is", "isnt"];
    let comparison = (subject(), prop::sample::select(operators), constant(), any::<bool>()).prop_map(
        |(left, operator, right, turned)| {
            let (left, right) = if turned { (right, left) } else { (left, right) };
            format!("({left} {operator} {right})")
        },
    );
    let searches = vec!["member", "isMember", "identicalMember"];
    let member = (prop::sample::select(searches), subject(), prop::collection::vec(constant(), 0..4))
        .prop_map(|(name, subject, list)| format!("{name}({subject}, {{ {} }})", list.join(", ")));
    let listed = (any::<bool>(), subject(), prop::sample::select(vec!["a, b", "A", "", "1,undefined"])).prop_map(
        |(any, subject, list)| format!("stringList{}Member({subject}, \"{list}\")", if any { "I" } else { "" }),
    );
    let predicates: Vec<&str> = FUNCTIONS.iter().filter_map(|of| tested_type(of).map(|_| of.name)).collect();
    let predicate =
        (prop::sample::select(predicates), subject()).prop_map(|(name, subject)| format!("{name}({subject})"));
    let leaf = prop_oneof![
        6 => comparison, 1 => member, 1 => listed, 1 => predicate, 2 => subject(),
        1 => prop::sample::select(vec!["true", "false"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|a| format!("(!({a}))")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} || {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} && {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} ?: {b})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("ifThenElse({a}, {b}, {c})")),
            (inner, prop::sample::select(vec!["==", "!=", "is", "isnt", "<", ">="]), any::<bool>())
                .prop_map(|(a, operator, truth)| format!("({a} {operator} {truth})")),
        ]
    })
}

/// Whether the other side meets all clauses in `parts`.
fn all_met(parts: &[&Expression], other: &Ad, dialect: Dialect) -> bool {
    let (environment, [left, _]) = Environment::pair(Ad::default(), other.clone());
    let context = Context::new(dialect);
    parts.iter().all(|part| {
        Truth::of(&Evaluator::new(&environment, &context).evaluate(part, &left).unwrap(), dialect).is_true()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]
    #[test]
    fn what_is_reported_is_never_true(parts in prop::collection::vec(condition(), 1..5)) {
        for dialect in [Dialect::Classad, Dialect::Condor] {
            let text = parts.join(" && ");
            let tree = parse_expression(text.as_bytes(), ParseOptions::new(dialect)).unwrap();
            let parts = conjuncts(&tree);
            let found = inconsistencies(&parts, dialect);
            if found.is_empty() {
                continue;
            }
            for x in VALUES {
                for y in VALUES {
                    let ad = parse_ad(format!("[ x = {x}; y = {y} ]").as_bytes(), ParseOptions::new(dialect)).unwrap();
                    for one in &found {
                        let parts: Vec<&Expression> = one.clauses.iter().map(|place| parts[*place]).collect();
                        prop_assert!(!all_met(&parts, &ad, dialect), "{text} with x = {x}, y = {y} in {dialect}: {one:?}");
                    }
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn lone_clauses_contradict_nothing(
        parts in prop::collection::vec(
            prop_oneof![
                condition(),
                r"[a-d] (<|>|<=|>=|==|!=|is|isnt) (-?[1-9][0-9]?|0|9223372036854775807|1\.5e308|true|undefined|error)",
                r#"[a-d] (<|>|<=|>=|==|!=|is|isnt) ("[ab]?"|0\.0|3000000000)( \|\| [c-f] < 3| \|\| error)?"#,
                r"[a-d]( \|\| [c-f] (is|>) 3)?",
                r#"stringListI?Member\([a-d], "(a, B|x|,|)"\)"#,
            ],
            1..7,
        ),
    ) {
        let text = parts.iter().map(|part| format!("({part})")).collect::<Vec<_>>().join(" && ");
        for dialect in [Dialect::Classad, Dialect::Condor] {
            let tree = parse_expression(text.as_bytes(), ParseOptions::new(dialect)).unwrap();
            let parts: Vec<&Expression> = conjuncts(&tree).into_iter().map(Expression::without_parentheses).collect();
            let all = inconsistencies_without(&FxHashSet::default(), &parts, dialect);
            prop_assert_eq!(format!("{:?}", inconsistencies(&parts, dialect)), format!("{all:?}"), "{}", text);
        }
    }
}

proptest! {
    #[test]
    fn a_clause_contradicts_itself_if_it_is_inconsistent(
        parts in prop::collection::vec(prop_oneof![condition(), "ifThenElse\\(x > 5, \"a\", (\"b\"|true|x < 3)\\)"], 1..4),
        operator in prop::sample::select(vec!["&&", "||"]),
    ) {
        for dialect in [Dialect::Classad, Dialect::Condor] {
            let text = parts.iter().map(|part| format!("({part})")).collect::<Vec<_>>().join(operator);
            let clause = parse_expression(text.as_bytes(), ParseOptions::new(dialect)).unwrap();
            let is_inconsistent = !inconsistencies(&[&clause], dialect).is_empty();
            prop_assert_eq!(contradicts_itself(&clause, dialect), is_inconsistent, "{}", text);
        }
    }
}

/// Conditions over two attributes whose cells are all in [`CELLS`].
fn combination() -> impl Strategy<Value = String> {
    let constants = ["0", "1", "2", "\"a\"", "true", "false", "undefined", "error"];
    let constant = prop::sample::select(constants.to_vec());
    let operators = || prop::sample::select(vec!["<", "<=", "==", "!=", ">=", ">", "=?=", "=!=", "is", "isnt"]);
    let comparison = (prop::sample::select(vec!["x", "y"]), operators(), constant)
        .prop_map(|(subject, operator, constant)| format!("({subject} {operator} {constant})"));
    let leaf = prop_oneof![
        8 => comparison,
        1 => prop::sample::select(vec!["x", "y", "true", "false"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 10, 3, move |inner| {
        prop_oneof![
            inner.clone().prop_map(|a| format!("(!({a}))")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} || {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} && {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} ?: {b})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("ifThenElse({a}, {b}, {c})")),
            (inner, operators(), prop::sample::select(vec!["true", "false", "undefined", "error", "1"]))
                .prop_map(|(a, operator, truth)| format!("({a} {operator} {truth})")),
        ]
    })
}

/// Values at, between and beyond the constants of [`combination`].
const CELLS: &[&str] = &[
    "undefined",
    "error",
    "true",
    "false",
    "-1",
    "0",
    "1",
    "2",
    "3",
    "-0.5",
    "0.0",
    "0.5",
    "1.0",
    "1.5",
    "2.0",
    "2.5",
    "real(\"NaN\")",
    "\"\"",
    "\"a\"",
    "\"A\"",
    "\"b\"",
    "{}",
    "[]",
    "absTime(\"2001-02-03T04:05:06Z\")",
    "relTime(\"5\")",
];

/// Returns 0 for true, 1 for false, 2 for undefined, 3 for any other value.
fn truth_number(value: &Value) -> usize {
    match value {
        Value::Boolean(is) => usize::from(!is),
        Value::Undefined => 2,
        _ => 3,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn the_possible_truths_are_those_of_all_values(text in combination()) {
        for dialect in [Dialect::Classad, Dialect::Condor] {
            let rules = ParseOptions::new(dialect);
            let tree = parse_expression(text.as_bytes(), rules).unwrap();
            let truth_in = |other: Ad| {
                let (environment, [left, _]) = Environment::pair(Ad::default(), other);
                truth_number(&Evaluator::new(&environment, &Context::new(dialect)).evaluate(&tree, &left).unwrap())
            };
            let mut expected = [false; 4];
            for x in CELLS {
                for y in CELLS {
                    expected[truth_in(parse_ad(format!("[ x = {x}; y = {y} ]").as_bytes(), rules).unwrap())] = true;
                }
            }
            let found = possible_truths(&tree, dialect).unwrap();
            let witnesses = [found.is_true, found.is_false, found.is_undefined, found.is_error];
            prop_assert_eq!(witnesses.each_ref().map(Option::is_some), expected, "{} in {}", text, dialect);
            for (number, witness) in witnesses.into_iter().enumerate() {
                let Some(witness) = witness else { continue };
                let ad = witness.into_iter().map(|(subject, value)| {
                    let ExpressionKind::Attribute(name) = subject.kind() else { panic!("{text}") };
                    (name.clone(), super::grid::sample_expression(&value))
                });
                prop_assert_eq!(truth_in(ad.collect()), number, "{} in {}", text, dialect);
            }
        }
    }
}

#[test]
fn many_clauses_about_one_subject_are_compared_in_part() {
    let parse = |text: &str| parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
    let many = |end: &str| {
        let clauses: Vec<String> = (0..20_000).map(|number| format!("TARGET.a != {number}")).collect();
        parse(&format!("TARGET.a == 5 && {} && {end}", clauses.join(" && ")))
    };
    // The first and the seventh clause contradict each other; so do the parts of the last one.
    let tree = many("!(TARGET.a < 3 || TARGET.a >= 3)");
    let places = |one: crate::constraint::Inconsistency| one.clauses;
    let found: Vec<Vec<usize>> = inconsistencies(&conjuncts(&tree), Dialect::Condor).into_iter().map(places).collect();
    assert_eq!(found, [vec![0, 6]]);
}

#[test]
fn a_clause_is_lone_if_it_is_plainly_met_and_no_other_has_its_names() {
    for (text, expected) in [
        ("x > 1", &[0][..]),
        ("x > 1 && y > 2 && x < 5", &[1]),
        ("x > 1 && y == x && z", &[2]),
        ("x > 1 && x > 2", &[]),
        ("x > 1 && (y > 1 || z) && z", &[0]),
        ("(x > 1 || x < 5) && !y && z + 1 > 2", &[0]),
        ("TARGET.x > 1 && x > 2", &[]),
        ("x.y > 1", &[]),
    ] {
        let tree = parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        let parts: Vec<&Expression> = conjuncts(&tree).into_iter().map(Expression::without_parentheses).collect();
        let mut found = Vec::from_iter(lone_clauses(&parts, Dialect::Condor));
        found.sort_unstable();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn a_clause_is_plainly_met_if_its_form_shows_it() {
    for (text, in_condor, in_classad) in [
        ("x", true, true),
        ("TARGET.x", true, true),
        ("MY.x", false, false),
        ("true", false, false),
        ("x > 1", true, true),
        ("1 > x", true, true),
        ("x > 1.5", true, true),
        ("x < -1E400", false, false),
        ("x is 5", false, false),
        ("x is 5.5", true, true),
        ("x == \"a\"", true, true),
        ("x < \"\"", false, false),
        ("x is \"\"", true, true),
        ("x is true", true, true),
        ("x == true", false, false),
        ("x is undefined", true, true),
        ("x != undefined", false, false),
        ("x == error", false, false),
        ("x == y", false, false),
        ("1 == 2", false, false),
        ("stringListMember(x, \"a\")", true, true),
        ("stringListMember(x, \", \")", false, false),
        ("stringListMember(MY.x, \"a\")", false, false),
        ("x > 1 || MY.y", true, false),
        ("(x > 1 || y) || z + 1", true, false),
        ("MY.y || x > 1", false, false),
        ("!x", false, false),
    ] {
        for (dialect, expected) in [(Dialect::Condor, in_condor), (Dialect::Classad, in_classad)] {
            let clause = parse_expression(text.as_bytes(), ParseOptions::new(dialect)).unwrap();
            assert_eq!(is_plainly_met(&clause, dialect), expected, "{text} in {dialect}");
        }
    }
}

#[test]
fn a_grid_tells_what_its_samples_meet() {
    for (text, is_soon_met, is_never_met, is_always_true, is_impossible) in [
        ("x > 5", true, false, false, false),
        ("x > 5 && x < 3", false, true, false, true),
        ("x > 5 || x <= 5", true, false, true, false),
        ("x is undefined", true, false, false, false),
        ("x is undefined || x isnt undefined", true, false, true, false),
        ("(x > 5 || y > 5) && x < 3 && y < 3", false, true, false, true),
        ("false", false, true, false, false),
        ("true", true, false, true, false),
        ("x == x", true, false, false, false),
    ] {
        let tree = parse_expression(text.as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
        let grid = Grid::new(&[&tree], Dialect::Condor, true);
        let condition = &grid.conditions[0];
        let found = [grid.is_soon_met(condition), grid.is_never_met(condition), grid.is_always_true(condition)];
        assert_eq!(
            format!("{found:?} {}", grid.is_impossible(condition)),
            format!("{:?} {is_impossible}", [is_soon_met, is_never_met, is_always_true]),
            "{text}"
        );
        assert!(!grid.has_spent_budget() && !grid.is_costly(condition));
        let (subjects, _) = subjects_of(condition);
        assert_eq!(subjects.len(), ["x", "y"].iter().filter(|name| text.contains(**name)).count(), "{text}");
    }
}
