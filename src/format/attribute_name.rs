//! Conversion of the bytes of a name in a file to an attribute name.

use std::ops::Range;

use crate::ad::{Dialect, Name};

use super::Problem;

/// Checks that the bytes of a name are valid text and returns the text.
///
/// `range` is the byte range of the name in the file, `ad` the 1-based number of the ad. Only the error message uses
/// them.
///
/// # Errors
///
/// Bytes that are not UTF-8, and bytes of value 0.
pub fn checked_name_text(text: &[u8], range: Range<usize>, ad: usize) -> Result<&str, Problem> {
    match std::str::from_utf8(text) {
        Err(_) => Err(Problem::error_at(range, ad, "a name must be UTF-8")),
        Ok(text) if text.contains('\0') => Err(Problem::error_at(range, ad, "an ad cannot contain a byte of value 0")),
        Ok(text) => Ok(text),
    }
}

/// Converts the bytes of a name to an attribute name.
///
/// `range` is the byte range of the name in the file, `ad` the 1-based number of the ad. Only the error message uses
/// them.
///
/// # Errors
///
/// Bytes that are not UTF-8, bytes of value 0, an empty name, and a name that the dialect reserves.
pub fn attribute_name(text: &[u8], dialect: Dialect, range: Range<usize>, ad: usize) -> Result<Name, Problem> {
    let text = checked_name_text(text, range.clone(), ad)?;
    if text.is_empty() {
        return Err(Problem::error_at(range, ad, "a name cannot be empty"));
    }
    let name = Name::new(text);
    if dialect == Dialect::Classad && name.is_reserved() {
        let message = format!("`{name}` is a reserved word, not an attribute name");
        return Err(Problem::error_at(range, ad, message).with_help("HTCondor allows it: --dialect condor"));
    }
    Ok(name)
}
