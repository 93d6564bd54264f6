//! Attributes that a request lacks and that an offer reads.

use crate::ad::{Ad, Name};
use crate::lint::similar_names;
use crate::text::suggestion;

/// An attribute that a request lacks and that an offer reads.
#[derive(Clone, Debug, PartialEq)]
pub struct MissingAttribute {
    /// The name that the offer reads.
    pub name: Name,
    /// Attributes of the request with similar names, one of which the offer may mean. Empty for a standard attribute.
    pub near: Vec<Name>,
}

impl MissingAttribute {
    /// Finds the attributes that an offer may mean by `name`, which the request lacks.
    #[must_use]
    pub fn of(request: &Ad, name: Name) -> Self {
        let own = request.iter().map(|attribute| attribute.name);
        let near = similar_names(&name, own, |_| 1).into_iter().map(|(near, _)| near).collect();
        MissingAttribute { name, near }
    }
}

/// Returns ` (1.0 has no RequestDisk)` for the first attribute in `missing`; empty if there is none.
#[must_use]
pub fn missing_attribute_note(subject: &str, is_plural: bool, missing: &[MissingAttribute]) -> String {
    let has = if is_plural { "have" } else { "has" };
    let note =
        |missing: &MissingAttribute| format!(" ({subject} {has} no {}{})", missing.name, suggestion(&missing.near));
    missing.first().map(note).unwrap_or_default()
}
