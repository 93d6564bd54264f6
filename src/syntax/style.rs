//! The styles in which expressions are printed, and what a style cannot represent.

use std::fmt;

use crate::ad::Dialect;

/// The syntax in which expressions, ads and values are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Bracketed ads and expressions: strings with escapes, `is`, reals with the shortest exact digits.
    #[default]
    New,
    /// A line of HTCondor's long form: in strings only quotes are escaped; `=?=` for `is`.
    Long,
    /// The text that functions of HTCondor's ClassAd library make, such as `string({1.5})`, with the library's digits,
    /// order of attributes and spaces.  The text need not parse back.
    Library,
    /// The long form as HTCondor's library makes it of an expression, as in the reason of a hold: `f(a,b)` and ` !a`.
    LongLibrary,
}

impl Style {
    /// Whether the library's spaces are printed, and no parentheses but those written.
    #[must_use]
    pub fn is_library(self) -> bool {
        matches!(self, Style::Library | Style::LongLibrary)
    }

    /// Whether it is a line of the long form.
    #[must_use]
    pub fn is_long(self) -> bool {
        matches!(self, Style::Long | Style::LongLibrary)
    }

    /// Returns the style in which users of a dialect write expressions.
    #[must_use]
    pub fn of(dialect: Dialect) -> Self {
        if dialect.is_condor() { Style::Long } else { Style::New }
    }
}

/// A change to a string that the long form cannot represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LossyChange {
    /// A newline in a string became a space.
    Newline,
    /// A space was put between a backslash at the end of a string and the closing quote.  Without the space, `\"` would
    /// be read as an escaped quote.  At the end of the line no space is needed.
    Backslash,
}

impl fmt::Display for LossyChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LossyChange::Newline => "a newline in a string is written as a space",
            LossyChange::Backslash => "a space is added after a backslash at the end of a string",
        })
    }
}
