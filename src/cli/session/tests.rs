use classad::ad::{Dialect, Name};
use classad::format::{FileFormat, Problem, Severity};
use classad::syntax::LossyChange;

use super::Session;
use crate::cli::args::global::GlobalOptions;
use crate::cli::io::source_text::SourceText;
use crate::cli::kept_messages::{KeptMessage, MessageKind};
use crate::cli::outcome::{Failure, Status};
use crate::cli::program::tree;

impl Session {
    /// A run with these options that keeps its messages.
    pub fn keeping(line: &str) -> Self {
        let mut session = Session::new(GlobalOptions::of_line(line), tree);
        session.keep_messages();
        session
    }

    /// The messages since the last call.
    pub fn told(&self) -> Vec<String> {
        let text = |message| match message {
            KeptMessage::Problem((text, problem)) => {
                let (text, problem): (SourceText, Problem) = (text, problem);
                format!("{}: {}", text.name, problem.message)
            }
            KeptMessage::Counted([errors, warnings]) => format!("{errors} errors, {warnings} warnings"),
            KeptMessage::Text(kind, text) => format!("{}: {text}", kind.word()),
        };
        self.take_kept_messages().into_iter().map(text).collect()
    }
}

#[test]
fn problems_beyond_the_most_are_counted() {
    let text = SourceText::from_argument("f", "abc");
    let error = Problem::error_at(0..1, 1, "bad");
    let mut of_errors = Session::keeping("");
    for _ in 0..52 {
        of_errors.report_problem(&text, &error).unwrap();
    }
    let mut expected = vec!["f: bad"; 50];
    expected.push("2 errors, 0 warnings");
    assert_eq!(of_errors.told(), expected);
    assert_eq!((of_errors.error_count(), of_errors.exit_code(Ok(Status::Yes))), (52, 2));
    let mut of_warnings = Session::keeping("--fail-fast");
    for _ in 0..7 {
        of_warnings.report_problem(&text, &error.clone().as_warning()).unwrap();
    }
    assert_eq!(of_warnings.told()[4..], ["f: bad", "0 errors, 2 warnings"]);
    of_warnings.begin_entry("f:2: ".to_owned());
    assert_eq!(of_warnings.told(), ["note: 2 more warnings not shown"]);
    of_warnings.count_problems(Severity::Warning, 1);
    of_warnings.begin_entry("f:3: ".to_owned());
    assert_eq!(of_warnings.told(), ["note: f:2: 1 more warning not shown"]);
    of_warnings.warning("w");
    assert_eq!(of_warnings.told(), ["warning: f:3: w"]);
    assert_eq!((of_warnings.error_count(), of_warnings.exit_code(Ok(Status::No))), (0, 1));
    assert!(matches!(of_warnings.report_problem(&text, &error), Err(Failure::Refused(None))));
}

#[test]
fn errors_decide_the_status_unless_the_run_is_lenient() {
    let text = SourceText::from_argument("f", "abc");
    let error = Problem::error_at(0..1, 1, "bad");
    for (line, status) in [("", 2), ("--lenient", 0)] {
        let mut reported = Session::keeping(line);
        reported.report_problem(&text, &error).unwrap();
        assert_eq!((reported.error_count(), reported.exit_code(Ok(Status::Yes))), (1, status));
        let mut counted = Session::keeping(line);
        counted.count_problems(Severity::Warning, 3);
        assert_eq!(counted.exit_code(Ok(Status::Yes)), 0);
        counted.count_problems(Severity::Error, 3);
        assert_eq!((counted.error_count(), counted.exit_code(Ok(Status::Yes))), (3, status));
        let mut other = Session::keeping(line);
        other.error("e");
        assert_eq!(other.told(), ["error: e"]);
        assert_eq!(other.exit_code(Ok(Status::Yes)), 2);
        other.reset_status();
        assert_eq!((other.error_count(), other.exit_code(Ok(Status::No))), (1, 1));
    }
    assert_eq!(Session::keeping("--exit-zero").exit_code(Ok(Status::No)), 0);
    assert_eq!(Session::keeping("").exit_code(Err(Failure::Refused(None))), 2);
}

#[test]
fn budgets_are_told_and_decide_the_status() {
    let mut session = Session::keeping("");
    session.report_budget_failures(0);
    session.report_stopped_evaluations(false);
    assert!(session.told().is_empty() && !session.has_stopped_evaluations());
    assert_eq!(session.exit_code(Ok(Status::No)), 1);
    session.keep_messages();
    session.report_budget_failures(2);
    session.report_stopped_evaluations(true);
    let texts = [
        "error: 2 evaluations or searches were stopped at a limit; see `classad help budgets`",
        "error: evaluations were stopped at a limit and count as errors; see `classad help budgets`",
    ];
    assert_eq!(session.told(), texts);
    assert_eq!((session.error_count(), session.exit_code(Ok(Status::No))), (2, 3));
}

#[test]
fn messages_are_reported_as_their_kind() {
    for (kind, expected, count, status) in [
        (MessageKind::Error, "error: x", 1, 2),
        (MessageKind::Budget, "error: x", 1, 3),
        (MessageKind::Warning, "warning: x", 0, 0),
        (MessageKind::Note, "note: x", 0, 0),
    ] {
        let mut session = Session::keeping("");
        session.report_text(kind, "x");
        assert_eq!(session.told(), [expected]);
        assert_eq!((session.error_count(), session.exit_code(Ok(Status::Yes))), (count, status));
    }
}

#[test]
fn lossy_values_are_warnings_or_errors() {
    let change = |name: &str| (Name::new(name), LossyChange::Newline);
    let changes = [change("a"), change("a"), change("b"), change("a")];
    let kept = "a newline in a string is written as a space, because the long form cannot represent the string";
    let mut lax = Session::keeping("");
    assert!(lax.report_lossy_values("x", &changes) && lax.report_lossy_values("y", &[]));
    assert_eq!(lax.told(), ["a", "b", "a"].map(|name| format!("warning: x: {name}: {kept}")));
    assert_eq!((lax.error_count(), lax.exit_code(Ok(Status::Yes))), (0, 0));
    let mut strict = Session::keeping("--strict");
    assert!(!strict.report_lossy_values("x", &changes[..1]) && strict.report_lossy_values("y", &[]));
    let skipped = "a newline in a string is written as a space; --strict skips the ad instead";
    assert_eq!(strict.told(), [format!("error: x: a: {skipped}")]);
    assert_eq!((strict.error_count(), strict.exit_code(Ok(Status::Yes))), (1, 2));
}

#[test]
fn the_inputs_decide_the_dialect_and_the_time() {
    let [long, brackets] = [("l", FileFormat::Long), ("b", FileFormat::Bracketed)];
    for (line, inputs, dialect, note) in [
        ("-v", &[][..], Dialect::Classad, "classad: no input is in a format of HTCondor"),
        ("-v", &[brackets], Dialect::Classad, "classad: no input is in a format of HTCondor"),
        ("-v", &[brackets, long], Dialect::Condor, "condor: l is in the long form"),
        ("-v --dialect classad", &[long], Dialect::Classad, "classad: --dialect or another setting sets it"),
        ("-v --dialect condor", &[brackets], Dialect::Condor, "condor: --dialect or another setting sets it"),
        ("", &[long], Dialect::Condor, ""),
    ] {
        let mut session = Session::keeping(line);
        session.decide_dialect_by_forms(inputs.iter().copied());
        assert_eq!(session.dialect(), dialect);
        let expected = format!("note: the dialect is {note}");
        assert_eq!(session.told().concat(), if note.is_empty() { "" } else { &expected });
    }
    let mut session = Session::keeping("");
    assert!(!session.has_given_time());
    session.set_time(5);
    assert_eq!((session.context().now, session.has_given_time()), (Some(5), true));
    session.return_to_clock();
    assert!(!session.has_given_time() && session.context().now > Some(5));
    assert_eq!(session.told(), ["note: the newest ad is not old: the ads are evaluated as of now"]);
    assert!(Session::new(GlobalOptions::of_line("--now 7"), tree).has_given_time());
    assert!(!Session::new(GlobalOptions::of_line("--now dump"), tree).has_given_time());
}

#[test]
fn an_option_precedes_what_a_command_reads() {
    let mut session = Session::keeping("");
    session.use_submit_config(None);
    assert_eq!(session.options.submit_config, None);
    session.use_submit_config(Some(&"a".to_owned()));
    session.use_submit_config(Some(&"b".to_owned()));
    assert_eq!(session.options.submit_config.as_deref(), Some("a"));
    session.set_seed(3);
    assert_eq!((session.options.seed, session.options.threads()), (Some(3), 1));
}
