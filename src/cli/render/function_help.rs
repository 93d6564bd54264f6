//! Descriptions of built-in functions.

use classad::eval::BuiltinFunction;

/// Returns the dialects that have a function, in a word.
pub fn function_dialects(function: &BuiltinFunction) -> &'static str {
    if function.replacement.is_some() { "classad" } else { "both" }
}

/// Returns signature, documentation and example of a function, in a few lines.
pub fn function_description(function: &BuiltinFunction) -> String {
    let strict = "    in the papers' dialect, an undefined argument gives undefined, and an error gives an error\n";
    let strict = if function.kind.is_strict() { strict } else { "" };
    let alone = function.replacement.map_or(String::new(), |replacement| {
        format!("    only in the papers' dialect; for HTCondor write {replacement}\n")
    });
    format!("{}\n    {}\n    {}\n{strict}{alone}", function.signature, function.doc, function_example(function))
}

/// Returns the example of a function with its value.
pub fn function_example(function: &BuiltinFunction) -> String {
    let example = &function.example;
    let dialect = example.dialect.map_or(String::new(), |dialect| format!("  (--dialect {dialect})"));
    format!("{} = {}{dialect}", example.call, example.value)
}
