//! The commands of a DAG file: its lines, and their words.

use std::ops::Range;

use crate::format::Problem;

/// Commands that make a node.
pub const NODE_COMMANDS: [&str; 6] = ["JOB", "NODE", "FINAL", "PROVISIONER", "SERVICE", "SPLICE"];

/// A command of the file.
pub struct DagCommand<'t> {
    pub range: Range<usize>,
    pub words: Vec<&'t str>,
    /// The description in braces.
    pub description: Option<String>,
}

impl<'l> DagCommand<'l> {
    /// Parses a line, with the description in it.
    pub fn parse(line: &'l DagLine) -> Result<Self, Problem> {
        let command =
            DagCommand { range: line.range.clone(), words: words(&line.text), description: line.description.clone() };
        if line.text.contains('\0') {
            return Err(command.fault("this line has a byte that is zero: a DAG file is text"));
        }
        if let Some(end) = &line.missing_end {
            return Err(command.fault(format!("the line `{end}` that ends this description is missing")));
        }
        let is_closed = command.words.iter().all(|word| word.replace("\\\"", "").matches('"').count() % 2 == 0);
        if is_closed { Ok(command) } else { Err(command.fault("a string in this line does not end")) }
    }

    /// Whether the command makes a node.
    pub fn makes_node(&self) -> bool {
        let word = self.words.first();
        word.is_some_and(|word| find(&NODE_COMMANDS, word).is_some() || word.eq_ignore_ascii_case("SUBDAG"))
    }

    /// A problem with the line.
    pub fn fault(&self, message: impl Into<String>) -> Problem {
        Problem::error_at(self.range.clone(), 0, message)
    }
}

/// Returns the word of a list with this spelling, ignoring case.
pub fn find(words: &[&'static str], word: &str) -> Option<&'static str> {
    words.iter().find(|known| known.eq_ignore_ascii_case(word)).copied()
}

/// Returns the words of a line. A string in quotes is part of its word.
fn words(line: &str) -> Vec<&str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let is_separator = |char: char| {
        is_quoted ^= char == '"' && !is_escaped;
        is_escaped = char == '\\' && !is_escaped;
        char.is_whitespace() && !is_quoted
    };
    line.split(is_separator).filter(|word| !word.is_empty()).collect()
}

/// A line that is no comment, with the lines that continue it.
pub struct DagLine {
    pub range: Range<usize>,
    pub text: String,
    /// The description that stands behind it.
    pub description: Option<String>,
    /// The line that should end the description, if the file ends before it.
    pub missing_end: Option<String>,
}

/// Returns the lines that are no comments, each with its place. A line that ends in `\` goes on in the next one. Below the
/// name of a node and `{` its description stands up to `}`, and below `@=end` up to `@end`. Options of the node may follow.
pub fn logical_lines(text: &[u8]) -> Vec<DagLine> {
    let mut found = Vec::new();
    let mut end = 0;
    let mut lines = text.split_inclusive(|byte| *byte == b'\n').map(|line| {
        end += line.len();
        (end - line.len()..end - line.len() + line.trim_ascii_end().len(), String::from_utf8_lossy(line))
    });
    while let Some((range, line)) = lines.next() {
        let mut joined = line.trim().trim_start_matches('\u{feff}').to_owned();
        if joined.is_empty() || joined.starts_with('#') {
            continue;
        }
        while joined.ends_with('\\')
            && let Some((_, next)) = lines.next()
        {
            joined.pop();
            joined.push_str(next.trim());
        }
        let mut line = DagLine { range, text: joined, description: None, missing_end: None };
        if let Some((head, end)) = description_end(&line.text) {
            let mut description = Vec::new();
            line.missing_end = Some(end.clone());
            line.text.truncate(head);
            for (_, next) in lines.by_ref() {
                let next = next.trim();
                let behind = next.strip_prefix(&end).filter(|rest| rest.is_empty() || rest.starts_with(' '));
                if let Some(options) = behind {
                    line.text.push_str(options);
                    line.missing_end = None;
                    break;
                }
                if !next.is_empty() && !next.starts_with('#') {
                    description.push(next.to_owned());
                }
            }
            line.description = Some(description.join("\n"));
        }
        found.push(line);
    }
    found
}

/// Returns the length of a line before the mark that begins a description, and the line that ends it.
fn description_end(line: &str) -> Option<(usize, String)> {
    let words = words(line);
    let [command, _, mark, ..] = words.as_slice() else { return None };
    if find(&NODE_COMMANDS, command).is_none() && !command.eq_ignore_ascii_case("SUBMIT-DESCRIPTION") {
        return None;
    }
    let end = match mark.strip_prefix("@=") {
        Some(tag) if !tag.is_empty() => format!("@{tag}"),
        _ if mark.starts_with('{') => "}".to_owned(),
        _ => return None,
    };
    Some((mark.as_ptr().addr() - line.as_ptr().addr(), end))
}
