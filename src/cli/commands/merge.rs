//! `classad merge`: the result of one run over all files, from partial results.

use clap::Args;

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::io::part_plan::PartPlan;
use crate::cli::io::partial::PartialResults;
use crate::cli::outcome::{Failure, refuse};

const EXAMPLES: &str = "\
Examples:
  classad merge samples/scale/owners-2.part samples/scale/owners-1.part

These commands write the partial results of the example:

  classad query 'JobUniverse == 5' --group-by Owner --partial samples/pool/jobs.long@0-5000 > owners-1.part
  classad query 'JobUniverse == 5' --group-by Owner --partial samples/pool/jobs.long@5000- > owners-2.part

merge gives the output, the messages and the exit status of one run over all files. If partial results do not fit
together or parts are missing, merge says so and exits with 2. With --plan, merge also notices a file without any
partial result. Give --quiet and --color to merge, not to the runs.

To query the history of each access point (submit host), add the host to the option: --partial=HOST. merge then calls
each file HOST:FILE.

  for host in ap1 ap2; do
    ssh $host classad query true --group-by Owner --partial=$host \\
        /var/lib/condor/spool/history > $host.part
  done
  classad merge ap1.part ap2.part

query, census, refs and check write partial results of parts of files. match --best N, match --all and explain need the
whole queue and the whole pool, so their partial results are shares of the work. This command reads all ads, but
explains only a third of the distinct requests:

  classad explain --unmatched jobs.long --pool machines.long --now TIME --partial --share 1/3 > 1.part

Give all shares the same --now.

A partial result is a file in JSON Lines. A complete run writes \"end\" as the last line and exits with 0. The line
before it is a checksum: merge refuses a file that has changed since.";

/// Merge the results of several runs over parts of the input into the result of one run
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct MergeCommand {
    /// Partial results, in any order
    #[arg(required_unless_present = "files_from")]
    partials: Vec<String>,
    /// Check that the partial results cover all parts of this plan, a file from `scatter` or `parts`
    #[arg(long, value_name = "PLAN")]
    plan: Option<String>,
    /// Also merge the partial results that the file LIST names, one on each line
    #[arg(long, value_name = "LIST")]
    files_from: Vec<String>,
}

impl MergeCommand {
    /// Reads the partial results.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or the results do not belong together.
    pub fn read(&self) -> Result<PartialResults, Failure> {
        let input = AdFilesArgs { files: self.partials.clone(), files_from: self.files_from.clone() };
        let paths = input.paths()?;
        if paths.iter().any(|path| path == "-") {
            return refuse("name the files of partial results: standard input does not work");
        }
        let plan = self.plan.as_ref().map(|path| PartPlan::read(path)).transpose()?;
        PartialResults::read(&paths, plan.as_ref())
    }
}
