//! How fast this is on the machine at hand, beside HTCondor's own library at the same work in the same run:
//! `cargo bench`; `cargo bench -- figures` for the figures of the thesis about the index, `cargo bench -- gangs` for
//! those about gangmatching; `cargo bench -- growth` for the growth with the number of ads.
//!
//! Every row is measured in turns, ours and theirs, and has the medians; where both give an answer, it must be
//! the same.  The data come from `classad::workload`, the library from `tests/conformance/python`.

mod chart;
mod data;
mod figures;
mod gangs;
mod growth;
mod machine;
mod measure;
mod peer;
mod process;
mod rows;
mod table;
mod tasks;

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use data::Data;
use measure::Bench;

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// How fast this is, beside HTCondor's own library
#[derive(Parser)]
struct Arguments {
    /// `figures`, `gangs` or `growth`: the figures of the thesis about the index, or about gangmatching, or the growth
    /// with the number of ads; else only the rows whose name has this in it
    only: Option<String>,
    /// Small data and single runs, to see that everything works
    #[arg(long)]
    quick: bool,
    /// Take the files of this folder for one of the data sets (pool, large, dump, index-T-2000x8 ...)
    #[arg(long, value_name = "SET=DIR", value_parser = data::with)]
    with: Vec<(String, PathBuf)>,
    /// How often each is measured
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Give a run of ours up after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    limit: u64,
    /// What `cargo bench` says to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
    /// Runs of its own process, so that its memory is its own
    #[arg(long, hide = true, value_name = "DIR")]
    memory_of: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<ExitCode> {
    if let Some(path) = &arguments.memory_of {
        println!("{}", process::memory_of(path)?);
        return Ok(ExitCode::SUCCESS);
    }
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let bench = Bench {
        data: Data::new(&root.join("target/bench-data"), arguments.quick, arguments.with),
        peer: peer::Peer::new(&root)?,
        rounds: if arguments.quick { 1 } else { arguments.rounds.max(1) },
        limit: Duration::from_secs(arguments.limit),
    };
    let mut is_sound = true;
    let files = match arguments.only.as_deref() {
        Some("figures") => vec![("FIGURES.md", figures::report(&bench)?)],
        Some("gangs") => vec![("GANGS.md", gangs::report(&bench)?)],
        Some("growth") => {
            let (tables, chart) = growth::report(&bench)?;
            vec![("GROWTH.md", tables), ("growth.svg", chart)]
        }
        only => {
            let text;
            (text, is_sound) = rows::report(&bench, only)?;
            // A table of some rows is not kept.
            if only.is_none() { vec![("RESULTS.md", text)] } else { Vec::new() }
        }
    };
    // A quick run measures too little to be kept.
    for (file, text) in files.iter().filter(|_| !arguments.quick) {
        fs::write(root.join("benches").join(file), text)?;
    }
    if !is_sound {
        eprintln!("error: answers differ");
    }
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
