//! References under the names by which they are printed.

use classad::eval::{Reference, References};
use classad::syntax::print_name;
use indexmap::IndexMap;

use crate::cli::args::partial_scope::EVERYTHING;

/// References by their names in small letters: each counts once in an ad, however its letters are written.
pub type Named = IndexMap<String, (String, Option<Reference>)>;

/// The attributes of an ad itself that are read.
pub fn internal(references: &References) -> Named {
    named(references.internal.iter().map(|name| (print_name(name), None)))
}

/// What the ad itself does not answer.
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
