//! No floor reaches upward.

use std::collections::BTreeSet;

use crate::sources::{Source, absolute, files, module_of};
use crate::tokens::{code, tokens, without_tests};

/// The floors, lowest first.  A floor may use those before it.
const FLOORS: [&str; 19] = [
    "text",
    "ad",
    "syntax",
    "eval",
    "format",
    "protocol",
    "constraint",
    "transform",
    "configuration",
    "submit",
    "pool",
    "workload",
    "matching",
    "query",
    "lint",
    "explain",
    "policy_test",
    "door",
    "cli",
];

fn level(floor: &str) -> Option<usize> {
    FLOORS.iter().position(|known| *known == floor)
}

/// What is wrong with the floors that a file names, also in its tests.
fn faults(file: &str, text: &str) -> Vec<String> {
    let module = module_of(file);
    let floor = module.split('/').next().expect("it has a name");
    if floor == "lib" {
        return Vec::new();
    }
    let code = code(text);
    let tokens = tokens(&code);
    let all = Source::of(&tokens);
    let shipped = Source::of(&without_tests(&tokens));
    let paths = |source: Source| source.imports.into_iter().map(|import| import.path).chain(source.paths);
    // Inside a file's own `mod tests` `super` is the file itself.
    let named = paths(all).filter(|path| path.first().is_some_and(|first| first == "crate"));
    let named = named.chain(paths(shipped).filter(|path| path.first().is_some_and(|first| first == "super")));
    let mut faults = BTreeSet::new();
    for path in named {
        let name = absolute(&module, &path, |_| false).and_then(|path| path.first().cloned()).unwrap_or_default();
        if matches!(floor, "cli" | "main") {
            if name != "cli" {
                faults.insert(format!("{file}: the binary names crate::{name}"));
            }
            continue;
        }
        match (level(floor), level(&name)) {
            (None, _) => {}
            (Some(mine), Some(theirs)) if theirs > mine => {
                faults.insert(format!("{file}: {floor} reaches up to {name}"));
            }
            (_, None) => {
                faults.insert(format!("{file}: crate::{name} is on no floor"));
            }
            _ if path[0] == "super" && name != floor => {
                faults.insert(format!("{file}: `super` leaves the floor"));
            }
            _ => {}
        }
    }
    if floor != "main" && level(floor).is_none() {
        faults.insert(format!("{file}: `{floor}` is not a floor of the drawing"));
    }
    faults.into_iter().collect()
}

#[test]
fn no_floor_reaches_upward() {
    let faults: Vec<String> = files().iter().flat_map(|(file, text)| faults(file, text)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_floor_that_reaches_upward_is_caught() {
    for (file, text) in [
        ("ad/x.rs", "use crate::eval::Context;"),
        ("ad/x.rs", "use crate::{ad::Name, syntax::{Rules, Style}};"),
        ("ad/x.rs", "#[cfg(test)] mod tests { use crate::eval::Context; }"),
        ("syntax/x.rs", "fn f() -> crate::matching::Statistics { todo() }"),
        ("format/x.rs", "use crate::constraint::Protocol;"),
        ("eval/builtin/x.rs", "use super::super::super::format::Form;"),
        ("eval/builtin/x.rs", "use super::super::super::ad::Name;"),
        ("cellar/x.rs", "fn f() {}"),
        ("cli/x.rs", "use crate::eval::Context;"),
    ] {
        assert!(!faults(file, text).is_empty(), "{file}: {text}");
    }
    for (file, text) in [
        ("eval/x.rs", "use crate::ad::Name; // crate::matching is above"),
        ("eval/x.rs", "const TEXT: &str = r#\"\\\" crate::matching\"#; const QUOTE: char = '\"'; // crate::matching"),
        ("eval/builtin/x.rs", "use super::super::Halt;"),
        ("eval/x.rs", "#[cfg(test)] mod tests { use super::super::Halt; }"),
        ("cli/x.rs", "use classad::eval::Context;"),
        ("matching/x.rs", "use crate::{ad::Name, constraint::Protocol};"),
    ] {
        assert!(faults(file, text).is_empty(), "{file}: {text}");
    }
}

/// Libraries that one module alone may name, because they may have to be exchanged.
const FENCED: [(&str, &str); 1] = [("serde_yaml", "format/yaml/")];

#[test]
fn fenced_libraries_are_used_by_one_module() {
    for (library, module) in FENCED {
        let names = |text: &str| tokens(&code(text)).contains(&library);
        let users: Vec<String> = files().into_iter().filter(|(_, text)| names(text)).map(|(file, _)| file).collect();
        assert!(!users.is_empty(), "nothing uses {library}");
        let outside: Vec<_> = users.iter().filter(|file| !file.starts_with(module)).collect();
        assert!(outside.is_empty(), "{library} is used by {outside:?}");
    }
}
