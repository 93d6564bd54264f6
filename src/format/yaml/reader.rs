//! Reader of ads in YAML.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use serde::de::DeserializeSeed;

use crate::ad::{Ad, Dialect};
use crate::format::{Entry, Item, Problem};

use super::deserialize::{DocumentOf, Reading};
use super::diagnostics;
use super::documents::{Document, Documents};

/// Iterator over the ads of a text. A document is one ad or a sequence of ads.
pub struct Reader<'t> {
    documents: Documents<'t>,
    dialect: Dialect,
    /// Number of ads begun so far.
    number: usize,
    /// Items to be yielded next.
    found: VecDeque<Item>,
}

/// Maximum number of bad ads and expressions in one document: for each one the whole document is read again.
const MOST_BAD: usize = 50;

impl<'t> Reader<'t> {
    /// Creates a reader at the beginning of a text. A byte order mark is skipped.
    pub fn new(text: &'t [u8], dialect: Dialect) -> Self {
        let at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Reader { documents: Documents { text, at }, dialect, number: 0, found: VecDeque::new() }
    }

    /// Reads the ads of a document and queues its items.
    ///
    /// A bad expression or element ends a reading. The document is then read again without it, so that everything wrong
    /// is reported and the other ads are kept.
    fn document(&mut self, document: &Document) {
        let text = &self.documents.text[document.range.clone()];
        let mut bad: Vec<(usize, Problem)> = Vec::new();
        if let Some((range, message)) = diagnostics::unreadable(text) {
            return self.lost(document, Problem::at(range, 0, message));
        }
        let (mut skipped, mut forgiven) = (Vec::new(), Vec::new());
        loop {
            match parse(text, document.content - document.range.start, self.dialect, (&skipped, &forgiven)) {
                Ok(ads) => return self.hand_out(document, ads, bad),
                Err(Bad { expression: Some(expression), element, problem }) if bad.len() < MOST_BAD => {
                    forgiven.push((element, expression));
                    bad.push((element.unwrap_or(0), *problem));
                }
                Err(Bad { element: Some(element), problem, .. }) if bad.len() < MOST_BAD => {
                    skipped.push(element);
                    bad.push((element, *problem));
                }
                Err(Bad { problem, .. }) => {
                    for (_, problem) in bad {
                        self.lost(document, problem);
                    }
                    return self.lost(document, *problem);
                }
            }
        }
    }

    /// Queues a problem in the place of an ad.
    fn lost(&mut self, document: &Document, mut problem: Problem) {
        self.number += 1;
        let shifted = |at: usize| at + document.range.start;
        problem.ad = self.number;
        problem.range = shifted(problem.range.start)..shifted(problem.range.end);
        problem.related = problem.related.map(|(range, text)| (shifted(range.start)..shifted(range.end), text));
        self.found.push_back(Err(problem));
    }

    /// Queues the ads of a document, with the problems in the places of the bad ones.
    fn hand_out(&mut self, document: &Document, ads: Vec<Option<Ad>>, bad: Vec<(usize, Problem)>) {
        let mut bad = bad.into_iter().peekable();
        for (element, ad) in ads.into_iter().enumerate() {
            let mut is_bad = false;
            while let Some((_, problem)) = bad.next_if(|(of, _)| *of == element) {
                // Several problems of one ad count as one ad.
                self.number -= usize::from(is_bad);
                is_bad = true;
                self.lost(document, problem);
            }
            if let Some(ad) = ad.filter(|_| !is_bad) {
                self.number += 1;
                let entry = Entry { ad, number: self.number, offset: document.content, is_whole: true };
                self.found.push_back(Ok(entry));
            }
        }
    }
}

impl Iterator for Reader<'_> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        while self.found.is_empty() {
            let document = self.documents.next()?;
            self.document(&document);
        }
        self.found.pop_front()
    }
}

/// Maximum stack use of the parser in bytes: its recursion is limited to a depth of 128.
const STACK: usize = 2 * 1024 * 1024;

/// The failure of one reading of a document.
struct Bad {
    /// Index of the bad element of the sequence; the others can be read without it.
    element: Option<usize>,
    /// Index of the bad expression in its ad; the rest can be read without it.
    expression: Option<usize>,
    problem: Box<Problem>,
}

/// Reads the ads of a document; `content` is the byte offset of its content.
///
/// Skipped elements are `None` in the result. `forgiven` are bad expressions that are replaced by a dummy.
fn parse(
    text: &[u8],
    content: usize,
    dialect: Dialect,
    (skipped, forgiven): (&[usize], &[(Option<usize>, usize)]),
) -> Result<Vec<Option<Ad>>, Bad> {
    let reading = Reading {
        dialect,
        skipped,
        forgiven,
        expressions: Cell::new(0),
        objection: RefCell::new(None),
        element: Cell::new(None),
        large: RefCell::new(Vec::new()),
    };
    let bad = |element, problem| Bad { element, expression: None, problem: Box::new(problem) };
    let parse = || DocumentOf(&reading).deserialize(serde_yaml::Deserializer::from_slice(text));
    let ads = stacker::maybe_grow(STACK, 2 * STACK, parse).map_err(|error| {
        let at = error.location().map_or(content, |place| place.index()).min(text.len());
        if let Some(objection) = reading.objection.take() {
            let expression = objection.expression;
            return Bad { expression, ..bad(reading.element.get(), diagnostics::objected(text, at, objection)) };
        }
        bad(None, diagnostics::of_yaml(text, at, &error))
    })?;
    if let Some(range) = diagnostics::long_integer(text, &reading.large.borrow()) {
        let integer = String::from_utf8_lossy(&text[range.clone()]).into_owned();
        let problem = Problem::at(range, 0, format!("`{integer}` does not fit into 64 bits"));
        return Err(bad(None, problem.with_help(format!("write {integer}.0 for a real"))));
    }
    Ok(ads)
}
