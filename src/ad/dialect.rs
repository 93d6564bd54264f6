//! The two dialects of the language: that of the papers and that of HTCondor.

use std::fmt;
use std::str::FromStr;

/// Decides syntax and semantics where the papers and HTCondor disagree.
///
/// Parsing and evaluation take the dialect as a parameter; no global state holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// The dialect of the papers: chapter 2 and appendix A of the thesis. Where the thesis is silent, the 1998 paper
    /// decides.
    #[default]
    Classad,
    /// The dialect of HTCondor: the behaviour of HTCondor 25's own tools.
    Condor,
}

impl Dialect {
    /// Whether this is [`Dialect::Condor`].
    #[must_use]
    pub fn is_condor(self) -> bool {
        self == Dialect::Condor
    }

    /// Returns the usual names of the two ads of a match.  The first name denotes the ad that holds the expression
    /// (`self` or `MY`), the second name denotes the partner of this ad (`other` or `TARGET`).
    #[must_use]
    pub fn side_names(self) -> [&'static str; 2] {
        if self.is_condor() { ["MY", "TARGET"] } else { ["self", "other"] }
    }

    /// Returns the name that `--dialect` accepts.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Dialect::Classad => "classad",
            Dialect::Condor => "condor",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Dialect {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Dialect::Classad, Dialect::Condor]
            .into_iter()
            .find(|dialect| text.eq_ignore_ascii_case(dialect.as_str()))
            .ok_or_else(|| format!("there is no dialect `{text}`: the dialects are `classad` and `condor`"))
    }
}
