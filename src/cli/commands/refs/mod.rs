//! `classad refs`: the references of ads (thesis 2.6.2).

mod collected;
mod partial;
mod port_graph;
mod rectangles;
mod task;

use std::sync::Arc;

use clap::Args;
use classad::ad::Ad;
use classad::pool::Census;

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::args::output::TableOutputArgs;
use crate::cli::args::partial_result::PartialResultArgs;
use crate::cli::io::ad_blocks::for_each_ad_block;
use crate::cli::io::argument_text;
use crate::cli::io::partial::PartialSet;
use crate::cli::io::source::AdSource;
use crate::cli::io::unseen_names::{ReportUnseen, UnseenNames};
use crate::cli::io::{cases, input};
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::render::output::out;
use crate::cli::render::rows::TableWriter;
use crate::cli::session::Session;
use collected::CollectedReferences;
use partial::{read_partials, write_partial};
use rectangles::rectangle_table;
use task::{AdReferences, BlockReferences, ReferenceScope, RefsTask};

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
        let names = self.attr.iter().map(|name| argument_text::parse_required_name(session, "--attr", name));
        let scope = ReferenceScope {
            attributes: names.collect::<Result<_, _>>()?,
            expression: argument_text::parse_optional_expression(session, "expression", self.expr.as_deref())?,
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
