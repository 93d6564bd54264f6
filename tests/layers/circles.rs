//! The files of a floor use each other in no circle but the listed ones.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::{Sources, crate_sources, sources, uses};

/// The circles of files that there are, each with its reason.  A part of one may be dissolved; what joins fails.
const CIRCLES: &[(&[&str], &str)] = &[
    (
        &["ad/ad", "ad/equality", "ad/expression", "ad/frame", "ad/value"],
        "an ad holds expressions, an expression holds values, and both hold ads",
    ),
    (&["ad/name", "ad/scope_ad"], "a name is reserved if it stands for an ad, and such names are a table of names"),
    (
        &[
            "eval/builtin",
            "eval/builtin/arguments",
            "eval/builtin/call",
            "eval/builtin/conversion",
            "eval/builtin/lists",
            "eval/builtin/numbers",
            "eval/builtin/reflection",
            "eval/builtin/regex",
            "eval/builtin/string_lists",
            "eval/builtin/strings",
            "eval/builtin/submit",
            "eval/builtin/times",
            "eval/builtin/versions",
            "eval/evaluate",
            "eval/reference_walk",
        ],
        "the evaluator calls functions, which evaluate their arguments, and the analyser of references asks the table of functions",
    ),
    (
        &["format/detect", "format/json/fast_path", "format/json/grammar", "format/json/member", "format/json/token"],
        "detection tries the grammar of JSON, whose lexer skips a byte order mark as detection does",
    ),
    (&["syntax/number_tokens", "syntax/token"], "what follows a number without a space is divided into tokens again"),
    (
        &[
            "transform/condition",
            "transform/expander",
            "transform/iteration",
            "transform/keywords",
            "transform/macro_function",
            "transform/macros",
            "transform/rule",
        ],
        "the table of keywords names the parsers of rules, and these look keywords up",
    ),
    (
        &["explain/clause_report", "explain/clause_slips", "explain/failure_reason"],
        "a disjunction fails because each of its operands does, and a slip is tried on each",
    ),
    (
        &["cli/io/named_ad", "cli/io/source", "cli/render/json", "cli/render/output", "cli/render/rows", "cli/session"],
        "readers report problems, and reports quote what was read",
    ),
    (&["cli/render/diagnostics", "cli/render/progress"], "a message clears the progress bar, whose fault is a message"),
    (
        &[
            "cli/commands/repl/ads",
            "cli/commands/repl/commands",
            "cli/commands/repl/entry",
            "cli/commands/repl/explain_commands",
            "cli/commands/repl/expression_commands",
            "cli/commands/repl/help",
            "cli/commands/repl/pool_commands",
            "cli/commands/repl/settings",
            "cli/commands/repl/state",
        ],
        "the table of commands names their functions, which act on the state that reads entries by that table",
    ),
];

/// The circles among the files of each floor: the largest sets in which each reaches each.  A folder's own file and the
/// files in the folder are a unit: that these use what it defines makes no circle.
fn circles(uses: &BTreeMap<&str, BTreeSet<String>>) -> Vec<BTreeSet<String>> {
    let floor = |module: &str| module.split('/').next().map(str::to_owned);
    let next = |module: &str| {
        let is_apart = |used: &&String| {
            floor(used) == floor(module)
                && !module.strip_prefix(used.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        uses.get(module).into_iter().flatten().filter(is_apart).cloned().collect::<Vec<_>>()
    };
    let reached = |start: &str| {
        let mut reached = BTreeSet::new();
        let mut left = next(start);
        while let Some(module) = left.pop() {
            if reached.insert(module.clone()) {
                left.extend(next(&module));
            }
        }
        reached
    };
    let reached: BTreeMap<&str, BTreeSet<String>> = uses.keys().map(|module| (*module, reached(module))).collect();
    let circle_of = |module: &str| {
        let others = reached[module].iter().filter(|other| reached[other.as_str()].contains(module));
        others.cloned().collect::<BTreeSet<_>>()
    };
    let circles: BTreeSet<_> = uses.keys().map(|module| circle_of(module)).filter(|circle| circle.len() > 1).collect();
    circles.into_iter().collect()
}

/// The circles that are not, or not all, in the list.
fn unknown_circles(sources: &Sources) -> Vec<String> {
    let is_known = |circle: &BTreeSet<String>| {
        CIRCLES.iter().any(|(files, _)| circle.iter().all(|file| files.contains(&file.as_str())))
    };
    let unknown = circles(&uses(sources)).into_iter().filter(|circle| !is_known(circle));
    unknown.map(|circle| format!("a circle: {circle:?}")).collect()
}

/// The circles of the list that the sources do not have any more, file for file.
fn dissolved_circles(sources: &Sources) -> Vec<String> {
    let found = circles(&uses(sources));
    let dissolved = CIRCLES.iter().filter(|(files, _)| !found.iter().any(|circle| circle.iter().eq(files.iter())));
    dissolved.map(|(files, _)| format!("no circle any more: {files:?}")).collect()
}

#[test]
fn no_circle_is_new() {
    let sources = crate_sources();
    let faults = [unknown_circles(&sources), dissolved_circles(&sources)].concat();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_dissolved_circle_is_caught() {
    assert_eq!(dissolved_circles(&sources([("ad/x.rs", "fn f() {}")])).len(), CIRCLES.len());
}

#[test]
fn a_new_circle_is_caught() {
    for files in [
        [("ad/x.rs", "use super::y::Y;"), ("ad/y.rs", "fn f() { crate::ad::x::f() }"), ("ad/mod.rs", "mod x; mod y;")],
        // What a module hands on is where it is defined.
        [
            ("ad/x.rs", "use super::Y;"),
            ("ad/mod.rs", "mod x; mod y; pub use y::{Y, Z as W};"),
            ("ad/y.rs", "use crate::ad::x::X;"),
        ],
        [
            ("ad/x.rs", "use super::y;"),
            ("ad/y/mod.rs", "mod z; fn f() { z::f() }"),
            ("ad/y/z.rs", "use super::super::x::X;"),
        ],
        // A known circle that grows.
        [
            ("ad/ad.rs", "use super::value::Value;"),
            ("ad/value.rs", "use super::x::X;"),
            ("ad/x.rs", "use super::ad::Ad;"),
        ],
    ] {
        assert_eq!(unknown_circles(&sources(files)).len(), 1, "{files:?}");
    }
    for files in [
        [
            ("ad/x.rs", "use super::y::Y;"),
            ("ad/y.rs", "#[cfg(test)] mod tests { use super::super::x::X; }"),
            ("ad/z.rs", ""),
        ],
        // A folder's own file and what is in the folder.
        [("ad/mod.rs", "mod x; use x::X; struct Y(X); struct Z;"), ("ad/x.rs", "use super::Z;"), ("ad/z.rs", "")],
        // A known one.
        [
            ("ad/ad.rs", "use super::value::Value;"),
            ("ad/value.rs", "use super::ad::Ad;"),
            ("ad/x.rs", "use super::ad::Ad;"),
        ],
    ] {
        assert!(unknown_circles(&sources(files)).is_empty(), "{files:?}");
    }
}
