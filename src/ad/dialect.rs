//! The two dialects: what a text means where the papers and HTCondor disagree.

use std::fmt;
use std::str::FromStr;

/// What a text means where the papers and HTCondor disagree.
///
/// A dialect is a value that the lexer, the parser, the evaluator and the printer are handed; there
/// is no global state and no third mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// The papers: the thesis's chapter 2 and appendix A, and the 1998 paper where it is silent.
    #[default]
    Classad,
    /// What HTCondor 25's own tools do.
    Condor,
}

impl Dialect {
    /// Whether this is HTCondor's dialect.
    #[must_use]
    pub fn is_condor(self) -> bool {
        self == Dialect::Condor
    }

    /// The name as `--dialect` takes it.
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
        match text.to_ascii_lowercase().as_str() {
            "classad" => Ok(Dialect::Classad),
            "condor" => Ok(Dialect::Condor),
            _ => Err(format!("there is no dialect `{text}`: it is `classad` or `condor`")),
        }
    }
}
