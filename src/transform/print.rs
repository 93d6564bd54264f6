//! Printer of rules. A printed rule parses back to an equal one.

use std::fmt;

use super::iteration::{IterationItems, TransformLine};
use super::keywords::{Keyword, is_name};
use super::rule::{NamePattern, RuleAction, RuleTarget, TransformRule};

impl fmt::Display for TransformRule {
    /// Writes the lines of a rules file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            line(f, &[Keyword::Name.as_str(), name])?;
        }
        if let Some(requirements) = &self.requirements {
            line(f, &[Keyword::Requirements.as_str(), requirements.text()])?;
        }
        for statement in &self.statements {
            writeln!(f, "{}", statement.action)?;
        }
        match &self.iteration {
            Some(iteration) => writeln!(f, "{iteration}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for RuleAction {
    /// Writes the statement without a final line break.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keyword = self.keyword().map_or("", Keyword::as_str);
        match self {
            RuleAction::Assign(variable, text) if text.contains('\n') => {
                // The closing line must not occur in the text.
                let longest = text.lines().map(str::len).max().unwrap_or(0);
                let tag = "-".repeat(longest + 1);
                writeln!(f, "{variable} @={tag}")?;
                for part in text.split('\n') {
                    writeln!(f, "{}", LineEnd(part))?;
                }
                write!(f, "@{tag}")
            }
            RuleAction::Assign(variable, text) => write!(f, "{variable} = {}", LineEnd(text)),
            RuleAction::EvaluateMacro(variable, operand) => {
                write!(f, "{keyword} {variable} {}", LineEnd(operand.text()))
            }
            RuleAction::Set(name, operand)
            | RuleAction::Default(name, operand)
            | RuleAction::EvaluateSet(name, operand) => {
                write!(f, "{keyword} {} {}", QuotedAttribute(name.as_str()), LineEnd(operand.text()))
            }
            RuleAction::Copy(target, names) | RuleAction::Rename(target, names) => {
                write!(f, "{keyword} {target} {}", LineEnd(names))
            }
            RuleAction::Delete(target) => write!(f, "{keyword} {target}"),
            RuleAction::If(condition) | RuleAction::ElseIf(condition) => {
                write!(f, "{keyword} {}", LineEnd(condition.text()))
            }
            RuleAction::Else | RuleAction::EndIf => f.write_str(keyword),
        }
    }
}

impl fmt::Display for RuleTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuleTarget::Name(name) => QuotedAttribute(name.as_str()).fmt(f),
            RuleTarget::Pattern(NamePattern { text, options }) => write!(f, "/{text}/{options}"),
        }
    }
}

impl fmt::Display for TransformLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", Keyword::Transform.as_str(), self.count)?;
        let variables = self.variables.join(", ");
        match &self.items {
            None => Ok(()),
            Some(IterationItems::In(items)) => write!(f, " {variables} in ({})", items.join(", ")),
            Some(IterationItems::From(lines)) => {
                writeln!(f, " {variables} from (")?;
                lines.iter().try_for_each(|line| writeln!(f, "{}", LineEnd(line)))?;
                f.write_str(")")
            }
        }
    }
}

/// Writes words as one line.
fn line(f: &mut fmt::Formatter<'_>, words: &[&str]) -> fmt::Result {
    writeln!(f, "{}", LineEnd(&words.join(" ")))
}

/// Text at the end of a line. A trailing backslash is protected so that it does not continue the line.
struct LineEnd<'a>(&'a str);

impl fmt::Display for LineEnd<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)?;
        if self.0.ends_with('\\') { f.write_str("\\\n") } else { Ok(()) }
    }
}

/// Attribute name, in quotes if it needs them.
struct QuotedAttribute<'a>(&'a str);

impl fmt::Display for QuotedAttribute<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            plain if is_name(plain) => f.write_str(plain),
            other if other.contains('\'') => write!(f, "\"{other}\""),
            other => write!(f, "'{other}'"),
        }
    }
}
