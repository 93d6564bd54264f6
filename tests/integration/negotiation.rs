//! Negotiation cycles: whatever is switched on, the matches are the same; and what autoclusters promise is true.

use std::ops::ControlFlow;

use classad::ad::{Ad, Dialect};
use classad::eval::Context;
use classad::matching::negotiate::{Grant, NegotiationOutcome, NegotiationSettings, negotiate};
use classad::matching::policy::{Policy, PolicyFault};
use classad::matching::{Accelerations, GreedyMatcher, Pair, PairSide};
use classad::pool::{PolicyExpressions, RequestClusters};
use classad::protocol::Protocol;
use classad::syntax::{ParseOptions, parse_ad};
use fastrand::Rng;

use super::binary::{classad, file, words};
use super::random::{Text, context, print_text, seeds};

const DIALECTS: [Dialect; 2] = [Dialect::Classad, Dialect::Condor];

fn ad(text: &str, dialect: Dialect) -> Ad {
    parse_ad(text.as_bytes(), ParseOptions::new(dialect)).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn pick<'a>(random: &mut Rng, from: &[&'a str]) -> &'a str {
    from[random.usize(0..from.len())]
}

fn request(random: &mut Rng) -> String {
    let constraint = pick(
        random,
        &[
            "other.Cpus >= Cpus",
            "Memory > 1 && other.Cpus >= Cpus",
            "other.Site == Site",
            "other.Likes",
            "true",
            "false",
        ],
    );
    let rank = pick(random, &["", "Rank = other.Cpus;", "Rank = -other.Memory;", "Rank = other.Load;"]);
    let count = pick(random, &["", "", "", "ResourceRequestCount = 3;"]);
    format!(
        "[ Constraint = {constraint}; {rank} {count} Cpus = {}; Owner = \"{}\"; Prio = {}; Site = {}; Args = {} ]",
        random.i32(1..4),
        pick(random, &["alice", "bob", "carol"]),
        pick(random, &["1", "2", "2.5", "undefined", "error"]),
        pick(random, &["1", "Prio", "\"a\""]),
        random.i32(0..3)
    )
}

fn offer(random: &mut Rng) -> String {
    let constraint = pick(
        random,
        &["true", "other.Cpus <= Cpus", "other.Owner == \"alice\"", "Prio isnt 2", "Cpus < 4 || other.Cpus > 1"],
    );
    let rank = pick(random, &["", "Rank = other.Cpus;", "Rank = other.Owner == \"bob\";", "Rank = Prio;"]);
    let user = pick(random, &["", "", "RemoteUser = \"dave\"; CurrentRank = 1;"]);
    format!(
        "[ Constraint = {constraint}; {rank} {user} Cpus = {}; Memory = {}; Site = {}; Split = {}; Likes = {} ]",
        random.i32(1..8),
        random.i32(1..4),
        pick(random, &["1", "2", "other.Args"]),
        random.bool(),
        pick(random, &["true", "other.Args == 1", "undefined"]),
    )
}

fn policy(random: &mut Rng, dialect: Dialect) -> Policy {
    let mut text = String::from("roots: Args < 2\n");
    let mut part = |chance: u8, lines: &[&str]| {
        if random.u8(0..10) < chance {
            text.push_str(pick(random, lines));
        }
    };
    part(6, &["order: Prio\n", "order: [ Owner, -Cpus ]\n"]);
    part(
        6,
        &[
            "docking: -label.Memory\n",
            "docking: [ 'self.Rank ?: 0', 'label.RemoteUser is undefined ? 2 : label.CurrentRank < label.Rank ? 1 : error' ]\n",
            "docking: [ label.Load, label.Cpus ]\n",
            "docking: 'label.Memory > 1 ? label.Memory : self.Owner'\n",
        ],
    );
    part(
        6,
        &[
            "residual: { when: Split, set: { Cpus: Cpus - other.Cpus }, while: Cpus > 0 }\n",
            "residual: { set: { Cpus: Cpus - other.Cpus, Last: other.Owner, Memory: Memory - 1 }, while: Memory > 0 }\n",
        ],
    );
    part(
        6,
        &[
            "share: { by: Owner, priorities: { alice: 1, bob: 3 } }\n",
            "share: { by: 'Args', priorities: { 1: 0.5 } }\n",
        ],
    );
    Policy::parse(text.as_bytes(), dialect).unwrap_or_else(|problems| panic!("{text}: {problems:?}"))
}

fn run(
    policy: &Policy,
    requests: &[Ad],
    offers: &[Ad],
    accelerations: Accelerations,
    dialect: Dialect,
) -> Result<NegotiationOutcome, PolicyFault> {
    let settings = NegotiationSettings::new(policy.clone(), Protocol::new(dialect), context(dialect));
    let settings = NegotiationSettings { accelerations, ..settings };
    negotiate(&settings, requests, offers, &|_| None, &mut |_| ControlFlow::Continue(()))
}

fn pool(random: &mut Rng, dialect: Dialect) -> [Vec<Ad>; 2] {
    let requests = (0..random.usize(0..14)).map(|_| ad(&request(random), dialect)).collect();
    [requests, (0..random.usize(0..8)).map(|_| ad(&offer(random), dialect)).collect()]
}

#[test]
fn whatever_is_switched_on_the_matches_are_the_same() {
    let (mut matched, mut skipped, mut divided, mut refused) = (0, 0, 0, 0);
    for seed in seeds() {
        let dialect = DIALECTS[usize::from(seed % 2 == 0)];
        let mut random = Rng::with_seed(seed);
        let [requests, offers] = pool(&mut random, dialect);
        let policy = policy(&mut random, dialect);
        let plain = run(&policy, &requests, &offers, Accelerations::NONE, dialect);
        for switches in 1..8 {
            let [autoclusters, match_lists, index] = [1, 2, 4].map(|bit| switches & bit != 0);
            let accelerations = Accelerations { autoclusters, match_lists, index };
            let outcome = run(&policy, &requests, &offers, accelerations, dialect);
            match (&plain, &outcome) {
                (Ok(plain), Ok(outcome)) => {
                    assert_eq!(plain.grants, outcome.grants, "seed {seed}, {accelerations:?}");
                    assert_eq!(plain.submitters, outcome.submitters, "seed {seed}, {accelerations:?}");
                    skipped += outcome.statistics.skipped;
                }
                (Err(_), Err(_)) => refused += 1,
                _ => panic!("seed {seed}, {accelerations:?}: {plain:?} {outcome:?}"),
            }
        }
        if let Ok(plain) = plain {
            matched += plain.grants.len();
            divided += plain.grants.iter().filter(|grant| grant.offers[0].part > 1).count();
        }
    }
    assert!(
        matched > 1000 && skipped > 1000 && divided > 100 && refused > 10,
        "{matched} {skipped} {divided} {refused}"
    );
}

/// Candidates that ranks order are ranked in batches. Here lists have several batches, and offers are divided
/// meanwhile.
#[test]
fn long_match_lists_give_the_same_matches() {
    let (mut matched, mut divided) = (0, 0);
    for seed in seeds().take(60) {
        let dialect = DIALECTS[usize::from(seed % 2 == 0)];
        let mut random = Rng::with_seed(seed);
        let kinds: Vec<Ad> = (0..4).map(|_| ad(&request(&mut random), dialect)).collect();
        let requests: Vec<Ad> = (0..120).map(|_| kinds[random.usize(0..kinds.len())].clone()).collect();
        let offers: Vec<Ad> = (0..random.usize(40..240)).map(|_| ad(&offer(&mut random), dialect)).collect();
        let share = pick(&mut random, &["", "share: { by: Owner, priorities: { alice: 1, bob: 3 } }\n"]);
        let residual = pick(
            &mut random,
            &["", "residual: { when: 'Split && Cpus < 5', set: { Cpus: Cpus - other.Cpus }, while: Cpus > 0 }\n"],
        );
        let policy = Policy::parse(format!("roots: Args < 3\n{share}{residual}").as_bytes(), dialect).unwrap();
        let outcome = |accelerations| run(&policy, &requests, &offers, accelerations, dialect).unwrap();
        let plain = outcome(Accelerations::NONE);
        for accelerations in [Accelerations::ALL, Accelerations { match_lists: false, ..Accelerations::ALL }] {
            let found = outcome(accelerations);
            assert_eq!(plain.grants, found.grants, "seed {seed}, {accelerations:?}");
            assert_eq!(plain.submitters, found.submitters, "seed {seed}, {accelerations:?}");
        }
        matched += plain.grants.len();
        divided += plain.grants.iter().filter(|grant| grant.offers[0].part > 1).count();
    }
    assert!(matched > 100 && divided > 10, "{matched} {divided}");
}

#[test]
fn without_a_policy_the_matches_are_those_of_match() {
    for seed in seeds() {
        let dialect = DIALECTS[usize::from(seed % 2 == 0)];
        let mut random = Rng::with_seed(seed);
        let [mut requests, offers] = pool(&mut random, dialect);
        requests.retain(|request| request.get_str("ResourceRequestCount").is_none());
        let mut greedy = GreedyMatcher::new(&offers, Protocol::new(dialect), context(dialect));
        let expected: Vec<(usize, usize)> = requests
            .iter()
            .enumerate()
            .filter_map(|(index, request)| greedy.take_best(index, request).map(|found| (index, found.offer)))
            .collect();
        let outcome = run(&Policy::default(), &requests, &offers, Accelerations::ALL, dialect).unwrap();
        let found: Vec<(usize, usize)> =
            outcome.grants.iter().map(|grant| (grant.request, grant.offers[0].offer)).collect();
        assert_eq!(found, expected, "seed {seed}");
    }
}

/// What offers and requests say of each other, as far as it decides matches.
fn opinion(request: &Ad, offer: &Ad, dialect: Dialect) -> String {
    let pair = Pair::new(request.clone(), offer.clone(), Protocol::new(dialect), context(dialect));
    let side = |side| format!("{:?} {:?}", pair.accepts(side), pair.rank(side));
    format!("{} {}", side(PairSide::Request), side(PairSide::Offer))
}

#[test]
fn no_offer_can_tell_requests_of_a_cluster_apart() {
    let mut alike = 0;
    for seed in seeds().step_by(4) {
        for dialect in DIALECTS {
            let mut text = Text::new(seed);
            // Few attributes, so that requests are alike now and then although they differ.
            let constraint = [text.expression(2), text.expression(1)];
            let mut ads = |count: usize, depth: u32| -> Vec<Ad> {
                let one = |text: &mut Text| {
                    let (of, body) = (text.random.usize(0..2), text.ad(depth, 3));
                    format!("[ Constraint = {}; Rank = a; {}", constraint[of], &body[1..])
                };
                (0..count).map(|_| ad(&one(&mut text), dialect)).collect()
            };
            let (requests, offers) = (ads(8, 1), ads(3, 2));
            let clusters = RequestClusters::new(
                &requests,
                &offers,
                &PolicyExpressions::default(),
                &Protocol::new(dialect),
                &context(dialect),
            );
            assert_eq!(clusters.cluster_of.len(), requests.len());
            for (index, request) in requests.iter().enumerate() {
                let first = &clusters.clusters[clusters.cluster_of[index]].representative;
                if first == request {
                    continue;
                }
                alike += 1;
                for offer in &offers {
                    assert_eq!(
                        opinion(first, offer, dialect),
                        opinion(request, offer, dialect),
                        "seed {seed} in {dialect}: {} and {} for {}",
                        print_text(first),
                        print_text(request),
                        print_text(offer)
                    );
                }
            }
        }
    }
    assert!(alike > 100, "only {alike} requests were like another");
}

/// Distinct ranks decide everything: the order of the offers does not count.
#[test]
fn the_order_of_offers_does_not_count_where_ranks_decide() {
    let mut random = Rng::with_seed(7);
    for _ in 0..200 {
        let mut offers: Vec<Ad> = (1..9)
            .map(|key| ad(&format!("[ Key = {key}; Constraint = other.Least <= Key ]"), Dialect::Classad))
            .collect();
        let requests: Vec<Ad> = (0..10)
            .map(|_| {
                let least = random.i32(1..9);
                ad(&format!("[ Least = {least}; Constraint = true; Rank = -other.Key ]"), Dialect::Classad)
            })
            .collect();
        let keys = |offers: &[Ad]| -> Vec<(usize, Ad)> {
            let outcome = run(&Policy::default(), &requests, offers, Accelerations::ALL, Dialect::Classad)
                .expect("it has no policy");
            outcome.grants.iter().map(|grant: &Grant| (grant.request, offers[grant.offers[0].offer].clone())).collect()
        };
        let before = keys(&offers);
        random.shuffle(&mut offers);
        assert_eq!(before, keys(&offers));
    }
}

/// The label is bound innermost, and what is bound is the candidate.
#[test]
fn no_attribute_hides_the_label() {
    for dialect in DIALECTS {
        let requests = [ad("[ Label = 1; Constraint = true; Mine = label; Rank = Label ]", dialect)];
        let offers = [
            ad("[ Constraint = true; Size = 1; Label = 9 ]", dialect),
            ad("[ Constraint = true; Size = 2; Label = 9 ]", dialect),
        ];
        let context = Context::new(dialect);
        for (docking, expected) in [
            ("label.Size", Some(1)),
            ("-label.Size", Some(0)),
            ("self.Mine", Some(0)),
            ("Rank - label.Size", Some(0)),
            ("other.Size", Some(1)),
            ("Size", Some(1)),
            ("label.Nothing", None),
            ("label", None),
        ] {
            let policy = Policy::parse(format!("docking: '{docking}'").as_bytes(), dialect).unwrap();
            let settings = NegotiationSettings::new(policy, Protocol::new(dialect), context.clone());
            let outcome =
                negotiate(&settings, &requests, &offers, &|_| None, &mut |_| ControlFlow::Continue(())).unwrap();
            assert_eq!(outcome.grants.first().map(|grant| grant.offers[0].offer), expected, "{docking} in {dialect}");
        }
    }
}

const JOBS: &str = "tests/cases/negotiate/jobs.ad";
const MACHINES: &str = "tests/cases/negotiate/machines.ad";

/// A slice is rounded down, as the help says: of 5 offers, ann with 1 against bob with 1/10 gets 4.54.
#[test]
fn a_slice_is_rounded_down() {
    let request = |owner: &str| format!("[ Owner = \"{owner}\"; Requirements = true ]\n");
    let requests = file("slices.ads", request("bob").repeat(6) + &request("ann"));
    let offers = file("slice-offers.ads", "[ Requirements = true ]\n".repeat(5));
    let policy = file("slices.yaml", "share: { by: Owner, priorities: { ann: 10, bob: 1 } }\n");
    let (_, out, errors) = classad(&["negotiate", &requests, "--pool", &offers, "--policy", &policy, "--transcript"]);
    assert!(out.contains("bob: priority 1, up to 4 offers for 6 requests\n"), "{out}{errors}");
    assert!(out.contains("ann: priority 10, up to 1 offer for 1 request\n"), "{out}{errors}");
    let (_, help, _) = classad(&["help", "policy"]);
    let help = words(&help);
    assert!(help.contains("rounded down") && !help.contains("rounded up"), "{help}");
}

#[test]
fn usage_is_accounted_from_cycle_to_cycle() {
    let usage = file("usage.yaml", "");
    std::fs::remove_file(&usage).expect("it is there");
    let cycle = |now: &str| {
        let (status, out, errors) =
            classad(&["negotiate", JOBS, "--pool", MACHINES, "--usage", &usage, "--now", now, "--transcript"]);
        assert_eq!(status, Some(0), "{errors}");
        (out, std::fs::read_to_string(&usage).expect("it was written"))
    };
    // Both are new: equal shares, by name.
    let (out, accounts) = cycle("1000000");
    assert!(out.contains("alice: priority 500, up to 3 offers for 5 requests\n"), "{out}");
    assert!(out.contains("bob: priority 500, up to 3 offers for 3 requests\n"), "{out}");
    assert_eq!(
        accounts,
        "half-life: 86400\nat: 1000000\nsubmitters:\n  \
         alice: { priority: 0.5, factor: 1000, resources: 3, usage: 0 }\n  \
         bob: { priority: 0.5, factor: 1000, resources: 3, usage: 0 }\n"
    );
    // Had alice used 6 and bob none for one half-life: (0.5 + 6) / 2 = 3.25 and 0.5; 6 offers in parts of 1 to 6.5.
    std::fs::write(
        &usage,
        accounts.replacen("resources: 3", "resources: 6", 1).replace("resources: 3", "resources: 0"),
    )
    .expect("it can be written");
    let (out, accounts) = cycle("1086400");
    assert!(out.contains("bob: priority 500, up to 5 offers for 3 requests\n"), "{out}");
    assert!(out.contains("alice: priority 3250, up to 1 offer for 5 requests\n"), "{out}");
    assert!(accounts.contains("alice: { priority: 3.25, factor: 1000, resources: 3, usage: 518400 }"), "{accounts}");
    assert!(accounts.contains("bob: { priority: 0.5, factor: 1000, resources: 3, usage: 0 }"), "{accounts}");
}

/// The rows by submitter add up to the matches, and to the usage that is recorded.
#[test]
fn submitters_are_summed_up() {
    let of_pool =
        ["negotiate", "samples/pool/jobs.long", "--pool", "samples/pool/machines.long", "--policy", "htcondor"];
    let usage = file("by-submitter.yaml", "");
    let (_, matches, _) = classad(&[&of_pool[..], &["-o", "tsv", "--no-header"]].concat());
    let options = ["--by-submitter", "--usage", &usage, "-o", "json"];
    let (status, rows, told) = classad(&[&of_pool[..], &options].concat());
    assert_eq!(status, Some(0), "{told}");
    let rows: serde_json::Value = serde_json::from_str(&rows).expect("it is JSON");
    let rows = rows.as_array().expect("it is a list");
    let sum = |column: &str| rows.iter().map(|row| row[column].as_u64().expect("it is a number")).sum::<u64>();
    assert_eq!([sum("requests"), sum("matches"), sum("offers")], [8, 6, 6]);
    assert_eq!(matches.lines().count(), 6);
    let accounts = std::fs::read_to_string(&usage).expect("it was written");
    for row in rows {
        let (name, used) = (row["submitter"].as_str().expect("it is a name"), &row["used_weight"]);
        let used = used.as_f64().expect("it is a number");
        let is_charged = accounts.contains(&format!("{name}: {{ priority: 0.5, factor: 1000, resources: {used},"));
        assert!(is_charged || used == 0.0, "{name} {used}: {accounts}");
    }
    let (status, _, told) = classad(&[&of_pool[..4], &["--by-submitter"]].concat());
    assert!(status == Some(2) && told.contains("--by-submitter needs shares"), "{told}");
}

/// HTCondor charges slots by their weight, those that are in use, too.
#[test]
fn a_weighted_policy_charges_weight() {
    let slots = "Name = \"slot1@a\"\nMyType = \"Machine\"\nMachine = \"a\"\nSlotType = \"Partitionable\"\nPartitionableSlot = true\n\
        State = \"Unclaimed\"\nActivity = \"Idle\"\nCpus = 16\nTotalSlotCpus = 16\nMemory = 64000\nDisk = 90000000\nSlotWeight = Cpus\n\
        Requirements = true\nStart = true\n\n\
        Name = \"slot1_1@b\"\nMyType = \"Machine\"\nMachine = \"b\"\nState = \"Claimed\"\nActivity = \"Busy\"\nCpus = 5\nMemory = 1000\n\
        Disk = 1000\nSlotWeight = Cpus\nRemoteUser = \"carol@example.org\"\nRequirements = false\nStart = false\n\n";
    let job = |number: usize, cpus: usize| {
        format!(
            "MyType = \"Job\"\nClusterId = {number}\nProcId = 0\nJobStatus = 1\nUser = \"alice@example.org\"\nOwner = \"alice\"\n\
             RequestCpus = {cpus}\nRequestMemory = 1000\nRequestDisk = 1000\nRequirements = TARGET.Cpus >= RequestCpus\n\n"
        )
    };
    let (slots, jobs) = (file("weight.slots", slots), file("weight.jobs", job(1, 3) + &job(2, 4)));
    let usage = file("weight.yaml", "");
    let (status, _, told) =
        classad(&["negotiate", &jobs, "--pool", &slots, "--policy", "htcondor", "--usage", &usage, "--now", "1000000"]);
    assert_eq!(status, Some(0), "{told}");
    let accounts = std::fs::read_to_string(&usage).expect("it was written");
    assert!(accounts.contains("alice@example.org: { priority: 0.5, factor: 1000, resources: 16,"), "{accounts}");
    assert!(accounts.contains("carol@example.org: { priority: 0.5, factor: 1000, resources: 5,"), "{accounts}");
}

/// HTCondor's accountant knows submitters by accounting group and user.
#[test]
fn accounts_come_from_condor_userprio() {
    let (jobs, slots) = ("samples/pool/jobs.long", "samples/pool/machines.long");
    // The newest ad is of 1761955140, half a half-life after these accounts.
    let userprio = "IsAccountingGroup1 = true\nLastUpdate = 1761911940\nName1 = \"group_physics\"\n\
        Name2 = \"group_physics.alice@example.org\"\nName3 = \"group_chemistry.bob@example.org\"\nNumSubmittors = 3\n\
        Priority1 = 9000.0\nPriority2 = 80000.0\nPriority3 = 5.0\nPriorityFactor2 = 10000.0\nPriorityFactor3 = 10.0\n\
        WeightedAccumulatedUsage2 = 100.0\nWeightedResourcesUsed2 = 2.0\n";
    let userprio = file("userprio.long", userprio);
    let usage = file("imported.yaml", "");
    std::fs::remove_file(&usage).expect("it is there");
    let arguments = ["negotiate", jobs, "--pool", slots, "--userprio", &userprio, "--usage", &usage, "--transcript"];
    let (status, out, errors) = classad(&arguments);
    assert_eq!(status, Some(0), "{errors}");
    // Alice: 8 times the square root of 1/2, and 2 for the rest, with the factor 10000.
    assert!(out.contains("group_physics.alice@example.org: priority 62426.4"), "{out}");
    assert!(out.contains("group_chemistry.bob@example.org: priority 5, up to"), "{out}");
    assert!(out.contains("group_vision.carol@example.org: priority 500, up to"), "{out}");
    let accounts = std::fs::read_to_string(&usage).expect("it was written");
    assert!(accounts.contains("at: 1761955140\n") && accounts.contains("usage: 86500 }"), "{accounts}");
    let (status, _, errors) = classad(&arguments);
    assert_eq!(status, Some(2));
    assert!(errors.contains("exists already"), "{errors}");
    let (status, _, errors) = classad(&["negotiate", jobs, "--pool", slots, "--userprio", jobs]);
    assert_eq!(status, Some(2));
    assert!(errors.contains("names no submitter: write `Name1 ="), "{errors}");
    // Without -long it prints a table. That is one error, not one for each line.
    let table =
        "Last Priority Update: 11/22 23:37\nGroup  Effective\n  User Name  Priority\nalice@pool.example  504.38\n";
    let table = file("userprio-table.txt", table);
    let (status, _, errors) = classad(&["negotiate", jobs, "--pool", slots, "--userprio", &table]);
    assert_eq!((status, errors.lines().count()), (Some(2), 1), "{errors}");
}

#[test]
fn a_usage_file_with_a_mistake_is_left_alone() {
    let text = "half-life: -1\nsubmitters: { alice: { prioriti: 1 } }\n";
    let usage = file("bad-usage.yaml", text);
    let (status, out, errors) = classad(&["negotiate", JOBS, "--pool", MACHINES, "--usage", &usage]);
    assert_eq!((status, out.as_str()), (Some(2), ""), "{errors}");
    assert!(errors.contains("usage.yaml:1:12") && errors.contains("did you mean `priority`?"), "{errors}");
    assert_eq!(std::fs::read_to_string(&usage).expect("it is there"), text);
}

/// The first four columns are those of `match`, whatever is switched off.
#[test]
fn the_rows_are_those_of_match() {
    for [requests, offers] in [[JOBS, MACHINES], ["samples/pool/jobs.long", "samples/pool/machines.long"]] {
        let (_, expected, _) = classad(&["match", requests, "--pool", offers]);
        for switch in [&[][..], &["--no-autocluster"], &["--no-matchlist", "--no-index"]] {
            let (status, out, errors) = classad(&[&["negotiate", requests, "--pool", offers], switch].concat());
            assert_eq!(status, Some(0), "{errors}");
            let rows = out.lines().map(|line| line.rsplit_once('\t').map_or("", |(rows, _)| rows).to_owned() + "\n");
            assert_eq!(rows.collect::<String>(), expected, "{switch:?}");
        }
    }
}

#[test]
fn what_a_cycle_costs() {
    let (status, out, errors) = classad(&["negotiate", JOBS, "--pool", MACHINES, "--compare", "-o", "tsv"]);
    assert_eq!(status, Some(0), "{errors}");
    let rows: Vec<Vec<&str>> = out.lines().map(|line| line.split('\t').collect()).collect();
    let column = |name: &str| {
        let position = rows[0].iter().position(|header| *header == name).expect("it is there");
        rows[1..].iter().map(|row| row[position]).collect::<Vec<_>>()
    };
    assert_eq!(column("configuration"), ["baseline", "autoclusters", "match lists", "resource requests", "index"]);
    // All offers are gone before a4 and a5 are considered.
    assert_eq!(column("matched"), ["6"; 5]);
    let tests: Vec<u64> = column("tests").iter().map(|count| count.parse().expect("it is a count")).collect();
    assert_eq!(tests[..4], [36, 36, 18, 18]);
    for (measure, count) in [("requests", "8"), ("offers", "6"), ("submitters", "2"), ("autoclusters", "4")] {
        assert_eq!(column(measure), [count; 5], "{measure}");
    }
    for measure in ["seconds", "clustering_seconds", "reading_seconds"] {
        assert!(column(measure).iter().all(|text| text.parse::<f64>().is_ok()), "{measure}: {out}");
    }
}

#[test]
fn standard_input_is_read_once() {
    for arguments in [["autocluster", "--pool", "-"], ["negotiate", "--pool", "-"]] {
        let (status, _, errors) = classad(&arguments);
        assert_eq!(status, Some(2));
        assert!(errors.contains("only once"), "{errors}");
    }
}

/// 1998, section 3.2: a rank that is not a number counts as 0. In the papers' dialect that holds for strings and times only
/// among numbers (thesis 3.2.3).
#[test]
fn ranks_that_count_as_0_are_told() {
    let requests = file(
        "text-ranks.ads",
        "[ Name = \"j\"; Requirements = true; Rank = other.Mixed ]\n[ Name = \"k\"; Requirements = true; Rank = 0 ]\n\
         [ Name = \"u\"; Requirements = true; Rank = other.Nothing ]\n[ Name = \"e\"; Requirements = true; Rank = 1 / 0 ]\n",
    );
    let offer = |name: &str, mixed: &str| {
        format!("[ Name = \"{name}\"; Requirements = true; Rank = other.Name; Idle = 1; Mixed = {mixed} ]\n")
    };
    let offers = offer("a", "\"x\"") + &offer("b", "2") + &offer("c", "-1") + &offer("d", "{ 1 }");
    let offers = file("idle-offers.ads", offers);
    for command in ["match", "negotiate"] {
        let (status, out, errors) = classad(&[command, &requests, "--pool", &offers]);
        let told: Vec<&str> = errors.lines().filter(|line| line.starts_with("warning")).collect();
        let expected = [
            "warning: the rank of e is an error and counts as 0",
            "warning: the rank of j is a string and counts as 0",
        ];
        assert_eq!(told, expected, "{command}: {errors}");
        assert_eq!((status, out.lines().nth(1).map(|line| &line[..3])), (Some(0), Some("j\tb")), "{out}");
        // A docking vector decides without ranks.
        let (_, _, errors) = classad(&[command, &requests, "--pool", &offers, "--dock", "label.Idle"]);
        assert!(!errors.contains("counts as 0"), "{command}: {errors}");
        // In HTCondor's dialect no string is a rank.
        let (_, _, errors) = classad(&[command, &requests, "--pool", &offers, "--dialect", "condor"]);
        assert!(errors.contains("the rank of b and of 3 other offers is a string and counts as 0"), "{errors}");
    }
}

/// Thesis 3.2.3: rank expressions may have values of any type that is comparable in the language.
#[test]
fn ranks_of_strings_and_times_order() {
    let offer = |name: &str, idle: &str, since: &str| {
        format!(
            "[ Name = \"{name}\"; Requirements = true; Idle = relTime(\"{idle}\"); Since = absTime(\"{since}T00:00:00Z\") ]\n"
        )
    };
    let offers = file(
        "typed-offers.ads",
        offer("a long name 1", "00:10:00", "2026-02-01")
            + &offer("a long name 3", "00:05:00", "2026-01-01")
            + &offer("A long name 2", "1:00:00", "2026-03-01"),
    );
    let choosing = file(
        "typed-choosing.ads",
        ["X", "z", "Y"].map(|name| format!("[ Name = \"{name}\"; Requirements = true ]\n")).concat(),
    );
    let chosen = file("typed-chosen.ads", "[ Name = \"o\"; Requirements = true; Rank = other.Name ]\n");
    for (rank, best) in [
        ("other.Name", "a long name 3"),
        ("other.Idle", "A long name 2"),
        ("other.Since", "A long name 2"),
        ("other.Since - absTime(\"2026-01-01T00:00:00Z\")", "A long name 2"),
        ("other.Name == \"a long name 1\" ? undefined : strcat(\"x\", other.Name)", "a long name 3"),
        ("-other.Idle", "a long name 3"),
    ] {
        let requests = file("typed-requests.ads", format!("[ Name = \"r\"; Requirements = true; Rank = {rank} ]\n"));
        for command in [
            &["match"][..],
            &["match", "--best", "1"],
            &["match", "--strategy", "stable"],
            &["match", "--no-index"],
            &["negotiate"],
            &["negotiate", "--no-index", "--no-autocluster", "--no-matchlist"],
        ] {
            let (_, out, errors) = classad(&[command, &[&requests, "--pool", &offers, "-o", "csv"]].concat());
            assert!(
                out.lines().nth(1).is_some_and(|line| line.starts_with(&format!("r,{best},"))),
                "{rank} {command:?}: {out}{errors}"
            );
            assert!(!errors.contains("counts as 0"), "{errors}");
        }
        let ports = rank.replace("other", "m");
        let gang = file(
            "typed-gang.ads",
            format!("[ Name = \"r\"; Ports = {{ [ Label = m; Constraint = true; Rank = {ports} ] }} ]\n"),
        );
        for command in [&["gangmatch"][..], &["negotiate"]] {
            let (_, out, errors) = classad(&[command, &[&gang, "--pool", &offers]].concat());
            assert!(out.contains(best) && !errors.contains("counts as 0"), "{rank} {command:?}: {out}{errors}");
        }
    }
    // The offer chooses among requests where both sides count.
    let (_, out, errors) = classad(&["match", &choosing, "--pool", &chosen, "--strategy", "stable", "-o", "csv"]);
    assert!(out.contains("z,o,"), "{out}{errors}");
}
