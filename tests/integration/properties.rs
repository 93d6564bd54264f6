//! Properties of random trees.

use std::sync::Arc;

use classad::ad::{
    AbsoluteTime, Ad, BinaryOperator, Dialect, Expression, ExpressionKind, Name, RelativeTime, Span, UnaryOperator,
    Value,
};
use classad::format::{FileFormat, read, write};
use classad::syntax::{ParseOptions, Style, parse_expression, print};
use proptest::prelude::*;

use crate::checks::bare;

fn node(kind: ExpressionKind) -> Expression {
    Expression::new(kind, Span::default())
}

pub fn name() -> impl Strategy<Value = Name> {
    prop_oneof![
        4 => "[A-Za-z_][A-Za-z0-9_]{0,6}",
        1 => prop_oneof![Just("true".to_owned()), Just("8:00".to_owned()), Just("a b".to_owned()), Just("é'\\".to_owned())],
        1 => "[ -~]{1,6}",
    ]
    .prop_filter("the papers reserve these", |text| {
        !["self", "parent", "root"].iter().any(|reserved| text.eq_ignore_ascii_case(reserved))
    })
    .prop_map(|text| Name::new(&text))
}

fn literal() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Undefined),
        Just(Value::Error(classad::ad::ErrorCause::default())),
        any::<bool>().prop_map(Value::Boolean),
        any::<i64>().prop_map(Value::Integer),
        (-9_i64..9).prop_map(Value::Integer),
        any::<f64>().prop_map(|real| Value::Real(if real.is_nan() { f64::NAN } else { real })),
        prop::collection::vec(1_u8..=255, 0..8).prop_map(|bytes| Value::String(bytes.into())),
        (-4_000_000_000_000_i64..4_000_000_000_000, -1439_i32..1439)
            .prop_map(|(seconds, minutes)| {
                Value::AbsoluteTime(AbsoluteTime { seconds: seconds % 200_000_000_000, offset: minutes * 60 })
            })
            .prop_filter("years have four digits", |time| match time {
                Value::AbsoluteTime(time) => (0..=9999).contains(&time.calendar_time(time.offset).year),
                _ => true,
            }),
        (-1_000_000_000_i64..1_000_000_000, 0_u32..1_000_000).prop_map(|(seconds, micros)| {
            #[allow(clippy::cast_precision_loss)]
            Value::RelativeTime(RelativeTime::new(seconds as f64 + f64::from(micros) / 1e6))
        }),
    ]
}

pub fn tree() -> impl Strategy<Value = Expression> {
    let leaf = prop_oneof![
        literal().prop_map(|value| node(ExpressionKind::Literal(value))),
        name().prop_map(|name| node(ExpressionKind::Attribute(name))),
        name().prop_map(|name| node(ExpressionKind::RootAttribute(name))),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let unary = prop::sample::select(vec![
            UnaryOperator::Minus,
            UnaryOperator::Plus,
            UnaryOperator::Not,
            UnaryOperator::Complement,
        ]);
        let binary = prop::sample::select(BinaryOperator::ALL.to_vec());
        let many = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            (unary, inner.clone()).prop_map(|(operator, a)| node(ExpressionKind::Unary(operator, a))),
            (binary, inner.clone(), inner.clone())
                .prop_map(|(operator, a, b)| node(ExpressionKind::Binary(operator, a, b))),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| node(ExpressionKind::Conditional(a, b, c))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| node(ExpressionKind::Elvis(a, b))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| node(ExpressionKind::Subscript(a, b))),
            (inner.clone(), name()).prop_map(|(a, name)| node(ExpressionKind::Select(a, name))),
            inner.clone().prop_map(|a| node(ExpressionKind::Parentheses(a))),
            ("[a-z]{2,5}", many.clone()).prop_map(|(function, arguments)| {
                node(ExpressionKind::Call(Name::new(&format!("f_{function}")), arguments.into()))
            }),
            many.prop_map(|elements| node(ExpressionKind::List(elements.into()))),
            prop::collection::vec((name(), inner), 0..4)
                .prop_map(|attributes| node(ExpressionKind::Ad(attributes.into_iter().collect::<Ad>()))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    /// parse(print(e)) = e, in both dialects.  A random tree has no parentheses where its text needs
    /// them; they are added, and from then on the tree does not change any more.
    #[test]
    fn what_is_printed_reads_back(tree in tree()) {
        for dialect in [Dialect::Classad, Dialect::Condor] {
            let text = print(&tree, Style::New);
            let again = parse_expression(&text, ParseOptions::new(dialect));
            prop_assert!(again.is_ok(), "{}", String::from_utf8_lossy(&text));
            let again = again.unwrap();
            prop_assert!(bare(&again) == bare(&tree), "{}", String::from_utf8_lossy(&text));
            let text = print(&again, Style::New);
            let third = parse_expression(&text, ParseOptions::new(dialect)).unwrap();
            prop_assert!(third == again, "{}", String::from_utf8_lossy(&text));
        }
    }

    /// Ads survive the bracketed form as they are.
    #[test]
    fn bracketed_ads_read_back(attributes in prop::collection::vec((name(), tree()), 0..5)) {
        let ad: Ad = attributes.into_iter().collect();
        let mut text = Vec::new();
        write(&mut text, &ad, FileFormat::Bracketed).unwrap();
        let again: Vec<_> = read(&text, FileFormat::Bracketed, Dialect::Classad).collect();
        prop_assert!(matches!(again.as_slice(), [Ok(entry)] if same(&entry.ad, &ad)), "{}", String::from_utf8_lossy(&text));
    }

    /// Ads survive the long form, as far as it can carry their strings.
    #[test]
    fn long_ads_read_back(attributes in prop::collection::vec((name(), tree()), 1..5)) {
        let ad: Ad = attributes.into_iter().collect();
        prop_assume!(carried_by_lines(&ad));
        let mut text = Vec::new();
        write(&mut text, &ad, FileFormat::Long).unwrap();
        let again: Vec<_> = read(&text, FileFormat::Long, Dialect::Condor).collect();
        prop_assert!(matches!(again.as_slice(), [Ok(entry)] if same(&entry.ad, &ad)), "{}", String::from_utf8_lossy(&text));
    }

    /// Ads survive YAML as they are, in both dialects, several in a row, and through another form.
    #[test]
    fn yaml_ads_read_back(ads in prop::collection::vec(prop::collection::vec((any_name(), tree()), 0..5), 0..3)) {
        let ads: Vec<Ad> = ads.into_iter().map(|attributes| attributes.into_iter().collect()).collect();
        let mut text = Vec::new();
        for ad in &ads {
            prop_assert!(write(&mut text, ad, FileFormat::Yaml).unwrap().is_empty());
        }
        for dialect in [Dialect::Classad, Dialect::Condor] {
            let again: Vec<_> = read(&text, FileFormat::Yaml, dialect).collect();
            prop_assert_eq!(again.len(), ads.len(), "{}", String::from_utf8_lossy(&text));
            for (again, ad) in again.iter().zip(&ads) {
                prop_assert!(
                    again.as_ref().is_ok_and(|entry| same(&entry.ad, ad)),
                    "{}\n{:?}", String::from_utf8_lossy(&text), again
                );
            }
        }
    }

    /// Any text as a string and as a name survives YAML.
    #[test]
    fn texts_survive_yaml(text in "\\PC*|[^\\x00]*|[ -~\n\t]*") {
        prop_assume!(!text.is_empty() && !text.contains('\0'));
        let value = node(ExpressionKind::Literal(Value::string(text.as_str())));
        let ad: Ad = [(Name::new(&text), value)].into_iter().collect();
        let mut out = Vec::new();
        write(&mut out, &ad, FileFormat::Yaml).unwrap();
        let again: Vec<_> = read(&out, FileFormat::Yaml, Dialect::Condor).collect();
        prop_assert!(
            matches!(again.as_slice(), [Ok(entry)] if entry.ad == ad
                && entry.ad.iter().all(|attribute| attribute.name.as_str() == text)),
            "{}", String::from_utf8_lossy(&out)
        );
    }
}

/// A name, also of characters that are not ASCII.
fn any_name() -> impl Strategy<Value = Name> {
    prop_oneof![name(), "[^\\x00]{1,5}".prop_map(|text| Name::new(&text))]
}

/// Whether two ads are the same, parentheses aside.
pub fn same(left: &Ad, right: &Ad) -> bool {
    let bare = |ad: &Ad| bare(&node(ExpressionKind::Ad(ad.clone())));
    bare(left) == bare(right)
}

/// Whether no string has a newline, or a backslash before its end where more may follow.
fn carried_by_lines(ad: &Ad) -> bool {
    let mut pending: Vec<Arc<Expression>> = ad.iter().map(|a| Arc::new(a.expression.clone())).collect();
    while let Some(expression) = pending.pop() {
        if let ExpressionKind::Literal(Value::String(text)) = expression.kind() {
            let bytes = text.as_bytes();
            if bytes.contains(&b'\n') || bytes.ends_with(b"\\") || bytes.ends_with(b"\r") {
                return false;
            }
        }
        expression.kind().for_each_child(|child| pending.push(Arc::new(child.clone())));
    }
    true
}
