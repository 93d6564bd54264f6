//! Findings of the linter with their positions in files.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use classad::format::{LineKind, Position};
use classad::lint::{LintFinding, LintLevel};
use classad::text::TextEdit;
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};

use crate::cli::io::source_text::SourceText;
use crate::cli::render::diagnostics::{ExcerptLimits, SourceDiagnostic};

use super::rule_counts::RuleCounts;
use crate::cli::render::explanation::strike_numbers;

pub use crate::cli::render::diagnostics::LabeledRange;

/// What is kept of a finding.
pub trait KeptFinding {
    /// Keeps a finding in `text`. `number` is that of the register.
    fn new(number: usize, finding: LintFinding, text: &SourceText, place: FindingPlace) -> Self;
}

/// Where a finding is, and how its text is corrected there.
#[derive(Default)]
pub struct FindingPlace {
    /// Byte ranges in the text, the location of the finding first.
    pub marks: Vec<LabeledRange>,
    /// The correction; `None` if there is none, or if it is not wanted.
    pub fix: Option<TextFix>,
    /// 1-based number of the ad with the finding; 0 if there is no ad.
    pub ad_number: usize,
    /// The identity of the ad.
    pub id: Option<String>,
    /// 0-based number of the finding among those of the ad that are alike.
    pub ordinal: usize,
}

/// The correction of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextFix {
    /// Whether each attribute of an ad keeps the value that it has beside any other ad.
    pub keeps_values: bool,
    /// What takes the place of byte ranges.
    pub edits: Vec<TextEdit>,
}

/// All findings of a run.
pub struct CheckReport {
    pub findings: Vec<LocatedFinding>,
    /// The ads with findings of each rule.
    pub rules: RuleCounts,
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
    /// The replacements that correct the text; `None` if there is no correction.
    pub fix: Option<LocatedFix>,
    /// What the finding has in common with others that say the same but for numbers and strings.
    kind: u64,
    pub picture: SourceDiagnostic,
}

/// The correction of a finding in its file.
pub struct LocatedFix {
    pub keeps_values: bool,
    /// The ranges that are replaced. `text` is what to write there; a range may be empty.
    pub replacements: Vec<FindingRegion>,
}

/// A range in a file; `end` is exclusive. `text` is the label of the range and may be empty.
pub struct FindingRegion {
    pub start: Position,
    pub end: Position,
    pub text: String,
}

impl KeptFinding for LocatedFinding {
    fn new(number: usize, finding: LintFinding, text: &SourceText, place: FindingPlace) -> Self {
        let FindingPlace { marks, fix, ad_number, id, ordinal } = place;
        let (text, marks) = text.placed_marks(marks);
        let text = &text;
        let severity = match finding.rule.level {
            LintLevel::Error => miette::Severity::Error,
            LintLevel::Warning => miette::Severity::Warning,
            LintLevel::Note => miette::Severity::Advice,
        };
        let length = text.block.text.len();
        let within = |(range, words): LabeledRange| {
            let end = range.end.min(length);
            (range.start.min(end)..end, words)
        };
        let marks: Vec<LabeledRange> = marks.into_iter().map(within).collect();
        let placed = |(range, text_there): &LabeledRange| {
            let start = text.position(range.start);
            FindingRegion { start, end: start.after(&text.block.text[range.clone()]), text: text_there.clone() }
        };
        let marked = marks.first().map_or(&b""[..], |(range, _)| &text.block.text[range.clone()]);
        let kind = kind_of(&finding, marked, ordinal);
        let located = |fix: TextFix| LocatedFix {
            keeps_values: fix.keeps_values,
            replacements: fix.edits.into_iter().map(|edit| placed(&within(edit))).collect(),
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
            fix: fix.map(located),
            kind,
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

    /// Returns the findings to show, each with the number of those after it that say the same but for numbers and strings.
    /// `lists_all` shows these, too.
    pub fn shown(&self, lists_all: bool) -> Vec<(&LocatedFinding, usize)> {
        let mut kinds: IndexMap<(usize, u64), (&LocatedFinding, usize)> = IndexMap::new();
        for (index, found) in self.findings.iter().enumerate() {
            let kind = (if lists_all { index } else { 0 }, found.kind);
            kinds.entry(kind).and_modify(|(_, others)| *others += 1).or_insert((found, 0));
        }
        kinds.into_values().collect()
    }

    /// Returns the number of findings of `level`.
    pub fn count_at_level(&self, level: LintLevel) -> usize {
        self.findings.iter().filter(|found| found.finding.rule.level == level).count()
    }
}

/// Returns the kind of a finding that marks a text. Findings of one kind say the same but for numbers and strings.
/// `ordinal` tells those of one ad apart.
fn kind_of(finding: &LintFinding, marked: &[u8], ordinal: usize) -> u64 {
    /// Maximum length of a marked text that is looked at, in bytes.
    const MAX_MARKED_BYTES: usize = 4096;
    let marked = String::from_utf8_lossy(&marked[..marked.len().min(MAX_MARKED_BYTES)]);
    let mut hasher = FxHasher::default();
    let attribute = finding.labels.first().map(|label| &label.attribute);
    (finding.rule.name, strike_numbers(&finding.message), attribute, without_literals(&marked)).hash(&mut hasher);
    ordinal.hash(&mut hasher);
    hasher.finish()
}

/// Returns an expression without its strings and the digits of its numbers.
fn without_literals(text: &str) -> String {
    let (mut left, mut is_string, mut is_word) = (String::new(), false, false);
    for letter in text.chars() {
        if letter == '"' {
            is_string = !is_string;
        }
        if letter == '"' || !(is_string || letter.is_ascii_digit() && !is_word) {
            left.push(letter);
        }
        is_word = letter == '_' || letter.is_alphabetic() || is_word && letter.is_ascii_digit();
    }
    left
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

#[cfg(test)]
mod tests {
    use super::{count_attribute_lines, without_literals};

    #[test]
    fn digits_are_parts_of_words_or_of_numbers() {
        for (text, expected) in [
            ("a == \"x 1\" && b", "a == \"\" && b"),
            ("a1 > 12", "a1 > "),
            ("x_1 + 2e3", "x_1 + e3"),
            ("_1 + 1_2", "_1 + _2"),
            ("\u{e4}1 - 1", "\u{e4}1 - "),
            ("f(12, \"34\", g5)", "f(, \"\", g5)"),
            ("1a2", "a2"),
            ("\"a", "\""),
            ("", ""),
        ] {
            assert_eq!(without_literals(text), expected, "{text}");
        }
    }

    #[test]
    fn lines_are_counted_to_the_end_of_the_first_ad() {
        for (text, expected) in [
            ("", 0),
            ("\n\n", 0),
            ("a = 1", 1),
            ("a = 1\nb = 2\n", 2),
            ("a = 1\n\nb = 2\n", 1),
            ("\n  \na = 1\n  b = 2\n \nc = 3\n", 2),
            ("# c\na = 1\n// d\nb = 2\n*** Offset = 0\nc = 3\n", 2),
            ("-- Schedd: a@b : <1.2.3.4:9618>\na = 1\n", 1),
        ] {
            assert_eq!(count_attribute_lines(text.as_bytes()), expected, "{text}");
        }
    }
}
