//! Renders help texts as plain text.

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

use super::markup::HelpBlock;

/// Maximum width, in characters, of a term that shares its line with the definition.
const MAX_TERM_WIDTH: usize = 22;

/// Maximum width of the text, in characters, even on a wider terminal.
pub const MAX_TEXT_WIDTH: usize = 100;

/// Renders blocks in lines of at most `width` characters.
pub fn render(blocks: &[HelpBlock], width: usize) -> String {
    let width = width.min(MAX_TEXT_WIDTH);
    let parts = blocks.iter().map(|block| match block {
        HelpBlock::Title(name, about) => format!("{name}: {about}\n"),
        HelpBlock::Heading(heading) => format!("{}\n", heading.to_uppercase()),
        HelpBlock::Paragraph(text) => wrap(text, width, "", ""),
        HelpBlock::Literal(text) => text.lines().map(|line| format!("  {line}").trim_end().to_owned() + "\n").collect(),
        HelpBlock::Terms(terms) => terms.iter().map(|(term, text)| term_row(term, text, width)).collect(),
    });
    parts.collect::<Vec<_>>().join("\n")
}

/// Width, in characters, of the longest lines of the texts below the options of commands, as they are written.
const WRITTEN_WIDTH: usize = 108;

/// Wraps the text below the options of a command's help in lines of at most `width` characters. Lines that were broken
/// only for their width are joined first. Commands that are continued with a backslash remain as they are.
pub fn wrap_after_help(text: &str, width: usize) -> String {
    let width = width.min(MAX_TEXT_WIDTH);
    let mut items: Vec<String> = Vec::new();
    let mut last_width = 0;
    for line in text.lines() {
        let (indent, words) = (line.len() - line.trim_start().len(), line.trim_start());
        let first_word = words.split(' ').next().unwrap_or_default().chars().count();
        let was_broken = last_width + 1 + first_word > WRITTEN_WIDTH && !words.starts_with("-o ");
        let last = items.last_mut().filter(|last| !last.is_empty() && !words.is_empty() && !last.ends_with('\\'));
        match last {
            Some(last) if indent == 0 && !last.starts_with(' ') && was_broken => last.extend([" ", words]),
            Some(last) if indent > 4 && last.starts_with("  ") && !last.ends_with('|') => last.extend([" ", words]),
            _ => items.push(line.to_owned()),
        }
        last_width = line.chars().count();
    }
    let wrapped = items.iter().map(|item| {
        let words = item.trim_start();
        let indent = &item[..item.len() - words.len()];
        if words.is_empty() {
            "\n".to_owned()
        } else {
            wrap(words, width, indent, if indent.is_empty() { "" } else { "      " })
        }
    });
    wrapped.collect::<String>().trim_end().to_owned()
}

/// Renders a term with its definition beside it, or below it if the term is long.
fn term_row(term: &str, text: &str, width: usize) -> String {
    let indent = " ".repeat(MAX_TERM_WIDTH + 4);
    let width = width.max(indent.len() + 20);
    if term.chars().count() > MAX_TERM_WIDTH {
        return format!("  {term}\n{}", wrap(text, width, &indent, &indent));
    }
    wrap(text, width, &format!("  {term:MAX_TERM_WIDTH$}  "), &indent)
}

/// Breaks text into lines of at most `width` characters. The first line begins with `first_indent`, the others with
/// `indent`. A longer word gets a line of its own.
fn wrap(text: &str, width: usize, first_indent: &str, indent: &str) -> String {
    let options = Options::new(width)
        .initial_indent(first_indent)
        .subsequent_indent(indent)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::fill(text, options) + "\n"
}

#[cfg(test)]
mod tests {
    use super::{term_row, wrap, wrap_after_help};

    #[test]
    fn lines_that_were_broken_for_their_width_are_joined() {
        let long = "word ".repeat(21) + "word";
        let text =
            format!("Examples:\n  a \\\n      b\n\n{long}\nthat goes on.\n-o json: x\n  key  {long}\n      more");
        let wrapped = wrap_after_help(&text, 60);
        assert!(wrapped.starts_with("Examples:\n  a \\\n      b\n\nword"), "{wrapped}");
        assert!(wrapped.contains("word that goes\non.\n-o json: x\n  key  word"), "{wrapped}");
        assert!(wrapped.ends_with("word more"), "{wrapped}");
        assert!(wrapped.lines().all(|line| line.chars().count() <= 60), "{wrapped}");
    }

    #[test]
    fn no_line_is_wider_than_it_may_be() {
        assert_eq!(wrap("a bb ccc dddd", 5, "", ""), "a bb\nccc\ndddd\n");
        assert_eq!(wrap("abcdefgh i", 5, "", ""), "abcdefgh\ni\n");
        assert_eq!(term_row("-x", "one two", 40), "  -x                      one two\n");
        assert_eq!(term_row(&"y".repeat(30), "z", 40), format!("  {}\n{:26}z\n", "y".repeat(30), ""));
    }
}
