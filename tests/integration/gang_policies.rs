//! Gangs under a policy, enumerated, printed, explained, told and claimed.

use std::io::{BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};

use classad::ad::{Ad, Dialect};
use classad::eval::Context;
use classad::matching::claim::Claimer;
use classad::matching::gang::{GangFault, Gangmatcher};
use classad::matching::negotiate::{Grant, NegotiationSettings, negotiate};
use classad::matching::policy::Policy;
use classad::matching::{Notice, Party};
use classad::protocol::Protocol;
use classad::syntax::{ParseOptions, parse_ad};
use serde_json::Value as Json;

use super::binary::{classad, file, words};

fn ad(text: &str) -> Ad {
    parse_ad(text.as_bytes(), ParseOptions::default()).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn ads(texts: &[&str]) -> Vec<Ad> {
    texts.iter().map(|text| ad(text)).collect()
}

fn matcher(offers: &[Ad], policy: &Policy) -> Gangmatcher {
    let (matcher, bad) = Gangmatcher::new(offers, Protocol::new(Dialect::Classad), Context::new(Dialect::Classad));
    assert!(bad.is_empty());
    matcher.with_docking_vector(policy.docking.clone()).with_residual(policy.residual.clone())
}

fn policy(text: &str) -> Policy {
    Policy::parse(text.as_bytes(), Dialect::Classad).expect("it is a policy")
}

/// Figure 9 as it is printed.
fn figure_9() -> Policy {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/gangmatch/figure-9.yaml");
    let policy = policy(&std::fs::read_to_string(path).expect("it is there"));
    assert_eq!(policy.docking.len(), 3);
    policy
}

/// Which machine a job gets, together with the one licence, under Figure 9.
fn machine(machines: &[&str]) -> Option<usize> {
    let license = "[ Kind = \"licence\"; Rank = 0; Constraint = true ]";
    let offers: Vec<Ad> = machines.iter().chain([&license]).map(|text| ad(text)).collect();
    let job = ad("[ Owner = \"raman\"; UserPrio = 10.0; Ports = {
        [ Label = licence; Constraint = licence.Kind == \"licence\"; Rank = 0 ],
        [ Label = cpu; Constraint = cpu.Kind == \"machine\"; Rank = cpu.Speed ] } ]");
    let gang = matcher(&offers, &figure_9()).marshal(0, &job).expect("the vectors compare")?;
    Some(gang.ports[1].offer)
}

fn free(speed: u32) -> String {
    format!("[ Kind = \"machine\"; Speed = {speed}; Rank = 0; CurrentRank = 0; Constraint = true ]")
}

/// A machine that serves someone of a priority, for so many hours, and ranks that one and the job.
fn claimed(speed: u32, prio: u32, hours: u32, ranks: [u32; 2], image: u32) -> String {
    let [current, rank] = ranks;
    format!(
        "[ Kind = \"machine\"; Speed = {speed}; RemoteUser = \"miron\"; RemoteUserPrio = {prio}.0; ImageSize = {image};
           ServiceTime = relTime({hours} * 3600); CurrentRank = {current}; Rank = {rank}; Constraint = true ]"
    )
}

#[test]
fn condors_preferences_are_followed_step_by_step() {
    let best = |machines: &[String]| machine(&machines.iter().map(String::as_str).collect::<Vec<_>>());
    let preempting = claimed(1, 90, 4, [0, 0], 10);
    // First the job's own rank, even if someone has to go for it.
    assert_eq!(best(&[free(1), claimed(2, 90, 4, [0, 0], 10)]), Some(1));
    // Of equal ones a machine that nobody uses.
    assert_eq!(best(&[preempting.clone(), claimed(1, 1, 0, [0, 5], 10), free(1)]), Some(2));
    // Then one that prefers the job, whoever is there, and however short.
    assert_eq!(best(&[preempting.clone(), claimed(1, 1, 0, [0, 5], 10)]), Some(1));
    // Then one that serves someone of a worse priority: by more than a tenth, if it is not less willing, and the
    // preemption constraint holds.
    assert_eq!(best(std::slice::from_ref(&preempting)), Some(0));
    for refused in [claimed(1, 11, 4, [0, 0], 10), claimed(1, 90, 4, [5, 0], 10), claimed(1, 90, 3, [0, 0], 10)] {
        assert_eq!(best(std::slice::from_ref(&refused)), None, "{refused}");
        // What is an error is discarded, however much the job prefers it.
        assert_eq!(best(&[refused.replace("Speed = 1", "Speed = 9"), preempting.clone()]), Some(1));
    }
    // Of those the one whose user has the worst priority, then the one with the smallest image.
    let three = [claimed(1, 80, 4, [0, 0], 10), claimed(1, 90, 4, [0, 0], 30), claimed(1, 90, 4, [0, 0], 20)];
    assert_eq!(best(&three), Some(2));
    // An undefined component discards, too.
    assert_eq!(best(&[free(1).replace("Speed = 1; ", "")]), None);
}

#[test]
fn what_remains_of_an_offer_is_offered_again() {
    let policy = policy(
        "residual: { when: Kind == \"m\", set: { Cpus: Cpus - other.Want, Before: Cpus, Who: other.Owner }, while: Cpus > 0 }",
    );
    let offers = ads(&[
        "[ Kind = \"m\"; Cpus = 5; Ports = { [ Label = job; Left = Cpus - job.Want; Constraint = job.Want <= Cpus ] } ]",
        "[ Kind = \"l\"; Constraint = true ]",
        "[ Kind = \"l\"; Constraint = true ]",
    ]);
    let job = |want: u32| {
        ad(&format!(
            "[ Owner = \"o{want}\"; Ports = {{ [ Label = cpu; Want = {want}; Constraint = cpu.Kind == \"m\" && cpu.Left >= 0 ],
               [ Label = lic; Constraint = lic.Kind == \"l\" ] }} ]"
        ))
    };
    let mut matcher = matcher(&offers, &policy);
    let mut got = |request: &Ad| {
        let gang = matcher.marshal(0, request).expect("the ports are sound")?;
        Some(gang.members().iter().map(|docked| (docked.offer, docked.part)).collect::<Vec<_>>())
    };
    assert_eq!(got(&job(2)), Some(vec![(0, 1), (1, 1)]));
    // Three are left, and one licence.
    assert_eq!(got(&job(4)), None);
    let seen = ad(
        "[ Ports = { [ Label = cpu; Want = 0; Constraint = cpu.Cpus == 3 && cpu.Before == 5 && cpu.Who == \"o2\" ] } ]",
    );
    assert_eq!(got(&seen), Some(vec![(0, 2)]));
    assert_eq!(got(&job(3)), Some(vec![(0, 3), (2, 1)]));
    // Nothing is.
    assert_eq!(got(&seen), None);
}

/// Bilateral ads make one-port gangs: what `negotiate` does with an offer that is divided again and again.
#[test]
fn remainders_are_those_of_a_cycle() {
    let mut random = fastrand::Rng::with_seed(5);
    let (mut parts, mut compared) = (0, 0);
    for _ in 0..150 {
        let number = |random: &mut fastrand::Rng| random.u32(1..9);
        let offers: Vec<Ad> = (0..random.usize(1..12))
            .map(|_| {
                let (cpus, site, whole) = (number(&mut random), random.u32(0..3), random.u32(0..3) == 0);
                let rank = ["", "Rank = other.Want;", "Rank = -other.Site;"][random.usize(0..3)];
                ad(&format!(
                    "[ Cpus = {cpus}; Site = {site}; Whole = {whole}; {rank} Constraint = other.Want <= Cpus ]"
                ))
            })
            .collect();
        let requests: Vec<Ad> = (0..random.usize(1..30))
            .map(|_| {
                let (want, site) = (random.u32(1..4), random.u32(0..3));
                let rank = ["", "Rank = -other.Cpus;", "Rank = other.Site;"][random.usize(0..3)];
                let constraint = ["true", "other.Site == Site", "other.Cpus >= Want + 1"][random.usize(0..3)];
                ad(&format!("[ Want = {want}; Site = {site}; {rank} Constraint = {constraint} ]"))
            })
            .collect();
        let policy = policy("residual: { when: \"!Whole\", set: { Cpus: Cpus - other.Want }, while: Cpus > 0 }");
        let (protocol, context) = (Protocol::new(Dialect::Classad), Context::new(Dialect::Classad));
        let settings = NegotiationSettings::new(policy.clone(), protocol, context);
        let cycle = negotiate(&settings, &requests, &offers, &|_| None, &mut |_| ControlFlow::Continue(()));
        let cycle = cycle.expect("nothing is compared");
        let place = |grant: &Grant| (grant.request, grant.offers[0].offer, grant.offers[0].part);
        let cycle: Vec<_> = cycle.grants.iter().map(place).collect();
        let mut matcher = matcher(&offers, &policy);
        let gangs = requests.iter().enumerate().filter_map(|(index, request)| matcher.marshal(index, request).unwrap());
        let gangs: Vec<_> = gangs.map(|gang| (gang.request, gang.ports[0].offer, gang.ports[0].part)).collect();
        assert_eq!(gangs, cycle);
        compared += gangs.len();
        parts += gangs.iter().filter(|(_, _, part)| *part > 1).count();
    }
    assert!(parts > 100 && compared > 2 * parts / 3, "{parts} {compared}");
}

#[test]
fn vectors_of_mixed_types_are_refused_in_every_way() {
    let policy = policy("docking: [1, 'label.X']");
    let offers = ads(&["[ X = 1; Constraint = true ]", "[ X = \"a\"; Constraint = true ]"]);
    let request = ad("[ Ports = { [ Label = a; Constraint = true ] } ]");
    let mut matcher = matcher(&offers, &policy);
    let fault = matcher.marshal(0, &request).unwrap_err();
    let GangFault::Policy(fault) = fault else { panic!("{fault:?}") };
    assert!(
        fault.reason.starts_with("component 2 of `docking` is an integer for some ads, but a string for others"),
        "{}",
        fault.reason
    );
    let mut gangs = matcher.gangs(0, &request).expect("the ports are sound");
    assert_eq!(gangs.next(), None);
    assert!(gangs.fault().is_some() && gangs.fault().is_none());
    assert!(matches!(matcher.gang_failure(0, &request), Err(GangFault::Policy(_))));

    let (requests, offers) = (
        file("mixed.ad", "[ Constraint = true ]"),
        file("mixed-offers.ad", "[ X = 1; Constraint = true ] [ X = \"a\"; Constraint = true ]"),
    );
    let mixed = file("mixed.yaml", "docking:\n  - 1\n  - label.X\n");
    for more in [&[][..], &["--all"], &["--limit", "1"], &["--explain"]] {
        let arguments = [&["gangmatch", &requests, "--pool", &offers, "--policy", &mixed], more].concat();
        let (status, out, errors) = classad(&arguments);
        assert_eq!((status, out.as_str()), (Some(2), ""), "{more:?}");
        assert!(errors.contains("component 2 of `docking`") && errors.contains("mixed.yaml:3:5"), "{errors}");
    }
}

const POOL: [&str; 4] = ["--pool", "samples/license/machines.ad", "--pool", "samples/license/licenses.ad"];

fn gangmatch(more: &[&str]) -> (Option<i32>, String, String) {
    classad(&[&["gangmatch", "samples/license/jobs.ad"], &POOL[..], more].concat())
}

#[test]
fn gangs_are_listed_without_being_taken() {
    let (status, all, _) = gangmatch(&["--all", "--no-header"]);
    assert_eq!(status, Some(0));
    let of = |text: &str, job: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with(job)).map(str::to_owned).collect()
    };
    // job-1 is refused by host-1; host-6 has two licences; job-3 alone has two gangs; no machine will do for job-5.
    assert_eq!(["job-1", "job-2", "job-3", "job-4", "job-5"].map(|job| of(&all, job).len()), [4, 5, 2, 5, 0], "{all}");
    let (_, two, _) = gangmatch(&["--limit", "2", "--no-header"]);
    for job in ["job-1", "job-2", "job-3", "job-4", "job-5", "job-6"] {
        assert_eq!(of(&two, job), of(&all, job).into_iter().take(2).collect::<Vec<_>>(), "{job}");
    }
    assert_eq!(gangmatch(&["--all", "-q"]), (Some(0), String::new(), String::new()));
    for (arguments, message) in [
        (&["--all", "--notify", "-"][..], "--notify reports matches, which --all and --limit do not make"),
        (&["--limit", "2", "--algorithm", "naive"], "cannot be used"),
        (&["--limit", "0"], "invalid value"),
        (&["--explain", "-o", "tsv"], "json or jsonl"),
        (&["--explain", "--notify", "-"], "both need standard output"),
    ] {
        let (status, _, errors) = gangmatch(arguments);
        assert!(status == Some(2) && errors.contains(message), "{arguments:?}: {errors}");
    }
}

/// There are as many gangs as ways to choose, far too many to wait for.
#[test]
fn whoever_has_seen_enough_ends_the_listing() {
    let ports: Vec<String> = (0..12).map(|port| format!("[ Label = p{port}; Constraint = true ]")).collect();
    let request = file("many.ad", format!("[ Name = \"many\"; Ports = {{ {} }} ]", ports.join(", ")));
    let offers = file("many-offers.ad", "[ Constraint = true ]\n".repeat(40));
    for form in ["tsv", "jsonl", "json", "tree", "new"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_classad"))
            .args(["gangmatch", &request, "--pool", &offers, "--all", "-o", form])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut lines = BufReader::new(child.stdout.take().expect("there is an output")).lines();
        for _ in 0..4 {
            assert!(lines.next().is_some_and(|line| line.is_ok()), "{form}");
        }
        drop(lines);
        let mut errors = String::new();
        child.stderr.take().expect("there is one").read_to_string(&mut errors).expect("it is text");
        assert_eq!((child.wait().expect("it ends").code(), errors.as_str()), (Some(0), ""), "{form}");
    }
}

/// A service with an optional port, below a request with an OR group.
const NESTED: &str = "[ Name = \"r\"; Type = \"Job\"; Ports = {
    [ Label = service; Wants = 2; Constraint = service.Kind == \"service\" ],
    [ Min = 1; Max = 1; Ports = { [ Label = tape; Constraint = tape.Kind == \"tape\" ],
                                  [ Label = Disk; Constraint = Disk.Kind == \"disk\" && tape is undefined ] } ] } ]";
const NESTED_OFFERS: &str = "[ Name = \"s\"; Kind = \"service\"; Ports = {
    [ Label = cpu; Constraint = cpu.Kind == \"cpu\"; Rank = cpu.Speed ],
    [ Min = 0; Ports = { [ Label = gpu; Constraint = gpu.Kind == \"gpu\" ] } ],
    [ Label = client; Constraint = client.Wants <= cpu.Speed && gpu is undefined ] } ]
  [ Name = \"c\"; Kind = \"cpu\"; Speed = 3; ClaimId = \"secret#c\"; Constraint = true ]
  [ Name = \"d\"; Kind = \"disk\"; Constraint = true ]";

fn nested(more: &[&str]) -> (Option<i32>, String, String) {
    let (request, offers) = (file("nested.ad", NESTED), file("nested-offers.ad", NESTED_OFFERS));
    classad(&[&["gangmatch", &request, "--pool", &offers], more].concat())
}

#[test]
fn gangs_are_printed_in_every_form() {
    assert_eq!(nested(&[]).1, "request\toffers\tranks\nr\ts,c,d\t0/0,3/0,0/0\n");
    let id = "(match ";
    let (_, tree, _) = nested(&["-o", "tree"]);
    let (head, below) = tree.split_once('\n').expect("there are lines");
    assert!(head.starts_with("r (match ") && head.ends_with(')'), "{head}");
    assert_eq!(below, "  service: s\n    cpu: c (ranks 3, 0)\n    gpu: (unfilled)\n  tape: (unfilled)\n  Disk: d\n");
    let id = &head[head.find(id).expect("it is there") + id.len()..head.len() - 1];

    let (_, json, _) = nested(&["-o", "json"]);
    let json: Json = serde_json::from_str(&json).expect("it is JSON");
    let gang = &json[0];
    assert_eq!((gang["version"].as_u64(), gang["match"].as_str()), (Some(1), Some(id)));
    assert_eq!(gang["unfilled"], serde_json::json!(["tape"]));
    assert_eq!(gang["ports"][0]["unfilled"], serde_json::json!(["gpu"]));
    assert_eq!(gang["ports"][0]["link"], 2);
    assert_eq!(gang["ports"][1]["label"], "Disk");
    assert!(gang["ports"][1].get("unfilled").is_none());

    for form in ["new", "long", "xml", "yaml"] {
        let (_, text, errors) = nested(&["-o", form]);
        assert_eq!(errors, "", "{form}");
        let path = file(&format!("nested-gang.{form}"), &text);
        let wanted = "Ports[0].Ports[0].Offer, Ports[0].Unfilled, Unfilled, Ports[1].Label, size(Ports), Match, MyType";
        let (_, row, errors) = classad(&["query", "true", &path, "--dialect", "classad", "--af", wanted]);
        let cells: Vec<&str> = row.trim().split(['\t', ' ']).filter(|cell| !cell.is_empty()).collect();
        assert!(
            row.contains(id) && row.contains("Gang") && row.contains("tape") && row.contains("gpu"),
            "{form} {cells:?} {errors}"
        );
    }
    let (_, table, _) = nested(&["-o", "table"]);
    assert!(table.contains("unfilled") && table.contains("service.gpu, tape"), "{table}");
    assert!(!gangmatch(&["-o", "table"]).1.contains("unfilled"));
}

#[test]
fn nothing_is_shredded_in_sixty_columns() {
    let long = |name: &str| NESTED_OFFERS.replace("\"c\"", &format!("\"{name}\""));
    let offers = file("wide-offers.ad", long("slot1_4@a-rather-long-name.of.a.machine.cs.wisc.edu"));
    let request = file("wide.ad", NESTED);
    for form in ["tree", "table"] {
        let output = Command::new(env!("CARGO_BIN_EXE_classad"))
            .args(["gangmatch", &request, "--pool", &offers, "-o", form])
            .env("COLUMNS", "60")
            .output()
            .expect("it runs");
        let text = String::from_utf8(output.stdout).expect("it is text");
        assert!(text.lines().all(|line| line.chars().count() <= 62), "{form}\n{text}");
        assert!(form == "table" || text.contains("slot1_4@a-rather-long-name.of.a.machine.cs.wisc.edu"), "{text}");
    }
    // Ads that are chained a long way down stay readable.
    let link = |at: usize| {
        format!(
            "[ Name = \"n{at}\"; Number = {at}; Ports = {{ [ Label = up; Constraint = up.Wants == {at} ],
               [ Label = down; Wants = {0}; Constraint = down.Number == {0} ] }} ]\n",
            at + 1
        )
    };
    let mut chain: String = (0..90).map(link).collect();
    chain += "[ Name = \"end\"; Number = 90; Constraint = other.Wants == 90 ]";
    let request = "[ Name = \"top\"; Ports = { [ Label = first; Wants = 0; Constraint = first.Number == 0 ] } ]";
    let (request, offers) = (file("chain.ad", request), file("chain-offers.ad", &chain));
    let (status, text, _) = classad(&["gangmatch", &request, "--pool", &offers, "-o", "tree"]);
    assert_eq!((status, text.lines().count()), (Some(0), 92));
    assert!(text.lines().all(|line| line.chars().count() <= 80) && text.contains(" 91 down: end"), "{text}");
    for form in ["json", "new"] {
        let (status, text, errors) = classad(&["gangmatch", &request, "--pool", &offers, "-o", form]);
        assert!(status == Some(0) && text.contains("\"end\"") && errors.is_empty(), "{form} {errors}");
    }
}

#[test]
fn ports_that_a_group_leaves_unfilled_are_told_and_claimed() {
    let notices = file("nested.jsonl", "");
    let (status, _, errors) = nested(&["--notify", &notices]);
    assert_eq!((status, errors.as_str()), (Some(0), ""));
    let told = std::fs::read_to_string(&notices).expect("it was written");
    let records: Vec<Json> = told.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    let to: Vec<&str> = records.iter().filter_map(|record| record["to"].as_str()).collect();
    assert_eq!(to, ["r", "s", "c", "d"]);
    // Only the service presents the ticket of its processor.
    let tickets: Vec<bool> = records.iter().map(|record| record.to_string().contains("secret#c")).collect();
    assert_eq!(tickets, [false, true, true, false]);
    assert_eq!(records[0]["members"][2]["above"], 1);

    let (request, offers) = (file("nested.ad", NESTED), file("nested-offers.ad", NESTED_OFFERS));
    let tree = file("nested-tree.json", &nested(&["-o", "json"]).1);
    for matches in [&notices, &tree] {
        let (status, out, errors) = classad(&["claim", matches, "--ads", &request, "--ads", &offers, "--no-header"]);
        assert!(
            status == Some(0) && out.contains("\tcommitted\tr,s,c,d") || out.contains("committed"),
            "{out}{errors}"
        );
        assert!(out.starts_with(records[0]["match"].as_str().expect("it has a name")), "{out}");
    }
}

#[test]
fn a_claim_wants_the_groups_of_now_to_be_satisfied() {
    let offers: Vec<Ad> = ads(&["[ A = 1; Constraint = true ]", "[ B = 1; Constraint = true ]"]);
    let port = |label: &str, at: &str| format!("[ Label = {label}; Constraint = {label}.{at} == 1 ]");
    let request = |min: u32, max: u32| {
        let group = format!("[ Min = {min}; Max = {max}; Ports = {{ {}, {} }} ]", port("x", "C"), port("y", "B"));
        ad(&format!("[ Ports = {{ {}, {group} }} ]", port("a", "A")))
    };
    let context = Context::new(Dialect::Classad);
    let mut matcher = matcher(&offers, &Policy::default());
    let gang = matcher.marshal(0, &request(1, 1)).expect("the ports are sound").expect("there is one");
    let party = |index: usize| Party::from_offer(&offers[index], &index.to_string(), &context);
    let notice = Notice::for_gang(&gang, Party::new(&request(1, 1), "r", &context), party, None);
    let claim = |now: Ad| {
        let ads: Vec<Ad> = std::iter::once(now).chain(offers.clone()).collect();
        let mut claimer = Claimer::new(&ads, Protocol::new(Dialect::Classad), context.clone(), None);
        let claim = claimer.claim(&notice, &[Ok(0), Ok(1), Ok(2)]);
        (claim.is_committed(), claim.vetoes.first().map(|(party, veto)| (*party, veto.to_string())))
    };
    assert_eq!(claim(request(1, 1)), (true, None));
    assert_eq!(claim(request(0, 2)), (true, None));
    for (refused, expected) in [
        (request(2, 2), "its port `x` has no offer"),
        (request(0, 0), "its groups of ports are not satisfied; filled ports: `a`, `y`"),
    ] {
        let (committed, veto) = claim(refused);
        let (party, reason) = veto.expect("somebody votes ABORT");
        assert!(!committed && party == 0 && reason.contains(expected), "{reason}");
    }
    let more = ad(&format!("[ Ports = {{ {}, {}, {} }} ]", port("a", "A"), port("x", "C"), port("y", "B")));
    assert!(claim(more).1.is_some_and(|(_, reason)| reason.contains("its port `x` has no offer")));
}

#[test]
fn a_request_without_a_gang_is_explained() {
    let (status, text, errors) = gangmatch(&["--explain"]);
    assert_eq!((status, errors.as_str()), (Some(0), ""));
    assert!(text.contains("job-3 gets no gang") && text.contains("job-5 gets no gang") && !text.contains("job-1"));
    let words = words(&text);
    assert!(words.contains("Site.HostName == ValidHost, where Site.HostName = Cpu.Name"), "{text}");
    let (_, json, _) = gangmatch(&["--explain", "-o", "json"]);
    let json: Json = serde_json::from_str(&json).expect("it is JSON");
    let job = &json[0];
    assert_eq!((job["version"].as_u64(), job["request"].as_str()), (Some(1), Some("job-3")));
    assert_eq!(job["ports"][1], serde_json::json!({"label": "License", "alone": 1, "given": 0, "used": 2}));
    assert_eq!(job["deepest"][0]["offer"], "host-4");
    let condition = &job["stuck"][0]["conditions"][0];
    assert_eq!((condition["by"].as_str(), condition["offers"][0].as_str()), (Some("offers"), Some("lic-node")));
    assert_eq!(condition["reads"][0]["value"], "\"host-4\"");
    assert_eq!(condition["labels"], serde_json::json!(["Cpu"]));
    // Whoever has gangs has nothing to be explained.
    let (status, text, _) = classad(&[
        "gangmatch",
        "samples/papers/thesis-figure-8-two-hosts.ad",
        "--pool",
        "samples/gangs/hosts.ad",
        "--explain",
    ]);
    assert_eq!((status, text.as_str()), (Some(0), ""));
}

#[test]
fn a_root_is_used_for_nobody_else() {
    let both = "[ Name = \"a\"; Size = 2; Ports = { [ Label = p; Constraint = p.Size > 0 ] } ] [ Name = \"b\"; Size = 1; Constraint = true ]";
    let ads = file("roots-and-offers.ad", both);
    let rows = |more: &[&str]| classad(&[&["gangmatch", &ads, "--pool", &ads, "--no-header"], more].concat()).1;
    assert_eq!(rows(&["--roots", "Size == 2"]), "a\tb\t0/0\n");
    assert_eq!(rows(&["--roots", "Size > 0"]), "");
    assert_eq!(rows(&["--roots", "Size == 2", "--all"]), "a\tb\t0/0\n");
}

#[test]
fn counters_are_printed_in_one_line() {
    for more in [&[][..], &["--all"], &["--explain"]] {
        let (_, _, errors) = gangmatch(&[&["--stats", "-q"], more].concat());
        let counted: Json = serde_json::from_str(errors.trim()).expect("it is JSON");
        for counter in ["roots", "matched", "probes", "tests", "evaluations", "backtracks", "seconds"] {
            assert!(counted[counter].is_number(), "{counter}: {errors}");
        }
    }
}

/// `explain` groups requests by what their gangs depend on: an attribute that an option names as constraint or rank
/// counts among it, in every form of the report.
#[test]
fn requests_that_differ_in_the_protocol_of_an_option_are_explained_apart() {
    let constraint = file(
        "protocol-constraint.ad",
        "[ Name = \"a\"; MyReq = Memory > 40 ]  [ Name = \"b\"; MyReq = Memory > 1000 ]",
    );
    let rank = file(
        "protocol-rank.ad",
        "[ Name = \"a\"; MyReq = Memory > 0; MyRank = Memory ]
        [ Name = \"b\"; MyReq = Memory > 0; MyRank = -Memory ]",
    );
    let offers = file(
        "protocol-offers.ad",
        "[ Name = \"small\"; Memory = 32; MyReq = true ]  [ Name = \"large\"; Memory = 64; MyReq = true ]
         [ Name = \"licence\"; MyReq = true;
           Ports = { [ Label = p; MyReq = true ], [ Label = q; MyReq = q.Memory > 5 ] } ]",
    );
    for (requests, options, expected) in [
        (&constraint, ["--constraint-attr", "MyReq"].as_slice(), ["large", ""]),
        (&rank, &["--constraint-attr", "MyReq", "--rank-attr", "MyRank"], ["large", "small"]),
    ] {
        let explain = |request: &[&str]| {
            let fixed = ["explain", requests, "--pool", &offers, "--id", "Name", "-o", "json"];
            let (_, out, errors) = classad(&[&fixed, options, request].concat());
            assert_eq!(errors, "");
            let document: Json = serde_json::from_str(&out).expect("it is JSON");
            document["reports"].as_array().expect("there are reports").clone()
        };
        let together = explain(&[]);
        assert_eq!(together.len(), 2, "{together:?}");
        for (index, name) in ["a", "b"].into_iter().enumerate() {
            let report = &together[index];
            assert_eq!(report["requests"], serde_json::json!([name]));
            assert_eq!(explain(&["--request", name]), std::slice::from_ref(report), "{name}");
            let offer = report["gang"][0]["offer"].as_str().unwrap_or_default();
            assert_eq!(offer, expected[index], "{options:?} {name}: {report}");
        }
    }
}

#[test]
fn a_rank_that_is_no_number_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("it is written");
        path.to_str().expect("its name is text").to_owned()
    };
    let request = "[ Name = \"r\"; Ports = { [ Label = a; Constraint = true; Rank = { a.Name } ],
        [ Label = b; Constraint = true; Rank = b.Absent ] } ]";
    let offers = "[ Name = \"x\"; Constraint = true; Rank = { 0 } ]
        [ Name = \"y\"; Constraint = true; Rank = { 1 } ]
        [ Name = \"z\"; Constraint = true; Rank = true ]";
    let (request, offers) = (file("request", request), file("offers", offers));
    for more in [&[][..], &["--all"], &["--explain"]] {
        let (status, _, errors) = classad(&[&["gangmatch", &request, "--pool", &offers], more].concat());
        assert_eq!(status, Some(0), "{errors}");
        let (notes, mut lines): (Vec<&str>, Vec<&str>) = errors.lines().partition(|line| line.starts_with("note: "));
        assert_eq!(notes.len(), usize::from(more == ["--explain"]), "{errors}");
        lines.sort_unstable();
        let [port, offers] = lines[..] else { panic!("{errors}") };
        assert_eq!(port, "warning: the rank of the port a of r is a list and counts as 0");
        let expected = "of x and of 1 other offer is a list and counts as 0";
        assert!(offers.starts_with("warning: the rank of the port") && offers.ends_with(expected), "{errors}");
    }
    // In the papers' dialect, strings and times count as 0 only among numbers.
    let mixed = file("mixed", "[ Name = \"r\"; Ports = { [ Label = a; Constraint = true; Rank = a.X ] } ]");
    let among = "[ Name = \"x\"; Constraint = true; X = \"a\"; Rank = absTime(0) ]
        [ Name = \"y\"; Constraint = true; X = -1; Rank = absTime(1) ]
        [ Name = \"z\"; Constraint = true; X = undefined; Rank = true ]";
    let (_, out, errors) = classad(&["gangmatch", &mixed, "--pool", &file("among", among)]);
    let mut lines: Vec<&str> = errors.lines().collect();
    lines.sort_unstable();
    let [port, offers] = lines[..] else { panic!("{errors}") };
    assert_eq!(port, "warning: the rank of the port a of r is a string and counts as 0");
    assert!(offers.ends_with("of x and of 1 other offer is an absolute time and counts as 0"), "{errors}");
    assert!(out.contains('x'), "{out}");
}

/// A policy that ranks no candidate of a port is named with its rule.
#[test]
fn the_rule_that_ranks_no_candidate_is_named() {
    let request = file("discards-request.ad", "[ Name = \"r\"; Ports = { [ Label = a; Constraint = a.K == 1 ] } ]");
    let pool = file("discards-pool.ad", "[ Name = \"o\"; K = 1; Constraint = true ]");
    let policy = file("discards-policy.yaml", "docking:\n- 1\n- label.NoSuch\n");
    let run = |more: &[&str]| classad(&[&["gangmatch", &request, "--pool", &pool, "--policy", &policy], more].concat());
    let (status, text, _) = run(&["--explain"]);
    assert!(status == Some(1) && text.contains("the policy ranks none of the 1 candidate for a"), "{text}");
    assert_eq!(text.matches("(its rule 2)").count(), 2, "{text}");
    assert!(run(&["--explain", "-o", "json"]).1.contains("\"discarding_component\":2"));
    let (status, _, told) = run(&[]);
    assert!(
        status == Some(1) && told.contains("all candidates are discarded: in the docking vector, `label.NoSuch`"),
        "{told}"
    );
}
