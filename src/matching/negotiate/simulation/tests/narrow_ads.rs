//! What cycles read of ads.

use std::sync::Arc;

use super::super::lasting::NamesOfCycles;
use super::super::narrow_ads::NarrowAds;
use super::ads;
use crate::ad::Dialect;
use crate::eval::Context;
use crate::matching::negotiate::NegotiationSettings;
use crate::matching::policy::Policy;
use crate::protocol::Protocol;

fn settings() -> NegotiationSettings {
    NegotiationSettings::new(Policy::default(), Protocol::new(Dialect::Condor), Context::new(Dialect::Condor))
}

#[test]
fn ads_that_differ_in_what_no_cycle_reads_are_one_ad() {
    let ads = ads(&[
        "[ Requirements = TARGET.Memory > Need; Need = 3 * Base; Base = 1; Clock = 5 ]",
        "[ Clock = 6; Base = 1; Need = 3 * Base; Requirements = TARGET.Memory > Need ]",
        "[ Requirements = TARGET.Memory > Need; Need = 3 * Base; Base = 2; Clock = 5 ]",
        "[ Memory = 8; Clock = 1; Requirements = true ]",
    ]);
    let mut narrowing = NarrowAds::new(NamesOfCycles::of(&settings(), &ads, std::iter::empty()).all, &[]);
    let narrow = ads.iter().map(|ad| narrowing.narrow(ad)).collect::<Vec<_>>();
    let names = |at: usize| narrow[at].iter().map(|attribute| attribute.name.as_str().to_owned()).collect::<Vec<_>>();
    assert_eq!(narrow[0].identity(), narrow[1].identity());
    assert_ne!(narrow[0].identity(), narrow[2].identity());
    assert!(Arc::ptr_eq(narrow[0].shape(), narrow[2].shape()));
    for name in ["Base", "Need", "Requirements"] {
        assert!(names(0).iter().any(|known| known == name), "{name}");
    }
    assert!(names(3).iter().any(|name| name == "Memory"));
    assert!((0..4).all(|at| names(at).iter().all(|name| name != "Clock")));
}

#[test]
fn ads_are_whole_where_a_cycle_may_read_any_attribute() {
    for text in
        ["[ Requirements = eval(Text); Text = \"Clock > 3\"; Clock = 5 ]", "[ Ports = { [ Label = a ] }; Clock = 5 ]"]
    {
        let ads = ads(&[text]);
        let mut narrowing = NarrowAds::new(NamesOfCycles::of(&settings(), &ads, std::iter::empty()).all, &[]);
        assert_eq!(narrowing.narrow(&ads[0]).identity(), ads[0].identity(), "{text}");
    }
}
