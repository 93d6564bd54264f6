//! `classad check`: the linter for ads.

mod check_run;
mod checked_block;
mod configuration;
mod fixes;
mod github;
mod json;
mod located;
mod partial;
mod repeated_definitions;
mod rule_counts;
mod rule_table;
mod sarif;
#[cfg(test)]
mod tests;
mod text;

use std::sync::Arc;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use classad::lint::{LintLevel, LintRule, PolicyPool, PoolStatistics, RULES, find_rule};
use classad::protocol::Protocol;
use classad::text::{closest_names, did_you_mean};

use crate::cli::args::ad_files::AdFilesArgs;
use crate::cli::args::partial_result::PartialResultArgs;
use crate::cli::args::suggested_values::SuggestedValues;
use crate::cli::io::block_pipeline::for_each_block;
use crate::cli::io::configuration::LoadedConfiguration;
use crate::cli::io::input;
use crate::cli::io::partial::PartialSet;
use crate::cli::io::source::AdSource;
use crate::cli::outcome::{Failure, Status, refuse};
use crate::cli::render::output::{OutputForm, out};
use crate::cli::render::rows::{ResultTable, TableCell};
use crate::cli::session::Session;

use check_run::CheckRun;
use checked_block::{CheckTask, CheckedBlock};
use configuration::PolicyCheckTask;
use fixes::{FileFixer, FixArgs};
use located::{CheckReport, LocatedFinding};
use partial::{read_partials, write_partial};

const EXAMPLES: &str = "\
Examples:
  classad check samples/pool/jobs.long
  classad check --pool samples/pool/machines.long samples/pool/jobs.long
  classad check -o sarif --fail-level error samples/papers/thesis-figure-6-job.ad
  classad check -e 'OpSys == \"LINUX\" || \"OSX\"'
  classad check --config samples/routes/config.dump
  classad check --fix policy.ad
  classad check --fix --write=.bak policy.ad
  classad check --rules

Exit status: 2 if a file cannot be read or, without --lenient, a syntax error is reported; else 1 after a finding of the
--fail-level (default: warning) or worse; else 0. With --fix, the findings that remain after the fixes count.

--fix adds parentheses to `a || b && c` and names the other ad (`TARGET.Memory`) for an attribute that an ad lacks. It leaves
out definitions that a later one replaces, parts such as `1 == 1 &&`, and text after a value. Run twice, it changes nothing
more.

`classad help schema check` describes the output of -o json.";

/// Find probable mistakes: syntax errors, contradictions, wrong precedence, misspelt names
#[derive(Args)]
#[command(after_help = EXAMPLES, mut_arg("write", |arg| arg.requires("fix")))]
pub struct Check {
    #[command(flatten)]
    input: AdFilesArgs,
    /// Also report attributes, types and values that the ads ask for and no ad in these files has
    #[arg(long, value_name = "FILE", alias = "against")]
    pool: Vec<String>,
    /// Check this expression instead of ads in files
    #[arg(short, long, value_name = "EXPR", allow_hyphen_values = true, conflicts_with_all = ["files", "files_from", "partial"])]
    expr: Option<String>,
    /// Check the policies of a configuration, such as START, transforms and routes. CONFIG is a file or a
    /// folder of it, several with commas between them, or the output of `condor_config_val -dump`. Names of settings that these policies do not use are not checked
    #[arg(long, value_name = "CONFIG", conflicts_with = "partial")]
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
    /// Show each finding, and list all rules in the table. Otherwise findings that differ in numbers and strings only are
    /// one. In a long table, a line counts the rules with one or two ads
    #[arg(long)]
    list_all: bool,
    /// Attribute that holds the constraint of an ad [default: Requirements or Constraint]
    #[arg(long, value_name = "NAME")]
    constraint_attr: Option<String>,
    /// Attribute that holds the rank of an ad [default: Rank]
    #[arg(long, value_name = "NAME")]
    rank_attr: Option<String>,
    #[command(flatten)]
    fixes: FixArgs,
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
        let paths = if reads_files { self.input.paths()? } else { Vec::new() };
        let fixer = self.fixer(&paths)?;
        session.use_submit_config(self.config.first());
        let mut sources = if reads_files { input::open_sources(session, &paths)? } else { Vec::new() };
        let mut pools = if self.pool.is_empty() { Vec::new() } else { input::open_sources(session, &self.pool)? };
        let configurations = self.config.iter().map(|path| LoadedConfiguration::load(session, path));
        let configurations: Vec<LoadedConfiguration> = configurations.collect::<Result<_, _>>()?;
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
            let for_policies = (!configurations.is_empty()).then_some(&mut policy_pool);
            task.pool = Some(Arc::new(read_pool(session, &mut pools, for_policies)?));
        }
        if !configurations.is_empty() {
            configuration::read_again(session, &sources, &mut policy_pool);
            let (protocol, context) = (task.protocol.clone(), task.context.clone());
            let of_policies = PolicyCheckTask { protocol, context, pool: policy_pool };
            for loaded in &configurations {
                configuration::check(&mut run, session, loaded, &of_policies);
            }
            let checks_names = find_rule("unknown-attribute").is_some_and(wanted);
            if of_policies.pool.is_empty() && run.policies_checked > Some(0) && checks_names {
                note_unchecked_names(session, !sources.is_empty() || !self.pool.is_empty());
            }
        }
        run.fix_task = matches!(self.output, ReportForm::Json | ReportForm::Sarif).then_some(&task);
        if let Some(expression) = &self.expr {
            run.check_expression(session, expression, &task);
        }
        if self.partial.is_given() {
            return write_partial(session, &mut sources, [&self.input.files, &self.pool], &task, &wanted);
        }
        if let Some(fixer) = &fixer {
            fixer.run(session, &mut sources, &task, &wanted)?;
        }
        for_each_block(session, &mut sources, &task, &mut |session, source, text, checked: CheckedBlock| {
            run.add_block(session, source, text, checked);
            Ok(true)
        })?;
        self.print(session, run, fixer.is_none_or(|fixer| !fixer.prints_diffs()))
    }

    /// Returns what fixes the files, if that is asked for.
    fn fixer(&self, paths: &[String]) -> Result<Option<FileFixer>, Failure> {
        let fixer = self.fixes.prepare(paths)?;
        if fixer.as_ref().is_some_and(FileFixer::prints_diffs) && self.output != ReportForm::Text {
            return refuse("--fix prints a diff; with --write, -o FORM prints the findings that remain");
        }
        Ok(fixer)
    }

    /// Prints what one run over all files of the partial results prints.
    pub fn merge(&self, session: &mut Session, partials: &PartialSet) -> Result<Status, Failure> {
        let mut run = CheckRun::new(&|_| true);
        read_partials(session, partials, &mut run)?;
        self.print(session, run, true)
    }

    /// Returns the files that partial results are of.
    pub fn input_of_partials(&self) -> AdFilesArgs {
        self.input.clone()
    }

    /// Prints the findings of a run, if they are `shown`.
    fn print(&self, session: &mut Session, run: CheckRun<'_, LocatedFinding>, shown: bool) -> Result<Status, Failure> {
        let CheckRun { register, findings, rules, ads_checked, policies_checked, .. } = run;
        let mut report =
            CheckReport { findings, rules, has_expression: self.expr.is_some(), ads_checked, policies_checked };
        report.count_and_sort(|number| register.count(number));
        let unreadable = report.findings.iter().any(|found| found.finding.rule.name == "syntax");
        let fails = report.findings.iter().any(|found| found.finding.rule.level >= self.fail_level);
        let mut out = out();
        match self.output {
            _ if session.options.quiet || !shown => {}
            ReportForm::Text => text::write(&mut out, session, &report, self.list_all)?,
            ReportForm::Json => json::write(&mut out, &report)?,
            ReportForm::Sarif => sarif::write(&mut out, &report)?,
            ReportForm::Github => github::write(&mut out, &report, self.list_all)?,
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

/// Reads the ads of `--pool`. `for_policies` gets them, too, if policies are checked.
fn read_pool(
    session: &mut Session,
    sources: &mut [AdSource],
    mut for_policies: Option<&mut PolicyPool>,
) -> Result<PoolStatistics, Failure> {
    let mut pool = PoolStatistics::default();
    input::for_each_ad(session, sources, |_, _, entry| {
        pool.add(&entry.ad);
        if let Some(policies) = &mut for_policies {
            policies.add(&entry.ad);
        }
        Ok(true)
    })?;
    if pool.ads() == 0 { refuse("the files of --pool contain no ads") } else { Ok(pool) }
}

/// Notes that no ad tells which names policies may read.
fn note_unchecked_names(session: &Session, has_ads: bool) {
    session.note(if has_ads {
        "names in policies are not checked: MyType is Job or Machine in no ad"
    } else {
        "names in policies are checked only with ads: give files of jobs and of slots, too"
    });
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
