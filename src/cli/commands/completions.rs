//! `classad completions`: completion scripts for shells.

use std::io::Write;

use clap::Args;
use clap_complete::{Shell, generate};

use crate::cli::render::output::out;
use crate::cli::session::Session;
use crate::cli::{Failure, Status};

const EXAMPLES: &str = "\
Examples:
  classad completions bash | head
  classad completions fish | head

Where shells look for them: bash ~/.local/share/bash-completion/completions/classad, zsh _classad in a folder of $fpath,
fish ~/.config/fish/completions/classad.fish.";

/// Print the completions of commands and options for a shell
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Completions {
    /// The shell to print completions for
    shell: Shell,
}

impl Completions {
    pub fn run(&self, _: &mut Session) -> Result<Status, Failure> {
        let mut script = Vec::new();
        generate(self.shell, &mut crate::cli::tree(), "classad", &mut script);
        out().write_all(&script)?;
        Ok(Status::Yes)
    }
}
