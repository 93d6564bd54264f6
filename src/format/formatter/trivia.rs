//! Tokens with trivia: the comments and line ends between them.

use std::ops::Range;

use crate::syntax::{Strings, Token, lex};

/// A comment.
#[derive(Clone, Debug)]
pub struct Comment {
    /// Byte range without surrounding white space.
    pub range: Range<usize>,
    /// Number of line ends before it, at most 2: 0 behind something on its line, 1 at the beginning of a line, 2 after
    /// a blank line.
    pub lines: usize,
    /// Whether it extends to the end of its line: `// ...`.
    pub ends_line: bool,
    /// Whether it has several lines.
    pub is_high: bool,
}

/// A token with the comments before it.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The token; `None` for the end of the text.
    pub token: Option<Token>,
    /// Byte range of the token.
    pub range: Range<usize>,
    /// Range of indexes into `comments`: the comments between the previous token and this one.
    pub comments: Range<usize>,
    /// Number of line ends, at most 2, between the last of these comments, or the previous token, and this one.
    pub lines: usize,
    /// Whether the previous token directly precedes this one.
    pub touches: bool,
}

/// The tokens and comments of a part of a text.
#[derive(Debug)]
pub struct Pieces<'t> {
    /// The whole text, to which all ranges refer.
    pub text: &'t [u8],
    /// The tokens. The last entry stands for the end and only carries the comments before it.
    pub list: Vec<Piece>,
    /// The comments in the order of the text.
    pub comments: Vec<Comment>,
}

impl<'t> Pieces<'t> {
    /// Lexes a part of a text.
    pub fn new(text: &'t [u8], part: Range<usize>, strings: Strings) -> Self {
        let tokens = lex(&text[part.clone()], strings);
        let mut pieces = Pieces { text, list: Vec::with_capacity(tokens.len() + 1), comments: Vec::new() };
        let mut at = part.start;
        for (token, span) in tokens {
            let range = part.start + span.start as usize..part.start + span.end as usize;
            pieces.push(Some(token), at, range.clone());
            at = range.end;
        }
        pieces.push(None, at, part.end..part.end);
        pieces
    }

    /// Adds a token, and the comments between offset `from` and the token.
    fn push(&mut self, token: Option<Token>, from: usize, range: Range<usize>) {
        let first = self.comments.len();
        let (mut at, mut lines) = (from, 0);
        while at < range.start {
            let rest = &self.text[at..range.start];
            let length = match rest {
                [b'/', b'/', ..] => memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
                [b'/', b'*', ..] => memchr::memmem::find(&rest[2..], b"*/").map_or(rest.len(), |end| end + 4),
                [byte, ..] => {
                    lines += usize::from(*byte == b'\n');
                    at += 1;
                    continue;
                }
                [] => break,
            };
            let comment = rest[..length].trim_ascii_end();
            self.comments.push(Comment {
                range: at..at + comment.len(),
                lines: lines.min(2),
                ends_line: comment.starts_with(b"//"),
                is_high: memchr::memchr(b'\n', comment).is_some(),
            });
            at += length;
            lines = 0;
        }
        let touches = from == range.start;
        self.list.push(Piece { token, range, comments: first..self.comments.len(), lines: lines.min(2), touches });
    }

    /// Normalizes the tokens: drops superfluous semicolons, joins the `?` and `:` of one elvis operator, and moves
    /// comments that end their line where such comments can stand: behind commas, semicolons and `=`, before operators.
    pub fn settle(&mut self) {
        let mut kept: Vec<Piece> = Vec::with_capacity(self.list.len());
        let mut dropped: Option<Piece> = None;
        for mut piece in std::mem::take(&mut self.list) {
            if let Some(dropped) = dropped.take() {
                self.inherit(&mut piece, &dropped);
            }
            let before = kept.last().and_then(|piece| piece.token);
            match (before, piece.token) {
                (Some(Token::Semicolon | Token::BracketOpen), Some(Token::Semicolon)) => dropped = Some(piece),
                (Some(Token::Question), Some(Token::Colon)) => {
                    if let Some(question) = kept.last_mut() {
                        question.token = Some(Token::Elvis);
                    }
                    dropped = Some(piece);
                }
                (Some(Token::Semicolon), Some(Token::BracketClose)) => {
                    if let Some(semicolon) = kept.pop() {
                        self.inherit(&mut piece, &semicolon);
                    }
                    kept.push(piece);
                }
                _ => kept.push(piece),
            }
        }
        self.list = kept;
        for at in 0..self.list.len() - 1 {
            match self.list[at].token {
                Some(Token::Comma | Token::Semicolon | Token::Assign) => self.hand_on(at),
                Some(Token::Question | Token::Colon | Token::Elvis) => self.take_back(at),
                Some(token) if token.binary().is_some() && is_operand_end(self.before(at)) => self.take_back(at),
                _ => {}
            }
        }
    }

    /// Moves the comments and line ends before a dropped token to the next token.
    fn inherit(&mut self, piece: &mut Piece, dropped: &Piece) {
        let lines = match self.comments.get_mut(piece.comments.clone()).and_then(|comments| comments.first_mut()) {
            Some(comment) => &mut comment.lines,
            None => &mut piece.lines,
        };
        *lines = (*lines).max(dropped.lines);
        piece.comments.start = dropped.comments.start;
        piece.touches = false;
    }

    /// Returns the token before another one.
    fn before(&self, at: usize) -> Option<Token> {
        at.checked_sub(1).and_then(|before| self.list[before].token)
    }

    /// Moves the comments before a token behind it, if they force a line break.
    fn hand_on(&mut self, at: usize) {
        if !self.forces(at) {
            return;
        }
        let comments = self.list[at].comments.clone();
        self.list[at].comments.end = comments.start;
        self.list[at].lines = 0;
        let next = &mut self.list[at + 1];
        // The next token begins another line, so that the comment stays with the item that it describes.
        let lines = if next.comments.is_empty() { &mut next.lines } else { &mut self.comments[comments.end].lines };
        *lines = (*lines).max(1);
        next.comments.start = comments.start;
    }

    /// Moves the comments behind an operator before it, if they force a line break.
    fn take_back(&mut self, at: usize) {
        if !self.forces(at + 1) {
            return;
        }
        let behind = self.list[at + 1].comments.clone();
        let before = self.list[at].comments.clone();
        let own_line = self.list[at].lines > 0 || before.end > before.start && self.comments[before.end - 1].ends_line;
        if own_line {
            self.comments[behind.start].lines = self.comments[behind.start].lines.max(1);
        }
        self.list[at].comments.end = behind.end;
        self.list[at].lines = 1;
        self.list[at + 1].comments.start = behind.end;
        self.list[at + 1].lines = 0;
    }

    /// Whether the comments before a token force a line break before or behind them.
    pub fn forces(&self, at: usize) -> bool {
        let piece = &self.list[at];
        let comments = &self.comments[piece.comments.clone()];
        comments.iter().any(|comment| comment.ends_line || comment.is_high || comment.lines > 0)
            || !comments.is_empty() && piece.lines > 0
    }

    /// Returns the text of a token.
    pub fn written(&self, at: usize) -> &[u8] {
        let piece = &self.list[at];
        // An elvis operator written as `? :` is printed without the space.
        if piece.token == Some(Token::Elvis) { b"?:" } else { &self.text[piece.range.clone()] }
    }

    /// Returns the number of columns of the comments before a token, each with a space: of all comments, and of those
    /// on the token's line.
    ///
    /// Formatting moves some comments to other lines, but changes neither number.
    pub fn columns_before(&self, at: usize) -> (usize, usize) {
        let piece = &self.list[at];
        let comments = &self.comments[piece.comments.clone()];
        let begins_line = comments.iter().any(|comment| comment.lines > 0 || comment.ends_line);
        let (mut all, mut beside) = (0, 0);
        let mut is_beside = piece.lines == 0 && (begins_line || !self.forces(at));
        for comment in comments.iter().rev().filter(|comment| !comment.is_high) {
            let width = columns(&self.text[comment.range.clone()]) + 1;
            is_beside &= !comment.ends_line;
            all += width;
            beside += if is_beside { width } else { 0 };
            is_beside &= comment.lines == 0;
        }
        (all, beside)
    }
}

/// Whether an operand can end with this token. If so, an operator behind it is binary.
fn is_operand_end(token: Option<Token>) -> bool {
    token.is_some_and(|token| match token {
        Token::ParenthesisClose | Token::BracketClose | Token::BraceClose => true,
        token => token.text().is_none() && !matches!(token, Token::Is | Token::Isnt),
    })
}

/// Returns the width of a text in columns: the number of its characters.
pub fn columns(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}
