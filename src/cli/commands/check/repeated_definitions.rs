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

#[cfg(test)]
mod tests {
    use classad::ad::Dialect;
    use classad::format::{FileFormat, attribute_spans};

    use super::RepeatedDefinitions;

    #[test]
    fn ten_repeated_attributes_are_several_ads_unless_most_are_not_repeated() {
        for (repeated, others, is_joined) in
            [(9, 0, false), (10, 0, true), (10, 1, false), (11, 0, true), (12, 3, false)]
        {
            let names = (0..repeated).map(|number| format!("A{number}"));
            let others = (0..others).map(|number| format!("B{number}"));
            let lines = names.clone().chain(others).chain(names).map(|name| format!("{name} = 1\n"));
            let text = lines.collect::<Vec<_>>().concat();
            let places = attribute_spans(text.as_bytes(), FileFormat::Long, 0, Dialect::Condor);
            let definitions = RepeatedDefinitions::of(&places);
            assert_eq!((definitions.pairs.len(), definitions.is_joined()), (repeated, is_joined));
        }
        // Of three definitions, each but the last has no effect.
        let places = attribute_spans(b"A = 1\nB = 2\na = 3\nA = 4\n", FileFormat::Long, 0, Dialect::Condor);
        let starts = RepeatedDefinitions::of(&places).pairs;
        let starts: Vec<_> = starts.iter().map(|(one, next)| (one.name_range.start, next.name_range.start)).collect();
        assert_eq!(starts, [(0, 12), (12, 18)]);
    }
}
