//! Findings of the linter with their positions in files.

use std::sync::Arc;

use classad::format::{LineKind, Position};
use classad::lint::{LintFinding, LintLevel};
use indexmap::IndexSet;

use crate::cli::io::source::SourceText;
use crate::cli::render::diagnostics::{ExcerptLimits, SourceDiagnostic};

pub use crate::cli::render::diagnostics::LabeledRange;

/// What is kept of a finding.
pub trait KeptFinding {
    /// Keeps a finding in `text`. `number` is that of the register. `marks` are byte ranges in `text`, the location of
    /// the finding first. `ad` is the 1-based number of the ad with the finding, 0 if there is no ad, and the ad's
    /// identity.
    fn new(
        number: usize,
        finding: LintFinding,
        text: &SourceText,
        marks: Vec<LabeledRange>,
        ad: (usize, Option<String>),
    ) -> Self;
}

/// All findings of a run.
pub struct CheckReport {
    pub findings: Vec<LocatedFinding>,
    /// Whether an expression of the command line was checked.
    pub has_expression: bool,
    /// Number of ads checked.
    pub ads_checked: usize,
    /// Number of policies of configurations checked; `None` without a configuration.
    pub policies_checked: Option<usize>,
}

/// A finding with its position in a file.
pub struct LocatedFinding {
    /// Identifying number that the `FindingRegister` gave the finding. `FindingRegister::count` takes it and returns how many ads have
    /// the finding.
    pub number: usize,
    pub finding: LintFinding,
    pub file: Arc<str>,
    /// 1-based number, in the file, of the first ad with the finding; 0 if the finding is in no ad.
    pub ad_number: usize,
    /// Name of the first ad with the finding; `None` if that ad has no name.
    pub id: Option<String>,
    /// Ranges in the file: first the location of the finding, then related ranges.
    pub regions: Vec<FindingRegion>,
    /// Number of ads with the finding; 1 if the finding is in no ad.
    pub ad_count: usize,
    pub picture: SourceDiagnostic,
}

/// A range in a file; `end` is exclusive. `text` is the label of the range and may be empty.
pub struct FindingRegion {
    pub start: Position,
    pub end: Position,
    pub text: String,
}

impl KeptFinding for LocatedFinding {
    fn new(
        number: usize,
        finding: LintFinding,
        text: &SourceText,
        marks: Vec<LabeledRange>,
        (ad_number, id): (usize, Option<String>),
    ) -> Self {
        let severity = match finding.rule.level {
            LintLevel::Error => miette::Severity::Error,
            LintLevel::Warning => miette::Severity::Warning,
            LintLevel::Note => miette::Severity::Advice,
        };
        let length = text.block.text.len();
        let marks: Vec<LabeledRange> =
            marks.into_iter().map(|(range, words)| (range.start.min(length)..range.end.min(length), words)).collect();
        let placed = |(range, text_there): &LabeledRange| {
            let start = text.position(range.start);
            FindingRegion { start, end: start.after(&text.block.text[range.clone()]), text: text_there.clone() }
        };
        // A mark far from the first mark lies outside the printed excerpt. Quote the marked text in the label of the
        // mark.
        let first = marks.first().map_or(0, |(range, _)| range.start);
        let with_text = |(range, words): LabeledRange| {
            let marked = String::from_utf8_lossy(&text.block.text[range.clone()]).into_owned();
            let far = range.start.abs_diff(first) > ExcerptLimits::for_terminal().max_distance && !words.is_empty();
            let words = if far && !words.contains('`') { format!("{words}: `{marked}`") } else { words };
            (range, words)
        };
        let drawn: Vec<LabeledRange> = marks.iter().cloned().map(with_text).collect();
        let help = Some(finding.help.clone()).filter(|help| !help.is_empty());
        LocatedFinding {
            number,
            finding,
            file: Arc::clone(&text.name),
            ad_number,
            id,
            regions: marks.iter().map(placed).collect(),
            ad_count: 1,
            picture: SourceDiagnostic::from_marks(text, severity, drawn, help, ExcerptLimits::for_terminal()),
        }
    }
}

impl LocatedFinding {
    /// Returns the name of the ad, for messages, or `ad N` if it has none. The text is empty if the finding is in
    /// no ad.
    pub fn ad_label(&self) -> String {
        match (&self.id, self.ad_number) {
            (_, 0) => String::new(),
            (Some(id), _) => id.clone(),
            (None, ad) => format!("ad {ad}"),
        }
    }
}

impl CheckReport {
    /// Sets `ad_count` of each finding. Sorts the findings of each file by position, and leaves the files in their
    /// order. `count` takes the identifying number of a finding and returns how many ads have the finding.
    pub fn count_and_sort(&mut self, count: impl Fn(usize) -> usize) {
        for found in &mut self.findings {
            found.ad_count = count(found.number).max(1);
        }
        let files: IndexSet<Arc<str>> = self.findings.iter().map(|found| Arc::clone(&found.file)).collect();
        self.findings.sort_by_key(|found| {
            let start = found.regions.first().map_or(Position::START, |place| place.start);
            (files.get_index_of(&found.file), start.line, start.column)
        });
    }

    /// Returns the number of findings of `level`.
    pub fn count_at_level(&self, level: LintLevel) -> usize {
        self.findings.iter().filter(|found| found.finding.rule.level == level).count()
    }
}

/// Counts the attribute lines of the first ad in a text of the long form: all lines but blank ones and comments.
pub fn count_attribute_lines(text: &[u8]) -> usize {
    let (mut count, mut rest) = (0, text);
    while !rest.is_empty() {
        let (line, after) = rest.split_at(memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1));
        let kind = LineKind::of(line.trim_ascii());
        if kind.ends_ad() && count > 0 {
            break;
        }
        count += usize::from(kind == LineKind::Attribute);
        rest = after;
    }
    count
}
