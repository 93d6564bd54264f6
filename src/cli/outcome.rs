//! Outcomes of commands: exit statuses, the errors that decide them, and why a command cannot go on.

use std::fmt;
use std::io::{Error as IoError, ErrorKind};

/// The outcome of a command; its number is the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The answer is true, something was found, or nothing is wrong.
    Yes = 0,
    /// The answer is false, nothing was found, or there are findings.
    No = 1,
    /// The usage is wrong, or reading or writing failed.
    Trouble = 2,
    /// A budget was exceeded.
    Budget = 3,
    /// The value is undefined, in `eval -e`.
    Undefined = 4,
    /// The value is an error, in `eval -e`.
    Error = 5,
}

impl Status {
    pub fn code(self) -> u8 {
        self as u8
    }

    pub fn of(yes: bool) -> Self {
        if yes { Status::Yes } else { Status::No }
    }
}

/// The errors of a run so far, for its exit status.
#[derive(Default)]
pub struct RunErrors {
    /// Number of errors, in ads or elsewhere.
    pub count: usize,
    has_error: bool,
    has_exceeded_budget: bool,
}

impl RunErrors {
    /// Counts errors. `decide` tells whether they decide the exit status.
    pub fn add(&mut self, count: usize, decide: bool) {
        self.count += count;
        self.has_error |= decide && count > 0;
    }

    /// Counts a budget that was exceeded.
    pub fn add_exceeded_budget(&mut self) {
        self.count += 1;
        self.has_exceeded_budget = true;
    }

    /// Makes the errors so far leave the exit status alone.
    pub fn clear_status(&mut self) {
        (self.has_error, self.has_exceeded_budget) = (false, false);
    }

    /// Returns the exit status of a command with this outcome. With `exits_zero`, the answer "no" is a success.
    pub fn exit_code(&self, status: Status, exits_zero: bool) -> u8 {
        match status {
            status if self.has_error || status == Status::Trouble => Status::Trouble.code(),
            _ if self.has_exceeded_budget => Status::Budget.code(),
            Status::No if exits_zero => Status::Yes.code(),
            status => status.code(),
        }
    }
}

/// Why a command could not go on.
#[derive(Debug)]
pub enum Failure {
    /// The output could not be written.
    Output(IoError),
    /// The command refuses its arguments or input. The text is the reason. `None` if the reason was already reported.
    Refused(Option<String>),
}

impl Failure {
    /// Makes a refusal with a reason that is still to be reported.
    pub fn refused(reason: impl Into<String>) -> Self {
        Failure::Refused(Some(reason.into()))
    }

    /// Makes the refusal for a file that cannot be read.
    pub fn unreadable(name: impl fmt::Display, error: &IoError) -> Self {
        Failure::refused(format!("cannot read {name}: {}", io_reason(error)))
    }

    /// Makes the refusal for a file that cannot be written.
    pub fn unwritable(name: impl fmt::Display, error: &IoError) -> Self {
        let reason = match error.kind() {
            ErrorKind::NotFound => "its folder does not exist".to_owned(),
            _ => io_reason(error),
        };
        Failure::refused(format!("cannot write {name}: {reason}"))
    }
}

impl From<IoError> for Failure {
    fn from(error: IoError) -> Self {
        Failure::Output(error)
    }
}

/// Returns the status of a run that ended with this result, and the message that is still to be reported.
pub fn status_of(result: Result<Status, Failure>) -> (Status, Option<String>) {
    match result {
        Ok(status) => (status, None),
        // A closed pipe is not an error: the program that reads the output, such as `head`, has read enough.
        Err(Failure::Output(error)) if error.kind() == ErrorKind::BrokenPipe => (Status::Yes, None),
        Err(Failure::Output(error)) => {
            (Status::Trouble, Some(format!("cannot write the output: {}", io_reason(&error))))
        }
        Err(Failure::Refused(message)) => (Status::Trouble, message),
    }
}

/// Returns a refusal with this reason, as an error.
pub fn refuse<T>(reason: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::refused(reason))
}

/// Refuses options that contradict each other. Each pair is a condition, and the reason why the options are refused if
/// the condition is true. Fails with the reason of the first true condition.
pub fn refuse_contradictions(contradictions: &[(bool, &str)]) -> Result<(), Failure> {
    contradictions.iter().find(|(is_true, _)| *is_true).map_or(Ok(()), |(_, reason)| refuse(*reason))
}

/// Returns the reason why reading or writing failed, such as `permission denied`. Leaves out the system's error number,
/// such as `(os error 2)`.
pub fn io_reason(error: &IoError) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "it is a directory, not a file".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or_default().to_owned()
        }
    }
}
