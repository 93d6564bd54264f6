//! The algorithms of thesis 5 as presets of one search.

use super::port_order::PortOrder;

/// An algorithm for marshalling gangs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Finds the gang that the request prefers to all others.
    #[default]
    Best,
    /// Fills ports from left to right and tries every candidate in turn (thesis 5.3).
    Naive,
    /// Fills ports from left to right with candidates from the index (thesis 5.4).
    Lr,
    /// Fills ports from right to left with candidates from the index (thesis 5.6.1).
    Rl,
    /// Like [`Algorithm::Lr`], but first checks that every port has candidates (thesis 5.6.2).
    Lrc,
    /// Like [`Algorithm::Rl`], but first checks that every port has candidates (thesis 5.6.2).
    Rlc,
    /// Fills the port with the fewest candidates first (thesis 5.5).
    Dyn,
    /// Like [`Algorithm::Dyn`], but equivalent candidates count as one (thesis 5.8).
    Dyns,
    /// Like [`Algorithm::Dyns`], but starts each port at a random candidate (thesis 5.8.3).
    Dynsr,
}

/// The settings by which the algorithms of one search differ.
#[allow(clippy::struct_excessive_bools)] // the five switches of the thesis's algorithms are what they are
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchStrategy {
    /// Whether candidates come from the index. Otherwise every unused offer is a candidate.
    pub indexed: bool,
    /// The order in which ports are filled.
    pub order: PortOrder,
    /// Whether every port of an ad must have candidates before the first port of the ad is filled.
    pub requires_candidates: bool,
    /// Whether only one candidate of each class of equivalent candidates is tried.
    pub summarized: bool,
    /// Whether the candidates of a port are tried from a random candidate on. Applies only if `summarized`.
    pub random_start: bool,
    /// Whether the search continues after the first gang until it has found the best.
    pub finds_best: bool,
}

impl Algorithm {
    /// Every algorithm, the default first.
    pub const ALL: [Algorithm; 9] = [
        Algorithm::Best,
        Algorithm::Naive,
        Algorithm::Lr,
        Algorithm::Rl,
        Algorithm::Lrc,
        Algorithm::Rlc,
        Algorithm::Dyn,
        Algorithm::Dyns,
        Algorithm::Dynsr,
    ];

    /// Returns the name of the algorithm on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Best => "best",
            Algorithm::Naive => "naive",
            Algorithm::Lr => "lr",
            Algorithm::Rl => "rl",
            Algorithm::Lrc => "lrc",
            Algorithm::Rlc => "rlc",
            Algorithm::Dyn => "dyn",
            Algorithm::Dyns => "dyns",
            Algorithm::Dynsr => "dynsr",
        }
    }

    /// Returns the settings of the search for this algorithm.
    #[must_use]
    pub fn strategy(self) -> SearchStrategy {
        let naive = SearchStrategy {
            indexed: false,
            order: PortOrder::Listed,
            requires_candidates: false,
            summarized: false,
            random_start: false,
            finds_best: false,
        };
        let indexed = SearchStrategy { indexed: true, ..naive };
        let dynamic = SearchStrategy { order: PortOrder::FewestFirst, requires_candidates: true, ..indexed };
        match self {
            Algorithm::Best => SearchStrategy { finds_best: true, ..indexed },
            Algorithm::Naive => naive,
            Algorithm::Lr => indexed,
            Algorithm::Rl => SearchStrategy { order: PortOrder::Reversed, ..indexed },
            Algorithm::Lrc => SearchStrategy { requires_candidates: true, ..indexed },
            Algorithm::Rlc => SearchStrategy { order: PortOrder::Reversed, requires_candidates: true, ..indexed },
            Algorithm::Dyn => dynamic,
            Algorithm::Dyns => SearchStrategy { summarized: true, ..dynamic },
            Algorithm::Dynsr => SearchStrategy { summarized: true, random_start: true, ..dynamic },
        }
    }
}
