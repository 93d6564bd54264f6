//! `classad refs`: the references of ads (thesis 2.6.2).

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, Write};

use clap::Args;
use classad::ad::{Ad, Expression, Name};
use classad::eval::{Context, Environment, Reference, References, direct_references, references_of_all};
use classad::pool::Census;
use classad::syntax::print_name;
use indexmap::{IndexMap, IndexSet};

use crate::cli::args::partial_scope::EVERYTHING;
use crate::cli::io::input::Identified;
use crate::cli::io::{cases, input};
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::references::{external, internal};
use crate::cli::render::rows::Rows;
use crate::cli::session::Session;
use crate::cli::{Failure, Status};

const EXAMPLES: &str = "\
Examples:
  classad refs samples/papers/thesis-figure-6-job.ad
  classad refs --attr Requirements --count samples/pool/jobs.long
  classad refs --missing-in samples/pool/machines.long samples/pool/jobs.long
  classad refs --dot samples/papers/thesis-figure-6-job.ad | dot -Tsvg

A reference is external if the ad itself does not answer it; it is printed as it is written, with its qualifier.
`*` stands for any name: one that is computed, or a whole ad that is used as a value.
Exit status: 0 if there are references, 1 if there are none; with --missing-in 0 if none is missing, 1 otherwise.
-o json: an array of {ad, reference}; with --union of {reference}, with --count of {reference, ads}, with
--missing-in of {reference, ads, near: [...]}.";

/// List external and internal references
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct Refs {
    /// Files of ads; standard input if there are none
    files: Vec<String>,
    /// The references of these attributes only
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    attr: Vec<String>,
    /// The references of an expression in each ad
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true, conflicts_with = "attr")]
    expr: Option<String>,
    /// The attributes of the ads themselves that are read, instead
    #[arg(long)]
    internal: bool,
    /// One list for all ads
    #[arg(long)]
    union: bool,
    /// One list, and how many ads have each reference
    #[arg(long)]
    count: bool,
    /// The references that no ad of a pool answers, and names of the pool that are spelt alike
    #[arg(long, value_name = "POOL", conflicts_with = "internal")]
    missing_in: Option<String>,
    /// Draw which attribute refers to what, as a graph in the DOT language
    #[arg(long, conflicts_with_all = ["internal", "union", "count", "missing_in"])]
    dot: bool,
    /// Read cases {"id","ad","expr"} from a file of JSON lines
    #[arg(long, value_name = "FILE")]
    cases: Option<String>,
    /// The form of the output
    #[arg(short, long, value_name = "FORM")]
    output: Option<OutputForm>,
    /// Leave the heading out
    #[arg(long)]
    no_header: bool,
}

impl Refs {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        if let Some(file) = &self.cases {
            return cases::run(session, file, cases::refs);
        }
        let alone = self.files.is_empty() && self.expr.is_some();
        let mut sources = if alone { Vec::new() } else { input::open(session, &self.files)? };
        let pool = input::one_source(session, self.missing_in.as_ref())?;
        session.decide_dialect(sources.iter().chain(&pool));
        let question = self.question(session)?;
        let mut found = Found::default();
        let mut asked = input::Asked::new(question.attributes());
        if alone {
            self.note(&session.context(), &Identified::unnamed(Ad::default()), &question, &mut found);
        }
        for source in &mut sources {
            input::each_ad(session, source, |session, entry| {
                asked.look_into(&entry.ad);
                let ad = input::identify(session, entry, None);
                self.note(&session.context(), &ad, &question, &mut found);
                Ok(true)
            })?;
        }
        asked.tell(session);
        let mut out = out();
        let status = match pool {
            Some(mut pool) => {
                let mut census = Census::names().nested();
                input::each_ad(session, &mut pool, |_, entry| {
                    census.add(&entry.ad);
                    Ok(true)
                })?;
                let missing = found.missing_in(&census);
                let status = Status::of(missing.rows.is_empty());
                self.write(session, &mut out, &missing)?;
                status
            }
            None if self.dot => {
                if !session.options.quiet {
                    found.dot(&mut out)?;
                }
                Status::of(!found.edges.is_empty())
            }
            None => {
                let rows = if self.count || self.union { found.union(self.count) } else { found.rows };
                let status = Status::of(!rows.rows.is_empty());
                self.write(session, &mut out, &rows)?;
                status
            }
        };
        out.flush()?;
        Ok(status)
    }

    fn write(&self, session: &Session, out: &mut dyn Write, rows: &Rows) -> Result<(), Failure> {
        if session.options.quiet { Ok(()) } else { rows.write(out, self.output, !self.no_header) }
    }

    fn question(&self, session: &mut Session) -> Result<Question, Failure> {
        if let Some(text) = &self.expr {
            return Ok(Question::Expression(input::expression(session, "expression", text)?));
        }
        let names = self.attr.iter().map(|name| input::wanted_name(session, "--attr", name));
        let names: Vec<Name> = names.collect::<Result<_, _>>()?;
        Ok(if names.is_empty() { Question::WholeAd } else { Question::Attributes(names) })
    }

    /// Collects the references of an ad.
    fn note(&self, context: &Context, ad: &Identified, question: &Question, found: &mut Found) {
        let (environment, frame) = Environment::alone(ad.ad.clone());
        if self.dot {
            for (attribute, expression) in question.expressions(&ad.ad) {
                let direct = direct_references(expression, &frame, &environment, context);
                found.note_edges(&ad.ad, attribute, &direct);
            }
            return;
        }
        let expressions = question.expressions(&ad.ad).into_iter().map(|(_, expression)| expression);
        let references = references_of_all(expressions, &frame, &environment, context);
        for (key, (name, reference)) in if self.internal { internal(&references) } else { external(references) } {
            found.note(ad.id(), key, name, reference);
        }
    }
}

/// The expressions whose references are collected.
enum Question {
    Expression(Expression),
    Attributes(Vec<Name>),
    WholeAd,
}

impl Question {
    fn attributes(&self) -> &[Name] {
        match self {
            Question::Attributes(names) => names,
            Question::Expression(_) | Question::WholeAd => &[],
        }
    }

    /// Returns the expressions in an ad, each with its attribute; `None` for the expression of the command line.
    fn expressions<'a>(&'a self, ad: &'a Ad) -> Vec<(Option<&'a Name>, &'a Expression)> {
        match self {
            Question::Expression(expression) => vec![(None, expression)],
            Question::Attributes(names) => names.iter().filter_map(|name| Some((Some(name), ad.get(name)?))).collect(),
            Question::WholeAd => ad.iter().map(|attribute| (Some(attribute.name), attribute.expression)).collect(),
        }
    }
}

/// The references collected from all ads.
struct Found {
    /// A row for each ad and reference.
    rows: Rows,
    /// For each reference in small letters: its first spelling, the number of ads with it, and the reference itself,
    /// which is `None` for internal ones and for `*`.
    counts: IndexMap<String, (String, usize, Option<Reference>)>,
    /// Edges of the graph: from, to, and whether the target is in the ad itself.
    edges: IndexSet<(String, String, bool)>,
    /// First spelling of each node of the graph, by its name in small letters.
    spellings: HashMap<String, String>,
}

impl Default for Found {
    fn default() -> Self {
        Found {
            rows: Rows::new(&["ad", "reference"]),
            counts: IndexMap::new(),
            edges: IndexSet::new(),
            spellings: HashMap::new(),
        }
    }
}

impl Found {
    /// Adds a reference of an ad; `key` is its name in small letters.
    fn note(&mut self, id: &str, key: String, name: String, reference: Option<Reference>) {
        self.rows.rows.push(vec![id.to_owned().into(), name.clone().into()]);
        self.counts.entry(key).or_insert((name, 0, reference)).1 += 1;
    }

    /// Adds the direct references of an attribute to the graph.
    fn note_edges(&mut self, ad: &Ad, attribute: Option<&Name>, direct: &References) {
        let from = attribute.map_or_else(|| "(expression)".to_owned(), print_name);
        let from = self.node(from);
        // Spell an attribute as in its definition.
        let own = |name| ad.attribute(name).map_or(name, |attribute| attribute.name);
        let internal = direct.internal.iter().map(|name| (print_name(own(name)), true));
        let external = direct.external.iter().map(|reference| (reference.to_string(), false));
        let everything = direct.everything.then(|| (EVERYTHING.to_owned(), false));
        for (to, inside) in internal.chain(external).chain(everything) {
            let to = self.node(to);
            self.edges.insert((from.clone(), to, inside));
        }
    }

    /// Returns the node for a name: one for all spellings that differ only in case.
    fn node(&mut self, name: String) -> String {
        self.spellings.entry(name.to_ascii_lowercase()).or_insert(name).clone()
    }

    /// Returns a table with each reference once; `with_counts` adds the number of ads and sorts by it, greatest first.
    fn union(self, with_counts: bool) -> Rows {
        let mut rows = Rows::new(if with_counts { &["reference", "ads"] } else { &["reference"] });
        let mut counted: Vec<_> = self.counts.into_values().collect();
        if with_counts {
            counted.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
        }
        for (name, count, _) in counted {
            let mut row = vec![name.into()];
            row.extend(with_counts.then(|| count.into()));
            rows.rows.push(row);
        }
        rows
    }

    /// Returns a table of the references that no ad of the pool resolves, with similar names of the pool.
    fn missing_in(self, pool: &Census) -> Rows {
        let mut rows = Rows::new(&["reference", "ads", "near"]);
        // An expression evaluated in nested ads resolves its names there, so their attributes count too.
        let inner = pool.attributes().filter_map(|(name, _)| Some(Name::new(name.as_str().rsplit_once('.')?.1)));
        let inner: HashSet<Name> = inner.collect();
        for (name, count, reference) in self.counts.into_values() {
            let Some(reference) = reference else { continue };
            // The first part of a path is the label of a port, unless the pool has an attribute with that name.
            let wanted = match reference.missing() {
                [first, second, ..] if pool.attribute(first).is_none() => second,
                [first, ..] => first,
                [] => continue,
            };
            if pool.attribute(wanted).is_some() || inner.contains(wanted) {
                continue;
            }
            let near: Vec<String> = pool
                .nearest(wanted.as_str())
                .into_iter()
                .map(|near| {
                    let ads = pool.attribute(&Name::new(near)).map_or(0, classad::pool::Summary::ads);
                    format!("{near} ({ads} of {})", pool.ads())
                })
                .collect();
            rows.rows.push(vec![name.into(), count.into(), near.into()]);
        }
        rows
    }

    /// Writes the graph of references in the DOT language. Targets outside the ad are drawn as boxes.
    fn dot(&self, out: &mut dyn Write) -> io::Result<()> {
        let quoted = |name: &str| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
        writeln!(out, "digraph references {{")?;
        writeln!(out, "  rankdir=LR;")?;
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
