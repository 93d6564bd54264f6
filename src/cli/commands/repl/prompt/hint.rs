//! Hints after the cursor: the signature of the function that is being called, the arguments of a command, or the rest
//! of an earlier entry with the same beginning.

use classad::ad::Name;
use classad::eval::find_function;
use classad::syntax::{StringSyntax, Token, lex};

use crate::cli::commands::repl::commands;

/// A hint after the cursor.
pub struct InlineHint {
    pub text: String,
    /// Whether the text is the rest of an earlier entry. Only such a text can be inserted; any other hint is a
    /// description.
    pub is_entry: bool,
}

impl rustyline::hint::Hint for InlineHint {
    fn display(&self) -> &str {
        &self.text
    }

    fn completion(&self) -> Option<&str> {
        self.is_entry.then_some(&self.text)
    }
}

/// Returns the signature of the function of the innermost open call; `None` without a call of a known function.
pub fn signature_hint(before: &str) -> Option<InlineHint> {
    let mut open: Vec<Option<&str>> = Vec::new();
    let mut last = None;
    for (token, span) in lex(before.as_bytes(), StringSyntax::Escaped) {
        match token {
            Token::ParenthesisOpen => open.push(last.take()),
            token if token.closing().is_some() => open.push(None),
            token if token.is_closing() => {
                open.pop();
            }
            _ => {}
        }
        last = (token == Token::Name).then(|| &before[span.range()]);
    }
    let function = find_function(&Name::new(open.pop()??))?;
    Some(InlineHint { text: format!("   {}", function.signature), is_entry: false })
}

/// Returns the arguments of a command as a hint, if `line` is the full name of the command; else `None`.
pub fn arguments_hint(line: &str) -> Option<InlineHint> {
    let command = commands::find_command(line.strip_prefix(':')?)?;
    let is_whole_name = line.len() > command.name.len();
    is_whole_name.then(|| InlineHint { text: format!(" {}", command.arguments), is_entry: false })
}

#[cfg(test)]
mod tests {
    use super::{arguments_hint, signature_hint};
    use rustyline::hint::Hint as _;

    #[test]
    fn the_innermost_open_call_has_its_signature_shown() {
        let of = |text| signature_hint(text).map(|hint| hint.display().trim().to_owned());
        let substr = of("substr(");
        assert!(substr.as_ref().is_some_and(|shown| shown.starts_with("substr(")), "{substr:?}");
        assert_eq!(of(":type 1 + SUBSTR(toLower(x), "), substr);
        for text in ["substr", "substr(a, 1)", "substr(a, (", "nothing(", "\"substr(\"", "substr(a, { ", "(substr, "] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn a_command_has_its_arguments_shown() {
        assert_eq!(arguments_hint(":set").map(|hint| hint.display().to_owned()).as_deref(), Some(" [NAME [VALUE]]"));
        assert!(
            arguments_hint(":set ").is_none() && arguments_hint("set").is_none() && arguments_hint(":se").is_none()
        );
    }
}
