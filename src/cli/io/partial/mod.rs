//! Partial results: what a command finds in parts of files, in a versioned form that `classad merge` reads.
//!
//! The form is JSON Lines. The first line is a [`PartialHeader`], each further line a [`PartialEvent`]. The events of a
//! file stand between [`PartialEvent::File`] and [`PartialEvent::FileEnd`], in the order of the input. The last line is
//! [`PartialEvent::End`]; without it the run has failed. The line before it is a checksum over all lines before.
//!
//! Matching and explaining need all of their input. Their partial results are of shares of the work: each run reads the
//! whole input. What it says of the input comes before [`PartialEvent::Common`], and is the same in all shares.

mod partial_command;
mod scan;
mod scanned;
mod set;
mod share_set;
mod share_writer;
mod writer;

use std::ops::Range;

use classad::ad::{ByteString, Dialect};
use classad::format::{FileFormat, Position, Problem, Severity, StreamBlock};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::file_part::FilePart;
use super::part_plan::PartPlan;
use super::share::WorkShare;
use super::source_text::{SourceText, char_start};
use crate::cli::kept_messages::MessageKind;
use crate::cli::outcome::{Failure, refuse};
pub use partial_command::{PartialCommand, PartialInput, end_of_options};
pub use scan::ScanStep;
use scanned::ScannedPartials;
pub use set::{MergedFile, PartialSet};
pub use share_set::ShareSet;
pub use share_writer::{ShareInput, ShareWriter};
pub use writer::{PartialWriter, arguments_without, without_options};

/// Version of the form. A merge reads no other.
pub const PARTIAL_VERSION: u32 = 7;

/// The reason why a partial result cannot be merged that no run wrote.
const DAMAGED: &str = "a partial result is damaged";

/// What was run, on which files.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PartialHeader {
    /// Version of the form.
    pub classad_partial: u32,
    /// Version of the program.
    pub version: String,
    /// The command line without its files and without `--partial`.
    pub arguments: Vec<String>,
    /// The host of the files, as `--partial=HOST` names it. Empty if the names of the files are enough.
    #[serde(default)]
    pub host: String,
    /// The dialect of the run.
    pub dialect: String,
    /// The share of the work that the run did; `None` for a run on parts of files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<WorkShare>,
    /// The time at which expressions are evaluated, in seconds since 1970; only of a share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<i64>,
    /// The files that options name, and the checksums of their texts; only of a run on parts of files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<(String, String)>,
    pub files: Vec<PartialFile>,
}

/// A file that was read, whole or in part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartialFile {
    pub file: String,
    /// The form of the file, as `--from` calls it.
    pub form: String,
    /// Byte offset at which the part begins.
    pub start: u64,
    /// Byte offset at which the part ends; `null` for the end of the file.
    pub end: Option<u64>,
    /// Number of bytes of the whole file when it was read.
    pub size: u64,
    /// The number of the file in its file system; 0 if there is none.
    pub inode: u64,
    /// Whether the file has no ad and nothing that could be one.
    pub is_empty: bool,
}

impl PartialFile {
    /// Returns the argument that names the file or its part.
    pub fn argument(&self) -> String {
        if self.start == 0 && self.end.is_none() {
            return self.file.clone();
        }
        FilePart { path: self.file.clone(), start: self.start, end: self.end }.to_string()
    }
}

/// What a command finds in a part of a file.
pub trait PartialFinding: Serialize + DeserializeOwned {
    /// Number of ads that the finding is of; 0 if an ad may have several such findings.
    fn ads(&self) -> usize {
        0
    }
}

/// A line of a partial result behind the first one. `F` is what the command finds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartialEvent<F = serde_json::Value> {
    /// The index of the file of the header to which the events up to `FileEnd` belong.
    File(usize),
    Problem(PartialProblem),
    /// Numbers of errors and of warnings that are only counted.
    MoreProblems(usize, usize),
    /// What the command found.
    Finding(F),
    FileEnd(PartialCounts),
    /// A message of a share that is about no place in a file.
    Message(MessageKind, String),
    /// A problem that a share found in a file.
    PlacedProblem(PlacedProblem),
    /// What all shares have in common; the form is the command's own.
    Common(serde_json::Value),
    /// What the command knows of all its files.
    Notes(serde_json::Value),
    /// The SHA-256 of all lines before, in hexadecimal digits.
    Checksum(String),
    End,
}

/// What was read of a file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PartialCounts {
    /// Number of ads, bad ones, too.
    pub ads: usize,
    /// Number of ends of lines.
    pub lines: usize,
    pub bytes: u64,
    /// Line, within the part, of a last record without its banner.
    pub unfinished: Option<usize>,
}

/// A problem, with the lines that are shown of it. Lines and ads are counted from the beginning of the part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PartialProblem {
    is_error: bool,
    ad_number: usize,
    message: String,
    help: Option<String>,
    /// The lines that the ranges touch.
    excerpt: PartialExcerpt,
    /// Byte range in the excerpt.
    range: (usize, usize),
    related: Option<(usize, usize, String)>,
}

/// A problem that a share found, with the file in which it is. Lines and ads are those of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlacedProblem {
    pub file: String,
    pub form: String,
    pub problem: PartialProblem,
}

/// A piece of a text, with the place of its beginning in the part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PartialExcerpt {
    text: ByteString,
    line: usize,
    column: usize,
}

/// Maximum number of a line or a column in a picture.
const MAX_PLACE: usize = u32::MAX as usize;

/// Maximum number of bytes of a line that an excerpt keeps on each side of what it shows. Pictures of problems need fewer.
const EXCERPT_CONTEXT_BYTES: usize = 4096;

/// The partial results that are merged.
pub enum PartialResults {
    /// Of parts of files.
    Parts(PartialSet),
    /// Of shares of the work.
    Shares(ShareSet),
}

impl PartialResults {
    /// Reads partial results, in any order.
    ///
    /// # Errors
    ///
    /// They are not of one run, or some are missing or there twice, or are not those of the plan. The message lists what
    /// to run again.
    pub fn read(paths: &[String], plan: Option<&PartPlan>) -> Result<Self, Failure> {
        let scanned = ScannedPartials::read(paths)?;
        if scanned.partials.iter().any(|partial| partial.header.share.is_some()) {
            return ShareSet::new(scanned, plan).map(PartialResults::Shares);
        }
        if plan.is_some_and(|plan| plan.shares.is_some()) {
            return refuse("the plan has shares, but the partial results are of parts of files");
        }
        PartialSet::new(scanned, plan).map(PartialResults::Parts)
    }

    /// Returns the command line that the partial results are of.
    pub fn arguments(&self) -> &[String] {
        match self {
            PartialResults::Parts(parts) => &parts.arguments,
            PartialResults::Shares(shares) => &shares.arguments,
        }
    }

    pub fn dialect(&self) -> Dialect {
        match self {
            PartialResults::Parts(parts) => parts.dialect,
            PartialResults::Shares(shares) => shares.dialect,
        }
    }
}

/// Returns what `--from` calls a form.
fn form_name(form: FileFormat) -> String {
    form.facts().name.to_owned()
}

/// Returns the form that `--from` calls by this name.
fn form_of(name: &str) -> FileFormat {
    FileFormat::of_name(name).unwrap_or(FileFormat::Bracketed)
}

impl PartialProblem {
    /// Keeps a problem of a text, with the lines that it touches.
    pub fn new(text: &SourceText, problem: &Problem) -> Self {
        let ranges = || std::iter::once(&problem.range).chain(problem.related.iter().map(|(range, _)| range));
        let (excerpt, start) = PartialExcerpt::new(text, ranges());
        let shifted = |at: usize| at.saturating_sub(start);
        PartialProblem {
            is_error: problem.severity == Severity::Error,
            ad_number: problem.ad_number,
            message: problem.message.clone(),
            help: problem.help.clone(),
            excerpt,
            range: (shifted(problem.range.start), shifted(problem.range.end)),
            related: problem
                .related
                .as_ref()
                .map(|(range, label)| (shifted(range.start), shifted(range.end), label.clone())),
        }
    }
}

impl PartialExcerpt {
    /// Cuts the lines that the ranges touch out of a text, and of a long line what is near them. Also returns the offset
    /// at which the excerpt begins.
    pub fn new<'r>(text: &SourceText, ranges: impl Iterator<Item = &'r Range<usize>> + Clone) -> (Self, usize) {
        let bytes = &text.block.text;
        let first = ranges.clone().map(|range| range.start).min().unwrap_or(0).min(bytes.len());
        let last = ranges.map(|range| range.end.max(range.start)).max().unwrap_or(0).min(bytes.len());
        let line = memchr::memrchr(b'\n', &bytes[..first]).map_or(0, |at| at + 1);
        let start = line.max(char_start(bytes, first.saturating_sub(EXCERPT_CONTEXT_BYTES)));
        let line_end = memchr::memchr(b'\n', &bytes[last..]).map_or(bytes.len(), |at| last + at);
        let end = line_end.min(char_start(bytes, last + EXCERPT_CONTEXT_BYTES));
        let place = text.position(start);
        (PartialExcerpt { text: ByteString::from(&bytes[start..end]), line: place.line, column: place.column }, start)
    }

    /// Returns the excerpt as a text at its place in the whole file.
    pub fn into_source(self, file: &MergedFile) -> SourceText {
        let block = StreamBlock::from_complete_text(self.text.as_bytes(), file.form);
        // A damaged part may claim any place. The writer of pictures adds to it.
        let [line, column] =
            [self.line.saturating_add(file.lines_before), self.column].map(|place| place.min(MAX_PLACE));
        let start = Position { line, column };
        SourceText::of_block(&file.name, StreamBlock { start, ..block })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::single_range_in_vec_init)] // the ranges are meant
    fn an_excerpt_has_whole_lines() {
        let text = SourceText::from_lines("f", "one\ntwo\nthree", 5);
        for (ranges, expected, place, from) in [
            (&[4..7][..], "two", [6, 1], 4),
            (&[5..5], "two", [6, 1], 4),
            (&[3..3], "one", [5, 1], 0),
            (&[3..4], "one\ntwo", [5, 1], 0),
            (&[], "one", [5, 1], 0),
            (&[8..13], "three", [7, 1], 8),
            (&[99..120], "three", [7, 1], 8),
            (&[9..10, 0..1], "one\ntwo\nthree", [5, 1], 0),
            (&[9..10, 5..6], "two\nthree", [6, 1], 4),
        ] {
            let (excerpt, start) = PartialExcerpt::new(&text, ranges.iter());
            assert_eq!((excerpt.text.as_bytes(), start), (expected.as_bytes(), from), "{ranges:?}");
            assert_eq!([excerpt.line, excerpt.column], place, "{ranges:?}");
        }
        // A range that ends before it starts is empty.
        let backward = Range { start: 5, end: 2 };
        assert_eq!(PartialExcerpt::new(&text, [&backward].into_iter()).0.text.as_bytes(), b"two");
    }

    #[test]
    fn an_excerpt_of_a_long_line_is_cut() {
        for (length, range, start, bytes) in
            [(20_000, 5000..5001, 904, 8193), (9000, 5000..5001, 904, 8096), (9000, 10..20, 0, 4116)]
        {
            let text = SourceText::from_lines("f", &"x".repeat(length), 5);
            let (excerpt, from) = PartialExcerpt::new(&text, [&range].into_iter());
            assert_eq!((from, excerpt.text.as_bytes().len(), excerpt.column), (start, bytes, start + 1), "{length}");
        }
    }

    #[test]
    fn a_problem_has_its_place_in_the_merged_file() {
        let text = SourceText::from_lines("f", "one\ntwo", 5);
        let problem =
            Problem { related: Some((5..6, "open".to_owned())), ..Problem::error_at(4..7, 3, "wrong".to_owned()) };
        for problem in [problem.clone(), problem.as_warning()] {
            let partial = PartialProblem::new(&text, &problem);
            assert_eq!((partial.range, &partial.related), ((0, 3), &Some((1, 2, "open".to_owned()))));
            let merged =
                MergedFile { ads_before: 10, lines_before: 100, ..MergedFile::new("g".to_owned(), FileFormat::Long) };
            let (place, placed) = merged.place(partial);
            assert_eq!((&*place.name, place.position(0)), ("g", Position { line: 106, column: 1 }));
            assert_eq!((placed.severity, placed.range, placed.ad_number), (problem.severity, 0..3, 13));
            assert_eq!((placed.message, placed.related), (problem.message, Some((1..2, "open".to_owned()))));
        }
        let damaged = PartialExcerpt { text: ByteString::from(&b"x"[..]), line: usize::MAX, column: usize::MAX };
        let merged = MergedFile { lines_before: 9, ..MergedFile::new("g".to_owned(), FileFormat::Long) };
        assert_eq!(damaged.into_source(&merged).position(0), Position { line: MAX_PLACE, column: MAX_PLACE });
    }
}
