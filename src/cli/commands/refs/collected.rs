//! The references collected from all ads, and what is printed of them.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, Write};
use std::sync::Arc;

use classad::ad::Name;
use classad::eval::Reference;
use classad::pool::{AttributeSummary, Census};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use super::AdReferences;
use crate::cli::render::rows::ResultTable;

/// Maximum number of classes of ads that are not counted yet.
const MAX_UNCOUNTED_CLASSES: usize = 4096;

/// The references collected from all ads.
#[derive(Default)]
pub struct CollectedReferences {
    /// For rows: each ad with its references.
    pub rows: Vec<(String, Arc<AdReferences>)>,
    /// References of ads and the number of these ads, which `counts` lacks so far. The key is the address.
    classes: IndexMap<usize, (Arc<AdReferences>, usize), FxBuildHasher>,
    /// For each reference in lower case: the first spelling, the number of ads with the reference, and the
    /// [`Reference`]. The [`Reference`] is `None` for internal references and for `*`, which stands for any attribute.
    counts: IndexMap<String, (String, usize, Option<Reference>)>,
    /// Edges of the graph: source, target, and whether the target is an attribute of the ad itself.
    pub edges: IndexSet<(String, String, bool)>,
    /// First spelling of each node of the graph, by the name in lower case.
    spellings: HashMap<String, String>,
}

impl CollectedReferences {
    /// Adds the references of a number of ads.
    pub fn add(&mut self, references: &Arc<AdReferences>, ads: usize) {
        let class = self.classes.entry(Arc::as_ptr(references) as usize);
        class.or_insert_with(|| (Arc::clone(references), 0)).1 += ads;
        if self.classes.len() > MAX_UNCOUNTED_CLASSES {
            self.count_classes();
        }
    }

    /// Adds the rows of an ad.
    pub fn add_row(&mut self, name: String, references: Arc<AdReferences>) {
        self.rows.push((name, references));
    }

    /// Adds the references of `classes` to the counts and to the graph.
    pub fn count_classes(&mut self) {
        for (references, ads) in std::mem::take(&mut self.classes).into_values() {
            for (key, (name, reference)) in &references.names {
                if let Some((_, count, _)) = self.counts.get_mut(key) {
                    *count += ads;
                } else {
                    self.counts.insert(key.clone(), (name.clone(), ads, reference.clone()));
                }
            }
            for (from, targets) in &references.graph {
                for (to, inside) in targets {
                    self.add_edge(from.clone(), to.clone(), *inside);
                }
            }
        }
    }

    /// Adds a reference that a number of ads have.
    pub fn add_counted(&mut self, name: String, ads: usize, reference: Option<Reference>) {
        let counted = self.counts.entry(name.to_ascii_lowercase());
        counted.or_insert((name, 0, reference)).1 += ads;
    }

    /// Adds an edge of the graph.
    pub fn add_edge(&mut self, from: String, to: String, inside: bool) {
        let (from, to) = (self.node(from), self.node(to));
        self.edges.insert((from, to, inside));
    }

    /// Returns each reference in the order of the ads: the first spelling, the number of ads, and the [`Reference`], as
    /// far as it is known.
    pub fn counted(&self) -> impl Iterator<Item = &(String, usize, Option<Reference>)> {
        self.counts.values()
    }

    /// Returns the node for a name. Spellings that differ only in case share one node.
    fn node(&mut self, name: String) -> String {
        self.spellings.entry(name.to_ascii_lowercase()).or_insert(name).clone()
    }

    /// Returns a table with each reference once. `with_counts` adds the number of ads and sorts by that number,
    /// greatest first.
    pub fn union_table(self, with_counts: bool) -> ResultTable {
        let mut counted: Vec<_> = self.counts.into_values().collect();
        if with_counts {
            counted.sort_by_key(|(_, count, _)| Reverse(*count));
            let rows = counted.into_iter().map(|(name, count, _)| vec![name.into(), count.into()]);
            return ResultTable::with_rows(&["reference", "ads"], rows);
        }
        ResultTable::with_rows(&["reference"], counted.into_iter().map(|(name, ..)| vec![name.into()]))
    }

    /// Returns a table of the external references that no ad of the pool resolves, with similar names of the pool. The
    /// references that most ads have come first. `with_counts` also lists those that some ads of the pool resolve, and adds
    /// the number of ads of the pool that lack the attribute, greatest first.
    pub fn missing_table(self, pool: &Census, with_counts: bool) -> ResultTable {
        let header: &[&str] =
            if with_counts { &["reference", "ads", "lacking", "similar"] } else { &["reference", "ads", "similar"] };
        let mut rows = Vec::new();
        // Collect the attributes of nested ads too: an expression that is evaluated in a nested ad can refer to them.
        let inner = pool.attributes().filter_map(|(name, _)| Some(Name::new(name.as_str().rsplit_once('.')?.1)));
        let inner: HashSet<Name> = inner.collect();
        let mut counted: Vec<_> = self.counts.into_values().collect();
        counted.sort_by_key(|(_, count, _)| Reverse(*count));
        for (name, count, reference) in counted {
            let Some(reference) = reference else { continue };
            // In `cpu.Memory`, take `cpu` for the label of a port and look for `Memory`. If the pool has an attribute
            // `cpu`, look for `cpu`.
            let wanted = match reference.missing() {
                [first, second, ..] if pool.attribute(first).is_none() => second,
                [first, ..] => first,
                [] => continue,
            };
            let having = pool.attribute(wanted).map_or(0, AttributeSummary::ads);
            let lacking = pool.ads() - having;
            if lacking == 0 || having > 0 && !with_counts || having == 0 && inner.contains(wanted) {
                continue;
            }
            if having > 0 {
                rows.push((lacking, vec![name.into(), count.into(), lacking.into(), Vec::<String>::new().into()]));
                continue;
            }
            let similar = pool.closest_names(wanted.as_str()).into_iter().map(|similar| {
                let ads = pool.attribute(&Name::new(similar)).map_or(0, AttributeSummary::ads);
                format!("{similar} ({ads} of {})", pool.ads())
            });
            let lacks = with_counts.then(|| lacking.into());
            let similar = similar.collect::<Vec<String>>().into();
            let row = [name.into(), count.into()].into_iter().chain(lacks).chain([similar]);
            rows.push((lacking, row.collect()));
        }
        rows.sort_by_key(|(lacking, _)| Reverse(*lacking));
        ResultTable::with_rows(header, rows.into_iter().map(|(_, row)| row))
    }

    /// Writes the graph of references in the DOT language. Targets outside the ad are drawn as boxes.
    pub fn write_dot(&self, out: &mut dyn Write) -> io::Result<()> {
        let quoted = |name: &str| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
        writeln!(out, "digraph references {{\n  rankdir=LR;")?;
        let outside: BTreeSet<&str> =
            self.edges.iter().filter(|(_, _, inside)| !inside).map(|(_, to, _)| to.as_str()).collect();
        for name in outside {
            writeln!(out, "  {} [shape=box];", quoted(name))?;
        }
        for (from, to, _) in &self.edges {
            writeln!(out, "  {} -> {};", quoted(from), quoted(to))?;
        }
        writeln!(out, "}}")
    }
}
