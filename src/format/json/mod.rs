//! JSON as HTCondor writes it: an object for each ad, what is no JSON as `"\/Expr(...)\/"`.
//!
//! Its own reader, because HTCondor's JSON needs places, any nesting depth, and every way in which
//! files of ads are less strict than JSON.

mod nesting;
mod reader;
mod spans;
mod string;
mod token;
mod writer;

pub use nesting::{is_one_ad, whole};
pub use reader::Reader;
pub use spans::places;
pub use writer::write;

/// The expression inside a string that stands for one, in any case: `/Expr(a + 1)/`.
///
/// HTCondor writes the slashes with a backslash before them, which tells such a string from one that
/// only looks like it; after any other program has rewritten the file the backslashes are gone.
fn expression_inside(text: &[u8]) -> Option<&[u8]> {
    let (head, rest) = text.split_at_checked(OPEN.len())?;
    rest.strip_suffix(CLOSE).filter(|_| head.eq_ignore_ascii_case(OPEN))
}

const OPEN: &[u8] = b"/Expr(";
const CLOSE: &[u8] = b")/";
