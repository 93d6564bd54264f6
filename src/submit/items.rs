//! The items of queue statements that are in files, or are names of files.

use std::fs;
use std::path::Path;

use rustc_hash::FxHashSet;

use crate::format::Problem;
use crate::transform::{self, is_variable};

use super::SubmitSettings;
use super::job_builder::truth_of;
use super::queue::{ItemKind, ItemSource, MatchedNames, QueueArguments};
use super::variables::SubmitVariables;

/// Maximum number of names of files that are compared with patterns.
const MAX_COMPARED_NAMES: usize = 1_000_000;

/// Reads a file that a submit file names: a regular file of bounded size.
///
/// # Errors
///
/// The reason, as a phrase.
pub(super) fn read_named_file(path: &str, settings: &SubmitSettings) -> Result<String, String> {
    transform::read_named_file(&Path::new(&settings.working_directory).join(path))
}

/// What commands say of `queue ... matching`.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is a command
pub(super) struct MatchingOptions {
    /// What is matched if the statement does not say it.
    usual: MatchedNames,
    keeps_repeated: bool,
    warns_of_repeated: bool,
    refuses_unmatched: bool,
    warns_of_unmatched: bool,
}

impl MatchingOptions {
    pub fn of(variables: &SubmitVariables, settings: &SubmitSettings) -> Result<Self, Problem> {
        let truth = |names: [&str; 2], default: bool| {
            let Some(value) = variables.value(&names)?.0 else { return Ok(default) };
            let fault = || value.fault(format!("{} must be true or false", value.name));
            truth_of(&value.text, &settings.context).ok_or_else(fault)
        };
        let folders = variables.value(&["SubmitMatchDirectories", "submit_match_directories"])?.0;
        let usual = match folders {
            None => MatchedNames::Any,
            Some(value) => match value.text.to_ascii_lowercase().as_str() {
                "yes" | "true" => MatchedNames::Any,
                "never" | "no" | "false" => MatchedNames::Files,
                "only" => MatchedNames::Folders,
                _ => {
                    let problem = value.fault(format!("{} cannot be `{}`", value.name, value.text));
                    return Err(problem.with_help("write yes, no or only"));
                }
            },
        };
        Ok(MatchingOptions {
            usual,
            keeps_repeated: truth(["SubmitAllowDuplicateMatches", "submit_allow_duplicate_matches"], false)?,
            warns_of_repeated: truth(["SubmitWarnDuplicateMatches", "submit_warn_duplicate_matches"], true)?,
            refuses_unmatched: truth(["SubmitFailEmptyMatches", "submit_fail_empty_matches"], false)?,
            warns_of_unmatched: truth(["SubmitWarnEmptyMatches", "submit_warn_empty_matches"], true)?,
        })
    }
}

impl QueueArguments {
    /// Adds the items that are not in the submit file: the lines of a file, and names that match the patterns.
    ///
    /// # Errors
    ///
    /// The reason, as a phrase.
    pub fn load(&mut self, settings: &SubmitSettings, options: MatchingOptions) -> Result<(), String> {
        if let ItemSource::File(name) = &self.source {
            if name.ends_with('|') {
                return Err("no program is run for items: write them to a file".to_owned());
            }
            if name == "-" {
                return Err("items are not read from standard input: write them to a file".to_owned());
            }
            let text = read_named_file(name, settings)?;
            // A comment is an item, as in HTCondor. A backslash at the end of a line joins it to the next.
            let mut joined = String::new();
            for line in text.lines() {
                joined.push_str(line.trim());
                match joined.strip_suffix('\\') {
                    Some(beginning) => joined = beginning.to_owned(),
                    None => self.add_line(&std::mem::take(&mut joined)),
                }
            }
            if !joined.is_empty() {
                self.add_line(&joined);
            }
        }
        if let ItemKind::Patterns(names) = self.kind {
            let patterns = std::mem::take(&mut self.items);
            let names = if names == MatchedNames::Usual { options.usual } else { names };
            let mut found = FxHashSet::default();
            let mut compared = 0;
            for pattern in &patterns {
                let mut matches = matching_names(pattern, &settings.working_directory, &mut compared)?;
                matches.retain(|name| match names {
                    MatchedNames::Files => !name.ends_with('/'),
                    MatchedNames::Folders => name.ends_with('/'),
                    MatchedNames::Usual | MatchedNames::Any => true,
                });
                if matches.is_empty() && options.refuses_unmatched {
                    return Err(format!("no name matches `{pattern}`"));
                }
                if matches.is_empty() && options.warns_of_unmatched {
                    self.doubts.push(format!("no name matches `{pattern}`"));
                }
                for name in matches {
                    if found.insert(name.clone()) || options.keeps_repeated {
                        self.items.push(name);
                    } else if options.warns_of_repeated {
                        self.doubts.push(format!("`{name}` matches twice: it is one item"));
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes the names of the variables from the heading of the table, if it has one. As in HTCondor, a heading that names
    /// no variables is an item.
    pub fn take_heading(&mut self) {
        let Some(header) = self.table.header else { return };
        let Some(heading) = self.items.get(header) else {
            self.doubts.push(format!("the table has no line {} with the names of its columns", header + 1));
            return;
        };
        let names: Vec<String> = self.table.split(heading, None).into_iter().map(str::to_owned).collect();
        if let Some(wrong) = names.iter().find(|name| !is_variable(name)) {
            self.doubts.push(format!("the column `{wrong}` has no name of a variable: the heading counts as an item"));
            return;
        }
        self.variables = names;
        self.items.remove(header);
        // As in HTCondor, the lines before the heading are items but for one, and `skip` counts from the first of them.
        let left_out = if header > 0 { header - 1 + self.table.skipped } else { 0 };
        self.items.drain(..left_out.min(self.items.len()));
    }
}

/// Returns the names of files and folders that match a pattern, sorted. A slash is behind those of folders.
fn matching_names(pattern: &str, folder: &str, compared: &mut usize) -> Result<Vec<String>, String> {
    let (mut found, rest) = match pattern.strip_prefix('/') {
        Some(rest) => (vec!["/".to_owned()], rest),
        None => (vec![String::new()], pattern),
    };
    let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
    for (index, part) in parts.iter().enumerate() {
        let is_last = index + 1 == parts.len();
        let mut next = Vec::new();
        for before in found {
            let place = Path::new(folder).join(&before);
            let mut names: Vec<String> = Vec::new();
            if part.contains(['*', '?', '[']) {
                for entry in fs::read_dir(&place).into_iter().flatten().flatten() {
                    *compared += 1;
                    if *compared > MAX_COMPARED_NAMES {
                        return Err(format!("more than {MAX_COMPARED_NAMES} names would be compared with patterns"));
                    }
                    let name = entry.file_name().to_string_lossy().into_owned();
                    if (!name.starts_with('.') || part.starts_with('.')) && matches_pattern(part, &name) {
                        names.push(name);
                    }
                }
                names.sort();
            } else if place.join(part).exists() {
                names.push((*part).to_owned());
            }
            for name in names {
                let is_folder = place.join(&name).is_dir();
                if is_last || is_folder {
                    next.push(format!("{before}{name}{}", if is_folder { "/" } else { "" }));
                }
            }
        }
        found = next;
    }
    found.retain(|name| !name.is_empty());
    Ok(found)
}

/// Whether a name matches a pattern of `*`, `?` and `[...]`. O(n m) in their lengths.
pub(super) fn matches_pattern(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut place) = (0, 0);
    // The last star, and the place in the name up to which it stands.
    let mut star: Option<(usize, usize)> = None;
    while place < name.len() {
        let step = match pattern.get(at) {
            Some('*') => {
                star = Some((at, place));
                at += 1;
                continue;
            }
            Some('?') => Some(1),
            Some('[') => class_length(&pattern[at..], name[place]),
            Some(c) if *c == name[place] => Some(1),
            _ => None,
        };
        match (step, star) {
            (Some(step), _) => (at, place) = (at + step, place + 1),
            (None, Some((star_at, behind))) => {
                star = Some((star_at, behind + 1));
                (at, place) = (star_at + 1, behind + 1);
            }
            (None, None) => return false,
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

/// Returns the length of a class such as `[a-c]` at the beginning of a pattern if it has a character.
fn class_length(pattern: &[char], c: char) -> Option<usize> {
    let end = pattern.iter().skip(2).position(|c| *c == ']')? + 2;
    let is_negated = matches!(pattern[1], '!' | '^');
    let inside = &pattern[1 + usize::from(is_negated)..end];
    let mut has = false;
    let mut at = 0;
    while at < inside.len() {
        if let [low, '-', high, ..] = inside[at..] {
            has |= (low..=high).contains(&c);
            at += 3;
        } else {
            has |= inside[at] == c;
            at += 1;
        }
    }
    (has != is_negated).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("*.txt", "a.txt", true),
            ("*.txt", "a.txt.gz", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("*a*b", "xaab", true),
            ("", "", true),
            ("*", "", true),
            ("a", "", false),
            ("", "a", false),
            ("?", "", false),
            ("a*", "a", true),
            ("a*b*c", "axbxbc", true),
            ("a*b*c", "acb", false),
            ("**", "ab", true),
            ("*?", "a", true),
            ("*?", "", false),
            ("a*?", "a", false),
            ("[abc]", "c", true),
            ("[abc]", "d", false),
            ("[a-c]", "a", true),
            ("[a-c]", "c", true),
            ("[a-c]", "d", false),
            ("[a-c]", "-", false),
            ("[a-]", "-", true),
            ("[-a]", "-", true),
            ("[]a]", "]", true),
            ("[]a]", "b", false),
            ("[!a]", "a", false),
            ("[^a]", "b", true),
            ("[^a]", "^", true),
            ("[!]a]", "]", false),
            ("[a-ce-g]x", "fx", true),
            ("[a-ce-g]x", "dx", false),
            ("[a", "[a", false),
            ("[]", "[]", false),
            ("*[ab]", "xyb", true),
            ("*[ab]c", "xbac", true),
            ("\u{e9}?", "\u{e9}\u{e9}", true),
        ] {
            assert_eq!(matches_pattern(pattern, name), expected, "{pattern} {name}");
        }
    }
}
