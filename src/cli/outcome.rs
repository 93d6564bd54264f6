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

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::{Failure, RunErrors, Status, io_reason, refuse_contradictions, status_of};

    #[test]
    fn an_error_is_worse_than_a_budget_and_that_is_worse_than_an_answer() {
        let all = [Status::Yes, Status::No, Status::Trouble, Status::Budget, Status::Undefined, Status::Error];
        for (count, decides, budget, expected, with_zero) in [
            (0, true, false, [0, 1, 2, 3, 4, 5], [0, 0, 2, 3, 4, 5]),
            (1, false, false, [0, 1, 2, 3, 4, 5], [0, 0, 2, 3, 4, 5]),
            (1, true, false, [2; 6], [2; 6]),
            (1, true, true, [2; 6], [2; 6]),
            (1, false, true, [3, 3, 2, 3, 3, 3], [3, 3, 2, 3, 3, 3]),
        ] {
            let mut errors = RunErrors::default();
            errors.add(count, decides);
            if budget {
                errors.add_exceeded_budget();
            }
            assert_eq!(errors.count, count + usize::from(budget));
            assert_eq!(all.map(|status| errors.exit_code(status, false)), expected);
            assert_eq!(all.map(|status| errors.exit_code(status, true)), with_zero);
            // A later answer does not make it better.
            errors.add(0, true);
            errors.add(2, false);
            assert_eq!(all.map(|status| errors.exit_code(status, false)), expected);
            errors.clear_status();
            assert_eq!(all.map(|status| errors.exit_code(status, false)), [0, 1, 2, 3, 4, 5]);
        }
        assert_eq!([true, false].map(Status::of), [Status::Yes, Status::No]);
    }

    #[test]
    fn failures_have_reasons() {
        for (kind, reason, unwritable) in [
            (ErrorKind::NotFound, "there is no such file", "its folder does not exist"),
            (ErrorKind::PermissionDenied, "permission denied", "permission denied"),
            (ErrorKind::IsADirectory, "it is a directory, not a file", "it is a directory, not a file"),
        ] {
            assert_eq!(io_reason(&Error::from(kind)), reason);
            let told = |failure| status_of(Err(failure));
            let expected = |what: &str, reason: &str| (Status::Trouble, Some(format!("cannot {what} f: {reason}")));
            assert_eq!(told(Failure::unreadable("f", &Error::from(kind))), expected("read", reason));
            assert_eq!(told(Failure::unwritable("f", &Error::from(kind))), expected("write", unwritable));
        }
        assert!(!io_reason(&Error::from_raw_os_error(28)).contains("os error"));
        assert_eq!(status_of(Ok(Status::No)), (Status::No, None));
        assert_eq!(status_of(Err(Error::from(ErrorKind::BrokenPipe).into())), (Status::Yes, None));
        let full = status_of(Err(Error::other("disk full").into()));
        assert_eq!(full, (Status::Trouble, Some("cannot write the output: disk full".to_owned())));
        assert_eq!(status_of(Err(Failure::Refused(None))), (Status::Trouble, None));
        let refused = |first, second| {
            refuse_contradictions(&[(first, "one"), (second, "two")])
                .map_or_else(|failure| status_of(Err(failure)).1, |()| None)
        };
        let told = [(false, false), (true, true), (false, true)].map(|(first, second)| refused(first, second));
        assert_eq!(told, [None, Some("one".to_owned()), Some("two".to_owned())]);
    }
}
