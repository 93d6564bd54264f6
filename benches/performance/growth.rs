//! How time and memory grow with the number of ads: whole processes over pools of several sizes.

use std::fmt::Write;

use crate::chart::{Curve, chart};
use crate::measure::{Bench, Run};
use crate::process::{BINARY, peak, run};
use crate::table::{self, Unit};
use crate::{Result, machine};

/// Numbers of machines and of jobs.
type Size = [u32; 2];

/// Work whose growth is measured.
struct Work {
    heading: &'static str,
    sizes: [Size; 4],
    files: &'static [&'static str],
    commands: &'static [(&'static str, &'static [&'static str])],
}

const WORK: [Work; 2] = [
    Work {
        heading: "One file of machines",
        sizes: [[5_000, 1], [20_000, 1], [100_000, 1], [500_000, 1]],
        files: &["machines.long"],
        commands: &[
            ("query", &["query", "regexp(\"^gpu[0-9]*7\", Machine) && Memory / Cpus > 2000", "--count"]),
            ("check", &["check"]),
            ("census", &["census"]),
            ("convert", &["convert", "--to", "jsonl"]),
        ],
    },
    Work {
        heading: "Jobs and machines",
        sizes: [[1_000, 5_000], [5_000, 50_000], [20_000, 200_000], [100_000, 1_000_000]],
        files: &["jobs.long", "--pool", "machines.long"],
        commands: &[
            ("match", &["match", "--count"]),
            ("explain", &["explain", "--unmatched", "--json", "--exit-zero"]),
        ],
    },
];

/// The tables in Markdown, and the chart as SVG.
///
/// # Errors
///
/// Fails if ads cannot be made, or if a command fails.
pub fn report(bench: &Bench) -> Result<(String, String)> {
    let mut text = format!("# Growth\n\nOn {}.\n", machine::described());
    text += "Whole processes with one thread, one run each. Memory is the peak of what no file backs.\n\n";
    text += "![time by number of ads](growth.svg)\n";
    let mut curves = Vec::new();
    for work in &WORK {
        let sizes = work.sizes.map(|size| size.map(|number| bench.data.growth_size(number)));
        let titles = sizes.map(|[machines, jobs]| match work.files {
            [_] => format!("{machines} ads"),
            _ => format!("{jobs} x {machines}"),
        });
        let mut cells = vec!["command"];
        cells.extend(titles.iter().map(String::as_str));
        write!(text, "\n## {}\n\n{}", work.heading, table::heading(&cells))?;
        for (name, command) in work.commands {
            let mut line = vec![format!("`{name}`")];
            let mut curve = Curve { name, points: Vec::new() };
            for size in sizes {
                let (time, memory) = measure(bench, command, work.files, size)?;
                eprintln!("{name} {size:?}: {} {}", Unit::Time.show(&time), table::bytes(memory));
                line.push(format!("{}, {}", Unit::Time.show(&time), table::bytes(memory)));
                if !time.is_more {
                    let ads: u32 = if work.files.len() == 1 { size[0] } else { size.iter().sum() };
                    curve.points.push((f64::from(ads), time.each()));
                }
            }
            text += &table::line(&line);
            curves.push(curve);
        }
    }
    print!("{text}");
    Ok((text, chart("number of ads", "seconds", &curves)))
}

/// The time of a command, and the peak of its memory in bytes.
fn measure(bench: &Bench, command: &[&str], files: &[&str], size: Size) -> Result<(Run, f64)> {
    let mut arguments = vec!["--threads".to_owned(), "1".to_owned()];
    arguments.extend(command.iter().map(|&word| word.to_owned()));
    for file in files {
        arguments.push(match file.strip_prefix("--") {
            Some(_) => (*file).to_owned(),
            None => bench.data.pool_of(size, file)?.to_string_lossy().into_owned(),
        });
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let time = run(BINARY, &arguments, bench.limit)?;
    #[allow(clippy::cast_precision_loss)] // bytes of this machine
    let memory = peak(BINARY, &arguments, bench.limit)? as f64;
    Ok((Run { answer: None, ..time }, memory))
}
