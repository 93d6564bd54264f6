//! Names of attributes, as files write them.

use std::ops::Range;

use crate::ad::{Dialect, Name};

use super::Problem;

/// The name of an attribute that stands at this place of a file.
///
/// # Errors
///
/// Bytes that are no UTF-8 or 0, no name at all, and a name that the dialect reserves.
pub fn attribute_name(text: &[u8], dialect: Dialect, range: Range<usize>, ad: usize) -> Result<Name, Problem> {
    let Ok(text) = std::str::from_utf8(text) else {
        return Err(Problem::at(range, ad, "a name must be UTF-8"));
    };
    if text.contains('\0') {
        return Err(Problem::at(range, ad, "a byte of value 0 cannot stand in an ad"));
    }
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
