//! `classad workload`: writes synthetic ads, generated from a seed.

use std::fs;
use std::io::Write;
use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use classad::format::FileFormat;
use classad::workload::{
    AdGenerator, AdKind, DomainMix, GangVariant, GangWorkload, GeneratedAds, IndexWorkload, PoolWorkload,
};

use crate::cli::args::global::form_parser;
use crate::cli::io::atomic_write::{create_or_replace, warn_of_other_names};
use crate::cli::io::named_ad::NamedAd;
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::render::output::{AdWriter, out};
use crate::cli::render::progress;
use crate::cli::render::rows::ResultTable;
use crate::cli::session::Session;

const EXAMPLES: &str = "\
Examples:
  classad workload index --n 2000 --attrs 8 --mix M --out target/index
  classad workload gang --machines 500 --licenses 50 --selectivity 8 --kind licenses
  classad workload gang --variant dud --machines 500 --out target/gang
  classad workload pool --machines 200 --jobs 1000 --form jsonl --out target/pool
  classad workload pool --kind machines --machines 20 | classad census

The same options and the same seed give the same ads.";

/// Generate ads: the workloads of the papers, or a modern pool
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Workload {
    #[command(subcommand)]
    shape: WorkloadCommand,
}

#[derive(Subcommand)]
enum WorkloadCommand {
    /// Objects and queries, with bounds on the attributes of the other side (thesis 4.6.1)
    Index {
        /// Number of objects, and number of queries
        #[arg(long = "n", value_name = "N", default_value_t = IndexWorkload::default().ads)]
        ads: u32,
        /// Number of attributes, and number of bounds, of each ad
        #[arg(long = "attrs", value_name = "N", default_value_t = IndexWorkload::default().attributes, value_parser = clap::value_parser!(u16).range(1..=676))]
        attributes: u16,
        /// The domains of the attributes
        #[arg(long, value_name = "MIX", default_value = "T", ignore_case = true, value_parser = named_values(DomainMix::ALL, DomainMix::name, &MIX_HELP))]
        mix: DomainMix,
        /// The share of attributes and bounds that is left out
        #[arg(long = "omit", value_name = "SHARE", default_value_t = IndexWorkload::default().omitted, value_parser = parse_share)]
        omitted: f64,
        /// Name of the attribute that holds the constraint
        #[arg(long = "constraint-attr", value_name = "NAME", default_value_t = IndexWorkload::default().constraint)]
        constraint: String,
        #[command(flatten)]
        output: WorkloadOutput,
    },
    /// Machines, licences, and jobs that each need a machine and a licence (thesis 5.2.1)
    Gang {
        /// Number of machines [default: 100, with --variant heuristic 500]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
        machines: Option<u32>,
        /// Number of jobs [default: the number of machines]
        #[arg(long, value_name = "N")]
        jobs: Option<u32>,
        /// Number of licences, in percent of the number of machines [default: 100, with --variant heuristic 200]
        #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(..=10_000))]
        licenses: Option<u32>,
        /// Number of parts into which machines and licences are divided; a licence is valid only in its part
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
        selectivity: u32,
        /// What makes the search for gangs hard
        #[arg(long, value_name = "VARIANT", default_value = "base", value_parser = named_values(GangVariant::ALL, GangVariant::name, &VARIANT_HELP))]
        variant: GangVariant,
        #[command(flatten)]
        output: WorkloadOutput,
    },
    /// Machines of a modern HTCondor pool, and the jobs of many users
    Pool {
        /// Number of machines
        #[arg(long, value_name = "N", default_value_t = PoolWorkload::default().machines)]
        machines: u32,
        /// Number of jobs
        #[arg(long, value_name = "N", default_value_t = PoolWorkload::default().jobs)]
        jobs: u32,
        /// Number of users
        #[arg(long, value_name = "N", default_value_t = PoolWorkload::default().users, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        users: u32,
        /// Maximum number of different requests
        #[arg(long, value_name = "N", default_value_t = PoolWorkload::default().shapes, value_parser = clap::value_parser!(u32).range(1..))]
        shapes: u32,
        /// The share of requests that no machine can meet
        #[arg(long, value_name = "SHARE", default_value_t = PoolWorkload::default().never, value_parser = parse_share)]
        never: f64,
        /// The share of requests that few machines meet
        #[arg(long, value_name = "SHARE", default_value_t = PoolWorkload::default().few, value_parser = parse_share)]
        few: f64,
        #[command(flatten)]
        output: WorkloadOutput,
    },
}

/// Descriptions of the domain mixes, in the order of [`DomainMix::ALL`].
const MIX_HELP: [&str; 3] = [
    "Ten values each",
    "Ten values each for the first half of the attributes, --n values for the others",
    "--n values each",
];

/// Descriptions of the variants, in the order of [`GangVariant::ALL`].
const VARIANT_HELP: [&str; 3] = [
    "Nothing",
    "Seven more machines that no licence accepts, and one more licence that no machine suits",
    "All machines suit all jobs; the licences are valid only on the last fifth of the machines",
];

/// Options that say in which form and where to write the ads.
#[derive(Args)]
struct WorkloadOutput {
    /// The form of the ads [default: long for a pool, else new]
    #[arg(long, value_name = "FORM", value_parser = form_parser(|facts| facts.is_written))]
    form: Option<FileFormat>,
    /// Write only this kind of ads; without --out, to standard output
    #[arg(long, value_name = "KIND", value_parser = named_values(AdKind::ALL, AdKind::name, &[]))]
    kind: Option<AdKind>,
    /// Write a file for each kind of ads into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<String>,
}

/// Returns the parser of an option that accepts the `name` of each of `values`. `help` describes the values in their
/// order, or is empty.
fn named_values<T: Copy + Send + Sync + 'static, const N: usize>(
    values: [T; N],
    name: fn(T) -> &'static str,
    help: &[&'static str],
) -> impl TypedValueParser<Value = T> {
    let help = help.iter().copied().map(Some).chain(std::iter::repeat(None));
    let shown = values.into_iter().zip(help).map(|(value, help)| PossibleValue::new(name(value)).help(help));
    PossibleValuesParser::new(shown).try_map(move |written| {
        values.into_iter().find(|value| name(*value).eq_ignore_ascii_case(&written)).ok_or("no such name")
    })
}

impl Workload {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        match self.shape {
            WorkloadCommand::Index { ads, attributes, mix, omitted, ref constraint, ref output } => {
                let constraint = constraint.clone();
                output.write(
                    session,
                    FileFormat::Bracketed,
                    &IndexWorkload { ads, attributes, mix, omitted, constraint },
                )
            }
            WorkloadCommand::Gang { machines, jobs, licenses, selectivity, variant, ref output } => {
                let default = GangWorkload::new(variant);
                let machines = machines.unwrap_or(default.machines);
                let jobs = jobs.unwrap_or(machines);
                let license_percent = licenses.unwrap_or(default.license_percent);
                let workload = GangWorkload { machines, jobs, license_percent, selectivity, variant };
                output.write(session, FileFormat::Bracketed, &workload)
            }
            WorkloadCommand::Pool { machines, jobs, users, shapes, never, few, ref output } => {
                output.write(session, FileFormat::Long, &PoolWorkload { machines, jobs, users, shapes, never, few })
            }
        }
    }
}

impl WorkloadOutput {
    /// Writes the ads to standard output or into files.
    fn write(&self, session: &mut Session, form: FileFormat, workload: &dyn AdGenerator) -> Result<Status, Failure> {
        let names = || workload.kinds().iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
        let kinds = match &self.kind {
            None if self.out.is_none() => {
                return refuse(format!(
                    "give --kind to print one kind of ads ({}), or --out DIR to write a file of each kind",
                    names()
                ));
            }
            None => workload.kinds(),
            Some(kind) if workload.kinds().contains(kind) => std::slice::from_ref(kind),
            Some(kind) => return refuse(format!("this workload has no {}, only {}", kind.name(), names())),
        };
        if let Some(contradiction) = workload.contradiction() {
            return refuse(contradiction);
        }
        let (form, seed) = (self.form.unwrap_or(form), session.options.seed.unwrap_or(1));
        let Some(folder) = self.out.as_ref().map(Path::new) else {
            let counts = kinds.iter().map(|kind| write_ads(session, workload.ads(*kind, seed), form, &mut out()));
            return Ok(Status::of(counts.sum::<Result<usize, Failure>>()? > 0));
        };
        fs::create_dir_all(folder).map_err(|error| Failure::unwritable(folder.display(), &error))?;
        let mut files = ResultTable::new(&["file", "ads", "bytes"]);
        for kind in kinds {
            let path = folder.join(kind.name()).with_extension(form.facts().name);
            let unwritable = |error| Failure::unwritable(path.display(), &error);
            let mut count = 0;
            let write = |file: &mut dyn Write| {
                count = write_ads(session, workload.ads(*kind, seed), form, file)?;
                Ok(())
            };
            let other_names = create_or_replace(&path, None, write).map_err(|failure| match failure {
                Failure::Output(error) => unwritable(error),
                refused @ Failure::Refused(_) => refused,
            })?;
            warn_of_other_names(session, &path.to_string_lossy(), other_names);
            let bytes = fs::metadata(&path).map_err(unwritable)?.len();
            files.rows.push(vec![path.display().to_string().into(), count.into(), bytes.to_string().into()]);
        }
        files.write(&mut out(), None, true)?;
        for remark in kinds.iter().filter_map(|kind| workload.remark(*kind, seed)).filter(|_| !session.options.quiet) {
            session.note(&remark);
        }
        Ok(Status::Yes)
    }
}

/// Writes ads as one document. Returns the number of ads written.
fn write_ads(
    session: &mut Session,
    ads: GeneratedAds,
    form: FileFormat,
    out: &mut dyn Write,
) -> Result<usize, Failure> {
    let mut writer = AdWriter::with_form(form);
    let mut count = 0;
    for ad in ads {
        count += 1;
        progress::report_step("writing", count, None);
        writer.write(session, out, &NamedAd::unnamed(ad))?;
    }
    writer.finish(out)?;
    Ok(count)
}

/// Parses a share: a number from 0 to 1.
fn parse_share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "it is not a number".to_owned())?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err("a share is between 0 and 1".to_owned()) }
}
