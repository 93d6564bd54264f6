//! State machine over the tokens of an ad: checks their order, and finds where ads begin and end.

use super::token::{Flaw, Lexeme, Token, Tokens};

/// The effect of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Begins a nested ad.
    OpenAd,
    /// Begins a list.
    OpenList,
    /// Ends the innermost ad or list.
    Close,
    /// Names the next attribute.
    Name,
    /// Is a scalar value.
    Scalar,
    /// Is a separator.
    Nothing,
}

/// An open bracket with its byte offset.
#[derive(Clone, Copy, Debug)]
pub enum Open {
    Brace(usize),
    Bracket(usize),
}

/// The token expected next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expects {
    Name,
    Colon,
    Value,
    FirstElement,
    More,
}

/// Position in the structure of an ad: the open brackets, and the kind of token expected next.
#[derive(Debug)]
pub struct Shape {
    open: Vec<Open>,
    expects: Expects,
    /// Number of blanks before the ad on its line.
    indent: usize,
}

impl Shape {
    /// Creates the state behind the `{` that begins an ad at this offset.
    pub fn begin(text: &[u8], offset: usize) -> Self {
        let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'[' | b',');
        let indent = text[..offset].iter().rev().take_while(blank).count();
        Shape { open: vec![Open::Brace(offset)], expects: Expects::Name, indent }
    }

    /// Whether the ad has ended.
    pub fn is_done(&self) -> bool {
        self.open.is_empty()
    }

    /// The innermost bracket that is open.
    pub fn innermost(&self) -> Option<Open> {
        self.open.last().copied()
    }

    /// Advances over a token and returns its effect; `None` if the token cannot stand here.
    pub fn step(&mut self, token: Token, offset: usize) -> Option<Step> {
        let in_ad = matches!(self.open.last(), Some(Open::Brace(_)));
        let (expects, step) = match (self.expects, token) {
            (Expects::Name, Token::String) => (Expects::Colon, Step::Name),
            // HTCondor accepts superfluous commas in ads, but not in lists.
            (Expects::Name | Expects::More, Token::Comma) if in_ad => (Expects::Name, Step::Nothing),
            (Expects::Colon, Token::Colon) | (Expects::More, Token::Comma) => (Expects::Value, Step::Nothing),
            (Expects::Name | Expects::More, Token::BraceClose) if in_ad => (Expects::More, Step::Close),
            (Expects::FirstElement | Expects::More, Token::BracketClose) if !in_ad => (Expects::More, Step::Close),
            (Expects::Value | Expects::FirstElement, Token::BraceOpen) => (Expects::Name, Step::OpenAd),
            (Expects::Value | Expects::FirstElement, Token::BracketOpen) => (Expects::FirstElement, Step::OpenList),
            (Expects::Value | Expects::FirstElement, Token::String | Token::Word) => (Expects::More, Step::Scalar),
            _ => return None,
        };
        self.expects = expects;
        match step {
            Step::OpenAd => self.open.push(Open::Brace(offset)),
            Step::OpenList => self.open.push(Open::Bracket(offset)),
            Step::Close => drop(self.open.pop()),
            _ => {}
        }
        Some(step)
    }

    /// Describes the tokens that can stand here, for messages.
    pub fn expected(&self) -> &'static str {
        let in_ad = matches!(self.open.last(), Some(Open::Brace(_)));
        match self.expects {
            Expects::Name => "a name in double quotes or `}`",
            Expects::Colon => "`:`",
            Expects::Value => "a value",
            Expects::FirstElement => "a value or `]`",
            Expects::More if in_ad => "`,` or `}`",
            Expects::More => "`,` or `]`",
        }
    }

    /// Skips the rest of a bad ad, from its first bad token on.
    ///
    /// The ad ends with the bracket that closes it, or before a `{` that most likely begins the next ad: one at the
    /// beginning of a line that is indented no more. Returns the end of the ad; `None` if the ad may continue behind
    /// the end of the text.
    pub fn recover(&mut self, tokens: &mut Tokens, first: Lexeme) -> Option<usize> {
        let mut next = Some(first);
        while let Some((token, range)) = next {
            if is_open_ended(tokens.text, &(token, range.clone())) {
                return None;
            }
            match token {
                Ok(Token::BraceOpen) if self.ends_before(tokens.text, range.start) => {
                    tokens.put_back((token, range.clone()));
                    return Some(range.start);
                }
                Ok(Token::BraceOpen) => self.open.push(Open::Brace(range.start)),
                Ok(Token::BracketOpen) => self.open.push(Open::Bracket(range.start)),
                Ok(Token::BraceClose) => {
                    while let Some(Open::Bracket(_)) = self.open.pop() {}
                    if self.open.is_empty() {
                        return Some(range.end);
                    }
                }
                Ok(Token::BracketClose) => match self.open.iter().rposition(|open| matches!(open, Open::Bracket(_))) {
                    Some(innermost) => self.open.truncate(innermost),
                    // It closes the array that contains the ad.
                    None => return Some(range.end),
                },
                _ => {}
            }
            next = tokens.next();
        }
        None
    }

    /// Whether a bad ad ends before the `{` at this offset, because it begins a line and is indented no more than the
    /// ad.
    pub fn ends_before(&self, text: &[u8], offset: usize) -> bool {
        let blank = text[..offset].iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        blank <= self.indent && text[..offset - blank].ends_with(b"\n")
    }
}

/// Whether a token at the end of the text may continue behind it.
fn is_open_ended(text: &[u8], (token, range): &Lexeme) -> bool {
    match token {
        Ok(token) => range.end == text.len() && !token.is_complete(),
        Err(Flaw::String) => range.end == text.len(),
        Err(Flaw::Comment) => false,
    }
}

/// Returns the length in bytes of the longest prefix of a text that contains only complete ads; the text may end
/// anywhere.
///
/// The rest must be read again with more text behind it.
pub fn whole(text: &[u8]) -> usize {
    let mut tokens = Tokens::new(text);
    let mut end = 0;
    while let Some((token, range)) = tokens.next() {
        match token {
            Ok(Token::BraceOpen) => match ad_end(&mut tokens, range.start) {
                Some(ad_end) => end = ad_end,
                None => break,
            },
            Err(Flaw::Comment) => break,
            _ => {}
        }
    }
    end
}

/// Whether a text is exactly one complete ad, with only white space around it.
pub fn is_one_ad(text: &[u8]) -> bool {
    let mut tokens = Tokens::new(text);
    match tokens.next() {
        Some((Ok(Token::BraceOpen), range)) => {
            ad_end(&mut tokens, range.start).is_some_and(|end| text[end..].trim_ascii().is_empty())
        }
        _ => false,
    }
}

/// Returns the end of the ad whose `{` at `start` has been read; `None` if it may continue behind the end of the text.
fn ad_end(tokens: &mut Tokens, start: usize) -> Option<usize> {
    let mut shape = Shape::begin(tokens.text, start);
    while let Some(lexeme) = tokens.next() {
        let (token, range) = &lexeme;
        if *token == Err(Flaw::Comment) || is_open_ended(tokens.text, &lexeme) {
            return None;
        }
        match token.ok().and_then(|token| shape.step(token, range.start)) {
            Some(Step::Close) if shape.is_done() => return Some(range.end),
            Some(_) => {}
            None => return shape.recover(tokens, lexeme),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{is_one_ad, whole};

    #[test]
    fn one_ad() {
        for (text, one) in [
            ("{}", true),
            (" {\"a\": [{}, \"}\"]} \r", true),
            ("{\"a\": 1", false),
            ("{}{}", false),
            ("{},", false),
            ("[{}]", false),
            ("", false),
        ] {
            assert_eq!(is_one_ad(text.as_bytes()), one, "{text}");
        }
    }

    #[test]
    fn whole_ads() {
        for (text, length) in [
            ("", 0),
            (r#"{"a": 1}"#, 8),
            (r#"{"a": 1} {"b""#, 8),
            (r#"{"a": "}{"#, 0),
            (r#"{"a": "}"}"#, 10),
            (r#"{"a": "\"}"}"#, 12),
            (r#"[{"a": {"b": [{}]}}, {"#, 19),
            ("{} // }{}\n{} /* {} */ {", 12),
            ("{} /* {}", 2),
            (r#", {"a": 1}]"#, 10),
            // A bad ad ends where the reader continues.
            ("{\"a\": \"x}\n{\"b\": 1}\n{", 18),
            ("{\"a\": 1\n{\"b\": 1}\n{", 16),
            ("{\"a\": [1}, {\"b\"", 9),
            // In a correct ad a line may begin with a nested ad.
            ("{\"a\": [\n{\"b\": 1}\n", 0),
        ] {
            assert_eq!(whole(text.as_bytes()), length, "{text}");
        }
    }
}
