//! Headers of advertisements, by which the latest of several ads of one agent is found (thesis 3.4.2).

use std::borrow::Cow;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;

use crate::ad::ByteString;

use super::AdvertisedState;

/// Identity, kind, sequence number and expiration of an advertisement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdvertisementHeader {
    /// Identity of the agent; see [`Advertisement::identity`](super::Advertisement::identity). That of a submitter has
    /// the name of its access point (`ScheddName`) behind it: a user of several ones has an advertisement of each.
    pub identity: Option<ByteString>,
    /// Kind of the advertised thing, such as `Machine`; see [`Advertisement::kind`](super::Advertisement::kind).
    pub kind: Option<ByteString>,
    /// Value of `UpdateSequenceNumber`, which the agent increments with each advertisement; `None` if it is not an
    /// integer.
    pub sequence: Option<i64>,
    /// Last second in which the advertisement is valid, in seconds since 1970; `None` if it never expires.
    pub expiration: Option<i64>,
    /// State of the job or slot; see [`Advertisement::state`](super::Advertisement::state).
    pub state: AdvertisedState,
    /// The user who holds the slot; `None` for an ad of another kind.
    pub holder: Option<ByteString>,
}

impl AdvertisementHeader {
    /// Whether the advertisement has expired at the time `at`, in seconds since 1970.
    #[must_use]
    pub fn has_expired(&self, at: i64) -> bool {
        self.expiration.is_some_and(|expiration| expiration < at)
    }
}

/// Returns for each of `number` ads whether it is the current advertisement of its agent. The current ad has the
/// greatest sequence number, `UpdateSequenceNumber`. An ad without a sequence number is older than any ad with one. If
/// several ads have the greatest number, or if no ad has a number, the last ad is current.
///
/// `header_of` returns the header of the ad with a 0-based index. Two ads come from the same agent if their identities
/// and kinds are equal. An ad without identity is always current. O(n) in the number of ads.
#[must_use]
pub fn latest_advertisements<'s>(
    number: usize,
    header_of: impl Fn(usize) -> Cow<'s, AdvertisementHeader>,
) -> Vec<bool> {
    let hash = |header: &AdvertisementHeader| FxBuildHasher.hash_one((&header.identity, &header.kind));
    // The index of each agent's current ad, among the ads seen so far.
    let mut of_agents: HashTable<usize> = HashTable::with_capacity(number);
    let mut counts = vec![true; number];
    for index in 0..number {
        let new = header_of(index);
        if new.identity.is_none() {
            continue;
        }
        let is_of_agent = |held: &usize| {
            let held = header_of(*held);
            held.identity == new.identity && held.kind == new.kind
        };
        match of_agents.entry(hash(&new), is_of_agent, |held| hash(&header_of(*held))) {
            Entry::Vacant(none) => {
                none.insert(index);
            }
            Entry::Occupied(mut held) => {
                let is_later = new.sequence >= header_of(*held.get()).sequence;
                let replaced = if is_later { std::mem::replace(held.get_mut(), index) } else { index };
                counts[replaced] = false;
            }
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::{AdvertisementHeader, latest_advertisements};
    use crate::ad::{Ad, Dialect};
    use crate::eval::Context;
    use crate::protocol::Advertisement;
    use crate::syntax::{ParseOptions, parse_ad};

    fn counting(texts: &[&str]) -> Vec<bool> {
        let ads: Vec<Ad> =
            texts.iter().map(|text| parse_ad(text.as_bytes(), ParseOptions::default()).unwrap()).collect();
        let context = Context::new(Dialect::Classad);
        latest_advertisements(ads.len(), |index| Cow::Owned(Advertisement::new(&ads[index], &context).header()))
    }

    #[test]
    fn the_greatest_number_else_the_latest() {
        let name = |rest: &str| format!("[ Name = \"a\"; {rest} ]");
        let three = [name("UpdateSequenceNumber = 2"), name("UpdateSequenceNumber = 3"), name("")];
        assert_eq!(counting(&three.each_ref().map(String::as_str)), [false, true, false]);
        assert_eq!(counting(&["[ Name = \"a\"; v = 1 ]", "[ Name = \"a\"; v = 2 ]"]), [false, true]);
        // Of two ads with the same sequence number, the later ad is current.
        let twice = name("UpdateSequenceNumber = 1 + 1");
        assert_eq!(counting(&[&three[0], &twice]), [false, true]);
    }

    #[test]
    fn agents_are_told_apart_by_name_and_kind() {
        let machine = "[ Type = \"Machine\"; Name = \"foo\" ]";
        assert_eq!(counting(&[machine, "[ Type = \"License\"; Name = \"foo\" ]"]), [true, true]);
        assert_eq!(counting(&["[ a = 1 ]", "[ a = 1 ]"]), [true, true]);
        let submitter = |schedd| format!("[ MyType = \"Submitter\"; Name = \"a\"; ScheddName = \"{schedd}\" ]");
        let submitters = ["ap1", "ap2", "ap1"].map(submitter);
        assert_eq!(counting(&submitters.each_ref().map(String::as_str)), [false, true, true]);
        let factories = ["[ ClusterId = 1; JobMaterializeNextProcId = 4 ]"; 2];
        assert_eq!(counting(&factories), [false, true]);
        assert_eq!(counting(&["[ ClusterId = 1; ProcId = 0 ]", "[ ClusterId = 1; ProcId = 0 ]"]), [false, true]);
        let named = ["x", "x"]
            .map(|name| AdvertisementHeader { identity: Some(name.into()), ..AdvertisementHeader::default() });
        assert_eq!(latest_advertisements(2, |index| Cow::Borrowed(&named[index])), [false, true]);
    }
}
