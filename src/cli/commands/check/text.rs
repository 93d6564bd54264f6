//! Findings as annotated source excerpts for the terminal.

use std::collections::HashMap;
use std::io::Write;

use classad::lint::{Level, RULES};

use crate::cli::Failure;
use crate::cli::render::diagnostics;
use crate::cli::session::Session;

use super::located::Report;

/// Maximum number of findings drawn per rule; further ones are only counted.
const MOST: usize = 50;

pub fn write(out: &mut impl Write, session: &Session, report: Report) -> Result<(), Failure> {
    let colored = diagnostics::colored_output(&session.options);
    let mut shown: HashMap<&str, usize> = HashMap::new();
    let summary = summary(&report);
    for found in report.found {
        let times = shown.entry(found.rule.name).or_default();
        *times += 1;
        if *times > MOST {
            continue;
        }
        let place = match (found.whose(), found.ads) {
            (whose, _) if whose.is_empty() => String::new(),
            (whose, 1) => format!(" ({whose})"),
            (whose, 2) => format!(" ({whose} and 1 more ad)"),
            (whose, ads) => format!(" ({whose} and {} more ads)", ads - 1),
        };
        let message = format!("{}{place}", found.message);
        let picture = found.picture.called(found.rule.name, &message);
        writeln!(out, "{}\n", picture.render(colored))?;
    }
    for (rule, times) in RULES.iter().filter_map(|rule| Some((rule, shown.get(rule.name)?))) {
        if *times > MOST {
            writeln!(out, "{} more of {}", times - MOST, rule.name)?;
        }
    }
    writeln!(out, "{summary}")?;
    Ok(())
}

/// Returns the numbers of findings by level, in one line.
fn summary(report: &Report) -> String {
    let counts = [(Level::Error, "error"), (Level::Warning, "warning"), (Level::Note, "note")];
    let counts = counts.map(|(level, word)| (report.of_level(level), word)).into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, word)| many(count, word)).collect();
    let what = if counts.is_empty() { "nothing found".to_owned() } else { counts.join(", ") };
    if report.ads > 0 { format!("{what} in {}", many(report.ads, "ad")) } else { what }
}

fn many(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}
