//! Renders help texts as roff, for manual pages.

use std::fmt::Write;

use super::page::Block;

/// Requests that turn off justification and hyphenation, which would break names and options apart.
pub const LAYOUT: &str = ".ad l\n.nh\n";

/// Renders blocks as roff. Omits titles: the head of the page has them.
pub fn rendered(blocks: &[Block]) -> String {
    let mut out = String::new();
    let mut behind_heading = false;
    for block in blocks {
        // A paragraph right after a heading needs no `.PP`.
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

/// Returns the head of a page: title line, name and subject.
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

/// Returns the section SEE ALSO. `pages` are names with their manual sections.
pub fn see_also(pages: &[(String, u8)]) -> String {
    let pages: Vec<String> = pages.iter().map(|(name, section)| format!(".BR {} ({section})", escaped(name))).collect();
    format!(".SH \"SEE ALSO\"\n{}\n", pages.join(" ,\n"))
}

/// Renders a line of text. Text between backquotes becomes bold.
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

/// Keeps a line that begins with a control character from being read as a request.
fn protected(line: &str) -> String {
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line.to_owned() }
}

/// Escapes the characters that roff would interpret or replace.
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
