//! Policies on the command line: whatever is read of the ads, remembered or shared, the matches are the same.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fastrand::Rng;

use super::binary::{classad, file};

/// An ad of the long form; a value that is empty stands for an attribute that is missing.
fn ad(attributes: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (name, value) in attributes.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = writeln!(text, "{name} = {value}");
    }
    text + "\n"
}

fn pick<'a>(random: &mut Rng, from: &[&'a str]) -> &'a str {
    from[random.usize(0..from.len())]
}

fn request(random: &mut Rng, number: usize) -> String {
    let constraints = [
        "TARGET.Cpus >= Cpus",
        "Memory > 1 && TARGET.Cpus >= Cpus",
        "TARGET.Site == Site",
        "TARGET.Likes",
        "true",
        "Far",
        "",
    ];
    ad(&[
        ("Name", &format!("\"j{number}\"")),
        ("Requirements", pick(random, &constraints)),
        ("Rank", pick(random, &["", "TARGET.Cpus", "-TARGET.Memory", "other.Load"])),
        ("ResourceRequestCount", pick(random, &["", "", "", "", "2", "1 + 2"])),
        (pick(random, &["Cpus", "CPUS"]), pick(random, &["1", "2", "3", "Args + 1"])),
        ("Owner", pick(random, &["\"alice\"", "\"bob\"", "\"carol\"", ""])),
        ("Prio", pick(random, &["1", "2", "2.5", "undefined", "Site", ""])),
        ("Site", pick(random, &["1", "2", "Prio", "\"a\"", ""])),
        ("Args", pick(random, &["0", "1", "2"])),
        ("Far", pick(random, &["", "TARGET.Near is Args", "Deep.Inner > 1"])),
        ("Deep", pick(random, &["", "[ Inner = Args + 1 ]"])),
        ("Filler", pick(random, &["1", "2", "3"])),
    ])
}

fn offer(random: &mut Rng, number: usize) -> String {
    let constraints =
        ["true", "TARGET.Cpus <= Cpus", "TARGET.Owner == \"alice\"", "Prio isnt 2", "Cpus < 4 || START", ""];
    ad(&[
        ("Name", &format!("\"m{number}\"")),
        ("Requirements", pick(random, &constraints)),
        ("START", pick(random, &["", "TARGET.Args < 2", "Memory > 1"])),
        ("Rank", pick(random, &["", "TARGET.Cpus", "TARGET.Owner == \"bob\"", "Prio"])),
        ("RemoteUser", pick(random, &["", "", "\"dave\""])),
        ("CurrentRank", pick(random, &["", "1"])),
        ("Cpus", pick(random, &["1", "2", "4", "8", "Memory * 2"])),
        ("Memory", pick(random, &["1", "2", "3"])),
        ("Site", pick(random, &["1", "2", "TARGET.Args", ""])),
        ("Split", pick(random, &["true", "false", "START", ""])),
        ("Likes", pick(random, &["true", "TARGET.Args == 1", "undefined"])),
        ("Near", pick(random, &["1", "TARGET.Site", ""])),
        ("Other", &format!("{}", random.u8(0..3))),
    ])
}

fn ads(random: &mut Rng, most: usize, one: fn(&mut Rng, usize) -> String) -> String {
    (0..random.usize(1..most)).map(|number| one(random, number)).collect()
}

/// A policy; with what is read of anything, now and then.
fn policy(random: &mut Rng) -> String {
    let mut text = String::from("roots: Args < 2\n");
    let parts: [&[&str]; 4] = [
        &["order: Prio\n", "order: [ Owner, -Cpus ]\n", "order: Filler\n"],
        &[
            "docking: -label.Memory\n",
            "docking: [ 'self.Rank ?: 0', 'label.RemoteUser is undefined ? 2 : label.CurrentRank < label.Rank ? 1 : error' ]\n",
            "docking: [ label.Other, label.Cpus ]\n",
            "docking: 'Deep.Inner + label.Memory'\n",
            "docking: 'label.Memory > 1 ? label.Memory : self.Owner'\n",
            "docking: size(label) - label.Other\n",
            "docking: 'eval(\"label.Other\")'\n",
        ],
        &[
            "residual: { when: Split, set: { Cpus: Cpus - other.Cpus }, while: Cpus > 0 }\n",
            "residual: { set: { Cpus: Cpus - other.Cpus, Last: other.Owner, Memory: Memory - 1 }, while: Memory > 0 }\n",
        ],
        &["share: { by: Owner, priorities: { alice: 1, bob: 3 } }\n", "share: { by: 'Filler' }\n"],
    ];
    for lines in parts {
        if random.u8(0..10) < 6 {
            text.push_str(pick(random, lines));
        }
    }
    text
}

/// Files of requests, offers and a policy.
fn pool(random: &mut Rng, name: &str) -> [String; 3] {
    [
        file(&format!("{name}-requests.long"), ads(random, 14, request)),
        file(&format!("{name}-offers.long"), ads(random, 8, offer)),
        file(&format!("{name}-policy.yaml"), policy(random)),
    ]
}

#[test]
fn what_is_read_is_enough() {
    let (mut rows, mut refused) = (0, 0);
    for seed in 0..16 {
        let mut random = Rng::with_seed(seed);
        let [requests, offers, policy] = pool(&mut random, "enough");
        let ids = ["Name", "strcat(Name, Filler ?: 0)", "ifThenElse(size(MY) > 9, Name, \"small\")"];
        let runs: [&[&str]; 9] = [
            &["negotiate", "--policy", &policy],
            &["negotiate", "--policy", &policy, "--transcript", "--no-autocluster"],
            &["negotiate", "--policy", &policy, "--notify", "-"],
            &["negotiate", "--roots", "Args > 0", "--id", pick(&mut random, &ids)],
            &["match", "--policy", &policy],
            &["match", "--policy", &policy, "--all", "--id", pick(&mut random, &ids)],
            &["autocluster", "--policy", &policy],
            &["autocluster", "--policy", &policy, "--significant"],
            &["autocluster", "--requests", "--order", "Prio"],
        ];
        let dialect = pick(&mut random, &["condor", "classad"]);
        for run in runs {
            let common = [run, &[&requests, "--pool", &offers, "--dialect", dialect, "--now", "1000"]].concat();
            let some = classad(&common);
            let all = classad(&[&common[..], &["--strict-input"]].concat());
            assert_eq!(some, all, "seed {seed}: {run:?}");
            rows += some.1.lines().count();
            refused += usize::from(some.0 == Some(2));
        }
    }
    assert!(rows > 800 && refused > 2 && refused < 80, "{rows} {refused}");
}

/// The rows of matches, without what only `negotiate` tells.
fn pairs(out: &str) -> Vec<String> {
    let columns = |line: &str| line.split('\t').take(4).collect::<Vec<_>>().join("\t");
    out.lines().map(columns).collect()
}

#[test]
fn match_follows_a_policy_as_a_cycle_does() {
    let (mut matched, mut parts) = (0, 0);
    for seed in 100..130 {
        let mut random = Rng::with_seed(seed);
        let [requests, offers, policy] = pool(&mut random, "follows");
        let shared = std::fs::read_to_string(&policy).expect("it is there");
        let unshared: Vec<&str> = shared.lines().filter(|line| !line.starts_with("share")).collect();
        let unshared = file("follows-unshared.yaml", &(unshared.join("\n") + "\n"));
        let run = |command: &str, policy: &str, more: &[&str]| {
            let common = [command, &requests, "--pool", &offers, "--policy", policy, "--now", "1000"];
            classad(&[&common[..], more].concat())
        };
        let (status, expected, _) = run("negotiate", &unshared, &[]);
        let whatever: [&[&str]; 5] =
            [&[], &["--no-autocluster"], &["--no-matchlist"], &["--no-index"], &["--no-index", "--no-autocluster"]];
        for switches in whatever {
            let (also, out, errors) = run("match", &policy, switches);
            assert_eq!((also, pairs(&out)), (status, pairs(&expected)), "seed {seed} {switches:?}");
            assert_eq!(errors.contains("the `share` of the policy is ignored"), shared.contains("share"), "{errors}");
        }
        matched += pairs(&expected).len();
        parts += expected.matches('#').count();
    }
    assert!(matched > 50 && parts > 15, "{matched} {parts}");
}

#[test]
fn nothing_that_is_switched_off_changes_a_match() {
    for seed in 200..204 {
        let mut random = Rng::with_seed(seed);
        let [requests, offers, _] = pool(&mut random, "switched");
        let strategy = ["--strategy", pick(&mut random, &["greedy", "stable", "max"])];
        let ways: [&[&str]; 6] = [
            &[],
            &["--all"],
            &["--best", "2"],
            &["--no-consume"],
            &strategy,
            &["--best", "1", "--dock", "-label.Memory", "--order", "Owner"],
        ];
        let counted = std::fs::read_to_string(&requests).expect("it is there");
        let single: Vec<&str> = counted.lines().filter(|line| !line.starts_with("ResourceRequestCount")).collect();
        let single = file("switched-single.long", single.join("\n"));
        for requests in [&requests, &single] {
            for way in ways {
                let common = [&["match", requests, "--pool", &offers][..], way].concat();
                let (status, expected, _) = classad(&common);
                for switches in [&["--no-autocluster"][..], &["--no-matchlist"], &["--no-index"], &["--strict-input"]] {
                    let (also, out, errors) = classad(&[&common[..], switches].concat());
                    assert_eq!((also, &out), (status, &expected), "seed {seed} {way:?} {switches:?}: {errors}");
                }
            }
        }
    }
}

/// Requests that are written alike are considered together in any form.
#[test]
fn requests_of_any_form_share_what_is_found() {
    let mut shared = 0;
    for seed in 300..320 {
        let mut random = Rng::with_seed(seed);
        let shapes: Vec<String> = (0..4).map(|_| request(&mut random, 0)).collect();
        let one = |number: usize| shapes[number % 4].replacen("j0", &format!("j{number}"), 1);
        let requests: String = (0..random.usize(4..20)).map(one).collect();
        let requests: Vec<&str> = requests.lines().filter(|line| !line.starts_with("ResourceRequest")).collect();
        let [requests, offers] =
            [file("forms-requests.long", requests.join("\n")), file("forms-offers.long", ads(&mut random, 12, offer))];
        let json = |path: &str, name: &str| {
            let (_, text, errors) = classad(&["convert", path, "--to", "json"]);
            assert_eq!(errors, "");
            file(name, &text)
        };
        let [requests_json, offers_json] = [json(&requests, "forms-r.json"), json(&offers, "forms-o.json")];
        let (status, expected, _) = classad(&["match", &requests, "--pool", &offers]);
        let (also, out, errors) = classad(&["match", &requests_json, "--pool", &offers_json, "--stats"]);
        assert_eq!((also, out), (status, expected), "seed {seed}");
        let counters: serde_json::Value = serde_json::from_str(&errors).expect("counters are JSON");
        let count = |name: &str| counters[name].as_u64().expect("it is counted");
        assert!(count("autoclusters") <= count("roots") && count("probes") <= count("autoclusters"), "{errors}");
        shared += count("roots") - count("autoclusters");
        let alone = ["match", &requests_json, "--pool", &offers_json, "--stats", "--no-autocluster"];
        let (_, _, errors) = classad(&alone);
        let counters: serde_json::Value = serde_json::from_str(&errors).expect("counters are JSON");
        assert_eq!((&counters["autoclusters"], &counters["probes"]), (&0.into(), &counters["roots"]));
    }
    assert!(shared > 50, "{shared}");
}

/// Offers by request, from rows.
fn by_request(out: &str) -> BTreeMap<String, String> {
    let pair = |line: &str| line.split_once('\t').map(|(request, rest)| (request.to_owned(), rest.to_owned()));
    out.lines().skip(1).filter_map(pair).collect()
}

/// Where no two ranks are equal, the order in which requests come decides nothing.
#[test]
fn the_order_of_requests_does_not_count_where_ranks_decide() {
    let mut random = Rng::with_seed(17);
    let ways: [&[&str]; 3] =
        [&["--strategy", "stable"], &["--order", "Key"], &["--order", "-Key", "--dock", "-label.Key"]];
    let mut differ = 0;
    for _ in 0..20 {
        let mut keys: Vec<u32> = (1..=9).collect();
        random.shuffle(&mut keys);
        let mut requests: Vec<String> = keys
            .iter()
            .map(|key| {
                let (name, least) = (format!("\"j{key}\""), format!("other.Key >= {}", random.u32(1..6)));
                let rank = pick(&mut random, &["other.Key", "-other.Key"]);
                ad(&[("Name", &name), ("Key", &key.to_string()), ("Requirements", &least), ("Rank", rank)])
            })
            .collect();
        let offers: String = (1..=7)
            .map(|key| {
                let rank = pick(&mut random, &["other.Key", "-other.Key"]);
                let name = format!("\"m{key}\"");
                ad(&[("Name", &name), ("Key", &key.to_string()), ("Requirements", "true"), ("Rank", rank)])
            })
            .collect();
        let offers = file("permuted-offers.long", &offers);
        let run = |requests: &[String], way: &[&str]| {
            let requests = file("permuted-requests.long", requests.concat());
            let (status, out, errors) = classad(&[&["match", &requests, "--pool", &offers], way].concat());
            assert_eq!(status, Some(0), "{errors}");
            by_request(&out)
        };
        let before: Vec<_> = ways.iter().map(|way| run(&requests, way)).collect();
        let plain = run(&requests, &[]);
        random.shuffle(&mut requests);
        let after: Vec<_> = ways.iter().map(|way| run(&requests, way)).collect();
        assert_eq!(before, after);
        differ += usize::from(plain != run(&requests, &[]));
    }
    // It does where requests are served as they come.
    assert!(differ > 5, "{differ}");
}

const JOBS: &str = "Name = \"a\"\nRequirements = true\nType = \"Job\"\nPrio = 1\n\n\
    Name = \"b\"\nRequirements = true\nType = \"Job\"\nPrio = 2\nResourceRequestCount = 2\n\n\
    Name = \"c\"\nRequirements = true\nType = \"Test\"\n";
const MACHINES: &str = "Name = \"m1\"\nRequirements = true\nSize = 1\nCpus = 2\nUpdateSequenceNumber = 4\n\n\
    Name = \"m2\"\nRequirements = true\nSize = 2\nCpus = 1\nRemoteUser = \"dave\"\n\n\
    Name = \"m3\"\nRequirements = true\nSize = 3\nType = \"Job\"\n\n\
    Name = \"m4\"\nRequirements = true\n";

#[test]
fn match_under_rules() {
    let [jobs, machines] = [file("rules-jobs.long", JOBS), file("rules-machines.long", MACHINES)];
    let rules = ["--roots", "Type == \"Job\"", "--order", "Prio", "--dock", "label.Size"];
    let ways: [(&[&str], &[&str]); 6] = [
        (&[], &["b#1 m2", "b#2 m1"]),
        (&["--all"], &["b m1", "b m2", "a m1", "a m2"]),
        (&["--best", "1"], &["b m2", "a m2"]),
        (&["--no-consume"], &["b#1 m2", "b#2 m2", "a m2"]),
        (&["--strategy", "max"], &["b#1 m2", "b#2 m1"]),
        (&["--strategy", "stable"], &["b#1 m2", "b#2 m1"]),
    ];
    for (way, expected) in ways {
        let common = [&["match", &jobs, "--pool", &machines, "--no-header"], &rules[..], way].concat();
        let (_, out, errors) = classad(&common);
        let found: Vec<String> =
            pairs(&out).iter().map(|row| row.split('\t').take(2).collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(found, expected, "{way:?} {errors}");
        let (_, count, _) = classad(&[&common[..], &["--count"]].concat());
        assert_eq!(count.trim(), expected.len().to_string(), "{way:?}");
    }
    let residual = file("rules-residual.yaml", "residual: { set: { Cpus: Cpus - 1 }, while: Cpus > 0 }\n");
    let (status, _, errors) =
        classad(&["match", &jobs, "--pool", &machines, "--policy", &residual, "--strategy", "max"]);
    assert!(status == Some(2) && errors.contains("--strategy greedy"), "{errors}");
    let naive = ["gangmatch", &jobs, "--pool", &machines, "--dock", "1", "--algorithm", "naive"];
    let (status, _, errors) = classad(&naive);
    assert!(status == Some(2) && errors.contains("needs --algorithm best"), "{errors}");
}

#[test]
fn notices_of_a_cycle_use_its_ads_up() {
    let [jobs, machines] = [file("told-jobs.long", JOBS), file("told-machines.long", MACHINES)];
    let residual = file("told.yaml", "residual: { when: Cpus > 1, set: { Cpus: Cpus - 1 } }\n");
    let notices = file("told.jsonl", "");
    let common = ["negotiate", &jobs, "--pool", &machines, "--policy", &residual, "--now", "1000"];
    let (status, out, errors) = classad(&[&common[..], &["--notify", &notices, "--no-header"]].concat());
    assert_eq!((status, errors.as_str()), (Some(0), ""));
    let found: Vec<&str> = out.lines().collect();
    assert_eq!(found, ["a\tm1\t0\t0\t", "b#1\tm1#2\t0\t0\t", "b#2\tm2\t0\t0\tdave", "c\tm3\t0\t0\t"]);
    let told = std::fs::read_to_string(&notices).expect("it was written");
    assert!(told.contains("{\"id\":\"b#1\",\"of\":\"b\","), "{told}");
    assert!(told.contains("{\"id\":\"m1#2\",\"of\":\"m1\",\"sequence\":4,"), "{told}");
    assert_eq!(told.matches("\"preempts\":{\"user\":\"dave\"").count(), 2, "{told}");

    // Parts are claimed from the ad they are parts of.
    let (_, rows, errors) = classad(&["claim", &notices, "--ads", &jobs, "--ads", &machines, "--no-header"]);
    assert_eq!(rows.matches("\tcommitted\t").count(), 4, "{rows}{errors}");

    // Whoever was matched, in part or not, is used up.
    let (status, out, errors) = classad(&[&common[..], &["--matched", &notices]].concat());
    assert_eq!((status, out.lines().count()), (Some(1), 1), "{errors}");
    assert!(errors.contains("3 of 3 requests left out") && errors.contains("3 of 4 offers left out"), "{errors}");

    // The life of an ad counts as in match.
    let expiring = file("told-expiring.long", "Name = \"m\"\nRequirements = true\nExpirationTime = 900\n");
    let cycle = |more: &[&str]| classad(&[&["negotiate", &jobs, "--pool", &expiring, "--now", "1000"], more].concat());
    assert_eq!([cycle(&[]).0, cycle(&["--at", "900"]).0, cycle(&["--as-given"]).0], [Some(1), Some(0), Some(0)]);
    assert!(cycle(&[]).2.contains("1 of 1 offer left out: expired"));

    let ports = file("told-ports.ad", "[ Constraint = true; Ports = { [ Label = cpu; Constraint = true ] } ]");
    let (_, _, errors) = classad(&["match", &ports, "--pool", &machines]);
    assert!(errors.contains("1 request has Ports, which `match` ignores"), "{errors}");
}

#[test]
fn gangs_are_served_by_roots_and_order() {
    let port = "Ports = { [ Label = cpu; Constraint = cpu.Size > 0 ] }";
    let requests =
        format!("[ Name = \"a\"; Prio = 1; {port} ] [ Name = \"b\"; Prio = 2; {port} ] [ Name = \"c\"; {port} ]");
    let requests = file("gang-requests.ad", &requests);
    let offers = file(
        "gang-offers.ad",
        "[ Name = \"root\"; Size = 3; Prio = 9; Constraint = true ] [ Name = \"m\"; Size = 1; Constraint = true ]",
    );
    let run = |more: &[&str]| classad(&[&["gangmatch", &requests, "--pool", &offers, "--no-header"], more].concat()).1;
    assert_eq!(run(&[]), "a\troot\t0/0\nb\tm\t0/0\n");
    assert_eq!(run(&["--order", "Prio"]), "b\troot\t0/0\na\tm\t0/0\n");
    assert_eq!(run(&["--roots", "Prio > 0"]), "a\tm\t0/0\n");
    let policy = file("gang-policy.yaml", "roots: Prio isnt undefined\norder: -Prio\n");
    assert_eq!(run(&["--policy", &policy]), "a\tm\t0/0\n");
}

/// The attributes that a policy adds to requests and offers count in all commands that match.
#[test]
fn explain_adds_the_attributes_of_a_policy() {
    let request = file("adds-request.ad", "[ Name = \"x\"; Requirements = other.ok && my.Foo == 3 ]");
    let offers = file("adds-offers.ad", "[ Name = \"o\"; Requirements = true ]");
    let policy = file("adds.yaml", "requests: { Foo: 3 }\noffers: { ok: true }\n");
    for options in [&[][..], &["--unmatched"]] {
        let arguments = [&["explain", &request, "--pool", &offers, "--policy", &policy], options].concat();
        let (status, out, err) = classad(&arguments);
        assert_eq!(status, Some(0), "{options:?}: {out}{err}");
    }
    assert_eq!(classad(&["explain", &request, "--pool", &offers]).0, Some(1));
}
