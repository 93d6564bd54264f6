//! Parser for two kinds of help texts: topics, in a subset of Markdown, and the text below the options in the help of a
//! command.

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
    /// Preformatted lines, without indentation.
    Literal(String),
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
            let literal: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push(HelpBlock::Literal(literal.join("\n").trim_end_matches('\n').to_owned()));
        } else if let Some(first) = line.strip_prefix(INDENT) {
            let rest = from_fn(|| lines.next_if(|line| line.starts_with(INDENT))).map(|line| &line[INDENT.len()..]);
            blocks.push(HelpBlock::Literal(once(first).chain(rest).collect::<Vec<_>>().join("\n")));
        } else if !line.is_empty() {
            let rest = from_fn(|| lines.next_if(|line| !line.is_empty() && !line.starts_with(INDENT)));
            blocks.push(HelpBlock::Paragraph(once(line).chain(rest).collect::<Vec<_>>().join(" ")));
        }
    }
    blocks
}
