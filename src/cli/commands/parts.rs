//! `classad parts`: a plan of parts of files, for many processes or machines.

use std::io::Write;

use clap::{Args, ValueEnum};

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::io::input;
use crate::cli::io::part_plan::{PartPlan, byte_count, plan_parts};
use crate::cli::outcome::{Failure, Status};
use crate::cli::render::output::out;
use crate::cli::session::Session;

const EXAMPLES: &str = "\
Examples:
  classad parts --size 1G samples/pool/jobs.long samples/pool/machines.long
  classad parts --size 5K samples/pool/jobs.long | xargs -L 1 classad query true --count
  classad parts --size 5K -o json samples/pool/jobs.long

Each line has the arguments for one process: a part of a large file, as FILE@START-END in bytes, or several small files
or parts. With --shares, each line is an option --share K/N. Files in the long form, history files and files in JSON
Lines are divided; other formats and compressed files are not. Each ad is in exactly one part. Messages about a part
count lines and ads from the first ad that begins in the part.

`classad merge --plan FILE` reads this output, and reports parts that are missing. With JSON, merge also notices if a
file was cut short or replaced. `classad help schema parts` describes the JSON.";

const FILES_HELP: &str = "Files of ads to divide";

/// Divide files into parts for many processes or machines
#[derive(Args)]
#[command(after_help = EXAMPLES, mut_arg("files", |arg| arg.help(FILES_HELP)))]
pub struct PartsCommand {
    #[command(flatten)]
    input: AdFilesArgs,
    /// Size of a part in bytes; K, M, G and T are powers of 1024
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = byte_count)]
    size: u64,
    /// Divide the work of `match --best`, `match --all` or `explain` into N shares, not the files
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000), conflicts_with = "size")]
    shares: Option<u64>,
    /// Format of the output
    #[arg(short, long, value_name = "FORM", default_value = "lines")]
    output: PlanForm,
}

/// A form of the plan, for `--output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PlanForm {
    /// A line with arguments for each process
    Lines,
    /// One JSON document
    Json,
}

impl PartsCommand {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let paths = self.input.paths()?;
        let now = session.context().now;
        let plan = if let Some(count) = self.shares {
            PartPlan::of_shares(usize::try_from(count).unwrap_or(usize::MAX), &paths, now)?
        } else {
            let form = session.options.from;
            let report = &mut |path: &str, error: &_| input::report_unreadable(session, path, error);
            plan_parts(&paths, self.size, form, report)?.finish(now)
        };
        let mut out = out();
        match self.output {
            PlanForm::Json => {
                serde_json::to_writer(&mut out, &plan).map_err(std::io::Error::from)?;
                writeln!(out)?;
            }
            PlanForm::Lines => {
                for line in plan.lines() {
                    writeln!(out, "{line}")?;
                }
            }
        }
        Ok(Status::of(plan.shares.is_some() || !plan.parts.is_empty()))
    }
}
