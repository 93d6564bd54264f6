//! Parser of `+=`, and of the parts of rules that go over several lines: here-documents, items of TRANSFORM, `if`s.

use std::ops::Range;

use crate::eval::Context;
use crate::format::Problem;
use crate::syntax::ParseOptions;

use super::condition::IfCondition;
use super::iteration::{self, IterationItems, TransformArguments, TransformLine};
use super::keywords::{Keyword, LineWord, LineWordKind, error, is_name, skip_blank, word_target};
use super::logical_line::LogicalLine;
use super::macros;
use super::open_if::OpenIf;
use super::parse::RulesParser;
use super::rule::{RuleAction, RuleTarget};

/// Maximum nesting depth of `if`, as in HTCondor.
const MAX_IF_DEPTH: usize = 63;

impl RulesParser<'_> {
    /// Parses `variable += text`. The text begins at the byte offset `value`.
    pub(super) fn appending(
        &mut self,
        line: &LogicalLine,
        name: &str,
        between: String,
        value: usize,
    ) -> Result<(), Problem> {
        let name = self.variable(line, name)?;
        let start = skip_blank(&line.text, value);
        self.check_macros(line, start, Some(&name));
        self.push(line, RuleAction::Append(name, between, line.text[start..].to_owned()));
        Ok(())
    }

    /// Parses a here-document: `variable @=tag`, then lines up to `@tag`. The tag begins at the byte offset `tag`.
    pub(super) fn here_document(&mut self, line: &LogicalLine, name: &str, tag: usize) -> Result<(), Problem> {
        let name = self.variable(line, name)?;
        let end = format!("@{}", line.text[tag..].trim_ascii());
        let mut text = Vec::new();
        loop {
            let missing = || line.problem(format!("the line `{end}` that ends this text is missing"));
            let next = self.lines.next().ok_or_else(missing)?;
            if next.text == end {
                break;
            }
            if !next.text.is_empty() {
                self.check_macros(&next, 0, Some(&name));
                text.push(next.text);
            }
        }
        self.push(line, RuleAction::Assign(name, text.join("\n")));
        Ok(())
    }

    /// Parses the arguments of TRANSFORM and the following lines with its items.
    pub(super) fn iteration(&mut self, line: &LogicalLine, behind: usize) -> Result<TransformLine, Problem> {
        let text = self.without_macros(line, behind)?;
        let whole = 0..line.text.len();
        // The range of what macros have made is that of the line.
        let place = |range: Range<usize>| if text == line.text { range } else { whole.clone() };
        let arguments = iteration::parse_arguments(&text, behind)
            .map_err(|problem| Problem { range: place(problem.range.clone()), ..problem })?;
        let TransformArguments { line: mut iteration, items_follow, slice } = arguments;
        iteration.has_macros = macros::has_macros(&line.text[behind..]);
        if let Some(slice) = slice {
            let problem = error(place(slice), "HTCondor ignores this slice: all items are used");
            self.warn(line, problem.with_help("list the items that you need, without brackets"));
        }
        if !items_follow {
            return Ok(iteration);
        }
        loop {
            let next = self.lines.next().ok_or_else(|| line.problem("the `)` that ends this list is missing"))?;
            if next.text.starts_with(')') {
                break;
            }
            match iteration.items.as_mut() {
                Some(IterationItems::From(lines)) => lines.push(next.text),
                Some(IterationItems::In(items)) => {
                    let text = self.without_macros(&next, 0);
                    // The ranges of the other errors are in the first line.
                    let text = text.map_err(|problem| Problem { range: whole.clone(), ..problem })?;
                    items.extend(iteration::words(&text));
                }
                None => {}
            }
        }
        iteration::check_total(&mut iteration, true, whole)?;
        Ok(iteration)
    }

    /// Returns a line with the macros behind a byte offset expanded as HTCondor does it when it reads the rules: their
    /// own variables have no values yet. Warns of a macro that expands to nothing.
    fn without_macros(&mut self, line: &LogicalLine, behind: usize) -> Result<String, Problem> {
        let arguments = &line.text[behind..];
        if !macros::has_macros(arguments) {
            return Ok(line.text.clone());
        }
        let context = Context::new(self.dialect);
        let expansion = self.table.expand(arguments.as_bytes(), &context);
        let expansion = expansion.map_err(|reason| error(behind..line.text.len(), reason))?;
        if let Some(unknown) = &expansion.unknown {
            let message =
                format!("{unknown} has no value here: this line is expanded before the rules are carried out");
            self.warn(line, error(behind..line.text.len(), message).with_help("write its value"));
        }
        Ok(format!("{}{}", &line.text[..behind], String::from_utf8_lossy(&expansion.text)))
    }

    /// Parses `if`, `elif`, `else` or `endif`.
    pub(super) fn if_statement(
        &mut self,
        line: &LogicalLine,
        keyword: Keyword,
        behind: usize,
    ) -> Result<RuleAction, Problem> {
        let word = keyword.as_str();
        match (keyword, self.open.last_mut()) {
            (Keyword::If, _) => {
                if self.open.len() >= MAX_IF_DEPTH {
                    return Err(line.problem(format!("`if` is nested more than {MAX_IF_DEPTH} levels deep")));
                }
                self.open.push(OpenIf::new(line.whole_file_range()));
            }
            (_, None) => return Err(line.problem(format!("`{word}` without an `if`"))),
            (Keyword::EndIf, _) => {
                self.open.pop();
            }
            (_, Some(open)) if open.has_else => return Err(line.problem(format!("`{word}` after an `else`"))),
            (_, Some(open)) => open.begin_branch(keyword == Keyword::Else),
        }
        let rest = &line.text[behind..];
        match keyword {
            Keyword::EndIf => Ok(RuleAction::EndIf),
            Keyword::Else if rest.is_empty() || rest.starts_with('#') => Ok(RuleAction::Else),
            Keyword::Else => {
                let problem = error(behind..line.text.len(), "nothing may follow `else`");
                Err(problem.with_help("for another condition write `elif`"))
            }
            _ => {
                self.check_macros(line, behind, None);
                let condition = IfCondition::new(rest, ParseOptions::new(self.dialect));
                let condition = condition.map_err(|error| Problem::from_syntax(error, behind, 0))?;
                if let Some(open) = self.open.last_mut() {
                    open.add_condition(rest);
                }
                let is_if = keyword == Keyword::If;
                Ok(if is_if { RuleAction::If(condition) } else { RuleAction::ElseIf(condition) })
            }
        }
    }

    /// Returns the attributes that a word selects. `None` for a wrong regular expression, of which this warns: HTCondor
    /// leaves out the statement.
    pub(super) fn target(&mut self, line: &LogicalLine, word: &LineWord<'_>) -> Result<Option<RuleTarget>, Problem> {
        if let Some(name) = self.literal_name(line, word) {
            return Ok(Some(RuleTarget::Name(name)));
        }
        match word_target(word, self.dialect) {
            Err(problem) if matches!(word.kind, LineWordKind::Pattern(_)) => {
                let message = format!("{}; this statement is left out", problem.message);
                self.warn(line, Problem { message, ..problem });
                Ok(None)
            }
            target => target.map(Some),
        }
    }

    /// Parses the second operand of COPY or RENAME, which is the new name and begins at `start`. `word` is the first
    /// operand: after a pattern the new name may contain `\1`.
    pub(super) fn new_name(
        &mut self,
        line: &LogicalLine,
        word: &LineWord<'_>,
        start: usize,
    ) -> Result<String, Problem> {
        self.check_macros(line, start, None);
        let name = &line.text[start..];
        let is_template = matches!(word.kind, LineWordKind::Pattern(_)) && name.contains('\\');
        if macros::has_macros(name) || is_template || is_name(name) {
            return Ok(name.to_owned());
        }
        Err(error(start..line.text.len(), format!("`{name}` is not an attribute name")))
    }
}
