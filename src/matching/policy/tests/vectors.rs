//! The order of vectors.

use std::cmp::Ordering;

use crate::ad::{Dialect, Value};
use crate::eval::{Context, Environment, Evaluator};
use crate::matching::policy::{Policy, PolicyVector};
use crate::syntax::{ParseOptions, parse_ad, parse_expression};

fn value(text: &str) -> Value {
    let (environment, frame) = Environment::single(parse_ad(b"[ a = 1 ]", ParseOptions::default()).unwrap());
    let expression = parse_expression(text.as_bytes(), ParseOptions::default()).unwrap();
    Evaluator::new(&environment, &Context::new(Dialect::Classad)).evaluate(&expression, &frame).unwrap()
}

fn sign(order: Ordering) -> char {
    match order {
        Ordering::Less => '<',
        Ordering::Equal => '=',
        Ordering::Greater => '>',
    }
}

const VALUES: [&str; 17] = [
    "undefined",
    "error",
    "{ 1 }",
    "real(\"NaN\")",
    "-1",
    "0",
    "0.5",
    "1",
    "1.0",
    "1e300",
    "false",
    "true",
    "\"a\"",
    "\"B\"",
    "absTime(\"1970-01-01T00:00:00Z\")",
    "relTime(\"5\")",
    "relTime(\"6\")",
];

/// Each value compared with each, the greater one first: `<` says that it comes first.
#[test]
fn values_order_among_their_kind() {
    for (row, expected) in VALUES.into_iter().zip([
        ["====>>>>>>>>>>>>> false", "====>>>>>>>>>>>>> false"],
        ["====>>>>>>>>>>>>> false", "====>>>>>>>>>>>>> false"],
        ["====>>>>>>>>>>>>> false", "====>>>>>>>>>>>>> false"],
        ["====>>>>>>>>>>>>> false", "====>>>>>>>>>>>>> false"],
        ["<<<<=>>>>>>>>>>>> true", "<<<<=>>>>>>>>>>>> true"],
        ["<<<<<=>>>><<>>>>> true", "<<<<<=>>>>=>>>>>> true"],
        ["<<<<<<=>>><<<<<<< true", "<<<<<<=>>><><<<<< true"],
        ["<<<<<<<==><<<<<<< true", "<<<<<<<==><=<<<<< true"],
        ["<<<<<<<==><<<<<<< true", "<<<<<<<==><=<<<<< true"],
        ["<<<<<<<<<=<<<<<<< true", "<<<<<<<<<=<<<<<<< true"],
        ["<<<<<>>>>>=>>>>>> true", "<<<<<=>>>>=>>>>>> true"],
        ["<<<<<>>>>><=>>>>> true", "<<<<<<<==><=<<<<< true"],
        ["<<<<<<>>>><<=>>>> true", "<<<<<<>>>><>=>>>> true"],
        ["<<<<<<>>>><<<=>>> true", "<<<<<<>>>><><=>>> true"],
        ["<<<<<<>>>><<<<=>> true", "<<<<<<>>>><><<=>> true"],
        ["<<<<<<>>>><<<<<=> true", "<<<<<<>>>><><<<=> true"],
        ["<<<<<<>>>><<<<<<= true", "<<<<<<>>>><><<<<= true"],
    ]) {
        for (dialect, expected) in [Dialect::Classad, Dialect::Condor].into_iter().zip(expected) {
            let vector = |text: &str| PolicyVector::new(vec![value(text)], dialect);
            let own = vector(row);
            let signs: String = VALUES.iter().map(|other| sign(own.cmp_greatest_first(&vector(other)))).collect();
            for other in VALUES {
                let differs = own.cmp_greatest_first(&vector(other)).is_ne();
                assert_eq!(own.first_difference(&vector(other)), differs.then_some(0), "{row} {other}");
                assert_eq!(vector(other).cmp_greatest_first(&own), own.cmp_greatest_first(&vector(other)).reverse());
            }
            assert_eq!(format!("{signs} {}", own.is_complete()), expected, "{row} in {dialect}");
        }
    }
}

#[test]
fn vectors_compare_with_numbers() {
    for (values, numbers, expected) in [
        (vec!["1", "2"], [1.0, 2.0], Ordering::Equal),
        (vec!["1.0", "2"], [1.0, 3.0], Ordering::Less),
        (vec!["1", "3"], [1.0, 2.0], Ordering::Greater),
        (vec!["2", "0"], [1.0, 9.0], Ordering::Greater),
        (vec!["1"], [1.0, 9.0], Ordering::Equal),
        (vec!["1", "2", "0"], [1.0, 2.0], Ordering::Equal),
        (vec!["1", "2", "-1"], [1.0, 2.0], Ordering::Less),
        (vec!["1", "2", "0.5"], [1.0, 2.0], Ordering::Greater),
        (vec!["\"a\""], [9.0, 0.0], Ordering::Greater),
        (vec!["undefined"], [-9.0, 0.0], Ordering::Less),
        (vec!["1", "undefined"], [1.0, f64::NEG_INFINITY], Ordering::Less),
        (vec![], [5.0, 5.0], Ordering::Equal),
    ] {
        let vector = PolicyVector::new(values.iter().map(|text| value(text)).collect(), Dialect::Classad);
        assert_eq!(vector.cmp_numbers(numbers), expected, "{values:?} {numbers:?}");
    }
    let numbers = PolicyVector::of_numbers([1.0, 2.0]);
    assert_eq!((numbers.cmp_numbers([1.0, 2.0]), numbers.0.len()), (Ordering::Equal, 2));
    assert_eq!(numbers.first_difference(&PolicyVector::of_numbers([1.0, 3.0])), Some(1));
    assert_eq!(numbers.first_difference(&PolicyVector::default()), None);
    assert!(numbers.bytes() > PolicyVector::default().bytes());
}

/// The first component with values of several types is told, with the names of the types in their order.
#[test]
fn only_values_of_one_kind_are_compared() {
    for (docking, vectors, expected) in [
        ("[ a, b ]", vec![["1", "2"], ["2.5", "3"]], ""),
        ("[ a, b ]", vec![["1", "2"], ["undefined", "error"]], ""),
        (
            "[ a, b ]",
            vec![["1", "\"x\""], ["2", "3"]],
            "component 2 of `docking` is an integer for some ads, but a string for others at Some(14..15)",
        ),
        (
            "[ a, b ]",
            vec![["1", "3"], ["2", "\"x\""]],
            "component 2 of `docking` is an integer for some ads, but a string for others at Some(14..15)",
        ),
        (
            "[ a, b ]",
            vec![["1", "3"], ["2", "\"x\""], ["true", "4"]],
            "component 1 of `docking` is a boolean for some ads, but an integer for others at Some(11..12)",
        ),
        (
            "[ a, b ]",
            vec![["\"x\"", "3"], ["2", "\"x\""]],
            "component 1 of `docking` is an integer for some ads, but a string for others at Some(11..12)",
        ),
        (
            "[ a, b ]",
            vec![["undefined", "3"], ["relTime(\"5\")", "3"], ["1", "3"]],
            "component 1 of `docking` is an integer for some ads, but a relative time for others at Some(11..12)",
        ),
        ("[ r: { rank: a }, b ]", vec![["1", "3"], ["\"x\"", "4"]], ""),
        (
            "[ r: { rank: a }, b ]",
            vec![["1", "3"], ["\"x\"", "\"y\""]],
            "component 2 of `docking` is an integer for some ads, but a string for others at Some(27..28)",
        ),
        ("[ a ]", vec![["1", "3"], ["2", "\"y\""]], ""),
    ] {
        let text = format!("docking: {docking}");
        let rules = Policy::parse(text.as_bytes(), Dialect::Classad).unwrap().docking;
        let vectors: Vec<PolicyVector> = vectors
            .iter()
            .map(|values| PolicyVector::new(values.iter().map(|text| value(text)).collect(), Dialect::Classad))
            .collect();
        let found = PolicyVector::check_comparable(&vectors, "docking", &rules);
        let told = found.err().map(|fault| format!("{fault} at {:?}", fault.range)).unwrap_or_default();
        assert_eq!(told, expected, "{docking} {vectors:?}");
    }
}
