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
        let (mut skipped, mut forgiven) = (Vec::new(), Vec::new());
        loop {
            match parse_document(text, document.content - document.range.start, self.dialect, (&skipped, &forgiven)) {
                Ok(ads) => return self.queue_ads(document, ads, bad),
                Err(DocumentFailure { expression: Some(expression), element, problem })
                    if bad.len() < MAX_PROBLEMS_PER_DOCUMENT =>
                {
                    forgiven.push((element, expression));
                    bad.push((element.unwrap_or(0), *problem));
                }
                Err(DocumentFailure { element: Some(element), problem, .. })
                    if bad.len() < MAX_PROBLEMS_PER_DOCUMENT =>
                {
                    skipped.push(element);
                    bad.push((element, *problem));
                }
                Err(DocumentFailure { problem, .. }) => {
                    for (_, problem) in bad {
                        self.queue_problem(document, problem);
                    }
                    return self.queue_problem(document, *problem);
                }
            }
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
/// Skipped elements are `None` in the result. `forgiven` are bad expressions, each of which is read as an empty ad.
fn parse_document(
    text: &[u8],
    content: usize,
    dialect: Dialect,
    (skipped, forgiven): (&[usize], &[(Option<usize>, usize)]),
) -> Result<Vec<Option<Ad>>, DocumentFailure> {
    let reading =
        YamlAdPass { dialect, skipped_elements: skipped, tolerated_expressions: forgiven, ..YamlAdPass::default() };
    let bad = |element, problem| DocumentFailure { element, expression: None, problem: Box::new(problem) };
    let parse = || YamlDocumentSeed(&reading).deserialize(serde_yaml::Deserializer::from_slice(text));
    let ads = with_parser_stack(parse).map_err(|error| {
        let at = error.location().map_or(content, |place| place.index()).min(text.len());
        if let Some(objection) = reading.rejection.take() {
            let expression = objection.expression_index;
            return DocumentFailure {
                expression,
                ..bad(reading.element.get(), diagnostics::from_rejection(text, at, objection))
            };
        }
        bad(None, diagnostics::from_serde_yaml(text, at, &error))
    })?;
    if let Some(range) = diagnostics::find_oversized_integer(text, &reading.large_reals.borrow()) {
        let integer = String::from_utf8_lossy(&text[range.clone()]).into_owned();
        let problem = Problem::error_at(range, 0, format!("`{integer}` does not fit into 64 bits"));
        return Err(bad(None, problem.with_help(format!("write {integer}.0 for a real"))));
    }
    Ok(ads)
}
