//! The drawing of the house, kept true: every floor uses only itself and those below it, and the
//! binary uses only what `lib.rs` shows.

use std::fs;
use std::path::{Path, PathBuf};

/// The floors, lowest first.  A floor may use those before it.
const FLOORS: [&str; 15] = [
    "text",
    "ad",
    "syntax",
    "eval",
    "format",
    "protocol",
    "constraint",
    "transform",
    "pool",
    "workload",
    "matching",
    "lint",
    "explain",
    "policy_test",
    "cli",
];

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// The code of a file without comments and strings, in which a path may stand for something else.
fn code(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or(""));
    let mut code = String::new();
    for line in lines {
        for (position, part) in line.split('"').enumerate() {
            if position % 2 == 0 {
                code.push_str(part);
            }
            code.push(' ');
        }
        code.push('\n');
    }
    code
}

/// The modules that a file names behind `crate::` or, in the binary, `classad::`: in `use` lines with
/// and without braces, and inline.
fn named(code: &str, root: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices(root) {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = code[at + root.len()..].trim_start();
        if let Some(group) = rest.strip_prefix('{') {
            let group = &group[..group.find("};").unwrap_or(group.len())];
            names.extend(top_level(group));
        } else {
            names.push(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
        }
    }
    names
}

/// The first words of the items of a `use` group.
fn top_level(group: &str) -> Vec<String> {
    let mut depth = 0;
    let mut words = vec![String::new()];
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => words.push(String::new()),
            c if depth == 0 => words.last_mut().expect("there is one").push(c),
            _ => {}
        }
    }
    words.iter().map(|word| word.trim().split("::").next().unwrap_or("").to_owned()).filter(|w| !w.is_empty()).collect()
}

fn floor_of(path: &Path) -> String {
    let inside = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).expect("it is in src");
    inside.components().next().expect("it has a name").as_os_str().to_string_lossy().into_owned()
}

fn level(floor: &str) -> Option<usize> {
    FLOORS.iter().position(|known| *known == floor)
}

/// What is wrong with the uses of one file.
fn faults(path: &Path, text: &str) -> Vec<String> {
    let floor = floor_of(path);
    let code = code(text);
    let mut faults = Vec::new();
    if matches!(floor.as_str(), "cli" | "main.rs") {
        for name in named(&code, "crate::") {
            if name != "cli" {
                faults.push(format!("{}: the binary names crate::{name}", path.display()));
            }
        }
        return faults;
    }
    if floor == "lib.rs" {
        return faults;
    }
    let Some(mine) = level(&floor) else {
        return vec![format!("{}: `{floor}` is no floor of the drawing", path.display())];
    };
    for name in named(&code, "crate::") {
        match level(&name) {
            Some(theirs) if theirs > mine => faults.push(format!("{}: {floor} reaches up to {name}", path.display())),
            None => faults.push(format!("{}: crate::{name} is on no floor", path.display())),
            Some(_) => {}
        }
    }
    // Enough `super::` to leave the floor leads to its neighbours without naming them.
    let inside = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).expect("it is in src");
    let is_module = inside.file_name().is_some_and(|name| name == "mod.rs");
    // Inside a file's own `mod tests` one more is needed, and `super` is the file itself.
    let deepest = inside.components().count() - usize::from(is_module) - 1;
    let chain = "super::".repeat(deepest + 1);
    if code.lines().any(|line| !line.starts_with(' ') && line.contains(&chain)) {
        faults.push(format!("{}: `{chain}` leaves the floor", path.display()));
    }
    faults
}

#[test]
fn no_floor_reaches_upward() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 30, "the sources were found");
    let faults: Vec<String> =
        files.iter().flat_map(|path| faults(path, &fs::read_to_string(path).expect("a source is text"))).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_floor_that_reaches_upward_is_caught() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (file, text) in [
        ("ad/x.rs", "use crate::eval::Context;"),
        ("ad/x.rs", "use crate::{ad::Name, syntax::{Rules, Style}};"),
        ("syntax/x.rs", "fn f() -> crate::matching::Statistics { todo() }"),
        ("format/x.rs", "use crate::constraint::Protocol;"),
        ("eval/builtin/x.rs", "use super::super::super::format::Form;"),
        ("cellar/x.rs", "fn f() {}"),
        ("cli/x.rs", "use crate::eval::Context;"),
    ] {
        assert!(!faults(&root.join(file), text).is_empty(), "{file}: {text}");
    }
    for (file, text) in [
        ("eval/x.rs", "use crate::ad::Name; // crate::matching is above"),
        ("eval/builtin/x.rs", "use super::super::Halt;"),
        ("cli/x.rs", "use classad::eval::Context;"),
        ("matching/x.rs", "use crate::{ad::Name, constraint::Protocol};"),
    ] {
        assert!(faults(&root.join(file), text).is_empty(), "{file}: {text}");
    }
}
