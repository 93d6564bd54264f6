//! A run of `check`: the findings of blocks, expressions and configurations, and what is kept of each.

use std::sync::Arc;

use classad::ad::{Ad, Name};
use classad::format::{AdEntry, AttributeSpan, FileFormat, Problem, Severity};
use classad::lint::{AdFindings, FindingLabel, FindingRegister, LintFinding, LintRule, RuleScope, find_rule};
use classad::protocol::display_name;
use classad::text::{counted, join_first};

use super::checked_block::{CheckEvent, CheckTask, CheckedBlock, owner_name};
use super::fixes::{AdFixes, FixWriter, without_ignored_text};
use super::located::{FindingPlace, KeptFinding, LabeledRange, TextFix};
use super::repeated_definitions::RepeatedDefinitions;
use super::rule_counts::{AdCount, RuleCounts};
use crate::cli::io::block_pipeline::BlockTask;
use crate::cli::io::source::AdSource;
use crate::cli::io::source_text::SourceText;
use crate::cli::session::Session;

/// A run of `check`: the findings so far, each as an `F`.
pub struct CheckRun<'w, F> {
    pub register: FindingRegister,
    pub findings: Vec<F>,
    /// The ads with findings of each rule.
    pub rules: RuleCounts,
    /// How ads are checked again for the corrections of their findings; `None` if these are not wanted.
    pub fix_task: Option<&'w CheckTask>,
    /// The last ad with a finding of the text, and the rules of its findings.
    last_of_text: (Option<Arc<str>>, usize, Vec<&'static str>),
    /// Number of ads checked.
    pub ads_checked: usize,
    /// Number of policies of configurations checked; `None` without a configuration.
    pub policies_checked: Option<usize>,
    /// Whether a note was printed on attributes that HTCondor wrote twice.
    has_noted_duplicates: bool,
    /// Whether `--only`, `--allow` and `--level` let findings of a rule be reported.
    pub wanted: &'w dyn Fn(&LintRule) -> bool,
}

impl<'w, F: KeptFinding> CheckRun<'w, F> {
    pub fn new(wanted: &'w dyn Fn(&LintRule) -> bool) -> Self {
        CheckRun {
            register: FindingRegister::default(),
            findings: Vec::new(),
            rules: RuleCounts::default(),
            fix_task: None,
            last_of_text: (None, 0, Vec::new()),
            ads_checked: 0,
            policies_checked: None,
            has_noted_duplicates: false,
            wanted,
        }
    }

    /// Adds the findings of a block of a source. Text that does not parse becomes a finding too.
    pub fn add_block(&mut self, session: &Session, source: &mut AdSource, text: &SourceText, checked: CheckedBlock) {
        for event in checked.events {
            match event {
                CheckEvent::Problem(problem) => self.add_problem(text, &problem.after_ads(source.ads_read)),
                CheckEvent::Ad { entry, findings, is_twice } => {
                    let entry = AdEntry { number: entry.number + source.ads_read, ..entry };
                    self.add_ad(session, text, &entry, &findings, is_twice);
                }
            }
        }
        for (findings, count) in checked.counts {
            self.register.count_ads(&findings, count.ads);
            self.rules.add_findings(&findings, (&count, self.ads_checked), self.wanted);
        }
        self.ads_checked += checked.ads;
        source.ads_read += checked.last;
    }

    /// Checks an expression of the command line as the constraint of an ad that has no other attribute.
    pub fn check_expression(&mut self, session: &Session, text: &str, task: &CheckTask) {
        let source = SourceText::from_argument("-e", text);
        let rules = classad::syntax::ParseOptions::new(session.dialect());
        match classad::syntax::parse_expression(text.as_bytes(), rules) {
            Err(error) => self.add_problem(&source, &Problem::from_syntax(error, 0, 0)),
            Ok(expression) => {
                let name = task.protocol.attribute_names().next().cloned().unwrap_or_else(|| Name::new("Requirements"));
                let ad: Ad = [(name, expression)].into_iter().collect();
                let findings = task.new_state().checker.of_partial_ads().check(&ad);
                let new = self.register.register(&findings);
                self.register.count_ads(&findings, 1);
                let (text, dialect) = (text.as_bytes(), session.dialect());
                let writer = FixWriter { text, form: FileFormat::Bracketed, places: &[], dialect };
                for (ordinal, (number, finding)) in new.into_iter().enumerate() {
                    // An expression alone is not an ad: rules about whole ads do not apply.
                    if finding.rule.scope != RuleScope::Ad && (self.wanted)(finding.rule) {
                        let mark = |label: &FindingLabel| Some((label.span?.range(), label.text.clone()));
                        let marks = finding.labels.iter().filter_map(mark).collect();
                        let fix = self.fix_task.and(finding.fix.as_ref());
                        let fix = fix.and_then(|fix| writer.fix_of(fix, ad.get(&fix.attribute)?, 0));
                        let place = FindingPlace { marks, fix, ordinal, ..FindingPlace::default() };
                        self.findings.push(F::new(number, finding, &source, place));
                    }
                }
            }
        }
    }

    /// Turns a problem from the parser into a finding of the rule `syntax` or `ignored-text`, and adds the finding.
    pub fn add_problem(&mut self, text: &SourceText, problem: &Problem) {
        self.add_problem_of_rule(text, problem, "ignored-text");
    }

    /// Turns a problem into a finding, and adds it: an error into one of the rule `syntax`, a warning into one of the rule
    /// `warning_rule`.
    pub fn add_problem_of_rule(&mut self, text: &SourceText, problem: &Problem, warning_rule: &str) {
        let name = if problem.severity == Severity::Error { "syntax" } else { warning_rule };
        let Some(rule) = find_rule(name).filter(|rule| (self.wanted)(rule)) else { return };
        let mut marks = vec![(problem.range.clone(), String::new())];
        marks.extend(problem.related.clone());
        let number = self.register.register_external();
        let help = problem.help.clone().unwrap_or_default();
        let finding = LintFinding { rule, message: problem.message.clone(), help, labels: Vec::new(), fix: None };
        let fix = self.fix_task.and_then(|_| without_ignored_text(problem, &text.block.text));
        let place = FindingPlace { marks, fix, ad_number: problem.ad_number, ..FindingPlace::default() };
        self.count_in_text(rule, &text.name, problem.ad_number, None);
        self.findings.push(F::new(number, finding, text, place));
    }

    /// Counts an ad with a finding of the text, once for each rule. 0 is the number of no ad.
    fn count_in_text(&mut self, rule: &'static LintRule, file: &Arc<str>, ad_number: usize, owner: Option<String>) {
        let (last_file, last_ad, rules) = &mut self.last_of_text;
        if *last_ad != ad_number || last_file.as_ref().is_none_or(|last| !Arc::ptr_eq(last, file)) {
            (*last_file, *last_ad) = (Some(Arc::clone(file)), ad_number);
            rules.clear();
        }
        if ad_number > 0 && !rules.contains(&rule.name) {
            rules.push(rule.name);
            let mut count = AdCount::default();
            count.add_ad(owner, 0);
            self.rules.add(rule, &count, self.ads_checked);
        }
    }

    /// Adds the findings of an ad that no earlier ad has. Locates the attributes only if there are any, because
    /// locating is slow.
    fn add_ad(&mut self, session: &Session, text: &SourceText, entry: &AdEntry, findings: &AdFindings, is_twice: bool) {
        let new = self.register.register(findings);
        if new.is_empty() && !is_twice {
            return;
        }
        let places = text.block.attribute_spans(entry.offset, session.dialect());
        let id = display_name(&entry.ad, None, &session.context());
        let writer =
            FixWriter { text: &text.block.text, form: text.block.form, places: &places, dialect: session.dialect() };
        let mut findings = if is_twice { self.duplicates(&writer, session, &entry.ad) } else { Vec::new() };
        if let Some((_, repeated, ..)) = findings.first() {
            self.count_in_text(repeated.rule, &text.name, entry.number, owner_name(entry.ad.get_str("Owner")));
        }
        let mut fixes = AdFixes::default();
        for (number, finding) in new.into_iter().filter(|(_, finding)| (self.wanted)(finding.rule)) {
            let marks = label_marks(&finding.labels, &places, entry.offset);
            let task = self.fix_task.filter(|_| finding.fix.is_some());
            let content = self.register.content(number);
            let fix = task.zip(content).and_then(|(task, content)| fixes.fix(content, task, &entry.ad, &writer));
            findings.push((number, finding, marks, fix));
        }
        let mut rules: Vec<&str> = Vec::new();
        for (number, finding, marks, fix) in findings {
            let ordinal = rules.iter().filter(|rule| **rule == finding.rule.name).count();
            rules.push(finding.rule.name);
            let place = FindingPlace { marks, fix, ad_number: entry.number, id: id.clone(), ordinal };
            self.findings.push(F::new(number, finding, text, place));
        }
    }

    /// Returns a finding for each definition that repeats an earlier attribute of the ad. Each finding comes with its
    /// identifying number, the text ranges to mark, and its correction. If most attributes are repeated, most likely several
    /// ads are not separated: there is one finding for all.
    fn duplicates(
        &mut self,
        writer: &FixWriter<'_>,
        session: &Session,
        ad: &Ad,
    ) -> Vec<(usize, LintFinding, Vec<LabeledRange>, Option<TextFix>)> {
        let Some(rule) = find_rule("duplicate").filter(|rule| (self.wanted)(rule)) else { return Vec::new() };
        let definitions = RepeatedDefinitions::of(writer.places);
        let (repeated, is_joined) = (&definitions.pairs, definitions.is_joined());
        let mut findings = Vec::new();
        if !is_joined && RepeatedDefinitions::are_of_daemon(ad) {
            let names: Vec<String> = repeated.iter().map(|(_, place)| place.name.to_string()).collect();
            if !std::mem::replace(&mut self.has_noted_duplicates, true) && !names.is_empty() {
                let names = join_first(&names, names.len(), MAX_NAMED_DUPLICATES);
                session.note(&format!(
                    "HTCondor itself wrote attributes twice; the last value counts: {names} in the first such ad"
                ));
            }
            return findings;
        }
        for (before, place) in repeated.iter().take(if is_joined { 1 } else { usize::MAX }) {
            let message = if before.name.as_str() == place.name.as_str() {
                format!("{} is set again; only the last value counts", place.name)
            } else {
                format!("{} and {} are the same attribute; only the last value counts", before.name, place.name)
            };
            let (message, help) = if is_joined {
                let definitions = counted(repeated.len(), "definition");
                let message = format!("{definitions} set attributes of this ad again; only the last values count");
                (message, "if these are several ads, separate them; in the long form, by a blank line")
            } else {
                (message, rule.help)
            };
            let labels = vec![FindingLabel { attribute: place.name.clone(), span: None, text: String::new() }];
            let finding = LintFinding { rule, message, help: help.to_owned(), labels, fix: None };
            let first = (before.name_range.clone(), "this one has no effect".to_owned());
            let marks = vec![(place.name_range.clone(), String::new()), first];
            let fix = self.fix_task.filter(|_| !is_joined).and_then(|_| writer.removal(before));
            findings.push((self.register.register_external(), finding, marks, fix));
        }
        findings
    }
}

/// Maximum number of attributes that a note on repeated ones names.
const MAX_NAMED_DUPLICATES: usize = 5;

/// Returns the byte range to mark, and a text, for each label of a finding. A label with a span marks the span. A label
/// without a span marks the name of the label's attribute. If `places` lacks the attribute, the label marks the first
/// byte of the ad, at `offset`. A finding without labels marks this byte too, with an empty text.
fn label_marks(labels: &[FindingLabel], places: &[AttributeSpan], offset: usize) -> Vec<LabeledRange> {
    let mark = |label: &FindingLabel| {
        let place = places.iter().rev().find(|place| place.name == label.attribute);
        let range =
            place.map(|place| label.span.map_or_else(|| place.name_range.clone(), |span| place.file_range(span)));
        (range.unwrap_or(offset..offset + 1), label.text.clone())
    };
    let marks: Vec<LabeledRange> = labels.iter().map(mark).collect();
    if marks.is_empty() { vec![(offset..offset + 1, String::new())] } else { marks }
}
