//! `classad merge`: the result of one run over all files, from partial results.

use clap::Args;

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::io::part_plan::PartPlan;
use crate::cli::io::partial::PartialResults;
use crate::cli::session::Session;
use crate::cli::{Failure, Status, merge_partials, refuse};

const EXAMPLES: &str = "\
Examples:
  classad merge samples/scale/owners-2.part samples/scale/owners-1.part

The partial results of the example are written by

  classad query 'JobUniverse == 5' --group-by Owner --partial samples/pool/jobs.long@0-5000 > owners-1.part
  classad query 'JobUniverse == 5' --group-by Owner --partial samples/pool/jobs.long@5000- > owners-2.part

merge prints what one run over all files prints: the output, the problems and the exit status. It takes the files in the
order of their names, and the files of one history in the order of their times. It refuses parts that are missing or
given twice, and partial results of other commands, options or versions (exit status 2), and lists what to run again. It
knows of a file without any part only from --plan. The options --quiet, --color and --exit-zero of `merge` itself apply.

Every access point has a file /var/lib/condor/spool/history.
--partial=HOST says where a file is; merge then calls it HOST:FILE, and takes files of two hosts as two files:

  for host in ap1 ap2; do
    ssh $host classad query true --group-by Owner --partial=$host /var/lib/condor/spool/history > $host.part
  done
  classad merge ap1.part ap2.part

query, census, refs and check write partial results of parts of files. match --best N, match --all and explain write
those of shares of the work, because every request needs the whole queue and the whole pool:

  classad explain --unmatched jobs.long --pool machines.long --now TIME --partial --share 1/3 > 1.part

reads all ads and explains the first third of the requests that differ. All shares need the same time: --now, unless the
ads are old and so tell it. The merge also refuses shares of other files, by their sizes and inodes, and shares that read
something else. The lines of explanations have the width of the runs that wrote them: 80 columns, or the variable COLUMNS.

A partial result is JSON Lines: a header with the version of the form, the arguments, the dialect, the share and the time
if it is of a share, and the files with their parts, sizes and inodes; for each file its findings, its problems with the
lines that are shown of them, and the numbers of its ads, lines and bytes; and a last line, \"end\", if the run was
complete. In a share the messages come first, then a line \"common\" and the findings. A run with --partial exits with 0
if it was complete.";

/// Merge the results of several runs over parts of the input into the result of one run
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct MergeCommand {
    /// Partial results, in any order
    #[arg(required_unless_present = "files_from")]
    partials: Vec<String>,
    /// Check that the partial results cover all parts of this plan, a file that `parts` or `scatter` wrote
    #[arg(long, value_name = "PLAN")]
    plan: Option<String>,
    /// Also merge the partial results that are named in the file LIST: a name on each line, or names that each end in a
    /// NUL byte
    #[arg(long, value_name = "LIST")]
    files_from: Vec<String>,
}

impl MergeCommand {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let input = AdFilesArgs { files: self.partials.clone(), files_from: self.files_from.clone() };
        let paths = input.paths()?;
        if paths.iter().any(|path| path == "-") {
            return refuse("name the files of partial results: they are read twice, so standard input does not work");
        }
        let plan = self.plan.as_ref().map(|path| PartPlan::read(path)).transpose()?;
        merge_partials(session, &PartialResults::read(&paths, plan.as_ref())?)
    }
}
