//! External references (thesis 2.6.2): names that an expression needs and its own ad lacks.

use std::fmt;

use indexmap::IndexSet;

use crate::ad::Name;
use crate::syntax::print_name;

/// Dotted path that an expression refers to, as it is written: `TARGET.x.y`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Reference {
    /// Names of the path, in order.
    pub path: Vec<Name>,
    /// Number of leading names that resolve to an ad, such as 1 for `MY.x` without an attribute `x`. The next name is
    /// missing in that ad.
    pub resolved: usize,
}

impl Reference {
    /// Returns the names that do not resolve: `z` for `MY.z`, since `MY` resolves to the ad itself.
    #[must_use]
    pub fn missing(&self) -> &[Name] {
        &self.path[self.resolved.min(self.path.len() - 1)..]
    }
}

impl fmt::Display for Reference {
    /// Writes the missing names as a dotted path.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, name) in self.missing().iter().enumerate() {
            let dot = if position > 0 { "." } else { "" };
            write!(f, "{dot}{}", print_name(name))?;
        }
        Ok(())
    }
}

/// Names and dotted paths that an expression refers to.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct References {
    /// References that do not resolve in the expression's own ad, in order of first use. References of the attributes
    /// that the expression reads are included.
    pub external: IndexSet<Reference>,
    /// Attributes of its own ad that the expression reads, in order of first use.
    pub internal: IndexSet<Name>,
    /// Whether the expression may read any attribute, because a name is computed or a whole ad is used as a value.
    pub reads_anything: bool,
}
