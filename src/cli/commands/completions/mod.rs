//! `classad completions`: completion scripts for shells. Those of bash, zsh and fish ask the program for the words.

mod candidates;
mod file_names;

use std::io::Write;

use clap::Args;
use clap_complete::{Shell, generate};

use crate::cli::outcome::{Failure, Status};
use crate::cli::render::output::out;
use crate::cli::session::Session;
use candidates::CompletionCandidates;

const EXAMPLES: &str = "\
Examples:
  classad completions bash | head
  classad completions fish | head

Write the script to the file from which the shell loads it:
  bash   ~/.local/share/bash-completion/completions/classad
  zsh    _classad in a folder of $fpath
  fish   ~/.config/fish/completions/classad.fish

The scripts of bash, zsh and fish also complete values, such as attributes of the files on the command line.";

/// The line that asks the shell for names of files, too.
const FILES_LINE: &str = ":files";

/// Print a script that completes commands and options in a shell
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Completions {
    /// The shell to print completions for
    #[arg(required_unless_present = "at", conflicts_with = "at")]
    shell: Option<Shell>,
    /// Print the completions of the word with this index, for the scripts
    #[arg(long, hide = true, value_name = "INDEX")]
    at: Option<usize>,
    /// The words of the command line after the name of the program
    #[arg(last = true, hide = true, requires = "at")]
    words: Vec<String>,
}

impl Completions {
    pub fn run(&self, session: &mut Session) -> Result<Status, Failure> {
        let script = match (self.at, self.shell) {
            (Some(at), _) => {
                let tree = (session.command_tree)();
                CompletionCandidates::of_line(&tree, &self.words, at).lines().into_bytes()
            }
            (_, Some(Shell::Bash)) => include_bytes!("scripts/bash").to_vec(),
            (_, Some(Shell::Zsh)) => include_bytes!("scripts/zsh").to_vec(),
            (_, Some(Shell::Fish)) => include_bytes!("scripts/fish").to_vec(),
            (_, Some(shell)) => {
                let mut script = Vec::new();
                generate(shell, &mut (session.command_tree)(), "classad", &mut script);
                script
            }
            (None, None) => Vec::new(),
        };
        out().write_all(&script)?;
        Ok(Status::Yes)
    }
}
