//! The figures of the thesis's chapter on gangmatching at the machine at hand: time (Figures 34, 35, 37, 38), tests
//! (36, 39), probes (40 and 43 to 55), gangs made (56), and what a random start costs (57).

use std::collections::HashSet;
use std::time::Instant;

use classad::ad::{Ad, Dialect};
use classad::eval::Context;
use classad::matching::Statistics;
use classad::matching::gang::{Algorithm, Gangmatcher};
use classad::protocol::Protocol;
use classad::syntax::{ParseOptions, parse_ad};
use classad::workload::{GangVariant, GangWorkload};

use crate::measure::Bench;
use crate::tasks::ads_in;
use crate::{Result, machine, table};

/// So many jobs and machines; the thesis has up to 4000.
const SIZES: [u32; 4] = [500, 1000, 2000, 4000];
const LICENCES: [u32; 2] = [100, 50];
const SELECTIVITIES: [u32; 4] = [1, 2, 4, 8];

/// Up to so many the naive algorithm is tried: it is cubic.
const MOST_NAIVE: u32 = 500;

/// What takes longer than so many seconds is not run again.
const LONG: f64 = 0.3;

/// One run of an algorithm over all jobs.
struct Ran {
    seconds: f64,
    statistics: Statistics,
    /// Whether it was given up.
    is_more: bool,
}

/// All the figures as text.
pub fn report(bench: &Bench) -> Result<String> {
    let mut text = format!(
        "# Gangmatching (thesis chapter 5)\n\nOn {}.  Medians of {} runs, single runs of what takes longer than {LONG} s.  \
         Times are of all requests, and of the making of the index.\n",
        machine::described(),
        bench.rounds
    );
    let mut shown = [
        ("\n## Probes (Figures 40, 43 to 55)\n\n", String::new()),
        ("\n## Candidates tested (Figures 36, 39)\n\n", String::new()),
        ("\n## Gangs made (Figure 56)\n\n", String::new()),
        ("\n## Time (Figures 34, 35, 37, 38)\n\n", String::new()),
    ];
    for workload in workloads(bench) {
        let runs = every_algorithm(bench, &workload)?;
        let show = |cell: &dyn Fn(&Ran) -> String| {
            let cells = runs.iter().map(|run| match run {
                Some(run) if run.is_more => format!("> {}", cell(run)),
                Some(run) => cell(run),
                None => "-".to_owned(),
            });
            table::line(&std::iter::once(title(&workload)).chain(cells).collect::<Vec<_>>())
        };
        shown[0].1 += &show(&|run| run.statistics.probes.to_string());
        shown[1].1 += &show(&|run| run.statistics.tests.to_string());
        shown[2].1 += &show(&|run| run.statistics.matched.to_string());
        let line = show(&|run| table::seconds(run.seconds));
        print!("{line}");
        shown[3].1 += &line;
    }
    let names = Algorithm::ALL.map(Algorithm::name);
    for (title, lines) in shown {
        text += title;
        text += &table::heading(&[&["workload"], names.as_slice()].concat());
        text += &lines;
    }
    text += &opportunities(bench)?;
    Ok(text)
}

/// The base workload (§5.2.1), and those that lead algorithms astray (§5.6.2, §5.7).
fn workloads(bench: &Bench) -> Vec<GangWorkload> {
    let gangs = |n, license_percent, selectivity, variant| GangWorkload {
        machines: n,
        jobs: n,
        license_percent,
        selectivity,
        variant,
    };
    let mut workloads = Vec::new();
    for n in SIZES.map(|n| bench.data.size(n)) {
        for licences in LICENCES {
            workloads.extend(SELECTIVITIES.map(|selectivity| gangs(n, licences, selectivity, GangVariant::Base)));
        }
    }
    let n = bench.data.size(500);
    workloads.extend(LICENCES.map(|licences| gangs(n, licences, 1, GangVariant::Dud)));
    workloads.push(gangs(n, GangWorkload::new(GangVariant::Heuristic).license_percent, 1, GangVariant::Heuristic));
    workloads
}

/// A workload in the tables.
fn title(workload: &GangWorkload) -> String {
    let GangWorkload { machines, license_percent, selectivity, variant, .. } = workload;
    match variant {
        GangVariant::Base => format!("{machines}, {license_percent} %, selectivity {selectivity}"),
        GangVariant::Dud => format!("{machines}, {license_percent} %, with duds"),
        GangVariant::Heuristic => format!("{machines}, heuristic"),
    }
}

fn every_algorithm(bench: &Bench, workload: &GangWorkload) -> Result<Vec<Option<Ran>>> {
    let [jobs, machines, licences] = bench.data.gangs(workload)?;
    let jobs = ads_in(&jobs, Dialect::Classad)?;
    let mut offers = ads_in(&machines, Dialect::Classad)?;
    offers.extend(ads_in(&licences, Dialect::Classad)?);
    let runs = Algorithm::ALL.into_iter().map(|algorithm| {
        let too_long = algorithm == Algorithm::Naive && workload.machines > bench.data.size(MOST_NAIVE);
        if too_long { Ok(None) } else { ran(bench, algorithm, &jobs, &offers).map(Some) }
    });
    runs.collect()
}

/// The median run, if it is short.
fn ran(bench: &Bench, algorithm: Algorithm, jobs: &[Ad], offers: &[Ad]) -> Result<Ran> {
    let mut runs = vec![once(bench, algorithm, jobs, offers)?];
    while runs[0].seconds < LONG && runs.len() < bench.rounds {
        runs.push(once(bench, algorithm, jobs, offers)?);
    }
    runs.sort_by(|left, right| left.seconds.total_cmp(&right.seconds));
    Ok(runs.swap_remove(runs.len() / 2))
}

fn once(bench: &Bench, algorithm: Algorithm, jobs: &[Ad], offers: &[Ad]) -> Result<Ran> {
    let start = Instant::now();
    let mut matcher = matcher(algorithm, offers);
    let mut is_more = false;
    for (index, job) in jobs.iter().enumerate() {
        matcher.marshal(index, job).map_err(|fault| format!("{fault:?}"))?;
        is_more = start.elapsed() > bench.limit;
        if is_more {
            break;
        }
    }
    Ok(Ran { seconds: start.elapsed().as_secs_f64(), statistics: matcher.statistics(), is_more })
}

fn matcher(algorithm: Algorithm, offers: &[Ad]) -> Gangmatcher {
    let protocol = Protocol::new(Dialect::Classad);
    Gangmatcher::new(offers, protocol, Context::new(Dialect::Classad)).0.with_algorithm(algorithm, 1)
}

/// The workload of Figure 57 (§5.8.3): jobs with a tag up to 10, machines that want a tag above a threshold up to k.
struct Tagged {
    jobs: Vec<(usize, f64)>,
    machines: Vec<(usize, f64)>,
}

/// How many kinds of architecture and operating system there are.
const KINDS: usize = 8;

impl Tagged {
    fn new(n: u32, k: f64) -> Self {
        let mut random = fastrand::Rng::with_seed(1);
        let mut some = |most: f64| (0..n).map(|_| (random.usize(..KINDS), random.f64() * most)).collect();
        Tagged { jobs: some(10.0), machines: some(k) }
    }

    fn ads(&self) -> Result<[Vec<Ad>; 2]> {
        let ad = |text: String| {
            parse_ad(text.as_bytes(), ParseOptions::new(Dialect::Classad)).map_err(|error| format!("{error:?}"))
        };
        let job = |(kind, tag): &(usize, f64)| {
            ad(format!("[ Ports = {{ [ Label = cpu; Tag = {tag:.6}; Constraint = cpu.Kind == {kind} ] }} ]"))
        };
        let machine = |(kind, threshold): &(usize, f64)| {
            ad(format!("[ Kind = {kind}; Ports = {{ [ Label = job; Constraint = job.Tag >= {threshold:.6} ] }} ]"))
        };
        let jobs: std::result::Result<Vec<Ad>, String> = self.jobs.iter().map(job).collect();
        let machines: std::result::Result<Vec<Ad>, String> = self.machines.iter().map(machine).collect();
        Ok([jobs?, machines?])
    }

    /// The sum over all matches of the jobs, not matched yet, that could have had the machine.
    fn opportunity_cost(&self, algorithm: Algorithm) -> Result<(usize, usize)> {
        let [jobs, machines] = self.ads()?;
        let mut gangs = matcher(algorithm, &machines);
        let (mut taken, mut cost) = (HashSet::new(), 0);
        for (index, job) in jobs.iter().enumerate() {
            let gang = gangs.marshal(index, job).map_err(|fault| format!("{fault:?}"))?;
            let Some(docked) = gang.as_ref().and_then(|gang| gang.ports.first()) else { continue };
            let (kind, threshold) = self.machines[docked.offer];
            taken.insert(index);
            let others = self.jobs.iter().enumerate();
            cost += others.filter(|(at, (of, tag))| *of == kind && *tag >= threshold && !taken.contains(at)).count();
        }
        Ok((taken.len(), cost))
    }
}

/// Figure 57.
fn opportunities(bench: &Bench) -> Result<String> {
    let mut text = "\n## Opportunity cost of the random start (Figure 57)\n\n".to_owned();
    text +=
        &table::heading(&["k", "matched by dyns", "by dynsr", "opportunity cost of dyns", "of dynsr", "difference"]);
    for k in [1, 4, 6, 8, 10] {
        let workload = Tagged::new(bench.data.size(4000), f64::from(k));
        let (first, fixed) = workload.opportunity_cost(Algorithm::Dyns)?;
        let (second, random) = workload.opportunity_cost(Algorithm::Dynsr)?;
        let difference = i128::try_from(random)? - i128::try_from(fixed)?;
        let cells = [
            k.to_string(),
            first.to_string(),
            second.to_string(),
            fixed.to_string(),
            random.to_string(),
            difference.to_string(),
        ];
        text += &table::line(&cells);
    }
    Ok(text)
}
