//! The licences and the sources of the dependencies, as `cargo metadata` knows them. `.ci/supply-chain` asks `cargo deny`,
//! which also knows their known faults.

use std::process::Command;

use serde_json::Value;

/// The only registry of dependencies.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The licences that `deny.toml` allows.
fn allowed_licences() -> Vec<String> {
    let settings = std::fs::read_to_string("deny.toml").unwrap();
    let list = settings.split_once("[licenses]\nallow = [").unwrap().1.split_once(']').unwrap().0;
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether a licence expression can be met with the allowed licences. `/` is an old spelling of `OR`.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let expression = expression.trim();
    if allowed.iter().any(|licence| licence == expression) {
        return true;
    }
    let parts = |operator: &str| {
        let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
        for (at, byte) in expression.bytes().enumerate() {
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ if depth == 0 && at >= start && expression[at..].starts_with(operator) => {
                    parts.push(&expression[start..at]);
                    start = at + operator.len();
                }
                _ => {}
            }
        }
        parts.push(&expression[start..]);
        parts
    };
    for operator in [" OR ", "/"] {
        let alternatives = parts(operator);
        if alternatives.len() > 1 {
            return alternatives.into_iter().any(|part| is_allowed(part, allowed));
        }
    }
    let needed = parts(" AND ");
    if needed.len() > 1 {
        return needed.into_iter().all(|part| is_allowed(part, allowed));
    }
    let inside = expression.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    inside.is_some_and(|inside| is_allowed(inside, allowed))
}

#[test]
fn licence_expressions_are_understood() {
    let allowed = ["MIT", "Zlib"].map(str::to_owned);
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("MIT AND GPL-3.0", false),
        ("(GPL-3.0 OR MIT) AND Zlib", true),
        ("(GPL-3.0 AND MIT) OR (Zlib AND GPL-3.0)", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), expected, "{expression}");
    }
}

#[test]
fn dependencies_have_allowed_licences_and_one_source() {
    // Dependencies of other platforms need not be here.
    let version = Command::new("rustc").arg("-vV").output().expect("rustc is here").stdout;
    let version = String::from_utf8(version).unwrap();
    let platform = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc tells its host");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", platform])
        .output()
        .expect("cargo is here");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (packages, allowed) = (metadata["packages"].as_array().unwrap(), allowed_licences());
    assert!(packages.len() > 50 && allowed.len() > 5);
    for package in packages.iter().filter(|package| package["name"] != "classad") {
        let name = &package["name"];
        assert_eq!(package["source"], REGISTRY, "{name}");
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(is_allowed(licence, &allowed), "{name}: {licence}");
    }
}

/// The names of the dependencies in `Cargo.toml`, and those that CONTRIBUTING says something about, each sorted.
#[test]
fn each_dependency_is_explained() {
    let manifest = std::fs::read_to_string("Cargo.toml").unwrap();
    let sections = manifest.split("\n[").filter(|section| section.lines().next().unwrap().ends_with("dependencies]"));
    let names =
        sections.flat_map(|section| section.lines().filter_map(|line| line.split_once(" = "))).map(|(name, _)| name);
    let mut used: Vec<&str> = names.filter(|name| name.starts_with(char::is_alphabetic)).collect();
    let contributing = std::fs::read_to_string("CONTRIBUTING.md").unwrap();
    let table = contributing.split_once("\n| crate | for |\n").unwrap().1;
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    let mut explained: Vec<&str> =
        rows.flat_map(|row| row.split(" | ").next().unwrap().split('`').skip(1).step_by(2)).collect();
    used.sort_unstable();
    used.dedup();
    explained.sort_unstable();
    assert!(used.len() > 40, "{used:?}");
    assert_eq!(used, explained);
}
