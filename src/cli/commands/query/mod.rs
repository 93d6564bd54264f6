//! `classad query`: one-way matching.

mod arguments;
mod attempts;
mod columns;
mod contradictions;
mod finding;
mod format_string;
mod groups;
mod identity_words;
mod newest_first;
mod notes;
mod output;
mod parquet_rows;
mod partial;
mod plan;
mod print_format;
mod print_function;
mod print_mask;
mod query_ad;
mod scan;
mod sources;
mod tables;
mod units;

use clap::Args;
use classad::format::FileFormat;
use classad::query::{ScannedBlock, SortKey, TruthFilter};

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::args::global::{GLOBAL_HEADING, time};
use crate::cli::args::output::{NullArgs, TableOutputArgs};
use crate::cli::args::partial_result::PartialResultArgs;
use crate::cli::io::argument_text;
use crate::cli::io::block_pipeline::for_each_block;
use crate::cli::io::collector_snapshot::read_latest_ads;
use crate::cli::io::dump_time::note_old_ads;
use crate::cli::io::history_files;
use crate::cli::io::slip_notes::note_certain_slips;
use crate::cli::io::source::AdSource;
use crate::cli::io::source_text::SourceText;
use crate::cli::io::unseen_names::attribute_name_texts;
use crate::cli::outcome::{Failure, Status};
use crate::cli::render::output::OutputForm;
use crate::cli::session::Session;
use arguments::constraints_and_files;
use columns::Columns;
use contradictions::check_options;
use finding::QueryFinding;
use groups::GroupArgs;
use notes::{note_mistakes, reads_clock};
use output::QueryOutput;
use parquet_rows::column_types;
use plan::QueryPlan;
use scan::QueryScanner;
use sources::open_sources;

const EXAMPLES: &str = "\
Examples:
  classad query 'Memory >= 16384 && PartitionableSlot' samples/pool/machines.long --af Name,Memory
  classad query -slotads samples/pool/machines.long -constraint 'Memory > 16000' -af:h Name Memory
  classad query true samples/pool/jobs.long --group-by Owner --median RequestMemory --top 3
  classad query --attempts samples/pool/job.log --group-by Host --sum Seconds,WastedSeconds
  classad query --usage tests/pool/dumps/history --by Owner,Cmd
  condor_status -long | classad query 'GPUs > 0' --count

`time()` is the time of the clock, even if the ads are old. With `--now dump`, it is the time at which the newest ad
was written. query also takes HTCondor's options, such as -constraint and -af: see `classad help from-condor`.";

/// Print the ads that satisfy a constraint
#[derive(Args, Default)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::doc_markdown, clippy::struct_excessive_bools)] // help shows no marks, and each is a flag
pub struct QueryCommand {
    /// The constraint
    #[arg(value_name = "CONSTRAINT", allow_hyphen_values = true, required_unless_present_any = ["given", "ads", "userlog", "called", "query", "attempts", "usage"])]
    first: Option<String>,
    #[command(flatten)]
    input: AdFilesArgs,
    /// The constraint, instead of the first argument; if repeated, all constraints must be true
    #[arg(id = "given", long = "constraint", value_name = "EXPR", allow_hyphen_values = true)]
    given: Vec<String>,
    /// Read the query from an ad: its Constraint or Requirements; its Projection, which names attributes; its Rank, which
    /// orders the ads, the best first
    ///
    /// In the ad `other` and `TARGET` mean the ad that is queried. --constraint may demand more, and --attributes and --af
    /// replace Projection.
    #[arg(long, value_name = "FILE")]
    query: Option<String>,
    /// Also query this file of ads; the constraint is then optional
    #[arg(long, value_name = "FILE")]
    ads: Vec<String>,
    /// Query the jobs in this event log: an ad for each job, with its last state, as `condor_q -userlog` makes it
    ///
    /// Several logs are one log. Those that were rotated are read first: `EventLog.old`, `EventLog.2`, `EventLog.1`.
    /// WallSeconds and WastedSeconds are of all attempts.
    #[arg(long, value_name = "FILE")]
    userlog: Vec<String>,
    /// Query the attempts to run jobs, of event logs and histories: a row for each start, with its end, host and outcome
    ///
    /// The constraint is then optional. An attempt has the attributes of its job, and its own. Place and time: Job,
    /// Attempt (its number), Start, End, StartTime, EndTime, Host, Slot, HostAddress. Its end: Outcome, Reason, ExitCode.
    /// Lengths: Seconds (wall time), GoodSeconds, WastedSeconds, CpuSeconds, GoodCpuSeconds, QueueSeconds. The time after the last checkpoint is wasted unless the
    /// job terminated, as in `condor_userlog`. The ad of a job in a history has only its last
    /// attempt, and the EarlierSeconds of those before it.
    #[arg(long)]
    #[arg(conflicts_with_all = ["at", "newest", "since", "completed_since", "undefined"])]
    attempts: bool,
    /// Do not end with the last file, but go on while it is written and rotated
    ///
    /// The file is an event log, a history or a `job_queue.log`. The jobs of the latter are printed, then those that change.
    /// A file that is renamed is read to its end, then the next one.
    #[arg(long)]
    #[arg(conflicts_with_all = ["at", "newest", "since", "completed_since", "userlog", "log_time", "sort", "count", "distinct"])]
    follow: bool,
    /// Read a `job_queue.log` as it was at TIME
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    log_time: Option<i64>,
    /// Print the values of these expressions for each ad; `NAME=EXPR` names a column
    #[arg(long, value_name = "[NAME=]EXPR,...")]
    af: Vec<String>,
    /// Columns of HTCondor's `-autoformat` and `-format`, which `condor_options` translates into this option
    #[arg(long, hide = true, allow_hyphen_values = true)]
    mask: Vec<String>,
    /// Columns of HTCondor's `-aaf`, translated likewise
    #[arg(long, hide = true, allow_hyphen_values = true)]
    append: Vec<String>,
    /// HTCondor's options that select a table, translated likewise
    #[arg(long, hide = true)]
    condor_table: Vec<String>,
    /// Numbers and owners of jobs, names of slots and machines among HTCondor's words
    #[arg(long, hide = true)]
    called: Vec<String>,
    /// Print the table that FILE describes, a print format as for `condor_q -print-format`
    #[arg(long, value_name = "FILE")]
    print_format: Option<String>,
    /// Print only these attributes of the ads
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', conflicts_with = "af")]
    attributes: Vec<String>,
    /// Sort the ads by the value of this expression; the next --sort decides ties
    ///
    /// A `-` before the expression reverses the order; undefined values and errors stay last. Digits in strings are
    /// compared as numbers: `slot2` comes before `slot10`.
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    sort: Vec<String>,
    /// Reverse the order of every --sort
    #[arg(long, requires = "sort")]
    desc: bool,
    /// Print at most N ads, rows or groups
    #[arg(long, visible_alias = "top", value_name = "N")]
    limit: Option<usize>,
    /// Query only the last ad of each name, as a collector keeps it, unless it has expired by TIME
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["newest", "since", "completed_since"])]
    at: Option<i64>,
    /// Print the newest ad of a history first, as `condor_history` does
    ///
    /// Of several files, the last is read first. The files of one history, such as `history` and
    /// `history.20260101T120000`, are ordered by the times in their names.
    #[arg(long)]
    newest: bool,
    /// Read the history backwards, and stop before this job, or before the first ad for which EXPR is true
    #[arg(long, value_name = "JOB|EXPR")]
    since: Option<String>,
    /// Read the history backwards, and stop before the first ad that was completed at TIME or earlier
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true, conflicts_with = "since")]
    completed_since: Option<i64>,
    /// Print only the number of ads; with --distinct, of different rows
    #[arg(long)]
    count: bool,
    /// Print the ads that do not satisfy the constraint
    #[arg(long)]
    invert: bool,
    /// Report more: the dialect and why it was chosen
    // Replaces the option of every command, for the sake of `-v`.
    #[arg(long, action = clap::ArgAction::Count, help_heading = GLOBAL_HEADING)]
    verbose: u8,
    /// The former short name of `--invert`, which is refused
    #[arg(short = 'v', hide = true, action = clap::ArgAction::Count)]
    former_invert: u8,
    /// Print the names of the ads for which the constraint is undefined, and which of its attributes they lack
    #[arg(long, conflicts_with = "invert")]
    undefined: bool,
    #[command(flatten)]
    groups: GroupArgs,
    /// Print for each group of jobs of a history what they asked for and used, and what they wasted
    ///
    /// The constraint is then optional. `requested` and `used` are medians. `suggested` is a request that 95 % of later jobs
    /// of the group keep, with a certainty of 95 %; groups of less than 20 jobs have none. `kept` is the percentage of these
    /// jobs that keep it. Jobs whose use was not measured do not count.
    #[arg(long, conflicts_with_all = ["group_by", "attempts", "sort", "count"])]
    usage: bool,
    /// The groups of --usage
    #[arg(long, value_name = "[NAME=]EXPR,...", requires = "usage", default_value = "Owner")]
    by: String,
    /// Match the last job of each group of --usage with these slots
    ///
    /// `slots` counts those that match. `gained` counts those that match only with the suggested request.
    /// `gained_by_all` counts those that match only with all suggested requests of the group.
    #[arg(long, value_name = "FILE", requires = "usage")]
    pool: Vec<String>,
    /// Print each row of --af only once
    #[arg(long)]
    distinct: bool,
    /// Expression for the names of ads
    #[arg(long, value_name = "EXPR")]
    id: Option<String>,
    #[command(flatten)]
    partial: PartialResultArgs,
    #[command(flatten)]
    output: TableOutputArgs,
    #[command(flatten)]
    null: NullArgs,
    /// Read the types of the columns of `-o parquet` from this file: the output of `census -o json`, or `{"Memory":
    /// "integer"}`
    ///
    /// Without --schema, `-o parquet` reads the files twice.
    #[arg(long, value_name = "FILE")]
    schema: Option<String>,
    /// Parse every ad completely, and report all syntax errors
    ///
    /// Without this option, only the necessary attributes of ads in the long form are parsed completely.
    #[arg(long)]
    strict_input: bool,
}

impl QueryCommand {
    /// Makes the query that writes columns of all ads in typed columns.
    pub fn of_columns(input: AdFilesArgs, columns: Vec<String>, schema: Option<String>) -> Self {
        let output = TableOutputArgs { form: Some(OutputForm::Parquet), ..TableOutputArgs::default() };
        QueryCommand { input, given: vec!["true".to_owned()], af: columns, schema, output, ..QueryCommand::default() }
    }

    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        session.partial_host = self.partial.host().map(str::to_owned);
        session.is_about_one_ad = true;
        check_options(self)?;
        let (constraints, files) = constraints_and_files(self, session)?;
        let files = history_files::in_order_of_time(&files);
        let [mut sources, query] = open_sources(self, session, &files)?;
        let plan = QueryPlan::new(session, self, &constraints, query, Some(&sources))?;
        let form = sources.first().filter(|_| !self.attempts).map_or(FileFormat::Long, |source| source.form);
        let mut output = QueryOutput::new(session, self, &plan, form)?;
        let scanner = plan.scanner(session, self, output.needed_part());
        if self.writes_parquet() && !session.options.quiet {
            output.begin_parquet_rows(column_types(session, self, &sources, &scanner)?)?;
        }
        if self.partial.is_given() {
            return self.write_partial(session, &mut sources, (&plan, &scanner));
        }
        let is_standard_input = matches!(sources.as_slice(), [only] if &*only.name == "standard input");
        let first_text = self.scan(session, &mut sources, &scanner, &mut output)?;
        let status = output.finish(session)?;
        let Some(first) = first_text else {
            // A file of the arguments may have been forgotten.
            if is_standard_input {
                session.note("standard input has no ads");
            }
            return Ok(status);
        };
        plan.columns.af().for_each(|expression| note_certain_slips(session, expression));
        if [&plan.constraint].into_iter().chain(plan.columns.given()).any(|of| reads_clock(session, of, &first)) {
            note_old_ads(session, &sources);
        }
        note_mistakes(self, session, status, &plan, &scanner, &mut |session| attribute_name_texts(session, &first));
        Ok(status)
    }

    /// Passes what the sources have to the output. Returns the text of the first block. No sources are left if they were
    /// not read from the first ad to the last.
    fn scan(
        &self,
        session: &mut Session,
        sources: &mut Vec<AdSource>,
        scanner: &QueryScanner<'_>,
        output: &mut QueryOutput<'_>,
    ) -> Result<Option<SourceText>, Failure> {
        let mut first_text = None;
        if self.attempts {
            first_text = attempts::scan_attempts(session, sources, scanner, output)?;
            sources.clear();
        }
        if self.newest || scanner.stop.is_some() {
            sources.reverse();
            first_text = newest_first::scan_backwards(session, sources, scanner, output)?;
            sources.clear();
        }
        if let Some(at) = self.at {
            let latest = read_latest_ads(session, sources, at)?;
            first_text = latest.first().map(|(text, _)| text.clone());
            scanner.scan_read_ads(latest, &mut |text, item| output.add_item(session, text, 0, item))?;
            sources.clear();
        }
        for_each_block(
            session,
            sources,
            scanner,
            &mut |session, source, text, scanned: ScannedBlock<QueryFinding>| {
                first_text.get_or_insert_with(|| text.clone());
                for item in scanned.items {
                    if !output.add_item(session, text, source.ads_read, item)? {
                        return Ok(false);
                    }
                }
                source.ads_read += scanned.ads;
                Ok(true)
            },
        )?;
        Ok(first_text)
    }

    /// Whether the rows are written in typed columns.
    fn writes_parquet(&self) -> bool {
        self.output.form == Some(OutputForm::Parquet)
    }

    /// Returns the value that the constraint must have in an ad.
    fn filter(&self) -> TruthFilter {
        match (self.undefined, self.invert) {
            (true, _) => TruthFilter::Undefined,
            (_, true) => TruthFilter::NotTrue,
            _ => TruthFilter::True,
        }
    }

    /// Parses the keys of `--sort`.
    fn sort_keys(&self, session: &mut Session) -> Result<Vec<SortKey>, Failure> {
        let given = self.sort.iter().filter(|_| !self.is_unsorted());
        given
            .map(|text| {
                Ok(SortKey::new(&argument_text::parse_argument_expression(session, "--sort", text)?, self.desc))
            })
            .collect()
    }

    /// Whether HTCondor's word says that nothing is sorted: `-sort no`.
    fn is_unsorted(&self) -> bool {
        const NO: [&str; 4] = ["no", "none", "false", "0"];
        self.sort.iter().any(|text| NO.iter().any(|no| text.eq_ignore_ascii_case(no)))
    }

    /// Whether rows are about groups.
    fn has_groups(&self) -> bool {
        self.groups.is_given() || self.usage
    }

    /// Whether numbers of ads are printed, for people or scripts that take them for true.
    fn prints_numbers(&self) -> bool {
        (self.count || self.has_groups() || !self.condor_table.is_empty()) && !self.partial.is_given()
    }

    /// Whether no option says what to print of the ads.
    fn prints_whole_ads(&self) -> bool {
        let columns = [&self.af, &self.mask, &self.append, &self.condor_table].into_iter().all(Vec::is_empty);
        columns && !self.has_groups() && self.print_format.is_none()
    }

    /// Whether the output is the ads themselves rather than rows about them.
    fn writes_ads(&self, columns: &Columns) -> bool {
        let undecided = self.undefined && self.output.form.is_none_or(is_tabular);
        !columns.prints_rows() && columns.group.is_none() && !undecided && !self.prints_table_of_ads()
    }

    /// Whether the ads are the rows of a table, if there are no other rows.
    fn prints_table_of_ads(&self) -> bool {
        match self.output.form {
            Some(form) => is_tabular(form) && form != OutputForm::Names,
            None => Session::is_terminal() && !self.follow,
        }
    }

    /// Whether a table gets a heading. Output into a pipe without `-o` gets none, so that scripts read only values.
    fn has_heading(&self) -> bool {
        let is_named = self.output.form.is_some() || Session::is_terminal() && !self.follow;
        !self.output.no_header && (is_named || self.attempts && self.prints_whole_ads())
    }
}

fn is_tabular(form: OutputForm) -> bool {
    matches!(form, OutputForm::Table | OutputForm::Names | OutputForm::Parquet) || form.has_lines_of_cells()
}
