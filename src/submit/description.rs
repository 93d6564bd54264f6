//! The statements of a submit file, executed one after the other.

use std::ops::Range;

use crate::ad::AbsoluteTime;
use crate::format::{DescribedAds, Problem};
use crate::transform::{
    LogicalLine, LogicalLines, MAX_INCLUDE_DEPTH, MAX_INCLUDED_BYTES, MacroScope, MacroStatement, TextBranches,
    VariableTable, is_include_optional, is_variable,
};

use super::SubmitSettings;
use super::items::{MatchingOptions, read_named_file};
use super::jobs::JobMaker;
use super::queue::{ItemSource, QueueArguments, queue_arguments_start};
use super::variables::{CommandPlace, SubmitVariables};

/// Metaknobs of submit files: category, name and lines.
const METAKNOBS: [(&str, &str, &str); 3] = [
    (
        "STRICT",
        "FALSE",
        "SubmitWarnEmptyMatches=false\nSubmitFailEmptyMatches=false\nSubmitWarnDuplicateMatches=false\n\
         SubmitFailEmptyFields=false\nSubmitWarnEmptyFields=false",
    ),
    (
        "STRICT",
        "TRUE",
        "SubmitWarnEmptyMatches=true\nSubmitFailEmptyMatches=true\nSubmitWarnDuplicateMatches=true\n\
         SubmitFailEmptyFields=false\nSubmitWarnEmptyFields=true",
    ),
    (
        "STRICT",
        "HARSH",
        "SubmitWarnEmptyMatches=true\nSubmitFailEmptyMatches=true\nSubmitWarnDuplicateMatches=true\n\
         SubmitFailEmptyFields=true\nSubmitWarnEmptyFields=true",
    ),
];

/// Beginning of the message of a problem in an included file.
const IN_INCLUDED: &str = "in line ";

/// Run of the statements of a submit file.
pub(super) struct DescriptionRun<'s> {
    settings: &'s SubmitSettings,
    variables: SubmitVariables,
    jobs: JobMaker<'s>,
    included_bytes: usize,
    /// Byte range of the first queue statement.
    first_queue: Option<Range<usize>>,
    warns_of_queue: bool,
}

impl<'s> DescriptionRun<'s> {
    pub fn new(settings: &'s SubmitSettings) -> Self {
        let mut scope = MacroScope::new(default_macros(settings), settings.allows_environment);
        scope.folder = Some(settings.working_directory.as_str().into());
        DescriptionRun {
            settings,
            variables: SubmitVariables::new(scope, settings.context.clone()),
            jobs: JobMaker::new(settings),
            included_bytes: 0,
            first_queue: None,
            warns_of_queue: settings.truth("SUBMIT_PREVENT_MULTI_QUEUE", true),
        }
    }

    /// Executes the statements, and returns the jobs.
    pub fn describe(mut self, text: &str) -> DescribedAds {
        let mut result = self.run(text, None, 0);
        if result.is_ok() && self.first_queue.is_none() {
            result = self.queue_once(text);
        }
        let mut problems = self.variables.take_warnings();
        match result {
            Ok(()) => problems.extend(self.variables.unused()),
            Err(problem) => {
                self.jobs.discard();
                problems.push(problem);
            }
        }
        problems.sort_by_key(|problem| problem.range.start);
        self.jobs.finish(problems)
    }

    /// Queues one job at the end of a submit file without a queue statement, as HTCondor does.
    fn queue_once(&mut self, text: &str) -> Result<(), Problem> {
        let end = text.trim_ascii_end().len();
        let start = text[..end].rfind('\n').map_or(0, |at| at + 1);
        let problem = Problem::error_at(start..end, 0, "this submit file has no queue statement: it is one job");
        self.variables.warn(problem.with_help("write `queue` at its end"));
        let arguments = QueueArguments::parse("").map_err(|(_, reason)| Problem::error_at(start..end, 0, reason))?;
        self.jobs.queue(&mut self.variables, &arguments, start..end)
    }

    /// Executes the statements of a text. `place` is the byte range of the statement that includes the text; `None` for
    /// the submit file itself.
    fn run(&mut self, text: &str, place: Option<&Range<usize>>, depth: usize) -> Result<(), Problem> {
        let mut branches = TextBranches::default();
        let mut lines = LogicalLines::new(text);
        while let Some(line) = lines.next() {
            let range = || place.cloned().unwrap_or_else(|| line.whole_file_range());
            let here = |problem: Problem| match place {
                // The innermost file is named only: files can include each other to a great depth.
                Some(place) if !problem.message.starts_with(IN_INCLUDED) => {
                    let message = format!("{IN_INCLUDED}{} of the included file: {}", line.number, problem.message);
                    Problem { range: place.clone(), message, ..problem }
                }
                Some(place) => Problem { range: place.clone(), ..problem },
                None => problem,
            };
            if line.text.is_empty() {
                continue;
            }
            let holds = |condition: &_| self.variables.holds(condition, &range());
            let dialect = self.settings.context.dialect;
            let is_executed = branches.enter(&line.text, &range(), dialect, holds).map_err(here)?;
            if is_executed {
                self.execute(&line, &mut lines, place, depth).map_err(here)?;
            }
        }
        match branches.unclosed() {
            Some(range) => {
                let problem = Problem::error_at(place.cloned().unwrap_or(range), 0, "this `if` has no `endif`");
                // As in HTCondor, a queue statement ends it, too.
                if self.first_queue.is_none() {
                    return Err(problem);
                }
                self.variables.warn(problem);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Executes a line.
    fn execute(
        &mut self,
        line: &LogicalLine,
        lines: &mut LogicalLines<'_>,
        place: Option<&Range<usize>>,
        depth: usize,
    ) -> Result<(), Problem> {
        let text = line.text.as_str();
        let at = |range: Range<usize>| place.cloned().unwrap_or_else(|| line.file_range(range));
        let command = |name: &str, value: usize| {
            let place_of_value = at(value..text.len());
            let is_verbatim = place.is_none() && place_of_value.len() == text.len() - value;
            CommandPlace { name: at(0..name.len()), value: place_of_value, is_verbatim }
        };
        match MacroStatement::of(text) {
            MacroStatement::Assign(name, value) if name.starts_with(['+', '-']) => {
                let attribute = format!("MY.{}", self.name(&name[1..], &at(0..name.len()))?);
                let text = if name.starts_with('+') { &text[value..] } else { "" };
                self.variables.assign(&attribute, text, false, command(name, value))
            }
            MacroStatement::Assign(name, value) => {
                let variable = self.name(name, &at(0..name.len()))?;
                self.variables.assign(&variable, &text[value..], true, command(name, value))
            }
            MacroStatement::Append(name, between, value) => {
                let variable = self.name(name, &at(0..name.len()))?;
                let before = self.variables.raw(&variable).filter(|before| !before.is_empty());
                let (whole, mut place) = match before {
                    Some(before) => (format!("{before}{between}{}", &text[value..]), command(name, value)),
                    None => (text[value..].to_owned(), command(name, value)),
                };
                place.is_verbatim &= whole == text[value..];
                self.variables.assign(&variable, &whole, true, place)
            }
            MacroStatement::Block(name, tag) => {
                let variable = self.name(name, &at(0..name.len()))?;
                let block = block_text(lines, tag, &at(0..text.len()))?;
                let place = CommandPlace { is_verbatim: false, ..command(name, text.len()) };
                let place = CommandPlace { value: place.name.clone(), ..place };
                self.variables.assign(&variable, &block, true, place)
            }
            MacroStatement::Include(options, path) => self.include(options, &text[path..], &at(0..text.len()), depth),
            MacroStatement::Use(category, name) => {
                self.use_metaknob(category, &text[name..], &at(0..text.len()), depth)
            }
            MacroStatement::Message(is_error, value) => {
                let place = at(0..text.len());
                let message = self.variables.expand(&text[value..], &place)?.0;
                let problem = Problem::error_at(place, 0, message);
                if is_error {
                    return Err(problem);
                }
                self.variables.warn(problem);
                Ok(())
            }
            MacroStatement::Other => self.queue(line, lines, place),
        }
    }

    /// Returns the name of a variable that gets a value, with its macros expanded.
    fn name(&self, name: &str, place: &Range<usize>) -> Result<String, Problem> {
        let expanded = self.variables.expand(name, place)?.0;
        if is_variable(&expanded) {
            return Ok(expanded);
        }
        let problem = Problem::error_at(place.clone(), 0, format!("`{expanded}` is not a name"));
        Err(problem.with_help("a name has letters, digits, `_`, `.` and `/`"))
    }

    fn include(&mut self, options: &str, path: &str, place: &Range<usize>, depth: usize) -> Result<(), Problem> {
        let fault = |message: String| Problem::error_at(place.clone(), 0, message);
        let path = self.variables.expand(path, place)?.0;
        let is_optional =
            is_include_optional(options, &path).map_err(|(reason, help)| fault(reason).with_help(help))?;
        if depth + 1 >= MAX_INCLUDE_DEPTH {
            return Err(fault("files include each other, or are nested too deeply".to_owned()));
        }
        match read_named_file(path.trim(), self.settings) {
            Ok(text) => {
                self.included_bytes += text.len();
                if self.included_bytes > MAX_INCLUDED_BYTES {
                    return Err(fault("the included files have more than 64 MiB".to_owned()));
                }
                self.run(&text, Some(place), depth + 1)
            }
            Err(_) if is_optional => Ok(()),
            Err(reason) => Err(fault(reason)),
        }
    }

    fn use_metaknob(&mut self, category: &str, names: &str, place: &Range<usize>, depth: usize) -> Result<(), Problem> {
        for name in super::queue::words(names) {
            let known = METAKNOBS.iter().find(|(known_category, known, _)| {
                known_category.eq_ignore_ascii_case(category) && known.eq_ignore_ascii_case(&name)
            });
            let configured = || {
                let is_template = category.eq_ignore_ascii_case("template");
                let knob = format!("SUBMIT_TEMPLATE_{name}");
                is_template.then(|| self.settings.raw_setting(&knob)).flatten()
            };
            let text = known.map(|(.., text)| (*text).to_owned()).or_else(configured);
            let Some(text) = text else {
                let problem = Problem::error_at(place.clone(), 0, format!("there is no {category}:{name} to use"));
                return Err(problem.with_help("--config gives the templates of a configuration"));
            };
            self.run(&text, Some(place), depth + 1)?;
        }
        Ok(())
    }

    /// Executes a queue statement.
    fn queue(
        &mut self,
        line: &LogicalLine,
        lines: &mut LogicalLines<'_>,
        place: Option<&Range<usize>>,
    ) -> Result<(), Problem> {
        let text = line.text.as_str();
        let range = place.cloned().unwrap_or_else(|| line.whole_file_range());
        let fault = |message: &str| Problem::error_at(range.clone(), 0, message);
        let Some(start) = queue_arguments_start(text) else {
            let problem = fault("this line is neither a command nor a queue statement");
            return Err(problem.with_help("write `name = value`, or `queue`"));
        };
        if place.is_some() {
            return Err(fault("an included file queues no jobs"));
        }
        if self.first_queue.is_some() && std::mem::take(&mut self.warns_of_queue) {
            if self.settings.configuration.sets("SUBMIT_PREVENT_MULTI_QUEUE") {
                return Err(fault("the configuration forbids a second queue statement"));
            }
            let help = "condor_submit takes several only where SUBMIT_PREVENT_MULTI_QUEUE is false";
            let problem = fault("condor_submit of HTCondor 25 refuses a second queue statement").with_help(help);
            self.variables.warn(problem);
        }
        self.first_queue.get_or_insert_with(|| range.clone());
        let (expanded, _) = self.variables.expand(&text[start..], &range)?;
        let parsed = QueueArguments::parse(expanded.trim());
        let mut arguments = parsed.map_err(|(within, reason)| {
            let is_verbatim = expanded.trim() == &text[start..];
            let place =
                if is_verbatim { line.file_range(start + within.start..start + within.end) } else { range.clone() };
            Problem::error_at(place, 0, reason)
                .with_help("write `queue [count] [variables] [in | from | matching] [items]`")
        })?;
        if arguments.source == ItemSource::Following {
            loop {
                match lines.next() {
                    Some(line) if line.text.starts_with(')') => break,
                    Some(line) => arguments.add_line(&line.text),
                    None => return Err(fault("there is no line with the `)` that ends these items")),
                }
            }
        }
        let options = MatchingOptions::of(&self.variables, self.settings)?;
        arguments.load(self.settings, options).map_err(|reason| fault(&reason))?;
        arguments.take_heading();
        for doubt in std::mem::take(&mut arguments.doubts) {
            self.variables.warn(fault(&doubt));
        }
        self.jobs.queue(&mut self.variables, &arguments, range)
    }
}

/// Returns the macros that every submit file has.
fn default_macros(settings: &SubmitSettings) -> VariableTable {
    let now = settings.context.now.unwrap_or_default();
    let date = AbsoluteTime { seconds: now, offset: 0 }.to_string();
    let part = |range: Range<usize>| date.get(range).unwrap_or_default().to_owned();
    let setting = |name: &str| settings.setting(name).unwrap_or_default();
    let fixed = [
        ("Cluster", "1"),
        ("ClusterId", "1"),
        ("IsLinux", "1"),
        ("IsWindows", "0"),
        ("ItemIndex", "0"),
        ("JobId", "$(ClusterId).$(ProcId)"),
        ("JobListId", "$(ClusterId)"),
        ("Node", ""),
        ("Process", "0"),
        ("ProcId", "0"),
        ("Request_CPUs", "$(RequestCPUs)"),
        ("Request_Memory", "$(RequestMemory)"),
        ("Row", "0"),
        ("Step", "0"),
        ("TaskId", "0"),
        ("VM_MEMORY", "$(Request_Memory)"),
        ("VM_VCPUS", "$(Request_CPUs)"),
    ];
    let of_pool =
        ["ARCH", "OPSYS", "OPSYSANDVER", "OPSYSMAJORVER", "OPSYSVER", "SPOOL"].map(|name| (name, setting(name)));
    let of_run = [
        ("SUBMIT_FILE", settings.file_name.clone()),
        ("SUBMIT_TIME", now.to_string()),
        ("Year", part(0..4)),
        ("Month", part(5..7)),
        ("Day", part(8..10)),
    ];
    let fixed = fixed.map(|(name, value)| (name, value.to_owned()));
    fixed.into_iter().chain(of_pool).chain(of_run).collect()
}

/// Returns the lines up to `@` with the tag. `place` is that of the line that begins the block.
fn block_text(lines: &mut LogicalLines<'_>, tag: &str, place: &Range<usize>) -> Result<String, Problem> {
    let end = format!("@{tag}");
    let mut block = Vec::new();
    loop {
        match lines.next() {
            Some(line) if line.text == end => return Ok(block.join("\n")),
            Some(line) if line.text.is_empty() => {}
            Some(line) => block.push(line.text),
            None => return Err(Problem::error_at(place.clone(), 0, format!("there is no line `{end}`"))),
        }
    }
}
