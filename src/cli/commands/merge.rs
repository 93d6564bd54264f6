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

These commands write the partial results of the example:

  classad query 'JobUniverse == 5' --group-by Owner --partial samples/pool/jobs.long@0-5000 > owners-1.part
  classad query 'JobUniverse == 5' --group-by Owner --partial samples/pool/jobs.long@5000- > owners-2.part

merge prints what one run over all files would print: output, messages and exit status. The files of the input come in
the order of their names, and the files of one history in the order of their times. If parts are missing or repeated, or
partial results come from different commands, options or versions, merge says so and prints how to run missing parts.
The exit status is then 2. With --plan, merge also notices a file without any partial result. Give --quiet and --color
to merge, not to the runs that write the partial results. --exit-zero works in both places.

To query the history of each access point (submit host), write the host after --partial. merge then calls each file
HOST:FILE, so that equal paths on two hosts are two files:

  for host in ap1 ap2; do
    ssh $host classad query true --group-by Owner --partial=$host /var/lib/condor/spool/history > $host.part
  done
  classad merge ap1.part ap2.part

query, census, refs and check write partial results of parts of files. match --best N, match --all and explain write
partial results of shares of the work, because every request needs the whole queue and the whole pool. This command
reads all ads, but explains only the first third of the distinct requests:

  classad explain --unmatched jobs.long --pool machines.long --now TIME --partial --share 1/3 > 1.part

Give all shares the same --now. If the ads are old, --now is not necessary: each share then uses the time of the newest
ad. merge refuses shares of different files, and shares whose files differ in size or inode. Explanations are as wide as
in the runs that wrote them: 80 columns, or the value of the variable COLUMNS.

A partial result is a file in JSON Lines. The first line, the header, has the version of the format, the arguments, the
dialect, and the files with their parts, sizes and inodes. The header of a share also has the number of the share and
the time at which the ads were evaluated. After the header come, for each file, its findings, its errors with the lines
to show, and its numbers of ads, lines and bytes. In a share, the messages come first, then a line \"common\", then the
findings. The last line is \"end\" if the run was complete. A complete run with --partial exits with 0.";

/// Merge the results of several runs over parts of the input into the result of one run
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct MergeCommand {
    /// Partial results, in any order
    #[arg(required_unless_present = "files_from")]
    partials: Vec<String>,
    /// Check that the partial results cover all parts of this plan. PLAN is a file that `scatter` wrote, or a file with
    /// the output of `parts`
    #[arg(long, value_name = "PLAN")]
    plan: Option<String>,
    /// Also merge the partial results that LIST names. LIST is a file with a name on each line, or with names that each
    /// end in a NUL byte
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
