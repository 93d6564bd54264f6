//! HTCondor's long form: a `name = expression` line for each attribute, a blank line between ads.

use std::io::{self, Write};

use crate::ad::{Ad, Dialect, Expression, Name};
use crate::syntax::{Change, Rules, SyntaxError, parse_prefix, print_line, print_name, read_name};

use super::name::{attribute_name, name_text};
use super::{Entry, Form, Item, Problem, detect};

/// Reads ads line by line.  Every bad line is reported; the ad that it stands in is lost.
pub struct Reader<'t> {
    text: &'t [u8],
    rules: Rules,
    /// Offset of the next line.
    at: usize,
    /// Ads begun so far.
    number: usize,
    /// Found, but not yet handed out: the problems of an ad, then the ad.
    found: std::collections::VecDeque<Item>,
}

impl<'t> Reader<'t> {
    /// A reader at the beginning of a text.
    pub fn new(text: &'t [u8], dialect: Dialect) -> Self {
        let at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Reader { text, rules: Rules::long(dialect), at, number: 0, found: std::collections::VecDeque::new() }
    }

    /// The next line without its end, and its offset.
    fn line(&mut self) -> Option<(usize, &'t [u8])> {
        let start = self.at;
        let rest = self.text.get(start..).filter(|rest| !rest.is_empty())?;
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        self.at = start + length + 1;
        let line = &rest[..length];
        Some((start, line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Reads on to the end of the next ad; false at the end of the text.
    fn ad(&mut self) -> bool {
        let mut attributes: Vec<(Name, Expression)> = Vec::new();
        let mut first = None;
        let mut bad = false;
        while let Some((offset, line)) = self.line() {
            let content = line.trim_ascii_start();
            if content.is_empty() {
                if first.is_some() {
                    break;
                }
                continue;
            }
            if content.starts_with(b"#") || content.starts_with(b"//") {
                continue;
            }
            if first.is_none() {
                first = Some(offset);
                self.number += 1;
            }
            match self.attribute(offset, line) {
                Ok((attribute, warning)) => {
                    attributes.push(attribute);
                    self.found.extend(warning.map(Err));
                }
                Err(problem) => {
                    bad = true;
                    self.found.push_back(Err(problem));
                }
            }
        }
        let Some(offset) = first else { return false };
        if !bad {
            self.found.push_back(Ok(Entry { ad: attributes.into_iter().collect(), number: self.number, offset }));
        }
        true
    }

    /// Reads one line; a warning if something behind the expression is ignored, as HTCondor does.
    fn attribute(&self, offset: usize, line: &[u8]) -> Result<((Name, Expression), Option<Problem>), Problem> {
        let Some(equals) = separator(line) else {
            let indent = line.len() - line.trim_ascii_start().len();
            let end = line.trim_ascii_end().len();
            return Err(Problem::at(offset + indent..offset + end, self.number, "this line is no attribute")
                .with_help("in the long form every line reads `name = expression`"));
        };
        let name = self.name(offset, &line[..equals])?;
        let value = &line[equals + 1..];
        let value_offset = offset + equals + 1;
        let (expression, rest) =
            parse_prefix(value, self.rules).map_err(|error| self.located(error, value, value_offset))?;
        let warning = rest.filter(|rest| !value[rest.range()].trim_ascii().is_empty()).map(|rest| {
            let range = rest.start as usize + value_offset..value.trim_ascii_end().len() + value_offset;
            Problem::at(range, self.number, "what stands behind the expression is ignored, as HTCondor ignores it")
                .as_warning()
        });
        Ok(((name, expression), warning))
    }

    /// An error of a value: the end of the value is where its line ends.
    fn located(&self, error: SyntaxError, value: &[u8], offset: usize) -> Problem {
        let end = u32::try_from(value.trim_ascii_end().len()).unwrap_or(u32::MAX);
        let mut error = error;
        if error.span.start >= end {
            error.span = crate::ad::Span::new(end, end);
        }
        Problem::from_syntax(error, offset, self.number)
    }

    fn name(&self, offset: usize, written: &[u8]) -> Result<Name, Problem> {
        let indent = written.len() - written.trim_ascii_start().len();
        let trimmed = written.trim_ascii();
        let range = offset + indent..offset + indent + trimmed.len();
        let text = name_text(trimmed, range.clone(), self.number)?;
        match read_name(text, self.rules.dialect) {
            Some(name) if !name.is_empty() => attribute_name(name.as_bytes(), self.rules.dialect, range, self.number),
            _ => Err(Problem::at(
                range.start..range.end.max(range.start + 1),
                self.number,
                "a name is missing before this `=`",
            )
            .with_help("in the long form every line reads `name = expression`")),
        }
    }
}

impl Iterator for Reader<'_> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        while self.found.is_empty() {
            if !self.ad() {
                return None;
            }
        }
        self.found.pop_front()
    }
}

/// The length of the beginning of a stream that ends with a blank line, and so holds whole ads.
pub(super) fn whole(window: &[u8]) -> usize {
    let mut end = window.len();
    while let Some(line_end) = memchr::memrchr(b'\n', &window[..end]) {
        let line_start = memchr::memrchr(b'\n', &window[..line_end]).map_or(0, |at| at + 1);
        if window[line_start..line_end].trim_ascii().is_empty() {
            return line_end + 1;
        }
        end = line_end;
    }
    0
}

/// Writes an ad as lines, and the blank line that ends it.  What it cannot carry is changed, and told.
///
/// # Errors
///
/// Those of the writer.
pub fn write(out: &mut dyn Write, ad: &Ad) -> io::Result<Vec<(Name, Change)>> {
    let mut changes = Vec::new();
    for attribute in ad.iter() {
        write!(out, "{} = ", line_name(attribute.name))?;
        let (line, lost) = print_line(attribute.expression);
        out.write_all(&line)?;
        writeln!(out)?;
        changes.extend(lost.into_iter().map(|change| (attribute.name.clone(), change)));
    }
    writeln!(out)?;
    Ok(changes)
}

/// Where the `=` is that ends the name: the first of the line, as HTCondor has it, or the one behind a
/// name in quotes, which may have an `=` in it.
pub(super) fn separator(line: &[u8]) -> Option<usize> {
    if let Some(rest) = line.trim_ascii_start().strip_prefix(b"'") {
        let start = line.len() - rest.len();
        let mut at = 0;
        while let Some(found) = memchr::memchr2(b'\'', b'\\', rest.get(at..)?) {
            at += found + 1;
            if rest[at - 1] == b'\\' {
                at += 1;
            } else if let Some(behind) = rest.get(at..)
                && behind.trim_ascii_start().starts_with(b"=")
            {
                return Some(start + at + behind.len() - behind.trim_ascii_start().len());
            } else {
                break;
            }
        }
    }
    memchr::memchr(b'=', line)
}

/// A name at the beginning of a line.  HTCondor reads there anything up to the `=` and knows no
/// quotes, so that they are used only for names that could not be read otherwise, or make the line look
/// like another form.
fn line_name(name: &Name) -> String {
    let text = name.as_str();
    let is_plain = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let safe = is_plain(text)
        || text.trim() == text
            && !text.contains(['=', '\n', '\r'])
            && !text.starts_with(['#', '\'', '[', '/', '\u{feff}'])
            && detect(format!("{text} = ").as_bytes()) == Some(Form::Long);
    if safe { text.to_owned() } else { print_name(name) }
}

#[cfg(test)]
mod tests {
    use super::{Reader, write};
    use crate::ad::{Dialect, Expression, Name, Value};
    use crate::format::{Form, Position, Severity, detect};

    /// Each ad as it is written back, each problem as `line:column: message`.
    fn items(text: &str) -> Vec<String> {
        Reader::new(text.as_bytes(), Dialect::Condor)
            .map(|item| match item {
                Ok(entry) => {
                    let mut out = Vec::new();
                    write(&mut out, &entry.ad).unwrap();
                    String::from_utf8(out).unwrap().trim_end().replace('\n', " | ")
                }
                Err(problem) => {
                    let at = Position::of(text.as_bytes(), problem.range.start);
                    let mark = if problem.severity == Severity::Warning { "~" } else { "!" };
                    format!("{mark}{}:{}: {}", at.line, at.column, problem.message)
                }
            })
            .collect()
    }

    #[test]
    fn as_htcondor_reads_it() {
        for (text, expected) in [
            ("a = 1\nb = 2\n", vec!["a = 1 | b = 2"]),
            ("a = 1\n \nb = 2\n", vec!["a = 1", "b = 2"]),
            ("\n\na=1\n\n\n", vec!["a = 1"]),
            ("# c\na = 1\n  # d\nb=2\n", vec!["a = 1 | b = 2"]),
            ("a = \"x\\ny\"\n", vec!["a = \"x\\ny\""]),
            ("a = \"C:\\dir\\\"\nb=1", vec!["a = \"C:\\dir\\\" | b = 1"]),
            ("a b = 1\n1a = 3\ntrue = 1\na.b = 1", vec!["a b = 1 | 1a = 3 | true = 1 | a.b = 1"]),
            ("a =1\r\nb=2\r\n", vec!["a = 1 | b = 2"]),
            ("a = TRUE\nA = x =?= 2\n", vec!["a = x =?= 2"]),
            ("a = 1 # x", vec!["~1:7: what stands behind the expression is ignored, as HTCondor ignores it", "a = 1"]),
            ("", vec![]),
        ] {
            assert_eq!(items(text), expected, "{text}");
        }
    }

    #[test]
    fn names_that_look_like_another_form() {
        for name in ["<", "<<", "{", "[", "---", "%YAML", "a: b", "b:", "\u{feff}", "\u{feff}x", "#", "//", "a=b"] {
            let ad = [(Name::new(name), Expression::literal(Value::Integer(1)))].into_iter().collect();
            let mut text = Vec::new();
            write(&mut text, &ad).unwrap();
            assert!(
                text.starts_with(b"'") && detect(&text) == Some(Form::Long),
                "{name:?} {}",
                String::from_utf8_lossy(&text)
            );
            let again = Reader::new(&text, Dialect::Condor).next().unwrap();
            assert!(again.unwrap().ad == ad, "{name}");
        }
        for name in ["a b", "1a", "true", "*** Offset", "a:b", "---a", "-x", "\"x"] {
            assert_eq!(super::line_name(&Name::new(name)), name);
        }
    }

    #[test]
    fn a_bad_ad_is_reported_and_the_rest_read() {
        for (text, expected) in [
            (
                "a = 1\nb = (\nc = +\n\nd = 4\n",
                vec![
                    "!2:6: expected an expression, found the end",
                    "!3:6: expected an expression, found the end",
                    "d = 4",
                ],
            ),
            ("a\n\nb = 1", vec!["!1:1: this line is no attribute", "b = 1"]),
            (" = 1", vec!["!1:2: a name is missing before this `=`"]),
            ("a = \"x\nb=1", vec!["!1:5: this string has no closing quote"]),
            ("a = 010", vec!["!1:5: HTCondor reads no octal or hexadecimal integers: `010`"]),
        ] {
            assert_eq!(items(text), expected, "{text}");
        }
    }
}
