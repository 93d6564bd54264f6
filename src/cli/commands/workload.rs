//! `classad workload`: writes synthetic ads, generated from a seed.

mod gang;
mod index;
mod pool;
mod rng;
mod template;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use clap::{Args, Subcommand, ValueEnum};
use classad::ad::Ad;

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
    Index(index::IndexWorkload),
    Gang(gang::GangWorkload),
    Pool(pool::PoolWorkload),
}

/// A kind of ads, which has its own file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AdKind {
    Objects,
    Queries,
    Machines,
    Licenses,
    Jobs,
}

/// Lazily generated ads.
type GeneratedAds<'s> = Box<dyn Iterator<Item = Ad> + 's>;

/// A workload: generates the ads of several kinds.
trait AdGenerator {
    /// Returns the kinds of ads, those of offers first.
    fn kinds(&self) -> &'static [AdKind];

    /// Returns the default output form.
    fn form(&self) -> AdForm;

    /// Generates the ads of a kind; none if the workload lacks the kind.
    fn ads(&self, kind: AdKind, seed: u64) -> GeneratedAds<'_>;

    /// Returns why the options contradict each other; `None` if they do not.
    fn contradiction(&self) -> Option<String> {
        None
    }

    /// Returns a note about the ads of a kind that the ads do not show, such as how many requests cannot match; `None`
    /// if there is none.
    fn remark(&self, _kind: AdKind, _seed: u64) -> Option<String> {
        None
    }
}

/// Where the ads go.
#[derive(Args)]
struct WorkloadOutput {
    /// The form of the ads [default: long for a pool, else new]
    #[arg(long, value_name = "FORM")]
    form: Option<AdForm>,
    /// Write one kind of ads, without --out to standard output
    #[arg(long, value_name = "KIND")]
    kind: Option<AdKind>,
    /// Write a file for each kind of ads into this folder, and print what was written
    #[arg(long, value_name = "DIR")]
    out: Option<String>,
}

impl Workload {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        match &self.shape {
            WorkloadCommand::Index(index) => index.delivery.run(session, index),
            WorkloadCommand::Gang(gang) => gang.delivery.run(session, gang),
            WorkloadCommand::Pool(pool) => pool.delivery.run(session, pool),
        }
    }
}

impl WorkloadOutput {
    fn run(&self, session: &mut Session, plan: &dyn AdGenerator) -> Result<Status, Failure> {
        let kinds = match self.kind {
            None if self.out.is_some() => plan.kinds().to_vec(),
            None => {
                let message = format!("name a --kind to print ({}), or --out DIR for a file of each", kind_names(plan));
                return Err(Failure::Refused(Some(message)));
            }
            Some(kind) if plan.kinds().contains(&kind) => vec![kind],
            Some(kind) => {
                let message = format!("this workload has no {}, only {}", option_value_name(&kind), kind_names(plan));
                return Err(Failure::Refused(Some(message)));
            }
        };
        if let Some(refusal) = plan.contradiction() {
            return Err(Failure::Refused(Some(refusal)));
        }
        match &self.out {
            Some(folder) => self.to_files(session, plan, &kinds, Path::new(folder)),
            None => self.to_output(session, plan, &kinds),
        }
    }

    fn to_output(&self, session: &mut Session, plan: &dyn AdGenerator, kinds: &[AdKind]) -> Result<Status, Failure> {
        let mut out: Box<dyn Write> = if session.options.quiet { Box::new(io::sink()) } else { Box::new(out()) };
        let mut count = 0;
        for kind in kinds {
            count += self.write(session, plan, *kind, &mut out)?;
        }
        Ok(Status::of(count > 0))
    }

    fn to_files(
        &self,
        session: &mut Session,
        plan: &dyn AdGenerator,
        kinds: &[AdKind],
        folder: &Path,
    ) -> Result<Status, Failure> {
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
        let mut rows = ResultTable::new(&["file", "ads", "bytes"]);
        for kind in kinds {
            let path = folder.join(format!("{}.{}", option_value_name(kind), option_value_name(&self.form(plan))));
            let file = File::create(&path).map_err(|error| unwritable(&path, &error))?;
            let count = self.write(session, plan, *kind, &mut BufWriter::new(file));
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

    fn form(&self, plan: &dyn AdGenerator) -> AdForm {
        self.form.unwrap_or(plan.form())
    }

    /// Writes the ads of a kind as one document; returns the number of ads.
    fn write(
        &self,
        session: &mut Session,
        plan: &dyn AdGenerator,
        kind: AdKind,
        out: &mut dyn Write,
    ) -> Result<usize, Failure> {
        let mut writer = AdWriter::with_form(self.form(plan).into());
        let mut count = 0;
        for ad in plan.ads(kind, seed(session)) {
            count += 1;
            progress::report_step("writing", count, None);
            writer.write(session, out, &NamedAd::unnamed(ad))?;
        }
        writer.finish(out)?;
        Ok(count)
    }
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
    plan.kinds().iter().map(option_value_name).collect::<Vec<_>>().join(", ")
}

/// Returns the name of an option's value on the command line.
fn option_value_name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
}

/// Parses an argument between 0 and 1.
fn parse_share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "it is no number".to_owned())?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err("a share is between 0 and 1".to_owned()) }
}
