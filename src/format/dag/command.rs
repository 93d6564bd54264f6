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
    pub fn parse(range: Range<usize>, line: &'l str) -> Result<Self, Problem> {
        let (head, description) = match line.split_once('\n') {
            Some((head, description)) => {
                (head.trim_end().trim_end_matches('{'), Some(description.trim_end().to_owned()))
            }
            None => (line, None),
        };
        let command = DagCommand { range, words: words(head), description };
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

/// Returns the lines that are no comments, each with its place. A line that ends in `\` goes on in the next one; one that
/// ends in `{` has the lines up to `}` behind it.
pub fn logical_lines(text: &[u8]) -> Vec<(Range<usize>, String)> {
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
        if joined.ends_with('{') {
            joined.push('\n');
            for (_, next) in lines.by_ref().take_while(|(_, next)| next.trim() != "}") {
                joined.push_str(next.trim());
                joined.push('\n');
            }
        }
        found.push((range, joined));
    }
    found
}
