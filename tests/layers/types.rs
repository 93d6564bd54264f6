//! No type is scattered: its inherent `impl` blocks stand in two files at most. No two types share a name.

use std::collections::BTreeMap;

use crate::sources::{Source, Sources, crate_sources, sources};

/// Maximum number of files in which the inherent `impl` blocks of a type may stand.
const MAX_IMPL_FILES: usize = 2;

/// The files in which each type is found, by its name. A file is listed once for each time that `names` finds the type.
fn files_of(sources: &Sources, names: fn(&Source) -> &[String]) -> BTreeMap<&str, Vec<&str>> {
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (module, source) in sources {
        for name in names(source) {
            found.entry(name).or_default().push(module);
        }
    }
    found
}

/// The types whose inherent `impl` blocks stand in too many files. A name stands for one type: [`shared_names`].
fn scattered_types(sources: &Sources) -> Vec<String> {
    let mut files = files_of(sources, |source| &source.inherent_impls);
    files.retain(|_, files| {
        files.dedup();
        files.len() > MAX_IMPL_FILES
    });
    files.iter().map(|(name, files)| format!("impl {name} stands in {}", files.join(", "))).collect()
}

/// The names that several types have.
fn shared_names(sources: &Sources) -> Vec<String> {
    let mut files = files_of(sources, |source| &source.types);
    files.retain(|_, files| files.len() > 1);
    files.iter().map(|(name, files)| format!("{name} is a type of {}", files.join(", "))).collect()
}

#[test]
fn no_type_is_scattered() {
    let faults = scattered_types(&crate_sources());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_two_types_share_a_name() {
    let faults = shared_names(&crate_sources());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_scattered_type_is_caught() {
    let first = ("ad/x.rs", "pub struct X<T>(T); impl X<u8> {} impl<T> X<T> {}");
    let second = ("ad/y/mod.rs", "fn f() {} impl super::x::X<u8> { fn g() {} }");
    for third in [
        "use super::X; impl X<u16> {}",
        "#[allow(dead_code)] impl<'a, F: Fn() -> [u8; 4]> X<&'a F> where for<'b> F: Copy {}",
        "mod inner { unsafe impl Send for super::Y {} impl crate::ad::x::X<Vec<u8>> {} }",
    ] {
        assert_eq!(scattered_types(&sources([first, second, ("ad/y/z.rs", third)])).len(), 1, "{third}");
    }
    for third in [
        "impl Clone for X<u8> {}",
        "impl<T: Fn() -> u8> From<T> for super::X<T> where T: Copy {}",
        "fn f(x: impl Fn(X<u8>)) -> impl Iterator<Item = X<u8>> { x }",
        "impl Xs {} // impl X<u8> {}",
        "#[cfg(test)] mod tests { impl X<u8> {} }",
    ] {
        assert!(scattered_types(&sources([first, second, ("ad/y/z.rs", third)])).is_empty(), "{third}");
    }
}

#[test]
fn a_shared_name_is_caught() {
    let first = ("ad/x.rs", "pub struct X<T>(T);");
    for second in [
        "struct X;",
        "fn f() { enum X {} }",
        "pub(super) union X { a: u8 }",
        "type X = u8;",
        "impl Y {} type X<T> = Vec<T>;",
    ] {
        assert_eq!(shared_names(&sources([first, ("eval/x.rs", second)])).len(), 1, "{second}");
    }
    for second in [
        "use crate::ad::X;",
        "struct Y(X);",
        "#[cfg(test)] struct X;",
        "impl T for Y { type X = u8; }",
        "trait T { type X; }",
    ] {
        assert!(shared_names(&sources([first, ("eval/x.rs", second)])).is_empty(), "{second}");
    }
}
