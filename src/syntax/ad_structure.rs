//! Finds the brackets and semicolons of bracketed ads, byte by byte, without the lexer.
//!
//! Outside quotes and comments, each of these bytes is a token of its own.

use super::token::quoted_length;

/// A quote or a comment that the text does not close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unterminated;

/// Whether a byte needs a look: a bracket, a semicolon, a quote, or what may begin a comment.
const IS_STRUCTURE: [bool; 256] = {
    let mut table = [false; 256];
    let mut bytes: &[u8] = b"[](){};\"'/";
    while let [first, rest @ ..] = bytes {
        table[*first as usize] = true;
        bytes = rest;
    }
    table
};

/// Returns the offset of the first bracket or semicolon from `at` on that is outside quotes and comments.  `None` if
/// there is none.
///
/// # Errors
///
/// A quote or a comment before it has no end.
pub fn next_structure(text: &[u8], mut at: usize) -> Result<Option<usize>, Unterminated> {
    loop {
        let Some(found) = text[at..].iter().position(|byte| IS_STRUCTURE[usize::from(*byte)]) else { return Ok(None) };
        at += found;
        at += match text[at] {
            quote @ (b'"' | b'\'') => 1 + quoted_length(&text[at + 1..], quote).ok_or(Unterminated)?,
            b'/' => comment_length(&text[at..])?.unwrap_or(1),
            _ => return Ok(Some(at)),
        };
    }
}

/// Returns the offset of the first byte from `at` on that is outside white space and comments.  It may be the end of the
/// text.
///
/// # Errors
///
/// A comment has no end.
pub fn skip_blanks_and_comments(text: &[u8], mut at: usize) -> Result<usize, Unterminated> {
    loop {
        at += blank_length(&text[at..]);
        match comment_length(&text[at..])? {
            Some(length) => at += length,
            None => return Ok(at),
        }
    }
}

/// Returns the number of bytes of white space at the start of a text.
pub fn blank_length(text: &[u8]) -> usize {
    text.iter().take_while(|byte| matches!(byte, b' ' | b'\t'..=b'\r')).count()
}

/// Returns the length of the comment at the start of a text, without the line end behind `//`.  `None` if the text does
/// not begin with a comment.
fn comment_length(text: &[u8]) -> Result<Option<usize>, Unterminated> {
    match text {
        [b'/', b'/', ..] => Ok(Some(memchr::memchr(b'\n', text).unwrap_or(text.len()))),
        [b'/', b'*', inside @ ..] => memchr::memmem::find(inside, b"*/").map(|end| Some(end + 4)).ok_or(Unterminated),
        _ => Ok(None),
    }
}
