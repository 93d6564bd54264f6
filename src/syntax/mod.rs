//! Parsing and printing: the lexer (logos), the grammar (chumsky), syntax errors, the printer.

mod ad_boundaries;
mod chumsky_types;
mod error;
mod error_messages;
mod grammar;
mod hints;
mod incomplete;
mod literal;
mod literal_fast_path;
mod parse_cache;
mod precedence;
mod printer;
mod recover;
mod token;

pub use ad_boundaries::{Group, complete_groups, first_group};
pub use error::SyntaxError;
pub use grammar::{Rules, parse_ad, parse_expression, parse_prefix};
pub use incomplete::is_unfinished;
pub use literal::{constant_call, number as read_number, number_prefix, read_name, string as read_string};
pub use literal_fast_path::{is_plain_literal, plain_literal, plain_value, plain_value_again};
pub use parse_cache::{Seen, Sight};
pub use printer::{Change, Style, print, print_ad, print_line, print_name, print_spread, print_string, print_value};
pub use recover::{Binding, ad_errors, bindings};
pub(crate) use token::long_string_length;
pub use token::{Flaw, Spanned, Strings, Token, lex};
