//! Attributes that an ad defines twice.

use std::collections::HashMap;

use classad::ad::{Ad, Name};
use classad::format::AttributeSpan;

/// Minimum number of repeated attributes of an ad that most likely is several ads.
const MIN_REPEATED_OF_JOINED: usize = 10;

/// Definitions of an ad that repeat an earlier one.
pub struct RepeatedDefinitions<'p> {
    /// The definitions without effect, each with the one that follows it.
    pub pairs: Vec<(&'p AttributeSpan, &'p AttributeSpan)>,
    /// Number of distinct attributes.
    distinct: usize,
}

impl<'p> RepeatedDefinitions<'p> {
    pub fn of(places: &'p [AttributeSpan]) -> Self {
        let mut last: HashMap<&Name, &AttributeSpan> = HashMap::new();
        let mut pairs = Vec::new();
        for place in places {
            pairs.extend(last.insert(&place.name, place).map(|before| (before, place)));
        }
        RepeatedDefinitions { pairs, distinct: last.len() }
    }

    /// Whether the ad most likely is several ads that nothing separates.
    pub fn is_joined(&self) -> bool {
        self.pairs.len() >= MIN_REPEATED_OF_JOINED && self.pairs.len() >= self.distinct
    }

    /// Whether a daemon of HTCondor wrote the ad, with whatever it repeats.
    pub fn are_of_daemon(ad: &Ad) -> bool {
        IDENTITIES.iter().any(|name| ad.get_str(name).is_some())
    }
}

/// The attributes that tell that a daemon of HTCondor wrote an ad: the global identity of a job, the address of a slot.
const IDENTITIES: [&str; 2] = ["GlobalJobId", "MyAddress"];
