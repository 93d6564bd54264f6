//! JSON as HTCondor writes it: an object for each ad; expressions without a JSON value are strings `"\/Expr(...)\/"`.
//!
//! It has its own reader because ads in JSON need source positions, unlimited nesting depth, and every deviation from
//! strict JSON that HTCondor accepts.

mod nesting;
mod reader;
mod spans;
mod string;
mod token;
mod writer;

pub use nesting::{complete_prefix_length, is_single_ad};
pub use reader::JsonReader;
pub use spans::attribute_spans;
pub use writer::write;

/// Returns the expression in a decoded string of the form `/Expr(a + 1)/`, in any case; `None` for other strings.
///
/// HTCondor escapes the slashes with backslashes, which distinguishes such a string from one that only looks like it.
/// But other programs that rewrite the file drop these backslashes, so they are not required.
fn expression_inside(text: &[u8]) -> Option<&[u8]> {
    let (head, rest) = text.split_at_checked(OPEN.len())?;
    rest.strip_suffix(CLOSE).filter(|_| head.eq_ignore_ascii_case(OPEN))
}

const OPEN: &[u8] = b"/Expr(";
const CLOSE: &[u8] = b")/";
