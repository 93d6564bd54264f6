//! Specialization preserves values: what is left of an expression has, in every completion of the known
//! part of its ad, the value of the expression.

use classad::ad::{Ad, Dialect, Participant};
use classad::eval::{ConstraintVerdict, Context, Environment, Knowledge, SpecializeOptions, specialize, specialize_ad};
use classad::matching::gang::{Gangmatcher, OpenPorts};
use classad::protocol::Protocol;
use classad::syntax::{ParseOptions, parse_ad, parse_expression};

use crate::binary::classad;
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

/// A port that can never be filled has no candidate in any pool; one that always accepts is filled by every offer that
/// accepts it.
#[test]
fn verdicts_on_ports_are_those_of_gangs() {
    let (dialect, protocol) = (Dialect::Classad, Protocol::new(Dialect::Classad));
    let context = Context { now: None, random: None, ..Context::new(dialect) };
    let ad = |text: &str| parse_ad(text.as_bytes(), ParseOptions::new(dialect)).unwrap();
    let mut counts = [0; 3];
    for seed in seeds() {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut operand = || match random.u8(..7) {
            0 => "a".to_owned(),
            1 => "b".to_owned(),
            2 => "p.x".to_owned(),
            3 => "missing".to_owned(),
            _ => random.u8(..3).to_string(),
        };
        let mut clause = || format!("{} <= {}", operand(), operand());
        let constraint = format!("({} || {}) && {}", clause(), clause(), clause());
        let request =
            ad(&format!("[ a = 1; b = c + 1; c = a; Ports = {{ [ Label = p; Constraint = {constraint} ] }} ]"));
        let offers: Vec<Ad> = (0..4).map(|x| ad(&format!("[ x = {x}; Constraint = true ]"))).collect();
        let OpenPorts { environment, ports } = OpenPorts::of(&request).unwrap();
        let (label, frame) = &ports[0];
        assert_eq!((ports.len(), label.to_string().as_str()), (1, "p"));
        let expression = protocol.constraint_expression(&frame.ad).unwrap();
        let verdict = specialize(expression, frame, &environment, &context, SpecializeOptions::default()).verdict;
        let (mut matcher, _) = Gangmatcher::new(&offers, protocol.clone(), context.clone());
        let gangs = matcher.gangs(0, &request).unwrap().count();
        match verdict {
            ConstraintVerdict::Never => assert_eq!(gangs, 0, "{constraint}"),
            ConstraintVerdict::Always => assert_eq!(gangs, offers.len(), "{constraint}"),
            ConstraintVerdict::Depends => assert!(constraint.contains("p.x"), "{constraint}"),
        }
        counts[verdict as usize] += 1;
    }
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
}

/// Thesis 2.6.1 and 3.2.2: each port has a constraint of its own.
#[test]
fn each_port_has_a_verdict() {
    let job = "samples/papers/thesis-figure-30-job.ad";
    let run =
        |arguments: &[&str]| classad(&[&["specialize", "--verdict", "--no-header", "-o", "tsv"], arguments].concat());
    let (status, rows, _) = run(&[job]);
    let cells = |rows: &str| {
        rows.lines().map(|row| row.split('\t').skip(1).collect::<Vec<&str>>().join(" ")).collect::<Vec<String>>()
    };
    assert_eq!(
        (status, cells(&rows)),
        (
            Some(0),
            vec![
                "Cpu depends Cpu.Arch, Cpu.OpSys, Cpu.VirtualMemory".to_owned(),
                "License depends License.App".to_owned()
            ]
        )
    );
    // An ad without ports has the port `other`; one of the ports may be decided.
    let file = crate::binary::file(
        "verdicts.ad",
        "[ Requirements = other.x > 1 && y; y = false ] \
         [ on = 1; Ports = { [ Label = a; Requirements = on == 1 ], [ Label = b; Requirements = a.x == 1 && on > 1 ], \
         [ Label = c ] } ] [ Ports = 3 ]",
    );
    let (status, rows, told) = run(&[&file]);
    assert_eq!(cells(&rows), ["other never ", "a always ", "b never ", "c never "]);
    assert!(status == Some(2) && told.contains("Ports must be a list of records"), "{status:?} {told}");
}
