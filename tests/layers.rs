//! The drawing of the house, kept true: every floor uses only itself and those below it, the binary uses only what
//! `lib.rs` shows, commands do not use each other, and the files of a floor use each other in no circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::iter::Peekable;
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

/// The circles of files that there are, each with its reason.  A part of one may be dissolved; what joins fails.
const CIRCLES: [(&[&str], &str); 12] = [
    (
        &["ad/ad", "ad/attribute_map", "ad/equality", "ad/expression", "ad/frame", "ad/value"],
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
            "eval/references",
        ],
        "the evaluator calls functions, which evaluate their arguments, and the analyser of references asks the table of functions",
    ),
    (
        &["format/detect", "format/json/grammar", "format/json/token"],
        "detection tries the grammar of JSON, whose lexer skips a byte order mark as detection does",
    ),
    (
        &[
            "transform/condition",
            "transform/iteration",
            "transform/keywords",
            "transform/macro_function",
            "transform/macros",
            "transform/rule",
        ],
        "the table of keywords names the parsers of rules, and these look keywords up",
    ),
    (
        &["pool/column", "pool/partition", "pool/range_index"],
        "a column builds its range index and partitions, which read its codes",
    ),
    (
        &["matching/greedy", "matching/index/probe", "matching/matchmaker"],
        "the matchmaker ranks and probes, and both name its candidates and statistics",
    ),
    (
        &[
            "explain/changes",
            "explain/changes/clause_fixes",
            "explain/changes/offer_demands",
            "explain/closest_offers",
            "explain/explainer",
            "explain/refusals",
        ],
        "the explainer runs the parts of an explanation, and each of them asks the explainer again",
    ),
    (
        &[
            "cli/io/input",
            "cli/io/source",
            "cli/render/diagnostics",
            "cli/render/json",
            "cli/render/output",
            "cli/render/progress",
            "cli/render/rows",
            "cli/render/table",
            "cli/session",
        ],
        "readers report problems and progress, and reports quote what was read",
    ),
    (
        &[
            "cli/render/explanation/case",
            "cli/render/explanation/diagram",
            "cli/render/explanation/gangs",
            "cli/render/explanation/gangs/json",
            "cli/render/explanation/gangs/text",
            "cli/render/explanation/json",
            "cli/render/explanation/listing",
            "cli/render/explanation/pair",
            "cli/render/explanation/writer",
        ],
        "the writer chooses among the forms, and the forms write through it",
    ),
    (
        &["cli/commands/query/columns", "cli/commands/query/print_mask"],
        "a print mask is a list of columns, and columns may come from a print mask",
    ),
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

/// The path of a module or of an item in it, from the root of the crate.
type ItemPath = Vec<String>;

/// What a file names.
#[derive(Default)]
struct Source {
    imports: Vec<Import>,
    /// Paths of at least two segments outside `use`.
    paths: Vec<ItemPath>,
    /// All identifiers outside `use`.
    words: BTreeSet<String>,
}

/// One path of a `use` declaration, as it is written.
struct Import {
    path: ItemPath,
    /// The name by which the file knows it.
    alias: String,
    /// Whether the file hands it on.
    is_public: bool,
}

/// The code of a file without comments, strings and characters, in which a path may stand for something else.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let literal = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '"' => string_length(rest, &code),
            '\'' if rest[1..].starts_with('\\') => 2 + rest[3..].find('\'').map_or(0, |end| end + 2),
            '\'' if rest.chars().nth(2) == Some('\'') => rest.chars().take(3).map(char::len_utf8).sum(),
            _ => 0,
        };
        if literal == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            code.push(' ');
            rest = &rest[literal..];
        }
    }
    code
}

/// The length of the string that begins here, a raw one if the code before says so.
fn string_length(text: &str, before: &str) -> usize {
    let name = before.trim_end_matches('#');
    if name.ends_with('r') {
        let end = format!("\"{}", "#".repeat(before.len() - name.len()));
        return text[1..].find(&end).map_or(text.len(), |at| 1 + at + end.len());
    }
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|&(_, c)| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// Identifiers, `::`, and every other character by itself.
fn tokens(code: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            _ if rest.starts_with("::") => 2,
            c => c.len_utf8(),
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

/// Leaves out the items that only tests have.
fn without_tests<'t>(tokens: &[&'t str]) -> Vec<&'t str> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if !tokens[at..].starts_with(&["#", "[", "cfg", "(", "test", ")", "]"]) {
            kept.push(tokens[at]);
            at += 1;
            continue;
        }
        let mut depth = 0;
        while at < tokens.len() {
            depth += i32::from(tokens[at] == "{") - i32::from(tokens[at] == "}");
            at += 1;
            if depth == 0 && matches!(tokens[at - 1], "}" | ";") {
                break;
            }
        }
    }
    kept
}

impl Source {
    fn of(tokens: &[&str]) -> Self {
        let mut source = Source::default();
        let mut rest = tokens.iter().copied().peekable();
        let mut is_public = false;
        while let Some(token) = rest.next() {
            match token {
                "use" => source.read_import(&mut rest, &[], is_public),
                word if word.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                    source.words.insert(word.to_owned());
                    let mut path = vec![word.to_owned()];
                    while rest.next_if_eq(&"::").is_some() {
                        let Some(segment) = rest.next_if(|next| next.starts_with(char::is_alphabetic)) else { break };
                        path.push(segment.to_owned());
                    }
                    source.paths.extend((path.len() > 1).then_some(path));
                }
                _ => {}
            }
            // `pub(crate) use` hands on as well.
            is_public = token == "pub" || is_public && matches!(token, "(" | "crate" | "super" | "in" | ")");
        }
        source
    }

    /// Reads a tree of a `use` declaration.
    fn read_import<'t>(
        &mut self,
        rest: &mut Peekable<impl Iterator<Item = &'t str>>,
        prefix: &[String],
        is_public: bool,
    ) {
        let mut path = prefix.to_vec();
        let mut alias = None;
        while let Some(token) = rest.next_if(|next| !matches!(*next, "," | "}" | ";")) {
            match token {
                "{" => {
                    while rest.next_if_eq(&"}").is_none() && rest.peek().is_some() {
                        self.read_import(rest, &path, is_public);
                        rest.next_if_eq(&",");
                    }
                    return;
                }
                "::" | "*" => {}
                "as" => alias = rest.next().map(str::to_owned),
                word => path.push(word.to_owned()),
            }
        }
        path.pop_if(|last| last == "self");
        let alias = alias.or_else(|| path.last().cloned()).unwrap_or_default();
        self.imports.push(Import { path, alias, is_public });
    }
}

/// All files without their tests, by their modules, such as `cli/io/input`.
type Sources = BTreeMap<String, Source>;

fn module_of(file: &str) -> String {
    let name = file.strip_suffix(".rs").unwrap_or(file);
    name.strip_suffix("/mod").unwrap_or(name).to_owned()
}

fn is_test_file(file: &str) -> bool {
    file.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "testing.rs"))
}

fn sources<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)>) -> Sources {
    let files = files.into_iter().filter(|(file, _)| !is_test_file(file));
    files.map(|(file, text)| (module_of(file), Source::of(&without_tests(&tokens(&code(text)))))).collect()
}

/// The path from the root of the crate of what a module names; `None` if that is neither a module nor in one.
fn absolute(module: &str, path: &[String], is_module: impl Fn(&str) -> bool) -> Option<ItemPath> {
    let mut base: ItemPath = module.split('/').map(str::to_owned).collect();
    let mut rest = path;
    match path[0].as_str() {
        "crate" => {
            base.clear();
            rest = &path[1..];
        }
        "self" => rest = &path[1..],
        "super" => {
            while let Some(("super", outer)) = rest.split_first().map(|(first, rest)| (first.as_str(), rest)) {
                base.pop();
                rest = outer;
            }
        }
        child if is_module(&format!("{module}/{child}")) => {}
        _ => return None,
    }
    base.extend_from_slice(rest);
    Some(base)
}

/// The file that has an item: the one that defines it if its module only hands it on.
fn file_of(sources: &Sources, path: &[String], depth: usize) -> Option<String> {
    let length = (1..=path.len()).rev().find(|&length| sources.contains_key(&path[..length].join("/")))?;
    let module = path[..length].join("/");
    let handed_on = path.get(length).filter(|_| depth > 0).and_then(|name| {
        let import = sources[&module].imports.iter().find(|import| import.is_public && import.alias == *name)?;
        let origin = absolute(&module, &import.path, |child| sources.contains_key(child))?;
        file_of(sources, &origin, depth - 1)
    });
    Some(handed_on.unwrap_or(module))
}

/// The files that each file uses.
fn uses(sources: &Sources) -> BTreeMap<&str, BTreeSet<String>> {
    let of_source = |module: &str, source: &Source| {
        // What is only handed on is not used.
        let is_used = |import: &&Import| !import.is_public || source.words.contains(&import.alias);
        let imported = source.imports.iter().filter(is_used).map(|import| &import.path);
        let paths = imported.chain(&source.paths).filter(|path| !path.is_empty());
        let files = paths.filter_map(|path| {
            let path = absolute(module, path, |child| sources.contains_key(child))?;
            file_of(sources, &path, 8)
        });
        files.filter(|file| file != module).collect()
    };
    sources.iter().map(|(module, source)| (module.as_str(), of_source(module, source))).collect()
}

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

/// The uses of a command by another command, or by what all commands share.
fn uses_of_commands(sources: &Sources) -> Vec<String> {
    let command = |module: &str| {
        let name = module.strip_prefix("cli/commands/")?.split('/').next()?;
        Some(name.to_owned())
    };
    let mut faults = Vec::new();
    for (module, used) in uses(sources) {
        // The table of all commands.
        if module == "cli" || !module.starts_with("cli/") {
            continue;
        }
        let others = used.iter().filter(|used| command(used).is_some() && command(used) != command(module));
        faults.extend(others.map(|used| format!("{module} uses the command {used}")));
    }
    faults
}

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
        faults.insert(format!("{file}: `{floor}` is no floor of the drawing"));
    }
    faults.into_iter().collect()
}

/// The sources of the crate: files below `src`, and their texts.
fn files() -> Vec<(String, String)> {
    fn read(folder: &Path, into: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                read(&path, into);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                into.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    read(&root, &mut paths);
    assert!(paths.len() > 30, "the sources were found");
    let file = |path: PathBuf| {
        let parts = path.strip_prefix(&root).expect("it is in src").iter().map(|part| part.to_string_lossy());
        let name = parts.collect::<Vec<_>>().join("/");
        (name, fs::read_to_string(&path).expect("a source is text"))
    };
    paths.into_iter().map(file).collect()
}

fn crate_sources() -> Sources {
    let files = files();
    sources(files.iter().map(|(file, text)| (file.as_str(), text.as_str())))
}

#[test]
fn no_floor_reaches_upward() {
    let faults: Vec<String> = files().iter().flat_map(|(file, text)| faults(file, text)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_command_uses_another() {
    let faults = uses_of_commands(&crate_sources());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
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

#[test]
fn a_command_that_uses_another_is_caught() {
    let find = ("cli/commands/find/mod.rs", "pub fn run() {}");
    let show = "cli/commands/show.rs";
    for (file, text) in [
        (show, "use crate::cli::commands::find;"),
        (show, "use crate::cli::{Status, commands::{find::run}};"),
        (show, "fn f() { super::find::run() }"),
        ("cli/args/x.rs", "use crate::cli::commands::find::run;"),
        ("cli/io/x.rs", "fn f() { crate::cli::commands::find::run() }"),
        ("cli/render/x.rs", "use super::super::commands::find as other;"),
    ] {
        assert!(!uses_of_commands(&sources([find, (file, text)])).is_empty(), "{file}: {text}");
    }
    for (file, text) in [
        ("cli/mod.rs", "mod commands; fn f() { commands::find::run() }"),
        ("cli/commands/find/part.rs", "use super::run;"),
        (show, "#[cfg(test)] mod tests { use crate::cli::commands::find; }"),
    ] {
        assert!(uses_of_commands(&sources([find, (file, text)])).is_empty(), "{file}: {text}");
    }
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
