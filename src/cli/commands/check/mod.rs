//! `classad check`: the linter for ads.

mod checked_block;
mod configuration;
mod github;
mod json;
mod located;
mod partial;
mod sarif;
mod text;

use std::collections::HashMap;
use std::sync::Arc;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use classad::ad::{Ad, Name};
use classad::format::{AdEntry, AttributeSpan, Problem, Severity, attribute_spans};
use classad::lint::{
    AdFindings, FindingLabel, FindingRegister, LintFinding, LintLevel, LintRule, PolicyPool, PoolStatistics, RULES,
    RuleScope, find_rule,
};
use classad::protocol::{Protocol, display_name};
use classad::text::{closest_names, counted, did_you_mean, join_first};

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::args::partial_result::PartialResultArgs;
use crate::cli::args::suggested_values::SuggestedValues;
use crate::cli::io::block_pipeline::{BlockTask, for_each_block};
use crate::cli::io::configuration::LoadedConfiguration;
use crate::cli::io::input;
use crate::cli::io::partial::PartialSet;
use crate::cli::io::source::{AdSource, SourceText};
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::rows::{ResultTable, TableCell};
use crate::cli::session::Session;

use checked_block::{CheckEvent, CheckTask, CheckedBlock};
use configuration::PolicyCheckTask;
use located::{CheckReport, LabeledRange, LocatedFinding};
use partial::{read_partials, write_partial};

const EXAMPLES: &str = "\
Examples:
  classad check samples/pool/jobs.long
  classad check --pool samples/pool/machines.long samples/pool/jobs.long
  classad check -o sarif --fail-level error samples/papers/thesis-figure-6-job.ad
  classad check -e 'OpSys == \"LINUX\" || \"OSX\"'
  classad check --config samples/routes/config.dump
  classad check --rules

Exit status: 2 if a file cannot be read or, without --lenient, a syntax error is reported; else 1 after a finding of the
--fail-level (default: warning) or worse; else 0.

`classad help schema check` describes the output of -o json.";

/// Find probable mistakes: syntax errors, contradictions, wrong precedence, misspelt names
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Check {
    #[command(flatten)]
    input: AdFilesArgs,
    /// Also report attributes, types and values that the ads ask for and no ad in these files has
    #[arg(long, value_name = "FILE", alias = "against")]
    pool: Vec<String>,
    /// Check this expression instead of ads in files
    #[arg(short, long, value_name = "EXPR", allow_hyphen_values = true, conflicts_with_all = ["files", "files_from", "partial"])]
    expr: Option<String>,
    /// Check the policies of a configuration, such as START, transforms and routes. DUMP is a file with the output of
    /// `condor_config_val -dump`. Names of settings that these policies do not use are not checked
    #[arg(long, value_name = "DUMP", conflicts_with = "partial")]
    config: Vec<String>,
    /// Apply only these rules; --rules lists all rules
    #[arg(long, value_name = "RULE,...", value_delimiter = ',')]
    #[arg(value_parser = SuggestedValues(rule_values), hide_possible_values = true)]
    only: Vec<String>,
    /// Do not apply these rules
    #[arg(long, value_name = "RULE,...", value_delimiter = ',')]
    #[arg(value_parser = SuggestedValues(rule_values), hide_possible_values = true)]
    allow: Vec<String>,
    /// Exit with 1 if a finding of this level or worse is reported
    #[arg(long, value_name = "LEVEL", default_value = "warning", value_parser = level())]
    fail_level: LintLevel,
    /// Report only findings of this level or worse
    #[arg(long, value_name = "LEVEL", default_value = "note", value_parser = level())]
    level: LintLevel,
    /// List the rules
    #[arg(long, conflicts_with = "partial")]
    rules: bool,
    /// Attribute that holds the constraint of an ad [default: Requirements or Constraint]
    #[arg(long, value_name = "NAME")]
    constraint_attr: Option<String>,
    /// Attribute that holds the rank of an ad [default: Rank]
    #[arg(long, value_name = "NAME")]
    rank_attr: Option<String>,
    #[command(flatten)]
    partial: PartialResultArgs,
    /// Format of the output
    #[arg(short, long, value_name = "FORM", default_value = "text")]
    output: ReportForm,
}

/// A form of the report, for `--output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReportForm {
    /// Messages with the source lines, for people
    Text,
    /// One JSON document
    Json,
    /// SARIF 2.1.0, for code review
    Sarif,
    /// Commands that show the findings as annotations in GitHub Actions
    Github,
}

/// Returns the parser of a lint level: `note`, `warning` or `error`.
fn level() -> impl TypedValueParser<Value = LintLevel> {
    let levels = [LintLevel::Note, LintLevel::Warning, LintLevel::Error];
    let parser = PossibleValuesParser::new(levels.map(LintLevel::as_str));
    parser.map(move |name| levels.into_iter().find(|level| level.as_str() == name).unwrap_or(LintLevel::Note))
}

impl Check {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let (only, allow) = (rule_names(&self.only)?, rule_names(&self.allow)?);
        if self.rules {
            return self.print_rules();
        }
        session.partial_host = self.partial.host().map(str::to_owned);
        let reads_files = self.expr.is_none() && (self.config.is_empty() || !self.input.is_empty());
        let mut sources = if reads_files { input::open_sources(session, &self.input.paths()?)? } else { Vec::new() };
        let mut pools = if self.pool.is_empty() { Vec::new() } else { input::open_sources(session, &self.pool)? };
        let mut configurations = Vec::new();
        for path in &self.config {
            configurations.push(LoadedConfiguration::read(session, path)?);
        }
        let forms = sources.iter().chain(&pools).map(|source| (source.name.as_ref(), source.form));
        let dumps = configurations.iter().map(|loaded| (loaded.text.name.as_ref(), loaded.text.block.form));
        session.decide_dialect_by_forms(forms.chain(dumps));
        input::decide_time(session, sources.iter().chain(&pools));
        let wanted = |rule: &LintRule| {
            rule.level >= self.level && (only.is_empty() || only.contains(&rule.name)) && !allow.contains(&rule.name)
        };
        let protocol = Protocol::new(session.dialect())
            .with_attributes(self.constraint_attr.as_deref(), self.rank_attr.as_deref());
        let mut task = CheckTask { protocol, context: session.context(), pool: None };
        let mut run = CheckRun::new(&wanted);
        let mut policy_pool = PolicyPool::default();
        if !self.pool.is_empty() {
            let mut pool = PoolStatistics::default();
            input::for_each_ad(session, &mut pools, |_, _, entry| {
                pool.add(&entry.ad);
                if !configurations.is_empty() {
                    policy_pool.add(&entry.ad);
                }
                Ok(true)
            })?;
            if pool.ads() == 0 {
                return refuse("the files of --pool contain no ads");
            }
            task.pool = Some(Arc::new(pool));
        }
        if !configurations.is_empty() {
            configuration::read_again(session, &sources, &mut policy_pool);
            let (protocol, context) = (task.protocol.clone(), task.context.clone());
            let of_policies = PolicyCheckTask { protocol, context, pool: policy_pool };
            for loaded in &configurations {
                configuration::check(&mut run, session, loaded, &of_policies);
            }
            let checks_names = find_rule("unknown-attribute").is_some_and(wanted);
            let has_policies = run.policies_checked > Some(0);
            if of_policies.pool.is_empty() && has_policies && checks_names {
                session.note(if sources.is_empty() && self.pool.is_empty() {
                    "names in policies are checked only with ads: give files of jobs and of slots, too"
                } else {
                    "names in policies are not checked: MyType is Job or Machine in no ad"
                });
            }
        }
        if let Some(expression) = &self.expr {
            run.check_expression(session, expression, &task);
        }
        if self.partial.is_given() {
            return write_partial(session, &mut sources, [&self.input.files, &self.pool], &task, &wanted);
        }
        for_each_block(session, &mut sources, &task, &mut |session, source, text, checked: CheckedBlock| {
            run.add_block(session, source, text, checked);
            Ok(true)
        })?;
        self.print(session, run)
    }

    /// Prints what one run over all files of the partial results prints.
    pub fn merge(&self, session: &mut Session, partials: &PartialSet) -> Result<Status, Failure> {
        let mut run = CheckRun::new(&|_| true);
        read_partials(session, partials, &mut run)?;
        self.print(session, run)
    }

    /// Returns the files that partial results are of.
    pub fn input_of_partials(&self) -> AdFilesArgs {
        self.input.clone()
    }

    /// Prints the findings of a run.
    fn print(&self, session: &mut Session, run: CheckRun<'_, LocatedFinding>) -> Result<Status, Failure> {
        let CheckRun { register, findings, ads_checked, policies_checked, .. } = run;
        let mut report = CheckReport { findings, has_expression: self.expr.is_some(), ads_checked, policies_checked };
        report.count_and_sort(|number| register.count(number));
        let unreadable = report.findings.iter().any(|found| found.finding.rule.name == "syntax");
        let fails = report.findings.iter().any(|found| found.finding.rule.level >= self.fail_level);
        let mut out = out();
        match self.output {
            _ if session.options.quiet => {}
            ReportForm::Text => text::write(&mut out, session, report)?,
            ReportForm::Json => json::write(&mut out, &report)?,
            ReportForm::Sarif => sarif::write(&mut out, &report)?,
            ReportForm::Github => github::write(&mut out, &report)?,
        }
        Ok(if unreadable && !session.options.lenient { Status::Trouble } else { Status::of(!fails) })
    }

    /// Prints each lint rule: name, level, what it finds, a bad and a good example.
    fn print_rules(&self) -> Result<Status, Failure> {
        let cells =
            |rule: &LintRule| [rule.name, rule.level.as_str(), rule.doc, rule.bad, rule.good].map(TableCell::from);
        let rows = RULES.iter().map(|rule| cells(rule).into());
        let form = (self.output == ReportForm::Json).then_some(OutputForm::Json);
        ResultTable::with_rows(&["rule", "level", "finds", "bad", "good"], rows).write(&mut out(), form, true)?;
        Ok(Status::Yes)
    }
}

/// Returns the names of all rules, each with its description.
fn rule_values() -> Vec<PossibleValue> {
    RULES.iter().map(|rule| PossibleValue::new(rule.name).help(rule.doc)).collect()
}

/// Returns the names of rules as [`RULES`] spells them; `names` may differ in case.
///
/// # Errors
///
/// Fails if no rule has one of the names. The message suggests similar names.
fn rule_names(names: &[String]) -> Result<Vec<&'static str>, Failure> {
    let rule = |name: &String| {
        find_rule(name).map(|rule| rule.name).ok_or_else(|| {
            let near = closest_names(name, RULES.iter().map(|rule| rule.name));
            let hint = did_you_mean(&near).unwrap_or_else(|| "see --rules".to_owned());
            Failure::refused(format!("there is no rule {name}; {hint}"))
        })
    };
    names.iter().map(rule).collect()
}

/// A run of `check`: the findings so far, each as an `F`.
struct CheckRun<'w, F> {
    register: FindingRegister,
    findings: Vec<F>,
    /// Number of ads checked.
    ads_checked: usize,
    /// Number of policies of configurations checked; `None` without a configuration.
    policies_checked: Option<usize>,
    /// Whether a note was printed on attributes that HTCondor wrote twice.
    has_noted_duplicates: bool,
    /// Whether `--only`, `--allow` and `--level` let findings of a rule be reported.
    wanted: &'w dyn Fn(&LintRule) -> bool,
}

/// What is kept of a finding.
trait KeptFinding {
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

impl<'w, F: KeptFinding> CheckRun<'w, F> {
    fn new(wanted: &'w dyn Fn(&LintRule) -> bool) -> Self {
        CheckRun {
            register: FindingRegister::default(),
            findings: Vec::new(),
            ads_checked: 0,
            policies_checked: None,
            has_noted_duplicates: false,
            wanted,
        }
    }

    /// Adds the findings of a block of a source. Text that does not parse becomes a finding too.
    fn add_block(&mut self, session: &Session, source: &mut AdSource, text: &SourceText, checked: CheckedBlock) {
        for event in checked.events {
            match event {
                CheckEvent::Problem(problem) => self.add_problem(text, &problem.after_ads(source.ads_read)),
                CheckEvent::Ad { entry, findings, is_twice } => {
                    let entry = AdEntry { number: entry.number + source.ads_read, ..entry };
                    self.add_ad(session, text, &entry, &findings, is_twice);
                }
            }
        }
        for (findings, ads) in checked.counts {
            self.register.count_ads(&findings, ads);
        }
        self.ads_checked += checked.ads;
        source.ads_read += checked.last;
    }

    /// Checks an expression of the command line as the constraint of an ad that has no other attribute.
    fn check_expression(&mut self, session: &Session, text: &str, task: &CheckTask) {
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
                for (number, finding) in new {
                    // An expression alone is not an ad: rules about whole ads do not apply.
                    if finding.rule.scope != RuleScope::Ad && (self.wanted)(finding.rule) {
                        let mark = |label: &FindingLabel| Some((label.span?.range(), label.text.clone()));
                        let marks = finding.labels.iter().filter_map(mark).collect();
                        self.findings.push(F::new(number, finding, &source, marks, (0, None)));
                    }
                }
            }
        }
    }

    /// Turns a problem from the parser into a finding of the rule `syntax` or `ignored-text`, and adds the finding.
    fn add_problem(&mut self, text: &SourceText, problem: &Problem) {
        self.add_problem_of_rule(text, problem, "ignored-text");
    }

    /// Turns a problem into a finding, and adds it: an error into one of the rule `syntax`, a warning into one of the rule
    /// `warning_rule`.
    fn add_problem_of_rule(&mut self, text: &SourceText, problem: &Problem, warning_rule: &str) {
        let name = if problem.severity == Severity::Error { "syntax" } else { warning_rule };
        let Some(rule) = find_rule(name).filter(|rule| (self.wanted)(rule)) else { return };
        let mut marks = vec![(problem.range.clone(), String::new())];
        marks.extend(problem.related.clone());
        let number = self.register.register_external();
        let help = problem.help.clone().unwrap_or_default();
        let finding = LintFinding { rule, message: problem.message.clone(), help, labels: Vec::new() };
        self.findings.push(F::new(number, finding, text, marks, (problem.ad_number, None)));
    }

    /// Adds the findings of an ad that no earlier ad has. Locates the attributes only if there are any, because
    /// locating is slow.
    fn add_ad(&mut self, session: &Session, text: &SourceText, entry: &AdEntry, findings: &AdFindings, is_twice: bool) {
        let new = self.register.register(findings);
        if new.is_empty() && !is_twice {
            return;
        }
        let places = attribute_spans(&text.block.text, text.block.form, entry.offset, session.dialect());
        let id = display_name(&entry.ad, None, &session.context());
        let mut findings = if is_twice { self.duplicates(&places, session, &entry.ad) } else { Vec::new() };
        for (number, finding) in new.into_iter().filter(|(_, finding)| (self.wanted)(finding.rule)) {
            let marks = label_marks(&finding.labels, &places, entry.offset);
            findings.push((number, finding, marks));
        }
        let kept = findings.into_iter();
        self.findings.extend(
            kept.map(|(number, finding, marks)| F::new(number, finding, text, marks, (entry.number, id.clone()))),
        );
    }

    /// Returns a finding for each definition that repeats an earlier attribute of the ad. Each finding comes with its
    /// identifying number and the text ranges to mark. If most attributes are repeated, most likely several ads are not
    /// separated: there is one finding for all.
    fn duplicates(
        &mut self,
        places: &[AttributeSpan],
        session: &Session,
        ad: &Ad,
    ) -> Vec<(usize, LintFinding, Vec<LabeledRange>)> {
        let Some(rule) = find_rule("duplicate").filter(|rule| (self.wanted)(rule)) else { return Vec::new() };
        let mut last: HashMap<&Name, &AttributeSpan> = HashMap::new();
        let mut repeated: Vec<(&AttributeSpan, &AttributeSpan)> = Vec::new();
        for place in places {
            repeated.extend(last.insert(&place.name, place).map(|before| (before, place)));
        }
        let is_joined = repeated.len() >= MIN_REPEATED_OF_JOINED && repeated.len() >= last.len();
        let mut findings = Vec::new();
        if !is_joined && IDENTITIES.iter().any(|name| ad.get_str(name).is_some()) {
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
            let finding = LintFinding { rule, message, help: help.to_owned(), labels };
            let first = (before.name_range.clone(), "this one has no effect".to_owned());
            let marks = vec![(place.name_range.clone(), String::new()), first];
            findings.push((self.register.register_external(), finding, marks));
        }
        findings
    }
}

/// The attributes that tell that a daemon of HTCondor wrote an ad: the global identity of a job, the address of a slot.
const IDENTITIES: [&str; 2] = ["GlobalJobId", "MyAddress"];

/// Maximum number of attributes that a note on repeated ones names.
const MAX_NAMED_DUPLICATES: usize = 5;

/// Minimum number of repeated attributes of an ad that most likely is several ads.
const MIN_REPEATED_OF_JOINED: usize = 10;

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
