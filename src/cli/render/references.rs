//! References by their printed names, for `refs` and the prompt.

use classad::eval::{Reference, References};
use classad::syntax::print_name;
use indexmap::IndexMap;

use crate::cli::args::partial_scope::EVERYTHING;

/// References by lower-case name, as names are case-insensitive: the name as first printed, and the reference.
pub type Named = IndexMap<String, (String, Option<Reference>)>;

/// Returns the attributes that are read from the ad itself.
pub fn internal(references: &References) -> Named {
    named(references.internal.iter().map(|name| (print_name(name), None)))
}

/// Returns the references that the ad itself does not resolve.
pub fn external(references: References) -> Named {
    let everything = references.everything.then(|| (EVERYTHING.to_owned(), None));
    named(references.external.into_iter().map(|one| (one.to_string(), Some(one))).chain(everything))
}

fn named(references: impl Iterator<Item = (String, Option<Reference>)>) -> Named {
    let mut names = Named::new();
    for (name, reference) in references {
        names.entry(name.to_ascii_lowercase()).or_insert((name, reference));
    }
    names
}
