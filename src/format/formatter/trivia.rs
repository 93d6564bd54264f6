//! Tokens with trivia. Trivia are the comments and line ends between tokens.

use std::ops::Range;

use crate::syntax::{StringSyntax, Token, lex};

/// A comment, with its byte range and the line ends before it.
#[derive(Clone, Debug)]
pub struct Comment {
    /// Byte range of the comment, without white space around it.
    pub range: Range<usize>,
    /// Number of line ends before the comment, at most 2. It is 0 if other text precedes the comment on its line, 1 if
    /// the comment begins a line, and 2 if a blank line precedes the comment.
    pub line_ends: usize,
    /// Whether the comment extends to the end of its line: `// ...`.
    pub ends_line: bool,
    /// Whether the comment extends over several lines.
    pub is_multiline: bool,
}

/// A token, with the comments and line ends before it.
#[derive(Clone, Debug)]
pub struct TriviaToken {
    /// The token; `None` for the entry that stands for the end of the text.
    pub token: Option<Token>,
    /// Byte range of the token.
    pub range: Range<usize>,
    /// The comments between the previous token and this token, as a range of indexes into [`TriviaTokens::comments`].
    pub comments: Range<usize>,
    /// Number of line ends directly before the token, at most 2. Counting begins behind the last comment before the
    /// token or, without comments, behind the previous token.
    pub line_ends: usize,
    /// Whether nothing stands between the previous token and this token, not even white space.
    pub follows_directly: bool,
}

/// The tokens and comments of a part of a text.
#[derive(Debug)]
pub struct TriviaTokens<'t> {
    /// The whole text. All byte ranges count from its beginning.
    pub text: &'t [u8],
    /// The tokens. The last entry is not a token: it stands for the end of the text and has the comments behind the
    /// last token.
    pub tokens: Vec<TriviaToken>,
    /// The comments in the order of the text.
    pub comments: Vec<Comment>,
}

impl<'t> TriviaTokens<'t> {
    /// Lexes a part of a text.
    pub fn new(text: &'t [u8], part: Range<usize>, strings: StringSyntax) -> Self {
        let tokens = lex(&text[part.clone()], strings);
        let mut pieces = TriviaTokens { text, tokens: Vec::with_capacity(tokens.len() + 1), comments: Vec::new() };
        let mut at = part.start;
        for (token, span) in tokens {
            let range = part.start + span.start as usize..part.start + span.end as usize;
            pieces.push(Some(token), at, range.clone());
            at = range.end;
        }
        pieces.push(None, at, part.end..part.end);
        pieces
    }

    /// Appends a token, and the comments before it. `from` is the byte offset behind the previous token.
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
                line_ends: lines.min(2),
                ends_line: comment.starts_with(b"//"),
                is_multiline: memchr::memchr(b'\n', comment).is_some(),
            });
            at += length;
            lines = 0;
        }
        let touches = from == range.start;
        self.tokens.push(TriviaToken {
            token,
            range,
            comments: first..self.comments.len(),
            line_ends: lines.min(2),
            follows_directly: touches,
        });
    }

    /// Normalizes the tokens.
    ///
    /// Superfluous semicolons are dropped, and an adjacent `?` and `:` become one operator. Comments that force a line
    /// break are moved to places where a line can be broken: behind `,`, `;` and `=`, and before operators.
    pub fn normalize(&mut self) {
        let mut kept: Vec<TriviaToken> = Vec::with_capacity(self.tokens.len());
        let mut dropped: Option<TriviaToken> = None;
        for mut piece in std::mem::take(&mut self.tokens) {
            if let Some(dropped) = dropped.take() {
                self.inherit_trivia(&mut piece, &dropped);
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
                        self.inherit_trivia(&mut piece, &semicolon);
                    }
                    kept.push(piece);
                }
                _ => kept.push(piece),
            }
        }
        self.tokens = kept;
        for at in 0..self.tokens.len() - 1 {
            match self.tokens[at].token {
                Some(Token::Comma | Token::Semicolon | Token::Assign) => self.move_comments_forward(at),
                Some(Token::Question | Token::Colon | Token::Elvis) => self.move_comments_back(at),
                Some(token) if token.binary().is_some() && is_operand_end(self.before(at)) => {
                    self.move_comments_back(at);
                }
                _ => {}
            }
        }
    }

    /// Moves the comments and line ends before a dropped token to the token behind it.
    fn inherit_trivia(&mut self, piece: &mut TriviaToken, dropped: &TriviaToken) {
        let lines = match self.comments.get_mut(piece.comments.clone()).and_then(|comments| comments.first_mut()) {
            Some(comment) => &mut comment.line_ends,
            None => &mut piece.line_ends,
        };
        *lines = (*lines).max(dropped.line_ends);
        piece.comments.start = dropped.comments.start;
        piece.follows_directly = false;
    }

    /// Returns the token before the token at index `at`; `None` if `at` is 0.
    fn before(&self, at: usize) -> Option<Token> {
        at.checked_sub(1).and_then(|before| self.tokens[before].token)
    }

    /// Moves the comments before the token at index `at` behind this token, if they force a line break.
    fn move_comments_forward(&mut self, at: usize) {
        if !self.forces_line_break(at) {
            return;
        }
        let comments = self.tokens[at].comments.clone();
        self.tokens[at].comments.end = comments.start;
        self.tokens[at].line_ends = 0;
        let next = &mut self.tokens[at + 1];
        // The token behind the comments must begin a line, otherwise the comments would seem to describe the next item.
        let lines =
            if next.comments.is_empty() { &mut next.line_ends } else { &mut self.comments[comments.end].line_ends };
        *lines = (*lines).max(1);
        next.comments.start = comments.start;
    }

    /// Moves the comments behind the operator at index `at` before this operator, if they force a line break.
    fn move_comments_back(&mut self, at: usize) {
        if !self.forces_line_break(at + 1) {
            return;
        }
        let behind = self.tokens[at + 1].comments.clone();
        let before = self.tokens[at].comments.clone();
        let own_line =
            self.tokens[at].line_ends > 0 || before.end > before.start && self.comments[before.end - 1].ends_line;
        if own_line {
            self.comments[behind.start].line_ends = self.comments[behind.start].line_ends.max(1);
        }
        self.tokens[at].comments.end = behind.end;
        self.tokens[at].line_ends = 1;
        self.tokens[at + 1].comments.start = behind.end;
        self.tokens[at + 1].line_ends = 0;
    }

    /// Whether the comments before the token at index `at` force a line break, before or behind them.
    pub fn forces_line_break(&self, at: usize) -> bool {
        let piece = &self.tokens[at];
        let comments = &self.comments[piece.comments.clone()];
        comments.iter().any(|comment| comment.ends_line || comment.is_multiline || comment.line_ends > 0)
            || !comments.is_empty() && piece.line_ends > 0
    }

    /// Returns the text to print for the token at index `at`.
    pub fn token_text(&self, at: usize) -> &[u8] {
        let piece = &self.tokens[at];
        // The elvis operator can be written `? :`, but is printed `?:`.
        if piece.token == Some(Token::Elvis) { b"?:" } else { &self.text[piece.range.clone()] }
    }

    /// Returns the number of columns of all comments before a token, and the number of columns of those comments that
    /// are on the token's line. Each comment includes one space. Comments of several lines are not counted.
    ///
    /// Formatting moves some comments to other lines, but does not change these widths.
    pub fn comment_columns(&self, at: usize) -> (usize, usize) {
        let piece = &self.tokens[at];
        let comments = &self.comments[piece.comments.clone()];
        let begins_line = comments.iter().any(|comment| comment.line_ends > 0 || comment.ends_line);
        let (mut all, mut beside) = (0, 0);
        let mut is_beside = piece.line_ends == 0 && (begins_line || !self.forces_line_break(at));
        for comment in comments.iter().rev().filter(|comment| !comment.is_multiline) {
            let width = display_columns(&self.text[comment.range.clone()]) + 1;
            is_beside &= !comment.ends_line;
            all += width;
            beside += if is_beside { width } else { 0 };
            is_beside &= comment.line_ends == 0;
        }
        (all, beside)
    }
}

/// Whether an operand can end with this token. If so, an operator behind the token is binary: `a - b`.
fn is_operand_end(token: Option<Token>) -> bool {
    token.is_some_and(|token| match token {
        Token::ParenthesisClose | Token::BracketClose | Token::BraceClose => true,
        token => token.text().is_none() && !matches!(token, Token::Is | Token::Isnt),
    })
}

/// Returns the width of a text in columns: the number of its characters.
pub fn display_columns(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}
