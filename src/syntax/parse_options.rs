//! Options of the parser.

use crate::ad::Dialect;

use super::token::StringSyntax;

/// Parser options: the dialect and the syntax of strings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParseOptions {
    /// The dialect of the language.
    pub dialect: Dialect,
    /// The syntax of string literals.
    pub strings: StringSyntax,
}

impl ParseOptions {
    /// Returns the options for expressions and bracketed ads: strings have C's escapes.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        ParseOptions { dialect, strings: StringSyntax::Escaped }
    }

    /// Returns the options for the values of HTCondor's long form: in strings only quotes are escaped.
    #[must_use]
    pub fn long(dialect: Dialect) -> Self {
        ParseOptions { dialect, strings: StringSyntax::Long }
    }
}
