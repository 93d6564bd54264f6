//! Reading of earlier matches: the records of `--notify`, or the JSON output of `match` and `gangmatch`. The rows that
//! `claim` prints say what became of them.

mod record;

use classad::matching::{Notice, Party, Registrar};
use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::cli::io::input::report_error;
use crate::cli::io::whole_file::read_whole;
use crate::cli::outcome::Failure;
use crate::cli::session::Session;
use record::OutcomeRecord;

pub use record::{ClaimOutcome, DockedRecord, GangRecord, NoticeRecord, PortRecord, RECORD_VERSION};

/// The matches in force that have been read so far, by their identifiers.
type Matches = IndexMap<String, RecordedMatch>;

/// A match in the records, as far as it is in force.
pub struct RecordedMatch {
    /// The match as it was made.
    pub notice: Notice,
    /// Whether the match has been claimed, in whole or in part.
    pub is_claimed: bool,
    /// Whether each party is still in the match, by index in [`Notice::parties`].
    is_bound: Vec<bool>,
}

impl RecordedMatch {
    fn new(notice: Notice) -> Self {
        RecordedMatch { is_claimed: false, is_bound: vec![true; notice.parties.len()], notice }
    }

    /// Iterates over the parties that are still in the match: no claim has left them out and no release has freed them.
    pub fn bound_parties(&self) -> impl Iterator<Item = &Party> {
        self.notice.parties.iter().zip(&self.is_bound).filter(|(_, is_bound)| **is_bound).map(|(party, _)| party)
    }

    /// Iterates over the offers that are still in the match, each with its index in [`Notice::parties`].
    pub fn bound_offers(&self) -> impl Iterator<Item = (usize, &Party)> {
        self.notice.parties.iter().enumerate().skip(1).filter(|(party, _)| self.is_bound[*party])
    }

    /// Frees the offers that have been advertised again since they were matched. `current` returns a party made of its
    /// current ad. `None` if no offer is left in the match.
    pub fn without_fresh(mut self, current: &dyn Fn(&Party) -> Option<Party>) -> Option<Self> {
        for (party, is_bound) in self.notice.parties.iter().zip(&mut self.is_bound) {
            let mut registrar = Registrar::default();
            registrar.record([party]);
            *is_bound &= current(party).is_none_or(|current| registrar.was_matched(&current));
        }
        (!self.is_over()).then_some(self)
    }

    /// Records the outcome of a claim or a release.
    fn settle(&mut self, outcome: &OutcomeRecord) {
        self.is_claimed |= outcome.outcome != ClaimOutcome::Aborted;
        for (party, is_bound) in self.notice.parties.iter().zip(&mut self.is_bound) {
            *is_bound &= match outcome.outcome {
                ClaimOutcome::Committed | ClaimOutcome::Kept => true,
                ClaimOutcome::Partial => outcome.claimed.contains(&party.id),
                ClaimOutcome::Aborted => false,
                ClaimOutcome::Released => !outcome.claimed.contains(&party.id),
            };
        }
    }

    /// Whether the match is over: no offer is in it any more.
    fn is_over(&self) -> bool {
        !self.is_bound.iter().skip(1).any(|is_bound| *is_bound)
    }
}

/// Why a JSON value is no match.
type RecordFault = String;

/// Reads the matches in the files at `paths`, in the order of their first records. A match with several records is
/// returned once. A match that a later row of `claim` aborts or releases is not returned. Values that are neither a
/// match nor an outcome are reported and skipped.
///
/// # Errors
///
/// A file cannot be read, or a value is bad and `--fail-fast` is given.
pub fn read_match_records(session: &mut Session, paths: &[String]) -> Result<Vec<RecordedMatch>, Failure> {
    let mut matches = Matches::new();
    for path in paths {
        let text = read_whole(path).map_err(|error| Failure::unreadable(path, &error))?;
        add_matches(session, path, &text, &mut matches)?;
    }
    Ok(matches.into_values().collect())
}

/// Adds the match of each JSON value of a text. If the value is an array, adds the match of each element. Reports text
/// that is no JSON. Reading resumes at the line in which the parser noticed the error. If the bad value begins in the
/// same line, reading resumes at the next line.
fn add_matches(session: &mut Session, path: &str, text: &[u8], matches: &mut Matches) -> Result<(), Failure> {
    let mut start = 0;
    while start < text.len() {
        let before = newlines(&text[..start]);
        let rest = &text[start..];
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<Json>();
        let (line, error) = loop {
            let offset = values.byte_offset();
            let blank = rest[offset..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let line = newlines(&rest[..offset + blank]) + 1;
            match values.next() {
                None => return Ok(()),
                Some(Err(error)) => break (line, error),
                Some(Ok(value)) => {
                    let elements = if let Json::Array(elements) = value { elements } else { vec![value] };
                    for element in elements {
                        if let Err(fault) = add_match(matches, element) {
                            report_error(session, &format!("{path}:{}: {fault}", before + line))?;
                        }
                    }
                }
            }
        };
        let reason = error.to_string();
        let reason = reason.split(" at line ").next().unwrap_or_default();
        report_error(session, &format!("{path}:{}: this is not JSON: {reason}", before + line))?;
        // The parser notices an incomplete line only in the next line. Resume at that next line, because it may be
        // good.
        let next = line.max(error.line().saturating_sub(1));
        start = memchr::memchr_iter(b'\n', rest).nth(next - 1).map_or(text.len(), |end| start + end + 1);
    }
    Ok(())
}

fn newlines(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}

/// Adds the match of a record to `matches`, or merges it with the known match of the same identifier.
fn add_match(matches: &mut Matches, record: Json) -> Result<(), RecordFault> {
    let has = |name: &str| record.get(name).is_some();
    if has("outcome") && has("claimed") {
        return settle_match(matches, &parse_record(record)?);
    }
    let notice = if has("members") {
        check_version(&record)?;
        parse_record::<NoticeRecord>(record)?.into_notice()?
    } else if has("request") && has("ports") {
        check_version(&record)?;
        parse_record::<GangRecord>(record)?.into_notice()
    } else if has("request") && has("offer") {
        parse_record::<record::PairRecord>(record)?.into_notice()
    } else {
        return Err(
            "this is not a match: give --notify records, or JSON Lines of `match`, `gangmatch`, `negotiate` or `claim`"
                .to_owned(),
        );
    };
    if let Some(known) = matches.get_mut(&notice.id) {
        return merge_tickets(&mut known.notice, notice);
    }
    matches.insert(notice.id.clone(), RecordedMatch::new(notice));
    Ok(())
}

/// Records the outcome of a claim or a release. Removes the match if it is over.
fn settle_match(matches: &mut Matches, outcome: &OutcomeRecord) -> Result<(), RecordFault> {
    let id = &outcome.id;
    let known = matches.get_mut(id).ok_or_else(|| format!("no earlier record has the match {id} of this outcome"))?;
    known.settle(outcome);
    if known.is_over() {
        matches.shift_remove(id);
    }
    Ok(())
}

fn parse_record<T: DeserializeOwned>(record: Json) -> Result<T, RecordFault> {
    serde_json::from_value(record).map_err(|error| format!("this is not a match: {error}"))
}

/// Refuses a record with another version than [`RECORD_VERSION`]. A record without a version passes this check.
fn check_version(record: &Json) -> Result<(), RecordFault> {
    match record["version"].as_u64() {
        Some(other) if other != RECORD_VERSION => {
            Err(format!("this record has version {other}, which this program cannot read"))
        }
        _ => Ok(()),
    }
}

/// Adds the tickets of `notice` to `known`. Fails if `notice` is a record of another match. A match has several
/// records, because the record of each recipient has only some of the tickets.
fn merge_tickets(known: &mut Notice, notice: Notice) -> Result<(), RecordFault> {
    let same = |(a, b): (&Party, &Party)| a.id == b.id && a.sequence == b.sequence;
    if known.parties.len() != notice.parties.len() || !known.parties.iter().zip(&notice.parties).all(same) {
        return Err(format!("two matches have the identifier {}", known.id));
    }
    for (party, further) in known.parties.iter_mut().zip(notice.parties) {
        party.ticket = party.ticket.take().or(further.ticket);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
