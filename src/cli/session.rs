//! The state of one run: options, dialect, evaluation context, and the errors counted for the exit status.

use std::io::{self, IsTerminal};

use classad::ad::{Dialect, Name};
use classad::eval::{Chance, Context, Halt};
use classad::format::{Form, Problem, Severity};
use classad::syntax::Change;

use super::args::global::Options;
use super::io::source::{Source, Text};
use super::render::diagnostics;
use super::{Failure, Status};

/// Maximum number of errors, of warnings, and of lossy conversions printed per run; further ones are only counted.
const MOST_SHOWN: usize = 50;

/// The state of one run.
pub struct Session {
    pub options: Options,
    context: Context,
    trouble: bool,
    budget: bool,
    errors: usize,
    warnings: usize,
    /// Number of values that the output form could not represent.
    changes: usize,
    mistakes: usize,
    /// Prefix of every message: the location of the current entry of a script. Empty for a command line.
    place: String,
}

impl Session {
    pub fn new(options: Options) -> Self {
        let mut context = Context::new(options.dialect.unwrap_or_default());
        if let Some(now) = options.now {
            context.now = Some(now);
        }
        if let Some(seed) = options.seed {
            context.chance = Some(Chance::new(seed));
        }
        context.most_steps = options.max_steps.unwrap_or(context.most_steps);
        context.deepest = options.max_depth.unwrap_or(context.deepest);
        let place = String::new();
        let (trouble, budget, errors, warnings, changes, mistakes) = (false, false, 0, 0, 0, 0);
        Session { options, context, trouble, budget, errors, warnings, changes, mistakes, place }
    }

    /// Decides the dialect of the run, once all inputs are known and before any is parsed.
    pub fn decide_dialect<'s>(&mut self, sources: impl IntoIterator<Item = &'s Source>) {
        self.decide_dialect_by(sources.into_iter().map(|source| (source.name.as_ref(), source.form)));
    }

    /// Decides the dialect of the run by the names and forms of the inputs: an explicit option wins, else HTCondor's
    /// dialect if any form is HTCondor's.
    pub fn decide_dialect_by<'s>(&mut self, mut inputs: impl Iterator<Item = (&'s str, Form)>) {
        let condors = inputs.find(|(_, form)| form.is_condors());
        let reason = match (self.options.dialect, condors) {
            (Some(_), _) => "as asked".to_owned(),
            (None, Some((name, form))) => {
                self.context.dialect = Dialect::Condor;
                format!("{name} is in {form}")
            }
            (None, None) => "no input is in a form of HTCondor's".to_owned(),
        };
        if self.options.verbose {
            self.note(&format!("the dialect is {}: {reason}", self.context.dialect));
        }
    }

    pub fn context(&self) -> Context {
        self.context.clone()
    }

    /// The context of further evaluations, to be changed.
    pub fn context_mut(&mut self) -> &mut Context {
        &mut self.context
    }

    pub fn dialect(&self) -> Dialect {
        self.context.dialect
    }

    /// Fails if the user has interrupted the run.
    pub fn go_on(&self) -> Result<(), Failure> {
        if self.context.is_interrupted() { Err(Failure::Refused(None)) } else { Ok(()) }
    }

    /// Begins the next entry of a script, at this location: notes how many messages of the last one were suppressed,
    /// and resets their counters.
    pub fn turn(&mut self, place: String) {
        self.tell_rest();
        (self.errors, self.warnings, self.changes) = (0, 0, 0);
        self.place = place;
    }

    /// Clears the failure flags. An interactive session exits with 0 even after errors, which the user has seen.
    pub fn forgive(&mut self) {
        (self.trouble, self.budget) = (false, false);
    }

    fn say(&self, kind: &str, message: &str) {
        diagnostics::message(&self.options, kind, &format!("{}{message}", self.place));
    }

    /// Whether standard output is a terminal.
    pub fn is_terminal() -> bool {
        io::stdout().is_terminal()
    }

    /// Reports a problem in a text; once the maximum number of its severity has been printed, only counts it.
    ///
    /// # Errors
    ///
    /// The problem is an error and `--fail-fast` is given.
    pub fn problem(&mut self, text: &Text, problem: &Problem) -> Result<(), Failure> {
        let count = match problem.severity {
            Severity::Error => {
                self.trouble |= !self.options.lenient;
                self.mistakes += 1;
                &mut self.errors
            }
            Severity::Warning => &mut self.warnings,
        };
        *count += 1;
        if *count <= MOST_SHOWN {
            diagnostics::problem(&self.options, text, problem);
        }
        if self.options.fail_fast && problem.severity == Severity::Error {
            return Err(Failure::Refused(None));
        }
        Ok(())
    }

    /// Number of errors so far, in ads or elsewhere.
    pub fn mistakes(&self) -> usize {
        self.mistakes
    }

    /// Reports the values of an ad that the output form cannot represent, as warnings, or as errors with `--strict`.
    /// Returns whether the ad may be written.
    pub fn changed(&mut self, id: &str, changes: &[(Name, Change)]) -> bool {
        let mut before = None;
        for change in changes {
            // Repetitions within one attribute are reported once.
            if before.replace(change) == Some(change) {
                continue;
            }
            self.changes += 1;
            self.trouble |= self.options.strict;
            self.mistakes += usize::from(self.options.strict);
            if self.changes > MOST_SHOWN {
                continue;
            }
            let message = format!("{id}: {}: {}", change.0, change.1);
            if self.options.strict {
                self.say("error", &format!("{message}; the ad is left out"));
            } else {
                self.say("warning", &format!("{message}, as this form cannot carry it"));
            }
        }
        changes.is_empty() || !self.options.strict
    }

    /// Reports an error that has no location in a text.
    pub fn trouble(&mut self, message: &str) {
        self.trouble = true;
        self.mistakes += 1;
        self.say("error", message);
    }

    /// Prints a warning, which does not change the exit status.
    pub fn warning(&self, message: &str) {
        self.say("warning", message);
    }

    /// Prints a note, which does not change the exit status.
    pub fn note(&self, message: &str) {
        self.say("note", message);
    }

    /// Reports that a budget was exceeded; the message says which.
    pub fn exceeded(&mut self, message: &str) {
        self.budget = true;
        self.mistakes += 1;
        self.say("error", message);
    }

    /// Reports that the evaluation of `what` exceeded its budget, with the option that raises it.
    pub fn halted(&mut self, halt: &Halt, what: &str) {
        let hint = match halt {
            Halt::TooDeep(_) => "; --max-depth raises the limit",
            Halt::TooLong(_) => "; --max-steps raises the limit",
            Halt::Unknown | Halt::Interrupted => "",
        };
        self.exceeded(&format!("{what}: {halt}{hint}"));
    }

    /// Reports the number of evaluations that exceeded their budgets, unless it is 0.
    pub fn failures(&mut self, count: u64) {
        if count > 0 {
            self.budget = true;
            let message =
                format!("{count} evaluations exceeded their budget and have no value; see --max-steps and --max-depth");
            self.say("error", &message);
        }
    }

    /// Notes how many messages were suppressed.
    fn tell_rest(&self) {
        for (count, what) in [(self.errors, "errors"), (self.warnings, "warnings"), (self.changes, "changes")] {
            if count > MOST_SHOWN {
                self.note(&format!("{} more {what} are not shown", count - MOST_SHOWN));
            }
        }
    }

    /// Records an exceeded budget that has already been reported.
    pub fn spent(&mut self) {
        self.budget = true;
        self.mistakes += 1;
    }

    /// Returns the exit status of the run, after reporting the failure that ended it, if any.
    pub fn conclude(&self, result: Result<Status, Failure>) -> u8 {
        self.tell_rest();
        let status = match result {
            Ok(status) => status,
            // The reader of the pipe has stopped early, such as `head`: that is no error.
            Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Status::Yes,
            Err(Failure::Output(error)) => {
                diagnostics::message(
                    &self.options,
                    "error",
                    &format!("cannot write the output: {}", diagnostics::io_reason(&error)),
                );
                Status::Trouble
            }
            Err(Failure::Refused(message)) => {
                if let Some(message) = message {
                    diagnostics::message(&self.options, "error", &message);
                }
                Status::Trouble
            }
        };
        let status = if self.trouble {
            Status::Trouble
        } else if self.budget && status != Status::Trouble {
            Status::Budget
        } else {
            status
        };
        match status {
            Status::No if self.options.exit_zero => 0,
            status => status.code(),
        }
    }
}
