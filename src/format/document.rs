//! What stands around the ads of a document: an array in JSON, the root element in XML, a list of bracketed ads.
//!
//! A stream is read in blocks of complete ads. Its nesting is followed from block to block, so that its end shows whether
//! the document is whole.

use crate::syntax::{complete_ads_length, outer_braces};

use super::detect::blank_length;
use super::json::JsonGrammar;
use super::nested_reader::follow_document;
use super::xml::XmlGrammar;
use super::{FileFormat, complete_prefix_length};

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

    /// Follows the text behind a complete ad.
    pub fn follow(self, text: &[u8], form: FileFormat) -> FollowedText {
        let before = DocumentNesting { opened_at: None, stray_at: None, ..self };
        match form {
            FileFormat::Json => follow_document::<JsonGrammar>(text, before),
            FileFormat::Xml => follow_document::<XmlGrammar>(text, before),
            FileFormat::Bracketed => before.follow_list(text),
            _ => FollowedText {
                complete_length: complete_prefix_length(text, form),
                at_complete: before,
                at_end: Some(before),
            },
        }
    }

    /// Follows bracketed ads. Only those that begin with a brace are a list.
    fn follow_list(mut self, text: &[u8]) -> FollowedText {
        let complete_length = complete_ads_length(text);
        if self.depth == 0 && (self.has_content || !text[blank_length(text)..].starts_with(b"{")) {
            self.has_content |= complete_length > 0;
            return FollowedText { complete_length, at_complete: self, at_end: Some(self) };
        }
        let (braces, is_closed) = outer_braces(text);
        let mut at_complete = self;
        for offset in braces {
            if text[offset] == b'{' {
                self.open(offset)
            } else {
                self.close(offset)
            }
            if offset < complete_length {
                at_complete = self;
            }
        }
        self.has_content = true;
        at_complete.has_content |= complete_length > 0;
        FollowedText { complete_length, at_complete, at_end: is_closed.then_some(self) }
    }
}

/// Returns what stands around the ads of a document in a form, as messages call it, and what ends it.
pub fn around_ads(form: FileFormat) -> (&'static str, &'static str) {
    match form {
        FileFormat::Xml => ("element `<classads>`", "</classads>"),
        FileFormat::Bracketed => ("list of ads", "}"),
        _ => ("array", "]"),
    }
}
