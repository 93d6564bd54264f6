//! Parser for help texts: the subset of Markdown that topics use, and the text below the options of a command.

use std::iter::{from_fn, once};

use super::topics::named_table;

/// Begins a preformatted line.
const INDENT: &str = "  ";

/// A block of a help text.
pub enum HelpBlock {
    /// Name and one-line subject of the text.
    Title(String, String),
    Heading(String),
    /// A paragraph as one line. Literal text stands between backquotes.
    Paragraph(String),
    /// Preformatted lines.
    Literal(Vec<String>),
    /// Terms and their definitions.
    Terms(Vec<(String, String)>),
}

/// Parses a help text. `Examples:` is a heading, indented lines are preformatted, and a line `<!-- NAME -->` stands for
/// the terms of [`named_table`].
pub fn parse(text: &str) -> Vec<HelpBlock> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("# ") {
            let (name, about) = title.split_once(": ").unwrap_or((title, ""));
            blocks.push(HelpBlock::Title(name.to_owned(), about.to_owned()));
        } else if let Some(heading) = line.strip_prefix("## ").or((line == "Examples:").then_some("Examples")) {
            blocks.push(HelpBlock::Heading(heading.to_owned()));
        } else if let Some(name) = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->")) {
            blocks.push(HelpBlock::Terms(named_table(name)));
        } else if line.starts_with("```") {
            let mut literal: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            literal.truncate(literal.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1));
            blocks.push(HelpBlock::Literal(literal.into_iter().map(str::to_owned).collect()));
        } else if line.starts_with(INDENT) {
            let rest = from_fn(|| lines.next_if(|line| line.starts_with(INDENT)));
            blocks
                .push(HelpBlock::Literal(once(line).chain(rest).map(|line| line[INDENT.len()..].to_owned()).collect()));
        } else if !line.is_empty() {
            let rest = from_fn(|| lines.next_if(|line| !line.is_empty() && !line.starts_with(INDENT)));
            blocks.push(HelpBlock::Paragraph(once(line).chain(rest).collect::<Vec<_>>().join(" ")));
        }
    }
    blocks
}
