//! The records of matches that the program writes and reads.

use classad::matching::{Docking, MatchKind, Notice, Party, UNNUMBERED, ad_json, read_lenient};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::RecordFault;

/// The version of the records; a record with another version is refused.
pub const RECORD_VERSION: u64 = 1;

/// A record of `--notify`: a match, addressed to one of its parties. The site delivers the record by its own means.
#[derive(Serialize, Deserialize)]
pub struct NoticeRecord<M = Party> {
    version: u64,
    /// The identifier of the match.
    #[serde(rename = "match")]
    id: String,
    bond: MatchKind,
    /// Time of the match in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "read_lenient")]
    time: Option<i64>,
    /// Index of the recipient in `members`.
    #[serde(skip_deserializing)]
    member: usize,
    /// The identity of the recipient.
    #[serde(skip_deserializing)]
    to: String,
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    /// All parties of the match, as in [`Notice::parties`]. Only the recipient and the parties docked directly at the
    /// recipient have their tickets here, because the recipient must not see the tickets of other parties.
    members: Vec<M>,
}

/// A party in a record that is written.
#[derive(Serialize)]
pub struct MemberRecord {
    #[serde(flatten)]
    party: Party,
    /// The identifier of the submatch by which the party is docked.
    #[serde(skip_serializing_if = "Option::is_none")]
    submatch: Option<String>,
    /// A copy of the party's ad, as `convert` has it in JSON, for `--with-ads`.
    #[serde(skip_serializing_if = "Option::is_none")]
    ad: Option<Box<RawValue>>,
}

impl NoticeRecord<MemberRecord> {
    /// Returns the record for the party with the index `member`. With `with_ads` it has copies of the ads. A recipient
    /// that may not see the ticket of an ad does not get its other secrets either.
    pub fn new(notice: &Notice, member: usize, with_ads: bool) -> Self {
        let Party { id: to, address, .. } = notice.parties[member].clone();
        let record = |(of, party): (usize, &Party)| {
            let is_visible = notice.may_see_ticket(member, of);
            let ad = party.ad.as_ref().filter(|_| with_ads);
            let ad = ad.map(|ad| if is_visible { ad.clone() } else { ad.public() });
            let party = Party { ticket: party.ticket.clone().filter(|_| is_visible), ad: None, ..party.clone() };
            MemberRecord { party, submatch: notice.submatch_id(of), ad: ad.as_ref().and_then(ad_json) }
        };
        NoticeRecord {
            version: RECORD_VERSION,
            id: notice.id.clone(),
            bond: notice.kind,
            time: notice.time,
            member,
            to,
            address,
            members: notice.parties.iter().enumerate().map(record).collect(),
        }
    }
}

impl NoticeRecord {
    pub fn into_notice(self) -> Result<Notice, RecordFault> {
        let mut parties = self.members;
        parties.first_mut().ok_or("a match must have members")?.docking = None;
        for party in &mut parties {
            party.sequence.get_or_insert(UNNUMBERED);
        }
        for (own, party) in parties.iter().enumerate().skip(1) {
            let docking = party.docking.as_ref().ok_or("an offer must have `above`, `label` and `link`")?;
            if docking.parent >= own {
                return Err("`above` must be the index of an earlier member".to_owned());
            }
        }
        Ok(Notice { id: self.id, time: self.time, kind: self.bond, parties })
    }
}

/// What became of a match by a claim or a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimOutcome {
    /// All parties committed.
    Committed,
    /// Some parties committed.
    Partial,
    /// No party committed.
    Aborted,
    /// Offers were released.
    Released,
    /// A release was refused: the offers stay claimed.
    Kept,
}

impl ClaimOutcome {
    /// Returns the outcome as the output has it.
    pub fn as_str(self) -> &'static str {
        match self {
            ClaimOutcome::Committed => "committed",
            ClaimOutcome::Partial => "partial",
            ClaimOutcome::Aborted => "aborted",
            ClaimOutcome::Released => "released",
            ClaimOutcome::Kept => "kept",
        }
    }
}

/// A row of the JSON output of `claim`.
#[derive(Deserialize)]
pub struct OutcomeRecord {
    /// The identifier of the match.
    #[serde(rename = "match")]
    pub id: String,
    pub outcome: ClaimOutcome,
    /// The parties that were claimed, or with `released` those that were released.
    pub claimed: Vec<String>,
}

/// A row of the JSON output of `match`.
#[derive(Deserialize)]
pub struct PairRecord {
    request: String,
    offer: String,
    #[serde(default)]
    request_rank: Json,
    #[serde(default)]
    offer_rank: Json,
}

impl PairRecord {
    pub fn into_notice(self) -> Notice {
        let ranks = self.request_rank.as_f64().zip(self.offer_rank.as_f64()).map(Into::into);
        let docking = Docking { parent: 0, label: "other".to_owned(), link: 0, ranks };
        Notice::new(MatchKind::Pair, vec![new_party(self.request, None), new_party(self.offer, Some(docking))], None)
    }
}

/// A gang of the JSON output of `gangmatch`.
#[derive(Serialize, Deserialize)]
pub struct GangRecord {
    #[serde(skip_deserializing)]
    pub version: u64,
    /// The identifier of the match, as in [`NoticeRecord`].
    #[serde(default, rename = "match", deserialize_with = "read_lenient")]
    pub id: Option<String>,
    pub request: String,
    #[serde(serialize_with = "serialize_ports")]
    pub ports: Vec<PortRecord>,
    /// Labels of the request's ports that stay unfilled. Only a port of a group can stay unfilled.
    #[serde(skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    pub unfilled: Vec<String>,
}

/// A filled port of a gang.
#[derive(Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub struct PortRecord {
    pub label: String,
    #[serde(flatten)]
    pub docked: DockedRecord,
    /// The filled ports of the offer, other than the port by which the offer docks.
    #[serde(serialize_with = "serialize_ports")]
    pub ports: Vec<PortRecord>,
    #[serde(skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    pub unfilled: Vec<String>,
}

/// An offer that is docked at a port.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct DockedRecord {
    pub offer: String,
    /// The name of the whole offer, if the docked offer is a residual of it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "read_lenient")]
    pub of: Option<String>,
    /// 0-based index of the offer's own port by which the offer docks.
    pub link: usize,
    /// The rank that the port gives the offer, and the rank that the offer gives the ad to which it docks. `None` if
    /// unknown.
    #[serde(default, deserialize_with = "read_lenient")]
    pub ranks: Option<[f64; 2]>,
}

impl GangRecord {
    pub fn into_notice(self) -> Notice {
        let mut parties = vec![new_party(self.request, None)];
        let mut pending: Vec<(usize, PortRecord)> = self.ports.into_iter().rev().map(|port| (0, port)).collect();
        while let Some((parent, mut port)) = pending.pop() {
            let own = parties.len();
            let DockedRecord { offer, of, link, ranks } = std::mem::take(&mut port.docked);
            let docking = Docking { parent, label: std::mem::take(&mut port.label), link, ranks };
            parties.push(Party { whole_id: of, ..new_party(offer, Some(docking)) });
            pending.extend(port.ports.drain(..).rev().map(|below| (own, below)));
        }
        let notice = Notice::new(MatchKind::Gang, parties, None);
        // Prefer the identifier in the record to a computed one. An identifier may depend on sequence numbers, which
        // the record lacks.
        Notice { id: self.id.unwrap_or(notice.id), ..notice }
    }
}

impl Drop for PortRecord {
    /// Drops the ports iteratively: recursion into a long chain of offers would overflow the stack.
    fn drop(&mut self) {
        let mut pending = std::mem::take(&mut self.ports);
        while let Some(mut port) = pending.pop() {
            pending.append(&mut port.ports);
        }
    }
}

/// Serializes the ports, with more stack if there is little left: a gang may be a long chain of offers.
fn serialize_ports<S: Serializer>(ports: &[PortRecord], serializer: S) -> Result<S::Ok, S::Error> {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || ports.serialize(serializer))
}

fn new_party(id: String, docking: Option<Docking>) -> Party {
    Party { id, docking, ..Party::default() }
}
