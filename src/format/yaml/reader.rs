//! Reader of ads in YAML.

use std::collections::BTreeMap;

use serde::de::Deserializer;

use crate::ad::{Ad, Dialect};
use crate::format::detect::byte_order_mark_length;
use crate::format::{AdEntry, Problem, ReadResult};

use super::deserialize::{YamlAdPass, YamlDocumentVisitor};
use super::diagnostics;
use super::documents::DocumentExtents;
use super::visit::with_parser_stack;

/// Maximum number of bad ads and bad expressions in one document. For each of them the whole document is read again, so
/// without a limit the total time would be quadratic.
const MAX_PROBLEMS_PER_DOCUMENT: usize = 50;

/// Returns an iterator over the ads of a text. Each document is an ad or a sequence of ads. A byte order mark is
/// skipped.
pub fn read_ads(text: &[u8], dialect: Dialect) -> impl Iterator<Item = ReadResult> + '_ {
    let mut number = 0;
    DocumentExtents { text, at: byte_order_mark_length(text) }.flat_map(move |document| {
        let start = document.range.start;
        let mut items = Vec::new();
        for ad in read_document(&text[document.range], document.content - start, dialect) {
            number += 1;
            match ad {
                Ok(ad) => items.push(Ok(AdEntry {
                    ad,
                    number,
                    offset: document.content,
                    is_whole: true,
                    banner_attributes: 0,
                })),
                Err(problems) => items.extend(problems.into_iter().map(|problem| {
                    let problem = problem.map_ranges(|range| start + range.start..start + range.end);
                    Err(Problem { ad_number: number, ..problem })
                })),
            }
        }
        items
    })
}

/// Reads the ads of a document. Returns, for each ad, the ad or its problems. `content` is the byte offset of the
/// document's content.
///
/// Reading ends at a bad ad or bad expression. The document is then read again without this ad or expression. So all
/// problems are reported, and all good ads are kept. But if the document is malformed or has more
/// than [`MAX_PROBLEMS_PER_DOCUMENT`] bad ads and bad expressions, reading ends early and only problems are returned.
fn read_document(text: &[u8], content: usize, dialect: Dialect) -> Vec<Result<Ad, Vec<Problem>>> {
    if let Some((range, message)) = diagnostics::find_unreadable(text) {
        return vec![Err(vec![Problem::error_at(range, 0, message)])];
    }
    let (mut skipped, mut tolerated) = (Vec::new(), Vec::new());
    // For each bad ad, its index in a sequence of ads and its problems.
    let mut bad: BTreeMap<usize, Vec<Problem>> = BTreeMap::new();
    loop {
        let failure = match parse_document(text, content, dialect, &skipped, &tolerated) {
            Ok(ads) => {
                let or_problems = |(element, ad): (usize, Option<Ad>)| match bad.remove(&element) {
                    Some(problems) => Some(Err(problems)),
                    None => ad.map(Ok),
                };
                return ads.into_iter().enumerate().filter_map(or_problems).collect();
            }
            Err(failure) => failure,
        };
        let has_room = skipped.len() + tolerated.len() < MAX_PROBLEMS_PER_DOCUMENT;
        match (failure.element, failure.expression) {
            (element, Some(expression)) if has_room => tolerated.push((element, expression)),
            (Some(element), None) if has_room => skipped.push(element),
            _ => {
                let problems = bad.into_values().flatten().chain([*failure.problem]);
                return problems.map(|problem| Err(vec![problem])).collect();
            }
        }
        bad.entry(failure.element.unwrap_or(0)).or_default().push(*failure.problem);
    }
}

/// Why one reading of a document failed.
struct DocumentFailure {
    /// Index of the bad ad in a sequence of ads. The other ads can be read if this ad is skipped.
    element: Option<usize>,
    /// Index of the bad expression among the expressions of its ad. The other expressions can be read if an empty ad
    /// replaces this expression.
    expression: Option<usize>,
    problem: Box<Problem>,
}

/// Reads the ads of a document once. `content` is the byte offset of the document's content.
///
/// In a sequence of ads, the ads with an index in `skipped_elements` are `None` in the result. Each of the bad
/// expressions in `tolerated_expressions` is read as an empty ad.
fn parse_document(
    text: &[u8],
    content: usize,
    dialect: Dialect,
    skipped_elements: &[usize],
    tolerated_expressions: &[(Option<usize>, usize)],
) -> Result<Vec<Option<Ad>>, DocumentFailure> {
    let bytes_left = YamlAdPass::max_bytes(text).into();
    let reading = YamlAdPass { dialect, skipped_elements, tolerated_expressions, bytes_left, ..YamlAdPass::default() };
    let parse = || serde_yaml::Deserializer::from_slice(text).deserialize_any(YamlDocumentVisitor(&reading));
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
        let problem = Problem::error_at(range, 0, format!("`{integer}` does not fit into a signed 64-bit integer"));
        return Err(fatal(problem.with_help(format!("write {integer}.0 for a real"))));
    }
    Ok(ads)
}
