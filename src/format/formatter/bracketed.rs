//! Formatter of bracketed ads, and of the separators and comments between ads.

use std::ops::Range;

use crate::ad::{Ad, Dialect};
use crate::format::bracketed::BracketedReader;
use crate::syntax::{AdBoundary, StringSyntax, Token, find_first_ad};

use super::FormattedText;
use super::builder::build_layout_tree;
use super::printer::{INDENT_COLUMNS, KeptBlankLines, LayoutPrinter, TokenPlacement};
use super::tree::Spacing;
use super::trivia::TriviaTokens;

/// Formats a text of bracketed ads for lines of at most `width` columns.
pub fn format_bracketed(text: &[u8], dialect: Dialect, width: usize, line_end: &'static [u8]) -> FormattedText {
    let (layout, is_certain) = format_parsable_ads(text, dialect, width, line_end);
    // The end of a bad ad is uncertain if, for example, a quote is not closed. Formatting may move an
    // uncertain end. So in this case the formatted text is used only if two checks succeed: it contains the same ads as
    // `text`, and formatting it again changes nothing.
    let is_stable = |formatted: &[u8]| {
        parsed_ads(formatted, dialect) == parsed_ads(text, dialect)
            && format_parsable_ads(formatted, dialect, width, line_end).0.text == formatted
    };
    if is_certain || is_stable(&layout.text) { layout } else { FormattedText { text: text.to_vec(), ..layout } }
}

/// Formats the ads that parse and copies the bad ads unchanged. The second result is true if the end of every bad ad is
/// certain. The end is uncertain if, for example, a quote is not closed.
fn format_parsable_ads(text: &[u8], dialect: Dialect, width: usize, line_end: &'static [u8]) -> (FormattedText, bool) {
    let mut reader = BracketedReader::new(text, dialect);
    let mut file = BracketedFormatter { text, depth: 0, printer: LayoutPrinter::new(width, line_end) };
    let mut problems = Vec::new();
    let mut is_certain = true;
    let mut start = reader.offset;
    while let Some(item) = reader.next() {
        let end = reader.offset.min(text.len());
        match item {
            Ok(_) => {
                file.format_part(start..end);
                start = end;
            }
            Err(problem) => {
                is_certain &= has_certain_end(&text[start..end]);
                // A bad ad has no reliable tokens, so its text is copied.
                let bad = text[start..end].trim_ascii_end();
                file.printer.write_text(bad);
                start += bad.len();
                problems.push(problem);
            }
        }
    }
    file.format_part(start..text.len());
    file.printer.end_line();
    (FormattedText { text: file.printer.out, problems }, is_certain)
}

/// Returns the ads of a text in order. `None` stands for an ad that does not parse.
fn parsed_ads(text: &[u8], dialect: Dialect) -> Vec<Option<Ad>> {
    BracketedReader::new(text, dialect).map(|item| item.ok().map(|entry| entry.ad)).collect()
}

/// Whether the end of a bad ad stays where it is if text is added behind the ad. With an unclosed quote or bracket, the
/// ad would continue in the added text.
fn has_certain_end(bad: &[u8]) -> bool {
    match find_first_ad(bad) {
        AdBoundary::Closed(span) => span.range().end == bad.len(),
        AdBoundary::NotAnAd(_) => true,
        AdBoundary::Unclosed(_) | AdBoundary::Blank => false,
    }
}

/// Formatter of one text of bracketed ads.
struct BracketedFormatter<'t> {
    text: &'t [u8],
    /// Number of open braces around the current ad. Ads can be elements of a list: `{ [a = 1], [b = 2] }`.
    depth: usize,
    printer: LayoutPrinter,
}

impl BracketedFormatter<'_> {
    /// Prints a part of the text: one ad with everything before it, or everything behind the last ad. The ad gets one
    /// line per attribute.
    fn format_part(&mut self, part: Range<usize>) {
        let mut pieces = TriviaTokens::new(self.text, part, StringSyntax::Escaped);
        pieces.normalize();
        for (at, piece) in pieces.tokens.iter().enumerate() {
            let inside = INDENT_COLUMNS * self.depth;
            let line = TokenPlacement::new_line(inside, KeptBlankLines::KEPT);
            let place = match piece.token {
                Some(Token::BracketOpen) => {
                    let (mut tree, root) = build_layout_tree(&pieces, at);
                    if let Some(root) = root {
                        tree.force_multiline(root);
                        self.printer.print_node(&tree, root, line);
                    }
                    return;
                }
                Some(Token::BraceOpen) => {
                    self.depth += 1;
                    line
                }
                Some(Token::BraceClose) => {
                    self.depth = self.depth.saturating_sub(1);
                    TokenPlacement {
                        comment_indent: inside,
                        ..TokenPlacement::new_line(INDENT_COLUMNS * self.depth, KeptBlankLines::BEFORE_CLOSING)
                    }
                }
                Some(_) => TokenPlacement { spacing: Spacing::Touching, ..line },
                None => TokenPlacement {
                    spacing: Spacing::Touching,
                    indent: 0,
                    blanks: KeptBlankLines::BEFORE_CLOSING,
                    ..line
                },
            };
            self.printer.print_comments_before(&pieces, at, place);
            self.printer.write_text(pieces.token_text(at));
        }
    }
}
