//! The options of a run that does a share of the work.

use clap::Args;

use crate::cli::io::partial::ShareInput;
use crate::cli::io::share::WorkShare;
use crate::cli::io::source::AdSource;
use crate::cli::outcome::{Failure, refuse};
use crate::cli::session::Session;

/// The options that say which share of the work a run does.
#[derive(Args, Clone)]
pub struct ShareArgs {
    /// Write a partial result of one share for `classad merge`; --share says which
    #[arg(long)]
    pub partial: bool,
    /// With --partial: process only the K-th of N shares
    #[arg(long, value_name = "K/N", requires = "partial")]
    share: Option<WorkShare>,
}

impl ShareArgs {
    /// Begins a run: one that does a share keeps its messages for the merge. `refusal` says why the command, as it is,
    /// has no shares.
    ///
    /// # Errors
    ///
    /// The run is to write a partial result, and has no shares, or no share is given.
    pub fn begin(&self, session: &mut Session, refusal: Option<&str>) -> Result<(), Failure> {
        if !self.partial {
            return Ok(());
        }
        if let Some(reason) = refusal {
            return refuse(format!("--partial: {reason}"));
        }
        if self.share.is_none() {
            return refuse("--partial needs --share, such as --share 1/4 for the first of four shares");
        }
        session.keep_messages();
        Ok(())
    }

    /// Returns the share and the files of the run; `None` if it does all of the work. `settings` are the files that
    /// options name.
    ///
    /// # Errors
    ///
    /// As for [`ShareInput::new`].
    pub fn input<'p>(
        &self,
        session: &'p Session,
        sources: &[Vec<AdSource>; 2],
        settings: impl IntoIterator<Item = &'p String>,
    ) -> Result<Option<ShareInput>, Failure> {
        self.share.map(|share| ShareInput::new(session, share, sources, settings)).transpose()
    }
}
