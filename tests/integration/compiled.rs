//! Programs give the tree walker's values: of random expressions in random ads, alone and in matches, with budgets that
//! are hardly enough, with circular references, and with trees and shapes that attributes and ads share.

use classad::ad::{Ad, Dialect, Expression, Name, Value};
use classad::eval::{CompiledEvaluator, CompiledValue, Context, Environment, Evaluator};
use classad::protocol::is_met;
use classad::syntax::{ParseOptions, Style, parse_expression, print_value};

use crate::random::{NAMES, Text, context, print_text, seeds, shown};

/// An expression of the kind that programs run: scalars, operators and functions of them.
fn plain_expression(text: &mut Text, depth: u32) -> String {
    if depth == 0 || text.random.u8(0..5) == 0 {
        return plain_leaf(text);
    }
    let [a, b, c] = [(); 3].map(|()| plain_expression(text, depth - 1));
    let comparisons = ["==", "!=", "<", "<=", ">", ">=", "is", "isnt"];
    let others = ["+", "-", "*", "/", "%", "<<", ">>", ">>>", "&", "|", "^"];
    let operators = if text.random.bool() { &comparisons[..] } else { &others[..] };
    match text.random.u8(0..24) {
        0..3 => format!("({a}) && ({b}) && {c}"),
        3..6 => format!("({a}) || ({b}) || {c}"),
        6 => format!("({a}) ? ({b}) : ({c})"),
        7 => format!("({a}) ?: ({b})"),
        8 => format!("!({a})"),
        9 => format!("-({a})"),
        10 => format!("ifThenElse({a}, {b}, {c})"),
        11 => format!("toLower({a}) {} {b}", text.pick(operators)),
        12 => format!("regexp(\"{}\", {a}{})", text.pick(&["^a", "^ab?c", "b$", "^a|b", "(", "^1"]), option(text)),
        13 => format!("stringList{}Member({a}, {b}{})", text.pick(&["", "I"]), option(text)),
        14 => {
            let name = text.pick(&["Undefined", "Error", "String", "Integer", "Real", "Boolean", "List", "AbsTime"]);
            format!("is{name}({a})")
        }
        15 => {
            let name = text.pick(&["strcat", "int", "real", "round", "floor", "string", "bool", "size", "toUpper"]);
            format!("{name}({a})")
        }
        16 => format!("{}({a}, {b})", text.pick(&["substr", "versioncmp", "strcmp", "pow", "quantize", "strcat"])),
        _ => format!("({a}) {} ({b})", text.pick(operators)),
    }
}

fn option(text: &mut Text) -> &'static str {
    text.pick(&["", "", ", \"i\"", ", \"b\"", ", undefined", ", a"])
}

fn plain_leaf(text: &mut Text) -> String {
    match text.random.u8(0..12) {
        0..5 => text.pick(&NAMES).to_owned(),
        5..8 => format!("{}.{}", text.pick(&["MY", "TARGET", "other", "self", "my"]), text.pick(&NAMES)),
        8 => text.pick(&["undefined", "error", "2147483648", "-9223372036854775807", ".b", "time()"]).to_owned(),
        9 => text.pick(&["\"a\"", "\"A\"", "\"abc\"", "\"a, b,C\"", "\"\"", "\"1.5\"", "\"B\""]).to_owned(),
        _ => text.pick(&["true", "false", "0", "1", "2", "1", "1.5", "0.0", "-3"]).to_owned(),
    }
}

/// Ads that share trees and shapes: each binds some of the names to some of the expressions.
fn ads(text: &mut Text, expressions: &[Expression]) -> Vec<Ad> {
    let pick = |text: &mut Text| match text.random.u8(0..10) {
        0..3 => Expression::literal(text.random.i64(0..3)),
        3 => Expression::literal(f64::from(text.random.u8(0..4)) / 2.0),
        4 => Expression::literal(text.pick(&["a", "A", "abc", "b"])),
        5 => Expression::literal(text.random.bool()),
        _ => expressions[text.random.usize(0..expressions.len())].clone(),
    };
    let mut ads = Vec::new();
    for _ in 0..2 {
        let names = (0..text.random.usize(0..=12)).map(|_| text.pick(&NAMES)).collect::<Vec<_>>();
        let ad: Ad = names.into_iter().map(|name| (Name::new(name), pick(text))).collect();
        // An attribute that is replaced leaves the shape as it is.
        let twin = ad.iter().next().map(|first| first.name.clone()).map(|name| ad.with(name, pick(text)));
        ads.extend(twin);
        ads.push(ad);
    }
    if text.random.u8(0..20) == 0 {
        let name = text.pick(&["my", "Target", "CurrentTime", "other"]);
        ads[0] = ads[0].with(Name::new(name), pick(text));
    }
    ads
}

/// A random expression, if it is one in this dialect.
fn expression(text: &mut Text, dialect: Dialect) -> Option<Expression> {
    let depth = text.random.u32(0..4);
    let source = if text.random.u8(0..4) == 0 { text.expression(depth) } else { plain_expression(text, depth) };
    parse_expression(source.as_bytes(), ParseOptions::new(dialect)).ok()
}

fn printed(value: &Value) -> String {
    format!("{:?} {}", value.value_type(), String::from_utf8_lossy(&print_value(value, Style::New)))
}

#[test]
fn programs_give_the_values_of_the_tree_walker() {
    for dialect in [Dialect::Classad, Dialect::Condor] {
        let (mut compared, mut left) = (0_u64, 0_u64);
        // The evaluators stay while the ads go, so that addresses are used again.
        let mut single = CompiledEvaluator::for_passing_ads(dialect);
        let mut match_of_two = CompiledEvaluator::for_pairs(dialect);
        for seed in seeds() {
            let mut text = Text::new(seed);
            let expressions: Vec<_> = (0..10).filter_map(|_| expression(&mut text, dialect)).collect();
            if expressions.is_empty() {
                continue;
            }
            let ads = ads(&mut text, &expressions);
            let mut context = context(dialect);
            if text.random.bool() {
                context = Context { max_steps: text.random.u64(1..60), max_depth: text.random.u32(1..24), ..context };
            }
            for tried in &expressions[..expressions.len().min(4)] {
                let [mine, other] = [(); 2].map(|()| &ads[text.random.usize(0..ads.len())]);
                let is_alone = text.random.u8(0..3) == 0;
                let (environment, frame) = Environment::known(Some(mine.clone()), (!is_alone).then(|| other.clone()));
                let side = text.random.usize(0..2);
                let found = if is_alone {
                    single.value(tried, mine, &context)
                } else {
                    let pair = if side == 0 { [mine, other] } else { [other, mine] };
                    match_of_two.value_in_pair(tried, pair, side, &context)
                };
                let held = if is_alone {
                    single.holds(tried, mine, &context)
                } else {
                    let attribute = Name::new(text.pick(&NAMES));
                    let mine = mine.with(attribute.clone(), tried.clone());
                    let name = match_of_two.name(&attribute);
                    let pair = if side == 0 { [&mine, other] } else { [other, &mine] };
                    let held = match_of_two.first_attribute_holds(&[name], pair, side, &context);
                    if let Some(held) = held {
                        let (environment, frame) = Environment::known(Some(mine.clone()), Some(other.clone()));
                        let walked = Evaluator::new(&environment, &context).attribute(&frame, &attribute);
                        let walked = walked.map(|value| is_met(&value, dialect));
                        assert_eq!(Ok(held), walked, "{dialect} seed {seed}: {}", print_text(&mine));
                    }
                    None
                };
                if let Some(held) = held {
                    let walked = Evaluator::new(&environment, &context).evaluate(tried, &frame);
                    let walked = walked.map(|value| is_met(&value, dialect));
                    assert_eq!(Ok(held), walked, "{dialect} seed {seed}: {} in {}", shown(tried), print_text(mine));
                }
                let Some(found) = found else {
                    left += 1;
                    continue;
                };
                compared += 1;
                let found = match found {
                    CompiledValue::Value(value) => printed(&value),
                    CompiledValue::Error => "Error error".to_owned(),
                };
                let walked = Evaluator::new(&environment, &context).evaluate(tried, &frame);
                let walked = walked.map_or_else(|abort| format!("aborted: {abort}"), |value| printed(&value));
                assert_eq!(
                    found,
                    walked,
                    "{dialect} seed {seed}: {}\nin {}\nand {}\nwith {} steps, depth {}",
                    shown(tried),
                    print_text(mine),
                    if is_alone { "nothing".to_owned() } else { print_text(other) },
                    context.max_steps,
                    context.max_depth,
                );
            }
        }
        eprintln!("{dialect}: {compared} compared, {left} left to the tree walker");
        assert!(compared > left, "{dialect}: {compared} compared, {left} left to the tree walker");
    }
}
