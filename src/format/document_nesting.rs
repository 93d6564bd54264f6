//! What is open around the ads at some place of a document.

/// What is open around the ads at some place of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocumentNesting {
    /// Number of arrays, elements or lists that are open.
    pub depth: usize,
    /// Byte offset of what opened the outermost one; `None` if it is before the text that was followed last.
    pub opened_at: Option<usize>,
    /// Byte offset, in the text that was followed last, of the first end of what was not opened.
    pub stray_at: Option<usize>,
    /// Whether anything but white space, comments and prologues was read.
    pub has_content: bool,
}

/// A text of a document that was followed to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowedText {
    /// Number of bytes up to the end of the last complete ad.
    pub complete_length: usize,
    /// What is open there.
    pub at_complete: DocumentNesting,
    /// What is open at the end of the text; `None` if it is an ad, a comment or a tag, which the reader of ads reports.
    pub at_end: Option<DocumentNesting>,
}

impl DocumentNesting {
    /// Notes that something around ads begins at a byte offset.
    pub fn open(&mut self, offset: usize) {
        if self.depth == 0 {
            self.opened_at = Some(offset);
        }
        self.depth += 1;
    }

    /// Notes that something around ads ends at a byte offset.
    pub fn close(&mut self, offset: usize) {
        match self.depth.checked_sub(1) {
            Some(depth) => self.depth = depth,
            None => self.stray_at = self.stray_at.or(Some(offset)),
        }
    }
}
