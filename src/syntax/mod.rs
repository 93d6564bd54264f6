//! Text to tree and back: tokens (logos), grammar (chumsky), syntax errors, the printer.

mod advice;
mod diagnose;
mod error;
mod grammar;
mod group;
mod literal;
mod parser;
mod plain;
mod precedence;
mod printer;
mod recover;
mod seen;
mod token;
mod unfinished;

pub use error::SyntaxError;
pub use grammar::{Rules, parse_ad, parse_expression, parse_prefix};
pub use group::{Group, complete_groups, first_group};
pub use literal::{constant_call, number as read_number, number_prefix, read_name, string as read_string};
pub use plain::{is_plain_literal, plain_literal, plain_value, plain_value_again};
pub use printer::{Change, Style, print, print_ad, print_line, print_name, print_spread, print_string, print_value};
pub use recover::{Binding, ad_errors, bindings};
pub use seen::{Seen, Sight};
pub(crate) use token::long_string_length;
pub use token::{Flaw, Spanned, Strings, Token, lex};
pub use unfinished::is_unfinished;
