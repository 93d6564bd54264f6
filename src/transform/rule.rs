//! What rules are made of.

use std::ops::Range;

use crate::ad::{Dialect, Expression, Name, Text};
use crate::eval::PatternOptions;
use crate::syntax::{Rules, SyntaxError, parse_expression};

use super::condition::Condition;
use super::iteration::Iteration;
use super::keywords::Keyword;
use super::macros;

/// A rule: statements that are executed one after the other for each ad that it is meant for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rule {
    /// What it is called.
    pub name: Option<String>,
    /// What must be true of an ad; it is evaluated before any statement.
    pub requirements: Option<Operand>,
    /// The statements.
    pub statements: Vec<Statement>,
    /// How many ads it makes of one.
    pub iteration: Option<Iteration>,
}

impl Rule {
    /// A rule of one statement that stands in no file.
    #[must_use]
    pub fn of(action: Action) -> Self {
        Rule { statements: vec![Statement { action, range: 0..0, line: 0 }], ..Rule::default() }
    }
}

/// A line of a rule.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it does.
    pub action: Action,
    /// Where it stands in its file.
    pub range: Range<usize>,
    /// The line that it begins on; the first is 1.
    pub line: usize,
}

impl PartialEq for Statement {
    /// Equal when they do the same; where they stand does not count.
    fn eq(&self, other: &Self) -> bool {
        self.action == other.action
    }
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// `variable = text`: kept as it is until it is used.
    Assign(String, String),
    /// `EVALMACRO variable expression`: the variable is the value.
    EvaluateMacro(String, Operand),
    /// `SET name expression`
    Set(Name, Operand),
    /// `DEFAULT name expression`: only if the ad has no such attribute.
    Default(Name, Operand),
    /// `EVALSET name expression`: the attribute is the value.
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
    /// The keyword that it is written with; none for an assignment.
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

/// The attributes that a statement is about.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// The one of this name.
    Name(Name),
    /// Those whose names match.
    Pattern(Pattern),
}

/// A regular expression for names, matched in any case.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// The text between the slashes.
    pub text: String,
    /// The letters behind them: `g` means that names must match from their beginning, as it happens in
    /// HTCondor, `U` that repetitions take as little as they can; `i` and `m` make no difference for names.
    pub options: String,
}

impl Pattern {
    /// The regular expression, ready to be matched.
    ///
    /// # Errors
    ///
    /// Why it is none.
    pub(super) fn compiled(&self) -> Result<std::rc::Rc<crate::eval::Pattern>, String> {
        let ungreedy = if self.options.contains('U') { "(?U)" } else { "" };
        let (before, behind) = if self.options.contains('g') { ("\\A(?:", ")") } else { ("", "") };
        let text = Text::from(format!("{ungreedy}{before}{}{behind}", self.text));
        crate::eval::Pattern::get(&text, PatternOptions::any_case())
    }
}

/// An expression of a rule, in which macros may stand.
#[derive(Clone, Debug)]
pub struct Operand {
    text: String,
    rules: Rules,
    /// The expression, if there are no macros.
    expression: Option<Expression>,
}

impl Operand {
    /// The expression that a text writes; if there are macros in it, only once they are expanded.
    ///
    /// # Errors
    ///
    /// Why it writes none.
    pub fn new(text: &str, rules: Rules) -> Result<Self, SyntaxError> {
        let expression = if macros::has_any(text) { None } else { Some(parse_expression(text.as_bytes(), rules)?) };
        Ok(Operand { text: text.to_owned(), rules, expression })
    }

    /// An expression in which nothing is a macro.
    #[must_use]
    pub fn of(text: &str, expression: Expression) -> Self {
        Operand { text: text.to_owned(), rules: Rules::new(Dialect::default()), expression: Some(expression) }
    }

    /// As it is written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The expression, if there are no macros.
    #[must_use]
    pub fn expression(&self) -> Option<&Expression> {
        self.expression.as_ref()
    }

    /// How the text is to be read once its macros are expanded.
    pub(super) fn rules(&self) -> Rules {
        self.rules
    }
}

impl PartialEq for Operand {
    /// Equal when written alike.
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}
