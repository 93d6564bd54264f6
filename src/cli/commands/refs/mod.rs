//! `classad refs`: the references of ads (thesis 2.6.2).

mod collected;
mod partial;
mod port_graph;
mod rectangles;

use std::sync::Arc;

use clap::Args;
use classad::ad::{Ad, ByIdentity, Expression, Name};
use classad::eval::{Context, Environment, FreeNames, References, direct_references, references_of_all};
use classad::format::{AdEntry, AdText};
use classad::pool::{Census, ClassMemo};
use classad::protocol::{PORTS, display_name, has_ports, read_ports};
use classad::query::AdBlockTask;
use classad::syntax::print_name;

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::args::output::TableOutputArgs;
use crate::cli::args::partial_result::PartialResultArgs;
use crate::cli::args::partial_scope::ANY_ATTRIBUTE;
use crate::cli::io::ad_blocks::for_each_ad_block;
use crate::cli::io::partial::PartialSet;
use crate::cli::io::source::AdSource;
use crate::cli::io::unseen_names::{ReportUnseen, UnseenNames};
use crate::cli::io::{cases, input};
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::render::output::out;
use crate::cli::render::references::{NamedReferences, external_names, internal_names};
use crate::cli::render::rows::TableWriter;
use crate::cli::session::Session;
use collected::CollectedReferences;
use partial::{read_partials, write_partial};
use port_graph::port_dependencies;
use rectangles::rectangle_table;

const EXAMPLES: &str = "\
Examples:
  classad refs samples/papers/thesis-figure-6-job.ad
  classad refs --attr Requirements --count samples/pool/jobs.long
  classad refs --pool samples/pool/machines.long samples/pool/jobs.long
  classad refs --attr START --count --pool samples/pool/jobs.long samples/pool/machines.long
  classad refs --dot samples/papers/thesis-figure-6-job.ad | dot -Tsvg
  classad refs --rectangle samples/papers/thesis-figure-20-query.ad

A reference is external if it names the other ad, or an attribute that the ad itself lacks. `*` means any attribute,
for example if the name is computed.

Exit status: 0 if there are references, 1 if there are none, 2 for bad input. With --pool, 0 if nothing is listed, else
1.

In JSON, members have the names of the columns. With --pool, `similar` has names from the pool, as `NAME (N of M)`: N
of the M ads of the pool have NAME. With --count, `lacking` is the number of ads of the pool that lack the attribute.

With --rectangle, each row is a side of a rectangle: an attribute with its value or interval, or a condition. The
`state` of the side is
  indexed     the index finds ads by the side
  empty       no value satisfies the condition
  deviant     the condition or value must be evaluated with the other ad
  unindexed   the value is undefined, an error, a list or an ad
  never       no ad can satisfy the constraint
With --rectangle and --count, `of` says whether the attribute is of the ad or of its partner; `absent` counts the ads
without this side. Sides in the state `empty` count as `indexed`.
See the thesis, 4.2 to 4.4.";

/// List the attributes to which expressions refer
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct Refs {
    #[command(flatten)]
    input: AdFilesArgs,
    /// List only the references of these attributes
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    attr: Vec<String>,
    /// List the references of this expression in each ad
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true, conflicts_with = "attr")]
    expr: Option<String>,
    /// List references to attributes of the ad itself (internal) instead of external references
    #[arg(long)]
    internal: bool,
    /// Print one list of references for all ads
    #[arg(long)]
    union: bool,
    /// Print one list of references for all ads, with the number of ads for each. With --pool, also list attributes
    /// that only some ads of the pool lack
    #[arg(long)]
    count: bool,
    /// List the references to attributes that no ad of this pool has, with similar names from the pool
    #[arg(long, value_name = "FILE", alias = "missing-in", conflicts_with = "internal")]
    pool: Option<String>,
    /// Draw the references between attributes and the dependencies between ports, in the DOT language
    #[arg(long, conflicts_with_all = ["internal", "union", "count", "pool"])]
    dot: bool,
    /// List the rectangle of each ad, by which an index finds the ad: values of its attributes, and intervals that its
    /// constraint allows. With --count, count the ads for each attribute and state
    #[arg(long, conflicts_with_all = ["attr", "expr", "internal", "union", "pool", "dot", "partial"])]
    rectangle: bool,
    #[command(flatten)]
    partial: PartialResultArgs,
    /// List the references of the expressions in FILE, and print a line of JSON for each. Each line of FILE looks like
    /// `{"id": 1, "expr": "A + B", "ad": "[A = 1]"}`
    #[arg(long, value_name = "FILE", conflicts_with = "partial")]
    cases: Option<String>,
    #[command(flatten)]
    output: TableOutputArgs,
}

impl Refs {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        if let Some(file) = &self.cases {
            return cases::run(session, file, cases::refs);
        }
        session.partial_host = self.partial.host().map(str::to_owned);
        let alone = self.input.is_empty() && self.expr.is_some();
        let mut sources = if alone { Vec::new() } else { input::open_sources(session, &self.input.paths()?)? };
        let pool = input::open_optional(session, self.pool.as_ref())?;
        input::decide_dialect_and_time(session, sources.iter().chain(&pool));
        if self.rectangle {
            let rows = rectangle_table(session, &mut sources, self.count)?;
            self.output.write(&rows)?;
            return Ok(Status::of(!rows.rows.is_empty()));
        }
        let task = self.task(session)?;
        if self.partial.is_given() && alone {
            return refuse("--partial needs files: name the files of the ads");
        }
        if self.partial.is_given() {
            return write_partial(session, &mut sources, [&self.input.files, self.pool.as_slice()], &task);
        }
        let mut found = CollectedReferences::default();
        if alone {
            found.add(&task.references(&Ad::default()), 1);
            found.add_row(String::new(), task.references(&Ad::default()));
        }
        let mut first_text = None;
        let needed = task.needed_names();
        for_each_ad_block(
            session,
            &mut sources,
            needed.as_ref(),
            &task,
            &mut |source, text, block: BlockReferences| {
                first_text.get_or_insert_with(|| text.clone());
                for (references, ads) in &block.classes {
                    found.add(references, *ads);
                }
                for (name, number, references) in block.rows {
                    let name = name.unwrap_or_else(|| format!("{}:{}", source.name, source.ads_read + number));
                    found.add_row(name, references);
                }
            },
        )?;
        found.count_classes();
        if let Some(first) = first_text {
            task.unseen_names.report(session, &first);
        }
        self.print(session, found, pool)
    }

    /// Prints what one run over all files of the partial results prints.
    pub fn merge(&self, session: &mut Session, partials: &PartialSet) -> Result<Status, Failure> {
        let task = self.task(session)?;
        let pool = input::open_optional(session, self.pool.as_ref())?;
        let found = read_partials(session, partials, &task)?;
        self.print(session, found, pool)
    }

    /// Returns the files that partial results are of.
    pub fn input_of_partials(&self) -> AdFilesArgs {
        self.input.clone()
    }

    /// Makes the task that finds what the options ask for.
    fn task(&self, session: &mut Session) -> Result<RefsTask, Failure> {
        let names = self.attr.iter().map(|name| input::parse_required_name(session, "--attr", name));
        let scope = ReferenceScope {
            attributes: names.collect::<Result<_, _>>()?,
            expression: input::parse_optional_expression(session, "expression", self.expr.as_deref())?,
        };
        let unseen_names = UnseenNames::new(scope.attributes.iter().cloned());
        let (is_internal, is_graph, is_table) = (self.internal, self.dot, self.is_table());
        let is_for_pool = self.pool.is_some();
        Ok(RefsTask { scope, context: session.context(), unseen_names, is_internal, is_for_pool, is_graph, is_table })
    }

    /// Whether each ad gets its rows.
    fn is_table(&self) -> bool {
        !(self.dot || self.count || self.union || self.pool.is_some())
    }

    /// Prints the references. `pool` is the file of `--pool`.
    fn print(
        &self,
        session: &mut Session,
        found: CollectedReferences,
        pool: Option<AdSource>,
    ) -> Result<Status, Failure> {
        Ok(match pool {
            Some(mut pool) => {
                let mut census = Census::names().nested();
                input::for_each_ad(session, [&mut pool], |_, _, entry| {
                    census.add(&entry.ad);
                    Ok(true)
                })?;
                let missing = found.missing_table(&census, self.count);
                self.output.write(&missing)?;
                Status::of(missing.rows.is_empty())
            }
            None if self.dot => {
                found.write_dot(&mut out())?;
                Status::of(!found.edges.is_empty())
            }
            None if self.is_table() => self.write_rows(&found.rows)?,
            None => {
                let rows = found.union_table(self.count);
                self.output.write(&rows)?;
                Status::of(!rows.rows.is_empty())
            }
        })
    }

    /// Writes a row for each ad and reference.
    fn write_rows(&self, ads: &[(String, Arc<AdReferences>)]) -> Result<Status, Failure> {
        let header = ["ad", "reference"].map(str::to_owned).into();
        let mut writer = TableWriter::new(header, self.output.form, !self.output.no_header)?;
        let (mut out, mut has_rows) = (out(), false);
        for (ad, references) in ads {
            for (name, _) in references.names.values() {
                writer.write(&mut out, vec![ad.as_str().into(), name.clone().into()])?;
                has_rows = true;
            }
        }
        writer.finish(&mut out)?;
        Ok(Status::of(has_rows))
    }
}

/// Finds the references of the ads of a block.
///
/// Constants refer to nothing and are not part of a reference. So ads with the same names and expressions have the same
/// references, whatever their constants are.
#[allow(clippy::struct_excessive_bools)] // each is an option
struct RefsTask {
    scope: ReferenceScope,
    context: Context,
    /// The attributes of `--attr`, each marked once an ad has it.
    unseen_names: UnseenNames,
    is_internal: bool,
    /// Whether only references that an ad of a pool may resolve are listed: not `MY.x` of an ad without `x`.
    is_for_pool: bool,
    /// Whether the references are drawn as a graph.
    is_graph: bool,
    /// Whether each ad gets its rows.
    is_table: bool,
}

/// The references of an ad.
#[derive(Default)]
struct AdReferences {
    names: NamedReferences,
    /// For a graph: each attribute, and what it refers to directly, with whether that is an attribute of the ad itself.
    graph: Vec<(String, Vec<(String, bool)>)>,
}

/// The references of the ads of a block.
struct BlockReferences {
    /// The references of the ads in the order of the ads, each with the number of ads that have them.
    classes: Vec<(Arc<AdReferences>, usize)>,
    /// For rows: each ad with its identity, its number and its references.
    rows: Vec<(Option<String>, usize, Arc<AdReferences>)>,
}

/// What a thread keeps of the ads, and the references of the ads of a block.
struct RefsState {
    memo: ClassMemo<Arc<AdReferences>>,
    /// The references of the ads of the block, each with the number of ads.
    classes: ByIdentity<Arc<AdReferences>, usize>,
    rows: Vec<(Option<String>, usize, Arc<AdReferences>)>,
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
    fn needed_names(&self) -> Option<FreeNames> {
        let mut needed = input::identity_names();
        match &self.scope {
            ReferenceScope { expression: Some(expression), .. } => needed.add(expression, self.context.dialect),
            ReferenceScope { attributes, .. } if attributes.is_empty() => return None,
            ReferenceScope { attributes, .. } => needed.names.extend(attributes.iter().cloned()),
        }
        Some(needed)
    }

    /// Returns the references of an ad, the first of its class.
    fn new_class(&self, ad: &Ad) -> Arc<AdReferences> {
        self.unseen_names.mark_present(|name| ad.get(name).is_some());
        self.references(ad)
    }

    /// Returns the references of an ad.
    fn references(&self, ad: &Ad) -> Arc<AdReferences> {
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
struct ReferenceScope {
    /// The expression of `--expr`.
    expression: Option<Expression>,
    /// The attributes of `--attr`; empty for all attributes. Unused if there is an expression.
    attributes: Vec<Name>,
}

impl ReferenceScope {
    /// Whether the references of the ports are collected.
    fn includes_ports(&self) -> bool {
        self.expression.is_none() && (self.attributes.is_empty() || self.attributes.contains(&PORTS))
    }

    /// Returns the expressions whose references are collected in an ad, each with the name of its attribute. The name
    /// is `None` for the expression of `--expr`.
    fn expressions<'a>(&'a self, ad: &'a Ad) -> Vec<(Option<&'a Name>, &'a Expression)> {
        match &self.expression {
            Some(expression) => vec![(None, expression)],
            None if self.attributes.is_empty() => {
                ad.iter().map(|attribute| (Some(attribute.name), attribute.expression)).collect()
            }
            None => self.attributes.iter().filter_map(|name| Some((Some(name), ad.get(name)?))).collect(),
        }
    }
}
