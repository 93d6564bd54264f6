//! What is kept from cycle to cycle changes no cycle.

use fastrand::Rng;

use super::{job, run_accelerated};
use crate::matching::Accelerations;

const CONFIGURATIONS: [&str; 3] = [
    "",
    "PREEMPTION_REQUIREMENTS = RemoteUserPrio > SubmitterUserPrio\nSTART_VANILLA_UNIVERSE = JobPrio isnt 3\n",
    "SYSTEM_PERIODIC_HOLD = NumJobStarts > 2\nSYSTEM_PERIODIC_RELEASE = time() - EnteredCurrentStatus > 100\n",
];

fn pick<'t>(random: &mut Rng, texts: &[&'t str]) -> &'t str {
    texts[random.usize(0..texts.len())]
}

/// A job. Some of what cycles read of it depends on the clock if `moves`.
fn random_job(random: &mut Rng, moves: bool) -> String {
    let often = ["", "", "JobPrio = 3;", "JobPrio = Base; Base = -2;", "PeriodicHold = NumJobStarts > 1;"];
    let seldom = [
        "JobPrio = time() % 7;",
        "PeriodicHold = time() % 500 > 400;",
        "Rank = time() % 5;",
        "JobPrio = eval(\"time() % 7\");",
    ];
    let mut more = format!("QDate = {}; ", 900 + random.u32(0..300));
    more += pick(random, &often);
    if moves {
        more += pick(random, &seldom);
    }
    more += pick(
        random,
        &["", "", "Rank = TARGET.Memory;", "Requirements = TARGET.Memory > 700;", "Requirements = TARGET.Cpus > 1;"],
    );
    more += pick(random, &["", "RequestCpus = 2;", "RequestMemory = 512;", "ResourceRequestCount = 2;"]);
    job(pick(random, &["ann", "bob", "cy"]), &more)
}

/// A slot, whole or partitionable, and its name. Its constraint may read the clock if `moves`.
fn random_slot(random: &mut Rng, place: usize, moves: bool) -> (String, String) {
    let often = [
        "true",
        "TARGET.RequestMemory <= MY.Memory",
        "TARGET.Owner != \"bob\"",
        "Start; Start = TARGET.JobPrio isnt 3",
    ];
    let seldom = ["time() % 300 < 150", "MY.TotalJobRunTime isnt 60", "random() < 2", "eval(\"time() % 300 < 150\")"];
    let start = if moves { pick(random, &seldom) } else { pick(random, &often) };
    let (cpus, memory) = (pick(random, &["1", "2", "4"]), pick(random, &["512", "1024", "4096"]));
    let rank = pick(random, &["", "Rank = TARGET.Owner == \"ann\";", "Rank = 3;"]);
    let name = format!("slot1@h{place}");
    let kinds = [
        "PartitionableSlot = true; SlotType = \"Partitionable\"; Disk = 100000; TotalSlotCpus = 4;",
        "SlotType = \"Static\"; Disk = 100;",
    ];
    let kind = pick(random, &kinds);
    let ad = format!(
        "[ Name = \"{name}\"; State = \"Unclaimed\"; Activity = \"Idle\"; Cpus = {cpus}; Memory = {memory}; {kind} {rank} \
         Requirements = {start} ]"
    );
    (name, ad)
}

#[test]
fn accelerations_change_no_cycle() {
    let (mut starts, mut ended, mut evicted, mut effects, mut letters) = (0, 0, 0, 0, 0);
    for seed in 0..60 {
        let mut random = Rng::with_seed(seed);
        let moving = pick(&mut random, &["0", "0", "1", "9"]).parse().expect("a number");
        let jobs: Vec<String> = (0..random.usize(1..25))
            .map(|_| {
                let moves = random.u8(0..10) < moving;
                random_job(&mut random, moves)
            })
            .collect();
        let slots: Vec<(String, String)> = (0..random.usize(1..8))
            .map(|place| {
                let moves = random.u8(0..10) < moving;
                random_slot(&mut random, place, moves)
            })
            .collect();
        let jobs: Vec<&str> = jobs.iter().map(String::as_str).collect();
        let slots: Vec<(&str, &str)> = slots.iter().map(|(name, ad)| (name.as_str(), ad.as_str())).collect();
        let configuration = pick(&mut random, &CONFIGURATIONS);
        let run_time = pick(&mut random, &["60", "100", "RequestMemory", "time() % 200"]);
        let run =
            |accelerations| run_accelerated(accelerations, configuration, (&jobs, &slots), (12, 60), Some(run_time));
        let (plain, quick) = (run(Accelerations::NONE), run(Accelerations::ALL));
        for (plain, quick) in plain.cycles.iter().zip(&quick.cycles) {
            assert_eq!(format!("{plain:#?}"), format!("{quick:#?}"), "seed {seed}");
            letters += format!("{plain:?}")
                .bytes()
                .map(usize::from)
                .enumerate()
                .map(|(at, of)| (at % 97 + 1) * of)
                .sum::<usize>();
            starts += plain.starts.len();
            effects += plain.effects.len();
        }
        assert_eq!(plain.cycles.len(), quick.cycles.len(), "seed {seed}");
        ended += plain.totals.ended;
        evicted += plain.totals.evicted;
    }
    assert!(starts > 600 && ended > 500 && evicted > 15 && effects > 25, "{starts} {ended} {evicted} {effects}");
    // The sums are exact: they tell when a cycle changes in any way.
    assert_eq!(format!("{starts} {ended} {evicted} {effects} {letters}"), "813 744 21 31 1921676276", "what happened");
}
