//! The options that switch the accelerations of matching off: `--no-autocluster`, `--no-matchlist`, `--no-index`.

use clap::Args;
use classad::matching::Accelerations;

/// The options that switch accelerations off. None of them changes which ads match.
#[derive(Args)]
pub struct AccelerationArgs {
    // With this option, the requests of an autocluster do not share their candidates.
    /// Match each request separately instead of using autoclusters
    #[arg(long)]
    no_autocluster: bool,
    // With this option, no match list is kept for later requests.
    /// Search the candidates of each request again instead of using match lists
    #[arg(long)]
    no_matchlist: bool,
    /// Evaluate the constraints of each pair instead of using an index
    #[arg(long)]
    no_index: bool,
}

impl AccelerationArgs {
    pub fn accelerations(&self) -> Accelerations {
        Accelerations {
            autoclusters: !self.no_autocluster,
            // Match lists are kept by autocluster: without autoclusters, no request could use the list of another.
            match_lists: !self.no_matchlist && !self.no_autocluster,
            index: !self.no_index,
        }
    }
}
