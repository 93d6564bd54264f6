//! Descriptions of built-in functions.

use classad::eval::BuiltinFunction;

/// Returns signature, documentation and example of a function, in a few lines.
pub fn function_description(function: &BuiltinFunction) -> String {
    let strict = "    in the papers' dialect, an undefined argument gives undefined, and an error gives an error\n";
    let strict = if function.kind.is_strict() { strict } else { "" };
    format!("{}\n    {}\n    {}\n{strict}", function.signature, function.doc, function_example(function))
}

/// Returns the example of a function with its value.
pub fn function_example(function: &BuiltinFunction) -> String {
    let example = &function.example;
    let dialect = example.dialect.map_or(String::new(), |dialect| format!("  (--dialect {dialect})"));
    format!("{} = {}{dialect}", example.call, example.value)
}
