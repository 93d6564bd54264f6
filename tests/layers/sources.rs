//! The files of the crate, what they name, and which of them use each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::iter::Peekable;
use std::path::{Path, PathBuf};

use crate::tokens::{code, tokens, without_tests};

/// The path of a module or of an item in it, from the root of the crate.
pub type ItemPath = Vec<String>;

/// What a file names.
#[derive(Default)]
pub struct Source {
    pub imports: Vec<Import>,
    /// Paths of at least two segments outside `use`.
    pub paths: Vec<ItemPath>,
    /// All identifiers outside `use`.
    words: BTreeSet<String>,
    /// The names of the types that the file defines.
    pub types: Vec<String>,
    /// The names of the types that have inherent `impl` blocks in the file, one for each block.
    pub inherent_impls: Vec<String>,
}

/// One path of a `use` declaration, as it is written.
pub struct Import {
    pub path: ItemPath,
    /// The name by which the file knows it.
    alias: String,
    /// Whether the file hands it on.
    is_public: bool,
}

impl Source {
    pub fn of(tokens: &[&str]) -> Self {
        let mut source = Source { types: types(tokens), inherent_impls: inherent_impls(tokens), ..Source::default() };
        let mut rest = tokens.iter().copied().peekable();
        let mut is_public = false;
        while let Some(token) = rest.next() {
            match token {
                // `use<..>` in a signature says what a type captures.
                "use" if rest.peek() != Some(&"<") => source.read_import(&mut rest, &[], is_public),
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

/// The names of the structs, enums, unions and aliases that the tokens define, without the types that belong to a trait.
fn types(tokens: &[&str]) -> Vec<String> {
    let mut names: Vec<&&str> = Vec::new();
    // For each open brace, whether it opens the body of a trait or of an `impl`.
    let mut bodies = Vec::new();
    let mut opens_body = false;
    for (at, &token) in tokens.iter().enumerate() {
        match token {
            "trait" => opens_body = true,
            "impl" => opens_body |= is_block(tokens, at),
            "{" => bodies.push(std::mem::take(&mut opens_body)),
            "}" => drop(bodies.pop()),
            "struct" | "enum" | "union" => names.extend(tokens.get(at + 1)),
            "type" if bodies.last() != Some(&true) => names.extend(tokens.get(at + 1)),
            _ => {}
        }
    }
    names.retain(|name| name.starts_with(char::is_uppercase));
    names.into_iter().map(|name| (*name).to_owned()).collect()
}

/// Whether the `impl` here begins a block. `impl Trait` in a signature does not.
fn is_block(tokens: &[&str], at: usize) -> bool {
    at == 0 || matches!(tokens[at - 1], "{" | "}" | ";" | "]" | "unsafe")
}

/// The names of the types that have inherent `impl` blocks among the tokens.
fn inherent_impls(tokens: &[&str]) -> Vec<String> {
    let blocks = (0..tokens.len()).filter(|&at| tokens[at] == "impl" && is_block(tokens, at));
    blocks.filter_map(|at| type_of_impl(&tokens[at..])).collect()
}

/// The name of the type of the `impl` block that begins here; `None` if the block implements a trait.
fn type_of_impl(tokens: &[&str]) -> Option<String> {
    let mut name = None;
    let mut depth = 0;
    for (before, &token) in tokens.iter().zip(&tokens[1..]) {
        match token {
            "<" => depth += 1,
            ">" if *before != "-" => depth -= 1,
            _ if depth > 0 => {}
            "for" => return None,
            "{" | "where" => break,
            _ => name = Some(token),
        }
    }
    name.map(str::to_owned)
}

/// All files without their tests, by their modules, such as `cli/io/input`.
pub type Sources = BTreeMap<String, Source>;

pub fn module_of(file: &str) -> String {
    let name = file.strip_suffix(".rs").unwrap_or(file);
    name.strip_suffix("/mod").unwrap_or(name).to_owned()
}

fn is_test_file(file: &str) -> bool {
    file.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "testing.rs"))
}

pub fn sources<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)>) -> Sources {
    let files = files.into_iter().filter(|(file, _)| !is_test_file(file));
    files.map(|(file, text)| (module_of(file), Source::of(&without_tests(&tokens(&code(text)))))).collect()
}

/// The path from the root of the crate of what a module names; `None` if that is neither a module nor in one.
pub fn absolute(module: &str, path: &[String], is_module: impl Fn(&str) -> bool) -> Option<ItemPath> {
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
pub fn uses(sources: &Sources) -> BTreeMap<&str, BTreeSet<String>> {
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

/// The sources of the crate: files below `src`, and their texts.
pub fn files() -> Vec<(String, String)> {
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

pub fn crate_sources() -> Sources {
    let files = files();
    sources(files.iter().map(|(file, text)| (file.as_str(), text.as_str())))
}
