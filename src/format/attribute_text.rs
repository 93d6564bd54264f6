//! The text of an attribute, and what is parsed from it.

use crate::ad::{Expression, Name};

use super::Problem;

/// The text of an attribute.
#[derive(Clone, Copy)]
pub struct AttributeText<'t> {
    /// The attribute with all that separates it from what follows: a line with its line end, or a member of an object
    /// with its comma or closing brace.
    pub whole: &'t [u8],
    /// The name, what stands between, and the value.
    pub content: &'t [u8],
}

/// An attribute that was parsed.
pub struct ParsedAttribute {
    pub name: Name,
    pub expression: Expression,
    /// Length of the content before the value, in bytes.
    pub value_start: usize,
    /// A warning, if the text behind the expression is ignored.
    pub warning: Option<Problem>,
}
