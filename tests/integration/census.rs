//! The census against a naive count of random ads.

use std::collections::BTreeMap;

use classad::ad::{Ad, Expression, ExpressionKind, Name, Value};
use classad::pool::{BindingKind, Census};
use classad::syntax::{Style, print};
use proptest::prelude::*;

use super::binary::{classad, file};
use super::properties::tree;

/// Few names and few values, so that they meet; and any trees.
fn ads() -> impl Strategy<Value = Vec<Ad>> {
    let name = prop::sample::select(vec!["a", "A", "b", "Cpus", "cpus", "x y"]).prop_map(Name::new);
    let number = (-3_i64..3).prop_map(|number| Expression::literal(Value::Integer(number)));
    let half = (-3_i32..3).prop_map(|number| Expression::literal(Value::Real(f64::from(number) / 2.0)));
    let attribute = (name, prop_oneof![3 => number, 1 => half, 2 => tree()]);
    let ad = prop::collection::vec(attribute, 0..5).prop_map(|attributes| attributes.into_iter().collect::<Ad>());
    prop::collection::vec(ad, 0..20)
}

fn counted(mut census: Census, ads: &[Ad]) -> Census {
    for ad in ads {
        census.add(ad);
    }
    census
}

fn text(expression: &Expression) -> String {
    String::from_utf8(print(expression.without_parentheses(), Style::New)).unwrap()
}

/// The values of an attribute in the ads that have it.
fn bound<'a>(ads: &'a [Ad], name: &Name) -> Vec<&'a Expression> {
    ads.iter().filter_map(|ad| ad.get(name)).collect()
}

#[allow(clippy::cast_precision_loss)] // the numbers are small, or compared as the census compares them
fn number(expression: &Expression) -> Option<f64> {
    match expression.without_parentheses().kind() {
        ExpressionKind::Literal(Value::Integer(integer)) => Some(*integer as f64),
        ExpressionKind::Literal(Value::Real(real)) if !real.is_nan() => Some(*real),
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn as_counted_by_hand(ads in ads()) {
        let census = counted(Census::values(), &ads);
        prop_assert_eq!(census.ads(), ads.len());
        for (name, summary) in census.attributes() {
            let bound = bound(&ads, name);
            prop_assert_eq!(summary.ads(), bound.len());

            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            for one in &bound {
                *counts.entry(text(one)).or_default() += 1;
            }
            prop_assert_eq!(summary.distinct().to_string(), counts.len().to_string());
            let top: Vec<(&str, usize)> = summary.most_frequent(usize::MAX).collect();
            prop_assert!(top.windows(2).all(|pair| pair[0].1 >= pair[1].1));
            prop_assert_eq!(top.into_iter().map(|(text, ads)| (text.to_owned(), ads)).collect::<BTreeMap<_, _>>(), counts);

            for (content, ads) in summary.contents() {
                prop_assert_eq!(ads, bound.iter().filter(|one| BindingKind::of(one) == content).count());
            }
            prop_assert_eq!(summary.contents().iter().map(|(_, ads)| ads).sum::<usize>(), bound.len());

            let numbers: Vec<f64> = bound.iter().filter_map(|one| number(one)).collect();
            let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
            let greatest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let range = summary.ranges().find_map(|range| {
                let side = |value: &Value| number(&Expression::literal(value.clone()));
                Some((side(&range.least)?, side(&range.greatest)?))
            });
            prop_assert_eq!(range, (!numbers.is_empty()).then_some((least, greatest)));
        }
        let names = ads.iter().flat_map(Ad::iter).map(|one| one.name.clone());
        prop_assert!(names.into_iter().all(|name| census.attribute(&name).is_some()));
    }

    /// With less room the same is said of what there was room for, and the rest is not denied.
    #[test]
    fn less_room_is_no_lie(ads in ads(), room in 0_usize..4) {
        let (all, few) = (counted(Census::values(), &ads), counted(Census::values().with_max_values(room), &ads));
        for (name, summary) in few.attributes() {
            let whole = all.attribute(name).unwrap();
            prop_assert_eq!(summary.ads(), whole.ads());
            prop_assert_eq!(summary.contents(), whole.contents());
            prop_assert_eq!(summary.distinct().values, whole.distinct().values.min(room));
            prop_assert_eq!(summary.distinct().more, whole.distinct().values > room);
            let counts: BTreeMap<&str, usize> = whole.most_frequent(usize::MAX).collect();
            prop_assert!(summary.most_frequent(usize::MAX).all(|(text, ads)| counts[text] == ads));
        }
    }
}

/// The note on values that are not kept stands where some attribute has a number with a `+`, in any form that shows it.
#[test]
fn a_note_tells_that_there_are_more_values() {
    let ads = (0..=10_000).map(|number| format!("Few = 1\nMany = {number}\n\n")).collect::<Vec<_>>().concat();
    let path = file("census-more.long", &ads);
    let fewer = file("census-fewer.long", ads.replace("Many = 10000\n", ""));
    let plus = "note: `+` (in JSON: `more`) means that there are more distinct values\n";
    let counted = |path: &str, options: &[&str]| classad(&[&["census", path], options].concat());
    for (options, is_noted) in [
        (&[][..], true),
        (&["-o", "table"], true),
        (&["-o", "json"], true),
        (&["-o", "names"], true),
        (&["-o", "svg"], false),
        (&["--attr", "Many"], false),
        (&["--attr", "Many", "-o", "table"], true),
        (&["--attr", "Many", "-o", "jsonl"], true),
        (&["--attr", "Few", "-o", "table"], false),
    ] {
        let (status, _, told) = counted(&path, options);
        assert_eq!((status, told.ends_with(plus)), (Some(0), is_noted), "{options:?}: {told}");
        assert!(!counted(&fewer, options).2.contains('+'), "{options:?}");
    }
    let (_, out, told) = counted(&path, &["--sort", "distinct", "--top", "0"]);
    assert_eq!(
        out,
        "attribute\tads\t%\ttypes\tdistinct\trange\tmost frequent\n\
         Many\t10001\t100.0\tint\t10000+\t0..10000\t\nFew\t10001\t100.0\tint\t1\t1..1\t\n"
    );
    assert_eq!(told, format!("note: 10,001 ads with 2 attributes\n{plus}"));
    // A histogram would be too small.
    let (_, out, _) = counted(&path, &["--attr", "Many", "-o", "table", "--top", "1"]);
    assert!(out.contains("distinct  10000+") && !out.contains("  range\n"), "{out}");
    assert!(counted(&fewer, &["--attr", "Many", "-o", "table", "--top", "1"]).1.contains("  range\n"));
}
