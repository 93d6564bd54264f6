//! What stands around the ads of a document: an array in JSON, the root element in XML, a list of bracketed ads.
//!
//! A stream is read in blocks of complete ads. Its nesting is followed from block to block, so that its end shows whether
//! the document is whole.

use crate::syntax::{complete_ads_length, outer_braces};

use super::detect::blank_length;
use super::document_nesting::{DocumentNesting, FollowedText};
use super::json::JsonGrammar;
use super::nested_boundaries::follow_document;
use super::xml::XmlGrammar;
use super::{FileFormat, Problem, complete_prefix_length};

impl DocumentNesting {
    /// Follows the text behind a complete ad.
    pub fn follow(self, text: &[u8], form: FileFormat) -> FollowedText {
        let before = DocumentNesting { opened_at: None, stray_at: None, ..self };
        match form {
            FileFormat::Json => follow_document::<JsonGrammar>(text, before),
            FileFormat::JsonLines if may_have_brackets_around_ads(text) => follow_document::<JsonGrammar>(text, before),
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
                self.open(offset);
            } else {
                self.close(offset);
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

/// Whether a bracket in this text of JSON Lines may stand around ads, where none belongs: it stands where a value of an ad
/// or its end does not. The grammar decides; this is faster.
fn may_have_brackets_around_ads(text: &[u8]) -> bool {
    memchr::memchr2_iter(b'[', b']', text).any(|at| {
        let before = text[..at].trim_ascii_end().last();
        matches!(before, None | Some(b'}' | b'[' | b']')) || (text[at] == b'[' && before == Some(&b','))
    })
}

/// Returns what stands around the ads of a document in a form, as messages call it, and what ends it.
pub fn around_ads(form: FileFormat) -> (&'static str, &'static str) {
    match form {
        FileFormat::Xml => ("element `<classads>`", "</classads>"),
        FileFormat::Bracketed => ("list of ads", "}"),
        _ => ("array", "]"),
    }
}

/// Whether anything can stand around the ads of a document in a form.
pub fn has_surroundings(form: FileFormat) -> bool {
    matches!(form, FileFormat::Json | FileFormat::JsonLines | FileFormat::Xml | FileFormat::Bracketed)
}

/// Returns why a text is no whole document: something around its ads does not end, or did not begin.
pub fn document_problem(text: &[u8], form: FileFormat) -> Option<Problem> {
    let nesting = DocumentNesting::default().follow(text, form).at_end.filter(|_| has_surroundings(form))?;
    let (what, end) = around_ads(form);
    let at = |offset: usize| offset..offset + 1;
    match (nesting.depth, nesting.opened_at, nesting.stray_at) {
        (1.., Some(offset), _) => Some(Problem::error_at(at(offset), 0, format!("this {what} has no `{end}`"))),
        (_, _, Some(offset)) => Some(Problem::error_at(at(offset), 0, format!("this `{end}` ends no {what}"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::document_problem;
    use crate::format::FileFormat;

    #[test]
    fn what_does_not_end_or_did_not_begin_is_told_at_its_bracket() {
        let (json, lines) = (FileFormat::Json, FileFormat::JsonLines);
        for (text, form, expected) in [
            ("[{\"a\": 1}]", json, None),
            ("{\"a\": 1}\n", lines, None),
            (" [{\"a\": 1}", json, Some((1..2, "this array has no `]`"))),
            ("[[{\"a\": 1}]", json, Some((0..1, "this array has no `]`"))),
            ("{\"a\": 1} ] ]\n", json, Some((9..10, "this `]` ends no array"))),
            (" {[a = 1]", FileFormat::Bracketed, Some((1..2, "this list of ads has no `}`"))),
            ("\n<classads><c></c>", FileFormat::Xml, Some((1..2, "this element `<classads>` has no `</classads>`"))),
            ("a = 1\n]\n", FileFormat::Long, None),
        ] {
            let found = document_problem(text.as_bytes(), form).map(|problem| (problem.range, problem.message));
            let expected = expected.map(|(range, message): (std::ops::Range<usize>, &str)| (range, message.to_owned()));
            assert_eq!(found, expected, "{text}");
        }
    }
}
