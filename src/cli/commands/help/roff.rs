//! Topics as parts of manual pages.

use std::fmt::Write;

use super::page::Block;

/// Lines end where words do: neither names nor options are torn apart, and no blanks put between them.
pub const LAYOUT: &str = ".ad l\n.nh\n";

/// The text in the language of `man`.  Titles are what the page begins with, and left out.
pub fn rendered(blocks: &[Block]) -> String {
    let mut out = String::new();
    let mut behind_heading = false;
    for block in blocks {
        // The first paragraph begins with its heading.
        let new = if std::mem::take(&mut behind_heading) { "" } else { ".PP\n" };
        match block {
            Block::Title(..) => behind_heading = true,
            Block::Heading(heading) => {
                let _ = writeln!(out, ".SH {}", quoted(&heading.to_uppercase()));
                behind_heading = true;
            }
            Block::Paragraph(text) => {
                let _ = writeln!(out, "{new}{}", inline(text));
            }
            Block::Literal(lines) => {
                let lines: Vec<String> = lines.iter().map(|line| literal(line)).collect();
                let _ = writeln!(out, "{new}.RS 4\n.EX\n{}\n.EE\n.RE", lines.join("\n"));
            }
            Block::Terms(terms) => {
                for (term, text) in terms {
                    let _ = writeln!(out, ".TP\n\\fB{}\\fR\n{}", escaped(term), inline(text));
                }
            }
        }
    }
    out
}

/// The head of a page: what it is called, in which section, and what it is about.
pub fn head(name: &str, section: u8, about: &str) -> String {
    let upper = quoted(&name.to_uppercase());
    format!(
        ".TH {upper} {section} {} \"classad {}\" \"classad manual\"\n{LAYOUT}.SH NAME\n{} \\- {}\n.SH DESCRIPTION\n",
        super::DATE,
        env!("CARGO_PKG_VERSION"),
        escaped(name),
        inline(about)
    )
}

/// What else to read, at the end of a page.
pub fn see_also(pages: &[(String, u8)]) -> String {
    let pages: Vec<String> = pages.iter().map(|(name, section)| format!(".BR {} ({section})", escaped(name))).collect();
    format!(".SH \"SEE ALSO\"\n{}\n", pages.join(" ,\n"))
}

/// A line of text, of which what stands between backquotes is bold.
fn inline(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(index, part)| match index % 2 {
        0 => escaped(part),
        _ => format!("\\fB{}\\fR", escaped(part)),
    });
    protected(&parts.collect::<String>())
}

fn literal(line: &str) -> String {
    protected(&escaped(line))
}

/// A line that is no request, whatever it begins with.
fn protected(line: &str) -> String {
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line.to_owned() }
}

/// What `man` would take for something else.
fn escaped(text: &str) -> String {
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

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text).replace('"', "\\(dq"))
}

#[cfg(test)]
mod tests {
    use super::{inline, literal};

    #[test]
    fn no_text_is_a_request() {
        assert_eq!(literal(".TH x"), "\\&.TH x");
        assert_eq!(literal("'\\n'"), "\\(aq\\en\\(aq");
        assert_eq!(inline("write `a-b` and ─"), "write \\fBa\\-b\\fR and \\[u2500]");
    }
}
