//! Files and functions are small enough to be read at once.

use crate::sources::files;

/// Maximum number of lines of a file without its tests.
const MAX_LINES_OF_FILE: usize = 400;

/// Maximum number of lines of a function.
const MAX_LINES_OF_FUNCTION: usize = 60;

/// The lines of a file without its modules of tests.
fn lines_without_tests(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let is_of_tests =
            line.trim() == "#[cfg(test)]" && lines.peek().is_some_and(|next| next.trim().starts_with("mod "));
        if !is_of_tests {
            found.push(line);
        } else if lines.next().is_some_and(|module| module.ends_with('{')) {
            let end = line.replace("#[cfg(test)]", "}");
            lines.find(|line| **line == end);
        }
    }
    found
}

/// Whether a line begins a function.
fn begins_function(line: &str) -> bool {
    let mut rest = line.trim_start();
    if let Some(visible) = rest.strip_prefix("pub") {
        let of_scope = visible.strip_prefix('(').and_then(|scope| scope.split_once(')'));
        rest = of_scope.map_or(visible, |(_, rest)| rest).trim_start();
    }
    rest.strip_prefix("const ").unwrap_or(rest).starts_with("fn ")
}

/// The functions of more lines than one may have, as `name (lines)`.
fn long_functions(lines: &[&str]) -> Vec<String> {
    let length = |start: usize| {
        let first = lines[start];
        let indent = &first[..first.len() - first.trim_start().len()];
        let is_end = |line: &&str| {
            let rest = line.strip_prefix(indent);
            rest.is_some_and(|rest| rest == "}" || rest.starts_with(')') && rest.ends_with(';'))
        };
        let is_whole = first.ends_with(['}', ';']);
        if is_whole { 1 } else { 1 + lines[start..].iter().position(is_end).expect("a function ends") }
    };
    let functions = (0..lines.len()).filter(|start| begins_function(lines[*start]));
    let long = functions.map(|start| (start, length(start))).filter(|(_, length)| *length > MAX_LINES_OF_FUNCTION);
    long.map(|(start, length)| format!("{} ({length})", lines[start].trim())).collect()
}

#[test]
fn files_and_functions_are_small() {
    let is_of_tests = |file: &str| file.contains("/tests/") || file.ends_with("tests.rs");
    let mut long: Vec<String> = Vec::new();
    let mut functions = 0;
    for (file, text) in files().iter().filter(|(file, _)| !is_of_tests(file)) {
        let lines = lines_without_tests(text);
        functions += lines.iter().filter(|line| begins_function(line)).count();
        long.extend((lines.len() > MAX_LINES_OF_FILE).then(|| format!("{file}: {} lines", lines.len())));
        long.extend(long_functions(&lines).iter().map(|function| format!("{file}: {function}")));
    }
    assert!(functions > 5_000, "the functions were found");
    assert!(long.is_empty(), "divide what has too many lines: {long:#?}");
}

#[test]
fn a_long_function_is_caught() {
    let function = |lines: usize| format!("    pub(super) fn f() {{\n{}    }}", "        g();\n".repeat(lines - 2));
    let text = format!(
        "fn short() {{}}\n{}\n{}\n#[cfg(test)]\nmod tests {{\n{}\n}}\nend",
        function(60),
        function(61),
        function(99)
    );
    let lines = lines_without_tests(&text);
    assert_eq!((lines.len(), *lines.last().unwrap()), (1 + 60 + 61 + 1, "end"));
    assert_eq!(long_functions(&lines), ["pub(super) fn f() { (61)"]);
}
