//! Reader of ads in YAML.

use std::collections::VecDeque;

use serde::de::DeserializeSeed;

use crate::ad::{Ad, Dialect};
use crate::format::detect::byte_order_mark_length;
use crate::format::{AdEntry, Problem, ReadResult};

use super::deserialize::{YamlAdPass, YamlDocumentSeed};
use super::diagnostics;
use super::documents::{DocumentExtent, DocumentExtents};
use super::visit::with_parser_stack;

/// Iterator over the ads of a text. A document is one ad or a sequence of ads.
pub struct YamlReader<'t> {
    documents: DocumentExtents<'t>,
    dialect: Dialect,
    /// Number of ads begun so far.
    number: usize,
    /// Items to be yielded next.
    pending: VecDeque<ReadResult>,
}

/// Maximum number of bad ads and expressions in one document. For each of them the whole document is read again, so
/// without a limit the total time would be quadratic.
const MAX_PROBLEMS_PER_DOCUMENT: usize = 50;

impl<'t> YamlReader<'t> {
    /// Creates a reader at the beginning of a text. A byte order mark is skipped.
    pub fn new(text: &'t [u8], dialect: Dialect) -> Self {
        let at = byte_order_mark_length(text);
        YamlReader { documents: DocumentExtents { text, at }, dialect, number: 0, pending: VecDeque::new() }
    }

    /// Reads the ads of a document, and queues the ads and problems.
    ///
    /// A bad expression or element ends a reading. The document is then read again without this expression or element,
    /// so that all problems are reported and the other ads are kept.
    fn read_document(&mut self, document: &DocumentExtent) {
        let text = &self.documents.text[document.range.clone()];
        let mut bad: Vec<(usize, Problem)> = Vec::new();
        if let Some((range, message)) = diagnostics::find_unreadable(text) {
            return self.queue_problem(document, Problem::error_at(range, 0, message));
        }
        let (mut skipped, mut tolerated) = (Vec::new(), Vec::new());
        let content = document.content - document.range.start;
        loop {
            let failure = match parse_document(text, content, self.dialect, &skipped, &tolerated) {
                Ok(ads) => return self.queue_ads(document, ads, bad),
                Err(failure) => failure,
            };
            match (failure.element, failure.expression) {
                (element, Some(expression)) if bad.len() < MAX_PROBLEMS_PER_DOCUMENT => {
                    tolerated.push((element, expression));
                }
                (Some(element), None) if bad.len() < MAX_PROBLEMS_PER_DOCUMENT => skipped.push(element),
                _ => {
                    bad.into_iter().for_each(|(_, problem)| self.queue_problem(document, problem));
                    return self.queue_problem(document, *failure.problem);
                }
            }
            bad.push((failure.element.unwrap_or(0), *failure.problem));
        }
    }

    /// Queues a problem in the place of an ad.
    fn queue_problem(&mut self, document: &DocumentExtent, problem: Problem) {
        self.number += 1;
        let start = document.range.start;
        let problem = problem.map_ranges(|range| start + range.start..start + range.end);
        self.pending.push_back(Err(Problem { ad_number: self.number, ..problem }));
    }

    /// Queues the ads of a document, with the problems of bad ads in their places.
    fn queue_ads(&mut self, document: &DocumentExtent, ads: Vec<Option<Ad>>, bad: Vec<(usize, Problem)>) {
        let mut bad = bad.into_iter().peekable();
        for (element, ad) in ads.into_iter().enumerate() {
            let mut is_bad = false;
            while let Some((_, problem)) = bad.next_if(|(of, _)| *of == element) {
                // Several problems of one ad count as one ad.
                self.number -= usize::from(is_bad);
                is_bad = true;
                self.queue_problem(document, problem);
            }
            if let Some(ad) = ad.filter(|_| !is_bad) {
                self.number += 1;
                let entry = AdEntry { ad, number: self.number, offset: document.content, is_whole: true };
                self.pending.push_back(Ok(entry));
            }
        }
    }
}

impl Iterator for YamlReader<'_> {
    type Item = ReadResult;

    fn next(&mut self) -> Option<ReadResult> {
        while self.pending.is_empty() {
            let document = self.documents.next()?;
            self.read_document(&document);
        }
        self.pending.pop_front()
    }
}

/// The failure of one reading of a document.
struct DocumentFailure {
    /// Index of the bad element if the document is a sequence. The other elements can be read if this element is
    /// skipped.
    element: Option<usize>,
    /// Index of the bad expression among the expressions of its ad. The rest can be read if this expression is
    /// tolerated.
    expression: Option<usize>,
    problem: Box<Problem>,
}

/// Reads the ads of a document; `content` is the byte offset of its content.
///
/// Skipped elements are `None` in the result. Each of the `tolerated` bad expressions is read as an empty ad.
fn parse_document(
    text: &[u8],
    content: usize,
    dialect: Dialect,
    skipped_elements: &[usize],
    tolerated_expressions: &[(Option<usize>, usize)],
) -> Result<Vec<Option<Ad>>, DocumentFailure> {
    let reading = YamlAdPass { dialect, skipped_elements, tolerated_expressions, ..YamlAdPass::default() };
    let parse = || YamlDocumentSeed(&reading).deserialize(serde_yaml::Deserializer::from_slice(text));
    let fatal = |problem| DocumentFailure { element: None, expression: None, problem: Box::new(problem) };
    let ads = with_parser_stack(parse).map_err(|error| {
        let at = error.location().map_or(content, |place| place.index()).min(text.len());
        match reading.rejection.take() {
            Some(rejection) => DocumentFailure {
                element: reading.element.get(),
                expression: rejection.expression_index,
                problem: Box::new(diagnostics::from_rejection(text, at, rejection)),
            },
            None => fatal(diagnostics::from_serde_yaml(text, at, &error)),
        }
    })?;
    if let Some(range) = diagnostics::find_oversized_integer(text, &reading.large_reals.borrow()) {
        let integer = String::from_utf8_lossy(&text[range.clone()]);
        let problem = Problem::error_at(range, 0, format!("`{integer}` does not fit into 64 bits"));
        return Err(fatal(problem.with_help(format!("write {integer}.0 for a real"))));
    }
    Ok(ads)
}
