//! The registrar: remembers which ads were matched and have not been advertised again since (thesis 3.4.2).

use rustc_hash::FxHashMap;

use super::notification::Party;

/// The matched advertisements, by identity of the ad.
#[derive(Clone, Debug, Default)]
pub struct Registrar {
    matched: FxHashMap<String, Vec<MatchedAdvertisement>>,
}

#[derive(Clone, Debug)]
struct MatchedAdvertisement {
    kind: Option<String>,
    sequence: Option<i64>,
}

impl Registrar {
    /// Records that parties of a match were matched.
    pub fn record<'p>(&mut self, parties: impl IntoIterator<Item = &'p Party>) {
        for party in parties {
            let entry = MatchedAdvertisement { kind: party.kind.clone(), sequence: party.sequence };
            self.matched.entry(party.advertised_id().to_owned()).or_default().push(entry);
        }
    }

    /// Whether an ad was matched and has not been advertised again since. A new advertisement has a greater
    /// `UpdateSequenceNumber` than the matched one. If one of the two numbers is missing, the ad counts as matched
    /// forever.
    #[must_use]
    pub fn was_matched(&self, party: &Party) -> bool {
        let same_kind =
            |entry: &&MatchedAdvertisement| entry.kind.is_none() || party.kind.is_none() || entry.kind == party.kind;
        let entries = self.matched.get(&party.id).into_iter().flatten().filter(same_kind);
        entries.into_iter().any(|entry| match (entry.sequence, party.sequence) {
            (Some(matched), Some(sequence)) => sequence <= matched,
            _ => true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::notification::Party;
    use super::Registrar;

    fn party(kind: Option<&str>, sequence: Option<i64>) -> Party {
        Party { id: "a".to_owned(), kind: kind.map(str::to_owned), sequence, ..Party::default() }
    }

    #[test]
    fn until_it_is_advertised_afresh() {
        let mut registrar = Registrar::default();
        assert!(!registrar.was_matched(&party(None, None)));
        registrar.record([&party(Some("Machine"), Some(4))]);
        registrar.record([&party(Some("Machine"), Some(2))]);
        assert!(registrar.was_matched(&party(Some("Machine"), Some(4))));
        assert!(registrar.was_matched(&party(Some("Machine"), Some(3))));
        assert!(!registrar.was_matched(&party(Some("Machine"), Some(5))));
        assert!(registrar.was_matched(&party(Some("Machine"), None)));
        assert!(!registrar.was_matched(&party(Some("Job"), Some(4))));
        assert!(!registrar.was_matched(&Party { id: "b".to_owned(), ..Party::default() }));
        registrar.record([&party(None, None)]);
        assert!(registrar.was_matched(&party(Some("Machine"), Some(5))));
        // A match of a part of an ad counts as a match of the whole ad.
        let part = Party { whole_id: Some("b".to_owned()), ..Party { id: "b#2".to_owned(), ..Party::default() } };
        registrar.record([&part]);
        assert!(registrar.was_matched(&Party { id: "b".to_owned(), ..Party::default() }));
    }
}
