//! Runs the statements of configuration files, one after the other. What `condor_config_val -dump` prints is one, too.

use std::ops::Range;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::configuration_folder::configuration_files;
use super::default_variables::DEFAULT_VARIABLES;
use super::included_files::IncludedFiles;
use super::metaknobs::{metaknob, with_known_use};
use super::texts::{ConfigurationEntry, ConfigurationTexts};
use crate::ad::{Dialect, Name};
use crate::eval::Context;
use crate::format::Problem;
use crate::transform::{
    IfCondition, LogicalLine, LogicalLines, MAX_INCLUDE_DEPTH, MacroScope, MacroStatement, TextBranches, VariableTable,
    is_include_optional, is_variable,
};

/// Where the files of a configuration are.
#[derive(Clone, Debug)]
pub struct ConfigurationSettings {
    /// The folder that takes the place of `/`. Then `LOCAL_CONFIG_DIR` and `LOCAL_CONFIG_FILE` are read below it, too.
    pub root: Option<PathBuf>,
    /// The time and the random numbers of conditions and macros.
    pub context: Context,
    /// Whether `$ENV()` reads the environment.
    pub allows_environment: bool,
    /// The local name of the daemon: `NAME.X` counts before `X`.
    pub local_name: Option<String>,
}

impl Default for ConfigurationSettings {
    fn default() -> Self {
        let context = Context::new(Dialect::Condor);
        ConfigurationSettings { root: None, context, allows_environment: true, local_name: None }
    }
}

/// Where the text is that is run.
#[derive(Clone)]
enum TextPlace {
    /// In a file, from this offset of all texts on.
    File(usize, PathBuf),
    /// In no file: the place is that of a statement.
    Statement(Range<usize>),
}

impl TextPlace {
    fn range(&self, range: Range<usize>) -> Range<usize> {
        match self {
            TextPlace::File(start, _) => start + range.start..start + range.end,
            TextPlace::Statement(place) => place.clone(),
        }
    }
}

/// Run of the statements of a configuration.
pub(super) struct ConfigurationRun<'s> {
    settings: &'s ConfigurationSettings,
    /// Whether statements may name files.
    pub reads_files: bool,
    scope: MacroScope,
    pub texts: ConfigurationTexts,
    pub entries: Vec<ConfigurationEntry>,
    /// The entry of each variable.
    pub by_name: FxHashMap<Name, usize>,
    /// The entries that others replaced.
    pub replaced: Vec<ConfigurationEntry>,
    pub problems: Vec<Problem>,
    included: IncludedFiles<'s>,
}

impl<'s> ConfigurationRun<'s> {
    /// Begins a run. Without defaults and files, it is one of a dump, which has all values.
    pub fn new(settings: &'s ConfigurationSettings, is_dump: bool) -> Self {
        let defaults = if is_dump { VariableTable::default() } else { DEFAULT_VARIABLES.clone() };
        ConfigurationRun {
            settings,
            reads_files: !is_dump,
            scope: MacroScope::new(defaults, settings.allows_environment),
            texts: ConfigurationTexts::default(),
            entries: Vec::new(),
            by_name: FxHashMap::default(),
            replaced: Vec::new(),
            problems: Vec::new(),
            included: IncludedFiles::new(settings.root.as_deref()),
        }
    }

    /// Runs a file. A byte that is not UTF-8 counts as `?`, so that ranges are those of the file.
    pub fn run_file(&mut self, path: &str, bytes: &[u8]) {
        let mut text = String::with_capacity(bytes.len());
        let mut bad = None;
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                bad.get_or_insert(text.len());
            }
            text.extend(chunk.invalid().iter().map(|_| '?'));
        }
        let start = self.texts.add_file(path, &text);
        if let Some(at) = bad {
            let message = "this byte is not UTF-8; bytes that are not count as `?`";
            self.problems.push(Problem::error_at(start + at..start + at + 1, 0, message).as_warning());
        }
        let first = self.entries.len();
        self.run(&text, &TextPlace::File(start, PathBuf::from(path)), 0);
        self.add_origins(&text, first);
    }

    /// Reads the files that `LOCAL_CONFIG_DIR` and `LOCAL_CONFIG_FILE` name, if there is a root.
    pub fn run_local_files(&mut self) {
        if self.settings.root.is_none() {
            return;
        }
        let names = |run: &Self, knob: &str| {
            let value = run.scope.get(&Name::new(knob)).map(|value| String::from_utf8_lossy(value).into_owned());
            let expanded = value.and_then(|value| run.scope.expand(&value, &run.settings.context).ok());
            let names = expanded.map(|value| value.text).unwrap_or_default();
            let words = names.split(|c: char| c == ',' || c.is_whitespace()).filter(|name| !name.is_empty());
            words.map(|name| run.included.resolve(name, Path::new("/"))).collect::<Vec<PathBuf>>()
        };
        let place = self.texts.text.len()..self.texts.text.len();
        for folder in names(self, "LOCAL_CONFIG_DIR") {
            for file in configuration_files(&folder) {
                self.include(&file, true, &place, 0);
            }
        }
        for file in names(self, "LOCAL_CONFIG_FILE") {
            self.include(&file, true, &place, 0);
        }
    }

    /// The local name of the daemon, if one is given.
    pub fn local_name(&self) -> Option<&str> {
        self.settings.local_name.as_deref()
    }

    /// The variables with their values, for macros.
    pub fn variables(&self) -> VariableTable {
        let values =
            self.entries.iter().map(|entry| (entry.name.as_str(), &self.texts.text[entry.value_range.clone()]));
        let own: VariableTable = values.collect();
        if self.reads_files { own.over(&DEFAULT_VARIABLES) } else { own }
    }

    /// Takes the comments about where variables were set, which `-verbose` prints, for the entries from `first` on.
    fn add_origins(&mut self, text: &str, first: usize) {
        if !text.contains("# at: ") {
            return;
        }
        for (number, line) in text.lines().enumerate() {
            let origin = line.trim().strip_prefix('#').and_then(|comment| comment.trim().strip_prefix("at: "));
            let Some(origin) = origin else { continue };
            let before = self.entries[first..].partition_point(|entry| entry.line <= number);
            if let Some(entry) = before.checked_sub(1).and_then(|at| self.entries.get_mut(first + at)) {
                entry.origin.get_or_insert_with(|| origin.trim().to_owned());
            }
        }
    }

    fn run(&mut self, text: &str, place: &TextPlace, depth: usize) {
        let mut branches = TextBranches::default();
        let mut lines = LogicalLines::new(text);
        let context = self.settings.context.clone();
        while let Some(line) = lines.next() {
            let range = place.range(line.whole_file_range());
            let scope = &self.scope;
            let holds = |condition: &IfCondition| match scope.holds(condition, &context) {
                Ok((holds, _)) => Ok(holds),
                Err(reason) => Err(Problem::error_at(range.clone(), 0, reason)),
            };
            // A heading, as in files of Windows.
            if line.text.is_empty() || line.text.starts_with('[') && !line.text.contains('=') {
                continue;
            }
            let text_of_line = with_known_use(&line.text);
            let done = match branches.enter(&text_of_line, &range, context.dialect, holds) {
                Ok(true) => self.execute(&line, (text, &mut lines), place, depth),
                Ok(false) => Ok(()),
                Err(problem) => Err(problem),
            };
            self.problems.extend(done.err());
        }
        if let Some(range) = branches.unclosed() {
            self.problems.push(Problem::error_at(range, 0, "this `if` has no `endif`"));
        }
    }

    /// Executes a line.
    fn execute(
        &mut self,
        line: &LogicalLine,
        (whole, lines): (&str, &mut LogicalLines<'_>),
        place: &TextPlace,
        depth: usize,
    ) -> Result<(), Problem> {
        let text = line.text.as_str();
        let range = place.range(line.whole_file_range());
        let fault = |message: &str| Problem::error_at(range.clone(), 0, message);
        match MacroStatement::of(text) {
            MacroStatement::Assign(name, value) => self.assign((line, place), name, (&text[value..], value)),
            MacroStatement::Append(name, between, value) => {
                let variable = self.expand(name, &range)?;
                let before = self.scope.get(&Name::new(&variable)).filter(|before| !before.is_empty());
                let before = before.map(|before| format!("{}{between}", String::from_utf8_lossy(before)));
                let appended = before.unwrap_or_default() + &text[value..];
                self.assign((line, place), name, (&appended, value))
            }
            MacroStatement::Block(name, tag) => self.assign_block((line, place), (name, tag), (whole, lines)),
            MacroStatement::Include(..) | MacroStatement::Use(..) if !self.reads_files => {
                Err(fault("this looks like a configuration file, not like a dump")
                    .with_help("give a file with the output of `condor_config_val -dump`"))
            }
            MacroStatement::Include(options, path) => {
                let path = self.expand(&text[path..], &range)?;
                let is_optional =
                    is_include_optional(options, &path).map_err(|(reason, help)| fault(&reason).with_help(help))?;
                let folder = match place {
                    TextPlace::File(_, file) => file.parent().unwrap_or(Path::new("")).to_owned(),
                    TextPlace::Statement(_) => PathBuf::new(),
                };
                self.include(&self.included.resolve(path.trim(), &folder), is_optional, &range, depth);
                Ok(())
            }
            MacroStatement::Use(category, names) => self.use_metaknobs(category, &text[names..], &range, depth),
            MacroStatement::Message(is_error, value) => {
                let problem = fault(&self.expand(&text[value..], &range)?);
                Err(if is_error { problem } else { problem.as_warning() })
            }
            MacroStatement::Other => match text.split_once(':').map(|(name, value)| (name.trim(), value.trim())) {
                Some((name, value)) if is_variable(name) => {
                    self.problems.push(fault("`:` for `=` is obsolete").as_warning().with_help("write `=`"));
                    self.assign((line, place), name, (value, text.len() - value.len()))
                }
                _ => Err(fault("this line does not define a variable").with_help("write `NAME = value`")),
            },
        }
    }

    /// Sets a variable by a line. `value` is the text, and the offset at which it stands in the line if it stands there.
    fn assign(
        &mut self,
        (line, place): (&LogicalLine, &TextPlace),
        name: &str,
        (value, at): (&str, usize),
    ) -> Result<(), Problem> {
        let range = place.range(line.whole_file_range());
        let pieces = if line.text[at..] == *value { line.pieces_from(at) } else { Vec::new() };
        self.set(name, value, (&range, line.number), (place, &pieces))
    }

    /// Sets a variable to the lines up to `@TAG`. `whole` is the text of `lines`, which are those behind `line`.
    fn assign_block(
        &mut self,
        (line, place): (&LogicalLine, &TextPlace),
        (name, tag): (&str, &str),
        (whole, lines): (&str, &mut LogicalLines<'_>),
    ) -> Result<(), Problem> {
        let range = place.range(line.whole_file_range());
        let end = format!("@{tag}");
        let start = line.whole_file_range().end;
        let first = whole[start..].find('\n').map_or(whole.len(), |at| start + at + 1);
        let Some(last) = lines.find(|last| last.text == end) else {
            let message = format!("the line `{end}` that ends this value is missing");
            return Err(Problem::error_at(range, 0, message));
        };
        let block = &whole[first..last.whole_file_range().start.max(first)];
        let start = first + block.len() - block.trim_start().len();
        let trimmed = start..start + block.trim().len();
        self.set(name, block.trim(), (&range, line.number), (place, &[(0, trimmed)]))
    }

    /// Sets a variable to a text. `pieces` are where it stands, as it is, in the file.
    fn set(
        &mut self,
        name: &str,
        value: &str,
        (range, line): (&Range<usize>, usize),
        (place, pieces): (&TextPlace, &[(usize, Range<usize>)]),
    ) -> Result<(), Problem> {
        let name_range = match place {
            TextPlace::File(..) => range.start..range.start + name.len(),
            TextPlace::Statement(place) => place.clone(),
        };
        let variable = self.expand(name, range)?;
        if !is_variable(&variable) {
            let problem = Problem::error_at(name_range, 0, "this line does not define a variable");
            return Err(problem.with_help("write `NAME = value`"));
        }
        let assigned = self.scope.assign(&variable, value);
        assigned.map_err(|reason| Problem::error_at(range.clone(), 0, format!("{variable}: {reason}")))?;
        let key = Name::new(&variable);
        let text = String::from_utf8_lossy(self.scope.get(&key).unwrap_or_default()).into_owned();
        let value_range = match (place, pieces) {
            (TextPlace::File(start, _), [(_, range)]) if text == value => start + range.start..start + range.end,
            (TextPlace::File(start, _), pieces) if text == value => {
                let pieces: Vec<_> =
                    pieces.iter().map(|(at, range)| (*at, start + range.start..start + range.end)).collect();
                self.texts.add_value(&text, range, &pieces)
            }
            _ => self.texts.add_value(&text, range, &[]),
        };
        let entry = ConfigurationEntry { name: variable, name_range, value_range, line, origin: None };
        if let Some(known) = self.by_name.get(&key) {
            self.replaced.push(std::mem::replace(&mut self.entries[*known], entry));
        } else {
            self.by_name.insert(key, self.entries.len());
            self.entries.push(entry);
        }
        Ok(())
    }

    fn expand(&self, text: &str, place: &Range<usize>) -> Result<String, Problem> {
        let expanded = self.scope.expand(text, &self.settings.context);
        expanded.map(|expanded| expanded.text).map_err(|reason| Problem::error_at(place.clone(), 0, reason))
    }

    /// Runs an included file.
    fn include(&mut self, path: &Path, is_optional: bool, place: &Range<usize>, depth: usize) {
        if depth + 1 >= MAX_INCLUDE_DEPTH {
            let message = "files include each other, or are nested too deeply";
            return self.problems.push(Problem::error_at(place.clone(), 0, message));
        }
        if let Some(text) = self.included.read(path, is_optional, place, &mut self.problems) {
            let start = self.texts.add_file(&path.to_string_lossy(), &text);
            self.run(&text, &TextPlace::File(start, path.to_owned()), depth + 1);
        }
    }

    fn use_metaknobs(
        &mut self,
        category: &str,
        names: &str,
        place: &Range<usize>,
        depth: usize,
    ) -> Result<(), Problem> {
        let fault = |message: String| Problem::error_at(place.clone(), 0, message);
        // HTCondor's limit of files is one less: the deepest file may have `use`.
        if depth >= MAX_INCLUDE_DEPTH {
            return Err(fault("`use` is nested too deeply".to_owned()));
        }
        let category = self.expand(category, place)?;
        for (name, arguments) in super::metaknobs::named_knobs(names) {
            match metaknob(&category, name, arguments) {
                Ok(text) => self.run(&text, &TextPlace::Statement(place.clone()), depth + 1),
                Err(near) => {
                    let problem = fault(format!("there is no {category}:{name} to use"));
                    let help = near.map_or_else(
                        || "the categories are ROLE, POLICY, FEATURE and SECURITY".to_owned(),
                        |near| format!("did you mean {near}?"),
                    );
                    return Err(problem.with_help(help));
                }
            }
        }
        Ok(())
    }
}
