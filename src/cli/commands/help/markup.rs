//! Parser for two kinds of help texts: topics, in a subset of Markdown, and the text below the options in the help of a
//! command.

use std::iter::{from_fn, once};

use super::topics::named_table;

/// Begins a preformatted line.
const INDENT: &str = "  ";

/// Begins an item of a list.
const ITEM: &str = "- ";

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
    /// Items of a list, each as one line.
    Items(Vec<String>),
}

/// Parses a help text. `Examples:` is a heading, and indented lines are preformatted, but for those that continue an
/// item of a list. The rows of a table with two columns are terms. A line `<!-- NAME -->` stands for the terms of
/// [`named_table`].
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
        } else if let Some(row) = table_row(line) {
            // The first row has the headings, and the second one separates them.
            let rows = from_fn(|| lines.next_if(|line| line.starts_with('|'))).skip(1).filter_map(table_row);
            let rows: Vec<(String, String)> = rows.collect();
            blocks.push(HelpBlock::Terms(if rows.is_empty() { vec![row] } else { rows }));
        } else if let Some(first) = line.strip_prefix(ITEM) {
            let rest = from_fn(|| lines.next_if(|line| line.starts_with(INDENT)));
            let item = once(first).chain(rest.map(str::trim_start)).collect::<Vec<_>>().join(" ").replace("**", "");
            match blocks.last_mut() {
                Some(HelpBlock::Items(items)) => items.push(item),
                _ => blocks.push(HelpBlock::Items(vec![item])),
            }
        } else if let Some(first) = line.strip_prefix(INDENT) {
            let rest = from_fn(|| lines.next_if(|line| line.starts_with(INDENT))).map(|line| &line[INDENT.len()..]);
            blocks.push(HelpBlock::Literal(once(first).chain(rest).collect::<Vec<_>>().join("\n")));
        } else if !line.is_empty() {
            let is_text =
                |line: &&str| !line.is_empty() && ![INDENT, ITEM, "|"].iter().any(|mark| line.starts_with(mark));
            let rest = from_fn(|| lines.next_if(is_text));
            blocks.push(HelpBlock::Paragraph(once(line).chain(rest).collect::<Vec<_>>().join(" ")));
        }
    }
    blocks
}

/// Returns the two cells of a row of a table, the first one without backquotes; `None` for any other line.
fn table_row(line: &str) -> Option<(String, String)> {
    let (term, text) = line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ")?;
    Some((term.replace('`', ""), text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{HelpBlock, parse};

    #[test]
    fn lists_and_tables_are_blocks() {
        let blocks =
            parse("Text\n- **one** is\n  long\n- two\n\n| key | meaning |\n|---|---|\n| `a`, `b` | c |\n\nmore");
        let [HelpBlock::Paragraph(first), HelpBlock::Items(items), HelpBlock::Terms(terms), HelpBlock::Paragraph(last)] =
            &*blocks
        else {
            panic!("{} blocks", blocks.len());
        };
        assert_eq!((first.as_str(), last.as_str()), ("Text", "more"));
        assert_eq!(*items, ["one is long", "two"]);
        assert_eq!(*terms, [("a, b".to_owned(), "c".to_owned())]);
    }
}
