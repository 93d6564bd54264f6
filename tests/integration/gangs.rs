//! Naive gangmatching against a model of it: the same gangs, in the same number of tests.

use classad::ad::{Ad, Dialect};
use classad::eval::Context;
use classad::matching::gang::{Algorithm, Gangmatcher};
use classad::protocol::Protocol;
use classad::syntax::{ParseOptions, parse_ad};

struct Machine {
    key: i64,
    system: i64,
    memory: i64,
}

struct Licence {
    from: i64,
    to: i64,
}

struct Job {
    system: i64,
    memory: i64,
}

fn ad(text: &str) -> Ad {
    parse_ad(text.as_bytes(), ParseOptions::default()).expect("it parses")
}

/// Machines first, then licences, as `gangmatch --pool machines --pool licences` has them.
fn offers(machines: &[Machine], licences: &[Licence]) -> Vec<Ad> {
    let machine = |m: &Machine| {
        ad(&format!(
            "[ Type = \"Machine\"; Key = {}; System = {}; Memory = {};
               Ports = {{ [ Label = Job; Constraint = Job.MemoryReqs < Memory ] }} ]",
            m.key, m.system, m.memory
        ))
    };
    let licence = |l: &Licence| {
        ad(&format!(
            "[ Type = \"License\"; App = \"sim\";
               Ports = {{ [ Label = Site; Constraint = Site.HostID >= {} && Site.HostId < {} ] }} ]",
            l.from, l.to
        ))
    };
    machines.iter().map(machine).chain(licences.iter().map(licence)).collect()
}

fn request(job: &Job) -> Ad {
    ad(&format!(
        "[ Ports = {{
             [ Label = Cpu; MemoryReqs = {}; Constraint = Cpu.System == {} ],
             [ Label = License; HostId = Cpu.Key; Constraint = License.App == \"sim\" ]
         }} ]",
        job.memory, job.system
    ))
}

/// The thesis's naive algorithm (§5.3), written for these three kinds of ads alone.
fn model(machines: &[Machine], licences: &[Licence], jobs: &[Job]) -> (Vec<(usize, [usize; 2])>, u64) {
    let total = machines.len() + licences.len();
    let mut used = vec![false; total];
    let (mut gangs, mut tests) = (Vec::new(), 0);
    for (index, job) in jobs.iter().enumerate() {
        'machines: for m in 0..total {
            if used[m] {
                continue;
            }
            tests += 1;
            let Some(machine) = machines.get(m) else { continue };
            if machine.system != job.system || job.memory >= machine.memory {
                continue;
            }
            for l in 0..total {
                if used[l] || l == m {
                    continue;
                }
                tests += 1;
                let Some(licence) = l.checked_sub(machines.len()).map(|l| &licences[l]) else { continue };
                if (licence.from..licence.to).contains(&machine.key) {
                    used[m] = true;
                    used[l] = true;
                    gangs.push((index, [m, l]));
                    break 'machines;
                }
            }
        }
    }
    (gangs, tests)
}

#[test]
fn naive_makes_the_gangs_of_its_model_in_as_many_tests() {
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..60 {
        let (m, l, j) = (random.i64(1..25), random.usize(0..12), random.usize(1..20));
        let machines: Vec<Machine> =
            (0..m).map(|key| Machine { key, system: random.i64(0..3), memory: random.i64(1..100) }).collect();
        let width = random.i64(1..=m);
        let licences: Vec<Licence> = (0..l)
            .map(|_| {
                let from = random.i64(0..m) / width * width;
                Licence { from, to: from + width }
            })
            .collect();
        let jobs: Vec<Job> = (0..j).map(|_| Job { system: random.i64(0..3), memory: random.i64(1..100) }).collect();

        let (expected, tests) = model(&machines, &licences, &jobs);
        let context = Context::new(Dialect::Classad);
        for algorithm in [Algorithm::Naive, Algorithm::Best] {
            let (protocol, context) = (Protocol::new(Dialect::Classad), context.clone());
            let (matcher, _) = Gangmatcher::new(&offers(&machines, &licences), protocol, context);
            let mut matcher = matcher.with_algorithm(algorithm, 0);
            let mut found = Vec::new();
            for (index, job) in jobs.iter().enumerate() {
                if let Some(gang) = matcher.marshal(index, &request(job)).expect("the ports are sound") {
                    let members: Vec<usize> = gang.members().iter().map(|docked| docked.offer).collect();
                    found.push((index, [members[0], members[1]]));
                }
            }
            // Nobody ranks: the first gang is the best.
            assert_eq!(found, expected);
            assert!(matcher.statistics().tests == tests || algorithm == Algorithm::Best);
        }
    }
}

/// An environment in which each step of an argument about scopes can be tried.
fn marshals(request: &str, offers: &[&str]) -> Option<Vec<usize>> {
    let offers: Vec<Ad> = offers.iter().map(|text| ad(text)).collect();
    let context = Context::new(Dialect::Classad);
    let (mut matcher, bad) = Gangmatcher::new(&offers, Protocol::new(Dialect::Classad), context);
    assert!(bad.is_empty());
    let gang = matcher.marshal(0, &ad(request)).expect("the ports are sound")?;
    Some(gang.members().iter().map(|docked| docked.offer).collect())
}

#[test]
fn labels_are_seen_from_their_port_to_the_end_of_the_list() {
    let offers = ["[ X = 1; Constraint = true ]", "[ X = 2; Constraint = true ]"];
    let two = |first: &str, second: &str| {
        format!("[ Ports = {{ [ Label = a; Constraint = {first} ], [ Label = b; Constraint = {second} ] }} ]")
    };
    assert_eq!(marshals(&two("a.X == 1", "b.X == a.X + 1"), &offers), Some(vec![0, 1]));
    assert_eq!(marshals(&two("a.X == 2", "b.X == a.X - 1"), &offers), Some(vec![1, 0]));
    // Earlier ports cannot see later labels.
    assert_eq!(marshals(&two("b.X is undefined", "true"), &offers), Some(vec![0, 1]));
    assert_eq!(marshals(&two("a.X == b.X - 1", "true"), &offers), None);
    // An attribute of the port or of the ad hides the label.
    let hidden = "[ a = [ X = 7 ]; Ports = { [ Label = a; Constraint = a.X == 7 ] } ]";
    assert_eq!(marshals(hidden, &offers), Some(vec![0]));
    // The label of a port is not in scope outside the list.
    let outside = "[ Y = a.X; Ports = { [ Label = a; Constraint = Y is undefined && a.X == 2 ] } ]";
    assert_eq!(marshals(outside, &offers), Some(vec![1]));
}

#[test]
fn labels_are_private() {
    let request = "[ Ports = { [ Label = a; Constraint = a.me is undefined && a.Name == \"x\" ] } ]";
    let offer = "[ Name = \"x\"; Ports = { [ Label = me; Constraint = me.Label is undefined || true ] } ]";
    assert_eq!(marshals(request, &[offer]), Some(vec![0]));
}

#[test]
fn a_label_starts_at_the_docked_port_and_continues_outwards() {
    let request = "[ Ports = { [ Label = a; Constraint = a.X == 1 && a.Y == 2 ] } ]";
    let offer = "[ X = 0; Y = 2; Ports = { [ Label = b; X = 1; Constraint = true ] } ]";
    assert_eq!(marshals(request, &[offer]), Some(vec![0]));
}

#[test]
fn an_ad_is_in_a_gang_at_most_once() {
    let request = "[ Ports = { [ Label = a; Constraint = true ], [ Label = b; Constraint = true ] } ]";
    assert_eq!(marshals(request, &["[ Constraint = true ]"]), None);
    assert_eq!(marshals(request, &["[ Constraint = true ]", "[ Constraint = true ]"]), Some(vec![0, 1]));
}

#[test]
fn a_service_may_be_linked_by_any_of_its_ports() {
    let node = |host: &str, memory: u32| {
        format!("[ Type = \"node\"; Host = \"{host}\"; Memory = {memory}; Constraint = other.Type == \"want_node\" ]")
    };
    let service = "[ Ports = {
        [ Label = one; Type = \"want_node\"; Constraint = one.Type == \"node\" ],
        [ Label = two; Type = \"want_node\"; Constraint = two.Type == \"node\" && two.Host == one.Host ],
        [ Label = client; Type = \"pair\"; Memory = one.Memory + two.Memory; Constraint = client.Needs <= Memory ]
    } ]";
    let client = |needs: u32| {
        format!(
            "[ Ports = {{ [ Label = pair; Needs = {needs}; Constraint = pair.Type == \"pair\" && pair.Memory < 100 ] }} ]"
        )
    };
    let nodes = [node("a", 10), node("b", 20), node("a", 30), node("b", 40), node("b", 90)];
    let mut offers: Vec<&str> = vec![service];
    offers.extend(nodes.iter().map(String::as_str));
    // The sum is known only when both nodes are docked; until then the link is tentative.
    assert_eq!(marshals(&client(30), &offers), Some(vec![0, 1, 3]));
    assert_eq!(marshals(&client(50), &offers), Some(vec![0, 2, 4]));
    assert_eq!(marshals(&client(99), &offers), None);
}

#[test]
fn a_chain_of_services_is_followed_to_its_end() {
    let link = |i: usize| {
        format!(
            "[ Number = {i}; Ports = {{ [ Label = up; Constraint = up.Wants == {i} ],
               [ Label = down; Wants = {}; Constraint = down.Number == {} ] }} ]",
            i + 1,
            i + 1
        )
    };
    let mut offers: Vec<String> = (0..400).rev().map(link).collect();
    offers.push("[ Number = 400; Constraint = other.Wants == 400 ]".to_owned());
    let offers: Vec<&str> = offers.iter().map(String::as_str).collect();
    let gang = marshals("[ Ports = { [ Label = first; Wants = 0; Constraint = first.Number == 0 ] } ]", &offers);
    assert_eq!(gang.map(|members| members.len()), Some(401));
}

#[test]
fn a_failed_root_gives_everything_back() {
    let offers: Vec<Ad> = ["[ X = 1; Constraint = true ]", "[ X = 2; Constraint = true ]"].map(ad).into();
    let (mut matcher, _) = Gangmatcher::new(&offers, Protocol::new(Dialect::Classad), Context::new(Dialect::Classad));
    let greedy = ad(
        "[ Ports = { [ Label = a; Constraint = true ], [ Label = b; Constraint = true ], [ Label = c; Constraint = true ] } ]",
    );
    let modest = ad("[ Ports = { [ Label = a; Constraint = a.X == 1 ], [ Label = b; Constraint = true ] } ]");
    assert_eq!(matcher.marshal(0, &greedy).unwrap(), None);
    assert!(matcher.marshal(1, &modest).unwrap().is_some());
    assert_eq!(matcher.marshal(2, &modest).unwrap(), None);
}

/// A request may test every offer of a large pool once: the budget of a search is for what comes after.
#[test]
fn a_large_pool_does_not_spend_the_budget_of_a_search() {
    let offers: Vec<Ad> = (0..50)
        .map(|number| {
            ad(&format!("[ Name = \"m{number}\"; Constraint = regexp(\"^x{number}$\", strcat(other.Owner, 49)) ]"))
        })
        .collect();
    let context = Context { max_search_tests: 10, ..Context::new(Dialect::Classad) };
    let (mut matcher, _) = Gangmatcher::new(&offers, Protocol::new(Dialect::Classad), context);
    let request = ad("[ Ports = { [ Label = a; Owner = \"x\"; Constraint = a.Name != \"\" ] } ]");
    let gang = matcher.marshal(0, &request).expect("the ports are sound").expect("the last offer docks");
    assert_eq!((gang.ports[0].offer, matcher.statistics().failures), (49, 0));
}
