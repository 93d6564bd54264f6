//! Parser of rules files.

use std::ops::Range;

use crate::ad::{Dialect, Name};
use crate::format::Problem;
use crate::syntax::ParseOptions;

use super::condition::IfCondition;
use super::iteration::{self, IterationItems, TransformArguments, TransformLine};
use super::keywords;
use super::keywords::{Keyword, LineWord, is_variable, next_word, skip_blank};
use super::logical_line::{LogicalLine, LogicalLines};
use super::macros;
use super::rule::{RuleAction, RuleOperand, RuleStatement, TransformRule};
use super::variable_uses::VariableUses;

/// Parses a file in HTCondor's transform language into rules and problems.
///
/// The first NAME names the rule; each further NAME begins another rule. In HTCondor a file is a single rule, whose
/// last NAME and last REQUIREMENTS count. If any problem is an error, the rules must not be used.
#[must_use]
pub fn parse_rules(text: &[u8], dialect: Dialect) -> (Vec<TransformRule>, Vec<Problem>) {
    let text = match std::str::from_utf8(text) {
        Ok(text) => text,
        Err(error) => {
            let at = error.valid_up_to();
            return (Vec::new(), vec![Problem::error_at(at..at + 1, 0, "a rules file must be UTF-8")]);
        }
    };
    let mut parser = RulesParser {
        dialect,
        lines: LogicalLines::new(text),
        rules: vec![TransformRule::default()],
        problems: Vec::new(),
        open: Vec::new(),
        variables: VariableUses::new(),
    };
    while let Some(line) = parser.lines.next() {
        if !line.text.is_empty()
            && let Err(problem) = parser.line(&line)
        {
            parser.problems.push(problem);
        }
    }
    parser.finish()
}

/// Maximum nesting depth of `if`, as in HTCondor.
const MAX_IF_DEPTH: usize = 63;

struct RulesParser<'t> {
    dialect: Dialect,
    lines: LogicalLines<'t>,
    rules: Vec<TransformRule>,
    problems: Vec<Problem>,
    /// Open `if`s: their range in the file, and whether their `else` was seen.
    open: Vec<(Range<usize>, bool)>,
    variables: VariableUses,
}

impl RulesParser<'_> {
    fn rule(&mut self) -> &mut TransformRule {
        if self.rules.is_empty() {
            self.rules.push(TransformRule::default());
        }
        let last = self.rules.len() - 1;
        &mut self.rules[last]
    }

    fn line(&mut self, line: &LogicalLine) -> Result<(), Problem> {
        let text = line.text.as_str();
        let word = text.find(|c: char| c.is_ascii_whitespace() || matches!(c, '=' | ':')).unwrap_or(text.len());
        let behind = skip_blank(text, word);
        let keyword = Keyword::from_word(&text[..word]);
        let branch = matches!(keyword, Some(Keyword::If | Keyword::Elif | Keyword::Else | Keyword::EndIf));
        let ends = text[word..].starts_with(|c: char| c.is_ascii_whitespace()) || word == text.len();
        if !(branch && ends) {
            if text[behind..].starts_with('=') {
                return self.assignment(line, &text[..word], behind + 1);
            }
            if text[behind..].starts_with("@=") {
                return self.here_document(line, &text[..word], behind + 2);
            }
        }
        match keyword {
            Some(keyword) if ends => self.keyword(line, keyword, behind),
            _ => Err(unknown_line(line, word, behind)),
        }
    }

    /// Parses `variable = text`.
    fn assignment(&mut self, line: &LogicalLine, name: &str, value: usize) -> Result<(), Problem> {
        self.variable(line, name)?;
        let start = skip_blank(&line.text, value);
        self.check_macros(line, start, Some(name));
        self.push(line, RuleAction::Assign(name.to_owned(), line.text[start..].to_owned()));
        Ok(())
    }

    /// Parses a here-document: `variable @=tag`, then lines up to `@tag`.
    fn here_document(&mut self, line: &LogicalLine, name: &str, tag: usize) -> Result<(), Problem> {
        self.variable(line, name)?;
        let end = format!("@{}", line.text[tag..].trim_ascii());
        let mut text = Vec::new();
        loop {
            match self.lines.next() {
                Some(next) if next.text == end => break,
                Some(next) if next.text.is_empty() => {}
                Some(next) => {
                    self.check_macros(&next, 0, Some(name));
                    text.push(next.text);
                }
                None => {
                    let message = format!("the line `{end}` that ends this text is missing");
                    return Err(line.problem(message));
                }
            }
        }
        self.push(line, RuleAction::Assign(name.to_owned(), text.join("\n")));
        Ok(())
    }

    /// Checks the name of an assigned variable and records it.
    fn variable(&mut self, line: &LogicalLine, name: &str) -> Result<(), Problem> {
        let place = 0..name.len().max(1);
        if let Some(attribute) = name.strip_prefix('+').filter(|attribute| keywords::is_name(attribute)) {
            return Err(line
                .problem_at(place, "a rule sets no attribute like this")
                .with_help(format!("write `SET {attribute} ...`")));
        }
        if !is_variable(name) {
            let problem = line.problem_at(place, format!("`{name}` is no name of a variable"));
            return Err(problem.with_help("a variable's name has letters, digits, underscores and dots"));
        }
        if matches!(Keyword::from_word(name), Some(Keyword::If | Keyword::Elif | Keyword::Else | Keyword::EndIf)) {
            return Err(line.problem_at(place, format!("{name} cannot name a variable")));
        }
        if let Some(keyword) = Keyword::from_word(name) {
            let message = format!("this gives a variable called {name} a value, because `=` stands behind it");
            self.problems.push(line.problem_at(place, message).with_help(keyword.usage()).as_warning());
        }
        self.variables.define(name);
        Ok(())
    }

    fn keyword(&mut self, line: &LogicalLine, keyword: Keyword, behind: usize) -> Result<(), Problem> {
        let text = line.text.as_str();
        if text[behind..].is_empty() && !matches!(keyword, Keyword::Else | Keyword::EndIf | Keyword::Transform) {
            let problem = line.problem(format!("{} wants more", keyword.as_str()));
            return Err(problem.with_help(keyword.usage()));
        }
        let in_rule = !matches!(keyword, Keyword::Name);
        if in_rule && self.rule().iteration.is_some() {
            let problem = line.problem("nothing of this rule may stand behind its TRANSFORM");
            return Err(problem.with_help("HTCondor reads no further; only another NAME may follow"));
        }
        match keyword {
            Keyword::Name | Keyword::Requirements | Keyword::Universe | Keyword::Transform => {
                if !self.open.is_empty() {
                    let message = format!("{} cannot depend on an `if`", keyword.as_str());
                    return Err(line.problem(message).with_help("HTCondor reads it whatever the condition is"));
                }
                self.rule_heading(line, keyword, behind)
            }
            Keyword::If | Keyword::Elif | Keyword::Else | Keyword::EndIf => self.if_statement(line, keyword, behind),
            _ => {
                let action = self.editing_statement(line, keyword, behind)?;
                self.push(line, action);
                Ok(())
            }
        }
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
                    return Err(problem.with_help("join them with `&&`; HTCondor would only use the last"));
                }
                if macros::has_macros(text) {
                    return Err(line.problem_at(behind..line.text.len(), "macros are not expanded in REQUIREMENTS"));
                }
                let operand = RuleOperand::new(text, ParseOptions::long(self.dialect));
                self.rule().requirements =
                    Some(operand.map_err(|error| line.locate(Problem::from_syntax(error, behind, 0)))?);
            }
            Keyword::Universe => {
                let message = "UNIVERSE has no effect: only HTCondor's job router uses it";
                self.problems.push(line.problem(message).as_warning());
            }
            _ => {
                let iteration = self.iteration(line, behind)?;
                iteration.variables.iter().for_each(|variable| self.variables.define(variable));
                self.rule().iteration = Some(iteration);
            }
        }
        Ok(())
    }

    /// Parses the arguments of TRANSFORM and the lines that belong to them.
    fn iteration(&mut self, line: &LogicalLine, behind: usize) -> Result<TransformLine, Problem> {
        let mut iteration =
            match iteration::parse_arguments(&line.text, behind).map_err(|problem| line.locate(problem))? {
                TransformArguments::Complete(iteration) => return Ok(iteration),
                TransformArguments::ItemsFollow(iteration) => iteration,
            };
        loop {
            let Some(next) = self.lines.next() else {
                return Err(line.problem("the `)` that ends this list is missing"));
            };
            if next.text.starts_with(')') {
                break;
            }
            match iteration.items.as_mut() {
                Some(IterationItems::From(lines)) => lines.push(next.text),
                Some(IterationItems::In(items)) => items.extend(iteration::words(&next.text)),
                None => {}
            }
        }
        iteration::check_total(&iteration, 0..line.text.len()).map_err(|problem| line.locate(problem))?;
        Ok(iteration)
    }

    fn if_statement(&mut self, line: &LogicalLine, keyword: Keyword, behind: usize) -> Result<(), Problem> {
        let condition = |parser: &mut Self| {
            parser.check_macros(line, behind, None);
            let condition = IfCondition::new(&line.text[behind..], ParseOptions::new(parser.dialect));
            condition.map_err(|error| line.locate(Problem::from_syntax(error, behind, 0)))
        };
        let without = || line.problem(format!("{} without an `if`", keyword.as_str()));
        let after_else = || line.problem(format!("{} behind an `else`", keyword.as_str()));
        let action = match keyword {
            Keyword::If => {
                if self.open.len() >= MAX_IF_DEPTH {
                    return Err(line.problem(format!("`if`s are nested more than {MAX_IF_DEPTH} deep")));
                }
                self.open.push((line.whole_file_range(), false));
                RuleAction::If(condition(self)?)
            }
            Keyword::Elif => match self.open.last() {
                None => return Err(without()),
                Some((_, true)) => return Err(after_else()),
                Some(_) => RuleAction::ElseIf(condition(self)?),
            },
            Keyword::Else => match self.open.last_mut() {
                None => return Err(without()),
                Some((_, seen)) if *seen => return Err(after_else()),
                Some((_, seen)) => {
                    *seen = true;
                    if !line.text[behind..].is_empty() && !line.text[behind..].starts_with('#') {
                        let place = behind..line.text.len();
                        let help = "for another condition write `elif`";
                        return Err(line.problem_at(place, "nothing may stand behind `else`").with_help(help));
                    }
                    RuleAction::Else
                }
            },
            _ => {
                self.open.pop().ok_or_else(without)?;
                RuleAction::EndIf
            }
        };
        self.push(line, action);
        Ok(())
    }

    /// Parses a statement that changes an attribute or a variable.
    fn editing_statement(
        &mut self,
        line: &LogicalLine,
        keyword: Keyword,
        behind: usize,
    ) -> Result<RuleAction, Problem> {
        let text = line.text.as_str();
        let word = next_word(text, behind).map_err(|problem| line.locate(problem))?;
        let word = word.ok_or_else(|| line.problem(format!("{} wants more", keyword.as_str())))?;
        if keyword == Keyword::Delete {
            let target = self.target(line, &word)?;
            let rest = skip_blank(text, word.range.end);
            if rest < text.len() {
                let message = "what stands behind the name is ignored, as HTCondor ignores it";
                self.problems.push(line.problem_at(rest..text.len(), message).as_warning());
            }
            return Ok(RuleAction::Delete(target));
        }
        let start = operand_start(text, word.range.end);
        let missing = || {
            let written = &text[word.range.clone()];
            let help = match written.split_once('=') {
                Some((name, value)) if keywords::is_name(name) => {
                    format!("write `{} {name} {value}`", keyword.as_str())
                }
                _ => keyword.usage(),
            };
            line.problem(format!("{} wants two things", keyword.as_str())).with_help(help)
        };
        if start >= text.len() {
            return Err(missing());
        }
        Ok(match keyword {
            Keyword::Copy | Keyword::Rename => {
                let target = self.target(line, &word)?;
                let name = &text[start..];
                self.check_macros(line, start, None);
                let pattern = matches!(target, super::RuleTarget::Pattern(_)) && name.contains('\\');
                if !macros::has_macros(name) && !pattern && !keywords::is_name(name) {
                    let message = format!("`{name}` is no name of an attribute");
                    return Err(line.problem_at(start..text.len(), message));
                }
                let name = name.to_owned();
                if keyword == Keyword::Copy { RuleAction::Copy(target, name) } else { RuleAction::Rename(target, name) }
            }
            Keyword::EvalMacro => {
                let variable = text[word.range.clone()].to_owned();
                self.variable(line, &variable)
                    .map_err(|problem| Problem { range: line.file_range(word.range), ..problem })?;
                RuleAction::EvaluateMacro(variable, self.operand(line, start, ParseOptions::new(self.dialect))?)
            }
            _ => {
                let name = self.attribute(line, &word)?;
                match keyword {
                    Keyword::EvalSet => {
                        RuleAction::EvaluateSet(name, self.operand(line, start, ParseOptions::new(self.dialect))?)
                    }
                    Keyword::Default => {
                        RuleAction::Default(name, self.operand(line, start, ParseOptions::long(self.dialect))?)
                    }
                    _ => RuleAction::Set(name, self.operand(line, start, ParseOptions::long(self.dialect))?),
                }
            }
        })
    }

    fn target(&self, line: &LogicalLine, word: &LineWord) -> Result<super::RuleTarget, Problem> {
        keywords::word_target(&line.text, word, self.dialect).map_err(|problem| line.locate(problem))
    }

    fn attribute(&self, line: &LogicalLine, word: &LineWord) -> Result<Name, Problem> {
        if matches!(word.kind, keywords::LineWordKind::Pattern(_)) {
            let message = "a regular expression can stand only behind COPY, RENAME and DELETE";
            return Err(line.problem_at(word.range.clone(), message));
        }
        keywords::word_attribute(&line.text, word, self.dialect).map_err(|problem| line.locate(problem))
    }

    /// Parses the rest of a line as an expression.
    fn operand(&mut self, line: &LogicalLine, start: usize, rules: ParseOptions) -> Result<RuleOperand, Problem> {
        self.check_macros(line, start, None);
        RuleOperand::new(&line.text[start..], rules).map_err(|error| line.locate(Problem::from_syntax(error, start, 0)))
    }

    fn check_macros(&mut self, line: &LogicalLine, start: usize, own: Option<&str>) {
        self.problems.extend(self.variables.check_macros(line, start, own));
    }

    fn push(&mut self, line: &LogicalLine, action: RuleAction) {
        let statement = RuleStatement { action, range: line.whole_file_range(), line: line.number };
        self.rule().statements.push(statement);
    }

    fn finish(mut self) -> (Vec<TransformRule>, Vec<Problem>) {
        for (place, _) in &self.open {
            self.problems.push(Problem::error_at(place.clone(), 0, "the `endif` of this is missing"));
        }
        self.problems.extend(self.variables.without_value());
        self.problems.sort_by_key(|problem| problem.range.start);
        (self.rules, self.problems)
    }
}

/// Returns the offset of the second operand, after a `=` or a comma that stands alone.
fn operand_start(text: &str, at: usize) -> usize {
    let start = skip_blank(text, at);
    let rest = &text[start..];
    let alone = rest.starts_with(['=', ',']) && rest[1..].starts_with(|c: char| c.is_ascii_whitespace());
    if alone || matches!(rest, "=" | ",") { skip_blank(text, start + 1) } else { start }
}

/// Returns the problem of a line that does not begin with a keyword.
fn unknown_line(line: &LogicalLine, word: usize, behind: usize) -> Problem {
    let text = line.text.as_str();
    let first = &text[..word];
    let problem_at = |message: &str| line.problem_at(0..word.max(1), message);
    if first.is_empty() {
        return problem_at("a line cannot begin with this");
    }
    if text[behind..].contains(':')
        && ["include", "use", "error", "warning"].iter().any(|w| first.eq_ignore_ascii_case(w))
    {
        return problem_at(&format!("`{first} :` is not supported in rules"));
    }
    let problem = problem_at(&format!("`{first}` is no keyword"));
    if text[word..].starts_with(':') {
        return problem.with_help("a variable is given a value with `=`");
    }
    match Keyword::most_similar(first) {
        Some(near) => problem.with_help(format!("did you mean {near}?")),
        None => problem.with_help("a line begins with a keyword such as SET, or reads `variable = text`"),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_rules;
    use crate::ad::Dialect;
    use crate::format::{Position, Severity};

    /// Formats each problem as `line:column: message (help)`; warnings begin with a tilde.
    fn problems(text: &str) -> Vec<String> {
        let (_, problems) = parse_rules(text.as_bytes(), Dialect::Condor);
        let shown = problems.into_iter().map(|problem| {
            assert!(problem.range.end <= text.len(), "{problem:?} of {text}");
            let at = Position::of_offset(text.as_bytes(), problem.range.start);
            let mark = if problem.severity == Severity::Warning { "~" } else { "" };
            let help = problem.help.map_or(String::new(), |help| format!(" ({help})"));
            format!("{mark}{}:{}: {}{help}", at.line, at.column, problem.message)
        });
        shown.collect()
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, expected) in [
            ("SETT A 1", "1:1: `SETT` is no keyword (did you mean SET?)"),
            (
                "qwerty A 1",
                "1:1: `qwerty` is no keyword (a line begins with a keyword such as SET, or reads `variable = text`)",
            ),
            ("SET", "1:1: SET wants more (write `SET attribute expression`)"),
            ("SET A", "1:1: SET wants two things (write `SET attribute expression`)"),
            ("SET A=1", "1:1: SET wants two things (write `SET A 1`)"),
            ("SET A= 1", "1:5: `A=` is no name of an attribute (write a blank instead of the `=`)"),
            ("SET A 1 +", "1:10: expected an expression, found the end (`+` wants something behind it)"),
            ("SET A (1 \\\n  + ]", "2:5: expected an expression, found `]` (`+` wants something behind it)"),
            ("SET /a/ 1", "1:5: a regular expression can stand only behind COPY, RENAME and DELETE"),
            ("\n  DELETE /[a/", "2:10: `[a` is not a pattern: missing terminating ] for character class"),
            (
                "DELETE /a",
                "1:8: the second slash is missing (a regular expression stands between two slashes, and has none in it)",
            ),
            (
                "DELETE /a/iz",
                "1:12: this is no option (behind a regular expression can stand g, i, m and U; a slash cannot be part of it)",
            ),
            ("DELETE A B", "~1:10: what stands behind the name is ignored, as HTCondor ignores it"),
            ("COPY A 1x", "1:8: `1x` is no name of an attribute"),
            ("REQUIREMENTS A == $(x)", "1:14: macros are not expanded in REQUIREMENTS"),
            (
                "REQUIREMENTS = A",
                "~1:1: this gives a variable called REQUIREMENTS a value, because `=` stands behind it (write `REQUIREMENTS expression`)",
            ),
            (
                "REQUIREMENTS A\nREQUIREMENTS B",
                "2:1: this rule has REQUIREMENTS already (join them with `&&`; HTCondor would only use the last)",
            ),
            (
                "if true\nNAME x\nendif",
                "2:1: NAME cannot depend on an `if` (HTCondor reads it whatever the condition is)",
            ),
            ("if true", "1:1: the `endif` of this is missing"),
            ("endif", "1:1: endif without an `if`"),
            (
                "if a\nendif",
                "1:4: a name alone is no condition (write `if defined a`, `if $(a)`, or compare it with something)",
            ),
            ("if true\nelse\nelif true\nendif", "3:1: elif behind an `else`"),
            (
                "if version > 8\nendif",
                "1:4: `version` asks for HTCondor's version, of which there is none here (leave it out)",
            ),
            (
                "SET A $(limit)\nlimits = 1",
                "~1:9: nothing gives the variable limit a value: it stands for nothing (did you mean $(limits)?)",
            ),
            ("SET A \"$int(1)\"", "~1:8: $int() is no function: it is written $INT()"),
            ("SET A \"$Fn(1)\"", "1:8: $Fn() is not supported"),
            ("+A = 1", "1:1: a rule sets no attribute like this (write `SET A ...`)"),
            ("include : x", "1:1: `include :` is not supported in rules"),
            ("x @=end\na", "1:1: the line `@end` that ends this text is missing"),
            ("TRANSFORM 0", "1:11: no ad would be left of any (REQUIREMENTS false leaves an ad as it is)"),
            ("TRANSFORM x", "1:11: `in` or `from` is missing behind the variables (write `TRANSFORM x in (a, b)`)"),
            (
                "TRANSFORM x matching *.dat",
                "1:13: names of files are not looked for here (list the items behind `in` or `from`)",
            ),
            (
                "TRANSFORM x from items.txt",
                "1:18: items are not read from a file: they stand behind `from (`, a line for each",
            ),
            ("TRANSFORM x from", "1:17: items are not read from a file: they stand behind `from (`, a line for each"),
            ("TRANSFORM 99999 in (a)", "1:20: more than 10000 ads would be made of one"),
            ("TRANSFORM x in (a\nb", "1:1: the `)` that ends this list is missing"),
            (
                "TRANSFORM\nSET A 1",
                "2:1: nothing of this rule may stand behind its TRANSFORM (HTCondor reads no further; only another NAME may follow)",
            ),
            ("UNIVERSE vanilla", "~1:1: UNIVERSE has no effect: only HTCondor's job router uses it"),
        ] {
            assert_eq!(problems(text), [expected], "{text}");
        }
    }

    #[test]
    fn each_name_but_the_first_begins_a_rule() {
        assert_eq!(problems("SET A 1\nNAME one\nSET B 1 # not a comment\n").len(), 1);
        let (rules, problems) = parse_rules(b"# rules\nSET A 1\nNAME one\nNAME two\nSET B 2\n", Dialect::Condor);
        assert!(problems.is_empty());
        let shown: Vec<_> = rules.iter().map(|rule| (rule.name.as_deref(), rule.statements.len())).collect();
        assert_eq!(shown, [(Some("one"), 1), (Some("two"), 1)]);
        assert_eq!(rules[1].statements[0].line, 5);
    }
}
