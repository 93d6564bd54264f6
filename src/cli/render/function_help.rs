//! What is printed of a built-in function.

use classad::eval::Function;

/// What there is to know of a function, in a few lines.
pub fn described(function: &Function) -> String {
    let strict = "    in the papers' dialect an undefined or error argument decides\n";
    let strict = if function.strict { strict } else { "" };
    format!("{}\n    {}\n    {}\n{strict}", function.signature, function.doc, example(function))
}

/// An example with its value.
pub fn example(function: &Function) -> String {
    let example = &function.example;
    let dialect = example.dialect.map_or(String::new(), |dialect| format!("  (--dialect {dialect})"));
    format!("{} = {}{dialect}", example.call, example.value)
}
