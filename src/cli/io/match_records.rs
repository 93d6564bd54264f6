//! Reading of earlier matches: the records of `--notify`, or the JSON output of `match` and `gangmatch`.

use std::collections::HashMap;
use std::io::Read;

use classad::matching::{Bond, Docking, Notice, Party};
use serde_json::{Map, Value as Json};

use crate::cli::Failure;
use crate::cli::args::notify::VERSION;
use crate::cli::render::diagnostics;
use crate::cli::session::Session;

/// Why a JSON value is no match.
type Fault = String;

/// Reads the matches of these files, each once, in the order of their first records. Values that are no match are
/// reported and skipped.
///
/// # Errors
///
/// A file cannot be read, or a value is no match and `--fail-fast` is given.
pub fn read(session: &mut Session, paths: &[String]) -> Result<Vec<Notice>, Failure> {
    let mut matches = Matches::default();
    for path in paths {
        let text = text(path).map_err(|error| {
            Failure::Refused(Some(format!("cannot read {path}: {}", diagnostics::io_reason(&error))))
        })?;
        each_value(session, path, &text, |value| matches.add(value))?;
    }
    Ok(matches.notices)
}

fn text(path: &str) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    if path == "-" {
        std::io::stdin().lock().read_to_end(&mut text)?;
        return Ok(text);
    }
    std::fs::read(path)
}

/// Calls `visit` for each JSON value of a text, and for each element of an array at the top. Text that is no JSON
/// is reported; reading resumes at the line where the error was noticed, but at least one line further.
fn each_value(
    session: &mut Session,
    path: &str,
    text: &[u8],
    mut visit: impl FnMut(&Json) -> Result<(), Fault>,
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
                        visit(element).or_else(|fault| told(session, path, before + line, &fault))?;
                    }
                }
                Some(Ok(value)) => visit(&value).or_else(|fault| told(session, path, before + line, &fault))?,
            }
        };
        let reason = wrong.to_string();
        let reason = reason.split(" at line ").next().unwrap_or_default();
        told(session, path, before + line, &format!("this is no JSON: {reason}"))?;
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

fn told(session: &mut Session, path: &str, line: usize, fault: &str) -> Result<(), Failure> {
    session.trouble(&format!("{path}:{line}: {fault}"));
    if session.options.fail_fast { Err(Failure::Refused(None)) } else { Ok(()) }
}

/// The matches that have been read, by identifier.
#[derive(Default)]
struct Matches {
    notices: Vec<Notice>,
    by_id: HashMap<String, usize>,
}

impl Matches {
    fn add(&mut self, value: &Json) -> Result<(), Fault> {
        let wanted = "this is no match: neither a record of --notify nor a row of `match` or `gangmatch`";
        let fields = value.as_object().ok_or(wanted)?;
        let has = |name: &str| fields.contains_key(name);
        let notice = if has("members") {
            notice(fields)?
        } else if has("request") && has("ports") {
            gang(fields)?
        } else if has("request") && has("offer") {
            pair(fields)?
        } else {
            return Err(wanted.to_owned());
        };
        let next = self.notices.len();
        let known = *self.by_id.entry(notice.id.clone()).or_insert(next);
        match self.notices.get_mut(known) {
            None => self.notices.push(notice),
            Some(known) => learn(known, notice)?,
        }
        Ok(())
    }
}

/// Merges a further record of a match into the known one: each recipient's record has only some of the tickets.
fn learn(known: &mut Notice, notice: Notice) -> Result<(), Fault> {
    let same = |(a, b): (&Party, &Party)| a.id == b.id && a.sequence == b.sequence;
    if known.parties.len() != notice.parties.len() || !known.parties.iter().zip(&notice.parties).all(same) {
        return Err(format!("another match is called {}, too", known.id));
    }
    for (party, told) in known.parties.iter_mut().zip(notice.parties) {
        party.ticket = party.ticket.take().or(told.ticket);
    }
    Ok(())
}

fn text_of(fields: &Map<String, Json>, name: &str) -> Result<String, Fault> {
    fields.get(name).and_then(Json::as_str).map(str::to_owned).ok_or_else(|| format!("`{name}` must be a string"))
}

fn index_of(fields: &Map<String, Json>, name: &str) -> Result<usize, Fault> {
    let index = fields.get(name).and_then(Json::as_u64).and_then(|index| usize::try_from(index).ok());
    index.ok_or_else(|| format!("`{name}` must be a number from 0"))
}

fn list_of<'f>(fields: &'f Map<String, Json>, name: &str) -> Result<&'f [Json], Fault> {
    fields.get(name).and_then(Json::as_array).map(Vec::as_slice).ok_or_else(|| format!("`{name}` must be an array"))
}

fn object(value: &Json) -> Result<&Map<String, Json>, Fault> {
    value.as_object().ok_or_else(|| "here an object is wanted".to_owned())
}

fn ranks(value: Option<&Json>) -> Option<[f64; 2]> {
    match value?.as_array()?.as_slice() {
        [request, offer] => Some([request.as_f64()?, offer.as_f64()?]),
        _ => None,
    }
}

/// A record of `--notify`.
fn notice(fields: &Map<String, Json>) -> Result<Notice, Fault> {
    if version(fields)?.is_none() {
        return Err("a record of a match must have a `version`".to_owned());
    }
    let bond = match text_of(fields, "bond")?.as_str() {
        "pair" => Bond::Pair,
        "gang" => Bond::Gang,
        other => return Err(format!("`bond` must be \"pair\" or \"gang\", not \"{other}\"")),
    };
    let mut parties = Vec::new();
    for member in list_of(fields, "members")? {
        let party = party(object(member)?, parties.len())?;
        parties.push(party);
    }
    if parties.is_empty() {
        return Err("a match must have members".to_owned());
    }
    Ok(Notice { id: text_of(fields, "match")?, time: fields.get("time").and_then(Json::as_i64), bond, parties })
}

/// Returns the version of a record, `None` if it has none.
///
/// # Errors
///
/// The version is another than that of this program's own records.
fn version(fields: &Map<String, Json>) -> Result<Option<u64>, Fault> {
    match fields.get("version").and_then(Json::as_u64) {
        Some(other) if other != VERSION => {
            Err(format!("this record is of version {other}, which this program does not know"))
        }
        version => Ok(version),
    }
}

fn party(fields: &Map<String, Json>, own: usize) -> Result<Party, Fault> {
    let docking = if own == 0 {
        None
    } else {
        let parent = index_of(fields, "above")?;
        if parent >= own {
            return Err("`above` must be an earlier member".to_owned());
        }
        let (label, link) = (text_of(fields, "label")?, index_of(fields, "link")?);
        Some(Docking { parent, label, link, ranks: ranks(fields.get("ranks")) })
    };
    Ok(Party {
        id: text_of(fields, "id")?,
        part_of: text_of(fields, "of").ok(),
        kind: text_of(fields, "type").ok(),
        sequence: fields.get("sequence").and_then(Json::as_i64),
        address: text_of(fields, "address").ok(),
        ticket: text_of(fields, "claim_id").ok(),
        docking,
        preempts: None,
    })
}

fn named(id: String, docking: Option<Docking>) -> Party {
    Party { id, docking, ..Party::default() }
}

/// A row of `match`.
fn pair(fields: &Map<String, Json>) -> Result<Notice, Fault> {
    let rank = |name: &str| fields.get(name).and_then(Json::as_f64);
    let ranks = rank("request_rank").zip(rank("offer_rank")).map(Into::into);
    let docking = Docking { parent: 0, label: "other".to_owned(), link: 0, ranks };
    let parties = vec![named(text_of(fields, "request")?, None), named(text_of(fields, "offer")?, Some(docking))];
    Ok(Notice::new(Bond::Pair, parties, None))
}

/// A tree of `gangmatch`.
fn gang(fields: &Map<String, Json>) -> Result<Notice, Fault> {
    version(fields)?;
    let mut parties = vec![named(text_of(fields, "request")?, None)];
    let mut pending: Vec<(usize, &Json)> = list_of(fields, "ports")?.iter().rev().map(|port| (0, port)).collect();
    while let Some((parent, port)) = pending.pop() {
        let fields = object(port)?;
        let own = parties.len();
        let ranks = ranks(fields.get("ranks"));
        let docking = Docking { parent, label: text_of(fields, "label")?, link: index_of(fields, "link")?, ranks };
        let part_of = text_of(fields, "of").ok();
        parties.push(Party { part_of, ..named(text_of(fields, "offer")?, Some(docking)) });
        pending.extend(list_of(fields, "ports")?.iter().rev().map(|below| (own, below)));
    }
    let notice = Notice::new(Bond::Gang, parties, None);
    // The identifier in the record may depend on facts that the tree does not have.
    let id = text_of(fields, "match").unwrap_or_else(|_| notice.id.clone());
    Ok(Notice { id, ..notice })
}
