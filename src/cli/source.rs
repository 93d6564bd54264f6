//! Where ads come from.

use classad::format::Form;

/// A file or a pipe, read as a whole.
pub struct Source {
    pub name: String,
    pub bytes: Vec<u8>,
    pub form: Form,
}

impl Source {
    /// A text that stands on the command line itself.
    pub fn of_text(name: &str, text: &str) -> Self {
        Source { name: name.to_owned(), bytes: text.as_bytes().to_vec(), form: Form::New }
    }
}
