//! The options that switch the accelerations of matching off: `--no-autocluster`, `--no-matchlist`, `--no-index`.

use clap::Args;
use classad::matching::Accelerations;

/// Switches of what is remembered and shared; none of them changes a match.
#[derive(Args)]
pub struct AccelerationArgs {
    /// Consider each request by itself, though others are like it
    #[arg(long)]
    no_autocluster: bool,
    /// Find the candidates of each request anew
    #[arg(long)]
    no_matchlist: bool,
    /// Evaluate the constraints of each pair
    #[arg(long)]
    no_index: bool,
}

impl AccelerationArgs {
    pub fn accelerations(&self) -> Accelerations {
        Accelerations {
            autoclusters: !self.no_autocluster,
            // Match lists are looked up by autocluster: without autoclusters no list is ever asked for twice.
            match_lists: !self.no_matchlist && !self.no_autocluster,
            index: !self.no_index,
        }
    }
}
