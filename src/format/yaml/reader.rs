//! Documents as ads.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use serde::de::DeserializeSeed;

use crate::ad::{Ad, Dialect};
use crate::format::{Entry, Item, Problem};

use super::deserialize::{DocumentOf, Reading};
use super::diagnostics;
use super::documents::{Document, Documents};

/// Reads ads document by document; one document may be a sequence of ads.
pub struct Reader<'t> {
    documents: Documents<'t>,
    dialect: Dialect,
    /// Ads begun so far.
    number: usize,
    /// Found, but not yet handed out.
    found: VecDeque<Item>,
}

/// So many ads of one sequence may be bad: for each the whole document is read again.
const MOST_BAD: usize = 50;

impl<'t> Reader<'t> {
    /// A reader at the beginning of a text.
    pub fn new(text: &'t [u8], dialect: Dialect) -> Self {
        let at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Reader { documents: Documents { text, at }, dialect, number: 0, found: VecDeque::new() }
    }

    /// Reads the ads of a document.
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

    /// A problem instead of an ad.
    fn lost(&mut self, document: &Document, mut problem: Problem) {
        self.number += 1;
        let shifted = |at: usize| at + document.range.start;
        problem.ad = self.number;
        problem.range = shifted(problem.range.start)..shifted(problem.range.end);
        problem.related = problem.related.map(|(range, text)| (shifted(range.start)..shifted(range.end), text));
        self.found.push_back(Err(problem));
    }

    /// The ads of a document, and what stands in the place of the bad ones.
    fn hand_out(&mut self, document: &Document, ads: Vec<Option<Ad>>, bad: Vec<(usize, Problem)>) {
        let mut bad = bad.into_iter().peekable();
        for (element, ad) in ads.into_iter().enumerate() {
            let mut is_bad = false;
            while let Some((_, problem)) = bad.next_if(|(of, _)| *of == element) {
                // Whatever is wrong with one ad, it is one ad.
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

/// What the parser takes of the stack, at most: it calls itself 128 deep.
const STACK: usize = 2 * 1024 * 1024;

/// Why a document was not read.
struct Bad {
    /// The element of the sequence that it is, without which the others can be read.
    element: Option<usize>,
    /// The expression of the ad without which the rest can be read.
    expression: Option<usize>,
    problem: Box<Problem>,
}

/// The ads of a document; `content` is where its content begins.
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
