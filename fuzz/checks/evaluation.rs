//! Evaluation: programs and columns beside the walk over the tree, residues beside what was specialized, and printed
//! trees.

use classad::ad::{
    AbsoluteTime, Ad, BinaryOperator, Dialect, Expression, ExpressionKind, Name, Participant, RelativeTime, Span,
    Truth, UnaryOperator, Value,
};
use classad::eval::{
    CompiledEvaluator, CompiledScene, CompiledSubject, CompiledValue, ConstraintVerdict, Context, Environment,
    Evaluator, Knowledge, SpecializeOptions, specialize, specialize_ad,
};
use classad::pool::Store;
use classad::syntax::{ParseOptions, Style, parse_ad, parse_expression, print, print_value};

use super::DIALECTS;
use super::random::{Choices, NAMES, Text, context, print_text, shown, value};
use super::readers::{FORMS, survives};

/// Programs have the values of the tree walker.
pub fn compiled(data: &[u8]) {
    for dialect in DIALECTS {
        compare_programs(&mut Text::from_bytes(data), &mut EvaluatorPair::new(dialect));
    }
}

/// Compiled evaluators of single ads and of matches. They stay while the ads go, so that addresses are used again.
pub struct EvaluatorPair {
    dialect: Dialect,
    single: CompiledEvaluator,
    pairs: CompiledEvaluator,
    /// Number of values that programs gave.
    pub compared: u64,
    /// Number of values that were left to the tree walker.
    pub left: u64,
}

impl EvaluatorPair {
    pub fn new(dialect: Dialect) -> Self {
        let (single, pairs) = (CompiledEvaluator::for_passing_ads(dialect), CompiledEvaluator::for_pairs(dialect));
        EvaluatorPair { dialect, single, pairs, compared: 0, left: 0 }
    }
}

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
fn shared_ads(text: &mut Text, expressions: &[Expression]) -> Vec<Ad> {
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

fn typed(value: &Value) -> String {
    format!("{:?} {}", value.value_type(), String::from_utf8_lossy(&print_value(value, Style::New)))
}

/// Compares programs of random expressions with the tree walker: alone and in matches, with budgets that are hardly
/// enough, with circular references, and with trees and shapes that attributes and ads share.
pub fn compare_programs(text: &mut Text, evaluators: &mut EvaluatorPair) {
    let dialect = evaluators.dialect;
    let expressions: Vec<_> = (0..10).filter_map(|_| expression(text, dialect)).collect();
    if expressions.is_empty() {
        return;
    }
    let ads = shared_ads(text, &expressions);
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
            let held = evaluators.single.truth(CompiledSubject::Expression(tried), mine.into(), &context);
            let walked = || Evaluator::new(&environment, &context).evaluate(tried, &frame);
            assert!(
                held.is_none_or(|held| walked().map(|value| Truth::of(&value, dialect)) == Ok(held)),
                "{dialect}: {} in {}",
                shown(tried),
                print_text(mine)
            );
            evaluators.single.value(CompiledSubject::Expression(tried), mine.into(), &context)
        } else {
            let attribute = Name::new(text.pick(&NAMES));
            compare_attribute(
                &mut evaluators.pairs,
                &attribute,
                [&mine.with(attribute.clone(), tried.clone()), other],
                side,
                &context,
            );
            let ads = if side == 0 { [mine, other] } else { [other, mine] };
            evaluators.pairs.value(CompiledSubject::Expression(tried), CompiledScene::of_match(ads, side), &context)
        };
        let Some(found) = found else {
            evaluators.left += 1;
            continue;
        };
        evaluators.compared += 1;
        let found = match found {
            CompiledValue::Value(value) => typed(&value),
            CompiledValue::Error => "Error error".to_owned(),
        };
        let walked = Evaluator::new(&environment, &context).evaluate(tried, &frame);
        let walked = walked.map_or_else(|abort| format!("aborted: {abort}"), |value| typed(&value));
        assert_eq!(
            found,
            walked,
            "{dialect}: {}\nin {}\nand {}\nwith {} steps, depth {}",
            shown(tried),
            print_text(mine),
            if is_alone { "nothing".to_owned() } else { print_text(other) },
            context.max_steps,
            context.max_depth,
        );
    }
}

/// Compares whether an attribute of the first ad is true in a match.
fn compare_attribute(
    evaluator: &mut CompiledEvaluator,
    attribute: &Name,
    [mine, other]: [&Ad; 2],
    side: usize,
    context: &Context,
) {
    let name = evaluator.name(attribute);
    let ads = if side == 0 { [mine, other] } else { [other, mine] };
    let scene = CompiledScene::of_match(ads, side);
    let Some(held) = evaluator.truth(CompiledSubject::FirstAttribute(&[name]), scene, context) else { return };
    let (environment, frame) = Environment::known(Some(mine.clone()), Some(other.clone()));
    let walked = Evaluator::new(&environment, context).attribute(&frame, attribute);
    let walked = walked.map(|value| Truth::of(&value, context.dialect));
    assert_eq!(Ok(held), walked, "{}: {}", context.dialect, print_text(mine));
}

/// Columns have the values of the tree walker, for ads that share what an expression reads.
pub fn stored(data: &[u8]) {
    for dialect in DIALECTS {
        let mut text = Text::from_bytes(data);
        let expressions: Vec<_> = (0..8).filter_map(|_| expression(&mut text, dialect)).collect();
        if expressions.is_empty() {
            continue;
        }
        let ads: Vec<Ad> = (0..4).flat_map(|_| shared_ads(&mut text, &expressions)).collect();
        let context = context(dialect);
        let mut store = Store::new(ads.clone(), dialect);
        for tried in &expressions {
            let values = store.evaluate(tried, &context);
            for (row, ad) in ads.iter().enumerate() {
                let (environment, frame) = Environment::single(ad.clone());
                let walked = Evaluator::new(&environment, &context).evaluate(tried, &frame);
                let found = values.value(row).map(typed).map_err(ToString::to_string);
                let walked = walked.as_ref().map(typed).map_err(ToString::to_string);
                assert_eq!(found, walked, "{dialect}: {} in {}", shown(tried), print_text(ad));
            }
        }
    }
}

/// What is left of an expression has its value in every completion of the known part of its ad.
pub fn specialized(data: &[u8]) {
    for dialect in DIALECTS {
        compare_residues(&mut Text::from_bytes(data), dialect);
    }
}

/// Numbers of the values that [`compare_residues`] compared and of the expressions whose values were known.
#[derive(Clone, Copy, Default)]
pub struct ResidueCounts {
    pub compared: usize,
    pub decided: usize,
}

/// Compares the value of a random expression with that of its residue: of an ad that is known in part, alone and in a
/// match, and of an ad that is known completely.
pub fn compare_residues(text: &mut Text, dialect: Dialect) -> ResidueCounts {
    let mut counts = ResidueCounts::default();
    let context = context(dialect);
    let unclocked = Context { now: None, random: None, ..context.clone() };
    let source = text.expression(3);
    let [known, more, target] = [text.ad(2, 4), text.ad(2, 5), text.ad(2, 4)];
    let rules = ParseOptions::new(dialect);
    let Ok(expression) = parse_expression(source.as_bytes(), rules) else { return counts };
    let ad = |text: &str| parse_ad(text.as_bytes(), rules);
    let (Ok(known), Ok(more), Ok(target)) = (ad(&known), ad(&more), ad(&target)) else { return counts };
    let full = completed(&known, &more);
    let full_target = completed(&target, &ad(&text.ad(1, 3)).unwrap_or_default());
    let (unmet, frame) = Environment::partner_unknown(known.clone(), Knowledge::Partial);
    let (closed, closed_frame) = Environment::partner_unknown(known.clone(), Knowledge::Complete);
    let (mut met, [met_frame, _]) = Environment::pair(known.clone(), target.clone());
    for participant in [Participant::REQUEST, Participant::PARTNER] {
        met.member_mut(participant).unwrap().knowledge = Knowledge::Partial;
    }
    let exact = SpecializeOptions::default();
    for (what, environment, frame, ad, targets) in [
        ("unmet", &unmet, &frame, &full, vec![None, Some(&full_target)]),
        ("closed", &closed, &closed_frame, &known, vec![None, Some(&full_target)]),
        ("met", &met, &met_frame, &full, vec![Some(&full_target)]),
    ] {
        let left = specialize(&expression, frame, environment, &unclocked, exact);
        let left_ad = specialize_ad(frame, environment, &unclocked, exact);
        for target in targets {
            let before = value(&expression, ad, target, &context);
            // What exceeds a budget has no value that there would be to preserve.
            if before.is_err() {
                continue;
            }
            let after = value(&left.expression, ad, target, &context);
            let report = || {
                format!(
                    "{dialect} {what}: {source}\nbecomes {}\nknown {}\ncompleted {}\ntarget {}",
                    shown(&left.expression),
                    print_text(&known),
                    print_text(ad),
                    target.map_or(String::new(), print_text),
                )
            };
            assert_eq!(before, after, "{}", report());
            counts.compared += 1;
            match left.verdict {
                ConstraintVerdict::Never => assert_ne!(before.as_deref(), Ok("true"), "never: {}", report()),
                ConstraintVerdict::Always => {
                    assert!(!matches!(before.as_deref(), Ok("false" | "undefined" | "error")), "always: {}", report());
                }
                ConstraintVerdict::Depends => {}
            }
            // An ad that is specialized means what it meant, unless its text is looked at.
            let texts = [&source, &print_text(ad), &target.map_or(String::new(), print_text)];
            if texts.iter().any(|text| reads_text(text)) {
                continue;
            }
            let specialized = completed(&left_ad, ad);
            let (before, after) = (before.map(scalar), value(&expression, &specialized, target, &context));
            assert_eq!(before, after.map(scalar), "ad {}\n{}", print_text(&left_ad), report());
        }
        counts.decided += usize::from(left.value.is_some());
    }
    counts
}

/// One ad with the attributes of another that it has not.
fn completed(known: &Ad, more: &Ad) -> Ad {
    let free = more.iter().filter(|attribute| known.get(attribute.name).is_none());
    let all = known.iter().chain(free).map(|attribute| (attribute.name.clone(), attribute.expression.clone()));
    all.collect()
}

/// A value that shows no expressions.
fn scalar(value: String) -> String {
    if value.starts_with(['[', '{']) { "...".to_owned() } else { value }
}

/// Whether something may depend on how an expression is written: functions that read it, and whole ads.
fn reads_text(text: &str) -> bool {
    let functions = ["unparse", "unresolved", "evalInEachContext", "countMatches"];
    let whole = ["MY", "TARGET", "self", "root", "parent"];
    functions.iter().any(|name| text.contains(name))
        || whole.iter().any(|name| text.match_indices(name).any(|(at, _)| !text[at + name.len()..].starts_with('.')))
}

/// A tree prints as text that reads back as the tree, and an ad of trees survives every form that can carry it.
pub fn printed(data: &[u8]) {
    let mut choices = Choices::Bytes(Vec::from(data).into_iter());
    let attributes = (0..3).map(|_| (name(&mut choices), tree(&mut choices, 5)));
    let ad: Ad = attributes.collect();
    for dialect in DIALECTS {
        // A tree has no parentheses where its text needs them. The reader adds them.
        let again: Ad =
            ad.iter().map(|attribute| (attribute.name.clone(), reread(attribute.expression, dialect))).collect();
        for attribute in again.iter() {
            assert!(reread(attribute.expression, dialect) == *attribute.expression, "{}", shown(attribute.expression));
        }
        for form in FORMS {
            survives(&again, form, dialect);
        }
    }
}

/// The tree that its text is read as. Both are the same but for parentheses.
fn reread(tree: &Expression, dialect: Dialect) -> Expression {
    let text = print(tree, Style::New);
    let again = parse_expression(&text, ParseOptions::new(dialect));
    let again = again.unwrap_or_else(|error| panic!("{}: {error}", String::from_utf8_lossy(&text)));
    assert!(bare(&again) == bare(tree), "{}", String::from_utf8_lossy(&text));
    again
}

fn node(kind: ExpressionKind) -> Expression {
    Expression::new(kind, Span::default())
}

/// The tree without its parentheses.
pub fn bare(tree: &Expression) -> Expression {
    let all = |trees: &[Expression]| trees.iter().map(bare).collect::<Vec<_>>();
    node(match tree.without_parentheses().kind() {
        ExpressionKind::Parentheses(inner) => return bare(inner),
        ExpressionKind::Literal(_) | ExpressionKind::Attribute(_) | ExpressionKind::RootAttribute(_) => {
            return tree.without_parentheses().clone();
        }
        ExpressionKind::Select(a, name) => ExpressionKind::Select(bare(a), name.clone()),
        ExpressionKind::Subscript(a, b) => ExpressionKind::Subscript(bare(a), bare(b)),
        ExpressionKind::Unary(operator, a) => ExpressionKind::Unary(*operator, bare(a)),
        ExpressionKind::Binary(operator, a, b) => ExpressionKind::Binary(*operator, bare(a), bare(b)),
        ExpressionKind::Conditional(a, b, c) => ExpressionKind::Conditional(bare(a), bare(b), bare(c)),
        ExpressionKind::Elvis(a, b) => ExpressionKind::Elvis(bare(a), bare(b)),
        ExpressionKind::Call(name, arguments) => ExpressionKind::Call(name.clone(), all(arguments).into()),
        ExpressionKind::List(elements) => ExpressionKind::List(all(elements).into()),
        ExpressionKind::Ad(ad) => ExpressionKind::Ad(ad.iter().map(|a| (a.name.clone(), bare(a.expression))).collect()),
    })
}

fn name(choices: &mut Choices) -> Name {
    let names = ["a", "B", "true", "8:00", "a b", "é'\\", "x.y", "Error", "isnt", "'", "0x", "\u{1}", "e1", "_"];
    Name::new(choices.pick(&names))
}

/// A tree of every kind of node and every type of value, of at most this depth.
fn tree(choices: &mut Choices, depth: u32) -> Expression {
    let kind = if depth == 0 { choices.u8(0..3) } else { choices.u8(0..13) };
    let inner = |choices: &mut Choices| tree(choices, depth - 1);
    node(match kind {
        0 => ExpressionKind::Attribute(name(choices)),
        1 => ExpressionKind::RootAttribute(name(choices)),
        2 => ExpressionKind::Literal(literal(choices)),
        3 => ExpressionKind::Select(inner(choices), name(choices)),
        4 => ExpressionKind::Subscript(inner(choices), inner(choices)),
        5 => {
            let all = [UnaryOperator::Minus, UnaryOperator::Plus, UnaryOperator::Not, UnaryOperator::Complement];
            ExpressionKind::Unary(all[choices.usize(0..all.len())], inner(choices))
        }
        6 | 7 => {
            let operator = BinaryOperator::ALL[choices.usize(0..BinaryOperator::ALL.len())];
            ExpressionKind::Binary(operator, inner(choices), inner(choices))
        }
        8 => ExpressionKind::Conditional(inner(choices), inner(choices), inner(choices)),
        9 => ExpressionKind::Elvis(inner(choices), inner(choices)),
        10 => {
            let arguments: Vec<_> = (0..choices.usize(0..4)).map(|_| inner(choices)).collect();
            ExpressionKind::Call(Name::new(choices.pick(&["f", "size", "strcat", "error"])), arguments.into())
        }
        11 => {
            let elements: Vec<_> = (0..choices.usize(0..4)).map(|_| inner(choices)).collect();
            ExpressionKind::List(elements.into())
        }
        _ => ExpressionKind::Ad((0..choices.usize(0..4)).map(|_| (name(choices), inner(choices))).collect()),
    })
}

fn literal(choices: &mut Choices) -> Value {
    match choices.u8(0..9) {
        0 => Value::Undefined,
        1 => Value::Error(classad::ad::ErrorCause::default()),
        2 => Value::Boolean(choices.bool()),
        3 => Value::Integer(i64::from(choices.i32(-2..4))),
        4 => Value::Integer(i64::from_le_bytes([(); 8].map(|()| choices.u8(0..=255)))),
        5 => {
            let real = f64::from_le_bytes([(); 8].map(|()| choices.u8(0..=255)));
            Value::Real(if real.is_nan() { f64::NAN } else { real })
        }
        6 => Value::String((0..choices.usize(0..6)).map(|_| choices.u8(1..=255)).collect::<Vec<_>>().into()),
        // Years have four digits.
        7 => Value::AbsoluteTime(AbsoluteTime {
            seconds: choices.i64(-60_000_000_000..250_000_000_000),
            offset: choices.i32(-1439..1440) * 60,
        }),
        _ => {
            let (seconds, micros) = (choices.i32(-1_000_000_000..1_000_000_000), choices.u32(0..1_000_000));
            Value::RelativeTime(RelativeTime::new(f64::from(seconds) + f64::from(micros) / 1e6))
        }
    }
}
