//! Writer of documents. A document has several ads in one format, with prologue, separators and epilogue.

use std::io::{self, Write};

use crate::ad::{Ad, Name};
use crate::syntax::LossyChange;

use super::{FileFormat, bracketed, json, long, xml, yaml};

/// Changes to values that the format cannot represent, each with the name of the attribute.
pub(super) type LossyChanges = Vec<(Name, LossyChange)>;

/// Writes one ad in a format. [`AdDocumentWriter`] writes several ads into one document.
///
/// Returns the changes to values that the format cannot represent, each with the name of the attribute.
///
/// # Errors
///
/// I/O errors of `out`.
pub fn write(out: &mut dyn Write, ad: &Ad, form: FileFormat) -> io::Result<Vec<(Name, LossyChange)>> {
    match form {
        FileFormat::Long => return long::write(out, ad),
        FileFormat::Bracketed => bracketed::write(out, ad),
        FileFormat::Json | FileFormat::JsonLines => json::write(out, ad),
        FileFormat::Xml => xml::write(out, ad),
        FileFormat::Yaml => yaml::write(out, ad),
    }?;
    Ok(Vec::new())
}

/// The text before the first ad of a document in XML, as HTCondor writes it.
const XML_PROLOGUE: &str = "<?xml version=\"1.0\"?>\n<!DOCTYPE classads SYSTEM \"classads.dtd\">\n<classads>\n";

/// Writes several ads into one document.
#[derive(Debug)]
pub struct AdDocumentWriter {
    form: FileFormat,
    /// Number of ads written so far.
    count: usize,
}

impl AdDocumentWriter {
    /// Creates a writer of a document in this format. Writes nothing yet.
    #[must_use]
    pub fn new(form: FileFormat) -> Self {
        AdDocumentWriter { form, count: 0 }
    }

    /// Writes one ad if `accept` returns true. `accept` receives the changes to values that the format cannot
    /// represent. If it returns false, the ad is left out.
    ///
    /// # Errors
    ///
    /// I/O errors of `out`.
    pub fn write(
        &mut self,
        out: &mut dyn Write,
        ad: &Ad,
        accept: impl FnOnce(&[(Name, LossyChange)]) -> bool,
    ) -> io::Result<()> {
        let mut text = Vec::new();
        let changes = write(&mut text, ad, self.form)?;
        if !accept(&changes) {
            return Ok(());
        }
        let (prologue, separator) = match self.form {
            FileFormat::Json => ("[\n", ",\n"),
            FileFormat::Xml => (XML_PROLOGUE, ""),
            _ => ("", ""),
        };
        out.write_all(if self.count == 0 { prologue } else { separator }.as_bytes())?;
        if self.form == FileFormat::Json {
            // In JSON, the line end between two ads is part of the separator.
            text.truncate(text.trim_ascii_end().len());
        }
        self.count += 1;
        out.write_all(&text)
    }

    /// Writes the end of the document, or an empty document if no ad was written.
    ///
    /// # Errors
    ///
    /// I/O errors of `out`.
    pub fn finish(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.form {
            FileFormat::Json => out.write_all(if self.count == 0 { b"[]\n" } else { b"\n]\n" }),
            FileFormat::Xml if self.count == 0 => writeln!(out, "{XML_PROLOGUE}</classads>"),
            FileFormat::Xml => out.write_all(b"</classads>\n"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::AdDocumentWriter;
    use crate::ad::Dialect;
    use crate::format::{FileFormat, read};

    /// Returns a document with all ads of `text`, except those that the format cannot represent exactly.
    fn document(text: &str, form: FileFormat) -> String {
        let mut out = Vec::new();
        let mut writer = AdDocumentWriter::new(form);
        for entry in read(text.as_bytes(), FileFormat::Bracketed, Dialect::Condor).flatten() {
            writer.write(&mut out, &entry.ad, <[_]>::is_empty).unwrap();
        }
        writer.finish(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_begins_separates_and_ends() {
        for (form, none, two) in [
            (FileFormat::Long, "", "a = 1\n\nb = 2\n\n"),
            (FileFormat::Bracketed, "", "[\n  a = 1;\n]\n[\n  b = 2;\n]\n"),
            (FileFormat::Json, "[]\n", "[\n{\"a\": 1},\n{\"b\": 2}\n]\n"),
            (FileFormat::JsonLines, "", "{\"a\": 1}\n{\"b\": 2}\n"),
        ] {
            assert_eq!(document("", form), none);
            assert_eq!(document("[a = 1][b = 2]", form), two);
        }
        let start = "<?xml version=\"1.0\"?>\n<!DOCTYPE classads SYSTEM \"classads.dtd\">\n<classads>\n";
        assert_eq!(document("", FileFormat::Xml), format!("{start}</classads>\n"));
        assert_eq!(
            document("[a = 1][b = 2]", FileFormat::Xml),
            format!(
                "{start}<c>\n    <a n=\"a\"><i>1</i></a>\n</c>\n<c>\n    <a n=\"b\"><i>2</i></a>\n</c>\n</classads>\n"
            )
        );
        // `accept` refuses ads with changed values, so the first ad is left out.
        assert_eq!(document("[a = \"x\ny\"][b = 2]", FileFormat::Long), "b = 2\n\n");
    }
}
