//! References are exact: what is not among them does not matter, and what is among them can.

use std::collections::HashSet;
use std::fmt::Write;

use classad::ad::{Ad, Dialect, Expression, Name, Value};
use classad::eval::{Context, Environment, References, references, references_of_all};
use classad::format::{FileFormat, ReadCache, read_cached};
use classad::pool::ClassMemo;
use classad::syntax::{ParseOptions, parse_ad, parse_expression};

use crate::binary::classad;
use crate::random::{NAMES, Text, context, print_text, seeds, value};

fn references_in(expression: &Expression, ad: &Ad, context: &Context) -> References {
    let (environment, frame) = Environment::single(ad.clone());
    references(expression, &frame, &environment, context)
}

/// An ad with another value for an attribute, or without it.
fn changed(ad: &Ad, name: &Name, to: Option<&Expression>) -> Ad {
    let rest = ad.iter().filter(|attribute| attribute.name != name);
    let rest = rest.map(|attribute| (attribute.name.clone(), attribute.expression.clone()));
    rest.chain(to.map(|to| (name.clone(), to.clone()))).collect()
}

#[test]
fn what_is_not_referred_to_does_not_matter() {
    let mut tried = 0;
    for dialect in [Dialect::Classad, Dialect::Condor] {
        let context = context(dialect);
        let rules = ParseOptions::new(dialect);
        for seed in seeds() {
            let mut text = Text::new(seed);
            let [source, ad, other] = [text.expression(3), text.ad(2, 5), text.leaf()];
            let target = text.plain_ad(4);
            let expression = |text: &str| parse_expression(text.as_bytes(), rules);
            let (Ok(expression), Ok(other)) = (expression(&source), expression(&other)) else { continue };
            let (Ok(ad), Ok(target)) = (parse_ad(ad.as_bytes(), rules), parse_ad(target.as_bytes(), rules)) else {
                continue;
            };
            let found = references_in(&expression, &ad, &context);
            if found.reads_anything {
                continue;
            }
            let outside: HashSet<&Name> = found.external.iter().flat_map(|reference| &reference.path).collect();
            for name in NAMES.map(Name::new) {
                let inside = ad.get(&name).is_some();
                let matters = if inside { found.internal.contains(&name) } else { outside.contains(&name) };
                let matters_there = outside.contains(&name);
                let ads = [changed(&ad, &name, None), changed(&ad, &name, Some(&other))];
                let seven = Expression::literal(Value::Integer(7));
                let targets = [changed(&target, &name, None), changed(&target, &name, Some(&seven))];
                let pairs =
                    ads.iter().filter(|_| !matters).flat_map(|changed| [(changed, None), (changed, Some(&target))]);
                let pairs = pairs.chain(targets.iter().filter(|_| !matters_there).map(|changed| (&ad, Some(changed))));
                for (changed, faced) in pairs {
                    tried += 1;
                    let before = value(&expression, &ad, faced.map(|_| &target), &context);
                    let after = value(&expression, changed, faced, &context);
                    assert_eq!(
                        before,
                        after,
                        "{name} matters, {dialect} seed {seed}: {source}\n{}\nbecomes {}\ntarget {}",
                        print_text(&ad),
                        print_text(changed),
                        faced.map_or(String::new(), print_text)
                    );
                }
            }
        }
    }
    assert!(tried > 10 * seeds().end.saturating_sub(seeds().start), "enough was tried: {tried}");
}

#[test]
fn what_is_referred_to_can_matter() {
    const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
    for dialect in [Dialect::Classad, Dialect::Condor] {
        let context = context(dialect);
        let rules = ParseOptions::new(dialect);
        for seed in 0..500 {
            let mut text = Text::new(seed);
            let mut names = NAMES.to_vec();
            let source = operators(&mut text, &mut names, 3);
            let expression = parse_expression(source.as_bytes(), rules).unwrap();
            let found = references_in(&expression, &Ad::default(), &context);
            let used: Vec<&str> = found.external.iter().map(|reference| reference.path[0].as_str()).collect();
            assert_eq!(used.len(), NAMES.len() - names.len(), "{source} refers to {used:?}");
            for name in used.iter().copied().map(Name::new) {
                let completion = |text: &mut Text| {
                    let bound = NAMES.map(|name| {
                        format!("{name} = {}", text.pick(&["undefined", "undefined", "true", "false", "1", "2"]))
                    });
                    parse_ad(format!("[ {} ]", bound.join("; ")).as_bytes(), rules).unwrap()
                };
                let witness = (0..5000).any(|_| {
                    let ad = completion(&mut text);
                    let other = completion(&mut text);
                    value(&expression, &ad, None, &context)
                        != value(&expression, &changed(&ad, &name, other.get(&name)), None, &context)
                });
                assert!(witness, "{name} can matter in {source}, {dialect}");
            }
        }
    }
}

/// Operators between names, each of which is used once.
fn operators(text: &mut Text, names: &mut Vec<&'static str>, depth: u32) -> String {
    if depth == 0 || names.len() < 2 {
        return names.pop().unwrap_or("1").to_owned();
    }
    // A comparison gives a boolean, whatever there is below it: it stands at the bottom.
    let operator = text.pick(if depth > 1 { &["&&", "||"] } else { &["==", "<", "is", "+", "*"] });
    let left = operators(text, names, depth - 1);
    let Some(_) = names.last() else { return left };
    let right = operators(text, names, depth - 2.min(depth));
    format!("({left} {operator} {right})")
}

/// References of all expressions of an ad, in their order.
fn references_of_ad(ad: &Ad, context: &Context) -> String {
    let (environment, frame) = Environment::single(ad.clone());
    let expressions = ad.expressions().iter();
    let References { external, internal, reads_anything } =
        references_of_all(expressions, &frame, &environment, context);
    format!("{external:?} {internal:?} {reads_anything}")
}

#[test]
fn ads_that_differ_in_constants_have_the_same_references() {
    for dialect in [Dialect::Classad, Dialect::Condor] {
        let context = context(dialect);
        let (mut ads, mut finds) = (0, 0);
        for seed in seeds() {
            let mut text = Text::new(seed);
            let shapes = [(); 2].map(|()| {
                let mut names = NAMES.to_vec();
                text.random.shuffle(&mut names);
                names.truncate(text.random.usize(1..=5));
                names
            });
            let expressions = [(); 3].map(|()| match text.random.u8(0..3) {
                0 => text.ad(1, 3),
                1 => text.leaf(),
                _ => text.expression(3),
            });
            let constants = ["1", "2.5", "\"a + b\"", "undefined", "error", "true", "{ 1 }", "{ 1, 2 }", "{ }"];
            let mut source = String::new();
            for _ in 0..12 {
                for name in &shapes[text.random.usize(0..2)] {
                    let value = match text.random.u8(0..2) {
                        0 => expressions[text.random.usize(0..3)].as_str(),
                        _ => text.pick(&constants),
                    };
                    let _ = writeln!(source, "{name} = {value}");
                }
                source.push('\n');
            }
            let mut cache = ReadCache::new(dialect);
            let mut memo = ClassMemo::for_references(dialect);
            for entry in read_cached(source.as_bytes(), FileFormat::Long, &mut cache).flatten() {
                let found = memo.class(&entry.ad, || {
                    finds += 1;
                    references_of_ad(&entry.ad, &context)
                });
                ads += 1;
                assert_eq!(found, references_of_ad(&entry.ad, &context), "{dialect} seed {seed}: {source}");
            }
        }
        assert!(finds < ads * 9 / 10, "some ads were known: {finds} of {ads}");
    }
}

/// Thesis 4.2 to 4.4: the rectangles of Figures 19 and 20, of ports, and of what deviates; the numbers of a pool.
#[test]
fn rectangles_are_those_of_the_thesis() {
    let sides = |arguments: &[&str]| {
        let (status, rows, told) = classad(&[&["refs", "--rectangle", "--no-header", "-o", "tsv"], arguments].concat());
        assert_eq!(status, Some(0), "{told}");
        let side = |row: &str| row.split('\t').skip(1).filter(|cell| !cell.is_empty()).collect::<Vec<&str>>().join(" ");
        rows.lines().map(side).collect::<Vec<String>>()
    };
    assert_eq!(
        sides(&["samples/papers/thesis-figure-20-query.ad"]),
        [
            "Z 0 indexed",
            "Y 9 indexed",
            "W 6 indexed",
            "1 other.A [0, inf) indexed",
            "1 other.B (-inf, 6] indexed",
            "1 other.C [1, inf) indexed",
            "1 other.D [7, inf) indexed",
        ]
    );
    let ports = sides(&["samples/papers/thesis-figure-30-job.ad"]);
    for side in [
        "Cpu 1 Cpu.Arch \"INTEL\" indexed",
        "License HostId Cpu.Key deviant",
        "License 1 License.App \"sim_app\" indexed",
    ] {
        assert!(ports.iter().any(|known| known == side), "{side} {ports:?}");
    }
    let ads = "[ Name = \"a\"; x = 1; y = other.z; Requirements = (other.z > x || other.z < -1) && other.w + 1 > 2 ]\n\
               [ Name = \"b\"; x = {1}; Requirements = other.z > 5 && other.z < 3 ]\n\
               [ Name = \"c\"; X = 2; Requirements = self.x > 3 ]\n";
    let file = crate::binary::file("rectangles.ad", ads);
    let of_parts: Vec<String> = sides(&[&file]).into_iter().filter(|side| !side.starts_with("Name")).collect();
    assert_eq!(
        of_parts,
        [
            "x 1 indexed",
            "y other.z deviant",
            "1 other.z (1, inf) indexed",
            "1 other.w + 1 > 2 deviant",
            "2 other.z (-inf, -1) indexed",
            "2 other.w + 1 > 2 deviant",
            "x { 1 } unindexed",
            "1 other.z (5, 3) empty",
            "X 2 indexed",
            "false never",
        ]
    );
    let (_, rows, _) = classad(&["refs", "--rectangle", "--count", "--no-header", "-o", "tsv", &file]);
    assert_eq!(
        rows.lines().collect::<Vec<&str>>(),
        [
            "Name\tad\t3\t0\t0\t0",
            "x\tad\t2\t0\t1\t0",
            "y\tad\t0\t1\t0\t2",
            "other.z\tpartner\t2\t0\t0\t1",
            "\tpartner\t0\t1\t0\t2",
        ]
    );
}

/// A reference is printed as it is written: `MY.x` can only be the ad's own, `x` also the partner's.
#[test]
fn references_are_printed_with_their_qualifiers() {
    let (_, out, _) = classad(&["refs", "--expr", "MY.Foo && Foo && TARGET.Bar && MY.a.b", "--dialect", "condor"]);
    let names: Vec<&str> = out.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    for name in ["MY.Foo", "Foo", "TARGET.Bar", "MY.a.b"] {
        assert!(names.iter().any(|line| line.split_whitespace().any(|word| word == name)), "{name}: {out}");
    }
}
