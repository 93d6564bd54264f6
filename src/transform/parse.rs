//! Parser of rules files.

use std::ops::Range;

use crate::ad::{Dialect, Name};
use crate::format::Problem;
use crate::syntax::ParseOptions;

use super::keywords::{
    Keyword, LineWord, LineWordKind, error, is_name, is_variable, next_word, skip_blank, word_attribute,
};
use super::line_syntax::{appending, operand_start, unknown_line};
use super::logical_line::{LogicalLine, LogicalLines};
use super::macros::{self, VariableTable};
use super::open_if::OpenIf;
use super::rule::{RuleAction, RuleOperand, RuleStatement, TransformRule};
use super::variable_uses::VariableUses;

/// Parses a file in HTCondor's transform language into rules and problems.
///
/// The first NAME names the rule; each further NAME begins another rule. In HTCondor a file is a single rule, whose
/// last NAME and last REQUIREMENTS count. If any problem is an error, the rules must not be used.
#[must_use]
pub fn parse_rules(text: &[u8], dialect: Dialect) -> (Vec<TransformRule>, Vec<Problem>) {
    match std::str::from_utf8(text) {
        Ok(text) => {
            let parsed = parse_lines(LogicalLines::new(text), dialect, &RuleSurroundings::default());
            (parsed.rules, parsed.problems)
        }
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
    /// Names of variables that rules before these give values.
    pub shared_variables: Vec<String>,
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
) -> ParsedRules {
    parse_lines(LogicalLines::of_part(text, part), dialect, surroundings)
}

/// Rules that were read, and the problems in them.
#[derive(Clone, Debug, Default)]
pub struct ParsedRules {
    /// The rules, without the statements that have errors.
    pub rules: Vec<TransformRule>,
    /// The problems, in the order of the text.
    pub problems: Vec<Problem>,
    /// Whether HTCondor uses the rules: it leaves out a statement whose expression is none, and refuses rules with other
    /// errors.
    pub are_usable: bool,
}

fn parse_lines(lines: LogicalLines<'_>, dialect: Dialect, surroundings: &RuleSurroundings) -> ParsedRules {
    let mut parser = RulesParser {
        dialect,
        lines,
        rules: vec![TransformRule::default()],
        problems: Vec::new(),
        open: Vec::new(),
        variables: VariableUses::new(&surroundings.variables, &surroundings.shared_variables),
        table: surroundings.variables.clone(),
        is_route: surroundings.is_route,
        are_usable: true,
        lacks_expression: false,
        ignores_lines: false,
    };
    while let Some(line) = parser.lines.next() {
        if !line.text.is_empty()
            && let Err(problem) = parser.line(&line)
        {
            parser.problems.push(line.locate(problem));
            parser.are_usable &= std::mem::take(&mut parser.lacks_expression);
        }
    }
    parser.finish()
}

/// Parser of a file. The errors that its methods return have ranges in the line; [`parse_rules`] converts them to
/// ranges in the file.
#[allow(clippy::struct_excessive_bools)] // each is a state of its own
pub(super) struct RulesParser<'t> {
    pub(super) dialect: Dialect,
    pub(super) lines: LogicalLines<'t>,
    /// The rules so far; the last one is being parsed.
    rules: Vec<TransformRule>,
    problems: Vec<Problem>,
    pub(super) open: Vec<OpenIf>,
    variables: VariableUses,
    /// Variables that have a value without the rules.
    pub(super) table: VariableTable,
    /// Whether a router reads the rules.
    is_route: bool,
    /// As in [`ParsedRules::are_usable`].
    are_usable: bool,
    /// Whether the error of the present line is that its expression is none.
    lacks_expression: bool,
    /// Whether the lines are ignored up to the next rule, because they follow TRANSFORM.
    ignores_lines: bool,
}

impl RulesParser<'_> {
    pub(super) fn rule(&mut self) -> &mut TransformRule {
        let last = self.rules.len() - 1;
        &mut self.rules[last]
    }

    fn line(&mut self, line: &LogicalLine) -> Result<(), Problem> {
        let text = line.text.as_str();
        // In an `if`, old versions of HTCondor are to ignore such a line.
        if !self.open.is_empty() && text.starts_with(':') {
            return self.line(&line.without_start(1));
        }
        let word = text.find(|c: char| c.is_ascii_whitespace() || matches!(c, '=' | ':')).unwrap_or(text.len());
        let (first, rest) = text.split_at(word);
        let behind = skip_blank(text, word);
        let is_whole_word = rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_whitespace());
        let keyword = Keyword::from_word(first).filter(|_| is_whole_word);
        if self.rule().iteration.is_some() && keyword != Some(Keyword::Name) {
            if !std::mem::replace(&mut self.ignores_lines, true) {
                self.warn(
                    line,
                    line.problem("this line and those after it follow TRANSFORM and are ignored, as in HTCondor"),
                );
            }
            return Ok(());
        }
        self.ignores_lines = false;
        if !keyword.is_some_and(Keyword::is_branch) {
            if text[behind..].starts_with('=') {
                return self.assignment(line, first, behind + 1);
            }
            if let Some((between, value)) = appending(&text[behind..]) {
                return self.appending(line, first, between, behind + value);
            }
            if text[behind..].starts_with("@=") {
                return self.here_document(line, first, behind + 2);
            }
        }
        match keyword {
            Some(keyword) => self.keyword(line, keyword, behind),
            None if first.eq_ignore_ascii_case("warning") && text[behind..].starts_with(':') => {
                self.warn(line, line.problem("HTCondor only prints this line"));
                Ok(())
            }
            None => Err(unknown_line(text, word, behind)),
        }
    }

    /// Parses `variable = text`. The text begins at the byte offset `value`.
    fn assignment(&mut self, line: &LogicalLine, name: &str, value: usize) -> Result<(), Problem> {
        let name = self.variable(line, name)?;
        let start = skip_blank(&line.text, value);
        self.check_macros(line, start, Some(&name));
        self.push(line, RuleAction::Assign(name, line.text[start..].to_owned()));
        Ok(())
    }

    /// Checks the name of an assigned variable and records it. Returns the name.
    pub(super) fn variable(&mut self, line: &LogicalLine, name: &str) -> Result<String, Problem> {
        let place = 0..name.len().max(1);
        if let Some(attribute) = name.strip_prefix(['+', '-']).filter(|attribute| is_name(attribute)) {
            let message = format!("this line sets a variable MY.{attribute}, not the attribute {attribute}");
            self.warn(line, error(place, message).with_help(format!("write `SET {attribute} ...`")));
            self.variables.define(&format!("MY.{attribute}"));
            return Ok(format!("MY.{attribute}"));
        }
        if macros::has_macros(name) && is_variable(&macros::with_placeholders(name, "x")) {
            self.variables.define_any();
            return Ok(name.to_owned());
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
        Ok(name.to_owned())
    }

    fn keyword(&mut self, line: &LogicalLine, keyword: Keyword, behind: usize) -> Result<(), Problem> {
        let word = keyword.as_str();
        if line.text[behind..].is_empty() && !matches!(keyword, Keyword::Else | Keyword::EndIf | Keyword::Transform) {
            if keyword == Keyword::If {
                // Its `endif` is no further error.
                self.open.push(OpenIf::new(line.whole_file_range()));
            }
            return Err(line.problem(format!("`{word}` needs something after it")).with_help(keyword.usage()));
        }
        let action = match keyword {
            Keyword::Name | Keyword::Requirements | Keyword::Universe | Keyword::Transform => {
                if !self.open.is_empty() {
                    let problem = line.problem(format!("{word} does not depend on the `if` around it"));
                    self.warn(
                        line,
                        problem.with_help("HTCondor reads this line whether the condition is true or false"),
                    );
                }
                return self.rule_heading(line, keyword, behind);
            }
            _ if keyword.is_branch() => self.if_statement(line, keyword, behind)?,
            _ => match self.edit_statement(line, keyword, behind)? {
                Some(action) => action,
                None => return Ok(()),
            },
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
                    let problem = line.problem("this rule has REQUIREMENTS already, which have no effect");
                    self.warn(line, problem.with_help("join them with `&&`; HTCondor only uses the last one"));
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
            // Without arguments it makes one ad, and the rule goes on.
            _ if text.is_empty() => {}
            _ => {
                let iteration = self.iteration(line, behind)?;
                iteration.variables.iter().for_each(|variable| self.variables.define(variable));
                self.rule().iteration = Some(iteration);
            }
        }
        Ok(())
    }

    /// Parses a statement that changes an attribute or a variable. `None` if HTCondor leaves it out, of which this warns.
    fn edit_statement(
        &mut self,
        line: &LogicalLine,
        keyword: Keyword,
        behind: usize,
    ) -> Result<Option<RuleAction>, Problem> {
        let text = line.text.as_str();
        let word = next_word(text, behind)?;
        let word = word.ok_or_else(|| line.problem(format!("`{}` needs something after it", keyword.as_str())))?;
        if keyword == Keyword::Delete {
            let target = self.target(line, &word)?;
            let rest = skip_blank(text, word.range.end);
            if rest < text.len() {
                let message = "the text after the name is ignored, as in HTCondor";
                self.warn(line, error(rest..text.len(), message));
            }
            return Ok(target.map(RuleAction::Delete));
        }
        let start = operand_start(text, word.range.end);
        if start >= text.len() {
            let pair = text[word.range].split_once('=').filter(|(name, value)| is_name(name) && !value.is_empty());
            let written = |(name, value)| format!("write `{} {name} {value}`", keyword.as_str());
            let help = pair.map_or_else(|| keyword.usage(), written);
            return Err(line.problem(format!("`{}` needs two things after it", keyword.as_str())).with_help(help));
        }
        let [long, escaped] = [ParseOptions::long(self.dialect), ParseOptions::new(self.dialect)];
        Ok(Some(match keyword {
            Keyword::Copy | Keyword::Rename => {
                let Some(target) = self.target(line, &word)? else { return Ok(None) };
                let name = self.new_name(line, &word, start)?;
                if keyword == Keyword::Copy { RuleAction::Copy(target, name) } else { RuleAction::Rename(target, name) }
            }
            Keyword::EvalMacro => {
                let variable = text[word.range.clone()].to_owned();
                if self.literal_name(line, &word).is_none() {
                    self.variable(line, &variable).map_err(|problem| Problem { range: word.range, ..problem })?;
                }
                RuleAction::EvaluateMacro(variable, self.evaluated_operand(line, start, escaped)?)
            }
            _ => {
                let name = self.literal_name(line, &word);
                let name = name.map_or_else(|| word_attribute(&word, self.dialect), Ok)?;
                match keyword {
                    Keyword::EvalSet => RuleAction::EvaluateSet(name, self.evaluated_operand(line, start, escaped)?),
                    Keyword::Default => RuleAction::Default(name, self.operand(line, start, long)?),
                    _ => RuleAction::Set(name, self.operand(line, start, long)?),
                }
            }
        }))
    }

    /// Returns the name that a word with macros is: HTCondor does not expand them. `None` for a word without macros.
    pub(super) fn literal_name(&mut self, line: &LogicalLine, word: &LineWord<'_>) -> Option<Name> {
        let LineWordKind::Plain(text) = word.kind else { return None };
        if !macros::has_macros(text) {
            return None;
        }
        let message = format!("macros are not expanded in this name: it stays `{text}`");
        self.warn(line, error(word.range.clone(), message));
        Some(Name::new(text))
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
        self.lacks_expression = true;
        let (operand, ignored) = RuleOperand::evaluated(&line.text[start..], rules)
            .map_err(|error| Problem::from_syntax(error, start, 0))?;
        self.lacks_expression = false;
        if let Some(ignored) = ignored {
            let message = "the text after the expression is ignored, as in HTCondor";
            self.warn(line, error(start + ignored..line.text.len(), message));
        }
        Ok(operand)
    }

    /// Parses the text of a line from the byte offset `start` as an expression.
    fn operand(&mut self, line: &LogicalLine, start: usize, rules: ParseOptions) -> Result<RuleOperand, Problem> {
        self.check_macros(line, start, None);
        self.lacks_expression = true;
        let operand =
            RuleOperand::new(&line.text[start..], rules).map_err(|error| Problem::from_syntax(error, start, 0))?;
        self.lacks_expression = false;
        Ok(operand)
    }

    pub(super) fn check_macros(&mut self, line: &LogicalLine, start: usize, own: Option<&str>) {
        let open = &self.open;
        let is_sure = |name: &str| {
            own.is_some_and(|own| own.eq_ignore_ascii_case(name)) || open.iter().any(|open| open.is_sure(name))
        };
        let problems = self.variables.check_macros(line, start, &is_sure);
        self.problems.extend(problems);
    }

    /// Records a warning. The ranges of `problem` are in the line.
    pub(super) fn warn(&mut self, line: &LogicalLine, problem: Problem) {
        self.problems.push(line.locate(problem.as_warning()));
    }

    pub(super) fn push(&mut self, line: &LogicalLine, action: RuleAction) {
        let statement = RuleStatement { action, range: line.whole_file_range(), line: line.number };
        self.rule().statements.push(statement);
    }

    fn finish(mut self) -> ParsedRules {
        self.are_usable &= self.open.is_empty();
        let unclosed = self.open.into_iter().map(|open| error(open.range, "this `if` has no `endif`"));
        self.problems.extend(unclosed);
        self.problems.extend(self.variables.without_value());
        self.problems.sort_by_key(|problem| problem.range.start);
        ParsedRules { rules: self.rules, problems: self.problems, are_usable: self.are_usable }
    }
}
