//! Data model of transform rules.

use std::ops::Range;

use crate::ad::{ByteString, Expression, Name};
use crate::eval::PatternOptions;
use crate::syntax::{ParseOptions, SyntaxError, parse_expression};

use super::condition::IfCondition;
use super::iteration::TransformLine;
use super::keywords::Keyword;
use super::macros;

/// Transform rule: statements executed in order for each ad that satisfies its requirements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransformRule {
    /// The name that a NAME line gives the rule; `None` if there is no NAME line.
    pub name: Option<String>,
    /// Condition that an ad must satisfy, evaluated before any statement of the rule; `None` accepts every ad.
    pub requirements: Option<RuleOperand>,
    /// The universe of the jobs that a route makes, as a UNIVERSE line names it; `None` if there is no such line.
    pub universe: Option<String>,
    /// Statements in order.
    pub statements: Vec<RuleStatement>,
    /// The TRANSFORM line, which makes several ads out of one. `None` if the rule has no such line.
    pub iteration: Option<TransformLine>,
}

impl TransformRule {
    /// Returns a rule of one statement that is not in a file.
    #[must_use]
    pub fn from_action(action: RuleAction) -> Self {
        TransformRule { statements: vec![RuleStatement { action, range: 0..0, line: 0 }], ..TransformRule::default() }
    }

    /// Returns the names of the variables that statements of the rule give values, as they are written.
    pub fn assigned_variables(&self) -> impl Iterator<Item = String> + '_ {
        self.statements.iter().filter_map(|statement| match &statement.action {
            RuleAction::Assign(variable, _)
            | RuleAction::Append(variable, ..)
            | RuleAction::EvaluateMacro(variable, _) => Some(variable.clone()),
            _ => None,
        })
    }
}

/// Statement of a rule: one logical line.
#[derive(Clone, Debug)]
pub struct RuleStatement {
    /// Effect of the statement.
    pub action: RuleAction,
    /// Byte range of the statement in the file.
    pub range: Range<usize>,
    /// 1-based number of the line where the statement begins; 0 if the statement is not in a file.
    pub line: usize,
}

impl PartialEq for RuleStatement {
    /// Compares the actions only, not the positions in the file.
    fn eq(&self, other: &Self) -> bool {
        self.action == other.action
    }
}

/// Effect of a statement.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RuleAction {
    /// `variable = text`: the text is expanded when the variable is used.
    Assign(String, String),
    /// `variable += text`: appends the text to that of the variable. Between the two stands the second text, if the
    /// variable has one: a blank, or what `+,=` and its kin say.
    Append(String, String, String),
    /// `EVALMACRO variable expression`: assigns the value of the expression.
    EvaluateMacro(String, RuleOperand),
    /// `SET name expression`: sets the attribute to the expression, without evaluating it.
    Set(Name, RuleOperand),
    /// `DEFAULT name expression`: sets the attribute only if the ad lacks it.
    Default(Name, RuleOperand),
    /// `EVALSET name expression`: sets the attribute to the value of the expression.
    EvaluateSet(Name, RuleOperand),
    /// `COPY name new` or `COPY /pattern/ template`: copies attributes to new names.
    Copy(RuleTarget, String),
    /// `RENAME name new` or `RENAME /pattern/ template`: gives attributes new names.
    Rename(RuleTarget, String),
    /// `DELETE name` or `DELETE /pattern/`: removes attributes.
    Delete(RuleTarget),
    /// `if condition`: begins a conditional.
    If(IfCondition),
    /// `elif condition`: begins another branch of the conditional.
    ElseIf(IfCondition),
    /// `else`: begins the last branch of the conditional.
    Else,
    /// `endif`: ends the conditional.
    EndIf,
}

impl RuleAction {
    /// Returns the keyword of the statement; `None` for an assignment.
    #[must_use]
    pub fn keyword(&self) -> Option<Keyword> {
        Some(match self {
            RuleAction::Assign(..) | RuleAction::Append(..) => return None,
            RuleAction::EvaluateMacro(..) => Keyword::EvalMacro,
            RuleAction::Set(..) => Keyword::Set,
            RuleAction::Default(..) => Keyword::Default,
            RuleAction::EvaluateSet(..) => Keyword::EvalSet,
            RuleAction::Copy(..) => Keyword::Copy,
            RuleAction::Rename(..) => Keyword::Rename,
            RuleAction::Delete(..) => Keyword::Delete,
            RuleAction::If(_) => Keyword::If,
            RuleAction::ElseIf(_) => Keyword::Elif,
            RuleAction::Else => Keyword::Else,
            RuleAction::EndIf => Keyword::EndIf,
        })
    }
}

/// Attributes to which a statement applies.
#[derive(Clone, Debug, PartialEq)]
pub enum RuleTarget {
    /// The attribute of this name.
    Name(Name),
    /// All attributes whose names match the pattern.
    Pattern(NamePattern),
}

/// Regular expression for names; case is ignored.
#[derive(Clone, Debug, PartialEq)]
pub struct NamePattern {
    /// The text between the slashes.
    pub text: String,
    /// Option letters. `g` anchors the pattern at the beginning of the name, as it does in HTCondor. `U` makes
    /// repetitions lazy. `i` and `m` have no effect on names.
    pub options: String,
}

impl NamePattern {
    /// Returns the compiled regular expression.
    ///
    /// # Errors
    ///
    /// The reason as a phrase, if the regular expression is invalid.
    pub(super) fn compiled(&self) -> Result<std::sync::Arc<crate::eval::CompiledPattern>, String> {
        let ungreedy = if self.options.contains('U') { "(?U)" } else { "" };
        let (before, behind) = if self.options.contains('g') { ("\\A(?:", ")") } else { ("", "") };
        let text = ByteString::from(format!("{ungreedy}{before}{}{behind}", self.text));
        crate::eval::CompiledPattern::get(&text, PatternOptions::any_case())
    }
}

/// Expression of a rule, which may contain macros.
#[derive(Clone, Debug)]
pub struct RuleOperand {
    text: String,
    /// Syntax rules for parsing the text after its macros are expanded.
    pub(super) rules: ParseOptions,
    /// The parsed expression; `None` if the text contains macros.
    expression: Option<Expression>,
}

impl RuleOperand {
    /// Parses an expression. A text with macros is parsed later, when the macros are expanded.
    ///
    /// # Errors
    ///
    /// The syntax error, if the text has no macros and is not an expression.
    pub fn new(text: &str, rules: ParseOptions) -> Result<Self, SyntaxError> {
        let expression = if macros::has_macros(text) { None } else { Some(parse_expression(text.as_bytes(), rules)?) };
        Ok(RuleOperand { text: text.to_owned(), rules, expression })
    }

    /// Parses an expression that is evaluated, as [`RuleOperand::new`] does. HTCondor reads no further than the
    /// expression goes. Also returns the byte offset at which text begins that it ignores; `None` if there is none.
    pub(super) fn evaluated(text: &str, rules: ParseOptions) -> Result<(Self, Option<usize>), SyntaxError> {
        match RuleOperand::new(text, rules) {
            Ok(operand) => Ok((operand, None)),
            Err(error) => match parse_beginning(text.as_bytes(), &error, rules) {
                Some((expression, end)) => {
                    let operand = RuleOperand { text: text[..end].to_owned(), rules, expression: Some(expression) };
                    Ok((operand, Some(error.span.range().start)))
                }
                None => Err(error),
            },
        }
    }

    /// Returns an operand with this text and expression. Macros in the text are never expanded.
    #[must_use]
    pub fn of(text: &str, expression: Expression) -> Self {
        RuleOperand { text: text.to_owned(), rules: ParseOptions::default(), expression: Some(expression) }
    }

    /// The text as it is written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The parsed expression; `None` if the text contains macros.
    #[must_use]
    pub fn expression(&self) -> Option<&Expression> {
        self.expression.as_ref()
    }
}

/// Parses the text before a syntax error. Returns the expression and its end; `None` if that is not an expression
/// either.
pub(super) fn parse_beginning(text: &[u8], error: &SyntaxError, rules: ParseOptions) -> Option<(Expression, usize)> {
    let beginning = text.get(..error.span.range().start)?.trim_ascii_end();
    Some((parse_expression(beginning, rules).ok()?, beginning.len()))
}

impl PartialEq for RuleOperand {
    /// Compares the texts only.
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}
