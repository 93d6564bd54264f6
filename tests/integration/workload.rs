//! Synthetic ads: by their seed alone, alike in every form, distributed as the thesis says, and as hard as it says.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use classad::ad::{Ad, BinaryOperator, Dialect, Expression, ExpressionKind, Value};
use classad::eval::Context;
use classad::format::{FileFormat, detect, read};
use classad::matching::gang::{Algorithm, Gangmatcher};
use classad::matching::{Pair, PairSide};
use classad::protocol::Protocol;
use classad::syntax::{Style, print};
use classad::workload::{AdGenerator, AdKind, DomainMix, GangVariant, GangWorkload, IndexWorkload, PoolWorkload};

/// Workloads as arguments and as parameters.
fn shapes() -> [(&'static str, Box<dyn AdGenerator>); 3] {
    let index = IndexWorkload { ads: 40, attributes: 14, mix: DomainMix::Mixed, ..IndexWorkload::default() };
    let gang = GangWorkload { license_percent: 50, selectivity: 4, ..gang(GangVariant::Dud, 30) };
    let pool = PoolWorkload { machines: 60, jobs: 120, shapes: 50, ..PoolWorkload::default() };
    [
        ("index --n 40 --attrs 14 --mix M", Box::new(index)),
        ("gang --variant dud --machines 30 --licenses 50 --selectivity 4", Box::new(gang)),
        ("pool --machines 60 --jobs 120 --shapes 50", Box::new(pool)),
    ]
}

/// As many jobs as machines.
fn gang(variant: GangVariant, machines: u32) -> GangWorkload {
    GangWorkload { machines, jobs: machines, ..GangWorkload::new(variant) }
}

fn classad(arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_classad"));
    command.args(arguments.split(' ')).current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("it runs")
}

fn text(arguments: &str) -> Vec<u8> {
    let output = classad(&format!("workload {arguments}"));
    assert_eq!(output.status.code(), Some(0), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn parsed(text: &[u8], form: FileFormat) -> Vec<Ad> {
    read(text, form, Dialect::Condor).map(|entry| entry.expect("every ad parses").ad).collect()
}

/// The ads that a workload has of a kind.
fn ads(workload: &dyn AdGenerator, kind: AdKind) -> Vec<Ad> {
    workload.ads(kind, 1).collect()
}

fn integer(ad: &Ad, name: &str) -> i64 {
    match ad.get_str(name).map(Expression::kind) {
        Some(ExpressionKind::Literal(Value::Integer(integer))) => *integer,
        _ => panic!("{name} is a whole number"),
    }
}

/// A fresh folder for the files of a test.
fn folder(name: &str) -> PathBuf {
    let folder = crate::binary::temporary().join("workload").join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

#[test]
fn the_seed_decides() {
    for (shape, workload) in shapes() {
        for &kind in workload.kinds() {
            let seed = |seed| workload.ads(kind, seed).collect::<Vec<_>>();
            assert!(!seed(1).is_empty());
            assert_eq!(seed(1), seed(1), "{shape} {kind:?}");
            // Nothing of licences is left to chance.
            assert_eq!(seed(1) == seed(2), kind == AdKind::Licenses, "{shape} {kind:?}");
        }
    }
    // Each kind has its own stream.
    let machines =
        |jobs, shapes| ads(&PoolWorkload { machines: 50, jobs, shapes, ..PoolWorkload::default() }, AdKind::Machines);
    assert_eq!(machines(10, 372), machines(1000, 20));
}

/// The command writes the ads of the library, in every form.
#[test]
fn forms_agree() {
    for (shape, workload) in shapes() {
        for &kind in workload.kinds() {
            for form in ["long", "new", "json", "jsonl", "xml", "yaml"] {
                let text = text(&format!("{shape} --kind {} --form {form} --seed 7", kind.name()));
                let found = detect(&text).expect("there is something");
                let expected: Vec<Ad> = workload.ads(kind, 7).collect();
                assert!(parsed(&text, found) == expected, "{shape} {kind:?} {form}");
            }
        }
    }
}

#[test]
fn a_file_for_each_kind() {
    for (number, (shape, workload)) in shapes().into_iter().enumerate() {
        let folder = folder(&number.to_string());
        let output = classad(&format!("workload {shape} --out {} --form jsonl", folder.display()));
        assert_eq!(output.status.code(), Some(0));
        let said = String::from_utf8(output.stdout).expect("it is text");
        let kinds = workload.kinds();
        for (&kind, line) in kinds.iter().zip(said.lines().skip(1)) {
            let path = folder.join(format!("{}.jsonl", kind.name()));
            let written = fs::read(&path).expect("the file is there");
            let ads = ads(&*workload, kind);
            assert!(parsed(&written, FileFormat::JsonLines) == ads, "{shape} {kind:?}");
            assert_eq!(line, format!("{}\t{}\t{}", path.display(), ads.len(), written.len()));
        }
        assert_eq!(fs::read_dir(&folder).expect("it is there").count(), kinds.len());
        assert_eq!(said.lines().count(), kinds.len() + 1);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    for (arguments, reason) in [
        ("pool", "--kind"),
        ("pool --kind licenses", "this workload has no licenses, only machines, jobs"),
        ("gang --kind jobs --machines 3 --selectivity 4", "--selectivity 4 is greater than the number of machines, 3"),
        ("gang --kind jobs --machines 4000000000", "100000000"),
        ("index --kind objects --omit 1.5", "a share is between 0 and 1"),
        ("pool --out Cargo.toml", "cannot write Cargo.toml"),
    ] {
        let output = classad(&format!("workload {arguments}"));
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(reason), "{arguments}: {errors}");
    }
    assert_eq!(classad("workload pool --kind jobs --jobs 0").status.code(), Some(1));
    assert!(classad("workload pool --kind jobs --quiet").stdout.is_empty());
}

/// The bounds of a constraint: attribute, operator, value.
fn bounds(ad: &Ad) -> Vec<(String, BinaryOperator, i64)> {
    let mut bounds = Vec::new();
    let mut left = vec![ad.get_str("Requirements").expect("there is a constraint").clone()];
    while let Some(expression) = left.pop() {
        match expression.kind() {
            ExpressionKind::Binary(BinaryOperator::And, one, other) => left.extend([one.clone(), other.clone()]),
            ExpressionKind::Binary(operator, selected, bound) => {
                let ExpressionKind::Select(_, name) = selected.kind() else { panic!("other.NAME") };
                let ExpressionKind::Literal(Value::Integer(bound)) = bound.kind() else { panic!("a number") };
                bounds.push((name.to_string(), *operator, *bound));
            }
            kind => assert!(matches!(kind, ExpressionKind::Literal(Value::Boolean(true)))),
        }
    }
    bounds
}

/// Thesis §4.6.1: one attribute and one bound in twenty are left out; both operators are as frequent; attributes
/// are spread over their domains, and the names of one side are those that the other side constrains.
#[test]
fn the_index_workload_is_distributed_as_the_thesis_says() {
    const N: usize = 2000;
    for (mix, small) in [(DomainMix::Ten, 8), (DomainMix::Mixed, 4), (DomainMix::Diverse, 0)] {
        let workload = IndexWorkload { ads: 2000, attributes: 8, mix, ..IndexWorkload::default() };
        let sides = [(AdKind::Objects, "ABCDEFGH", "ZYXWVUTS"), (AdKind::Queries, "ZYXWVUTS", "ABCDEFGH")];
        for (kind, mine, theirs) in sides {
            let ads = ads(&workload, kind);
            assert_eq!(ads.len(), N);
            let within = |count: usize, all: usize, share: std::ops::Range<usize>| {
                let percent_of_percent = count * 10_000 / all;
                assert!(share.contains(&percent_of_percent), "{mix:?} {kind:?}: {percent_of_percent}");
            };
            let all: Vec<_> = ads.iter().map(bounds).collect();
            let bounds: Vec<_> = all.iter().flatten().collect();
            within(ads.iter().map(|ad| ad.len() - 1).sum(), N * 8, 9430..9570);
            within(bounds.len(), N * 8, 9430..9570);
            within(
                bounds.iter().filter(|bound| bound.1 == BinaryOperator::LessEqual).count(),
                bounds.len(),
                4850..5150,
            );
            assert!(bounds.iter().all(|bound| theirs.contains(&bound.0)));
            for (place, name) in mine.chars().map(String::from).enumerate() {
                let having = ads.iter().filter(|ad| ad.get_str(&name).is_some());
                let values: BTreeSet<i64> = having.map(|ad| integer(ad, &name)).collect();
                let domain = if place < small { 10 } else { i64::try_from(N).unwrap() };
                assert!(values.iter().all(|value| (0..domain).contains(value)));
                // Of 2000 values drawn 1900 times some 1230 are drawn at all.
                assert!(if place < small { values.len() == 10 } else { (1100..1350).contains(&values.len()) });
            }
        }
    }
    let bare = IndexWorkload { ads: 5, omitted: 1.0, ..IndexWorkload::default() };
    assert!(ads(&bare, AdKind::Queries).iter().all(|ad| ad.len() == 1 && bounds(ad).is_empty()));
}

#[test]
fn names_never_meet() {
    for attributes in [1, 13, 14, 27, 676] {
        let workload = IndexWorkload { ads: 3, attributes, omitted: 0.0, ..IndexWorkload::default() };
        let names = |kind| -> BTreeSet<String> {
            ads(&workload, kind)
                .iter()
                .flat_map(|ad| ad.iter().map(|a| a.name.to_string()).collect::<Vec<_>>())
                .collect()
        };
        let (objects, queries) = (names(AdKind::Objects), names(AdKind::Queries));
        let expected = usize::from(attributes) + 1;
        assert_eq!((objects.len(), queries.len()), (expected, expected));
        assert_eq!(objects.intersection(&queries).count(), 1);
    }
}

/// What the gang workload says of its ads, as numbers.
struct Gangs {
    /// Key, system, memory, virtual memory.
    machines: Vec<(i64, String, f64, f64)>,
    /// From this key up to that.
    licenses: Vec<(i64, i64)>,
    /// System, image size, memory needed.
    jobs: Vec<(String, f64, f64)>,
}

impl Gangs {
    fn of(workload: &GangWorkload) -> Self {
        let port = |ad: &Ad, place: usize| -> Ad {
            let Some(ExpressionKind::List(ports)) = ad.get_str("Ports").map(Expression::kind) else {
                panic!("there are ports")
            };
            let ExpressionKind::Ad(port) = ports[place].kind() else { panic!("a port is an ad") };
            port.clone()
        };
        let shown = |ad: &Ad, name: &str| {
            String::from_utf8(print(ad.get_str(name).expect("it is there"), Style::New)).expect("it is text")
        };
        let real = |ad: &Ad, name: &str| -> f64 { shown(ad, name).parse().expect("it is a number") };
        let quoted = |text: &str| -> String { text.split('"').skip(1).step_by(2).collect::<Vec<_>>().join("/") };
        let machine = |ad: &Ad| {
            let system = quoted(&(shown(ad, "Arch") + &shown(ad, "OpSys")));
            (integer(ad, "Key"), system, real(ad, "Memory"), real(ad, "VirtualMemory"))
        };
        let license = |ad: &Ad| {
            let constraint = shown(&port(ad, 0), "Constraint");
            let mut numbers = constraint.split(' ').filter_map(|word| word.parse().ok());
            (numbers.next().expect("from"), numbers.next().expect("to"))
        };
        let job = |ad: &Ad| {
            let port = port(ad, 0);
            (quoted(&shown(&port, "Constraint")), real(&port, "ImageSize"), real(&port, "MemoryReqs"))
        };
        Gangs {
            machines: ads(workload, AdKind::Machines).iter().map(machine).collect(),
            licenses: ads(workload, AdKind::Licenses).iter().map(license).collect(),
            jobs: ads(workload, AdKind::Jobs).iter().map(job).collect(),
        }
    }

    fn suits(&self, job: usize, machine: usize) -> bool {
        let ((system, image, needed), (_, has, memory, virtual_memory)) = (&self.jobs[job], &self.machines[machine]);
        system == has && virtual_memory > image && *needed < memory - 15.0 * 1_048_576.0
    }

    fn is_valid(&self, license: usize, machine: usize) -> bool {
        let (from, to) = self.licenses[license];
        (from..to).contains(&self.machines[machine].0)
    }

    /// The gangs of the naive algorithm: each job takes the first machine that suits and has a valid licence left.
    fn made(&self) -> Vec<[usize; 3]> {
        let mut gangs: Vec<[usize; 3]> = Vec::new();
        for job in 0..self.jobs.len() {
            let is_free = |place: usize, one: usize| gangs.iter().all(|gang| gang[place] != one);
            let machines = (0..self.machines.len()).filter(|&machine| is_free(1, machine) && self.suits(job, machine));
            let gang = machines.into_iter().find_map(|machine| {
                let mut licenses = (0..self.licenses.len()).filter(|&license| is_free(2, license));
                licenses.find(|&license| self.is_valid(license, machine)).map(|license| [job, machine, license])
            });
            gangs.extend(gang);
        }
        gangs
    }
}

#[test]
fn gangs_are_those_that_are_possible() {
    for (variant, license_percent, selectivity) in [
        (GangVariant::Base, 100, 3),
        (GangVariant::Base, 50, 1),
        (GangVariant::Dud, 50, 4),
        (GangVariant::Heuristic, 200, 1),
    ] {
        let workload = GangWorkload { license_percent, selectivity, ..gang(variant, 24) };
        let expected = Gangs::of(&workload).made();
        assert!(expected.len() > 2 && expected.len() < 24, "{variant:?}: {expected:?}");

        let mut offers = ads(&workload, AdKind::Machines);
        let machines = offers.len();
        offers.extend(workload.ads(AdKind::Licenses, 1));
        let (matcher, _) = Gangmatcher::new(&offers, Protocol::new(Dialect::Classad), Context::new(Dialect::Classad));
        let mut matcher = matcher.with_algorithm(Algorithm::Naive, 1);
        let mut found = Vec::new();
        for (job, ad) in workload.ads(AdKind::Jobs, 1).enumerate() {
            let Some(gang) = matcher.marshal(job, &ad).expect("the ports are sound") else { continue };
            let [machine, license] = [0, 1].map(|port| gang.ports[port].offer);
            found.push([job, machine, license - machines]);
        }
        assert_eq!(found, expected, "{variant:?}");
    }
}

/// Thesis §5.2.1: machine i has the key i, licences are divided as the machines are, and systems and memory are
/// as in Figures 26 and 27.
#[test]
fn gang_shapes_are_the_thesis_s() {
    let base = Gangs::of(&GangWorkload { license_percent: 50, selectivity: 8, ..gang(GangVariant::Base, 2000) });
    assert_eq!((base.machines.len(), base.licenses.len(), base.jobs.len()), (2000, 1000, 2000));
    assert!(base.machines.iter().zip(0..).all(|(machine, key)| machine.0 == key));
    let parts: Vec<(i64, i64)> = (0..1000).map(|number| (number / 125 * 250, (number / 125 + 1) * 250)).collect();
    assert_eq!(base.licenses, parts);
    let share = |has: &dyn Fn(usize) -> bool| (0..2000).filter(|&one| has(one)).count();
    let linux = "INTEL/LINUX";
    assert!((590..690).contains(&share(&|one| base.machines[one].1 == linux)));
    assert!((590..690).contains(&share(&|one| base.jobs[one].0 == linux)));
    assert!((740..860).contains(&share(&|one| base.machines[one].2.to_bits() == 67_108_864_f64.to_bits())));
    for (_, _, memory, virtual_memory) in &base.machines {
        assert!((0.4..1.8).contains(&(virtual_memory / memory)));
    }
    for (_, image, needed) in &base.jobs {
        assert!((0.2..=0.5).contains(&(needed / image)));
    }
}

/// Thesis §5.6.2: a licence that no machine suits, seven machines that no licence accepts, and some of them in the
/// answer to nearly every query; nothing else changes.
#[test]
fn duds_are_found_and_of_no_use() {
    let [base, dud] = [GangVariant::Base, GangVariant::Dud].map(|variant| Gangs::of(&gang(variant, 60)));
    assert_eq!(dud.machines[..60], base.machines);
    assert_eq!(dud.licenses[..60], base.licenses);
    assert_eq!((dud.machines.len(), dud.licenses.len()), (67, 61));
    assert!((60..67).all(|machine| (0..61).all(|license| !dud.is_valid(license, machine))));
    assert!((0..67).all(|machine| !dud.is_valid(60, machine)));
    for (job, (system, ..)) in dud.jobs.iter().enumerate() {
        let found = (60..67).filter(|&machine| dud.suits(job, machine)).count();
        assert_eq!(found, usize::from(system != "SGI/IRIX6"), "{system}");
    }
    assert_eq!(dud.made(), base.made());
}

/// Thesis §5.7: fewer machines than licences suit, so that the machine is chosen first, but only a fifth of the
/// machines has a licence.
#[test]
fn the_heuristic_is_led_astray() {
    let gangs = Gangs::of(&gang(GangVariant::Heuristic, 50));
    assert_eq!((gangs.machines.len(), gangs.licenses.len(), gangs.jobs.len()), (50, 100, 50));
    assert!((0..50).all(|job| (0..50).all(|machine| gangs.suits(job, machine))));
    let useful = (0..50).filter(|&machine| gangs.is_valid(0, machine)).collect::<Vec<_>>();
    assert_eq!(useful, (40..50).collect::<Vec<_>>());
    assert_eq!(gangs.made().len(), 10);
}

#[test]
fn a_pool_is_varied() {
    let pool = PoolWorkload { machines: 1000, jobs: 3000, shapes: 300, ..PoolWorkload::default() };
    let machines = ads(&pool, AdKind::Machines);
    assert!(machines.iter().all(|ad| (155..200).contains(&ad.len())));
    let distinct = |ads: &[Ad], name: &str| -> usize {
        let texts = ads.iter().filter_map(|ad| ad.get_str(name)).map(|value| print(value, Style::New));
        texts.collect::<BTreeSet<_>>().len()
    };
    let share = |name: &str, value: &str| {
        let shown = |ad: &&Ad| ad.get_str(name).is_some_and(|found| print(found, Style::New) == value.as_bytes());
        machines.iter().filter(shown).count()
    };
    assert!((650..750).contains(&share("PartitionableSlot", "true")));
    assert!((410..510).contains(&share("OpSysAndVer", "\"AlmaLinux9\"")));
    assert!((270..410).contains(&share("START", "true")));
    assert!((50..110).contains(&machines.iter().filter(|ad| ad.get_str("GPUs").is_some()).count()));
    assert_eq!(distinct(&machines, "Machine"), 1000);
    assert_eq!(distinct(&machines, "OpSysAndVer"), 6);
    assert!(distinct(&machines, "START") > 100);

    let jobs = ads(&pool, AdKind::Jobs);
    assert_eq!(jobs.len(), 3000);
    assert_eq!(distinct(&jobs, "GlobalJobId"), 3000);
    // Every request is made, and jobs of one cluster are neighbours.
    let requests: BTreeSet<_> = jobs
        .iter()
        .map(|job| {
            [
                "Owner",
                "RequestCpus",
                "RequestMemory",
                "RequestDisk",
                "RequestGPUs",
                "Requirements",
                "Rank",
                "JobPrio",
                "ProjectName",
                "AcctGroup",
                "AllowedJobDuration",
                "DESIRED_Sites",
                "UNDESIRED_Sites",
            ]
            .map(|name| job.get_str(name).map(|value| print(value, Style::New)))
        })
        .collect();
    assert_eq!(requests.len(), 300);
    let clusters: Vec<i64> = jobs.iter().map(|job| integer(job, "ClusterId")).collect();
    assert!(clusters.is_sorted() && clusters[0] == 1000);
    // There are not so many different requests that a user can make: those that there are will do.
    let few = PoolWorkload { machines: 1, jobs: 400, users: 1, shapes: 400, never: 1.0, few: 0.0 };
    assert_eq!(ads(&few, AdKind::Jobs).len(), 400);
}

/// With every request such that no machine can meet it, none does; with few machines wanted, few do.
#[test]
fn what_can_never_match_does_not() {
    let met = |never: f64, few: f64| -> Vec<usize> {
        let workload = PoolWorkload { machines: 300, jobs: 80, shapes: 80, never, few, ..PoolWorkload::default() };
        let (jobs, machines) = (ads(&workload, AdKind::Jobs), ads(&workload, AdKind::Machines));
        let (protocol, context) = (Protocol::new(Dialect::Condor), Context::new(Dialect::Condor));
        let accepted = |job: &Ad| {
            let accepts = |machine: &&Ad| {
                let pair = Pair::new(job.clone(), (*machine).clone(), protocol.clone(), context.clone());
                pair.accepts(PairSide::Request).expect("it ends")
            };
            machines.iter().filter(accepts).count()
        };
        jobs.iter().map(accepted).collect()
    };
    assert!(met(1.0, 0.1).iter().all(|&machines| machines == 0));
    let few = met(0.0, 1.0);
    assert!(few.iter().all(|&machines| machines < 60) && few.iter().any(|&machines| machines > 0), "{few:?}");
    let ordinary = met(0.0, 0.0);
    assert!(ordinary.iter().filter(|&&machines| machines > 30).count() > 50, "{ordinary:?}");
}
