//! The algorithms of thesis chapter 5 as presets of one search.

/// How gangs are searched for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// The gang that the request prefers to all others.
    #[default]
    Best,
    /// Ports from left to right, every candidate tried in turn (§5.3).
    Naive,
    /// Ports from left to right, candidates from the index (§5.4).
    Lr,
    /// From right to left (§5.6.1).
    Rl,
    /// From left to right, but only if every port has candidates (§5.6.2).
    Lrc,
    /// From right to left, but only if every port has candidates (§5.6.2).
    Rlc,
    /// The port with the fewest candidates first (§5.5).
    Dyn,
    /// The port with the fewest distinct candidates first (§5.8).
    Dyns,
    /// The same, trying candidates from a random one on (§5.8.3).
    Dynsr,
}

/// In which order the ports of an ad are filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they are listed.
    Listed,
    /// The last one first.
    Reversed,
    /// The one with the fewest candidates first.
    FewestFirst,
}

/// The switches of the search.
#[allow(clippy::struct_excessive_bools)] // the five switches of the thesis's algorithms are what they are
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strategy {
    /// Whether candidates come from the index.
    pub indexed: bool,
    /// In which order ports are filled.
    pub order: Order,
    /// Whether every port of an ad must have candidates before the first is filled.
    pub checked: bool,
    /// Whether candidates that nothing tells apart count as one.
    pub summarized: bool,
    /// Whether candidates are tried from a random one on.
    pub random_start: bool,
    /// Whether the best gang is wanted, and not the first.
    pub preferring: bool,
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

    /// Its name on the command line.
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

    /// Its switches.
    #[must_use]
    pub fn strategy(self) -> Strategy {
        let naive = Strategy {
            indexed: false,
            order: Order::Listed,
            checked: false,
            summarized: false,
            random_start: false,
            preferring: false,
        };
        let indexed = Strategy { indexed: true, ..naive };
        let dynamic = Strategy { order: Order::FewestFirst, checked: true, ..indexed };
        match self {
            Algorithm::Best => Strategy { preferring: true, ..indexed },
            Algorithm::Naive => naive,
            Algorithm::Lr => indexed,
            Algorithm::Rl => Strategy { order: Order::Reversed, ..indexed },
            Algorithm::Lrc => Strategy { checked: true, ..indexed },
            Algorithm::Rlc => Strategy { order: Order::Reversed, checked: true, ..indexed },
            Algorithm::Dyn => dynamic,
            Algorithm::Dyns => Strategy { summarized: true, ..dynamic },
            Algorithm::Dynsr => Strategy { summarized: true, random_start: true, ..dynamic },
        }
    }
}
