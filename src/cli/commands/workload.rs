//! `classad workload`: writes synthetic ads, generated from a seed.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use classad::workload::{AdGenerator, AdKind, DomainMix, GangVariant, GangWorkload, IndexWorkload, PoolWorkload};

use crate::cli::args::global::AdForm;
use crate::cli::io::input::NamedAd;
use crate::cli::render::output::{AdWriter, out};
use crate::cli::render::rows::ResultTable;
use crate::cli::render::{diagnostics, progress};
use crate::cli::session::Session;
use crate::cli::{Failure, Status};

const EXAMPLES: &str = "\
Examples:
  classad workload index --n 2000 --attrs 8 --mix M --out target/index
  classad workload gang --machines 500 --licenses 50 --selectivity 8 --kind licenses
  classad workload gang --variant dud --machines 500 --out target/gang
  classad workload pool --machines 200 --jobs 1000 --form jsonl --out target/pool
  classad workload pool --kind machines --machines 20 | classad census

The same seed gives the same ads, on every machine and in every form.  Each kind of ads has its own stream of
chance: more jobs leave the machines as they are.";

/// Write synthetic ads: the workloads of the papers, and a modern pool
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Workload {
    #[command(subcommand)]
    shape: WorkloadCommand,
}

#[derive(Subcommand)]
enum WorkloadCommand {
    Index(IndexArgs),
    Gang(GangArgs),
    Pool(PoolArgs),
}

/// Objects and as many queries, each with bounds on the attributes of the other side (thesis §4.6.1)
#[derive(Args)]
struct IndexArgs {
    /// How many objects, and how many queries
    #[arg(long, value_name = "N", default_value_t = IndexWorkload::default().ads)]
    n: u32,
    /// How many attributes an ad has, and how many bounds
    #[arg(long, value_name = "N", default_value_t = IndexWorkload::default().attributes, value_parser = clap::value_parser!(u16).range(1..=676))]
    attrs: u16,
    /// The domains of the attributes
    #[arg(long, value_name = "MIX", default_value = "T", ignore_case = true, value_parser = mix_parser())]
    mix: DomainMix,
    /// The share of attributes and bounds that is left out
    #[arg(long, value_name = "SHARE", default_value_t = IndexWorkload::default().omitted, value_parser = parse_share)]
    omit: f64,
    /// The attribute that is the constraint
    #[arg(long, value_name = "NAME", default_value_t = IndexWorkload::default().constraint)]
    constraint_attr: String,
    #[command(flatten)]
    delivery: WorkloadOutput,
}

/// Machines, licences valid on some of them, and jobs that need one of each (thesis §5.2.1)
#[derive(Args)]
struct GangArgs {
    /// How many machines [default: 100, with --variant heuristic 500]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    machines: Option<u32>,
    /// How many jobs [default: as many as machines]
    #[arg(long, value_name = "N")]
    jobs: Option<u32>,
    /// How many licences, in percent of the machines [default: 100, with --variant heuristic 200]
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(..=10_000))]
    licenses: Option<u32>,
    /// Into how many parts machines and licences are divided; a licence is valid in its part
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    selectivity: u32,
    /// What is done to make it hard
    #[arg(long, value_name = "VARIANT", default_value = "base", value_parser = variant_parser())]
    variant: GangVariant,
    #[command(flatten)]
    delivery: WorkloadOutput,
}

/// Machines of a modern HTCondor pool, and the jobs of many users
#[derive(Args)]
struct PoolArgs {
    /// How many machines
    #[arg(long, value_name = "N", default_value_t = PoolWorkload::default().machines)]
    machines: u32,
    /// How many jobs
    #[arg(long, value_name = "N", default_value_t = PoolWorkload::default().jobs)]
    jobs: u32,
    /// How many users
    #[arg(long, value_name = "N", default_value_t = PoolWorkload::default().users, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    users: u32,
    /// How many different requests there are; every job makes one of them
    #[arg(long, value_name = "N", default_value_t = PoolWorkload::default().shapes, value_parser = clap::value_parser!(u32).range(1..))]
    shapes: u32,
    /// The share of them that no machine can ever meet
    #[arg(long, value_name = "SHARE", default_value_t = PoolWorkload::default().never, value_parser = parse_share)]
    never: f64,
    /// The share of them that few machines meet
    #[arg(long, value_name = "SHARE", default_value_t = PoolWorkload::default().few, value_parser = parse_share)]
    few: f64,
    #[command(flatten)]
    delivery: WorkloadOutput,
}

/// Returns the parser of an option that accepts the `name` of each of `values`. `help` describes a value.
fn named_values<T: Copy + Send + Sync>(
    values: &'static [T],
    name: fn(T) -> &'static str,
    help: fn(T) -> Option<&'static str>,
) -> impl TypedValueParser<Value = T> {
    let shown = values.iter().map(move |&value| match help(value) {
        Some(help) => PossibleValue::new(name(value)).help(help),
        None => PossibleValue::new(name(value)),
    });
    PossibleValuesParser::new(shown).map(move |given| {
        let value = values.iter().find(|value| name(**value).eq_ignore_ascii_case(&given));
        *value.expect("clap refuses other names")
    })
}

fn mix_parser() -> impl TypedValueParser<Value = DomainMix> {
    named_values(&DomainMix::ALL, DomainMix::name, |mix| {
        Some(match mix {
            DomainMix::Ten => "Ten values each",
            DomainMix::Mixed => "Ten values for the first half of them, N for the others",
            DomainMix::Diverse => "N values each",
        })
    })
}

fn variant_parser() -> impl TypedValueParser<Value = GangVariant> {
    named_values(&GangVariant::ALL, GangVariant::name, |variant| {
        Some(match variant {
            GangVariant::Base => "Nothing",
            GangVariant::Dud => "Seven machines that no licence accepts, and a licence that no machine suits",
            GangVariant::Heuristic => {
                "All machines suit all jobs; the licences, many more, are valid on the last fifth of the machines only"
            }
        })
    })
}

fn kind_parser() -> impl TypedValueParser<Value = AdKind> {
    named_values(&AdKind::ALL, AdKind::name, |_| None)
}

/// Where the ads go.
#[derive(Args)]
struct WorkloadOutput {
    /// The form of the ads [default: long for a pool, else new]
    #[arg(long, value_name = "FORM")]
    form: Option<AdForm>,
    /// Write one kind of ads, without --out to standard output
    #[arg(long, value_name = "KIND", value_parser = kind_parser())]
    kind: Option<AdKind>,
    /// Write a file for each kind of ads into this folder, and print what was written
    #[arg(long, value_name = "DIR")]
    out: Option<String>,
}

impl Workload {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        match &self.shape {
            WorkloadCommand::Index(IndexArgs { n, attrs, mix, omit, constraint_attr, delivery }) => {
                let constraint = constraint_attr.clone();
                let plan = IndexWorkload { ads: *n, attributes: *attrs, mix: *mix, omitted: *omit, constraint };
                delivery.run(session, AdForm::New, &plan)
            }
            WorkloadCommand::Gang(GangArgs { machines, jobs, licenses, selectivity, variant, delivery }) => {
                let default = GangWorkload::new(*variant);
                let machines = machines.unwrap_or(default.machines);
                let plan = GangWorkload {
                    machines,
                    jobs: jobs.unwrap_or(machines),
                    license_percent: licenses.unwrap_or(default.license_percent),
                    selectivity: *selectivity,
                    variant: *variant,
                };
                delivery.run(session, AdForm::New, &plan)
            }
            WorkloadCommand::Pool(PoolArgs { machines, jobs, users, shapes, never, few, delivery }) => {
                let plan = PoolWorkload {
                    machines: *machines,
                    jobs: *jobs,
                    users: *users,
                    shapes: *shapes,
                    never: *never,
                    few: *few,
                };
                delivery.run(session, AdForm::Long, &plan)
            }
        }
    }
}

impl WorkloadOutput {
    fn run(&self, session: &mut Session, default_form: AdForm, plan: &dyn AdGenerator) -> Result<Status, Failure> {
        let kinds = match self.kind {
            None if self.out.is_some() => plan.kinds().to_vec(),
            None => {
                let message = format!("name a --kind to print ({}), or --out DIR for a file of each", kind_names(plan));
                return Err(Failure::Refused(Some(message)));
            }
            Some(kind) if plan.kinds().contains(&kind) => vec![kind],
            Some(kind) => {
                let message = format!("this workload has no {}, only {}", kind.name(), kind_names(plan));
                return Err(Failure::Refused(Some(message)));
            }
        };
        if let Some(refusal) = plan.contradiction() {
            return Err(Failure::Refused(Some(refusal)));
        }
        let form = self.form.unwrap_or(default_form);
        match &self.out {
            Some(folder) => write_files(session, plan, &kinds, form, Path::new(folder)),
            None => write_stdout(session, plan, &kinds, form),
        }
    }
}

fn write_stdout(
    session: &mut Session,
    plan: &dyn AdGenerator,
    kinds: &[AdKind],
    form: AdForm,
) -> Result<Status, Failure> {
    let mut out: Box<dyn Write> = if session.options.quiet { Box::new(io::sink()) } else { Box::new(out()) };
    let mut count = 0;
    for kind in kinds {
        count += write_kind(session, plan, *kind, form, &mut out)?;
    }
    Ok(Status::of(count > 0))
}

fn write_files(
    session: &mut Session,
    plan: &dyn AdGenerator,
    kinds: &[AdKind],
    form: AdForm,
    folder: &Path,
) -> Result<Status, Failure> {
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    let mut rows = ResultTable::new(&["file", "ads", "bytes"]);
    let extension = form.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned());
    for kind in kinds {
        let path = folder.join(kind.name()).with_extension(&extension);
        let file = File::create(&path).map_err(|error| unwritable(&path, &error))?;
        let count = write_kind(session, plan, *kind, form, &mut BufWriter::new(file));
        let count = count.map_err(|failure| match failure {
            Failure::Output(error) => unwritable(&path, &error),
            failure @ Failure::Refused(_) => failure,
        })?;
        let bytes = fs::metadata(&path).map_err(|error| unwritable(&path, &error))?.len();
        rows.rows.push(vec![path.display().to_string().into(), count.into(), bytes.to_string().into()]);
    }
    if !session.options.quiet {
        rows.write(&mut out(), None, true)?;
        for remark in kinds.iter().filter_map(|kind| plan.remark(*kind, seed(session))) {
            session.note(&remark);
        }
    }
    Ok(Status::Yes)
}

/// Writes the ads of a kind as one document. Returns the number of ads written.
fn write_kind(
    session: &mut Session,
    plan: &dyn AdGenerator,
    kind: AdKind,
    form: AdForm,
    out: &mut dyn Write,
) -> Result<usize, Failure> {
    let mut writer = AdWriter::with_form(form.into());
    let mut count = 0;
    for ad in plan.ads(kind, seed(session)) {
        count += 1;
        progress::report_step("writing", count, None);
        writer.write(session, out, &NamedAd::unnamed(ad))?;
    }
    writer.finish(out)?;
    Ok(count)
}

/// Returns the seed: 1 unless `--seed` sets another.
fn seed(session: &Session) -> u64 {
    session.options.seed.unwrap_or(1)
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::Refused(Some(format!("cannot write {}: {}", path.display(), diagnostics::io_reason(error))))
}

/// Lists the kinds of a workload for a message.
fn kind_names(plan: &dyn AdGenerator) -> String {
    plan.kinds().iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
}

/// Parses an argument between 0 and 1.
fn parse_share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "it is no number".to_owned())?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err("a share is between 0 and 1".to_owned()) }
}
