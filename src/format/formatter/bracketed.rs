//! Formats bracketed ads, with separators and comments between them.

use std::ops::Range;

use crate::ad::{Ad, Dialect};
use crate::format::bracketed::Reader;
use crate::syntax::{Group, Strings, Token, first_group};

use super::Layout;
use super::builder::build;
use super::printer::{Blanks, Place, Printer, STEP};
use super::tree::Join;
use super::trivia::Pieces;

/// Formats a text of bracketed ads for `width` columns.
pub fn layout(text: &[u8], dialect: Dialect, width: usize, line_end: &'static [u8]) -> Layout {
    let (layout, is_certain) = attempt(text, dialect, width, line_end);
    // If the extent of a bad ad is uncertain, it may depend on the formatting of the others. Then the result is used
    // only if it has the same ads and is stable; otherwise the text stays unchanged.
    let holds = |laid: &[u8]| {
        ads(laid, dialect) == ads(text, dialect) && attempt(laid, dialect, width, line_end).0.text == laid
    };
    if is_certain || holds(&layout.text) { layout } else { Layout { text: text.to_vec(), ..layout } }
}

/// Formats the ads that parse. Also returns whether it is certain where the others end.
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
                // The tokens of a bad ad are unknown; copy its text.
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

/// Returns the ads of a text, `None` for each one that does not parse.
fn ads(text: &[u8], dialect: Dialect) -> Vec<Option<Ad>> {
    Reader::new(text, dialect).map(|item| item.ok().map(|entry| entry.ad)).collect()
}

/// Whether a bad ad would end at the same place whatever text followed. An unclosed quote or bracket extends to the
/// text behind it.
fn ends_for_certain(bad: &[u8]) -> bool {
    match first_group(bad) {
        Group::Closed(span) => span.range().end == bad.len(),
        Group::Other(_) => true,
        Group::Open(_) | Group::Nothing => false,
    }
}

/// Formatter of one text of bracketed ads.
struct File<'t> {
    text: &'t [u8],
    /// Number of open braces: the ads may be elements of a list.
    depth: usize,
    printer: Printer,
}

impl File<'_> {
    /// Prints the part of a text that ends with an ad, or the rest behind the last ad. The ad gets one line per
    /// attribute.
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
