//! Functions about texts in submit files: arguments, environments, users. All of them are HTCondor's own.

use std::collections::BTreeMap;

use crate::ad::{ByteString, Type, Value};

use super::super::Abort;
use super::arguments::{
    ArgumentResult, BoundedString, excerpt, list_of_strings, require_string, value_of_call, with_values,
};
use super::{BuiltinFunction, Call};

pub(super) const FUNCTIONS: &[BuiltinFunction] = &[
    function!(argsToList(1, 2) Lazy "(string [, 1 | 2]) -> list",
        "the arguments that a text of the second syntax, or the first, stands for",
        both "argsToList(\"a 'b c'\")" => "{ \"a\", \"b c\" }",
        |call| with_values(call, arguments_to_list)),
    function!(listToArgs(1, 2) Lazy "(list [, 1 | 2]) -> string",
        "the text, in the second syntax or the first, that stands for a list of arguments",
        both "listToArgs({ \"a\", \"b c\" })" => "\"a b' 'c\"",
        list_to_arguments),
    function!(envV1ToV2(1, 1) Strict "(string) -> string",
    "an environment of the first syntax in the second",
    both "envV1ToV2(\"B=2;A=1\")" => "\"A=1 B=2\"",
    |call| {
        let value = call.value(0)?;
        value_of_call(environment_v1_to_v2(call, &value))
    }),
    function!(mergeEnvironment(0, _) Lazy "(string...) -> string",
        "one environment of several, all in the second syntax; the last value of a variable counts",
        both "mergeEnvironment(\"A=1\", undefined, \"A=2 B=3\")" => "\"A=2 B=3\"",
        |call| with_values(call, merge_environments)),
    function!(userHome(1, 2) Lazy "(string [, default]) -> string",
        "a user's home; no host is asked for it, so the default, or undefined without one",
        both "userHome(\"ann\", \"/home\")" => "\"/home\"",
        |call| with_values(call, user_home)),
    function!(userMap(2, 4) Lazy "(map, user [, preferred [, default]]) -> any",
    "what a configured map makes of a user; no map is configured, so the default, or undefined without one",
    both "userMap(\"groups\", \"ann\", \"physics\", \"none\")" => "\"none\"",
    |call| {
        let values = call.all_values()?;
        Ok(user_map(&values))
    }),
];

/// Syntax of an argument string; the first one has no quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ArgumentSyntax {
    First,
    Second,
}

impl ArgumentSyntax {
    /// Returns the syntax that an argument of the call names; the second by default.
    fn of(call: &Call<'_, '_>, value: Option<&Value>) -> ArgumentResult<Self> {
        match value {
            None | Some(Value::Integer(2)) => Ok(ArgumentSyntax::Second),
            Some(Value::Integer(1)) => Ok(ArgumentSyntax::First),
            Some(Value::Integer(other)) => Err(call.error(format!("there is no syntax {other}, only 1 and 2"))),
            Some(other) => Err(call.type_error(other, "1 or 2")),
        }
    }
}

fn arguments_to_list(call: &Call<'_, '_>, values: &[Value]) -> ArgumentResult<Value> {
    let syntax = ArgumentSyntax::of(call, values.get(1))?;
    let text = require_string(call, values.first().unwrap_or(&Value::Undefined))?;
    let words = match syntax {
        ArgumentSyntax::First => {
            text.as_bytes().split(|byte| is_blank(*byte)).filter(|word| !word.is_empty()).map(<[u8]>::to_vec).collect()
        }
        ArgumentSyntax::Second => split_words(call, text.as_bytes())?,
    };
    Ok(list_of_strings(call, words))
}

/// Whether the byte separates words, so that it must be quoted within one.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Splits a text of the second syntax into words. Text between single quotes belongs to a word, including blanks; a
/// single quote within is written twice.
fn split_words(call: &Call<'_, '_>, text: &[u8]) -> ArgumentResult<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quoted = false;
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte == b'\'' {
            // Quotes begin a word, even an empty one.
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
    if quoted {
        return Err(call.error("a single quote is not closed"));
    }
    words.extend(word);
    Ok(words)
}

fn list_to_arguments(call: &mut Call<'_, '_>) -> Result<Value, Abort> {
    let values = call.all_values()?;
    let syntax = match ArgumentSyntax::of(call, values.get(1)) {
        Ok(syntax) => syntax,
        Err(decided) => return Ok(decided),
    };
    let words = match values.first() {
        Some(Value::List(list)) => call.elements(list)?,
        other => return Ok(call.type_error(other.unwrap_or(&Value::Undefined), "a list")),
    };
    value_of_call(join_words(call, &words, syntax))
}

fn join_words(call: &Call<'_, '_>, words: &[Value], syntax: ArgumentSyntax) -> ArgumentResult<Value> {
    let mut draft = BoundedString::default();
    for word in words {
        let word = require_string(call, word)?;
        match syntax {
            ArgumentSyntax::First => append_word_v1(call, &mut draft, &word)?,
            ArgumentSyntax::Second => append_word_v2(&mut draft, word.as_bytes()),
        }
    }
    Ok(draft.finish(call))
}

/// Appends a word in the first syntax, which cannot express words with blanks.
fn append_word_v1(call: &Call<'_, '_>, draft: &mut BoundedString, word: &ByteString) -> ArgumentResult<()> {
    if word.as_bytes().iter().any(|byte| is_blank(*byte)) {
        return Err(call.error(format!("the first syntax cannot write `{}`", excerpt(word.as_bytes()))));
    }
    separate(draft);
    draft.push(word.as_bytes());
    Ok(())
}

/// Appends a word in the second syntax: each run of blanks and quotes is enclosed in quotes.
fn append_word_v2(draft: &mut BoundedString, word: &[u8]) {
    separate(draft);
    if word.is_empty() {
        draft.push(b"''");
    }
    for byte in word {
        if !is_blank(*byte) && *byte != b'\'' {
            draft.push(&[*byte]);
            continue;
        }
        // Reopens quotes that were just closed.
        if draft.last() == Some(b'\'') {
            draft.pop();
        } else {
            draft.push(b"'");
        }
        draft.push(if *byte == b'\'' { b"''" } else { std::slice::from_ref(byte) });
        draft.push(b"'");
    }
}

fn separate(draft: &mut BoundedString) {
    if !draft.is_empty() {
        draft.push(b" ");
    }
}

/// Variables of an environment, in the order of their names. An unexpanded macro of a submit file is an entry without
/// a value.
#[derive(Default)]
struct EnvironmentVariables(BTreeMap<Vec<u8>, Option<Vec<u8>>>);

impl EnvironmentVariables {
    /// Sets a variable from an entry `NAME=value`.
    fn set(&mut self, call: &Call<'_, '_>, entry: &[u8]) -> ArgumentResult<()> {
        match entry.iter().position(|byte| *byte == b'=') {
            Some(0) => Err(call.error(format!("a name is missing in `{}`", excerpt(entry)))),
            Some(sign) => {
                self.0.insert(entry[..sign].to_vec(), Some(entry[sign + 1..].to_vec()));
                Ok(())
            }
            None if entry.windows(2).any(|pair| pair == b"$$") => {
                self.0.insert(entry.to_vec(), None);
                Ok(())
            }
            None => Err(call.error(format!("`=` is missing in `{}`", excerpt(entry)))),
        }
    }

    /// Returns the environment in the second syntax.
    fn text(&self, call: &Call<'_, '_>) -> Value {
        let mut draft = BoundedString::default();
        for (name, value) in &self.0 {
            let mut entry = name.clone();
            if let Some(value) = value {
                entry.push(b'=');
                entry.extend_from_slice(value);
            }
            append_word_v2(&mut draft, &entry);
        }
        draft.finish(call)
    }
}

fn environment_v1_to_v2(call: &Call<'_, '_>, value: &Value) -> ArgumentResult<Value> {
    if value.value_type() == Type::Undefined {
        return Err(Value::Undefined);
    }
    let text = require_string(call, value)?;
    let mut variables = EnvironmentVariables::default();
    let (delimiter, entries) = split_delimiter(text.as_bytes());
    for entry in entries.split(|byte| *byte == delimiter || *byte == b'\n') {
        let start = entry.iter().take_while(|byte| is_blank(**byte)).count();
        if start < entry.len() {
            variables.set(call, &entry[start..])?;
        }
    }
    Ok(variables.text(call))
}

/// Returns the delimiter of an environment in the first syntax, and its entries. The delimiter is a semicolon, unless
/// the text begins with another permitted mark.
fn split_delimiter(text: &[u8]) -> (u8, &[u8]) {
    const MARKS: &[u8] = b"\x1f!#$%&*+,-/:<>?@^`|~";
    match text {
        [mark, rest @ ..] if MARKS.contains(mark) => (*mark, rest),
        _ => (b';', text),
    }
}

fn merge_environments(call: &Call<'_, '_>, values: &[Value]) -> ArgumentResult<Value> {
    let mut variables = EnvironmentVariables::default();
    for value in values.iter().filter(|value| value.value_type() != Type::Undefined) {
        let text = require_string(call, value)?;
        for entry in split_words(call, text.as_bytes())? {
            variables.set(call, &entry)?;
        }
    }
    Ok(variables.text(call))
}

/// Behaves as HTCondor does when `CLASSAD_ENABLE_USER_HOME` is off: expressions must not query the users of a host.
fn user_home(call: &Call<'_, '_>, values: &[Value]) -> ArgumentResult<Value> {
    if let Some(default @ Value::String(text)) = values.get(1)
        && !text.as_bytes().is_empty()
    {
        return Ok(default.clone());
    }
    match values.first() {
        Some(Value::String(_) | Value::Undefined) | None => Ok(Value::Undefined),
        Some(other) => Err(call.type_error(other, "a string")),
    }
}

/// Behaves as HTCondor does when no maps are configured.
fn user_map(values: &[Value]) -> Value {
    if values.iter().take(2).all(|value| value.value_type() == Type::String) {
        return values.get(3).cloned().unwrap_or(Value::Undefined);
    }
    let error = values.iter().take(2).find(|value| value.value_type() == Type::Error);
    error.or(values.get(3)).cloned().unwrap_or(Value::Undefined)
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
