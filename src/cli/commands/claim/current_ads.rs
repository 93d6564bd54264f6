//! The current ads of the parties of matches, and how they are found.

use std::collections::HashMap;

use classad::eval::Context;
use classad::matching::Party;
use classad::matching::claim::Veto;
use classad::protocol::{Advertisement, parent_slot_name};

use crate::cli::io::named_ad::NamedAd;

/// The ads as they are now, by their identities.
pub struct CurrentAds {
    pub ads: Vec<NamedAd>,
    /// For each identity, the ads that have it: their indexes, and their kinds (`MyType`).
    by_name: HashMap<String, Vec<(usize, Option<String>)>>,
    /// The dynamic slots of each partitionable slot: their indexes, by the name of the slot.
    dynamic_slots: HashMap<String, Vec<usize>>,
}

impl CurrentAds {
    pub fn new(ads: Vec<NamedAd>, context: &Context) -> Self {
        let mut by_name: HashMap<String, Vec<(usize, Option<String>)>> = HashMap::new();
        let mut dynamic_slots: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, ad) in ads.iter().enumerate() {
            if let Some(parent) = parent_slot_name(&ad.ad, ad.id(), context) {
                dynamic_slots.entry(parent).or_default().push(index);
            }
            let kind = Advertisement::new(&ad.ad, context).kind();
            if ad.record_id() != ad.id() {
                by_name.entry(ad.record_id().to_owned()).or_default().push((index, kind.clone()));
            }
            by_name.entry(ad.id().to_owned()).or_default().push((index, kind));
        }
        CurrentAds { ads, by_name, dynamic_slots }
    }

    /// Whether an ad has this name.
    pub fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Returns the dynamic slots of a slot.
    pub fn dynamic_slots(&self, slot: &str) -> &[usize] {
        self.dynamic_slots.get(slot).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the index of the ad that a party of a match stands for.
    ///
    /// # Errors
    ///
    /// Fails if no ad, or more than one, has the name and the kind of the party. A party without a kind fits ads of
    /// every kind.
    pub fn find(&self, party: &Party) -> Result<usize, Veto> {
        let of_name = self.by_name.get(party.advertised_id()).into_iter().flatten();
        let of_kind = of_name.filter(|(_, kind)| party.kind.is_none() || *kind == party.kind);
        match *of_kind.map(|(index, _)| *index).collect::<Vec<usize>>() {
            [] => Err(Veto::Gone),
            [only] => Ok(only),
            ref several => Err(Veto::Ambiguous(several.len())),
        }
    }
}
