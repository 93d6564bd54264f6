//! The work of `refs` on blocks: the references of the ads of each class.

use std::sync::Arc;

use classad::ad::{Ad, ByIdentity, Expression, Name};
use classad::eval::{Context, Environment, FreeNames, References, direct_references, references_of_all};
use classad::format::{AdEntry, AdText};
use classad::pool::ClassMemo;
use classad::protocol::{PORTS, display_name, has_ports, read_ports};
use classad::query::AdBlockTask;
use classad::syntax::print_name;

use super::port_graph::port_dependencies;
use crate::cli::args::partial_scope::ANY_ATTRIBUTE;
use crate::cli::io::input;
use crate::cli::io::unseen_names::UnseenNames;
use crate::cli::render::references::{NamedReferences, external_names, internal_names};

/// Finds the references of the ads of a block.
///
/// Constants refer to nothing and are not part of a reference. So ads with the same names and expressions have the same
/// references, whatever their constants are.
#[allow(clippy::struct_excessive_bools)] // each is an option
pub struct RefsTask {
    pub scope: ReferenceScope,
    pub context: Context,
    /// The attributes of `--attr`, each marked once an ad has it.
    pub unseen_names: UnseenNames,
    pub is_internal: bool,
    /// Whether only references that an ad of a pool may resolve are listed: not `MY.x` of an ad without `x`.
    pub is_for_pool: bool,
    /// Whether the references are drawn as a graph.
    pub is_graph: bool,
    /// Whether each ad gets its rows.
    pub is_table: bool,
}

/// The references of an ad.
#[derive(Default)]
pub struct AdReferences {
    pub names: NamedReferences,
    /// For a graph: each attribute, and what it refers to directly, with whether that is an attribute of the ad itself.
    pub graph: Vec<(String, Vec<(String, bool)>)>,
}

/// The references of the ads of a block.
pub struct BlockReferences {
    /// The references of the ads in the order of the ads, each with the number of ads that have them.
    pub classes: Vec<(Arc<AdReferences>, usize)>,
    /// For rows: each ad with its identity, its number and its references.
    pub rows: Vec<(Option<String>, usize, Arc<AdReferences>)>,
}

/// What a thread keeps of the ads, and the references of the ads of a block.
pub struct RefsState {
    pub memo: ClassMemo<Arc<AdReferences>>,
    /// The references of the ads of the block, each with the number of ads.
    pub classes: ByIdentity<Arc<AdReferences>, usize>,
    pub rows: Vec<(Option<String>, usize, Arc<AdReferences>)>,
}

impl RefsState {
    /// Counts an ad.
    fn count(&mut self, references: &Arc<AdReferences>) {
        *self.classes.get_or_insert_with(references, || 0) += 1;
    }
}

impl AdBlockTask for RefsTask {
    type State = RefsState;
    type Output = BlockReferences;

    fn new_state(&self) -> RefsState {
        let memo = ClassMemo::for_references(self.context.dialect);
        RefsState { memo, classes: ByIdentity::default(), rows: Vec::new() }
    }

    fn take_text(&self, state: &mut RefsState, text: AdText) -> Option<usize> {
        // A row needs the identity of its ad. So rows are made of whole ads.
        if self.is_table {
            return None;
        }
        let (length, references) = state.memo.class_of_text(text, |ad| self.new_class(ad))?;
        state.count(&references);
        Some(length)
    }

    fn add(&self, state: &mut RefsState, AdEntry { ad, number, .. }: AdEntry) {
        let references = state.memo.class(&ad, || self.new_class(&ad));
        if self.is_table {
            state.rows.push((display_name(&ad, None, &self.context), number, Arc::clone(&references)));
        }
        state.count(&references);
    }

    fn finish(&self, state: &mut RefsState) -> BlockReferences {
        let classes = std::mem::take(&mut state.classes).into_iter().collect();
        BlockReferences { classes, rows: std::mem::take(&mut state.rows) }
    }
}

impl RefsTask {
    /// Returns the names that are looked up in each ad. `None` if that may be any name.
    pub fn needed_names(&self) -> Option<FreeNames> {
        let mut needed = input::identity_names();
        match &self.scope {
            ReferenceScope { expression: Some(expression), .. } => needed.add(expression, self.context.dialect),
            ReferenceScope { attributes, .. } if attributes.is_empty() => return None,
            ReferenceScope { attributes, .. } => needed.names.extend(attributes.iter().cloned()),
        }
        Some(needed)
    }

    /// Returns the references of an ad, the first of its class.
    pub fn new_class(&self, ad: &Ad) -> Arc<AdReferences> {
        self.unseen_names.mark_present(|name| ad.get(name).is_some());
        self.references(ad)
    }

    /// Returns the references of an ad.
    pub fn references(&self, ad: &Ad) -> Arc<AdReferences> {
        let (environment, frame) = Environment::single(ad.clone());
        let expressions = self.scope.expressions(ad).into_iter();
        Arc::new(if self.is_graph {
            let graph = expressions.map(|(attribute, expression)| {
                let direct = direct_references(expression, &frame, &environment, &self.context);
                let direct = without_labels(direct, ad);
                let from = attribute.map_or_else(|| "(expression)".to_owned(), print_name);
                (from, direct_targets(ad, &direct))
            });
            let mut graph: Vec<_> = graph.collect();
            if self.scope.includes_ports() {
                graph.extend(port_dependencies(ad, self.context.dialect));
            }
            AdReferences { graph, ..AdReferences::default() }
        } else {
            let expressions = expressions.map(|(_, expression)| expression);
            let mut found = without_labels(references_of_all(expressions, &frame, &environment, &self.context), ad);
            if self.is_for_pool {
                found.external.retain(|reference| reference.resolved == 0);
            }
            let names = if self.is_internal { internal_names(&found) } else { external_names(found) };
            AdReferences { names, ..AdReferences::default() }
        })
    }
}

/// Removes the labels of an ad's ports, which denote no attribute: `Label = cpu` gives the port its name, and `cpu`
/// alone is the whole ad that docks there. A reference such as `cpu.Memory` remains.
fn without_labels(mut found: References, ad: &Ad) -> References {
    if has_ports(ad)
        && let Ok(ports) = read_ports(ad)
    {
        let is_label = |name: &Name| ports.list.iter().any(|port| port.label == *name);
        found.external.retain(|reference| reference.path.len() > 1 || !is_label(&reference.path[0]));
    }
    found
}

/// Returns the names that an attribute refers to directly, each with whether it is an attribute of the ad itself.
fn direct_targets(ad: &Ad, direct: &References) -> Vec<(String, bool)> {
    // Spell an attribute as in its definition, not as in the reference.
    let own = |name| ad.attribute(name).map_or(name, |attribute| attribute.name);
    let internal = direct.internal.iter().map(|name| (print_name(own(name)), true));
    let external = direct.external.iter().map(|reference| (reference.to_string(), false));
    let everything = direct.reads_anything.then(|| (ANY_ATTRIBUTE.to_owned(), false));
    internal.chain(external).chain(everything).collect()
}

/// The expressions whose references are collected.
pub struct ReferenceScope {
    /// The expression of `--expr`.
    pub expression: Option<Expression>,
    /// The attributes of `--attr`; empty for all attributes. Unused if there is an expression.
    pub attributes: Vec<Name>,
}

impl ReferenceScope {
    /// Whether the references of the ports are collected.
    pub fn includes_ports(&self) -> bool {
        self.expression.is_none() && (self.attributes.is_empty() || self.attributes.contains(&PORTS))
    }

    /// Returns the expressions whose references are collected in an ad, each with the name of its attribute. The name
    /// is `None` for the expression of `--expr`.
    pub fn expressions<'a>(&'a self, ad: &'a Ad) -> Vec<(Option<&'a Name>, &'a Expression)> {
        match &self.expression {
            Some(expression) => vec![(None, expression)],
            None if self.attributes.is_empty() => {
                ad.iter().map(|attribute| (Some(attribute.name), attribute.expression)).collect()
            }
            None => self.attributes.iter().filter_map(|name| Some((Some(name), ad.get(name)?))).collect(),
        }
    }
}
