//! Tables in Markdown, and figures for people.

use crate::measure::Run;

/// In what a row is measured.
#[derive(Clone, Copy)]
pub enum Unit {
    /// Seconds for the whole.
    Time,
    /// Seconds for one piece of work.
    Each,
    /// Bytes a second.
    Throughput,
    /// Things a second.
    Rate,
    /// Bytes for one thing.
    Bytes,
}

impl Unit {
    pub fn show(self, run: &Run) -> String {
        let each = run.each();
        let figure = match self {
            Unit::Time | Unit::Each => seconds(each),
            Unit::Throughput => format!("{}/s", bytes(1.0 / each)),
            Unit::Rate => format!("{}/s", scaled(1.0 / each, &[(1e6, " M"), (1e3, " k"), (1.0, " ")]).trim_end()),
            Unit::Bytes => bytes(each),
        };
        match (run.is_more, run.is_estimate) {
            (true, _) => format!("> {figure}"),
            (_, true) => format!("about {figure}"),
            _ => figure,
        }
    }
}

/// How many times as good ours is as theirs; less is less.
pub fn ratio(ours: &Run, theirs: &Run) -> String {
    let ratio = theirs.each() / ours.each();
    let text = if ratio < 10.0 { format!("{ratio:.2}x") } else { format!("{ratio:.0}x") };
    if ours.is_more { format!("< {text}") } else { text }
}

pub fn seconds(seconds: f64) -> String {
    scaled(seconds, &[(1.0, " s"), (1e-3, " ms"), (1e-6, " us"), (1e-9, " ns")])
}

pub fn bytes(bytes: f64) -> String {
    scaled(bytes, &[(1e9, " GB"), (1e6, " MB"), (1e3, " KB"), (1.0, " B")])
}

/// With three digits, in the largest unit that is not larger.
fn scaled(number: f64, units: &[(f64, &str)]) -> String {
    let found = units.iter().find(|(size, _)| number >= *size).or(units.last());
    let (size, name) = found.copied().unwrap_or((1.0, ""));
    let number = number / size;
    let decimals = if number < 9.995 { 2 } else { usize::from(number < 99.95) };
    format!("{number:.decimals$}{name}")
}

/// One line of a table.
pub fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// The heading of a table.
pub fn heading(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|&cell| cell.to_owned()).collect();
    let below: Vec<String> = cells.iter().map(|_| "---".to_owned()).collect();
    line(&cells) + &line(&below)
}
