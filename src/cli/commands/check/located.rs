//! Findings of the linter with their positions in files.

use std::sync::Arc;

use classad::format::Position;
use classad::lint::{Finding, Level, Rule};

use crate::cli::io::source::Text;
use crate::cli::render::diagnostics::{Frame, Picture};

pub use crate::cli::render::diagnostics::Mark;

/// All findings of a run.
#[derive(Default)]
pub struct Report {
    pub found: Vec<Found>,
    /// Number of ads checked.
    pub ads: usize,
}

/// A finding with its position in a file.
pub struct Found {
    /// Number of the finding in the `Checker`, which counts the ads under it.
    pub number: usize,
    pub rule: &'static Rule,
    pub message: String,
    pub help: String,
    pub file: Arc<str>,
    /// 1-based number of the first ad with the finding in its file; 0 if it is in no ad.
    pub ad: usize,
    /// Identity of that ad; `None` if it has none.
    pub id: Option<String>,
    /// Attribute with the finding; `None` for the ad as a whole.
    pub attribute: Option<String>,
    /// Ranges in the file, the decisive one first.
    pub places: Vec<Placed>,
    /// Number of ads with the finding.
    pub ads: usize,
    pub picture: Picture,
}

/// A range in a file; `end` is exclusive. `text` says what it shows.
pub struct Placed {
    pub start: Position,
    pub end: Position,
    pub text: String,
}

impl Found {
    /// Locates a finding in `text`. `marks` are its byte ranges there, the decisive one first; `ad` is the 1-based
    /// number of its ad.
    pub fn new(number: usize, finding: &Finding, text: &Text, marks: Vec<Mark>, ad: usize) -> Self {
        let severity = match finding.rule.level {
            Level::Error => miette::Severity::Error,
            Level::Warning => miette::Severity::Warning,
            Level::Note => miette::Severity::Advice,
        };
        let length = text.block.text.len();
        let marks: Vec<Mark> =
            marks.into_iter().map(|(range, words)| (range.start.min(length)..range.end.min(length), words)).collect();
        let placed = |(range, text_there): &Mark| {
            let start = text.block.position(range.start);
            Placed { start, end: start.behind(&text.block.text[range.clone()]), text: text_there.clone() }
        };
        // A mark too far from the first one lies outside the picture: quote its text in its label instead.
        let first = marks.first().map_or(0, |(range, _)| range.start);
        let told = |(range, words): Mark| {
            let stands = String::from_utf8_lossy(&text.block.text[range.clone()]).into_owned();
            let far = range.start.abs_diff(first) > Frame::of_width().near && !words.is_empty();
            let words = if far && !words.contains('`') { format!("{words} `{stands}`") } else { words };
            (range, words)
        };
        let drawn: Vec<Mark> = marks.iter().cloned().map(told).collect();
        let help = Some(finding.help.clone()).filter(|help| !help.is_empty());
        Found {
            number,
            rule: finding.rule,
            message: finding.message.clone(),
            help: finding.help.clone(),
            file: Arc::clone(&text.name),
            ad,
            id: None,
            attribute: finding.labels.first().map(|label| label.attribute.to_string()),
            places: marks.iter().map(placed).collect(),
            ads: 1,
            picture: Picture::of_marks(text, severity, drawn, help, Frame::of_width()),
        }
    }

    pub fn start(&self) -> Position {
        self.places.first().map_or(Position::START, |place| place.start)
    }

    /// Returns the identity of the ad or its number, for messages; nothing for an expression of the command line.
    pub fn whose(&self) -> String {
        match (&self.id, self.ad) {
            (_, 0) => String::new(),
            (Some(id), _) => id.clone(),
            (None, ad) => format!("ad {ad}"),
        }
    }
}

impl Report {
    /// Sorts the findings by file and position. Sets the number of ads of each from `count`, which takes the number of
    /// the finding.
    pub fn finish(&mut self, count: impl Fn(usize) -> usize) {
        for found in &mut self.found {
            found.ads = count(found.number).max(1);
        }
        let mut files: Vec<Arc<str>> = Vec::new();
        for found in &self.found {
            if !files.contains(&found.file) {
                files.push(Arc::clone(&found.file));
            }
        }
        self.found.sort_by_key(|found| {
            let start = found.start();
            (files.iter().position(|file| *file == found.file), start.line, start.column)
        });
    }

    /// Returns the number of findings of `level`.
    pub fn of_level(&self, level: Level) -> usize {
        self.found.iter().filter(|found| found.rule.level == level).count()
    }
}

/// Counts the attribute lines of the first ad in a text of the long form.
pub fn lines(text: &[u8]) -> usize {
    let mut count = 0;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let content = rest[..length].trim_ascii_start();
        if content.is_empty() && count > 0 {
            break;
        }
        count += usize::from(!content.is_empty() && !content.starts_with(b"#") && !content.starts_with(b"//"));
        at += length + 1;
    }
    count
}
