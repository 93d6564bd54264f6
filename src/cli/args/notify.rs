//! `--notify`: a notification of each party of each match, as lines of JSON.

use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use classad::matching::Notice;

use crate::cli::io::atomic_write::{create_or_replace, warn_of_other_names};
use crate::cli::io::match_records::NoticeRecord;
use crate::cli::outcome::Failure;
use crate::cli::render::output::out;
use crate::cli::session::Session;

/// The option `--notify`, which names the file that gets the notifications.
#[derive(Args)]
pub struct NotifyArgs {
    /// Write a record for each party of each match to FILE, in JSON Lines. If FILE is `-`, print the records instead of
    /// the matches
    #[arg(long, value_name = "FILE")]
    pub notify: Option<String>,
    /// Include copies of the ads of the match in each record
    #[arg(long, requires = "notify")]
    pub with_ads: bool,
}

impl NotifyArgs {
    /// Whether standard output gets the notifications instead of the matches.
    pub fn writes_to_stdout(&self) -> bool {
        self.notify.as_deref() == Some("-")
    }

    /// Writes the notifications if `--notify` is given. Otherwise `notices` is not called.
    pub fn write_notices(&self, session: &Session, notices: impl FnOnce() -> Vec<Notice>) -> Result<(), Failure> {
        let Some(path) = &self.notify else { return Ok(()) };
        let mut text = Vec::new();
        for notice in notices() {
            for member in 0..notice.parties.len() {
                serde_json::to_writer(&mut text, &NoticeRecord::new(&notice, member, self.with_ads))
                    .map_err(io::Error::from)?;
                text.push(b'\n');
            }
        }
        if path == "-" {
            return Ok(out().write_all(&text)?);
        }
        // A pipe or a device cannot be replaced.
        let is_special = std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        let written = if is_special {
            std::fs::write(path, text).map(|()| 0)
        } else {
            create_or_replace(Path::new(path), None, |file| file.write_all(&text))
        };
        let other_names = written.map_err(|error| Failure::unwritable(path, &error))?;
        warn_of_other_names(session, path, other_names);
        Ok(())
    }
}
