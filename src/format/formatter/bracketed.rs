//! Bracketed ads: one after the other, with separators and comments between them.

use std::ops::Range;

use crate::ad::{Ad, Dialect};
use crate::format::bracketed::Reader;
use crate::syntax::{Group, Strings, Token, first_group};

use super::Layout;
use super::builder::build;
use super::printer::{Blanks, Place, Printer, STEP};
use super::tree::Join;
use super::trivia::Pieces;

/// Lays out a text of bracketed ads.
pub fn layout(text: &[u8], dialect: Dialect, width: usize, line_end: &'static [u8]) -> Layout {
    let (layout, is_certain) = attempt(text, dialect, width, line_end);
    // Where it is not certain what the bad ads are, it may depend on the layout of others: then all stays.
    let holds = |laid: &[u8]| {
        ads(laid, dialect) == ads(text, dialect) && attempt(laid, dialect, width, line_end).0.text == laid
    };
    if is_certain || holds(&layout.text) { layout } else { Layout { text: text.to_vec(), ..layout } }
}

/// Lays out the ads that parse, and says whether it is certain where the others end.
fn attempt(text: &[u8], dialect: Dialect, width: usize, line_end: &'static [u8]) -> (Layout, bool) {
    let mut reader = Reader::new(text, dialect);
    let mut file = File { text, depth: 0, printer: Printer::new(width, line_end) };
    let mut problems = Vec::new();
    let mut is_certain = true;
    let mut start = reader.at();
    while let Some(item) = reader.next() {
        let end = reader.at().min(text.len());
        match item {
            Ok(_) => {
                file.part(start..end);
                start = end;
            }
            Err(problem) => {
                is_certain &= ends_for_certain(&text[start..end]);
                // It is not known what its tokens are.
                let bad = text[start..end].trim_ascii_end();
                file.printer.text(bad);
                start += bad.len();
                problems.push(problem);
            }
        }
    }
    file.part(start..text.len());
    file.printer.end();
    (Layout { text: file.printer.out, problems }, is_certain)
}

/// The ads of a text, nothing for each that does not parse.
fn ads(text: &[u8], dialect: Dialect) -> Vec<Option<Ad>> {
    Reader::new(text, dialect).map(|item| item.ok().map(|entry| entry.ad)).collect()
}

/// Whether what was read as one bad ad would be so whatever came behind it: a quote or a bracket that
/// nothing closes reaches for what follows.
fn ends_for_certain(bad: &[u8]) -> bool {
    match first_group(bad) {
        Group::Closed(span) => span.range().end == bad.len(),
        Group::Other(_) => true,
        Group::Open(_) | Group::Nothing => false,
    }
}

struct File<'t> {
    text: &'t [u8],
    /// Braces that are open: the ads may be the elements of a list.
    depth: usize,
    printer: Printer,
}

impl File<'_> {
    /// Prints an ad, a line for each attribute, and what stands before it; or what stands behind the last.
    fn part(&mut self, part: Range<usize>) {
        let mut pieces = Pieces::new(self.text, part, Strings::Escaped);
        pieces.settle();
        for (at, piece) in pieces.list.iter().enumerate() {
            let inside = STEP * self.depth;
            let line = Place::line(inside, Blanks::KEPT);
            let place = match piece.token {
                Some(Token::BracketOpen) => {
                    let (mut tree, root) = build(&pieces, at);
                    if let Some(root) = root {
                        tree.spread(root);
                        self.printer.tree(&tree, root, line);
                    }
                    return;
                }
                Some(Token::BraceOpen) => {
                    self.depth += 1;
                    line
                }
                Some(Token::BraceClose) => {
                    self.depth = self.depth.saturating_sub(1);
                    Place { comments: inside, ..Place::line(STEP * self.depth, Blanks::BEFORE_CLOSING) }
                }
                Some(_) => Place { join: Join::Touching, ..line },
                None => Place { join: Join::Touching, indent: 0, blanks: Blanks::BEFORE_CLOSING, ..line },
            };
            self.printer.reach(&pieces, at, place);
            self.printer.text(pieces.written(at));
        }
    }
}
