//! Specialization preserves values: what is left of an expression has, in every completion of the known
//! part of its ad, the value of the expression.

use classad::ad::{Ad, Dialect};
use classad::eval::{ConstraintVerdict, Context, SpecializeOptions, specialize};
use classad::matching::gang::{Gangmatcher, OpenPorts};
use classad::protocol::Protocol;
use classad::syntax::{ParseOptions, parse_ad};

use crate::binary::classad;
use crate::checks::compare_residues;
use crate::random::{Text, seeds};

#[test]
fn values_are_preserved_in_every_completion() {
    let (mut decided, mut compared) = (0, 0);
    for dialect in [Dialect::Classad, Dialect::Condor] {
        for seed in seeds() {
            let counts = compare_residues(&mut Text::new(seed), dialect);
            decided += counts.decided;
            compared += counts.compared;
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
