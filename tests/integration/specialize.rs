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

/// Thesis 2.5: the times of Figures 4 (others at night only), 5 (the rank of instructional machines at night) and 6 (half a
/// gigabyte after two hours).
#[test]
fn verdicts_hold_over_time() {
    let run = |now: &str, arguments: &[&str]| {
        let options = ["specialize", "--verdict", "--no-header", "-o", "tsv", "--over", "24h", "--now", now];
        let (status, rows, told) = classad(&[&options, arguments].concat());
        let cells = |row: &str| row.split('\t').skip(1).map(str::to_owned).collect::<Vec<_>>().join(" ");
        (status, rows.lines().map(cells).collect::<Vec<_>>(), told)
    };
    let policy = "!member(other.Owner, { \"rival\", \"riffraff\" }) && Rank >= 10 ? true : Rank > 0 ? true";
    let (status, rows, _) = run("2026-07-06T12:00:00Z", &["samples/papers/thesis-figure-4-machine.ad"]);
    assert_eq!(status, Some(0));
    assert_eq!(
        rows,
        [
            format!("other 2026-07-06 12:00:00 UTC 2026-07-06 18:00:01 UTC depends {policy} : false"),
            format!("other 2026-07-06 18:00:01 UTC 2026-07-07 08:00:00 UTC depends {policy} : true"),
            format!("other 2026-07-07 08:00:00 UTC 2026-07-07 12:00:00 UTC depends {policy} : false"),
        ]
    );
    let (status, rows, _) = run("2026-07-06T12:00:00Z", &["--attr", "Rank", "samples/papers/thesis-figure-5-job.ad"]);
    let starts: Vec<_> = rows.iter().map(|row| (&row[24..43], row.contains("true && other.IsInstr"))).collect();
    // A rank is a number, and no constraint.
    assert_eq!(status, Some(1));
    let expected = [("2026-07-06 20:00:01", false), ("2026-07-07 08:00:00", true), ("2026-07-07 12:00:00", false)];
    assert_eq!(starts, expected, "{rows:?}");
}

/// The times of JSON are seconds and ISO texts; samples are said to be some.
#[test]
fn times_have_both_forms_in_json() {
    let figure = "samples/papers/thesis-figure-6-job.ad";
    let now = "1999-01-11T10:53:31-06:00";
    let options = ["specialize", "--verdict", "--over", "24h", "--now", now, "--attr", "Constraint", "-o", "json"];
    let (status, rows, _) = classad(&[&options, [figure].as_slice()].concat());
    let rows: serde_json::Value = serde_json::from_str(&rows).unwrap();
    let [until, from] = [&rows[0], &rows[1]];
    assert_eq!((status, rows.as_array().unwrap().len()), (Some(0), 2));
    assert_eq!((&until["to"], &until["to_time"]), (&916_080_812.into(), &"1999-01-11T18:53:32Z".into()));
    assert_eq!((&from["from"], &from["to_time"]), (&916_080_812.into(), &"1999-01-12T16:53:31Z".into()));
    let rests = [until, from].map(|row| row["rest"].as_str().unwrap().rsplit(" >= ").next().unwrap().to_owned());
    assert_eq!(rests, ["1073741824.0", "536870912.0"]);
    for (expression, over, note) in [
        ("strcat(time()) > \"2\"", "24h", "some bounds are seen in samples every 60 s"),
        ("time() > 5", "400d", "--over looks 366 days ahead at most"),
        ("time() > 5", "24h", ""),
    ] {
        let (_, _, told) = classad(&["specialize", "--verdict", "--over", over, "--now", now, "--expr", expression]);
        assert_eq!(told.trim(), if note.is_empty() { String::new() } else { format!("note: {note}") }, "{expression}");
    }
    for over in ["0h", "-5h", "x", "99999999999999999d", "h"] {
        let (status, _, _) = classad(&["specialize", "--verdict", &format!("--over={over}"), "--expr", "true"]);
        assert_eq!(status, Some(2), "{over}");
    }
}

/// A slot of HTCondor that takes jobs at night and at weekends, over the end of summer time.
#[test]
fn windows_follow_the_local_clock() {
    let slot = crate::binary::file(
        "windows.ad",
        "Name = \"slot1@a\"\nClockMin = 720\nClockDay = 5\nSTART = Weekend || ClockMin >= 18 * 60 && TARGET.RequestCpus <= 4\n\
         Weekend = ClockDay == 0 || ClockDay == 6\n",
    );
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_classad"))
        .args(["specialize", "--verdict", "--no-header", "-o", "tsv", "--over", "3d", "--now", "1792749600"])
        .args(["--attr", "START", &slot])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("TZ", "Europe/Berlin")
        .output()
        .unwrap();
    let text = String::from_utf8(run.stdout).unwrap();
    let rows: Vec<_> = text.lines().map(|row| row.split('\t').skip(2).take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        rows,
        [
            "2026-10-23 18:00:00 CEST never",
            "2026-10-24 00:00:00 CEST depends",
            "2026-10-26 00:00:00 CET always",
            "2026-10-26 11:00:00 CET never",
        ],
        "{text}"
    );
}
