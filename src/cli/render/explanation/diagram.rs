//! The diagram of a constraint: one clause a line, labelled with the outcomes of the clause among the offers.

use std::fmt::Write as _;

use classad::ad::{BinaryOperator, ExpressionKind};
use classad::explain::{ClauseReport, FailureReason, RequestReport};
use classad::text::{shorten, with_commas};
use miette::{GraphicalReportHandler, LabeledSpan, MietteDiagnostic, NamedSource, Report, SourceSpan};

use crate::cli::render::diagnostics::{self, single_line};
use crate::cli::session::Session;

/// Draws the clauses of a report. `name` is the heading of the diagram. `is_labelled` gets the index of a clause, and
/// tells whether the clause gets a label. Unless `is_whole`, the other clauses are only
/// counted.
pub fn draw_clauses(
    session: &Session,
    name: &str,
    report: &RequestReport,
    is_labelled: impl Fn(usize) -> bool,
    is_whole: bool,
) -> String {
    let width = diagnostics::terminal_width();
    let room = width.saturating_sub(12).max(20);
    let (mut text, mut labels) = (String::new(), Vec::new());
    // Clauses that decide nothing are only counted, unless there is but one.
    let unlabelled = (0..report.clauses.len()).filter(|place| !is_labelled(*place)).count();
    let is_folding = !is_whole && (2..report.clauses.len()).contains(&unlabelled);
    for (place, clause) in report.clauses.iter().enumerate().filter(|(place, _)| !is_folding || is_labelled(*place)) {
        text.push_str(if text.is_empty() { "   " } else { "\n&& " });
        let shown = shorten(&single_line(&parenthesized(clause)), room);
        if is_labelled(place) {
            let span = SourceSpan::new(text.len().into(), shown.len());
            // miette does not wrap a label, and draws it to the right of the middle of its clause.
            let room = width.saturating_sub(14 + shown.chars().count() / 2).max(20);
            let label = label_lines(&label_parts(clause, report.offers), room);
            labels.push(LabeledSpan::new_with_span(Some(label), span));
        }
        text.push_str(&shown);
    }
    if is_folding {
        let _ = write!(text, "\n&& {unlabelled} other clauses (-v)");
    }
    let picture = Report::new(MietteDiagnostic::new("clauses").with_labels(labels));
    let picture = picture.with_source_code(NamedSource::new(single_line(name), text));
    let mut drawn = String::new();
    let handler = GraphicalReportHandler::new_themed(diagnostics::stdout_theme(&session.options)).with_width(width);
    if handler.with_context_lines(usize::MAX / 2).render_report(&mut drawn, picture.as_ref()).is_err() {
        return String::new();
    }
    // Drop all lines before the frame: they are miette's heading, and the report has its own summary sentence.
    let is_frame = |line: &&str| line.contains('\u{256d}') || line.contains(",-");
    let mut frame = drawn.lines().skip_while(|line| !is_frame(line)).map(str::trim_end);
    let first = frame.next().map(without_position).unwrap_or_default();
    let rest: Vec<&str> = frame.collect();
    format!("{first}\n{}", rest.join("\n")).trim_end().to_owned()
}

/// The possible ends of a frame's first line: with colour, and without colour.
const FRAME_ENDS: [&str; 2] = ["\u{1b}[0m]", "]"];

/// Removes the line and column numbers from the first line of a frame, because a clause has no position in a file.
fn without_position(line: &str) -> String {
    let Some(end) = FRAME_ENDS.iter().find(|end| line.ends_with(**end)) else { return line.to_owned() };
    let (before, behind) = line.split_at(line.len() - end.len());
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match before.rsplitn(3, ':').collect::<Vec<_>>()[..] {
        [column, row, name] if is_number(column) && is_number(row) => format!("{name}{behind}"),
        _ => line.to_owned(),
    }
}

/// Returns the text of a clause, in parentheses if its operator binds less tightly than `&&`.
fn parenthesized(clause: &ClauseReport) -> String {
    match clause.analysis.clause.expression.without_parentheses().kind() {
        ExpressionKind::Binary(BinaryOperator::Or, ..) | ExpressionKind::Conditional(..) => {
            format!("({})", clause.text)
        }
        _ => clause.text.clone(),
    }
}

/// Joins the parts of a label as lines of at most `room` characters. A longer part has a line of its own.
fn label_lines(parts: &[String], room: usize) -> String {
    let (mut lines, mut used) = (String::new(), 0);
    for part in parts {
        let length = part.chars().count();
        if used > 0 && used + length > room {
            lines.push('\n');
            used = 0;
        }
        let part = if used == 0 { part.trim_start_matches([',', ';', ' ']) } else { part };
        lines.push_str(part);
        used += part.chars().count();
    }
    lines
}

/// Returns the parts of a clause's label, the most important first.
fn label_parts(clause: &ClauseReport, offers: usize) -> Vec<String> {
    let counts = &clause.counts;
    let mut words = vec![match counts.is_true {
        0 => match &clause.failure {
            Some(FailureReason::NotNow(time)) => time.phrase(),
            _ => "never true".to_owned(),
        },
        all if all == offers => format!("true for all {}", with_commas(offers)),
        some => format!("true for {}", with_commas(some)),
    }];
    let others = [(counts.is_false, "false"), (counts.undefined, "undefined"), (counts.error, "error")];
    let others = others.iter().filter(|(count, _)| *count > 0);
    words.extend(others.map(|(count, word)| format!(", {word} for {}", with_commas(*count))));
    if clause.sole_blocker > 0 {
        words.push(format!("; only this keeps {} away", with_commas(clause.sole_blocker)));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{label_lines, without_position};

    #[test]
    fn a_frame_has_a_name_and_no_position() {
        for (line, expected) in [
            ("   ,-[job 1.0:1:1]", "   ,-[job 1.0]"),
            (" \u{256d}\u{2500}[\u{1b}[36;1;4mjob:12:34\u{1b}[0m]", " \u{256d}\u{2500}[\u{1b}[36;1;4mjob\u{1b}[0m]"),
            (",-[a:b:1:2]", ",-[a:b]"),
            // These are parts of a name.
            (",-[job:1a:2]", ",-[job:1a:2]"),
            (",-[job:1:b2]", ",-[job:1:b2]"),
            (",-[job::2]", ",-[job::2]"),
            (",-[job:2:]", ",-[job:2:]"),
            (",-[job:2]", ",-[job:2]"),
            (",-[job:1:2", ",-[job:1:2"),
            ("", ""),
        ] {
            assert_eq!(without_position(line), expected, "{line}");
        }
    }

    #[test]
    fn a_label_breaks_between_its_parts() {
        let parts = ["true for 2", ", false for 1", "; only this keeps 1 away"].map(str::to_owned);
        for (room, expected) in [
            (47, "true for 2, false for 1; only this keeps 1 away"),
            (46, "true for 2, false for 1\nonly this keeps 1 away"),
            (23, "true for 2, false for 1\nonly this keeps 1 away"),
            (22, "true for 2\nfalse for 1\nonly this keeps 1 away"),
            (1, "true for 2\nfalse for 1\nonly this keeps 1 away"),
        ] {
            assert_eq!(label_lines(&parts, room), expected, "{room}");
        }
        assert_eq!(label_lines(&[], 10), "");
    }
}
