//! What `condor_config_val -dump` and `-summary` print: one variable a line, or several lines up to `@end`.
//!
//! The values are expanded or not. With `-verbose` comments tell where a variable was set.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::constants::{constant_number, constant_truth};
use crate::ad::{Name, closest_names};
use crate::eval::Context;
use crate::format::Problem;
use crate::transform::VariableTable;

/// Configuration that was read from a dump.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    text: String,
    entries: Vec<ConfigurationEntry>,
    /// The entry of each variable: the last of several.
    by_name: FxHashMap<Name, usize>,
    variables: VariableTable,
}

/// Variable of a configuration.
#[derive(Clone, Debug)]
pub struct ConfigurationEntry {
    /// Name as written.
    pub name: String,
    /// Byte range of the name in the dump.
    pub name_range: Range<usize>,
    /// Byte range of the value in the dump, without blanks around it.
    pub value_range: Range<usize>,
    /// 1-based number of the line in the dump.
    pub line: usize,
    /// Where the variable was set, as `-verbose` tells; `None` if the dump does not tell.
    pub origin: Option<String>,
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

impl ConfigurationEntry {
    /// Returns the entry and those of the macros in its value, in theirs, and so on.
    pub(super) fn with_macros<'c>(&'c self, configuration: &'c Configuration) -> Vec<&'c ConfigurationEntry> {
        let mut found = vec![self];
        let mut next = 0;
        while let Some(entry) = found.get(next).filter(|_| found.len() < MAX_FOLLOWED) {
            next += 1;
            for name in macro_names(configuration.raw_value(entry)) {
                let of_macro = configuration.entry(name);
                found.extend(of_macro.filter(|entry| !found.iter().any(|known| known.line == entry.line)));
            }
        }
        found
    }
}

/// Returns the names of the macros in a value: `A` of `$(A)` and `$(A:default)`.
pub(super) fn macro_names(value: &str) -> impl Iterator<Item = &str> {
    value.match_indices("$(").map(|(at, opening)| {
        let rest = &value[at + opening.len()..];
        rest.split([')', ':']).next().unwrap_or_default().trim()
    })
}

impl Configuration {
    /// Reads a dump. Lines that are neither variables nor comments are problems; the others count. A byte that is not
    /// UTF-8 counts as `?`, so that ranges are those of the file.
    #[must_use]
    pub fn read(bytes: &[u8]) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut text = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            if !chunk.invalid().is_empty() && problems.is_empty() {
                let message = "this byte is not UTF-8; bytes that are not count as `?`";
                problems.push(Problem::error_at(text.len()..text.len() + 1, 0, message).as_warning());
            }
            text.extend(chunk.invalid().iter().map(|_| '?'));
        }
        let mut reader = DumpReader { text: &text, at: 0, line: 0 };
        let mut entries: Vec<ConfigurationEntry> = Vec::new();
        while let Some((line, start)) = reader.next_line() {
            let trimmed = line.trim();
            if let Some(comment) = trimmed.strip_prefix('#') {
                if let (Some(origin), Some(entry)) = (comment.trim().strip_prefix("at: "), entries.last_mut()) {
                    entry.origin.get_or_insert_with(|| origin.trim().to_owned());
                }
            } else if !trimmed.is_empty() {
                match reader.variable(line, start) {
                    Ok(entry) => entries.push(entry),
                    Err(problem) => problems.push(problem),
                }
            }
        }
        let by_name = entries.iter().enumerate().map(|(index, entry)| (Name::new(&entry.name), index)).collect();
        let values = entries.iter().map(|entry| (entry.name.as_str(), &text[entry.value_range.clone()]));
        let variables = values.collect();
        (Configuration { text, entries, by_name, variables }, problems)
    }

    /// The text of the dump.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
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

    /// Returns the entry of a variable; case is ignored. `None` if the configuration lacks it, or if its value is empty:
    /// to HTCondor that is the same.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<&ConfigurationEntry> {
        self.by_name
            .get(&Name::new(name))
            .map(|index| &self.entries[*index])
            .filter(|entry| !entry.value_range.is_empty())
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
        &self.text[entry.value_range.clone()]
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
        let expansion = self.variables.expand(raw.as_bytes(), context);
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

/// Reader of the lines of a dump.
struct DumpReader<'t> {
    text: &'t str,
    /// Byte offset of the next line.
    at: usize,
    /// Number of lines read so far.
    line: usize,
}

impl<'t> DumpReader<'t> {
    /// Returns the next line without its end, and its byte offset.
    fn next_line(&mut self) -> Option<(&'t str, usize)> {
        let start = self.at;
        let rest = self.text.get(start..).filter(|rest| !rest.is_empty())?;
        let line = rest.split('\n').next().unwrap_or(rest);
        self.at += line.len() + 1;
        self.line += 1;
        Some((line.trim_end_matches('\r'), start))
    }

    /// Parses a variable, which begins with `line` at the byte offset `start`.
    fn variable(&mut self, line: &str, start: usize) -> Result<ConfigurationEntry, Problem> {
        let number = self.line;
        let indent = line.len() - line.trim_start().len();
        let rest = &line[indent..];
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | ':' | '$' | '@');
        let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        let length = rest[..length].find("@=").unwrap_or(length);
        let behind = rest[length..].trim_start();
        let name_range = start + indent..start + indent + length;
        let problem = |message: &str| Problem::error_at(start + indent..start + line.trim_end().len(), 0, message);
        let is_directive = ["if", "elif", "else", "endif", "use", "include", "warning", "error"]
            .iter()
            .any(|word| rest[..length].trim_end_matches(':').eq_ignore_ascii_case(word));
        if length == 0 || !(behind.starts_with('=') || behind.starts_with("@=")) {
            return Err(if is_directive {
                problem("this looks like a configuration file, not like a dump")
                    .with_help("give a file with the output of `condor_config_val -dump`")
            } else {
                problem("this line does not define a variable").with_help("write `NAME = value`")
            });
        }
        let entry = |value_range| ConfigurationEntry {
            name: rest[..length].to_owned(),
            name_range: name_range.clone(),
            value_range,
            line: number,
            origin: None,
        };
        if let Some(tag) = behind.strip_prefix("@=") {
            let end = format!("@{}", tag.trim());
            let first = self.at;
            while let Some((next, next_start)) = self.next_line() {
                if next.trim() == end {
                    return Ok(entry(self.trimmed(first..next_start)));
                }
            }
            return Err(problem(&format!("the line `{end}` that ends this value is missing")));
        }
        let value = start + line.len() - behind.len() + 1;
        Ok(entry(self.trimmed(value..start + line.len())))
    }

    /// Returns a range of the text without the blanks around it.
    fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let text = &self.text[range.start.min(range.end)..range.end];
        let start = range.end - text.trim_start().len();
        start..(start + text.trim().len())
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
