//! Test results as `JUnit` XML, with a suite for each spec. Omits times, so that the output is reproducible.

use std::io::Write;

use classad::format::Position;

use crate::cli::Failure;

use super::report::{CaseResult, CaseVerdict, SpecResult, TestReport, UnmetExpectation, stop_reason};

pub fn write(out: &mut dyn Write, report: &TestReport) -> Result<(), Failure> {
    let files = || report.files.iter();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"classad test\"{}>", count_attributes(files()))?;
    for file in files() {
        let name = escape_attribute(&file.name);
        writeln!(out, "  <testsuite name=\"{name}\"{}>", count_attributes(std::iter::once(file)))?;
        for outcome in &file.outcomes {
            write_case(out, &name, outcome)?;
        }
        for (place, message) in &file.problems {
            let text = format!("{}{}: {message}", file.name, position_suffix(*place));
            writeln!(
                out,
                "    <testcase name=\"the spec is well-formed{}\" classname=\"{name}\">",
                escape_attribute(&position_suffix(*place))
            )?;
            write_element(out, "error", message, "spec", &text)?;
            writeln!(out, "    </testcase>")?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")?;
    Ok(())
}

/// Returns the attributes with the numbers of cases, failures and errors in `files`.
fn count_attributes<'f>(files: impl Iterator<Item = &'f SpecResult>) -> String {
    let (mut tests, mut failures, mut errors) = (0, 0, 0);
    for file in files {
        tests += file.outcomes.len() + file.problems.len();
        errors += file.problems.len();
        for outcome in &file.outcomes {
            match outcome.verdict {
                CaseVerdict::Passed | CaseVerdict::Listed => {}
                CaseVerdict::Failed(_) => failures += 1,
                CaseVerdict::Stopped(_) => errors += 1,
            }
        }
    }
    format!(" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\"")
}

fn write_case(out: &mut dyn Write, file: &str, outcome: &CaseResult) -> Result<(), Failure> {
    let line = outcome.position.map(|place| format!(" line=\"{}\"", place.line)).unwrap_or_default();
    write!(
        out,
        "    <testcase name=\"{}\" classname=\"{file}\" file=\"{file}\"{line}",
        escape_attribute(&outcome.name)
    )?;
    if let CaseVerdict::Passed = outcome.verdict {
        writeln!(out, "/>")?;
        return Ok(());
    }
    writeln!(out, ">")?;
    match &outcome.verdict {
        CaseVerdict::Passed | CaseVerdict::Listed => {}
        CaseVerdict::Failed(unmet) => {
            let sentences: Vec<String> = unmet.iter().map(UnmetExpectation::sentence).collect();
            let mut lines = Vec::new();
            for unmet in unmet {
                lines.push(format!("{}:", unmet.key));
                let difference = unmet.expected.difference(&unmet.actual).into_iter();
                lines.extend(difference.map(|(sign, line)| format!("{sign} {line}")));
            }
            lines.extend(outcome.reasons.iter().cloned());
            let text = lines.join("\n");
            write_element(out, "failure", &sentences.join("; "), "unmet", &text)?;
        }
        CaseVerdict::Stopped(stop) => write_element(out, "error", &stop_reason(stop), "stopped", "")?,
    }
    writeln!(out, "    </testcase>")?;
    Ok(())
}

fn write_element(out: &mut dyn Write, name: &str, message: &str, kind: &str, text: &str) -> Result<(), Failure> {
    let (message, text) = (escape_attribute(message), escape_text(text));
    writeln!(out, "      <{name} message=\"{message}\" type=\"{kind}\">{text}</{name}>")?;
    Ok(())
}

fn position_suffix(place: Option<Position>) -> String {
    place.map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default()
}

/// Escapes the value of an XML attribute. Escapes line ends and tabs too, which a parser would turn into blanks.
fn escape_attribute(text: &str) -> String {
    escape_text(text).replace('\n', "&#10;").replace('\t', "&#9;")
}

/// Escapes XML text. Replaces characters that XML cannot carry, not even as references, with U+FFFD.
fn escape_text(text: &str) -> String {
    let is_allowed = |c: char| matches!(c, '\n' | '\t' | '\r' | ' '..) && !matches!(c, '\u{fffe}' | '\u{ffff}');
    let text: String = text.chars().map(|c| if is_allowed(c) { c } else { '\u{fffd}' }).collect();
    quick_xml::escape::escape(text).replace('\r', "&#13;")
}

#[cfg(test)]
mod tests {
    use super::{escape_attribute, escape_text};

    #[test]
    fn nothing_ends_a_text_before_its_end() {
        assert_eq!(
            escape_attribute("a<b & \"c\" 'd'>\n\t\r]]>"),
            "a&lt;b &amp; &quot;c&quot; &apos;d&apos;&gt;&#10;&#9;&#13;]]&gt;"
        );
        assert_eq!(escape_text("\u{0}\u{1b}\u{fffe}é\n"), "\u{fffd}\u{fffd}\u{fffd}é\n");
    }
}
