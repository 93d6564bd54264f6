//! Notices of matches: the records that are sent to the parties of a match (thesis 3.6).

use std::fmt::Write;

use serde::de::{Deserialize, Deserializer, IgnoredAny};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::ad::{Ad, Dialect};
use crate::eval::Context;
use crate::format::{FileFormat, read, write};
use crate::protocol::{Advertisement, OfferOccupant, stable_hash};

use super::BilateralMatch;
use super::gang::{DockedOffer, Gang};

/// Sequence number of an ad without one, in a notice that was read: it is older than any ad with a number.
pub const UNNUMBERED: i64 = i64::MIN;

/// Whether a match is bilateral or a gang.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum MatchKind {
    /// A request and an offer, matched by the constraints of the two ads.
    Pair,
    /// A tree of ads, matched by the constraints of their ports.
    Gang,
}

/// The record of a match that was made: its parties and where they are docked.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// Identifier of the match: 16 hexadecimal digits.
    pub id: String,
    /// Time of the match in seconds since 1970; `None` if it is unknown.
    pub time: Option<i64>,
    /// Whether the match is a pair or a gang.
    pub kind: MatchKind,
    /// The parties in preorder: the request, then each offer followed by the offers docked at it, in port order.
    pub parties: Vec<Party>,
}

/// An ad that takes part in a match.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(expecting = "an object")]
pub struct Party {
    /// Identity of the ad.
    pub id: String,
    /// Identity of the whole ad, if the party is only the remainder of a divided offer, or one unit of a resource
    /// request; `None` for a whole ad.
    #[serde(rename = "of", default, skip_serializing_if = "Option::is_none", deserialize_with = "read_lenient")]
    pub whole_id: Option<String>,
    /// Kind of the ad, from `MyType` or `Type`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none", deserialize_with = "read_lenient")]
    pub kind: Option<String>,
    /// `UpdateSequenceNumber` of the ad.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "read_lenient")]
    pub sequence: Option<i64>,
    /// Contact address of the agent that advertised the ad.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "read_lenient")]
    pub address: Option<String>,
    /// Authorization ticket of the ad, which a claim must present.
    #[serde(rename = "claim_id", default, skip_serializing_if = "Option::is_none", deserialize_with = "read_lenient")]
    pub ticket: Option<String>,
    /// What the match takes of an offer that it divides; see [`crate::protocol::taken_portion`]. `None` if it takes the
    /// whole offer.
    #[serde(
        rename = "takes",
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "write_ad",
        deserialize_with = "read_ad"
    )]
    pub portion: Option<Ad>,
    /// Where the party is docked; `None` for the request, which is not docked.
    #[serde(flatten)]
    pub docking: Option<Docking>,
    /// Current user of the offer, who loses it by this match; `None` if the offer has no user.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub preempts: Option<OfferOccupant>,
    /// The ad as it was when the match was made; `None` in a notice that was read. The ad may have only the attributes
    /// that were read of it. Of a part it is the whole ad.
    #[serde(skip)]
    pub ad: Option<Ad>,
}

/// Where an offer is docked: its parent, the parent's port, and the offer's own port.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Docking {
    /// Index of the parent party in [`Notice::parties`]; always less than the index of this party.
    #[serde(rename = "above")]
    pub parent: usize,
    /// Label of the parent's port at which the offer is docked.
    pub label: String,
    /// Index of the offer's own port that is docked to the parent.
    pub link: usize,
    /// Rank that the parent's port gives the offer, then rank that the offer's port gives the parent. `None` if the
    /// ranks are unknown.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "read_lenient")]
    pub ranks: Option<[f64; 2]>,
}

/// Deserializes an optional field of a record of a match. A value of the wrong type is read as `None`, because records
/// may come from other programs.
///
/// # Errors
///
/// Fails if the text of the record is malformed.
pub fn read_lenient<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Lenient<T> {
        Expected(T),
        Other(IgnoredAny),
    }
    Ok(match Lenient::deserialize(from)? {
        Lenient::Expected(value) => Some(value),
        Lenient::Other(_) => None,
    })
}

/// Returns the JSON of an ad, on one line. `None` if it has no form in JSON.
#[must_use]
pub fn ad_json(ad: &Ad) -> Option<Box<RawValue>> {
    let mut text = Vec::new();
    // Writing to memory does not fail.
    write(&mut text, ad, FileFormat::JsonLines).ok()?;
    RawValue::from_string(String::from_utf8(text.trim_ascii_end().to_vec()).ok()?).ok()
}

#[allow(clippy::ref_option)] // serde calls it with the field
fn write_ad<S: Serializer>(ad: &Option<Ad>, serializer: S) -> Result<S::Ok, S::Error> {
    ad.as_ref().and_then(ad_json).serialize(serializer)
}

/// Deserializes an ad of a record. What is not the JSON of an ad is read as `None`, as by [`read_lenient`].
fn read_ad<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Ad>, D::Error> {
    let value = serde_json::Value::deserialize(from)?;
    let text = value.to_string();
    Ok(read(text.as_bytes(), FileFormat::JsonLines, Dialect::Condor).next().and_then(Result::ok).map(|entry| entry.ad))
}

/// Returns the identity of a part of an offer. Part 1 is the offer as advertised and has the identity `id`. The number
/// of a later part is appended: part 2 has the identity `id#2`.
#[must_use]
pub fn part_name(id: &str, part: usize) -> String {
    if part == 1 { id.to_owned() } else { format!("{id}#{part}") }
}

impl Party {
    /// Creates a party that is not docked yet. `id` is the identity of its ad; kind, sequence number, address and
    /// ticket are read from the ad.
    #[must_use]
    pub fn new(ad: &Ad, id: &str, context: &Context) -> Self {
        let advertisement = Advertisement::new(ad, context);
        Party {
            id: id.to_owned(),
            kind: advertisement.kind(),
            sequence: advertisement.sequence(),
            address: advertisement.address(),
            ticket: advertisement.ticket(),
            ad: Some(ad.clone()),
            ..Party::default()
        }
    }

    /// Like [`Party::new`], but also reads the current user, who loses the offer by the match.
    #[must_use]
    pub fn from_offer(ad: &Ad, id: &str, context: &Context) -> Self {
        Party { preempts: Advertisement::new(ad, context).occupant(), ..Party::new(ad, id, context) }
    }

    /// Returns the party for part number `part` of the ad. Part 1 is the offer as advertised. Later parts get `#part`
    /// appended to their identity and preempt no one, because the current user already lost the offer with part 1.
    #[must_use]
    pub fn into_part(self, part: usize) -> Self {
        if part == 1 {
            return self;
        }
        Party { id: part_name(&self.id, part), whole_id: Some(self.id), preempts: None, ..self }
    }

    /// Returns the identity under which the ad was advertised. For a part of an ad, it is the identity of the whole ad.
    #[must_use]
    pub fn advertised_id(&self) -> &str {
        self.whole_id.as_deref().unwrap_or(&self.id)
    }

    /// Whether the match takes only a part of the ad.
    #[must_use]
    pub fn is_part(&self) -> bool {
        self.whole_id.is_some() || self.portion.is_some()
    }
}

impl Notice {
    /// Creates the notice of a match of these parties. The identifier is a hash of the identities, kinds, sequence
    /// numbers and dockings of the parties: the same advertisements matched in the same way get the same identifier.
    #[must_use]
    pub fn new(kind: MatchKind, parties: Vec<Party>, time: Option<i64>) -> Self {
        let mut text = String::new();
        for party in &parties {
            // Writing to a string cannot fail.
            let _ = write!(text, "{:?} {:?} {:?} ", party.id, party.kind, party.sequence);
            if let Some(docking) = &party.docking {
                let _ = write!(text, "{} {:?} {};", docking.parent, docking.label, docking.link);
            }
        }
        Notice { id: format!("{:016x}", stable_hash(text.as_bytes())), time, kind, parties }
    }

    /// Creates the notice of a bilateral match. `offer` returns the party of the offer with a given index.
    pub fn for_pair(
        pairing: &BilateralMatch,
        request: Party,
        offer: impl Fn(usize) -> Party,
        time: Option<i64>,
    ) -> Self {
        let ranks = Some([pairing.request_rank, pairing.offer_rank]);
        let docking = Docking { parent: 0, label: "other".to_owned(), link: 0, ranks };
        let parties = vec![request, Party { docking: Some(docking), ..offer(pairing.offer) }];
        Notice::new(MatchKind::Pair, parties, time)
    }

    /// Creates the notice of a gang. `offer` returns the party of the offer with a given index.
    pub fn for_gang(gang: &Gang, request: Party, offer: impl Fn(usize) -> Party, time: Option<i64>) -> Self {
        let mut parties = vec![request];
        let mut pending: Vec<(usize, &DockedOffer)> = gang.ports.iter().rev().map(|docked| (0, docked)).collect();
        while let Some((parent, docked)) = pending.pop() {
            let own = parties.len();
            let ranks = Some([docked.rank, docked.offer_rank]);
            let docking = Docking { parent, label: docked.label.clone(), link: docked.link, ranks };
            parties.push(Party { docking: Some(docking), ..offer(docked.offer).into_part(docked.part) });
            pending.extend(docked.ports.iter().rev().map(|below| (own, below)));
        }
        Notice::new(MatchKind::Gang, parties, time)
    }

    /// Returns the identifier of the submatch by which a party is docked: that of the match and the index of the party
    /// (thesis 3.5). `None` for the request, which is not docked.
    #[must_use]
    pub fn submatch_id(&self, party: usize) -> Option<String> {
        self.parties.get(party)?.docking.as_ref().map(|_| format!("{}.{party}", self.id))
    }

    /// Whether the party `party` may learn the ticket of the party `of`. A party may learn its own ticket and the
    /// tickets of the parties docked directly at it.
    #[must_use]
    pub fn may_see_ticket(&self, party: usize, of: usize) -> bool {
        let above = self.parties.get(of).and_then(|other| other.docking.as_ref()).map(|docking| docking.parent);
        party == of || above == Some(party)
    }
}

#[cfg(test)]
mod tests {
    use super::{Docking, MatchKind, Notice, OfferOccupant, Party, part_name};
    use crate::ad::Ad;
    use crate::matching::BilateralMatch;
    use crate::matching::gang::{DockedOffer, Gang};

    fn party(id: &str, sequence: Option<i64>) -> Party {
        Party { id: id.to_owned(), sequence, ..Party::default() }
    }

    #[test]
    fn a_gang_is_told_from_its_root_downwards() {
        let docked = |label: &str, offer, ports| {
            let label = label.to_owned();
            DockedOffer { label, offer, part: 1, link: 0, rank: 1.0, offer_rank: 2.0, vector: None, ports }
        };
        let below = vec![docked("cpu", 7, vec![]), docked("disk", 5, vec![])];
        let ports = vec![docked("service", 3, below), docked("licence", 4, vec![])];
        let gang = Gang { request: 0, ports };
        let notice = Notice::for_gang(&gang, party("job", None), |offer| party(&offer.to_string(), None), Some(1));
        let told: Vec<(usize, &str, &str)> = notice.parties[1..]
            .iter()
            .filter_map(|party| party.docking.as_ref().map(|d| (d.parent, d.label.as_str(), party.id.as_str())))
            .collect();
        assert_eq!(told, [(0, "service", "3"), (1, "cpu", "7"), (1, "disk", "5"), (0, "licence", "4")]);
        assert!(notice.may_see_ticket(1, 2) && notice.may_see_ticket(2, 2));
        assert_eq!(notice.submatch_id(0), None);
        assert_eq!(notice.submatch_id(3), Some(format!("{}.3", notice.id)));
        assert_eq!(notice.submatch_id(5), None);
        assert!(!notice.may_see_ticket(0, 2) && !notice.may_see_ticket(3, 2) && !notice.may_see_ticket(1, 0));
    }

    #[test]
    fn a_match_is_called_by_its_advertisements() {
        let id = |sequence| Notice::new(MatchKind::Pair, vec![party("a", None), party("b", sequence)], Some(5)).id;
        assert_eq!(id(Some(1)), id(Some(1)));
        assert_ne!(id(Some(1)), id(Some(2)));
        assert_ne!(id(Some(1)), id(None));
    }

    #[test]
    fn parts_are_called_by_their_numbers() {
        let user = OfferOccupant { user: "ann".to_owned(), job: None, rank: 0.0 };
        let whole = Party { preempts: Some(user), ..party("slot1", Some(3)) };
        for (part, id, whole_id, preempts) in
            [(1, "slot1", None, true), (2, "slot1#2", Some("slot1"), false), (13, "slot1#13", Some("slot1"), false)]
        {
            let found = whole.clone().into_part(part);
            assert_eq!((found.id.as_str(), found.whole_id.as_deref()), (id, whole_id));
            assert_eq!((found.preempts.is_some(), found.sequence), (preempts, Some(3)));
            assert_eq!((found.advertised_id(), found.is_part()), ("slot1", part > 1));
            assert_eq!(part_name("slot1", part), id);
        }
        let divided = Party { portion: Some(Ad::default()), ..party("a", None) };
        assert!(divided.is_part() && !party("a", None).is_part());
    }

    /// Records may come from other programs: what has the wrong type is not known.
    #[test]
    fn what_has_the_wrong_type_is_read_as_none() {
        for (text, expected) in [
            ("{\"id\":\"a\"}", "{\"id\":\"a\"}"),
            (
                "{\"id\":\"a\",\"type\":\"Job\",\"sequence\":4,\"address\":\"<1>\",\"claim_id\":\"t\",\"of\":\"b\"}",
                "{\"id\":\"a\",\"of\":\"b\",\"type\":\"Job\",\"sequence\":4,\"address\":\"<1>\",\"claim_id\":\"t\"}",
            ),
            (
                "{\"id\":\"a\",\"type\":7,\"sequence\":\"4\",\"address\":null,\"claim_id\":[],\"of\":{}}",
                "{\"id\":\"a\"}",
            ),
            (
                "{\"id\":\"a\",\"takes\":{\"Cpus\":2},\"above\":0,\"label\":\"cpu\",\"link\":1,\"ranks\":[1.0,2]}",
                "{\"id\":\"a\",\"takes\":{\"Cpus\": 2},\"above\":0,\"label\":\"cpu\",\"link\":1,\"ranks\":[1.0,2.0]}",
            ),
            (
                "{\"id\":\"a\",\"takes\":5,\"above\":2,\"label\":\"cpu\",\"link\":1,\"ranks\":[1.0]}",
                "{\"id\":\"a\",\"above\":2,\"label\":\"cpu\",\"link\":1}",
            ),
        ] {
            let party: Party = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&party).unwrap(), expected, "{text}");
        }
        assert!(serde_json::from_str::<Party>("{\"id\":1}").is_err());
    }

    #[test]
    fn a_pair_is_told_with_its_ranks() {
        let pairing = BilateralMatch { request: 4, offer: 7, request_rank: 2.0, offer_rank: 3.0 };
        let offer = |offer: usize| party(&format!("offer {offer}"), None);
        let notice = Notice::for_pair(&pairing, party("job", None), offer, Some(9));
        let docking = Docking { parent: 0, label: "other".to_owned(), link: 0, ranks: Some([2.0, 3.0]) };
        assert_eq!((notice.kind, notice.time, notice.parties.len()), (MatchKind::Pair, Some(9), 2));
        assert_eq!((notice.parties[0].id.as_str(), &notice.parties[0].docking), ("job", &None));
        assert_eq!((notice.parties[1].id.as_str(), &notice.parties[1].docking), ("offer 7", &Some(docking)));
        // The time and the ranks are no part of the name.
        let later = Notice::for_pair(&BilateralMatch { offer_rank: 1.0, ..pairing }, party("job", None), offer, None);
        assert_eq!((later.id.as_str(), later.id.len()), (notice.id.as_str(), 16));
        let other = Notice::for_pair(&BilateralMatch { offer: 8, ..pairing }, party("job", None), offer, None);
        assert_ne!(other.id, notice.id);
    }
}
