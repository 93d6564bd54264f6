//! The document around the ads of a stream, followed from block to block: what is open, and since which line.

use super::document::{around_ads, has_surroundings};
use super::document_nesting::DocumentNesting;
use super::{FileFormat, Position};

/// The document around the ads of a stream, where the next block begins.
pub struct OpenDocument {
    /// What is open there.
    nesting: DocumentNesting,
    /// Position of what opened the outermost array, element or list.
    opened_at: Position,
    /// Position of the first end of what was not opened.
    stray_at: Option<Position>,
}

impl Default for OpenDocument {
    fn default() -> Self {
        OpenDocument { nesting: DocumentNesting::default(), opened_at: Position::START, stray_at: None }
    }
}

impl OpenDocument {
    /// Follows a text that begins at `position` up to the end of its last complete ad. Returns the number of bytes up
    /// to there.
    pub fn follow(&mut self, text: &[u8], form: FileFormat, position: Position) -> usize {
        let followed = self.nesting.follow(text, form);
        self.move_to(followed.at_complete, text, position);
        followed.complete_length
    }

    /// Takes what is open behind some of a text.
    fn move_to(&mut self, nesting: DocumentNesting, text: &[u8], position: Position) {
        let place = |offset: usize| position.after(&text[..offset]);
        let (opened_at, stray_at) = (nesting.opened_at.map(place), nesting.stray_at.map(place));
        self.opened_at = opened_at.unwrap_or(self.opened_at);
        self.stray_at = self.stray_at.or(stray_at);
        self.nesting = nesting;
    }

    /// Follows the rest of the stream, which begins at `position`. Returns why the document is torn; `None` if it is
    /// whole. An ad that is open at the end is reported by its reader.
    pub fn fault_at_end(&mut self, text: &[u8], form: FileFormat, position: Position) -> Option<String> {
        if !has_surroundings(form) {
            return None;
        }
        let Some(nesting) = self.nesting.follow(text, form).at_end else {
            self.close();
            return None;
        };
        self.move_to(nesting, text, position);
        let (what, end) = around_ads(form);
        if nesting.depth > 0 {
            let (line, begin) = (position.after(text).line, self.opened_at.line);
            Some(format!(
                "line {line}: the {what} that begins in line {begin} has no `{end}`: the rest of the file is missing"
            ))
        } else if let Some(place) = self.stray_at.take() {
            Some(format!("line {}: this `{end}` ends no {what}", place.line))
        } else if form == FileFormat::Xml && !nesting.has_content && begins_document(text) {
            Some(format!("it has no {what}: the rest of the file is missing"))
        } else {
            None
        }
    }

    /// Forgets what is open.
    pub fn close(&mut self) {
        self.nesting = DocumentNesting::default();
    }
}

/// Whether a text begins a document in XML. Comments alone do not.
fn begins_document(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    text.starts_with(b"<?xml") || text.starts_with(b"<!DOCTYPE")
}
