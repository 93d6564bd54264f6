//! The algorithms of thesis 5 as settings of one search.

/// An algorithm for marshalling gangs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Algorithm {
    /// Finds the best gang of the request.
    #[default]
    Best,
    /// Fills ports from left to right and tries every unused offer (thesis 5.3).
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
    /// Like [`Algorithm::Dyn`], but tries only one of several equivalent candidates (thesis 5.8).
    Dyns,
    /// Like [`Algorithm::Dyns`], but starts at a random candidate of each port (thesis 5.8.3).
    Dynsr,
}

/// The order in which the ports of an ad are filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PortOrder {
    /// In the order of the port list.
    #[default]
    Listed,
    /// In the reverse order of the port list (thesis 5.6.1).
    Reversed,
    /// By the number of candidates, fewest first (thesis 5.5). Candidates are counted before the first port is filled.
    /// If [`SearchStrategy::summarized`] is set, equivalent candidates count as one (thesis 5.8).
    FewestFirst,
}

/// The settings of the search in which the algorithms differ.
#[allow(clippy::struct_excessive_bools)] // the five switches of the thesis's algorithms are what they are
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchStrategy {
    /// Whether candidates come from the index. Otherwise every unused offer is a candidate.
    pub indexed: bool,
    /// The order in which ports are filled.
    pub order: PortOrder,
    /// Whether every port of an ad must have candidates before the first port of the ad is filled.
    pub requires_candidates: bool,
    /// Whether only one candidate of each class of equivalent candidates is tried.
    pub summarized: bool,
    /// Whether a random candidate of each port is tried first, and the others after it in cyclic order. Applies only if
    /// `summarized`.
    pub random_start: bool,
    /// Whether the search continues after the first gang until it has found the best.
    pub finds_best: bool,
    /// Whether the search ends after [`crate::eval::Context::max_search_tests`]. The algorithms of the thesis are measured
    /// by their tests, so that nothing cuts them off.
    pub is_limited: bool,
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
        self.preset().0
    }

    /// Returns the settings of the search for this algorithm.
    #[must_use]
    pub fn strategy(self) -> SearchStrategy {
        self.preset().1
    }

    /// Returns the name of the algorithm on the command line and its settings of the search.
    fn preset(self) -> (&'static str, SearchStrategy) {
        let naive = SearchStrategy::default();
        let indexed = SearchStrategy { indexed: true, ..naive };
        let reversed = SearchStrategy { order: PortOrder::Reversed, ..indexed };
        let dynamic = SearchStrategy { order: PortOrder::FewestFirst, requires_candidates: true, ..indexed };
        let summarized = SearchStrategy { summarized: true, ..dynamic };
        match self {
            Algorithm::Best => ("best", SearchStrategy { finds_best: true, is_limited: true, ..indexed }),
            Algorithm::Naive => ("naive", naive),
            Algorithm::Lr => ("lr", indexed),
            Algorithm::Rl => ("rl", reversed),
            Algorithm::Lrc => ("lrc", SearchStrategy { requires_candidates: true, ..indexed }),
            Algorithm::Rlc => ("rlc", SearchStrategy { requires_candidates: true, ..reversed }),
            Algorithm::Dyn => ("dyn", dynamic),
            Algorithm::Dyns => ("dyns", summarized),
            Algorithm::Dynsr => ("dynsr", SearchStrategy { random_start: true, ..summarized }),
        }
    }
}
