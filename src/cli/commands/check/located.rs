//! What was found, with its place in a file.

use std::sync::Arc;

use classad::format::Position;
use classad::lint::{Finding, Level, Rule};

use crate::cli::io::source::Text;
use crate::cli::render::diagnostics::{Frame, Picture};

pub use crate::cli::render::diagnostics::Mark;

/// All that was found.
#[derive(Default)]
pub struct Report {
    pub found: Vec<Found>,
    /// How many ads were looked at.
    pub ads: usize,
}

/// Something that was found.
pub struct Found {
    /// Its number in the checker.
    pub number: usize,
    pub rule: &'static Rule,
    pub message: String,
    pub help: String,
    pub file: Arc<str>,
    /// Which ad of the file it is in, the first one of several; 0 if it is in none.
    pub ad: usize,
    /// What that ad is called.
    pub id: Option<String>,
    /// The attribute that it is in.
    pub attribute: Option<String>,
    /// Where, the decisive place first.
    pub places: Vec<Placed>,
    /// In how many ads it is.
    pub ads: usize,
    pub picture: Picture,
}

/// A place in a file; the end is behind it.
pub struct Placed {
    pub start: Position,
    pub end: Position,
    pub text: String,
}

impl Found {
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
        // A place that is too far off to be drawn is told by what stands there.
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

    /// What a person calls the ad.
    pub fn whose(&self) -> String {
        match (&self.id, self.ad) {
            (_, 0) => String::new(),
            (Some(id), _) => id.clone(),
            (None, ad) => format!("ad {ad}"),
        }
    }
}

impl Report {
    /// Puts everything in order, and counts in how many ads it is.
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

    /// How many findings are of a level.
    pub fn of_level(&self, level: Level) -> usize {
        self.found.iter().filter(|found| found.rule.level == level).count()
    }
}

/// How many attributes the ad of the long form has that a text begins with.
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
