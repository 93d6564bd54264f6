//! The sample pool, which is inside the program: inputs such as `demo:slots`.

use std::io;
use std::path::Path;

use classad::text::join_and;

/// The inputs of the sample pool: the argument, the name of the file and its contents.
pub const DEMO_FILES: [(&str, &str, &[u8]); 2] = [
    ("demo:jobs", "jobs.long", include_bytes!("../../../samples/pool/jobs.long")),
    ("demo:slots", "slots.long", include_bytes!("../../../samples/pool/machines.long")),
];

/// What the names of these inputs begin with.
const PREFIX: &str = "demo:";

/// Returns the contents of an input of the sample pool; `None` for another argument.
///
/// # Errors
///
/// The sample pool has no such input.
pub fn contents(argument: &str) -> io::Result<Option<&'static [u8]>> {
    let found = DEMO_FILES.iter().find(|(name, _, _)| *name == argument);
    if found.is_none() && argument.starts_with(PREFIX) && !Path::new(argument).exists() {
        return Err(io::Error::other(format!(
            "the sample pool has {}",
            join_and(&DEMO_FILES.map(|(name, _, _)| name))
        )));
    }
    Ok(found.map(|(_, _, contents)| *contents))
}
