//! `--notify`: a notification of each party of each match, as lines of JSON.
//!
//! There is one record for each party, for the site's own means of delivery:
//!
//! ```text
//! {"version": 1, "match": ID, "bond": "pair" or "gang", "time": SECONDS,
//!  "member": INDEX, "to": ID, "address": ADDRESS,
//!  "members": [{"id", "of", "type", "sequence", "address", "claim_id", "above", "label", "link", "ranks",
//!               "preempts"}]}
//! ```
//!
//! `members` lists the whole match: the request, then each offer followed by the offers docked at it. `member` is the
//! index of the recipient. If only a part of an ad was matched (one unit of a resource request, or the residual of an
//! offer), `of` is the name of the whole ad. For an offer, `above` is the index of the member that it is docked to, at
//! the port `label`; `link` is the position of its own port; `ranks` has the rank that the port gives to it, and the
//! rank that it gives to the port. Unknown fields are left out. `claim_id` is present only if it is the recipient's own
//! or that of an ad docked at the recipient, which has to present it.

use std::io::Write;

use clap::Args;
use classad::matching::{MatchKind, Notice, Party};
use serde_json::{Map, Value as Json, json};

use crate::cli::Failure;
use crate::cli::render::output::out;

/// The version of the records.
pub const NOTICE_VERSION: u64 = 1;

/// Where notices go.
#[derive(Args)]
pub struct NotifyArgs {
    /// Write a record of each match for each of its parties, as lines of JSON; `-` is standard output, instead of
    /// the matches
    #[arg(long, value_name = "FILE")]
    pub notify: Option<String>,
}

impl NotifyArgs {
    /// Whether standard output gets the notifications instead of the matches.
    pub fn writes_to_stdout(&self) -> bool {
        self.notify.as_deref() == Some("-")
    }

    /// Writes the notifications if `--notify` is given. Otherwise `notices` is not called.
    pub fn write_notices(&self, notices: impl FnOnce() -> Vec<Notice>) -> Result<(), Failure> {
        let Some(path) = &self.notify else { return Ok(()) };
        let mut text = Vec::new();
        for notice in notices() {
            for member in 0..notice.parties.len() {
                writeln!(text, "{}", party_record(&notice, member))?;
            }
        }
        if path == "-" {
            return Ok(out().write_all(&text)?);
        }
        std::fs::write(path, text).map_err(|error| Failure::unwritable(path, &error))
    }
}

/// Returns the record for the party with the index `member`.
fn party_record(notice: &Notice, member: usize) -> Json {
    let mut record = Map::new();
    let to = &notice.parties[member];
    let bond = match notice.kind {
        MatchKind::Pair => "pair",
        MatchKind::Gang => "gang",
    };
    record.insert("version".to_owned(), NOTICE_VERSION.into());
    record.insert("match".to_owned(), notice.id.as_str().into());
    record.insert("bond".to_owned(), bond.into());
    insert_some(&mut record, "time", notice.time);
    record.insert("member".to_owned(), member.into());
    record.insert("to".to_owned(), to.id.as_str().into());
    insert_some(&mut record, "address", to.address.as_deref());
    let members = notice.parties.iter().enumerate();
    let members: Vec<Json> = members.map(|(of, party)| party_json(party, notice.may_see_ticket(member, of))).collect();
    record.insert("members".to_owned(), members.into());
    record.into()
}

fn party_json(party: &Party, with_ticket: bool) -> Json {
    let mut fields = Map::new();
    fields.insert("id".to_owned(), party.id.as_str().into());
    insert_some(&mut fields, "of", party.whole_id.as_deref());
    insert_some(&mut fields, "type", party.kind.as_deref());
    insert_some(&mut fields, "sequence", party.sequence);
    insert_some(&mut fields, "address", party.address.as_deref());
    insert_some(&mut fields, "claim_id", party.ticket.as_deref().filter(|_| with_ticket));
    if let Some(docking) = &party.docking {
        fields.insert("above".to_owned(), docking.parent.into());
        fields.insert("label".to_owned(), docking.label.as_str().into());
        fields.insert("link".to_owned(), docking.link.into());
        insert_some(&mut fields, "ranks", docking.ranks.map(|ranks| json!(ranks)));
    }
    if let Some(occupant) = &party.preempts {
        let mut given_up = Map::new();
        given_up.insert("user".to_owned(), occupant.user.as_str().into());
        insert_some(&mut given_up, "job", occupant.job.as_deref());
        given_up.insert("rank".to_owned(), occupant.rank.into());
        fields.insert("preempts".to_owned(), given_up.into());
    }
    fields.into()
}

/// Inserts a field unless its value is `None`.
fn insert_some(fields: &mut Map<String, Json>, name: &str, value: Option<impl Into<Json>>) {
    if let Some(value) = value {
        fields.insert(name.to_owned(), value.into());
    }
}
