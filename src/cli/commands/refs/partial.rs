//! Partial results of `refs`: the references of parts of files, and merging them.

use std::sync::Arc;

use classad::eval::Reference;
use serde::{Deserialize, Serialize};

use super::collected::CollectedReferences;
use super::{AdReferences, BlockReferences, RefsTask};
use crate::cli::io::partial::{PartialFinding, PartialSet, PartialWriter, ScanStep};
use crate::cli::io::source::AdSource;
use crate::cli::io::unseen_names::{ReportUnseen, first_names};
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::session::Session;

/// A finding in a partial result.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RefsFinding {
    /// An ad, with its identity or else its number in the part, and its references.
    Ad { id: Option<String>, number: usize, references: Vec<String> },
    /// A reference, the number of ads of the part that have it, and its path.
    Counted { name: String, ads: usize, path: Option<Reference> },
    /// An edge of the graph.
    Edge { from: String, to: String, inside: bool },
}

impl PartialFinding for RefsFinding {
    fn ads(&self) -> usize {
        usize::from(matches!(self, RefsFinding::Ad { .. }))
    }
}

/// What a run over all files says of misspelt attributes.
#[derive(Default, Serialize, Deserialize)]
struct RefsNotes {
    /// Whether some ad has each attribute of `--attr`.
    seen: Vec<bool>,
    /// The attribute names at the beginning of the first file; `None` if this is unknown.
    names: Option<Vec<String>>,
}

/// Scans the sources and writes a partial result.
pub fn write_partial(
    session: &mut Session,
    sources: &mut [AdSource],
    [paths, settings]: [&[String]; 2],
    task: &RefsTask,
) -> Result<Status, Failure> {
    let mut writer = PartialWriter::new(session, sources, paths, settings)?;
    let mut found = CollectedReferences::default();
    let needed = task.needed_names();
    writer.scan(session, sources, needed.as_ref(), task, &mut |writer, step: ScanStep<'_, BlockReferences>| {
        match step {
            ScanStep::Block(source, block) if task.is_table => {
                for (id, number, references) in block.rows {
                    let references = references.names.values().map(|(name, _)| name.clone()).collect();
                    writer.add_finding(&RefsFinding::Ad { id, number: number + source.ads_read, references })?;
                }
            }
            ScanStep::Block(_, block) => block.classes.iter().for_each(|(references, ads)| found.add(references, *ads)),
            ScanStep::FileEnd => write_collected(writer, std::mem::take(&mut found))?,
        }
        Ok(())
    })?;
    let seen = task.unseen_names.seen();
    let names = if seen.contains(&false) { first_names(session, sources) } else { None };
    writer.finish(session, &RefsNotes { seen, names })?;
    Ok(Status::Yes)
}

/// Writes the references and the graph of a file.
fn write_collected(writer: &mut PartialWriter, mut found: CollectedReferences) -> Result<(), Failure> {
    found.count_classes();
    for (name, ads, reference) in found.counted() {
        let finding = RefsFinding::Counted { name: name.clone(), ads: *ads, path: reference.clone() };
        writer.add_finding(&finding)?;
    }
    for (from, to, inside) in &found.edges {
        writer.add_finding(&RefsFinding::Edge { from: from.clone(), to: to.clone(), inside: *inside })?;
    }
    Ok(())
}

/// Collects the references of all partial results, and reports misspelt attributes.
pub fn read_partials(
    session: &mut Session,
    partials: &PartialSet,
    task: &RefsTask,
) -> Result<CollectedReferences, Failure> {
    let mut found = CollectedReferences::default();
    partials.replay(session, &mut |_, file, finding| {
        match finding {
            RefsFinding::Ad { id, number, references } => {
                let id = id.unwrap_or_else(|| format!("{}:{}", file.name, number + file.ads_before));
                let names = references.into_iter().map(|name| (name.to_ascii_lowercase(), (name, None))).collect();
                found.add_row(id, Arc::new(AdReferences { names, ..AdReferences::default() }));
            }
            RefsFinding::Counted { path: Some(path), .. } if path.path.is_empty() => {
                return refuse("a partial result is damaged");
            }
            RefsFinding::Counted { name, ads, path } => found.add_counted(name, ads, path),
            RefsFinding::Edge { from, to, inside } => found.add_edge(from, to, inside),
        }
        Ok(true)
    })?;
    let mut names = None;
    for notes in &partials.notes {
        let notes: RefsNotes = serde_json::from_value(notes.clone()).unwrap_or_default();
        task.unseen_names.mark_seen(&notes.seen);
        names = names.or(notes.names);
    }
    task.unseen_names.report_among(session, &names.unwrap_or_default());
    Ok(found)
}
