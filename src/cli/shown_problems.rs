//! Which problems and lossy values of a run are printed, and how many are not.

use classad::format::{Problem, Severity};
use classad::text::counted;
use rustc_hash::FxHashSet;

/// Maximum number of errors printed per run. Further ones are only counted.
const MAX_SHOWN_ERRORS: usize = 50;

/// Maximum number of warnings, and of lossy conversions, printed per run. Further ones are only counted.
const MAX_SHOWN_WARNINGS: usize = 5;

/// Returns the maximum number of problems of a severity that are printed per run.
fn most_shown(severity: Severity) -> usize {
    match severity {
        Severity::Error => MAX_SHOWN_ERRORS,
        Severity::Warning => MAX_SHOWN_WARNINGS,
    }
}

/// Counts messages, and how many of them are printed.
#[derive(Default)]
pub struct ShownCount {
    all: usize,
    shown: usize,
}

impl ShownCount {
    /// Counts a message. Returns whether it is printed: `is_wanted`, and fewer than `most` were printed.
    pub fn count(&mut self, is_wanted: bool, most: usize) -> bool {
        self.all += 1;
        let is_shown = is_wanted && self.shown < most;
        self.shown += usize::from(is_shown);
        is_shown
    }

    /// Counts messages that are not printed.
    pub fn add(&mut self, not_shown: usize) {
        self.all += not_shown;
    }

    /// Number of messages that are not printed.
    pub fn not_shown(&self) -> usize {
        self.all - self.shown
    }
}

/// The problems of a run, or of a part of one.
#[derive(Default)]
pub struct ShownProblems {
    pub errors: ShownCount,
    pub warnings: ShownCount,
    /// The kinds of the problems that recur.
    kinds: FxHashSet<String>,
}

impl ShownProblems {
    /// Counts a problem. Returns whether it is printed: it is not if there are too many, or if one of its kind was
    /// before.
    pub fn shows(&mut self, problem: &Problem) -> bool {
        let is_new = problem.recurring_kind().is_none_or(|kind| self.kinds.insert(kind.to_owned()));
        self.counter_mut(problem.severity).count(is_new, most_shown(problem.severity))
    }

    /// The counter of a severity.
    pub fn counter_mut(&mut self, severity: Severity) -> &mut ShownCount {
        match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        }
    }
}

/// Counts of the errors, warnings and lossy values reported in one entry of a script, or in a whole run without a
/// script. Messages that were not printed count, too.
#[derive(Default)]
pub struct MessageCounts {
    pub problems: ShownProblems,
    /// Values that the output form could not represent.
    lossy_values: ShownCount,
}

impl MessageCounts {
    /// Counts a lossy value, which is an error or a warning. Returns whether it is printed.
    pub fn shows_lossy_value(&mut self, severity: Severity) -> bool {
        self.lossy_values.count(true, most_shown(severity))
    }

    /// Says how many messages of each kind were not printed: `3 more errors not shown`.
    pub fn suppressed(&self) -> Vec<String> {
        let MessageCounts { problems, lossy_values } = self;
        let counts =
            [(&problems.errors, "more error"), (&problems.warnings, "more warning"), (lossy_values, "more change")];
        let suppressed = counts.into_iter().filter(|(count, _)| count.not_shown() > 0);
        suppressed.map(|(count, what)| format!("{} not shown", counted(count.not_shown(), what))).collect()
    }
}

#[cfg(test)]
mod tests {
    use classad::format::{Problem, Severity};

    use super::{MAX_SHOWN_ERRORS, MAX_SHOWN_WARNINGS, MessageCounts};

    #[test]
    fn messages_beyond_the_most_are_counted() {
        for (severity, most, what) in
            [(Severity::Error, MAX_SHOWN_ERRORS, "error"), (Severity::Warning, MAX_SHOWN_WARNINGS, "warning")]
        {
            let problem = Problem::error_at(0..1, 1, "x");
            let problem = if severity == Severity::Warning { problem.as_warning() } else { problem };
            let mut counts = MessageCounts::default();
            let shown: Vec<bool> = (0..most + 2).map(|_| counts.problems.shows(&problem)).collect();
            assert_eq!(shown, [vec![true; most], vec![false; 2]].concat());
            assert_eq!(counts.suppressed(), [format!("2 more {what}s not shown")]);
            counts.problems.counter_mut(severity).add(3);
            assert_eq!(counts.suppressed(), [format!("5 more {what}s not shown")]);
            let mut counts = MessageCounts::default();
            assert_eq!((0..=most).filter(|_| counts.shows_lossy_value(severity)).count(), most);
            assert_eq!(counts.suppressed(), ["1 more change not shown"]);
        }
        assert!(MessageCounts::default().suppressed().is_empty());
    }
}
