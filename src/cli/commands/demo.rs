//! `classad demo`: explains the sample pool inside the program.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use crate::cli::io::demo::DEMO_FILES;
use crate::cli::outcome::{Failure, io_reason, refuse};
use crate::cli::render::output::out;
use crate::cli::session::Session;

/// The command that the demonstration runs, without the name of the program.
pub const DEMO_COMMAND: &str = "explain demo:jobs --pool demo:slots --unmatched --policy htcondor --exit-zero";

const EXAMPLES: &str = "\
Examples:
  classad demo";

/// Explain why jobs of a small sample pool are idle
///
/// The sample pool is inside the program. Wherever a command reads a file, `demo:jobs` and `demo:slots` are its jobs and
/// slots.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Demo {
    /// Write the sample pool into the folder DIR, as jobs.long and slots.long, instead
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
}

impl Demo {
    /// Writes the files, if the options say so; else prints the command that is to run. Returns whether it is to run.
    pub fn prepare(&self, session: &Session) -> Result<bool, Failure> {
        let Some(folder) = &self.write else {
            writeln!(out(), "$ classad {DEMO_COMMAND}")?;
            return Ok(true);
        };
        for (_, name, contents) in DEMO_FILES {
            let path = folder.join(name);
            let written = std::fs::create_dir_all(folder)
                .and_then(|()| std::fs::File::create_new(&path))
                .and_then(|mut file| file.write_all(contents));
            if let Err(error) = written {
                return refuse(format!("cannot write {}: {}", path.display(), io_reason(&error)));
            }
            session.note(&format!("wrote {}", path.display()));
        }
        Ok(false)
    }
}
