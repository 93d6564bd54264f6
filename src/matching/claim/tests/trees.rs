//! Claims of deep gangs: who is claimed, the messages, and what is evaluated.

use super::{
    Ad, ClaimMessageKind, Claimer, Context, Dialect, MatchKind, Notice, Party, Protocol, Veto, ad, claimer, party, told,
};

/// A job with a service, which has a host, which has a disk; and with a key.
fn deep() -> Notice {
    let parties = [
        ("job", None),
        ("service", Some((0, "service", 0))),
        ("host", Some((1, "host", 0))),
        ("disk", Some((2, "disk", 1))),
        ("key", Some((0, "key", 0))),
    ];
    let parties = parties.map(|(id, docked)| party(id, docked)).to_vec();
    Notice::new(MatchKind::Gang, parties, None)
}

const JOB: &str =
    "[ A = 1; Ports = { [ Label = service; Constraint = service.B > 1 ], [ Label = key; Constraint = true ] } ]";
const SERVICE: &str =
    "[ B = 2; Ports = { [ Label = user; Constraint = user.A == 1 ], [ Label = host; Constraint = host.C > 2 ] } ]";
const HOST: &str =
    "[ C = 3; Ports = { [ Label = user; Constraint = user.B == 2 ], [ Label = disk; Constraint = disk.D > 3 ] } ]";
const DISK: &str = "[ D = 4; Ports = { [ Min = 0; Ports = { [ Label = spare; Constraint = spare.E ] } ], [ Label = user; \
    Constraint = user.C == 3 && spare.E is undefined ] } ]";
const KEY: &str = "[ Constraint = other.A == 1 ]";

fn with(text: &str, more: &str) -> String {
    text.replacen("[ ", &format!("[ {more}; "), 1)
}

/// Returns who is claimed, the vetoes, the messages and the number of evaluations.
fn claimed(notice: &Notice, ads: &[Option<&str>]) -> String {
    let current: Vec<Ad> = ads.iter().flatten().map(|text| ad(text)).collect();
    let mut next = 0;
    let mut indexes = Vec::new();
    for text in ads {
        indexes.push(if text.is_some() { Ok(next) } else { Err(Veto::Gone) });
        next += usize::from(text.is_some());
    }
    let mut claimer = claimer(&current);
    let result = claimer.claim(notice, &indexes);
    let message = |of: &super::super::ClaimMessage| {
        let word = if of.kind == ClaimMessageKind::Abort { "abort" } else { of.kind.as_str() };
        format!("{}:{}{}{}", of.round, of.from, word, of.to)
    };
    let messages: Vec<String> = result.transcript.iter().map(message).collect();
    format!("{} | {} | {} {}", told(notice, &result), messages.join(" "), claimer.evaluations, claimer.failures)
}

#[test]
fn gangs_are_claimed_as_far_as_they_can_be() {
    let partial = "AcceptPartial = true";
    let rows: Vec<([Option<String>; 5], &str)> = vec![
        (
            [JOB, SERVICE, HOST, DISK, KEY].map(|text| Some(text.to_owned())),
            "job service host disk key | 1:0VERIFY1 1:1VERIFY2 1:2VERIFY3 1:3OK2 1:2OK1 1:1OK0 1:0VERIFY4 1:4OK0 1:0COMMIT1 1:1COMMIT2 1:2COMMIT3 1:0COMMIT4 | 8 0",
        ),
        (
            [Some(JOB.to_owned()), Some(SERVICE.to_owned()), Some(HOST.to_owned()), None, Some(KEY.to_owned())],
            "; job: it requires service; service: it requires host; host: it requires disk; disk: it is not among the current ads | 1:0VERIFY1 1:1VERIFY2 1:2VERIFY3 1:3ABORT2 1:2ABORT1 1:1ABORT0 1:0VERIFY4 1:4OK0 1:0abort4 | 2 0",
        ),
        (
            [Some(JOB.to_owned()), Some(SERVICE.to_owned()), Some(with(HOST, partial)), None, Some(KEY.to_owned())],
            "job service host key; disk: it is not among the current ads | 1:0VERIFY1 1:1VERIFY2 1:2VERIFY3 1:3ABORT2 1:2OK1 1:1OK0 1:0VERIFY4 1:4OK0 2:0VERIFY1 2:1VERIFY2 2:2OK1 2:1OK0 2:0VERIFY4 2:4OK0 2:0COMMIT1 2:1COMMIT2 2:0COMMIT4 | 14 0",
        ),
        (
            [Some(JOB.to_owned()), Some(with(SERVICE, partial)), Some(HOST.to_owned()), None, Some(KEY.to_owned())],
            "job service key; host: it requires disk; disk: it is not among the current ads | 1:0VERIFY1 1:1VERIFY2 1:2VERIFY3 1:3ABORT2 1:2ABORT1 1:1OK0 1:0VERIFY4 1:4OK0 2:0VERIFY1 2:1OK0 2:0VERIFY4 2:4OK0 2:0COMMIT1 2:0COMMIT4 | 10 0",
        ),
        (
            [Some(with(JOB, partial)), Some(SERVICE.to_owned()), Some(HOST.to_owned()), None, Some(KEY.to_owned())],
            "job key; service: it requires host; host: it requires disk; disk: it is not among the current ads | 1:0VERIFY1 1:1VERIFY2 1:2VERIFY3 1:3ABORT2 1:2ABORT1 1:1ABORT0 1:0VERIFY4 1:4OK0 2:0VERIFY4 2:4OK0 2:0COMMIT4 | 6 0",
        ),
        (
            [Some(with(JOB, partial)), Some(SERVICE.to_owned()), None, Some(DISK.to_owned()), Some(KEY.to_owned())],
            "job key; service: it requires host; host: it is not among the current ads | 1:0VERIFY1 1:1VERIFY2 1:2ABORT1 1:1ABORT0 1:0VERIFY4 1:4OK0 2:0VERIFY4 2:4OK0 2:0COMMIT4 | 6 0",
        ),
        (
            [Some(with(JOB, partial)), None, Some(HOST.to_owned()), Some(DISK.to_owned()), None],
            "job; service: it is not among the current ads; key: it is not among the current ads | 1:0VERIFY1 1:1ABORT0 1:0VERIFY4 1:4ABORT0 | 2 0",
        ),
        (
            [None, Some(SERVICE.to_owned()), Some(HOST.to_owned()), Some(DISK.to_owned()), Some(KEY.to_owned())],
            "; job: it is not among the current ads |  | 0 0",
        ),
        // A party that stays needs what was lost: it votes again, and is lost in another round.
        (
            [
                Some(with(JOB, partial)),
                Some(with(&SERVICE.replace("user.A == 1", "user.A == 1 && host.C is 3"), partial)),
                Some(with(HOST, partial)),
                Some(DISK.to_owned()),
                Some(KEY.replace("== 1", "== 2")),
            ],
            "job; service: it does not accept job; key: it does not accept job | 1:0VERIFY1 1:1VERIFY2 1:2VERIFY3 1:3OK2 1:2OK1 1:1ABORT0 1:0VERIFY4 1:4ABORT0 1:1abort2 1:2abort3 | 10 0",
        ),
        (
            [
                Some(with(JOB, partial)),
                Some(with(&SERVICE.replace("user.A == 1", "host.D2 is 3"), partial)),
                Some(with(&HOST.replace("C = 3", "C = 3; D2 = disk.D is undefined ? 4 : 3"), partial)),
                Some(DISK.replace("== 3", "== 9")),
                Some(KEY.to_owned()),
            ],
            "job key; service: it does not accept job; disk: it does not accept host | 1:0VERIFY1 1:1VERIFY2 1:2VERIFY3 1:3ABORT2 1:2OK1 1:1ABORT0 1:0VERIFY4 1:4OK0 1:1abort2 2:0VERIFY4 2:4OK0 2:0COMMIT4 | 13 0",
        ),
        (
            [
                Some(with(
                    JOB,
                    "AcceptPartial = size(aborted) == 2 && aborted[0] == \"service\" && aborted[1] == \"key\"",
                )),
                Some(SERVICE.replace("== 1", "== 9")),
                Some(HOST.to_owned()),
                Some(DISK.to_owned()),
                Some(KEY.replace("== 1", "== 2")),
            ],
            "job; service: it does not accept job; key: it does not accept job | 1:0VERIFY1 1:1VERIFY2 1:2VERIFY3 1:3OK2 1:2OK1 1:1ABORT0 1:0VERIFY4 1:4ABORT0 1:1abort2 1:2abort3 | 10 0",
        ),
        (
            [
                Some(with(JOB, "AcceptPartial = aborted")),
                Some(SERVICE.to_owned()),
                Some(HOST.to_owned()),
                Some(DISK.to_owned()),
                None,
            ],
            "; job: it requires key; key: it is not among the current ads | 1:0VERIFY1 1:1VERIFY2 1:2VERIFY3 1:3OK2 1:2OK1 1:1OK0 1:0VERIFY4 1:4ABORT0 1:0abort1 1:1abort2 1:2abort3 | 7 0",
        ),
    ];
    for (ads, expected) in rows {
        let ads = ads.each_ref().map(|text| text.as_deref());
        assert_eq!(claimed(&deep(), &ads), expected, "{ads:?}");
    }
}

/// Dockings that the ads do not have: wrong labels, links and ports.
#[test]
fn dockings_that_do_not_fit_are_refused() {
    let plain = "[ A = 1; B = 2; Constraint = other.A is 1 || other.B is 2 ]";
    for (kind, label, link, job, offer, expected) in [
        (MatchKind::Gang, "other", 0, plain, plain, "job offer | 1:0VERIFY1 1:1OK0 1:0COMMIT1 | 2 0"),
        (MatchKind::Gang, "OTHER", 0, plain, plain, "job offer | 1:0VERIFY1 1:1OK0 1:0COMMIT1 | 2 0"),
        (
            MatchKind::Gang,
            "target",
            0,
            plain,
            plain,
            "; job: it requires target; offer: job has no port `target` | 1:0VERIFY1 1:1ABORT0 | 0 0",
        ),
        (
            MatchKind::Gang,
            "other",
            1,
            plain,
            plain,
            "; job: it requires other; offer: it has no port 2 | 1:0VERIFY1 1:1ABORT0 | 0 0",
        ),
        (
            MatchKind::Gang,
            "service",
            0,
            JOB,
            plain,
            "; job: its port `key` has no offer | 1:0VERIFY1 1:1OK0 1:0abort1 | 0 0",
        ),
        (
            MatchKind::Gang,
            "Service",
            0,
            JOB,
            plain,
            "; job: its port `key` has no offer | 1:0VERIFY1 1:1OK0 1:0abort1 | 0 0",
        ),
        (
            MatchKind::Gang,
            "service",
            0,
            "[ A = 1; Ports = { [ Label = service; Constraint = service.B > 1 ] } ]",
            plain,
            "job offer | 1:0VERIFY1 1:1OK0 1:0COMMIT1 | 2 0",
        ),
        (
            MatchKind::Gang,
            "service",
            0,
            "[ A = 1; Ports = { [ Label = service ] } ]",
            plain,
            "; job: it requires service; offer: the port `service` of job does not accept it | 1:0VERIFY1 1:1ABORT0 | 0 0",
        ),
        (
            MatchKind::Gang,
            "service",
            0,
            "[ A = 1; Ports = { [ Label = service; Constraint = true ] } ]",
            "[ B = 2 ]",
            "; job: it requires service; offer: it does not accept job | 1:0VERIFY1 1:1ABORT0 | 1 0",
        ),
        (
            MatchKind::Pair,
            "other",
            0,
            plain,
            SERVICE,
            "; job: it requires other; offer: it does not accept job | 1:0VERIFY1 1:1ABORT0 | 1 0",
        ),
        (
            MatchKind::Pair,
            "other",
            0,
            JOB,
            plain,
            "; job: it requires other; offer: job does not accept it | 1:0VERIFY1 1:1ABORT0 | 0 0",
        ),
        (
            MatchKind::Gang,
            "service",
            0,
            "[ A = 1; Ports = { [ Min = 1; Max = 1; Ports = { [ Label = service; Constraint = key.B is undefined ], [ Label = key; Constraint = true ] } ] } ]",
            plain,
            "job offer | 1:0VERIFY1 1:1OK0 1:0COMMIT1 | 2 0",
        ),
        (
            MatchKind::Gang,
            "service",
            0,
            "[ A = 1; Ports = { [ Min = 2; Max = 2; Ports = { [ Label = service; Constraint = true ], [ Label = key; Constraint = true ] } ] } ]",
            plain,
            "; job: its port `key` has no offer | 1:0VERIFY1 1:1OK0 1:0abort1 | 0 0",
        ),
    ] {
        let notice = Notice::new(kind, vec![party("job", None), party("offer", Some((0, label, link)))], None);
        assert_eq!(claimed(&notice, &[Some(job), Some(offer)]), expected, "{kind:?} {label} {link} {job} {offer}");
    }
}

#[test]
fn constraints_that_are_too_long_refuse_and_fail() {
    let long = ["other.A"; 300].join(" + ");
    let notice = Notice::new(MatchKind::Pair, vec![party("job", None), party("offer", Some((0, "other", 0)))], None);
    for (job, offer, expected) in [
        (
            format!("[ A = 1; Constraint = {long} > 0 ]"),
            "[ A = 1; Constraint = true ]".to_owned(),
            "; job: it requires other; offer: job does not accept it | 1 1",
        ),
        (
            "[ A = 1; Constraint = true ]".to_owned(),
            format!("[ A = 1; Constraint = {long} > 0 ]"),
            "; job: it requires other; offer: it does not accept job | 2 1",
        ),
        (
            format!("[ A = 1; Constraint = true; AcceptPartial = {long} > 0 ]"),
            "[ A = 1; Constraint = false ]".to_owned(),
            "; job: it requires other; offer: it does not accept job | 3 1",
        ),
    ] {
        let context = Context { max_steps: 200, ..Context::new(Dialect::Classad) };
        let mut claimer = Claimer::new(&[ad(&job), ad(&offer)], Protocol::new(Dialect::Classad), context, None);
        let result = claimer.claim(&notice, &[Ok(0), Ok(1)]);
        let found = format!("{} | {} {}", told(&notice, &result), claimer.evaluations, claimer.failures);
        assert_eq!(found, expected, "{job} {offer}");
    }
}

/// What is told of each row of `portions_are_claimed`.
const PORTIONS: [&str; 11] = [
    "job slot {Cpus 2, Memory 128, Disk 1024} | ; job: the match f351f9656732a871 has already claimed it {} | ; job: the match f351f9656732a871 has already claimed it {}",
    "job slot {Cpus 2, Memory error, Disk error} | ; job: the match f351f9656732a871 has already claimed it {} | ; job: the match f351f9656732a871 has already claimed it {}",
    "job slot {Cpus 2, Memory error, Disk error, Licences 3} | ; job: the match f351f9656732a871 has already claimed it; slot: it has too little Licences left {} | ; job: the match f351f9656732a871 has already claimed it; slot: it has too little Licences left {}",
    "job slot {Cpus 2, Memory error, Disk error} | ; job: the match f351f9656732a871 has already claimed it {} | ; job: the match f351f9656732a871 has already claimed it {}",
    "; job: it requires other; slot: it has too little Licences left {} | ; job: it requires other; slot: it has too little Licences left {} | ; job: it requires other; slot: it has too little Licences left {}",
    "; job: it requires other; slot: it has too little Cpus left {} | ; job: it requires other; slot: it has too little Cpus left {} | ; job: it requires other; slot: it has too little Cpus left {}",
    "job slot#2 {Cpus 1, Memory 10, Licences 3} | ; job: the match 7305fffb4e9f4238 has already claimed it; slot#2: it has too little Licences left {} | ; job: the match 7305fffb4e9f4238 has already claimed it; slot#2: it has too little Licences left {}",
    "job slot#2 {Cpus 1, Licences 1} | ; job: the match 7305fffb4e9f4238 has already claimed it {} | ; job: the match 7305fffb4e9f4238 has already claimed it {}",
    "job slot {} | ; job: the match f351f9656732a871 has already claimed it; slot: the match f351f9656732a871 has already claimed it {} | ; job: the match f351f9656732a871 has already claimed it; slot: the match f351f9656732a871 has already claimed it {}",
    "job slot#2 {Cpus 3} | ; job: the match 7305fffb4e9f4238 has already claimed it {} | ; job: the match 7305fffb4e9f4238 has already claimed it {}",
    "job slot#2 {} | ; job: the match 7305fffb4e9f4238 has already claimed it {} | ; job: the match 7305fffb4e9f4238 has already claimed it {}",
];

/// Of a partitionable slot, a job claims what it asks for, also where no notice says it.
#[test]
fn portions_are_claimed() {
    let parsed = |text: &str| {
        crate::syntax::parse_ad(
            format!("[ Requirements = true; {text} ]").as_bytes(),
            crate::syntax::ParseOptions::new(Dialect::Condor),
        )
        .unwrap()
    };
    let slot = "PartitionableSlot = true; Cpus = 8; Memory = 4096; Disk = 100000; Licences = 5; MachineResources = \"Cpus Memory Disk Licences\"";
    let shown = |ad: &Ad| ad.iter().map(|of| format!("{} {}", of.name, of.expression)).collect::<Vec<_>>().join(", ");
    let rows = [
        ("RequestCpus = 2; RequestMemory = 100; RequestDisk = 5", slot, None, false),
        ("RequestCpus = 2", slot, None, false),
        ("RequestCpus = 2; RequestLicences = 3", slot, None, false),
        ("RequestCpus = 2; RequestLicences = \"x\"; RequestOthers = 4", slot, None, false),
        ("RequestCpus = 2; RequestLicences = 6", slot, None, false),
        ("RequestCpus = 9", slot, None, false),
        ("RequestCpus = 2; RequestLicences = 3", slot, Some("Cpus = 1; Memory = 10"), true),
        ("RequestCpus = 2; RequestLicences = 3", slot, Some("Cpus = 1; Licences = 1"), true),
        ("RequestCpus = 2", "Cpus = 8; Memory = 4096", None, false),
        ("RequestCpus = 2", "Cpus = 8; Memory = 4096", Some("Cpus = 3"), true),
        ("RequestCpus = 2", "Cpus = 8; Memory = 4096", None, true),
    ];
    assert_eq!(rows.len(), PORTIONS.len());
    for ((job, offer, named, is_part), expected) in rows.into_iter().zip(PORTIONS) {
        let offer_party = party("slot", Some((0, "other", 0)));
        let offer_party = if is_part { offer_party.into_part(2) } else { offer_party };
        let parties =
            vec![party("job", None), Party { portion: named.map(|text| ad(&format!("[ {text} ]"))), ..offer_party }];
        let notice = Notice::new(MatchKind::Pair, parties, None);
        let ads = [parsed(job), parsed(offer)];
        let mut claimer = Claimer::new(&ads, Protocol::new(Dialect::Condor), Context::new(Dialect::Condor), None);
        let mut found = Vec::new();
        for _ in 0..3 {
            let result = claimer.claim(&notice, &[Ok(0), Ok(1)]);
            let portion = result.portions.get(&1).map(shown).unwrap_or_default();
            found.push(format!("{} {{{portion}}}", told(&notice, &result)));
        }
        // The job is claimed as a whole: a second match of it fails.
        assert_eq!(found.join(" | "), expected, "{job} {offer} {named:?}");
    }
}
