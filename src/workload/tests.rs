//! What the workloads generate, exactly: measurements of different versions need the same ads.

use super::{AdGenerator, AdKind, DomainMix, GangVariant, GangWorkload, IndexWorkload, PoolWorkload};
use crate::syntax::{Style, print_ad};

/// The texts of the ads of a kind.
fn texts(workload: &dyn AdGenerator, kind: AdKind, seed: u64) -> Vec<String> {
    workload.ads(kind, seed).map(|ad| String::from_utf8(print_ad(&ad, Style::New)).unwrap()).collect()
}

/// Returns the number of ads of each kind, and the hash of their texts.
fn digests(workload: &dyn AdGenerator, seed: u64) -> String {
    let digest = |kind: &AdKind| {
        let texts = texts(workload, *kind, seed);
        let hash = texts
            .concat()
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        format!("{} {} {hash:016x}", texts.len(), kind.name())
    };
    AdKind::ALL.iter().filter(|kind| workload.kinds().contains(kind)).map(digest).collect::<Vec<_>>().join(", ")
}

#[test]
fn the_ads_of_gangs_stay_the_same() {
    let gangs = |variant, machines, jobs, license_percent, selectivity| GangWorkload {
        machines,
        jobs,
        license_percent,
        selectivity,
        variant,
    };
    for (name, workload, expected) in [
        (
            "base",
            gangs(GangVariant::Base, 60, 50, 100, 1),
            "60 machines 4b1c135ce3989fb1, 60 licenses 6615cf7627ed045d, 50 jobs b6f62071dde000e6",
        ),
        (
            "parts",
            gangs(GangVariant::Base, 61, 10, 50, 7),
            "61 machines d350968c590dadc9, 30 licenses e4b696be83312aea, 10 jobs ca325f1d0abc8c8c",
        ),
        (
            "whole parts",
            gangs(GangVariant::Base, 8, 1, 150, 8),
            "8 machines 7f1c02443b450d3e, 12 licenses abbe1e06f1c95461, 1 jobs d56533fca72a783a",
        ),
        (
            "duds",
            gangs(GangVariant::Dud, 40, 40, 25, 3),
            "47 machines 7965de1dcca04e76, 11 licenses ce857ca8731f11e0, 40 jobs 9a12c7e98d6964de",
        ),
        (
            "heuristic",
            gangs(GangVariant::Heuristic, 53, 30, 200, 1),
            "53 machines ca8eca96a644e7f1, 106 licenses 2d6fdc92abbb4efb, 30 jobs c9702b0b8f5dd388",
        ),
        (
            "nothing",
            gangs(GangVariant::Base, 0, 0, 100, 0),
            "0 machines cbf29ce484222325, 0 licenses cbf29ce484222325, 0 jobs cbf29ce484222325",
        ),
    ] {
        assert_eq!(digests(&workload, 7), expected, "{name}");
    }
}

#[test]
fn the_ads_of_an_index_stay_the_same() {
    let index = |ads, attributes, mix, omitted, constraint: &str| IndexWorkload {
        ads,
        attributes,
        mix,
        omitted,
        constraint: constraint.to_owned(),
    };
    for (name, workload, expected) in [
        (
            "default",
            IndexWorkload { ads: 50, ..IndexWorkload::default() },
            "50 objects 32c578cb8afa6ad1, 50 queries 35ceb9bf313d8d68",
        ),
        (
            "odd",
            index(40, 5, DomainMix::Mixed, 0.2, "Requirements"),
            "40 objects ac4e8c98c1d48d34, 40 queries d1ec4e0974393746",
        ),
        (
            "even",
            index(40, 6, DomainMix::Mixed, 0.0, "Requirements"),
            "40 objects 344d118bfe31feb4, 40 queries e39f6e12480a51b3",
        ),
        ("13", index(9, 13, DomainMix::Diverse, 0.5, "Rank"), "9 objects a9f4ee22a8ebc4cc, 9 queries 4dd8042183590445"),
        ("14", index(9, 14, DomainMix::Diverse, 0.0, "Rank"), "9 objects 0256a32ca7b57fcf, 9 queries 05af8f1356c0cf64"),
        ("30", index(9, 30, DomainMix::Ten, 0.1, "Rank"), "9 objects 9f8700c3a80fc277, 9 queries 349450e289b69ce5"),
        ("bare", index(2, 4, DomainMix::Ten, 1.0, "Rank"), "2 objects 2066cad5fe90bfaf, 2 queries 2066cad5fe90bfaf"),
        ("none", index(0, 4, DomainMix::Ten, 0.0, "Rank"), "0 objects cbf29ce484222325, 0 queries cbf29ce484222325"),
    ] {
        assert_eq!(digests(&workload, 7), expected, "{name}");
    }
}

#[test]
fn the_ads_of_a_pool_stay_the_same() {
    let pool =
        |machines, jobs, users, shapes| PoolWorkload { machines, jobs, users, shapes, ..PoolWorkload::default() };
    for (name, workload, digest, jobs) in [
        (
            "many",
            pool(150, 300, 20, 150),
            "150 machines 89d91448535d281b, 300 jobs 89a90e439832169e",
            "jobs: 241 ordinary, 31 that few machines suit, 5 with a contradiction, 7 with a misspelt attribute, 3 \
             for more memory than any machine has, 12 for an operating system that no machine has any more, 1 for \
            another architecture",
        ),
        (
            "one request",
            pool(2, 90, 3, 1),
            "2 machines 55f4b95bfff09912, 90 jobs 367f12fe3e6d3e6c",
            "jobs: 90 that few machines suit",
        ),
        (
            "at least one user and request",
            pool(3, 4, 0, 0),
            "3 machines 319cea8ef4607345, 4 jobs 4e870315369943ef",
            "jobs: 4 that few machines suit",
        ),
        (
            "more requests than jobs",
            pool(1, 3, 5, 9),
            "1 machines 88dadfbd9e884678, 3 jobs 08b9c92b95414e68",
            "jobs: 2 ordinary, 1 that few machines suit",
        ),
        (
            "no match",
            PoolWorkload { never: 1.0, few: 0.0, ..pool(0, 40, 5, 40) },
            "0 machines cbf29ce484222325, 40 jobs 4172f94a28e07ae0",
            "jobs: 5 with a contradiction, 10 with a misspelt attribute, 9 for more memory than any machine has, 12 \
             for an operating system that no machine has any more, 4 for another architecture",
        ),
        (
            "few matches",
            PoolWorkload { never: 0.0, few: 1.0, ..pool(12, 40, 5, 40) },
            "12 machines 736cd86f428a9457, 40 jobs 87f8e5b363301dc9",
            "jobs: 40 that few machines suit",
        ),
        (
            "usual",
            PoolWorkload { never: 0.0, few: 0.0, ..pool(0, 40, 5, 40) },
            "0 machines cbf29ce484222325, 40 jobs 6dc5690c5ccd7844",
            "jobs: 40 ordinary",
        ),
    ] {
        assert_eq!(digests(&workload, 7), digest, "{name}");
        assert_eq!(workload.remark(AdKind::Jobs, 7).unwrap(), jobs, "remark {name}");
        assert_eq!(workload.remark(AdKind::Machines, 7), None);
    }
    assert_eq!(pool(5, 0, 1, 1).remark(AdKind::Jobs, 7), None);
    assert_eq!(texts(&pool(5, 0, 1, 1), AdKind::Jobs, 7), [""; 0]);
}

/// The thesis says what these ads have: Figures 19, 20 and 28 to 30.
#[test]
fn the_ads_are_those_of_the_thesis() {
    let gang = GangWorkload { machines: 3, jobs: 1, ..GangWorkload::new(GangVariant::Dud) };
    let index = IndexWorkload { ads: 1, omitted: 0.0, ..IndexWorkload::default() };
    let first = |workload: &dyn AdGenerator, kind| texts(workload, kind, 1)[0].clone();
    for (kind, found, expected) in [
        (
            "machine",
            first(&gang, AdKind::Machines),
            "[ Key = 0; Type = \"Machine\"; Arch = \"INTEL\"; OpSys = \"WINNT40\"; Memory = 134217728.0; \
             VirtualMemory = 151069135.48181456; Ports = { [ Label = Job; Constraint = Job.MemoryReqs < Memory - \
            15728640 ] } ]",
        ),
        (
            "dud",
            texts(&gang, AdKind::Machines, 1)[3].clone(),
            "[ Key = 1000003; Type = \"Machine\"; Arch = \"INTEL\"; OpSys = \"LINUX\"; Memory = 838860800.0; \
             VirtualMemory = 1509949440.0; Ports = { [ Label = Job; Constraint = Job.MemoryReqs < Memory - 15728640 ] \
            } ]",
        ),
        (
            "last dud",
            texts(&gang, AdKind::Machines, 1)[9].clone(),
            "[ Key = 1000009; Type = \"Machine\"; Arch = \"SUN4u\"; OpSys = \"SOLARIS27\"; Memory = 838860800.0; \
             VirtualMemory = 1509949440.0; Ports = { [ Label = Job; Constraint = Job.MemoryReqs < Memory - 15728640 ] \
            } ]",
        ),
        (
            "license",
            first(&gang, AdKind::Licenses),
            "[ Type = \"License\"; App = \"sim_app\"; Ports = { [ Label = Site; Constraint = Site.HostID >= 0 && \
             Site.HostID < 3 ] } ]",
        ),
        (
            "dud license",
            texts(&gang, AdKind::Licenses, 1)[3].clone(),
            "[ Type = \"License\"; App = \"sim_app\"; Ports = { [ Label = Site; Constraint = Site.HostID >= -2 && \
             Site.HostID < -1 ] } ]",
        ),
        (
            "job",
            first(&gang, AdKind::Jobs),
            "[ Ports = { [ Label = Cpu; ImageSize = 29750573.649619; MemoryReqs = 10698666.761639; Constraint = \
             Cpu.Arch == \"INTEL\" && Cpu.OpSys == \"WINNT40\" && Cpu.VirtualMemory > ImageSize ], [ Label = License; \
            HostId = Cpu.Key; Constraint = License.App == \"sim_app\" ] } ]",
        ),
        (
            "object",
            first(&index, AdKind::Objects),
            "[ A = 9; B = 5; C = 8; D = 1; Requirements = other.Z <= 4 && other.Y <= 6 && other.X >= 8 && other.W <= \
             1 ]",
        ),
        (
            "query",
            first(&index, AdKind::Queries),
            "[ Z = 2; Y = 4; X = 9; W = 7; Requirements = other.A >= 7 && other.B >= 8 && other.C <= 6 && other.D <= \
             1 ]",
        ),
    ] {
        assert_eq!(found, expected, "{kind}");
    }
}

#[test]
fn each_workload_has_its_kinds_and_names() {
    let (gang, index, pool) = (GangWorkload::new(GangVariant::Base), IndexWorkload::default(), PoolWorkload::default());
    for (workload, expected) in
        [(&gang as &dyn AdGenerator, "machines licenses jobs"), (&index, "objects queries"), (&pool, "machines jobs")]
    {
        let names: Vec<_> = workload.kinds().iter().map(|kind| kind.name()).collect();
        assert_eq!(names.join(" "), expected);
        for kind in AdKind::ALL {
            // A workload has no ads of the kinds of the others.
            let has_kind = workload.kinds().contains(&kind);
            assert_eq!(workload.ads(kind, 1).next().is_some(), has_kind, "{kind:?}");
            assert_eq!(workload.remark(kind, 1).is_some(), expected == "machines jobs" && kind == AdKind::Jobs);
        }
        assert_eq!(workload.contradiction(), None);
    }
    assert_eq!(GangVariant::ALL.map(GangVariant::name), ["base", "dud", "heuristic"]);
    assert_eq!(DomainMix::ALL.map(DomainMix::name), ["T", "M", "D"]);
    for (machines, selectivity, expected) in [
        (3, 2, None),
        (3, 3, None),
        (3, 4, Some("--selectivity 4 is greater than the number of machines, 3".to_owned())),
    ] {
        let gang = GangWorkload { machines, selectivity, ..gang.clone() };
        assert_eq!(gang.contradiction(), expected);
    }
    let defaults = GangVariant::ALL.map(|variant| {
        let gang = GangWorkload::new(variant);
        (gang.machines, gang.jobs, gang.license_percent, gang.selectivity)
    });
    assert_eq!(defaults, [(100, 100, 100, 1), (100, 100, 100, 1), (500, 500, 200, 1)]);
}
