//! Specialization preserves values: what is left of an expression has, in every completion of the known
//! part of its ad, the value of the expression.

use classad::ad::{Ad, Dialect, Participant};
use classad::eval::{ConstraintVerdict, Context, Environment, Knowledge, SpecializeOptions, specialize, specialize_ad};
use classad::syntax::{ParseOptions, parse_ad, parse_expression};

use crate::random::{Text, context, print_text, seeds, shown, value};

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

#[test]
fn values_are_preserved_in_every_completion() {
    let mut decided = 0;
    let mut compared = 0;
    for dialect in [Dialect::Classad, Dialect::Condor] {
        let context = context(dialect);
        let unclocked = Context { now: None, random: None, ..context.clone() };
        for seed in seeds() {
            let mut text = Text::new(seed);
            let source = text.expression(3);
            let [known, more, target] = [text.ad(2, 4), text.ad(2, 5), text.ad(2, 4)];
            let rules = ParseOptions::new(dialect);
            let Ok(expression) = parse_expression(source.as_bytes(), rules) else { continue };
            let ad = |text: &str| parse_ad(text.as_bytes(), rules);
            let (Ok(known), Ok(more), Ok(target)) = (ad(&known), ad(&more), ad(&target)) else { continue };
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
                            "{dialect} {what} seed {seed}: {source}\nbecomes {}\nknown {}\ncompleted {}\ntarget {}",
                            shown(&left.expression),
                            print_text(&known),
                            print_text(ad),
                            target.map_or(String::new(), print_text),
                        )
                    };
                    assert_eq!(before, after, "{}", report());
                    compared += 1;
                    match left.verdict {
                        ConstraintVerdict::Never => assert_ne!(before.as_deref(), Ok("true"), "never: {}", report()),
                        ConstraintVerdict::Always => assert!(
                            !matches!(before.as_deref(), Ok("false" | "undefined" | "error")),
                            "always: {}",
                            report()
                        ),
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
                decided += usize::from(left.value.is_some());
            }
        }
    }
    println!("{compared} values compared");
    assert!(compared > 2 * seeds().count(), "in each dialect a value for each case: {compared}");
    assert!(decided * 20 > seeds().count(), "some values are known: {decided}");
}
