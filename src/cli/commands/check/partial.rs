//! Partial results of `check`: the findings in parts of files, and merging them.

use classad::ad::Name;
use classad::lint::{FindingLabel, LintFinding, LintRule, find_rule};
use serde::{Deserialize, Serialize};

use super::check_run::CheckRun;
use super::checked_block::{CheckTask, CheckedBlock};
use super::located::{FindingPlace, KeptFinding, LocatedFinding, TextFix};
use super::rule_counts::AdCount;
use crate::cli::io::block_pipeline::for_each_block;
use crate::cli::io::partial::{PartialExcerpt, PartialFinding, PartialSet, PartialWriter};
use crate::cli::io::source::AdSource;
use crate::cli::io::source_text::SourceText;
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::session::Session;

/// A record in a partial result.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CheckRecord {
    Finding(Box<FindingRecord>),
    /// The ads with findings of each rule.
    Rules(Vec<(String, AdCount)>),
    /// Number of ads without errors in the part.
    Ads(usize),
}

impl PartialFinding for CheckRecord {
    fn ads(&self) -> usize {
        match self {
            CheckRecord::Finding(_) | CheckRecord::Rules(_) => 0,
            CheckRecord::Ads(ads) => *ads,
        }
    }
}

/// A finding in a part of a file. Numbers of ads and places count from the beginning of the part.
#[derive(Serialize, Deserialize)]
struct FindingRecord {
    #[serde(skip)]
    number: usize,
    /// What findings of equal content share; `None` for a finding of the parser.
    content: Option<u64>,
    /// Number of ads of the part with the finding.
    ads: usize,
    rule: String,
    message: String,
    help: String,
    /// The attributes of the marked places.
    attributes: Vec<String>,
    ad_number: usize,
    id: Option<String>,
    excerpt: PartialExcerpt,
    /// Byte ranges in the excerpt, each with its words.
    marks: Vec<(usize, usize, String)>,
    /// The correction; its ranges are in the excerpt.
    fix: Option<TextFix>,
    ordinal: usize,
}

impl KeptFinding for FindingRecord {
    fn new(number: usize, finding: LintFinding, text: &SourceText, place: FindingPlace) -> Self {
        let FindingPlace { marks, mut fix, ad_number, id, ordinal } = place;
        let edits = fix.iter().flat_map(|fix| &fix.edits);
        let (excerpt, start) = PartialExcerpt::new(text, marks.iter().chain(edits).map(|(range, _)| range));
        let shifted = |at: usize| at.saturating_sub(start);
        for (range, _) in fix.iter_mut().flat_map(|fix| &mut fix.edits) {
            *range = shifted(range.start)..shifted(range.end);
        }
        let marks = marks.into_iter().map(|(range, words)| (shifted(range.start), shifted(range.end), words)).collect();
        let LintFinding { rule, message, help, labels, .. } = finding;
        let attributes = labels.iter().map(|label| label.attribute.to_string()).collect();
        let rule = rule.name.to_owned();
        FindingRecord {
            number,
            content: None,
            ads: 1,
            rule,
            message,
            help,
            attributes,
            ad_number,
            id,
            excerpt,
            marks,
            fix,
            ordinal,
        }
    }
}

/// Checks the sources and writes a partial result.
pub fn write_partial(
    session: &mut Session,
    sources: &mut [AdSource],
    [paths, settings]: [&[String]; 2],
    task: &CheckTask,
    wanted: &dyn Fn(&LintRule) -> bool,
) -> Result<Status, Failure> {
    let mut writer = PartialWriter::new(session, sources, paths, settings)?;
    for (index, source) in sources.iter_mut().enumerate() {
        writer.begin_file(index)?;
        let mut run: CheckRun<'_, FindingRecord> = CheckRun::new(wanted);
        run.fix_task = Some(task);
        for_each_block(session, [&mut *source], task, &mut |session, source, text, checked: CheckedBlock| {
            run.add_block(session, source, text, checked);
            Ok(true)
        })?;
        for record in run.findings {
            let (content, ads) = (run.register.content(record.number), run.register.count(record.number).max(1));
            writer.add_finding(&CheckRecord::Finding(Box::new(FindingRecord { content, ads, ..record })))?;
        }
        writer.add_finding(&CheckRecord::Rules(run.rules.into_records()))?;
        writer.add_finding(&CheckRecord::Ads(run.ads_checked))?;
        writer.end_file(source)?;
    }
    writer.finish(session, &())?;
    Ok(Status::Yes)
}

/// Adds the findings of all partial results to a run.
pub fn read_partials(
    session: &mut Session,
    partials: &PartialSet,
    run: &mut CheckRun<'_, LocatedFinding>,
) -> Result<(), Failure> {
    partials.replay(session, &mut |_, file, finding| {
        let record = match finding {
            CheckRecord::Finding(record) => *record,
            CheckRecord::Ads(ads) => {
                run.ads_checked += ads;
                return Ok(true);
            }
            CheckRecord::Rules(counts) => {
                for (rule, count) in counts {
                    let Some(rule) = find_rule(&rule) else { return refuse("a partial result is damaged") };
                    run.rules.add(rule, &count, run.ads_checked);
                }
                return Ok(true);
            }
        };
        let FindingRecord { content, ads, message, help, attributes, id, marks, fix, ordinal, .. } = record;
        let Some(rule) = find_rule(&record.rule) else { return refuse("a partial result is damaged") };
        if let Some(number) = run.register.register_counted(content, ads) {
            let label = |name: &String| FindingLabel { attribute: Name::new(name), span: None, text: String::new() };
            let labels = attributes.iter().map(label).collect();
            let finding = LintFinding { rule, message, help, labels, fix: None };
            let marks = marks.into_iter().map(|(start, end, words)| (start..end, words)).collect();
            let ad_number = if record.ad_number > 0 { record.ad_number + file.ads_before } else { 0 };
            let text = record.excerpt.into_source(file);
            let place = FindingPlace { marks, fix, ad_number, id, ordinal };
            run.findings.push(LocatedFinding::new(number, finding, &text, place));
        }
        Ok(true)
    })
}
