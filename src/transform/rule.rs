//! Data model of transform rules.

use std::ops::Range;

use crate::ad::{Dialect, Expression, Name, Text};
use crate::eval::PatternOptions;
use crate::syntax::{Rules, SyntaxError, parse_expression};

use super::condition::Condition;
use super::iteration::Iteration;
use super::keywords::Keyword;
use super::macros;

/// Transform rule: statements executed in order for each ad that satisfies its requirements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rule {
    /// The name, if it has one.
    pub name: Option<String>,
    /// Condition that an ad must satisfy, evaluated before any statement; `None` accepts every ad.
    pub requirements: Option<Operand>,
    /// Statements in order.
    pub statements: Vec<Statement>,
    /// TRANSFORM line, which makes several ads of one; `None` if there is none.
    pub iteration: Option<Iteration>,
}

impl Rule {
    /// Returns a rule of one statement that is not in a file.
    #[must_use]
    pub fn of(action: Action) -> Self {
        Rule { statements: vec![Statement { action, range: 0..0, line: 0 }], ..Rule::default() }
    }
}

/// Statement of a rule: one logical line.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Its effect.
    pub action: Action,
    /// Byte range in the file.
    pub range: Range<usize>,
    /// 1-based number of the line where it begins; 0 if it is not in a file.
    pub line: usize,
}

impl PartialEq for Statement {
    /// Compares the actions; positions do not count.
    fn eq(&self, other: &Self) -> bool {
        self.action == other.action
    }
}

/// Effect of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// `variable = text`: the text is expanded when the variable is used.
    Assign(String, String),
    /// `EVALMACRO variable expression`: assigns the value of the expression.
    EvaluateMacro(String, Operand),
    /// `SET name expression`
    Set(Name, Operand),
    /// `DEFAULT name expression`: sets the attribute only if the ad lacks it.
    Default(Name, Operand),
    /// `EVALSET name expression`: sets the attribute to the value of the expression.
    EvaluateSet(Name, Operand),
    /// `COPY name name` or `COPY /pattern/ names`
    Copy(Target, String),
    /// `RENAME name name` or `RENAME /pattern/ names`
    Rename(Target, String),
    /// `DELETE name` or `DELETE /pattern/`
    Delete(Target),
    /// `if condition`
    If(Condition),
    /// `elif condition`
    ElseIf(Condition),
    /// `else`
    Else,
    /// `endif`
    EndIf,
}

impl Action {
    /// Returns its keyword; `None` for an assignment.
    #[must_use]
    pub fn keyword(&self) -> Option<Keyword> {
        Some(match self {
            Action::Assign(..) => return None,
            Action::EvaluateMacro(..) => Keyword::EvalMacro,
            Action::Set(..) => Keyword::Set,
            Action::Default(..) => Keyword::Default,
            Action::EvaluateSet(..) => Keyword::EvalSet,
            Action::Copy(..) => Keyword::Copy,
            Action::Rename(..) => Keyword::Rename,
            Action::Delete(..) => Keyword::Delete,
            Action::If(_) => Keyword::If,
            Action::ElseIf(_) => Keyword::Elif,
            Action::Else => Keyword::Else,
            Action::EndIf => Keyword::EndIf,
        })
    }
}

/// Attributes to which a statement applies.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// The attribute of this name.
    Name(Name),
    /// All attributes whose names match.
    Pattern(Pattern),
}

/// Regular expression for names; case is ignored.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// The text between the slashes.
    pub text: String,
    /// Option letters. `g` anchors the match at the beginning of the name, as it does in HTCondor; `U` makes
    /// repetitions lazy; `i` and `m` have no effect on names.
    pub options: String,
}

impl Pattern {
    /// Returns the compiled regular expression.
    ///
    /// # Errors
    ///
    /// The reason as a phrase, if it is invalid.
    pub(super) fn compiled(&self) -> Result<std::rc::Rc<crate::eval::Pattern>, String> {
        let ungreedy = if self.options.contains('U') { "(?U)" } else { "" };
        let (before, behind) = if self.options.contains('g') { ("\\A(?:", ")") } else { ("", "") };
        let text = Text::from(format!("{ungreedy}{before}{}{behind}", self.text));
        crate::eval::Pattern::get(&text, PatternOptions::any_case())
    }
}

/// Expression of a rule, which may contain macros.
#[derive(Clone, Debug)]
pub struct Operand {
    text: String,
    rules: Rules,
    /// The parsed expression; `None` if the text contains macros.
    expression: Option<Expression>,
}

impl Operand {
    /// Parses an expression. A text with macros is parsed later, when they are expanded.
    ///
    /// # Errors
    ///
    /// The syntax error, if the text has no macros and is not an expression.
    pub fn new(text: &str, rules: Rules) -> Result<Self, SyntaxError> {
        let expression = if macros::has_any(text) { None } else { Some(parse_expression(text.as_bytes(), rules)?) };
        Ok(Operand { text: text.to_owned(), rules, expression })
    }

    /// Returns an operand with this text and expression; nothing in the text is a macro.
    #[must_use]
    pub fn of(text: &str, expression: Expression) -> Self {
        Operand { text: text.to_owned(), rules: Rules::new(Dialect::default()), expression: Some(expression) }
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

    /// Syntax rules for parsing the text after its macros are expanded.
    pub(super) fn rules(&self) -> Rules {
        self.rules
    }
}

impl PartialEq for Operand {
    /// Compares the texts.
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}
