//! `classad test`: unit tests of policies.

mod json;
mod junit;
mod report;
mod spec_files;
mod tap;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use classad::format::document_tree::YamlTree;
use classad::format::{FileFormat, Problem};
use classad::policy_test::{Spec, update_expectations};
use classad::text::{closest_names, suggestion};

use crate::cli::io::atomic_write::{self, FileRevision};
use crate::cli::io::source_text::SourceText;
use crate::cli::io::whole_file::read_whole;
use crate::cli::outcome::{Failure, Status, io_reason, refuse};
use crate::cli::render::output::out;
use crate::cli::session::Session;
use report::{CaseResult, CaseStatus, SpecResult, TestReport};

const EXAMPLES: &str = "\
Examples:
  classad test samples/policies --files-below samples
  classad test samples/policies/start.yaml --files-below samples --tag owner
  classad test samples/policies --files-below samples --filter licence -o tap
  classad test samples/policies --files-below samples -o junit
  classad test samples/policies --files-below samples --list

A spec:
  ads:
    # an ad of a file in or below the folder of the spec
    machine: { file: pool/machines.long, id: slot1@node01.example.org }
    # a changed copy
    busy: { like: machine, with: { LoadAvg: 0.9, START: !expr LoadAvg < 0.3 } }
    # attributes; write !expr before an expression
    job:
      RequestMemory: 2048
      Requirements: !expr TARGET.Memory >= RequestMemory
  cases:
    - name: a busy machine starts no job
      my: busy
      target: job
      expression: START
      expect: false

What a case evaluates, the ads that it names, and the results that it can expect:
  expression: EXPR    my, target         expect: VALUE, undefined or error
  knob: NAME          my, target         expect: VALUE, undefined or error
  match               request, offer     match: true or false;
                                         refused-by: request, offer or both;
                                         clause: EXPR
  query: EXPR         pool               ids: [ID, ...]; count: N
  gang                request, offers    gang: [MEMBER, ...]; or
                                         gang: {PORT: OFFER, ...}; or gang: none
  matches             requests, offers   matches: {REQUEST: OFFER, ...};
                                         OFFER can be none
  specialize: EXPR    my, target         residue: EXPR;
                                         verdict: always, never or depends

`knob` names a variable of the configuration. `config: FILE` at the top of the spec names its file, the output of
`condor_config_val -dump`. `clause` is an unmet clause in the constraint of the ad that refuses.

A case can also have tags, dialect, now, seed, max-steps, max-depth and max-value-bytes. The limits cannot exceed those
of the run, which options such as --max-steps set. Cases with gang or matches can have a policy: the name of a file, or
the keys of a policy.
At the top of the spec, these keys, except tags, apply to all cases. With specialize, `closed: true` means that the ads
have no other attributes than those in the spec.

Write an ad in one of these ways; a sequence is a list of ads:
  { NAME: VALUE, ... }       attributes
  text                       an ad in any format
  NAME                       one of `ads`
  { file: FILE, id: ID }     an ad from a file
  { like: NAME }             a copy of one of `ads`
Beside `file` or `like`, `with` sets attributes, `without` removes attributes, and `transform` applies HTCondor's
transform rules, from a file or a text of several lines.

A path begins at the folder of the spec. The files that a spec names must be in or below that folder, or in or below the
folder of --files-below. Symbolic links are followed first.

Write values as in YAML ads: !expr goes before an expression, and quotes around an expression that has `: `. The
expected and the actual value must be identical: 2 is not 2.0, and the case of strings matters.

In folders and below them, each *.yaml and *.yml file with a line that begins with `cases:` is a spec. Names that begin
with a dot are skipped. --list also checks whether a spec is well-formed.

Exit status: 2 if a spec is missing or broken, or a case cannot be run; else 3 if a limit was exceeded; else 1 if a
case failed or no case is selected; else 0.";

/// Run unit tests of ads and policies, written in YAML
#[derive(Args)]
#[command(name = "test", after_help = EXAMPLES)]
pub struct TestCommand {
    /// Specs, or folders with specs; without SPEC, read standard input
    #[arg(value_name = "SPEC")]
    specs: Vec<String>,
    /// Format of the output
    #[arg(short, long, value_name = "FORM", default_value = "text", hide_default_value = true)]
    output: TestForm,
    /// Rewrite the specs: replace each wrong expected result by the actual result
    #[arg(long, conflicts_with = "list")]
    update: bool,
    /// Let specs read files in and below this folder, too. Each spec may read those in and below its own
    #[arg(long, value_name = "DIR")]
    files_below: Vec<PathBuf>,
    /// Run only cases with this tag; if repeated, with any of the tags
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Run only cases with this text in their names, ignoring case
    #[arg(long, value_name = "NAME")]
    filter: Option<String>,
    /// Print the selected cases with their tags, and run nothing
    #[arg(long)]
    list: bool,
}

/// A form of the test results, for `--output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TestForm {
    /// A summary, and details of each failed case
    Text,
    /// `JUnit` XML, for build servers
    Junit,
    /// The Test Anything Protocol, version 14
    Tap,
    /// A JSON document, "schema": "classad.test/1"
    Json,
}

impl TestCommand {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        if self.list && matches!(self.output, TestForm::Junit | TestForm::Tap) {
            return refuse("--list can be printed as text or json");
        }
        if self.update && (self.specs.is_empty() || self.specs.iter().any(|spec| spec == "-")) {
            return refuse("--update rewrites specs: name them");
        }
        let mut report = TestReport::default();
        for path in spec_files::find_specs(session, &self.specs)? {
            self.run_spec(session, &path, &mut report)?;
        }
        self.report_unknown_tags(session, &report);
        let mut out = out();
        match self.output {
            TestForm::Text if self.list => text::list(&mut out, &report)?,
            TestForm::Text => text::write(&mut out, session, &report)?,
            TestForm::Junit => junit::write(&mut out, &report)?,
            TestForm::Tap => tap::write(&mut out, &report)?,
            TestForm::Json => json::write(&mut out, &report)?,
        }
        let are_good = report.outcomes().all(|outcome| outcome.status.is_good());
        Ok(Status::of(are_good && report.outcomes().next().is_some()))
    }

    /// Whether `--filter` and `--tag` select a case.
    fn selects(&self, name: &str, tags: &[String]) -> bool {
        let filter = self.filter.as_ref().map(|filter| filter.to_lowercase());
        filter.is_none_or(|filter| name.to_lowercase().contains(&filter))
            && (self.tag.is_empty() || self.tag.iter().any(|tag| tags.contains(tag)))
    }

    /// Runs the cases of a spec and adds their results to the report.
    fn run_spec(&self, session: &mut Session, path: &Path, report: &mut TestReport) -> Result<(), Failure> {
        let is_stdin = path.as_os_str() == "-";
        let name = if is_stdin { "standard input".to_owned() } else { path.to_string_lossy().into_owned() };
        if self.update {
            atomic_write::refuse_special(path)?;
        }
        let revision = FileRevision::of(path);
        let bytes = match if is_stdin { read_whole("-") } else { std::fs::read(path) } {
            Ok(bytes) => bytes,
            Err(error) => {
                let reason = format!("cannot read {name}: {}", io_reason(&error));
                session.error(&reason);
                report.files.push(SpecResult { name, problems: vec![(None, reason)], ..SpecResult::default() });
                return Ok(());
            }
        };
        let text = SourceText::from_file(&name, bytes, FileFormat::Yaml);
        let mut run = match self.run_cases(session, path, &text) {
            Ok(run) => run,
            Err(problems) => {
                Self::report_malformed(session, &text, &problems);
                let located = |problem: Problem| (Some(text.position(problem.range.start)), problem.message);
                let problems = problems.into_iter().map(located).collect();
                report.files.push(SpecResult { name, problems, ..SpecResult::default() });
                return Ok(());
            }
        };
        if let Some(updated) = run.updated.take()
            && let Some(after) =
                self.rewrite(session, (path, &revision), &SourceText::from_file(&name, updated, FileFormat::Yaml))?
        {
            report.updated += run.unmet;
            run = after;
        }
        for CaseResult { name: case, status, message, .. } in &run.outcomes {
            let message = message.as_deref().unwrap_or_default();
            match status {
                CaseStatus::Unusable => session.error(&format!("{name}: {case}: {message}")),
                CaseStatus::OverBudget => session.report_exceeded_budget(&format!("{name}: {case}: {message}")),
                CaseStatus::Passed | CaseStatus::Failed | CaseStatus::Listed => {}
            }
        }
        report.tags.append(&mut run.tags);
        report.files.push(SpecResult { name, text: Some(text), outcomes: run.outcomes, problems: Vec::new() });
        Ok(())
    }

    /// Reads a spec and runs the selected cases.
    ///
    /// # Errors
    ///
    /// Returns the problems of a malformed spec.
    fn run_cases(&self, session: &Session, path: &Path, text: &SourceText) -> Result<SpecRun, Vec<Problem>> {
        // These settings apply where a spec does not set its own.
        let mut settings = session.options.evaluation_settings();
        (settings.user_maps, settings.run_budgets) = (session.context().user_maps, session.context().run_budgets);
        settings.now = settings.now.or(session.context().now);
        let outline = YamlTree::parse(&text.block.text).map_err(|problem| vec![problem])?;
        // The files that a spec names are looked for beside the spec.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut open = |path: &str| spec_files::open_of_spec(folder, path, &self.files_below);
        let spec = Spec::read(&outline, &settings, &mut open)?;
        let is_placed = self.list || matches!(self.output, TestForm::Json | TestForm::Junit);
        let (mut outcomes, mut mismatches) = (Vec::new(), Vec::new());
        for case in spec.cases.iter().filter(|case| self.selects(&case.name, &case.tags)) {
            let result = (!self.list).then(|| case.run());
            mismatches.extend(result.iter().flatten().flatten().cloned());
            outcomes.push(CaseResult::of(case, &outline, text, result, is_placed));
        }
        Ok(SpecRun {
            outcomes,
            tags: spec.cases.iter().flat_map(|case| case.tags.iter().cloned()).collect(),
            unmet: mismatches.len(),
            updated: (self.update && !mismatches.is_empty())
                .then(|| update_expectations(&text.block.text, &outline, &mismatches)),
        })
    }

    /// Replaces the file of a spec by `new`, which has the expectations that `--update` rewrote. Returns the results of
    /// `new`. Returns `None` and leaves the file as it is if a case of `new` fails.
    fn rewrite(
        &self,
        session: &mut Session,
        (path, revision): (&Path, &FileRevision),
        new: &SourceText,
    ) -> Result<Option<SpecRun>, Failure> {
        // Run the new spec before it replaces the file.
        let refusal = match self.run_cases(session, path, new) {
            Ok(after) => match after.outcomes.iter().find(|outcome| outcome.status == CaseStatus::Failed) {
                None => {
                    let replaced = atomic_write::replace(path, &new.block.text, "", revision);
                    let other_names = replaced.map_err(|error| Failure::unwritable(&new.name, &error))?;
                    atomic_write::warn_of_other_names(session, &new.name, other_names);
                    return Ok(Some(after));
                }
                Some(failing) => {
                    format!("the result of `{}` differs between runs, or cannot be an expected value", failing.name)
                }
            },
            Err(problems) => {
                Self::report_malformed(session, new, &problems);
                "the rewritten file would not be a spec".to_owned()
            }
        };
        session.error(&format!("{} is left as it is: {refusal}", new.name));
        Ok(None)
    }

    /// Reports the problems of a malformed spec.
    fn report_malformed(session: &mut Session, text: &SourceText, problems: &[Problem]) {
        session.print_setting_problems(text, problems);
        session.error(&format!("{} is broken: none of its cases is run", text.name));
    }

    /// Notes each tag of `--tag` that no case has, and suggests similar tags.
    fn report_unknown_tags(&self, session: &Session, report: &TestReport) {
        let known: Vec<&str> = report.tags.iter().map(String::as_str).collect();
        for tag in self.tag.iter().filter(|tag| !known.contains(&tag.as_str())) {
            let near = closest_names(tag, known.iter().copied());
            let hint = suggestion(&near);
            session.note(&format!("no case has the tag {tag}{hint}"));
        }
    }
}

/// The results of the selected cases of a spec.
struct SpecRun {
    outcomes: Vec<CaseResult>,
    /// Tags of all cases, selected or not.
    tags: BTreeSet<String>,
    /// Number of unmet expectations.
    unmet: usize,
    /// Text of the spec with each unmet expectation replaced by the actual value. `None` without `--update`, or if all
    /// expectations are met.
    updated: Option<Vec<u8>>,
}
