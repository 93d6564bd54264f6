//! `--fix`: corrects the files, as a diff or in place.

use std::cmp::Reverse;
use std::fs;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use clap::Args;
use classad::ad::{Ad, Dialect, Expression, Span};
use classad::format::{AdEntry, AttributeSpan, FileFormat, Problem, ReadCache, Severity, StreamBlock, attribute_spans};
use classad::lint::{AdChecker, AdFindings, LintFinding, LintFix, LintLevel, LintRule, find_rule};
use classad::syntax::{ParseOptions, Style};
use classad::text::{apply_edits, counted};
use indexmap::IndexMap;

use super::checked_block::CheckTask;
use super::located::TextFix;
use super::repeated_definitions::RepeatedDefinitions;
use crate::cli::io::atomic_write::{FileRewriter, RewriteArgs};
use crate::cli::io::block_pipeline::BlockTask;
use crate::cli::io::source::AdSource;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::render::diagnostics::single_line;
use crate::cli::render::output::out;
use crate::cli::render::text_diff::write_diff;
use crate::cli::session::Session;

/// Maximum number of times that a file is corrected: a fix may uncover another one.
const MAX_ROUNDS: usize = 50;

/// Maximum number of fixes of an ad in one round.
const MAX_FIXES: usize = 64;

#[derive(Args)]
pub struct FixArgs {
    /// Print a diff of the files with the fixes that keep the value of each attribute beside every other ad. With --write,
    /// rewrite the files, and report what remains
    #[arg(long, conflicts_with_all = ["expr", "config", "partial", "rules"])]
    fix: bool,
    /// Also apply the fixes that change values: what the help of a finding says to write. Read the diff first
    #[arg(long = "unsafe", requires = "fix")]
    with_unsafe: bool,
    #[command(flatten)]
    rewrite: RewriteArgs,
}

/// Corrects the files of a run.
pub struct FileFixer {
    with_unsafe: bool,
    /// `None` to print diffs.
    rewriter: Option<FileRewriter>,
}

/// Which fixes were made, and which were not.
#[derive(Default)]
struct FixCounts {
    by_rule: IndexMap<&'static str, usize>,
    /// Number of fixes of the last round that change values, and were left out.
    unsafe_left: usize,
    files: usize,
    /// Whether a further run may fix more.
    has_more: bool,
}

impl FixArgs {
    /// Prepares to correct files, before they are read. `None` without `--fix`. Refuses what cannot be read twice.
    pub fn prepare(&self, paths: &[String]) -> Result<Option<FileFixer>, Failure> {
        if !self.fix {
            return Ok(None);
        }
        let rewriter = self.rewrite.prepare(paths)?;
        if paths.is_empty() || paths.iter().any(|path| path == "-") {
            return refuse_file("standard input");
        }
        Ok(Some(FileFixer { with_unsafe: self.with_unsafe, rewriter }))
    }
}

fn refuse_file<T>(name: &str) -> Result<T, Failure> {
    refuse(format!("--fix corrects files, and {} is compressed or no file", single_line(name)))
}

impl FileFixer {
    /// Whether the files stay as they are, so that only their diffs are printed.
    pub fn prints_diffs(&self) -> bool {
        self.rewriter.is_none()
    }

    /// Corrects the texts of the sources, and lets them be read again as corrected. Findings of rules that are not
    /// `wanted` are left.
    ///
    /// # Errors
    ///
    /// A source is no file in the long form or in brackets. Then no file has been changed, and no diff printed.
    pub fn run(
        &self,
        session: &mut Session,
        sources: &mut [AdSource],
        task: &CheckTask,
        wanted: &dyn Fn(&LintRule) -> bool,
    ) -> Result<(), Failure> {
        let (mut total, mut texts) = (FixCounts::default(), Vec::new());
        for source in &*sources {
            if !source.is_file() || source.is_compressed() || source.is_rewritten() || source.part.is_some() {
                return refuse_file(&source.name);
            }
            if !matches!(source.form, FileFormat::Long | FileFormat::Bracketed) {
                let name = single_line(&source.name);
                return refuse(format!("--fix corrects files in the long form or in brackets, and {name} is in none"));
            }
            let Ok(old) = fs::read(&*source.name) else { return refuse_file(&source.name) };
            let fix = FileFix { task, wanted, with_unsafe: self.with_unsafe, form: source.form };
            let mut counts = FixCounts::default();
            let new = fix.run(session, &old, &mut counts)?;
            if new.is_none() {
                self.report_problems(session, source)?;
            }
            texts.push((old, new, counts));
        }
        for (source, (old, new, counts)) in sources.iter_mut().zip(texts) {
            let Some(new) = new else { continue };
            let is_fixed = match &self.rewriter {
                _ if new == old => true,
                Some(rewriter) => rewriter.replace(session, &source.name, &new),
                None if session.options.quiet => true,
                None => write_diff(&mut out(), &source.name, &old, &new).map(|()| true)?,
            };
            if is_fixed {
                total.add(counts, new != old);
                source.read_instead(new)?;
            }
        }
        out().flush()?;
        session.note(&total.summary());
        Ok(())
    }

    /// Reports the errors of a file that stays as it is. With `--write` the check reports them.
    fn report_problems(&self, session: &mut Session, source: &AdSource) -> Result<(), Failure> {
        let mut again = source.reopen()?;
        while let Some(text) = again.next_block()?.filter(|_| self.prints_diffs()) {
            for problem in text.block.ads(session.dialect()).filter_map(Result::err) {
                session.report_problem(&text, &problem)?;
            }
        }
        session.note(&format!("{} is left as it is: not every ad in it parses", source.name));
        Ok(())
    }
}

impl FixCounts {
    /// Adds the counts of a file, which `is_changed` or not.
    fn add(&mut self, file: FixCounts, is_changed: bool) {
        for (rule, count) in file.by_rule {
            *self.by_rule.entry(rule).or_default() += count;
        }
        self.unsafe_left += file.unsafe_left;
        self.files += usize::from(is_changed);
        self.has_more |= file.has_more;
    }

    /// Says what was fixed, and what was not.
    fn summary(&self) -> String {
        let made: Vec<String> = self.by_rule.iter().map(|(rule, count)| format!("{rule} {count}")).collect();
        let total = counted_fixes(self.by_rule.values().sum());
        let mut text = match made[..] {
            [] => "no fixes".to_owned(),
            _ => format!("{total} in {}: {}", counted(self.files, "file"), made.join(", ")),
        };
        if self.unsafe_left > 0 {
            let left = counted_fixes(self.unsafe_left);
            text.extend(["; --unsafe also applies ", &left, " that can change values"]);
        }
        if self.has_more {
            text.push_str("; a further run may fix more");
        }
        text
    }
}

fn counted_fixes(count: usize) -> String {
    if count == 1 { "1 fix".to_owned() } else { format!("{count} fixes") }
}

/// The correction of one file.
struct FileFix<'f> {
    task: &'f CheckTask,
    wanted: &'f dyn Fn(&LintRule) -> bool,
    with_unsafe: bool,
    form: FileFormat,
}

/// A fix of an ad, with its rule.
type RuleFix = (&'static LintRule, TextFix);

impl FileFix<'_> {
    /// Returns the corrected text; `None` if an ad in it has an error.
    fn run(&self, session: &Session, old: &[u8], counts: &mut FixCounts) -> Result<Option<Vec<u8>>, Failure> {
        let mut checker = self.task.new_state().checker;
        let (mut text, mut unsafe_left) = (old.to_vec(), 0);
        let ignored_text = find_rule("ignored-text").filter(|rule| (self.wanted)(rule));
        for round in 0..=MAX_ROUNDS {
            let block = StreamBlock::from_complete_text(text, self.form);
            let (mut edits, mut rules) = (Vec::new(), Vec::new());
            unsafe_left = 0;
            let mut cache = ReadCache::new(self.task.context.dialect);
            for item in block.ads_cached(&mut cache) {
                session.check_interrupt()?;
                let entry = match item {
                    Ok(entry) => entry,
                    Err(problem) if problem.severity == Severity::Warning => {
                        let fix = without_ignored_text(&problem, &block.text);
                        let Some((rule, fix)) = ignored_text.zip(fix) else { continue };
                        if fix.keeps_values || self.with_unsafe {
                            rules.push(rule.name);
                            edits.extend(fix.edits);
                        } else {
                            unsafe_left += 1;
                        }
                        continue;
                    }
                    Err(_) => return Ok(None),
                };
                for (rule, fix) in self.fixes(&entry, &block.text, &mut checker, &mut unsafe_left) {
                    rules.push(rule.name);
                    edits.extend(fix.edits);
                }
            }
            if edits.is_empty() || round == MAX_ROUNDS {
                counts.has_more |= !edits.is_empty();
                text = block.text;
                break;
            }
            for rule in rules {
                *counts.by_rule.entry(rule).or_default() += 1;
            }
            text = apply_edits(&block.text, edits);
        }
        counts.unsafe_left += unsafe_left;
        Ok(Some(text))
    }

    /// Returns fixes of an ad that do not overlap. Counts those that change values, unless they are wanted.
    fn fixes(&self, entry: &AdEntry, text: &[u8], checker: &mut AdChecker, unsafe_left: &mut usize) -> Vec<RuleFix> {
        let dialect = self.task.context.dialect;
        let places = attribute_spans(text, self.form, entry.offset, dialect);
        let mut found: Vec<RuleFix> = Vec::new();
        let writer = FixWriter { text, form: self.form, places: &places, dialect };
        if places.len() > entry.ad.len() {
            found.extend(self.without_repeated(&entry.ad, &writer));
        }
        let has_fix = |finding: &&LintFinding| finding.fix.is_some() && (self.wanted)(finding.rule);
        if checker.check(&entry.ad).iter().any(|finding| has_fix(&finding)) {
            // The findings of an earlier ad may mark the parts of an equal expression that is written in another way.
            let findings = self.task.new_state().checker.check(&entry.ad);
            let fix = |one: &LintFinding| Some((one.rule, writer.fix(one.fix.as_ref()?, &entry.ad)?));
            let fixes = findings.iter().filter(has_fix).filter_map(fix);
            let (made, left): (Vec<_>, Vec<_>) = fixes.partition(|(_, fix)| self.with_unsafe || fix.keeps_values);
            *unsafe_left += left.len();
            let doubtful: Vec<&Range<usize>> = left
                .iter()
                .filter(|(rule, _)| rule.level > LintLevel::Note)
                .flat_map(|(_, fix)| fix.edits.iter().map(|(range, _)| range))
                .collect();
            found.extend(made.into_iter().filter_map(|fix| outside(fix, &doubtful)));
        }
        let (mut taken, mut chosen) = (Vec::new(), Vec::new());
        // What corrects a mistake comes before what tells more plainly what is written.
        found.sort_by_key(|(rule, fix)| (Reverse(rule.level), fix.edits.first().map(|(range, _)| range.start)));
        for (rule, fix) in found {
            if chosen.len() < MAX_FIXES && take(&mut taken, fix.edits.iter().map(|(range, _)| range)) {
                chosen.push((rule, fix));
            }
        }
        chosen
    }

    /// Returns the edits that leave out the definitions without effect.
    fn without_repeated(&self, ad: &Ad, writer: &FixWriter<'_>) -> Vec<RuleFix> {
        let Some(rule) = find_rule("duplicate").filter(|rule| (self.wanted)(rule)) else { return Vec::new() };
        let repeated = RepeatedDefinitions::of(writer.places);
        if repeated.is_joined() || RepeatedDefinitions::are_of_daemon(ad) {
            return Vec::new();
        }
        repeated.pairs.iter().filter_map(|(before, _)| Some((rule, writer.removal(before)?))).collect()
    }
}

/// Writes the corrections of an ad as edits of its text.
pub struct FixWriter<'f> {
    pub text: &'f [u8],
    pub form: FileFormat,
    /// The attributes of the ad.
    pub places: &'f [AttributeSpan],
    pub dialect: Dialect,
}

impl FixWriter<'_> {
    /// Returns the correction of an expression; `None` if the text of the ad is in another form, or the correction would lose
    /// something.
    pub fn fix(&self, fix: &LintFix, ad: &Ad) -> Option<TextFix> {
        let place = self.places.iter().rev().find(|place| place.name == fix.attribute)?;
        self.fix_of(fix, ad.get(&fix.attribute)?, place.file_range(Span::default()).start)
    }

    /// Returns the correction of an expression whose spans count from the byte `start` of the text.
    pub fn fix_of(&self, fix: &LintFix, whole: &Expression, start: usize) -> Option<TextFix> {
        let (options, style) = match self.form {
            FileFormat::Long => (ParseOptions::long(self.dialect), Style::Long),
            FileFormat::Bracketed => (ParseOptions::new(self.dialect), Style::New),
            _ => return None,
        };
        let edits = fix.edits(whole, self.text.get(start..)?, options, style)?;
        let moved = edits.into_iter().map(|(range, with)| (range.start + start..range.end + start, with));
        Some(TextFix { keeps_values: fix.keeps_values, edits: moved.collect() })
    }

    /// Returns the correction that leaves a definition out; `None` if the text of the ad is in another form, or a comment
    /// would be lost.
    pub fn removal(&self, definition: &AttributeSpan) -> Option<TextFix> {
        let (text, name) = (self.text, definition.name_range.clone());
        let range = match self.form {
            FileFormat::Long => {
                let start = text[..name.start].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                let end = text[name.end..].iter().position(|byte| *byte == b'\n');
                start..end.map_or(text.len(), |at| name.end + at + 1)
            }
            FileFormat::Bracketed => {
                let next = self.places.iter().map(|place| place.name_range.start).find(|start| *start > name.start)?;
                let has_comment = text[name.start..next].windows(2).any(|pair| matches!(pair, b"//" | b"/*"));
                (!has_comment).then_some(name.start..next)?
            }
            _ => return None,
        };
        Some(TextFix { keeps_values: true, edits: vec![(range, String::new())] })
    }
}

/// Returns the correction that deletes text without effect; `None` for any other problem. Text that most likely was meant to
/// have one is deleted only if the user wants that: to delete it would hide the mistake.
pub fn without_ignored_text(problem: &Problem, text: &[u8]) -> Option<TextFix> {
    let range = problem.is_ignored_text().then(|| problem.range.clone())?;
    let start = text.get(..range.start)?.trim_ascii_end().len();
    Some(TextFix { keeps_values: problem.help.is_none(), edits: vec![(start..range.end, String::new())] })
}

/// The corrections of an ad, once they are asked for.
#[derive(Default)]
pub struct AdFixes(Option<Arc<AdFindings>>);

impl AdFixes {
    /// Returns the correction of a finding in the text of its ad. `content` tells the finding.
    pub fn fix(&mut self, content: u64, task: &CheckTask, ad: &Ad, writer: &FixWriter<'_>) -> Option<TextFix> {
        // The findings of an earlier ad may mark the parts of an equal expression that is written in another way.
        let findings = self.0.get_or_insert_with(|| task.new_state().checker.check(ad));
        let mut all = findings.contents().zip(findings.iter());
        let (_, finding) = all.find(|(known, _)| *known == content)?;
        writer.fix(finding.fix.as_ref()?, ad)
    }
}

/// Returns what of a fix is outside parts that are probably mistaken: to say more plainly what these mean would hide the
/// mistake. `None` if nothing is left.
fn outside((rule, mut fix): RuleFix, doubtful: &[&Range<usize>]) -> Option<RuleFix> {
    let is_in = |range: &Range<usize>, whole: &Range<usize>| {
        let is_within = whole.start <= range.start && range.end <= whole.end;
        is_within && (!range.is_empty() || whole.start < range.start && range.end < whole.end)
    };
    let is_doubtful = |range: &Range<usize>| doubtful.iter().any(|whole| is_in(range, whole));
    // Parentheses come in pairs.
    if fix.edits.iter().any(|(range, _)| range.is_empty() && is_doubtful(range)) {
        return None;
    }
    fix.edits.retain(|(range, _)| !is_doubtful(range));
    (!fix.edits.is_empty()).then_some((rule, fix))
}

/// Takes all ranges of a fix. `false` if one of them overlaps a range that is taken; then none is. An insertion overlaps a
/// range in whose middle it is.
fn take<'r>(taken: &mut Vec<Range<usize>>, ranges: impl Iterator<Item = &'r Range<usize>> + Clone) -> bool {
    let overlaps = |one: &Range<usize>, other: &Range<usize>| one.start < other.end && other.start < one.end;
    let is_free = ranges.clone().all(|range| !taken.iter().any(|other| overlaps(range, other)));
    if is_free {
        taken.extend(ranges.cloned());
    }
    is_free
}

#[cfg(test)]
mod tests;
