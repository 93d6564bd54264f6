//! Renders help texts as roff, for manual pages.

use std::fmt::Write;

use super::markup::HelpBlock;

/// Roff commands that turn off justification and hyphenation, so that names and options are not broken apart.
pub const LAYOUT: &str = ".ad l\n.nh\n";

/// Renders blocks as roff. Omits the title, because the head of the page has it.
pub fn render(blocks: &[HelpBlock]) -> String {
    let mut is_after_heading = false;
    let render = |block: &HelpBlock| {
        // A paragraph right after a heading needs no `.PP`.
        let new = if is_after_heading { "" } else { ".PP\n" };
        is_after_heading = matches!(block, HelpBlock::Title(..) | HelpBlock::Heading(_));
        match block {
            HelpBlock::Title(..) => String::new(),
            HelpBlock::Heading(heading) => format!(".SH {}\n", quote(&heading.to_uppercase())),
            HelpBlock::Paragraph(text) => format!("{new}{}\n", inline_markup(text)),
            HelpBlock::Literal(text) => {
                let lines: Vec<String> = text.lines().map(literal).collect();
                format!("{new}.RS 4\n.EX\n{}\n.EE\n.RE\n", lines.join("\n"))
            }
            HelpBlock::Items(items) => {
                let item = |item: &String| format!(".IP \\(bu 2\n{}\n", inline_markup(item));
                items.iter().map(item).collect::<Vec<_>>().concat()
            }
            HelpBlock::Terms(terms) => {
                let row = |(term, text): &(String, String)| {
                    format!(".TP\n\\fB{}\\fR\n{}\n", escape(term), inline_markup(text))
                };
                terms.iter().map(row).collect()
            }
        }
    };
    blocks.iter().map(render).collect()
}

/// Returns the head of a page of section 7: title line, name and subject. `name` is without `classad-`.
pub fn page_head(name: &str, about: &str) -> String {
    let name = page_name(name);
    format!(
        ".TH {} 7 {} \"classad {}\" \"classad manual\"\n{LAYOUT}.SH NAME\n{} \\- {}\n.SH DESCRIPTION\n",
        quote(&name.to_uppercase()),
        super::MANUAL_DATE,
        env!("CARGO_PKG_VERSION"),
        escape(&name),
        inline_markup(about)
    )
}

/// Returns the whole name of a page; `name` is without `classad-`, and empty for classad(1).
pub fn page_name(name: &str) -> String {
    format!("classad-{name}").trim_end_matches('-').to_owned()
}

/// Returns the section SEE ALSO. Each of `pages` is a name without `classad-` and the number of a manual section.
pub fn see_also<'n>(pages: impl IntoIterator<Item = (&'n str, u8)>) -> String {
    let pages = pages.into_iter().map(|(name, section)| format!(".BR {} ({section})", escape(&page_name(name))));
    format!(".SH \"SEE ALSO\"\n{}\n", pages.collect::<Vec<_>>().join(" ,\n"))
}

/// Renders a line of text. Text between backquotes becomes bold.
fn inline_markup(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(index, part)| match index % 2 {
        0 => escape(part),
        _ => format!("\\fB{}\\fR", escape(part)),
    });
    protect_line(&parts.collect::<String>())
}

fn literal(line: &str) -> String {
    protect_line(&escape(line))
}

/// Keeps an escaped line that begins with a period from being read as a roff command.
fn protect_line(line: &str) -> String {
    if line.starts_with('.') { format!("\\&{line}") } else { line.to_owned() }
}

/// Escapes the characters that roff would interpret as markup or replace by others.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\e"),
            '-' => out.push_str("\\-"),
            '\'' => out.push_str("\\(aq"),
            '`' => out.push_str("\\(ga"),
            '^' => out.push_str("\\(ha"),
            '~' => out.push_str("\\(ti"),
            '\t' => out.push_str("    "),
            c if c.is_ascii() => out.push(c),
            c => {
                let _ = write!(out, "\\[u{:04X}]", u32::from(c));
            }
        }
    }
    out
}

fn quote(text: &str) -> String {
    format!("\"{}\"", escape(text).replace('"', "\\(dq"))
}

#[cfg(test)]
mod tests {
    use super::{inline_markup, literal};

    #[test]
    fn no_text_is_a_request() {
        assert_eq!(literal(".TH x"), "\\&.TH x");
        assert_eq!(literal("'\\n'"), "\\(aq\\en\\(aq");
        assert_eq!(inline_markup("write `a-b` and ─"), "write \\fBa\\-b\\fR and \\[u2500]");
    }
}
