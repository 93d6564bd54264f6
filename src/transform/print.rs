//! Printer of rules. A printed rule parses back to an equal one.

use std::fmt;

use super::iteration::{Items, Iteration};
use super::keywords::{Keyword, is_name};
use super::rule::{Action, Pattern, Rule, Target};

impl fmt::Display for Rule {
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

impl fmt::Display for Action {
    /// Writes the statement without a final line break.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keyword = self.keyword().map_or("", Keyword::as_str);
        match self {
            Action::Assign(variable, text) if text.contains('\n') => {
                // The closing line must not occur in the text.
                let longest = text.lines().map(str::len).max().unwrap_or(0);
                let tag = "-".repeat(longest + 1);
                writeln!(f, "{variable} @={tag}")?;
                for part in text.split('\n') {
                    writeln!(f, "{}", Whole(part))?;
                }
                write!(f, "@{tag}")
            }
            Action::Assign(variable, text) => write!(f, "{variable} = {}", Whole(text)),
            Action::EvaluateMacro(variable, operand) => write!(f, "{keyword} {variable} {}", Whole(operand.text())),
            Action::Set(name, operand) | Action::Default(name, operand) | Action::EvaluateSet(name, operand) => {
                write!(f, "{keyword} {} {}", Quoted(name.as_str()), Whole(operand.text()))
            }
            Action::Copy(target, names) | Action::Rename(target, names) => {
                write!(f, "{keyword} {target} {}", Whole(names))
            }
            Action::Delete(target) => write!(f, "{keyword} {target}"),
            Action::If(condition) | Action::ElseIf(condition) => write!(f, "{keyword} {}", Whole(condition.text())),
            Action::Else | Action::EndIf => f.write_str(keyword),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Name(name) => Quoted(name.as_str()).fmt(f),
            Target::Pattern(Pattern { text, options }) => write!(f, "/{text}/{options}"),
        }
    }
}

impl fmt::Display for Iteration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", Keyword::Transform.as_str(), self.count)?;
        let variables = self.variables.join(", ");
        match &self.items {
            None => Ok(()),
            Some(Items::In(items)) => write!(f, " {variables} in ({})", items.join(", ")),
            Some(Items::From(lines)) => {
                writeln!(f, " {variables} from (")?;
                lines.iter().try_for_each(|line| writeln!(f, "{}", Whole(line)))?;
                f.write_str(")")
            }
        }
    }
}

/// Writes words as one line.
fn line(f: &mut fmt::Formatter<'_>, words: &[&str]) -> fmt::Result {
    writeln!(f, "{}", Whole(&words.join(" ")))
}

/// Text at the end of a line. A trailing backslash is protected so that it does not continue the line.
struct Whole<'a>(&'a str);

impl fmt::Display for Whole<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)?;
        if self.0.ends_with('\\') { f.write_str("\\\n") } else { Ok(()) }
    }
}

/// Attribute name, in quotes if it needs them.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            plain if is_name(plain) => f.write_str(plain),
            other if other.contains('\'') => write!(f, "\"{other}\""),
            other => write!(f, "'{other}'"),
        }
    }
}
