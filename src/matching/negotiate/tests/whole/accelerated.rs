//! Accelerations change no cycle.

use fastrand::Rng;

use super::{Accelerations, Ad, Dialect, ads, cycle};

fn pick<'t>(random: &mut Rng, texts: &[&'t str]) -> &'t str {
    texts[random.usize(0..texts.len())]
}

fn random_ads(random: &mut Rng, parts: &[&[&str]], most: usize) -> Vec<Ad> {
    let texts: Vec<String> = (0..random.usize(1..most))
        .map(|_| parts.iter().map(|part| pick(random, part)).collect::<Vec<_>>().join("; "))
        .collect();
    ads(Dialect::Condor, &texts.iter().map(String::as_str).collect::<Vec<_>>())
}

const REQUESTS: [&[&str]; 6] = [
    &["User = \"g.a@s\"", "User = \"g.b@s\"", "User = \"h.c@s\"", "User = \"d@s\""],
    &["C = 1", "C = 1", "C = 2"],
    &["x = 1", "Requirements = TARGET.Cpus >= MY.C", "Requirements = TARGET.n + 0 > 2 && TARGET.Cpus >= MY.C"],
    &["x = 1", "Rank = TARGET.n", "Rank = -TARGET.Cpus"],
    &["P = 1", "P = 2", "L = \"sw\"", "L = \"t:2\"", "L = TARGET.Need"],
    &["x = 1", "x = 1", "ResourceRequestCount = 3"],
];

const OFFERS: [&[&str]; 6] = [
    &["Cpus = 1", "Cpus = 2", "Cpus = 4"],
    &["n = 1", "n = 2", "n = 3", "n = 5", "y = 1"],
    &["x = 1", "Requirements = TARGET.C < 2", "Requirements = TARGET.User != \"d@s\""],
    &["x = 1", "Rank = TARGET.C", "Rank = TARGET.P"],
    &["x = 1", "x = 1", "RemoteUser = \"g.a@s\"", "RemoteUser = \"d@s\"; Likes = true; U = \"sw\""],
    &["Need = \"sw\"", "Keep = true", "x = 1"],
];

const CPUS: &str = "set: { Cpus: Cpus - TARGET.C }, while: Cpus > 0";

/// The sums are exact: they tell when a cycle changes in any way.
#[test]
fn the_same_requests_get_the_same_offers() {
    let share = "share: { by: User, weight: Cpus, in-use-by: RemoteUser, demand: C, beyond: label.Likes";
    let limits = "limits: { needs: L, in-use: U, max: { sw: 2 }, default: 3 }\n";
    for (policy, expected) in [
        ("order: [ P ]".to_owned(), "101 163 25864705"),
        (format!("{limits}docking: [ label.n, -label.Cpus ]"), "100 325 81212838"),
        (
            format!(
                "docking: [ 'label.n > 2 ? 1 : 0', label.Cpus, r: {{ rank: MY.Rank, otherwise: -1 }} ]\nresidual: {{ {CPUS}, keep: Keep }}"
            ),
            "135 228 59378373",
        ),
        (
            format!("docking: [ label.Cpus, 'label.n ?: 4' ]\nresidual: {{ {CPUS}, after-worse: true }}"),
            "148 223 62626682",
        ),
        (
            format!("{limits}residual: {{ {CPUS}, keep: Keep }}\nshare: {{ by: User, priorities: {{ d@s: 3 }} }}"),
            "238 590 148500153",
        ),
        (format!("{share} }}\n{limits}"), "148 404 86207572"),
        (
            format!(
                "{share}, preempts: false, groups: {{ g: 3, h: {{ quota: 2, surplus: true }} }} }}\nresidual: {{ {CPUS} }}"
            ),
            "117 307 65790669",
        ),
        (
            format!(
                "{share}, groups: {{ g: {{ quota: 40%, regroup: true }}, h: 20% }}, ceilings: {{ d@s: 2 }}, floors: {{ h.c@s: 2 }} }}\ndocking: [ 'label.n ?: 0' ]"
            ),
            "191 439 73945759",
        ),
        (
            format!("{share}, covers: label.n }}\nleftovers: {{ divide: {{ when: Cpus > 1, {CPUS} }} }}\n{limits}"),
            "127 377 79057312",
        ),
    ] {
        let (mut letters, mut grants, mut events) = (0, 0, 0);
        for seed in 0..10 {
            let mut random = Rng::with_seed(seed);
            let requests = random_ads(&mut random, &REQUESTS, 20);
            let offers = random_ads(&mut random, &OFFERS, 16);
            let run = |accelerations| cycle(Dialect::Condor, &policy, accelerations, [&requests, &offers], usize::MAX);
            let quick = run(Accelerations::ALL);
            let without_lists = run(Accelerations { match_lists: false, ..Accelerations::ALL });
            assert_eq!(without_lists, quick, "seed {seed}, {policy}");
            let got = |told: &str| -> Vec<String> {
                let is_got =
                    |event: &&str| event.contains(" o") && !event.contains("none of") || event.contains("spin");
                told.split(" | ").next().unwrap_or_default().split("; ").filter(is_got).map(str::to_owned).collect()
            };
            assert_eq!(got(&run(Accelerations::NONE)), got(&quick), "seed {seed}, {policy}");
            letters += quick.bytes().enumerate().map(|(at, letter)| (at % 97 + 1) * usize::from(letter)).sum::<usize>();
            grants += got(&quick).len();
            events += quick.split("; ").count();
        }
        assert_eq!(format!("{grants} {events} {letters}"), expected, "{policy}");
    }
}
