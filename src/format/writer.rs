//! Writer of documents. A document has several ads in one format, with prologue, separators and epilogue.

use std::io::{self, Write};

use crate::ad::{Ad, Name};
use crate::syntax::LossyChange;

use super::FileFormat;
use super::ad_text::{AdTextWriter, syntax_of};

/// Writes one ad in a format. [`AdDocumentWriter`] writes several ads into one document.
///
/// Returns the changes to values that the format cannot represent, each with the name of the attribute.
///
/// # Errors
///
/// I/O errors of `out`.
pub fn write(out: &mut dyn Write, ad: &Ad, form: FileFormat) -> io::Result<Vec<(Name, LossyChange)>> {
    let mut text = Vec::new();
    let changes = syntax_of(form).push_ad(ad, &mut text);
    out.write_all(&text)?;
    Ok(changes)
}

/// The text before the first ad of a document in XML, as HTCondor writes it.
const XML_PROLOGUE: &str = "<?xml version=\"1.0\"?>\n<!DOCTYPE classads SYSTEM \"classads.dtd\">\n<classads>\n";

/// Texts of successive ads of a document. [`AdDocumentWriter::write_batch`] writes them.
#[derive(Default)]
pub struct AdBatch {
    /// The texts of the ads, with separators between them.
    text: Vec<u8>,
    /// Length of the part of `text` that was written, in bytes.
    written: usize,
}

impl AdBatch {
    /// Returns the texts of the ads, with separators between them.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Appends the text of one ad in a form, which `write` appends to the texts before. The batch stays as it is if
    /// `write` returns `None`. Without a form there are no separators.
    pub(crate) fn push<T>(
        &mut self,
        form: Option<FileFormat>,
        write: impl FnOnce(&mut Vec<u8>) -> Option<T>,
    ) -> Option<T> {
        let before = self.text.len();
        if before > 0 {
            self.text.extend_from_slice(form.map_or("", separator).as_bytes());
        }
        let result = write(&mut self.text);
        if result.is_none() {
            self.text.truncate(before);
        } else if form == Some(FileFormat::Json) {
            // In JSON, the line end between two ads is part of the separator.
            self.text.truncate(self.text.trim_ascii_end().len());
        }
        result
    }
}

/// Writes ads into batches. Several threads may write the batches of one document, each with its own writer.
pub struct AdBatchWriter {
    form: FileFormat,
    ads: AdTextWriter,
}

impl AdBatchWriter {
    /// Creates a writer in this format.
    #[must_use]
    pub fn new(form: FileFormat) -> Self {
        AdBatchWriter { form, ads: AdTextWriter::new(form) }
    }

    /// Appends one ad to a batch if `accept` returns true. `accept` receives the changes to values that the format
    /// cannot represent. If it returns false, the ad is left out. Returns the changes.
    pub fn push(
        &mut self,
        batch: &mut AdBatch,
        ad: &Ad,
        accept: impl FnOnce(&[(Name, LossyChange)]) -> bool,
    ) -> Vec<(Name, LossyChange)> {
        let mut changes = Vec::new();
        batch.push(Some(self.form), |text| {
            changes = self.ads.push_ad(ad, text);
            accept(&changes).then_some(())
        });
        changes
    }
}

/// Returns the text between two ads of a document.
fn separator(form: FileFormat) -> &'static str {
    if form == FileFormat::Json { ",\n" } else { "" }
}

/// Writes several ads into one document.
pub struct AdDocumentWriter {
    form: FileFormat,
    ads: AdBatchWriter,
    /// The batch of the ad written last.
    batch: AdBatch,
    /// Whether no ad has been written.
    is_empty: bool,
}

impl AdDocumentWriter {
    /// Creates a writer of a document in this format. Writes nothing yet.
    #[must_use]
    pub fn new(form: FileFormat) -> Self {
        AdDocumentWriter { form, ads: AdBatchWriter::new(form), batch: AdBatch::default(), is_empty: true }
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
        self.batch.text.clear();
        self.batch.written = 0;
        self.ads.push(&mut self.batch, ad, accept);
        let mut batch = std::mem::take(&mut self.batch);
        let end = batch.text.len();
        let result = self.write_batch(out, &mut batch, end);
        self.batch = batch;
        result
    }

    /// Writes the texts of a batch up to the byte offset `end`, without those that were written before.
    ///
    /// # Errors
    ///
    /// I/O errors of `out`.
    pub fn write_batch(&mut self, out: &mut dyn Write, batch: &mut AdBatch, end: usize) -> io::Result<()> {
        if batch.written == end {
            return Ok(());
        }
        if batch.written == 0 {
            let prologue = match self.form {
                FileFormat::Json => "[\n",
                FileFormat::Xml => XML_PROLOGUE,
                _ => "",
            };
            out.write_all(if self.is_empty { prologue } else { separator(self.form) }.as_bytes())?;
            self.is_empty = false;
        }
        out.write_all(&batch.text[batch.written..end])?;
        batch.written = end;
        Ok(())
    }

    /// Returns the format.
    #[must_use]
    pub fn form(&self) -> FileFormat {
        self.form
    }

    /// Writes the end of the document, or an empty document if no ad was written.
    ///
    /// # Errors
    ///
    /// I/O errors of `out`.
    pub fn finish(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.form {
            FileFormat::Json => out.write_all(if self.is_empty { b"[]\n" } else { b"\n]\n" }),
            FileFormat::Xml if self.is_empty => writeln!(out, "{XML_PROLOGUE}</classads>"),
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
