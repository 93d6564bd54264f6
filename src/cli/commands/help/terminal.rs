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
        HelpBlock::Items(items) => items.iter().map(|item| wrap(item, width, "- ", "  ")).collect(),
        HelpBlock::Terms(terms) => terms.iter().map(|(term, text)| term_row(term, text, width)).collect(),
    });
    parts.collect::<Vec<_>>().join("\n")
}

/// Splits the text that a command adds to its help into the examples and what follows them. Either can be empty.
pub fn split_examples(text: &str) -> (&str, &str) {
    if text.starts_with("Examples:") { text.split_once("\n\n").unwrap_or((text, "")) } else { ("", text) }
}

/// Width, in characters, of the longest lines of the texts below the options of commands, as they are written.
const WRITTEN_WIDTH: usize = 108;

/// Wraps the text below the options of a command's help in lines of at most `width` characters. Lines that were broken
/// only for their width are joined first. The last column of a table continues below itself. A command is continued
/// with backslashes, so that it can be pasted into a shell.
pub fn wrap_after_help(text: &str, width: usize) -> String {
    let width = width.min(MAX_TEXT_WIDTH);
    let mut items: Vec<String> = Vec::new();
    let mut last_width = 0;
    for line in text.lines() {
        let (indent, words) = (indent_of(line), line.trim_start());
        let first_word = words.split(' ').next().unwrap_or_default().chars().count();
        let was_broken = last_width + 1 + first_word > WRITTEN_WIDTH && !words.starts_with("-o ");
        let last = items.last_mut().filter(|last| !last.is_empty() && !words.is_empty() && !last.ends_with('\\'));
        match last {
            Some(last) if indent == 0 && indent_of(last) == 0 && was_broken => last.extend([" ", words]),
            Some(last) if indent > 0 && last_column(last) == Some(indent) => last.extend([" ", words]),
            Some(last) if indent > 4 && indent_of(last) > 0 && was_broken => last.extend([" ", words]),
            _ => items.push(line.to_owned()),
        }
        last_width = line.chars().count();
    }
    let mut is_continued = false;
    let wrapped = items.iter().map(|item| {
        let is_command = is_continued || is_command(item);
        is_continued = item.ends_with('\\');
        if is_command {
            return break_command(item, width);
        }
        let hanging = match (indent_of(item), last_column(item)) {
            (0, _) => 0,
            (_, Some(column)) if column + MIN_COLUMN_WIDTH <= width => column,
            _ => 6,
        };
        if item.is_empty() { "\n".to_owned() } else { wrap_item(item, width, hanging) }
    });
    wrapped.collect::<String>().trim_end().to_owned()
}

/// Whether a line of an example is a command, which a user may paste into a shell.
fn is_command(line: &str) -> bool {
    indent_of(line) > 0 && last_column(line).is_none() && line.split(' ').any(|word| word == "classad")
}

/// Breaks a command that is wider than `width` between its words, with a backslash at the end of each line but the last.
fn break_command(line: &str, width: usize) -> String {
    let (command, end) = line.strip_suffix(" \\").map_or((line, ""), |command| (command, " \\"));
    if line.chars().count() <= width {
        return format!("{line}\n");
    }
    let indent = indent_of(line);
    let indent_of_more = if indent < 6 { indent + 4 } else { indent };
    let mut broken = " ".repeat(indent);
    let mut length = indent;
    for (number, word) in shell_words(&command[indent..]).into_iter().enumerate() {
        let word_length = word.chars().count();
        if number > 0 && length + 1 + word_length + " \\".len() > width {
            broken += " \\\n";
            broken += &" ".repeat(indent_of_more);
            length = indent_of_more;
        } else if number > 0 {
            broken.push(' ');
            length += 1;
        }
        broken += word;
        length += word_length;
    }
    broken + end + "\n"
}

/// Splits a command at the spaces that are not in quotes.
fn shell_words(command: &str) -> Vec<&str> {
    let mut quote = None;
    let is_separator = |character: char| {
        match quote {
            Some(open) if open == character => quote = None,
            None if matches!(character, '\'' | '"') => quote = Some(character),
            _ => {}
        }
        quote.is_none() && character == ' '
    };
    command.split(is_separator).collect()
}

/// Minimum width, in characters, of a last column that continues below itself.
const MIN_COLUMN_WIDTH: usize = 40;

/// Breaks a line that may have columns. The lines after the first one begin with `hanging` spaces.
fn wrap_item(item: &str, width: usize, hanging: usize) -> String {
    let column = last_column(item).unwrap_or(indent_of(item));
    let start = item.char_indices().nth(column).map_or(0, |(start, _)| start);
    wrap(&item[start..], width, &item[..start], &" ".repeat(hanging))
}

/// Number of spaces at the beginning of a line.
fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Position, in characters, of the last column of an indented line: two spaces separate columns. `None` if the line has
/// one column.
fn last_column(line: &str) -> Option<usize> {
    if indent_of(line) == 0 {
        return None;
    }
    let gap = line.rfind("  ")? + 2;
    (gap > indent_of(line)).then(|| line[..gap].chars().count())
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
    use super::{is_command, last_column, render, shell_words, split_examples, term_row, wrap, wrap_after_help};
    use crate::cli::commands::help::markup::parse;

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
    fn commands_are_broken_with_backslashes() {
        let text = "Examples:\n  classad query 'A == 1' file --af Name,Memory > out\n  classad a bb cccc ddddd \\\n      'e f'\nEnd.";
        let expected = "Examples:\n  classad query \\\n      'A == 1' file \\\n      --af \\\n      Name,Memory > \\\n      out\n  \
                        classad a bb cccc \\\n      ddddd \\\n      'e f'\nEnd.";
        assert_eq!(wrap_after_help(text, 22), expected);
        assert!(wrap_after_help(text, 100).contains(" 'A == 1' file --af Name,Memory > out\n"));
    }

    #[test]
    fn commands_are_indented_lines_without_columns() {
        for (line, expected) in [
            ("  classad query x", true),
            (" classad query x", true),
            ("  cat x | classad query", true),
            ("classad query x", false),
            ("  classad query x  # what it does", false),
            ("  the classads of x", false),
            ("", false),
        ] {
            assert_eq!(is_command(line), expected, "{line}");
        }
        for (line, expected) in
            [("a  b", None), ("  a b", None), ("  a  b", Some(5)), (" a  \u{e4}  b", Some(7)), ("    ", None)]
        {
            assert_eq!(last_column(line), expected, "{line}");
        }
        assert_eq!(shell_words("a 'b c' \"d 'e\" f"), ["a", "'b c'", "\"d 'e\"", "f"]);
    }

    #[test]
    fn columns_and_indented_lines_remain() {
        let text = "A spec:\n  ads:\n    job:      # attributes\n      Cpus: 2\n  key   what the key means, in many words\n        and more";
        let expected = "A spec:\n  ads:\n    job:      # attributes\n      Cpus: 2\n  key   what the key means, in many words and\n        more";
        assert_eq!(wrap_after_help(text, 49), expected);
    }

    #[test]
    fn no_line_is_wider_than_it_may_be() {
        assert_eq!(wrap("a bb ccc dddd", 5, "", ""), "a bb\nccc\ndddd\n");
        assert_eq!(wrap("abcdefgh i", 5, "", ""), "abcdefgh\ni\n");
        assert_eq!(term_row("-x", "one two", 40), "  -x                      one two\n");
        assert_eq!(term_row(&"y".repeat(30), "z", 40), format!("  {}\n{:26}z\n", "y".repeat(30), ""));
    }

    #[test]
    fn a_line_is_joined_if_its_first_word_had_no_room_before() {
        // What is written has 108 characters in a line.
        let line = |width: usize| format!("{} {}", "a".repeat(50), "b".repeat(width - 51));
        for (width, next, is_joined) in [
            (104, "word", true),
            (103, "word", false),
            (104, "wor", false),
            (105, "wor d", true),
            (108, "-o json: x", false),
            (108, "  word", false),
            (108, "", false),
        ] {
            let (first, second) = (line(width), format!("{}\n{next}", line(width)));
            let wrapped = wrap_after_help(&second, 100);
            let expected = if is_joined { format!("{first} {next}") } else { format!("{first}\n{next}") };
            let expected = expected.lines().map(|line| format!("{line}\n")).collect::<Vec<_>>().concat();
            let expected = expected.replacen(" b", "\nb", 1);
            assert_eq!(wrapped, expected.trim_end(), "{width} {next}");
        }
        // Of three lines the middle one is too short for the third to be its rest.
        let text = format!("{}\nword\nmore", line(108));
        let expected = format!("{}\n{} word\nmore", "a".repeat(50), "b".repeat(57));
        assert_eq!(wrap_after_help(&text, 100), expected);
        // A line that ends with a backslash is continued by itself.
        let text = format!("{} \\\nword", line(106));
        let expected = format!("{}\n{} \\\nword", "a".repeat(50), "b".repeat(55));
        assert_eq!(wrap_after_help(&text, 100), expected);
    }

    #[test]
    fn lines_continue_where_their_last_column_begins() {
        let words = "one two three four five six seven eight nine ten eleven twelve";
        for (text, width, expected) in [
            // A paragraph, an indented line, and a key with its meaning.
            (words.to_owned(), 30, "one two three four five six\nseven eight nine ten eleven\ntwelve".to_owned()),
            (
                format!("  {words}"),
                30,
                "  one two three four five six\n      seven eight nine ten\n      eleven twelve".to_owned(),
            ),
            (
                format!("  key  {words}"),
                47,
                "  key  one two three four five six seven eight\n       nine ten eleven twelve".to_owned(),
            ),
            // The last column would be too narrow to go on below itself.
            (
                format!("  key  {words}"),
                46,
                "  key  one two three four five six seven eight\n      nine ten eleven twelve".to_owned(),
            ),
            // No line is wider than 100 characters, on no terminal.
            ("x ".repeat(51) + "x", 300, format!("{}x\nx x", "x ".repeat(49))),
            ("a\n\n\nb\n".to_owned(), 40, "a\n\n\nb".to_owned()),
        ] {
            assert_eq!(wrap_after_help(&text, width), expected, "{text}");
        }
    }

    #[test]
    fn a_command_fills_its_lines() {
        for (line, width, expected) in [
            ("  classad a bb ccc", 18, "  classad a bb ccc"),
            // A backslash and its space need room, too.
            ("  classad a bb ccc", 17, "  classad a bb \\\n      ccc"),
            ("  classad a bb ccc", 16, "  classad a bb \\\n      ccc"),
            ("  classad a bb ccc", 15, "  classad a \\\n      bb ccc"),
            ("  classad a bb ccc ddd eeee", 16, "  classad a bb \\\n      ccc ddd \\\n      eeee"),
            ("  classad a bb ccc ddd eeee", 15, "  classad a \\\n      bb ccc \\\n      ddd \\\n      eeee"),
            ("  classad a bb ccc ddd \\", 16, "  classad a bb \\\n      ccc ddd \\"),
            // What goes on behind a backslash keeps its indentation, if that is deep.
            ("  classad a \\\n      bb ccc ddd", 15, "  classad a \\\n      bb ccc \\\n      ddd"),
            ("  classad a \\\n     bb ccc dd", 13, "  classad a \\\n     bb ccc \\\n         dd"),
            // Neither a command nor the rest of one.
            ("  classad a\n  bb ccc ddd", 9, "  classad \\\n      a\n  bb ccc\n      ddd"),
        ] {
            assert_eq!(wrap_after_help(line, width), expected, "{line} {width}");
        }
    }

    #[test]
    fn a_term_has_room_for_its_meaning() {
        let below = " ".repeat(26);
        for (term, text, width, expected) in [
            // A term of 22 characters shares its line, one of 23 does not.
            ("y".repeat(22), "z", 60, format!("  {}  z\n", "y".repeat(22))),
            ("y".repeat(23), "z", 60, format!("  {}\n{below}z\n", "y".repeat(23))),
            ("\u{e4}".repeat(22), "z", 60, format!("  {}  z\n", "\u{e4}".repeat(22))),
            // The meaning has 20 characters in a line at least.
            ("x".to_owned(), "aaaa bbbb cccc ddddd", 10, format!("  x{}aaaa bbbb cccc ddddd\n", " ".repeat(23))),
            (
                "x".to_owned(),
                "aaaa bbbb cccc dddddd",
                10,
                format!("  x{}aaaa bbbb cccc\n{below}dddddd\n", " ".repeat(23)),
            ),
            ("x".to_owned(), "aaaa bbbb cccc dddddd", 47, format!("  x{}aaaa bbbb cccc dddddd\n", " ".repeat(23))),
        ] {
            assert_eq!(term_row(&term, text, width), expected, "{term} {text} {width}");
        }
    }

    #[test]
    fn blocks_have_an_empty_line_between_them() {
        let text = "# key: what it is\n\n## Part one\ntext that\ngoes on\n- an **item** that\n  goes on\n- b\n\n  code\n\n  \
                    more\n\n| key | meaning |\n|---|---|\n| `a` | c |\n\n| b | d |\n```\nx\n\n  y\n\n```\nExamples:\nend\n\n# bare";
        let expected = format!(
            "key: what it is\n\nPART ONE\n\ntext that goes on\n\n- an item that goes\n  on\n- b\n\n  code\n\n  more\n\n  \
             a{gap}c\n\n  b{gap}d\n\n  x\n\n    y\n\nEXAMPLES\n\nend\n\nbare: \n",
            gap = " ".repeat(23)
        );
        assert_eq!(render(&parse(text), 19), expected);
        assert_eq!(render(&parse(&"x ".repeat(51)), 300), format!("{}x\nx\n", "x ".repeat(49)));
        for (text, expected) in [
            ("Examples:\n  a\n\nmore\n\nlast", ("Examples:\n  a", "more\n\nlast")),
            ("Examples:\n  a", ("Examples:\n  a", "")),
            ("more\n\nExamples:\n  a", ("", "more\n\nExamples:\n  a")),
        ] {
            assert_eq!(split_examples(text), expected);
        }
    }
}
