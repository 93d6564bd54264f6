//! `--stats`: the counters of a cycle, and bar charts of what became of requests.

use std::io::{self, IsTerminal, Write};

use classad::matching::Statistics;
use classad::matching::negotiate::NegotiationOutcome;

use crate::cli::render::alignment::left_aligned;
use crate::cli::render::chart::BarChart;
use crate::cli::render::{diagnostics, output};

/// Prints the counters that sections 4.1 and 6 of the 2006 paper report, on standard error. A terminal also gets bar
/// charts.
pub fn print_statistics(outcome: &NegotiationOutcome, seconds: f64) {
    let Statistics { roots, matched, skipped, tests, evaluations, probes, backtracks, autoclusters, .. } =
        outcome.statistics;
    let counters = serde_json::json!({
        "roots": roots,
        "matched": matched,
        "failed": roots - matched,
        "skipped": skipped,
        "preempted": outcome.grants.iter().flat_map(|grant| &grant.offers).filter(|offer| offer.preempted.is_some()).count(),
        "tests": tests,
        "evaluations": evaluations,
        "probes": probes,
        "backtracks": backtracks,
        "autoclusters": autoclusters,
    });
    output::print_counters(counters, seconds);
    if io::stderr().is_terminal() {
        let became = [("matched", matched), ("failed", roots - matched), ("skipped", skipped)];
        let became = became.map(|(what, requests)| (what, usize::try_from(requests).unwrap_or(usize::MAX)));
        let by_submitter = outcome.submitters.iter().map(|of| (of.name.as_str(), of.offers));
        let by_submitter: Vec<(&str, usize)> = by_submitter.collect();
        let mut charts = Vec::new();
        // Writing to memory cannot fail.
        let _ = write_chart(&mut charts, "requests", &became);
        // The bar of a single submitter would repeat the bar of the matched requests.
        if by_submitter.len() > 1 {
            let _ = write_chart(&mut charts, "offers by submitter", &by_submitter);
        }
        output::print_to_stderr(&charts);
    }
}

/// Draws a bar chart with a named bar for each number. Draws nothing if all numbers are 0.
fn write_chart(err: &mut dyn Write, heading: &str, bars: &[(&str, usize)]) -> io::Result<()> {
    let most = bars.iter().map(|(_, number)| *number).max().unwrap_or(0);
    if most == 0 {
        return Ok(());
    }
    writeln!(err, "{heading}")?;
    let widest = bars.iter().map(|(name, _)| diagnostics::single_line(name).chars().count()).max().unwrap_or(0);
    let digits = most.to_string().len();
    let chart = BarChart::new(most, widest + digits + "      ".len());
    for (name, number) in bars {
        let name = diagnostics::single_line(name);
        let name = left_aligned(&name, widest);
        let row = format!("  {name}  {number:>digits$}  {}", chart.bar(*number));
        writeln!(err, "{}", row.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::write_chart;

    #[test]
    fn a_chart_has_a_row_for_each_number() {
        let chart = |bars: &[(&str, usize)]| {
            let mut text = Vec::new();
            write_chart(&mut text, "requests", bars).unwrap();
            // The bars depend on the terminal.
            let text = String::from_utf8(text).unwrap();
            text.lines().map(|line| line.trim_end_matches(['\u{2588}', '#'])).collect::<Vec<_>>().join("\n")
        };
        let expected = "requests\n  matched  12  \n  b         0\n  c        12  ";
        assert_eq!(chart(&[("matched", 12), ("b", 0), ("c", 12)]), expected);
        assert_eq!(chart(&[("a", 0), ("b", 0)]), "");
        assert_eq!(chart(&[]), "");
        assert_eq!(chart(&[("a", 1)]), "requests\n  a  1  ");
    }
}
