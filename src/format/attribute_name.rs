//! Names of attributes, as files write them.

use std::ops::Range;

use crate::ad::{Dialect, Name};

use super::Problem;

/// What stands at this place of a file, as a text that names can be made of.
///
/// # Errors
///
/// Bytes that are no UTF-8 or 0.
pub fn name_text(text: &[u8], range: Range<usize>, ad: usize) -> Result<&str, Problem> {
    match std::str::from_utf8(text) {
        Err(_) => Err(Problem::at(range, ad, "a name must be UTF-8")),
        Ok(text) if text.contains('\0') => Err(Problem::at(range, ad, "a byte of value 0 cannot stand in an ad")),
        Ok(text) => Ok(text),
    }
}

/// The name of an attribute that stands at this place of a file.
///
/// # Errors
///
/// Bytes that are no UTF-8 or 0, no name at all, and a name that the dialect reserves.
pub fn attribute_name(text: &[u8], dialect: Dialect, range: Range<usize>, ad: usize) -> Result<Name, Problem> {
    let text = name_text(text, range.clone(), ad)?;
    if text.is_empty() {
        return Err(Problem::at(range, ad, "a name cannot be empty"));
    }
    let name = Name::new(text);
    if dialect == Dialect::Classad && name.is_reserved() {
        let message = format!("`{name}` is reserved and cannot name an attribute");
        return Err(Problem::at(range, ad, message).with_help("HTCondor allows it: --dialect condor"));
    }
    Ok(name)
}
