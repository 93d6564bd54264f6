//! What `condor_config_val -dump` and `-summary` print: one variable a line, or several lines up to `@end`.
//!
//! The values are expanded or not. With `-verbose` comments tell where a variable was set.

use rustc_hash::FxHashMap;

use super::constants::{constant_number, constant_truth};
use super::default_policies::add_defaults;
use super::default_variables::default_value;
use super::knobs::reading_daemon;
use super::reader::{ConfigurationRun, ConfigurationSettings};
use super::texts::{ConfigurationEntry, ConfigurationTexts};
use crate::ad::{Name, closest_names};
use crate::eval::Context;
use crate::format::Problem;
use crate::transform::VariableTable;

/// Configuration that was read from a dump.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    pub(super) texts: ConfigurationTexts,
    pub(super) entries: Vec<ConfigurationEntry>,
    /// The entry of each variable: the last of several.
    pub(super) by_name: FxHashMap<Name, usize>,
    /// The entries that others replaced.
    pub(super) replaced: Vec<ConfigurationEntry>,
    pub(super) variables: VariableTable,
    /// The variables as daemons with settings of their own see them, by the names of the daemons.
    of_daemons: FxHashMap<Name, VariableTable>,
    /// Whether variables that no file sets have HTCondor's defaults.
    reads_defaults: bool,
    /// HTCondor's defaults of policies that no file sets.
    defaults: Vec<ConfigurationEntry>,
}

/// Value of a variable with its macros expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpandedValue {
    /// The text.
    pub text: String,
    /// Whether the value has no macros. Then an offset in the text is an offset in the dump's value.
    pub is_verbatim: bool,
}

/// Maximum number of variables whose macros are followed.
const MAX_FOLLOWED: usize = 100;

/// Returns the names of the macros in a value: `A` of `$(A)` and `$(A:default)`.
pub(super) fn macro_names(value: &str) -> impl Iterator<Item = &str> {
    value.match_indices("$(").map(|(at, opening)| {
        let rest = &value[at + opening.len()..];
        rest.split([')', ':']).next().unwrap_or_default().trim()
    })
}

/// Returns the name of a variable without that of the daemon before it.
fn unprefixed(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, name)| name)
}

impl Configuration {
    /// Returns an entry and those of the macros in its value, in theirs, and so on.
    pub(super) fn with_macros<'c>(&'c self, entry: &'c ConfigurationEntry) -> Vec<&'c ConfigurationEntry> {
        let mut found = vec![entry];
        let mut next = 0;
        while let Some(entry) = found.get(next).filter(|_| found.len() < MAX_FOLLOWED) {
            next += 1;
            for name in macro_names(self.raw_value(entry)) {
                let of_macro = self.entry(name);
                found.extend(of_macro.filter(|entry| !found.iter().any(|known| known.name == entry.name)));
            }
        }
        found
    }

    /// Reads a dump. Lines that are neither variables nor comments are problems; the others count. A byte that is not
    /// UTF-8 counts as `?`, so that ranges are those of the file.
    #[must_use]
    pub fn read(bytes: &[u8]) -> (Self, Vec<Problem>) {
        let settings = ConfigurationSettings::default();
        let mut run = ConfigurationRun::new(&settings, true);
        run.run_file("", bytes);
        Configuration::of_run(run)
    }

    /// Reads configuration files, each with its name, one after the other, with the files that they include. HTCondor's
    /// defaults count for variables that no file sets, in macros and conditions. Lines that cannot be read are problems;
    /// the others count.
    #[must_use]
    pub fn read_files(files: &[(String, Vec<u8>)], settings: &ConfigurationSettings) -> (Self, Vec<Problem>) {
        let mut run = ConfigurationRun::new(settings, false);
        for (name, bytes) in files {
            run.run_file(name, bytes);
        }
        run.run_local_files();
        Configuration::of_run(run)
    }

    fn of_run(run: ConfigurationRun<'_>) -> (Self, Vec<Problem>) {
        let variables = run.variables();
        let local_name = run.local_name().map(str::to_owned);
        let ConfigurationRun { texts, entries, by_name, replaced, problems, reads_files, .. } = run;
        let mut configuration = Configuration {
            texts,
            entries,
            by_name,
            replaced,
            variables,
            of_daemons: FxHashMap::default(),
            reads_defaults: reads_files,
            defaults: Vec::new(),
        };
        configuration.prefer_own(local_name.as_deref());
        if configuration.reads_defaults {
            let Configuration { texts, by_name, .. } = &mut configuration;
            configuration.defaults = add_defaults(texts, |name| by_name.contains_key(&Name::new(name)));
        }
        (configuration, problems)
    }

    /// Lets `LOCALNAME.X` and `DAEMON.X` count before `X`, as they do in the daemon that reads the setting.
    fn prefer_own(&mut self, local_name: Option<&str>) {
        let mut prefixed: FxHashMap<Name, Vec<usize>> = FxHashMap::default();
        for (index, entry) in self.entries.iter().enumerate() {
            if let Some((prefix, _)) = entry.name.split_once('.') {
                prefixed.entry(Name::new(prefix)).or_default().push(index);
            }
        }
        let local = local_name.and_then(|name| prefixed.remove(&Name::new(name))).unwrap_or_default();
        if !local.is_empty() {
            self.variables = self.variables_with(&self.variables, &local);
        }
        for (daemon, own) in prefixed {
            let of_daemon = self.variables_with(&self.variables, &own);
            let all = self.variables_with(&of_daemon, &local);
            for index in own {
                let name = unprefixed(&self.entries[index].name);
                if reading_daemon(name).is_some_and(|reader| daemon.as_str().eq_ignore_ascii_case(reader)) {
                    self.by_name.insert(Name::new(name), index);
                }
            }
            self.of_daemons.insert(daemon, all);
        }
        for index in local {
            self.by_name.insert(Name::new(unprefixed(&self.entries[index].name)), index);
        }
    }

    /// Returns a table in which these entries count without their prefixes.
    fn variables_with(&self, table: &VariableTable, entries: &[usize]) -> VariableTable {
        let entries = entries.iter().map(|index| &self.entries[*index]);
        let own: VariableTable = entries.map(|entry| (unprefixed(&entry.name), self.raw_value(entry))).collect();
        own.over(table)
    }

    /// Returns the variables as the daemon sees them that reads a setting.
    fn variables_of(&self, name: &str) -> &VariableTable {
        let prefix = name.split_once('.').map(|(prefix, _)| prefix);
        let of = |daemon: &str| self.of_daemons.get(&Name::new(daemon));
        prefix.or_else(|| reading_daemon(name)).and_then(of).unwrap_or(&self.variables)
    }

    /// Returns the macros in the value of an entry that no file sets, with their values, which are HTCondor's defaults.
    #[must_use]
    pub fn defaults_in(&self, entry: &ConfigurationEntry) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        for of_macro in self.with_macros(entry) {
            for name in macro_names(self.raw_value(of_macro)) {
                let value = default_value(name).filter(|_| self.reads_defaults && !self.sets(name));
                if let Some(value) = value.filter(|_| !found.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)))
                {
                    found.push((name.to_owned(), value));
                }
            }
        }
        found
    }

    /// The files, and where the ranges of the configuration are in them.
    #[must_use]
    pub fn texts(&self) -> &ConfigurationTexts {
        &self.texts
    }

    /// The entries of a variable that later ones replaced, in order.
    pub fn replaced(&self, name: &str) -> impl Iterator<Item = &ConfigurationEntry> {
        self.replaced.iter().filter(move |entry| entry.name.eq_ignore_ascii_case(name))
    }

    /// The text of the dump or of all files.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.texts.text
    }

    /// The variables in the order of the dump.
    #[must_use]
    pub fn entries(&self) -> &[ConfigurationEntry] {
        &self.entries
    }

    /// The variables with their values, for rules.
    #[must_use]
    pub fn variables(&self) -> &VariableTable {
        &self.variables
    }

    /// Returns the entry of a variable; case is ignored. It is that of `DAEMON.NAME` if the daemon reads it, and HTCondor's
    /// default of a policy that no file sets. `None` if the configuration lacks it, or if its value is empty: to HTCondor that
    /// is the same.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<&ConfigurationEntry> {
        let set = self.by_name.get(&Name::new(name)).map(|index| &self.entries[*index]);
        let default = || self.defaults.iter().find(|default| default.name.eq_ignore_ascii_case(name));
        set.or_else(default).filter(|entry| !entry.value_range.is_empty())
    }

    /// Whether the configuration sets a variable, be it to nothing.
    #[must_use]
    pub fn sets(&self, name: &str) -> bool {
        self.by_name.contains_key(&Name::new(name))
    }

    /// Returns the configuration with default values for variables that have none, for macros.
    #[must_use]
    pub fn with_defaults<'d>(&self, defaults: impl IntoIterator<Item = (&'d str, &'d str)>) -> Configuration {
        Configuration { variables: self.variables.with_defaults(defaults), ..self.clone() }
    }

    /// Returns the value of an entry as the dump has it.
    #[must_use]
    pub fn raw_value(&self, entry: &ConfigurationEntry) -> &str {
        &self.texts.text[entry.value_range.clone()]
    }

    /// Returns the value of an entry with its macros expanded.
    ///
    /// # Errors
    ///
    /// The problem, with its range in the dump: a macro that stands for itself, or that nothing gives a value.
    pub fn expand(&self, entry: &ConfigurationEntry, context: &Context) -> Result<ExpandedValue, Problem> {
        match self.expand_leniently(entry, context)? {
            (value, None) => Ok(value),
            (_, Some(problem)) => Err(problem),
        }
    }

    /// Returns the value of an entry with its macros expanded as HTCondor does: nothing stands for a variable that nothing
    /// gives a value. Such a variable is the second part, as a problem with its range in the dump.
    ///
    /// # Errors
    ///
    /// The problem with a macro that stands for itself.
    pub fn expand_leniently(
        &self,
        entry: &ConfigurationEntry,
        context: &Context,
    ) -> Result<(ExpandedValue, Option<Problem>), Problem> {
        let raw = self.raw_value(entry);
        let problem = |message: String| Problem::error_at(entry.value_range.clone(), 0, message);
        let expansion = self.variables_of(&entry.name).expand(raw.as_bytes(), context);
        let expansion = expansion.map_err(|reason| problem(format!("{}: {reason}", entry.name)))?;
        let text = String::from_utf8_lossy(&expansion.text).into_owned();
        let unknown = expansion.unknown.map(|name| {
            let near = closest_names(&name, self.variables.names().filter(|known| *known != entry.name));
            let help = match near.first() {
                Some(near) => format!("did you mean $({near})?"),
                None => format!(
                    "write `$({name}:...)` to give a default; `condor_config_val -dump` prints all variables, `-summary` only some"
                ),
            };
            problem(format!("{}: the variable {name} is not defined", entry.name)).with_help(help)
        });
        Ok((ExpandedValue { is_verbatim: text == raw, text }, unknown))
    }

    /// Returns the expanded value of a variable as the words of a list. The list is empty if there is no such variable.
    ///
    /// # Errors
    ///
    /// As [`Configuration::expand`].
    pub fn words(&self, name: &str, context: &Context) -> Result<Vec<String>, Problem> {
        let Some(entry) = self.entry(name) else { return Ok(Vec::new()) };
        let value = self.expand(entry, context)?;
        let words = value.text.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
        Ok(words.map(str::to_owned).collect())
    }

    /// Returns the number of a variable; `None` if there is no such variable.
    ///
    /// # Errors
    ///
    /// As [`Configuration::expand`], and for a value that is no number.
    pub fn number(&self, name: &str, context: &Context) -> Result<Option<f64>, Problem> {
        let Some(entry) = self.entry(name) else { return Ok(None) };
        let value = self.expand(entry, context)?.text;
        constant_number(&value, context)
            .map(Some)
            .ok_or_else(|| Problem::error_at(entry.value_range.clone(), 0, format!("{} must be a number", entry.name)))
    }

    /// Returns the whole number of a variable that is a maximum; `None` if there is no such variable, or no maximum: a negative
    /// number.
    ///
    /// # Errors
    ///
    /// As [`Configuration::number`].
    pub fn maximum(&self, name: &str, context: &Context) -> Result<Option<usize>, Problem> {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // it is not negative
        Ok(self.number(name, context)?.filter(|most| *most >= 0.0).map(|most| most as usize))
    }

    /// Returns whether a variable is true; `default` if there is no such variable.
    ///
    /// # Errors
    ///
    /// As [`Configuration::expand`], and for a value that is neither true nor false.
    pub fn truth(&self, name: &str, default: bool, context: &Context) -> Result<bool, Problem> {
        let Some(entry) = self.entry(name) else { return Ok(default) };
        let value = self.expand(entry, context)?.text;
        constant_truth(&value, context).ok_or_else(|| {
            Problem::error_at(entry.value_range.clone(), 0, format!("{} must be true or false", entry.name))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Configuration;
    use crate::ad::Dialect;
    use crate::eval::Context;

    /// Returns the values of the variables, expanded, with line and origin; or the problem.
    fn values(text: &str) -> Vec<String> {
        let (configuration, problems) = Configuration::read(text.as_bytes());
        let context = Context::new(Dialect::Condor);
        let shown = configuration.entries().iter().map(|entry| {
            let value = match configuration.expand(entry, &context) {
                Ok(value) => format!("{}{}", value.text, if value.is_verbatim { "" } else { " (expanded)" }),
                Err(problem) => format!("! {} ({})", problem.message, problem.help.unwrap_or_default()),
            };
            let origin = entry.origin.as_ref().map_or(String::new(), |origin| format!(" [{origin}]"));
            format!("{}:{} = {value}{origin}", entry.line, entry.name)
        });
        shown.chain(problems.into_iter().map(|problem| format!("{:?} {}", problem.range, problem.message))).collect()
    }

    #[test]
    fn what_the_tool_prints_is_read() {
        let text = "# Configuration from machine: x\n\n# Parameters with names that match ^A$:\nA = x $(B)\n \
                    # at: /etc/condor/config, line 2\n # expanded: x 7\n # default: 1\nEMPTY = \nB = 7\n\
                    M @=end\n   SET X 1\n   SET Y $(A)\n@end\n # at: <Default>\n # expanded: \n #    SET X 1\n\
                    LAST=$(EMPTY)$(EMPTY:3)$ENV(CLASSAD_NO_SUCH:4)$INT(B)\n# Contributing configuration file(s):\n#\t/x\n";
        assert_eq!(
            values(text),
            [
                "4:A = x 7 (expanded) [/etc/condor/config, line 2]",
                "8:EMPTY = ",
                "9:B = 7",
                "10:M = SET X 1\n   SET Y x 7 (expanded) [<Default>]",
                "17:LAST = 347 (expanded)",
            ]
        );
    }

    #[test]
    fn bad_lines_and_macros_are_told() {
        assert_eq!(
            values("A = $(B)\nB = 1 + $(A)\nSTART = $(STRAT)\nSTRAIT = 1\nuse POLICY : X\nfoo\nX @=end\n1\n"),
            [
                "1:A = ! A: the macros form a circle, are nested too deeply, or give too long a text ()",
                "2:B = ! B: the macros form a circle, are nested too deeply, or give too long a text ()",
                "3:START = ! START: the variable STRAT is not defined (did you mean $(STRAIT)?)",
                "4:STRAIT = 1",
                "50..64 this looks like a configuration file, not like a dump",
                "65..68 this line does not define a variable",
                "69..76 the line `@end` that ends this value is missing",
            ]
        );
    }

    #[test]
    fn a_byte_that_is_not_utf_8_harms_no_other_variable() {
        let (configuration, problems) = Configuration::read(b"A = Andr\xe9\xff\nB = 7\n");
        let value = |name: &str| configuration.entry(name).map(|entry| configuration.raw_value(entry));
        assert_eq!((value("A"), value("B")), (Some("Andr??"), Some("7")));
        assert_eq!((problems.len(), problems[0].range.clone()), (1, 8..9));
    }

    #[test]
    fn words_and_truths() {
        let (configuration, _) = Configuration::read(b"NAMES = a, $(B)  c\nB = b\nT = Yes\nF = maybe\n");
        let context = Context::new(Dialect::Condor);
        assert_eq!(configuration.words("names", &context).unwrap(), ["a", "b", "c"]);
        assert!(configuration.words("other", &context).unwrap().is_empty());
        assert!(
            configuration.truth("t", false, &context).unwrap() && configuration.truth("x", true, &context).unwrap()
        );
        assert!(configuration.truth("f", false, &context).is_err());
    }
}
