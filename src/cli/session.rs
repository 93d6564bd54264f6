//! The state of one run: options, dialect, evaluation context, and the errors counted for the exit status.

use std::io::{self, IsTerminal};

use classad::ad::{Dialect, Name};
use classad::configuration::Configuration;
use classad::eval::{Abort, Context, RandomStream};
use classad::format::{FileFormat, Problem, Severity};
use classad::syntax::LossyChange;

use super::args::global::{GlobalOptions, TimeOption};
use super::budget_messages::{abort_text, budget_failures_text, spent_budget_texts};
use super::clock::current_time;
use super::io::live;
use super::io::source::AdSource;
use super::io::source_text::SourceText;
use super::kept_messages::{KeptMessage, KeptMessages, MessageKind};
use super::outcome::{Failure, RunErrors, Status, status_of};
use super::render::{diagnostics, output};
use super::shown_problems::MessageCounts;

/// Maximum number of problems printed for one file of settings.
const MAX_SETTING_PROBLEMS: usize = 20;

/// The options and the evaluation context of one run, and the errors counted for the exit status.
pub struct Session {
    pub options: GlobalOptions,
    /// Returns clap's tree of the commands and their options.
    pub command_tree: fn() -> clap::Command,
    context: Context,
    time_source: TimeSource,
    /// Whether the expressions of the command line are about single ads, so that `other` in them means the ad.
    pub is_about_one_ad: bool,
    errors: RunErrors,
    /// The messages of the current entry of a script, or of a whole run without a script.
    entry_counts: MessageCounts,
    /// Prefix of every message: the location of the current entry of a script. Empty for a command line.
    location_prefix: String,
    /// The host of the files if the run writes a partial result, which keeps problems instead of printing them. Empty for
    /// a host that is not named.
    pub partial_host: Option<String>,
    /// The configuration of the access point where submit files are submitted; `None` if HTCondor's defaults count.
    pub submit_configuration: Option<Configuration>,
    /// The messages of a run that keeps them instead of printing them. `None` if the run prints them.
    kept: Option<KeptMessages<ProblemInText>>,
}

/// A problem, and the text in which it is.
pub type ProblemInText = (SourceText, Problem);

/// What says the time of evaluation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TimeSource {
    Clock,
    /// The option `--now`, or the ads.
    Given,
}

impl Session {
    pub fn new(options: GlobalOptions, command_tree: fn() -> clap::Command) -> Self {
        output::silence_stdout(options.quiet);
        let context = options.evaluation_settings().to_context();
        let is_given = matches!(options.now, Some(TimeOption::At(_)));
        let time_source = if is_given { TimeSource::Given } else { TimeSource::Clock };
        Session {
            options,
            command_tree,
            context,
            time_source,
            is_about_one_ad: false,
            errors: RunErrors::default(),
            entry_counts: MessageCounts::default(),
            location_prefix: String::new(),
            partial_host: None,
            submit_configuration: None,
            kept: None,
        }
    }

    /// Keeps all further messages instead of printing them. If the run fails, they are printed at its end.
    pub fn keep_messages(&mut self) {
        self.kept = Some(KeptMessages::default());
    }

    /// Returns the messages that were kept since the last call.
    pub fn take_kept_messages(&self) -> Vec<KeptMessage<ProblemInText>> {
        self.kept.as_ref().map_or_else(Vec::new, KeptMessages::take)
    }

    /// Prints messages that were kept, and all further ones.
    pub fn print_messages(&mut self, messages: Vec<KeptMessage<ProblemInText>>) {
        self.kept = None;
        for message in messages {
            self.show(message);
        }
    }

    /// Reports a message as the run did that kept it.
    pub fn report_text(&mut self, kind: MessageKind, text: &str) {
        match kind {
            MessageKind::Error => self.error(text),
            MessageKind::Budget => self.report_exceeded_budget(text),
            MessageKind::Warning => self.warning(text),
            MessageKind::Note => self.note(text),
        }
    }

    /// Prints a message, or keeps it.
    fn show(&self, message: KeptMessage<ProblemInText>) {
        if let Some(kept) = &self.kept {
            return kept.push(message);
        }
        match message {
            KeptMessage::Problem((text, problem)) => diagnostics::print_problem(&self.options, &text, &problem),
            KeptMessage::Counted(_) => {}
            KeptMessage::Text(kind, text) => diagnostics::print_message(&self.options, kind.word(), &text),
        }
    }

    /// Starts the random numbers of further evaluations anew.
    pub fn set_seed(&mut self, seed: u64) {
        self.options.seed = Some(seed);
        self.context.random = Some(RandomStream::new(seed));
    }

    /// Makes a configuration that a command reads that of submit files, too, unless an option gives another.
    pub fn use_submit_config(&mut self, path: Option<&String>) {
        if self.options.submit_config.is_none() {
            self.options.submit_config = path.cloned();
        }
    }

    /// Asks HTCondor's tools for those of the paths that are live sources, at once. Prints a note of what is run.
    ///
    /// # Errors
    ///
    /// A tool is missing, fails or does not end in time, or there is no such source.
    pub fn ask_live<'p>(&self, paths: impl IntoIterator<Item = &'p String>) -> Result<(), Failure> {
        let paths: Vec<&str> = paths.into_iter().map(String::as_str).collect();
        live::ask(&paths, &self.options.live_settings(), |text| self.note(text)).map_err(Failure::refused)
    }

    /// Decides the dialect of the run, once all inputs are known and before any is parsed.
    pub fn decide_dialect<'s>(&mut self, sources: impl IntoIterator<Item = &'s AdSource>) {
        self.decide_dialect_by_forms(sources.into_iter().map(|source| (source.name.as_ref(), source.form)));
    }

    /// Makes a time that the ads tell the time of evaluation, in seconds since 1970.
    pub fn set_time(&mut self, time: i64) {
        self.context.now = Some(time);
        self.time_source = TimeSource::Given;
    }

    /// Makes the current time the time of evaluation again, after ads that are not old were loaded.
    pub fn return_to_clock(&mut self) {
        self.context.now = Some(current_time());
        self.time_source = TimeSource::Clock;
        self.note("the newest ad is not old: the ads are evaluated as of now");
    }

    /// Whether `--now` or the ads tell the time of evaluation, rather than the clock.
    pub fn has_given_time(&self) -> bool {
        self.time_source == TimeSource::Given
    }

    /// Decides the dialect of the run by the names and forms of the inputs. The option `--dialect` has precedence.
    /// Without the option, the dialect is HTCondor's if any form is HTCondor's.
    pub fn decide_dialect_by_forms<'s>(&mut self, mut inputs: impl Iterator<Item = (&'s str, FileFormat)>) {
        let htcondor_input = inputs.find(|(_, form)| form.facts().is_of_htcondor);
        let reason = match (self.options.dialect, htcondor_input) {
            (Some(_), _) => "--dialect or another setting sets it".to_owned(),
            (None, Some((name, form))) => {
                self.context.dialect = Dialect::Condor;
                format!("{name} is in {form}")
            }
            (None, None) => "no input is in a format of HTCondor".to_owned(),
        };
        if self.options.verbose > 0 {
            self.note(&format!("the dialect is {}: {reason}", self.context.dialect));
        }
    }

    pub fn context(&self) -> Context {
        self.context.clone()
    }

    /// Returns the evaluation context, so that the caller can change it for further evaluations.
    pub fn context_mut(&mut self) -> &mut Context {
        &mut self.context
    }

    pub fn dialect(&self) -> Dialect {
        self.context.dialect
    }

    /// Fails if the user has interrupted the run.
    pub fn check_interrupt(&self) -> Result<(), Failure> {
        if self.context.is_interrupted() { Err(Failure::Refused(None)) } else { Ok(()) }
    }

    /// Begins the next entry of a script. Prints a note of how many messages about the previous entry were suppressed,
    /// resets the counters of messages, and renews the steps of the run. `place` is the location of the next entry, the prefix of its messages.
    pub fn begin_entry(&mut self, place: String) {
        self.note_suppressed();
        self.entry_counts = MessageCounts::default();
        if let Some(run) = &self.context.run_budgets {
            run.renew();
        }
        self.location_prefix = place;
    }

    /// Grants the run more steps and memory for a number of bytes of input.
    pub fn count_input(&self, bytes: u64) {
        if let Some(run) = &self.context.run_budgets {
            run.add_input(bytes);
        }
    }

    /// Clears the failure flags, so that an interactive session exits with 0. The user has already seen the errors.
    pub fn reset_status(&mut self) {
        self.errors.clear_status();
    }

    fn print_message(&self, kind: MessageKind, message: &str) {
        self.show(KeptMessage::Text(kind, format!("{}{message}", self.location_prefix)));
    }

    /// Whether standard output is a terminal.
    pub fn is_terminal() -> bool {
        io::stdout().is_terminal()
    }

    /// Prints a problem in a text. If the maximum number of problems of its severity is reached, the problem is only
    /// counted.
    ///
    /// # Errors
    ///
    /// The problem is an error and `--fail-fast` is given.
    pub fn report_problem(&mut self, text: &SourceText, problem: &Problem) -> Result<(), Failure> {
        if problem.severity == Severity::Error {
            self.errors.add(1, !self.options.lenient);
        }
        let is_shown = self.entry_counts.problems.shows(problem);
        self.show(match problem.severity {
            _ if is_shown => KeptMessage::Problem((text.clone(), problem.clone())),
            Severity::Error => KeptMessage::Counted([1, 0]),
            Severity::Warning => KeptMessage::Counted([0, 1]),
        });
        if self.options.fail_fast && problem.severity == Severity::Error {
            return Err(Failure::Refused(None));
        }
        Ok(())
    }

    /// Counts problems that are not printed.
    pub fn count_problems(&mut self, severity: Severity, count: usize) {
        if severity == Severity::Error {
            self.errors.add(count, !self.options.lenient);
        }
        self.entry_counts.problems.counter_mut(severity).add(count);
    }

    /// Prints the problems of a file of settings. Problems beyond the maximum number are only counted.
    pub fn print_setting_problems(&self, text: &SourceText, problems: &[Problem]) {
        for problem in problems.iter().take(MAX_SETTING_PROBLEMS) {
            diagnostics::print_problem(&self.options, text, problem);
        }
        if problems.len() > MAX_SETTING_PROBLEMS {
            self.note(&format!("problems not shown: {}", problems.len() - MAX_SETTING_PROBLEMS));
        }
    }

    /// Number of errors so far, in ads or elsewhere.
    pub fn error_count(&self) -> usize {
        self.errors.count
    }

    /// Reports the values of an ad that the output form cannot represent: as warnings, or as errors with `--strict`.
    /// Returns `false` if errors were reported, because the ad must not be written then.
    pub fn report_lossy_values(&mut self, id: &str, changes: &[(Name, LossyChange)]) -> bool {
        let (severity, kind, consequence) = if self.options.strict {
            (Severity::Error, MessageKind::Error, "; --strict skips the ad instead")
        } else {
            (Severity::Warning, MessageKind::Warning, ", because the long form cannot represent the string")
        };
        // A value that occurs several times in one attribute is reported once.
        for repetitions in changes.chunk_by(|change, next| change == next) {
            let (name, change) = &repetitions[0];
            self.errors.add(usize::from(self.options.strict), true);
            if self.entry_counts.shows_lossy_value(severity) {
                self.print_message(kind, &format!("{id}: {name}: {change}{consequence}"));
            }
        }
        changes.is_empty() || !self.options.strict
    }

    /// Reports an error that has no location in a text.
    pub fn error(&mut self, message: &str) {
        self.errors.add(1, true);
        self.print_message(MessageKind::Error, message);
    }

    /// Prints a warning, which does not change the exit status.
    pub fn warning(&self, message: &str) {
        self.print_message(MessageKind::Warning, message);
    }

    /// Prints a note, which does not change the exit status.
    pub fn note(&self, message: &str) {
        self.print_message(MessageKind::Note, message);
    }

    /// Reports that a budget was exceeded; the message says which.
    pub fn report_exceeded_budget(&mut self, message: &str) {
        self.mark_budget();
        self.print_message(MessageKind::Budget, message);
    }

    /// Reports that the evaluation of `what` exceeded its budget. The message names the option that raises the limit.
    pub fn report_abort(&mut self, abort: &Abort, what: &str) {
        self.report_exceeded_budget(&abort_text(abort, what));
    }

    /// Reports the number of evaluations that exceeded their budgets, unless it is 0.
    pub fn report_budget_failures(&mut self, count: u64) {
        if count > 0 {
            self.report_exceeded_budget(&budget_failures_text(count));
        }
    }

    /// Whether evaluations exceeded their own budgets.
    pub fn has_stopped_evaluations(&self) -> bool {
        self.context.run_budgets.as_ref().is_some_and(|run| run.has_stopped())
    }

    /// Reports that evaluations exceeded their budgets, for commands that take them for errors.
    pub fn report_stopped_evaluations(&mut self, has_stopped: bool) {
        if has_stopped {
            self.report_exceeded_budget(
                "evaluations were stopped at a limit and count as errors; see `classad help budgets`",
            );
        }
    }

    /// Prints a note of how many messages were suppressed, if any.
    fn note_suppressed(&self) {
        for text in self.entry_counts.suppressed() {
            self.note(&text);
        }
    }

    /// Records that a budget was exceeded, for the exit status. Prints nothing, as the caller has already reported it.
    pub fn mark_budget(&mut self) {
        self.errors.add_exceeded_budget();
    }

    /// Returns the exit status of the run, after reporting the failure that ended it, if any.
    pub fn exit_code(&mut self, result: Result<Status, Failure>) -> u8 {
        let has_spent_run = self.context.has_spent_run() || self.context.has_spent_comparisons();
        if let Some(run) = self.context.run_budgets.clone() {
            for text in spent_budget_texts(&run) {
                self.report_exceeded_budget(&text);
            }
        }
        if self.kept.is_none() {
            self.note_suppressed();
        } else if result.is_err() || has_spent_run {
            self.print_messages(self.take_kept_messages());
            self.note_suppressed();
        }
        let (status, message) = status_of(result);
        if let Some(message) = message {
            diagnostics::print_message(&self.options, "error", &message);
        }
        self.errors.exit_code(status, self.options.exit_zero)
    }
}

#[cfg(test)]
mod tests;
