//! `classad scatter`: a command over many files as jobs of HTCondor, or as lines for GNU parallel.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, absolute};

use clap::{ArgGroup, Args};

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::args::global::{GlobalOptions, TimeOption};
use crate::cli::io::atomic_write::create_or_replace;
use crate::cli::io::dump_time::{is_old, newest_times};
use crate::cli::io::input;
use crate::cli::io::part_plan::{PartPlan, PlannedFile, byte_count, plan_parts, shell_word};
use crate::cli::io::partial::{PartialCommand, PartialInput, arguments_without, end_of_options, without_options};
use crate::cli::io::share::WorkShare;
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::render::output::out;
use crate::cli::session::Session;

const EXAMPLES: &str = "\
Examples:
  classad scatter --size 5K --command -- query 'JobStatus == 1' samples/pool/jobs.long --count
  classad scatter --command -- check samples/pool/jobs.long samples/pool/machines.long

scatter runs nothing itself. If COMMAND is query, census, refs or check, each run writes a partial result for one part
of the files; `classad merge` merges the partial results.

match --best N, match --all and explain need the whole queue and the whole pool. For these commands, --shares N plans N
runs. Each run reads all files and does one share of the work:

  classad scatter --dag why --shares 20 -- explain --unmatched /shared/jobs --pool /shared/machines

--dag DIR writes files for HTCondor's DAGMan, and prints the command that submits them:

  condor_submit_dag -usedagdir why/job.dag

DAGMan runs a failed part or share again, at most three times. The final node merges DIR/*.part into DIR/output and
writes its messages to DIR/errors. If parts or shares are missing, the final node fails, and DIR/errors lists them. The
machines must share a file system with this machine.

--command prints a command line for each part or share, for a shell or GNU parallel. Each command writes a partial
result to its standard output:

  classad scatter --command --plan plan.json -- query 'JobStatus == 5' history* --group-by Owner |
      parallel --results '{#}.part'

With `parallel --sshlogin HOST,...`, the lines run on other machines, which must share a file system. If each file is
on one machine only, see `classad merge --help`.

All runs have the same current time. For parts of files, it is the time at which scatter ran, unless the command has
--now.";

/// Write a plan to run a command on many files: as HTCondor jobs, or as command lines for GNU parallel
#[derive(Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("engine").required(true))]
pub struct ScatterCommand {
    /// Write submit files, a DAG and a plan to the folder DIR
    #[arg(long, value_name = "DIR", group = "engine")]
    dag: Option<String>,
    /// Print a command line for each part or share
    #[arg(long, group = "engine")]
    command: bool,
    /// With --command, write the plan to this file, for `classad merge --plan`
    #[arg(long, value_name = "FILE", conflicts_with = "dag")]
    plan: Option<String>,
    /// Size of a part in bytes; K, M, G and T are powers of 1024
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = byte_count)]
    size: u64,
    /// Divide the work of `match --best`, `match --all` or `explain` into N shares, not the files
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000), conflicts_with = "size")]
    pub shares: Option<u64>,
    /// The command to run on each part or share, after `--`
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub arguments: Vec<String>,
}

/// How often `DAGMan` runs a part again that fails.
const RETRIES: u32 = 3;

/// Seconds after which a job whose machine is gone is run elsewhere. HTCondor's default is 40 minutes.
const LEASE_SECONDS: u32 = 30;

/// Memory of a run beside the ads that it holds, in MB.
const RUN_MEGABYTES: u64 = 512;

impl ScatterCommand {
    /// Plans and prints the runs of a command.
    pub fn run(&self, scattered: PartialCommand, session: &mut Session) -> Result<Status, Failure> {
        let (plan, runs) = match scattered.input.clone() {
            PartialInput::Parts(input) => self.plan_parts(session, scattered, &input)?,
            PartialInput::Shares(sides) => self.plan_shares(session, scattered, sides)?,
        };
        if let Some(folder) = &self.dag {
            write_dag(Path::new(folder), &plan, &runs)?;
            return Ok(Status::Yes);
        }
        if let Some(path) = &self.plan {
            write_file(Path::new(path), &plan_text(&plan)?)?;
        }
        let mut out = out();
        for words in runs {
            let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
            writeln!(out, "classad {}", words.join(" "))?;
        }
        Ok(Status::Yes)
    }

    /// Plans the parts of the files of a command. Also returns the arguments of each run.
    fn plan_parts(
        &self,
        session: &mut Session,
        scattered: PartialCommand,
        input: &AdFilesArgs,
    ) -> Result<(PartPlan, Vec<Vec<String>>), Failure> {
        let now = match scattered.options.now {
            Some(TimeOption::Dump) => return refuse("--now dump differs in each part; give a time"),
            Some(TimeOption::At(time)) => Some(time),
            None => session.context().now,
        };
        let paths = input.paths()?.into_iter().map(whole_name).collect::<Result<Vec<_>, _>>()?;
        let form = scattered.options.from;
        let planner =
            plan_parts(&paths, self.size, form, &mut |path, error| input::report_unreadable(session, path, error))?;
        if session.error_count() > 0 {
            return Err(Failure::Refused(None));
        }
        let plan = planner.finish(now);
        let arguments = without_options(arguments_without(scattered.arguments, &input.files), &["--now"]);
        let mut arguments = with_whole_names(arguments, &(session.command_tree)())?;
        add_options(&mut arguments, now, ["--partial", "--threads", "1"].map(str::to_owned));
        let runs = plan
            .parts
            .iter()
            .map(|part| arguments.iter().cloned().chain(part.iter().map(PlannedFile::argument)).collect());
        let runs = runs.collect();
        Ok((plan, runs))
    }

    /// Plans the shares of a command, which all read the same requests and offers. Also returns the arguments of each
    /// run.
    fn plan_shares(
        &self,
        session: &mut Session,
        scattered: PartialCommand,
        [requests, pool]: [Vec<String>; 2],
    ) -> Result<(PartPlan, Vec<Vec<String>>), Failure> {
        if requests.is_empty() || requests.iter().chain(&pool).any(|path| path == "-") {
            return refuse("each share reads all requests and offers: name their files");
        }
        let count = self.shares.map_or(1, |count| usize::try_from(count).unwrap_or(usize::MAX));
        let GlobalOptions { quiet, color, .. } = session.options;
        let mut session = Session::new(GlobalOptions { quiet, color, ..scattered.options }, session.command_tree);
        let sources = input::open_sides(&mut session, &requests, &pool)?;
        if session.error_count() > 0 {
            return Err(Failure::Refused(None));
        }
        let newest = newest_times(sources.iter().flatten(), &session.context());
        let newest = newest.map_err(|error| Failure::unreadable("the ads", &error))?.ads;
        // Without --now a share that reads old ads evaluates as of their time, as one run does.
        let needs_time = session.options.now.is_none() && !is_old(newest);
        let now = session.context().now.filter(|_| needs_time);
        let files = requests.iter().chain(&pool).cloned().map(whole_name).collect::<Result<Vec<_>, _>>()?;
        let plan = PartPlan::of_shares(count, &files, now)?;
        let arguments = with_whole_names(arguments_without(scattered.arguments, &requests), &(session.command_tree)())?;
        let run = |number: usize| {
            let mut arguments = arguments.clone();
            let share = WorkShare { number, count }.to_string();
            add_options(&mut arguments, now, ["--partial", "--share", &share, "--threads", "1"].map(str::to_owned));
            arguments.extend(files.iter().take(requests.len()).cloned());
            arguments
        };
        Ok((plan, (1..=count).map(run).collect()))
    }
}

/// Adds options in front of `--`, if there is one.
fn add_options(arguments: &mut Vec<String>, now: Option<i64>, options: impl IntoIterator<Item = String>) {
    let now = now.into_iter().flat_map(|now| ["--now".to_owned(), now.to_string()]);
    let at = end_of_options(arguments);
    arguments.splice(at..at, now.chain(options));
}

/// Returns the name of a file from the root. Runs on parts are in other folders. `-` is standard input.
fn whole_name(path: String) -> Result<String, Failure> {
    match absolute(&path).ok().filter(|_| path != "-").map(|whole| whole.into_os_string().into_string()) {
        Some(Ok(whole)) => Ok(whole),
        Some(Err(_)) => refuse(format!("{path}: the name of a file must be UTF-8")),
        None => Ok(path),
    }
}

/// Writes the files that options name as paths from the root.
fn with_whole_names(given: Vec<String>, tree: &clap::Command) -> Result<Vec<String>, Failure> {
    let command = given.iter().find_map(|argument| tree.find_subcommand(argument));
    let options = || tree.get_arguments().chain(command.into_iter().flat_map(clap::Command::get_arguments));
    // The names of values are those in the help.
    let value_name = |word: &str| {
        let option =
            options().find(|option| option.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long)));
        let option = option.filter(|option| option.get_action().takes_values())?;
        Some(option.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str()).to_owned())
    };
    let whole_value = |kind: &str, value: String| match kind {
        "FILE" | "POOL" => whole_name(value),
        "CONFIG" => {
            Ok(value.split(',').map(|file| whole_name(file.to_owned())).collect::<Result<Vec<_>, _>>()?.join(","))
        }
        "NAME=FILE" => match value.split_once('=') {
            Some((name, file)) => Ok(format!("{name}={}", whole_name(file.to_owned())?)),
            None => Ok(value),
        },
        _ => Ok(value),
    };
    let mut given = given.into_iter();
    let mut arguments = Vec::new();
    while let Some(argument) = given.next() {
        let (word, value) = argument.split_once('=').map_or((&argument[..], None), |(word, value)| (word, Some(value)));
        match (value_name(word), value) {
            (Some(kind), Some(value)) => arguments.push(format!("{word}={}", whole_value(&kind, value.to_owned())?)),
            (Some(kind), None) => {
                arguments.push(argument);
                if let Some(value) = given.next() {
                    arguments.push(whole_value(&kind, value)?);
                }
            }
            (None, _) => arguments.push(argument),
        }
    }
    Ok(arguments)
}

fn plan_text(plan: &PartPlan) -> Result<String, Failure> {
    Ok(serde_json::to_string(plan).map_err(std::io::Error::from)? + "\n")
}

fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    let written = create_or_replace(path, None, |file| file.write_all(text.as_bytes()));
    written.map(drop).map_err(|error: io::Error| Failure::unwritable(path.display(), &error))
}

/// Writes the files for `DAGMan` into a folder, and prints the command that submits them.
fn write_dag(folder: &Path, plan: &PartPlan, runs: &[Vec<String>]) -> Result<(), Failure> {
    let program = std::env::current_exe().map_err(|error| Failure::unreadable("the program", &error))?;
    let program = program.display();
    let width = runs.len().to_string().len();
    let mut dag = String::new();
    for (index, words) in runs.iter().enumerate() {
        let number = index + 1;
        let words = vars_text(&submit_arguments(words)?);
        let _ = writeln!(dag, "JOB part{number:0width$} part.sub");
        let _ = writeln!(dag, "VARS part{number:0width$} part=\"{number:0width$}\" words=\"{words}\"");
        let _ = writeln!(dag, "RETRY part{number:0width$} {RETRIES}");
    }
    dag += "FINAL merge merge.sub\n";
    let parts = (1..=runs.len()).map(|number| format!("{number:0width$}.part"));
    let part_list: String = parts.map(|name| name + "\n").collect();
    // A share holds its requests and offers in memory, a part only what it finds.
    let held: u64 = plan.parts.iter().flatten().filter(|_| plan.shares.is_some()).filter_map(|file| file.size).sum();
    let memory = RUN_MEGABYTES + (held >> 20);
    let part_submit = format!(
        "executable = {program}\narguments = \"$(words)\"\noutput = $(part).part\nerror = $(part).err\n\
         log = job.log\nrequest_cpus = 1\nrequest_memory = {memory}MB\nrequest_disk = 100MB\n\
         should_transfer_files = IF_NEEDED\nwhen_to_transfer_output = ON_EXIT\n\
         # Seconds until a job runs elsewhere if its machine is gone.\n\
         job_lease_duration = {LEASE_SECONDS}\nqueue\n"
    );
    let merge_submit = format!(
        "universe = local\nexecutable = {program}\n\
         arguments = \"merge --exit-zero --plan plan.json --files-from parts.list\"\n\
         output = output\nerror = errors\nlog = job.log\nqueue\n"
    );
    fs::create_dir_all(folder).map_err(|error| Failure::unwritable(folder.display(), &error))?;
    for (name, text) in [
        ("plan.json", plan_text(plan)?),
        ("parts.list", part_list),
        ("part.sub", part_submit),
        ("merge.sub", merge_submit),
        ("job.dag", dag),
    ] {
        write_file(&folder.join(name), &text)?;
    }
    let dag = folder.join("job.dag");
    writeln!(out(), "condor_submit_dag -usedagdir {}", shell_word(&dag.to_string_lossy()))?;
    Ok(())
}

/// Returns words as a submit file has them between the double quotes of `arguments`: separated by blanks, with single
/// quotes around a word with blanks, and with quotes doubled. `$(` would begin a macro.
fn submit_arguments(words: &[String]) -> Result<String, Failure> {
    let mut text = String::new();
    for word in words {
        if word.contains(['\n', '\r']) {
            return refuse("an argument with a line feed cannot be in a submit file");
        }
        let is_plain = !word.is_empty() && !word.contains([' ', '\t', '\'']);
        let word = word.replace('"', "\"\"").replace("$(", "$(DOLLAR)(");
        let separator = if text.is_empty() { "" } else { " " };
        let word = if is_plain { word } else { format!("'{}'", word.replace('\'', "''")) };
        let _ = write!(text, "{separator}{word}");
    }
    Ok(text)
}

/// Returns a text as it stands between the double quotes of a VARS line.
fn vars_text(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::{PartPlan, PlannedFile, add_options, submit_arguments, vars_text, with_whole_names, write_dag};

    /// The quotes are those of the manual: `condor_submit`, "arguments", and `DAGMan`, "VARS".
    #[test]
    fn words_are_quoted_for_submit_files_and_dags() {
        let words = ["query", "JobStatus == 1", "--af", "it's", "regexp(\"a$\", b)", "$(x)", "c\\d", ""];
        let text = submit_arguments(&words.map(str::to_owned)).expect("there is no line feed");
        let expected = r#"query 'JobStatus == 1' --af 'it''s' 'regexp(""a$"", b)' $(DOLLAR)(x) c\d ''"#;
        assert_eq!(text, expected);
        assert_eq!(
            vars_text(&text),
            r#"query 'JobStatus == 1' --af 'it''s' 'regexp(\"\"a$\"\", b)' $(DOLLAR)(x) c\\d ''"#
        );
        assert!(submit_arguments(&["a\nb".to_owned()]).is_err());
    }

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_stand_in_front_of_two_dashes() {
        for (given, now, expected) in [
            ("query true a", None, "query true a -x 1"),
            ("query -- true a", None, "query -x 1 -- true a"),
            ("query true a", Some(-5), "query true a --now -5 -x 1"),
            ("query -- true -- a", Some(7), "query --now 7 -x 1 -- true -- a"),
        ] {
            let mut arguments = words(given);
            add_options(&mut arguments, now, ["-x", "1"].map(str::to_owned));
            assert_eq!(arguments, words(expected));
        }
    }

    #[test]
    fn files_of_options_are_named_from_the_root() {
        let folder = std::env::current_dir().unwrap().display().to_string();
        for (given, expected) in [
            ("query true a", "query true a"),
            ("match --pool b a", "match --pool ROOT/b a"),
            ("match --pool=b a --pool /c", "match --pool=ROOT/b a --pool /c"),
            ("match --pool - a", "match --pool - a"),
            ("check --config b,c a", "check --config ROOT/b,ROOT/c a"),
            ("query --map m=b --map=n=c --map d a", "query --map m=ROOT/b --map=n=ROOT/c --map d a"),
            // Flags and other options have no files.
            ("query --count b --af b a", "query --count b --af b a"),
            ("match a --pool", "match a --pool"),
            ("nothing --pool b", "nothing --pool b"),
        ] {
            let whole = with_whole_names(words(given), &crate::cli::program::tree()).ok().unwrap();
            assert_eq!(whole.join(" "), expected.replace("ROOT", &folder));
        }
    }

    #[test]
    fn a_dag_has_a_job_for_each_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = |size| PlannedFile { file: "f".to_owned(), start: 0, end: None, size: Some(size), inode: 0 };
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        for (shares, count, memory) in [(None, 2, "512MB"), (Some(10), 10, "514MB")] {
            let plan = PartPlan { classad_plan: 1, now: None, shares, parts: vec![vec![file(1 << 20), file(2 << 20)]] };
            let plan = PartPlan {
                parts: if shares.is_none() { plan.parts } else { vec![vec![file(1 << 20), file((2 << 20) - 1)]] },
                ..plan
            };
            let runs: Vec<Vec<String>> = (0..count).map(|run| vec!["query".to_owned(), format!("a {run}")]).collect();
            write_dag(folder.path(), &plan, &runs).ok().unwrap();
            let number = |run: usize| if count == 10 { format!("{run:02}") } else { run.to_string() };
            let job = |run: usize| {
                let number = number(run);
                let words = run - 1;
                format!(
                    "JOB part{number} part.sub\nVARS part{number} part=\"{number}\" words=\"query 'a {words}'\"\n\
                     RETRY part{number} 3\n"
                )
            };
            let dag: String = (1..=count).map(job).collect();
            assert_eq!(read("job.dag"), dag + "FINAL merge merge.sub\n");
            assert_eq!(read("parts.list"), (1..=count).map(|run| number(run) + ".part\n").collect::<String>());
            let submit = read("part.sub");
            assert!(
                submit.contains(&format!("\nrequest_memory = {memory}\n"))
                    && submit.contains("\njob_lease_duration = 30\n"),
                "{submit}"
            );
            assert!(read("merge.sub").contains("--plan plan.json --files-from parts.list"));
            assert!(read("plan.json").starts_with("{\"classad_plan\":1,\"now\":null,"));
        }
    }
}
