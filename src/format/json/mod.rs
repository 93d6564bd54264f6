//! JSON as HTCondor writes it: an object for each ad. An expression that has no JSON value is a string
//! `"\/Expr(...)\/"`.
//!
//! No JSON library is used here. Ads in JSON need source positions, unlimited nesting depth, and every deviation from
//! strict JSON that HTCondor accepts.

mod fast_path;
mod grammar;
mod lines;
mod member;
mod string;
mod token;
mod value;
mod writer;

pub use grammar::JsonGrammar;
pub use lines::{closes_ad_line, last_ad_line};
pub use member::{is_literal, member_end, member_value_start, next_member, parse_member, parse_value};
pub use writer::SYNTAX;

/// Returns the expression in a decoded string of the form `/Expr(a + 1)/`; `None` for any other string. The case of
/// `Expr` does not matter.
///
/// HTCondor writes a backslash before each of the two slashes to distinguish an expression from a string. Other
/// programs that rewrite the file drop these backslashes, so they are not required.
fn expression_inside(text: &[u8]) -> Option<&[u8]> {
    let (head, rest) = text.split_at_checked(OPEN.len())?;
    rest.strip_suffix(CLOSE).filter(|_| head.eq_ignore_ascii_case(OPEN))
}

const OPEN: &[u8] = b"/Expr(";
const CLOSE: &[u8] = b")/";
