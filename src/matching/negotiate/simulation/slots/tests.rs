use super::{GrantedOffer, NarrowAds, SimulatedSlots, evaluate_attribute, uses};
use crate::ad::{Ad, Dialect, Name};
use crate::eval::Context;
use crate::matching::Candidate;
use crate::matching::negotiate::NegotiationSettings;
use crate::matching::policy::{Policy, ready_policy};
use crate::protocol::Protocol;
use crate::syntax::{ParseOptions, parse_ad};

#[test]
fn each_slot_counts_for_its_user() {
    let ads: Vec<Ad> =
        ["RemoteUser = \"bob\"; State = \"Claimed\"; SlotWeight = 4; Cpus = 4", "State = \"Unclaimed\"; Cpus = 1"]
            .iter()
            .map(|text| parse_ad(format!("[ {text} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap())
            .collect();
    let of = |policy: Policy| {
        let context = Context::new(Dialect::Condor);
        uses(&ads, &NegotiationSettings::new(policy, Protocol::new(Dialect::Condor), context))
    };
    // Without shares, all slots weigh the same.
    assert_eq!(of(Policy::default()), [Some(("bob".to_owned(), 1.0)), None]);
    let text = ready_policy("htcondor").unwrap();
    let weighted = of(Policy::parse(text.as_bytes(), Dialect::Condor).unwrap());
    assert_eq!(weighted, [Some(("bob".to_owned(), 4.0)), None]);
}

fn shown(ad: &Ad, context: &Context) -> String {
    let names = [
        "State",
        "Activity",
        "Cpus",
        "Memory",
        "GPUs",
        "RemoteUser",
        "CurrentRank",
        "RetirementTimeRemaining",
        "TotalJobRunTime",
        "EnteredCurrentState",
        "ConcurrencyLimits",
        "NumDynamicSlots",
        "SlotType",
        "Name",
    ];
    let value = |name: &&str| Some(format!("{name} {}", evaluate_attribute(ad, &Name::new(name), context)?));
    names.iter().filter_map(value).collect::<Vec<_>>().join(", ")
}

/// Portions of a slot, whether it has them, and what is told of the new slot.
const PORTIONS: &[(&str, bool, &str)] = &[
    (
        "Cpus = 3; Memory = 100",
        true,
        "slot1_1@h 3 slot1@h#2 State \"Claimed\", Activity \"Busy\", Cpus 3, Memory 100, RemoteUser \"ann@d\", CurrentRank 4.0, RetirementTimeRemaining 0, TotalJobRunTime 0, EnteredCurrentState 1080, ConcurrencyLimits \"sw\", SlotType \"Dynamic\", Name \"slot1_1@h\" run Some(10) Some(\"ann@d\"); offered [0, 1, 2, 3]",
    ),
    ("Cpus = 2", false, ""),
    (
        "Cpus = 1",
        true,
        "slot1_2@h 4 slot1@h#2 State \"Claimed\", Activity \"Busy\", Cpus 1, Memory 412, RemoteUser \"ann@d\", CurrentRank 4.0, RetirementTimeRemaining 0, TotalJobRunTime 0, EnteredCurrentState 1080, ConcurrencyLimits \"sw\", SlotType \"Dynamic\", Name \"slot1_2@h\" run Some(10) Some(\"ann@d\"); offered [0, 1, 2, 3, 4]",
    ),
];

/// What the ads of slots say when requests come and go.
#[test]
fn slots_change_as_requests_come_and_go() {
    let parsed = |text: &str| parse_ad(format!("[ {text} ]").as_bytes(), ParseOptions::new(Dialect::Condor)).unwrap();
    let machine = "MyType = \"Machine\"; State = \"Unclaimed\"; Activity = \"Idle\"";
    let offers = [
        ("slot1@h", format!("{machine}; Name = \"slot1@h\"; PartitionableSlot = true; SlotType = \"Partitionable\"; Cpus = 4; Memory = 512; SlotWeight = Cpus")),
        ("slot2@h", format!("{machine}; Name = \"slot2@h\"; SlotType = \"Static\"; Cpus = 2; Memory = 256; MaxJobRetirementTime = TARGET.Long; SlotWeight = 3")),
        ("slot3@h", "State = \"Claimed\"; Activity = \"Busy\"; Name = \"slot3@h\"; RemoteUser = \"bob@d\"; Cpus = 1; RetirementTimeRemaining = 40; MyType = \"Machine\"; SlotWeight = 2".to_owned()),
    ];
    let offers: Vec<(String, Ad)> = offers.iter().map(|(name, text)| ((*name).to_owned(), parsed(text))).collect();
    let policy = Policy::parse(ready_policy("htcondor").unwrap().as_bytes(), Dialect::Condor).unwrap();
    let context = |now| Context { now: Some(now), ..Context::new(Dialect::Condor) };
    let settings = NegotiationSettings::new(policy, Protocol::new(Dialect::Condor), context(1000));
    let mut slots = SimulatedSlots::new(&offers, NarrowAds::new(None, &[]), &settings);
    let job =
        parsed("User = \"ann@d\"; Owner = \"ann\"; Long = 90; MaxJobRetirementTime = 70; ConcurrencyLimits = \"sw\"");
    let granted = |portion: Option<&str>| GrantedOffer {
        portion: portion.map(parsed),
        ..GrantedOffer::of_candidate(Candidate { offer: 0, request_rank: 1.0, offer_rank: 4.0 })
    };
    let told = |slots: &mut SimulatedSlots, slot: usize, now: i64| {
        let offered = slots.offers().0;
        format!(
            "{} run {:?} {:?}; offered {offered:?}",
            shown(slots.ad(slot), &context(now)),
            slots.run_in(slot),
            slots.submitter(slot)
        )
    };
    assert_eq!(
        format!("{:?} {:?}", slots.all_uses(), slots.used(&context(1000)).len()),
        "[(\"bob@d\", 2.0)] 1",
        "uses"
    );
    slots.occupy(2, 7, [950, 1000], Dialect::Condor);
    assert_eq!(
        told(&mut slots, 2, 1010),
        "State \"Claimed\", Activity \"Busy\", Cpus 1, RemoteUser \"bob@d\", RetirementTimeRemaining 30, TotalJobRunTime 60, Name \"slot3@h\" run Some(7) Some(\"bob@d\"); offered [0, 1, 2]",
        "occupied"
    );
    let whole = slots.claim(1, &granted(None), (&job, 8), 1000, &settings);
    assert_eq!((whole, slots.set_use(1, "ann@d", &settings).to_bits()), (1, 3_f64.to_bits()));
    assert_eq!(
        told(&mut slots, 1, 1030),
        "State \"Claimed\", Activity \"Busy\", Cpus 2, Memory 256, RemoteUser \"ann@d\", CurrentRank 4.0, RetirementTimeRemaining 40, TotalJobRunTime 30, EnteredCurrentState 1000, ConcurrencyLimits \"sw\", SlotType \"Static\", Name \"slot2@h\" run Some(8) Some(\"ann@d\"); offered [0, 1, 2]",
        "claimed"
    );
    assert_eq!(
        shown(&slots.as_matched(1, 1030, &context(1030)), &context(1030)),
        "State \"Unclaimed\", Activity \"Idle\", Cpus 2, Memory 256, CurrentRank 4.0, RetirementTimeRemaining 40, TotalJobRunTime 30, EnteredCurrentState 1030, SlotType \"Static\", Name \"slot2@h\"",
        "as matched"
    );
    slots.open(1, 1040, &context(1040));
    assert_eq!(
        told(&mut slots, 1, 1040),
        "State \"Claimed\", Activity \"Idle\", Cpus 2, Memory 256, RemoteUser \"ann@d\", CurrentRank 4.0, RetirementTimeRemaining 0, EnteredCurrentState 1000, ConcurrencyLimits \"sw\", SlotType \"Static\", Name \"slot2@h\" run None Some(\"ann@d\"); offered [0, 1, 2]",
        "open"
    );
    slots.reclaim(1, (&parsed("User = \"ann@d\"; ConcurrencyLimits = \"db\""), 9), 1050, &context(1050));
    assert_eq!(
        told(&mut slots, 1, 1060),
        "State \"Claimed\", Activity \"Busy\", Cpus 2, Memory 256, RemoteUser \"ann@d\", CurrentRank 4.0, RetirementTimeRemaining 0, TotalJobRunTime 10, EnteredCurrentState 1000, ConcurrencyLimits \"sw\", SlotType \"Static\", Name \"slot2@h\" run Some(9) Some(\"ann@d\"); offered [0, 1, 2]",
        "claimed again"
    );
    assert_eq!(slots.take_use(1), Some(("ann@d".to_owned(), 3.0)));
    slots.release(1, 1070, &context(1070));
    assert_eq!(
        told(&mut slots, 1, 1070),
        "State \"Unclaimed\", Activity \"Idle\", Cpus 2, Memory 256, CurrentRank 0.0, EnteredCurrentState 1070, SlotType \"Static\", Name \"slot2@h\" run None None; offered [0, 1, 2]",
        "free"
    );
    for &(portion, has, expected) in PORTIONS {
        assert_eq!(slots.has(0, &granted(Some(portion)), &context(1000)), has, "{portion}");
        if has {
            let part = slots.claim(0, &granted(Some(portion)), (&job, 10), 1080, &settings);
            slots.set_use(part, "ann@d", &settings);
            let now = told(&mut slots, part, 1080);
            assert_eq!(format!("{} {part} {} {now}", slots.name(part), slots.part_name(0, 2)), expected, "{portion}");
        }
    }
    assert_eq!(
        told(&mut slots, 0, 1080),
        "State \"Unclaimed\", Activity \"Idle\", Cpus 0, Memory 412, NumDynamicSlots 2, SlotType \"Partitionable\", Name \"slot1@h\" run None None; offered [0, 1, 2, 3, 4]",
        "divided"
    );
    assert_eq!(slots.take_use(3).map(|(_, weight)| weight), Some(3.0));
    slots.release(3, 1090, &context(1090));
    assert_eq!(
        told(&mut slots, 0, 1090),
        "State \"Unclaimed\", Activity \"Idle\", Cpus 3, Memory 512, NumDynamicSlots 1, SlotType \"Partitionable\", Name \"slot1@h\" run None None; offered [0, 1, 2, 4]",
        "a part is back"
    );
    let again = slots.claim(0, &granted(Some("Cpus = 2")), (&job, 11), 1100, &settings);
    assert_eq!((again, slots.name(again)), (3, "slot1_1@h"));
    slots.release_all(1110, &context(1110));
    assert_eq!(
        told(&mut slots, 0, 1110),
        "State \"Unclaimed\", Activity \"Idle\", Cpus 2, Memory 512, NumDynamicSlots 1, SlotType \"Partitionable\", Name \"slot1@h\" run None None; offered [0, 1, 2, 3]",
        "all free"
    );
    assert_eq!(slots.all_uses(), []);
}
