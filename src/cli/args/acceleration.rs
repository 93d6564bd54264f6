//! What matching may remember and share.

use clap::Args;
use classad::matching::Accelerations;

/// Switches of what is remembered and shared; none of them changes a match.
#[derive(Args)]
pub struct Accelerating {
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

impl Accelerating {
    pub fn accelerations(&self) -> Accelerations {
        Accelerations {
            autoclusters: !self.no_autocluster,
            // If no two requests are known to be alike, no list is asked for again.
            match_lists: !self.no_matchlist && !self.no_autocluster,
            index: !self.no_index,
        }
    }
}
