//! What CONTRIBUTING says of the house is there: files, and the functions on the ways through it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Returns the parts of a text between backticks.
fn code_words(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn collect_files(folder: &Path, files: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_files(&path, files);
        } else {
            files.insert(path.to_str().unwrap().to_owned());
        }
    }
}

fn files_of_the_tree() -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    for folder in ["src", "tests", "benches", "examples", "fuzz/checks", "man", "completions"] {
        collect_files(Path::new(folder), &mut files);
    }
    files
}

fn is_source(word: &str) -> bool {
    Path::new(word).extension().is_some_and(|extension| extension == "rs")
}

/// Whether a word names a file of the tree: by its whole path, or by the end of it.
fn names_file(word: &str, files: &BTreeSet<String>) -> bool {
    Path::new(word).exists() || files.iter().any(|file| file.ends_with(&format!("/{word}")))
}

#[test]
fn each_named_file_exists() {
    let (text, files) = (fs::read_to_string("CONTRIBUTING.md").unwrap(), files_of_the_tree());
    let is_path = |word: &&str| {
        let is_plain = word.chars().all(|letter| letter.is_alphanumeric() || "/_.-".contains(letter));
        let is_of_tree = ["src/", "tests/", "benches/", "examples/", "fuzz/"].iter().any(|root| word.starts_with(root));
        is_plain && (is_source(word) || is_of_tree)
    };
    let named: Vec<&str> = code_words(&text).filter(is_path).collect();
    assert!(named.len() > 150, "{}", named.len());
    let missing: Vec<&&str> = named.iter().filter(|word| !names_file(word, &files)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Whether a text has a word, or the function of this name if the word is not a type.
fn has_item(text: &str, item: &str) -> bool {
    if item.starts_with(char::is_uppercase) {
        let is_end = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
        return text
            .match_indices(item)
            .any(|(at, _)| is_end(text[..at].chars().next_back()) && is_end(text[at + item.len()..].chars().next()));
    }
    text.contains(&format!("fn {item}(")) || text.contains(&format!("fn {item}<"))
}

/// Each function of a way is in a file that the way has named.
#[test]
fn each_way_is_true() {
    let (text, files) = (fs::read_to_string("CONTRIBUTING.md").unwrap(), files_of_the_tree());
    let section = text.split("\n## ").find(|section| section.starts_with("Three ways")).unwrap();
    let ways: Vec<&str> = section.split("\n1. ").skip(1).collect();
    assert_eq!(ways.len(), 3);
    for way in ways {
        let steps: Vec<&str> = way.lines().take_while(|line| !line.is_empty()).collect();
        assert!((5..=10).contains(&steps.len()), "{steps:?}");
        let mut known: Vec<String> = Vec::new();
        for step in steps {
            let mut folder = known.last().map_or("", |path| path.rsplit_once('/').unwrap().0).to_owned();
            for path in code_words(step).filter(|word| is_source(word)) {
                let path = if path.contains('/') { path.to_owned() } else { format!("{folder}/{path}") };
                assert!(files.contains(&path), "{path}: {step}");
                path.rsplit_once('/').unwrap().0.clone_into(&mut folder);
                known.push(path);
            }
            for word in code_words(step).filter(|word| !is_source(word)) {
                let is_there = |path: &String| {
                    let text = fs::read_to_string(path).unwrap();
                    word.split("::").all(|item| has_item(&text, item))
                };
                assert!(known.iter().any(is_there), "{word}: {step}");
            }
        }
    }
}
