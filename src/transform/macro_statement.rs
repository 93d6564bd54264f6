//! The statements that submit files and configurations have in common, and their conditionals.

use std::ops::Range;

use crate::ad::Dialect;
use crate::format::Problem;
use crate::syntax::ParseOptions;

use super::branches::OpenBranches;
use super::condition::IfCondition;
use super::line_syntax::appending;
use super::rule::RuleAction;

/// Maximum nesting depth of included files and of what `use` stands for.
pub(crate) const MAX_INCLUDE_DEPTH: usize = 20;

/// Maximum number of bytes of all included files.
pub(crate) const MAX_INCLUDED_BYTES: usize = 64 << 20;

/// Maximum nesting depth of `if`, as in HTCondor.
const MAX_IF_DEPTH: usize = 63;

/// A line that is neither part of a conditional nor blank. A number is the byte offset of a text in the line.
#[derive(Debug, PartialEq)]
pub(crate) enum MacroStatement<'l> {
    /// `name = text`
    Assign(&'l str, usize),
    /// `name += text`, with what stands between the text before and this one.
    Append(&'l str, String, usize),
    /// `name @=tag`: the lines up to `@tag` are the text.
    Block(&'l str, &'l str),
    /// `include [options] : file`
    Include(&'l str, usize),
    /// `use category : name`
    Use(&'l str, usize),
    /// `error : text` and `warning : text`
    Message(bool, usize),
    /// Anything else: a queue statement, or a mistake.
    Other,
}

impl<'l> MacroStatement<'l> {
    pub fn of(text: &'l str) -> Self {
        let skip = |at: usize| text.len() - text[at..].trim_ascii_start().len();
        let is_operator = |c: char| matches!(c, '=' | ':');
        let end = text.find(|c: char| c.is_ascii_whitespace() || is_operator(c)).unwrap_or(text.len());
        let (name, mut at) = (&text[..end], skip(end));
        let words_start = at;
        if !text[end..].starts_with(is_operator) {
            at += text[at..].find(['=', ':', '@', '+']).unwrap_or(text.len() - at);
        }
        let (words, rest) = (text[words_start..at].trim(), &text[at..]);
        let value = skip((at + 1).min(text.len()));
        if rest.starts_with(':') {
            match name.trim_start_matches('@').to_ascii_lowercase().as_str() {
                "include" => return MacroStatement::Include(words, value),
                "use" => return MacroStatement::Use(words, value),
                "error" => return MacroStatement::Message(true, value),
                "warning" => return MacroStatement::Message(false, value),
                _ => return MacroStatement::Other,
            }
        }
        if !words.is_empty() || name.eq_ignore_ascii_case("queue") {
            return MacroStatement::Other;
        }
        if rest.starts_with('=') {
            return MacroStatement::Assign(name, value);
        }
        match (rest.strip_prefix("@="), appending(rest)) {
            (Some(tag), _) => MacroStatement::Block(name, tag.trim()),
            (None, Some((between, length))) => MacroStatement::Append(name, between, skip(at + length)),
            (None, None) => MacroStatement::Other,
        }
    }
}

/// Returns whether an included file may be missing.
///
/// # Errors
///
/// The reason, and what to do: what is included is printed by a program, or an option is unknown.
pub(crate) fn is_include_optional(options: &str, path: &str) -> Result<bool, (String, &'static str)> {
    let options = options.to_ascii_lowercase();
    let words: Vec<&str> = options.split_ascii_whitespace().collect();
    let is_command = words.iter().any(|word| matches!(*word, "command" | "into" | "output"));
    if is_command || path.trim_ascii_end().ends_with('|') {
        let reason = "no program is run to include what it prints".to_owned();
        return Err((reason, "run it, and include a file with its output"));
    }
    match words.iter().find(|word| !matches!(**word, "ifexist" | "ifexists")) {
        Some(word) => {
            Err((format!("`include` has no option `{word}`"), "write `include : file` or `include ifexist : file`"))
        }
        None => Ok(!words.is_empty()),
    }
}

/// The conditionals of a text whose lines are executed one after the other.
#[derive(Default)]
pub(crate) struct TextBranches {
    branches: OpenBranches,
    /// The places of the open `if`s.
    open: Vec<Range<usize>>,
}

impl TextBranches {
    /// Takes a line at `place` into account. Returns whether it is to be executed; lines of conditionals are not.
    pub fn enter(
        &mut self,
        text: &str,
        place: &Range<usize>,
        dialect: Dialect,
        holds: impl FnOnce(&IfCondition) -> Result<bool, Problem>,
    ) -> Result<bool, Problem> {
        let end = text.find(|c: char| c.is_ascii_whitespace()).unwrap_or(text.len());
        let condition = || {
            let start = text.len() - text[end..].trim_ascii_start().len();
            IfCondition::new(&text[start..], ParseOptions::long(dialect)).map_err(|error| {
                let problem = Problem::error_at(place.clone(), 0, error.message);
                Problem { help: error.help, ..problem }
            })
        };
        let fault = |message: &str| Err(Problem::error_at(place.clone(), 0, message));
        let action = match text[..end].to_ascii_lowercase().as_str() {
            "if" if self.open.len() >= MAX_IF_DEPTH => return fault("`if` is nested too deeply"),
            "if" => {
                self.open.push(place.clone());
                RuleAction::If(condition()?)
            }
            "elif" | "else" | "endif" if self.open.is_empty() => return fault("there is no `if` before this"),
            "elif" => RuleAction::ElseIf(condition()?),
            "else" => RuleAction::Else,
            "endif" => {
                self.open.pop();
                RuleAction::EndIf
            }
            // Any other line is executed if the branch is.
            _ => RuleAction::Assign(String::new(), String::new()),
        };
        self.branches.enter(&action, holds)
    }

    /// Returns the place of an `if` that has no `endif`.
    pub fn unclosed(mut self) -> Option<Range<usize>> {
        self.open.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_IF_DEPTH, MacroStatement, TextBranches, is_include_optional};
    use crate::ad::Dialect;

    #[test]
    fn a_line_is_an_assignment_an_inclusion_or_a_message() {
        use MacroStatement::{Append, Assign, Block, Include, Message, Other, Use};
        let append = |name, between: &str, at| Append(name, between.to_owned(), at);
        for (text, expected) in [
            ("a = 1", Assign("a", 4)),
            ("a=1", Assign("a", 2)),
            ("a =", Assign("a", 3)),
            ("a   =   1", Assign("a", 8)),
            ("a += 1", append("a", " ", 5)),
            ("a +,=1", append("a", ",", 5)),
            ("a @=end", Block("a", "end")),
            ("a @= end ", Block("a", "end")),
            ("a @= ", Block("a", "")),
            ("include : x", Include("", 10)),
            ("@include: x", Include("", 10)),
            ("Include ifexist : x", Include("ifexist", 18)),
            ("include:", Include("", 8)),
            ("use ROLE : x", Use("ROLE", 11)),
            ("error : x", Message(true, 8)),
            ("warning:x", Message(false, 8)),
            ("other : x", Other),
            ("queue", Other),
            ("queue = 1", Other),
            ("queue x from (", Other),
            ("a b = 1", Other),
            ("a", Other),
            ("a + 1", Other),
            ("", Other),
            ("include x", Other),
        ] {
            assert_eq!(MacroStatement::of(text), expected, "{text}");
        }
    }

    #[test]
    fn a_file_that_may_be_missing_is_included_if_it_exists() {
        for (options, path, expected) in [
            ("", "x", Ok(false)),
            ("ifexist", "x", Ok(true)),
            ("IfExists", "x", Ok(true)),
            ("ifexist ifexist", "x", Ok(true)),
            ("command", "x", Err("no program is run to include what it prints")),
            ("into", "x", Err("no program is run to include what it prints")),
            ("ifexist output", "x", Err("no program is run to include what it prints")),
            ("", "x | ", Err("no program is run to include what it prints")),
            ("", "x | y", Ok(false)),
            ("ifexist quietly", "x", Err("`include` has no option `quietly`")),
        ] {
            let found = is_include_optional(options, path).map_err(|(reason, _)| reason);
            assert_eq!(found, expected.map_err(str::to_owned), "{options} {path}");
        }
    }

    #[test]
    fn the_lines_of_branches_that_count_are_executed() {
        let mut branches = TextBranches::default();
        for (line, (text, expected)) in [
            ("a = 1", "true"),
            ("if  yes", "false"),
            ("a = 2", "true"),
            ("IF no", "false"),
            ("a = 3", "false"),
            ("elif yes", "false"),
            ("a = 4", "true"),
            ("else", "false"),
            ("a = 5", "false"),
            ("endif", "false"),
            ("a = 6", "true"),
            ("elif bad word", "expected the end, found a name `word`"),
            ("if (", "expected an expression, found the end"),
            ("endif", "false"),
            ("endif", "false"),
            ("a = 7", "true"),
            ("endif", "there is no `if` before this"),
            ("else", "there is no `if` before this"),
            ("elif yes", "there is no `if` before this"),
        ]
        .into_iter()
        .enumerate()
        {
            let place = line..line + 1;
            let entered = branches.enter(text, &place, Dialect::Condor, |condition| Ok(condition.text() == "yes"));
            let shown = match entered {
                Ok(is) => is.to_string(),
                Err(problem) => {
                    assert_eq!(problem.range, place);
                    problem.message
                }
            };
            assert_eq!(shown, expected, "{line}: {text}");
        }
        assert_eq!(branches.unclosed(), None);
    }

    #[test]
    fn conditionals_are_nested_63_deep() {
        let mut branches = TextBranches::default();
        for depth in 0..=MAX_IF_DEPTH {
            let entered = branches.enter("if 1", &(depth..depth), Dialect::Condor, |_| Ok(true));
            assert_eq!(entered.is_ok(), depth < 63, "{depth}");
        }
        assert_eq!(branches.unclosed(), Some(62..62));
    }
}
