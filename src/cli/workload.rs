//! `classad workload`: synthetic ads, by a seed.

mod chance;
mod draft;
mod gang;
mod index;
mod pool;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use clap::{Args, Subcommand, ValueEnum};
use classad::ad::Ad;

use super::input::Identified;
use super::options::AdForm;
use super::output::{AdWriter, OutputForm, Rows, out};
use super::session::Session;
use super::{Failure, Status, report};

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
    shape: Shape,
}

#[derive(Subcommand)]
enum Shape {
    Index(index::Index),
    Gang(gang::Gang),
    Pool(pool::Pool),
}

/// A kind of ads, which has its own file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Objects,
    Queries,
    Machines,
    Licenses,
    Jobs,
}

/// Ads that are made one after the other.
type Ads<'s> = Box<dyn Iterator<Item = Ad> + 's>;

/// A shape of workload: what its ads are.
trait Plan {
    /// The kinds of its ads, those that offer first.
    fn kinds(&self) -> &'static [Kind];

    /// The form that such ads usually have.
    fn form(&self) -> AdForm;

    /// The ads of one of its kinds; none of another.
    fn ads(&self, kind: Kind, seed: u64) -> Ads<'_>;

    /// Why there cannot be such a workload.
    fn refusal(&self) -> Option<String> {
        None
    }

    /// What there is to know of the ads that cannot be seen from them.
    fn remark(&self, _seed: u64) -> Option<String> {
        None
    }
}

/// Where the ads go.
#[derive(Args)]
struct Delivery {
    /// The form of the ads [default: long for a pool, else new]
    #[arg(long, value_name = "FORM")]
    form: Option<AdForm>,
    /// Write one kind of ads, without --out to standard output
    #[arg(long, value_name = "KIND", required_unless_present = "out")]
    kind: Option<Kind>,
    /// Write a file for each kind of ads into this folder, and print what was written
    #[arg(long, value_name = "DIR")]
    out: Option<String>,
}

/// What is deterministic starts here unless another seed is asked for.
const SEED: u64 = 1;

impl Workload {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        match &self.shape {
            Shape::Index(index) => index.delivery.run(session, index),
            Shape::Gang(gang) => gang.delivery.run(session, gang),
            Shape::Pool(pool) => pool.delivery.run(session, pool),
        }
    }
}

impl Delivery {
    fn run(&self, session: &mut Session, plan: &dyn Plan) -> Result<Status, Failure> {
        let kinds = match self.kind {
            None => plan.kinds().to_vec(),
            Some(kind) if plan.kinds().contains(&kind) => vec![kind],
            Some(kind) => {
                let has: Vec<String> = plan.kinds().iter().map(name_of).collect();
                let message = format!("this workload has no {}, only {}", name_of(&kind), has.join(", "));
                return Err(Failure::Refused(Some(message)));
            }
        };
        if let Some(refusal) = plan.refusal() {
            return Err(Failure::Refused(Some(refusal)));
        }
        let form = self.form.unwrap_or(plan.form());
        let seed = session.options.seed.unwrap_or(SEED);
        let Some(folder) = &self.out else {
            let mut sink: Box<dyn Write> =
                if session.options.quiet { Box::new(std::io::sink()) } else { Box::new(out()) };
            let mut count = 0;
            for kind in kinds {
                count += write(session, plan.ads(kind, seed), form, &mut sink)?;
            }
            return Ok(Status::of(count > 0));
        };
        fs::create_dir_all(folder).map_err(|error| unwritable(Path::new(folder), &error))?;
        let mut rows = Rows::new(&["file", "ads", "bytes"]);
        for kind in kinds {
            let path = Path::new(folder).join(format!("{}.{}", name_of(&kind), name_of(&form)));
            let file = File::create(&path).map_err(|error| unwritable(&path, &error))?;
            let count =
                write(session, plan.ads(kind, seed), form, &mut BufWriter::new(file)).map_err(
                    |failure| match failure {
                        Failure::Output(error) => unwritable(&path, &error),
                        failure => failure,
                    },
                )?;
            let bytes = fs::metadata(&path).map_err(|error| unwritable(&path, &error))?.len();
            rows.rows.push(vec![path.display().to_string().into(), count.into(), bytes.to_string().into()]);
        }
        if !session.options.quiet {
            rows.write(&mut out(), None::<OutputForm>, true)?;
            plan.remark(seed).inspect(|remark| session.note(remark));
        }
        Ok(Status::Yes)
    }
}

/// Writes ads as one document; how many there were.
fn write(session: &mut Session, ads: Ads, form: AdForm, out: &mut dyn Write) -> Result<usize, Failure> {
    let mut writer = AdWriter::of(form.into());
    let mut count = 0;
    for ad in ads {
        count += 1;
        writer.write(session, out, &Identified::unnamed(ad))?;
    }
    writer.finish(out)?;
    Ok(count)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Refused(Some(format!("cannot write {}: {}", path.display(), report::io_reason(error))))
}

/// What a value of an option is called on the command line.
fn name_of(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
}

/// A share of a whole, as an argument.
fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "it is no number".to_owned())?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err("a share is between 0 and 1".to_owned()) }
}
