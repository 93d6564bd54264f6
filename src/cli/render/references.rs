//! References by their printed names, for `refs` and the prompt.

use classad::eval::{Reference, References};
use classad::syntax::print_name;
use indexmap::IndexMap;

use crate::cli::args::partial_scope::ANY_ATTRIBUTE;

/// References by name in lower case, as names are case-insensitive. Each value is the name as first printed, and the
/// reference. The reference is `None` for the ad's own attributes, and for `*`, which stands for any attribute.
pub type NamedReferences = IndexMap<String, (String, Option<Reference>)>;

/// Returns the attributes that are read from the ad itself.
pub fn internal_names(references: &References) -> NamedReferences {
    index_by_name(references.internal.iter().map(|name| (print_name(name), None)))
}

/// Returns the references that the ad itself does not resolve, including `*` if any attribute may be read.
pub fn external_names(references: References) -> NamedReferences {
    let everything = references.reads_anything.then(|| (ANY_ATTRIBUTE.to_owned(), None));
    let named = references.external.into_iter().map(|one| (written_path(&one), Some(one)));
    index_by_name(named.chain(everything))
}

/// Returns the whole path of a reference, with its qualifier: `MY.x`, where [`Reference`] itself prints `x`.
fn written_path(reference: &Reference) -> String {
    reference.path.iter().map(print_name).collect::<Vec<_>>().join(".")
}

fn index_by_name(references: impl Iterator<Item = (String, Option<Reference>)>) -> NamedReferences {
    let mut names = NamedReferences::new();
    for (name, reference) in references {
        names.entry(name.to_ascii_lowercase()).or_insert((name, reference));
    }
    names
}
