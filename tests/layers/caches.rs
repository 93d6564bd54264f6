//! How much a cache remembers is said in one place.

use crate::sources::files;

/// The file that bounds caches.
const BOUNDS: &str = "ad/bounded.rs";

/// Returns the comment of each constant of a file, with the constant: `Maximum number ... const MAX ...`.
fn constants(text: &str) -> Vec<String> {
    let (mut found, mut comment) = (Vec::new(), String::new());
    for line in text.lines().map(str::trim) {
        if let Some(words) = line.strip_prefix("///") {
            comment += words;
        } else {
            if line.contains("const MAX") {
                found.push(format!("{comment} {line}"));
            }
            comment.clear();
        }
    }
    found
}

/// Whether a constant says how much is remembered, not how large one thing may be that is.
fn bounds_a_cache(constant: &str) -> bool {
    let is_of_all = ["number", "total size", "size of the"].iter().any(|what| constant.contains(what));
    is_of_all && ["cache", "remember", "known at once"].iter().any(|word| constant.to_lowercase().contains(word))
}

#[test]
fn only_bounded_bounds_caches() {
    let files = files();
    let bounds = files.iter().flat_map(|(file, text)| {
        constants(text).into_iter().filter(|of| bounds_a_cache(of)).map(move |constant| (file.as_str(), constant))
    });
    let (own, others): (Vec<_>, Vec<_>) = bounds.partition(|(file, _)| *file == BOUNDS);
    assert!(own.len() > 1, "the limits of `Bounded` are found: {own:?}");
    // Of the text, not of the cache.
    let others: Vec<_> = others.into_iter().filter(|(file, _)| *file != "format/nested_reader.rs").collect();
    assert!(others.is_empty(), "`ad::Bounded` bounds caches: {others:?}");
}
