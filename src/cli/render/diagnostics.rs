//! Problems as pictures: the line, a caret under the place, a word of advice.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::ops::Range;

use classad::format::{Problem, Severity};
use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceCode,
    SourceSpan, SpanContents,
};

use super::progress;
use crate::cli::args::global::{Color, Options};
use crate::cli::io::source::Text;

/// Reports a problem of a file on standard error.
pub fn problem(options: &Options, text: &Text, problem: &Problem) {
    let shown = Picture::new(text, problem).render(colored(options));
    progress::end();
    // If standard error is closed there is no one to tell.
    let _ = writeln!(io::stderr().lock(), "{shown}");
}

/// Says one line on standard error.
pub fn message(options: &Options, kind: &str, message: &str) {
    let (before, after) = match (colored(options), kind) {
        (false, _) => ("", ""),
        (true, "error") => ("\x1b[31;1m", "\x1b[0m"),
        (true, "warning") => ("\x1b[33;1m", "\x1b[0m"),
        (true, _) => ("\x1b[36;1m", "\x1b[0m"),
    };
    progress::end();
    let _ = writeln!(io::stderr().lock(), "{before}{kind}{after}: {}", harmless(message));
}

/// Why reading or writing failed, in words without numbers.
pub fn io_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory, not a file of ads".to_owned(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or_default().to_owned()
        }
    }
}

/// Whether standard error gets colour.
fn colored(options: &Options) -> bool {
    wants_color(options, io::stderr().is_terminal())
}

/// Whether standard output gets colour.
pub fn colored_output(options: &Options) -> bool {
    wants_color(options, io::stdout().is_terminal())
}

fn wants_color(options: &Options, terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match options.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if set("NO_COLOR") => false,
        Color::Auto if set("CLICOLOR_FORCE") => true,
        Color::Auto => terminal && std::env::var("TERM").is_ok_and(|term| term != "dumb"),
    }
}

/// How pictures on standard output are drawn.
pub fn theme_of_output(options: &Options) -> GraphicalTheme {
    theme(colored_output(options))
}

/// Whether more than ASCII can be shown.
pub fn is_unicode() -> bool {
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    locale.is_none_or(|locale| locale != "C" && locale != "POSIX")
}

fn theme(colored: bool) -> GraphicalTheme {
    match (is_unicode(), colored) {
        (true, true) => GraphicalTheme::unicode(),
        (true, false) => GraphicalTheme::unicode_nocolor(),
        (false, _) => GraphicalTheme::none(),
    }
}

/// The width of the terminal; `COLUMNS` overrides, 80 if there is none.
pub fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || comfy_table::Table::new().width().map(usize::from);
    columns.or_else(terminal).filter(|columns| *columns >= 20).unwrap_or(80)
}

/// Places this many bytes apart are shown in one picture; a picture must not be a screen high, nor a
/// megabyte wide.
const NEAR: usize = 400;

/// The text of a long line that is shown around a place, in bytes.
const AROUND: usize = 160;

/// How much of a text a picture shows, in bytes.
#[derive(Clone, Copy)]
pub struct Frame {
    /// Places as far apart as this are shown together.
    pub near: usize,
    /// So much of a long line is shown around them.
    around: usize,
}

impl Frame {
    /// What is usual for problems.
    pub fn usual() -> Self {
        Frame { near: NEAR, around: AROUND }
    }

    /// What fits into the width of the terminal.
    pub fn of_width() -> Self {
        Frame { near: width(), around: width() / 2 }
    }
}

/// A place in a text, and what is to be seen there.
pub type Mark = (Range<usize>, String);

/// A problem with the lines around it, as miette draws it.
pub struct Picture {
    message: String,
    severity: miette::Severity,
    /// What it is called.
    code: Option<&'static str>,
    help: Option<String>,
    labels: Vec<LabeledSpan>,
    excerpt: Excerpt,
}

impl Picture {
    fn new(text: &Text, problem: &Problem) -> Self {
        let place = if problem.ad > 0 { format!(" (ad {})", problem.ad) } else { String::new() };
        let mut marks = vec![(problem.range.clone(), "here".to_owned())];
        marks.extend(problem.related.clone());
        let severity = match problem.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        };
        let picture = Picture::of_marks(text, severity, marks, problem.help.clone(), Frame::usual());
        Picture { message: format!("{}{place}", harmless(&problem.message)), ..picture }
    }

    /// Places in a text, the decisive one first; the picture has no message yet.
    pub fn of_marks(
        text: &Text,
        severity: miette::Severity,
        marks: Vec<Mark>,
        help: Option<String>,
        frame: Frame,
    ) -> Self {
        let first = marks.first().map_or(0, |(range, _)| range.start);
        let (near, far): (Vec<Mark>, Vec<Mark>) =
            marks.into_iter().partition(|(range, _)| range.start.abs_diff(first) <= frame.near);
        let far = far.into_iter().filter(|(_, words)| !words.is_empty()).map(|(range, words)| {
            let place = text.block.position(range.start);
            format!("{words} ({}:{})", place.line, place.column)
        });
        let help: Vec<String> = help.into_iter().chain(far).collect();
        let ranges = near.iter().map(|(range, _)| range.clone()).collect();
        let (excerpt, spans) = Excerpt::new(text, ranges, frame.around);
        let labels = spans.into_iter().zip(near).enumerate().map(|(index, (span, (_, words)))| {
            let (words, span) = (Some(line(&words)).filter(|words| !words.is_empty()), SourceSpan::from(span));
            if index == 0 {
                LabeledSpan::new_primary_with_span(words, span)
            } else {
                LabeledSpan::new_with_span(words, span)
            }
        });
        Picture {
            message: String::new(),
            severity,
            code: None,
            help: Some(harmless(&help.join("; "))).filter(|help| !help.is_empty()),
            labels: labels.collect(),
            excerpt,
        }
    }

    /// The picture of something that has a name.
    pub fn called(self, code: &'static str, message: &str) -> Self {
        Picture { code: Some(code), message: harmless(message), ..self }
    }

    /// The picture of something that has a message only.
    pub fn saying(self, message: &str) -> Self {
        Picture { message: harmless(message), ..self }
    }

    /// As it is drawn, without a line end behind it.
    pub fn render(&self, colored: bool) -> String {
        let mut shown = String::new();
        let handler = GraphicalReportHandler::new_themed(theme(colored)).with_width(width());
        if handler.render_report(&mut shown, self).is_err() {
            shown = format!("{}: {}", self.excerpt.name, self.message);
        }
        shown.trim_end().to_owned()
    }
}

impl fmt::Display for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Picture {}

impl Diagnostic for Picture {
    fn severity(&self) -> Option<miette::Severity> {
        Some(self.severity)
    }

    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.code.map(|code| Box::new(code) as Box<dyn fmt::Display>)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.excerpt)
    }
}

/// The lines around a problem.  Not the whole file: miette would search it from its beginning, and a
/// line may be ten megabytes long.
struct Excerpt {
    name: String,
    text: String,
    /// Line and column of the first character, from 0.
    line: usize,
    column: usize,
}

impl Excerpt {
    /// The lines that hold these ranges, and where the ranges are in them.
    fn new(text: &Text, ranges: Vec<Range<usize>>, around: usize) -> (Self, Vec<Range<usize>>) {
        let bytes = &text.block.text;
        let first = ranges.iter().map(|range| range.start).min().unwrap_or(0).min(bytes.len());
        let last = ranges.iter().map(|range| range.end.min(range.start + around)).max().unwrap_or(0).min(bytes.len());
        let mut start = memchr::memrchr(b'\n', &bytes[..first]).map_or(0, |at| at + 1);
        let mut end = memchr::memchr(b'\n', &bytes[last..]).map_or(bytes.len(), |at| last + at);
        if first - start > around {
            start = boundary(bytes, first - around);
        }
        if end - last > around {
            end = boundary(bytes, last + around);
        }
        let position = text.block.position(start);
        let shown = |range: Range<usize>| printable(&bytes[range.start.min(end)..range.end.min(end)]);
        let spans = ranges.into_iter().map(|range| {
            let at = shown(start..range.start.clamp(start, end)).len();
            at..at + shown(range.start.clamp(start, end)..range.end.clamp(start, end)).len()
        });
        let spans: Vec<Range<usize>> = spans.collect();
        let mut shown_text = printable(&bytes[start..end]);
        // Behind the text there must be something to point at, too.
        if spans.iter().any(|span| span.start == shown_text.len()) {
            shown_text.push(' ');
        }
        (
            Excerpt {
                name: harmless(&text.name),
                text: shown_text,
                line: position.line - 1,
                column: position.column - 1,
            },
            spans,
        )
    }
}

/// The nearest beginning of a character at or before an offset.
fn boundary(bytes: &[u8], mut offset: usize) -> usize {
    while offset > 0 && bytes.get(offset).is_some_and(|byte| byte & 0xc0 == 0x80) {
        offset -= 1;
    }
    offset
}

/// Text that does a terminal no harm: control characters become pictures of themselves.
fn printable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().map(|c| if matches!(c, '\t' | '\n') { c } else { picture_of(c) }).collect()
}

/// One line that does a terminal no harm.
pub fn line(text: &str) -> String {
    text.chars().map(picture_of).collect()
}

/// Adds words as lines that are no wider than this, unless a word is; from the second line on further to the right.
pub fn wrap(text: &mut String, indent: &str, words: impl IntoIterator<Item = String>, width: usize) {
    let mut used = 0;
    for word in words {
        let word = line(&word);
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

/// A line that tells what is new (`+`), what is gone (`-`), or what has changed (`~`).
pub fn signed_line(colored: bool, indent: &str, sign: char, text: &str) -> String {
    let (text, end) = (line(text), "\x1b[0m");
    match sign {
        _ if !colored => format!("{indent}{sign} {text}"),
        '+' => format!("{indent}\x1b[32m{sign} {text}{end}"),
        '-' => format!("{indent}\x1b[31m{sign} {text}{end}"),
        _ => format!("{indent}\x1b[1m{sign} {text}{end}"),
    }
}

/// One line of a message: what it quotes of the input does a terminal no harm and is not endless.
fn harmless(message: &str) -> String {
    const LONGEST: usize = 400;
    let mut text: String = message.chars().take(LONGEST).map(picture_of).collect();
    if message.chars().nth(LONGEST).is_some() {
        text.push_str("...");
    }
    text
}

/// A character that moves no cursor and turns no text around.
fn picture_of(c: char) -> char {
    match c {
        '\u{7f}' => '\u{2421}',
        control if control < ' ' => char::from_u32(0x2400 + u32::from(control)).unwrap_or('?'),
        '\u{80}'..='\u{9f}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
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
        // miette counts bytes; people count characters.
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
