//! Printer of rules. A printed rule parses back to an equal one.

use std::fmt;

use super::iteration::{IterationItems, TransformLine};
use super::keywords::{Keyword, is_name};
use super::rule::{NamePattern, RuleAction, RuleTarget, TransformRule};

impl fmt::Display for TransformRule {
    /// Writes the lines of a rules file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            writeln!(f, "{} {}", Keyword::Name.as_str(), line_end(name))?;
        }
        if let Some(requirements) = &self.requirements {
            writeln!(f, "{} {}", Keyword::Requirements.as_str(), line_end(requirements.text()))?;
        }
        if let Some(universe) = &self.universe {
            writeln!(f, "{} {}", Keyword::Universe.as_str(), line_end(universe))?;
        }
        for statement in &self.statements {
            writeln!(f, "{}", statement.action)?;
        }
        self.iteration.iter().try_for_each(|iteration| writeln!(f, "{iteration}"))
    }
}

impl fmt::Display for RuleAction {
    /// Writes the statement without a final line break.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keyword = self.keyword().map_or("", Keyword::as_str);
        let mut two_operands =
            |first: &dyn fmt::Display, second: &str| write!(f, "{keyword} {first} {}", line_end(second));
        match self {
            RuleAction::EvaluateMacro(variable, operand) => two_operands(variable, operand.text()),
            RuleAction::Set(name, operand)
            | RuleAction::Default(name, operand)
            | RuleAction::EvaluateSet(name, operand) => two_operands(&quoted_name(name.as_str()), operand.text()),
            RuleAction::Copy(target, names) | RuleAction::Rename(target, names) => two_operands(target, names),
            RuleAction::Assign(variable, text) if text.contains('\n') => {
                // The closing line `@tag` must not occur in the text, so make the tag longer than every line.
                let longest = text.lines().map(str::len).max().unwrap_or(0);
                let tag = "-".repeat(longest + 1);
                writeln!(f, "{variable} @={tag}")?;
                text.split('\n').try_for_each(|part| writeln!(f, "{}", line_end(part)))?;
                write!(f, "@{tag}")
            }
            RuleAction::Assign(variable, text) => write!(f, "{variable} = {}", line_end(text)),
            RuleAction::Append(variable, between, text) => {
                write!(f, "{variable} +{}= {}", between.replace(' ', ""), line_end(text))
            }
            RuleAction::Delete(target) => write!(f, "{keyword} {target}"),
            RuleAction::If(test) | RuleAction::ElseIf(test) => write!(f, "{keyword} {}", line_end(test.text())),
            RuleAction::Else | RuleAction::EndIf => f.write_str(keyword),
        }
    }
}

impl fmt::Display for RuleTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuleTarget::Name(name) => f.write_str(&quoted_name(name.as_str())),
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
                lines.iter().try_for_each(|line| writeln!(f, "{}", line_end(line)))?;
                f.write_str(")")
            }
        }
    }
}

/// Returns `text`, changed so that it can end a line. A backslash at its end would continue the line. Such a text gets
/// a second backslash and an empty line: the parser drops the second backslash and keeps the first.
fn line_end(text: &str) -> String {
    if text.ends_with('\\') { format!("{text}\\\n") } else { text.to_owned() }
}

/// Returns the name of an attribute, in quotes if it needs them.
fn quoted_name(name: &str) -> String {
    match name {
        plain if is_name(plain) => plain.to_owned(),
        other if other.contains('\'') => format!("\"{other}\""),
        other => format!("'{other}'"),
    }
}
