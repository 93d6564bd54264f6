//! What the sample ads really say, figure by figure (the papers' texts are not always right).

use std::path::Path;

use classad::ad::{Ad, Dialect, Value};
use classad::eval::{Context, Environment, Evaluator};
use classad::format::{FileFormat, detect, read};
use classad::matching::gang::{Gang, Gangmatcher};
use classad::matching::{GreedyMatcher, Pair, PairSide};
use classad::protocol::Protocol;
use classad::syntax::{ParseOptions, Style, parse_expression, print_value};

fn ads(path: &str) -> Vec<Ad> {
    let bytes =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("samples").join(path)).expect("the sample is there");
    let form = detect(&bytes).expect("it has a form");
    read(&bytes, form, dialect(form)).map(|item| item.expect("samples parse").ad).collect()
}

fn dialect(form: FileFormat) -> Dialect {
    if form.facts().is_of_htcondor { Dialect::Condor } else { Dialect::Classad }
}

fn one(path: &str) -> Ad {
    let mut ads = ads(path);
    assert_eq!(ads.len(), 1, "{path}");
    ads.remove(0)
}

/// Seconds since 1970 at an hour of the day of the machine's clock.
fn at_hour(hour: i64) -> i64 {
    let midnight = 1_700_000_000 / 86_400 * 86_400;
    classad::ad::time::from_local_clock(midnight + hour * 3600).seconds
}

fn context(dialect: Dialect, hour: i64) -> Context {
    Context { now: Some(at_hour(hour)), ..Context::new(dialect) }
}

fn pair(left: &Ad, right: &Ad, dialect: Dialect, hour: i64) -> Pair {
    Pair::new(left.clone(), right.clone(), Protocol::new(dialect), context(dialect, hour))
}

/// Whether the left side accepts, and whether the right side does.
fn accepts(left: &Ad, right: &Ad, dialect: Dialect, hour: i64) -> (bool, bool) {
    let pair = pair(left, right, dialect, hour);
    (pair.accepts(PairSide::Request).unwrap(), pair.accepts(PairSide::Offer).unwrap())
}

/// The value of an expression on the left side of a pair.
fn value(expression: &str, left: &Ad, right: &Ad, dialect: Dialect) -> String {
    let (environment, [scope, _]) = Environment::pair(left.clone(), right.clone());
    let tree = parse_expression(expression.as_bytes(), ParseOptions::new(dialect)).unwrap();
    let value = Evaluator::new(&environment, &context(dialect, 12)).evaluate(&tree, &scope).unwrap();
    String::from_utf8(print_value(&value, Style::New)).unwrap()
}

/// The gangs of requests, by the names of their offers: `request: offer, offer`.
fn gangs(requests: &[Ad], offers: &[Ad]) -> Vec<String> {
    let (mut matcher, bad) = Gangmatcher::new(offers, Protocol::new(Dialect::Classad), context(Dialect::Classad, 12));
    assert!(bad.is_empty());
    let made: Vec<Gang> =
        requests.iter().enumerate().filter_map(|(index, request)| matcher.marshal(index, request).unwrap()).collect();
    made.iter()
        .map(|gang| {
            let members: Vec<String> = gang.members().iter().map(|docked| name(&offers[docked.offer])).collect();
            format!("{}: {}", name(&requests[gang.request]), members.join(", "))
        })
        .collect()
}

fn name(ad: &Ad) -> String {
    classad::protocol::identity(ad, None, &Context::new(Dialect::Classad)).unwrap_or_else(|| "service".to_owned())
}

fn together(paths: &[&str]) -> Vec<Ad> {
    paths.iter().flat_map(|path| ads(path)).collect()
}

#[test]
fn the_1998_job_and_machine_match() {
    let (machine, job) = (one("papers/1998-figure-1-machine.ad"), one("papers/1998-figure-2-job.ad"));
    assert_eq!(accepts(&job, &machine, Dialect::Classad, 12), (true, true));
    let pair = pair(&job, &machine, Dialect::Classad, 12);
    // 21893 / 1E3 + 64 / 32, and raman is in the research group.
    assert!((pair.rank(PairSide::Request).unwrap() - 23.893).abs() < 1e-9);
    assert!((pair.rank(PairSide::Offer).unwrap() - 10.0).abs() < 1e-9);
    // The job names Arch without `other`: its own ad has none, so the machine's counts.
    assert_eq!(value("Arch", &job, &machine, Dialect::Classad), "\"INTEL\"");
}

#[test]
fn the_2000_gang_marshals_once_both_call_the_program_by_one_name() {
    let offers = ["papers/2000-figure-1-machine.ad", "papers/2000-figure-3-license.ad"];
    assert_eq!(gangs(&ads("papers/2000-figure-2-job.ad"), &together(&offers)).len(), 1);
    let printed = ["papers/2000-figure-1-machine.ad", "papers/2000-figure-3-license-as-printed.ad"];
    assert!(gangs(&ads("papers/2000-figure-2-job-as-printed.ad"), &together(&printed)).is_empty());
}

#[test]
fn thesis_figures_1_and_2_do_not_match() {
    let (machine, job) = (one("papers/thesis-figure-1-machine.ad"), one("papers/thesis-figure-2-job.ad"));
    assert_eq!(accepts(&job, &machine, Dialect::Classad, 12), (false, true));
    // The machine has no VirtualMemory, so that the job's constraint is undefined.
    assert_eq!(value("Constraint", &job, &machine, Dialect::Classad), "undefined");
    assert_eq!(value("other.VirtualMemory", &job, &machine, Dialect::Classad), "undefined");
    let with = machine.with("VirtualMemory".into(), parse_expression(b"64M", ParseOptions::default()).unwrap());
    assert_eq!(accepts(&job, &with, Dialect::Classad, 12), (true, true));
}

#[test]
fn thesis_figures_4_and_5_match_at_any_time() {
    let (machine, job) = (one("papers/thesis-figure-4-machine.ad"), one("papers/thesis-figure-5-job.ad"));
    for hour in [3, 12, 22] {
        assert_eq!(accepts(&job, &machine, Dialect::Classad, hour), (true, true), "{hour}:00");
    }
    // By precedence the first branch is taken only for the research group; at night anyone may come,
    // even the untrusted, against what the text says.
    let rival = job.with("Owner".into(), parse_expression(b"\"rival\"", ParseOptions::default()).unwrap());
    assert!(!accepts(&rival, &machine, Dialect::Classad, 12).1);
    assert!(accepts(&rival, &machine, Dialect::Classad, 3).1);
}

#[test]
fn thesis_figure_6_wants_more_memory_than_figure_4_has() {
    let (machine, job) = (one("papers/thesis-figure-4-machine.ad"), one("papers/thesis-figure-6-job.ad"));
    assert_eq!(accepts(&job, &machine, Dialect::Classad, 12), (false, true));
    assert_eq!(value("ElapsedTime > '2:00' ? 0.5G : 1.0G", &job, &machine, Dialect::Classad), "536870912.0");
}

#[test]
fn thesis_figure_8_wants_two_hosts_of_a_subnet() {
    let machine = one("papers/thesis-figure-13-machine.ad");
    // The machine counts its virtual memory in kilobytes, the job in bytes.
    assert!(gangs(&ads("papers/thesis-figure-8-two-hosts.ad"), &[machine.clone(), machine.clone()]).is_empty());
    let rules = ParseOptions::default();
    let large = machine
        .with("VirtualMemory".into(), parse_expression(b"64M", rules).unwrap())
        .with("Constraint".into(), parse_expression(b"true", rules).unwrap());
    let elsewhere = large.with("Subnet".into(), parse_expression(b"\"10.0.0\"", rules).unwrap());
    let jobs = ads("papers/thesis-figure-8-two-hosts.ad");
    assert_eq!(gangs(&jobs, &[large.clone(), elsewhere.clone()]).len(), 0);
    assert_eq!(gangs(&jobs, &[large.clone(), elsewhere, large]).len(), 1);
}

#[test]
fn thesis_figure_16_pairs_up() {
    let (offers, requests) = (ads("papers/thesis-figure-16-offers.ad"), ads("papers/thesis-figure-16-requests.ad"));
    let mut compatible = Vec::new();
    for (r, request) in requests.iter().enumerate() {
        for (o, offer) in offers.iter().enumerate() {
            if accepts(request, offer, Dialect::Classad, 12) == (true, true) {
                compatible.push((r, o));
            }
        }
    }
    assert_eq!(compatible, [(0, 0), (1, 1)]);
}

#[test]
fn thesis_figures_19_and_20_refuse_each_other() {
    let (object, query) = (one("papers/thesis-figure-19-object.ad"), one("papers/thesis-figure-20-query.ad"));
    assert_eq!(accepts(&query, &object, Dialect::Classad, 12), (false, false));
}

#[test]
fn thesis_figures_28_to_30_make_no_gang() {
    let offers = together(&["papers/thesis-figure-28-machine.ad", "papers/thesis-figure-29-license.ad"]);
    let jobs = ads("papers/thesis-figure-30-job.ad");
    assert!(gangs(&jobs, &offers).is_empty());
    // The machine runs another operating system; with the one asked for the gang is made.
    let linux = offers[0].with("OpSys".into(), parse_expression(b"\"LINUX\"", ParseOptions::default()).unwrap());
    assert_eq!(gangs(&jobs, &[linux, offers[1].clone()]).len(), 1);
}

#[test]
fn the_2006_job_and_machine_do_not_match() {
    let (job, machine) = (one("papers/2006-figure-1-job.long"), one("papers/2006-figure-1-machine.long"));
    assert_eq!(accepts(&job, &machine, Dialect::Condor, 12), (true, false));
    // The machine asks for a low load and an idle keyboard, and says nothing of either.
    assert_eq!(value("Requirements", &machine, &job, Dialect::Condor), "undefined");
    assert_eq!(value("LoadAvg", &machine, &job, Dialect::Condor), "undefined");
    assert_eq!(value("KeyboardIdle", &machine, &job, Dialect::Condor), "undefined");
}

#[test]
fn the_licence_gang_marshals() {
    let offers = together(&["license/machines.ad", "license/licenses.ad"]);
    assert_eq!(
        gangs(&ads("license/jobs.ad"), &offers),
        ["job-1: host-2, lic-low", "job-2: host-5, lic-high", "job-4: host-6, lic-node", "job-6: host-7, lic-cad"]
    );
    // job-3 fails only because the licences are taken, job-5 by itself.
    let alone = |index: usize| gangs(&ads("license/jobs.ad")[index..=index], &offers).len();
    assert_eq!([alone(2), alone(4)], [1, 0]);
}

#[test]
fn the_rendering_service_marshals_its_own_machine_and_licence() {
    let offers = together(&["rendering/service.ad", "rendering/machines.ad", "rendering/licenses.ad"]);
    assert_eq!(gangs(&ads("rendering/client.ad"), &offers), ["client-1: service, voxel, lic-voxel"]);
    // Without a licence the service cannot serve, and the client gets nothing.
    let offers = together(&["rendering/service.ad", "rendering/machines.ad"]);
    assert!(gangs(&ads("rendering/client.ad"), &offers).is_empty());
}

#[test]
fn the_multiprocessor_is_made_of_two_nodes_of_one_host() {
    let offers = together(&["multiprocessor/service.ad", "multiprocessor/nodes.ad"]);
    let clients = ads("multiprocessor/client.ad");
    assert_eq!(gangs(&clients, &offers), ["client-1: service, slot1@beta, slot2@beta"]);
    // Its memory is the sum of theirs: a client that needs more gets nothing, although the link to it
    // can be tested only when both nodes are docked.
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/multiprocessor/client.ad"))
        .unwrap();
    let text = text.replace("MemoryReqs = 200M", "MemoryReqs = 1T");
    let greedy: Vec<Ad> =
        read(text.as_bytes(), FileFormat::Bracketed, Dialect::Classad).map(|item| item.unwrap().ad).collect();
    assert!(gangs(&greedy, &offers).is_empty());
}

#[test]
fn the_modern_pool_matches_greedily() {
    let (jobs, machines) = (ads("pool/jobs.long"), ads("pool/machines.long"));
    let mut matcher = GreedyMatcher::new(&machines, Protocol::new(Dialect::Condor), context(Dialect::Condor, 12));
    let got: Vec<Option<String>> = jobs
        .iter()
        .enumerate()
        .map(|(index, job)| matcher.take_best(index, job).map(|found| name(&machines[found.offer])))
        .map(|found| found.map(|name| name.split('.').next().unwrap_or_default().to_owned()))
        .collect();
    let expected = [
        Some("slot1@node01"),
        Some("slot2@node01"),
        Some("slot1@node02"),
        Some("slot1@gpu01"),
        Some("slot4@desk01"),
        None,
        None,
        Some("slot1_1@node02"),
    ];
    assert_eq!(got, expected.map(|slot| slot.map(str::to_owned)));
    // 105.0 asks for more memory than any slot has, 106.0 for an attribute that is misspelt.
    let memory = |ad: &Ad| match ad.get_str("Memory").map(|e| e.kind().clone()) {
        Some(classad::ad::ExpressionKind::Literal(Value::Integer(memory))) => memory,
        _ => 0,
    };
    assert!(machines.iter().map(memory).max().unwrap() < 524_288);
    assert_eq!(value("TARGET.OpSysMajorVersion", &jobs[6], &machines[0], Dialect::Condor), "undefined");
}
