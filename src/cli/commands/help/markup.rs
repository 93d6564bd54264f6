//! Parser for the text of help topics: the subset of Markdown that they use.

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

/// Parses the text of a topic. A line `<!-- NAME -->` stands for the terms that `insert` returns for NAME.
pub fn parse_topic(text: &str, insert: &dyn Fn(&str) -> Vec<(String, String)>) -> Vec<HelpBlock> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("# ") {
            let (name, about) = title.split_once(": ").unwrap_or((title, ""));
            blocks.push(HelpBlock::Title(name.to_owned(), about.to_owned()));
        } else if let Some(heading) = line.strip_prefix("## ") {
            blocks.push(HelpBlock::Heading(heading.to_owned()));
        } else if let Some(name) = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->")) {
            blocks.push(HelpBlock::Terms(insert(name)));
        } else if line.starts_with("```") {
            let mut literal: Vec<String> =
                lines.by_ref().take_while(|line| *line != "```").map(str::to_owned).collect();
            literal.truncate(literal.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1));
            blocks.push(HelpBlock::Literal(literal));
        } else if !line.is_empty() {
            let rest = lines.by_ref().take_while(|line| !line.is_empty());
            blocks.push(HelpBlock::Paragraph(std::iter::once(line).chain(rest).collect::<Vec<_>>().join(" ")));
        }
    }
    blocks
}

/// Parses the text below the options in the help of a command. Indented lines are preformatted.
pub fn parse_after_help(text: &str) -> Vec<HelpBlock> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line == "Examples:" {
            blocks.push(HelpBlock::Heading("Examples".to_owned()));
        } else if let Some(first) = line.strip_prefix("  ") {
            let mut literal = vec![first.to_owned()];
            while let Some(next) = lines.peek().and_then(|line| line.strip_prefix("  ")) {
                literal.push(next.to_owned());
                lines.next();
            }
            blocks.push(HelpBlock::Literal(literal));
        } else if !line.is_empty() {
            let mut paragraph = line.to_owned();
            while let Some(next) = lines.next_if(|line| !line.is_empty() && !line.starts_with("  ")) {
                paragraph.push(' ');
                paragraph.push_str(next);
            }
            // The first paragraph after the examples gets the heading `Notes`.
            if matches!(blocks.last(), Some(HelpBlock::Literal(_))) && !blocks.iter().any(is_notes) {
                blocks.push(HelpBlock::Heading("Notes".to_owned()));
            }
            blocks.push(HelpBlock::Paragraph(paragraph));
        }
    }
    blocks
}

fn is_notes(block: &HelpBlock) -> bool {
    matches!(block, HelpBlock::Heading(heading) if heading == "Notes")
}
