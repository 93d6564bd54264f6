//! Parser of rules files.

use std::ops::Range;

use crate::ad::Dialect;
use crate::format::Problem;
use crate::syntax::ParseOptions;

use super::condition::IfCondition;
use super::iteration::{self, IterationItems, TransformLine};
use super::keywords::{
    Keyword, LineWord, LineWordKind, error, is_name, is_variable, next_word, skip_blank, word_attribute, word_target,
};
use super::line_syntax::{operand_start, unknown_line};
use super::logical_line::{LogicalLine, LogicalLines};
use super::macros::{self, VariableTable};
use super::rule::{RuleAction, RuleOperand, RuleStatement, TransformRule};
use super::variable_uses::VariableUses;

/// Parses a file in HTCondor's transform language into rules and problems.
///
/// The first NAME names the rule; each further NAME begins another rule. In HTCondor a file is a single rule, whose
/// last NAME and last REQUIREMENTS count. If any problem is an error, the rules must not be used.
#[must_use]
pub fn parse_rules(text: &[u8], dialect: Dialect) -> (Vec<TransformRule>, Vec<Problem>) {
    match std::str::from_utf8(text) {
        Ok(text) => parse_lines(LogicalLines::new(text), dialect, &RuleSurroundings::default()),
        Err(invalid) => {
            let at = invalid.valid_up_to();
            (Vec::new(), vec![error(at..at + 1, "a rules file must be UTF-8")])
        }
    }
}

/// What rules find around them where they stand.
#[derive(Clone, Debug, Default)]
pub struct RuleSurroundings {
    /// Variables that have a value without the rules.
    pub variables: VariableTable,
    /// Whether a router reads the rules, so that UNIVERSE has an effect.
    pub is_route: bool,
}

/// Parses the rules in a part of a text, such as a value of a configuration, as [`parse_rules`] does. Ranges and
/// numbers of lines are those of the whole text.
#[must_use]
pub fn parse_rules_within(
    text: &str,
    part: Range<usize>,
    dialect: Dialect,
    surroundings: &RuleSurroundings,
) -> (Vec<TransformRule>, Vec<Problem>) {
    parse_lines(LogicalLines::of_part(text, part), dialect, surroundings)
}

fn parse_lines(
    lines: LogicalLines<'_>,
    dialect: Dialect,
    surroundings: &RuleSurroundings,
) -> (Vec<TransformRule>, Vec<Problem>) {
    let mut parser = RulesParser {
        dialect,
        lines,
        rules: vec![TransformRule::default()],
        problems: Vec::new(),
        open: Vec::new(),
        variables: VariableUses::new(&surroundings.variables),
        is_route: surroundings.is_route,
    };
    while let Some(line) = parser.lines.next() {
        if !line.text.is_empty()
            && let Err(problem) = parser.line(&line)
        {
            parser.problems.push(line.locate(problem));
        }
    }
    parser.finish()
}

/// Maximum nesting depth of `if`, as in HTCondor.
const MAX_IF_DEPTH: usize = 63;

/// Parser of a file. The errors that its methods return have ranges in the line; [`parse_rules`] converts them to
/// ranges in the file.
struct RulesParser<'t> {
    dialect: Dialect,
    lines: LogicalLines<'t>,
    /// The rules so far; the last one is being parsed.
    rules: Vec<TransformRule>,
    problems: Vec<Problem>,
    /// Open `if`s. Each has its range in the file, and whether its `else` was seen.
    open: Vec<(Range<usize>, bool)>,
    variables: VariableUses,
    /// Whether a router reads the rules.
    is_route: bool,
}

impl RulesParser<'_> {
    fn rule(&mut self) -> &mut TransformRule {
        let last = self.rules.len() - 1;
        &mut self.rules[last]
    }

    fn line(&mut self, line: &LogicalLine) -> Result<(), Problem> {
        let text = line.text.as_str();
        let word = text.find(|c: char| c.is_ascii_whitespace() || matches!(c, '=' | ':')).unwrap_or(text.len());
        let (first, rest) = text.split_at(word);
        let behind = skip_blank(text, word);
        let is_whole_word = rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_whitespace());
        let keyword = Keyword::from_word(first).filter(|_| is_whole_word);
        if !keyword.is_some_and(Keyword::is_branch) {
            if text[behind..].starts_with('=') {
                return self.assignment(line, first, behind + 1);
            }
            if text[behind..].starts_with("@=") {
                return self.here_document(line, first, behind + 2);
            }
        }
        match keyword {
            Some(keyword) => self.keyword(line, keyword, behind),
            None => Err(unknown_line(text, word, behind)),
        }
    }

    /// Parses `variable = text`. The text begins at the byte offset `value`.
    fn assignment(&mut self, line: &LogicalLine, name: &str, value: usize) -> Result<(), Problem> {
        self.variable(line, name)?;
        let start = skip_blank(&line.text, value);
        self.check_macros(line, start, Some(name));
        self.push(line, RuleAction::Assign(name.to_owned(), line.text[start..].to_owned()));
        Ok(())
    }

    /// Parses a here-document: `variable @=tag`, then lines up to `@tag`. The tag begins at the byte offset `tag`.
    fn here_document(&mut self, line: &LogicalLine, name: &str, tag: usize) -> Result<(), Problem> {
        self.variable(line, name)?;
        let end = format!("@{}", line.text[tag..].trim_ascii());
        let mut text = Vec::new();
        loop {
            let missing = || line.problem(format!("the line `{end}` that ends this text is missing"));
            let next = self.lines.next().ok_or_else(missing)?;
            if next.text == end {
                break;
            }
            if !next.text.is_empty() {
                self.check_macros(&next, 0, Some(name));
                text.push(next.text);
            }
        }
        self.push(line, RuleAction::Assign(name.to_owned(), text.join("\n")));
        Ok(())
    }

    /// Checks the name of an assigned variable and records it.
    fn variable(&mut self, line: &LogicalLine, name: &str) -> Result<(), Problem> {
        let place = 0..name.len().max(1);
        if let Some(attribute) = name.strip_prefix('+').filter(|attribute| is_name(attribute)) {
            let help = format!("write `SET {attribute} ...`");
            return Err(error(place, "this is not how a rule sets an attribute").with_help(help));
        }
        if !is_variable(name) {
            let help = "a variable's name has only ASCII letters, digits, `_`, `.` and `/`";
            let message = if name.is_empty() {
                "the name before `=` is missing".to_owned()
            } else {
                format!("`{name}` is not a variable name")
            };
            return Err(error(place, message).with_help(help));
        }
        if let Some(keyword) = Keyword::from_word(name) {
            if keyword.is_branch() {
                return Err(error(place, format!("`{name}` cannot name a variable")));
            }
            let message = format!("this line sets a variable {name}, because `=` follows the name");
            self.warn(line, error(place, message).with_help(keyword.usage()));
        }
        self.variables.define(name);
        Ok(())
    }

    fn keyword(&mut self, line: &LogicalLine, keyword: Keyword, behind: usize) -> Result<(), Problem> {
        let word = keyword.as_str();
        if line.text[behind..].is_empty() && !matches!(keyword, Keyword::Else | Keyword::EndIf | Keyword::Transform) {
            if keyword == Keyword::If {
                // Its `endif` is no further error.
                self.open.push((line.whole_file_range(), false));
            }
            return Err(line.problem(format!("`{word}` needs something after it")).with_help(keyword.usage()));
        }
        if keyword != Keyword::Name && self.rule().iteration.is_some() {
            let problem = line.problem("this line follows TRANSFORM, which must be the last line of its rule");
            return Err(problem.with_help("move this line before TRANSFORM, or begin another rule with NAME"));
        }
        let action = match keyword {
            Keyword::Name | Keyword::Requirements | Keyword::Universe | Keyword::Transform => {
                if !self.open.is_empty() {
                    let problem = line.problem(format!("{word} cannot depend on an `if`"));
                    return Err(problem.with_help("HTCondor reads this line whether the condition is true or false"));
                }
                return self.rule_heading(line, keyword, behind);
            }
            _ if keyword.is_branch() => self.if_statement(line, keyword, behind)?,
            _ => self.edit_statement(line, keyword, behind)?,
        };
        self.push(line, action);
        Ok(())
    }

    /// Parses a line about the rule as a whole: NAME, REQUIREMENTS, UNIVERSE or TRANSFORM.
    fn rule_heading(&mut self, line: &LogicalLine, keyword: Keyword, behind: usize) -> Result<(), Problem> {
        let text = &line.text[behind..];
        match keyword {
            Keyword::Name => {
                if self.rule().name.is_some() || self.rule().iteration.is_some() {
                    self.rules.push(TransformRule::default());
                }
                self.rule().name = Some(text.to_owned());
            }
            Keyword::Requirements => {
                if self.rule().requirements.is_some() {
                    let problem = line.problem("this rule has REQUIREMENTS already");
                    return Err(problem.with_help("join them with `&&`; HTCondor only uses the last one"));
                }
                if macros::has_macros(text) {
                    return Err(error(behind..line.text.len(), "macros are not expanded in REQUIREMENTS"));
                }
                let operand = RuleOperand::new(text, ParseOptions::long(self.dialect));
                self.rule().requirements = Some(operand.map_err(|error| Problem::from_syntax(error, behind, 0))?);
            }
            Keyword::Universe => {
                self.rule().universe = Some(text.to_owned());
                if !self.is_route {
                    self.warn(line, line.problem("UNIVERSE has no effect here: only HTCondor's job router uses it"));
                }
            }
            _ => {
                let iteration = self.iteration(line, behind)?;
                iteration.variables.iter().for_each(|variable| self.variables.define(variable));
                self.rule().iteration = Some(iteration);
            }
        }
        Ok(())
    }

    /// Parses the arguments of TRANSFORM and the following lines with its items.
    fn iteration(&mut self, line: &LogicalLine, behind: usize) -> Result<TransformLine, Problem> {
        let (mut iteration, items_follow) = iteration::parse_arguments(&line.text, behind)?;
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
                Some(IterationItems::In(items)) => items.extend(iteration::words(&next.text)),
                None => {}
            }
        }
        iteration::check_total(&iteration, 0..line.text.len())?;
        Ok(iteration)
    }

    /// Parses `if`, `elif`, `else` or `endif`.
    fn if_statement(&mut self, line: &LogicalLine, keyword: Keyword, behind: usize) -> Result<RuleAction, Problem> {
        let word = keyword.as_str();
        match (keyword, self.open.last_mut()) {
            (Keyword::If, _) => {
                if self.open.len() >= MAX_IF_DEPTH {
                    return Err(line.problem(format!("`if` is nested more than {MAX_IF_DEPTH} levels deep")));
                }
                self.open.push((line.whole_file_range(), false));
            }
            (_, None) => return Err(line.problem(format!("`{word}` without an `if`"))),
            (Keyword::EndIf, _) => {
                self.open.pop();
            }
            (_, Some((_, true))) => return Err(line.problem(format!("`{word}` after an `else`"))),
            (_, Some((_, has_else))) => *has_else = keyword == Keyword::Else,
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
                let is_if = keyword == Keyword::If;
                Ok(if is_if { RuleAction::If(condition) } else { RuleAction::ElseIf(condition) })
            }
        }
    }

    /// Parses a statement that changes an attribute or a variable.
    fn edit_statement(&mut self, line: &LogicalLine, keyword: Keyword, behind: usize) -> Result<RuleAction, Problem> {
        let text = line.text.as_str();
        let word = next_word(text, behind)?;
        let word = word.ok_or_else(|| line.problem(format!("`{}` needs something after it", keyword.as_str())))?;
        if keyword == Keyword::Delete {
            let target = word_target(&word, self.dialect)?;
            let rest = skip_blank(text, word.range.end);
            if rest < text.len() {
                let message = "the text after the name is ignored, as in HTCondor";
                self.warn(line, error(rest..text.len(), message));
            }
            return Ok(RuleAction::Delete(target));
        }
        let start = operand_start(text, word.range.end);
        if start >= text.len() {
            let help = match text[word.range].split_once('=') {
                Some((name, value)) if is_name(name) => format!("write `{} {name} {value}`", keyword.as_str()),
                _ => keyword.usage(),
            };
            return Err(line.problem(format!("`{}` needs two things after it", keyword.as_str())).with_help(help));
        }
        let [long, escaped] = [ParseOptions::long(self.dialect), ParseOptions::new(self.dialect)];
        Ok(match keyword {
            Keyword::Copy | Keyword::Rename => {
                let target = word_target(&word, self.dialect)?;
                let name = self.new_name(line, &word, start)?;
                if keyword == Keyword::Copy { RuleAction::Copy(target, name) } else { RuleAction::Rename(target, name) }
            }
            Keyword::EvalMacro => {
                let variable = text[word.range.clone()].to_owned();
                self.variable(line, &variable).map_err(|problem| Problem { range: word.range, ..problem })?;
                RuleAction::EvaluateMacro(variable, self.evaluated_operand(line, start, escaped)?)
            }
            _ => {
                let name = word_attribute(&word, self.dialect)?;
                match keyword {
                    Keyword::EvalSet => RuleAction::EvaluateSet(name, self.evaluated_operand(line, start, escaped)?),
                    Keyword::Default => RuleAction::Default(name, self.operand(line, start, long)?),
                    _ => RuleAction::Set(name, self.operand(line, start, long)?),
                }
            }
        })
    }

    /// Parses the second operand of COPY or RENAME, which is the new name and begins at `start`. `word` is the first
    /// operand: after a pattern the new name may contain `\1`.
    fn new_name(&mut self, line: &LogicalLine, word: &LineWord<'_>, start: usize) -> Result<String, Problem> {
        self.check_macros(line, start, None);
        let name = &line.text[start..];
        let is_template = matches!(word.kind, LineWordKind::Pattern(_)) && name.contains('\\');
        if macros::has_macros(name) || is_template || is_name(name) {
            return Ok(name.to_owned());
        }
        Err(error(start..line.text.len(), format!("`{name}` is not an attribute name")))
    }

    /// Parses the text of a line from the byte offset `start` as an expression that is evaluated. Warns of text behind
    /// it.
    fn evaluated_operand(
        &mut self,
        line: &LogicalLine,
        start: usize,
        rules: ParseOptions,
    ) -> Result<RuleOperand, Problem> {
        self.check_macros(line, start, None);
        let (operand, ignored) = RuleOperand::evaluated(&line.text[start..], rules)
            .map_err(|error| Problem::from_syntax(error, start, 0))?;
        if let Some(ignored) = ignored {
            let message = "the text after the expression is ignored, as in HTCondor";
            self.warn(line, error(start + ignored..line.text.len(), message));
        }
        Ok(operand)
    }

    /// Parses the text of a line from the byte offset `start` as an expression.
    fn operand(&mut self, line: &LogicalLine, start: usize, rules: ParseOptions) -> Result<RuleOperand, Problem> {
        self.check_macros(line, start, None);
        RuleOperand::new(&line.text[start..], rules).map_err(|error| Problem::from_syntax(error, start, 0))
    }

    fn check_macros(&mut self, line: &LogicalLine, start: usize, own: Option<&str>) {
        self.problems.extend(self.variables.check_macros(line, start, own));
    }

    /// Records a warning. The ranges of `problem` are in the line.
    fn warn(&mut self, line: &LogicalLine, problem: Problem) {
        self.problems.push(line.locate(problem.as_warning()));
    }

    fn push(&mut self, line: &LogicalLine, action: RuleAction) {
        let statement = RuleStatement { action, range: line.whole_file_range(), line: line.number };
        self.rule().statements.push(statement);
    }

    fn finish(mut self) -> (Vec<TransformRule>, Vec<Problem>) {
        let unclosed = self.open.into_iter().map(|(place, _)| error(place, "this `if` has no `endif`"));
        self.problems.extend(unclosed);
        self.problems.extend(self.variables.without_value());
        self.problems.sort_by_key(|problem| problem.range.start);
        (self.rules, self.problems)
    }
}
