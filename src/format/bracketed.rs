//! Reader and writer of bracketed ads: `[ name = expression; ... ]`, one after the other.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::ops::Range;

use crate::ad::{Ad, Dialect, Name};
use crate::syntax::{Change, Group, Rules, Style, ad_errors, first_group, parse_ad, print, print_name};

use super::{Entry, Item, Problem};

/// Iterator over the bracketed ads of a text.
pub struct Reader<'t> {
    text: &'t [u8],
    rules: Rules,
    /// Byte offset of the text that has not been read.
    at: usize,
    /// Number of ads begun so far.
    number: usize,
    /// Number of ads found so far that have no closing bracket.
    open: usize,
    /// Further problems of the current ad, to be yielded next.
    found: VecDeque<Problem>,
}

/// Maximum number of unclosed ads before the reader gives up: for each one the text is searched to its end, so the
/// total time would be quadratic.
const MOST_OPEN: usize = 100;

impl<'t> Reader<'t> {
    /// Creates a reader at the beginning of a text. A byte order mark is skipped.
    pub fn new(text: &'t [u8], dialect: Dialect) -> Self {
        let at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Reader { text, rules: Rules::new(dialect), at, number: 0, open: 0, found: VecDeque::new() }
    }

    /// Returns the byte offset of the text that has not been read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Parses the ad in a range, which extends over one pair of brackets.
    fn ad(&mut self, range: Range<usize>) -> Item {
        self.number += 1;
        self.at = range.end;
        let offset = range.start;
        match parse_ad(&self.text[range.clone()], self.rules) {
            Ok(ad) => Ok(Entry { ad, number: self.number, offset, is_whole: true }),
            Err(error) => {
                // A string without its closing quote may have swallowed the next ad.
                if error.related.as_ref().is_some_and(|(_, text)| text.contains("closing quote"))
                    && let Some(next) = self.next_line_with_bracket(&range)
                {
                    self.at = next;
                }
                let errors = ad_errors(&self.text[range], self.rules);
                self.found = errors.into_iter().map(|one| Problem::from_syntax(one, offset, self.number)).collect();
                Err(self.found.pop_front().unwrap_or_else(|| Problem::from_syntax(error, offset, self.number)))
            }
        }
    }

    /// Returns where the next ad most likely begins if the end of the ad in `range` is unknown: at a bracket that
    /// begins a line and is indented no more than this ad. `None` if there is no such bracket.
    fn next_line_with_bracket(&self, range: &Range<usize>) -> Option<usize> {
        let line = memchr::memrchr(b'\n', &self.text[..range.start]).map_or(0, |at| at + 1);
        let indent = range.start - line;
        memchr::memchr_iter(b'\n', &self.text[range.clone()]).find_map(|end| {
            let rest = &self.text[range.start + end + 1..range.end];
            let blank = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            (blank <= indent && rest.get(blank) == Some(&b'[')).then_some(range.start + end + 1 + blank)
        })
    }
}

impl Iterator for Reader<'_> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        if let Some(problem) = self.found.pop_front() {
            return Some(Err(problem));
        }
        let rest = self.text.get(self.at..)?;
        let shifted = |span: crate::ad::Span| self.at + span.start as usize..self.at + span.end as usize;
        match first_group(rest) {
            Group::Nothing => None,
            Group::Closed(span) => Some(self.ad(shifted(span))),
            Group::Open(span) => {
                let range = shifted(span);
                self.open += 1;
                if self.open > MOST_OPEN {
                    self.at = self.text.len();
                    let message = "too many brackets are not closed; the rest is not read";
                    return Some(Err(Problem::at(range.start..range.start + 1, self.number + 1, message)));
                }
                let end = self.next_line_with_bracket(&range).unwrap_or(range.end);
                Some(self.ad(range.start..end))
            }
            Group::Other(span) => {
                let range = shifted(span);
                self.at = range.end;
                let end = range.start + self.text[range.clone()].trim_ascii_end().len();
                Some(Err(Problem::at(range.start..end, self.number + 1, "expected an ad, which begins with `[`")))
            }
        }
    }
}

/// Writes an ad with one attribute per line. The format can represent every ad, so there are no changes.
///
/// # Errors
///
/// I/O errors of `out`.
pub fn write(out: &mut dyn Write, ad: &Ad) -> io::Result<Vec<(Name, Change)>> {
    writeln!(out, "[")?;
    for attribute in ad.iter() {
        write!(out, "  {} = ", print_name(attribute.name))?;
        out.write_all(&print(attribute.expression, Style::New))?;
        writeln!(out, ";")?;
    }
    writeln!(out, "]")?;
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::Reader;
    use crate::ad::Dialect;
    use crate::format::Position;
    use crate::syntax::{Style, print_ad};

    fn items(text: &str) -> Vec<String> {
        Reader::new(text.as_bytes(), Dialect::Classad)
            .map(|item| match item {
                Ok(entry) => String::from_utf8(print_ad(&entry.ad, Style::New)).unwrap(),
                Err(problem) => {
                    let at = Position::of(text.as_bytes(), problem.range.start);
                    format!("!{}:{}: {}", at.line, at.column, problem.message)
                }
            })
            .collect()
    }

    #[test]
    fn ads_in_a_row() {
        for text in ["[a=1][b=2]", "[a=1]\n\n[b=2]\n", "{[a=1],[b=2]}", "[a=1];[b=2]", "// c\n[a=1] // d\n[b=2]"] {
            assert_eq!(items(text), ["[ a = 1 ]", "[ b = 2 ]"], "{text}");
        }
        assert!(items("// nothing").is_empty());
    }

    #[test]
    fn a_bad_ad_is_reported_and_the_rest_read() {
        for (text, problem) in [
            ("[a = ]\n[b=2]", "!1:6: expected an expression, found `]`"),
            ("[a = 1\n[b=2]", "!2:1: expected `;` or `]`, found the end"),
            ("[a = (1]\n[b=2]", "!1:8: expected `)`, found `]`"),
            ("x\n[b=2]", "!1:1: expected an ad, which begins with `[`"),
            ("[a = \"x]\n[b=2]", "!1:6: this string has no closing quote"),
        ] {
            assert_eq!(items(text), [problem, "[ b = 2 ]"], "{text}");
        }
    }
}
