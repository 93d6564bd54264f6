//! Writer of documents: several ads in one format, with prologue, separators and epilogue.

use std::io::{self, Write};

use crate::ad::{Ad, Name};
use crate::syntax::Change;

use super::{Form, write, xml};

/// Writes several ads into one document.
#[derive(Debug)]
pub struct Writer {
    form: Form,
    /// Number of ads written.
    count: usize,
}

impl Writer {
    /// Creates an empty document in this format.
    #[must_use]
    pub fn new(form: Form) -> Self {
        Writer { form, count: 0 }
    }

    /// Writes one ad if `accept` returns true for the changes that the format requires; otherwise leaves it out.
    ///
    /// # Errors
    ///
    /// I/O errors of `out`.
    pub fn write(
        &mut self,
        out: &mut dyn Write,
        ad: &Ad,
        accept: impl FnOnce(&[(Name, Change)]) -> bool,
    ) -> io::Result<()> {
        let mut text = Vec::new();
        let changes = write(&mut text, ad, self.form)?;
        if !accept(&changes) {
            return Ok(());
        }
        match (self.form, self.count) {
            // In an array the comma follows on the same line, before the next object.
            (Form::Json, count) => {
                out.write_all(if count == 0 { b"[\n" } else { b",\n" })?;
                text.truncate(text.trim_ascii_end().len());
            }
            (Form::Xml, 0) => out.write_all(xml::PROLOGUE)?,
            _ => {}
        }
        self.count += 1;
        out.write_all(&text)
    }

    /// Writes the end of the document.
    ///
    /// # Errors
    ///
    /// I/O errors of `out`.
    pub fn finish(&self, out: &mut dyn Write) -> io::Result<()> {
        match (self.form, self.count) {
            (Form::Json, 0) => out.write_all(b"[]\n"),
            (Form::Json, _) => out.write_all(b"\n]\n"),
            (Form::Xml, count) => {
                if count == 0 {
                    out.write_all(xml::PROLOGUE)?;
                }
                out.write_all(xml::EPILOGUE)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Writer;
    use crate::ad::Dialect;
    use crate::format::{Form, read};

    /// Returns the document with the ads of a text.
    fn document(text: &str, form: Form) -> String {
        let mut out = Vec::new();
        let mut writer = Writer::new(form);
        for entry in read(text.as_bytes(), Form::New, Dialect::Condor).flatten() {
            writer.write(&mut out, &entry.ad, <[_]>::is_empty).unwrap();
        }
        writer.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_begins_separates_and_ends() {
        for (form, none, two) in [
            (Form::Long, "", "a = 1\n\nb = 2\n\n"),
            (Form::New, "", "[\n  a = 1;\n]\n[\n  b = 2;\n]\n"),
            (Form::Json, "[]\n", "[\n{\"a\": 1},\n{\"b\": 2}\n]\n"),
            (Form::JsonLines, "", "{\"a\": 1}\n{\"b\": 2}\n"),
        ] {
            assert_eq!(document("", form), none);
            assert_eq!(document("[a = 1][b = 2]", form), two);
        }
        let start = "<?xml version=\"1.0\"?>\n<!DOCTYPE classads SYSTEM \"classads.dtd\">\n<classads>\n";
        assert_eq!(document("", Form::Xml), format!("{start}</classads>\n"));
        assert_eq!(
            document("[a = 1][b = 2]", Form::Xml),
            format!(
                "{start}<c>\n    <a n=\"a\"><i>1</i></a>\n</c>\n<c>\n    <a n=\"b\"><i>2</i></a>\n</c>\n</classads>\n"
            )
        );
        // An ad that is not accepted is left out.
        assert_eq!(document("[a = \"x\ny\"][b = 2]", Form::Long), "b = 2\n\n");
    }
}
