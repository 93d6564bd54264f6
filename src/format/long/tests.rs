use proptest::prelude::*;

use super::line_kind::LineKind;
use super::line_parser::LineParser;
use super::reader::LongReader;
use crate::ad::{Ad, Dialect, Expression, ExpressionKind};
use crate::format::attribute_cache::AttributeCache;
use crate::format::long::SYNTAX;
use crate::syntax::ParseOptions;

/// Returns the text of an ad, with its number and offset, or of a problem.
fn ad_text(ad: &Ad, number: usize, offset: usize) -> String {
    let mut text = Vec::new();
    SYNTAX.push_ad(ad, &mut text);
    format!("{number} at {offset}: {}", text.escape_ascii())
}

/// Reads the ads of a text line by line, without a cache.
fn read_lines(text: &[u8], dialect: Dialect) -> Vec<String> {
    let mut items = Vec::new();
    let (mut offset, mut number, mut first) = (0, 0, None);
    let mut attributes = Some(Vec::new());
    for line in text.split_inclusive(|byte| *byte == b'\n').chain([b"\n".as_slice()]) {
        let start = offset;
        offset += line.len();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let content = line.trim_ascii_start();
        if content.is_empty() {
            if let Some(first) = first.take() {
                items.extend(attributes.map(|attributes| ad_text(&attributes.into_iter().collect(), number, first)));
                attributes = Some(Vec::new());
            }
            continue;
        }
        if LineKind::of(content) == LineKind::Comment {
            continue;
        }
        if first.is_none() {
            first = Some(start);
            number += 1;
        }
        match (LineParser { options: ParseOptions::long(dialect), ad_number: number }).parse_line(start, line) {
            Ok(parsed) => {
                if let Some(attributes) = &mut attributes {
                    attributes.push((parsed.name.clone(), parsed.expression.clone()));
                }
                items.extend(parsed.warning.map(|problem| format!("{problem:?}")));
            }
            Err(problem) => {
                attributes = None;
                items.push(format!("{problem:?}"));
            }
        }
    }
    items
}

proptest! {
    #[test]
    fn a_cache_changes_nothing_that_is_read(
        texts in prop::collection::vec(
            prop::collection::vec(
                prop::sample::select(vec![
                    "a = 1", "a = 2", "a = 1\r", "A = 1", "a= 1", " a = 1", "b = \"x\"", "b = \"y\"", "b = a + 1",
                    "b = a + 2", "c = { 1, a }", "c = { 1, a }", "c = a + 1", "d = {", "d", "e = 1 2", "'a' = 3",
                    "'a = 4", "'a = 5' = 6", "self = 1", "= 1", "# a = 1", "//b", "", "", "", " ", "f = 010",
                ]),
                0..30,
            ),
            1..4,
        ),
        is_ended in any::<bool>(),
    ) {
        for dialect in [Dialect::Condor, Dialect::Classad] {
            let mut cache = AttributeCache::new(ParseOptions::long(dialect));
            for lines in &texts {
                let text = lines.join("\n") + if is_ended { "\n" } else { "" };
                let read = LongReader::with_cache(text.as_bytes(), &mut cache).map(|item| match item {
                    Ok(entry) => ad_text(&entry.ad, entry.number, entry.offset),
                    Err(problem) => format!("{problem:?}"),
                });
                prop_assert_eq!(read.collect::<Vec<_>>(), read_lines(text.as_bytes(), dialect), "{}", text);
            }
        }
    }
}

#[test]
fn ads_share_what_they_may_share() {
    let ads = "a = 1\nb = a + 1\nc = { 1 }\nd = a + 1\n\n".repeat(3);
    let ads: Vec<Ad> = LongReader::new(ads.as_bytes(), Dialect::Condor).map(|item| item.unwrap().ad).collect();
    let expression = |ad: usize, name| ads[ad].get_str(name).unwrap();
    for name in ["a", "b", "d"] {
        assert!(expression(1, name).ptr_eq(expression(2, name)), "{name}");
    }
    assert!(std::sync::Arc::ptr_eq(ads[1].shape(), ads[2].shape()));
    // The evaluator tells attributes of one ad apart by the roots of their expressions, and lists by their addresses.
    assert!(!expression(1, "b").ptr_eq(expression(1, "d")));
    let list = |expression: &Expression| match expression.kind() {
        ExpressionKind::List(elements) => elements.as_ptr(),
        _ => panic!("a list"),
    };
    assert_ne!(list(expression(1, "c")), list(expression(2, "c")));
}

#[test]
fn problems_of_a_line_have_their_places() {
    for (line, range, message) in [
        ("junk", 10..14, "this line does not have the form `name = expression`"),
        ("   junk line  ", 13..22, "this line does not have the form `name = expression`"),
        ("  = 1", 12..13, "a name is missing before this `=`"),
        (" a = 1 +  ", 18..18, "expected an expression, found the end"),
        (" a = )", 15..16, "expected an expression, found `)`"),
        ("\ta = 1 2 ", 17..18, "~the text after the expression is ignored, as in HTCondor"),
    ] {
        let parser = LineParser { options: ParseOptions::long(Dialect::Condor), ad_number: 1 };
        let (mark, problem) = match parser.parse_line(10, line.as_bytes()) {
            Ok(parsed) => ("~", parsed.warning.expect(line)),
            Err(problem) => ("", problem),
        };
        assert_eq!((problem.range, format!("{mark}{}", problem.message)), (range, message.to_owned()), "{line}");
    }
}
