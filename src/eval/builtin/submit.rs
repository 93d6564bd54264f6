//! Functions about texts in submit files: arguments, environments, users. All of them are HTCondor's own.

use std::collections::BTreeMap;

use crate::ad::{ByteString, Type, Value};

use super::super::pattern::excerpt;
use super::arguments::{BoundedString, list_of_strings};
use super::{BuiltinFunction, Call, CallResult};

pub(super) const FUNCTIONS: &[BuiltinFunction] = &[
    function!(argsToList(1, 2) Lazy "(string [, 1 | 2]) -> list",
        "split a string of arguments in the new syntax; with 1, in the old syntax",
        both "argsToList(\"a 'b c'\")" => "{ \"a\", \"b c\" }",
        arguments_to_list),
    function!(listToArgs(1, 2) Lazy "(list [, 1 | 2]) -> string",
        "write a list of arguments as a string in the new syntax; with 1, in the old syntax",
        both "listToArgs({ \"a\", \"b c\" })" => "\"a b' 'c\"",
        list_to_arguments),
    function!(envV1ToV2(1, 1) Strict "(string) -> string",
        "convert an environment from the old syntax to the new one",
        both "envV1ToV2(\"B=2;A=1\")" => "\"A=1 B=2\"",
        environment_v1_to_v2),
    function!(mergeEnvironment(0, _) Lazy "(string...) -> string",
        "merge environments in the new syntax; the last value of a variable counts",
        both "mergeEnvironment(\"A=1\", undefined, \"A=2 B=3\")" => "\"A=2 B=3\"",
        merge_environments),
    function!(userHome(1, 2) Lazy "(user [, default]) -> string",
        "return the default, or undefined without one; the user's home is not looked up",
        both "userHome(\"ann\", \"/home\")" => "\"/home\"",
        user_home),
    function!(userMap(2, 4) Lazy "(map, user [, preferred [, default]]) -> any",
        "look up a user in a map of --map or --config: all results as a string; with `preferred`, this result if it \
        is one of them, else the first; `default` if there are none",
        both "userMap(\"groups\", \"ann\", \"physics\", \"none\")" => "\"none\"",
        user_map),
];

/// HTCondor's two syntaxes for a string of program arguments. Only the second has quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ArgumentSyntax {
    First,
    Second,
}

/// Returns the syntax that the second argument, 1 or 2, selects; the second syntax if the call lacks the argument.
fn argument_syntax(call: &mut Call<'_, '_>) -> CallResult<ArgumentSyntax> {
    let number = if call.arguments.len() > 1 { call.value(1)? } else { Value::Integer(2) };
    match &number {
        Value::Integer(1) => Ok(ArgumentSyntax::First),
        Value::Integer(2) => Ok(ArgumentSyntax::Second),
        Value::Integer(other) => Err(call.error(format!("the syntax must be 1 or 2, not {other}")).into()),
        other => Err(call.type_error(other, "1 or 2").into()),
    }
}

fn arguments_to_list(call: &mut Call<'_, '_>) -> CallResult {
    call.evaluate_all()?;
    let syntax = argument_syntax(call)?;
    let text = call.string(0)?;
    let words = match syntax {
        ArgumentSyntax::First => {
            text.as_bytes().split(|byte| is_blank(*byte)).filter(|word| !word.is_empty()).map(<[u8]>::to_vec).collect()
        }
        ArgumentSyntax::Second => split_words(call, text.as_bytes())?,
    };
    list_of_strings(call, words)
}

/// Whether the byte separates words, so that it must be quoted inside a word.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Splits a text of the second syntax into words. Blanks between single quotes belong to the word. A single quote is
/// written twice between quotes.
fn split_words(call: &Call<'_, '_>, text: &[u8]) -> CallResult<Vec<Vec<u8>>> {
    quoted_words(text).ok_or_else(|| call.error("a single quote is not closed").into())
}

/// Splits a text of the second syntax into words; `None` if a single quote is not closed.
pub(crate) fn quoted_words(text: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quoted = false;
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte == b'\'' {
            // A quote begins a word even if nothing follows before the closing quote: `''` is an empty word.
            let word = word.get_or_insert_default();
            if quoted && bytes.next_if_eq(&b'\'').is_some() {
                word.push(byte);
            } else {
                quoted = !quoted;
            }
        } else if is_blank(byte) && !quoted {
            words.extend(word.take());
        } else {
            word.get_or_insert_default().push(byte);
        }
    }
    words.extend(word);
    (!quoted).then_some(words)
}

fn list_to_arguments(call: &mut Call<'_, '_>) -> CallResult {
    call.evaluate_all()?;
    let syntax = argument_syntax(call)?;
    let words = match call.value(0)? {
        Value::List(list) => call.elements(&list)?,
        other => return Ok(call.type_error(&other, "a list")),
    };
    let mut text = BoundedString::new(call);
    for word in words {
        let word = call.require_string(word)?;
        let word = word.as_bytes();
        match syntax {
            // The first syntax cannot express words with blanks.
            ArgumentSyntax::First if word.iter().any(|byte| is_blank(*byte)) => {
                return Ok(call.error(format!("the old syntax cannot express `{}`", excerpt(word))));
            }
            ArgumentSyntax::First => {
                separate(&mut text);
                text.push(word);
            }
            ArgumentSyntax::Second => append_word(&mut text, word),
        }
    }
    text.finish(call)
}

/// Appends a word in the second syntax.
fn append_word(text: &mut BoundedString, word: &[u8]) {
    separate(text);
    text.push(&quoted_word(word));
}

/// Returns a word in the second syntax. Each run of blanks and single quotes in it is enclosed in single quotes.
pub(crate) fn quoted_word(word: &[u8]) -> Vec<u8> {
    let mut text = if word.is_empty() { b"''".to_vec() } else { Vec::with_capacity(word.len()) };
    for byte in word {
        if !is_blank(*byte) && *byte != b'\'' {
            text.push(*byte);
            continue;
        }
        // The previous byte was quoted, too: its closing quote is removed, so that one pair of quotes encloses both.
        if text.last() == Some(&b'\'') {
            text.pop();
        } else {
            text.push(b'\'');
        }
        text.extend_from_slice(if *byte == b'\'' { b"''" } else { std::slice::from_ref(byte) });
        text.push(b'\'');
    }
    text
}

fn separate(text: &mut BoundedString) {
    if !text.bytes.is_empty() {
        text.push(b" ");
    }
}

/// Variables of an environment, in the order of their names. An entry without a value is a macro of a submit file that
/// is not expanded yet, such as `$$(Arch)`.
#[derive(Default)]
struct EnvironmentVariables(BTreeMap<Vec<u8>, Option<Vec<u8>>>);

impl EnvironmentVariables {
    /// Sets the variable of an entry `NAME=value`. An entry without `=` is accepted only if it is a macro such as
    /// `$$(Arch)`.
    fn set(&mut self, call: &Call<'_, '_>, entry: &[u8]) -> CallResult<()> {
        let (name, value) = match memchr::memchr(b'=', entry) {
            Some(0) => return Err(call.error(format!("`{}` lacks a name", excerpt(entry))).into()),
            Some(sign) => (&entry[..sign], Some(entry[sign + 1..].to_vec())),
            None if memchr::memmem::find(entry, b"$$").is_some() => (entry, None),
            None => return Err(call.error(format!("`=` is missing in `{}`", excerpt(entry))).into()),
        };
        self.0.insert(name.to_vec(), value);
        Ok(())
    }

    /// Returns the environment in the second syntax.
    fn text(&self, call: &Call<'_, '_>) -> CallResult {
        let mut text = BoundedString::new(call);
        for (name, value) in &self.0 {
            let mut entry = name.clone();
            if let Some(value) = value {
                entry.push(b'=');
                entry.extend_from_slice(value);
            }
            append_word(&mut text, &entry);
        }
        text.finish(call)
    }
}

fn environment_v1_to_v2(call: &mut Call<'_, '_>) -> CallResult {
    call.reject_undefined()?;
    let text = call.string(0)?;
    let mut variables = EnvironmentVariables::default();
    // Entries are separated by semicolons. If the text begins with another mark, such as `|`, they are separated by the
    // mark.
    let (delimiter, entries) = match text.as_bytes() {
        [mark, rest @ ..] if b"\x1f!#$%&*+,-/:<>?@^`|~".contains(mark) => (*mark, rest),
        entries => (b';', entries),
    };
    for entry in entries.split(|byte| *byte == delimiter || *byte == b'\n') {
        if let Some(start) = entry.iter().position(|byte| !is_blank(*byte)) {
            variables.set(call, &entry[start..])?;
        }
    }
    variables.text(call)
}

fn merge_environments(call: &mut Call<'_, '_>) -> CallResult {
    call.evaluate_all()?;
    let mut variables = EnvironmentVariables::default();
    for index in 0..call.arguments.len() {
        let value = call.value(index)?;
        if value.value_type() != Type::Undefined {
            let text = call.require_string(value)?;
            for entry in split_words(call, text.as_bytes())? {
                variables.set(call, &entry)?;
            }
        }
    }
    variables.text(call)
}

/// Implements `userHome()` as HTCondor does when `CLASSAD_ENABLE_USER_HOME` is off. Expressions must not query the
/// users of a host, so the result is the second argument, the default; undefined if there is none.
fn user_home(call: &mut Call<'_, '_>) -> CallResult {
    match (call.value(0)?, call.value(1)?) {
        (_, Value::String(default)) if !default.as_bytes().is_empty() => Ok(Value::String(default)),
        (Value::String(_) | Value::Undefined, _) => Ok(Value::Undefined),
        (other, _) => Ok(call.type_error(&other, "a string")),
    }
}

/// Implements `userMap()`. With two arguments the result is what the map makes of the user, a string with items. With a
/// preferred item it is this item if the map has it, else the first. A user whom the map does not know has the default,
/// undefined if there is none.
fn user_map(call: &mut Call<'_, '_>) -> CallResult {
    call.evaluate_all()?;
    let (map, user) = match (call.value(0)?, call.value(1)?) {
        (Value::String(map), Value::String(user)) => (map, user),
        (map, user) => {
            let error = [map, user].into_iter().find(|value| value.value_type() == Type::Error);
            return Ok(error.map_or_else(|| call.value(3), Ok)?);
        }
    };
    let maps = &call.evaluator.context.user_maps;
    let found = call.evaluator.spending.search(|steps| maps.look_up_within(&map.to_str(), user.as_bytes(), steps))?;
    let Some(found) = found.ok().flatten() else { return Ok(call.value(3)?) };
    if call.arguments.len() == 2 {
        return Ok(Value::String(ByteString::from(found)));
    }
    let items = || found.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|item| !item.is_empty());
    let preferred = match call.value(2)? {
        Value::String(wanted) => items().find(|item| item.eq_ignore_ascii_case(wanted.as_bytes())),
        _ => None,
    };
    Ok(match preferred.or_else(|| items().next()) {
        Some(item) => Value::String(ByteString::from(item.to_vec())),
        None => call.value(3)?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::arguments::testing::check;

    #[test]
    fn quotes_make_words() {
        check(&[
            ("argsToList(\" \")", "{ }"),
            ("argsToList(\"a'b c'd\")", "{ \"ab cd\" }"),
            ("argsToList(\"a '' b\")", "{ \"a\", \"\", \"b\" }"),
            ("argsToList(\"'it''s'\")", "{ \"it's\" }"),
            ("argsToList(\"a''b\")", "{ \"ab\" }"),
            ("argsToList(\"'a\")", "error"),
            ("argsToList(\"'a b'\", 1)", "{ \"'a\", \"b'\" }"),
            ("argsToList(\"a\", 3)", "error"),
            ("argsToList(\"a\", 4294967297)", "error"),
        ]);
    }

    #[test]
    fn words_are_quoted() {
        check(&[
            ("listToArgs({ \"\", \"a\" })", "\"'' a\""),
            ("listToArgs({ \"it's\" })", "\"it''''s\""),
            ("listToArgs({ \"a b'\", \"' c\" })", "\"a' 'b'''' ''' 'c\""),
            ("listToArgs({ \"'' \" })", "\"''''' '\""),
            ("listToArgs({ \"a\", \"\", \"b\" }, 1)", "\"a  b\""),
            ("listToArgs({ \"a b\" }, 1)", "error"),
            ("listToArgs({ 1 })", "error"),
        ]);
    }

    #[test]
    fn environments_are_sorted_by_name() {
        check(&[
            ("envV1ToV2(\"A=1;B=2 3;C=\")", "\"A=1 B=2' '3 C=\""),
            ("envV1ToV2(\"|A=1;x|B=2\")", "\"A=1;x B=2\""),
            ("envV1ToV2(\" |A=1|B=2\")", "\"|A=1|B=2\""),
            ("envV1ToV2(\"A=1;$$(X)\")", "\"$$(X) A=1\""),
            ("envV1ToV2(\"=\")", "error"),
            ("envV1ToV2(\"A\")", "error"),
            ("mergeEnvironment(\"Z=1 b=2 AA=3\", \"A='x y' AA=4\")", "\"A=x' 'y AA=4 Z=1 b=2\""),
            ("mergeEnvironment(\"''\")", "error"),
            ("mergeEnvironment(\"A=1\", error)", "error"),
            ("mergeEnvironment(\"$$A=1 $$A\")", "\"$$A\""),
        ]);
    }

    #[test]
    fn no_host_is_asked() {
        check(&[
            ("userHome(\"root\")", "undefined"),
            ("userHome(1, \"/d\")", "\"/d\""),
            ("userHome(1)", "error"),
            ("userHome(undefined, \"\")", "undefined"),
            ("userMap(\"m\", \"u\")", "undefined"),
            ("userMap(error, \"u\", \"p\", \"d\")", "error"),
            ("userMap(1, 2, 3, 4)", "4"),
        ]);
    }
}
