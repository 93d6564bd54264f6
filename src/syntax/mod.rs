//! Parsing and printing: the lexer (logos), the grammar (chumsky), syntax errors, the printer.

mod ad_boundaries;
mod ad_structure;
mod chumsky_types;
mod dialect_tokens;
#[cfg(test)]
mod equality_tests;
mod error;
mod error_messages;
mod expression_printer;
mod grammar;
mod hints;
mod incomplete;
mod literal;
mod literal_fast_path;
mod literal_text;
mod number_text;
mod number_tokens;
mod parse_cache;
mod parse_options;
mod precedence;
mod printer;
mod printf;
mod recover;
mod style;
mod token;

pub use ad_boundaries::{AdBoundary, complete_ads_length, find_first_ad, outer_braces};
pub(crate) use ad_structure::{blank_length, next_structure, skip_blanks_and_comments};
pub use error::SyntaxError;
pub use grammar::{parse_ad, parse_expression, parse_prefix};
pub use incomplete::is_incomplete;
pub use literal::{literal_of_call, number as read_number, number_prefix, read_name, string as read_string};
pub use literal_fast_path::{
    decimal_integer, is_simple_literal, read_simple_literal, simple_literal, simple_literal_value,
};
pub use literal_text::LiteralText;
pub(crate) use number_text::{push_integer, push_real};
pub use parse_cache::{ExpressionReuse, ParseCache, ParsedValue};
pub use parse_options::ParseOptions;
pub use printer::{
    dialect_text, expression_text, print, print_ad, print_into, print_line, print_multiline, print_name, print_string,
    print_value,
};
pub use printf::{ConversionKind, PrintfConversion};
pub use recover::{BindingSpans, ad_errors, binding_spans};
pub use style::{LossyChange, Style};
pub(crate) use token::long_string_length;
pub use token::{LexicalError, SpannedToken, StringSyntax, Token, lex};
