//! Diagnostics on standard error, drawn by miette, and text that is safe for a terminal.

use std::io::{self, IsTerminal, Write};
use std::ops::Range;

use classad::format::{Problem, Severity};
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, MietteError, MietteSpanContents, Report,
    SourceCode, SourceSpan, SpanContents,
};

use textwrap::WordSeparator;

use super::progress;
use super::terminal_text::is_hidden;
use crate::cli::args::global::{Color, GlobalOptions};
use crate::cli::io::source_text::{SourceText, char_start};

/// Prints a problem with the source lines around it on standard error.
pub fn print_problem(options: &GlobalOptions, text: &SourceText, problem: &Problem) {
    let place = if problem.ad_number > 0 { format!(" (ad {})", problem.ad_number) } else { String::new() };
    let mut marks = vec![(problem.range.clone(), "here".to_owned())];
    marks.extend(problem.related.clone());
    let (text, marks) = text.placed_marks(marks);
    let severity = match problem.severity {
        Severity::Error => miette::Severity::Error,
        Severity::Warning => miette::Severity::Warning,
    };
    let mut picture =
        SourceDiagnostic::from_marks(&text, severity, marks, problem.help.clone(), ExcerptLimits::for_problems());
    picture.diagnostic.message = format!("{}{place}", safe_message(&problem.message));
    let shown = picture.render(colors_stderr(options));
    progress::clear();
    // Ignore errors: if standard error is closed, they cannot be reported anyway.
    let _ = writeln!(io::stderr().lock(), "{shown}");
}

/// Prints `kind: message` on one line of standard error, such as `error: there is no such file`.
pub fn print_message(options: &GlobalOptions, kind: &str, message: &str) {
    let color = match kind {
        "error" => 31,
        "warning" => 33,
        _ => 36,
    };
    let kind = if colors_stderr(options) { format!("\x1b[{color};1m{kind}\x1b[0m") } else { kind.to_owned() };
    progress::clear();
    let _ = writeln!(io::stderr().lock(), "{kind}: {}", limited_line(message, MAX_LINE_CHARS));
}

/// Whether to use colour on standard error, as `--color` says. `--color auto` means only on a terminal. The variables
/// `NO_COLOR` and `CLICOLOR_FORCE` override `auto`.
fn colors_stderr(options: &GlobalOptions) -> bool {
    wants_color(options, io::stderr().is_terminal())
}

/// Whether to use colour on standard output, as `--color` says. `--color auto` means only on a terminal. The variables
/// `NO_COLOR` and `CLICOLOR_FORCE` override `auto`.
pub fn colors_stdout(options: &GlobalOptions) -> bool {
    wants_color(options, io::stdout().is_terminal())
}

fn wants_color(options: &GlobalOptions, terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match options.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if set("NO_COLOR") => false,
        Color::Auto if set("CLICOLOR_FORCE") => true,
        Color::Auto => terminal && std::env::var("TERM").is_ok_and(|term| term != "dumb"),
    }
}

/// Returns miette's theme for diagrams on standard output.
pub fn stdout_theme(options: &GlobalOptions) -> GraphicalTheme {
    theme(colors_stdout(options))
}

/// Whether the locale allows more than ASCII.
pub fn supports_unicode() -> bool {
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    locale.is_none_or(|locale| locale != "C" && locale != "POSIX")
}

fn theme(colored: bool) -> GraphicalTheme {
    match (supports_unicode(), colored) {
        (true, true) => GraphicalTheme::unicode(),
        (true, false) => GraphicalTheme::unicode_nocolor(),
        (false, _) => GraphicalTheme::none(),
    }
}

/// Returns the width of the terminal in cells: `COLUMNS`, else the width that the terminal reports. The result is 80 if
/// this width is unknown or below 20.
pub fn terminal_width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || comfy_table::Table::new().width().map(usize::from);
    columns.or_else(terminal).filter(|columns| *columns >= 20).unwrap_or(80)
}

/// Returns the width that tables must keep: that of the terminal. `None` if the output is not a terminal and `COLUMNS` is
/// not set, so that what a program reads does not depend on a width.
pub fn table_width() -> Option<usize> {
    (io::stdout().is_terminal() || std::env::var_os("COLUMNS").is_some()).then(terminal_width)
}

/// Maximum distance between the primary marked range and another one in the same excerpt, in bytes. Without this limit,
/// an excerpt could fill the screen.
const MAX_EXCERPT_DISTANCE_BYTES: usize = 400;

/// Number of bytes of a long line shown on each side of the marked ranges.
const LINE_CONTEXT_BYTES: usize = 160;

/// The limits on the size of an excerpt, in bytes.
#[derive(Clone, Copy)]
pub struct ExcerptLimits {
    /// Maximum distance between the primary marked range and another one in the same excerpt.
    pub max_distance: usize,
    /// Number of bytes of a long line shown on each side of the marked ranges.
    context_bytes: usize,
}

impl ExcerptLimits {
    /// Returns the limits for diagnostics of problems. They are the same for every terminal.
    pub fn for_problems() -> Self {
        ExcerptLimits { max_distance: MAX_EXCERPT_DISTANCE_BYTES, context_bytes: LINE_CONTEXT_BYTES }
    }

    /// Returns the limits for excerpts that fit into the width of the terminal.
    pub fn for_terminal() -> Self {
        ExcerptLimits { max_distance: terminal_width(), context_bytes: terminal_width() / 2 }
    }
}

/// A byte range of a text, and the words to print below that range.
pub type LabeledRange = (Range<usize>, String);

/// A diagnostic for miette, and the excerpt that it points into.
#[derive(Clone)]
pub struct SourceDiagnostic {
    diagnostic: MietteDiagnostic,
    excerpt: Excerpt,
}

impl SourceDiagnostic {
    /// Makes a diagnostic without a message. `marks` are ranges of the text, the primary one first. The help text
    /// mentions the ranges that are too far from the primary one to be in the excerpt.
    pub fn from_marks(
        text: &SourceText,
        severity: miette::Severity,
        marks: Vec<LabeledRange>,
        help: Option<String>,
        frame: ExcerptLimits,
    ) -> Self {
        let first = marks.first().map_or(0, |(range, _)| range.start);
        let (near, far): (Vec<LabeledRange>, Vec<LabeledRange>) =
            marks.into_iter().partition(|(range, _)| range.start.abs_diff(first) <= frame.max_distance);
        let far = far.into_iter().filter(|(_, words)| !words.is_empty()).map(|(range, words)| {
            let place = text.position(range.start);
            format!("{words} ({}:{})", place.line, place.column)
        });
        let help: Vec<String> = help.into_iter().chain(far).collect();
        let ranges = near.iter().map(|(range, _)| range.clone()).collect();
        let (excerpt, spans) = Excerpt::new(text, ranges, frame.context_bytes);
        let labels = spans.into_iter().zip(near).enumerate().map(|(index, (span, (_, words)))| {
            let (words, span) = (Some(single_line(&words)).filter(|words| !words.is_empty()), SourceSpan::from(span));
            let label = if index == 0 { LabeledSpan::new_primary_with_span } else { LabeledSpan::new_with_span };
            label(words, span)
        });
        let help = Some(safe_message(&help.join("; "))).filter(|help| !help.is_empty());
        let diagnostic = MietteDiagnostic::new("").with_severity(severity).with_labels(labels);
        SourceDiagnostic { diagnostic: MietteDiagnostic { help, ..diagnostic }, excerpt }
    }

    /// Sets the name of the lint rule that found the problem.
    pub fn with_code(mut self, code: &str) -> Self {
        self.diagnostic.code = Some(code.to_owned());
        self
    }

    /// Sets the message of the diagnostic.
    pub fn with_message(mut self, message: &str) -> Self {
        self.diagnostic.message = safe_message(message);
        self
    }

    /// Draws the diagnostic, without a line feed at the end.
    pub fn render(self, colored: bool) -> String {
        let mut shown = String::new();
        let handler = GraphicalReportHandler::new_themed(theme(colored))
            .with_width(terminal_width())
            .with_word_separator(WordSeparator::AsciiSpace);
        let name = self.excerpt.name.clone();
        let report = Report::new(self.diagnostic).with_source_code(self.excerpt);
        if handler.render_report(&mut shown, report.as_ref()).is_err() {
            shown = format!("{name}: {report}");
        }
        shown.trim_end().to_owned()
    }
}

/// The lines around a problem, with long lines cut. miette gets this excerpt instead of the whole file, because
/// miette would search the file from the beginning and print even the longest lines whole.
#[derive(Clone)]
struct Excerpt {
    name: String,
    text: String,
    /// Line of the excerpt's first character in the file, from 0.
    line: usize,
    /// Column of the excerpt's first character in the file, in characters from 0.
    column: usize,
}

impl Excerpt {
    /// Cuts out the lines that contain the ranges. `around` is the number of bytes of a long line to keep on each side
    /// of the ranges. Also returns the ranges as offsets into the excerpt.
    fn new(text: &SourceText, ranges: Vec<Range<usize>>, around: usize) -> (Self, Vec<Range<usize>>) {
        let bytes = &text.block.text;
        let first = ranges.iter().map(|range| range.start).min().unwrap_or(0).min(bytes.len());
        let last = ranges
            .iter()
            .map(|range| range.end.min(range.start.saturating_add(around)))
            .max()
            .unwrap_or(0)
            .min(bytes.len());
        // A line of a megabyte is not searched for its ends.
        let (lowest, highest) = (first.saturating_sub(around), (last + around).min(bytes.len()));
        let start =
            memchr::memrchr(b'\n', &bytes[lowest..first]).map_or(char_start(bytes, lowest), |at| lowest + at + 1);
        let line_end = memchr::memchr(b'\n', &bytes[last..highest]).map(|at| last + at);
        let mut end = line_end.unwrap_or(if highest < bytes.len() { char_start(bytes, highest) } else { highest });
        // A carriage return at the end of a line shows nothing.
        if end > last && bytes[end - 1] == b'\r' {
            end -= 1;
        }
        let position = text.position(start);
        let shown = |range: Range<usize>| visible_text(&bytes[range.start.min(end)..range.end.min(end)]);
        let spans = ranges.into_iter().map(|range| {
            let at = shown(start..range.start.clamp(start, end)).len();
            at..at + shown(range.start.clamp(start, end)..range.end.clamp(start, end)).len()
        });
        let spans: Vec<Range<usize>> = spans.collect();
        let mut shown_text = visible_text(&bytes[start..end]);
        // miette points at characters: add a blank for a range at the very end of the excerpt.
        if spans.iter().any(|span| span.start == shown_text.len()) {
            shown_text.push(' ');
        }
        let (line, column) = (position.line - 1, position.column - 1);
        (Excerpt { name: safe_message(&text.name), text: shown_text, line, column }, spans)
    }
}

/// Replaces hidden characters by visible ones, except tabs and line feeds.
fn visible_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().map(|c| if matches!(c, '\t' | '\n') { c } else { visible_char(c) }).collect()
}

/// Replaces hidden characters, line feeds too, by visible ones: the result is one line that is safe for a terminal.
pub fn single_line(text: &str) -> String {
    text.chars().map(visible_char).collect()
}

/// Appends words as lines of at most `width` characters. A longer word is not broken. Lines after the first are
/// indented by 4 more characters than `indent`.
pub fn push_words(text: &mut String, indent: &str, words: impl IntoIterator<Item = String>, width: usize) {
    let mut used = 0;
    for word in words {
        let word = single_line(&word);
        let length = word.chars().count();
        if used == 0 {
            text.push_str(indent);
            used = indent.chars().count();
        } else if used + 1 + length > width {
            text.extend(["\n", indent, "    "]);
            used = indent.chars().count() + 4;
        } else {
            text.push(' ');
            used += 1;
        }
        text.push_str(&word);
        used += length;
    }
    text.push('\n');
}

/// Returns a sentence as a line; on a terminal that is too narrow for it, as several lines.
pub fn sentence_line(sentence: &str) -> String {
    let mut text = String::new();
    let width = if io::stdout().is_terminal() { terminal_width() } else { usize::MAX };
    push_words(&mut text, "", sentence.split(' ').map(str::to_owned), width);
    text
}

/// Returns a line about something added (`+`), removed (`-`) or changed (`~`), in the colour of its sign.
pub fn signed_line(colored: bool, indent: &str, sign: char, text: &str) -> String {
    let text = single_line(text);
    let style = match sign {
        '+' => 32,
        '-' => 31,
        _ => 1,
    };
    if colored { format!("{indent}\x1b[{style}m{sign} {text}\x1b[0m") } else { format!("{indent}{sign} {text}") }
}

/// Maximum length of a message beside an excerpt.
const MAX_MESSAGE_CHARS: usize = 400;

/// Maximum length of a message on a line of its own. A list of the parts that must run again has to fit.
const MAX_LINE_CHARS: usize = 65_536;

/// Makes a message safe for a terminal and for its place beside an excerpt.
fn safe_message(message: &str) -> String {
    limited_line(message, MAX_MESSAGE_CHARS)
}

/// Returns a text, which may quote the input, as one line that is safe for a terminal. Cuts a line that is too long.
fn limited_line(text: &str, max_chars: usize) -> String {
    let mut line: String = text.chars().take(max_chars).map(visible_char).collect();
    if text.chars().nth(max_chars).is_some() {
        line.push_str("...");
    }
    line
}

/// Replaces a hidden character by a visible one.
fn visible_char(c: char) -> char {
    match c {
        '\u{7f}' => '\u{2421}',
        control if control < ' ' => char::from_u32(0x2400 + u32::from(control)).unwrap_or('?'),
        hidden if is_hidden(hidden) => '\u{fffd}',
        other => other,
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let inner = self.text.read_span(span, before, after)?;
        // The column must be a number of characters, but miette counts bytes.
        let start = self.text[..inner.span().offset()].rfind('\n').map_or(0, |at| at + 1);
        let characters = self.text[start..inner.span().offset()].chars().count();
        let column = characters + if inner.line() == 0 { self.column } else { 0 };
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            inner.data(),
            *inner.span(),
            inner.line() + self.line,
            column,
            inner.line_count(),
        )))
    }
}

#[cfg(test)]
#[path = "diagnostics_tests.rs"]
mod tests;
