//! Test results as `JUnit` XML, with a suite for each spec. Omits times, so that the output is reproducible.

use std::io::Write;

use crate::cli::outcome::Failure;

use super::report::{CaseResult, CaseStatus, SpecResult, TestReport, located};

pub fn write(out: &mut dyn Write, report: &TestReport) -> Result<(), Failure> {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"classad test\"{}>", count_attributes(&report.files))?;
    for file in &report.files {
        let name = escape_attribute(&file.name);
        writeln!(out, "  <testsuite name=\"{name}\"{}>", count_attributes(std::slice::from_ref(file)))?;
        for outcome in &file.outcomes {
            write_case(out, &name, outcome)?;
        }
        for (position, message) in &file.problems {
            let case = escape_attribute(&located("the spec is well-formed", *position));
            writeln!(out, "    <testcase name=\"{case}\" classname=\"{name}\">")?;
            let text = format!("{}: {message}", located(&file.name, *position));
            write_element(out, "error", message, "spec", &text)?;
            writeln!(out, "    </testcase>")?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")?;
    Ok(())
}

/// Returns the XML attributes that give the number of cases, of failures and of errors in `files`.
fn count_attributes(files: &[SpecResult]) -> String {
    let problems: usize = files.iter().map(|file| file.problems.len()).sum();
    let count = |wanted: &[CaseStatus]| {
        let outcomes = files.iter().flat_map(|file| &file.outcomes);
        outcomes.filter(|outcome| wanted.contains(&outcome.status)).count()
    };
    let (failures, stopped) = (count(&[CaseStatus::Failed]), count(&[CaseStatus::OverBudget, CaseStatus::Unusable]));
    let tests = files.iter().map(|file| file.outcomes.len()).sum::<usize>() + problems;
    let errors = stopped + problems;
    format!(" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\"")
}

fn write_case(out: &mut dyn Write, file: &str, outcome: &CaseResult) -> Result<(), Failure> {
    let name = escape_attribute(&outcome.name);
    let line = outcome.position.map(|position| format!(" line=\"{}\"", position.line)).unwrap_or_default();
    write!(out, "    <testcase name=\"{name}\" classname=\"{file}\" file=\"{file}\"{line}")?;
    let Some(message) = &outcome.message else {
        writeln!(out, "/>")?;
        return Ok(());
    };
    writeln!(out, ">")?;
    if outcome.status == CaseStatus::Failed {
        let mut lines = Vec::new();
        for unmet in &outcome.unmet {
            lines.push(format!("{}:", unmet.key));
            let difference = unmet.expected.difference(&unmet.actual).into_iter();
            lines.extend(difference.map(|(sign, line)| format!("{sign} {line}")));
        }
        lines.extend(outcome.reasons.iter().cloned());
        write_element(out, "failure", message, "unmet", &lines.join("\n"))?;
    } else {
        write_element(out, "error", message, "stopped", "")?;
    }
    writeln!(out, "    </testcase>")?;
    Ok(())
}

fn write_element(out: &mut dyn Write, name: &str, message: &str, kind: &str, text: &str) -> Result<(), Failure> {
    let (message, text) = (escape_attribute(message), escape_text(text));
    writeln!(out, "      <{name} message=\"{message}\" type=\"{kind}\">{text}</{name}>")?;
    Ok(())
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
