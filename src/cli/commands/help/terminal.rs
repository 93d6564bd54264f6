//! Renders help texts as plain text.

use std::borrow::Cow;
use std::fmt::Display;

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

use super::markup::HelpBlock;

/// Maximum width, in characters, of a term that shares its line with the definition.
const MAX_TERM_WIDTH: usize = 22;

/// Maximum width of the text, in characters, even on a wider terminal.
const MAX_TEXT_WIDTH: usize = 100;

/// Renders blocks in lines of at most `width` characters.
pub fn render(blocks: &[HelpBlock], width: usize) -> String {
    let width = width.min(MAX_TEXT_WIDTH);
    let mut parts = Vec::new();
    for block in blocks {
        match block {
            HelpBlock::Title(name, about) => parts.push(format!("{name}: {about}\n")),
            HelpBlock::Heading(heading) => parts.push(format!("{}\n", heading.to_uppercase())),
            HelpBlock::Paragraph(text) => parts.push(indent(&wrap(text, width), "")),
            HelpBlock::Literal(lines) => parts.push(indent(lines, "  ")),
            HelpBlock::Terms(terms) => {
                parts.push(terms.iter().map(|(term, text)| term_row(term, text, width)).collect());
            }
        }
    }
    parts.join("\n")
}

/// Renders a term with its definition beside it, or below it if the term is long.
fn term_row(term: &str, text: &str, width: usize) -> String {
    let margin = MAX_TERM_WIDTH + 4;
    let lines = wrap(text, width.saturating_sub(margin).max(20));
    let beside = term.chars().count() <= MAX_TERM_WIDTH;
    let mut out = if beside { String::new() } else { format!("  {term}\n") };
    for (index, line) in lines.iter().enumerate() {
        let term = if index == 0 && beside { term } else { "" };
        out.push_str(format!("  {term:MAX_TERM_WIDTH$}  {line}").trim_end());
        out.push('\n');
    }
    out
}

fn indent(lines: &[impl Display], by: &str) -> String {
    let mut out = String::new();
    for line in lines {
        out.push_str(format!("{by}{line}").trim_end());
        out.push('\n');
    }
    out
}

/// Breaks text into lines of at most `width` characters. A longer word gets a line of its own.
fn wrap(text: &str, width: usize) -> Vec<Cow<'_, str>> {
    let options = Options::new(width)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::wrap(text, options)
}

#[cfg(test)]
mod tests {
    use super::{term_row, wrap};

    #[test]
    fn no_line_is_wider_than_it_may_be() {
        assert_eq!(wrap("a bb ccc dddd", 5), ["a bb", "ccc", "dddd"]);
        assert_eq!(wrap("abcdefgh i", 5), ["abcdefgh", "i"]);
        assert_eq!(term_row("-x", "one two", 40), "  -x                      one two\n");
        assert_eq!(term_row(&"y".repeat(30), "z", 40), format!("  {}\n{:26}z\n", "y".repeat(30), ""));
    }
}
