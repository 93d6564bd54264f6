//! The sample pool, which is inside the program: inputs such as `demo:slots`.

/// The inputs of the sample pool: the argument, the name of the file and its contents.
pub const DEMO_FILES: [(&str, &str, &[u8]); 2] = [
    ("demo:jobs", "jobs.long", include_bytes!("../../../samples/pool/jobs.long")),
    ("demo:slots", "slots.long", include_bytes!("../../../samples/pool/machines.long")),
];

/// Returns the contents of an input of the sample pool; `None` for another argument.
pub fn contents(argument: &str) -> Option<&'static [u8]> {
    DEMO_FILES.iter().find(|(name, _, _)| *name == argument).map(|(_, _, contents)| *contents)
}
