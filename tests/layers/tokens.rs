//! The text of a file as tokens, without what only looks like code and without tests.

/// The code of a file without comments, strings and characters, in which a path may stand for something else.
pub fn code(text: &str) -> String {
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
pub fn tokens(code: &str) -> Vec<&str> {
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
pub fn without_tests<'t>(tokens: &[&'t str]) -> Vec<&'t str> {
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
