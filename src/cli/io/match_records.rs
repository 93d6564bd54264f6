//! Reading of earlier matches: the records of `--notify`, or the JSON output of `match` and `gangmatch`.

use std::collections::HashMap;

use classad::matching::{Docking, MatchKind, Notice, Party};
use serde_json::{Map, Value as Json};

use crate::cli::Failure;
use crate::cli::args::notify::NOTICE_VERSION;
use crate::cli::io::source::read_whole;
use crate::cli::session::Session;

/// Why a JSON value is no match.
type RecordFault = String;

/// Reads the matches of these files, each once, in the order of their first records. Values that are no match are
/// reported and skipped.
///
/// # Errors
///
/// A file cannot be read, or a value is no match and `--fail-fast` is given.
pub fn read_match_records(session: &mut Session, paths: &[String]) -> Result<Vec<Notice>, Failure> {
    let mut matches = MatchRecords::default();
    for path in paths {
        let text = read_whole(path).map_err(|error| Failure::unreadable(path, &error))?;
        for_each_json_value(session, path, &text, |value| matches.add(value))?;
    }
    Ok(matches.notices)
}

/// Calls `visit` for each JSON value of a text, and for each element of an array at the top. Text that is no JSON
/// is reported; reading resumes at the line where the error was noticed, but at least one line further.
fn for_each_json_value(
    session: &mut Session,
    path: &str,
    text: &[u8],
    mut visit: impl FnMut(&Json) -> Result<(), RecordFault>,
) -> Result<(), Failure> {
    let mut start = 0;
    while start < text.len() {
        let before = newlines(&text[..start]);
        let rest = &text[start..];
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<Json>();
        let (line, wrong) = loop {
            let done = values.byte_offset();
            let blank = rest[done..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let line = newlines(&rest[..done + blank]) + 1;
            match values.next() {
                None => return Ok(()),
                Some(Err(error)) => break (line, error),
                Some(Ok(Json::Array(elements))) => {
                    for element in &elements {
                        visit(element).or_else(|fault| report_fault(session, path, before + line, &fault))?;
                    }
                }
                Some(Ok(value)) => visit(&value).or_else(|fault| report_fault(session, path, before + line, &fault))?,
            }
        };
        let reason = wrong.to_string();
        let reason = reason.split(" at line ").next().unwrap_or_default();
        report_fault(session, path, before + line, &format!("this is no JSON: {reason}"))?;
        // An incomplete line is noticed only in the line after it, which may be good.
        let next = line.max(wrong.line().saturating_sub(1));
        start = line_ends(rest).nth(next - 1).map_or(text.len(), |end| start + end);
    }
    Ok(())
}

fn newlines(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}

/// Byte offsets just after each line feed.
fn line_ends(text: &[u8]) -> impl Iterator<Item = usize> + '_ {
    memchr::memchr_iter(b'\n', text).map(|at| at + 1)
}

fn report_fault(session: &mut Session, path: &str, line: usize, fault: &str) -> Result<(), Failure> {
    session.error(&format!("{path}:{line}: {fault}"));
    if session.options.fail_fast { Err(Failure::Refused(None)) } else { Ok(()) }
}

/// The matches that have been read, by identifier.
#[derive(Default)]
struct MatchRecords {
    notices: Vec<Notice>,
    by_id: HashMap<String, usize>,
}

impl MatchRecords {
    fn add(&mut self, value: &Json) -> Result<(), RecordFault> {
        let wanted = "this is no match: neither a record of --notify nor a row of `match` or `gangmatch`";
        let fields = value.as_object().ok_or(wanted)?;
        let has = |name: &str| fields.contains_key(name);
        let notice = if has("members") {
            parse_notice(fields)?
        } else if has("request") && has("ports") {
            parse_gang(fields)?
        } else if has("request") && has("offer") {
            parse_pair(fields)?
        } else {
            return Err(wanted.to_owned());
        };
        let next = self.notices.len();
        let known = *self.by_id.entry(notice.id.clone()).or_insert(next);
        match self.notices.get_mut(known) {
            None => self.notices.push(notice),
            Some(known) => merge_tickets(known, notice)?,
        }
        Ok(())
    }
}

/// Merges a further record of a match into the known one: each recipient's record has only some of the tickets.
fn merge_tickets(known: &mut Notice, notice: Notice) -> Result<(), RecordFault> {
    let same = |(a, b): (&Party, &Party)| a.id == b.id && a.sequence == b.sequence;
    if known.parties.len() != notice.parties.len() || !known.parties.iter().zip(&notice.parties).all(same) {
        return Err(format!("another match is called {}, too", known.id));
    }
    for (party, told) in known.parties.iter_mut().zip(notice.parties) {
        party.ticket = party.ticket.take().or(told.ticket);
    }
    Ok(())
}

fn string_field(fields: &Map<String, Json>, name: &str) -> Result<String, RecordFault> {
    fields.get(name).and_then(Json::as_str).map(str::to_owned).ok_or_else(|| format!("`{name}` must be a string"))
}

fn index_field(fields: &Map<String, Json>, name: &str) -> Result<usize, RecordFault> {
    let index = fields.get(name).and_then(Json::as_u64).and_then(|index| usize::try_from(index).ok());
    index.ok_or_else(|| format!("`{name}` must be a number from 0"))
}

fn array_field<'f>(fields: &'f Map<String, Json>, name: &str) -> Result<&'f [Json], RecordFault> {
    fields.get(name).and_then(Json::as_array).map(Vec::as_slice).ok_or_else(|| format!("`{name}` must be an array"))
}

fn as_object(value: &Json) -> Result<&Map<String, Json>, RecordFault> {
    value.as_object().ok_or_else(|| "here an object is wanted".to_owned())
}

fn parse_ranks(value: Option<&Json>) -> Option<[f64; 2]> {
    match value?.as_array()?.as_slice() {
        [request, offer] => Some([request.as_f64()?, offer.as_f64()?]),
        _ => None,
    }
}

/// A record of `--notify`.
fn parse_notice(fields: &Map<String, Json>) -> Result<Notice, RecordFault> {
    if check_version(fields)?.is_none() {
        return Err("a record of a match must have a `version`".to_owned());
    }
    let bond = match string_field(fields, "bond")?.as_str() {
        "pair" => MatchKind::Pair,
        "gang" => MatchKind::Gang,
        other => return Err(format!("`bond` must be \"pair\" or \"gang\", not \"{other}\"")),
    };
    let mut parties = Vec::new();
    for member in array_field(fields, "members")? {
        let party = parse_party(as_object(member)?, parties.len())?;
        parties.push(party);
    }
    if parties.is_empty() {
        return Err("a match must have members".to_owned());
    }
    Ok(Notice {
        id: string_field(fields, "match")?,
        time: fields.get("time").and_then(Json::as_i64),
        kind: bond,
        parties,
    })
}

/// Returns the version of a record, `None` if it has none.
///
/// # Errors
///
/// The version is another than that of this program's own records.
fn check_version(fields: &Map<String, Json>) -> Result<Option<u64>, RecordFault> {
    match fields.get("version").and_then(Json::as_u64) {
        Some(other) if other != NOTICE_VERSION => {
            Err(format!("this record is of version {other}, which this program does not know"))
        }
        version => Ok(version),
    }
}

fn parse_party(fields: &Map<String, Json>, own: usize) -> Result<Party, RecordFault> {
    let docking = if own == 0 {
        None
    } else {
        let parent = index_field(fields, "above")?;
        if parent >= own {
            return Err("`above` must be an earlier member".to_owned());
        }
        let (label, link) = (string_field(fields, "label")?, index_field(fields, "link")?);
        Some(Docking { parent, label, link, ranks: parse_ranks(fields.get("ranks")) })
    };
    Ok(Party {
        id: string_field(fields, "id")?,
        whole_id: string_field(fields, "of").ok(),
        kind: string_field(fields, "type").ok(),
        sequence: fields.get("sequence").and_then(Json::as_i64),
        address: string_field(fields, "address").ok(),
        ticket: string_field(fields, "claim_id").ok(),
        docking,
        preempts: None,
    })
}

fn new_party(id: String, docking: Option<Docking>) -> Party {
    Party { id, docking, ..Party::default() }
}

/// A row of `match`.
fn parse_pair(fields: &Map<String, Json>) -> Result<Notice, RecordFault> {
    let rank = |name: &str| fields.get(name).and_then(Json::as_f64);
    let ranks = rank("request_rank").zip(rank("offer_rank")).map(Into::into);
    let docking = Docking { parent: 0, label: "other".to_owned(), link: 0, ranks };
    let parties = vec![
        new_party(string_field(fields, "request")?, None),
        new_party(string_field(fields, "offer")?, Some(docking)),
    ];
    Ok(Notice::new(MatchKind::Pair, parties, None))
}

/// A tree of `gangmatch`.
fn parse_gang(fields: &Map<String, Json>) -> Result<Notice, RecordFault> {
    check_version(fields)?;
    let mut parties = vec![new_party(string_field(fields, "request")?, None)];
    let mut pending: Vec<(usize, &Json)> = array_field(fields, "ports")?.iter().rev().map(|port| (0, port)).collect();
    while let Some((parent, port)) = pending.pop() {
        let fields = as_object(port)?;
        let own = parties.len();
        let ranks = parse_ranks(fields.get("ranks"));
        let docking =
            Docking { parent, label: string_field(fields, "label")?, link: index_field(fields, "link")?, ranks };
        let part_of = string_field(fields, "of").ok();
        parties.push(Party { whole_id: part_of, ..new_party(string_field(fields, "offer")?, Some(docking)) });
        pending.extend(array_field(fields, "ports")?.iter().rev().map(|below| (own, below)));
    }
    let notice = Notice::new(MatchKind::Gang, parties, None);
    // The identifier in the record may depend on facts that the tree does not have.
    let id = string_field(fields, "match").unwrap_or_else(|_| notice.id.clone());
    Ok(Notice { id, ..notice })
}
